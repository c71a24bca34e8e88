/* collide.c -- the table of pairs of shapes, and what is asked of one shape in the world. */
#include "collide/collide.h"
#include "collide/pairs.h"
#include "model/shape.h"
#include <string.h>

typedef struct pair_row {
    int most; /* contacts at most */
    ti_collide_fn *touch;
    ti_collide_jac_fn *jac;
    ti_collide_vjp_fn *vjp; /* NULL: by jac */
} pair_row;

enum { SHAPES = TRIBO_HFIELD + 1 };
/* Of any two convex shapes, and of one and a plane. */
#define CONVEX(a, b, most) [a][b] = {most, ti_collide_convex, ti_collide_convex_jac, NULL}
#define ON_FIELD(a) [a][TRIBO_HFIELD] = {4, ti_collide_field, ti_collide_field_jac, NULL}
#define PLANE_CONVEX(b, most) [TRIBO_PLANE][b] = {most, ti_collide_plane_convex, ti_collide_convex_jac, NULL}

static const pair_row PAIR[SHAPES][SHAPES] = {
    [TRIBO_PLANE][TRIBO_SPHERE] = {1, ti_collide_plane_sphere, ti_collide_plane_sphere_jac,
                                   ti_collide_plane_sphere_vjp},
    [TRIBO_PLANE][TRIBO_BOX] = {8, ti_collide_plane_box, ti_collide_plane_box_jac, ti_collide_plane_box_vjp},
    [TRIBO_SPHERE][TRIBO_SPHERE] = {1, ti_collide_sphere_sphere, ti_collide_sphere_sphere_jac, NULL},
    [TRIBO_SPHERE][TRIBO_BOX] = {1, ti_collide_sphere_box, ti_collide_sphere_box_jac, ti_collide_sphere_box_vjp},
    [TRIBO_BOX][TRIBO_BOX] = {TI_CONTACTS_MAX, ti_collide_box_box, ti_collide_box_box_jac, ti_collide_box_box_vjp},
    [TRIBO_PLANE][TRIBO_CAPSULE] = {2, ti_collide_plane_capsule, ti_collide_plane_capsule_jac,
                                    ti_collide_plane_capsule_vjp},
    [TRIBO_SPHERE][TRIBO_CAPSULE] = {1, ti_collide_sphere_capsule, ti_collide_sphere_capsule_jac, NULL},
    [TRIBO_BOX][TRIBO_CAPSULE] = {TI_CONTACTS_MAX, ti_collide_box_capsule, ti_collide_box_capsule_jac, NULL},
    [TRIBO_CAPSULE][TRIBO_CAPSULE] = {5, ti_collide_capsule_capsule, ti_collide_capsule_capsule_jac, NULL},
    PLANE_CONVEX(TRIBO_CYLINDER, 4),
    PLANE_CONVEX(TRIBO_ELLIPSOID, 1),
    CONVEX(TRIBO_SPHERE, TRIBO_CYLINDER, 1),
    CONVEX(TRIBO_BOX, TRIBO_CYLINDER, 4),
    CONVEX(TRIBO_CAPSULE, TRIBO_CYLINDER, 4),
    CONVEX(TRIBO_CYLINDER, TRIBO_CYLINDER, 4),
    CONVEX(TRIBO_SPHERE, TRIBO_ELLIPSOID, 1),
    CONVEX(TRIBO_BOX, TRIBO_ELLIPSOID, 1),
    CONVEX(TRIBO_CAPSULE, TRIBO_ELLIPSOID, 1),
    CONVEX(TRIBO_CYLINDER, TRIBO_ELLIPSOID, 1),
    CONVEX(TRIBO_ELLIPSOID, TRIBO_ELLIPSOID, 1),
    PLANE_CONVEX(TRIBO_MESH, 4),
    CONVEX(TRIBO_SPHERE, TRIBO_MESH, 1),
    CONVEX(TRIBO_BOX, TRIBO_MESH, 4),
    CONVEX(TRIBO_CAPSULE, TRIBO_MESH, 4),
    CONVEX(TRIBO_CYLINDER, TRIBO_MESH, 4),
    CONVEX(TRIBO_ELLIPSOID, TRIBO_MESH, 1),
    CONVEX(TRIBO_MESH, TRIBO_MESH, 4),
    ON_FIELD(TRIBO_SPHERE),
    ON_FIELD(TRIBO_BOX),
    ON_FIELD(TRIBO_CAPSULE),
    ON_FIELD(TRIBO_CYLINDER),
    ON_FIELD(TRIBO_ELLIPSOID),
    ON_FIELD(TRIBO_MESH),
};

static const pair_row *row_of(const ti_shape *a, const ti_shape *b) {
    return ti_rounded_convex(a, b) ? &PAIR[TRIBO_BOX][TRIBO_CYLINDER] : &PAIR[a->shape][b->shape];
}

int ti_collide(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    const pair_row *row = row_of(a, b);
    if (!row->touch) return 0;
    if (a->edge == 0 && b->edge == 0) return row->touch(a, b, margin, out);
    ti_shape inner[2] = {ti_rounded_inner(a), ti_rounded_inner(b)};
    int n = row->touch(inner, inner + 1, margin + a->edge + b->edge, out);
    for (int k = 0; k < n; k++) ti_rounded_out(a, b, &out[k]);
    return n;
}

/* In the order of the table. Contacts of a box and another one, or a capsule, are not always where they are closest. */
static bool closest(const ti_shape *a, const ti_shape *b, ti_touch *t) {
    ti_touch all[TI_CONTACTS_MAX];
    int least = 0;
    if ((a->shape == TRIBO_BOX && b->shape != TRIBO_HFIELD) || PAIR[a->shape][b->shape].touch == ti_collide_convex)
        return ti_convex_distance(a, b, t);
    int n = ti_collide(a, b, (double)INFINITY, all);
    for (int k = 1; k < n; k++)
        if (all[k].gap < all[least].gap) least = k;
    if (n) *t = all[least];
    return n > 0;
}

bool ti_distance(const ti_shape *a, const ti_shape *b, ti_touch *t) {
    ti_shape inner[2] = {ti_rounded_inner(a), ti_rounded_inner(b)};
    bool ordered = a->shape <= b->shape;
    if (!closest(&inner[!ordered], &inner[ordered], t)) return false;
    if (!ordered) t->normal = ti_scale(-1, t->normal);
    ti_rounded_out(a, b, t);
    return true;
}

int ti_collide_most(tribo_shape a, tribo_shape b) {
    return PAIR[a][b].most;
}

static void jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    const pair_row *row = row_of(a, b);
    memset(J, 0, sizeof(ti_touch_jac));
    if (!row->jac) return;
    if (a->edge == 0 && b->edge == 0) {
        row->jac(a, b, t, J);
    } else {
        ti_shape inner[2] = {ti_rounded_inner(a), ti_rounded_inner(b)};
        ti_touch own = *t;
        ti_rounded_in(a, b, &own);
        row->jac(inner, inner + 1, &own, J);
    }
    ti_rounded_jac(a, b, t->normal, J);
}

void ti_collide_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    if (!t->core) {
        jac(a, b, t, J);
        return;
    }
    ti_shape ball;
    const ti_shape *first, *second;
    bool swapped = ti_core_pair(a, b, t->core, &ball, &first, &second);
    ti_touch own = *t;
    if (swapped) own.normal = ti_scale(-1, own.normal);
    jac(first, second, &own, J);
    ti_core_columns(a, b, t->core, swapped, J);
}

/* Where it is in closed form. */
static bool vjp(const ti_shape *a, const ti_shape *b, const ti_touch *t, const double *in, double *out) {
    if (t->core || a->edge != 0 || b->edge != 0) return false;
    const pair_row *row = &PAIR[a->shape][b->shape];
    if (!row->vjp || !row->vjp(a, b, t, in, out)) return false;
    ti_rounded_vjp(a, b, t->normal, in, out);
    return true;
}

void ti_collide_vjp(const ti_shape *a, const ti_shape *b, const ti_touch *t, const double *in, double *out) {
    ti_touch_jac J;
    memset(out, 0, TI_COLLIDE_COLS * sizeof *out);
    if (vjp(a, b, t, in, out)) return;
    ti_collide_jac(a, b, t, J);
    for (int r = 0; r < TI_COLLIDE_ROWS; r++)
        for (int j = 0; j < TI_COLLIDE_COLS; j++) out[j] += in[r] * J[r][j];
}

bool ti_collide_core(const ti_shape *a, const ti_shape *b, int core, double margin, ti_touch *out) {
    ti_shape ball;
    const ti_shape *first, *second;
    ti_touch all[TI_CONTACTS_MAX];
    bool swapped = ti_core_pair(a, b, core, &ball, &first, &second);
    int n = ti_collide(first, second, margin, all), least = 0;
    for (int k = 1; k < n; k++)
        if (all[k].gap < all[least].gap) least = k;
    if (n == 0) return false;
    *out = all[least], out->core = core;
    if (swapped) out->normal = ti_scale(-1, out->normal);
    return true;
}

double ti_bound_radius(const ti_shape *s) {
    double size[3];
    ti_store3(size, s->size);
    return ti_shape_of(s->shape)->radius(s->mesh, size);
}

void ti_shape_aabb(const ti_shape *s, double inflate, ti_vec *lo, ti_vec *hi) {
    double size[3], e[3];
    ti_store3(size, s->size);
    ti_shape_of(s->shape)->halves(s->mesh, &s->R, size, e);
    for (int i = 0; i < 3; i++) e[i] += inflate;
    *lo = ti_sub(s->x, ti_load3(e)), *hi = ti_add(s->x, ti_load3(e));
}
