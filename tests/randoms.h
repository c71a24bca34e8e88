/* randoms.h -- random numbers that every machine draws alike. */
#ifndef TEST_RANDOMS_H
#define TEST_RANDOMS_H
#include <stdint.h>

static inline double random_in(uint64_t *state) { /* (-1, 1) */
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

#endif
