/* base.c -- status texts, memory, hash. */
#include "base/base.h"
#include "base/clones.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <tribo/version.h>

const char *tribo_status_text(tribo_status s) {
    switch (s) {
#define TRIBO_X(name, value, text)                                                                                     \
    case TRIBO_##name:                                                                                                 \
        return text;
        TRIBO_STATUS_LIST(TRIBO_X)
#undef TRIBO_X
    }
    return "unknown status";
}

tribo_status tribo_status_graver(tribo_status a, tribo_status b) {
    return ti_graver(a, b);
}

const char *tribo_version(void) {
    return TRIBO_VERSION;
}

/* Without touching large blocks: the system gives memory to what is used of them, and workspaces have room for more
 * contacts than most steps find. Where the block really begins is kept before it. */
static void *zeroed(size_t bytes) {
    char *block = calloc(1, bytes + TI_ALIGN);
    if (!block) return NULL;
    char *p =
        block + TI_ALIGN - (uintptr_t)block % TI_ALIGN; /* at least a pointer further: calloc's are aligned for it */
    memcpy(p - sizeof block, &block, sizeof block);
    return p;
}

void *ti_alloc(const tribo_allocator *a, size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL; /* a sum that has overflowed, or will when it is rounded */
    size_t rounded = (bytes + TI_ALIGN - 1) / TI_ALIGN * TI_ALIGN;
    if (!a || !a->alloc) return zeroed(rounded);
    void *p = a->alloc(a->ctx, rounded, TI_ALIGN);
    return p ? memset(p, 0, rounded) : NULL;
}

void ti_free(const tribo_allocator *a, void *p, size_t bytes) {
    if (!p) return;
    if (a && a->release) {
        a->release(a->ctx, p, (bytes + TI_ALIGN - 1) / TI_ALIGN * TI_ALIGN, TI_ALIGN);
        return;
    }
    void *block = p;
    if (!a || !a->alloc) memcpy(&block, (char *)p - sizeof block, sizeof block);
    free(block);
}

void *ti_grow(const tribo_allocator *a, void *block, size_t *bytes, size_t need) {
    if (block && need <= *bytes) return block;
    size_t size = *bytes ? *bytes : 1024;
    while (size < need) size *= 2;
    void *p = ti_alloc(a, size);
    if (!p) return NULL;
    if (block) memcpy(p, block, *bytes);
    ti_free(a, block, *bytes);
    *bytes = size;
    return p;
}

tribo_status ti_fail(tribo_diag *diag, tribo_status s, int line, const char *format, ...) {
    if (!diag) return s;
    diag->line = line;
    va_list args;
    va_start(args, format);
    vsnprintf(diag->text, sizeof diag->text, format, args);
    va_end(args);
    return s;
}

/* 0 * x is NaN for NaN and Inf, 0 otherwise. */
static double nothing(const double *a, size_t n) {
    double all = 0;
    for (size_t i = 0; i < n; i++) all += 0 * a[i];
    return all;
}

/* Many at a time, which do not wait for one another. */
TI_CLONES static double nothing_of_many(const double *a, size_t n) {
    enum { SOME = 32 };
    double sum[SOME] = {0};
    size_t i = 0;
    for (; i + SOME <= n; i += SOME)
        for (int k = 0; k < SOME; k++) sum[k] += 0 * a[i + k];
    return nothing(sum, SOME) + nothing(a + i, n - i);
}

bool ti_finite(const double *a, size_t n) {
    return (n < 32 ? nothing : nothing_of_many)(a, n) == 0;
}

bool ti_places(const double *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(a[i] >= -TI_FURTHEST && a[i] <= TI_FURTHEST)) return false;
    return true;
}

int ti_ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

uint64_t tribo_hash(const double *a, size_t n, uint64_t seed) {
    uint64_t h = seed ^ 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0x7ff8000000000000u;
        double x = a[i] + 0.0; /* -0 + 0 = +0 */
        if (x == x) memcpy(&bits, &x, sizeof bits);
        h = (h ^ bits) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}
