/* backward.h -- what the reverse and the forward tangents of a recorded step share. */
#ifndef TI_BACKWARD_H
#define TI_BACKWARD_H
#include "forward/frame.h"
#include <tribo/grad.h>

/* ---- record.c, sweep.c: what callers see, with its checks ---- */

/* What a step's reverse begins with: cotangents of the next state (ndx), and of the impulses that its contacts have on
 * b, world axes, in the order of tribo_last_contacts() (contacts,3); NULL = 0. */
typedef struct ti_seed_bar {
    const double *xnext, *impulse;
} ti_seed_bar;

/* Reverse of record k alone, into scratch of ws: valid until the next call. p: whether parameters are wanted. Never an
 * error: where the linearisation is singular or not finite, the contacts of the step count as broken.
 * @return TRIBO_OK; TRIBO_DEGENERATE; what ti_tape_verdict() says. */
typedef struct ti_record_bar {
    const double *x, *u, *p; /* (ndx), (nu), (np) or NULL */
} ti_record_bar;
tribo_status ti_record_reverse(tribo_ws *ws, const tribo_tape *tape, int k, const ti_seed_bar *in, bool p,
                               ti_record_bar *out);

/* A as tribo_step_jac() has it, and C (n,ndx) as tribo_step_jvp() in directions of p alone, with less work. */
tribo_status ti_record_along(tribo_ws *ws, const tribo_tape *tape, int k, double *A, int n, const double *p_dot,
                             double *C);

/* A reverse sweep, record by record from the last to the first, that cannot fail once it has begun. */
typedef struct ti_sweep {
    tribo_ws *ws;
    bool params;
    tribo_status worst;
} ti_sweep;
/* lx (ndx) of the last state */
void ti_sweep_begin(ti_sweep *s, tribo_ws *ws, const double *lx, bool params);
/* Over record k of the tape; lx (ndx) of the state it starts from. impulse_bar (contacts,3); NULL = 0.
 * u_bar (nu) += ; NULL = skip */
void ti_sweep_over(ti_sweep *s, const tribo_tape *tape, int k, const double *lx, const double *impulse_bar,
                   double *u_bar);
/* What came together: x0_bar (ndx), p_bar (np) += ; NULL = skip. @return the worst that was met. */
tribo_status ti_sweep_end(ti_sweep *s, double *x0_bar, double *p_bar);

/* ---- reverse.c, tangent.c, jacobian_free.c: the derivatives ---- */

/* Lay record k open in ws: frame, links, shapes, problem, displacements. p is the tape's. */
tribo_status ti_restore(tribo_ws *ws, const tribo_tape *tape, int k, ti_frame *f, const double **p);
/* Take the contacts out of a restored record, so that its bodies move freely. */
void ti_break(tribo_ws *ws, ti_frame *f, const double *p);
/* The derivatives of a restored record. On an error ti_reverse() has added nothing; what ti_forward() and
 * ti_jacobians() overwrite is then undefined, and xnext_dot must not alias x_dot. */
tribo_status ti_reverse(tribo_ws *ws, const ti_frame *f, const double *p, const ti_seed_bar *in, double *x_bar,
                        double *u_bar, double *p_bar);
tribo_status ti_forward(tribo_ws *ws, const ti_frame *f, const double *p, int ndir, const double *x_dot,
                        const double *u_dot, const double *p_dot, double *xnext_dot);
tribo_status ti_jacobians(tribo_ws *ws, const ti_frame *f, const double *p, double *A, double *B, double *C);
/* A, and C (n,ndx) in n directions of p: those that move free velocities and inertias alone come with A. */
tribo_status ti_jacobian_along(tribo_ws *ws, const ti_frame *f, const double *p, double *A, int n, const double *p_dot,
                               double *C);

/* The Jacobians of a record of a model with joints: where it applies, without parameters. tree_columns.c. What they are
 * of may have taken overlap back, which masses change without forces doing so. */
bool ti_tree_columns_apply(const tribo_ws *ws, const ti_frame *f, const double *p);
tribo_status ti_tree_jacobians(tribo_ws *ws, const ti_frame *f, const double *p, double *A, double *B);
/* How point, normal and reference of contact i change with the poses of its bodies: rates (ncon,2,7,6), and whether the
 * normal turns, turns (ncon,2). follows: what the reference gains as the gap grows. */
void ti_contact_rates(tribo_ws *ws, const ti_frame *f, int i, const double *p, double follows, double *rates,
                      unsigned char *turns);

/* ---- asked.c ---- */

/* Whether contact i of island k has an impulse in any phase, or others are taken to its time. */
bool ti_frame_acts(const ti_frame *f, int k, int i);

/* What the rows J of one side of a contact are multiplied with: l' J v. */
typedef struct ti_products {
    int n, shared; /* those with J_bar come last: they are the contact's own */
    ti_row_product of[TI_ROW_PRODUCTS];
    double give[3];
} ti_products;
/* Those of a phase of island k, added: l' J y and c_bar' J v at each of its points, and the impulse that a rebound is
 * given. at: where the velocities of the side's body begin. */
void ti_phase_products(const tribo_ws *ws, const ti_frame *f, int k, ti_phase phase, int i, int at, ti_products *q);
/* Of the velocity after the impacts of block b, hit_bar, to what they leave, in place, and to the free velocity and
 * that before, added; to inertias, times and impulses. docs/math.md eq. (470). */
void ti_gyro_vjp(tribo_ws *ws, const ti_frame *f, int k, int b, double *hit_bar, double *free_bar, double *now_bar);
/* Forward, of one direction: what is added to the spin, to (3). */
struct ti_gyro;
void ti_gyro_jvp(const tribo_ws *ws, const ti_frame *f, const struct ti_gyro *g, int b, const ti_link_diff *diffs,
                 const double *hit_dot, const double *free_dot, const double *now_dot, double time_dot, double *to);
/* Through the collision of two shapes, from a contact's frame_bar (TI_CON_FRAME) and gap_bar to both, out
 * (TI_COLLIDE_COLS), overwritten. */
void ti_touch_vjp(const ti_con *c, const ti_shape *a, const ti_shape *b, const double *frame_bar, double gap_bar,
                  double *out);

/* ---- hits.c: the derivatives of forward/hit.c ---- */

/* Behind the reverse of the phases of island k but the first: what rows of impacts make of hold_bar, now_bar, tau_bar,
 * of links and of geom_bar; J_hit_bar of contacts that are as in the beginning goes to J_bar. */
void ti_hits_vjp(tribo_ws *ws, const ti_frame *f, int k);
/* Of a body at some time: d of its link, of velocities held_dot, now_dot (6), time_dot; to [out] */
void ti_hit_move_jvp(const tribo_ws *ws, const ti_frame *f, int body, const ti_moved *m, const ti_link_diff *d,
                     const double *held_dot, const double *now_dot, double time_dot, ti_link_diff *to);
/* The derivative of contact i as it is then. */
void ti_hit_jac(const tribo_ws *ws, const ti_frame *f, int k, int i, ti_touch_jac jac);

/* Reverse of the phases of island k: from V_bar and D_bar of its bodies to the cotangents of free velocities (in diff),
 * inertias, friction, references, gaps; and what row products need. reverse_island.c. */
tribo_status ti_island_vjp(tribo_ws *ws, const ti_frame *f, int k, const double *p);
/* Seeds of one batch of tangents: row j of each is direction j; a NULL is zero. */
typedef struct ti_seeds {
    int n;
    const double *x, *u, *p;
} ti_seeds;
/* The free velocity of a body, from what else moves in d, its weight, u (6) and p; NULL = 0. */
void ti_free_dot(const tribo_ws *ws, int b, ti_link_diff *d, ti_vec weight_dot, const double *u, const double *p);
/* What the links of ws do in them, into diff_dot; and a tree's next state, out (ndx). */
void ti_seed_links(tribo_ws *ws, const ti_seeds *in);
void ti_tree_next_dot(tribo_ws *ws, const ti_frame *f, const ti_link_diff *diffs, int t, const double *V_dot,
                      const double *D_dot, double *out);
static inline const double *ti_seed(const double *a, int j, int width) {
    return a ? a + (size_t)j * (size_t)width : NULL;
}
/* Tangents of the phases of island k, from those of its links in diff_dot: next_dot and D_dot, (n,nv) of the
 * island's blocks. tangent_island.c. */
tribo_status ti_island_jvp(tribo_ws *ws, const ti_frame *f, int k, const double *p, const ti_seeds *in);
/* Tangents of the next state, out (n,ndx), which may alias in->x. */
tribo_status ti_step_tangents(tribo_ws *ws, const ti_frame *f, const double *p, const ti_seeds *in, double *out);
/* The columns of A and B that belong to the nb bodies of an island, which move one another alone, or (island < 0) to
 * one that touches nothing; A, B may be NULL. Then C (ndx,np). tangent_columns.c. */
tribo_status ti_tangent_columns(tribo_ws *ws, const ti_frame *f, const double *p, int island, const int *bodies, int nb,
                                double *A, double *B);
tribo_status ti_parameter_columns(tribo_ws *ws, const ti_frame *f, const double *p, double *C);
/* Whether the rounds of staggered projections are gone back through. */
static inline bool ti_is_unrolled(const tribo_ws *ws) {
    return ws->options.reverse == TRIBO_REVERSE_UNROLLED;
}

/* Whether every body and island of a step is of the kind that ti_jacobian() has `along` of: nothing bounces or
 * overlaps, no contact resists turning, no spin is so fast that it has substeps. */
bool ti_jacobian_applies(const tribo_ws *ws, const ti_frame *f);
/* A (ndx,ndx), B (ndx,nu) of a restored record; either may be NULL. On error they are undefined. With `along`, where
 * ti_jacobian_applies(), also out (n,ndx) in directions of p, of numbers that move free velocities and inertias alone.
 */
tribo_status ti_jacobian(tribo_ws *ws, const ti_frame *f, const double *p, double *A, double *B, const ti_seeds *along,
                         double *out);

#endif
