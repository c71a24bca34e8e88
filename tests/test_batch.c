/* test_batch.c -- many worlds: the bits of one alone, whatever the threads, the order, the batch; worlds that fail. */
#include "mallocs.h"
#include "test_main.h"
#include "worlds.h"
#include <tribo/tribo.h>

enum { N = 37, T = 24 };
static tribo_model *m;
static tribo_sizes z;
static double *P, *X0, *U, *LX; /* (N,np), (N,nx), (N,T,nu), (N,T+1,ndx) */
static int horizon[N];

/* Everything that a batch says of N worlds. */
typedef struct answer {
    double *X, *end, *x_bar, *u_bar, *p_bar, *x_sum, *u_sum, *p_sum;
    int reached[N];
    tribo_status status[N];
} answer;

static answer *answer_new(void) {
    answer *a = calloc(1, sizeof *a);
    ck_assert_ptr_nonnull(a);
    a->X = world_zeros(N * (T + 1) * z.nx), a->end = world_zeros(N * z.nx);
    a->x_bar = world_zeros(N * z.ndx), a->u_bar = world_zeros(N * T * z.nu), a->p_bar = world_zeros(N * z.np);
    a->x_sum = world_zeros(z.ndx), a->u_sum = world_zeros(T * z.nu), a->p_sum = world_zeros(z.np);
    return a;
}

static void answer_free(answer *a) {
    free(a->X), free(a->end), free(a->x_bar), free(a->u_bar), free(a->p_bar);
    free(a->x_sum), free(a->u_sum), free(a->p_sum), free(a);
}

static void same(const double *a, const double *b, int n, const char *what) {
    for (int i = 0; i < n; i++) ck_assert_msg(a[i] == b[i], "%s: number %d is %.17g, not %.17g", what, i, a[i], b[i]);
}

static void answers_agree(const answer *a, const answer *b) {
    same(a->X, b->X, N * (T + 1) * z.nx, "X"), same(a->end, b->end, N * z.nx, "x_end");
    same(a->x_bar, b->x_bar, N * z.ndx, "x_bar"), same(a->u_bar, b->u_bar, N * T * z.nu, "u_bar");
    same(a->p_bar, b->p_bar, N * z.np, "p_bar"), same(a->x_sum, b->x_sum, z.ndx, "sum of x_bar");
    same(a->u_sum, b->u_sum, T * z.nu, "sum of u_bar"), same(a->p_sum, b->p_sum, z.np, "sum of p_bar");
    for (int i = 0; i < N; i++) {
        ck_assert_msg(a->status[i] == b->status[i], "status of world %d: %d, not %d", i, a->status[i], b->status[i]);
        ck_assert_int_eq(a->reached[i], b->reached[i]);
    }
}

/* A tumbling cube; every world another mass, friction, bounce, throw and push. */
static void setup(void) {
    unsigned seed = 7;
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.4, 0.2);
    world_box(b, "box", 1, 0.1, 0, 0, 0.13, world_material(0.5, 0));
    tribo_set_timestep(b, 0.01);
    m = world_build(b), z = tribo_model_sizes(m);
    P = world_zeros(N * z.np), X0 = world_zeros(N * z.nx), U = world_zeros(N * T * z.nu);
    LX = world_zeros(N * (T + 1) * z.ndx);
    int mass = tribo_param_find(m, "box/mass"), mu = tribo_param_find(m, "floor/friction");
    int e = tribo_param_find(m, "floor/restitution");
    for (int i = 0; i < N; i++) {
        tribo_model_params(m, P + i * z.np), tribo_model_state0(m, X0 + i * z.nx);
        P[i * z.np + mass] *= 1 + 0.5 * test_random(&seed);
        P[i * z.np + mu] *= 1 + 0.5 * test_random(&seed);
        P[i * z.np + e] = 0.3 + 0.3 * test_random(&seed);
        for (int k = 0; k < z.nv; k++) X0[i * z.nx + z.nq + k] = 2 * test_random(&seed);
        horizon[i] = i % 5 == 0 ? T : (int)(T * (0.5 + 0.5 * test_random(&seed)));
    }
    for (int k = 0; k < N * T * z.nu; k++) U[k] = test_random(&seed);
    for (int k = 0; k < N * (T + 1) * z.ndx; k++) LX[k] = test_random(&seed);
}

static void teardown(void) {
    free(P), free(X0), free(U), free(LX), tribo_model_free(m);
}

static tribo_batch *batch_by(const tribo_options *o, int workers, size_t tape_bytes) {
    tribo_batch_def def = tribo_default_batch();
    tribo_batch *b = NULL;
    tribo_diag diag = {0};
    def.workers = workers, def.steps = T, def.tape_bytes = tape_bytes, def.sum_controls = true, def.options = o;
    ck_assert_msg(tribo_batch_new(m, &def, &b, &diag) == TRIBO_OK, "%s", diag.text);
    return b;
}

static tribo_batch *batch_of(int workers, size_t tape_bytes) {
    return batch_by(NULL, workers, tape_bytes);
}

static tribo_worlds worlds(int first, int n) {
    tribo_worlds w = tribo_default_worlds();
    w.n = n, w.steps = T, w.horizon = horizon + first;
    w.p = P + first * z.np, w.x = X0 + first * z.nx, w.u = U + first * T * z.nu;
    return w;
}

/* Worlds first to first + n - 1 by a batch, into their rows. */
static void ask(tribo_batch *b, answer *a, int first, int n) {
    tribo_worlds w = worlds(first, n);
    tribo_batch_loss loss = {.lx = LX + first * (T + 1) * z.ndx};
    tribo_batch_bars rows = {.x = a->x_bar + first * z.ndx,
                             .u = a->u_bar + first * T * z.nu,
                             .p = a->p_bar + first * z.np,
                             .reached = a->reached + first};
    tribo_batch_bars sums = {.x = a->x_sum, .u = a->u_sum, .p = a->p_sum, .sum_x = true, .sum_u = true, .sum_p = true};
    tribo_status *status = a->status + first, before[N];
    memcpy(before, status, sizeof *status * (size_t)n);
    (void)!tribo_batch_rollout(b, &w, a->X + first * (T + 1) * z.nx, a->end + first * z.nx, NULL, status);
    memcpy(status, before, sizeof *status * (size_t)n);
    (void)!tribo_batch_gradient(b, &w, &loss, &rows, status);
    memcpy(status, before, sizeof *status * (size_t)n);
    (void)!tribo_batch_gradient(b, &w, &loss, &sums, status);
}

/* The same by the functions of one world. */
static answer *alone(void) {
    answer *a = answer_new();
    world w = world_of(m, NULL);
    world_steps(&w, T);
    for (int i = 0; i < N; i++) {
        double *X = a->X + i * (T + 1) * z.nx;
        tribo_tape_rewind(w.tape);
        tribo_status s = tribo_rollout(w.ws, P + i * z.np, X0 + i * z.nx, horizon[i], U + i * T * z.nu, X, w.tape);
        ck_assert_int_ge(s, 0);
        const double *lx = LX + i * (T + 1) * z.ndx;
        double *u_row = world_zeros(T * z.nu), *x_row = a->x_bar + i * z.ndx, *p_row = a->p_bar + i * z.np;
        tribo_status back = tribo_backward(w.ws, w.tape, lx, x_row, u_row, p_row);
        memcpy(a->u_bar + i * T * z.nu, u_row, sizeof(double) * (size_t)(T * z.nu));
        for (int k = 0; k < z.ndx; k++) a->x_sum[k] += x_row[k];
        for (int k = 0; k < z.np; k++) a->p_sum[k] += p_row[k];
        for (int k = 0; k < T * z.nu; k++) a->u_sum[k] += u_row[k];
        memcpy(a->end + i * z.nx, X + horizon[i] * z.nx, sizeof(double) * (size_t)z.nx);
        a->status[i] = back > s ? back : s, a->reached[i] = horizon[i];
        free(u_row);
    }
    w.m = NULL; /* goes on */
    world_free(&w);
    return a;
}

/* ---- bits ---- */

START_TEST(threads_and_memory_change_no_bit) {
    answer *want = alone();
    static const int workers[] = {1, 2, 3, 8};
    static const size_t bytes[] = {0, 1, 20000}; /* all of it, a step at a time, a few */
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 3; j++) {
            tribo_batch *b = batch_of(workers[k], bytes[j]);
            answer *got = answer_new();
            ask(b, got, 0, N);
            answers_agree(got, want);
            answer_free(got), tribo_batch_free(b);
        }
    answer_free(want);
}
END_TEST

START_TEST(parts_are_the_whole) {
    answer *want = alone(), *got = answer_new();
    tribo_batch *b = batch_of(2, 0);
    for (int first = 0, n = 1; first < N; first += n, n = n % 7 + 1) ask(b, got, first, n < N - first ? n : N - first);
    answers_agree(got, want);
    answer_free(got), answer_free(want), tribo_batch_free(b);
}
END_TEST

static double apart(const double *a, const double *b, int n) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]) / (1 + fabs(b[i])));
    return most;
}

/* Whether world i passes a point where slopes differ from side to side. */
static bool passes_a_kink(const answer *a, int i) {
    tribo_ws *ws = NULL;
    double *next = world_zeros(z.nx);
    int kinks = 0;
    ck_assert_int_eq(tribo_ws_new(m, NULL, NULL, &ws, NULL), TRIBO_OK);
    for (int k = 0; k < horizon[i]; k++) {
        const double *x = a->X + (i * (T + 1) + k) * z.nx;
        ck_assert_int_ge(tribo_step(ws, P + i * z.np, x, U + (i * T + k) * z.nu, next, NULL), 0);
        kinks += tribo_last_info(ws)->ndegenerate;
    }
    free(next), tribo_ws_free(ws);
    return kinks > 0;
}

/* The bits of one tape's length, whatever the threads; cold starts by rounding, where a world does not part from them
 * at a bounce, or at a kink to its other side. */
START_TEST(warm_starts_are_differentiated) {
    static const size_t bytes[] = {0, 1, 20000};
    answer *cold = alone();
    tribo_options o = tribo_default_options();
    o.warm_start = true;
    for (int j = 0; j < 3; j++) {
        answer *got[2] = {answer_new(), answer_new()};
        int parted = 0, wide = (T + 1) * z.nx, pushes = T * z.nu;
        for (int k = 0; k < 2; k++) {
            tribo_batch *b = batch_by(&o, k ? 3 : 1, bytes[j]);
            ask(b, got[k], 0, N);
            tribo_batch_free(b);
        }
        answers_agree(got[1], got[0]);
        for (int i = 0; i < N; i++) {
            bool other = apart(got[0]->x_bar + i * z.ndx, cold->x_bar + i * z.ndx, z.ndx) >= 1e-7;
            if (apart(got[0]->X + i * wide, cold->X + i * wide, wide) > 1e-9 || (other && passes_a_kink(cold, i))) {
                parted++;
                continue;
            }
            ck_assert(apart(got[0]->x_bar + i * z.ndx, cold->x_bar + i * z.ndx, z.ndx) < 1e-7);
            ck_assert(apart(got[0]->p_bar + i * z.np, cold->p_bar + i * z.np, z.np) < 1e-7);
            ck_assert(apart(got[0]->u_bar + i * pushes, cold->u_bar + i * pushes, pushes) < 1e-7);
        }
        ck_assert_int_le(parted, N / 10);
        answer_free(got[0]), answer_free(got[1]);
    }
    answer_free(cold);
}
END_TEST

/* More worlds than a block of sums holds; one row of everything for all of them. */
START_TEST(one_row_for_all) {
    enum { MANY = 300 };
    tribo_batch *b = batch_of(2, 0);
    tribo_worlds w = worlds(0, MANY);
    double *rows = world_zeros(MANY * z.np), *sum = world_zeros(z.np), *x = world_zeros(MANY * z.nx);
    w.horizon = NULL, w.same_p = w.same_x = w.same_u = true;
    tribo_batch_loss loss = {.lx = LX, .same_lx = true};
    ck_assert_int_ge(tribo_batch_gradient(b, &w, &loss, &(tribo_batch_bars){.p = rows}, NULL), 0);
    ck_assert_int_ge(tribo_batch_gradient(b, &w, &loss, &(tribo_batch_bars){.p = sum, .sum_p = true}, NULL), 0);
    ck_assert_int_ge(tribo_batch_rollout(b, &w, NULL, x, NULL, NULL), 0);
    double *want = world_zeros(z.np);
    for (int i = 0; i < MANY; i++) {
        same(rows + i * z.np, rows, z.np, "p_bar of equal worlds"),
            same(x + i * z.nx, x, z.nx, "x_end of equal worlds");
        for (int k = 0; k < z.np; k++) want[k] += rows[k];
    }
    same(sum, want, z.np, "sum");
    free(rows), free(sum), free(want), free(x), tribo_batch_free(b);
}
END_TEST

/* Step by step, in place, is the rollout. */
START_TEST(steps_are_rollouts) {
    tribo_batch *b = batch_of(3, 0);
    answer *want = answer_new();
    double *x = world_zeros(N * z.nx), *u = world_zeros(N * z.nu);
    tribo_worlds w = worlds(0, N);
    w.horizon = NULL;
    ck_assert_int_ge(tribo_batch_rollout(b, &w, want->X, want->end, want->reached, want->status), 0);
    memcpy(x, X0, sizeof *x * (size_t)(N * z.nx));
    w.steps = 1, w.x = x, w.u = u;
    for (int k = 0; k < T; k++) {
        for (int i = 0; i < N; i++) memcpy(u + i * z.nu, U + (i * T + k) * z.nu, sizeof *u * (size_t)z.nu);
        ck_assert_int_ge(tribo_batch_step(b, &w, x, NULL), 0);
        for (int i = 0; i < N; i++) same(x + i * z.nx, want->X + (i * (T + 1) + k + 1) * z.nx, z.nx, "step");
    }
    same(x, want->end, N * z.nx, "x_end");
    for (int i = 0; i < N; i++) ck_assert_int_eq(want->reached[i], T);
    answer_free(want), free(x), free(u), tribo_batch_free(b);
}
END_TEST

/* ---- functions of the state ---- */

/* Height times a weight, and the square of the push; a world whose box has fallen below a height ends. */
typedef struct fall {
    double weight, floor;
    int fails; /* this world does */
} fall;

static tribo_status fall_cost(void *context, int row, int step, const double *x, const double *u, double *cost,
                              double *lx, double *lu) {
    const fall *f = context;
    if (row == f->fails && step == 3) return TRIBO_E_ARG;
    *cost += f->weight * (step + 1) * x[2] * x[2];
    if (lx) lx[2] += 2 * f->weight * (step + 1) * x[2];
    bool end = x[2] < f->floor;
    for (int k = 0; u && !end && k < z.nu; k++) {
        *cost += 0.5 * u[k] * u[k];
        if (lu) lu[k] += u[k];
    }
    return end ? TRIBO_INTERRUPTED : TRIBO_OK;
}

START_TEST(costs_are_differentiated) {
    fall f = {0.7, 0.11, -1};
    tribo_batch *b = batch_of(2, 20000);
    tribo_worlds w = worlds(0, N);
    tribo_batch_loss loss = {.function = fall_cost, .context = &f};
    double cost[N], plain[N], *u_bar = world_zeros(N * T * z.nu), *p_bar = world_zeros(N * z.np);
    int reached[N], ended = 0;
    tribo_batch_bars bars = {.cost = cost, .u = u_bar, .p = p_bar, .reached = reached};
    ck_assert_int_ge(tribo_batch_gradient(b, &w, &loss, &bars, NULL), 0);
    ck_assert_int_ge(tribo_batch_gradient(b, &w, &loss, &(tribo_batch_bars){.cost = plain}, NULL), 0);
    same(plain, cost, N, "cost without gradients");
    for (int i = 0; i < N; i++) {
        ended += reached[i] < horizon[i];
        for (int k = reached[i] * z.nu; k < T * z.nu; k++) ck_assert(u_bar[i * T * z.nu + k] == 0);
    }
    ck_assert_int_gt(ended, 3);
    ck_assert_int_lt(ended, N - 3);
    int mass = tribo_param_find(m, "box/mass"), checked = 0;
    double *p = world_zeros(N * z.np), up[N], down[N];
    int up_steps[N], down_steps[N];
    for (int sign = 1; sign >= -1; sign -= 2) {
        memcpy(p, P, sizeof *p * (size_t)(N * z.np));
        for (int i = 0; i < N; i++) p[i * z.np + mass] += sign * 1e-6;
        w.p = p;
        tribo_batch_bars o = {.cost = sign > 0 ? up : down, .reached = sign > 0 ? up_steps : down_steps};
        ck_assert_int_ge(tribo_batch_gradient(b, &w, &loss, &o, NULL), 0);
    }
    for (int i = 0; i < N; i++) {
        double slope = (up[i] - down[i]) / 2e-6, g = p_bar[i * z.np + mass];
        if (up_steps[i] != down_steps[i]) continue;
        checked += fabs(slope - g) <= 1e-6 * (1 + fabs(g));
    }
    ck_assert_msg(checked >= N - 2, "%d of %d agree with differences", checked, N);
    free(p), free(u_bar), free(p_bar), tribo_batch_free(b);
}
END_TEST

/* ---- worlds that fail ---- */

START_TEST(failures_stay_alone) {
    answer *want = alone(), *got = answer_new();
    tribo_batch *b = batch_of(3, 0);
    int mass = tribo_param_find(m, "box/mass");
    double kept_x = X0[4 * z.nx], kept_p = P[9 * z.np + mass], kept_l = LX[12 * (T + 1) * z.ndx];
    X0[4 * z.nx] = NAN, P[9 * z.np + mass] = -1, LX[12 * (T + 1) * z.ndx] = INFINITY;
    got->status[20] = TRIBO_E_IO; /* was left out before */
    ask(b, got, 0, N);
    static const struct {
        int world;
        tribo_status status;
    } bad[] = {{4, TRIBO_E_NONFINITE}, {9, TRIBO_E_ARG}, {12, TRIBO_E_NONFINITE}, {20, TRIBO_E_IO}};
    memset(want->x_sum, 0, sizeof(double) * (size_t)z.ndx), memset(want->p_sum, 0, sizeof(double) * (size_t)z.np);
    memset(want->u_sum, 0, sizeof(double) * (size_t)(T * z.nu));
    for (int i = 0, k = 0; i < N; i++) {
        if (k < 4 && i == bad[k].world) {
            ck_assert_int_eq(got->status[i], bad[k++].status);
            continue;
        }
        ck_assert_int_eq(got->status[i], want->status[i]);
        same(got->X + i * (T + 1) * z.nx, want->X + i * (T + 1) * z.nx, (T + 1) * z.nx, "X of a neighbour");
        same(got->p_bar + i * z.np, want->p_bar + i * z.np, z.np, "p_bar of a neighbour");
        for (int j = 0; j < z.ndx; j++) want->x_sum[j] += want->x_bar[i * z.ndx + j];
        for (int j = 0; j < z.np; j++) want->p_sum[j] += want->p_bar[i * z.np + j];
        for (int j = 0; j < T * z.nu; j++) want->u_sum[j] += want->u_bar[i * T * z.nu + j];
    }
    same(got->p_sum, want->p_sum, z.np, "sum of p_bar"), same(got->u_sum, want->u_sum, T * z.nu, "sum of u_bar");
    same(got->x_sum, want->x_sum, z.ndx, "sum of x_bar");
    for (int k = 0; k < z.nx; k++) ck_assert(got->X[20 * (T + 1) * z.nx + k] == 0);
    for (int k = 0; k < z.np; k++) ck_assert(got->p_bar[4 * z.np + k] == 0 && got->p_bar[12 * z.np + k] == 0);
    /* mended and set back, they go like the others; the answer is that of worlds which never failed */
    X0[4 * z.nx] = kept_x, P[9 * z.np + mass] = kept_p, LX[12 * (T + 1) * z.ndx] = kept_l;
    answer *again = answer_new();
    ask(b, again, 0, N);
    answer *whole = alone();
    answers_agree(again, whole);
    answer_free(whole), answer_free(again), answer_free(got), answer_free(want), tribo_batch_free(b);
}
END_TEST

/* Of no steps a world is told of as its first step would tell. */
START_TEST(no_steps_of_no_world) {
    tribo_batch *b = batch_of(2, 0);
    double *end = world_zeros(N * z.nx);
    tribo_status status[N] = {TRIBO_OK};
    tribo_worlds w = worlds(0, N);
    w.horizon = NULL, w.steps = 0, X0[4 * z.nx + 1] = NAN, P[9 * z.np] = INFINITY;
    ck_assert_int_eq(tribo_batch_rollout(b, &w, NULL, end, NULL, status), TRIBO_E_NONFINITE);
    for (int i = 0; i < N; i++) ck_assert_int_eq(status[i], i == 4 || i == 9 ? TRIBO_E_NONFINITE : TRIBO_OK);
    same(end + 5 * z.nx, X0 + 5 * z.nx, z.nx, "a state that went nowhere");
    for (int k = 0; k < z.nx; k++) ck_assert(end[4 * z.nx + k] == 0 && end[9 * z.nx + k] == 0);
    free(end), tribo_batch_free(b);
}
END_TEST

/* In the middle of a rollout: what came before is there, and says how far. */
START_TEST(failure_on_the_way) {
    tribo_batch *b = batch_of(2, 0);
    double kept = U[(5 * T + 7) * z.nu], *X = world_zeros(N * (T + 1) * z.nx), *end = world_zeros(N * z.nx);
    int reached[N];
    tribo_status status[N] = {TRIBO_OK};
    tribo_worlds w = worlds(0, N);
    w.horizon = NULL, U[(5 * T + 7) * z.nu] = NAN;
    ck_assert_int_eq(tribo_batch_rollout(b, &w, X, end, reached, status), TRIBO_E_NONFINITE);
    ck_assert_int_eq(tribo_batch_rollout(b, &w, X, end, reached, NULL), TRIBO_E_NONFINITE);
    ck_assert_int_eq(reached[5], 7);
    same(end + 5 * z.nx, X + (5 * (T + 1) + 7) * z.nx, z.nx, "where it stopped");
    for (int k = 8 * z.nx; k < (T + 1) * z.nx; k++) ck_assert(X[5 * (T + 1) * z.nx + k] == 0);
    fall f = {1, 0, 6};
    double cost[N] = {0};
    for (int i = 0; i < N; i++) status[i] = TRIBO_OK;
    tribo_batch_loss loss = {.function = fall_cost, .context = &f};
    ck_assert_int_eq(tribo_batch_gradient(b, &w, &loss, &(tribo_batch_bars){.cost = cost}, status), TRIBO_E_NONFINITE);
    ck_assert(status[6] == TRIBO_E_ARG && cost[6] == 0 && cost[5] == 0 && cost[7] > 0);
    U[(5 * T + 7) * z.nu] = kept;
    free(X), free(end), tribo_batch_free(b);
}
END_TEST

/* ---- directions ---- */

START_TEST(directions_agree_with_the_reverse) {
    enum { DIRS = 2 };
    unsigned seed = 3;
    tribo_batch *b = batch_of(2, 0);
    answer *a = answer_new();
    for (int i = 0; i < N; i++) /* the last state alone */
        for (int k = 0; k < (T + 1) * z.ndx; k++) LX[i * (T + 1) * z.ndx + k] *= k / z.ndx == horizon[i];
    ask(b, a, 0, N);
    double *xd = world_zeros(N * DIRS * z.ndx), *ud = world_zeros(N * T * DIRS * z.nu),
           *out = world_zeros(N * DIRS * z.ndx);
    double *pd = world_zeros(N * DIRS * z.np), *end = world_zeros(N * z.nx);
    for (int k = 0; k < N * DIRS * z.ndx; k++) xd[k] = test_random(&seed);
    for (int k = 0; k < N * T * DIRS * z.nu; k++) ud[k] = test_random(&seed);
    int mass = tribo_param_find(m, "box/mass");
    for (int k = 0; k < N * DIRS; k++) pd[k * z.np + mass] = test_random(&seed);
    tribo_worlds w = worlds(0, N);
    ck_assert_int_ge(tribo_batch_jvp(b, &w, DIRS, xd, ud, pd, end, out, NULL), 0);
    same(end, a->end, N * z.nx, "x_end");
    for (int i = 0; i < N; i++)
        for (int d = 0; d < DIRS; d++) {
            double left = 0, right = 0;
            const double *lx = LX + (i * (T + 1) + horizon[i]) * z.ndx;
            for (int k = 0; k < z.ndx; k++)
                left += lx[k] * out[(i * DIRS + d) * z.ndx + k],
                    right += a->x_bar[i * z.ndx + k] * xd[(i * DIRS + d) * z.ndx + k];
            for (int k = 0; k < z.np; k++) right += a->p_bar[i * z.np + k] * pd[(i * DIRS + d) * z.np + k];
            for (int t = 0; t < T; t++)
                for (int k = 0; k < z.nu; k++)
                    right += a->u_bar[(i * T + t) * z.nu + k] * ud[((i * T + t) * DIRS + d) * z.nu + k];
            NEAR(left, right, 1e-8 * (1 + fabs(right)));
        }
    ck_assert_int_ge(tribo_batch_jvp(b, &w, DIRS, NULL, NULL, NULL, NULL, xd, NULL), 0);
    for (int k = 0; k < N * DIRS * z.ndx; k++) ck_assert(xd[k] == 0);
    free(xd), free(ud), free(out), free(pd), free(end), answer_free(a), tribo_batch_free(b);
    teardown(), setup();
}
END_TEST

START_TEST(jacobians_are_those_of_a_step) {
    tribo_batch *b = batch_of(3, 0);
    world one = world_of(m, NULL);
    world_steps(&one, 1);
    int a = z.ndx * z.ndx, c = z.ndx * z.np, bb = z.ndx * z.nu;
    double *A = world_zeros(N * a), *B = world_zeros(N * bb), *C = world_zeros(N * c), *x = world_zeros(N * z.nx);
    double *A1 = world_zeros(a), *B1 = world_zeros(bb), *C1 = world_zeros(c), *x1 = world_zeros(z.nx);
    tribo_worlds w = worlds(0, N);
    w.steps = 1, w.horizon = NULL;
    ck_assert_int_ge(tribo_batch_jac(b, &w, x, A, B, C, NULL), 0);
    for (int i = 0; i < N; i++) {
        tribo_tape_rewind(one.tape);
        ck_assert_int_ge(tribo_step(one.ws, P + i * z.np, X0 + i * z.nx, U + i * z.nu, x1, one.tape), 0);
        ck_assert_int_ge(tribo_step_jac(one.ws, one.tape, 0, A1, B1, C1), 0);
        same(x + i * z.nx, x1, z.nx, "x_next"), same(A + i * a, A1, a, "A"), same(B + i * bb, B1, bb, "B");
        same(C + i * c, C1, c, "C");
    }
    free(A), free(B), free(C), free(x), free(A1), free(B1), free(C1), free(x1);
    one.m = NULL, world_free(&one), tribo_batch_free(b);
}
END_TEST

/* ---- memory ---- */

START_TEST(nothing_allocates_after_creation) {
    tribo_batch *b = batch_of(3, 20000);
    answer *a = answer_new();
    ask(b, a, 0, N);
    int before = mallocs;
    ask(b, a, 0, N);
    ck_assert_int_eq(mallocs, before);
    answer_free(a), tribo_batch_free(b);
}
END_TEST

typedef struct stock {
    size_t now;
    int calls, fail_at;
} stock;

static void *stock_alloc(void *ctx, size_t bytes, size_t align) {
    stock *s = ctx;
    if (++s->calls == s->fail_at) return NULL;
    s->now += bytes;
    return aligned_alloc(align, bytes);
}

static void stock_release(void *ctx, void *p, size_t bytes, size_t align) {
    (void)align;
    ((stock *)ctx)->now -= bytes;
    free(p);
}

/* Whichever allocation fails, there is a status and nothing is lost; what is held is what it says. */
START_TEST(any_allocation_may_fail) {
    tribo_status s = TRIBO_E_NOMEM;
    for (int at = 1; s == TRIBO_E_NOMEM; at++) {
        stock k = {.fail_at = at};
        tribo_allocator alloc = {stock_alloc, stock_release, &k};
        tribo_batch_def def = tribo_default_batch();
        tribo_batch *b = NULL;
        tribo_diag diag = {0};
        def.workers = 3, def.steps = T, def.allocator = &alloc;
        s = tribo_batch_new(m, &def, &b, &diag);
        if (s == TRIBO_OK) {
            ck_assert_int_gt(at, 6);
            ck_assert_msg(tribo_batch_bytes(b) <= k.now && k.now <= tribo_batch_bytes(b) + 64 * 20, "%zu, not %zu",
                          tribo_batch_bytes(b), k.now);
        } else {
            ck_assert(!b && s == TRIBO_E_NOMEM && *diag.text);
        }
        tribo_batch_free(b);
        ck_assert_int_eq((int)k.now, 0);
    }
}
END_TEST

/* Memory knows nothing of the number of worlds. */
START_TEST(many_short_worlds) {
    enum { MANY = 16384, STEPS = 3 };
    tribo_batch *b = batch_of(2, 0);
    double *x = world_zeros(MANY * z.nx), *p = world_zeros(MANY * z.np), *bar = world_zeros(MANY * z.np);
    for (int i = 0; i < MANY; i++) {
        memcpy(x + i * z.nx, X0 + i % N * z.nx, sizeof *x * (size_t)z.nx);
        memcpy(p + i * z.np, P + i % N * z.np, sizeof *p * (size_t)z.np);
    }
    tribo_worlds w = tribo_default_worlds();
    w.n = MANY, w.steps = STEPS, w.p = p, w.x = x;
    tribo_batch_loss loss = {.lx = LX, .same_lx = true};
    ck_assert_int_ge(tribo_batch_gradient(b, &w, &loss, &(tribo_batch_bars){.p = bar}, NULL), 0);
    for (int i = N; i < MANY; i++) same(bar + i * z.np, bar + i % N * z.np, z.np, "p_bar");
    ck_assert_int_ge(tribo_batch_rollout(b, &w, NULL, x, NULL, NULL), 0);
    for (int i = N; i < MANY; i++) same(x + i * z.nx, x + i % N * z.nx, z.nx, "x_end in place");
    free(x), free(p), free(bar), tribo_batch_free(b);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("batch");
    TCase *t = tcase_create("batch");
    TCase *many = tagged_case(s, "many", "many");
    tcase_set_timeout(t, 300);
    tcase_add_checked_fixture(t, setup, teardown), tcase_add_checked_fixture(many, setup, teardown);
    tcase_add_test(t, threads_and_memory_change_no_bit);
    tcase_add_test(t, parts_are_the_whole);
    tcase_add_test(t, warm_starts_are_differentiated);
    tcase_add_test(t, one_row_for_all);
    tcase_add_test(t, steps_are_rollouts);
    tcase_add_test(t, costs_are_differentiated);
    tcase_add_test(t, failures_stay_alone);
    tcase_add_test(t, no_steps_of_no_world);
    tcase_add_test(t, failure_on_the_way);
    tcase_add_test(t, directions_agree_with_the_reverse);
    tcase_add_test(t, jacobians_are_those_of_a_step);
    tcase_add_test(t, nothing_allocates_after_creation);
    tcase_add_test(t, any_allocation_may_fail);
    tcase_add_test(many, many_short_worlds);
    suite_add_tcase(s, t);
    return s;
}
