/* replay_glb.c -- writes a replay as binary glTF 2.0: a JSON chunk that points into a chunk of numbers. */
#define _POSIX_C_SOURCE 200809L
#include "replay_glb.h"
#include "common.h"
#include "solids.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Words of the format. */
enum { FLOATS = 5126, INTEGERS = 5125, VERTICES = 34962, INDICES = 34963, TRIANGLES = 4 };
enum { BALL, BOX, CYLINDER, FLOOR, FORMS }; /* before meshes and capsules */

typedef struct file {
    const replay *r;
    json_t *nodes, *meshes, *materials, *accessors, *views, *channels, *samplers;
    unsigned char *data;
    size_t bytes, room;
    int form[FORMS]; /* first accessor of a shared form, -1: not there yet */
    int *mesh;       /* (shapes.nmesh) the same */
    bool failed;
} file;

/* ---- numbers ---- */

static json_t *extreme(const float *x, size_t n, int width, bool highest) {
    json_t *list = json_array();
    for (int k = 0; k < width; k++) {
        float best = highest ? -FLT_MAX : FLT_MAX;
        for (size_t i = 0; i < n; i++) {
            float at = x[i * (size_t)width + (size_t)k];
            if (highest ? at > best : at < best) best = at;
        }
        json_array_append_new(list, json_real((double)best));
    }
    return list;
}

/* An array of n elements; where `bounds`, with its extremes. @return its accessor */
static int put(file *f, const void *x, size_t n, int width, int kind, int target, bool bounds) {
    static const char *const type[] = {"", "SCALAR", "", "VEC3", "VEC4"};
    size_t size = 4 * n * (size_t)width;
    if (f->bytes + size > f->room) {
        unsigned char *more = realloc(f->data, 2 * (f->bytes + size));
        f->failed |= !more;
        if (!more) return 0;
        f->data = more, f->room = 2 * (f->bytes + size);
    }
    memcpy(f->data + f->bytes, x, size);
    json_t *view =
        json_pack("{s:i,s:I,s:I}", "buffer", 0, "byteOffset", (json_int_t)f->bytes, "byteLength", (json_int_t)size);
    if (target) json_object_set_new(view, "target", json_integer(target));
    json_t *accessor = json_pack("{s:i,s:i,s:I,s:s}", "bufferView", (int)json_array_size(f->views), "componentType",
                                 kind, "count", (json_int_t)n, "type", type[width]);
    if (bounds) {
        json_object_set_new(accessor, "min", extreme(x, n, width, false));
        json_object_set_new(accessor, "max", extreme(x, n, width, true));
    }
    f->bytes += size;
    json_array_append_new(f->views, view);
    json_array_append_new(f->accessors, accessor);
    return (int)json_array_size(f->accessors) - 1;
}

/* Points, normals and indices: three accessors. @return the first */
static int put_solid(file *f, solid *s) {
    int first = -1;
    f->failed |= s->failed || s->nindex == 0;
    if (!f->failed) {
        first = put(f, s->point, s->npoint, 3, FLOATS, VERTICES, true);
        put(f, s->normal, s->npoint, 3, FLOATS, VERTICES, false);
        put(f, s->index, s->nindex, 1, INTEGERS, INDICES, false);
    }
    solid_free(s);
    return first;
}

/* ---- names, nodes, meshes ---- */

static int add_node(file *f, const char *name, json_t *owner) {
    json_t *node = json_object(), *text = json_string(name);
    json_object_set_new(node, "name", text ? text : json_string("?")); /* a path may be no UTF-8 */
    json_array_append_new(f->nodes, node);
    int id = (int)json_array_size(f->nodes) - 1;
    if (owner) {
        if (!json_object_get(owner, "children")) json_object_set_new(owner, "children", json_array());
        json_array_append_new(json_object_get(owner, "children"), json_integer(id));
    }
    return id;
}

/* w x y z here, x y z w there. */
static void place(json_t *node, const double pos[3], const double quat[4]) {
    json_object_set_new(node, "translation", json_numbers(pos, 3));
    json_object_set_new(node, "rotation", json_numbers((const double[4]){quat[1], quat[2], quat[3], quat[0]}, 4));
}

static int form_of(file *f, int form) {
    solid s = {0};
    if (f->form[form] >= 0) return f->form[form];
    if (form == BALL) solid_sphere(&s);
    if (form == BOX) solid_box(&s);
    if (form == CYLINDER) solid_cylinder(&s);
    if (form == FLOOR) solid_square(&s, 1);
    return f->form[form] = put_solid(f, &s);
}

/* The first accessor of a shape, and what it is scaled by. */
static int shape_of(file *f, const scene_shape *g, double scale[3]) {
    solid s = {0};
    const double *size = g->size;
    for (int k = 0; k < 3; k++) scale[k] = g->shape == TRIBO_CAPSULE ? 1 : g->shape == TRIBO_SPHERE ? size[0] : size[k];
    switch (g->shape) {
    case TRIBO_PLANE:
        scale[0] = scale[1] = scale[2] = 30 * f->r->shapes.extent;
        return form_of(f, FLOOR);
    case TRIBO_SPHERE:
    case TRIBO_ELLIPSOID:
        return form_of(f, BALL);
    case TRIBO_BOX:
        return form_of(f, BOX);
    case TRIBO_CYLINDER:
        scale[1] = size[0], scale[2] = size[1];
        return form_of(f, CYLINDER);
    case TRIBO_CAPSULE:
        solid_capsule(&s, size[0], size[1]);
        return put_solid(f, &s);
    default:
        if (f->mesh[g->mesh] < 0) {
            solid_mesh(&s, f->r->shapes.mesh + g->mesh);
            f->mesh[g->mesh] = put_solid(f, &s);
        }
        return f->mesh[g->mesh];
    }
}

static void add_shape(file *f, const char *name, int accessor, int material, const double pos[3], const double quat[4],
                      const double scale[3], json_t *owner) {
    json_t *node = json_array_get(f->nodes, (size_t)add_node(f, name, owner));
    json_t *mesh = json_pack("{s:[{s:{s:i,s:i},s:i,s:i,s:i}]}", "primitives", "attributes", "POSITION", accessor,
                             "NORMAL", accessor + 1, "indices", accessor + 2, "material", material, "mode", TRIANGLES);
    json_object_set_new(node, "mesh", json_integer((json_int_t)json_array_size(f->meshes)));
    json_array_append_new(f->meshes, mesh);
    place(node, pos, quat);
    json_object_set_new(node, "scale", json_numbers(scale, 3));
}

/* The shapes of a body; of the world for TRIBO_WORLD. */
static void add_shapes(file *f, int body, int material, json_t *owner) {
    for (int i = 0; i < f->r->shapes.nshape; i++) {
        const scene_shape *g = f->r->shapes.shape + i;
        double scale[3];
        if (g->body != body) continue;
        int accessor = shape_of(f, g, scale);
        if (!f->failed) add_shape(f, g->name, accessor, material, g->pos, g->quat, scale, owner);
    }
}

/* ---- rods ---- */

/* v turned by q. */
static void turned(const double q[4], const double v[3], double out[3]) {
    double t[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        t[i] = q[1 + j] * v[k] - q[1 + k] * v[j] + q[0] * v[i];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = v[i] + 2 * (q[1 + j] * t[k] - q[1 + k] * t[j]);
    }
}

/* A point of body b at the first frame, in the frame of body a. */
static void seen_from(const replay_track *t, int a, int b, const double point[3], double out[3]) {
    const double *at = t->pose + a * REPLAY_POSE, *of = t->pose + b * REPLAY_POSE;
    double world[3], back[4] = {at[3], -at[4], -at[5], -at[6]};
    turned(of + 3, point, world);
    for (int i = 0; i < 3; i++) world[i] += of[i] - at[i];
    turned(back, world, out);
}

static void add_rods(file *f, const replay_track *t, int body, int material, json_t *owner) {
    for (int i = 0; i < f->r->shapes.nlink; i++) {
        const scene_link *l = f->r->shapes.link + i;
        double to[3], middle[3], length = 0, radius = 0.6 * f->r->shapes.rod;
        if (l->body[0] != body) continue;
        seen_from(t, body, l->body[1], l->point[1], to);
        for (int k = 0; k < 3; k++) to[k] -= l->point[0][k], length += to[k] * to[k];
        length = sqrt(length);
        if (!(length > 0)) continue;
        for (int k = 0; k < 3; k++) middle[k] = l->point[0][k] + to[k] / 2, to[k] /= length;
        double w = 1 + to[2], n = sqrt(w * w + to[0] * to[0] + to[1] * to[1]);
        double quat[4] = {w / n, -to[1] / n, to[0] / n, 0};
        if (w < 1e-6) quat[0] = quat[2] = quat[3] = 0, quat[1] = 1;
        add_shape(f, "rod", form_of(f, CYLINDER), material, middle, quat, (const double[3]){radius, radius, length / 2},
                  owner);
    }
}

/* ---- colours ---- */

static int add_material(file *f, const double colour[3], double alpha) {
    json_t *m = json_pack("{s:{s:[f,f,f,f],s:f,s:f}}", "pbrMetallicRoughness", "baseColorFactor", colour[0], colour[1],
                          colour[2], alpha, "metallicFactor", 0.0, "roughnessFactor", 0.7);
    if (alpha < 1) json_object_set_new(m, "alphaMode", json_string("BLEND"));
    json_array_append_new(f->materials, m);
    return (int)json_array_size(f->materials) - 1;
}

/* A colour a tree, linear, as glTF has them; those of the page. */
static int body_material(file *f, int body, const replay_track *t) {
    static const double colour[][3] = {{.08, .22, .51}, {.75, .27, .06}, {.12, .39, .18}, {.58, .12, .11},
                                       {.27, .18, .46}, {.7, .46, .07},  {.07, .37, .4},  {.39, .2, .1},
                                       {.57, .18, .38}, {.26, .32, .06}};
    int trees = 0, root = body;
    while (f->r->shapes.parent[root] >= 0) root = f->r->shapes.parent[root];
    for (int i = 0; i < root; i++) trees += f->r->shapes.parent[i] < 0;
    return add_material(f, colour[trees % (int)(sizeof colour / sizeof *colour)], t->measured ? 0.4 : 1);
}

/* ---- motion ---- */

static void add_channel(file *f, int node, const char *path, int input, int output) {
    json_t *sampler = json_pack("{s:i,s:i,s:s}", "input", input, "output", output, "interpolation", "LINEAR");
    json_array_append_new(f->channels, json_pack("{s:i,s:{s:i,s:s}}", "sampler", (int)json_array_size(f->samplers),
                                                 "target", "node", node, "path", path));
    json_array_append_new(f->samplers, sampler);
}

/* Positions and quaternions of a body over time; neighbouring quaternions on the same side. */
static void add_motion(file *f, const replay_track *t, int body, int node, int input) {
    size_t n = (size_t)t->frames, stride = (size_t)f->r->nbody * REPLAY_POSE;
    float *x = calloc(n * REPLAY_POSE, sizeof *x), *q = x + 3 * n;
    double last[REPLAY_POSE] = {0, 0, 0, 1, 0, 0, 0};
    f->failed |= !x;
    for (size_t i = 0; x && i < n; i++) {
        const double *pose = t->pose + i * stride + (size_t)body * REPLAY_POSE;
        double same = 0;
        for (int k = 3; k < REPLAY_POSE; k++) same += pose[k] * last[k];
        for (int k = 0; isfinite(pose[0]) && k < REPLAY_POSE; k++) last[k] = k >= 3 && same < 0 ? -pose[k] : pose[k];
        for (size_t k = 0; k < 3; k++) x[3 * i + k] = (float)last[k], q[4 * i + k] = (float)last[4 + k];
        q[4 * i + 3] = (float)last[3];
    }
    if (x) add_channel(f, node, "translation", input, put(f, x, n, 3, FLOATS, 0, false));
    if (x) add_channel(f, node, "rotation", input, put(f, q, n, 4, FLOATS, 0, false));
    free(x);
}

static int put_times(file *f, const replay_track *t) {
    float *x = calloc((size_t)t->frames, sizeof *x);
    f->failed |= !x;
    for (int i = 0; x && i < t->frames; i++) x[i] = (float)(t->time[i] - t->time[0]);
    int at = x ? put(f, x, (size_t)t->frames, 1, FLOATS, 0, true) : 0;
    free(x);
    return at;
}

static void add_track(file *f, const replay_track *t, json_t *root) {
    json_t *group = json_array_get(f->nodes, (size_t)add_node(f, t->name, root));
    int input = t->frames > 1 ? put_times(f, t) : 0;
    for (int i = 0; i < f->r->nbody && !f->failed; i++) {
        int id = add_node(f, tribo_model_body_name(f->r->m, i), group), material = body_material(f, i, t);
        json_t *node = json_array_get(f->nodes, (size_t)id);
        const double *pose = t->pose + i * REPLAY_POSE;
        if (isfinite(pose[0])) place(node, pose, pose + 3);
        add_shapes(f, i, material, node);
        if (f->r->shapes.bare) add_rods(f, t, i, material, node);
        if (t->frames > 1) add_motion(f, t, i, id, input);
    }
}

/* ---- the file ---- */

static bool start(file *f) {
    f->nodes = json_array(), f->meshes = json_array(), f->materials = json_array(), f->accessors = json_array();
    f->views = json_array(), f->channels = json_array(), f->samplers = json_array();
    f->mesh = calloc((size_t)f->r->shapes.nmesh + 1, sizeof *f->mesh);
    for (int i = 0; i < FORMS; i++) f->form[i] = -1;
    for (int i = 0; f->mesh && i < f->r->shapes.nmesh; i++) f->mesh[i] = -1;
    return f->nodes && f->meshes && f->materials && f->accessors && f->views && f->channels && f->samplers && f->mesh;
}

/* The document; takes what f has gathered. */
static json_t *document(file *f) {
    json_t *all = json_pack("{s:{s:s,s:s},s:i,s:[{s:[i]}]}", "asset", "version", "2.0", "generator", "tribo", "scene",
                            0, "scenes", "nodes", 0);
    json_object_set_new(all, "nodes", f->nodes);
    if (json_array_size(f->channels))
        json_object_set_new(
            all, "animations",
            json_pack("[{s:s,s:o,s:o}]", "name", "motion", "channels", f->channels, "samplers", f->samplers));
    else
        json_decref(f->channels), json_decref(f->samplers);
    json_t *const list[] = {f->meshes, f->materials, f->accessors, f->views};
    static const char *const name[] = {"meshes", "materials", "accessors", "bufferViews"};
    for (int i = 0; i < 4; i++)
        if (json_array_size(list[i]))
            json_object_set_new(all, name[i], list[i]);
        else
            json_decref(list[i]);
    if (f->bytes) json_object_set_new(all, "buffers", json_pack("[{s:I}]", "byteLength", (json_int_t)f->bytes));
    return all;
}

static void put_word(FILE *out, uint32_t x) {
    for (int k = 0; k < 4; k++) fputc((int)(x >> 8 * k & 255), out);
}

static bool write_chunks(FILE *out, const file *f, const char *text) {
    size_t length = strlen(text), padded = (length + 3) / 4 * 4,
           total = 12 + 8 + padded + (f->bytes ? 8 + f->bytes : 0);
    if (total > UINT32_MAX) return false;
    put_word(out, 0x46546c67), put_word(out, 2), put_word(out, (uint32_t)total);
    put_word(out, (uint32_t)padded), put_word(out, 0x4e4f534a);
    fputs(text, out);
    for (; length < padded; length++) fputc(' ', out);
    if (!f->bytes) return true;
    put_word(out, (uint32_t)f->bytes), put_word(out, 0x004e4942);
    return fwrite(f->data, 1, f->bytes, out) == f->bytes;
}

bool replay_glb(FILE *out, const replay *r) {
    static const double still[3] = {.45, .45, .44}, origin[3] = {0, 0, 0},
                        z_to_y[4] = {.70710678118654757, -.70710678118654757, 0, 0};
    file f = {.r = r};
    bool good = start(&f);
    if (good) {
        json_t *root = json_array_get(f.nodes, (size_t)add_node(&f, "scene", NULL));
        place(root, origin, z_to_y);
        add_shapes(&f, TRIBO_WORLD, add_material(&f, still, 1), root);
        for (int i = 0; i < r->ntrack && !f.failed; i++)
            if (r->track[i].frames > 0) add_track(&f, r->track + i, root);
    }
    json_t *all = document(&f);
    char *text = good && !f.failed ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    good = text && write_chunks(out, &f, text);
    free(text);
    json_decref(all);
    free(f.data);
    free(f.mesh);
    return good;
}
