/* laws.c -- the table of laws and solvers, and what the options leave to defaults. */
#include "contact/solver/stochastic.h"
#include <math.h>

/* The first row of a law is its default: the one that bench_contact --laws shows to fail least, then to be fastest. */
static const ti_solver solvers[] = {
    {TRIBO_LAW_NCP, TRIBO_SOLVER_LADDER, &ti_law_ncp, TI_LADDER_TOL, 0, NULL, NULL, true},
    {TRIBO_LAW_NCP, TRIBO_SOLVER_STAGGERED, &ti_law_ncp, 1e-6, 1000, ti_staggered_carve, ti_staggered_run, false},
    {TRIBO_LAW_NCP, TRIBO_SOLVER_STAGGERED_PLAIN, &ti_law_ncp, 1e-6, 10000, ti_staggered_carve, ti_staggered_plain_run,
     false},
    {TRIBO_LAW_NCP, TRIBO_SOLVER_PGS, &ti_law_ncp, 1e-6, 10000, ti_sweep_carve, ti_sweep_run, true},
    {TRIBO_LAW_NCP, TRIBO_SOLVER_ADMM, &ti_law_ncp, 1e-6, 10000, ti_cone_admm_carve, ti_cone_admm_run, false},
    {TRIBO_LAW_NCP, TRIBO_SOLVER_NEWTON, &ti_law_ncp, 1e-10, 1000, ti_ncp_newton_carve, ti_ncp_newton_run, false},
    {TRIBO_LAW_NCP, TRIBO_SOLVER_INTERIOR, &ti_law_ncp, 1e-9, 100, ti_ncp_newton_carve, ti_ncp_interior_run, false},
    {TRIBO_LAW_CCP, TRIBO_SOLVER_NEWTON, &ti_law_ccp, 1e-6, 1000, ti_ccp_newton_carve, ti_ccp_newton_run, false},
    {TRIBO_LAW_CCP, TRIBO_SOLVER_LADDER, &ti_law_ccp, TI_LADDER_TOL, 0, NULL, NULL, true},
    {TRIBO_LAW_CCP, TRIBO_SOLVER_PGS, &ti_law_ccp, 1e-6, 10000, ti_sweep_carve, ti_sweep_run, true},
    {TRIBO_LAW_CCP, TRIBO_SOLVER_ADMM, &ti_law_ccp, 1e-6, 10000, ti_cone_admm_carve, ti_cone_admm_run, false},
    {TRIBO_LAW_LCP, TRIBO_SOLVER_LADDER, &ti_law_lcp, TI_LADDER_TOL, 0, NULL, NULL, true},
    {TRIBO_LAW_LCP, TRIBO_SOLVER_PGS, &ti_law_lcp, 1e-6, 10000, ti_sweep_carve, ti_sweep_run, true},
    {TRIBO_LAW_LCP, TRIBO_SOLVER_STAGGERED, &ti_law_lcp, 1e-6, 1000, ti_staggered_carve, ti_staggered_run, false},
    {TRIBO_LAW_LCP, TRIBO_SOLVER_LEMKE, &ti_law_lcp, 1e-9, 100000, ti_pivoting_carve, ti_pivoting_run, false},
    {TRIBO_LAW_RAISIM, TRIBO_SOLVER_LADDER, &ti_law_raisim, TI_LADDER_TOL, 0, NULL, NULL, true},
    {TRIBO_LAW_RAISIM, TRIBO_SOLVER_BISECTION, &ti_law_raisim, 1e-6, 10000, ti_sweep_carve, ti_sweep_run, true},
    {TRIBO_LAW_RAISIM, TRIBO_SOLVER_BISECTION_CORRECTED, &ti_law_ncp, 1e-6, 10000, ti_sweep_carve,
     ti_bisection_corrected_run, true},
    {TRIBO_LAW_STOCHASTIC, TRIBO_SOLVER_CONTINUATION, &ti_law_stochastic, 1e-9, 2000, ti_continuation_carve,
     ti_continuation_run, true},
};
enum { NSOLVER = sizeof solvers / sizeof *solvers };

tribo_solver tribo_law_solver(tribo_law law, int k) {
    for (int i = 0; k >= 0 && i < NSOLVER; i++)
        if (solvers[i].law == law && k-- == 0) return solvers[i].solver;
    return TRIBO_SOLVER_DEFAULT;
}

bool tribo_law_has(tribo_law law, tribo_solver solver) {
    return solver != TRIBO_SOLVER_DEFAULT && ti_solver_find(law, solver) != NULL;
}

const ti_solver *ti_solver_find(tribo_law law, tribo_solver solver) {
    for (int i = 0; i < NSOLVER; i++)
        if (solvers[i].law == law && (solver == TRIBO_SOLVER_DEFAULT || solvers[i].solver == solver))
            return solvers + i;
    return NULL;
}

double ti_solver_tolerance(const tribo_law_options *o) {
    return ti_solver_find(o->law, o->solver)->tol;
}

/* ---------------------------------------------------------------- options */

static void fall_back(double *x, double other) {
    if (*x == 0) *x = other;
}

/* What `o` leaves open is taken from `other`; solver and pyramid go with the law that they were given for. */
static void fill(tribo_law_options *o, const tribo_law_options *other) {
    bool same = o->law == TRIBO_LAW_DEFAULT || o->law == other->law;
    const unsigned given = o->given;
    if (o->law == TRIBO_LAW_DEFAULT) o->law = other->law;
    if (o->solver == TRIBO_SOLVER_DEFAULT && same) o->solver = other->solver;
    if (o->impact == TRIBO_IMPACT_DEFAULT) o->impact = other->impact;
    if (o->max_iter == 0 && !(given & TRIBO_GIVEN_MAX_ITER)) o->max_iter = other->max_iter;
    fall_back(&o->relaxation, other->relaxation);
    if (!(given & TRIBO_GIVEN_PENALTY)) fall_back(&o->penalty, other->penalty);
    if (o->facets == 0) o->facets = other->facets;
    if (!(given & TRIBO_GIVEN_FACET_ANGLE)) fall_back(&o->facet_angle, other->facet_angle);
    if (!(given & TRIBO_GIVEN_CIRCUMSCRIBED)) o->circumscribed = o->circumscribed || other->circumscribed;
    if (!(given & TRIBO_GIVEN_RAW)) o->raw = o->raw || other->raw;
    if (o->softness == TRIBO_SOFTNESS_DEFAULT) o->softness = other->softness;
    fall_back(&o->compliance, other->compliance), fall_back(&o->impedance, other->impedance);
    fall_back(&o->dry_compliance, other->dry_compliance), fall_back(&o->impratio, other->impratio);
    if (!(given & TRIBO_GIVEN_KAPPA)) fall_back(&o->kappa, other->kappa);
    if (o->smoothing == TRIBO_SMOOTHING_DEFAULT) o->smoothing = other->smoothing;
    fall_back(&o->noise, other->noise);
}

/* What is wrong with the numbers of settled options; NULL if nothing is. */
static const char *flaw_of(const tribo_law_options *o) {
    const double numbers[] = {o->relaxation, o->penalty, o->facet_angle, o->compliance,    o->impedance,
                              o->impratio,   o->kappa,   o->noise,       o->dry_compliance};
    if (!ti_finite(numbers, sizeof numbers / sizeof *numbers)) return "a number is not finite";
    if (o->max_iter < 0) return "max_iter must be >= 0";
    if (!(o->relaxation > 0 && o->relaxation < 2)) return "relaxation must be above 0 and below 2";
    if (o->penalty < 0) return "penalty must be >= 0";
    if (o->facets < 4 || o->facets > TI_FACETS_MAX) return "facets must be 4 to 64";
    if (o->softness > TRIBO_SOFTNESS_MUJOCO) return "there is no such softness";
    if (o->softness == TRIBO_SOFTNESS_PHYSICAL && !(o->compliance > 0))
        return "physical softness needs a compliance > 0";
    if (o->dry_compliance < 0) return "dry_compliance must be >= 0";
    if (!(o->impedance > 0 && o->impedance < 1)) return "impedance must be above 0 and below 1";
    if (!(o->impratio > 0)) return "impratio must be > 0";
    if (o->kappa < 0) return "kappa must be >= 0";
    if (o->smoothing > TRIBO_SMOOTHING_ERM) return "there is no such smoothing";
    if (!(o->noise > 0)) return "noise must be > 0";
    if (o->impact > TRIBO_IMPACT_NEWTON) return "there is no such impact";
    return NULL;
}

tribo_status ti_law_settle(const tribo_law_options *given, const tribo_law_options *scene, tribo_law_options *out,
                           tribo_diag *diag) {
    const tribo_law_options defaults = {.law = TRIBO_LAW_NCP,
                                        .impact = TRIBO_IMPACT_POISSON,
                                        .relaxation = 1,
                                        .facets = 4,
                                        .softness = TRIBO_SOFTNESS_NONE,
                                        .impedance = 0.9,
                                        .impratio = 1,
                                        .smoothing = TRIBO_SMOOTHING_GAUSSIAN,
                                        .noise = 0.01};
    tribo_law_options o = {0};
    if (given) o = *given;
    if (scene) fill(&o, scene);
    fill(&o, &defaults);
    if (o.softness == TRIBO_SOFTNESS_DEFAULT) o.softness = TRIBO_SOFTNESS_NONE;
    const ti_solver *row = o.law < TRIBO_LAW_END ? ti_solver_find(o.law, o.solver) : NULL;
    if (!row) return ti_fail(diag, TRIBO_E_ARG, 0, "there is no such contact law, or it has no such solver");
    o.solver = row->solver;
    const char *flaw = flaw_of(&o);
    if (flaw) return ti_fail(diag, TRIBO_E_ARG, 0, "contact law: %s", flaw);
    *out = o;
    return TRIBO_OK;
}

bool ti_law_same(const tribo_law_options *a, const tribo_law_options *b) {
    return a->law == b->law && a->impact == b->impact &&
           ti_solver_find(a->law, a->solver)->model == ti_solver_find(b->law, b->solver)->model &&
           (a->solver == TRIBO_SOLVER_INTERIOR ? a->kappa : 0) == (b->solver == TRIBO_SOLVER_INTERIOR ? b->kappa : 0) &&
           a->facets == b->facets && a->facet_angle == b->facet_angle && a->circumscribed == b->circumscribed &&
           a->softness == b->softness && a->compliance == b->compliance && a->impedance == b->impedance &&
           a->impratio == b->impratio && a->smoothing == b->smoothing && a->noise == b->noise &&
           a->dry_compliance == b->dry_compliance;
}
