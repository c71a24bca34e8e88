/* rod.c -- the contact of two rods and its tangent. docs/math.md, "Capsules". */
#include "collide/rod.h"

/* Squared sine of the angle below which two directions are one. */
static const double PARALLEL = 1e-10;

bool ti_rod_cross(const ti_rod *a, const ti_rod *b, double *s, double *t) {
    ti_vec r = ti_sub(b->x, a->x), u = ti_cross(a->a, b->a);
    double k = ti_dot(a->a, b->a), square = ti_dot(u, u), ar = ti_dot(a->a, r), br = ti_dot(b->a, r);
    *s = (ar - k * br) / square, *t = (k * ar - br) / square;
    return !(square <= PARALLEL);
}

/* How far along each rod a feature is. */
static void places(const ti_rod *a, const ti_rod *b, int feature, double *s, double *t) {
    int on_a = feature & 3, on_b = feature >> 2 & 3;
    if (on_a == TI_ROD_INSIDE && on_b == TI_ROD_INSIDE) {
        ti_rod_cross(a, b, s, t);
        return;
    }
    *s = ti_rod_end(a, on_a), *t = ti_rod_end(b, on_b);
    if (on_a == TI_ROD_INSIDE) *s = ti_rod_foot(a, ti_rod_point(b, *t));
    if (on_b == TI_ROD_INSIDE) *t = ti_rod_foot(b, ti_rod_point(a, *s));
}

static bool crosses(int feature) {
    return (feature & 15) == ti_rod_feature(TI_ROD_INSIDE, TI_ROD_INSIDE);
}

/* Some unit vector at right angles to the rods: z where it can be. For points that coincide. */
static ti_vec aside(const ti_rod *a, const ti_rod *b) {
    ti_vec along = ti_dot(a->a, a->a) > 0 ? a->a : b->a;
    ti_vec u = ti_axpy(ti_vec3(0, 0, 1), -along.z, along);
    if (ti_dot(u, u) < 0.01) u = ti_axpy(ti_vec3(1, 0, 0), -along.x, along);
    return ti_scale(1 / ti_norm(u), u);
}

ti_touch ti_rod_touch(const ti_rod *a, const ti_rod *b, int feature, ti_vec towards) {
    double s, t;
    places(a, b, feature, &s, &t);
    ti_vec p = ti_rod_point(a, s), d = ti_sub(ti_rod_point(b, t), p), n;
    double dist = ti_norm(d);
    if (crosses(feature)) {
        ti_vec u = ti_cross(a->a, b->a);
        double side = ti_dot(towards, towards) > 0 ? ti_dot(u, towards) : ti_dot(u, d);
        n = ti_scale((side < 0 ? -1 : 1) / ti_norm(u), u);
        dist = ti_dot(n, d);
    } else if (dist <= 1e-15 * (ti_norm(p) + a->l + b->l + a->r + b->r)) { /* the rest is rounding */
        n = aside(a, b), feature |= TI_ROD_ONE_POINT;
    } else {
        n = ti_scale(1 / dist, d);
    }
    double gap = dist - (a->r + b->r);
    return (ti_touch){ti_axpy(p, a->r + 0.5 * gap, n), n, gap, feature, 0};
}

/* The tangents of how far along the rods it is. */
static void places_jvp(const ti_rod *a, const ti_rod *b, int feature, double s, double t, const ti_rod *da,
                       const ti_rod *db, double *ds, double *dt) {
    int on_a = feature & 3, on_b = feature >> 2 & 3;
    ti_vec r = ti_sub(b->x, a->x), dr = ti_sub(db->x, da->x);
    *ds = ti_rod_end(da, on_a), *dt = ti_rod_end(db, on_b);
    if (crosses(feature)) { /* s - k t = a.r,  k s - t = b.r */
        ti_vec u = ti_cross(a->a, b->a);
        double k = ti_dot(a->a, b->a), dk = ti_dot(da->a, b->a) + ti_dot(a->a, db->a);
        double f = ti_dot(da->a, r) + ti_dot(a->a, dr) + t * dk, g = ti_dot(db->a, r) + ti_dot(b->a, dr) - s * dk;
        *ds = (f - k * g) / ti_dot(u, u), *dt = (k * f - g) / ti_dot(u, u);
    } else if (on_a == TI_ROD_INSIDE) { /* s = a.(x_b + t b - x_a) */
        ti_vec to = ti_axpy(r, t, b->a), dto = ti_axpy(ti_axpy(dr, t, db->a), *dt, b->a);
        *ds = ti_dot(da->a, to) + ti_dot(a->a, dto);
    } else if (on_b == TI_ROD_INSIDE) {
        ti_vec to = ti_axpy(ti_scale(-1, r), s, a->a), dto = ti_axpy(ti_axpy(ti_scale(-1, dr), s, da->a), *ds, a->a);
        *dt = ti_dot(db->a, to) + ti_dot(b->a, dto);
    }
}

/* v without its part along the unit vector n. */
static ti_vec across(ti_vec n, ti_vec v) {
    return ti_axpy(v, -ti_dot(n, v), n);
}

void ti_rod_touch_jvp(const ti_rod *a, const ti_rod *b, const ti_touch *touch, int feature, const ti_rod *da,
                      const ti_rod *db, ti_touch *dot) {
    double s, t, ds, dt;
    places(a, b, feature, &s, &t);
    places_jvp(a, b, feature, s, t, da, db, &ds, &dt);
    ti_vec n = touch->normal, dp = ti_axpy(ti_axpy(da->x, s, da->a), ds, a->a);
    ti_vec dd = ti_sub(ti_axpy(ti_axpy(db->x, t, db->a), dt, b->a), dp);
    ti_vec dn = {0, 0, 0};
    if (crosses(feature)) {
        ti_vec u = ti_cross(a->a, b->a), du = ti_add(ti_cross(da->a, b->a), ti_cross(a->a, db->a));
        dn = across(n, ti_scale(1 / ti_dot(n, u), du));
    } else if (!(feature & TI_ROD_ONE_POINT)) {
        dn = across(n, ti_scale(1 / (touch->gap + a->r + b->r), dd));
    }
    dot->gap = ti_dot(n, dd) - da->r - db->r;
    dot->normal = dn;
    dot->point = ti_axpy(ti_axpy(dp, a->r + 0.5 * touch->gap, dn), da->r + 0.5 * dot->gap, n);
}
