/* problem.c -- contact problems by themselves, and the QPs and QCQPs of staggered projections. */
#include "core.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NARRAY = 6 }; /* M, J, vfree, G, g, mu */
static const char *const array_name[NARRAY] = {"M", "J", "vfree", "G", "g", "mu"};

typedef struct problem {
    PyObject_HEAD core *core;
    tribo_contact_ws *ws;
    tribo_contact_problem def;
    double *data[NARRAY]; /* copies */
    double *noise;        /* (2 nc) a copy; NULL = that of the options */
    bool busy;
} problem;

static bool enter(problem *b) {
    if (b->busy) PyErr_SetString(b->core->busy_error, "another thread is solving this problem");
    if (b->busy) return false;
    return b->busy = true;
}

/* Law options of the words given; dt, tol and the like do not belong to a problem by itself. */
static bool law_of(core *c, PyObject *words, tribo_law_options *law) {
    tribo_options o = tribo_default_options(), plain = o;
    if (!core_options_set(c, words == Py_None ? NULL : words, &o)) return false;
    *law = o.law;
    o.law = plain.law;
    if (o.dt == plain.dt && o.tol == plain.tol && o.recovery == plain.recovery && o.rounds == plain.rounds &&
        o.ncon_max == plain.ncon_max && o.reverse == plain.reverse && o.warm_start == plain.warm_start)
        return true;
    PyErr_SetString(c->error[-TRIBO_E_ARG], "a contact problem by itself takes options of its law only");
    return false;
}

static problem *problem_make(core *c, const core_array *a, int nc, int nv, const tribo_law_options *law) {
    problem *b = (problem *)core_object_new(c->problem);
    if (!b) return NULL;
    b->core = c;
    tribo_status s = tribo_contact_ws_new(nc, a[0].a ? nv : 3 * nc, law, NULL, &b->ws);
    for (int k = 0; s >= 0 && k < NARRAY; k++) {
        if (!a[k].a) continue;
        size_t bytes = (size_t)a[k].view.len;
        if (!(b->data[k] = malloc(bytes + 1)))
            s = TRIBO_E_NOMEM;
        else
            memcpy(b->data[k], a[k].a, bytes);
    }
    b->def = (tribo_contact_problem){nc, nv, b->data[0], b->data[1], b->data[2], b->data[3], b->data[4], b->data[5]};
    if (s >= 0) return b;
    core_fail(c, s, "contact problem: a law, a solver or a number of theirs that is not", NULL);
    Py_DECREF(b);
    return NULL;
}

/* problem(M, J, vfree, G, g, mu, words) */
PyObject *core_problem_new(PyObject *module, PyObject *args) {
    core *c = core_of(module);
    PyObject *o[NARRAY], *words;
    core_array a[NARRAY] = {0};
    tribo_law_options law;
    problem *b = NULL;
    if (!PyArg_ParseTuple(args, "OOOOOOO", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &words) || !law_of(c, words, &law))
        return NULL;
    bool good = core_take(c, o[5], "mu", CORE_SHAPE(1, -1), 0, &a[5]);
    int nc = good ? (int)a[5].view.shape[0] : 0, nv = 0;
    if (good && o[0] != Py_None) {
        good = core_take(c, o[2], "vfree", CORE_SHAPE(1, -1), 0, &a[2]);
        nv = good ? (int)a[2].view.shape[0] : 0;
        good = good && core_take(c, o[0], "M", CORE_SHAPE(2, nv, nv), 0, &a[0]) &&
               core_take(c, o[1], "J", CORE_SHAPE(2, 3 * nc, nv), 0, &a[1]);
    } else if (good) {
        good = core_take(c, o[3], "G", CORE_SHAPE(2, 3 * nc, 3 * nc), 0, &a[3]) &&
               core_take(c, o[4], "g", CORE_SHAPE(1, 3 * nc), 0, &a[4]);
    }
    if (good) b = problem_make(c, a, nc, nv, &law);
    for (int k = 0; k < NARRAY; k++) core_release(&a[k]);
    return (PyObject *)b;
}

static PyObject *info_dict(const tribo_contact_info *i, tribo_status s) {
    static const char *const rungs[] = {"none", "warm", "newton", "staggered", "path", "interior", "solver"};
    return Py_BuildValue("{sdsdsisisssOsi}", "residual", i->residual, "margin", i->margin, "iterations", i->iterations,
                         "ndegenerate", i->ndegenerate, "rung", rungs[i->rung], "canonical",
                         i->canonical ? Py_True : Py_False, "status", (int)s);
}

/* solve(tol, warm or None) -> (lambda, v or None, info) */
static PyObject *problem_solve(PyObject *self, PyObject *args) {
    problem *b = (problem *)self;
    core *c = b->core;
    double tol;
    PyObject *start, *lo = NULL, *vo = NULL, *made = NULL;
    core_array warm, l = {0}, v = {0};
    int n = 3 * b->def.nc;
    if (!PyArg_ParseTuple(args, "dO", &tol, &start) ||
        !core_take(c, start, "warm", CORE_SHAPE(1, n), CORE_MAY_BE_NONE, &warm))
        return NULL;
    lo = core_new_zero(c, CORE_SHAPE(1, n), &l);
    vo = b->def.nv ? core_new_zero(c, CORE_SHAPE(1, b->def.nv), &v) : Py_NewRef(Py_None);
    if (lo && vo && enter(b)) {
        tribo_contact_info info;
        tribo_status s;
        if (warm.a) memcpy(l.a, warm.a, (size_t)n * sizeof *l.a);
        Py_BEGIN_ALLOW_THREADS;
        s = tribo_contact_solve(b->ws, &b->def, tol, warm.a != NULL, l.a, v.a, &info);
        Py_END_ALLOW_THREADS;
        b->busy = false;
        if (s < 0)
            core_fail(c, s, "contact problem", NULL);
        else if (core_warn(c, s, "contact problem", 2))
            made = Py_BuildValue("(OON)", lo, vo, info_dict(&info, s));
    }
    core_release(&warm), core_release(&l), core_release(&v);
    Py_XDECREF(lo), Py_XDECREF(vo);
    return made;
}

/* set_noise(noise or None) */
static PyObject *problem_set_noise(PyObject *self, PyObject *noise) {
    problem *b = (problem *)self;
    core_array a;
    size_t n = 2 * (size_t)b->def.nc;
    if (!core_take(b->core, noise, "noise", CORE_SHAPE(1, (Py_ssize_t)n), CORE_MAY_BE_NONE, &a)) return NULL;
    bool sound = true;
    for (size_t i = 0; a.a && i < n; i++) sound &= a.a[i] > 0 && isfinite(a.a[i]);
    double *copy = a.a ? malloc((n + 1) * sizeof *copy) : NULL;
    if (copy) memcpy(copy, a.a, n * sizeof *copy);
    bool short_of = a.a && !copy;
    core_release(&a);
    if (short_of) return PyErr_NoMemory();
    if (!enter(b)) {
        free(copy);
        return NULL;
    }
    tribo_status s = sound ? tribo_contact_set_noise(b->ws, copy) : TRIBO_E_ARG;
    b->busy = false;
    free(s < 0 ? copy : b->noise);
    if (s < 0) return core_fail(b->core, s, "noise: finite numbers above 0, of the stochastic law", NULL);
    b->noise = copy;
    return Py_NewRef(Py_None);
}

static PyObject *problem_measure(PyObject *self, PyObject *none) {
    (void)none;
    problem *b = (problem *)self;
    tribo_measures m;
    if (!enter(b)) return NULL;
    tribo_status s = tribo_contact_measure(b->ws, &b->def, &m);
    b->busy = false;
    if (s < 0) return core_fail(b->core, s, "measures: solve first", NULL);
    return Py_BuildValue("{s(ddd)s(ddd)sdsdsdsdsd}", "law", m.law.primal, m.law.dual, m.law.complementarity, "ncp",
                         m.ncp.primal, m.ncp.dual, m.ncp.complementarity, "dissipation", m.dissipation, "friction_loss",
                         m.friction_loss, "internal", m.internal, "internal_share", m.internal_share, "lift", m.lift);
}

/* vjp(lambda_bar, v_bar) -> dict of the cotangents of what was given */
static PyObject *problem_vjp(PyObject *self, PyObject *args) {
    problem *b = (problem *)self;
    core *c = b->core;
    PyObject *lo, *vo, *made = NULL, *o[NARRAY] = {NULL};
    core_array l, v = {0}, a[NARRAY] = {0};
    int n = 3 * b->def.nc, nv = b->def.nv;
    if (!PyArg_ParseTuple(args, "OO", &lo, &vo) ||
        !core_take(c, lo, "lambda_bar", CORE_SHAPE(1, n), CORE_MAY_BE_NONE, &l))
        return NULL;
    core_shape shape[NARRAY] = {CORE_SHAPE(2, nv, nv), CORE_SHAPE(2, n, nv), CORE_SHAPE(1, nv),
                                CORE_SHAPE(2, n, n),   CORE_SHAPE(1, n),     CORE_SHAPE(1, b->def.nc)};
    bool good = core_take(c, vo, "v_bar", CORE_SHAPE(1, nv), CORE_MAY_BE_NONE, &v);
    for (int k = 0; good && k < NARRAY; k++)
        if (b->data[k] || k == 4) good = (o[k] = core_new_zero(c, shape[k], &a[k])) != NULL;
    if (good && enter(b)) {
        tribo_status s = tribo_contact_vjp(b->ws, &b->def, l.a, v.a, a[2].a, a[4].a, a[5].a, a[0].a, a[1].a, a[3].a);
        b->busy = false;
        if (s < 0)
            core_fail(c, s, s == TRIBO_E_ARG ? "vjp: solve first" : "vjp", NULL);
        else if (core_warn(c, s, "vjp", 2) && (made = PyDict_New()))
            for (int k = 0; k < NARRAY; k++)
                if (o[k]) PyDict_SetItemString(made, array_name[k], o[k]);
    }
    for (int k = 0; k < NARRAY; k++) core_release(&a[k]), Py_XDECREF(o[k]);
    core_release(&l), core_release(&v);
    return made;
}

static void problem_dealloc(PyObject *self) {
    problem *b = (problem *)self;
    tribo_contact_ws_free(b->ws);
    for (int k = 0; k < NARRAY; k++) free(b->data[k]);
    free(b->noise);
    core_object_free(self);
}

static PyMethodDef methods[] = {{"solve", problem_solve, METH_VARARGS, NULL},
                                {"set_noise", problem_set_noise, METH_O, NULL},
                                {"measure", problem_measure, METH_NOARGS, NULL},
                                {"vjp", problem_vjp, METH_VARARGS, NULL},
                                {0}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)problem_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, "A contact problem; see tribo.ContactProblem."},
                              {0, NULL}};
PyType_Spec core_problem_spec = {"tribo._core.Problem", sizeof(problem), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

/* ---- QP and QCQP ---- */

static tribo_status solve_qcqp(const tribo_qcqp *q, double tol, int max_iter, double *x, double *dual,
                               tribo_qcqp_info *info, const double *x_bar, double *q_bar, double *r_bar, double *v) {
    tribo_qcqp_ws *ws = NULL;
    tribo_status s = tribo_qcqp_ws_new(q->n, NULL, &ws);
    if (s >= 0) s = tribo_qcqp_solve(ws, q, tol, max_iter, x, dual, info);
    if (s >= 0 && x_bar) {
        tribo_status t = tribo_qcqp_vjp(ws, q, x, x_bar, q_bar, r_bar, v, NULL);
        if (t) s = t;
    }
    tribo_qcqp_ws_free(ws);
    return s;
}

/* qcqp(P, q, r or None, tol, max_iter, x_bar or None) -> (x, dual, residual, q_bar, r_bar, v) */
PyObject *core_qcqp(PyObject *module, PyObject *args) {
    core *c = core_of(module);
    PyObject *in[4], *o[5] = {NULL}, *made = NULL;
    double tol;
    int max_iter;
    core_array a[4] = {0}, out[5] = {0};
    tribo_qcqp_info info = {0};
    if (!PyArg_ParseTuple(args, "OOOdiO", &in[0], &in[1], &in[2], &tol, &max_iter, &in[3])) return NULL;
    bool good = core_take(c, in[1], "q", CORE_SHAPE(1, -1), 0, &a[1]);
    Py_ssize_t n = good ? a[1].view.shape[0] : 0;
    good = good && core_take(c, in[0], "P", CORE_SHAPE(2, n, n), 0, &a[0]) &&
           core_take(c, in[2], "r", CORE_SHAPE(1, n / 2), CORE_MAY_BE_NONE, &a[2]) &&
           core_take(c, in[3], "x_bar", CORE_SHAPE(1, n), CORE_MAY_BE_NONE, &a[3]);
    for (int k = 0; good && k < 5; k++)
        good = (o[k] = core_new_zero(c, CORE_SHAPE(1, k == 3 ? n / 2 : n), &out[k])) != NULL;
    if (good) {
        tribo_qcqp q = {(int)n, a[0].a, a[1].a, a[2].a};
        tribo_status s;
        Py_BEGIN_ALLOW_THREADS;
        s = solve_qcqp(&q, tol, max_iter, out[0].a, out[1].a, &info, a[3].a, out[2].a, a[2].a ? out[3].a : NULL,
                       out[4].a);
        Py_END_ALLOW_THREADS;
        if (s < 0)
            core_fail(c, s, "solve_qcqp", NULL);
        else if (core_warn(c, s, "solve_qcqp", 2))
            made = Py_BuildValue("(OOdOOO)", o[0], o[1], info.residual, o[2], o[3], o[4]);
    }
    for (int k = 0; k < 4; k++) core_release(&a[k]);
    for (int k = 0; k < 5; k++) core_release(&out[k]), Py_XDECREF(o[k]);
    return made;
}
