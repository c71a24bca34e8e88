/* shape.c -- the rows of the table of shapes. */
#include "model/shape.h"
#include "base/base.h"

static const double PI = 3.14159265358979323846;

/* ---- plane ---- */

static double plane_volume(const ti_mesh *o, const double *s) {
    (void)o;
    (void)s;
    return 0;
}
static void plane_inertia(const ti_mesh *o, double m, const double *s, double d[3]) {
    (void)o;
    (void)m, (void)s;
    d[0] = d[1] = d[2] = 0;
}
static double plane_radius(const ti_mesh *o, const double *s) {
    (void)o;
    (void)s;
    return (double)INFINITY;
}
static void plane_halves(const ti_mesh *o, const ti_mat *R, const double *s, double e[3]) {
    (void)o;
    (void)R, (void)s;
    e[0] = e[1] = e[2] = (double)INFINITY;
}

/* ---- sphere: radius ---- */

static double sphere_volume(const ti_mesh *o, const double *s) {
    (void)o;
    return 4.0 / 3.0 * PI * s[0] * s[0] * s[0];
}
static void sphere_inertia(const ti_mesh *o, double m, const double *s, double d[3]) {
    (void)o;
    d[0] = d[1] = d[2] = 0.4 * m * s[0] * s[0];
}
static double sphere_radius(const ti_mesh *o, const double *s) {
    (void)o;
    return s[0];
}
static void sphere_halves(const ti_mesh *o, const ti_mat *R, const double *s, double e[3]) {
    (void)o;
    (void)R;
    e[0] = e[1] = e[2] = s[0];
}

/* ---- box: half extents ---- */

static double box_volume(const ti_mesh *o, const double *s) {
    (void)o;
    return 8 * s[0] * s[1] * s[2];
}
static void box_inertia(const ti_mesh *o, double m, const double *s, double d[3]) {
    (void)o;
    for (int i = 0; i < 3; i++) {
        double j = s[(i + 1) % 3], k = s[(i + 2) % 3];
        d[i] = m / 3 * (j * j + k * k);
    }
}
static double box_radius(const ti_mesh *o, const double *s) {
    (void)o;
    return ti_norm(ti_load3(s));
}
static void box_halves(const ti_mesh *o, const ti_mat *R, const double *s, double e[3]) {
    (void)o;
    for (int i = 0; i < 3; i++) e[i] = fabs(R->m[i][0]) * s[0] + fabs(R->m[i][1]) * s[1] + fabs(R->m[i][2]) * s[2];
}

/* ---- capsule: radius, half length of its segment, which lies along z. docs/math.md eq. (142) ---- */

static double capsule_volume(const ti_mesh *o, const double *s) {
    (void)o;
    return PI * s[0] * s[0] * (2 * s[1] + 4.0 / 3.0 * s[0]);
}
static void capsule_inertia(const ti_mesh *o, double m, const double *s, double d[3]) {
    (void)o;
    double r = s[0], l = s[1], ball = m * (2 * r / (2 * r + 3 * l)), tube = m * (3 * l / (2 * r + 3 * l));
    d[2] = ball * 0.4 * r * r + tube * 0.5 * r * r;
    d[0] = d[1] = ball * (0.4 * r * r + l * l + 0.75 * r * l) + tube * (r * r / 4 + l * l / 3);
}
static double capsule_radius(const ti_mesh *o, const double *s) {
    (void)o;
    return s[0] + s[1];
}
static void capsule_halves(const ti_mesh *o, const ti_mat *R, const double *s, double e[3]) {
    (void)o;
    for (int i = 0; i < 3; i++) e[i] = s[0] + fabs(R->m[i][2]) * s[1];
}

/* ---- cylinder: radius, half length along z. docs/math.md eq. (301) ---- */

static double cylinder_volume(const ti_mesh *o, const double *s) {
    (void)o;
    return 2 * PI * s[0] * s[0] * s[1];
}
static void cylinder_inertia(const ti_mesh *o, double m, const double *s, double d[3]) {
    (void)o;
    d[2] = 0.5 * m * s[0] * s[0];
    d[0] = d[1] = m * (s[0] * s[0] / 4 + s[1] * s[1] / 3);
}
static double cylinder_radius(const ti_mesh *o, const double *s) {
    (void)o;
    return sqrt(s[0] * s[0] + s[1] * s[1]);
}
static void cylinder_halves(const ti_mesh *o, const ti_mat *R, const double *s, double e[3]) {
    (void)o;
    for (int i = 0; i < 3; i++)
        e[i] = s[0] * sqrt(R->m[i][0] * R->m[i][0] + R->m[i][1] * R->m[i][1]) + s[1] * fabs(R->m[i][2]);
}

/* ---- ellipsoid: semi-axes. docs/math.md eq. (302) ---- */

static double ellipsoid_volume(const ti_mesh *o, const double *s) {
    (void)o;
    return 4.0 / 3.0 * PI * s[0] * s[1] * s[2];
}
static void ellipsoid_inertia(const ti_mesh *o, double m, const double *s, double d[3]) {
    (void)o;
    for (int i = 0; i < 3; i++) {
        double j = s[(i + 1) % 3], k = s[(i + 2) % 3];
        d[i] = 0.2 * m * (j * j + k * k);
    }
}
static double ellipsoid_radius(const ti_mesh *o, const double *s) {
    (void)o;
    return ti_max(ti_max(s[0], s[1]), s[2]);
}
static void ellipsoid_halves(const ti_mesh *o, const ti_mat *R, const double *s, double e[3]) {
    (void)o;
    for (int i = 0; i < 3; i++) e[i] = ti_norm(ti_vec3(R->m[i][0] * s[0], R->m[i][1] * s[1], R->m[i][2] * s[2]));
}

/* ---- mesh: scales. docs/math.md eq. (309) ---- */

static double mesh_volume(const ti_mesh *o, const double *s) {
    double scale = s[0] * s[1] * s[2];
    return o->volume * (o->shell ? cbrt(scale * scale) : scale);
}
static void mesh_inertia(const ti_mesh *o, double m, const double *s, double d[3]) {
    double x[3];
    for (int i = 0; i < 3; i++) x[i] = m * s[i] * s[i] * o->second[i];
    for (int i = 0; i < 3; i++) d[i] = x[(i + 1) % 3] + x[(i + 2) % 3];
}
static double mesh_radius(const ti_mesh *o, const double *s) {
    double square = 0;
    if (s[0] == s[1] && s[1] == s[2]) return o->radius * s[0];
    for (int i = 0; i < o->hull.nv; i++) {
        const double *v = o->hull.v[i], p[3] = {s[0] * v[0], s[1] * v[1], s[2] * v[2]};
        square = ti_max(square, p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    }
    return sqrt(square);
}
/* Uphill along each of the world's axes, and down. */
static void mesh_halves(const ti_mesh *o, const ti_mat *R, const double *s, double e[3]) {
    for (int i = 0; i < 3; i++) {
        const double up[3] = {R->m[i][0] * s[0], R->m[i][1] * s[1], R->m[i][2] * s[2]},
                     down[3] = {-up[0], -up[1], -up[2]};
        e[i] = ti_max(ti_hull_reach(&o->hull, up), ti_hull_reach(&o->hull, down));
    }
}

/* ---- height field: half the widths, what a height of 1 is. The box around it is as deep as it is high. ---- */

static void field_halves(const ti_mesh *o, const ti_mat *R, const double *s, double e[3]) {
    const double box[3] = {s[0], s[1], ti_max(o->base, s[2] * o->highest)};
    box_halves(o, R, box, e);
}
static double field_radius(const ti_mesh *o, const double *s) {
    const double box[3] = {s[0], s[1], ti_max(o->base, s[2] * o->highest)};
    return box_radius(o, box);
}

/* ---- the table, in the order of tribo_shape ---- */

static const ti_shape_row ROW[] = {
    {"plane", 0, false, false, false, true, false, plane_volume, plane_inertia, plane_radius, plane_halves},
    {"sphere", 1, true, false, false, false, false, sphere_volume, sphere_inertia, sphere_radius, sphere_halves},
    {"box", 3, true, true, false, true, true, box_volume, box_inertia, box_radius, box_halves},
    {"capsule", 2, true, true, false, true, false, capsule_volume, capsule_inertia, capsule_radius, capsule_halves},
    {"cylinder", 2, true, true, false, true, true, cylinder_volume, cylinder_inertia, cylinder_radius, cylinder_halves},
    {"ellipsoid", 3, true, true, false, true, false, ellipsoid_volume, ellipsoid_inertia, ellipsoid_radius,
     ellipsoid_halves},
    {"mesh", 3, true, false, true, true, false, mesh_volume, mesh_inertia, mesh_radius, mesh_halves},
    {"hfield", 3, false, false, true, true, false, plane_volume, plane_inertia, field_radius, field_halves},
};

const ti_shape_row *ti_shape_of(tribo_shape shape) {
    return (size_t)shape < sizeof ROW / sizeof *ROW ? &ROW[shape] : NULL;
}

const ti_shape_row *ti_shape_named(const char *name, tribo_shape *shape) {
    for (size_t i = 0; i < sizeof ROW / sizeof *ROW; i++)
        if (strcmp(ROW[i].name, name) == 0) return *shape = (tribo_shape)i, &ROW[i];
    return NULL;
}

const char *ti_size_flaw(tribo_shape shape, const double size[3]) {
    int n = ti_shape_of(shape)->nsize;
    if (!ti_finite(size, (size_t)n)) return "size is not finite";
    for (int i = 0; i < n; i++)
        if (!(size[i] > 0)) return "size must be > 0";
    return ti_places(size, (size_t)n) ? NULL : "size is beyond 1e10 m";
}

const char *ti_edge_flaw(tribo_shape shape, const double size[3], double radius) {
    const ti_shape_row *row = ti_shape_of(shape);
    if (!(radius >= 0) || !isfinite(radius)) return "edge_radius must be >= 0";
    if (radius > 0 && !row->edged) return "edge_radius is of boxes and cylinders";
    for (int i = 0; i < row->nsize && radius > 0; i++)
        if (!(radius < size[i])) return "edge_radius must be less than each number of size";
    return NULL;
}
