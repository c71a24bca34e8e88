/* params.c -- the verb `params`: every physical number of a scene, by name. */
#include "params.h"
#include "common.h"
#include "names.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether the joint that a parameter belongs to turns; false also where it is no joint's. */
static bool turns(const tribo_model *m, const tribo_param_info *info) {
    char name[128];
    memcpy(name, info->name, sizeof name);
    for (char *end; (end = strrchr(name, '/'));) {
        *end = 0;
        int joint = tribo_model_joint_find(m, name);
        if (joint >= 0) return tribo_model_turns(m, tribo_model_joint_v(m, joint));
    }
    return false;
}

const char *param_unit(const tribo_model *m, const tribo_param_info *info) {
    switch (info->kind) {
    case TRIBO_PARAM_GRAVITY:
        return "m/s^2";
    case TRIBO_PARAM_DENSITY:
        return "kg/m^3";
    case TRIBO_PARAM_VISCOSITY:
        return "Pa s";
    case TRIBO_PARAM_WIND:
        return "m/s";
    case TRIBO_PARAM_MASS:
        return "kg";
    case TRIBO_PARAM_COMPLIANCE:
        return "1/kg";
    case TRIBO_PARAM_INERTIA:
        return "kg m^2";
    case TRIBO_PARAM_COM:
    case TRIBO_PARAM_SIZE:
    case TRIBO_PARAM_POS:
    case TRIBO_PARAM_SLOP:
    case TRIBO_PARAM_EDGE_RADIUS:
    case TRIBO_PARAM_TORSION:
    case TRIBO_PARAM_ROLLING:
        return "m";
    case TRIBO_PARAM_DAMPING:
        return turns(m, info) ? "N m s/rad" : "N s/m";
    case TRIBO_PARAM_ARMATURE:
        return turns(m, info) ? "kg m^2" : "kg";
    case TRIBO_PARAM_STIFFNESS:
        return turns(m, info) ? "N m/rad" : "N/m";
    case TRIBO_PARAM_FRICTIONLOSS:
        return turns(m, info) ? "N m" : "N";
    case TRIBO_PARAM_SPRINGREF:
    case TRIBO_PARAM_RANGE:
        return turns(m, info) ? "rad" : "m";
    case TRIBO_PARAM_GEAR:
    case TRIBO_PARAM_GAIN:
    case TRIBO_PARAM_BIAS:
    case TRIBO_PARAM_CTRLRANGE:
    case TRIBO_PARAM_FORCERANGE:
        return "";
    default:
        return "1";
    }
}

/* Whether a motion depends on it, or where a marker sits, of which recordings may tell. */
static bool counts(const tribo_param_info *info) {
    return info->used || strstr(info->name, "/site_pos/");
}

bool param_nearest(const tribo_model *m, const char *name, char nearest[128]) {
    near_name near = near_begin(name);
    int np = tribo_model_sizes(m).np;
    for (int i = 0; i < np; i++) {
        tribo_param_info info;
        if (tribo_param_describe(m, i, &info) || !counts(&info)) continue;
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

int param_group(const tribo_model *m, const char *name, char *list, size_t size) {
    size_t n = strlen(name), used = 0;
    int found = 0;
    *list = 0;
    for (int i = 0, np = tribo_model_sizes(m).np; i < np; i++) {
        tribo_param_info info;
        if (tribo_param_describe(m, i, &info) || strncmp(info.name, name, n) != 0 || info.name[n] != '/') continue;
        if (found++ < 6 && used < size)
            used += (size_t)snprintf(list + used, size - used, "%s%s", found > 1 ? ", " : "", info.name);
    }
    if (found > 6 && used < size) snprintf(list + used, size - used, ", ...");
    return found;
}

/* Those that count and end with /word, at most four of them. @return how many there are. */
static int param_ending(const tribo_model *m, const char *word, char *list, size_t size) {
    size_t n = strlen(word), used = 0;
    int found = 0;
    *list = 0;
    for (int i = 0, np = tribo_model_sizes(m).np; i < np; i++) {
        tribo_param_info info;
        if (tribo_param_describe(m, i, &info) || !counts(&info)) continue;
        size_t k = strlen(info.name);
        if (k <= n + 1 || info.name[k - n - 1] != '/' || strcmp(info.name + k - n, word) != 0) continue;
        if (found++ < 4 && used < size)
            used += (size_t)snprintf(list + used, size - used, "%s%s", found > 1 ? ", " : "", info.name);
    }
    if (found > 4 && used < size) snprintf(list + used, size - used, ", ...");
    return found;
}

void param_refusal(const tribo_model *m, const char *name, char *text, size_t size) {
    char list[600], nearest[128];
    const char *slash = strrchr(name, '/');
    bool there = tribo_param_find(m, name) >= 0;
    int others = there || !slash ? param_ending(m, slash ? slash + 1 : name, list, sizeof list) : 0;
    const char *why = "";
    if (slash && !strcmp(slash, "/friction")) why = " (of two that touch, one's friction counts: docs/mjcf.md)";
    if (strstr(name, "/site_pos")) why = " (it counts where recordings have its columns: docs/identify.md)";
    if (there)
        snprintf(text, size, "no step of the scene depends on %s%s%s%s", name, others ? "; there is " : "",
                 others ? list : "", why);
    else if (others)
        snprintf(text, size, "the scene has no parameter %s; there is %s", name, list);
    else if (param_nearest(m, name, nearest))
        snprintf(text, size, "the scene has no parameter %s; the nearest is %s", name, nearest);
    else
        snprintf(text, size, "the scene has no parameter %s; `tribo params` lists them", name);
}

/* ---- the verb ---- */

static void print_bound(double x) {
    if (isinf(x))
        printf(" %12s", "");
    else
        printf(" %12.6g", x);
}

static json_t *as_json(const tribo_model *m, const tribo_param_info *info, double value) {
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(info->name));
    json_object_set_new(o, "value", json_number(value));
    json_object_set_new(o, "unit", json_string(param_unit(m, info)));
    json_object_set_new(o, "lower", json_number(info->lower));
    json_object_set_new(o, "upper", json_number(info->upper));
    return o;
}

static int list(const char *path, bool json, bool names) {
    tribo_model *m = NULL;
    int status = scene_load(path, &m);
    if (status != EXIT_SUCCESS) return status;
    int np = tribo_model_sizes(m).np;
    double *p = calloc((size_t)np, sizeof *p);
    json_t *all = json_array();
    if (p) tribo_model_params(m, p);
    if (!json && !names) printf("%-32s %14s %-9s %12s %12s\n", "parameter", "value", "unit", "lower", "upper");
    for (int i = 0; p && i < np; i++) {
        tribo_param_info info;
        if (tribo_param_describe(m, i, &info) || !counts(&info)) continue;
        if (names) {
            puts(info.name);
            continue;
        }
        if (json) {
            json_array_append_new(all, as_json(m, &info, p[i]));
            continue;
        }
        printf("%-32s %14.9g %-9s", info.name, p[i], param_unit(m, &info));
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
    const verb *v = &verb_params;
    const char *scene = NULL;
    bool json = false, names = false;
    for (int code; (code = next_option(v, argc, argv)) != -1;) {
        if (code < 0) return option_exit(code);
        if (scene_option(v, code, optarg)) return EXIT_USAGE;
        if (code == 1 && scene) return usage_error(v, "one scene, not also %s", optarg);
        if (code == 1) scene = optarg;
        if (code == 'j') json = true;
        if (code == 'n') names = true;
    }
    return scene ? list(scene, json, names) : usage_error(v, "which scene?");
}

static const option_row rows[] = {
    {"json", 'j', NULL, "as JSON: name, value, unit, lower, upper (null: no bound)", false},
    {"names", 'n', NULL, "the names alone, one a line", false},
    {0}};
const verb verb_params = {
    .name = "params",
    .summary = "list a scene's parameters: names, values, units, bounds",
    .operands = "SCENE",
    .about = "Lists every number of the scene that its motion depends on, and where markers sit (site_pos), by the "
             "name that "
             "`identify --free` takes: its value, unit and physical bounds. Empty: there is no bound. A group of them "
             "is named by its beginning: "
             "gravity, cube/size, cube/inertia, cube/com.",
    .options = rows,
    .groups = {&group_scene},
    .example = "  tribo params slide.xml",
    .run = run,
};
