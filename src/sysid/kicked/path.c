/* path.c -- a kicked motion: its first guess, its cost, and a new one for other parameters. docs/math.md eq.
 * (147)-(149). */
#include "sysid/kicked/kicked.h"

void ti_path_carve(ti_arena *a, ti_path *path, const tribo_sysid *s, int nfree, int rows) {
    const tribo_sizes *z = &s->z;
    size_t n = (size_t)rows, nx = (size_t)z->nx, nv = (size_t)z->nv, ndx = (size_t)z->ndx, nf = (size_t)nfree;
    size_t nd = ndx + nf;
    TI_CARVE(a, path->x, ti_path_numbers(s, rows));
    TI_CARVE(a, path->xtry, ti_path_numbers(s, rows));
    TI_CARVE(a, path->w, n * nv);
    TI_CARVE(a, path->wtry, n * nv);
    TI_CARVE(a, path->Phi, n * ndx * nd);
    TI_CARVE(a, path->Psi, n * 3 * (size_t)s->nplate * nd);
    TI_CARVE(a, path->gain, n * nv * (nd + 1));
    TI_CARVE(a, path->chol, n * nv * nv);
    TI_CARVE(a, path->left, n);
    TI_CARVE(a, path->S, (nd + 1) * (nd + 1));
    TI_CARVE(a, path->start, ndx * (nf + 1));
    TI_CARVE(a, path->start_chol, ndx * ndx);
    TI_CARVE(a, path->T, ndx * ndx);
    TI_CARVE(a, path->X0, nf * ndx);
    TI_CARVE(a, path->prior, nx);
    TI_CARVE(a, path->best, nx);
    TI_CARVE(a, path->roaming, nx);
    TI_CARVE(a, path->full, nd * (nd + 1));
    TI_CARVE(a, path->H, nf * nf);
    TI_CARVE(a, path->g, nf);
    TI_CARVE(a, path->cov, n * ndx * ndx);
    TI_CARVE(a, path->touch, n);
    TI_CARVE(a, path->touch_try, n);
    TI_CARVE(a, path->linear, ti_path_numbers(s, rows));
    TI_CARVE(a, path->touch_linear, n);
    TI_CARVE(a, path->aside_x, s->rows_chosen ? ti_path_numbers(s, rows) : 0);
    TI_CARVE(a, path->aside_w, s->rows_chosen ? n * nv : 0);
    TI_CARVE(a, path->aside_prior, nx);
    TI_CARVE(a, path->aside_touch, n);
    TI_CARVE(a, path->drawn, TI_DRAWS * (nx + 1));
}

void ti_path_step_aside(ti_worker *w, int track) {
    const tribo_sysid *s = w->s;
    const ti_path *own = s->shooting->path + track;
    ti_path *aside = s->shooting->aside + (w - s->worker);
    memcpy(aside->prior, own->prior, (size_t)s->z.nx * sizeof(double));
    aside->end = own->end, aside->motion = 0;
    w->aside = aside;
}

void ti_path_told(tribo_sysid *s, int track, ti_tell tell, ti_parcel *p) {
    ti_path *path = s->shooting->path + track;
    ti_noise_sums *sums = s->shooting->sums + track;
    const ti_track *t = s->track + track;
    size_t n = (size_t)s->nfree, nx = (size_t)s->z.nx, nd = (size_t)s->z.ndx + n, at = (size_t)t->first * nx;
    size_t rows = (size_t)t->n;
    ti_track_told(s, track, tell, p);
    TI_PUT(p, &path->cost, 1), TI_PUT(p, &path->cost_try, 1), TI_PUT(p, &path->logdet, 1);
    TI_PUT(p, path->x + at, nx), TI_PUT(p, path->xtry + at, nx);
    if (tell >= TI_TELL_SLOPES) {
        TI_PUT(p, path->full, nd * (nd + 1)), TI_PUT(p, path->H, n * n), TI_PUT(p, path->g, n);
        TI_PUT(p, sums->square, 2 * s->ngroup), TI_PUT(p, sums->freedom, 2 * s->ngroup);
        TI_PUT(p, sums->kick, TI_KICK_KINDS), TI_PUT(p, sums->known, TI_KICK_KINDS), TI_PUT(p, &sums->nkick, 1);
    }
    if (tell < TI_TELL_ROWS) return;
    TI_PUT(p, path->prior, nx), TI_PUT(p, path->touch, rows);
    TI_PUT(p, path->x, ti_path_numbers(s, t->n)), TI_PUT(p, path->w, rows * (size_t)s->z.nv);
}

/* Nothing acts in flight but what the model knows, so kicks there would only take from gravity what it says. */
bool ti_path_node(const tribo_sysid *s, const ti_track *t, const bool *touch, int row) {
    const double *size = s->kick;
    int since = row - t->first;
    bool touched = false;
    if (since <= 0 || row >= t->n - 1 || since % s->window || !(size[0] > 0 || size[1] > 0)) return false;
    for (int j = row - s->window; j < row; j++) touched |= touch[j];
    return touched;
}

void ti_path_kick(const tribo_sysid *s, const ti_track *t, const bool *touch, int row, double *kick) {
    bool node = ti_path_node(s, t, touch, row);
    for (int i = 0; i < s->z.nv; i++)
        if (!node || !(s->kick[ti_kind_at(s, i)] > 0)) kick[i] = 0;
}

/* Twice the negative logarithm of the prior of the start. */
double ti_path_start_cost(ti_worker *w, const ti_path *path, const double *x0) {
    const tribo_sysid *s = w->s;
    double sum = 0;
    tribo_state_difference(s->m, path->prior, x0, w->r);
    for (int i = 0; i < s->z.ndx; i++) {
        double r = w->r[i] / s->shooting->prior[ti_kind_at(s, i)];
        sum += r * r;
    }
    return sum;
}

static double row_cost(ti_worker *w, const ti_track *t, int row, const double *x) {
    const tribo_sysid *s = w->s;
    const double *weight = t->w + (size_t)row * (size_t)s->z.ndx;
    double sum = ti_marked_cost(w, t, row, x);
    ti_residual(s, t, row, x, w->r);
    for (int i = 0; i < s->nblock; i++) {
        const ti_block *b = &s->block[i];
        double square = 0, slope;
        if (!ti_block_counts(b, weight) || ti_derived(s, t, row, i)) continue;
        for (int k = b->at; k < b->at + b->n; k++) square += w->r[k] * w->r[k];
        sum += ti_rho(s, b->group, square, &slope);
    }
    return sum;
}

double ti_kick_rho(const tribo_sysid *s, const double *kick, const ti_block *b, double sigma, double *weight) {
    const double *w = kick + (b->at - s->z.nv), nu = 2; /* rare large ones among small: impacts */
    double square = 0;
    for (int i = 0; i < b->n; i++) square += w[i] * w[i];
    square /= sigma * sigma;
    *weight = (nu + b->n) / (nu + square);
    return (nu + b->n) * log1p(square / nu);
}

static double kick_cost(const tribo_sysid *s, const double *kick) {
    double sum = 0, weight;
    for (int i = 0; i < s->nblock; i++) {
        const ti_block *b = &s->block[i];
        double size = b->kind < TRIBO_BLOCK_VELOCITY ? 0 : s->kick[b->kind - TRIBO_BLOCK_VELOCITY];
        if (size > 0) sum += ti_kick_rho(s, kick, b, size, &weight);
    }
    return sum;
}

void ti_path_add_cost(ti_worker *w, int track, int row, double *x, const double *kick, const bool *touch,
                      double *cost) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    *cost +=
        row_cost(w, t, row, x + (size_t)row * (size_t)s->z.nx) + ti_pressed_cost(w, t, row, ti_path_forces(s, t, x));
    if (ti_path_node(s, t, touch, row)) *cost += kick_cost(s, kick + (size_t)row * (size_t)s->z.nv);
}

double ti_path_cost(ti_worker *w, int track, double *x, const double *kick, const bool *touch) {
    const ti_track *t = w->s->track + track;
    const ti_path *path = ti_path_of(w, track);
    double sum = ti_path_start_cost(w, path, x + (size_t)t->first * (size_t)w->s->z.nx);
    for (int k = t->first; k < ti_path_end(t, path); k++) ti_path_add_cost(w, track, k, x, kick, touch, &sum);
    return sum;
}

/* ---- the first guess ---- */

/* Kick at a row towards the velocity that the neighbours show and the pose two rows on; no more than noise leaves in
 * doubt, so that what rests is not thrown up. */
static void kick_to_follow(ti_worker *w, const ti_track *t, int row, double *kick) {
    const tribo_sysid *s = w->s;
    const double doubt = 2;
    int reach = row + (s->window > 2 ? s->window : 2);
    double ahead = t->time[reach < t->n ? reach : t->n - 1] - t->time[row];
    for (int b = 0; b < ti_joints(s->m); b++) {
        const ti_joint *j = &s->m->joint[b];
        double pose[TI_POSE_TANGENT], v[TI_POSE_TANGENT], spread[TI_POSE_TANGENT], off[TI_POSE_TANGENT];
        const double *now = ti_joint_velocity(s, j, w->x);
        if (ti_local_fit(s, t, row, b, pose, v, spread) < 0) continue;
        memcpy(w->x0, t->x + (size_t)row * (size_t)s->z.nx, (size_t)s->z.nx * sizeof(double));
        ti_joint_move(j, pose, w->x0);
        ti_joint_difference(j, w->x, w->x0, off);
        for (int i = 0; i < ti_joint_of(j->kind)->nv; i++) {
            double wish = v[i] + off[i] / ahead - now[i];
            double free = doubt * (spread[i] + s->shooting->noise[s->block[s->entry[j->v + i]].group] / ahead);
            kick[j->v + i] = fabs(wish) <= free ? 0 : wish - copysign(free, wish);
        }
    }
}

/* Where the first rows say that it starts. */
static void guess_start(ti_worker *w, const ti_track *t, double *x0) {
    const tribo_sysid *s = w->s;
    for (int b = 0; b < ti_joints(s->m); b++) {
        const ti_joint *j = &s->m->joint[b];
        double pose[TI_POSE_TANGENT], v[TI_POSE_TANGENT], spread[TI_POSE_TANGENT];
        if (t->rest[b] || ti_local_fit(s, t, t->first, b, pose, v, spread) < 0) continue;
        ti_joint_move(j, pose, x0);
        memcpy(ti_joint_velocity(s, j, x0), v, (size_t)ti_joint_of(j->kind)->nv * sizeof *v);
    }
}

/* The motion from w->x on. */
static tribo_status move_on(ti_worker *w, int track, const double *p) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    ti_path *path = ti_path_of(w, track);
    size_t nx = (size_t)s->z.nx, nv = (size_t)s->z.nv;
    memset(path->w, 0, (size_t)t->n * nv * sizeof(double));
    memcpy(path->prior, w->x, nx * sizeof(double));
    for (int k = t->first; k < ti_path_end(t, path); k++) {
        double *kick = path->w + (size_t)k * nv;
        memcpy(path->x + (size_t)k * nx, w->x, nx * sizeof(double));
        if (k == ti_path_end(t, path) - 1) break;
        if (ti_path_node(s, t, path->touch, k)) kick_to_follow(w, t, k, kick);
        for (size_t i = 0; i < nv; i++) w->x[(size_t)s->z.nq + i] += kick[i];
        tribo_status status = ti_advance_touch(w, t, k, p, &path->touch[k]);
        if (status < 0) return status;
        ti_plates_keep(w, t, k, ti_path_forces(s, t, path->x));
    }
    return TRIBO_OK;
}

tribo_status ti_path_guess(ti_worker *w, int track, const double *p) {
    const ti_track *t = w->s->track + track;
    memcpy(w->x, t->x0, (size_t)w->s->z.nx * sizeof(double));
    guess_start(w, t, w->x);
    if (t->nstand && !ti_settle(w, t, p, w->x)) return TRIBO_E_SINGULAR;
    return move_on(w, track, p);
}

tribo_status ti_path_return(ti_worker *w, int track, const double *p) {
    memcpy(w->x, w->s->shooting->path[track].best, (size_t)w->s->z.nx * sizeof(double));
    return move_on(w, track, p);
}

/* ---- a step of the fit ---- */

bool ti_path_start(ti_worker *w, int track, const double *p, const double *dtheta, double share) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    const ti_path *path = ti_path_of(w, track);
    int n = s->nfree, ndx = s->z.ndx;
    double *xi = w->r, *dx = w->xnext;
    for (int i = 0; i < ndx; i++) {
        const double *row = path->start + (size_t)i * ((size_t)n + 1);
        xi[i] = -share * row[n];
        for (int a = 0; dtheta && a < n; a++) xi[i] -= row[a] * dtheta[a];
    }
    for (int i = 0; i < ndx; i++) {
        dx[i] = 0;
        for (int j = 0; j < ndx; j++) dx[i] += path->T[i * ndx + j] * xi[j];
    }
    tribo_state_add(s->m, path->x + (size_t)t->first * (size_t)s->z.nx, dx, w->x);
    return !t->nstand || ti_settle(w, t, p, w->x);
}

/* One try; its cost into cost_try, HUGE_VAL where that is more than `most`. */
static tribo_status follow(ti_worker *w, int track, const double *p, const double *dtheta, double share, double most) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    ti_path *path = ti_path_of(w, track);
    size_t nx = (size_t)s->z.nx, nv = (size_t)s->z.nv, ndx = (size_t)s->z.ndx, n = (size_t)s->nfree, nb = ndx + n + 1;
    double *dx = w->r, cost;
    path->cost_try = HUGE_VAL;
    if (!ti_path_start(w, track, p, dtheta, share)) return TRIBO_E_SINGULAR;
    memcpy(path->wtry, path->w, (size_t)t->n * nv * sizeof(double));
    cost = ti_path_start_cost(w, path, w->x);
    for (int k = t->first, end = ti_path_end(t, path); k < end; k++) {
        double *kick = path->wtry + (size_t)k * nv;
        memcpy(path->xtry + (size_t)k * nx, w->x, nx * sizeof(double));
        if (ti_path_node(s, t, path->touch, k)) {
            const double *gain = path->gain + (size_t)k * nv * nb;
            tribo_state_difference(s->m, path->x + (size_t)k * nx, w->x, dx);
            for (size_t i = 0; i < nv; i++, gain += nb) {
                kick[i] += share * gain[nb - 1];
                for (size_t j = 0; j < ndx; j++) kick[i] += gain[j] * dx[j];
                for (size_t a = 0; dtheta && a < n; a++) kick[i] += gain[ndx + a] * dtheta[a];
            }
        }
        ti_path_kick(s, t, path->touch_try, k, kick);
        ti_path_add_cost(w, track, k, path->xtry, path->wtry, path->touch_try, &cost);
        if (cost > most) return TRIBO_OK;
        if (k == end - 1) break;
        for (size_t i = 0; i < nv; i++) w->x[(size_t)s->z.nq + i] += kick[i];
        tribo_status status = ti_advance_touch(w, t, k, p, &path->touch_try[k]);
        if (status < 0) return status;
        ti_plates_keep(w, t, k, ti_path_forces(s, t, path->xtry));
    }
    path->cost_try = cost;
    return isfinite(cost) ? TRIBO_OK : TRIBO_E_NONFINITE;
}

void ti_path_exchange(ti_path *path, double **x, double **kick, bool **touch) {
    double *own = path->x, *own_kick = path->w;
    bool *own_touch = path->touch;
    path->x = *x, *x = own;
    path->w = *kick, *kick = own_kick;
    path->touch = *touch, *touch = own_touch;
}

void ti_path_accept(ti_path *path) {
    ti_path_exchange(path, &path->xtry, &path->wtry, &path->touch_try);
    path->cost = path->cost_try;
}

tribo_status ti_path_follow(ti_worker *w, int track, const double *p, const double *dtheta, double most) {
    static const double shares[] = {1, 0.3, 0};
    ti_path *path = ti_path_of(w, track);
    double best = HUGE_VAL, best_share = 0;
    tribo_status status = TRIBO_OK;
    int tried = 0;
    for (int i = 0; i < 3; i++) {
        status = follow(w, track, p, dtheta, shares[i], best < most ? best : most);
        tried = i;
        if (status < 0) continue;
        if (path->cost_try < best) best = path->cost_try, best_share = shares[i];
        if (best <= path->cost + 1 + 1e-3 * path->cost) break; /* others may gain what this one loses */
    }
    if (isfinite(best) && shares[tried] != best_share) status = follow(w, track, p, dtheta, best_share, HUGE_VAL);
    if (!isfinite(best)) path->cost_try = HUGE_VAL;
    return isfinite(best) ? TRIBO_OK : status < 0 ? status : TRIBO_E_NONFINITE;
}
