/* elsewhere.c -- what explains the recordings as well, far from the answer. docs/math.md eq. (467).
 *
 * A slope knows one branch. Of a ball that rolls friction has two: none, and whatever is enough, and noise chooses.
 * So each number that is searched widely is tried along its range, starts fitted again: what costs no more than
 * the ends of an interval do belongs to it.
 */
#include "sysid/kicked/kicked.h"
#include <stdatomic.h>

static const double within = 3.84; /* twice a logarithm of likelihood: chi squared, one number, 95 % */
static const double near = 300;    /* starts of motions that cost more than this are not fitted again */

/* Where one motion costs too much, the others need not be known. */
static tribo_status roll_job(ti_worker *w, int i, void *context) {
    const tribo_sysid *s = w->s;
    ti_path *path = s->shooting->path + i;
    atomic_bool *far = context;
    path->cost_try = HUGE_VAL;
    if (s->track[i].held_out || *far) return TRIBO_OK;
    memcpy(w->x, ti_path_first(s, i), (size_t)s->z.nx * sizeof(double));
    path->cost_try = ti_path_plain(w, i, s->p, path->cost + near);
    if (!isfinite(path->cost_try)) *far = true;
    return TRIBO_OK;
}

/* What motions cost at s->trial, their starts fitted again from where they are. */
static tribo_status cost_there(tribo_sysid *s, double before, double *cost) {
    *cost = HUGE_VAL;
    ti_at(s, s->trial);
    if (tribo_params_check(s->m, s->p, NULL)) return TRIBO_OK;
    s->progress.evaluations++;
    atomic_bool far = false;
    tribo_status status = ti_parallel(s, TI_TELL_LOSS, roll_job, &far);
    if (status < 0 || !(ti_path_sum(s, true) < before + near)) return status;
    tribo_sysid_map_jac(s, s->trial, s->P);
    s->progress.evaluations++;
    status = ti_shooting_lead(s);
    if (status >= 0) *cost = ti_path_sum(s, false);
    return *cost < before + within ? ti_shooting_slopes(s) : status;
}

/* s->trial[i] explains as much. */
static void include(tribo_sysid *s, int i) {
    double *range = s->shooting->range + 2 * i;
    ti_at(s, s->trial);
    double value = ti_value(s, s->trial, s->p, i);
    range[0] = ti_min(range[0], value), range[1] = ti_max(range[1], value);
}

/* So does whatever has no weight there. */
static void include_silent(tribo_sysid *s) {
    double range[2];
    for (int b = 0; b < s->nfree; b++) {
        if (s->H[(size_t)b * (size_t)(s->nfree + 1)] >= 1 || !ti_shooting_searches(s, b, &range[0], &range[1]))
            continue;
        double was = s->trial[b];
        for (int end = 0; end < 2; end++) s->trial[b] = range[end], include(s, b);
        s->trial[b] = was;
    }
}

/* Number a from its answer on to one end of its range. */
static tribo_status walk(tribo_sysid *s, int a, bool up, double before) {
    double low, high, cost;
    tribo_status status = TRIBO_OK;
    memcpy(s->trial, s->theta, (size_t)s->nfree * sizeof(double));
    if (!ti_shooting_searches(s, a, &low, &high)) return TRIBO_OK;
    for (int j = 0; j < TI_PLACES; j++) {
        double place = ti_shooting_place(s, a, up ? j : TI_PLACES - 1 - j, low, high);
        if ((place > s->theta[a]) != up) continue;
        s->trial[a] = place;
        status = cost_there(s, before, &cost);
        if (status == TI_STOPPED || status == TRIBO_E_NOMEM) break;
        if (status < 0 || !(cost < before + within)) continue;
        include(s, a);
        include_silent(s);
    }
    tribo_status back = ti_shooting_back(s);
    return status == TI_STOPPED || status == TRIBO_E_NOMEM ? status : back;
}

tribo_status ti_shooting_elsewhere(tribo_sysid *s) {
    double before = ti_path_sum(s, false);
    tribo_status status = ti_shooting_keep(s);
    for (int k = 0; status >= 0 && k < 2 * s->nfree; k++) status = walk(s, k / 2, k % 2, before);
    return status < 0 ? status : ti_shooting_curvature(s);
}
