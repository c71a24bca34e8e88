/* central_path.h -- the central path of the interior point, followed over its folds. docs/math.md, "Interior point". */
#ifndef TI_CENTRAL_PATH_H
#define TI_CENTRAL_PATH_H
#include "contact/ladder/interior.h"

/* A place on the path, its cones apart: the gap there; of the hyperplane across the path on which it was found, the
 * unit tangent's part of ln of the gap, and the gap at which it was laid. */
typedef struct ti_central_place {
    double gap, by, plane_gap;
    bool begun; /* there is such a hyperplane */
} ti_central_place;

typedef struct ti_central_path {
    ti_central_place now, mark[2];
    int last;       /* the mark that was set last */
    double share;   /* by which the slip is smoothed */
    double length;  /* of the next step */
    double close;   /* how near to the path is on it */
    double off;     /* how far off the last iterate was */
    int tries;      /* steps back to the path since the last place on it */
    bool retreated; /* to the last mark, which was then found more closely */
} ti_central_path;

/* At a gap of 1, about the start. False where there is none. */
bool ti_central_begin(ti_contact_ws *ws, const ti_contact_problem *p, double share, ti_central_path *path);
/* Follow it until the gap is below rough. False where it was lost or `iterations` were not enough. The iterate, the
 * last one then, in ws->v and ws->lambda. */
bool ti_central_follow(ti_contact_ws *ws, const ti_contact_problem *p, ti_central_path *path, double rough,
                       int iterations);

#endif
