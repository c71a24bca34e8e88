/* contact_tables.c -- the tables of bench_contact --laws, and what others were measured to take. */
#include "bench.h"
#include "contact_laws.h"
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- groups of problems */

static const char *const groups[] = {"cube",   "quad",    "stack",   "tower2", "tower4",
                                     "tower8", "tower16", "siconos", "all"};
enum { GROUPS = sizeof groups / sizeof *groups, EVERY = GROUPS - 1, SICONOS = GROUPS - 2 };

static int group_of(const char *name) {
    for (int g = 0; g < SICONOS; g++) {
        size_t n = strlen(groups[g]);
        if (strncmp(name, groups[g], n) == 0 && (name[n] < '0' || name[n] > '9')) return g;
    }
    return SICONOS;
}

typedef struct summary {
    int n, nown; /* problems; that were answered to 1e-6 */
    int solved[BENCH_TOLERANCES];
    int unsure, singular, other; /* not answered to 1e-6: did not converge, a matrix was singular, anything else */
    double ncp, ncp_worst, cold, cold_worst, warm, iterations, reverse, bytes;
    int canonical;
} summary;

/* Those of x that are numbers; NaN if none. */
static double median_of(double *x, int n) {
    int m = 0;
    for (int i = 0; i < n; i++)
        if (x[i] == x[i]) x[m++] = x[i];
    return m > 0 ? bench_median(x, m) : (double)NAN;
}

static summary summarise(const bench_laws *b, int method, int group) {
    static double ncp[BENCH_PROBLEMS], cold[BENCH_PROBLEMS], warm[BENCH_PROBLEMS], iterations[BENCH_PROBLEMS],
        reverse[BENCH_PROBLEMS];
    summary s = {0};
    for (int i = 0; i < b->nproblem; i++) {
        const bench_outcome *o = b->results + method * b->nproblem + i;
        if (group != EVERY && group_of(b->problem[i].name) != group) continue;
        int k = s.n++;
        bool good = o->status[0] == TRIBO_OK;
        for (int t = 0; t < BENCH_TOLERANCES; t++) s.solved[t] += o->status[t] == TRIBO_OK;
        s.unsure += o->status[0] == TRIBO_NOT_CONVERGED, s.singular += o->status[0] == TRIBO_E_SINGULAR;
        s.other += o->status[0] < 0 && o->status[0] != TRIBO_E_SINGULAR;
        ncp[k] = good ? o->ncp[0] : (double)NAN;
        if (good && !(o->ncp[0] <= s.ncp_worst)) s.ncp_worst = o->ncp[0];
        cold[k] = good ? o->cold / b->unit : (double)NAN, warm[k] = o->warm / b->unit;
        if (good && o->cold / b->unit > s.cold_worst) s.cold_worst = o->cold / b->unit;
        iterations[k] = good ? o->iterations : (double)NAN;
        reverse[k] = o->reverse / o->whole;
        if ((double)o->bytes > s.bytes) s.bytes = (double)o->bytes;
        s.canonical += o->canonical, s.nown += good;
    }
    s.ncp = median_of(ncp, s.n), s.cold = median_of(cold, s.n), s.warm = median_of(warm, s.n);
    s.iterations = median_of(iterations, s.n), s.reverse = median_of(reverse, s.n);
    return s;
}

/* A cell; "-" for what is not there. */
static void cell(FILE *f, const char *format, double x) {
    fputs(" ", f);
    if (x == x)
        fprintf(f, format, x);
    else
        fputc('-', f);
    fputs(" |", f);
}

static void failures(FILE *f, const summary *s) {
    const char *between = "";
    fputc(' ', f);
    if (s->unsure) fprintf(f, "%d not converged", s->unsure), between = ", ";
    if (s->singular) fprintf(f, "%s%d singular", between, s->singular), between = ", ";
    if (s->other) fprintf(f, "%s%d error", between, s->other);
    fputs(s->nown == s->n ? "none |\n" : " |\n", f);
}

static void group_table(FILE *f, const bench_laws *b, int group) {
    int n = summarise(b, 0, group).n;
    fprintf(f, "\n### %s: %d problem%s\n\n", groups[group], n, n == 1 ? "" : "s");
    fputs(
        "| law/solver | 1e-6 | 1e-9 | NCP median | NCP worst | iterations | cold | worst | warm | reverse | canonical "
        "| kB | failures |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n",
        f);
    for (int k = 0; k < b->nmethod; k++) {
        summary s = summarise(b, k, group);
        fprintf(f, "| %s | %.0f %% | %.0f %% |", b->method[k].name, 100.0 * s.solved[0] / s.n,
                100.0 * s.solved[1] / s.n);
        cell(f, "%.0e", s.ncp);
        cell(f, "%.0e", s.nown ? s.ncp_worst : (double)NAN);
        cell(f, "%.0f", s.iterations);
        cell(f, "%.2f", s.cold);
        cell(f, "%.2f", s.nown ? s.cold_worst : (double)NAN);
        cell(f, "%.2f", s.warm);
        cell(f, "%.2f", s.reverse);
        cell(f, "%.0f %%", s.nown ? 100.0 * s.canonical / s.nown : (double)NAN);
        cell(f, "%.0f", s.bytes / 1024);
        failures(f, &s);
    }
}

/* ---------------------------------------------------------------- problem by problem, beside others */

static const char *const columns[] = {"cube-stick", "cube-slide", "stack-1e3-on-1e-3", "quad-stand",
                                      "quad-slide", "tower4-1",   "tower16-2"};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* The fastest that each algorithm was measured to be elsewhere, cold, to an absolute residual of 1e-6: in us where
 * dpotrf(64) takes 7.0 us, negative where it did not converge. [LeLidec23]'s library and Pinocchio 3.7, the faster. */
static const struct {
    tribo_law law;
    tribo_solver solver;
    double us[COLUMNS];
} elsewhere[] = {
    {TRIBO_LAW_NCP, TRIBO_SOLVER_STAGGERED, {3.0, 104, 10.0, 4.8, 526, 20e3, -9.7e6}},
    {TRIBO_LAW_NCP, TRIBO_SOLVER_STAGGERED_PLAIN, {3.0, 104, 10.0, 4.8, 526, 20e3, -9.7e6}},
    {TRIBO_LAW_NCP, TRIBO_SOLVER_PGS, {1.4, 1.0, -3295, 1.0, 1.8, 265, -241e3}},
    {TRIBO_LAW_NCP, TRIBO_SOLVER_ADMM, {2.6, 10.3, 18.8, 8.6, 29, 186, 27e3}},
    {TRIBO_LAW_CCP, TRIBO_SOLVER_PGS, {3.1, 3.2, -4008, 5.2, 4.6, 9.4e3, -339e3}},
    {TRIBO_LAW_CCP, TRIBO_SOLVER_ADMM, {2.7, 10.3, 13.5, 3.0, 16.5, 806, 10e3}},
    {TRIBO_LAW_LCP, TRIBO_SOLVER_PGS, {3.1, 4.5, -5042, 2.0, 5.6, 2.7e3, -340e3}},
    {TRIBO_LAW_RAISIM, TRIBO_SOLVER_BISECTION, {5.4, 56, -10e3, 1.2, 20.5, 15e3, -674e3}},
    {TRIBO_LAW_RAISIM, TRIBO_SOLVER_BISECTION_CORRECTED, {5.2, 25, -10e3, 1.2, 5.5, 14e3, -701e3}},
};
enum { ELSEWHERE = sizeof elsewhere / sizeof *elsewhere };
static const double unit_elsewhere = 7.0;

static const bench_outcome *outcome_of(const bench_laws *b, int method, const char *name) {
    for (int i = 0; i < b->nproblem; i++)
        if (!strcmp(b->problem[i].name, name)) return b->results + method * b->nproblem + i;
    return NULL;
}

static void table_head(FILE *f, const char *first) {
    fprintf(f, "\n| %s |", first);
    for (int c = 0; c < COLUMNS; c++) fprintf(f, " %s |", columns[c]);
    fputs("\n|---|", f);
    for (int c = 0; c < COLUMNS; c++) fputs("--:|", f);
    fputc('\n', f);
}

static void time_text(char *text, size_t n, double us) {
    if (us < 1e3)
        snprintf(text, n, us < 10 ? "%.1f" : "%.0f", us);
    else
        snprintf(text, n, us < 1e6 ? "%.*f ms" : "%.*f s", us < 1e4 || us >= 1e6 ? 1 : 0,
                 us < 1e6 ? us / 1e3 : us / 1e6);
}

static void seven_columns(FILE *f, const bench_laws *b) {
    table_head(f, "law/solver");
    for (int k = 0; k < b->nmethod; k++) {
        fprintf(f, "| %s |", b->method[k].name);
        for (int c = 0; c < COLUMNS; c++) {
            const bench_outcome *o = outcome_of(b, k, columns[c]);
            char time[32];
            if (!o || o->status[0] < 0) {
                fputs(o ? " failed |" : " |", f);
                continue;
            }
            time_text(time, sizeof time, 1e6 * o->cold);
            fprintf(f, " %s%s/%d/%.0e |", time, o->status[0] == TRIBO_OK ? "" : "!", o->iterations, o->own[0]);
        }
        fputc('\n', f);
    }
}

/* Units here over units elsewhere. */
static void held_against(FILE *f, const bench_laws *b) {
    table_head(f, "law/solver");
    for (int k = 0; k < b->nmethod; k++)
        for (int e = 0; e < ELSEWHERE; e++) {
            if (elsewhere[e].law != b->method[k].row->law || elsewhere[e].solver != b->method[k].row->solver) continue;
            fprintf(f, "| %s |", b->method[k].name);
            for (int c = 0; c < COLUMNS; c++) {
                const bench_outcome *o = outcome_of(b, k, columns[c]);
                double us = elsewhere[e].us[c];
                bool good = o && o->status[0] == TRIBO_OK;
                if (good && us > 0)
                    fprintf(f, " %.2f |", o->cold / b->unit / (us / unit_elsewhere));
                else
                    fprintf(f, " %s |", good ? "only here" : us > 0 ? "**only there**" : "neither");
            }
            fputc('\n', f);
        }
}

/* What is not answered to 1e-6, by name. */
static void unanswered(FILE *f, const bench_laws *b) {
    fputs("\n| law/solver | not answered to 1e-6: residual reached (cut: for want of time) |\n|---|---|\n", f);
    for (int k = 0; k < b->nmethod; k++) {
        const char *between = "";
        if (summarise(b, k, EVERY).nown == b->nproblem) continue;
        fprintf(f, "| %s | ", b->method[k].name);
        for (int i = 0; i < b->nproblem; i++) {
            const bench_outcome *o = b->results + k * b->nproblem + i;
            if (o->status[0] == TRIBO_OK) continue;
            fprintf(f, "%s%s: ", between, b->problem[i].name), between = ", ";
            if (o->status[0] < 0)
                fputs(tribo_status_text(o->status[0]), f);
            else
                fprintf(f, "%.0e%s", o->own[0], o->cut ? " (cut)" : "");
        }
        fputs(" |\n", f);
    }
}

void bench_write_markdown(FILE *f, const bench_laws *b) {
    fprintf(
        f,
        "# Contact laws and solvers on %d problems\n\n"
        "Times are in units of dpotrf(64), here %.1f us, and begin with M, J and the free velocity. Columns 1e-6 and "
        "1e-9: share that the solver answers to that relative residual of its own law; the rest is at 1e-6, over the "
        "problems so answered, medians unless said otherwise. NCP: the residual of that answer in the NCP. Warm: from "
        "the answer to a problem whose free velocities differ by 1 %%. Reverse: implicit gradient over the solve "
        "with its steps to the canonical solution; canonical: share that reach it. A solve is cut off after a given "
        "time. The whole took %.0f s.\n\n## By group of problems\n",
        b->nproblem, 1e6 * b->unit, b->seconds);
    group_table(f, b, EVERY);
    for (int g = 0; g < EVERY; g++)
        if (summarise(b, 0, g).n > 0) group_table(f, b, g);
    fputs("\n## Failures\n", f);
    unanswered(f, b);
    fputs("\n## Problem by problem\n\nMicroseconds / iterations / residual of the own law, cold, to 1e-6; `!` = not "
          "converged.\n",
          f);
    seven_columns(f, b);
    fputs(
        "\nThe same in units, over what the fastest implementation published takes for the same algorithm: below 1 is "
        "faster.\n",
        f);
    held_against(f, b);
}

void bench_write_csv(FILE *f, const bench_laws *b) {
    fputs("law,solver,problem,contacts,status_1e-6,own_1e-6,ncp_1e-6,status_1e-9,own_1e-9,ncp_1e-9,iterations,cold_us,"
          "cold_units,warm_units,warm_iterations,canonical,with_canonical_units,reverse_units,bytes\n",
          f);
    for (int k = 0; k < b->nmethod; k++)
        for (int i = 0; i < b->nproblem; i++) {
            const bench_outcome *o = b->results + k * b->nproblem + i;
            const ti_solver *row = b->method[k].row;
            fprintf(f, "%s,%s,%s,%d", tribo_law_name(row->law), tribo_solver_name(row->solver), b->problem[i].name,
                    b->problem[i].p.nc);
            for (int t = 0; t < BENCH_TOLERANCES; t++)
                fprintf(f, ",%d,%.3g,%.3g", (int)o->status[t], o->own[t], o->ncp[t]);
            fprintf(f, ",%d,%.4g,%.4g,%.4g,%d,%d,%.4g,%.4g,%zu\n", o->iterations, 1e6 * o->cold, o->cold / b->unit,
                    o->warm / b->unit, o->warm_iterations, (int)o->canonical, o->whole / b->unit, o->reverse / b->unit,
                    o->bytes);
        }
}
