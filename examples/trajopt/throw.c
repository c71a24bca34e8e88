/* throw.c -- a cube thrown onto a target by its initial velocity: it lands on a corner, tumbles, slides and comes to
 * rest.
 *
 * Cost: half the squared distance of its centre from the target after one second. L-BFGS over the six numbers
 * of the first velocity, by one reverse pass a gradient; beside it the same by centred differences.
 *
 * usage: throw [FOLDER]      then FOLDER/throw-path.svg and FOLDER/throw-cost.svg */
#include "example.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 500, NX = 13, NDX = 12, NV = 6, TARGETS = 4 };
static const double half = 0.0524, targets[TARGETS][2] = {{1.2, 0.3}, {1.5, -0.3}, {0.6, 0.1}, {2, 1}};

typedef struct task {
    tribo_model *m;
    tribo_ws *ws;
    tribo_tape *tape;
    double *p, *X, *lx, start[NX], target[3];
} task;

static double simulate(task *t, const double *velocity, tribo_tape *tape) {
    double cost = 0;
    memcpy(t->X, t->start, sizeof t->start);
    memcpy(t->X + NX - NV, velocity, NV * sizeof *velocity);
    if (tape) tribo_tape_rewind(tape);
    tribo_status s = tribo_rollout(t->ws, t->p, t->X, STEPS, NULL, t->X, tape);
    if (s != TRIBO_NOT_CONVERGED) need(s, "rollout"); /* to 1e-10 in every step of any throw: not needed here */
    for (int i = 0; i < 3; i++) {
        double r = t->X[STEPS * NX + i] - t->target[i];
        t->lx[STEPS * NDX + i] = r;
        cost += r * r / 2;
    }
    return cost;
}

static double cost_of(void *context, const double *velocity) {
    return simulate(context, velocity, NULL);
}

static double gradient_of(void *context, const double *velocity, double *g) {
    task *t = context;
    double x0_bar[NDX] = {0}, cost = simulate(t, velocity, t->tape);
    need(tribo_backward(t->ws, t->tape, t->lx, x0_bar, NULL, NULL), "reverse");
    memcpy(g, x0_bar + NDX - NV, NV * sizeof *g);
    return cost;
}

/* @return share of the start's cost that is left. */
static double throw_at(task *t, double step, double budget, double *velocity, history *h) {
    const objective o = {NV, cost_of, gradient_of, t};
    memcpy(velocity, t->start + NX - NV, NV * sizeof *velocity);
    descend(&o, step, 1e-12, budget, velocity, h);
    return h->cost[h->n - 1] / h->cost[0];
}

static void aim(task *t, const double *target) {
    t->target[0] = target[0], t->target[1] = target[1], t->target[2] = half;
}

static void draw(task *t, const double *found, const history *exact, const history *differences, const char *folder) {
    static double x[2][STEPS + 1], z[2][STEPS + 1];
    const double *throws[2] = {t->start + NX - NV, found};
    for (int k = 0; k < 2; k++) {
        simulate(t, throws[k], NULL);
        for (int i = 0; i <= STEPS; i++) x[k][i] = t->X[i * NX], z[k][i] = t->X[i * NX + 2];
    }
    plot_series path[3] = {{"found", x[1], z[1], STEPS + 1, PLOT_LINE, 1},
                           {"first throw", x[0], z[0], STEPS + 1, PLOT_DASHED, 2},
                           {"target", t->target, t->target + 2, 1, PLOT_DOTS, 3}};
    plot p = {.title = "A cube thrown onto a target: its centre, from the side",
              .x_label = "x (m)",
              .y_label = "z (m)",
              .series = path,
              .nseries = 3};
    figure(&p, folder, "throw-path");
    plot_series cost[2] = {{"reverse", exact->seconds, exact->cost, exact->n, PLOT_LINE_DOTS, 1},
                           {"differences", differences->seconds, differences->cost, differences->n, PLOT_LINE_DOTS, 2}};
    plot q = {.title = "Cost against time",
              .x_label = "s",
              .y_label = "cost (m^2)",
              .series = cost,
              .nseries = 2,
              .log_y = true};
    figure(&q, folder, "throw-cost");
}

int main(int argc, char **argv) {
    static history exact[TARGETS], other;
    double found[TARGETS][NV], velocity[NV], worst = 0;
    task t = {.m = scene("throw")};
    tribo_options o = tribo_default_options();
    o.dt = 0.002;
    need(tribo_ws_new(t.m, &o, NULL, &t.ws, NULL), "workspace");
    need(tribo_tape_new(t.ws, STEPS, 0, &t.tape), "tape");
    t.p = numbers(tribo_model_sizes(t.m).np), t.X = numbers((STEPS + 1) * NX), t.lx = numbers((STEPS + 1) * NDX);
    tribo_model_params(t.m, t.p);
    tribo_model_state0(t.m, t.start);
    for (int i = 0; i < TARGETS; i++) {
        aim(&t, targets[i]);
        double left = throw_at(&t, 0, 60, found[i], exact + i);
        worst = fmax(worst, left);
        printf("left_at_target_%d %.2g\ngradients_at_target_%d %d\n", i + 1, left, i + 1, exact[i].evaluations);
    }
    printf("worst_left %.2g\n", worst);
    aim(&t, targets[0]);
    simulate(&t, found[0], NULL);
    printf("speed_at_the_end %.3g\n", hypot(t.X[STEPS * NX + 7], t.X[STEPS * NX + 8]));
    printf("seconds %.3g\n", exact[0].spent);
    printf("differences_left_in_the_same_time %.3g\n", throw_at(&t, 1e-6, exact[0].spent, velocity, &other));
    printf("differences_left_in_the_end %.3g\n", throw_at(&t, 1e-6, 60, velocity, &other));
    printf("differences_seconds %.3g\n", other.spent);
    if (argc > 1) draw(&t, found[0], exact, &other, argv[1]);
    free(t.p), free(t.X), free(t.lx);
    tribo_tape_free(t.tape), tribo_ws_free(t.ws), tribo_model_free(t.m);
    return 0;
}
