/* replay_page.c -- writes a replay into a page: the scene as JSON, numbers in base64 that it points into.
 *
 * [at, n] is where an array of n numbers begins in the bytes. Positions are steps of a box, one a body, of 16 bits;
 * quaternions parts of 32767; -32768 is a body that was not seen. A contact is a point in the track's box and a force
 * whose parts are signed squares, of 16 bits, and a mode. tools/page reads it.
 */
#define _POSIX_C_SOURCE 200809L
#include "replay_page.h"
#include "common.h"
#include "page_text.h"
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 32767, HIDDEN = -32768, BYTES_MOST = 3400000, RATE_LEAST = 30 };

static const char *const shape_names[] = {"plane",    "sphere",    "box",  "capsule",
                                          "cylinder", "ellipsoid", "mesh", "hfield"};

/* ---- numbers ---- */

typedef struct bytes {
    unsigned char *data;
    size_t n, room;
    bool failed;
} bytes;

/* Room for an array; where it begins is a multiple of 4. NULL without memory. */
static void *put_array(bytes *b, size_t size, size_t n, json_t *owner, const char *key) {
    size_t at = (b->n + 3) / 4 * 4, end = at + size * n;
    if (end + 4 > b->room) {
        unsigned char *more = realloc(b->data, 2 * end + 64);
        if (!more) {
            b->failed = true;
            return NULL;
        }
        b->data = more, b->room = 2 * end + 64;
    }
    memset(b->data + b->n, 0, end + 4 - b->n);
    b->n = end;
    json_object_set_new(owner, key, json_pack("[I,I]", (json_int_t)at, (json_int_t)n));
    return b->data + at;
}

static void put_floats(bytes *b, const double *x, size_t n, json_t *owner, const char *key) {
    float *out = put_array(b, sizeof *out, n, owner, key);
    for (size_t i = 0; out && i < n; i++) out[i] = (float)x[i];
}

static void base64(FILE *f, const bytes *b) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < b->n; i += 3) {
        size_t left = b->n - i;
        unsigned long x = (unsigned long)b->data[i] << 16;
        if (left > 1) x |= (unsigned long)b->data[i + 1] << 8;
        if (left > 2) x |= b->data[i + 2];
        fputc(digit[x >> 18], f), fputc(digit[x >> 12 & 63], f);
        fputc(left > 1 ? digit[x >> 6 & 63] : '=', f), fputc(left > 2 ? digit[x & 63] : '=', f);
    }
}

/* ---- text ---- */

/* A string whatever its bytes: what is not UTF-8 (a path can be) becomes '?'. */
static json_t *json_text(const char *text) {
    json_t *s = json_string(text);
    if (s) return s;
    char *copy = strdup(text);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c >= 128) *c = '?';
    s = json_string(copy ? copy : "");
    free(copy);
    return s;
}

/* JSON that stands in HTML: nothing in it ends the element or begins another. */
static bool write_json(FILE *f, const json_t *value) {
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(8));
    for (const char *c = text; c && *c; c++)
        if (strchr("<>&", *c))
            fprintf(f, "\\u%04x", (unsigned)*c);
        else
            fputc(*c, f);
    free(text);
    return text != NULL;
}

/* ---- the scene ---- */

static json_t *shape_json(const scene_shape *s) {
    json_t *o = json_object();
    json_object_set_new(o, "shape", json_string(shape_names[s->shape]));
    json_object_set_new(o, "name", json_text(s->name));
    json_object_set_new(o, "body", json_integer(s->body));
    json_object_set_new(o, "mesh", json_integer(s->mesh));
    json_object_set_new(o, "size", json_numbers(s->size, 3));
    json_object_set_new(o, "pos", json_numbers(s->pos, 3));
    json_object_set_new(o, "quat", json_numbers(s->quat, 4));
    return o;
}

static json_t *mesh_json(const scene_mesh *m, bytes *b) {
    json_t *o = json_object();
    bool wide = m->nvertex > 65535;
    double radius = 0;
    size_t n = 3 * (size_t)m->ntriangle;
    float *v = put_array(b, sizeof *v, 3 * (size_t)m->nvertex, o, "vertex");
    if (v) memcpy(v, m->vertex, (size_t)m->nvertex * sizeof *m->vertex);
    for (int i = 0; i < m->nvertex; i++)
        radius = fmax(radius, hypot((double)m->vertex[i][0], hypot((double)m->vertex[i][1], (double)m->vertex[i][2])));
    void *t = put_array(b, wide ? 4 : 2, n, o, "triangle");
    const int *corner = (const int *)m->triangle;
    for (size_t i = 0; t && i < n; i++)
        if (wide)
            ((uint32_t *)t)[i] = (uint32_t)corner[i];
        else
            ((uint16_t *)t)[i] = (uint16_t)corner[i];
    json_object_set_new(o, "wide", json_boolean(wide));
    json_object_set_new(o, "radius", json_number(radius));
    return o;
}

static json_t *link_json(const scene_link *l) {
    json_t *o = json_object();
    json_object_set_new(o, "body", json_pack("[i,i]", l->body[0], l->body[1]));
    json_object_set_new(o, "point", json_pack("[o,o]", json_numbers(l->point[0], 3), json_numbers(l->point[1], 3)));
    return o;
}

static void bodies_json(const replay *r, json_t *all) {
    json_t *names = json_array(), *parents = json_array(), *freely = json_array();
    for (int i = 0; i < r->nbody; i++) {
        json_array_append_new(names, json_text(tribo_model_body_name(r->m, i)));
        json_array_append_new(parents, json_integer(r->shapes.parent[i]));
        json_array_append_new(freely, json_boolean(tribo_model_body_free(r->m, i)));
    }
    json_object_set_new(all, "bodies", names);
    json_object_set_new(all, "parents", parents);
    json_object_set_new(all, "free", freely);
}

static json_t *scene_json(const replay *r, bytes *b) {
    const scene_shapes *s = &r->shapes;
    json_t *all = json_object(), *shapes = json_array(), *meshes = json_array(), *links = json_array();
    for (int i = 0; i < s->nshape; i++) json_array_append_new(shapes, shape_json(s->shape + i));
    for (int i = 0; i < s->nmesh; i++) json_array_append_new(meshes, mesh_json(s->mesh + i, b));
    for (int i = 0; i < s->nlink; i++) json_array_append_new(links, link_json(s->link + i));
    bodies_json(r, all);
    json_object_set_new(all, "shapes", shapes);
    json_object_set_new(all, "meshes", meshes);
    json_object_set_new(all, "links", links);
    json_object_set_new(all, "bare", json_boolean(s->bare));
    json_object_set_new(all, "extent", json_number(s->extent));
    json_object_set_new(all, "rod", json_number(s->rod));
    return all;
}

/* ---- tracks ---- */

/* A box of lowest corner and widths around numbers given one after the other. */
typedef struct range {
    double low, high;
} range;
static void widen(range *r, double x) {
    if (!isfinite(x)) return;
    r->low = fmin(r->low, x), r->high = fmax(r->high, x);
}
/* The middle, and what a step is worth. */
static void steps_of(const range *r, double *middle, double *step) {
    bool any = r->low <= r->high;
    *middle = any ? (r->low + r->high) / 2 : 0;
    *step = any && r->high > r->low ? (r->high - r->low) / (2.0 * STEPS) : 1;
}
static int16_t in_steps(double x, double middle, double step) {
    double k = nearbyint((x - middle) / step);
    return (int16_t)fmin(STEPS, fmax(-STEPS, k));
}

static void put_poses(const replay *r, const replay_track *t, bytes *b, json_t *o) {
    size_t nbody = (size_t)r->nbody, frames = (size_t)t->frames, stride = nbody * REPLAY_POSE;
    double *box = calloc(2 * 3 * nbody + 1, sizeof *box);
    int16_t *out = box ? put_array(b, sizeof *out, frames * stride, o, "pose") : NULL;
    for (size_t i = 0; out && i < nbody; i++) {
        double *middle = box + 2 * 3 * i, *step = middle + 3;
        for (size_t k = 0; k < 3; k++) {
            range over = {HUGE_VAL, -HUGE_VAL};
            for (size_t f = 0; f < frames; f++) widen(&over, t->pose[f * stride + i * REPLAY_POSE + k]);
            steps_of(&over, middle + k, step + k);
        }
        for (size_t f = 0; f < frames; f++) {
            const double *pose = t->pose + f * stride + i * REPLAY_POSE;
            int16_t *to = out + f * stride + i * REPLAY_POSE;
            for (size_t k = 0; k < 3; k++) to[k] = isfinite(pose[k]) ? in_steps(pose[k], middle[k], step[k]) : HIDDEN;
            for (size_t k = 3; k < REPLAY_POSE; k++) to[k] = isfinite(pose[k]) ? in_steps(pose[k], 0, 1.0 / STEPS) : 0;
        }
    }
    if (box) put_floats(b, box, 2 * 3 * nbody, o, "box");
    b->failed |= !box;
    free(box);
}

/* Point and force of every contact, six numbers each. */
static void put_contacts(const replay_track *t, bytes *b, json_t *o) {
    double middle[3], step[3], most = 0;
    for (int k = 0; k < 3; k++) {
        range over = {HUGE_VAL, -HUGE_VAL};
        for (size_t c = 0; c < t->ncontact; c++) {
            widen(&over, (double)t->contact[c].point[k]);
            most = fmax(most, fabs((double)t->contact[c].force[k]));
        }
        steps_of(&over, middle + k, step + k);
    }
    int16_t *out = put_array(b, sizeof *out, 2 * 3 * t->ncontact, o, "contact");
    for (size_t c = 0; out && c < t->ncontact; c++, out += 2 * 3)
        for (int k = 0; k < 3; k++) {
            double force = (double)t->contact[c].force[k];
            out[k] = in_steps((double)t->contact[c].point[k], middle[k], step[k]);
            out[3 + k] = most > 0 ? in_steps(copysign(sqrt(fabs(force) / most), force), 0, 1.0 / STEPS) : 0;
        }
    unsigned char *mode = put_array(b, 1, t->ncontact, o, "mode");
    for (size_t c = 0; mode && c < t->ncontact; c++) mode[c] = t->contact[c].mode;
    uint32_t *at = put_array(b, sizeof *at, (size_t)t->frames + 1, o, "contact_at");
    for (int f = 0; at && f <= t->frames; f++) at[f] = (uint32_t)t->contact_at[f];
    json_t *box = json_numbers(middle, 3), *steps = json_numbers(step, 3);
    json_array_extend(box, steps);
    json_decref(steps);
    json_object_set_new(o, "contact_box", box);
    json_object_set_new(o, "force", json_number(most));
}

static json_t *track_json(const replay *r, const replay_track *t, bytes *b) {
    json_t *o = json_object();
    size_t n = (size_t)t->frames;
    json_object_set_new(o, "name", json_text(t->name));
    json_object_set_new(o, "take", json_integer(t->take));
    json_object_set_new(o, "measured", json_boolean(t->measured));
    json_object_set_new(o, "forces", json_boolean(t->forces));
    put_floats(b, t->time, n, o, "time");
    put_floats(b, t->energy, n, o, "energy");
    put_floats(b, t->normal, n, o, "normal");
    put_floats(b, t->slip, n, o, "slip");
    put_poses(r, t, b, o);
    put_contacts(t, b, o);
    return o;
}

bool replay_write(FILE *f, replay *r, const char *caption) {
    bytes b = {0};
    replay_thin(r, BYTES_MOST, RATE_LEAST);
    json_t *all = scene_json(r, &b), *takes = json_array(), *tracks = json_array();
    for (int i = 0; i < r->ntake; i++) json_array_append_new(takes, json_text(r->take[i]));
    for (int i = 0; i < r->ntrack; i++)
        if (r->track[i].frames > 0) json_array_append_new(tracks, track_json(r, r->track + i, &b));
    json_object_set_new(all, "takes", takes);
    json_object_set_new(all, "tracks", tracks);
    bool good = all && !b.failed && json_array_size(tracks) > 0;
    if (good) {
        fprintf(f, "<style>\n%s</style>\n<figure class=\"replay\"><div class=\"replay-body\"></div>\n", replay_css);
        fputs("<noscript><p class=\"missing\">The motion is played by a script of this page, which this browser does "
              "not run.</p></noscript>\n<figcaption>",
              f);
        report_escape(f, caption);
        fputs("</figcaption>\n<script type=\"application/json\">", f);
        good = write_json(f, all);
        fputs("</script>\n<script type=\"text/plain\">", f);
        base64(f, &b);
        fprintf(f, "</script></figure>\n<script>\n%s</script>\n", replay_js);
    }
    json_decref(all);
    free(b.data);
    return good;
}
