/* physics.c -- energy, momentum and motion of a step, from states and forces alone. */
#include "judge.h"

int contact_body(const scene *s, const tribo_contact *c, int side) {
    return s->g[side ? c->geom_b : c->geom_a].body;
}

double contact_skin(const scene *s, const tribo_contact *c) {
    const geom *a = &s->g[c->geom_a], *b = &s->g[c->geom_b];
    double size = smaller(a->shape == TRIBO_PLANE ? HUGE_VAL : geom_radius(a),
                          b->shape == TRIBO_PLANE ? HUGE_VAL : geom_radius(b));
    return 1e-5 * size;
}

void point_velocity(const moment *t, const tribo_contact *c, int side, const motion *m, double out[3]) {
    int b = contact_body(t->s, c, side);
    double r[3], w[3];
    out[0] = out[1] = out[2] = 0;
    if (b < 0) return;
    sub(r, c->applied, t->before[b].x);
    times(w, t->before[b].R, m[b].w);
    cross(w, w, r);
    add_scaled(out, m[b].v, 1, w);
}

/* ---- who touches whom ---- */

/* Give both sets the lesser of their numbers. */
static void join(int *set, int n, int a, int b) {
    int low = set[a] < set[b] ? set[a] : set[b], high = set[a] + set[b] - low;
    for (int i = 0; i < n; i++)
        if (set[i] == high) set[i] = low;
}

static bool pushes(const tribo_contact *c) {
    return length(c->impulse) != 0;
}

void step_look(moment *t, const scene *s, int k, tribo_status status, const tribo_ws *ws, const double *x,
               const double *next) {
    *t = (moment){.s = s, .k = k, .status = status, .info = *tribo_last_info(ws), .x = x, .next = next};
    t->c = tribo_last_contacts(ws, &t->nc);
    for (int i = 0; i < s->nbody; i++) {
        body_motion(s, i, x, &t->before[i]);
        body_motion(s, i, next, &t->after[i]);
        t->island[i] = t->group[i] = i;
    }
    for (int i = 0; i < t->nc; i++) {
        int a = contact_body(s, &t->c[i], 0), b = contact_body(s, &t->c[i], 1);
        if (a >= 0 && b >= 0) join(t->group, s->nbody, a, b);
        if (!pushes(&t->c[i])) continue;
        if (a < 0 || b < 0) {
            t->held[t->island[a >= 0 ? a : b]] = true;
            continue;
        }
        bool held = t->held[t->island[a]] || t->held[t->island[b]];
        join(t->island, s->nbody, a, b);
        t->held[t->island[a]] = held;
    }
}

/* ---- energy ----
 *
 * The velocity of a semi-implicit step is that of its middle. So along a parabola the energy that stays is that of
 * v + h a / 2 (and of the spin likewise), and a bounce may not raise that one. Of a contact that stays, v is the
 * displacement by h; with it M (v' - v) = h F + J' l gives dK - F D = - |v' - v|^2 / 2 + l.J v' <= 0: the energy of v
 * itself does not rise. Where both kinds meet in one island, or several bounce, the energy may rise by what the two
 * readings differ. */

/* ahead: linear, of spin. */
static double kinetic(const solid *b, const motion *m, double ahead, double ahead_w) {
    double v[3], w[3], Iw[3];
    add_scaled(v, m->v, ahead, m->accel), add_scaled(w, m->w, ahead_w, m->push_w);
    times(Iw, m->inertia, w);
    return 0.5 * (b->mass * dot(v, v) + dot(w, Iw));
}

/* Work of force and torque in a step; of the torque the largest of three readings. */
static double work(const moment *t, int i) {
    const motion *m = &t->before[i], *n = &t->after[i];
    double d[3], h = t->s->dt, last = h * dot(m->torque, n->w), mean = (h * dot(m->torque, m->w) + last) / 2;
    sub(d, n->x, m->x);
    return dot(m->force, d) + larger(larger(last, mean), m->spin_work);
}

typedef struct balance_sheet {
    double plain, ahead;    /* gains by either reading */
    double flight;          /* without contacts, where a spin may turn far in a step: ahead but for it */
    double scale, readings; /* energies that are there; by how much the readings may differ */
    double weight;          /* sum of |F| */
    double depth;           /* sum of penetrations, m */
    double skin;            /* work of what takes back overlaps of less than a skin */
    double least;           /* rounding: speeds of 1e-15 sizes a step, and of 1e-10 of what is solved together */
    int bounces, stays;
} balance_sheet;

/* The fastest body of a group. */
static double fastest(const moment *t, int group) {
    double most = 0;
    for (int i = 0; i < t->s->nbody; i++)
        if (t->group[i] == group) most = larger(most, larger(length(t->before[i].v), length(t->before[i].free_v)));
    return most;
}

static balance_sheet sum_up(const moment *t, int island) {
    balance_sheet e = {0};
    double speed = fastest(t, t->group[island]);
    for (int i = 0; i < t->s->nbody; i++) {
        if (t->island[i] != island) continue;
        const solid *b = &t->s->b[i];
        const motion *m = &t->before[i], *n = &t->after[i];
        double W = work(t, i), k0 = kinetic(b, m, 0, 0), k1 = kinetic(b, n, 0, 0), change[3], d[3], turn[3];
        e.plain += k1 - k0 - W;
        e.flight += kinetic(b, n, 0.5, 0) - kinetic(b, m, 0.5, 0) - W;
        e.ahead += kinetic(b, n, 0.5, 0.5) - kinetic(b, m, 0.5, 0.5) - W;
        sub(change, n->v, m->free_v), sub(turn, n->w, m->free_w);
        double F = length(m->force);
        times(d, m->inertia, m->accel_w);
        e.readings += t->s->dt * F * length(change) + length(d) * length(turn);
        sub(turn, n->push_w, m->push_w), times(d, m->inertia, n->w);
        e.readings +=
            0.5 * length(d) * length(turn); /* a torque that turns with the body is another one after the step */
        sub(d, n->x, m->x);
        e.scale += k0 + k1 + F * length(d) + 0.5 * b->mass * dot(m->accel, m->accel) + fabs(W);
        e.weight += F;
        double rounding = 1e-15 * length(m->x) / t->s->dt + 1e-10 * speed;
        e.least += b->mass * rounding * rounding;
    }
    for (int i = 0; i < t->nc; i++) {
        int a = contact_body(t->s, &t->c[i], 0), b = contact_body(t->s, &t->c[i], 1), one = a >= 0 ? a : b;
        double depth = larger(-t->c[i].gap, 0);
        if (t->group[one] == t->group[island]) e.depth += depth; /* those that push nothing are pushed apart, too */
        if (t->island[one] != island || !pushes(&t->c[i])) continue;
        if (t->c[i].bounced)
            e.bounces++;
        else
            e.stays++;
        /* l.J v' of a contact whose overlap of less than a skin the velocity takes back. */
        e.skin += larger(t->c[i].impulse[2], 0) * smaller(depth, contact_skin(t->s, &t->c[i])) / t->s->dt;
    }
    return e;
}

void judge_energy(const moment *t, ledger *book, verdict *v) {
    double total = 0, scale = 0;
    for (int i = 0; i < t->s->nbody; i++) {
        const solid *b = &t->s->b[i];
        if (t->k == 0) book->start += larger(kinetic(b, &t->before[i], 0, 0), kinetic(b, &t->before[i], 0.5, 0.5));
        double k = kinetic(b, &t->after[i], 0, 0);
        total += smaller(k, kinetic(b, &t->after[i], 0.5, 0.5)), scale += k;
        book->work += work(t, i);
        if (t->island[i] != i) continue;
        balance_sheet e = sum_up(t, i);
        double gain = e.bounces ? e.ahead : e.stays ? e.plain : e.flight;
        if (e.bounces && e.stays) gain = smaller(e.ahead, e.plain);
        /* Pushing apart what overlaps lifts the bodies by no more than the overlap. */
        double may = 1e-9 * e.scale + e.least + e.weight * e.depth + e.skin + (e.bounces ? e.readings : 0);
        book->allowed += e.weight * e.depth + e.skin + 1e-9 * e.scale;
        if (gain > may)
            note(v, ENERGY, t->k, gain / may,
                 "gain %.3g J of %.3g, may %.3g; %d bounce, %d stay, depth %.2g, status %d", gain, e.scale, may,
                 e.bounces, e.stays, e.depth, (int)t->status);
        ask(v, ENERGY, t->k, gain, may, "not a number");
    }
    double gain = total - book->start - book->work, may = book->allowed + 1e-9 * (fabs(book->start) + scale);
    if (gain > may)
        note(v, ENERGY_RUN, t->k, gain / may, "%.3g J of %.3g, may %.3g", gain, book->start + fabs(book->work), may);
    ask(v, ENERGY_RUN, t->k, gain, may, "not a number");
}

/* ---- momentum ---- */

/* The radius of a body's mass. */
static double radius(const moment *t, int body) {
    return sqrt((t->s->b[body].inertia[0] + t->s->b[body].inertia[1]) / t->s->b[body].mass);
}

/* The largest of an island. */
static double reach_of(const moment *t, int island) {
    double most = 0;
    for (int i = 0; i < t->s->nbody; i++)
        if (t->island[i] == island) most = larger(most, radius(t, i));
    return most;
}

/* The fastest that anything of a body moves in the step. */
static double speed_of(const moment *t, int body) {
    const motion *m = &t->before[body], *n = &t->after[body];
    double turns = length(m->w) + length(n->w) + length(m->free_w);
    return length(m->v) + length(n->v) + length(m->accel) + turns * 10 * radius(t, body);
}

/* When the impacts of a group are, where nothing is held until then: its bodies fly freely. 0 without impacts; NAN
 * where bodies are held, hit at several times, or spin so fast that the step takes them in parts. */
static double time_of(const moment *t, int group) {
    double time = 0;
    bool any = false, other = false, held = false;
    for (int i = 0; i < t->nc; i++) {
        const tribo_contact *c = &t->c[i];
        int a = contact_body(t->s, c, 0), b = contact_body(t->s, c, 1);
        if (t->group[a >= 0 ? a : b] != group) continue;
        if (c->time == 0 || !c->bounced) { /* what is hit as the step begins has no time to be told by */
            held = held || c->time != 0 || c->bounced;
            double reach = (a >= 0 ? speed_of(t, a) : 0) + (b >= 0 ? speed_of(t, b) : 0);
            other = other || pushes(c) || c->gap <= t->s->dt * reach;
            continue;
        }
        other = other || any || c->mode != TRIBO_BREAK; /* one of two may be what holds; and what it does after it */
        time = c->time, any = true;
    }
    for (int i = 0; i < t->s->nbody; i++)
        other = other || (t->group[i] == group && length(t->before[i].free_w) * t->s->dt > 0.4);
    return (any && other) || (held && !any) ? (double)NAN : time;
}

/* A body then: docs/math.md eq. (468). */
static void fly(const moment *t, int body, double time, double x[3], double R[9]) {
    const motion *m = &t->before[body];
    double s = time / t->s->dt, late = time * (1 + s) / 2, now = time * (1 - s) / 2, turn[3], q[4];
    copy3(x, m->x);
    add_scaled(x, x, late, m->free_v), add_scaled(x, x, now, m->v);
    for (int k = 0; k < 3; k++) turn[k] = late * m->free_w[k] + now * m->w[k];
    quat_exp(q, turn);
    double E[9];
    quat_matrix(E, q);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            R[3 * i + j] = 0;
            for (int k = 0; k < 3; k++) R[3 * i + j] += m->R[3 * i + k] * E[3 * k + j];
        }
}

/* What turns a body by itself: -w x I w. */
static void gyro(const motion *m, const double w[3], double out[3]) {
    double Iw[3];
    times(Iw, m->inertia, w), cross(out, Iw, w);
}

/* What contacts did to a body by what is reported of them: momentum, and angular, in the world, about where it is. */
static void pushed(const moment *t, int body, const double at[3], double p[3], double l[3], double scale[2]) {
    for (int i = 0; i < t->nc; i++)
        for (int side = 0; side < 2; side++) {
            const tribo_contact *c = &t->c[i];
            if (contact_body(t->s, c, side) != body) continue;
            double push[3] = {0}, r[3], turn[3], sign = side ? 1 : -1;
            add_scaled(push, push, sign * c->impulse[0], c->tangent[0]);
            add_scaled(push, push, sign * c->impulse[1], c->tangent[1]);
            add_scaled(push, push, sign * c->impulse[2], c->normal);
            sub(r, c->applied, at);
            cross(turn, r, push);
            add_scaled(p, p, 1, push), add_scaled(l, l, 1, turn);
            add_scaled(l, l, sign * c->torque[0], c->tangent[0]), add_scaled(l, l, sign * c->torque[1], c->tangent[1]);
            add_scaled(l, l, sign * c->torque[2], c->normal);
            scale[0] += length(push), scale[1] += length(r) * length(push) + length(c->torque);
        }
}

/* Angular momentum, in the body, that it has because it turns itself by another spin from an impact on: docs/math.md
 * eq. (470). time: of the impact; 0 and NAN: none is known. */
static void swerve(const moment *t, int body, double time, const double at[3], const double R[9], double out[3]) {
    const motion *m = &t->before[body];
    double p[3] = {0}, l[3] = {0}, scale[2] = {0}, own[3], spin[3], sum[3], before[3], after[3], gain[3];
    pushed(t, body, at, p, l, scale);
    for (int k = 0; k < 3; k++) own[k] = R[k] * l[0] + R[3 + k] * l[1] + R[6 + k] * l[2];
    solve3(gain, m->inertia, own);
    for (int k = 0; k < 3; k++) sum[k] = m->w[k] + m->free_w[k], spin[k] = 0.5 * sum[k];
    gyro(m, spin, before);
    add_scaled(spin, spin, 1, gain);
    gyro(m, spin, after);
    bool far = t->s->dt * larger(length(spin), 0.5 * length(sum)) > 0.5;
    double late = isnan(time) || time == 0 || far ? 0 : t->s->dt / 2 - time;
    for (int k = 0; k < 3; k++) out[k] = late * (after[k] - before[k]);
}

/* What the places of impacts leave open where a group does not fly: how far a body moves in the step, times what pushes
 * it. */
static double open_lever(const moment *t, int body) {
    double sum = 0, r = radius(t, body);
    for (int i = 0; i < t->nc; i++) {
        const tribo_contact *c = &t->c[i];
        double lever[3];
        if (contact_body(t->s, c, 0) != body && contact_body(t->s, c, 1) != body) continue;
        sub(lever, c->applied, t->before[body].x);
        sum += length(c->impulse) * (1 + length(lever) / r);
    }
    const motion *m = &t->before[body], *n = &t->after[body];
    double w = length(m->w) + length(m->free_w) + length(n->w), most = r * r * t->s->b[body].mass;
    return t->s->dt * (speed_of(t, body) * sum + (sum > 0 ? w * w * most : 0));
}

/* Of an island that the world does not push: linear, and angular about its centre, of what contacts changed, where its
 * bodies are then. */
static void judge_group(const moment *t, int island, verdict *v) {
    double p[3] = {0}, l[3] = {0}, p_scale = 0, l_scale = 0, centre[3] = {0}, mass = 0, open = 0;
    double time = time_of(t, t->group[island]), at[MAX_BODIES][3], turned[MAX_BODIES][9];
    for (int i = 0; i < t->s->nbody; i++) {
        if (t->island[i] != island) continue;
        fly(t, i, isnan(time) ? 0 : time, at[i], turned[i]);
        add_scaled(centre, centre, t->s->b[i].mass, at[i]), mass += t->s->b[i].mass;
        if (isnan(time)) open += open_lever(t, i);
    }
    for (int i = 0; i < 3; i++) centre[i] /= mass;
    double least = 1e-18 * mass * reach_of(t, island) / t->s->dt; /* rounding whatever else is there */
    for (int i = 0; i < t->s->nbody; i++) {
        if (t->island[i] != island) continue;
        const motion *m = &t->before[i], *n = &t->after[i];
        double dv[3], dw[3], r[3], a[3], b[3], spin[3], size = t->s->b[i].mass;
        sub(dv, n->v, m->free_v), sub(dw, n->w, m->free_w), sub(r, at[i], centre);
        times(spin, m->inertia, dw);
        swerve(t, i, time, at[i], turned[i], a);
        sub(spin, spin, a);
        times(spin, turned[i], spin);
        cross(a, r, dv);
        add_scaled(p, p, size, dv);
        for (int k = 0; k < 3; k++) b[k] = size * a[k] + spin[k];
        add_scaled(l, l, 1, b);
        times(a, m->inertia, n->w);
        /* The state has the velocity of the frame's origin, so rounding is that of both. */
        p_scale += size * (length(n->v) + length(m->free_v) + length(n->w) * length(t->s->b[i].com));
        l_scale += size * length(r) * (length(n->v) + length(m->free_v)) + length(a) + length(spin);
    }
    ask(v, MOMENTUM, t->k, length(p), 1e-9 * p_scale + least, "linear");
    ask(v, MOMENTUM, t->k, length(l), 1e-9 * l_scale + least * reach_of(t, island) + open, "angular");
}

/* The change of one body's velocities against the impulses that are reported. */
static void judge_balance(const moment *t, int body, verdict *v) {
    const motion *m = &t->before[body], *n = &t->after[body];
    double p[3] = {0}, l[3] = {0}, scale[2] = {0}, mass = t->s->b[body].mass, dv[3], dw[3], spin[3], swerved[3];
    double time = time_of(t, t->group[body]), at[3], turned[9], open = isnan(time) ? open_lever(t, body) : 0;
    fly(t, body, isnan(time) ? 0 : time, at, turned);
    pushed(t, body, at, p, l, scale);
    sub(dv, n->v, m->free_v), sub(dw, n->w, m->free_w);
    times(spin, m->inertia, dw);
    swerve(t, body, time, at, turned, swerved);
    scale[1] += length(swerved);
    sub(spin, spin, swerved);
    times(spin, turned, spin);
    scale[0] += mass * (length(n->v) + length(m->free_v) + length(n->w) * length(t->s->b[body].com));
    double Iw[3];
    times(Iw, m->inertia, n->w), scale[1] += length(Iw);
    times(Iw, m->inertia, m->free_w), scale[1] += length(Iw);
    add_scaled(p, p, -mass, dv), sub(l, l, spin);
    /* Speeds of 1e-18 sizes a step are rounding whatever else is there. */
    double size = radius(t, body), least = 1e-18 * mass * size / t->s->dt;
    ask(v, BALANCE, t->k, length(p), 1e-9 * scale[0] + least, "linear");
    ask(v, BALANCE, t->k, length(l), 1e-9 * scale[1] + least * size + open, "angular");
}

void judge_momentum(const moment *t, verdict *v) {
    for (int i = 0; i < t->s->nbody; i++) {
        if (t->island[i] == i && !t->held[i]) judge_group(t, i, v);
        judge_balance(t, i, v);
    }
}

/* ---- motion ---- */

/* Overlap of a body's island, m; and where several contacts bounce in it, the speed that a body may have had between.
 */
static double overlap_of(const moment *t, int body, double *between) {
    double depth = 0, pushes_on = 0;
    int bounces = 0;
    for (int k = 0; k < t->nc; k++) {
        const tribo_contact *c = &t->c[k];
        int a = contact_body(t->s, c, 0), b = contact_body(t->s, c, 1);
        if (t->group[a >= 0 ? a : b] != t->group[body]) continue; /* those that push nothing are pushed apart, too */
        depth += larger(-c->gap, 0), bounces += c->bounced;
        if (a == body || b == body) pushes_on += length(c->impulse);
    }
    *between = bounces > 1 ? pushes_on / t->s->b[body].mass : 0;
    return depth;
}

void judge_motion(const moment *t, verdict *v) {
    double h = t->s->dt;
    for (int i = 0; i < t->s->nbody; i++) {
        const motion *m = &t->before[i], *n = &t->after[i];
        double d[3], between, depth = overlap_of(t, i, &between);
        double may = h * (length(m->v) + length(n->v) + length(m->accel) + between);
        sub(d, n->x, m->x);
        /* What overlaps is pushed apart besides, by no more than it overlaps, nor faster than the recovery speed. */
        double push = smaller(depth, h * t->s->recovery * t->s->nbody);
        ask(v, MOTION, t->k, length(d), (1 + 1e-9) * may + push + 1e-12 * length(m->x), "m");
    }
}
