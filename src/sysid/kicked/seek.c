/* seek.c -- recordings that are left with more than others are. docs/math.md, Multiple shooting.
 *
 * Impacts send a motion one of several ways, and the start that costs least along a wrong one is not left by small
 * steps. What such a motion leaves may still pass for noise; but it leaves more than the others do. So the starts of
 * those that leave most are sought once more.
 */
#include "sysid/kicked/kicked.h"

enum { FEWEST = 3 };
static const double strange = 1.5; /* standard deviations of a sum of squares */
static const double worth = 9;     /* twice a logarithm of likelihood: three standard errors of a number */

static void left(const tribo_sysid *s, int recording, double *square, double *freedom) {
    const ti_noise_sums *sum = s->shooting->sums + recording;
    for (int k = 0; k < 2 * s->ngroup; k++) *square += sum->square[k], *freedom += sum->freedom[k];
}

/* Is more left of it than of all, which leave a share of what noise would? */
static bool is_strange(const tribo_sysid *s, int recording, double share) {
    double square = 0, freedom = 0;
    left(s, recording, &square, &freedom);
    return freedom > 1 && square > share * freedom * (1 + strange * sqrt(2 / freedom));
}

static tribo_status grow_job(ti_worker *w, int i, void *context) {
    const tribo_sysid *s = w->s;
    ti_path *path = s->shooting->path + i;
    path->sought = !s->track[i].held_out && is_strange(s, i, *(const double *)context);
    return path->sought ? ti_path_grow(w, i, s->p, s->P) : TRIBO_OK;
}

tribo_status ti_shooting_seek(tribo_sysid *s, bool *found) {
    double square = 0, freedom = 0;
    int recordings = 0;
    *found = false;
    tribo_status status = ti_shooting_curvature(s);
    if (status >= 0) status = ti_shooting_spread(s);
    for (int i = 0; i < s->nrec; i++)
        if (!s->track[i].held_out) left(s, i, &square, &freedom), recordings++;
    if (status < 0 || recordings < FEWEST || !(square > 0)) return status;
    double share = square / freedom;
    status = ti_parallel(s, TI_TELL_LOSS, grow_job, &share);
    if (status >= 0) status = ti_shooting_near(s);
    *found = status >= 0 && ti_path_sum(s, false) < s->shooting->cost - worth;
    s->lambda = 1e-3;
    return status;
}
