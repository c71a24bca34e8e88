/* touching_jac.c -- how the rows of a contact change with the pose of one of its bodies; docs/math.md eq. (9).
 *
 * With r_s the contact point seen from the centre of mass of side s, w_s its angular velocity in the world, and signs
 * -1 on a, +1 on b:  u = sum sign (v_s + w_s x r_s), row j of J v is d_j . u,  J' lambda on s is sign (F, R_s'(r_s x
 * F)) with F = sum lambda_j d_j. All of it is linear in the rates of the point and the normal, and in two direct terms:
 * the centre of mass moves, and the axes turn under w and under the torque. */
#include "base/clones.h"
#include "forward/touching.h"
#include "math/lanes.h"

/* R' x, of rows of four numbers, of which the last is nothing. */
TI_INLINE ti_vec turned_back(const vec4 *R, const double *x) {
    vec4 y = x[0] * R[0] + x[1] * R[1] + x[2] * R[2];
    return (ti_vec){y[0], y[1], y[2]};
}

TI_CLONES static bool contact_rate(const ti_mat *R, ti_vec at, const double *jac, double *rate) {
    vec4 rows[3];
    bool turns = false;
    for (int i = 0; i < 3; i++) rows[i] = (vec4){R->m[i][0], R->m[i][1], R->m[i][2], 0};
    for (int k = 0; k < TI_COLLIDE_ROWS; k++) {
        const double *row = jac + TI_COLLIDE_COLS * k;
        ti_vec x = turned_back(rows, row), w = turned_back(rows, row + 3); /* x . (th x at) = th . (at x x) */
        ti_store3(rate + TI_POSE * k, ti_load3(row));
        ti_store3(rate + TI_POSE * k + 3, ti_add(ti_cross(at, x), w));
        for (int e = 0; k >= 3 && k < 6 && e < TI_POSE; e++) turns = turns || rate[TI_POSE * k + e] != 0;
    }
    return turns;
}

bool ti_contact_rate(const tribo_model *m, const double *p, const ti_link *links, const ti_con *c, int side,
                     const double *jac, double *rate) {
    const ti_geom *g = &m->geom[side ? c->pair.b : c->pair.a];
    return contact_rate(&links[g->body].R, ti_load3(p + g->p + TI_P_POS), jac + TI_SHAPE_COLS * side, rate);
}

/* The six numbers of a row by a pose, in registers: rows are read and written whole, once. */
typedef struct six {
    vec4 head;
    vec2 tail;
} six;

TI_INLINE six six_in(const double *x) {
    return (six){*(const vec4 *)(const void *)x, *(const vec2 *)(const void *)(x + 4)};
}
TI_INLINE void six_out(const six *x, double *to) {
    *(vec4 *)(void *)to = x->head, *(vec2 *)(void *)(to + 4) = x->tail;
}
/* Of a place and a turn. */
TI_INLINE six six_of(ti_vec x, ti_vec th) {
    return (six){(vec4){x.x, x.y, x.z, th.x}, (vec2){th.y, th.z}};
}
TI_INLINE six six_add(six a, six b) {
    return (six){a.head + b.head, a.tail + b.tail};
}
TI_INLINE six six_scale(double s, six a) {
    return (six){s * a.head, s * a.tail};
}

/* A (3,6) */
typedef struct eighteen {
    six row[3];
} eighteen;
TI_INLINE eighteen eighteen_in(const double *x) {
    return (eighteen){{six_in(x), six_in(x + TI_POSE), six_in(x + 2 * TI_POSE)}};
}

/* a' B */
TI_INLINE six times(ti_vec a, const eighteen *B) {
    return six_add(six_add(six_scale(a.x, B->row[0]), six_scale(a.y, B->row[1])), six_scale(a.z, B->row[2]));
}

/* What does not depend on the direction: a side's lever, and its angular velocity in the world. */
typedef struct arm {
    ti_vec r, w;
    double sign;
} arm;

static const ti_vec nothing = {0, 0, 0};

/* The direct part of row d of J v: sign d x w as the centre of mass leaves, and R' of what turns with the axes. */
TI_INLINE six row_moves(const ti_side *s, const arm *m, ti_vec d, six y) {
    ti_vec a = ti_scale(-m->sign, ti_cross(d, m->w));
    ti_vec turn = ti_scale(m->sign, ti_tmul(&s->link->R, ti_cross(m->w, ti_cross(m->r, d))));
    y = six_add(y, six_of(a, turn));
    return s->xc_th ? six_add(y, six_of(nothing, ti_tmul(s->xc_th, a))) : y;
}

/* J' lambda on one side; dF NULL = 0. Rows of R' [-F]x and R' [r]x: a . (r x f) = f . (a x r). */
TI_INLINE void momentum_jac(const ti_side *s, const arm *m, bool moves, ti_vec F, const eighteen *dF,
                            const eighteen *dp, int pitch) {
    const ti_mat *R = &s->link->R;
    ti_mat under = ti_skew(ti_scale(m->sign, ti_tmul(R, ti_cross(m->r, F)))); /* the axes turn under the torque */
    for (int i = 0; i < 3; i++) {
        ti_vec axis = ti_scale(m->sign, ti_col(R, i)), a = ti_cross(F, axis);
        double *torque = s->momentum + pitch * (3 + i), *force = s->momentum + pitch * i;
        six sum = six_add(six_in(torque), times(a, dp));
        if (dF) {
            six pushed = six_add(six_in(force), six_scale(m->sign, dF->row[i]));
            six_out(&pushed, force);
            sum = six_add(sum, times(ti_cross(axis, m->r), dF));
        }
        if (moves) sum = six_add(sum, six_of(ti_scale(-1, a), ti_load3(under.m[i])));
        if (moves && s->xc_th) sum = six_add(sum, six_of(nothing, ti_scale(-1, ti_tmul(s->xc_th, a))));
        six_out(&sum, torque);
    }
}

/* How the tangents turn with the normal: the rows' part, and dF = (lambda_0 D1 + lambda_1 D2 + lambda_2) dn. */
TI_INLINE void normal_jac(ti_vec normal, ti_vec u, const double *lambda, const eighteen *dn, six *c_dot, eighteen *dF) {
    ti_mat D1, D2;
    ti_tangents_jac(normal, &D1, &D2);
    c_dot[0] = six_add(c_dot[0], times(ti_tmul(&D1, u), dn));
    c_dot[1] = six_add(c_dot[1], times(ti_tmul(&D2, u), dn));
    c_dot[2] = six_add(c_dot[2], times(u, dn));
    for (int i = 0; i < 3; i++) {
        ti_vec a = ti_axpy(ti_scale(lambda[0], ti_load3(D1.m[i])), lambda[1], ti_load3(D2.m[i]));
        dF->row[i] = six_add(six_scale(lambda[2], dn->row[i]), times(a, dn));
    }
}

TI_CLONES static void pose_jac(const ti_con *c, const ti_side *sides, int moving, const double *rate, bool turns,
                               const double *lambda, int pitch, double *c_dot) {
    ti_vec d[3] = {c->t1, c->t2, c->touch.normal}, u = {0, 0, 0}, w = {0, 0, 0};
    ti_vec F = ti_axpy(ti_axpy(ti_scale(lambda[0], d[0]), lambda[1], d[1]), lambda[2], d[2]);
    arm arms[2];
    const eighteen dp = eighteen_in(rate), dn = eighteen_in(rate + 3 * TI_POSE);
    eighteen dF;
    six rows[3] = {six_in(c_dot), six_in(c_dot + pitch), six_in(c_dot + 2 * pitch)};
    for (int s = 0; s < 2; s++) {
        const ti_link *l = sides[s].link;
        if (!l) continue;
        arms[s] = (arm){ti_sub(c->touch.point, l->xc), ti_mul(&l->R, ti_load3(sides[s].v + 3)), s ? 1 : -1};
        u = ti_axpy(u, arms[s].sign, ti_add(ti_load3(sides[s].v), ti_cross(arms[s].w, arms[s].r)));
        w = ti_axpy(w, arms[s].sign, arms[s].w);
    }
    if (turns) normal_jac(d[2], u, lambda, &dn, rows, &dF);
    for (int j = 0; j < 3; j++) {
        six row = six_add(rows[j], times(ti_cross(d[j], w), &dp));
        row = row_moves(&sides[moving], &arms[moving], d[j], row);
        six_out(&row, c_dot + pitch * j);
    }
    for (int s = 0; s < 2; s++)
        if (sides[s].link) momentum_jac(&sides[s], &arms[s], s == moving, F, turns ? &dF : NULL, &dp, pitch);
}

void ti_contact_pose_jac(const ti_con *c, const ti_side *sides, int moving, const double *rate, bool turns,
                         const double *lambda, int pitch, double *c_dot) {
    pose_jac(c, sides, moving, rate, turns, lambda, pitch, c_dot);
}
