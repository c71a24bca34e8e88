/* ball.h -- how far a joint is from where its spring and its limits count from: of a ball the rotation since its body
 * was placed. docs/math.md eq. (154), (168). */
#ifndef TI_BALL_H
#define TI_BALL_H
#include "model/state.h"

/* The rotation vector of a ball, at most pi long, in its own axes. q (4) need not be unit. It changes with dq by
 * ti_log_right(). */
static inline ti_vec ti_ball_turn(const double *q) {
    double unit[4] = {q[0], q[1], q[2], q[3]};
    ti_quat_normalise(unit);
    return ti_quat_log(unit);
}

/* How far the spring of joint j, no free one, is stretched in number d of v; own: its numbers of p. */
static inline double ti_stretch(const ti_joint *j, const double *own, const double *q, int d) {
    if (j->kind != TI_JOINT_BALL) return q[j->q] - own[TI_P_SPRINGREF];
    double turn[3];
    ti_store3(turn, ti_ball_turn(q + j->q));
    return turn[d - j->v];
}

/* q_bar (of the joint's first number of v on) += the reverse of what ti_stretch() gives for all of them. */
static inline void ti_stretch_vjp(const ti_joint *j, const double *q, const double *stretch_bar, double *q_bar) {
    if (j->kind != TI_JOINT_BALL) {
        q_bar[0] += stretch_bar[0];
        return;
    }
    ti_mat D = ti_log_right(ti_ball_turn(q + j->q));
    ti_add3(q_bar, ti_tmul(&D, ti_load3(stretch_bar)));
}

/* Along which of its numbers of v, as many as there are, a joint comes nearer to its upper limit; how far it is. Of a
 * ball that is the angle that it has turned, about the axis that it has turned about: its x where there is none. */
static inline double ti_limit_way(const ti_joint *j, const double *q, double *way) {
    way[0] = 1, way[1] = way[2] = 0;
    if (j->kind != TI_JOINT_BALL) return q[j->q];
    ti_vec turn = ti_ball_turn(q + j->q);
    double angle = ti_norm(turn);
    if (angle > 0) ti_store3(way, ti_scale(1 / angle, turn));
    return angle;
}

/* D (3,3): the derivative of that way by dq, zero of what is no ball and where there is none. */
static inline ti_mat ti_limit_way_jac(const ti_joint *j, const double *q) {
    ti_mat D = {{{0}}};
    if (j->kind != TI_JOINT_BALL) return D;
    ti_vec turn = ti_ball_turn(q + j->q);
    double angle = ti_norm(turn);
    if (!(angle > 0)) return D;
    ti_mat by = ti_log_right(turn), across = {{{0}}};
    for (int i = 0; i < 3; i++) across.m[i][i] = 1 / angle;
    ti_outer_add(&across, -1 / (angle * angle * angle), turn, turn);
    return ti_matmul(&across, &by);
}

#endif
