/* module.c -- the module: its types, its functions, what it keeps. */
#include "core.h"

static PyObject *laws(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    PyObject *d = PyDict_New();
    for (int l = 1; d && l < TRIBO_LAW_END; l++) {
        PyObject *list = PyList_New(0);
        tribo_solver s;
        for (int k = 0; list && (s = tribo_law_solver((tribo_law)l, k)); k++) {
            PyObject *name = PyUnicode_FromString(tribo_solver_name(s));
            if (!name || PyList_Append(list, name)) Py_CLEAR(list);
            Py_XDECREF(name);
        }
        if (!list || PyDict_SetItemString(d, tribo_law_name((tribo_law)l), list)) Py_CLEAR(d);
        Py_XDECREF(list);
    }
    return d;
}

static PyObject *law_text(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *text;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    text = tribo_law_text(tribo_law_find(name));
    if (!text) text = tribo_solver_text(tribo_solver_find(name));
    return Py_BuildValue("z", text);
}

static PyObject *spring(PyObject *module, PyObject *args) {
    (void)module;
    double k, tau, dt;
    if (!PyArg_ParseTuple(args, "ddd", &k, &tau, &dt)) return NULL;
    return PyFloat_FromDouble(tribo_softness_of_spring(k, tau, dt));
}

static PyMethodDef functions[] = {
    {"rollout", (PyCFunction)(void (*)(void))core_rollout_new, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"steps", core_steps, METH_VARARGS, NULL},
    {"problem", core_problem_new, METH_VARARGS, NULL},
    {"qcqp", core_qcqp, METH_VARARGS, NULL},
    {"fit", core_fit_new, METH_VARARGS, NULL},
    {"plan", core_plan_new, METH_VARARGS, NULL},
    {"dynamics", core_dynamics_new, METH_VARARGS, NULL},
    {"policies", core_policies_new, METH_VARARGS, NULL},
    {"random", core_random_new, METH_VARARGS, NULL},
    {"trajectory_load", core_trajectory_load, METH_VARARGS, NULL},
    {"trajectory_save", core_trajectory_save, METH_VARARGS, NULL},
    {"controls_load", core_controls_load, METH_VARARGS, NULL},
    {"recording_check", core_recording_check, METH_VARARGS, NULL},
    {"laws", laws, METH_NOARGS, NULL},
    {"law_text", law_text, METH_VARARGS, NULL},
    {"softness_of_spring", spring, METH_VARARGS, NULL},
    {0}};

static bool add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type) {
    *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *type && PyModule_AddType(module, *type) == 0;
}

static int begin(PyObject *module) {
    core *c = core_of(module);
    bool good = core_errors_new(c, module) && core_step_init(c, module) &&
                add_type(module, &core_model_spec, &c->model) && add_type(module, &core_rollout_spec, &c->rollout) &&
                add_type(module, &core_problem_spec, &c->problem) && add_type(module, &core_fit_spec, &c->fit) &&
                add_type(module, &core_plan_spec, &c->plan) && add_type(module, &core_dynamics_spec, &c->dynamics) &&
                add_type(module, &core_policies_spec, &c->policies) &&
                add_type(module, &core_random_spec, &c->random) &&
                PyModule_AddStringConstant(module, "version", tribo_version()) == 0;
    return good ? 0 : -1;
}

static int visit_all(PyObject *module, visitproc visit, void *arg) {
    core *c = core_of(module);
    if (!c) return 0;
    for (int k = 0; k < CORE_NERROR; k++) Py_VISIT(c->error[k]);
    for (int k = 0; k < CORE_NWARNING; k++) Py_VISIT(c->warning[k]);
    Py_VISIT(c->array_error);
    Py_VISIT(c->freed_error);
    Py_VISIT(c->busy_error);
    Py_VISIT(c->empty);
    Py_VISIT(c->contact_dtype);
    Py_VISIT(c->masked);
    Py_VISIT(c->model);
    Py_VISIT(c->rollout);
    Py_VISIT(c->problem);
    Py_VISIT(c->fit);
    Py_VISIT(c->plan);
    Py_VISIT(c->dynamics);
    Py_VISIT(c->policies);
    Py_VISIT(c->random);
    return 0;
}

static int clear_all(PyObject *module) {
    core *c = core_of(module);
    if (!c) return 0;
    for (int k = 0; k < CORE_NERROR; k++) Py_CLEAR(c->error[k]);
    for (int k = 0; k < CORE_NWARNING; k++) Py_CLEAR(c->warning[k]);
    Py_CLEAR(c->array_error);
    Py_CLEAR(c->freed_error);
    Py_CLEAR(c->busy_error);
    Py_CLEAR(c->empty);
    Py_CLEAR(c->contact_dtype);
    Py_CLEAR(c->masked);
    Py_CLEAR(c->model);
    Py_CLEAR(c->rollout);
    Py_CLEAR(c->problem);
    Py_CLEAR(c->fit);
    Py_CLEAR(c->plan);
    Py_CLEAR(c->dynamics);
    Py_CLEAR(c->policies);
    Py_CLEAR(c->random);
    return 0;
}

static void end(void *module) {
    clear_all(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)begin}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "tribo._core",
                                        "What tribo is made of.",
                                        sizeof(core),
                                        functions,
                                        slots,
                                        visit_all,
                                        clear_all,
                                        end};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) {
    return PyModuleDef_Init(&definition);
}
