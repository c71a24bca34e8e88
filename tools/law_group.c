/* law_group.c -- the options of a contact law, as every verb takes them. */
#include "common.h"

/* Names that files and the command have, | between them. */
#define TRIBO_X(NAME, name, text) "|" name
static const char laws[] = TRIBO_LAW_LIST(TRIBO_X), solvers[] = TRIBO_SOLVER_LIST(TRIBO_X);
#undef TRIBO_X

/* In the order of tribo_law_word(). */
static const option_row law_rows[] = {
    {"law", LAW_OPTION, laws + 1, "what impulses and velocities go together", false},
    {"solver", LAW_OPTION + 1, solvers + 1, "which algorithm, of those that the law has", false},
    {"raw", LAW_OPTION + 2, "[=0|1]", "the solver's answer as it is, without Newton steps to the canonical solution",
     false},
    {"max-iter", LAW_OPTION + 3, "N", "iterations of the solver (default, and 0: its own)", false},
    {"relaxation", LAW_OPTION + 4, "W", "over-relaxation of pgs, admm, staggered, bisection, above 0 and below 2 (1)",
     false},
    {"penalty", LAW_OPTION + 5, "RHO", "first penalty of admm (default, and 0: from the problem)", false},
    {"facets", LAW_OPTION + 6, "N", "of the pyramid of lcp, 4 to 64 (4)", false},
    {"facet-angle", LAW_OPTION + 7, "RAD", "from the first tangent to the pyramid's first edge, rad (0)", false},
    {"circumscribed", LAW_OPTION + 8, "[=0|1]", "the pyramid's facets touch the cone, not its edges", false},
    {"softness", LAW_OPTION + 9, "none|physical|mujoco", "what softens a contact (none)", false},
    {"compliance", LAW_OPTION + 10, "R", "of physical softness, 1/kg", false},
    {"impedance", LAW_OPTION + 11, "D", "of MuJoCo's softness, above 0 and below 1 (0.9)", false},
    {"impratio", LAW_OPTION + 12, "Q", "of MuJoCo's softness, above 0 (1)", false},
    {"kappa", LAW_OPTION + 13, "K", "gap at which interior leaves the central path, J (0: its end)", false},
    {"smoothing", LAW_OPTION + 14, "logistic|gaussian|erm", "how noise enters the stochastic law (gaussian)", false},
    {"noise", LAW_OPTION + 15, "S", "its standard deviation, m/s (0.01)", false},
    {"impact", LAW_OPTION + 16, "poisson|newton", "what bodies do that hit and leave within a step (poisson)", false},
    {"dry-compliance", LAW_OPTION + 17, "R", "of dry friction of joints, of physical softness, 1/(kg m^2) (0: none)",
     false},
    {0}};
const option_group group_law = {"Contact law", "docs/contact-laws.md; default: the scene's, or the NCP", law_rows};
