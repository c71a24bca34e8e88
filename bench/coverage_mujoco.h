/* coverage_mujoco.h -- the same recordings fitted by least squares over MuJoCo's step, where it is installed. */
#ifndef COVERAGE_MUJOCO_H
#define COVERAGE_MUJOCO_H
#include <stdbool.h>
#include <tribo/sysid.h>

/* What is fitted, and with what. */
typedef struct rival {
    const char *path, *xml;  /* the scene: a file, or where that is NULL a text */
    int nfree;               /* numbers that are free */
    const char *const *name; /* (nfree) as this project calls them */
    const double *start;     /* (nfree) */
    const tribo_recording *rec;
    int nrec;
    double step;               /* s */
    double position, rotation; /* noise: m, rad */
} rival;

/* Levenberg-Marquardt with forward differences: the free numbers, and of each recording its start.
 * @param est [out] (nfree). @return false without MuJoCo, where it does not know a name, or where the fit fails; on
 * standard error why. */
bool rival_fit(const rival *r, tribo_estimate *est, int *iterations);

/* A world of MuJoCo's by the scene, restitutions as rival_fit() has them. @return NULL without MuJoCo. */
typedef struct rival_world rival_world;
rival_world *rival_world_new(const char *xml, int n, const char *const *name, const double *value);
/* A state of the library, a hundredth of a second later. */
bool rival_world_next(void *world, double *x);
void rival_world_free(rival_world *w);
#endif
