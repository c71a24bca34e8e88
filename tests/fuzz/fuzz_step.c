/* fuzz_step.c -- any scene, parameters, law, options, states and controls, through steps and every derivative: no
 * crash, no answer under OK that is not a number, no output written on an error. */
#include "bytes.h"
#include <tribo/tribo.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 4 };

/* ---- a scene ---- */

static tribo_material some_material(bytes *b) {
    static const double e[] = {0, 0, 0.3, 0.8, 1};
    return (tribo_material){.friction = chance(b, 40) ? 0 : scale(b, 0.05, 2),
                            .stiction = chance(b, 200) ? 0 : scale(b, 0.01, 1),
                            .restitution = e[pick(b, 5)],
                            .baumgarte = chance(b, 128) ? 1 : fabs(real(b)),
                            .slop = chance(b, 200) ? 0 : scale(b, 1e-6, 1e-2)};
}

static void some_turn(bytes *b, double q[4]) {
    if (chance(b, 160)) return; /* level: faces on faces */
    reals(b, q, 4, 1);
}

static void add_wall(bytes *b, tribo_builder *to) {
    tribo_geom_def g = tribo_default_geom();
    g.shape = TRIBO_PLANE, g.material = some_material(b), g.priority = pick(b, 2);
    if (chance(b, 60)) some_turn(b, g.quat);
    tribo_add_geom(to, TRIBO_WORLD, &g);
}

static void add_solid(bytes *b, tribo_builder *to, double *top) {
    static const tribo_shape shapes[] = {TRIBO_BOX, TRIBO_SPHERE, TRIBO_CAPSULE};
    tribo_body_def d = tribo_default_body();
    tribo_geom_def g = tribo_default_geom();
    double size = scale(b, 0.02, 0.5);
    g.shape = shapes[pick(b, 3)], g.material = some_material(b);
    for (int i = 0; i < 3; i++) g.size[i] = chance(b, 180) ? size : scale(b, 0.02, 0.5);
    g.mass = scale(b, 1e-3, 1e3);
    double half = g.shape == TRIBO_BOX ? g.size[2] : g.size[0] + (g.shape == TRIBO_CAPSULE ? g.size[1] : 0),
           gap = chance(b, 128) ? 0 : 1e-2 * real(b);
    some_turn(b, d.quat);
    reals(b, d.pos, 2, chance(b, 128) ? 0.05 : 1);
    d.pos[2] = *top + half + gap;
    if (chance(b, 160)) *top += 2 * half + gap;
    int body = tribo_add_body(to, &d);
    tribo_add_geom(to, body, &g);
    if (chance(b, 30)) {
        g.pos[0] = real(b);
        tribo_add_geom(to, body, &g);
    }
}

static tribo_model *some_model(bytes *b) {
    tribo_builder *to = tribo_builder_new(&limited);
    tribo_model *m = NULL;
    double top = 0, gravity[3] = {0, 0, -9.81};
    if (chance(b, 240)) add_wall(b, to);
    if (chance(b, 40)) add_wall(b, to);
    for (int n = 1 + pick(b, 4); n > 0; n--) add_solid(b, to, &top);
    if (chance(b, 30)) reals(b, gravity, 3, 20), tribo_set_gravity(to, gravity);
    tribo_set_timestep(to, scale(b, 1e-4, 0.05));
    return tribo_build(to, &m, NULL) == TRIBO_OK ? m : NULL;
}

/* ---- how it is stepped ---- */

static tribo_law_options some_law(bytes *b) {
    tribo_law_options o = {0};
    if (chance(b, 100)) return o;
    o.law = (tribo_law)pick(b, TRIBO_LAW_END);
    o.solver = chance(b, 250) ? tribo_law_solver(o.law, pick(b, 7)) : (tribo_solver)pick(b, 40);
    o.raw = chance(b, 40), o.max_iter = 1 + pick(b, 100); /* what is slow is not looked for here */
    if (chance(b, 40)) o.relaxation = 1 + real(b);
    if (chance(b, 40)) o.penalty = scale(b, 1e-6, 1e6);
    if (chance(b, 40)) o.facets = pick(b, 70), o.facet_angle = real(b), o.circumscribed = chance(b, 128);
    if (chance(b, 60))
        o.softness = (tribo_softness)pick(b, 5), o.compliance = scale(b, 1e-9, 1),
        o.dry_compliance = scale(b, 1e-9, 1e5);
    if (chance(b, 30)) o.impedance = fabs(real(b)), o.impratio = scale(b, 1e-3, 1e3);
    if (chance(b, 30)) o.kappa = scale(b, 1e-12, 1);
    if (chance(b, 60)) o.smoothing = (tribo_smoothing)pick(b, 5), o.noise = scale(b, 1e-6, 10);
    return o;
}

static tribo_options some_options(bytes *b) {
    tribo_options o = tribo_default_options();
    o.law = some_law(b);
    if (chance(b, 30)) o.dt = scale(b, 1e-5, 0.1);
    if (chance(b, 30)) o.tol = scale(b, 1e-13, 1e-2);
    if (chance(b, 30)) o.recovery = scale(b, 1e-3, 100);
    if (chance(b, 40)) o.rounds = pick(b, 12), o.reverse = (tribo_reverse)pick(b, 3);
    if (chance(b, 20)) o.ncon_max = pick(b, 12);
    o.warm_start = chance(b, 60), o.measures = chance(b, 60);
    return o;
}

/* ---- a rollout ---- */

typedef struct run {
    tribo_model *m;
    tribo_ws *ws, *other; /* other: with options of its own */
    tribo_tape *tape;
    tribo_sizes n;
    double *p, *x, *u, *lx, *dots;
    tribo_status worst; /* of steps */
} run;

static void check_step(const run *r, tribo_status s) {
    const tribo_step_info *info = tribo_last_info(r->ws);
    tribo_options o = tribo_ws_options(r->ws);
    int n;
    const tribo_contact *c = tribo_last_contacts(r->ws, &n);
    if (s == TRIBO_OK && !(o.rounds > 0 ? info->residual < HUGE_VAL : info->residual <= o.tol))
        WRONG("a step returned OK with a residual of %g, tol %g", info->residual, o.tol);
    if (info->margin != info->margin) WRONG("the margin is NaN");
    for (int i = 0; i < n && s == TRIBO_OK; i++)
        if (!all_finite(c[i].impulse, 3) || !all_finite(c[i].point, 3) || !isfinite(c[i].gap))
            WRONG("a contact that is no number under OK");
    if (s == TRIBO_OK && o.measures && !all_finite((const double *)&info->measures, sizeof info->measures / 8))
        WRONG("a measure is no number under OK");
}

/* Some steps on tape. @return how many. */
static int some_steps(bytes *b, run *r) {
    size_t nx = (size_t)r->n.nx;
    int k = 0;
    for (; k < STEPS; k++) {
        output next = output_new(nx);
        int before = tribo_tape_steps(r->tape);
        bool push = chance(b, 100);
        if (push) reals(b, r->u, (size_t)r->n.nu, scale(b, 1e-3, 1e3));
        tribo_status s = tribo_step(r->ws, r->p, r->x, push ? r->u : NULL, next.a, r->tape);
        output_check(&next, s, "tribo_step");
        if (s >= 0 && !all_finite(next.a, nx)) WRONG("a step's state is no number under %d", (int)s);
        if (tribo_tape_steps(r->tape) != before + (s >= 0))
            WRONG("a step returned %d and the tape grew or not", (int)s);
        if (s >= 0) check_step(r, s), memcpy(r->x, next.a, nx * sizeof *r->x);
        if (s > r->worst) r->worst = s;
        output_free(&next);
        if (s < 0) break;
    }
    return k;
}

/* ---- derivatives ---- */

static tribo_status sweep(run *r, tribo_ws *ws) {
    size_t T = (size_t)tribo_tape_steps(r->tape);
    output x = output_new((size_t)r->n.ndx), u = output_new(T * (size_t)r->n.nu), p = output_new((size_t)r->n.np);
    tribo_status s = tribo_backward(ws, r->tape, r->lx, x.a, u.a, p.a);
    output_check(&x, s, "tribo_backward, x0_bar"), output_check(&u, s, "tribo_backward, u_bar");
    output_check(&p, s, "tribo_backward, p_bar");
    output_free(&x), output_free(&u), output_free(&p);
    return s;
}

static void record(run *r, tribo_ws *ws, int k) {
    size_t ndx = (size_t)r->n.ndx, nu = (size_t)r->n.nu, np = (size_t)r->n.np;
    output A = output_new(ndx * ndx), B = output_new(ndx * nu), C = output_new(ndx * np), d = output_new(2 * ndx);
    output x = output_new(ndx), u = output_new(nu), p = output_new(np);
    tribo_status s = tribo_step_jac(ws, r->tape, k, A.a, B.a, C.a);
    output_check(&A, s, "tribo_step_jac, A"), output_check(&B, s, "tribo_step_jac, B");
    output_check(&C, s, "tribo_step_jac, C");
    s = tribo_step_jvp(ws, r->tape, k, 2, r->dots, r->dots + 2 * ndx, r->dots + 2 * (ndx + nu), d.a);
    output_check(&d, s, "tribo_step_jvp");
    s = tribo_step_vjp(ws, r->tape, k, r->lx, x.a, u.a, p.a);
    output_check(&x, s, "tribo_step_vjp, x"), output_check(&u, s, "tribo_step_vjp, u");
    output_check(&p, s, "tribo_step_vjp, p");
    output *all[] = {&A, &B, &C, &d, &x, &u, &p};
    for (int i = 0; i < 7; i++) output_free(all[i]);
}

/* The sweep again from stored states: of the same steps the same bits. */
static void checkpoint(bytes *b, run *r, const double *x0) {
    tribo_checkpoint *c = NULL;
    int T = tribo_tape_steps(r->tape);
    size_t ndx = (size_t)r->n.ndx, np = (size_t)r->n.np;
    if (tribo_checkpoint_new(r->ws, 1 + pick(b, 3), &c) != TRIBO_OK) return;
    output x = output_new(ndx), p = output_new(np), u = output_new((size_t)T * (size_t)r->n.nu);
    tribo_status s = tribo_checkpoint_backward(c, r->ws, r->p, x0, T, NULL, r->lx, x.a, u.a, p.a, NULL);
    output_check(&x, s, "tribo_checkpoint_backward, x0_bar"), output_check(&p, s, "tribo_checkpoint_backward, p_bar");
    output_check(&u, s, "tribo_checkpoint_backward, u_bar");
    output_free(&x), output_free(&p), output_free(&u);
    tribo_checkpoint_free(c);
}

static void differentiate(bytes *b, run *r, const double *x0) {
    size_t ndx = (size_t)r->n.ndx, all = 2 * (ndx + (size_t)r->n.nu + (size_t)r->n.np);
    r->lx = calloc((STEPS + 1) * ndx + 1, sizeof *r->lx), r->dots = calloc(all, sizeof *r->dots);
    if (!r->lx || !r->dots) abort();
    for (size_t i = 0; i < (STEPS + 1) * ndx; i++) r->lx[i] = real(b);
    for (size_t i = 0; i < all; i++) r->dots[i] = 1 - 2 * (double)(i % 3);
    tribo_status s = sweep(r, r->ws);
    if (s == TRIBO_OK && r->worst == TRIBO_NOT_CONVERGED) WRONG("a sweep over a step that did not converge is OK");
    if (s < 0 && s != TRIBO_E_NONFINITE) WRONG("a sweep of the tape's own workspace returned %d", (int)s);
    record(r, r->ws, pick(b, STEPS));
    if (r->other) (void)sweep(r, r->other), record(r, r->other, 0);
    if (chance(b, 100)) checkpoint(b, r, x0);
}

static void start(bytes *b, run *r) {
    tribo_model_params(r->m, r->p), tribo_model_state0(r->m, r->x);
    double fast = scale(b, 1e-3, 30);
    for (int i = 0; i < r->n.nv; i++)
        if (chance(b, 128)) r->x[r->n.nq + i] = fast * real(b);
    for (int n = chance(b, 60) ? pick(b, 4) : 0; n > 0; n--) r->p[take(b) % (unsigned)r->n.np] *= 1 + 0.5 * real(b);
    if (b->wild && chance(b, 60)) r->x[take(b) % (unsigned)r->n.nx] = unexpected(b);
    if (b->wild && chance(b, 60)) r->p[take(b) % (unsigned)r->n.np] = unexpected(b);
}

static void roll(bytes *b, run *r) {
    tribo_options o = some_options(b), other = chance(b, 200) ? o : some_options(b);
    size_t nx = (size_t)r->n.nx;
    double *x0 = calloc(nx + 1, sizeof *x0), *P = NULL;
    if (chance(b, 40)) other.ncon_max = 1 + pick(b, 5);
    if (!x0) abort();
    if (tribo_ws_new(r->m, &o, &limited, &r->ws, NULL) == TRIBO_OK &&
        tribo_tape_new(r->ws, STEPS, 0, &r->tape) == TRIBO_OK) {
        if (tribo_ws_new(r->m, &other, &limited, &r->other, NULL) < 0 && r->other) WRONG("an error made a workspace");
        start(b, r);
        memcpy(x0, r->x, nx * sizeof *x0);
        P = calloc((size_t)(r->n.ndx * r->n.ndx), sizeof *P);
        for (int i = 0; i < r->n.ndx; i++) P[i * r->n.ndx + i] = scale(b, 1e-9, 1);
        if (chance(b, 100) && tribo_ws_set_covariance(r->ws, P) == TRIBO_OK && !all_finite(P, 1)) WRONG("a covariance");
        if (some_steps(b, r)) differentiate(b, r, x0);
    }
    free(x0), free(P);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes b = {data, data + size, 0};
    if (size < 4) return 0;
    if (chance(&b, 100)) b.wild = pick(&b, 40);
    run r = {.m = some_model(&b)};
    if (!r.m) return 0;
    r.n = tribo_model_sizes(r.m);
    r.p = calloc((size_t)r.n.np, sizeof *r.p), r.x = calloc((size_t)r.n.nx + 1, sizeof *r.x);
    r.u = calloc((size_t)r.n.nu + 1, sizeof *r.u);
    if (!r.p || !r.x || !r.u) abort();
    roll(&b, &r);
    tribo_tape_free(r.tape), tribo_ws_free(r.ws), tribo_ws_free(r.other), tribo_model_free(r.m);
    free(r.p), free(r.x), free(r.u), free(r.lx), free(r.dots);
    return 0;
}
