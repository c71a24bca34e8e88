/* elsewhere.c -- what explains the recordings as well, far from the answer. docs/math.md eq. (467).
 *
 * A slope knows one branch. Of a ball that rolls friction has two: none, and whatever is enough, and noise chooses.
 * So each number that is searched widely is tried along its range, starts fitted again: what costs no more than
 * the ends of an interval do belongs to it.
 */
#include "sysid/kicked/kicked.h"
#include <stdatomic.h>

enum { HALVES = 4 };
static const double within = 3.84; /* twice a logarithm of likelihood: chi squared, one number, 95 % */
static const double near = 300;    /* starts of motions that cost more than this are not fitted again */

/* The answer: what it costs, and how many numbers of starts the recordings determine there. */
typedef struct answer {
    double cost, known;
} answer;

/* Of Gaussian priors as much as they are narrowed by is determined. */
static double known(const tribo_sysid *s) {
    ti_smoother m = ti_smoother_of(s->worker);
    size_t ndx = (size_t)s->z.ndx, row = ndx + (size_t)s->nfree + 1;
    double sum = 0;
    for (int i = 0; i < s->nrec; i++) {
        const double *full = s->shooting->path[i].full;
        if (s->track[i].held_out) continue;
        for (size_t j = 0; j < ndx; j++) memcpy(m.M + j * ndx, full + j * row, ndx * sizeof *full);
        for (size_t j = 0; j < ndx * ndx; j++) m.P[j] = j % (ndx + 1) == 0;
        bool solved = ti_spd_solve((int)ndx, m.M, (int)ndx, m.P);
        for (size_t j = 0; j < ndx; j++) {
            double size = s->shooting->prior[ti_kind_at(s, (int)j)];
            sum += solved ? 1 - m.P[j * (ndx + 1)] / (size * size) : 1;
        }
    }
    return sum;
}

/* The 95 % quantile of chi squared, by Wilson and Hilferty where it is not of one number. */
static double quantile(double numbers) {
    double share = 2 / (9 * numbers);
    return ti_max(within, numbers > 1 ? numbers * pow(1 - share + 1.6449 * sqrt(share), 3) : 0);
}

/* Where motions cost too much already, the others need not be known. */
typedef struct limit {
    double most;
    atomic_bool far;
} limit;

static tribo_status roll_job(ti_worker *w, int i, void *context) {
    const tribo_sysid *s = w->s;
    ti_path *path = s->shooting->path + i;
    limit *to = context;
    path->cost_try = HUGE_VAL;
    if (s->track[i].held_out || to->far) return TRIBO_OK;
    memcpy(w->x, ti_path_first(s, i), (size_t)s->z.nx * sizeof(double));
    path->cost_try = ti_path_plain(w, i, s->p, to->most);
    if (!isfinite(path->cost_try)) to->far = true;
    return TRIBO_OK;
}

/* What motions cost at s->trial more than what explains as much does, their starts fitted again from where they are.
 * Friction that holds leaves nothing of a slip: numbers of starts that the answer has and motions there have not. */
static tribo_status over_there(tribo_sysid *s, const answer *best, double *over) {
    *over = HUGE_VAL;
    ti_at(s, s->trial);
    if (tribo_params_check(s->m, s->p, NULL)) return TRIBO_OK;
    s->progress.evaluations++;
    limit to = {best->cost + near, false};
    tribo_status status = ti_parallel(s, TI_TELL_LOSS, roll_job, &to);
    if (status < 0 || !(ti_path_sum(s, true) < best->cost + near)) return status;
    tribo_sysid_map_jac(s, s->trial, s->P);
    s->progress.evaluations++;
    status = ti_shooting_lead(s);
    double rise = ti_path_sum(s, false) - best->cost;
    if (status < 0 || !(rise < quantile(best->known))) return status;
    status = ti_shooting_slopes(s);
    if (status >= 0) *over = rise - quantile(best->known - known(s));
    return status;
}

void ti_shooting_include(tribo_sysid *s, int i) {
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
        for (int end = 0; end < 2; end++) s->trial[b] = range[end], ti_shooting_include(s, b);
        s->trial[b] = was;
    }
}

static bool is_end(tribo_status status) {
    return status == TI_STOPPED || status == TRIBO_E_NOMEM;
}

/* Number a at a place: what motions cost there more than an interval allows; it is included where that is nothing. */
static tribo_status try_place(tribo_sysid *s, int a, double place, const answer *best, double *over) {
    s->trial[a] = place;
    tribo_status status = over_there(s, best, over);
    if (is_end(status)) return status;
    if (status < 0) *over = HUGE_VAL;
    if (*over < 0) ti_shooting_include(s, a), include_silent(s);
    return TRIBO_OK;
}

/* From a place that explains as much towards one that does not, as far as that goes. */
static tribo_status halve(tribo_sysid *s, int a, double in, double out, const answer *best) {
    tribo_status status = TRIBO_OK;
    for (int k = 0; k < HALVES && status >= 0; k++) {
        double middle = (in + out) / 2, over = 0;
        status = try_place(s, a, middle, best, &over);
        if (over < 0)
            in = middle;
        else
            out = middle;
    }
    return status;
}

/* Number a from its answer on to one end of its range. */
static tribo_status walk(tribo_sysid *s, int a, bool up, const answer *best) {
    double low, high, in = s->theta[a];
    bool inside = true;
    tribo_status status = TRIBO_OK;
    memcpy(s->trial, s->theta, (size_t)s->nfree * sizeof(double));
    if (!ti_shooting_searches(s, a, &low, &high)) return TRIBO_OK;
    for (int j = 0; j < TI_PLACES && status >= 0; j++) {
        double place = ti_shooting_place(s, a, up ? j : TI_PLACES - 1 - j, low, high), over = 0;
        if ((place > s->theta[a]) != up) continue;
        status = try_place(s, a, place, best, &over);
        if (status >= 0 && inside && !(over < 0)) status = halve(s, a, in, place, best);
        inside = over < 0, in = place;
    }
    tribo_status back = ti_shooting_back(s);
    return is_end(status) ? status : back;
}

tribo_status ti_shooting_elsewhere(tribo_sysid *s) {
    tribo_status status = ti_shooting_curvature(s); /* what it costs, not what other starts did */
    answer best = {ti_path_sum(s, false), status < 0 ? 0 : known(s)};
    if (status >= 0) status = ti_shooting_keep(s);
    for (int k = 0; status >= 0 && k < 2 * s->nfree; k++) status = walk(s, k / 2, k % 2, &best);
    return status < 0 ? status : ti_shooting_curvature(s);
}
