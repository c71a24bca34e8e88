/* flick.h -- the finger of [TassaTodorov10] and its plans: made again as it moves, and begun again from other controls
 * where one does nothing. data/scenes/finger.xml has the bodies. */
#ifndef FLICK_H
#define FLICK_H
#include "example.h"
#include <math.h>

enum { KNOTS = 75, SHIFT = 4, PASSES = 8, NX = 6, NU = 5, NC = 2, PIN = 2, GUESSES = 4 };
/* s; N m, of which the paper has no bound; rad that a plan of 3.75 s is to turn */
static const double knot_time = 0.05, torque = 20, worth = 1;

typedef struct flick {
    tribo_model *m;
    double p[400];
    tribo_trajopt *plan;
    double X[(KNOTS + 1) * NX], U[KNOTS * NC], best[KNOTS * NC];
    double guess[GUESSES][KNOTS * NC]; /* where a plan does nothing: the first one; the finger drawn back, three ways */
    bool begins_again;                 /* where a plan promises next to nothing */
    int plans, again;                  /* made; of these begun again */
    long passes;                       /* of plans shifted; not of those begun again, some 80 each */
} flick;

/* With that noise where the law knows any. */
tribo_law_options flick_law(tribo_law law, double noise);
/* The model and a plan from x under the stochastic law, not made better yet. */
void flick_open(flick *f, const double *x, double noise, tribo_method method);
/* Made better, and kept as the first guess. @return the passes' end */
tribo_trajopt_progress flick_first(flick *f, int passes);
void flick_close(flick *f);
/* Half turns of the pin, which the ellipse does not show, are taken off. @return rad */
double flick_unturn(double *x);
/* How far the plan turns the pin, rad. */
double flick_promise(flick *f);
/* A plan from x: the last one shifted; or from the best of some guesses where that promises little and is not wanted.
 */
void flick_again(flick *f, const double *x);

#endif
