/* tree_phases.h -- the matrices A and B of a model with joints on their way, and what contacts make of them. */
#ifndef TI_TREE_PHASES_H
#define TI_TREE_PHASES_H
#include "backward/tree_contacts.h"

/* What a column is by. */
typedef enum ti_column_kind { TI_BY_PLACE, TI_BY_VELOCITY, TI_BY_FORCE, TI_KINDS } ti_column_kind;

/* Where the matrices go. */
typedef struct ti_target {
    double *A, *B;
    int nv, nu;
} ti_target;

static inline double *ti_target_entry(const ti_target *t, ti_column_kind kind, int row, int col) {
    if (kind == TI_BY_FORCE) return t->B + (size_t)row * (size_t)t->nu + col;
    return t->A + (size_t)row * 2 * (size_t)t->nv + (kind == TI_BY_VELOCITY ? t->nv : 0) + col;
}

/* What the contacts of island k make of columns that scratch->tree_jac has of every tree: rows of the next velocity,
 * and of what is displaced beside it. */
tribo_status ti_tree_phases(tribo_ws *ws, const ti_frame *f, int k, const double *p, const ti_target *to);

#endif
