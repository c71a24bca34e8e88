/* recorded.h -- recordings of robots whose numbers are known, with noise: what a quadruped that is pulled until its
 * feet slip, and an arm that holds something, show of themselves. */
#ifndef RECORDED_H
#define RECORDED_H
#include <stdint.h>
#include <tribo/tribo.h>

typedef struct recorded {
    tribo_recording rec;
    double *memory;
} recorded;
void recorded_free(recorded *r);

/* ---- a slip: FOLDER/quadruped.xml where each foot has a friction of its own ---- */

enum { SLIP_FEET = 4 };
extern const char *const slip_name[SLIP_FEET]; /* their parameters */
extern const double slip_truth[SLIP_FEET];
/* NULL where there is no such file. */
tribo_model *slip_scene(const char *folder);
/* 0.4 s at 100 Hz: poses of the trunk (1 mm, 2 mrad) and angles (1 mrad), no velocities; servos hold the legs, and a
 * force pulls the trunk, drawn about `pull` N in any direction, for the first half. In the scene's own steps. */
recorded slip_record(const tribo_model *m, double pull, uint64_t seed);

/* ---- a payload: FOLDER/ur-like.xml with a body `payload` at its flange ---- */

enum { PAYLOAD_FREE = 4 };
extern const char *const payload_name[PAYLOAD_FREE]; /* its mass and centre */
extern const double payload_truth[PAYLOAD_FREE];
tribo_model *payload_scene(const char *folder);
/* 1 s at 250 Hz: angles and torques of arms.c, which shares nothing with the library.
 * @param noise of the angles, rad */
recorded payload_record(const tribo_model *m, double noise, uint64_t seed);
#endif
