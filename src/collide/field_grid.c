/* field_grid.c -- the grid of a height field: its corners, its triangles, what is below a point. */
#include "collide/field_grid.h"

/* Cosine to the normal up to which what rises beside a ridge is level: rounding. */
static const double LEVEL = 1e-6;
/* Sine up to which a face that rests on an edge leans along it. Where it leans more the edge is higher elsewhere. */
static const double LEAN = 0.05;

/* ---- corners and triangles ---- */

ti_vec ti_field_unit(const ti_mesh *m, int row, int col) {
    return ti_vec3(2.0 * col / (m->ncol - 1) - 1, 2.0 * row / (m->nrow - 1) - 1, m->height[row * m->ncol + col]);
}

bool ti_field_corner(const ti_shape *s, int row, int col, ti_vec *p) {
    const ti_mesh *m = s->mesh;
    if (row < 0 || col < 0 || row >= m->nrow || col >= m->ncol) return false;
    ti_vec u = ti_field_unit(m, row, col);
    *p = ti_vec3(s->size.x * u.x, s->size.y * u.y, s->size.z * u.z);
    return true;
}

/* Of a cell: below its diagonal the even one, above it the odd one. */
void ti_field_at(const ti_mesh *m, int triangle, int k, int *row, int *col) {
    static const int UP[2][3] = {{0, 0, 1}, {0, 1, 1}}, ALONG[2][3] = {{0, 1, 1}, {0, 1, 0}};
    int cell = triangle / 2, half = triangle % 2;
    *row = cell / (m->ncol - 1) + UP[half][k], *col = cell % (m->ncol - 1) + ALONG[half][k];
}

/* ---- prisms ---- */

static const int edge[][2] = {{3, 4}, {4, 5}, {3, 5}, {0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 4}, {2, 5}};
static const int face_at[] = {0, 3, 6, 10, 14, 18};
static const int face_vertex[] = {3, 4, 5, 0, 2, 1, 0, 1, 4, 3, 1, 2, 5, 4, 2, 0, 3, 5};
static const int face_edge[] = {0, 1, 2, 5, 4, 3, 3, 7, 0, 6, 4, 8, 1, 7, 5, 6, 2, 8};
static const int vertex_at[] = {0, 3, 6, 9, 12, 15, 18};
static const int vertex_edge[] = {3, 5, 6, 3, 4, 7, 4, 5, 8, 0, 2, 6, 0, 1, 7, 1, 2, 8};
static const int vertex_face[] = {1, 2, 4, 1, 2, 3, 1, 3, 4, 0, 2, 4, 0, 2, 3, 0, 3, 4};

/* From the corners of its top, and how far below the lowest of them it ends. */
static void make_prism(const ti_vec top[3], double deep, ti_prism_hull *p) {
    p->hull = (ti_hull){6,           9,
                        5,           (const double(*)[3])p->v,
                        edge,        (const double(*)[3])p->face,
                        face_at,     face_vertex,
                        face_edge,   vertex_at,
                        vertex_edge, vertex_face};
    double low = fmin(fmin(top[0].z, top[1].z), top[2].z) - deep;
    for (int k = 0; k < 3; k++) {
        ti_store3(p->v[3 + k], top[k]);
        ti_store3(p->v[k], ti_vec3(top[k].x, top[k].y, low));
    }
    for (int f = 0; f < 5; f++) {
        const int *c = face_vertex + face_at[f];
        ti_vec a = ti_load3(p->v[c[0]]);
        ti_vec n = ti_cross(ti_sub(ti_load3(p->v[c[1]]), a), ti_sub(ti_load3(p->v[c[2]]), a));
        ti_store3(p->face[f], ti_scale(1 / ti_norm(n), n));
    }
}

void ti_field_prism(const ti_shape *s, int triangle, ti_prism_hull *p) {
    ti_vec top[3];
    for (int k = 0; k < 3; k++) {
        int row, col;
        ti_field_at(s->mesh, triangle, k, &row, &col);
        top[k] = ti_field_unit(s->mesh, row, col);
    }
    make_prism(top, 1, p);
}

ti_vec ti_field_prism_near(const ti_shape *s, int triangle, ti_prism_hull *p) {
    ti_vec top[3] = {{0, 0, 0}}, middle = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        int row, col;
        ti_field_at(s->mesh, triangle, k, &row, &col);
        ti_field_corner(s, row, col, &top[k]);
        middle = ti_axpy(middle, 1.0 / 3, top[k]);
    }
    double deep = ti_norm(ti_sub(top[2], top[0])) + ti_norm(ti_sub(top[1], top[0]));
    middle.z = fmin(fmin(top[0].z, top[1].z), top[2].z) - 0.5 * deep;
    for (int k = 0; k < 3; k++) top[k] = ti_sub(top[k], middle);
    make_prism(top, deep, p);
    return middle;
}

/* ---- the ground about a place ---- */

double ti_field_height(const ti_shape *s, ti_vec p) {
    const ti_mesh *m = s->mesh;
    double x = 0.5 * (p.x / s->size.x + 1) * (m->ncol - 1), y = 0.5 * (p.y / s->size.y + 1) * (m->nrow - 1);
    if (!(x >= 0 && y >= 0 && x <= m->ncol - 1 && y <= m->nrow - 1)) return -(double)INFINITY;
    int col = x < m->ncol - 1 ? (int)x : m->ncol - 2, row = y < m->nrow - 1 ? (int)y : m->nrow - 2;
    const double *z = m->height + (size_t)row * (size_t)m->ncol + col, *up = z + m->ncol;
    x -= col, y -= row;
    double along = y > x ? up[1] - up[0] : z[1] - z[0], across = y > x ? up[0] - z[0] : up[1] - z[1];
    return s->size.z * (z[0] + x * along + y * across);
}

/* How steeply the way to a corner of the grid rises along n; beyond the grid all falls off. */
static double rise(const ti_shape *s, int row, int col, ti_vec at, ti_vec n) {
    ti_vec d;
    if (!ti_field_corner(s, row, col, &d)) return -(double)INFINITY;
    d = ti_sub(d, at);
    return ti_dot(n, d) / ti_norm(d);
}

static bool is_peak(const ti_shape *s, int row, int col, ti_vec n) {
    static const int AROUND[6][2] = {{0, 1}, {1, 1}, {1, 0}, {0, -1}, {-1, -1}, {-1, 0}};
    ti_vec at = {0, 0, 0};
    ti_field_corner(s, row, col, &at);
    for (int i = 0; i < 6; i++)
        if (rise(s, row + AROUND[i][0], col + AROUND[i][1], at, n) > LEVEL) return false;
    return true;
}

bool ti_field_is_ridge(const ti_shape *s, int triangle, ti_part part, ti_vec n) {
    int row[3], col[3], k = part.kind == TI_EDGE ? part.id : part.id - TI_TOP_CORNER;
    for (int i = 0; i < 3; i++) ti_field_at(s->mesh, triangle, i, &row[i], &col[i]);
    if (part.kind == TI_VERTEX) return is_peak(s, row[k], col[k], n);
    int next = (k + 1) % 3, off = (k + 2) % 3;
    ti_vec at = {0, 0, 0}, end = {0, 0, 0};
    ti_field_corner(s, row[k], col[k], &at), ti_field_corner(s, row[next], col[next], &end);
    ti_vec way = ti_scale(1 / ti_norm(ti_sub(end, at)), ti_sub(end, at));
    double lean = ti_dot(n, way);
    n = ti_axpy(n, -lean, way);
    /* The triangle's own third corner, and that of the one across the edge: the two make a parallelogram. */
    double own = rise(s, row[off], col[off], at, n);
    double other = rise(s, row[k] + row[next] - row[off], col[k] + col[next] - col[off], at, n);
    return fabs(lean) <= LEAN && fmax(own, other) <= LEVEL && fmin(own, other) < -LEVEL;
}
