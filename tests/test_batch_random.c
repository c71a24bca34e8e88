/* test_batch_random.c -- parameters drawn at random: the same for a world however it is drawn, distributed as said,
 * differentiated; gradients of the mean loss of many worlds against differences. */
#include "test_main.h"
#include "worlds.h"
#include <limits.h>
#include <tribo/tribo.h>

static tribo_model *m;
static tribo_sizes z;
static double *p0;

/* Two boxes that slide on a floor, apart. */
static void setup(void) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.4, 0);
    world_box(b, "a", 1, 0.1, 0, 0, 0.1, world_material(0.5, 0));
    world_box(b, "b", 2, 0.2, 2, 0, 0.2, world_material(0.5, 0));
    tribo_set_timestep(b, 0.01);
    m = world_build(b), z = tribo_model_sizes(m), p0 = world_zeros(z.np);
    tribo_model_params(m, p0);
}

static void teardown(void) {
    free(p0), tribo_model_free(m);
}

static int at(const char *name) {
    int i = tribo_param_find(m, name);
    ck_assert_msg(i >= 0, "no %s", name);
    return i;
}

static const char *const MASS[] = {"*/mass"}, *const CUBE[] = {"?/size", "?/mass", "?/inertia"};
static const char *const FLOOR[] = {"floor/friction"}, *const BOUNCE[] = {"*/restitution"},
                         *const G_Z[] = {"gravity/z"};
static const double POWERS[] = {1, 3, 5};

/* The table of the example: mass, friction, size, restitution, gravity. */
enum { ROWS = 5 };
static void table(tribo_random_def *d) {
    for (int k = 0; k < ROWS; k++) d[k] = tribo_default_random();
    d[0].name = MASS, d[0].nname = 1, d[0].a = 0.4, d[0].b = 1.5, d[0].share = TRIBO_SHARE_BODY;
    d[1].name = FLOOR, d[1].nname = 1, d[1].a = 0.3, d[1].b = 3, d[1].draw = TRIBO_DRAW_LOGUNIFORM;
    d[2].name = CUBE, d[2].nname = 3, d[2].power = POWERS, d[2].a = 0.95, d[2].b = 1.05, d[2].share = TRIBO_SHARE_BODY;
    d[3].name = BOUNCE, d[3].nname = 1, d[3].a = 0, d[3].b = 0.4, d[3].add = true, d[3].share = TRIBO_SHARE_NONE;
    d[4].name = G_Z, d[4].nname = 1, d[4].draw = TRIBO_DRAW_NORMAL, d[4].a = 0, d[4].b = 0.4, d[4].add = true;
}

static tribo_random *made(const tribo_random_def *d, int n, uint64_t seed) {
    tribo_random *r = NULL;
    tribo_diag diag = {0};
    ck_assert_msg(tribo_random_new(m, d, n, seed, NULL, &r, &diag) == TRIBO_OK, "%s", diag.text);
    return r;
}

START_TEST(a_world_is_its_seed_and_number) {
    enum { N = 50 };
    tribo_random_def d[ROWS];
    table(d);
    tribo_random *r = made(d, ROWS, 7), *again = made(d, ROWS, 7), *other = made(d, ROWS, 8);
    int draws = tribo_random_draws(r);
    ck_assert_int_eq(draws, 2 + 1 + 2 + 2 + 1); /* of the boxes one bounce is used where they meet */
    double *P = world_zeros(N * z.np), *one = world_zeros(z.np), *s = world_zeros(N * draws), s1[16];
    ck_assert_int_eq(tribo_random_rows(r, NULL, 1000, N, P, s), TRIBO_OK);
    for (int i = N; i-- > 0;) {
        ck_assert_int_eq(tribo_random_rows(again, p0, 1000 + i, 1, one, s1), TRIBO_OK);
        ck_assert(memcmp(one, P + i * z.np, sizeof *one * (size_t)z.np) == 0);
        ck_assert(memcmp(s1, s + i * draws, sizeof *s1 * (size_t)draws) == 0);
        tribo_diag diag = {0};
        ck_assert_msg(tribo_params_check(m, one, &diag) == TRIBO_OK, "%s", diag.text);
        ck_assert_int_eq(tribo_random_rows(other, NULL, 1000 + i, 1, one, NULL), TRIBO_OK);
        ck_assert(memcmp(one, P + i * z.np, sizeof *one * (size_t)z.np) != 0);
    }
    /* what is shared, and by which power */
    for (int i = 0; i < N; i++) {
        const double *p = P + i * z.np;
        double size = p[at("b/size/x")] / p0[at("b/size/x")];
        NEAR(p[at("b/size/z")] / p0[at("b/size/z")], size, 1e-15);
        NEAR(p[at("b/inertia/yy")] / p0[at("b/inertia/yy")], pow(size, 5), 1e-13);
        NEAR(p[at("b/mass")] / p0[at("b/mass")], pow(size, 3) * s[i * draws + 1], 1e-13);
        ck_assert(p[at("a/size/x")] / p0[at("a/size/x")] != size);
        ck_assert(p[at("a/restitution")] != p[at("b/restitution")]);
        ck_assert(p[at("a/friction")] == p0[at("a/friction")]);
    }
    free(P), free(one), free(s), tribo_random_free(r), tribo_random_free(again), tribo_random_free(other);
}
END_TEST

START_TEST(draws_are_distributed_as_said) {
    enum { N = 20000 };
    tribo_random_def d[ROWS];
    table(d);
    tribo_random *r = made(d, ROWS, 3);
    int draws = tribo_random_draws(r);
    double *P = world_zeros(z.np), s[16], sum[16] = {0}, square[16] = {0}, low[16], high[16];
    for (int k = 0; k < 16; k++) low[k] = HUGE_VAL, high[k] = -HUGE_VAL;
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(tribo_random_rows(r, NULL, i, 1, P, s), TRIBO_OK);
        s[2] = log(s[2]);
        for (int k = 0; k < draws; k++) {
            sum[k] += s[k] / N, square[k] += s[k] * s[k] / N;
            if (s[k] < low[k]) low[k] = s[k];
            if (s[k] > high[k]) high[k] = s[k];
        }
    }
    static const double range[][2] = {
        {0.4, 1.5}, {0.4, 1.5}, {-1.2039728, 1.0986123}, {0.95, 1.05}, {0.95, 1.05}, {0, 0.4}, {0, 0.4}, {0, 0.4}};
    for (int k = 0; k < 7; k++) {
        double width = range[k][1] - range[k][0], mean = 0.5 * (range[k][0] + range[k][1]);
        ck_assert(low[k] >= range[k][0] - 1e-7 && high[k] <= range[k][1] + 1e-7);
        ck_assert(low[k] < range[k][0] + 0.001 * width && high[k] > range[k][1] - 0.001 * width);
        NEAR(sum[k], mean, 5 * width / sqrt(12.0 * N));
        NEAR(square[k] - sum[k] * sum[k], width * width / 12, 0.02 * width * width / 12);
    }
    NEAR(sum[7], 0, 5 * 0.4 / sqrt((double)N));
    NEAR(sqrt(square[7]), 0.4, 0.01);
    free(P), tribo_random_free(r);
}
END_TEST

START_TEST(rows_have_their_reverse) { /* tribo_random_rows_vjp */
    enum { N = 3 };
    unsigned seed = 5;
    tribo_random_def d[ROWS];
    table(d);
    tribo_random *r = made(d, ROWS, 11);
    double *bar = world_zeros(N * z.np), *p = world_zeros(z.np), *p_bar = world_zeros(z.np), *P = world_zeros(N * z.np);
    double phi[2 * ROWS], phi_bar[2 * ROWS] = {0}, both[2];
    for (int i = 0; i < N * z.np; i++) bar[i] = test_random(&seed);
    tribo_random_get(r, phi);
    ck_assert_int_eq(tribo_random_rows_vjp(r, NULL, 4, N, bar, phi_bar, p_bar), TRIBO_OK);
    for (int k = 0; k < 2 * ROWS + z.np; k++) {
        double *number = k < 2 * ROWS ? &phi[k] : &p[k - 2 * ROWS], h = 1e-6;
        memcpy(p, p0, sizeof *p * (size_t)z.np);
        double was = *number;
        for (int side = 0; side < 2; side++) {
            *number = was + (side ? -h : h), both[side] = 0;
            ck_assert_int_eq(tribo_random_set(r, phi), TRIBO_OK);
            ck_assert_int_eq(tribo_random_rows(r, p, 4, N, P, NULL), TRIBO_OK);
            for (int i = 0; i < N * z.np; i++) both[side] += bar[i] * P[i];
        }
        *number = was;
        double found = k < 2 * ROWS ? phi_bar[k] : p_bar[k - 2 * ROWS], slope = (both[0] - both[1]) / (2 * h);
        /* what stands at a bound is held on one side of it */
        if (k >= 2 * ROWS && fabs(found - slope) > 1e-7 * (1 + fabs(slope))) {
            tribo_param_info info;
            ck_assert_int_eq(tribo_param_describe(m, k - 2 * ROWS, &info), TRIBO_OK);
            ck_assert_msg(was == info.lower || was == info.upper, "%s: %g, not %g", info.name, found, slope);
        } else {
            NEAR(found, slope, 1e-7 * (1 + fabs(slope)));
        }
    }
    free(bar), free(p), free(p_bar), free(P), tribo_random_free(r);
}
END_TEST

START_TEST(bounds_hold) {
    tribo_random_def d = tribo_default_random();
    d.name = FLOOR, d.nname = 1, d.a = -10, d.b = 10, d.add = true, d.upper = 0.7;
    tribo_random *r = made(&d, 1, 1);
    double *P = world_zeros(z.np), *bar = world_zeros(z.np), phi_bar[2];
    int mu = at("floor/friction"), low = 0, high = 0;
    bar[mu] = 1;
    for (int i = 0; i < 200; i++) {
        ck_assert_int_eq(tribo_random_rows(r, NULL, i, 1, P, NULL), TRIBO_OK);
        ck_assert(P[mu] >= 0 && P[mu] <= 0.7);
        low += P[mu] == 0, high += P[mu] == 0.7;
        phi_bar[0] = phi_bar[1] = 0;
        ck_assert_int_eq(tribo_random_rows_vjp(r, NULL, i, 1, bar, phi_bar, NULL), TRIBO_OK);
        ck_assert((P[mu] == 0 || P[mu] == 0.7) == (phi_bar[0] == 0 && phi_bar[1] == 0));
    }
    ck_assert(low > 50 && high > 50 && low + high < 200);
    free(P), free(bar), tribo_random_free(r);
}
END_TEST

/* ---- with worlds ---- */

enum { N = 32, T = 60 };
static double mean_loss(tribo_batch *b, tribo_random *r, double *phi_bar) {
    double *P = world_zeros(N * z.np), *P_bar = world_zeros(N * z.np), *end = world_zeros(N * z.nx), mean = 0;
    double *lx = world_zeros((T + 1) * z.ndx), *x0 = world_zeros(z.nx);
    tribo_model_state0(m, x0);
    x0[z.nq] = 1.5, x0[z.nq + 6] = 2, x0[z.nq + 7] = -1;
    tribo_worlds w = tribo_default_worlds();
    w.n = N, w.steps = T, w.p = P, w.x = x0, w.same_x = true;
    ck_assert_int_eq(tribo_random_rows(r, NULL, 0, N, P, NULL), TRIBO_OK);
    lx[T * z.ndx] = 1, lx[T * z.ndx + 6] = -0.5, lx[T * z.ndx + 7] = 2; /* where both are at the end */
    ck_assert_int_ge(tribo_batch_rollout(b, &w, NULL, end, NULL, NULL), 0);
    for (int i = 0; i < N; i++) mean += (end[i * z.nx] - 0.5 * end[i * z.nx + 7] + 2 * end[i * z.nx + 8]) / N;
    tribo_batch_loss loss = {.lx = lx, .same_lx = true};
    if (phi_bar) ck_assert_int_ge(tribo_batch_gradient(b, &w, &loss, &(tribo_batch_bars){.p = P_bar}, NULL), 0);
    for (int i = 0; i < N * z.np; i++) P_bar[i] /= N;
    if (phi_bar) ck_assert_int_eq(tribo_random_rows_vjp(r, NULL, 0, N, P_bar, phi_bar, NULL), TRIBO_OK);
    free(P), free(P_bar), free(end), free(lx), free(x0);
    return mean;
}

START_TEST(mean_loss_moves_with_the_randomisers) {
    tribo_batch_def def = tribo_default_batch();
    tribo_batch *b = NULL;
    tribo_random_def d[ROWS];
    def.workers = 2, def.steps = T;
    table(d);
    d[2].a = 0.99, d[2].b = 1.01; /* cubes that grow begin inside the floor, and are pushed out */
    tribo_random *r = made(d, ROWS, 2);
    double phi[2 * ROWS], phi_bar[2 * ROWS] = {0};
    ck_assert_int_eq(tribo_batch_new(m, &def, &b, NULL), TRIBO_OK);
    (void)mean_loss(b, r, phi_bar);
    tribo_random_get(r, phi);
    for (int k = 0; k < 2 * ROWS; k++) {
        double h = 1e-5, was = phi[k], side[2];
        if (k / 2 == 3 && k % 2 == 0) continue; /* restitution begins at its bound */
        for (int j = 0; j < 2; j++) {
            phi[k] = was + (j ? -h : h);
            ck_assert_int_eq(tribo_random_set(r, phi), TRIBO_OK);
            side[j] = mean_loss(b, r, NULL);
        }
        phi[k] = was;
        NEAR(phi_bar[k], (side[0] - side[1]) / (2 * h), 1e-6 * (1 + fabs(phi_bar[k])));
    }
    ck_assert(fabs(phi_bar[2]) > 0.01 && fabs(phi_bar[9]) > 0);
    tribo_random_free(r), tribo_batch_free(b);
}
END_TEST

/* ---- what is wrong ---- */

#define WRONG(status, word, change)                                                                                    \
    do {                                                                                                               \
        tribo_random_def d = tribo_default_random();                                                                   \
        tribo_random *r = NULL;                                                                                        \
        tribo_diag diag = {0};                                                                                         \
        d.name = FLOOR, d.nname = 1;                                                                                   \
        change;                                                                                                        \
        ck_assert_int_eq(tribo_random_new(m, &d, 1, 0, NULL, &r, &diag), status);                                      \
        ck_assert_ptr_null(r);                                                                                         \
        ck_assert_msg(strstr(diag.text, word) != NULL, "`%s` has no `%s`", diag.text, word);                           \
    } while (0)

START_TEST(randomisers_are_looked_at) {
    static const char *const none[] = {"floor/frictoin"}, *const nothing[] = {NULL}, *const empty[] = {""};
    static const char *const unmatched[] = {"*/mas"}, *const planes[] = {"floor/size"};
    static const char *const twice[] = {"floor/friction", "*/friction"};
    static const double bad[] = {NAN};
    WRONG(TRIBO_E_ARG, "names `floor/friction` twice", (d.name = twice, d.nname = 2));
    WRONG(TRIBO_E_ARG, "floor/frictoin", d.name = none);
    WRONG(TRIBO_E_ARG, "no parameter", d.name = nothing);
    WRONG(TRIBO_E_ARG, "no parameter", d.name = empty);
    WRONG(TRIBO_E_ARG, "*/mas", d.name = unmatched);
    WRONG(TRIBO_E_ARG, "floor/size", d.name = planes);
    WRONG(TRIBO_E_ARG, "names nothing", d.nname = 0);
    WRONG(TRIBO_E_ARG, "names nothing", d.name = NULL);
    WRONG(TRIBO_E_ARG, "distribution", d.draw = TRIBO_DRAW_END);
    WRONG(TRIBO_E_ARG, "share", d.share = (tribo_share)9);
    WRONG(TRIBO_E_ARG, "ends before", d.b = 0.5);
    WRONG(TRIBO_E_ARG, "not finite", d.a = NAN);
    WRONG(TRIBO_E_ARG, "not finite", d.b = INFINITY);
    WRONG(TRIBO_E_ARG, "power", d.power = bad);
    WRONG(TRIBO_E_ARG, "bounds", (d.lower = 2, d.upper = 1));
    WRONG(TRIBO_E_ARG, "bounds", d.lower = NAN);
    WRONG(TRIBO_E_ARG, "logarithm", (d.draw = TRIBO_DRAW_LOGUNIFORM, d.a = 0));
    WRONG(TRIBO_E_ARG, "deviation", (d.draw = TRIBO_DRAW_NORMAL, d.b = -1));
    WRONG(TRIBO_E_DEF, "tribo_default_random", d.struct_size = 1);
    tribo_random *r = NULL;
    double out[8] = {0}, phi[2] = {NAN, 1};
    char name[128];
    tribo_random_def d = tribo_default_random();
    d.name = FLOOR, d.nname = 1;
    ck_assert_int_eq(tribo_random_new(NULL, &d, 1, 0, NULL, &r, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_random_new(m, &d, -1, 0, NULL, &r, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_random_new(m, NULL, 1, 0, NULL, &r, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_random_new(m, &d, 1, 0, NULL, NULL, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_random_rows(NULL, NULL, 0, 1, out, NULL), TRIBO_E_ARG);
    r = made(&d, 1, 0);
    ck_assert_int_eq(tribo_random_rows(r, NULL, -1, 1, out, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_random_rows(r, NULL, 0, -1, out, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_random_rows(r, NULL, 0, 1, NULL, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_random_rows_vjp(r, NULL, 0, 1, NULL, out, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_random_set(r, phi), TRIBO_E_NONFINITE);
    phi[0] = 2;
    ck_assert_int_eq(tribo_random_set(r, phi), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_random_set(r, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_random_describe(r, 0, name), 0);
    ck_assert_str_eq(name, "floor/friction");
    ck_assert_int_eq(tribo_random_describe(r, 1, name), -1);
    ck_assert_int_eq(tribo_random_describe(NULL, 0, NULL), -1);
    tribo_random_free(r), tribo_random_free(NULL);
    r = made(NULL, 0, 0); /* none at all */
    ck_assert_int_eq(tribo_random_draws(r), 0);
    tribo_random_free(r);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("batch_random");
    TCase *t = tcase_create("random");
    tcase_set_timeout(t, 300);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_world_is_its_seed_and_number);
    tcase_add_test(t, draws_are_distributed_as_said);
    tcase_add_test(t, rows_have_their_reverse);
    tcase_add_test(t, bounds_hold);
    tcase_add_test(t, mean_loss_moves_with_the_randomisers);
    tcase_add_test(t, randomisers_are_looked_at);
    suite_add_tcase(s, t);
    return s;
}
