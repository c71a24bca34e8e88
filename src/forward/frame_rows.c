/* frame_rows.c -- rows of the contacts of a step times velocities, and what their gaps are compared with. */
#include "forward/frame.h"

/* Rows of contact i, which begin at J, on one side. */
static const double *side_of(const tribo_ws *ws, const ti_con *c, const double *J, int side) {
    return side && c->a >= 0 && !ti_con_within(ws, c) ? J + 3 * ws->width[ti_blk_of_body(ws, c->a)] : J;
}

const double *ti_frame_side(const tribo_ws *ws, const ti_frame *f, int i, int side) {
    return side_of(ws, &f->con[i], ti_frame_jacobian(ws, i), side);
}

/* Whether a side of a contact has rows of its own. */
static bool has_rows(const tribo_ws *ws, const ti_con *c, int side) {
    return (side ? c->b : c->a) >= 0 && !(side && ti_con_within(ws, c));
}

const double *ti_frame_rows(const tribo_ws *ws, const ti_frame *f, int i, int side) {
    return has_rows(ws, &f->con[i], side) ? ti_frame_side(ws, f, i, side) : NULL;
}

const double *ti_hit_rows(const tribo_ws *ws, const ti_frame *f, int i, int side) {
    const ti_con *c = &f->con[i];
    return has_rows(ws, c, side) ? side_of(ws, c, ti_hit_jacobian(ws, i), side) : NULL;
}

/* Over the columns of s, first to last, which are listed the other way round; NULL = all of them. */
static double row_times(const ti_support *s, int w, const double *row, const double *v) {
    double sum = 0;
    if (s && s->column)
        for (int e = s->n - 1; e >= 0; e--) sum += row[s->column[e]] * v[s->column[e]];
    else if (w == TI_FREE_NV) /* the loop below, whose length is known here: unrolled */
        for (int i = 0; i < TI_FREE_NV; i++) sum += row[i] * v[i];
    else
        for (int i = 0; i < w; i++) sum += row[i] * v[i];
    return sum;
}

/* The columns of the first or the second of the sides of contact i that move. */
static inline const ti_support *columns_of(const tribo_ws *ws, int i, int second) {
    return ws->model->chains ? ws->support + 2 * i + second : NULL;
}

/* Of the rows J of one side, and what follows them. */
static inline double of_side(const tribo_ws *ws, const ti_support *s, int body, const double **J, int r,
                             const double *v) {
    int k = ti_blk_of_body(ws, body), w = ws->width[k];
    const double *row = *J + w * r;
    *J += 3 * w;
    return row_times(s, w, row, v + ws->at_v[k]);
}

double ti_side_velocity(const tribo_ws *ws, const ti_frame *f, int i, int side, int r, const double *v) {
    const ti_con *c = &f->con[i];
    const double *J = ti_frame_rows(ws, f, i, side);
    return J ? of_side(ws, columns_of(ws, i, side && c->a >= 0), side ? c->b : c->a, &J, r, v) : 0;
}

void ti_slip_velocity(const tribo_ws *ws, const ti_frame *f, int i, const double *v, double *slip) {
    const ti_con *c = &f->con[i];
    const double *J = ti_frame_jacobian(ws, i);
    int body[2] = {c->a, ti_con_within(ws, c) ? -1 : c->b};
    slip[0] = slip[1] = 0;
    for (int side = 0, second = 0; side < 2; side++) {
        if (body[side] < 0) continue;
        const ti_support *s = columns_of(ws, i, second++);
        int k = ti_blk_of_body(ws, body[side]), w = ws->width[k];
        slip[0] += row_times(s, w, J, v + ws->at_v[k]), slip[1] += row_times(s, w, J + w, v + ws->at_v[k]);
        J += 3 * w;
    }
}

/* Of rows that begin at J. */
static double velocity(const tribo_ws *ws, const ti_con *c, const double *J, int i, int r, const double *v) {
    double sum = c->a >= 0 ? of_side(ws, columns_of(ws, i, 0), c->a, &J, r, v) : 0;
    if (c->b < 0 || ti_con_within(ws, c)) return sum;
    return sum + of_side(ws, columns_of(ws, i, c->a >= 0), c->b, &J, r, v);
}

double ti_row_velocity(const tribo_ws *ws, const ti_frame *f, int i, int r, const double *v) {
    return velocity(ws, &f->con[i], ti_frame_jacobian(ws, i), i, r, v);
}

double ti_hit_velocity(const tribo_ws *ws, const ti_frame *f, int i, int r, const double *v) {
    return velocity(ws, &f->con[i], ti_hit_jacobian(ws, i), i, r, v);
}

void ti_hit_kick(const tribo_ws *ws, const ti_frame *f, int i, int r, double s, double *v) {
    const ti_con *c = &f->con[i];
    for (int side = 0; side < 2; side++) {
        const double *J = ti_hit_rows(ws, f, i, side);
        if (!J) continue;
        int k = ti_blk_of_body(ws, side ? c->b : c->a), w = ws->width[k];
        ti_motion_solve(&ws->motion, f->blk_tree[k], J + w * r, ws->kick);
        for (int j = 0; j < w; j++) v[ws->at_v[k] + j] += s * ws->kick[j];
    }
}

const double *ti_solved_velocity(tribo_ws *ws, const ti_frame *f, int t) {
    int k = ws->blk_at[t];
    if (k >= 0) return f->v + ws->at_v[k];
    ti_motion_free(&ws->motion, t, ws->V);
    return ws->V;
}

void ti_con_jac(const ti_con *c, const ti_shape *a, const ti_shape *b, ti_touch_jac jac) {
    const ti_touch t = ti_con_touch(c);
    double lean = ti_con_lean(c), n[3];
    ti_collide_jac(a, b, &t, jac);
    ti_store3(n, c->touch.normal);
    for (int r = 0; r < 3 && lean != 0; r++)
        for (int j = 0; j < TI_COLLIDE_COLS; j++) jac[r][j] += lean * (n[r] * jac[6][j] + c->touch.gap * jac[3 + r][j]);
}

/* How often what noise makes of a gap in a step the velocity gives of an overlap. */
static const double GIVE = 2;

ti_grain ti_frame_grain(const tribo_ws *ws, const ti_con *c) {
    const tribo_model *m = ws->model;
    double fastest = ws->options.recovery * ws->options.dt;
    bool redundant = false, contact = c->kind == TI_CON_CONTACT;
    if (contact) redundant = ti_collide_most(m->geom[c->pair.a].shape, m->geom[c->pair.b].shape) > 1;
    ti_grain grain = ti_grain_of(&c->touch, contact ? c->pair.length : 1, redundant, fastest);
    grain.tilted = c->tilted, grain.noise = c->noise,
    grain.logistic = ws->options.law.smoothing == TRIBO_SMOOTHING_LOGISTIC;
    grain.give = ti_min(fastest, ti_max(grain.skin, GIVE * grain.noise));
    return grain;
}

ti_impact ti_frame_impact(const tribo_ws *ws, const ti_con *c) {
    double dt = ws->options.dt, farthest = c->within ? 0 : ws->options.recovery * dt;
    ti_impact hit = ti_impact_of(c->touch.gap, c->uf, c->an, dt, farthest);
    double most = hit.reached ? ti_max(fabs(c->touch.gap), fabs(dt * c->uf)) : 0;
    return hit.reached && most < ti_frame_grain(ws, c).rounding ? (ti_impact){0} : hit;
}
