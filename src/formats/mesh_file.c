/* mesh_file.c -- see mesh_file.h: OBJ by its `v` and `f`, STL as text and as bytes. */
#include "formats/mesh_file.h"
#include "formats/text.h"
#include "math/vec.h"
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

/* A face of more corners, as seen along its normal: where its corners are, in the order of the file. */
typedef struct outline {
    const double *vertex;
    int x, y; /* the axes that it is seen by */
    int n;    /* corners that are left, */
    int *corner;
    long tests; /* and how many looks whether one is in a triangle */
} outline;

/* Twice the area of a triangle of vertices, above 0 against the clock. */
static double area(const outline *o, int a, int b, int c) {
    const double *p = o->vertex + 3 * (size_t)a, *q = o->vertex + 3 * (size_t)b, *s = o->vertex + 3 * (size_t)c;
    return (q[o->x] - p[o->x]) * (s[o->y] - p[o->y]) - (q[o->y] - p[o->y]) * (s[o->x] - p[o->x]);
}

/* By the largest part of the sum of cross products of all its edges, so that it goes round against the clock. */
static void look_at(outline *o) {
    double normal[3] = {0, 0, 0};
    ti_vec first = ti_load3(o->vertex + 3 * (size_t)o->corner[0]);
    for (int i = 0; i < o->n; i++) {
        ti_vec p = ti_sub(ti_load3(o->vertex + 3 * (size_t)o->corner[i]), first);
        ti_vec q = ti_sub(ti_load3(o->vertex + 3 * (size_t)o->corner[(i + 1) % o->n]), first);
        ti_add3(normal, ti_cross(p, q));
    }
    int z = fabs(normal[0]) > fabs(normal[1]) ? 0 : 1;
    if (fabs(normal[2]) > fabs(normal[z])) z = 2;
    o->x = (z + 1) % 3, o->y = (z + 2) % 3;
    if (normal[z] < 0) o->x = (z + 2) % 3, o->y = (z + 1) % 3;
}

/* Whether two vertices are at one place, as where a hole is cut into from outside. */
static bool meet(const outline *o, int a, int b) {
    const double *p = o->vertex + 3 * (size_t)a, *q = o->vertex + 3 * (size_t)b;
    return p[o->x] == q[o->x] && p[o->y] == q[o->y];
}

/* Whether corner i sticks out, and no other is in the triangle that it makes with those beside it, nor on its rim
 * unless that is allowed. */
static bool is_ear(outline *o, int i, bool rim) {
    int a = o->corner[(i + o->n - 1) % o->n], b = o->corner[i], c = o->corner[(i + 1) % o->n];
    double whole = area(o, a, b, c), least = rim ? 1e-9 * whole : -1e-9 * whole;
    if (!(whole >= 0)) return false;
    for (int k = 0; k < o->n; k++) {
        int p = o->corner[k];
        double in = ti_min(area(o, a, b, p), ti_min(area(o, b, c, p), area(o, c, a, p)));
        o->tests++;
        if (in >= least && (!rim || in > 0) && !meet(o, p, a) && !meet(o, p, b) && !meet(o, p, c)) return false;
    }
    return true;
}

/* The triangles of a face of n corners, all at its first one, become those of its ears: one that is not convex would
 * cover more than it has. Faces that are no polygon keep what is left of them as it was. */
static tribo_status part_many(reader *r, int n) {
    const long most = 20000000;
    size_t bytes = 0;
    int *t = r->d->triangle + 3 * (size_t)(r->d->ntriangle - (n - 2)), missed = 0;
    outline o = {.vertex = r->d->vertex, .n = n, .corner = ti_grow(r->alloc, NULL, &bytes, (size_t)n * sizeof(int))};
    if (!o.corner) return ti_fail(r->diag, TRIBO_E_NOMEM, 0, "out of memory");
    o.corner[0] = t[0], o.corner[1] = t[1];
    for (int i = 2; i < n; i++) o.corner[i] = t[3 * (i - 2) + 2];
    look_at(&o);
    for (int i = 1; o.n > 3 && missed < 2 * o.n && o.tests < most; i %= o.n) {
        if (!is_ear(&o, i, missed >= o.n)) {
            i++, missed++;
            continue;
        }
        t[0] = o.corner[(i + o.n - 1) % o.n], t[1] = o.corner[i], t[2] = o.corner[(i + 1) % o.n], t += 3;
        o.n--, missed = 0;
        memmove(o.corner + i, o.corner + i + 1, (size_t)(o.n - i) * sizeof *o.corner);
    }
    for (int i = 2; i < o.n; i++, t += 3) t[0] = o.corner[0], t[1] = o.corner[i - 1], t[2] = o.corner[i];
    ti_free(r->alloc, o.corner, bytes);
    return TRIBO_OK;
}

static tribo_status obj_face(reader *r) {
    int first = 0, last = 0, next;
    for (int n = 0;; n++) {
        if (at_end_of_line(r)) {
            if (n == 4) part_four(r);
            if (n > 4) return part_many(r, n);
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
        return ti_fail(diag, TRIBO_E_IO, 0, "only OBJ and STL files are supported");
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
