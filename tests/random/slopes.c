/* slopes.c -- one-sided differences of a rollout's loss, with Richardson's extrapolation, and central ones. */
#include "probe.h"

static void moved(const probe *p, double s, double *out) {
    if (p->s->robot) {
        double step[NDX * MAX_BODIES];
        for (int i = 0; i < p->ndx; i++) step[i] = s * p->x_dir[i];
        tribo_state_add(p->w->m, p->x, step, out);
        return;
    }
    for (int i = 0; i < p->s->nbody; i++) {
        const double *d = p->x_dir + 6 * i, *e = p->x_dir + 6 * p->s->nbody + 6 * i, *q = p->x + 7 * i;
        double turn[3] = {s * d[3], s * d[4], s * d[5]}, step[4];
        add_scaled(out + 7 * i, q, s, d);
        quat_exp(step, turn);
        quat_times(out + 7 * i + 3, q + 3, step);
        quat_normalise(out + 7 * i + 3);
        const double *v = p->x + 7 * p->s->nbody + 6 * i;
        double *w = out + 7 * p->s->nbody + 6 * i;
        for (int k = 0; k < 6; k++) w[k] = v[k] + s * e[k];
    }
}

static double loss_of(const probe *p, const double *lx, const double *was, const double *is) {
    double sum = 0;
    if (p->s->robot) {
        double step[NDX * MAX_BODIES];
        tribo_state_difference(p->w->m, was, is, step);
        for (int i = 0; i < p->ndx; i++) sum += lx[i] * step[i];
        return sum;
    }
    for (int i = 0; i < p->s->nbody; i++) {
        const double *a = was + 7 * i, *b = is + 7 * i, *v = was + 7 * p->s->nbody + 6 * i,
                     *w = is + 7 * p->s->nbody + 6 * i, *l = lx + 6 * i, *m = lx + 6 * p->s->nbody + 6 * i;
        double d[3], back[4], turn[4];
        sub(d, b, a), sum += dot(l, d);
        quat_conjugate(back, a + 3), quat_times(turn, back, b + 3), quat_log(d, turn), sum += dot(l + 3, d);
        for (int k = 0; k < 6; k++) sum += m[k] * (w[k] - v[k]);
    }
    return sum;
}

/* The loss with the arguments moved by s; NaN if a step fails or does not converge. */
static double loss_at(probe *p, double s) {
    double x[NX * MAX_BODIES], u[NU * MAX_BODIES], sum = 0;
    moved(p, s, x);
    for (int i = 0; i < p->nu; i++) u[i] = p->u[i] + s * p->u_dir[i];
    for (int i = 0; i < p->np; i++) {
        p->p_now[i] = p->p[i] + s * p->p_dir[i];
        if (p->p_dir[i] != 0 && !(p->p_now[i] >= p->lower[i] && p->p_now[i] <= p->upper[i])) p->outside = true;
    }
    if (p->outside) return (double)NAN;
    sum += loss_of(p, p->lx, p->x, x);
    for (int k = 0; k < p->steps; k++) {
        tribo_status status = tribo_step(p->w->ws, p->p_now, x, u, x, NULL);
        if (status < 0 || status == TRIBO_NOT_CONVERGED) return (double)NAN;
        sum += loss_of(p, p->lx + (k + 1) * p->ndx, p->x + (k + 1) * p->nx, x);
    }
    return sum;
}

static double step_size(int i) {
    return 0.01 * pow(8, -i);
}

static double quotient(probe *p, int side, int i) {
    double s = (side ? 1 : -1) * step_size(i);
    if (!p->known[side][i]) p->loss[side][i] = loss_at(p, s), p->known[side][i] = true;
    return p->loss[side][i] / s;
}

static void offer(double value, double off, double *best, double *least) {
    if (!(off < *least)) return;
    *best = value, *least = off;
}

/* The slope from the four sizes from i on, and how far it is off by its own account: the best of the quotients
 * themselves, which rounding disturbs least, and of Richardson's extrapolations once and twice. What is below the last
 * digit of a state vanishes without a trace, and quotients of it agree. */
static double slope(probe *p, int side, int i, double *off) {
    double d[4], r[3], q[2], best = (double)NAN;
    *off = HUGE_VAL;
    for (int k = 0; k < 4; k++) d[k] = quotient(p, side, i + k);
    for (int k = 0; k < 3; k++) r[k] = (8 * d[k + 1] - d[k]) / 7;
    for (int k = 0; k < 2; k++) q[k] = (64 * r[k + 1] - r[k]) / 63;
    double last = p->rounding / step_size(i + 3);
    offer(q[1], fabs(q[1] - q[0]) + 0.1 * fabs(r[2] - q[1]) + last, &best, off);
    offer(q[0], fabs(q[0] - r[1]) + fabs(q[0] - r[0]) + last / 8, &best, off);
    offer(r[1], fabs(r[1] - r[0]) + fabs(r[2] - r[1]) + last / 8, &best, off);
    offer(d[1], fabs(d[1] - d[0]) + fabs(d[2] - d[1]) + last / 64, &best, off);
    return best;
}

one_side look(probe *p, int which, double g, double floor) {
    static const int windows[] = {2, 3, 1, 4, 0, 5};
    one_side out = {0};
    p->outside = false;
    double best = HUGE_VAL;
    for (int i = 0; i < (int)(sizeof windows / sizeof *windows) && !out.agrees; i++) {
        double off, r = slope(p, which, windows[i], &off), unit = larger(larger(fabs(r), fabs(g)), floor);
        if (p->outside) return (one_side){.outside = true};
        if (!(off <= 2e-6 * unit)) continue;
        out.agrees = fabs(r - g) <= 1e-5 * unit;
        if (out.agrees || !out.settled || off < best) out.slope = r, best = off;
        out.settled = true;
    }
    return out;
}

bool middle_agrees(probe *p, double g, double floor) {
    double before = HUGE_VAL;
    for (int i = 1; i < SIZES; i++) {
        double a = quotient(p, 0, i), b = quotient(p, 1, i), c = (a + b) / 2, unit = larger(fabs(g), floor);
        bool settled = fabs(c - before) <= 2e-6 * unit && fabs(b - a) <= 1e-3 * unit;
        if (settled && fabs(c - g) <= 1e-5 * unit) return true;
        before = c;
    }
    return false;
}
