/* test_checkpoint.c -- gradients in bounded memory: the schedule, the bits, the bytes. */
#include "test_main.h"
#include "worlds.h"
#include <limits.h>

/* ---- an allocator that counts ---- */

typedef struct counter {
    size_t now, peak;
    int calls;
    int fail_at; /* this call gets nothing; 0 = none */
} counter;

static void *count_alloc(void *ctx, size_t bytes, size_t align) {
    counter *c = ctx;
    if (++c->calls == c->fail_at) return NULL;
    void *p = aligned_alloc(align, (bytes + align - 1) / align * align);
    if (p) c->now += bytes;
    if (c->now > c->peak) c->peak = c->now;
    return p;
}

static void count_release(void *ctx, void *p, size_t bytes, size_t align) {
    (void)align;
    ((counter *)ctx)->now -= bytes;
    free(p);
}

/* ---- the schedule ---- */

START_TEST(reach_is_binomial) {
    static const struct {
        int s, r;
        long steps;
    } known[] = {{3, 3, 20}, {10, 3, 286}, {20, 3, 1771}, {50, 2, 1326}, {1, 5, 6}, {5, 0, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_int_eq(tribo_checkpoint_reach(known[i].s, known[i].r), known[i].steps);
    ck_assert_int_eq(tribo_checkpoint_reach(0, 3), 0);
    ck_assert_int_eq(tribo_checkpoint_reach(1000000, 1000000), LONG_MAX);
}
END_TEST

/* The least number of advances, by trying every split. */
static long fewest(int n, int s, long (*known)[8]) {
    if (n <= 1) return 0;
    if (s < 1) return LONG_MAX / 4;
    if (known[n][s]) return known[n][s];
    long best = LONG_MAX / 4;
    for (int m = 1; m < n; m++) {
        long cost = m + fewest(n - m, s - 1, known) + fewest(m, s, known);
        if (cost < best) best = cost;
    }
    return known[n][s] = best;
}

START_TEST(no_schedule_takes_fewer_steps) {
    static long known[101][8];
    for (int s = 1; s < 8; s++)
        for (int T = 1; T <= 100; T++) {
            long wanted = T + fewest(T, s, known), found = tribo_checkpoint_steps(T, s);
            ck_assert_msg(found == wanted, "%d steps, %d snapshots: %ld, not %ld", T, s, found, wanted);
        }
    /* At the reach of r sweeps, one step more costs r + 2: r + 1 advances and its record. */
    ck_assert_int_eq(tribo_checkpoint_steps(21, 3) - tribo_checkpoint_steps(20, 3), 5);
    ck_assert_int_eq(tribo_checkpoint_steps(20, 3) - tribo_checkpoint_steps(19, 3), 4);
}
END_TEST

/* ---- the bits ---- */

/* A ball and a box that bounce, slide and collide. */
static tribo_model *lively(void) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.3, 0.5);
    world_ball(b, "ball", 0.5, 0.1, -0.35, 0.02, 0.1, world_material(0.2, 0.6));
    world_box(b, "box", 1, 0.1, 0, 0, 0.1, world_material(0.2, 0.6));
    double v[12] = {3, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 1};
    tribo_set_start(b, NULL, v);
    tribo_set_timestep(b, 2e-3);
    return world_build(b);
}

static void weigh(world *w) {
    unsigned seed = 5;
    for (int i = 0; i < (w->T + 1) * w->n.ndx; i++) w->lx[i] = sin(++seed);
    for (int i = 0; i < w->T * w->n.nu; i++) w->U[i] = 0.1 * cos(++seed);
}

START_TEST(same_bits_as_a_full_tape) {
    world w = world_of(lively(), NULL);
    static const int lengths[] = {0, 1, 2, 7, 20, 101};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        int T = lengths[l];
        world_steps(&w, T > 0 ? T : 1);
        w.T = T;
        weigh(&w);
        world_run(&w);
        world_reverse(&w);
        for (int s = 1; s <= 10; s += s < 4 ? 1 : 3) {
            tribo_checkpoint *c = NULL;
            double *x_bar = world_zeros(w.n.ndx), *u_bar = world_zeros(T * w.n.nu), *p_bar = world_zeros(w.n.np);
            long steps = -1;
            ck_assert_int_eq(tribo_checkpoint_new(w.ws, s, &c), TRIBO_OK);
            ck_assert_int_eq(tribo_checkpoint_backward(c, w.ws, w.p, w.x0, T, w.U, w.lx, x_bar, u_bar, p_bar, &steps),
                             TRIBO_OK);
            ck_assert_int_eq(steps, tribo_checkpoint_steps(T, s));
            ck_assert_mem_eq(x_bar, w.x_bar, sizeof(double) * (size_t)w.n.ndx);
            ck_assert_mem_eq(p_bar, w.p_bar, sizeof(double) * (size_t)w.n.np);
            if (T) ck_assert_mem_eq(u_bar, w.u_bar, sizeof(double) * (size_t)(T * w.n.nu));
            tribo_checkpoint_free(c);
            free(x_bar), free(u_bar), free(p_bar);
        }
    }
    double impact = fabs(world_p_bar(&w, "ball/restitution"));
    ck_assert_msg(impact > 1e-3, "the bodies never met: %g", impact); /* or the comparison was of nothing */
    world_free(&w);
}
END_TEST

/* ---- the bytes ---- */

START_TEST(memory_is_bounded_by_the_snapshots) {
    tribo_model *m = lively();
    tribo_sizes n = tribo_model_sizes(m);
    enum { T = 1771 };
    double *lx = world_zeros((T + 1) * n.ndx), *p = world_zeros(n.np), *x0 = world_zeros(n.nx),
           *bar = world_zeros(n.np);
    tribo_model_params(m, p);
    tribo_model_state0(m, x0);
    lx[T * n.ndx] = 1;
    for (int s = 5; s <= 20; s += 15) {
        counter count = {0};
        tribo_allocator a = {count_alloc, count_release, &count};
        tribo_ws *ws = NULL;
        tribo_checkpoint *c = NULL;
        ck_assert_int_eq(tribo_ws_new(m, NULL, &a, &ws, NULL), TRIBO_OK);
        size_t before = count.now;
        ck_assert_int_eq(tribo_checkpoint_new(ws, s, &c), TRIBO_OK);
        int calls = count.calls;
        size_t bound = tribo_tape_bytes(ws, 1, tribo_ws_options(ws).ncon_max) + 4096 +
                       (size_t)s * (sizeof(int) + sizeof(double) * (size_t)n.nx) + sizeof(double) * (size_t)n.np;
        ck_assert_int_eq(tribo_checkpoint_backward(c, ws, p, x0, T, NULL, lx, NULL, NULL, bar, NULL), TRIBO_OK);
        ck_assert_int_eq(count.calls, calls); /* nothing on the way */
        ck_assert_msg(count.peak - before <= bound, "%zu bytes, expected %zu at most", count.peak - before, bound);
        tribo_checkpoint_free(c);
        ck_assert_uint_eq(count.now, before);
        tribo_ws_free(ws);
        ck_assert_uint_eq(count.now, 0);
    }
    free(lx), free(p), free(x0), free(bar);
    tribo_model_free(m);
}
END_TEST

START_TEST(bad_arguments_and_no_memory) {
    tribo_model *m = lively();
    counter count = {0};
    tribo_allocator a = {count_alloc, count_release, &count};
    tribo_options o = tribo_default_options();
    tribo_ws *ws = NULL, *warm = NULL;
    tribo_checkpoint *c = NULL;
    double x[32], p[128], lx[2 * 24] = {0}, bar[24] = {0}, nothing[24] = {0};
    tribo_model_params(m, p), tribo_model_state0(m, x);
    ck_assert_int_eq(tribo_ws_new(m, &o, &a, &ws, NULL), TRIBO_OK);
    o.warm_start = true;
    ck_assert_int_eq(tribo_ws_new(m, &o, &a, &warm, NULL), TRIBO_OK);
    size_t before = count.now;
    for (int k = 1; k <= 2; k++) {
        count.fail_at = count.calls + k;
        ck_assert_int_eq(tribo_checkpoint_new(ws, 3, &c), TRIBO_E_NOMEM);
        ck_assert_ptr_null(c);
        ck_assert_uint_eq(count.now, before);
    }
    ck_assert_int_eq(tribo_checkpoint_new(ws, 0, &c), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_checkpoint_new(ws, 3, &c), TRIBO_OK);
    lx[24] = 1;
    ck_assert_int_eq(tribo_checkpoint_backward(c, warm, p, x, 1, NULL, lx, bar, NULL, NULL, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_checkpoint_backward(c, ws, p, x, -1, NULL, lx, bar, NULL, NULL, NULL), TRIBO_E_ARG);
    x[0] = (double)NAN;
    ck_assert_int_eq(tribo_checkpoint_backward(c, ws, p, x, 1, NULL, lx, bar, NULL, NULL, NULL), TRIBO_E_NONFINITE);
    ck_assert_mem_eq(bar, nothing, sizeof bar);
    tribo_checkpoint_free(c), tribo_checkpoint_free(NULL);
    tribo_ws_free(ws), tribo_ws_free(warm);
    ck_assert_uint_eq(count.now, 0);
    tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("checkpoint");
    TCase *t = tcase_create("checkpoint");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, reach_is_binomial);
    tcase_add_test(t, no_schedule_takes_fewer_steps);
    tcase_add_test(t, same_bits_as_a_full_tape);
    tcase_add_test(t, memory_is_bounded_by_the_snapshots);
    tcase_add_test(t, bad_arguments_and_no_memory);
    suite_add_tcase(s, t);
    return s;
}
