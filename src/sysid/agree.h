/* agree.h -- do the recordings, each by itself, ask for the same parameters? docs/math.md eq. (604), (605). */
#ifndef TRIBO_SYSID_AGREE_H
#define TRIBO_SYSID_AGREE_H
#include "sysid/kicked/kicked.h"

/* What all recordings together know: eigenvectors of their curvature, columns, of which the first nopen are open. */
typedef struct ti_agreement {
    int n, nopen;
    const double *V, *value; /* (n,n), (n) */
    double *scratch;         /* (n + 3, n) */
} ti_agreement;

/* By the slopes that ti_shooting_curvature() has left. @return false where eigenvalues are not found */
bool ti_agree(const tribo_sysid *s, const ti_agreement *a, double *square, int *freedom);

#endif
