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
#include "flick.h"
#include <stdio.h>
#include <string.h>

enum { PUSHES = 1000, ROUNDS = 12 };
enum { EXCURSION = 16 }; /* plans where the library came to rest */
/* standard deviation of perturbed velocities, rad/s; s in which it is to turn as far as a plan; noise, m/s; rad/s */
static const double perturbed = 2, watch = 4, noise = 0.1, slowest = 0.4;
static const double steps[] = {0.02, 0.03, 0.05};

typedef struct finger {
    flick f;
    tribo_policies *library;
    unsigned seed;
    int stalls;
} finger;

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

/* ---- plans ---- */

static void open_finger(finger *f, const double *x) {
    *f = (finger){.seed = 1};
    flick_open(&f->f, x, noise, TRIBO_METHOD_DDP);
    f->f.begins_again = true;
    need(tribo_policies_new(f->f.m, NC, NULL, &f->library), "library");
    (void)flick_first(&f->f, 100);
}

static void close_finger(finger *f) {
    tribo_policies_free(f->library), flick_close(&f->f);
}

static void keep_plan(finger *f) {
    if (flick_promise(&f->f) > worth) need(tribo_policies_add(f->library, f->f.plan, 0, SHIFT - 1), "library");
}

/* ---- the library is taught and tried ---- */

static tribo_ws *world(const finger *f, tribo_law law, double dt) {
    tribo_options o = tribo_default_options();
    tribo_ws *ws = NULL;
    o.dt = dt, o.law = flick_law(law, noise);
    need(tribo_ws_new(f->f.m, &o, NULL, &ws, NULL), "workspace");
    return ws;
}

static const double rest[NX] = {-0.6, -0.4, 0.3};

static void move(const finger *f, tribo_ws *ws, double *x, const double *u) {
    tribo_status s = tribo_step(ws, f->f.p, x, u, x, NULL);
    if (s < 0) need(s, "step");
}

static void follow_plan(finger *f, int knot, const double *x, double *u) {
    need(tribo_trajopt_feedback(f->f.plan, knot, x, u), "feedback");
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
        flick_unturn(x);
        if (i) flick_again(&f->f, x);
        keep_plan(f);
        for (int k = 0; k < SHIFT; k++) {
            follow_plan(f, k, x, u), move(f, ws, x, u);
            if ((i * SHIFT + k) % 15 == 14) push(f, x);
        }
    }
    tribo_ws_free(ws);
}

/* As the library acts; where in four seconds it turns less than a radian that is a stall, after which plans act for a
 * while, and are added, if it is taught; `pushed` besides, after each such time. @return rad turned */
static double spin(finger *f, tribo_law law, double dt, double time, bool taught, bool pushed) {
    tribo_ws *ws = world(f, law, dt);
    double x[NX], u[NU] = {0}, turned = 0, last = rest[PIN], from = rest[PIN];
    int each = (int)(SHIFT * knot_time / dt + 0.5), look = (int)(watch / dt + 0.5), planned = 0, looked = 0;
    memcpy(x, rest, sizeof rest);
    f->stalls = 0;
    for (int i = 0, n = (int)(time / dt + 0.5); i < n; i++) {
        turned += flick_unturn(x);
        if (planned && --planned % each == each - 1) flick_again(&f->f, x), keep_plan(f);
        if (planned)
            follow_plan(f, (int)((each - 1 - planned % each) * dt / knot_time + 1e-9), x, u);
        else
            follow_library(f, x, u);
        move(f, ws, x, u);
        if (planned || ++looked < look) continue;
        if (turned + x[PIN] - last < worth)
            f->stalls++, planned = taught ? EXCURSION * each : 0;
        else if (pushed)
            push(f, x);
        last = turned + x[PIN], looked = 0;
    }
    tribo_ws_free(ws);
    return turned + x[PIN] - from;
}

static void practise(finger *f, tribo_law law, double dt, double time, bool pushed) {
    double turned = spin(f, law, dt, time, true, pushed);
    printf("taught under %s at %g s: %.0f s%s, turned %.1f rad, %d stalls; %d policies\n", tribo_law_name(law), dt,
           time, pushed ? ", pushed" : "", turned, f->stalls, tribo_policies_size(f->library));
    fflush(stdout);
}

/* Share of pushes after which it turns by half a turn within 12 s: the same pushes for every law and step, none of
 * which it was taught with. */
static double pushes(finger *f, tribo_law law, double dt) {
    tribo_ws *ws = world(f, law, dt);
    double x[NX], u[NU] = {0};
    int recovered = 0;
    memcpy(x, rest, sizeof rest);
    f->seed = 20101;
    for (int k = 0; k < PUSHES; k++) {
        double turned = 0, from = x[PIN], again = 2 + 2 * fabs(normal(&f->seed));
        bool half = false;
        push(f, x);
        for (double t = 0; t < 12 && !(half && t > again); t += dt) {
            turned += flick_unturn(x);
            follow_library(f, x, u), move(f, ws, x, u);
            half = half || turned + x[PIN] - from > M_PI;
        }
        recovered += half;
        if (!half) memcpy(x, rest, sizeof rest);
    }
    tribo_ws_free(ws);
    return recovered / (double)PUSHES;
}

static const tribo_law laws[] = {TRIBO_LAW_STOCHASTIC, TRIBO_LAW_NCP, TRIBO_LAW_CCP, TRIBO_LAW_LCP};

/* Whether it turns to the end of a minute, by itself, under every law at every step. */
static bool spins(finger *f) {
    bool good = true;
    for (int l = 0; l < 4 && good; l++)
        for (int h = 0; h < 3 && good; h++) good = spin(f, laws[l], steps[h], 60, false, false) > 60 * slowest;
    return good;
}

static void all(finger *f) {
    practise(f, TRIBO_LAW_STOCHASTIC, knot_time, 120, false);
    for (int l = 0; l < 2; l++)
        for (int h = 0; h < 3; h++) practise(f, laws[l], steps[h], 300, true);
    for (int round = 0; round < ROUNDS && !spins(f); round++)
        for (int l = 0; l < 2; l++)
            for (int h = 0; h < 3; h++) practise(f, laws[l], steps[h], 60, false);
    for (int l = 0; l < 4; l++)
        for (int h = 0; h < 3; h++) {
            double turned = spin(f, laws[l], steps[h], 60, false, false);
            printf("%s_%g_turned %.3g\n%s_%g_stalls %d\n", tribo_law_name(laws[l]), steps[h], turned,
                   tribo_law_name(laws[l]), steps[h], f->stalls);
            fflush(stdout);
        }
    printf("plans %d\nbegun_again %d\npolicies %d\n", f->f.plans, f->f.again, tribo_policies_size(f->library));
    for (int l = 0; l < 4; l++)
        for (int h = 0; h < 3; h++) {
            printf("%s_%g_pushes %.3f\n", tribo_law_name(laws[l]), steps[h], pushes(f, laws[l], steps[h]));
            fflush(stdout);
        }
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
        practise(&f, TRIBO_LAW_NCP, knot_time, 10, false);
        printf("ncp_turned %.3g\n", spin(&f, TRIBO_LAW_NCP, knot_time, 20, true, false));
    }
    close_finger(&f);
    return 0;
}
