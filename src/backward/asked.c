/* asked.c -- what contacts ask of derivatives: of references, of products with their rows, of the shapes that touch.
 */
#include "backward/backward.h"

bool ti_frame_acts(const ti_frame *f, int k, int i) {
    const ti_island *is = &f->island[k];
    if (f->mode[i] != TRIBO_BREAK) return true;
    /* whose time is that of what holds, whatever it does itself */
    if (ti_island_is_hit(is) && is->nhold > 0 && i == is->con0 + f->hit[is->con0].by) return true;
    if (is->phase[TI_RECOVER].npoint == 0) return false;
    return f->phase[TI_RECOVER].mode[i] != TRIBO_BREAK || is->pace[TI_RECOVER] < 1; /* all overlaps bound a pace */
}

void ti_phase_products(const tribo_ws *ws, const ti_frame *f, int k, ti_phase phase, int i, int at, ti_products *q) {
    const ti_scratch *s = ws->scratch;
    const ti_phase_data *d = &f->phase[phase];
    for (int j = 0, n = ti_frame_points(f, k, phase); j < n; j++) {
        int point = ti_frame_point(f, k, phase, j);
        q->of[q->n++] = (ti_row_product){d->lambda[point] + 3 * i, s->y[phase][j] + at};
        q->of[q->n++] = (ti_row_product){s->c_bar[phase][j] + 3 * i, d->v[point] + at};
        if (phase != TI_REBOUND) continue;
        q->give[0] = q->give[1] = 0, q->give[2] = ws->give[i];
        q->of[q->n++] = (ti_row_product){q->give, s->y[phase][j] + at};
    }
}

void ti_touch_vjp(const ti_con *c, const ti_shape *a, const ti_shape *b, const double *frame_bar, double gap_bar,
                  double *out) {
    double in[TI_COLLIDE_ROWS];
    ti_mat D1, D2;
    ti_tangents_jac(c->touch.normal, &D1, &D2);
    ti_vec n = ti_add(ti_tmul(&D1, ti_load3(frame_bar + 3)), ti_tmul(&D2, ti_load3(frame_bar + 6)));
    ti_store3(in, ti_load3(frame_bar));
    ti_store3(in + 3, ti_add(ti_load3(frame_bar + 9), n));
    in[6] = gap_bar;
    const ti_touch touch = ti_con_touch(c);
    double lean = ti_con_lean(c); /* as ti_con_jac() has it, turned around */
    in[6] += lean * ti_dot(ti_load3(frame_bar), c->touch.normal);
    for (int r = 0; r < 3; r++) in[3 + r] += lean * c->touch.gap * in[r];
    ti_collide_vjp(a, b, &touch, in, out);
}
