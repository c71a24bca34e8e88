/* dynamics.c -- a model at one state: where bodies are, inertia, forces, energy. */
#include "dynamics.h"
#include <string.h>

/* dynamics(model, p or None) */
PyObject *core_dynamics_new(PyObject *module, PyObject *args) {
    core *c = core_of(module);
    PyObject *mo, *po;
    core_array p;
    tribo_diag diag = {0};
    if (!PyArg_ParseTuple(args, "OO", &mo, &po)) return NULL;
    core_model *m = core_model_of(c, mo);
    if (!m || !core_take(c, po, "p", CORE_SHAPE(1, m->n.np), CORE_MAY_BE_NONE, &p)) return NULL;
    dynamics *b = core_part_new(c->dynamics, m);
    if (b) {
        tribo_status s = tribo_dynamics_new(b->handle->m, NULL, &b->d);
        if (s >= 0 && p.a) s = tribo_dynamics_set_params(b->d, p.a, &diag);
        if (s < 0) core_fail(c, s, "dynamics", &diag);
        if (s < 0) Py_CLEAR(b);
    }
    core_release(&p);
    return (PyObject *)b;
}

static void dynamics_dealloc(PyObject *self) {
    dynamics *b = (dynamics *)self;
    tribo_dynamics_free(b->d);
    core_part_free(self);
}

static PyObject *dynamics_at(PyObject *self, PyObject *xo) {
    dynamics *b = (dynamics *)self;
    core_array x;
    if (!core_model_alive(b->model) || !core_take(b->model->core, xo, "x", CORE_SHAPE(1, b->model->n.nx), 0, &x))
        return NULL;
    tribo_status s = tribo_dynamics_set_state(b->d, x.a);
    core_release(&x);
    if (s < 0) return core_fail(b->model->core, s, "dynamics: x", NULL);
    return Py_NewRef(self);
}

/* ---- one array out, none or one in ---- */

typedef tribo_status (*give)(tribo_dynamics *, double *);
typedef tribo_status (*turn)(tribo_dynamics *, const double *, double *);

static PyObject *give_array(dynamics *b, give function, core_shape shape, const char *where) {
    core_array a = {0};
    PyObject *made = core_new(b->model->core, shape, &a);
    tribo_status s = made ? function(b->d, a.a) : TRIBO_OK;
    core_release(&a);
    if (s < 0) {
        Py_CLEAR(made);
        core_fail(b->model->core, s, where, NULL);
    }
    return made;
}

static PyObject *turn_array(dynamics *b, PyObject *in, int n, bool may_be_none, turn function, const char *where) {
    core_array a, out = {0};
    core *c = b->model->core;
    if (!core_take(c, in, where, CORE_SHAPE(1, n), may_be_none ? CORE_MAY_BE_NONE : 0, &a)) return NULL;
    PyObject *made = core_new(c, CORE_SHAPE(1, b->model->n.nv), &out);
    tribo_status s = made ? function(b->d, a.a, out.a) : TRIBO_OK;
    core_release(&a), core_release(&out);
    if (s < 0) {
        Py_CLEAR(made);
        core_fail(c, s, where, NULL);
    }
    return made;
}

#define GIVE(name, ndim, ...)                                                                                          \
    static PyObject *do_##name(PyObject *self, PyObject *none) {                                                       \
        (void)none;                                                                                                    \
        dynamics *b = (dynamics *)self;                                                                                \
        int nv = b->model->n.nv;                                                                                       \
        (void)nv;                                                                                                      \
        return give_array(b, tribo_##name, CORE_SHAPE(ndim, __VA_ARGS__), #name);                                      \
    }
GIVE(com, 1, 3)
GIVE(com_jacobian, 2, 3, nv)
GIVE(inertia, 2, nv, nv)
GIVE(bias_forces, 1, nv)
GIVE(momentum, 1, 6)
GIVE(momentum_jacobian, 2, 6, nv)
#undef GIVE

#define TURN(name, size, may_be_none)                                                                                  \
    static PyObject *do_##name(PyObject *self, PyObject *in) {                                                         \
        dynamics *b = (dynamics *)self;                                                                                \
        return turn_array(b, in, b->model->n.size, may_be_none, tribo_##name, #name);                                  \
    }
TURN(inertia_times, nv, false)
TURN(inertia_solve, nv, false)
TURN(inverse_dynamics, nv, false)
TURN(forward_dynamics, nv, false)
TURN(joint_forces, nu, true)
#undef TURN

static PyObject *do_energy(PyObject *self, PyObject *none) {
    (void)none;
    dynamics *b = (dynamics *)self;
    double kinetic, potential;
    tribo_status s = tribo_kinetic_energy(b->d, &kinetic);
    if (s >= 0) s = tribo_potential_energy(b->d, &potential);
    if (s < 0) return core_fail(b->model->core, s, "energy", NULL);
    return Py_BuildValue("(dd)", kinetic, potential);
}

/* ---- bodies and sites ---- */

/* place("b" or "s", id) -> (pos, quat, twist, J) */
static PyObject *do_place(PyObject *self, PyObject *args) {
    dynamics *b = (dynamics *)self;
    core *c = b->model->core;
    const char *kind;
    int id;
    double pos[3], quat[4], twist[6];
    core_array J = {0};
    if (!PyArg_ParseTuple(args, "si", &kind, &id)) return NULL;
    bool site = kind[0] == 's';
    PyObject *made = core_new(c, CORE_SHAPE(2, 6, b->model->n.nv), &J);
    if (!made) return NULL;
    tribo_status s = site ? tribo_site_pose(b->d, id, pos, quat) : tribo_body_pose(b->d, id, pos, quat);
    if (s >= 0) s = site ? tribo_site_velocity(b->d, id, twist) : tribo_body_velocity(b->d, id, twist);
    if (s >= 0) s = site ? tribo_site_jacobian(b->d, id, J.a) : tribo_body_jacobian(b->d, id, J.a);
    core_release(&J);
    if (s < 0) {
        Py_DECREF(made);
        return core_fail(c, s, "dynamics", NULL);
    }
    return Py_BuildValue("(NNNN)", core_copy(c, CORE_SHAPE(1, 3), pos), core_copy(c, CORE_SHAPE(1, 4), quat),
                         core_copy(c, CORE_SHAPE(1, 6), twist), made);
}

static PyMethodDef methods[] = {{"at", dynamics_at, METH_O, NULL},
                                {"com", do_com, METH_NOARGS, NULL},
                                {"com_jacobian", do_com_jacobian, METH_NOARGS, NULL},
                                {"inertia", do_inertia, METH_NOARGS, NULL},
                                {"bias_forces", do_bias_forces, METH_NOARGS, NULL},
                                {"momentum", do_momentum, METH_NOARGS, NULL},
                                {"momentum_jacobian", do_momentum_jacobian, METH_NOARGS, NULL},
                                {"inertia_times", do_inertia_times, METH_O, NULL},
                                {"inertia_solve", do_inertia_solve, METH_O, NULL},
                                {"inverse_dynamics", do_inverse_dynamics, METH_O, NULL},
                                {"forward_dynamics", do_forward_dynamics, METH_O, NULL},
                                {"joint_forces", do_joint_forces, METH_O, NULL},
                                {"energy", do_energy, METH_NOARGS, NULL},
                                {"place", do_place, METH_VARARGS, NULL},
                                {"vjp", core_dynamics_vjp, METH_VARARGS, NULL},
                                {"jacobians", core_dynamics_jac, METH_VARARGS, NULL},
                                {0}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)dynamics_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, "A model at one state; see tribo.Dynamics."},
                              {0, NULL}};
PyType_Spec core_dynamics_spec = {"tribo._core.Dynamics", sizeof(dynamics), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
