/* kicked.h -- a smoothed motion of one recording: states that the dynamics tie, kicked at nodes. docs/math.md eq.
 * (147).
 *
 * Between rows the model moves the state; at a node the velocities of all bodies jump by a kick w, which stands for
 * what the model leaves out. Start, kicks and parameters are estimated together. Kicks of zero variance make it a
 * rollout.
 */
#ifndef TI_KICKED_H
#define TI_KICKED_H
#include "sysid/track/fit.h"

enum { TI_DRAWS = 16 }; /* starts of one round, at most */

typedef struct ti_path {
    double *x, *xtry;   /* (n,nx) states at the rows, before their kicks; behind them forces, ti_path_forces() */
    double *w, *wtry;   /* (n,nv) kicks */
    double *Phi;        /* (n,ndx,nd) how the state at row k + 1 moves with that after the kick of k and with theta */
    double *Psi;        /* (n,3 nplate,nd) the same of forces until row k + 1 */
    double *gain;       /* (n,nv,nd+1) best kicks: dw = gain (dx, dtheta, 1) */
    double *chol;       /* (n,nv,nv) lower factor of the kicks' curvature */
    double *left;       /* (n) share of the weight of a row and all after it that is not forgotten */
    double *S;          /* (nd+1,nd+1) cost to go at the first row, by (dx, dtheta) */
    double *start;      /* (ndx,nfree+1) best start: dxi = -start (dtheta, 1) */
    double *start_chol; /* (ndx,ndx) */
    double *T, *X0;     /* (ndx,ndx) start by xi; (nfree,ndx) start by theta */
    double *prior;      /* (nx) first guess of the start */
    double *best;       /* (nx) start of the best end so far */
    double *roaming;    /* (nx) start at h->roaming */
    double *full;       /* (ndx+nfree,ndx+nfree+1) curvature and gradient by (xi, theta) before the start goes out */
    double *H, *g;      /* (nfree,nfree), (nfree): of theta, states eliminated */
    double *cov;        /* (n,ndx,ndx) covariance of the states, once asked for */
    bool *touch;        /* (n) contact in the interval behind each row, of x */
    bool *touch_try;    /* of xtry */
    uint64_t led;       /* a name of where ti_path_grow() led from last, and what the motion cost there; 0 = unknown */
    double led_cost;
    double *aside_x, *aside_w, *aside_prior; /* the answer's x, w, prior while others are tried: between.c */
    bool *aside_touch;
    double *drawn;                 /* (TI_DRAWS,nx+1) what motions from drawn starts cost, and these starts */
    bool sought, moved;            /* are others tried; has one been taken? */
    bool vain;                     /* draws at h->drawn_at have found nothing */
    double *linear;                /* as x: the motion that Phi and Psi are of */
    bool *touch_linear;            /* contact along it */
    uint64_t motion, motion_theta; /* names of it and of how theta moves it; 0 = unknown; theta was held */
    double cost, cost_try;         /* twice the negative log posterior, up to constants of the noise */
    double promise;                /* decrease that the states alone would bring */
    double logdet;                 /* of the curvature of the states */
    int end; /* the row before which a comparison ends that grows; beyond the recording: all of it */
    tribo_status status;
} ti_path;

/* Sums over a path that noise is estimated from. */
typedef struct ti_noise_sums {
    double *square, *freedom;                         /* (2 ngroup) of residuals in units of noise */
    double kick[TI_KICK_KINDS], known[TI_KICK_KINDS]; /* the same of kicks */
    double nkick;                                     /* how many numbers they have */
} ti_noise_sums;

enum { TI_STARTS_MAX = 10, TI_GROW_FROM = 8, TI_HOPS_MAX = 96 };

struct ti_shooting {
    ti_path *aside;  /* (nworker) motions tried in place of a recording's own */
    ti_path *path;   /* (nrec) */
    double *scratch; /* (nworker, scratch_size) */
    size_t scratch_size;
    double unit[TRIBO_BLOCKS];                 /* what counts as one: position, rotation, velocities */
    double prior[TRIBO_BLOCKS];                /* standard deviation of the start */
    double *noise, *noise_shown, *noise_least; /* (2 ngroup) of measurements; by differences alone */
    double kick_least[TI_KICK_KINDS];          /* of the scale of kicks */
    double kick_last[TI_KICK_KINDS];           /* factors of the last change */
    double known, kicks;                       /* how many numbers of kicks the recordings determine, and of how many */
    double freedom;                            /* measured numbers less what they determine */
    double apart;                              /* how far recordings are apart, by agree.c, of ... */
    int napart;                                /* ... how many degrees of freedom; 0 = not judged */
    ti_noise_sums *sums;                       /* (nrec) */
    ti_noise_sums total;                       /* of all recordings, of the last time it was asked for */
    double *cov;                               /* (nfree,nfree) of theta */
    double cost, evidence;                     /* twice the negative log posterior; of theta and the scales */
    int waited, still, rounds;                 /* iterations: since scales were set; without news; of this start */
    double horizon;                            /* rows compared, while they grow; 0 = all */
    int stage;                                 /* iterations since they grew last */
    bool begun, converged;
    bool gains;  /* the last step lowered the cost by what is worth going on for */
    double rate; /* by what share it did, if it kept what it promised; else that says nothing: 1 */

    double *start, *end;             /* (TI_STARTS_MAX,nfree) where fits begin and end */
    double end_value[TI_STARTS_MAX]; /* evidence there */
    int nstart, run, best;
    bool kicked[TI_STARTS_MAX]; /* does a fit have kicks at first? */
    bool hopeless;              /* no fit without kicks will do */
    bool near;                  /* a fit without kicks has been nearly explained */
    bool explained, nearly;     /* the last fit leaves no more than noise, hardly more */
    int anew;                   /* how many starts of joints were drawn besides the given one */
    double *drawn_at;           /* (nfree) theta where starts were drawn */
    int draws;                  /* how often starts were drawn in this fit */
    bool plain;                 /* the fit without kicks that is under way after one with them, or was */
    double *wide;               /* (nfree,2) how much longer than its slope says an interval is, down and up */
    double *range;              /* (nfree,2) values that explain as much, from least to most: elsewhere.c */
    double *side;               /* (nrec,2 nfree + 1,nx) starts at the ends of intervals, and of the answer */
    int looked;                 /* how often the answer's neighbours were tried */
    int stood;                  /* how often what starts stand on has changed */
    int sought;                 /* how often starts of motions that are left with much were sought */
    int hops, idle;             /* how many from the best answer, how many of them in vain since the last that led on */
    double least;               /* cost of the best then */
    double *minimum;            /* (TI_HOPS_MAX + 1,2 nfree + 1) where hops ended: hops.c */
    int minima;                 /* how many */
    double *roaming;            /* (nfree) the last of them that is another answer than the best */
    bool roams;                 /* is there one? */
    double *by_rows, *kept;     /* (nfree) how far theta goes with twice the rows between kicks; scratch: between.c */
    bool hopping, hopped;       /* hops are under way; have begun */
    bool back;                  /* back: the best is fitted again, to be left as it was */
};
#define TI_THETA_SILENT 0.1 /* curvature of a number that the recordings say nothing of: it stays where it is */
#define TI_THETA_PRIOR 1e-2 /* precision: ten times the scale of theta is as good as unknown */

/* A worker's scratch. */
typedef struct ti_smoother {
    double *A, *C, *Phi, *M, *S, *s, *z, *P, *Q;
} ti_smoother;
size_t ti_smoother_size(const tribo_sizes *z, int nfree);
ti_smoother ti_smoother_of(const ti_worker *w);

/* What other ranks are told of it and its track. */
void ti_path_told(tribo_sysid *s, int track, ti_tell tell, ti_parcel *p);
/* Which noise a row's numbers of a group have. Where it takes kicks to follow a recording, a motion before its first
 * contact is explained to the noise of the rows, and all that comes after is not: noises of their own. */
static inline int ti_noise_of(const tribo_sysid *s, const ti_track *t, int row, int group) {
    return group + (row < t->first + t->nflight && ti_kicked(s) ? s->ngroup : 0);
}
/* Memory of a path. */
void ti_path_carve(ti_arena *a, ti_path *path, const tribo_sysid *s, int nfree, int rows);
/* (n,3 nplate) of contacts since the row before, of states x (n,nx) of a path. */
static inline double *ti_path_forces(const tribo_sysid *s, const ti_track *t, double *x) {
    return x + (size_t)t->n * (size_t)s->z.nx;
}
/* The motion that a worker is at. */
static inline ti_path *ti_path_of(const ti_worker *w, int track) {
    return w->aside ? w->aside : w->s->shooting->path + track;
}
/* The worker's own motion takes the place of the recording's, until w->aside is NULL again. */
void ti_path_step_aside(ti_worker *w, int track);
/* How many numbers there are of states and forces. */
static inline size_t ti_path_numbers(const tribo_sysid *s, int rows) {
    return (size_t)rows * (size_t)(s->z.nx + 3 * s->nplate);
}
/* Where a recording starts, (nx); and such starts that are kept: at the ends of intervals, and, the last of 2 nfree +
 * 1, of the answer. */
static inline double *ti_path_first(const tribo_sysid *s, int track) {
    return s->shooting->path[track].x + (size_t)s->track[track].first * (size_t)s->z.nx;
}
static inline double *ti_path_side(const tribo_sysid *s, int track, int which) {
    return s->shooting->side + ((size_t)track * (2 * (size_t)s->nfree + 1) + (size_t)which) * (size_t)s->z.nx;
}
/* What motions cost together, as they are or as they were tried. */
static inline double ti_path_sum(const tribo_sysid *s, bool tried) {
    double sum = 0;
    for (int i = 0; i < s->nrec; i++)
        if (!s->track[i].held_out) sum += tried ? s->shooting->path[i].cost_try : s->shooting->path[i].cost;
    return sum;
}
/* The row before which it is compared. */
static inline int ti_path_end(const ti_track *t, const ti_path *path) {
    return path->end < t->n ? path->end : t->n;
}
/* Is there a kick at a row, by what has touched before it? */
bool ti_path_node(const tribo_sysid *s, const ti_track *t, const bool *touch, int row);
/* Where there is none, the kick of a row is made zero, and elsewhere what of it has no scale. */
void ti_path_kick(const tribo_sysid *s, const ti_track *t, const bool *touch, int row, double *kick);
/* Twice the negative logarithm of Student's density of a kick, and the weight that a square has in its place. */
double ti_kick_rho(const tribo_sysid *s, const double *kick, const ti_block *b, double sigma, double *weight);
/* The block of velocities that entry i of a kick is in. */
static inline const ti_block *ti_kick_block(const tribo_sysid *s, size_t i) {
    return &s->block[s->entry[(size_t)s->z.nv + i]];
}
/* First motion: kicked at nodes so that it follows the recording. */
tribo_status ti_path_guess(ti_worker *w, int track, const double *p);
/* First motion: without kicks from where that of the best end began. */
tribo_status ti_path_return(ti_worker *w, int track, const double *p);
/* A motion without kicks at p from the first rows on, its start fitted to more and more of them; kept if better. */
tribo_status ti_path_grow(ti_worker *w, int track, const double *p, const double *P);
/* w->x: the start off by a draw from what the recording leaves open of it, theta held. */
bool ti_path_beside(ti_worker *w, int track, const double *p, double share, ti_random *random);
/* Gauss-Newton on the start alone, of a motion without kicks, as long as that gains something; and given up where it
 * will not come below a target. */
tribo_status ti_path_settle_towards(ti_worker *w, int track, const double *p, const double *P, double target);
tribo_status ti_path_settle(ti_worker *w, int track, const double *p, const double *P);
/* A motion without kicks from w->x into xtry. @return its cost; HUGE_VAL: more than `most`. */
double ti_path_plain(ti_worker *w, int track, const double *p, double most);
/* w->x: the start for a step dtheta (NULL = none) by the last linearisation, a share of its own step taken. */
bool ti_path_start(ti_worker *w, int track, const double *p, const double *dtheta, double share);
/* Linearise around x, w; eliminate kicks and start: gains, H, g. */
tribo_status ti_path_linearise(ti_worker *w, int track, const double *p, const double *P);
/* The same with theta held: what is found of theta is nothing. */
tribo_status ti_path_linearise_start(ti_worker *w, int track, const double *p, const double *P);
/* Take the start out, damped: start, start_chol, H, g. */
void ti_path_damp(const tribo_sysid *s, ti_path *path, double lambda, double *logdet);
/* A new motion at p for a step dtheta, NULL = none, with as much of the states' own steps as lowers the cost; into
 * xtry, wtry. One that costs more than `most` is an error. */
tribo_status ti_path_follow(ti_worker *w, int track, const double *p, const double *dtheta, double most);
/* The motion x, w and another one change places. */
void ti_path_exchange(ti_path *path, double **x, double **kick, bool **touch);
/* The motion that follow() made takes the place of x, w. */
void ti_path_accept(ti_path *path);
/* That of xtry settles at p as ti_path_settle() does, where it costs more than x. */
tribo_status ti_path_catch_up(ti_worker *w, int track, const double *p, const double *P);
/* Covariance of the states by the last linearisation, and sums for the noise. */
void ti_path_spread(ti_worker *w, int track, const double *cov_theta, ti_noise_sums *sums);
/* S += sum of s_b s_b' over blocks of rows b, s_b their part in the gradient of theta by the last linearisation.
 * @return how many blocks. */
int ti_path_scatter(ti_worker *w, int track, double *S);
/* Its parts: of the start, and added, of a row. */
double ti_path_start_cost(ti_worker *w, const ti_path *path, const double *x0);
void ti_path_add_cost(ti_worker *w, int track, int row, double *x, const double *kick, const bool *touch, double *cost);
/* Cost of x, w, touch as they are. */
double ti_path_cost(ti_worker *w, int track, double *x, const double *kick, const bool *touch);

/* Pose, relative to a row's, and velocity of a joint there by a parabola through its neighbours; spread: of the
 * velocity, by noise. @return rms residual in units of noise; < 0 = too few rows. */
double ti_local_fit(const tribo_sysid *s, const ti_track *t, int row, int joint, double pose[TI_POSE_TANGENT],
                    double v[TI_POSE_TANGENT], double spread[TI_POSE_TANGENT]);
/* Noise of each group from differences of third order, robustly; 0 = not measured often enough. */
void ti_noise_guess(tribo_sysid *s, double *noise);

/* ---- marked.c: what the markers of a row add, and the forces until a row ---- */

double ti_marked_cost(ti_worker *w, const ti_track *t, int row, const double *x);
/* Squares of weighted residuals, and how many numbers: added. */
void ti_marked_square(ti_worker *w, const ti_track *t, int row, const double *x, double *square, double *n);
/* The same of forces (n,3 nplate). */
double ti_pressed_cost(ti_worker *w, const ti_track *t, int row, const double *forces);
void ti_pressed_square(ti_worker *w, const ti_track *t, int row, const double *forces, double *square, double *n);
/* To curvature S (nd,nd) and gradient g (nd) by (dx, dtheta). */
void ti_marked_add(ti_worker *w, const ti_track *t, int row, const double *x, size_t nd, double *S, double *g);
/* With Psi (3 nplate,nd), by the state at the row before after its kick: dx, P and D are of that one. */
void ti_pressed_add(ti_worker *w, const ti_track *t, int row, const double *forces, const double *Psi, double *S,
                    double *g);
void ti_pressed_count(ti_worker *w, const ti_track *t, int row, const double *forces, const double *Psi,
                      const double *P, ti_noise_sums *sums);
void ti_pressed_score(ti_worker *w, const ti_track *t, int row, const double *forces, const double *Psi,
                      const double *D, double *score);
/* To the sums that noise is estimated from, where P (nd,nd) is the covariance of (dx, dtheta). */
void ti_marked_count(ti_worker *w, const ti_track *t, int row, const double *x, size_t nd, const double *P,
                     ti_noise_sums *sums);
/* To the gradient of theta, where D (ndx,nfree) is the state by theta. */
void ti_marked_score(ti_worker *w, const ti_track *t, int row, const double *x, const double *D, double *score);

/* ---- scales.c ---- */

/* Units, bounds and first values, from the model and the recordings alone. */
void ti_scales_init(tribo_sysid *s);
/* Weights are the inverse of the noise wherever something was measured and counts. */
void ti_scales_weigh(tribo_sysid *s);
/* What first motions show: noise and kicks wide enough for them. */
void ti_scales_guess(tribo_sysid *s);
/* New scales from h->sums. @return the largest relative change. */
double ti_scales_update(tribo_sysid *s);
/* Does every recording leave no more than the noise that it shows by itself? */
bool ti_scales_explain(const tribo_sysid *s, double slack);
bool ti_scales_explain_one(const tribo_sysid *s, int recording, double slack);
/* What is left of all recordings, in units of the noise that they show: a mean square. */
double ti_scales_misfit(const tribo_sysid *s);
#define TI_HOPELESS 20    /* of that, from few rows */
#define TI_EXPLAINED 0.15 /* more than the noise's variance: as much as it is not known by */
#define TI_NEARLY 1.0     /* misfit that intervals can say and kicks would hide */
/* Twice the negative log likelihood of theta and the scales, states integrated out (Laplace); docs/math.md eq. (323).
 */
double ti_scales_evidence(const tribo_sysid *s);

/* ---- shooting.c: from one start ---- */

/* First motions at theta. */
tribo_status ti_shooting_guess(tribo_sysid *s, const double *theta);
/* First motions and scales at s->theta, with kicks or without, compared over all rows or over a few that grow. */
tribo_status ti_shooting_begin(tribo_sysid *s, bool kicked, bool growing);
/* Those of the best end, which had no kicks, at s->theta. */
tribo_status ti_shooting_return(tribo_sysid *s);
/* How far every motion is compared, by h->horizon. */
void ti_shooting_reach(tribo_sysid *s);
/* H and g of every path and their sums: at s->theta; at s->p, s->P as they are. */
tribo_status ti_shooting_curvature(tribo_sysid *s);
tribo_status ti_shooting_slopes(tribo_sysid *s);
/* Covariances, after that. */
tribo_status ti_shooting_spread(tribo_sysid *s);
/* Other starts for recordings that are not explained. @return whether one was found. */
tribo_status ti_shooting_draw(tribo_sysid *s, bool *found);
/* Gauss-Newton on all paths and theta, noise as it is: so many steps at most, while they may lead to a cost. */
tribo_status ti_shooting_descend(tribo_sysid *s, int most, double target);
/* One step of that, and of noise and kicks where it is their turn. */
tribo_status ti_shooting_step(tribo_sysid *s, bool *done);

/* ---- drawn.c: other starts, beside one another, of the motions that are sought ---- */

/* Near what the first rows say; the best is taken if it is better. */
tribo_status ti_shooting_draw_starts(tribo_sysid *s);
/* As far off as the recording leaves open, each with its own minimum. */
tribo_status ti_shooting_near(tribo_sysid *s);

/* ---- doubt.c: is the answer what its slope says? ---- */

/* Try an answer's neighbours where its slope does not say what is there: found, which s->theta and the motions then
 * are, or how much longer the intervals are, h->wide. */
tribo_status ti_shooting_doubt(tribo_sysid *s, bool *found);
/* Numbers that have no weight at an answer are at their starts again, where the motions follow; s->H, h->cost. */
tribo_status ti_shooting_put_back(tribo_sysid *s);

/* The answer's starts are kept; are fitted again at s->p, s->P; are there again, motions follow with the next
 * linearisation. */
tribo_status ti_shooting_keep(tribo_sysid *s);
tribo_status ti_shooting_lead(tribo_sysid *s);
tribo_status ti_shooting_back(tribo_sysid *s);
/* Is the loss at the ends of all intervals what its slope says? */
tribo_status ti_shooting_smooth(tribo_sysid *s, bool *smooth);

/* ---- range.c ---- */

/* Is it a number that moves over tens or over its bounds? Then that range of theta, and a place in it. */
bool ti_shooting_searches(const tribo_sysid *s, int i, double *low, double *high);
enum { TI_PLACES = 16 };
double ti_shooting_place(const tribo_sysid *s, int i, int place, double low, double high);

/* ---- elsewhere.c ---- */

/* Values far from the answer that explain the recordings as well, h->range. */
tribo_status ti_shooting_elsewhere(tribo_sysid *s);
/* Number i of s->trial explains as much: it belongs to h->range. */
void ti_shooting_include(tribo_sysid *s, int i);

/* ---- seek.c: recordings that are left with more than others are ---- */

/* Other starts for these, where a fit without kicks has ended: found, which the motions then have. */
tribo_status ti_shooting_seek(tribo_sysid *s, bool *found);

/* ---- hops.c: other answers beside the best ---- */

/* One hop from it, which is what the fit is at when it begins; h->end and the starts of the best follow, and the fit is
 * there again. @return and are there more? */
tribo_status ti_shooting_hop(tribo_sysid *s, bool *more);

/* ---- between.c ---- */

/* An answer that has kicks, fitted with twice the rows between them; it is there again then. */
tribo_status ti_shooting_other_rows(tribo_sysid *s);
/* To the covariance of theta (nfree,nfree): what the two differ by. */
void ti_shooting_scatter_of_rows(const tribo_sysid *s, double *cov);

/* ---- starts.c: an iteration of the whole ---- */
tribo_status ti_shooting_iterate(tribo_sysid *s);
#endif
