/* sysid_data.h -- what tests of identification share: scenes, three motions of each with rows of a hundredth of a
 * second, by the library's own step, and fits of them. */
#ifndef SYSID_DATA_H
#define SYSID_DATA_H
#include "test_main.h"
#include <stdint.h>
#include <string.h>
#include <tribo/tribo.h>

enum { ROWS = 61, RECORDINGS = 3, STEPS = 5, NX_MOST = 16, NP_MOST = 256, SITES = 4, OWNERS = 8 };

#define OPTION "<option timestep='0.002' gravity='0 0 -9.81' cone='elliptic'/>"
#define RESTITUTION(e) "<custom><numeric name='floor/restitution' data='" e "'/></custom>"
#define FLOOR(mu) "<geom name='floor' type='plane' size='0 0 1' priority='1' friction='" mu "'/>"
#define CUBE_OPEN                                                                                                      \
    "<body name='cube' pos='0 0 0.1'><freejoint/><geom name='cube' type='box' size='0.1 0.1 0.1' mass='1'/>"
#define BALL_OPEN "<body name='ball' pos='0 0 0.4'><freejoint/><geom name='ball' type='sphere' size='0.1' mass='1'/>"
#define SLIDE(more) "<mujoco>" OPTION "<worldbody>" FLOOR("0.25") CUBE_OPEN more "</body></worldbody></mujoco>"
#define DROP(e, more)                                                                                                  \
    "<mujoco>" OPTION RESTITUTION(e) "<worldbody>" FLOOR("0.3") BALL_OPEN more "</body></worldbody></mujoco>"

typedef struct data {
    tribo_model *m;
    tribo_sizes z;
    tribo_recording rec[RECORDINGS]; /* of x alone, until a test adds to them */
    double time[ROWS], x[RECORDINGS][ROWS * NX_MOST];
} data;

static inline void load(data *d, const char *xml) {
    tribo_diag diag = {0};
    tribo_status s = tribo_model_load_memory(xml, strlen(xml), "test", NULL, &d->m, &diag);
    ck_assert_msg(s == TRIBO_OK, "%s", diag.text);
    d->z = tribo_model_sizes(d->m);
    ck_assert(d->z.np <= NP_MOST && d->z.nsite <= SITES && d->z.nx <= NX_MOST && d->z.ngeom + d->z.nbody <= OWNERS);
    for (int k = 0; k < ROWS; k++) d->time[k] = 0.01 * k;
    for (int i = 0; i < RECORDINGS; i++) d->rec[i] = (tribo_recording){.n = ROWS, .time = d->time, .x = d->x[i]};
}

/* A step that was made on the way to row k of recording i. */
typedef void (*on_step)(void *context, int i, int k, const tribo_ws *ws);

/* Into x, from the scene's start with these speeds, 1.3 and 1.6 times as fast in the others; every step of the scene's
 * in so many parts. */
static inline void simulate(data *d, const char *xml, const double *speed, int parts, on_step told, void *context) {
    double p[NP_MOST];
    tribo_ws *ws = NULL;
    tribo_options o = tribo_default_options();
    load(d, xml);
    o.dt = tribo_model_timestep(d->m) / parts;
    ck_assert_int_eq(tribo_ws_new(d->m, &o, NULL, &ws, NULL), TRIBO_OK);
    tribo_model_params(d->m, p);
    for (int i = 0; i < RECORDINGS; i++) {
        double now[NX_MOST];
        tribo_model_state0(d->m, now);
        for (int j = 0; j < d->z.nv; j++) now[d->z.nq + j] = speed[j] * (1 + 0.3 * i);
        for (int k = 0; k < ROWS; k++) {
            memcpy(d->x[i] + k * d->z.nx, now, (size_t)d->z.nx * sizeof *now);
            for (int j = 0; j < STEPS * parts; j++) {
                ck_assert_int_ge(tribo_step(ws, p, now, NULL, now, NULL), 0);
                if (told) told(context, i, k + 1, ws);
            }
        }
    }
    tribo_ws_free(ws);
}

static inline tribo_free_param named(const data *d, const char *name, double start) {
    tribo_free_param f = tribo_default_free();
    f.index = tribo_param_find(d->m, name), f.start = start;
    ck_assert_msg(f.index >= 0, "%s", name);
    return f;
}

static inline tribo_sysid_def define(const data *d, const tribo_free_param *free, int n) {
    tribo_sysid_def def = tribo_default_sysid();
    def.free = free, def.nfree = n, def.rec = d->rec, def.nrec = RECORDINGS;
    def.loss = TRIBO_LOSS_SHOOTING, def.window = 1, def.robust = TRIBO_ROBUST_HUBER;
    return def;
}

static inline tribo_sysid *make(const data *d, const tribo_sysid_def *def) {
    tribo_sysid *s = NULL;
    tribo_diag diag = {0};
    tribo_status status = tribo_sysid_new(d->m, def, &s, &diag);
    ck_assert_msg(status == TRIBO_OK, "%d %s", (int)status, diag.text);
    return s;
}

/* A fit to its end, with what is known then. */
static inline tribo_sysid *fitted(const data *d, const tribo_sysid_def *def, tribo_estimate *e, tribo_progress *now) {
    tribo_sysid *s = make(d, def);
    tribo_status status = tribo_sysid_fit(s, 200, now);
    ck_assert_msg(status >= 0, "%d", (int)status);
    ck_assert_int_ge(tribo_sysid_observe(s, e, NULL, NULL, NULL, NULL), 0);
    return s;
}

static inline void near_truth(const tribo_estimate *e, double truth, double most, const char *what) {
    double off = e->estimate - truth;
    ck_assert_msg(e->identifiable, "%s", what);
    ck_assert_msg(fabs(off) < 4 * e->std_error && e->std_error < most, "%s: %g +- %g, truth %g", what, e->estimate,
                  e->std_error, truth);
}

#endif
