/* mallocs.h -- counts every malloc of the process, OpenBLAS's included; the sanitizers bring their own. */
#ifndef TRIBO_TESTS_MALLOCS_H
#define TRIBO_TESTS_MALLOCS_H
#include <stdlib.h>

static int mallocs;
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define COUNTS_MALLOC 1
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_memalign(size_t, size_t);
void *malloc(size_t n) {
    mallocs++;
    return __libc_malloc(n);
}
void *calloc(size_t n, size_t m) {
    mallocs++;
    return __libc_calloc(n, m);
}
void *aligned_alloc(size_t align, size_t n) {
    mallocs++;
    return __libc_memalign(align, n);
}
#else
#define COUNTS_MALLOC 0
#endif

#endif
