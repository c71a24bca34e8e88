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

/* ---- hinge, slide ---- */

static void axis_place(const double pos[3], const double quat[4], double *q) {
    (void)quat;
    *q = pos[0];
}
static void axis_add(const double *q, const double *dq, double *out) {
    *out = *q + *dq;
}
static void axis_difference(const double *a, const double *b, double *dq) {
    *dq = *b - *a;
}

/* ---- ball ---- */

static void ball_place(const double pos[3], const double quat[4], double *q) {
    (void)pos;
    memcpy(q, quat, 4 * sizeof *q);
}
static void ball_add(const double *q, const double *dq, double *out) {
    double turn[4];
    ti_quat_exp(ti_load3(dq), turn);
    ti_quat_mul(q, turn, out);
}
static void ball_difference(const double *a, const double *b, double *dq) {
    ti_store3(dq, turn_between(a, b));
}

/* ---- the table ---- */

static const ti_joint_row ROW[] = {
    [TI_JOINT_HINGE] = {1, 1, -1, -1, axis_place, axis_add, axis_difference},
    [TI_JOINT_SLIDE] = {1, 1, -1, -1, axis_place, axis_add, axis_difference},
    [TI_JOINT_BALL] = {4, 3, 0, 0, ball_place, ball_add, ball_difference},
    [TI_JOINT_FREE] = {TI_FREE_NQ, TI_FREE_NV, 3, 3, free_place, free_add, free_difference},
};

const ti_joint_row *ti_joint_of(ti_joint_kind kind) {
    return &ROW[kind];
}

/* ---- a whole state ---- */

/* Whether a body is free or has joints of its own. */
static bool moves_itself(const tribo_model *m, int body) {
    return m && body >= 0 && body < m->size.nbody && (m->body[body].free >= 0 || m->body[body].njoint > 0);
}

int tribo_model_body_q(const tribo_model *m, int body) {
    return moves_itself(m, body) ? m->body[body].q : -1;
}

bool tribo_model_turns(const tribo_model *m, int v) {
    if (!m || v < 0 || v >= m->size.nv) return false;
    const ti_joint *j = &m->joint[m->dof[v].joint];
    int turn = ti_joint_of(j->kind)->turn;
    return j->kind == TI_JOINT_HINGE || (turn >= 0 && v - j->v >= turn);
}

bool tribo_model_body_free(const tribo_model *m, int body) {
    return m && body >= 0 && body < m->size.nbody && m->body[body].free >= 0;
}

static bool has_joint(const tribo_model *m, int joint) {
    return m && joint >= 0 && joint < m->size.njoint;
}
const char *tribo_model_joint_name(const tribo_model *m, int joint) {
    return has_joint(m, joint) ? m->joint[joint].name : NULL;
}
int tribo_model_joint_find(const tribo_model *m, const char *name) {
    for (int j = 0; m && name && j < m->size.njoint; j++)
        if (strcmp(m->joint[j].name, name) == 0) return j;
    return -1;
}
int tribo_model_joint_q(const tribo_model *m, int joint) {
    return has_joint(m, joint) ? m->joint[joint].q : -1;
}
int tribo_model_joint_v(const tribo_model *m, int joint) {
    return has_joint(m, joint) ? m->joint[joint].v : -1;
}

int tribo_model_body_v(const tribo_model *m, int body) {
    return moves_itself(m, body) ? m->body[body].v : -1;
}

void tribo_state_add(const tribo_model *m, const double *x, const double *dx, double *out) {
    if (!m || !x || !dx || !out) return;
    for (int k = 0; k < ti_joints(m); k++) {
        const ti_joint *j = &m->joint[k];
        ti_joint_of(j->kind)->add(x + j->q, dx + j->v, out + j->q);
    }
    for (int i = 0; i < m->size.nv; i++) out[m->size.nq + i] = x[m->size.nq + i] + dx[m->size.nv + i];
}

void tribo_state_difference(const tribo_model *m, const double *a, const double *b, double *dx) {
    if (!m || !a || !b || !dx) return;
    for (int k = 0; k < ti_joints(m); k++) {
        const ti_joint *j = &m->joint[k];
        ti_joint_of(j->kind)->difference(a + j->q, b + j->q, dx + j->v);
    }
    for (int i = 0; i < m->size.nv; i++) dx[m->size.nv + i] = b[m->size.nq + i] - a[m->size.nq + i];
}
