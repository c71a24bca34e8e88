/* convex_form.c -- shapes as the convex pair sees them: supports, and which parts of a surface are furthest. */
#include "collide/surface.h"
#include "model/mesh.h"

ti_form ti_form_of(const ti_shape *s) {
    ti_form f = {.s = s, .scale = {s->size.x, s->size.y, s->size.z}, .by = {0, 1, 2}};
    switch (s->shape) {
    case TRIBO_PLANE:
        f.scale[0] = f.scale[1] = f.scale[2] = 1;
        break;
    case TRIBO_CAPSULE:
        f.half = s->size.y; /* fall through */
    case TRIBO_SPHERE:
        f.round = s->size.x, f.by[1] = f.by[2] = 0, f.scale[1] = f.scale[2] = s->size.x;
        break;
    case TRIBO_CYLINDER:
        f.hull = &ti_prism, f.by[1] = 0, f.by[2] = 1, f.scale[1] = s->size.x, f.scale[2] = s->size.y;
        break;
    case TRIBO_BOX:
        f.hull = &ti_cube;
        break;
    case TRIBO_MESH:
        f.hull = &s->mesh->hull;
        break;
    case TRIBO_ELLIPSOID:
    case TRIBO_HFIELD: /* seen triangle by triangle: field.c */
        break;
    }
    f.small = fmin(fmin(f.scale[0], f.scale[1]), f.scale[2]);
    return f;
}

static ti_vec scaled(const ti_form *f, const double *v) {
    return ti_vec3(f->scale[0] * v[0], f->scale[1] * v[1], f->scale[2] * v[2]);
}

ti_vec ti_form_corner(const ti_form *f, int vertex) {
    return scaled(f, f->hull->v[vertex]);
}

/* ---- supports ---- */

static double along(const double *v, const double *d) {
    return v[0] * d[0] + v[1] * d[1] + v[2] * d[2];
}

ti_vec ti_form_support(ti_form *f, ti_vec d) {
    double g[3] = {f->scale[0] * d.x, f->scale[1] * d.y, f->scale[2] * d.z}, n;
    switch (f->s->shape) {
    case TRIBO_CAPSULE:
        return ti_vec3(0, 0, d.z < 0 ? -f->half : f->half);
    case TRIBO_CYLINDER:
        n = sqrt(d.x * d.x + d.y * d.y);
        n = n > 0 ? f->scale[0] / n : 0;
        return ti_vec3(n * d.x, n * d.y, d.z < 0 ? -f->scale[2] : f->scale[2]);
    case TRIBO_ELLIPSOID:
        n = 1 / sqrt(along(g, g));
        return ti_vec3(n * f->scale[0] * g[0], n * f->scale[1] * g[1], n * f->scale[2] * g[2]);
    case TRIBO_BOX:
        f->last = (d.x > 0) | (d.y > 0) << 1 | (d.z > 0) << 2;
        return ti_form_corner(f, f->last);
    case TRIBO_MESH:
        f->last = ti_hull_climb(f->hull, g, f->last);
        return ti_form_corner(f, f->last);
    default:
        return ti_vec3(0, 0, 0);
    }
}

double ti_form_reach(ti_form *f, ti_vec d) {
    return ti_dot(ti_form_support(f, d), d) + f->round;
}

/* ---- parts ---- */

static ti_vec unit(ti_vec v) {
    return ti_scale(1 / ti_norm(v), v);
}

ti_vec ti_form_face_normal(const ti_form *f, int face) {
    if (!f->hull) return ti_vec3(0, 0, 1);
    const double *n = f->hull->face[face];
    return unit(ti_vec3(n[0] / f->scale[0], n[1] / f->scale[1], n[2] / f->scale[2]));
}

double ti_form_face_area(const ti_form *f, int face) {
    const ti_hull *h = f->hull;
    int from = h->face_at[face];
    ti_vec sum = {0, 0, 0}, first = ti_form_corner(f, h->face_vertex[from]);
    for (int k = from + 2; k < h->face_at[face + 1]; k++) {
        ti_vec u = ti_sub(ti_form_corner(f, h->face_vertex[k - 1]), first);
        sum = ti_add(sum, ti_cross(u, ti_sub(ti_form_corner(f, h->face_vertex[k]), first)));
    }
    return 0.5 * ti_norm(sum);
}

int ti_form_face(ti_form *f, ti_vec d) {
    if (f->s->shape == TRIBO_CYLINDER) return d.z > 0;
    if (!f->hull) return -1;
    ti_form_support(f, d);
    int best = -1;
    double most = -2;
    for (int k = f->hull->vertex_at[f->last]; k < f->hull->vertex_at[f->last + 1]; k++) {
        double look = ti_dot(ti_form_face_normal(f, f->hull->vertex_face[k]), d);
        if (look > most) most = look, best = f->hull->vertex_face[k];
    }
    return best;
}

static int of_capsule(const ti_form *f, ti_vec d, ti_vec p, ti_part *part) {
    bool end = fabs(p.z) >= f->half * (1 - 1e-9);
    part[end] = (ti_part){TI_SIDE, 0};
    part[!end] = (ti_part){TI_BALL, (end ? p.z : d.z) > 0};
    return 2;
}

static int of_cylinder(ti_vec d, double within, ti_part *part) {
    int n = 0, top = d.z > 0;
    double across = sqrt(d.x * d.x + d.y * d.y);
    if (across < within) part[n++] = (ti_part){TI_FACE, top};
    if (fabs(d.z) < within) part[n++] = (ti_part){TI_SIDE, 0};
    part[n++] = (ti_part){TI_RIM, top};
    if (fabs(d.z) < within) part[n++] = (ti_part){TI_RIM, !top};
    return n;
}

/* Faces and edges at the furthest corner that are level with it, then the corner. */
static int of_hull(ti_form *f, ti_vec d, double within, ti_part *part) {
    const ti_hull *h = f->hull;
    int n = 0, other[TI_PARTS], others = 0;
    ti_form_support(f, d);
    int at = f->last;
    for (int k = h->vertex_at[at]; k < h->vertex_at[at + 1] && n < TI_PARTS / 2; k++) {
        int face = h->vertex_face[k];
        ti_vec off = ti_cross(ti_form_face_normal(f, face), d);
        if (ti_dot(off, off) < within * within) part[n++] = (ti_part){TI_FACE, face};
    }
    for (int k = h->vertex_at[at]; k < h->vertex_at[at + 1] && n < TI_PARTS - 2; k++) {
        const int *e = h->edge[h->vertex_edge[k]];
        ti_vec edge = ti_sub(ti_form_corner(f, e[1]), ti_form_corner(f, e[0]));
        if (!(fabs(ti_dot(edge, d)) < within * ti_norm(edge))) continue;
        part[n++] = (ti_part){TI_EDGE, h->vertex_edge[k]};
        other[others++] = e[0] == at ? e[1] : e[0];
    }
    part[n++] = (ti_part){TI_VERTEX, at};
    for (int k = 0; k < others && n < TI_PARTS; k++) part[n++] = (ti_part){TI_VERTEX, other[k]};
    return n;
}

int ti_form_parts(ti_form *f, ti_vec d, ti_vec p, double within, ti_part *part) {
    if (f->s->shape == TRIBO_CAPSULE) return of_capsule(f, d, p, part);
    if (f->s->shape == TRIBO_CYLINDER) return of_cylinder(d, within, part);
    if (f->hull) return of_hull(f, d, within, part);
    part[0] = (ti_part){f->s->shape == TRIBO_PLANE ? TI_FACE : TI_BALL, 0};
    return 1;
}

/* ---- whether a point is on a part ---- */

static bool face_holds(const ti_form *f, int face, ti_vec p, double slack) {
    const ti_hull *h = f->hull;
    if (!h) return true; /* a plane */
    if (f->s->shape == TRIBO_CYLINDER) return sqrt(p.x * p.x + p.y * p.y) <= f->scale[0] + slack;
    ti_vec n = ti_form_face_normal(f, face), last = ti_form_corner(f, h->face_vertex[h->face_at[face + 1] - 1]);
    for (int k = h->face_at[face]; k < h->face_at[face + 1]; k++) {
        ti_vec at = ti_form_corner(f, h->face_vertex[k]), out = ti_cross(ti_sub(at, last), n);
        if (ti_dot(out, ti_sub(p, at)) > slack * ti_norm(out)) return false;
        last = at;
    }
    return true;
}

static bool edge_holds(const ti_form *f, int edge, ti_vec p, double slack) {
    ti_vec from = ti_form_corner(f, f->hull->edge[edge][0]), to = ti_form_corner(f, f->hull->edge[edge][1]);
    ti_vec e = ti_sub(to, from);
    double length = ti_norm(e), at = ti_dot(e, ti_sub(p, from)) / length;
    return at >= -slack && at <= length + slack;
}

bool ti_form_holds(const ti_form *f, ti_part part, ti_vec p, double slack) {
    switch (part.kind) {
    case TI_EDGE:
        return edge_holds(f, part.id, p, slack);
    case TI_FACE:
        return face_holds(f, part.id, p, slack);
    case TI_SIDE:
        return fabs(p.z) <= (f->s->shape == TRIBO_CAPSULE ? f->half : f->scale[2]) + slack;
    case TI_BALL:
        return f->s->shape != TRIBO_CAPSULE || (part.id ? p.z : -p.z) >= f->half - slack;
    default:
        return true;
    }
}
