/* six.h -- the contact system where every block is a free body: width 6, rows padded to 8 and kept in vectors.
 *
 * Same formulas as products.c and system.c. Loops run along padded rows, each element added in one fixed order, so the
 * width of the machine's vectors does not change a bit.
 */
#ifndef TI_SIX_H
#define TI_SIX_H
#include "contact/system/elimination.h"

enum { TI_SIX_ROWS = 24, TI_SIX_COLS = 24, TI_SIX_BLOCK = 48 };

/* The inverse of the inertia of a free body whose axes are not the principal ones. */
typedef struct ti_six_turn {
    double xx, yy, zz, xy, xz, yz; /* xx = 0 of any other block */
} ti_six_turn;
void ti_six_invert_turn(int width, const double *M, ti_six_turn *t);
double ti_six_turned(const ti_six_turn *t, const double *x, const double *y); /* x' t y */

bool ti_six_fits(const ti_contact_problem *p);
/* J, twice: rows (nc,2,3,8) padded with zeros, cols (nc,2,6,4) transposed. */
void ti_six_pack(const ti_contact_problem *p, double *rows, double *cols);
void ti_six_jv(const ti_contact_problem *p, const double *cols, const double *v, bool with_ref, double *c);
void ti_six_jt(const ti_contact_problem *p, const double *rows, const double *lambda, double *y);
/* max_i sum_j |J_ij| x_j with x = minv |J|' |lambda|, left in x (nv): what G lambda is a sum of, minv for M^-1. */
double ti_six_made_of(const ti_contact_problem *p, const double *rows, const double *cols, const double *minv,
                      const double *lambda, double *x);
void ti_six_mv(const ti_contact_problem *p, const double *x, double *y);

/* left: the rows that D has on its left, as a rule `rows`. */
bool ti_six_factor(ti_system *s, const ti_contact_problem *p, const double *rows, const double *left, const double *D);
/* Of a coupled problem: rows + coupling. */
void ti_six_tilt(const ti_contact_problem *p, const double *rows, const double *coupling, double *left);
void ti_six_solve_one(const ti_system *s, double *x);
void ti_six_solve_panel(const ti_system *s, double *panel); /* (nv,8) */
void ti_six_solve_t(const ti_system *s, double *x);

#endif
