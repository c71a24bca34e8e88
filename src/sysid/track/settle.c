/* settle.c -- a start that is estimated along stays on what it stands on.
 *
 * A body that is in contact from the first row was measured a little above or inside of what it stands on. Simulated
 * from there it would fall or be thrown out, and no derivative leads back: the contact opens on one side only. So the
 * start moves on the manifold of closed gaps: math.md, Starts in contact.
 */
#include "collide/collide.h"
#include "dynamics/link.h"
#include "forward/touching.h"
#include "model/possible.h"
#include "sysid/track/fit.h"

enum { PASSES = 4, ROWS_LOOKED_AT = 6 };
static const double stand_gap = 0.015, margin_gap = 0.03; /* of the extent: pairs that stand; contacts held closed */

/* Poses at q and p. */
static void pose(ti_worker *w, const double *p, const double *q) {
    const tribo_model *m = w->s->m;
    const double *v = w->s->still;
    for (int b = 0; b < m->size.nbody; b++)
        ti_link_load(&w->link[b], p + m->body[b].p, q + m->body[b].q, v + m->body[b].v, NULL);
    ti_shapes(m, p, w->link, w->shape);
}

/* Do the numbers stand still over n times, whose noise may be known (0 = not)? A slope beyond what they scatter by says
 * no, and so does a scatter far beyond noise: what is stopped by an impact among the rows has no slope to speak of. */
static bool still(const double *y, const double *time, int n, double noise) {
    const double steep = 4, far = 10; /* Student's t of six rows, 1 %; of the noise's variance */
    double mean = 0, slope = 0, square = 0, rest = 0, all = 0, middle = 0;
    for (int k = 0; k < n; k++) mean += y[k] / n, middle += time[k] / n;
    for (int k = 0; k < n; k++) {
        double dt = time[k] - middle;
        slope += dt * (y[k] - mean), square += dt * dt, all += (y[k] - mean) * (y[k] - mean);
    }
    slope /= square;
    for (int k = 0; k < n; k++) {
        double r = y[k] - mean - slope * (time[k] - middle);
        rest += r * r;
    }
    if (noise > 0 && all > far * (n - 1) * noise * noise) return false;
    return fabs(slope) <= steep * sqrt(rest / (n - 2) / square + 1e-24);
}

/* Poses of the first rows of a body, from the first of them; the noise of each number. */
typedef struct first_rows {
    double y[ROWS_LOOKED_AT][TI_POSE_TANGENT], noise[TI_POSE_TANGENT];
    const double *time;
    int nv;
} first_rows;

static bool read_first_rows(const tribo_sysid *s, const ti_track *t, const ti_joint *j, first_rows *r) {
    size_t nx = (size_t)s->z.nx;
    const double *first = t->x + (size_t)t->first * nx;
    r->nv = ti_joint_of(j->kind)->nv, r->time = t->time + t->first;
    if (t->first + ROWS_LOOKED_AT > t->n) return false;
    for (int k = 0; k < ROWS_LOOKED_AT; k++) {
        if (!t->complete[t->first + k]) return false;
        ti_joint_difference(j, first, first + (size_t)k * nx, r->y[k]);
    }
    for (int i = 0; i < r->nv; i++) r->noise[i] = s->noise_seen[s->block[s->entry[j->v + i]].group];
    return true;
}

static bool all_still(const first_rows *r) {
    for (int i = 0; i < r->nv; i++) {
        double one[ROWS_LOOKED_AT];
        for (int k = 0; k < ROWS_LOOKED_AT; k++) one[k] = r->y[k][i];
        if (!still(one, r->time, ROWS_LOOKED_AT, r->noise[i])) return false;
    }
    return true;
}

/* Do the first n rows, before it is hit, say as much of that as six rows in succession would, and the rows after them
 * that it was hit? It goes farther then than with any velocity which the first ones would let pass. docs/math.md
 * eq. (502). */
static bool still_until_hit(const first_rows *r, int n) {
    const double sure = 3, scatter = 5, six = 17.5; /* standard errors, of a sum too; squares of -2.5 to 2.5 */
    double middle = 0, square = 0, least = HUGE_VAL;
    bool hit = false;
    for (int k = 0; k < n; k++) middle += r->time[k] / n;
    for (int k = 0; k < n; k++) square += (r->time[k] - middle) * (r->time[k] - middle);
    for (int k = 1; k < ROWS_LOOKED_AT; k++) least = ti_min(least, r->time[k] - r->time[k - 1]);
    if (square < six * least * least) return false;
    for (int i = 0; i < r->nv; i++) {
        double mean = 0, slope = 0, all = 0, noise = r->noise[i], speed = sure * noise / sqrt(square);
        for (int k = 0; k < n; k++) mean += r->y[k][i] / n;
        for (int k = 0; k < n; k++) {
            double off = r->y[k][i] - mean;
            slope += (r->time[k] - middle) * off / square, all += off * off;
        }
        if (fabs(slope) > speed || all > (n - 1 + scatter * sqrt(2. * (n - 1))) * noise * noise) return false;
        for (int k = n; k < ROWS_LOOKED_AT; k++)
            hit |= fabs(r->y[k][i] - mean) > speed * (r->time[k] - middle) + sure * noise;
    }
    return hit;
}

/* Does the body stand still over the first rows, as far as their noise lets one tell? Then it starts at rest, at the
 * mean of them: friction swallows small velocities, so that no loss could find out that they are not zero. */
static bool at_rest(const tribo_sysid *s, ti_track *t, const ti_joint *j) {
    first_rows r;
    int n = ROWS_LOOKED_AT;
    double mean[TI_POSE_TANGENT] = {0};
    if (!read_first_rows(s, t, j, &r)) return false;
    if (!all_still(&r))
        while (--n > 1 && !still_until_hit(&r, n)) continue;
    if (n < 2) return false;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < r.nv; i++) mean[i] += r.y[k][i] / n;
    ti_joint_of(j->kind)->add(t->x + (size_t)t->first * (size_t)s->z.nx + j->q, mean, t->x0 + j->q);
    for (int i = 0; i < r.nv; i++) ti_joint_velocity(s, j, t->x0)[i] = 0;
    return true;
}

void ti_stand_choose(ti_worker *w, ti_track *t, const double *p) {
    const tribo_sysid *s = w->s;
    const tribo_model *m = s->m;
    double L = tribo_model_extent(m);
    t->nstand = 0;
    if (!ti_all_free(m)) return; /* what stands on legs gives way in its joints */
    for (ti_pair_walk at = {0}; t->nstand < TI_STANDS && ti_pair_next(m, &at);) {
        const ti_pair *pair = &at.pair;
        double sum = 0;
        int rows = 0;
        for (int k = t->first; k < t->n && k < t->first + ROWS_LOOKED_AT; k++) {
            ti_touch touch[TI_CONTACTS_MAX];
            if (!t->complete[k]) continue;
            pose(w, p, t->x + (size_t)k * (size_t)s->z.nx);
            int n = ti_collide(&w->shape[pair->a], &w->shape[pair->b], margin_gap * L, touch);
            double gap = 0;
            for (int j = 0; j < n; j++) gap += touch[j].gap / n;
            sum += n ? fabs(gap) : L;
            rows++;
        }
        if (rows && sum / rows < stand_gap * L) t->stand[t->nstand++] = *pair;
    }
    for (int i = 0; i < t->nstand; i++)
        for (int side = 0; side < 2; side++) {
            int body = m->geom[side ? t->stand[i].b : t->stand[i].a].body;
            int j = body < 0 ? -1 : m->body[body].free;
            if (j >= 0 && !t->rest[j]) t->rest[j] = at_rest(s, t, &m->joint[j]);
        }
}

bool ti_stand_again(ti_worker *w, ti_track *t, const double *p) {
    ti_pair was[TI_STANDS];
    int n = t->nstand;
    memcpy(was, t->stand, (size_t)n * sizeof *was);
    ti_stand_choose(w, t, p);
    bool same = n == t->nstand;
    for (int i = 0; i < n && same; i++) same = was[i].a == t->stand[i].a && was[i].b == t->stand[i].b;
    return !same;
}

/* Gaps of the standing contacts at q, and with J their derivative by the pose (rows,nv). @return how many. */
static int gaps(ti_worker *w, const ti_track *t, const double *p, const double *q, double *gap, double *J) {
    const tribo_model *m = w->s->m;
    int n = 0, nv = w->s->z.nv;
    double margin = margin_gap * tribo_model_extent(m);
    pose(w, p, q);
    for (int i = 0; i < t->nstand; i++) {
        const ti_pair *pair = &t->stand[i];
        ti_touch touch[TI_CONTACTS_MAX];
        int found = ti_collide(&w->shape[pair->a], &w->shape[pair->b], margin, touch);
        for (int k = 0; k < found && n < TI_STAND_ROWS; k++, n++) {
            gap[n] = touch[k].gap;
            if (!J) continue;
            double *row = J + (size_t)n * (size_t)nv;
            memset(row, 0, (size_t)nv * sizeof *row);
            for (int side = 0; side < 2; side++) {
                int body = m->geom[side ? pair->b : pair->a].body;
                if (body < 0) continue;
                const ti_link *l = &w->link[body];
                double sign = side ? 1 : -1, *at = row + m->body[body].v;
                ti_vec r = ti_tmul(&l->R, ti_sub(touch[k].point, l->xo)), normal = ti_tmul(&l->R, touch[k].normal);
                ti_store3(at, ti_scale(sign, touch[k].normal));
                ti_store3(at + 3, ti_scale(sign, ti_cross(r, normal)));
            }
        }
    }
    return n;
}

/* What a tangent moves by at the least: a rotation counts by what it moves a surface. */
static double ease(const tribo_sysid *s, int i) {
    double L = tribo_model_extent(s->m);
    return ti_kind_at(s, i) == TRIBO_BLOCK_POSITION ? 1 : 1 / (L * L);
}

/* Z := W J' (J W J' + eps)^-1 B for B (n,m) in Z's place on entry; Z (nv,m). */
static bool least_change(ti_worker *w, int n, int m, const double *B, double *Z) {
    const tribo_sysid *s = w->s;
    int nv = s->z.nv;
    double *S = w->stand_S, trace = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            S[i * n + j] = 0;
            for (int k = 0; k < nv; k++) S[i * n + j] += w->stand_J[i * nv + k] * ease(s, k) * w->stand_J[j * nv + k];
        }
    for (int i = 0; i < n; i++) trace += S[i * n + i];
    for (int i = 0; i < n; i++) S[i * n + i] += 1e-9 * trace / n; /* corners are redundant */
    double *Y = w->stand_Y;
    memcpy(Y, B, (size_t)n * (size_t)m * sizeof *Y);
    if (!ti_spd_solve(n, S, m, Y)) return false;
    for (int k = 0; k < nv; k++)
        for (int c = 0; c < m; c++) {
            double sum = 0;
            for (int i = 0; i < n; i++) sum += w->stand_J[i * nv + k] * Y[i * m + c];
            Z[k * m + c] = ease(s, k) * sum;
        }
    return true;
}

bool ti_settle(ti_worker *w, const ti_track *t, const double *p, double *x) {
    const tribo_sysid *s = w->s;
    int nv = s->z.nv, n = 0;
    double *dx = w->r;
    for (int pass = 0; pass < PASSES; pass++) {
        n = gaps(w, t, p, x, w->stand_gap, w->stand_J);
        if (!n) return true;
        memset(dx, 0, (size_t)s->z.ndx * sizeof *dx);
        if (!least_change(w, n, 1, w->stand_gap, dx)) return false;
        for (int i = 0; i < nv; i++) dx[i] = -dx[i];
        tribo_state_add(s->m, x, dx, x);
    }
    n = gaps(w, t, p, x, w->stand_gap, w->stand_J);
    for (int i = 0; i < n; i++) {
        w->stand_gap[i] = 0;
        for (int k = 0; k < nv; k++) w->stand_gap[i] += w->stand_J[i * nv + k] * x[s->z.nq + k];
    }
    if (n && !least_change(w, n, 1, w->stand_gap, dx)) return false;
    for (int k = 0; n && k < nv; k++) x[s->z.nq + k] -= dx[k];
    return true;
}

/* ---- its derivative: docs/math.md eq. (140), (141) ---- */

/* The motion of all bodies' frames by dq (nv), NULL = 0. */
static void move_links(ti_worker *w, const double *dq) {
    const tribo_model *m = w->s->m;
    for (int b = 0; b < m->size.nbody; b++) {
        const double *d = dq ? dq + m->body[b].v : NULL;
        w->diff[b] = (ti_link_diff){0};
        if (d) w->diff[b].xo = ti_load3(d), w->diff[b].th = ti_load3(d + 3);
    }
}

/* One side's part in the rate of J v, as point and normal move at rate (7). */
static double side_rate(const ti_worker *w, const ti_touch *c, int body, double sign, const double *v,
                        const double *rate) {
    const ti_link *l = &w->link[body];
    const ti_link_diff *d = &w->diff[body];
    const double *vb = v + w->s->m->body[body].v;
    ti_vec r = ti_tmul(&l->R, ti_sub(c->point, l->xo)), n = ti_tmul(&l->R, c->normal), dn = ti_load3(rate + 3);
    ti_vec dr = ti_sub(ti_tmul(&l->R, ti_sub(ti_load3(rate), d->xo)), ti_cross(d->th, r));
    ti_vec db = ti_sub(ti_tmul(&l->R, dn), ti_cross(d->th, n));
    ti_vec turn = ti_add(ti_cross(dr, n), ti_cross(r, db));
    return sign * (ti_dot(dn, ti_load3(vb)) + ti_dot(turn, ti_load3(vb + 3)));
}

/* A geom on its link of w. */
static void shape_moves(const ti_worker *w, const double *p, int geom, const double *dp, double *out) {
    int body = w->s->m->geom[geom].body;
    bool world = body < 0;
    ti_shape_jvp(w->s->m, p, world ? NULL : &w->link[body], geom, world ? NULL : &w->diff[body], dp, out);
}

/* Column `col` of both (rows,width): rates of the gaps, and of J v with v held, of the standing contacts as the bodies
 * move by dq (NULL = not) and the parameters by dp (NULL = not). pose() and gaps() were at the same place. */
static void standing_rates(ti_worker *w, const ti_track *t, const double *p, const double *dp, const double *dq,
                           const double *v, int width, int col, double *gap_dot, double *Jv_dot) {
    const tribo_model *m = w->s->m;
    double margin = margin_gap * tribo_model_extent(m);
    int n = 0;
    move_links(w, dq);
    for (int i = 0; i < t->nstand; i++) {
        const ti_pair *pair = &t->stand[i];
        ti_touch touch[TI_CONTACTS_MAX];
        double in[TI_COLLIDE_COLS], jac[TI_COLLIDE_ROWS][TI_COLLIDE_COLS], rate[TI_COLLIDE_ROWS];
        int found = ti_collide(&w->shape[pair->a], &w->shape[pair->b], margin, touch);
        shape_moves(w, p, pair->a, dp, in);
        shape_moves(w, p, pair->b, dp, in + TI_SHAPE_COLS);
        for (int k = 0; k < found && n < TI_STAND_ROWS; k++, n++) {
            ti_collide_jac(&w->shape[pair->a], &w->shape[pair->b], &touch[k], jac);
            for (int r = 0; r < TI_COLLIDE_ROWS; r++) {
                rate[r] = 0;
                for (int c = 0; c < TI_COLLIDE_COLS; c++) rate[r] += jac[r][c] * in[c];
            }
            if (gap_dot) gap_dot[n * width + col] = rate[6];
            double sum = 0;
            for (int side = 0; side < 2; side++) {
                int body = m->geom[side ? pair->b : pair->a].body;
                if (body >= 0) sum += side_rate(w, &touch[k], body, side ? 1 : -1, v, rate);
            }
            if (Jv_dot) Jv_dot[n * width + col] = sum;
        }
    }
}

/* T by the start's pose and velocity: (1 - Z J) of both, Z = W J' (J W J' + eps)^-1. */
static void project_start(const tribo_sysid *s, const ti_track *t, const double *Z, double *T) {
    size_t nv = (size_t)s->z.nv, ndx = (size_t)s->z.ndx;
    for (size_t i = 0; i < nv; i++)
        for (size_t j = 0; j < nv; j++) {
            T[i * ndx + j] -= Z[i * nv + j];
            if (!t->rest[s->block[s->entry[j]].joint]) T[(nv + i) * ndx + nv + j] -= Z[i * nv + j];
        }
}

/* How the velocity follows as the contacts turn: the pose by its start (columns of T), then by theta (w->x0d). */
static bool follow_velocity(ti_worker *w, const ti_track *t, const double *p, const double *P, const double *v, int n,
                            double *T) {
    const tribo_sysid *s = w->s;
    int nv = s->z.nv, nfree = s->nfree, width = nv + nfree;
    size_t ndx = (size_t)s->z.ndx;
    double *dq = w->r, *B = w->stand_B, *Z = w->stand_Z;
    for (int j = 0; j < width; j++) {
        for (int i = 0; i < nv; i++)
            dq[i] = j < nv ? T[(size_t)i * ndx + (size_t)j] : w->x0d[(size_t)(j - nv) * ndx + (size_t)i];
        const double *dp = j < nv ? NULL : P + (size_t)(j - nv) * (size_t)s->z.np;
        standing_rates(w, t, p, dp, dq, v, width, j, NULL, B);
    }
    if (!least_change(w, n, width, B, Z)) return false;
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < width; j++) {
            double change = -Z[i * width + j];
            if (j < nv)
                T[(size_t)(nv + i) * ndx + (size_t)j] += change;
            else
                w->x0d[(size_t)(j - nv) * ndx + (size_t)(nv + i)] += change;
        }
    return true;
}

bool ti_settle_jac(ti_worker *w, const ti_track *t, const double *p, const double *P, const double *x, double *T) {
    const tribo_sysid *s = w->s;
    size_t nv = (size_t)s->z.nv, ndx = (size_t)s->z.ndx, np = (size_t)s->z.np, nfree = (size_t)s->nfree;
    const double *v = x + s->z.nq;
    double *Z = w->stand_Z;
    memset(T, 0, ndx * ndx * sizeof *T);
    for (size_t i = 0; i < ndx; i++) T[i * ndx + i] = i < nv || !t->rest[s->block[s->entry[i]].joint];
    memset(w->x0d, 0, nfree * ndx * sizeof *T);
    int n = gaps(w, t, p, x, w->stand_gap, w->stand_J);
    if (!n) return true;
    if (!least_change(w, n, (int)nv, w->stand_J, Z)) return false;
    project_start(s, t, Z, T);
    for (size_t a = 0; a < nfree; a++)
        standing_rates(w, t, p, P + a * np, NULL, v, (int)nfree, (int)a, w->stand_B, NULL);
    if (nfree && !least_change(w, n, (int)nfree, w->stand_B, Z)) return false;
    for (size_t a = 0; a < nfree; a++)
        for (size_t k = 0; k < nv; k++) w->x0d[a * ndx + k] = -Z[k * nfree + a];
    return follow_velocity(w, t, p, P, v, n, T);
}
