/* build.c -- a scene as the library's model, through its builder; states and controls; free motion. */
#include "maths.h"
#include "scene.h"
#include <stdlib.h>

static void add_geom(tribo_builder *b, const geom *g) {
    tribo_geom_def d = tribo_default_geom();
    d.shape = g->shape;
    d.edge_radius = g->edge;
    copy3(d.size, g->size), copy3(d.pos, g->pos), copy4(d.quat, g->quat);
    d.material = (tribo_material){.friction = g->friction,
                                  .stiction = g->stiction,
                                  .restitution = g->restitution,
                                  .baumgarte = g->baumgarte,
                                  .slop = g->slop,
                                  .torsion = g->torsion,
                                  .rolling = g->rolling,
                                  .compliance = g->compliance};
    tribo_add_geom(b, g->body, &d);
}

static void add_body(tribo_builder *b, const solid *body) {
    tribo_body_def d = tribo_default_body();
    copy3(d.pos, body->pos), copy4(d.quat, body->quat);
    d.inertia_given = true;
    d.mass = body->mass;
    copy3(d.com, body->com);
    memcpy(d.inertia, body->inertia, sizeof d.inertia);
    tribo_add_body(b, &d);
}

tribo_status world_new(world *w, const scene *s, tribo_diag *diag) {
    *w = (world){0};
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_set_gravity(b, s->gravity);
    tribo_set_timestep(b, s->dt);
    for (int i = 0; i < s->nbody; i++) add_body(b, &s->b[i]);
    for (int i = 0; i < s->ngeom; i++) add_geom(b, &s->g[i]);
    tribo_status status = tribo_build(b, &w->m, diag);
    if (status) return status;
    tribo_options o = tribo_default_options();
    o.recovery = s->recovery;
    o.warm_start = s->warm;
    status = tribo_ws_new(w->m, &o, NULL, &w->ws, NULL);
    if (status) return status;
    w->p = calloc((size_t)tribo_model_sizes(w->m).np, sizeof *w->p);
    if (!w->p) return TRIBO_E_NOMEM;
    tribo_model_params(w->m, w->p);
    return TRIBO_OK;
}

void world_free(world *w) {
    free(w->p);
    tribo_ws_free(w->ws);
    tribo_model_free(w->m);
    *w = (world){0};
}

void scene_state(const scene *s, double *x) {
    for (int i = 0; i < s->nbody; i++) {
        const solid *b = &s->b[i];
        copy3(x + 7 * i, b->pos), copy4(x + 7 * i + 3, b->quat);
        double *v = x + 7 * s->nbody + 6 * i;
        copy3(v, b->vel), copy3(v + 3, b->spin);
    }
}

void scene_restart(scene *s, const double *x) {
    for (int i = 0; i < s->nbody; i++) {
        solid *b = &s->b[i];
        copy3(b->pos, x + 7 * i), copy4(b->quat, x + 7 * i + 3);
        const double *v = x + 7 * s->nbody + 6 * i;
        copy3(b->vel, v), copy3(b->spin, v + 3);
    }
}

void scene_control(const scene *s, double *u) {
    for (int i = 0; i < s->nbody; i++) copy3(u + 6 * i, s->b[i].force), copy3(u + 6 * i + 3, s->b[i].torque);
}

/* One substep of the implicit midpoint rule for a free body's spin w, docs/math.md eq. (7), by Newton's method. */
static void midpoint(const motion *m, double dt, double w[3]) {
    double start[3];
    copy3(start, w);
    for (int round = 0; round < 50; round++) {
        double mid[3], Iw[3], f[3], K[9], change[3], gyro[3];
        for (int i = 0; i < 3; i++) mid[i] = (start[i] + w[i]) / 2, change[i] = w[i] - start[i];
        times(Iw, m->inertia, mid);
        cross(gyro, mid, Iw);
        times(f, m->inertia, change);
        for (int i = 0; i < 3; i++) f[i] += dt * (gyro[i] - m->torque[i]);
        double skew[9] = {0, -mid[2], mid[1], mid[2], 0, -mid[0], -mid[1], mid[0], 0};
        double skew_Iw[9] = {0, -Iw[2], Iw[1], Iw[2], 0, -Iw[0], -Iw[1], Iw[0], 0};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double sum = 0;
                for (int k = 0; k < 3; k++) sum += skew[3 * i + k] * m->inertia[3 * k + j];
                K[3 * i + j] = m->inertia[3 * i + j] + dt / 2 * (sum - skew_Iw[3 * i + j]);
            }
        solve3(change, K, f);
        sub(w, w, change);
        if (length(change) <= 1e-15 * length(w)) break;
    }
}

/* How many substeps a fast spin takes, docs/math.md eq. (120). */
static int substeps(const motion *m, double dt) {
    double push[3], mean = (m->inertia[0] + m->inertia[4] + m->inertia[8]) / 3, uneven = 0;
    solve3(push, m->inertia, m->torque);
    double turn = dt * (length(m->w) + dt * length(push));
    for (int i = 0; i < 9; i++) {
        double d = m->inertia[i] / mean - (i % 4 == 0);
        uneven += d * d;
    }
    double n = ceil(4 * turn * sqrt(uneven));
    return turn <= 0.5 ? 1 : n > 4096 ? 4096 : n < 2 ? 2 : (int)n;
}

static void free_spin(motion *m, double dt) {
    int n = substeps(m, dt);
    copy3(m->free_w, m->w);
    m->spin_work = 0;
    for (int k = 0; k < n; k++) {
        double before = dot(m->torque, m->free_w);
        midpoint(m, dt / n, m->free_w);
        m->spin_work += dt / n * (before + dot(m->torque, m->free_w)) / 2;
    }
    sub(m->accel_w, m->free_w, m->w);
}

void body_motion(const scene *s, int i, const double *x, motion *m) {
    const solid *b = &s->b[i];
    const double *q = x + 7 * i, *v = x + 7 * s->nbody + 6 * i;
    double r[3], t[3];
    quat_matrix(m->R, q + 3);
    times(r, m->R, b->com);
    add_scaled(m->x, q, 1, r);
    copy3(m->w, v + 3);
    cross(t, m->w, b->com);
    times(t, m->R, t);
    add_scaled(m->v, v, 1, t);
    symmetric(m->inertia, b->inertia);
    for (int k = 0; k < 3; k++) m->force[k] = b->mass * s->gravity[k] + b->force[k];
    times_transposed(t, m->R, b->force);
    cross(t, b->com, t);
    sub(m->torque, b->torque, t);
    for (int k = 0; k < 3; k++) {
        m->accel[k] = s->dt * (s->gravity[k] + b->force[k] / b->mass);
        m->free_v[k] = m->v[k] + m->accel[k];
    }
    solve3(m->push_w, m->inertia, m->torque);
    for (int k = 0; k < 3; k++) m->push_w[k] *= s->dt;
    free_spin(m, s->dt);
}
