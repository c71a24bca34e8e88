/* recordings.h -- the recordings of one identification: loaded, with what was not observed marked, and measured. */
#ifndef TRIBO_TOOLS_RECORDINGS_H
#define TRIBO_TOOLS_RECORDINGS_H
#include "common.h"
#include <tribo/sysid.h>
#include <tribo/trajectory.h>

typedef struct recordings {
    int n;
    const char **path;
    tribo_recording *rec; /* (n) */
} recordings;

/* Load them all. @return EXIT_SUCCESS, or the verb's exit status after a message. */
int recordings_load(recordings *r, const tribo_model *m, const string_list *paths);
void recordings_free(recordings *r);

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
