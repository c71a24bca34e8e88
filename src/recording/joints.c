/* joints.c -- columns of hinges and slides: an angle and its velocity say each other's units and delays, and ranges say
 * whether an angle is in degrees. */
#include "recording/questions.h"

enum { LAGS = 6, ROWS_LEAST = 20 };
static const double degrees = 57.29577951308232;
/* A delay is believed where the logarithm of the likelihoods differs by this; a unit where the column explains as much
 * of the differences. */
static const double evidence = 12, share_least = 0.6;

static bool measured(const tribo_checked *c, const ti_joint *j, int k, bool rate) {
    return !isnan(c->x[(size_t)k * (size_t)c->z.nx + (size_t)(rate ? c->z.nq + j->v : j->q)]);
}
static double *number(const tribo_checked *c, const ti_joint *j, int k, bool rate) {
    return c->x + (size_t)k * (size_t)c->z.nx + (rate ? c->z.nq + j->v : j->q);
}

/* How the velocity column, late by so many half samples, follows the differences over `span` rows. */
typedef struct follows {
    int rows, span;
    double share, scale, left; /* of the differences explained; their unit over that of the column; what is not */
    double gain, kept;         /* the scale where it is not 1 by noise alone; what is left where it is 1 */
} follows;

/* What the column says of the interval after row k; NaN where it was not measured. */
static double said(const tribo_checked *c, const ti_joint *j, int k, int late) {
    int at = k + (late + 2 * LAGS + 1) / 2 - LAGS, two = (late & 1) == 0;
    return (*number(c, j, at, true) + *number(c, j, at + two, true)) / 2;
}

static follows judge(const tribo_checked *c, const ti_joint *j, int span, int late) {
    double dd = 0, dv = 0, vv = 0;
    follows f = {.span = span};
    for (int k = LAGS; k + LAGS + span < c->n; k += (span + 1) / 2) {
        double d = (*number(c, j, k + span, false) - *number(c, j, k, false)) / (c->time[k + span] - c->time[k]), v = 0;
        if (c->time[k + span] - c->time[k] > 1.5 * span * c->spacing) continue;
        for (int i = k; i < k + span; i++) v += said(c, j, i, late) / span;
        if (isnan(d) || isnan(v)) continue;
        dd += d * d, dv += d * v, vv += v * v, f.rows++;
    }
    f.scale = vv > 0 ? dv / vv : 1;
    f.share = dd > 0 && dv > 0 ? f.scale * dv / dd : 0;
    f.left = ti_max(dd - f.scale * dv, 1e-12 * dd + 1e-300);
    f.gain = dd > 0 && dv > 0 ? ti_clear_gain(dd, dv, vv) : 1;
    f.kept = ti_max(dd - 2 * dv + vv, f.left);
    return f;
}

/* The reading over the number of rows that shows most, all on time; then the best delay for it. */
static follows best(const tribo_checked *c, const ti_joint *j, int *late, double *weight) {
    static const int spans[] = {1, 4, 12, 30};
    follows on_time = {0}, found;
    int span = 1;
    for (int i = 0; i < 4; i++) {
        follows f = judge(c, j, spans[i], 0);
        if (f.rows >= ROWS_LEAST && f.share > on_time.share) on_time = f, span = spans[i];
    }
    found = on_time, *late = 0;
    for (int lag = -2 * LAGS; lag <= 2 * LAGS && on_time.rows; lag++) {
        follows f = judge(c, j, span, lag);
        if (f.left < found.left) found = f, *late = lag;
    }
    *weight = on_time.rows ? on_time.rows / (span > 1 ? 2. : 1.) * log(on_time.left / found.left) : 0;
    if (*weight < evidence) *late = 0, found = on_time;
    return found;
}

static void rescale(tribo_checked *c, const ti_joint *j, bool rate, double factor) {
    for (int k = 0; k < c->n; k++) *number(c, j, k, rate) *= factor;
}

/* The unit that a ratio is nearest to, within a third; 0 = none. */
static double nearest(double scale, const double *units, int n) {
    for (int i = 0; i < n; i++)
        if (scale > 0.75 * units[i] && scale < 1.33 * units[i]) return units[i];
    return 0;
}

static bool mend_hinge(tribo_checked *c, const ti_joint *j, double scale) {
    const double units[] = {degrees, 1 / degrees};
    double unit = nearest(scale, units, 2);
    if (unit == 0) return false;
    bool rate = unit < 1;
    rescale(c, j, rate, 1 / degrees);
    ti_found(c, TRIBO_CONVENTION_ANGULAR, TRIBO_OUTCOME_MENDED, j->body, -1, 1 / degrees,
             "%s: the %s is in degrees%s, the %s in radians%s; taken as radians", j->name,
             rate ? "angular velocity" : "angle", rate ? " a second" : "", rate ? "angle" : "angular velocity",
             rate ? "" : " a second");
    return true;
}

static bool mend_slide(tribo_checked *c, const ti_joint *j, double scale) {
    const double units[] = {1e3, 1e-3, 1e2, 1e-2};
    double unit = nearest(scale, units, 4);
    if (unit == 0) return false;
    bool rate = unit<1, milli = unit> 500 || unit < 5e-3;
    rescale(c, j, rate, rate ? unit : 1 / unit);
    ti_found(c, rate ? TRIBO_CONVENTION_VELOCITY : TRIBO_CONVENTION_LENGTH, TRIBO_OUTCOME_MENDED, j->body, -1,
             rate ? unit : 1 / unit, "%s: the %s is in %s%s; taken as metres%s", j->name,
             rate ? "velocity" : "position", milli ? "millimetres" : "centimetres", rate ? " a second" : "",
             rate ? " a second" : "");
    return true;
}

/* Positions that change by a multiple of what the velocity says, in no unit: (494). */
static void note_gain(tribo_checked *c, const ti_joint *j, const follows *f) {
    double weight = f->rows / (f->span > 1 ? 2. : 1.) * log(f->kept / f->left);
    if (f->gain == 1 || weight < evidence) return;
    ti_found(c, TRIBO_CONVENTION_VELOCITY, TRIBO_OUTCOME_DOUBTED, j->body, -1, f->gain,
             "%s: the position changes by %.3g times what the velocity column says: times, or one of the two, are off "
             "by as much",
             j->name, f->gain);
}

/* The column is `late` half samples behind: whole ones are taken out; half of one is a difference's. */
static void mend_delay(tribo_checked *c, const ti_joint *j, int late, double share) {
    int lag = (late + 2 * LAGS) / 2 - LAGS;
    if (late >= -1 && late <= 1) lag = 0;
    for (int step = 0; step < c->n && lag; step++) {
        int k = lag > 0 ? step : c->n - 1 - step, from = k + lag;
        *number(c, j, k, true) = from >= 0 && from < c->n ? *number(c, j, from, true) : (double)NAN;
    }
    if (lag)
        ti_found(c, TRIBO_CONVENTION_DELAY, TRIBO_OUTCOME_MENDED, j->body, -1, lag,
                 "%s: the velocity column is %d samples %s the positions; moved", j->name, lag > 0 ? lag : -lag,
                 lag > 0 ? "behind" : "ahead of");
    else if (late && share > 1 - 1e-5)
        ti_found(c, TRIBO_CONVENTION_KIND, TRIBO_OUTCOME_NOTED, j->body, -1, late / 2.,
                 "%s: the velocity is the %s difference of the positions: it says nothing that they do not", j->name,
                 late > 0 ? "backward" : "forward");
}

/* Beyond its range by far, and inside of it once taken for degrees? */
static void check_range(tribo_checked *c, const ti_joint *j) {
    const double *own = c->p + j->p;
    double low = HUGE_VAL, high = -HUGE_VAL, room = 0.1 * (own[TI_P_UPPER] - own[TI_P_LOWER]);
    for (int k = 0; k < c->n; k++) {
        double q = *number(c, j, k, false);
        if (q < low) low = q;
        if (q > high) high = q;
    }
    if (!j->limited || !(high >= low) || (low >= own[TI_P_LOWER] - room && high <= own[TI_P_UPPER] + room)) return;
    bool as_degrees = j->kind == TI_JOINT_HINGE && low / degrees >= own[TI_P_LOWER] - room &&
                      high / degrees <= own[TI_P_UPPER] + room;
    if (as_degrees) {
        rescale(c, j, false, 1 / degrees), rescale(c, j, true, 1 / degrees);
        ti_found(c, TRIBO_CONVENTION_ANGULAR, TRIBO_OUTCOME_MENDED, j->body, -1, 1 / degrees,
                 "%s: angles from %.3g to %.3g are beyond its range and inside of it in degrees; taken as degrees",
                 j->name, low, high);
    } else {
        ti_found(c, TRIBO_CONVENTION_SCENE, TRIBO_OUTCOME_REFUSED, j->body, -1, 0,
                 "%s: %.3g to %.3g is far beyond its range, %.3g to %.3g: unit, sign, zero, or range is wrong", j->name,
                 low, high, own[TI_P_LOWER], own[TI_P_UPPER]);
    }
}

/* Times in thousandths where all velocity columns say so. */
static void check_times(tribo_checked *c) {
    const double units[] = {1e-3, 1e-6, 1e-9};
    double common = 0;
    int agreed = 0;
    for (int i = 0; i < c->z.njoint; i++) {
        int late;
        double weight;
        const ti_joint *j = &c->m->joint[i];
        if (j->kind == TI_JOINT_BALL) continue;
        follows f = best(c, j, &late, &weight);
        if (f.share < share_least) continue;
        double unit = nearest(f.scale, units, 3);
        if (unit == 0 || (common > 0 && unit != common)) return;
        common = unit, agreed++;
    }
    if (!agreed || c->spacing < 0.2 || (agreed == 1 && c->spacing < 0.9)) return;
    ti_scale_times(c, common, "the joints move");
}

/* Angles alone do not say how long a second is; rows so far apart tell nothing of forces that act between them. */
static void check_pace(tribo_checked *c, bool spoken) {
    const double slow = 0.9; /* s */
    if (spoken || c->spacing < slow) return;
    ti_found(c, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_REFUSED, -1, -1, c->spacing,
             "rows are %.3g s apart: are the times in milliseconds? No velocity column says how fast the joints move",
             c->spacing);
}

void ti_check_joints(tribo_checked *c) {
    bool spoken = false;
    check_times(c);
    for (int i = 0; i < c->z.njoint; i++) {
        const ti_joint *j = &c->m->joint[i];
        int late, rows = 0;
        double weight;
        if (j->kind == TI_JOINT_BALL) continue;
        for (int k = 0; k < c->n; k++) rows += measured(c, j, k, false) && measured(c, j, k, true);
        follows f = {0};
        if (rows >= ROWS_LEAST) f = best(c, j, &late, &weight);
        spoken |= f.share >= share_least;
        if (f.share >= share_least) {
            bool unit = j->kind == TI_JOINT_HINGE ? mend_hinge(c, j, f.scale) : mend_slide(c, j, f.scale);
            if (!unit) note_gain(c, j, &f);
            if (late) mend_delay(c, j, late, f.share);
        }
        check_range(c, j);
    }
    check_pace(c, spoken);
}
