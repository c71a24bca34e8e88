/* still.c -- the triangles of a still: solids of shapes, placed, lit, seen by a camera. */
#include "still.h"
#include "solids.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TILES = 40, SIDES = 12 };
static const double pi = 3.14159265358979323846;
static const double opening = 0.32;                        /* tangent of half the angle of view, upwards */
static const double margin = 1.25;                         /* what moves, and so much around it */
static const unsigned char paper[3] = {0xff, 0xff, 0xff};  /* behind everything */
static const double sun[3] = {0.34869, -0.50230, 0.79126}; /* unit: where light comes from */
static const unsigned char modes[][3] = {{0x8b, 0x94, 0x9e}, {0x00, 0x72, 0xb2}, {0xd5, 0x5e, 0x00}}; /* tribo_mode */

typedef struct camera {
    double eye[3], right[3], up[3], away[3]; /* away: from the eye to the middle */
    double middle[3], span, distance, scale; /* scale: pixels at a distance of 1 */
} camera;

typedef struct drawing {
    still *out;
    const replay *r;
    camera c;
    bool shaded;                 /* there is a plane for shadows to fall on: */
    double floor[3], upwards[3]; /* a point of it, its normal */
} drawing;

/* ---- vectors ---- */

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* v turned by the quaternion q. */
static void turned(const double q[4], const double v[3], double out[3]) {
    double t[3], c[3];
    cross(q + 1, v, t);
    for (int i = 0; i < 3; i++) t[i] += q[0] * v[i];
    cross(q + 1, t, c);
    for (int i = 0; i < 3; i++) out[i] = v[i] + 2 * c[i];
}

/* A place in a place. */
static void within(const double outer[REPLAY_POSE], const double pos[3], const double quat[4],
                   double out[REPLAY_POSE]) {
    const double *a = outer + 3, *b = quat;
    turned(a, pos, out);
    for (int i = 0; i < 3; i++) out[i] += outer[i];
    out[3] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    out[4] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    out[5] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    out[6] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* ---- triangles ---- */

/* A corner as the camera sees it. @return false where it is behind */
static bool project(const drawing *d, const double at[3], still_corner *out) {
    double from[3];
    for (int i = 0; i < 3; i++) from[i] = at[i] - d->c.eye[i];
    double far = dot(from, d->c.away);
    if (!(far > 0.05 * d->c.distance)) return false;
    out->x = (float)(0.5 * d->out->width + d->c.scale * dot(from, d->c.right) / far);
    out->y = (float)(0.5 * d->out->height - d->c.scale * dot(from, d->c.up) / far);
    out->near = (float)(1 / far), out->light = 1;
    return true;
}

static void add(drawing *d, const still_triangle *t) {
    still *s = d->out;
    if (s->n == s->room) {
        size_t room = 2 * s->room + 1024;
        still_triangle *more = realloc(s->triangle, room * sizeof *more);
        s->failed |= !more;
        if (!more) return;
        s->triangle = more, s->room = room;
    }
    s->triangle[s->n++] = *t;
}

/* Where the sun throws it on the floor. */
static void put_shadow(drawing *d, double at[3][3]) {
    still_triangle t = {.layer = STILL_SHADOW, .colour = {0xc3, 0xc7, 0xcd}};
    double slope = dot(sun, d->upwards);
    for (int k = 0; k < 3; k++) {
        double from[3], on[3];
        for (int i = 0; i < 3; i++) from[i] = at[k][i] - d->floor[i];
        double height = dot(from, d->upwards);
        if (!(height > -1e-6 * d->c.span) || !(slope > 0.1)) return;
        for (int i = 0; i < 3; i++) on[i] = at[k][i] - height / slope * sun[i];
        if (!project(d, on, &t.corner[k])) return;
        t.corner[k].near *= 1.0005f; /* in front of what it falls on */
    }
    add(d, &t);
}

/* One of the world's, or none where a corner is behind the camera. */
static void put(drawing *d, double at[3][3], double normal[3][3], const unsigned char colour[3], still_layer layer) {
    still_triangle t = {.layer = layer};
    bool lit = false;
    for (int k = 0; k < 3; k++) {
        double n = sqrt(dot(normal[k], normal[k])), angle = n > 0 ? dot(normal[k], sun) / n : 1;
        if (!project(d, at[k], &t.corner[k])) return;
        if (layer == STILL_BODY) t.corner[k].light = (float)(0.62 + (angle > 0 ? 0.38 : 0.16) * angle);
        lit |= angle > 0;
    }
    memcpy(t.colour, colour, 3);
    add(d, &t);
    if (layer == STILL_BODY && lit && d->shaded) put_shadow(d, at);
}

/* A solid at a place, scaled along its own axes. */
static void put_solid(drawing *d, solid *s, const double pose[REPLAY_POSE], const double scale[3],
                      const unsigned char colour[3]) {
    d->out->failed |= s->failed;
    for (size_t i = 0; !s->failed && i + 2 < s->nindex; i += 3) {
        double at[3][3], normal[3][3];
        for (int k = 0; k < 3; k++) {
            double p[3], n[3];
            for (int j = 0; j < 3; j++) {
                p[j] = scale[j] * (double)s->point[s->index[i + (size_t)k]][j];
                n[j] = (double)s->normal[s->index[i + (size_t)k]][j] / scale[j];
            }
            turned(pose + 3, p, at[k]), turned(pose + 3, n, normal[k]);
            for (int j = 0; j < 3; j++) at[k][j] += pose[j];
        }
        put(d, at, normal, colour, STILL_BODY);
    }
    solid_free(s);
}

/* ---- shapes ---- */

/* A plane: tiles around the middle that fade out. */
static void put_plane(drawing *d, const double pose[REPLAY_POSE]) {
    const double z[3] = {0, 0, 1}, edge = 0.16 * d->c.span;
    if (!d->shaded) memcpy(d->floor, pose, sizeof d->floor), turned(pose + 3, z, d->upwards), d->shaded = true;
    double back[4] = {pose[3], -pose[4], -pose[5], -pose[6]}, from[3], middle[3], up[3];
    for (int i = 0; i < 3; i++) from[i] = d->c.middle[i] - pose[i];
    turned(back, from, middle), turned(pose + 3, z, up);
    long x0 = lround(middle[0] / edge), y0 = lround(middle[1] / edge);
    for (long i = x0 - TILES; i < x0 + TILES; i++)
        for (long j = y0 - TILES; j < y0 + TILES; j++) {
            double away = hypot((double)(i - x0) + 0.5, (double)(j - y0) + 0.5) / TILES, corner[4][3];
            double fade = away < 1 ? 1 - away * away : 0;
            unsigned char colour[3];
            for (int k = 0; k < 3; k++)
                colour[k] = (unsigned char)(paper[k] - fade * ((i + j) % 2 ? (double[]){34, 30, 26}[k]
                                                                           : (double[]){22, 18, 14}[k]));
            for (int k = 0; k < 4; k++) {
                double p[3] = {edge * (double)(i + (k == 1 || k == 2)), edge * (double)(j + (k >= 2)), 0};
                turned(pose + 3, p, corner[k]);
                for (int n = 0; n < 3; n++) corner[k][n] += pose[n];
            }
            double normal[3][3], one[3][3], other[3][3];
            for (int k = 0; k < 3; k++) {
                memcpy(normal[k], up, sizeof up);
                memcpy(one[k], corner[k], sizeof corner[k]), memcpy(other[k], corner[k ? k + 1 : 0], sizeof corner[k]);
            }
            if (fade > 0) put(d, one, normal, colour, STILL_GROUND), put(d, other, normal, colour, STILL_GROUND);
        }
}

static void put_shape(drawing *d, const scene_shape *g, const double body[REPLAY_POSE], const unsigned char colour[3]) {
    double pose[REPLAY_POSE], scale[3] = {g->size[0], g->size[1], g->size[2]};
    solid s = {0};
    within(body, g->pos, g->quat, pose);
    switch (g->shape) {
    case TRIBO_PLANE:
        put_plane(d, pose);
        return;
    case TRIBO_SPHERE:
        scale[1] = scale[2] = scale[0], solid_sphere(&s);
        break;
    case TRIBO_ELLIPSOID:
        solid_sphere(&s);
        break;
    case TRIBO_BOX:
        solid_box(&s);
        break;
    case TRIBO_CYLINDER:
        scale[1] = g->size[0], scale[2] = g->size[1], solid_cylinder(&s);
        break;
    case TRIBO_CAPSULE:
        scale[0] = scale[1] = scale[2] = 1, solid_capsule(&s, g->size[0], g->size[1]);
        break;
    default:
        solid_mesh(&s, d->r->shapes.mesh + g->mesh);
    }
    put_solid(d, &s, pose, scale, colour);
}

/* The turn that takes z to a unit vector. */
static void along(const double z[3], double quat[4]) {
    double w = 1 + z[2], n = sqrt(w * w + z[0] * z[0] + z[1] * z[1]);
    quat[0] = w / n, quat[1] = -z[1] / n, quat[2] = z[0] / n, quat[3] = 0;
    if (w < 1e-9) quat[0] = quat[2] = quat[3] = 0, quat[1] = 1;
}

static void put_rod(drawing *d, const double a[3], const double b[3], double radius, const unsigned char colour[3]) {
    double pose[REPLAY_POSE], z[3], length;
    solid s = {0};
    for (int i = 0; i < 3; i++) pose[i] = 0.5 * (a[i] + b[i]), z[i] = b[i] - a[i];
    length = sqrt(dot(z, z));
    if (!(length > 0)) return;
    for (int i = 0; i < 3; i++) z[i] /= length;
    along(z, pose + 3);
    solid_cylinder(&s);
    put_solid(d, &s, pose, (const double[3]){radius, radius, length / 2}, colour);
}

/* ---- arrows ---- */

/* The head of an arrow: a cone whose tip is at `tip`. */
static void put_head(drawing *d, const double tip[3], const double z[3], double length, const unsigned char colour[3]) {
    double quat[4];
    along(z, quat);
    for (int i = 0; i < SIDES; i++) {
        double at[3][3], normal[3][3];
        for (int k = 0; k < 3; k++) {
            double angle = 2 * pi * (i + (k == 2 ? 0.5 : k)) / SIDES, wide = k == 2 ? 0 : 0.3 * length;
            double p[3] = {wide * cos(angle), wide * sin(angle), k == 2 ? 0 : -length},
                   n[3] = {cos(angle), sin(angle), 0.3};
            turned(quat, p, at[k]), turned(quat, n, normal[k]);
            for (int j = 0; j < 3; j++) at[k][j] += tip[j];
        }
        put(d, at, normal, colour, STILL_BODY);
    }
}

/* The largest is as long as 0.3 of what is seen. */
static void put_forces(drawing *d, const replay_track *t, int frame) {
    double most = 0;
    for (size_t i = t->contact_at[frame]; i < t->contact_at[frame + 1]; i++) {
        const float *f = t->contact[i].force;
        most = fmax(most, sqrt((double)(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])));
    }
    for (size_t i = t->contact_at[frame]; i < t->contact_at[frame + 1]; i++) {
        const replay_contact *c = t->contact + i;
        double from[3], tip[3], neck[3], z[3], force = 0;
        for (int k = 0; k < 3; k++) force += (double)c->force[k] * (double)c->force[k];
        force = sqrt(force);
        double length = most > 0 ? 0.3 * d->c.span * force / most : 0, head = fmin(0.5 * length, 0.05 * d->c.span);
        if (!(length > 0.01 * d->c.span)) continue;
        for (int k = 0; k < 3; k++) {
            z[k] = (double)c->force[k] / force, from[k] = (double)c->point[k];
            tip[k] = from[k] + length * z[k], neck[k] = tip[k] - head * z[k];
        }
        put_rod(d, from, neck, 0.1 * head, modes[c->mode]);
        put_head(d, tip, z, head, modes[c->mode]);
    }
}

/* ---- colours ---- */

/* Those of the page: a colour a tree, lighter and darker along it; paler where it was measured. */
static void colour_of(const replay *r, int body, bool pale, unsigned char out[3]) {
    static const unsigned char trees[][3] = {
        {0x4f, 0x81, 0xbd}, {0xe0, 0x8e, 0x45}, {0x5f, 0xa7, 0x77}, {0xc8, 0x60, 0x5c}, {0x8f, 0x77, 0xb5},
        {0xd9, 0xb4, 0x4a}, {0x4b, 0xa3, 0xa8}, {0xa8, 0x7b, 0x5b}, {0xc7, 0x77, 0xa5}, {0x8a, 0x9a, 0x46}};
    static const double shade[] = {0, 0.22, -0.12, 0.12};
    int tree = 0, depth = 0, root = body;
    for (; r->shapes.parent[root] >= 0; root = r->shapes.parent[root]) depth++;
    for (int i = 0; i < root; i++) tree += r->shapes.parent[i] < 0;
    for (int k = 0; k < 3; k++) {
        double x = trees[tree % (int)(sizeof trees / sizeof *trees)][k] / 255.0, s = shade[depth % 4];
        x = s > 0 ? x + s * (1 - x) : x * (1 + s);
        if (pale) x += 0.6 * (1 - x);
        out[k] = (unsigned char)lround(255 * x);
    }
}

/* ---- the picture ---- */

/* The last frame that is not after the time. */
static int frame_at(const replay_track *t, double time) {
    int k = t->frames - 1;
    while (k > 0 && t->time[k] > time + 1e-9) k--;
    return k;
}

/* The box of everything that moves, shapes by their largest size. */
static void look_at(drawing *d, const still_look *look, const double *pose) {
    camera *c = &d->c;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, size = 0;
    for (int b = 0; b < d->r->nbody; b++)
        for (int k = 0; k < 3 && isfinite(pose[b * REPLAY_POSE]); k++) {
            low[k] = fmin(low[k], pose[b * REPLAY_POSE + k]), high[k] = fmax(high[k], pose[b * REPLAY_POSE + k]);
        }
    for (int k = 0; k < 3; k++) {
        bool seen = high[k] >= low[k];
        c->middle[k] = seen ? 0.5 * (low[k] + high[k]) : 0;
        size += seen ? (high[k] - low[k]) * (high[k] - low[k]) : 0;
    }
    c->span = sqrt(size) + 1.7 * d->r->shapes.extent;
    if (!(c->span > 0)) c->span = 1;
    c->distance = margin * 0.5 * c->span / opening;
    c->scale = 0.5 * d->out->height / opening;
    double e = look->elevation, a = look->azimuth;
    for (int k = 0; k < 3; k++) {
        double to[3] = {cos(e) * cos(a), cos(e) * sin(a), sin(e)};
        c->away[k] = -to[k], c->eye[k] = c->middle[k] + c->distance * to[k];
    }
    c->right[0] = -sin(a), c->right[1] = cos(a), c->right[2] = 0;
    cross(c->right, c->away, c->up);
}

static void put_track(drawing *d, const replay_track *t, double time, bool first) {
    int frame = frame_at(t, time);
    const double *pose = t->pose + (size_t)frame * (size_t)d->r->nbody * REPLAY_POSE;
    const scene_shapes *all = &d->r->shapes;
    for (int i = 0; i < all->nshape; i++) {
        const scene_shape *g = all->shape + i;
        unsigned char colour[3];
        if (g->body < 0 || !isfinite(pose[g->body * REPLAY_POSE])) continue;
        colour_of(d->r, g->body, !first, colour);
        put_shape(d, g, pose + g->body * REPLAY_POSE, colour);
    }
    for (int i = 0; all->bare && i < all->nlink; i++) {
        const scene_link *l = all->link + i;
        double end[2][3];
        unsigned char colour[3];
        for (int k = 0; k < 2; k++) {
            const double *at = pose + l->body[k] * REPLAY_POSE;
            turned(at + 3, l->point[k], end[k]);
            for (int j = 0; j < 3; j++) end[k][j] += at[j];
        }
        colour_of(d->r, l->body[1], !first, colour);
        put_rod(d, end[0], end[1], 0.6 * all->rod, colour);
    }
    if (first && t->forces) put_forces(d, t, frame);
}

bool still_make(still *s, const replay *r, const still_look *look) {
    static const double origin[REPLAY_POSE] = {0, 0, 0, 1, 0, 0, 0};
    static const unsigned char grey[3] = {0xb4, 0xb2, 0xac};
    double time = isfinite(look->time) ? look->time : HUGE_VAL;
    *s = (still){.width = look->width, .height = look->height};
    drawing d = {.out = s, .r = r};
    const replay_track *t = r->track;
    look_at(&d, look, t->pose + (size_t)frame_at(t, time) * (size_t)r->nbody * REPLAY_POSE);
    for (int i = 0; i < r->shapes.nshape; i++)
        if (r->shapes.shape[i].body < 0) put_shape(&d, r->shapes.shape + i, origin, grey);
    for (int i = 0; i < r->ntrack; i++)
        if (r->track[i].take == 0 && r->track[i].frames > 0) put_track(&d, r->track + i, time, i == 0);
    return !s->failed;
}

void still_free(still *s) {
    free(s->triangle);
}
