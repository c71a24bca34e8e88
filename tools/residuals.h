/* residuals.h -- measured less simulated along a recording, and whether that is noise. */
#ifndef TRIBO_TOOLS_RESIDUALS_H
#define TRIBO_TOOLS_RESIDUALS_H
#include "recording.h"

/* Numbers of a tangent that belong together: positions or rotations of a free body, or what a joint has. */
typedef struct channel {
    const char *name; /* of the body, or of the joint */
    int q, v, n;      /* q: where in q the same numbers are, -1 = a quaternion is there */
    bool turns;       /* rad, else m */
    int quat;         /* where in q its quaternion is, -1 = it has none */
} channel;
/* Those of a model, to be freed. @param n [out] how many. @return NULL, and none, without memory */
channel *channels_of(const tribo_model *m, int *n);

/* Displacements, m, and rotation vectors, rad, of everything in every row: (n,nv), NaN where nothing was measured. */
typedef struct residuals {
    int n, nv;
    const tribo_model *m;
    double *r; /* (n,nv) */
    double *x; /* (n,nx) simulated */
} residuals;

/* Simulate a recording and compare. @return false without memory or where it cannot be simulated. */
bool residuals_of(residuals *out, tribo_sysid *s, const tribo_model *m, const tribo_recording *rec, int recording);
/* The same with parameters p, not the best. */
bool residuals_at(residuals *out, tribo_sysid *s, const double *p, const tribo_model *m, const tribo_recording *rec,
                  int recording);
void residuals_free(residuals *r);

enum { QUALITY_POSITION, QUALITY_ROTATION, QUALITY_KINDS };

/* How residuals compare with what neighbouring rows say of the noise, which no model enters: sums to be gathered over
 * recordings by quality_add(), then numbers by quality_settle(). */
typedef struct quality {
    double square[QUALITY_KINDS], follow[QUALITY_KINDS], noise[QUALITY_KINDS];
    long n[QUALITY_KINDS], nfollow[QUALITY_KINDS];
    int recordings;
    double rms[QUALITY_KINDS];         /* an axis, m, rad */
    double sigma[QUALITY_KINDS];       /* the same of the noise: median over recordings' estimates is their mean here */
    double correlation[QUALITY_KINDS]; /* of a residual with that of the next row */
} quality;
void quality_add(quality *q, const residuals *r, const tribo_model *m, const tribo_recording *rec);
void quality_settle(quality *q, double extent);
/* Is what is left noise? Else what is said of it goes into text. */
bool quality_good(const quality *q, char text[400]);

/* Correlation of residuals of one kind that are `lag` rows apart. */
double residuals_correlation(const residuals *r, int kind, int lag);
/* Standard deviation of one axis from row to row, by third differences; NaN of too few rows. only: of that channel;
 * NULL = of all of a kind. */
double noise_of_rows(const tribo_model *m, const tribo_recording *rec, int kind, const channel *only);

#endif
