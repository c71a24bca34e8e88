/* names.h -- the nearest of some names to one that there is not. */
#ifndef TRIBO_TOOLS_NAMES_H
#define TRIBO_TOOLS_NAMES_H
#include <stdbool.h>

/* Letters to insert, delete, replace, or exchange with the next, to make b of a; long names are cut. */
int name_distance(const char *a, const char *b);

/* Names that are offered one by one. */
typedef struct near_name {
    const char *name;  /* that there is not */
    char nearest[128]; /* "" = none is near */
    int least;         /* its distance, if any */
    char all[300];     /* those that were offered */
} near_name;
near_name near_begin(const char *name);
void near_offer(near_name *n, const char *candidate);

#endif
