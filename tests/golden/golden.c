/* golden.c -- has a bit changed? Hashes of rollouts and gradients of the scenes, and of all laws and solvers on some of
 * them, compared with those that are kept, tests/golden/hashes.txt.
 *
 *   golden ROOT HASHES          compare; as a test does
 *   golden ROOT HASHES --write  keep what comes out now; says what changed, and by how much
 *
 * The library rounds alike with gcc and clang, optimized or not. The C library's functions and BLAS choose their code
 * by the machine: the first line of the file says what the machine had that it was written on, and elsewhere numbers
 * are compared as numbers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/tribo.h>

enum { CASES_MAX = 200, NAME_MAX_BYTES = 80 };
enum { ROLLOUT, GRADIENT, JACOBIAN, RESULTS };
static const char *const RESULT[RESULTS] = {"rollout", "gradient", "jacobian"};
/* On other machines: how far numbers may be apart, of their size. Gradients of a hundred steps multiply rounding. */
static const double APART[RESULTS] = {1e-9, 1e-5, 1e-7};

/* What is kept of numbers: a hash of their bits, their norm, and a sum in which no two weigh the same. */
typedef struct digest {
    unsigned long long hash;
    double norm, sum;
} digest;

typedef struct record {
    char name[NAME_MAX_BYTES];
    digest d[RESULTS];
} record;

static void die(const char *what, const char *why) {
    printf("%s: %s\n", what, why);
    exit(2);
}

static double *numbers(size_t n) {
    double *x = calloc(n + !n, sizeof *x);
    if (!x) die("golden", "out of memory");
    return x;
}

/* Numbers from -1 to 1 without a pattern of their own, from whole ones: no function that a machine rounds. */
static double weight(size_t k) {
    return (double)((k * 7919 + 104729) % 2001) / 1000 - 1;
}

static void digest_add(digest *d, const double *x, size_t n) {
    if (!d->hash) d->hash = 14695981039346656037ULL;
    double square = d->norm * d->norm;
    for (size_t k = 0; k < n; k++) {
        unsigned char byte[sizeof(double)];
        double plain = x[k] == 0 ? 0 : x[k]; /* no sign of zero */
        memcpy(byte, &plain, sizeof plain);
        for (size_t i = 0; i < sizeof byte; i++) d->hash = (d->hash ^ byte[i]) * 1099511628211ULL;
        square += x[k] * x[k], d->sum += weight(k) * x[k];
    }
    d->norm = sqrt(square);
}

static void say_status(tribo_status status, const char *name) {
    if (status < 0) die(name, tribo_status_text(status));
}

/* A rollout of a scene, its gradient for a loss on the last state, and the Jacobian of a step in the middle. */
static void run(const tribo_model *m, const tribo_options *o, int steps, record *r) {
    tribo_sizes n = tribo_model_sizes(m);
    tribo_ws *ws = NULL;
    tribo_tape *tape = NULL;
    say_status(tribo_ws_new(m, o, NULL, &ws, NULL), r->name);
    say_status(tribo_tape_new(ws, steps, 0, &tape), r->name);
    size_t nx = (size_t)n.nx, ndx = (size_t)n.ndx, nu = (size_t)n.nu, np = (size_t)n.np, T = (size_t)steps;
    double *p = numbers(np), *X = numbers((T + 1) * nx), *lx = numbers((T + 1) * ndx);
    double *x_bar = numbers(ndx), *u_bar = numbers(T * nu), *p_bar = numbers(np);
    double *A = numbers(ndx * ndx), *B = numbers(ndx * nu), *C = numbers(ndx * np), *U = numbers(T * nu);
    tribo_model_params(m, p);
    tribo_model_state0(m, X);
    for (size_t k = 0; k < T; k++) tribo_model_key(m, 0, NULL, U + k * nu);
    say_status(tribo_rollout(ws, p, X, steps, nu ? U : NULL, X, tape), r->name);
    for (size_t k = 0; k < ndx; k++) lx[T * ndx + k] = weight(k);
    say_status(tribo_backward(ws, tape, lx, x_bar, u_bar, p_bar), r->name);
    say_status(tribo_step_jac(ws, tape, steps / 2, A, B, C), r->name);
    digest_add(&r->d[ROLLOUT], X, (T + 1) * nx);
    digest_add(&r->d[GRADIENT], x_bar, ndx), digest_add(&r->d[GRADIENT], u_bar, T * nu);
    digest_add(&r->d[GRADIENT], p_bar, np);
    digest_add(&r->d[JACOBIAN], A, ndx * ndx), digest_add(&r->d[JACOBIAN], B, ndx * nu);
    digest_add(&r->d[JACOBIAN], C, ndx * np);
    free(p), free(X), free(lx), free(x_bar), free(u_bar), free(p_bar), free(A), free(B), free(C), free(U);
    tribo_tape_free(tape), tribo_ws_free(ws);
}

/* ---- the cases ---- */

static const char *const SCENES[] = {"data/scenes/bounce.xml",
                                     "data/scenes/collision.xml",
                                     "data/scenes/corner.xml",
                                     "data/scenes/capsules.xml",
                                     "data/scenes/cylinders.xml",
                                     "data/scenes/meshes.xml",
                                     "data/scenes/bumpy.xml",
                                     "data/scenes/cube-toss.xml",
                                     "data/scenes/pile.xml",
                                     "data/scenes/push.xml",
                                     "data/scenes/roll.xml",
                                     "data/scenes/slide.xml",
                                     "data/scenes/spin.xml",
                                     "data/scenes/stack.xml",
                                     "data/scenes/takeoff.xml",
                                     "data/scenes/throw.xml",
                                     "data/scenes/double-pendulum.xml",
                                     "data/scenes/cart-pole.xml",
                                     "data/scenes/walker.xml",
                                     "data/scenes/legs.xml",
                                     "data/scenes/arm.xml",
                                     "data/scenes/shoulder.xml",
                                     "data/scenes/four-bar.xml",
                                     "data/scenes/quadruped.xml",
                                     "data/scenes/quadruped-bumpy.xml",
                                     "data/scenes/driven.xml",
                                     "data/scenes/pendulum.xml",
                                     "data/scenes/finger.xml",
                                     "data/scenes/spinner.xml",
                                     "data/scenes/hopper.xml",
                                     "data/scenes/half-cheetah.xml",
                                     "data/scenes/arm-7.xml",
                                     "data/scenes/humanoid.xml",
                                     "data/scenes/hand.xml",
                                     "bench/scenes/s1-slide.xml",
                                     "bench/scenes/s1d-slide-diagonal.xml",
                                     "bench/scenes/s2-pull.xml",
                                     "bench/scenes/s3-heavy-on-light.xml",
                                     "bench/scenes/s4-pile-10.xml",
                                     "bench/scenes/s4-pile-100.xml"};
static const char *const LAWS_ON[] = {"data/scenes/stack.xml", "data/scenes/corner.xml"};

static int add_case(const tribo_model *m, const tribo_options *o, int steps, const char *scene, const char *how,
                    record *out, int n) {
    if (n == CASES_MAX) die(scene, "more cases than there is room for");
    const char *slash = strrchr(scene, '/');
    out[n] = (record){0};
    snprintf(out[n].name, sizeof out[n].name, "%s%s%s", slash ? slash + 1 : scene, *how ? ":" : "", how);
    run(m, o, steps, &out[n]);
    return n + 1;
}

static tribo_model *load(const char *root, const char *scene) {
    char path[4096];
    tribo_model *m = NULL;
    tribo_diag diag;
    snprintf(path, sizeof path, "%s/%s", root, scene);
    if (tribo_model_load(path, NULL, &m, &diag)) die(path, diag.text);
    return m;
}

/* Every law by every solver it has, raw too, rounds, a warm start. */
static int add_laws(const tribo_model *m, const char *scene, record *out, int n) {
    enum { STEPS = 15 };
    char how[64];
    for (int law = 1; law < TRIBO_LAW_END; law++) {
        tribo_solver solver;
        for (int k = 0; (solver = tribo_law_solver((tribo_law)law, k)) != TRIBO_SOLVER_DEFAULT; k++) {
            tribo_options o = tribo_default_options();
            o.law.law = (tribo_law)law, o.law.solver = solver;
            snprintf(how, sizeof how, "%s/%s", tribo_law_name(o.law.law), tribo_solver_name(solver));
            n = add_case(m, &o, STEPS, scene, how, out, n);
        }
    }
    tribo_options o = tribo_default_options();
    o.warm_start = true;
    n = add_case(m, &o, STEPS, scene, "warm", out, n);
    o = tribo_default_options(), o.rounds = 5, o.reverse = TRIBO_REVERSE_UNROLLED;
    n = add_case(m, &o, STEPS, scene, "rounds", out, n);
    o = tribo_default_options(), o.law.impact = TRIBO_IMPACT_NEWTON;
    return add_case(m, &o, STEPS, scene, "newton-impact", out, n);
}

static int all_cases(const char *root, record *out) {
    enum { STEPS = 100 };
    int n = 0;
    tribo_options o = tribo_default_options();
    for (size_t i = 0; i < sizeof SCENES / sizeof *SCENES; i++) {
        tribo_model *m = load(root, SCENES[i]);
        n = add_case(m, &o, tribo_model_sizes(m).nbody > 50 ? STEPS / 10 : STEPS, SCENES[i], "", out, n);
        tribo_model_free(m);
    }
    for (size_t i = 0; i < sizeof LAWS_ON / sizeof *LAWS_ON; i++) {
        tribo_model *m = load(root, LAWS_ON[i]);
        n = add_laws(m, LAWS_ON[i], out, n);
        tribo_model_free(m);
    }
    return n;
}

/* ---- what is kept ---- */

static const char *machine(void) {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    if (__builtin_cpu_supports("avx512f")) return "x86-64 avx512f";
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) return "x86-64 avx2 fma";
    return "x86-64";
#else
    return "another";
#endif
}

static int read_kept(const char *path, record *out, char *from, int from_bytes) {
    FILE *f = fopen(path, "r");
    *from = '\0';
    if (!f) return 0;
    int n = 0;
    char name[NAME_MAX_BYTES], result[16];
    digest d;
    if (fscanf(f, "# ") == EOF || !fgets(from, from_bytes, f)) *from = '\0';
    from[strcspn(from, "\n")] = '\0';
    while (fscanf(f, "%79s %15s %llx %lf %lf", name, result, &d.hash, &d.norm, &d.sum) == 5) {
        if (n == 0 || strcmp(out[n - 1].name, name) != 0) {
            if (n == CASES_MAX) break;
            out[n] = (record){0};
            memcpy(out[n++].name, name, sizeof name);
        }
        for (int k = 0; k < RESULTS; k++)
            if (strcmp(result, RESULT[k]) == 0) out[n - 1].d[k] = d;
    }
    fclose(f);
    return n;
}

static void write_kept(const char *path, const record *r, int n) {
    FILE *f = fopen(path, "w");
    if (!f) die(path, "cannot be written");
    fprintf(f, "# %s\n", machine());
    for (int i = 0; i < n; i++)
        for (int k = 0; k < RESULTS; k++)
            fprintf(f, "%s %s %016llx %.17g %.17g\n", r[i].name, RESULT[k], r[i].d[k].hash, r[i].d[k].norm,
                    r[i].d[k].sum);
    if (fclose(f)) die(path, "cannot be written");
}

static const record *find(const record *r, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(r[i].name, name) == 0) return &r[i];
    return NULL;
}

/* Whether a case is as it was; says so if it is not. */
static int same(const record *now, const record *kept, int bits) {
    int good = 1;
    if (!kept) return printf("%s is new\n", now->name), 0;
    for (int k = 0; k < RESULTS; k++) {
        const digest *a = &now->d[k], *b = &kept->d[k];
        double apart = fabs(a->sum - b->sum) / (b->norm > 0 ? b->norm : 1);
        if (bits ? a->hash == b->hash : apart <= APART[k]) continue;
        printf("%s: %s changed, by %.1e of its size\n", now->name, RESULT[k], apart);
        good = 0;
    }
    return good;
}

int main(int argc, char **argv) {
    static record now[CASES_MAX], kept[CASES_MAX];
    if (argc < 3) die("golden", "ROOT HASHES [--write]");
    int writes = argc > 3 && strcmp(argv[3], "--write") == 0;
    char from[80];
    int n = all_cases(argv[1], now), nkept = read_kept(argv[2], kept, from, sizeof from), bad = 0;
    int bits = strcmp(from, machine()) == 0;
    if (!bits && !writes) printf("hashes are of %s, this is %s: compared as numbers\n", from, machine());
    for (int i = 0; i < n; i++) bad += !same(&now[i], find(kept, nkept, now[i].name), bits);
    for (int i = 0; i < nkept; i++)
        if (!find(now, n, kept[i].name)) printf("%s is no more\n", kept[i].name), bad++;
    if (writes) return write_kept(argv[2], now, n), 0;
    if (bad) printf("a change that is meant: `./dev golden --write`, and a line in CHANGELOG.md under Numerics\n");
    printf("Checks: %d, Failures: %d, Errors: 0\n", n, bad);
    return bad != 0;
}
