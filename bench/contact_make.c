/* contact_make.c -- contact problems made at random, as JSON lines for `bench_contact` and `tribo solve`.
 *
 *   bench_contact_make SEED COUNT [N SPREAD]
 *
 * Of every make in turn; with N and SPREAD only towers of N boxes with masses 10^U(-SPREAD, SPREAD) kg.
 */
#include "../tests/contact_makes.h"

static void list(const char *key, const double *a, int n) {
    printf(", \"%s\": [", key);
    for (int i = 0; i < n; i++) printf(i ? ", %.17g" : "%.17g", a[i]);
    printf("]");
}

int main(int argc, char **argv) {
    if (argc != 3 && argc != 5) {
        fprintf(stderr, "usage: bench_contact_make SEED COUNT [N SPREAD]\n");
        return 2;
    }
    uint64_t seed = strtoull(argv[1], NULL, 10);
    for (int k = 0; k < atoi(argv[2]); k++) {
        made_random r = {seed * 1000003u + (uint64_t)k * 7919u};
        made_problem q = argc == 5 ? made_tower(&r, atoi(argv[3]), strtod(argv[4], NULL)) : made_any(seed, k);
        printf("{\"id\": %d, \"name\": \"%s\", \"kind\": \"NCP\", \"nc\": %d, \"nv\": %d", k, q.name, q.nc, q.nv);
        list("mu", q.mu, q.nc);
        double *low = q.M, *to = q.M; /* the lower triangle, packed in place */
        for (int i = 0; i < q.nv; i++)
            for (int j = 0; j <= i; j++) *to++ = low[(size_t)i * (size_t)q.nv + (size_t)j];
        list("M", q.M, q.nv * (q.nv + 1) / 2), list("J", q.J, 3 * q.nc * q.nv), list("vfree", q.vfree, q.nv);
        printf("}\n");
        made_free(&q);
    }
    return 0;
}
