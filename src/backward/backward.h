/* backward.h -- what the reverse and the forward tangents of a recorded step share. */
#ifndef TI_BACKWARD_H
#define TI_BACKWARD_H
#include "forward/frame.h"
#include <tribo/grad.h>

/* Lay record k open in ws: frame, links, shapes, problem, displacements. p is the tape's. */
tribo_status ti_restore(tribo_ws *ws, const tribo_tape *tape, int k, ti_frame *f, const double **p);
/* Solved velocity of a body, (6). */
void ti_solved_velocity(const tribo_ws *ws, const ti_frame *f, int body, double *V);
/* What contact i asks of the velocity, with its derivative. */
ti_reference ti_frame_reference(const tribo_ws *ws, const ti_frame *f, int k, int i);
/* Whether contact i of island k has an impulse in any phase. */
bool ti_frame_acts(const ti_frame *f, int k, int i);

/* Reverse of the phases of island k: from V_bar and D_bar of its bodies to the cotangents of free velocities (in diff),
 * inertias, friction, references, gaps; and what row products need. reverse_island.c. */
tribo_status ti_island_vjp(tribo_ws *ws, const ti_frame *f, int k, const double *p, double *p_bar);
/* Seeds of one batch of tangents: row j of each is direction j; a NULL is zero. */
typedef struct ti_seeds {
    int n;
    const double *x, *u, *p;
} ti_seeds;
static inline const double *ti_seed(const double *a, int j, int width) {
    return a ? a + (size_t)j * (size_t)width : NULL;
}
/* Tangents of the phases of island k, from those of its links in diff_dot: next_dot and D_dot, (n,6 nblk) of the
 * island's blocks. tangent_island.c. */
tribo_status ti_island_jvp(tribo_ws *ws, const ti_frame *f, int k, const double *p, const ti_seeds *in);
/* Whether the rounds of staggered projections are gone back through. */
bool ti_is_unrolled(const tribo_ws *ws);

/* Whether ti_jacobian() can do a step: not where a contact bounces inside it, or a spin is so fast that it has
 * substeps. */
bool ti_jacobian_applies(const tribo_ws *ws, const ti_frame *f);
/* A (ndx,ndx), B (ndx,nu) of a restored record; either may be NULL. On error they are undefined. */
tribo_status ti_jacobian(tribo_ws *ws, const ti_frame *f, const double *p, double *A, double *B);

#endif
