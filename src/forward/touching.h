/* touching.h -- from poses to the rows of a contact problem: which geoms touch, Jacobian rows, reference velocities.
 *
 * A contact between links a and b (either may be the world) has three rows: t1, t2, n. On a link, the row of direction
 * d is s (d, R'(r x d)) with r the point seen from the centre of mass, s = -1 on a and +1 on b.
 */
#ifndef TI_TOUCHING_H
#define TI_TOUCHING_H
#include "collide/collide.h"
#include "dynamics/link.h"
#include "model/model.h"
#include <tribo/sim.h>

/* One constraint of a step: a contact, the limit of a joint or its dry friction, that of a tendon, what holds. Limits
 * and dry friction have one row, the third: `sign` times the numbers of ti_con_line(), of which `v` is the number in
 * the model's velocities, or of the tendon; of the limit of a ball `sign` times its three numbers along `way`. Of what
 * holds `v` is the number of its
 * equality: a coupling of joints has the third row, points that are connected, and axes that turn together, have three.
 * Friction against turning stands behind its contact, `v` being that one's id, and turns with it about the normal
 * (twist, the third row) or the tangents (roll, two rows), times the length of the pair.
 */
typedef enum ti_con_kind {
    TI_CON_CONTACT,
    TI_CON_LIMIT,
    TI_CON_TENDON,
    TI_CON_DRY,
    TI_CON_COUPLING,
    TI_CON_CONNECT,
    TI_CON_TURN,
    TI_CON_TWIST,
    TI_CON_ROLL
} ti_con_kind;
/* Whether a contact is in an island: as a rule; not, since nothing brings it together: aside.c; or since an answer did.
 */
typedef enum ti_con_place { TI_INSIDE, TI_ASIDE, TI_CALLED } ti_con_place;
typedef struct ti_con {
    int id, at;   /* its number in the order of their pairs: in the end among those in islands; among those found */
    int a, b;     /* bodies or TRIBO_WORLD; a joint's is b */
    int64_t rank; /* of its pair in that order: geoms, then joints, then what holds */
    ti_pair pair; /* of a contact */
    ti_con_kind kind;
    int v;
    double sign;    /* of a limit: 1 of the lower one, -1 of the upper */
    double way[3];  /* of a limit: see ti_limit_way() */
    ti_touch touch; /* of a limit: its gap */
    ti_vec t1, t2;
    bool sticky;         /* held to the static coefficient */
    bool bounce;         /* it has an impact inside the step: it hits and leaves, or lands */
    bool lands;          /* it hits and stays */
    bool mends;          /* what the times of impacts leave of overlap is taken back in the step: recover.c */
    unsigned char aside; /* ti_con_place */
    bool later;          /* put aside as something that the next step hits, in this one at least once */
    bool yields;         /* its material gives way, and no noise says how far: yielding.c */
    bool sunk;           /* or would, but it is deeper than its load presses it */
    bool tilted;         /* its gap is what it is, however small: find.c */
    bool within;         /* what overlaps as the step begins is hit there, not before: island.c */
    double tau;          /* time of impact after the step's start; 0 if it does not bounce */
    double uf, an;       /* normal velocity without the impact, and acceleration */
    double noise;        /* m, that the law's noise makes of its gap in a step; 0 = none */
} ti_con;

/* A contact at the time of an impact. */
typedef struct ti_hit {
    ti_touch touch;
    ti_vec t1, t2;
    int by;     /* whose time it is, counted from the first contact of the island */
    bool moved; /* to that time; else it is as in the beginning: of joints, and where its feature is gone by then */
} ti_hit;

enum { TI_POSE = 6 };

/* The displacement until a time: held times the velocity of the step without impacts, now times the one that bodies
 * come with; and by that time. */
typedef struct ti_flight {
    double held, now, held_time, now_time;
} ti_flight;

/* A link there. */
typedef struct ti_moved {
    ti_flight flight;
    double D[TI_POSE];
    ti_link from, link; /* from: as it begins, with what is welded to it, without the precession of a fast spin */
} ti_moved;

static inline bool ti_con_spins(const ti_con *c) {
    return c->kind >= TI_CON_TWIST;
}
/* Where its rows are, in gaps along the normal from half way between the surfaces: of two that move there; where one is
 * of the world on the other, which is where it will be closed, as it is that one alone that comes. */
static inline double ti_con_lean(const ti_con *c) {
    return c->kind != TI_CON_CONTACT && !ti_con_spins(c) ? 0 : c->a < 0 ? 0.5 : c->b < 0 ? -0.5 : 0;
}
/* A touch of its shapes as a contact: without the margin, and where its rows are. */
static inline ti_touch ti_con_of(const ti_con *c, ti_touch t) {
    t.gap -= c->pair.margin;
    t.point = ti_axpy(t.point, ti_con_lean(c) * t.gap, t.normal);
    return t;
}
/* The contact as its shapes see it, which know nothing of that. */
static inline ti_touch ti_con_touch(const ti_con *c) {
    ti_touch t = c->touch;
    t.point = ti_axpy(t.point, -ti_con_lean(c) * t.gap, t.normal);
    t.gap += c->pair.margin;
    return t;
}
/* The limit of a ball, which turns with it. */
static inline bool ti_con_turns(const tribo_model *m, const ti_con *c) {
    return c->kind == TI_CON_LIMIT && m->joint[m->dof[c->v].joint].kind == TI_JOINT_BALL;
}
/* Whether it is a gap that closes and opens. */
static inline bool ti_con_opens(const ti_con *c) {
    return c->kind <= TI_CON_TENDON;
}
/* How far it overlaps as the step begins, m. */
static inline double ti_con_depth(const ti_con *c) {
    return ti_con_opens(c) ? ti_max(-c->touch.gap, 0) : 0;
}
static inline bool ti_con_holds(const ti_con *c) {
    return c->kind >= TI_CON_COUPLING && c->kind <= TI_CON_TURN;
}
/* Friction against turning bounces with the contact that it stands behind. */
static inline void ti_con_follow(ti_con *c) {
    c->bounce = c[-1].bounce, c->lands = c[-1].lands, c->tau = c[-1].tau;
}
/* The numbers of v that a row of joints is on, and what each counts; n = 0 of all else, and of the limit of a ball. */
typedef struct ti_line {
    int n, v;            /* v: of one number, which counts with 1 */
    const ti_pull *pull; /* (n); NULL = it is that one */
} ti_line;
static inline ti_line ti_con_line(const tribo_model *m, const ti_con *c) {
    if (c->kind == TI_CON_TENDON) return (ti_line){m->tendon[c->v].npull, -1, m->pull + m->tendon[c->v].pull0};
    bool joint = (c->kind == TI_CON_LIMIT && !ti_con_turns(m, c)) || c->kind == TI_CON_DRY;
    return (ti_line){joint, c->v, NULL};
}
static inline int ti_line_v(const ti_line *l, int k) {
    return l->pull ? l->pull[k].v : l->v;
}
static inline double ti_line_coef(const ti_line *l, int k) {
    return l->pull ? l->pull[k].coef : 1;
}
/* Whether it is a row of joints, or of a ball. */
static inline bool ti_con_is_row(const ti_con *c) {
    return c->kind >= TI_CON_LIMIT && c->kind <= TI_CON_DRY;
}
/* Where the end of its range that a limit is at is in p. */
static inline int ti_con_end(const tribo_model *m, const ti_con *c) {
    bool low = c->sign > 0;
    if (c->kind == TI_CON_TENDON) return m->tendon[c->v].p + (low ? TI_P_SHORTEST : TI_P_LONGEST);
    return m->joint[m->dof[c->v].joint].p + (low ? TI_P_LOWER : TI_P_UPPER);
}
/* Its number of a material. */
static inline int ti_con_spin_number(const ti_con *c) {
    return c->kind == TI_CON_TWIST ? TI_M_TORSION : TI_M_ROLLING;
}
/* What the numbers of a gap come from: see ti_material(). */
static inline const int *ti_con_material(const tribo_model *m, const ti_con *c) {
    if (c->kind == TI_CON_CONTACT) return c->pair.material;
    return c->kind == TI_CON_TENDON ? m->tendon[c->v].material : m->joint[m->dof[c->v].joint].material;
}
/* Its number TI_M_...; 0 of what is no gap. */
static inline double ti_con_number(const tribo_model *m, const ti_con *c, const double *p, int k) {
    return !ti_con_opens(c) ? 0 : ti_material(p, ti_con_material(m, c), k);
}

/* World poses of geom g, and of all geoms of the model. */
void ti_shape_place(const tribo_model *m, const double *p, const ti_link *links, int g, ti_shape *s);
void ti_shapes(const tribo_model *m, const double *p, const ti_link *links, ti_shape *shapes);
/* Reverse of one, on a link (NULL = of the world): bar is displacement (3), rotation vector (3), size (3), edge radius,
 * world. Adds to the link's d, and to p_bar, unless that is NULL. */
void ti_shape_vjp(const tribo_model *m, const double *p, const ti_link *link, int geom, const double *bar,
                  ti_link_diff *d, double *p_bar);
/* Forward; d of the link, out (TI_SHAPE_COLS). @return false if it is all zero. */
bool ti_shape_jvp(const tribo_model *m, const double *p, const ti_link *link, int geom, const ti_link_diff *d,
                  const double *p_dot, double *out);

enum { TI_CON_FRAME = 4 * 3 }; /* of a contact: point, t1, t2, normal */

/* Rows t1, t2, n of a contact, or of its friction against turning, on body `link` (3,6); sign -1 on a, +1 on b. */
void ti_rows(const ti_con *c, const ti_link *link, double sign, double *J);
/* Reverse of a sum of n products l' J v on one side: to the link's d, and to point (3), t1 (3), t2 (3), n (3) in
 * frame_bar (TI_CON_FRAME), added. */
typedef struct ti_row_product {
    const double *l, *v; /* (3), (6) */
} ti_row_product;
void ti_rows_vjp(const ti_con *c, const ti_link *link, double sign, int n, const ti_row_product *product,
                 ti_link_diff *d, double *frame_bar);
void ti_rows_jvp(const ti_con *c, const ti_link *link, double sign, const ti_link_diff *d, const double *frame_dot,
                 double *J_dot);

/* What a gap is compared with: what rounding leaves of the places it is computed from, and what the velocity may take
 * back of an overlap. */
typedef struct ti_grain {
    double rounding, skin; /* m */
    double give;           /* m, of an overlap, that the velocity takes back under noise; else the skin */
    double noise;          /* m, that the law's noise makes of a gap in a step; 0 = none */
    bool logistic;         /* that noise */
    bool tilted;           /* taken at its value all the same: see ti_con */
} ti_grain;
/* length: of the smaller of the two shapes; redundant: a pair may have more contacts than one; fastest: the largest
 * step back. */
ti_grain ti_grain_of(const ti_touch *touch, double length, bool redundant, double fastest);
/* What a gap asks of the velocity while it stays in contact or is not reached. */
typedef struct ti_reference {
    double ref, ref_gap; /* m/s; its derivative */
} ti_reference;
ti_reference ti_staying(double gap, const ti_grain *grain, double dt);
/* Of a contact that gives way, which is a spring; sunk: deeper than that, it comes out by a skin a step at most. */
ti_reference ti_yielding(double gap, const ti_grain *grain, double dt, bool sunk);

/* What is asked of a displacement that comes on top of the step's, where the step ends with this gap: not to close
 * it; or to take back an overlap beyond slop, by beta. */
typedef struct ti_overlap {
    double ref, ref_gap, ref_beta, ref_slop; /* m */
    double ref_before;                       /* by the gap before the step, besides */
} ti_overlap;
ti_overlap ti_overlap_of(double gap, double beta, double slop);

/* An impact inside the step: docs/math.md eq. (12)-(14). */
typedef struct ti_impact {
    bool reached;
    double tau, speed;            /* when; how fast */
    double span;                  /* from the middle of the step before, which velocities are of, to it */
    double tau_gap, tau_u, tau_a; /* partial derivatives */
} ti_impact;
/* u: normal velocity in the middle of the step without the impact, a: acceleration; farthest: of overlap taken back in
 * a step. */
ti_impact ti_impact_of(double gap, double u, double a, double dt, double farthest);
/* By how much it leaves in the step, m/s: it stays where this is not above 0. eq. (14). */
double ti_impact_leaves(const ti_impact *hit, double a, double e, double dt);
/* By how much it is faster than what rests under its forces, and slower than what moves bodies of that length by a part
 * of it in a step, m/s: what stays lands at its time where that is above 0. eq. (472). */
double ti_impact_lands(const ti_impact *hit, double a, double length, double dt);
/* What contact c does in this step, if it comes to hit. may_land: an impact that stays has its time, too. */
void ti_con_meet(ti_con *c, const ti_impact *hit, double e, bool may_land, double dt);

/* Jacobians over the pose of one body of a contact: six directions, its position (world) and rotation (body), as
 * columns.
 *
 * rate (7,6): point, normal, gap, from the contact's derivative over shapes, jac. The body on `side` (0 = a) is not the
 * world. @return false if the normal does not turn. */
bool ti_contact_rate(const tribo_model *m, const double *p, const ti_link *links, const ti_con *c, int side,
                     const double *jac, double *rate);
/* One side of a contact at a solution: what its rows meet. */
typedef struct ti_side {
    const ti_link *link; /* NULL = the world */
    const ti_mat *xc_th; /* as in ti_link_jac; NULL = 0 */
    const double *v;     /* (6) */
    double *momentum;    /* (6,pitch) */
} ti_side;
/* Derivative of J v, added to c_dot (3,pitch), and of J' lambda, added to the momentum of both sides; turns: whether
 * the normal does. */
void ti_contact_pose_jac(const ti_con *c, const ti_side *sides, int moving, const double *rate, bool turns,
                         const double *lambda, int pitch, double *c_dot);

#endif
