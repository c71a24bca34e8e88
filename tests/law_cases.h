/* law_cases.h -- contact laws and solvers that have one answer where nothing slides, and how well they find it. */
#pragma once
#include <tribo/law.h>

typedef struct law_case {
    tribo_law law;
    tribo_solver solver;
    double tol;
} law_case;
static const law_case LAWS[] = {
    {TRIBO_LAW_NCP, TRIBO_SOLVER_LADDER, 1e-13},     {TRIBO_LAW_NCP, TRIBO_SOLVER_PGS, 1e-6},
    {TRIBO_LAW_NCP, TRIBO_SOLVER_ADMM, 1e-13},       {TRIBO_LAW_CCP, TRIBO_SOLVER_LADDER, 1e-13},
    {TRIBO_LAW_CCP, TRIBO_SOLVER_NEWTON, 1e-13},     {TRIBO_LAW_LCP, TRIBO_SOLVER_LADDER, 1e-13},
    {TRIBO_LAW_LCP, TRIBO_SOLVER_LEMKE, 1e-13},      {TRIBO_LAW_RAISIM, TRIBO_SOLVER_LADDER, 1e-13},
    {TRIBO_LAW_RAISIM, TRIBO_SOLVER_BISECTION, 1e-6}};
enum { NLAWS = sizeof LAWS / sizeof *LAWS };
