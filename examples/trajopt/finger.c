/* finger.c -- a finger of two ellipses that flicks a third round its pin, [TassaTodorov10]: differential dynamic
 * programming under the stochastic contact law, planned again and again while another law acts.
 *
 * data/scenes/finger.xml has the paper's bodies, limits, drag, gravity and friction. Cost of a knot: -theta3 + 0.05
 * |u|^2; 75 knots of 0.05 s; logistic noise. Every four knots the plan is shifted, and improved by at most eight
 * passes.
 *
 * usage: finger [FOLDER]      then all laws for a minute, and FOLDER/finger-turns.svg, FOLDER/finger-cycle.svg,
 * FOLDER/finger-flicks.svg */
#include "example.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KNOTS = 75, SHIFT = 4, PASSES = 8, NX = 6, NU = 5, PIN = 2, MINUTE = 60, SAMPLES = 301 };
static const double knot_time = 0.05, starts[][2] = {{-0.6, -0.4}, {0, 0}, {-0.5, -1}, {-3, 0}};

/* Angles, and what pushes the ellipse, step by step. */
enum { RECORD = 2000, FINGER_STATES = 3 };
typedef struct record {
    int n;
    double time[RECORD], angle[FINGER_STATES][RECORD], push[RECORD]; /* s; rad; N */
} record;

/* The plan, and the law that acts. */
typedef struct world {
    tribo_model *m;
    double p[400], x[NX];
    tribo_trajopt *plan;
    tribo_ws *act;
    double turned; /* half turns of the pin, which the ellipse does not show: the plan knows theta3 less these */
    long passes, plans;
} world;

static tribo_law_options law_of(tribo_law law, double noise) {
    return (tribo_law_options){.law = law, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = noise};
}

static void open_plan(world *w, double noise, double tol) {
    tribo_term_def term[2] = {tribo_default_term(), tribo_default_term()};
    tribo_trajopt_def def = tribo_default_trajopt();
    static const double least[2] = {-20, -20}, most[2] = {20, 20}; /* N m: the paper has none */
    tribo_options o = tribo_default_options();
    term[0].kind = TRIBO_TERM_JOINT, term[0].joint = tribo_model_joint_find(w->m, "pin");
    term[0].norm = TRIBO_NORM_LINEAR, term[0].weight = -1, term[0].last = -1;
    term[1].kind = TRIBO_TERM_CONTROL, term[1].weight = 0.1;
    o.dt = knot_time, o.law = law_of(TRIBO_LAW_STOCHASTIC, noise);
    def.knots = KNOTS, def.term = term, def.nterm = 2, def.x0 = w->x, def.options = &o, def.tol = tol;
    def.lower = least, def.upper = most;
    need(tribo_trajopt_new(w->m, &def, &w->plan, NULL), "plan");
}

static void open_world(world *w, const double *start) {
    *w = (world){.m = scene("finger"), .x = {start[0], start[1], 0.3}};
    tribo_model_params(w->m, w->p);
}

static void close_world(world *w) {
    tribo_trajopt_free(w->plan), tribo_ws_free(w->act), tribo_model_free(w->m);
}

/* ---- one plan from zero controls ---- */

static void cold(const double *start, double noise, tribo_trajopt_progress *end, double *milliseconds) {
    world w;
    open_world(&w, start);
    open_plan(&w, noise, 1e-5);
    double begin = seconds();
    tribo_status s = tribo_trajopt_solve(w.plan, 400, end);
    if (s != TRIBO_NOT_CONVERGED) need(s, "cold plan");
    *milliseconds = 1e3 * (seconds() - begin) / end->iteration;
    close_world(&w);
}

/* ---- planned while it moves ---- */

/* A new plan from where the bodies are. */
static void plan_again(world *w) {
    tribo_trajopt_progress progress;
    double x[NX];
    w->turned = M_PI * floor((w->x[PIN] + M_PI / 2) / M_PI);
    memcpy(x, w->x, sizeof x);
    x[PIN] -= w->turned;
    need(tribo_trajopt_shift(w->plan, SHIFT, x), "shift");
    tribo_status s = tribo_trajopt_solve(w->plan, PASSES, &progress);
    if (s != TRIBO_NOT_CONVERGED) need(s, "plan");
    w->passes += progress.iteration, w->plans++;
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
    o.dt = dt, o.law = law_of(law, noise);
    need(tribo_ws_new(w->m, &o, NULL, &w->act, NULL), "workspace");
    for (int i = 0; i <= steps; i++) {
        if (turns && i * (SAMPLES - 1) % steps < SAMPLES - 1) turns[i * (SAMPLES - 1) / steps] = w->x[PIN] - from;
        if (i > 0 && i % each == 0) plan_again(w);
        memcpy(x, w->x, sizeof x);
        x[PIN] -= w->turned;
        need(tribo_trajopt_feedback(w->plan, (int)(i % each * dt / knot_time + 1e-9), x, u), "feedback");
        tribo_status s = tribo_step(w->act, w->p, w->x, u, w->x, NULL);
        if (s != TRIBO_NOT_CONVERGED) need(s, "step");
        if (r && r->n < RECORD) keep(r, w, (i + 1) * dt, dt);
    }
    return w->x[PIN] - from;
}

static double closed_loop(tribo_law law, double dt, double time, double *turns, record *r, double *passes) {
    const double noise = 0.1;
    world w;
    open_world(&w, starts[3]);
    open_plan(&w, noise, 1e-5);
    tribo_status s = tribo_trajopt_solve(w.plan, 60, NULL);
    if (s != TRIBO_NOT_CONVERGED) need(s, "first plan");
    double turned = act(&w, law, noise, dt, time, turns, r);
    *passes = (double)w.passes / (double)w.plans;
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
            double passes, turned = closed_loop(laws[k], steps[h], MINUTE, h == 2 ? turns[k] : NULL, NULL, &passes);
            printf("%s_%g_turned %.4g\n%s_%g_passes %.3g\n", tribo_law_name(laws[k]), steps[h], turned,
                   tribo_law_name(laws[k]), steps[h], passes);
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
    double passes, strongest, turned = closed_loop(TRIBO_LAW_NCP, 0.03, 12, NULL, &r, &passes);
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
    double milliseconds, passes;
    int most = 0;
    for (int noisy = 0; noisy < 2; noisy++)
        for (int i = 0; i < 3; i++) {
            tribo_trajopt_progress end;
            cold(starts[i], noisy ? 0.1 : 0.02, &end, &milliseconds);
            printf("cold_%g_%d_passes %d\ncold_%g_%d_cost %.8g\ncold_%g_%d_converged %d\n", noisy ? 0.1 : 0.02, i,
                   end.iteration, noisy ? 0.1 : 0.02, i, end.cost, noisy ? 0.1 : 0.02, i, end.converged);
            if (noisy && end.iteration > most) most = end.iteration;
        }
    printf("cold_passes_most %d\nmilliseconds_a_pass %.3g\n", most, milliseconds);
    if (argc > 1) {
        cycle(argv[1]), all_laws(argv[1]);
        return 0;
    }
    static record r;
    double strongest;
    printf("ncp_turned %.4g\n", closed_loop(TRIBO_LAW_NCP, 0.05, 12, NULL, &r, &passes));
    printf("ncp_flicks %d\n", flicks(&r, &strongest));
    printf("passes_a_plan %.3g\n", passes);
    return 0;
}
