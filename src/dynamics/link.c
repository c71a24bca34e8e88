/* link.c -- see link.h; the reverse and the forward tangent of each function stand right below it. */
#include "dynamics/link.h"
#include "dynamics/spin.h"
#include <string.h>

void ti_sym_add(double *s, const ti_mat *A) {
    for (int i = 0; i < 3; i++) s[i] += A->m[i][i];
    s[3] += A->m[0][1] + A->m[1][0];
    s[4] += A->m[0][2] + A->m[2][0];
    s[5] += A->m[1][2] + A->m[2][1];
}

/* ---- load: xc = xo + R c, v = vo + R (w x c); docs/math.md eq. (5) ---- */

void ti_link_matter(ti_link *l, const double *p) {
    l->mass = p[0], l->com = ti_load3(p + 1), l->I = ti_sym(p + 4);
    l->v = l->w = l->f = l->torque = l->vf = l->wf = ti_vec3(0, 0, 0);
    l->substeps = 1;
}

void ti_link_load(ti_link *l, const double *p, const double *q, const double *v, const double *u) {
    l->mass = p[0], l->com = ti_load3(p + 1), l->I = ti_sym(p + 4);
    double n = 1 / sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
    for (int i = 0; i < 4; i++) l->quat[i] = n * q[3 + i];
    l->R = ti_quat_mat(l->quat);
    l->xo = ti_load3(q), l->xc = ti_add(l->xo, ti_mul(&l->R, l->com));
    l->w = ti_load3(v + 3), l->v = ti_add(ti_load3(v), ti_mul(&l->R, ti_cross(l->w, l->com)));
    l->f = l->torque = ti_vec3(0, 0, 0);
    if (!u) return;
    l->f = ti_load3(u);
    l->torque = ti_sub(ti_load3(u + 3), ti_cross(l->com, ti_tmul(&l->R, l->f)));
}

void ti_link_load_vjp(const ti_link *l, const ti_link_diff *d, double *qbar, double *vbar, double *pbar) {
    ti_vec xb = ti_tmul(&l->R, d->xc), vb = ti_tmul(&l->R, d->v);
    ti_vec th = ti_add(ti_add(d->th, ti_cross(l->com, xb)), ti_cross(ti_cross(l->w, l->com), vb));
    ti_vec com = ti_add(ti_add(d->com, xb), ti_cross(vb, l->w));
    ti_add3(qbar, ti_add(d->xo, d->xc)), ti_add3(qbar + 3, th);
    ti_add3(vbar, d->v), ti_add3(vbar + 3, ti_add(d->w, ti_cross(l->com, vb)));
    if (!pbar) return;
    pbar[0] += d->mass;
    ti_add3(pbar + 1, com);
    ti_sym_add(pbar + 4, &d->I);
}

void ti_link_load_jvp(const ti_link *l, const double *qdot, const double *vdot, const double *pdot, ti_link_diff *d) {
    memset(d, 0, sizeof *d);
    if (pdot) d->mass = pdot[0], d->com = ti_load3(pdot + 1), d->I = ti_sym(pdot + 4);
    if (qdot) d->xo = ti_load3(qdot), d->th = ti_load3(qdot + 3);
    if (vdot) d->v = ti_load3(vdot), d->w = ti_load3(vdot + 3);
    ti_vec wc = ti_cross(l->w, l->com);
    d->xc = ti_add(d->xo, ti_mul(&l->R, ti_add(ti_cross(d->th, l->com), d->com)));
    ti_vec a = ti_add(ti_cross(d->th, wc), ti_add(ti_cross(d->w, l->com), ti_cross(l->w, d->com)));
    d->v = ti_add(d->v, ti_mul(&l->R, a));
}

/* ---- free velocity: m (vf - v) = dt (m g + f), and the spin of spin.c; docs/math.md eq. (6)-(8) ---- */

bool ti_link_free(ti_link *l, ti_vec gravity, double dt) {
    l->vf = ti_axpy(ti_axpy(l->v, dt, gravity), dt / l->mass, l->f);
    return ti_spin(l, dt);
}

void ti_link_free_vjp(const ti_link *l, double dt, ti_link_diff *d, ti_vec *gravity_bar, double *u_bar) {
    d->v = ti_add(d->v, d->vf);
    *gravity_bar = ti_axpy(*gravity_bar, dt, d->vf);
    d->mass -= dt / (l->mass * l->mass) * ti_dot(l->f, d->vf);
    ti_vec f_bar = ti_scale(dt / l->mass, d->vf), t_bar = ti_spin_vjp(l, dt, d);

    ti_vec fb = ti_tmul(&l->R, l->f), fb_bar = ti_cross(l->com, t_bar); /* torque = tau - com x R'f */
    d->com = ti_sub(d->com, ti_cross(fb, t_bar));
    d->th = ti_sub(d->th, ti_cross(fb, fb_bar));
    if (!u_bar) return;
    ti_add3(u_bar, ti_add(f_bar, ti_mul(&l->R, fb_bar)));
    ti_add3(u_bar + 3, t_bar);
}

void ti_link_free_jvp(const ti_link *l, double dt, ti_link_diff *d, ti_vec gravity_dot, const double *u_dot) {
    ti_vec f_dot = u_dot ? ti_load3(u_dot) : ti_vec3(0, 0, 0), t_dot = u_dot ? ti_load3(u_dot + 3) : ti_vec3(0, 0, 0);
    ti_vec fb = ti_tmul(&l->R, l->f), fb_dot = ti_sub(ti_tmul(&l->R, f_dot), ti_cross(d->th, fb));
    t_dot = ti_sub(t_dot, ti_add(ti_cross(d->com, fb), ti_cross(l->com, fb_dot)));
    d->vf = ti_axpy(ti_axpy(d->v, dt, gravity_dot), dt / l->mass, f_dot);
    d->vf = ti_axpy(d->vf, -dt * d->mass / (l->mass * l->mass), l->f);
    ti_spin_jvp(l, dt, t_dot, d);
}

/* ---- integrate: R' = R Q exp(D), xc' = xc + D, xo' = xc' - R'c, vo' = V - R'(W x c), Q the precession of a fast spin,
 * else 1; docs/math.md eq. (17) ---- */

void ti_link_next(const ti_link *l, const double *D, double *quat, ti_mat *R) {
    double e[4];
    ti_quat_exp(ti_load3(D + 3), e);
    if (l->substeps > 1) ti_quat_mul(l->precession, e, e);
    ti_quat_mul(l->quat, e, quat);
    ti_quat_normalise(quat);
    *R = ti_quat_mat(quat);
}

void ti_link_integrate(const ti_link *l, const double *D, const double *V, double *q, double *v) {
    ti_mat Rn;
    ti_link_next(l, D, q + 3, &Rn);
    ti_vec w = ti_load3(V + 3);
    ti_store3(q, ti_sub(ti_add(l->xc, ti_load3(D)), ti_mul(&Rn, l->com)));
    ti_store3(v, ti_sub(ti_load3(V), ti_mul(&Rn, ti_cross(w, l->com))));
    ti_store3(v + 3, w);
}

void ti_link_integrate_vjp(const ti_link *l, const double *D, const double *V, const double *qbar, const double *vbar,
                           ti_link_diff *d, double *D_bar, double *V_bar) {
    double quat[4], e[4];
    ti_mat Rn;
    ti_link_next(l, D, quat, &Rn);
    ti_vec rot = ti_load3(D + 3), w = ti_load3(V + 3), wc = ti_cross(w, l->com);
    ti_vec xb = ti_tmul(&Rn, ti_load3(qbar)), vb = ti_tmul(&Rn, ti_load3(vbar));
    ti_vec th = ti_sub(ti_load3(qbar + 3), ti_add(ti_cross(l->com, xb), ti_cross(wc, vb))); /* of the next rotation */
    d->com = ti_sub(d->com, ti_add(xb, ti_cross(vb, w)));
    d->xc = ti_add(d->xc, ti_load3(qbar));
    ti_quat_exp(rot, e);
    ti_mat E = ti_quat_mat(e);
    ti_vec before = ti_mul(&E, th);
    if (l->substeps > 1) {
        ti_mat Q = ti_quat_mat(l->precession);
        d->precession = ti_add(d->precession, before), before = ti_mul(&Q, before);
    }
    d->th = ti_add(d->th, before);
    ti_store3(D_bar, ti_load3(qbar));
    ti_store3(D_bar + 3, ti_exp_right(ti_scale(-1, rot), th));
    ti_store3(V_bar, ti_load3(vbar));
    ti_store3(V_bar + 3, ti_sub(ti_load3(vbar + 3), ti_cross(l->com, vb)));
}

void ti_link_integrate_jvp(const ti_link *l, const double *D, const double *V, const ti_link_diff *d,
                           const double *D_dot, const double *V_dot, double *qdot, double *vdot) {
    double quat[4], e[4];
    ti_mat Rn;
    ti_link_next(l, D, quat, &Rn);
    ti_vec rot = ti_load3(D + 3), w = ti_load3(V + 3), w_dot = ti_load3(V_dot + 3), wc = ti_cross(w, l->com);
    ti_quat_exp(rot, e);
    ti_mat E = ti_quat_mat(e);
    ti_vec before = d->th;
    if (l->substeps > 1) {
        ti_mat Q = ti_quat_mat(l->precession);
        before = ti_add(ti_tmul(&Q, before), d->precession);
    }
    ti_vec th = ti_add(ti_tmul(&E, before), ti_exp_right(rot, ti_load3(D_dot + 3)));
    ti_vec a = ti_add(ti_cross(th, l->com), d->com);
    ti_vec b = ti_add(ti_cross(th, wc), ti_add(ti_cross(w_dot, l->com), ti_cross(w, d->com)));
    ti_store3(qdot, ti_sub(ti_add(d->xc, ti_load3(D_dot)), ti_mul(&Rn, a)));
    ti_store3(qdot + 3, th);
    ti_store3(vdot, ti_sub(ti_load3(V_dot), ti_mul(&Rn, b)));
    ti_store3(vdot + 3, w_dot);
}
