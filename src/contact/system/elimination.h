/* elimination.h -- a contact system under block elimination: its pattern and its factors. */
#ifndef TI_ELIMINATION_H
#define TI_ELIMINATION_H
#include "base/base.h"
#include "contact/problem/problem.h"
#include "contact/system/paths.h"

typedef struct ti_system {
    int nblk_max, nc_max;
    int nblk, nv;
    bool six;            /* every block is 6 wide: six.h; its blocks are padded to 6 x 8 */
    double *rows, *cols; /* if so, the packed Jacobian: (nc,2,3,8) and (nc,2,6,4) */
    ti_paths paths;      /* else, where paths.fits, velocity by velocity along the ways of trees, and */
    bool thin;           /* whether the present factors are those; the rest is by blocks */
    bool coupled;        /* some rows follow the normal impulse of another contact, d lambda += coupling d lambda_n: */
    double *coupling;    /* (3 nc) of friction against turning; 0 of others */
    double *left;        /* then J + coupling, which is on the left of D: as the form that factors it has J */
    double *known;       /* (9 nc) the D of the present factors */
    int nknown;          /* its contacts, -1 = there are none */
    tribo_status status; /* and how that went */
    size_t capacity;     /* of val, doubles */
    size_t used;         /* of val, by the present pattern */
    const int *width, *voff; /* the problem's */
    int *order, *place;      /* block eliminated as the k-th, and its inverse: when a block is eliminated */
    int *start;              /* (nblk + 1) of the list of later neighbours of order[k] */
    int *neighbour;          /* blocks, in order of elimination */
    int *upper, *lower;      /* offsets in val of the blocks (order[k], neighbour) and (neighbour, order[k]) */
    int nneighbour_max;      /* capacity of those three */
    int *diag;               /* (nblk) offset of a block's diagonal */
    int *contact;            /* (2 nc) offsets of the blocks (a,b) and (b,a) of a contact */
    uint64_t *bits, *alive;  /* adjacency while ordering */
    double *val;
    int *pivot;    /* (nv) row exchanges inside the blocks */
    double *panel; /* (nv,8) right-hand sides, transposed */
} ti_system;

#endif
