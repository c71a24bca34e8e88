/* dynamics_back.c -- the reverse of what dynamics.c tells of a state. */
#include "dynamics.h"
#include <string.h>

/* A call: what it is given, and where its bars go. NULL where there is none. */
typedef struct call {
    int id;
    const double *in, *bar;
    double *q, *v, *in_bar, *p;
} call;

#define OF_PLACE(name)                                                                                                 \
    static tribo_status name##_pos(tribo_dynamics *d, const call *k) {                                                 \
        return tribo_##name##_pose_vjp(d, k->id, k->bar, NULL, k->q, k->p);                                            \
    }                                                                                                                  \
    static tribo_status name##_turn(tribo_dynamics *d, const call *k) {                                                \
        return tribo_##name##_pose_vjp(d, k->id, NULL, k->bar, k->q, k->p);                                            \
    }                                                                                                                  \
    static tribo_status name##_twist(tribo_dynamics *d, const call *k) {                                               \
        return tribo_##name##_velocity_vjp(d, k->id, k->bar, k->q, k->v, k->p);                                        \
    }                                                                                                                  \
    static tribo_status name##_jacobian(tribo_dynamics *d, const call *k) {                                            \
        return tribo_##name##_jacobian_vjp(d, k->id, k->bar, k->q, k->p);                                              \
    }
OF_PLACE(body)
OF_PLACE(site)
#undef OF_PLACE

#define OF_Q(name)                                                                                                     \
    static tribo_status of_##name(tribo_dynamics *d, const call *k) {                                                  \
        return tribo_##name##_vjp(d, k->bar, k->q, k->p);                                                              \
    }
OF_Q(com)
OF_Q(com_jacobian)
OF_Q(inertia)
#undef OF_Q

#define OF_STATE(name)                                                                                                 \
    static tribo_status of_##name(tribo_dynamics *d, const call *k) {                                                  \
        return tribo_##name##_vjp(d, k->bar, k->q, k->v, k->p);                                                        \
    }
OF_STATE(bias_forces)
OF_STATE(momentum)
#undef OF_STATE

#define OF_ARGUMENT(name)                                                                                              \
    static tribo_status of_##name(tribo_dynamics *d, const call *k) {                                                  \
        return tribo_##name##_vjp(d, k->in, k->bar, k->q, k->v, k->in_bar, k->p);                                      \
    }
OF_ARGUMENT(inverse_dynamics)
OF_ARGUMENT(forward_dynamics)
OF_ARGUMENT(joint_forces)
#undef OF_ARGUMENT

static tribo_status of_inertia_times(tribo_dynamics *d, const call *k) {
    return tribo_inertia_times_vjp(d, k->in, k->bar, k->in_bar, k->q, k->p);
}
static tribo_status of_inertia_solve(tribo_dynamics *d, const call *k) {
    return tribo_inertia_solve_vjp(d, k->in, k->bar, k->in_bar, k->q, k->p);
}
static tribo_status of_energy(tribo_dynamics *d, const call *k) {
    tribo_status s = tribo_kinetic_energy_vjp(d, k->bar[0], k->q, k->v, k->p);
    return s < 0 ? s : tribo_potential_energy_vjp(d, k->bar[1], k->q, k->p);
}

/* A function: the shape of its result, -1 for nv, one of columns 0; how long its argument is, -1 for nv, -2 for nu. */
static const struct row {
    const char *name;
    int rows, columns, in;
    bool v;
    tribo_status (*go)(tribo_dynamics *, const call *);
} ROW[] = {{"body pos", 3, 0, 0, false, body_pos},
           {"body turn", 3, 0, 0, false, body_turn},
           {"body twist", 6, 0, 0, true, body_twist},
           {"body jacobian", 6, -1, 0, false, body_jacobian},
           {"site pos", 3, 0, 0, false, site_pos},
           {"site turn", 3, 0, 0, false, site_turn},
           {"site twist", 6, 0, 0, true, site_twist},
           {"site jacobian", 6, -1, 0, false, site_jacobian},
           {"com", 3, 0, 0, false, of_com},
           {"com_jacobian", 3, -1, 0, false, of_com_jacobian},
           {"inertia", -1, -1, 0, false, of_inertia},
           {"inertia_times", -1, 0, -1, false, of_inertia_times},
           {"inertia_solve", -1, 0, -1, false, of_inertia_solve},
           {"bias_forces", -1, 0, 0, true, of_bias_forces},
           {"inverse_dynamics", -1, 0, -1, true, of_inverse_dynamics},
           {"forward_dynamics", -1, 0, -1, true, of_forward_dynamics},
           {"joint_forces", -1, 0, -2, true, of_joint_forces},
           {"momentum", 6, 0, 0, true, of_momentum},
           {"energy", 2, 0, 0, true, of_energy}};

static const struct row *row_of(core *c, const char *name) {
    for (size_t i = 0; i < sizeof ROW / sizeof *ROW; i++)
        if (!strcmp(ROW[i].name, name)) return ROW + i;
    PyErr_Format(c->error[-TRIBO_E_ARG], "vjp: there is no reverse of `%s`", name);
    return NULL;
}

/* A new bar of zeros, or None. */
static PyObject *bar_of(core *c, bool wanted, int n, core_array *a) {
    return wanted ? core_new_zero(c, CORE_SHAPE(1, n), a) : Py_NewRef(Py_None);
}

PyObject *core_dynamics_vjp(PyObject *self, PyObject *args) {
    dynamics *b = (dynamics *)self;
    core *c = b->model->core;
    const tribo_sizes *n = &b->model->n;
    const char *name;
    int id;
    PyObject *in, *bar, *made[4] = {NULL}, *out = NULL;
    core_array given, of = {0}, to[4] = {0};
    if (!core_model_alive(b->model) || !PyArg_ParseTuple(args, "siOO", &name, &id, &in, &bar)) return NULL;
    const struct row *r = row_of(c, name);
    if (!r) return NULL;
    int size = r->in == -1 ? n->nv : r->in == -2 ? n->nu : 0, rows = r->rows < 0 ? n->nv : r->rows;
    core_shape shape = r->columns ? CORE_SHAPE(2, rows, n->nv) : CORE_SHAPE(1, rows);
    if (!core_take(c, in, "argument", CORE_SHAPE(1, size), r->in == -1 ? 0 : CORE_MAY_BE_NONE, &given)) return NULL;
    if (core_take(c, bar, "cotangent", shape, 0, &of)) {
        made[0] = bar_of(c, true, n->nv, &to[0]), made[1] = bar_of(c, r->v, n->nv, &to[1]);
        made[2] = bar_of(c, size > 0, size, &to[2]), made[3] = bar_of(c, true, n->np, &to[3]);
        call k = {id, given.a, of.a, to[0].a, to[1].a, to[2].a, to[3].a};
        bool good = made[0] && made[1] && made[2] && made[3];
        tribo_status s = good ? r->go(b->d, &k) : TRIBO_OK;
        if (s < 0) core_fail(c, s, name, NULL);
        if (good && s >= 0) out = PyTuple_Pack(4, made[0], made[1], made[2], made[3]);
    }
    core_release(&given), core_release(&of);
    for (int i = 0; i < 4; i++) {
        core_release(&to[i]);
        Py_XDECREF(made[i]);
    }
    return out;
}

PyObject *core_dynamics_jac(PyObject *self, PyObject *args) {
    dynamics *b = (dynamics *)self;
    core *c = b->model->core;
    const char *which;
    int nv = b->model->n.nv;
    PyObject *ao, *made[3] = {NULL}, *out = NULL;
    core_array a, to[3] = {0};
    if (!core_model_alive(b->model) || !PyArg_ParseTuple(args, "sO", &which, &ao)) return NULL;
    bool forward = which[0] == 'f', good = core_take(c, ao, "a", CORE_SHAPE(1, nv), 0, &a);
    if (!good) return NULL;
    for (int i = 0; i < 2 + forward; i++) good = good && (made[i] = core_new(c, CORE_SHAPE(2, nv, nv), &to[i]));
    if (good) {
        tribo_status s = forward ? tribo_forward_dynamics_jac(b->d, a.a, to[0].a, to[1].a, to[2].a)
                                 : tribo_inverse_dynamics_jac(b->d, a.a, to[0].a, to[1].a);
        if (s < 0) core_fail(c, s, "jacobians", NULL);
        if (s >= 0) out = forward ? PyTuple_Pack(3, made[0], made[1], made[2]) : PyTuple_Pack(2, made[0], made[1]);
    }
    core_release(&a);
    for (int i = 0; i < 3; i++) {
        core_release(&to[i]);
        Py_XDECREF(made[i]);
    }
    return out;
}
