/* dense.h -- dense kernels for the sizes of contact, row-major, with an explicit leading dimension ld.
 *
 * All of them add in one fixed order, element by element along a row, so the width of the machine's vectors does not
 * change a bit. Fastest where ld is a multiple of TI_LANE and the matrix 64-byte aligned; right for any ld >= n.
 * Large ones are handed to LAPACK.
 */
#ifndef TI_DENSE_H
#define TI_DENSE_H

enum { TI_LANE = 8 };

/* The leading dimension that suits n columns. */
static inline int ti_ld(int n) {
    return (n + TI_LANE - 1) / TI_LANE * TI_LANE;
}

/* A = R'R in place, R upper with the reciprocals of its diagonal: reads the upper triangle, destroys the lower one
 * (of columns < ld). floor >= 0.
 * Returns 0, or 1 + the row of the first pivot that is not above floor (NaN is not). */
int ti_chol(int n, double *A, int ld, double floor);
/* x := (R'R)^-1 x */
void ti_chol_solve(int n, const double *R, int ld, double *x);

/* P A = L U in place with row pivoting; piv (n), for the solves only. Returns 0, or 1 + the first column without a
 * pivot above floor. */
int ti_lu(int n, double *A, int ld, int *piv, double floor);
/* x := A^-1 x */
void ti_lu_solve(int n, const double *LU, int ld, const int *piv, double *x);
/* X (n,m) := A^-1 X, rows one after the other in memory */
void ti_lu_solve_many(int n, const double *LU, int ld, const int *piv, int m, double *X);
/* x := A^-T x */
void ti_lu_solve_t(int n, const double *LU, int ld, const int *piv, double *x);

/* y := A'x + b, A (m,n), which is A x + b where A is symmetric; b NULL = 0; y may be b but not x. */
void ti_matvec_t(int m, int n, const double *A, int ld, const double *x, const double *b, double *y);
/* Y (m,n) = X (m,k) A (k,n), rows ldx, lda and ldy numbers apart. Zeros of A that stand together are passed over. */
void ti_product(int m, int k, int n, const double *X, int ldx, const double *A, int lda, double *Y, int ldy);

/* S := D A D, A (n,n) without padding, S (n,ld) padded with zeros. seen (ld) := 0, or NaN where its column of S holds a
 * NaN or an infinity. */
void ti_scale_both(int n, const double *A, const double *d, double *S, int ld, double *seen);

#endif
