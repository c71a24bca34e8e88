/* touching_jac.c -- how the rows of a contact change with the pose of one of its bodies; math.md, The step.
 *
 * With r_s the contact point seen from the centre of mass of side s, w_s its angular velocity in the world, and signs
 * -1 on a, +1 on b:  u = sum sign (v_s + w_s x r_s), row j of J v is d_j . u,  J' lambda on s is sign (F, R_s'(r_s x
 * F)) with F = sum lambda_j d_j. All of it is linear in the rates of the point and the normal, and in two direct terms:
 * the centre of mass moves, and the axes turn under w and under the torque. */
#include "forward/touching.h"

bool ti_contact_rate(const tribo_model *m, const double *p, const ti_link *links, const ti_con *c, int side,
                     const double *jac, double *rate) {
    const ti_pair *pair = &m->pair[c->pair];
    const ti_geom *g = &m->geom[side ? pair->b : pair->a];
    const ti_mat *R = &links[g->body].R;
    ti_vec at = ti_load3(p + g->p + TI_P_POS);
    bool turns = false;
    for (int k = 0; k < TI_COLLIDE_ROWS; k++) {
        const double *row = jac + TI_COLLIDE_COLS * k + 9 * side;
        ti_vec x = ti_tmul(R, ti_load3(row)), w = ti_tmul(R, ti_load3(row + 3)); /* x . (th x at) = th . (at x x) */
        ti_store3(rate + TI_POSE * k, ti_load3(row));
        ti_store3(rate + TI_POSE * k + 3, ti_add(ti_cross(at, x), w));
        for (int e = 0; k >= 3 && k < 6 && e < TI_POSE; e++) turns = turns || rate[TI_POSE * k + e] != 0;
    }
    return turns;
}

/* y (6) += a' B, B (3,6) */
static inline void add_times(ti_vec a, const double *B, double *y) {
    for (int e = 0; e < TI_POSE; e++) y[e] += a.x * B[e] + a.y * B[TI_POSE + e] + a.z * B[2 * TI_POSE + e];
}

/* What a point of side s does to a row: sign d x w, and R' of what turns with the axes. */
static void row_jac(const ti_side *s, double sign, ti_vec d, ti_vec r, const ti_mat *xc_th, double *y) {
    ti_vec w = ti_mul(&s->link->R, ti_load3(s->v + 3)), a = ti_scale(-sign, ti_cross(d, w));
    ti_vec turn = ti_scale(sign, ti_tmul(&s->link->R, ti_cross(w, ti_cross(r, d))));
    ti_add3(y, a);
    ti_add3(y + 3, ti_add(turn, ti_tmul(xc_th, a)));
}

static void momentum_jac(const ti_side *s, double sign, ti_vec r, ti_vec F, const double *dF, const double *dp,
                         int pitch) {
    const ti_mat *R = &s->link->R;
    for (int i = 0; i < 3; i++) { /* rows of R' [-F]x and R' [r]x: a . (r x f) = f . (a x r) */
        ti_vec axis = ti_scale(sign, ti_col(R, i));
        double *torque = s->momentum + pitch * (3 + i);
        add_times(ti_cross(F, axis), dp, torque);
        if (!dF) continue;
        double *force = s->momentum + pitch * i;
        for (int e = 0; e < TI_POSE; e++) force[e] += sign * dF[TI_POSE * i + e];
        add_times(ti_cross(axis, r), dF, torque);
    }
}

/* The direct terms of the body that moves: its centre leaves the point, its axes turn under the torque. */
static void momentum_moves(const ti_side *s, double sign, ti_vec r, ti_vec F, const ti_mat *xc_th, int pitch) {
    ti_vec torque = ti_tmul(&s->link->R, ti_cross(r, F));
    ti_mat under = ti_skew(torque);
    for (int i = 0; i < 3; i++) {
        ti_vec a = ti_scale(-sign, ti_cross(F, ti_col(&s->link->R, i)));
        double *y = s->momentum + pitch * (3 + i);
        ti_add3(y, a);
        ti_add3(y + 3, ti_axpy(ti_tmul(xc_th, a), sign, ti_load3(under.m[i])));
    }
}

void ti_contact_pose_jac(const ti_con *c, const ti_side *sides, int moving, const ti_mat *xc_th, const double *rate,
                         bool turns, const double *lambda, int pitch, double *c_dot) {
    const double *dp = rate, *dn = rate + 3 * TI_POSE;
    ti_vec d[3] = {c->t1, c->t2, c->touch.normal}, r[2], u = {0, 0, 0}, w = {0, 0, 0};
    ti_vec F = ti_axpy(ti_axpy(ti_scale(lambda[0], d[0]), lambda[1], d[1]), lambda[2], d[2]);
    ti_mat D1, D2;
    double dF[3 * TI_POSE] = {0};
    for (int s = 0; s < 2; s++) {
        const ti_link *l = sides[s].link;
        if (!l) continue;
        double sign = s ? 1 : -1;
        ti_vec ws = ti_mul(&l->R, ti_load3(sides[s].v + 3));
        r[s] = ti_sub(c->touch.point, l->xc);
        u = ti_axpy(u, sign, ti_add(ti_load3(sides[s].v), ti_cross(ws, r[s])));
        w = ti_axpy(w, sign, ws);
    }
    if (turns) {
        ti_tangents_jac(c->touch.normal, &D1, &D2);
        add_times(ti_tmul(&D1, u), dn, c_dot);
        add_times(ti_tmul(&D2, u), dn, c_dot + pitch);
        add_times(u, dn, c_dot + 2 * pitch);
        for (int i = 0; i < 3; i++) {
            ti_vec a = ti_axpy(ti_scale(lambda[0], ti_load3(D1.m[i])), lambda[1], ti_load3(D2.m[i]));
            add_times(a, dn, dF + TI_POSE * i);
            for (int e = 0; e < TI_POSE; e++) dF[TI_POSE * i + e] += lambda[2] * dn[TI_POSE * i + e];
        }
    }
    double sign = moving ? 1 : -1;
    for (int j = 0; j < 3; j++) {
        add_times(ti_cross(d[j], w), dp, c_dot + pitch * j);
        row_jac(&sides[moving], sign, d[j], r[moving], xc_th, c_dot + pitch * j);
    }
    for (int s = 0; s < 2; s++)
        if (sides[s].link) momentum_jac(&sides[s], s ? 1 : -1, r[s], F, turns ? dF : NULL, dp, pitch);
    momentum_moves(&sides[moving], sign, r[moving], F, xc_th, pitch);
}
