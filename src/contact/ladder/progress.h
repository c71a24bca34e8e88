/* progress.h -- what the stages of the contact solver share. docs/math.md, "The ladder". */
#ifndef TI_PROGRESS_H
#define TI_PROGRESS_H
#include "contact/work/workspace.h"

static inline void ti_iterate_to(const ti_contact_ws *ws, const ti_contact_problem *p, double *v, double *l) {
    memcpy(v, ws->v, p->nv * sizeof(double));
    memcpy(l, ws->lambda, 3 * p->nc * sizeof(double));
}

static inline void ti_iterate_from(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *l) {
    memcpy(ws->v, v, p->nv * sizeof(double));
    memcpy(ws->lambda, l, 3 * p->nc * sizeof(double));
}

/* What has been reached: the residual of what is in s, which is to be below tol, whether that will do, whether it is
 * canonical; whether the iterate follows the path of falling compliance. */
typedef struct ti_progress {
    double tol, residual;
    double enough;                      /* tol of large problems off the path, where digits are dear */
    bool done, canonical, on_path, met; /* met: a point of the path was found */
    bool consistent;                    /* the law at the last point of the path chooses the modes that were held */
    int patience;                       /* strides along the path that may fail */
    int most;                           /* factorizations after which the path is given up */
    int more;                           /* proximal iterations beyond the tolerance, without gain */
    bool at_once;   /* proximal iterations end where Newton fails on the first: what is elsewhere comes sooner */
    bool brief;     /* few are worth it off the path */
    bool vain;      /* and none: impulses grow as 1 / R */
    int way;        /* along the path: which one; */
    int dead_way;   /* the last that came to a point whose modes hold and that leads to no answer: a dead end, */
    double dead_at; /* the first at this compliance; */
    bool again;     /* another way had come to the same one; */
    double closest; /* the least residual that one led to: ws->closest */
    bool hasty;     /* what a point leads to whose modes do not hold is passed over; */
    bool passed;    /* it was */
} ti_progress;

enum { TI_LADDER_LARGE = 96 }; /* velocities from which on factorizations are dear */

#define TI_LADDER_CLOSE 1e-8 /* merit below which steps are not shortened, though modes change */

/* q := v, l as a point at compliance R. */
void ti_point_keep(ti_contact_point *q, double weight, double R, const ti_contact_problem *p, const double *v,
                   const double *l);
/* Keep the iterate at compliance R as the answer if its residual is below `share` of the best. If it solves the hard
 * law, it is linearised at a small compliance, however large R was: zero impulses do not show R. */
void ti_ladder_keep(ti_contact_ws *ws, const ti_contact_problem *p, double R, double share, ti_progress *g,
                    ti_contact_solution *s);
/* ws->ref = ref - R lambda: with it a compliance R acts on the change of the impulses alone, and a fixed point solves
 * the hard law. */
void ti_ladder_anchor(ti_contact_ws *ws, const ti_contact_problem *p, double R);
/* Start from impulses, with about the velocity that they give, or from nothing: the first linearisation depends on
 * directions of slip. */
void ti_ladder_start(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda);

#endif
