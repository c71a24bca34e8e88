/* test_diff_ops.c -- the table of differentiable functions: value, forward and reverse of each against each other. */
#include "diff_ops.h"
#include "dynamics/spin.h"
#include "dynamics_ops.h"
#include "forward/frame.h"
#include "house.h"
#include "model/shape.h"
#include "sysid/track/fit.h"
#include "test_main.h"
#include <tribo/contact.h>
#include <tribo/grad.h>
#include <tribo/qcqp.h>

static unsigned random_state;
static double between(double low, double high) {
    return low + (high - low) * (op_random(&random_state) + 1) / 2;
}
static ti_vec some_vec(double size) {
    double x = between(-size, size), y = between(-size, size);
    return ti_vec3(x, y, between(-size, size));
}
static void some(double *a, int n, double size) {
    for (int i = 0; i < n; i++) a[i] = between(-size, size);
}
static ti_mat rotation(ti_vec r) {
    double q[4];
    ti_quat_exp(r, q);
    return ti_quat_mat(q);
}
/* The rotation vector from A to B, in A's axes (body) or in the world's. */
static ti_vec turn_body(const ti_mat *A, const ti_mat *B) {
    ti_mat T = ti_transpose(A), D = ti_matmul(&T, B);
    ti_vec v = ti_vec3(D.m[2][1] - D.m[1][2], D.m[0][2] - D.m[2][0], D.m[1][0] - D.m[0][1]);
    double s = ti_norm(v) / 2; /* sin: small turns only */
    return ti_scale(s > 1e-12 ? asin(s) / (2 * s) : 0.5, v);
}
static ti_vec turn_world(const ti_mat *A, const ti_mat *B) {
    return ti_mul(A, turn_body(A, B));
}

/* ---- link: reading a state, free velocity, integration ---- */

static const double DT = 0.05; /* long, so that everything it multiplies shows */
static struct {
    double p[10], q[7], v[6], u[6], D[6], V[6], next_q[7], next_v[6];
    ti_vec g;
    ti_link l;
    ti_mat R;
} at_link;

static void link_at(const double *p, const double *dq, const double *dv, const double *g, const double *u, ti_link *l) {
    double q[7], v[6], f[6], par[10], e[4];
    for (int i = 0; i < 10; i++) par[i] = at_link.p[i] + p[i];
    for (int i = 0; i < 3; i++) q[i] = at_link.q[i] + dq[i];
    ti_quat_exp(ti_load3(dq + 3), e);
    ti_quat_mul(at_link.q + 3, e, q + 3);
    for (int i = 0; i < 6; i++) v[i] = at_link.v[i] + dv[i], f[i] = at_link.u[i] + u[i];
    ti_link_load(l, par, q, v, f);
    ti_link_free(l, ti_add(at_link.g, ti_load3(g)), DT);
}

static const double nothing[OP_IN];

static bool draw_link(unsigned seed) {
    random_state = seed;
    double *p = at_link.p, e[4];
    p[0] = between(0.5, 3), some(p + 1, 3, 0.3);
    for (int i = 0; i < 3; i++) p[4 + i] = between(0.5, 1), p[7 + i] = between(-0.1, 0.1);
    some(at_link.q, 3, 1), some(at_link.v, 6, 3), some(at_link.u, 6, 5), some(at_link.D, 6, 0.5), some(at_link.V, 6, 2);
    ti_quat_exp(some_vec(2), e);
    memcpy(at_link.q + 3, e, sizeof e);
    at_link.g = some_vec(10);
    link_at(nothing, nothing, nothing, nothing, nothing, &at_link.l);
    at_link.R = at_link.l.R;
    ti_link_integrate(&at_link.l, at_link.D, at_link.V, at_link.next_q, at_link.next_v);
    return true;
}

/* p (10), dq (6), dv (6), gravity (3), u (6) -> xc, turn, v, vf, wf */
static int link_value(const double *d, double *out) {
    ti_link l;
    link_at(d, d + 10, d + 16, d + 22, d + 25, &l);
    ti_store3(out, l.xc), ti_store3(out + 3, turn_body(&at_link.R, &l.R)), ti_store3(out + 6, l.v);
    ti_store3(out + 9, l.vf), ti_store3(out + 12, l.wf);
    return 0;
}
static void link_jvp(const double *d, double *out) {
    ti_link_diff t;
    ti_link_load_jvp(&at_link.l, d + 10, d + 16, d, &t);
    ti_link_free_jvp(&at_link.l, DT, &t, ti_load3(d + 22), d + 25);
    ti_store3(out, t.xc), ti_store3(out + 3, t.th), ti_store3(out + 6, t.v);
    ti_store3(out + 9, t.vf), ti_store3(out + 12, t.wf);
}
static void link_vjp(const double *bar, double *d) {
    ti_link_diff t = {.xc = ti_load3(bar),
                      .th = ti_load3(bar + 3),
                      .v = ti_load3(bar + 6),
                      .vf = ti_load3(bar + 9),
                      .wf = ti_load3(bar + 12)};
    ti_vec g = {0, 0, 0};
    ti_link_free_vjp(&at_link.l, DT, &t, &g, d + 25);
    ti_link_load_vjp(&at_link.l, &t, d + 10, d + 16, d);
    ti_store3(d + 22, g);
}

/* p (10), dq (6), dv (6), D (6), V (6) -> dq', dv' */
static int integrate_value(const double *d, double *out) {
    ti_link l;
    double D[6], V[6], q[7], v[6], conjugate[4], r[4];
    for (int i = 0; i < 6; i++) D[i] = at_link.D[i] + d[22 + i], V[i] = at_link.V[i] + d[28 + i];
    link_at(d, d + 10, d + 16, nothing, nothing, &l);
    ti_link_integrate(&l, D, V, q, v);
    for (int i = 0; i < 4; i++) conjugate[i] = i ? -at_link.next_q[3 + i] : at_link.next_q[3];
    ti_quat_mul(conjugate, q + 3, r);
    ti_store3(out, ti_sub(ti_load3(q), ti_load3(at_link.next_q))), ti_store3(out + 3, ti_quat_log(r));
    memcpy(out + 6, v, sizeof v);
    return 0;
}
static void integrate_jvp(const double *d, double *out) {
    ti_link_diff t;
    ti_link_load_jvp(&at_link.l, d + 10, d + 16, d, &t);
    ti_link_integrate_jvp(&at_link.l, at_link.D, at_link.V, &t, d + 22, d + 28, out, out + 6);
}
static void integrate_vjp(const double *bar, double *d) {
    ti_link_diff t = {0};
    ti_link_integrate_vjp(&at_link.l, at_link.D, at_link.V, bar, bar + 6, &t, d + 22, d + 28);
    ti_link_load_vjp(&at_link.l, &t, d + 10, d + 16, d);
}

/* A link that turns by up to 50 rad in the step, and the attitude that it would reach without contact; some have equal
 * moments, which their derivative does not know. */
static bool draw_spin(unsigned seed) {
    draw_link(seed);
    if (seed % 3 == 0)
        for (int i = 0; i < 6; i++) at_link.p[4 + i] = i < 3 ? 0.7 : 0;
    double fast = pow(10, between(1.5, 2.8));
    for (int i = 3; i < 6; i++) at_link.v[i] *= fast / 3, at_link.u[i] *= fast;
    link_at(nothing, nothing, nothing, nothing, nothing, &at_link.l);
    ti_store3(at_link.V, at_link.l.vf), ti_store3(at_link.V + 3, at_link.l.wf);
    for (int i = 0; i < 6; i++) at_link.D[i] = DT * at_link.V[i];
    ti_link_integrate(&at_link.l, at_link.D, at_link.V, at_link.next_q, at_link.next_v);
    return at_link.l.substeps > 1;
}

/* p (10), dq (6), dv (6), u (6) -> dq', dv'; modes are few and many substeps */
static int spin_value(const double *d, double *out) {
    ti_link l;
    double D[6], V[6], q[7], v[6], conjugate[4], r[4];
    link_at(d, d + 10, d + 16, nothing, d + 22, &l);
    ti_store3(V, l.vf), ti_store3(V + 3, l.wf);
    for (int i = 0; i < 6; i++) D[i] = DT * V[i];
    ti_link_integrate(&l, D, V, q, v);
    for (int i = 0; i < 4; i++) conjugate[i] = i ? -at_link.next_q[3 + i] : at_link.next_q[3];
    ti_quat_mul(conjugate, q + 3, r);
    ti_store3(out, ti_sub(ti_load3(q), ti_load3(at_link.next_q))), ti_store3(out + 3, ti_quat_log(r));
    memcpy(out + 6, v, sizeof v);
    return l.substeps != at_link.l.substeps ? -1 : l.substeps > 4;
}
static void spin_jvp(const double *d, double *out) {
    ti_link_diff t;
    double D[6], V[6];
    ti_link_load_jvp(&at_link.l, d + 10, d + 16, d, &t);
    ti_link_free_jvp(&at_link.l, DT, &t, ti_vec3(0, 0, 0), d + 22);
    ti_store3(V, t.vf), ti_store3(V + 3, t.wf);
    for (int i = 0; i < 6; i++) D[i] = DT * V[i];
    ti_link_integrate_jvp(&at_link.l, at_link.D, at_link.V, &t, D, V, out, out + 6);
}
static void spin_vjp(const double *bar, double *d) {
    ti_link_diff t = {0};
    double D[6], V[6];
    ti_vec g = {0, 0, 0};
    ti_link_integrate_vjp(&at_link.l, at_link.D, at_link.V, bar, bar + 6, &t, D, V);
    t.vf = ti_axpy(ti_load3(V), DT, ti_load3(D)), t.wf = ti_axpy(ti_load3(V + 3), DT, ti_load3(D + 3));
    ti_link_free_vjp(&at_link.l, DT, &t, &g, d + 22);
    ti_link_load_vjp(&at_link.l, &t, d + 10, d + 16, d);
}

/* w (3), torque (3), inertia (6) -> wf, precession; modes are one, few and many substeps */
static bool draw_spin_alone(unsigned seed) {
    draw_spin(seed);
    if (seed & 4096) return true;
    at_link.l.w = ti_scale(1 / ti_norm(at_link.l.w), at_link.l.w), at_link.l.torque = some_vec(5);
    return ti_spin(&at_link.l, DT) && at_link.l.substeps == 1;
}
static int spin_alone_value(const double *d, double *out) {
    ti_link l = at_link.l;
    double back[4], r[4];
    ti_mat I = ti_sym(d + 6);
    l.w = ti_add(l.w, ti_load3(d)), l.torque = ti_add(l.torque, ti_load3(d + 3));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) l.I.m[i][j] += I.m[i][j];
    if (!ti_spin(&l, DT) || l.substeps != at_link.l.substeps) return -1;
    ti_store3(out, l.wf), ti_store3(out + 3, ti_vec3(0, 0, 0));
    if (l.substeps == 1) return 0;
    for (int i = 0; i < 4; i++) back[i] = i ? -at_link.l.precession[i] : at_link.l.precession[0];
    ti_quat_mul(back, l.precession, r), ti_store3(out + 3, ti_quat_log(r));
    return l.substeps > 4 ? 2 : 1;
}
static void spin_alone_jvp(const double *d, double *out) {
    ti_link_diff t = {.w = ti_load3(d), .I = ti_sym(d + 6)};
    ti_spin_jvp(&at_link.l, DT, ti_load3(d + 3), &t);
    ti_store3(out, t.wf), ti_store3(out + 3, t.precession);
}
static void spin_alone_vjp(const double *bar, double *d) {
    ti_link_diff t = {.wf = ti_load3(bar), .precession = ti_load3(bar + 3)};
    ti_store3(d + 3, ti_spin_vjp(&at_link.l, DT, &t)), ti_store3(d, t.w);
    for (int i = 0; i < 3; i++) {
        int j = i == 2, k = i == 0 ? 1 : 2;
        d[6 + i] = t.I.m[i][i], d[9 + i] = t.I.m[j][k] + t.I.m[k][j];
    }
}

/* ---- geoms in the world, rows, tangents ---- */

static struct {
    tribo_model *m;
    double p[128];
    ti_link l;
    ti_shape shape;
} at_shape;

static bool draw_shape(unsigned seed) {
    if (!at_shape.m) {
        tribo_builder *b = tribo_builder_new(NULL);
        tribo_body_def body = tribo_default_body();
        tribo_geom_def g = tribo_default_geom();
        g.shape = TRIBO_BOX, g.size[0] = g.size[1] = g.size[2] = 0.3;
        tribo_add_geom(b, tribo_add_body(b, &body), &g);
        if (tribo_build(b, &at_shape.m, NULL) != TRIBO_OK) return false;
    }
    draw_link(seed);
    at_shape.l = at_link.l;
    tribo_model_params(at_shape.m, at_shape.p);
    double *g = at_shape.p + at_shape.m->geom[0].p;
    some(g + TI_P_POS, 3, 0.5), some(g + TI_P_QUAT, 4, 1); /* not of length one: it is normalised where it is used */
    ti_shapes(at_shape.m, at_shape.p, &at_shape.l, &at_shape.shape);
    double *q = g + TI_P_QUAT;
    return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 0.2;
}

/* displacement (3) and turn (3) of the body, size (3), pos (3), quat (4) of the geom -> displacement, turn, size */
static const int geom_part[3] = {TI_P_SIZE, TI_P_POS, TI_P_QUAT};
static void geom_numbers(const double *d, double *p) {
    double *g = p + at_shape.m->geom[0].p;
    for (int i = 0; i < 10; i++) g[geom_part[i < 6 ? i / 3 : 2] + (i < 6 ? i % 3 : i - 6)] += d[i];
}
static int shape_value(const double *d, double *out) {
    double p[128];
    ti_link l = at_shape.l;
    ti_mat E = rotation(ti_load3(d + 3));
    ti_shape s;
    memcpy(p, at_shape.p, sizeof p);
    geom_numbers(d + 6, p);
    l.xo = ti_add(l.xo, ti_load3(d)), l.R = ti_matmul(&l.R, &E);
    ti_shapes(at_shape.m, p, &l, &s);
    ti_store3(out, ti_sub(s.x, at_shape.shape.x)), ti_store3(out + 3, turn_world(&at_shape.shape.R, &s.R));
    ti_store3(out + 6, s.size);
    return 0;
}
static void shape_jvp(const double *d, double *out) {
    double p_dot[128] = {0};
    ti_link_diff t = {.xo = ti_load3(d), .th = ti_load3(d + 3)};
    geom_numbers(d + 6, p_dot);
    ti_shape_jvp(at_shape.m, at_shape.p, &at_shape.l, 0, &t, p_dot, out);
}
static void shape_vjp(const double *bar, double *d) {
    double p_bar[128] = {0};
    ti_link_diff t = {0};
    ti_shape_vjp(at_shape.m, at_shape.p, &at_shape.l, 0, bar, &t, p_bar);
    ti_store3(d, t.xo), ti_store3(d + 3, t.th);
    const double *g = p_bar + at_shape.m->geom[0].p;
    for (int i = 0; i < 10; i++) d[6 + i] = g[geom_part[i < 6 ? i / 3 : 2] + (i < 6 ? i % 3 : i - 6)];
}

static struct {
    ti_con c;
    ti_link l;
    double sign;
} at_rows;

static bool draw_rows(unsigned seed) {
    draw_link(seed);
    at_rows.l = at_link.l, at_rows.sign = seed & 1024 ? 1 : -1;
    at_rows.c = (ti_con){.touch = {.point = some_vec(1), .normal = some_vec(1)}, .t1 = some_vec(1), .t2 = some_vec(1)};
    return true;
}
/* point, t1, t2, n, xc, turn -> J (3,6) */
static int rows_value(const double *d, double *out) {
    ti_con c = at_rows.c;
    ti_link l = at_rows.l;
    ti_mat E = rotation(ti_load3(d + 15));
    c.touch.point = ti_add(c.touch.point, ti_load3(d)), c.t1 = ti_add(c.t1, ti_load3(d + 3));
    c.t2 = ti_add(c.t2, ti_load3(d + 6)), c.touch.normal = ti_add(c.touch.normal, ti_load3(d + 9));
    l.xc = ti_add(l.xc, ti_load3(d + 12)), l.R = ti_matmul(&l.R, &E);
    ti_rows(&c, &l, at_rows.sign, out);
    return 0;
}
static void rows_jvp(const double *d, double *out) {
    ti_link_diff t = {.xc = ti_load3(d + 12), .th = ti_load3(d + 15)};
    ti_rows_jvp(&at_rows.c, &at_rows.l, at_rows.sign, &t, d, out);
}
static void rows_vjp(const double *bar, double *d) {
    static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    ti_row_product products[3];
    ti_link_diff t = {0};
    for (int k = 0; k < 3; k++) products[k] = (ti_row_product){unit[k], bar + 6 * k};
    ti_rows_vjp(&at_rows.c, &at_rows.l, at_rows.sign, 3, products, &t, d);
    ti_store3(d + 12, t.xc), ti_store3(d + 15, t.th);
}

static struct {
    ti_vec n, a, b;
    ti_mat D1, D2;
} at_tangents;

static bool draw_tangents(unsigned seed) {
    random_state = seed;
    ti_vec n = some_vec(1);
    double length = ti_norm(n);
    if (length < 0.1) return false;
    at_tangents.n = ti_scale(1 / length, n);
    ti_tangents(at_tangents.n, &at_tangents.a, &at_tangents.b);
    ti_tangents_jac(at_tangents.n, &at_tangents.D1, &at_tangents.D2);
    return at_tangents.n.z > -0.95;
}
/* n moved along its two tangents -> t1, t2; the modes are the two halves of the sphere */
static int tangents_value(const double *d, double *out) {
    ti_vec n = ti_axpy(ti_axpy(at_tangents.n, d[0], at_tangents.a), d[1], at_tangents.b), t1, t2;
    ti_tangents(ti_scale(1 / ti_norm(n), n), &t1, &t2);
    ti_store3(out, t1), ti_store3(out + 3, t2);
    return n.z >= 0 ? 0 : 1;
}
static void tangents_jvp(const double *d, double *out) {
    ti_vec n = ti_axpy(ti_scale(d[0], at_tangents.a), d[1], at_tangents.b);
    ti_store3(out, ti_mul(&at_tangents.D1, n)), ti_store3(out + 3, ti_mul(&at_tangents.D2, n));
}
static void tangents_vjp(const double *bar, double *d) {
    ti_vec n = ti_add(ti_tmul(&at_tangents.D1, ti_load3(bar)), ti_tmul(&at_tangents.D2, ti_load3(bar + 3)));
    d[0] = ti_dot(at_tangents.a, n), d[1] = ti_dot(at_tangents.b, n);
}

/* ---- the reference velocity ---- */

static struct {
    double x[5]; /* gap, u, a, beta, slop */
    double partial[6][5];
} at_gap;
static const double GAP_DT = 0.1;
static const ti_grain GRAIN = {.rounding = 1e-15, .skin = 0.1, .give = 0.1},
                      GAUSSIAN = {.rounding = 1e-15, .skin = 0.1, .give = 0.1, .noise = 0.05},
                      LOGISTIC = {.rounding = 1e-15, .skin = 0.1, .give = 0.1, .noise = 0.05, .logistic = true};

/* What a gap asks of velocity and displacement, and its impact: time, change until then. */
static void gap_row(double *partial, double p0, double p1, double p2, double p3, double p4) {
    partial[0] = p0, partial[1] = p1, partial[2] = p2, partial[3] = p3, partial[4] = p4;
}
static int gap_all(const double *x, double *out, double (*partial)[5]) {
    ti_reference r = ti_staying(x[0], &GRAIN, GAP_DT);
    ti_overlap o = ti_overlap_of(x[0], x[3], x[4]);
    ti_impact hit = ti_impact_of(x[0], x[1], x[2], GAP_DT, GAP_DT);
    ti_reference gaussian = ti_staying(x[0], &GAUSSIAN, GAP_DT), logistic = ti_staying(x[0], &LOGISTIC, GAP_DT);
    out[0] = r.ref, out[1] = o.ref, out[2] = hit.tau, out[3] = x[2] * hit.span;
    out[4] = gaussian.ref, out[5] = logistic.ref;
    if (partial) {
        gap_row(partial[0], r.ref_gap, 0, 0, 0, 0);
        gap_row(partial[1], o.ref_gap, 0, 0, o.ref_beta, o.ref_slop);
        gap_row(partial[2], hit.tau_gap, hit.tau_u, hit.tau_a, 0, 0);
        gap_row(partial[3], x[2] * hit.tau_gap, x[2] * hit.tau_u, x[2] * hit.tau_a + hit.span, 0, 0);
        gap_row(partial[4], gaussian.ref_gap, 0, 0, 0, 0);
        gap_row(partial[5], logistic.ref_gap, 0, 0, 0, 0);
    }
    int overlap = x[0] >= 0 ? 0 : x[0] >= -x[4] ? 1 : 2;
    return overlap + 3 * hit.reached;
}
static bool draw_gap(unsigned seed) {
    random_state = seed;
    double *x = at_gap.x, out[6];
    x[0] = between(-1, 1), x[0] *= 0.2 * fabs(x[0]), x[1] = between(-3, 1), x[2] = between(-10, 5);
    x[3] = between(0.1, 1), x[4] = between(0, 0.05);
    gap_all(x, out, at_gap.partial);
    return true;
}
static int gap_value(const double *d, double *out) {
    double x[5];
    for (int i = 0; i < 5; i++) x[i] = at_gap.x[i] + d[i];
    return gap_all(x, out, NULL);
}
static void gap_jvp(const double *d, double *out) {
    for (int r = 0; r < 6; r++) {
        out[r] = 0;
        for (int i = 0; i < 5; i++) out[r] += at_gap.partial[r][i] * d[i];
    }
}
static void gap_vjp(const double *bar, double *d) {
    for (int i = 0; i < 5; i++) {
        d[i] = 0;
        for (int r = 0; r < 6; r++) d[i] += bar[r] * at_gap.partial[r][i];
    }
}

/* ---- pairs of shapes ---- */

static struct {
    ti_shape s[2];
    ti_touch touch;
    double jac[TI_COLLIDE_ROWS][TI_COLLIDE_COLS];
} at_pair;

/* A bumpy field of 2 m, below a that is a quarter as large as else. */
static const ti_mesh *bumpy(ti_shape *a, ti_shape *field) {
    static double height[7 * 8];
    static const ti_mesh m = {.nrow = 7, .ncol = 8, .height = height, .base = 1, .highest = 1};
    for (int i = 0; i < 7 * 8; i++) height[i] = 0.3 * sin(5.0 * i * i);
    a->size = ti_scale(0.4, a->size), field->size = ti_add(field->size, ti_vec3(0.6, 0.6, 0));
    return &m;
}

/* edge: radius of the edges of what has some. Of sharp ones there is a slope to one side alone, which is left out. */
static bool draw_pair(unsigned seed, tribo_shape a, tribo_shape b, double edge) {
    random_state = seed;
    for (int i = 0; i < 2; i++) {
        ti_shape *s = &at_pair.s[i];
        s->shape = i ? b : a, s->R = rotation(some_vec(2)), s->x = some_vec(0.2);
        double x = between(0.3, 0.6), y = between(0.3, 0.6);
        s->size = ti_vec3(x, y, between(0.3, 0.6));
        s->mesh = s->shape == TRIBO_MESH ? house() : NULL;
        s->edge = s->shape == TRIBO_BOX || s->shape == TRIBO_CYLINDER ? edge : 0;
    }
    ti_vec n = ti_col(&at_pair.s[0].R, 2); /* b above a, near enough to touch or nearly */
    at_pair.s[1].x = ti_axpy(at_pair.s[0].x, a == TRIBO_PLANE ? 0.5 : 0.9, n);
    if (b == TRIBO_HFIELD) {
        at_pair.s[1].mesh = bumpy(&at_pair.s[0], &at_pair.s[1]);
        at_pair.s[1].x = ti_axpy(at_pair.s[0].x, -0.25, ti_col(&at_pair.s[1].R, 2));
    }
    ti_touch t[TI_CONTACTS_MAX];
    int found = ti_collide(&at_pair.s[0], &at_pair.s[1], 1, t);
    if (found == 0) return false;
    at_pair.touch = t[seed / 4096 % (unsigned)found];
    ti_collide_jac(&at_pair.s[0], &at_pair.s[1], &at_pair.touch, at_pair.jac);
    for (int i = 0; i < 2; i++)
        for (int r = 0; r < TI_COLLIDE_ROWS && edge == 0; r++)
            if (ti_shape_of(at_pair.s[i].shape)->edged) at_pair.jac[r][TI_SHAPE_COLS * i + 9] = 0;
    return true;
}
/* displacement, turn (world), size, edges of a and of b -> point, normal, gap of the same feature */
static int pair_value(const double *d, double *out) {
    ti_shape s[2] = {at_pair.s[0], at_pair.s[1]};
    ti_touch t[TI_CONTACTS_MAX];
    for (int i = 0; i < 2; i++, d += TI_SHAPE_COLS) {
        ti_mat E = rotation(ti_load3(d + 3));
        s[i].x = ti_add(s[i].x, ti_load3(d)), s[i].R = ti_matmul(&E, &s[i].R),
        s[i].size = ti_add(s[i].size, ti_load3(d + 6));
        if (s[i].edge > 0) s[i].edge += d[9];
    }
    int n = ti_collide(&s[0], &s[1], 1, t);
    for (int k = 0; k < n; k++) {
        if (t[k].feature != at_pair.touch.feature) continue;
        ti_store3(out, t[k].point), ti_store3(out + 3, t[k].normal), out[6] = t[k].gap;
        return 0;
    }
    return -1;
}
static void pair_jvp(const double *d, double *out) {
    for (int r = 0; r < TI_COLLIDE_ROWS; r++) {
        out[r] = 0;
        for (int j = 0; j < TI_COLLIDE_COLS; j++) out[r] += at_pair.jac[r][j] * d[j];
    }
}
static void pair_vjp(const double *bar, double *d) {
    for (int j = 0; j < TI_COLLIDE_COLS; j++) {
        d[j] = 0;
        for (int r = 0; r < TI_COLLIDE_ROWS; r++) d[j] += at_pair.jac[r][j] * bar[r];
    }
}
#define DRAW_PAIR(name, a, b)                                                                                          \
    static bool name(unsigned seed) {                                                                                  \
        return draw_pair(seed, a, b, 0);                                                                               \
    }
#define DRAW_ROUND(name, a, b)                                                                                         \
    static bool name(unsigned seed) {                                                                                  \
        return draw_pair(seed, a, b, between(0.02, 0.2));                                                              \
    }
DRAW_ROUND(draw_plane_round_box, TRIBO_PLANE, TRIBO_BOX)
DRAW_ROUND(draw_sphere_round_box, TRIBO_SPHERE, TRIBO_BOX)
DRAW_ROUND(draw_round_boxes, TRIBO_BOX, TRIBO_BOX)
DRAW_ROUND(draw_round_box_capsule, TRIBO_BOX, TRIBO_CAPSULE)
DRAW_ROUND(draw_round_box_cylinder, TRIBO_BOX, TRIBO_CYLINDER)
DRAW_ROUND(draw_plane_round_cylinder, TRIBO_PLANE, TRIBO_CYLINDER)
DRAW_ROUND(draw_round_cylinder_ellipsoid, TRIBO_CYLINDER, TRIBO_ELLIPSOID)
DRAW_ROUND(draw_round_box_mesh, TRIBO_BOX, TRIBO_MESH)
DRAW_ROUND(draw_round_box_field, TRIBO_BOX, TRIBO_HFIELD)
DRAW_PAIR(draw_plane_sphere, TRIBO_PLANE, TRIBO_SPHERE)
DRAW_PAIR(draw_plane_box, TRIBO_PLANE, TRIBO_BOX)
DRAW_PAIR(draw_sphere_sphere, TRIBO_SPHERE, TRIBO_SPHERE)
DRAW_PAIR(draw_sphere_box, TRIBO_SPHERE, TRIBO_BOX)
DRAW_PAIR(draw_box_box, TRIBO_BOX, TRIBO_BOX)
DRAW_PAIR(draw_plane_capsule, TRIBO_PLANE, TRIBO_CAPSULE)
DRAW_PAIR(draw_sphere_capsule, TRIBO_SPHERE, TRIBO_CAPSULE)
DRAW_PAIR(draw_box_capsule, TRIBO_BOX, TRIBO_CAPSULE)
DRAW_PAIR(draw_capsule_capsule, TRIBO_CAPSULE, TRIBO_CAPSULE)
DRAW_PAIR(draw_plane_cylinder, TRIBO_PLANE, TRIBO_CYLINDER)
DRAW_PAIR(draw_sphere_cylinder, TRIBO_SPHERE, TRIBO_CYLINDER)
DRAW_PAIR(draw_box_cylinder, TRIBO_BOX, TRIBO_CYLINDER)
DRAW_PAIR(draw_capsule_cylinder, TRIBO_CAPSULE, TRIBO_CYLINDER)
DRAW_PAIR(draw_cylinder_cylinder, TRIBO_CYLINDER, TRIBO_CYLINDER)
DRAW_PAIR(draw_plane_ellipsoid, TRIBO_PLANE, TRIBO_ELLIPSOID)
DRAW_PAIR(draw_sphere_ellipsoid, TRIBO_SPHERE, TRIBO_ELLIPSOID)
DRAW_PAIR(draw_box_ellipsoid, TRIBO_BOX, TRIBO_ELLIPSOID)
DRAW_PAIR(draw_capsule_ellipsoid, TRIBO_CAPSULE, TRIBO_ELLIPSOID)
DRAW_PAIR(draw_cylinder_ellipsoid, TRIBO_CYLINDER, TRIBO_ELLIPSOID)
DRAW_PAIR(draw_ellipsoid_ellipsoid, TRIBO_ELLIPSOID, TRIBO_ELLIPSOID)
DRAW_PAIR(draw_plane_mesh, TRIBO_PLANE, TRIBO_MESH)
DRAW_PAIR(draw_sphere_mesh, TRIBO_SPHERE, TRIBO_MESH)
DRAW_PAIR(draw_box_mesh, TRIBO_BOX, TRIBO_MESH)
DRAW_PAIR(draw_capsule_mesh, TRIBO_CAPSULE, TRIBO_MESH)
DRAW_PAIR(draw_cylinder_mesh, TRIBO_CYLINDER, TRIBO_MESH)
DRAW_PAIR(draw_ellipsoid_mesh, TRIBO_ELLIPSOID, TRIBO_MESH)
DRAW_PAIR(draw_mesh_mesh, TRIBO_MESH, TRIBO_MESH)
DRAW_PAIR(draw_sphere_field, TRIBO_SPHERE, TRIBO_HFIELD)
DRAW_PAIR(draw_box_field, TRIBO_BOX, TRIBO_HFIELD)
DRAW_PAIR(draw_capsule_field, TRIBO_CAPSULE, TRIBO_HFIELD)
DRAW_PAIR(draw_cylinder_field, TRIBO_CYLINDER, TRIBO_HFIELD)
DRAW_PAIR(draw_ellipsoid_field, TRIBO_ELLIPSOID, TRIBO_HFIELD)
DRAW_PAIR(draw_mesh_field, TRIBO_MESH, TRIBO_HFIELD)

/* ---- the contact problem ---- */

enum { NV = 6, NC = 4 };
static struct {
    tribo_contact_ws *ws;
    tribo_law_options law;
    int nc;
    double tol, M[NV * NV], J[3 * NC * NV], vfree[NV], mu[NC];
    char mode[NC + 1]; /* of the drawn point, "" = not known yet */
} at_contact;

/* Room for the law; a random inertia. */
static bool draw_contact(unsigned seed, int nc, double tol, const tribo_law_options *law) {
    random_state = seed;
    if (at_contact.ws && (at_contact.nc != nc || memcmp(&at_contact.law, law, sizeof *law) != 0)) {
        tribo_contact_ws_free(at_contact.ws);
        at_contact.ws = NULL;
    }
    at_contact.law = *law, at_contact.nc = nc, at_contact.tol = tol, at_contact.mode[0] = 0;
    if (!at_contact.ws && tribo_contact_ws_new(nc, NV, law, NULL, &at_contact.ws) != TRIBO_OK) return false;
    double L[NV * NV];
    some(L, NV * NV, 0.4), some(at_contact.J, 3 * NV, 1), some(at_contact.vfree, NV, 1);
    for (int i = 0; i < NV; i++)
        for (int j = 0; j < NV; j++) {
            at_contact.M[NV * i + j] = i == j;
            for (int k = 0; k < NV; k++) at_contact.M[NV * i + j] += L[NV * i + k] * L[NV * j + k];
        }
    for (int i = 0; i < nc; i++) at_contact.mu[i] = between(0.2, 1.5);
    return true;
}
/* Four corners on a face, the axes of each contact turned: more impulses than velocities. */
static bool draw_corners(unsigned seed, double tol, const tribo_law_options *law) {
    if (!draw_contact(seed, NC, tol, law)) return false;
    static const double sign[NC][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    for (int i = 0; i < NC; i++) {
        double x = sign[i][0] * between(0.3, 0.7), y = sign[i][1] * between(0.3, 0.7), z = between(-0.6, -0.4);
        double turn = between(-3, 3), *J = at_contact.J + 3 * NV * i;
        double axis[3][3] = {{cos(turn), sin(turn), 0}, {-sin(turn), cos(turn), 0}, {0, 0, 1}};
        for (int r = 0; r < 3; r++, J += NV) {
            const double *e = axis[r];
            const double row[NV] = {e[0], e[1], e[2], y * e[2] - z * e[1], z * e[0] - x * e[2], x * e[1] - y * e[0]};
            memcpy(J, row, sizeof row);
        }
    }
    int kind = (int)((seed >> 7) % 3); /* falls flat, slides, anything */
    for (int k = 0; k < NV && kind < 2; k++) at_contact.vfree[k] *= k < 2 && kind == 1 ? 3 : 0.05;
    at_contact.vfree[2] -= 1;
    for (int i = 0; i < NC && kind == 1; i++) at_contact.mu[i] *= 0.2;
    for (int i = 0; i < NV; i++)
        for (int j = 0; j < NV && kind < 2; j++) at_contact.M[NV * i + j] *= i == j ? 1 : 0.1;
    return true;
}
/* Sticks, on an edge of the pyramid, or at a vertex. */
static char pyramid_mode(const double *l, double mu) {
    const tribo_law_options *o = &at_contact.law;
    double half = 3.14159265358979323846 / o->facets, inner = o->circumscribed ? 1 : cos(half), best = 0, second = 0;
    for (int k = 0; k < o->facets; k++) {
        double at = o->facet_angle + (2 * k + 1) * half, x = (l[0] * cos(at) + l[1] * sin(at)) / (mu * l[2] * inner);
        if (x > best)
            second = best, best = x;
        else
            second = fmax(second, x);
    }
    return best < 1 - 1e-7 ? 't' : second < 1 - 1e-7 ? 'l' : 'v';
}
/* A letter a contact: breaks, sticks, slides; slides at a vertex. */
static void contact_modes(const double *lambda, const double *mu, char *mode) {
    for (int i = 0; i < at_contact.nc; i++) {
        const double *l = lambda + 3 * i;
        mode[i] = l[2] <= 1e-9 ? 'b' : hypot(l[0], l[1]) < mu[i] * l[2] * (1 - 1e-7) ? 't' : 'l';
        if (at_contact.law.law == TRIBO_LAW_LCP && mode[i] != 'b') mode[i] = pyramid_mode(l, mu[i]);
    }
    mode[at_contact.nc] = 0;
}
/* vfree (6), mu (nc), E (36) of J (1 + E), which leaves redundant rows redundant, M (21) -> v (6), lambda (3 nc); the
 * modes are break, stick, slide, slide at a vertex; of several contacts all stick, some break, something else */
enum { CONTACT_IN = NV + NV * NV + NV * (NV + 1) / 2 };
static int contact_solve(const double *d, double *v, double *lambda) {
    int nc = at_contact.nc;
    double M[NV * NV], J[3 * NC * NV], vfree[NV], mu[NC];
    char mode[NC + 1];
    tribo_contact_info info;
    for (int i = 0; i < NV; i++) vfree[i] = at_contact.vfree[i] + *d++;
    for (int i = 0; i < nc; i++) mu[i] = at_contact.mu[i] + *d++;
    for (int i = 0; i < 3 * nc * NV; i++) {
        J[i] = at_contact.J[i];
        for (int k = 0; k < NV; k++) J[i] += at_contact.J[i / NV * NV + k] * d[NV * k + i % NV];
    }
    d += NV * NV;
    for (int i = 0; i < NV; i++)
        for (int j = 0; j <= i; j++) M[NV * i + j] = M[NV * j + i] = at_contact.M[NV * i + j] + *d++;
    tribo_contact_problem p = {.nc = nc, .nv = NV, .M = M, .J = J, .vfree = vfree, .mu = mu};
    if (tribo_contact_solve(at_contact.ws, &p, at_contact.tol, false, lambda, v, &info) != TRIBO_OK) return -1;
    if (nc > 1 && !info.canonical) return -1;                 /* some solution, where others are near */
    if (at_contact.law.law == TRIBO_LAW_STOCHASTIC) return 0; /* smooth */
    contact_modes(lambda, mu, mode);
    if (!at_contact.mode[0] && nc > 1 && info.margin < 0.05) return -1; /* next to a kink the solution is curved */
    if (!at_contact.mode[0]) strcpy(at_contact.mode, mode);
    if (strcmp(mode, at_contact.mode) != 0) return -1;
    if (nc == 1) return mode[0] == 'b' ? TRIBO_BREAK : mode[0] == 't' ? TRIBO_STICK : mode[0] == 'l' ? TRIBO_SLIDE : 3;
    return strcmp(mode, "tttt") == 0 ? 0 : strchr(mode, 'b') ? 1 : 2;
}
static int contact_value(const double *d, double *out) {
    return contact_solve(d, out, out + NV);
}
static void contact_vjp(const double *bar, double *d) {
    int nc = at_contact.nc;
    double v[NV], lambda[3 * NC], M_bar[NV * NV] = {0}, J_bar[3 * NC * NV] = {0};
    double none[OP_IN] = {0}, none_g[3 * NC] = {0};
    tribo_contact_problem p = {
        .nc = nc, .nv = NV, .M = at_contact.M, .J = at_contact.J, .vfree = at_contact.vfree, .mu = at_contact.mu};
    double *mu_bar = d + NV, *E_bar = mu_bar + nc, *to = E_bar + NV * NV;
    memset(d, 0, sizeof(double) * (size_t)(CONTACT_IN + nc));
    ck_assert_int_ge(contact_solve(none, v, lambda), 0);
    ck_assert_int_eq(tribo_contact_solve(at_contact.ws, &p, at_contact.tol, false, lambda, v, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_contact_vjp(at_contact.ws, &p, bar + NV, bar, d, none_g, mu_bar, M_bar, J_bar, NULL),
                     TRIBO_OK);
    for (int i = 0; i < 3 * nc * NV; i++)
        for (int k = 0; k < NV; k++) E_bar[NV * k + i % NV] += at_contact.J[i / NV * NV + k] * J_bar[i];
    for (int i = 0; i < NV; i++)
        for (int j = 0; j <= i; j++) *to++ = i == j ? M_bar[NV * i + j] : M_bar[NV * i + j] + M_bar[NV * j + i];
}
/* One row of the table a law: `name` for one contact, name_corners for four corners. */
#define DRAW_CONTACT(name, tol, ...)                                                                                   \
    static bool name(unsigned seed) {                                                                                  \
        static const tribo_law_options law = {__VA_ARGS__};                                                            \
        return draw_contact(seed, 1, tol, &law);                                                                       \
    }                                                                                                                  \
    static bool name##_corners(unsigned seed) {                                                                        \
        static const tribo_law_options law = {__VA_ARGS__};                                                            \
        return draw_corners(seed, tol, &law);                                                                          \
    }
DRAW_CONTACT(draw_ncp, 1e-13, .law = TRIBO_LAW_NCP)
DRAW_CONTACT(draw_ccp, 1e-12, .law = TRIBO_LAW_CCP)
DRAW_CONTACT(draw_ccp_newton, 1e-11, .law = TRIBO_LAW_CCP, .solver = TRIBO_SOLVER_NEWTON)
DRAW_CONTACT(draw_ccp_spring, 1e-11, .law = TRIBO_LAW_CCP, .solver = TRIBO_SOLVER_NEWTON,
             .softness = TRIBO_SOFTNESS_PHYSICAL, .compliance = 0.05)
DRAW_CONTACT(draw_ccp_mujoco, 1e-11, .law = TRIBO_LAW_CCP, .solver = TRIBO_SOLVER_NEWTON,
             .softness = TRIBO_SOFTNESS_MUJOCO, .impedance = 0.8, .impratio = 2)

DRAW_CONTACT(draw_lcp, 1e-12, .law = TRIBO_LAW_LCP, .facets = 4, .facet_angle = 0.3)
DRAW_CONTACT(draw_lcp_wide, 1e-12, .law = TRIBO_LAW_LCP, .facets = 7, .facet_angle = 1, .circumscribed = true)
DRAW_CONTACT(draw_raisim, 1e-12, .law = TRIBO_LAW_RAISIM)
DRAW_CONTACT(draw_corrected, 1e-12, .law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION_CORRECTED)
DRAW_CONTACT(draw_logistic, 1e-12, .law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = 0.2)
DRAW_CONTACT(draw_gaussian, 1e-12, .law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_GAUSSIAN, .noise = 0.2)
DRAW_CONTACT(draw_erm, 1e-12, .law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_ERM, .noise = 0.2)

DRAW_CONTACT(draw_ncp_admm, 1e-11, .law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_ADMM)
DRAW_CONTACT(draw_ncp_staggered, 1e-11, .law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_STAGGERED)
DRAW_CONTACT(draw_ncp_newton, 1e-11, .law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_NEWTON)
DRAW_CONTACT(draw_ncp_interior, 1e-11, .law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_INTERIOR)
/* The central path has no kinks: closed or open, more or less. */
DRAW_CONTACT(draw_central, 1e-12, .law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_INTERIOR, .kappa = 1e-2)
static int central_value(const double *d, double *out) {
    int mode = contact_solve(d, out, out + NV);
    return mode < 0 ? mode : out[NV + 2] < 0.1;
}

/* ---- QP and QCQP ---- */

enum { NQ = 6 };
static struct {
    tribo_qcqp_ws *ws;
    double P[NQ * NQ], q[NQ], r[NQ / 2];
    bool cones;
} at_qp;

static bool draw_any_qp(unsigned seed, bool cones) {
    random_state = seed;
    if (!at_qp.ws && tribo_qcqp_ws_new(NQ, NULL, &at_qp.ws) != TRIBO_OK) return false;
    double L[NQ * NQ];
    some(L, NQ * NQ, 0.6), some(at_qp.q, NQ, 1);
    for (int i = 0; i < NQ; i++)
        for (int j = 0; j < NQ; j++) {
            at_qp.P[NQ * i + j] = 0.3 * (i == j);
            for (int k = 0; k < NQ; k++) at_qp.P[NQ * i + j] += L[NQ * i + k] * L[NQ * j + k];
        }
    for (int i = 0; i < NQ / 2; i++) at_qp.r[i] = between(0.1, 0.8);
    at_qp.cones = cones;
    return true;
}
static bool draw_qp(unsigned seed) {
    return draw_any_qp(seed, false);
}
static bool draw_qcqp(unsigned seed) {
    return draw_any_qp(seed, true);
}
/* q (6), P (21), r (3) -> x (6); the mode is one while the active set stays */
static int qp_value(const double *d, double *out) {
    static int first;
    double P[NQ * NQ], q[NQ], r[NQ / 2];
    bool origin = true;
    for (int i = 0; i < NQ; i++) q[i] = at_qp.q[i] + d[i], origin = origin && d[i] == 0;
    for (int i = 0, k = NQ; i < NQ; i++)
        for (int j = 0; j <= i; j++, k++) P[NQ * i + j] = P[NQ * j + i] = at_qp.P[NQ * i + j] + d[k];
    for (int i = 0; i < NQ / 2; i++) r[i] = at_qp.r[i] + (at_qp.cones ? d[27 + i] : 0);
    tribo_qcqp problem = {.n = NQ, .P = P, .q = q, .r = at_qp.cones ? r : NULL};
    memset(out, 0, NQ * sizeof *out);
    if (tribo_qcqp_solve(at_qp.ws, &problem, 1e-14, 0, out, NULL, NULL) != TRIBO_OK) return -1;
    int active = 0;
    for (int i = 0; i < NQ; i++) {
        bool on = at_qp.cones ? hypot(out[i & ~1], out[i | 1]) > r[i / 2] * (1 - 1e-9) : out[i] <= 0;
        active |= on << i;
    }
    if (origin) first = active;
    return active == first && active != 63 - 63 * at_qp.cones ? 0 : -1;
}
static void qp_vjp(const double *bar, double *d) {
    double x[OP_OUT], v[NQ], none[OP_IN] = {0}, r_bar[NQ / 2] = {0};
    tribo_qcqp problem = {.n = NQ, .P = at_qp.P, .q = at_qp.q, .r = at_qp.cones ? at_qp.r : NULL};
    memset(d, 0, 30 * sizeof *d);
    qp_value(none, x);
    ck_assert_int_eq(tribo_qcqp_vjp(at_qp.ws, &problem, x, bar, d, at_qp.cones ? r_bar : NULL, v, NULL), TRIBO_OK);
    for (int i = 0, k = NQ; i < NQ; i++)
        for (int j = 0; j <= i; j++, k++) d[k] = -(v[i] * x[j] + x[i] * v[j]) / (i == j ? 2 : 1);
    if (at_qp.cones) memcpy(d + 27, r_bar, sizeof r_bar);
}

/* ---- the step ---- */

static struct {
    tribo_model *m;
    tribo_ws *ws;
    tribo_tape *tape;
    tribo_sizes n;
    double p[128], x[13], u[6], next[13];
} at_step;

enum { STEP_NP = 3 + 10 + 2 * 19 };

/* A lopsided box with round edges that meets the floor at a corner, in flight, sliding, sticking or bouncing. */
static bool draw_step(unsigned seed) {
    if (!at_step.m) {
        tribo_builder *b = tribo_builder_new(NULL);
        tribo_geom_def floor = tribo_default_geom(), g = tribo_default_geom();
        tribo_body_def body = tribo_default_body();
        floor.shape = TRIBO_PLANE, floor.priority = 1;
        floor.material = (tribo_material){.friction = 0.5,
                                          .stiction = 0.1,
                                          .restitution = 0.3,
                                          .baumgarte = 0.8,
                                          .slop = 5e-4,
                                          .torsion = 0.02,
                                          .rolling = 0.01,
                                          .compliance = 0.02};
        g.shape = TRIBO_BOX, g.size[0] = 0.5, g.size[1] = 0.4, g.size[2] = 0.3, g.pos[0] = 0.1;
        g.material = floor.material; /* which does not count, and may be moved both ways */
        body.inertia_given = true, body.mass = 2, body.com[1] = 0.05;
        for (int i = 0; i < 3; i++) body.inertia[i] = 0.3 + 0.05 * i;
        g.edge_radius = 0.05;
        tribo_add_geom(b, TRIBO_WORLD, &floor);
        tribo_add_geom(b, tribo_add_body(b, &body), &g);
        tribo_set_timestep(b, 0.01);
        tribo_options o = tribo_default_options();
        o.tol = 1e-13;
        if (tribo_build(b, &at_step.m, NULL) != TRIBO_OK ||
            tribo_ws_new(at_step.m, &o, NULL, &at_step.ws, NULL) != TRIBO_OK ||
            tribo_tape_new(at_step.ws, 1, 0, &at_step.tape) != TRIBO_OK)
            return false;
        at_step.n = tribo_model_sizes(at_step.m);
        ck_assert_int_eq(at_step.n.np, STEP_NP);
    }
    random_state = seed;
    double e[4];
    tribo_model_params(at_step.m, at_step.p);
    some(at_step.x, 3, 0.2), some(at_step.x + 7, 6, 2), some(at_step.u, 6, 5);
    ti_vec r = some_vec(1);
    ti_quat_exp(r, e);
    memcpy(at_step.x + 3, e, sizeof e);
    ti_mat R = ti_quat_mat(e); /* put the lowest corner near the floor */
    double reach = 0.45 * fabs(R.m[2][0]) + 0.35 * fabs(R.m[2][1]) + 0.25 * fabs(R.m[2][2]) + 0.05 - 0.1 * R.m[2][0];
    at_step.x[2] = reach + between(-0.004, 0.01);
    if (seed & 8192) at_step.p[tribo_param_find(at_step.m, "geom0/restitution")] = 0;
    if (seed & 4096) memset(at_step.x + 7, 0, 6 * sizeof(double)), at_step.x[9] = -0.5;
    if ((seed & 4096) && (seed & 16384))
        at_step.x[7] = seed & 32768 ? 1 : 0, at_step.x[9] = 0; /* lies there, or slides */
    tribo_tape_rewind(at_step.tape);
    return tribo_step(at_step.ws, at_step.p, at_step.x, at_step.u, at_step.next, at_step.tape) == TRIBO_OK;
}
/* The impulse of all contacts on body 0, world axes. */
static void net_impulse(const tribo_contact *c, int n, double *sum) {
    for (int r = 0; r < 3; r++) {
        sum[r] = 0;
        for (int i = 0; i < n; i++)
            sum[r] += c[i].impulse[0] * c[i].tangent[0][r] + c[i].impulse[1] * c[i].tangent[1][r] +
                      c[i].impulse[2] * c[i].normal[r];
    }
}
/* dx (12), u (6), p (STEP_NP) -> dx' (12), the net impulse (3); the modes are flight, stick, slide, and with a
 * bounce */
static int step_value(const double *d, double *out) {
    double x[13], u[6], p[128], next[13];
    tribo_state_add(at_step.m, at_step.x, d, x);
    for (int i = 0; i < 6; i++) u[i] = at_step.u[i] + d[12 + i];
    memcpy(p, at_step.p, sizeof p);
    /* Restitution 0 is the least there is: contacts stay, and it moves nothing. A plane has no edges. */
    int e = tribo_param_find(at_step.m, "geom0/restitution"), edge = tribo_param_find(at_step.m, "geom0/edge_radius");
    for (int i = 0; i < at_step.n.np; i++)
        if (i != edge && (i != e || p[i] > 0)) p[i] += d[18 + i];
    if (tribo_step(at_step.ws, p, x, u, next, NULL) != TRIBO_OK) return -1;
    tribo_state_difference(at_step.m, at_step.next, next, out);
    int n, mode = 0, active = 0;
    const tribo_contact *c = tribo_last_contacts(at_step.ws, &n);
    for (int i = 0; i < n; i++)
        if (c[i].mode != TRIBO_BREAK) mode = (c[i].mode == TRIBO_SLIDE ? 2 : 1) + 2 * c[i].bounced, active++;
    net_impulse(c, n, out + 12);
    return active < 2 ? mode : -1;
}
static void step_jvp(const double *d, double *out) {
    ck_assert_int_eq(tribo_step_jvp(at_step.ws, at_step.tape, 0, 1, d, d + 12, d + 18, out), TRIBO_OK);
}
static void step_vjp(const double *bar, double *d) {
    memset(d, 0, sizeof(double) * (size_t)(18 + at_step.n.np));
    ck_assert_int_eq(tribo_step_vjp(at_step.ws, at_step.tape, 0, bar, d, d + 12, d + 18), TRIBO_OK);
}

static void impulses_vjp(const double *bar, double *d) {
    double impulse[3 * 16];
    int n = tribo_tape_contacts(at_step.tape, 0, NULL);
    ck_assert_int_le(n, 16);
    for (int i = 0; i < 3 * n; i++) impulse[i] = bar[12 + i % 3];
    memset(d, 0, sizeof(double) * (size_t)(18 + at_step.n.np));
    tribo_status s = tribo_step_impulses_vjp(at_step.ws, at_step.tape, 0, bar, impulse, d, d + 12, d + 18);
    ck_assert_int_eq(s, TRIBO_OK);
}

/* ---- a start that stands, settled ---- */

static struct {
    tribo_model *m;
    tribo_sysid *s;
    tribo_sizes n;
    double x0[13], x[13], p[128], P[4 * 128];
} at_settle;
enum { SETTLED_FREE = 4 };

/* A box of unequal sides that slides and turns on a floor, recorded over a few rows. */
static bool make_settle(void) {
    static const char *const names[SETTLED_FREE] = {"box/size/x", "box/size/y", "box/size/z", "floor/pos/z"};
    enum { ROWS = 8 };
    double time[ROWS], x[ROWS * 13];
    tribo_free_param free[SETTLED_FREE];
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_geom_def floor = tribo_default_geom(), g = tribo_default_geom();
    tribo_body_def body = tribo_default_body();
    floor.shape = TRIBO_PLANE, floor.name = "floor";
    body.name = "box", body.pos[2] = 0.3;
    g.shape = TRIBO_BOX, g.name = "box", g.size[0] = 0.5, g.size[1] = 0.4, g.size[2] = 0.3;
    tribo_add_geom(b, TRIBO_WORLD, &floor), tribo_add_geom(b, tribo_add_body(b, &body), &g);
    if (tribo_build(b, &at_settle.m, NULL) != TRIBO_OK) return false;
    at_settle.n = tribo_model_sizes(at_settle.m);
    for (int k = 0; k < ROWS; k++) {
        time[k] = 0.01 * k;
        tribo_model_state0(at_settle.m, x + 13 * k);
        x[13 * k] = 0.02 * k, x[13 * k + 7] = 2;
    }
    for (int i = 0; i < SETTLED_FREE; i++) {
        free[i] = tribo_default_free();
        free[i].index = tribo_param_find(at_settle.m, names[i]);
    }
    tribo_recording rec = {.n = ROWS, .time = time, .x = x};
    tribo_sysid_def def = tribo_default_sysid();
    def.free = free, def.nfree = SETTLED_FREE, def.rec = &rec, def.nrec = 1, def.start = TRIBO_START_ALONG;
    return tribo_sysid_new(at_settle.m, &def, &at_settle.s, NULL) == TRIBO_OK;
}

static bool draw_settle(unsigned seed) {
    if (!at_settle.m && !make_settle()) return false;
    ti_worker *w = at_settle.s->worker;
    ti_track *t = at_settle.s->track;
    double d[12] = {0};
    random_state = seed;
    if (t->nstand != 1 || t->rest[0]) return false;
    tribo_model_params(at_settle.m, at_settle.p), tribo_model_state0(at_settle.m, at_settle.x);
    memset(at_settle.P, 0, sizeof at_settle.P);
    for (int i = 0; i < SETTLED_FREE; i++) at_settle.P[i * at_settle.n.np + at_settle.s->unknown[i].index] = 1;
    some(d, 2, 1), some(d + 3, 2, 1e-3), d[5] = between(-3, 3), some(d + 6, 6, 2);
    tribo_state_add(at_settle.m, at_settle.x, d, at_settle.x);
    if (!ti_settle(w, t, at_settle.p, at_settle.x)) return false;
    return ti_settle(w, t, at_settle.p, at_settle.x); /* again, to rounding: corners are redundant */
}

/* dx (12) of the start, then of what is free (4) -> dx' (12) */
static int settle_value(const double *d, double *out) {
    double p[128], x[13];
    memcpy(p, at_settle.p, sizeof p);
    for (int i = 0; i < SETTLED_FREE; i++) p[at_settle.s->unknown[i].index] += d[12 + i];
    tribo_state_add(at_settle.m, at_settle.x, d, x);
    if (!ti_settle(at_settle.s->worker, at_settle.s->track, p, x)) return -1;
    tribo_state_difference(at_settle.m, at_settle.x, x, out);
    return 0;
}
static void settle_jvp(const double *d, double *out) {
    ti_worker *w = at_settle.s->worker;
    const ti_track *t = at_settle.s->track;
    ck_assert(ti_settle_jac(w, t, at_settle.p, at_settle.P, at_settle.x, t->T));
    for (int i = 0; i < 12; i++) {
        out[i] = 0;
        for (int j = 0; j < 12; j++) out[i] += t->T[12 * i + j] * d[j];
        for (int a = 0; a < SETTLED_FREE; a++) out[i] += w->x0d[12 * a + i] * d[12 + a];
    }
}
static void settle_vjp(const double *bar, double *d) {
    const ti_worker *w = at_settle.s->worker;
    const ti_track *t = at_settle.s->track;
    ck_assert(ti_settle_jac(at_settle.s->worker, t, at_settle.p, at_settle.P, at_settle.x, t->T));
    for (int j = 0; j < 12 + SETTLED_FREE; j++) {
        d[j] = 0;
        for (int i = 0; i < 12; i++) d[j] += bar[i] * (j < 12 ? t->T[12 * i + j] : w->x0d[12 * (j - 12) + i]);
    }
}

/* ---- the table ---- */

static const diff_op ops[] = {
    {"link", 31, 15, 1, 1e-2, 1e-9, draw_link, link_value, link_jvp, link_vjp},
    {"link integrate", 34, 12, 1, 1e-2, 1e-9, draw_link, integrate_value, integrate_jvp, integrate_vjp},
    {"link fast spin", 28, 12, 2, 1e-3, 1e-9, draw_spin, spin_value, spin_jvp, spin_vjp},
    {"spin", 12, 6, 3, 1e-4, 1e-9, draw_spin_alone, spin_alone_value, spin_alone_jvp, spin_alone_vjp},
    {"shape", 16, 9, 1, 1e-2, 1e-9, draw_shape, shape_value, shape_jvp, shape_vjp},
    {"rows", 18, 18, 1, 1e-2, 1e-9, draw_rows, rows_value, rows_jvp, rows_vjp},
    {"tangents", 2, 6, 2, 1e-2, 1e-9, draw_tangents, tangents_value, tangents_jvp, tangents_vjp},
    {"gap", 5, 6, 6, 1e-3, 1e-9, draw_gap, gap_value, gap_jvp, gap_vjp},
    {"plane-sphere", TI_COLLIDE_COLS, 7, 1, 1e-3, 1e-9, draw_plane_sphere, pair_value, pair_jvp, pair_vjp},
    {"plane-box", TI_COLLIDE_COLS, 7, 1, 1e-3, 1e-9, draw_plane_box, pair_value, pair_jvp, pair_vjp},
    {"sphere-sphere", TI_COLLIDE_COLS, 7, 1, 1e-3, 1e-9, draw_sphere_sphere, pair_value, pair_jvp, pair_vjp},
    {"sphere-box", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_sphere_box, pair_value, pair_jvp, pair_vjp},
    {"box-box", TI_COLLIDE_COLS, 7, 1, 1e-3, 1e-8, draw_box_box, pair_value, pair_jvp, pair_vjp},
    {"plane-capsule", TI_COLLIDE_COLS, 7, 1, 1e-3, 1e-9, draw_plane_capsule, pair_value, pair_jvp, pair_vjp},
    {"sphere-capsule", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_sphere_capsule, pair_value, pair_jvp, pair_vjp},
    {"box-capsule", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_box_capsule, pair_value, pair_jvp, pair_vjp},
    {"capsule-capsule", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_capsule_capsule, pair_value, pair_jvp, pair_vjp},
    {"plane-cylinder", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_plane_cylinder, pair_value, pair_jvp, pair_vjp},
    {"sphere-cylinder", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_sphere_cylinder, pair_value, pair_jvp, pair_vjp},
    {"box-cylinder", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_box_cylinder, pair_value, pair_jvp, pair_vjp},
    {"capsule-cylinder", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_capsule_cylinder, pair_value, pair_jvp, pair_vjp},
    {"cylinder-cylinder", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_cylinder_cylinder, pair_value, pair_jvp, pair_vjp},
    {"plane-ellipsoid", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_plane_ellipsoid, pair_value, pair_jvp, pair_vjp},
    {"sphere-ellipsoid", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_sphere_ellipsoid, pair_value, pair_jvp, pair_vjp},
    {"box-ellipsoid", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_box_ellipsoid, pair_value, pair_jvp, pair_vjp},
    {"capsule-ellipsoid", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_capsule_ellipsoid, pair_value, pair_jvp, pair_vjp},
    {"cylinder-ellipsoid", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_cylinder_ellipsoid, pair_value, pair_jvp, pair_vjp},
    {"ellipsoid-ellipsoid", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_ellipsoid_ellipsoid, pair_value, pair_jvp,
     pair_vjp},
    {"plane-mesh", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_plane_mesh, pair_value, pair_jvp, pair_vjp},
    {"sphere-mesh", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_sphere_mesh, pair_value, pair_jvp, pair_vjp},
    {"box-mesh", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_box_mesh, pair_value, pair_jvp, pair_vjp},
    {"capsule-mesh", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_capsule_mesh, pair_value, pair_jvp, pair_vjp},
    {"cylinder-mesh", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_cylinder_mesh, pair_value, pair_jvp, pair_vjp},
    {"ellipsoid-mesh", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_ellipsoid_mesh, pair_value, pair_jvp, pair_vjp},
    {"mesh-mesh", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_mesh_mesh, pair_value, pair_jvp, pair_vjp},
    {"sphere-field", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_sphere_field, pair_value, pair_jvp, pair_vjp},
    {"box-field", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_box_field, pair_value, pair_jvp, pair_vjp},
    {"capsule-field", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_capsule_field, pair_value, pair_jvp, pair_vjp},
    {"cylinder-field", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_cylinder_field, pair_value, pair_jvp, pair_vjp},
    {"ellipsoid-field", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_ellipsoid_field, pair_value, pair_jvp, pair_vjp},
    {"mesh-field", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_mesh_field, pair_value, pair_jvp, pair_vjp},
    {"plane-round box", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_plane_round_box, pair_value, pair_jvp, pair_vjp},
    {"sphere-round box", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_sphere_round_box, pair_value, pair_jvp, pair_vjp},
    {"round boxes", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_round_boxes, pair_value, pair_jvp, pair_vjp},
    {"round box-capsule", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_round_box_capsule, pair_value, pair_jvp, pair_vjp},
    {"round box-round cylinder", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_round_box_cylinder, pair_value, pair_jvp,
     pair_vjp},
    {"plane-round cylinder", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_plane_round_cylinder, pair_value, pair_jvp,
     pair_vjp},
    {"round cylinder-ellipsoid", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_round_cylinder_ellipsoid, pair_value, pair_jvp,
     pair_vjp},
    {"round box-mesh", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_round_box_mesh, pair_value, pair_jvp, pair_vjp},
    {"round box-field", TI_COLLIDE_COLS, 7, 1, 3e-4, 1e-9, draw_round_box_field, pair_value, pair_jvp, pair_vjp},
    {"ncp", CONTACT_IN + 1, 9, 3, 1e-3, 1e-9, draw_ncp, contact_value, NULL, contact_vjp},
    {"ncp corners", CONTACT_IN + NC, 18, 3, 2e-3, 1e-6, draw_ncp_corners, contact_value, NULL, contact_vjp},
    {"ccp", CONTACT_IN + 1, 9, 3, 1e-3, 1e-9, draw_ccp, contact_value, NULL, contact_vjp},
    {"ccp corners", CONTACT_IN + NC, 18, 3, 2e-3, 1e-6, draw_ccp_corners, contact_value, NULL, contact_vjp},
    {"ccp newton", CONTACT_IN + 1, 9, 3, 1e-3, 1e-9, draw_ccp_newton, contact_value, NULL, contact_vjp},
    {"ccp newton corners", CONTACT_IN + NC, 18, 3, 2e-3, 1e-6, draw_ccp_newton_corners, contact_value, NULL,
     contact_vjp},
    {"ccp spring", CONTACT_IN + 1, 9, 3, 1e-3, 1e-9, draw_ccp_spring, contact_value, NULL, contact_vjp},
    {"ccp spring corners", CONTACT_IN + NC, 18, 3, 2e-3, 1e-6, draw_ccp_spring_corners, contact_value, NULL,
     contact_vjp},
    {"ccp mujoco", CONTACT_IN + 1, 9, 3, 1e-3, 1e-9, draw_ccp_mujoco, contact_value, NULL, contact_vjp},
    {"ccp mujoco corners", CONTACT_IN + NC, 18, 3, 2e-3, 1e-6, draw_ccp_mujoco_corners, contact_value, NULL,
     contact_vjp},
    /* along an edge that is no axis the compliance is 1e-8: its inverse leaves that much across */
    {"lcp", CONTACT_IN + 1, 9, 4, 1e-3, 1e-8, draw_lcp, contact_value, NULL, contact_vjp},
    {"lcp corners", CONTACT_IN + NC, 18, 3, 2e-3, 1e-6, draw_lcp_corners, contact_value, NULL, contact_vjp},
    {"lcp wide", CONTACT_IN + 1, 9, 4, 1e-3, 1e-8, draw_lcp_wide, contact_value, NULL, contact_vjp},
    {"lcp wide corners", CONTACT_IN + NC, 18, 3, 2e-3, 1e-6, draw_lcp_wide_corners, contact_value, NULL, contact_vjp},
    {"raisim", CONTACT_IN + 1, 9, 3, 1e-3, 1e-9, draw_raisim, contact_value, NULL, contact_vjp},
    {"raisim corners", CONTACT_IN + NC, 18, 3, 3e-3, 1e-6, draw_raisim_corners, contact_value, NULL, contact_vjp},
    {"corrected", CONTACT_IN + 1, 9, 3, 1e-3, 1e-9, draw_corrected, contact_value, NULL, contact_vjp},
    {"corrected corners", CONTACT_IN + NC, 18, 3, 3e-3, 1e-6, draw_corrected_corners, contact_value, NULL, contact_vjp},
    {"stochastic logistic", CONTACT_IN + 1, 9, 1, 1e-3, 1e-9, draw_logistic, contact_value, NULL, contact_vjp},
    {"stochastic logistic corners", CONTACT_IN + NC, 18, 1, 1e-3, 1e-8, draw_logistic_corners, contact_value, NULL,
     contact_vjp},
    {"stochastic gaussian", CONTACT_IN + 1, 9, 1, 1e-3, 1e-9, draw_gaussian, contact_value, NULL, contact_vjp},
    {"stochastic gaussian corners", CONTACT_IN + NC, 18, 1, 1e-3, 1e-8, draw_gaussian_corners, contact_value, NULL,
     contact_vjp},
    {"ncp admm", CONTACT_IN + 1, 9, 3, 1e-3, 1e-9, draw_ncp_admm, contact_value, NULL, contact_vjp},
    {"ncp admm corners", CONTACT_IN + NC, 18, 3, 2e-3, 1e-6, draw_ncp_admm_corners, contact_value, NULL, contact_vjp},
    {"ncp staggered", CONTACT_IN + 1, 9, 3, 1e-3, 1e-9, draw_ncp_staggered, contact_value, NULL, contact_vjp},
    {"ncp staggered corners", CONTACT_IN + NC, 18, 3, 2e-3, 1e-6, draw_ncp_staggered_corners, contact_value, NULL,
     contact_vjp},
    {"ncp newton", CONTACT_IN + 1, 9, 3, 1e-3, 1e-9, draw_ncp_newton, contact_value, NULL, contact_vjp},
    {"ncp newton corners", CONTACT_IN + NC, 18, 3, 2e-3, 1e-6, draw_ncp_newton_corners, contact_value, NULL,
     contact_vjp},
    {"ncp interior", CONTACT_IN + 1, 9, 3, 1e-3, 1e-9, draw_ncp_interior, contact_value, NULL, contact_vjp},
    {"ncp interior corners", CONTACT_IN + NC, 18, 3, 2e-3, 1e-6, draw_ncp_interior_corners, contact_value, NULL,
     contact_vjp},
    {"central", CONTACT_IN + 1, 9, 2, 1e-3, 1e-8, draw_central, central_value, NULL, contact_vjp},
    {"central corners", CONTACT_IN + NC, 18, 1, 2e-3, 1e-6, draw_central_corners, contact_value, NULL, contact_vjp},
    {"stochastic erm", CONTACT_IN + 1, 9, 1, 1e-3, 1e-9, draw_erm, contact_value, NULL, contact_vjp},
    {"stochastic erm corners", CONTACT_IN + NC, 18, 1, 5e-4, 1e-8, draw_erm_corners, contact_value, NULL, contact_vjp},
    {"qp", 27, 6, 1, 1e-3, 1e-9, draw_qp, qp_value, NULL, qp_vjp},
    {"qcqp", 30, 6, 1, 1e-3, 1e-9, draw_qcqp, qp_value, NULL, qp_vjp},
    {"settle", 12 + SETTLED_FREE, 12, 1, 1e-4, 1e-7, draw_settle, settle_value, settle_jvp, settle_vjp},
    DYN_ROWS,
    {"step", 18 + STEP_NP, 12, 5, 1e-5, 1e-8, draw_step, step_value, step_jvp, step_vjp},
    {"step impulses", 18 + STEP_NP, 15, 5, 1e-5, 1e-8, draw_step, step_value, NULL, impulses_vjp},
};

START_TEST(every_op) {
    op_check(&ops[_i]);
}
END_TEST

static void release(void) {
    dyn_release();
    tribo_model_free(at_shape.m), tribo_model_free(at_step.m);
    tribo_sysid_free(at_settle.s), tribo_model_free(at_settle.m);
    at_settle.s = NULL, at_settle.m = NULL;
    tribo_tape_free(at_step.tape), tribo_ws_free(at_step.ws);
    tribo_contact_ws_free(at_contact.ws), tribo_qcqp_ws_free(at_qp.ws);
    at_shape.m = at_step.m = NULL, at_step.tape = NULL, at_step.ws = NULL, at_contact.ws = NULL, at_qp.ws = NULL;
}

static Suite *suite(void) {
    Suite *s = suite_create("differentiable functions");
    TCase *t = tcase_create("table");
    tcase_set_timeout(t, 60);
    tcase_add_unchecked_fixture(t, NULL, release);
    tcase_add_loop_test(t, every_op, 0, sizeof ops / sizeof *ops);
    suite_add_tcase(s, t);
    return s;
}
