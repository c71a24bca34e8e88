/* compare.c -- the verb `compare`: one scene under every contact law and every solver of it. */
#define _POSIX_C_SOURCE 200809L
#include "compare.h"
#include "contact/solver/solvers.h"
#include "files.h"
#include "names.h"
#include "progress.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct arguments {
    const char *scene, *laws, *start, *controls, *out;
    double duration, dt, tol, limit; /* 0 = not given */
    long finer;
    bool json, finish;
    tribo_law_options law;
    int argc;
    char **argv;
} arguments;

enum { MOST = 64 };

/* ---- who takes part ---- */

/* Whether it stops on the central path, which is a law of its own. */
static bool is_central(const tribo_law_options *o) {
    return o->solver == TRIBO_SOLVER_INTERIOR && o->kappa > 0;
}

/* Contenders of one number solve the same equations: the law, and what its answer meets. */
static int model_number(const contender *all, int n, const tribo_law_options *o) {
    int most = -1;
    for (int i = 0; i < n; i++) {
        const tribo_law_options *other = &all[i].law;
        if (other->law == o->law && is_central(other) == is_central(o) &&
            ti_solver_find(other->law, other->solver)->model == ti_solver_find(o->law, o->solver)->model)
            return all[i].model;
        if (all[i].model > most) most = all[i].model;
    }
    return most + 1;
}

static void add_contender(contender *all, int *n, const tribo_law_options *o, tribo_law law, tribo_solver solver) {
    contender k = {.law = *o};
    for (int i = 0; i < *n; i++)
        if (all[i].law.law == law && all[i].law.solver == solver) return;
    if (*n == MOST) return;
    k.law.law = law, k.law.solver = solver;
    k.model = model_number(all, *n, &k.law);
    snprintf(k.name, sizeof k.name, "%s/%s", tribo_law_name(law), tribo_solver_name(solver));
    all[(*n)++] = k;
}

/* Every solver of a law, or the one that was asked for. */
static void add_law(contender *all, int *n, const tribo_law_options *o, tribo_law law) {
    for (int k = 0; tribo_law_solver(law, k); k++)
        if (!o->solver || o->solver == tribo_law_solver(law, k))
            add_contender(all, n, o, law, tribo_law_solver(law, k));
}

static int no_law(const char *word) {
    near_name near = near_begin(word);
    char list[200] = "";
    for (int k = 1; k < TRIBO_LAW_END; k++) {
        size_t n = strlen(list);
        near_offer(&near, tribo_law_name((tribo_law)k));
        snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", tribo_law_name((tribo_law)k));
    }
    return usage_error(&verb_compare, "--laws: there is no law %s%s%s; there are %s", word,
                       near.nearest[0] ? ", the nearest is " : "", near.nearest, list);
}

static int add_word(contender *all, int *n, const tribo_law_options *o, char *word) {
    char *slash = strchr(word, '/');
    if (slash) *slash++ = 0;
    tribo_law law = tribo_law_find(word);
    if (!law) return no_law(word);
    if (!slash) {
        if (!tribo_law_solver(law, 0)) return usage_error(&verb_compare, "--laws: the law %s has no solver", word);
        add_law(all, n, o, law);
        return EXIT_SUCCESS;
    }
    tribo_solver solver = tribo_solver_find(slash);
    if (!tribo_law_has(law, solver))
        return usage_error(&verb_compare, "--laws: the law %s has no solver %s", word, slash);
    add_contender(all, n, o, law, solver);
    return EXIT_SUCCESS;
}

static int choose_contenders(const arguments *a, contender *all, int *n) {
    if (!a->laws) {
        for (int law = 1; law < TRIBO_LAW_END; law++)
            if (!a->law.law || a->law.law == (tribo_law)law) add_law(all, n, &a->law, (tribo_law)law);
        return *n > 0 ? EXIT_SUCCESS : usage_error(&verb_compare, "no law has the solver that is asked for");
    }
    char *list = strdup(a->laws), *at = list;
    int status = list ? EXIT_SUCCESS : trouble("no memory");
    while (at && status == EXIT_SUCCESS) {
        char *comma = strchr(at, ',');
        if (comma) *comma++ = 0;
        status = add_word(all, n, &a->law, at);
        at = comma;
    }
    free(list);
    if (status == EXIT_SUCCESS && *n == 0) return usage_error(&verb_compare, "no law has the solver that is asked for");
    return status;
}

/* ---- what comes out ---- */

/* Two tables, as a terminal is 80 to 100 characters wide: what each costs, what each gets wrong. */
static void print_costs(const comparison *c) {
    printf("%-26s %8s %8s %10s %6s %7s %6s\n", "law/solver", "us/step", "warm", "iterations", "warm", "failed", "warm");
    for (int i = 0; i < c->ncontender; i++) {
        const contender *k = c->contender + i;
        printf("%-26s", k->name);
        print_number("%.1f", 8, k->us);
        print_number("%.1f", 8, k->us_warm);
        print_number("%.1f", 10, k->iterations);
        print_number("%.1f", 6, k->iterations_warm);
        printf(" %7ld %6ld%s%s\n", k->unsolved, k->unsolved_warm, k->note[0] ? "  " : "", k->note);
    }
}

static void print_errors(const comparison *c) {
    printf("\n%-26s %6s %6s %6s %7s %8s %8s %8s %8s %7s\n", "law/solver:      residual", "median", "worst", "in NCP",
           "gain, J", "error, J", "inner, N", "dist., m", "drift, m", "rise, m");
    for (int i = 0; i < c->ncontender; i++) {
        const contender *k = c->contender + i;
        printf("%-26s", k->name);
        print_number("%.0e", 6, k->residual_median);
        print_number("%.0e", 6, k->residual_worst);
        print_number("%.0e", 6, k->ncp_worst);
        print_number("%.2g", 7, k->gain);
        print_number("%.2g", 8, k->error);
        print_number("%.2g", 8, k->internal_worst);
        print_number("%.2g", 8, k->distance_worst);
        print_number("%.2g", 8, k->drift_worst);
        print_number("%.2g", 7, k->rise);
        printf("\n");
    }
}

static void print_table(const comparison *c) {
    print_costs(c), print_errors(c);
}

static json_t *contender_json(const contender *k) {
    json_t *o = json_object();
    json_object_set_new(o, "law", json_string(tribo_law_name(k->law.law)));
    json_object_set_new(o, "solver", json_string(tribo_solver_name(k->law.solver)));
    json_object_set_new(o, "status", json_string(k->status < 0 ? "failed" : k->status ? "not_converged" : "ok"));
    json_object_set_new(o, "note", k->note[0] ? json_string(k->note) : json_null());
    json_object_set_new(o, "steps", json_integer(k->rows > 0 ? k->rows - 1 : 0));
    json_object_set_new(o, "not_converged", json_integer(k->unsolved));
    json_object_set_new(o, "not_converged_warm", json_integer(k->unsolved_warm));
    const struct {
        const char *name;
        double x;
    } numbers[] = {{"us", k->us},
                   {"us_warm", k->us_warm},
                   {"iterations", k->iterations},
                   {"iterations_warm", k->iterations_warm},
                   {"residual_median", k->residual_median},
                   {"residual_worst", k->residual_worst},
                   {"ncp_median", k->ncp_median},
                   {"ncp_worst", k->ncp_worst},
                   {"energy_gain", k->gain},
                   {"energy_error", k->error},
                   {"internal_force", k->internal_worst},
                   {"distance", k->distance_worst},
                   {"rotation", k->turn_worst},
                   {"drift", k->drift_worst},
                   {"rise", k->rise}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_object_set_new(o, numbers[i].name, json_number(numbers[i].x));
    return o;
}

static json_t *comparison_json(const comparison *c) {
    json_t *all = json_object(), *list = json_array();
    json_object_set_new(all, "scene", json_string(c->scene));
    json_object_set_new(all, "dt", json_number(c->dt));
    json_object_set_new(all, "steps", json_integer(c->rows - 1));
    json_object_set_new(all, "reference_dt", c->reference ? json_number(c->dt / c->finer) : json_null());
    json_object_set_new(all, "kinetic_energy", json_number(c->kinetic));
    json_object_set_new(all, "body", json_string(tribo_model_body_name(c->m, c->body)));
    for (int i = 0; i < c->ncontender; i++) json_array_append_new(list, contender_json(c->contender + i));
    json_object_set_new(all, "runs", list);
    return all;
}

static void write_page(FILE *f, const comparison *c) {
    compare_page(f, c);
}
static void write_result(FILE *f, const comparison *c) {
    json_t *all = comparison_json(c);
    json_write(f, all, true);
    json_decref(all);
}

static int write_file(const comparison *c, const char *name, void (*write)(FILE *, const comparison *)) {
    char *path = join_path(c->out, name);
    out_file file;
    if (!path) return trouble("no memory");
    bool good = out_open(&file, path);
    free(path);
    if (!good) return EXIT_TROUBLE;
    write(file.f, c);
    return out_close(&file) ? EXIT_SUCCESS : EXIT_TROUBLE;
}

static int write_all(const comparison *c, bool json) {
    int status = EXIT_SUCCESS;
    if (c->out) status = write_file(c, "result.json", write_result);
    if (c->out && status == EXIT_SUCCESS) status = write_file(c, "report.html", write_page);
    if (status != EXIT_SUCCESS) return status;
    if (json)
        write_result(stdout, c);
    else
        print_table(c);
    return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_SUCCESS : trouble("the result could not be written");
}

/* ---- the comparison ---- */

static int compare(comparison *c, const arguments *a) {
    tribo_diag diag = {0};
    if (c->out && (output_check(c->out, "result.json") || output_check(c->out, "report.html"))) return EXIT_USAGE;
    if (c->out && !make_folder(c->out)) return EXIT_TROUBLE;
    progress_begin();
    progress_state(true, "the reference, %d steps of %g s", (c->rows - 1) * c->finer, c->dt / c->finer);
    bool good = compare_reference(c, &diag);
    if (!good) remark(&verb_compare, "the reference: %s", diag.text);
    for (int i = 0; i < c->ncontender; i++) {
        progress_part(i, c->ncontender);
        progress_state(true, "%s", c->contender[i].name);
        compare_run(c, c->contender + i);
    }
    progress_end();
    int status = write_all(c, a->json);
    return status == EXIT_SUCCESS && !good ? EXIT_NOT_CONVERGED : status;
}

/* Rows of the comparison; EXIT_USAGE after a message where they are too many. */
static int count_rows(comparison *c, const arguments *a) {
    enum { NUMBERS_MAX = 50000000 };
    double duration = a->duration > 0 ? a->duration : 1, n = floor(duration / c->dt * (1 + 1e-9));
    if (n < 1) return usage_error(&verb_compare, "%g s are no step of %g s", duration, c->dt);
    if (!(n * (c->n.nx + NCURVES * (c->ncontender + 1)) < NUMBERS_MAX))
        return usage_error(&verb_compare, "%g s in steps of %g s are too many numbers", duration, c->dt);
    c->rows = (int)n + 1;
    return EXIT_SUCCESS;
}

static int run_scene(const arguments *a, contender *all, int n) {
    tribo_model *m = NULL;
    tribo_controls *controls = NULL;
    double *p = NULL;
    comparison c = {
        .scene = a->scene, .out = a->out, .argc = a->argc, .argv = a->argv, .contender = all, .ncontender = n};
    int status = scene_load(a->scene, &m);
    if (status == EXIT_SUCCESS) {
        c.m = m, c.n = tribo_model_sizes(m);
        c.dt = a->dt > 0 ? a->dt : tribo_model_timestep(m);
        c.tol = a->tol, c.limit = a->limit, c.finer = (int)a->finer;
        p = calloc((size_t)c.n.np + (size_t)c.n.nx, sizeof *p);
        if (!p) status = trouble("no memory");
    }
    if (status == EXIT_SUCCESS) {
        c.p = p, c.x0 = p + c.n.np;
        tribo_model_params(m, p);
        tribo_model_state0(m, p + c.n.np);
        status = count_rows(&c, a);
    }
    if (status == EXIT_SUCCESS && a->start) status = scene_start(a->start, m, p + c.n.np);
    if (status == EXIT_SUCCESS && a->controls) status = controls_load(a->controls, m, &controls);
    c.controls = controls;
    if (status == EXIT_SUCCESS && !compare_prepare(&c)) status = trouble("no memory");
    if (status == EXIT_SUCCESS) status = compare(&c, a);
    compare_free(&c);
    tribo_controls_free(controls);
    tribo_model_free(m);
    free(p);
    return status;
}

static int run(int argc, char **argv) {
    const verb *v = &verb_compare;
    arguments a = {.finer = 16, .limit = 5, .argc = argc, .argv = argv};
    contender all[MOST];
    int n = 0;
    for (int code; (code = next_option(v, argc, argv)) != -1;) {
        if (code < 0) return option_exit(code);
        if (scene_option(v, code, optarg)) return EXIT_USAGE;
        if (code >= LAW_OPTION && law_option(v, code, optarg, &a.law)) return EXIT_USAGE;
        if (code == 1 && a.scene) return usage_error(v, "one scene, not also %s", optarg);
        if (code == 1) a.scene = optarg;
        if (code == 'd' && parse_positive(v, "--duration takes a time above 0 s", 1e9, &a.duration)) return EXIT_USAGE;
        if (code == 's' && parse_positive(v, "--dt takes a time above 0 s", 1e3, &a.dt)) return EXIT_USAGE;
        if (code == 't' && parse_positive(v, TOL_RANGE, 1, &a.tol)) return EXIT_USAGE;
        if (code == 'm' && parse_positive(v, "--limit takes a time above 0 s", 1e6, &a.limit)) return EXIT_USAGE;
        if (code == 'f' && parse_whole(v, "--finer takes a number of steps", 1, 10000, &a.finer)) return EXIT_USAGE;
        if (code == 'l') a.laws = optarg;
        if (code == 'x') a.start = optarg;
        if (code == 'u') a.controls = optarg;
        if (code == 'o') a.out = optarg;
        if (code == 'j') a.json = true;
        if (code == 'n') a.finish = true;
    }
    if (!a.scene) return usage_error(v, "which scene?");
    a.law.raw = !a.finish;
    int status =
        law_check(v, NULL, &(tribo_law_options){.softness = a.law.softness, .compliance = a.law.compliance}, NULL);
    if (status == EXIT_SUCCESS) status = choose_contenders(&a, all, &n);
    return status == EXIT_SUCCESS ? run_scene(&a, all, n) : status;
}

static const option_row rows[] = {
    {"laws", 'l', "LAW[/SOLVER],...", "those laws only: ncp,ccp, or solvers of them: ncp/admm,lcp/pgs", false},
    {"duration", 'd', "S", "seconds to simulate (1)", false},
    {"dt", 's', "S", "length of a step, s (the scene's timestep)", false},
    {"start", 'x', "FILE.csv", "start from its first row", false},
    {"controls", 'u', "FILE.csv", "forces (N), torques (N m) and controls over time, each row held until the next",
     false},
    {"finer", 'f', "N", "steps of the reference in one (16)", false},
    {"limit", 'm', "S", "seconds of computing after which a run is given up (5)", false},
    {"tol", 't', "T", "on the relative residual of the law (the solver's)", false},
    {"finish", 'n', NULL, "solutions polished to the canonical one, not the solvers' answers as they are", false},
    {"out", 'o', "DIR", "writes DIR/result.json and DIR/report.html, with the curves", false},
    {"json", 'j', NULL, "the table as JSON", false},
    {0}};
const verb verb_compare = {
    .name = "compare",
    .summary = "a scene under every contact law and solver",
    .operands = "SCENE",
    .about =
        "Simulates a scene under every contact law and every solver of it, and says what each costs and gets wrong: "
        "microseconds and iterations a step, started cold and from the step before; residual of the law that is "
        "solved (median, worst step) and of the NCP (worst), relative; energy gained beyond the work of the "
        "controls, and how far it is from the reference's on average over time, J; internal forces, N; distance from "
        "the "
        "reference, m; drift of the body that goes "
        "farthest, across the way it starts on, and its rise, m; steps that did not converge. The reference is the NCP "
        "in finer steps.",
    .options = rows,
    .groups = {&group_scene, &group_step, &group_law},
    .statuses = "0, also where a solver fails: its row says so; 2 usage; 3 bad input; 4 no reference",
    .example = "  tribo compare stack.xml --laws ncp,ccp --out out/laws",
    .run = run,
};
