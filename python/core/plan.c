/* plan.c -- trajectory optimisation: a task that Python drives, a pass a call. */
#include "core.h"
#include <stdlib.h>
#include <string.h>

/* A term of the caller's: called from the search's threads, with the lock taken for the time. */
typedef struct custom {
    struct plan *plan;
    PyObject *function; /* owned */
    int size;
} custom;

typedef struct plan {
    PyObject_HEAD core_model *model; /* owned */
    core_handle *handle;
    tribo_trajopt *t;
    custom *custom; /* (ncustom) */
    int ncustom, knots, nterm, ncontrol;
    PyObject *raised[3]; /* the first exception of a term of the caller's */
    bool busy;
} plan;

static bool enter(plan *b) {
    if (!core_model_alive(b->model)) return false;
    if (b->busy) PyErr_SetString(b->model->core->busy_error, "another thread is using this plan");
    if (b->busy) return false;
    return b->busy = true;
}

/* What a call on the search returned, as an exception or a warning; NULL then. */
static bool leave(plan *b, tribo_status s, const char *where, const tribo_diag *diag) {
    b->busy = false;
    if (b->raised[0]) {
        PyErr_Restore(b->raised[0], b->raised[1], b->raised[2]);
        memset(b->raised, 0, sizeof b->raised);
        return false;
    }
    if (s < 0) core_fail(b->model->core, s, where, diag);
    return s >= 0;
}

/* ---- terms of the caller's ---- */

static bool copy_result(core *c, PyObject *o, const char *what, core_shape shape, double *to) {
    core_array a;
    if (!to || !core_take(c, o, what, shape, 0, &a)) return !to;
    memcpy(to, a.a, (size_t)a.view.len);
    core_release(&a);
    return true;
}

/* function(knot, x, u or None, derivatives) gives r, or (r, rx, ru) */
static bool call_custom(custom *k, int knot, const double *x, const double *u, double *r, double *rx, double *ru) {
    core *c = k->plan->model->core;
    const tribo_sizes *n = &k->plan->model->n;
    int nu = k->plan->ncontrol;
    PyObject *xo = core_copy(c, CORE_SHAPE(1, n->nx), x);
    PyObject *uo = u ? core_copy(c, CORE_SHAPE(1, nu), u) : Py_NewRef(Py_None);
    PyObject *made =
        xo && uo ? PyObject_CallFunction(k->function, "iOOO", knot, xo, uo, rx ? Py_True : Py_False) : NULL;
    Py_XDECREF(xo), Py_XDECREF(uo);
    bool good = made != NULL;
    if (good && !rx) {
        good = copy_result(c, made, "r of a term", CORE_SHAPE(1, k->size), r);
    } else if (good) {
        PyObject *o[3];
        good = PyTuple_Check(made) && PyArg_ParseTuple(made, "OOO", &o[0], &o[1], &o[2]);
        if (!good && !PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "a term asked for derivatives returns (r, rx, ru)");
        good = good && copy_result(c, o[0], "r of a term", CORE_SHAPE(1, k->size), r) &&
               copy_result(c, o[1], "rx of a term", CORE_SHAPE(2, k->size, n->ndx), rx) &&
               copy_result(c, o[2], "ru of a term", CORE_SHAPE(2, k->size, nu), u ? ru : NULL);
    }
    Py_XDECREF(made);
    return good;
}

static tribo_status custom_term(void *context, int knot, const double *x, const double *u, double *r, double *rx,
                                double *ru) {
    custom *k = context;
    PyGILState_STATE lock = PyGILState_Ensure();
    bool good = call_custom(k, knot, x, u, r, rx, ru);
    PyObject **e = k->plan->raised;
    if (!good && !e[0])
        PyErr_Fetch(&e[0], &e[1], &e[2]);
    else
        PyErr_Clear();
    PyGILState_Release(lock);
    return good ? TRIBO_OK : TRIBO_E_ARG;
}

/* ---- the definition ---- */

enum { NARRAY = 6 }; /* lower, upper, u, p, x0, U; X is the seventh */
typedef struct definition {
    tribo_trajopt_def d;
    tribo_term_def *term;
    core_array *a; /* (2 nterm): weights, target; then those of the task */
    core_array own[NARRAY + 1];
    int *control;
    tribo_law_options *stage;
    int nterm;
} definition;

static void definition_end(definition *d) {
    for (int i = 0; d->a && i < 2 * d->nterm; i++) core_release(&d->a[i]);
    for (int i = 0; i <= NARRAY; i++) core_release(&d->own[i]);
    free(d->term), free(d->a), free(d->control), free(d->stage);
}

/* An array of a term's, and how many numbers it has; none where it is None. */
static bool take_numbers(core *c, PyObject *o, const char *what, core_shape shape, core_array *a, const double **to,
                         int *count) {
    if (!core_take(c, o, what, shape, CORE_MAY_BE_NONE, a)) return false;
    Py_ssize_t n = a->a ? a->view.len / (Py_ssize_t)sizeof *a->a : 0;
    if (a->a && (n < 1 || n > INT32_MAX)) { /* a count of 0 would be one that is not said */
        PyErr_Format(c->array_error, "%s: %zd numbers", what, n);
        return false;
    }
    *to = a->a, *count = (int)n;
    return true;
}

/* (kind, name, joint, body, site, body2, site2, weight, weights, norm, scale, first, last, target, size, function) */
static bool take_term(core *c, plan *b, PyObject *o, tribo_term_def *t, core_array *a) {
    const char *kind, *norm;
    PyObject *weights, *target, *function;
    *t = tribo_default_term();
    if (!PyArg_ParseTuple(o, "sziiiiidOsdiiOiO", &kind, &t->name, &t->joint, &t->body, &t->site, &t->body2, &t->site2,
                          &t->weight, &weights, &norm, &t->scale, &t->first, &t->last, &target, &t->size, &function))
        return false;
    t->kind = tribo_term_find(kind), t->norm = tribo_norm_find(norm);
    if (t->kind == TRIBO_TERM_END || t->norm == TRIBO_NORM_END) {
        PyErr_Format(c->error[-TRIBO_E_ARG], "terms: there is no %s `%s`", t->kind == TRIBO_TERM_END ? "kind" : "norm",
                     t->kind == TRIBO_TERM_END ? kind : norm);
        return false;
    }
    if (!take_numbers(c, weights, "weights of a term", CORE_SHAPE(1, -1), &a[0], &t->weights, &t->weight_count) ||
        !take_numbers(c, target, "target of a term", CORE_SHAPE(2, -1, -1), &a[1], &t->target, &t->target_count))
        return false;
    if (t->target) t->ntarget = (int)a[1].view.shape[0];
    if (t->kind == TRIBO_TERM_CUSTOM) {
        custom *k = b->custom + b->ncustom++;
        *k = (custom){b, Py_NewRef(function), t->size};
        t->function = custom_term, t->context = k;
    }
    return true;
}

static bool take_terms(core *c, plan *b, PyObject *list, definition *d) {
    d->nterm = b->nterm = (int)PyList_Size(list);
    d->term = calloc((size_t)d->nterm + 1, sizeof *d->term);
    d->a = calloc(2 * (size_t)d->nterm + 1, sizeof *d->a);
    b->custom = calloc((size_t)d->nterm + 1, sizeof *b->custom);
    if (!d->term || !d->a || !b->custom) return PyErr_NoMemory();
    for (int i = 0; i < d->nterm; i++)
        if (!take_term(c, b, PyList_GetItem(list, i), d->term + i, d->a + 2 * i)) return false;
    d->d.term = d->term, d->d.nterm = d->nterm;
    return true;
}

static bool take_controls(plan *b, PyObject *list, definition *d) {
    const tribo_sizes *n = &b->model->n;
    b->ncontrol = n->nactuator ? n->nactuator : n->nv;
    if (list == Py_None) return true;
    b->ncontrol = (int)PyList_Size(list);
    d->control = calloc((size_t)b->ncontrol + 1, sizeof *d->control);
    if (!d->control) return PyErr_NoMemory();
    for (int i = 0; i < b->ncontrol; i++) d->control[i] = (int)PyLong_AsLong(PyList_GetItem(list, i));
    d->d.control = d->control, d->d.ncontrol = b->ncontrol;
    return !PyErr_Occurred();
}

/* Dicts of law options, one a stage. */
static bool take_stages(core *c, PyObject *list, definition *d) {
    int n = (int)PyList_Size(list);
    d->stage = calloc((size_t)n + 1, sizeof *d->stage);
    if (!d->stage) return PyErr_NoMemory();
    for (int i = 0; i < n; i++) {
        tribo_options o = tribo_default_options();
        if (!core_options_set(c, PyList_GetItem(list, i), &o)) return false;
        d->stage[i] = o.law;
    }
    d->d.stage = n ? d->stage : NULL, d->d.nstage = n;
    return true;
}

static bool take_arrays(core *c, plan *b, PyObject *const *o, definition *d) {
    const tribo_sizes *n = &b->model->n;
    int knots = d->d.knots, nc = b->ncontrol, how = CORE_MAY_BE_NONE;
    core_array *a = d->own;
    bool good = core_take(c, o[0], "lower", CORE_SHAPE(1, nc), how, &a[0]) &&
                core_take(c, o[1], "upper", CORE_SHAPE(1, nc), how, &a[1]) &&
                core_take(c, o[2], "hold", CORE_SHAPE(1, n->nu), how, &a[2]) &&
                core_take(c, o[3], "p", CORE_SHAPE(1, n->np), how, &a[3]) &&
                core_take(c, o[4], "x0", CORE_SHAPE(1, n->nx), how, &a[4]) &&
                core_take(c, o[5], "U", CORE_SHAPE(2, knots, nc), how, &a[5]) &&
                core_take(c, o[6], "X", CORE_SHAPE(2, knots + 1, n->nx), how, &a[6]);
    d->d.lower = a[0].a, d->d.upper = a[1].a, d->d.u = a[2].a, d->d.p = a[3].a, d->d.x0 = a[4].a, d->d.U = a[5].a;
    d->d.X = a[6].a;
    return good;
}

/* plan(model, knots, substeps, terms, controls or None, lower, upper, hold, p, x0, U, X, method, stages, tol,
 * tol_constraint, workers) */
PyObject *core_plan_new(PyObject *module, PyObject *args) {
    core *c = core_of(module);
    PyObject *mo, *terms, *controls, *stages, *o[NARRAY + 1];
    definition d = {.d = tribo_default_trajopt()};
    int method;
    tribo_diag diag = {0};
    if (!PyArg_ParseTuple(args, "OiiOOOOOOOOOiOddi", &mo, &d.d.knots, &d.d.substeps, &terms, &controls, &o[0], &o[1],
                          &o[2], &o[3], &o[4], &o[5], &o[6], &method, &stages, &d.d.tol, &d.d.tol_constraint,
                          &d.d.workers))
        return NULL;
    core_model *m = core_model_of(c, mo);
    plan *b = m ? core_part_new(c->plan, m) : NULL;
    if (!b) return NULL;
    b->knots = d.d.knots, d.d.method = (tribo_method)method, d.d.options = &m->options;
    bool good = take_terms(c, b, terms, &d) && take_controls(b, controls, &d) && take_stages(c, stages, &d) &&
                take_arrays(c, b, o, &d) && enter(b);
    if (good) {
        tribo_status s;
        Py_BEGIN_ALLOW_THREADS;
        s = tribo_trajopt_new(b->handle->m, &d.d, &b->t, &diag);
        Py_END_ALLOW_THREADS;
        good = leave(b, s, "optimize", &diag);
    }
    definition_end(&d);
    if (!good) Py_CLEAR(b);
    return (PyObject *)b;
}

/* A term of the caller's may refer to the plan that it is in. */
static int plan_visit(PyObject *self, visitproc visit, void *arg) {
    plan *b = (plan *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT((PyObject *)b->model);
    for (int i = 0; i < b->ncustom; i++) Py_VISIT(b->custom[i].function);
    for (int i = 0; i < 3; i++) Py_VISIT(b->raised[i]);
    return 0;
}

static int plan_clear(PyObject *self) {
    plan *b = (plan *)self;
    for (int i = 0; i < b->ncustom; i++) Py_CLEAR(b->custom[i].function);
    for (int i = 0; i < 3; i++) Py_CLEAR(b->raised[i]);
    return 0;
}

static void plan_dealloc(PyObject *self) {
    plan *b = (plan *)self;
    PyObject_GC_UnTrack(self);
    tribo_trajopt_free(b->t);
    plan_clear(self);
    free(b->custom);
    core_part_free(self);
}

/* ---- driving ---- */

static PyObject *plan_iterate(PyObject *self, PyObject *none) {
    (void)none;
    plan *b = (plan *)self;
    tribo_trajopt_progress p;
    tribo_status s;
    if (!enter(b)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    s = tribo_trajopt_iterate(b->t, &p);
    Py_END_ALLOW_THREADS;
    if (!leave(b, s, "optimize", NULL)) return NULL;
    return Py_BuildValue("(iiidddddddiiOO)", (int)s, p.stage, p.iteration, p.cost, p.cost_hard, p.expected, p.step,
                         p.gradient, p.gap, p.violation, p.rollouts, p.unconverged, p.converged ? Py_True : Py_False,
                         p.done ? Py_True : Py_False);
}

/* shift(knots, x0), or restart(x0, U) */
static PyObject *begin_again(plan *b, int knots, PyObject *xo, PyObject *uo, bool shift) {
    core *c = b->model->core;
    core_array x, U = {0};
    PyObject *made = NULL;
    if (!core_take(c, xo, "x0", CORE_SHAPE(1, b->model->n.nx), 0, &x)) return NULL;
    if ((shift || core_take(c, uo, "U", CORE_SHAPE(2, b->knots, b->ncontrol), 0, &U)) && enter(b)) {
        tribo_status s;
        Py_BEGIN_ALLOW_THREADS;
        s = shift ? tribo_trajopt_shift(b->t, knots, x.a) : tribo_trajopt_restart(b->t, x.a, U.a);
        Py_END_ALLOW_THREADS;
        if (leave(b, s, shift ? "shift" : "restart", NULL)) made = Py_NewRef(Py_None);
    }
    core_release(&x), core_release(&U);
    return made;
}
static PyObject *plan_shift(PyObject *self, PyObject *args) {
    int knots;
    PyObject *x;
    return PyArg_ParseTuple(args, "iO", &knots, &x) ? begin_again((plan *)self, knots, x, NULL, true) : NULL;
}
static PyObject *plan_restart(PyObject *self, PyObject *args) {
    PyObject *x, *U;
    return PyArg_ParseTuple(args, "OO", &x, &U) ? begin_again((plan *)self, 0, x, U, false) : NULL;
}

static PyObject *plan_set_target(PyObject *self, PyObject *args) {
    plan *b = (plan *)self;
    int term;
    PyObject *to;
    core_array t;
    if (!PyArg_ParseTuple(args, "iO", &term, &to) ||
        !core_take(b->model->core, to, "target", CORE_SHAPE(2, -1, -1), 0, &t))
        return NULL;
    bool good = enter(b) && leave(b, tribo_trajopt_set_target(b->t, term, t.a), "target", NULL);
    core_release(&t);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* ---- asking ---- */

static PyObject *plan_trajectory(PyObject *self, PyObject *none) {
    (void)none;
    plan *b = (plan *)self;
    core *c = b->model->core;
    core_array X = {0}, U = {0};
    PyObject *xo = core_new(c, CORE_SHAPE(2, b->knots + 1, b->model->n.nx), &X), *made = NULL;
    PyObject *uo = xo ? core_new(c, CORE_SHAPE(2, b->knots, b->ncontrol), &U) : NULL;
    if (uo && enter(b)) {
        tribo_trajopt_trajectory(b->t, X.a, U.a);
        b->busy = false;
        made = PyTuple_Pack(2, xo, uo);
    }
    core_release(&X), core_release(&U), Py_XDECREF(xo), Py_XDECREF(uo);
    return made;
}

static PyObject *plan_costs(PyObject *self, PyObject *none) {
    (void)none;
    plan *b = (plan *)self;
    core_array a = {0};
    PyObject *made = core_new(b->model->core, CORE_SHAPE(1, b->nterm), &a);
    if (made && enter(b)) {
        tribo_status s;
        Py_BEGIN_ALLOW_THREADS; /* terms of the caller's want the lock in other threads */
        s = tribo_trajopt_costs(b->t, a.a);
        Py_END_ALLOW_THREADS;
        if (!leave(b, s, "costs", NULL)) Py_CLEAR(made);
    } else {
        Py_CLEAR(made);
    }
    core_release(&a);
    return made;
}

static PyObject *plan_gradient(PyObject *self, PyObject *none) {
    (void)none;
    plan *b = (plan *)self;
    core_array x = {0}, p = {0};
    PyObject *xo = core_new_zero(b->model->core, CORE_SHAPE(1, b->model->n.ndx), &x), *made = NULL;
    PyObject *po = xo ? core_new_zero(b->model->core, CORE_SHAPE(1, b->model->n.np), &p) : NULL;
    if (po && enter(b)) {
        tribo_status s;
        Py_BEGIN_ALLOW_THREADS;
        s = tribo_trajopt_gradient(b->t, x.a, p.a);
        Py_END_ALLOW_THREADS;
        if (leave(b, s, "gradient", NULL)) made = PyTuple_Pack(2, xo, po);
    }
    core_release(&x), core_release(&p), Py_XDECREF(xo), Py_XDECREF(po);
    return made;
}

static PyObject *plan_settle(PyObject *self, PyObject *none) {
    (void)none;
    plan *b = (plan *)self;
    tribo_status s;
    if (!enter(b)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    s = tribo_trajopt_settle(b->t);
    Py_END_ALLOW_THREADS;
    return leave(b, s, "settle", NULL) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *plan_feedback(PyObject *self, PyObject *args) {
    plan *b = (plan *)self;
    core *c = b->model->core;
    int knot;
    PyObject *xo, *made = NULL;
    core_array x, u = {0};
    if (!PyArg_ParseTuple(args, "iO", &knot, &xo) || !core_take(c, xo, "x", CORE_SHAPE(1, b->model->n.nx), 0, &x))
        return NULL;
    made = core_new_zero(c, CORE_SHAPE(1, b->model->n.nu), &u);
    if (made && !(enter(b) && leave(b, tribo_trajopt_feedback(b->t, knot, x.a, u.a), "feedback", NULL))) Py_CLEAR(made);
    core_release(&x), core_release(&u);
    return made;
}

static PyObject *plan_gain(PyObject *self, PyObject *args) {
    plan *b = (plan *)self;
    int knot;
    core_array K = {0};
    if (!PyArg_ParseTuple(args, "i", &knot)) return NULL;
    PyObject *made = core_new(b->model->core, CORE_SHAPE(2, b->ncontrol, b->model->n.ndx), &K);
    if (made && !(enter(b) && leave(b, tribo_trajopt_gain(b->t, knot, K.a), "gain", NULL))) Py_CLEAR(made);
    core_release(&K);
    return made;
}

static PyObject *plan_controls(PyObject *self, PyObject *none) {
    (void)none;
    plan *b = (plan *)self;
    PyObject *list = PyList_New(b->ncontrol);
    for (int i = 0; list && i < b->ncontrol; i++)
        core_list_put(&list, i, PyLong_FromLong(tribo_trajopt_control(b->t, i)));
    return list;
}

/* add_to(policies, first, last) */
static PyObject *plan_add_to(PyObject *self, PyObject *args) {
    plan *b = (plan *)self;
    PyObject *o;
    int first, last;
    if (!PyArg_ParseTuple(args, "Oii", &o, &first, &last)) return NULL;
    tribo_policies *l = core_policies_of(b->model, o);
    if (!l || !enter(b)) return NULL;
    return leave(b, tribo_policies_add(l, b->t, first, last), "policies", NULL) ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef methods[] = {{"iterate", plan_iterate, METH_NOARGS, NULL},
                                {"shift", plan_shift, METH_VARARGS, NULL},
                                {"add_to", plan_add_to, METH_VARARGS, NULL},
                                {"restart", plan_restart, METH_VARARGS, NULL},
                                {"set_target", plan_set_target, METH_VARARGS, NULL},
                                {"trajectory", plan_trajectory, METH_NOARGS, NULL},
                                {"costs", plan_costs, METH_NOARGS, NULL},
                                {"gradient", plan_gradient, METH_NOARGS, NULL},
                                {"settle", plan_settle, METH_NOARGS, NULL},
                                {"feedback", plan_feedback, METH_VARARGS, NULL},
                                {"gain", plan_gain, METH_VARARGS, NULL},
                                {"controls", plan_controls, METH_NOARGS, NULL},
                                {0}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)plan_dealloc},
                              {Py_tp_traverse, (void *)plan_visit},
                              {Py_tp_clear, (void *)plan_clear},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, "A task of trajectory optimisation; see tribo.Plan."},
                              {0, NULL}};
PyType_Spec core_plan_spec = {"tribo._core.Plan", sizeof(plan), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
