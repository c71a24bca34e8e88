/* builder.h -- what has been added so far; only src/model/ and the readers look inside. */
#ifndef TI_BUILDER_H
#define TI_BUILDER_H
#include "base/base.h"
#include "model/model.h"

enum { TI_NAME_MAX = 55, TI_PAIR_NAME_MAX = 2 * TI_NAME_MAX + 1 };
enum { TI_BODIES_LIMIT = 2048, TI_GEOMS_LIMIT = 2048 }; /* the table of pairs is quadratic in them */

typedef struct ti_body_rec {
    tribo_body_def def;
    char name[TI_NAME_MAX + 1];
    int line;
    ti_joint joint;
} ti_body_rec;

typedef struct ti_geom_rec {
    tribo_geom_def def;
    char name[TI_NAME_MAX + 1];
    int line, body;
} ti_geom_rec;

typedef struct ti_pair_rec {
    tribo_pair_def def;
    char name[TI_PAIR_NAME_MAX + 1];
    int line;
} ti_pair_rec;

typedef struct ti_exclude_rec {
    int a, b;
} ti_exclude_rec;

struct tribo_builder {
    tribo_allocator alloc;
    tribo_status status; /* the first error sticks */
    tribo_diag diag;
    int line; /* of the file, for whatever is added next; 0 = no file */
    int nbody, ngeom, npair, nexclude;
    ti_body_rec *body;
    ti_geom_rec *geom;
    ti_pair_rec *pair;
    ti_exclude_rec *exclude;
    size_t body_bytes, geom_bytes, pair_bytes, exclude_bytes, q_bytes, v_bytes;
    double gravity[3], dt;
    tribo_law_options law;
    double *q, *v; /* start state, NULL = not given */
    int nstart;    /* bodies there were when it was given */
};

/* Let an error stick, unless one does already. */
void ti_builder_fail(tribo_builder *b, tribo_status s, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Numbers in q and v of the bodies so far. */
void ti_builder_widths(const tribo_builder *b, int *nq, int *nv);

#endif
