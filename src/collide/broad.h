/* broad.h -- which pairs of shapes may touch: the boxes around them, sorted into a grid. */
#ifndef TI_BROAD_H
#define TI_BROAD_H
#include "base/base.h"
#include "math/vec.h"

typedef struct ti_broad_pair {
    int a, b; /* a < b */
} ti_broad_pair;

/* A box with the number of its shape and the cell of its centre. */
typedef struct ti_broad_item {
    double lo[3], hi[3];
    int id, cell;
} ti_broad_item;

/* Scratch and result; the arrays are cut from one block, nothing is allocated later. */
typedef struct ti_broad {
    int n_max, pairs_max;
    ti_broad_pair *pair; /* (pairs_max) the result, ascending */
    ti_broad_pair *pair_scratch;
    ti_broad_item *item, *sorted; /* (n_max) */
    int *start;                   /* (4 n_max + 1) first item of a cell; first pair of a shape */
} ti_broad;

/* Lay out room for n_max shapes and pairs_max pairs; a counting arena measures it. */
void ti_broad_carve(ti_broad *w, ti_arena *m, int n_max, int pairs_max);

typedef bool ti_broad_may(const void *ctx, int a, int b);
/* Pairs of shapes whose boxes [lo, hi] (n) overlap or touch, in w->pair in ascending order of (a, b).
 *
 * Boxes that are unbounded (planes), or NaN, meet every other. The answer is a function of the arguments alone: neither
 * earlier calls nor the choice of the grid leave a trace in it. docs/math.md, Which pairs.
 *  @param may says of two shapes whose boxes meet whether they may touch, and so whether they count; NULL = all
 *  @return how many, or -1 if n or the pairs do not fit.
 *  Cost: linear in n and in the pairs, while no cell holds many shapes and few are much larger than the mean. */
int ti_broad_pairs(ti_broad *w, int n, const ti_vec *lo, const ti_vec *hi, ti_broad_may *may, const void *ctx);

#endif
