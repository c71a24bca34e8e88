/* params.c -- the verb `params`: every physical number of a scene, by name. */
#include "params.h"
#include "common.h"
#include "names.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *param_unit(tribo_param_kind kind) {
    switch (kind) {
    case TRIBO_PARAM_GRAVITY:
        return "m/s^2";
    case TRIBO_PARAM_MASS:
        return "kg";
    case TRIBO_PARAM_INERTIA:
        return "kg m^2";
    case TRIBO_PARAM_COM:
    case TRIBO_PARAM_SIZE:
    case TRIBO_PARAM_POS:
    case TRIBO_PARAM_SLOP:
        return "m";
    default:
        return "1";
    }
}

bool param_nearest(const tribo_model *m, const char *name, char nearest[128]) {
    near_name near = near_begin(name);
    int np = tribo_model_sizes(m).np;
    for (int i = 0; i < np; i++) {
        tribo_param_info info;
        if (tribo_param_describe(m, i, &info) || !info.used) continue;
        for (char *end = info.name + strlen(info.name);; *end = 0) { /* the name, then the groups that it is in */
            near_offer(&near, info.name);
            end = strrchr(info.name, '/');
            if (!end || (!strchr(info.name, '/') && info.kind != TRIBO_PARAM_GRAVITY)) break;
            if (strchr(info.name, '/') == end && info.kind != TRIBO_PARAM_GRAVITY) break; /* all of a body is no help */
        }
    }
    memcpy(nearest, near.nearest, sizeof near.nearest);
    return *nearest != 0;
}

/* ---- the verb ---- */

static void print_bound(double x) {
    if (isinf(x))
        printf(" %12s", x > 0 ? "" : "");
    else
        printf(" %12.6g", x);
}

static json_t *as_json(const tribo_param_info *info, double value) {
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(info->name));
    json_object_set_new(o, "value", json_number(value));
    json_object_set_new(o, "unit", json_string(param_unit(info->kind)));
    json_object_set_new(o, "lower", json_number(info->lower));
    json_object_set_new(o, "upper", json_number(info->upper));
    return o;
}

static int list(const char *path, bool json) {
    tribo_model *m = NULL;
    int status = scene_load(path, &m);
    if (status != EXIT_SUCCESS) return status;
    int np = tribo_model_sizes(m).np;
    double *p = calloc((size_t)np, sizeof *p);
    json_t *all = json_array();
    if (p) tribo_model_params(m, p);
    if (!json) printf("%-32s %14s %-8s %12s %12s\n", "parameter", "value", "unit", "lower", "upper");
    for (int i = 0; p && i < np; i++) {
        tribo_param_info info;
        if (tribo_param_describe(m, i, &info) || !info.used) continue;
        if (json) {
            json_array_append_new(all, as_json(&info, p[i]));
            continue;
        }
        printf("%-32s %14.9g %-8s", info.name, p[i], param_unit(info.kind));
        print_bound(info.lower), print_bound(info.upper);
        putchar('\n');
    }
    bool good = p && (!json || json_write(stdout, all, true)) && fflush(stdout) == 0;
    json_decref(all);
    free(p);
    tribo_model_free(m);
    return good ? EXIT_SUCCESS : trouble("the list could not be written");
}

static int run(int argc, char **argv) {
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, SCENE_OPTIONS, {"help", no_argument, NULL, 'h'}, {0}};
    const verb *v = &verb_params;
    const char *scene = NULL;
    bool json = false;
    for (int code; (code = next_option(v, argc, argv, options)) != -1;) {
        if (code < 0) return option_exit(code);
        if (scene_option(v, code, optarg)) return EXIT_USAGE;
        if (code == 1 && scene) return usage_error(v, "one scene, not also %s", optarg);
        if (code == 1) scene = optarg;
        if (code == 'j') json = true;
    }
    return scene ? list(scene, json) : usage_error(v, "which scene?");
}

const verb verb_params = {
    .name = "params",
    .summary = "list a scene's parameters: names, values, units, bounds",
    .help =
        "usage: tribo params SCENE [--lenient WORD,...] [--json]\n"
        "Lists every number of the scene that its motion depends on, by the name that `identify --free` takes: its\n"
        "value, unit and physical bounds. Empty: there is no bound. A group of them is named by its beginning:\n"
        "gravity, cube/size, cube/inertia, cube/com.\n" SCENE_HELP
        "  --json                the same as JSON: name, value, unit, lower, upper (null = no bound)\n",
    .run = run,
};
