/* mujoco_oracle.h -- what MuJoCo makes of the file of a model, beside ours: worst differences at a state. */
#ifndef MUJOCO_ORACLE_H
#define MUJOCO_ORACLE_H
#include "dynamics/actuator.h"
#include "dynamics/motion.h"
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the largest number of each kind. */
typedef struct oracle_worst {
    double mass, acceleration, drive;
} oracle_worst;

/* A model and its file in both; p has no damping and no springs, and actuators none that depends on velocity. */
typedef struct oracle {
    const tribo_model *m;
    mjModel *mm;
    mjData *d;
    ti_motion motion;
    void *block;
    double *p;
} oracle;

static void oracle_open(oracle *o, const tribo_model *m, mjModel *mm) {
    ti_arena a = {0};
    *o = (oracle){.m = m, .mm = mm, .d = mj_makeData(mm)};
    ti_motion_carve(&a, m, &o->motion);
    o->block = ti_arena_take(&a, NULL);
    ti_motion_carve(&a, m, &o->motion);
    o->p = calloc((size_t)m->size.np, sizeof *o->p);
    tribo_model_params(m, o->p);
    for (int j = 0; j < m->size.njoint; j++)
        o->p[m->joint[j].p + TI_P_DAMPING] = o->p[m->joint[j].p + TI_P_STIFFNESS] = 0;
    for (int j = m->size.njoint; j < m->size.njoint + m->nfree; j++)
        if (m->joint[j].p >= 0) o->p[m->joint[j].p + TI_P_DAMPING] = 0;
    for (int i = 0; i < m->size.nactuator; i++)
        o->p[m->actuator[i].p + TI_P_GAIN + 2] = o->p[m->actuator[i].p + TI_P_BIAS + 2] = 0;
    for (int k = 0; k < TI_P_FLUID && m->fluid; k++) o->p[m->fluid + k] = 0;
    mm->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_PASSIVE | mjDSBL_FRICTIONLOSS | mjDSBL_LIMIT | mjDSBL_EQUALITY;
    mm->opt.wind[0] = mm->opt.wind[1] = mm->opt.wind[2] = mm->opt.density = mm->opt.viscosity = 0;
}

static void oracle_close(oracle *o) {
    mj_deleteData(o->d);
    ti_free(NULL, o->block, 0);
    free(o->p);
}

/* What of a free root's frame our velocity is of: its centre of mass, or the origin. */
static inline ti_vec oracle_point(const oracle *o, int body) {
    static const ti_vec origin = {0, 0, 0};
    return o->m->tree[o->m->body[body].tree].framed ? origin : o->motion.link[body].com;
}

/* Column j of what takes MuJoCo's velocities to ours: a free root's is that of its centre of mass. */
static void oracle_root_map(const oracle *o, double *T) {
    const tribo_model *m = o->m;
    int nv = m->size.nv;
    for (int i = 0; i < nv * nv; i++) T[i] = i % (nv + 1) == 0;
    for (int b = 0; b < m->size.nbody; b++) {
        if (m->body[b].free < 0) continue;
        const ti_link *l = &o->motion.link[b];
        ti_mat C = ti_skew(ti_scale(-1, oracle_point(o, b))), RC = ti_matmul(&l->R, &C);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) T[(m->body[b].v + i) * nv + m->body[b].v + 3 + j] = RC.m[i][j];
    }
}

static double oracle_mass(const oracle *o) {
    int nv = o->m->size.nv;
    size_t n = (size_t)nv * (size_t)nv;
    double *T = calloc(5 * n, sizeof *T), *M = T + n, *MT = M + n, *ours = MT + n, *full = ours + n, worst = 0,
           most = 0;
    oracle_root_map(o, T);
    for (int t = 0; t < o->m->ntree; t++) {
        const ti_tree *tree = &o->m->tree[t];
        double *block = calloc((size_t)tree->nv * (size_t)tree->nv, sizeof *block);
        ti_motion_inertia(&o->motion, t, block);
        for (int i = 0; i < tree->nv; i++)
            memcpy(M + (tree->v + i) * nv + tree->v, block + i * tree->nv, sizeof *M * (size_t)tree->nv);
        free(block);
    }
    mju_mulMatMat(MT, M, T, nv, nv, nv), mju_mulMatTMat(ours, T, MT, nv, nv, nv);
    mj_fullM(o->mm, full, o->d->qM);
    for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(ours[i] - full[i])), most = fmax(most, fabs(full[i]));
    free(T);
    return worst / most;
}

/* The velocity that gyroscopic forces are of, as MuJoCo has it. */
static void oracle_middle(const oracle *o, double *v) {
    const tribo_model *m = o->m;
    for (int t = 0; t < m->ntree; t++) {
        const ti_tree *tree = &m->tree[t];
        if (tree->single) { /* of a single body, whose midpoint link.c keeps to itself */
            double now[6], next[6];
            ti_motion_now(&o->motion, t, now), ti_motion_free(&o->motion, t, next);
            for (int k = 0; k < 6; k++) v[tree->v + k] = 0.5 * (now[k] + next[k]);
        } else {
            memcpy(v + tree->v, o->motion.middle + tree->v, sizeof *v * (size_t)tree->nv);
        }
    }
    for (int b = 0; b < m->size.nbody; b++) {
        if (m->body[b].free < 0) continue;
        double *own = v + m->body[b].v;
        const ti_link *l = &o->motion.link[b];
        ti_vec arm = ti_cross(ti_load3(own + 3), oracle_point(o, b));
        ti_store3(own, ti_sub(ti_load3(own), ti_mul(&l->R, arm)));
    }
}

/* Accelerations: ours of a root is that of its centre of mass. */
static double oracle_acceleration(const oracle *o, double dt) {
    const tribo_model *m = o->m;
    double worst = 0, most = 1;
    for (int t = 0; t < m->ntree; t++) {
        const ti_tree *tree = &m->tree[t];
        double *a = calloc(2 * (size_t)tree->nv, sizeof *a), *now = a + tree->nv, mid[3];
        ti_motion_free(&o->motion, t, a), ti_motion_now(&o->motion, t, now);
        for (int i = 0; tree->rooted && i < 3; i++) mid[i] = 0.5 * (a[3 + i] + now[3 + i]);
        for (int i = 0; i < tree->nv; i++) a[i] = (a[i] - now[i]) / dt;
        if (tree->rooted) {
            const ti_link *l = &o->motion.link[tree->body0];
            ti_vec w = ti_load3(mid), at = oracle_point(o, tree->body0);
            ti_vec lever = ti_add(ti_cross(ti_load3(a + 3), at), ti_cross(w, ti_cross(w, at)));
            ti_store3(a, ti_sub(ti_load3(a), ti_mul(&l->R, lever)));
        }
        for (int i = 0; i < tree->nv; i++) {
            worst = fmax(worst, fabs(a[i] - o->d->qacc[tree->v + i]));
            most = fmax(most, fabs(o->d->qacc[tree->v + i]));
        }
        free(a);
    }
    return worst / most;
}

/* At a state x and controls u, (nu) without generalized forces. @return false where a step of dt is too long. */
static inline bool oracle_compare(oracle *o, const double *x, const double *u, double dt, oracle_worst *w) {
    const tribo_model *m = o->m;
    if (!ti_motion_load(&o->motion, o->p, x, x + m->size.nq, u, dt, NULL)) return false;
    mju_copy(o->d->qpos, x, m->size.nq);
    if (u && m->size.nactuator) mju_copy(o->d->ctrl, u + m->size.nv, m->size.nactuator);
    for (int i = 0; i < o->mm->nu; i++) o->mm->actuator_biasprm[i * mjNBIAS + 2] = 0;
    for (int i = 0; i < o->mm->nu; i++) o->mm->actuator_gainprm[i * mjNGAIN + 2] = 0;
    oracle_middle(o, o->d->qvel);
    mj_forward(o->mm, o->d);
    double most = 1;
    *w = (oracle_worst){oracle_mass(o), oracle_acceleration(o, dt), 0};
    for (int i = 0; i < m->size.nv && m->size.nactuator; i++) {
        w->drive = fmax(w->drive, fabs(o->motion.driven[i] - o->d->qfrc_actuator[i]));
        most = fmax(most, fabs(o->d->qfrc_actuator[i]));
    }
    w->drive /= most;
    return true;
}

#endif
