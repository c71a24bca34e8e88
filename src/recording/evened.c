/* evened.c -- times that jitter about rows which follow one another evenly: stamped when a computer had time for them,
 * not when they were measured. A motion is smooth by the times at which it was seen, and rough by others.
 * docs/math.md eq. (503). */
#include "recording/questions.h"

enum { FEWEST = 8, SIDE = 5 };

/* How long the way is from the row before to the row after. */
static double length(const double *before, const double *after) {
    double square = 0;
    for (int i = 0; i < TI_WAY; i++) square += (before[i] + after[i]) * (before[i] + after[i]);
    return sqrt(square);
}

/* How far a row whose time is a share of the way is from there, along that way, which is where a wrong time puts it;
 * squared, in units of what noise makes of that. */
static double off_way(const double *before, const double *after, double share) {
    double along = 0;
    for (int i = 0; i < TI_WAY; i++)
        along += ((1 - share) * before[i] - share * after[i]) * (before[i] + after[i]) / length(before, after);
    return along * along / (1 + share * share + (1 - share) * (1 - share));
}

/* Even times by least squares, t0 + k period: those of the first and the last row jitter as the others do. @return how
 * far times are from them, rms; the largest of it too. */
static double uneven(const tribo_checked *c, double *t0, double *period, double *most) {
    double middle = (c->n - 1) / 2., mean = 0, slope = 0, squares = 0, sum = 0;
    for (int k = 0; k < c->n; k++) mean += c->time[k] / c->n;
    for (int k = 0; k < c->n; k++) slope += (k - middle) * (c->time[k] - mean), squares += (k - middle) * (k - middle);
    *period = slope / squares, *t0 = mean - middle * *period, *most = 0;
    for (int k = 0; k < c->n; k++) {
        double off = c->time[k] - *t0 - k * *period;
        sum += off * off / c->n;
        *most = ti_max(*most, fabs(off));
    }
    return sqrt(sum);
}

/* Is what moves much smoother by even times? Medians, which pass over impacts and rows that are missing. */
static bool smoother(tribo_checked *c) {
    const double far = 8, less = 0.25; /* of the noise: it moves; of squares */
    double before[TI_WAY], after[TI_WAY], *given = c->rate, *even = c->rate + c->n;
    size_t n = 0;
    for (int b = 0; b < ti_movers(c); b++)
        for (int k = 1; k + 1 < c->n && n < (size_t)c->n; k++) {
            if (!ti_way(c, k - 1, b, before) || !ti_way(c, k, b, after)) continue;
            if (!(length(before, after) > far * c->noise)) continue; /* of poses without noise too */
            double share = (c->time[k] - c->time[k - 1]) / (c->time[k + 1] - c->time[k - 1]);
            given[n] = off_way(before, after, share), even[n++] = off_way(before, after, 0.5);
        }
    return n >= FEWEST && ti_median(even, n) < less * ti_median(given, n);
}

/* The middle one of how far times of rows from `from` on are from even ones, of at most a few. */
static double beside(const tribo_checked *c, int from, int to, double t0, double period) {
    double off[SIDE];
    size_t n = 0;
    for (int k = from < 0 ? 0 : from; k < to && k < c->n; k++) off[n++] = c->time[k] - t0 - k * period;
    return ti_median(off, n);
}

/* Do times go on by a whole row or more beside where they were? Rows are missing then, by the times, or one of them is
 * wrong: even ones are not of this rate. */
static bool interrupted(const tribo_checked *c, double t0, double period) {
    for (int k = 1; k < c->n; k++)
        if (beside(c, k, k + SIDE, t0, period) - beside(c, k - SIDE, k, t0, period) > period) return true;
    return false;
}

void ti_check_times(tribo_checked *c) {
    const double little = 0.05;
    double t0, period, most, rms = uneven(c, &t0, &period, &most);
    if (c->n < FEWEST + 2 || most < little * period || interrupted(c, t0, period) || !smoother(c)) return;
    for (int k = 0; k < c->n; k++) c->time[k] = t0 + k * period;
    ti_found(c, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_MENDED, -1, -1, rms,
             "times jitter by %.2g ms, rms: only where rows follow one another evenly does the motion go on smoothly; "
             "taken as even",
             1e3 * rms);
}
