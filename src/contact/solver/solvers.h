/* solvers.h -- an algorithm for the contact problem is a row of a table, a struct of scratch and one function. */
#ifndef TI_SOLVERS_H
#define TI_SOLVERS_H
#include "contact/work/workspace.h"

/* One law under one algorithm. */
typedef struct ti_solver {
    tribo_law law;
    tribo_solver solver;
    const ti_law *model; /* the law that its answer satisfies, and that is differentiated */
    double tol;          /* on the relative residual of that law, where the caller names none */
    int max_iter;
    /* Cut the arrays of its struct, which is at most TI_SCRATCH_MAX bytes; called twice, with another arena. NULL =
     * none. */
    void (*carve)(ti_arena *m, const ti_contact_sizes *sizes, void *scratch);
    /* From ws->lambda (zero, or a warm start) and the velocity it gives, ws->v, to an answer in ws->lambda; stops when
     * its own criterion is met and ti_contact_law_residual() is at most tol, or after ws->max_iter iterations, which it
     * counts in ws->iterations. Leaves the best it met. May use every array of ws but those of the solution. */
    void (*run)(ti_contact_ws *ws, const ti_contact_problem *p, double tol);
    bool any; /* problems of joints too, not of contacts alone; else the ladder solves these */
} ti_solver;

/* The row of (law, solver); solver 0 = the first of the law. NULL if there is none. laws.c. */
const ti_solver *ti_solver_find(tribo_law law, tribo_solver solver);
/* The algorithms, each in the file of its name. */
void ti_sweep_carve(ti_arena *m, const ti_contact_sizes *sizes, void *scratch);
void ti_sweep_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol);
/* Sweeps with a local solution other than that of ws->law. */
typedef void ti_local(const ti_law_contact *s, const double *free, double *lambda);
void ti_sweep_by(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_local *local);
void ti_bisection_corrected_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol);
void ti_pivoting_carve(ti_arena *m, const ti_contact_sizes *sizes, void *scratch);
void ti_pivoting_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol);
void ti_cone_admm_carve(ti_arena *m, const ti_contact_sizes *sizes, void *scratch);
void ti_cone_admm_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol);
void ti_ncp_newton_carve(ti_arena *m, const ti_contact_sizes *sizes, void *scratch);
void ti_ncp_newton_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol);
void ti_ncp_interior_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol);
void ti_ccp_newton_carve(ti_arena *m, const ti_contact_sizes *sizes, void *scratch);
void ti_ccp_newton_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol);
void ti_staggered_carve(ti_arena *m, const ti_contact_sizes *sizes, void *scratch);
void ti_staggered_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol);
void ti_staggered_plain_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol);
void ti_continuation_carve(ti_arena *m, const ti_contact_sizes *sizes, void *scratch);
void ti_continuation_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol);
/* In place of ti_contact_polish(), for its answers. */
void ti_continuation_polish(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_contact_solution *s,
                            tribo_contact_info *info);

#endif
