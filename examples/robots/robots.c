/* robots.c -- three robots under every contact law and solver: a quadruped pushed by 10 N, a humanoid pushed by 80 N, a
 * ball dropped into a hand.
 *
 * The experiments of Le Lidec et al., Contact models in robotics (2023), figures 16 and 17: how the residual falls with
 * the iterations of a solver, and what a step takes, cold and warm.
 *
 * usage: robots [FOLDER]      then FOLDER/robots-SCENE.svg of each */
#include "bare.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24, POINTS = 8, SHORT = 12 };

typedef struct task {
    const char *name, *key, *body;
    double push; /* N, at the body's centre along x and up */
    int settle, steps;
} task;

static const task TASKS[] = {{"quadruped", NULL, "base", 10, 500, 100},
                             {"humanoid", NULL, "pelvis", 80, 100, 40},
                             {"hand", "drop", NULL, 0, 60, 100}};

typedef struct start {
    tribo_model *m;
    tribo_sizes n;
    double *p, *x, *u, *next;
} start;

typedef struct outcome {
    double micro, iterations, residual;
    int unsolved;
} outcome;

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Steps under a law from a start; the median residual and time. */
static outcome run(const start *s, const tribo_law_options *law, bool warm, int steps) {
    tribo_options o = tribo_default_options();
    tribo_ws *ws = NULL;
    outcome out = {0};
    double *micro = numbers((size_t)steps), *residual = numbers((size_t)steps);
    o.law = *law, o.warm_start = warm, o.tol = 1e-6;
    need(tribo_ws_new(s->m, &o, NULL, &ws, NULL), "workspace");
    memcpy(s->next, s->x, sizeof *s->x * (size_t)s->n.nx);
    for (int k = 0; k < steps; k++) {
        double from = seconds();
        tribo_status status = tribo_step(ws, s->p, s->next, s->u, s->next, NULL);
        micro[k] = 1e6 * (seconds() - from);
        out.unsolved += status != TRIBO_OK;
        out.iterations += tribo_last_info(ws)->iterations / (double)steps, residual[k] = tribo_last_info(ws)->residual;
        if (status < 0) break;
    }
    qsort(micro, (size_t)steps, sizeof *micro, by_size), qsort(residual, (size_t)steps, sizeof *residual, by_size);
    out.micro = micro[steps / 2], out.residual = residual[steps / 2];
    free(micro), free(residual), tribo_ws_free(ws);
    return out;
}

/* Where the push begins: after the robot has stood, or the ball fallen, for a while. */
static start prepare(const task *t) {
    start s = {.m = bare(t->name)};
    s.n = tribo_model_sizes(s.m);
    s.p = numbers((size_t)s.n.np), s.x = numbers((size_t)s.n.nx), s.u = numbers((size_t)s.n.nu);
    s.next = numbers((size_t)s.n.nx);
    tribo_model_params(s.m, s.p);
    tribo_model_key(s.m, t->key ? tribo_model_key_find(s.m, t->key) : 0, s.x, s.u);
    run(&s, &(tribo_law_options){0}, true, t->settle);
    memcpy(s.x, s.next, sizeof *s.x * (size_t)s.n.nx);
    if (t->body) s.u[tribo_model_body_v(s.m, tribo_model_body_find(s.m, t->body))] = t->push;
    return s;
}

/* The median residual of a few steps that may take so many iterations. */
static void curve(const start *s, tribo_law_options law, bool warm, double *residual) {
    static const int ITERATIONS[POINTS] = {1, 2, 5, 10, 20, 50, 100, 300};
    for (int k = 0; k < POINTS; k++) {
        law.max_iter = ITERATIONS[k];
        residual[k] = fmax(1e-17, run(s, &law, warm, SHORT).residual);
    }
}

static void one_task(const task *t, const char *folder) {
    static char title[MOST][64];
    static double residual[2 * MOST][POINTS], at[POINTS] = {1, 2, 5, 10, 20, 50, 100, 300};
    plot_series series[2 * MOST];
    start s = prepare(t);
    int n = 0;
    for (tribo_law law = TRIBO_LAW_DEFAULT + 1; law < TRIBO_LAW_STOCHASTIC; law++)
        for (int k = 0; tribo_law_solver(law, k) && n < MOST; k++, n++) {
            tribo_law_options o = {.law = law, .solver = tribo_law_solver(law, k), .raw = true};
            snprintf(title[n], sizeof title[n], "%s %s", tribo_law_name(law), tribo_solver_name(o.solver));
            outcome cold = run(&s, &o, false, t->steps), warm = run(&s, &o, true, t->steps);
            printf("%-10s %-28s cold %8.1f us, %6.1f iterations, %3d of %d unsolved; warm %8.1f us, %6.1f, %3d\n",
                   t->name, title[n], cold.micro, cold.iterations, cold.unsolved, t->steps, warm.micro, warm.iterations,
                   warm.unsolved);
            if (law == TRIBO_LAW_NCP && k == 0)
                printf("%s_unsolved %d\n%s_residual %.3g\n", t->name, cold.unsolved + warm.unsolved, t->name,
                       warm.residual);
            for (int w = 0; w < 2; w++) {
                curve(&s, o, w, residual[2 * n + w]);
                series[2 * n + w] = (plot_series){
                    w ? NULL : title[n], at, residual[2 * n + w], POINTS, w ? PLOT_DASHED : PLOT_LINE_DOTS, n + 1};
            }
        }
    char text[200], file[100];
    snprintf(text, sizeof text, "%s: median residual of a step over iterations allowed; dashed: warm", t->name);
    snprintf(file, sizeof file, "robots-%s", t->name);
    residual_figure(series, 2 * n, text, folder, file);
    free(s.p), free(s.x), free(s.u), free(s.next), tribo_model_free(s.m);
}

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof TASKS / sizeof *TASKS; i++) one_task(&TASKS[i], argc > 1 ? argv[1] : NULL);
    return 0;
}
