/* tale.c -- robots told to a builder, and told otherwise. */
#include "tale.h"

tribo_model *tale_build(const tale *t, tribo_diag *diag) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_model *m = NULL;
    tribo_set_gravity(b, t->gravity), tribo_set_timestep(b, t->dt);
    for (int i = 0; i < t->nbody; i++) {
        const told_body *one = &t->body[i];
        tribo_add_body(b, &one->def);
        for (int j = one->joint; j < one->joint + one->njoint; j++) tribo_add_joint(b, i, &t->joint[j]);
    }
    for (int i = 0; i < t->ngeom; i++) {
        tribo_geom_def g = t->geom[i].def;
        tribo_mesh_def mesh = tribo_default_mesh();
        mesh.vertex = t->geom[i].corner, mesh.nvertex = CORNERS;
        if (g.shape == TRIBO_MESH) g.mesh = tribo_add_mesh(b, &mesh);
        tribo_add_geom(b, t->geom[i].body, &g);
    }
    tribo_set_start(b, t->q, t->v);
    return tribo_build(b, &m, diag) == TRIBO_OK ? m : NULL;
}

/* ---- what may change ---- */

/* Friction in a ball is along the axes of its body. */
static bool has_own_axes(const tale *t, const told_body *b) {
    for (int j = b->joint; j < b->joint + b->njoint; j++)
        if (t->joint[j].kind == TRIBO_JOINT_BALL && t->joint[j].frictionloss > 0) return true;
    return false;
}

/* Brakes of a free body act at the origin of its frame. */
static bool is_braked(const tribo_body_def *d) {
    return d->damping > 0 || d->armature > 0 || d->frictionloss > 0;
}

/* A body comes after its parent, and with others of its tree. */
static void draw_order(retelling *r, const tale *t, dice *d) {
    bool told[TALE_BODIES] = {false};
    int tree[TALE_BODIES] = {0}, now = -1;
    for (int i = 0; i < t->nbody; i++) tree[i] = t->body[i].def.parent < 0 ? i : tree[t->body[i].def.parent];
    for (int n = 0; n < t->nbody; n++) {
        int ready[TALE_BODIES], count = 0;
        for (int own = 1; own >= 0 && count == 0; own--)
            for (int i = 0; i < t->nbody; i++) {
                int parent = t->body[i].def.parent;
                if (!told[i] && (parent < 0 || told[parent]) && (!own || tree[i] == now)) ready[count++] = i;
            }
        int next = ready[dice_below(d, count)];
        told[next] = true, now = tree[next], r->body[n] = next;
    }
    for (int i = t->ngeom - 1; i > 0; i--) {
        int j = dice_below(d, i + 1), keep = r->geom[i];
        r->geom[i] = r->geom[j], r->geom[j] = keep;
    }
}

void retelling_draw(retelling *r, const tale *t, dice *d, flaw kind) {
    *r = (retelling){.kind = kind};
    double size = 0;
    for (int i = 0; i < t->ngeom; i++) r->geom[i] = i, size = larger(size, t->geom[i].def.size[0]);
    for (int i = 0; i < t->nbody; i++) {
        r->body[i] = i, r->f[i][0] = 1;
        if (kind == ORDER) continue;
        dice_vector(d, r->t[i], size);
        if (kind == WELD || !has_own_axes(t, &t->body[i])) dice_quat(d, r->f[i]);
        r->welded[i] = kind == WELD && dice_chance(d, 0.7);
        if (kind == FRAME && is_braked(&t->body[i].def))
            memset(r->t[i], 0, sizeof r->t[i]), memset(r->f[i], 0, sizeof r->f[i]), r->f[i][0] = 1;
    }
    if (kind == ORDER) draw_order(r, t, d);
}

/* ---- telling ---- */

/* A place in the frame f at t of what it is in. */
static void into(const double t[3], const double f[4], double pos[3]) {
    double back[4];
    quat_conjugate(back, f);
    sub(pos, pos, t), quat_turn(pos, back, pos);
}
static void turn_into(const double f[4], double quat[4]) {
    double back[4];
    quat_conjugate(back, f);
    quat_times(quat, back, quat);
}

static void reorder(const tale *t, const retelling *r, tale *out) {
    int place[TALE_BODIES];
    out->njoint = 0;
    for (int i = 0; i < t->nbody; i++) {
        told_body *one = &out->body[i];
        *one = t->body[r->body[i]], place[r->body[i]] = i;
        if (one->def.parent >= 0) one->def.parent = place[one->def.parent];
        for (int j = 0; j < one->njoint; j++) out->joint[out->njoint + j] = t->joint[one->joint + j];
        one->joint = out->njoint, out->njoint += one->njoint;
    }
    for (int i = 0; i < t->ngeom; i++) {
        out->geom[i] = t->geom[r->geom[i]];
        if (out->geom[i].body >= 0) out->geom[i].body = place[out->geom[i].body];
    }
}

static void reframe(const retelling *r, tale *out) {
    for (int i = 0; i < out->nbody; i++) {
        told_body *one = &out->body[i];
        double moved[3];
        int parent = one->def.parent;
        if (parent >= 0) into(r->t[parent], r->f[parent], one->def.pos), turn_into(r->f[parent], one->def.quat);
        quat_turn(moved, one->def.quat, r->t[i]), add_scaled(one->def.pos, one->def.pos, 1, moved);
        quat_times(one->def.quat, one->def.quat, r->f[i]);
        for (int j = one->joint; j < one->joint + one->njoint; j++) {
            double back[4];
            quat_conjugate(back, r->f[i]);
            into(r->t[i], r->f[i], out->joint[j].pos), quat_turn(out->joint[j].axis, back, out->joint[j].axis);
        }
    }
    for (int i = 0; i < out->ngeom; i++) {
        told_geom *g = &out->geom[i];
        if (g->body >= 0) into(r->t[g->body], r->f[g->body], g->def.pos), turn_into(r->f[g->body], g->def.quat);
    }
}

/* Each welded part comes right after its body. */
static void weld(const tale *t, const retelling *r, tale *out) {
    int place[TALE_BODIES];
    out->nbody = 0;
    for (int i = 0; i < t->nbody; i++) {
        told_body *one = &out->body[out->nbody];
        *one = t->body[i], place[i] = out->nbody++;
        if (one->def.parent >= 0) one->def.parent = place[one->def.parent];
        if (!r->welded[i]) continue;
        told_body *part = &out->body[out->nbody++];
        *part = (told_body){.def = tribo_default_body()};
        part->def.parent = place[i], copy3(part->def.pos, r->t[i]), copy4(part->def.quat, r->f[i]);
    }
    for (int i = 0; i < out->ngeom; i++) {
        told_geom *g = &out->geom[i];
        int body = g->body;
        if (body < 0) continue;
        g->body = place[body] + r->welded[body];
        if (r->welded[body]) into(r->t[body], r->f[body], g->def.pos), turn_into(r->f[body], g->def.quat);
    }
}

void tale_retell(const tale *t, const retelling *r, tale *out) {
    double x[2 * NX * MAX_BODIES], y[2 * NX * MAX_BODIES];
    *out = *t;
    memcpy(x, t->q, (size_t)t->nq * sizeof *x), memcpy(x + t->nq, t->v, (size_t)t->nv * sizeof *x);
    tale_carry(t, r, x, y);
    memcpy(out->q, y, (size_t)t->nq * sizeof *y), memcpy(out->v, y + t->nq, (size_t)t->nv * sizeof *y);
    if (r->kind == ORDER) reorder(t, r, out);
    if (r->kind == FRAME) reframe(r, out);
    if (r->kind == WELD) weld(t, r, out);
}

/* ---- states ---- */

/* Where the numbers of body i begin. */
static void begins(const tale *t, int i, int *q, int *v) {
    *q = *v = 0;
    for (int b = 0; b < i; b++) {
        const told_body *one = &t->body[b];
        if (one->free) *q += 7, *v += 6;
        for (int j = one->joint; j < one->joint + one->njoint; j++) {
            bool ball = t->joint[j].kind == TRIBO_JOINT_BALL;
            *q += ball ? 4 : 1, *v += ball ? 3 : 1;
        }
    }
}

/* A free root's frame moves with its body. */
static void carry_free(const double t[3], const double f[4], double *q, double *v) {
    double arm[3], spin[3], rim[3], back[4];
    quat_turn(arm, q + 3, t), quat_turn(spin, q + 3, v + 3), cross(rim, spin, arm);
    add_scaled(q, q, 1, arm), add_scaled(v, v, 1, rim);
    quat_times(q + 3, q + 3, f);
    quat_conjugate(back, f), quat_turn(v + 3, back, v + 3);
}

/* A ball's number is in the axes of its body, on both sides. */
static void carry_ball(const double f[4], double *q, double *v) {
    double back[4];
    quat_conjugate(back, f);
    quat_times(q, q, f), quat_times(q, back, q), quat_turn(v, back, v);
}

static void carry_body(const tale *t, const retelling *r, int i, double *q, double *v) {
    const told_body *one = &t->body[i];
    if (one->free) carry_free(r->t[i], r->f[i], q, v), q += 7, v += 6;
    for (int j = one->joint; j < one->joint + one->njoint; j++) {
        bool ball = t->joint[j].kind == TRIBO_JOINT_BALL;
        if (ball) carry_ball(r->f[i], q, v);
        q += ball ? 4 : 1, v += ball ? 3 : 1;
    }
}

void tale_carry(const tale *t, const retelling *r, const double *x, double *out) {
    double *to_q = out, *to_v = out + t->nq;
    for (int n = 0; n < t->nbody; n++) {
        int i = r->body[n], q, v, next_q, next_v;
        begins(t, i, &q, &v), begins(t, i + 1, &next_q, &next_v);
        memcpy(to_q, x + q, (size_t)(next_q - q) * sizeof *out);
        memcpy(to_v, x + t->nq + v, (size_t)(next_v - v) * sizeof *out);
        if (r->kind == FRAME) carry_body(t, r, i, to_q, to_v);
        to_q += next_q - q, to_v += next_v - v;
    }
}
