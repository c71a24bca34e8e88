/* workspace.c -- the options and the memory of steps. */
#include "contact/law/law.h"
#include "contact/reverse/panel.h"
#include "forward/frame.h"
#include "model/possible.h"
#include "model/state.h"

tribo_options tribo_default_options(void) {
    return (tribo_options){.struct_size = sizeof(tribo_options)};
}

enum { EACH = 24, MANY = 4096 }; /* contacts a body; bodies, beyond which there is room for half as many */

typedef struct count {
    const tribo_model *m;
    int most, enough;
} count;

/* Whether the core of a geom may touch: of a free body. */
static bool has_core(const tribo_model *m, const ti_geom *g) {
    const ti_shape some = {.shape = g->shape, .size = {1, 1, 1}};
    return g->body >= 0 && m->tree[m->body[g->body].tree].single && ti_core_radius(&some) > 0;
}

static bool count_pair(void *ctx, int i, int j) {
    count *c = ctx;
    const ti_geom *x = &c->m->geom[i], *y = &c->m->geom[j];
    bool swap = x->shape > y->shape;
    int most = ti_collide_most(swap ? y->shape : x->shape, swap ? x->shape : y->shape);
    c->most += most > 0 ? most + has_core(c->m, x) + has_core(c->m, y) : 0;
    return c->most < c->enough;
}

/* Bodies, or the geoms that they have where these are more. */
static int movers(const tribo_model *m) {
    int n = 0;
    for (int g = 0; g < m->size.ngeom; g++) n += m->geom[g].body >= 0;
    return n > m->size.nbody ? n : m->size.nbody;
}

static int default_contacts(const tribo_model *m) {
    int many = movers(m);
    count c = {m, 0, 128 + EACH * many - (many > MANY ? EACH / 2 * (many - MANY) : 0)};
    ti_pairs_visit(m, count_pair, &c);
    int64_t n = c.most < c.enough ? c.most : c.enough;
    if (m->spins) n *= 3;
    n += 2 * m->size.nequality + 2 * m->size.ntendon;
    for (int j = 0; j < ti_joints(m); j++) {
        const ti_joint *of = &m->joint[j];
        n += 2 * of->limited + (of->kind == TI_JOINT_FREE ? (int)TI_FREE_NV : 3) * of->dry;
    }
    return n < TI_COUNT_LIMIT ? (int)n : TI_COUNT_LIMIT;
}

/* As many tangents at once as fit into 64 MB: large models have room for few, not many times the rest. */
static int directions(const tribo_ws *w) {
    enum { NUMBERS = 1 << 23, OF_V = 14, OF_CONTACT = 32 };
    int64_t one = OF_V * (int64_t)w->model->size.nv + OF_CONTACT * (int64_t)w->options.ncon_max;
    int64_t n = NUMBERS / (one > 0 ? one : 1);
    return n < 1 ? 1 : n < TI_DIRECTIONS ? (int)n : TI_DIRECTIONS;
}

/* Some hold a panel's columns, too. */
static void phases_layout(ti_arena *a, ti_scratch *s, int nv, int nc, int nd) {
    int most = nd > TI_PANEL ? nd : TI_PANEL;
    for (int phase = 0; phase < TI_PHASES; phase++) {
        for (int k = 0; k < TI_CONTACT_POINTS; k++) {
            TI_CARVE(a, s->y[phase][k], nv);
            TI_CARVE(a, s->c_bar[phase][k], 3 * nc);
        }
        TI_CARVE(a, s->v_sum[phase], nv * (phase < 2 ? most : nd));
        TI_CARVE(a, s->lambda_sum[phase], 3 * nc * (phase < 2 ? most : nd));
    }
    for (int k = 0; k < TI_CONTACT_POINTS; k++) {
        TI_CARVE(a, s->r_dot[k], nv * most);
        TI_CARVE(a, s->c_dot[k], 3 * nc * (k == 0 ? most : nd));
    }
}

enum { B_MOST = 1 << 22 }; /* numbers; where there would be more, A alone is made row by row */

static void scratch_layout(ti_arena *a, ti_scratch *s, const tribo_ws *w) {
    const tribo_sizes *size = &w->model->size;
    int nb = size->nbody, nv = size->nv, nc = w->options.ncon_max, nd = w->directions;
    ti_motion_bar_carve(a, w->model, &s->motion_bar);
    ti_tree_jac_carve(a, w->model, &s->tree_jac);
    s->diff = s->motion_bar.link;
    TI_CARVE(a, s->D_bar, nv);
    TI_CARVE(a, s->V_bar, nv);
    TI_CARVE(a, s->geom_bar, TI_SHAPE_COLS * size->ngeom);
    TI_CARVE(a, s->frame_bar, TI_CON_FRAME * nc);
    TI_CARVE(a, s->J_bar, (size_t)w->con_entries * (size_t)nc);
    TI_CARVE(a, s->J_hit_bar, (size_t)w->con_entries * (size_t)nc);
    TI_CARVE(a, s->ref_bar, nc);
    TI_CARVE(a, s->gap_bar, nc);
    TI_CARVE(a, s->mu_bar, nc);
    TI_CARVE(a, s->e_bar, nc);
    TI_CARVE(a, s->beta_bar, nc);
    TI_CARVE(a, s->slop_bar, nc);
    TI_CARVE(a, s->R_bar, nc);
    TI_CARVE(a, s->held_bar, 3 * nc);
    TI_CARVE(a, s->M_bar, w->model->nM);
    TI_CARVE(a, s->hold_bar, nv);
    TI_CARVE(a, s->hit_bar, nv);
    TI_CARVE(a, s->rebound_bar, nv);
    TI_CARVE(a, s->now_bar, nv);
    TI_CARVE(a, s->l_bar, 3 * nc);
    TI_CARVE(a, s->asked_bar, 3 * nc);
    TI_CARVE(a, s->give_bar, nc);
    TI_CARVE(a, s->tau_bar, nc);
    TI_CARVE(a, s->v_work, nv);
    TI_CARVE(a, s->l_work, 3 * nc);
    TI_CARVE(a, s->mu_work, nc);
    TI_CARVE(a, s->diff_dot, nd * nb);
    TI_CARVE(a, s->jac, TI_COLLIDE_ROWS * TI_COLLIDE_COLS * nc);
    phases_layout(a, s, nv, nc, nd);
    TI_CARVE(a, s->mu_dot, nc * nd);
    TI_CARVE(a, s->v_dot, nv * (nd > TI_PANEL ? nd : TI_PANEL));
    TI_CARVE(a, s->lambda_dot, 3 * nc * nd);
    TI_CARVE(a, s->next_dot, nv * nd);
    TI_CARVE(a, s->D_dot, nv * nd);
    TI_CARVE(a, s->now_dot, nv * nd);
    TI_CARVE(a, s->ref_dot, nc * nd);
    TI_CARVE(a, s->tau_dot, nc * nd);
    TI_CARVE(a, s->after_dot, nc * nd);
    TI_CARVE(a, s->late_dot, 3 * nc * nd);
    TI_CARVE(a, s->give_dot, nc * nd);
    TI_CARVE(a, s->link_jac, nb);
    TI_CARVE(a, s->rate, 2 * TI_COLLIDE_ROWS * TI_POSE * nc);
    TI_CARVE(a, s->turns, 2 * nc);
    TI_CARVE(a, s->seed, (size_t)(nd + 1) * (size_t)(2 * size->ndx + size->nu + size->np));
    size_t all = (size_t)size->ndx * (size_t)size->nu;
    s->B = NULL;
    if (w->model->chains && all <= B_MOST) TI_CARVE(a, s->B, all);
    TI_CARVE(a, s->bar, size->ndx);
    TI_CARVE(a, s->p_sum, size->np);
    TI_CARVE(a, s->unit, size->ndx);
    TI_CARVE(a, s->x_row, size->ndx);
    TI_CARVE(a, s->u_row, size->nu);
    TI_CARVE(a, s->p_row, size->np);
}

/* What the islands' contact problems are posed in. */
static void problem_layout(ti_arena *a, tribo_ws *w) {
    int nc = w->options.ncon_max, nt = w->model->ntree, nv = w->model->size.nv;
    TI_CARVE(a, w->width, nt);
    TI_CARVE(a, w->voff, nt);
    TI_CARVE(a, w->moff, nt);
    TI_CARVE(a, w->blk_of, nt);
    TI_CARVE(a, w->blk_at, nt);
    TI_CARVE(a, w->at_v, nt);
    TI_CARVE(a, w->before, w->model->chains ? nv : 0);
    TI_CARVE(a, w->at_M, nt);
    TI_CARVE(a, w->heft, nt);
    TI_CARVE(a, w->leaf, nt + 1);
    TI_CARVE(a, w->light, nc);
    TI_CARVE(a, w->blk_a, nc);
    TI_CARVE(a, w->blk_b, nc);
    TI_CARVE(a, w->joff, nc);
    TI_CARVE(a, w->M, w->model->nM);
    TI_CARVE(a, w->J, (size_t)w->con_entries * (size_t)nc);
    TI_CARVE(a, w->J_hit, (size_t)w->con_entries * (size_t)nc);
    TI_CARVE(a, w->vfree, nv);
    TI_CARVE(a, w->vnow, nv);
    TI_CARVE(a, w->ref, 3 * nc);
    TI_CARVE(a, w->mu, nc);
    TI_CARVE(a, w->mu_hit, nc);
    TI_CARVE(a, w->loops, (size_t)ti_loops_most(w->model) * (size_t)ti_loops_most(w->model));
    TI_CARVE(a, w->R, w->model->soft ? 3 * nc : 0);
    TI_CARVE(a, w->what, nc);
    int listed = w->model->chains ? 2 * nc : 0;
    TI_CARVE(a, w->support, listed);
    TI_CARVE(a, w->column, (size_t)listed * (size_t)w->model->widest);
    TI_CARVE(a, w->ref_hit, 3 * nc);
    TI_CARVE(a, w->ref_time, 3 * nc);
    TI_CARVE(a, w->ref_apart, 3 * nc);
    TI_CARVE(a, w->give, nc);
    TI_CARVE(a, w->v_given, nv);
    TI_CARVE(a, w->v_after, nv);
    TI_CARVE(a, w->zero, nv > nc ? nv : nc);
}

static void ws_layout(ti_arena *a, tribo_ws *w) {
    const tribo_sizes *s = &w->model->size;
    int nc = w->options.ncon_max, nb = s->nbody, nt = w->model->ntree, nv = s->nv;
    ti_carve(a, 1, sizeof *w);
    w->con_entries = 2 * 3 * w->model->widest;
    w->directions = directions(w);
    ti_motion_carve(a, w->model, &w->motion);
    w->link = w->motion.link;
    TI_CARVE(a, w->shape, s->ngeom);
    TI_CARVE(a, w->reach, s->ngeom);
    TI_CARVE(a, w->speed, s->ngeom);
    if (w->model->nlisted < 0) {
        TI_CARVE(a, w->low, s->ngeom);
        TI_CARVE(a, w->high, s->ngeom);
        ti_broad_carve(&w->broad, a, s->ngeom, 64 + 32 * s->ngeom);
    }
    ti_frame_layout(a, &w->frame, w->model, w->options.rounds, TI_ALL_PHASES, nc, nt, nt, nv);
    problem_layout(a, w);
    TI_CARVE(a, w->time, nb);
    TI_CARVE(a, w->weight, nb);
    TI_CARVE(a, w->sorted, nc);
    TI_CARVE(a, w->started, nc);
    if (ti_step_is_noisy(w)) TI_CARVE(a, w->noise, 2 * (size_t)nc);
    TI_CARVE(a, w->found, nc);
    TI_CARVE(a, w->slot, nb);
    TI_CARVE(a, w->root, nb + 1);
    TI_CARVE(a, w->warm, nc);
    TI_CARVE(a, w->again, nc);
    TI_CARVE(a, w->solved, nt);
    TI_CARVE(a, w->view, nc);
    TI_CARVE(a, w->V, w->model->widest);
    TI_CARVE(a, w->kick, w->model->widest);
    TI_CARVE(a, w->D, nv);
    TI_CARVE(a, w->D0, nv);
    TI_CARVE(a, w->xnext, s->nx);
    TI_CARVE(a, w->p, s->np);
    TI_CARVE(a, w->scratch, 1);
    ti_scratch scratch;
    scratch_layout(a, &scratch, w);
    if (w->scratch) *w->scratch = scratch, w->motion.jac = &w->scratch->tree_jac;
}

/* What is wrong with settled options, apart from their law; NULL if nothing is. */
static const char *options_flaw(const tribo_options *o) {
    if (!(o->dt > 0) || !isfinite(o->dt)) return "dt must be > 0";
    if (!(o->tol > 0)) return "tol must be > 0";
    if (!(o->recovery > 0)) return "recovery must be > 0";
    if (o->rounds < 0 || o->rounds > TI_COUNT_LIMIT) return "rounds must be 0 to 2^22";
    if (o->ncon_max < 0 || o->ncon_max > TI_COUNT_LIMIT) return "ncon_max must be 0 to 2^22";
    if (o->rounds > 0 && o->law.law != TRIBO_LAW_NCP) return "rounds are of the NCP alone";
    if (o->rounds > 0 && o->law.softness != TRIBO_SOFTNESS_NONE) return "rounds know no softness";
    if (o->rounds > 0 && o->law.solver == TRIBO_SOLVER_INTERIOR && o->law.kappa > 0)
        return "rounds know no central path";
    if (o->reverse != TRIBO_REVERSE_IMPLICIT && o->reverse != TRIBO_REVERSE_UNROLLED) return "there is no such reverse";
    if (o->reverse == TRIBO_REVERSE_UNROLLED && o->rounds == 0) return "an unrolled reverse needs rounds";
    return NULL;
}

/* What a model with limits and dry friction of joints cannot be stepped by; NULL if it can. */
static const char *joints_flaw(const tribo_model *m, const tribo_options *o) {
    bool any = false, dry = false;
    for (int j = 0; j < ti_joints(m); j++) {
        dry = dry || m->joint[j].dry;
        any = any || dry || m->joint[j].limited;
    }
    any = any || m->size.nequality > 0 || m->size.ntendon > 0, dry = dry || m->size.nequality > 0;
    if (m->spins && o->rounds > 0) return "rounds know no friction against turning";
    if (m->soft && o->rounds > 0) return "rounds know no compliance";
    if (m->spins && o->law.law == TRIBO_LAW_STOCHASTIC && o->law.smoothing == TRIBO_SMOOTHING_ERM)
        return "expected residual minimisation knows no friction against turning";
    if (any && o->rounds > 0) return "rounds know no limits and no dry friction of joints, and nothing that holds";
    if (dry && o->law.law == TRIBO_LAW_STOCHASTIC && o->law.smoothing == TRIBO_SMOOTHING_ERM)
        return "expected residual minimisation knows no dry friction of joints, and nothing that holds";
    return NULL;
}

static tribo_status settle_options(const tribo_model *m, const tribo_options *given, tribo_options *o,
                                   tribo_diag *diag) {
    *o = given ? *given : tribo_default_options();
    if (o->struct_size != sizeof *o)
        return ti_fail(diag, TRIBO_E_DEF, 0, "options not made by tribo_default_options()");
    if (o->dt == 0) o->dt = m->dt;
    bool paper = o->rounds > 0 && !o->law.impact && !m->law.impact; /* whose impacts are Newton's */
    tribo_status law = ti_law_settle(&o->law, &m->law, &o->law, diag);
    if (law) return law;
    if (paper) o->law.impact = TRIBO_IMPACT_NEWTON;
    if (o->tol == 0) o->tol = ti_solver_tolerance(&o->law);
    if (o->recovery == 0) o->recovery = 1;
    if (o->ncon_max == 0) o->ncon_max = default_contacts(m);
    const char *flaw = options_flaw(o);
    if (!flaw) flaw = joints_flaw(m, o);
    return flaw ? ti_fail(diag, TRIBO_E_ARG, 0, "%s", flaw) : TRIBO_OK;
}

/* Positions in extents of the model, rotations in radians, and both a step for velocities. */
static void measure_units(tribo_ws *w) {
    double L = tribo_model_extent(w->model);
    w->scratch->unit_speed = (L > 0 ? L : 1) / w->options.dt;
    for (int i = 0, nv = w->model->size.nv; i < w->model->size.ndx; i++)
        w->scratch->unit[i] = (!tribo_model_turns(w->model, i % nv) && L > 0 ? L : 1) / (i < nv ? 1 : w->options.dt);
}

tribo_status tribo_ws_new(const tribo_model *m, const tribo_options *o, const tribo_allocator *alloc, tribo_ws **ws,
                          tribo_diag *diag) {
    if (!m || !ws) return ti_fail(diag, TRIBO_E_ARG, 0, "no model, or no place for the workspace");
    tribo_ws w = {.model = m};
    tribo_status s = settle_options(m, o, &w.options, diag);
    if (s != TRIBO_OK) return s;
    if (alloc) w.alloc = *alloc;
    ti_arena a = {0};
    ws_layout(&a, &w);
    w.bytes = a.used;
    void *block = ti_arena_take(&a, &w.alloc);
    if (!block) return ti_fail(diag, TRIBO_E_NOMEM, 0, "out of memory");
    ws_layout(&a, &w);
    int nc = w.options.ncon_max;
    const ti_contact_size most = {nc > 0 ? nc : 1, m->size.nv, m->ntree, m->widest, m->chains, m->spins};
    s = ti_contact_ws_new(&most, &w.options.law, &w.alloc, &w.contact);
    if (s == TRIBO_OK && w.options.rounds > 0) s = ti_staggered_ws_new(&most, &w.alloc, &w.staggered);
    if (s != TRIBO_OK) {
        ti_contact_ws_free(w.contact);
        ti_free(&w.alloc, block, w.bytes);
        return ti_fail(diag, s, 0, "%s", s == TRIBO_E_NOMEM ? "out of memory" : tribo_status_text(s));
    }
    w.together = !ti_aside_applies(&w);
    measure_units(&w);
    memcpy(block, &w, sizeof w);
    *ws = block;
    return TRIBO_OK;
}

void tribo_ws_free(tribo_ws *ws) {
    if (!ws) return;
    tribo_allocator a = ws->alloc;
    ti_contact_ws_free(ws->contact);
    ti_staggered_ws_free(ws->staggered);
    ti_free(&a, ws, ws->bytes);
}

const tribo_model *tribo_ws_model(const tribo_ws *ws) {
    return ws ? ws->model : NULL;
}
tribo_options tribo_ws_options(const tribo_ws *ws) {
    return ws ? ws->options : (tribo_options){0};
}
void tribo_ws_reset(tribo_ws *ws) {
    if (!ws) return;
    ws->nwarm = 0;
    ti_motion_forget(&ws->motion);
}
const tribo_step_info *tribo_last_info(const tribo_ws *ws) {
    return ws ? &ws->info : NULL;
}
