/* drawn.c -- other starts of motions without kicks that are drawn, and tried beside one another.
 * docs/math.md, Multiple shooting.
 *
 * Often one recording is left with more than the rest. So not recordings are dealt out but draws, which know nothing of
 * one another: each is tried aside, and the first of the best is taken.
 */
#include "sysid/kicked/kicked.h"

static double *drawn(const tribo_sysid *s, int track, int draw) {
    return s->shooting->path[track].drawn + (size_t)draw * ((size_t)s->z.nx + 1);
}

static void skip(ti_random *random, int normals) {
    for (int i = 0; i < normals; i++) (void)ti_random_normal(random);
}

/* The best of the starts that were drawn, where it is better. */
static void choose(const tribo_sysid *s, int track, int draws) {
    ti_path *path = s->shooting->path + track;
    for (int i = 0; i < draws; i++) {
        const double *one = drawn(s, track, i);
        if (!(one[0] < path->cost)) continue;
        path->cost = one[0], path->moved = true;
        memcpy(ti_path_first(s, track), one + 1, (size_t)s->z.nx * sizeof(double));
    }
}

/* The motion from the start that was taken. */
static tribo_status take_job(ti_worker *w, int i, void *context) {
    const tribo_sysid *s = w->s;
    ti_path *path = s->shooting->path + i;
    double *x = path->x;
    const tribo_status *before = context;
    if (s->track[i].held_out || !path->moved || *before < 0) return *before;
    memcpy(w->x, ti_path_first(s, i), (size_t)s->z.nx * sizeof(double));
    path->cost = ti_path_plain(w, i, s->p, HUGE_VAL);
    path->x = path->xtry, path->xtry = x;
    return TRIBO_OK;
}

/* So many draws for each motion that is sought; the best of them. */
static tribo_status deal_out(tribo_sysid *s, int draws, ti_part_job job, void *context) {
    int first, end, rank = 0;
    tribo_status status = ti_parallel_parts(s, draws, job, context);
    while (!ti_ranks_own(s, rank)) rank++;
    ti_ranks_share(s, rank, &first, &end);
    for (int i = first; i < end && status >= 0; i++)
        if (s->shooting->path[i].sought) choose(s, i, draws);
    return status;
}

static void none_moved(tribo_sysid *s) {
    for (int i = 0; i < s->nrec; i++) s->shooting->path[i].moved = false;
}

/* ---- near what the first rows say ---- */

/* Few at once, so that the next are around the best so far. */
enum { ROUNDS = 20, AT_ONCE = 4, EACH_SHARE = 16 };

/* A start near x0, as far away as the first rows let it be, times a share. */
static bool draw_start(ti_worker *w, const ti_track *t, const double *p, const double *x0, double share,
                       ti_random *random) {
    const tribo_sysid *s = w->s;
    memcpy(w->x, x0, (size_t)s->z.nx * sizeof *x0);
    for (int b = 0; b < ti_joints(s->m); b++) {
        const ti_joint *j = &s->m->joint[b];
        double pose[TI_POSE_TANGENT], v[TI_POSE_TANGENT], spread[TI_POSE_TANGENT];
        bool moves = !t->rest[b] && ti_local_fit(s, t, t->first, b, pose, v, spread) >= 0;
        for (int i = 0; i < ti_joint_of(j->kind)->nv; i++) {
            pose[i] = share * s->shooting->noise_shown[s->block[s->entry[j->v + i]].group] * ti_random_normal(random);
            double step = share * ti_random_normal(random);
            if (moves) ti_joint_velocity(s, j, w->x)[i] += step * spread[i];
        }
        ti_joint_move(j, pose, w->x);
    }
    return !t->nstand || ti_settle(w, t, p, w->x);
}

static tribo_status draw_job(ti_worker *w, int track, int draw, void *context) {
    const tribo_sysid *s = w->s;
    const ti_path *path = s->shooting->path + track;
    int round = *(const int *)context;
    double *one = drawn(s, track, draw), share = ldexp(1, -(round * AT_ONCE / EACH_SHARE));
    ti_random random = {s->seed + 0x9e3779b97f4a7c15u * (uint64_t)(track + 1)};
    if (s->track[track].held_out || !path->sought) return TRIBO_OK;
    if (ti_stopped(s)) return TI_STOPPED;
    one[0] = HUGE_VAL;
    skip(&random, (round * AT_ONCE + draw) * s->z.ndx);
    const double *from = share == 1 && draw % 2 ? path->prior : ti_path_first(s, track);
    if (!draw_start(w, s->track + track, s->p, from, share, &random)) return TRIBO_OK;
    memcpy(one + 1, w->x, (size_t)s->z.nx * sizeof *one);
    ti_path_step_aside(w, track);
    one[0] = ti_path_plain(w, track, s->p, path->cost);
    w->aside = NULL;
    return TRIBO_OK;
}

tribo_status ti_shooting_draw_starts(tribo_sysid *s) {
    tribo_status status = TRIBO_OK;
    none_moved(s);
    for (int round = 0; round < ROUNDS && status >= 0; round++) status = deal_out(s, AT_ONCE, draw_job, &round);
    return ti_parallel(s, TI_TELL_LOSS, take_job, &status);
}

/* ---- as far off as the recording leaves open ---- */

/* Does the motion from w->x cost what the slopes of the recording's own, which costs least around it, make of that
 * start? Then it leads back. Its own start is w->x no more. */
static bool leads_back(ti_worker *w, int track) {
    const double off = 0.03, little = 0.1; /* of the rise; twice a logarithm of likelihood */
    const tribo_sysid *s = w->s;
    const ti_path *own = s->shooting->path + track;
    size_t ndx = (size_t)s->z.ndx, row = ndx + (size_t)s->nfree + 1;
    double *dx = w->xnext, rise = 0;
    if (own->promise > little) return false;
    tribo_state_difference(s->m, ti_path_first(s, track), w->x, dx);
    for (size_t i = 0; i < ndx; i++)
        for (size_t j = 0; j < ndx; j++) rise += dx[i] * own->full[i * row + j] * dx[j];
    double cost = ti_path_plain(w, track, s->p, own->cost + (1 + off) * rise);
    return fabs(cost - own->cost - rise) < off * rise;
}

static tribo_status near_job(ti_worker *w, int track, int draw, void *context) {
    const tribo_sysid *s = w->s;
    const ti_path *path = s->shooting->path + track;
    size_t nx = (size_t)s->z.nx, at = (size_t)s->track[track].first * nx;
    uint64_t which = (uint64_t)(s->progress.iteration + 1) * (uint64_t)s->nrec + (uint64_t)track;
    ti_random random = {s->seed + 0x9e3779b97f4a7c15u * which};
    double *one = drawn(s, track, draw);
    tribo_status status = TRIBO_OK;
    (void)context;
    if (s->track[track].held_out || !path->sought) return TRIBO_OK;
    one[0] = HUGE_VAL;
    skip(&random, draw * s->z.ndx);
    if (!ti_path_beside(w, track, s->p, draw % 3 + 1, &random)) return TRIBO_OK;
    memcpy(one + 1, w->x, nx * sizeof *one);
    ti_path_step_aside(w, track);
    if (!leads_back(w, track)) {
        memcpy(w->aside->x + at, one + 1, nx * sizeof *one);
        status = ti_path_settle_towards(w, track, s->p, s->P, path->cost);
        one[0] = status < 0 ? HUGE_VAL : w->aside->cost;
        memcpy(one + 1, w->aside->x + at, nx * sizeof *one);
    }
    w->aside = NULL;
    return status == TI_STOPPED || status == TRIBO_E_NOMEM ? status : TRIBO_OK;
}

/* What a recording leaves open of its start. */
static tribo_status open_job(ti_worker *w, int i, void *context) {
    (void)context;
    return w->s->shooting->path[i].sought ? ti_path_linearise_start(w, i, w->s->p, w->s->P) : TRIBO_OK;
}

tribo_status ti_shooting_near(tribo_sysid *s) {
    enum { NEIGHBOURS = 8 };
    none_moved(s);
    tribo_status status = ti_parallel(s, TI_TELL_LOSS, open_job, NULL);
    if (status < 0) return status;
    status = deal_out(s, NEIGHBOURS, near_job, NULL);
    return ti_parallel(s, TI_TELL_LOSS, take_job, &status);
}
