/* design.c -- the verb `design`: which of several motions to record next. docs/math.md eq. (70). */
#include "params.h"
#include "recordings.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/sysid.h>

enum { FREE_MAX = 64 };
/* Of what nothing is known, a deviation of a thousand; above 1 (a factor e, or the size of the parameter) it is open.
 */
static const double unknown = 1e-6, open_spread = 1;

typedef struct arguments {
    const char *scene;
    string_list free, candidates;
    recording_options in;
    double duration, rate, noise[2]; /* s, 1/s, m and rad */
    bool json;
} arguments;

/* What one candidate leaves in doubt. */
typedef struct outcome {
    const char *name;
    double spread[FREE_MAX], error[FREE_MAX], worst; /* in theta; in units of p */
} outcome;

typedef struct design {
    const arguments *a;
    tribo_model *m;
    const char *name[FREE_MAX];
    int nfree;
    double *p;                     /* (np) of the scene */
    double P[FREE_MAX * FREE_MAX]; /* (nfree,nfree) how the parameters move with theta, a row a theta */
    double known[FREE_MAX * FREE_MAX];
    outcome *out;
} design;

/* The free parameters in a model, with the values that the scene has for them. */
static int choose(const design *d, const tribo_model *m, const char *path, tribo_free_param *free) {
    for (int i = 0; i < d->nfree; i++) {
        free[i] = tribo_default_free();
        free[i].index = tribo_param_find(m, d->name[i]);
        if (d->p) free[i].start = d->p[tribo_param_find(d->m, d->name[i])];
        if (free[i].index >= 0) continue;
        char text[900];
        param_refusal(m, d->name[i], text, sizeof text);
        return input_message(path, 0, "%s", text);
    }
    return EXIT_SUCCESS;
}

/* Poses of a motion become those of the fit's own, whose steps are of higher order than a simulation's: what is between
 * the two would pass for something that the recording does not explain. */
static tribo_status follow(tribo_sysid *s, const tribo_model *m, int rows, double *x) {
    tribo_sizes z = tribo_model_sizes(m);
    size_t n = (size_t)rows * (size_t)z.nx;
    double *X = calloc(n, sizeof *X);
    tribo_status status = X ? tribo_sysid_predict(s, NULL, 0, X) : TRIBO_E_NOMEM;
    for (size_t i = 0; i < n && status >= 0; i++)
        if (i % (size_t)z.nx < (size_t)z.nq) x[i] = X[i];
    free(X);
    return status;
}

/* Fisher information of recordings at the scene's values. @param x the numbers of a simulated one, NULL = measured;
 * I [out] (nfree,nfree) in theta */
static int inform(design *d, const tribo_model *m, const char *path, const tribo_recording *rec, int nrec, double *x,
                  double *I) {
    tribo_free_param chosen[FREE_MAX];
    tribo_estimate est[FREE_MAX];
    tribo_sysid_def def = tribo_default_sysid();
    tribo_options step = step_options();
    tribo_sysid *s = NULL;
    tribo_diag diag = {0};
    int status = choose(d, m, path, chosen);
    if (status != EXIT_SUCCESS) return status;
    def.free = chosen, def.nfree = d->nfree, def.rec = rec, def.nrec = nrec, def.workers = processors();
    def.options = &step;
    def.loss = TRIBO_LOSS_SHOOTING, def.window = 1, def.start = TRIBO_START_AUTO;
    for (int k = 0; k < 2; k++) def.weight[k] = 1 / d->a->noise[k];
    tribo_status made = tribo_sysid_new(m, &def, &s, &diag);
    if (made >= 0 && x) {
        made = follow(s, m, rec->n, x);
        tribo_sysid_free(s), s = NULL;
        if (made >= 0) made = tribo_sysid_new(m, &def, &s, &diag);
    }
    if (made < 0) return input_error(path, made, &diag);
    int np = tribo_model_sizes(m).np;
    double theta[FREE_MAX], *P = calloc((size_t)d->nfree * (size_t)np, sizeof *P);
    tribo_sysid_theta(s, theta);
    if (P) tribo_sysid_map_jac(s, theta, P);
    for (int k = 0; P && k < d->nfree; k++)
        for (int i = 0; i < d->nfree; i++) d->P[k * d->nfree + i] = P[k * np + chosen[i].index];
    made = P ? tribo_sysid_fit(s, 60, NULL) : TRIBO_E_NOMEM;
    if (made >= 0) made = tribo_sysid_observe(s, est, I, NULL, NULL, NULL);
    free(P);
    tribo_sysid_free(s);
    return made < 0 ? input_message(path, 0, "its motion cannot be followed: %s", step_text(made, 0)) : EXIT_SUCCESS;
}

/* Poses of a candidate's motion. @param x (rows,nx), u (rows,nu) [out] */
static tribo_status simulate(const design *d, const tribo_model *m, const double *p, const tribo_controls *c, int rows,
                             double *time, double *x, double *u) {
    tribo_sizes z = tribo_model_sizes(m);
    tribo_options o = step_options();
    tribo_ws *ws = NULL;
    double row = 1 / d->a->rate, n = ceil(row / tribo_model_timestep(m) - 1e-9);
    size_t nx = (size_t)z.nx, nu = (size_t)z.nu;
    o.dt = row / n;
    tribo_status status = tribo_ws_new(m, &o, NULL, &ws, NULL);
    tribo_model_state0(m, x);
    for (int k = 0; k < rows && !status; k++) {
        time[k] = k * row;
        if (c)
            tribo_controls_at(c, time[k], u + (size_t)k * nu);
        else
            tribo_model_key(m, 0, NULL, u + (size_t)k * nu);
        if (k == rows - 1) break;
        double *next = x + (size_t)(k + 1) * nx;
        memcpy(next, x + (size_t)k * nx, nx * sizeof *x);
        for (int j = 0; j < (int)n && status >= 0; j++)
            status = tribo_step(ws, p, next, u + (size_t)k * nu, next, NULL);
        if (status > 0) status = TRIBO_OK;
    }
    for (size_t i = 0; i < (size_t)rows * nx; i++)
        if (i % nx >= (size_t)z.nq) x[i] = (double)NAN;
    tribo_ws_free(ws);
    return status;
}

/* C := (I + known + unknown)^-1 by Cholesky's factor; what that leaves in doubt. */
static void judge(const design *d, const double *I, outcome *o) {
    int n = d->nfree;
    double L[FREE_MAX * FREE_MAX] = {0}, X[FREE_MAX * FREE_MAX] = {0};
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = I[i * n + j] + d->known[i * n + j] + (i == j ? unknown : 0), whole = sum;
            for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
            if (i == j && !(sum > 1e-14 * whole)) sum = 1e-14 * whole;
            L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
        }
    for (int c = 0; c < n; c++) /* X = L^-1 */
        for (int i = c; i < n; i++) {
            double sum = i == c;
            for (int k = c; k < i; k++) sum -= L[i * n + k] * X[k * n + c];
            X[i * n + c] = sum / L[i * n + i];
        }
    o->worst = 0;
    for (int i = 0; i < n; i++) {
        double in_theta = 0, in_p = 0;
        for (int k = 0; k < n; k++) { /* |X e_i|^2, |X P e|^2 */
            double moved = 0;
            for (int a = 0; a < n; a++) moved += X[k * n + a] * d->P[a * n + i];
            in_theta += X[k * n + i] * X[k * n + i], in_p += moved * moved;
        }
        o->spread[i] = sqrt(in_theta), o->error[i] = o->spread[i] > open_spread ? HUGE_VAL : sqrt(in_p);
        o->worst = fmax(o->worst, o->spread[i]);
    }
}

/* A scene, controls for the one given, or both: A.xml, A.csv, A.xml+A.csv. */
static int load(const design *d, const char *item, tribo_model **m, tribo_controls **c) {
    const char *plus = strchr(item, '+');
    bool pushed = !plus && ends_with(item, ".csv");
    int status = EXIT_SUCCESS;
    char *scene = plus ? calloc((size_t)(plus - item) + 1, 1) : NULL;
    if (plus && !scene) return trouble("no memory");
    if (scene) memcpy(scene, item, (size_t)(plus - item));
    if (!pushed) status = scene_load(scene ? scene : item, m);
    free(scene);
    if (status == EXIT_SUCCESS && (pushed || plus)) status = controls_load(plus ? plus + 1 : item, *m ? *m : d->m, c);
    return status;
}

static int try_candidate(design *d, const char *item, outcome *o) {
    tribo_model *own = NULL;
    tribo_controls *c = NULL;
    int status = load(d, item, &own, &c), rows = (int)(d->a->duration * d->a->rate + 0.5) + 1;
    const tribo_model *m = own ? own : d->m;
    tribo_sizes z = tribo_model_sizes(m);
    size_t nx = (size_t)z.nx, nu = (size_t)z.nu, n = (size_t)rows;
    double *time = calloc(n * (1 + nx + nu) + (size_t)z.np, sizeof *time), I[FREE_MAX * FREE_MAX];
    if (status == EXIT_SUCCESS && !time) status = trouble("no memory");
    if (status == EXIT_SUCCESS) {
        double *x = time + n, *u = x + n * nx, *p = u + n * nu;
        tribo_free_param chosen[FREE_MAX];
        tribo_model_params(m, p);
        status = choose(d, m, item, chosen);
        for (int i = 0; i < d->nfree && status == EXIT_SUCCESS; i++) p[chosen[i].index] = chosen[i].start;
        tribo_status moved = status == EXIT_SUCCESS ? simulate(d, m, p, c, rows, time, x, u) : TRIBO_OK;
        if (moved < 0) status = input_message(item, 0, "it cannot be simulated: %s", step_text(moved, 0));
        tribo_recording rec = {.n = rows, .time = time, .x = x, .u = u};
        if (status == EXIT_SUCCESS) status = inform(d, m, item, &rec, 1, x, I);
    }
    if (status == EXIT_SUCCESS) o->name = item, judge(d, I, o);
    free(time);
    tribo_controls_free(c);
    tribo_model_free(own);
    return status;
}

static int by_worst(const void *a, const void *b) {
    double x = ((const outcome *)a)->worst, y = ((const outcome *)b)->worst;
    return (x > y) - (x < y);
}

static int print(const design *d) {
    json_t *all = json_array();
    if (!d->a->json) printf("%-32s ", "candidate");
    for (int i = 0; i < d->nfree && !d->a->json; i++) {
        tribo_param_info info;
        char head[160];
        const char *unit =
            tribo_param_describe(d->m, tribo_param_find(d->m, d->name[i]), &info) ? "" : param_unit(d->m, &info);
        snprintf(head, sizeof head, "%s%s%s", d->name[i], *unit ? ", " : "", unit);
        printf("%-23s ", head);
    }
    if (!d->a->json) printf("worst\n");
    for (int k = 0; k < d->a->candidates.n; k++) {
        const outcome *o = d->out + k;
        json_t *one = json_object(), *error = json_object();
        if (!d->a->json) printf("%-32s ", o->name);
        for (int i = 0; i < d->nfree; i++) {
            char text[32] = "not determined";
            if (isfinite(o->error[i])) snprintf(text, sizeof text, "+- %.3g", o->error[i]);
            if (!d->a->json) printf("%-23s ", text);
            json_object_set_new(error, d->name[i], json_number(o->error[i]));
        }
        if (!d->a->json) printf("%.3g\n", o->worst);
        json_object_set_new(one, "candidate", json_string(o->name));
        json_object_set_new(one, "std_error", error);
        json_object_set_new(one, "worst", json_number(o->worst));
        json_array_append_new(all, one);
    }
    bool good = (!d->a->json || json_write(stdout, all, true)) && !fflush(stdout);
    json_decref(all);
    return good ? EXIT_SUCCESS : trouble("the result could not be written");
}

/* Maps of the scene's parameters; what recordings that are there say. */
static int begin(design *d) {
    const arguments *a = d->a;
    recordings r = {0};
    int status = EXIT_SUCCESS, n = tribo_model_sizes(d->m).np;
    d->nfree = a->free.n;
    for (int i = 0; i < d->nfree; i++) d->name[i] = a->free.item[i];
    tribo_free_param chosen[FREE_MAX];
    status = choose(d, d->m, a->scene, chosen);
    if (status != EXIT_SUCCESS) return status;
    d->p = calloc((size_t)n, sizeof *d->p);
    d->out = calloc((size_t)a->candidates.n, sizeof *d->out);
    if (!d->p || !d->out) return trouble("no memory");
    tribo_model_params(d->m, d->p);
    if (!a->in.data.n) return EXIT_SUCCESS;
    status = recordings_load(&r, &verb_design, d->m, &a->in);
    if (status == EXIT_SUCCESS) status = inform(d, d->m, a->in.data.item[0], r.rec, r.n, NULL, d->known);
    recordings_free(&r);
    return status;
}

static int run_design(const arguments *a) {
    design d = {.a = a};
    int status = scene_load(a->scene, &d.m);
    if (status == EXIT_SUCCESS) status = begin(&d);
    for (int k = 0; k < a->candidates.n && status == EXIT_SUCCESS; k++)
        status = try_candidate(&d, a->candidates.item[k], d.out + k);
    if (status == EXIT_SUCCESS) {
        qsort(d.out, (size_t)a->candidates.n, sizeof *d.out, by_worst);
        status = print(&d);
    }
    free(d.p), free(d.out);
    tribo_model_free(d.m);
    return status;
}

static int take(arguments *a, int code, const char *text, string_list **more) {
    const verb *v = &verb_design;
    string_list *lists[] = {['f'] = &a->free, ['c'] = &a->candidates, ['d'] = &a->in.data};
    if (code != 1) *more = code == 'f' || code == 'c' || code == 'd' ? lists[code] : NULL;
    if (code == CONTROLS_OPTION) *more = &a->in.controls;
    if (code == 1 && !a->scene) {
        a->scene = text;
        return EXIT_SUCCESS;
    }
    if (*more) return list_add(*more, text) ? EXIT_SUCCESS : trouble("no memory");
    if (code == 1) return usage_error(v, "one scene, not also %s", text);
    if (code > CONTROLS_OPTION && code <= LATE_OPTION) return recording_option(v, code, optarg, &a->in);
    if (code == 'j') a->json = true;
    if (code == 't') return parse_positive(v, "--duration takes a time above 0 s", 1e4, &a->duration);
    if (code == 'r') return parse_positive(v, "--rate takes rows a second above 0", 1e5, &a->rate);
    if (code == 'p') return parse_positive(v, "--position takes a noise above 0 m", 1e6, &a->noise[0]);
    if (code == 'o') return parse_positive(v, "--rotation takes a noise above 0 rad", 1e6, &a->noise[1]);
    return scene_option(v, code, text);
}

static int run(int argc, char **argv) {
    const verb *v = &verb_design;
    arguments a = {.duration = 1, .rate = 100, .noise = {1e-3, 1e-2}};
    string_list *more = NULL;
    int status = EXIT_SUCCESS, code = 0;
    while (status == EXIT_SUCCESS && (code = next_option(v, argc, argv)) != -1 && code > 0)
        status = take(&a, code, optarg, &more);
    if (code < -1) status = option_exit(code);
    bool ready = status == EXIT_SUCCESS && code == -1;
    if (ready && !a.scene) status = usage_error(v, "which scene?");
    if (ready && a.scene && (!a.free.n || a.free.n > FREE_MAX))
        status = usage_error(v, "--free: which parameters? %d at most", FREE_MAX);
    if (ready && status == EXIT_SUCCESS && !a.candidates.n) status = usage_error(v, "--candidates: which motions?");
    if (ready && status == EXIT_SUCCESS) status = run_design(&a);
    list_free(&a.free), list_free(&a.candidates);
    recording_options_free(&a.in);
    return status;
}

static const option_row rows[] = {
    {"free", 'f', "NAME...", "the parameters that are to be known", true},
    {"candidates", 'c', "SCENE.xml|CONTROLS.csv|SCENE.xml+CONTROLS.csv...",
     "the motions to choose from: scenes, controls, or both", true},
    {"data", 'd', "FILE.csv...", "what has been recorded already: the candidate comes on top of that", false},
    {"duration", 't', "S", "of a recording, s (1)", false},
    {"rate", 'r', "HZ", "rows a second (100)", false},
    {"position", 'p', "M", "noise of positions, m (0.001)", false},
    {"rotation", 'o', "RAD", "noise of rotations, rad (0.01)", false},
    {"json", 'j', NULL, "JSON instead of a table", false},
    {0}};
const verb verb_design = {
    .name = "design",
    .summary = "which of several pushes or throws to record next",
    .operands = "SCENE",
    .about =
        "Simulates each candidate at the values that SCENE has and says how well the free parameters would be known "
        "from a recording of its poses, by Fisher's information, starts unknown; the best first, which is the one "
        "whose least known parameter is known best. A scene is a throw from its own start, controls push SCENE.",
    .options = rows,
    .groups = {&group_recordings, &group_scene, &group_step},
    .example = "  tribo design cube.xml --free cube/mass --candidates low.csv high.csv",
    .run = run,
};
