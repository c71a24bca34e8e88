/* mesh_solid.c -- what a mesh weighs and how it turns; its hull in its inertia frame. docs/math.md eq. (307)-(309). */
#include "base/base.h"
#include "math/vec.h"
#include "model/inertia.h"
#include "model/mesh.h"
#include <math.h>
#include <stdio.h>

/* ---- volume and moments, by the tetrahedra of the triangles and one point; of a shell by the triangles ---- */

typedef struct solid {
    double volume; /* of a shell its area */
    ti_vec centre;
    double product[6]; /* integrals of xx yy zz xy xz yz */
} solid;

static ti_vec corner(const tribo_mesh_def *d, int triangle, int k) {
    return ti_load3(d->vertex + 3 * d->triangle[3 * triangle + k]);
}

/* What a tetrahedron is of the parallelepiped on its edges. */
static const double SHARE = 1. / (2 * 3);

/* Six times the volume of the tetrahedron of a triangle and the point. */
static double six_volumes(const tribo_mesh_def *d, int t, ti_vec from) {
    ti_vec a = ti_sub(corner(d, t, 0), from), b = ti_sub(corner(d, t, 1), from), c = ti_sub(corner(d, t, 2), from);
    double six = ti_dot(a, ti_cross(b, c));
    return d->mass == TRIBO_MESH_UNSIGNED ? fabs(six) : six;
}

static double twice_area(const tribo_mesh_def *d, int t) {
    ti_vec a = corner(d, t, 0);
    return ti_norm(ti_cross(ti_sub(corner(d, t, 1), a), ti_sub(corner(d, t, 2), a)));
}

/* The mean of the triangles' centres by their areas; the sum of these. */
static ti_vec middle(const tribo_mesh_def *d, double *area) {
    ti_vec sum = {0, 0, 0};
    double twice = 0;
    for (int t = 0; t < d->ntriangle; t++) {
        double by = twice_area(d, t);
        ti_vec corners = ti_add(corner(d, t, 0), ti_add(corner(d, t, 1), corner(d, t, 2)));
        sum = ti_axpy(sum, by / 3, corners), twice += by;
    }
    if (area) *area = 0.5 * twice;
    return twice > 0 ? ti_scale(1 / twice, sum) : sum;
}

static ti_vec centre_of(const tribo_mesh_def *d, ti_vec from, double *volume) {
    ti_vec sum = {0, 0, 0};
    double six = 0;
    for (int t = 0; t < d->ntriangle; t++) {
        double v = six_volumes(d, t, from);
        ti_vec c = ti_add(ti_add(corner(d, t, 0), corner(d, t, 1)), ti_add(corner(d, t, 2), from));
        sum = ti_axpy(sum, v / 4, c), six += v;
    }
    *volume = SHARE * six;
    return ti_scale(1 / six, sum);
}

/* p p' over the triangle, each corner a row, about the centre: `size` (own + sum sum) for each pair of axes. */
static void add_product(const double p[3][3], double size, double *product) {
    static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    double sum[3];
    for (int i = 0; i < 3; i++) sum[i] = p[0][i] + p[1][i] + p[2][i];
    for (int e = 0; e < 6; e++) {
        int i = at[e][0], j = at[e][1];
        double own = p[0][i] * p[0][j] + p[1][i] * p[1][j] + p[2][i] * p[2][j];
        product[e] += size * (own + sum[i] * sum[j]);
    }
}

static void corners(const tribo_mesh_def *d, int t, ti_vec from, double p[3][3]) {
    for (int k = 0; k < 3; k++) ti_store3(p[k], ti_sub(corner(d, t, k), from));
}

static void measure_inside(const tribo_mesh_def *d, solid *s) {
    double six = 0, p[3][3];
    s->centre = centre_of(d, middle(d, NULL), &s->volume);
    for (int t = 0; t < d->ntriangle; t++) {
        double v = six_volumes(d, t, s->centre);
        corners(d, t, s->centre, p);
        add_product((const double(*)[3])p, v / 120, s->product);
        six += v;
    }
    s->volume = SHARE * six;
}

static void measure_surface(const tribo_mesh_def *d, solid *s) {
    double p[3][3];
    s->centre = middle(d, &s->volume);
    for (int t = 0; t < d->ntriangle; t++) {
        corners(d, t, s->centre, p);
        add_product((const double(*)[3])p, twice_area(d, t) / 24, s->product);
    }
}

static void measure(const tribo_mesh_def *d, solid *s) {
    *s = (solid){0};
    if (d->mass == TRIBO_MESH_SHELL)
        measure_surface(d, s);
    else
        measure_inside(d, s);
}

/* ---- a mesh ---- */

static const char *flaw_of(const tribo_mesh_def *d, char *text, size_t room) {
    if (d->nvertex < 4 || d->ntriangle < 0 || !d->vertex || (d->ntriangle && !d->triangle))
        return "four vertices or more expected";
    if (d->nvertex > TI_POINTS_LIMIT || d->ntriangle > TI_TRIANGLES_LIMIT) {
        snprintf(text, room, "more than %d triangles", TI_TRIANGLES_LIMIT);
        return text;
    }
    for (int i = 0; i < 3 * d->nvertex; i++)
        if (!(fabs(d->vertex[i]) < 1e30)) {
            snprintf(text, room, "vertex %d is not finite", i / 3);
            return text;
        }
    for (int i = 0; i < 3 * d->ntriangle; i++)
        if (d->triangle[i] < 0 || d->triangle[i] >= d->nvertex) {
            snprintf(text, room, "triangle %d has vertex %d, of %d", i / 3, d->triangle[i], d->nvertex);
            return text;
        }
    if (d->mass > TRIBO_MESH_SHELL) return "there is no such way to weigh it";
    if (d->hull_vertices != 0 && d->hull_vertices < 4) return "a hull has four vertices or more";
    return NULL;
}

/* The hull's faces as triangles. @return how many; out NULL = only count. */
static int fans(const ti_hull *h, int *out) {
    int n = 0;
    for (int f = 0; f < h->nf; f++)
        for (int k = h->face_at[f] + 1; k + 1 < h->face_at[f + 1]; k++, n++)
            if (out)
                out[3 * n] = h->face_vertex[h->face_at[f]], out[3 * n + 1] = h->face_vertex[k],
                        out[3 * n + 2] = h->face_vertex[k + 1];
    return n;
}

/* Volume and moments, of the hull where no triangles are given. @return false without memory. */
static bool weigh(const tribo_mesh_def *d, const ti_hull *h, const tribo_allocator *a, solid *s) {
    if (d->ntriangle) {
        measure(d, s);
        return true;
    }
    int n = fans(h, NULL);
    size_t bytes = 3 * (size_t)n * sizeof(int);
    int *triangle = ti_alloc(a, bytes);
    if (!triangle) return false;
    fans(h, triangle);
    tribo_mesh_def own = *d;
    own.vertex = (const double *)h->v, own.nvertex = h->nv, own.triangle = triangle, own.ntriangle = n;
    measure(&own, s);
    ti_free(a, triangle, bytes);
    return true;
}

void ti_mesh_copy(ti_arena *at, const ti_mesh *from, ti_mesh *to) {
    if (from->nrow) {
        ti_field_copy(at, from, to);
        return;
    }
    const ti_hull *f = &from->hull;
    ti_hull h = *f;
    int nsides = f->face_at[f->nf];
    ti_hull_carve(at, &h, nsides);
    if (!at->base) return;
#define COPY(array, n) memcpy((void *)(uintptr_t)h.array, f->array, (size_t)(n) * sizeof *f->array)
    COPY(v, f->nv), COPY(edge, f->ne), COPY(face, f->nf), COPY(face_at, f->nf + 1), COPY(face_vertex, nsides);
    COPY(face_edge, nsides), COPY(vertex_at, f->nv + 1), COPY(vertex_edge, nsides), COPY(vertex_face, nsides);
#undef COPY
    *to = *from;
    to->hull = h;
}

/* From the mesh's own frame to that of its inertia. */
static void place(ti_mesh *m, const solid *s) {
    ti_mat R = ti_principal_axes(s->product, m->second);
    double(*v)[3] = (double(*)[3])(uintptr_t)m->hull.v, (*n)[3] = (double(*)[3])(uintptr_t)m->hull.face;
    for (int i = 0; i < 3; i++) m->second[i] /= s->volume;
    m->volume = s->volume, m->radius = 0;
    ti_store3(m->pos, s->centre);
    ti_quat_of(&R, m->quat);
    for (int i = 0; i < m->hull.nv; i++) {
        ti_vec p = ti_tmul(&R, ti_sub(ti_load3(v[i]), s->centre));
        ti_store3(v[i], p);
        m->radius = fmax(m->radius, ti_norm(p));
    }
    for (int i = 0; i < m->hull.nf; i++) ti_store3(n[i], ti_tmul(&R, ti_load3(n[i])));
}

static ti_mesh *keep(const ti_mesh *from, const tribo_allocator *a) {
    ti_arena at = {0};
    ti_mesh *made;
    TI_CARVE(&at, made, 1);
    ti_mesh_copy(&at, from, NULL);
    if (!ti_arena_take(&at, a)) return NULL;
    TI_CARVE(&at, made, 1);
    ti_mesh_copy(&at, from, made);
    made->bytes = at.used;
    return made;
}

/* What is less is rounding. */
static double least_volume(const ti_hull *h) {
    double square = 0;
    for (int i = 0; i < h->nv; i++) {
        ti_vec d = ti_sub(ti_load3(h->v[i]), ti_load3(h->v[0]));
        square = fmax(square, ti_dot(d, d));
    }
    return 1e-12 * square * sqrt(square);
}

/* Smaller and larger ones, or further off, were scaled by mistake: contacts are known to 1e-16 of a place, not of a
 * size.
 */
static tribo_status reach_flaw(const ti_mesh *m, char *flaw, size_t room) {
    const double least = 1e-9;
    if (m->radius >= least && m->radius <= TI_FURTHEST && ti_places(m->pos, 3)) return TRIBO_OK;
    snprintf(flaw, room, "scaled it reaches %.3g m from its centre, %.3g m off: less than %g m, or beyond %g m",
             m->radius, ti_norm(ti_load3(m->pos)), least, TI_FURTHEST);
    return TRIBO_E_ARG;
}

tribo_status ti_mesh_new(const tribo_mesh_def *d, const tribo_allocator *a, ti_mesh **made, char *flaw, size_t room) {
    const char *what = flaw_of(d, flaw, room);
    if (what && what != flaw) snprintf(flaw, room, "%s", what);
    if (what) return TRIBO_E_ARG;
    ti_mesh m = {0};
    void *block;
    size_t bytes;
    solid s;
    tribo_status status = ti_hull_make(d->vertex, d->nvertex, d->hull_vertices, a, &m.hull, &block, &bytes, flaw, room);
    if (status != TRIBO_OK) return status;
    if (!weigh(d, &m.hull, a, &s)) {
        status = TRIBO_E_NOMEM;
    } else if (!(s.volume > least_volume(&m.hull))) {
        snprintf(flaw, room,
                 s.volume < -least_volume(&m.hull) ? "its triangles are turned inside out" : "it has no volume");
        status = TRIBO_E_ARG;
    } else {
        place(&m, &s);
        status = reach_flaw(&m, flaw, room);
        m.shell = d->mass == TRIBO_MESH_SHELL;
        if (status == TRIBO_OK) status = (*made = keep(&m, a)) ? TRIBO_OK : TRIBO_E_NOMEM;
    }
    ti_free(a, block, bytes);
    return status;
}

void ti_mesh_free(const tribo_allocator *a, ti_mesh *m) {
    if (m) ti_free(a, m, m->bytes);
}

/* The inertia frame in the body, from that of the vertices. */
void ti_mesh_place(const ti_mesh *m, double pos[3], double quat[4]) {
    ti_mat R = ti_quat_mat(quat);
    ti_store3(pos, ti_add(ti_load3(pos), ti_mul(&R, ti_load3(m->pos))));
    ti_quat_mul(quat, m->quat, quat);
}

void ti_mesh_unplace(const ti_mesh *m, double pos[3], double quat[4]) {
    const double back[4] = {m->quat[0], -m->quat[1], -m->quat[2], -m->quat[3]};
    ti_quat_mul(quat, back, quat);
    ti_mat R = ti_quat_mat(quat);
    ti_store3(pos, ti_sub(ti_load3(pos), ti_mul(&R, ti_load3(m->pos))));
}
