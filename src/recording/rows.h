/* rows.h -- what the files of this room share: the rows of the recording under way, and what was found in them. */
#ifndef TI_ROWS_H
#define TI_ROWS_H
#include "base/base.h"
#include "collide/collide.h"
#include "dynamics/link.h"
#include "model/model.h"
#include <tribo/recording.h>

enum { TI_FINDINGS_MAX = 64, TI_WINDOWS_MAX = 96, TI_WAY = 6 };

struct tribo_checked {
    tribo_allocator alloc;
    size_t bytes;
    const tribo_model *m;
    tribo_sizes z;
    double *p; /* (np) */
    double extent;
    int n;
    double *time, *x, *u; /* (n), (n,nx), (n,nu) or NULL; NaN = not measured */
    double *force;        /* (n,3 (ngeom + nbody)) or NULL */
    double *marker;       /* (n,3 nsite) or NULL */
    double *y, *keep;     /* (n,nx) other readings of x */
    bool *posed;          /* (n,nbody) the whole pose of a body was measured */
    bool *unturned;       /* (nbody) its places were measured, and nothing of how it is turned */
    bool unsure;          /* of one of these that matters */
    double *rate;         /* (n,3) scratch: differences of poses */
    double *state, *next; /* (nx) */
    ti_link *link;        /* (nbody) */
    ti_shape *shape;      /* (ngeom) */
    int *late;            /* (nbody,2) half samples that a velocity column is behind its poses, delays taken out */
    double spacing;       /* s, median between rows */
    double *joint_noise, *joint_scale; /* (njoint) of predict.c */
    double noise;                      /* m, of positions, as neighbouring rows have it */
    tribo_ws *ws;                      /* of predict.c */
    int windows;
    tribo_finding found[TI_FINDINGS_MAX];
    int nfound;
};

static inline bool ti_is_axis(const ti_joint *j) {
    return j->kind == TI_JOINT_HINGE || j->kind == TI_JOINT_SLIDE;
}

/* Numbers of body b in row k of an array of rows. */
static inline double *ti_pose(const tribo_checked *c, double *x, int k, int b) {
    return x + (size_t)k * (size_t)c->z.nx + c->m->body[b].q;
}
static inline double *ti_rate(const tribo_checked *c, double *x, int k, int b) {
    return x + (size_t)k * (size_t)c->z.nx + c->z.nq + c->m->body[b].v;
}

/* Numbers of a row of forces. */
static inline size_t ti_forces(const tribo_checked *c) {
    return 3 * (size_t)(c->z.ngeom + c->z.nbody);
}

void ti_found(tribo_checked *c, tribo_convention about, tribo_outcome outcome, int body, int row, double number,
              const char *format, ...) __attribute__((format(printf, 7, 8)));
/* Times in another unit, as velocity columns say by how fast things do that. */
void ti_scale_times(tribo_checked *c, double factor, const char *what);
/* posed, spacing and noise of the rows as they are. */
void ti_survey(tribo_checked *c);
/* Smallest gap of a body in row k of a reading with everything else, up to `least`; lengths to be multiplied. */
double ti_gap(tribo_checked *c, double *x, int k, int body, double least, double length);
/* How deep free bodies of a reading lie in what stands still (in one another they may for a delay, too): a sum over
 * rows of log(1 + square of the depth over what noise makes of it); more than `most` where it is. */
double ti_overlaps(tribo_checked *c, double *x, double most);
/* Free bodies and, behind them in number, joints of one axis: how many numbers b there are; and the way of one from row
 * k to row k + 1: a displacement and a turn at half the extent, m. false where it does not move or was not measured. */
int ti_movers(const tribo_checked *c);
bool ti_way(tribo_checked *c, int k, int b, double s[TI_WAY]);
/* The median of n numbers, which it reorders; NaN of none. */
double ti_median(double *values, size_t n);
/* Rotation from pose a to pose b as a vector in the body's frame. */
void ti_turn(const double *a, const double *b, double *r);

/* What differences with a sum of squares dd are of a column with vv, and dv together: (494); 1 where noise may make it
 * that, or a column that is smoothed over impacts, which says too little. */
static inline double ti_clear_gain(double dd, double dv, double vv) {
    const double more = 1.08, less = 0.95, low = dv / vv, high = dd / dv;
    return low > more ? low : high < less ? high : 1;
}

#endif
