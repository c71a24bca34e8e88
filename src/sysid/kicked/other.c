/* other.c -- other starts for a motion without kicks that leaves more than noise, led along its recording.
 * docs/math.md, Multiple shooting. */
#include "sysid/kicked/kicked.h"

double ti_path_plain(ti_worker *w, int track, const double *p, double most) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    ti_path *path = ti_path_of(w, track);
    size_t nx = (size_t)s->z.nx;
    double cost = ti_path_start_cost(w, path, w->x);
    for (int k = t->first, end = ti_path_end(t, path); k < end; k++) {
        memcpy(path->xtry + (size_t)k * nx, w->x, nx * sizeof(double));
        ti_path_add_cost(w, track, k, path->xtry, path->w, path->touch, &cost);
        if (k == end - 1) break;
        if (cost > most) return HUGE_VAL;
        if (ti_advance(w, t, k, p) < 0) return HUGE_VAL;
        ti_plates_keep(w, t, k, ti_path_forces(s, t, path->xtry));
    }
    return isfinite(cost) ? cost : HUGE_VAL;
}

/* ---- a start that is led along its recording ---- */

/* What is left to be gained after a pass that promised so much and gained so much: about what it missed by, and little
 * of a step that kept its promise. */
static double left_to_gain(double promise, double gain) {
    return 2 * fabs(promise - gain) + 1e-3 * gain;
}

/* Is it vain to go on? Where the next passes will gain too little, and where a pass has gained less than a third of
 * what is left to `target`. */
static bool enough(double before, double after, double promise, double target) {
    const double little = 0.1; /* twice a logarithm of likelihood */
    double gain = before - after, left = left_to_gain(promise, gain);
    return gain < 0.01 * before + 1 || left < little || 3 * gain < after - target || left < after - target;
}

tribo_status ti_path_settle_towards(ti_worker *w, int track, const double *p, const double *P, double target) {
    enum { PASSES = 5 };
    const tribo_sysid *s = w->s;
    ti_path *path = ti_path_of(w, track);
    double lambda = 1e-3, unused = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        tribo_status status = ti_path_linearise_start(w, track, p, P);
        if (status < 0) return status;
        double before = path->cost;
        ti_path_damp(s, path, lambda, &unused);
        status = ti_path_follow(w, track, p, NULL, before);
        if (status == TI_STOPPED) return status;
        if (status < 0 || !(path->cost_try < before)) {
            lambda *= 30;
            continue;
        }
        ti_path_accept(path);
        lambda *= 0.1;
        if (enough(before, path->cost, path->promise, target)) break;
    }
    return TRIBO_OK;
}

tribo_status ti_path_settle(ti_worker *w, int track, const double *p, const double *P) {
    return ti_path_settle_towards(w, track, p, P, HUGE_VAL);
}

static void copy_motion(const tribo_sysid *s, const ti_track *t, const double *x, const double *kick, const bool *touch,
                        double *to_x, double *to_kick, bool *to_touch) {
    memcpy(to_x, x, ti_path_numbers(s, t->n) * sizeof *x);
    memcpy(to_kick, kick, (size_t)t->n * (size_t)s->z.nv * sizeof *kick);
    memcpy(to_touch, touch, (size_t)t->n * sizeof *touch);
}

/* Aside, so that the slopes of the motion as it is stay what they are. */
tribo_status ti_path_catch_up(ti_worker *w, int track, const double *p, const double *P) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    const double much = 4; /* twice a logarithm of likelihood; less is not what a step fails by */
    ti_path *own = ti_path_of(w, track);
    if (!(own->cost_try > own->cost + much) || !isfinite(own->cost_try)) return TRIBO_OK;
    ti_path_step_aside(w, track);
    ti_path *aside = w->aside;
    copy_motion(s, t, own->xtry, own->wtry, own->touch_try, aside->x, aside->w, aside->touch);
    aside->cost = own->cost_try;
    tribo_status status = ti_path_settle(w, track, p, P);
    copy_motion(s, t, aside->x, aside->w, aside->touch, own->xtry, own->wtry, own->touch_try);
    own->cost_try = aside->cost;
    w->aside = NULL;
    return status == TI_STOPPED || status == TRIBO_E_NOMEM ? status : TRIBO_OK;
}

/* Where the first rows lead to at p, with noise as it is. */
static uint64_t led_from(const tribo_sysid *s, const ti_path *path) {
    uint64_t asked = tribo_hash(s->shooting->noise, 2 * (size_t)s->ngroup, ti_asked(s));
    return tribo_hash(path->prior, (size_t)s->z.nx, asked) | 1;
}

static tribo_status lead(ti_worker *w, int track, const double *p, const double *P) {
    const double factor = 1.4;
    ti_path *path = ti_path_of(w, track);
    const ti_track *t = w->s->track + track;
    tribo_status status = TRIBO_OK;
    for (double rows = TI_GROW_FROM; status >= 0; rows *= factor) {
        path->end = t->first + (int)rows;
        status = ti_path_settle(w, track, p, P);
        if (path->end >= t->n) break;
    }
    path->end = t->n;
    return status;
}

tribo_status ti_path_grow(ti_worker *w, int track, const double *p, const double *P) {
    const tribo_sysid *s = w->s;
    ti_track *t = s->track + track;
    ti_path *path = ti_path_of(w, track);
    size_t nx = (size_t)s->z.nx, at = (size_t)t->first * nx;
    double before = path->cost;
    uint64_t led = led_from(s, path);
    if (led == path->led && !(path->led_cost < before)) return TRIBO_OK;
    path->led = 0;
    memcpy(t->kept, path->x + at, nx * sizeof(double));
    memcpy(path->x + at, path->prior, nx * sizeof(double));
    tribo_status status = lead(w, track, p, P);
    if (status == TI_STOPPED) return status;
    path->led = led, path->led_cost = status < 0 ? HUGE_VAL : path->cost;
    if (path->led_cost < before) return TRIBO_OK;
    memcpy(w->x, t->kept, nx * sizeof(double));
    path->cost = ti_path_plain(w, track, p, HUGE_VAL);
    memcpy(path->x + at, path->xtry + at, (ti_path_numbers(s, t->n) - at) * sizeof(double));
    return TRIBO_OK;
}

/* ---- neighbours of a fit ---- */

bool ti_path_beside(ti_worker *w, int track, const double *p, double share, ti_random *random) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    const ti_path *path = ti_path_of(w, track);
    size_t ndx = (size_t)s->z.ndx;
    double *xi = w->r, *dx = w->xnext;
    for (size_t i = ndx; i-- > 0;) {
        xi[i] = share * ti_random_normal(random);
        for (size_t k = i + 1; k < ndx; k++) xi[i] -= path->start_chol[k * ndx + i] * xi[k];
        xi[i] /= path->start_chol[i * ndx + i];
    }
    for (size_t i = 0; i < ndx; i++) {
        dx[i] = 0;
        for (size_t j = 0; j < ndx; j++) dx[i] += path->T[i * ndx + j] * xi[j];
    }
    tribo_state_add(s->m, path->x + (size_t)t->first * (size_t)s->z.nx, dx, w->x);
    return !t->nstand || ti_settle(w, t, p, w->x);
}
