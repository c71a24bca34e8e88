/* covariance.c -- the noise of the stochastic law, from a covariance of the state. docs/math.md eq. (105). */
#include "forward/frame.h"

bool ti_step_is_noisy(const tribo_ws *ws) {
    return ws->options.law.law == TRIBO_LAW_STOCHASTIC;
}

tribo_status tribo_ws_set_covariance(tribo_ws *ws, const double *P) {
    if (!ws || !ti_step_is_noisy(ws) || ws->model->chains) return TRIBO_E_ARG;
    size_t ndx = (size_t)ws->model->size.ndx;
    if (P && !ti_finite(P, ndx * ndx)) return TRIBO_E_NONFINITE;
    ws->covariance = P;
    return TRIBO_OK;
}

/* The derivative of the velocity in direction d of a contact point with respect to the body's tangent; the same numbers
 * are that of its position. */
static void origin_row(const ti_con *c, const ti_link *l, ti_vec d, double sign, double *row) {
    ti_vec r = ti_sub(c->touch.point, l->xo);
    ti_store3(row, ti_scale(sign, d)), ti_store3(row + 3, ti_scale(sign, ti_tmul(&l->R, ti_cross(r, d))));
}

/* Variance of a contact's velocity along d: of both bodies' velocities, and `gain` of their places. */
static double variance(const tribo_ws *ws, const ti_con *c, ti_vec d, double gain) {
    const tribo_model *m = ws->model;
    size_t ndx = (size_t)m->size.ndx;
    double row[4][6], sum = 0;
    int at[4], n = 0;
    for (int side = 0; side < 2; side++) {
        int b = side ? c->b : c->a;
        if (b < 0) continue;
        origin_row(c, &ws->link[b], d, side ? 1 : -1, row[n]);
        for (int j = 0; j < 6; j++) row[n + 1][j] = gain * row[n][j];
        at[n] = m->size.nv + m->body[b].v, at[n + 1] = m->body[b].v;
        n += 2;
    }
    for (int s = 0; s < n; s++)
        for (int t = 0; t < n; t++)
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 6; j++)
                    sum += row[s][i] * ws->covariance[(size_t)(at[s] + i) * ndx + (size_t)(at[t] + j)] * row[t][j];
    return sum > 0 ? sum : 0;
}

/* No contact is left without a little: the law is smooth. */
static double deviation(const tribo_ws *ws, double v) {
    return ti_max(sqrt(v), 1e-3 * ws->options.law.noise);
}

void ti_step_noise(tribo_ws *ws, const ti_con *c, int i, double ref_gap) {
    if (!ws->covariance) return;
    double t = variance(ws, c, c->t1, 0) + variance(ws, c, c->t2, 0);
    ws->noise[2 * i] = deviation(ws, variance(ws, c, c->touch.normal, ref_gap));
    ws->noise[2 * i + 1] = deviation(ws, 0.5 * t);
}

/* Beyond this many deviations what is left of an impulse is below rounding. */
double ti_step_noise_reach(const tribo_ws *ws, int body, double radius) {
    if (!ti_step_is_noisy(ws)) return 0;
    double many = ws->options.law.smoothing == TRIBO_SMOOTHING_LOGISTIC ? 20 : 8.5, dt = ws->options.dt;
    double sd = ws->options.law.noise;
    if (ws->covariance) { /* of any point within the radius, along any direction */
        const tribo_model *m = ws->model;
        double trace[4] = {0, 0, 0, 0};
        for (int k = 0; k < 12; k++) {
            size_t at = (size_t)(m->body[body].v + k % 6 + (k < 6 ? 0 : m->size.nv));
            trace[k / 3] += ws->covariance[at * (size_t)m->size.ndx + at];
        }
        sd *= 1e-3;
        for (int k = 0; k < 4; k++) sd += sqrt(trace[k] > 0 ? trace[k] : 0) * (k % 2 ? radius : 1) / (k < 2 ? dt : 1);
    }
    return many * sd * dt;
}
