/* view.c -- the verb `view`: a scene's motion as a page that plays it, beside a recording where there is one. */
#include "common.h"
#include "files.h"
#include "replay_glb.h"
#include "replay_page.h"
#include "report.h"
#include "scene.h"
#include "still.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/sim.h>

typedef struct arguments {
    const char *scene, *data, *start, *key, *controls, *out;
    double duration, dt, tol; /* 0 = not given */
    double at, look[2];       /* of a still: s, NaN = the end; azimuth and elevation, degrees */
    bool json, looked;        /* looked: --at or --look was given */
    tribo_law_options law;
    int argc;
    char **argv;
} arguments;

typedef struct viewing {
    const arguments *a;
    tribo_model *m;
    tribo_sizes n;
    tribo_controls *controls;
    tribo_trajectory *data; /* of --data, or of --start */
    double *p, *x0, *u;     /* u: the controls of the key */
    double *time;           /* (rows) */
    int rows;
    replay r;
    replay_run run;
    tribo_status status; /* of the simulation */
} viewing;

/* ---- what is simulated ---- */

static void control(const void *ctx, double time, double *u) {
    const viewing *v = ctx;
    if (v->controls)
        tribo_controls_at(v->controls, time, u);
    else
        memcpy(u, v->u, (size_t)v->n.nu * sizeof *u);
}

/* Rows as `simulate` has them. */
static int find_rows(viewing *v, double dt) {
    const double most = 20000000;
    double duration = v->a->duration > 0 || v->data ? v->a->duration : 2;
    int status = motion_times(&verb_view, v->data, duration, dt, most, &v->time, &v->rows);
    if (status == EXIT_SUCCESS && v->data)
        memcpy(v->x0, tribo_trajectory_states(v->data), (size_t)v->n.nx * sizeof *v->x0);
    return status;
}

static int find_start(viewing *v) {
    int key = 0;
    if (v->a->key) key = tribo_model_key_find(v->m, v->a->key);
    if (key < 0) return input_message(v->a->scene, 0, "there is no key %s", v->a->key);
    tribo_model_key(v->m, key, v->x0, v->u);
    return EXIT_SUCCESS;
}

static int load(viewing *v) {
    const arguments *a = v->a;
    int status = scene_load(a->scene, &v->m);
    if (status != EXIT_SUCCESS) return status;
    v->n = tribo_model_sizes(v->m);
    v->p = calloc((size_t)v->n.np + 1, sizeof *v->p);
    v->x0 = calloc((size_t)v->n.nx + 1, sizeof *v->x0);
    v->u = calloc((size_t)v->n.nu + 1, sizeof *v->u);
    if (!v->p || !v->x0 || !v->u) return trouble("no memory");
    tribo_model_params(v->m, v->p);
    tribo_law_options scene = tribo_model_law(v->m);
    status = law_check(&verb_view, a->scene, &a->law, &scene);
    if (status == EXIT_SUCCESS) status = find_start(v);
    if (status == EXIT_SUCCESS && a->controls) status = controls_load(a->controls, v->m, &v->controls);
    const char *recording = a->data ? a->data : a->start;
    if (status == EXIT_SUCCESS && recording) status = recording_load(recording, v->m, &v->data);
    double dt = a->dt > 0 ? a->dt : tribo_model_timestep(v->m);
    if (status == EXIT_SUCCESS) status = find_rows(v, dt);
    return status;
}

static int record(viewing *v) {
    const arguments *a = v->a;
    tribo_options o = step_options();
    o.dt = a->dt > 0 ? a->dt : tribo_model_timestep(v->m), o.tol = a->tol, o.law = a->law;
    if (!replay_start(&v->r, v->m, v->p) || !replay_take(&v->r, a->data ? a->data : a->scene))
        return trouble("no memory");
    v->run = (replay_run){.name = "simulated", .p = v->p, .x0 = v->x0, .rows = v->rows, .time = v->time, .options = o};
    v->run.control = control, v->run.ctx = v;
    v->status = replay_simulate(&v->r, &v->run);
    if (v->status == TRIBO_E_NOMEM) return trouble("no memory");
    if (v->r.ntrack == 0 || v->r.track[0].frames == 0)
        return input_message(a->scene, 0, "%s", step_text(v->status, v->run.wanted));
    if (a->data && !replay_states(&v->r, "measured", true, v->rows, v->time, tribo_trajectory_states(v->data),
                                  tribo_trajectory_observed(v->data), NULL))
        return input_message(a->data, 0, "a state in it has no pose");
    return EXIT_SUCCESS;
}

/* ---- the page ---- */

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void tell(FILE *f, const viewing *v) {
    const replay_track *t = v->r.track;
    report_text(f, "%d %s, %.4g s in %ld steps of at most %.4g s; %d pictures, %.0f a second.%s", v->n.nbody,
                v->n.nbody == 1 ? "body" : "bodies", v->run.reached - v->time[0], v->run.steps, v->run.options.dt,
                t->frames, t->frames > 1 ? (t->frames - 1) / (t->time[t->frames - 1] - t->time[0]) : 0.0,
                v->a->data ? " The simulation starts from the first row of the recording." : "");
    if (v->status < 0) {
        char text[256];
        snprintf(text, sizeof text, "The simulation ended at %.6g s: %s", v->run.reached,
                 step_text(v->status, v->run.wanted));
        report_warning(f, text);
    }
}

static bool write_page(FILE *f, viewing *v) {
    char title[512];
    snprintf(title, sizeof title, "%s%s%s", file_name(v->a->scene), v->a->data ? ", beside " : "",
             v->a->data ? file_name(v->a->data) : "");
    report_begin_view(f, title);
    bool good =
        replay_write(f, &v->r,
                     "Drag to turn, shift-drag or two fingers to move, wheel or pinch to zoom, click a body for "
                     "its numbers. Keys: space plays, arrows step, 1 2 3 look from the front, the side, above. "
                     "Arrows are contact forces on what moves, coloured by what the contact does; the shortest "
                     "impacts are means over the time of a picture.");
    tell(f, v);
    report_command(f, v->a->argc, v->a->argv);
    report_end(f);
    return good;
}

/* scene.html in the folder one is in, where --out does not say. */
static char *default_out(const char *scene) {
    const char *name = file_name(scene), *dot = strrchr(name, '.');
    int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
    char *path = malloc((size_t)length + 8);
    if (path) snprintf(path, (size_t)length + 8, "%.*s.html", length, name);
    return path;
}

static bool is_picture(const char *path) {
    return ends_with(path, ".png") || ends_with(path, ".svg");
}

static bool is_known(const char *path) {
    return !strcmp(path, "-") || ends_with(path, ".html") || ends_with(path, ".glb") || is_picture(path);
}

/* A moment as a picture. */
static bool write_still(FILE *f, const viewing *v, bool png) {
    const double degree = 3.14159265358979323846 / 180;
    still_look look = {v->a->at, v->a->look[0] * degree, v->a->look[1] * degree, 1280, 800};
    still s;
    bool good = still_make(&s, &v->r, &look) && (png ? still_png(f, &s) : still_svg(f, &s, file_name(v->a->scene)));
    still_free(&s);
    return good;
}

/* What the ending of the file asks for. */
static bool write_as(FILE *f, viewing *v, const char *path) {
    if (ends_with(path, ".glb")) return replay_glb(f, &v->r);
    if (is_picture(path)) return write_still(f, v, ends_with(path, ".png"));
    return write_page(f, v);
}

static int write_file(viewing *v, const char *path) {
    out_file o;
    if (!out_open(&o, path)) return EXIT_TROUBLE;
    if (!write_as(o.f, v, path)) {
        out_discard(&o);
        return trouble("no memory");
    }
    if (!out_close(&o)) return EXIT_TROUBLE;
    if (strcmp(path, "-") != 0) remark(&verb_view, "wrote %s", path);
    return EXIT_SUCCESS;
}

static json_t *tracks_json(const replay *r) {
    json_t *list = json_array();
    for (int i = 0; i < r->ntrack; i++) {
        const replay_track *t = r->track + i;
        json_array_append_new(list, json_pack("{s:s,s:b,s:i,s:I}", "name", t->name, "measured", t->measured, "frames",
                                              t->frames, "contacts", (json_int_t)t->ncontact));
    }
    return list;
}

static int write_json(const viewing *v, const char *out) {
    json_t *all = json_object();
    json_object_set_new(all, "scene", json_string(v->a->scene));
    json_object_set_new(all, "out", json_string(out));
    json_object_set_new(all, "bodies", json_integer(v->n.nbody));
    json_object_set_new(all, "steps", json_integer(v->run.steps));
    json_object_set_new(all, "not_converged", json_integer(v->run.failed));
    json_object_set_new(all, "time_end", json_number(v->run.reached));
    json_object_set_new(all, "tracks", tracks_json(&v->r));
    bool good = json_write(stdout, all, true) && fflush(stdout) == 0;
    json_decref(all);
    return good ? EXIT_SUCCESS : trouble("the result could not be written");
}

static int outcome(const viewing *v) {
    if (v->status < 0)
        remark(&verb_view, "the simulation ended at %g s: %s", v->run.reached, step_text(v->status, v->run.wanted));
    else if (v->run.failed)
        remark(&verb_view, "%ld of %ld steps did not converge", v->run.failed, v->run.steps);
    return v->status < 0 || v->run.failed ? EXIT_NOT_CONVERGED : EXIT_SUCCESS;
}

static int run_scene(const arguments *a) {
    viewing v = {.a = a};
    char *path = a->out ? NULL : default_out(a->scene);
    const char *out = a->out ? a->out : path;
    int status = out ? load(&v) : trouble("no memory");
    if (status == EXIT_SUCCESS) status = output_check(NULL, out);
    if (status == EXIT_SUCCESS) status = record(&v);
    if (status == EXIT_SUCCESS) status = write_file(&v, out);
    if (status == EXIT_SUCCESS && a->json) status = write_json(&v, out);
    if (status == EXIT_SUCCESS) status = outcome(&v);
    replay_free(&v.r);
    tribo_controls_free(v.controls);
    tribo_trajectory_free(v.data);
    tribo_model_free(v.m);
    free(v.p);
    free(v.x0);
    free(v.u);
    free(v.time);
    free(path);
    return status;
}

/* Two angles, the camera's. */
static int take_look(const char *text, double look[2]) {
    char word[64];
    const char *comma = strchr(text, ',');
    if (comma && comma - text < (long)sizeof word) {
        snprintf(word, sizeof word, "%.*s", (int)(comma - text), text);
        if (parse_number(word, -360, 360, &look[0]) && parse_number(comma + 1, -89, 89, &look[1])) return EXIT_SUCCESS;
    }
    return usage_error(&verb_view, "--look takes two angles in degrees, -360 to 360 round and -89 to 89 up, not %s",
                       text);
}

/* One option into its place. @return EXIT_SUCCESS, or EXIT_USAGE after a message. */
static int take_option(arguments *a, int code) {
    const verb *v = &verb_view;
    if (scene_option(v, code, optarg)) return EXIT_USAGE;
    if (code >= LAW_OPTION) return law_option(v, code, optarg, &a->law);
    if (code == 'j') a->json = true;
    if (code == 't') return parse_positive(v, TOL_RANGE, 1, &a->tol);
    if (code == 'd') return parse_positive(v, "--duration takes a time above 0 s", 1e9, &a->duration);
    if (code == 's') return parse_positive(v, "--dt takes a time above 0 s", 1e3, &a->dt);
    a->looked |= code == 'l' || code == 'i';
    if (code == 'l') return take_look(optarg, a->look);
    if (code == 'i' && !parse_number(optarg, 0, 1e9, &a->at))
        return usage_error(v, "--at takes a time of at least 0 s, not %s", optarg);
    const char **text = code == 1     ? &a->scene
                        : code == 'm' ? &a->data
                        : code == 'x' ? &a->start
                        : code == 'k' ? &a->key
                        : code == 'u' ? &a->controls
                        : code == 'o' ? &a->out
                                      : NULL;
    if (code == 1 && a->scene) return usage_error(v, "one scene, not also %s", optarg);
    if (text) *text = optarg;
    return EXIT_SUCCESS;
}

static int run(int argc, char **argv) {
    const verb *v = &verb_view;
    arguments a = {.argc = argc, .argv = argv, .at = (double)NAN, .look = {-60, 19}};
    for (int code; (code = next_option(v, argc, argv)) != -1;) {
        if (code < 0) return option_exit(code);
        if (take_option(&a, code)) return EXIT_USAGE;
    }
    if (!a.scene) return usage_error(v, "which scene?");
    if (a.data && a.start) return usage_error(v, "--data starts from its own first row: not also --start");
    if (a.out && !is_known(a.out))
        return usage_error(v, "--out %s ends in none of .html, .glb, .png, .svg, and is not -", a.out);
    if (a.looked && !(a.out && is_picture(a.out)))
        return usage_error(v, "--at and --look are of a picture: --out FILE.png or FILE.svg");
    if (a.json && a.out && !strcmp(a.out, "-")) return usage_error(v, "--json and a page both on standard output");
    return run_scene(&a);
}

static const option_row rows[] = {
    {"data", 'm', "FILE.csv", "a recording: shown as measured, over a simulation that starts from its first row",
     false},
    {"out", 'o', "FILE.html|FILE.glb|FILE.png|FILE.svg",
     "where to write (the scene's name with .html; -: standard output); as binary glTF for Blender and others; one "
     "moment as a picture",
     false},
    {"at", 'i', "S", "the moment of a picture, s (the end)", false},
    {"look", 'l', "AROUND,UP",
     "where a picture is taken from: degrees around the vertical from x, and upwards (-60,19)", false},
    {"duration", 'd', "S", "seconds to simulate, also beyond the recording (2, or as long as the recording)", false},
    {"dt", 's', "S", "length of a step, s (the scene's timestep)", false},
    {"start", 'x', "FILE.csv", "start from its first row, and have rows at its times, as `simulate` does", false},
    {"key", 'k', "KEY", "start from that key of the scene (the first)", false},
    {"controls", 'u', "FILE.csv",
     "forces (N), torques (N m) and controls over time, each row held until the next (those of the key)", false},
    {"json", 'j', NULL, "a summary as JSON on standard output", false},
    {"tol", 't', "T", "on the relative residual of the contact law (the solver's)", false},
    {0}};
const verb verb_view = {
    .name = "view",
    .summary = "a page that plays a motion, beside a recording where there is one",
    .operands = "SCENE",
    .about = "Simulates a scene and writes one page that needs nothing else and plays the motion in a browser: bodies, "
             "contact forces by what the contact does, trails, and curves over time. Or a picture of one moment, which "
             "needs no browser.",
    .options = rows,
    .groups = {&group_scene, &group_step, &group_law},
    .statuses = "0; 2 usage; 3 bad input; 4 a step did not converge, or the motion ended early",
    .example = "  tribo view slide.xml --duration 2 --out slide.html",
    .run = run,
};
