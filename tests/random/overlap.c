/* overlap.c -- how far two shapes are apart or inside one another, by separating axes. */
#include "maths.h"
#include "scene.h"

void geom_pose(const geom *g, const double *x, const scene *s, posed *out) {
    out->shape = g->shape;
    copy3(out->size, g->size);
    out->edge = g->edge;
    for (int i = 0; i < 3 && g->shape == TRIBO_BOX; i++) out->size[i] -= g->edge;
    double q[4], start[NX];
    if (g->body < 0) {
        copy3(out->x, g->pos);
        copy4(q, g->quat);
    } else {
        const solid *b = &s->b[g->body];
        copy3(start, b->pos), copy4(start + 3, b->quat);
        const double *pose = x ? x + 7 * g->body : start;
        quat_turn(out->x, pose + 3, g->pos);
        add_scaled(out->x, out->x, 1, pose);
        quat_times(q, pose + 3, g->quat);
    }
    quat_normalise(q);
    quat_matrix(out->R, q);
}

double geom_radius(const geom *g) {
    switch (g->shape) {
    case TRIBO_SPHERE:
        return g->size[0];
    case TRIBO_BOX:
        return length(g->size);
    case TRIBO_CAPSULE:
        return g->size[0] + g->size[1];
    default:
        return 0;
    }
}

double geom_height(const geom *g) {
    return g->shape == TRIBO_BOX ? g->size[2] : geom_radius(g);
}

/* Half the extent of a shape along a unit direction. */
static double reach(const posed *a, const double n[3]) {
    if (a->shape == TRIBO_SPHERE) return a->size[0];
    double sum = 0, axis[3];
    column(axis, a->R, 2);
    if (a->shape == TRIBO_CAPSULE) return a->size[0] + a->size[1] * fabs(dot(axis, n));
    for (int i = 0; i < 3; i++) {
        column(axis, a->R, i);
        sum += a->size[i] * fabs(dot(axis, n));
    }
    return sum;
}

static double plane_any(const posed *plane, const posed *b) {
    double n[3], d[3];
    column(n, plane->R, 2);
    sub(d, b->x, plane->x);
    return dot(d, n) - reach(b, n);
}

static double sphere_sphere(const posed *a, const posed *b) {
    double d[3];
    sub(d, b->x, a->x);
    return length(d) - a->size[0] - b->size[0];
}

static double sphere_box(const posed *a, const posed *b) {
    double d[3], p[3], out[3], inside = -HUGE_VAL;
    sub(d, a->x, b->x);
    times_transposed(p, b->R, d);
    for (int i = 0; i < 3; i++) {
        double beyond = fabs(p[i]) - b->size[i];
        out[i] = larger(beyond, 0);
        inside = larger(inside, beyond);
    }
    return (inside > 0 ? length(out) : inside) - a->size[0];
}

static double box_box(const posed *a, const posed *b) {
    double d[3], best = -HUGE_VAL, n[3], u[3], v[3];
    sub(d, b->x, a->x);
    for (int k = 0; k < 15; k++) {
        if (k < 3)
            column(n, a->R, k);
        else if (k < 6)
            column(n, b->R, k - 3);
        else {
            column(u, a->R, (k - 6) / 3), column(v, b->R, (k - 6) % 3);
            cross(n, u, v);
        }
        double size = length(n);
        if (size < 1e-6) continue; /* parallel edges: faces decide */
        for (int i = 0; i < 3; i++) n[i] /= size;
        best = larger(best, fabs(dot(d, n)) - reach(a, n) - reach(b, n));
    }
    return best;
}

/* Of a capsule: the least of the balls along it, by thirds, since distances from what is convex are. */
static double capsule_any(const posed *a, const posed *b) {
    posed ball = {.shape = TRIBO_SPHERE, .size = {a->size[0]}};
    double axis[3], low = -a->size[1], high = a->size[1], at[2];
    column(axis, a->R, 2);
    for (int k = 0; k < 100; k++) {
        for (int i = 0; i < 2; i++) {
            add_scaled(ball.x, a->x, low + (high - low) * (i + 1) / 3, axis);
            at[i] = separation(&ball, b);
        }
        if (at[0] < at[1])
            high -= (high - low) / 3;
        else
            low += (high - low) / 3;
    }
    return smaller(at[0], at[1]);
}

/* Of boxes that are apart: each coordinate of both points in turn, as near as it may, which comes from above. */
static double box_box_apart(const posed *a, const posed *b) {
    const posed *box[2] = {a, b};
    double at[6] = {0}, between[3], axis[3];
    sub(between, b->x, a->x);
    for (int round = 0; round < 400; round++)
        for (int i = 0; i < 6; i++) {
            const posed *own = box[i / 3];
            double sign = i < 3 ? -1 : 1, most = own->size[i % 3];
            column(axis, own->R, i % 3);
            double next = at[i] - sign * dot(between, axis);
            next = larger(-most, smaller(most, next));
            add_scaled(between, between, sign * (next - at[i]), axis), at[i] = next;
        }
    return length(between);
}

static double sharp_separation(const posed *a, const posed *b) {
    if (a->shape == TRIBO_PLANE) return b->shape == TRIBO_PLANE ? HUGE_VAL : plane_any(a, b);
    if (b->shape == TRIBO_PLANE) return plane_any(b, a);
    if (a->shape == TRIBO_CAPSULE) return capsule_any(a, b);
    if (b->shape == TRIBO_CAPSULE) return capsule_any(b, a);
    if (a->shape == TRIBO_SPHERE) return b->shape == TRIBO_SPHERE ? sphere_sphere(a, b) : sphere_box(a, b);
    if (b->shape == TRIBO_SPHERE) return sphere_box(b, a);
    double apart = box_box(a, b);
    return apart > 0 && (a->edge > 0 || b->edge > 0) ? box_box_apart(a, b) : apart;
}

double separation(const posed *a, const posed *b) {
    return sharp_separation(a, b) - a->edge - b->edge;
}
