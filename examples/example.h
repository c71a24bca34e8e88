/* example.h -- what the examples share: scenes, messages, figures, minimising. They end where something goes wrong. */
#ifndef TRIBO_EXAMPLE_H
#define TRIBO_EXAMPLE_H
#include "plot.h"
#include <tribo/tribo.h>

/* Go on if s is TRIBO_OK; else say what failed and exit. */
void need(tribo_status s, const char *what);
/* Zeroed memory for n doubles. */
double *numbers(size_t n);
/* The scene data/scenes/NAME.xml; examples run from the root of the project. */
tribo_model *scene(const char *name);
/* Index of a parameter into p; it has to exist. */
int parameter(const tribo_model *m, const char *name);
/* Of the monotonic clock. */
double seconds(void);
/* Write FOLDER/NAME.svg; nothing where folder is NULL. */
void figure(const plot *p, const char *folder, const char *name);
/* The same of relative residuals over iterations, both logarithmic. */
void residual_figure(const plot_series *series, int n, const char *title, const char *folder, const char *name);

/* ---- minimising a cost by its gradient: L-BFGS ---- */

/* A cost of n variables. */
typedef struct objective {
    int n;
    double (*cost)(void *context, const double *z);
    double (*gradient)(void *context, const double *z, double *g /* [out] (n) */); /* returns the cost */
    void *context;
} objective;

enum { HISTORY = 20000 };

/* The lowest cost so far, after each evaluation that improved it. */
typedef struct history {
    int n;
    double seconds[HISTORY], cost[HISTORY];
    int evaluations; /* of the gradient */
    double spent;    /* s, all together */
} history;

/* Minimise from z until the cost has fallen to `share` of the start's, or `budget` seconds are over. z becomes the
 * best.
 * @param step 0: by the objective's gradient; > 0: by centred differences of its cost with this step */
void descend(const objective *o, double step, double share, double budget, double *z, history *h);

#endif
