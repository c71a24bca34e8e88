/* rollout.c -- many steps of one world or of a batch of worlds, recorded, and their reverse. */
#include "core.h"
#include <stdlib.h>
#include <string.h>

typedef struct rollout {
    PyObject_HEAD core_model *model; /* owned */
    core_handle *handle;
    PyObject *X;
    int nworld, nstep, snapshots;
    bool batch, many_x, many_u, many_p;
    tribo_tape **tape;  /* (nworld), NULL where there is none */
    double *x0, *U, *p; /* copies: (nworld or 1, nx), (nworld or 1, nstep, nu) or NULL, (nworld or 1, np) */
    tribo_status status;
} rollout;

/* ---- running ---- */

enum { STRIDE = 512 }; /* steps between looks for an interrupt */

static const double *world_u(const rollout *r, int w) {
    return r->U ? r->U + (r->many_u ? (size_t)w * (size_t)r->nstep * (size_t)r->model->n.nu : 0) : NULL;
}
static const double *world_p(const rollout *r, int w) {
    return r->p + (r->many_p ? (size_t)w * (size_t)r->model->n.np : 0);
}
static const double *world_x(const rollout *r, int w) {
    return r->x0 + (r->many_x ? (size_t)w * (size_t)r->model->n.nx : 0);
}

static bool run_world(rollout *r, tribo_ws *ws, int w, double *X) {
    const tribo_sizes *n = &r->model->n;
    const double *U = world_u(r, w), *p = world_p(r, w), *x = world_x(r, w);
    if (r->model->options.warm_start) tribo_ws_reset(ws);
    for (int k = 0; k < r->nstep; k += STRIDE) {
        int steps = r->nstep - k < STRIDE ? r->nstep - k : STRIDE;
        double *from = X + (size_t)k * (size_t)n->nx;
        const double *u = U ? U + (size_t)k * (size_t)n->nu : NULL;
        tribo_status s;
        Py_BEGIN_ALLOW_THREADS;
        s = tribo_rollout(ws, p, k ? from : x, steps, u, from, r->tape ? r->tape[w] : NULL);
        Py_END_ALLOW_THREADS;
        if (s < 0) return core_fail_step(r->model, s, p, x, U, r->nstep);
        if (s > r->status) r->status = s;
        if (PyErr_CheckSignals()) return false;
    }
    return true;
}

static bool make_tapes(rollout *r, const tribo_ws *ws) {
    r->tape = calloc((size_t)r->nworld, sizeof *r->tape);
    tribo_status s = r->tape ? TRIBO_OK : TRIBO_E_NOMEM;
    for (int w = 0; s >= 0 && w < r->nworld; w++) s = tribo_tape_new(ws, r->nstep, 0, &r->tape[w]);
    if (s < 0) core_fail(r->model->core, s, "the tape of a rollout (checkpoints=N takes less memory)", NULL);
    return s >= 0;
}

static bool run(rollout *r, bool recorded) {
    const tribo_sizes *n = &r->model->n;
    core_array X = {0};
    core_shape one = CORE_SHAPE(2, r->nstep + 1, n->nx), all = CORE_SHAPE(3, r->nworld, r->nstep + 1, n->nx);
    r->X = core_new(r->model->core, r->batch ? all : one, &X);
    tribo_ws *ws = r->X ? core_ws_take(r->model) : NULL;
    bool good = ws && (!recorded || r->snapshots > 0 || make_tapes(r, ws));
    for (int w = 0; good && w < r->nworld; w++)
        good = run_world(r, ws, w, X.a + (size_t)w * (size_t)(r->nstep + 1) * (size_t)n->nx);
    if (ws) core_ws_give(r->model, r->handle, ws);
    core_release(&X);
    if (good) core_read_only(r->X);
    return good && core_warn(r->model->core, r->status, "rollout");
}

/* ---- making ---- */

static double *copy_of(const double *from, size_t n) {
    double *to = malloc((n + 1) * sizeof *to);
    if (to && n) memcpy(to, from, n * sizeof *to);
    return to;
}

/* How many worlds the arrays with a leading axis have; -1 with an exception. */
static int worlds_of(core *c, core_array *const *a, const char *const *what, bool *batch) {
    Py_ssize_t n = -1;
    const char *first = NULL;
    for (int k = 0; k < 3; k++) {
        if (!a[k]->many) continue;
        Py_ssize_t m = a[k]->view.shape[0];
        if (first && m != n) {
            PyErr_Format(c->array_error, "%s has %zd worlds and %s has %zd", first, n, what[k], m);
            return -1;
        }
        first = what[k], n = m;
    }
    *batch = first != NULL;
    if (first && (n < 1 || n > INT32_MAX)) {
        PyErr_Format(c->array_error, "%s: expected at least one world on the leading axis, found %zd", first, n);
        return -1;
    }
    return first ? (int)n : 1;
}

/* Steps by U, or by the argument. */
static int steps_of(core *c, const core_array *U, PyObject *steps) {
    Py_ssize_t n = U->a ? U->view.shape[U->many] : -1;
    Py_ssize_t asked = steps ? PyLong_AsSsize_t(steps) : n;
    if (PyErr_Occurred()) return -1;
    if (asked < 1 || asked > INT32_MAX / 2) {
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
    int nstep = steps_of(c, U, steps), nworld = nstep < 0 ? -1 : worlds_of(c, a, what, &batch);
    if (nworld < 0) return NULL;
    rollout *r = (rollout *)core_object_new(c->rollout);
    if (!r) return NULL;
    r->model = (core_model *)Py_NewRef((PyObject *)m), r->handle = m->handle;
    core_handle_keep(r->handle);
    r->nworld = nworld, r->nstep = nstep, r->batch = batch, r->snapshots = snapshots;
    if (!keep_copies(r, x, U, p)) Py_CLEAR(r);
    return r;
}

PyObject *core_rollout_new(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    static const char *const names[] = {"model", "x0", "U", "p", "steps", "tape", "checkpoints", NULL};
    PyObject *slot[7];
    core *c = core_of(module);
    if (!core_arguments("rollout", args, n, kwnames, names, 1, slot)) return NULL;
    core_model *m = core_model_of(c, slot[0]);
    long snapshots = slot[6] ? PyLong_AsLong(slot[6]) : 0;
    if (!m || PyErr_Occurred()) return NULL;
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
    if (r && !run(r, !slot[5] || PyObject_IsTrue(slot[5]))) Py_CLEAR(r);
    return (PyObject *)r;
}

static void drop_tapes(rollout *r) {
    for (int w = 0; r->tape && w < r->nworld; w++) tribo_tape_free(r->tape[w]);
    free(r->tape);
    r->tape = NULL;
}

static void rollout_dealloc(PyObject *self) {
    rollout *r = (rollout *)self;
    drop_tapes(r);
    free(r->x0), free(r->U), free(r->p);
    core_handle_drop(r->handle);
    Py_XDECREF(r->X), Py_XDECREF((PyObject *)r->model);
    core_object_free(self);
}

static PyObject *rollout_free(PyObject *self, PyObject *none) {
    (void)none;
    rollout *r = (rollout *)self;
    drop_tapes(r);
    r->snapshots = 0;
    Py_RETURN_NONE;
}

/* ---- the reverse ---- */

/* What one sweep adds to, each NULL = not wanted. */
typedef struct gradients {
    double *x0, *U, *p;
} gradients;

static bool recorded(const rollout *r) {
    if (!core_model_alive(r->model)) return false;
    if (r->tape || r->snapshots) return true;
    PyErr_SetString(r->model->core->freed_error, "this rollout has no tape: it was freed, or made with tape=False");
    return false;
}

static tribo_status sweep(const rollout *r, tribo_ws *ws, tribo_checkpoint *c, int w, const double *lx, gradients g) {
    if (r->tape) return tribo_backward(ws, r->tape[w], lx, g.x0, g.U, g.p);
    return tribo_checkpoint_backward(c, ws, world_p(r, w), world_x(r, w), r->nstep, world_u(r, w), lx, g.x0, g.U, g.p,
                                     NULL);
}

/* World by world, each into numbers of its own, which shared ones are then the sum of, in the order of worlds. */
static tribo_status sweep_all(const rollout *r, tribo_ws *ws, tribo_checkpoint *c, const double *lx, gradients g,
                              double *scratch) {
    const tribo_sizes *n = &r->model->n;
    size_t nx = (size_t)n->ndx, nU = (size_t)r->nstep * (size_t)n->nu, np = (size_t)n->np;
    tribo_status worst = TRIBO_OK;
    for (int w = 0; w < r->nworld; w++) {
        size_t i = (size_t)w;
        const double *l = lx + (r->batch ? i * (size_t)(r->nstep + 1) * nx : 0);
        double *own_p = scratch, *own_x = own_p + np, *own_U = own_x + nx;
        memset(scratch, 0, (np + nx + nU) * sizeof *scratch);
        gradients one = {g.x0 ? own_x : NULL, g.U ? own_U : NULL, g.p ? own_p : NULL};
        tribo_status s = sweep(r, ws, c, w, l, one);
        if (s < 0) return s;
        if (s > worst) worst = s;
        for (size_t j = 0; g.x0 && j < nx; j++) g.x0[(r->many_x ? i * nx : 0) + j] += own_x[j];
        for (size_t j = 0; g.U && j < nU; j++) g.U[(r->many_u ? i * nU : 0) + j] += own_U[j];
        for (size_t j = 0; g.p && j < np; j++) g.p[(r->many_p ? i * np : 0) + j] += own_p[j];
    }
    return worst;
}

static tribo_status reverse(const rollout *r, tribo_ws *ws, const double *lx, gradients g) {
    const tribo_sizes *n = &r->model->n;
    size_t room = (size_t)n->np + (size_t)n->ndx + (size_t)r->nstep * (size_t)n->nu;
    double *scratch = malloc(room * sizeof *scratch);
    tribo_checkpoint *c = NULL;
    tribo_status s = scratch ? TRIBO_OK : TRIBO_E_NOMEM;
    if (s >= 0 && !r->tape) s = tribo_checkpoint_new(ws, r->snapshots, &c);
    if (s >= 0) {
        Py_BEGIN_ALLOW_THREADS;
        s = sweep_all(r, ws, c, lx, g, scratch);
        Py_END_ALLOW_THREADS;
    }
    tribo_checkpoint_free(c);
    free(scratch);
    return s;
}

/* A shape, with worlds in front of it where `many`. */
static core_shape per_world(core_shape s, bool many, int nworld) {
    if (!many) return s;
    for (int i = s.ndim; i > 0; i--) s.n[i] = s.n[i - 1];
    s.n[0] = nworld, s.ndim++;
    return s;
}

/* backward(lx, x0, U, p) -> (x0_bar, U_bar, p_bar, status name); None for what is not wanted. */
static PyObject *rollout_backward(PyObject *self, PyObject *args) {
    rollout *r = (rollout *)self;
    core *c = r->model->core;
    const tribo_sizes *n = &r->model->n;
    PyObject *lo, *o[3] = {NULL}, *made = NULL;
    int want[3];
    core_array lx, a[3] = {0};
    if (!PyArg_ParseTuple(args, "Oppp", &lo, &want[0], &want[1], &want[2]) || !recorded(r) ||
        !core_take(c, lo, "lx", per_world(CORE_SHAPE(2, r->nstep + 1, n->ndx), r->batch, r->nworld), 0, &lx))
        return NULL;
    core_shape shape[3] = {per_world(CORE_SHAPE(1, n->ndx), r->many_x, r->nworld),
                           per_world(CORE_SHAPE(2, r->nstep, n->nu), r->many_u, r->nworld),
                           per_world(CORE_SHAPE(1, n->np), r->many_p, r->nworld)};
    bool good = true;
    for (int k = 0; good && k < 3; k++)
        good = (o[k] = want[k] ? core_new_zero(c, shape[k], &a[k]) : Py_NewRef(Py_None));
    tribo_ws *ws = good ? core_ws_take(r->model) : NULL;
    if (ws) {
        tribo_status s = reverse(r, ws, lx.a, (gradients){a[0].a, a[1].a, a[2].a});
        core_ws_give(r->model, r->handle, ws);
        if (s < 0)
            core_fail(c, s, s == TRIBO_E_NONFINITE ? "backward: lx" : "backward", NULL);
        else if (core_warn(c, s, "backward"))
            made = Py_BuildValue("(OOOi)", o[0], o[1], o[2], (int)s);
    }
    for (int k = 0; k < 3; k++) core_release(&a[k]), Py_XDECREF(o[k]);
    core_release(&lx);
    return made;
}

/* Of step k in world w, from the tape: (A, B, C). */
static PyObject *rollout_jacobians(PyObject *self, PyObject *args) {
    rollout *r = (rollout *)self;
    core *c = r->model->core;
    const tribo_sizes *n = &r->model->n;
    int k, w, by_p;
    PyObject *o[3] = {NULL}, *made = NULL;
    core_array a[3] = {0};
    if (!PyArg_ParseTuple(args, "iip", &k, &w, &by_p) || !recorded(r)) return NULL;
    if (!r->tape || k < 0 || k >= r->nstep || w < 0 || w >= r->nworld) {
        PyErr_SetString(PyExc_IndexError, r->tape ? "there is no such step or world" : "jacobians need a full tape");
        return NULL;
    }
    bool good = (o[0] = core_new(c, CORE_SHAPE(2, n->ndx, n->ndx), &a[0])) &&
                (o[1] = core_new(c, CORE_SHAPE(2, n->ndx, n->nu), &a[1])) &&
                (o[2] = by_p ? core_new(c, CORE_SHAPE(2, n->ndx, n->np), &a[2]) : Py_NewRef(Py_None));
    tribo_ws *ws = good ? core_ws_take(r->model) : NULL;
    if (ws) {
        tribo_status s = tribo_step_jac(ws, r->tape[w], k, a[0].a, a[1].a, a[2].a);
        core_ws_give(r->model, r->handle, ws);
        if (s < 0)
            core_fail(c, s, "jacobians", NULL);
        else if (core_warn(c, s, "jacobians"))
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
    return u && p ? Py_BuildValue("(NN)", u, p) : NULL;
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
                         "taped", r->tape || r->snapshots ? Py_True : Py_False, "status", (int)r->status);
}

static PyMethodDef methods[] = {{"backward", rollout_backward, METH_VARARGS, NULL},
                                {"jacobians", rollout_jacobians, METH_VARARGS, NULL},
                                {"inputs", rollout_inputs, METH_VARARGS, NULL},
                                {"free", rollout_free, METH_NOARGS, NULL},
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
