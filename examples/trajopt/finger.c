/* finger.c -- a finger of two ellipses that flicks a third round its pin, [TassaTodorov10]: differential dynamic
 * programming under the stochastic contact law, planned again and again while another law acts.
 *
 * data/scenes/finger.xml has the paper's bodies, limits, drag, gravity and friction. Cost of a knot: -theta3 + 0.05
 * |u|^2; 75 knots of 0.05 s; logistic noise. Every four knots the plan is shifted, and improved by at most eight
 * passes. At the shortest step once more, with plans that promise to turn the ellipse by less than a radian begun again
 * from other controls.
 *
 * usage: finger [FOLDER]      then all laws for a minute, and FOLDER/finger-turns.svg, FOLDER/finger-cycle.svg,
 * FOLDER/finger-flicks.svg */
#include "flick.h"
#include <stdio.h>
#include <string.h>

enum { MINUTE = 60, SAMPLES = 301 };
enum { STARTS = 4, NOISES = 4 };
static const double starts[STARTS][2] = {{-0.6, -0.4}, {0, 0}, {-0.5, -1}, {-3, 0}},
                    noises[NOISES] = {0.1, 0.05, 0.02, 0.01};

/* Angles, and what pushes the ellipse, step by step. */
enum { RECORD = 2000, FINGER_STATES = 3 };
typedef struct record {
    int n;
    double time[RECORD], angle[FINGER_STATES][RECORD], push[RECORD]; /* s; rad; N */
} record;

/* The plan, and the law that acts. */
typedef struct world {
    flick f;
    double x[NX];
    tribo_ws *act;
    double turned; /* half turns of the pin: the plan knows theta3 less these */
} world;

static void open_world(world *w, const double *start, double noise) {
    *w = (world){.x = {start[0], start[1], 0.3}};
    flick_open(&w->f, w->x, noise, TRIBO_METHOD_NEWTON);
}

static void close_world(world *w) {
    tribo_ws_free(w->act), flick_close(&w->f);
}

/* ---- one plan from zero controls ---- */

static void cold(const double *start, double noise, tribo_trajopt_progress *end, double *milliseconds) {
    world w;
    open_world(&w, start, noise);
    double begin = seconds();
    *end = flick_first(&w.f, 400);
    *milliseconds = 1e3 * (seconds() - begin) / end->iteration;
    close_world(&w);
}

/* ---- planned while it moves ---- */

/* A new plan from where the bodies are. */
static void plan_again(world *w) {
    double x[NX];
    memcpy(x, w->x, sizeof x);
    w->turned = flick_unturn(x);
    flick_again(&w->f, x);
}

static void keep(record *r, const world *w, double time, double dt) {
    int n, k = r->n++;
    const tribo_contact *c = tribo_last_contacts(w->act, &n);
    r->time[k] = time, r->push[k] = 0;
    for (int i = 0; i < FINGER_STATES; i++) r->angle[i][k] = w->x[i];
    for (int i = 0; i < n; i++) r->push[k] += c[i].impulse[2] / dt;
}

/* @param turns [out] (SAMPLES) theta3 at even times. @param r [in,out]. Either may be NULL. @return theta3 turned */
static double act(world *w, tribo_law law, double noise, double dt, double time, double *turns, record *r) {
    tribo_options o = tribo_default_options();
    double u[NU], x[NX], from = w->x[PIN];
    int steps = (int)(time / dt + 0.5), each = (int)(SHIFT * knot_time / dt + 0.5);
    o.dt = dt, o.law = flick_law(law, noise);
    need(tribo_ws_new(w->f.m, &o, NULL, &w->act, NULL), "workspace");
    for (int i = 0; i <= steps; i++) {
        if (turns && i * (SAMPLES - 1) % steps < SAMPLES - 1) turns[i * (SAMPLES - 1) / steps] = w->x[PIN] - from;
        if (i > 0 && i % each == 0) plan_again(w);
        memcpy(x, w->x, sizeof x);
        x[PIN] -= w->turned;
        need(tribo_trajopt_feedback(w->f.plan, (int)(i % each * dt / knot_time + 1e-9), x, u), "feedback");
        tribo_status s = tribo_step(w->act, w->f.p, w->x, u, w->x, NULL);
        if (s != TRIBO_NOT_CONVERGED) need(s, "step");
        if (r && r->n < RECORD) keep(r, w, (i + 1) * dt, dt);
    }
    return w->x[PIN] - from;
}

/* What acts, at which step, how long; whether plans that promise nothing are begun again, and how many were. */
typedef struct loop {
    tribo_law law;
    double dt, time;
    bool begins_again;
    int again;
    double passes; /* a plan, when it was shifted */
} loop;

static double closed_loop(loop *l, double *turns, record *r) {
    const double noise = 0.1;
    world w;
    open_world(&w, starts[3], noise);
    w.f.begins_again = l->begins_again;
    (void)flick_first(&w.f, 60);
    double turned = act(&w, l->law, noise, l->dt, l->time, turns, r);
    l->passes = (double)w.f.passes / w.f.plans, l->again = w.f.again;
    close_world(&w);
    return turned;
}

/* Every law at three steps; the turns at 0.05 s in a figure. */
static void all_laws(const char *folder) {
    static double turns[4][SAMPLES], t[SAMPLES];
    const tribo_law laws[] = {TRIBO_LAW_STOCHASTIC, TRIBO_LAW_NCP, TRIBO_LAW_CCP, TRIBO_LAW_LCP};
    const double steps[] = {0.02, 0.03, 0.05};
    plot_series s[4];
    for (int i = 0; i < SAMPLES; i++) t[i] = (double)MINUTE * i / (SAMPLES - 1);
    for (int k = 0; k < 4; k++) {
        for (int h = 0; h < 3; h++) {
            loop l = {.law = laws[k], .dt = steps[h], .time = MINUTE};
            double turned = closed_loop(&l, h == 2 ? turns[k] : NULL, NULL);
            printf("%s_%g_turned %.4g\n%s_%g_passes %.3g\n", tribo_law_name(laws[k]), steps[h], turned,
                   tribo_law_name(laws[k]), steps[h], l.passes);
            fflush(stdout);
        }
        s[k] = (plot_series){tribo_law_name(laws[k]), t, turns[k], SAMPLES, PLOT_LINE, k + 1};
    }
    plot p = {.title = "The ellipse turns, flicked by a finger that plans as it moves",
              .x_label = "s",
              .y_label = "rad",
              .series = s,
              .nseries = 4};
    figure(&p, folder, "finger-turns");
}

/* The same at the shortest step, with plans begun again. */
static void all_begun_again(void) {
    const tribo_law laws[] = {TRIBO_LAW_NCP, TRIBO_LAW_CCP, TRIBO_LAW_LCP, TRIBO_LAW_STOCHASTIC};
    for (int k = 0; k < 4; k++) {
        loop l = {.law = laws[k], .dt = 0.02, .time = MINUTE, .begins_again = true};
        const char *law = tribo_law_name(l.law);
        printf("%s_0.02_begun_again_turned %.4g\n", law, closed_loop(&l, NULL, NULL));
        printf("%s_0.02_begun_again %d\n", law, l.again);
        fflush(stdout);
    }
}

/* How often the finger comes to touch the ellipse, and the strongest of its pushes, N. */
static int flicks(const record *r, double *strongest) {
    int n = 0;
    *strongest = 0;
    for (int k = 1; k < r->n; k++)
        n += r->push[k] > 0 && !(r->push[k - 1] > 0), *strongest = fmax(*strongest, r->push[k]);
    return n;
}

/* The hard law in steps of 0.03 s, which the plan does not know. */
static void cycle(const char *folder) {
    static record r;
    static const char *const joints[] = {"shoulder", "elbow", "ellipse"};
    loop l = {.law = TRIBO_LAW_NCP, .dt = 0.03, .time = 12};
    double strongest, turned = closed_loop(&l, NULL, &r);
    plot_series angles[FINGER_STATES], push = {NULL, r.time, r.push, (size_t)r.n, PLOT_LINE, 0};
    for (int i = 0; i < FINGER_STATES; i++)
        angles[i] = (plot_series){joints[i], r.time, r.angle[i], (size_t)r.n, PLOT_LINE, 0};
    printf("cycle_flicks %d\n", flicks(&r, &strongest));
    printf("cycle_turned %.4g\ncycle_strongest %.4g\n", turned, strongest);
    plot p = {.title = "The finger and the ellipse under the hard law, in steps of 0.03 s",
              .x_label = "s",
              .y_label = "rad",
              .series = angles,
              .nseries = FINGER_STATES};
    figure(&p, folder, "finger-cycle");
    p.title = "The same: what pushes the ellipse", p.y_label = "N", p.series = &push, p.nseries = 1;
    figure(&p, folder, "finger-flicks");
}

int main(int argc, char **argv) {
    double milliseconds, slowest = 0;
    int most = 0, converged = 0;
    for (int n = 0; n < NOISES; n++)
        for (int i = 0; i < STARTS; i++) {
            tribo_trajopt_progress end;
            cold(starts[i], noises[n], &end, &milliseconds);
            printf("cold_%g_%d_passes %d\ncold_%g_%d_cost %.8g\ncold_%g_%d_converged %d\n", noises[n], i, end.iteration,
                   noises[n], i, end.cost, noises[n], i, end.converged);
            if (end.iteration > most) most = end.iteration;
            if (milliseconds > slowest) slowest = milliseconds;
            converged += end.converged;
        }
    printf("cold_passes_most %d\ncold_converged %d\nmilliseconds_a_pass_most %.3g\n", most, converged, slowest);
    if (argc > 1) {
        cycle(argv[1]), all_laws(argv[1]), all_begun_again();
        return 0;
    }
    static record r;
    loop l = {.law = TRIBO_LAW_NCP, .dt = 0.05, .time = 12};
    double strongest;
    printf("ncp_turned %.4g\n", closed_loop(&l, NULL, &r));
    printf("ncp_flicks %d\n", flicks(&r, &strongest));
    printf("passes_a_plan %.3g\n", l.passes);
    return 0;
}
