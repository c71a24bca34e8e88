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
        ti_store3(ws->vnow + 6 * k, l->v), ti_store3(ws->vnow + 6 * k + 3, ti_link_spin(l));
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

const double *ti_frame_rows(const tribo_ws *ws, const ti_frame *f, int i, int side) {
    const ti_con *c = &f->con[i];
    if ((side ? c->b : c->a) < 0) return NULL;
    return ws->J + 36 * i + (side && c->a >= 0 ? 18 : 0);
}

double ti_row_velocity(const tribo_ws *ws, const ti_frame *f, int i, int r, const double *v) {
    const ti_con *c = &f->con[i];
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        const double *J = ti_frame_rows(ws, f, i, side);
        if (J) sum += row_times(J + 6 * r, v + 6 * ws->blk_at[side ? c->b : c->a]);
    }
    return sum;
}

void ti_row_kick(const tribo_ws *ws, const ti_frame *f, int i, int r, double s, double *v) {
    const ti_con *c = &f->con[i];
    for (int side = 0; side < 2; side++) {
        const double *J = ti_frame_rows(ws, f, i, side);
        if (!J) continue;
        int body = side ? c->b : c->a;
        double kick[6];
        ti_link_minv(&ws->link[body], J + 6 * r, kick);
        for (int j = 0; j < 6; j++) v[6 * ws->blk_at[body] + j] += s * kick[j];
    }
}

ti_grain ti_frame_grain(const tribo_ws *ws, const ti_con *c) {
    const tribo_model *m = ws->model;
    const ti_pair *pair = &m->pair[c->pair];
    bool round = ti_collide_most(m->geom[pair->a].shape, m->geom[pair->b].shape) == 1;
    return ti_grain_of(&c->touch, pair->length, !round, ws->options.recovery * ws->options.dt);
}

static void pose_contact(tribo_ws *ws, const ti_frame *f, int k, int i, const double *p) {
    const ti_island *is = &f->island[k];
    ti_con *c = &f->con[i];
    const int *at = ws->model->pair[c->pair].material;
    double *J = ws->J + 36 * i;
    contact_blocks(ws, c, &ws->blk_a[i], &ws->blk_b[i]);
    ws->joff[i] = 36 * (i - is->con0);
    if (c->a >= 0) ti_rows(c, &ws->link[c->a], -1, J);
    if (c->b >= 0) ti_rows(c, &ws->link[c->b], 1, c->a >= 0 ? J + 18 : J);
    ti_grain grain = ti_frame_grain(ws, c);
    ti_reference r = ti_staying(c->touch.gap, &grain, ws->options.dt);
    if (is->bare && c->touch.gap < 0) r = (ti_reference){0};
    ti_step_noise(ws, c, i, r.ref_gap);
    ws->ref[3 * i] = ws->ref[3 * i + 1] = 0, ws->ref[3 * i + 2] = r.ref;
    ws->mu[i] = p[at[TI_M_FRICTION]] + (c->sticky ? p[at[TI_M_STICTION]] : 0);
}

/* From the free motion: which contacts may bounce. Those that others keep from it are found out later. */
static void free_motion(const tribo_ws *ws, const ti_frame *f, int i, const double *p) {
    ti_con *c = &f->con[i];
    double e = p[ws->model->pair[c->pair].material[TI_M_RESTITUTION]];
    c->uf = ti_row_velocity(ws, f, i, 2, ws->vfree);
    c->an = (c->uf - ti_row_velocity(ws, f, i, 2, ws->vnow)) / ws->options.dt;
    c->tau = 0, c->bounce = false;
    if (!(e > 0)) return;
    ti_impact hit = ti_frame_impact(ws, c);
    if (!hit.reached) return;
    c->bounce = ti_impact_leaves(&hit, c->an, e, ws->options.dt) > 0;
    if (c->bounce) c->tau = hit.tau;
}

void ti_step_pose_island(tribo_ws *ws, const ti_frame *f, int k, const double *p) {
    const ti_island *is = &f->island[k];
    for (int i = is->con0; i < is->con0 + is->ncon; i++) pose_contact(ws, f, k, i, p);
}

void ti_step_pose(tribo_ws *ws, const ti_frame *f, const double *p, bool fresh) {
    pose_blocks(ws, f);
    for (int k = 0; k < f->nisland; k++) {
        ti_step_pose_island(ws, f, k, p);
        const ti_island *is = &f->island[k];
        for (int i = is->con0; fresh && i < is->con0 + is->ncon; i++) free_motion(ws, f, i, p);
    }
}

ti_contact_problem ti_step_problem(const tribo_ws *ws, const ti_frame *f, int k, ti_phase phase) {
    const ti_island *is = &f->island[k];
    int c = is->con0, b = is->blk0;
    ti_contact_problem q = {.nc = phase == TI_HOLD ? is->nhold : is->ncon,
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
    if (phase == TI_IMPACT) q.vfree = ws->vnow + 6 * b, q.ref = ws->ref_hit + 3 * c;
    if (phase == TI_AFTER) q.vfree = ws->v_after + 6 * b;
    if (phase == TI_REBOUND) {
        q.kind = TI_CONTACT_REBOUND, q.vfree = ws->v_given + 6 * b, q.ref = ws->ref_hit + 3 * c;
        q.give = ws->give + c;
    }
    if (phase >= TI_TIMING) {
        q.kind = TI_CONTACT_PLAIN, q.vfree = q.mu = ws->zero;
        q.ref = (phase == TI_TIMING ? ws->ref_time : ws->ref_apart) + 3 * c;
    }
    return q;
}

void ti_link_minv(const ti_link *l, const double *in, double *out) {
    ti_mat inv = ti_inverse(&l->I);
    ti_store3(out, ti_scale(1 / l->mass, ti_load3(in)));
    ti_store3(out + 3, ti_mul(&inv, ti_load3(in + 3)));
}

/* D = dt V; where impacts reach a body, the velocity without them until their time: docs/math.md eq. (16). */
void ti_step_displacement(tribo_ws *ws, const ti_frame *f, double *D) {
    double dt = ws->options.dt;
    for (int b = 0; b < ws->model->size.nbody; b++) {
        const ti_link *l = &ws->link[b];
        ti_store3(D + 6 * b, ti_scale(dt, l->vf)), ti_store3(D + 6 * b + 3, ti_scale(dt, l->wf));
    }
    for (int k = 0; k < f->nblk; k++)
        for (int j = 0; j < 6; j++) D[6 * f->blk_body[k] + j] = dt * f->v[6 * k + j];
    for (int i = 0; i < f->nisland; i++) {
        const ti_island *is = &f->island[i];
        if (is->phase[TI_IMPACT].npoint == 0) continue;
        const double *before = f->phase[TI_HOLD].v[TI_SOLVED];
        ti_impact_times(ws, f, i);
        for (int k = is->blk0; k < is->blk0 + is->nblk; k++)
            for (int j = 0; j < 6; j++)
                D[6 * f->blk_body[k] + j] -= ws->time[k] * (f->v[6 * k + j] - before[6 * k + j]);
        if (is->phase[TI_TIMING].npoint > 0) ti_step_displace(f, i, TI_TIMING, D);
    }
}

void ti_step_displace(const ti_frame *f, int k, ti_phase phase, double *D) {
    const ti_island *is = &f->island[k];
    const double *v = f->phase[phase].v[TI_SOLVED];
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++)
        for (int j = 0; j < 6; j++) D[6 * f->blk_body[b] + j] += is->pace[phase] * v[6 * b + j];
}
