/* grad_check.c -- a random loss over a rollout, its reverse gradient, and differences of it along many directions. */
#include "base/base.h"
#include "differences.h"
#include "gradcheck.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const grad_block_names[GRAD_BLOCKS] = {
    "position",    "rotation", "velocity",  "spin",      "force",      "torque",    "gravity",      "mass",
    "com",         "inertia",  "size",      "geom pos",  "geom quat",  "friction",  "stiction",     "restitution",
    "baumgarte",   "slop",     "damping",   "armature",  "stiffness",  "springref", "frictionloss", "range",
    "gear",        "gain",     "bias",      "ctrlrange", "forcerange", "torsion",   "rolling",      "compliance",
    "edge_radius", "density",  "viscosity", "wind"};

/* A step that is not solved to this has no derivative worth comparing. */
static const double RESIDUAL = 1e-10;

/* One argument of the rollout. */
typedef struct argument {
    int block;
    int part;  /* 0 start state, 1 controls, 2 parameters */
    int index; /* into that part */
    double size;
    double lean; /* 1, -1: at its lower, upper bound, where it can go one way only; else 0 */
} argument;

/* Arrays are cut out of one block of doubles: x0 (ndx), U (T,nu), p (np) in a row make a vector of all arguments. */
typedef struct check {
    const grad_task *task;
    tribo_sizes n;
    tribo_ws *ws;
    tribo_tape *tape;
    int nall;                   /* ndx + T nu + np */
    double *U, *p, *X, *weight; /* nominal; X (T+1,nx); weight (T+1,ndx) of the loss */
    double *U_try, *p_try, *x_try, *X_try, *dx;
    double *gradient, *direction; /* (nall) */
    double *wobble;               /* (nall) by how much the gradient differs where the start differs by rounding */
    double *nearby;               /* (nall) */
    double *tangent;              /* (ndx) */
    argument *argument;
    int narguments;
    uint64_t random;
    tribo_status status; /* the first error of a rollout that had to go well */
} check;

static double next_random(check *c) {
    return grad_random(&c->random);
}

static bool carve(check *c, double **memory) {
    size_t T = (size_t)c->task->steps, nx = (size_t)c->n.nx, ndx = (size_t)c->n.ndx, nu = (size_t)c->n.nu;
    size_t np = (size_t)c->n.np, nall = ndx + T * nu + np;
    const struct {
        double **array;
        size_t n;
    } arrays[] = {{&c->U, T * nu},     {&c->p, np},          {&c->X, (T + 1) * nx}, {&c->weight, (T + 1) * ndx},
                  {&c->U_try, T * nu}, {&c->p_try, np},      {&c->x_try, nx},       {&c->X_try, (T + 1) * nx},
                  {&c->dx, ndx},       {&c->gradient, nall}, {&c->direction, nall}, {&c->wobble, nall},
                  {&c->nearby, nall},  {&c->tangent, ndx}};
    size_t total = 0, at = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) total += arrays[i].n;
    *memory = calloc(total + 1, sizeof **memory);
    c->argument = calloc(nall + 1, sizeof *c->argument);
    if (!*memory || !c->argument) return false;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i].array = *memory + at;
        at += arrays[i].n;
    }
    c->nall = (int)nall;
    return true;
}

/* ---- what is varied, and by how much ---- */

static argument *add(check *c, int block, int part, int index, double size) {
    c->argument[c->narguments] = (argument){block, part, index, size > 0 ? size : 1, 0};
    return &c->argument[c->narguments++];
}

/* The natural size of a parameter: a change by a part of it is neither lost nor absurd. */
static double param_size(const check *c, int index, const tribo_param_info *info) {
    double extent = tribo_model_extent(c->task->model), value = fabs(c->p[index]);
    switch (info->kind) {
    case TRIBO_PARAM_GRAVITY:
        return 10;
    case TRIBO_PARAM_MASS:
    case TRIBO_PARAM_SIZE:
    case TRIBO_PARAM_EDGE_RADIUS:
    case TRIBO_PARAM_COMPLIANCE:
    case TRIBO_PARAM_DENSITY:
    case TRIBO_PARAM_VISCOSITY:
        return value;
    case TRIBO_PARAM_COM:
    case TRIBO_PARAM_POS:
    case TRIBO_PARAM_SLOP:
        return extent;
    case TRIBO_PARAM_TORSION: /* as sliding, at the arm of a body */
    case TRIBO_PARAM_ROLLING:
        return value > 0 ? value : 0.01 * extent;
    case TRIBO_PARAM_INERTIA: { /* products of inertia are zero as a rule: the moments say what is large */
        int first = index;
        tribo_param_info other;
        double largest = value;
        while (first > 0 && tribo_param_describe(c->task->model, first - 1, &other) == TRIBO_OK &&
               other.kind == TRIBO_PARAM_INERTIA && other.body == info->body)
            first--;
        for (int i = 0; i < 6 && first + i < c->n.np; i++) largest = fmax(largest, fabs(c->p[first + i]));
        return largest;
    }
    default:
        return 1;
    }
}

static void list_arguments(check *c) {
    double extent = tribo_model_extent(c->task->model), mass = 0;
    tribo_param_info info;
    for (int i = 0; i < c->n.np; i++)
        if (tribo_param_describe(c->task->model, i, &info) == TRIBO_OK && info.kind == TRIBO_PARAM_MASS)
            mass = fmax(mass, c->p[i]);
    for (int i = 0; i < c->n.ndx; i++) {
        int third = tribo_model_turns(c->task->model, i % c->n.nv), motion = i >= c->n.nv;
        add(c, GRAD_POSITION + 2 * motion + third, 0, i, third ? 1 : motion ? 1 : extent);
    }
    for (int i = 0; i < c->task->steps * c->n.nu; i++) {
        int third = tribo_model_turns(c->task->model, i % c->n.nu);
        add(c, GRAD_FORCE + third, 1, i, 10 * mass * (third ? extent : 1));
    }
    for (int i = 0; i < c->n.np; i++)
        if (tribo_param_describe(c->task->model, i, &info) == TRIBO_OK && info.used) {
            argument *a = add(c, GRAD_PARAMS + (int)info.kind, 2, i, param_size(c, i, &info));
            a->lean = c->p[i] <= info.lower ? 1 : c->p[i] >= info.upper ? -1 : 0;
        }
}

static int place(const check *c, const argument *a) {
    int first = a->part == 0 ? 0 : a->part == 1 ? c->n.ndx : c->n.ndx + c->task->steps * c->n.nu;
    return first + a->index;
}

/* ---- the loss ---- */

/* L = sum_k weight_k . (X_k - nominal X_k), as differences of states are taken. */
static double loss_of(check *c, const double *X) {
    double L = 0;
    for (int k = 0; k <= c->task->steps; k++) {
        tribo_state_difference(c->task->model, c->X + (size_t)k * (size_t)c->n.nx, X + (size_t)k * (size_t)c->n.nx,
                               c->dx);
        for (int i = 0; i < c->n.ndx; i++) L += c->weight[k * c->n.ndx + i] * c->dx[i];
    }
    return L;
}

/* The loss at h along c->direction; NaN where the model does not go there or a step is not solved. */
static double loss_along(void *context, double h) {
    check *c = context;
    const double *d = c->direction;
    int T = c->task->steps;
    for (int i = 0; i < c->n.ndx; i++) c->dx[i] = h * d[i];
    tribo_state_add(c->task->model, c->task->x0, c->dx, c->x_try);
    d += c->n.ndx;
    for (int i = 0; i < T * c->n.nu; i++) c->U_try[i] = c->U[i] + h * d[i];
    d += T * c->n.nu;
    for (int i = 0; i < c->n.np; i++) c->p_try[i] = c->p[i] + h * d[i];
    if (tribo_params_check(c->task->model, c->p_try, NULL) != TRIBO_OK) return (double)NAN;
    memcpy(c->X_try, c->x_try, (size_t)c->n.nx * sizeof *c->X_try);
    for (int k = 0; k < T; k++) {
        double *x = c->X_try + k * c->n.nx;
        if (tribo_step(c->ws, c->p_try, x, c->U_try + k * c->n.nu, x + c->n.nx, NULL) < 0 ||
            !(tribo_last_info(c->ws)->residual <= RESIDUAL))
            return (double)NAN;
    }
    return loss_of(c, c->X_try);
}

/* The rollout from x0, step by step to see how each went, and its reverse. */
static tribo_status reverse(check *c, const double *x0, double *X, double *gradient, tribo_step_info *worst) {
    int T = c->task->steps, nx = c->n.nx;
    memcpy(X, x0, (size_t)nx * sizeof *X);
    memset(gradient, 0, (size_t)c->nall * sizeof *gradient);
    tribo_tape_rewind(c->tape);
    *worst = (tribo_step_info){.margin = INFINITY};
    for (int k = 0; k < T; k++) {
        tribo_status s = tribo_step(c->ws, c->p, X + k * nx, c->U + k * c->n.nu, X + (k + 1) * nx, c->tape);
        if (s < 0) return s;
        const tribo_step_info *info = tribo_last_info(c->ws);
        worst->residual = ti_max(worst->residual, info->residual);
        worst->margin = -ti_max(-worst->margin, -info->margin);
        worst->ndegenerate += info->ndegenerate, worst->nshared += info->nshared;
    }
    double *u_bar = gradient + c->n.ndx, *p_bar = u_bar + T * c->n.nu;
    return tribo_backward(c->ws, c->tape, c->weight, gradient, u_bar, p_bar);
}

/* How far the gradient moves with the start: a little, or by as much as the modes of contact differ. */
static tribo_status find_wobble(check *c) {
    enum { TRIES = 3 };
    double length = 1e-14 * tribo_model_extent(c->task->model);
    tribo_step_info ignored;
    for (int try = 0; try < TRIES; try++) {
        for (int i = 0; i < c->n.ndx; i++)
            c->dx[i] = (tribo_model_turns(c->task->model, i % c->n.nv) ? 1e-14 : length) * next_random(c);
        tribo_state_add(c->task->model, c->task->x0, c->dx, c->x_try);
        tribo_status s = reverse(c, c->x_try, c->X_try, c->nearby, &ignored);
        if (s < 0) return s;
        for (int i = 0; i < c->nall; i++) c->wobble[i] = ti_max(c->wobble[i], fabs(c->nearby[i] - c->gradient[i]));
    }
    return TRIBO_OK;
}

/* The same directional derivative by forward tangents. */
static double forward(check *c) {
    const double *d = c->direction, *u_dot = d + c->n.ndx, *p_dot = u_dot + c->task->steps * c->n.nu;
    double L = 0;
    memcpy(c->tangent, d, (size_t)c->n.ndx * sizeof *d);
    for (int k = 0; k <= c->task->steps; k++) {
        for (int i = 0; i < c->n.ndx; i++) L += c->weight[k * c->n.ndx + i] * c->tangent[i];
        if (k < c->task->steps &&
            tribo_step_jvp(c->ws, c->tape, k, 1, c->tangent, u_dot + k * c->n.nu, p_dot, c->tangent) < 0)
            return (double)NAN;
    }
    return L;
}

/* ---- comparing ---- */

/* Whether differences agree on something to within `noise`: on one side at least, or what is central is chance. */
static bool resolves(const difference *d, double noise) {
    return d->noise <= noise && (d->above.noise <= noise || d->below.noise <= noise);
}

/* The directional derivative that the reverse says; by how much it may differ by rounding. */
static double along_gradient(const check *c, double *wobble) {
    double sum = 0;
    *wobble = 0;
    for (int i = 0; i < c->nall; i++) {
        sum += c->gradient[i] * c->direction[i];
        *wobble += c->wobble[i] * fabs(c->direction[i]);
    }
    return sum;
}

/* Widen the slopes below and above of a direction through several kinks by those of each of its arguments alone: the
 * reverse may be on another side of each. */
static void take_apart(check *c, double tol, difference *d) {
    double least = 0, most = 0, wobble, *whole = c->nearby;
    memcpy(whole, c->direction, (size_t)c->nall * sizeof *whole);
    memset(c->direction, 0, (size_t)c->nall * sizeof *c->direction);
    for (int i = 0; i < c->nall; i++) {
        if (whole[i] == 0) continue;
        c->direction[i] = whole[i];
        difference one = differentiate(loss_along, c, 1e-2, along_gradient(c, &wobble), tol);
        least += fmin(one.above.slope, one.below.slope), most += fmax(one.above.slope, one.below.slope);
        c->direction[i] = 0;
    }
    memcpy(c->direction, whole, (size_t)c->nall * sizeof *whole);
    double expected = along_gradient(c, &wobble);
    if (least <= most) d->value = expected < least ? least : expected > most ? most : expected;
}

static void compare(check *c, grad_block *b, double scale) {
    double wobble, expected = along_gradient(c, &wobble), tol = c->task->tol * scale;
    b->checked++;
    b->worst_dot = ti_max(b->worst_dot, fabs(forward(c) - expected) / scale);
    difference d = differentiate(loss_along, c, 1e-2, expected, 0.1 * tol);
    b->jumps += d.jump;
    if (d.jump) return;
    if (d.kink && fabs(d.value - expected) - d.noise > tol) take_apart(c, 0.1 * tol, &d);
    double error = ti_max(fabs(d.value - expected) - d.noise, 0);
    bool by_chance = wobble > ti_max(tol, 1e-3 * fabs(expected)) && !(error <= tol);
    if (by_chance || !resolves(&d, 1e-3 * scale)) {
        b->open++;
        return;
    }
    b->kinks += d.kink;
    b->worst = ti_max(b->worst, error / scale);
    b->noise = ti_max(b->noise, d.noise / scale);
}

/* Bounds at which the derivative is not one to be met by differences. All of a penetration removed, none left alone:
 * what is penetrated there is what rounding and turning leave in a step, nanometres, and a derivative to either number
 * holds no further than that. Restitution 0: such a contact stays, and its derivative is 0 by convention
 * (docs/gradients.md); with any more of it contacts may bounce, which is another motion. */
static bool is_of_overlap(int block) {
    return block == GRAD_PARAMS + (int)TRIBO_PARAM_BAUMGARTE || block == GRAD_PARAMS + (int)TRIBO_PARAM_SLOP;
}
static bool is_convention(const argument *a) {
    if (a->lean > 0 && a->block == GRAD_PARAMS + (int)TRIBO_PARAM_RESTITUTION) return true;
    return a->lean != 0 && is_of_overlap(a->block);
}

/* Single arguments of a block, chosen by chance where there are many, then a random direction through all of them. */
static void check_block(check *c, int block, grad_block *b, double scale) {
    int left = b->entries, wanted = b->entries < c->task->per_block ? b->entries : c->task->per_block;
    for (int i = 0; i < c->narguments && wanted > 0; i++) {
        const argument *a = &c->argument[i];
        if (a->block != block) continue;
        bool take = (next_random(c) + 1) / 2 * left < wanted; /* wanted of left, each equally likely */
        left--;
        if (!take) continue;
        wanted--;
        if (is_convention(a)) {
            b->checked++, b->bounds++;
            continue;
        }
        memset(c->direction, 0, (size_t)c->nall * sizeof *c->direction);
        c->direction[place(c, a)] = a->size;
        compare(c, b, scale);
    }
    memset(c->direction, 0, (size_t)c->nall * sizeof *c->direction);
    int along = 0;
    for (int i = 0; i < c->narguments; i++)
        if (c->argument[i].block == block && !is_convention(&c->argument[i])) {
            const argument *a = &c->argument[i];
            double step = next_random(c);
            if (a->lean != 0) step = a->lean * fabs(step);
            c->direction[place(c, a)] = a->size * step / sqrt(b->entries);
            along++;
        }
    if (along > 1) compare(c, b, scale);
}

static void check_all(check *c, grad_result *result) {
    double largest = 0;
    for (int i = 0; i < c->narguments; i++) {
        const argument *a = &c->argument[i];
        grad_block *b = &result->block[a->block];
        double size = fabs(c->gradient[place(c, a)] * a->size);
        b->entries++;
        b->largest = ti_max(b->largest, size);
        largest = ti_max(largest, size);
    }
    for (int block = 0; block < GRAD_BLOCKS; block++) {
        grad_block *b = &result->block[block];
        /* Baumgarte and slop act on penetrations: as good as none at rest, and then what is left is rounding. */
        double floor = is_of_overlap(block) ? 1e-3 : 1e-6;
        if (b->entries) check_block(c, block, b, ti_max(b->largest, floor * largest));
        result->worst = ti_max(result->worst, b->worst);
        result->worst_dot = ti_max(result->worst_dot, b->worst_dot);
    }
    int left = 0, of = 0;
    for (int block = 0; block < GRAD_BLOCKS; block++) {
        const grad_block *b = &result->block[block];
        left += b->kinks + b->jumps + b->open, of += b->checked - b->bounds;
    }
    result->left_out = of > 0 ? (double)left / of : 0;
}

/* The three derivatives of each step on the tape. */
static tribo_status compare_ways(check *c, grad_result *result) {
    double *sizes = c->direction;
    for (int i = 0; i < c->n.ndx + c->n.nu; i++) sizes[i] = c->argument[i].size; /* in the order of the list */
    return grad_agree(c->ws, c->task->model, c->tape, sizes, c->task->seed, &result->steps);
}

const char *grad_flaw(const grad_task *task, const grad_result *r) {
    if (!(r->info.residual <= RESIDUAL)) return "a step did not converge";
    if (!(r->worst <= task->tol)) return "the reverse is not what differences say";
    if (!(ti_max(r->steps.reverse, r->steps.jacobian) <= GRAD_AGREE))
        return "reverse, forward tangents and Jacobians differ";
    if (!(r->left_out <= GRAD_LEFT_OUT)) return "too many directions are left out";
    return NULL;
}

/* Controls of the first key, and small forces, so that nothing is symmetric by accident. */
static void list_controls(check *c) {
    for (int k = 0; k < c->task->steps; k++) tribo_model_key(c->task->model, 0, NULL, c->U + k * c->n.nu);
    for (int i = 0; i < c->narguments; i++)
        if (c->argument[i].part == 1) c->U[c->argument[i].index] += 1e-3 * c->argument[i].size * next_random(c);
}

tribo_status grad_check(const grad_task *task, grad_result *result) {
    check c = {.task = task, .n = tribo_model_sizes(task->model), .random = task->seed};
    double *memory = NULL;
    *result = (grad_result){0};
    tribo_status s = carve(&c, &memory) ? TRIBO_OK : TRIBO_E_NOMEM;
    if (s == TRIBO_OK) s = tribo_ws_new(task->model, &task->options, NULL, &c.ws, NULL);
    if (s == TRIBO_OK) s = tribo_tape_new(c.ws, task->steps, 0, &c.tape);
    if (s == TRIBO_OK) {
        tribo_model_params(task->model, c.p);
        list_arguments(&c);
        for (int i = 0; i < (task->steps + 1) * c.n.ndx; i++) c.weight[i] = next_random(&c);
        list_controls(&c);
        s = reverse(&c, task->x0, c.X, c.gradient, &result->info);
    }
    if (s >= 0) s = find_wobble(&c);
    if (s >= 0) { /* the tape again of the start itself, for the forward tangents */
        s = reverse(&c, task->x0, c.X, c.gradient, &result->info);
        if (s >= 0) s = compare_ways(&c, result);
        if (s >= 0) check_all(&c, result);
    }
    tribo_tape_free(c.tape);
    tribo_ws_free(c.ws);
    free(c.argument);
    free(memory);
    return s;
}
