/* other.c -- other starts for a motion without kicks that leaves more than noise: led along its recording, or drawn.
 * docs/math.md, Multiple shooting. */
#include "sysid/kicked/kicked.h"

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

double ti_path_plain(ti_worker *w, int track, const double *p, double most) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    ti_path *path = s->shooting->path + track;
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

tribo_status ti_path_draw(ti_worker *w, int track, const double *p) {
    enum { ROUNDS = 5, DRAWS = 16 };
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    ti_path *path = s->shooting->path + track;
    ti_random random = {s->seed + 0x9e3779b97f4a7c15u * (uint64_t)(track + 1)};
    size_t at = (size_t)t->first * (size_t)s->z.nx;
    double share = 1, least = path->cost;
    for (int round = 0; round < ROUNDS; round++, share /= 2)
        for (int i = 0; i < DRAWS; i++) {
            if (ti_stopped(s)) return TI_STOPPED;
            if (!draw_start(w, t, p, !round && i % 2 ? path->prior : path->x + at, share, &random)) continue;
            double cost = ti_path_plain(w, track, p, least), *x = path->x;
            if (!(cost < least)) continue;
            least = cost;
            path->x = path->xtry, path->xtry = x;
        }
    path->cost = least;
    return TRIBO_OK;
}

/* ---- a start that is led along its recording ---- */

/* As ti_path_settle(), given up where a pass has gained less than a third of what is left to `target`. */
static tribo_status settle_towards(ti_worker *w, int track, const double *p, const double *P, double target) {
    enum { PASSES = 5 };
    const tribo_sysid *s = w->s;
    ti_path *path = s->shooting->path + track;
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
        if (before - path->cost < 0.01 * before + 1 || 3 * (before - path->cost) < path->cost - target) break;
    }
    return TRIBO_OK;
}

tribo_status ti_path_settle(ti_worker *w, int track, const double *p, const double *P) {
    return settle_towards(w, track, p, P, HUGE_VAL);
}

static void exchange_kept(ti_path *path) {
    ti_path_exchange(path, &path->xkept, &path->wkept, &path->touch_kept);
}

tribo_status ti_path_catch_up(ti_worker *w, int track, const double *p, const double *P) {
    ti_path *path = w->s->shooting->path + track;
    const double much = 4; /* twice a logarithm of likelihood; less is not what a step fails by */
    double before = path->cost;
    if (!(path->cost_try > before + much) || !isfinite(path->cost_try)) return TRIBO_OK;
    exchange_kept(path);
    ti_path_accept(path);
    path->settled = true;
    tribo_status status = ti_path_settle(w, track, p, P);
    double after = path->cost;
    ti_path_accept(path); /* into xtry */
    exchange_kept(path);
    path->cost = before, path->cost_try = after;
    return status == TI_STOPPED || status == TRIBO_E_NOMEM ? status : TRIBO_OK;
}

tribo_status ti_path_grow(ti_worker *w, int track, const double *p, const double *P) {
    const double factor = 1.4;
    const tribo_sysid *s = w->s;
    ti_track *t = s->track + track;
    ti_path *path = s->shooting->path + track;
    size_t nx = (size_t)s->z.nx, at = (size_t)t->first * nx;
    double before = path->cost;
    tribo_status status = TRIBO_OK;
    memcpy(t->kept, path->x + at, nx * sizeof(double));
    memcpy(path->x + at, path->prior, nx * sizeof(double));
    for (double rows = TI_GROW_FROM; status >= 0; rows *= factor) {
        path->end = t->first + (int)rows;
        status = ti_path_settle(w, track, p, P);
        if (path->end >= t->n) break;
    }
    path->end = t->n;
    if (status == TI_STOPPED || (status >= 0 && path->cost < before)) return status;
    memcpy(w->x, t->kept, nx * sizeof(double));
    path->cost = ti_path_plain(w, track, p, HUGE_VAL);
    memcpy(path->x + at, path->xtry + at, (ti_path_numbers(s, t->n) - at) * sizeof(double));
    return TRIBO_OK;
}

/* ---- neighbours of a fit ---- */

bool ti_path_beside(ti_worker *w, int track, const double *p, double share, ti_random *random) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    const ti_path *path = s->shooting->path + track;
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

tribo_status ti_path_near(ti_worker *w, int track, const double *p, const double *P, int draws) {
    const tribo_sysid *s = w->s;
    ti_track *t = s->track + track;
    ti_path *path = s->shooting->path + track;
    size_t nx = (size_t)s->z.nx, at = (size_t)t->first * nx;
    double least = path->cost;
    uint64_t which = (uint64_t)(s->progress.iteration + 1) * (uint64_t)s->nrec + (uint64_t)track;
    ti_random random = {s->seed + 0x9e3779b97f4a7c15u * which};
    tribo_status status = TRIBO_OK;
    for (int i = 0; i < draws && status >= 0; i++) {
        memcpy(t->kept, path->x + at, nx * sizeof(double));
        status = ti_path_linearise_start(w, track, p, P);
        if (status < 0) break;
        if (!ti_path_beside(w, track, p, i % 3 + 1, &random)) continue;
        memcpy(path->x + at, w->x, nx * sizeof(double));
        status = settle_towards(w, track, p, P, least);
        if (status == TI_STOPPED) break;
        bool better = status >= 0 && path->cost < least;
        if (better) least = path->cost;
        if (!better) memcpy(path->x + at, t->kept, nx * sizeof(double));
        status = TRIBO_OK;
    }
    return status < 0 ? status : ti_path_linearise_start(w, track, p, P);
}
