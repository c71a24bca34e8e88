/* reversal.c -- a step in which sliding turns round: docs/math.md eq. (466).
 *
 * Friction has one direction through a step, so a step from sliding one way to sliding the other either forgets what it
 * came with (it ends at rest) or keeps it whole, whereas of a motion that brakes and then speeds up by less a share is
 * left. Both are right on average over where in the step it turns, and for one motion neither is: such a step is made
 * of what velocities do before it and after it, each for its own time. Its derivative is that of these two parts.
 */
#include "forward/frame.h"
#include "sysid/track/fit.h"

/* How fast what friction i acts against goes at v, along the rows it has: across a contact, in a joint, turning.
 * @return how many rows */
static int slips(const tribo_ws *ws, const ti_frame *f, int i, const double *v, double slip[2]) {
    ti_con_kind kind = f->con[i].kind;
    slip[0] = slip[1] = 0;
    if (kind == TI_CON_DRY || kind == TI_CON_TWIST) return slip[0] = ti_row_velocity(ws, f, i, 2, v), 1;
    if (kind != TI_CON_CONTACT && kind != TI_CON_ROLL) return 0;
    ti_slip_velocity(ws, f, i, v, slip);
    return 2;
}

/* Does friction i stop what it acts against, or turn it round? way: the direction that comes with, times the impulse.
 * What is held is not quite at rest: a small part of what forces alone would make of it in the step, or friction could
 * stop. */
static bool turned(const tribo_ws *ws, const ti_frame *f, int i, double way[2]) {
    double after[2], forced[2], size = 0, impulse = 0;
    int rows = slips(ws, f, i, ws->vnow, way);
    const double *l = f->lambda + 3 * i + (rows == 1 ? 2 : 0);
    double most = ws->mu[i] * (f->con[i].kind == TI_CON_DRY ? 1 : f->lambda[3 * ti_con_host(f, i) + 2]);
    slips(ws, f, i, f->v, after), slips(ws, f, i, ws->vfree, forced);
    for (int r = 0; r < rows; r++) size += way[r] * way[r], impulse += l[r] * l[r];
    size = sqrt(size);
    double least = 1e-3 * hypot(forced[0] - way[0], forced[1] - way[1]);
    if (!(size > least) || !(sqrt(impulse) > 1e-3 * most) || way[0] * after[0] + way[1] * after[1] > least * size)
        return false;
    for (int r = 0; r < 2; r++) way[r] *= sqrt(impulse) / size;
    return true;
}

/* n += the row of one friction, as a function of velocities. */
static void add_row(const ti_worker *w, const tribo_ws *ws, const ti_island *is, int i, const double way[2],
                    double *n) {
    const ti_frame *f = &ws->frame;
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        double *to = n + w->s->m->tree[f->blk_tree[b]].v;
        for (int j = 0; j < ws->width[b]; j++) {
            double slip[2], *unit = w->reversal.unit + ws->at_v[b] + j;
            *unit = 1;
            slips(ws, f, i, w->reversal.unit, slip);
            *unit = 0;
            to[j] += way[0] * slip[0] + way[1] * slip[1];
        }
    }
}

/* n (nv), the work of what turns round in an island. @return false without any, or where something was hit. */
static bool slip_row(const ti_worker *w, const tribo_ws *ws, const ti_island *is, double fall, double *n) {
    const ti_frame *f = &ws->frame;
    bool any = false;
    memset(n, 0, (size_t)w->s->z.nv * sizeof *n);
    for (int i = is->con0; i < is->con0 + is->ncon && is->phase[TI_IMPACT].npoint == 0; i++) {
        double way[2];
        if (!turned(ws, f, i, way)) continue;
        if (f->con[i].kind == TI_CON_CONTACT && f->con[i].touch.gap > fall) return false;
        any = true;
        add_row(w, ws, is, i, way, n);
    }
    return any;
}

/* Is all that turns round in the island at rest at v, nearly? Where it turns at several times, no one time will do. */
static bool at_once(ti_worker *w, const tribo_ws *ws, const ti_island *is, const double *v) {
    const ti_frame *f = &ws->frame;
    double *own = w->reversal.unit;
    bool good = true;
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++)
        memcpy(own + ws->at_v[b], v + w->s->m->tree[f->blk_tree[b]].v, (size_t)ws->width[b] * sizeof *own);
    for (int i = is->con0; i < is->con0 + is->ncon && good; i++) {
        double way[2], begun[2], left[2];
        if (!turned(ws, f, i, way)) continue;
        slips(ws, f, i, ws->vnow, begun), slips(ws, f, i, own, left);
        good = hypot(left[0], left[1]) < 0.1 * hypot(begun[0], begun[1]);
    }
    memset(own, 0, (size_t)w->s->z.nv * sizeof *own);
    return good;
}

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Before it turns: velocities are followed back until a step does not reach that. */
static bool before(ti_worker *w, ti_reversal *r, const double *p, const double *u, bool record) {
    const tribo_sizes *z = &w->s->z;
    const double *v = w->before + z->nq, *end = w->x + z->nq;
    for (r->back = 1; r->back <= 256; r->back *= 2) {
        memcpy(r->x, w->before, (size_t)z->nx * sizeof(double));
        for (int i = 0; i < z->nv; i++) r->x[z->nq + i] += r->back * (v[i] - end[i]);
        double begun = dot(r->row, r->x + z->nq, z->nv);
        if (ti_probe_make(w, &w->probe[0], p, u, record, r->x) < 0) return false;
        if (dot(r->row, r->x + z->nq, z->nv) > 0.1 * begun) return true;
    }
    return false;
}

/* After it: from where it turns. What stays there has stopped. */
static bool after(ti_worker *w, ti_reversal *r, const tribo_ws *made, int island, const double *p, const double *u,
                  bool record) {
    const tribo_sizes *z = &w->s->z;
    int nv = z->nv;
    double dt = made->options.dt;
    double braked = dot(r->row, w->probe[0].rate, nv);
    r->share = -dot(r->row, w->before + z->nq, nv) / (dt * braked);
    if (!(braked < 0 && r->share >= 0 && r->share <= 1.01)) return false; /* what is held is not quite at rest */
    memcpy(r->x, w->before, (size_t)z->nx * sizeof(double));
    for (int i = 0; i < nv; i++) r->x[z->nq + i] += r->share * dt * w->probe[0].rate[i];
    if (!at_once(w, made, &made->frame.island[island], r->x + z->nq)) return false;
    if (ti_probe_make(w, &w->probe[1], p, u, record, r->x) < 0) return false;
    return fabs(dot(r->row, w->probe[1].rate, nv)) > 1e-6 * -braked;
}

bool ti_reversal_make(ti_worker *w, const double *p, const double *u, int length, bool record, const tribo_ws *made) {
    ti_reversal *r = &w->reversal;
    const tribo_sizes *z = &w->s->z;
    int k = 0, nv = z->nv;
    double dt = made->options.dt, fall = ti_weight(p) * dt * dt;
    while (k < made->frame.nisland && !slip_row(w, made, &made->frame.island[k], fall, r->row)) k++;
    if (k == made->frame.nisland) return false;
    for (int i = 0; i < 2; i++)
        if (ti_stride_ready(w, length, 1 + i, &w->probe[i].at)) return false;
    if (!before(w, r, p, u, record) || !after(w, r, made, k, p, u, record)) return false;
    double late = dt * (r->share - 0.5); /* velocities are those of half a step before */
    for (int i = 0; i < nv; i++) {
        double in = w->probe[0].rate[i], out = w->probe[1].rate[i];
        r->dx[nv + i] = w->before[z->nq + i] + dt * (r->share * in + (1 - r->share) * out) - w->x[z->nq + i];
        r->dx[i] = dt * r->dx[nv + i] + late * late / 2 * (out - in);
    }
    tribo_state_add(w->s->m, w->x, r->dx, w->x);
    return true;
}

/* One column of the derivative: dx of the state, unknown a; dnext (ndx) of the step as it was first, in place. */
static void follow(ti_worker *w, double dt, const double *dx, int a, double *dnext) {
    const ti_reversal *r = &w->reversal;
    int nv = w->s->z.nv;
    const double *n = r->row, *in = w->probe[0].rate, *out = w->probe[1].rate;
    double *dy = r->dx, *din = r->unit, *dout = r->x;
    memcpy(dy, dx, (size_t)w->s->z.ndx * sizeof *dy);
    for (int i = nv; i < 2 * nv; i++) dy[i] += r->back * (dx[i] - dnext[i]);
    ti_probe_jvp(w, &w->probe[0], dy, a, din);
    double dshare = -(dot(n, dx + nv, nv) / dt + r->share * dot(n, din, nv)) / dot(n, in, nv);
    for (int i = 0; i < nv; i++) dy[nv + i] = dx[nv + i] + dt * (dshare * in[i] + r->share * din[i]);
    ti_probe_jvp(w, &w->probe[1], dy, a, dout);
    double late = dt * (r->share - 0.5);
    for (int i = 0; i < nv; i++) {
        double dv = dx[nv + i] + dt * (dshare * (in[i] - out[i]) + r->share * din[i] + (1 - r->share) * dout[i]);
        dnext[i] += dt * (dv - dnext[nv + i]) + late * dt * dshare * (out[i] - in[i]);
        dnext[i] += late * late / 2 * (dout[i] - din[i]), dnext[nv + i] = dv;
    }
    memset(din, 0, (size_t)nv * sizeof *din);
}

tribo_status ti_reversal_jac(ti_worker *w, const tribo_ws *made, const double *pd, double *A, double *C) {
    ti_reversal *r = &w->reversal;
    size_t ndx = (size_t)w->s->z.ndx;
    double *dx = r->column, *column = dx + ndx, dt = made->options.dt;
    for (int k = 0; k < 2; k++) {
        tribo_status status = ti_probe_jac(w, &w->probe[k], pd);
        if (status < 0) return status;
    }
    memset(dx, 0, ndx * sizeof *dx);
    for (int a = 0; pd && a < w->s->nfree; a++) follow(w, dt, dx, a, C + (size_t)a * ndx);
    for (size_t j = 0; j < ndx; j++) {
        for (size_t i = 0; i < ndx; i++) column[i] = A[i * ndx + j];
        dx[j] = 1, follow(w, dt, dx, -1, column), dx[j] = 0;
        for (size_t i = 0; i < ndx; i++) A[i * ndx + j] = column[i];
    }
    return TRIBO_OK;
}
