/* test_trajopt_ipopt.c -- DDP within bounds against Ipopt, which shares nothing with it: a cart-pole's swing-up by
 * single shooting, gradients by the reverse of the whole rollout, the cost written out here. */
#include "test_main.h"
#include "worlds.h"
#include <IpStdCInterface.h>
#include <tribo/tribo.h>

enum { KNOTS = 60, SUBSTEPS = 5, STEPS = KNOTS * SUBSTEPS };
static const double EFFORT = 0.05, WEIGHT[4] = {100, 100, 10, 10}; /* of the end: rail, pivot, and their speeds */

/* What Ipopt minimises: the controls of a rollout from x0. */
typedef struct shooting {
    tribo_model *m;
    tribo_ws *ws;
    tribo_tape *tape;
    tribo_sizes z;
    double most; /* force, N, to either side */
    double x0[4], *p, *U, *X, *lx, *u_bar;
} shooting;

static void open_shooting(shooting *s) {
    char path[512];
    tribo_options o = tribo_default_options();
    snprintf(path, sizeof path, "%s/cart-pole.xml", getenv("TRIBO_SCENES"));
    ck_assert(tribo_model_load(path, NULL, &s->m, NULL) == TRIBO_OK);
    o.dt = 0.004;
    ck_assert(tribo_ws_new(s->m, &o, NULL, &s->ws, NULL) == TRIBO_OK);
    ck_assert(tribo_tape_new(s->ws, STEPS, 0, &s->tape) == TRIBO_OK);
    s->z = tribo_model_sizes(s->m);
    s->p = world_zeros(s->z.np), s->U = world_zeros(STEPS * s->z.nu), s->X = world_zeros((STEPS + 1) * s->z.nx);
    s->lx = world_zeros((STEPS + 1) * s->z.ndx), s->u_bar = world_zeros(STEPS * s->z.nu);
    tribo_model_params(s->m, s->p);
    s->x0[1] = PI;
}

static void close_shooting(shooting *s) {
    free(s->p), free(s->U), free(s->X), free(s->lx), free(s->u_bar);
    tribo_tape_free(s->tape), tribo_ws_free(s->ws), tribo_model_free(s->m);
}

static double cost(shooting *s, const double *u) {
    double sum = 0;
    for (int k = 0; k < STEPS; k++) s->U[k * s->z.nu] = u[k / SUBSTEPS];
    tribo_tape_rewind(s->tape);
    ck_assert(tribo_rollout(s->ws, s->p, s->x0, STEPS, s->U, s->X, s->tape) == TRIBO_OK);
    for (int k = 0; k < KNOTS; k++) sum += EFFORT * u[k] * u[k] / 2;
    for (int i = 0; i < 4; i++) sum += WEIGHT[i] * pow(s->X[STEPS * 4 + i], 2) / 2;
    return sum;
}

static void gradient(shooting *s, const double *u, double *g) {
    cost(s, u);
    for (int i = 0; i < 4; i++) s->lx[STEPS * 4 + i] = WEIGHT[i] * s->X[STEPS * 4 + i];
    memset(s->u_bar, 0, sizeof(double) * (size_t)(STEPS * s->z.nu));
    ck_assert(tribo_backward(s->ws, s->tape, s->lx, NULL, s->u_bar, NULL) == TRIBO_OK);
    for (int k = 0; k < KNOTS; k++) g[k] = EFFORT * u[k];
    for (int k = 0; k < STEPS; k++) g[k / SUBSTEPS] += s->u_bar[k * s->z.nu];
}

static Bool cost_for(Index n, Number *u, Bool fresh, Number *f, UserDataPtr s) {
    (void)n, (void)fresh;
    *f = cost(s, u);
    return TRUE;
}
static Bool gradient_for(Index n, Number *u, Bool fresh, Number *g, UserDataPtr s) {
    (void)n, (void)fresh;
    gradient(s, u, g);
    return TRUE;
}
static Bool no_constraint(Index n, Number *u, Bool fresh, Index m, Number *c, UserDataPtr s) {
    (void)n, (void)u, (void)fresh, (void)m, (void)c, (void)s;
    return TRUE;
}
static Bool no_jacobian(Index n, Number *u, Bool fresh, Index m, Index nonzero, Index *row, Index *column,
                        Number *value, UserDataPtr s) {
    (void)n, (void)u, (void)fresh, (void)m, (void)nonzero, (void)row, (void)column, (void)value, (void)s;
    return TRUE;
}

/* The lower triangle, by centred differences of the gradient. */
static Bool hessian_for(Index n, Number *u, Bool fresh, Number scale, Index m, Number *lambda, Bool fresh_lambda,
                        Index nonzero, Index *row, Index *column, Number *value, UserDataPtr s) {
    static double H[KNOTS][KNOTS];
    const double h = 1e-4;
    double up[KNOTS], down[KNOTS], v[KNOTS];
    (void)fresh, (void)m, (void)lambda, (void)fresh_lambda, (void)nonzero;
    for (int i = 0; value && i < n; i++) {
        memcpy(v, u, sizeof v);
        v[i] = u[i] + h, gradient(s, v, up);
        v[i] = u[i] - h, gradient(s, v, down);
        for (int j = 0; j < n; j++) H[i][j] = (up[j] - down[j]) / (2 * h);
    }
    for (int i = 0, at = 0; i < n; i++)
        for (int j = 0; j <= i; j++, at++) {
            if (value)
                value[at] = scale * (H[i][j] + H[j][i]) / 2;
            else
                row[at] = i, column[at] = j;
        }
    return TRUE;
}

/* From u, which becomes the minimum. */
static double minimise(shooting *s, double *u) {
    double lower[KNOTS], upper[KNOTS], least = NAN;
    char *number[] = {"tol", "dual_inf_tol", "bound_relax_factor", "compl_inf_tol", "mu_min"};
    const double to[] = {1e-12, 1e-8, 0, 1e-12, 1e-14};
    for (int k = 0; k < KNOTS; k++) lower[k] = -s->most, upper[k] = s->most;
    IpoptProblem problem = CreateIpoptProblem(KNOTS, lower, upper, 0, NULL, NULL, 0, KNOTS * (KNOTS + 1) / 2, 0,
                                              cost_for, no_constraint, gradient_for, no_jacobian, hessian_for);
    ck_assert_ptr_nonnull(problem);
    for (int i = 0; i < 5; i++) ck_assert(AddIpoptNumOption(problem, number[i], to[i]));
    ck_assert(AddIpoptIntOption(problem, "print_level", 0) && AddIpoptStrOption(problem, "sb", "yes"));
    enum ApplicationReturnStatus status = IpoptSolve(problem, u, NULL, &least, NULL, NULL, NULL, s);
    FreeIpoptProblem(problem);
    ck_assert_msg(status == Solve_Succeeded || status == Solved_To_Acceptable_Level, "Ipopt ends with %d", status);
    return least;
}

static double plan(shooting *s, double *u) {
    tribo_term_def term[3] = {tribo_default_term(), tribo_default_term()};
    tribo_trajopt_def def = tribo_default_trajopt();
    tribo_options o = tribo_default_options();
    tribo_trajopt_progress end;
    tribo_trajopt *t = NULL;
    const double least = -s->most, up[4] = {0};
    const int rail = 0;
    term[0].kind = TRIBO_TERM_CONTROL, term[0].weight = EFFORT;
    term[1].kind = TRIBO_TERM_STATE, term[1].first = term[1].last = -1, term[1].target = up, term[1].weights = WEIGHT;
    o.dt = 0.004;
    def.knots = KNOTS, def.substeps = SUBSTEPS, def.term = term, def.nterm = 2, def.control = &rail, def.ncontrol = 1;
    def.lower = &least, def.upper = &s->most, def.x0 = s->x0, def.options = &o, def.tol = 1e-15;
    ck_assert(tribo_trajopt_new(s->m, &def, &t, NULL) == TRIBO_OK);
    tribo_status status = tribo_trajopt_solve(t, 1000, &end);
    ck_assert_msg(status == TRIBO_OK, "%d passes, gradient %g", end.iteration, end.gradient);
    tribo_trajopt_trajectory(t, NULL, u);
    tribo_trajopt_free(t);
    return end.cost;
}

START_TEST(swing_up) {
    shooting s = {.most = _i ? 10 : 12};
    double u[KNOTS], v[KNOTS] = {0}, off = 0;
    int held = 0;
    open_shooting(&s);
    double planned = plan(&s, u), least = minimise(&s, v); /* both from no force at all */
    ck_assert(fabs(cost(&s, u) - planned) < 1e-12 * planned);
    for (int k = 0; k < KNOTS; k++) off = fmax(off, fabs(u[k] - v[k])), held += fabs(u[k]) == s.most;
    ck_assert_msg(held > 5 && held < KNOTS / 2, "%d at bounds", held);
    ck_assert_msg(off < 1e-6, "controls differ by %g", off);
    ck_assert_msg(fabs(planned - least) < 1e-9 * least, "%.12g, not %.12g", planned, least);
    close_shooting(&s);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("trajopt_ipopt");
    TCase *t = tcase_create("ipopt");
    tcase_set_timeout(t, 240);
    tcase_add_loop_test(t, swing_up, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
