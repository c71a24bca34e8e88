/* check.c -- the verb `check`: what a scene needs that is not there, or what was read of it. */
#include "files.h"
#include "found.h"
#include "scene.h"
#include <stdlib.h>
#include <string.h>
#include <tribo/sim.h>

typedef struct counted {
    char word[40];
    int n;
    bool left_out;
} counted;

typedef struct listing {
    const char *path;
    bool json;
    json_t *needs;
    counted *kind;
    int nkind, missing;
} listing;

static void count(listing *l, const tribo_need *n) {
    int k = 0;
    l->missing += !n->left_out;
    while (k < l->nkind && strcmp(l->kind[k].word, n->word) != 0) k++;
    if (k == l->nkind) {
        counted *grown = realloc(l->kind, (size_t)(k + 1) * sizeof *grown);
        if (!grown) return;
        l->kind = grown, l->nkind++;
        l->kind[k] = (counted){.left_out = n->left_out};
        snprintf(l->kind[k].word, sizeof l->kind[k].word, "%s", n->word);
    }
    l->kind[k].n++;
}

static void hear(void *ctx, const tribo_need *n) {
    listing *l = ctx;
    const char *file = n->file ? n->file : strcmp(l->path, "-") ? l->path : "standard input";
    count(l, n);
    if (!l->json) {
        printf("%s:%d: %s%s [%s]\n", file, n->line, n->text, n->left_out ? ", left out" : "", n->word);
        return;
    }
    json_t *o = json_object();
    json_object_set_new(o, "file", json_string(file));
    json_object_set_new(o, "line", json_integer(n->line));
    json_object_set_new(o, "word", json_string(n->word));
    json_object_set_new(o, "text", json_string(n->text));
    json_object_set_new(o, "left_out", json_boolean(n->left_out));
    json_array_append_new(l->needs, o);
}

static void print_kinds(const listing *l, bool left_out) {
    bool any = false;
    for (int k = 0; k < l->nkind; k++) {
        if (l->kind[k].left_out != left_out) continue;
        printf("%s%s (%d)", any ? ", " : left_out ? "left out: " : "missing: ", l->kind[k].word, l->kind[k].n);
        any = true;
    }
    if (any) putchar('\n');
}

/* ---- what overlaps where a motion starts ---- */

/* Depths below this share of the model's extent are told of nowhere: what rests sinks by less. */
static const double shallow = 1e-3;

static bool listed(const json_t *all, const char *start, const char *a, const char *b) {
    size_t i;
    json_t *o;
    json_array_foreach(all, i, o) {
        const char *at = json_string_value(json_object_get(o, "start"));
        if (strcmp(at ? at : "", start ? start : "") == 0 && !strcmp(json_string_value(json_object_get(o, "a")), a) &&
            !strcmp(json_string_value(json_object_get(o, "b")), b))
            return true;
    }
    return false;
}

/* Pairs of geoms that overlap at a state, each once, by its deepest contact. */
static void overlaps_at(tribo_ws *ws, const tribo_model *m, const double *p, double *x, const char *start,
                        json_t *all) {
    if (tribo_step(ws, p, x, NULL, x, NULL) < 0) return; /* told of by every verb that steps */
    int n;
    const tribo_contact *c = tribo_last_contacts(ws, &n);
    for (int i = 0; i < n; i++) {
        const char *a = tribo_model_geom_name(m, c[i].geom_a), *b = tribo_model_geom_name(m, c[i].geom_b);
        double gap = c[i].gap;
        if (gap > -shallow * tribo_model_extent(m) || listed(all, start, a, b)) continue;
        for (int k = i + 1; k < n; k++)
            if (c[k].geom_a == c[i].geom_a && c[k].geom_b == c[i].geom_b && c[k].gap < gap) gap = c[k].gap;
        json_t *o = json_object();
        json_object_set_new(o, "start", start ? json_string(start) : json_null());
        json_object_set_new(o, "a", json_string(a)), json_object_set_new(o, "b", json_string(b));
        json_object_set_new(o, "depth", json_number(-gap));
        json_array_append_new(all, o);
    }
}

/* At the start, or at every key. */
static json_t *overlaps(const tribo_model *m) {
    tribo_sizes n = tribo_model_sizes(m);
    json_t *all = json_array();
    tribo_ws *ws = NULL;
    double *p = calloc((size_t)n.np + 1, sizeof *p), *x = calloc((size_t)n.nx + 1, sizeof *x);
    int keys = tribo_model_keys(m);
    if (p && x && tribo_ws_new(m, NULL, NULL, &ws, NULL) == TRIBO_OK) {
        tribo_model_params(m, p);
        for (int k = 0; k < (keys > 0 ? keys : 1); k++) {
            tribo_model_key(m, k, x, NULL);
            overlaps_at(ws, m, p, x, tribo_model_key_name(m, k), all);
        }
    }
    free(p), free(x), tribo_ws_free(ws);
    return all;
}

static void print_overlaps(const json_t *all) {
    size_t i;
    json_t *o;
    json_array_foreach(all, i, o) {
        const char *start = json_string_value(json_object_get(o, "start"));
        printf("%s%s %s and %s overlap by %.3g m\n", start ? "at key " : "at the start", start ? start : "",
               json_string_value(json_object_get(o, "a")), json_string_value(json_object_get(o, "b")),
               json_number_value(json_object_get(o, "depth")));
    }
}

/* Sizes, masses and names of a model as JSON, and what overlaps. */
static json_t *summary(const tribo_model *m) {
    tribo_sizes n = tribo_model_sizes(m);
    json_t *o = json_object(), *bodies = json_array();
    double *p = calloc((size_t)n.np, sizeof *p), total = 0;
    if (p) tribo_model_params(m, p);
    for (int i = 0; p && i < n.nbody; i++) {
        char name[128];
        const char *body = tribo_model_body_name(m, i);
        snprintf(name, sizeof name, "%s/mass", body);
        int k = tribo_param_find(m, name);
        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(body));
        json_object_set_new(one, "mass", json_number(k < 0 ? 0 : p[k]));
        json_array_append_new(bodies, one);
        total += k < 0 ? 0 : p[k];
    }
    free(p);
    const struct {
        const char *name;
        int n;
    } size[] = {{"nbody", n.nbody}, {"njoint", n.njoint}, {"ngeom", n.ngeom}, {"npair", n.npair},
                {"nq", n.nq},       {"nv", n.nv},         {"nu", n.nu},       {"np", n.np}};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        json_object_set_new(o, size[i].name, json_integer(size[i].n));
    json_object_set_new(o, "mass", json_number(total));
    json_object_set_new(o, "timestep", json_number(tribo_model_timestep(m)));
    json_object_set_new(o, "bodies", bodies);
    json_object_set_new(o, "overlaps", overlaps(m));
    return o;
}

static void print_summary(const json_t *s) {
    static const char *const size[] = {"nbody", "njoint", "ngeom", "npair", "nq", "nv", "nu", "np"};
    static const char *const called[] = {"bodies", "joints", "geoms", "pairs", "nq", "nv", "nu", "parameters"};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        printf("%s%s %d", i ? ", " : "", called[i], (int)json_integer_value(json_object_get(s, size[i])));
    printf("\nmass %.6g kg, timestep %g s\n", json_real_value(json_object_get(s, "mass")),
           json_real_value(json_object_get(s, "timestep")));
    size_t i;
    json_t *body;
    json_array_foreach(json_object_get(s, "bodies"), i, body)
        printf("  %-32s %12.6g kg\n", json_string_value(json_object_get(body, "name")),
               json_real_value(json_object_get(body, "mass")));
    print_overlaps(json_object_get(s, "overlaps"));
}

/* Why a scene does not load in which nothing is missing. */
static json_t *fault(const tribo_diag *diag) {
    json_t *o = json_object();
    if (diag->line > 0) json_object_set_new(o, "line", json_integer(diag->line));
    json_object_set_new(o, "text", json_string(diag->text));
    return o;
}

static int check(listing *l) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_load_options o = scene_options();
    o.need = hear, o.ctx = l;
    const char *place = found(l->path, "scene", ".xml");
    if (!place) return EXIT_INPUT;
    tribo_status s = tribo_model_load_with(place, &o, NULL, &m, &diag);
    input_note(place);
    json_t *told = s == TRIBO_OK ? summary(m) : NULL;
    tribo_model_free(m);
    bool good = true;
    if (l->json) {
        json_t *all = json_object();
        json_object_set_new(all, "scene", json_string(l->path));
        json_object_set_new(all, "loads", json_boolean(s == TRIBO_OK));
        json_object_set(all, "needs", l->needs);
        if (told) json_object_set(all, "model", told);
        if (s != TRIBO_OK && !l->missing) json_object_set_new(all, "error", fault(&diag));
        good = json_write(stdout, all, true);
        json_decref(all);
    } else {
        print_kinds(l, true), print_kinds(l, false);
        if (told) print_summary(told);
    }
    json_decref(told);
    if (fflush(stdout) != 0 || !good) return trouble("the list could not be written");
    if (s == TRIBO_OK) return EXIT_SUCCESS;
    return l->missing ? EXIT_INPUT : input_error(l->path, s, &diag);
}

static int run(int argc, char **argv) {
    const verb *v = &verb_check;
    listing l = {0};
    for (int code; (code = next_option(v, argc, argv)) != -1;) {
        if (code < 0) return option_exit(code);
        if (scene_option(v, code, optarg)) return EXIT_USAGE;
        if (code == 1 && l.path) return usage_error(v, "one scene, not also %s", optarg);
        if (code == 1) l.path = optarg;
        if (code == 'j') l.json = true;
    }
    if (!l.path) return usage_error(v, "which scene?");
    l.needs = json_array();
    int status = check(&l);
    json_decref(l.needs);
    free(l.kind);
    return status;
}

static const option_row rows[] = {{"json", 'j', NULL, "as JSON", false}, {0}};
const verb verb_check = {
    .name = "check",
    .summary = "say what a scene needs that is not there, or what was read",
    .operands = "SCENE",
    .about =
        "Reads a scene. Everything that it needs and that is not there is listed, each with file, line and the word "
        "by which it can be left out; where nothing is missing, what was read: bodies, joints, geoms, masses (kg), "
        "sizes, and which geoms overlap at the start or a key.",
    .options = rows,
    .groups = {&group_scene},
    .statuses = "0 the scene loads; 2 usage; 3 it does not",
    .example = "  tribo check robot.urdf --free-base",
    .run = run,
};
