/* many.c -- one step of many worlds, and its Jacobians, by the library's pool of threads. */
#include "core.h"
#include <stdlib.h>

/* What may have a leading axis of worlds: x, u, p. */
enum { NIN = 3, NOUT = 4 };

typedef struct worlds {
    core_array in[NIN];
    int n;
} worlds;

static void worlds_end(worlds *w) {
    for (int i = 0; i < NIN; i++) core_release(&w->in[i]);
}

static bool worlds_take(core_model *m, PyObject *const *from, worlds *w) {
    static const char *const names[NIN] = {"x", "u", "p"};
    const int widths[NIN] = {m->n.nx, m->n.nu, m->n.np};
    core_array *in[NIN];
    bool batch;
    for (int i = 0; i < NIN; i++) {
        int how = CORE_MAY_BE_MANY | (i > 0 ? CORE_MAY_BE_NONE : 0);
        in[i] = &w->in[i];
        if (!core_take(m->core, from[i], names[i], CORE_SHAPE(1, widths[i]), how, in[i])) return false;
    }
    w->n = core_worlds_of(m->core, in, names, &batch);
    if (w->n < 0) return false;
    if (!batch) PyErr_SetString(m->core->array_error, "none of x, u, p has a leading axis of worlds");
    return batch;
}

static const double *row_of(const worlds *w, int i, int world, int width) {
    return w->in[i].a ? w->in[i].a + (w->in[i].many ? (size_t)world * (size_t)width : 0) : NULL;
}

/* The gravest status; of the first world that failed an exception, and what that says. */
static tribo_status judge(core_model *m, const worlds *w, const tribo_status *each) {
    tribo_status gravest = TRIBO_OK;
    for (int i = 0; i < w->n; i++) {
        if (each[i] < 0) {
            const double *p = row_of(w, 2, i, m->n.np);
            core_fail_step(m, NULL, each[i], p ? p : m->p, row_of(w, 0, i, m->n.nx), row_of(w, 1, i, m->n.nu), 1, i);
            return each[i];
        }
        gravest = tribo_status_graver(gravest, each[i]);
    }
    return gravest;
}

/* steps(model, x, u, p, jacobians, wrt_p, threads) -> (x_next, A, B, C), the last three None unless asked for */
PyObject *core_steps(PyObject *module, PyObject *args) {
    core *c = core_of(module);
    PyObject *mo, *in[NIN], *o[NOUT] = {NULL}, *made = NULL;
    int jacobians, by_p, threads;
    core_array a[NOUT] = {0};
    worlds w = {0};
    if (!PyArg_ParseTuple(args, "OOOOppi", &mo, &in[0], &in[1], &in[2], &jacobians, &by_p, &threads)) return NULL;
    core_model *m = core_model_of(c, mo);
    if (!m) return NULL;
    if (!worlds_take(m, in, &w)) {
        worlds_end(&w);
        return NULL;
    }
    const core_shape shapes[NOUT] = {CORE_SHAPE(2, w.n, m->n.nx), CORE_SHAPE(3, w.n, m->n.ndx, m->n.ndx),
                                     CORE_SHAPE(3, w.n, m->n.ndx, m->n.nu), CORE_SHAPE(3, w.n, m->n.ndx, m->n.np)};
    bool good = true;
    for (int i = 0; good && i < NOUT; i++) {
        bool asked = i == 0 || (jacobians && (i < 3 || by_p));
        good = (o[i] = asked ? core_new(c, shapes[i], &a[i]) : Py_NewRef(Py_None)) != NULL;
    }
    tribo_status *each = calloc((size_t)w.n + 1, sizeof *each);
    core_handle *h = m->handle;
    core_crew crew = {0};
    if (good && each) crew = core_batch_take(m, threads, 1);
    if (crew.batch) {
        tribo_worlds all = tribo_default_worlds();
        all.n = w.n, all.x = w.in[0].a, all.u = w.in[1].a, all.p = w.in[2].a ? w.in[2].a : m->p;
        all.same_x = !w.in[0].many, all.same_u = w.in[1].a && !w.in[1].many, all.same_p = !w.in[2].many;
        tribo_status s;
        Py_BEGIN_ALLOW_THREADS;
        s = jacobians ? tribo_batch_jac(crew.batch, &all, a[0].a, a[1].a, a[2].a, a[3].a, each)
                      : tribo_batch_step(crew.batch, &all, a[0].a, each);
        Py_END_ALLOW_THREADS;
        core_batch_give(m, h, crew);
        tribo_status worst = judge(m, &w, each);
        if (worst >= 0 && s < 0) core_fail(c, s, "steps", NULL);
        if (worst >= 0 && s >= 0 && core_warn(c, worst, "steps", 1)) made = PyTuple_Pack(NOUT, o[0], o[1], o[2], o[3]);
    } else if (!each) {
        PyErr_NoMemory();
    }
    free(each);
    for (int i = 0; i < NOUT; i++) core_release(&a[i]), Py_XDECREF(o[i]);
    worlds_end(&w);
    return made;
}
