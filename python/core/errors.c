/* errors.c -- a status as an exception or a warning, with the library's message. */
#include "core.h"
#include <math.h>
#include <stdio.h>

typedef struct kind {
    const char *name, *doc;
    PyObject **also; /* a built-in exception that it is too */
} kind;

static const kind errors[CORE_NERROR] = {
    {"Error", "Something that Tribo refused or could not do; the text says what and why.", NULL},
    {"ArgumentError", "An argument is out of range or inconsistent.", &PyExc_ValueError},
    {"DefinitionError", "A definition was not filled with its defaults.", &PyExc_ValueError},
    {"OutOfMemory", "There is not enough memory.", &PyExc_MemoryError},
    {"CapacityError", "More contacts than `ncon_max`, or a full tape.", &PyExc_RuntimeError},
    {"NonFiniteError", "NaN or infinity in an input or a result.", &PyExc_ValueError},
    {"SingularError", "A factorisation failed.", &PyExc_ArithmeticError},
    {"ParseError", "A malformed file; `line` is the line of it, 0 if none.", &PyExc_ValueError},
    {"FileError", "A file could not be read or written.", &PyExc_OSError},
    {"SpeedError", "Something moves too fast for steps of this length.", &PyExc_ArithmeticError},
};

static const kind warnings[CORE_NWARNING] = {
    {"Warning", "Something valid that is not quite what was asked for.", &PyExc_UserWarning},
    {"NotConverged", "The answer is valid, but the tolerance was not reached.", NULL},
    {"Interrupted", "Stopped on request; the best so far is returned.", NULL},
    {"Substituted", "Another law took the place of the one asked for, which has no solution here.", NULL},
    {"Degenerate", "The answer is valid, but its derivatives are not to be relied on here: a kink.", NULL},
};

static PyObject *class_new(PyObject *module, const kind *k, PyObject *base) {
    char name[80];
    snprintf(name, sizeof name, "tribo.%s", k->name);
    PyObject *also = k->also ? *k->also : NULL, *bases = NULL;
    if (base && also)
        bases = PyTuple_Pack(2, base, also);
    else
        bases = PyTuple_Pack(1, base ? base : also ? also : PyExc_Exception);
    PyObject *made = bases ? PyErr_NewExceptionWithDoc(name, k->doc, bases, NULL) : NULL;
    Py_XDECREF(bases);
    if (made && PyModule_AddObjectRef(module, k->name, made)) Py_CLEAR(made);
    return made;
}

bool core_errors_new(core *c, PyObject *module) {
    const kind array = {"ArrayError", "An array of another dtype, shape or layout; nothing is converted silently.",
                        &PyExc_TypeError};
    const kind freed = {"FreedError", "Used after free().", NULL};
    const kind busy = {"BusyError", "Another thread is using it.", &PyExc_RuntimeError};
    for (int k = 0; k < CORE_NERROR; k++)
        if (!(c->error[k] = class_new(module, errors + k, k ? c->error[0] : NULL))) return false;
    for (int k = 0; k < CORE_NWARNING; k++)
        if (!(c->warning[k] = class_new(module, warnings + k, k ? c->warning[0] : NULL))) return false;
    c->array_error = class_new(module, &array, c->error[-TRIBO_E_ARG]);
    c->freed_error = class_new(module, &freed, c->error[0]);
    c->busy_error = class_new(module, &busy, c->error[0]);
    return c->array_error && c->freed_error && c->busy_error;
}

PyObject *core_fail(core *c, tribo_status s, const char *where, const tribo_diag *diag) {
    int k = s < 0 && -s < CORE_NERROR ? -s : 0;
    bool file = s == TRIBO_E_PARSE || s == TRIBO_E_IO;
    const char *said = diag && diag->text[0] ? diag->text : NULL;
    PyObject *text = diag && diag->line > 0 ? PyUnicode_FromFormat("%s:%d: %s", where, diag->line, said ? said : "")
                     : said && !file        ? PyUnicode_FromFormat("%s", said)
                                            : PyUnicode_FromFormat("%s: %s", where, said ? said : tribo_status_text(s));
    PyObject *made = text ? PyObject_CallFunctionObjArgs(c->error[k], text, NULL) : NULL;
    PyObject *line = made ? PyLong_FromLong(diag ? diag->line : 0) : NULL;
    if (line && !PyObject_SetAttrString(made, "line", line)) PyErr_SetObject(c->error[k], made);
    Py_XDECREF(text), Py_XDECREF(made), Py_XDECREF(line);
    return NULL;
}

bool core_warn(core *c, tribo_status s, const char *where, int level) {
    if (s <= 0 || (int)s >= CORE_NWARNING) return true;
    char text[300];
    snprintf(text, sizeof text, "%s: %s", where, tribo_status_text(s));
    return PyErr_WarnEx(c->warning[s], text, level) == 0;
}

/* ---- what was wrong with a step ---- */

static const char *first_strange(const double *a, Py_ssize_t n, Py_ssize_t *at) {
    for (*at = 0; a && *at < n; ++*at)
        if (!isfinite(a[*at])) return isnan(a[*at]) ? "nan" : "infinite";
    return NULL;
}

PyObject *core_fail_step(core_model *m, const tribo_ws *ws, tribo_status s, const double *p, const double *x,
                         const double *u, int nstep, int world) {
    tribo_diag diag = {0};
    tribo_param_info info;
    Py_ssize_t at;
    const char *how;
    if (s == TRIBO_E_ARG || s == TRIBO_E_NONFINITE) {
        tribo_diag why = {0};
        if ((how = first_strange(p, m->n.np, &at)) && !tribo_param_describe(m->handle->m, (int)at, &info))
            snprintf(diag.text, sizeof diag.text, "p[%zd] (%s) is %s", at, info.name, how);
        else if (tribo_params_check(m->handle->m, p, &why))
            snprintf(diag.text, sizeof diag.text, "p: %.500s", why.text);
        else if ((how = first_strange(x, m->n.nx, &at)))
            snprintf(diag.text, sizeof diag.text, "x[%zd] is %s", at, how);
        else if ((how = first_strange(u, (Py_ssize_t)nstep * m->n.nu, &at)) && nstep == 1)
            snprintf(diag.text, sizeof diag.text, "u[%zd] is %s", at, how);
        else if (how)
            snprintf(diag.text, sizeof diag.text, "U[%zd, %zd] is %s", at / m->n.nu, at % m->n.nu, how);
        else if (s == TRIBO_E_ARG)
            snprintf(diag.text, sizeof diag.text, "x is no state: a quaternion without direction");
        else
            snprintf(diag.text, sizeof diag.text, "the step's result is not finite");
    }
    int wanted = ws && s == TRIBO_E_CAPACITY ? tribo_last_info(ws)->ncon : 0;
    if (ws && wanted > tribo_ws_options(ws).ncon_max)
        snprintf(diag.text, sizeof diag.text, "step: more contacts than there is room for (ncon_max=%d): at least %d",
                 tribo_ws_options(ws).ncon_max, wanted);
    if (world < 0) return core_fail(m->core, s, "step", &diag);
    tribo_diag whole = {0};
    snprintf(whole.text, sizeof whole.text, "world %d: %.450s", world, diag.text[0] ? diag.text : tribo_status_text(s));
    return core_fail(m->core, s, "step", &whole);
}
