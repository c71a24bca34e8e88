/* frame.h -- one step laid open: contacts, islands, the solved impulses; what a tape keeps and the reverse reads. */
#ifndef TI_FRAME_H
#define TI_FRAME_H
#include "base/base.h"
#include "collide/broad.h"
#include "contact/problem/problem.h"
#include "contact/solver/staggered.h"
#include "dynamics/motion.h"
#include "dynamics/tree_jac.h"
#include "forward/touching.h"

enum { TI_SOLVED = TI_CONTACT_POINTS }; /* index of the extrapolated solution beside its points */

/* The contact problems that a step poses for an island, in their order, all over the same rows J and inertias M.
 * docs/math.md, Impacts and Recovery. Without impacts and overlap the first is the only one. */
typedef enum ti_phase {
    TI_HOLD,    /* the step without its impacts: where they happen, and how fast */
    TI_IMPACT,  /* compression, or Newton's law whole */
    TI_REBOUND, /* what Poisson's law gives back */
    TI_AFTER,   /* the forces of the step, on bodies that have had their impacts */
    TI_TIMING,  /* a displacement: impacts at their own times rather than at the mean of those they meet */
    TI_RECOVER, /* a displacement: overlap taken back */
    TI_PHASES
} ti_phase;
/* Whether the law of contacts holds in it, as the options and materials have it. */
static inline bool ti_phase_by_law(ti_phase phase) {
    return phase < TI_REBOUND || phase == TI_AFTER;
}

/* Whether its rows are those of where impacts happen: until then bodies move as though there were none. */
static inline bool ti_phase_is_hit(ti_phase phase) {
    return phase == TI_IMPACT || phase == TI_REBOUND || phase == TI_AFTER;
}

/* How a phase of an island was solved; npoint = 0: it was not posed. */
typedef struct ti_phase_points {
    int npoint;
    int alone; /* ti_contact_solution.alone */
    double weight[TI_CONTACT_POINTS], compliance[TI_CONTACT_POINTS];
} ti_phase_points;

/* Bodies that push each other: consecutive contacts and blocks. */
typedef struct ti_island {
    int con0, ncon, blk0, nblk;
    int v0, nv; /* velocities of its blocks in the frame */
    int nhold;  /* contacts that do not bounce; they come first */
    ti_phase_points phase[TI_PHASES];
    bool prompt;            /* the motion before its impacts is taken to be uniform */
    bool bare;              /* overlaps, and what holds, ask nothing of the velocity: what they asked had no solution */
    tribo_impact impact;    /* the law that its impacts were solved by */
    double share;           /* of the rebound, at most 1: what energy allows */
    bool jammed;            /* nothing comes back, as it would bring energy whatever the share */
    double pace[TI_PHASES]; /* of the displacements, at most 1: pace.c */
    /* Of the step without impacts: where its solver starts, and where it ended. */
    double near;
    int off_path;
    bool resumed; /* its contacts were solved before in this step, in other islands */
    bool gone;    /* a contact was called to it: aside.c */
    bool comes;   /* of what does not bounce by its material, some comes to land: hit.c */
} ti_island;

static inline bool ti_island_is_hit(const ti_island *is) {
    return is->phase[TI_IMPACT].npoint > 0;
}

/* The solutions of a phase, island after island. */
typedef struct ti_phase_data {
    double *lambda[TI_CONTACT_POINTS + 1]; /* (3 ncon) */
    double *v[TI_CONTACT_POINTS + 1];      /* (nv) */
    unsigned char *mode;                   /* (ncon) tribo_mode, and what laws add */
} ti_phase_data;

/* Arrays of one step, in the workspace or on a tape. */
typedef struct ti_frame {
    int ncon, nisland, nblk, nv;
    unsigned phases;   /* bit k: phase k has its arrays; bit TI_PHASES + k: those of a third point too */
    double *x, *u;     /* (nx), (nu): the step's inputs */
    double *known;     /* on a tape: what the step found of its motion before contact */
    ti_con *con;       /* (ncon), island after island */
    ti_island *island; /* (nisland) */
    int *blk_tree;     /* (nblk) tree of a block, island after island */
    ti_phase_data phase[TI_PHASES];
    ti_hit *hit;         /* (ncon) of islands with an impact; NULL where no phase is one */
    double *lambda, *v;  /* (3 ncon), (nv): impulses of the phases together, ti_frame_con(); the next velocity */
    unsigned char *mode; /* (ncon) what a contact does in the end */
    double *rounds;      /* (TI_REBOUND,options.rounds,3 ncon) impulses after each, of the phases before the rebound */
    bool by_answer;      /* derivatives of velocities alone are asked for: ti_frame_alone() */
} ti_frame;
enum { TI_ALL_PHASES = (1 << 2 * TI_PHASES) - 1 };
/* Whether there are no phases but those of `some`, of however many points. */
static inline bool ti_phases_within(unsigned phases, unsigned some) {
    return !(phases & ((1u << TI_PHASES) - 1) & ~some);
}
/* Whether the first phase is all there is. */
static inline bool ti_holds_only(unsigned phases) {
    return ti_phases_within(phases, 1u << TI_HOLD);
}

/* Lay out (or measure) a frame of these sizes. */
void ti_frame_layout(ti_arena *arena, ti_frame *f, const tribo_model *m, int rounds, unsigned phases, int ncon,
                     int nisland, int nblk, int nv);

/* A block of an island whose contacts are taken off, leaf by leaf. */
typedef struct ti_leaf {
    uint64_t count, sum, squares; /* of its contacts, and of the blocks on their other sides */
    double heaviest;              /* kg, of it and all that hangs on it */
    int on;                       /* what it hangs on by all its contacts; -1 = not one block */
} ti_leaf;

struct tribo_ws {
    tribo_allocator alloc;
    size_t bytes;
    const tribo_model *model;
    tribo_options options;
    tribo_step_info info;
    ti_contact_ws *contact;
    ti_staggered_ws *staggered; /* NULL unless options.rounds > 0 */

    ti_motion motion;
    ti_link *link;   /* (nbody) the motion's */
    ti_shape *shape; /* (ngeom) */
    double *reach;   /* (ngeom) bounding radius; then how far a geom can move in a step */
    double *speed;
    ti_broad broad; /* only for models that do not list their pairs */
    ti_vec *low, *high;
    ti_frame frame;

    /* The contact problem of every island, in the frame's order; see ti_contact_problem. */
    int *width, *voff, *moff, *blk_of, *blk_at, *blk_a, *blk_b, *joff; /* blk_of, blk_at: of a tree, in its island and
                                                                          in the frame */
    int *at_v;       /* (nblk) of a block, its first velocity in the frame */
    int *before;     /* (nv) of models with joints: ti_contact_problem */
    size_t *at_M;    /* (nblk) its inertia in M */
    double *heft;    /* (nblk) its mass, kg */
    ti_leaf *leaf;   /* (blocks of an island + 1) of ti_step_lighten() */
    double *light;   /* (ncon) its; 0 of the first contact of an island: it has none */
    int con_entries; /* of J, for one contact: three rows on two of the widest trees */
    int directions;  /* forward tangents carried at once */
    double *M, *J, *vfree, *vnow, *ref, *mu;
    double *J_hit;       /* as J: of impact and rebound, at the places that bodies have then */
    double *mu_hit;      /* mu in an impact, which dry friction of joints has no part in */
    double *loops;       /* (loop rows,loop rows) of models with loops, their products */
    double *R;           /* (3 ncon) compliance of materials, where the model has any */
    unsigned char *what; /* ti_constraint_kind */
    ti_support *support; /* (2 ncon) of models with joints, and */
    int *column;         /* (ncon,2,widest) what they list */
    /* Of phases after the first: references of impacts and of recovery, what a rebound is given and the velocity that
     * gives, the free velocity after the impacts, zeros; the mean time of the impacts that reach a block. */
    double *ref_hit, *ref_time, *ref_apart, *give, *v_given, *v_after, *zero, *time;
    double *weight;           /* (nbody) of those times */
    ti_con *sorted;           /* (ncon_max) */
    int *started;             /* (ncon_max) in pair order: which of the last step's contacts it was, or -1 */
    const double *covariance; /* (ndx,ndx) of the state, the caller's; NULL = options.law.noise everywhere */
    double *noise;            /* (2 ncon_max) of the contacts, where there is one */

    ti_con *found;      /* (ncon_max) in pair order */
    int naside;         /* of them, how many are in no island */
    bool together;      /* none ever is */
    int nfound, ntouch; /* ntouch: contacts, which come first */
    int nwanted;        /* what there should be room for, at least */
    int *slot, *root;   /* island sorting: (nbody), (nbody + 1) */

    int nwarm; /* the last step's contacts, in pair order */
    struct ti_warm *warm;
    struct ti_warm *again;    /* (ncon_max) by number: of islands of this step that were dissolved; rank -1 = none */
    struct ti_solved *solved; /* (ntree) of every island */
    tribo_contact *view;
    double *V;          /* (widest) of one tree */
    double *kick;       /* the same */
    double *D, *D0;     /* (nv) displacements; without recovery */
    double *xnext;      /* (nx) */
    ti_sharpness sharp; /* of the contact problems: by whether the step goes to a tape */
    double *p;          /* (np) that were last found to be physical */
    bool p_known;       /* there are such */

    struct ti_scratch *scratch; /* of the reverse and the tangents; laid out by the same allocation */
};

struct ti_warm {
    int64_t rank; /* as in ti_con */
    int64_t feature;
    unsigned char mode;
    double lambda[3]; /* of the first phase */
    double near;      /* and how that was solved, ti_contact_options */
    int off_path;
};

/* How an island was solved. */
struct ti_solved {
    tribo_contact_info info;
    tribo_status status;
    int nshared; /* as in tribo_step_info */
};

enum { TI_DIRECTIONS = 24 }; /* forward tangents carried at once, at most */

/* Room for derivatives. The tangents' arrays hold `directions` rows. */
typedef struct ti_scratch {
    ti_motion_bar motion_bar;
    ti_link_diff *diff;                          /* (nbody) the motion_bar's */
    double *D_bar, *V_bar;                       /* (nv) of the model */
    double *geom_bar;                            /* (ngeom,TI_SHAPE_COLS) */
    double *frame_bar, *J_bar, *J_hit_bar;       /* (ncon,TI_CON_FRAME), as J: beside the phases' products */
    double *ref_bar, *gap_bar, *mu_bar;          /* (ncon) of the phases' normal references, gaps, friction */
    double *e_bar, *beta_bar, *slop_bar, *R_bar; /* (ncon) of the material */
    double *held_bar;                            /* (3 ncon) of the references of what holds */
    double *M_bar;                               /* as M: of laws that depend on G */
    double *y[TI_PHASES][TI_CONTACT_POINTS];     /* (nv) */
    double *c_bar[TI_PHASES][TI_CONTACT_POINTS]; /* (3 ncon) */
    double *hold_bar, *hit_bar, *rebound_bar;    /* (nv) of the phases' velocities */
    double *now_bar;                             /* (nv) of the velocities that bodies come with */
    double *l_bar, *give_bar, *tau_bar;          /* (3 ncon), (ncon), (ncon) */
    double *asked_bar;                           /* (3 ncon) of the impulses together, the caller's */
    double *v_work, *l_work, *mu_work;           /* (nv), (3 ncon), (ncon) */
    double *bar, *p_sum;                         /* (ndx), (np): of a sweep */
    double *unit;                                /* (ndx) what entries of a tangent are measured in */
    double unit_speed;                           /* and velocities of points */
    double *x_row, *u_row, *p_row;               /* (ndx), (nu), (np): of one of its records */
    ti_link_diff *diff_dot;                      /* (nbody) */
    double *jac;                                 /* (ncon,7,18) */
    double *r_dot[TI_CONTACT_POINTS], *c_dot[TI_CONTACT_POINTS], *mu_dot; /* (nv), (3 ncon), (ncon) */
    double *v_dot, *lambda_dot;                                           /* (nv), (3 ncon) */
    double *v_sum[TI_PHASES], *lambda_sum[TI_PHASES];                     /* the same, of the points together */
    double *next_dot, *D_dot;                        /* (nv) of the next velocity and of the displacement */
    double *now_dot;                                 /* (nv) of the velocities that bodies come with */
    double *ref_dot, *tau_dot, *late_dot, *give_dot; /* (ncon), late_dot (3 ncon) */
    double *after_dot;                               /* (ncon) of what is asked after impacts */
    ti_link_jac *link_jac;                           /* (nbody) */
    ti_tree_jac tree_jac;                            /* of models with joints */
    double *rate;                                    /* (ncon,2,7,6) */
    unsigned char *turns;                            /* (ncon,2) */
    double linear;                                   /* worst linear residual of the last reverse or tangents */
    double *B;    /* (ndx,nu), of models with joints, for A alone; NULL in large ones */
    double *seed; /* (ndx + nu + np) */
} ti_scratch;

/* Whether a step can be made of these: TRIBO_E_ARG (p is not physical, a quaternion without direction),
 * TRIBO_E_NONFINITE. */
tribo_status ti_step_admit(tribo_ws *ws, const double *p, const double *x, const double *u);
/* p is taken by the next step as it is: made from what can be, of an inertia that is positive with damping alone. */
void ti_step_trust(tribo_ws *ws, const double *p);
/* Links with their free velocities: the part of a step before contact. @param known what
 * ti_recall_keep() kept of it; NULL = nothing @return TRIBO_OK; TRIBO_E_FAST; TRIBO_E_SINGULAR (an inertia). */
tribo_status ti_step_kinematics(tribo_ws *ws, const double *p, const double *x, const double *u, const double *known);
/* Then where geoms are, of which those that may touch ask. */
void ti_step_shapes(tribo_ws *ws, const double *p);
void ti_step_pair_shapes(tribo_ws *ws, const double *p, const ti_pair *pair);
/* Fill the problem arrays of ws for the frame's contacts. Of island `fresh` and those after it also set uf, an, tau and
 * bounce of each contact, which a tape has already. */
void ti_step_pose(tribo_ws *ws, const ti_frame *f, const double *p, int fresh);
/* The rows, references and coefficients of an island's contacts once more, after they were sorted anew. */
/* ws->light of an island: what is redundant in the contacts by which something hangs carries no more than that does,
 * and R of the heaviest body is so small there that it is lost to rounding. */
void ti_step_lighten(tribo_ws *ws, const ti_island *is);
void ti_step_pose_island(tribo_ws *ws, const ti_frame *f, int k, const double *p);
/* A problem of island k, as views of ws. Phases after the first need the solutions of those before. */
ti_contact_problem ti_step_problem(const tribo_ws *ws, const ti_frame *f, int k, ti_phase phase);
/* The solution of a phase of island k, as views of the frame. */
ti_contact_solution ti_frame_solution(const ti_frame *f, int k, ti_phase phase);
/* Whether the answer stands in for the several points of a phase of island k. */
static inline bool ti_frame_alone(const ti_frame *f, int k, ti_phase phase) {
    const ti_phase_points *points = &f->island[k].phase[phase];
    return f->by_answer && points->alone && points->npoint > 1;
}
/* How many points derivatives are of. */
static inline int ti_frame_points(const ti_frame *f, int k, ti_phase phase) {
    return ti_frame_alone(f, k, phase) ? 1 : f->island[k].phase[phase].npoint;
}
/* Where ti_phase_data has point q of ti_frame_solution(). */
static inline int ti_frame_point(const ti_frame *f, int k, ti_phase phase, int q) {
    return ti_frame_alone(f, k, phase) ? TI_SOLVED : q;
}
/* Whether an impact acts in contact i of an island: it hit, or was hit while it stayed. */
bool ti_frame_is_hit(const ti_frame *f, const ti_island *is, int i);
/* Contact i at its impact. */
ti_con ti_hit_con(const ti_frame *f, int i);
/* Contact i of an island with the axes that its impulses are along. */
static inline ti_con ti_frame_con(const ti_frame *f, const ti_island *is, int i) {
    return ti_island_is_hit(is) ? ti_hit_con(f, i) : f->con[i];
}
/* Contacts of the first nisland islands as callers see them, in the order of their pairs. */
void ti_frame_view(const ti_frame *f, int nisland, tribo_contact *view);
/* What the gap of a contact is compared with. */
ti_grain ti_frame_grain(const tribo_ws *ws, const ti_con *c);

/* ---- yielding.c: what gives way ---- */

/* By how much contact i gives way. */
void ti_pose_compliance(tribo_ws *ws, const ti_frame *f, int i, const double *p);
/* What the gap of contact i of island k asks of its velocity, with its derivative. Of one whose compliance is posed. */
ti_reference ti_frame_reference(const tribo_ws *ws, const ti_frame *f, int k, int i);
/* What it asks of that which an impact leaves, of one that holds meanwhile: the load has no part in impacts. */
ti_reference ti_impact_reference(const tribo_ws *ws, const ti_frame *f, int k, int i);
/* Contacts of a solved island that are deeper than their load presses them hold as hard ones do, and, where `rises`,
 * others that did no longer. @return how many change: then it is to be solved again. */
int ti_island_sink(tribo_ws *ws, ti_frame *f, int k, const double *p, bool rises);
/* How far the nearest is from that, or from none, dimensionless. */
double ti_island_sunk_off(const tribo_ws *ws, const ti_frame *f, const ti_island *is, const double *p);
/* How deep an impulse of 1 N s in the step without impacts would press contact i, which is sunk, m. */
double ti_frame_pressed(const tribo_ws *ws, const ti_frame *f, int i, const double *p);
/* Whether that has a part in the recovery of a frame. */
bool ti_frame_presses(const ti_frame *f);

/* J (3,width of the tree) += rows R (3,6) of a link. */
void ti_link_rows(tribo_ws *ws, int body, const double *R, double *J);
/* Rounding in the rows of contact i of trees becomes 0: docs/math.md eq. (491). */
void ti_frame_rows_settle(const tribo_ws *ws, const ti_frame *f, int i);

/* ---- closure.c: what holds ---- */

/* Rows of one side, added to J (3,width). */
void ti_closure_rows(tribo_ws *ws, const ti_con *c, int side, int width, double *J);
/* The velocity (3) that takes back a small error in one step, and none of a large one: docs/math.md eq. (475). */
void ti_closure_reference(const tribo_ws *ws, const ti_con *c, double *ref);
/* The share of the error that it takes back. */
double ti_closure_drift(const tribo_ws *ws, const ti_con *c);
/* The displacement (3) that takes back the rest, or all of it; 0 = there is none. */
void ti_closure_apart(const tribo_ws *ws, const ti_con *c, bool all, double *ref);
/* Rows and reference of what holds places or axes, without what is but rounding: of what joints hold already, such a
 * row would hold the rest of the motion. width: of the blocks of J, 0 = there is none. */
void ti_closure_settle(const tribo_ws *ws, const ti_con *c, const int width[2], double *J, double *ref);
/* What it is apart by is known to. */
double ti_closure_rounding(const tribo_ws *ws, const ti_con *c);
/* Of a coupling: the column of its tree that a side has. */
int ti_closure_column(const tribo_ws *ws, const ti_con *c, int side);
/* Reverse of a sum of n products l' J v on one side; overwrites them. */
void ti_closure_side_vjp(tribo_ws *ws, const ti_con *c, int side, int n, ti_row_product *met);
void ti_closure_reference_vjp(tribo_ws *ws, const ti_con *c, const double *ref_bar);
void ti_closure_apart_vjp(tribo_ws *ws, const ti_con *c, bool all, const double *ref_bar);

/* ---- loops.c: what several of them hold together ---- */

enum { TI_LOOP_ROWS = 96 }; /* of an island that are compared with each other, at most */
/* How many there may be in an island, at most that; 0 = one loop alone. */
int ti_loops_most(const tribo_model *m);
/* Rows of island k that hold what others before them hold become nothing: docs/math.md eq. (490). */
void ti_loops_settle(tribo_ws *ws, const ti_frame *f, int k);

/* J of contact i on side 0 (a) or 1 (b), (3,width of its tree); NULL for the world, and for side 1 where both
 * bodies are of one tree. */
const double *ti_frame_rows(const tribo_ws *ws, const ti_frame *f, int i, int side);
/* The same, where both bodies are of one tree that of their sum. */
const double *ti_frame_side(const tribo_ws *ws, const ti_frame *f, int i, int side);
/* The derivative of a contact of two shapes, its feature held: of where its rows are, its normal and its gap. */
void ti_con_jac(const ti_con *c, const ti_shape *a, const ti_shape *b, ti_touch_jac jac);
/* The contact that friction against turning i stands behind; of others i. */
static inline int ti_con_host(const ti_frame *f, int i) {
    while (ti_con_spins(&f->con[i])) i--;
    return i;
}
/* Where the rows of contact i begin in J. */
static inline double *ti_frame_jacobian(const tribo_ws *ws, int i) {
    return ws->J + (size_t)ws->con_entries * (size_t)i;
}
/* Whether both bodies of a contact belong to one tree: their rows are summed, and are those of side 0. */
static inline bool ti_con_within(const tribo_ws *ws, const ti_con *c) {
    return ws->model->chains && c->a >= 0 && c->b >= 0 && ws->model->body[c->a].tree == ws->model->body[c->b].tree;
}
/* The block of a body in the frame. */
static inline int ti_blk_of_body(const tribo_ws *ws, int body) {
    return ws->blk_at[ws->model->body[body].tree];
}
/* Row r of contact i times v, of every block of the frame. */
double ti_row_velocity(const tribo_ws *ws, const ti_frame *f, int i, int r, const double *v);
/* Rows 0 and 1, at once. */
void ti_slip_velocity(const tribo_ws *ws, const ti_frame *f, int i, const double *v, double *slip);
/* The part of side 0 (a) or 1 (b) in it. */
double ti_side_velocity(const tribo_ws *ws, const ti_frame *f, int i, int side, int r, const double *v);
/* Solved velocity of tree t: of the frame, or where nothing touches it the free one. Valid until the next call. */
const double *ti_solved_velocity(tribo_ws *ws, const ti_frame *f, int t);

/* ---- hit.c: where impacts are. Between the beginning of a step and its impacts bodies move as the step without them
 * moves them. Each contact that bounces is taken to its own time, those that hold bodies meanwhile to the first of the
 * island's. docs/math.md eq. (468). ---- */

/* Where the contacts of island k are hit, into f->hit: from their times, and the step without impacts. */
void ti_hit_find(const tribo_ws *ws, const ti_frame *f, int k);
/* Their rows, ws->J_hit. */
void ti_hit_pose(tribo_ws *ws, const ti_frame *f, int k);
/* When contact i is. */
static inline double ti_hit_time(const ti_frame *f, const ti_island *is, int i) {
    return f->con[is->con0 + f->hit[i].by].tau;
}
/* Whether a tree moves as a free body does: one by itself, or as others are welded to it; its joint without numbers. */
static inline bool ti_tree_is_free(const ti_tree *tree) {
    return tree->rooted && !tree->framed && tree->nv == TI_FREE_NV;
}
/* Both sides of it then; those of the world are not written. */
void ti_hit_sides(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, ti_moved *sides);
/* The two geoms there. */
void ti_hit_shapes(const tribo_ws *ws, const ti_con *c, const ti_moved *sides, ti_shape *shapes);
/* A vector that turns with the body. */
ti_vec ti_hit_turn(const ti_moved *m, ti_vec a);
/* Where the rows of contact i begin in J_hit; as ti_frame_rows(), ti_row_velocity(). */
static inline double *ti_hit_jacobian(const tribo_ws *ws, int i) {
    return ws->J_hit + (size_t)ws->con_entries * (size_t)i;
}
const double *ti_hit_rows(const tribo_ws *ws, const ti_frame *f, int i, int side);
double ti_hit_velocity(const tribo_ws *ws, const ti_frame *f, int i, int r, const double *v);
/* v += s M^-1 J_hit' of row r of contact i. */
void ti_hit_kick(const tribo_ws *ws, const ti_frame *f, int i, int r, double s, double *v);
/* Whether a phase of an island has contact i at the place of its impact. */
static inline bool ti_hit_moves(const ti_frame *f, const ti_island *is, ti_phase phase, int i) {
    return ti_phase_is_hit(phase) && ti_island_is_hit(is) && f->hit[i].moved;
}

/* Most products l' J v that one side of a contact meets. */
enum { TI_ROW_PRODUCTS = TI_PHASES * 2 * TI_CONTACT_POINTS + TI_CONTACT_POINTS + 3 };
/* The contacts of one body in a row, of which the first products are with the same velocities: the twists of those are
 * found once, and what all ask of them is summed. None yet: n = 0. */
typedef struct ti_side_run {
    int body, n;
    const double *v[TI_ROW_PRODUCTS];
    double twist[TI_ROW_PRODUCTS][TI_TWIST], twist_bar[TI_ROW_PRODUCTS][TI_TWIST];
} ti_side_run;
/* Reverse of a sum of n of them on one side, v of its tree: to what its body's place and the contact's frame do.
 * Overwrites the products. @param shared those that other contacts may have, too: the first */
void ti_side_vjp(tribo_ws *ws, ti_side_run *run, const ti_con *c, int side, int shared, int n, ti_row_product *products,
                 double *frame_bar);
/* Behind the last one. */
void ti_side_end(tribo_ws *ws, ti_side_run *run);

/* Where the rounds of a phase before the rebound are kept, (rounds,3 contacts of its problem). */
double *ti_frame_rounds(const ti_frame *f, int rounds, int k, ti_phase phase);

/* ---- warm.c ---- */

/* Which of the last step's contacts each contact found was. */
void ti_warm_match(tribo_ws *ws);
/* Start the contacts of an island that do not bounce from what they did then. */
void ti_island_start(tribo_ws *ws, ti_frame *f, ti_island *is);
/* What the contacts of an island did, by their numbers. */
void ti_warm_keep_island(const ti_frame *f, const ti_island *is, struct ti_warm *to);
/* For the next step. */
void ti_warm_keep(tribo_ws *ws, const ti_frame *f);

/* ---- phase.c, timing.c, impact.c, island.c, recover.c: the phases of one island ---- */

/* Solve an island but for its recovery, into the frame; info is of all its phases. again: it was solved before in this
 * step, with other friction. */
tribo_status ti_island_solve(tribo_ws *ws, ti_frame *f, int k, const double *p, bool again, tribo_contact_info *info);
/* One phase, posed, into the frame; info added to. */
tribo_status ti_phase_solve(tribo_ws *ws, ti_frame *f, int k, ti_phase phase, bool warm, tribo_contact_info *info);
/* What is to be remembered of a solution beside its arrays. */
void ti_phase_keep(ti_island *is, ti_phase phase, const ti_contact_solution *s);
/* Impact and rebound of the contacts that bounce, and what follows, after the first phase. TRIBO_SUBSTITUTED. */
tribo_status ti_island_impact(tribo_ws *ws, ti_frame *f, int k, const double *p, tribo_contact_info *info);
/* What impact and rebound are posed with, again: of a recorded island. */
void ti_impact_pose(tribo_ws *ws, const ti_frame *f, int k, const double *p);
/* What a rebound's share is the root of, share of it taken: the energy that impacts bring, J, and its slope. */
double ti_impact_work(const tribo_ws *ws, const ti_frame *f, int k, double share, double *slope);
/* The impact of contact i, from the motion that the first phase leaves. */
ti_impact ti_frame_impact(const tribo_ws *ws, const ti_con *c);
/* Whether the forces of the step part contact i, which does not bounce: then they do so in the impact, too. */
bool ti_impact_parted(const tribo_ws *ws, const ti_frame *f, int k, int i);
/* Acceleration of row r of contact i, which bounces, at its impact, in the motion without impacts. */
double ti_impact_acceleration(const tribo_ws *ws, const ti_frame *f, int k, int i, int r);
/* By how much velocity r of contact i at its impact differs from the one that its bodies come with. */
double ti_impact_late(const tribo_ws *ws, const ti_frame *f, int k, int i, int r);
/* The normal velocity, at most 0, that contact i, which bounces, has at its impact. */
double ti_impact_approach(const tribo_ws *ws, const ti_frame *f, int k, int i);
/* Whether a contact that stays is struck, faster than forces bring it together. */
bool ti_island_is_struck(const tribo_ws *ws, const ti_frame *f, const ti_island *is);
/* Whether contact c has an impact at its own time if it lands and stays: a free body's with the world. eq. (472). */
bool ti_con_may_land(const tribo_ws *ws, const ti_con *c);
/* The same of contact i, which comes with more than what the forces of a part of the step bring: what rests does not.
 */
bool ti_con_comes_to_land(const tribo_ws *ws, const ti_frame *f, int i);
/* uf, an, tau of the contacts that may bounce, from the motion that the first phase leaves. */
void ti_impact_motions(const tribo_ws *ws, ti_frame *f, int k);
/* Velocity that impact and a share of the rebound leave, entry j of the frame's blocks. */
double ti_impact_velocity(const ti_frame *f, const ti_island *is, double share, int j);
/* Impulse of impact and rebound together, row r of contact i. */
double ti_impact_impulse(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, int r);
/* How hard it pushes, by which times count; what is against turning does not. */
double ti_impact_push(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i);
/* Whether a contact pushes in the impact or after it. */
bool ti_impact_transmits(const ti_frame *f, const ti_island *is, int i);
/* ws->time: of the impacts that reach a body of the island, weighted by their impulses; 0 where none does. The groups
 * that they belong to are in ws->root, by block of the island, the sums of the weights in ws->weight. */
void ti_impact_times(tribo_ws *ws, const ti_frame *f, int k);
/* What the displacement of a body owes to impacts at other times than the mean. */
tribo_status ti_island_timing(tribo_ws *ws, ti_frame *f, int k);
/* What that is posed with, again: of a recorded island. */
void ti_timing_pose(tribo_ws *ws, const ti_frame *f, int k);
/* Whether the step brings energy to bodies that push one another: what overlaps ask for apart, and by times of their
 * own, where those are there. docs/math.md eq. (465). */
bool ti_impact_gains(tribo_ws *ws, const ti_frame *f, int k);
/* Over the whole impact, at contact i: by how much the normal velocity changes. */
double ti_impact_jump(const tribo_ws *ws, const ti_frame *f, int i);

/* After the displacements of all: take back overlap. */
tribo_status ti_island_recover(tribo_ws *ws, ti_frame *f, int k, const double *p);
/* What the recovery of a recorded island was posed with, again; adds it to the displacements. */
void ti_recover_pose(tribo_ws *ws, const ti_frame *f, int k, const double *p);
/* What contact i of island k asks of it. */
ti_overlap ti_frame_overlap(const tribo_ws *ws, const ti_frame *f, int k, int i, const double *p);

/* ---- pace.c: how far a displacement (TI_TIMING, TI_RECOVER), solved and posed, may move a body ---- */

typedef struct ti_pace {
    double most;   /* root mean square over the matter of the body that moves most */
    int blk;       /* that body's */
    double second; /* of the one that moves most but for that */
    double bound;
    bool asked; /* the bound is what contacts ask, not the speed of recovery */
} ti_pace;
ti_pace ti_pace_of(const tribo_ws *ws, const ti_frame *f, int k, ti_phase phase);
/* Derivative of the bound to the reference of row r of contact i. */
double ti_pace_ref(const tribo_ws *ws, const ti_pace *pace, ti_phase phase, int i, int r);
/* The share of the displacement that is made: 1, or bound / most, which is a kink where two bodies move most. */
double ti_pace_share(tribo_ws *ws, const ti_frame *f, int k, ti_phase phase);

/* Whether contacts push before they touch. */
bool ti_step_is_noisy(const tribo_ws *ws);
/* Noise of contact i from the covariance, ref_gap the derivative of its reference velocity to the gap. */
void ti_step_noise(tribo_ws *ws, const ti_con *c, int i, double ref_gap);
/* How far noise moves the surface of a body in a step, whose points are within `radius` of its origin. */
double ti_step_noise_reach(const tribo_ws *ws, int body, double radius);
/* Find contacts and sort them into islands: con, island, blk_tree of the frame. TRIBO_E_CAPACITY if too many. */
tribo_status ti_step_find(tribo_ws *ws, ti_frame *f, const double *p);
/* Islands of what is inside and in none yet: ws->blk_at of its trees is -1. */
void ti_step_islands(tribo_ws *ws, ti_frame *f);

/* ---- aside.c: contacts that nothing brings together ---- */

/* Whether they may be left out of islands: what pushes before it touches may not, and rounds are of all. */
static inline bool ti_aside_applies(const tribo_ws *ws) {
    return !ti_step_is_noisy(ws) && ws->options.rounds == 0 && !(ws->options.law.kappa > 0);
}
/* Those of ws->found. */
void ti_aside_choose(tribo_ws *ws);
/* What an impact of its body brings to the world within the step is left to the next one, which finds it hit: those go
 * aside that pushed in such an impact and were apart, docs/math.md eq. (476). @return whether any. */
bool ti_aside_leave(tribo_ws *ws, ti_frame *f);
/* Those that the velocities of the islands bring together, or their displacements, are called. @return whether any. */
bool ti_aside_call(tribo_ws *ws, const ti_frame *f, const double *p, bool displaced);
/* Islands that these reach go, and what their contacts did is kept; the others keep their solutions and come first, to
 * be posed again. @return how many these are. */
int ti_aside_dissolve(tribo_ws *ws, ti_frame *f);
/* Islands from `first` on are made of those that went, and of what was called. */
void ti_aside_resume(tribo_ws *ws, ti_frame *f, int first);

/* Displacements in the step, (nv): docs/math.md eq. (16). Without recovery, which is added by the
 * last phase. */
void ti_step_displacement(tribo_ws *ws, const ti_frame *f, double *D);
/* The velocities of a phase that are displacements, of island k, at their pace, added to D (nv). */
void ti_step_displace(const tribo_ws *ws, const ti_frame *f, int k, ti_phase phase, double *D);
/* Number j of what block b moves by in an island with impacts, whose times are known, without displacements of their
 * own: docs/math.md eq. (16). */
double ti_carried(const tribo_ws *ws, const ti_frame *f, int b, int j);
/* What TI_TIMING and TI_RECOVER move number `at` of the frame's velocities by. */
double ti_displaced(const ti_frame *f, const ti_island *is, int at);
/* Whether these move a body of an island with impacts by more than its speeds, the forces of the step and its overlaps
 * before it allow. */
bool ti_goes_too_far(tribo_ws *ws, const ti_frame *f, int k);
/* The measures of the step's islands, solved and posed, into ws->info: step_measures.c. */
tribo_status ti_step_measure(tribo_ws *ws, const ti_frame *f);
/* How far contacts of a solved island are from bouncing where they do not, and the other way round, added to info. */
void ti_island_brinks(const tribo_ws *ws, const ti_frame *f, const ti_island *is, const double *p,
                      tribo_contact_info *info);

/* Contacts of a solved island whose load places decide about, since friction holds the bodies in a ring, counted in
 * info: ring.c. */
tribo_status ti_island_ring(tribo_ws *ws, const ti_frame *f, int k, struct ti_solved *out);

/* Append the frame of a step that returned `status` to a tape; TRIBO_E_CAPACITY if it is full, TRIBO_E_ARG if it is
 * another workspace's or p is not the tape's. */
tribo_status ti_tape_append(tribo_tape *tape, const tribo_ws *ws, const ti_frame *f, const double *p,
                            tribo_status status);
/* Whether ws can differentiate what is on the tape: TRIBO_E_ARG (another model, step or law), TRIBO_E_CAPACITY (more
 * contacts than it has room for). */
tribo_status ti_tape_fits(const tribo_tape *tape, const tribo_ws *ws);
/* How far the derivatives of record k can be relied on: TRIBO_OK; TRIBO_NOT_CONVERGED; TRIBO_DEGENERATE where its
 * solution is one among many. */
tribo_status ti_tape_verdict(const tribo_tape *tape, int k);
/* The frame of record k, as views of the tape; p is the tape's. */
tribo_status ti_tape_frame(const tribo_tape *tape, const tribo_ws *ws, int k, ti_frame *f, const double **p);
/* Record k is read next: brought near, as a long tape is nowhere near. Nothing where there is no such record. */
void ti_tape_expect(const tribo_tape *tape, int k);

#endif
