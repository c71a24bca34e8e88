/* house.h -- a mesh for tests: a box with a roof, and how far a point is outside of it, in words of its own. */
#ifndef TEST_HOUSE_H
#define TEST_HOUSE_H
#include "collide/touch.h"
#include "model/mesh.h"
#include <stdlib.h>

enum { HOUSE_POINTS = 11, HOUSE_TRIANGLES = 60 };
/* The last point is inside: no corner of the hull. */
static const double house_point[HOUSE_POINTS][3] = {
    {-0.7, -0.5, -0.6}, {0.8, -0.5, -0.6}, {-0.7, 0.6, -0.6}, {0.8, 0.6, -0.6}, {-0.7, -0.5, 0.3}, {0.8, -0.5, 0.3},
    {-0.7, 0.6, 0.3},   {0.8, 0.6, 0.3},   {-0.4, 0.1, 0.8},  {0.6, 0, 0.75},   {0.1, 0.1, 0.1}};

/* Made when first asked for, kept to the end. */
static inline const ti_mesh *house(void) {
    static ti_mesh *made;
    if (made) return made;
    tribo_mesh_def d = tribo_default_mesh();
    char flaw[120];
    d.vertex = &house_point[0][0], d.nvertex = HOUSE_POINTS;
    if (ti_mesh_new(&d, NULL, &made, flaw, sizeof flaw) != TRIBO_OK) abort();
    return made;
}

static inline void house_free(void) {
    ti_mesh_free(NULL, (ti_mesh *)(uintptr_t)house());
}

/* Its points in its inertia frame, scaled, and the triples of them that all others are on one side of. */
typedef struct house_shape {
    ti_vec p[HOUSE_POINTS];
    int n, triangle[HOUSE_TRIANGLES][3];
    ti_vec normal[HOUSE_TRIANGLES];
} house_shape;

static inline ti_vec house_corner(const ti_shape *s, int i) {
    ti_mat R = ti_quat_mat(house()->quat);
    ti_vec p = ti_tmul(&R, ti_sub(ti_load3(house_point[i]), ti_load3(house()->pos)));
    return ti_vec3(s->size.x * p.x, s->size.y * p.y, s->size.z * p.z);
}

static inline void house_shape_of(const ti_shape *s, house_shape *h) {
    h->n = 0;
    for (int i = 0; i < HOUSE_POINTS; i++) h->p[i] = house_corner(s, i);
    for (int a = 0; a < HOUSE_POINTS; a++)
        for (int b = 0; b < HOUSE_POINTS; b++)
            for (int c = 0; c < HOUSE_POINTS; c++) {
                if (a >= b || a >= c || b == c) continue;
                ti_vec n = ti_cross(ti_sub(h->p[b], h->p[a]), ti_sub(h->p[c], h->p[a]));
                double most = -1;
                for (int i = 0; i < HOUSE_POINTS; i++) most = fmax(most, ti_dot(n, ti_sub(h->p[i], h->p[a])));
                if (most > 1e-9 * ti_dot(n, n) || h->n == HOUSE_TRIANGLES) continue;
                h->normal[h->n] = ti_scale(1 / ti_norm(n), n), h->triangle[h->n][0] = a, h->triangle[h->n][1] = b,
                h->triangle[h->n++][2] = c;
            }
}

/* The same for the shape asked for last. */
static inline const house_shape *house_of(const ti_shape *s) {
    static house_shape h;
    static ti_vec size;
    if (size.x != s->size.x || size.y != s->size.y || size.z != s->size.z) house_shape_of(s, &h), size = s->size;
    return &h;
}

/* How far p (the shape's frame) is beyond the plane of the triangle that it is furthest beyond. */
static inline double house_plane(const house_shape *h, ti_vec p) {
    double most = -1e9;
    for (int k = 0; k < h->n; k++) most = fmax(most, ti_dot(h->normal[k], ti_sub(p, h->p[h->triangle[k][0]])));
    return most;
}

static inline double house_to_segment(ti_vec p, ti_vec a, ti_vec b) {
    ti_vec u = ti_sub(b, a);
    double t = ti_dot(u, ti_sub(p, a)) / ti_dot(u, u);
    return ti_norm(ti_sub(p, ti_axpy(a, t < 0 ? 0 : t > 1 ? 1 : t, u)));
}

/* p in the shape's frame; negative inside. */
static inline double house_outside(const house_shape *h, ti_vec p) {
    double plane = house_plane(h, p), least = 1e9;
    if (plane < 0) return plane;
    for (int k = 0; k < h->n; k++) {
        ti_vec v[3] = {h->p[h->triangle[k][0]], h->p[h->triangle[k][1]], h->p[h->triangle[k][2]]};
        ti_vec n = ti_cross(ti_sub(v[1], v[0]), ti_sub(v[2], v[0]));
        double own = fabs(ti_dot(h->normal[k], ti_sub(p, v[0])));
        bool over = true;
        for (int i = 0; i < 3; i++)
            over = over && ti_dot(ti_cross(ti_sub(v[(i + 1) % 3], v[i]), n), ti_sub(p, v[i])) <= 0;
        for (int i = 0; i < 3 && !over; i++)
            own = i ? fmin(own, house_to_segment(p, v[i], v[(i + 1) % 3])) : house_to_segment(p, v[0], v[1]);
        least = fmin(least, own);
    }
    return least;
}

#endif
