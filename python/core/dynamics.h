/* dynamics.h -- what the two files of dynamics share: the object. */
#ifndef CORE_DYNAMICS_H
#define CORE_DYNAMICS_H
#include "core.h"

typedef struct dynamics {
    PyObject_HEAD core_model *model; /* owned */
    core_handle *handle;
    tribo_dynamics *d;
} dynamics;

/* vjp(function, id, given or None, bar) -> (q, v or None, given or None, p), bars: sums over what the state, the
 * argument and the parameters make of the result. */
PyObject *core_dynamics_vjp(PyObject *self, PyObject *args);
/* jacobians("inverse" or "forward", a) -> (by_q, by_v), of the latter also by_tau. */
PyObject *core_dynamics_jac(PyObject *self, PyObject *args);

#endif
