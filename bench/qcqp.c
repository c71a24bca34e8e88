/* qcqp.c -- what the QP and QCQP solver costs, in units of LAPACKE_dpotrf at the same n in the same run.
 *
 * usage: qcqp [--json] [--problems N] [--contacts NC]
 *
 * Cold: from zero. Warm: from the solution of the same problem with q moved by about one part in a thousand. Medians
 * over the problems of the least of some repetitions, in thread time; "p90" is the 90th percentile over the problems.
 */
#include "../tests/qcqp_problems.h"
#include <lapacke.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <tribo/qcqp.h>

void openblas_set_num_threads(int);

enum { NMAX = 128, ROUNDS = 5, MOST = 1000 };

typedef struct cell {
    double unit, cold, cold90, warm, warm90, back, back90; /* us; dpotrf, forward, reverse */
    double above6, above10;                                /* shares of problems left above 1e-6 and 1e-10 */
    double newton, admm;
} cell;

static double P[NMAX * NMAX], q[NMAX], q2[NMAX], r[NMAX], A[NMAX * NMAX];
static double x[NMAX], near[NMAX], start[NMAX], x_bar[NMAX], q_bar[NMAX], r_bar[NMAX], v[NMAX];

static double microseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}
static double quantile(double *a, int n, double share) {
    qsort(a, (size_t)n, sizeof *a, by_size);
    return a[(int)(share * (n - 1) + 0.5)];
}

/* max |x - proj(x - (Px + q))| over the size of q or r, from the definition: the solver is not asked. */
static double residual(const tribo_qcqp *qp, const double *at) {
    double worst = 0, scale = 0;
    double z[NMAX];
    for (int i = 0; i < qp->n; i++) {
        double g = qp->q[i], d = qp->P[i * qp->n + i], twin = qp->P[(i ^ 1) % qp->n * qp->n + (i ^ 1) % qp->n];
        if (qp->r && twin > d) d = twin;
        for (int j = 0; j < qp->n; j++) g += qp->P[i * qp->n + j] * at[j];
        z[i] = at[i] - g / d; /* a step that suits the mass */
        double s = fmax(fabs(at[i]), fabs(qp->q[i]) / d);
        scale = s > scale ? s : scale;
    }
    for (int i = 0; i < qp->n; i++) {
        double p = z[i] > 0 ? z[i] : 0;
        if (qp->r) {
            double h = hypot(z[i & ~1], z[i | 1]), rad = qp->r[i / 2];
            p = h > rad ? z[i] * (rad / h) : z[i];
        }
        double e = fabs(at[i] - p);
        if (!(e <= worst)) worst = e;
    }
    return scale > 0 ? worst / scale : worst;
}

/* Least time of one call in some rounds; each round repeats it long enough for the clock. */
#define LEAST(result, call)                                                                                            \
    do {                                                                                                               \
        double least = 1e300;                                                                                          \
        int times = 1;                                                                                                 \
        for (int round = 0; round <= ROUNDS; round++) {                                                                \
            double t0 = microseconds();                                                                                \
            for (int rep = 0; rep < times; rep++) {                                                                    \
                call;                                                                                                  \
            }                                                                                                          \
            double t = (microseconds() - t0) / times;                                                                  \
            if (round == 0) times = t < 30 ? 1 + (int)(30 / (t + 0.1)) : 1;                                            \
            if (round > 0 && t < least) least = t;                                                                     \
        }                                                                                                              \
        (result) = least;                                                                                              \
    } while (0)

static void must(bool ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "bench qcqp: %s\n", what);
    exit(1);
}

static double dpotrf_time(int n) {
    double whole, copy;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A[i * n + j] = i == j ? n : 1.0 / (1 + abs(i - j));
    static double work[NMAX * NMAX];
    size_t bytes = sizeof *A * (size_t)(n * n);
    int bad = 0;
    LEAST(copy, memcpy(work, A, bytes));
    LEAST(whole, memcpy(work, A, bytes); bad |= LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, work, n));
    must(bad == 0, "dpotrf failed");
    return whole - copy;
}

/* q2 := q + P z with impulses z of about a thousandth: a singular P stays consistent with it. */
static void move(int n, uint64_t *seed) {
    memcpy(q2, q, sizeof q2);
    for (int j = 0; j < n; j++) {
        double z = 1e-3 * draw(seed) * q[j] / P[j * n + j];
        for (int i = 0; i < n; i++) q2[i] += P[i * n + j] * z;
    }
}

static cell measure(tribo_qcqp_ws *ws, family f, int nc, int dim, int problems) {
    static double cold[MOST], warm[MOST], back[MOST], unit[MOST];
    cell c = {0};
    int n = dim * nc;
    size_t bytes = sizeof *x * (size_t)n;
    for (int k = 0; k < problems; k++) {
        uint64_t seed = (uint64_t)(1000 * nc + k);
        draw_problem(f, nc, dim, &seed, P, q, r);
        move(n, &seed);
        for (int i = 0; i < n; i++) x_bar[i] = draw(&seed);
        tribo_qcqp qp = {n, P, q, dim == 2 ? r : NULL}, moved = {n, P, q2, qp.r};
        tribo_qcqp_info info;
        tribo_status status = TRIBO_OK;
        if (k % 10 == 0) unit[k / 10] = dpotrf_time(n);
        memset(near, 0, bytes);
        status = tribo_qcqp_solve(ws, &moved, 1e-10, 0, near, NULL, NULL);
        LEAST(warm[k], memcpy(start, near, bytes); status = tribo_qcqp_solve(ws, &qp, 1e-10, 0, start, NULL, NULL));
        LEAST(cold[k], memset(x, 0, bytes); status = tribo_qcqp_solve(ws, &qp, 1e-10, 0, x, NULL, &info));
        must(status >= 0, "a solve was refused");
        double e = residual(&qp, x);
        c.above6 += !(e <= 1e-6), c.above10 += !(e <= 1e-10);
        c.newton += info.newton, c.admm += info.iterations;
        LEAST(back[k], status = tribo_qcqp_vjp(ws, &qp, x, x_bar, q_bar, dim == 2 ? r_bar : NULL, v, NULL));
        must(status >= 0, "a reverse was refused");
    }
    c.unit = quantile(unit, (problems + 9) / 10, 0.5);
    c.cold = quantile(cold, problems, 0.5), c.cold90 = quantile(cold, problems, 0.9);
    c.warm = quantile(warm, problems, 0.5), c.warm90 = quantile(warm, problems, 0.9);
    c.back = quantile(back, problems, 0.5), c.back90 = quantile(back, problems, 0.9);
    c.above6 /= problems, c.above10 /= problems, c.newton /= problems, c.admm /= problems;
    return c;
}

static void print_json(const char *kind, const char *name, int nc, const cell *c, bool first) {
    printf("%s\n{\"kind\":\"%s\",\"family\":\"%s\",\"nc\":%d,\"dpotrf_us\":%.4g,\"cold_us\":%.4g,\"cold_p90_us\":%.4g,"
           "\"warm_us\":%.4g,\"warm_p90_us\":%.4g,\"backward_us\":%.4g,\"backward_p90_us\":%.4g,\"above_1e-6\":%.4g,"
           "\"above_1e-10\":%.4g,\"newton\":%.4g,\"admm\":%.4g}",
           first ? "[" : ",", kind, name, nc, c->unit, c->cold, c->cold90, c->warm, c->warm90, c->back, c->back90,
           c->above6, c->above10, c->newton, c->admm);
}

static void print_row(const char *kind, const char *name, int nc, const cell *c, bool first) {
    if (first)
        printf("%-4s %-22s %3s %8s | %7s %6s %6s | %6s %6s %6s | %6s %6s %6s | %6s %6s | %6s %s\n", "", "", "nc",
               "dpotrf", "cold us", "units", "p90", "warm", "units", "p90", "back", "units", "p90", ">1e-6", ">1e-10",
               "Newton", "ADMM");
    printf("%-4s %-22s %3d %8.2f | %7.2f %6.2f %6.2f | %6.2f %6.2f %6.2f | %6.2f %6.2f %6.2f | %5.1f%% %5.1f%% | %6.2f "
           "%.1f\n",
           kind, name, nc, c->unit, c->cold, c->cold / c->unit, c->cold90 / c->unit, c->warm, c->warm / c->unit,
           c->warm90 / c->unit, c->back, c->back / c->unit, c->back90 / c->unit, 100 * c->above6, 100 * c->above10,
           c->newton, c->admm);
}

int main(int argc, char **argv) {
    bool json = false, first = true;
    int problems = 50, only = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json"))
            json = true;
        else if (!strcmp(argv[i], "--problems") && i + 1 < argc)
            problems = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--contacts") && i + 1 < argc)
            only = atoi(argv[++i]);
        else
            problems = 0;
    }
    if (problems < 1 || problems > MOST) {
        fprintf(stderr, "usage: qcqp [--json] [--problems 1..%d] [--contacts NC]\n", MOST);
        return 2;
    }
    openblas_set_num_threads(1);
    tribo_qcqp_ws *ws;
    must(tribo_qcqp_ws_new(NMAX, NULL, &ws) == TRIBO_OK, "no memory");
    for (int dim = 1; dim <= 2; dim++)
        for (int f = 0; f < FAMILIES; f++)
            for (int nc = 4; nc <= 64; nc *= 2) {
                if (only && only != nc) continue;
                cell c = measure(ws, (family)f, nc, dim, problems);
                (json ? print_json : print_row)(dim == 1 ? "QP" : "QCQP", family_name[f], nc, &c, first);
                fflush(stdout);
                first = false;
            }
    if (json) puts("\n]");
    tribo_qcqp_ws_free(ws);
    return 0;
}
