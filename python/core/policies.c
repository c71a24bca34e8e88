/* policies.c -- a library of trajectories with their feedback, looked up by state. */
#include "core.h"
#include <stdlib.h>

typedef struct policies {
    PyObject_HEAD core_model *model; /* owned */
    core_handle *handle;
    tribo_policies *l;
} policies;

/* policies(model, ncontrol, path or None) */
PyObject *core_policies_new(PyObject *module, PyObject *args) {
    core *c = core_of(module);
    PyObject *mo;
    int ncontrol;
    const char *path;
    tribo_diag diag = {0};
    if (!PyArg_ParseTuple(args, "Oiz", &mo, &ncontrol, &path)) return NULL;
    core_model *m = core_model_of(c, mo);
    policies *b = m ? core_part_new(c->policies, m) : NULL;
    if (!b) return NULL;
    tribo_status s = path ? tribo_policies_load(path, m->handle->m, NULL, &b->l, &diag)
                          : tribo_policies_new(m->handle->m, ncontrol, NULL, &b->l);
    if (s < 0) core_fail(c, s, path ? path : "policies", &diag);
    if (s < 0) Py_CLEAR(b);
    return (PyObject *)b;
}

static void policies_dealloc(PyObject *self) {
    policies *b = (policies *)self;
    tribo_policies_free(b->l);
    core_part_free(self);
}

tribo_policies *core_policies_of(core_model *m, PyObject *o) {
    core *c = m->core;
    if (!PyObject_TypeCheck(o, c->policies)) {
        PyErr_SetString(PyExc_TypeError, "expected tribo.Policies");
        return NULL;
    }
    policies *b = (policies *)o;
    if (b->handle != m->handle) PyErr_SetString(c->error[-TRIBO_E_ARG], "policies: they are of another model");
    return b->handle == m->handle ? b->l : NULL;
}

static PyObject *policies_size(PyObject *self, PyObject *none) {
    (void)none;
    return PyLong_FromLong(tribo_policies_size(((policies *)self)->l));
}

/* Places in the tangent of the state that do not count, from a list of numbers; NULL with an exception. */
static bool *ignored(const core_model *m, PyObject *list) {
    int n = (int)PyList_Size(list);
    bool *flags = calloc((size_t)m->n.ndx, sizeof *flags);
    if (!flags) PyErr_NoMemory();
    for (int i = 0; flags && i < n; i++) {
        long k = PyLong_AsLong(PyList_GetItem(list, i));
        if (k >= 0 && k < m->n.ndx)
            flags[k] = true;
        else if (!PyErr_Occurred())
            PyErr_Format(m->core->error[-TRIBO_E_ARG], "ignore: the tangent of the state has no number %ld", k);
    }
    if (flags && PyErr_Occurred()) {
        free(flags);
        return NULL;
    }
    return flags;
}

/* control(x, u, ignored numbers) -> which knot; sets the controls of u */
static PyObject *policies_control(PyObject *self, PyObject *args) {
    policies *b = (policies *)self;
    core *c = b->model->core;
    PyObject *xo, *uo, *list, *made = NULL;
    core_array x, u = {0};
    int nearest;
    if (!core_model_alive(b->model) || !PyArg_ParseTuple(args, "OOO!", &xo, &uo, &PyList_Type, &list)) return NULL;
    if (!core_take(c, xo, "x", CORE_SHAPE(1, b->model->n.nx), 0, &x)) return NULL;
    if (core_take(c, uo, "u", CORE_SHAPE(1, b->model->n.nu), CORE_WRITABLE, &u)) {
        bool *flags = ignored(b->model, list);
        tribo_status s = flags ? tribo_policies_control(b->l, flags, x.a, u.a, &nearest) : TRIBO_OK;
        if (s < 0) core_fail(c, s, tribo_policies_size(b->l) ? "control" : "control: no plan was added", NULL);
        if (flags && s >= 0) made = PyLong_FromLong(nearest);
        free(flags);
    }
    core_release(&x), core_release(&u);
    return made;
}

static PyObject *policies_save(PyObject *self, PyObject *args) {
    policies *b = (policies *)self;
    const char *path;
    tribo_diag diag = {0};
    if (!core_model_alive(b->model) || !PyArg_ParseTuple(args, "s", &path)) return NULL;
    tribo_status s = tribo_policies_save(b->l, path, &diag);
    return s < 0 ? core_fail(b->model->core, s, path, &diag) : Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {{"size", policies_size, METH_NOARGS, NULL},
                                {"control", policies_control, METH_VARARGS, NULL},
                                {"save", policies_save, METH_VARARGS, NULL},
                                {0}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)policies_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, "Feedbacks by state; see tribo.Policies."},
                              {0, NULL}};
PyType_Spec core_policies_spec = {"tribo._core.Policies", sizeof(policies), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
