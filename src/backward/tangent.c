/* tangent.c -- forward tangents of a recorded step, many at once, and the step's Jacobians made of them. */
#include "backward/backward.h"

/* Seeds of one batch: row j of each is direction j; a NULL is zero. */
typedef struct seeds {
    int n;
    const double *x, *u, *p;
} seeds;

static const double *row(const double *a, int j, int width) {
    return a ? a + (size_t)j * (size_t)width : NULL;
}

static void seed_links(tribo_ws *ws, const seeds *in) {
    const tribo_model *m = ws->model;
    for (int j = 0; j < in->n; j++) {
        const double *x = row(in->x, j, m->size.ndx), *u = row(in->u, j, m->size.nu), *p = row(in->p, j, m->size.np);
        ti_vec gravity = p ? ti_load3(p + TI_P_GRAVITY) : ti_vec3(0, 0, 0);
        for (int b = 0; b < m->size.nbody; b++) {
            const ti_body *body = &m->body[b];
            ti_link_diff *d = &ws->scratch->diff_dot[j * m->size.nbody + b];
            ti_link_load_jvp(&ws->link[b], x ? x + body->v : NULL, x ? x + m->size.nv + body->v : NULL,
                             p ? p + body->p : NULL, d);
            ti_link_free_jvp(&ws->link[b], ws->options.dt, d, gravity, u ? u + body->v : NULL);
        }
    }
}

/* ---- one contact in one direction ---- */

typedef struct contact_dot {
    bool rows;       /* J_dot is not zero */
    double J[2][18]; /* J_dot by side */
    double gap, ref, tau;
} contact_dot;

static bool is_zero(ti_vec a) {
    return a.x == 0 && a.y == 0 && a.z == 0;
}

static bool body_moves(const ti_link_diff *diffs, int body) {
    return body >= 0 && !(is_zero(diffs[body].xc) && is_zero(diffs[body].xo) && is_zero(diffs[body].th));
}

static void rows_dot(const tribo_ws *ws, const ti_frame *f, int i, const ti_link_diff *diffs, const double *p,
                     const double *p_dot, contact_dot *out) {
    const ti_con *c = &f->con[i];
    const ti_pair *pair = &ws->model->pair[c->pair];
    double move[TI_COLLIDE_COLS], rate[TI_COLLIDE_ROWS] = {0}, frame[12];
    out->gap = 0, out->rows = p_dot || body_moves(diffs, c->a) || body_moves(diffs, c->b);
    if (!out->rows) return;
    bool a = ti_shape_jvp(ws->model, p, ws->link, pair->a, diffs, p_dot, move);
    bool b = ti_shape_jvp(ws->model, p, ws->link, pair->b, diffs, p_dot, move + 9);
    if (a || b) {
        const double *jac = ws->scratch->jac + TI_COLLIDE_ROWS * TI_COLLIDE_COLS * i;
        for (int r = 0; r < TI_COLLIDE_ROWS; r++)
            for (int j = 0; j < TI_COLLIDE_COLS; j++) rate[r] += jac[TI_COLLIDE_COLS * r + j] * move[j];
    } else if (!body_moves(diffs, c->a) && !body_moves(diffs, c->b)) {
        out->rows = false;
        return;
    }
    ti_mat D1, D2;
    ti_vec n = ti_load3(rate + 3);
    ti_tangents_jac(c->touch.normal, &D1, &D2);
    ti_store3(frame, ti_load3(rate));
    ti_store3(frame + 3, ti_mul(&D1, n)), ti_store3(frame + 6, ti_mul(&D2, n)), ti_store3(frame + 9, n);
    out->gap = rate[6];
    if (c->a >= 0) ti_rows_jvp(c, &ws->link[c->a], -1, &diffs[c->a], frame, out->J[0]);
    if (c->b >= 0) ti_rows_jvp(c, &ws->link[c->b], 1, &diffs[c->b], frame, out->J[1]);
}

static double dot6(const double *a, const double *b) {
    double s = 0;
    for (int i = 0; i < 6; i++) s += a[i] * b[i];
    return s;
}

static void diff_velocity(const ti_link_diff *d, double *free_dot, double *now_dot) {
    ti_store3(free_dot, d->vf), ti_store3(free_dot + 3, d->wf);
    ti_store3(now_dot, d->v), ti_store3(now_dot + 3, d->w);
}

static void reference_dot(const tribo_ws *ws, const ti_frame *f, int i, const ti_link_diff *diffs,
                          const ti_reference *r, const double *p_dot, contact_dot *out) {
    const ti_con *c = &f->con[i];
    double uf = 0, now = 0;
    if (c->bounce) {
        for (int side = 0; side < 2; side++) {
            const double *J = ti_frame_rows(ws, f, i, side);
            if (!J) continue;
            int b = side ? c->b : c->a, at = 6 * ws->blk_at[b];
            double free_dot[6], now_dot[6];
            diff_velocity(&diffs[b], free_dot, now_dot);
            uf += dot6(J + 12, free_dot), now += dot6(J + 12, now_dot);
            if (!out->rows) continue;
            uf += dot6(out->J[side] + 12, ws->vfree + at), now += dot6(out->J[side] + 12, ws->vnow + at);
        }
    }
    double an = (uf - now) / ws->options.dt;
    out->ref = r->ref_gap * out->gap + r->ref_uf * uf + r->ref_an * an;
    out->tau = r->tau_gap * out->gap + r->tau_uf * uf + r->tau_an * an;
    if (!p_dot) return;
    const int *at = ws->model->pair[c->pair].material;
    out->ref += r->ref_e * p_dot[at[TI_M_RESTITUTION]] + r->ref_beta * p_dot[at[TI_M_BAUMGARTE]] +
                r->ref_slop * p_dot[at[TI_M_SLOP]];
}

static void differentiate_contact(const tribo_ws *ws, const ti_frame *f, int i, const ti_link_diff *diffs,
                                  const ti_reference *r, const double *p, const double *p_dot, contact_dot *out) {
    rows_dot(ws, f, i, diffs, p, p_dot, out);
    reference_dot(ws, f, i, diffs, r, p_dot, out);
}

/* ---- one island ---- */

/* M vf_dot - M_dot (v - vf), the momentum row's right-hand side without contacts */
static void momentum_dot(const ti_link *l, const ti_link_diff *d, const double *v, double *r) {
    ti_vec lin = ti_axpy(ti_scale(l->mass, d->vf), -d->mass, ti_sub(ti_load3(v), l->vf));
    ti_vec ang = ti_sub(ti_mul(&l->I, d->wf), ti_mul(&d->I, ti_sub(ti_load3(v + 3), l->wf)));
    ti_store3(r, lin), ti_store3(r + 3, ang);
}

static void add_contact_dot(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, const contact_dot *d,
                            double *const *r, double *const *dc) {
    const ti_con *c = &f->con[i];
    for (int k = 0; k < is->npoint; k++) {
        double *out = dc[k] + 3 * (i - is->con0);
        const double *l = f->lambda[k] + 3 * i;
        out[0] = out[1] = 0, out[2] = d->ref;
        for (int side = 0; d->rows && side < 2; side++) {
            int b = side ? c->b : c->a;
            if (b < 0) continue;
            int at = ws->blk_at[b];
            const double *J = d->J[side], *v = f->v[k] + 6 * at;
            double *rb = r[k] + 6 * (at - is->blk0);
            for (int row = 0; row < 3; row++) {
                out[row] += dot6(J + 6 * row, v);
                for (int j = 0; j < 6; j++) rb[j] += J[6 * row + j] * l[row];
            }
        }
    }
}

static void pose_tangents(tribo_ws *ws, const ti_frame *f, const ti_island *is, const seeds *in, const double *p) {
    ti_scratch *s = ws->scratch;
    int nb = ws->model->size.nbody, nv = 6 * is->nblk, nc = is->ncon;
    for (int j = 0; j < in->n; j++)
        for (int k = 0; k < is->npoint; k++)
            for (int b = 0; b < is->nblk; b++) {
                int body = f->blk_body[is->blk0 + b];
                momentum_dot(&ws->link[body], &s->diff_dot[j * nb + body], f->v[k] + 6 * (is->blk0 + b),
                             s->r_dot[k] + j * nv + 6 * b);
            }
    for (int i = is->con0; i < is->con0 + nc; i++) {
        const ti_con *c = &f->con[i];
        const ti_pair *pair = &ws->model->pair[c->pair];
        double *jac = s->jac + TI_COLLIDE_ROWS * TI_COLLIDE_COLS * i;
        bool active = f->mode[i] != TRIBO_BREAK;
        if (active)
            ti_collide_jac(&ws->shape[pair->a], &ws->shape[pair->b], &c->touch,
                           (double(*)[TI_COLLIDE_COLS])(void *)jac);
        ti_reference ref = ti_frame_reference(ws, c, p);
        for (int j = 0; j < in->n; j++) {
            double *r[TI_CONTACT_POINTS], *dc[TI_CONTACT_POINTS];
            const double *p_dot = row(in->p, j, ws->model->size.np);
            const int *at = ws->model->pair[c->pair].material;
            contact_dot d = {0};
            for (int k = 0; k < TI_CONTACT_POINTS; k++) r[k] = s->r_dot[k] + j * nv, dc[k] = s->c_dot[k] + j * 3 * nc;
            if (active) differentiate_contact(ws, f, i, s->diff_dot + j * nb, &ref, p, p_dot, &d);
            add_contact_dot(ws, f, is, i, &d, r, dc);
            double *mu = s->mu_dot + j * nc + (i - is->con0);
            *mu = p_dot ? p_dot[at[TI_M_FRICTION]] + (c->sticky ? p_dot[at[TI_M_STICTION]] : 0) : 0;
        }
    }
}

static tribo_status solve_tangents(tribo_ws *ws, const ti_frame *f, int island, const seeds *in) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[island];
    ti_contact_problem problem = ti_step_island(ws, f, island);
    ti_contact_solution solution = ti_frame_solution(f, island);
    int nv = in->n * 6 * is->nblk, nl = in->n * 3 * is->ncon;
    for (int j = 0; j < nv; j++) s->v_sum[j] = 0;
    for (int j = 0; j < nl; j++) s->lambda_sum[j] = 0;
    for (int k = 0; k < is->npoint; k++) {
        tribo_status status = ti_contact_factor(ws->contact, &problem, &solution, k);
        if (status < 0) return status;
        ti_contact_jvp(ws->contact, &problem, in->n, s->r_dot[k], s->c_dot[k], in->p ? s->mu_dot : NULL, s->v_dot,
                       s->lambda_dot);
        for (int j = 0; j < nv; j++) s->v_sum[j] += is->weight[k] * s->v_dot[j];
        for (int j = 0; j < nl; j++) s->lambda_sum[j] += is->weight[k] * s->lambda_dot[j];
    }
    return TRIBO_OK;
}

/* D_dot of a bounce, minus the derivative of tau M^-1 J' lambda, for direction j. */
static void impact_dot(tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, int j, const double *p,
                       const double *p_dot, double *D_dot) {
    const ti_con *c = &f->con[i];
    const ti_link_diff *diffs = ws->scratch->diff_dot + j * ws->model->size.nbody;
    const double *l = f->lambda[TI_SOLVED] + 3 * i;
    const double *l_dot = ws->scratch->lambda_sum + j * 3 * is->ncon + 3 * (i - is->con0);
    ti_reference ref = ti_frame_reference(ws, c, p);
    contact_dot d = {0};
    differentiate_contact(ws, f, i, diffs, &ref, p, p_dot, &d);
    for (int side = 0; side < 2; side++) {
        const double *J = ti_frame_rows(ws, f, i, side);
        if (!J) continue;
        int b = side ? c->b : c->a;
        const ti_link *link = &ws->link[b];
        double h[6], h_dot[6], z[6], rest[6], z_dot[6];
        for (int e = 0; e < 6; e++) {
            h[e] = J[e] * l[0] + J[6 + e] * l[1] + J[12 + e] * l[2];
            h_dot[e] = J[e] * l_dot[0] + J[6 + e] * l_dot[1] + J[12 + e] * l_dot[2];
            if (d.rows) h_dot[e] += d.J[side][e] * l[0] + d.J[side][6 + e] * l[1] + d.J[side][12 + e] * l[2];
        }
        ti_link_minv(link, h, z);
        ti_store3(rest, ti_axpy(ti_load3(h_dot), -diffs[b].mass, ti_load3(z)));
        ti_store3(rest + 3, ti_sub(ti_load3(h_dot + 3), ti_mul(&diffs[b].I, ti_load3(z + 3))));
        ti_link_minv(link, rest, z_dot);
        for (int e = 0; e < 6; e++) D_dot[6 * b + e] -= d.tau * z[e] + c->tau * z_dot[e];
    }
}

/* ---- together ---- */

static void integrate_body(tribo_ws *ws, const ti_frame *f, const ti_link_diff *d, int b, const double *V_dot,
                           const double *D_dot, double *out) {
    const tribo_model *m = ws->model;
    double V[6];
    ti_solved_velocity(ws, f, b, V);
    ti_link_integrate_jvp(&ws->link[b], ws->D + 6 * b, V, d, D_dot, V_dot, out + m->body[b].v,
                          out + m->size.nv + m->body[b].v);
}

static tribo_status tangents(tribo_ws *ws, const ti_frame *f, const double *p, const seeds *in, double *out) {
    const tribo_model *m = ws->model;
    ti_scratch *s = ws->scratch;
    double dt = ws->options.dt, V_dot[6];
    int nb = m->size.nbody;
    seed_links(ws, in); /* x_dot is not read after this, so out may alias it */
    for (int n = 0; n < f->nisland; n++) {
        const ti_island *is = &f->island[n];
        pose_tangents(ws, f, is, in, p);
        tribo_status status = solve_tangents(ws, f, n, in);
        if (status < 0) return status;
        for (int j = 0; j < in->n; j++) {
            double *D_dot = s->Y; /* (nbody,6), the island's rows */
            for (int k = 0; k < is->nblk; k++)
                for (int e = 0; e < 6; e++)
                    D_dot[6 * f->blk_body[is->blk0 + k] + e] = dt * s->v_sum[j * 6 * is->nblk + 6 * k + e];
            for (int i = is->con0; i < is->con0 + is->ncon; i++)
                if (f->con[i].bounce && f->mode[i] != TRIBO_BREAK)
                    impact_dot(ws, f, is, i, j, p, row(in->p, j, m->size.np), D_dot);
            for (int k = 0; k < is->nblk; k++) {
                int b = f->blk_body[is->blk0 + k];
                integrate_body(ws, f, &s->diff_dot[j * nb + b], b, s->v_sum + j * 6 * is->nblk + 6 * k, D_dot + 6 * b,
                               out + (size_t)j * (size_t)m->size.ndx);
            }
        }
    }
    for (int b = 0; b < nb; b++)
        for (int j = 0; ws->blk_at[b] < 0 && j < in->n; j++) {
            const ti_link_diff *d = &s->diff_dot[j * nb + b];
            double D_dot[6];
            ti_store3(V_dot, d->vf), ti_store3(V_dot + 3, d->wf);
            for (int e = 0; e < 6; e++) D_dot[e] = dt * V_dot[e];
            integrate_body(ws, f, d, b, V_dot, D_dot, out + (size_t)j * (size_t)m->size.ndx);
        }
    return TRIBO_OK;
}

/* ---- of a law that depends on G itself: by the rows that the reverse gives ---- */

/* Row i of the step's Jacobians, in scratch. */
typedef struct jacobian_row {
    double *x, *u, *p; /* (ndx), (nu), (np) */
} jacobian_row;

static tribo_status reverse_row(tribo_ws *ws, const ti_frame *f, const double *p, int i, jacobian_row *out) {
    const tribo_sizes *size = &ws->model->size;
    double *seed = ws->scratch->seed;
    size_t n = 2 * (size_t)size->ndx + (size_t)size->nu + (size_t)size->np;
    memset(seed, 0, n * sizeof *seed);
    seed[i] = 1;
    *out = (jacobian_row){seed + size->ndx, seed + 2 * size->ndx, seed + 2 * size->ndx + size->nu};
    return ti_reverse(ws, f, p, seed, out->x, out->u, out->p);
}

static double product(int n, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; b && i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* out (n,ndx) */
static tribo_status tangents_by_rows(tribo_ws *ws, const ti_frame *f, const double *p, const seeds *in, double *out) {
    const tribo_sizes *size = &ws->model->size;
    size_t ndx = (size_t)size->ndx;
    for (int i = 0; i < size->ndx; i++) {
        jacobian_row r;
        tribo_status status = reverse_row(ws, f, p, i, &r);
        if (status < 0) return status;
        for (int j = 0; j < in->n; j++)
            out[(size_t)j * ndx + (size_t)i] = product(size->ndx, r.x, row(in->x, j, size->ndx)) +
                                               product(size->nu, r.u, row(in->u, j, size->nu)) +
                                               product(size->np, r.p, row(in->p, j, size->np));
    }
    return TRIBO_OK;
}

static tribo_status jacobians_by_rows(tribo_ws *ws, const ti_frame *f, const double *p, double *A, double *B,
                                      double *C) {
    const tribo_sizes *size = &ws->model->size;
    size_t ndx = (size_t)size->ndx, nu = (size_t)size->nu, np = (size_t)size->np;
    for (size_t i = 0; i < ndx; i++) {
        jacobian_row r;
        tribo_status status = reverse_row(ws, f, p, (int)i, &r);
        if (status < 0) return status;
        if (A) memcpy(A + i * ndx, r.x, ndx * sizeof *A);
        if (B) memcpy(B + i * nu, r.u, nu * sizeof *B);
        if (C) memcpy(C + i * np, r.p, np * sizeof *C);
    }
    return TRIBO_OK;
}

tribo_status ti_forward(tribo_ws *ws, const ti_frame *f, const double *p, int ndir, const double *x_dot,
                        const double *u_dot, const double *p_dot, double *xnext_dot) {
    const tribo_sizes *size = &ws->model->size;
    tribo_status status = TRIBO_OK;
    for (int j = 0; j < ndir && status >= 0; j += TI_DIRECTIONS) {
        seeds in = {ndir - j < TI_DIRECTIONS ? ndir - j : TI_DIRECTIONS, row(x_dot, j, size->ndx),
                    row(u_dot, j, size->nu), row(p_dot, j, size->np)};
        double *out = xnext_dot + (size_t)j * (size_t)size->ndx;
        status =
            ti_contact_entangled(ws->contact) ? tangents_by_rows(ws, f, p, &in, out) : tangents(ws, f, p, &in, out);
    }
    return status;
}

/* One block of Jacobian columns, by unit seeds: out (ndx,width). */
static tribo_status columns(tribo_ws *ws, const ti_frame *f, const double *p, int width, int which, double *out) {
    int ndx = ws->model->size.ndx;
    double *seed = ws->scratch->seed, *result = seed + TI_DIRECTIONS * width;
    for (int j0 = 0; out && j0 < width; j0 += TI_DIRECTIONS) {
        int n = width - j0 < TI_DIRECTIONS ? width - j0 : TI_DIRECTIONS;
        memset(seed, 0, sizeof *seed * (size_t)n * (size_t)width);
        for (int j = 0; j < n; j++) seed[j * width + j0 + j] = 1;
        seeds in = {n, which == 0 ? seed : NULL, which == 1 ? seed : NULL, which == 2 ? seed : NULL};
        tribo_status s = tangents(ws, f, p, &in, result);
        if (s < 0) return s;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < ndx; i++) out[(size_t)i * (size_t)width + (size_t)(j0 + j)] = result[j * ndx + i];
    }
    return TRIBO_OK;
}

tribo_status ti_jacobians(tribo_ws *ws, const ti_frame *f, const double *p, double *A, double *B, double *C) {
    const tribo_sizes *size = &ws->model->size;
    if (ti_contact_entangled(ws->contact)) return jacobians_by_rows(ws, f, p, A, B, C);
    tribo_status s = TRIBO_OK;
    if ((A || B) && ti_jacobian_applies(f)) {
        s = ti_jacobian(ws, f, p, A, B);
    } else {
        s = columns(ws, f, p, size->ndx, 0, A);
        if (s >= 0) s = columns(ws, f, p, size->nu, 1, B);
    }
    if (s >= 0) s = columns(ws, f, p, size->np, 2, C);
    return s;
}
