/* free_rows.c -- see free_rows.h; docs/math.md eq. (572). A panel of solves does for as many rows, each over all
 * columns of the island; a column is not zero at its own body, at those that it touches and in its contacts, and what
 * it makes of a row is the sum over these. */
#include "backward/free_rows.h"
#include "base/clones.h"
#include "math/lanes.h"

enum { POSE = TI_POSE };

void ti_contact_rates(tribo_ws *ws, const ti_frame *f, int i, const double *p, double follows, double *rates,
                      unsigned char *turns) {
    const ti_con *c = &f->con[i];
    double jac[TI_COLLIDE_ROWS][TI_COLLIDE_COLS];
    ti_con_jac(c, &ws->shape[c->pair.a], &ws->shape[c->pair.b], jac);
    for (int side = 0; side < 2; side++) {
        if ((side ? c->b : c->a) < 0) continue;
        double *rate = rates + TI_COLLIDE_ROWS * POSE * (2 * i + side);
        turns[2 * i + side] = ti_contact_rate(ws->model, p, ws->link, c, side, jac[0], rate);
        for (int e = 0; e < POSE; e++) rate[6 * POSE + e] *= follows;
    }
}

void ti_free_rows_prepare(tribo_ws *ws, const ti_frame *f, int island, const double *p) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[island];
    for (int i = is->con0; i < is->con0 + is->ncon; i++)
        if (f->mode[i] != TRIBO_BREAK)
            ti_contact_rates(ws, f, i, p, ti_frame_reference(ws, f, island, i).ref_gap, s->rate, s->turns);
}

/* ---- rows ---- */

/* In panels as equal as can be: of one eight alone sums wait for one another. */
void ti_free_rows_solve(tribo_ws *ws, const ti_contact_problem *p, const ti_island *is, ti_free_rows *rows) {
    ti_scratch *s = ws->scratch;
    double *unit = s->r_dot[0];
    int eights = (6 * rows->n + 7) / 8, first = 6 * (rows->blk - is->blk0), end = first + 6 * rows->n;
    rows->npanel = eights > TI_PANEL / 8 ? 2 : 1;
    for (int k = 0; k < rows->npanel; k++) {
        rows->eights[k] = (eights + k) / rows->npanel;
        rows->Y[k] = s->v_sum[k], rows->L[k] = s->lambda_sum[k];
        int n = end - first < 8 * rows->eights[k] ? end - first : 8 * rows->eights[k];
        memset(unit, 0, sizeof *unit * TI_PANEL * (size_t)p->nv);
        for (int j = 0; j < n; j++) unit[TI_PANEL * (first + j) + j] = 1;
        ti_contact_panel_t(ws->contact, p, n, unit, s->v_sum[k], s->lambda_sum[k], s->r_dot[1], s->c_dot[0]);
        first += n;
    }
}

/* ---- sums ---- */

enum { LISTED = 48 };

/* Rows of six columns that are not zero, and which rows of the island they are. */
typedef struct entries {
    int n, row[LISTED];
    double x[LISTED][6];
} entries;

/* sum (6 columns,8 rows) += x'Y */
TI_INLINE void eight_sums(const entries *e, const double *Y, double (*to)[TI_FREE_ROWS]) {
    vec8 sum[6];
    for (int d = 0; d < 6; d++) sum[d] = *(const vec8 *)(const void *)to[d];
    for (int k = 0; k < e->n; k++) {
        vec8 y = *(const vec8 *)(const void *)(Y + TI_PANEL * (size_t)e->row[k]);
        for (int d = 0; d < 6; d++) sum[d] += e->x[k][d] * y;
    }
    for (int d = 0; d < 6; d++) *(vec8 *)(void *)to[d] = sum[d];
}

/* What entries of the momentum row and of contacts make of the rows, added. */
TI_CLONES_WIDE static void add_sums(const ti_free_rows *rows, const entries *momentum, const entries *contact,
                                    double (*to)[TI_FREE_ROWS]) {
    for (int k = 0, at = 0; k < rows->npanel; k++)
        for (int c = 0; c < rows->eights[k]; c++, at += 8) {
            double(*there)[TI_FREE_ROWS] = (double(*)[TI_FREE_ROWS])(to[0] + at);
            eight_sums(momentum, rows->Y[k] + 8 * c, there);
            eight_sums(contact, rows->L[k] + 8 * c, there);
        }
}

/* The columns of free velocities: Y'M. */
TI_CLONES_WIDE static void momentum_sums(const ti_free_rows *rows, const ti_link *l, int own,
                                         double (*to)[TI_FREE_ROWS]) {
    for (int k = 0, at = 0; k < rows->npanel; k++)
        for (int c = 0; c < rows->eights[k]; c++, at += 8) {
            const double *Y = rows->Y[k] + 8 * c + TI_PANEL * (size_t)own;
            vec8 y[6];
            for (int d = 0; d < 6; d++) y[d] = *(const vec8 *)(const void *)(Y + TI_PANEL * d);
            for (int d = 0; d < 3; d++) {
                *(vec8 *)(void *)(to[d] + at) = l->mass * y[d];
                *(vec8 *)(void *)(to[3 + d] + at) = l->I.m[0][d] * y[3] + l->I.m[1][d] * y[4] + l->I.m[2][d] * y[5];
            }
        }
}

/* ---- columns ---- */

/* Entries of a body's displacements on their way into the sums Q. */
typedef struct gathered {
    const ti_free_rows *rows;
    entries momentum, contact;
    double (*to)[TI_FREE_ROWS];
} gathered;

static void empty(gathered *g) {
    add_sums(g->rows, &g->momentum, &g->contact, g->to);
    g->momentum.n = g->contact.n = 0;
}

/* n more, of the island's rows from `first` on, for the caller to fill. */
static double *more(gathered *g, entries *e, int first, int n) {
    if (e->n + n > LISTED) empty(g);
    double *x = e->x[e->n];
    for (int k = 0; k < n; k++) e->row[e->n++] = first + k;
    return x;
}

static void put_momentum(gathered *g, int first, const double *x) {
    memcpy(more(g, &g->momentum, first, 6), x, 36 * sizeof *x);
}

/* By the rotation, which moves the free velocity. */
static void body_rhs(const ti_link *l, const ti_link_jac *j, double *r) {
    memset(r, 0, 36 * sizeof *r);
    if (j->centred) return;
    ti_mat ang = ti_matmul(&l->I, &j->wf_th);
    for (int e = 0; e < 3; e++) {
        ti_store3(r + POSE * e + 3, ti_scale(l->mass, ti_load3(j->vf_th.m[e])));
        ti_store3(r + POSE * (3 + e) + 3, ti_load3(ang.m[e]));
    }
}

/* Of contact i, as the body on side `moving` of it moves; to[side] (6,6) of the momentum of both. */
static void contact_rhs(const tribo_ws *ws, const ti_free_point *at, int i, int moving, double *const *to,
                        double *c_dot) {
    const ti_con *c = &at->f->con[i];
    const ti_scratch *s = ws->scratch;
    ti_side sides[2] = {{0}, {0}};
    for (int side = 0; side < 2; side++) {
        int b = side ? c->b : c->a;
        if (b < 0) continue;
        const ti_link_jac *jac = &s->link_jac[b];
        sides[side] = (ti_side){.link = &ws->link[b],
                                .xc_th = jac->centred ? NULL : &jac->xc_th,
                                .v = at->f->phase[TI_HOLD].v[at->k] + 6 * ti_blk_of_body(ws, b),
                                .momentum = to[side]};
    }
    const double *rate = s->rate + TI_COLLIDE_ROWS * POSE * (2 * i + moving);
    memset(c_dot, 0, 3 * POSE * sizeof *c_dot);
    ti_contact_pose_jac(c, sides, moving, rate, s->turns[2 * i + moving], at->f->phase[TI_HOLD].lambda[at->k] + 3 * i,
                        POSE, c_dot);
    for (int e = 0; e < POSE; e++) c_dot[2 * POSE + e] += rate[6 * POSE + e];
}

/* Contacts of two bodies follow one another as a rule: what they do to the other one is put once. */
static void gather_contacts(const tribo_ws *ws, const ti_free_point *at, int body, double *own, gathered *g) {
    const ti_frame *f = at->f;
    const ti_island *is = &f->island[at->island];
    double other[36];
    int beside = -1;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        const ti_con *c = &f->con[i];
        if (f->mode[i] == TRIBO_BREAK || (c->a != body && c->b != body)) continue;
        int moving = c->b == body, next = moving ? c->a : c->b;
        if (next != beside && beside >= 0) put_momentum(g, 6 * (ti_blk_of_body(ws, beside) - is->blk0), other);
        if (next != beside) memset(other, 0, sizeof other);
        beside = next;
        double *to[2] = {moving ? other : own, moving ? own : other};
        contact_rhs(ws, at, i, moving, to, more(g, &g->contact, 3 * (i - is->con0), 3));
    }
    if (beside >= 0) put_momentum(g, 6 * (ti_blk_of_body(ws, beside) - is->blk0), other);
}

void ti_free_columns_of(const tribo_ws *ws, const ti_free_point *at, const ti_free_rows *rows, int body, bool places,
                        ti_free_columns *x) {
    int own = 6 * (ti_blk_of_body(ws, body) - at->f->island[at->island].blk0);
    momentum_sums(rows, &ws->link[body], own, x->P);
    if (!places) return;
    gathered g;
    double r[36];
    g.rows = rows, g.to = x->Q, g.momentum.n = g.contact.n = 0;
    memset(x->Q, 0, sizeof x->Q);
    body_rhs(&ws->link[body], &ws->scratch->link_jac[body], r);
    gather_contacts(ws, at, body, r, &g);
    put_momentum(&g, own, r);
    empty(&g);
}
