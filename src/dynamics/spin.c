/* spin.c -- the angular part of a free motion: Euler's equation by the implicit midpoint rule, in as many substeps as
 * the spin asks for. docs/math.md eq. (7), (8), (120)-(122).
 */
#include "dynamics/spin.h"
#include <string.h>

/* ordinary: angle by which a body turns in one step of the rule, at most. fine: angle by which its angular velocity
 * turns in the body, in a substep. */
static const double ordinary = 0.5, fine = 0.25;
enum { SUBSTEPS_MAX = 4096 };

/* ---- one substep: I (wf - w) + dt wm x I wm = dt torque, wm = (w + wf) / 2 ---- */

ti_mat ti_gyro_matrix(const ti_mat *I, ti_vec wm, double dt, double sign) {
    ti_mat W = ti_skew(wm), WI = ti_matmul(&W, I), L = ti_skew(ti_mul(I, wm)), K;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) K.m[i][j] = sign * I->m[i][j] + 0.5 * dt * (WI.m[i][j] - L.m[i][j]);
    return K;
}

void ti_link_gyro(const ti_link *l, double dt, ti_mat *Ki, ti_mat *Kw) {
    ti_vec wm = ti_scale(0.5, ti_add(l->w, l->wf));
    ti_mat K = ti_gyro_matrix(&l->I, wm, dt, 1);
    *Ki = ti_inverse(&K), *Kw = ti_gyro_matrix(&l->I, wm, dt, -1);
}

static double frobenius(const ti_mat *A) {
    double s = 0;
    for (int i = 0; i < 3; i++) s += ti_dot(ti_load3(A->m[i]), ti_load3(A->m[i]));
    return sqrt(s);
}

bool ti_spin_midpoint(const ti_mat *I, const ti_mat *inv, ti_vec torque, ti_vec w, double dt, ti_vec *wf) {
    ti_vec Iw = ti_mul(I, w);
    double off = 0, size = 0;
    *wf = ti_axpy(w, dt, ti_mul(inv, ti_sub(torque, ti_cross(w, Iw))));
    for (int k = 0; k < 12; k++) { /* quadratic, so two or three rounds */
        ti_vec wm = ti_scale(0.5, ti_add(w, *wf)), Lm = ti_mul(I, wm), gyro = ti_cross(wm, Lm);
        ti_vec e = ti_sub(ti_axpy(ti_mul(I, ti_sub(*wf, w)), dt, gyro), ti_scale(dt, torque));
        size = ti_norm(Lm) + fabs(dt) * (ti_norm(gyro) + ti_norm(torque)), off = ti_norm(e);
        if (!(off > 1e-16 * size)) break;
        ti_mat K = ti_gyro_matrix(I, wm, dt, 1), Ki = ti_inverse(&K);
        *wf = ti_sub(*wf, ti_mul(&Ki, e));
    }
    if (off <= 1e-12 * size) return true; /* else a rod about its axis: |I wm| is small beside |I| |wm| */
    return off <= 1e-12 * (frobenius(I) * (ti_norm(w) + ti_norm(*wf)) + fabs(dt) * ti_norm(torque));
}

static bool midpoint(const ti_link *l, const ti_mat *inv, ti_vec w, double dt, ti_vec *wf) {
    return ti_spin_midpoint(&l->I, inv, l->torque, w, dt, wf);
}

/* ---- all of them ---- */

/* The mean of the principal moments. */
static double mean_moment(const ti_mat *I) {
    return (I->m[0][0] + I->m[1][1] + I->m[2][2]) / 3;
}

/* docs/math.md eq. (120). Two at least where a body turns fast, for the sake of its attitude. A double, because it
 * knows no bounds. */
static double substeps(const ti_link *l, const ti_mat *inv, double dt) {
    double w = dt * ti_norm(l->w), t2 = ti_dot(l->torque, l->torque);
    double turn = t2 > 0 ? w + dt * dt * ti_norm(ti_mul(inv, l->torque)) : w;
    if (!(turn > ordinary)) return 1;
    double mean = mean_moment(&l->I);
    ti_mat off = l->I;
    for (int i = 0; i < 3; i++) off.m[i][i] -= mean;
    double angle = turn * frobenius(&off) / mean;
    return fmax(2, ceil(angle / fine));
}

/* What a substep turns the body by: exp(a) and then Cayley's rotation of b. */
static void substep_turn(const ti_link *l, double dt, ti_vec w, ti_vec wf, ti_vec *a, ti_vec *b) {
    double mean = mean_moment(&l->I);
    ti_vec wm = ti_scale(0.5, ti_add(w, wf)), L = ti_axpy(ti_mul(&l->I, w), 0.5 * dt, l->torque);
    *a = ti_scale(dt / mean, L);
    *b = ti_scale(dt, ti_axpy(wm, -1 / mean, ti_mul(&l->I, wm)));
}

static void cayley(ti_vec b, double *q) {
    double n = 1 / sqrt(1 + 0.25 * ti_dot(b, b));
    q[0] = n, q[1] = 0.5 * n * b.x, q[2] = 0.5 * n * b.y, q[3] = 0.5 * n * b.z;
}

static bool spin_in(ti_link *l, const ti_mat *inv, double dt, int n) {
    double h = dt / n, back[4], q[4];
    ti_vec w = l->w, a, b;
    for (int k = 0; k < n; k++, w = l->wf) {
        if (!midpoint(l, inv, w, h, &l->wf)) return false;
        if (n == 1) break;
        if (k == 0) memcpy(l->precession, (double[4]){1, 0, 0, 0}, sizeof l->precession);
        substep_turn(l, h, w, l->wf, &a, &b);
        ti_quat_exp(a, q), ti_quat_mul(l->precession, q, l->precession);
        cayley(b, q), ti_quat_mul(l->precession, q, l->precession);
    }
    l->substeps = n;
    if (n == 1) return true;
    ti_quat_exp(ti_scale(-dt, l->wf), back), ti_quat_mul(l->precession, back, l->precession);
    return true;
}

bool ti_spin(ti_link *l, double dt) {
    ti_mat inv = ti_inverse(&l->I);
    for (double n = substeps(l, &inv, dt); n <= SUBSTEPS_MAX; n *= 2)
        if (spin_in(l, &inv, dt, (int)n)) return true;
    return false;
}

/* ---- derivatives: tangents through the substeps, many at once ---- */

/* From the state's side to the free velocity's. */
typedef struct direction {
    ti_vec w, torque;
    ti_mat I;
    ti_vec wf, turn; /* turn: behind the rotation so far */
} direction;

static void midpoint_jvp(const ti_mat *Ki, const ti_mat *Kw, double dt, ti_vec w, ti_vec wf, ti_vec w_dot,
                         direction *d) {
    ti_vec wm = ti_scale(0.5, ti_add(w, wf));
    ti_vec e = ti_add(ti_mul(Kw, w_dot), ti_mul(&d->I, ti_sub(wf, w)));
    e = ti_axpy(e, dt, ti_sub(ti_cross(wm, ti_mul(&d->I, wm)), d->torque));
    d->wf = ti_scale(-1, ti_mul(Ki, e));
}

/* docs/math.md eq. (122) */
static void turn_jvp(const ti_link *l, double dt, ti_vec w, ti_vec wf, ti_vec w_dot, direction *d) {
    double mean = mean_moment(&l->I), mean_dot = mean_moment(&d->I), q[4];
    ti_vec wm = ti_scale(0.5, ti_add(w, wf)), wm_dot = ti_scale(0.5, ti_add(w_dot, d->wf)), a, b;
    substep_turn(l, dt, w, wf, &a, &b);
    ti_vec L_dot = ti_axpy(ti_add(ti_mul(&d->I, w), ti_mul(&l->I, w_dot)), 0.5 * dt, d->torque);
    ti_vec a_dot = ti_axpy(ti_scale(dt / mean, L_dot), -mean_dot / mean, a);
    ti_vec m_dot = ti_add(ti_mul(&d->I, wm), ti_mul(&l->I, wm_dot));
    ti_vec b_dot = ti_axpy(wm_dot, -1 / mean, ti_axpy(m_dot, -mean_dot / mean, ti_mul(&l->I, wm)));
    b_dot = ti_scale(dt, b_dot);
    ti_quat_exp(a, q);
    ti_mat A = ti_quat_mat(q);
    cayley(b, q);
    ti_mat B = ti_quat_mat(q);
    ti_vec turn = ti_add(ti_tmul(&A, d->turn), ti_exp_right(a, a_dot));
    ti_vec right = ti_scale(1 / (1 + 0.25 * ti_dot(b, b)), ti_axpy(b_dot, -0.5, ti_cross(b, b_dot)));
    d->turn = ti_add(ti_tmul(&B, turn), right);
}

static void spin_jvp(const ti_link *l, double dt, int count, direction *d) {
    double h = dt / l->substeps, q[4];
    ti_mat inv = ti_inverse(&l->I);
    ti_link at = *l;
    for (int j = 0; j < count; j++) d[j].wf = d[j].w, d[j].turn = ti_vec3(0, 0, 0);
    for (int k = 0; k < l->substeps; k++, at.w = at.wf) {
        ti_mat Ki, Kw;
        midpoint(l, &inv, at.w, h, &at.wf);
        ti_link_gyro(&at, h, &Ki, &Kw);
        for (int j = 0; j < count; j++) {
            ti_vec w_dot = d[j].wf;
            midpoint_jvp(&Ki, &Kw, h, at.w, at.wf, w_dot, &d[j]);
            turn_jvp(l, h, at.w, at.wf, w_dot, &d[j]);
        }
    }
    ti_vec r = ti_scale(dt, l->wf);
    ti_quat_exp(r, q);
    ti_mat E = ti_quat_mat(q);
    for (int j = 0; j < count; j++)
        d[j].turn = ti_sub(ti_mul(&E, d[j].turn), ti_exp_right(ti_scale(-1, r), ti_scale(dt, d[j].wf)));
}

void ti_spin_jvp(const ti_link *l, double dt, ti_vec torque_dot, ti_link_diff *d) {
    direction one = {.w = d->w, .torque = torque_dot, .I = d->I};
    if (l->substeps == 1) {
        ti_mat Ki, Kw;
        ti_link_gyro(l, dt, &Ki, &Kw);
        midpoint_jvp(&Ki, &Kw, dt, l->w, l->wf, d->w, &one);
    } else {
        spin_jvp(l, dt, 1, &one);
    }
    d->wf = one.wf, d->precession = one.turn;
}

/* The transpose, of one substep in closed form, of more by a tangent for each number that goes in. */
ti_vec ti_spin_vjp(const ti_link *l, double dt, ti_link_diff *d) {
    if (l->substeps == 1) {
        ti_vec wm = ti_scale(0.5, ti_add(l->w, l->wf));
        ti_mat Ki, Kw;
        ti_link_gyro(l, dt, &Ki, &Kw);
        ti_vec z = ti_tmul(&Ki, d->wf);
        d->w = ti_sub(d->w, ti_tmul(&Kw, z));
        ti_outer_add(&d->I, -1, z, ti_sub(l->wf, l->w));
        ti_outer_add(&d->I, -dt, ti_cross(z, wm), wm);
        return ti_scale(dt, z);
    }
    static const double unit[6][6] = {{1, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0}, {0, 0, 1, 0, 0, 0},
                                      {0, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 1}};
    static const int row[6] = {0, 1, 2, 0, 0, 1}, col[6] = {0, 1, 2, 1, 2, 2};
    direction in[12] = {0};
    double out[12];
    for (int j = 0; j < 3; j++) in[j].w = ti_load3(unit[j]), in[3 + j].torque = ti_load3(unit[j]);
    for (int j = 0; j < 6; j++) in[6 + j].I = ti_sym(unit[j]);
    spin_jvp(l, dt, 12, in);
    for (int j = 0; j < 12; j++) out[j] = ti_dot(d->wf, in[j].wf) + ti_dot(d->precession, in[j].turn);
    d->w = ti_add(d->w, ti_load3(out));
    for (int j = 0; j < 6; j++) d->I.m[row[j]][col[j]] += out[6 + j];
    return ti_load3(out + 3);
}
