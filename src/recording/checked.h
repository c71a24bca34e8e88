/* checked.h -- what the files of this room share: the recording under way, and what was found in it. */
#ifndef TI_CHECKED_H
#define TI_CHECKED_H
#include "base/base.h"
#include "collide/collide.h"
#include "dynamics/link.h"
#include "model/model.h"
#include <tribo/recording.h>

enum { TI_FINDINGS_MAX = 64, TI_WINDOWS_MAX = 96 };

struct tribo_checked {
    tribo_allocator alloc;
    size_t bytes;
    const tribo_model *m;
    tribo_sizes z;
    double *p; /* (np) */
    double extent;
    int n;
    double *time, *x, *u; /* (n), (n,nx), (n,nu) or NULL; NaN = not measured */
    double *y, *keep;     /* (n,nx) other readings of x */
    bool *posed;          /* (n,nbody) the whole pose of a body was measured */
    double *rate;         /* (n,3) scratch: differences of poses */
    double *state, *next; /* (nx) */
    ti_link *link;        /* (nbody) */
    ti_shape *shape;      /* (ngeom) */
    int *late;            /* (nbody,2) half samples that a velocity column is behind its poses, delays taken out */
    double spacing;       /* s, median between rows */
    double noise;         /* m, of positions, as neighbouring rows have it */
    tribo_ws *ws;         /* of predict.c */
    int windows;
    tribo_finding found[TI_FINDINGS_MAX];
    int nfound;
};

/* Numbers of body b in row k of an array of rows. */
static inline double *ti_pose(const tribo_checked *c, double *x, int k, int b) {
    return x + (size_t)k * (size_t)c->z.nx + c->m->body[b].q;
}
static inline double *ti_rate(const tribo_checked *c, double *x, int k, int b) {
    return x + (size_t)k * (size_t)c->z.nx + c->z.nq + c->m->body[b].v;
}

void ti_found(tribo_checked *c, tribo_convention about, tribo_outcome outcome, int body, int row, double number,
              const char *format, ...) __attribute__((format(printf, 7, 8)));
/* posed, spacing and noise of the rows as they are. */
void ti_survey(tribo_checked *c);
/* The median of n numbers, which it reorders; NaN of none. */
double ti_median(double *values, size_t n);
/* Rotation from pose a to pose b as a vector in the body's frame. */
void ti_turn(const double *a, const double *b, double *r);

/* Quaternions in one row's order into another: x y z w, or the inverse. */
void ti_reorder(double *q, bool last_is_real, bool inverse);

/* columns.c: velocity columns against the poses: units, frames, delays, kinds. */
void ti_check_columns(tribo_checked *c);
/* Take velocity columns that are half a sample off to the instant of their row, where the scene says that this is
 * better; needs ti_predict_begin(). */
void ti_check_kinds(tribo_checked *c);
/* gaps.c: rows that are missing, rows that are wrong, names exchanged half way. */
void ti_check_gaps(tribo_checked *c);
/* units.c: gravity, and where things stand, against the units of length and time. */
void ti_check_units(tribo_checked *c);
/* orders.c: orders, names and delays by what the scene predicts from a row for the next ones. */
void ti_check_orders(tribo_checked *c);

/* predict.c: how badly the scene predicts windows of a reading of the recording from their first rows: a number a
 * window, log(1 + square of the error over the noise).
 * @param columns start from the velocity columns, else from differences of poses
 * @param most stop where their sum is beyond this
 * @return how many windows; the same ones for every reading of the same rows. */
int ti_predict_windows(tribo_checked *c, double *x, bool columns, double most, double *miss);
/* Make ready for so many steps a row, and at most so many windows. */
tribo_status ti_predict_begin(tribo_checked *c, int steps, int windows);
void ti_predict_end(tribo_checked *c);

#endif
