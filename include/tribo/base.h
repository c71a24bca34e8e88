/* base.h -- status, diagnostics and memory hooks: what every other header uses.
 *
 * Conventions of the whole library, stated once:
 *   double only; row-major; SI units; right-handed frames; z up; quaternions (w,x,y,z), unit.
 *   "(n)" or "(m,n)" after a parameter is its array shape. Plain parameters are inputs; [out] and [in,out] say so.
 *   x = [q; v] with nx = nq + nv. Tangent dx = [dq; dv], ndx = 2 nv; see sim.h for the free joint.
 *   name_bar = dL/d(name), in the shape of the tangent of name; every *_bar output is ACCUMULATED (+=).
 *   name_dot = a forward tangent of name; overwritten.
 *   Functions never print, exit, abort, or touch errno, signals, files (except *_load and *_save) or global state.
 *   Only *_new, *_build and *_load allocate. Const handles may be shared by threads; mutable ones may not.
 *   On error outputs are as they were, unless a function says otherwise.
 */
#ifndef TRIBO_BASE_H
#define TRIBO_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** @def TRIBO_API
 *  Marks what the shared library exports.
 *  @def TRIBO_CHECK
 *  Marks functions whose return value has to be looked at. */
#if defined(__GNUC__)
#define TRIBO_API __attribute__((visibility("default")))
#define TRIBO_CHECK __attribute__((warn_unused_result))
#else
#define TRIBO_API
#define TRIBO_CHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** One list makes the enum, the names and the messages, so that they cannot drift apart.
 *  0 and above: outputs are valid. Below 0: they are as they were. */
#define TRIBO_STATUS_LIST(X)                                                                                           \
    X(OK, 0, "success")                                                                                                \
    X(NOT_CONVERGED, 1, "outputs are valid but the tolerance was not reached")                                         \
    X(INTERRUPTED, 2, "stopped on request; outputs hold the best found so far")                                        \
    X(SUBSTITUTED, 3, "outputs are valid; the law asked for has no solution here and another took its place")          \
    X(DEGENERATE, 4, "outputs are valid, but the derivatives are not to be relied on here")                            \
    X(E_ARG, -1, "an argument is out of range, NULL or inconsistent")                                                  \
    X(E_DEF, -2, "a definition was not made by its tribo_default_*()")                                                 \
    X(E_NOMEM, -3, "the allocator returned NULL")                                                                      \
    X(E_CAPACITY, -4, "more contacts than the ncon_max of the workspace's options, or a full tape")                    \
    X(E_NONFINITE, -5, "NaN or Inf in an input or a result")                                                           \
    X(E_SINGULAR, -6, "a factorization failed")                                                                        \
    X(E_PARSE, -7, "malformed model or data file")                                                                     \
    X(E_IO, -8, "a file could not be read or written")                                                                 \
    X(E_FAST, -9, "something moves too fast for steps of this length")

/** Return value of every function that can fail; tribo_status_text() puts it in words. */
typedef enum tribo_status {
#define TRIBO_X(name, value, text) TRIBO_##name = value,
    TRIBO_STATUS_LIST(TRIBO_X)
#undef TRIBO_X
} tribo_status;

/** Static message for a status; never NULL, also for unknown values. */
TRIBO_API const char *tribo_status_text(tribo_status s);
/** The graver of two, to sum up calls by one status: an error, the first of two; else the later of OK, SUBSTITUTED,
 *  NOT_CONVERGED, INTERRUPTED, DEGENERATE. */
TRIBO_API tribo_status tribo_status_graver(tribo_status a, tribo_status b);

/** Where and why, for people. NULL is accepted wherever it is a parameter. */
typedef struct tribo_diag {
    int line;       /**< 1-based line of the file, 0 if none */
    char text[508]; /**< NUL-terminated; truncated to fit */
} tribo_diag;

/** Memory hooks. A NULL tribo_allocator * means malloc and free. `ctx` is passed back untouched. */
typedef struct tribo_allocator {
    void *(*alloc)(void *ctx, size_t bytes, size_t align);           /**< NULL = there is no memory */
    void (*release)(void *ctx, void *p, size_t bytes, size_t align); /**< p is never NULL; sizes as they were given */
    void *ctx;                                                       /**< the caller's */
} tribo_allocator;

/** 64-bit hash of doubles, the same on every machine: all NaN are one value, -0 is +0. */
TRIBO_API uint64_t tribo_hash(const double *a, size_t n, uint64_t seed);

/** "major.minor.patch" of the library that is linked; compare with TRIBO_VERSION of the header. */
TRIBO_API const char *tribo_version(void);

#ifdef __cplusplus
}
#endif
#endif
