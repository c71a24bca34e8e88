/* recording.h -- recordings as numbers, and what is made of one: copies, parts, what its clocks and names are. */
#ifndef TRIBO_TOOLS_RECORDING_H
#define TRIBO_TOOLS_RECORDING_H
#include "common.h"
#include <tribo/recording.h>
#include <tribo/trajectory.h>

/* What was said of a body's quaternions in recordings that do not say it themselves. */
typedef struct followed {
    int way, first, count; /* their order; the first such recording, and how many */
} followed;

typedef struct recordings {
    int n;
    const char **path;       /* (n) */
    const char **own;        /* path, where it is not the command line's */
    tribo_recording *rec;    /* (n) in the conventions of a state */
    tribo_checked **checked; /* (n) what was found in each; NULL where it was taken as it is */
    followed *followed;      /* (bodies) or NULL */
    int bodies;
    bool marked, pressed; /* some have columns of markers; of contact forces */
} recordings;

/* The parts of loading: take what is mended for each; tell what that was, each text once. */
int recordings_look(recordings *r, const tribo_model *m);
void recordings_tell(const recordings *r, const tribo_model *m);
/* orders.c: the order of quaternions that most recordings have, for those that were looked at and do not say; what of
 * that is to be told. @return false without memory */
bool recordings_agree(recordings *r, const tribo_model *m);
void recordings_tell_agreed(const recordings *r, const tribo_model *m);
/* A copy whose numbers are those of the rows in which they are found, behind[v] later, and their velocities with them;
 * past the ends nothing was measured. @return false without memory. */
bool recording_catch_up(const tribo_recording *rec, const tribo_model *m, const int *behind, tribo_recording *out);
/* A copy in which two joints, channels of the model, have each other's numbers. @return false without memory. */
bool recording_exchange(const tribo_recording *rec, const tribo_model *m, const int pair[2], tribo_recording *out);
/* A copy with rows, in which nothing was measured, between any two that controls change more than once from; without
 * controls of its own. @return false without memory. */
bool recording_divide(const tribo_recording *rec, const tribo_model *m, const tribo_controls *controls, double late,
                      tribo_recording *out);
/* Rows from `from` on as a recording of its own. @return false without memory. */
bool recording_piece(const tribo_recording *rec, const tribo_sizes *z, int from, int n, tribo_recording *out);
/* Numbers of a row of contact forces. */
size_t recording_forces(const tribo_sizes *z);
void recording_free(const tribo_recording *rec);

#endif
