/* recordings.h -- the recordings of one identification: loaded, with what was not observed marked, and measured. */
#ifndef TRIBO_TOOLS_RECORDINGS_H
#define TRIBO_TOOLS_RECORDINGS_H
#include "recording.h"

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
/* Was a clock of its poses mended when it was looked at? Then it is left alone by recording_options.behind. */
bool recordings_settled(const recordings *r, int i);
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

#endif
