/* model.c -- a model with the options it is stepped by. */
#include "core.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

static bool refuse_number(const char *word, PyObject *value) {
    PyErr_Format(PyExc_TypeError, "%s: expected a number, found %R", word, value);
    return false;
}

static bool number_of(PyObject *value, const char *word, double *out) {
    *out = PyFloat_AsDouble(value);
    return PyBool_Check(value) || PyErr_Occurred() ? refuse_number(word, value) : true;
}

/* dt, tol, recovery, rounds, ncon_max, reverse, warm_start, measures. @return 1 set, 0 another word, -1 exception */
static int set_own(core *c, const char *word, PyObject *value, tribo_options *o) {
    struct {
        const char *name;
        double *real;
        int *whole;
        bool *answer;
    } const own[] = {{"dt", &o->dt, NULL, NULL},
                     {"tol", &o->tol, NULL, NULL},
                     {"recovery", &o->recovery, NULL, NULL},
                     {"rounds", NULL, &o->rounds, NULL},
                     {"ncon_max", NULL, &o->ncon_max, NULL},
                     {"warm_start", NULL, NULL, &o->warm_start},
                     {"measures", NULL, NULL, &o->measures}};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
        if (strcmp(word, own[k].name)) continue;
        if (own[k].real) return number_of(value, word, own[k].real) ? 1 : -1;
        if (own[k].whole && PyBool_Check(value)) {
            refuse_number(word, value);
            return -1;
        }
        long n = own[k].answer ? PyObject_IsTrue(value) : PyLong_AsLong(value);
        if (PyErr_Occurred()) return -1;
        if (own[k].answer)
            *own[k].answer = n != 0;
        else
            *own[k].whole = n > INT32_MAX ? INT32_MAX : n < -1 ? -1 : (int)n;
        return 1;
    }
    if (strcmp(word, "reverse")) return 0;
    const char *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, NULL) : "";
    if (text && (!strcmp(text, "implicit") || !strcmp(text, "unrolled"))) {
        o->reverse = text[0] == 'i' ? TRIBO_REVERSE_IMPLICIT : TRIBO_REVERSE_UNROLLED;
        return 1;
    }
    PyErr_Format(c->error[-TRIBO_E_ARG], "reverse: %R is none of implicit, unrolled", value);
    return -1;
}

static bool is_number(const char *law_word) {
    for (int k = 0; tribo_law_word(k); k++)
        if (strcmp(law_word, tribo_law_word(k)) == 0) return !tribo_law_word_is_name(k);
    return false;
}

/* Words of the law; values as text: True and False are 1 and 0. */
static bool set_law(core *c, const char *word, PyObject *value, tribo_options *o) {
    tribo_diag diag = {0};
    if (PyBool_Check(value) && is_number(word)) return refuse_number(word, value);
    PyObject *plain = PyBool_Check(value) ? PyLong_FromLong(value == Py_True) : Py_NewRef(value);
    PyObject *text = plain ? PyObject_Str(plain) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    tribo_status s = utf8 ? tribo_law_set(&o->law, word, utf8, &diag) : TRIBO_OK;
    if (s < 0) core_fail(c, s, word, &diag);
    Py_XDECREF(plain), Py_XDECREF(text);
    return utf8 && s >= 0;
}

bool core_options_set(core *c, PyObject *words, tribo_options *o) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (words && PyDict_Next(words, &at, &key, &value)) {
        const char *word = PyUnicode_AsUTF8AndSize(key, NULL);
        if (!word) return false;
        int own = set_own(c, word, value, o);
        if (own < 0 || (own == 0 && !set_law(c, word, value, o))) return false;
    }
    return true;
}

/* ---- making and freeing ---- */

static core *core_of_type(PyTypeObject *type) {
    for (; type; type = PyType_GetSlot(type, Py_tp_base)) {
        if (!(PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE)) break;
        core *c = PyType_GetModuleState(type);
        if (c && c->model == type) return c;
        PyErr_Clear();
    }
    PyErr_SetString(PyExc_TypeError, "not a type of tribo");
    return NULL;
}

static tribo_status load(const char *path, const char *text, Py_ssize_t bytes, const char *name,
                         const tribo_load_options *o, tribo_model **m, tribo_diag *diag) {
    tribo_status s;
    Py_BEGIN_ALLOW_THREADS;
    s = text ? tribo_model_load_memory(text, (size_t)bytes, name, NULL, m, diag)
             : tribo_model_load_with(path, o, NULL, m, diag);
    Py_END_ALLOW_THREADS;
    return s;
}

static core_handle *handle_new(core *c, tribo_model *m) {
    core_handle *h = malloc(sizeof *h);
    if (h)
        *h = (core_handle){m, 1};
    else
        tribo_model_free(m), core_fail(c, TRIBO_E_NOMEM, "model", NULL);
    return h;
}

/* Parameters and start as arrays that are not written to. */
static bool fill(core_model *m) {
    const tribo_model *model = m->handle->m;
    core_array x = {0};
    m->n = tribo_model_sizes(model);
    m->p = malloc(((size_t)m->n.np + 1) * sizeof *m->p);
    if (!m->p) return core_fail(m->core, TRIBO_E_NOMEM, "model", NULL);
    tribo_model_params(model, m->p);
    m->params = core_copy(m->core, CORE_SHAPE(1, m->n.np), m->p);
    m->x0 = core_new(m->core, CORE_SHAPE(1, m->n.nx), &x);
    if (m->x0) tribo_model_state0(model, x.a);
    core_release(&x);
    m->x_shape = Py_BuildValue("(i)", m->n.nx);
    if (!m->params || !m->x0 || !m->x_shape) return false;
    core_read_only(m->params), core_read_only(m->x0);
    tribo_ws *ws = core_ws_take(m); /* options that are wrong are refused here */
    if (ws) core_ws_give(m, m->handle, ws);
    return ws != NULL;
}

static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)kwargs;
    const char *path, *text, *name, *lenient, *packages;
    Py_ssize_t bytes;
    int free_base;
    PyObject *share, *options;
    core *c = core_of_type(type);
    if (!c || !PyArg_ParseTuple(args, "zz#szpzOO", &path, &text, &bytes, &name, &lenient, &free_base, &packages, &share,
                                &options))
        return NULL;
    core_model *from = share == Py_None ? NULL : core_model_of(c, share);
    if (share != Py_None && !from) return NULL;
    if (!from && !path && !text) {
        PyErr_SetString(PyExc_TypeError, "a model needs a path or xml=...");
        return NULL;
    }
    core_handle *h = from ? from->handle : NULL;
    if (h) core_handle_keep(h); /* before the options: a number of Python's may free the model */
    tribo_options o = from ? from->options : tribo_default_options();
    if (!core_options_set(c, options == Py_None ? NULL : options, &o)) {
        core_handle_drop(h);
        return NULL;
    }
    if (!h) {
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        tribo_load_options l = tribo_default_load_options();
        l.lenient = lenient, l.free_base = free_base, l.packages = packages;
        tribo_status s = load(path, text, bytes, name, &l, &m, &diag);
        if (s < 0) return core_fail(c, s, path ? path : name, &diag);
        if (!(h = handle_new(c, m))) return NULL;
    }
    core_model *m = (core_model *)core_object_new(type);
    if (!m) {
        core_handle_drop(h);
        return NULL;
    }
    m->core = c, m->handle = h, m->options = o;
    if (!fill(m)) Py_CLEAR(m);
    return (PyObject *)m;
}

static PyObject *model_free(PyObject *self, PyObject *none) {
    (void)none;
    core_model *m = (core_model *)self;
    core_ws_drop(m), core_batch_drop(m);
    core_handle *h = m->handle;
    m->handle = NULL;
    core_handle_drop(h);
    Py_RETURN_NONE;
}

static void model_dealloc(PyObject *self) {
    core_model *m = (core_model *)self;
    core_ws_drop(m), core_batch_drop(m);
    core_handle_drop(m->handle);
    free(m->p);
    Py_XDECREF(m->params), Py_XDECREF(m->x0), Py_XDECREF(m->x_shape);
    core_object_free(self);
}

/* ---- what is in it ---- */

static PyObject *text_or_none(const char *text) {
    return text ? core_text(text) : Py_NewRef(Py_None);
}

static PyObject *model_sizes(PyObject *self, PyObject *none) {
    (void)none;
    const tribo_sizes *n = &((core_model *)self)->n;
    return Py_BuildValue("{sisisisisisisisisisisisisisi}", "nbody", n->nbody, "ngeom", n->ngeom, "npair", n->npair,
                         "njoint", n->njoint, "nequality", n->nequality, "nsite", n->nsite, "ntendon", n->ntendon,
                         "nactuator", n->nactuator, "nq", n->nq, "nv", n->nv, "nx", n->nx, "ndx", n->ndx, "nu", n->nu,
                         "np", n->np);
}

static PyObject *model_name(PyObject *self, PyObject *args) {
    const char *kind;
    int i;
    core_model *m = (core_model *)self;
    if (!PyArg_ParseTuple(args, "si", &kind, &i) || !core_model_alive(m)) return NULL;
    const tribo_model *t = m->handle->m;
    switch (kind[0]) {
    case 'b':
        return text_or_none(tribo_model_body_name(t, i));
    case 'g':
        return text_or_none(tribo_model_geom_name(t, i));
    case 'j':
        return text_or_none(tribo_model_joint_name(t, i));
    case 'a':
        return text_or_none(tribo_model_actuator_name(t, i));
    case 't':
        return text_or_none(tribo_model_tendon_name(t, i));
    case 's':
        return text_or_none(tribo_model_site_name(t, i));
    default:
        return text_or_none(tribo_model_key_name(t, i));
    }
}

static PyObject *model_param(PyObject *self, PyObject *args) {
    int i;
    tribo_param_info info;
    core_model *m = (core_model *)self;
    if (!PyArg_ParseTuple(args, "i", &i) || !core_model_alive(m)) return NULL;
    tribo_status s = tribo_param_describe(m->handle->m, i, &info);
    if (s < 0) return core_fail(m->core, s, "parameter", NULL);
    return Py_BuildValue("siiiiiOdd", info.name, (int)info.kind, info.body, info.geom, info.pair, info.site,
                         info.used ? Py_True : Py_False, info.lower, info.upper);
}

static PyObject *model_group(PyObject *self, PyObject *args) {
    const char *name;
    core_model *m = (core_model *)self;
    if (!PyArg_ParseTuple(args, "s", &name) || !core_model_alive(m)) return NULL;
    int n = tribo_param_group(m->handle->m, name, NULL, 0), *index = calloc((size_t)n + 1, sizeof *index);
    if (!index) return PyErr_NoMemory();
    tribo_param_group(m->handle->m, name, index, n);
    PyObject *list = PyList_New(n);
    for (int i = 0; list && i < n; i++) core_list_put(&list, i, PyLong_FromLong(index[i]));
    free(index);
    return list;
}

/* Where the numbers of body or joint i are: q, v, and whether it moves freely or is welded. */
static PyObject *model_place(PyObject *self, PyObject *args) {
    const char *kind;
    int i;
    core_model *m = (core_model *)self;
    if (!PyArg_ParseTuple(args, "si", &kind, &i) || !core_model_alive(m)) return NULL;
    const tribo_model *t = m->handle->m;
    if (kind[0] == 'j') return Py_BuildValue("iiO", tribo_model_joint_q(t, i), tribo_model_joint_v(t, i), Py_False);
    return Py_BuildValue("iiO", tribo_model_body_q(t, i), tribo_model_body_v(t, i),
                         tribo_model_body_free(t, i) ? Py_True : Py_False);
}

static PyObject *model_key(PyObject *self, PyObject *args) {
    int key;
    core_model *m = (core_model *)self;
    core_array x = {0}, u = {0};
    if (!PyArg_ParseTuple(args, "i", &key) || !core_model_alive(m)) return NULL;
    PyObject *xo = core_new(m->core, CORE_SHAPE(1, m->n.nx), &x), *uo = core_new(m->core, CORE_SHAPE(1, m->n.nu), &u);
    if (xo && uo) tribo_model_key(m->handle->m, key, x.a, u.a);
    core_release(&x), core_release(&u);
    PyObject *both = xo && uo ? PyTuple_Pack(2, xo, uo) : NULL;
    Py_XDECREF(xo), Py_XDECREF(uo);
    return both;
}

static PyObject *model_check(PyObject *self, PyObject *p) {
    core_model *m = (core_model *)self;
    core_array a;
    tribo_diag diag = {0};
    if (!core_model_alive(m) || !core_take(m->core, p, "p", CORE_SHAPE(1, m->n.np), 0, &a)) return NULL;
    tribo_status s = tribo_params_check(m->handle->m, a.a, &diag);
    core_release(&a);
    if (s < 0) return core_fail(m->core, s, "p", &diag);
    Py_RETURN_NONE;
}

static PyObject *model_energy(PyObject *self, PyObject *args) {
    core_model *m = (core_model *)self;
    core_array x, p = {0};
    PyObject *xo, *po = Py_None;
    if (!PyArg_ParseTuple(args, "O|O:energy", &xo, &po) || !core_model_alive(m) ||
        !core_take(m->core, xo, "x", CORE_SHAPE(1, m->n.nx), 0, &x))
        return NULL;
    PyObject *e = NULL;
    if (core_take(m->core, po, "p", CORE_SHAPE(1, m->n.np), CORE_MAY_BE_NONE, &p))
        e = PyFloat_FromDouble(tribo_energy(m->handle->m, p.a ? p.a : m->p, x.a));
    core_release(&x), core_release(&p);
    return e;
}

/* x (+) dx, or b (-) a, of one state or of rows of them. */
static PyObject *state_pair(core_model *m, PyObject *args, bool add) {
    core_array a, b = {0}, out = {0};
    PyObject *ao, *bo, *made = NULL;
    if (!PyArg_ParseTuple(args, "OO", &ao, &bo) || !core_model_alive(m)) return NULL;
    core_shape x = CORE_SHAPE(1, m->n.nx), dx = CORE_SHAPE(1, m->n.ndx);
    if (!core_take(m->core, ao, add ? "x" : "a", x, CORE_MAY_BE_MANY, &a)) return NULL;
    if (core_take(m->core, bo, add ? "dx" : "b", add ? dx : x, CORE_MAY_BE_MANY, &b)) {
        Py_ssize_t rows = a.many ? a.view.shape[0] : 1, width = add ? m->n.nx : m->n.ndx;
        if (a.many != b.many || (a.many && b.view.shape[0] != rows))
            PyErr_SetString(m->core->array_error, "both have as many rows, or are both a single state");
        else
            made = core_new(m->core, a.many ? CORE_SHAPE(2, rows, width) : CORE_SHAPE(1, width), &out);
        for (Py_ssize_t i = 0; made && i < rows; i++)
            if (add)
                tribo_state_add(m->handle->m, a.a + i * m->n.nx, b.a + i * m->n.ndx, out.a + i * width);
            else
                tribo_state_difference(m->handle->m, a.a + i * m->n.nx, b.a + i * m->n.nx, out.a + i * width);
    }
    core_release(&a), core_release(&b), core_release(&out);
    return made;
}
static PyObject *model_add(PyObject *self, PyObject *args) {
    return state_pair((core_model *)self, args, true);
}
static PyObject *model_difference(PyObject *self, PyObject *args) {
    return state_pair((core_model *)self, args, false);
}

static PyObject *model_save(PyObject *self, PyObject *args) {
    const char *path, *out;
    PyObject *po;
    core_array p;
    tribo_diag diag = {0};
    core_model *m = (core_model *)self;
    if (!PyArg_ParseTuple(args, "ssO", &path, &out, &po) || !core_model_alive(m) ||
        !core_take(m->core, po, "p", CORE_SHAPE(1, m->n.np), CORE_MAY_BE_NONE, &p))
        return NULL;
    tribo_status s = tribo_model_save(m->handle->m, p.a ? p.a : m->p, path, out, &diag);
    core_release(&p);
    if (s < 0) return core_fail(m->core, s, out, &diag);
    Py_RETURN_NONE;
}

static PyObject *model_facts(PyObject *self, PyObject *none) {
    (void)none;
    core_model *m = (core_model *)self;
    tribo_ws *ws = core_ws_take(m);
    if (!ws) return NULL;
    tribo_options o = tribo_ws_options(ws);
    const char *law = tribo_law_name(o.law.law), *solver = tribo_solver_name(o.law.solver);
    PyObject *made = Py_BuildValue("{sdsdsdsisisOsOszszsd}", "dt", o.dt, "tol", o.tol, "recovery", o.recovery, "rounds",
                                   o.rounds, "ncon_max", o.ncon_max, "warm_start", o.warm_start ? Py_True : Py_False,
                                   "measures", o.measures ? Py_True : Py_False, "law", law, "solver", solver, "extent",
                                   tribo_model_extent(m->handle->m));
    core_ws_give(m, m->handle, ws);
    return made;
}

static PyObject *model_site_body(PyObject *self, PyObject *args) {
    int site;
    core_model *m = (core_model *)self;
    if (!PyArg_ParseTuple(args, "i", &site) || !core_model_alive(m)) return NULL;
    return PyLong_FromLong(tribo_model_site_body(m->handle->m, site));
}

static PyObject *get_params(PyObject *self, void *none) {
    (void)none;
    return Py_NewRef(((core_model *)self)->params);
}
static PyObject *get_x0(PyObject *self, void *none) {
    (void)none;
    return Py_NewRef(((core_model *)self)->x0);
}
static PyObject *get_freed(PyObject *self, void *none) {
    (void)none;
    return PyBool_FromLong(!((core_model *)self)->handle);
}

#define FAST(name, function, doc)                                                                                      \
    { name, (PyCFunction)(void (*)(void))function, METH_FASTCALL | METH_KEYWORDS, doc }
static PyMethodDef methods[] = {
    FAST("step", core_model_step,
         "step($self, x, u=None, p=None, out=None)\n--\n\n"
         "One step: the state x_next (nx) that follows x under the control u.\n\n"
         "x (nx): state [q; v]. u (nu): generalized forces, N and N m, then controls of actuators; None = zero.\n"
         "p (np): parameters; None = model.params. out (nx): where to write x_next instead of a new array; may be x.\n"
         "A pure function: the same arguments give the same bits. float64, C-contiguous, or an ArrayError."),
    FAST("_examine", core_model_examine, NULL),
    FAST("jacobians", core_model_jacobians,
         "jacobians($self, x, u=None, p=None, wrt_p=True)\n--\n\n"
         "(x_next, A, B, C) of one step: dx_next = A dx + B du + C dp, in tangents of the state.\n\n"
         "A (ndx,ndx), B (ndx,nu), C (ndx,np), or None for C with wrt_p=False."),
    {"_sizes", model_sizes, METH_NOARGS, NULL},
    {"_name", model_name, METH_VARARGS, NULL},
    {"_param", model_param, METH_VARARGS, NULL},
    {"_group", model_group, METH_VARARGS, NULL},
    {"_place", model_place, METH_VARARGS, NULL},
    {"_key", model_key, METH_VARARGS, NULL},
    {"_save", model_save, METH_VARARGS, NULL},
    {"_facts", model_facts, METH_NOARGS, NULL},
    {"_site_body", model_site_body, METH_VARARGS, NULL},
    {"_distance", core_model_distance, METH_VARARGS, NULL},
    {"check", model_check, METH_O,
     "check($self, p)\n--\n\nRaise what is not physical in p (np): a negative mass, a restitution of 5, a NaN."},
    {"energy", model_energy, METH_VARARGS,
     "energy($self, x, p=None)\n--\n\nKinetic plus potential energy of a state x (nx), J."},
    {"add", model_add, METH_VARARGS,
     "add($self, x, dx)\n--\n\nThe state x (+) dx: x (nx) moved by a tangent dx (ndx). Also rows of both."},
    {"difference", model_difference, METH_VARARGS,
     "difference($self, a, b)\n--\n\nThe shortest tangent dx (ndx) with a (+) dx = b. Also rows of both."},
    {"free", model_free, METH_NOARGS,
     "free($self)\n--\n\nGive its memory back now; using it afterwards is a FreedError. Otherwise that happens when\n"
     "nothing refers to it any more."},
    {0}};

static PyGetSetDef getset[] = {{"_params", get_params, NULL, NULL, NULL},
                               {"x0", get_x0, NULL, "Initial state (nx), read-only: the first keyframe's.", NULL},
                               {"freed", get_freed, NULL, "Whether free() was called.", NULL},
                               {0}};

static PyType_Slot slots[] = {{Py_tp_new, (void *)model_new},
                              {Py_tp_dealloc, (void *)model_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getset},
                              {Py_tp_doc, "A model and the options it is stepped by; see tribo.Model."},
                              {0, NULL}};

PyType_Spec core_model_spec = {"tribo._core.Model", sizeof(core_model), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                               slots};
