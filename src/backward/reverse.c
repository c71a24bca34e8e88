/* reverse.c -- the reverse of a recorded step: it chains, the derivatives stand elsewhere.
 * docs/math.md eq. (63). */
#include "backward/backward.h"
#include "math/clones.h"

tribo_status ti_restore(tribo_ws *ws, const tribo_tape *tape, int k, ti_frame *f, const double **p) {
    tribo_status s = ti_tape_frame(tape, ws, k, f, p);
    if (s != TRIBO_OK) return s;
    ti_step_kinematics(ws, *p, f->x, f->u);
    ti_step_pose(ws, f, *p, false);
    ti_step_displacement(ws, f, ws->D);
    return TRIBO_OK;
}

void ti_break(tribo_ws *ws, ti_frame *f, const double *p) {
    f->ncon = f->nisland = f->nblk = 0;
    ti_step_pose(ws, f, p, false);
    ti_step_displacement(ws, f, ws->D);
}

void ti_solved_velocity(const tribo_ws *ws, const ti_frame *f, int body, double *V) {
    int k = ws->blk_at[body];
    if (k >= 0) {
        memcpy(V, f->v[TI_SOLVED] + 6 * k, 6 * sizeof *V);
    } else {
        ti_store3(V, ws->link[body].vf);
        ti_store3(V + 3, ws->link[body].wf);
    }
}

ti_reference ti_frame_reference(const tribo_ws *ws, const ti_con *c, const double *p) {
    const int *at = ws->model->pair[c->pair].material;
    return ti_contact_reference(c->touch.gap, c->uf, c->an, p[at[TI_M_RESTITUTION]], p[at[TI_M_BAUMGARTE]],
                                p[at[TI_M_SLOP]], ws->options.dt, ws->options.recovery);
}

const double *ti_frame_rows(const tribo_ws *ws, const ti_frame *f, int i, int side) {
    const ti_con *c = &f->con[i];
    if ((side ? c->b : c->a) < 0) return NULL;
    return ws->J + 36 * i + (side && c->a >= 0 ? 18 : 0);
}

/* ---- integration ---- */

static void reverse_integration(tribo_ws *ws, const ti_frame *f, const double *xnext_bar) {
    const tribo_model *m = ws->model;
    ti_scratch *s = ws->scratch;
    for (int b = 0; b < m->size.nbody; b++) {
        double V[6], *D_bar = s->D_bar + 6 * b, *V_bar = s->V_bar + 6 * b;
        ti_link_diff *d = &s->diff[b];
        memset(d, 0, sizeof *d);
        ti_solved_velocity(ws, f, b, V);
        ti_link_integrate_vjp(&ws->link[b], ws->D + 6 * b, V, xnext_bar + m->body[b].v,
                              xnext_bar + m->size.nv + m->body[b].v, d, D_bar, V_bar);
        for (int j = 0; j < 6; j++) V_bar[j] += ws->options.dt * D_bar[j];
        if (ws->blk_at[b] < 0) d->vf = ti_load3(V_bar), d->wf = ti_load3(V_bar + 3);
    }
}

/* The share of a bounce's impulse in the displacement, -tau M^-1 J' lambda: Y = M^-1 D_bar is kept for J_bar. */
static void reverse_impacts(tribo_ws *ws, const ti_frame *f) {
    ti_scratch *s = ws->scratch;
    memset(s->lambda_bar, 0, 3 * sizeof(double) * (size_t)f->ncon);
    memset(s->tau_bar, 0, sizeof(double) * (size_t)f->ncon);
    for (int i = 0; i < f->ncon; i++) {
        const ti_con *c = &f->con[i];
        if (!c->bounce) continue;
        const double *l = f->lambda[TI_SOLVED] + 3 * i;
        for (int side = 0; side < 2; side++) {
            const double *J = ti_frame_rows(ws, f, i, side);
            if (!J) continue;
            int b = side ? c->b : c->a;
            double *Y = s->Y + 6 * b, h[6], z[6];
            for (int j = 0; j < 6; j++) h[j] = J[j] * l[0] + J[6 + j] * l[1] + J[12 + j] * l[2];
            ti_link_minv(&ws->link[b], s->D_bar + 6 * b, Y);
            ti_link_minv(&ws->link[b], h, z);
            for (int r = 0; r < 3; r++) {
                double JY = 0;
                for (int j = 0; j < 6; j++) JY += J[6 * r + j] * Y[j];
                s->lambda_bar[3 * i + r] -= c->tau * JY;
                s->tau_bar[i] -= l[r] * JY;
            }
            s->diff[b].mass += c->tau * ti_dot(ti_load3(Y), ti_load3(z));
            ti_outer_add(&s->diff[b].I, c->tau, ti_load3(Y + 3), ti_load3(z + 3));
        }
    }
}

static bool is_unrolled(const tribo_ws *ws) {
    return ws->options.reverse == TRIBO_REVERSE_UNROLLED;
}

/* ---- impulses ---- */

static void reverse_momentum(tribo_ws *ws, const ti_frame *f, int blk, const double *y, const double *v) {
    int b = f->blk_body[blk];
    const ti_link *l = &ws->link[b];
    ti_link_diff *d = &ws->scratch->diff[b];
    ti_vec lin = ti_load3(y), ang = ti_load3(y + 3);
    d->vf = ti_axpy(d->vf, l->mass, lin), d->wf = ti_add(d->wf, ti_mul(&l->I, ang));
    d->mass -= ti_dot(lin, ti_sub(ti_load3(v), l->vf));
    ti_outer_add(&d->I, -1, ang, ti_sub(ti_load3(v + 3), l->wf));
}

/* What a law that depends on G itself adds at point k: to J_bar, which row_products() reads, and to the inertias. */
static void reverse_delassus(tribo_ws *ws, const ti_frame *f, const ti_island *is, const ti_contact_problem *problem,
                             const ti_contact_solution *solution, int k) {
    ti_scratch *s = ws->scratch;
    double *J_bar = s->J_bar + 36 * is->con0, *M_bar = s->M_bar + 36 * is->blk0;
    if (k == 0) memset(J_bar, 0, 36 * sizeof *J_bar * (size_t)is->ncon);
    memset(M_bar, 0, 36 * sizeof *M_bar * (size_t)is->nblk);
    const ti_delassus_bar *bar = ti_contact_delassus_bar(ws->contact, problem, solution, k, s->c_bar[k] + 3 * is->con0);
    ti_contact_entangled_vjp(ws->contact, problem, bar, J_bar, M_bar);
    for (int b = 0; b < is->nblk; b++, M_bar += 36) {
        ti_link_diff *d = &s->diff[f->blk_body[is->blk0 + b]];
        d->mass += M_bar[0] + M_bar[7] + M_bar[14];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) d->I.m[r][c] += M_bar[6 * (3 + r) + 3 + c];
    }
}

static tribo_status reverse_island(tribo_ws *ws, const ti_frame *f, int island) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[island];
    ti_contact_problem problem = ti_step_island(ws, f, island);
    ti_contact_solution solution = ti_frame_solution(f, island);
    int nv = 6 * is->nblk, nc = is->ncon;
    for (int k = 0; k < is->npoint; k++) {
        tribo_status status = ti_contact_factor(ws->contact, &problem, &solution, k);
        if (status < 0) return status;
        double w = is->weight[k], *y = s->y[k] + 6 * is->blk0;
        for (int j = 0; j < nv; j++) s->v_work[j] = w * s->V_bar[6 * f->blk_body[is->blk0 + j / 6] + j % 6];
        for (int j = 0; j < 3 * nc; j++) s->l_work[j] = w * s->lambda_bar[3 * is->con0 + j];
        ti_contact_vjp(ws->contact, &problem, s->v_work, s->l_work, y, s->c_bar[k] + 3 * is->con0, s->mu_work);
        for (int i = 0; i < nc; i++) s->mu_bar[is->con0 + i] += s->mu_work[i];
        if (ti_contact_entangled(ws->contact)) reverse_delassus(ws, f, is, &problem, &solution, k);
        for (int b = 0; b < is->nblk; b++)
            reverse_momentum(ws, f, is->blk0 + b, y + 6 * b, solution.point[k].v + 6 * b);
    }
    return TRIBO_OK;
}

/* ---- impulses of a fixed number of rounds ---- */

typedef struct unrolled {
    tribo_ws *ws;
    const ti_frame *f;
    const ti_island *is;
} unrolled;

/* One stage's share in everything but the contacts' geometry, whose cotangents are summed in frame_bar and ref_bar. */
static void reverse_stage(void *context, const double *lambda, const double *v, const double *y, const double *c_bar,
                          const double *mu_bar) {
    const unrolled *u = context;
    tribo_ws *ws = u->ws;
    ti_scratch *s = ws->scratch;
    for (int b = 0; b < u->is->nblk; b++) reverse_momentum(ws, u->f, u->is->blk0 + b, y + 6 * b, v + 6 * b);
    for (int k = 0; k < u->is->ncon; k++) {
        int i = u->is->con0 + k;
        const ti_con *c = &u->f->con[i];
        s->mu_bar[i] += mu_bar[k], s->ref_bar[i] += c_bar[3 * k + 2];
        for (int side = 0; side < 2; side++) {
            int body = side ? c->b : c->a;
            if (body < 0) continue;
            int at = 6 * (ws->blk_at[body] - u->is->blk0);
            ti_row_product q[2] = {{lambda + 3 * k, y + at}, {c_bar + 3 * k, v + at}};
            ti_rows_vjp(c, &ws->link[body], side ? 1 : -1, 2, q, &s->diff[body], s->frame_bar + 12 * i);
        }
    }
}

static tribo_status reverse_rounds(tribo_ws *ws, const ti_frame *f, int island) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[island];
    ti_contact_problem problem = ti_step_island(ws, f, island);
    int rounds = ws->options.rounds;
    unrolled context = {ws, f, is};
    for (int j = 0; j < 6 * is->nblk; j++) s->v_work[j] = s->V_bar[6 * f->blk_body[is->blk0 + j / 6] + j % 6];
    return ti_staggered_vjp(ws->staggered, &problem, rounds, f->rounds + (size_t)rounds * 3 * (size_t)is->con0,
                            s->v_work, s->lambda_bar + 3 * is->con0, reverse_stage, &context);
}

/* ---- contacts ---- */

/* What one side's rows J are multiplied with: l' J y and c_bar' J v at each point, and what a bounce adds. */
typedef struct products {
    int n;
    ti_row_product of[2 * TI_CONTACT_POINTS + 5];
    double late[3], normal[3], free[6];
} products;

static void row_products(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, int body, double uf_bar,
                         double an_bar, products *q) {
    const ti_scratch *s = ws->scratch;
    const ti_con *c = &f->con[i];
    int at = 6 * ws->blk_at[body];
    q->n = 0;
    for (int k = 0; !is_unrolled(ws) && k < is->npoint; k++) {
        q->of[q->n++] = (ti_row_product){f->lambda[k] + 3 * i, s->y[k] + at};
        q->of[q->n++] = (ti_row_product){s->c_bar[k] + 3 * i, f->v[k] + at};
    }
    if (ti_contact_entangled(ws->contact)) {
        static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        const double *J_bar = s->J_bar + (ti_frame_rows(ws, f, i, body == c->b) - ws->J);
        for (int r = 0; r < 3; r++) q->of[q->n++] = (ti_row_product){unit[r], J_bar + 6 * r};
    }
    if (!c->bounce) return;
    const double *l = f->lambda[TI_SOLVED] + 3 * i, *vf = ws->vfree + at, *vn = ws->vnow + at;
    for (int r = 0; r < 3; r++) q->late[r] = -c->tau * l[r], q->normal[r] = r == 2;
    for (int j = 0; j < 6; j++) q->free[j] = uf_bar * vf[j] + an_bar * (vf[j] - vn[j]) / ws->options.dt;
    q->of[q->n++] = (ti_row_product){q->late, s->Y + 6 * body};
    q->of[q->n++] = (ti_row_product){q->normal, q->free};
}

/* Through the collision to the poses and sizes of the two geoms, which are summed over their contacts. */
TI_CLONES static void reverse_geometry(tribo_ws *ws, const ti_frame *f, int i, const double *frame_bar,
                                       double gap_bar) {
    const ti_con *c = &f->con[i];
    const ti_pair *pair = &ws->model->pair[c->pair];
    double *a = ws->scratch->geom_bar + 9 * pair->a, *b = ws->scratch->geom_bar + 9 * pair->b;
    double jac[TI_COLLIDE_ROWS][TI_COLLIDE_COLS], in[TI_COLLIDE_ROWS], out[TI_COLLIDE_COLS] = {0};
    ti_mat D1, D2;
    ti_tangents_jac(c->touch.normal, &D1, &D2);
    ti_vec n = ti_add(ti_tmul(&D1, ti_load3(frame_bar + 3)), ti_tmul(&D2, ti_load3(frame_bar + 6)));
    ti_store3(in, ti_load3(frame_bar));
    ti_store3(in + 3, ti_add(ti_load3(frame_bar + 9), n));
    in[6] = gap_bar;
    ti_collide_jac(&ws->shape[pair->a], &ws->shape[pair->b], &c->touch, jac);
    for (int r = 0; r < TI_COLLIDE_ROWS; r++)
        for (int j = 0; j < TI_COLLIDE_COLS; j++) out[j] += in[r] * jac[r][j];
    for (int j = 0; j < 9; j++) a[j] += out[j], b[j] += out[9 + j];
}

static void reverse_contact(tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, const double *p,
                            double *p_bar) {
    ti_scratch *s = ws->scratch;
    const ti_con *c = &f->con[i];
    const int *at = ws->model->pair[c->pair].material;
    double ref_bar = s->ref_bar[i], *frame_bar = s->frame_bar + 12 * i;
    products q;
    for (int k = 0; !is_unrolled(ws) && k < is->npoint; k++) ref_bar += s->c_bar[k][3 * i + 2];
    ti_reference r = ti_frame_reference(ws, c, p);
    double gap_bar = ref_bar * r.ref_gap + s->tau_bar[i] * r.tau_gap;
    double uf_bar = ref_bar * r.ref_uf + s->tau_bar[i] * r.tau_uf;
    double an_bar = ref_bar * r.ref_an + s->tau_bar[i] * r.tau_an;
    for (int side = 0; side < 2; side++) {
        int b = side ? c->b : c->a;
        const double *J = ti_frame_rows(ws, f, i, side);
        if (!J) continue;
        ti_link_diff *d = &s->diff[b];
        row_products(ws, f, is, i, b, uf_bar, an_bar, &q);
        ti_rows_vjp(c, &ws->link[b], side ? 1 : -1, q.n, q.of, d, frame_bar);
        if (!c->bounce) continue;
        double free_bar = uf_bar + an_bar / ws->options.dt, now_bar = -an_bar / ws->options.dt;
        d->vf = ti_axpy(d->vf, free_bar, ti_load3(J + 12)), d->wf = ti_axpy(d->wf, free_bar, ti_load3(J + 15));
        d->v = ti_axpy(d->v, now_bar, ti_load3(J + 12)), d->w = ti_axpy(d->w, now_bar, ti_load3(J + 15));
    }
    reverse_geometry(ws, f, i, frame_bar, gap_bar);
    if (!p_bar) return;
    p_bar[at[TI_M_FRICTION]] += s->mu_bar[i];
    if (c->sticky) p_bar[at[TI_M_STICTION]] += s->mu_bar[i];
    p_bar[at[TI_M_RESTITUTION]] += ref_bar * r.ref_e;
    p_bar[at[TI_M_BAUMGARTE]] += ref_bar * r.ref_beta;
    p_bar[at[TI_M_SLOP]] += ref_bar * r.ref_slop;
}

/* ---- together ---- */

tribo_status ti_reverse(tribo_ws *ws, const ti_frame *f, const double *p, const double *xnext_bar, double *x_bar,
                        double *u_bar, double *p_bar) {
    const tribo_model *m = ws->model;
    ti_scratch *s = ws->scratch;
    reverse_integration(ws, f, xnext_bar);
    reverse_impacts(ws, f);
    memset(s->mu_bar, 0, sizeof(double) * (size_t)f->ncon);
    memset(s->ref_bar, 0, sizeof(double) * (size_t)f->ncon);
    memset(s->frame_bar, 0, 12 * sizeof(double) * (size_t)f->ncon);
    for (int i = 0; i < f->nisland; i++) {
        tribo_status status = is_unrolled(ws) ? reverse_rounds(ws, f, i) : reverse_island(ws, f, i);
        if (status < 0) return status;
    }
    memset(s->geom_bar, 0, 9 * sizeof(double) * (size_t)m->size.ngeom);
    for (int n = 0; n < f->nisland; n++)
        for (int i = f->island[n].con0; i < f->island[n].con0 + f->island[n].ncon; i++)
            if (f->mode[i] != TRIBO_BREAK || is_unrolled(ws)) reverse_contact(ws, f, &f->island[n], i, p, p_bar);
    for (int g = 0; f->ncon > 0 && g < m->size.ngeom; g++)
        ti_shape_vjp(m, p, ws->link, g, s->geom_bar + 9 * g, s->diff, p_bar);

    ti_vec gravity_bar = {0, 0, 0};
    for (int b = 0; b < m->size.nbody; b++) {
        const ti_body *body = &m->body[b];
        ti_link_free_vjp(&ws->link[b], ws->options.dt, &s->diff[b], &gravity_bar, u_bar ? u_bar + body->v : NULL);
        ti_link_load_vjp(&ws->link[b], &s->diff[b], x_bar + body->v, x_bar + m->size.nv + body->v,
                         p_bar ? p_bar + body->p : NULL);
    }
    if (p_bar) ti_add3(p_bar + TI_P_GRAVITY, gravity_bar);
    return TRIBO_OK;
}
