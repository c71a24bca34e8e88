/* convergence.c -- residual over iterations of every law and solver on a contact problem, cold and warm.
 *
 * Problems of data/contact under TRIBO_DATA, by name; without it there is nothing to do. Warm: from the answer to the
 * problem with a free velocity one percent smaller.
 *
 * usage: convergence [FOLDER]      then FOLDER/laws-convergence-NAME.svg of each problem */
#include "laws.h"
#include "problem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24, POINTS = 60 };

typedef struct curve {
    char title[64];
    double iterations[POINTS], residual[POINTS];
    size_t n;
} curve;

typedef struct task {
    tribo_contact_problem p;
    double *lambda, *start, *vfree;
    int nc, nv;
} task;

/* The answer after at most k iterations, from start or from nothing; its residual, and in *used the iterations. */
static double after(const task *t, tribo_law law, tribo_solver solver, int k, bool warm, int *used, double *micro) {
    tribo_law_options o = {.law = law, .solver = solver, .raw = true, .max_iter = k};
    tribo_contact_ws *ws;
    tribo_contact_info info;
    int nv = t->nv > 3 * t->nc ? t->nv : 3 * t->nc;
    need(tribo_contact_ws_new(t->nc, nv, &o, NULL, &ws), "workspace");
    memcpy(t->lambda, t->start, sizeof(double) * 3 * (size_t)t->nc);
    double from = seconds();
    tribo_status s = tribo_contact_solve(ws, &t->p, 1e-10, warm, t->lambda, NULL, &info);
    *micro = 1e6 * (seconds() - from);
    tribo_contact_ws_free(ws);
    *used = info.iterations;
    return s < 0 ? (double)NAN : info.residual;
}

static void follow(const task *t, tribo_law law, tribo_solver solver, bool warm, curve *c, double *micro) {
    int used = 0, before = 0;
    for (double k = 1; c->n < POINTS && k < 3000; k = fmax(k + 1, 1.25 * k)) {
        double r = after(t, law, solver, (int)k, warm, &used, micro);
        if (used == before && c->n > 0) break;
        before = used;
        c->iterations[c->n] = fmax(1, used), c->residual[c->n++] = fmax(r, 1e-17);
        if (!(r > 1e-10)) break;
    }
}

/* The start of the warm curves: this law's answer to a problem nearby. */
static void neighbour(task *t, tribo_law law, tribo_solver solver) {
    int used;
    double micro;
    memset(t->start, 0, sizeof(double) * 3 * (size_t)t->nc);
    for (int k = 0; k < t->nv; k++) t->vfree[k] *= 0.99;
    after(t, law, solver, 0, false, &used, &micro);
    for (int k = 0; k < t->nv; k++) t->vfree[k] /= 0.99;
    memcpy(t->start, t->lambda, sizeof(double) * 3 * (size_t)t->nc);
}

static void one_problem(const char *name, const char *folder) {
    static curve curves[2 * MOST];
    plot_series series[2 * MOST];
    named_problem text;
    ti_problem *q;
    tribo_diag diag;
    if (!problem_named(name, &text)) {
        printf("%s: skipped, TRIBO_DATA does not lead to it\n", name);
        return;
    }
    need(ti_problem_load(text.text, text.bytes, NULL, &q, &diag), "problem");
    task t = {.nc = q->nc, .nv = q->nv, .vfree = q->vfree};
    t.p = (tribo_contact_problem){.nc = q->nc, .nv = q->nv, .M = q->M, .J = q->J, .vfree = q->vfree, .mu = q->mu};
    t.lambda = numbers(3 * (size_t)q->nc), t.start = numbers(3 * (size_t)q->nc);
    int n = 0;
    memset(curves, 0, sizeof curves);
    for (tribo_law law = TRIBO_LAW_DEFAULT + 1; law < TRIBO_LAW_STOCHASTIC; law++)
        for (int k = 0; tribo_law_solver(law, k) && n < MOST; k++) {
            tribo_solver solver = tribo_law_solver(law, k);
            if (solver == TRIBO_SOLVER_LADDER || solver == TRIBO_SOLVER_LEMKE) continue; /* these know no halfway */
            double micro[2];
            neighbour(&t, law, solver);
            for (int warm = 0; warm < 2; warm++) {
                curve *c = &curves[2 * n + warm];
                follow(&t, law, solver, warm, c, &micro[warm]);
                snprintf(c->title, sizeof c->title, "%s %s", tribo_law_name(law), tribo_solver_name(solver));
                series[2 * n + warm] = (plot_series){warm ? NULL : c->title,
                                                     c->iterations,
                                                     c->residual,
                                                     c->n,
                                                     warm ? PLOT_DASHED : PLOT_LINE_DOTS,
                                                     n + 1};
            }
            const curve *cold = &curves[2 * n], *warm = &curves[2 * n + 1];
            printf("%s, %-28s cold %5g iterations to %.1e, %8.1f us; warm %5g to %.1e, %8.1f us\n", name, cold->title,
                   cold->iterations[cold->n - 1], cold->residual[cold->n - 1], micro[0], warm->iterations[warm->n - 1],
                   warm->residual[warm->n - 1], micro[1]);
            n++;
        }
    char title[200], file[200];
    snprintf(title, sizeof title, "%s: residual of each law over iterations; dashed: warm", name);
    snprintf(file, sizeof file, "laws-convergence-%s", name);
    residual_figure(series, 2 * n, title, folder, file);
    free(t.lambda), free(t.start), free(text.text);
    ti_problem_free(NULL, q);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"cube-slide", "quad-slide", "tower4-1"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) one_problem(names[k], argc > 1 ? argv[1] : NULL);
    return 0;
}
