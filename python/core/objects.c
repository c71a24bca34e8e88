/* objects.c -- what objects of the module have in common: their memory, and the model that they are of. */
#include "core.h"
#include <stdlib.h>

void *core_object_new(PyTypeObject *type) {
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return alloc(type, 0);
}

void core_object_free(PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(o);
    Py_DECREF(type);
}

void core_handle_keep(core_handle *h) {
    h->users++;
}

void core_handle_drop(core_handle *h) {
    if (!h || --h->users > 0) return;
    tribo_model_free(h->m);
    free(h);
}

bool core_model_alive(const core_model *m) {
    if (m->handle) return true;
    PyErr_SetString(m->core->freed_error, "the model was freed");
    return false;
}

core_model *core_model_of(core *c, PyObject *o) {
    if (!o || !PyObject_TypeCheck(o, c->model)) {
        PyErr_Format(PyExc_TypeError, "expected a tribo.Model, found %R", o ? (PyObject *)Py_TYPE(o) : Py_None);
        return NULL;
    }
    core_model *m = (core_model *)o;
    return core_model_alive(m) ? m : NULL;
}

void *core_part_new(PyTypeObject *type, core_model *m) {
    core_part *b =
        core_model_alive(m) ? core_object_new(type) : NULL; /* a number of Python's may have freed it since */
    if (!b) return NULL;
    b->model = (core_model *)Py_NewRef((PyObject *)m), b->handle = m->handle;
    core_handle_keep(b->handle);
    return b;
}

void core_part_free(PyObject *self) {
    core_part *b = (core_part *)self;
    core_handle_drop(b->handle);
    Py_XDECREF((PyObject *)b->model);
    core_object_free(self);
}

core *core_of(PyObject *module) {
    return PyModule_GetState(module);
}
