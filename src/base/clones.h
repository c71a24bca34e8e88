/* clones.h -- wider vectors where the processor has them.
 *
 * Functions marked so are written to add element by element, and contraction is off, so every clone gives the same
 * bits. They must be static: the resolver of a global one would be exported. TI_NO_CLONES is for counting what runs: of
 * several clones a machine runs one, and a branch is to count once, not in each function that it is compiled with. Nor
 * are there any under gcc's thread sanitizer, which is not there yet when the loader chooses among them. */
#ifndef TI_CLONES_H
#define TI_CLONES_H

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && !defined(TI_NO_CLONES) && \
    !defined(__SANITIZE_THREAD__)
#define TI_CLONES __attribute__((target_clones("default", "avx2")))
#define TI_CLONES_WIDE __attribute__((target_clones("default", "avx2", "avx512f")))
#define TI_CLONES_FMA __attribute__((target_clones("default", "fma")))
#else
#define TI_CLONES
#define TI_CLONES_WIDE
#define TI_CLONES_FMA
#endif
/* TI_CLONES_WIDE is for loops over eight numbers and more that are most of what runs around them: where a processor
 * meets a vector of eight now and then, it slows all else down for long after. TI_CLONES_FMA is for what calls fma(),
 * which is a function where no instruction is known. TI_INLINE: to be compiled with each clone, not beside it. */
#ifdef TI_NO_CLONES
#define TI_INLINE static inline
#else
#define TI_INLINE static inline __attribute__((always_inline))
#endif
/* Loops of at most eight, which the compiler would otherwise leave as loops. */
#if defined(__GNUC__) && !defined(__clang__)
#define TI_UNROLL _Pragma("GCC unroll 8")
#else
#define TI_UNROLL
#endif

#endif
