/* plates.c -- what contacts push geoms and bodies with: measured, simulated from row to row, and how that moves with
 * the state and theta. docs/math.md eq. (444). */
#include "math/vec.h"
#include "sysid/track/fit.h"

static int owners(const tribo_sizes *z) {
    return z->ngeom + z->nbody;
}

static bool pushes(const tribo_recording *r, const tribo_sizes *z, int owner) {
    for (size_t k = 1; r->force && k < (size_t)r->n; k++)
        for (size_t i = 0; i < 3; i++)
            if (!isnan(r->force[3 * (k * (size_t)owners(z) + (size_t)owner) + i])) return true;
    return false;
}

int ti_plates(const tribo_sysid_def *def, const tribo_sizes *z, int *plate) {
    int n = 0;
    for (int owner = 0; owner < owners(z); owner++) {
        bool any = false;
        for (int i = 0; i < def->nrec; i++) any = any || pushes(def->rec + i, z, owner);
        if (any && plate) plate[n] = owner;
        n += any;
    }
    return n;
}

/* ---- what was measured ---- */

static ti_vec force_of(const ti_track *t, const tribo_sysid *s, int row, int plate) {
    return ti_load3(t->force + 3 * ((size_t)row * (size_t)s->nplate + (size_t)plate));
}

/* How far apart two rows are; NaN where one was not measured. */
static double apart(const ti_track *t, const tribo_sysid *s, int row, int other, int plate) {
    if (row < 0 || other < 0 || row >= t->n || other >= t->n) return NAN;
    return ti_norm(ti_sub(force_of(t, s, row, plate), force_of(t, s, other, plate)));
}

/* Is a row far above those before and those after it, one or two rows away? */
static bool peak(const ti_track *t, const tribo_sysid *s, int row, int plate, double most) {
    bool before = apart(t, s, row, row - 1, plate) > most || apart(t, s, row, row - 2, plate) > most;
    bool after = apart(t, s, row, row + 1, plate) > most || apart(t, s, row, row + 2, plate) > most;
    double here = ti_norm(force_of(t, s, row, plate)), least = here;
    for (int k = row - 2; k <= row + 2; k++)
        if (k >= 0 && k < t->n && !isnan(force_of(t, s, k, plate).x))
            least = fmin(least, ti_norm(force_of(t, s, k, plate)));
    return before && after && here - least > most;
}

/* What is far above its surroundings is an impact: that row and its neighbours are not compared. t->seen_force keeps
 * which. */
static void leave_out_impacts(const tribo_sysid *s, ti_track *t) {
    const double high = 3; /* times the usual size of what is measured */
    size_t n = (size_t)s->nplate;
    for (int i = 0; i < s->nplate; i++) {
        double sum = 0;
        int count = 0;
        for (int k = 0; k < t->n; k++) {
            double size = ti_norm(force_of(t, s, k, i));
            if (!isnan(size)) sum += sqrt(size), count++;
        }
        double usual = count ? sum / count * (sum / count) : 0; /* large ones count little */
        for (int k = 0; k < t->n; k++) t->quiet[(size_t)k * n + (size_t)i] = true;
        for (int k = 0; k < t->n; k++)
            for (int j = k - 1; j <= k + 1 && peak(t, s, k, i, high * usual); j++)
                if (j >= 0 && j < t->n) t->quiet[(size_t)j * n + (size_t)i] = false;
    }
}

tribo_status ti_plates_take(const tribo_sysid *s, ti_track *t, const tribo_recording *r, tribo_diag *diag) {
    size_t n = (size_t)s->nplate, all = (size_t)owners(&s->z);
    for (size_t k = 0; t->force && k < (size_t)t->n; k++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < 3; j++) {
                double *y = t->force + 3 * (k * n + i) + j;
                *y = k ? r->force[3 * (k * all + (size_t)s->plate[i]) + j] : (double)NAN;
                if (isinf(*y)) return ti_fail(diag, TRIBO_E_NONFINITE, 0, "row %zu: a force is infinite", k);
            }
    if (t->force) leave_out_impacts(s, t);
    return TRIBO_OK;
}

double ti_plates_unit(const tribo_sysid *s) {
    double square = 0;
    long count = 0;
    for (int i = 0; i < s->nrec; i++)
        for (int k = 0; s->track[i].force && k < s->track[i].n; k++)
            for (int j = 0; j < s->nplate; j++) {
                const double *y = ti_plate_seen(s, s->track + i, k, j);
                if (y) square += y[0] * y[0] + y[1] * y[1] + y[2] * y[2], count++;
            }
    return count && square > 0 ? sqrt(square / (double)count) : 1;
}

const double *ti_plate_seen(const tribo_sysid *s, const ti_track *t, int row, int plate) {
    size_t at = (size_t)row * (size_t)s->nplate + (size_t)plate;
    const double *y = t->force && row > t->first && t->quiet[at] ? t->force + 3 * at : NULL;
    return y && !isnan(y[0] + y[1] + y[2]) ? y : NULL;
}

/* ---- what is simulated ---- */

/* 1 where a geom belongs to a plate, else 0. */
static int belongs(const tribo_sysid *s, int plate, int geom) {
    int owner = s->plate[plate], body = s->m->geom[geom].body;
    return owner < s->z.ngeom ? owner == geom : body == owner - s->z.ngeom;
}

/* What a contact's impulse on b counts for a plate: 1, -1, or 0. */
static int side(const tribo_sysid *s, int plate, const tribo_contact *c) {
    return belongs(s, plate, c->geom_b) - belongs(s, plate, c->geom_a);
}

void ti_plates_begin(ti_worker *w) {
    memset(w->impulse, 0, 3 * (size_t)w->s->nplate * sizeof *w->impulse);
}

void ti_plates_add(ti_worker *w, const tribo_ws *ws) {
    int n = 0;
    const tribo_contact *c = tribo_last_contacts(ws, &n);
    for (int i = 0; i < w->s->nplate; i++)
        for (int k = 0; k < n; k++) {
            int sign = side(w->s, i, c + k);
            for (int j = 0; j < 3 && sign; j++)
                w->impulse[3 * i + j] +=
                    sign * (c[k].tangent[0][j] * c[k].impulse[0] + c[k].tangent[1][j] * c[k].impulse[1] +
                            c[k].normal[j] * c[k].impulse[2]);
        }
}

void ti_plates_keep(const ti_worker *w, const ti_track *t, int k, double *forces) {
    double span = t->time[k + 1] - t->time[k], *f = forces + 3 * (size_t)(k + 1) * (size_t)w->s->nplate;
    for (int i = 0; i < 3 * w->s->nplate; i++) f[i] = w->impulse[i] / span;
}

/* Of one number of a plate's impulse in the last step: w->xbar by the state, w->pbar by p. */
static tribo_status slopes(ti_worker *w, const ti_stride *at, int plate, int axis) {
    const tribo_sysid *s = w->s;
    int n = 0;
    const tribo_contact *c = tribo_last_contacts(at->ws, &n);
    memset(w->push_bar, 0, 3 * (size_t)n * sizeof *w->push_bar);
    bool any = false;
    for (int k = 0; k < n; k++) {
        int sign = side(s, plate, c + k);
        w->push_bar[3 * k + axis] = sign, any |= sign != 0;
    }
    memset(w->xbar, 0, (size_t)s->z.ndx * sizeof(double)), memset(w->pbar, 0, (size_t)s->z.np * sizeof(double));
    memset(w->xnext, 0, (size_t)s->z.ndx * sizeof(double));
    if (!any) return TRIBO_OK;
    tribo_status status = tribo_step_impulses_vjp(at->ws, at->one, 0, w->xnext, w->push_bar, w->xbar, NULL, w->pbar);
    ti_middle_params_vjp(s, tribo_ws_options(at->ws).dt, w->pbar);
    return status;
}

tribo_status ti_plates_jac(ti_worker *w, const ti_track *t, const ti_stride *at, const double *P, const double *Phi,
                           double *Psi) {
    const tribo_sysid *s = w->s;
    size_t ndx = (size_t)s->z.ndx, n = (size_t)s->nfree, nd = ndx + n, np = (size_t)s->z.np;
    double span = t->time[at->row + 1] - t->time[at->row];
    for (int i = 0; i < 3 * s->nplate; i++) {
        tribo_status status = slopes(w, at, i / 3, i % 3);
        double *to = Psi + (size_t)i * nd;
        if (status < 0) return status;
        for (size_t k = 0; k < ndx; k++)
            for (size_t j = 0; j < nd && w->xbar[k] != 0; j++) to[j] += w->xbar[k] * Phi[k * nd + j] / span;
        for (size_t a = 0; P && a < n; a++)
            for (size_t k = 0; k < np; k++) to[ndx + a] += w->pbar[k] * P[a * np + k] / span;
    }
    return TRIBO_OK;
}

bool ti_pressed(ti_worker *w, const ti_track *t, int row, int plate, const double *forces, const double *Psi,
                ti_marked *m) {
    const tribo_sysid *s = w->s;
    size_t nd = (size_t)(s->z.ndx + s->nfree);
    const double *y = ti_plate_seen(s, t, row, plate), *f = forces + 3 * (row * s->nplate + plate);
    if (!y) return false;
    m->square = 0;
    for (int i = 0; i < 3; i++) m->r[i] = s->plate_weight * (f[i] - y[i]), m->square += m->r[i] * m->r[i];
    m->rho = ti_rho(s, s->plate_group, m->square, &m->slope);
    for (size_t i = 0; Psi && i < 3 * nd; i++) w->push_D[i] = s->plate_weight * Psi[3 * nd * (size_t)plate + i];
    m->D = w->push_D;
    return true;
}
