/* arrays.c -- arguments: arrays by the buffer protocol, names of arguments. */
#include "core.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- words for messages ---- */

static void print_shape(char *text, size_t room, int ndim, const Py_ssize_t *n) {
    size_t at = (size_t)snprintf(text, room, "(");
    for (int i = 0; i < ndim && at < room; i++) {
        if (n[i] < 0)
            at += (size_t)snprintf(text + at, room - at, "*%s", ndim == 1 ? "," : i + 1 < ndim ? ", " : "");
        else
            at += (size_t)snprintf(text + at, room - at, "%zd%s", n[i], ndim == 1 ? "," : i + 1 < ndim ? ", " : "");
    }
    if (at < room) snprintf(text + at, room - at, ")");
}

static const char *print_type(const Py_buffer *v, char *text, size_t room) {
    static const char *const names[][2] = {{"f", "float32"}, {"d", "float64"}, {"e", "float16"},    {"g", "longdouble"},
                                           {"i", "int32"},   {"l", "int64"},   {"q", "int64"},      {"I", "uint32"},
                                           {"L", "uint64"},  {"b", "int8"},    {"B", "bytes"},      {"?", "bool"},
                                           {"h", "int16"},   {"H", "uint16"},  {"Zd", "complex128"}};
    const char *f = v->format ? v->format : "B";
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(f, names[k][0]) == 0) return names[k][1];
    snprintf(text, room, "`%.30s`", f);
    return text;
}

static bool refuse(core *c, const char *what, core_shape want, int how, const char *found) {
    char expected[80], many[80] = "";
    print_shape(expected, sizeof expected, want.ndim, want.n);
    if (how & CORE_MAY_BE_MANY) {
        Py_ssize_t n[CORE_NDIM + 1] = {-1};
        memcpy(n + 1, want.n, sizeof want.n);
        memcpy(many, " or ", 5);
        print_shape(many + 4, sizeof many - 4, want.ndim + 1, n);
    }
    PyErr_Format(c->array_error, "%s: expected a %sC-contiguous float64 array of shape %s%s, found %s", what,
                 how & CORE_WRITABLE ? "writable " : "", expected, many, found);
    return false;
}

/* An object that is no buffer, and what to do about it. */
static bool refuse_object(core *c, PyObject *o, const char *what, core_shape want, int how) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    char found[160];
    bool tensor = text && strcmp(text, "Tensor") == 0;
    snprintf(found, sizeof found, "%.60s%s", text ? text : "an object",
             tensor ? " (tensors: tribo.torch, or .detach().numpy())" : " (numpy.array(..., dtype=float) makes one)");
    PyErr_Clear();
    refuse(c, what, want, how, found);
    Py_XDECREF(name);
    return false;
}

static bool same_shape(const Py_buffer *v, core_shape want, int skip) {
    if (v->ndim != want.ndim + skip) return false;
    for (int i = 0; i < want.ndim; i++)
        if (want.n[i] >= 0 && v->shape[i + skip] != want.n[i]) return false;
    return true;
}

static bool is_double(const Py_buffer *v) {
    const char *f = v->format;
    if (!f || v->itemsize != sizeof(double)) return false;
    if (*f == '@' || *f == '=') f++;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (*f == '<') f++;
#endif
    return f[0] == 'd' && f[1] == 0;
}

static bool is_aligned(const core_array *a) {
    return (uintptr_t)a->view.buf % _Alignof(double) == 0;
}

static bool refuse_buffer(core *c, core_array *a, const char *what, core_shape want, int how) {
    char shape[80], type[40], found[200];
    print_shape(shape, sizeof shape, a->view.ndim < 4 ? a->view.ndim : 4, a->view.shape);
    bool apart = !PyBuffer_IsContiguous(&a->view, 'C'), askew = !apart && !is_aligned(a);
    snprintf(found, sizeof found, "%s%s of shape %s%s",
             apart   ? "a strided array, "
             : askew ? "an array that is not aligned, "
                     : "",
             print_type(&a->view, type, sizeof type), shape,
             apart || askew ? " (numpy.array(..., order=\"C\") copies it)" : "");
    refuse(c, what, want, how, found);
    core_release(a);
    return false;
}

bool core_take(core *c, PyObject *o, const char *what, core_shape want, int how, core_array *a) {
    memset(a, 0, sizeof *a);
    if (!o || o == Py_None) return how & CORE_MAY_BE_NONE ? true : refuse(c, what, want, how, "None");
    if (PyType_IsSubtype(Py_TYPE(o), c->masked)) /* its buffer knows nothing of the mask */
        return refuse(c, what, want, how, "a masked array (its filled(...) says what stands for what is left out)");
    int flags = PyBUF_FORMAT | PyBUF_STRIDES | (how & CORE_WRITABLE ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(o, &a->view, flags)) {
        if (!PyObject_CheckBuffer(o)) return refuse_object(c, o, what, want, how);
        PyErr_Clear();
        return refuse(c, what, want, how, how & CORE_WRITABLE ? "one that is read-only" : "one without a plain buffer");
    }
    a->held = true, a->a = a->view.buf;
    a->many = how & CORE_MAY_BE_MANY && a->view.ndim == want.ndim + 1;
    if (is_double(&a->view) && same_shape(&a->view, want, a->many) && PyBuffer_IsContiguous(&a->view, 'C') &&
        is_aligned(a))
        return true;
    return refuse_buffer(c, a, what, want, how);
}

void core_release(core_array *a) {
    if (a->held) PyBuffer_Release(&a->view);
    a->held = false, a->a = NULL;
}

/* ---- new arrays ---- */

static PyObject *shape_tuple(core_shape s) {
    PyObject *t = PyTuple_New(s.ndim);
    for (int i = 0; t && i < s.ndim; i++) {
        PyObject *n = PyLong_FromSsize_t(s.n[i]);
        if (!n || PyTuple_SetItem(t, i, n)) {
            Py_DECREF(t);
            return NULL;
        }
    }
    return t;
}

PyObject *core_new(core *c, core_shape shape, core_array *a) {
    memset(a, 0, sizeof *a);
    PyObject *t = shape_tuple(shape), *o = t ? PyObject_CallFunctionObjArgs(c->empty, t, NULL) : NULL;
    Py_XDECREF(t);
    if (o && !core_take(c, o, "a new array", shape, CORE_WRITABLE, a)) Py_CLEAR(o);
    return o;
}

PyObject *core_new_zero(core *c, core_shape shape, core_array *a) {
    PyObject *o = core_new(c, shape, a);
    if (o && a->view.len) memset(a->a, 0, (size_t)a->view.len);
    return o;
}

PyObject *core_copy(core *c, core_shape shape, const double *from) {
    core_array a;
    PyObject *o = core_new(c, shape, &a);
    if (o && a.view.len) memcpy(a.a, from, (size_t)a.view.len);
    core_release(&a);
    return o;
}

void core_read_only(PyObject *array) {
    PyObject *r = array ? PyObject_CallMethod(array, "setflags", "O", Py_False) : NULL;
    if (!r) PyErr_Clear();
    Py_XDECREF(r);
}

/* ---- names of arguments ---- */

static int find_name(PyObject *name, const char *const *names) {
    for (int k = 0; names[k]; k++)
        if (PyUnicode_CompareWithASCIIString(name, names[k]) == 0) return k;
    return -1;
}

static bool take_named(const char *function, PyObject *const *values, PyObject *kwnames, const char *const *names,
                       PyObject **slot) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(kwnames); i++) {
        PyObject *name = PyTuple_GetItem(kwnames, i);
        int k = find_name(name, names);
        if (k < 0) {
            PyErr_Format(PyExc_TypeError, "%s() has no argument `%U`", function, name);
            return false;
        }
        if (slot[k]) {
            PyErr_Format(PyExc_TypeError, "%s() was given `%s` twice", function, names[k]);
            return false;
        }
        slot[k] = values[i];
    }
    return true;
}

bool core_arguments(const char *function, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                    const char *const *names, int required, PyObject **slot) {
    int n = 0;
    while (names[n]) slot[n++] = NULL;
    if (nargs > n) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d arguments, found %zd", function, n, nargs);
        return false;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) slot[i] = args[i];
    if (kwnames && !take_named(function, args + nargs, kwnames, names, slot)) return false;
    for (int k = 0; k < n; k++) {
        if (slot[k] == Py_None) slot[k] = NULL;
        if (slot[k] || k >= required) continue;
        PyErr_Format(PyExc_TypeError, "%s() needs `%s`", function, names[k]);
        return false;
    }
    return true;
}

PyObject *core_text(const char *text) {
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

void core_list_put(PyObject **list, Py_ssize_t place, PyObject *item) {
    if (item)
        PyList_SetItem(*list, place, item);
    else
        Py_CLEAR(*list);
}

int core_worlds_of(core *c, core_array *const a[3], const char *const what[3], bool *batch) {
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
