/* batch.h -- what the room of many worlds shares: workers, and a call on its way. */
#ifndef TI_BATCH_H
#define TI_BATCH_H
#include "backward/backward.h"
#include "base/crew.h"
#include "model/model.h"
#include <tribo/batch.h>

/* What a thread holds. */
typedef struct ti_hand {
    tribo_ws *ws;
    tribo_tape *tape;
    double *X, *lx, *lu; /* (steps+1,nx), (steps+1,ndx), (steps,nu) of one rollout */
    int *mark;           /* (steps) where its parts begin that fit on the tape */
    double *x;           /* (nx) a state on its way */
    tribo_status worst;  /* of the worlds that were its own in this call */
} ti_hand;

struct tribo_batch {
    tribo_allocator alloc;
    size_t bytes, held; /* of its block; of everything */
    const tribo_model *model;
    tribo_sizes z;
    int nworker, steps, block; /* block: worlds whose bars wait to be summed */
    bool warm;                 /* no derivatives then */
    bool sum_controls;
    ti_pool *pool;
    ti_hand *hand;                 /* (nworker) */
    double *p;                     /* (np) the model's */
    double *x_bar, *u_bar, *p_bar; /* (block,ndx), (block,steps,nu), (block,np) */
    tribo_status *status;          /* (block) of those worlds */
};

/* A call: what every world's job is given. */
typedef struct ti_task {
    tribo_batch *b;
    const tribo_worlds *w;
    tribo_status *status;
    tribo_status (*world)(struct ti_task *t, ti_hand *h, int i);
    int first;           /* the world of job 0 */
    tribo_status *block; /* of job 0 and on, also of those left out; NULL = not wanted */
    const void *of;      /* the function's own */
} ti_task;

/* Worlds first to first + n - 1, each by t->world. @return as the functions of tribo/batch.h. */
tribo_status ti_worlds_run(ti_task *t, int n);
/* Whether a call is as it has to be; steps: at most; -1 = any number. */
tribo_status ti_worlds_check(const tribo_batch *b, const tribo_worlds *w, int steps);

static inline int ti_world_steps(const tribo_worlds *w, int i) {
    return w->horizon ? w->horizon[i] : w->steps;
}
static inline const double *ti_world_p(const tribo_batch *b, const tribo_worlds *w, int i) {
    return !w->p ? b->p : w->p + (w->same_p ? 0 : (size_t)i * (size_t)b->z.np);
}
static inline const double *ti_world_x(const tribo_batch *b, const tribo_worlds *w, int i) {
    return w->x + (w->same_x ? 0 : (size_t)i * (size_t)b->z.nx);
}
/* Its controls from step k on; NULL = zero. */
static inline const double *ti_world_u(const tribo_batch *b, const tribo_worlds *w, int i, int k) {
    size_t row = (w->same_u ? 0 : (size_t)i * (size_t)w->steps) + (size_t)k;
    return w->u ? w->u + row * (size_t)b->z.nu : NULL;
}
/* Row i of an array with `width` numbers a row; NULL of NULL. */
static inline double *ti_row_of(double *a, int i, size_t width) {
    return a ? a + (size_t)i * width : NULL;
}

#endif
