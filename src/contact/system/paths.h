/* paths.h -- the contact system where blocks are trees with joints: each velocity has entries only with those on its
 * way to the root.
 *
 * M couples a velocity with its ancestors alone. A contact couples those of two ways, which are made one; eliminated
 * from the leaves up, K = M + J' D J then has no entry besides. A row is the way from the root, contiguous, padded to
 * lanes of four. docs/math.md eq. (338).
 */
#ifndef TI_PATHS_H
#define TI_PATHS_H
#include "base/base.h"
#include "contact/problem/problem.h"

/* Velocities of one way that follow one another in the order of elimination, from place n - 1 of the way down to top.
 * Of the way, the first `share` places are those of the run before, and the first `left` those of the next. */
typedef struct ti_run {
    const int *way;
    int top, n, share, left;
} ti_run;

typedef struct ti_paths {
    size_t n_max, nc_max, entries_max, list_max, rows_max; /* capacities */
    bool fits;                                             /* the present problem is one, and has room */
    bool symmetric;                                        /* of the present factors: `upper` is `lower` */
    int n, nc;
    bool alone;          /* of one block, whose contacts tie no two ways: parent is what its problem says */
    int *parent, *depth; /* (n) the next on the way to the root, -1 = none; how many are on the way, itself included */
    int *order, *place;  /* (n) leaves before roots, and its inverse */
    int *way, *list;     /* (n) where the way of a velocity begins in list: the root first */
    ti_run *run;         /* (nrun) */
    int nrun;
    int *at; /* (n) where its row begins in the next three */
    double *M;
    double *lower, *upper; /* K(k, way) and K(way, k); of the factors both over the pivot, whose inverse is on the
                              diagonal of lower */
    size_t entries;
    int *last, *row_at;  /* (nc) of a contact: the last of its way, -1 = it moves nothing; its first entry in rows */
    bool *single;        /* (nc) it has one entry, in its third row */
    double *rows, *cols; /* J along that way: (3, depth) in lanes of four; transposed, (depth, 4) */
    const double *left_rows, *left_cols; /* what is on the left of D: those, or ti_paths_tilt()'s */
    double *work;                        /* (3, depth) and one along a way */
    double *along;
} ti_paths;

void ti_paths_carve(ti_arena *m, const ti_contact_size *most, ti_paths *s);
/* Find the ways and store M and J along them. s->fits: whether that is possible. */
void ti_paths_pack(ti_paths *s, const ti_contact_problem *p);
void ti_paths_jv(const ti_paths *s, const ti_contact_problem *p, const double *v, bool with_ref, double *c);
void ti_paths_jt(const ti_paths *s, const double *lambda, double *y);
void ti_paths_mv(const ti_paths *s, const double *x, double *y);
/* As ti_six_made_of(). */
double ti_paths_made_of(const ti_paths *s, const double *minv, const double *lambda, double *x);
/* Of a coupled problem: J + coupling into `left`, which has room for 7 rows_max. */
void ti_paths_tilt(ti_paths *s, const ti_contact_problem *p, const double *coupling, double *left);
/* Without exchanges of rows; false where a pivot is too small for that. */
bool ti_paths_factor(ti_paths *s, const double *D);
void ti_paths_solve(const ti_paths *s, double *x);
void ti_paths_solve_t(const ti_paths *s, double *x);
void ti_paths_solve_panel(const ti_paths *s, double *panel); /* (n,8) */

#endif
