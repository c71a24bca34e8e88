/* batch.h -- what the parts of the verb `batch` share. */
#ifndef TRIBO_TOOLS_BATCH_H
#define TRIBO_TOOLS_BATCH_H
#include "common.h"
#include "task.h"
#include <tribo/batch.h>

/* A number of the state that the return is made of: weight x, or weight (x - target)^2 / 2. */
typedef struct batch_part {
    int x, dx; /* where in the state and in its tangent */
    double weight, target;
    bool square, mean; /* mean: over all states behind the start; false: of the last */
} batch_part;

/* What a file of randomisers holds. */
typedef struct batch_file {
    task_file *room; /* that everything lives in */
    uint64_t seed;
    tribo_random_def *def; /* (ndef) */
    const char **label;    /* (ndef) */
    int ndef;
    batch_part *part; /* (npart) */
    int npart;
    double *x0; /* (nx) */
    double *u;  /* (nu) held all the time */
} batch_file;

/* Read and check all of it: whatever is wrong is told by file and line.
 * @return exit status of the verb, after a message where it is not EXIT_SUCCESS; f is to be freed in any case. */
int batch_file_read(const char *path, const tribo_model *m, batch_file *f);
void batch_file_free(batch_file *f);

#endif
