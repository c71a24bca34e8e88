/* reverse.c -- the reverse of a recorded step: it chains, the derivatives stand elsewhere.
 * docs/math.md eq. (63). */
#include "backward/backward.h"
#include "dynamics/ball.h"

/* The first contact from i on that is of other geoms than `last`; or how many there are. */
static int next_pair(const ti_frame *f, int i, const ti_pair *last) {
    for (; i < f->ncon; i++) {
        const ti_pair *pair = &f->con[i].pair;
        if (f->con[i].kind == TI_CON_CONTACT && !(last && last->a == pair->a && last->b == pair->b)) break;
    }
    return i;
}

/* The geoms that touch: pair after pair, or where these are many all geoms there are. */
static void place_touching(tribo_ws *ws, const ti_frame *f, const double *p) {
    int pairs = 0;
    for (int i = next_pair(f, 0, NULL); i < f->ncon; i = next_pair(f, i + 1, &f->con[i].pair)) pairs++;
    if (2 * pairs >= ws->model->size.ngeom) {
        ti_step_shapes(ws, p);
        return;
    }
    for (int i = next_pair(f, 0, NULL); i < f->ncon; i = next_pair(f, i + 1, &f->con[i].pair))
        ti_step_pair_shapes(ws, p, &f->con[i].pair);
}

tribo_status ti_restore(tribo_ws *ws, const tribo_tape *tape, int k, ti_frame *f, const double **p) {
    tribo_status s = ti_tape_frame(tape, ws, k, f, p);
    f->by_answer = s != TRIBO_OK || !ti_frame_presses(f);
    if (s != TRIBO_OK) return s;
    s = ti_step_kinematics(ws, *p, f->x, f->u, f->known);
    if (s < 0) return s;
    place_touching(ws, f, *p);
    ti_step_pose(ws, f, *p, f->nisland);
    for (int i = 0; i < f->nisland; i++) ti_impact_pose(ws, f, i, *p), ti_timing_pose(ws, f, i);
    ti_step_displacement(ws, f, ws->D0);
    memcpy(ws->D, ws->D0, sizeof *ws->D * (size_t)ws->model->size.nv);
    for (int i = 0; i < f->nisland; i++) ti_recover_pose(ws, f, i, *p);
    return TRIBO_OK;
}

void ti_break(tribo_ws *ws, ti_frame *f, const double *p) {
    f->ncon = f->nisland = f->nblk = 0;
    ti_step_pose(ws, f, p, f->nisland);
    ti_step_displacement(ws, f, ws->D);
}

/* ---- integration ---- */

static void reverse_integration(tribo_ws *ws, const ti_frame *f, const double *xnext_bar) {
    const tribo_model *m = ws->model;
    ti_scratch *s = ws->scratch;
    for (int t = 0; t < m->ntree; t++) {
        int v = m->tree[t].v;
        double *D_bar = s->D_bar + v, *V_bar = s->V_bar + v, *free_bar = ws->V;
        ti_motion_integrate_vjp(&ws->motion, t, ws->D + v, ti_solved_velocity(ws, f, t), xnext_bar,
                                xnext_bar + m->size.nv, &s->motion_bar, D_bar, V_bar);
        if (ws->blk_at[t] >= 0) continue;
        for (int j = 0; j < m->tree[t].nv; j++) free_bar[j] = V_bar[j] + ws->options.dt * D_bar[j];
        ti_motion_free_vjp(&ws->motion, t, free_bar, &s->motion_bar);
    }
}

/* ---- contacts ---- */

/* Of the phases that have their rows where the step begins, and what is in J_bar. */
static void row_products(const tribo_ws *ws, const ti_frame *f, int k, int i, int side, ti_products *q) {
    static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const ti_island *is = &f->island[k];
    const ti_con *c = &f->con[i];
    int blk = ti_blk_of_body(ws, side ? c->b : c->a), at = ws->at_v[blk], none = 3;
    q->n = 0;
    for (ti_phase phase = ti_is_unrolled(ws) ? TI_REBOUND : TI_HOLD; phase < TI_PHASES; phase++) {
        if (is->phase[phase].npoint == 0 || (phase == TI_HOLD && i >= is->con0 + is->nhold)) continue;
        if (!ti_hit_moves(f, is, phase, i)) ti_phase_products(ws, f, k, phase, i, at, q);
        if (phase > TI_HOLD) none = 0;
    }
    if (ti_contact_uses_delassus(ws->contact)) none = 0;
    q->shared = q->n;
    const double *J_bar = ws->scratch->J_bar + (ti_frame_side(ws, f, i, side) - ws->J);
    for (int r = none; r < 3; r++) q->of[q->n++] = (ti_row_product){unit[r], J_bar + ws->width[blk] * r};
}

/* To the poses and sizes of the two geoms, which are summed over their contacts. */
static void reverse_geometry(tribo_ws *ws, const ti_frame *f, int i, const double *frame_bar, double gap_bar) {
    const ti_con *c = &f->con[i];
    const ti_pair *pair = &c->pair;
    double *a = ws->scratch->geom_bar + TI_SHAPE_COLS * pair->a, *b = ws->scratch->geom_bar + TI_SHAPE_COLS * pair->b;
    double out[TI_COLLIDE_COLS];
    ti_touch_vjp(c, &ws->shape[pair->a], &ws->shape[pair->b], frame_bar, gap_bar, out);
    for (int j = 0; j < TI_SHAPE_COLS; j++) a[j] += out[j], b[j] += out[TI_SHAPE_COLS + j];
}

/* The row of a ball's limit turns with it, and its gap closes along that. */
static void reverse_ball(tribo_ws *ws, const ti_frame *f, int k, int i, double gap_bar) {
    const ti_con *c = &f->con[i];
    const tribo_model *m = ws->model;
    const ti_joint *j = &m->joint[m->dof[c->v].joint];
    int at = c->v - m->tree[m->body[c->b].tree].v;
    ti_vec way_bar = {0, 0, 0};
    ti_mat D = ti_limit_way_jac(j, ws->motion.q);
    ti_products q;
    row_products(ws, f, k, i, 1, &q);
    for (int e = 0; e < q.n; e++) way_bar = ti_axpy(way_bar, c->sign * q.of[e].l[2], ti_load3(q.of[e].v + at));
    ti_vec own = ti_axpy(ti_tmul(&D, way_bar), c->sign * gap_bar, ti_load3(c->way));
    ti_add3(ws->scratch->motion_bar.own + c->v, own);
}

/* Of a limit or dry friction: but for that of a ball, its row is a constant. */
static void reverse_joint(tribo_ws *ws, const ti_frame *f, int k, int i, double gap_bar, double *p_bar) {
    const ti_con *c = &f->con[i];
    const tribo_model *m = ws->model;
    ti_line line = ti_con_line(m, c);
    ti_scratch *s = ws->scratch;
    if (c->kind == TI_CON_DRY) {
        if (p_bar) p_bar[ti_loss_at(&m->joint[m->dof[c->v].joint])] += ws->options.dt * s->mu_bar[i];
        return;
    }
    if (ti_con_turns(m, c)) reverse_ball(ws, f, k, i, gap_bar);
    for (int n = 0; n < line.n; n++)
        s->motion_bar.own[ti_line_v(&line, n)] += c->sign * ti_line_coef(&line, n) * gap_bar;
    if (!p_bar) return;
    p_bar[ti_con_end(m, c)] -= c->sign * gap_bar;
    ti_material_add(p_bar, ti_con_material(m, c), TI_M_RESTITUTION, s->e_bar[i]);
}

static void reverse_closure(tribo_ws *ws, const ti_frame *f, int k, int i) {
    const ti_con *c = &f->con[i];
    ti_products q;
    for (int side = 0; side < 2; side++) {
        if ((side ? c->b : c->a) < 0) continue;
        row_products(ws, f, k, i, side, &q);
        ti_closure_side_vjp(ws, c, side, q.n, q.of);
    }
    if (!f->island[k].bare) ti_closure_reference_vjp(ws, c, ws->scratch->held_bar + 3 * i);
}

/* run: of the contacts before it, a side each. */
static void reverse_contact(tribo_ws *ws, const ti_frame *f, int k, int i, ti_side_run *run, double *p_bar) {
    ti_scratch *s = ws->scratch;
    const ti_con *c = &f->con[i];
    double *frame_bar = s->frame_bar + TI_CON_FRAME * i;
    ti_products q;
    double gap_bar = s->gap_bar[i] + s->ref_bar[i] * ti_frame_reference(ws, f, k, i).ref_gap;
    if (ti_con_is_row(c)) {
        reverse_joint(ws, f, k, i, gap_bar, p_bar);
        return;
    }
    if (ti_con_holds(c)) {
        reverse_closure(ws, f, k, i);
        return;
    }
    const int *at = c->pair.material;
    for (int side = 0; side < 2; side++) {
        int b = side ? c->b : c->a;
        if (b < 0) continue;
        row_products(ws, f, k, i, side, &q);
        ti_side_vjp(ws, &run[side], c, side, q.shared, q.n, q.of, frame_bar);
    }
    reverse_geometry(ws, f, i, frame_bar, gap_bar);
    if (!p_bar) return;
    if (ti_con_spins(c)) {
        p_bar[at[ti_con_spin_number(c)]] += s->mu_bar[i] / c->pair.length;
        return;
    }
    p_bar[at[TI_M_FRICTION]] += s->mu_bar[i];
    if (c->sticky) p_bar[at[TI_M_STICTION]] += s->mu_bar[i];
    p_bar[at[TI_M_RESTITUTION]] += s->e_bar[i];
    p_bar[at[TI_M_BAUMGARTE]] += s->beta_bar[i], p_bar[at[TI_M_SLOP]] += s->slop_bar[i];
    p_bar[at[TI_M_COMPLIANCE]] += s->R_bar[i];
}

/* ---- together ---- */

/* Cotangents of the impulse of contact i in world axes, to those along t1, t2 and normal, and to the axes themselves;
 * to those of an impact in hits.c. */
static void reverse_impulse(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, ti_vec bar) {
    ti_scratch *s = ws->scratch;
    const ti_con c = ti_frame_con(f, is, i);
    const ti_vec axis[] = {c.t1, c.t2, c.touch.normal};
    bool moved = ti_hit_moves(f, is, TI_IMPACT, i);
    for (int r = 0; r < 3; r++) {
        s->asked_bar[3 * i + r] = ti_dot(axis[r], bar);
        if (!moved) ti_add3(s->frame_bar + TI_CON_FRAME * i + 3 + 3 * r, ti_scale(f->lambda[3 * i + r], bar));
    }
}

static void reverse_impulses(const tribo_ws *ws, const ti_frame *f, const double *impulse_bar) {
    memset(ws->scratch->asked_bar, 0, 3 * sizeof(double) * (size_t)f->ncon);
    for (int k = 0; impulse_bar && k < f->nisland; k++)
        for (int i = f->island[k].con0; i < f->island[k].con0 + f->island[k].ncon; i++)
            if (f->con[i].kind == TI_CON_CONTACT)
                reverse_impulse(ws, f, &f->island[k], i, ti_load3(impulse_bar + 3 * f->con[i].id));
}

static bool any(int n, const double *a) {
    bool some = false;
    for (int i = 0; i < n; i++) some = some || a[i] != 0;
    return some;
}

tribo_status ti_reverse(tribo_ws *ws, const ti_frame *f, const double *p, const ti_seed_bar *in, double *x_bar,
                        double *u_bar, double *p_bar) {
    const tribo_model *m = ws->model;
    ti_scratch *s = ws->scratch;
    reverse_integration(ws, f, in->xnext);
    double *const bars[] = {s->mu_bar, s->ref_bar, s->gap_bar, s->e_bar, s->beta_bar, s->slop_bar, s->R_bar};
    for (size_t k = 0; k < sizeof bars / sizeof *bars; k++) memset(bars[k], 0, sizeof(double) * (size_t)f->ncon);
    memset(s->frame_bar, 0, TI_CON_FRAME * sizeof(double) * (size_t)f->ncon);
    memset(s->held_bar, 0, 3 * sizeof(double) * (size_t)f->ncon);
    memset(s->geom_bar, 0, TI_SHAPE_COLS * sizeof(double) * (size_t)m->size.ngeom);
    reverse_impulses(ws, f, in->impulse);
    for (int i = 0; i < f->nisland; i++) {
        tribo_status status = ti_island_vjp(ws, f, i, p);
        if (status < 0) return status;
    }
    ti_side_run run[2];
    run[0].n = run[1].n = 0; /* the rest is large, and filled as it is needed */
    for (int n = 0; n < f->nisland; n++)
        for (int i = f->island[n].con0; i < f->island[n].con0 + f->island[n].ncon; i++)
            if (ti_frame_acts(f, n, i) || ti_is_unrolled(ws)) reverse_contact(ws, f, n, i, run, p_bar);
    for (int side = 0; side < 2; side++) ti_side_end(ws, &run[side]);
    for (int g = 0; f->ncon > 0 && g < m->size.ngeom; g++) {
        const double *bar = s->geom_bar + TI_SHAPE_COLS * g;
        int body = m->geom[g].body;
        if (!any(TI_SHAPE_COLS, bar)) continue;
        ti_shape_vjp(m, p, body < 0 ? NULL : &ws->link[body], g, bar, &s->diff[body < 0 ? 0 : body], p_bar);
    }
    ti_motion_mean_forces(&ws->motion, p, ws->options.dt);
    ti_motion_load_vjp(&ws->motion, p, ws->options.dt, &s->motion_bar, x_bar, x_bar + m->size.nv, u_bar, p_bar);
    return TRIBO_OK;
}
