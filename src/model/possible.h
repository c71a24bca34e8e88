/* possible.h -- which geoms can touch, and what they have together. */
#ifndef TI_POSSIBLE_H
#define TI_POSSIBLE_H
#include "model/builder.h"

/* Whether geoms i and j can touch, by the filters or by a pair of their own. */
bool ti_can_touch(const tribo_model *m, int i, int j);
/* Their pair, whichever way round they are given. @return false if they cannot touch. */
bool ti_pair_of(const tribo_model *m, int i, int j, ti_pair *pair);
/* Where pairs of geoms are in the order that contacts have. */
static inline int64_t ti_pair_rank(const tribo_model *m, int i, int j) {
    return i < j ? (int64_t)i * m->size.ngeom + j : (int64_t)j * m->size.ngeom + i;
}

/* All pairs in their order: `ti_pair_walk w = {0}; while (ti_pair_next(m, &w)) ... w.pair`. Time goes with the square
 * of the geoms. */
typedef struct ti_pair_walk {
    int i, j;
    ti_pair pair;
} ti_pair_walk;
bool ti_pair_next(const tribo_model *m, ti_pair_walk *w);

/* Calls `visit` for every pair, in no particular order, until it says false. Time goes with the geoms and the pairs. */
typedef bool ti_pair_visit(void *ctx, int i, int j);
void ti_pairs_visit(const tribo_model *m, ti_pair_visit *visit, void *ctx);

/* Room for what the above read, and how it is filled when bodies and geoms are there. */
void ti_possible_carve(ti_arena *at, const tribo_builder *b, tribo_model *m);
void ti_possible_fill(tribo_model *m, const tribo_builder *b);
/* Which numbers of geoms and pairs any contact depends on. */
void ti_possible_used(tribo_model *m);

#endif
