/* equality.c -- what the builder is told of loops and gears, and where bodies stand as they were placed. */
#include "model/builder.h"
#include <math.h>
#include <string.h>

tribo_equality_def tribo_default_equality(void) {
    return (tribo_equality_def){.struct_size = sizeof(tribo_equality_def),
                                .a = TRIBO_WORLD,
                                .b = TRIBO_WORLD,
                                .as_placed = true,
                                .quat = {1, 0, 0, 0},
                                .polynomial = {0, 1, 0, 0, 0}};
}

static const char *flaw_of(const tribo_builder *b, const tribo_equality_def *d) {
    bool finite = ti_places(d->pos_a, 3) && ti_places(d->pos_b, 3) && ti_finite(d->polynomial, 5);
    const double *q = d->quat, n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!finite || !(n > 1e-24 && n < 1e24))
        return "a number is not finite, a place beyond 1e10 m, or quat has no direction";
    if (d->a == d->b) return "nothing can be held to itself";
    if (d->kind == TRIBO_EQUALITY_JOINT)
        return ti_builder_has_axis(b, d->a) && (d->b == -1 || ti_builder_has_axis(b, d->b))
                   ? NULL
                   : "there is no such hinge or slide";
    if (d->kind != TRIBO_EQUALITY_CONNECT && d->kind != TRIBO_EQUALITY_WELD) return "there is no such kind";
    bool there = d->a >= TRIBO_WORLD && d->a < b->nbody && d->b >= TRIBO_WORLD && d->b < b->nbody;
    return there ? NULL : "there is no such body";
}

int tribo_add_equality(tribo_builder *b, const tribo_equality_def *def) {
    if (!b || b->status != TRIBO_OK) return -1;
    bool made = def && def->struct_size == sizeof *def;
    const char *flaw = made ? flaw_of(b, def) : "not made by tribo_default_equality()";
    if (flaw) {
        ti_builder_fail(b, made ? TRIBO_E_ARG : TRIBO_E_DEF, b->line, "equality %d: %s", b->nequality, flaw);
        return -1;
    }
    ti_equality_rec *grown =
        ti_grow(&b->alloc, b->equality, &b->equality_bytes, (size_t)(b->nequality + 1) * sizeof *grown);
    if (!grown) {
        ti_builder_fail(b, TRIBO_E_NOMEM, b->line, "out of memory");
        return -1;
    }
    b->equality = grown;
    grown[b->nequality] = (ti_equality_rec){*def, b->line};
    return b->nequality++;
}

/* A frame in the world. */
typedef struct frame {
    ti_vec x;
    double quat[4];
} frame;

static frame placed(const tribo_builder *b, int body) {
    frame f = {{0, 0, 0}, {1, 0, 0, 0}};
    for (int i = body; i >= 0; i = b->body[i].def.parent) {
        const tribo_body_def *d = &b->body[i].def;
        ti_mat R = ti_quat_mat(d->quat);
        f.x = ti_add(ti_load3(d->pos), ti_mul(&R, f.x));
        ti_quat_mul(d->quat, f.quat, f.quat);
    }
    return f;
}

/* A point of one frame in another. */
static void carry(const frame *from, const double *point, const frame *to, double *out) {
    ti_mat A = ti_quat_mat(from->quat), B = ti_quat_mat(to->quat);
    ti_vec world = ti_add(from->x, ti_mul(&A, ti_load3(point)));
    ti_store3(out, ti_tmul(&B, ti_sub(world, to->x)));
}

void ti_rec_equality(const tribo_builder *b, const ti_equality_rec *r, ti_equality *out) {
    const tribo_equality_def *d = &r->def;
    *out = (ti_equality){.kind = d->kind, .a = d->a, .b = d->b};
    memcpy(out->pos_a, d->pos_a, sizeof out->pos_a), memcpy(out->pos_b, d->pos_b, sizeof out->pos_b);
    memcpy(out->quat, d->quat, sizeof out->quat), memcpy(out->polynomial, d->polynomial, sizeof out->polynomial);
    ti_quat_normalise(out->quat);
    if (d->kind == TRIBO_EQUALITY_JOINT || !d->as_placed) return;
    frame fa = placed(b, d->a), fb = placed(b, d->b);
    if (d->kind == TRIBO_EQUALITY_CONNECT)
        carry(&fa, d->pos_a, &fb, out->pos_b);
    else
        carry(&fb, d->pos_b, &fa, out->pos_a);
    const double back[4] = {fa.quat[0], -fa.quat[1], -fa.quat[2], -fa.quat[3]};
    ti_quat_mul(back, fb.quat, out->quat);
    ti_quat_normalise(out->quat);
}

bool ti_rec_holds(const tribo_builder *b, const ti_equality_rec *r) {
    const double near = 1e-6;
    ti_equality e;
    ti_rec_equality(b, r, &e);
    frame fa = placed(b, e.a), fb = placed(b, e.b);
    double at[3], turn[4], back[4] = {fa.quat[0], -fa.quat[1], -fa.quat[2], -fa.quat[3]}, along = 0;
    carry(&fa, e.pos_a, &fb, at);
    double off = ti_norm(ti_sub(ti_load3(at), ti_load3(e.pos_b))),
           size = ti_norm(ti_load3(at)) + ti_norm(ti_load3(e.pos_a));
    ti_quat_mul(back, fb.quat, turn);
    for (int k = 0; k < 4; k++) along += turn[k] * e.quat[k];
    return off <= near * (1 + size) && (e.kind != TRIBO_EQUALITY_WELD || fabs(along) >= 1 - near * near);
}
