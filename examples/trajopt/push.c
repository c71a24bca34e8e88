/* push.c -- a cube pushed along a path by a hundred forces: each is held for 10 ms, the cube slides on the floor.
 *
 * Cost: half the squared distance to the path at the end of each interval, a hundred knots. Levenberg-Marquardt: the
 * gradient J'r by the reverse pass, J'J from the step Jacobians. Beside it the same method with J by differences.
 *
 * An honest start: below mu m g = 4.9 N a cube at rest does not move at all, and the gradient is exactly zero. So the
 * first guess is a constant push of 7 N along x, which slides from the first step, and the path never turns back.
 *
 * usage: push [FOLDER]      then FOLDER/push-path.svg and FOLDER/push-cost.svg */
#include "example.h"
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORCES = 100, HOLD = 10, STEPS = FORCES * HOLD, N = 2 * FORCES, NDX = 12, NU = 6, NX = 13 };

typedef struct task {
    tribo_model *m;
    tribo_ws *ws;
    tribo_tape *tape;
    double *p, *X, *U, *lx, *u_bar, *S, *J, *H;
    double r[N], g[N];
} task;

/* From rest to one metre along x in a second, with a swing of 0.2 m to the side. */
static void path(double s, double *at) {
    at[0] = s * s * (3 - s) / 2, at[1] = 0.1 * (1 - cos(2 * M_PI * at[0]));
}

/* Simulate under the forces z: residuals and cost. */
static double simulate(task *t, const double *z, tribo_tape *tape) {
    double cost = 0;
    for (int k = 0; k < STEPS; k++) memcpy(t->U + k * NU, z + 2 * (k / HOLD), 2 * sizeof *z);
    if (tape) tribo_tape_rewind(tape);
    need(tribo_rollout(t->ws, t->p, t->X, STEPS, t->U, t->X, tape), "rollout");
    for (int i = 0; i < FORCES; i++) {
        double want[2], *x = t->X + (i + 1) * HOLD * NX;
        path((i + 1.) / FORCES, want);
        for (int j = 0; j < 2; j++) {
            t->r[2 * i + j] = x[j] - want[j];
            cost += t->r[2 * i + j] * t->r[2 * i + j] / 2;
        }
    }
    return cost;
}

/* The gradient by one reverse pass over the tape. */
static void reverse(task *t) {
    for (int i = 0; i < FORCES; i++) memcpy(t->lx + (i + 1) * HOLD * NDX, t->r + 2 * i, 2 * sizeof *t->r);
    memset(t->u_bar, 0, STEPS * NU * sizeof *t->u_bar);
    memset(t->g, 0, sizeof t->g);
    need(tribo_backward(t->ws, t->tape, t->lx, NULL, t->u_bar, NULL), "reverse");
    for (int k = 0; k < STEPS; k++)
        for (int j = 0; j < 2; j++) t->g[2 * (k / HOLD) + j] += t->u_bar[k * NU + j];
}

/* J from the Jacobians of the steps: S := A S + B, a column for each force already applied. */
static void by_steps(task *t) {
    double A[NDX * NDX], B[NDX * NU];
    memset(t->S, 0, NDX * N * sizeof *t->S), memset(t->J, 0, N * N * sizeof *t->J);
    for (int k = 0; k < STEPS; k++) {
        int now = 2 * (k / HOLD);
        need(tribo_step_jac(t->ws, t->tape, k, A, B, NULL), "Jacobian");
        for (int c = 0; c < now + 2; c++) {
            double s[NDX] = {0};
            for (int a = 0; a < NDX; a++)
                for (int b = 0; b < NDX; b++) s[a] += A[a * NDX + b] * t->S[c * NDX + b];
            for (int a = 0; a < NDX && c >= now; a++) s[a] += B[a * NU + c - now];
            memcpy(t->S + c * NDX, s, sizeof s);
        }
        for (int c = 0; (k + 1) % HOLD == 0 && c < now + 2; c++)
            for (int j = 0; j < 2; j++) t->J[(now + j) * N + c] = t->S[c * NDX + j];
    }
}

/* J by forward differences, a rollout a column. @return false when the time is over before it is complete. */
static bool by_differences(task *t, const double *z, double deadline) {
    const double step = 1e-5;
    double at[N], r[N];
    memcpy(at, z, sizeof at), memcpy(r, t->r, sizeof r);
    for (int c = 0; c < N; c++) {
        if (seconds() > deadline) return false;
        at[c] = z[c] + step;
        simulate(t, at, NULL);
        for (int i = 0; i < N; i++) t->J[i * N + c] = (t->r[i] - r[i]) / step;
        at[c] = z[c];
    }
    memcpy(t->r, r, sizeof r), memset(t->g, 0, sizeof t->g);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < N; c++) t->g[c] += t->J[i * N + c] * r[i];
    return true;
}

/* (J'J + damping) step = -g. */
static void newton(task *t, double damping, double *step) {
    for (int c = 0; c < N; c++) step[c] = -t->g[c];
    for (int a = 0; a < N; a++)
        for (int b = 0; b <= a; b++) {
            double sum = a == b ? damping : 0;
            for (int i = a / 2 * 2; i < N; i++) sum += t->J[i * N + a] * t->J[i * N + b];
            t->H[a * N + b] = sum;
        }
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', N, 1, t->H, N, step, 1) != 0) need(TRIBO_E_SINGULAR, "normal equations");
}

static void note(history *h, double start, double cost) {
    h->spent = h->seconds[h->n] = seconds() - start;
    h->cost[h->n++] = cost;
}

/* Levenberg-Marquardt until the cost is 1e-12 of the start's or the budget is spent. z becomes the best. */
static void follow(task *t, bool differences, double budget, double *z, history *h) {
    double start = seconds(), damping = 1e-8, step[N], trial[N], cost = simulate(t, z, t->tape), first = cost;
    h->n = 0;
    note(h, start, cost);
    while (cost > 1e-12 * first && h->n < 200) {
        h->evaluations++;
        if (differences && !by_differences(t, z, start + budget)) break;
        if (!differences) reverse(t), by_steps(t);
        for (int tries = 0; tries < 20; tries++, damping *= 10) {
            newton(t, damping, step);
            for (int c = 0; c < N; c++) trial[c] = z[c] + step[c];
            double now = simulate(t, trial, t->tape);
            if (now < cost) {
                memcpy(z, trial, sizeof trial);
                cost = now;
                damping /= 100;
                break;
            }
        }
        simulate(t, z, t->tape);
        note(h, start, cost);
        if (h->spent > budget) break;
    }
    h->spent = seconds() - start;
}

/* Minimise from a constant push, which slides from the first step. @return share of the start's cost that is left. */
static double fit(task *t, bool differences, double budget, double *z, history *h) {
    for (int i = 0; i < FORCES; i++) z[2 * i] = 7, z[2 * i + 1] = 0;
    follow(t, differences, budget, z, h);
    return h->cost[h->n - 1] / h->cost[0];
}

static task *make_task(void) {
    task *t = calloc(1, sizeof *t);
    tribo_options o = tribo_default_options();
    if (!t) need(TRIBO_E_NOMEM, "task");
    t->m = scene("push");
    o.warm_start = true;
    need(tribo_ws_new(t->m, &o, NULL, &t->ws, NULL), "workspace");
    need(tribo_tape_new(t->ws, STEPS, 0, &t->tape), "tape");
    t->p = numbers(tribo_model_sizes(t->m).np);
    t->X = numbers((STEPS + 1) * NX), t->lx = numbers((STEPS + 1) * NDX);
    t->U = numbers(STEPS * NU), t->u_bar = numbers(STEPS * NU);
    t->S = numbers(NDX * N), t->J = numbers(N * N), t->H = numbers(N * N);
    tribo_model_params(t->m, t->p);
    tribo_model_state0(t->m, t->X);
    return t;
}

static void free_task(task *t) {
    double *all[] = {t->p, t->X, t->lx, t->U, t->u_bar, t->S, t->J, t->H};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    tribo_tape_free(t->tape), tribo_ws_free(t->ws), tribo_model_free(t->m);
    free(t);
}

/* Where the cube goes at first, in the end, and where it should. */
static void draw_path(task *t, const double *z, const char *folder) {
    double first[N], x[4][FORCES], y[4][FORCES];
    for (int i = 0; i < FORCES; i++) first[2 * i] = 7, first[2 * i + 1] = 0;
    for (int which = 0; which < 2; which++) {
        simulate(t, which ? z : first, NULL);
        for (int i = 0; i < FORCES; i++) {
            const double *at = t->X + (i + 1) * HOLD * NX;
            double want[2];
            path((i + 1.) / FORCES, want);
            x[which][i] = at[0], y[which][i] = at[1], x[2][i] = want[0], y[2][i] = want[1];
        }
    }
    plot_series s[3] = {{"path", x[2], y[2], FORCES, PLOT_DOTS, 3},
                        {"found", x[1], y[1], FORCES, PLOT_LINE, 1},
                        {"first guess", x[0], y[0], FORCES, PLOT_DASHED, 2}};
    plot p = {.title = "A cube pushed along a path", .x_label = "x (m)", .y_label = "y (m)", .series = s, .nseries = 3};
    figure(&p, folder, "push-path");
}

int main(int argc, char **argv) {
    static history exact, same, long_enough;
    const char *folder = argc > 1 ? argv[1] : NULL;
    double z[N], other[N], slowest = INFINITY;
    task *t = make_task();
    double left = fit(t, false, 60, z, &exact);
    simulate(t, z, NULL);
    for (int k = HOLD; k <= STEPS; k++) slowest = fmin(slowest, hypot(t->X[k * NX + 7], t->X[k * NX + 8]));
    printf("cost_start %.6g\ncost_left %.3g\niterations %d\nslowest %.3g\n", exact.cost[0], left, exact.evaluations,
           slowest);
    printf("seconds %.3g\n", exact.spent);
    printf("differences_left_in_the_same_time %.3g\n", fit(t, true, exact.spent, other, &same));
    if (folder) {
        printf("differences_left_in_the_end %.3g\n", fit(t, true, 300, other, &long_enough));
        printf("differences_seconds %.3g\n", long_enough.spent);
        draw_path(t, z, folder);
        plot_series s[2] = {{"reverse and step Jacobians", exact.seconds, exact.cost, exact.n, PLOT_LINE_DOTS, 1},
                            {"differences", long_enough.seconds, long_enough.cost, long_enough.n, PLOT_LINE_DOTS, 2}};
        plot p = {.title = "Cost against time",
                  .x_label = "s",
                  .y_label = "cost (m^2)",
                  .series = s,
                  .nseries = 2,
                  .log_x = true,
                  .log_y = true};
        figure(&p, folder, "push-cost");
    }
    free_task(t);
    return 0;
}
