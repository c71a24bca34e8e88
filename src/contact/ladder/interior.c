/* interior.c -- a primal-dual interior point on the contact problem itself.
 *
 * De Saxce's form: lambda in the friction cone, c + (0, 0, mu |c_t|) in its dual. Normals scaled by mu make both the
 * second-order cone; Nesterov-Todd scaling, Mehrotra's predictor and corrector. |c_t| is smoothed along with the gap.
 * Each step eliminates the cones contact by contact and solves the primal system of every other rung. docs/math.md eq.
 * (44), (45). In this file components are ordered (normal, t1, t2).
 */
#include "contact/ladder/interior.h"

static void times3(const double *a, const double *b, double *c) {
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) c[3 * r + k] = a[3 * r] * b[k] + a[3 * r + 1] * b[3 + k] + a[3 * r + 2] * b[6 + k];
}

static const int place[3] = {2, 0, 1}; /* (n, t1, t2) in (t1, t2, n) */

static void begin(ti_contact_ws *ws, const ti_contact_problem *p, double R, bool local) {
    ti_cone *cones = ws->cones;
    ti_law_compliance Rc = ti_contact_compliance(R);
    double size = 0;
    for (int i = 0; i < p->nc; i++) {
        ti_cone *k = cones + i;
        memset(k, 0, sizeof *k);
        ti_law_compliance at = ti_contact_stiffness(p, i, Rc);
        const ti_law_scale *g = ws->scale + i;
        const double *free = ws->g + 3 * i;
        double s = 1 / sqrt(local ? (g->g_n + 2 * g->g_t * ws->tangent_scale) / 3 : ws->r0),
               mu = !ti_is_contact(p, i) ? 1
                    : p->mu[i] > 1e-8    ? p->mu[i]
                                         : 1e-8;
        for (int r = 0; r < 3; r++) {
            k->unit[r] = r ? s * mu : s;
            k->R[r] = (r ? at.t : at.n) * k->unit[r] * k->unit[r];
            k->x[r] = k->w[r] = r == 0;
        }
        /* of vectors: units that knew the axes of tangents would lead to another one of several solutions */
        double across = sqrt(free[0] * free[0] + free[1] * free[1]);
        size = ti_max(size, ti_max(k->unit[1] * across, k->unit[0] * fabs(free[2])));
    }
    ws->ip_unit = size > 0 ? size : 1;
    for (int i = 0; i < p->nc; i++) {
        ti_cone *k = cones + i;
        if (ti_is_spin(p, i)) {
            ti_cone_begin_spin(k, cones + ti_host_of(p, i), (ti_constraint_kind)p->what[i], p->mu[i]);
            continue;
        }
        if (!ti_is_contact(p, i)) {
            ti_cone_begin_joint(k, (ti_constraint_kind)p->what[i], p->mu[i] / (k->unit[0] * ws->ip_unit));
            continue;
        }
        k->paired = p->rebound && p->rebound[i] > 0;
        k->rebound = k->paired ? p->rebound[i] / (k->unit[0] * ws->ip_unit) : 0;
        k->normal = k->x[0], k->x[0] += k->rebound, k->nu = k->paired;
    }
}

static void impulses(const ti_contact_ws *ws, const ti_contact_problem *p, double *lambda) {
    const ti_cone *cones = ws->cones;
    for (int i = 0; i < p->nc; i++)
        for (int r = 0; r < 3; r++)
            lambda[3 * i + place[r]] = (r ? cones[i].x[r] : cones[i].normal) * cones[i].unit[r] * ws->ip_unit;
}

/* Residuals, scalings and the matrix D of every contact. */
static void linearise(ti_contact_ws *ws, const ti_contact_problem *p, double gap, double share) {
    ti_cone *cones = ws->cones;
    ti_system_jv(&ws->sys, p, ws->vi, true, ws->c);
    for (int i = 0; i < p->nc; i++) {
        ti_cone *k = cones + i;
        double c[3], T[9];
        for (int r = 0; r < 3; r++)
            c[r] = ws->c[3 * i + place[r]] * k->unit[r] / ws->ip_unit + k->R[r] * (r ? k->x[r] : k->normal);
        if (k->kind) {
            double follows[3];
            ti_cone_linearise_joint(k, c, follows);
            for (int r = 0; r < 3; r++)
                for (int q = 0; q < 3; q++)
                    ws->D[9 * i + 3 * place[r] + place[q]] = k->unit[r] * k->A[3 * r + q] * k->unit[q];
            for (int r = 0; k->host && r < 3; r++)
                ws->sys.coupling[3 * i + place[r]] = k->unit[r] * follows[r] / k->host->unit[0];
            continue;
        }
        double soft = ti_min(gap, 1), slip = sqrt(c[1] * c[1] + c[2] * c[2] + share * soft * soft + 1e-30);
        k->soft = gap < 1 ? share * soft * soft / slip : 0;
        for (int r = 0; r < 3; r++) k->rp[r] = k->w[r] - c[r];
        k->rp[0] += k->nu - slip, k->E[0] = c[1] / slip, k->E[1] = c[2] / slip;
        ti_cone_scale(k);
        const double E[9] = {1, k->E[0], k->E[1], 0, 1, 0, 0, 0, 1};
        ti_cone_inverse(k, k->A);
        times3(k->A, E, T);
        for (int r = 0; r < 3; r++)
            for (int q = 0; q < 3; q++) ws->D[9 * i + 3 * place[r] + place[q]] = k->unit[r] * T[3 * r + q] * k->unit[q];
    }
}

void ti_interior_direction(ti_contact_ws *ws, const ti_contact_problem *p, double centre, bool corrected) {
    ti_cone *cones = ws->cones;
    for (int i = 0; i < p->nc; i++) {
        ti_cone *k = cones + i;
        double q[3], t[3], s = sqrt(k->eta);
        if (k->kind) {
            ti_cone_aim_joint(k, centre, corrected, q);
            for (int r = 0; r < 3; r++) ws->f[3 * i + place[r]] = q[r] * k->unit[r] * ws->ip_unit;
            continue;
        }
        for (int r = 0; r < 3; r++) t[r] = k->rp[r] - k->w[r];
        k->rest = k->paired ? (corrected ? (centre - k->a.x[0] * k->a.nu) / k->normal : 0) - k->nu : 0;
        t[0] += k->rest;
        if (corrected) {
            double wx[3], vw[3], y[3];
            ti_cone_boost(k->h, k->a.x, false, wx);
            ti_cone_boost(k->h, k->a.w, true, vw); /* the two factors sqrt(eta) cancel */
            y[0] = centre - ti_dot3(wx, vw);
            y[1] = -(wx[0] * vw[1] + vw[0] * wx[1]), y[2] = -(wx[0] * vw[2] + vw[0] * wx[2]);
            ti_cone_arrow_solve(k->z, y, q);
            ti_cone_boost(k->h, q, false, y);
            for (int r = 0; r < 3; r++) t[r] += s * y[r];
        }
        for (int r = 0; r < 3; r++) { /* dlambda = -f - D J dv */
            q[r] = k->A[3 * r] * t[0] + k->A[3 * r + 1] * t[1] + k->A[3 * r + 2] * t[2];
            ws->f[3 * i + place[r]] = -q[r] * k->unit[r] * ws->ip_unit;
        }
    }
    ti_contact_direction(ws, p);
    for (int i = 0; i < p->nc; i++) { /* ws->c holds J dv */
        ti_cone *k = cones + i;
        double c[3];
        for (int r = 0; r < 3; r++) {
            k->d.x[r] = ws->dlambda[3 * i + place[r]] / (k->unit[r] * ws->ip_unit);
            c[r] = ws->c[3 * i + place[r]] * k->unit[r] / ws->ip_unit + k->R[r] * k->d.x[r];
        }
        if (k->kind) {
            ti_cone_turn_joint(k, k->d.x);
            continue;
        }
        k->d.w[0] = c[0] + k->E[0] * c[1] + k->E[1] * c[2] - k->rp[0];
        k->d.w[1] = c[1] - k->rp[1], k->d.w[2] = c[2] - k->rp[2];
        k->d.nu = k->paired ? k->rest - k->nu / k->normal * k->d.x[0] : 0;
        k->d.w[0] -= k->d.nu;
    }
}

double ti_interior_longest(const ti_contact_ws *ws, const ti_contact_problem *p) {
    const ti_cone *cones = ws->cones;
    double a = 1e9;
    for (int i = 0; i < p->nc; i++) {
        const ti_cone *k = cones + i;
        if (k->kind) {
            a = ti_cone_longest_joint(k, a);
            continue;
        }
        double x = ti_cone_longest(k->x, k->d.x), w = ti_cone_longest(k->w, k->d.w);
        a = x < a ? x : a;
        a = w < a ? w : a;
        if (!k->paired) continue;
        if (k->d.x[0] < 0 && -k->normal / k->d.x[0] < a) a = -k->normal / k->d.x[0];
        if (k->d.nu < 0 && -k->nu / k->d.nu < a) a = -k->nu / k->d.nu;
    }
    return a;
}

/* The mean gap of the pairs after a step a. */
static double gap_after(const ti_cone *cones, int nc, double a) {
    double sum = 0;
    int pairs = 0;
    for (int i = 0; i < nc; i++) {
        const ti_cone *k = cones + i;
        if (k->kind) {
            pairs += ti_cone_gap_of_joint(k, a, &sum);
            continue;
        }
        pairs++;
        for (int r = 0; r < 3; r++) sum += (k->x[r] + a * k->d.x[r]) * (k->w[r] + a * k->d.w[r]);
        if (k->paired) sum += (k->normal + a * k->d.x[0]) * (k->nu + a * k->d.nu), pairs++;
    }
    return pairs > 0 ? sum / pairs : 0;
}

static double mean_gap(const ti_cone *cones, int nc) {
    return gap_after(cones, nc, 0);
}

bool ti_interior_factor(ti_contact_ws *ws, const ti_contact_problem *p, double gap, double share) {
    linearise(ws, p, gap, share);
    impulses(ws, p, ws->lambda);
    ti_contact_momentum(ws, p, ws->vi, ws->lambda);
    ws->iterations++;
    return ti_system_factor(&ws->sys, p, ws->D) == TRIBO_OK;
}

void ti_interior_move(ti_contact_ws *ws, const ti_contact_problem *p, double share, const double *dv) {
    for (int i = 0; i < p->nc; i++) {
        ti_cone *k = ws->cones + i;
        for (int r = 0; r < 3; r++) k->x[r] += share * k->d.x[r], k->w[r] += share * k->d.w[r];
        k->normal += share * k->d.x[0], k->nu += share * k->d.nu;
        for (int s = 0; s < 2; s++) k->side[s] += share * k->d.side[s];
        k->bound += share * k->d.bound;
        k->x[0] = k->normal + k->rebound;
    }
    for (int k = 0; k < p->nv; k++) ws->vi[k] += share * dv[k];
}

static bool iterate(ti_contact_ws *ws, const ti_contact_problem *p, const ti_interior_settings *b) {
    ti_cone *cones = ws->cones;
    double gap = mean_gap(cones, p->nc);
    if (!ti_interior_factor(ws, p, gap, TI_SLIP_SHARE)) return false;
    ti_interior_direction(ws, p, 0, false);
    double a = 0.999 * ti_interior_longest(ws, p);
    double share = gap_after(cones, p->nc, a < 1 ? a : 1) / gap;
    share = pow(share > 0 ? share : 0, b->power);
    double sigma = share > b->floor ? (share < 1 ? share : 1) : b->floor;
    for (int i = 0; i < p->nc; i++) cones[i].a = cones[i].d;
    ti_interior_direction(ws, p, ti_max(sigma * gap, b->gap), true);
    a = b->fraction * ti_interior_longest(ws, p);
    if (a > 1) a = 1;
    if (!(a > 1e-12)) return false; /* NaN too */
    ti_interior_move(ws, p, a, ws->dv);
    return true;
}

bool ti_interior_begin(ti_contact_ws *ws, const ti_contact_problem *p, double R, bool local) {
    begin(ws, p, R, local);
    impulses(ws, p, ws->lambda); /* with its momentum balanced from the start: a light body would run away */
    return ti_contact_balance(ws, p, ws->lambda, ws->vi);
}

void ti_interior_end(ti_contact_ws *ws, const ti_contact_problem *p) {
    impulses(ws, p, ws->lambda);
    memcpy(ws->v, ws->vi, p->nv * sizeof(double));
}

enum { STALL = 12 };

bool ti_ncp_interior(ti_contact_ws *ws, const ti_contact_problem *p, double R, const ti_interior_settings *b,
                     double rough, int *done, int iterations) {
    if (*done == 0 && !ti_interior_begin(ws, p, R, b->local)) return false;
    bool fine = true;
    double before = HUGE_VAL;
    for (int first = *done; *done < iterations && fine; ++*done) {
        double gap = mean_gap(ws->cones, p->nc);
        if (gap < rough) break;
        if ((*done - first) % STALL == 0) { /* where it converges the gap falls by more than this in one step */
            fine = gap < 0.5 * before, before = gap;
            if (!fine) break;
        }
        fine = iterate(ws, p, b);
    }
    ti_interior_end(ws, p);
    return fine;
}
