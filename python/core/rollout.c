/* rollout.c -- many steps of one world or of a batch of worlds, recorded, and their reverse. */
#include "run.h"
#include <stdlib.h>
#include <string.h>

/* ---- running ---- */

enum { STRIDE = 512 }; /* steps between looks for an interrupt */
enum { STEPS_MAX = INT32_MAX / 2 };

static bool run_world(rollout *r, tribo_ws *ws, double *X) {
    const tribo_sizes *n = &r->model->n;
    const double *U = r->U, *p = r->p, *x = r->x0;
    if (r->model->options.warm_start) tribo_ws_reset(ws);
    for (int k = 0; k < r->nstep; k += STRIDE) {
        int steps = r->nstep - k < STRIDE ? r->nstep - k : STRIDE;
        double *from = X + (size_t)k * (size_t)n->nx;
        const double *u = U ? U + (size_t)k * (size_t)n->nu : NULL;
        tribo_status s;
        Py_BEGIN_ALLOW_THREADS;
        s = tribo_rollout(ws, p, k ? from : x, steps, u, from, r->tape);
        Py_END_ALLOW_THREADS;
        if (s < 0) return core_fail_step(r->model, ws, s, p, x, U, r->nstep, -1);
        r->status = tribo_status_graver(r->status, s);
        if (PyErr_CheckSignals()) return false;
    }
    return true;
}

static bool run_alone(rollout *r, double *X, bool recorded) {
    tribo_ws *ws = core_ws_take(r->model);
    tribo_status s = ws && recorded && !r->snapshots ? tribo_tape_new(ws, r->nstep, 0, &r->tape) : TRIBO_OK;
    if (s < 0) core_fail(r->model->core, s, "the tape of a rollout (checkpoints=N takes less memory)", NULL);
    bool good = ws && s >= 0 && run_world(r, ws, X);
    if (ws) core_ws_give(r->model, r->handle, ws);
    return good;
}

static bool run(rollout *r, bool recorded, bool strict) {
    const tribo_sizes *n = &r->model->n;
    core_array X = {0};
    core_shape one = CORE_SHAPE(2, r->nstep + 1, n->nx), all = CORE_SHAPE(3, r->nworld, r->nstep + 1, n->nx);
    r->X = core_new(r->model->core, r->batch ? all : one, &X);
    r->kept = r->batch && recorded;
    if (!recorded) r->snapshots = 0;
    bool good = r->X && (r->batch ? core_batch_run(r, X.a, strict) : run_alone(r, X.a, recorded));
    core_release(&X);
    if (good) core_read_only(r->X);
    return good && core_warn(r->model->core, r->status, "rollout", 2);
}

/* ---- making ---- */

static double *copy_of(const double *from, size_t n) {
    double *to = malloc((n + 1) * sizeof *to);
    if (to && n) memcpy(to, from, n * sizeof *to);
    return to;
}

/* Steps by U, or by the argument. */
static int steps_of(core *c, const core_array *U, PyObject *steps) {
    Py_ssize_t n = U->a ? U->view.shape[U->many] : -1;
    Py_ssize_t asked = steps ? PyNumber_AsSsize_t(steps, NULL) : n; /* NULL: beyond what can be counted is the most */
    if (PyErr_Occurred()) return -1;
    if (asked > STEPS_MAX) {
        PyErr_Format(c->error[-TRIBO_E_ARG], "rollout: %zd steps are too many, at most %d", asked, STEPS_MAX);
        return -1;
    }
    if (asked < 1) {
        PyErr_SetString(c->error[-TRIBO_E_ARG],
                        steps || U->a ? "rollout: at least one step is needed" : "rollout: give U or steps=...");
        return -1;
    }
    if (n >= 0 && asked != n) {
        PyErr_Format(c->error[-TRIBO_E_ARG], "rollout: U has %zd steps and steps=%zd", n, asked);
        return -1;
    }
    return (int)asked;
}

static bool keep_copies(rollout *r, const core_array *x, const core_array *U, const core_array *p) {
    const tribo_sizes *n = &r->model->n;
    size_t w = (size_t)r->nworld;
    r->many_x = x->many, r->many_u = U->many, r->many_p = p->many;
    size_t nU = (r->many_u ? w : 1) * (size_t)r->nstep * (size_t)n->nu;
    if (x->a)
        r->x0 = copy_of(x->a, (r->many_x ? w : 1) * (size_t)n->nx);
    else if ((r->x0 = malloc(((size_t)n->nx + 1) * sizeof *r->x0)))
        tribo_model_state0(r->handle->m, r->x0);
    r->U = U->a ? copy_of(U->a, nU) : NULL;
    r->p = copy_of(p->a ? p->a : r->model->p, (r->many_p ? w : 1) * (size_t)n->np);
    if (r->x0 && r->p && (r->U || !U->a)) return true;
    core_fail(r->model->core, TRIBO_E_NOMEM, "rollout", NULL);
    return false;
}

static rollout *make(core *c, core_model *m, core_array *x, core_array *U, core_array *p, PyObject *steps,
                     int snapshots) {
    static const char *const what[] = {"x0", "U", "p"};
    bool batch;
    core_array *a[] = {x, U, p};
    int nstep = steps_of(c, U, steps), nworld = nstep < 0 ? -1 : core_worlds_of(c, a, what, &batch);
    if (nworld < 0) return NULL;
    rollout *r = core_part_new(c->rollout, m);
    if (!r) return NULL;
    r->nworld = nworld, r->nstep = nstep, r->batch = batch, r->snapshots = snapshots;
    if (!keep_copies(r, x, U, p)) Py_CLEAR(r);
    return r;
}

PyObject *core_rollout_new(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    static const char *const names[] = {"model", "x0",          "U",       "p",      "steps",
                                        "tape",  "checkpoints", "threads", "strict", NULL};
    PyObject *slot[9];
    core *c = core_of(module);
    if (!core_arguments("rollout", args, n, kwnames, names, 1, slot)) return NULL;
    core_model *m = core_model_of(c, slot[0]);
    long snapshots = slot[6] ? PyLong_AsLong(slot[6]) : 0, workers = slot[7] ? PyLong_AsLong(slot[7]) : 1;
    if (!m || PyErr_Occurred()) return NULL;
    if (workers < 1 || workers > 256) {
        PyErr_SetString(c->error[-TRIBO_E_ARG], "rollout: threads is in [1, 256]");
        return NULL;
    }
    if (slot[6] && (snapshots < 1 || snapshots > 1000000)) {
        PyErr_SetString(c->error[-TRIBO_E_ARG], "rollout: checkpoints is at least 1");
        return NULL;
    }
    core_array x = {0}, U = {0}, p = {0};
    int how = CORE_MAY_BE_NONE | CORE_MAY_BE_MANY;
    rollout *r = NULL;
    if (core_take(c, slot[1], "x0", CORE_SHAPE(1, m->n.nx), how, &x) &&
        core_take(c, slot[2], "U", CORE_SHAPE(2, -1, m->n.nu), how, &U) &&
        core_take(c, slot[3], "p", CORE_SHAPE(1, m->n.np), how, &p))
        r = make(c, m, &x, &U, &p, slot[4], (int)snapshots);
    core_release(&x), core_release(&U), core_release(&p);
    if (r) r->workers = (int)workers;
    if (r && !run(r, !slot[5] || PyObject_IsTrue(slot[5]), !slot[8] || PyObject_IsTrue(slot[8]))) Py_CLEAR(r);
    return (PyObject *)r;
}

static void drop_tape(rollout *r) {
    tribo_tape_free(r->tape);
    r->tape = NULL, r->snapshots = 0, r->kept = false;
}

static void rollout_dealloc(PyObject *self) {
    rollout *r = (rollout *)self;
    drop_tape(r);
    free(r->x0), free(r->U), free(r->p), free(r->each), free(r->reached);
    Py_XDECREF(r->X);
    core_part_free(self);
}

static PyObject *rollout_free(PyObject *self, PyObject *none) {
    rollout *r = (rollout *)self;
    (void)none;
    if (r->reading) {
        PyErr_SetString(r->model->core->busy_error, "another thread goes back along this rollout");
        return NULL;
    }
    drop_tape(r);
    Py_RETURN_NONE;
}

/* ---- the reverse ---- */

static bool recorded(const rollout *r) {
    if (!core_model_alive(r->model)) return false;
    if (r->tape || r->snapshots || r->kept) return true;
    PyErr_SetString(r->model->core->freed_error, "this rollout has no tape: it was freed, or made with tape=False");
    return false;
}

static tribo_status reverse(rollout *r, tribo_ws *ws, const double *lx, const double *impulses, gradients g) {
    tribo_checkpoint *c = NULL;
    tribo_status s = r->tape ? TRIBO_OK : tribo_checkpoint_new(ws, r->snapshots, &c);
    if (s >= 0) {
        r->reading++;
        Py_BEGIN_ALLOW_THREADS;
        s = r->tape ? tribo_backward_impulses(ws, r->tape, lx, impulses, g.x0, g.U, g.p)
                    : tribo_checkpoint_backward(c, ws, r->p, r->x0, r->nstep, r->U, lx, g.x0, g.U, g.p, NULL);
        Py_END_ALLOW_THREADS;
        r->reading--;
    }
    tribo_checkpoint_free(c);
    return s;
}

static tribo_status reverse_alone(rollout *r, const double *lx, const double *impulses, gradients g) {
    tribo_ws *ws = core_ws_take(r->model);
    if (!ws) return TRIBO_E_ARG;
    tribo_status s = reverse(r, ws, lx, impulses, g);
    core_ws_give(r->model, r->handle, ws);
    return s;
}

/* A shape, with worlds in front of it where `many`. */
static core_shape per_world(core_shape s, bool many, int nworld) {
    if (!many) return s;
    for (int i = s.ndim; i > 0; i--) s.n[i] = s.n[i - 1];
    s.n[0] = nworld, s.ndim++;
    return s;
}

/* Whether cotangents of impulses, where there are any, are as many as the tape's contacts; NULL data = none. */
static bool fits_contacts(const rollout *r, const core_array *impulses) {
    Py_ssize_t all = 0;
    if (!impulses->a) return true;
    if (!r->tape) {
        PyErr_SetString(r->model->core->array_error, "impulses: only of one world with a full tape");
        return false;
    }
    for (int k = 0; k < r->nstep; k++) all += tribo_tape_contacts(r->tape, k, NULL);
    if (impulses->view.shape[0] == all) return true;
    PyErr_Format(r->model->core->array_error, "impulses: %zd rows, and the tape has %zd contacts",
                 impulses->view.shape[0], all);
    return false;
}

/* Contacts of each step on the tape; none without one. */
static PyObject *rollout_contact_counts(PyObject *self, PyObject *none) {
    (void)none;
    const rollout *r = (const rollout *)self;
    int n = r->tape ? r->nstep : 0;
    PyObject *list = PyList_New(n);
    for (int k = 0; list && k < n; k++) core_list_put(&list, k, PyLong_FromLong(tribo_tape_contacts(r->tape, k, NULL)));
    return list;
}

/* backward(lx, x0, U, p, impulses or None) -> (x0_bar, U_bar, p_bar, status name); None for what is not wanted. */
static PyObject *rollout_backward(PyObject *self, PyObject *args) {
    rollout *r = (rollout *)self;
    core *c = r->model->core;
    const tribo_sizes *n = &r->model->n;
    PyObject *lo, *io, *o[3] = {NULL}, *made = NULL;
    int want[3];
    core_array lx, impulses = {0}, a[3] = {0};
    if (!PyArg_ParseTuple(args, "OpppO", &lo, &want[0], &want[1], &want[2], &io) || !recorded(r) ||
        !core_take(c, lo, "lx", CORE_SHAPE(2, r->nstep + 1, n->ndx), r->batch ? CORE_MAY_BE_MANY : 0, &lx))
        return NULL;
    core_shape shape[3] = {per_world(CORE_SHAPE(1, n->ndx), r->many_x, r->nworld),
                           per_world(CORE_SHAPE(2, r->nstep, n->nu), r->many_u, r->nworld),
                           per_world(CORE_SHAPE(1, n->np), r->many_p, r->nworld)};
    bool good =
        core_take(c, io, "impulses", CORE_SHAPE(2, -1, 3), CORE_MAY_BE_NONE, &impulses) && fits_contacts(r, &impulses);
    for (int k = 0; good && k < 3; k++)
        good = (o[k] = want[k] ? core_new_zero(c, shape[k], &a[k]) : Py_NewRef(Py_None));
    if (good && lx.many && lx.view.shape[0] != r->nworld) {
        PyErr_Format(c->array_error, "lx has %zd worlds and the rollout %d", lx.view.shape[0], r->nworld);
        good = false;
    }
    if (good) {
        gradients g = {a[0].a, a[1].a, a[2].a};
        tribo_status s = r->batch ? core_batch_reverse(r, lx.a, !lx.many, g) : reverse_alone(r, lx.a, impulses.a, g);
        const char *given = impulses.a ? "backward: lx or impulses" : "backward: lx";
        if (s < 0 && !PyErr_Occurred())
            core_fail(c, s, s == TRIBO_E_NONFINITE ? given : "backward", NULL);
        else if (s >= 0 && core_warn(c, s, "backward", 2))
            made = Py_BuildValue("(OOOi)", o[0], o[1], o[2], (int)s);
    }
    for (int k = 0; k < 3; k++) core_release(&a[k]), Py_XDECREF(o[k]);
    core_release(&lx), core_release(&impulses);
    return made;
}

/* Of step k, from the tape of one world: (A, B, C). */
static PyObject *rollout_jacobians(PyObject *self, PyObject *args) {
    rollout *r = (rollout *)self;
    core *c = r->model->core;
    const tribo_sizes *n = &r->model->n;
    int k, by_p;
    PyObject *o[3] = {NULL}, *made = NULL;
    core_array a[3] = {0};
    if (!PyArg_ParseTuple(args, "ip", &k, &by_p) || !recorded(r)) return NULL;
    if (!r->tape || k < 0 || k >= r->nstep) {
        PyErr_SetString(PyExc_IndexError, r->tape ? "there is no such step" : "jacobians need a full tape");
        return NULL;
    }
    bool good = (o[0] = core_new(c, CORE_SHAPE(2, n->ndx, n->ndx), &a[0])) &&
                (o[1] = core_new(c, CORE_SHAPE(2, n->ndx, n->nu), &a[1])) &&
                (o[2] = by_p ? core_new(c, CORE_SHAPE(2, n->ndx, n->np), &a[2]) : Py_NewRef(Py_None));
    tribo_ws *ws = good ? core_ws_take(r->model) : NULL;
    if (ws) {
        tribo_status s = tribo_step_jac(ws, r->tape, k, a[0].a, a[1].a, a[2].a);
        core_ws_give(r->model, r->handle, ws);
        if (s < 0)
            core_fail(c, s, "jacobians", NULL);
        else if (core_warn(c, s, "jacobians", 2))
            made = PyTuple_Pack(3, o[0], o[1], o[2]);
    }
    for (int i = 0; i < 3; i++) core_release(&a[i]), Py_XDECREF(o[i]);
    return made;
}

/* Copies of what a step was made with: (u or None, p). */
static PyObject *rollout_inputs(PyObject *self, PyObject *args) {
    rollout *r = (rollout *)self;
    int k, w;
    if (!PyArg_ParseTuple(args, "ii", &k, &w)) return NULL;
    if (k < 0 || k >= r->nstep || w < 0 || w >= r->nworld) {
        PyErr_SetString(PyExc_IndexError, "there is no such step or world");
        return NULL;
    }
    core *c = r->model->core;
    const double *U = world_u(r, w);
    size_t nu = (size_t)r->model->n.nu;
    PyObject *u = U ? core_copy(c, CORE_SHAPE(1, r->model->n.nu), U + (size_t)k * nu) : Py_NewRef(Py_None);
    PyObject *p = core_copy(c, CORE_SHAPE(1, r->model->n.np), world_p(r, w));
    return Py_BuildValue("(NN)", u, p);
}

/* Steps that each world made; None of one world. */
static PyObject *rollout_reached(PyObject *self, PyObject *none) {
    (void)none;
    const rollout *r = (const rollout *)self;
    if (!r->reached) Py_RETURN_NONE;
    PyObject *list = PyList_New(r->nworld);
    for (int w = 0; list && w < r->nworld; w++) core_list_put(&list, w, PyLong_FromLong(r->reached[w]));
    return list;
}

static PyObject *get_X(PyObject *self, void *none) {
    (void)none;
    return Py_NewRef(((rollout *)self)->X);
}
static PyObject *get_model(PyObject *self, void *none) {
    (void)none;
    return Py_NewRef((PyObject *)((rollout *)self)->model);
}
static PyObject *get_facts(PyObject *self, void *none) {
    (void)none;
    const rollout *r = (const rollout *)self;
    return Py_BuildValue("{sisisOsOsi}", "worlds", r->nworld, "steps", r->nstep, "batch", r->batch ? Py_True : Py_False,
                         "taped", r->tape || r->snapshots || r->kept ? Py_True : Py_False, "status", (int)r->status);
}

static PyMethodDef methods[] = {{"backward", rollout_backward, METH_VARARGS, NULL},
                                {"jacobians", rollout_jacobians, METH_VARARGS, NULL},
                                {"inputs", rollout_inputs, METH_VARARGS, NULL},
                                {"reached", rollout_reached, METH_NOARGS, NULL},
                                {"free", rollout_free, METH_NOARGS, NULL},
                                {"contact_counts", rollout_contact_counts, METH_NOARGS, NULL},
                                {0}};
static PyGetSetDef getset[] = {{"X", get_X, NULL, NULL, NULL},
                               {"model", get_model, NULL, NULL, NULL},
                               {"facts", get_facts, NULL, NULL, NULL},
                               {0}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)rollout_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getset},
                              {Py_tp_doc, "A recorded rollout; see tribo.Rollout."},
                              {0, NULL}};
PyType_Spec core_rollout_spec = {"tribo._core.Rollout", sizeof(rollout), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
