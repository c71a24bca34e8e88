/* mujoco.h -- MuJoCo beside Tribo on the same scene file, where it is installed. */
#ifndef BENCH_MUJOCO_H
#define BENCH_MUJOCO_H
#include <stdbool.h>

typedef struct mujoco mujoco;

/* NULL where MuJoCo is not installed or does not read the file. */
mujoco *mujoco_open(const char *path);
void mujoco_close(mujoco *m);
const char *mujoco_version(void);
/* Steps steps from the first keyframe with force[k] newtons along x on body 0 (NULL = none).
 * X ((steps + 1), nq + nv) or NULL: the states. @return seconds of CPU time spent in the steps. */
double mujoco_run(mujoco *m, int steps, const double *force, double *X);
/* Steps from the first keyframe. @return mean seconds of CPU time a step, *worst those of the slowest. */
double mujoco_pace(mujoco *m, int steps, double *worst);
/* The same friction coefficient for all geoms. */
void mujoco_set_friction(mujoco *m, double mu);

#endif
