/* base.h -- memory and checks that every room uses. */
#ifndef TI_BASE_H
#define TI_BASE_H
#include <string.h>
#include <tribo/base.h>

enum { TI_ALIGN = 64 };
enum { TI_COUNT_LIMIT = 1 << 22 }; /* of what callers ask room for: squares of it, in bytes, are sizes still */

/* A zeroed block from the allocator (NULL or one of zeros = malloc), 64-byte aligned; NULL if there is none. */
void *ti_alloc(const tribo_allocator *a, size_t bytes);
void ti_free(const tribo_allocator *a, void *p, size_t bytes);
/* A block of at least `need` bytes with the contents of `block` (*bytes long, NULL if 0), which is released; the rest
 * zeroed. Grows by doubling. NULL without memory: then block and *bytes are as they were. */
void *ti_grow(const tribo_allocator *a, void *block, size_t *bytes, size_t need);

/* Cuts arrays out of one block. With base NULL it only counts, so that the same code measures and lays out. */
typedef struct ti_arena {
    char *base;
    size_t used;
} ti_arena;

static inline void *ti_carve(ti_arena *m, size_t n, size_t size) {
    size_t at = m->used;
    m->used = at + (n * size + TI_ALIGN - 1) / TI_ALIGN * TI_ALIGN;
    return m->base ? m->base + at : NULL;
}
#define TI_CARVE(arena, pointer, n) ((pointer) = ti_carve(arena, (size_t)(n), sizeof *(pointer)))
/* Takes the block that a first pass counted and starts again, to lay it out by a second; NULL without memory. */
static inline void *ti_arena_take(ti_arena *m, const tribo_allocator *a) {
    *m = (ti_arena){ti_alloc(a, m->used), 0};
    return m->base;
}

/* Write "text" and a line into diag, printf-style; returns s, so that an error is one statement. */
tribo_status ti_fail(tribo_diag *diag, tribo_status s, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* tribo_status_graver(). */
static inline int ti_gravity(tribo_status s) {
    return s == TRIBO_SUBSTITUTED ? 1 : 2 * (int)s;
}
static inline tribo_status ti_graver(tribo_status a, tribo_status b) {
    if (a < 0 || b < 0) return a < 0 ? a : b;
    return ti_gravity(a) >= ti_gravity(b) ? a : b;
}

/* False if any of the n numbers is NaN or infinite. */
bool ti_finite(const double *a, size_t n);
/* Whether n numbers are places or sizes that can be reckoned with, m: their squares are numbers, and what is added to
 * them is not lost altogether. */
#define TI_FURTHEST 1e10
bool ti_places(const double *a, size_t n);

/* splitmix64's mixing: every bit of the result depends on every bit of z. */
static inline uint64_t ti_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* For qsort() of numbers. */
int ti_ascending(const void *a, const void *b);

/* Disjoint sets of numbers, root[i] = i to begin with: the set of i, by its least member as long as ti_unite() alone
 * makes them. */
static inline int ti_root(int *root, int i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}
static inline void ti_unite(int *root, int a, int b) {
    a = ti_root(root, a), b = ti_root(root, b);
    root[a > b ? a : b] = a < b ? a : b;
}

/* The smaller of two. */
static inline double ti_min(double a, double b) {
    return a < b ? a : b;
}

/* The larger of two; NaN if either is. fmax would hide it. */
static inline double ti_max(double a, double b) {
    return a > b || a != a ? a : b;
}

#endif
