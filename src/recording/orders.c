/* orders.c -- readings that no column contradicts: orders of quaternions, delays and names, by what the scene predicts
 * from each row for the next ones. */
#include "recording/order.h"
#include "recording/predict.h"
#include "recording/questions.h"

enum { LAG = 5 };
static const double evidence = TI_EVIDENCE;

static void fresh(tribo_checked *c) {
    memcpy(c->y, c->x, (size_t)c->n * (size_t)c->z.nx * sizeof *c->y);
}
static void accept(tribo_checked *c) {
    memcpy(c->x, c->y, (size_t)c->n * (size_t)c->z.nx * sizeof *c->y);
}

static void reorder(tribo_checked *c, int body, int way) {
    fresh(c);
    for (int b = 0; b < c->z.nbody; b++)
        for (int k = 0; k < c->n && (body < 0 || b == body); k++) ti_reorder(ti_pose(c, c->y, k, b) + 3, way);
}

/* Quaternions of a body, or of all, in another order, where that is much more like the scene. */
static double try_order(tribo_checked *c, int body, double now) {
    static const double simpler = 3; /* x y z w, unless another is likelier than that */
    double least = now;
    int best = 0;
    for (int way = 1; way < TI_ORDERS; way++) {
        reorder(c, body, way);
        double sum = ti_predict_total(c, c->y, now - evidence);
        if (sum < least - (best ? simpler : 0)) least = sum, best = way;
    }
    if (!ti_predict_convinces(now, least) || !best) return now;
    reorder(c, body, best);
    accept(c);
    ti_found(c, TRIBO_CONVENTION_ORDER, TRIBO_OUTCOME_MENDED, body, -1, best,
             "%s%squaternions are %s: only so does it lie and turn on its faces; read as such",
             body < 0 ? "" : tribo_model_body_name(c->m, body), body < 0 ? "" : ": ", ti_order_words(best));
    return least;
}

/* Numbers [from, to) of the pose of a body, or of all, taken from `lag` rows later into y; the ends keep their nearest.
 */
static void shift(tribo_checked *c, int body, int from, int to, int lag) {
    for (int b = 0; b < c->z.nbody; b++)
        for (int k = 0; k < c->n && (body < 0 || b == body); k++) {
            int row = k + lag < 0 ? 0 : k + lag > c->n - 1 ? c->n - 1 : k + lag;
            for (int i = from; i < to; i++) ti_pose(c, c->y, k, b)[i] = ti_pose(c, c->x, row, b)[i];
        }
}

/* The same for good: what is past the ends was not measured. */
static void shift_for_good(tribo_checked *c, int body, int from, int to, int lag) {
    fresh(c);
    shift(c, body, from, to, lag);
    for (int b = 0; b < c->z.nbody; b++)
        for (int k = 0; k < c->n && (body < 0 || b == body); k++)
            for (int i = 0; i < 7 && (k + lag < 0 || k + lag >= c->n); i++) ti_pose(c, c->y, k, b)[i] = (double)NAN;
    accept(c);
}

/* The columns of their velocities came with them. */
static void shift_rates(tribo_checked *c, int body, int from, int lag) {
    for (int b = 0; b < c->z.nbody; b++)
        for (int k = 0; k < c->n && (body < 0 || b == body); k++) {
            int row = lag > 0 ? k : c->n - 1 - k, other = row + lag;
            for (int i = from; i < 6; i++)
                ti_rate(c, c->x, row, b)[i] = other >= 0 && other < c->n ? ti_rate(c, c->x, other, b)[i] : (double)NAN;
        }
}

/* The misses with a body, or its rotation alone, taken from `lag` rows later. */
static double with_lag(tribo_checked *c, int body, int from, int lag, double now, double wanted) {
    fresh(c);
    shift(c, body, from, 7, lag);
    return lag ? ti_predict_total(c, c->y, now - wanted) : now;
}

/* The lag with the fewest misses; 0 unless three samples either way are a hint of one. */
static int best_lag(tribo_checked *c, int body, int from, double now, double *least) {
    int best = 0;
    bool hint = with_lag(c, body, from, LAG / 2 + 1, now, evidence / 2) < now - evidence / 2 ||
                with_lag(c, body, from, -LAG / 2 - 1, now, evidence / 2) < now - evidence / 2;
    *least = now;
    for (int lag = -LAG; hint && lag <= LAG; lag++) {
        double sum = with_lag(c, body, from, lag, now, evidence);
        if (sum < *least) *least = sum, best = lag;
    }
    return ti_predict_convinces(now, *least) ? best : 0;
}

/* Does a body, or its rotation alone, lag behind the rest? */
static double try_delay(tribo_checked *c, int body, bool rotation, double now) {
    int from = rotation ? 3 : 0;
    double least;
    int best = best_lag(c, body, from, now, &least);
    if (best * best < 4) return now;
    const char *name = body < 0 ? "all bodies" : tribo_model_body_name(c->m, body);
    if (best == LAG || best == -LAG) {
        ti_found(c, TRIBO_CONVENTION_CLOCK, TRIBO_OUTCOME_REFUSED, body, -1, best,
                 "%s: the %s are %d samples or more %s the rest: the clocks of the recording do not agree", name,
                 rotation ? "rotations" : "poses", LAG, best > 0 ? "behind" : "ahead of");
        return least;
    }
    shift_for_good(c, body, from, 7, best);
    shift_rates(c, body, from, best);
    ti_found(c, TRIBO_CONVENTION_CLOCK, TRIBO_OUTCOME_MENDED, body, -1, best,
             "%s: the %s are %d samples %s the rest: only so does what it touches move when it is touched; moved", name,
             rotation ? "rotations" : "poses", best > 0 ? best : -best, best > 0 ? "behind" : "ahead of");
    return least;
}

static bool same_shapes(const tribo_checked *c, int a, int b) {
    const tribo_model *m = c->m;
    const ti_body *one = &m->body[a], *two = &m->body[b];
    if (one->ngeom != two->ngeom) return false;
    for (int i = 0; i < one->ngeom; i++) {
        const ti_geom *g = &m->geom[m->body_geom[one->geom0 + i]], *h = &m->geom[m->body_geom[two->geom0 + i]];
        if (g->shape != h->shape) return false;
        for (int j = 0; j < 3 && g->shape != TRIBO_PLANE; j++) {
            double size = c->p[g->p + TI_P_SIZE + j], other = c->p[h->p + TI_P_SIZE + j];
            if (g->shape == TRIBO_SPHERE && j) break;
            if (fabs(size - other) > 0.02 * c->extent) return false;
        }
    }
    return true;
}

static void exchange(tribo_checked *c, double *x, int a, int b) {
    for (int k = 0; k < c->n; k++)
        for (int i = 0; i < 13; i++) {
            double *one = i < 7 ? ti_pose(c, x, k, a) + i : ti_rate(c, x, k, a) + i - 7;
            double *two = i < 7 ? ti_pose(c, x, k, b) + i : ti_rate(c, x, k, b) + i - 7, keep = *one;
            *one = *two, *two = keep;
        }
}

/* How far the first pose of body b is from where the scene has body `other`, in extents. */
static double from_start(tribo_checked *c, int b, int other) {
    for (int k = 0; k < c->n; k++) {
        if (!c->posed[k * c->z.nbody + b]) continue;
        ti_vec at = ti_load3(ti_pose(c, c->x, k, b)), there = ti_load3(c->m->x0 + c->m->body[other].q);
        return ti_norm(ti_sub(at, there)) / c->extent;
    }
    return 0;
}

/* Two bodies with each other's name: by their shapes, or, where these are equal, by where the scene has them. Their
 * masses are not asked: they are what is to be found. */
static double try_names(tribo_checked *c, int a, int b, double now) {
    if (same_shapes(c, a, b)) {
        double is = from_start(c, a, a) + from_start(c, b, b), was = from_start(c, a, b) + from_start(c, b, a);
        if (!(is > 2 && was < 1)) return now;
    } else {
        fresh(c);
        exchange(c, c->y, a, b);
        if (!ti_predict_convinces(now, ti_predict_total(c, c->y, now - evidence))) return now;
    }
    exchange(c, c->x, a, b);
    ti_found(c, TRIBO_CONVENTION_NAMES, TRIBO_OUTCOME_MENDED, a, -1, 1,
             "%s and %s have each other's name: %s; exchanged", tribo_model_body_name(c->m, a),
             tribo_model_body_name(c->m, b),
             same_shapes(c, a, b) ? "each starts where the scene has the other"
                                  : "only so do they lie on what is below them");
    ti_survey(c);
    return ti_predict_total(c, c->x, HUGE_VAL);
}

void ti_check_orders(tribo_checked *c) {
    int bodies = c->z.nbody;
    double now = ti_predict_total(c, c->x, HUGE_VAL);
    if (isnan(now)) return;
    for (int a = 0; a < bodies; a++)
        for (int b = a + 1; b < bodies; b++) now = try_names(c, a, b, now);
    if (bodies > 1) now = try_order(c, -1, now);
    for (int b = 0; b < bodies; b++) now = try_order(c, b, now);
    if (bodies > 1) now = try_delay(c, -1, true, now);
    for (int b = 0; b < bodies; b++) now = try_delay(c, b, true, now);
    for (int b = 1; b < bodies; b++) now = try_delay(c, b, false, now);
    ti_survey(c);
}
