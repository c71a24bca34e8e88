/* example.c -- see example.h. */
#include "example.h"
#include <cblas.h> /* OpenBLAS: openblas_set_num_threads */
#include <lbfgs.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void need(tribo_status s, const char *what) {
    if (s == TRIBO_OK) return;
    fprintf(stderr, "%s: %s\n", what, tribo_status_text(s));
    exit(EXIT_FAILURE);
}

double *numbers(size_t n) {
    double *a = calloc(n, sizeof *a);
    if (!a) need(TRIBO_E_NOMEM, "numbers");
    return a;
}

tribo_model *scene(const char *name) {
    char path[256];
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    openblas_set_num_threads(1); /* matrices are small: threads only wait for one another */
    snprintf(path, sizeof path, "data/scenes/%s.xml", name);
    tribo_status s = tribo_model_load(path, NULL, &m, &diag);
    if (s != TRIBO_OK) fprintf(stderr, "%s:%d: %s\n", path, diag.line, diag.text);
    need(s, path);
    return m;
}

double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int parameter(const tribo_model *m, const char *name) {
    int i = tribo_param_find(m, name);
    if (i < 0) need(TRIBO_E_ARG, name);
    return i;
}

void figure(const plot *p, const char *folder, const char *name) {
    char path[1024];
    if (!folder) return;
    snprintf(path, sizeof path, "%s/%s.svg", folder, name);
    if (!plot_write(p, path)) exit(EXIT_FAILURE);
}

void residual_figure(const plot_series *series, int n, const char *title, const char *folder, const char *name) {
    plot drawing = {.title = title,
                    .x_label = "iterations",
                    .y_label = "relative residual",
                    .series = series,
                    .nseries = n,
                    .log_x = true,
                    .log_y = true,
                    .height = 520};
    figure(&drawing, folder, name);
}

/* ---- minimising ---- */

typedef struct descent {
    const objective *o;
    double step, share, deadline, start_time, first, lowest, *best, *work;
    history *h;
} descent;

static double by_differences(descent *d, const double *z, double *g) {
    int n = d->o->n;
    memcpy(d->work, z, n * sizeof *z);
    for (int i = 0; i < n; i++) {
        if (i % 16 == 0 && seconds() > d->deadline) break; /* too late for a gradient: what follows stops */
        d->work[i] = z[i] + d->step;
        double above = d->o->cost(d->o->context, d->work);
        d->work[i] = z[i] - d->step;
        g[i] = (above - d->o->cost(d->o->context, d->work)) / (2 * d->step);
        d->work[i] = z[i];
    }
    return d->o->cost(d->o->context, z);
}

static lbfgsfloatval_t evaluate(void *context, const lbfgsfloatval_t *z, lbfgsfloatval_t *g, int n,
                                lbfgsfloatval_t step) {
    descent *d = context;
    (void)step;
    memset(g, 0, n * sizeof *g);
    double cost = d->step > 0 ? by_differences(d, z, g) : d->o->gradient(d->o->context, z, g);
    history *h = d->h;
    if (h->evaluations++ == 0) d->first = cost;
    h->spent = seconds() - d->start_time;
    if (cost < d->lowest) {
        d->lowest = cost;
        memcpy(d->best, z, n * sizeof *z);
        int at = h->n < HISTORY ? h->n++ : HISTORY - 1;
        h->seconds[at] = h->spent, h->cost[at] = cost;
    }
    return cost;
}

static int watch(void *context, const lbfgsfloatval_t *z, const lbfgsfloatval_t *g, lbfgsfloatval_t cost,
                 lbfgsfloatval_t z_norm, lbfgsfloatval_t g_norm, lbfgsfloatval_t step, int n, int k, int tries) {
    const descent *d = context;
    (void)z, (void)g, (void)z_norm, (void)g_norm, (void)step, (void)n, (void)k, (void)tries;
    return cost <= d->share * d->first || seconds() > d->deadline;
}

void descend(const objective *o, double step, double share, double budget, double *z, history *h) {
    double now = seconds();
    descent d = {o, step, share, now + budget, now, 0, INFINITY, numbers(o->n), numbers(o->n), h};
    double *start = numbers(o->n);
    lbfgs_parameter_t options;
    lbfgs_parameter_init(&options);
    options.m = 30;
    options.epsilon = 0;
    options.max_linesearch = 40;
    memset(h, 0, sizeof *h);
    memcpy(start, z, o->n * sizeof *z);
    for (int round = 0; round < 20; round++) { /* a line search that fails at a kink is begun anew, downhill */
        double before = d.lowest;
        int said = lbfgs(o->n, z, NULL, evaluate, watch, &d, &options);
        memcpy(z, d.best, o->n * sizeof *z);
        if (said == LBFGS_STOP || !(d.lowest < before) || d.lowest <= share * d.first) break;
    }
    free(d.best), free(d.work), free(start);
}
