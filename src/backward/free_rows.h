/* free_rows.h -- how the next velocities of free bodies change with free velocities and poses: rows of an island, and
 * the columns of one body in them. docs/math.md, Jacobians of a step. */
#ifndef TI_FREE_ROWS_H
#define TI_FREE_ROWS_H
#include "backward/backward.h"
#include "contact/reverse/panel.h"

enum { TI_FREE_PANELS = 2, TI_FREE_ROWS = TI_FREE_PANELS * TI_PANEL }; /* rows at once, of eight bodies */

/* A solved point of an island: k in its phase. */
typedef struct ti_free_point {
    const ti_frame *f;
    int island, k;
    double weight;
} ti_free_point;

/* The rows of n blocks from blk on: of each, by columns of two panels, how the momentum row moves it, Y, and how
 * contacts do, L. */
typedef struct ti_free_rows {
    int blk, n;
    int npanel, eights[TI_FREE_PANELS];
    const double *Y[TI_FREE_PANELS], *L[TI_FREE_PANELS];
} ti_free_rows;

/* Twelve columns of one body, each over the rows: unit free velocities, displacements of its pose. */
typedef struct ti_free_columns {
    double P[6][TI_FREE_ROWS], Q[6][TI_FREE_ROWS];
} ti_free_columns;

/* How the contacts of an island change with the poses of its bodies. */
void ti_free_rows_prepare(tribo_ws *ws, const ti_frame *f, int island, const double *p);
/* The rest of *rows, with the factors of ti_contact_factor(); they stay until the next call. */
void ti_free_rows_solve(tribo_ws *ws, const ti_contact_problem *p, const ti_island *is, ti_free_rows *rows);
/* places: Q too. */
void ti_free_columns_of(const tribo_ws *ws, const ti_free_point *at, const ti_free_rows *rows, int body, bool places,
                        ti_free_columns *x);

#endif
