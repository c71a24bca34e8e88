/* state.c -- the rows of the table of joints, and what is done with a whole state. */
#include "model/state.h"
#include <string.h>
#include <tribo/sim.h>

/* The rotation vector from the unit quaternion a to b, in the frame of a: at most pi long. */
static ti_vec turn_between(const double *a, const double *b) {
    double inverse[4] = {a[0], -a[1], -a[2], -a[3]}, d[4];
    ti_quat_mul(inverse, b, d);
    return ti_quat_log(d);
}

/* ---- free ---- */

static void free_place(const double pos[3], const double quat[4], double *q) {
    memcpy(q, pos, 3 * sizeof *q);
    memcpy(q + 3, quat, 4 * sizeof *q);
}
static void free_add(const double *q, const double *dq, double *out) {
    double turn[4];
    ti_store3(out, ti_add(ti_load3(q), ti_load3(dq)));
    ti_quat_exp(ti_load3(dq + 3), turn);
    ti_quat_mul(q + 3, turn, out + 3);
}
static void free_difference(const double *a, const double *b, double *dq) {
    ti_store3(dq, ti_sub(ti_load3(b), ti_load3(a)));
    ti_store3(dq + 3, turn_between(a + 3, b + 3));
}

/* ---- the table ---- */

static const ti_joint_row ROW[] = {
    [TI_JOINT_FREE] = {TI_FREE_NQ, TI_FREE_NV, 3, 3, free_place, free_add, free_difference},
};

const ti_joint_row *ti_joint_of(ti_joint joint) {
    return &ROW[joint];
}

/* ---- a whole state ---- */

int tribo_model_body_q(const tribo_model *m, int body) {
    return m && body >= 0 && body < m->size.nbody ? m->body[body].q : -1;
}

int tribo_model_body_v(const tribo_model *m, int body) {
    return m && body >= 0 && body < m->size.nbody ? m->body[body].v : -1;
}

void tribo_state_add(const tribo_model *m, const double *x, const double *dx, double *out) {
    if (!m || !x || !dx || !out) return;
    for (int b = 0; b < m->size.nbody; b++)
        ti_body_joint(m, b)->add(x + m->body[b].q, dx + m->body[b].v, out + m->body[b].q);
    for (int i = 0; i < m->size.nv; i++) out[m->size.nq + i] = x[m->size.nq + i] + dx[m->size.nv + i];
}

void tribo_state_difference(const tribo_model *m, const double *a, const double *b, double *dx) {
    if (!m || !a || !b || !dx) return;
    for (int k = 0; k < m->size.nbody; k++)
        ti_body_joint(m, k)->difference(a + m->body[k].q, b + m->body[k].q, dx + m->body[k].v);
    for (int i = 0; i < m->size.nv; i++) dx[m->size.nv + i] = b[m->size.nq + i] - a[m->size.nq + i];
}
