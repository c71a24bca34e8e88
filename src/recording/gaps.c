/* gaps.c -- rows that are missing, rows that nothing could have gone through, names exchanged half way. Velocities may
 * jump from row to row, poses may not: the way from one row to the next lies between those before and after it. What
 * moves are free bodies and, behind them in number, joints of one axis. */
#include "recording/questions.h"
#include <stdio.h>

enum { MENDS_MAX = 8, ROWS_LONG = 4, WAY = TI_WAY, EDGE = 6 };
static const double far = 12;                               /* of the noise of a row: no chance */
static const double joints_jump = 0.01, joints_miss = 0.02; /* of the extent: joints turn without a slip */

int ti_movers(const tribo_checked *c) {
    return c->z.nbody + c->z.njoint;
}

static bool moves(const tribo_checked *c, int b) {
    return b < c->z.nbody ? c->m->body[b].free >= 0 : ti_is_axis(&c->m->joint[b - c->z.nbody]);
}

/* The same of a joint, a turn at half the extent. */
static bool joint_way(tribo_checked *c, int k, const ti_joint *j, double s[WAY]) {
    double *q = c->x + (size_t)k * (size_t)c->z.nx + j->q;
    memset(s, 0, WAY * sizeof *s);
    s[0] = (q[c->z.nx] - q[0]) * (j->kind == TI_JOINT_HINGE ? c->extent / 2 : 1);
    return !isnan(s[0]);
}

bool ti_way(tribo_checked *c, int k, int b, double s[WAY]) {
    if (k < 0 || k + 1 >= c->n || !moves(c, b)) return false;
    if (b >= c->z.nbody) return joint_way(c, k, &c->m->joint[b - c->z.nbody], s);
    if (!c->posed[k * c->z.nbody + b] || !c->posed[(k + 1) * c->z.nbody + b]) return false;
    const double *p = ti_pose(c, c->x, k, b), *q = ti_pose(c, c->x, k + 1, b);
    ti_turn(p + 3, q + 3, s + 3);
    for (int i = 0; i < 3; i++) s[i] = q[i] - p[i], s[3 + i] *= c->extent / 2;
    return true;
}

/* How far a way s is from all that lies between two others. */
static double outside(const double *s, const double *before, const double *after) {
    double along = 0, length = 0, square = 0;
    for (int i = 0; i < WAY; i++) {
        double d = after[i] - before[i];
        along += (s[i] - before[i]) * d, length += d * d;
    }
    double t = length > 0 ? along / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (int i = 0; i < WAY; i++) {
        double d = s[i] - before[i] - t * (after[i] - before[i]);
        square += d * d;
    }
    return sqrt(square);
}

static bool steady(const tribo_checked *c, int k) {
    return k >= 0 && k + 1 < c->n && c->time[k + 1] - c->time[k] < 1.5 * c->spacing;
}

/* How far the way of body b after row k is outside of what its neighbours allow; 0 where that cannot be told. */
static double excess(tribo_checked *c, int k, int b) {
    double s[WAY], before[WAY], after[WAY];
    if (!steady(c, k) || !steady(c, k - 1) || !steady(c, k + 1)) return 0;
    if (!ti_way(c, k, b, s) || !ti_way(c, k - 1, b, before) || !ti_way(c, k + 1, b, after)) return 0;
    double stretch = (c->time[k + 1] - c->time[k]) / c->spacing;
    for (int i = 0; i < WAY; i++) s[i] /= stretch; /* times may tremble a little */
    return outside(s, before, after);
}

/* What no motion does: far beyond noise, beyond what is usual in this recording, and visible at the body's size. */
static double limit(tribo_checked *c) {
    double least = far * c->noise, size = (c->z.njoint ? joints_jump : 0.1) * c->extent;
    size_t n = 0;
    for (int k = 1; k + 2 < c->n; k++) {
        double worst = 0;
        for (int b = 0; b < ti_movers(c); b++) worst = fmax(worst, excess(c, k, b));
        c->rate[n++] = worst;
    }
    double usual = n ? 8 * ti_median(c->rate, n) : 0;
    least = least > size ? least : size;
    return least > usual ? least : usual;
}

static int jump_of(tribo_checked *c, double most, int from) {
    for (int k = from; k + 2 < c->n; k++)
        for (int b = 0; b < ti_movers(c); b++)
            if (excess(c, k, b) > most) return k;
    return -1;
}

/* Mean way of a body in the rows before k and after k + 1. */
static bool usual_way(tribo_checked *c, int k, int b, double mean[WAY]) {
    int n = 0;
    memset(mean, 0, WAY * sizeof *mean);
    for (int side = 0; side < 2; side++)
        for (int j = 1; j <= 3; j++) {
            double s[WAY];
            int row = side ? k + j : k - j;
            if (!steady(c, row) || !ti_way(c, row, b, s)) return false;
            for (int i = 0; i < WAY; i++) mean[i] += s[i];
            n++;
        }
    for (int i = 0; i < WAY; i++) mean[i] /= n;
    return true;
}

/* How fast a joint goes at the end of a gap before row k + 1 (side 0) or behind row k, and how that changes, a row. */
static bool speed_at(tribo_checked *c, int k, int b, int side, int edge, double *v, double *a) {
    double mean = 0, at = 0, square = 0, slope = 0;
    for (int j = 1; j <= edge; j++) {
        double s[WAY], u = side ? j - 0.5 : 0.5 - j;
        int row = side ? k + j : k - j;
        if (!steady(c, row) || !ti_way(c, row, b, s)) return false;
        mean += s[0] / edge, at += u / edge, square += u * u, slope += u * s[0];
    }
    *a = (slope - edge * at * mean) / (square - edge * at * at), *v = mean - *a * at;
    return true;
}

/* Joints speed up and slow down meanwhile: their way is a cubic through a gap of so many rows that all agree on.
 * 0: none, or they cannot tell. */
static int rows_of_joints(tribo_checked *c, int k, int edge, double most) {
    double least = HUGE_VAL, second = HUGE_VAL;
    int rows = 0, largest = c->n;
    for (int n = 2; n <= largest; n++) {
        double left = 0;
        for (int b = 0; b < ti_movers(c); b++) {
            double s[WAY], v[2], a[2];
            if (!moves(c, b)) continue;
            if (b < c->z.nbody || !ti_way(c, k, b, s)) return 0;
            for (int side = 0; side < 2; side++)
                if (!speed_at(c, k, b, side, edge, &v[side], &a[side])) return 0;
            double off = s[0] - n * (v[0] + v[1]) / 2 - n * n * (a[0] - a[1]) / 12;
            left += off * off;
        }
        if (left < least)
            second = least, least = left, rows = n;
        else if (left < second)
            second = left;
    }
    return sqrt(least) < most / 2 && second > 4 * least ? rows - 1 : 0;
}

static bool any_free(const tribo_checked *c) {
    for (int b = 0; b < c->z.nbody; b++)
        if (moves(c, b)) return true;
    return false;
}

/* Would a whole number of missing rows explain the jump of all bodies at once? */
static int rows_of_ways(tribo_checked *c, int k, double most) {
    double along = 0, length = 0, left = 0, size = 0;
    for (int b = 0; b < ti_movers(c); b++) {
        double s[WAY], mean[WAY];
        if (!moves(c, b)) continue;
        if (!ti_way(c, k, b, s) || !usual_way(c, k, b, mean)) return 0;
        for (int i = 0; i < WAY; i++) along += s[i] * mean[i], length += mean[i] * mean[i];
    }
    double ratio = length > 0 ? along / length : 0, rows = floor(ratio + 0.5) - 1;
    if (!(rows >= 1) || rows > 10 * c->n) return 0;
    /* a mean of six ways is off by about the noise over twice their root; a row more or less must be worse than that */
    if (!(sqrt(length) > 2 * ratio * c->noise) || fabs(ratio - 1 - rows) > 0.3) return 0;
    for (int b = 0; b < ti_movers(c); b++) {
        double s[WAY], mean[WAY];
        if (!moves(c, b)) continue;
        if (!ti_way(c, k, b, s) || !usual_way(c, k, b, mean)) return 0;
        for (int i = 0; i < WAY; i++) left += (s[i] - ratio * mean[i]) * (s[i] - ratio * mean[i]), size += s[i] * s[i];
    }
    /* a body that tumbles turns about other axes meanwhile */
    double may = 0.3 * sqrt(size) > most / 2 ? 0.3 * sqrt(size) : most / 2;
    return sqrt(left) < may ? (int)rows : 0;
}

/* A row too many is worse than half of a recording: of joints, whose speeds change, two must say the same. */
static int rows_missing(tribo_checked *c, int k, double most) {
    if (!any_free(c)) most = fmax(most, joints_miss * c->extent); /* a cubic is not quite how they move */
    int rows = rows_of_ways(c, k, most);
    if (any_free(c)) return rows;
    int near = rows_of_joints(c, k, EDGE - 2, most), far_off = rows_of_joints(c, k, EDGE, most);
    return near == far_off ? near : rows == near || rows == far_off ? rows : 0;
}

static void swap_from(tribo_checked *c, int row, int a, int b) {
    for (int k = row; k < c->n; k++)
        for (int i = 0; i < 13; i++) {
            double *x = i < 7 ? ti_pose(c, c->x, k, a) + i : ti_rate(c, c->x, k, a) + i - 7;
            double *y = i < 7 ? ti_pose(c, c->x, k, b) + i : ti_rate(c, c->x, k, b) + i - 7;
            double keep = *x;
            *x = *y, *y = keep;
        }
}

/* Did two bodies exchange their names after row k? Then they do it back. */
static bool names_exchanged(tribo_checked *c, int k, double most) {
    for (int a = 0; a < c->z.nbody; a++)
        for (int b = a + 1; b < c->z.nbody; b++) {
            if (!moves(c, a) || !moves(c, b)) continue;
            if (!(excess(c, k, a) > most && excess(c, k, b) > most)) continue;
            swap_from(c, k + 1, a, b);
            if (excess(c, k, a) < most && excess(c, k, b) < most) {
                ti_found(c, TRIBO_CONVENTION_NAMES, TRIBO_OUTCOME_MENDED, a, k + 1, 1,
                         "%s and %s exchange their names after row %d: each jumps to where the other was; given back",
                         tribo_model_body_name(c->m, a), tribo_model_body_name(c->m, b), k);
                return true;
            }
            swap_from(c, k + 1, a, b);
        }
    return false;
}

/* Is row k + 1 alone out of place? Then it was not measured. */
static bool row_wrong(tribo_checked *c, int k, double most) {
    bool any = false;
    for (int b = 0; b < ti_movers(c); b++) {
        double first[WAY], second[WAY], before[WAY], after[WAY], both[WAY];
        if (!moves(c, b)) continue;
        if (!ti_way(c, k, b, first) || !ti_way(c, k + 1, b, second)) return false;
        if (!ti_way(c, k - 1, b, before) || !ti_way(c, k + 2, b, after)) return false;
        for (int i = 0; i < WAY; i++) both[i] = (first[i] + second[i]) / 2;
        double away = outside(first, before, after);
        if (outside(both, before, after) > (away > most ? away / 4 : most)) return false; /* it does not come back */
        if (away < most) continue;
        any = true;
        const ti_joint *j = b < c->z.nbody ? NULL : &c->m->joint[b - c->z.nbody];
        for (int i = 0; i < 7 && !j; i++) ti_pose(c, c->x, k + 1, b)[i] = (double)NAN;
        if (j) c->x[(size_t)(k + 1) * (size_t)c->z.nx + (size_t)j->q] = (double)NAN;
        ti_found(c, TRIBO_CONVENTION_OUTLIER, TRIBO_OUTCOME_MENDED, j ? j->body : b, k + 1, 1,
                 "%s: row %d is where it cannot have been, and the next is not: left out",
                 j ? j->name : tribo_model_body_name(c->m, b), k + 1);
    }
    return any;
}

static const char MOTION[] = "the motion jumps", UNEXPLAINED[] = "and no number of missing rows explains it";

/* The longer part before or after a gap behind row k. */
static void keep_longer(tribo_checked *c, int k, const char *what, const char *why) {
    int from = k + 1 > c->n - k - 1 ? 0 : k + 1, rows = from ? c->n - k - 1 : k + 1;
    size_t nx = (size_t)c->z.nx, nu = (size_t)c->z.nu;
    ti_found(c, TRIBO_CONVENTION_GAP, rows < ROWS_LONG ? TRIBO_OUTCOME_REFUSED : TRIBO_OUTCOME_MENDED, -1, k + 1, 0,
             "%s between rows %d and %d, %s: rows %d to %d are kept", what, k, k + 1, why, from, from + rows - 1);
    memmove(c->time, c->time + from, (size_t)rows * sizeof *c->time);
    memmove(c->x, c->x + (size_t)from * nx, (size_t)rows * nx * sizeof *c->x);
    size_t nf = ti_forces(c), nm = 3 * (size_t)c->z.nsite;
    if (c->marker) memmove(c->marker, c->marker + (size_t)from * nm, (size_t)rows * nm * sizeof *c->marker);
    if (c->force) memmove(c->force, c->force + (size_t)from * nf, (size_t)rows * nf * sizeof *c->force);
    if (c->u) memmove(c->u, c->u + (size_t)from * nu, (size_t)rows * nu * sizeof *c->u);
    c->n = rows;
}

static void shift_times(tribo_checked *c, int k, int missing) {
    for (int j = k + 1; j < c->n; j++) c->time[j] += missing * c->spacing;
    ti_found(c, TRIBO_CONVENTION_GAP, TRIBO_OUTCOME_MENDED, -1, k + 1, missing,
             "%d rows are missing between rows %d and %d, and the times do not show it: everything goes on %d rows "
             "further; later times moved by %.4g s",
             missing, k, k + 1, missing + 1, missing * c->spacing);
}

static void mend(tribo_checked *c, int k, double most) {
    int missing = rows_missing(c, k, most);
    if (missing) {
        shift_times(c, k, missing);
    } else if (!names_exchanged(c, k, most) && !row_wrong(c, k, most)) {
        keep_longer(c, k, MOTION, UNEXPLAINED);
    }
    ti_survey(c);
}

/* ---- slow bodies: no row jumps out, but the lines through the rows on both sides do not meet ---- */

enum { SIDE = 6 };
static const double sure = 6;     /* errors: no chance */
static const double hardest = 15; /* m/s^2: what holds or drives, between rows; more is an impact */

typedef struct lines_apart {
    double rows, error;     /* how many rows the jump is of, and the error of that */
    double sigma, along;    /* of a row, all directions; along the way alone */
    double kink, left, way; /* of speeds, of the jump across the way, the way of a row, m */
} lines_apart;

/* Body b in row j as seen from row k: a displacement and a turn at half the extent. */
static bool place(tribo_checked *c, int k, int j, int b, double s[WAY]) {
    const double *p = ti_pose(c, c->x, k, b), *q = ti_pose(c, c->x, j, b);
    if (!c->posed[k * c->z.nbody + b] || !c->posed[j * c->z.nbody + b]) return false;
    ti_turn(p + 3, q + 3, s + 3);
    for (int i = 0; i < 3; i++) s[i] = q[i] - p[i], s[3 + i] *= c->extent / 2;
    return true;
}

/* The line through one side: its middle, its slope a row, and what it leaves of each row. */
static bool line(tribo_checked *c, int k, int b, int side, double mean[WAY], double slope[WAY],
                 double left[SIDE][WAY]) {
    const double middle = (SIDE - 1) / 2., square = SIDE * (SIDE * SIDE - 1) / 12.;
    memset(mean, 0, WAY * sizeof *mean), memset(slope, 0, WAY * sizeof *slope);
    for (int j = 0; j < SIDE; j++) {
        if (!place(c, k, side ? k + 1 + j : k - SIDE + 1 + j, b, left[j])) return false;
        for (int i = 0; i < WAY; i++) mean[i] += left[j][i] / SIDE, slope[i] += left[j][i] * (j - middle) / square;
    }
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < WAY; i++) left[j][i] -= mean[i] + slope[i] * (j - middle);
    return true;
}

/* What the lines before row k + 1 and behind row k say of one body. Sums: of the jump along the way, of squares. */
static bool add_lines(tribo_checked *c, int k, int b, double sum[6]) {
    double mean[2][WAY], slope[2][WAY], left[2][SIDE][WAY], d[WAY], s[WAY];
    for (int side = 0; side < 2; side++)
        if (!line(c, k, b, side, mean[side], slope[side], left[side])) return false;
    for (int i = 0; i < WAY; i++) {
        s[i] = (slope[0][i] + slope[1][i]) / 2, d[i] = mean[1][i] - mean[0][i] - SIDE * s[i];
        double turned = slope[1][i] - slope[0][i];
        sum[0] += d[i] * s[i], sum[1] += s[i] * s[i], sum[2] += d[i] * d[i], sum[3] += turned * turned;
    }
    for (int side = 0; side < 2; side++)
        for (int j = 0; j < SIDE; j++) {
            double along = 0;
            for (int i = 0; i < WAY; i++)
                sum[4] += left[side][j][i] * left[side][j][i], along += left[side][j][i] * s[i];
            sum[5] += along * along;
        }
    return true;
}

static bool lines_at(tribo_checked *c, int k, lines_apart *at) {
    double all[6] = {0}, square = 0;
    int bodies = 0;
    for (int j = k - SIDE + 1; j < k + SIDE; j++)
        if (!steady(c, j)) return false;
    for (int b = 0; b < c->z.nbody; b++) {
        if (!moves(c, b)) continue;
        double own[6] = {0};
        if (!add_lines(c, k, b, own)) return false;
        for (int i = 0; i < 5; i++) all[i] += own[i];
        square = fmax(square, own[1] > 0 ? own[5] / own[1] : 0), bodies++;
    }
    const int free = 2 * (SIDE - 2);
    at->way = sqrt(all[1]), at->rows = all[1] > 0 ? all[0] / all[1] : 0, at->kink = sqrt(all[3]);
    at->left = sqrt(fmax(0, all[2] - at->rows * all[0]) / (WAY * bodies));
    at->sigma = sqrt(all[4] / (free * WAY * bodies)), at->along = sqrt(square / free);
    return bodies > 0;
}

/* The error of how far lines are apart that are as many rows from one another, in that of a row. */
static double apart_error(double rows) {
    return sqrt(1. / 3 + (SIDE + rows) * (SIDE + rows) / 35);
}

/* The row behind which rows are missing for sure, most surely of all; -1 = none. */
static int missing_after(tribo_checked *c, lines_apart *found) {
    double most = sure;
    size_t n = 0;
    int best = -1;
    lines_apart at;
    for (int k = SIDE; k + SIDE < c->n; k++)
        if (lines_at(c, k, &at)) c->rate[n++] = at.sigma;
    double usual = ti_median(c->rate, n);
    for (int k = SIDE; k + SIDE < c->n; k++) {
        if (!lines_at(c, k, &at) || !(at.way > 0)) continue;
        double sigma = fmax(fmax(usual, at.sigma), at.along), surely = at.rows * at.way / (apart_error(0) * sigma);
        bool smooth = at.kink < hardest * (SIDE + at.rows) * c->spacing * c->spacing + 2 * sigma / SIDE;
        if (!smooth || at.rows - at.kink / (2 * at.way) < 1.5 || at.left > 2 * apart_error(at.rows) * sigma) continue;
        if (surely > most) most = surely, best = k, *found = at, found->error = apart_error(at.rows) * sigma / at.way;
    }
    return best;
}

/* Their number, where it is sure; else the longer part is kept. */
static void mend_slow(tribo_checked *c) {
    lines_apart at;
    int k = missing_after(c, &at);
    if (k < 0) return;
    int rows = (int)floor(at.rows + 0.5);
    if (at.error < 0.2 && fabs(at.rows - rows) < 0.35)
        shift_times(c, k, rows);
    else
        keep_longer(c, k, MOTION, UNEXPLAINED);
    ti_survey(c);
}

/* Where times jump by far more than all that is recorded lasts, a clock was set, or one of them is wrong: what went on
 * meanwhile says nothing, and simulating it would not end. */
void ti_check_clock(tribo_checked *c) {
    const double rows = 1000, spans = 10;
    while (c->n > ROWS_LONG) {
        double span = 0, most = 0;
        int at = -1;
        for (int k = 0; k + 1 < c->n; k++) {
            double h = c->time[k + 1] - c->time[k];
            if (h > most) most = h, at = k;
            span += h > rows * c->spacing ? 0 : h;
        }
        if (!(most > rows * c->spacing && most > spans * span)) return;
        char why[64];
        snprintf(why, sizeof why, "by %.3g s, longer than any of it goes on", most);
        keep_longer(c, at, "times jump", why);
        ti_survey(c);
    }
}

void ti_note_times(tribo_checked *c) {
    int gaps = 0, at = -1;
    double most = 0;
    for (int k = 0; k + 1 < c->n; k++) {
        double h = c->time[k + 1] - c->time[k];
        if (h <= 3.5 * c->spacing) continue;
        gaps++;
        if (h > most) most = h, at = k;
    }
    if (gaps && gaps <= c->n / 20 + 1)
        ti_found(c, TRIBO_CONVENTION_GAP, TRIBO_OUTCOME_NOTED, -1, at, most / c->spacing - 1,
                 "rows are missing in %d place%s by the times, most after row %d (%.3g s): the motion is simulated "
                 "through",
                 gaps, gaps > 1 ? "s" : "", at, most);
}

void ti_check_gaps(tribo_checked *c) {
    ti_note_times(c);
    double most = limit(c);
    for (int mends = 0, from = 1; c->n > ROWS_LONG; mends++) {
        int k = jump_of(c, most, from);
        if (k < 0) break;
        if (mends == MENDS_MAX) {
            ti_found(c, TRIBO_CONVENTION_OUTLIER, TRIBO_OUTCOME_REFUSED, -1, k, MENDS_MAX,
                     "the motion jumps in more than %d places, next after row %d: times or poses are wrong", MENDS_MAX,
                     k);
            return;
        }
        mend(c, k, most);
    }
    if (!c->z.njoint) mend_slow(c);
}
