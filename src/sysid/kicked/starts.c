/* starts.c -- shooting from several starts: a wide search by first motions, a fit from the best of them and from the
 * one that was given, and the better of what these end at. */
#include "sysid/kicked/kicked.h"

enum {
    CANDIDATES_MAX = 24,
    ROUNDS_MAX = 40,
    DRAWS_MAX = 4,
    STAGE_MAX = 4,
    LOOKS_MAX = 6,
    STANDS_MAX = 2,
    SEEKS_MAX = 6,
    ANEW_MAX = 3
};

/* Point n of a sequence that fills the box evenly: fractions of powers of the generalised golden ratio. */
static bool candidate(const tribo_sysid *s, int n, double *theta) {
    int d = 0;
    double low, high, ratio = 2;
    for (int i = 0; i < s->nfree; i++) d += ti_shooting_searches(s, i, &low, &high);
    for (int pass = 0; pass < 60; pass++) ratio = pow(1 + ratio, 1. / (d + 1));
    for (int i = 0, j = 0; i < s->nfree; i++) {
        theta[i] = s->start_theta[i];
        if (!ti_shooting_searches(s, i, &low, &high)) continue;
        double x = 0.5 + n * pow(ratio, -++j);
        theta[i] = low + (high - low) * (x - floor(x));
    }
    ti_maps_clamp(s, theta);
    return d > 0;
}

/* Cost of the first motions at theta: what is left of the measurements, and the kicks that it takes. */
static double first_cost(tribo_sysid *s, const double *theta, bool kicked) {
    struct ti_shooting *h = s->shooting;
    double cost = 0;
    for (int k = 0; k < TI_KICK_KINDS; k++) s->kick[k] = kicked ? 0.01 * h->unit[TRIBO_BLOCK_VELOCITY + k] : 0;
    if (ti_shooting_guess(s, theta)) return HUGE_VAL;
    for (int i = 0; i < s->nrec; i++)
        if (!s->track[i].held_out) cost += ti_path_cost(s->worker, i, h->path[i].x, h->path[i].w, h->path[i].touch);
    return isfinite(cost) ? cost : HUGE_VAL;
}

static void add_start(tribo_sysid *s, const double *theta, bool kicked) {
    struct ti_shooting *h = s->shooting;
    memcpy(h->start + (size_t)h->nstart * (size_t)s->nfree, theta, (size_t)s->nfree * sizeof *theta);
    h->kicked[h->nstart++] = kicked;
}

static tribo_status roll_job(ti_worker *w, int i, void *context) {
    const tribo_sysid *s = w->s;
    const ti_path *path = s->shooting->path + i;
    size_t nx = (size_t)s->z.nx;
    (void)context;
    if (s->track[i].held_out) return TRIBO_OK;
    memcpy(w->x, path->x + (size_t)s->track[i].first * nx, nx * sizeof(double));
    s->shooting->path[i].cost_try = ti_path_plain(w, i, s->p, HUGE_VAL);
    return TRIBO_OK;
}

/* Cost of motions without kicks at theta, from where they start now. */
static double cost_from_here(tribo_sysid *s, const double *theta) {
    ti_at(s, theta);
    s->progress.evaluations++;
    if (tribo_params_check(s->m, s->p, NULL) || ti_parallel(s, TI_TELL_LOSS, roll_job, NULL) < 0) return HUGE_VAL;
    return ti_path_sum(s, true);
}

/* Number a at a place, all others as they are. */
static double cost_at(tribo_sysid *s, int a, double place) {
    memcpy(s->trial, s->theta, (size_t)s->nfree * sizeof(double));
    s->trial[a] = place;
    return cost_from_here(s, s->trial);
}

static bool moves_nothing(double cost, double here) {
    return fabs(cost - here) <= 1e-3 * here;
}

/* From a place that costs *least towards those beside it, `low` and `high`, by the middle of the wider side. */
static double narrow(tribo_sysid *s, int a, double place, double low, double high, double *least) {
    enum { HALVES = 8 };
    for (int k = 0; k < HALVES && !(s->stop && *s->stop); k++) {
        bool down = place - low > high - place;
        double next = (place + (down ? low : high)) / 2, cost = cost_at(s, a, next);
        bool better = cost < *least;
        if (down == better)
            high = better ? place : next;
        else
            low = better ? place : next;
        if (better) place = next, *least = cost;
    }
    return place;
}

/* Between a place where it moves nothing and one where it does, and costs more: what costs least on the way to where
 * that begins. Friction of what only just slips is close to it. */
static double at_edge(tribo_sysid *s, int a, double silent, double loud, double here, double *least) {
    enum { HALVES = 8 };
    double place = s->theta[a], low = ti_min(silent, loud), high = ti_max(silent, loud);
    for (int k = 0; k < HALVES && !(s->stop && *s->stop); k++) {
        double middle = (silent + loud) / 2, cost = cost_at(s, a, middle);
        if (cost < *least) *least = cost, place = middle;
        if (moves_nothing(cost, here))
            silent = middle;
        else
            loud = middle;
    }
    return *least < here ? narrow(s, a, place, low, high, least) : place;
}

/* The place along the range of number a that costs least, if that is less than what it costs here. docs/math.md
 * eq. (495). */
static double cheapest(tribo_sysid *s, int a, double here, double *least) {
    double low, high, cost[TI_PLACES], place[TI_PLACES + 2];
    int best = -1;
    ti_shooting_searches(s, a, &low, &high);
    place[0] = low, place[TI_PLACES + 1] = high, *least = here;
    for (int j = 0; j < TI_PLACES && !(s->stop && *s->stop); j++) {
        place[j + 1] = ti_shooting_place(s, a, j, low, high);
        cost[j] = cost_at(s, a, place[j + 1]);
        if (cost[j] < *least && !moves_nothing(cost[j], here)) *least = cost[j], best = j;
    }
    if (s->stop && *s->stop) return s->theta[a];
    if (best >= 0) return narrow(s, a, place[best + 1], place[best], place[best + 2], least);
    for (int j = 1; j < TI_PLACES; j++) {
        bool before = moves_nothing(cost[j - 1], here), after = moves_nothing(cost[j], here);
        if (before == after) continue;
        return at_edge(s, a, place[before ? j : j + 1], place[before ? j + 1 : j], here, least);
    }
    return s->theta[a];
}

/* What motions cost at s->trial, their starts fitted again from where they are; much where they cost that before. */
static tribo_status cost_led(tribo_sysid *s, double much, double *cost) {
    *cost = cost_from_here(s, s->trial);
    if (!(*cost < much)) return TRIBO_OK;
    tribo_sysid_map_jac(s, s->trial, s->P);
    tribo_status status = ti_shooting_lead(s);
    *cost = status < 0 ? HUGE_VAL : ti_path_sum(s, false);
    return status == TI_STOPPED || status == TRIBO_E_NOMEM ? status : TRIBO_OK;
}

/* The same where starts follow: those of an answer that is nearly right suit its numbers, and cost more with others. */
static tribo_status cheapest_led(tribo_sysid *s, int a, double *place, double *least) {
    const double near = 300; /* above twice what they cost as they are: at the right number they may cost that, too */
    double low, high, much = 2 * s->shooting->cost + near, cost;
    tribo_status status = ti_shooting_keep(s), back;
    if (!ti_shooting_searches(s, a, &low, &high)) return status;
    for (int j = -1; j < TI_PLACES && status >= 0; j++) { /* first where the plain look has ended */
        memcpy(s->trial, s->theta, (size_t)s->nfree * sizeof(double));
        s->trial[a] = j < 0 ? *place : ti_shooting_place(s, a, j, low, high);
        status = cost_led(s, much, &cost);
        if (status >= 0 && cost < *least) *least = cost, *place = s->trial[a];
        back = ti_shooting_back(s);
        if (status >= 0 && back < 0) status = back;
        ti_at(s, s->theta);
    }
    return status < 0 ? status : ti_shooting_curvature(s);
}

/* A number that moves nothing where a fit has ended, as friction does where all sticks, has no slope to follow: along
 * the whole of its range, is there anything better? That is another start then; where hopes are gone, if it is much
 * better. */
static tribo_status scan(tribo_sysid *s, bool *found) {
    const double gain = s->shooting->hopeless ? 0.3 : 0.02;
    double here = cost_from_here(s, s->theta), most = (1 - gain) * here, low, high;
    *found = false;
    for (int a = 0; a < s->nfree; a++) {
        if (s->H[(size_t)a * (size_t)(s->nfree + 1)] >= 1 || !ti_shooting_searches(s, a, &low, &high)) continue;
        double least, place = cheapest(s, a, here, &least);
        if (s->stop && *s->stop) return TRIBO_INTERRUPTED;
        if (!(least < most)) {
            tribo_status status = cheapest_led(s, a, &place, &least);
            if (status < 0) return status;
        }
        if (!(least < most)) continue;
        most = least, *found = true;
        memcpy(s->step, s->theta, (size_t)s->nfree * sizeof(double));
        s->step[a] = place;
    }
    if (*found) add_start(s, s->step, false);
    return TRIBO_OK;
}

/* Add the best of the candidates to h->start. With kicks after it the given start, unless that begins much worse;
 * without it was there first. */
static tribo_status search(tribo_sysid *s, bool kicked) {
    struct ti_shooting *h = s->shooting;
    size_t n = (size_t)s->nfree;
    int want = s->search < CANDIDATES_MAX ? s->search : CANDIDATES_MAX;
    double least = HUGE_VAL, *best = s->step;
    memcpy(h->noise, h->noise_shown, 2 * (size_t)s->ngroup * sizeof *h->noise);
    h->horizon = 0;
    ti_shooting_reach(s);
    ti_scales_weigh(s);
    for (int c = 1; c <= want; c++) {
        if (s->stop && *s->stop) return TRIBO_INTERRUPTED;
        if (!candidate(s, c, s->trial)) break;
        double cost = first_cost(s, s->trial, kicked);
        if (!(cost < least)) continue;
        least = cost;
        memcpy(best, s->trial, n * sizeof(double));
    }
    if (!kicked) {
        if (isfinite(least)) add_start(s, best, false);
        return TRIBO_OK;
    }
    double given = isfinite(least) ? first_cost(s, s->start_theta, kicked) : 0;
    bool better = least < given - 1; /* less says nothing */
    if (!better) add_start(s, s->start_theta, kicked);
    if (better || (isfinite(least) && least > given + 1)) add_start(s, best, kicked);
    if (better && given < 1.2 * least) add_start(s, s->start_theta, kicked);
    return TRIBO_OK;
}

/* Are two ends the same, as far as the recordings can tell? */
static bool same(const tribo_sysid *s, const double *a, const double *b) {
    for (int i = 0; i < s->nfree; i++) {
        double off = a[i] - b[i], error = sqrt(s->shooting->cov[(size_t)i * (size_t)(s->nfree + 1)]);
        if (fabs(off) > 3 * error + 1e-6) return false;
    }
    return true;
}

/* Note where a fit from a start has ended, and what the ends so far say. */
static void note(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    size_t n = (size_t)s->nfree;
    memcpy(h->end + (size_t)h->run * n, s->theta, n * sizeof(double));
    h->end_value[h->run] = h->evidence;
    if (h->run == 0 || h->evidence < h->end_value[h->best]) {
        h->best = h->run;
        for (int i = 0; i < s->nrec; i++)
            memcpy(h->path[i].best, h->path[i].x + (size_t)s->track[i].first * (size_t)s->z.nx,
                   (size_t)s->z.nx * sizeof(double));
    }
    s->progress.starts = h->run + 1, s->progress.agreed = 0, s->progress.second = HUGE_VAL;
    for (int i = 0; i <= h->run; i++) {
        bool as_best = i == h->best || same(s, h->end + (size_t)i * n, h->end + (size_t)h->best * n);
        s->progress.agreed += as_best;
        double off = (h->end_value[i] - h->end_value[h->best]) / 2;
        if (!as_best && off < s->progress.second) s->progress.second = off;
    }
    h->run++;
}

static void clear(tribo_sysid *s, const double *theta) {
    s->shooting->rounds = s->shooting->draws = 0;
    for (int i = 0; i < 2 * s->nfree; i++) s->shooting->wide[i] = 1;
    memcpy(s->theta, theta, (size_t)s->nfree * sizeof(double));
}

static tribo_status begin_at(tribo_sysid *s, const double *theta, bool kicked, bool growing) {
    clear(s, theta);
    return ti_shooting_begin(s, kicked, growing);
}

/* The best end again: its motions, not others that its parameters may have, too. */
static tribo_status begin_at_best(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    const double *theta = h->end + (size_t)h->best * (size_t)s->nfree;
    if (h->kicked[h->best]) return begin_at(s, theta, true, true);
    clear(s, theta);
    return ti_shooting_return(s);
}

static tribo_status begin_run(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    return begin_at(s, h->start + (size_t)h->run * (size_t)s->nfree, h->kicked[h->run], true);
}

/* The best of the ends again, unless it is the one that has just been reached. */
static tribo_status finish(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    if (!h->back && h->best != h->run - 1) {
        h->back = true;
        return begin_at_best(s);
    }
    if (!h->hopped && s->search > 0 && !h->kicked[h->best] && h->explained && !ti_all_free(s->m)) {
        bool smooth;
        tribo_status status = ti_shooting_smooth(s, &smooth);
        h->hopped = true, h->hopping = status >= 0 && !smooth;
        if (status < 0 || h->hopping) return status;
    }
    if (s->search > 0 && !h->kicked[h->best] && h->explained && ti_all_free(s->m)) {
        tribo_status status = ti_shooting_elsewhere(s);
        if (status < 0) return status;
    }
    s->progress.stage = TRIBO_STAGE_DONE;
    s->progress.converged = h->converged, s->progress.settled = !h->converged;
    return ti_shooting_other_rows(s);
}

/* From far off, joints can end in a motion that is not the recorded one, with masses to suit it: another start near the
 * given one, within half a factor e. */
static tribo_status anew(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    ti_random dice = {s->seed + 1000003u * (uint64_t)++h->anew};
    for (int i = 0; i < s->nfree; i++) s->trial[i] = s->start_theta[i] + ti_random_uniform(&dice) - 0.5;
    ti_maps_clamp(s, s->trial);
    h->nstart = h->run, h->hopeless = false;
    add_start(s, s->trial, false);
    return begin_run(s);
}

/* Read through an instrument that is tilted, what lies on the floor begins in it, or above it, and lands in a way that
 * nothing else has said. Once gain and bias are near what they are, it is seen to lie there. */
static bool stands_otherwise(tribo_sysid *s) {
    bool any = false;
    if (!s->ncolumn || s->shooting->stood == STANDS_MAX) return false;
    ti_at(s, s->theta);
    for (int i = 0; i < s->nrec; i++) any |= ti_stand_again(s->worker, s->track + i, s->p);
    s->shooting->stood += any;
    return any;
}

/* A fit has ended: the next start; where rollouts explain the recordings, the end; where they do not, fits with kicks,
 * and without again where these are few. */
static tribo_status next(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    size_t n = (size_t)s->nfree;
    bool kicked;
    if (h->back) return finish(s);
    if (stands_otherwise(s)) {
        memcpy(s->trial, s->theta, n * sizeof(double));
        return begin_at(s, s->trial, h->kicked[h->run], true);
    }
    if (h->plain) {
        bool better = h->evidence <= h->end_value[h->best];
        h->plain = false, h->back = better;
        if (better) return finish(s);
        h->back = true;
        return begin_at_best(s);
    }
    if (!h->kicked[h->run] && !h->explained && !h->hopeless && h->draws < DRAWS_MAX) {
        bool found = false;
        tribo_status status = ti_shooting_draw(s, &found);
        h->draws++, h->rounds = 0;
        if (status < 0 || found) return status;
    }
    if (!h->kicked[h->run] && (h->explained || h->nearly) && h->sought < SEEKS_MAX && ti_all_free(s->m)) {
        bool found = false;
        tribo_status status = ti_shooting_seek(s, &found);
        h->sought++, h->rounds = h->still = h->waited = 0;
        if (status < 0 || found) return status;
    }
    if (!h->kicked[h->run] && h->explained && h->looked < LOOKS_MAX && ti_all_free(s->m)) {
        bool found = false;
        tribo_status status = ti_shooting_doubt(s, &found);
        h->looked++, h->rounds = h->still = h->waited = 0;
        if (status < 0 || found) return status;
    }
    if (!h->kicked[h->run] && !h->explained && h->nstart < TI_STARTS_MAX - 3) {
        bool found = false;
        tribo_status status = scan(s, &found);
        if (status) return status;
        h->hopeless &= !found;
    }
    note(s);
    kicked = h->kicked[h->run - 1];
    h->near |= !kicked && h->nearly;
    if (!kicked && h->explained) return finish(s);
    if (!kicked && !h->near && !h->hopeless && h->run == 1) {
        tribo_status status = search(s, false);
        if (status) return status;
    }
    if (h->run < h->nstart && !(h->hopeless && !h->kicked[h->run])) return begin_run(s);
    if (!kicked && !h->near && h->anew < ANEW_MAX && !ti_all_free(s->m)) return anew(s);
    if (!kicked && h->near) return finish(s);
    if (!kicked) {
        memcpy(s->trial, h->end + (size_t)h->best * n, n * sizeof(double));
        h->nstart = h->run;
        if (!h->hopeless) add_start(s, s->trial, true);
        tribo_status status = search(s, true);
        return status ? status : begin_run(s);
    }
    const double few = 0.1 * h->kicks + 20;
    if (h->best == h->run - 1 && h->known > 0 && h->known < few) {
        h->plain = true, h->rounds = h->still = 0;
        s->kick[TI_KICK_LINEAR] = s->kick[TI_KICK_ANGULAR] = 0;
        ti_scales_weigh(s);
        return TRIBO_OK;
    }
    return finish(s);
}

/* Where predictions start; of rollouts there is nothing left to be estimated of that. */
static void keep_starts(tribo_sysid *s) {
    const struct ti_shooting *h = s->shooting;
    bool rolls = !ti_kicked(s);
    ti_at(s, s->theta);
    for (int i = 0; i < s->nrec; i++) {
        ti_track *t = s->track + i;
        const double *x = h->path[i].x + (size_t)t->first * (size_t)s->z.nx;
        if (t->held_out) continue;
        memcpy(t->x0, x, (size_t)s->z.nx * sizeof *x);
        t->solved = rolls ? ti_asked(s) : 0;
    }
}

/* What comes after an impact is compared once what goes before it fits: from far off, a motion that is compared to its
 * end follows the wrong one of several. */
static void reach_further(tribo_sysid *s) {
    const double factor = 1.5;
    struct ti_shooting *h = s->shooting;
    h->horizon *= factor, h->stage = h->rounds = h->still = h->waited = 0;
    ti_shooting_reach(s);
    s->lambda = s->lambda < 1e-3 ? s->lambda : 1e-3;
}

/* A few rows that fit as well as they can, or will in all the rounds that a fit has, leave far more than noise: no
 * motion without kicks will follow all of them. What that says of the parameters is no start for fits with kicks
 * either. */
static bool give_up(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    double least = ti_scales_misfit(s) * (h->gains ? pow(1 - h->rate, ROUNDS_MAX) : 1);
    if (least < TI_HOPELESS) return false;
    h->evidence = HUGE_VAL, h->hopeless = true;
    return true;
}

/* Once there are no more, the best again. */
static tribo_status hop(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    tribo_status status = ti_shooting_hop(s, &h->hopping);
    if (status < 0 || h->hopping) return status;
    h->back = true, h->rounds = 0;
    return begin_at_best(s);
}

tribo_status ti_shooting_iterate(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    bool done = false;
    tribo_status status = TRIBO_OK;
    if (!h->begun) {
        ti_scales_init(s);
        add_start(s, s->start_theta, false);
        status = begin_run(s);
        if (status) return status;
    }
    if (h->hopping) return hop(s);
    status = ti_shooting_step(s, &done);
    if (!status && done) status = ti_shooting_put_back(s);
    if (status) return status;
    s->progress.loss = h->cost / 2, s->progress.loss_start = (double)NAN;
    keep_starts(s);
    if (h->horizon > 0 && give_up(s)) return next(s);
    if (h->horizon > 0) {
        if (done || !h->gains || ++h->stage >= STAGE_MAX) reach_further(s);
        return TRIBO_OK;
    }
    return done || ++h->rounds >= ROUNDS_MAX ? next(s) : TRIBO_OK;
}
