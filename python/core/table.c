/* table.c -- recordings and controls as CSV, and what a recording says of its own conventions. */
#include "core.h"
#include <math.h>
#include <string.h>

/* trajectory_load(model, path) -> (time, X with NaN where nothing was observed) */
PyObject *core_trajectory_load(PyObject *module, PyObject *args) {
    core *c = core_of(module);
    PyObject *mo, *X = NULL, *time = NULL;
    const char *path;
    tribo_diag diag = {0};
    tribo_trajectory *t = NULL;
    if (!PyArg_ParseTuple(args, "Os", &mo, &path)) return NULL;
    core_model *m = core_model_of(c, mo);
    if (!m) return NULL;
    tribo_status s = tribo_trajectory_load(path, m->handle->m, NULL, &t, &diag);
    if (s < 0) return core_fail(c, s, path, &diag);
    int n = tribo_trajectory_rows(t);
    core_array a = {0};
    time = core_copy(c, CORE_SHAPE(1, n), tribo_trajectory_times(t));
    X = core_new(c, CORE_SHAPE(2, n, m->n.nx), &a);
    const double *x = tribo_trajectory_states(t);
    const bool *seen = tribo_trajectory_observed(t);
    for (size_t i = 0; X && i < (size_t)n * (size_t)m->n.nx; i++) a.a[i] = seen[i] ? x[i] : (double)NAN;
    core_release(&a);
    tribo_trajectory_free(t);
    return Py_BuildValue("(NN)", time, X);
}

/* trajectory_save(model, path, time, X) */
PyObject *core_trajectory_save(PyObject *module, PyObject *args) {
    core *c = core_of(module);
    PyObject *mo, *to, *xo;
    const char *path;
    tribo_diag diag = {0};
    core_array t, x = {0};
    if (!PyArg_ParseTuple(args, "OsOO", &mo, &path, &to, &xo)) return NULL;
    core_model *m = core_model_of(c, mo);
    if (!m || !core_take(c, to, "time", CORE_SHAPE(1, -1), 0, &t)) return NULL;
    bool good = core_take(c, xo, "X", CORE_SHAPE(2, t.view.shape[0], m->n.nx), 0, &x);
    if (good) {
        tribo_status s = tribo_trajectory_save(path, m->handle->m, (int)t.view.shape[0], t.a, x.a, &diag);
        if (s < 0) core_fail(c, s, path, &diag), good = false;
    }
    core_release(&t), core_release(&x);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* controls_load(model, path) -> (time, U) */
PyObject *core_controls_load(PyObject *module, PyObject *args) {
    core *c = core_of(module);
    PyObject *mo;
    const char *path;
    tribo_diag diag = {0};
    tribo_controls *t = NULL;
    if (!PyArg_ParseTuple(args, "Os", &mo, &path)) return NULL;
    core_model *m = core_model_of(c, mo);
    if (!m) return NULL;
    tribo_status s = tribo_controls_load(path, m->handle->m, NULL, &t, &diag);
    if (s < 0) return core_fail(c, s, path, &diag);
    int n = tribo_controls_rows(t);
    PyObject *time = core_copy(c, CORE_SHAPE(1, n), tribo_controls_times(t));
    PyObject *U = core_copy(c, CORE_SHAPE(2, n, m->n.nu), tribo_controls_values(t));
    tribo_controls_free(t);
    return Py_BuildValue("(NN)", time, U);
}

static PyObject *findings_of(const tribo_checked *k) {
    static const char *const about[] = {"time", "length", "velocity", "angular", "frame", "order", "sign",
                                        "kind", "delay",  "gap",      "outlier", "names", "scene"};
    static const char *const outcome[] = {"noted", "mended", "refused"};
    int n;
    const tribo_finding *f = tribo_checked_findings(k, &n);
    PyObject *list = PyList_New(n);
    for (int i = 0; list && i < n; i++)
        core_list_put(&list, i,
                      Py_BuildValue("(ssiidN)", about[f[i].about], outcome[f[i].outcome], f[i].body, f[i].row,
                                    f[i].number, core_text(f[i].text)));
    return list;
}

/* recording_check(model, time, X, U or None, p or None) -> (time, X, U or None, findings, refused or None) */
PyObject *core_recording_check(PyObject *module, PyObject *args) {
    core *c = core_of(module);
    PyObject *mo, *to, *xo, *uo, *po, *made = NULL;
    core_array t, x = {0}, u = {0}, p = {0};
    tribo_diag diag = {0};
    tribo_checked *k = NULL;
    if (!PyArg_ParseTuple(args, "OOOOO", &mo, &to, &xo, &uo, &po)) return NULL;
    core_model *m = core_model_of(c, mo);
    if (!m || !core_take(c, to, "time", CORE_SHAPE(1, -1), 0, &t)) return NULL;
    Py_ssize_t n = t.view.shape[0];
    if (core_take(c, xo, "X", CORE_SHAPE(2, n, m->n.nx), 0, &x) &&
        core_take(c, uo, "U", CORE_SHAPE(2, n, m->n.nu), CORE_MAY_BE_NONE, &u) &&
        core_take(c, po, "p", CORE_SHAPE(1, m->n.np), CORE_MAY_BE_NONE, &p)) {
        tribo_recording r = {(int)n, t.a, x.a, u.a};
        tribo_status s = tribo_checked_new(m->handle->m, p.a, &r, NULL, &k, &diag);
        if (s < 0) {
            core_fail(c, s, "recording", &diag);
        } else {
            r = tribo_checked_recording(k);
            const tribo_finding *no = tribo_checked_refused(k);
            made = Py_BuildValue("(NNNNN)", core_copy(c, CORE_SHAPE(1, r.n), r.time),
                                 core_copy(c, CORE_SHAPE(2, r.n, m->n.nx), r.x),
                                 r.u ? core_copy(c, CORE_SHAPE(2, r.n, m->n.nu), r.u) : Py_NewRef(Py_None),
                                 findings_of(k), no ? core_text(no->text) : Py_NewRef(Py_None));
        }
    }
    tribo_checked_free(k);
    core_release(&t), core_release(&x), core_release(&u), core_release(&p);
    return made;
}
