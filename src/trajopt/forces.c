/* forces.c -- the contact forces that terms ask for: of a step, their derivatives along a knot, and the reverse of a
 * motion whose cost has them. docs/math.md eq. (411). */
#include "backward/backward.h"
#include "trajopt/multiply.h"
#include "trajopt/task.h"

/* 1 where the contact pushes the term's body as its second one, -1 as its first, 0 where it is no business of it. */
static double side_of(const tribo_term_def *d, const ti_con *c) {
    bool any = d->body2 < 0;
    if (c->kind != TI_CON_CONTACT) return 0;
    if (c->b == d->body && (any || c->a == d->body2)) return 1;
    return c->a == d->body && (any || c->b == d->body2) ? -1 : 0;
}

/* What turns impulses of a step into its share of a knot's mean force. */
static double per_impulse(const tribo_trajopt *t, const tribo_ws *ws) {
    return 1 / (t->substeps * ws->options.dt);
}

/* In the world. */
static ti_vec impulse_of(const ti_frame *f, const ti_island *is, int i) {
    const ti_con c = ti_frame_con(f, is, i);
    const double *l = f->lambda + 3 * i;
    return ti_axpy(ti_axpy(ti_scale(l[0], c.t1), l[1], c.t2), l[2], c.touch.normal);
}

void ti_forces_add(const tribo_trajopt *t, const tribo_ws *ws, double *force) {
    const ti_frame *f = &ws->frame;
    for (int k = 0; k < t->nterm; k++) {
        const ti_term *term = &t->term[k];
        if (term->force < 0) continue;
        for (int n = 0; n < f->nisland; n++)
            for (int i = f->island[n].con0; i < f->island[n].con0 + f->island[n].ncon; i++) {
                double share = side_of(&term->def, &f->con[i]) * per_impulse(t, ws);
                if (share != 0) ti_add3(force + 3 * term->force, ti_scale(share, impulse_of(f, &f->island[n], i)));
            }
    }
}

/* Cotangents of a record's impulses += from that of a term's force. @return whether any contact of it pushes. */
static bool spread(const tribo_trajopt *t, const tribo_ws *ws, const ti_frame *f, const ti_term *term,
                   const double *force_bar, double *impulse_bar) {
    bool pushes = false;
    for (int i = 0; i < f->ncon; i++) {
        const ti_con *c = &f->con[i];
        double share = side_of(&term->def, c) * per_impulse(t, ws);
        if (share == 0) continue;
        pushes = pushes || f->mode[i] != TRIBO_BREAK;
        ti_add3(impulse_bar + 3 * c->id, ti_scale(share, ti_load3(force_bar)));
    }
    return pushes;
}

static void clear_impulses(const ti_frame *f, double *impulse_bar) {
    memset(impulse_bar, 0, 3 * sizeof *impulse_bar * (size_t)f->ncon);
}

/* A row += of one number of a step's force, by the knot's state and controls; the knot's A and B are those of the
 * steps before, `first`: there are none. */
static void add_row(const tribo_trajopt *t, const ti_knot *k, bool first, const ti_record_bar *bar, double *by_x,
                    double *by_u) {
    int n = t->z.ndx, nc = t->nc;
    for (int i = 0; i < n; i++) {
        if (first) by_x[i] += bar->x[i];
        for (int j = 0; j < n && !first; j++) by_x[j] += bar->x[i] * k->A[i * n + j];
        for (int j = 0; j < nc && !first; j++) by_u[j] += bar->x[i] * k->B[i * nc + j];
    }
    for (int j = 0; j < nc; j++) by_u[j] += bar->u[t->control[j]];
}

void ti_forces_clear(const tribo_trajopt *t, ti_planner *w) {
    size_t rows = 3 * sizeof(double) * (size_t)t->nforce;
    memset(w->force_x, 0, rows * (size_t)t->z.ndx), memset(w->force_u, 0, rows * (size_t)t->nc);
}

tribo_status ti_forces_linearise(const tribo_trajopt *t, ti_planner *w, const ti_knot *k, int record, bool first) {
    ti_frame f;
    const double *p;
    double *none = w->ws->scratch->bar;
    if (t->nforce == 0) return TRIBO_OK;
    tribo_status s = ti_tape_frame(t->best.tape, w->ws, record, &f, &p);
    memset(none, 0, sizeof *none * (size_t)t->z.ndx);
    for (int i = 0; s >= 0 && i < 3 * t->nterm; i++) {
        const ti_term *term = &t->term[i / 3];
        double one[3] = {0};
        ti_record_bar bar;
        if (term->force < 0) continue;
        one[i % 3] = 1;
        clear_impulses(&f, w->impulse_bar);
        if (!spread(t, w->ws, &f, term, one, w->impulse_bar)) continue;
        int row = 3 * term->force + i % 3;
        s = ti_record_reverse(w->ws, t->best.tape, record, &(ti_seed_bar){none, w->impulse_bar}, false, &bar);
        if (s >= 0) add_row(t, k, first, &bar, w->force_x + row * t->z.ndx, w->force_u + row * t->nc);
    }
    return s;
}

tribo_status ti_forces_backward(tribo_trajopt *t, const ti_path *path, double *x0_bar, double *p_bar) {
    ti_planner *w = &t->planner[0];
    size_t ndx = (size_t)t->z.ndx, nu = (size_t)t->z.nu, steps = (size_t)t->knots * (size_t)t->substeps;
    ti_sweep sweep;
    if (!ti_finite(t->lx, (steps + 1) * ndx)) return TRIBO_E_NONFINITE;
    ti_sweep_begin(&sweep, w->ws, t->lx + steps * ndx, p_bar != NULL);
    for (size_t k = steps; k-- > 0;) {
        ti_frame f;
        const double *p, *force_bar = t->force_bar + 3 * (size_t)t->nforce * (k / (size_t)t->substeps);
        tribo_status s = ti_tape_frame(path->tape, w->ws, (int)k, &f, &p);
        if (s < 0) return s;
        clear_impulses(&f, w->impulse_bar);
        for (int i = 0; i < t->nterm; i++)
            if (t->term[i].force >= 0)
                (void)spread(t, w->ws, &f, &t->term[i], force_bar + 3 * t->term[i].force, w->impulse_bar);
        ti_sweep_over(&sweep, path->tape, (int)k, t->lx + k * ndx, w->impulse_bar, t->u_bar + k * nu);
    }
    return ti_sweep_end(&sweep, x0_bar, p_bar);
}
