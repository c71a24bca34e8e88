/* random.c -- a splitmix64 stream: the same numbers on every machine. */
#include "sysid/track/fit.h"

uint64_t ti_random_bits(ti_random *r) {
    return ti_mix(r->state += 0x9e3779b97f4a7c15u);
}

double ti_random_uniform(ti_random *r) {
    return (double)(ti_random_bits(r) >> 11) * 0x1p-53;
}

double ti_random_normal(ti_random *r) {
    double radius = sqrt(-2 * log(1 - ti_random_uniform(r)));
    return radius * cos(6.283185307179586 * ti_random_uniform(r));
}
