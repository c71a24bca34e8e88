/* columns.h -- names of gain and bias of measured columns: cube.p/gain, cube.pz/bias, cube.r/bias, elbow.q/bias. */
#ifndef TRIBO_TOOLS_COLUMNS_H
#define TRIBO_TOOLS_COLUMNS_H
#include "recordings.h"

/* The free numbers of a name, up to three: p, r, v, w of a free body, or one axis of them, q and v of a joint.
 * @return how many; 0 = no such name. */
int columns_find(const tribo_model *m, const char *name, tribo_free_param found[3]);
/* The name of a free column, into name, and its unit. @return name, empty without memory. */
const char *column_name(const tribo_model *m, const tribo_free_param *f, char *name, size_t size, const char **unit);

/* Recordings as a fit reads them, gain and bias taken out, poses in the place of markers. */
typedef struct columns_read {
    int n;
    double **x;
    tribo_recording *was;
    recordings *of;
} columns_read;
/* @return false without memory. */
bool columns_apply(columns_read *c, tribo_sysid *s, const tribo_model *m, recordings *r);
/* The recordings are as they were; before they are freed. */
void columns_read_free(columns_read *c);

#endif
