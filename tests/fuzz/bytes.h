/* bytes.h -- numbers out of the bytes of a fuzzer: mostly such as occur, now and then such as nobody expects. */
#ifndef FUZZ_BYTES_H
#define FUZZ_BYTES_H
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/base.h>

typedef struct bytes {
    const uint8_t *at, *end;
    int wild; /* how many in 256 numbers are of the unexpected kind */
} bytes;

static inline unsigned take(bytes *b) {
    return b->at < b->end ? *b->at++ : 0;
}

/* 0 to n - 1 */
static inline int pick(bytes *b, int n) {
    return (int)(take(b) % (unsigned)n);
}

static inline bool chance(bytes *b, int of_256) {
    return (int)take(b) < of_256;
}

static inline double unexpected(bytes *b) {
    static const double all[] = {0,    -0.0, 1,      -1,    1e-9,  -1e-9, 1e-300, 5e-324,   1e10,      -1e10,
                                 1e20, 1e80, -1e160, 1e300, 1e-20, 1e5,   NAN,    INFINITY, -INFINITY, 3};
    return all[pick(b, sizeof all / sizeof *all)];
}

/* -1 to 1, or something else */
static inline double real(bytes *b) {
    if (b->wild && chance(b, b->wild)) return unexpected(b);
    return ((double)(take(b) << 8 | take(b)) + 0.5) / 32768 - 1;
}

/* low to high, evenly in the logarithm */
static inline double scale(bytes *b, double low, double high) {
    if (b->wild && chance(b, b->wild)) return unexpected(b);
    return low * pow(high / low, (double)take(b) / 255);
}

static inline void reals(bytes *b, double *a, size_t n, double size) {
    for (size_t i = 0; i < n; i++) a[i] = size * real(b);
}

static inline bool all_finite(const double *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(a[i])) return false;
    return true;
}

/* Memory is limited, so that what asks for too much is refused and not waited for. */
static inline void *limited_alloc(void *ctx, size_t n, size_t align) {
    (void)ctx;
    return n > (size_t)1 << 26 ? NULL : aligned_alloc(align, n);
}
static inline void limited_release(void *ctx, void *p, size_t n, size_t align) {
    (void)ctx, (void)n, (void)align;
    free(p);
}
static const tribo_allocator limited = {limited_alloc, limited_release, NULL};

/* Say what is wrong, and stop where a debugger sees it. */
#define WRONG(...)                                                                                                     \
    do {                                                                                                               \
        fprintf(stderr, "wrong: " __VA_ARGS__);                                                                        \
        fputc('\n', stderr);                                                                                           \
        abort();                                                                                                       \
    } while (0)

/* An output that errors must leave alone. */
enum { OUTPUT_MAX = 1 << 16 };
typedef struct output {
    double *a;
    size_t n;
} output;

static inline output output_new(size_t n) {
    output o = {malloc((n + 1) * sizeof(double)), n};
    if (!o.a) abort();
    for (size_t i = 0; i < n; i++) o.a[i] = 0.5;
    return o;
}
/* After a call: below 0 all is as it was; 0 all is finite. */
static inline void output_check(const output *o, int status, const char *call) {
    for (size_t i = 0; i < o->n; i++) {
        if (status < 0 && o->a[i] != 0.5) WRONG("%s returned %d and wrote output %zu", call, status, i);
        if (status == 0 && !isfinite(o->a[i])) WRONG("%s returned OK and %g in output %zu", call, o->a[i], i);
    }
}
static inline void output_free(output *o) {
    free(o->a);
}

#endif
