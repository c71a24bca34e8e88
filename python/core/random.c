/* random.c -- parameters of many worlds drawn at random, and the reverse of the drawing. */
#include "core.h"
#include <stdlib.h>

typedef struct randomiser {
    PyObject_HEAD core_model *model; /* owned */
    core_handle *handle;
    tribo_random *r;
    int n;
} randomiser;

/* What a definition points to while it is copied. */
typedef struct definition {
    tribo_random_def *def;
    const char ***name;
    core_array *power;
    int n;
} definition;

static void definition_end(definition *d) {
    for (int i = 0; d->power && i < d->n; i++) core_release(&d->power[i]);
    for (int i = 0; d->name && i < d->n; i++) free(d->name[i]);
    free(d->def), free(d->name), free(d->power);
}

/* (names, power or None, draw, a, b, add, share, lower, upper) */
static bool take(core *c, PyObject *o, definition *d, int i) {
    tribo_random_def *def = d->def + i;
    PyObject *names, *power;
    int draw, share, add;
    *def = tribo_default_random();
    if (!PyArg_ParseTuple(o, "O!Oiddpidd", &PyList_Type, &names, &power, &draw, &def->a, &def->b, &add, &share,
                          &def->lower, &def->upper))
        return false;
    def->nname = (int)PyList_Size(names), def->draw = (tribo_draw)draw, def->share = (tribo_share)share;
    def->add = add;
    d->name[i] = calloc((size_t)def->nname + 1, sizeof **d->name);
    if (!d->name[i]) return PyErr_NoMemory();
    for (int k = 0; k < def->nname; k++) /* the list keeps its strings, and strings their text */
        if (!(d->name[i][k] = PyUnicode_AsUTF8AndSize(PyList_GetItem(names, k), NULL))) return false;
    def->name = d->name[i];
    if (!core_take(c, power, "power", CORE_SHAPE(1, def->nname), CORE_MAY_BE_NONE, &d->power[i])) return false;
    def->power = d->power[i].a;
    return true;
}

/* random(model, list of definitions, seed) */
PyObject *core_random_new(PyObject *module, PyObject *args) {
    core *c = core_of(module);
    PyObject *mo, *list;
    unsigned long long seed;
    tribo_diag diag = {0};
    if (!PyArg_ParseTuple(args, "OO!K", &mo, &PyList_Type, &list, &seed)) return NULL;
    core_model *m = core_model_of(c, mo);
    if (!m) return NULL;
    definition d = {.n = (int)PyList_Size(list)};
    d.def = calloc((size_t)d.n + 1, sizeof *d.def), d.name = calloc((size_t)d.n + 1, sizeof *d.name);
    d.power = calloc((size_t)d.n + 1, sizeof *d.power);
    bool good = d.def && d.name && d.power;
    if (!good) PyErr_NoMemory();
    for (int i = 0; good && i < d.n; i++) good = take(c, PyList_GetItem(list, i), &d, i);
    randomiser *b = good ? core_part_new(c->random, m) : NULL;
    if (b) {
        b->n = d.n;
        tribo_status s = tribo_random_new(b->handle->m, d.def, d.n, seed, NULL, &b->r, &diag);
        if (s < 0) core_fail(c, s, "randomiser", &diag);
        if (s < 0) Py_CLEAR(b);
    }
    definition_end(&d);
    return (PyObject *)b;
}

static void random_dealloc(PyObject *self) {
    randomiser *b = (randomiser *)self;
    tribo_random_free(b->r);
    core_part_free(self);
}

/* draws() -> a list of (randomiser, name of the first parameter) */
static PyObject *random_draws(PyObject *self, PyObject *none) {
    (void)none;
    randomiser *b = (randomiser *)self;
    int n = tribo_random_draws(b->r);
    char name[128];
    PyObject *list = PyList_New(n);
    for (int k = 0; list && k < n; k++) {
        int of = tribo_random_describe(b->r, k, name);
        core_list_put(&list, k, Py_BuildValue("(iN)", of, core_text(name)));
    }
    return list;
}

static PyObject *random_get(PyObject *self, PyObject *none) {
    (void)none;
    randomiser *b = (randomiser *)self;
    core_array phi = {0};
    PyObject *made = core_new(b->model->core, CORE_SHAPE(2, b->n, 2), &phi);
    if (made) tribo_random_get(b->r, phi.a);
    core_release(&phi);
    return made;
}

static PyObject *random_set(PyObject *self, PyObject *o) {
    randomiser *b = (randomiser *)self;
    core_array phi;
    if (!core_take(b->model->core, o, "phi", CORE_SHAPE(2, b->n, 2), 0, &phi)) return NULL;
    tribo_status s = tribo_random_set(b->r, phi.a);
    core_release(&phi);
    return s < 0 ? core_fail(b->model->core, s, "phi", NULL) : Py_NewRef(Py_None);
}

/* rows(p or None, first, worlds) -> (P, s) */
static PyObject *random_rows(PyObject *self, PyObject *args) {
    randomiser *b = (randomiser *)self;
    core *c = b->model->core;
    PyObject *po;
    long long first;
    int n;
    core_array p, P = {0}, s = {0};
    if (!core_model_alive(b->model) || !PyArg_ParseTuple(args, "OLi", &po, &first, &n)) return NULL;
    if (n < 0) {
        PyErr_SetString(c->error[-TRIBO_E_ARG], "rows: fewer than no worlds");
        return NULL;
    }
    if (!core_take(c, po, "p", CORE_SHAPE(1, b->model->n.np), CORE_MAY_BE_NONE, &p)) return NULL;
    PyObject *rows = core_new(c, CORE_SHAPE(2, n, b->model->n.np), &P);
    PyObject *drawn = rows ? core_new(c, CORE_SHAPE(2, n, tribo_random_draws(b->r)), &s) : NULL, *made = NULL;
    if (drawn) {
        tribo_status status = tribo_random_rows(b->r, p.a, first, n, P.a, s.a);
        if (status < 0) core_fail(c, status, "rows", NULL);
        if (status >= 0) made = PyTuple_Pack(2, rows, drawn);
    }
    core_release(&p), core_release(&P), core_release(&s);
    Py_XDECREF(rows), Py_XDECREF(drawn);
    return made;
}

/* rows_vjp(p or None, first, P_bar) -> (phi_bar, p_bar) */
static PyObject *random_rows_vjp(PyObject *self, PyObject *args) {
    randomiser *b = (randomiser *)self;
    core *c = b->model->core;
    PyObject *po, *bar, *made = NULL;
    long long first;
    int np = b->model->n.np;
    core_array p, P = {0}, phi = {0}, to = {0};
    if (!core_model_alive(b->model) || !PyArg_ParseTuple(args, "OLO", &po, &first, &bar)) return NULL;
    if (!core_take(c, po, "p", CORE_SHAPE(1, np), CORE_MAY_BE_NONE, &p)) return NULL;
    if (core_take(c, bar, "P_bar", CORE_SHAPE(2, -1, np), 0, &P)) {
        PyObject *of_phi = core_new_zero(c, CORE_SHAPE(2, b->n, 2), &phi);
        PyObject *of_p = of_phi ? core_new_zero(c, CORE_SHAPE(1, np), &to) : NULL;
        if (of_p) {
            tribo_status s = tribo_random_rows_vjp(b->r, p.a, first, (int)P.view.shape[0], P.a, phi.a, to.a);
            if (s < 0) core_fail(c, s, "rows_vjp", NULL);
            if (s >= 0) made = PyTuple_Pack(2, of_phi, of_p);
        }
        core_release(&phi), core_release(&to);
        Py_XDECREF(of_phi), Py_XDECREF(of_p);
    }
    core_release(&p), core_release(&P);
    return made;
}

static PyMethodDef methods[] = {{"draws", random_draws, METH_NOARGS, NULL},
                                {"get", random_get, METH_NOARGS, NULL},
                                {"set", random_set, METH_O, NULL},
                                {"rows", random_rows, METH_VARARGS, NULL},
                                {"rows_vjp", random_rows_vjp, METH_VARARGS, NULL},
                                {0}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)random_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, "Parameters drawn at random; see tribo.Randomiser."},
                              {0, NULL}};
PyType_Spec core_random_spec = {"tribo._core.Random", sizeof(randomiser), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
