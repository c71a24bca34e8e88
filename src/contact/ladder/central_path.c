/* central_path.c -- the central path of the interior point, followed over its folds.
 *
 * De Saxce's form is not monotone: where friction jams a heap the gap along the path grows again before it falls to
 * nothing. So the gap is an unknown among the others, and steps have a length along the path. docs/math.md eq. (456) to
 * (459).
 */
#include "contact/ladder/central_path.h"

/* What a mark keeps of a cone. */
struct ti_central_mark {
    ti_cone_change at;
    double normal, plane[6], heading[6];
};

void ti_interior_carve(ti_arena *m, ti_contact_ws *ws, int nc, int nv) {
    TI_CARVE(m, ws->vi, nv);
    TI_CARVE(m, ws->cones, nc);
    TI_CARVE(m, ws->marks, 2 * (size_t)nc);
    TI_CARVE(m, ws->marked, 2 * (size_t)nv);
    TI_CARVE(m, ws->ahead, 2 * (size_t)nv);
}

/* How near is near: a relative change of any pair; after a retreat; at most so many steps, each to bring it this much
 * nearer; the least cosine between tangents; the shortest step; what is gone of the way to the boundary. */
#define CLOSE 0.15
#define CLOSER 0.01
enum { TRIES = 6, FIRST_TRIES = 10 };
#define NEARER 0.8
#define COSINE 0.2
#define SHORTEST 1e-6
#define SHARE 0.9

/* ---- places ---- */

static void set_mark(ti_contact_ws *ws, const ti_contact_problem *p, ti_central_path *path) {
    path->last = !path->last, path->mark[path->last] = path->now;
    struct ti_central_mark *m = ws->marks + (size_t)path->last * p->nc;
    for (int i = 0; i < p->nc; i++, m++) {
        const ti_cone *k = ws->cones + i;
        memcpy(m->at.x, k->x, sizeof k->x), memcpy(m->at.w, k->w, sizeof k->w);
        memcpy(m->at.side, k->side, sizeof k->side);
        m->at.nu = k->nu, m->at.bound = k->bound, m->normal = k->normal;
        memcpy(m->plane, k->plane, sizeof m->plane), memcpy(m->heading, k->heading, sizeof m->heading);
    }
    memcpy(ws->marked + (size_t)path->last * p->nv, ws->vi, p->nv * sizeof(double));
}

static void back_to_mark(ti_contact_ws *ws, const ti_contact_problem *p, ti_central_path *path) {
    path->now = path->mark[path->last];
    const struct ti_central_mark *m = ws->marks + (size_t)path->last * p->nc;
    for (int i = 0; i < p->nc; i++, m++) {
        ti_cone *k = ws->cones + i;
        memcpy(k->x, m->at.x, sizeof k->x), memcpy(k->w, m->at.w, sizeof k->w);
        memcpy(k->side, m->at.side, sizeof k->side);
        k->nu = m->at.nu, k->bound = m->at.bound, k->normal = m->normal;
        memcpy(k->plane, m->plane, sizeof m->plane), memcpy(k->heading, m->heading, sizeof m->heading);
    }
    memcpy(ws->vi, ws->marked + (size_t)path->last * p->nv, p->nv * sizeof(double));
}

/* ---- directions ---- */

/* A change x, w relative to the cone: (W x, W^-1 w) / sqrt(gap), in which both are of the size of the change's share.
 */
static void relative(const ti_cone *k, const double *x, const double *w, double gap, double *y) {
    double s = sqrt(k->eta / gap), t = 1 / sqrt(k->eta * gap);
    ti_cone_boost(k->h, x, false, y), ti_cone_boost(k->h, w, true, y + 3);
    for (int r = 0; r < 3; r++) y[r] *= s, y[3 + r] *= t;
}

/* With one factorization: to the centre at this gap, into a and ws->ahead; by the logarithm of the gap along the path,
 * into along and ws->ahead + nv. Both are parts of a direction that is linear in the centre. */
static bool both_directions(ti_contact_ws *ws, const ti_contact_problem *p, const ti_central_path *path) {
    double gap = path->now.gap, *to = ws->ahead, *along = ws->ahead + p->nv;
    if (!ti_interior_factor(ws, p, gap, path->share)) return false;
    for (int i = 0; i < p->nc; i++) {
        ti_cone *k = ws->cones + i;
        memset(&k->a, 0, sizeof k->a), k->rp[0] += k->soft;
    }
    ti_interior_direction(ws, p, 0, true);
    for (int i = 0; i < p->nc; i++) ws->cones[i].along = ws->cones[i].d, ws->cones[i].rp[0] -= ws->cones[i].soft;
    memcpy(along, ws->dv, p->nv * sizeof(double));
    ti_interior_direction(ws, p, gap, true);
    for (int i = 0; i < p->nc; i++) {
        ti_cone *k = ws->cones + i;
        k->a = k->d;
        for (int r = 0; r < 3; r++)
            k->along.x[r] = k->a.x[r] - k->along.x[r], k->along.w[r] = k->a.w[r] - k->along.w[r];
        for (int r = 0; r < 2; r++) k->along.side[r] = k->a.side[r] - k->along.side[r];
        k->along.nu = k->a.nu - k->along.nu, k->along.bound = k->a.bound - k->along.bound;
    }
    memcpy(to, ws->dv, p->nv * sizeof(double));
    for (int k = 0; k < p->nv; k++) along[k] = to[k] - along[k];
    return true;
}

/* The largest relative change that leads to the centre. */
static double off_centre(const ti_contact_ws *ws, const ti_contact_problem *p, double gap) {
    double most = 0;
    for (int i = 0; i < p->nc; i++) {
        const ti_cone *k = ws->cones + i;
        double y[6];
        if (k->kind) {
            for (int s = 0; s < 2; s++)
                if (k->side[s] > 0) most = ti_max(most, fabs(k->a.side[s]) / k->side[s]);
            continue;
        }
        relative(k, k->a.x, k->a.w, gap, y);
        for (int r = 0; r < 6; r++) most = ti_max(most, fabs(y[r]));
    }
    return most;
}

/* How much of the direction the iterate may go. */
static double allowed(const ti_contact_ws *ws, const ti_contact_problem *p) {
    return ti_min(SHARE * ti_interior_longest(ws, p), 1);
}

/* The direction a + s along, into d and ws->dv. */
static void aim(ti_contact_ws *ws, const ti_contact_problem *p, double s) {
    for (int i = 0; i < p->nc; i++) {
        ti_cone *k = ws->cones + i;
        for (int r = 0; r < 3; r++) {
            k->d.x[r] = k->a.x[r] + s * k->along.x[r];
            k->d.w[r] = k->a.w[r] + s * k->along.w[r];
        }
        for (int r = 0; r < 2; r++) k->d.side[r] = k->a.side[r] + s * k->along.side[r];
        k->d.nu = k->a.nu + s * k->along.nu, k->d.bound = k->a.bound + s * k->along.bound;
    }
    for (int k = 0; k < p->nv; k++) ws->dv[k] = ws->ahead[k] + s * ws->ahead[p->nv + k];
}

/* Go along the direction, which changes ln of the gap by s. */
static void step(ti_contact_ws *ws, const ti_contact_problem *p, ti_central_path *path, double s) {
    double share = allowed(ws, p);
    ti_interior_move(ws, p, share, ws->dv);
    path->now.gap *= 1 + share * s;
}

/* ---- along the path ---- */

/* The cosine between the tangent here and the heading; *length: of the tangent by ln of the gap. */
static double bend(const ti_contact_ws *ws, const ti_contact_problem *p, const ti_central_path *path, double *length) {
    double sum = 1, with = path->now.by;
    for (int i = 0; i < p->nc; i++) {
        const ti_cone *k = ws->cones + i;
        double y[6];
        if (k->kind) continue;
        relative(k, k->along.x, k->along.w, path->now.gap, y);
        for (int r = 0; r < 6; r++) sum += y[r] * y[r], with += y[r] * k->heading[r];
    }
    *length = sqrt(sum);
    return path->now.begun ? with / *length : -1;
}

/* Here, on the path, lay the hyperplane across it and head on: `by` is the unit tangent's part of ln of the gap. */
static void head_on(ti_contact_ws *ws, const ti_contact_problem *p, ti_central_path *path, double by) {
    double gap = path->now.gap;
    for (int i = 0; i < p->nc; i++) {
        ti_cone *k = ws->cones + i;
        if (k->kind) continue;
        relative(k, k->along.x, k->along.w, gap, k->heading);
        for (int r = 0; r < 6; r++) k->heading[r] *= by;
        relative(k, k->heading, k->heading + 3, gap, k->plane); /* W is symmetric */
    }
    path->now.by = by, path->now.plane_gap = gap, path->now.begun = true;
}

/* From the path a step of the length, and to the centre; where the path is smooth with the second-order term. */
static void go_ahead(ti_contact_ws *ws, const ti_contact_problem *p, ti_central_path *path, double cosine,
                     double tangent) {
    bool begun = path->now.begun, smooth = path->tries <= 1 && path->close >= CLOSE;
    double root = sqrt((double)p->nc), by = (cosine > 0 ? 1 : -1) / tangent;
    set_mark(ws, p, path);
    head_on(ws, p, path, by);
    if (begun) path->length *= path->tries <= 1 ? 1.6 : path->tries <= 2 ? 1.5 : 0.8;
    double s = ti_max(ti_min(by * path->length * root, 2), -0.98);
    aim(ws, p, s);
    s *= allowed(ws, p);
    path->length = fabs(s) * tangent / root;
    path->close = ti_min(2 * path->close, CLOSE), path->retreated = path->retreated && path->tries == 0;
    path->tries = 0;
    aim(ws, p, s);
    if (smooth) {
        for (int i = 0; i < p->nc; i++) ws->cones[i].a = ws->cones[i].d, ws->cones[i].rp[0] -= s * ws->cones[i].soft;
        ti_interior_direction(ws, p, path->now.gap * (1 + s), true);
    }
    step(ws, p, path, s);
}

/* To the hyperplane's point of the path. */
static void correct(ti_contact_ws *ws, const ti_contact_problem *p, ti_central_path *path) {
    double over = 0, change = path->now.by * path->now.gap / path->now.plane_gap, s = 0;
    for (int i = 0; i < p->nc && path->now.begun; i++) {
        const ti_cone *k = ws->cones + i;
        if (k->kind) continue;
        over += ti_dot3(k->plane, k->a.x) + ti_dot3(k->plane + 3, k->a.w);
        change += ti_dot3(k->plane, k->along.x) + ti_dot3(k->plane + 3, k->along.w);
    }
    if (path->now.begun && change != 0) s = ti_max(ti_min(-over / change, 3), -0.9);
    aim(ws, p, s);
    step(ws, p, path, s);
}

/* Shorter steps from the last mark, which is first found more closely; where that does not help, from the one before.
 * False where steps are too short. */
static bool retreat(ti_contact_ws *ws, const ti_contact_problem *p, ti_central_path *path) {
    if ((path->length *= 0.3) < SHORTEST) return false;
    if (path->retreated) path->last = !path->last;
    if (!(path->mark[path->last].gap > 0)) return false;
    back_to_mark(ws, p, path);
    path->close = path->retreated ? 1 : CLOSER, path->retreated = !path->retreated;
    path->tries = 0, path->off = HUGE_VAL, path->length /= 2.5;
    return true;
}

bool ti_central_begin(ti_contact_ws *ws, const ti_contact_problem *p, double share, ti_central_path *path) {
    *path = (ti_central_path){.share = share, .length = 0.4, .close = CLOSE};
    path->now.gap = path->now.plane_gap = 1;
    return ti_interior_begin(ws, p, 0, false);
}

bool ti_central_follow(ti_contact_ws *ws, const ti_contact_problem *p, ti_central_path *path, double rough,
                       int iterations) {
    bool there = false;
    for (int end = ws->iterations + iterations; ws->iterations < end && !there;) {
        if (!both_directions(ws, p, path)) break;
        double off = off_centre(ws, p, path->now.gap), tangent, cosine = bend(ws, p, path, &tangent);
        bool on_path = off < path->close || (!path->now.begun && path->tries > FIRST_TRIES);
        bool bent = on_path && fabs(cosine) < COSINE && path->length > 1e-4;
        if (on_path && !bent) {
            there = path->now.gap < rough;
            if (!there) go_ahead(ws, p, path, cosine, tangent);
            continue;
        }
        path->tries++;
        if (path->now.begun && (bent || path->tries > TRIES || (path->tries > 1 && off > NEARER * path->off))) {
            if (!retreat(ws, p, path)) break;
            continue;
        }
        path->off = off;
        correct(ws, p, path);
    }
    ti_interior_end(ws, p);
    return there;
}
