/* fit.c -- see fit.h. */
#include "fit.h"
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library takes the arrays as const; they are ours. */
void recording_free(tribo_recording *r) {
    free((void *)(uintptr_t)r->time), free((void *)(uintptr_t)r->x), free((void *)(uintptr_t)r->u);
}

tribo_recording record(const tribo_model *m, const double *p, const double *x0, const double *u, int rows, int every) {
    tribo_sizes z = tribo_model_sizes(m);
    double h = tribo_model_timestep(m);
    tribo_ws *ws = NULL;
    double *time = numbers(rows), *x = numbers(rows * z.nx), *us = u ? numbers(rows * z.nu) : NULL;
    need(tribo_ws_new(m, NULL, NULL, &ws, NULL), "workspace");
    memcpy(x, x0, z.nx * sizeof *x);
    for (int k = 0; k < rows; k++) {
        double *now = x + k * z.nx;
        time[k] = k * every * h;
        if (u) memcpy(us + k * z.nu, u, z.nu * sizeof *u);
        if (k) memcpy(now, now - z.nx, z.nx * sizeof *x);
        for (int i = 0; k && i < every; i++) need(tribo_step(ws, p, now, u, now, NULL), "step");
    }
    tribo_ws_free(ws);
    return (tribo_recording){.n = rows, .time = time, .x = x, .u = us};
}

enum { SLIDE_MAX = 40, STARTS = 4 };

/* Line y = a + b t through n points by least squares. */
static void line(int n, const double *t, const double *y, double *a, double *b) {
    double st = 0, sy = 0, stt = 0, sty = 0;
    for (int i = 0; i < n; i++) st += t[i], sy += y[i], stt += t[i] * t[i], sty += t[i] * y[i];
    *b = (n * sty - st * sy) / (n * stt - st * st);
    *a = (sy - *b * st) / n;
}

/* The first row, from what is known of it: both cubes stand on the floor, one slides along x and is braked by
 * `friction`, the other rests. The rows before they meet give the rest. A cube put down as crookedly as it was measured
 * would rattle. */
static void start(const tribo_model *m, int n, const double *time, double *x, double friction) {
    double along[SLIDE_MAX], yaw[2] = {0}, side[2] = {0}, rest = 0;
    tribo_sizes size = tribo_model_sizes(m);
    int rows = 0, nx = size.nx, nq = size.nq, at[2] = {tribo_model_body_q(m, 0), tribo_model_body_q(m, 1)};
    for (; rows < n && rows < SLIDE_MAX && x[rows * nx] < -0.235; rows++) {
        along[rows] = x[rows * nx] + friction * 9.81 * time[rows] * time[rows] / 2;
        rest += x[rows * nx + at[1]];
        for (int b = 0; b < 2; b++) {
            const double *q = x + rows * nx + at[b];
            yaw[b] += 2 * atan2(q[6], q[3]), side[b] += q[1];
        }
    }
    for (int i = nq; i < nx; i++) x[i] = 0;
    line(rows, time, along, x, x + nq);
    x[at[1]] = rest / rows;
    for (int b = 0; b < 2; b++) {
        double *q = x + at[b];
        q[1] = side[b] / rows, q[2] = 0.1;
        q[3] = cos(yaw[b] / rows / 2), q[4] = q[5] = 0, q[6] = sin(yaw[b] / rows / 2);
    }
}

tribo_recording recorded(const tribo_model *m, int number, double friction) {
    char path[128];
    tribo_trajectory *t = NULL;
    tribo_diag diag = {0};
    int nx = tribo_model_sizes(m).nx;
    snprintf(path, sizeof path, "data/recordings/collision-%d.csv", number);
    tribo_status s = tribo_trajectory_load(path, m, NULL, &t, &diag);
    if (s != TRIBO_OK) fprintf(stderr, "%s:%d: %s\n", path, diag.line, diag.text);
    need(s, path);
    int n = tribo_trajectory_rows(t);
    double *time = numbers(n), *x = numbers(n * nx);
    memcpy(time, tribo_trajectory_times(t), n * sizeof *time);
    for (int i = 0; i < n * nx; i++)
        x[i] = tribo_trajectory_observed(t)[i] ? tribo_trajectory_states(t)[i] : (double)NAN;
    start(m, n, time, x, friction);
    tribo_trajectory_free(t);
    return (tribo_recording){.n = n, .time = time, .x = x};
}

static void note(const tribo_model *m, const tribo_sysid *s, int nfree, const tribo_free_param *unknown, double loss,
                 fitted *f) {
    double theta[FREE_MAX], *p = numbers(tribo_model_sizes(m).np);
    tribo_sysid_theta(s, theta);
    tribo_sysid_params(s, theta, p);
    for (int i = 0; i < nfree; i++) f->value[i][f->n] = p[unknown[i].index];
    f->iteration[f->n] = f->n;
    f->loss[f->n++] = loss;
    free(p);
}

void fit(const tribo_model *m, const tribo_recording *rec, int nrec, int nfree, const char *const *names,
         const double *starts, tribo_sysid_def def, int iterations, fitted *f) {
    tribo_free_param unknown[FREE_MAX];
    tribo_progress now = {.stage = TRIBO_STAGE_DESCENT};
    tribo_sysid *s = NULL;
    tribo_diag diag = {0};
    double theta[FREE_MAX], information[FREE_MAX * FREE_MAX], loss;
    for (int i = 0; i < nfree; i++) {
        unknown[i] = tribo_default_free();
        unknown[i].index = parameter(m, names[i]);
        unknown[i].start = starts[i];
    }
    def.free = unknown, def.nfree = nfree, def.rec = rec, def.nrec = nrec;
    need(tribo_sysid_new(m, &def, &s, &diag), diag.text);
    tribo_sysid_theta(s, theta);
    need(tribo_sysid_eval(s, theta, &loss, NULL), "loss");
    if (f->n == 0) note(m, s, nfree, unknown, loss, f);
    for (int i = 0; now.stage != TRIBO_STAGE_DONE && i < iterations && f->n <= ITERATIONS_MAX; i++) {
        need(tribo_sysid_iterate(s, &now), "iteration");
        note(m, s, nfree, unknown, now.loss, f);
    }
    need(tribo_sysid_observe(s, f->estimate, information, NULL, NULL, &f->undetermined), "information");
    if (LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', nfree, information, nfree, f->eigenvalue) != 0)
        need(TRIBO_E_SINGULAR, "eigenvalues");
    tribo_sysid_free(s);
}

/* One fit of two parameters. Where friction is one of them the starts of the cubes follow it: fitted again. */
static void fit_collisions(const tribo_model *m, const char *const names[2], const double *from, fitted *f) {
    bool friction = strcmp(names[0], "floor/friction") == 0;
    double at[2] = {from[0], from[1]};
    for (int round = 0; round < (friction ? 2 : 1); round++) {
        tribo_recording rec[COLLISIONS];
        for (int i = 0; i < COLLISIONS; i++) rec[i] = recorded(m, i + 1, friction ? at[0] : 0.2);
        tribo_sysid_def def = tribo_default_sysid();
        def.workers = 2;
        fit(m, rec, COLLISIONS, 2, names, at, def, 30, f);
        for (int k = 0; k < 2; k++) at[k] = f->estimate[k].estimate;
        for (int i = 0; i < COLLISIONS; i++) recording_free(rec + i);
    }
}

void two_of_a_collision(const char *const names[2], const double truth[2], const double (*starts)[2],
                        const char *folder, const char *figure_name) {
    static fitted f[STARTS];
    plot_series s[STARTS + 1];
    int nstarts = folder ? STARTS : 1;
    tribo_model *m = scene("collision");
    for (int i = 0; i < nstarts; i++) {
        fit_collisions(m, names, starts[i], f + i);
        s[i] = (plot_series){i ? NULL : "from each start", f[i].value[0], f[i].value[1], f[i].n, PLOT_LINE_DOTS, i + 1};
        printf("iterations/%d %d\nloss/%d %.4g\n", i + 1, f[i].n - 1, i + 1, f[i].loss[f[i].n - 1]);
    }
    for (int k = 0; k < 2; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < nstarts; i++) {
            low = fmin(low, f[i].estimate[k].estimate);
            high = fmax(high, f[i].estimate[k].estimate);
        }
        printf("%s %.6f\n%s/std_error %.2g\n%s/spread_over_starts %.2g\n", names[k], f[0].estimate[k].estimate,
               names[k], f[0].estimate[k].std_error, names[k], high - low);
    }
    s[nstarts] = (plot_series){"truth", truth, truth + 1, 1, PLOT_DOTS, 7};
    plot p = {.title = "Two parameters from six recorded collisions",
              .x_label = names[0],
              .y_label = names[1],
              .series = s,
              .nseries = nstarts + 1};
    figure(&p, folder, figure_name);
    tribo_model_free(m);
}
