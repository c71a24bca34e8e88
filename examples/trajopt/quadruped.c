/* quadruped.c -- a quadruped gets up and trots by model predictive control through contact, on a flat floor and on a
 * bumpy, slippery one, planned under one contact law and simulated under another.
 *
 * Every 20 ms a plan of 35 knots of 10 ms moves on and is improved by two passes of iterative LQR on the exact
 * Jacobians of the hard step; in between its feedback acts, on steps of 2 ms. Controls are the targets of the twelve
 * servos. Which feet are on the floor is the plan's own affair, but a term suggests a trot: each foot's height against
 * a phase.
 *
 * usage: quadruped [FOLDER]      then twenty starts, all laws on both floors, FOLDER/quadruped-*.svg */
#include "example.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FEET = 4, JOINTS = 12, NX = 37, NV = 18, NDX = 36, NU = 30, NP = 600, BASE_VX = 19 };
enum { KNOTS = 35, EVERY = 2, SUBSTEPS = 5, PASSES = 2, FIRST_PASSES = 20, SAMPLES = 700, LAWS = 5, SEEDS = 20 };
/* s; m/s; m. A foot is up for 40 % of a period, diagonal pairs in turn, from when the robot has got up. */
static const double knot = 0.01, commanded = 0.3, period = 0.4, swing = 0.4, lift = 0.06, up_by = 0.5, walk_for = 5;
static const double height = 0.23, radius = 0.0165, hip[2] = {0.1946, 0.147};
static const char *const foot[FEET] = {"fl foot", "fr foot", "hl foot", "hr foot"};

typedef struct law_case {
    const char *name;
    tribo_law_options law;
} law_case;
static const law_case laws[LAWS] = {
    {"ncp", {.law = TRIBO_LAW_NCP}},
    {"ccp", {.law = TRIBO_LAW_CCP}},
    {"lcp", {.law = TRIBO_LAW_LCP}},
    {"raisim", {.law = TRIBO_LAW_RAISIM}},
    {"raisim-corrected", {.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION_CORRECTED}}};

/* What is walked on, planned by, simulated under. */
typedef struct setting {
    bool bumpy;
    const law_case *plan, *act;
    unsigned seed; /* of a perturbed start; 0 = none */
    double time;   /* s of walking */
} setting;

typedef struct outcome {
    double walked;           /* s, until it fell or the end */
    double velocity;         /* m/s, mean after the first second */
    double slowest, fastest; /* of all periods after the first second */
    double lifted[FEET];     /* m, highest */
    double complementarity;  /* largest residual of the NCP */
    double step_us, plan_ms; /* mean, of the processor's time */
    int n;
    double at[SAMPLES], speed[SAMPLES], residual[SAMPLES]; /* s; m/s over the last period; of the NCP */
} outcome;

typedef struct walker {
    const setting *how;
    tribo_model *m;
    tribo_trajopt *plan;
    tribo_ws *act;
    tribo_dynamics *place;
    double p[NP], x[NX], stand[JOINTS], guess[KNOTS * JOINTS], x0[NX];
    int high, along, feet; /* terms whose targets move */
    int site[FEET];
    double places[SAMPLES]; /* x of the base, a knot each */
} walker;

/* ---- the floor, and what is wanted ---- */

/* Height of data/scenes/quadruped-bumpy.xml. */
static double ground(const setting *how, double x, double y) {
    if (!how->bumpy) return 0;
    x /= 5, y /= 5;
    return 0.1 * (sin(30 * x) / 5 + cos(30 * y * y) / 20 + sin(50 * x * y) / 10 + 0.2810723943) / 0.6287598457;
}

/* Of the ground below a hip of a base that goes on as commanded. */
static double below(const walker *w, int leg, double ahead) {
    return ground(w->how, w->x[0] + ahead + (leg < 2 ? hip[0] : -hip[0]), w->x[1] + (leg % 2 ? -hip[1] : hip[1]));
}

/* A foot's height over the ground. */
static double phase_height(int leg, double time) {
    double phase = fmod((time - up_by) / period + (leg == 1 || leg == 2 ? 0.5 : 0), 1);
    return radius + (time > up_by && phase < swing ? lift * sin(M_PI * phase / swing) : 0);
}

static void aim(walker *w, double now) {
    double high[3 * (KNOTS + 1)] = {0}, along[3 * (KNOTS + 1)] = {0}, feet[FEET][3 * (KNOTS + 1)] = {0};
    for (int k = 0; k <= KNOTS; k++) {
        double time = now + k * knot, ahead = commanded * fmax(0, fmin(k * knot, time - up_by));
        high[3 * k + 2] = height, along[3 * k] = time < up_by ? 0 : commanded;
        for (int i = 0; i < FEET; i++) {
            high[3 * k + 2] += below(w, i, ahead) / FEET;
            feet[i][3 * k + 2] = below(w, i, ahead) + phase_height(i, time);
        }
    }
    need(tribo_trajopt_set_target(w->plan, w->high, high), "height");
    need(tribo_trajopt_set_target(w->plan, w->along, along), "velocity");
    for (int i = 0; i < FEET; i++) need(tribo_trajopt_set_target(w->plan, w->feet + i, feet[i]), "foot");
}

/* ---- the task ---- */

static tribo_term_def term_of(tribo_term_kind kind, double weight) {
    tribo_term_def t = tribo_default_term();
    t.kind = kind, t.weight = weight, t.last = kind == TRIBO_TERM_CONTROL ? -2 : -1;
    return t;
}

/* Of the base and the joints; then of the feet. */
static int write_terms(walker *w, tribo_term_def *t) {
    static const double up[3] = {0, 0, 1}, mostly_level[3] = {1, 1, 0.1}, zero[3 * (KNOTS + 1)] = {0};
    static double joints[NDX];
    int base = tribo_model_body_find(w->m, "base"), n = 0;
    for (int i = 0; i < JOINTS; i++) joints[6 + i] = i % 3 ? 0.2 : 1, joints[NV + 6 + i] = 0.001;
    t[w->high = n++] = term_of(TRIBO_TERM_POSITION, 100);
    t[w->along = n++] = term_of(TRIBO_TERM_VELOCITY, 20);
    t[n++] = term_of(TRIBO_TERM_ROTATION, 10);
    t[n++] = term_of(TRIBO_TERM_ANGULAR_VELOCITY, 0.1);
    for (int i = 0; i < n; i++) t[i].body = base;
    t[w->high].weights = up, t[w->along].weights = mostly_level;
    t[n] = term_of(TRIBO_TERM_STATE, 1), t[n].target = w->x0, t[n++].weights = joints;
    t[n] = term_of(TRIBO_TERM_CONTROL, 0.1), t[n++].target = w->stand;
    w->feet = n;
    for (int i = 0; i < FEET; i++, n++) {
        t[n] = term_of(TRIBO_TERM_POSITION, 1000);
        t[n].site = w->site[i] = tribo_model_site_find(w->m, foot[i]), t[n].weights = up;
    }
    for (int i = 0; i < n; i++)
        if (i == w->high || i == w->along || i >= w->feet) t[i].target = zero, t[i].ntarget = KNOTS + 1;
    return n;
}

static void open_plan(walker *w) {
    tribo_term_def term[16];
    tribo_trajopt_def def = tribo_default_trajopt();
    tribo_options o = tribo_default_options();
    o.dt = knot, o.law = w->how->plan->law, o.warm_start = true;
    def.nterm = write_terms(w, term), def.term = term, def.knots = KNOTS, def.x0 = w->x, def.U = w->guess;
    def.options = &o, def.method = TRIBO_METHOD_ILQR, def.tol = 1e-6;
    need(tribo_trajopt_new(w->m, &def, &w->plan, NULL), "plan");
}

static double random_number(unsigned *seed) { /* in (-1, 1) */
    *seed = *seed * 1664525u + 1013904223u;
    return ((double)(*seed >> 8) + 0.5) / 8388608.0 - 1;
}

/* Crouched over the highest ground below its feet; perturbed: angles by 0.1 rad, velocities by 0.3 m/s and rad/s. */
static void crouch(walker *w) {
    const double thigh = 1.3;
    double top = 0, dx[NDX] = {0};
    unsigned seed = w->how->seed;
    for (int i = 0; i < FEET; i++)
        w->x[8 + 3 * i] = thigh, w->x[9 + 3 * i] = -2 * thigh, top = fmax(top, below(w, i, 0));
    w->x[2] = 0.32 * cos(thigh) + 0.02 + top;
    for (int i = 3; seed && i < NDX; i++) dx[i] = (i < NV ? 0.1 : 0.3) * random_number(&seed);
    if (seed) dx[2] = 0.03 * fabs(random_number(&seed));
    tribo_state_add(w->m, w->x, dx, w->x);
}

static void open_walker(walker *w, const setting *how) {
    double u[NU];
    tribo_options o = tribo_default_options();
    *w = (walker){.how = how, .m = scene(how->bumpy ? "quadruped-bumpy" : "quadruped")};
    tribo_sizes z = tribo_model_sizes(w->m);
    if (z.nx != NX || z.nu != NU || z.np > NP) need(TRIBO_E_DEF, "quadruped");
    tribo_model_params(w->m, w->p), tribo_model_key(w->m, 0, w->x, u);
    memcpy(w->x0, w->x, sizeof w->x), memcpy(w->stand, u + NV, sizeof w->stand);
    for (int k = 0; k < KNOTS; k++) memcpy(w->guess + k * JOINTS, w->stand, sizeof w->stand);
    crouch(w);
    open_plan(w);
    o.dt = knot / SUBSTEPS, o.law = how->act->law, o.measures = true;
    need(tribo_ws_new(w->m, &o, NULL, &w->act, NULL), "workspace");
    need(tribo_dynamics_new(w->m, NULL, &w->place), "dynamics");
}

static void close_walker(walker *w) {
    tribo_dynamics_free(w->place), tribo_ws_free(w->act), tribo_trajopt_free(w->plan), tribo_model_free(w->m);
}

/* ---- the walk ---- */

static double cpu_seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

static void plan_again(walker *w, int k) {
    aim(w, k * knot);
    need(tribo_trajopt_shift(w->plan, k ? EVERY : 0, w->x), "shift");
    tribo_status s = tribo_trajopt_solve(w->plan, k ? PASSES : FIRST_PASSES, NULL);
    if (s != TRIBO_NOT_CONVERGED) need(s, "plan");
}

/* One knot of the plan's feedback. */
static void act(walker *w, int k, outcome *out) {
    double u[NU];
    for (int i = 0; i < SUBSTEPS; i++) {
        need(tribo_trajopt_feedback(w->plan, k % EVERY, w->x, u), "feedback");
        double from = cpu_seconds();
        tribo_status s = tribo_step(w->act, w->p, w->x, u, w->x, NULL);
        out->step_us += 1e6 * (cpu_seconds() - from);
        if (s < 0) need(s, "step");
        double residual = tribo_last_info(w->act)->measures.ncp.complementarity;
        out->residual[out->n] = fmax(out->residual[out->n], residual);
    }
    out->complementarity = fmax(out->complementarity, out->residual[out->n]);
}

/* Speed over the last period, heights of the feet. */
static void look(walker *w, int k, outcome *out) {
    int back = (int)(period / knot + 0.5), walking = k - (int)(up_by / knot + 0.5);
    double pos[3];
    need(tribo_dynamics_set_state(w->place, w->x), "place");
    for (int i = 0; i < FEET; i++) {
        need(tribo_site_pose(w->place, w->site[i], pos, NULL), "foot");
        if (walking > 0) out->lifted[i] = fmax(out->lifted[i], pos[2] - radius - ground(w->how, pos[0], pos[1]));
    }
    w->places[k] = w->x[0];
    out->at[k] = (k + 1) * knot, out->speed[k] = k >= back ? (w->x[0] - w->places[k - back]) / period : (double)NAN;
    out->n = k + 1;
    if (walking * knot < 1 + period) return;
    out->slowest = fmin(out->slowest, out->speed[k]), out->fastest = fmax(out->fastest, out->speed[k]);
}

static bool fell(const walker *w) {
    double upright = 1 - 2 * (w->x[4] * w->x[4] + w->x[5] * w->x[5]); /* cosine of the tilt */
    return upright < 0.7 || w->x[2] - ground(w->how, w->x[0], w->x[1]) < 0.07;
}

static outcome walk(setting how) {
    static walker w;
    outcome out = {.slowest = HUGE_VAL, .fastest = -HUGE_VAL};
    int first = (int)((up_by + 1) / knot + 0.5), n = (int)((up_by + how.time) / knot + 0.5), k = 0;
    open_walker(&w, &how);
    for (; k < n && k < SAMPLES && !fell(&w); k++) {
        double from = cpu_seconds();
        if (k % EVERY == 0) plan_again(&w, k);
        out.plan_ms += 1e3 * (cpu_seconds() - from);
        act(&w, k, &out);
        look(&w, k, &out);
    }
    out.walked = k * knot - up_by;
    out.velocity = k > first ? (w.places[k - 1] - w.places[first]) / ((k - 1 - first) * knot) : 0;
    out.step_us /= k * SUBSTEPS, out.plan_ms /= (k + EVERY - 1) / EVERY;
    close_walker(&w);
    return out;
}

/* ---- the experiments ---- */

static double lowest(const double *lifted) {
    return fmin(fmin(lifted[0], lifted[1]), fmin(lifted[2], lifted[3]));
}

static void many_starts(void) {
    int good = 0;
    double slowest = HUGE_VAL, fastest = -HUGE_VAL, lifted = HUGE_VAL;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        outcome out = walk((setting){false, &laws[0], &laws[0], seed, walk_for});
        good += out.walked > walk_for - knot && out.slowest > 0.8 * commanded && out.fastest < 1.2 * commanded;
        slowest = fmin(slowest, out.slowest), fastest = fmax(fastest, out.fastest);
        lifted = fmin(lifted, lowest(out.lifted));
        printf("seed %2u: walked %.2f s, %.3f m/s, a period %.3f to %.3f, feet up %.0f mm\n", seed, out.walked,
               out.velocity, out.slowest, out.fastest, 1e3 * lowest(out.lifted));
        fflush(stdout);
    }
    printf("starts_good %d\nstarts_slowest %.3g\nstarts_fastest %.3g\nstarts_lifted %.3g\n", good, slowest, fastest,
           lifted);
}

static outcome row(bool bumpy, const law_case *plan, const law_case *actual) {
    outcome out = walk((setting){bumpy, plan, actual, 0, walk_for});
    printf("| %s | %s | %s | %.2f | %.3f | %.3f to %.3f | %.0f | %.1e | %.0f | %.0f |\n", bumpy ? "bumpy" : "flat",
           plan->name, actual->name, out.walked, out.velocity, out.slowest, out.fastest, 1e3 * lowest(out.lifted),
           out.complementarity, out.step_us, out.plan_ms);
    fflush(stdout);
    return out;
}

static void draw(const char *folder, const outcome *runs) {
    plot_series s[LAWS], r[LAWS];
    for (int i = 0; i < LAWS; i++) {
        s[i] = (plot_series){laws[i].name, runs[i].at, runs[i].speed, (size_t)runs[i].n, PLOT_LINE, i + 1};
        r[i] = (plot_series){laws[i].name, runs[i].at, runs[i].residual, (size_t)runs[i].n, PLOT_LINE, i + 1};
    }
    plot p = {.title = "Bumpy, slippery: velocity over the last period; 0.3 m/s is wanted",
              .x_label = "s",
              .y_label = "m/s",
              .series = s,
              .nseries = LAWS};
    figure(&p, folder, "quadruped-velocity");
    p.title = "The same: what is left of the NCP's complementarity", p.y_label = "residual", p.series = r;
    p.log_y = true;
    figure(&p, folder, "quadruped-complementarity");
}

/* Planned under the NCP and simulated under each; planned under each and simulated under the NCP. */
static void all_laws(const char *folder) {
    static outcome runs[LAWS];
    printf("| floor | planned | simulated | walked (s) | m/s | m/s a period | feet up (mm) | complementarity | step "
           "(us) | "
           "plan (ms) |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (int bumpy = 0; bumpy < 2; bumpy++) {
        for (int i = 0; i < LAWS; i++) runs[i] = row(bumpy, &laws[0], &laws[i]);
        for (int i = 1; i < LAWS; i++) row(bumpy, &laws[i], &laws[0]);
    }
    for (int i = 0; i < LAWS; i++)
        for (int k = 0; k < runs[i].n; k++) runs[i].residual[k] = fmax(1e-17, runs[i].residual[k]);
    draw(folder, runs);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        many_starts();
        all_laws(argv[1]);
        return 0;
    }
    outcome out = walk((setting){false, &laws[0], &laws[0], 0, 2});
    printf("walked %.3g\nvelocity %.3g\nslowest %.3g\nfastest %.3g\nlifted %.3g\ncomplementarity %.2g\n", out.walked,
           out.velocity, out.slowest, out.fastest, lowest(out.lifted), out.complementarity);
    return 0;
}
