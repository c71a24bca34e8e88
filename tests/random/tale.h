/* tale.h -- a robot as it is told to a builder: its bodies, joints and geoms in some order, and its start; and the same
 * robot told otherwise, which has to move as it does. */
#ifndef RANDOM_TALE_H
#define RANDOM_TALE_H
#include "judge.h"

enum { TALE_BODIES = 16, TALE_JOINTS = 16, TALE_GEOMS = 16, CORNERS = 12 };

typedef struct told_body {
    tribo_body_def def; /* its parent by the place in the tale */
    bool free;
    int joint, njoint; /* the first of its joints, and how many */
} told_body;

typedef struct told_geom {
    int body; /* place in the tale, or TRIBO_WORLD */
    tribo_geom_def def;
    double corner[3 * CORNERS]; /* of a mesh */
} told_geom;

typedef struct tale {
    double gravity[3], dt;
    int nbody, njoint, ngeom;
    told_body body[TALE_BODIES];
    tribo_joint_def joint[TALE_JOINTS];
    told_geom geom[TALE_GEOMS];
    double q[NX * MAX_BODIES], v[NX * MAX_BODIES]; /* the start, body by body */
    int nq, nv;
} tale;

/* What becomes of a tale. */
typedef struct retelling {
    flaw kind;                               /* ORDER, FRAME, WELD */
    int body[TALE_BODIES], geom[TALE_GEOMS]; /* the place in the tale of each, in the new order */
    double t[TALE_BODIES][3],
        f[TALE_BODIES][4];    /* the frame of a body in what it was; of the part that is welded on it */
    bool welded[TALE_BODIES]; /* its geoms are on a part of its own */
} retelling;

/* NULL after a mistake, with diag. */
tribo_model *tale_build(const tale *t, tribo_diag *diag);
/* How the tale may be told otherwise. */
void retelling_draw(retelling *r, const tale *t, dice *d, flaw kind);
void tale_retell(const tale *t, const retelling *r, tale *out);
/* A state of the tale in the new one. */
void tale_carry(const tale *t, const retelling *r, const double *x, double *out);

#endif
