/* touching_jac.c -- how the rows of a contact change with the pose of one of its bodies; docs/math.md eq. (9).
 *
 * With r_s the contact point seen from the centre of mass of side s, w_s its angular velocity in the world, and signs
 * -1 on a, +1 on b:  u = sum sign (v_s + w_s x r_s), row j of J v is d_j . u,  J' lambda on s is sign (F, R_s'(r_s x
 * F)) with F = sum lambda_j d_j. All of it is linear in the rates of the point and the normal, and in two direct terms:
 * the centre of mass moves, and the axes turn under w and under the torque. */
#include "base/clones.h"
#include "forward/touching.h"

bool ti_contact_rate(const tribo_model *m, const double *p, const ti_link *links, const ti_con *c, int side,
                     const double *jac, double *rate) {
    const ti_pair *pair = &c->pair;
    const ti_geom *g = &m->geom[side ? pair->b : pair->a];
    const ti_mat *R = &links[g->body].R;
    ti_vec at = ti_load3(p + g->p + TI_P_POS);
    bool turns = false;
    for (int k = 0; k < TI_COLLIDE_ROWS; k++) {
        const double *row = jac + TI_COLLIDE_COLS * k + TI_SHAPE_COLS * side;
        ti_vec x = ti_tmul(R, ti_load3(row)), w = ti_tmul(R, ti_load3(row + 3)); /* x . (th x at) = th . (at x x) */
        ti_store3(rate + TI_POSE * k, ti_load3(row));
        ti_store3(rate + TI_POSE * k + 3, ti_add(ti_cross(at, x), w));
        for (int e = 0; k >= 3 && k < 6 && e < TI_POSE; e++) turns = turns || rate[TI_POSE * k + e] != 0;
    }
    return turns;
}

/* y (6) += a' B, B (3,6) */
TI_INLINE void add_times(ti_vec a, const double *restrict B, double *restrict y) {
    for (int e = 0; e < TI_POSE; e++) y[e] += a.x * B[e] + a.y * B[TI_POSE + e] + a.z * B[2 * TI_POSE + e];
}

/* What does not depend on the direction: a side's lever, and its angular velocity in the world. */
typedef struct arm {
    ti_vec r, w;
    double sign;
} arm;

/* The direct part of row d of J v: sign d x w as the centre of mass leaves, and R' of what turns with the axes. */
TI_INLINE void row_moves(const ti_side *s, const arm *m, ti_vec d, double *y) {
    ti_vec a = ti_scale(-m->sign, ti_cross(d, m->w));
    ti_vec turn = ti_scale(m->sign, ti_tmul(&s->link->R, ti_cross(m->w, ti_cross(m->r, d))));
    ti_add3(y, a), ti_add3(y + 3, turn);
    if (s->xc_th) ti_add3(y + 3, ti_tmul(s->xc_th, a));
}

/* J' lambda on one side; dF NULL = 0. Rows of R' [-F]x and R' [r]x: a . (r x f) = f . (a x r). */
TI_INLINE void momentum_jac(const ti_side *s, const arm *m, bool moves, ti_vec F, const double *dF, const double *dp,
                            int pitch) {
    const ti_mat *R = &s->link->R;
    ti_mat under = ti_skew(ti_scale(m->sign, ti_tmul(R, ti_cross(m->r, F)))); /* the axes turn under the torque */
    for (int i = 0; i < 3; i++) {
        ti_vec axis = ti_scale(m->sign, ti_col(R, i)), a = ti_cross(F, axis);
        double *torque = s->momentum + pitch * (3 + i), *force = s->momentum + pitch * i;
        add_times(a, dp, torque);
        if (dF) {
            for (int e = 0; e < TI_POSE; e++) force[e] += m->sign * dF[TI_POSE * i + e];
            add_times(ti_cross(axis, m->r), dF, torque);
        }
        if (!moves) continue;
        ti_add3(torque, ti_scale(-1, a)), ti_add3(torque + 3, ti_load3(under.m[i]));
        if (s->xc_th) ti_add3(torque + 3, ti_scale(-1, ti_tmul(s->xc_th, a)));
    }
}

/* How the tangents turn with the normal: the rows' part, and dF = (lambda_0 D1 + lambda_1 D2 + lambda_2) dn. */
TI_INLINE void normal_jac(ti_vec normal, ti_vec u, const double *lambda, const double *dn, int pitch, double *c_dot,
                          double *dF) {
    ti_mat D1, D2;
    ti_tangents_jac(normal, &D1, &D2);
    add_times(ti_tmul(&D1, u), dn, c_dot);
    add_times(ti_tmul(&D2, u), dn, c_dot + pitch);
    add_times(u, dn, c_dot + 2 * pitch);
    for (int i = 0; i < 3; i++) {
        ti_vec a = ti_axpy(ti_scale(lambda[0], ti_load3(D1.m[i])), lambda[1], ti_load3(D2.m[i]));
        for (int e = 0; e < TI_POSE; e++) dF[TI_POSE * i + e] = lambda[2] * dn[TI_POSE * i + e];
        add_times(a, dn, dF + TI_POSE * i);
    }
}

TI_CLONES static void pose_jac(const ti_con *c, const ti_side *sides, int moving, const double *rate, bool turns,
                               const double *lambda, int pitch, double *c_dot) {
    ti_vec d[3] = {c->t1, c->t2, c->touch.normal}, u = {0, 0, 0}, w = {0, 0, 0};
    ti_vec F = ti_axpy(ti_axpy(ti_scale(lambda[0], d[0]), lambda[1], d[1]), lambda[2], d[2]);
    arm arms[2];
    double dF[3 * TI_POSE];
    for (int s = 0; s < 2; s++) {
        const ti_link *l = sides[s].link;
        if (!l) continue;
        arms[s] = (arm){ti_sub(c->touch.point, l->xc), ti_mul(&l->R, ti_load3(sides[s].v + 3)), s ? 1 : -1};
        u = ti_axpy(u, arms[s].sign, ti_add(ti_load3(sides[s].v), ti_cross(arms[s].w, arms[s].r)));
        w = ti_axpy(w, arms[s].sign, arms[s].w);
    }
    if (turns) normal_jac(d[2], u, lambda, rate + 3 * TI_POSE, pitch, c_dot, dF);
    for (int j = 0; j < 3; j++) {
        add_times(ti_cross(d[j], w), rate, c_dot + pitch * j);
        row_moves(&sides[moving], &arms[moving], d[j], c_dot + pitch * j);
    }
    for (int s = 0; s < 2; s++)
        if (sides[s].link) momentum_jac(&sides[s], &arms[s], s == moving, F, turns ? dF : NULL, rate, pitch);
}

void ti_contact_pose_jac(const ti_con *c, const ti_side *sides, int moving, const double *rate, bool turns,
                         const double *lambda, int pitch, double *c_dot) {
    pose_jac(c, sides, moving, rate, turns, lambda, pitch, c_dot);
}
