/* predict.c -- what the scene says of the next rows, from a row as it is read: the measure of readings that no column
 * contradicts. */
#include "recording/predict.h"
#include "model/state.h"

enum { BEFORE = 3, AHEAD = 8, SWING_MOST = 64 };
static const double swing = 0.08; /* s: what torques do to a joint in less is little beside its noise */
static const double usual = 3;    /* m/s^2: accelerations along the ground */
/* By how much the logarithms of the misses of all windows must fall before a reading is taken for another. */
static const double evidence = TI_EVIDENCE;
/* And by which share of what is missed: where the scene's numbers are far from right, all readings miss, and some of
 * the wrong ones a little less. */
static const double share = 0.1;

bool ti_predict_convinces(double now, double least) {
    return now - least > evidence && now - least > share * now;
}

double ti_predict_total(tribo_checked *c, double *x, double most) {
    double miss[TI_WINDOWS_MAX], sum = ti_all_free(c->m) ? ti_overlaps(c, x, most) : 0;
    int n = ti_predict_windows(c, x, false, most - sum, miss);
    for (int i = 0; i < n; i++) sum += miss[i];
    return n ? sum : (double)NAN;
}

/* A joint of one axis in row k of a reading. */
static double *axis(const tribo_checked *c, double *x, int k, int joint) {
    return x + (size_t)k * (size_t)c->z.nx + c->m->joint[joint].q;
}

void ti_predict_end(tribo_checked *c) {
    tribo_ws_free(c->ws);
    c->ws = NULL;
}

tribo_status ti_predict_begin(tribo_checked *c, int steps, int windows) {
    tribo_options o = tribo_default_options();
    ti_predict_end(c);
    o.dt = c->spacing / steps;
    c->windows = windows;
    return tribo_ws_new(c->m, &o, c->alloc.alloc ? &c->alloc : NULL, &c->ws, NULL);
}

/* Rows that are predicted. */
static int ahead(const tribo_checked *c) {
    double rows = floor(swing / c->spacing + 0.5);
    return !c->z.njoint || rows < AHEAD ? AHEAD : rows > SWING_MOST ? SWING_MOST : (int)rows;
}

/* Rows that a start is found from: few where a body may have been hit between them. */
static int before(const tribo_checked *c) {
    return c->z.njoint ? ahead(c) : BEFORE;
}

/* May a window start at row k? All poses are there, and no time is lost. */
static bool whole(const tribo_checked *c, int k) {
    int first = k - before(c), last = k + ahead(c);
    if (c->time[last] - c->time[first] > 1.5 * (last - first) * c->spacing) return false;
    for (int j = first; j <= last; j++)
        for (int b = 0; b < c->z.nbody; b++)
            if (!c->posed[j * c->z.nbody + b]) return false;
    return true;
}

/* The same of joints of one axis, in a reading. */
static bool told(const tribo_checked *c, double *x, int k) {
    for (int j = k - before(c); j <= k + ahead(c); j++)
        for (int i = 0; i < c->z.njoint; i++)
            if (isnan(*axis(c, x, j, i))) return false;
    return true;
}

/* What misses of a joint are measured in, of a reading: its noise, and a part of how far it moves. So a reading that is
 * merely smaller misses as much. */
static void scales(tribo_checked *c, double *x) {
    for (int i = 0; i < c->z.njoint; i++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        size_t n = 0;
        for (int k = 0; k < c->n; k++) {
            double q = *axis(c, x, k, i);
            if (q < low) low = q;
            if (q > high) high = q;
            if (k < 3) continue;
            double d = q - 3 * *axis(c, x, k - 1, i) + 3 * *axis(c, x, k - 2, i) - *axis(c, x, k - 3, i);
            if (!isnan(d)) c->rate[n++] = fabs(d) / sqrt(20) / 0.67449;
        }
        c->joint_noise[i] = n ? ti_median(c->rate, n) : 0;
        c->joint_scale[i] = 2 * c->joint_noise[i] + 2e-3 * (high > low ? high - low : 1);
    }
}

static bool have_columns(tribo_checked *c, double *x, int k) {
    for (int i = 0; i < c->z.nv; i++)
        if (isnan(x[(size_t)k * (size_t)c->z.nx + (size_t)(c->z.nq + i)])) return false;
    return true;
}

/* Value and slope at t = 0 of the parabola through y over t <= 0 whose curvature is `a`; NaN = the likeliest, shrunk
 * by what noise makes of it. */
static void fit(const double *t, const double *y, int n, double a, double noise, double *value, double *slope) {
    double mean_t = 0, mean_y = 0, tt = 0, ty = 0, uu = 0, uy = 0, mean_u = 0, tu = 0;
    for (int k = 0; k < n; k++) mean_t += t[k] / n, mean_y += y[k] / n, mean_u += t[k] * t[k] / 2 / n;
    for (int k = 0; k < n; k++) {
        double d = t[k] - mean_t;
        tt += d * d, ty += d * (y[k] - mean_y), tu += d * (t[k] * t[k] / 2 - mean_u);
    }
    for (int k = 0; k < n; k++) { /* what of t^2/2 is no line */
        double u = t[k] * t[k] / 2 - mean_u - tu / tt * (t[k] - mean_t);
        uu += u * u, uy += u * y[k];
    }
    if (isnan(a)) a = uy / (uu + noise * noise / (usual * usual));
    *slope = (ty - a * tu) / tt;
    *value = mean_y - a * mean_u - *slope * mean_t;
}

/* Gravity or none along the vertical: the nearer to the curvature that is seen. */
static double fall(const double *t, const double *y, int n, double g) {
    double value, slope, best = HUGE_VAL, a = 0;
    for (int falls = 0; falls < 2; falls++) {
        double left = 0;
        fit(t, y, n, falls * g, 0, &value, &slope);
        for (int k = 0; k < n; k++) {
            double r = y[k] - value - slope * t[k] - falls * g * t[k] * t[k] / 2;
            left += r * r;
        }
        if (left < best) best = left, a = falls * g;
    }
    return a;
}

/* The state at row k: as measured, or from the rows before it; those after it are what is predicted. */
static void start(tribo_checked *c, double *x, int k, bool columns) {
    enum { N = BEFORE + 1 };
    int first = k - before(c), rows = before(c) + 1;
    memcpy(c->state, x + (size_t)k * (size_t)c->z.nx, (size_t)c->z.nx * sizeof *x);
    for (int i = 0; i < c->z.njoint && !columns; i++) {
        double t[SWING_MOST + 1], y[SWING_MOST + 1], value, *now = c->state + c->m->joint[i].q,
                                                            *v = c->state + c->z.nq + c->m->joint[i].v;
        for (int j = 0; j < rows; j++) {
            t[j] = c->time[first + j] - c->time[k];
            y[j] = *axis(c, x, first + j, i) - *now;
        }
        fit(t, y, rows, (double)NAN, c->joint_noise[i], &value, v);
        *now += value;
    }
    for (int b = 0; b < c->z.nbody && !columns; b++) {
        if (c->m->body[b].free < 0) continue;
        double *q = c->state + c->m->body[b].q, *v = c->state + c->z.nq + c->m->body[b].v;
        double t[N], y[6][N], turn[4], at[6];
        const double *now = ti_pose(c, x, k, b);
        for (int j = 0; j < N; j++) {
            const double *then = ti_pose(c, x, k - BEFORE + j, b);
            double r[3];
            t[j] = c->time[k - BEFORE + j] - c->time[k];
            ti_turn(now + 3, then + 3, r);
            for (int i = 0; i < 3; i++) y[i][j] = then[i] - now[i], y[3 + i][j] = r[i];
        }
        for (int i = 0; i < 6; i++) {
            double g = i < 3 ? c->p[TI_P_GRAVITY + i] : 0;
            fit(t, y[i], N, i > 2 ? 0 : g != 0 ? fall(t, y[i], N, g) : (double)NAN, c->noise, &at[i], &v[i]);
        }
        for (int i = 0; i < 3; i++) q[i] += at[i];
        ti_quat_exp(ti_load3(at + 3), turn);
        ti_quat_mul(now + 3, turn, q + 3);
    }
}

/* Square of the distance of the state from a row, all bodies, in the noise. */
static double distance(tribo_checked *c, double *x, int k) {
    double square = 0, scale = 2 * c->noise + 2e-3 * c->extent;
    int n = 0;
    for (int i = 0; i < c->z.njoint; i++, n++) {
        double d = (c->state[c->m->joint[i].q] - *axis(c, x, k, i)) / c->joint_scale[i];
        square += d * d;
    }
    for (int b = 0; b < c->z.nbody; b++) {
        if (c->m->body[b].free < 0) continue;
        n++;
        const double *is = ti_pose(c, x, k, b), *was = c->state + c->m->body[b].q;
        double turn[3];
        ti_turn(is + 3, was + 3, turn);
        for (int i = 0; i < 3; i++) {
            double d = was[i] - is[i], r = turn[i] * c->extent / 2;
            square += (d * d + r * r) / (scale * scale);
        }
    }
    return square / n;
}

/* From row k to the next. */
static bool advance(tribo_checked *c, int k) {
    double dt = tribo_ws_options(c->ws).dt, span = c->time[k + 1] - c->time[k];
    int steps = (int)floor(span / dt + 0.5);
    const double *u = c->u ? c->u + (size_t)k * (size_t)c->z.nu : NULL;
    for (int j = 0; j < steps; j++)
        if (tribo_step(c->ws, c->p, c->state, u, c->state, NULL) < 0) return false;
    return true;
}

static double window(tribo_checked *c, double *x, int k, bool columns) {
    int rows = ahead(c);
    double square = 0;
    start(c, x, k, columns);
    for (int j = 0; j < rows; j++) {
        if (!advance(c, k + j)) return 20;
        if (j == rows / 2 - 1 || j == rows - 1) square += distance(c, x, k + j + 1) / 2;
    }
    return square < 4e8 ? log1p(square) : 20;
}

int ti_predict_windows(tribo_checked *c, double *x, bool columns, double most, double *miss) {
    double sum = 0;
    scales(c, x);
    int places = c->n - before(c) - ahead(c), every = places / c->windows + 1, n = 0;
    for (int k = before(c); k + ahead(c) < c->n && n < c->windows; k += every) {
        if (!whole(c, k) || !told(c, x, k) || (columns && !have_columns(c, x, k))) continue;
        miss[n] = window(c, x, k, columns);
        sum += miss[n++];
        if (sum > most) break;
    }
    return n;
}
