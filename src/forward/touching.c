/* touching.c -- see touching.h; each derivative stands below what it differentiates. */
#include "forward/touching.h"
#include "math/clones.h"
#include <string.h>

/* ---- geoms ---- */

static const ti_mat identity = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

static void unit_quat(const double *raw, double *q, double *inverse_norm) {
    double n = 1 / sqrt(raw[0] * raw[0] + raw[1] * raw[1] + raw[2] * raw[2] + raw[3] * raw[3]);
    for (int i = 0; i < 4; i++) q[i] = n * raw[i];
    *inverse_norm = n;
}

void ti_shapes(const tribo_model *m, const double *p, const ti_link *links, ti_shape *shapes) {
    for (int g = 0; g < m->size.ngeom; g++) {
        const ti_geom *geom = &m->geom[g];
        const double *pg = p + geom->p;
        ti_shape *s = &shapes[g];
        double q[4], n;
        unit_quat(pg + TI_P_QUAT, q, &n);
        ti_mat Q = ti_quat_mat(q);
        s->shape = geom->shape, s->size = ti_load3(pg + TI_P_SIZE);
        if (geom->body < 0) {
            s->x = ti_load3(pg + TI_P_POS), s->R = Q;
        } else {
            const ti_link *l = &links[geom->body];
            s->x = ti_add(l->xo, ti_mul(&l->R, ti_load3(pg + TI_P_POS)));
            s->R = ti_matmul(&l->R, &Q);
        }
    }
}

void ti_shape_vjp(const tribo_model *m, const double *p, const ti_link *links, int geom, const double *bar,
                  ti_link_diff *diffs, double *p_bar) {
    const ti_geom *g = &m->geom[geom];
    const double *pg = p + g->p;
    const ti_mat *R = g->body < 0 ? &identity : &links[g->body].R;
    ti_vec xb = ti_tmul(R, ti_load3(bar)), rb = ti_tmul(R, ti_load3(bar + 3));
    if (g->body >= 0) {
        ti_link_diff *d = &diffs[g->body];
        d->xo = ti_add(d->xo, ti_load3(bar));
        d->th = ti_add(d->th, ti_add(ti_cross(ti_load3(pg + TI_P_POS), xb), rb));
    }
    if (!p_bar) return;
    double *out = p_bar + g->p, q[4], n, r[4] = {0, rb.x, rb.y, rb.z};
    ti_add3(out + TI_P_SIZE, ti_load3(bar + 6));
    ti_add3(out + TI_P_POS, xb);
    unit_quat(pg + TI_P_QUAT, q, &n); /* rotation vector = 2 vec(dq q*), so q_bar = 2 (0, r) q / |raw| */
    ti_quat_mul(r, q, r);
    for (int i = 0; i < 4; i++) out[TI_P_QUAT + i] += 2 * n * r[i];
}

bool ti_shape_jvp(const tribo_model *m, const double *p, const ti_link *links, int geom, const ti_link_diff *diffs,
                  const double *p_dot, double *out) {
    const ti_geom *g = &m->geom[geom];
    const double *pg = p + g->p, *dot = p_dot ? p_dot + g->p : NULL;
    const ti_mat *R = g->body < 0 ? &identity : &links[g->body].R;
    ti_vec x = {0, 0, 0}, r = {0, 0, 0}, size = {0, 0, 0}, xo = {0, 0, 0};
    if (g->body >= 0) {
        const ti_link_diff *d = &diffs[g->body];
        xo = d->xo, r = d->th, x = ti_cross(d->th, ti_load3(pg + TI_P_POS));
    }
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
    for (int i = 0; i < 9; i++)
        if (out[i] != 0) return true;
    return false;
}

/* ---- rows: docs/math.md eq. (9), (10) ---- */

void ti_rows(const ti_con *c, const ti_link *link, double sign, double *J) {
    ti_vec r = ti_sub(c->touch.point, link->xc), d[3] = {c->t1, c->t2, c->touch.normal};
    for (int k = 0; k < 3; k++) {
        ti_store3(J + 6 * k, ti_scale(sign, d[k]));
        ti_store3(J + 6 * k + 3, ti_scale(sign, ti_tmul(&link->R, ti_cross(r, d[k]))));
    }
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
    rows_vjp(c, link, sign, n, product, diff, frame_bar);
}

void ti_rows_jvp(const ti_con *c, const ti_link *link, double sign, const ti_link_diff *diff, const double *frame_dot,
                 double *J_dot) {
    ti_vec r = ti_sub(c->touch.point, link->xc), r_dot = ti_sub(ti_load3(frame_dot), diff->xc);
    ti_vec d[3] = {c->t1, c->t2, c->touch.normal};
    for (int k = 0; k < 3; k++) {
        ti_vec d_dot = ti_load3(frame_dot + 3 + 3 * k);
        ti_vec body = ti_tmul(&link->R, ti_add(ti_cross(r_dot, d[k]), ti_cross(r, d_dot)));
        ti_vec row = ti_tmul(&link->R, ti_cross(r, d[k]));
        ti_store3(J_dot + 6 * k, ti_scale(sign, d_dot));
        ti_store3(J_dot + 6 * k + 3, ti_scale(sign, ti_sub(body, ti_cross(diff->th, row))));
    }
}

/* ---- reference velocity: docs/math.md eq. (11) ---- */

/* Three sizes of a gap, m.
 * touching: gaps are known no better, as rounding leaves the corners of a face that much out of a plane. Taken at their
 * value they would decide which of several redundant contacts carry the load.
 * turning: what it leaves of a gap in a step, and less than any slop that has an effect.
 * skin: a penetration of this much is removed in one step whatever beta is, so that a body at rest, which stands at
 * gap = 0, is not at a kink. */
static const double touching = 1e-13, turning = 1e-9, skin = 2e-6;

/* Staying in contact, or not reaching it: the gap may close to zero in the step, a penetration is removed by beta, no
 * faster than recovery. A body that rests at the edge of the slop does not move where the slop grows: derivative 0. */
static ti_reference staying(double gap, double beta, double slop, double dt, double recovery) {
    ti_reference r = {.margin = INFINITY};
    r.ref_gap = 1 / dt;
    if (fabs(gap) < touching) return r;
    r.ref = gap / dt;
    if (gap >= 0) return r;
    double in_skin = skin * tanh(gap / skin), slope = 1 - in_skin * in_skin / (skin * skin);
    double deep = gap - in_skin + slop < 0 ? gap - in_skin + slop : 0;
    r.ref = (in_skin + beta * deep) / dt;
    if (r.ref < -recovery) return (ti_reference){.ref = -recovery, .margin = INFINITY};
    r.ref_gap = (slope + (deep < 0 ? beta * (1 - slope) : 0)) / dt;
    r.ref_beta = deep / dt;
    if (deep < -turning) r.ref_slop = beta / dt;
    return r;
}

/* In the step's free motion the gap is gap + u0 t + an t^2/2 with u0 = uf - an dt/2: semi-implicit Euler's velocities
 * are those at the middle of a step, so its positions are the parabola's. Impact is where that is zero. A gap that is
 * slightly negative was hit before the step began: the same formulas, with tau < 0. docs/math.md eq. (12)-(15). */
ti_reference ti_contact_reference(double gap, double uf, double an, double e, double beta, double slop, double dt,
                                  double recovery) {
    ti_reference stay = staying(gap, beta, slop, dt, recovery);
    if (!(e > 0) || !(gap + dt * uf < 0)) return stay;
    double u0 = uf - an * dt / 2, disc = u0 * u0 - 2 * an * gap;
    bool past = gap < 0 && !(u0 < 0 && gap > dt * u0 && disc > 0);
    if (past) gap = 0, disc = u0 * u0;
    if (!(disc > 0) || (gap <= 0 && u0 >= 0)) return stay;
    double s = sqrt(disc), tau = u0 <= 0 ? 2 * gap / (s - u0) : (u0 + s) / -an;
    double leave = e * s + an * (dt - tau) / 2;
    stay.margin = leave < 0 ? -leave : leave;
    if (!(leave > 0)) return stay;

    ti_reference r = {.bounce = true, .tau = tau, .margin = leave};
    double late = dt / 2 - tau, g = past ? 0 : 1;
    double s_gap = -an * g / s, s_uf = u0 / s, s_an = -(u0 * dt / 2 + gap) / s;
    r.tau_gap = g / s, r.tau_uf = tau / s, r.tau_an = tau * (tau - dt) / (2 * s);
    r.ref = -(e * s + an * late);
    r.ref_e = -s;
    r.ref_gap = -(e * s_gap - an * r.tau_gap);
    r.ref_uf = -(e * s_uf - an * r.tau_uf);
    r.ref_an = -(e * s_an + late - an * r.tau_an);
    return r;
}
