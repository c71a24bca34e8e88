/* check.c -- the verb `check`: what a scene needs that is not there, or what was read of it. */
#include "found.h"
#include "inputs.h"
#include "scene.h"
#include <stdlib.h>
#include <string.h>

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

/* Sizes, masses and names of a model as JSON. */
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
        "sizes.",
    .options = rows,
    .groups = {&group_scene},
    .statuses = "0 the scene loads; 2 usage; 3 it does not",
    .example = "  tribo check robot.urdf --free-base",
    .run = run,
};
