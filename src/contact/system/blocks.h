/* blocks.h -- dense kernels for one block: LU with partial pivoting, its solves, products. Row-major. */
#ifndef TI_BLOCKS_H
#define TI_BLOCKS_H
#include <stdbool.h>

/* The width of most blocks, for which loops are compiled apart; where LAPACK takes over. */
enum { TI_COMMON = 6, TI_LAPACK_FROM = 25 };

/* P A = L U in place; pivot[j] = row exchanged with j. The diagonal of U is stored inverted below TI_LAPACK_FROM.
 * False if a pivot is zero or not finite. */
bool ti_block_lu(int w, double *A, int *pivot);
/* X := A^-1 X, X (w,n). */
void ti_block_solve(int w, const double *LU, const int *pivot, int n, double *X);
/* x := A^-T x, x (w). */
void ti_block_solve_t(int w, const double *LU, const int *pivot, double *x);
/* C (m,n) -= A (m,k) B (k,n). */
void ti_block_product_sub(int m, int k, int n, const double *A, const double *B, double *C);
/* y (n) -= A (m,n)' x (m). */
void ti_block_product_t_sub(int m, int n, const double *A, const double *x, double *y);

#endif
