/* seeds.c -- both ends of forward tangents: what seeds do to links, and a tree's next state from its velocity. */
#include "backward/backward.h"
#include "dynamics/fluid.h"

void ti_free_dot(const tribo_ws *ws, int b, ti_link_diff *d, ti_vec weight_dot, const double *u, const double *p) {
    double own[TI_FREE_NV] = {0};
    if (ws->model->fluid) {
        ti_vec torque;
        weight_dot = ti_add(weight_dot, ti_fluid_push_jvp(&ws->motion, b, d, p, &torque));
        if (u) memcpy(own, u, sizeof own);
        ti_add3(own + 3, torque), u = own;
    }
    ti_link_free_jvp(&ws->link[b], ws->options.dt, d, weight_dot, u);
}

void ti_seed_links(tribo_ws *ws, const ti_seeds *in) {
    const tribo_model *m = ws->model;
    for (int j = 0; j < in->n; j++) {
        const double *x = ti_seed(in->x, j, m->size.ndx), *u = ti_seed(in->u, j, m->size.nu),
                     *p = ti_seed(in->p, j, m->size.np);
        ti_vec gravity = p ? ti_load3(p + TI_P_GRAVITY) : ti_vec3(0, 0, 0);
        for (int b = 0; b < m->size.nbody; b++) {
            const ti_body *body = &m->body[b];
            ti_link_diff *d = &ws->scratch->diff_dot[j * m->size.nbody + b];
            ti_link_load_jvp(&ws->link[b], x ? x + body->v : NULL, x ? x + m->size.nv + body->v : NULL,
                             p ? p + body->p : NULL, d);
            ti_free_dot(ws, b, d, ti_scale(1 - body->gravcomp, gravity), u ? u + body->v : NULL, p);
        }
    }
}

void ti_tree_next_dot(tribo_ws *ws, const ti_frame *f, const ti_link_diff *diffs, int t, const double *V_dot,
                      const double *D_dot, double *out) {
    const tribo_model *m = ws->model;
    ti_motion_integrate_jvp(&ws->motion, t, ws->D + m->tree[t].v, ti_solved_velocity(ws, f, t), diffs, D_dot, V_dot,
                            out, out + m->size.nv);
}
