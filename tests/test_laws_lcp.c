/* test_laws_lcp.c -- the friction pyramid: one contact by itself, closed forms, the limit of many facets, and its
 * solvers against each other. */
#define _POSIX_C_SOURCE 200809L
#include "contact/law/pyramid.h"
#include "contact_problems.h"

static const double pi = 3.14159265358979323846;

/* ---------------------------------------------------------------- one contact by itself */

static ti_pyramid pyramid_of(int n, double angle, double reach) {
    ti_pyramid y = {.n = n, .apothem = reach * cos(pi / n), .half = reach * sin(pi / n)};
    for (int k = 0; k < n; k++) {
        double at = angle + 2 * pi * k / n;
        y.d[k][0] = reach * cos(at), y.d[k][1] = reach * sin(at);
        y.e[k][0] = cos(at + pi / n), y.e[k][1] = sin(at + pi / n);
    }
    return y;
}

/* The least distance of l to the facets, spanned each by (mu d_k, 1) and (mu d_k+1, 1), and to nothing if inside. */
static double distance_by_facets(const ti_pyramid *y, double mu, const double *l) {
    double least = sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]);
    bool inside = l[2] >= 0;
    for (int k = 0; k < y->n; k++) {
        const double *a = y->d[k], *b = y->d[(k + 1) % y->n], *e = y->e[k];
        double A[3] = {mu * a[0], mu * a[1], 1}, B[3] = {mu * b[0], mu * b[1], 1};
        if (e[0] * l[0] + e[1] * l[1] > mu * y->apothem * l[2]) inside = false;
        double AA = 0, AB = 0, BB = 0, Al = 0, Bl = 0;
        for (int r = 0; r < 3; r++)
            AA += A[r] * A[r], AB += A[r] * B[r], BB += B[r] * B[r], Al += A[r] * l[r], Bl += B[r] * l[r];
        double det = AA * BB - AB * AB, u = (BB * Al - AB * Bl) / det, w = (AA * Bl - AB * Al) / det;
        if (u < 0 || w < 0 || !(det > 0)) u = fmax(0, Al / AA), w = 0; /* its sides are the next facet's too */
        double sum = 0;
        for (int r = 0; r < 3; r++) sum += pow(l[r] - u * A[r] - w * B[r], 2);
        least = fmin(least, sqrt(sum));
    }
    return inside ? 0 : least;
}

START_TEST(the_distance_to_the_pyramid) {
    uint64_t seed = 1;
    const ti_law_scale unit = {1, 1, 1, 1};
    int apart = 0;
    for (int k = 0; k < 4000; k++) {
        ti_pyramid y = pyramid_of(4 + k % 13, 3 * random_in(&seed), k % 2 ? 1 : 1.3);
        double l[3] = {random_in(&seed), random_in(&seed), random_in(&seed)}, c[3] = {0, 0, 0}, out[3];
        double mu = k % 7 ? 1 + random_in(&seed) : 0;
        ti_law_contact s = {.mu = mu, .scale = &unit, .pyramid = &y};
        ti_law_lcp.residual(&s, l, c, out);
        double expect = distance_by_facets(&y, mu, l);
        ck_assert_msg(fabs(out[0] - expect) < 1e-12, "mu %g, (%g %g %g): %g, not %g", mu, l[0], l[1], l[2], out[0],
                      expect);
        apart += expect > 0;
    }
    ck_assert_int_gt(apart, 1000);
}
END_TEST

/* Also next to a vertex, whatever rounding says of its side. */
START_TEST(the_sector_of_an_impulse) {
    uint64_t seed = 4;
    for (int k = 0; k < 20000; k++) {
        ti_pyramid y = pyramid_of(4 + k % 61, 3 * random_in(&seed), 1);
        int at = (int)(y.n * 0.5 * (1 + random_in(&seed))) % y.n;
        double size = exp(10 * random_in(&seed)), turn = k % 3 ? 0 : 1e-15 * random_in(&seed);
        double t[2] = {size * (y.d[at][0] - turn * y.d[at][1]), size * (y.d[at][1] + turn * y.d[at][0])};
        int found = ti_sector(&y, t);
        ck_assert_msg(found == at || (found + 1) % y.n == at, "vertex %d of %d in sector %d", at, y.n, found);
        double best = -1;
        for (int j = 0; j < 2; j++) t[j] = random_in(&seed);
        for (int j = 0; j < y.n; j++) best = fmax(best, ti_across(&y, j, t));
        ck_assert_double_eq_tol(ti_across(&y, ti_sector(&y, t), t), best, 1e-15);
    }
}
END_TEST

/* A contact's own solution meets the law, whichever part of the polygon it is in. */
START_TEST(one_contact_by_itself) {
    uint64_t seed = 2;
    int met[2 + 2 * 16] = {0};
    for (int k = 0; k < 4000; k++) {
        ti_pyramid y = pyramid_of(4 + k % 13, 3 * random_in(&seed), k % 2 ? 1 : 1.3);
        double L[9], G[9], free[3], l[3] = {0, 0, 0}, before[3], c[3], out[3], change = 1;
        for (int r = 0; r < 9; r++) L[r] = random_in(&seed);
        for (int r = 0; r < 3; r++)
            for (int q = 0; q < 3; q++) {
                G[3 * r + q] = r == q ? 0.2 : 0;
                for (int j = 0; j < 3; j++) G[3 * r + q] += L[3 * r + j] * L[3 * q + j];
            }
        for (int r = 0; r < 3; r++) free[r] = random_in(&seed);
        ti_law_scale scale = {1 / G[8], 1 / G[0], G[8], G[0]};
        ti_law_contact s = {.mu = k % 7 ? 0.2 * (1 + random_in(&seed)) : 0, .scale = &scale, .Gii = G, .pyramid = &y};
        for (int it = 0; it < 2000 && change > 1e-15; it++) {
            memcpy(before, l, sizeof l);
            ti_law_lcp.local(&s, free, l);
            change = fabs(l[0] - before[0]) + fabs(l[1] - before[1]) + fabs(l[2] - before[2]);
        }
        for (int r = 0; r < 3; r++) c[r] = free[r] + G[3 * r] * l[0] + G[3 * r + 1] * l[1] + G[3 * r + 2] * l[2];
        ti_law_lcp.residual(&s, l, c, out);
        ck_assert_msg(out[0] < 1e-13 && out[1] < 1e-13 && out[2] < 1e-13, "%g %g %g", out[0], out[1], out[2]);
        unsigned char mode = ti_law_lcp.mode(&s, l, c);
        ti_law_slope slope;
        ti_law_lcp.slope(&s, mode, l, c, &slope);
        ck_assert(ti_law_lcp.agrees(&s, mode, l, c, 1e-12));
        for (int r = 0; r < 3; r++) ck_assert_double_lt(fabs(slope.F[r]), 1e-12);
        met[mode < 2 ? mode : mode < 2 + y.n ? 2 : 3]++;
    }
    for (int m = 0; m < 4; m++) ck_assert_msg(met[m] > 20, "mode %d: %d times", m, met[m]);
}
END_TEST

/* The slope of every mode is that of F. */
START_TEST(the_slope_of_the_law) {
    uint64_t seed = 3;
    ti_pyramid y = pyramid_of(5, 0.3, 1);
    for (int mode = 0; mode < 2 + 2 * 5; mode++) {
        ti_law_scale scale = {0.7, 0.4, 1 / 0.7, 1 / 0.4};
        ti_law_contact s = {.mu = 0.6, .scale = &scale, .pyramid = &y};
        double x[7];
        for (int k = 0; k < 6; k++) x[k] = random_in(&seed);
        x[6] = s.mu;
        ti_law_slope at, plus, minus;
        ti_law_lcp.slope(&s, (unsigned char)mode, x, x + 3, &at);
        for (int k = 0; k < 7; k++) {
            double keep = x[k], h = 1e-3;
            x[k] = keep + h, s.mu = x[6], ti_law_lcp.slope(&s, (unsigned char)mode, x, x + 3, &plus);
            x[k] = keep - h, s.mu = x[6], ti_law_lcp.slope(&s, (unsigned char)mode, x, x + 3, &minus);
            x[k] = keep, s.mu = x[6];
            for (int r = 0; r < 3; r++) {
                double exact = k == 6 ? at.mu[r] : k < 3 ? at.l[3 * r + k] : at.c[3 * r + k - 3];
                ck_assert_double_eq_tol((plus.F[r] - minus.F[r]) / (2 * h), exact, 1e-11);
            }
        }
    }
}
END_TEST

/* ---------------------------------------------------------------- a point mass */

typedef struct landing {
    double lambda[3], v[3];
    tribo_contact_info info;
} landing;

/* A mass of 2 kg at `speed` along `angle`, that a step's weight of 0.1 m/s pushes on the ground; friction 0.5. */
static landing slide(const tribo_law_options *o, double speed, double angle) {
    landing x;
    memset(&x, 0, sizeof x);
    const double M[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu = 0.5;
    const double vfree[3] = {speed * cos(angle), speed * sin(angle), -0.1};
    tribo_contact_problem p = {.nc = 1, .nv = 3, .M = M, .J = J, .vfree = vfree, .mu = &mu};
    tribo_contact_ws *ws;
    ck_assert_int_eq(tribo_contact_ws_new(1, 3, o, NULL, &ws), TRIBO_OK);
    ck_assert_int_eq(tribo_contact_solve(ws, &p, 1e-12, false, x.lambda, x.v, &x.info), TRIBO_OK);
    tribo_contact_ws_free(ws);
    return x;
}

static void ck_slide(landing x, double l0, double l1) {
    ck_assert_double_eq_tol(x.lambda[0], l0, 1e-13);
    ck_assert_double_eq_tol(x.lambda[1], l1, 1e-13);
    ck_assert_double_eq_tol(x.lambda[2], 0.2, 1e-13);
}

/* Friction is at the vertex nearest to the way back, whatever the angle between them. */
START_TEST(a_slide_is_pulled_off_its_line) {
    tribo_law_options o = {.law = TRIBO_LAW_LCP};
    for (int k = 0; k < 64; k++) {
        double angle = 2 * pi * (k + 0.3) / 64, back = angle + pi;
        double vertex = floor(back / (pi / 2) + 0.5) * (pi / 2); /* inscribed, at the axes */
        o.circumscribed = false, o.facet_angle = 0;
        landing x = slide(&o, 10, angle);
        ck_slide(x, 0.1 * cos(vertex), 0.1 * sin(vertex));
        ck_assert_double_gt(fabs(x.v[0] * sin(angle) - x.v[1] * cos(angle)), 1e-4);
        vertex = (floor(back / (pi / 2)) + 0.5) * (pi / 2); /* circumscribed, at the diagonals */
        o.circumscribed = true, o.facet_angle = pi / 4;
        x = slide(&o, 10, angle);
        ck_slide(x, sqrt(2) * 0.1 * cos(vertex), sqrt(2) * 0.1 * sin(vertex));
    }
}
END_TEST

/* Along an edge's normal the other direction sticks; below the threshold of both, all does. */
START_TEST(a_slide_along_an_axis) {
    tribo_law_options o = {.law = TRIBO_LAW_LCP, .facet_angle = pi / 4};
    double edge = 0.1 * cos(pi / 4);
    landing x = slide(&o, 1, 0.01); /* 2 kg * 0.01 m/s across is less than half an edge */
    ck_slide(x, -edge, -2 * sin(0.01));
    ck_assert_double_eq_tol(x.v[1], 0, 1e-13);
    ck_assert_double_eq_tol(x.info.margin, (edge - 2 * sin(0.01)) / edge, 1e-12);
    x = slide(&o, 0.02, 1);
    ck_slide(x, -0.04 * cos(1), -0.04 * sin(1));
    ck_assert_double_eq_tol(x.info.margin, (edge - 0.04 * sin(1)) / edge, 1e-12);
    x = slide(&o, 1, 0.3); /* a vertex: as far as the velocity is from an edge's normal */
    ck_slide(x, -edge, -edge);
    ck_assert_double_eq_tol(x.info.margin, sin(0.3) - edge / 2, 1e-12);
}
END_TEST

/* The worst direction of a pyramid within the cone is across an edge, of one around it along a vertex: both err by the
 * square of the angle between. */
START_TEST(many_facets_are_the_cone) {
    for (int n = 4; n <= 64; n++) {
        tribo_law_options o = {.law = TRIBO_LAW_LCP, .facets = n, .facet_angle = 0.2345 + pi + pi / n};
        double force = 0.1 * cos(pi / n);
        ck_slide(slide(&o, 1, 0.2345), -force * cos(0.2345), -force * sin(0.2345));
        o.circumscribed = true, o.facet_angle = 0.2345 + pi, force = 0.1 / cos(pi / n);
        ck_slide(slide(&o, 1, 0.2345), -force * cos(0.2345), -force * sin(0.2345));
    }
}
END_TEST

/* ---------------------------------------------------------------- the solvers */

enum { NC = 4, NV = 6 };

typedef struct corners {
    double M[NV * NV], J[3 * NC * NV], vfree[NV], mu[NC];
} corners;

/* Four corners of a box that lands on a plane, with a spin: redundant. */
static corners box(uint64_t *seed) {
    corners b = {.vfree = {random_in(seed), random_in(seed), -0.3, 0, 0, random_in(seed)}};
    for (int k = 0; k < NV; k++) b.M[7 * k] = k < 3 ? 1 : 0.1 + 0.05 * random_in(seed);
    for (int i = 0; i < NC; i++) {
        double x = i % 2 ? 0.3 : -0.3, y = i / 2 ? 0.4 : -0.4, z = -0.1;
        const double J[18] = {1, 0, 0, 0, z, -y, 0, 1, 0, -z, 0, x, 0, 0, 1, y, -x, 0};
        memcpy(b.J + 18 * i, J, sizeof J);
        b.mu[i] = 0.5 + 0.4 * random_in(seed);
    }
    return b;
}

static double solve(const tribo_law_options *o, int nc, const corners *b, double tol, double *lambda, double *v) {
    tribo_contact_problem p = {.nc = nc, .nv = NV, .M = b->M, .J = b->J, .vfree = b->vfree, .mu = b->mu};
    tribo_contact_ws *ws;
    tribo_contact_info info;
    ck_assert_int_eq(tribo_contact_ws_new(nc, NV, o, NULL, &ws), TRIBO_OK);
    ck_assert_int_eq(tribo_contact_solve(ws, &p, tol, false, lambda, v, &info), TRIBO_OK);
    tribo_contact_ws_free(ws);
    return info.residual;
}

/* Where the solution is one, every solver finds it; of the canonical one among redundant contacts also the impulses. */
START_TEST(solvers_agree) {
    uint64_t seed = 5;
    for (int k = 0; k < 60; k++) {
        corners b = box(&seed);
        int nc = k % 2 ? NC : 2;
        if (k % 4 == 3) b.mu[k % NC] = 0;
        double v[NV], l[3 * NC], first_v[NV], first_l[3 * NC];
        for (int s = 0; tribo_law_solver(TRIBO_LAW_LCP, s); s++) {
            tribo_law_options o = {.law = TRIBO_LAW_LCP,
                                   .solver = tribo_law_solver(TRIBO_LAW_LCP, s),
                                   .facets = 4 + k % 5,
                                   .facet_angle = 0.1 * k,
                                   .circumscribed = k % 3 == 0};
            ck_assert_double_lt(solve(&o, nc, &b, 1e-10, l, v), 1e-10);
            if (s == 0) memcpy(first_v, v, sizeof v), memcpy(first_l, l, sizeof l);
            for (int r = 0; r < NV; r++) ck_assert_double_eq_tol(v[r], first_v[r], 1e-9);
            for (int r = 0; r < 3 * nc; r++) ck_assert_double_eq_tol(l[r], first_l[r], 1e-9);
        }
    }
}
END_TEST

/* From its answer a solver has nothing to do; where it is stopped, it says so. */
START_TEST(warm_and_stopped) {
    uint64_t seed = 9;
    corners b = box(&seed);
    tribo_contact_problem p = {.nc = NC, .nv = NV, .M = b.M, .J = b.J, .vfree = b.vfree, .mu = b.mu};
    for (int s = 0; tribo_law_solver(TRIBO_LAW_LCP, s); s++) {
        tribo_law_options o = {.law = TRIBO_LAW_LCP, .solver = tribo_law_solver(TRIBO_LAW_LCP, s), .raw = true};
        if (o.solver == TRIBO_SOLVER_LADDER) continue; /* settles twice wherever it starts, and goes on to its end */
        tribo_contact_ws *ws;
        tribo_contact_info cold, warm;
        double lambda[3 * NC] = {0};
        ck_assert_int_eq(tribo_contact_ws_new(NC, NV, &o, NULL, &ws), TRIBO_OK);
        ck_assert_int_eq(tribo_contact_solve(ws, &p, 1e-9, false, lambda, NULL, &cold), TRIBO_OK);
        ck_assert_int_eq(tribo_contact_solve(ws, &p, 1e-8, true, lambda, NULL, &warm), TRIBO_OK);
        ck_assert_msg(warm.iterations <= 1 && cold.iterations > 1, "%s: %d iterations cold, %d warm",
                      tribo_solver_name(o.solver), cold.iterations, warm.iterations);
        tribo_contact_ws_free(ws);
        o.max_iter = 1;
        ck_assert_int_eq(tribo_contact_ws_new(NC, NV, &o, NULL, &ws), TRIBO_OK);
        ck_assert_int_eq(tribo_contact_solve(ws, &p, 1e-9, false, lambda, NULL, &cold), TRIBO_NOT_CONVERGED);
        ck_assert(cold.residual > 1e-9);
        tribo_contact_ws_free(ws);
    }
}
END_TEST

/* Friction is up to pi/n off its direction, which moves the box aside in that proportion and takes its square of the
 * energy: the worst over the turns of the pyramid. */
START_TEST(many_facets_of_a_box) {
    uint64_t seed = 7;
    corners b = box(&seed);
    double v[NV], l[3 * NC], cone[NV], aside[4], lost[4];
    for (int i = 0; i < NC; i++) b.mu[i] *= 0.2; /* all of them slide */
    solve(NULL, NC, &b, 1e-12, l, cone);
    for (int k = 0; k < 4; k++) {
        int n = 8 << k;
        aside[k] = lost[k] = 0;
        for (int turn = 0; turn < 32; turn++) {
            tribo_law_options o = {.law = TRIBO_LAW_LCP, .solver = TRIBO_SOLVER_LEMKE, .facets = n};
            o.facet_angle = 2 * pi / n * turn / 32;
            solve(&o, NC, &b, 1e-10, l, v);
            double energy = 0;
            for (int r = 0; r < NV; r++) {
                energy += 0.5 * b.M[7 * r] * (v[r] * v[r] - cone[r] * cone[r]);
                aside[k] = fmax(aside[k], fabs(v[r] - cone[r]));
            }
            lost[k] = fmax(lost[k], fabs(energy));
        }
    }
    double first = log2(aside[0] / aside[3]) / 3, second = log2(lost[0] / lost[3]) / 3;
    printf("facets: the velocity converges with order %.2f, the energy with %.2f\n", first, second);
    ck_assert(first > 0.9 && second > 1.9);
}
END_TEST

static void pivot(const ti_problem *q, const tribo_contact_problem *p, void *context) {
    (void)context;
    const tribo_law_options o = {.law = TRIBO_LAW_LCP, .solver = TRIBO_SOLVER_LEMKE, .raw = true};
    tribo_contact_ws *ws;
    tribo_contact_info info;
    int n = 3 * q->nc;
    double *lambda = calloc((size_t)n, sizeof *lambda);
    ck_assert_int_eq(tribo_contact_ws_new(q->nc, q->nv > n ? q->nv : n, &o, NULL, &ws), TRIBO_OK);
    tribo_status status = tribo_contact_solve(ws, p, 0, false, lambda, NULL, &info);
    ck_assert_msg(status == TRIBO_OK && info.residual < 1e-10, "problem %g: residual %g after %d pivots", q->id,
                  info.residual, info.iterations);
    free(lambda);
    tribo_contact_ws_free(ws);
}

/* Every problem of the data folder by pivoting, which asks for no sharing of loads nor of masses. */
START_TEST(every_problem_by_pivoting) {
    for_every_contact_problem(pivot, NULL);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("laws_lcp");
    TCase *c = tcase_create("pyramid");
    suite_add_tcase(s, c);
    tcase_add_test(c, the_distance_to_the_pyramid);
    tcase_add_test(c, the_sector_of_an_impulse);
    tcase_add_test(c, one_contact_by_itself);
    tcase_add_test(c, the_slope_of_the_law);
    tcase_add_test(c, a_slide_is_pulled_off_its_line);
    tcase_add_test(c, a_slide_along_an_axis);
    tcase_add_test(c, many_facets_are_the_cone);
    tcase_add_test(c, solvers_agree);
    tcase_add_test(c, warm_and_stopped);
    tcase_add_test(c, many_facets_of_a_box);
    tcase_add_test(c, every_problem_by_pivoting);
    return s;
}
