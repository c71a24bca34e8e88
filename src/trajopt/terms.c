/* terms.c -- residuals of terms and their derivatives: one row of a table each. docs/math.md eq. (400). */
#include "math/vec.h"
#include "model/state.h"
#include "trajopt/task.h"

/* Where a residual is asked for, and where it goes; rx, ru NULL = the residual alone. */
typedef struct asked {
    const tribo_trajopt *t;
    ti_planner *w;
    const ti_term *term;
    const double *target; /* NULL = 0 */
    const double *x, *u;
    double *r, *rx, *ru;
} asked;

static double *row_of(const asked *a, int i) {
    return a->rx + (size_t)i * (size_t)a->t->z.ndx;
}

static void less_target(const asked *a) {
    for (int i = 0; a->target && i < a->term->n; i++) a->r[i] -= a->target[i];
}

/* ---- state, joints, controls ---- */

/* Rows dq of a joint from `from`, their derivative into rows of rx that begin at its first. */
static void joint_rows(const asked *a, const ti_joint *j, const double *from, double *r, int first) {
    const ti_joint_row *row = ti_joint_of(j->kind);
    row->difference(from, a->x + j->q, r);
    if (!a->rx) return;
    for (int i = 0; i < row->nv; i++) row_of(a, first + i)[j->v + i] = 1;
    if (row->turn < 0) return;
    ti_mat D = ti_log_right(ti_load3(r + row->turn));
    for (int i = 0; i < 3; i++) memcpy(row_of(a, first + row->turn + i) + j->v + row->turn, D.m[i], sizeof D.m[i]);
}

static tribo_status state_term(const asked *a) {
    const tribo_model *m = a->t->m;
    const double *target = a->target ? a->target : a->t->x0;
    int nq = m->size.nq, nv = m->size.nv;
    for (int k = 0; k < ti_joints(m); k++)
        joint_rows(a, &m->joint[k], target + m->joint[k].q, a->r + m->joint[k].v, m->joint[k].v);
    for (int i = 0; i < nv; i++) a->r[nv + i] = a->x[nq + i] - target[nq + i];
    for (int i = 0; a->rx && i < nv; i++) row_of(a, nv + i)[nv + i] = 1;
    return TRIBO_OK;
}

static tribo_status joint_term(const asked *a) {
    const ti_joint *j = &a->t->m->joint[a->term->def.joint];
    double identity[4] = {ti_joint_of(j->kind)->turn >= 0 ? 1 : 0};
    joint_rows(a, j, a->target ? a->target : identity, a->r, 0);
    return TRIBO_OK;
}

static tribo_status joint_velocity_term(const asked *a) {
    const ti_joint *j = &a->t->m->joint[a->term->def.joint];
    for (int i = 0; i < a->term->n; i++) {
        a->r[i] = a->x[a->t->z.nq + j->v + i];
        if (a->rx) row_of(a, i)[a->t->z.nv + j->v + i] = 1;
    }
    less_target(a);
    return TRIBO_OK;
}

static tribo_status control_term(const asked *a) {
    int nc = a->t->nc;
    for (int i = 0; i < nc; i++) {
        a->r[i] = a->u ? a->u[i] : 0;
        if (a->ru) a->ru[i * nc + i] = 1;
    }
    less_target(a);
    return TRIBO_OK;
}

/* ---- places and velocities of bodies and sites ---- */

/* A body or a site. */
typedef struct place {
    int body, site; /* the one that counts >= 0, or both -1: none */
} place;

static place first_place(const asked *a) {
    return (place){a->term->def.body, a->term->def.site};
}
static place second_place(const asked *a) {
    return (place){a->term->def.body2, a->term->def.site2};
}
static bool is_place(place p) {
    return p.body >= 0 || p.site >= 0;
}
static tribo_status pose_of(tribo_dynamics *d, place p, double *pos, double *quat) {
    return p.site >= 0 ? tribo_site_pose(d, p.site, pos, quat) : tribo_body_pose(d, p.body, pos, quat);
}
static tribo_status jacobian_of(tribo_dynamics *d, place p, double *J) {
    return p.site >= 0 ? tribo_site_jacobian(d, p.site, J) : tribo_body_jacobian(d, p.body, J);
}
static tribo_status twist_of(tribo_dynamics *d, place p, double *twist) {
    return p.site >= 0 ? tribo_site_velocity(d, p.site, twist) : tribo_body_velocity(d, p.body, twist);
}
static tribo_status twist_vjp(tribo_dynamics *d, place p, const double *bar, double *q, double *v, double *params) {
    return p.site >= 0 ? tribo_site_velocity_vjp(d, p.site, bar, q, v, params)
                       : tribo_body_velocity_vjp(d, p.body, bar, q, v, params);
}
static tribo_status pose_vjp(tribo_dynamics *d, place p, const double *pos, const double *turn, double *q,
                             double *params) {
    return p.site >= 0 ? tribo_site_pose_vjp(d, p.site, pos, turn, q, params)
                       : tribo_body_pose_vjp(d, p.body, pos, turn, q, params);
}

/* r += sign * its position. */
static tribo_status add_position(const asked *a, place p, double sign) {
    double pos[3];
    int nv = a->t->z.nv;
    tribo_status s = pose_of(a->w->dynamics, p, pos, NULL);
    for (int i = 0; i < 3 && s >= 0; i++) a->r[i] += sign * pos[i];
    if (s < 0 || !a->rx) return s;
    s = jacobian_of(a->w->dynamics, p, a->w->jac);
    for (int i = 0; i < 3 && s >= 0; i++)
        for (int d = 0; d < nv; d++) row_of(a, i)[d] += sign * a->w->jac[i * nv + d];
    return s;
}

static tribo_status position_term(const asked *a) {
    tribo_status s = add_position(a, first_place(a), 1);
    if (s >= 0 && is_place(second_place(a))) s = add_position(a, second_place(a), -1);
    less_target(a);
    return s;
}

static tribo_status rotation_term(const asked *a) {
    double quat[4], turned[4], from[4] = {1, 0, 0, 0};
    int nv = a->t->z.nv;
    tribo_status s = pose_of(a->w->dynamics, first_place(a), NULL, quat);
    if (s < 0) return s;
    for (int i = 0; a->target && i < 4; i++) from[i] = i ? -a->target[i] : a->target[i];
    ti_quat_mul(from, quat, turned);
    ti_vec r = ti_quat_log(turned);
    ti_store3(a->r, r);
    if (!a->rx) return TRIBO_OK;
    s = jacobian_of(a->w->dynamics, first_place(a), a->w->jac);
    if (s < 0) return s;
    ti_mat own = ti_quat_mat(quat), D = ti_log_right(r);
    own = ti_transpose(&own);
    D = ti_matmul(&D, &own);
    const double *J = a->w->jac + 3 * nv;
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < nv; d++)
            row_of(a, i)[d] = D.m[i][0] * J[d] + D.m[i][1] * J[nv + d] + D.m[i][2] * J[2 * nv + d];
    return TRIBO_OK;
}

/* r += sign * rows [at, at + 3) of its twist. */
static tribo_status add_twist(const asked *a, place p, int at, double sign) {
    double twist[6];
    int nv = a->t->z.nv;
    tribo_status s = twist_of(a->w->dynamics, p, twist);
    for (int i = 0; i < 3 && s >= 0; i++) {
        double bar[6] = {0};
        a->r[i] += sign * twist[at + i];
        bar[at + i] = sign;
        if (a->rx) s = twist_vjp(a->w->dynamics, p, bar, row_of(a, i), row_of(a, i) + nv, NULL);
    }
    return s;
}

static tribo_status twist_term(const asked *a, int at) {
    tribo_status s = add_twist(a, first_place(a), at, 1);
    if (s >= 0 && is_place(second_place(a))) s = add_twist(a, second_place(a), at, -1);
    less_target(a);
    return s;
}
static tribo_status velocity_term(const asked *a) {
    return twist_term(a, 0);
}
static tribo_status angular_velocity_term(const asked *a) {
    return twist_term(a, 3);
}

/* ---- all bodies together ---- */

static tribo_status com_term(const asked *a) {
    int nv = a->t->z.nv;
    tribo_status s = tribo_com(a->w->dynamics, a->r);
    if (s >= 0 && a->rx) s = tribo_com_jacobian(a->w->dynamics, a->w->jac);
    for (int i = 0; a->rx && i < 3; i++) memcpy(row_of(a, i), a->w->jac + i * nv, (size_t)nv * sizeof *a->rx);
    less_target(a);
    return s;
}

static tribo_status com_velocity_term(const asked *a) {
    int nv = a->t->z.nv;
    const double *v = a->x + a->t->z.nq;
    double *J = a->w->jac;
    tribo_status s = tribo_com_jacobian(a->w->dynamics, J);
    if (s < 0) return s;
    for (int i = 0; i < 3; i++) {
        for (int d = 0; d < nv; d++) a->r[i] += J[i * nv + d] * v[d];
        if (a->rx) memcpy(row_of(a, i) + nv, J + i * nv, (size_t)nv * sizeof *J);
    }
    for (int i = 0; a->rx && i < 3 && s >= 0; i++) { /* J_bar = e_i v' */
        memset(J, 0, 3 * (size_t)nv * sizeof *J);
        memcpy(J + i * nv, v, (size_t)nv * sizeof *J);
        s = tribo_com_jacobian_vjp(a->w->dynamics, J, row_of(a, i), NULL);
    }
    less_target(a);
    return s;
}

static tribo_status momentum_term(const asked *a) {
    tribo_status s = tribo_momentum(a->w->dynamics, a->r);
    for (int i = 0; a->rx && i < 6 && s >= 0; i++) {
        double bar[6] = {0};
        bar[i] = 1;
        s = tribo_momentum_vjp(a->w->dynamics, bar, row_of(a, i), row_of(a, i) + a->t->z.nv, NULL);
    }
    less_target(a);
    return s;
}

/* ---- contacts ---- */

static tribo_status contact_force_term(const asked *a) {
    const ti_planner *w = a->w;
    size_t first = 3 * (size_t)a->term->force, n = (size_t)a->t->z.ndx, nc = (size_t)a->t->nc;
    if (w->force) memcpy(a->r, w->force + first, 3 * sizeof *a->r);
    if (a->rx) memcpy(a->rx, w->force_x + first * n, 3 * n * sizeof *a->rx);
    if (a->rx) memcpy(a->ru, w->force_u + first * nc, 3 * nc * sizeof *a->ru);
    less_target(a);
    return TRIBO_OK;
}

/* ---- the table ---- */

/* A kind: numbers of the residual and of a row of its target (those below 0 depend on the model), the residual, and how
 * it depends on bodies. */
typedef struct kind_row {
    int n;
    bool placed;
    tribo_status (*residual)(const asked *a);
} kind_row;

static const kind_row KIND[TRIBO_TERM_END] = {
    [TRIBO_TERM_STATE] = {-1, false, state_term},
    [TRIBO_TERM_JOINT] = {-1, false, joint_term},
    [TRIBO_TERM_JOINT_VELOCITY] = {-1, false, joint_velocity_term},
    [TRIBO_TERM_CONTROL] = {-1, false, control_term},
    [TRIBO_TERM_POSITION] = {3, true, position_term},
    [TRIBO_TERM_ROTATION] = {3, true, rotation_term},
    [TRIBO_TERM_VELOCITY] = {3, true, velocity_term},
    [TRIBO_TERM_ANGULAR_VELOCITY] = {3, true, angular_velocity_term},
    [TRIBO_TERM_COM] = {3, true, com_term},
    [TRIBO_TERM_COM_VELOCITY] = {3, true, com_velocity_term},
    [TRIBO_TERM_MOMENTUM] = {6, true, momentum_term},
    [TRIBO_TERM_CONTACT_FORCE] = {3, false, contact_force_term},
    [TRIBO_TERM_CUSTOM] = {-1, false, NULL},
};

bool ti_term_is_placed(tribo_term_kind kind) {
    return KIND[kind].placed;
}

void ti_term_sizes(const tribo_model *m, int nc, const tribo_term_def *def, int *n, int *width) {
    const ti_joint_row *joint = NULL;
    if (def->kind == TRIBO_TERM_JOINT || def->kind == TRIBO_TERM_JOINT_VELOCITY)
        joint = ti_joint_of(m->joint[def->joint].kind);
    *n = *width = KIND[def->kind].n;
    switch (def->kind) {
    case TRIBO_TERM_STATE:
        *n = m->size.ndx, *width = m->size.nx;
        break;
    case TRIBO_TERM_JOINT:
        *n = joint->nv, *width = joint->nq;
        break;
    case TRIBO_TERM_JOINT_VELOCITY:
        *n = *width = joint->nv;
        break;
    case TRIBO_TERM_CONTROL:
        *n = *width = nc;
        break;
    case TRIBO_TERM_ROTATION:
        *width = 4;
        break;
    case TRIBO_TERM_CUSTOM:
        *n = *width = def->size;
        break;
    default:
        break;
    }
}

tribo_status tribo_term_sizes(const tribo_model *m, const tribo_term_def *term, int ncontrol, int *size, int *width) {
    int n, row;
    if (!m || !term || !tribo_term_name(term->kind)) return TRIBO_E_ARG;
    bool joint = term->kind == TRIBO_TERM_JOINT || term->kind == TRIBO_TERM_JOINT_VELOCITY;
    if (joint && (term->joint < 0 || term->joint >= m->size.njoint)) return TRIBO_E_ARG;
    ti_term_sizes(m, ncontrol, term, &n, &row);
    if (size) *size = n;
    if (width) *width = row;
    return TRIBO_OK;
}

tribo_status ti_term_residual(const tribo_trajopt *t, ti_planner *w, const ti_term *term, int knot, const double *x,
                              const double *u, double *r, double *rx, double *ru) {
    size_t n = (size_t)term->n, row = term->def.ntarget > 1 ? (size_t)(knot - term->first) : 0;
    asked a = {t, w, term, term->target ? term->target + row * (size_t)term->width : NULL, x, u, r, rx, ru};
    memset(r, 0, n * sizeof *r);
    if (rx) memset(rx, 0, n * (size_t)t->z.ndx * sizeof *rx), memset(ru, 0, n * (size_t)t->nc * sizeof *ru);
    if (KIND[term->def.kind].residual) return KIND[term->def.kind].residual(&a);
    tribo_status s = term->def.function(term->def.context, knot, x, u, r, rx, ru);
    less_target(&a);
    return s;
}

/* ---- by p ---- */

static tribo_status place_params_vjp(tribo_dynamics *d, const tribo_term_def *def, const double *bar, place p,
                                     double *p_bar) {
    double twist_bar[6] = {0};
    switch (def->kind) {
    case TRIBO_TERM_POSITION:
        return pose_vjp(d, p, bar, NULL, NULL, p_bar);
    case TRIBO_TERM_ROTATION:
        return pose_vjp(d, p, NULL, bar, NULL, p_bar);
    case TRIBO_TERM_VELOCITY:
        memcpy(twist_bar, bar, 3 * sizeof *bar);
        break;
    default:
        memcpy(twist_bar + 3, bar, 3 * sizeof *bar);
        break;
    }
    return twist_vjp(d, p, twist_bar, NULL, NULL, p_bar);
}

tribo_status ti_term_params_vjp(const tribo_trajopt *t, ti_planner *w, const ti_term *term, const double *r,
                                const double *r_bar, const double *v, double *p_bar) {
    const tribo_term_def *def = &term->def;
    place second = {def->body2, def->site2};
    double bar[6], *J = w->jac;
    int nv = t->z.nv;
    tribo_status s;
    if (!KIND[def->kind].placed) return TRIBO_OK;
    memcpy(bar, r_bar, (size_t)term->n * sizeof *bar);
    switch (def->kind) {
    case TRIBO_TERM_COM:
        return tribo_com_vjp(w->dynamics, bar, NULL, p_bar);
    case TRIBO_TERM_MOMENTUM:
        return tribo_momentum_vjp(w->dynamics, bar, NULL, NULL, p_bar);
    case TRIBO_TERM_COM_VELOCITY:
        for (int i = 0; i < 3 * nv; i++) J[i] = bar[i / nv] * v[i % nv];
        return tribo_com_jacobian_vjp(w->dynamics, J, NULL, p_bar);
    case TRIBO_TERM_ROTATION: {
        ti_mat D = ti_log_right(ti_load3(r));
        ti_store3(bar, ti_tmul(&D, ti_load3(r_bar)));
        break;
    }
    default:
        break;
    }
    s = place_params_vjp(w->dynamics, def, bar, (place){def->body, def->site}, p_bar);
    if (s < 0 || !is_place(second)) return s;
    for (int i = 0; i < 3; i++) bar[i] = -bar[i];
    return place_params_vjp(w->dynamics, def, bar, second, p_bar);
}

/* ---- names ---- */

static const char *const TERM_NAME[] = {
#define TRIBO_X(NAME, name, text) name,
    TRIBO_TERM_LIST(TRIBO_X)
#undef TRIBO_X
};
static const char *const NORM_NAME[] = {
#define TRIBO_X(NAME, name, text) name,
    TRIBO_NORM_LIST(TRIBO_X)
#undef TRIBO_X
};

static int find(const char *const *names, int n, const char *name) {
    int k = 0;
    while (k < n && (!name || strcmp(names[k], name) != 0)) k++;
    return k;
}

const char *tribo_term_name(tribo_term_kind kind) {
    return (int)kind >= 0 && kind < TRIBO_TERM_END ? TERM_NAME[kind] : NULL;
}
tribo_term_kind tribo_term_find(const char *name) {
    return (tribo_term_kind)find(TERM_NAME, TRIBO_TERM_END, name);
}
const char *tribo_norm_name(tribo_norm norm) {
    return (int)norm >= 0 && norm < TRIBO_NORM_END ? NORM_NAME[norm] : NULL;
}
tribo_norm tribo_norm_find(const char *name) {
    return (tribo_norm)find(NORM_NAME, TRIBO_NORM_END, name);
}
