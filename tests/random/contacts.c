/* contacts.c -- overlap by separating axes; cones, complementarity and friction of reported contacts by hand. */
#include "judge.h"

/* ---- overlap ---- */

/* By how much the straight prediction of a step errs for a geom: m. */
static double curvature(const moment *t, const geom *g) {
    if (g->body < 0) return 0;
    const motion *m = &t->before[g->body], *n = &t->after[g->body];
    double h = t->s->dt, size = geom_radius(g) + length(g->pos), w = larger(length(m->w), length(n->w));
    w = larger(w, length(m->free_w));
    return h * h * (w * w * size + length(m->accel) / h);
}

static double speed(const moment *t, const geom *g) {
    if (g->body < 0) return 0;
    const motion *m = &t->before[g->body], *n = &t->after[g->body];
    double size = geom_radius(g) + length(g->pos);
    return larger(length(m->v), length(n->v)) + size * larger(length(m->w), length(n->w));
}

/* Deepest overlap among the bodies that touch this geom's: pushing those apart that have no room shares it. */
static double shared(const moment *t, const geom *g) {
    double deepest = 0;
    for (int i = 0; i < t->nc && g->body >= 0; i++) {
        int a = contact_body(t->s, &t->c[i], 0), b = contact_body(t->s, &t->c[i], 1);
        if (t->group[a >= 0 ? a : b] == t->group[g->body]) deepest = larger(deepest, -t->c[i].gap);
    }
    return deepest;
}

/* How far the contacts of its group give way in a step. */
static double sunk(const moment *t, const geom *g) {
    double sum = 0;
    for (int i = 0; t->s->spins && i < t->nc && g->body >= 0; i++) {
        int a = contact_body(t->s, &t->c[i], 0), b = contact_body(t->s, &t->c[i], 1);
        if (t->group[a >= 0 ? a : b] == t->group[g->body])
            sum += t->s->dt * contact_compliance(t->s, &t->c[i]) * length(t->c[i].impulse);
    }
    return sum;
}

void judge_overlap(const moment *t, verdict *v) {
    const scene *s = t->s;
    for (int i = 0; i < s->ngeom; i++)
        for (int j = 0; j < i; j++) {
            const geom *a = &s->g[i], *b = &s->g[j];
            if (a->body == b->body) continue;
            posed pa, pb;
            geom_pose(a, t->next, s, &pa), geom_pose(b, t->next, s, &pb);
            double depth = -separation(&pa, &pb);
            v->asked[OVERLAP]++;
            if (depth <= 0) continue;
            geom_pose(a, t->x, s, &pa), geom_pose(b, t->x, s, &pb);
            double was = larger(-separation(&pa, &pb), 0), move = t->s->dt * (speed(t, a) + speed(t, b));
            double size = smaller(a->shape == TRIBO_PLANE ? HUGE_VAL : geom_radius(a),
                                  b->shape == TRIBO_PLANE ? HUGE_VAL : geom_radius(b));
            was = larger(was, larger(shared(t, a), shared(t, b)));
            double may = was + 4 * (curvature(t, a) + curvature(t, b)) + 4 * move * move / size;
            may += 1e-9 * size + sunk(t, a) + sunk(t, b);
            if (depth > may)
                note(v, OVERLAP, t->k, depth / may, "g%d and g%d by %.3g m, before %.3g, may %.3g; a step moves %.3g",
                     j, i, depth, was, may, move);
        }
}

/* ---- contacts ---- */

double contact_material(const scene *s, const tribo_contact *c, double *stiction, double *restitution) {
    const geom *a = &s->g[c->geom_a], *b = &s->g[c->geom_b];
    *stiction = larger(a->stiction, b->stiction);
    *restitution = larger(a->restitution, b->restitution);
    return larger(a->friction, b->friction);
}

double contact_compliance(const scene *s, const tribo_contact *c) {
    return larger(s->g[c->geom_a].compliance, s->g[c->geom_b].compliance);
}

/* The relative turn of b against a, world. */
static void relative_turn(const moment *t, const tribo_contact *c, const motion *m, double out[3]) {
    out[0] = out[1] = out[2] = 0;
    for (int side = 0; side < 2; side++) {
        int b = contact_body(t->s, c, side);
        double w[3];
        if (b < 0) continue;
        times(w, t->before[b].R, m[b].w);
        add_scaled(out, out, side ? 1 : -1, w);
    }
}

/* The length that makes a turn at a contact a speed: of the smaller of its shapes. */
static double arm_of(const moment *t, const tribo_contact *c) {
    return 1e5 * contact_skin(t->s, c);
}

/* Speeds that the group's contacts have without impulses: what residuals are measured in. */
static double speeds(const moment *t, int group) {
    double most = 0;
    for (int i = 0; i < t->s->nbody; i++) {
        if (t->group[i] != group) continue;
        const motion *m = &t->before[i];
        most = larger(most, larger(length(m->v), length(m->free_v)) + length(m->accel));
    }
    for (int i = 0; i < t->nc; i++) {
        const tribo_contact *c = &t->c[i];
        int a = contact_body(t->s, c, 0), b = contact_body(t->s, c, 1);
        if (t->group[a >= 0 ? a : b] != group) continue;
        double va[3], vb[3];
        motion free[MAX_BODIES];
        for (int k = 0; k < t->s->nbody; k++)
            copy3(free[k].v, t->before[k].free_v), copy3(free[k].w, t->before[k].free_w);
        point_velocity(t, c, 0, free, va), point_velocity(t, c, 1, free, vb);
        most = larger(most, larger(length(va), length(vb)));
        if (t->s->spins) relative_turn(t, c, free, va), most = larger(most, arm_of(t, c) * length(va));
        if (length(c->impulse) != 0) most = larger(most, fabs(c->gap) / t->s->dt);
    }
    return most;
}

static double largest_impulse(const moment *t, int group) {
    double impulse = 0;
    for (int i = 0; i < t->nc; i++) {
        int a = contact_body(t->s, &t->c[i], 0), b = contact_body(t->s, &t->c[i], 1);
        if (t->group[a >= 0 ? a : b] == group) impulse = larger(impulse, length(t->c[i].impulse));
    }
    return impulse;
}

/* Rounding of the contact's velocity: impulses over the lightest mass. */
static double rounding(const moment *t, int group) {
    double mass = HUGE_VAL;
    for (int i = 0; i < t->s->nbody; i++)
        if (t->group[i] == group) mass = smaller(mass, t->s->b[i].mass);
    return 1e-13 * largest_impulse(t, group) / mass;
}

/* Gaps that count as zero, docs/math.md eq. (11): more where several corners of one face may touch. */
static double faint_gap(const scene *s, const tribo_contact *c) {
    const geom *a = &s->g[c->geom_a], *b = &s->g[c->geom_b];
    bool round = a->shape == TRIBO_SPHERE || b->shape == TRIBO_SPHERE;
    return (round ? 64 : 4096) * 2.2e-16 * (length(c->point) + 1e5 * contact_skin(s, c));
}

/* Torque against a turn at the contact: no more than its share of the push, and that, against the turn, where it turns.
 * slip: of what is small. */
static void judge_turn(const moment *t, const tribo_contact *c, double unit, double most, double slip, bool pure,
                       verdict *v) {
    const geom *a = &t->s->g[c->geom_a], *b = &t->s->g[c->geom_b];
    double share[2] = {larger(a->torsion, b->torsion), larger(a->rolling, b->rolling)}, turn[3], arm = arm_of(t, c);
    double across[2], push = c->impulse[2], none = 1e-9 * most;
    relative_turn(t, c, t->after, turn);
    for (int i = 0; i < 2; i++) across[i] = dot(turn, c->tangent[i]);
    double speed[2] = {arm * fabs(dot(turn, c->normal)), arm * hypot(across[0], across[1])};
    double drag[2] = {fabs(c->torque[2]) / arm, hypot(c->torque[0], c->torque[1]) / arm};
    double work[2] = {dot(turn, c->normal) * c->torque[2], across[0] * c->torque[0] + across[1] * c->torque[1]};
    for (int i = 0; i < 2; i++) {
        double bound = share[i] / arm * push;
        ask(v, CONE, t->k, drag[i], bound * (1 + 1e-7) + none, i ? "torque against rolling" : "torque against turning");
        if (!pure || c->bounced || push <= none || share[i] == 0 || speed[i] <= slip) continue;
        double fuzzy = 1e-6 * bound + none + 1e-8 * unit * most / speed[i];
        ask(v, FRICTION, t->k, bound - drag[i], fuzzy, i ? "missing in rolling" : "missing in turning");
        if (speed[i] > 1e-3 * unit)
            ask(v, FRICTION, t->k, work[i] / (speed[i] * larger(drag[i], 1e-300)), -1 + 1e-6, "not against the turn");
    }
}

static void judge_one(const moment *t, const tribo_contact *c, double unit, double most, bool pure, verdict *v) {
    double va[3], vb[3], rel[3], stiction, e, mu = contact_material(t->s, c, &stiction, &e);
    point_velocity(t, c, 0, t->after, va), point_velocity(t, c, 1, t->after, vb);
    sub(rel, vb, va);
    double push = c->impulse[2], drag = hypot(c->impulse[0], c->impulse[1]), soft = contact_compliance(t->s, c);
    double h = t->s->dt, skin = contact_skin(t->s, c) / h;
    bool spring = soft > 0 && -c->gap / h > skin, sunk = spring && -c->gap / h - soft * push > skin;
    /* Deeper than the load presses it, it comes out by a skin: docs/math.md eq. (484). What gives way else counts as
     * velocity. */
    double ct[2], part = dot(rel, c->normal) + (sunk ? 0 : soft * push);
    for (int i = 0; i < 2; i++) ct[i] = dot(rel, c->tangent[i]) + 0.01 * soft * c->impulse[i];
    double slip = hypot(ct[0], ct[1]);
    double tol = 1e-7 * unit + faint_gap(t->s, c) / h, none = 1e-9 * most;
    ask(v, CONE, t->k, -push, none, "normal impulse");
    ask(v, CONE, t->k, drag, (mu + stiction) * push * (1 + 1e-7) + none, "tangential impulse");
    if (t->s->spins) judge_turn(t, c, unit, most, tol * 10 + 1e-9 * unit * most / larger(push, none), pure, v);
    if (c->bounced || !pure) return; /* their law holds at the time of impact */
    /* Of an overlap the velocity may take back a skin, and may go into it by as much: docs/math.md eq. (11). */
    double close = sunk ? 0 : c->gap >= 0 || spring ? c->gap / h : skin;
    double leave = spring ? sunk * skin : smaller(larger(-c->gap, 0) / h, skin) + (c->gap < 0 ? skin : 0);
    ask(v, APPROACH, t->k, -(part + close), tol, "m/s approaching beyond the gap");
    /* The solver's tolerance is on the product with the impulse. */
    if (push > none)
        ask(v, APPROACH, t->k, part + close, leave + tol + 1e-9 * unit * most / push, "m/s parting under load");
    if (push <= none) return;
    if (slip <= tol * 10 + 1e-9 * unit * most / push) return;
    double fuzzy = 1e-6 * mu * push + none + 1e-8 * unit * most / slip;
    double off[2]; /* from the kinetic friction that opposes the slip */
    for (int i = 0; i < 2; i++) off[i] = c->impulse[i] + mu * push * ct[i] / slip;
    ask(v, FRICTION, t->k, hypot(off[0], off[1]), fuzzy, "N s from kinetic friction against the slip");
}

void judge_contacts(const moment *t, verdict *v) {
    double unit[MAX_BODIES] = {0}, most[MAX_BODIES] = {0};
    bool pure[MAX_BODIES];
    for (int i = 0; i < t->s->nbody; i++) {
        pure[i] = true;
        if (t->group[i] == i) unit[i] = speeds(t, i) + rounding(t, i) * 1e7, most[i] = largest_impulse(t, i);
    }
    for (int i = 0; i < t->nc; i++) {
        int a = contact_body(t->s, &t->c[i], 0), b = contact_body(t->s, &t->c[i], 1);
        if (t->c[i].bounced || t->c[i].time != 0) pure[t->group[a >= 0 ? a : b]] = false;
    }
    for (int i = 0; i < t->nc; i++) {
        const tribo_contact *c = &t->c[i];
        int a = contact_body(t->s, c, 0), b = contact_body(t->s, c, 1);
        double both = larger(a >= 0 ? unit[t->group[a]] : 0, b >= 0 ? unit[t->group[b]] : 0);
        double push = larger(a >= 0 ? most[t->group[a]] : 0, b >= 0 ? most[t->group[b]] : 0);
        judge_one(t, c, both, push, (a < 0 || pure[t->group[a]]) && (b < 0 || pure[t->group[b]]), v);
    }
}
