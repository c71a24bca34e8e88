/* struck.c -- two impacts whose gradients others have as NaN: a ball flies into a box, and a capsule is pushed so that
 * it knocks a ball to where it shall come to be.
 *
 * MJX gives NaN for the first by google-deepmind/mujoco#2841, for the second by #2237: there the gradient goes through
 * every branch of the collision and of its solver, also those not taken. Here both are the closed form's. */
#include "example.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 300, HIT = 100 };

static const char BALL_AND_BOX[] = "<mujoco><option timestep='0.001' gravity='0 0 0'/><worldbody>"
                                   "<body name='ball'><freejoint/><geom name='ball' size='0.05' mass='0.5'/></body>"
                                   "<body name='box' pos='0.2 0 0'><freejoint/><geom name='box' type='box' size='0.1 "
                                   "0.1 0.1' mass='2' priority='1'/></body>"
                                   "</worldbody><custom><numeric name='box/restitution' data='0.6'/></custom></mujoco>";
static const char CAPSULE_AND_BALL[] =
    "<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>"
    "<body name='capsule' pos='-1 0 0'><freejoint/><geom name='capsule' type='capsule' size='0.1 0.3' mass='2'/></body>"
    "<body name='ball' pos='-0.5 0 0'><freejoint/><geom name='ball' size='0.1' mass='1' priority='1'/></body>"
    "</worldbody><custom><numeric name='ball/restitution' data='0.8'/></custom></mujoco>";

/* A scene with room for a rollout and its gradient. */
typedef struct run {
    tribo_model *m;
    tribo_ws *ws;
    tribo_tape *tape;
    tribo_sizes n;
    double *p, *X, *U, *lx, *x_bar, *u_bar, *p_bar;
} run;

static run open_text(const char *text) {
    run r = {0};
    need(tribo_model_load_memory(text, strlen(text), "scene", NULL, &r.m, NULL), "scene");
    need(tribo_ws_new(r.m, NULL, NULL, &r.ws, NULL), "workspace");
    need(tribo_tape_new(r.ws, STEPS, 0, &r.tape), "tape");
    r.n = tribo_model_sizes(r.m);
    r.p = numbers((size_t)r.n.np), r.X = numbers((STEPS + 1) * (size_t)r.n.nx);
    r.U = numbers(STEPS * (size_t)r.n.nu), r.lx = numbers((STEPS + 1) * (size_t)r.n.ndx);
    r.x_bar = numbers((size_t)r.n.ndx), r.u_bar = numbers(STEPS * (size_t)r.n.nu), r.p_bar = numbers((size_t)r.n.np);
    tribo_model_params(r.m, r.p), tribo_model_state0(r.m, r.X);
    return r;
}

static void close_run(run *r) {
    double *all[] = {r->p, r->X, r->U, r->lx, r->x_bar, r->u_bar, r->p_bar};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    tribo_tape_free(r->tape), tribo_ws_free(r->ws), tribo_model_free(r->m);
}

/* Roll out `steps`, and differentiate coordinate i of the last tangent. */
static void differentiate(run *r, int steps, int i) {
    size_t ndx = (size_t)r->n.ndx;
    tribo_tape_rewind(r->tape);
    need(tribo_rollout(r->ws, r->p, r->X, steps, r->U, r->X, r->tape), "rollout");
    memset(r->lx, 0, sizeof *r->lx * (STEPS + 1) * ndx), memset(r->x_bar, 0, sizeof *r->x_bar * ndx);
    memset(r->u_bar, 0, sizeof *r->u_bar * STEPS * (size_t)r->n.nu),
        memset(r->p_bar, 0, sizeof *r->p_bar * (size_t)r->n.np);
    r->lx[(size_t)steps * ndx + (size_t)i] = 1;
    need(tribo_backward(r->ws, r->tape, r->lx, r->x_bar, r->u_bar, r->p_bar), "reverse");
}

/* The ball's speed after the impact, v (m - e M) / (m + M). */
static void ball_and_box(void) {
    const double v = 2, m = 0.5, M = 2, e = 0.6, all = m + M;
    run r = open_text(BALL_AND_BOX);
    r.X[r.n.nq] = v;
    differentiate(&r, HIT, r.n.nv);
    double after = r.X[HIT * r.n.nx + r.n.nq], by_v = r.x_bar[r.n.nv], by_m = r.p_bar[parameter(r.m, "ball/mass")],
           by_e = r.p_bar[parameter(r.m, "box/restitution")];
    printf("speed after %.12f\nd/d(speed before) %.12f\nd/d(mass) %.12f\nd/d(restitution) %.12f\n", after, by_v, by_m,
           by_e);
    double off = fabs(after - v * (m - e * M) / all) + fabs(by_v - (m - e * M) / all);
    off += fabs(by_m - v * M * (1 + e) / (all * all)) + fabs(by_e + v * M / all);
    printf("ball_off %.3g\n", off);
    close_run(&r);
}

/* A push in the first step so that the ball is at the origin after 3 s: where it comes to is linear in the push, and
 * one Newton step is enough. */
static void capsule_and_ball(void) {
    const double h = 0.01, gap = 0.3, m = 2, M = 1, e = 0.8, passed = (1 + e) * m / (m + M);
    run r = open_text(CAPSULE_AND_BALL);
    double at = 0, slope = 0;
    r.U[0] = 100;
    for (int k = 0; k < 2; k++) {
        differentiate(&r, STEPS, 6); /* the ball's place along x */
        at = r.X[STEPS * r.n.nx + 7], slope = r.u_bar[0];
        printf("push %.9f N: ball comes to %.12f m, d/d(push) %.12f\n", r.U[0], at, slope);
        if (k == 0) r.U[0] -= at / slope;
    }
    double v = 0.5 / (passed * STEPS * h) + gap / (STEPS * h); /* x = -0.5 + passed (v T - gap) */
    printf("capsule_left %.3g\ncapsule_push_off %.3g\ncapsule_slope_off %.3g\n", fabs(at), fabs(r.U[0] - m * v / h),
           fabs(slope - passed * STEPS * h * h / m));
    close_run(&r);
}

int main(void) {
    ball_and_box();
    capsule_and_ball();
    return 0;
}
