/* contact.c -- what a contact problem costs and how well it is solved.
 *
 *   bench_contact                        a cube, and ten cubes side by side, in blocks as the step poses them: cold,
 *                                        warm, derivatives; then, if TRIBO_DATA is set, what --laws gives
 *   bench_contact PROBLEMS.jsonl         every problem cold by tribo_contact_solve: residual, rung, time in units of
 *                                        dpotrf(64); * = not the canonical solution
 *   bench_contact [PROBLEMS.jsonl] --laws [NAMES] [--out DIR] [--budget S]
 *                                        every law and solver (or those named: law,law/solver,...) over the problems;
 *                                        contact.md and contact.csv into DIR, or the first to standard output; at most
 *                                        S seconds a solve, default 0.3; problems: $TRIBO_DATA/contact/dev.jsonl
 */
#include "bench.h"
#include "contact/problem/problem.h"
#include "contact_laws.h"
#include "problem.h"
#include <cblas.h> /* OpenBLAS: openblas_set_num_threads */
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { REPEATS = 31 };

static double unit;

/* ---------------------------------------------------------------- problems of a file */

static void one_problem(const char *text, size_t bytes) {
    ti_problem *q;
    tribo_diag diag;
    if (ti_problem_load(text, bytes, NULL, &q, &diag)) {
        printf("cannot read a problem: %s\n", diag.text);
        return;
    }
    tribo_contact_problem p = {
        .nc = q->nc, .nv = q->nv, .M = q->M, .J = q->J, .vfree = q->vfree, .G = q->G, .g = q->g, .mu = q->mu};
    tribo_contact_ws *ws;
    int nv = q->nv > 3 * q->nc ? q->nv : 3 * q->nc;
    double *lambda = calloc((size_t)(3 * q->nc + nv), sizeof *lambda), t[REPEATS];
    if (lambda && tribo_contact_ws_new(q->nc, nv, NULL, NULL, &ws) == TRIBO_OK) {
        tribo_contact_info info = {0};
        tribo_status status = TRIBO_OK;
        double once = bench_seconds();
        status = tribo_contact_solve(ws, &p, 0, false, lambda, lambda + 3 * q->nc, &info);
        once = bench_seconds() - once;
        int calls = 1, repeats = getenv("ONCE") ? 1 : REPEATS;
        if (!getenv("ONCE")) calls = once > 1e-3 ? 1 : (int)(1e-3 / once), repeats = once > 0.1 ? 1 : REPEATS;
        for (int r = 0; r < repeats; r++) {
            t[r] = bench_seconds();
            for (int c = 0; c < calls; c++)
                status = tribo_contact_solve(ws, &p, 0, false, lambda, lambda + 3 * q->nc, &info);
            t[r] = (bench_seconds() - t[r]) / calls;
        }
        double median = bench_median(t, repeats);
        printf("%6.0f %4d contacts  %-13s residual %7.1e  rung %d%c %4d factorizations  %10.2f us %8.2f units\n", q->id,
               q->nc, status == TRIBO_OK ? "ok" : "not converged", info.residual, (int)info.rung,
               info.canonical ? ' ' : '*', info.iterations, 1e6 * median, median / unit);
        tribo_contact_ws_free(ws);
    }
    free(lambda);
    ti_problem_free(NULL, q);
}

static int every_problem(const char *path) {
    FILE *f = fopen(path, "r");
    if (!f) {
        printf("cannot open %s\n", path);
        return 1;
    }
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    while ((n = getline(&line, &room, f)) > 0) one_problem(line, (size_t)n);
    free(line);
    fclose(f);
    return 0;
}

/* ---------------------------------------------------------------- cubes in blocks */

enum { CUBES = 10, NC = 9 * CUBES, NV = 6 * CUBES };

typedef struct scene {
    ti_contact_problem p;
    int width[CUBES], voff[CUBES], moff[CUBES], a[NC], b[NC], joff[NC];
    double M[36 * CUBES], J[36 * NC], vfree[NV], ref[3 * NC], mu[NC];
} scene;

static scene s;
static double memory[1 << 14];

static void rows(double *J, double x, double y, double z, double sign) {
    double r[3] = {x, y, z};
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++) {
            int l = (k + 1) % 3, m = (k + 2) % 3;
            J[6 * k + j] = j == k ? sign : 0;
            J[6 * k + 3 + j] = sign * (j == m ? r[l] : j == l ? -r[m] : 0); /* r x e_k */
        }
}

/* Cubes in a row on a plane, each a little turned, sliding; with `walls` neighbours touch at four points. */
static void pose(int n, bool walls) {
    int nc = 0, at = 0;
    for (int k = 0; k < n; k++) {
        s.width[k] = 6, s.voff[k] = 6 * k, s.moff[k] = 36 * k;
        for (int j = 0; j < 36; j++) s.M[36 * k + j] = 0;
        for (int j = 0; j < 6; j++) s.M[36 * k + 7 * j] = j < 3 ? 1 : 1.0 / 150, s.vfree[6 * k + j] = 0;
        s.vfree[6 * k] = 0.5 + 0.03 * (n - k), s.vfree[6 * k + 1] = 0.1 * k, s.vfree[6 * k + 2] = -9.81e-3;
        s.vfree[6 * k + 5] = 0.2;
        for (int i = 0; i < (walls && k > 0 ? 8 : 4); i++, nc++) {
            double u = (i & 1 ? 0.1 : -0.1), w = (i & 2 ? 0.1 : -0.1);
            s.a[nc] = k, s.b[nc] = i < 4 ? -1 : k - 1, s.joff[nc] = at, s.mu[nc] = 0.4;
            if (i < 4)
                rows(s.J + at, u, w, -0.1, 1);
            else { /* the normal is the first axis: rows x, y, z become z', y, x */
                double J[18];
                for (int side = 0; side < 2; side++) {
                    rows(J, side ? 0.1 : -0.1, u, w, side ? -1 : 1);
                    for (int j = 0; j < 6; j++)
                        s.J[at + 18 * side + j] = J[6 + j], s.J[at + 18 * side + 6 + j] = J[12 + j],
                                             s.J[at + 18 * side + 12 + j] = J[j];
                }
                at += 18;
            }
            at += 18;
        }
    }
    s.p = (ti_contact_problem){.nc = nc,
                               .nblk = n,
                               .nv = 6 * n,
                               .width = s.width,
                               .voff = s.voff,
                               .moff = s.moff,
                               .M = s.M,
                               .a = s.a,
                               .b = s.b,
                               .joff = s.joff,
                               .J = s.J,
                               .vfree = s.vfree,
                               .ref = s.ref,
                               .mu = s.mu};
}

static double r[18 * NV], dc[18 * 3 * NC], dv[18 * NV], dl[18 * 3 * NC], y[NV], c_bar[3 * NC], mu_bar[NC];

static void time_row(const char *name, ti_contact_ws *ws, ti_contact_solution *x, int what) {
    double t[REPEATS];
    tribo_contact_info info = {0};
    ti_contact_options o = {.tol = 1e-10, .warm = what == 1};
    if (what > 0 && ti_contact_solve(ws, &s.p, &(ti_contact_options){.tol = 1e-10}, x, &info))
        printf("not converged\n");
    tribo_status status = TRIBO_OK;
    int calls = 200;
    for (int k = 0; k < REPEATS; k++) {
        t[k] = bench_seconds();
        for (int c = 0; c < calls; c++) {
            if (what < 2)
                status = ti_contact_solve(ws, &s.p, &o, x, &info);
            else
                for (int q = 0; q < x->npoint; q++) {
                    status = ti_contact_factor(ws, &s.p, x, q);
                    if (what == 3) ti_contact_vjp(ws, &s.p, s.vfree, s.ref, y, c_bar, mu_bar);
                    if (what == 4) ti_contact_jvp(ws, &s.p, 18, r, dc, NULL, dv, dl);
                }
        }
        t[k] = (bench_seconds() - t[k]) / calls;
    }
    double median = bench_median(t, REPEATS);
    printf("%-28s status %d residual %7.1e rung %d factorizations %2d  %8.3f us %6.3f units\n", name, (int)status,
           info.residual, (int)info.rung, info.iterations, 1e6 * median, median / unit);
}

typedef struct arguments {
    char path[4096];
    const char *wanted, *folder;
    double budget;
    bool laws;
} arguments;

static arguments read_arguments(int argc, char **argv) {
    arguments a = {.budget = 0.3};
    const char *data = getenv("TRIBO_DATA");
    for (int k = 1; k < argc; k++) {
        if (!strcmp(argv[k], "--out") && k + 1 < argc)
            a.folder = argv[++k];
        else if (!strcmp(argv[k], "--budget") && k + 1 < argc)
            a.budget = strtod(argv[++k], NULL);
        else if (!strcmp(argv[k], "--laws"))
            a.laws = true;
        else if (strchr(argv[k], '.'))
            snprintf(a.path, sizeof a.path, "%s", argv[k]);
        else
            a.wanted = argv[k];
    }
    if (a.laws && !a.path[0] && data) snprintf(a.path, sizeof a.path, "%s/contact/dev.jsonl", data);
    return a;
}

int main(int argc, char **argv) {
    openblas_set_num_threads(1);
    arguments given = read_arguments(argc, argv);
    if (given.laws) return bench_all_laws(given.path, given.wanted, given.folder, given.budget);
    unit = bench_dpotrf(64);
    printf("unit: dpotrf(64) = %.2f us\n", 1e6 * unit);
    if (given.path[0]) return every_problem(given.path);
    ti_contact_ws *ws;
    if (ti_contact_ws_new(&(ti_contact_size){NC, NV, CUBES, 6, false, false}, NULL, NULL, &ws)) return 1;
    static const struct {
        const char *name;
        int n;
        bool walls;
    } scenes[3] = {{"cube", 1, false}, {"two cubes, joined", 2, true}, {"ten cubes, joined", CUBES, true}};
    static const char *const what[5] = {"cold", "warm", "factor", "factor, vjp", "factor, jvp of 18"};
    for (int k = 0; k < 3; k++)
        for (int w = 0; w < 5; w++) {
            char name[64];
            pose(scenes[k].n, scenes[k].walls);
            ti_arena m = {(char *)memory, 0};
            ti_contact_solution x;
            ti_contact_solution_carve(&m, s.p.nc, s.p.nv, &x);
            snprintf(name, sizeof name, "%s: %s", scenes[k].name, what[w]);
            time_row(name, ws, &x, w);
        }
    ti_contact_ws_free(ws);
    const char *data = getenv("TRIBO_DATA");
    if (!data) {
        printf("TRIBO_DATA is not set: no table of laws and solvers\n");
        return 0;
    }
    snprintf(given.path, sizeof given.path, "%s/contact/dev.jsonl", data);
    return bench_all_laws(given.path, NULL, NULL, given.budget);
}
