/* tangent_columns.c -- forward tangents of a recorded step, island by island, many directions at once; and columns of
 * its Jacobians by unit seeds. */
#include "backward/backward.h"

/* Of island n, from those of its links in diff_dot to the next state of its bodies: out (ndir,ndx). */
static tribo_status island_tangents(tribo_ws *ws, const ti_frame *f, int n, const double *p, const ti_seeds *in,
                                    double *out) {
    const tribo_model *m = ws->model;
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[n];
    tribo_status status = ti_island_jvp(ws, f, n, p, in);
    for (int j = 0; j < in->n && status >= 0; j++)
        for (int k = is->blk0; k < is->blk0 + is->nblk; k++) {
            size_t at = (size_t)j * (size_t)is->nv + (size_t)ws->voff[k];
            ti_tree_next_dot(ws, f, &s->diff_dot[j * m->size.nbody], f->blk_tree[k], s->next_dot + at, s->D_dot + at,
                             out + (size_t)j * (size_t)m->size.ndx);
        }
    return status;
}

/* Of a tree that touches nothing. */
static void free_tangents(tribo_ws *ws, const ti_frame *f, int t, int ndir, double *out) {
    const tribo_model *m = ws->model;
    double *V_dot = ws->scratch->next_dot, *D_dot = ws->scratch->D_dot;
    for (int j = 0; j < ndir; j++) {
        const ti_link_diff *diffs = &ws->scratch->diff_dot[j * m->size.nbody];
        ti_motion_free_jvp(&ws->motion, t, diffs, V_dot);
        for (int e = 0; e < m->tree[t].nv; e++) D_dot[e] = ws->options.dt * V_dot[e];
        ti_tree_next_dot(ws, f, diffs, t, V_dot, D_dot, out + (size_t)j * (size_t)m->size.ndx);
    }
}

tribo_status ti_step_tangents(tribo_ws *ws, const ti_frame *f, const double *p, const ti_seeds *in, double *out) {
    ti_seed_links(ws, in); /* x_dot is not read after this, so out may alias it */
    for (int n = 0; n < f->nisland; n++) {
        tribo_status status = island_tangents(ws, f, n, p, in, out);
        if (status < 0) return status;
    }
    for (int t = 0; t < ws->model->ntree; t++)
        if (ws->blk_at[t] < 0) free_tangents(ws, f, t, in->n, out);
    return TRIBO_OK;
}

/* What numbers a free body has in a step's Jacobians: pose, velocity, control. */
enum { NUMBERS = 3 * TI_POSE };

/* Unit seeds of body `moving` and zero of the others of `bodies`, as direction j. */
static void seed_number(tribo_ws *ws, const int *bodies, int nb, int moving, int number, int j) {
    double unit[TI_POSE] = {0};
    unit[number % TI_POSE] = 1;
    for (int e = 0; e < nb; e++) {
        int b = bodies[e], which = b == moving ? number / TI_POSE : -1;
        ti_link_diff *d = &ws->scratch->diff_dot[j * ws->model->size.nbody + b];
        ti_link_load_jvp(&ws->link[b], which == 0 ? unit : NULL, which == 1 ? unit : NULL, NULL, d);
        ti_free_dot(ws, b, d, ti_vec3(0, 0, 0), which == 2 ? unit : NULL, NULL);
    }
}

/* What direction j did to the next state, x_dot, to the column of that number; of the rows of `bodies`. */
static void put_column(const tribo_ws *ws, const int *bodies, int nb, int moving, int number, const double *x_dot,
                       double *A, double *B) {
    int nv = ws->model->size.nv, ndx = 2 * nv, col = ws->model->body[moving].v + number % TI_POSE;
    double *to = number < 2 * TI_POSE ? A + (number < TI_POSE ? col : nv + col) : B + col;
    int width = number < 2 * TI_POSE ? ndx : nv;
    for (int e = 0; e < nb; e++)
        for (int i = 0, row = ws->model->body[bodies[e]].v; i < TI_POSE; i++, row++)
            to[(size_t)row * (size_t)width] = x_dot[row], to[(size_t)(nv + row) * (size_t)width] = x_dot[nv + row];
}

/* Those of numbers `first` to `end`. */
static tribo_status number_columns(tribo_ws *ws, const ti_frame *f, const double *p, int island, const int *bodies,
                                   int nb, int first, int end, double *A, double *B) {
    int ndx = ws->model->size.ndx, each = end - first, all = nb * each;
    double *out = ws->scratch->seed;
    for (int at = 0; at < all; at += ws->directions) {
        ti_seeds in = {all - at < ws->directions ? all - at : ws->directions, NULL, NULL, NULL};
        for (int j = 0; j < in.n; j++) seed_number(ws, bodies, nb, bodies[(at + j) / each], first + (at + j) % each, j);
        tribo_status status = TRIBO_OK;
        if (island < 0)
            free_tangents(ws, f, bodies[0], in.n, out);
        else
            status = island_tangents(ws, f, island, p, &in, out);
        if (status < 0) return status;
        for (int j = 0; j < in.n; j++)
            put_column(ws, bodies, nb, bodies[(at + j) / each], first + (at + j) % each, out + (size_t)j * (size_t)ndx,
                       A, B);
    }
    return TRIBO_OK;
}

/* A and B apart: each has the same bits without the other. */
tribo_status ti_tangent_columns(tribo_ws *ws, const ti_frame *f, const double *p, int island, const int *bodies, int nb,
                                double *A, double *B) {
    tribo_status s = TRIBO_OK;
    if (A) s = number_columns(ws, f, p, island, bodies, nb, 0, 2 * TI_POSE, A, NULL);
    if (B && s >= 0) s = number_columns(ws, f, p, island, bodies, nb, 2 * TI_POSE, NUMBERS, NULL, B);
    return s;
}

tribo_status ti_parameter_columns(tribo_ws *ws, const ti_frame *f, const double *p, double *C) {
    int ndx = ws->model->size.ndx, np = ws->model->size.np;
    double *seed = ws->scratch->seed, *result = seed + ws->directions * np;
    for (int j0 = 0; j0 < np; j0 += ws->directions) {
        int n = np - j0 < ws->directions ? np - j0 : ws->directions;
        memset(seed, 0, sizeof *seed * (size_t)n * (size_t)np);
        for (int j = 0; j < n; j++) seed[j * np + j0 + j] = 1;
        tribo_status s = ti_step_tangents(ws, f, p, &(ti_seeds){n, NULL, NULL, seed}, result);
        if (s < 0) return s;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < ndx; i++) C[(size_t)i * (size_t)np + (size_t)(j0 + j)] = result[j * ndx + i];
    }
    return TRIBO_OK;
}
