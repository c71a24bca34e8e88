/* columns.c -- velocity columns against the poses: from row to row a pose changes by the velocity between them. Units,
 * frames, the order of quaternions and delays are read from which reading of the columns follows the poses best. */
#include "recording/order.h"
#include "recording/predict.h"
#include "recording/questions.h"

enum { LAGS = 6, ROWS_LEAST = 5, SPANS = 3 };
static const int spans[SPANS] = {1, 4, 12};
static const double degrees = 57.29577951308232;
/* A reading is taken for another where the logarithm of their likelihoods differs by this. */
static const double evidence = 12;
/* Columns that are half a sample off predict better by so much, of a logarithm of likelihood. Less is chance: of tosses
 * that land, differences at a jump follow the one or the other row by when it was. */
static const double likelier = 3;
/* What the columns must explain of the differences before anything is made of them. */
static const double share_least = 0.6;

/* One way to read an angular velocity (or, with nothing set, a velocity), and how well it follows the poses. */
typedef struct reading {
    bool last_is_real, inverse, world;
    int late;     /* half samples */
    int span;     /* rows between the poses that are compared: more where noise would hide the motion of one */
    double left;  /* of the square of the differences */
    double share; /* of it explained */
    double scale; /* unit of the poses over unit of the column */
    double size;  /* square of the column over that of the differences */
    double gain;  /* what the poses change by over the column in its unit, 1 where noise may be what it is off by */
    double freed; /* what is left with that gain, whatever it is */
    int rows;
} reading;

static double *column(const tribo_checked *c, int k, int body, int part) {
    return ti_rate(c, c->x, k, body) + 3 * part;
}

static int order_of(const reading *r) {
    return ti_order_of(r->last_is_real, r->inverse);
}

/* Differences of the poses from each row to the next over the time between, along world or body axes, into c->rate;
 * NaN where they are not known. */
static void differences(tribo_checked *c, int body, int part, const reading *r) {
    int order = order_of(r);
    for (int k = 0; k + 1 < c->n; k++) {
        double a[7], b[7], h = c->time[k + 1] - c->time[k], *d = c->rate + 3 * k;
        bool known = c->posed[k * c->z.nbody + body] && c->posed[(k + 1) * c->z.nbody + body] && h < 1.5 * c->spacing;
        memcpy(a, ti_pose(c, c->x, k, body), sizeof a);
        memcpy(b, ti_pose(c, c->x, k + 1, body), sizeof b);
        ti_reorder(a + 3, order), ti_reorder(b + 3, order);
        if (part)
            ti_turn(a + 3, b + 3, d);
        else
            for (int i = 0; i < 3; i++) d[i] = b[i] - a[i];
        for (int i = 0; i < 3; i++) d[i] = known ? d[i] / h : (double)NAN;
    }
}

/* Was the column measured in all rows that any delay would look at? The same rows for all of them. */
static bool measured(const tribo_checked *c, int k, int body, int part, int span) {
    for (int j = k - LAGS; j <= k + span + LAGS; j++) {
        const double *v = column(c, j, body, part);
        if (isnan(v[0] + v[1] + v[2])) return false;
    }
    return true;
}

/* What the column says of the interval after row k, if it is `late` by so many half samples. */
static void said(const tribo_checked *c, int k, int body, int part, const reading *r, double *v) {
    int at = k + (r->late + 2 * LAGS + 1) / 2 - LAGS, two = (r->late & 1) == 0;
    const double *one = column(c, at, body, part), *other = column(c, at + two, body, part);
    for (int i = 0; i < 3; i++) v[i] = (one[i] + other[i]) / 2;
    if (!r->world) return;
    double q[4];
    memcpy(q, ti_pose(c, c->x, k, body) + 3, sizeof q);
    ti_reorder(q, order_of(r));
    ti_mat R = ti_quat_mat(q);
    ti_store3(v, ti_tmul(&R, ti_load3(v)));
}

/* Both, as means over the rows of a span. */
static bool compared(const tribo_checked *c, int k, int body, int part, const reading *r, double *d, double *v) {
    memset(d, 0, 3 * sizeof *d), memset(v, 0, 3 * sizeof *v);
    if (!measured(c, k, body, part, r->span)) return false;
    for (int j = k; j < k + r->span; j++) {
        double other[3], *one = c->rate + 3 * j;
        if (isnan(one[0])) return false;
        said(c, j, body, part, r, other);
        for (int i = 0; i < 3; i++) d[i] += one[i] / r->span, v[i] += other[i] / r->span;
    }
    return true;
}

/* The power of ten in thousands that a number is near to; 1 where it is near to none. */
static double unit(double scale) {
    static const double units[] = {1, 1e3, 1e-3, 1e2, 1e-2, 1e-6, 1e-9};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (scale / units[i] > 0.6 && scale / units[i] < 1.67) return units[i];
    return 1;
}

/* How well a reading follows the poses, all of its numbers but what is read. */
static void judge(const tribo_checked *c, int body, int part, reading *r) {
    double dd = 0, dv = 0, vv = 0;
    r->rows = 0;
    for (int k = LAGS; k + LAGS + r->span < c->n; k += (r->span + 1) / 2) {
        double d[3], v[3];
        if (!compared(c, k, body, part, r, d, v)) continue;
        for (int i = 0; i < 3; i++) dd += d[i] * d[i], dv += d[i] * v[i], vv += v[i] * v[i];
        r->rows++;
    }
    double least = 1e-9 * (part ? 1 : c->extent) / c->spacing; /* below that all is rounding */
    if (!(dd > r->rows * least * least)) dd = 0;
    r->scale = vv > 0 && dv > 0 ? dv / vv : 1;
    r->share = dd > 0 ? r->scale * dv / dd : 0;
    /* with the unit that it must be: a column that is late is a little too large all the same while bodies slow down */
    double whole = unit(r->scale), per_degree = unit(r->scale * degrees) / degrees;
    double scale = part && fabs(log(per_degree / r->scale)) < fabs(log(whole / r->scale)) ? per_degree : whole;
    double left = dd > 0 ? dd - 2 * scale * dv + scale * scale * vv : 0;
    r->left = left > 1e-12 * dd ? left : 1e-12 * dd + 1e-300;
    r->size = dd > 0 ? vv / dd : 0;
    r->gain = dd > 0 && dv > 0 ? ti_clear_gain(dd, dv * scale, vv * scale * scale) : 1;
    r->freed = dd > 0 && vv > 0 ? ti_max(dd - dv * dv / vv, 1e-12 * dd + 1e-300) : r->left;
}

static double weight_of(const reading *better, const reading *worse) {
    /* spans overlap by half */
    return better->rows * (better->span > 1 ? 1 : 1.5) * log(worse->left / better->left);
}

/* The best reading over all delays; the same one on time. */
static reading best_delay(tribo_checked *c, int body, int part, reading way, reading *on_time) {
    reading best = {.left = HUGE_VAL};
    differences(c, body, part, &way);
    for (int late = -2 * LAGS; late <= 2 * LAGS; late++) {
        way.late = late;
        judge(c, body, part, &way);
        if (way.left < best.left) best = way;
        if (!late) *on_time = way;
    }
    return best;
}

/* How a column is to be read: as it should be, unless another reading is much likelier. False: too few rows. */
static bool best_at(tribo_checked *c, int body, int part, int span, reading *found, double *weight) {
    reading given = {.span = span}, given_on_time, on_time;
    reading best = given = best_delay(c, body, part, given, &given_on_time);
    on_time = given_on_time;
    if (given.rows < ROWS_LEAST) return false;
    for (int way = 1; way < (part ? 8 : 1); way++) {
        reading other = {.span = span, .last_is_real = way & 1, .inverse = way & 2, .world = way & 4}, other_on_time;
        other = best_delay(c, body, part, other, &other_on_time);
        if (other.left < best.left) best = other, on_time = other_on_time;
    }
    if (weight_of(&best, &given) < evidence) best = given, on_time = given_on_time;
    if (weight_of(&best, &on_time) < evidence) best = on_time;
    *found = best;
    *weight = weight_of(&best, &given_on_time);
    return true;
}

/* The reading over the number of rows that says most; what is in the column at most, compared with the poses. */
static bool best(tribo_checked *c, int body, int part, reading *found, double *size) {
    double most = -1;
    *size = 0;
    for (int i = 0; i < SPANS; i++) {
        reading r;
        double weight;
        if (!best_at(c, body, part, spans[i], &r, &weight)) break;
        if (r.size > *size) *size = r.size;
        if (weight < most || (weight == most && r.share < found->share)) continue;
        most = weight, *found = r;
    }
    return most >= 0;
}

/* How much more the poses change by than the column says, in its unit, where no delay explains that: (494). Its delay
 * is then that of a difference of the poses, or none. */
static double gain_of(tribo_checked *c, int body, int part, reading *as) {
    double most = evidence, gain = 1;
    reading way = *as;
    for (int i = 0; i < SPANS; i++) {
        reading on_time, freed = {.freed = HUGE_VAL};
        way.span = spans[i];
        reading delayed = best_delay(c, body, part, way, &on_time);
        if (on_time.rows < ROWS_LEAST) break;
        for (way.late = -1; way.late <= 1; way.late++) {
            judge(c, body, part, &way);
            if (way.freed < freed.freed) freed = way;
        }
        freed.left = freed.freed;
        if (weight_of(&freed, &delayed) < likelier) continue;
        double weight = weight_of(&freed, &on_time);
        if (weight > most && freed.gain != 1) most = weight, gain = freed.gain, as->late = freed.late;
    }
    return gain;
}

static void note_gain(tribo_checked *c, int body, int part, double gain) {
    ti_found(c, TRIBO_CONVENTION_VELOCITY, TRIBO_OUTCOME_DOUBTED, body, -1, gain,
             "%s: poses change by %.3g times what the %s columns say: times, %sor that column are off by as much",
             tribo_model_body_name(c->m, body), gain, part ? "angular velocity" : "velocity", part ? "" : "lengths, ");
}

/* Change the column's reading into a state's. */
static void reread(tribo_checked *c, int body, int part, const reading *r, double scale) {
    int lag = (r->late + 2 * LAGS) / 2 - LAGS; /* rounded down: what is left is a backward difference */
    if (r->late >= -1 && r->late <= 1) lag = 0;
    c->late[2 * body + part] = r->late - 2 * lag;
    for (int step = 0; step < c->n; step++) { /* in the direction in which nothing is overwritten too early */
        int k = lag >= 0 ? step : c->n - 1 - step, from = k + lag;
        double *v = column(c, k, body, part);
        ti_mat R = ti_quat_mat(ti_pose(c, c->x, k, body) + 3);
        for (int i = 0; i < 3; i++)
            v[i] = from >= 0 && from < c->n ? scale * column(c, from, body, part)[i] : (double)NAN;
        if (r->world) ti_store3(v, ti_tmul(&R, ti_load3(v)));
    }
    if (lag)
        ti_found(c, TRIBO_CONVENTION_DELAY, TRIBO_OUTCOME_MENDED, body, -1, lag,
                 "%s: the %s columns are %d samples %s the poses; moved", tribo_model_body_name(c->m, body),
                 part ? "angular velocity" : "velocity", lag > 0 ? lag : -lag, lag > 0 ? "behind" : "ahead of");
}

static void reorder_poses(tribo_checked *c, int body, const reading *r) {
    int order = order_of(r);
    for (int k = 0; k < c->n; k++) ti_reorder(ti_pose(c, c->x, k, body) + 3, order);
    ti_found(c, TRIBO_CONVENTION_ORDER, TRIBO_OUTCOME_MENDED, body, -1, order,
             "%s: quaternions are %s: the angular velocity says how they turn; read as such",
             tribo_model_body_name(c->m, body), ti_order_words(order));
}

static void angular(tribo_checked *c, int body, const reading *r) {
    const char *name = tribo_model_body_name(c->m, body);
    double per_degree = r->scale * degrees, scale = 1;
    if (r->last_is_real || r->inverse) reorder_poses(c, body, r);
    if (per_degree > 0.6 && per_degree < 1.67) {
        scale = 1 / degrees;
        ti_found(c, TRIBO_CONVENTION_ANGULAR, TRIBO_OUTCOME_MENDED, body, -1, scale,
                 "%s: the angular velocity is in degrees a second; taken as radians", name);
    }
    if (r->world)
        ti_found(c, TRIBO_CONVENTION_FRAME, TRIBO_OUTCOME_MENDED, body, -1, 1,
                 "%s: the angular velocity is along the axes of the world; turned into the body's", name);
    reread(c, body, 1, r, scale);
}

static void linear(tribo_checked *c, int body, const reading *r) {
    const char *name = tribo_model_body_name(c->m, body);
    double factor = unit(r->scale), scale = 1;
    if (factor > 1) { /* the poses are in a smaller unit than the velocities: those of all bodies, once */
        for (int b = 0; b < c->z.nbody; b++)
            for (int k = 0; k < c->n && c->m->body[b].free >= 0; k++)
                for (int i = 0; i < 3; i++) ti_pose(c, c->x, k, b)[i] /= factor;
        c->noise /= factor;
        ti_found(c, TRIBO_CONVENTION_LENGTH, TRIBO_OUTCOME_MENDED, -1, -1, 1 / factor,
                 "positions are in %s, velocities in m/s; taken as metres",
                 factor > 500 ? "millimetres" : "centimetres");
    } else if (factor < 1) {
        scale = factor;
        ti_found(c, TRIBO_CONVENTION_VELOCITY, TRIBO_OUTCOME_MENDED, body, -1, scale,
                 "%s: velocities are in %s a second, positions in metres; taken as m/s", name,
                 factor < 5e-3 ? "millimetres" : "centimetres");
    }
    reread(c, body, 0, r, scale);
}

/* Is the column no more than a difference of neighbouring poses? */
static bool exact(const reading *r) {
    return r->share > 1 - 1e-5;
}

/* A column that says much more than the poses show, and something else, is none of their velocity. */
static void leave_out(tribo_checked *c, int body, int part) {
    for (int k = 0; k < c->n; k++)
        for (int i = 0; i < 3; i++) column(c, k, body, part)[i] = (double)NAN;
    ti_found(c, part ? TRIBO_CONVENTION_ANGULAR : TRIBO_CONVENTION_VELOCITY, TRIBO_OUTCOME_MENDED, body, -1, 0,
             "%s: the %s columns have nothing to do with how the poses change: left out",
             tribo_model_body_name(c->m, body), part ? "angular velocity" : "velocity");
}

/* The unit of time that a column shows: seconds are 1. */
static double time_unit(const tribo_checked *c, int part, const reading *r) {
    double factor = unit(r->scale), per_degree = unit(r->scale * degrees);
    if (!part) return c->spacing > 0.5 && factor < 1e-2 ? factor : 1;
    return factor <= 1e-3 ? factor : factor == 1 && per_degree <= 1e-3 ? per_degree : 1;
}

static void check_column(tribo_checked *c, int body, int part, reading *r) {
    double gain = gain_of(c, body, part, r);
    if (gain != 1) note_gain(c, body, part, gain);
    if (part)
        angular(c, body, r);
    else
        linear(c, body, r);
    int late = c->late[2 * body + part];
    if (exact(r) && late)
        ti_found(c, TRIBO_CONVENTION_KIND, TRIBO_OUTCOME_NOTED, body, -1, late / 2.,
                 "%s: the %s is the %s difference of the poses: it says nothing that they do not",
                 tribo_model_body_name(c->m, body), part ? "angular velocity" : "velocity",
                 late > 0 ? "backward" : "forward");
}

static void check_body(tribo_checked *c, int body) {
    reading r[2];
    bool any[2], clear[2];
    double size[2];
    for (int part = 0; part < 2; part++) {
        any[part] = best(c, body, part, &r[part], &size[part]);
        clear[part] = any[part] && r[part].share >= share_least;
    }
    for (int part = 1; part >= 0; part--) {
        double factor = clear[part] ? time_unit(c, part, &r[part]) : 1;
        if (factor == 1) continue;
        ti_scale_times(c, factor, "the poses change");
        for (int i = 0; i < 2; i++) r[i].scale /= factor, size[i] *= factor * factor;
        break;
    }
    for (int part = 1; part >= 0; part--) {
        if (clear[part]) check_column(c, body, part, &r[part]);
        if (any[part] && !clear[part] && size[part] > 9) leave_out(c, body, part);
    }
}

void ti_check_columns(tribo_checked *c) {
    for (int body = 0; body < c->z.nbody; body++)
        if (c->m->body[body].free >= 0) check_body(c, body);
}

/* The mean of two neighbouring differences is the velocity between them. */
static void centre(tribo_checked *c, double *x, int body, int part) {
    int late = c->late[2 * body + part];
    for (int step = 0; step + 1 < c->n && late; step++) {
        int k = late > 0 ? step : c->n - 1 - step;
        double *v = ti_rate(c, x, k, body) + 3 * part, *w = ti_rate(c, x, k + late, body) + 3 * part;
        for (int i = 0; i < 3; i++)
            if (!isnan(w[i])) v[i] = (v[i] + w[i]) / 2;
    }
}

/* The velocities of all bodies, or their angular velocities, where they are half a sample off. */
static void check_kind(tribo_checked *c, int part) {
    double was[TI_WINDOWS_MAX], is[TI_WINDOWS_MAX], gain = 0;
    size_t bytes = (size_t)c->n * (size_t)c->z.nx * sizeof *c->y;
    bool any = false;
    for (int b = 0; b < c->z.nbody; b++) any |= c->late[2 * b + part] != 0;
    if (!any) return;
    memcpy(c->y, c->x, bytes);
    for (int b = 0; b < c->z.nbody; b++) centre(c, c->y, b, part);
    int n = ti_predict_windows(c, c->x, true, HUGE_VAL, was);
    ti_predict_windows(c, c->y, true, HUGE_VAL, is);
    for (int i = 0; i < n; i++) gain += was[i] - is[i];
    if (!(gain > likelier))
        return; /* as where a simulation with steps of a row wrote it: its velocities are differences */
    memcpy(c->x, c->y, bytes);
    ti_found(c, TRIBO_CONVENTION_KIND, TRIBO_OUTCOME_MENDED, -1, -1, 0.5,
             "the %s columns are half a sample off, as differences of neighbouring poses are; means of two neighbours "
             "are taken in their place",
             part ? "angular velocity" : "velocity");
}

void ti_check_kinds(tribo_checked *c) {
    for (int part = 0; part < 2; part++) check_kind(c, part);
}
