/* contact_laws.c -- every law and solver over the problems of a file: accuracy, time, memory, failures. */
#define _POSIX_C_SOURCE 200809L
#include "contact_laws.h"
#include "bench.h"
#include "contact/solver/solvers.h"
#include "problem.h"
#include <math.h>
#include <string.h>

static const double tolerances[BENCH_TOLERANCES] = {1e-6, 1e-9};

/* ---------------------------------------------------------------- problems */

static void name_of(const char *line, const ti_problem *q, char *name) {
    const char *at = strstr(line, "\"name\"");
    at = at ? strchr(at + 6, '"') : NULL;
    if (at)
        snprintf(name, BENCH_NAME, "%.*s", (int)strcspn(at + 1, "\""), at + 1);
    else if (q->id_text[0])
        snprintf(name, BENCH_NAME, "%.40s", q->id_text);
    else
        snprintf(name, BENCH_NAME, "%g", q->id);
}

/* One percent off, by a fixed sequence. */
static double *problem_nearby(const bench_problem *b) {
    int n = b->p.G ? 3 * b->p.nc : b->p.nv;
    const double *free = b->p.G ? b->p.g : b->p.vfree;
    double *near = calloc((size_t)n, sizeof *near), size = 0;
    unsigned state = 1;
    for (int k = 0; k < n; k++) size = ti_max(size, fabs(free[k]));
    for (int k = 0; near && k < n; k++) {
        state = state * 1664525u + 1013904223u;
        near[k] = free[k] + 0.01 * size * ((double)(state >> 8) / 8388608.0 - 1);
    }
    return near;
}

int bench_read(const char *path, bench_problem *all, int most) {
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int count = 0;
    while (f && count < most && (n = getline(&line, &room, f)) > 0) {
        bench_problem *b = all + count;
        tribo_diag diag;
        if (ti_problem_load(line, (size_t)n, NULL, &b->q, &diag)) {
            fprintf(stderr, "cannot read a problem: %s\n", diag.text);
            continue;
        }
        const ti_problem *q = b->q;
        b->p = (tribo_contact_problem){
            .nc = q->nc, .nv = q->nv, .M = q->M, .J = q->J, .vfree = q->vfree, .G = q->G, .g = q->g, .mu = q->mu};
        name_of(line, q, b->name);
        b->lambda = calloc(3 * (size_t)q->nc, sizeof *b->lambda), b->near = problem_nearby(b);
        count += b->lambda && b->near;
    }
    free(line);
    if (f) fclose(f);
    return count;
}

/* ---------------------------------------------------------------- one method on one problem */

static tribo_contact_ws *workspace(const bench_method *m, const bench_problem *b, bool raw, int max_iter) {
    tribo_law_options o = {.law = m->row->law, .solver = m->row->solver, .raw = raw, .max_iter = max_iter};
    tribo_contact_ws *ws = NULL;
    int nv = b->p.nv > 3 * b->p.nc ? b->p.nv : 3 * b->p.nc;
    return tribo_contact_ws_new(b->p.nc, nv, &o, NULL, &ws) == TRIBO_OK ? ws : NULL;
}

/* Seconds of one of `calls` solves; start NULL = cold. */
static double time_calls(tribo_contact_ws *ws, const bench_problem *b, const double *start, int calls,
                         tribo_contact_info *info) {
    tribo_status s = TRIBO_OK;
    double from = bench_seconds();
    for (int c = 0; c < calls && s >= 0; c++) {
        if (start) memcpy(b->lambda, start, 3 * (size_t)b->p.nc * sizeof *start);
        s = tribo_contact_solve(ws, &b->p, 1e-6, start != NULL, b->lambda, NULL, info);
    }
    return s < 0 ? (double)NAN : (bench_seconds() - from) / calls;
}

/* The median of several where it is short. */
static double time_solve(tribo_contact_ws *ws, const bench_problem *b, const double *start, tribo_contact_info *info) {
    enum { REPEATS = 11 };
    double t[REPEATS], first = time_calls(ws, b, start, 1, info);
    if (!(first < 0.05)) return first;
    double second = time_calls(ws, b, start, 1, info); /* caches are warm */
    int calls = second > 5e-4 ? 1 : (int)(5e-4 / second) + 1, repeats = second > 2e-3 ? 3 : REPEATS;
    for (int r = 0; r < repeats; r++) t[r] = time_calls(ws, b, start, calls, info);
    return bench_median(t, repeats);
}

/* Iterations that fit into the budget; 0 = the solver's own limit. Found by trying ever more of them. */
static int iterations_within(const bench_method *m, const bench_problem *b, double budget) {
    enum { FIRST = 16, MORE = 3 };
    for (int most = FIRST; most < m->row->max_iter; most *= MORE) {
        tribo_contact_ws *ws = workspace(m, b, true, most);
        if (!ws) return 0;
        double from = bench_seconds();
        tribo_status s = tribo_contact_solve(ws, &b->p, 1e-9, false, b->lambda, NULL, NULL);
        double spent = bench_seconds() - from;
        tribo_contact_ws_free(ws);
        if (s != TRIBO_NOT_CONVERGED) return 0;
        if (spent * MORE > budget) return spent < budget ? (int)(most * budget / spent) : most;
    }
    return 0;
}

static void accuracy(tribo_contact_ws *ws, const bench_problem *b, bench_outcome *o) {
    for (int k = 0; k < BENCH_TOLERANCES; k++) {
        tribo_contact_info info = {0};
        tribo_measures m = {0};
        o->status[k] = tribo_contact_solve(ws, &b->p, tolerances[k], false, b->lambda, NULL, &info);
        o->own[k] = o->ncp[k] = (double)NAN;
        if (k == 0) o->iterations = info.iterations;
        if (o->status[k] < 0) continue;
        o->own[k] = info.residual;
        if (tribo_contact_measure(ws, &b->p, &m) == TRIBO_OK) o->ncp[k] = bench_worst(m.ncp);
    }
}

static void warm(tribo_contact_ws *ws, const bench_problem *b, bench_outcome *o) {
    tribo_contact_problem nearby = b->p;
    tribo_contact_info info = {0};
    double *start = calloc(3 * (size_t)b->p.nc, sizeof *start);
    if (!start) return;
    if (nearby.G)
        nearby.g = b->near;
    else
        nearby.vfree = b->near;
    if (tribo_contact_solve(ws, &nearby, 1e-6, false, start, NULL, &info) == TRIBO_OK) {
        o->warm = time_solve(ws, b, start, &info);
        o->warm_iterations = info.iterations;
    }
    free(start);
}

/* To the canonical solution, and back. */
static void derivative(tribo_contact_ws *ws, const bench_problem *b, bench_outcome *o) {
    enum { REPEATS = 11 };
    int n3 = 3 * b->p.nc;
    tribo_contact_info info = {0};
    double t[REPEATS], *bar = calloc(4 * (size_t)n3, sizeof *bar);
    if (!bar) return;
    for (int k = 0; k < n3; k++) bar[k] = 1 + 0.1 * k;
    o->whole = time_solve(ws, b, NULL, &info);
    o->canonical = info.canonical;
    for (int r = 0; r < REPEATS; r++) {
        enum { CALLS = 5 };
        tribo_status s = TRIBO_OK;
        t[r] = bench_seconds();
        for (int c = 0; c < CALLS && !s; c++)
            s = tribo_contact_vjp(ws, &b->p, bar, NULL, NULL, bar + n3, bar + 2 * n3, NULL, NULL, NULL);
        t[r] = s ? (double)NAN : (bench_seconds() - t[r]) / CALLS;
    }
    o->reverse = bench_median(t, REPEATS);
    free(bar);
}

bench_outcome bench_measure(const bench_method *m, const bench_problem *b, double budget) {
    const double nan = (double)NAN;
    bench_outcome o = {.status = {TRIBO_E_NOMEM, TRIBO_E_NOMEM}, .own = {nan, nan}, .ncp = {nan, nan}};
    o.cold = o.warm = o.whole = o.reverse = nan;
    tribo_contact_info info = {0};
    int limit = iterations_within(m, b, budget);
    tribo_contact_ws *raw = workspace(m, b, true, limit), *polished = workspace(m, b, false, limit);
    if (raw && polished) {
        o.bytes = tribo_contact_ws_bytes(raw), o.cut = limit > 0;
        accuracy(raw, b, &o);
        if (o.status[0] >= 0) {
            o.cold = time_solve(raw, b, NULL, &info);
        }
        if (o.status[0] == TRIBO_OK) warm(raw, b, &o), derivative(polished, b, &o);
    }
    tribo_contact_ws_free(raw), tribo_contact_ws_free(polished);
    return o;
}

/* ---------------------------------------------------------------- all of them */

/* Whether "law,law/solver,..." names a row; NULL names all. */
static bool is_wanted(const char *wanted, tribo_law law, const char *name) {
    for (const char *at = wanted; at && *at; at += strcspn(at, ",")) {
        at += *at == ',';
        size_t n = strcspn(at, ",");
        const char *own = tribo_law_name(law);
        if ((n == strlen(name) && !strncmp(at, name, n)) || (n == strlen(own) && !strncmp(at, own, n))) return true;
    }
    return !wanted;
}

static void choose_methods(bench_laws *b, const char *wanted) {
    for (int law = 1; law < TRIBO_LAW_END; law++)
        for (int k = 0; b->nmethod < BENCH_METHODS; k++) {
            tribo_solver solver = tribo_law_solver((tribo_law)law, k);
            bench_method *m = b->method + b->nmethod;
            if (!solver) break;
            m->row = ti_solver_find((tribo_law)law, solver);
            snprintf(m->name, BENCH_NAME, "%s/%s", tribo_law_name((tribo_law)law), tribo_solver_name(solver));
            b->nmethod += is_wanted(wanted, (tribo_law)law, m->name);
        }
}

static bool write_file(const bench_laws *b, const char *folder, const char *name,
                       void (*write)(FILE *, const bench_laws *)) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f) return fprintf(stderr, "cannot write %s\n", path), false;
    write(f, b);
    return fclose(f) == 0;
}

int bench_all_laws(const char *path, const char *wanted, const char *folder, double budget) {
    static bench_laws b;
    double from = bench_seconds();
    b.nproblem = bench_read(path, b.problem, BENCH_PROBLEMS);
    if (b.nproblem == 0) return fprintf(stderr, "no problems in %s\n", path), 1;
    choose_methods(&b, wanted);
    if (b.nmethod == 0) return fprintf(stderr, "no such law or solver: %s\n", wanted), 1;
    b.results = calloc((size_t)b.nmethod * (size_t)b.nproblem, sizeof *b.results);
    if (!b.results) return 1;
    b.unit = bench_dpotrf(64);
    for (int k = 0; k < b.nmethod; k++) {
        double start = bench_seconds(), unit = bench_dpotrf(64);
        if (unit < b.unit) b.unit = unit; /* what else runs here slows it more than what it is compared with */
        for (int i = 0; i < b.nproblem; i++)
            b.results[k * b.nproblem + i] = bench_measure(b.method + k, b.problem + i, budget);
        fprintf(stderr, "%-28s %6.1f s\n", b.method[k].name, bench_seconds() - start);
    }
    b.seconds = bench_seconds() - from;
    bool good = true;
    if (folder)
        good = write_file(&b, folder, "contact.md", bench_write_markdown) &&
               write_file(&b, folder, "contact.csv", bench_write_csv);
    else
        bench_write_markdown(stdout, &b);
    for (int i = 0; i < b.nproblem; i++) {
        free(b.problem[i].lambda), free(b.problem[i].near);
        ti_problem_free(NULL, b.problem[i].q);
    }
    free(b.results);
    return good ? 0 : 1;
}
