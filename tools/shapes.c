/* shapes.c -- lists the shapes of a model; a hull becomes fans of triangles, a height field two a cell. */
#include "shapes.h"
#include "model/model.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool mesh_room(scene_mesh *out, size_t nvertex, size_t ntriangle) {
    out->vertex = calloc(nvertex + 1, sizeof *out->vertex);
    out->triangle = calloc(ntriangle + 1, sizeof *out->triangle);
    return out->vertex && out->triangle;
}

static void add_triangle(scene_mesh *out, int a, int b, int c) {
    int *t = out->triangle[out->ntriangle++];
    t[0] = a, t[1] = b, t[2] = c;
}

static bool of_hull(const ti_hull *h, scene_mesh *out) {
    size_t fans = h->nf > 0 ? (size_t)(h->face_at[h->nf] - 2 * h->nf) : 0;
    if (!mesh_room(out, (size_t)h->nv, fans)) return false;
    out->nvertex = h->nv;
    for (int i = 0; i < h->nv; i++)
        for (int k = 0; k < 3; k++) out->vertex[i][k] = (float)h->v[i][k];
    for (int f = 0; f < h->nf; f++) {
        const int *corner = h->face_vertex + h->face_at[f];
        for (int k = 2; k < h->face_at[f + 1] - h->face_at[f]; k++)
            add_triangle(out, corner[0], corner[k - 1], corner[k]);
    }
    return true;
}

static bool of_field(const ti_mesh *m, scene_mesh *out) {
    size_t rows = (size_t)m->nrow, columns = (size_t)m->ncol;
    if (!mesh_room(out, rows * columns, 2 * (rows - 1) * (columns - 1))) return false;
    for (int i = 0; i < m->nrow; i++)
        for (int k = 0; k < m->ncol; k++) {
            float *v = out->vertex[out->nvertex++];
            v[0] = (float)(2.0 * k / (m->ncol - 1) - 1), v[1] = (float)(2.0 * i / (m->nrow - 1) - 1);
            v[2] = (float)m->height[i * m->ncol + k];
            if (i + 1 == m->nrow || k + 1 == m->ncol) continue;
            int at = out->nvertex - 1;
            add_triangle(out, at, at + 1, at + m->ncol + 1);
            add_triangle(out, at, at + m->ncol + 1, at + m->ncol);
        }
    return true;
}

static void place_shape(const tribo_model *m, const double *p, int geom, scene_shape *s) {
    const ti_geom *g = m->geom + geom;
    double length = 0;
    *s = (scene_shape){.name = g->name, .shape = g->shape, .body = g->body};
    s->mesh = g->mesh ? (int)(g->mesh - m->mesh) : -1;
    memcpy(s->size, p + g->p + TI_P_SIZE, sizeof s->size);
    memcpy(s->pos, p + g->p + TI_P_POS, sizeof s->pos);
    for (int k = 0; k < 4; k++) length += p[g->p + TI_P_QUAT + k] * p[g->p + TI_P_QUAT + k];
    for (int k = 0; k < 4; k++) s->quat[k] = p[g->p + TI_P_QUAT + k] / sqrt(length);
}

/* From a body's origin, or from its joint, on to what hangs on it. */
static void add_link(scene_shapes *s, int a, const double *at_a, int b, const double *at_b) {
    scene_link *l = s->link + s->nlink++;
    l->body[0] = a, l->body[1] = b;
    memcpy(l->point[0], at_a, sizeof l->point[0]);
    memcpy(l->point[1], at_b, sizeof l->point[1]);
}

/* A rod to each body from the one that carries it, and to shapes that do not reach the origin of their body. */
static void find_links(const tribo_model *m, scene_shapes *s) {
    static const double origin[3] = {0, 0, 0};
    for (int i = 0; i < m->size.nbody; i++) {
        const ti_body *b = m->body + i;
        s->parent[i] = b->parent;
        const double *anchor = b->njoint > 0 ? m->joint[b->joint0].pos : origin;
        if (b->parent >= 0) add_link(s, b->parent, origin, i, anchor);
        s->bare |= b->ngeom == 0;
        if (b->parent < 0 && b->free >= 0) continue;
        for (int k = 0; k < b->ngeom; k++) {
            const scene_shape *g = s->shape + m->body_geom[b->geom0 + k];
            double away = sqrt(g->pos[0] * g->pos[0] + g->pos[1] * g->pos[1] + g->pos[2] * g->pos[2]);
            double reach = fmax(g->size[0], fmax(g->size[1], g->size[2]));
            if (g->shape != TRIBO_MESH && away > 1.05 * reach + 1e-9) add_link(s, i, origin, i, g->pos);
        }
    }
}

/* Sizes of a body without shapes are the distances to what it carries. */
static void measure(const tribo_model *m, scene_shapes *s) {
    double longest = 0;
    for (int i = 0; i < s->nlink; i++) {
        const scene_link *l = s->link + i;
        const double *to = l->body[0] == l->body[1] ? l->point[1] : m->body[l->body[1]].pos;
        longest = fmax(longest, sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]));
    }
    s->extent = fmax(tribo_model_extent(m), longest);
    if (!(s->extent > 0)) s->extent = 1;
    s->rod = longest > 0 ? 0.06 * longest : 0.02 * s->extent;
}

bool shapes_of(const tribo_model *m, const double *p, scene_shapes *s) {
    size_t n = (size_t)m->size.ngeom;
    *s = (scene_shapes){0};
    s->shape = calloc(n + 1, sizeof *s->shape);
    s->mesh = calloc((size_t)m->nmesh + 1, sizeof *s->mesh);
    s->link = calloc(n + (size_t)m->size.nbody + 1, sizeof *s->link);
    s->parent = calloc((size_t)m->size.nbody + 1, sizeof *s->parent);
    if (!s->shape || !s->mesh || !s->link || !s->parent) return false;
    s->nmesh = m->nmesh;
    for (int i = 0; i < m->nmesh; i++)
        if (m->mesh[i].nrow > 0 ? !of_field(m->mesh + i, s->mesh + i) : !of_hull(&m->mesh[i].hull, s->mesh + i))
            return false;
    for (; s->nshape < m->size.ngeom; s->nshape++) place_shape(m, p, s->nshape, s->shape + s->nshape);
    find_links(m, s);
    measure(m, s);
    return true;
}

void shapes_free(scene_shapes *s) {
    for (int i = 0; s->mesh && i < s->nmesh; i++) {
        free(s->mesh[i].vertex);
        free(s->mesh[i].triangle);
    }
    free(s->shape);
    free(s->mesh);
    free(s->link);
    free(s->parent);
    *s = (scene_shapes){0};
}
