/* backward.h -- what the reverse and the forward tangents of a recorded step share. */
#ifndef TI_BACKWARD_H
#define TI_BACKWARD_H
#include "forward/frame.h"
#include <tribo/grad.h>

/* Lay record k open in ws: frame, links, shapes, problem, displacements. p is the tape's. */
tribo_status ti_restore(tribo_ws *ws, const tribo_tape *tape, int k, ti_frame *f, const double **p);
/* Solved velocity of a body, (6). */
void ti_solved_velocity(const tribo_ws *ws, const ti_frame *f, int body, double *V);
/* The reference velocity of contact i with its partial derivatives. */
ti_reference ti_frame_reference(const tribo_ws *ws, const ti_con *c, const double *p);
/* J of contact i on side 0 (a) or 1 (b), (3,6); NULL for the world. */
const double *ti_frame_rows(const tribo_ws *ws, const ti_frame *f, int i, int side);

/* Whether ti_jacobian() can do a step: not where a contact bounces inside it, or a spin is so fast that it has
 * substeps. */
bool ti_jacobian_applies(const tribo_ws *ws, const ti_frame *f);
/* A (ndx,ndx), B (ndx,nu) of a restored record; either may be NULL. On error they are undefined. */
tribo_status ti_jacobian(tribo_ws *ws, const ti_frame *f, const double *p, double *A, double *B);

#endif
