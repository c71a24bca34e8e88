/* drag.c -- see drag.h; all of it is in the axes of the box. */
#include "dynamics/drag.h"
#include <string.h>

static const double PI = 3.14159265358979323846;
static const double LEAST = 1e-15;     /* of a moment that makes a side, as in MuJoCo, and of a mass that is dragged */
static const double POINTLIKE = 1e-30; /* kg m^2: what is welded to others need not turn by itself */

/* ---- what resists: docs/math.md eq. (500) ---- */

/* Of both, of force and of torque: what is in proportion to velocity, then what is to the size of each of the three. */
enum { COEFFICIENTS = 8, BY = 6 }; /* by mass, three moments, density, viscosity */
typedef struct coefficients {
    double of[2][4], by[COEFFICIENTS][BY];
} coefficients;

/* Sides of the box, and how they change with the mass and the moments about its axes. */
static void sides(double mass, const ti_mat *J, double b[3], double by[3][4]) {
    for (int k = 0; k < 3; k++) {
        double q = J->m[0][0] + J->m[1][1] + J->m[2][2] - 2 * J->m[k][k];
        b[k] = sqrt(6 * (q > LEAST ? q : LEAST) / mass);
        by[k][0] = -0.5 * b[k] / mass;
        for (int i = 0; i < 3; i++) by[k][1 + i] = q > LEAST ? (i == k ? -3 : 3) / (b[k] * mass) : 0;
    }
}

/* `by` += of a coefficient that changes so with sides, density and viscosity. */
static void through_sides(double by_side[3][4], const double slope[3], double density, double viscosity, double *by) {
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 4; i++) by[i] += slope[k] * by_side[k][i];
    by[4] = density, by[5] = viscosity;
}

static coefficients coefficients_of(double mass, const ti_mat *J, const ti_fluid *f) {
    coefficients c = {{{0}}, {{0}}};
    double b[3], by_side[3][4];
    sides(mass, J, b, by_side);
    double d = (b[0] + b[1] + b[2]) / 3, mu = f->viscosity, rho = f->density;
    const double lin[3] = {PI * mu, PI * mu, PI * mu}, cube[3] = {PI * d * d * mu, PI * d * d * mu, PI * d * d * mu};
    c.of[0][0] = 3 * PI * d * mu, c.of[1][0] = PI * d * d * d * mu;
    through_sides(by_side, lin, 0, 3 * PI * d, c.by[0]);
    through_sides(by_side, cube, 0, PI * d * d * d, c.by[4]);
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double face = 0.5 * b[i] * b[j], four = (pow(b[i], 4) + pow(b[j], 4)) / 64, slope[3] = {0, 0, 0};
        slope[i] = 0.5 * rho * b[j], slope[j] = 0.5 * rho * b[i];
        c.of[0][1 + k] = rho * face;
        through_sides(by_side, slope, face, 0, c.by[1 + k]);
        slope[k] = rho * four;
        slope[i] = rho * b[k] * pow(b[i], 3) / 16, slope[j] = rho * b[k] * pow(b[j], 3) / 16;
        c.of[1][1 + k] = rho * b[k] * four;
        through_sides(by_side, slope, b[k] * four, 0, c.by[5 + k]);
    }
    return c;
}

/* ---- over a step: docs/math.md eq. (501) ---- */

/* K, what it takes of x, and what of x is left when the step ends if nothing else acts: (J + h K) left = J x. */
typedef struct resistance {
    ti_mat inverse;
    double K[3];
    ti_vec x, left, force;
} resistance;

static ti_vec times(const double K[3], ti_vec x) {
    return (ti_vec){K[0] * x.x, K[1] * x.y, K[2] * x.z};
}

static resistance resist(const ti_mat *J, const double of[4], ti_vec x, double dt) {
    resistance r = {.inverse = *J, .x = x};
    for (int k = 0; k < 3; k++) {
        r.K[k] = of[0] + of[1 + k] * fabs(ti_get(x, k));
        r.inverse.m[k][k] += dt * r.K[k] + POINTLIKE;
    }
    r.inverse = ti_inverse(&r.inverse);
    r.left = ti_mul(&r.inverse, ti_mul(J, x));
    r.force = ti_scale(-1, times(r.K, r.left));
    return r;
}

static double side_of(double x) {
    return x < 0 ? -1 : x > 0;
}

/* The symmetric part of J_bar counts. */
static ti_vec resist_vjp(const ti_mat *J, const resistance *r, const double of[4], double dt, ti_vec force_bar,
                         ti_mat *J_bar, double of_bar[4]) {
    ti_vec z = ti_tmul(&r->inverse, ti_scale(-1, times(r->K, force_bar)));
    double x_bar[3];
    ti_store3(x_bar, ti_mul(J, z));
    ti_outer_add(J_bar, 1, z, ti_sub(r->x, r->left));
    for (int k = 0; k < 3; k++) {
        double x = ti_get(r->x, k), K_bar = -(ti_get(force_bar, k) + dt * ti_get(z, k)) * ti_get(r->left, k);
        of_bar[0] += K_bar, of_bar[1 + k] += K_bar * fabs(x);
        x_bar[k] += K_bar * of[1 + k] * side_of(x);
    }
    return ti_load3(x_bar);
}

static ti_vec resist_jvp(const ti_mat *J, const resistance *r, const double of[4], double dt, ti_vec x_dot,
                         const ti_mat *J_dot, const double of_dot[4]) {
    double K_dot[3];
    for (int k = 0; k < 3; k++) {
        double x = ti_get(r->x, k);
        K_dot[k] = of_dot[0] + of_dot[1 + k] * fabs(x) + of[1 + k] * side_of(x) * ti_get(x_dot, k);
    }
    ti_vec right = ti_add(ti_mul(J, x_dot), ti_mul(J_dot, ti_sub(r->x, r->left)));
    ti_vec left = ti_mul(&r->inverse, ti_axpy(right, -dt, times(K_dot, r->left)));
    return ti_scale(-1, ti_add(times(K_dot, r->left), times(r->K, left)));
}

/* ---- a body ---- */

typedef struct dragged {
    ti_mat A, J, m1; /* axes of the box in the world; inertia and mass along them */
    coefficients c;
    resistance linear, angular;
} dragged;

/* Q' I Q */
static ti_mat along(const ti_mat *Q, const ti_mat *I) {
    ti_mat T = ti_transpose(Q), IQ = ti_matmul(I, Q);
    return ti_matmul(&T, &IQ);
}
/* Q J Q' */
static ti_mat back(const ti_mat *Q, const ti_mat *J) {
    ti_mat T = ti_transpose(Q), QJ = ti_matmul(Q, J);
    return ti_matmul(&QJ, &T);
}

static dragged dragged_of(const ti_link *l, const ti_mat *box, const ti_fluid *f) {
    dragged d = {.A = ti_matmul(&l->R, box), .J = along(box, &l->I)};
    for (int k = 0; k < 3; k++) d.m1.m[k][k] = l->mass;
    d.c = coefficients_of(l->mass, &d.J, f);
    d.linear = resist(&d.m1, d.c.of[0], ti_tmul(&d.A, ti_sub(l->v, f->wind)), f->dt);
    d.angular = resist(&d.J, d.c.of[1], ti_tmul(box, l->w), f->dt);
    return d;
}

ti_spatial ti_drag(const ti_link *l, const ti_mat *box, const ti_fluid *f) {
    if (l->mass < LEAST) return (ti_spatial){{0, 0, 0}, {0, 0, 0}};
    dragged d = dragged_of(l, box, f);
    return (ti_spatial){ti_mul(box, d.angular.force), ti_mul(&d.A, d.linear.force)};
}

void ti_drag_vjp(const ti_link *l, const ti_mat *box, const ti_fluid *f, ti_spatial drag_bar, ti_link_diff *to,
                 double *fluid_bar) {
    if (l->mass < LEAST) return;
    dragged d = dragged_of(l, box, f);
    ti_mat J_bar = {{{0}}}, m_bar = {{{0}}};
    double of_bar[2][4] = {{0}}, *all = of_bar[0], in_bar[BY] = {0};
    ti_vec F_bar = ti_tmul(&d.A, drag_bar.v), T_bar = ti_tmul(box, drag_bar.w);
    ti_vec u_bar = resist_vjp(&d.m1, &d.linear, d.c.of[0], f->dt, F_bar, &m_bar, of_bar[0]);
    ti_vec w_bar = resist_vjp(&d.J, &d.angular, d.c.of[1], f->dt, T_bar, &J_bar, of_bar[1]);
    for (int k = 0; k < COEFFICIENTS; k++)
        for (int i = 0; i < BY; i++) in_bar[i] += all[k] * d.c.by[k][i];
    for (int k = 0; k < 3; k++) J_bar.m[k][k] += in_bar[1 + k], to->mass += m_bar.m[k][k];
    ti_mat I_bar = back(box, &J_bar);
    ti_vec v_bar = ti_mul(&d.A, u_bar);
    to->mass += in_bar[0];
    ti_mat_add(&to->I, &I_bar);
    to->v = ti_add(to->v, v_bar), to->w = ti_add(to->w, ti_mul(box, w_bar));
    ti_vec turned = ti_sub(ti_cross(d.linear.force, F_bar), ti_cross(d.linear.x, u_bar));
    to->th = ti_add(to->th, ti_mul(box, turned));
    if (!fluid_bar) return;
    fluid_bar[0] += in_bar[4], fluid_bar[1] += in_bar[5];
    ti_add3(fluid_bar + 2, ti_scale(-1, v_bar));
}

ti_spatial ti_drag_jvp(const ti_link *l, const ti_mat *box, const ti_fluid *f, const ti_link_diff *diff,
                       const double *fluid_dot) {
    if (l->mass < LEAST) return (ti_spatial){{0, 0, 0}, {0, 0, 0}};
    dragged d = dragged_of(l, box, f);
    ti_mat J_dot = along(box, &diff->I), m_dot = {{{0}}};
    double of_dot[2][4], *all = of_dot[0], in_dot[BY] = {diff->mass, J_dot.m[0][0], J_dot.m[1][1], J_dot.m[2][2], 0, 0};
    ti_vec v_dot = diff->v, turn = ti_tmul(box, diff->th);
    if (fluid_dot) in_dot[4] = fluid_dot[0], in_dot[5] = fluid_dot[1], v_dot = ti_sub(v_dot, ti_load3(fluid_dot + 2));
    for (int k = 0; k < 3; k++) m_dot.m[k][k] = diff->mass;
    for (int k = 0; k < COEFFICIENTS; k++) {
        all[k] = 0;
        for (int i = 0; i < BY; i++) all[k] += d.c.by[k][i] * in_dot[i];
    }
    ti_vec u_dot = ti_sub(ti_tmul(&d.A, v_dot), ti_cross(turn, d.linear.x));
    ti_vec F_dot = resist_jvp(&d.m1, &d.linear, d.c.of[0], f->dt, u_dot, &m_dot, of_dot[0]);
    ti_vec T_dot = resist_jvp(&d.J, &d.angular, d.c.of[1], f->dt, ti_tmul(box, diff->w), &J_dot, of_dot[1]);
    F_dot = ti_add(F_dot, ti_cross(turn, d.linear.force));
    return (ti_spatial){ti_mul(box, T_dot), ti_mul(&d.A, F_dot)};
}

/* Columns of the derivative of what is taken by x, turned into the world. */
static ti_mat slopes(const ti_mat *J, const resistance *r, const double of[4], double dt, const ti_mat *A) {
    static const ti_mat still = {{{0}}};
    static const double same[4] = {0};
    ti_mat D;
    for (int k = 0; k < 3; k++) {
        ti_vec by = resist_jvp(J, r, of, dt, (ti_vec){k == 0, k == 1, k == 2}, &still, same);
        D.m[0][k] = by.x, D.m[1][k] = by.y, D.m[2][k] = by.z;
    }
    return back(A, &D);
}

void ti_drag_jac(const ti_link *l, const ti_mat *box, const ti_fluid *f, ti_mat *force_v, ti_mat *torque_w) {
    *force_v = *torque_w = (ti_mat){{{0}}};
    if (l->mass < LEAST) return;
    dragged d = dragged_of(l, box, f);
    *force_v = slopes(&d.m1, &d.linear, d.c.of[0], f->dt, &d.A);
    *torque_w = slopes(&d.J, &d.angular, d.c.of[1], f->dt, &d.A);
}
