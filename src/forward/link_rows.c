/* link_rows.c -- rows of a link as rows of its tree, and the reverse of those of a contact. */
#include "forward/frame.h"

/* Times how its tree moves it; of a single body they are its own. */
void ti_link_rows(tribo_ws *ws, int body, const double *R, double *J) {
    const ti_tree *tree = &ws->model->tree[ws->model->body[body].tree];
    if (tree->single) {
        memcpy(J, R, 3 * TI_TWIST * sizeof *J);
        return;
    }
    for (int d = ws->model->body[body].last; d >= 0; d = ws->model->dof[d].before) {
        double S[TI_TWIST];
        ti_motion_column(&ws->motion, body, d, S);
        for (int r = 0; r < 3; r++)
            for (int e = 0; e < TI_TWIST; e++) J[r * tree->nv + d - tree->v] += R[TI_TWIST * r + e] * S[e];
    }
}

void ti_side_end(tribo_ws *ws, ti_side_run *run) {
    for (int k = 0; k < run->n; k++)
        ti_motion_twist_vjp(&ws->motion, run->body, run->v[k], run->twist_bar[k], &ws->scratch->motion_bar);
    run->n = 0;
}

static bool goes_on(const ti_side_run *run, int body, int n, const ti_row_product *met) {
    if (run->n != n || run->body != body) return false;
    for (int k = 0; k < n; k++)
        if (run->v[k] != met[k].v) return false;
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
