/* scene.c -- loads scenes and recordings for the verbs. */
#include "scene.h"
#include "files.h"
#include "found.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int outcome(const char *place, const char *path, tribo_status s, const tribo_diag *diag) {
    input_note(place);
    return s < 0 ? input_error(path, s, diag) : EXIT_SUCCESS;
}

static char lenient[1024]; /* a command has one command line */
static const char *packages;
static bool free_base;
static long ncon_max;

static const option_row scene_rows[] = {
    {"lenient", SCENE_OPTION, "WORD,...",
     "leave out what the scene needs and is not there, by the words of `tribo check`", false},
    {"packages", SCENE_OPTION + 1, "DIR:...", "of URDF: where packages are", false},
    {"free-base", SCENE_OPTION + 2, NULL, "of URDF: a base that moves", false},
    {0}};
const option_group group_scene = {"Scene options", NULL, scene_rows};

enum { NCON_MAX = 1 << 22 }; /* tribo_options.ncon_max */
static const option_row step_rows[] = {{"ncon-max", SCENE_OPTION + 3, "N",
                                        "contacts that there is room for in a step, 1 to 4194304 (all there can be, or "
                                        "128 and 24 a body, or for each geom "
                                        "of bodies where these are more, 12 beyond 4096 of them)",
                                        false},
                                       {0}};
const option_group group_step = {"Steps", NULL, step_rows};

int scene_option(const verb *v, int code, const char *value) {
    if (code == SCENE_OPTION + 1) packages = value;
    if (code == SCENE_OPTION + 2) free_base = true;
    if (code == SCENE_OPTION + 3) return parse_whole(v, "--ncon-max takes a whole number", 1, NCON_MAX, &ncon_max);
    if (code != SCENE_OPTION) return EXIT_SUCCESS;
    size_t n = strlen(lenient);
    if (n + strlen(value) + 2 > sizeof lenient) return usage_error(v, "--lenient has too many words");
    snprintf(lenient + n, sizeof lenient - n, "%s%s", n ? " " : "", value);
    for (char *c = lenient; *c; c++)
        if (*c == ',') *c = ' ';
    return EXIT_SUCCESS;
}

tribo_load_options scene_options(void) {
    tribo_load_options o = tribo_default_load_options();
    if (*lenient) o.lenient = lenient;
    o.packages = packages, o.free_base = free_base;
    return o;
}

tribo_options step_options(void) {
    tribo_options o = tribo_default_options();
    o.ncon_max = (int)ncon_max;
    return o;
}

tribo_status step_workspace(const tribo_model *m, const tribo_options *o, double dt, tribo_ws **ws) {
    if (*ws && fabs(tribo_ws_options(*ws).dt - dt) <= 1e-9 * dt) return TRIBO_OK;
    tribo_options with = *o;
    with.dt = dt;
    tribo_ws_free(*ws);
    *ws = NULL;
    return tribo_ws_new(m, &with, NULL, ws, NULL);
}

int step_wanted(const tribo_ws *ws) {
    int wanted = ws ? tribo_last_info(ws)->ncon : 0;
    return ws && wanted > tribo_ws_options(ws).ncon_max ? wanted : 0;
}

const char *step_text(tribo_status s, int wanted) {
    static char text[160];
    if (s != TRIBO_E_CAPACITY) return tribo_status_text(s);
    if (!wanted)
        return "a step has more contacts than there is room for (--ncon-max), or more than 16384 bodies hang together";
    snprintf(text, sizeof text, "a step has more contacts than there is room for (--ncon-max): at least %d", wanted);
    return text;
}

/* What is left out of any scene is said once, where it was not asked for. */
static void hear_integrator(void *line, const tribo_need *n) {
    if (n->left_out && strcmp(n->word, "integrator") == 0) *(int *)line = n->file ? 0 : n->line;
}

int scene_load(const char *path, tribo_model **m) {
    tribo_diag diag = {0};
    tribo_load_options o = scene_options();
    int integrator = -1;
    const char *place = found(path, "scene", ".xml");
    if (!place) return EXIT_INPUT;
    if (!strstr(lenient, "integrator")) o.need = hear_integrator, o.ctx = &integrator;
    int status = outcome(place, path, tribo_model_load_with(place, &o, NULL, m, &diag), &diag);
    if (status == EXIT_SUCCESS && integrator >= 0 && !messages_quiet)
        input_message(path, integrator,
                      "steps are of first order, those of RK4 of fourth: shorter ones may be wanted (--lenient "
                      "integrator: known)");
    if (status == EXIT_SUCCESS && tribo_model_sizes(*m).nbody == 0)
        status = input_message(path, 0, "there is no body in this scene that could move");
    return status;
}

int recording_load(const char *path, const tribo_model *m, tribo_trajectory **t) {
    tribo_diag diag = {0};
    const char *place = found_input(path, "recording");
    return place ? outcome(place, path, tribo_trajectory_load(place, m, NULL, t, &diag), &diag) : EXIT_USAGE;
}

int controls_load(const char *path, const tribo_model *m, tribo_controls **c) {
    tribo_diag diag = {0};
    const char *place = found_input(path, "controls");
    return place ? outcome(place, path, tribo_controls_load(place, m, NULL, c, &diag), &diag) : EXIT_USAGE;
}

int scene_start(const char *path, const tribo_model *m, double *x) {
    tribo_trajectory *t = NULL;
    int status = recording_load(path, m, &t);
    if (status == EXIT_SUCCESS) memcpy(x, tribo_trajectory_states(t), (size_t)tribo_model_sizes(m).nx * sizeof *x);
    tribo_trajectory_free(t);
    return status;
}

int motion_times(const verb *v, const tribo_trajectory *t, double duration, double dt, double most, double **time,
                 int *rows) {
    const double zero = 0, *given = t ? tribo_trajectory_times(t) : &zero;
    int all = t ? tribo_trajectory_rows(t) : 1, n = 0;
    double end = duration > 0 ? given[0] + duration : HUGE_VAL, more = 0;
    while (n < all && given[n] <= end) n++;
    if (n == all && duration > 0) more = floor((end - given[n - 1]) / dt * (1 + 1e-9));
    if (!(n + more <= most)) return usage_error(v, "%g s in steps of %g s are too many rows", duration, dt);
    *rows = n + (int)more;
    *time = calloc((size_t)*rows, sizeof **time);
    if (!*time) return trouble("no memory");
    memcpy(*time, given, (size_t)n * sizeof **time);
    for (int i = n; i < *rows; i++) (*time)[i] = given[n - 1] + (i - n + 1) * dt;
    return EXIT_SUCCESS;
}
