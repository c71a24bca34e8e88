/* step.c -- the step: kinematics, contacts, impulses, integration. */
#include "contact/law/law.h"
#include "forward/frame.h"

static void add_info(tribo_step_info *info, const tribo_contact_info *one) {
    info->iterations += one->iterations;
    info->ndegenerate += one->ndegenerate;
    info->residual = ti_max(info->residual, one->residual);
    if (one->margin < info->margin) info->margin = one->margin;
    if (one->rung > info->rung) info->rung = one->rung;
    info->canonical = info->canonical && one->canonical;
}

/* Relative velocity along the tangents (rows 0, 1) of contact i, v (nv of the frame). */
static double slip_speed(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, const double *v) {
    double slip[2];
    if (ti_island_is_hit(is))
        for (int r = 0; r < 2; r++) slip[r] = ti_hit_velocity(ws, f, i, r, v);
    else
        ti_slip_velocity(ws, f, i, v, slip);
    return sqrt(slip[0] * slip[0] + slip[1] * slip[1]);
}

static double fastest_slip(const tribo_ws *ws, const ti_frame *f, const ti_island *is, const double *v) {
    double fastest = 0;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) fastest = ti_max(fastest, slip_speed(ws, f, is, i, v));
    return fastest;
}

/* Contacts that are held to the static coefficient and slip all the same get the kinetic one. One that carries all the
 * friction it can while others hold the body does not slip: its mode says so, its velocity does not.
 * @return how many of them that changes. */
static int let_slip(tribo_ws *ws, const ti_frame *f, const ti_island *is, const double *p) {
    int changed = 0;
    double unit = -1;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        const ti_con *c = &f->con[i];
        if (!c->sticky || f->mode[i] < TRIBO_SLIDE) continue;
        double more = ti_con_number(ws->model, c, p, TI_M_STICTION);
        if (more == 0 && ws->sharp == TI_SHARP_NOTHING) continue; /* what it is held to tells in derivatives alone */
        if (unit < 0) unit = fastest_slip(ws, f, is, ws->vfree);
        if (slip_speed(ws, f, is, i, f->v) <= 1e-9 * unit) continue;
        f->con[i].sticky = false, ws->mu[i] = ws->mu_hit[i] = ti_con_number(ws->model, c, p, TI_M_FRICTION);
        changed += more > 0;
    }
    return changed;
}

/* How often what gives way may be found on its spring again, as others of its island sink. */
enum { RISES = 8 };

/* Of one that is posed, into ws->solved. */
static tribo_status solve_island(tribo_ws *ws, ti_frame *f, int k, const double *p) {
    ti_island *is = &f->island[k];
    tribo_contact_info *info = &ws->solved[k].info;
    tribo_status status;
    bool again = false;
    int passes = 0, changed;
    do { /* what is solved again need not have converged before */
        status = ti_island_solve(ws, f, k, p, again, info);
        if (status < 0) return status;
        again = true;
        changed = let_slip(ws, f, is, p);
        changed += ti_island_sink(ws, f, k, p, passes++ < RISES);
    } while (changed > 0);
    ws->solved[k].status = status;
    ti_island_brinks(ws, f, is, p, info);
    return ti_island_ring(ws, f, k, &ws->solved[k]);
}

/* Displacements, with overlap taken back. */
static tribo_status displace(tribo_ws *ws, ti_frame *f, const double *p) {
    tribo_status worst = TRIBO_OK;
    for (int k = 0; k < f->nisland; k++) {
        f->island[k].phase[TI_TIMING].npoint = f->island[k].phase[TI_RECOVER].npoint = 0;
        tribo_status status = ti_island_timing(ws, f, k);
        if (status < 0) return status;
    }
    ti_step_displacement(ws, f, ws->D0);
    memcpy(ws->D, ws->D0, sizeof *ws->D * (size_t)ws->model->size.nv);
    for (int k = 0; k < f->nisland; k++) {
        tribo_status status = ti_island_recover(ws, f, k, p);
        if (status < 0) return status;
        worst = ti_graver(worst, status);
    }
    return worst;
}

/* What is known of the islands, together. */
static tribo_status sum_up(tribo_ws *ws, const ti_frame *f, tribo_status worst) {
    for (int k = 0; k < f->nisland; k++) {
        add_info(&ws->info, &ws->solved[k].info);
        ws->info.nshared += ws->solved[k].nshared;
        worst = ti_graver(worst, ws->solved[k].status);
    }
    return worst;
}

/* Islands from `fresh` on are new. */
static void pose(tribo_ws *ws, ti_frame *f, const double *p, int fresh) {
    for (int i = fresh < f->nisland ? f->island[fresh].con0 : f->ncon; i < f->ncon; i++)
        f->con[i].sticky = f->con[i].kind == TI_CON_CONTACT;
    ti_step_pose(ws, f, p, fresh);
    for (int k = 0; k < fresh; k++) ti_impact_pose(ws, f, k, p);
}

/* Islands anew where contacts were called. @return the first of these. */
static int regroup(tribo_ws *ws, ti_frame *f) {
    int first = ti_aside_dissolve(ws, f);
    ti_step_islands(ws, f);
    ti_aside_resume(ws, f, first);
    return first;
}

/* Velocities and displacements, of islands and then of those that these call contacts to, until they call none. */
static tribo_status solve(tribo_ws *ws, ti_frame *f, const double *p) {
    for (int fresh = 0;; fresh = regroup(ws, f)) {
        pose(ws, f, p, fresh);
        for (int k = fresh; k < f->nisland; k++) {
            tribo_status status = solve_island(ws, f, k, p);
            if (status < 0) return status;
        }
        if (ti_aside_leave(ws, f) || ti_aside_call(ws, f, p, false)) continue;
        ws->info.ndegenerate = ws->info.nshared = 0, ws->info.margin = (double)INFINITY;
        tribo_status moved = displace(ws, f, p);
        if (moved < 0 || !ti_aside_call(ws, f, p, true)) return moved < 0 ? moved : sum_up(ws, f, moved);
    }
}

/* Contacts in islands are the step's: they are numbered, in the order of their pairs. */
static void number_contacts(tribo_ws *ws, ti_frame *f) {
    int n = 0;
    for (int i = 0; i < ws->ntouch; i++)
        if (ws->found[i].aside != TI_ASIDE) ws->found[i].id = n++;
    for (int i = 0; i < f->ncon; i++) f->con[i].id = ws->found[f->con[i].at].id;
    ws->info.ncon = n;
}

static void count_contacts(tribo_ws *ws, ti_frame *f) {
    number_contacts(ws, f);
    ws->info.nislands = f->nisland;
    for (int i = 0; i < f->ncon; i++) {
        if (f->con[i].kind != TI_CON_CONTACT) continue;
        ws->info.nactive += f->mode[i] != TRIBO_BREAK;
        if (-f->con[i].touch.gap > ws->info.penetration) ws->info.penetration = -f->con[i].touch.gap;
    }
}

const tribo_contact *tribo_last_contacts(const tribo_ws *ws, int *n) {
    if (n) *n = 0;
    if (!ws || !n) return NULL;
    const ti_frame *f = &ws->frame;
    if (ws->info.ncon > 0) ti_frame_view(f, ws->info.nislands, ws->view);
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
    ws->sharp = tape ? TI_SHARP_POINTS : TI_SHARP_NOTHING;
    ws->info = (tribo_step_info){.margin = (double)INFINITY, .canonical = true};
    memcpy(f->x, x, sizeof(double) * (size_t)size->nx);
    if (u)
        memcpy(f->u, u, sizeof(double) * (size_t)size->nu);
    else
        memset(f->u, 0, sizeof(double) * (size_t)size->nu);

    s = ti_step_kinematics(ws, p, f->x, f->u, NULL);
    if (s < 0) return s;
    ws->info.nheld = ws->motion.nheld;
    s = ti_step_find(ws, f, p);
    if (s == TRIBO_E_CAPACITY) ws->info.ncon = ws->nwanted;
    if (s < 0) return s;
    if (ws->options.warm_start) ti_warm_match(ws);
    s = solve(ws, f, p);
    if (s < 0) return s;
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
    if (ws->options.warm_start) ti_warm_keep(ws, f), ti_motion_expect(&ws->motion);
    memcpy(x_next, ws->xnext, sizeof(double) * (size_t)size->nx);
    return s;
}

tribo_status tribo_rollout(tribo_ws *ws, const double *p, const double *x0, int T, const double *U, double *X,
                           tribo_tape *tape) {
    if (!ws || !p || !x0 || !X || T < 0) return TRIBO_E_ARG;
    size_t nx = (size_t)ws->model->size.nx, nu = (size_t)ws->model->size.nu;
    tribo_status worst = TRIBO_OK;
    memmove(X, x0, nx * sizeof *X);
    if (T == 0) return ti_step_admit(ws, p, X, NULL);
    for (size_t k = 0; k < (size_t)T; k++) {
        tribo_status s = tribo_step(ws, p, X + k * nx, U ? U + k * nu : NULL, X + (k + 1) * nx, tape);
        if (s < 0) return s;
        worst = ti_graver(worst, s);
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
    ti_motion_place(&motion, p, x, x + m->size.nq);
    double e = ti_motion_energy(&motion, p, x);
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
        e -= (1 - m->body[b].gravcomp) * l.mass * ti_dot(ti_load3(p + TI_P_GRAVITY), l.xc);
    }
    return e;
}
