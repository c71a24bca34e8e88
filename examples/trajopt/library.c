/* library.c -- a finger that spins an ellipse by a library of feedbacks: no plan is made while it moves,
 * [TassaTodorov10] IV-C.
 *
 * The library is taught in three ways, all planned under the stochastic law at steps of 0.05 s as in finger.c: while
 * the plan acts, its velocities perturbed now and then, as in the paper; while the library itself acts under that law;
 * and while it acts under the hard law, at each step. Where it comes to rest plans act for some seconds and are added.
 * A plan that promises next to nothing is no policy: it is begun again from other controls, and if that does not help
 * left out.
 *
 * usage: library [FOLDER]      then all laws and steps for a minute, a thousand pushes, FOLDER/library.txt */
#include "example.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KNOTS = 75, SHIFT = 4, PASSES = 8, NX = 6, NU = 5, NC = 2, PIN = 2, GUESSES = 4, PUSHES = 1000, ROUNDS = 4 };
enum { EXCURSION = 16 }; /* plans where the library came to rest */
/* s; standard deviation of perturbed velocities, rad/s; rad that a plan of 3.75 s and 4 s of motion are to turn */
static const double knot_time = 0.05, perturbed = 2, worth = 1, watch = 4, torque = 20;
static const double steps[] = {0.02, 0.03, 0.05};

typedef struct finger {
    tribo_model *m;
    double p[400];
    tribo_trajopt *plan;
    tribo_policies *library;
    double X[(KNOTS + 1) * NX], U[KNOTS * NC], best[KNOTS * NC];
    double guess[GUESSES][KNOTS * NC];
    unsigned seed;
    int plans, again, stalls;
} finger;

static tribo_law_options law_of(tribo_law law) {
    return (tribo_law_options){.law = law, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = 0.1};
}

static double normal(unsigned *seed) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        sum += ((double)(*seed >> 8) + 0.5) / 16777216.0;
    }
    return sum;
}
static void push(finger *f, double *x) {
    for (int i = NX / 2; i < NX; i++) x[i] += perturbed * normal(&f->seed);
}

/* Half turns of the pin, which the ellipse does not show, are taken off. */
static double unturn(double *x) {
    double turned = M_PI * floor((x[PIN] + M_PI / 2) / M_PI);
    x[PIN] -= turned;
    return turned;
}

/* ---- plans ---- */

static void open_finger(finger *f, const double *x) {
    tribo_term_def term[2] = {tribo_default_term(), tribo_default_term()};
    tribo_trajopt_def def = tribo_default_trajopt();
    const double least[2] = {-torque, -torque}, most[2] = {torque, torque};
    tribo_options o = tribo_default_options();
    *f = (finger){.m = scene("finger"), .seed = 1};
    tribo_model_params(f->m, f->p);
    term[0].kind = TRIBO_TERM_JOINT, term[0].joint = tribo_model_joint_find(f->m, "pin");
    term[0].norm = TRIBO_NORM_LINEAR, term[0].weight = -1, term[0].last = -1;
    term[1].kind = TRIBO_TERM_CONTROL, term[1].weight = 0.1;
    o.dt = knot_time, o.law = law_of(TRIBO_LAW_STOCHASTIC);
    def.knots = KNOTS, def.term = term, def.nterm = 2, def.x0 = x, def.options = &o, def.tol = 1e-5;
    def.lower = least, def.upper = most;
    need(tribo_trajopt_new(f->m, &def, &f->plan, NULL), "plan");
    need(tribo_policies_new(f->m, NC, NULL, &f->library), "library");
    tribo_status s = tribo_trajopt_solve(f->plan, 100, NULL);
    if (s != TRIBO_NOT_CONVERGED) need(s, "first plan");
    /* where a plan does nothing: that first flick; the finger drawn back, three ways */
    static const double back[GUESSES][NC] = {{0}, {-4, -2}, {4, 3}, {0, -4}};
    tribo_trajopt_trajectory(f->plan, NULL, f->guess[0]);
    for (int g = 1; g < GUESSES; g++)
        for (int k = 0; k < 15; k++) memcpy(f->guess[g] + NC * k, back[g], sizeof back[g]);
}

static void close_finger(finger *f) {
    tribo_policies_free(f->library), tribo_trajopt_free(f->plan), tribo_model_free(f->m);
}

/* How far the plan turns the pin, rad. */
static double promise(finger *f) {
    tribo_trajopt_trajectory(f->plan, f->X, f->U);
    return f->X[KNOTS * NX + PIN] - f->X[PIN];
}

/* From x with other controls to begin with. @return the cost; infinite where they fail */
static double begin_again(finger *f, const double *x, const double *U, int passes) {
    tribo_trajopt_progress end;
    if (tribo_trajopt_restart(f->plan, x, U) != TRIBO_OK) return HUGE_VAL;
    return tribo_trajopt_solve(f->plan, passes, &end) < 0 ? HUGE_VAL : end.cost;
}

/* A plan from x: the last one shifted, or from the best of some guesses where that promises little. */
static void plan_again(finger *f, const double *x) {
    double least = HUGE_VAL;
    tribo_trajopt_progress end;
    f->plans++;
    if (tribo_trajopt_shift(f->plan, SHIFT, x) == TRIBO_OK && tribo_trajopt_solve(f->plan, PASSES, &end) >= 0) {
        if (promise(f) > worth) return;
        least = end.cost;
        memcpy(f->best, f->U, sizeof f->best);
    }
    f->again++;
    for (int g = 0; g < GUESSES; g++) {
        double cost = begin_again(f, x, f->guess[g], 20);
        if (!(cost < least)) continue;
        least = cost;
        tribo_trajopt_trajectory(f->plan, NULL, f->best);
    }
    begin_again(f, x, f->best, SHIFT);
}

static void keep_plan(finger *f) {
    if (promise(f) > worth) need(tribo_policies_add(f->library, f->plan, 0, SHIFT - 1), "library");
}

/* ---- the library is taught and tried ---- */

static tribo_ws *world(const finger *f, tribo_law law, double dt) {
    tribo_options o = tribo_default_options();
    tribo_ws *ws = NULL;
    o.dt = dt, o.law = law_of(law);
    need(tribo_ws_new(f->m, &o, NULL, &ws, NULL), "workspace");
    return ws;
}

static void move(const finger *f, tribo_ws *ws, double *x, const double *u) {
    tribo_status s = tribo_step(ws, f->p, x, u, x, NULL);
    if (s < 0) need(s, "step");
}

static void follow_plan(finger *f, int knot, const double *x, double *u) {
    need(tribo_trajopt_feedback(f->plan, knot, x, u), "feedback");
}

static void follow_library(finger *f, const double *x, double *u) {
    need(tribo_policies_control(f->library, NULL, x, u, NULL), "library");
    for (int i = NX / 2; i < NX / 2 + NC; i++) u[i] = fmin(torque, fmax(-torque, u[i]));
}

/* As the plan acts, from x on; velocities perturbed every 15 knots. */
static void teach(finger *f, double *x, int plans) {
    tribo_ws *ws = world(f, TRIBO_LAW_STOCHASTIC, knot_time);
    double u[NU];
    for (int i = 0; i < plans; i++) {
        unturn(x);
        if (i) plan_again(f, x);
        keep_plan(f);
        for (int k = 0; k < SHIFT; k++) {
            follow_plan(f, k, x, u), move(f, ws, x, u);
            if ((i * SHIFT + k) % 15 == 14) push(f, x);
        }
    }
    tribo_ws_free(ws);
}

/* As the library acts; where in four seconds it turns less than a radian that is a stall, after which plans act for a
 * while, and are added, if it is taught. @return rad turned */
static double spin(finger *f, tribo_law law, double dt, double time, bool taught) {
    tribo_ws *ws = world(f, law, dt);
    double x[NX] = {-0.6, -0.4, 0.3}, u[NU] = {0}, turned = 0, last = x[PIN], from = x[PIN];
    int each = (int)(SHIFT * knot_time / dt + 0.5), look = (int)(watch / dt + 0.5), planned = 0, looked = 0;
    f->stalls = 0;
    for (int i = 0, n = (int)(time / dt + 0.5); i < n; i++) {
        turned += unturn(x);
        if (planned && --planned % each == each - 1) plan_again(f, x), keep_plan(f);
        if (planned)
            follow_plan(f, (int)((each - 1 - planned % each) * dt / knot_time + 1e-9), x, u);
        else
            follow_library(f, x, u);
        move(f, ws, x, u);
        if (planned || ++looked < look) continue;
        if (turned + x[PIN] - last < worth) f->stalls++, planned = taught ? EXCURSION * each : 0;
        last = turned + x[PIN], looked = 0;
    }
    tribo_ws_free(ws);
    return turned + x[PIN] - from;
}

static void practise(finger *f, tribo_law law, double dt, double time) {
    double turned = spin(f, law, dt, time, true);
    printf("taught under %s at %g s: %.0f s, turned %.1f rad, %d stalls; %d policies\n", tribo_law_name(law), dt, time,
           turned, f->stalls, tribo_policies_size(f->library));
    fflush(stdout);
}

/* Share of pushes after which it turns by half a turn within 12 s. */
static double pushes(finger *f, tribo_law law, double dt) {
    tribo_ws *ws = world(f, law, dt);
    double x[NX] = {-0.6, -0.4, 0.3}, u[NU] = {0};
    int recovered = 0;
    for (int k = 0; k < PUSHES; k++) {
        double turned = 0, from = x[PIN], again = 2 + 2 * fabs(normal(&f->seed));
        bool half = false;
        push(f, x);
        for (double t = 0; t < 12 && !(half && t > again); t += dt) {
            turned += unturn(x);
            follow_library(f, x, u), move(f, ws, x, u);
            half = half || turned + x[PIN] - from > M_PI;
        }
        recovered += half;
        if (!half) memcpy(x, (double[NX]){-0.6, -0.4, 0.3}, sizeof x);
    }
    tribo_ws_free(ws);
    return recovered / (double)PUSHES;
}

static void all(finger *f) {
    const tribo_law laws[] = {TRIBO_LAW_STOCHASTIC, TRIBO_LAW_NCP, TRIBO_LAW_CCP, TRIBO_LAW_LCP};
    practise(f, TRIBO_LAW_STOCHASTIC, knot_time, 120);
    for (int round = 0, stalls = 1; round < ROUNDS && stalls; round++) {
        stalls = 0;
        for (int h = 0; h < 3; h++) practise(f, TRIBO_LAW_NCP, steps[h], 60), stalls += f->stalls;
    }
    for (int l = 0; l < 4; l++)
        for (int h = 0; h < 3; h++) {
            double turned = spin(f, laws[l], steps[h], 60, false);
            printf("%s_%g_turned %.3g\n%s_%g_stalls %d\n", tribo_law_name(laws[l]), steps[h], turned,
                   tribo_law_name(laws[l]), steps[h], f->stalls);
            fflush(stdout);
        }
    printf("plans %d\nbegun_again %d\npolicies %d\n", f->plans, f->again, tribo_policies_size(f->library));
    printf("stochastic_pushes %.3f\n", pushes(f, TRIBO_LAW_STOCHASTIC, knot_time));
    printf("ncp_pushes %.3f\n", pushes(f, TRIBO_LAW_NCP, 0.03));
}

int main(int argc, char **argv) {
    static finger f;
    char path[1024];
    double x[NX] = {-3, 0, 0.3};
    open_finger(&f, x);
    teach(&f, x, argc > 1 ? 100 : 15);
    printf("policies %d\n", tribo_policies_size(f.library));
    if (argc > 1) {
        all(&f);
        snprintf(path, sizeof path, "%s/library.txt", argv[1]);
        need(tribo_policies_save(f.library, path, NULL), "library");
    } else {
        double turned = spin(&f, TRIBO_LAW_NCP, knot_time, 10, true);
        printf("ncp_turned %.3g\n", turned);
    }
    close_finger(&f);
    return 0;
}
