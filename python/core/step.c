/* step.c -- a step: the next state, what happened in it, its Jacobians. */
#include "core.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- the arguments of a step ---- */

typedef struct call {
    core_array x, u, p;
    const double *params;
} call;

static void call_end(call *k) {
    core_release(&k->x), core_release(&k->u), core_release(&k->p);
}

static bool call_begin(core_model *m, PyObject *x, PyObject *u, PyObject *p, call *k) {
    memset(k, 0, sizeof *k);
    bool good = core_model_alive(m) && core_take(m->core, x, "x", CORE_SHAPE(1, m->n.nx), 0, &k->x) &&
                core_take(m->core, u, "u", CORE_SHAPE(1, m->n.nu), CORE_MAY_BE_NONE, &k->u) &&
                core_take(m->core, p, "p", CORE_SHAPE(1, m->n.np), CORE_MAY_BE_NONE, &k->p);
    k->params = k->p.a ? k->p.a : m->p;
    if (!good) call_end(k);
    return good;
}

enum { LARGE = 12 }; /* velocities from which on other threads may run during a step */

static tribo_status run_step(const core_model *m, tribo_ws *ws, const call *k, double *out, tribo_tape *tape) {
    tribo_status s;
    if (m->n.nv < LARGE) return tribo_step(ws, k->params, k->x.a, k->u.a, out, tape);
    Py_BEGIN_ALLOW_THREADS;
    s = tribo_step(ws, k->params, k->x.a, k->u.a, out, tape);
    Py_END_ALLOW_THREADS;
    return s;
}

/* ---- step ---- */

PyObject *core_model_step(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    static const char *const names[] = {"x", "u", "p", "out", NULL};
    PyObject *slot[4], *made = NULL;
    core_model *m = (core_model *)self;
    core_array out = {0};
    call k;
    if (!core_arguments("step", args, n, kwnames, names, 1, slot) || !call_begin(m, slot[0], slot[1], slot[2], &k))
        return NULL;
    core_handle *h = m->handle;
    tribo_ws *ws = NULL;
    if (slot[3])
        made =
            core_take(m->core, slot[3], "out", CORE_SHAPE(1, m->n.nx), CORE_WRITABLE, &out) ? Py_NewRef(slot[3]) : NULL;
    else if ((made = PyObject_CallFunctionObjArgs(m->core->empty, m->x_shape, NULL)) &&
             !core_take(m->core, made, "out", CORE_SHAPE(1, m->n.nx), CORE_WRITABLE, &out))
        Py_CLEAR(made);
    if (made && (ws = core_ws_take(m))) {
        tribo_status s = run_step(m, ws, &k, out.a, NULL);
        if (s < 0) core_fail_step(m, ws, s, k.params, k.x.a, k.u.a, 1, -1);
        core_ws_give(m, h, ws);
        if (s != TRIBO_OK && (s < 0 || !core_warn(m->core, s, "step", 1))) Py_CLEAR(made);
    } else {
        Py_CLEAR(made);
    }
    core_release(&out), call_end(&k);
    return made;
}

/* ---- what happened ---- */

static const struct {
    const char *name, *format;
    size_t at;
} contact_fields[] = {
    {"geom_a", "i4", offsetof(tribo_contact, geom_a)},
    {"geom_b", "i4", offsetof(tribo_contact, geom_b)},
    {"mode", "i4", offsetof(tribo_contact, mode)},
    {"point", "(3,)f8", offsetof(tribo_contact, point)},
    {"applied", "(3,)f8", offsetof(tribo_contact, applied)},
    {"normal", "(3,)f8", offsetof(tribo_contact, normal)},
    {"gap", "f8", offsetof(tribo_contact, gap)},
    {"tangent", "(2,3)f8", offsetof(tribo_contact, tangent)},
    {"impulse", "(3,)f8", offsetof(tribo_contact, impulse)},
    {"bounced", "?", offsetof(tribo_contact, bounced)},
    {"time", "f8", offsetof(tribo_contact, time)},
    {"torque", "(3,)f8", offsetof(tribo_contact, torque)},
};
enum { NFIELD = sizeof contact_fields / sizeof *contact_fields };

static PyObject *field_list(int what) {
    PyObject *list = PyList_New(NFIELD);
    for (int k = 0; list && k < NFIELD; k++)
        core_list_put(&list, k,
                      what == 0   ? PyUnicode_FromString(contact_fields[k].name)
                      : what == 1 ? PyUnicode_FromString(contact_fields[k].format)
                                  : PyLong_FromSize_t(contact_fields[k].at));
    return list;
}

bool core_step_init(core *c, PyObject *module) {
    PyObject *numpy = PyImport_ImportModule("numpy"), *ma = PyImport_ImportModule("numpy.ma"), *spec = NULL;
    c->masked = ma ? (PyTypeObject *)PyObject_GetAttrString(ma, "MaskedArray") : NULL;
    Py_XDECREF(ma);
    c->empty = numpy ? PyObject_GetAttrString(numpy, "empty") : NULL;
    if (c->empty)
        spec = Py_BuildValue("{sNsNsNsn}", "names", field_list(0), "formats", field_list(1), "offsets", field_list(2),
                             "itemsize", (Py_ssize_t)sizeof(tribo_contact));
    c->contact_dtype = spec ? PyObject_CallMethod(numpy, "dtype", "O", spec) : NULL;
    Py_XDECREF(spec), Py_XDECREF(numpy);
    return c->masked && c->contact_dtype && PyModule_AddObjectRef(module, "contact_dtype", c->contact_dtype) == 0;
}

static PyObject *contacts_of(core *c, const tribo_ws *ws) {
    int n;
    Py_buffer b;
    const tribo_contact *from = tribo_last_contacts(ws, &n);
    PyObject *made = PyObject_CallFunction(c->empty, "nO", (Py_ssize_t)n, c->contact_dtype);
    if (!made || PyObject_GetBuffer(made, &b, PyBUF_WRITABLE)) {
        Py_XDECREF(made);
        return NULL;
    }
    if (n > 0) memcpy(b.buf, from, (size_t)n * sizeof *from);
    PyBuffer_Release(&b);
    return made;
}

static PyObject *residuals_of(const tribo_residuals *r) {
    return Py_BuildValue("(ddd)", r->primal, r->dual, r->complementarity);
}

static PyObject *info_of(const tribo_step_info *i, bool measured, const char *status) {
    static const char *const rungs[] = {"none", "warm", "newton", "staggered", "path", "interior", "solver"};
    PyObject *d =
        Py_BuildValue("{sisisisisisisisdsdsdsssOss}", "ncon", i->ncon, "nactive", i->nactive, "nislands", i->nislands,
                      "iterations", i->iterations, "nheld", i->nheld, "ndegenerate", i->ndegenerate, "nshared",
                      i->nshared, "residual", i->residual, "margin", i->margin, "penetration", i->penetration, "rung",
                      rungs[i->rung], "canonical", i->canonical ? Py_True : Py_False, "status", status);
    if (!d || !measured) return d;
    const tribo_measures *m = &i->measures;
    PyObject *more = Py_BuildValue("{sNsNsdsdsdsdsd}", "law", residuals_of(&m->law), "ncp", residuals_of(&m->ncp),
                                   "dissipation", m->dissipation, "friction_loss", m->friction_loss, "internal",
                                   m->internal, "internal_share", m->internal_share, "lift", m->lift);
    if (!more || PyDict_SetItemString(d, "measures", more)) Py_CLEAR(d);
    Py_XDECREF(more);
    return d;
}

static const char *status_name(tribo_status s) {
    static const char *const names[] = {"OK", "NOT_CONVERGED", "INTERRUPTED", "SUBSTITUTED", "DEGENERATE"};
    return s >= 0 && s < 5 ? names[s] : "ERROR";
}

/* (x_next, contacts, info) */
PyObject *core_model_examine(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    static const char *const names[] = {"x", "u", "p", NULL};
    PyObject *slot[3], *made = NULL;
    core_model *m = (core_model *)self;
    core_array out = {0};
    call k;
    if (!core_arguments("examine", args, n, kwnames, names, 1, slot) || !call_begin(m, slot[0], slot[1], slot[2], &k))
        return NULL;
    core_handle *h = m->handle;
    PyObject *x = core_new(m->core, CORE_SHAPE(1, m->n.nx), &out);
    tribo_ws *ws = x ? core_ws_take(m) : NULL;
    if (ws) {
        tribo_status s = run_step(m, ws, &k, out.a, NULL);
        if (s < 0)
            core_fail_step(m, ws, s, k.params, k.x.a, k.u.a, 1, -1);
        else
            made = Py_BuildValue("(ONN)", x, contacts_of(m->core, ws),
                                 info_of(tribo_last_info(ws), m->options.measures, status_name(s)));
        core_ws_give(m, h, ws);
    }
    Py_XDECREF(x), core_release(&out), call_end(&k);
    return made;
}

/* ---- Jacobians ---- */

static tribo_status step_jacobians(core_model *m, tribo_ws *ws, const call *k, double *x, double *A, double *B,
                                   double *C) {
    tribo_tape *tape = NULL;
    tribo_status s = tribo_tape_new(ws, 1, 0, &tape);
    if (s < 0) return s;
    tribo_status first = s = run_step(m, ws, k, x, tape);
    if (s >= 0) s = tribo_step_jac(ws, tape, 0, A, B, C);
    tribo_tape_free(tape);
    return s == TRIBO_OK ? first : s;
}

PyObject *core_model_jacobians(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    static const char *const names[] = {"x", "u", "p", "wrt_p", NULL};
    PyObject *slot[4], *made = NULL, *o[4] = {NULL};
    core_model *m = (core_model *)self;
    core_array a[4] = {0};
    call k;
    if (!core_arguments("jacobians", args, n, kwnames, names, 1, slot) || !call_begin(m, slot[0], slot[1], slot[2], &k))
        return NULL;
    core_handle *h = m->handle;
    bool by_p = !slot[3] || PyObject_IsTrue(slot[3]);
    bool good = (o[0] = core_new(m->core, CORE_SHAPE(1, m->n.nx), &a[0])) &&
                (o[1] = core_new(m->core, CORE_SHAPE(2, m->n.ndx, m->n.ndx), &a[1])) &&
                (o[2] = core_new(m->core, CORE_SHAPE(2, m->n.ndx, m->n.nu), &a[2])) &&
                (o[3] = by_p ? core_new(m->core, CORE_SHAPE(2, m->n.ndx, m->n.np), &a[3]) : Py_NewRef(Py_None));
    tribo_ws *ws = good ? core_ws_take(m) : NULL;
    if (ws) {
        tribo_status s = step_jacobians(m, ws, &k, a[0].a, a[1].a, a[2].a, a[3].a);
        if (s < 0) core_fail_step(m, ws, s, k.params, k.x.a, k.u.a, 1, -1);
        core_ws_give(m, h, ws);
        if (s >= 0 && core_warn(m->core, s, "jacobians", 1)) made = PyTuple_Pack(4, o[0], o[1], o[2], o[3]);
    }
    for (int i = 0; i < 4; i++) core_release(&a[i]), Py_XDECREF(o[i]);
    call_end(&k);
    return made;
}

/* ---- distances ---- */

PyObject *core_model_distance(PyObject *self, PyObject *args) {
    core_model *m = (core_model *)self;
    PyObject *x, *p;
    int a, b;
    call k;
    tribo_distance d;
    if (!PyArg_ParseTuple(args, "iiOO", &a, &b, &x, &p) || !call_begin(m, x, NULL, p, &k)) return NULL;
    core_handle *h = m->handle;
    tribo_ws *ws = core_ws_take(m);
    tribo_status s = ws ? tribo_geom_distance(ws, k.params, k.x.a, a, b, &d) : TRIBO_OK;
    if (ws) core_ws_give(m, h, ws);
    call_end(&k);
    if (!ws) return NULL;
    if (s < 0) return core_fail(m->core, s, "distance", NULL);
    return Py_BuildValue("d((ddd)(ddd))(ddd)", d.distance, d.point[0][0], d.point[0][1], d.point[0][2], d.point[1][0],
                         d.point[1][1], d.point[1][2], d.normal[0], d.normal[1], d.normal[2]);
}
