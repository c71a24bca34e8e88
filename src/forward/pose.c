/* pose.c -- from contacts to the numbers of the contact problem. */
#include "forward/frame.h"

bool ti_step_kinematics(tribo_ws *ws, const double *p, const double *x, const double *u) {
    const tribo_model *m = ws->model;
    bool all = true;
    ti_vec gravity = ti_load3(p + TI_P_GRAVITY);
    const double *v = x + m->size.nq;
    for (int b = 0; b < m->size.nbody; b++) {
        const ti_body *body = &m->body[b];
        ti_link *l = &ws->link[b];
        ti_link_load(l, p + body->p, x + body->q, v + body->v, u ? u + body->v : NULL);
        all = ti_link_free(l, gravity, ws->options.dt) && all;
    }
    ti_shapes(m, p, ws->link, ws->shape);
    return all;
}

static void block_inertia(const ti_link *l, double *M) {
    memset(M, 0, 36 * sizeof *M);
    for (int i = 0; i < 3; i++) {
        M[7 * i] = l->mass;
        for (int j = 0; j < 3; j++) M[6 * (3 + i) + 3 + j] = l->I.m[i][j];
    }
}

static double row_times(const double *row, const double *v) {
    double s = 0;
    for (int i = 0; i < 6; i++) s += row[i] * v[i];
    return s;
}

static void pose_blocks(tribo_ws *ws, const ti_frame *f) {
    for (int b = 0; b < ws->model->size.nbody; b++) ws->blk_at[b] = -1;
    for (int k = 0; k < f->nblk; k++) {
        ws->blk_at[f->blk_body[k]] = k;
        const ti_link *l = &ws->link[f->blk_body[k]];
        block_inertia(l, ws->M + 36 * k);
        ti_store3(ws->vfree + 6 * k, l->vf), ti_store3(ws->vfree + 6 * k + 3, l->wf);
        ti_store3(ws->vnow + 6 * k, l->v), ti_store3(ws->vnow + 6 * k + 3, l->w);
    }
    for (int i = 0; i < f->nisland; i++) {
        const ti_island *is = &f->island[i];
        for (int k = 0; k < is->nblk; k++) {
            int at = is->blk0 + k;
            ws->width[at] = 6, ws->voff[at] = 6 * k, ws->moff[at] = 36 * k;
            ws->blk_of[f->blk_body[at]] = k;
        }
    }
}

/* Blocks of a contact in its island, the first of which is never the world. */
static void contact_blocks(const tribo_ws *ws, const ti_con *c, int *first, int *second) {
    int a = c->a >= 0 ? ws->blk_of[c->a] : -1, b = c->b >= 0 ? ws->blk_of[c->b] : -1;
    *first = a >= 0 ? a : b;
    *second = a >= 0 ? b : -1;
}

/* Normal free velocity and acceleration. */
static void free_motion(const tribo_ws *ws, const ti_island *is, int i, double *uf, double *an) {
    *uf = *an = 0;
    for (int side = 0; side < 2; side++) {
        int blk = side ? ws->blk_b[i] : ws->blk_a[i];
        if (blk < 0) continue;
        const double *vf = ws->vfree + 6 * (is->blk0 + blk), *v = ws->vnow + 6 * (is->blk0 + blk);
        const double *row = ws->J + 36 * i + 18 * side + 12;
        double now = row_times(row, v), then = row_times(row, vf);
        *uf += then, *an += (then - now) / ws->options.dt;
    }
}

static void pose_contact(tribo_ws *ws, const ti_island *is, ti_con *c, int i, const double *p, bool fresh) {
    const int *at = ws->model->pair[c->pair].material;
    double *J = ws->J + 36 * i, e = p[at[TI_M_RESTITUTION]];
    contact_blocks(ws, c, &ws->blk_a[i], &ws->blk_b[i]);
    ws->joff[i] = 36 * (i - is->con0);
    if (c->a >= 0) ti_rows(c, &ws->link[c->a], -1, J);
    if (c->b >= 0) ti_rows(c, &ws->link[c->b], 1, c->a >= 0 ? J + 18 : J);
    if (fresh) free_motion(ws, is, i, &c->uf, &c->an);
    ti_reference r = ti_contact_reference(c->touch.gap, c->uf, c->an, e, p[at[TI_M_BAUMGARTE]], p[at[TI_M_SLOP]],
                                          ws->options.dt, ws->options.recovery);
    if (fresh) c->tau = r.tau, c->bounce = r.bounce;
    ti_step_noise(ws, c, i, r.ref_gap);
    ws->ref[3 * i] = ws->ref[3 * i + 1] = 0, ws->ref[3 * i + 2] = r.ref;
    ws->mu[i] = p[at[TI_M_FRICTION]] + (c->sticky ? p[at[TI_M_STICTION]] : 0);
}

void ti_step_pose(tribo_ws *ws, const ti_frame *f, const double *p, bool fresh) {
    pose_blocks(ws, f);
    for (int k = 0; k < f->nisland; k++) {
        const ti_island *is = &f->island[k];
        for (int i = is->con0; i < is->con0 + is->ncon; i++) pose_contact(ws, is, &f->con[i], i, p, fresh);
    }
}

ti_contact_problem ti_step_island(const tribo_ws *ws, const ti_frame *f, int i) {
    const ti_island *is = &f->island[i];
    int c = is->con0, b = is->blk0;
    return (ti_contact_problem){.nc = is->ncon,
                                .nblk = is->nblk,
                                .nv = 6 * is->nblk,
                                .width = ws->width + b,
                                .voff = ws->voff + b,
                                .moff = ws->moff + b,
                                .M = ws->M + 36 * b,
                                .a = ws->blk_a + c,
                                .b = ws->blk_b + c,
                                .joff = ws->joff + c,
                                .J = ws->J + 36 * c,
                                .vfree = ws->vfree + 6 * b,
                                .ref = ws->ref + 3 * c,
                                .mu = ws->mu + c,
                                .noise = ws->covariance ? ws->noise + 2 * (size_t)c : NULL};
}

void ti_link_minv(const ti_link *l, const double *in, double *out) {
    ti_mat inv = ti_inverse(&l->I);
    ti_store3(out, ti_scale(1 / l->mass, ti_load3(in)));
    ti_store3(out + 3, ti_mul(&inv, ti_load3(in + 3)));
}

/* D = dt V - sum tau_i M^-1 J_i' lambda_i: an impulse of a bounce acts from its time of impact on. */
void ti_step_displacement(const tribo_ws *ws, const ti_frame *f, double *D) {
    double dt = ws->options.dt;
    for (int b = 0; b < ws->model->size.nbody; b++) {
        const ti_link *l = &ws->link[b];
        ti_store3(D + 6 * b, ti_scale(dt, l->vf)), ti_store3(D + 6 * b + 3, ti_scale(dt, l->wf));
    }
    for (int k = 0; k < f->nblk; k++)
        for (int j = 0; j < 6; j++) D[6 * f->blk_body[k] + j] = dt * f->v[TI_SOLVED][6 * k + j];
    for (int i = 0; i < f->ncon; i++) {
        const ti_con *c = &f->con[i];
        if (!c->bounce || c->tau == 0) continue;
        for (int side = 0; side < 2; side++) {
            int body = side ? c->b : c->a;
            const double *J = ws->J + 36 * i + (side && c->a >= 0 ? 18 : 0), *l = f->lambda[TI_SOLVED] + 3 * i;
            if (body < 0) continue;
            double h[6], d[6];
            for (int j = 0; j < 6; j++) h[j] = J[j] * l[0] + J[6 + j] * l[1] + J[12 + j] * l[2];
            ti_link_minv(&ws->link[body], h, d);
            for (int j = 0; j < 6; j++) D[6 * body + j] -= c->tau * d[j];
        }
    }
}
