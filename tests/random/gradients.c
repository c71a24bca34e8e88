/* gradients.c -- reverse against slopes; forward, reverse and Jacobian against one another. */
#include "probe.h"
#include <float.h>
#include <stdlib.h>

enum { KINDS_OF_P = TRIBO_PARAM_RANGE + 1 };
/* What materials have in some scenes alone. */
/* Kinds that some scenes have. */
enum { SPINS = 3, MORE = SPINS + 1 };
static const tribo_param_kind ALSO[MORE] = {TRIBO_PARAM_TORSION, TRIBO_PARAM_ROLLING, TRIBO_PARAM_COMPLIANCE,
                                            TRIBO_PARAM_EDGE_RADIUS};
static const char *const ALSO_NAMES[MORE] = {"torsion", "rolling", "compliance", "edge_radius"};

static bool has(const scene *s, int more) {
    return more < SPINS ? s->spins : s->rounds;
}

/* What number i of a state's tangent is measured in. */
static double state_unit(const probe *p, int i) {
    bool velocity = i >= p->ndx / 2;
    bool turns = p->s->robot ? tribo_model_turns(p->w->m, i % (p->ndx / 2)) : i % 6 >= 3;
    return (turns ? 1 : p->size) * (velocity ? p->speed / p->size : 1);
}

static bool between(double x, double a, double b, double slack) {
    return x >= smaller(a, b) - slack && x <= larger(a, b) + slack;
}

/* The largest number of a direction of states, in what each is measured in. */
static double largest_of(const probe *p, const double *dir) {
    double most = 0;
    for (int i = 0; i < p->ndx; i++) most = larger(most, fabs(dir[i]) / state_unit(p, i));
    return most;
}

static bool is_zero(const double *a, int n) {
    for (int i = 0; i < n; i++)
        if (a[i] != 0) return false;
    return true;
}

/* The directional derivative that a reverse of `steps` steps says, and the sum of its terms without their signs. */
static double along(const probe *p, int steps, const double *x_bar, const double *u_bar, const double *p_bar,
                    double *sum) {
    double g = 0;
    *sum = 0;
    for (int i = 0; i < p->ndx; i++) g += x_bar[i] * p->x_dir[i], *sum += fabs(x_bar[i] * p->x_dir[i]);
    for (int i = 0; i < steps * p->nu; i++) {
        double term = u_bar[i] * p->u_dir[i % p->nu];
        g += term, *sum += fabs(term);
    }
    for (int i = 0; i < p->np; i++) g += p_bar[i] * p->p_dir[i], *sum += fabs(p_bar[i] * p->p_dir[i]);
    return g;
}

/* What a derivative is compared with, beside itself. */
static double floor_of(double sum) {
    return larger(0.01 * sum, 1e-2);
}

/* What rounding of state k of the rollout makes of the loss, whose derivative by that state is bar: a thousandth of the
 * sum, which is the least that many roundings of one size leave of it. */
static double rounding_of(const probe *p, int k, const double *bar) {
    const double *x = p->x + k * p->nx;
    double sum = 0;
    for (int i = 0; i < p->ndx; i++) {
        int j = i - p->ndx / 2, body = i / 6, axis = i % 6;
        double most = j >= 0 ? fabs(x[p->nx - p->ndx / 2 + j]) : state_unit(p, i);
        if (j < 0 && axis < 3 && !p->s->robot) most = fabs(x[7 * body + axis]);
        sum += fabs(bar[i]) * most;
    }
    return 0.001 * DBL_EPSILON * sum;
}

/* Whether the derivative of step k along dir, and the direction of parameters and controls if `all`, is that of
 * both sides. lx, of two states, has what it is tested with behind zeros. */
static bool step_agrees(const probe *whole, int k, double *dir, bool all, const double *lx) {
    int n = whole->ndx, rest = whole->nu + whole->np;
    double *bar = calloc((size_t)(n + 2 * rest), sizeof *bar), *u_bar = bar + n, *p_bar = u_bar + whole->nu, sum;
    probe one = *whole;
    one.steps = 1, one.x = whole->x + k * whole->nx, one.x_dir = dir, one.lx = (double *)lx;
    one.rounding = rounding_of(&one, 1, lx + n);
    if (!all) one.p_dir = bar + n + rest, one.u_dir = one.p_dir + whole->np;
    memset(one.known, 0, sizeof one.known);
    bool agrees = tribo_step_vjp(whole->w->ws, whole->tape, k, lx + n, bar, u_bar, p_bar) >= 0;
    double g = along(&one, 1, bar, u_bar, p_bar, &sum);
    double floor = floor_of(sum);
    agrees = agrees && ((look(&one, 0, g, floor).agrees && look(&one, 1, g, floor).agrees) ||
                        (!one.outside && middle_agrees(&one, g, floor)));
    free(bar);
    return agrees;
}

/* Whether the derivative of every step of the rollout along the direction, taken by itself, is that of both sides. Then
 * the rollout's is, by the chain rule: along a rollout differences shrink as they pass from step to step, until gaps
 * are no more than their rounding, which counts as none. For the same reason what is much smaller than the rest of the
 * direction that comes to a step is asked by itself. */
static bool every_step_agrees(const probe *whole) {
    int T = whole->steps, n = whole->ndx;
    double *bar = calloc((size_t)(T + 1) * (size_t)n, sizeof *bar), *lx = calloc(2 * (size_t)n, sizeof *lx);
    double *now = calloc((size_t)n, sizeof *now), *rest = calloc(2 * (size_t)n, sizeof *rest), *part = rest + n;
    bool agrees = true, arguments = !is_zero(whole->p_dir, whole->np) || !is_zero(whole->u_dir, whole->nu);
    memcpy(bar + T * n, whole->lx + T * n, (size_t)n * sizeof *bar);
    for (int k = T - 1; k > 0; k--) {
        memcpy(bar + k * n, whole->lx + k * n, (size_t)n * sizeof *bar);
        agrees =
            tribo_step_vjp(whole->w->ws, whole->tape, k, bar + (k + 1) * n, bar + k * n, NULL, NULL) >= 0 && agrees;
    }
    memcpy(now, whole->x_dir, (size_t)n * sizeof *now);
    for (int k = 0; k < T && agrees; k++) {
        memcpy(lx + n, bar + (k + 1) * n, (size_t)n * sizeof *lx);
        memcpy(rest, now, (size_t)n * sizeof *rest);
        double most = arguments ? 1 : largest_of(whole, rest);
        for (bool all = arguments; agrees && (all || most > 0); all = false, most = largest_of(whole, rest)) {
            for (int i = 0; i < n; i++) {
                bool taken = fabs(rest[i]) > 1e-3 * most * state_unit(whole, i);
                part[i] = taken ? rest[i] / most : 0, rest[i] = taken ? 0 : rest[i];
            }
            agrees = step_agrees(whole, k, part, all, lx);
        }
        agrees = agrees && tribo_step_jvp(whole->w->ws, whole->tape, k, 1, now, whole->u_dir, whole->p_dir, now) >= 0;
    }
    free(bar), free(lx), free(now), free(rest);
    return agrees;
}

/* Whether a direction moves, turns or changes single geoms, or ranges. */
static bool moves_geoms(const probe *p) {
    bool moves = false;
    for (int i = 0; i < p->np; i++) {
        tribo_param_kind k = p->kind[i];
        bool of_parts =
            k == TRIBO_PARAM_SIZE || k == TRIBO_PARAM_POS || k == TRIBO_PARAM_QUAT || k == TRIBO_PARAM_RANGE;
        moves = moves || (of_parts && p->p_dir[i] != 0);
    }
    return moves;
}

static void judge_direction(probe *p, const char *name, verdict *v) {
    double sum, g = along(p, p->steps, p->x_bar, p->u_bar, p->p_bar, &sum), floor = floor_of(sum);
    memset(p->known, 0, sizeof p->known);
    one_side a = look(p, 0, g, floor), b = look(p, 1, g, floor);
    if (a.outside) a = b;
    if (b.outside) b = a;
    if (a.outside) return;
    v->asked[WRONG]++, v->asked[SILENT_KINK]++;
    if (a.agrees && b.agrees) return;
    if (!(a.settled && b.settled)) {
        if (!a.agrees && !b.agrees) v->unresolved++;
        return;
    }
    bool bracketed = between(g, a.slope, b.slope, 1e-5 * larger(fabs(g), floor));
    bool said = !p->claims || (p->shared && moves_geoms(p)) || p->margin < (bracketed ? 1e-3 : 1e-6);
    if (said) {
        v->kinks++;
        return;
    }
    if (p->steps > 1 && every_step_agrees(p)) return;
    double off = smaller(fabs(g - a.slope), fabs(g - b.slope)) / larger(larger(fabs(g), fabs(a.slope)), floor);
    note(v, bracketed ? SILENT_KINK : WRONG, p->s->graded, off * 1e5,
         "%s, %d steps: %.9g, differences %.9g and %.9g; margin %.2g", name, p->steps, g, a.slope, b.slope, p->margin);
}

/* ---- directions ---- */

static double unit_of(const probe *p, int i) {
    double size = p->size, value = fabs(p->p[i]);
    switch (p->kind[i]) {
    case TRIBO_PARAM_GRAVITY:
        return p->speed / p->s->dt * 0.1 + value;
    case TRIBO_PARAM_MASS:
        return value;
    case TRIBO_PARAM_INERTIA:
        return 0; /* see inertia_direction() */
    case TRIBO_PARAM_COM:
    case TRIBO_PARAM_SIZE:
    case TRIBO_PARAM_POS:
        return size;
    case TRIBO_PARAM_SLOP:
        return 1e-3 * size;
    case TRIBO_PARAM_DAMPING:
    case TRIBO_PARAM_ARMATURE:
    case TRIBO_PARAM_STIFFNESS:
    case TRIBO_PARAM_FRICTIONLOSS:
    case TRIBO_PARAM_TORSION:
    case TRIBO_PARAM_ROLLING:
    case TRIBO_PARAM_COMPLIANCE:
    case TRIBO_PARAM_EDGE_RADIUS:
    case TRIBO_PARAM_DENSITY:
    case TRIBO_PARAM_VISCOSITY:
        return value;
    default:
        return 1;
    }
}

/* Inertias of all bodies times 1 + s X, kept symmetric. */
static void inertia_direction(probe *p, dice *d) {
    for (int i = 0;;) {
        while (i < p->np && p->kind[i] != TRIBO_PARAM_INERTIA) i++;
        if (i == p->np) return;
        double trace = p->p[i] + p->p[i + 1] + p->p[i + 2];
        for (int k = 0; k < 6; k++) p->p_dir[i + k] = 0.05 * trace * dice_normal(d);
        i += 6;
    }
}

static void clear(probe *p) {
    memset(p->x_dir, 0, (size_t)p->ndx * sizeof *p->x_dir);
    memset(p->u_dir, 0, (size_t)p->nu * sizeof *p->u_dir);
    memset(p->p_dir, 0, (size_t)p->np * sizeof *p->p_dir);
}

static void state_direction(probe *p, dice *d) {
    for (int i = 0; i < p->ndx; i++) {
        p->x_dir[i] = state_unit(p, i) * dice_normal(d);
    }
}

static void force_direction(probe *p, dice *d) {
    for (int i = 0; i < p->nu; i++) {
        double f = p->s->b[i / 6].mass * p->speed / p->s->dt;
        if (p->s->robot) {
            f = 1000 * pow(p->size, 3) * p->speed / p->s->dt;
            p->u_dir[i] = (tribo_model_turns(p->w->m, i) ? f * p->size : f) * 0.1 * dice_normal(d);
            continue;
        }
        p->u_dir[i] = (i % 6 < 3 ? f : f * p->size) * 0.1 * dice_normal(d);
    }
}

/* Materials that are equal change alike: of two geoms that touch the larger number counts. */
static void parameter_direction(probe *p, dice *d, tribo_param_kind kind) {
    if (kind == TRIBO_PARAM_INERTIA)
        inertia_direction(p, d);
    else
        for (int i = 0; i < p->np; i++)
            if (p->kind[i] == kind) p->p_dir[i] = unit_of(p, i) * dice_normal(d);
    /* At e = 0, from where it can go one way only, the derivative is chosen to be 0: docs/gradients.md, Kinks. */
    for (int i = 0; i < p->np && kind == TRIBO_PARAM_RESTITUTION; i++)
        if (p->p[i] == 0) p->p_dir[i] = 0;
    bool material = (kind >= TRIBO_PARAM_FRICTION && kind <= TRIBO_PARAM_SLOP) || kind >= TRIBO_PARAM_TORSION;
    for (int i = 0; i < p->np && material; i++)
        for (int j = 0; j < i && p->kind[i] == kind; j++)
            if (p->kind[j] == kind && p->p[j] == p->p[i]) p->p_dir[i] = p->p_dir[j];
}

/* One number of the state after the other. */
static void judge_coordinates(probe *p, verdict *v) {
    static const char *const names[] = {"x", "y", "z", "turn x", "turn y", "turn z"};
    for (int i = 0; i < p->ndx; i++) {
        bool velocity = i >= p->ndx / 2;
        char name[32];
        snprintf(name, sizeof name, "body %d %s%s", i % (p->ndx / 2) / 6, velocity ? "d/dt " : "", names[i % 6]);
        clear(p);
        p->x_dir[i] = (i % 6 < 3 ? p->size : 1) * (velocity ? p->speed / p->size : 1);
        judge_direction(p, name, v);
    }
}

/* State, force, and four kinds of parameters; where it is to be thorough all of them, several times, and each number
 * of the state. Each has random numbers of its own, whatever is judged besides. */
static void judge_directions(probe *p, verdict *v) {
    static const char *const names[KINDS_OF_P] = {
        "gravity",     "mass",      "com",  "inertia", "size",     "pos",       "quat",      "friction",     "stiction",
        "restitution", "baumgarte", "slop", "damping", "armature", "stiffness", "springref", "frictionloss", "range"};
    uint64_t there = p->s->robot ? KINDS_OF_P : TRIBO_PARAM_SLOP + 1, kinds = p->s->thorough ? there : 4;
    for (uint64_t round = 0; round < (p->s->thorough ? 3 : 1); round++) {
        dice d = {p->s->seed + 1 + 1000 * round};
        clear(p), state_direction(p, &d), judge_direction(p, "state", v);
        clear(p), force_direction(p, &d), judge_direction(p, "force", v);
        for (uint64_t i = 0; i < kinds; i++) {
            uint64_t kind = (p->s->seed * 5 + 5 * i) % there;
            d.state = p->s->seed + 100 * (kind + 1) + 10000 * round;
            clear(p), parameter_direction(p, &d, (tribo_param_kind)kind);
            judge_direction(p, names[kind], v);
        }
    }
    for (int i = 0; i < MORE; i++) {
        if (!has(p->s, i)) continue;
        dice d = {p->s->seed + 1 + 100000 * (uint64_t)(i + 1)};
        clear(p), parameter_direction(p, &d, ALSO[i]), judge_direction(p, ALSO_NAMES[i], v);
    }
    if (p->s->thorough) judge_coordinates(p, v);
}

/* ---- forward, reverse, Jacobian ---- */

static void compare(verdict *v, int step, const char *what, double a, double b, double scale) {
    ask(v, THREE_WAYS, step, fabs(a - b), 1e-10 * scale + 1e-300, what);
}

/* <bar, J dot> three ways, for record k. */
static void judge_three_ways(probe *p, const tribo_tape *tape, int k, dice *d, int step, verdict *v) {
    int rows = p->ndx, cols[3] = {p->ndx, p->nu, p->np};
    double *J[3], *bar = calloc((size_t)rows, sizeof *bar), *out = calloc((size_t)rows, sizeof *out), *back[3];
    for (int i = 0; i < 3; i++) {
        J[i] = calloc((size_t)rows * (size_t)cols[i], sizeof *J[i]);
        back[i] = calloc((size_t)cols[i], sizeof *back[i]);
    }
    for (int i = 0; i < rows; i++) bar[i] = dice_normal(d) / state_unit(p, i);
    const double *dot_in[3] = {p->x_dir, p->u_dir, p->p_dir};
    tribo_status f = tribo_step_jvp(p->w->ws, tape, k, 1, p->x_dir, p->u_dir, p->p_dir, out);
    tribo_status r = tribo_step_vjp(p->w->ws, tape, k, bar, back[0], back[1], back[2]);
    tribo_status j = tribo_step_jac(p->w->ws, tape, k, J[0], J[1], J[2]);
    double forward = 0, reverse = 0, jacobian = 0, scale = 0;
    for (int i = 0; i < rows; i++) {
        forward += bar[i] * out[i], scale += fabs(bar[i] * out[i]);
        for (int m = 0; m < 3; m++)
            for (int c = 0; c < cols[m]; c++) {
                double term = bar[i] * J[m][i * cols[m] + c] * dot_in[m][c];
                jacobian += term;
            }
    }
    for (int m = 0; m < 3; m++)
        for (int c = 0; c < cols[m]; c++)
            reverse += back[m][c] * dot_in[m][c], scale += fabs(back[m][c] * dot_in[m][c]);
    if (f >= 0 && r >= 0 && j >= 0) {
        compare(v, step, "forward - reverse", forward, reverse, scale);
        compare(v, step, "forward - Jacobian", forward, jacobian, scale);
    } else if ((f < 0 || r < 0 || j < 0) && !(f < 0 && r < 0 && j < 0))
        note(v, THREE_WAYS, step, 1, "statuses %d, %d, %d", (int)f, (int)r, (int)j);
    for (int i = 0; i < 3; i++) free(J[i]), free(back[i]);
    free(bar), free(out);
}

/* ---- a rollout ---- */

static double *room(int n) {
    return calloc((size_t)(n > 0 ? n : 1), sizeof(double));
}

static void probe_new(probe *p, const scene *s, const world *w, int steps) {
    tribo_sizes n = tribo_model_sizes(w->m);
    *p = (probe){.s = s, .w = w, .steps = steps, .nx = n.nx, .ndx = n.ndx, .nu = n.nu, .np = n.np, .p = w->p};
    p->x = room((steps + 1) * n.nx), p->u = room(n.nu), p->lx = room((steps + 1) * n.ndx);
    p->x_bar = room(n.ndx), p->u_bar = room(steps * n.nu), p->p_bar = room(n.np), p->p_now = room(n.np);
    p->x_dir = room(n.ndx), p->u_dir = room(n.nu), p->p_dir = room(n.np);
    p->lower = room(n.np), p->upper = room(n.np);
    p->kind = calloc((size_t)n.np, sizeof *p->kind);
    for (int i = 0; i < n.np; i++) {
        tribo_param_info info;
        if (tribo_param_describe(w->m, i, &info)) continue;
        p->kind[i] = info.kind, p->lower[i] = info.lower, p->upper[i] = info.upper;
    }
}

/* The same of all states of the rollout. */
static double rounding_of_rollout(const probe *p) {
    double *bar = room(2 * p->ndx), *before = bar + p->ndx, sum = 0;
    for (int k = p->steps; k > 0; k--) {
        for (int i = 0; i < p->ndx; i++) bar[i] = before[i] + p->lx[k * p->ndx + i], before[i] = 0;
        sum += rounding_of(p, k, bar);
        if (tribo_step_vjp(p->w->ws, p->tape, k - 1, bar, before, NULL, NULL) < 0) break;
    }
    free(bar);
    return sum;
}

static void probe_free(probe *p) {
    double *all[] = {p->x,     p->u,     p->lx,    p->x_bar, p->u_bar, p->p_bar,
                     p->p_now, p->x_dir, p->u_dir, p->p_dir, p->lower, p->upper};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(p->kind);
}

/* Roll out and record, no further than is cheap to repeat a hundred times; false if a step failed. Fills what the
 * probe knows of statuses, units and weights. */
static bool record(probe *p, tribo_tape *tape, dice *d) {
    double size = p->s->robot ? p->s->size : HUGE_VAL, speed = p->s->robot ? sqrt(9.81 * size) : 0;
    for (int i = 0; i < p->s->ngeom; i++)
        if (p->s->g[i].body >= 0) size = smaller(size, geom_radius(&p->s->g[i]));
    long cost = 0;
    p->claims = true, p->shared = false, p->margin = HUGE_VAL, p->size = size;
    if (!p->s->robot) scene_control(p->s, p->u);
    for (int k = 0; k < p->steps; k++) {
        tribo_status status = tribo_step(p->w->ws, p->p, p->x + k * p->nx, p->u, p->x + (k + 1) * p->nx, tape);
        if (status < 0) return false;
        const tribo_step_info *info = tribo_last_info(p->w->ws);
        p->claims = p->claims && status == TRIBO_OK && info->ndegenerate == info->nshared;
        p->shared = p->shared || info->nshared > 0;
        p->margin = smaller(p->margin, info->margin);
        cost += (long)info->iterations * info->ncon;
        if (cost > 1500 && !p->s->thorough) p->steps = k + 1;
        for (int i = 0; i < p->s->nbody; i++) {
            motion m;
            body_motion(p->s, i, p->x + k * p->nx, &m);
            speed = larger(speed, larger(length(m.v), length(m.w) * size) + length(m.accel));
        }
    }
    p->speed = larger(speed, 1e-3 * size);
    bool last = dice_chance(d, 0.6);
    for (int k = last ? p->steps : 0; k <= p->steps; k++)
        for (int i = 0; i < p->ndx; i++) p->lx[k * p->ndx + i] = dice_normal(d) / state_unit(p, i);
    return true;
}

void judge_gradients(const scene *s, const world *w, const double *x, verdict *v) {
    int steps = s->horizon;
    dice d = {s->seed + 7};
    probe p;
    tribo_tape *tape = NULL;
    probe_new(&p, s, w, steps);
    memcpy(p.x, x, (size_t)p.nx * sizeof *x);
    if (!tribo_tape_new(w->ws, steps, 0, &tape) && record(&p, tape, &d)) {
        tribo_status status = tribo_backward(w->ws, tape, p.lx, p.x_bar, p.u_bar, p.p_bar);
        if (status != TRIBO_OK) p.claims = false;
        p.tape = tape;
        v->claims = p.claims;
        bool finite = true;
        for (int i = 0; i < p.ndx; i++) finite = finite && isfinite(p.x_bar[i]) && fabs(p.x_bar[i]) < 1e50;
        for (int i = 0; i < p.np; i++) finite = finite && isfinite(p.p_bar[i]) && fabs(p.p_bar[i]) < 1e50;
        v->asked[EXPLODED]++;
        if (status >= 0 && !finite && p.claims)
            note(v, EXPLODED, s->graded, 1, "%d steps, margin %.2g", p.steps, p.margin);
        for (int k = 0; k < p.steps; k++) {
            clear(&p), state_direction(&p, &d), force_direction(&p, &d);
            for (int kind = 0; kind < KINDS_OF_P; kind++) parameter_direction(&p, &d, (tribo_param_kind)kind);
            for (int i = 0; i < MORE; i++)
                if (has(s, i)) parameter_direction(&p, &d, ALSO[i]);
            judge_three_ways(&p, tape, k, &d, s->graded + k, v);
        }
        if (status >= 0 && finite) p.rounding = rounding_of_rollout(&p), judge_directions(&p, v);
    }
    tribo_tape_free(tape);
    probe_free(&p);
}
