/* link_jac.c -- Jacobians of a link's free velocity and of its integration; docs/math.md eq. (7), (17). */
#include "dynamics/link.h"
#include "dynamics/spin.h"

static ti_mat scaled(double s, const ti_mat *A) {
    ti_mat B;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) B.m[i][j] = s * A->m[i][j];
    return B;
}

/* s A [a]x */
static ti_mat times_skew(double s, const ti_mat *A, ti_vec a) {
    ti_mat S = ti_skew(a), P = ti_matmul(A, &S);
    return scaled(s, &P);
}

static ti_mat exp_right_matrix(ti_vec r) {
    ti_vec x = ti_exp_right(r, ti_vec3(1, 0, 0)), y = ti_exp_right(r, ti_vec3(0, 1, 0)),
           z = ti_exp_right(r, ti_vec3(0, 0, 1));
    return (ti_mat){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
}

void ti_link_jac_free(const ti_link *l, double dt, ti_link_jac *j) {
    ti_mat Ki, Kw;
    ti_link_gyro(l, dt, &Ki, &Kw);
    ti_mat back = ti_matmul(&Ki, &Kw), turn = ti_transpose(&l->R);
    j->vf_f = dt / l->mass;
    j->wf_w = scaled(-1, &back), j->wf_t = scaled(dt, &Ki);
    j->centred = l->com.x == 0 && l->com.y == 0 && l->com.z == 0;
    if (j->centred) {
        j->xc_th = j->vf_th = j->wf_th = j->wf_f = (ti_mat){{{0}}};
        return;
    }
    ti_mat lever = times_skew(-1, &j->wf_t, l->com);
    j->xc_th = times_skew(-1, &l->R, l->com);
    j->vf_th = times_skew(-1, &l->R, ti_cross(l->w, l->com));
    j->wf_f = ti_matmul(&lever, &turn);
    j->wf_th = times_skew(1, &lever, ti_tmul(&l->R, l->f));
}

void ti_link_jac_integrate(const ti_link *l, const double *D, const double *V, ti_link_jac *j) {
    ti_vec rot = ti_load3(D + 3);
    double e[4], quat[4];
    ti_quat_exp(rot, e);
    ti_mat E = ti_quat_mat(e);
    j->th_th = ti_transpose(&E);
    j->th_D = exp_right_matrix(rot);
    if (j->centred) {
        j->lever = j->swing = (ti_mat){{{0}}};
        return;
    }
    ti_mat Rn;
    ti_link_next(l, D, quat, &Rn);
    j->lever = times_skew(1, &Rn, l->com);
    j->swing = times_skew(1, &Rn, ti_cross(ti_load3(V + 3), l->com));
}
