/* memory.c -- what a task holds: laid out in one block, and filled from its definition. */
#include "dynamics/spatial.h"
#include "trajopt/norms.h"
#include "trajopt/task.h"

static void lay_out_path(const tribo_trajopt *t, ti_arena *a, ti_path *path) {
    TI_CARVE(a, path->X, (size_t)(t->knots + 1) * (size_t)t->z.nx);
    TI_CARVE(a, path->U, (size_t)t->knots * (size_t)t->nc);
    TI_CARVE(a, path->force, 3 * (size_t)t->knots * (size_t)t->nforce);
}

static void lay_out_knot(const tribo_trajopt *t, ti_arena *a, bool end, ti_knot *k) {
    size_t n = (size_t)t->z.ndx, nc = (size_t)t->nc;
    TI_CARVE(a, k->lx, n);
    TI_CARVE(a, k->lxx, n * n);
    if (end) return;
    TI_CARVE(a, k->A, n * n);
    TI_CARVE(a, k->B, n * nc);
    TI_CARVE(a, k->bent, (n + nc) * (n + nc));
    TI_CARVE(a, k->lambda, n);
    TI_CARVE(a, k->A0, n * n);
    TI_CARVE(a, k->B0, n * nc);
    TI_CARVE(a, k->lu, nc);
    TI_CARVE(a, k->lux, nc * n);
    TI_CARVE(a, k->luu, nc * nc);
    TI_CARVE(a, k->gap, n);
    TI_CARVE(a, k->feed, nc);
    TI_CARVE(a, k->gain, nc * n);
    if (t->method != TRIBO_METHOD_NEWTON) return;
    TI_CARVE(a, k->whole, (n + nc) * (n + nc));
    TI_CARVE(a, k->z0, (size_t)t->z.nx + nc);
    TI_CARVE(a, k->lambda0, n);
}

static void lay_out_planner(const tribo_trajopt *t, ti_arena *a, ti_planner *w) {
    size_t n = (size_t)t->z.ndx, nu = (size_t)t->z.nu, rows = (size_t)t->rows;
    TI_CARVE(a, w->r, rows);
    TI_CARVE(a, w->rx, rows * n);
    TI_CARVE(a, w->ru, rows * (size_t)t->nc);
    TI_CARVE(a, w->jac, TI_TWIST * (size_t)t->z.nv);
    TI_CARVE(a, w->u, nu);
    TI_CARVE(a, w->x, t->z.nx);
    TI_CARVE(a, w->force_x, 3 * (size_t)t->nforce * n);
    TI_CARVE(a, w->force_u, 3 * (size_t)t->nforce * (size_t)t->nc);
    TI_CARVE(a, w->A, n * n);
    TI_CARVE(a, w->B, n * nu);
    TI_CARVE(a, w->product, n * (n > (size_t)t->nc ? n : (size_t)t->nc));
    if (t->method != TRIBO_METHOD_NEWTON) return;
    size_t wide = n + (size_t)t->nc;
    TI_CARVE(a, w->slope, wide);
    TI_CARVE(a, w->slope0, wide);
    TI_CARVE(a, w->s, wide);
    TI_CARVE(a, w->z, t->z.nx);
    TI_CARVE(a, w->c, t->nc);
    TI_CARVE(a, w->bar, 2 * n);
    TI_CARVE(a, w->u_bar, nu);
    TI_CARVE(a, w->vector, wide * wide);
    TI_CARVE(a, w->value, 4 * wide);
}

static void lay_out_passes(tribo_trajopt *t, ti_arena *a) {
    size_t n = (size_t)t->z.ndx, nc = (size_t)t->nc, wide = n > nc ? n : nc, knots = (size_t)t->knots;
    size_t steps = knots * (size_t)t->substeps;
    TI_CARVE(a, t->dx, n);
    TI_CARVE(a, t->du, nc);
    TI_CARVE(a, t->Vx, n);
    TI_CARVE(a, t->Vxx, n * n);
    TI_CARVE(a, t->VA, n * n);
    TI_CARVE(a, t->VB, nc * wide);
    TI_CARVE(a, t->Qx, n);
    TI_CARVE(a, t->Qu, nc);
    TI_CARVE(a, t->Qxx, n * n);
    TI_CARVE(a, t->Qux, nc * n);
    TI_CARVE(a, t->Quu, nc * nc);
    TI_CARVE(a, t->reduced, nc * nc);
    TI_CARVE(a, t->held, nc);
    TI_CARVE(a, t->lx, (steps + 1) * n);
    TI_CARVE(a, t->u_bar, steps * ((size_t)t->z.nu > nc ? (size_t)t->z.nu : nc));
    TI_CARVE(a, t->gradient, knots * nc);
    TI_CARVE(a, t->force_bar, 3 * knots * (size_t)t->nforce);
    TI_CARVE(a, t->secant, 2 * (n + nc));
    TI_CARVE(a, t->fixed, knots * nc);
    TI_CARVE(a, t->flat, knots * nc + 8);
}

static void lay_out_terms(tribo_trajopt *t, const tribo_trajopt_def *def, ti_arena *a) {
    TI_CARVE(a, t->term, t->nterm);
    t->nforce = 0;
    for (int i = 0; i < t->nterm; i++) {
        const tribo_term_def *d = def->term + i;
        ti_term scratch = {0}, *term = t->term ? t->term + i : &scratch;
        size_t length = d->name ? strlen(d->name) + 1 : 0;
        char *name = NULL;
        term->def = *d;
        ti_term_sizes(t->m, t->nc, d, &term->n, &term->width);
        term->first = ti_knot_of(d->first, t->knots), term->last = ti_knot_of(d->last, t->knots);
        bool steps = d->kind == TRIBO_TERM_CONTROL || d->kind == TRIBO_TERM_CONTACT_FORCE;
        if (steps && term->last == t->knots) term->last--; /* the last state has neither */
        term->force = d->kind == TRIBO_TERM_CONTACT_FORCE ? t->nforce++ : -1;
        TI_CARVE(a, name, length);
        TI_CARVE(a, term->weights, term->n);
        TI_CARVE(a, term->target, (size_t)term->width * (size_t)(d->target ? d->ntarget : 0));
        TI_CARVE(a, term->coming, (size_t)term->width * (size_t)(d->target ? d->ntarget : 0));
        TI_CARVE(a, term->multiplier, (size_t)term->n * (size_t)(term->last - term->first + 1));
        if (term->n > t->rows) t->rows = term->n;
        if (name && length) memcpy(name, d->name, length);
        if (term != &scratch) term->def.name = length ? name : NULL;
    }
}

void ti_task_lay_out(tribo_trajopt *t, const tribo_trajopt_def *def, ti_arena *a) {
    TI_CARVE(a, t->control, t->nc);
    TI_CARVE(a, t->lower, t->nc);
    TI_CARVE(a, t->upper, t->nc);
    TI_CARVE(a, t->u, t->z.nu);
    TI_CARVE(a, t->p, t->z.np);
    TI_CARVE(a, t->x0, t->z.nx);
    TI_CARVE(a, t->x_was, t->z.nx);
    TI_CARVE(a, t->x_next, t->z.nx);
    TI_CARVE(a, t->stage, t->nlens);
    lay_out_terms(t, def, a);
    lay_out_path(t, a, &t->best);
    lay_out_path(t, a, &t->trial);
    lay_out_passes(t, a);
    TI_CARVE(a, t->knot, t->knots + 1);
    for (int k = 0; k <= t->knots; k++) {
        ti_knot scratch = {0};
        lay_out_knot(t, a, k == t->knots, t->knot ? t->knot + k : &scratch);
    }
    TI_CARVE(a, t->planner, t->nworker);
    for (int i = 0; i < t->nworker; i++) {
        ti_planner scratch;
        lay_out_planner(t, a, t->planner ? t->planner + i : &scratch);
    }
}

/* ---- from the definition ---- */

static void fill_terms(tribo_trajopt *t, const tribo_trajopt_def *def) {
    t->counts_up = true;
    for (int i = 0; i < t->nterm; i++) {
        const tribo_term_def *d = def->term + i;
        ti_term *term = &t->term[i];
        if (d->norm == TRIBO_NORM_LINEAR || ti_is_constraint(d->norm)) t->counts_up = false;
        for (int j = 0; j < term->n; j++) term->weights[j] = d->weights ? d->weights[j] : 1;
        size_t target = sizeof(double) * (size_t)term->width * (size_t)d->ntarget;
        if (d->target)
            memcpy(term->target, d->target, target), memcpy(term->coming, d->target, target);
        else
            term->target = term->coming = NULL, term->def.ntarget = 1;
        ti_term_release(term);
        term->def.weights = term->def.target = NULL; /* the caller's */
    }
}

/* Bounds of control i: the definition's, or an actuator's range. */
static void fill_bounds(tribo_trajopt *t, const tribo_trajopt_def *def, int i) {
    double range[2];
    ti_control_range(t->m, t->p, t->control[i], range);
    t->lower[i] = def->lower ? def->lower[i] : range[0];
    t->upper[i] = def->upper ? def->upper[i] : range[1];
}

void ti_task_fill(tribo_trajopt *t, const tribo_trajopt_def *def) {
    size_t d = sizeof(double);
    tribo_model_params(t->m, t->p);
    tribo_model_state0(t->m, t->x0);
    if (def->p) memcpy(t->p, def->p, d * (size_t)t->z.np);
    if (def->x0) memcpy(t->x0, def->x0, d * (size_t)t->z.nx);
    if (def->u) memcpy(t->u, def->u, d * (size_t)t->z.nu);
    if (def->nstage)
        memcpy(t->stage, def->stage, sizeof *t->stage * (size_t)def->nstage);
    else if (t->nlens)
        t->stage[0] = ti_lens_own(&t->options);
    for (int i = 0; i < t->nc; i++) {
        t->control[i] = def->control ? def->control[i] : (t->z.nactuator > 0 ? t->z.nv : 0) + i;
        fill_bounds(t, def, i);
    }
    for (int k = 0; k < t->knots * t->nc; k++) {
        int i = k % t->nc;
        t->best.U[k] = ti_within(def->U ? def->U[k] : 0, t->lower[i], t->upper[i]);
    }
    if (def->X) memcpy(t->best.X, def->X, d * (size_t)(t->knots + 1) * (size_t)t->z.nx);
    if (def->X && !def->x0) memcpy(t->x0, def->X, d * (size_t)t->z.nx);
    for (int k = 0; k < (def->X ? 1 : t->knots + 1); k++)
        memcpy(t->best.X + (size_t)k * (size_t)t->z.nx, t->x0, d * (size_t)t->z.nx);
    t->best.cost = t->best.plain = HUGE_VAL; /* not rolled out yet */
    fill_terms(t, def);
}
