/* step.c -- the workspace and the step: kinematics, contacts, impulses, integration. */
#include "contact/law/law.h"
#include "forward/frame.h"

tribo_options tribo_default_options(void) {
    return (tribo_options){.struct_size = sizeof(tribo_options)};
}

static int default_contacts(const tribo_model *m) {
    int most = 0, enough = 64 + 24 * m->size.nbody;
    for (int i = 0; i < m->npossible && most < enough; i++)
        most += ti_collide_most(m->geom[m->pair[i].a].shape, m->geom[m->pair[i].b].shape);
    int joints = 2 * m->size.nequality;
    for (int j = 0; j < m->size.njoint; j++) joints += 2 * m->joint[j].limited + 3 * m->joint[j].dry;
    return (most < enough ? most : enough) + joints;
}

static void phases_layout(ti_arena *a, ti_scratch *s, int nv, int nc) {
    int nd = TI_DIRECTIONS;
    for (int phase = 0; phase < TI_PHASES; phase++) {
        for (int k = 0; k < TI_CONTACT_POINTS; k++) {
            TI_CARVE(a, s->y[phase][k], nv);
            TI_CARVE(a, s->c_bar[phase][k], 3 * nc);
        }
        TI_CARVE(a, s->v_sum[phase], nv * nd);
        TI_CARVE(a, s->lambda_sum[phase], 3 * nc * nd);
    }
    for (int k = 0; k < TI_CONTACT_POINTS; k++) {
        TI_CARVE(a, s->r_dot[k], nv * nd);
        TI_CARVE(a, s->c_dot[k], 3 * nc * nd);
    }
}

static void scratch_layout(ti_arena *a, ti_scratch *s, const tribo_ws *w) {
    const tribo_sizes *size = &w->model->size;
    int nb = size->nbody, nv = size->nv, nc = w->options.ncon_max, nd = TI_DIRECTIONS;
    ti_motion_bar_carve(a, w->model, &s->motion_bar);
    ti_tree_jac_carve(a, w->model, &s->tree_jac);
    s->diff = s->motion_bar.link;
    TI_CARVE(a, s->D_bar, nv);
    TI_CARVE(a, s->V_bar, nv);
    TI_CARVE(a, s->geom_bar, 9 * size->ngeom);
    TI_CARVE(a, s->frame_bar, 12 * nc);
    TI_CARVE(a, s->J_bar, (size_t)w->con_entries * (size_t)nc);
    TI_CARVE(a, s->ref_bar, nc);
    TI_CARVE(a, s->gap_bar, nc);
    TI_CARVE(a, s->mu_bar, nc);
    TI_CARVE(a, s->e_bar, nc);
    TI_CARVE(a, s->beta_bar, nc);
    TI_CARVE(a, s->slop_bar, nc);
    TI_CARVE(a, s->held_bar, 3 * nc);
    TI_CARVE(a, s->M_bar, w->model->nM);
    TI_CARVE(a, s->hold_bar, nv);
    TI_CARVE(a, s->hit_bar, nv);
    TI_CARVE(a, s->rebound_bar, nv);
    TI_CARVE(a, s->now_bar, nv);
    TI_CARVE(a, s->l_bar, 3 * nc);
    TI_CARVE(a, s->give_bar, nc);
    TI_CARVE(a, s->tau_bar, nc);
    TI_CARVE(a, s->v_work, nv);
    TI_CARVE(a, s->l_work, 3 * nc);
    TI_CARVE(a, s->mu_work, nc);
    TI_CARVE(a, s->diff_dot, nd * nb);
    TI_CARVE(a, s->jac, TI_COLLIDE_ROWS * TI_COLLIDE_COLS * nc);
    phases_layout(a, s, nv, nc);
    TI_CARVE(a, s->mu_dot, nc * nd);
    TI_CARVE(a, s->v_dot, nv * nd);
    TI_CARVE(a, s->lambda_dot, 3 * nc * nd);
    TI_CARVE(a, s->next_dot, nv * nd);
    TI_CARVE(a, s->D_dot, nv * nd);
    TI_CARVE(a, s->now_dot, nv * nd);
    TI_CARVE(a, s->ref_dot, nc * nd);
    TI_CARVE(a, s->tau_dot, nc * nd);
    TI_CARVE(a, s->late_dot, nc * nd);
    TI_CARVE(a, s->give_dot, nc * nd);
    TI_CARVE(a, s->link_jac, nb);
    TI_CARVE(a, s->rate, 2 * TI_COLLIDE_ROWS * TI_POSE * nc);
    TI_CARVE(a, s->turns, 2 * nc);
    TI_CARVE(a, s->seed, TI_DIRECTIONS * (2 * size->ndx + size->nu + size->np));
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
    TI_CARVE(a, w->at_M, nt);
    TI_CARVE(a, w->blk_a, nc);
    TI_CARVE(a, w->blk_b, nc);
    TI_CARVE(a, w->joff, nc);
    TI_CARVE(a, w->M, w->model->nM);
    TI_CARVE(a, w->J, (size_t)w->con_entries * (size_t)nc);
    TI_CARVE(a, w->vfree, nv);
    TI_CARVE(a, w->vnow, nv);
    TI_CARVE(a, w->ref, 3 * nc);
    TI_CARVE(a, w->mu, nc);
    TI_CARVE(a, w->mu_hit, nc);
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
    ti_motion_carve(a, w->model, &w->motion);
    w->link = w->motion.link;
    TI_CARVE(a, w->shape, s->ngeom);
    TI_CARVE(a, w->reach, s->ngeom);
    TI_CARVE(a, w->speed, s->ngeom);
    if (w->model->npossible >= TI_BROAD_FROM) {
        int some = 64 + 32 * s->ngeom, all = w->model->npossible;
        TI_CARVE(a, w->low, s->ngeom);
        TI_CARVE(a, w->high, s->ngeom);
        ti_broad_carve(&w->broad, a, s->ngeom, some < all ? some : all);
    }
    ti_frame_layout(a, &w->frame, s, w->options.rounds, TI_ALL_PHASES, nc, nt, nt, nv);
    problem_layout(a, w);
    TI_CARVE(a, w->time, nb);
    TI_CARVE(a, w->weight, nb);
    TI_CARVE(a, w->sorted, nc);
    TI_CARVE(a, w->started, nc);
    if (ti_step_is_noisy(w)) TI_CARVE(a, w->noise, 2 * (size_t)nc);
    TI_CARVE(a, w->found, nc);
    TI_CARVE(a, w->slot, nb);
    TI_CARVE(a, w->root, nb);
    TI_CARVE(a, w->warm, nc);
    TI_CARVE(a, w->view, nc);
    TI_CARVE(a, w->columns, TI_TWIST * w->model->widest);
    TI_CARVE(a, w->V, w->model->widest);
    TI_CARVE(a, w->kick, w->model->widest);
    TI_CARVE(a, w->D, nv);
    TI_CARVE(a, w->D0, nv);
    TI_CARVE(a, w->xnext, s->nx);
    TI_CARVE(a, w->p, s->np);
    TI_CARVE(a, w->scratch, 1);
    ti_scratch scratch;
    scratch_layout(a, &scratch, w);
    if (w->scratch) *w->scratch = scratch;
}

/* What is wrong with settled options, apart from their law; NULL if nothing is. */
static const char *options_flaw(const tribo_options *o) {
    if (!(o->dt > 0) || !isfinite(o->dt)) return "dt must be > 0";
    if (!(o->tol > 0)) return "tol must be > 0";
    if (!(o->recovery > 0)) return "recovery must be > 0";
    if (o->rounds < 0 || o->rounds > TI_COUNT_LIMIT) return "rounds must be 0 to 2^22";
    if (o->ncon_max < 0 || o->ncon_max > TI_COUNT_LIMIT) return "ncon_max must be 0 to 2^22";
    if (o->rounds > 0 && o->law.law != TRIBO_LAW_NCP) return "rounds are of the NCP alone";
    if (o->reverse != TRIBO_REVERSE_IMPLICIT && o->reverse != TRIBO_REVERSE_UNROLLED) return "there is no such reverse";
    if (o->reverse == TRIBO_REVERSE_UNROLLED && o->rounds == 0) return "an unrolled reverse needs rounds";
    return NULL;
}

/* What a model with limits and dry friction of joints cannot be stepped by; NULL if it can. */
static const char *joints_flaw(const tribo_model *m, const tribo_options *o) {
    bool any = false, dry = false;
    for (int j = 0; j < m->size.njoint; j++) {
        dry = dry || m->joint[j].dry;
        any = any || dry || m->joint[j].limited;
    }
    any = any || m->size.nequality > 0, dry = dry || m->size.nequality > 0;
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
    const ti_contact_size most = {nc > 0 ? nc : 1, m->size.nv, m->ntree, m->widest};
    s = ti_contact_ws_new(&most, &w.options.law, &w.alloc, &w.contact);
    if (s == TRIBO_OK && w.options.rounds > 0) s = ti_staggered_ws_new(&most, &w.alloc, &w.staggered);
    if (s != TRIBO_OK) {
        ti_contact_ws_free(w.contact);
        ti_free(&w.alloc, block, w.bytes);
        return ti_fail(diag, s, 0, "%s", s == TRIBO_E_NOMEM ? "out of memory" : tribo_status_text(s));
    }
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
    if (ws) ws->nwarm = 0;
}
const tribo_step_info *tribo_last_info(const tribo_ws *ws) {
    return ws ? &ws->info : NULL;
}

/* ---- impulses ---- */

/* Which of the last step's contacts each one was: the same feature of the same pair. Both lists are in pair order. */
static void match_starts(tribo_ws *ws) {
    for (int i = 0, j = 0; i < ws->nfound; i++) {
        const ti_con *c = &ws->found[i];
        ws->started[i] = -1;
        while (j < ws->nwarm && ws->warm[j].pair < c->pair) j++;
        for (int k = j; k < ws->nwarm && ws->warm[k].pair == c->pair; k++)
            if (ws->warm[k].feature == c->touch.feature) ws->started[i] = k;
    }
}

void ti_island_start(tribo_ws *ws, ti_frame *f, const ti_island *is) {
    ti_phase_data *to = &f->phase[TI_HOLD];
    if (!ws->options.warm_start) return;
    for (int i = is->con0; i < is->con0 + is->nhold; i++) {
        int k = ws->started[f->con[i].id];
        double *l = to->lambda[TI_SOLVED] + 3 * i;
        if (k < 0) { /* new: it will push if its bodies' free motion closes it */
            l[0] = l[1] = l[2] = 0;
            bool acts = !ti_con_opens(&f->con[i]) || f->con[i].uf + ws->ref[3 * i + 2] < 0;
            to->mode[i] = acts ? TRIBO_STICK : TRIBO_BREAK;
            continue;
        }
        memcpy(l, ws->warm[k].lambda, sizeof ws->warm[k].lambda);
        to->mode[i] = ws->warm[k].mode;
    }
}

/* A contact that bounces has gone when the next step begins. */
static void keep_warm(tribo_ws *ws, const ti_frame *f) {
    const ti_phase_data *from = &f->phase[TI_HOLD];
    ws->nwarm = f->ncon;
    for (int i = 0; i < f->ncon; i++) {
        struct ti_warm *w = &ws->warm[f->con[i].id];
        *w = (struct ti_warm){f->con[i].pair, f->con[i].touch.feature, TRIBO_BREAK, {0}};
        if (f->con[i].bounce) continue;
        w->mode = from->mode[i];
        memcpy(w->lambda, from->lambda[TI_SOLVED] + 3 * i, sizeof w->lambda);
    }
}

static void add_info(tribo_step_info *info, const tribo_contact_info *one) {
    info->iterations += one->iterations;
    info->ndegenerate += one->ndegenerate;
    info->residual = ti_max(info->residual, one->residual);
    if (one->margin < info->margin) info->margin = one->margin;
    if (one->rung > info->rung) info->rung = one->rung;
    info->canonical = info->canonical && one->canonical;
}

/* Relative velocity along the tangents (rows 0, 1) of contact i, v (nv of the frame). */
static double slip_speed(const tribo_ws *ws, const ti_frame *f, int i, const double *v) {
    double slip[2] = {ti_row_velocity(ws, f, i, 0, v), ti_row_velocity(ws, f, i, 1, v)};
    return sqrt(slip[0] * slip[0] + slip[1] * slip[1]);
}

/* Contacts that are held to the static coefficient and slip all the same get the kinetic one. One that carries all the
 * friction it can while others hold the body does not slip: its mode says so, its velocity does not.
 * @return how many of them that changes. */
static int let_slip(tribo_ws *ws, const ti_frame *f, const ti_island *is, const double *p) {
    int changed = 0, end = is->con0 + is->ncon;
    double unit = 0;
    for (int i = is->con0; i < end; i++) unit = ti_max(unit, slip_speed(ws, f, i, ws->vfree));
    for (int i = is->con0; i < end; i++) {
        const ti_con *c = &f->con[i];
        if (!c->sticky || f->mode[i] < TRIBO_SLIDE) continue;
        if (slip_speed(ws, f, i, f->v) <= 1e-9 * unit) continue;
        f->con[i].sticky = false, ws->mu[i] = ws->mu_hit[i] = ti_con_number(ws->model, c, p, TI_M_FRICTION);
        changed += ti_con_number(ws->model, c, p, TI_M_STICTION) > 0;
    }
    return changed;
}

static tribo_status solve_islands(tribo_ws *ws, ti_frame *f, const double *p) {
    tribo_status worst = TRIBO_OK;
    for (int k = 0; k < f->nisland; k++) {
        ti_island *is = &f->island[k];
        tribo_contact_info one;
        tribo_status status;
        bool again = false;
        do { /* what is solved again need not have converged before */
            status = ti_island_solve(ws, f, k, p, again, &one);
            if (status < 0) return status;
            again = true;
        } while (let_slip(ws, f, is, p) > 0);
        if (status > worst) worst = status;
        ti_island_brinks(ws, f, is, p, &one);
        add_info(&ws->info, &one);
    }
    return worst;
}

/* Displacements, with overlap taken back. */
static tribo_status displace(tribo_ws *ws, ti_frame *f, const double *p) {
    tribo_status worst = TRIBO_OK;
    for (int k = 0; k < f->nisland; k++) {
        tribo_status status = ti_island_timing(ws, f, k);
        if (status < 0) return status;
    }
    ti_step_displacement(ws, f, ws->D0);
    memcpy(ws->D, ws->D0, sizeof *ws->D * (size_t)ws->model->size.nv);
    for (int k = 0; k < f->nisland; k++) {
        tribo_status status = ti_island_recover(ws, f, k, p);
        if (status < 0) return status;
        if (status > worst) worst = status;
    }
    return worst;
}

static void count_contacts(tribo_ws *ws, const ti_frame *f) {
    ws->info.ncon = ws->ntouch, ws->info.nislands = f->nisland;
    for (int i = 0; i < f->ncon; i++) {
        if (f->con[i].kind != TI_CON_CONTACT) continue;
        ws->info.nactive += f->mode[i] != TRIBO_BREAK;
        if (-f->con[i].touch.gap > ws->info.penetration) ws->info.penetration = -f->con[i].touch.gap;
    }
}

/* Whether contact i was hit and left: those that hold what hits give back, too. */
static bool has_bounced(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i) {
    if (f->mode[i] == TRIBO_BREAK || f->con[i].bounce) return f->mode[i] != TRIBO_BREAK;
    bool stays = is->phase[TI_AFTER].npoint > 0 && f->phase[TI_AFTER].mode[i] != TRIBO_BREAK;
    return is->phase[TI_REBOUND].npoint > 0 && ws->give[i] > 0 && !stays;
}

static void show_contact(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i) {
    const ti_con *c = &f->con[i];
    if (c->kind != TI_CON_CONTACT) return;
    tribo_contact *v = &ws->view[c->id];
    *v = (tribo_contact){.geom_a = ws->model->pair[c->pair].a,
                         .geom_b = ws->model->pair[c->pair].b,
                         .mode = ti_mode_public(f->mode[i]),
                         .gap = c->touch.gap,
                         .bounced = has_bounced(ws, f, is, i)};
    ti_store3(v->point, c->touch.point), ti_store3(v->normal, c->touch.normal);
    ti_store3(v->tangent[0], c->t1), ti_store3(v->tangent[1], c->t2);
    memcpy(v->impulse, f->lambda + 3 * i, sizeof v->impulse);
}

const tribo_contact *tribo_last_contacts(const tribo_ws *ws, int *n) {
    if (n) *n = 0;
    if (!ws || !n) return NULL;
    const ti_frame *f = &ws->frame;
    for (int k = 0; k < ws->info.nislands; k++)
        for (int i = f->island[k].con0; i < f->island[k].con0 + f->island[k].ncon; i++)
            show_contact(ws, f, &f->island[k], i);
    *n = ws->info.ncon;
    return ws->view;
}

/* ---- the step ---- */

static void integrate(tribo_ws *ws, const ti_frame *f) {
    const tribo_model *m = ws->model;
    for (int t = 0; t < m->ntree; t++)
        ti_motion_integrate(&ws->motion, t, ws->D + m->tree[t].v, ti_solved_velocity(ws, f, t), ws->xnext,
                            ws->xnext + m->size.nq);
}

tribo_status tribo_step(tribo_ws *ws, const double *p, const double *x, const double *u, double *x_next,
                        tribo_tape *tape) {
    if (!ws || !p || !x || !x_next) return TRIBO_E_ARG;
    const tribo_sizes *size = &ws->model->size;
    tribo_status s = ti_step_admit(ws, p, x, u);
    if (s != TRIBO_OK) return s;
    ti_frame *f = &ws->frame;
    ws->info = (tribo_step_info){.margin = (double)INFINITY, .canonical = true};
    memcpy(f->x, x, sizeof(double) * (size_t)size->nx);
    if (u)
        memcpy(f->u, u, sizeof(double) * (size_t)size->nu);
    else
        memset(f->u, 0, sizeof(double) * (size_t)size->nu);

    if (!ti_step_kinematics(ws, p, f->x, f->u)) return TRIBO_E_ARG;
    ws->info.nheld = ws->motion.nheld;
    s = ti_step_find(ws, f, p);
    if (s < 0) return s;
    for (int i = 0; i < f->ncon; i++) f->con[i].sticky = f->con[i].kind == TI_CON_CONTACT;
    ti_step_pose(ws, f, p, true);
    if (ws->options.warm_start) match_starts(ws);
    s = solve_islands(ws, f, p);
    if (s < 0) return s;
    tribo_status moved = displace(ws, f, p);
    if (moved < 0) return moved;
    if (moved > s) s = moved;
    if (ws->options.measures) {
        tribo_status measured = ti_step_measure(ws, f);
        if (measured < 0) return measured;
    }
    count_contacts(ws, f);
    integrate(ws, f);
    if (!ti_finite(ws->xnext, (size_t)size->nx)) return TRIBO_E_NONFINITE;
    if (s == TRIBO_OK && !(ws->info.residual < (double)INFINITY)) s = TRIBO_NOT_CONVERGED; /* NaN says nothing good */
    if (tape) {
        tribo_status t = ti_tape_append(tape, ws, f, p, s);
        if (t != TRIBO_OK) return t;
    }
    if (ws->options.warm_start) keep_warm(ws, f);
    memcpy(x_next, ws->xnext, sizeof(double) * (size_t)size->nx);
    return s;
}

tribo_status tribo_rollout(tribo_ws *ws, const double *p, const double *x0, int T, const double *U, double *X,
                           tribo_tape *tape) {
    if (!ws || !p || !x0 || !X || T < 0) return TRIBO_E_ARG;
    size_t nx = (size_t)ws->model->size.nx, nu = (size_t)ws->model->size.nu;
    tribo_status worst = TRIBO_OK;
    memmove(X, x0, nx * sizeof *X);
    for (size_t k = 0; k < (size_t)T; k++) {
        tribo_status s = tribo_step(ws, p, X + k * nx, U ? U + k * nu : NULL, X + (k + 1) * nx, tape);
        if (s < 0) return s;
        if (s > worst) worst = s;
    }
    return worst;
}

/* ---- energy ---- */

/* With joints: in memory of its own, by the model's allocator; NaN where there is none. */
static double tree_energy(const tribo_model *m, const double *p, const double *x) {
    ti_arena a = {0};
    ti_motion motion;
    ti_motion_carve(&a, m, &motion);
    void *block = ti_arena_take(&a, &m->alloc);
    if (!block) return (double)NAN;
    ti_motion_carve(&a, m, &motion);
    double e =
        ti_motion_load(&motion, p, x, x + m->size.nq, NULL, m->dt) ? ti_motion_energy(&motion, p, x) : (double)NAN;
    ti_free(&m->alloc, block, a.used);
    return e;
}

double tribo_energy(const tribo_model *m, const double *p, const double *x) {
    if (!m || !p || !x) return (double)NAN;
    if (m->chains) return tree_energy(m, p, x);
    double e = 0;
    for (int b = 0; b < m->size.nbody; b++) {
        ti_link l;
        ti_link_load(&l, p + m->body[b].p, x + m->body[b].q, x + m->size.nq + m->body[b].v, NULL);
        e += 0.5 * l.mass * ti_dot(l.v, l.v) + 0.5 * ti_dot(l.w, ti_mul(&l.I, l.w));
        e -= l.mass * ti_dot(ti_load3(p + TI_P_GRAVITY), l.xc);
    }
    return e;
}
