/* optimization.h -- what the parts of the verb `optimize` share: the arguments, the search, what came of it. */
#ifndef TRIBO_TOOLS_OPTIMIZATION_H
#define TRIBO_TOOLS_OPTIMIZATION_H
#include "common.h"
#include "task.h"

typedef struct optimize_arguments {
    const char *scene, *task, *out, *guess;
    long iterations, workers; /* 0 = not said */
    int method;               /* -1 = the task's */
    double seconds;           /* of the clock; 0 = no limit */
    bool json;
    int nlaw; /* words of the contact law, in their order */
    const char *law_word[64], *law_value[64];
    int nstage; /* -1 = the task's */
    double stage_noise[32];
    long receding, every, passes; /* knots acted, 0 = none; from plan to plan; of each but the first plan */
    const char *act_scene, *act_law;
    double act_dt;
    long act_delay; /* knots */
    int argc;
    char **argv;
} optimize_arguments;

/* A motion as it was simulated: a row a step. */
typedef struct motion {
    int rows, knots;
    double *time, *x; /* (rows), (rows,nx) */
    double *U;        /* (knots,nu) */
    int unconverged;  /* steps that did not reach their tolerance */
} motion;

typedef struct world world; /* what a receding horizon acts on */

typedef struct optimization {
    const optimize_arguments *a;
    tribo_model *m, *other; /* planned on; acted on, where that is another */
    task_file *task;
    tribo_trajopt *t;
    tribo_trajopt_progress progress;
    double first_cost, seconds;
    double *cost; /* (nterm), of the best or of what was acted */
    int nterm;
    const task_term *info; /* (nterm) */
    motion done;
    bool interrupted, late;
    int acted, plans, passes; /* of a receding horizon: knots, plans made, passes of all */
    world *world;
    double acted_cost;
    task_file *acted_task;
} optimization;

/* Passes until the search ends, is interrupted, or one of the limits. @return exit status after a message. */
int optimize_search(optimization *o, long passes);
/* Simulate the controls of the best under the task's own law. */
int optimize_replay(optimization *o);
/* Before the first plan: what is wrong with the options of a receding horizon. @return exit status after a message */
int optimize_recede_begin(optimization *o);
/* Act, and plan again. Where nothing came to be acted, the result is the first plan. */
int optimize_recede(optimization *o);
void optimize_recede_end(optimization *o);
/* The table, and the files. */
void optimize_print(const optimization *o);
int optimize_write(const optimization *o);
/* Before the work: whether the files can be written; their folder is made. @return exit status after a message */
int optimize_check_outputs(const optimize_arguments *a);
json_t *optimize_json(const optimization *o);
/* How it ended, in words. */
const char *optimize_outcome(const optimization *o);
/* The model that the motion is of. */
const tribo_model *optimize_model_acted(const optimization *o);
/* States, or controls, over time; NULL without gnuplot. To be freed. */
char *optimize_svg(const optimization *o, bool controls);
/* A page with the motion, what each term costs, and the curves. @return exit status after a message */
int optimize_page(const optimization *o, const char *path);

bool motion_room(motion *w, const tribo_sizes *z, int knots, int rows);
void motion_free(motion *w);
/* Seconds of the simulation that a knot lasts. */
double knot_seconds(const task_file *t);

#endif
