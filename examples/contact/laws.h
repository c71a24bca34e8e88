/* laws.h -- what the contact experiments share: a scene under a law, step by step, with its measures. */
#ifndef TRIBO_EXAMPLE_LAWS_H
#define TRIBO_EXAMPLE_LAWS_H
#include "example.h"

/* A law and a solver, as the legend has them. */
typedef struct variant {
    const char *title;
    tribo_law_options law;
} variant;

/* All of them by their own solvers, RaiSim's without its correction and with it. */
enum { EVERY_LAW = 5 };
extern const variant every_law[EVERY_LAW];

/* A motion of T steps. */
typedef struct motion {
    int T, nx;
    double *x;             /* (T+1,nx) */
    double *time;          /* (T+1) s */
    tribo_step_info *step; /* (T) */
    int unsolved;          /* steps that did not converge */
} motion;

/* Simulate; U (T,nu) or NULL. The solvers' answers are left raw where the variant says so. */
motion move_by(const tribo_model *m, const double *p, const double *x0, const double *U, int T, double dt, double tol,
               bool warm, const variant *v);
void motion_free(motion *m);
/* One number of every row, (T+1), to be freed. */
double *column(const motion *m, int index);

/* A cube on the floor, its lower corners numbered (right of it) + 2 (left of it, along y). */
enum { CORNERS = 4 };
typedef struct cube_run {
    int steps;
    double *time, *x, *y, *vx, *vy; /* (steps) s, m, m/s after each step */
    double *force[CORNERS];         /* (steps) normal, N */
} cube_run;
/* From a state under a control held, or NULL; tolerance 1e-8. */
cube_run cube_by(const tribo_model *m, const double *p, const double *x0, const double *u, int steps, double dt,
                 const variant *v);
void cube_free(cube_run *r);

/* The first problem of data/contact/dev.jsonl under TRIBO_DATA with this name; false without it. Free the text. */
typedef struct named_problem {
    char *text;
    size_t bytes;
} named_problem;
bool problem_named(const char *name, named_problem *p);

#endif
