/* fit.h -- what the rooms of identification share: maps, tracks, workers, sums. */
#ifndef TI_FIT_H
#define TI_FIT_H
#include "base/base.h"
#include "model/state.h"
#include <math.h>
#include <pthread.h>
#include <tribo/dynamics.h>
#include <tribo/sysid.h>

/* ---- channels.c: what is measured, joint by joint ---- */

/* One kind of measurement of one joint; a free body's joint is one of them. */
typedef struct ti_block {
    int joint, kind; /* in model->joint */
    int at, n;       /* its numbers in a tangent: three, of an axis one */
    int quat;        /* of a rotation by a quaternion: where that is in q; -1 = a difference of numbers */
    int group;       /* what shares a noise, a weight, a threshold: free bodies by kind; of a joint every block */
} ti_block;

/* How many blocks and groups a model has; with blocks and entries, what they are. */
int ti_blocks(const tribo_model *m, ti_block *block, int *entry, int *groups);
/* Where in a state a block's numbers begin; of a quaternion where that does. */
int ti_block_source(const tribo_sysid *s, const ti_block *b);

/* ---- maps.c: theta <-> p ---- */

typedef enum ti_map {
    TI_MAP_LOG,     /* p = start exp(theta) */
    TI_MAP_LINEAR,  /* p = start + scale theta */
    TI_MAP_INERTIA, /* six numbers together: S = L0 K K' L0', K lower triangular with exp on its diagonal */
    TI_MAP_MEMBER,  /* one of the five others of an inertia */
    TI_MAP_MOMENT,  /* p = (start + scale theta) m0 / m, m the mass of the same link, which is free too */
    TI_MAP_GAIN,    /* of measured numbers, as linear as the others; in no p */
    TI_MAP_BIAS
} ti_map;

typedef struct ti_unknown {
    ti_map map;
    int index;          /* into p; -1 = of measured numbers: */
    int entry, numbers; /* of a tangent, from one on so many */
    double start, scale;
    double lower, upper;   /* of p */
    double tlower, tupper; /* of theta */
    int leader;      /* of an inertia: the theta of its xx, the six are consecutive there; of a moment: its mass */
    double L0[3][3]; /* of an inertia's leader */
} ti_unknown;

/* Choose maps, scales and bounds. @return TRIBO_OK; TRIBO_E_ARG (index, bounds, start outside of them). */
tribo_status ti_maps_init(tribo_sysid *s, const tribo_sysid_def *def, tribo_diag *diag);
void ti_maps_clamp(const tribo_sysid *s, double *theta);
/* s->p at theta, and the rows of all tracks as they are there. */
void ti_at(tribo_sysid *s, const double *theta);

/* ---- tracks.c: recordings made ready ---- */

typedef struct ti_segment {
    int row, n; /* from row to row + n; n >= 1 */
} ti_segment;

enum { TI_STANDS = 64, TI_STAND_ROWS = 128 }; /* beyond that the rest is left to itself */

typedef struct ti_track {
    int n;
    double *time;    /* (n) */
    double *x;       /* (n,nx) with what was missing filled in as far as it can be, gain and bias taken out */
    double *raw;     /* (n,nx) before that; NULL where no column has any */
    double *w;       /* (n,ndx) weights, 0 = not measured */
    double *u;       /* (n,nu) or NULL */
    double *mark;    /* (n,3 nsite) where sites were seen, NaN = not; NULL = none ever */
    double *force;   /* (n,3 nplate) what contacts push with since the row before, NaN = unknown; NULL = none ever */
    bool *quiet;     /* (n,nplate) no impact is near */
    bool *given;     /* (n,nx) measured, or told by markers */
    bool *derived;   /* (n,nblock) told by markers; NULL without any */
    int *nsub, *dt;  /* (n-1) steps from a row to the next, index into the step lengths */
    bool *seen;      /* (n,nblock) blocks measured whole */
    bool *complete;  /* (n) poses measured, so that a simulation may start here */
    ti_segment *seg; /* (nseg) */
    int nseg, first; /* first: the row a rollout starts at */
    int nflight;     /* rows before the first contact, counted from first */
    tribo_start start;
    int horizon; /* rows that a rollout is compared over; 0 = all */
    ti_pair stand[TI_STANDS];
    int nstand;    /* of the pairs in contact from the first row on, where the start is estimated along */
    double *x0;    /* (nx) where a rollout starts: measured, or estimated along */
    double *from;  /* (nx) where its last prediction started */
    double *kept;  /* (nx) scratch */
    double *guess; /* (nx) x0 before anything was estimated */
    bool *rest;    /* (joints) stands still at the start, as far as can be told */
    double *T;     /* (ndx,ndx) how a start estimated along moves where it stands; of the last ti_start() with P */
    double *dx;    /* (ndx) scratch */
    double *x0try; /* (nx) */
    bool held_out;
    uint64_t solved, predicted; /* hashes of the parameters that x0 and `from` are the estimates for; 0 = none */
    long nblock;                /* measured blocks that the loss counts */
    double *norm;               /* (n,nblock) block norms of the last TI_WANT_NORMS; < 0 = not measured */
} ti_track;

/* Blocks that the loss counts, once the start is chosen. */
void ti_track_count(const tribo_sysid *s, ti_track *t);

enum { TI_FLIGHT_ROWS = 4 }; /* fewer do not make a flight */

/* Bytes of a track, and its arrays cut from memory. */
void ti_track_carve(ti_arena *a, ti_track *t, const tribo_sysid *s, const tribo_recording *r);
/* Copy, check, fill in, weigh and cut into segments. */
tribo_status ti_track_init(tribo_sysid *s, ti_track *t, const tribo_recording *r, tribo_diag *diag);

/* ---- shoot.c: one track simulated ---- */

typedef enum ti_want { TI_WANT_VALUE, TI_WANT_REVERSE, TI_WANT_FORWARD, TI_WANT_NORMS } ti_want;

/* What one track adds to the loss. */
typedef struct ti_sum {
    tribo_status status;
    double loss;   /* sum of rho / 2 */
    double square; /* sum of |w r|^2, numbers weighted by rho' */
    long nscalar;  /* how many numbers */
    long nblock;   /* how many blocks */
    double *g, *H; /* (nd), (nd,nd); nd = ti_dirs(track): theta, then the tangent of a start estimated along */
} ti_sum;

enum { TI_KICK_LINEAR, TI_KICK_ANGULAR, TI_KICK_KINDS };

enum { TI_LENGTHS = 3 }; /* of steps: between rows a whole one; of the probes of a reversal a half and a quarter */

/* Where a motion is between a row and the next: {.row = k} at its beginning, while ti_stride_left(). */
typedef struct ti_stride {
    int row, step;   /* how many are behind */
    tribo_ws *ws;    /* of the last step */
    tribo_tape *one; /* its record */
    bool reversed;   /* ti_reversal_make() made it */
    bool late;       /* ti_late_make() did */
} ti_stride;

enum { TI_PROBES = 2 };

/* A step made for the accelerations that it shows, not to be kept: stride.c. */
typedef struct ti_probe {
    ti_stride at;  /* whose workspace and record it has */
    double *rate;  /* (nv) accelerations */
    double *A, *C; /* its derivatives, as of ti_stride_jac() */
} ti_probe;

/* A step in which sliding turns round: reversal.c. */
typedef struct ti_reversal {
    double *row;             /* (nv) the work of what turns round, as a function of velocities */
    double back, share;      /* how far the first begins before the step, in changes of velocity; of dt, before */
    double *x, *dx, *column; /* (nx), (ndx), (2,ndx) */
    double *unit;            /* (nv) zeros */
} ti_reversal;

enum { TI_LATE_MAX = 4 };

/* What is hit in a step while others hold it: late.c. */
typedef struct ti_late {
    int n;                    /* islands */
    double time[TI_LATE_MAX]; /* when they are hit */
    double *row, *rate;       /* (TI_LATE_MAX,nv) how that moves; what accelerates before it less what does after it */
} ti_late;

typedef struct ti_worker {
    tribo_sysid *s;
    struct ti_path *aside; /* kicked/: the motion under way, where it is not the recording's own; else NULL */
    tribo_ws **ws;         /* (ndt,TI_LENGTHS); those of probes made when wanted */
    tribo_tape **one;      /* (ndt,TI_LENGTHS) of one step */
    tribo_tape **whole;    /* (ndt) of the longest segment; made when first wanted */
    int *record;           /* (ndt) records not yet swept */
    double *x, *xd;        /* (nx), (ndir,ndx); ndir = nfree + ndx */
    double *before;        /* (nx) where a step began */
    ti_probe probe[TI_PROBES];
    ti_reversal reversal;
    ti_late late;
    double *pd;                /* (ndir,np): that of ndx zero rows, then of the parameters, then of ndx zero rows */
    double *r, *lx, *wj;       /* (ndx), (rows,ndx), (3,ndir) */
    double *xbar, *xnext;      /* (ndx), the first also (nfree) */
    double *pbar;              /* (np) */
    double *x0, *x0d;          /* (nx), (nfree,ndx) start of a rollout and how it moves with theta */
    struct ti_link *link;      /* (nbody) */
    struct ti_shape *shape;    /* (ngeom) */
    struct ti_link_diff *diff; /* (nbody) */
    double *stand_gap, *stand_J, *stand_S, *stand_Y, *stand_B, *stand_Z;
    double *A, *B; /* (ndx,ndx), (ndx,nfree+1) of the flight fit */
    /* of a step of a model with joints: (ndx,np), (ndx,ndx), (nfree,ndx), (ndir,ndx) */
    double *by_p, *by_x, *by_theta, *moved;
    double *by_u, *by_force; /* (ndx,nu); (5 nv) */
    double *u, *p;           /* (nu), (np) what a step takes in place of the row's, middle.c */
    /* of markers, where there are any */
    tribo_dynamics *place;
    double *mark_twist, *mark_J, *mark_D, *mark_x; /* (6,nv), (3,nv), (3,ndx + nfree), (nx) */
    bool *mark_open;                               /* (nv) */
    /* of plates: impulses since the row, (3 nplate); (3 contacts); (3,ndx + nfree) */
    double *impulse, *push_bar, *push_D;
    size_t push_bytes;
} ti_worker;

/* Directions of a track's derivatives. */
int ti_dirs(const tribo_sysid *s, const ti_track *t);
/* The loss of a track at p, with derivatives as wanted. @param P (nfree,np) dp/dtheta, NULL for values */
void ti_shoot(ti_worker *w, int track, const double *p, const double *P, ti_want want, ti_sum *sum);
/* Roll out from w->x0. @param X [out] (n,nx); rows before the first are copied from the recording */
tribo_status ti_predict(ti_worker *w, int track, const double *p, double *X);

/* ---- stride.c ---- */

/* |g|, m/s^2 */
static inline double ti_weight(const double *p) {
    return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
}

static inline bool ti_stride_left(const ti_track *t, const ti_stride *at) {
    return at->step < t->nsub[at->row];
}
/* Make workspace and tape of a length of step, halved so often. */
tribo_status ti_worker_ready(ti_worker *w, int dt, int level);
/* The same when it is first wanted; at->ws and at->one. */
tribo_status ti_stride_ready(ti_worker *w, int dt, int level, ti_stride *at);
/* A step of a probe from x, which is then where it ends: its accelerations. */
tribo_status ti_probe_make(ti_worker *w, ti_probe *probe, const double *p, const double *u, bool record, double *x);
/* Its derivatives, of what it recorded. */
tribo_status ti_probe_jac(ti_worker *w, ti_probe *probe, const double *pd);
/* da (nv): of its accelerations, where it begins with dy (ndx) and theta moves by unknown a, -1 = none. */
void ti_probe_jvp(const ti_worker *w, const ti_probe *probe, const double *dy, int a, double *da);
/* Derivatives of a step as it was made first, as of ti_stride_jac(). */
tribo_status ti_stride_own_jac(ti_worker *w, const ti_stride *at, const double *pd, double *A, double *C);
/* The same where theta enters as forces in joints, if done. regressor.c */
tribo_status ti_regressor_jac(ti_worker *w, const ti_stride *at, const double *pd, double *A, double *C, bool *done);
bool ti_regressor_applies(const tribo_sysid *s);

/* ---- middle.c: forces of joints at the middle of a step ---- */

bool ti_middle_applies(const tribo_model *m, tribo_loss loss);
/* What a step of ws takes in place of p, and of the row's controls, NULL = none, as the step begins. */
const double *ti_middle_params(ti_worker *w, const double *p, tribo_ws *ws);
const double *ti_middle_controls(ti_worker *w, const ti_track *t, const ti_stride *at);
/* Cotangents of p from those of what takes its place, in place. */
void ti_middle_params_vjp(const tribo_sysid *s, double dt, double *p_bar);

/* ---- reversal.c: sliding that turns round ---- */

/* The step from w->before to w->x is made again, if something that slides turns round in it.
 * @param length index into the lengths of steps */
bool ti_reversal_make(ti_worker *w, const double *p, const double *u, int length, bool record, const tribo_ws *made);
/* A and C as of ti_stride_jac(), of the step as it was first, made those of what took its place. */
tribo_status ti_reversal_jac(ti_worker *w, const tribo_ws *made, const double *pd, double *A, double *C);

/* ---- late.c: bodies that are hit while others hold them ---- */

/* Forces of the step that has led to w->x are given their time. @return are there any? */
bool ti_late_make(ti_worker *w, const tribo_ws *made);
/* A as of ti_stride_jac(), of the step as it was, made that of what took its place. */
void ti_late_jac(const ti_worker *w, double *A);

/* ---- advance.c ---- */

/* The next step of w->x. @param record on at->one? */
tribo_status ti_stride_next(ti_worker *w, const ti_track *t, const double *p, bool record, ti_stride *at);
/* Its derivatives, where it was recorded: A (ndx,ndx) by the state, C (nfree,ndx) by theta, pd (nfree,np) = dp/dtheta;
 * NULL = theta is held, and C means nothing. */
tribo_status ti_stride_jac(ti_worker *w, const ti_stride *at, const double *pd, double *A, double *C);
/* Did anything touch in the last step, be it for an instant? */
bool ti_touched(const tribo_ws *ws);
/* From row k to the next, w->x in place. */
tribo_status ti_advance(ti_worker *w, const ti_track *t, int k, const double *p);
/* The same, and was anything touched on the way? */
tribo_status ti_advance_touch(ti_worker *w, const ti_track *t, int k, const double *p, bool *touched);
/* The same with ndir tangents w->xd carried along; w->pd are those of p, NULL = none. */
tribo_status ti_advance_jvp(ti_worker *w, const ti_track *t, int k, const double *p, int ndir, const double *pd);

/* ---- residual.c ---- */

/* r = x (-) measured row (ndx), weighted; rotations as the rotation vector from measured to simulated. */
void ti_residual(const tribo_sysid *s, const ti_track *t, int row, const double *x, double *r);
/* What a block's residual, not weighted, changes with its tangent. */
void ti_residual_slope(const tribo_sysid *s, const ti_track *t, int row, const double *x, const ti_block *b,
                       double D[3][3]);
/* rho and rho' of the square norm of a block of that group. */
double ti_rho(const tribo_sysid *s, int group, double square, double *slope);
/* A block of a row that was measured: where it begins, its residual and weights, the robust loss's slope, and the
 * residual's derivative to the block's tangent. */
typedef struct ti_measured {
    int at, n;
    const double *r, *wt;
    double square, slope, D[3][3];
} ti_measured;
/* r (ndx): of ti_residual(). @return false where nothing of it was measured. */
bool ti_measured_block(const tribo_sysid *s, const ti_track *t, int row, const double *x, const double *r,
                       const ti_block *b, ti_measured *m);
/* Its rows by the tangents in w->xd: w->wj (n,nd), weighted. */
void ti_measured_jac(ti_worker *w, const ti_measured *m, int nd);
/* Does anything of a block count, by its weights in a row? */
bool ti_block_counts(const ti_block *b, const double *row);
enum { TI_POSE_TANGENT = TI_FREE_NV }; /* numbers of a joint's pose in a tangent at most */
/* Poses of a joint in two states: the tangent from the first to the second; and back. */
void ti_joint_difference(const ti_joint *j, const double *x, const double *y, double d[TI_POSE_TANGENT]);
void ti_joint_move(const ti_joint *j, const double d[TI_POSE_TANGENT], double *x);

/* ---- instrument.c: gain and bias of what is measured ---- */

/* A free number of measured ones. @return TRIBO_OK; TRIBO_E_ARG. */
tribo_status ti_column_init(const tribo_sysid *s, ti_unknown *k, const tribo_free_param *f, tribo_diag *diag);
/* Are both the gain, or both the bias, of the same number? */
bool ti_columns_clash(const ti_unknown *a, const ti_unknown *b);
/* Rows of all tracks as they are at theta. */
void ti_columns_read(tribo_sysid *s, const double *theta);
/* Value of free number i where p belongs to theta. */
double ti_value(const tribo_sysid *s, const double *theta, const double *p, int i);
/* Are free numbers i and j two angles of the same frame? */
bool ti_turned_with(const tribo_sysid *s, int i, int j);
/* J (3,nfree): a block's residual, not weighted, by the thetas of its columns. @return false where it has none. */
bool ti_columns_jac(const tribo_sysid *s, const ti_track *t, int row, const ti_block *b, const ti_measured *m,
                    double *J);

/* ---- markers.c: sites that were seen ---- */

/* A marker's residual, weighted, and its derivative by the state's tangent and theta. */
typedef struct ti_marked {
    double r[3], square, rho, slope;
    const double *D; /* (3,ndx + nfree) */
} ti_marked;
/* Where a site was seen in a row; NULL = it was not. */
const double *ti_marker_seen(const tribo_sysid *s, const ti_track *t, int row, int site);
/* The state that ti_marker() is at. */
tribo_status ti_markers_place(ti_worker *w, const double *x);
/* At s->p and, for slopes, s->P. @return false where it was not seen. */
bool ti_marker(ti_worker *w, const ti_track *t, int row, int site, bool slopes, ti_marked *m);
/* Poses that markers tell into t->x, where no column has them. @return TRIBO_OK; TRIBO_E_ARG: no pose fits them. */
tribo_status ti_markers_pose(tribo_sysid *s, ti_track *t, tribo_diag *diag);

/* ---- plates.c: what contacts push with ---- */

/* How many geoms and bodies any recording has it of, and which: geoms, then bodies beyond them. */
int ti_plates(const tribo_sysid_def *def, const tribo_sizes *z, int *plate);
/* Into a track. @return TRIBO_OK; TRIBO_E_NONFINITE. */
tribo_status ti_plates_take(const tribo_sysid *s, ti_track *t, const tribo_recording *r, tribo_diag *diag);
/* Root mean square of what was measured, N. */
double ti_plates_unit(const tribo_sysid *s);
/* What was measured in a row; NULL = nothing that is compared. */
const double *ti_plate_seen(const tribo_sysid *s, const ti_track *t, int row, int plate);
/* w->impulse: nothing yet; and that of the step that ws made last. */
void ti_plates_begin(ti_worker *w);
void ti_plates_add(ti_worker *w, const tribo_ws *ws);
/* As forces, into row k + 1 of (n,3 nplate). */
void ti_plates_keep(const ti_worker *w, const ti_track *t, int k, double *forces);
/* Psi (3 nplate,ndx + nfree) += that of the step which was recorded last, Phi being the state before it; P (nfree,np),
 * NULL = theta is held. */
tribo_status ti_plates_jac(ti_worker *w, const ti_track *t, const ti_stride *at, const double *P, const double *Phi,
                           double *Psi);
/* What is left of a row's, of forces (n,3 nplate); its derivative by the state at the row before and theta, where Psi
 * is given. @return false where nothing was measured. */
bool ti_pressed(ti_worker *w, const ti_track *t, int row, int plate, const double *forces, const double *Psi,
                ti_marked *m);

/* ---- settle.c ---- */

/* Which pairs a start stands on. */
void ti_stand_choose(ti_worker *w, ti_track *t, const double *p);
/* The same of rows that are read otherwise by now. @return whether it stands on others. */
bool ti_stand_again(ti_worker *w, ti_track *t, const double *p);
/* Move x to where the standing contacts are closed and stay so. False if that cannot be computed. */
bool ti_settle(ti_worker *w, const ti_track *t, const double *p, double *x);
/* At a settled x: T (ndx,ndx), how it moves with its start; and w->x0d, how it moves with theta. */
bool ti_settle_jac(ti_worker *w, const ti_track *t, const double *p, const double *P, const double *x, double *T);
/* Move a start by dx, but only where it can: x0try keeps the old one. */
void ti_start_move(const tribo_sysid *s, ti_track *t, double *dx);

/* ---- start.c ---- */

/* Find w->x0 for a rollout of the track and, with P, w->x0d. */
tribo_status ti_start(ti_worker *w, int track, const double *p, const double *P);
/* Rows before the first contact, at the model's own p. */
tribo_status ti_flight_rows(ti_worker *w, ti_track *t, const double *p);
/* ---- along.c ---- */

/* Estimate t->x0 for a fixed p by the first rows alone: noise has made the first guess of a velocity, and what comes of
 * that after a collision leads nowhere. */
tribo_status ti_start_first(ti_worker *w, int track, const double *p);
/* Estimate it again from the first guess; keep the better. */
tribo_status ti_start_retry(ti_worker *w, int track, const double *p);
/* Estimate t->x0 for a fixed p by the whole track. */
tribo_status ti_start_along(ti_worker *w, int track, const double *p);

/* ---- ranks.c: jobs, on all workers of all ranks ---- */

/* What other ranks are told of a recording when the jobs are done; each includes those before it. */
typedef enum ti_tell {
    TI_TELL_LOSS,   /* losses, starts */
    TI_TELL_SLOPES, /* derivatives in theta and the start, sums that noise is estimated from */
    TI_TELL_ROWS    /* what there is of every row: norms; the states and kicks of a first motion */
} ti_tell;
/* Written, read, or with `at` NULL measured. */
typedef struct ti_parcel {
    unsigned char *at;
    size_t bytes;
    bool unpack;
} ti_parcel;
void ti_parcel_put(ti_parcel *p, void *what, size_t bytes);
#define TI_PUT(p, what, n) ti_parcel_put(p, what, (size_t)(n) * sizeof *(what))
/* What is told of a track: s->told of rollouts, and a part of that of kicked motions. */
void ti_track_told(tribo_sysid *s, int recording, ti_tell tell, ti_parcel *p);

typedef tribo_status (*ti_job)(ti_worker *w, int recording, void *context);
/* A job for every recording; all ranks know of each what `tell` says. @return the status of the first that failed, in
 * order of recordings; TRIBO_E_ARG where ranks have come apart. */
tribo_status ti_parallel(tribo_sysid *s, ti_tell tell, ti_job job, void *context);
/* Parts of jobs: of each of this rank's own recordings so many, all beside one another. Nobody else is told: a round of
 * ti_parallel() comes after it, whatever this returns, to which that is handed on. */
typedef tribo_status (*ti_part_job)(ti_worker *w, int recording, int part, void *context);
tribo_status ti_parallel_parts(tribo_sysid *s, int parts, ti_part_job job, void *context);
/* s->told and s->stop are set. */
tribo_status ti_ranks_new(tribo_sysid *s, const tribo_ranks *by, tribo_diag *diag);
void ti_ranks_free(tribo_sysid *s);
int ti_ranks_count(const tribo_sysid *s);
/* Is this that rank? */
bool ti_ranks_own(const tribo_sysid *s, int rank);
/* Its recordings, and whose a recording is. */
void ti_ranks_share(const tribo_sysid *s, int rank, int *first, int *end);
int ti_ranks_of(const tribo_sysid *s, int recording);
/* From a rank to all; bytes a multiple of 8. */
tribo_status ti_ranks_pass(tribo_sysid *s, int rank, void *what, size_t bytes);

/* ---- evaluate.c: all tracks, summed in order ---- */

/* Make the tapes that TI_WANT_REVERSE needs. */
tribo_status ti_reverse_ready(tribo_sysid *s);

/* Loss of the tracks with held_out as given; INFINITY with a status if p is not physical or a step failed.
 * @param sums per track, s->sum. g (nfree), H (nfree,nfree) may be NULL. */
tribo_status ti_evaluate(tribo_sysid *s, const double *theta, bool held_out, ti_want want, double *loss, double *g,
                         double *H);

/* ---- layout.c ---- */

/* Everything of one block, from *self on. With the arena's base NULL it only measures. */
void ti_sysid_lay_out(tribo_sysid *s, const tribo_sysid_def *def, ti_arena *a, tribo_sysid **self);

/* ---- the optimizers: one iteration each ---- */

tribo_status ti_lm_iterate(tribo_sysid *s);
tribo_status ti_lbfgs_iterate(tribo_sysid *s);
tribo_status ti_adam_iterate(tribo_sysid *s);
tribo_status ti_search_init(tribo_sysid *s);
tribo_status ti_search_iterate(tribo_sysid *s);
/* How many numbers L-BFGS and Adam move. */
int ti_descend_size(const tribo_sysid *s);
/* Take one recording's start out of the sums A (nfree,nfree) and g (nfree), as LM does. */
bool ti_eliminate(tribo_sysid *s, int track, double lambda, double *A, double *g);
/* Symmetric positive definite solve in place, A (n,n) destroyed, B (n,m) row-major. False if not definite. */
bool ti_spd_solve(int n, double *A, int m, double *B);
/* Set thresholds of rho from the residuals at theta. */
tribo_status ti_thresholds(tribo_sysid *s, const double *theta);

/* A splitmix64 stream. */
typedef struct ti_random {
    uint64_t state;
} ti_random;
uint64_t ti_random_bits(ti_random *r);
double ti_random_uniform(ti_random *r); /* [0, 1) */
double ti_random_normal(ti_random *r);

struct tribo_sysid {
    tribo_allocator alloc;
    size_t bytes;
    const tribo_model *m;
    tribo_sizes z;
    ti_block *block; /* (nblock) */
    int *entry;      /* (ndx) the block of a number of a tangent */
    int nblock, ngroup;
    int mark_group;                  /* that of all markers, the last; -1 = there are none */
    double mark_weight;              /* 1/m */
    int nplate, *plate;              /* geoms, and ngeom + bodies, whose contact forces are measured */
    int plate_group;                 /* that of all of them; -1 = there are none */
    double plate_weight, plate_unit; /* 1/N, N */
    double *force;                   /* (rows,3 nplate) of a prediction */
    tribo_options options;
    tribo_loss loss;
    int window;
    bool rows_chosen; /* window was left to the fit */
    tribo_start start;
    tribo_robust robust;
    double *threshold, weight[TRIBO_BLOCKS]; /* the first (ngroup) */
    double *boost;                           /* (ngroup) of the weights of flights */
    double *noise_seen;                      /* (ngroup) by differences alone, before any fit; 0 = unknown */
    bool threshold_auto[TRIBO_BLOCKS], weight_natural[TRIBO_BLOCKS];
    tribo_optimizer optimizer;
    double rate;
    uint64_t seed;
    int search;
    const volatile int *stop;
    bool by_forces;             /* all that is free enters as forces in joints */
    double kick[TI_KICK_KINDS]; /* scale of kicks, kicked/; 0 = none */
    bool middle;                /* is what moves joints that of the middle of a step? */
    pthread_mutex_t making;     /* of workspaces */
    struct ti_ranks *ranks;     /* NULL = one process */
    void (*told)(struct tribo_sysid *s, int recording, ti_tell tell, ti_parcel *p);

    int nfree, nrec, ndt, nworker, nalong;
    ti_unknown *unknown; /* (nfree) */
    int ncolumn;         /* how many of them are of measured numbers */
    double *gain, *bias; /* (ndx) of those, where there are any */
    double *p0;          /* (np) */
    double *p, *P;       /* (np), (nfree,np) of the evaluation under way */
    ti_track *track;     /* (nrec) */
    double *dt;          /* (ndt) lengths of steps */
    int *dt_steps;       /* (ndt) how many of them a segment has at most */
    int *dt_count;       /* (ndt) scratch */
    ti_worker *worker;   /* (nworker) */
    ti_sum *sum;         /* (nrec) */
    double *still;       /* (nv) zeros */
    double *X;           /* (rows,nx) a prediction, rows of the longest recording */
    double *observe;     /* (5 nfree + 2, nfree) scratch of tribo_sysid_observe() */
    double *norms;       /* (intervals,nblock) scratch for medians */
    int rows, intervals; /* of the longest recording; of all, as many as there may be lengths of step */

    /* the fit */
    double *theta, *start_theta, *trial; /* (nfree) best, start, scratch */
    double *g, *H, *A, *step;            /* (nfree), (nfree,nfree), ... of the optimizers */
    int zpad;                            /* nfree + nalong ndx, rounded up to what liblbfgs wants */
    double *adam_m, *adam_v, *z_now;     /* (zpad), (zpad), (3 zpad): now, best, gradient */
    int adam_steps, adam_since;
    double adam_best, rate_now;
    double *back; /* (nrec,ndx,nfree + 1) of the start states in LM */
    struct {
        double *mean, *C, *B, *D, *pc, *ps, *sample, *y, *value;
        int *order;
        double sigma;
        int lambda, generation;
        long spent;
        ti_random random;
    } cma;
    double lambda;
    int passes; /* how often thresholds were set */
    bool stalled, searched;
    bool fitting;                 /* inside of an iteration: `stop` is looked at */
    struct ti_shooting *shooting; /* kicked/kicked.h; of TRIBO_LOSS_SHOOTING */
    int retries;                  /* how often starts were estimated again */
    tribo_progress progress;
};

/* Kind of the blocks of a group; that of plates has none. */
static inline int ti_group_kind(const tribo_sysid *s, int group) {
    int b = 0;
    if (group == s->mark_group || group == s->plate_group) return TRIBO_BLOCK_POSITION;
    while (group >= TRIBO_BLOCKS && s->block[b].group != group) b++;
    return group < TRIBO_BLOCKS ? group : s->block[b].kind;
}
/* Is the noise of a group to be found from what is left? */
static inline bool ti_group_natural(const tribo_sysid *s, int group) {
    return group == s->plate_group || s->weight_natural[ti_group_kind(s, group)];
}
/* Does a block of a row say what markers say already? */
static inline bool ti_derived(const tribo_sysid *s, const ti_track *t, int row, int block) {
    return t->derived && t->derived[(size_t)row * (size_t)s->nblock + (size_t)block];
}
/* Kind of block that an entry of a tangent is in. */
static inline int ti_kind_at(const tribo_sysid *s, int i) {
    return s->block[s->entry[i]].kind;
}
/* What is known of a joint's velocities is in no state of it alone: their numbers. */
static inline double *ti_joint_velocity(const tribo_sysid *s, const ti_joint *j, double *x) {
    return x + s->z.nq + j->v;
}

/* Inside of the fit: somebody wants it to stop, and what was under way is worth nothing. Comes out of it as
 * TRIBO_INTERRUPTED. */
#define TI_STOPPED ((tribo_status)-1000)
static inline bool ti_stopped(const tribo_sysid *s) {
    return s->fitting && s->stop && *s->stop;
}

/* A name for s->p and for how rows are read, of a prediction with them; not 0. */
static inline uint64_t ti_asked(const tribo_sysid *s) {
    size_t read = s->ncolumn ? (size_t)s->z.ndx : 0;
    return tribo_hash(s->bias, read, tribo_hash(s->gain, read, tribo_hash(s->p, (size_t)s->z.np, 1))) | 1;
}

/* Has the fit kicks? */
static inline bool ti_kicked(const tribo_sysid *s) {
    return s->kick[TI_KICK_LINEAR] > 0 || s->kick[TI_KICK_ANGULAR] > 0;
}
/* Is a recording compared with one motion from its start to its end? */
static inline bool ti_rolls(const tribo_sysid *s) {
    return s->loss == TRIBO_LOSS_ROLLOUT || s->loss == TRIBO_LOSS_SHOOTING;
}

#endif
