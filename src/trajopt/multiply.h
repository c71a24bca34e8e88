/* multiply.h -- products of small dense matrices, row-major without padding; large ones are handed to BLAS, whose calls
 * cost more than a product of the sizes of a robot. Added in one fixed order. */
#ifndef TI_MULTIPLY_H
#define TI_MULTIPLY_H
#include <stdbool.h>

/* C (m,n) := A'B, or where `more` C += A'B; A (k,m), B (k,n). */
void ti_times_t(int m, int n, int k, const double *A, const double *B, bool more, double *C);
/* C (m,n) := A B, or where `more` C += A B; A (m,k), B (k,n). */
void ti_times(int m, int n, int k, const double *A, const double *B, bool more, double *C);

#endif
