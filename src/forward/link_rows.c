/* link_rows.c -- rows of a link as rows of its tree, and the reverse of those of a contact. */
#include "forward/frame.h"
#include "math/lanes.h"

/* to (3), w apart, += R S, R (3,6) by its columns. */
TI_CLONES static void add_column(const double *by_column, const double *S, int w, double *to) {
    const vec4 *R = (const vec4 *)(const void *)by_column;
    vec4 sum = {to[0], to[w], to[2 * w], 0};
    TI_UNROLL for (int e = 0; e < TI_TWIST; e++) sum += R[e] * S[e];
    to[0] = sum[0], to[w] = sum[1], to[2 * w] = sum[2];
}

/* Times how its tree moves it; of a single body they are its own. */
void ti_link_rows(tribo_ws *ws, int body, const double *R, double *J) {
    const ti_tree *tree = &ws->model->tree[ws->model->body[body].tree];
    if (tree->single) {
        memcpy(J, R, 3 * TI_TWIST * sizeof *J);
        return;
    }
    double by_column[LANE * TI_TWIST];
    for (int e = 0; e < TI_TWIST; e++) {
        for (int r = 0; r < 3; r++) by_column[LANE * e + r] = R[TI_TWIST * r + e];
        by_column[LANE * e + 3] = 0;
    }
    for (int d = ws->model->body[body].last; d >= 0; d = ws->model->dof[d].before) {
        double S[TI_TWIST];
        ti_motion_column(&ws->motion, body, d, S);
        add_column(by_column, S, tree->nv, J + d - tree->v);
    }
}

/* What moves both bodies moves neither along the other: its columns (w apart in a row) are differences of equals. */
static void clear_common(const tribo_ws *ws, const ti_con *c, int w, double *J) {
    const tribo_model *m = ws->model;
    int at[2] = {m->body[c->a].last, m->body[c->b].last}, v = m->tree[m->body[c->a].tree].v;
    while (at[0] != at[1]) {
        int later = at[1] > at[0];
        at[later] = m->dof[at[later]].before;
    }
    for (int k = at[0]; k >= 0; k = m->dof[k].before)
        for (int r = 0; r < 3; r++) J[w * r + k - v] = 0;
}

/* A motion along one of the three directions alone has a part along the others that is rounding: taken at its value it
 * would be a way to slip, with an inertia beyond all others. */
static void clear_tiny(double share, const ti_support *s, int w, double *J) {
    for (int e = 0; e < s->n; e++) {
        double *of = J + s->column[e], a = of[0], b = of[w], c = of[2 * w], x = fabs(a), y = fabs(b), z = fabs(c);
        double more = y > z ? y : z, most = share * (x > more ? x : more);
        of[0] = x <= most ? 0 : a, of[w] = y <= most ? 0 : b, of[2 * w] = z <= most ? 0 : c;
    }
}

void ti_frame_rows_settle(const tribo_ws *ws, const ti_frame *f, int i) {
    const ti_con *c = &f->con[i];
    double length = c->pair.length, share = ti_grain_of(&c->touch, length, false, 0).rounding / length;
    for (int side = 0; side < 2; side++) {
        double *J = (double *)ti_frame_rows(ws, f, i, side);
        int body = side ? c->b : c->a;
        if (!J || ws->model->tree[ws->model->body[body].tree].single) continue;
        int w = ws->width[ti_blk_of_body(ws, body)];
        if (ti_con_within(ws, c)) clear_common(ws, c, w, J);
        clear_tiny(share, ws->support + 2 * i + (side && c->a >= 0), w, J);
    }
}

void ti_side_end(tribo_ws *ws, ti_side_run *run) {
    for (int k = 0; k < run->n; k++)
        ti_motion_twist_vjp(&ws->motion, run->body, run->v[k], run->twist_bar[k], &ws->scratch->motion_bar);
    run->n = 0;
}

static bool goes_on(const ti_side_run *run, int body, int n, const ti_row_product *met) {
    if (run->n != n) return false;
    for (int k = 0; k < n; k++) /* without one there is no body yet */
        if (run->body != body || run->v[k] != met[k].v) return false;
    return true;
}

static void start(tribo_ws *ws, ti_side_run *run, int body, int n, const ti_row_product *met) {
    ti_side_end(ws, run);
    run->body = body, run->n = n;
    for (int k = 0; k < n; k++) {
        run->v[k] = met[k].v;
        ti_motion_twist(&ws->motion, body, met[k].v, run->twist[k]);
    }
    memset(run->twist_bar, 0, sizeof *run->twist_bar * (size_t)n);
}

/* += R' l */
static void add_rows(const double *R, const double *l, double *twist_bar) {
    for (int r = 0; r < 3; r++)
        for (int e = 0; e < TI_TWIST; e++) twist_bar[e] += l[r] * R[TI_TWIST * r + e];
}

void ti_side_vjp(tribo_ws *ws, ti_side_run *run, const ti_con *c, int side, int shared, int n, ti_row_product *met,
                 double *frame_bar) {
    int body = side ? c->b : c->a;
    const ti_link *l = &ws->link[body];
    ti_motion_bar *bar = &ws->scratch->motion_bar;
    double sign = side ? 1 : -1, R[3 * TI_TWIST], twist[TI_ROW_PRODUCTS][TI_TWIST];
    if (!ws->model->tree[ws->model->body[body].tree].single) {
        ti_rows(c, l, sign, R);
        if (!goes_on(run, body, shared, met)) start(ws, run, body, shared, met);
        for (int k = 0; k < n; k++) { /* l' R S v: R of the link, S v its twist */
            if (k < shared) {
                add_rows(R, met[k].l, run->twist_bar[k]);
                met[k].v = run->twist[k];
                continue;
            }
            double twist_bar[TI_TWIST] = {0};
            add_rows(R, met[k].l, twist_bar);
            ti_motion_twist_vjp(&ws->motion, body, met[k].v, twist_bar, bar);
            ti_motion_twist(&ws->motion, body, met[k].v, twist[k]);
            met[k].v = twist[k];
        }
    }
    ti_rows_vjp(c, l, sign, n, met, &bar->link[body], frame_bar);
}
