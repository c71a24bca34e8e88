/* ccp_newton.c -- the convex relaxation by Newton on its primal: contact/ladder/primal.h, to an answer that is its
 * impulses alone. */
#include "contact/ladder/primal.h"
#include "contact/solver/solvers.h"
#include <math.h>

typedef struct outcome {
    double *best; /* (3 nc) */
    ti_contact_solution end;
} outcome;

_Static_assert(sizeof(outcome) <= TI_SCRATCH_MAX, "scratch of the CCP by Newton");

void ti_ccp_newton_carve(ti_arena *m, const ti_contact_sizes *sizes, void *scratch) {
    outcome *s = scratch;
    TI_CARVE(m, s->best, 3 * (size_t)sizes->nc);
    ti_contact_solution_carve(m, sizes->nc, sizes->nv, &s->end);
}

/* How far a round leaves the iterate from the problem without added compliance: by ws->law, at the velocity of its
 * impulses. */
static double by_law(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    ti_contact_velocity(ws, p, ws->lambda, ws->v);
    double r = ti_contact_law_residual(ws, p, ws->v, ws->lambda);
    return r <= tol ? ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL) : r; /* the final criterion */
}

void ti_ccp_newton_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    static const ti_primal_manner by_impulses = {TI_PRIMAL_FIRST, TI_PRIMAL_THEN, 12, by_law};
    outcome *s = ws->scratch;
    if (!ti_primal_rounds(ws, p, tol, &by_impulses)) return;
    memcpy(ws->lambda, ws->lb, 3 * (size_t)p->nc * sizeof(double));
    memcpy(s->best, ws->lb, 3 * (size_t)p->nc * sizeof(double));
    ti_contact_end(ws, p, tol, s->best, &s->end);
}
