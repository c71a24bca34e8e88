/* test_trajopt.c -- trajectory optimisation: residuals and gradients against differences, a linear system against
 * Riccati's equation, bounds, gaps, constraints, stages, feedback, libraries, misuse. */
#include "test_main.h"
#include "trajopt/norms.h"
#include "trajopt/task.h"
#include "trajopt_tasks.h"
#include "worlds.h"
#include <stdio.h>
#include <tribo/tribo.h>
#include <unistd.h>

/* Two carts on rails, one on a spring to the world, both damped, a force on each: linear. */
static const char CARTS[] = "<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>"
                            "<body name='a'><joint name='a' type='slide' axis='1 0 0' stiffness='3' damping='0.2'/>"
                            "<inertial mass='2' pos='0 0 0' diaginertia='1 1 1'/>"
                            "<body name='b'><joint name='b' type='slide' axis='1 0 0' stiffness='1' damping='0.1'/>"
                            "<inertial mass='0.5' pos='0 0 0' diaginertia='1 1 1'/></body></body></worldbody></mujoco>";
/* A free box over a floor, an arm of a ball and a hinge with a site at its end. */
static const char MIXED[] =
    "<mujoco><compiler angle='radian'/><option timestep='0.01'/><worldbody><geom type='plane' size='0 0 1'/>"
    "<body name='box' pos='0 0 0.5'><freejoint/><geom type='box' size='0.1 0.2 0.3' mass='2'/></body>"
    "<body name='upper' pos='1 0 2'><joint name='ball' type='ball'/><geom type='capsule' size='0.05' fromto='0 0 0 0 "
    "0.3 -0.4' mass='1'/>"
    "<body name='lower' pos='0 0.3 -0.4'><joint name='hinge' axis='1 0.2 0'/><geom type='box' size='0.05 0.1 0.3' "
    "mass='0.7'/>"
    "<site name='tip' pos='0 0.1 -0.3' quat='0.8 0.2 0.1 0.3'/></body></body></worldbody></mujoco>";

static tribo_term_def term_of(tribo_term_kind kind, double weight) {
    tribo_term_def t = tribo_default_term();
    t.kind = kind, t.weight = weight;
    return t;
}

/* ---- residuals ---- */

enum { KINDS = 13, NDX_MAX = 20, ROWS_MAX = 20 };

/* Every kind of term on the mixed scene. */
static int all_terms(const tribo_model *m, tribo_term_def *t) {
    static const double quat[4] = {0.5, 0.5, -0.5, 0.5}, pos[3] = {0.3, -0.2, 1};
    int box = tribo_model_body_find(m, "box"), lower = tribo_model_body_find(m, "lower"), n = 0;
    t[n++] = term_of(TRIBO_TERM_STATE, 1);
    t[n] = term_of(TRIBO_TERM_JOINT, 1), t[n].target = quat, t[n++].joint = tribo_model_joint_find(m, "ball");
    t[n] = term_of(TRIBO_TERM_JOINT, 1), t[n++].joint = tribo_model_joint_find(m, "hinge");
    t[n] = term_of(TRIBO_TERM_JOINT_VELOCITY, 1), t[n++].joint = tribo_model_joint_find(m, "ball");
    t[n++] = term_of(TRIBO_TERM_CONTROL, 1);
    t[n] = term_of(TRIBO_TERM_POSITION, 1), t[n].site = 0, t[n].target = pos, t[n++].body2 = box;
    t[n] = term_of(TRIBO_TERM_ROTATION, 1), t[n].site = 0, t[n++].target = quat;
    t[n] = term_of(TRIBO_TERM_ROTATION, 1), t[n++].body = box;
    t[n] = term_of(TRIBO_TERM_VELOCITY, 1), t[n].body = box, t[n++].site2 = 0;
    t[n] = term_of(TRIBO_TERM_ANGULAR_VELOCITY, 1), t[n++].body = lower;
    t[n++] = term_of(TRIBO_TERM_COM, 1);
    t[n++] = term_of(TRIBO_TERM_COM_VELOCITY, 1);
    t[n++] = term_of(TRIBO_TERM_MOMENTUM, 1);
    return n;
}

static void draw_state(const tribo_model *m, unsigned *seed, double *x) {
    tribo_sizes z = tribo_model_sizes(m);
    double dx[NDX_MAX];
    tribo_model_state0(m, x);
    for (int i = 0; i < z.ndx; i++) dx[i] = 0.7 * test_random(seed);
    tribo_state_add(m, x, dx, x);
}

static void residual_at(tribo_trajopt *t, const ti_term *term, const double *x, const double *u, double *r) {
    ck_assert(tribo_dynamics_set_state(t->planner[0].dynamics, x) == TRIBO_OK);
    ck_assert(ti_term_residual(t, &t->planner[0], term, 0, x, u, r, NULL, NULL) >= 0);
}

/* Columns of rx and ru against differences of fourth order. */
static void compare_columns(tribo_trajopt *t, const ti_term *term, const double *x, const double *u, const double *rx,
                            const double *ru) {
    const double h = 1e-3, at[4] = {-2, -1, 1, 2}, by[4] = {1. / 12, -8. / 12, 8. / 12, -1. / 12};
    int ndx = t->z.ndx;
    for (int c = 0; c < ndx + t->nc; c++) {
        double slope[ROWS_MAX] = {0}, r[ROWS_MAX], y[NDX_MAX + 4], w[NDX_MAX], dx[NDX_MAX];
        for (int k = 0; k < 4; k++) {
            memset(dx, 0, sizeof dx), memcpy(w, u, sizeof *u * (size_t)t->nc);
            *(c < ndx ? dx + c : w + c - ndx) += at[k] * h;
            tribo_state_add(t->m, x, dx, y);
            residual_at(t, term, y, w, r);
            for (int i = 0; i < term->n; i++) slope[i] += by[k] * r[i] / h;
        }
        for (int i = 0; i < term->n; i++) {
            double exact = c < ndx ? rx[i * ndx + c] : ru[i * t->nc + c - ndx];
            ck_assert_msg(fabs(exact - slope[i]) < 1e-8 * (1 + fabs(exact)), "%s row %d column %d: %g, not %g",
                          tribo_term_name(term->def.kind), i, c, exact, slope[i]);
        }
    }
}

START_TEST(residuals) {
    tribo_model *m = model_of(MIXED);
    tribo_term_def terms[KINDS];
    tribo_trajopt_def def = tribo_default_trajopt();
    def.knots = 2, def.term = terms, def.nterm = all_terms(m, terms);
    tribo_trajopt *t = task_of(m, &def);
    unsigned seed = 3;
    for (int round = 0; round < 10; round++) {
        double x[NDX_MAX + 4], u[NDX_MAX], r[ROWS_MAX], rx[ROWS_MAX * NDX_MAX], ru[ROWS_MAX * NDX_MAX];
        draw_state(m, &seed, x);
        for (int i = 0; i < t->nc; i++) u[i] = test_random(&seed);
        for (int k = 0; k < t->nterm; k++) {
            ck_assert(tribo_dynamics_set_state(t->planner[0].dynamics, x) == TRIBO_OK);
            ck_assert(ti_term_residual(t, &t->planner[0], &t->term[k], 0, x, u, r, rx, ru) >= 0);
            compare_columns(t, &t->term[k], x, u, rx, ru);
        }
    }
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

START_TEST(norms) {
    const double h = 1e-4;
    for (int norm = 0; norm < TRIBO_NORM_LIMIT; norm++)
        for (double r = -3.05; r < 3; r += 0.1) {
            ti_counted c = ti_count((tribo_norm)norm, 0.6, r);
            ti_counted up = ti_count((tribo_norm)norm, 0.6, r + h), down = ti_count((tribo_norm)norm, 0.6, r - h);
            ck_assert(fabs((up.value - down.value) / (2 * h) - c.slope) < 1e-7);
            ck_assert(fabs((up.slope - down.slope) / (2 * h) - c.curvature) < 1e-6);
        }
    ck_assert(ti_count(TRIBO_NORM_LOG_COSH, 0.5, 1e4).value < 1e4); /* and no overflow */
}
END_TEST

/* What one number counts, eq. (401), in words of its own. */
static double counted_by_hand(tribo_norm norm, double s, double r) {
    switch (norm) {
    case TRIBO_NORM_LINEAR:
        return r;
    case TRIBO_NORM_SMOOTH_ABS:
        return s * (sqrt(r * r + s * s) - s);
    case TRIBO_NORM_HUBER:
        return fabs(r) > s ? s * (fabs(r) - s / 2) : r * r / 2;
    case TRIBO_NORM_LOG_COSH:
        return s * s * log(cosh(r / s));
    case TRIBO_NORM_ABOVE:
        return r > 0 ? r * r / 2 : 0;
    case TRIBO_NORM_BELOW:
        return r < 0 ? r * r / 2 : 0;
    default:
        return r * r / 2;
    }
}

/* Each norm in a task: the cost of where a cart starts, and how that changes with the start. */
START_TEST(norms_in_a_task) {
    static const double at[] = {-1.7, -0.3, 0.25, 1.9}, aim = 0.1, weight = 2, s = 0.6;
    tribo_model *m = model_of(CARTS);
    for (int norm = 0; norm < TRIBO_NORM_LIMIT; norm++)
        for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
            const double h = 1e-5, r = at[i] - aim;
            double x0[4] = {at[i]}, x0_bar[4] = {0}, U[2] = {0};
            tribo_term_def term = term_of(TRIBO_TERM_JOINT, weight);
            tribo_trajopt_def def = tribo_default_trajopt();
            term.joint = 0, term.target = &aim, term.norm = (tribo_norm)norm, term.scale = s,
            term.first = term.last = 0;
            def.knots = 1, def.term = &term, def.nterm = 1, def.x0 = x0, def.U = U;
            tribo_trajopt *t = task_of(m, &def);
            NEAR(t->progress.cost, weight * counted_by_hand((tribo_norm)norm, s, r), 1e-14);
            ck_assert(tribo_trajopt_gradient(t, x0_bar, NULL) >= 0);
            double up = counted_by_hand((tribo_norm)norm, s, r + h), down = counted_by_hand((tribo_norm)norm, s, r - h);
            NEAR(x0_bar[0], weight * (up - down) / (2 * h), 1e-9);
            tribo_trajopt_free(t);
        }
    tribo_model_free(m);
}
END_TEST

/* ---- gradients ---- */

/* A box that is pushed over a floor, sliding, by a force and a torque: terms of place and speed. */
static tribo_trajopt *sliding(tribo_model **m, tribo_trajopt_def *def, tribo_term_def terms[4], int *control) {
    static const double target[3] = {1, 0.2, 0.3}, speed[3] = {3, 0.5, 0};
    *m = model_of(
        "<mujoco><option timestep='0.01'/><worldbody><geom name='floor' type='plane' size='0 0 1' friction='0.3'/>"
        "<body name='box' pos='0 0 0.1'><freejoint/><geom name='box' type='box' size='0.2 0.2 0.1' mass='1' "
        "friction='0.3'/>"
        "</body></worldbody></mujoco>");
    terms[0] = term_of(TRIBO_TERM_POSITION, 3), terms[0].body = 0, terms[0].target = target, terms[0].last = -1;
    terms[1] = term_of(TRIBO_TERM_VELOCITY, 0.1), terms[1].body = 0, terms[1].target = speed, terms[1].last = -1;
    terms[2] = term_of(TRIBO_TERM_CONTROL, 0.001);
    terms[3] = term_of(TRIBO_TERM_MOMENTUM, 0.05), terms[3].norm = TRIBO_NORM_LOG_COSH, terms[3].scale = 0.3;
    *def = tribo_default_trajopt();
    control[0] = 0, control[1] = 1, control[2] = 5;
    def->knots = 20, def->substeps = 2, def->term = terms, def->nterm = 4, def->control = control, def->ncontrol = 3;
    static double U[60];
    for (int k = 0; k < 20; k++) U[3 * k] = 5 + 0.1 * k, U[3 * k + 1] = 1, U[3 * k + 2] = 0.2;
    def->U = U;
    return task_of(*m, def);
}

static double cost_of(const tribo_model *m, const tribo_trajopt_def *def) {
    tribo_trajopt_progress p = {0};
    tribo_trajopt *t = task_of(m, def);
    p = t->progress;
    tribo_trajopt_free(t);
    return p.cost;
}

START_TEST(gradient_of_controls) {
    tribo_model *m;
    tribo_trajopt_def def;
    tribo_term_def terms[4];
    int control[3];
    double U[60], models[60], reverse[60];
    tribo_trajopt *t = sliding(&m, &def, terms, control);
    ck_assert(ti_path_reverse(t, &t->best, reverse, NULL, NULL) >= 0);
    ck_assert(ti_knots_linearise(t) >= 0);
    ti_models_gradient(t, models);
    memcpy(U, def.U, sizeof U);
    def.U = U;
    for (int i = 0; i < 60; i++) {
        const double h = 1e-4;
        double was = U[i];
        U[i] = was + h;
        double up = cost_of(m, &def);
        U[i] = was - h;
        double down = cost_of(m, &def);
        U[i] = was;
        ck_assert(fabs(models[i] - reverse[i]) < 1e-11 * (1 + fabs(reverse[i])));
        ck_assert_msg(fabs((up - down) / (2 * h) - reverse[i]) < 1e-6 * (1 + fabs(reverse[i])), "%d: %g not %g", i,
                      reverse[i], (up - down) / (2 * h));
    }
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

/* The optimal cost by p and x0: the reverse at the optimum against the problem solved again, eq. (409). */
START_TEST(envelope) {
    tribo_model *m;
    tribo_trajopt_def def;
    tribo_term_def terms[4];
    int control[3];
    double p[400], p_bar[400] = {0}, x0_bar[12] = {0};
    tribo_trajopt_free(sliding(&m, &def, terms, control));
    tribo_trajopt_progress end;
    def.tol = 1e-15; /* controls off by d move dJ/dp by as much */
    tribo_trajopt *t = task_of(m, &def);
    ck_assert(tribo_trajopt_solve(t, 300, &end) >= 0);
    ck_assert(end.gradient < 1e-6);
    ck_assert(tribo_trajopt_gradient(t, x0_bar, p_bar) >= 0);
    tribo_model_params(m, p);
    const char *names[] = {"box/mass", "floor/friction", "gravity/z", "gravity/x", "box/com/x"};
    def.p = p;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int at = tribo_param_find(m, names[i]);
        double cost[2], h = 1e-5, was;
        if (at < 0) continue;
        was = p[at];
        for (int side = 0; side < 2; side++) {
            p[at] = was + (side ? h : -h);
            tribo_trajopt *again = task_of(m, &def);
            tribo_trajopt_progress found;
            ck_assert(tribo_trajopt_solve(again, 300, &found) >= 0);
            cost[side] = found.cost;
            tribo_trajopt_free(again);
        }
        p[at] = was;
        double slope = (cost[1] - cost[0]) / (2 * h);
        ck_assert_msg(fabs(slope - p_bar[at]) < 1e-5 * (1 + fabs(slope)), "%s: %g, not %g", names[i], p_bar[at], slope);
    }
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

/* ---- a linear system ---- */

enum { CN = 4, CM = 2, CK = 50 };

/* Riccati's equation by loops: the optimal cost-to-go from x0, controls along the way. */
static void riccati(const double *A, const double *B, const double *Q, double R, double x[CN], double *U,
                    double *cost) {
    static double K[CK][CM][CN];
    double V[CN][CN] = {{0}}, AV[CN][CN], H[CM][CM], Gx[CM][CN];
    for (int i = 0; i < CN; i++) V[i][i] = Q[i];
    for (int k = CK - 1; k >= 0; k--) {
        for (int i = 0; i < CM; i++) {
            for (int j = 0; j < CM; j++) {
                H[i][j] = i == j ? R : 0;
                for (int a = 0; a < CN; a++)
                    for (int b = 0; b < CN; b++) H[i][j] += B[a * CM + i] * V[a][b] * B[b * CM + j];
            }
            for (int j = 0; j < CN; j++) {
                Gx[i][j] = 0;
                for (int a = 0; a < CN; a++)
                    for (int b = 0; b < CN; b++) Gx[i][j] += B[a * CM + i] * V[a][b] * A[b * CN + j];
            }
        }
        double det = H[0][0] * H[1][1] - H[0][1] * H[1][0];
        for (int j = 0; j < CN; j++) {
            K[k][0][j] = -(H[1][1] * Gx[0][j] - H[0][1] * Gx[1][j]) / det;
            K[k][1][j] = -(H[0][0] * Gx[1][j] - H[1][0] * Gx[0][j]) / det;
        }
        for (int i = 0; i < CN; i++)
            for (int j = 0; j < CN; j++) {
                AV[i][j] = i == j ? Q[i] : 0;
                for (int a = 0; a < CN; a++)
                    for (int b = 0; b < CN; b++) AV[i][j] += A[a * CN + i] * V[a][b] * A[b * CN + j];
                for (int a = 0; a < CM; a++) AV[i][j] += Gx[a][i] * K[k][a][j];
            }
        memcpy(V, AV, sizeof V);
    }
    *cost = 0;
    for (int i = 0; i < CN; i++)
        for (int j = 0; j < CN; j++) *cost += x[i] * V[i][j] * x[j] / 2;
    for (int k = 0; k < CK; k++) {
        double y[CN];
        for (int i = 0; i < CM; i++) {
            U[k * CM + i] = 0;
            for (int j = 0; j < CN; j++) U[k * CM + i] += K[k][i][j] * x[j];
        }
        for (int i = 0; i < CN; i++) {
            y[i] = 0;
            for (int j = 0; j < CN; j++) y[i] += A[i * CN + j] * x[j];
            for (int j = 0; j < CM; j++) y[i] += B[i * CM + j] * U[k * CM + j];
        }
        memcpy(x, y, sizeof y);
    }
}

/* A and B of the carts, from the step itself. */
static void step_matrices(const tribo_model *m, double *A, double *B) {
    tribo_ws *ws;
    tribo_tape *tape;
    double p[400], x[CN] = {0};
    tribo_model_params(m, p);
    ck_assert(tribo_ws_new(m, NULL, NULL, &ws, NULL) == TRIBO_OK);
    ck_assert(tribo_tape_new(ws, 1, 0, &tape) == TRIBO_OK);
    ck_assert(tribo_step(ws, p, x, NULL, x, tape) == TRIBO_OK);
    ck_assert(tribo_step_jac(ws, tape, 0, A, B, NULL) == TRIBO_OK);
    tribo_tape_free(tape), tribo_ws_free(ws);
}

static tribo_trajopt *carts(const tribo_model *m, tribo_trajopt_def *def, tribo_term_def terms[2], const double *x0) {
    static const double weights[CN] = {1, 2, 0.1, 0.3}, zero[CN];
    terms[0] = term_of(TRIBO_TERM_STATE, 1), terms[0].weights = weights, terms[0].target = zero, terms[0].last = -1;
    terms[1] = term_of(TRIBO_TERM_CONTROL, 0.05);
    *def = tribo_default_trajopt();
    def->knots = CK, def->term = terms, def->nterm = 2, def->x0 = x0;
    return task_of(m, def);
}

START_TEST(linear_quadratic) {
    const double Q[CN] = {1, 2, 0.1, 0.3}, x0[CN] = {1, -0.5, 0.2, 0.7};
    double A[CN * CN], B[CN * CM], U[CK * CM], found[CK * CM], x[CN], cost;
    tribo_model *m = model_of(CARTS);
    tribo_trajopt_def def;
    tribo_term_def terms[2];
    tribo_trajopt_progress p;
    tribo_trajopt *t = carts(m, &def, terms, x0);
    step_matrices(m, A, B);
    memcpy(x, x0, sizeof x);
    riccati(A, B, Q, 0.05, x, U, &cost);
    ck_assert(tribo_trajopt_iterate(t, &p) == TRIBO_OK);
    ck_assert_msg(fabs(p.cost - cost) < 1e-10 * cost, "%.15g, not %.15g", p.cost, cost);
    tribo_trajopt_trajectory(t, NULL, found);
    for (int i = 0; i < CK * CM; i++) ck_assert(fabs(found[i] - U[i]) < 1e-10);
    ck_assert(tribo_trajopt_iterate(t, &p) == TRIBO_OK && p.converged && p.done);
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

/* From states that the dynamics do not agree with, the same answer in one pass. */
START_TEST(gaps) {
    const double x0[CN] = {1, -0.5, 0.2, 0.7};
    double X[(CK + 1) * CN];
    unsigned seed = 5;
    tribo_model *m = model_of(CARTS);
    tribo_trajopt_def def;
    tribo_term_def terms[2];
    tribo_trajopt_progress p, q;
    tribo_trajopt *t = carts(m, &def, terms, x0);
    for (int i = 0; i < (CK + 1) * CN; i++) X[i] = i < CN ? x0[i] : test_random(&seed);
    def.X = X;
    tribo_trajopt *u = task_of(m, &def);
    ck_assert(u->progress.gap > 0.1);
    ck_assert(tribo_trajopt_iterate(t, &p) == TRIBO_OK && tribo_trajopt_iterate(u, &q) == TRIBO_OK);
    ck_assert(q.gap == 0 && fabs(p.cost - q.cost) < 1e-10 * p.cost);
    tribo_trajopt_free(t), tribo_trajopt_free(u), tribo_model_free(m);
}
END_TEST

/* ---- bounds and constraints ---- */

/* The conditions of Karush, Kuhn and Tucker on random problems. */
START_TEST(box) {
    unsigned seed = 11;
    for (int round = 0; round < 300; round++) {
        enum { MOST = 8 };
        int n = 1 + round % MOST;
        double L[MOST * MOST], H[MOST * MOST], g[MOST], lower[MOST], upper[MOST], d[MOST] = {0};
        double R[MOST * TI_CONTROLS_MAX];
        bool held[MOST];
        for (int i = 0; i < n * n; i++) L[i] = test_random(&seed);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                H[i * n + j] = i == j ? 1e-3 : 0;
                for (int k = 0; k < n; k++) H[i * n + j] += L[i * n + k] * L[j * n + k];
            }
        for (int i = 0; i < n; i++)
            g[i] = test_random(&seed), lower[i] = -0.3 + 0.2 * test_random(&seed), upper[i] = lower[i] + 0.5;
        ck_assert(ti_box_solve(n, H, g, lower, upper, d, R, held));
        for (int i = 0; i < n; i++) {
            double slope = g[i];
            for (int j = 0; j < n; j++) slope += H[i * n + j] * d[j];
            ck_assert(d[i] >= lower[i] && d[i] <= upper[i]);
            ck_assert_msg(held[i] ? d[i] == (slope > 0 ? lower[i] : upper[i]) : fabs(slope) < 1e-9, "%d of %d: %g", i,
                          n, slope);
        }
    }
}
END_TEST

/* Force bounds hold, and the answer is a stationary point within them. */
START_TEST(bounds) {
    const double x0[CN] = {1, -0.5, 0.2, 0.7}, lower[CM] = {-0.4, -0.1}, upper[CM] = {0.3, 0.1};
    double U[CK * CM];
    int held = 0;
    tribo_model *m = model_of(CARTS);
    tribo_trajopt_def def;
    tribo_term_def terms[2];
    tribo_trajopt_progress p;
    tribo_trajopt_free(carts(m, &def, terms, x0));
    def.lower = lower, def.upper = upper;
    tribo_trajopt *t = task_of(m, &def);
    ck_assert(tribo_trajopt_solve(t, 100, &p) == TRIBO_OK);
    ck_assert_msg(p.gradient < 1e-5, "%g", p.gradient);
    tribo_trajopt_trajectory(t, NULL, U);
    for (int i = 0; i < CK * CM; i++) {
        ck_assert(U[i] >= lower[i % CM] && U[i] <= upper[i % CM]);
        held += U[i] == lower[i % CM] || U[i] == upper[i % CM];
    }
    ck_assert(held > 10);
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

/* A cart is to be at a place at the end, and never beyond another on the way. */
START_TEST(constraints) {
    const double x0[CN] = {1, -0.5, 0.2, 0.7}, end = 0.2, most = 1.001;
    double X[(CK + 1) * CN];
    tribo_model *m = model_of(CARTS);
    tribo_trajopt_def def;
    tribo_term_def terms[4];
    tribo_trajopt_progress p;
    tribo_trajopt_free(carts(m, &def, terms, x0));
    terms[2] = term_of(TRIBO_TERM_JOINT, 1), terms[2].joint = 0, terms[2].target = &end,
    terms[2].norm = TRIBO_NORM_EQUAL;
    terms[2].first = terms[2].last = -1;
    terms[3] = term_of(TRIBO_TERM_JOINT, 1), terms[3].joint = 0, terms[3].target = &most,
    terms[3].norm = TRIBO_NORM_LIMIT;
    def.nterm = 4;
    tribo_trajopt *t = task_of(m, &def);
    ck_assert(tribo_trajopt_solve(t, 400, &p) == TRIBO_OK);
    ck_assert(p.violation < 1e-6 && p.violation >= 0);
    tribo_trajopt_trajectory(t, X, NULL);
    ck_assert(fabs(X[CK * CN] - end) < 1e-6);
    for (int k = 0; k <= CK; k++) ck_assert(X[k * CN] < most + 1e-6);
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

/* The same seen from the other side: places, start and bounds with their signs turned, LEAST for LIMIT. */
START_TEST(constraints_from_below) {
    const double x0[CN] = {1, -0.5, 0.2, 0.7}, turned[CN] = {-1, 0.5, -0.2, -0.7}, most = 1.001, least = -1.001;
    double cost[2];
    tribo_model *m = model_of(CARTS);
    for (int side = 0; side < 2; side++) {
        tribo_trajopt_def def;
        tribo_term_def terms[3];
        tribo_trajopt_progress p;
        tribo_trajopt_free(carts(m, &def, terms, side ? turned : x0));
        terms[2] = term_of(TRIBO_TERM_JOINT, 1), terms[2].joint = 0, terms[2].target = side ? &least : &most;
        terms[2].norm = side ? TRIBO_NORM_LEAST : TRIBO_NORM_LIMIT;
        def.nterm = 3;
        tribo_trajopt *t = task_of(m, &def);
        ck_assert(tribo_trajopt_solve(t, 400, &p) == TRIBO_OK && p.violation < 1e-6);
        cost[side] = p.cost;
        tribo_trajopt_free(t);
    }
    ck_assert(fabs(cost[0] - cost[1]) < 1e-12 * cost[0]);
    tribo_model_free(m);
}
END_TEST

/* ---- methods, workers ---- */

/* All methods end at the same minimum; workers change no bit of a contact task. */
START_TEST(methods_and_workers) {
    const double x0[CN] = {1, -0.5, 0.2, 0.7}, lower[CM] = {-0.4, -0.1}, upper[CM] = {0.3, 0.1};
    tribo_model *m = model_of(CARTS);
    tribo_trajopt_def def;
    tribo_term_def terms[4];
    int control[3];
    double least = 0, first[60], other[60];
    tribo_trajopt_free(carts(m, &def, terms, x0));
    def.lower = lower, def.upper = upper;
    for (int method = 0; method <= TRIBO_METHOD_LBFGS; method++) {
        tribo_trajopt_progress p;
        def.method = (tribo_method)method;
        tribo_trajopt *t = task_of(m, &def);
        ck_assert(tribo_trajopt_solve(t, 5000, &p) >= 0);
        if (method == 0) least = p.cost;
        ck_assert_msg(fabs(p.cost - least) < 1e-6 * least, "method %d: %.10g, not %.10g", method, p.cost, least);
        tribo_trajopt_free(t);
    }
    tribo_model_free(m);
    tribo_trajopt_free(sliding(&m, &def, terms, control));
    def.method = TRIBO_METHOD_DDP;
    for (int workers = 1; workers <= 3; workers++) {
        def.workers = workers;
        tribo_trajopt *t = task_of(m, &def);
        ck_assert(tribo_trajopt_solve(t, 10, NULL) >= 0);
        tribo_trajopt_trajectory(t, NULL, workers == 1 ? first : other);
        if (workers > 1) ck_assert(memcmp(first, other, sizeof first) == 0);
        tribo_trajopt_free(t);
    }
    tribo_model_free(m);
}
END_TEST

/* Whatever the bounds, the minimum of a smooth convex cost is known for one. */
START_TEST(minima_within_bounds) {
    unsigned seed = 7;
    tribo_model *m = model_of(CARTS);
    for (int draw = 0; draw < 40; draw++) {
        double x0[CN], lower[CM], upper[CM];
        tribo_trajopt_def def;
        tribo_term_def terms[2];
        for (int i = 0; i < CN; i++) x0[i] = test_random(&seed);
        for (int i = 0; i < CM; i++) lower[i] = -fabs(test_random(&seed)), upper[i] = fabs(test_random(&seed));
        tribo_trajopt_free(carts(m, &def, terms, x0));
        def.lower = lower, def.upper = upper;
        double least = 0;
        for (int method = 0; method <= TRIBO_METHOD_LBFGS; method += TRIBO_METHOD_LBFGS) {
            tribo_trajopt_progress p;
            def.method = (tribo_method)method;
            tribo_trajopt *t = task_of(m, &def);
            ck_assert_int_eq(tribo_trajopt_solve(t, 1000, &p), TRIBO_OK);
            if (method == 0) least = p.cost;
            ck_assert_double_eq_tol(p.cost, least, 1e-8 * least);
            tribo_trajopt_free(t);
        }
    }
    tribo_model_free(m);
}
END_TEST

static const char CART_POLE[] =
    "<mujoco><option timestep='0.02'/><worldbody><body name='cart'><joint name='rail' type='slide' axis='1 0 0'/>"
    "<geom type='sphere' size='0.1' mass='1'/><body name='pole'><joint name='pivot' type='hinge' axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 0.6' size='0.05' mass='0.1'/></body></body></worldbody></mujoco>";

/* A steep straight cost that no control weighs against: steps are shortened until one can be made. */
START_TEST(steep_and_straight) {
    static const double hanging[4] = {0, 3, 0, 0};
    static const int rail = 0;
    tribo_model *m = model_of(CART_POLE);
    tribo_trajopt_def def = tribo_default_trajopt();
    tribo_term_def term = term_of(TRIBO_TERM_JOINT, -1e12);
    term.joint = 0, term.norm = TRIBO_NORM_LINEAR, term.last = -1;
    def.knots = 50, def.term = &term, def.nterm = 1, def.x0 = hanging, def.control = &rail, def.ncontrol = 1;
    def.method = (tribo_method)_i;
    tribo_trajopt *t = task_of(m, &def);
    tribo_trajopt_progress p;
    double before = t->best.cost;
    ck_assert(tribo_trajopt_solve(t, 30, &p) >= 0);
    ck_assert_msg(p.cost < before - 1e12, "%g, was %g", p.cost, before);
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

/* A trial that is given up where it costs too much already changes no bit of what is found. */
START_TEST(given_up) {
    static const double hanging[4] = {0, 3, 0, 0}, up[4];
    static const int rail = 0;
    tribo_model *m = model_of(CART_POLE);
    tribo_trajopt_def def = tribo_default_trajopt();
    tribo_term_def term[3] = {term_of(TRIBO_TERM_STATE, 100), term_of(TRIBO_TERM_CONTROL, 0.01),
                              term_of(TRIBO_TERM_JOINT, 1)};
    double U[2][60];
    term[0].target = up, term[0].first = term[0].last = -1, term[2].joint = 1;
    def.knots = 60, def.term = term, def.nterm = 3, def.x0 = hanging, def.method = TRIBO_METHOD_ILQR;
    def.control = &rail, def.ncontrol = 1;
    for (int whole = 0; whole < 2; whole++) {
        tribo_trajopt_progress p;
        tribo_trajopt *t = task_of(m, &def);
        ck_assert(t->counts_up);
        if (whole) t->counts_up = false;
        ck_assert(tribo_trajopt_solve(t, 40, &p) >= 0);
        ck_assert_int_gt(p.rollouts, p.iteration + 3); /* some trials were too dear */
        tribo_trajopt_trajectory(t, NULL, U[whole]);
        tribo_trajopt_free(t);
    }
    ck_assert(memcmp(U[0], U[1], sizeof U[0]) == 0);
    term[1].norm = TRIBO_NORM_LINEAR;
    tribo_trajopt *t = task_of(m, &def);
    ck_assert(!t->counts_up);
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("trajopt");
    TCase *c = tcase_create("trajopt");
    TCase *many = tagged_case(s, "many", "many");
    tcase_set_timeout(c, 0);
    tcase_add_test(c, residuals);
    tcase_add_test(c, norms);
    tcase_add_test(c, norms_in_a_task);
    tcase_add_test(c, gradient_of_controls);
    tcase_add_test(c, envelope);
    tcase_add_test(c, linear_quadratic);
    tcase_add_test(c, gaps);
    tcase_add_test(c, box);
    tcase_add_test(c, bounds);
    tcase_add_test(c, constraints);
    tcase_add_test(c, constraints_from_below);
    tcase_add_test(c, methods_and_workers);
    tcase_add_test(many, minima_within_bounds);
    tcase_add_loop_test(c, steep_and_straight, 0, TRIBO_METHOD_NEWTON + 1);
    tcase_add_test(c, given_up);
    suite_add_tcase(s, c);
    return s;
}
