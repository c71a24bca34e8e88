/* recordings.h -- the recordings of one identification: loaded, with what was not observed marked, and measured. */
#ifndef TRIBO_TOOLS_RECORDINGS_H
#define TRIBO_TOOLS_RECORDINGS_H
#include "common.h"
#include <tribo/recording.h>
#include <tribo/trajectory.h>

typedef struct recordings {
    int n;
    const char **path;       /* (n) */
    const char **own;        /* path, where it is not the command line's */
    tribo_recording *rec;    /* (n) in the conventions of a state */
    tribo_checked **checked; /* (n) what was found in each; NULL where it was taken as it is */
    bool marked, pressed;    /* some have columns of markers; of contact forces */
} recordings;

/* What a verb asks of them. */
typedef struct recording_options {
    string_list data, controls; /* of controls one for all, one a recording, or none: those of the first key */
    bool as_is;                 /* take them without a look */
    double cut;                 /* s: each in pieces of that length; 0 = whole */
    double late;                /* s: how far the recordings' clock is behind that of the controls */
    bool late_given;            /* that is known */
    const int *behind;          /* (nv) rows that each number of a pose is behind its time; NULL = none is */
    int exchanged[2];           /* channels of joints that have each other's name; the same twice = none have */
} recording_options;

/* Load them all and look at them: what was mended is told on standard error, what is refused ends it.
 * @return EXIT_SUCCESS, or the verb's exit status after a message. */
int recordings_load(recordings *r, const verb *v, const tribo_model *m, const recording_options *o);
/* The same, and nothing told of what was mended. */
int recordings_again(recordings *r, const verb *v, const tribo_model *m, const recording_options *o);
/* The parts of loading: take what is mended for each; tell what that was, each text once. */
int recordings_look(recordings *r, const tribo_model *m);
void recordings_tell(const recordings *r);
/* A copy whose numbers are those of the rows in which they are found, behind[v] later, and their velocities with them;
 * past the ends nothing was measured. @return false without memory. */
bool recording_catch_up(const tribo_recording *rec, const tribo_model *m, const int *behind, tribo_recording *out);
/* A copy in which two joints, channels of the model, have each other's numbers. @return false without memory. */
bool recording_exchange(const tribo_recording *rec, const tribo_model *m, const int pair[2], tribo_recording *out);
/* A copy with rows, in which nothing was measured, between any two that controls change more than once from; without
 * controls of its own. @return false without memory. */
bool recording_divide(const tribo_recording *rec, const tribo_model *m, const tribo_controls *controls, double late,
                      tribo_recording *out);
/* Was a clock of its poses mended when it was looked at? Then it is left alone by recording_options.behind. */
bool recordings_settled(const recordings *r, int i);
void recording_free(const tribo_recording *rec);
void recordings_free(recordings *r);
/* What tribo_sysid_new() says of one of them, with its file. @return the verb's exit status. */
int recordings_error(const recordings *r, tribo_status status, const tribo_diag *diag);
/* Takes CUT_OPTION, LATE_OPTION and AS_IS_OPTION. @return EXIT_SUCCESS, or EXIT_USAGE after a message. */
int recording_option(const verb *v, int code, const char *value, recording_options *o);
void recording_options_free(recording_options *o);
/* The options of recordings, the same for every verb that reads some. */
enum { CONTROLS_OPTION = 900, AS_IS_OPTION, CUT_OPTION, LATE_OPTION };
extern const option_group group_recordings;

/* Means over recordings of what tribo_sysid_errors() says of each. */
typedef struct mean_errors {
    int n;
    tribo_errors e;
} mean_errors;
void mean_add(mean_errors *sum, const tribo_errors *e);
tribo_errors mean_of(const mean_errors *sum);
/* As JSON: position_error_mean, rotation_error_mean_deg, relative to the extent, and the one-step rms errors. */
json_t *errors_json(const tribo_errors *e);

/* Processors online, at least 1. */
int processors(void);
#endif
