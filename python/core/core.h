/* core.h -- what the files of the extension share: its types, arguments by buffer, errors as exceptions.
 *
 * Written against the stable interface of Python 3.11, without NumPy's: arrays come in by the buffer protocol and are
 * made by calling numpy.empty. Arguments that do not fit are refused, never converted.
 */
#ifndef CORE_H
#define CORE_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <tribo/tribo.h>

enum { CORE_NERROR = 10, CORE_NWARNING = 5, CORE_NDIM = 3 };

/* What the module keeps. Objects point to it: their types hold the module. */
typedef struct core {
    PyObject *empty;                  /* numpy.empty */
    PyObject *error[CORE_NERROR];     /* [-status]; [0] is the base of all */
    PyObject *warning[CORE_NWARNING]; /* [status] */
    PyObject *array_error, *freed_error, *busy_error;
    PyObject *contact_dtype;
    PyTypeObject *masked; /* numpy.ma.MaskedArray */
    PyTypeObject *model, *rollout, *problem, *fit, *plan, *dynamics, *policies, *random;
} core;

/* ---- arguments ---- */

/* An array by the buffer protocol. `a` is NULL where none was given. */
typedef struct core_array {
    Py_buffer view;
    double *a;
    bool held;
    bool many; /* it has the leading axis that it may have */
} core_array;

/* A shape; -1 = any. */
typedef struct core_shape {
    int ndim;
    Py_ssize_t n[CORE_NDIM];
} core_shape;
#define CORE_SHAPE(nd, ...) ((core_shape){nd, {__VA_ARGS__}})

/* How an array is wanted. */
enum { CORE_MAY_BE_NONE = 1, CORE_MAY_BE_MANY = 2, CORE_WRITABLE = 4 };

/* float64, C-contiguous, of this shape; otherwise false and an exception that says what was expected and found. */
bool core_take(core *c, PyObject *o, const char *what, core_shape want, int how, core_array *a);
void core_release(core_array *a); /* also of one that was never taken, if it is all zero */
/* How many worlds those of three arrays have that have a leading axis, -1 with an exception; 1 and not *batch where
 * none has. */
int core_worlds_of(core *c, core_array *const a[3], const char *const what[3], bool *batch);
/* A new array, its memory held in `a`. */
PyObject *core_new(core *c, core_shape shape, core_array *a);
PyObject *core_new_zero(core *c, core_shape shape, core_array *a);
/* A copy of n numbers as a new array. */
PyObject *core_copy(core *c, core_shape shape, const double *from);
void core_read_only(PyObject *array);

/* Text of the library, which may have been cut off within a letter. */
PyObject *core_text(const char *text);
/* An item into its place in a new list, which takes it; without the item the list is gone too. */
void core_list_put(PyObject **list, Py_ssize_t place, PyObject *item);

/* Arguments by position and name, of METH_FASTCALL | METH_KEYWORDS. `names` ends with NULL; the first `required` have
 * to be there. @param slot [out] borrowed, NULL where not given or None */
bool core_arguments(const char *function, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                    const char *const *names, int required, PyObject **slot);

/* ---- errors ---- */

/* An exception for a status below 0; NULL. @param diag may be NULL or empty */
PyObject *core_fail(core *c, tribo_status s, const char *where, const tribo_diag *diag);
/* A warning for a status above 0. @param level frames of Python up to who asked, 1 = where the extension was called.
 * @return false with an exception, where warnings are errors */
bool core_warn(core *c, tribo_status s, const char *where, int level);
bool core_errors_new(core *c, PyObject *module);

/* ---- models ---- */

/* Shared by a model, others made from it, and what was computed with it. */
typedef struct core_handle {
    tribo_model *m;
    long users;
} core_handle;

enum { CORE_POOL = 8 };
typedef struct core_model {
    PyObject_HEAD core *core;
    core_handle *handle; /* NULL = freed */
    tribo_options options;
    tribo_sizes n;
    double *p; /* (np) the model's own */
    PyObject *params, *x0, *x_shape;
    tribo_ws *pool[CORE_POOL];
    int npool;
    struct core_crew {
        tribo_batch *batch; /* NULL while a call uses it */
        int workers, steps;
        long process;
    } crew; /* kept between calls */
} core_model;
typedef struct core_crew core_crew;

/* A pool of threads for this call, and the handle kept for as long; without batch and with an exception if there is
 * none. */
core_crew core_batch_take(core_model *m, int workers, int steps);
void core_batch_give(core_model *m, core_handle *h, core_crew crew);
void core_batch_drop(core_model *m);

bool core_model_alive(const core_model *m);
/* The model of an argument; NULL with an exception. */
core_model *core_model_of(core *c, PyObject *o);
void core_handle_keep(core_handle *h);
void core_handle_drop(core_handle *h);
/* A workspace for this call, and the handle kept for as long; NULL with an exception. */
tribo_ws *core_ws_take(core_model *m);
void core_ws_give(core_model *m, core_handle *h, tribo_ws *ws);
void core_ws_drop(core_model *m);
/* Options from a dict of words. */
bool core_options_set(core *c, PyObject *words, tribo_options *o);
/* What is wrong with p, x, u of a step that failed: an exception; NULL. @param world of a batch; -1 = not of one */
PyObject *core_fail_step(core_model *m, const tribo_ws *ws, tribo_status s, const double *p, const double *x,
                         const double *u, int nstep, int world);

/* ---- what the files give to the module ---- */

extern PyType_Spec core_model_spec, core_rollout_spec, core_problem_spec, core_fit_spec, core_plan_spec,
    core_dynamics_spec, core_policies_spec, core_random_spec;
bool core_step_init(core *c, PyObject *module);
PyObject *core_model_step(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames);
PyObject *core_model_examine(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames);
PyObject *core_model_jacobians(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames);
PyObject *core_model_distance(PyObject *self, PyObject *args);
PyObject *core_rollout_new(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *kwnames);
PyObject *core_problem_new(PyObject *module, PyObject *args);
PyObject *core_qcqp(PyObject *module, PyObject *args);
PyObject *core_fit_new(PyObject *module, PyObject *args);
PyObject *core_plan_new(PyObject *module, PyObject *args);
PyObject *core_dynamics_new(PyObject *module, PyObject *args);
PyObject *core_policies_new(PyObject *module, PyObject *args);
/* The library of an argument, of this model; NULL with an exception. */
tribo_policies *core_policies_of(core_model *m, PyObject *o);
PyObject *core_random_new(PyObject *module, PyObject *args);
PyObject *core_steps(PyObject *module, PyObject *args);
PyObject *core_trajectory_load(PyObject *module, PyObject *args);
PyObject *core_trajectory_save(PyObject *module, PyObject *args);
PyObject *core_controls_load(PyObject *module, PyObject *args);
PyObject *core_recording_check(PyObject *module, PyObject *args);
/* A recording of a tuple (time, X, U, markers, forces), the last three or None; the arrays are to be released, also
 * where this fails. */
enum { CORE_RECORDING_ARRAYS = 5 };
bool core_recording_take(core_model *m, PyObject *o, tribo_recording *rec, core_array a[CORE_RECORDING_ARRAYS]);

/* An object of a heap type, all zero; and its end, when its fields are gone. */
void *core_object_new(PyTypeObject *type);
void core_object_free(PyObject *o);
/* What objects of a model begin with. The same for them: made with the model and its handle, which they keep. */
typedef struct core_part {
    PyObject_HEAD core_model *model; /* owned */
    core_handle *handle;
} core_part;
void *core_part_new(PyTypeObject *type, core_model *m);
void core_part_free(PyObject *o);
/* "module" argument of functions. */
core *core_of(PyObject *module);

#endif
