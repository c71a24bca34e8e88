/* compare.h -- what the parts of the verb `compare` share: the scene, the reference, and a run for every law and
 * solver.
 */
#ifndef TRIBO_TOOLS_COMPARE_H
#define TRIBO_TOOLS_COMPARE_H
#include "common.h"
#include <tribo/dynamics.h>
#include <tribo/sim.h>
#include <tribo/trajectory.h>

/* What is drawn over time, one number a row: X(NAME). */
#define CURVE_LIST(X)                                                                                                  \
    X(energy)     /* J */                                                                                              \
    X(distance)   /* of the body that is farthest from where it is in the reference, m */                              \
    X(turn)       /* the same for its orientation, rad */                                                              \
    X(iterations) /* of the step that ends here */                                                                     \
    X(residual)   /* of the law, relative */                                                                           \
    X(ncp)        /* of the NCP, relative */                                                                           \
    X(internal)   /* internal forces, N */                                                                             \
    X(height)     /* of the body that is watched, above its start, m */                                                \
    X(drift)      /* of it, across the way it starts on, m */

typedef enum curve {
#define CURVE_X(name) CURVE_##name,
    CURVE_LIST(CURVE_X)
#undef CURVE_X
        NCURVES
} curve;

/* A law under a solver, and how it went. NaN where there is nothing to tell. */
typedef struct contender {
    tribo_law_options law;
    char name[48];       /* law/solver */
    int model;           /* contenders of one number solve the same equations */
    tribo_status status; /* of the worst step; below 0 the run ended there */
    char note[160];      /* why it ended, or "" */
    int rows;            /* of the motion that there are */
    long unsolved;       /* steps that did not converge, cold */
    long unsolved_warm;
    double *value[NCURVES]; /* (rows of the comparison); NaN beyond `rows` */
    double us, us_warm, iterations, iterations_warm;
    double residual_median, residual_worst, ncp_median, ncp_worst;
    double gain;  /* of energy beyond the work of the controls, J, summed */
    double error; /* difference of the energy from the reference, J, mean over time: an impact may come a step later */
    double internal_worst, distance_worst, turn_worst, drift_worst;
    double rise; /* highest that the body that is watched gets above its start, m */
} contender;

typedef struct comparison {
    const char *scene, *out;
    int argc;
    char **argv;
    const tribo_model *m;
    tribo_sizes n;
    const double *p, *x0;
    const tribo_controls *controls;
    double dt, tol, limit; /* limit: s of a run */
    int rows;              /* steps + 1 */
    int finer;             /* steps of the reference in one; 0: no reference */
    double *time;          /* (rows) */
    double *reference;     /* (rows,nx), NULL: there is none */
    double *reference_value[NCURVES];
    tribo_dynamics *motion, *driven; /* at a state; the same without springs */
    double *pose, *held;             /* (2,nbody,7) scratch; (nu) the controls where none are given: the first key's */
    double kinetic;                  /* largest kinetic energy of the reference, J */
    int body;                        /* that is watched */
    double start[7], side[2];        /* its pose at first; unit vector across its way */
    contender *contender;
    int ncontender;
    double *memory; /* of all curves */
} comparison;

/* Rows, curves, contenders: after scene, contenders' laws and the numbers are there. False without memory. */
bool compare_prepare(comparison *c);
/* The motion in finer steps of the NCP. @return false if there is none; diag says why. */
bool compare_reference(comparison *c, tribo_diag *diag);
/* One contender, cold, measured and timed, and warm. Failing is no error: see contender.status and note. */
void compare_run(comparison *c, contender *k);
void compare_free(comparison *c);
/* The page. @return false where it could not be written, after a message. */
void compare_page(FILE *f, const comparison *c);

#endif
