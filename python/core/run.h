/* run.h -- what a rollout is, of one world on a tape, or of a batch. */
#ifndef CORE_RUN_H
#define CORE_RUN_H
#include "core.h"

typedef struct rollout {
    PyObject_HEAD core_model *model; /* owned */
    core_handle *handle;
    PyObject *X;
    int nworld, nstep, snapshots;
    bool batch, many_x, many_u, many_p;
    tribo_tape *tape;   /* of one world; NULL where there is none */
    int reading;        /* threads that go back along it */
    double *x0, *U, *p; /* copies: (nworld or 1, nx), (nworld or 1, nstep, nu) or NULL, (nworld or 1, np) */
    bool kept;          /* a batch: the copies are what backward() needs */
    int workers;
    tribo_status *each; /* (nworld) of a batch, what became of each world */
    int *reached;       /* (nworld) of a batch, steps made */
    tribo_status status;
} rollout;

static inline const double *world_u(const rollout *r, int w) {
    return r->U ? r->U + (r->many_u ? (size_t)w * (size_t)r->nstep * (size_t)r->model->n.nu : 0) : NULL;
}
static inline const double *world_p(const rollout *r, int w) {
    return r->p + (r->many_p ? (size_t)w * (size_t)r->model->n.np : 0);
}
static inline const double *world_x(const rollout *r, int w) {
    return r->x0 + (r->many_x ? (size_t)w * (size_t)r->model->n.nx : 0);
}

/* What one sweep adds to, each NULL = not wanted. */
typedef struct gradients {
    double *x0, *U, *p;
} gradients;

/* All worlds of a batch into X. @return false with an exception */
bool core_batch_run(rollout *r, double *X, bool strict);
/* Their gradients, of what they share the sum. @param same_lx one lx for all */
tribo_status core_batch_reverse(rollout *r, const double *lx, bool same_lx, gradients g);

#endif
