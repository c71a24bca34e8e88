/* mjcf_field.c -- height fields of <asset>: inline, or from a file of MuJoCo's, or PNG. Heights become 0 to 1, as
 * there. */
#include "formats/mjcf_reading.h"
#include "formats/png_file.h"
#include "formats/text.h"
#include <math.h>
#include <stdio.h>

/* Where the name of a file begins in its path. */
const char *ti_mjcf_base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The folder of the scene, that of the compiler's meshes, the file. */
bool ti_mjcf_path_of(const ti_mjcf *r, const char *file, char path[TI_PATH_ROOM]) {
    const char *scene = (const char *)r->root->doc->URL, *folder = r->meshdir ? r->meshdir : r->assetdir;
    if (!scene) scene = "";
    if (r->strippath) file = ti_mjcf_base_of(file);
    if (!folder || *file == '/') folder = "";
    int own = *file == '/' || *folder == '/' ? 0 : (int)(ti_mjcf_base_of(scene) - scene);
    size_t n = strlen(folder);
    const char *slash = n && folder[n - 1] != '/' ? "/" : "";
    return snprintf(path, TI_PATH_ROOM, "%.*s%s%s%s", own, scene, folder, slash, file) < TI_PATH_ROOM;
}

typedef struct heights {
    double *z;
    size_t bytes;
    int nrow, ncol;
} heights;

bool ti_mjcf_field_size(ti_mjcf *r, const xmlNode *node, double size[4]) {
    if (!ti_mjcf_numbers(r, node, -1, "size", size, 4, 4)) ti_xml_fail(&r->error, node, "size", "missing");
    if (ti_mjcf_bad(r)) return false;
    for (int i = 0; i < 4; i++)
        if (!(size[i] > 0)) return ti_xml_fail(&r->error, node, "size", "must be > 0"), false;
    return true;
}

static bool make_room(ti_mjcf *r, const xmlNode *node, double nrow, double ncol, heights *h) {
    if (!(nrow >= 2 && ncol >= 2 && nrow == floor(nrow) && ncol == floor(ncol)))
        return ti_xml_fail(&r->error, node, "nrow", "whole numbers of rows and columns, 2 or more, expected"), false;
    if (!(2 * (nrow - 1) * (ncol - 1) <= TI_FIELD_LIMIT))
        return ti_xml_fail(&r->error, node, "nrow", "more than %d triangles", TI_FIELD_LIMIT), false;
    h->nrow = (int)nrow, h->ncol = (int)ncol;
    h->z = ti_grow(&r->alloc, NULL, &h->bytes, (size_t)h->nrow * (size_t)h->ncol * sizeof *h->z);
    if (!h->z) r->error.status = TRIBO_E_NOMEM;
    return h->z != NULL;
}

/* The first row written is the one at the highest y; without heights all are 0. */
static void read_inline(ti_mjcf *r, const xmlNode *node, heights *h) {
    double nrow = 0, ncol = 0;
    ti_mjcf_numbers(r, node, -1, "nrow", &nrow, 1, 1), ti_mjcf_numbers(r, node, -1, "ncol", &ncol, 1, 1);
    if (ti_mjcf_bad(r) || !make_room(r, node, nrow, ncol, h)) return;
    const char *text = ti_xml_attr(&r->error, node, "elevation");
    int n = h->nrow * h->ncol;
    for (int i = 0; i < n; i++) h->z[i] = 0;
    if (!text) return;
    int found = ti_xml_numbers(&r->error, node, "elevation", text, h->z, n);
    if (found >= 0 && found != n) ti_xml_fail(&r->error, node, "elevation", "%d numbers, %d expected", found, n);
    for (int row = 0; row < h->nrow / 2; row++)
        for (int col = 0; col < h->ncol; col++) {
            double *a = h->z + row * h->ncol + col, *b = h->z + (h->nrow - 1 - row) * h->ncol + col, swap = *a;
            *a = *b, *b = swap;
        }
}

static uint32_t word(const char *at) {
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Rows and columns as two whole numbers of 32 bits, then the heights in single precision, the lowest y first. */
static void read_bytes(ti_mjcf *r, const xmlNode *node, const char *path, const char *data, size_t n, heights *h) {
    double nrow = n < 8 ? 0 : (double)(int32_t)word(data), ncol = n < 8 ? 0 : (double)(int32_t)word(data + 4);
    if (!(nrow >= 2 && ncol >= 2) || (double)n != 8 + 4 * nrow * ncol) {
        ti_xml_fail(&r->error, node, "file", "%.150s: no height field: rows, columns, then as many heights", path);
        return;
    }
    if (!make_room(r, node, nrow, ncol, h)) return;
    for (int i = 0; i < h->nrow * h->ncol; i++) {
        uint32_t bits = word(data + 8 + 4 * (size_t)i);
        float z;
        memcpy(&z, &bits, sizeof z);
        h->z[i] = (double)z;
    }
}

/* The lowest row of an image is that of the lowest y. */
static void read_image(ti_mjcf *r, const xmlNode *node, const char *path, const char *data, size_t n, heights *h) {
    double nrow, ncol;
    char text[160];
    const char *wrong = NULL;
    if (!ti_png_size(data, n, &nrow, &ncol))
        wrong = "no PNG";
    else if (make_room(r, node, nrow, ncol, h))
        wrong = ti_png_heights(data, n, h->nrow, h->ncol, h->z, text, sizeof text);
    if (wrong) ti_xml_fail(&r->error, node, "file", "%.150s: %.150s", path, wrong);
}

/* By its name, or by what is said of it. */
static bool is_image(ti_mjcf *r, const xmlNode *node, const char *file) {
    const char *type = ti_xml_attr(&r->error, node, "content_type"), *dot = strrchr(file, '.');
    if (type && *type) return strcmp(type, "image/png") == 0;
    return dot && (strcmp(dot, ".png") == 0 || strcmp(dot, ".PNG") == 0);
}

static void read_file(ti_mjcf *r, const xmlNode *node, const char *file, heights *h) {
    char path[TI_PATH_ROOM], *data;
    bool image = is_image(r, node, file);
    size_t n, bytes;
    tribo_diag diag = {0};
    if (image && !ti_png_is_read()) {
        ti_mjcf_need_of(r, node, "file", "png", "a height field from PNG: this library was built without libpng");
        return;
    }
    if (!ti_mjcf_path_of(r, file, path)) {
        ti_xml_fail(&r->error, node, "file", "the name is too long");
        return;
    }
    tribo_status s = ti_read_file(path, &r->alloc, &data, &n, &bytes, &diag);
    if (s == TRIBO_E_NOMEM)
        r->error.status = s;
    else if (s == TRIBO_E_IO)
        ti_mjcf_need_of(r, node, "file", "hfield-file", "%.150s: %.150s", path, diag.text);
    else if (s != TRIBO_OK)
        ti_xml_fail(&r->error, node, "file", "%.150s: %.150s", path, diag.text);
    if (s != TRIBO_OK) return;
    if (image)
        read_image(r, node, path, data, n, h);
    else
        read_bytes(r, node, path, data, n, h);
    ti_free(&r->alloc, data, bytes);
}

/* Lowest 0, highest 1; 0 where all are equal. */
static void normalise(heights *h) {
    double low = (double)INFINITY, high = -(double)INFINITY;
    int n = h->nrow * h->ncol;
    for (int i = 0; i < n; i++) low = fmin(low, h->z[i]), high = fmax(high, h->z[i]);
    for (int i = 0; i < n; i++)
        if (isfinite(h->z[i])) h->z[i] = high > low ? (h->z[i] - low) / (high - low) : 0;
}

int ti_mjcf_field(ti_mjcf *r, const xmlNode *node, const char *name) {
    heights h = {0};
    double size[4] = {0};
    int id = -1;
    ti_mjcf_judge(r, node, -1, "asset");
    const char *file = ti_xml_attr(&r->error, node, "file");
    if (file)
        read_file(r, node, file, &h);
    else
        read_inline(r, node, &h);
    if (h.z && !ti_mjcf_bad(r) && ti_mjcf_field_size(r, node, size)) {
        normalise(&h);
        tribo_hfield_def d = tribo_default_hfield();
        d.name = name, d.nrow = h.nrow, d.ncol = h.ncol, d.height = h.z, d.base = size[3];
        ti_mjcf_at(r, node);
        id = tribo_add_hfield(r->builder, &d);
        ti_mjcf_settle(r);
    }
    ti_free(&r->alloc, h.z, h.bytes);
    return id;
}
