/* tangent_island.c -- forward tangents of the phases of an island, many directions at once. docs/math.md eq. (60). */
#include "backward/backward.h"
#include "forward/gyro.h"

/* ---- one contact in one direction ---- */

typedef struct contact_dot {
    bool rows;                 /* J_dot is not zero */
    double J[2][3 * TI_TWIST]; /* J_dot by side */
    double gap;
} contact_dot;

/* What all of this reads. */
typedef struct task {
    tribo_ws *ws;
    const ti_frame *f;
    int k;
    const ti_island *is;
    const double *p;
    const ti_seeds *in;
} task;

static bool is_zero(ti_vec a) {
    return a.x == 0 && a.y == 0 && a.z == 0;
}

static const ti_link_diff *diffs_of(const task *t, int j) {
    return t->ws->scratch->diff_dot + (size_t)j * (size_t)t->ws->model->size.nbody;
}

static const double *p_dot_of(const task *t, int j) {
    return ti_seed(t->in->p, j, t->ws->model->size.np);
}

/* The two sides of a contact somewhere: links, and what they do; NULL = the world. */
typedef struct sides {
    const ti_link *link[2];
    const ti_link_diff *diff[2];
} sides;

static bool moves(const ti_link_diff *d) {
    return d && !(is_zero(d->xc) && is_zero(d->xo) && is_zero(d->th));
}

/* Of contact c, the i-th, whose derivative over its shapes is in scratch. */
static contact_dot dot_of(const task *t, const ti_con *c, int i, const sides *at, const double *p_dot) {
    const tribo_ws *ws = t->ws;
    const ti_pair *pair = &c->pair;
    double move[TI_COLLIDE_COLS], rate[TI_COLLIDE_ROWS] = {0}, frame[TI_CON_FRAME];
    contact_dot out = {.rows = p_dot || moves(at->diff[0]) || moves(at->diff[1])};
    if (!out.rows) return out;
    bool a = ti_shape_jvp(ws->model, t->p, at->link[0], pair->a, at->diff[0], p_dot, move);
    bool b = ti_shape_jvp(ws->model, t->p, at->link[1], pair->b, at->diff[1], p_dot, move + TI_SHAPE_COLS);
    if (a || b) {
        const double *jac = ws->scratch->jac + TI_COLLIDE_ROWS * TI_COLLIDE_COLS * i;
        for (int r = 0; r < TI_COLLIDE_ROWS; r++)
            for (int e = 0; e < TI_COLLIDE_COLS; e++) rate[r] += jac[TI_COLLIDE_COLS * r + e] * move[e];
    } else if (!moves(at->diff[0]) && !moves(at->diff[1])) {
        out.rows = false;
        return out;
    }
    ti_mat D1, D2;
    ti_vec n = ti_load3(rate + 3);
    ti_tangents_jac(c->touch.normal, &D1, &D2);
    ti_store3(frame, ti_load3(rate));
    ti_store3(frame + 3, ti_mul(&D1, n)), ti_store3(frame + 6, ti_mul(&D2, n)), ti_store3(frame + 9, n);
    out.gap = rate[6];
    for (int side = 0; side < 2; side++)
        if (at->link[side]) ti_rows_jvp(c, at->link[side], side ? 1 : -1, at->diff[side], frame, out.J[side]);
    return out;
}

/* Of contact i in direction j, where the step begins. */
static contact_dot rows_dot(const task *t, int i, int j) {
    const ti_con *c = &t->f->con[i];
    const ti_link *links = t->ws->link;
    const ti_link_diff *diffs = diffs_of(t, j);
    sides at = {{c->a < 0 ? NULL : &links[c->a], c->b < 0 ? NULL : &links[c->b]},
                {c->a < 0 ? NULL : &diffs[c->a], c->b < 0 ? NULL : &diffs[c->b]}};
    return dot_of(t, c, i, &at, p_dot_of(t, j));
}

static double dot(int n, const double *a, const double *b) {
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

/* J_dot of row r times x, of each block of the frame. */
static double row_dot(const task *t, const contact_dot *d, int i, int r, const double *x) {
    const ti_con *c = &t->f->con[i];
    double sum = 0;
    for (int side = 0; d->rows && side < 2; side++) {
        int b = side ? c->b : c->a;
        if (b < 0) continue;
        int blk = ti_blk_of_body(t->ws, b), w = t->ws->width[blk];
        sum += dot(w, d->J[side] + w * r, x + t->ws->at_v[blk]);
    }
    return sum;
}

/* Row r times x_dot, of each block of the island in one direction. */
static double row_of(const task *t, int i, int r, const double *x_dot) {
    return ti_row_velocity(t->ws, t->f, i, r, x_dot - t->is->v0);
}

static size_t at_contact(const task *t, int j, int i) {
    return (size_t)j * (size_t)t->is->ncon + (size_t)(i - t->is->con0);
}

static double *in_direction(const task *t, double *x, int j) {
    return x + (size_t)j * (size_t)t->is->nv;
}

/* Of contact i in direction j, where its impact is. */
static contact_dot hit_dot(const task *t, int i, int j) {
    tribo_ws *ws = t->ws;
    ti_scratch *s = ws->scratch;
    const ti_con c = ti_hit_con(t->f, i);
    const double *held = in_direction(t, s->v_sum[TI_HOLD], j), *now = in_direction(t, s->now_dot, j);
    double time = s->tau_dot[at_contact(t, j, t->is->con0 + t->f->hit[i].by)];
    ti_moved moved[2];
    ti_link_diff diff[2];
    sides at = {{NULL, NULL}, {NULL, NULL}};
    ti_hit_sides(ws, t->f, t->is, i, moved);
    for (int side = 0; side < 2; side++) {
        int body = side ? c.b : c.a;
        if (body < 0) continue;
        int of = ws->voff[ti_blk_of_body(ws, body)];
        ti_hit_move_jvp(ws, t->f, body, &moved[side], &diffs_of(t, j)[body], held + of, now + of, time, &diff[side]);
        at.link[side] = &moved[side].link, at.diff[side] = &diff[side];
    }
    return dot_of(t, &c, i, &at, p_dot_of(t, j));
}

/* Where a phase has it. */
static contact_dot phase_dot(const task *t, ti_phase phase, int i, int j) {
    return ti_hit_moves(t->f, t->is, phase, i) ? hit_dot(t, i, j) : rows_dot(t, i, j);
}

/* ---- one phase ---- */

/* M base_dot - M_dot (v - base) of a block, the momentum row's right-hand side without contacts */
static void momentum_dot(const task *t, int blk, int j, const double *base_dot, const double *base, const double *v,
                         double *r) {
    tribo_ws *ws = t->ws;
    int tree = t->f->blk_tree[blk], w = ws->width[blk];
    double *change = ws->V, *less = ws->kick;
    ti_motion_times(&ws->motion, tree, base_dot, r);
    for (int e = 0; e < w; e++) change[e] = v[e] - base[e];
    ti_motion_inertia_jvp(&ws->motion, tree, diffs_of(t, j), change, less);
    for (int e = 0; e < w; e++) r[e] -= less[e];
}

/* r += J_dot' l + J' l_dot of the normal row; r of each block of the island. */
static void add_impulse(const task *t, ti_phase phase, const contact_dot *d, int i, const double *l, double n_dot,
                        double *r) {
    const ti_con *c = &t->f->con[i];
    for (int side = 0; side < 2; side++) {
        const double *J =
            ti_phase_is_hit(phase) ? ti_hit_rows(t->ws, t->f, i, side) : ti_frame_rows(t->ws, t->f, i, side);
        if (!J) continue;
        int blk = ti_blk_of_body(t->ws, side ? c->b : c->a), w = t->ws->width[blk];
        double *to = r + t->ws->voff[blk];
        for (int e = 0; e < w; e++) to[e] += J[2 * w + e] * n_dot;
        for (int row = 0; d->rows && row < 3; row++)
            for (int e = 0; e < w; e++) to[e] += d->J[side][w * row + e] * l[row];
    }
}

/* Of what the material of a contact gives way. */
static double softness_dot(const task *t, int i, int j) {
    const ti_con *c = &t->f->con[i];
    const double *p_dot = t->ws->model->soft && c->kind == TI_CON_CONTACT ? p_dot_of(t, j) : NULL;
    return p_dot ? p_dot[c->pair.material[TI_M_COMPLIANCE]] : 0;
}

/* One contact's share in the right-hand sides of a phase at point q, direction j. */
static void contact_rhs(const task *t, ti_phase phase, int q, int i, int j, const contact_dot *d, double *r,
                        double *dc) {
    const ti_scratch *s = t->ws->scratch;
    const ti_phase_data *data = &t->f->phase[phase];
    q = ti_frame_point(t->f, t->k, phase, q);
    double l[3] = {data->lambda[q][3 * i], data->lambda[q][3 * i + 1], data->lambda[q][3 * i + 2]}, give_dot = 0;
    if (phase == TI_REBOUND) l[2] += t->ws->give[i], give_dot = s->give_dot[at_contact(t, j, i)];
    for (int row = 0; row < 3; row++) dc[row] = row_dot(t, d, i, row, data->v[q]);
    dc[2] += s->ref_dot[at_contact(t, j, i)];
    bool at_time = phase == TI_IMPACT || phase == TI_REBOUND;
    for (int row = 0; at_time && row < 2; row++) dc[row] += s->late_dot[3 * at_contact(t, j, i) + row];
    double R_dot = ti_phase_by_law(phase) ? softness_dot(t, i, j) : 0;
    for (int row = 0; R_dot != 0 && row < 3; row++)
        dc[row] += (row < 2 ? TI_ACROSS : !t->f->con[i].sunk) * R_dot * l[row];
    add_impulse(t, phase, d, i, l, give_dot, r);
}

/* A displacement's compliance is a share of one over the heaviest mass. */
static void compliance_rhs(const task *t, ti_phase phase, const ti_contact_problem *problem) {
    const ti_phase_points *points = &t->is->phase[phase];
    const ti_phase_data *data = &t->f->phase[phase];
    int tree = t->f->blk_tree[t->is->blk0 + ti_contact_heaviest(problem)], nc = problem->nc;
    for (int j = 0; j < t->in->n; j++)
        for (int q = 0; q < points->npoint; q++) {
            double R_dot = -points->compliance[q] * ti_motion_heft_jvp(&t->ws->motion, tree, diffs_of(t, j));
            double *dc = t->ws->scratch->c_dot[q] + j * 3 * nc;
            for (int i = 0; i < nc; i++)
                if (data->mode[t->is->con0 + i] != TRIBO_BREAK)
                    dc[3 * i + 2] += R_dot * data->lambda[q][3 * (t->is->con0 + i) + 2];
        }
}

/* Friction as a phase sees it: what a rebound is given widens its disks. */
static double friction_dot(const task *t, ti_phase phase, int q, int i, int j) {
    const tribo_ws *ws = t->ws;
    const ti_con *c = &t->f->con[i];
    const int *at = c->pair.material;
    const double *p_dot = p_dot_of(t, j);
    double mu = p_dot ? p_dot[at[TI_M_FRICTION]] + (c->sticky ? p_dot[at[TI_M_STICTION]] : 0) : 0;
    if (ti_con_spins(c)) mu = p_dot ? p_dot[at[ti_con_spin_number(c)]] / c->pair.length : 0;
    if (phase != TI_REBOUND) return phase >= TI_TIMING ? 0 : mu;
    int by = ti_con_host(t->f, i);
    double l = t->f->phase[phase].lambda[q][3 * by + 2], all = ws->give[by] + (l > 0 ? l : 0);
    return all > 0 ? mu + ws->mu[i] / all * ws->scratch->give_dot[at_contact(t, j, by)] : mu;
}

/* v_sum, lambda_sum of a phase: base (nv of the frame) is the velocity that its impulses change; base_dot (n,6
 * nblk) of the island, NULL = 0. */
static tribo_status phase_tangents(const task *t, ti_phase phase, const double *base, double *base_dot) {
    tribo_ws *ws = t->ws;
    ti_scratch *s = ws->scratch;
    const double *none = ws->zero;
    ti_contact_problem problem = ti_step_problem(ws, t->f, t->k, phase);
    ti_contact_solution solution = ti_frame_solution(t->f, t->k, phase);
    int nv = t->is->nv, nc = problem.nc, n = t->in->n;
    memset(s->v_sum[phase], 0, sizeof(double) * (size_t)n * (size_t)nv);
    memset(s->lambda_sum[phase], 0, sizeof(double) * (size_t)n * 3 * (size_t)nc);
    for (int j = 0; j < n; j++)
        for (int q = 0; q < solution.npoint; q++)
            for (int b = 0; b < t->is->nblk; b++) {
                int blk = t->is->blk0 + b, at = ws->at_v[blk], off = ws->voff[blk];
                momentum_dot(t, blk, j, base_dot ? in_direction(t, base_dot, j) + off : none, base + at,
                             t->f->phase[phase].v[ti_frame_point(t->f, t->k, phase, q)] + at,
                             s->r_dot[q] + j * nv + off);
            }
    for (int i = t->is->con0; i < t->is->con0 + nc; i++)
        for (int j = 0; j < n; j++) {
            bool acts = t->f->phase[phase].mode[i] != TRIBO_BREAK || (phase == TI_REBOUND && ws->give[i] > 0);
            contact_dot d = {0};
            double ref_gap = ti_frame_reference(ws, t->f, t->k, i).ref_gap;
            if (acts || (phase == TI_HOLD && ti_frame_acts(t->f, t->k, i))) d = phase_dot(t, phase, i, j);
            if (phase == TI_HOLD) s->ref_dot[at_contact(t, j, i)] = ref_gap * d.gap;
            if (phase == TI_AFTER) s->ref_dot[at_contact(t, j, i)] = s->after_dot[at_contact(t, j, i)];
            for (int q = 0; q < solution.npoint; q++) {
                double *dc = s->c_dot[q] + j * 3 * nc + 3 * (i - t->is->con0);
                dc[0] = dc[1] = dc[2] = 0;
                if (acts) contact_rhs(t, phase, q, i, j, &d, s->r_dot[q] + j * nv, dc);
            }
        }
    if (phase >= TI_TIMING) compliance_rhs(t, phase, &problem);
    for (int q = 0; q < solution.npoint; q++) {
        tribo_status status = ti_contact_factor(ws->contact, &problem, &solution, q);
        if (status < 0) return status;
        for (int j = 0; j < n && phase < TI_TIMING; j++)
            ti_contact_roll_jvp(ws->contact, &problem, s->ref_dot + at_contact(t, j, t->is->con0),
                                s->c_dot[q] + j * 3 * nc);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < nc; i++) s->mu_dot[j * nc + i] = friction_dot(t, phase, q, t->is->con0 + i, j);
        bool moves = phase < TI_TIMING && (t->in->p || phase == TI_REBOUND);
        ti_contact_jvp(ws->contact, &problem, n, s->r_dot[q], s->c_dot[q], moves ? s->mu_dot : NULL, s->v_dot,
                       s->lambda_dot);
        s->linear = ti_max(s->linear, ti_contact_linear_residual(ws->contact));
        double w = solution.point[q].weight;
        for (int e = 0; e < n * nv; e++) s->v_sum[phase][e] += w * s->v_dot[e];
        for (int e = 0; e < n * 3 * nc; e++) s->lambda_sum[phase][e] += w * s->lambda_dot[e];
    }
    return TRIBO_OK;
}

/* ---- the step without impacts ---- */

/* As a phase has them. */
static void prepare_contacts(const task *t, ti_phase phase) {
    for (int i = t->is->con0; i < t->is->con0 + t->is->ncon; i++) {
        double *jac = t->ws->scratch->jac + TI_COLLIDE_ROWS * TI_COLLIDE_COLS * i;
        const ti_con *c = &t->f->con[i];
        if (!ti_frame_acts(t->f, t->k, i)) continue;
        if (ti_hit_moves(t->f, t->is, phase, i))
            ti_hit_jac(t->ws, t->f, t->k, i, (double(*)[TI_COLLIDE_COLS])(void *)jac);
        else
            ti_con_jac(c, &t->ws->shape[c->pair.a], &t->ws->shape[c->pair.b], (double(*)[TI_COLLIDE_COLS])(void *)jac);
    }
}

static tribo_status hold_tangents(const task *t) {
    tribo_ws *ws = t->ws;
    ti_scratch *s = ws->scratch;
    for (int j = 0; j < t->in->n; j++)
        for (int b = 0; b < t->is->nblk; b++) {
            int blk = t->is->blk0 + b;
            double *to = in_direction(t, s->next_dot, j) + ws->voff[blk];
            ti_motion_free_jvp(&ws->motion, t->f->blk_tree[blk], diffs_of(t, j), to);
        }
    if (t->is->phase[TI_HOLD].npoint > 0) return phase_tangents(t, TI_HOLD, ws->vfree, s->next_dot);
    memcpy(s->v_sum[TI_HOLD], s->next_dot, sizeof(double) * (size_t)t->in->n * (size_t)t->is->nv);
    return TRIBO_OK;
}

/* ---- displacements ---- */

/* Of the share of a displacement that is made, where that is less than one, from ref_dot. docs/math.md eq. (115). */
static double share_dot_of(const task *t, ti_phase phase, const ti_pace *pace, int j) {
    if (!(t->is->pace[phase] < 1)) return 0;
    const double *W = t->f->phase[phase].v[TI_SOLVED] + t->ws->at_v[pace->blk];
    const double *W_dot = in_direction(t, t->ws->scratch->v_sum[phase], j) + t->ws->voff[pace->blk];
    double square_dot = ti_motion_moved_jvp(&t->ws->motion, t->f->blk_tree[pace->blk], diffs_of(t, j), W, W_dot);
    double bound_dot = 0;
    for (int i = t->is->con0; i < t->is->con0 + t->is->ncon; i++)
        bound_dot += ti_pace_ref(t->ws, pace, phase, i, 2) * t->ws->scratch->ref_dot[at_contact(t, j, i)];
    return (bound_dot - pace->bound * square_dot / (2 * pace->most * pace->most)) / pace->most;
}

/* D_dot += of a displacement, from ref_dot. */
static tribo_status displace_tangents(const task *t, ti_phase phase) {
    ti_scratch *s = t->ws->scratch;
    tribo_status status = phase_tangents(t, phase, t->ws->zero, NULL);
    ti_pace pace = ti_pace_of(t->ws, t->f, t->k, phase);
    for (int j = 0; status >= 0 && j < t->in->n; j++) {
        double *D = in_direction(t, s->D_dot, j), share_dot = share_dot_of(t, phase, &pace, j);
        const double *W_dot = in_direction(t, s->v_sum[phase], j);
        const double *W = t->f->phase[phase].v[TI_SOLVED] + t->is->v0;
        for (int e = 0; e < t->is->nv; e++) D[e] += t->is->pace[phase] * W_dot[e] + share_dot * W[e];
    }
    return status;
}

/* ---- impacts ---- */

/* tau_dot, after_dot of a contact that bounces, direction j. */
static void time_tangent(const task *t, int i, int j) {
    tribo_ws *ws = t->ws;
    ti_scratch *s = ws->scratch;
    const ti_con *c = &t->f->con[i];
    size_t to = at_contact(t, j, i);
    contact_dot d = {0};
    s->tau_dot[to] = s->after_dot[to] = 0;
    if (ti_con_spins(c)) return;
    if (ti_frame_acts(t->f, t->k, i)) d = rows_dot(t, i, j);
    double u = row_dot(t, &d, i, 2, t->f->phase[TI_HOLD].v[TI_SOLVED]);
    u += row_of(t, i, 2, in_direction(t, s->v_sum[TI_HOLD], j));
    double now = row_dot(t, &d, i, 2, ws->vnow) + row_of(t, i, 2, in_direction(t, s->now_dot, j));
    ti_impact hit = ti_frame_impact(ws, c);
    double a_dot = t->is->prompt ? 0 : (u - now) / ws->options.dt;
    s->tau_dot[to] = hit.tau_gap * d.gap + hit.tau_u * u + hit.tau_a * a_dot;
    s->after_dot[to] = c->lands ? (c->an * s->tau_dot[to] + a_dot * c->tau) / 2
                                : ti_frame_reference(ws, t->f, t->k, i).ref_gap * d.gap;
}

/* Row r of a contact at its impact times v (nv of the frame), of which v_dot is that of the island. */
static double at_hit(const task *t, const contact_dot *d, int i, int r, const double *v, const double *v_dot) {
    return row_dot(t, d, i, r, v) + ti_hit_velocity(t->ws, t->f, i, r, v_dot - t->is->v0);
}

/* late_dot (3), and ref_dot, of a contact that bounces, direction j: by Newton's law with e times the approach. */
static void late_tangent(const task *t, int i, int j) {
    tribo_ws *ws = t->ws;
    ti_scratch *s = ws->scratch;
    const ti_con *c = &t->f->con[i];
    const double *p_dot = p_dot_of(t, j), *now_dot = in_direction(t, s->now_dot, j);
    size_t to = at_contact(t, j, i);
    int host = ti_con_host(t->f, i);
    double *late = s->late_dot + 3 * to, span = 0;
    if (!t->is->prompt) span = ti_frame_impact(ws, &t->f->con[host]).span / ws->options.dt;
    contact_dot d = {0};
    late[0] = late[1] = late[2] = s->ref_dot[to] = 0;
    if (ti_frame_acts(t->f, t->k, i)) d = phase_dot(t, TI_IMPACT, i, j);
    for (int r = 0; r < 3; r++) {
        late[r] = ti_impact_acceleration(ws, t->f, t->k, i, r) * s->tau_dot[at_contact(t, j, host)];
        late[r] += span * at_hit(t, &d, i, r, t->f->phase[TI_HOLD].v[TI_SOLVED], in_direction(t, s->v_sum[TI_HOLD], j));
        late[r] -= span * at_hit(t, &d, i, r, ws->vnow, now_dot);
    }
    s->ref_dot[to] = late[2];
    double come = ti_impact_approach(ws, t->f, t->k, i);
    if (t->is->impact != TRIBO_IMPACT_NEWTON || !(come < 0)) return;
    int e = c->pair.material[TI_M_RESTITUTION];
    s->ref_dot[to] += t->p[e] * (at_hit(t, &d, i, 2, ws->vnow, now_dot) + late[2]) + (p_dot ? p_dot[e] * come : 0);
}

/* after_dot, late_dot (3), and ref_dot +=, of a contact that does not bounce. */
static void part_tangent(const task *t, int i, int j) {
    ti_scratch *s = t->ws->scratch;
    size_t to = at_contact(t, j, i);
    double *late = s->late_dot + 3 * to;
    late[0] = late[1] = late[2] = s->after_dot[to] = 0;
    if (!ti_frame_acts(t->f, t->k, i)) return;
    contact_dot d = rows_dot(t, i, j);
    s->after_dot[to] = ti_frame_reference(t->ws, t->f, t->k, i).ref_gap * d.gap;
    if (t->f->con[i].yields) s->ref_dot[to] = ti_impact_reference(t->ws, t->f, t->k, i).ref_gap * d.gap;
    if (!ti_impact_parted(t->ws, t->f, t->k, i)) return;
    late[2] = row_dot(t, &d, i, 2, t->f->phase[TI_HOLD].v[TI_SOLVED]) - row_dot(t, &d, i, 2, t->ws->vnow) +
              row_of(t, i, 2, in_direction(t, s->v_sum[TI_HOLD], j)) - row_of(t, i, 2, in_direction(t, s->now_dot, j));
    s->ref_dot[to] += late[2];
}

static void give_tangent(const task *t, int i, int j) {
    tribo_ws *ws = t->ws;
    ti_scratch *s = ws->scratch;
    int at = t->f->con[i].pair.material[TI_M_RESTITUTION];
    const double *p_dot = p_dot_of(t, j);
    double l = t->f->phase[TI_IMPACT].lambda[TI_SOLVED][3 * i + 2], *to = &s->give_dot[at_contact(t, j, i)];
    *to = 0;
    if (!(l > 0) || ws->give[i] == 0) return;
    *to = t->p[at] * s->lambda_sum[TI_IMPACT][3 * at_contact(t, j, i) + 2] + (p_dot ? p_dot[at] * l : 0);
}

/* v' M v_dot + v' M_dot v / 2 of a block. */
static double energy_dot(const task *t, int blk, int j, const double *v, const double *v_dot) {
    const ti_motion *m = &t->ws->motion;
    int tree = t->f->blk_tree[blk], w = t->ws->width[blk];
    double *Mv = t->ws->kick, sum;
    ti_motion_times(m, tree, v_dot, Mv);
    sum = dot(w, v, Mv);
    ti_motion_inertia_jvp(m, tree, diffs_of(t, j), v, Mv);
    return sum + 0.5 * dot(w, v, Mv);
}

/* Derivative of impulse r of contact i in direction j, with the share held or moving. */
static double impulse_dot(const task *t, int i, int r, int j, double share_dot) {
    const ti_scratch *s = t->ws->scratch;
    size_t at = at_contact(t, j, i);
    double sum = s->lambda_sum[TI_IMPACT][3 * at + r];
    if (t->is->phase[TI_REBOUND].npoint == 0) return sum;
    sum += t->is->share * (s->lambda_sum[TI_REBOUND][3 * at + r] + (r == 2 ? s->give_dot[at] : 0));
    return sum + share_dot * (t->f->phase[TI_REBOUND].lambda[TI_SOLVED][3 * i + r] + (r == 2 ? t->ws->give[i] : 0));
}

/* now_dot, of the velocities that bodies come with, direction j. */
static void now_tangent(const task *t, int j) {
    double *to = in_direction(t, t->ws->scratch->now_dot, j);
    for (int b = t->is->blk0; b < t->is->blk0 + t->is->nblk; b++)
        ti_motion_now_jvp(&t->ws->motion, t->f->blk_tree[b], diffs_of(t, j), to + t->ws->voff[b]);
}

/* docs/math.md eq. (113): of the root, from that of the work with the share held. */
static double share_tangent(const task *t, int j) {
    tribo_ws *ws = t->ws;
    ti_scratch *s = ws->scratch;
    double work = 0, slope;
    if (!(t->is->share > 0 && t->is->share < 1)) return 0;
    ti_impact_work(ws, t->f, t->k, t->is->share, &slope);
    for (int b = 0; b < t->is->nblk; b++) {
        int blk = t->is->blk0 + b, at = ws->at_v[blk], off = ws->voff[blk];
        double *v = ws->V;
        for (int e = 0; e < ws->width[blk]; e++) v[e] = ti_impact_velocity(t->f, t->is, t->is->share, at + e);
        work += energy_dot(t, blk, j, v, in_direction(t, s->next_dot, j) + off);
        work -= energy_dot(t, blk, j, ws->vnow + at, in_direction(t, s->now_dot, j) + off);
    }
    for (int i = t->is->con0; i < t->is->con0 + t->is->ncon; i++)
        for (int r = 0; r < 3; r++) {
            work += ti_impact_late(ws, t->f, t->k, i, r) * impulse_dot(t, i, r, j, 0);
            work += s->late_dot[3 * at_contact(t, j, i) + r] * ti_impact_impulse(ws, t->f, t->is, i, r);
        }
    return -work / slope;
}

/* next_dot in direction j of what the impacts leave. @return derivative of the rebound's share */
static double next_tangent(const task *t, int j) {
    ti_scratch *s = t->ws->scratch;
    const ti_phase_data *phase = t->f->phase;
    double *next = in_direction(t, s->next_dot, j), *hit = in_direction(t, s->v_sum[TI_IMPACT], j);
    const double *back = in_direction(t, s->v_sum[TI_REBOUND], j);
    bool rebounds = t->is->phase[TI_REBOUND].npoint > 0;
    for (int e = 0; e < t->is->nv; e++) next[e] = hit[e] + (rebounds ? t->is->share * (back[e] - hit[e]) : 0);
    double share = rebounds ? share_tangent(t, j) : 0;
    for (int e = 0, of = t->is->v0; share != 0 && e < t->is->nv; e++, of++)
        next[e] += share * (phase[TI_REBOUND].v[TI_SOLVED][of] - phase[TI_IMPACT].v[TI_SOLVED][of]);
    return share;
}

/* ref_dot of what gives an impact its own time: (tau - time) jump. */
static void own_time_tangent(const task *t, int i, int j, const double *time_dot) {
    tribo_ws *ws = t->ws;
    ti_scratch *s = ws->scratch;
    size_t at = at_contact(t, j, i);
    s->ref_dot[at] = 0;
    if (i < t->is->con0 + t->is->nhold || t->f->phase[TI_TIMING].mode[i] == TRIBO_BREAK) return;
    if (ti_con_spins(&t->f->con[i])) return;
    int r = ws->root[ws->blk_a[i]];
    contact_dot d = rows_dot(t, i, j);
    double jump_dot = row_dot(t, &d, i, 2, t->f->v) - row_dot(t, &d, i, 2, t->f->phase[TI_HOLD].v[TI_SOLVED]) +
                      row_of(t, i, 2, in_direction(t, s->next_dot, j)) -
                      row_of(t, i, 2, in_direction(t, s->v_sum[TI_HOLD], j));
    s->ref_dot[at] = (s->tau_dot[at] - time_dot[r]) * ti_impact_jump(ws, t->f, i) +
                     (t->f->con[i].tau - ws->time[t->is->blk0 + r]) * jump_dot;
}

/* D_dot without recovery in direction j; share_dot of the rebound's share. */
static void displacement_tangent(const task *t, int j, double share_dot) {
    tribo_ws *ws = t->ws;
    ti_scratch *s = ws->scratch;
    double *time_dot = s->v_work, *D = in_direction(t, s->D_dot, j);
    const double *next = in_direction(t, s->next_dot, j), *hold = in_direction(t, s->v_sum[TI_HOLD], j);
    memset(time_dot, 0, sizeof(double) * (size_t)t->is->nblk);
    for (int i = t->is->con0 + t->is->nhold; i < t->is->con0 + t->is->ncon; i++) {
        int r = ws->root[ws->blk_a[i]];
        double l = ti_impact_push(ws, t->f, t->is, i), over = t->f->con[i].tau - ws->time[t->is->blk0 + r];
        if (l > 0)
            time_dot[r] +=
                (l * s->tau_dot[at_contact(t, j, i)] + over * impulse_dot(t, i, 2, j, share_dot)) / ws->weight[r];
    }
    for (int b = 0; b < t->is->nblk; b++)
        for (int e = 0; e < ws->width[t->is->blk0 + b]; e++) {
            int at = ws->voff[t->is->blk0 + b] + e, of = t->is->v0 + at;
            double time = ws->time[t->is->blk0 + b];
            D[at] = ws->options.dt * next[at] - time * (next[at] - hold[at]) -
                    time_dot[ws->root[b]] * (t->f->v[of] - t->f->phase[TI_HOLD].v[TI_SOLVED][of]);
        }
    for (int i = t->is->con0; t->is->phase[TI_TIMING].npoint > 0 && i < t->is->con0 + t->is->ncon; i++)
        own_time_tangent(t, i, j, time_dot);
}

/* next_dot of block b += as the gyroscopic acceleration changes with its impacts, in direction j. */
static void gyro_tangent(const task *t, const ti_gyro *g, int b, int j, double share_dot, const double *free_dot) {
    tribo_ws *ws = t->ws;
    const ti_scratch *s = ws->scratch;
    double time_dot = 0, change[3];
    for (int i = t->is->con0; i < t->is->con0 + t->is->ncon; i++) {
        double l = ti_gyro_push(ws, t->f, t->is, b, i), over = ti_hit_time(t->f, t->is, i) - g->time;
        size_t by = at_contact(t, j, t->is->con0 + t->f->hit[i].by);
        if (l > 0) time_dot += (l * s->tau_dot[by] + over * impulse_dot(t, i, 2, j, share_dot)) / g->weight;
    }
    double *next = in_direction(t, s->next_dot, j) + ws->voff[b];
    const double *now = in_direction(t, s->now_dot, j) + ws->voff[b];
    ti_gyro_jvp(ws, t->f, g, b, diffs_of(t, j), next, free_dot, now, time_dot, change);
    ti_add3(next + 3, ti_load3(change));
}

/* next_dot, from that of what the impacts leave to that of the next velocity. */
static tribo_status after_tangents(const task *t, const double *share_dot) {
    ti_scratch *s = t->ws->scratch;
    for (int b = t->is->blk0; b < t->is->blk0 + t->is->nblk; b++) {
        ti_gyro g;
        bool turns = ti_gyro_of(t->ws, t->f, t->is, b, &g);
        for (int j = 0; j < t->in->n; j++) {
            double *next = in_direction(t, s->next_dot, j), *now = in_direction(t, s->now_dot, j);
            double *free_dot = t->ws->V;
            ti_motion_free_jvp(&t->ws->motion, t->f->blk_tree[b], diffs_of(t, j), free_dot);
            if (turns) gyro_tangent(t, &g, b, j, share_dot[j], free_dot);
            for (int e = 0, at = t->ws->voff[b]; e < t->ws->width[b]; e++, at++) next[at] += free_dot[e] - now[at];
        }
    }
    if (t->is->phase[TI_AFTER].npoint == 0) return TRIBO_OK;
    tribo_status status = phase_tangents(t, TI_AFTER, t->ws->v_after, s->next_dot);
    memcpy(s->next_dot, s->v_sum[TI_AFTER], sizeof(double) * (size_t)t->in->n * (size_t)t->is->nv);
    return status;
}

/* Impact and rebound. */
static tribo_status hits_tangents(const task *t) {
    ti_scratch *s = t->ws->scratch;
    int end = t->is->con0 + t->is->ncon;
    for (int j = 0; j < t->in->n; j++) now_tangent(t, j);
    for (int i = t->is->con0; i < end; i++)
        for (int j = 0; j < t->in->n; j++)
            i < t->is->con0 + t->is->nhold ? part_tangent(t, i, j) : time_tangent(t, i, j);
    prepare_contacts(t, TI_AFTER);
    for (int i = t->is->con0 + t->is->nhold; i < end; i++)
        for (int j = 0; j < t->in->n; j++) late_tangent(t, i, j);
    tribo_status status = phase_tangents(t, TI_IMPACT, t->ws->vnow, s->now_dot);
    if (status < 0 || t->is->phase[TI_REBOUND].npoint == 0) return status;
    for (int i = t->is->con0; i < end; i++)
        for (int j = 0; j < t->in->n; j++) give_tangent(t, i, j);
    return phase_tangents(t, TI_REBOUND, t->f->phase[TI_IMPACT].v[TI_SOLVED], s->v_sum[TI_IMPACT]);
}

static tribo_status impact_tangents(const task *t) {
    double share_dot[TI_DIRECTIONS];
    tribo_status status = hits_tangents(t);
    if (status < 0) return status;
    for (int j = 0; j < t->in->n; j++) share_dot[j] = next_tangent(t, j);
    status = after_tangents(t, share_dot);
    if (status < 0) return status;
    prepare_contacts(t, TI_TIMING);
    ti_impact_times(t->ws, t->f, t->k); /* the groups too, in root, and their weights */
    for (int j = 0; j < t->in->n; j++) displacement_tangent(t, j, share_dot[j]);
    return t->is->phase[TI_TIMING].npoint > 0 ? displace_tangents(t, TI_TIMING) : TRIBO_OK;
}

/* ---- recovery ---- */

/* Of how deep its load would press contact i, which is sunk. */
static double pressed_tangent(const task *t, int i, int j) {
    const double *p_dot = p_dot_of(t, j), *l = t->f->phase[TI_HOLD].lambda[TI_SOLVED] + 3 * i;
    double kappa = p_dot ? p_dot[t->f->con[i].pair.material[TI_M_COMPLIANCE]] : 0;
    return ti_frame_pressed(t->ws, t->f, i, t->p) * t->ws->scratch->lambda_sum[TI_HOLD][3 * at_contact(t, j, i) + 2] +
           t->ws->options.dt * kappa * l[2];
}

/* ref_dot of what is asked of the recovery; D_dot, of the displacement without it, is given. */
static void overlap_tangent(const task *t, int i, int j) {
    tribo_ws *ws = t->ws;
    ti_scratch *s = ws->scratch;
    const ti_con *c = &t->f->con[i];
    const int *at = c->pair.material;
    const double *p_dot = p_dot_of(t, j);
    contact_dot d = {0};
    bool paced = t->is->pace[TI_RECOVER] < 1 && ws->ref_apart[3 * i + 2] < 0;
    if (paced || t->f->phase[TI_RECOVER].mode[i] != TRIBO_BREAK) d = rows_dot(t, i, j);
    double end = d.gap + row_of(t, i, 2, in_direction(t, s->D_dot, j));
    for (int side = 0; d.rows && side < 2; side++) {
        int b = side ? c->b : c->a;
        if (b < 0) continue;
        const ti_tree *tree = &ws->model->tree[ws->model->body[b].tree];
        end += dot(tree->nv, d.J[side] + 2 * tree->nv, ws->D0 + tree->v);
    }
    ti_overlap o = ti_frame_overlap(ws, t->f, t->k, i, t->p);
    double *ref = &s->ref_dot[at_contact(t, j, i)];
    *ref = o.ref_gap * end + o.ref_before * d.gap;
    if (c->sunk && o.ref_gap != 0) *ref += o.ref_gap * pressed_tangent(t, i, j);
    if (p_dot) *ref += o.ref_beta * p_dot[at[TI_M_BAUMGARTE]] + o.ref_slop * p_dot[at[TI_M_SLOP]];
}

static tribo_status recovery_tangents(const task *t) {
    for (int i = t->is->con0; i < t->is->con0 + t->is->ncon; i++)
        for (int j = 0; j < t->in->n; j++) overlap_tangent(t, i, j);
    return displace_tangents(t, TI_RECOVER);
}

tribo_status ti_island_jvp(tribo_ws *ws, const ti_frame *f, int k, const double *p, const ti_seeds *in) {
    const task t = {ws, f, k, &f->island[k], p, in};
    ti_scratch *s = ws->scratch;
    prepare_contacts(&t, TI_HOLD);
    tribo_status status = hold_tangents(&t);
    if (status < 0) return status;
    if (t.is->phase[TI_IMPACT].npoint > 0)
        status = impact_tangents(&t);
    else
        for (int e = 0; e < in->n * t.is->nv; e++) {
            s->next_dot[e] = s->v_sum[TI_HOLD][e];
            s->D_dot[e] = ws->options.dt * s->next_dot[e];
        }
    if (status >= 0 && t.is->phase[TI_RECOVER].npoint > 0) status = recovery_tangents(&t);
    return status;
}
