/* coverage_motions.h -- the data sets of coverage.c: motions whose numbers are known, with noise. */
#ifndef COVERAGE_MOTIONS_H
#define COVERAGE_MOTIONS_H
#include "cubes.h"
#include <stdbool.h>
#include <tribo/tribo.h>

enum { ROWS = 81, NQ = 14, NX = 26, RECS = 64, FREE = 3 };

typedef struct data_set {
    tribo_recording rec[RECS];
    double time[RECS][ROWS], x[RECS][ROWS * NX];
    uint64_t seed;
    double noise, keep, scatter; /* of restitution, in parts of it, from row to row */
} data_set;

typedef struct experiment {
    const char *name, *xml;
    int nfree, rows;
    const char *free[FREE];
    double truth[FREE];
    void (*start)(data_set *d, cube_world *w);
    bool (*next)(cube_world *w, int row); /* a hundredth of a second; false where the recording ends */
} experiment;

/* slide, bounce, collision, tumble. */
extern const experiment experiments[];
enum { EXPERIMENTS = 4 };

double between(data_set *d, double a, double b);
/* What else makes a row of the one before: a state of the library, a hundredth of a second later. */
typedef struct maker {
    bool (*next)(void *context, double *x);
    void *context;
} maker;
/* Recording i; NULL = by the experiment's own motion. */
void record(const experiment *e, data_set *d, int i, const maker *other);

#endif
