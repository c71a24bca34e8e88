/* test_table_ii.c -- Table II of [LeLidec23] measured and not quoted: which law and which algorithm has which property.
 *
 * One test a cell, that is a row of `rows` and a column: it measures a number, in closed form where there is one, and
 * the number says whether the row has the property, `+`, or lacks it, `-`. The last test prints the table of numbers.
 * The columns, and what is measured:
 *
 *   Signorini     speed at which a sliding cube is lifted off the floor, m/s
 *   Coulomb       what is left of a motion that a force within the cone can stop
 *   dissipation   mu lambda_n |c_t| that friction misses, a share; the law's, at one contact
 *   hard          speed at which a cube at rest sinks, m/s
 *   internal      part of the impulses that works only against the rest, a share, of a cube that sticks
 *   robust        first mass ratio, heavy on light, at which it does not converge; and redundant contacts
 *   convergence   problems of the set that is made (cubes, stacks, robots, towers) that it does not solve to 1e-6. A
 *                 guarantee is for a proof; what is measured is that none was met that it does not solve
 *
 * What is raw is the algorithm's own answer. Gauss-Seidel, of any law, is the sweep that Tribo has, which extrapolates;
 * plain sweeps fail at smaller ratios. The interior point ends amid all impulses that do the same, and so with internal
 * forces; so does pivoting, at a corner of them. Newton's steps to the canonical solution take them out of any answer.
 */
#include "contact_makes.h"
#include "test_main.h"
#include "worlds.h"
#include <tribo/contact.h>

enum { SIGNORINI, COULOMB, DISSIPATION, HARD, INTERNAL, ROBUST, CONVERGENCE, COLUMNS };

typedef struct row {
    const char *name;
    tribo_law_options law;
    char has[COLUMNS + 1];
} row;

static const row rows[] = {
    {"lcp/pgs", {.law = TRIBO_LAW_LCP, .solver = TRIBO_SOLVER_PGS, .raw = true}, "+--+---"},
    {"lcp/staggered", {.law = TRIBO_LAW_LCP, .solver = TRIBO_SOLVER_STAGGERED, .raw = true}, "+--++++"},
    {"lcp/lemke", {.law = TRIBO_LAW_LCP, .solver = TRIBO_SOLVER_LEMKE, .raw = true}, "+--+-++"},
    {"ccp/pgs", {.law = TRIBO_LAW_CCP, .solver = TRIBO_SOLVER_PGS, .raw = true}, "-+++---"},
    {"ccp/admm", {.law = TRIBO_LAW_CCP, .solver = TRIBO_SOLVER_ADMM, .raw = true}, "-++++++"},
    {"ccp/newton", {.law = TRIBO_LAW_CCP, .solver = TRIBO_SOLVER_NEWTON, .raw = true}, "-++++++"},
    {"ccp/newton, MuJoCo's R",
     {.law = TRIBO_LAW_CCP, .solver = TRIBO_SOLVER_NEWTON, .raw = true, .softness = TRIBO_SOFTNESS_MUJOCO},
     "--+-+++"},
    {"raisim/bisection", {.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION, .raw = true}, "++-+--+"},
    {"raisim/bisection-corrected",
     {.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION_CORRECTED, .raw = true},
     "++++---"},
    {"ncp/pgs", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_PGS, .raw = true}, "++++--+"},
    {"ncp/staggered", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_STAGGERED, .raw = true}, "+++++++"},
    {"ncp/staggered-plain", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_STAGGERED_PLAIN, .raw = true}, "+++++--"},
    {"ncp/admm", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_ADMM, .raw = true}, "+++++++"},
    {"ncp/newton", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_NEWTON, .raw = true}, "+++++++"},
    {"ncp/interior", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_INTERIOR, .raw = true}, "++++-++"},
    {"ncp/ladder", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_LADDER}, "+++++++"},
};
enum { ROWS = sizeof rows / sizeof *rows, PYRAMIDS = 3 };

static const double dt = 1e-3, mu = 0.5, half = 0.1;

/* A cube of 1 kg on the floor. */
static world cube(const row *r, double tol, double vx, double vy) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_options o = tribo_default_options();
    world_floor(b, mu, 0);
    world_box(b, "cube", 1, half, 0, 0, half, world_material(mu, 0));
    tribo_set_timestep(b, dt);
    ck_assert_msg(tribo_build(b, &m, &diag) == TRIBO_OK, "%s", diag.text);
    o.measures = true, o.law = r->law, o.tol = tol;
    world w = world_of(m, &o);
    world_v0(&w, 0)[0] = vx, world_v0(&w, 0)[1] = vy;
    return w;
}

static tribo_measures step(world *w, const row *r) {
    tribo_status status = tribo_step(w->ws, w->p, w->x0, NULL, w->x0, NULL);
    ck_assert_msg(status == TRIBO_OK, "%s: %s", r->name, tribo_status_text(status));
    return tribo_last_info(w->ws)->measures;
}

static double table[ROWS][COLUMNS];
static bool measured[ROWS][COLUMNS];

/* The cell's verdict, and the number it rests on. */
static void is_so(int at, int column, bool has, double number) {
    table[at][column] = number, measured[at][column] = true;
    ck_assert_msg(has == (rows[at].has[column] == '+'), "%s: %c, measured %g", rows[at].name, has ? '+' : '-', number);
}

/* No normal velocity where there is an impulse, at a slide along x. The convex relaxation lifts the cube: v_n = mu
 * |v_t|, so that v_t = (v - mu g dt) / (1 + mu^2), and after a step it is dt mu |v_t| above the floor. */
START_TEST(signorini) {
    const row *r = &rows[_i];
    const double v = 1, slip = (v - mu * G * dt) / (1 + mu * mu);
    world w = cube(r, 1e-9, v, 0);
    tribo_measures m = step(&w, r);
    bool has = m.lift < 1e-8;
    if (!has && r->has[HARD] == '+') {
        NEAR(m.lift, mu * slip, 1e-7);
        NEAR(w.x0[2] - half, dt * mu * slip, 1e-9);
    }
    is_so(_i, SIGNORINI, has, m.lift);
    world_free(&w);
}
END_TEST

/* Sticks where an impulse below mu lambda_n in any direction can hold it: 0.85 of that, between two edges of the
 * pyramid, which gives way at 0.71. What is soft creeps under any force. */
START_TEST(coulomb) {
    const row *r = &rows[_i];
    double v = 0.85 * mu * G * dt;
    world w = cube(r, 1e-9, v * sqrt(0.5), v * sqrt(0.5));
    step(&w, r);
    double left = hypot(world_v0(&w, 0)[0], world_v0(&w, 0)[1]);
    if (r->law.law == TRIBO_LAW_LCP) NEAR(left / v, 1 - sqrt(0.5) / 0.85, 1e-6);
    is_so(_i, COULOMB, left < 1e-3 * v, left / v);
    world_free(&w);
}
END_TEST

/* And around the cone the pyramid gives too much: 1.2 of the bound, at an edge of it, and the cube is stopped. Of the
 * rows that are a pyramid's, which come first. */
START_TEST(coulomb_from_outside) {
    row r = rows[_i];
    ck_assert_int_eq(r.law.law, TRIBO_LAW_LCP);
    r.law.circumscribed = true;
    double v = 1.2 * mu * G * dt;
    world w = cube(&r, 1e-9, v, 0);
    tribo_measures m = step(&w, &r);
    NEAR(hypot(world_v0(&w, 0)[0], world_v0(&w, 0)[1]), 0, 1e-6 * v);
    ck_assert_double_gt(m.ncp.primal, 0.01);
    world_free(&w);
}
END_TEST

/* ---------------------------------------------------------------- maximum dissipation */

/* A body of 2 kg on one contact at (0.3, 0.1, -0.4) of it, where impulses across and along are coupled. */
typedef struct body {
    double M[36], J[18], vfree[6];
} body;

static body coupled(void) {
    const double r[3] = {0.3, 0.1, -0.4};
    const double turn[9] = {0, r[2], -r[1], -r[2], 0, r[0], r[1], -r[0], 0};
    body b = {0};
    for (int k = 0; k < 6; k++) b.M[7 * k] = k < 3 ? 2 : 0.08;
    for (int k = 0; k < 3; k++) {
        b.J[6 * k + k] = 1;
        memcpy(b.J + 6 * k + 3, turn + 3 * k, 3 * sizeof *turn);
    }
    return b;
}

/* The share of mu lambda_n |c_t| that friction takes, at the worst of 24 directions of slip. That of RaiSim is
 * sqrt(1 - (a x e)^2), docs/math.md eq. (98); that of four edges at 45 degrees from them is sqrt(1/2). */
START_TEST(dissipation) {
    const row *r = &rows[_i];
    double least = 1;
    tribo_contact_ws *ws;
    ck_assert_int_eq(tribo_contact_ws_new(1, 6, &r->law, NULL, &ws), TRIBO_OK);
    for (int k = 0; k < 24; k++) {
        body b = coupled();
        double angle = 2 * PI * (k + 0.5) / 24, l[3] = {0}, v[6], c[3] = {0};
        b.vfree[0] = 3 * cos(angle), b.vfree[1] = 3 * sin(angle), b.vfree[2] = -0.1;
        tribo_contact_problem p = {.nc = 1, .nv = 6, .M = b.M, .J = b.J, .vfree = b.vfree, .mu = &mu};
        ck_assert_int_eq(tribo_contact_solve(ws, &p, 1e-10, false, l, v, NULL), TRIBO_OK);
        for (int j = 0; j < 18; j++) c[j / 6] += b.J[j] * v[j % 6];
        double slip = hypot(c[0], c[1]), share = -(l[0] * c[0] + l[1] * c[1]) / (mu * l[2] * slip);
        ck_assert_double_gt(slip, 0.1);
        if (r->law.solver == TRIBO_SOLVER_BISECTION) {
            const double nn = 0.5 + 0.1 / 0.08, ax = mu * 0.12 / 0.08 / nn, ay = mu * 0.04 / 0.08 / nn;
            double across = (ax * c[1] - ay * c[0]) / slip;
            NEAR(share, sqrt(1 - across * across), 1e-8);
        }
        least = fmin(least, share);
    }
    tribo_contact_ws_free(ws);
    is_so(_i, DISSIPATION, least > 1 - 1e-6, 1 - least);
}
END_TEST

/* The same in motion: a cube slides 45 mm at 22.5 degrees to the axes. The pyramid brakes it along x alone, so it loses
 * speed along x by mu g dt a step, 4 edges, and leaves its line; RaiSim's corners push one another, 1e-6 of that way.
 * The others keep the line, and those with all three laws the energy too. */
START_TEST(line_of_a_slide) {
    enum { STEPS = 45 };
    const row *r = &rows[_i];
    const double x = cos(PI / 8), y = sin(PI / 8);
    world w = cube(r, 1e-9, x, y);
    double loss = 0;
    for (int k = 0; k < STEPS; k++) loss += step(&w, r).friction_loss;
    double off = w.x0[1] * x - w.x0[0] * y;
    double way = STEPS * dt - mu * G * dt * dt * STEPS * (STEPS + 1) / 2, full = mu * G * way;
    if (r->law.law == TRIBO_LAW_LCP) {
        double gone = mu * G * dt * dt * STEPS * (STEPS + 1) / 2;
        NEAR(off, gone * y, 1e-7);
    } else if (r->law.solver == TRIBO_SOLVER_BISECTION)
        ck_assert_msg(fabs(off) > 1e-7 && fabs(off) < 1e-5, "off its line by %g m", off);
    else
        NEAR(off, 0, 1e-9);
    if (r->law.solver == TRIBO_SOLVER_BISECTION)
        ck_assert_msg(loss < full * (1 - 1e-5), "friction takes all but %g", 1 - loss / full);
    if (strncmp(r->has, "+++", 3) == 0) NEAR(loss, full, 1e-7);
    world_free(&w);
}
END_TEST

/* ---------------------------------------------------------------- hard contact */

/* A cube at rest stays where it is. MuJoCo's rule, R = (1 - d) / d G_nn with G_nn = 4 / m at a corner of a cube, lets
 * it sink by (1 - d) g dt. */
START_TEST(hard) {
    const row *r = &rows[_i];
    world w = cube(r, 1e-10, 0, 0);
    step(&w, r);
    double sinks = -world_v0(&w, 0)[2];
    if (sinks > 1e-6) NEAR(sinks, 0.1 * G * dt, 1e-9);
    is_so(_i, HARD, fabs(sinks) < 1e-9, sinks);
    world_free(&w);
}
END_TEST

/* ---------------------------------------------------------------- internal forces */

/* A cube stopped within the step: how much of the impulses only works against the rest. */
START_TEST(internal) {
    const row *r = &rows[_i];
    world w = cube(r, 1e-8, 0.6 * mu * G * dt, 0);
    tribo_measures m = step(&w, r);
    is_so(_i, INTERNAL, m.internal_share < 1e-3, m.internal_share);
    world_free(&w);
}
END_TEST

/* Polished, no row has any, whatever the algorithm left. */
START_TEST(internal_polished) {
    row r = rows[_i];
    r.law.raw = false;
    world w = cube(&r, 1e-8, 0.6 * mu * G * dt, 0);
    tribo_measures m = step(&w, &r);
    ck_assert_msg(m.internal_share < 1e-6, "%s: %g", r.name, m.internal_share);
    world_free(&w);
}
END_TEST

/* ---------------------------------------------------------------- robustness */

/* A light cube under a heavy one, which slides on it. @return whether a step converged to 1e-6. */
static bool stack(const row *r, double ratio) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_options o = tribo_default_options();
    world_floor(b, mu, 0);
    world_box(b, "light", 1, half, 0, 0, half, world_material(mu, 0));
    world_box(b, "heavy", ratio, half, 0, 0, 3 * half, world_material(mu, 0));
    tribo_set_timestep(b, dt);
    ck_assert_msg(tribo_build(b, &m, &diag) == TRIBO_OK, "%s", diag.text);
    o.law = r->law, o.tol = 1e-6;
    world w = world_of(m, &o);
    world_v0(&w, 1)[0] = 1;
    tribo_status status = tribo_step(w.ws, w.p, w.x0, NULL, w.x0, NULL);
    double residual = tribo_last_info(w.ws)->residual;
    ck_assert_msg(status == TRIBO_OK || status == TRIBO_NOT_CONVERGED, "%s", tribo_status_text(status));
    ck_assert_msg((residual <= 1e-6) == (status == TRIBO_OK), "%s says %s at %g", r->name, tribo_status_text(status),
                  residual);
    world_free(&w);
    return status == TRIBO_OK;
}

START_TEST(robust) {
    double ratio = 1;
    while (ratio < 3e6 && stack(&rows[_i], ratio)) ratio *= 10;
    ck_assert_double_ge(ratio, 1e3); /* all of them a hundredfold */
    is_so(_i, ROBUST, ratio > 3e6, ratio);
}
END_TEST

START_TEST(converges) {
    const row *r = &rows[_i];
    int unsolved = 0;
    for (int k = 0; k < MADE_SET; k++) {
        made_problem q = made_of_set(k);
        tribo_contact_problem p = {.nc = q.nc, .nv = q.nv, .M = q.M, .J = q.J, .vfree = q.vfree, .mu = q.mu};
        tribo_contact_ws *ws;
        tribo_contact_info info;
        double *lambda = calloc(3 * (size_t)q.nc, sizeof *lambda);
        ck_assert_int_eq(tribo_contact_ws_new(q.nc, q.nv, &r->law, NULL, &ws), TRIBO_OK);
        tribo_status status = tribo_contact_solve(ws, &p, 1e-6, false, lambda, NULL, &info);
        ck_assert_msg(status == TRIBO_OK || status == TRIBO_NOT_CONVERGED, "%s, %s: %s", r->name, q.name,
                      tribo_status_text(status));
        ck_assert_msg((info.residual <= 1e-6) == (status == TRIBO_OK), "%s says %s at %g", r->name,
                      tribo_status_text(status), info.residual);
        unsolved += status != TRIBO_OK;
        tribo_contact_ws_free(ws), free(lambda), made_free(&q);
    }
    is_so(_i, CONVERGENCE, unsolved == 0, unsolved);
}
END_TEST

/* Each corner four times over, in four frames: 48 impulses for 6 velocities. */
START_TEST(redundant) {
    enum { NC = 16 };
    const row *r = &rows[_i];
    double M[36] = {0}, J[3 * NC * 6] = {0}, vfree[6] = {0.0025, 0.0015, -G * dt}, rub[NC], l[3 * NC] = {0}, v[6];
    unsigned seed = 1;
    for (int k = 0; k < 6; k++) M[7 * k] = k < 3 ? 1 : half * half * 2 / 3;
    for (int i = 0; i < NC; i++) {
        const double p[3] = {i & 1 ? half : -half, i & 2 ? half : -half, -half};
        double yaw = 3 * test_random(&seed), e[9] = {cos(yaw), sin(yaw), 0, -sin(yaw), cos(yaw), 0, 0, 0, 1};
        rub[i] = mu;
        for (int k = 0; k < 3; k++) {
            double *to = J + 6 * (3 * i + k), *d = e + 3 * k;
            memcpy(to, d, 3 * sizeof *d);
            to[3] = p[1] * d[2] - p[2] * d[1], to[4] = p[2] * d[0] - p[0] * d[2], to[5] = p[0] * d[1] - p[1] * d[0];
        }
    }
    tribo_contact_problem p = {.nc = NC, .nv = 6, .M = M, .J = J, .vfree = vfree, .mu = rub};
    tribo_contact_ws *ws;
    tribo_contact_info info;
    ck_assert_int_eq(tribo_contact_ws_new(NC, 6, &r->law, NULL, &ws), TRIBO_OK);
    ck_assert_int_eq(tribo_contact_solve(ws, &p, 1e-8, false, l, v, &info), TRIBO_OK);
    ck_assert_double_le(info.residual, 1e-8);
    if (r->has[HARD] == '+') NEAR(hypot(v[0], v[1]), 0, 1e-7); /* it sticks, by any pyramid: 0.0029 < 0.0035 m/s */
    tribo_contact_ws_free(ws);
}
END_TEST

/* ---------------------------------------------------------------- the table */

/* Every cell was measured, and every property is one that some row has and some row has not. */
START_TEST(the_table) {
    printf("%-28s%14s%14s%14s%14s%14s%14s%14s\n", "", "Signorini", "Coulomb", "dissipation", "hard", "internal",
           "robust", "convergence");
    for (int i = 0; i < ROWS; i++) {
        printf("%-28s", rows[i].name);
        for (int c = 0; c < COLUMNS; c++)
            printf("%12.2g %c", c == ROBUST && rows[i].has[c] == '+' ? 1e6 : table[i][c], rows[i].has[c]);
        printf("\n");
    }
    for (int c = 0; c < COLUMNS; c++) {
        int have = 0;
        for (int i = 0; i < ROWS; i++) {
            ck_assert_msg(measured[i][c], "%s, column %d was not measured", rows[i].name, c);
            have += rows[i].has[c] == '+';
        }
        ck_assert_msg(have > 0 && have < ROWS, "column %d tells no rows apart", c);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("Table II");
    TCase *t = tcase_create("cells");
    TCase *many = tagged_case(s, "many", "many");
    tcase_add_loop_test(t, signorini, 0, ROWS);
    tcase_add_loop_test(t, coulomb, 0, ROWS);
    tcase_add_loop_test(t, coulomb_from_outside, 0, PYRAMIDS);
    tcase_add_loop_test(t, dissipation, 0, ROWS);
    tcase_add_loop_test(t, line_of_a_slide, 0, ROWS);
    tcase_add_loop_test(t, hard, 0, ROWS);
    tcase_add_loop_test(t, internal, 0, ROWS);
    tcase_add_loop_test(t, internal_polished, 0, ROWS);
    tcase_add_loop_test(t, robust, 0, ROWS);
    tcase_add_loop_test(many, converges, 0, ROWS);
    tcase_add_loop_test(t, redundant, 0, ROWS);
    suite_add_tcase(s, t);
    tcase_add_test(tagged_case(s, "table", "many"), the_table); /* of all that was measured */
    return s;
}
