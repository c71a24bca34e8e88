/* doubt.c -- is an answer what its slope says? docs/math.md eq. (452).
 *
 * Where motions bounce from corner to corner a loss has minima beside one another, and the slope at the bottom of one
 * says little of the width of them all. At both ends of each interval the motions' starts are fitted again: the loss
 * there must have risen by what the interval was made of. Where it has risen less, the interval is longer; where it has
 * fallen, the answer is another.
 */
#include "sysid/kicked/kicked.h"

static const double reach = 2; /* standard errors to either side */
static const double worth = 1; /* twice a logarithm of likelihood */

/* From the answer to an end of the interval of one number, others following: s->trial, s->step, s->p. */
static void go_to(tribo_sysid *s, int side) {
    size_t n = (size_t)s->nfree, i = (size_t)side / 2;
    const double *cov = s->shooting->cov;
    double size = (side % 2 ? reach : -reach) / sqrt(cov[i * (n + 1)]);
    for (size_t a = 0; a < n; a++) s->trial[a] = s->theta[a] + size * cov[a * n + i];
    ti_maps_clamp(s, s->trial);
    for (size_t a = 0; a < n; a++) s->step[a] = s->trial[a] - s->theta[a];
    ti_at(s, s->trial);
}

/* The start at an end of an interval, and the cost of its motion. */
static tribo_status roll_job(ti_worker *w, int i, void *context) {
    const tribo_sysid *s = w->s;
    size_t nx = (size_t)s->z.nx;
    int side = *(const int *)context;
    if (s->track[i].held_out) return TRIBO_OK;
    if (!ti_path_start(w, i, s->p, s->step, 0)) return TRIBO_E_SINGULAR;
    memcpy(ti_path_side(s, i, side), w->x, nx * sizeof(double));
    s->shooting->path[i].cost_try = ti_path_plain(w, i, s->p, HUGE_VAL);
    return TRIBO_OK;
}

/* From there on to where the motion costs least. */
static tribo_status settle_job(ti_worker *w, int i, void *context) {
    const tribo_sysid *s = w->s;
    size_t nx = (size_t)s->z.nx;
    int side = *(const int *)context;
    if (s->track[i].held_out) return TRIBO_OK;
    memcpy(ti_path_first(s, i), ti_path_side(s, i, side), nx * sizeof(double));
    return ti_path_settle(w, i, s->p, s->P);
}

/* The answer is kept. */
static tribo_status keep_job(ti_worker *w, int i, void *context) {
    const tribo_sysid *s = w->s;
    (void)context;
    if (!s->track[i].held_out)
        memcpy(ti_path_side(s, i, 2 * s->nfree), ti_path_first(s, i), (size_t)s->z.nx * sizeof(double));
    return TRIBO_OK;
}

/* Back to the answer. */
static tribo_status back_job(ti_worker *w, int i, void *context) {
    const tribo_sysid *s = w->s;
    size_t nx = (size_t)s->z.nx;
    (void)context;
    if (!s->track[i].held_out) memcpy(ti_path_first(s, i), ti_path_side(s, i, 2 * s->nfree), nx * sizeof(double));
    return TRIBO_OK;
}

/* Do the recordings say so much of a number that its interval is a step that one can make? */
static bool known(const tribo_sysid *s, int i) {
    const double most = 0.1;
    size_t at = (size_t)i * (size_t)(s->nfree + 1);
    return s->shooting->cov[at] < most && s->H[at] > TI_THETA_SILENT;
}

/* Starts at all ends; has the loss risen there by what the slope says? */
tribo_status ti_shooting_smooth(tribo_sysid *s, bool *smooth) {
    const double off = 0.3;
    *smooth = true;
    tribo_status status = ti_shooting_curvature(s);
    if (status >= 0) status = ti_shooting_spread(s);
    if (status < 0) return status;
    double before = ti_path_sum(s, false);
    for (int side = 0; side < 2 * s->nfree; side++) {
        if (!known(s, side / 2)) continue;
        go_to(s, side);
        s->progress.evaluations++;
        status = ti_parallel(s, TI_TELL_LOSS, roll_job, &side);
        if (status < 0) return status;
        double rise = ti_path_sum(s, true) - before;
        *smooth &= fabs(rise - reach * reach) < off * reach * reach;
    }
    ti_at(s, s->theta);
    return TRIBO_OK;
}

/* How far the loss has risen at the ends, motions settled there. */
static tribo_status measure(tribo_sysid *s, double before, bool *found) {
    const double most = 3;
    struct ti_shooting *h = s->shooting;
    for (int side = 0; side < 2 * s->nfree; side++) {
        if (!known(s, side / 2)) continue;
        go_to(s, side);
        tribo_sysid_map_jac(s, s->trial, s->P);
        s->progress.evaluations++;
        tribo_status status = ti_parallel(s, TI_TELL_LOSS, settle_job, &side);
        if (status < 0) return status;
        double rise = ti_path_sum(s, false) - before, wide = rise > 0 ? reach / sqrt(rise) : most;
        *found = rise < -worth;
        if (*found) {
            memcpy(s->theta, s->trial, (size_t)s->nfree * sizeof(double));
            return TRIBO_OK;
        }
        h->wide[side] = wide < 1 ? 1 : wide > most ? most : wide;
    }
    return ti_parallel(s, TI_TELL_LOSS, back_job, NULL);
}

tribo_status ti_shooting_doubt(tribo_sysid *s, bool *found) {
    struct ti_shooting *h = s->shooting;
    bool smooth = true;
    *found = false;
    for (int i = 0; i < 2 * s->nfree; i++) h->wide[i] = 1;
    tribo_status status = ti_shooting_smooth(s, &smooth);
    if (status < 0 || smooth) return status;
    for (int i = 0; i < s->nrec; i++) h->path[i].sought = !s->track[i].held_out;
    status = ti_shooting_near(s);
    if (status >= 0) status = ti_shooting_keep(s);
    if (status < 0) return status;
    double now = ti_path_sum(s, false);
    *found = now < h->cost - worth;
    return *found ? TRIBO_OK : measure(s, now, found);
}

/* The motion led along the recording from where it starts. */
static tribo_status lead_job(ti_worker *w, int i, void *context) {
    (void)context;
    return w->s->track[i].held_out ? TRIBO_OK : ti_path_settle(w, i, w->s->p, w->s->P);
}

tribo_status ti_shooting_keep(tribo_sysid *s) {
    return ti_parallel(s, TI_TELL_LOSS, keep_job, NULL);
}

tribo_status ti_shooting_lead(tribo_sysid *s) {
    return ti_parallel(s, TI_TELL_LOSS, lead_job, NULL);
}

tribo_status ti_shooting_back(tribo_sysid *s) {
    return ti_parallel(s, TI_TELL_LOSS, back_job, NULL);
}

/* Far from the answer they may have seemed to matter. Where motions at their starts leave more than these do, as those
 * of a joint that sticks in another step, slopes say nothing: they stay. Kicks would follow anything. */
tribo_status ti_shooting_put_back(tribo_sysid *s) {
    const double much = 9; /* three standard errors of a number */
    struct ti_shooting *h = s->shooting;
    double before = h->cost;
    bool any = false;
    memcpy(s->trial, s->theta, (size_t)s->nfree * sizeof(double));
    for (int a = 0; a < s->nfree; a++) {
        if (s->H[a * s->nfree + a] < 1) s->theta[a] = s->start_theta[a];
        any |= s->theta[a] != s->trial[a];
    }
    if (!any || ti_kicked(s)) return TRIBO_OK;
    ti_at(s, s->theta);
    tribo_sysid_map_jac(s, s->theta, s->P);
    s->progress.evaluations++;
    tribo_status status = ti_shooting_keep(s), back = TRIBO_OK;
    if (status >= 0) status = ti_shooting_lead(s);
    bool follows = status >= 0 && ti_path_sum(s, false) < before + much;
    if (follows) h->cost = ti_path_sum(s, false);
    if (follows || status == TRIBO_E_NOMEM) return status;
    memcpy(s->theta, s->trial, (size_t)s->nfree * sizeof(double));
    if (status != TI_STOPPED) back = ti_shooting_back(s);
    return status == TI_STOPPED ? status : back < 0 ? back : ti_shooting_curvature(s);
}
