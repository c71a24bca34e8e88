/* touching.c -- see touching.h; each derivative stands below what it differentiates. */
#include "forward/touching.h"
#include "base/clones.h"
#include "contact/law/noise.h"
#include "dynamics/spatial.h"
#include <string.h>

/* ---- geoms ---- */

static const ti_mat identity = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

static void unit_quat(const double *raw, double *q, double *inverse_norm) {
    double n = 1 / sqrt(raw[0] * raw[0] + raw[1] * raw[1] + raw[2] * raw[2] + raw[3] * raw[3]);
    for (int i = 0; i < 4; i++) q[i] = n * raw[i];
    *inverse_norm = n;
}

void ti_shape_place(const tribo_model *m, const double *p, const ti_link *links, int g, ti_shape *s) {
    const ti_geom *geom = &m->geom[g];
    const double *pg = p + geom->p;
    double q[4], n;
    unit_quat(pg + TI_P_QUAT, q, &n);
    ti_mat Q = ti_quat_mat(q);
    s->shape = geom->shape, s->mesh = geom->mesh, s->size = ti_load3(pg + TI_P_SIZE);
    s->edge = pg[TI_P_EDGE_RADIUS];
    if (geom->body < 0) {
        s->x = ti_load3(pg + TI_P_POS), s->R = Q;
    } else {
        const ti_link *l = &links[geom->body];
        s->x = ti_add(l->xo, ti_mul(&l->R, ti_load3(pg + TI_P_POS)));
        s->R = ti_matmul(&l->R, &Q);
    }
}

void ti_shapes(const tribo_model *m, const double *p, const ti_link *links, ti_shape *shapes) {
    for (int g = 0; g < m->size.ngeom; g++) ti_shape_place(m, p, links, g, &shapes[g]);
}

void ti_shape_vjp(const tribo_model *m, const double *p, const ti_link *link, int geom, const double *bar,
                  ti_link_diff *d, double *p_bar) {
    const ti_geom *g = &m->geom[geom];
    const double *pg = p + g->p;
    const ti_mat *R = link ? &link->R : &identity;
    ti_vec xb = ti_tmul(R, ti_load3(bar)), rb = ti_tmul(R, ti_load3(bar + 3));
    if (link) {
        d->xo = ti_add(d->xo, ti_load3(bar));
        d->th = ti_add(d->th, ti_add(ti_cross(ti_load3(pg + TI_P_POS), xb), rb));
    }
    if (!p_bar) return;
    double *out = p_bar + g->p;
    ti_add3(out + TI_P_SIZE, ti_load3(bar + 6));
    out[TI_P_EDGE_RADIUS] += bar[9];
    ti_add3(out + TI_P_POS, xb);
    ti_quat_turn_vjp(pg + TI_P_QUAT, rb, out + TI_P_QUAT);
}

bool ti_shape_jvp(const tribo_model *m, const double *p, const ti_link *link, int geom, const ti_link_diff *d,
                  const double *p_dot, double *out) {
    const ti_geom *g = &m->geom[geom];
    const double *pg = p + g->p, *dot = p_dot ? p_dot + g->p : NULL;
    const ti_mat *R = link ? &link->R : &identity;
    ti_vec x = {0, 0, 0}, r = {0, 0, 0}, size = {0, 0, 0}, xo = {0, 0, 0};
    if (link) xo = d->xo, r = d->th, x = ti_cross(d->th, ti_load3(pg + TI_P_POS));
    if (dot) {
        double q[4], n, dq[4];
        unit_quat(pg + TI_P_QUAT, q, &n);
        double conjugate[4] = {q[0], -q[1], -q[2], -q[3]};
        ti_quat_mul(dot + TI_P_QUAT, conjugate, dq);
        r = ti_axpy(r, 2 * n, ti_load3(dq + 1));
        x = ti_add(x, ti_load3(dot + TI_P_POS));
        size = ti_load3(dot + TI_P_SIZE);
    }
    ti_store3(out, ti_add(xo, ti_mul(R, x)));
    ti_store3(out + 3, ti_mul(R, r));
    ti_store3(out + 6, size);
    out[9] = dot ? dot[TI_P_EDGE_RADIUS] : 0;
    for (int i = 0; i < TI_SHAPE_COLS; i++)
        if (out[i] != 0) return true;
    return false;
}

/* ---- rows: docs/math.md eq. (9), (10) ---- */

/* Friction against turning: rows (0, s l R'd), l the length of the pair; the first two of a twist and the third of a
 * roll are idle. docs/math.md eq. (340). */
static void spin_directions(const ti_con *c, ti_vec d[3]) {
    static const ti_vec none = {0, 0, 0};
    bool rolls = c->kind == TI_CON_ROLL;
    d[0] = rolls ? c->t1 : none, d[1] = rolls ? c->t2 : none, d[2] = rolls ? none : c->touch.normal;
}

static void spin_rows(const ti_con *c, const ti_link *link, double sign, double *J) {
    ti_vec d[3];
    spin_directions(c, d);
    memset(J, 0, 3 * TI_TWIST * sizeof *J);
    for (int k = 0; k < 3; k++)
        ti_store3(J + TI_TWIST * k + 3, ti_scale(sign * c->pair.length, ti_tmul(&link->R, d[k])));
}

static void spin_rows_vjp(const ti_con *c, const ti_link *link, double sign, int n, const ti_row_product *product,
                          ti_link_diff *diff, double *frame_bar) {
    ti_vec d[3];
    spin_directions(c, d);
    sign *= c->pair.length;
    for (int k = 0; k < n; k++) {
        const double *l = product[k].l;
        ti_vec w = ti_mul(&link->R, ti_load3(product[k].v + 3)), F = {0, 0, 0};
        for (int r = 0; r < 3; r++) {
            F = ti_axpy(F, l[r], d[r]);
            bool idle = (r < 2) != (c->kind == TI_CON_ROLL);
            if (!idle) ti_add3(frame_bar + 3 + 3 * r, ti_scale(sign * l[r], w));
        }
        diff->th = ti_axpy(diff->th, sign, ti_tmul(&link->R, ti_cross(w, F)));
    }
}

static void spin_rows_jvp(const ti_con *c, const ti_link *link, double sign, const ti_link_diff *diff,
                          const double *frame_dot, double *J_dot) {
    ti_vec d[3];
    spin_directions(c, d);
    sign *= c->pair.length;
    memset(J_dot, 0, 3 * TI_TWIST * sizeof *J_dot);
    for (int k = 0; k < 3; k++) {
        bool idle = (k < 2) != (c->kind == TI_CON_ROLL);
        if (idle) continue;
        ti_vec row = ti_tmul(&link->R, d[k]), turned = ti_tmul(&link->R, ti_load3(frame_dot + 3 + 3 * k));
        ti_store3(J_dot + TI_TWIST * k + 3, ti_scale(sign, ti_sub(turned, ti_cross(diff->th, row))));
    }
}

/* That of a point at r from the centre, along d. */
static inline void row_along(const ti_link *link, double sign, ti_vec r, ti_vec d, double *row) {
    ti_store3(row, ti_scale(sign, d));
    ti_store3(row + 3, ti_scale(sign, ti_tmul(&link->R, ti_cross(r, d))));
}

void ti_rows(const ti_con *c, const ti_link *link, double sign, double *J) {
    if (ti_con_spins(c)) {
        spin_rows(c, link, sign, J);
        return;
    }
    ti_vec r = ti_sub(c->touch.point, link->xc);
    row_along(link, sign, r, c->t1, J);
    row_along(link, sign, r, c->t2, J + TI_TWIST);
    row_along(link, sign, r, c->touch.normal, J + 2 * TI_TWIST);
}

TI_CLONES static void rows_vjp(const ti_con *c, const ti_link *link, double sign, int n, const ti_row_product *product,
                               ti_link_diff *diff, double *frame_bar) {
    const ti_mat R = link->R;
    ti_vec r = ti_sub(c->touch.point, link->xc), t1 = c->t1, t2 = c->t2, normal = c->touch.normal, zero = {0, 0, 0};
    ti_vec r_bar = zero, turn = zero, t1_bar = zero, t2_bar = zero, n_bar = zero;
    for (int k = 0; k < n; k++) {
        double l0 = product[k].l[0], l1 = product[k].l[1], l2 = product[k].l[2];
        ti_vec w = ti_mul(&R, ti_load3(product[k].v + 3)), u = ti_add(ti_load3(product[k].v), ti_cross(w, r));
        ti_vec F = ti_axpy(ti_axpy(ti_scale(l0, t1), l1, t2), l2, normal);
        t1_bar = ti_axpy(t1_bar, l0, u), t2_bar = ti_axpy(t2_bar, l1, u), n_bar = ti_axpy(n_bar, l2, u);
        r_bar = ti_add(r_bar, ti_cross(F, w));
        turn = ti_add(turn, ti_cross(w, ti_cross(r, F)));
    }
    ti_add3(frame_bar, ti_scale(sign, r_bar));
    ti_add3(frame_bar + 3, ti_scale(sign, t1_bar)), ti_add3(frame_bar + 6, ti_scale(sign, t2_bar));
    ti_add3(frame_bar + 9, ti_scale(sign, n_bar));
    diff->xc = ti_axpy(diff->xc, -sign, r_bar);
    diff->th = ti_axpy(diff->th, sign, ti_tmul(&R, turn));
}

void ti_rows_vjp(const ti_con *c, const ti_link *link, double sign, int n, const ti_row_product *product,
                 ti_link_diff *diff, double *frame_bar) {
    (ti_con_spins(c) ? spin_rows_vjp : rows_vjp)(c, link, sign, n, product, diff, frame_bar);
}

void ti_rows_jvp(const ti_con *c, const ti_link *link, double sign, const ti_link_diff *diff, const double *frame_dot,
                 double *J_dot) {
    if (ti_con_spins(c)) {
        spin_rows_jvp(c, link, sign, diff, frame_dot, J_dot);
        return;
    }
    ti_vec r = ti_sub(c->touch.point, link->xc), r_dot = ti_sub(ti_load3(frame_dot), diff->xc);
    ti_vec d[3] = {c->t1, c->t2, c->touch.normal};
    for (int k = 0; k < 3; k++) {
        ti_vec d_dot = ti_load3(frame_dot + 3 + 3 * k);
        ti_vec body = ti_tmul(&link->R, ti_add(ti_cross(r_dot, d[k]), ti_cross(r, d_dot)));
        ti_vec row = ti_tmul(&link->R, ti_cross(r, d[k]));
        ti_store3(J_dot + TI_TWIST * k, ti_scale(sign, d_dot));
        ti_store3(J_dot + TI_TWIST * k + 3, ti_scale(sign, ti_sub(body, ti_cross(diff->th, row))));
    }
}

/* ---- gaps: docs/math.md eq. (11) ---- */

/* rounding: gaps are known no better, as rounding leaves the corners of a face that much out of a plane. Taken at their
 * value they would decide which of several redundant contacts carry the load.
 * skin, a share of the bodies' length: a penetration of this much is removed by the velocity, in one step and in
 * proportion, so that a body at rest, which stands at gap = 0, is not at a kink, and the corners of a tilted face ask
 * for what a rigid body can do. What is more is a matter of displacements: from 2.5 skins on velocities are left alone,
 * and a little approach let pass, or bodies that overlap without a load would touch without one, a kink; half a skin,
 * or what recovery takes out would be left where the velocity's part ends. */
ti_grain ti_grain_of(const ti_touch *touch, double length, bool redundant, double fastest) {
    static const double eps = 2.2e-16, share = 1e-5;
    double many = redundant ? 4096 : 64; /* the corners of a resting face drift apart by more than they are rounded */
    double skin = share * length < fastest ? share * length : fastest;
    return (ti_grain){many * eps * (ti_norm(touch->point) + length), skin, skin, 0, false, false};
}

/* The mean, over the noise, of a gap that is cut at what the velocity gives. docs/math.md eq. (499) */
static ti_reference staying_in_noise(double gap, const ti_grain *grain, double dt) {
    ti_noise noise = ti_noise_of(grain->logistic, grain->noise);
    double above = gap + grain->give;
    return (ti_reference){(ti_noise_ramp(&noise, above) - grain->give) / dt, ti_noise_below(&noise, above) / dt};
}

/* Whether it counts as zero, with the same derivative. */
static bool is_closed(double gap, const ti_grain *grain) {
    return fabs(gap) < grain->rounding && !grain->tilted;
}

ti_reference ti_staying(double gap, const ti_grain *grain, double dt) {
    double skin = grain->skin;
    if (grain->noise > 0) return staying_in_noise(gap, grain, dt);
    if (is_closed(gap, grain)) return (ti_reference){0, 1 / dt};
    if (gap < -2.5 * skin) return (ti_reference){0.5 * skin / dt, 0};
    if (gap < -skin) return (ti_reference){(-gap - 2 * skin) / dt, -1 / dt};
    return (ti_reference){gap / dt, 1 / dt};
}

ti_reference ti_yielding(double gap, const ti_grain *grain, double dt, bool sunk) {
    if (sunk && gap < -grain->skin) return (ti_reference){-grain->skin / dt, 0};
    return (ti_reference){is_closed(gap, grain) ? 0 : gap / dt, 1 / dt};
}

ti_overlap ti_overlap_of(double gap, double beta, double slop) {
    if (gap >= 0) return (ti_overlap){.ref = gap, .ref_gap = 1};
    if (gap >= -slop) return (ti_overlap){0};
    return (ti_overlap){beta * (gap + slop), beta, gap + slop, beta, 0};
}

/* ---- impacts ---- */

/* In the step's motion without the impact the gap is gap + u0 t + a t^2/2 with u0 = u - a dt/2: semi-implicit Euler's
 * velocities are those at the middle of a step, so its positions are the parabola's. Impact is where that is zero. A
 * gap that is slightly negative was hit before the step began: the same formulas, with tau < 0, which takes the overlap
 * back, by no more than `farthest`; or, of bodies that part, is closed again later in the step. */
ti_impact ti_impact_of(double gap, double u, double a, double dt, double farthest) {
    ti_impact hit = {0};
    if (!(gap + dt * u < 0)) return hit;
    double u0 = u - a * dt / 2, disc = u0 * u0 - 2 * a * gap;
    bool back = u0 > 0 && disc > 0 && u0 + sqrt(disc) < -a * dt; /* it leaves, and comes back within the step */
    bool early = u0 < 0 && gap > dt * u0 && gap >= -farthest && disc > 0;
    bool past = gap < 0 && !back && !early;
    if (past) gap = 0, disc = u0 * u0;
    if (!(disc > 0) || (gap <= 0 && u0 >= 0 && !back)) return hit;
    double s = sqrt(disc), tau = u0 <= 0 ? 2 * gap / (s - u0) : (u0 + s) / -a, g = past ? 0 : 1;
    hit.reached = true, hit.tau = tau, hit.speed = s, hit.span = tau + dt / 2;
    hit.tau_gap = g / s, hit.tau_u = tau / s, hit.tau_a = tau * (tau - dt) / (2 * s);
    return hit;
}

double ti_impact_leaves(const ti_impact *hit, double a, double e, double dt) {
    return e * hit->speed + a * (dt - hit->tau) / 2;
}

/* At rest it is hit with |a| h / 2. */
double ti_impact_lands(const ti_impact *hit, double a, double length, double dt) {
    double fast = hit->speed - 2 * fabs(a) * dt, slow = 0.25 * length / dt - hit->speed;
    return fast < slow ? fast : slow;
}

void ti_con_meet(ti_con *c, const ti_impact *hit, double e, bool may_land, double dt) {
    bool leaves = hit->reached && e > 0 && ti_impact_leaves(hit, c->an, e, dt) > 0;
    c->lands = hit->reached && !leaves && may_land && ti_impact_lands(hit, c->an, c->pair.length, dt) > 0;
    c->bounce = leaves || c->lands;
}
