/* fuzz_contact.c -- any contact problem, QP and QCQP under any law and solver: as fuzz_step.c. */
#include "bytes.h"
#include <tribo/contact.h>
#include <tribo/qcqp.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CONTACTS = 4, WIDE = 3 * CONTACTS };

/* S (n,n) = A A' + d: positive definite; now and then only semidefinite, or neither. */
static void some_square(bytes *b, int n, double *S) {
    double A[WIDE * WIDE], d = chance(b, 60) ? 0 : scale(b, 1e-6, 1e3);
    reals(b, A, (size_t)(n * n), chance(b, 200) ? 1 : scale(b, 1e-4, 1e4));
    int rank = chance(b, 200) ? n : 1 + pick(b, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            S[i * n + j] = i == j ? d : 0;
            for (int k = 0; k < rank; k++) S[i * n + j] += A[i * n + k] * A[j * n + k];
        }
    if (chance(b, 8)) S[0] = -S[0];
}

static tribo_law_options some_law(bytes *b) {
    tribo_law_options o = {0};
    if (chance(b, 60)) return o;
    o.law = (tribo_law)(1 + pick(b, TRIBO_LAW_END - 1));
    o.solver = tribo_law_solver(o.law, pick(b, 7));
    o.raw = chance(b, 80), o.max_iter = 1 + pick(b, 200); /* what is slow is not looked for here */
    if (chance(b, 40)) o.relaxation = 1 + 0.9 * real(b);
    if (chance(b, 40)) o.penalty = scale(b, 1e-6, 1e6);
    if (chance(b, 40)) o.facets = 4 + pick(b, 8), o.circumscribed = chance(b, 128);
    if (chance(b, 60)) o.softness = (tribo_softness)(1 + pick(b, 3)), o.compliance = scale(b, 1e-9, 1);
    if (chance(b, 30)) o.kappa = scale(b, 1e-12, 1);
    if (chance(b, 60)) o.smoothing = (tribo_smoothing)(1 + pick(b, 3)), o.noise = scale(b, 1e-6, 10);
    return o;
}

static void reverse(tribo_contact_ws *ws, const tribo_contact_problem *p, const double *bar) {
    size_t n3 = 3 * (size_t)p->nc, nv = (size_t)p->nv;
    output vfree = output_new(nv), g = output_new(n3), mu = output_new((size_t)p->nc), M = output_new(nv * nv);
    output J = output_new(n3 * nv), G = output_new(p->G ? n3 * n3 : 0);
    tribo_status s = tribo_contact_vjp(ws, p, bar, nv ? bar : NULL, vfree.a, g.a, mu.a, M.a, J.a, p->G ? G.a : NULL);
    output *all[] = {&vfree, &g, &mu, &M, &J, &G};
    for (int i = 0; i < 6; i++) output_check(all[i], s, "tribo_contact_vjp"), output_free(all[i]);
}

static void contact(bytes *b) {
    double M[WIDE * WIDE], J[WIDE * WIDE], v0[WIDE], mu[CONTACTS], bar[WIDE], noise[2 * CONTACTS];
    int nc = 1 + pick(b, CONTACTS), nv = 1 + pick(b, WIDE);
    bool given = chance(b, 100);
    if (given) nv = 3 * nc;
    tribo_law_options law = some_law(b);
    tribo_contact_ws *ws = NULL;
    some_square(b, nv, M), reals(b, J, (size_t)(3 * nc * nv), 1), reals(b, v0, WIDE, 2), reals(b, bar, WIDE, 1);
    for (int i = 0; i < nc; i++) mu[i] = chance(b, 60) ? 0 : scale(b, 0.05, 3);
    for (int i = 0; i < 2 * nc; i++) noise[i] = scale(b, 1e-4, 1);
    tribo_contact_problem p = {.nc = nc, .nv = nv, .M = M, .J = J, .vfree = v0, .mu = mu};
    if (given) p = (tribo_contact_problem){.nc = nc, .G = M, .g = v0, .mu = mu};
    if (tribo_contact_ws_new(nc, nv > 3 * nc ? nv : 3 * nc, &law, &limited, &ws) != TRIBO_OK) return;
    if (chance(b, 60) && tribo_contact_set_noise(ws, noise) < 0 && law.law == TRIBO_LAW_STOCHASTIC) WRONG("no noise");
    for (int again = 0; again < 2; again++) { /* cold, then warm from the answer */
        output l = output_new(3 * (size_t)nc), v = output_new((size_t)p.nv);
        tribo_contact_info info = {.residual = NAN};
        tribo_measures m;
        double tol = chance(b, 60) ? scale(b, 1e-12, 1e-2) : 0;
        tribo_status s = tribo_contact_solve(ws, &p, tol, again, l.a, v.a, &info);
        output_check(&l, s, "tribo_contact_solve, lambda"), output_check(&v, s, "tribo_contact_solve, v");
        if (s == TRIBO_OK && !(info.residual <= (tol > 0 ? tol : 1)))
            WRONG("solved to a residual of %g", info.residual);
        if (s >= 0 && info.margin != info.margin) WRONG("the margin is NaN");
        s = tribo_contact_measure(ws, &p, &m);
        if (s == TRIBO_OK && !all_finite((double *)&m, sizeof m / sizeof(double))) WRONG("a measure is no number");
        reverse(ws, &p, bar);
        output_free(&l), output_free(&v);
    }
    tribo_contact_ws_free(ws);
}

static void program(bytes *b) {
    double P[WIDE * WIDE], q[WIDE], r[WIDE / 2], bar[WIDE];
    int n = 1 + pick(b, WIDE), kinks;
    bool cones = n % 2 == 0 && chance(b, 128);
    some_square(b, n, P), reals(b, q, WIDE, 2), reals(b, bar, WIDE, 1);
    for (int i = 0; i < WIDE / 2; i++) r[i] = chance(b, 30) ? 0 : scale(b, 1e-3, 10);
    tribo_qcqp qp = {.n = n, .P = P, .q = q, .r = cones ? r : NULL};
    tribo_qcqp_ws *ws = NULL;
    tribo_qcqp_info info = {.residual = NAN};
    if (tribo_qcqp_ws_new(WIDE, &limited, &ws) != TRIBO_OK) return;
    output x = output_new((size_t)n), dual = output_new((size_t)n), q_bar = output_new((size_t)n);
    output r_bar = output_new((size_t)n / 2), v = output_new((size_t)n);
    tribo_status s = tribo_qcqp_solve(ws, &qp, 0, pick(b, 200), x.a, dual.a, &info);
    output_check(&x, s, "tribo_qcqp_solve, x"), output_check(&dual, s, "tribo_qcqp_solve, dual");
    if (s >= 0 && !all_finite(x.a, x.n)) WRONG("a QP's answer is no number");
    if (s == TRIBO_OK && !(info.residual < 1)) WRONG("a QP solved to a residual of %g", info.residual);
    double *at = malloc((size_t)n * sizeof *at);
    memcpy(at, x.a, (size_t)n * sizeof *at);
    s = tribo_qcqp_vjp(ws, &qp, at, bar, q_bar.a, cones ? r_bar.a : NULL, v.a, &kinks);
    output_check(&q_bar, s, "tribo_qcqp_vjp, q"), output_check(&v, s, "tribo_qcqp_vjp, v");
    if (cones) output_check(&r_bar, s, "tribo_qcqp_vjp, r");
    output *all[] = {&x, &dual, &q_bar, &r_bar, &v};
    for (int i = 0; i < 5; i++) output_free(all[i]);
    free(at);
    tribo_qcqp_ws_free(ws);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes b = {data, data + size, 0};
    if (size < 4) return 0;
    if (chance(&b, 100)) b.wild = pick(&b, 40);
    if (chance(&b, 200))
        contact(&b);
    else
        program(&b);
    return 0;
}
