/* convex_spot.c -- points of a part of a surface, and how they move along it and with the size. docs/math.md eq. (303).
 */
#include "collide/surface.h"

/* Half a turn's thirds: cosine and sine of 0, 120 and -120 degrees. */
static const double TURN[3][2] = {{1, 0}, {-0.5, 0.86602540378443864676}, {-0.5, -0.86602540378443864676}};

static ti_vec times(const ti_form *f, ti_vec v) {
    return ti_vec3(f->scale[0] * v.x, f->scale[1] * v.y, f->scale[2] * v.z);
}

static ti_vec over(const ti_form *f, ti_vec v) {
    return ti_vec3(v.x / f->scale[0], v.y / f->scale[1], v.z / f->scale[2]);
}

static ti_vec unit(ti_vec v) {
    return ti_scale(1 / ti_norm(v), v);
}

/* Two directions at right angles to n and to each other. */
static void cross_frame(ti_vec n, ti_vec *a, ti_vec *b) {
    ti_vec e = fabs(n.x) < 0.6 ? ti_vec3(1, 0, 0) : ti_vec3(0, 1, 0);
    *a = unit(ti_cross(n, e)), *b = ti_cross(n, *a);
}

static ti_vec ball_centre(const ti_form *f, int id) {
    return ti_vec3(0, 0, f->s->shape != TRIBO_CAPSULE ? 0 : id ? f->half : -f->half);
}

static void ball(const ti_form *f, int id, ti_vec p, ti_spot *s) {
    ti_vec centre = ball_centre(f, id), q = unit(over(f, ti_sub(p, centre))), t[2];
    cross_frame(q, &t[0], &t[1]);
    s->p = ti_add(centre, times(f, q)), s->k = 2;
    for (int i = 0; i < 2; i++) s->to[i] = times(f, t[i]), s->bend[i] = ti_scale(-1, times(f, q)), s->round[i] = true;
}

static void side(const ti_form *f, ti_vec p, ti_spot *s) {
    ti_vec out = unit(ti_vec3(p.x, p.y, 0));
    double r = f->scale[0];
    s->p = ti_vec3(r * out.x, r * out.y, p.z), s->k = 2;
    s->to[0] = ti_vec3(-r * out.y, r * out.x, 0), s->bend[0] = ti_scale(-r, out), s->round[0] = true;
    s->to[1] = ti_vec3(0, 0, 1);
}

static void rim(const ti_form *f, int id, ti_vec p, ti_spot *s) {
    ti_vec out = unit(ti_vec3(p.x, p.y, 0));
    double r = f->scale[0], c = TURN[id >> 1][0], z = TURN[id >> 1][1];
    ti_vec low = {c * out.x + z * out.y, c * out.y - z * out.x, 0};
    s->p = ti_vec3(r * out.x, r * out.y, id & 1 ? f->scale[2] : -f->scale[2]), s->k = 1;
    s->to[0] = ti_vec3(-r * out.y, r * out.x, 0), s->round[0] = true;
    s->square[0] = ti_vec3(-r * low.y, r * low.x, 0), s->bend[0] = ti_scale(-r, low);
}

static void edge(const ti_form *f, int id, ti_vec p, ti_spot *s) {
    const ti_hull *h = f->hull;
    ti_vec from = ti_form_corner(f, h->edge[id][0]), e = ti_sub(ti_form_corner(f, h->edge[id][1]), from);
    e = unit(e), s->k = 1, s->to[0] = e;
    s->p = ti_axpy(from, ti_dot(e, ti_sub(p, from)), e);
}

static void face(const ti_form *f, int id, ti_vec p, ti_spot *s) {
    s->k = 2, s->p = p, s->p.z = 0;
    s->to[0] = ti_vec3(1, 0, 0), s->to[1] = ti_vec3(0, 1, 0);
    if (!f->hull) return;
    ti_vec n = ti_form_face_normal(f, id), at = ti_form_corner(f, f->hull->face_vertex[f->hull->face_at[id]]);
    cross_frame(n, &s->to[0], &s->to[1]);
    s->p = ti_axpy(p, -ti_dot(n, ti_sub(p, at)), n);
}

ti_spot ti_spot_at(const ti_form *f, ti_part part, ti_vec p) {
    ti_spot s = {.p = p};
    switch (part.kind) {
    case TI_VERTEX:
        s.p = ti_form_corner(f, part.id);
        break;
    case TI_EDGE:
        edge(f, part.id, p, &s);
        break;
    case TI_FACE:
        face(f, part.id, p, &s);
        break;
    case TI_BALL:
        ball(f, part.id, p, &s);
        break;
    case TI_SIDE:
        side(f, p, &s);
        break;
    case TI_RIM:
        rim(f, part.id, p, &s);
        return s;
    default:
        break;
    }
    for (int i = 0; i < s.k; i++) s.square[i] = s.to[i];
    return s;
}

ti_spot ti_spot_move(const ti_form *f, ti_part part, const ti_spot *from, const double *du) {
    ti_vec p = from->p;
    for (int i = 0; i < from->k; i++) p = ti_axpy(p, du[i], from->to[i]);
    return ti_spot_at(f, part, p);
}

/* Whatever is scaled moves with its scale; what is free to move along the part may as well. */
ti_vec ti_spot_size(const ti_form *f, ti_part part, ti_vec v, bool point, int size) {
    if (f->s->shape == TRIBO_PLANE) return ti_vec3(0, 0, 0);
    ti_vec from = {0, 0, 0};
    bool capsule = f->s->shape == TRIBO_CAPSULE;
    if (capsule && point && part.kind == TI_BALL) from = ball_centre(f, part.id);
    ti_vec q = over(f, ti_sub(v, from));
    if (capsule && size == 1) return ti_vec3(0, 0, point && part.kind == TI_BALL ? (part.id ? 1 : -1) : 0);
    if (part.kind == TI_SIDE) q.z = 0;
    return ti_vec3(f->by[0] == size ? q.x : 0, f->by[1] == size ? q.y : 0, f->by[2] == size ? q.z : 0);
}
