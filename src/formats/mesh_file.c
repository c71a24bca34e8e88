/* mesh_file.c -- see mesh_file.h: OBJ by its `v` and `f`, STL as text and as bytes. */
#include "formats/mesh_file.h"
#include "formats/text.h"
#include "model/mesh.h"
#include <math.h>

typedef struct reader {
    ti_mesh_data *d;
    const tribo_allocator *alloc;
    tribo_diag *diag;
    const char *at, *end; /* of the text */
    int line;             /* 0: there are none */
} reader;

static tribo_status wrong(const reader *r, const char *what) {
    return ti_fail(r->diag, TRIBO_E_PARSE, r->line, "%s", what);
}

static tribo_status add_vertex(reader *r, const double x[3]) {
    ti_mesh_data *d = r->d;
    if (d->nvertex >= TI_POINTS_LIMIT) return wrong(r, "more than 3000000 vertices");
    if (!ti_finite(x, 3)) return wrong(r, "a vertex is not finite");
    double *grown = ti_grow(r->alloc, d->vertex, &d->vertex_bytes, 3 * ((size_t)d->nvertex + 1) * sizeof *d->vertex);
    if (!grown) return ti_fail(r->diag, TRIBO_E_NOMEM, 0, "out of memory");
    d->vertex = grown;
    memcpy(d->vertex + 3 * (size_t)d->nvertex++, x, 3 * sizeof *x);
    return TRIBO_OK;
}

static tribo_status add_triangle(reader *r, int a, int b, int c) {
    ti_mesh_data *d = r->d;
    if (d->ntriangle >= TI_TRIANGLES_LIMIT) return wrong(r, "more than 1000000 triangles");
    int *grown =
        ti_grow(r->alloc, d->triangle, &d->triangle_bytes, 3 * ((size_t)d->ntriangle + 1) * sizeof *d->triangle);
    if (!grown) return ti_fail(r->diag, TRIBO_E_NOMEM, 0, "out of memory");
    d->triangle = grown;
    int *t = d->triangle + 3 * (size_t)d->ntriangle++;
    t[0] = a, t[1] = b, t[2] = c;
    return TRIBO_OK;
}

/* ---- words of a text file ---- */

static bool blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(reader *r) {
    while (r->at < r->end && blank(*r->at)) r->at++;
}

static void next_line(reader *r) {
    while (r->at < r->end && *r->at != '\n') r->at++;
    if (r->at < r->end) r->at++;
    r->line++;
}

static bool at_end_of_line(reader *r) {
    skip_blanks(r);
    return r->at == r->end || *r->at == '\n';
}

/* Whether the line goes on with this word, which is then passed. */
static bool word(reader *r, const char *w) {
    size_t n = strlen(w);
    skip_blanks(r);
    if ((size_t)(r->end - r->at) < n || strncmp(r->at, w, n) != 0) return false;
    if (r->at + n < r->end && !blank(r->at[n]) && r->at[n] != '\n') return false;
    r->at += n;
    return true;
}

static bool numbers(reader *r, double *x, int n) {
    for (int i = 0; i < n; i++) {
        skip_blanks(r);
        const char *end = ti_read_number(r->at, &x[i]);
        if (!end || end > r->end || (end < r->end && !blank(*end) && *end != '\n')) return false;
        r->at = end;
    }
    return true;
}

/* ---- OBJ ---- */

/* The first of `v`, `v/t`, `v//n`, `v/t/n`: counted from 1, or backwards from -1. */
static bool obj_index(reader *r, int *out) {
    double x;
    skip_blanks(r);
    const char *end = ti_read_number(r->at, &x);
    if (!end || end > r->end || x != floor(x) || !(fabs(x) <= r->d->nvertex) || x == 0) return false;
    *out = x > 0 ? (int)x - 1 : r->d->nvertex + (int)x;
    for (r->at = end; r->at < r->end && !blank(*r->at) && *r->at != '\n'; r->at++)
        if (!strchr("/-0123456789", *r->at)) return false;
    return true;
}

/* The square of the distance of two vertices. */
static double apart(const reader *r, int a, int b) {
    const double *x = r->d->vertex + 3 * (size_t)a, *y = r->d->vertex + 3 * (size_t)b;
    double u = x[0] - y[0], v = x[1] - y[1], w = x[2] - y[2];
    return u * u + v * v + w * w;
}

/* Four corners, which need not lie in a plane, are parted by the shorter way across, as MuJoCo does: the last two
 * triangles, 0 1 2 and 0 2 3 of them, become 0 1 3 and 1 2 3 where that is from 1 to 3. */
static void part_four(reader *r) {
    int *t = r->d->triangle + 3 * (size_t)(r->d->ntriangle - 2);
    if (apart(r, t[0], t[2]) > apart(r, t[1], t[5])) t[2] = t[5], t[3] = t[1];
}

static tribo_status obj_face(reader *r) {
    int first = 0, last = 0, next;
    for (int n = 0;; n++) {
        if (at_end_of_line(r)) {
            if (n == 4) part_four(r);
            return n < 3 ? wrong(r, "a face of fewer than three vertices") : TRIBO_OK;
        }
        if (!obj_index(r, &next)) return wrong(r, "a face names a vertex that is not there before it");
        tribo_status s = n >= 2 ? add_triangle(r, first, last, next) : TRIBO_OK;
        if (s != TRIBO_OK) return s;
        if (n == 0) first = next;
        last = next;
    }
}

static tribo_status read_obj(reader *r) {
    for (; r->at < r->end; next_line(r)) {
        double x[3];
        tribo_status s = TRIBO_OK;
        if (word(r, "v"))
            s = numbers(r, x, 3) ? add_vertex(r, x) : wrong(r, "three numbers expected after `v`");
        else if (word(r, "f"))
            s = obj_face(r);
        if (s != TRIBO_OK) return s;
    }
    return TRIBO_OK;
}

/* ---- STL ---- */

static tribo_status stl_triangle(reader *r) {
    int n = r->d->nvertex;
    return add_triangle(r, n - 3, n - 2, n - 1);
}

/* Lines of three vertices between `outer loop` and `endloop`; normals are left to the vertices. */
static tribo_status read_stl_text(reader *r) {
    int corners = 0;
    for (; r->at < r->end; next_line(r)) {
        double x[3];
        tribo_status s = TRIBO_OK;
        if (word(r, "vertex")) {
            s = numbers(r, x, 3) ? add_vertex(r, x) : wrong(r, "three numbers expected after `vertex`");
            corners++;
        } else if (word(r, "endloop")) {
            s = corners == 3 ? stl_triangle(r) : wrong(r, "a loop of three vertices expected");
            corners = 0;
        } else if (!at_end_of_line(r) && !word(r, "solid") && !word(r, "facet") && !word(r, "outer") &&
                   !word(r, "endfacet") && !word(r, "endsolid")) {
            return wrong(r, "this is not STL");
        }
        if (s != TRIBO_OK) return s;
    }
    return corners ? wrong(r, "the file ends inside a loop") : TRIBO_OK;
}

static float float_at(const char *bytes) {
    const unsigned char *b = (const unsigned char *)bytes;
    uint32_t bits = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

enum { STL_HEADER = 84, STL_TRIANGLE = 50 };

static uint32_t stl_count(const reader *r) {
    const unsigned char *b = (const unsigned char *)r->at + STL_HEADER - 4;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static tribo_status read_stl_bytes(reader *r, uint32_t count) {
    const char *at = r->at + STL_HEADER;
    r->line = 0;
    if (count > TI_TRIANGLES_LIMIT) return wrong(r, "more than 1000000 triangles");
    for (uint32_t t = 0; t < count; t++, at += STL_TRIANGLE) {
        tribo_status s = TRIBO_OK;
        for (int k = 0; k < 3 && s == TRIBO_OK; k++) {
            const char *v = at + (size_t)(k + 1) * 3 * sizeof(float);
            double x[3] = {(double)float_at(v), (double)float_at(v + 4), (double)float_at(v + 8)};
            s = add_vertex(r, x);
        }
        if (s == TRIBO_OK) s = stl_triangle(r);
        if (s != TRIBO_OK) return s;
    }
    return TRIBO_OK;
}

/* Bytes if their number says so: text may begin with `solid`, and so may bytes. */
static tribo_status read_stl(reader *r) {
    size_t n = (size_t)(r->end - r->at);
    if (n >= STL_HEADER && n == STL_HEADER + (size_t)STL_TRIANGLE * stl_count(r))
        return read_stl_bytes(r, stl_count(r));
    if (n >= 5 && strncmp(r->at, "solid", 5) == 0) return read_stl_text(r);
    r->line = 0;
    return wrong(r, "this is not STL, or it is cut off: its length is not what its number of triangles asks for");
}

/* ---- both ---- */

static bool ends_in(const char *name, const char *lower, const char *upper) {
    size_t n = strlen(name);
    return n >= 4 && (strcmp(name + n - 4, lower) == 0 || strcmp(name + n - 4, upper) == 0);
}

tribo_status ti_mesh_parse(const char *name, const char *text, size_t n, const tribo_allocator *a, ti_mesh_data *d,
                           tribo_diag *diag) {
    reader r = {d, a, diag, text, text + n, 1};
    tribo_status s;
    *d = (ti_mesh_data){0};
    if (ends_in(name, ".obj", ".OBJ"))
        s = read_obj(&r);
    else if (ends_in(name, ".stl", ".STL"))
        s = read_stl(&r);
    else
        return ti_fail(diag, TRIBO_E_PARSE, 0, "only OBJ and STL files are supported");
    r.line = 0;
    return s == TRIBO_OK && d->ntriangle == 0 && d->nvertex < 4
               ? wrong(&r, "there are no triangles, nor vertices of a hull")
               : s;
}

tribo_status ti_mesh_read(const char *path, const tribo_allocator *a, ti_mesh_data *d, tribo_diag *diag) {
    char *text;
    size_t n, bytes;
    *d = (ti_mesh_data){0};
    tribo_status s = ti_read_file(path, a, &text, &n, &bytes, diag);
    if (s != TRIBO_OK) return s;
    s = ti_mesh_parse(path, text, n, a, d, diag);
    ti_free(a, text, bytes);
    return s;
}

void ti_mesh_data_free(ti_mesh_data *d, const tribo_allocator *a) {
    ti_free(a, d->vertex, d->vertex_bytes), ti_free(a, d->triangle, d->triangle_bytes);
    *d = (ti_mesh_data){0};
}
