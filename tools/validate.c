/* validate.c -- the verb `validate`: how well a scene predicts recorded motion. */
#include "ranks.h"
#include "recordings.h"
#include "scene.h"
#include <stdlib.h>

typedef struct arguments {
    const char *scene;
    recording_options in;
    bool estimate_start, json;
    tribo_law_options law;
} arguments;

static void print_row(const char *name, const tribo_errors *e, bool pressed) {
    printf("%-28s %5d", name, e->rows);
    print_number("%.5f", 10, e->position_mean);
    print_number("%.2f", 8, 100 * e->position_relative);
    print_number("%.2f", 10, e->rotation_mean_deg);
    print_number("%.3f", 10, 1e3 * e->step_position_rms);
    print_number("%.3f", 10, e->step_rotation_rms_deg);
    print_number("%.4f", 10, e->step_velocity_rms);
    print_number("%.3f", 10, e->step_angular_rms);
    if (pressed) print_number("%.4g", 10, e->force_mean);
    putchar('\n');
}

static void print_head(bool pressed) {
    printf("%-28s %5s %10s %8s %10s %10s %10s %10s %10s%s\n", "", "", "position", "", "rotation",
           "a row ahead, rms:", "", "", "", pressed ? "      force" : "");
    printf("%-28s %5s %10s %8s %10s %10s %10s %10s %10s%s\n", "recording", "rows", "m", "%", "deg", "mm", "deg", "m/s",
           "rad/s", pressed ? "          N" : "");
}

static const char *base_name(const char *path) {
    const char *name = path;
    for (const char *c = path; *c; c++)
        if (*c == '/' && c[1]) name = c + 1;
    return name;
}

/* What became of a recording. */
typedef struct outcome {
    tribo_errors errors;
    tribo_status status;
} outcome;

/* Each rank its share, then the first has all. */
static void predict(tribo_sysid *s, outcome *all, int n) {
    int first, end;
    ranks_share(ranks_own(), n, &first, &end);
    for (int i = first; i < end; i++) all[i].status = tribo_sysid_errors(s, NULL, i, &all[i].errors);
    ranks_gather(all, n, sizeof *all);
}

static int print(const outcome *all, const recordings *r, const arguments *a) {
    mean_errors mean = {0};
    json_t *files = json_array();
    int status = EXIT_SUCCESS;
    if (!a->json) print_head(r->pressed);
    for (int i = 0; i < r->n; i++) {
        tribo_errors e = all[i].errors;
        if (all[i].status < 0) {
            json_decref(files);
            return input_message(
                r->path[i], 0,
                "its motion could not be simulated: %s: are its units, its clocks and its zeros those of the scene?",
                step_text(all[i].status, 0));
        }
        mean_add(&mean, &e);
        if (!a->json) {
            print_row(base_name(r->path[i]), &e, r->pressed);
            continue;
        }
        json_t *o = errors_json(&e);
        json_object_set_new(o, "file", json_string(r->path[i]));
        json_array_append_new(files, o);
    }
    tribo_errors e = mean_of(&mean);
    if (a->json) {
        json_t *o = json_object();
        json_object_set_new(o, "scene", json_string(a->scene));
        json_object_set_new(o, "start", json_string(a->estimate_start ? "estimated" : "measured"));
        json_object_set_new(o, "mean", errors_json(&e));
        json_object_set(o, "files", files);
        if (!json_write(stdout, o, true)) status = trouble("the result could not be written");
        json_decref(o);
    } else {
        print_row("mean", &e, r->pressed);
    }
    json_decref(files);
    if (fflush(stdout)) status = trouble("the result could not be written");
    return status;
}

static int measure(tribo_sysid *s, const recordings *r, const arguments *a) {
    outcome *all = calloc((size_t)r->n, sizeof *all);
    if (!all) return trouble("no memory");
    predict(s, all, r->n);
    int status = ranks_own() ? EXIT_SUCCESS : print(all, r, a);
    free(all);
    return status;
}

static int validate(const arguments *a) {
    tribo_model *m = NULL;
    tribo_sysid *s = NULL;
    recordings r = {0};
    int status = scene_load(a->scene, &m);
    if (status == EXIT_SUCCESS) {
        tribo_law_options scene = tribo_model_law(m);
        status = law_check(&verb_validate, a->scene, &a->law, &scene);
    }
    if (status == EXIT_SUCCESS) status = recordings_load(&r, &verb_validate, m, &a->in);
    if (status == EXIT_SUCCESS) {
        tribo_sysid_def def = tribo_default_sysid();
        tribo_diag diag = {0};
        tribo_options step = step_options();
        step.law = a->law;
        def.rec = r.rec, def.nrec = r.n, def.options = &step;
        def.start = a->estimate_start ? TRIBO_START_AUTO : TRIBO_START_MEASURED;
        tribo_status made = tribo_sysid_new(m, &def, &s, &diag);
        if (made < 0) status = recordings_error(&r, made, &diag);
    }
    status = ranks_agree(status);
    if (status == EXIT_SUCCESS) status = measure(s, &r, a);
    tribo_sysid_free(s);
    recordings_free(&r);
    tribo_model_free(m);
    return status;
}

static int run(int argc, char **argv) {
    const verb *v = &verb_validate;
    arguments a = {0};
    string_list *more = NULL; /* positional arguments after --data FILE are more of them; so after --controls */
    int status = EXIT_SUCCESS;
    for (int code; (code = next_option(v, argc, argv)) != -1;) {
        if (code < 0) {
            recording_options_free(&a.in);
            return option_exit(code);
        }
        if (code != 1) more = code == 'd' ? &a.in.data : code == CONTROLS_OPTION ? &a.in.controls : NULL;
        if (more && (code != 1 || a.scene))
            status = list_add(more, optarg) ? status : trouble("no memory");
        else if (code == 1 && !a.scene)
            a.scene = optarg;
        else if (code == 1)
            status = usage_error(v, "one scene, not also %s", optarg);
        if (status == EXIT_SUCCESS) status = recording_option(v, code, optarg, &a.in);
        if (code == 'e') a.estimate_start = true;
        if (code == 'j') a.json = true;
        if (status == EXIT_SUCCESS) status = scene_option(v, code, optarg);
        if (code >= LAW_OPTION && status == EXIT_SUCCESS) status = law_option(v, code, optarg, &a.law);
    }
    if (status == EXIT_SUCCESS && !a.scene) status = usage_error(v, "which scene?");
    if (status == EXIT_SUCCESS && !a.in.data.n) status = usage_error(v, "--data: which recordings?");
    if (status == EXIT_SUCCESS) status = validate(&a);
    recording_options_free(&a.in);
    return status;
}

static const option_row rows[] = {
    {"data", 'd', "FILE.csv...", "recordings: CSV with the columns NAME.px ... NAME.wz of bodies, NAME.q of joints",
     true},
    {"estimate-start", 'e', NULL,
     "start from the state that fits the poses of the rows before the first contact, or of all where contact is there "
     "from the first row",
     false},
    {"json", 'j', NULL, "JSON instead of a table", false},
    {0}};
const verb verb_validate = {
    .name = "validate",
    .summary = "measure how well a scene predicts recordings",
    .operands = "SCENE",
    .about = "Simulates each recording from its first row to its last and says how far that is from what was measured: "
             "the mean over rows of the distance and of the angle, and the root mean squares of the errors of "
             "simulations from every row to the next. Last the means over recordings.",
    .options = rows,
    .groups = {&group_recordings, &group_scene, &group_step, &group_law},
    .example = "  tribo validate out/fit/identified.xml --data toss-*.csv",
    .run = run,
    .shared = true,
};
