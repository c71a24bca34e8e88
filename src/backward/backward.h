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

#endif
