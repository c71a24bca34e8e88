/* mjcf_mesh.c -- meshes and height fields of <asset>: found by name, read when a geom first asks for them. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "formats/mesh_file.h"
#include "formats/mjcf_reading.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void ti_mjcf_assets(ti_mjcf *r, const xmlNode *node) {
    for (const xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c)) {
        if (!ti_mjcf_child(r, c, "asset") || !(ti_xml_is(c, "mesh") || ti_xml_is(c, "hfield"))) continue;
        ti_mjcf_mesh *grown = ti_grow(&r->alloc, r->mesh, &r->mesh_bytes, (size_t)(r->nmesh + 1) * sizeof *r->mesh);
        if (!grown) {
            r->error.status = TRIBO_E_NOMEM;
            return;
        }
        r->mesh = grown;
        r->mesh[r->nmesh++] = (ti_mjcf_mesh){c, ti_xml_is(c, "mesh") ? ti_mjcf_class_of(r, c, r->main) : -1, -1};
    }
}

/* A mesh without a name is called as its file, without folders and what follows the last dot. */
static bool is_called(ti_mjcf *r, const ti_mjcf_mesh *m, const char *name) {
    const char *own = ti_xml_attr(&r->error, m->node, "name"), *file = ti_mjcf_attr(r, m->node, m->class, "file");
    if (own && *own) return strcmp(own, name) == 0;
    if (!file) return false;
    const char *base = ti_mjcf_base_of(file), *dot = strrchr(base, '.');
    size_t n = dot ? (size_t)(dot - base) : strlen(base);
    return strlen(name) == n && strncmp(base, name, n) == 0;
}

static bool read_file(ti_mjcf *r, const ti_mjcf_mesh *m, const char *file, ti_mesh_data *d) {
    char path[TI_PATH_ROOM];
    tribo_diag diag = {0};
    if (!ti_mjcf_path_of(r, file, path)) return ti_xml_fail(&r->error, m->node, "file", "the name is too long"), false;
    tribo_status s = ti_mesh_read(path, &r->alloc, d, &diag);
    if (s == TRIBO_E_NOMEM)
        r->error.status = s;
    else if (s == TRIBO_E_IO)
        ti_mjcf_need_of(r, m->node, "file", "mesh-file", "%.150s: %.150s", path, diag.text);
    else if (s != TRIBO_OK && diag.line)
        ti_xml_fail(&r->error, m->node, "file", "%.150s:%d: %.150s", path, diag.line, diag.text);
    else if (s != TRIBO_OK)
        ti_xml_fail(&r->error, m->node, "file", "%.150s: %.150s", path, diag.text);
    return s == TRIBO_OK;
}

/* Numbers of an attribute of any length, three at a time. @return how many threes; -1 after an error. */
static int read_threes(ti_mjcf *r, const ti_mjcf_mesh *m, const char *name, double **out, size_t *bytes) {
    const char *text = ti_mjcf_attr(r, m->node, m->class, name);
    if (!text) return 0;
    size_t most = strlen(text) / 2 + 1; /* a number and a blank */
    *out = ti_grow(&r->alloc, NULL, bytes, most * sizeof **out);
    if (!*out) return r->error.status = TRIBO_E_NOMEM, -1;
    int n = ti_xml_numbers(&r->error, m->node, name, text, *out, (int)most);
    if (n >= 0 && n % 3 == 0) return n / 3;
    ti_xml_fail(&r->error, m->node, name, "%d numbers: not three for each", n);
    return -1;
}

static bool read_inline(ti_mjcf *r, const ti_mjcf_mesh *m, ti_mesh_data *d) {
    double *face = NULL;
    size_t bytes = 0;
    d->nvertex = read_threes(r, m, "vertex", &d->vertex, &d->vertex_bytes);
    d->ntriangle = d->nvertex < 0 ? -1 : read_threes(r, m, "face", &face, &bytes);
    if (d->ntriangle > 0) {
        d->triangle = ti_grow(&r->alloc, NULL, &d->triangle_bytes, 3 * (size_t)d->ntriangle * sizeof *d->triangle);
        if (!d->triangle) r->error.status = TRIBO_E_NOMEM;
        for (int i = 0; d->triangle && i < 3 * d->ntriangle; i++)
            d->triangle[i] = fabs(face[i]) < INT_MAX ? (int)face[i] : -1;
    }
    ti_free(&r->alloc, face, bytes);
    return !ti_mjcf_bad(r);
}

/* Vertices are in single precision, as in MuJoCo and in most files of meshes. */
static void round_vertices(ti_mesh_data *d) {
    for (size_t i = 0; i < 3 * (size_t)(d->nvertex > 0 ? d->nvertex : 0); i++)
        d->vertex[i] = (double)(float)d->vertex[i];
}

/* Moved by refpos, turned by refquat, scaled; what a mirror turns inside out is turned back. */
static void apply(ti_mjcf *r, const ti_mjcf_mesh *m, ti_mesh_data *d) {
    double pos[3] = {0, 0, 0}, quat[4] = {1, 0, 0, 0}, scale[3] = {1, 1, 1};
    bool moved = ti_mjcf_numbers(r, m->node, m->class, "refpos", pos, 3, 3) > 0;
    moved = ti_mjcf_numbers(r, m->node, m->class, "refquat", quat, 4, 4) > 0 || moved;
    moved = ti_mjcf_numbers(r, m->node, m->class, "scale", scale, 3, 3) > 0 || moved;
    double n = quat[0] * quat[0] + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3];
    if (!(n > 1e-24)) ti_xml_fail(&r->error, m->node, "refquat", "it has no direction");
    if (!moved || ti_mjcf_bad(r)) return;
    ti_quat_normalise(quat);
    ti_mat R = ti_quat_mat(quat);
    for (int i = 0; i < d->nvertex; i++) {
        double *v = d->vertex + 3 * (size_t)i;
        ti_vec p = ti_tmul(&R, ti_sub(ti_load3(v), ti_load3(pos)));
        ti_store3(v, ti_vec3(scale[0] * p.x, scale[1] * p.y, scale[2] * p.z));
    }
    for (int i = 0; i < d->ntriangle && scale[0] * scale[1] * scale[2] < 0; i++) {
        int *t = d->triangle + 3 * (size_t)i, swap = t[1];
        t[1] = t[2], t[2] = swap;
    }
}

/* How it is weighed: by all of it, by its hull, or by its surface. @return false after an error. */
static bool weighing(ti_mjcf *r, const ti_mjcf_mesh *m, tribo_mesh_def *def) {
    static const char *const WORD[] = {"legacy", "exact", "convex", "shell", NULL};
    static const tribo_mesh_mass BY[] = {TRIBO_MESH_UNSIGNED, TRIBO_MESH_SIGNED, TRIBO_MESH_UNSIGNED, TRIBO_MESH_SHELL};
    int how = ti_mjcf_choice(r, m->node, m->class, "inertia", WORD, r->exact_meshes ? 1 : 0);
    if (how < 0) return false;
    if (how == 2) def->ntriangle = 0;
    def->mass = BY[how];
    return true;
}

/* How many corners its hull may have; -1 = all. */
static void read_hull(ti_mjcf *r, const ti_mjcf_mesh *m, tribo_mesh_def *def) {
    double most = -1;
    ti_mjcf_numbers(r, m->node, m->class, "maxhullvert", &most, 1, 1);
    if (most == -1) return;
    if (!(most > 3 && most < INT_MAX) || most != floor(most))
        ti_xml_fail(&r->error, m->node, "maxhullvert", "-1, or an integer above 3 expected");
    else
        def->hull_vertices = (int)most;
}

/* Make it. @return its id; -1 after an error, or where it is left out. */
static int make(ti_mjcf *r, const ti_mjcf_mesh *m, const char *name) {
    const char *file = ti_mjcf_attr(r, m->node, m->class, "file");
    tribo_mesh_def def = tribo_default_mesh();
    ti_mesh_data d = {0};
    int id = -1;
    ti_mjcf_judge(r, m->node, m->class, "asset");
    for (xmlNode *c = ti_xml_child(&r->error, m->node); c; c = ti_xml_next(&r->error, c)) ti_mjcf_child(r, c, "mesh");
    bool read = file ? read_file(r, m, file, &d) : read_inline(r, m, &d);
    if (read) round_vertices(&d), apply(r, m, &d);
    if (read && !ti_mjcf_bad(r)) {
        def.name = name, def.vertex = d.vertex, def.nvertex = d.nvertex;
        def.triangle = d.triangle, def.ntriangle = d.ntriangle;
        ti_mjcf_at(r, m->node);
        read_hull(r, m, &def);
        if (!ti_mjcf_bad(r) && weighing(r, m, &def)) id = tribo_add_mesh(r->builder, &def);
        ti_mjcf_settle(r);
    }
    ti_mesh_data_free(&d, &r->alloc);
    return id;
}

int ti_mjcf_asset_named(ti_mjcf *r, const xmlNode *geom, const char *kind, const char *name) {
    for (int i = 0; i < r->nmesh; i++) {
        ti_mjcf_mesh *m = &r->mesh[i];
        if (!ti_xml_is(m->node, kind) || !is_called(r, m, name)) continue;
        if (m->id < 0) m->id = strcmp(kind, "mesh") == 0 ? make(r, m, name) : ti_mjcf_field(r, m->node, name);
        return m->id;
    }
    ti_xml_fail(&r->error, geom, kind, "there is no %s `%.60s`", kind, name);
    return -1;
}

/* Half the box that turns as a mesh does, the longest last, and how its axes are turned for that. */
static void box_of(const ti_mesh *m, double half[3], double turn[4]) {
    static const int PAIR[3] = {0, 1, 0};
    for (int i = 0; i < 3; i++) half[i] = sqrt(3 * m->second[i]);
    memcpy(turn, (double[4]){1, 0, 0, 0}, 4 * sizeof *turn);
    for (int k = 0; k < 3; k++) {
        int i = PAIR[k];
        if (half[i] <= half[i + 1]) continue;
        double swap = half[i], quarter[4] = {sqrt(0.5), 0, 0, 0};
        half[i] = half[i + 1], half[i + 1] = swap;
        quarter[i ? 1 : 3] = sqrt(0.5); /* about the third axis */
        ti_quat_mul(turn, quarter, turn);
    }
}

/* Sizes of the smallest of a shape whose bounds hold those of the mesh, along the axes of that box; its middle. */
static void fit_bounds(const ti_mesh *m, const double turn[4], tribo_shape shape, double *size, double *middle) {
    ti_mat R = ti_quat_mat(turn);
    double lo[3], hi[3], x[3];
    for (int i = 0; i < m->hull.nv; i++) {
        ti_store3(x, ti_tmul(&R, ti_load3(m->hull.v[i])));
        for (int k = 0; k < 3; k++) lo[k] = i ? ti_min(lo[k], x[k]) : x[k], hi[k] = i ? ti_max(hi[k], x[k]) : x[k];
    }
    for (int k = 0; k < 3; k++) size[k] = 0.5 * (hi[k] - lo[k]), middle[k] = 0.5 * (hi[k] + lo[k]);
    double across = ti_max(size[0], size[1]);
    if (shape == TRIBO_SPHERE) size[0] = ti_max(across, size[2]);
    if (shape == TRIBO_CAPSULE) size[0] = across, size[1] = ti_max(size[2] - across, 0);
    if (shape == TRIBO_CYLINDER) size[0] = across, size[1] = size[2];
}

void ti_mjcf_fit(ti_mjcf *r, const xmlNode *node, int class, tribo_geom_def *d) {
    const ti_mesh *m = r->builder->mesh[d->mesh];
    double half[3], turn[4], middle[3] = {0, 0, 0}, scale = 1, *size = d->size;
    ti_mjcf_numbers(r, node, class, "fitscale", &scale, 1, 1);
    box_of(m, half, turn);
    double across = 0.5 * (half[0] + half[1]);
    memcpy(size, half, sizeof half);
    if (d->shape == TRIBO_SPHERE) size[0] = (half[0] + half[1] + half[2]) / 3;
    if (d->shape == TRIBO_CAPSULE) size[0] = across, size[1] = ti_max(half[2] - 0.5 * across, 0);
    if (d->shape == TRIBO_CYLINDER) size[0] = across, size[1] = half[2];
    if (r->fit_bounds) fit_bounds(m, turn, d->shape, size, middle);
    for (int i = 0; i < 3; i++) size[i] *= scale;
    ti_mesh_place(m, d->pos, d->quat);
    ti_quat_mul(d->quat, turn, d->quat);
    ti_mat R = ti_quat_mat(d->quat);
    ti_store3(d->pos, ti_add(ti_load3(d->pos), ti_mul(&R, ti_load3(middle))));
}

void ti_mjcf_mesh_paths(ti_mjcf *r, const char *out) {
    const char *scene = (const char *)r->root->doc->URL;
    size_t folder = scene ? (size_t)(ti_mjcf_base_of(scene) - scene) : 0;
    if (scene && (size_t)(ti_mjcf_base_of(out) - out) == folder && strncmp(scene, out, folder) == 0) return;
    for (xmlNode *c = r->root->children; c && r->nmesh; c = c->next)
        if (c->type == XML_ELEMENT_NODE && ti_xml_is(c, "compiler")) xmlUnsetProp(c, (const xmlChar *)"strippath");
    for (int i = 0; i < r->nmesh; i++) {
        const ti_mjcf_mesh *m = &r->mesh[i];
        const char *file = ti_xml_attr(&r->error, m->node, "file");
        char path[TI_PATH_ROOM], whole[PATH_MAX];
        if (!file || *file == '/' || !ti_mjcf_path_of(r, file, path) || !realpath(path, whole)) continue;
        xmlSetProp((xmlNode *)(uintptr_t)m->node, (const xmlChar *)"file", (const xmlChar *)whole);
    }
}
