/* contact_laws.h -- every law and solver over the problems of a file: what is measured, and the tables of it. */
#ifndef BENCH_CONTACT_LAWS_H
#define BENCH_CONTACT_LAWS_H
#include "contact/solver/solvers.h"
#include "problem.h"
#include <stdio.h>

enum { BENCH_NAME = 48, BENCH_TOLERANCES = 2, BENCH_PROBLEMS = 1024, BENCH_METHODS = 64 };

typedef struct bench_problem {
    char name[BENCH_NAME];
    ti_problem *q;
    tribo_contact_problem p;
    double *lambda; /* (3 nc) scratch */
    double *near;   /* (nv or 3 nc) free velocity of a problem nearby, whose solution is the warm start */
} bench_problem;

typedef struct bench_method {
    const ti_solver *row;
    char name[BENCH_NAME];
} bench_method;

/* One method on one problem. Times in s; NaN where there is none. */
typedef struct bench_outcome {
    tribo_status status[BENCH_TOLERANCES];               /* at 1e-6, 1e-9 */
    double own[BENCH_TOLERANCES], ncp[BENCH_TOLERANCES]; /* residuals */
    int iterations, warm_iterations;                     /* at 1e-6 */
    double cold, warm;                                   /* of the solver's raw answer to 1e-6 */
    double whole, reverse;                               /* with the steps to the canonical solution; its reverse */
    bool canonical, cut; /* cut: given fewer iterations than its own limit, to keep to the budget */
    size_t bytes;
} bench_outcome;

typedef struct bench_laws {
    bench_problem problem[BENCH_PROBLEMS];
    bench_method method[BENCH_METHODS];
    int nproblem, nmethod;
    bench_outcome *results; /* (nmethod,nproblem) */
    double unit, seconds;   /* the least of dpotrf(64) met; of the whole bench */
} bench_laws;

/* Worst of the three. */
static inline double bench_worst(tribo_residuals r) {
    return ti_max(r.primal, ti_max(r.dual, r.complementarity));
}

/* Read the problems of a file; how many. */
int bench_read(const char *path, bench_problem *all, int most);
/* One method on one problem, `budget` seconds a solve. */
bench_outcome bench_measure(const bench_method *m, const bench_problem *b, double budget);
/* contact_tables.c: Markdown, and a line for every method and problem. */
void bench_write_markdown(FILE *f, const bench_laws *b);
void bench_write_csv(FILE *f, const bench_laws *b);
/* Run it all. wanted: "law,law/solver,..." or NULL = all; folder: where contact.md and contact.csv go, NULL = the first
 * to standard output. @return the exit status. */
int bench_all_laws(const char *path, const char *wanted, const char *folder, double budget);

#endif
