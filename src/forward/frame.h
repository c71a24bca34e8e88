/* frame.h -- one step laid open: contacts, islands, the solved impulses; what a tape keeps and the reverse reads. */
#ifndef TI_FRAME_H
#define TI_FRAME_H
#include "base/base.h"
#include "collide/broad.h"
#include "contact/problem.h"
#include "contact/staggered.h"
#include "forward/touching.h"

enum { TI_BROAD_FROM = 256 };           /* pairs of geoms; below, a look at each is cheaper than a broad phase */
enum { TI_SOLVED = TI_CONTACT_POINTS }; /* index of the extrapolated solution beside its points */

/* Bodies that push each other: consecutive contacts and blocks. */
typedef struct ti_island {
    int con0, ncon, blk0, nblk;
    int npoint;
    double weight[TI_CONTACT_POINTS], compliance[TI_CONTACT_POINTS];
} ti_island;

/* Arrays of one step, in the workspace or on a tape. */
typedef struct ti_frame {
    int ncon, nisland, nblk;
    double *x, *u;                         /* (nx), (nu): the step's inputs */
    ti_con *con;                           /* (ncon), island after island */
    ti_island *island;                     /* (nisland) */
    int *blk_body;                         /* (nblk) body of a block, island after island */
    double *lambda[TI_CONTACT_POINTS + 1]; /* (3 ncon) */
    double *v[TI_CONTACT_POINTS + 1];      /* (6 nblk) */
    unsigned char *mode;                   /* (ncon) tribo_mode */
    double *rounds;                        /* (options.rounds,3 ncon) impulses after each, island after island */
} ti_frame;

/* Lay out (or measure) a frame of these sizes. */
void ti_frame_layout(ti_arena *arena, ti_frame *f, const tribo_sizes *size, int rounds, int ncon, int nisland,
                     int nblk);

struct tribo_ws {
    tribo_allocator alloc;
    size_t bytes;
    const tribo_model *model;
    tribo_options options;
    tribo_step_info info;
    ti_contact_ws *contact;
    ti_staggered_ws *staggered; /* NULL unless options.rounds > 0 */

    ti_link *link;   /* (nbody) */
    ti_shape *shape; /* (ngeom) */
    double *reach;   /* (ngeom) bounding radius; then how far a geom can move in a step */
    double *speed;
    double extent;  /* of the model, m: what a gradient is measured by */
    ti_broad broad; /* only for models of at least TI_BROAD_FROM pairs */
    ti_vec *low, *high;
    ti_frame frame;

    /* The contact problem of every island, in the frame's order; see ti_contact_problem. */
    int *width, *voff, *moff, *blk_of, *blk_at, *blk_a, *blk_b, *joff; /* blk_at: of a body, in the frame */
    double *M, *J, *vfree, *vnow, *ref, *mu;
    const double *covariance; /* (ndx,ndx) of the state, the caller's; NULL = options.law.noise everywhere */
    double *noise;            /* (2 ncon_max) of the contacts, where there is one */

    ti_con *found; /* (ncon_max) in pair order */
    int nfound;
    int *slot, *root; /* island sorting: (nbody) */

    int nwarm; /* the last step's contacts, in pair order */
    struct ti_warm *warm;
    tribo_contact *view;
    double *D;     /* (nbody,6) displacements */
    double *xnext; /* (nx) */
    double *p;     /* (np) that were last found to be physical */
    bool p_known;  /* there are such */

    struct ti_scratch *scratch; /* of the reverse and the tangents; laid out by the same allocation */
};

struct ti_warm {
    int pair, feature;
    unsigned char mode;
    double lambda[3];
};

enum { TI_DIRECTIONS = 24 }; /* forward tangents carried at once */

/* Room for derivatives. The tangents' arrays hold TI_DIRECTIONS rows. */
typedef struct ti_scratch {
    ti_link_diff *diff;                                      /* (nbody) */
    double *D_bar, *V_bar, *Y;                               /* (nbody,6) */
    double *geom_bar;                                        /* (ngeom,9) */
    double *lambda_bar, *tau_bar, *mu_bar;                   /* (3 ncon), (ncon), (ncon) */
    double *ref_bar, *frame_bar;                             /* (ncon), (ncon,12): of stages that are gone */
    double *J_bar, *M_bar;                                   /* (36 ncon), (36 nbody): of laws that depend on G */
    double *y[TI_CONTACT_POINTS], *c_bar[TI_CONTACT_POINTS]; /* (6 nbody), (3 ncon) */
    double *v_work, *l_work, *mu_work;                       /* (6 nbody), (3 ncon), (ncon) */
    double *bar, *p_sum;                                     /* (ndx), (np): of a sweep */
    double *unit;                                            /* (ndx) what entries of a tangent are measured in */
    double *x_row, *u_row, *p_row;                           /* (ndx), (nu), (np): of one of its records */
    ti_link_diff *diff_dot;                                  /* (nbody) */
    double *jac;                                             /* (ncon,7,18) */
    double *r_dot[TI_CONTACT_POINTS], *c_dot[TI_CONTACT_POINTS], *mu_dot; /* (6 nbody), (3 ncon), (ncon) */
    double *v_dot, *lambda_dot, *v_sum, *lambda_sum;                      /* (6 nbody), (3 ncon) and the same */
    ti_link_jac *link_jac;                                                /* (nbody) */
    double *rate;                                                         /* (ncon,2,7,6) */
    unsigned char *turns;                                                 /* (ncon,2) */
    double *seed;                                                         /* (ndx + nu + np) */
} ti_scratch;

/* Whether a step can be made of these: TRIBO_E_ARG (p is not physical, a quaternion without direction),
 * TRIBO_E_NONFINITE. */
tribo_status ti_step_admit(tribo_ws *ws, const double *p, const double *x, const double *u);
/* Links with their free velocities, and geoms in the world: the part of a step before contact. */
void ti_step_kinematics(tribo_ws *ws, const double *p, const double *x, const double *u);
/* Fill the problem arrays of ws for the frame's contacts. fresh: also set uf, an, tau and bounce of each contact, which
 * a tape has already. */
void ti_step_pose(tribo_ws *ws, const ti_frame *f, const double *p, bool fresh);
/* The problem of island i, as views of ws. */
ti_contact_problem ti_step_island(const tribo_ws *ws, const ti_frame *f, int i);
/* The solution of island i, as views of the frame. */
ti_contact_solution ti_frame_solution(const ti_frame *f, int i);
/* Whether contacts push before they touch. */
bool ti_step_is_noisy(const tribo_ws *ws);
/* Noise of contact i from the covariance, ref_gap the derivative of its reference velocity to the gap. */
void ti_step_noise(tribo_ws *ws, const ti_con *c, int i, double ref_gap);
/* How far noise moves the surface of a body in a step, whose points are within `radius` of its origin. */
double ti_step_noise_reach(const tribo_ws *ws, int body, double radius);
/* Find contacts and sort them into islands: con, island, blk_body of the frame. TRIBO_E_CAPACITY if too many. */
tribo_status ti_step_find(tribo_ws *ws, ti_frame *f);
/* Displacements of the bodies in the step, (nbody,6): docs/math.md eq. (16). */
void ti_step_displacement(const tribo_ws *ws, const ti_frame *f, double *D);
/* The measures of the step's islands, solved and posed, into ws->info: step_measures.c. */
tribo_status ti_step_measure(tribo_ws *ws, const ti_frame *f);
/* out (6) = M^-1 in (6) of a link */
void ti_link_minv(const ti_link *l, const double *in, double *out);

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

#endif
