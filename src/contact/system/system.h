/* system.h -- the linear system of every solver and of the reverse:  K = M + J' D J  by block LU.
 *
 * D is block-diagonal, 3x3 for each contact, nonsymmetric where a contact slides. K has a block for each velocity block
 * and one for each pair of blocks that a contact joins; blocks are eliminated in a minimum-degree order, with partial
 * pivoting inside a block. docs/math.md eq. (41).
 */
#ifndef TI_SYSTEM_H
#define TI_SYSTEM_H
#include "contact/system/elimination.h"

/* Store J for the products below: first, once for each problem. */
void ti_system_pack(ti_system *s, const ti_contact_problem *p);
/* c (3 nc) = J v (+ ref if with_ref); y (nv) += J' lambda; y (nv) = M x */
void ti_system_jv(const ti_system *s, const ti_contact_problem *p, const double *v, bool with_ref, double *c);
void ti_system_jt(const ti_system *s, const ti_contact_problem *p, const double *lambda, double *y);
void ti_system_mv(const ti_system *s, const ti_contact_problem *p, const double *x, double *y);

void ti_system_carve(ti_arena *m, const ti_contact_size *most, ti_system *s);
/* Those of its arrays alone that ti_system_factor() fills, of a problem of this size in an s that has been carved. */
void ti_system_carve_factors(ti_arena *m, int nc, int nv, ti_system *s);
/* Order the blocks and lay out the fill; TRIBO_E_CAPACITY if it does not fit. */
tribo_status ti_system_pattern(ti_system *s, const ti_contact_problem *p);
/* K = M + J' D J, then K = LU. D (nc,3,3). TRIBO_E_SINGULAR. */
tribo_status ti_system_factor(ti_system *s, const ti_contact_problem *p, const double *D);
/* x := K^-1 x, x (n,nv). */
void ti_system_solve(const ti_system *s, int n, double *x);
/* x := K^-T x, x (nv). */
void ti_system_solve_t(const ti_system *s, double *x);

#endif
