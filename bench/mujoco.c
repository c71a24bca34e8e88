/* mujoco.c -- see mujoco.h; without MuJoCo every function says that there is none. */
#include "mujoco.h"
#ifdef HAVE_MUJOCO
#include "bench.h"
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <string.h>

struct mujoco {
    mjModel *m;
    mjData *d;
};

mujoco *mujoco_open(const char *path) {
    char error[500] = "";
    mjModel *m = mj_loadXML(path, NULL, error, sizeof error);
    if (!m) {
        fprintf(stderr, "MuJoCo: %s\n", error);
        return NULL;
    }
    if (m->nbody > 50 && m->nconmax < 1000)
        m->nconmax = 1000, m->njmax = 4000, m->nstack = 16 * 1024 * 1024; /* a pile fills the default */
    mujoco *e = malloc(sizeof *e);
    *e = (mujoco){m, mj_makeData(m)};
    return e;
}

void mujoco_close(mujoco *e) {
    if (!e) return;
    mj_deleteData(e->d), mj_deleteModel(e->m);
    free(e);
}

const char *mujoco_version(void) {
    return mj_versionString();
}

double mujoco_run(mujoco *e, int steps, const double *force, double *X) {
    size_t nq = (size_t)e->m->nq, nv = (size_t)e->m->nv;
    mj_resetDataKeyframe(e->m, e->d, 0);
    double start = bench_seconds();
    for (int k = 0; k <= steps; k++) {
        if (X) {
            memcpy(X + (size_t)k * (nq + nv), e->d->qpos, nq * sizeof *X);
            memcpy(X + (size_t)k * (nq + nv) + nq, e->d->qvel, nv * sizeof *X);
        }
        if (k == steps) break;
        if (force) e->d->qfrc_applied[0] = force[k];
        mj_step(e->m, e->d);
    }
    return bench_seconds() - start;
}

double mujoco_pace(mujoco *e, int steps, double *worst) {
    double sum = 0;
    mj_resetDataKeyframe(e->m, e->d, 0);
    for (int k = 0; k < steps; k++) {
        double start = bench_seconds();
        mj_step(e->m, e->d);
        double spent = bench_seconds() - start;
        sum += spent, *worst = spent > *worst ? spent : *worst;
    }
    return sum / steps;
}

void mujoco_set_friction(mujoco *e, double mu) {
    for (int g = 0; g < e->m->ngeom; g++) e->m->geom_friction[3 * g] = mu;
}
#else
#include <stddef.h>

mujoco *mujoco_open(const char *path) {
    (void)path;
    return NULL;
}
void mujoco_close(mujoco *m) {
    (void)m;
}
const char *mujoco_version(void) {
    return NULL;
}
double mujoco_run(mujoco *m, int steps, const double *force, double *X) {
    (void)m, (void)steps, (void)force, (void)X;
    return 0;
}
double mujoco_pace(mujoco *m, int steps, double *worst) {
    (void)m, (void)steps, (void)worst;
    return 0;
}
void mujoco_set_friction(mujoco *m, double mu) {
    (void)m, (void)mu;
}
#endif
