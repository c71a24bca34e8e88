/* table.c -- recordings and controls as CSV, and what a recording says of its own conventions. */
#include "core.h"
#include <math.h>
#include <string.h>

/* Shapes of what sites, and what geoms and then bodies, have in n rows. */
static core_shape markers_shape(const core_model *m, Py_ssize_t n) {
    return CORE_SHAPE(3, n, m->n.nsite, 3);
}
static core_shape forces_shape(const core_model *m, Py_ssize_t n) {
    return CORE_SHAPE(3, n, m->n.ngeom + m->n.nbody, 3);
}

static PyObject *copy_or_none(core *c, core_shape shape, const double *from) {
    return from ? core_copy(c, shape, from) : Py_NewRef(Py_None);
}

/* trajectory_load(model, path) -> (time, X with NaN where nothing was observed, markers or None, forces or None) */
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
    PyObject *markers = copy_or_none(c, markers_shape(m, n), tribo_trajectory_markers(t));
    PyObject *forces = copy_or_none(c, forces_shape(m, n), tribo_trajectory_forces(t));
    tribo_trajectory_free(t);
    return Py_BuildValue("(NNNN)", time, X, markers, forces);
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
    static const char *const about[] = {"time",  "length", "velocity", "angular", "frame", "order", "sign", "kind",
                                        "delay", "gap",    "outlier",  "names",   "scene", "force", "clock"};
    _Static_assert(sizeof about / sizeof *about == TRIBO_CONVENTION_CLOCK + 1, "a word for each convention");
    static const char *const outcome[] = {"noted", "mended", "refused", "doubted"};
    int n;
    const tribo_finding *f = tribo_checked_findings(k, &n);
    PyObject *list = PyList_New(n);
    for (int i = 0; list && i < n; i++)
        core_list_put(&list, i,
                      Py_BuildValue("(ssiidN)", about[f[i].about], outcome[f[i].outcome], f[i].body, f[i].row,
                                    f[i].number, core_text(f[i].text)));
    return list;
}

bool core_recording_take(core_model *m, PyObject *o, tribo_recording *rec, core_array a[CORE_RECORDING_ARRAYS]) {
    core *c = m->core;
    PyObject *t, *x, *u, *seen, *pushed;
    if (!PyArg_ParseTuple(o, "OOOOO", &t, &x, &u, &seen, &pushed) ||
        !core_take(c, t, "time", CORE_SHAPE(1, -1), 0, &a[0]))
        return false;
    Py_ssize_t n = a[0].view.shape[0];
    if (!core_take(c, x, "X", CORE_SHAPE(2, n, m->n.nx), 0, &a[1]) ||
        !core_take(c, u, "U", CORE_SHAPE(2, n, m->n.nu), CORE_MAY_BE_NONE, &a[2]) ||
        !core_take(c, seen, "markers", markers_shape(m, n), CORE_MAY_BE_NONE, &a[3]) ||
        !core_take(c, pushed, "forces", forces_shape(m, n), CORE_MAY_BE_NONE, &a[4]))
        return false;
    *rec = (tribo_recording){.n = (int)n, .time = a[0].a, .x = a[1].a, .u = a[2].a, .marker = a[3].a, .force = a[4].a};
    return true;
}

/* recording_check(model, (time, X, U, markers, forces), p or None) -> (time, X, U, markers, forces, findings, refused
 * or None) */
PyObject *core_recording_check(PyObject *module, PyObject *args) {
    core *c = core_of(module);
    PyObject *mo, *ro, *po, *made = NULL;
    core_array a[CORE_RECORDING_ARRAYS] = {0}, p = {0};
    tribo_diag diag = {0};
    tribo_recording r;
    tribo_checked *k = NULL;
    if (!PyArg_ParseTuple(args, "OO!O", &mo, &PyTuple_Type, &ro, &po)) return NULL;
    core_model *m = core_model_of(c, mo);
    if (!m) return NULL;
    if (core_recording_take(m, ro, &r, a) && core_take(c, po, "p", CORE_SHAPE(1, m->n.np), CORE_MAY_BE_NONE, &p)) {
        tribo_status s = tribo_checked_new(m->handle->m, p.a, &r, NULL, &k, &diag);
        if (s < 0) {
            core_fail(c, s, "recording", &diag);
        } else {
            r = tribo_checked_recording(k);
            const tribo_finding *no = tribo_checked_refused(k);
            made = Py_BuildValue(
                "(NNNNNNN)", core_copy(c, CORE_SHAPE(1, r.n), r.time), core_copy(c, CORE_SHAPE(2, r.n, m->n.nx), r.x),
                copy_or_none(c, CORE_SHAPE(2, r.n, m->n.nu), r.u), copy_or_none(c, markers_shape(m, r.n), r.marker),
                copy_or_none(c, forces_shape(m, r.n), r.force), findings_of(k),
                no ? core_text(no->text) : Py_NewRef(Py_None));
        }
    }
    tribo_checked_free(k);
    for (int i = 0; i < CORE_RECORDING_ARRAYS; i++) core_release(&a[i]);
    core_release(&p);
    return made;
}
