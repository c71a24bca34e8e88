/* regressor.c -- the derivatives of a step of a robot on a fixed base by the parameters that enter as forces in its
 * joints: masses, centres, inertias, rotors, damping, springs, dry friction, gravity. docs/math.md eq. (450), (451).
 *
 * A force in a joint moves the next state by B of the step, and each of these numbers is one: what inverse dynamics is
 * linear in. So the parameters that are free cost a wrench each, where rows of the reverse cost all of them.
 */
#include "backward/backward.h"
#include "sysid/track/fit.h"

/* Whether a number of p enters as a force in joints. */
static bool is_force(const tribo_model *m, int index) {
    ti_number n = ti_number_of(m, index);
    return n.part <= TI_PART_BODY || (n.part == TI_PART_JOINT && n.number <= TI_P_FRICTIONLOSS);
}

bool ti_regressor_applies(const tribo_sysid *s) {
    const tribo_model *m = s->m;
    if (ti_all_free(m) || m->nfree || m->ncap || m->fluid || m->size.nequality) return false;
    for (int j = 0; j < m->size.njoint; j++)
        if (m->joint[j].kind == TI_JOINT_BALL) return false;
    for (int i = 0; i < s->nfree; i++)
        if (s->unknown[i].index >= 0 && !is_force(m, s->unknown[i].index)) return false;
    return true;
}

/* A step that was solved: motions at its middle, changes of velocity, without contacts and by them. */
typedef struct solved {
    const ti_motion *motion;
    double dt, late; /* 1 = damping and springs act at the step's end, 1/2 = at its middle, middle.c */
    const double *q, *p;
    const double *free, *now, *next; /* (nv) velocities */
    ti_vec gravity;
} solved;

/* By how much a body's inertia about the origin changes with number k of its ten. */
static ti_spatial_inertia inertia_by(const ti_link *l, int k) {
    static const int row[] = {0, 1, 2, 0, 0, 1}, col[] = {0, 1, 2, 1, 2, 2};
    ti_spatial_inertia out = {0};
    if (k == TI_P_MASS) {
        out.m = 1, out.h = l->xc;
        ti_outer_add(&out.I, -1, l->xc, l->xc);
        for (int i = 0; i < 3; i++) out.I.m[i][i] += ti_dot(l->xc, l->xc);
    } else if (k < TI_P_INERTIA) {
        ti_vec e = ti_col(&l->R, k - TI_P_COM);
        out.h = ti_scale(l->mass, e);
        ti_outer_add(&out.I, -l->mass, l->xc, e), ti_outer_add(&out.I, -l->mass, e, l->xc);
        for (int i = 0; i < 3; i++) out.I.m[i][i] += 2 * l->mass * ti_dot(l->xc, e);
    } else {
        int r = row[k - TI_P_INERTIA], c = col[k - TI_P_INERTIA];
        ti_vec a = ti_col(&l->R, r), b = ti_col(&l->R, c);
        ti_outer_add(&out.I, 1, a, b);
        if (r != c) ti_outer_add(&out.I, 1, b, a);
    }
    return out;
}

/* What chains of axes make of a velocity, up to number last. */
static ti_spatial twist_by(const ti_motion *m, int last, const double *v, const double *less) {
    ti_spatial sum = {{0, 0, 0}, {0, 0, 0}};
    for (int d = last; d >= 0; d = m->model->dof[d].before) sum = ti_sp_axpy(sum, v[d] - less[d], m->axis[d]);
    return sum;
}

/* force, impulse (nv) += the wrench of a body's number in all joints that carry it. */
static void by_body(const solved *s, int body, int k, double *force, double *impulse) {
    const ti_motion *m = s->motion;
    int last = m->model->body[body].last;
    if (last < 0) return;
    ti_spatial_inertia I = inertia_by(&m->link[body], k);
    ti_spatial push = m->bias[last], nu = m->twist[last];
    push.v = ti_axpy(push.v, m->model->body[body].gravcomp - 1, s->gravity);
    ti_spatial f = ti_sp_axpy(ti_sp_times(&I, push), 1, ti_sp_cross_force(nu, ti_sp_times(&I, nu)));
    ti_spatial g = ti_sp_times(&I, twist_by(m, last, s->free, s->next));
    for (int d = last; d >= 0; d = m->model->dof[d].before)
        force[d] -= ti_sp_dot(m->axis[d], f), impulse[d] += ti_sp_dot(m->axis[d], g);
}

static void by_gravity(const solved *s, int k, double *force) {
    static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const ti_motion *m = s->motion;
    for (int b = 0; b < m->model->size.nbody; b++) {
        ti_spatial pull = {{0, 0, 0}, ti_scale(1 - m->model->body[b].gravcomp, ti_load3(unit[k]))};
        pull = ti_sp_times(&m->inertia[b], pull);
        for (int d = m->model->body[b].last; d >= 0; d = m->model->dof[d].before)
            force[d] += ti_sp_dot(m->axis[d], pull);
    }
}

static void by_joint(const solved *s, int joint, int k, double *force, double *impulse) {
    const ti_joint *j = &s->motion->model->joint[joint];
    const double *own = s->p + j->p, dt = s->dt;
    int d = j->v;
    double missed = s->free[d] - s->next[d], stretch = s->q[j->q] - own[TI_P_SPRINGREF];
    switch (k) {
    case TI_P_DAMPING:
        force[d] = -(1 - s->late) * s->now[d] - s->late * s->free[d], impulse[d] = s->late * dt * missed;
        break;
    case TI_P_ARMATURE:
        force[d] = (s->now[d] - s->free[d]) / dt, impulse[d] = missed;
        break;
    case TI_P_STIFFNESS:
        force[d] = -stretch - dt * s->late * (s->late * s->free[d] - (1 - s->late) * s->now[d]);
        impulse[d] = s->late * s->late * dt * dt * missed;
        break;
    case TI_P_SPRINGREF:
        force[d] = own[TI_P_STIFFNESS];
        break;
    default: /* what slips is held back by all of it; what sticks is moved by no force */
        impulse[d] = s->next[d] > 0 ? -dt : s->next[d] < 0 ? dt : 0;
    }
}

/* force += (M + h/2 C) M^-1 impulse / h: gyroscopic forces are those of the velocity before contacts. */
static void add_impulse(const ti_motion *m, const ti_tree_jac *jac, double dt, double *impulse, double *force) {
    for (int t = 0; t < m->model->ntree; t++) {
        const ti_tree *tree = &m->model->tree[t];
        const double *C = jac->C + tree->M;
        int w = tree->nv;
        for (int i = 0; i < w; i++) force[tree->v + i] += impulse[tree->v + i] / dt;
        ti_motion_solve(m, t, impulse + tree->v, impulse + tree->v);
        for (int i = 0; i < w; i++)
            for (int j = 0; j < w; j++) force[tree->v + i] += C[i * w + j] * impulse[tree->v + j] / 2;
    }
}

static void by_number(const solved *s, const ti_tree_jac *jac, int index, double *force, double *impulse) {
    int nv = s->motion->model->size.nv;
    ti_number n = ti_number_of(s->motion->model, index);
    bool any = false;
    memset(force, 0, (size_t)nv * sizeof *force), memset(impulse, 0, (size_t)nv * sizeof *impulse);
    if (n.part == TI_PART_BODY) by_body(s, n.owner, n.number, force, impulse);
    if (n.part == TI_PART_GRAVITY) by_gravity(s, n.number, force);
    if (n.part == TI_PART_JOINT) by_joint(s, n.owner, n.number, force, impulse);
    for (int d = 0; d < nv; d++) any |= impulse[d] != 0;
    if (any) add_impulse(s->motion, jac, s->dt, impulse, force);
}

tribo_status ti_regressor_jac(ti_worker *w, const ti_stride *at, const double *pd, double *A, double *C, bool *done) {
    const tribo_sysid *s = w->s;
    size_t ndx = (size_t)s->z.ndx, nv = (size_t)s->z.nv, np = (size_t)s->z.np, nu = (size_t)s->z.nu;
    ti_frame f;
    const double *p;
    *done = false, at->ws->scratch->linear = 0;
    tribo_status status = ti_restore(at->ws, at->one, 0, &f, &p);
    if (status < 0 || !ti_holds_only(f.phases) || !ti_tree_columns_apply(at->ws, &f, p))
        return status < 0 ? status : TRIBO_OK;
    status = ti_tree_jacobians(at->ws, &f, p, A, w->by_u);
    if (status < 0) return TRIBO_OK; /* rows of the reverse know what to do about it */
    ti_motion_mean_forces(&at->ws->motion, p, at->ws->options.dt);
    double *next = w->by_force + 4 * nv;
    for (int k = 0; k < s->m->ntree; k++)
        memcpy(next + s->m->tree[k].v, ti_solved_velocity(at->ws, &f, k), (size_t)s->m->tree[k].nv * sizeof *next);
    const ti_motion *m = &at->ws->motion;
    const solved now = {.motion = m,
                        .dt = at->ws->options.dt,
                        .late = s->middle ? 0.5 : 1,
                        .q = f.x,
                        .p = p,
                        .free = m->free,
                        .now = m->now,
                        .next = next,
                        .gravity = ti_load3(p + TI_P_GRAVITY)};
    memset(C, 0, (size_t)s->nfree * ndx * sizeof *C);
    for (size_t k = 0; pd && k < (size_t)s->nfree; k++) {
        if (s->unknown[k].index < 0) continue;
        double *force = w->by_force, *impulse = force + nv, *column = impulse + nv;
        size_t index = (size_t)s->unknown[k].index;
        by_number(&now, &at->ws->scratch->tree_jac, s->unknown[k].index, force, impulse);
        for (size_t i = 0; i < ndx; i++) {
            column[i] = 0;
            for (size_t d = 0; d < nv; d++) column[i] += w->by_u[i * nu + d] * force[d];
        }
        for (size_t a = 0; a < (size_t)s->nfree; a++)
            for (size_t i = 0; i < ndx && pd[a * np + index] != 0; i++)
                C[a * ndx + i] += pd[a * np + index] * column[i];
    }
    *done = true;
    return TRIBO_OK;
}
