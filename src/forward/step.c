/* step.c -- the workspace and the step: kinematics, contacts, impulses, integration. */
#include "contact/law.h"
#include "forward/frame.h"

enum { CONTACTS_LIMIT = 1 << 22, ROUNDS_LIMIT = 1 << 22 }; /* numbers of both are counted by int */

tribo_options tribo_default_options(void) {
    return (tribo_options){.struct_size = sizeof(tribo_options)};
}

static int default_contacts(const tribo_model *m) {
    int most = 0, enough = 64 + 24 * m->size.nbody;
    for (int i = 0; i < m->npossible && most < enough; i++)
        most += m->geom[m->pair[i].a].shape == TRIBO_SPHERE || m->geom[m->pair[i].b].shape == TRIBO_SPHERE
                    ? 1
                    : TI_CONTACTS_MAX;
    return most < enough ? most : enough;
}

static void scratch_layout(ti_arena *a, ti_scratch *s, const tribo_sizes *size, int nc) {
    int nb = size->nbody, nd = TI_DIRECTIONS;
    TI_CARVE(a, s->diff, nb);
    TI_CARVE(a, s->D_bar, 6 * nb);
    TI_CARVE(a, s->V_bar, 6 * nb);
    TI_CARVE(a, s->Y, 6 * nb);
    TI_CARVE(a, s->geom_bar, 9 * size->ngeom);
    TI_CARVE(a, s->lambda_bar, 3 * nc);
    TI_CARVE(a, s->tau_bar, nc);
    TI_CARVE(a, s->mu_bar, nc);
    TI_CARVE(a, s->ref_bar, nc);
    TI_CARVE(a, s->frame_bar, 12 * nc);
    TI_CARVE(a, s->v_work, 6 * nb);
    TI_CARVE(a, s->l_work, 3 * nc);
    TI_CARVE(a, s->mu_work, nc);
    TI_CARVE(a, s->J_bar, 36 * nc);
    TI_CARVE(a, s->M_bar, 36 * nb);
    TI_CARVE(a, s->diff_dot, nd * nb);
    TI_CARVE(a, s->jac, TI_COLLIDE_ROWS * TI_COLLIDE_COLS * nc);
    for (int k = 0; k < TI_CONTACT_POINTS; k++) {
        TI_CARVE(a, s->y[k], 6 * nb);
        TI_CARVE(a, s->c_bar[k], 3 * nc);
        TI_CARVE(a, s->r_dot[k], 6 * nb * nd);
        TI_CARVE(a, s->c_dot[k], 3 * nc * nd);
    }
    TI_CARVE(a, s->mu_dot, nc * nd);
    TI_CARVE(a, s->v_dot, 6 * nb * nd);
    TI_CARVE(a, s->lambda_dot, 3 * nc * nd);
    TI_CARVE(a, s->v_sum, 6 * nb * nd);
    TI_CARVE(a, s->lambda_sum, 3 * nc * nd);
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

static void ws_layout(ti_arena *a, tribo_ws *w) {
    const tribo_sizes *s = &w->model->size;
    int nc = w->options.ncon_max, nb = s->nbody;
    ti_carve(a, 1, sizeof *w);
    TI_CARVE(a, w->link, nb);
    TI_CARVE(a, w->shape, s->ngeom);
    TI_CARVE(a, w->reach, s->ngeom);
    TI_CARVE(a, w->speed, s->ngeom);
    if (w->model->npossible >= TI_BROAD_FROM) {
        int some = 64 + 32 * s->ngeom, all = w->model->npossible;
        TI_CARVE(a, w->low, s->ngeom);
        TI_CARVE(a, w->high, s->ngeom);
        ti_broad_carve(&w->broad, a, s->ngeom, some < all ? some : all);
    }
    ti_frame_layout(a, &w->frame, s, w->options.rounds, nc, nb, nb);
    TI_CARVE(a, w->width, nb);
    TI_CARVE(a, w->voff, nb);
    TI_CARVE(a, w->moff, nb);
    TI_CARVE(a, w->blk_of, nb);
    TI_CARVE(a, w->blk_at, nb);
    TI_CARVE(a, w->blk_a, nc);
    TI_CARVE(a, w->blk_b, nc);
    TI_CARVE(a, w->joff, nc);
    TI_CARVE(a, w->M, 36 * nb);
    TI_CARVE(a, w->J, 36 * nc);
    TI_CARVE(a, w->vfree, 6 * nb);
    TI_CARVE(a, w->vnow, 6 * nb);
    TI_CARVE(a, w->ref, 3 * nc);
    TI_CARVE(a, w->mu, nc);
    if (ti_step_is_noisy(w)) TI_CARVE(a, w->noise, 2 * (size_t)nc);
    TI_CARVE(a, w->found, nc);
    TI_CARVE(a, w->slot, nb);
    TI_CARVE(a, w->root, nb);
    TI_CARVE(a, w->warm, nc);
    TI_CARVE(a, w->view, nc);
    TI_CARVE(a, w->D, 6 * nb);
    TI_CARVE(a, w->xnext, s->nx);
    TI_CARVE(a, w->p, s->np);
    TI_CARVE(a, w->scratch, 1);
    ti_scratch scratch;
    scratch_layout(a, &scratch, s, nc);
    if (w->scratch) *w->scratch = scratch;
}

static tribo_status settle_options(const tribo_model *m, const tribo_options *given, tribo_options *o) {
    *o = given ? *given : tribo_default_options();
    if (o->struct_size != sizeof *o) return TRIBO_E_DEF;
    if (o->dt == 0) o->dt = m->dt;
    tribo_status law = ti_law_settle(&o->law, &m->law, &o->law);
    if (law) return law;
    if (o->tol == 0) o->tol = ti_solver_tolerance(&o->law);
    if (o->rounds > 0 && o->law.law != TRIBO_LAW_NCP) return TRIBO_E_ARG;
    if (o->recovery == 0) o->recovery = 1;
    if (o->ncon_max == 0) o->ncon_max = default_contacts(m);
    if (!(o->dt > 0) || !isfinite(o->dt) || !(o->tol > 0) || !(o->recovery > 0) || o->rounds < 0 || o->ncon_max < 0)
        return TRIBO_E_ARG;
    if (o->ncon_max > CONTACTS_LIMIT || o->rounds > ROUNDS_LIMIT) return TRIBO_E_ARG;
    if (o->reverse != TRIBO_REVERSE_IMPLICIT && o->reverse != TRIBO_REVERSE_UNROLLED) return TRIBO_E_ARG;
    if (o->reverse == TRIBO_REVERSE_UNROLLED && o->rounds == 0) return TRIBO_E_ARG;
    return TRIBO_OK;
}

/* Positions in extents of the model, rotations in radians, and both a step for velocities. */
static void measure_units(tribo_ws *w) {
    double L = tribo_model_extent(w->model);
    for (int i = 0; i < w->model->size.ndx; i++)
        w->scratch->unit[i] = (i % 6 < 3 && L > 0 ? L : 1) / (i < w->model->size.nv ? 1 : w->options.dt);
}

tribo_status tribo_ws_new(const tribo_model *m, const tribo_options *o, const tribo_allocator *alloc, tribo_ws **ws) {
    if (!m || !ws) return TRIBO_E_ARG;
    tribo_ws w = {.model = m};
    tribo_status s = settle_options(m, o, &w.options);
    if (s != TRIBO_OK) return s;
    if (alloc) w.alloc = *alloc;
    ti_arena a = {0};
    ws_layout(&a, &w);
    w.bytes = a.used;
    void *block = ti_arena_take(&a, &w.alloc);
    if (!block) return TRIBO_E_NOMEM;
    ws_layout(&a, &w);
    int nb = m->size.nbody, nc = w.options.ncon_max;
    s = ti_contact_ws_new(nc > 0 ? nc : 1, nb > 0 ? 6 * nb : 1, nb > 0 ? nb : 1, &w.options.law, &w.alloc, &w.contact);
    if (s == TRIBO_OK && w.options.rounds > 0)
        s = ti_staggered_ws_new(nc > 0 ? nc : 1, nb > 0 ? 6 * nb : 1, nb > 0 ? nb : 1, &w.alloc, &w.staggered);
    if (s != TRIBO_OK) {
        ti_contact_ws_free(w.contact);
        ti_free(&w.alloc, block, w.bytes);
        return s;
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

/* Start each contact from what the same feature of the same pair did in the last step. Both lists are in pair order. */
static void warm_start(tribo_ws *ws, ti_frame *f) {
    int j = 0;
    memset(f->lambda[TI_SOLVED], 0, 3 * sizeof(double) * (size_t)f->ncon);
    for (int i = 0; i < ws->nfound; i++) ws->found[i].id = -1;
    for (int i = 0; i < ws->nfound; i++) {
        const ti_con *c = &ws->found[i];
        while (j < ws->nwarm && ws->warm[j].pair < c->pair) j++;
        for (int k = j; k < ws->nwarm && ws->warm[k].pair == c->pair; k++)
            if (ws->warm[k].feature == c->touch.feature) ws->found[i].id = k;
    }
    for (int i = 0; i < f->ncon; i++) {
        int k = ws->found[f->con[i].id].id;
        if (k < 0) { /* new: it will push if its bodies' free motion closes it */
            f->mode[i] = f->con[i].uf + ws->ref[3 * i + 2] < 0 ? TRIBO_STICK : TRIBO_BREAK;
            continue;
        }
        memcpy(f->lambda[TI_SOLVED] + 3 * i, ws->warm[k].lambda, sizeof ws->warm[k].lambda);
        f->mode[i] = ws->warm[k].mode;
    }
}

static void keep_warm(tribo_ws *ws, const ti_frame *f) {
    ws->nwarm = f->ncon;
    for (int i = 0; i < f->ncon; i++) {
        struct ti_warm *w = &ws->warm[f->con[i].id];
        *w = (struct ti_warm){f->con[i].pair, f->con[i].touch.feature, f->mode[i], {0}};
        memcpy(w->lambda, f->lambda[TI_SOLVED] + 3 * i, sizeof w->lambda);
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

/* Largest relative velocity along the tangents (rows 0, 1) of contact i, v (6 nblk). */
static double slip_speed(const tribo_ws *ws, const ti_island *is, int i, const double *v) {
    double slip[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        int blk = side ? ws->blk_b[i] : ws->blk_a[i];
        if (blk < 0) continue;
        const double *J = ws->J + 36 * i + 18 * side, *vb = v + 6 * (is->blk0 + blk);
        for (int r = 0; r < 2; r++)
            for (int j = 0; j < 6; j++) slip[r] += J[6 * r + j] * vb[j];
    }
    return sqrt(slip[0] * slip[0] + slip[1] * slip[1]);
}

/* Contacts that are held to the static coefficient and slip all the same get the kinetic one. One that carries all the
 * friction it can while others hold the body does not slip: its mode says so, its velocity does not.
 * @return how many of them that changes. */
static int let_slip(tribo_ws *ws, const ti_frame *f, const ti_island *is, const double *p) {
    int changed = 0, end = is->con0 + is->ncon;
    double unit = 0;
    for (int i = is->con0; i < end; i++) unit = ti_max(unit, slip_speed(ws, is, i, ws->vfree));
    for (int i = is->con0; i < end; i++) {
        const int *at = ws->model->pair[f->con[i].pair].material;
        if (!f->con[i].sticky || f->mode[i] < TRIBO_SLIDE) continue;
        if (slip_speed(ws, is, i, f->v[TI_SOLVED]) <= 1e-9 * unit) continue;
        f->con[i].sticky = false, ws->mu[i] = p[at[TI_M_FRICTION]];
        changed += p[at[TI_M_STICTION]] > 0;
    }
    return changed;
}

/* By the given rounds of staggered projections. The implicit reverse and the forward tangents are those of the solution
 * which they approach: its points and modes are found first and kept. */
static tribo_status solve_by_rounds(tribo_ws *ws, const ti_frame *f, int k, ti_contact_solution *s,
                                    tribo_contact_info *info) {
    ti_contact_problem problem = ti_step_island(ws, f, k);
    ti_contact_options o = {.tol = ws->options.tol};
    unsigned char *mode = (unsigned char *)ws->scratch->mu_work;
    int rounds = ws->options.rounds;
    tribo_status status = ti_contact_solve(ws->contact, &problem, &o, s, info);
    if (status < 0) return status;
    bool canonical = info->canonical || ws->options.reverse == TRIBO_REVERSE_UNROLLED; /* which knows of no other */
    double *kept = f->rounds + (size_t)rounds * 3 * (size_t)f->island[k].con0;
    status = ti_staggered_solve(ws->staggered, &problem, rounds, kept, s->lambda, s->v, mode);
    tribo_status measured = status < 0 ? status : ti_contact_measure(ws->contact, &problem, s, info);
    info->canonical = canonical;
    return measured < 0 ? measured : status;
}

static tribo_status solve_island(tribo_ws *ws, const ti_frame *f, int k, ti_contact_solution *s,
                                 tribo_contact_info *info) {
    if (ws->options.rounds > 0) return solve_by_rounds(ws, f, k, s, info);
    ti_contact_problem problem = ti_step_island(ws, f, k);
    ti_contact_options o = {.tol = ws->options.tol, .warm = ws->options.warm_start};
    return ti_contact_solve(ws->contact, &problem, &o, s, info);
}

static tribo_status solve_islands(tribo_ws *ws, ti_frame *f, const double *p) {
    tribo_status worst = TRIBO_OK;
    for (int k = 0; k < f->nisland; k++) {
        ti_island *is = &f->island[k];
        tribo_contact_info one;
        do {
            ti_contact_solution s = ti_frame_solution(f, k);
            tribo_status status = solve_island(ws, f, k, &s, &one);
            if (status < 0) return status;
            if (status > worst) worst = status;
            is->npoint = s.npoint;
            for (int j = 0; j < s.npoint; j++) {
                is->weight[j] = s.point[j].weight, is->compliance[j] = s.point[j].compliance;
            }
        } while (let_slip(ws, f, is, p) > 0);
        add_info(&ws->info, &one);
    }
    return worst;
}

static void count_contacts(tribo_ws *ws, const ti_frame *f) {
    ws->info.ncon = f->ncon, ws->info.nislands = f->nisland;
    for (int i = 0; i < f->ncon; i++) {
        ws->info.nactive += f->mode[i] != TRIBO_BREAK;
        if (-f->con[i].touch.gap > ws->info.penetration) ws->info.penetration = -f->con[i].touch.gap;
    }
}

const tribo_contact *tribo_last_contacts(const tribo_ws *ws, int *n) {
    if (n) *n = 0;
    if (!ws || !n) return NULL;
    const ti_frame *f = &ws->frame;
    for (int i = 0; i < ws->info.ncon; i++) {
        const ti_con *c = &f->con[i];
        tribo_contact *v = &ws->view[c->id];
        *v = (tribo_contact){.geom_a = ws->model->pair[c->pair].a,
                             .geom_b = ws->model->pair[c->pair].b,
                             .mode = ti_mode_public(f->mode[i]),
                             .gap = c->touch.gap,
                             .bounced = c->bounce && f->mode[i] != TRIBO_BREAK};
        ti_store3(v->point, c->touch.point), ti_store3(v->normal, c->touch.normal);
        ti_store3(v->tangent[0], c->t1), ti_store3(v->tangent[1], c->t2);
        memcpy(v->impulse, f->lambda[TI_SOLVED] + 3 * i, sizeof v->impulse);
    }
    *n = ws->info.ncon;
    return ws->view;
}

/* ---- the step ---- */

static void integrate(tribo_ws *ws, const ti_frame *f) {
    const tribo_model *m = ws->model;
    ti_step_displacement(ws, f, ws->D);
    for (int b = 0; b < m->size.nbody; b++) {
        double V[6];
        ti_store3(V, ws->link[b].vf), ti_store3(V + 3, ws->link[b].wf);
        int k = ws->blk_at[b];
        if (k >= 0) memcpy(V, f->v[TI_SOLVED] + 6 * k, sizeof V);
        ti_link_integrate(&ws->link[b], ws->D + 6 * b, V, ws->xnext + m->body[b].q,
                          ws->xnext + m->size.nq + m->body[b].v);
    }
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

    ti_step_kinematics(ws, p, f->x, f->u);
    s = ti_step_find(ws, f);
    if (s < 0) return s;
    for (int i = 0; i < f->ncon; i++) f->con[i].sticky = true;
    ti_step_pose(ws, f, p, true);
    if (ws->options.warm_start) warm_start(ws, f);
    s = solve_islands(ws, f, p);
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

/* ---- states ---- */

void tribo_state_add(const tribo_model *m, const double *x, const double *dx, double *out) {
    if (!m || !x || !dx || !out) return;
    for (int b = 0; b < m->size.nbody; b++) {
        const double *q = x + m->body[b].q, *dq = dx + m->body[b].v;
        double *o = out + m->body[b].q, e[4];
        ti_store3(o, ti_add(ti_load3(q), ti_load3(dq)));
        ti_quat_exp(ti_load3(dq + 3), e);
        ti_quat_mul(q + 3, e, o + 3);
    }
    for (int i = 0; i < m->size.nv; i++) out[m->size.nq + i] = x[m->size.nq + i] + dx[m->size.nv + i];
}

void tribo_state_difference(const tribo_model *m, const double *a, const double *b, double *dx) {
    if (!m || !a || !b || !dx) return;
    for (int k = 0; k < m->size.nbody; k++) {
        const double *qa = a + m->body[k].q, *qb = b + m->body[k].q;
        double *d = dx + m->body[k].v, conjugate[4] = {qa[3], -qa[4], -qa[5], -qa[6]}, r[4];
        ti_store3(d, ti_sub(ti_load3(qb), ti_load3(qa)));
        ti_quat_mul(conjugate, qb + 3, r);
        ti_store3(d + 3, ti_quat_log(r));
    }
    for (int i = 0; i < m->size.nv; i++) dx[m->size.nv + i] = b[m->size.nq + i] - a[m->size.nq + i];
}

double tribo_energy(const tribo_model *m, const double *p, const double *x) {
    if (!m || !p || !x) return (double)NAN;
    double e = 0;
    for (int b = 0; b < m->size.nbody; b++) {
        ti_link l;
        ti_link_load(&l, p + m->body[b].p, x + m->body[b].q, x + m->size.nq + m->body[b].v, NULL);
        e += 0.5 * l.mass * ti_dot(l.v, l.v) + 0.5 * ti_dot(l.w, ti_mul(&l.I, l.w));
        e -= l.mass * ti_dot(ti_load3(p + TI_P_GRAVITY), l.xc);
    }
    return e;
}
