/* fit.c -- identification: a fit that Python drives, an iteration a call. */
#include "core.h"
#include <stdlib.h>
#include <string.h>

typedef struct fit {
    PyObject_HEAD core_model *model; /* owned */
    core_handle *handle;
    tribo_sysid *s;
    int nrec, *rows;
    bool busy;
} fit;

static bool enter(fit *f) {
    if (!core_model_alive(f->model)) return false;
    if (f->busy) PyErr_SetString(f->model->core->busy_error, "another thread is using this fit");
    if (f->busy) return false;
    return f->busy = true;
}

/* ---- the definition ---- */

/* What the recordings of a call are read from while the fit copies them. */
typedef struct recordings {
    int n;
    tribo_recording *rec;
    core_array *a; /* (CORE_RECORDING_ARRAYS n) */
    tribo_free_param *free;
    int nfree;
} recordings;

static void recordings_end(recordings *r) {
    for (int i = 0; r->a && i < CORE_RECORDING_ARRAYS * r->n; i++) core_release(&r->a[i]);
    free(r->rec), free(r->a), free(r->free);
}

/* Lists of (time, X, U, markers, forces) and of (index, start, lower, upper). */
static bool recordings_take(core_model *m, PyObject *list, PyObject *free_list, recordings *r) {
    r->n = (int)PyList_Size(list), r->nfree = (int)PyList_Size(free_list);
    if (PyErr_Occurred()) return false;
    r->rec = calloc((size_t)r->n + 1, sizeof *r->rec);
    r->a = calloc(CORE_RECORDING_ARRAYS * (size_t)r->n + 1, sizeof *r->a);
    r->free = calloc((size_t)r->nfree + 1, sizeof *r->free);
    if (!r->rec || !r->a || !r->free) return PyErr_NoMemory();
    for (int i = 0; i < r->n; i++)
        if (!core_recording_take(m, PyList_GetItem(list, i), r->rec + i, r->a + CORE_RECORDING_ARRAYS * i))
            return false;
    for (int i = 0; i < r->nfree; i++) {
        tribo_free_param *f = r->free + i;
        *f = tribo_default_free();
        if (!PyArg_ParseTuple(PyList_GetItem(free_list, i), "iddd", &f->index, &f->start, &f->lower, &f->upper))
            return false;
    }
    return true;
}

/* fit(model, recordings, free, loss, window, start, robust, thresholds, weights, optimizer, search, rate, validation,
 * seed, workers) */
PyObject *core_fit_new(PyObject *module, PyObject *args) {
    core *c = core_of(module);
    PyObject *mo, *list, *free_list;
    tribo_sysid_def d = tribo_default_sysid();
    int loss, start, robust, optimizer;
    unsigned long long seed;
    if (!PyArg_ParseTuple(args, "OOOiiii(dddd)(dddd)iiddKi", &mo, &list, &free_list, &loss, &d.window, &start, &robust,
                          &d.threshold[0], &d.threshold[1], &d.threshold[2], &d.threshold[3], &d.weight[0],
                          &d.weight[1], &d.weight[2], &d.weight[3], &optimizer, &d.search, &d.rate, &d.validation,
                          &seed, &d.workers))
        return NULL;
    core_model *m = core_model_of(c, mo);
    if (!m) return NULL;
    recordings r = {0};
    fit *f = NULL;
    tribo_diag diag = {0};
    d.loss = (tribo_loss)loss, d.start = (tribo_start)start, d.robust = (tribo_robust)robust;
    d.optimizer = (tribo_optimizer)optimizer, d.seed = seed, d.options = &m->options;
    if (recordings_take(m, list, free_list, &r)) {
        d.free = r.free, d.nfree = r.nfree, d.rec = r.rec, d.nrec = r.n;
        f = core_part_new(c->fit, m);
    }
    if (f) {
        f->nrec = r.n;
        f->rows = calloc((size_t)r.n + 1, sizeof *f->rows);
        for (int i = 0; f->rows && i < r.n; i++) f->rows[i] = r.rec[i].n;
        tribo_status s = f->rows ? TRIBO_OK : TRIBO_E_NOMEM;
        if (s >= 0) {
            Py_BEGIN_ALLOW_THREADS;
            s = tribo_sysid_new(f->handle->m, &d, &f->s, &diag);
            Py_END_ALLOW_THREADS;
        }
        if (s < 0) core_fail(c, s, "identify", &diag);
        if (s < 0) Py_CLEAR(f);
    }
    recordings_end(&r);
    return (PyObject *)f;
}

static void fit_dealloc(PyObject *self) {
    fit *f = (fit *)self;
    tribo_sysid_free(f->s);
    free(f->rows);
    core_part_free(self);
}

/* ---- driving ---- */

/* iterate() -> (status, stage, iteration, evaluations, loss, loss_start, gradient, converged, settled, starts, agreed,
 * others) */
static PyObject *fit_iterate(PyObject *self, PyObject *none) {
    (void)none;
    fit *f = (fit *)self;
    tribo_progress p;
    tribo_status s;
    if (!enter(f)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    s = tribo_sysid_iterate(f->s, &p);
    Py_END_ALLOW_THREADS;
    f->busy = false;
    if (s < 0) return core_fail(f->model->core, s, "identify", NULL);
    return Py_BuildValue("(iiildddOOiii)", (int)s, (int)p.stage, p.iteration, p.evaluations, p.loss, p.loss_start,
                         p.gradient_norm, p.converged ? Py_True : Py_False, p.settled ? Py_True : Py_False, p.starts,
                         p.agreed, p.others);
}

/* ---- asking ---- */

static PyObject *fit_params(PyObject *self, PyObject *none) {
    (void)none;
    fit *f = (fit *)self;
    core_array a = {0};
    if (!enter(f)) return NULL;
    PyObject *p = core_new(f->model->core, CORE_SHAPE(1, f->model->n.np), &a);
    double *theta = malloc(((size_t)tribo_sysid_nfree(f->s) + 1) * sizeof *theta);
    if (p && theta) tribo_sysid_theta(f->s, theta), tribo_sysid_params(f->s, theta, a.a);
    free(theta);
    core_release(&a);
    f->busy = false;
    return p;
}

/* eval(theta or None) -> (loss, gradient by theta) */
static PyObject *fit_eval(PyObject *self, PyObject *to) {
    fit *f = (fit *)self;
    core *c = f->model->core;
    int n = tribo_sysid_nfree(f->s);
    core_array t, g = {0};
    double loss = 0;
    PyObject *made = NULL, *go = NULL;
    if (!core_take(c, to, "theta", CORE_SHAPE(1, n), CORE_MAY_BE_NONE, &t)) return NULL;
    double *theta = malloc(((size_t)n + 1) * sizeof *theta);
    if (theta && (go = core_new(c, CORE_SHAPE(1, n), &g)) && enter(f)) {
        tribo_status s;
        if (t.a && n) memcpy(theta, t.a, (size_t)n * sizeof *theta);
        if (!t.a) tribo_sysid_theta(f->s, theta);
        Py_BEGIN_ALLOW_THREADS;
        s = tribo_sysid_eval(f->s, theta, &loss, g.a);
        Py_END_ALLOW_THREADS;
        f->busy = false;
        if (s < 0)
            core_fail(c, s, "identify", NULL);
        else
            made = Py_BuildValue("(dO)", loss, go);
    }
    free(theta);
    core_release(&t), core_release(&g), Py_XDECREF(go);
    return made;
}

static PyObject *estimate_list(const tribo_estimate *e, int n) {
    PyObject *list = PyList_New(n);
    for (int i = 0; list && i < n; i++)
        core_list_put(&list, i,
                      Py_BuildValue("(idddddOO)", e[i].index, e[i].start, e[i].estimate, e[i].std_error, e[i].low95,
                                    e[i].high95, e[i].identifiable ? Py_True : Py_False,
                                    e[i].at_bound ? Py_True : Py_False));
    return list;
}

/* observe() -> (estimates, information, directions, spread, nundetermined) */
static PyObject *fit_observe(PyObject *self, PyObject *none) {
    (void)none;
    fit *f = (fit *)self;
    core *c = f->model->core;
    int n = tribo_sysid_nfree(f->s), open = 0;
    core_array a[3] = {0};
    PyObject *o[3] = {NULL}, *made = NULL;
    tribo_estimate *e = calloc((size_t)n + 1, sizeof *e);
    bool good = e && (o[0] = core_new(c, CORE_SHAPE(2, n, n), &a[0])) &&
                (o[1] = core_new(c, CORE_SHAPE(2, n, n), &a[1])) && (o[2] = core_new(c, CORE_SHAPE(1, n), &a[2]));
    if (good && enter(f)) {
        tribo_status s;
        Py_BEGIN_ALLOW_THREADS;
        s = tribo_sysid_observe(f->s, e, a[0].a, a[1].a, a[2].a, &open);
        Py_END_ALLOW_THREADS;
        f->busy = false;
        for (int i = 0; s >= 0 && i < n; i++) tribo_sysid_changes(f->s, a[1].a + i * n, a[1].a + i * n);
        if (s < 0)
            core_fail(c, s, "observe", NULL);
        else
            made = Py_BuildValue("(NOOOi)", estimate_list(e, n), o[0], o[1], o[2], open);
    }
    for (int k = 0; k < 3; k++) core_release(&a[k]), Py_XDECREF(o[k]);
    free(e);
    return made;
}

static bool rec_of(const fit *f, int i) {
    if (i >= 0 && i < f->nrec) return true;
    PyErr_SetString(PyExc_IndexError, "there is no such recording");
    return false;
}

/* errors(i, p or None) -> the numbers of tribo_errors */
static PyObject *fit_errors(PyObject *self, PyObject *args) {
    fit *f = (fit *)self;
    core *c = f->model->core;
    int i;
    PyObject *po;
    core_array p;
    tribo_errors e;
    if (!PyArg_ParseTuple(args, "iO", &i, &po) || !rec_of(f, i) ||
        !core_take(c, po, "p", CORE_SHAPE(1, f->model->n.np), CORE_MAY_BE_NONE, &p))
        return NULL;
    tribo_status s = TRIBO_OK;
    bool in = enter(f);
    if (in) s = tribo_sysid_errors(f->s, p.a, i, &e), f->busy = false;
    core_release(&p);
    if (!in) return NULL;
    if (s < 0) return core_fail(c, s, "errors", NULL);
    return Py_BuildValue("(idddddddd)", e.rows, e.position_mean, e.rotation_mean_deg, e.position_relative,
                         e.step_position_rms, e.step_rotation_rms_deg, e.step_velocity_rms, e.step_angular_rms,
                         e.force_mean);
}

/* predict(i, p or None), or smooth(i): states at the rows of a recording */
static PyObject *states_at(fit *f, int i, PyObject *po, bool smooth) {
    core *c = f->model->core;
    core_array p, X = {0};
    if (!rec_of(f, i) || !core_take(c, po, "p", CORE_SHAPE(1, f->model->n.np), CORE_MAY_BE_NONE, &p)) return NULL;
    PyObject *made = core_new(c, CORE_SHAPE(2, f->rows[i], f->model->n.nx), &X);
    if (made && enter(f)) {
        tribo_status s = smooth ? tribo_sysid_smooth(f->s, i, X.a, NULL) : tribo_sysid_predict(f->s, p.a, i, X.a);
        f->busy = false;
        if (s < 0) core_fail(c, s, smooth ? "smooth (of loss=\"shooting\")" : "predict", NULL);
        if (s < 0) Py_CLEAR(made);
    } else {
        Py_CLEAR(made);
    }
    core_release(&p), core_release(&X);
    return made;
}
static PyObject *fit_predict(PyObject *self, PyObject *args) {
    int i;
    PyObject *p;
    return PyArg_ParseTuple(args, "iO", &i, &p) ? states_at((fit *)self, i, p, false) : NULL;
}
static PyObject *fit_smooth(PyObject *self, PyObject *args) {
    int i;
    return PyArg_ParseTuple(args, "i", &i) ? states_at((fit *)self, i, NULL, true) : NULL;
}
static PyObject *fit_held_out(PyObject *self, PyObject *args) {
    int i;
    fit *f = (fit *)self;
    if (!PyArg_ParseTuple(args, "i", &i) || !rec_of(f, i)) return NULL;
    return PyBool_FromLong(tribo_sysid_held_out(f->s, i));
}

static PyObject *fit_flight(PyObject *self, PyObject *args) {
    int i;
    fit *f = (fit *)self;
    if (!PyArg_ParseTuple(args, "i", &i) || !rec_of(f, i)) return NULL;
    return PyLong_FromLong(tribo_sysid_flight(f->s, i));
}

static PyMethodDef methods[] = {{"iterate", fit_iterate, METH_NOARGS, NULL},
                                {"params", fit_params, METH_NOARGS, NULL},
                                {"eval", fit_eval, METH_O, NULL},
                                {"observe", fit_observe, METH_NOARGS, NULL},
                                {"errors", fit_errors, METH_VARARGS, NULL},
                                {"predict", fit_predict, METH_VARARGS, NULL},
                                {"smooth", fit_smooth, METH_VARARGS, NULL},
                                {"held_out", fit_held_out, METH_VARARGS, NULL},
                                {"flight", fit_flight, METH_VARARGS, NULL},
                                {0}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)fit_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, "A fit; see tribo.Identification."},
                              {0, NULL}};
PyType_Spec core_fit_spec = {"tribo._core.Fit", sizeof(fit), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             slots};
