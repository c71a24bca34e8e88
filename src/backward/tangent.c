/* tangent.c -- forward tangents and Jacobians of a recorded step: which way each is made. */
#include "backward/backward.h"

/* ---- of a law that depends on G itself, and of trees with joints: by the rows that the reverse gives ---- */

static bool by_rows(const tribo_ws *ws) {
    return ti_contact_uses_delassus(ws->contact) || ws->model->chains;
}

/* Row i of the step's Jacobians, in scratch; p NULL where it is not asked for. */
typedef struct jacobian_row {
    double *x, *u, *p; /* (ndx), (nu), (np) */
} jacobian_row;

static tribo_status reverse_row(tribo_ws *ws, const ti_frame *f, const double *p, int i, bool params,
                                jacobian_row *out) {
    const tribo_sizes *size = &ws->model->size;
    double *seed = ws->scratch->seed;
    size_t n = 2 * (size_t)size->ndx + (size_t)size->nu + (params ? (size_t)size->np : 0);
    memset(seed, 0, n * sizeof *seed);
    seed[i] = 1;
    *out = (jacobian_row){seed + size->ndx, seed + 2 * size->ndx, params ? seed + 2 * size->ndx + size->nu : NULL};
    return ti_reverse(ws, f, p, &(ti_seed_bar){seed, NULL}, out->x, out->u, out->p);
}

static double product(int n, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; a && b && i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* out (n,ndx) */
static tribo_status tangents_by_rows(tribo_ws *ws, const ti_frame *f, const double *p, const ti_seeds *in,
                                     double *out) {
    const tribo_sizes *size = &ws->model->size;
    size_t ndx = (size_t)size->ndx;
    tribo_status status = TRIBO_OK;
    ti_contact_keep(ws->contact, true);
    for (int i = 0; i < size->ndx && status >= 0; i++) {
        jacobian_row r;
        status = reverse_row(ws, f, p, i, in->p != NULL, &r);
        for (int j = 0; j < in->n; j++)
            out[(size_t)j * ndx + (size_t)i] = product(size->ndx, r.x, ti_seed(in->x, j, size->ndx)) +
                                               product(size->nu, r.u, ti_seed(in->u, j, size->nu)) +
                                               product(size->np, r.p, ti_seed(in->p, j, size->np));
    }
    ti_contact_keep(ws->contact, false);
    return status;
}

static tribo_status jacobians_by_rows(tribo_ws *ws, const ti_frame *f, const double *p, double *A, double *B,
                                      double *C) {
    const tribo_sizes *size = &ws->model->size;
    size_t ndx = (size_t)size->ndx, nu = (size_t)size->nu, np = (size_t)size->np;
    tribo_status status = TRIBO_OK;
    ti_contact_keep(ws->contact, true);
    for (size_t i = 0; i < ndx && status >= 0; i++) {
        jacobian_row r;
        status = reverse_row(ws, f, p, (int)i, C != NULL, &r);
        if (A) memcpy(A + i * ndx, r.x, ndx * sizeof *A);
        if (B) memcpy(B + i * nu, r.u, nu * sizeof *B);
        if (C) memcpy(C + i * np, r.p, np * sizeof *C);
    }
    ti_contact_keep(ws->contact, false);
    return status;
}

tribo_status ti_forward(tribo_ws *ws, const ti_frame *f, const double *p, int ndir, const double *x_dot,
                        const double *u_dot, const double *p_dot, double *xnext_dot) {
    const tribo_sizes *size = &ws->model->size;
    tribo_status status = TRIBO_OK;
    for (int j = 0; j < ndir && status >= 0; j += ws->directions) {
        ti_seeds in = {ndir - j < ws->directions ? ndir - j : ws->directions, ti_seed(x_dot, j, size->ndx),
                       ti_seed(u_dot, j, size->nu), ti_seed(p_dot, j, size->np)};
        double *out = xnext_dot + (size_t)j * (size_t)size->ndx;
        status = by_rows(ws) ? tangents_by_rows(ws, f, p, &in, out) : ti_step_tangents(ws, f, p, &in, out);
    }
    return status;
}

/* What a direction of p moves. */
enum { PUSHES = 1, TOUCHES = 2, BOUNCES = 4, OTHERS = 8 };

static int moved_by(const tribo_model *m, const double *p_dot) {
    int moved = 0;
    for (int i = 0; i < m->size.np; i++) {
        if (p_dot[i] == 0) continue;
        ti_number n = ti_number_of(m, i);
        bool centre = n.number >= TI_P_COM && n.number < TI_P_INERTIA;
        int material = n.number - (n.part == TI_PART_GEOM ? TI_P_MATERIAL : 0);
        if (n.part == TI_PART_GRAVITY || (n.part == TI_PART_BODY && !centre))
            moved |= PUSHES;
        else if (n.part == TI_PART_GEOM || n.part == TI_PART_PAIR)
            moved |= material == TI_M_RESTITUTION ? BOUNCES : TOUCHES;
        else
            moved |= OTHERS;
    }
    return moved;
}

/* A, and rows of C for those directions of p; of numbers that only push where `pushes`. */
static tribo_status some_directions(tribo_ws *ws, const ti_frame *f, const double *p, bool pushes, double *A, int n,
                                    const int *which, const double *p_dot, double *C) {
    size_t ndx = (size_t)ws->model->size.ndx, np = (size_t)ws->model->size.np;
    double *seed = ws->scratch->seed, *result = seed + (size_t)ws->directions * np;
    for (int j = 0; j < n; j++) memcpy(seed + (size_t)j * np, p_dot + (size_t)which[j] * np, np * sizeof *seed);
    ti_seeds in = {n, NULL, NULL, seed};
    tribo_status s = pushes ? ti_jacobian(ws, f, p, A, NULL, &in, result) : ti_step_tangents(ws, f, p, &in, result);
    for (int j = 0; j < n && s >= 0; j++) memcpy(C + (size_t)which[j] * ndx, result + (size_t)j * ndx, ndx * sizeof *C);
    return s;
}

tribo_status ti_jacobian_along(tribo_ws *ws, const ti_frame *f, const double *p, double *A, int n, const double *p_dot,
                               double *C) {
    int pushing[TI_DIRECTIONS], other[TI_DIRECTIONS], npushing = 0, nother = 0;
    if (by_rows(ws) || !ti_jacobian_applies(ws, f)) {
        tribo_status s = ti_jacobians(ws, f, p, A, NULL, NULL);
        return s < 0 ? s : ti_forward(ws, f, p, n, NULL, NULL, p_dot, C);
    }
    tribo_status s = TRIBO_OK;
    memset(C, 0, sizeof *C * (size_t)n * (size_t)ws->model->size.ndx);
    for (int j = 0; j < n && s >= 0; j++) {
        int moved = moved_by(ws->model, p_dot + (size_t)j * (size_t)ws->model->size.np) & ~BOUNCES;
        if (moved == PUSHES && npushing < ws->directions)
            pushing[npushing++] = j;
        else if (moved & ~TOUCHES || (moved && f->nisland))
            other[nother++] = j;
        if (nother == ws->directions || (nother && j == n - 1))
            s = some_directions(ws, f, p, false, NULL, nother, other, p_dot, C), nother = 0;
    }
    return s < 0 ? s : some_directions(ws, f, p, true, A, npushing, pushing, p_dot, C);
}

tribo_status ti_jacobians(tribo_ws *ws, const ti_frame *f, const double *p, double *A, double *B, double *C) {
    double *by_u = B ? B : ws->scratch->B; /* A alone goes through it, too */
    if (by_rows(ws) && A && !C && by_u && ti_tree_columns_apply(ws, f, p)) return ti_tree_jacobians(ws, f, p, A, by_u);
    if (by_rows(ws)) return jacobians_by_rows(ws, f, p, A, B, C);
    tribo_status s = TRIBO_OK;
    if (A || B) s = ti_jacobian(ws, f, p, A, B, NULL, NULL);
    return s < 0 || !C ? s : ti_parameter_columns(ws, f, p, C);
}
