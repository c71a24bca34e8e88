/* test_jacobian.c -- A and B by blocks against forward tangents of unit seeds, the reverse, and known zeros. */
#include "backward/backward.h"
#include "models.h"
#include "test_main.h"
#include "worlds.h"

/* A lopsided body: its centre of mass is not its origin. */
static int odd_box(tribo_builder *b, double mass, double x, double y, double z, tribo_shape shape) {
    tribo_body_def d = tribo_default_body();
    d.pos[0] = x, d.pos[1] = y, d.pos[2] = z;
    d.inertia_given = true, d.mass = mass;
    d.com[0] = 0.01, d.com[1] = -0.02, d.com[2] = 0.015;
    double I = mass * 0.007;
    d.inertia[0] = I, d.inertia[1] = 1.2 * I, d.inertia[2] = 0.9 * I, d.inertia[3] = 0.1 * I;
    int body = tribo_add_body(b, &d);
    tribo_geom_def g = tribo_default_geom();
    g.shape = shape, g.size[0] = g.size[1] = g.size[2] = 0.1, g.pos[0] = 0.005;
    tribo_add_geom(b, body, &g);
    return body;
}

/* A with directions of p beside it: unit ones, which move what no contact sees, what only contacts do, or both at once.
 */
static void check_along(const char *name, const world *w, int k, const double *A, double tol) {
    size_t ndx = (size_t)w->n.ndx, np = (size_t)w->n.np, n = np + 3, width = np;
    double *p_dot = world_zeros(n * np), *one = world_zeros(n * ndx), *along = world_zeros(n * ndx);
    double *beside = world_zeros(ndx * ndx);
    unsigned seed = 3;
    for (size_t i = 0; i < np; i++) p_dot[i * width + i] = 1;
    for (size_t i = np * np; i < n * np; i++) p_dot[i] = test_random(&seed);
    ck_assert_int_eq(tribo_step_jvp(w->ws, w->tape, k, (int)n, NULL, NULL, p_dot, one), TRIBO_OK);
    ck_assert_int_eq(ti_record_along(w->ws, w->tape, k, beside, (int)n, p_dot, along), TRIBO_OK);
    ck_assert(memcmp(beside, A, sizeof *A * ndx * ndx) == 0);
    for (size_t j = 0; j < n; j++) {
        double worst = 0, scale = 0;
        for (size_t i = 0; i < ndx; i++) {
            worst = fmax(worst, fabs(one[j * ndx + i] - along[j * ndx + i]));
            scale = fmax(scale, fabs(one[j * ndx + i]));
        }
        ck_assert_msg(worst <= tol * (scale + 1e-3), "%s, direction %zu of p: off by %g of %g", name, j, worst, scale);
    }
    free(p_dot), free(one), free(along), free(beside);
}

/* Roll out with random controls; at the last step, A and B against everything else that knows them. */
static void check_jacobian(const char *name, world *w, int steps, double tol) {
    int ndx = w->n.ndx, nu = w->n.nu;
    unsigned seed = 11;
    world_steps(w, steps);
    for (int i = 0; i < steps * nu; i++) w->U[i] = 0.3 * test_random(&seed);
    world_run(w);
    double *A = world_zeros(ndx * ndx), *B = world_zeros(ndx * nu), *seeds = world_zeros(ndx * ndx);
    double *columns = world_zeros(ndx * ndx), *alone = world_zeros(ndx * ndx), worst = 0, scale = 0;
    ck_assert_int_eq(tribo_step_jac(w->ws, w->tape, steps - 1, A, B, NULL), TRIBO_OK);
    for (int i = 0; i < ndx; i++) seeds[i * ndx + i] = 1;
    for (int pass = 0; pass < 2; pass++) {
        int n = pass ? nu : ndx;
        const double *found = pass ? B : A;
        for (int i = 0; i < n * n; i++) seeds[i] = i % (n + 1) == 0;
        ck_assert_int_eq(
            tribo_step_jvp(w->ws, w->tape, steps - 1, n, pass ? NULL : seeds, pass ? seeds : NULL, NULL, columns), 0);
        scale = 0, worst = 0;
        for (int i = 0; i < ndx; i++)
            for (int j = 0; j < n; j++) {
                worst = fmax(worst, fabs(found[i * n + j] - columns[j * ndx + i]));
                scale = fmax(scale, fabs(columns[j * ndx + i]));
            }
        printf("%-18s %s: off by %.1e of %.1e\n", name, pass ? "B" : "A", worst, scale);
        ck_assert_msg(scale > 0 && worst <= tol * scale, "%s: off by %g of %g", name, worst, scale);
    }
    ck_assert_int_eq(tribo_step_jac(w->ws, w->tape, steps - 1, NULL, alone, NULL), TRIBO_OK);
    ck_assert(memcmp(alone, B, sizeof *B * (size_t)(ndx * nu)) == 0);
    ck_assert_int_eq(tribo_step_jac(w->ws, w->tape, steps - 1, alone, NULL, NULL), TRIBO_OK);
    ck_assert(memcmp(alone, A, sizeof *A * (size_t)(ndx * ndx)) == 0);
    check_along(name, w, steps - 1, A, tol);
    free(A), free(B), free(seeds), free(columns), free(alone);
    world_free(w);
}

START_TEST(one_body) {
    for (int shape = 0; shape < 2; shape++)
        for (int mode = 0; mode < 4; mode++) { /* flight, slide, stick and spin, a corner */
            tribo_builder *b = tribo_builder_new(NULL);
            world_floor(b, 0.4, 0);
            odd_box(b, 2, 0, 0, mode == 0 ? 1 : 0.1, shape ? TRIBO_BOX : TRIBO_SPHERE);
            world w = world_new(b, 1e-3);
            double *v = world_v0(&w, 0);
            if (mode == 0) v[0] = 1, v[3] = 3, v[4] = -2, v[5] = 7;
            if (mode == 1) v[0] = 3, v[1] = -1, v[5] = 1;
            if (mode == 2) v[5] = 0.5;
            if (mode == 3) v[0] = 1, v[3] = 3, v[4] = -2, v[5] = 1;
            check_jacobian("one body", &w, mode == 3 ? 20 : 3, 1e-11);
        }
}
END_TEST

START_TEST(several_bodies) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.4, 0);
    odd_box(b, 1, 0, 0, 0.1, TRIBO_BOX);
    odd_box(b, 3, 0.03, 0.02, 0.3, TRIBO_BOX);
    odd_box(b, 0.5, 1, 0, 0.1, TRIBO_SPHERE);
    odd_box(b, 0.5, 1, 0.15, 0.23, TRIBO_SPHERE);
    odd_box(b, 0.5, 1, 1, 1, TRIBO_BOX);
    world w = world_new(b, 1e-3);
    world_v0(&w, 0)[0] = 1, world_v0(&w, 1)[5] = 2, world_v0(&w, 2)[4] = 3, world_v0(&w, 4)[3] = 5;
    check_jacobian("stack, balls, air", &w, 20, 1e-10);
}
END_TEST

/* A plate on a ball joint that spins so that what its inertia and its gyroscopic forces leave to the last of its
 * numbers is nothing: rows of K are exchanged. */
static world plate_at(double rate, bool touches) {
    static const char PLATE[] =
        "<mujoco><option timestep='0.01'/><worldbody><geom name='floor' type='plane' size='1 1 1'/><body name='hub' "
        "pos='0 0 %g'><freejoint/><geom type='sphere' size='0.1' mass='1'/><body name='plate' pos='0.05 0.02 0.3'>"
        "<joint type='ball'/><inertial pos='0 0 0' mass='1' fullinertia='0.1 0.115 0.02 0 0.04 0'/></body></body>"
        "</worldbody></mujoco>";
    char xml[sizeof PLATE + 16];
    snprintf(xml, sizeof xml, PLATE, touches ? 0.1 : 1.0);
    world w = world_of(model_of(xml), NULL);
    double *v = w.x0 + w.n.nx - w.n.nv;
    v[0] = 0.5, v[6] = 0.3, v[7] = rate, v[8] = -0.2;
    world_steps(&w, 1);
    return w;
}

/* K's last entry, and whether its rows stay where they are. */
static double last_of_K(double rate, bool touches, bool *stay) {
    world w = plate_at(rate, touches);
    double A[18 * 18];
    world_run(&w);
    ck_assert_int_eq(w.n.ndx, 18);
    ck_assert_int_eq(tribo_step_jac(w.ws, w.tape, 0, A, NULL, NULL), TRIBO_OK);
    const ti_tree_jac *j = &w.ws->scratch->tree_jac;
    double last = j->K[9 * 9 - 1];
    *stay = j->along[0];
    world_free(&w);
    return last;
}

/* A against the columns of forward tangents and the rows of reverses. */
static void plate_agrees(double rate, bool touches) {
    world w = plate_at(rate, touches);
    double A[18 * 18], column[18], row[18], one[18] = {0}, most = 0;
    world_run(&w);
    ck_assert_int_eq(tribo_step_jac(w.ws, w.tape, 0, A, NULL, NULL), TRIBO_OK);
    for (int i = 0; i < 18 * 18; i++) most = fmax(most, fabs(A[i]));
    for (int j = 0; j < 18; j++) {
        one[j] = 1;
        memset(row, 0, sizeof row);
        ck_assert_int_eq(tribo_step_jvp(w.ws, w.tape, 0, 1, one, NULL, NULL, column), TRIBO_OK);
        ck_assert_int_eq(tribo_step_vjp(w.ws, w.tape, 0, one, row, NULL, NULL), TRIBO_OK);
        for (int i = 0; i < 18; i++) {
            NEAR(A[i * 18 + j], column[i], 1e-10 * most);
            NEAR(A[j * 18 + i], row[i], 1e-10 * most);
        }
        one[j] = 0;
    }
    world_free(&w);
}

START_TEST(rows_are_exchanged) {
    for (int touches = 0; touches < 2; touches++) {
        bool stay = true;
        double few = 0, many = 140, at = few;
        ck_assert_double_gt(last_of_K(few, touches, &stay), 0);
        for (int k = 0; k < 60 && stay; k++) {
            at = 0.5 * (few + many);
            *(last_of_K(at, touches, &stay) > 0 ? &few : &many) = at;
        }
        ck_assert(!stay);
        plate_agrees(at, touches);
    }
}
END_TEST

/* Where a contact bounces inside the step the columns come one by one. */
START_TEST(bounce) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.4, 0.5);
    odd_box(b, 1, 0, 0, 0.1005, TRIBO_BOX);
    world w = world_new(b, 1e-3);
    world_v0(&w, 0)[2] = -1, world_v0(&w, 0)[0] = 1;
    check_jacobian("bounce", &w, 1, 1e-12);
}
END_TEST

/* One by one, too, but of the bodies that are concerned: a box that bounces on another one, one that overlaps the
 * floor, one whose spin has substeps, beside one that slides and one that flies. */
START_TEST(each_island_its_own_way) {
    enum { BALL, BOUNCES, OVERLAPS, SPINS, SLIDES, FLIES };
    tribo_builder *b = tribo_builder_new(NULL);
    ti_frame f;
    const double *p;
    world_floor(b, 0.4, 0.5);
    odd_box(b, 3, 1.02, 0, 0.295, TRIBO_SPHERE);
    odd_box(b, 1, 0, 0, 0.1005, TRIBO_BOX);
    odd_box(b, 1, 1, 0, 0.095, TRIBO_BOX);
    odd_box(b, 2, 2, 0, 1, TRIBO_SPHERE);
    odd_box(b, 2, 3, 0, 0.1, TRIBO_BOX);
    odd_box(b, 1, 4, 0, 1, TRIBO_BOX);
    world w = world_new(b, 1e-3);
    world_v0(&w, BOUNCES)[2] = -1, world_v0(&w, BOUNCES)[0] = 1, world_v0(&w, SPINS)[4] = 3000;
    world_v0(&w, SLIDES)[0] = 1, world_v0(&w, FLIES)[3] = 5;
    world_steps(&w, 1);
    world_run(&w);
    ck_assert_int_eq(ti_restore(w.ws, w.tape, 0, &f, &p), TRIBO_OK);
    int hits = 0, overlaps = 0, holds = 0;
    for (int k = 0; k < f.nisland; k++) {
        const ti_phase_points *phase = f.island[k].phase;
        hits += phase[TI_IMPACT].npoint > 0, overlaps += phase[TI_RECOVER].npoint > 0;
        holds += phase[TI_IMPACT].npoint == 0 && phase[TI_RECOVER].npoint == 0;
    }
    ck_assert_msg(hits == 1 && overlaps == 1 && holds == 1 && w.ws->link[SPINS].substeps > 1,
                  "%d hit, %d overlap, %d hold, %d substeps", hits, overlaps, holds, w.ws->link[SPINS].substeps);
    check_jacobian("each its own way", &w, 1, 1e-11);
}
END_TEST

#define OPTION "<option timestep='0.002' gravity='0 0 -9.81' cone='elliptic'/>"
#define FLOOR "<geom name='floor' type='plane' size='0 0 1' friction='0.6'/>"
#define LINK(name, axis, at)                                                                                           \
    "<body name='" name "' pos='" at "'><joint name='" name "' type='hinge' axis='" axis "' damping='0.1'/>"           \
    "<geom type='capsule' size='0.04' fromto='0 0 0 0.3 0 0' mass='0.7'/>"
/* Begun in overlap: an arm's first inertia changes with its elbow; a torso on two legs; an arm on a cube; a shoulder
 * beyond its limit. */
static const struct overlapping {
    const char *name, *xml;
    int nq; /* of the start's numbers */
    double q[16];
} overlapping[] = {
    {"arm",
     "<mujoco>" OPTION "<worldbody>" FLOOR LINK("upper", "0 1 0", "0 0 0.2") LINK("lower", "0.1 1 0", "0.3 0 0")
         LINK("hand", "0 0.2 1", "0.3 0 0") "</body></body></body></worldbody></mujoco>",
     3,
     {0.55, -0.54, 0.1}},
    {"torso",
     "<mujoco>" OPTION "<worldbody>" FLOOR "<body name='torso' pos='0 0 0.3'><freejoint/>"
     "<geom type='box' size='0.2 0.1 0.05' pos='0.01 0 0' mass='3'/>" LINK("left", "0 1 0", "0.1 0.2 0") "</body>" LINK(
         "right", "0 1 0", "0.1 -0.2 0") "</body></body></worldbody></mujoco>",
     9,
     {0, 0, 0.29, 0.999, 0.01, 0.02, 0.03, 1.0, 1.1}},
    {"arm and cube",
     "<mujoco>" OPTION "<worldbody>" FLOOR LINK("upper", "0 1 0", "-0.1 0 0.3") LINK(
         "lower", "0.1 1 0", "0.3 0 0") "</body></body><body name='cube' pos='0.45 0 0.098'><freejoint/>"
                                        "<geom type='box' size='0.1 0.1 0.1' mass='2'/></body></worldbody></mujoco>",
     9,
     {0.3, -0.2, 0.45, 0, 0.098, 1, 0, 0, 0}},
    {"shoulder",
     "<mujoco>" OPTION "<worldbody>" FLOOR "<body name='arm' pos='0 0 0.3'>"
     "<joint name='ball' type='ball' limited='true' range='0 40' damping='0.05'/>"
     "<geom type='capsule' size='0.04' fromto='0 0 0 0.3 0 0' mass='1'/>" LINK(
         "elbow", "0 1 0.1", "0.3 0 0") "</body></body></worldbody></mujoco>",
     5,
     {0.92, 0.05, 0.38, 0.06, 0.6}},
};

static world begun_in_overlap(const struct overlapping *o) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_model_load_memory(o->xml, strlen(o->xml), o->name, NULL, &m, &diag);
    ck_assert_msg(s == TRIBO_OK, "%s: %s", o->name, diag.text);
    tribo_options options = tribo_default_options();
    options.recovery = 20; /* nothing is held back, so that columns apply; a fifth a step, so that many take back */
    world w = world_of(m, &options);
    for (int i = 0; i < w.n.np; i++) {
        tribo_param_info info;
        ck_assert_int_eq(tribo_param_describe(m, i, &info), TRIBO_OK);
        if (info.kind == TRIBO_PARAM_BAUMGARTE) w.p[i] = 0.2;
    }
    unsigned seed = 3;
    memcpy(w.x0, o->q, sizeof *o->q * (size_t)o->nq);
    for (int i = 0; i < w.n.nv; i++) w.x0[w.n.nq + i] = 0.2 * test_random(&seed);
    return w;
}

/* Whether overlap was taken back in step k, its columns come together, and there is but one answer. */
static bool recovers(const world *w, int k) {
    ti_frame f;
    const double *p;
    if (ti_tape_verdict(w->tape, k) != TRIBO_OK) return false;
    ck_assert_int_eq(ti_restore(w->ws, w->tape, k, &f, &p), TRIBO_OK);
    for (int i = 0; i < f.nisland; i++)
        if (f.island[i].phase[TI_RECOVER].npoint > 0) return ti_tree_columns_apply(w->ws, &f, p);
    return false;
}

/* A of step k against the reverse of its rows. @return how far they are apart, of the largest entry */
static double rows_off(world *w, int k) {
    int ndx = w->n.ndx, nu = w->n.nu;
    double *A = world_zeros(ndx * ndx), *B = world_zeros(ndx * nu), off = 0, scale = 0;
    ck_assert_int_eq(tribo_step_jac(w->ws, w->tape, k, A, B, NULL), TRIBO_OK);
    for (int i = 0; i < ndx; i++) {
        double *unit = world_zeros(ndx), *x = world_zeros(ndx), *u = world_zeros(nu);
        unit[i] = 1;
        tribo_status status = tribo_step_vjp(w->ws, w->tape, k, unit, x, u, NULL);
        ck_assert(status == TRIBO_OK || status == TRIBO_DEGENERATE); /* a cube on more corners than it needs */
        for (int j = 0; j < ndx; j++) {
            off = fmax(off, fabs(A[i * ndx + j] - x[j])), scale = fmax(scale, fabs(x[j]));
            if (j < nu) off = fmax(off, fabs(B[i * nu + j] - u[j]));
        }
        free(unit), free(x), free(u);
    }
    free(A), free(B);
    return off / scale;
}

START_TEST(overlap_taken_back) {
    for (size_t i = 0; i < sizeof overlapping / sizeof *overlapping; i++) {
        world w = begun_in_overlap(&overlapping[i]);
        int found = 0;
        double worst = 0;
        world_steps(&w, 20);
        world_run(&w);
        for (int k = 0; k < w.T; k++) {
            if (!recovers(&w, k)) continue;
            worst = fmax(worst, rows_off(&w, k)), found++;
        }
        printf("%-18s %d steps: off by %.1e\n", overlapping[i].name, found, worst);
        ck_assert_int_gt(found, 2);
        ck_assert_msg(worst <= 1e-10, "%s: off by %g", overlapping[i].name, worst);
        world_free(&w);
    }
}
END_TEST

/* Rows that share the factors of their phases have the bits of each reverse alone. @return whether there is an impact
 */
static bool check_rows(const char *name, const world *w, int k) {
    size_t ndx = (size_t)w->n.ndx, nu = (size_t)w->n.nu, np = (size_t)w->n.np;
    double *unit = world_zeros((int)(2 * ndx + nu + np)), *x = unit + ndx, *u = x + ndx, *q = u + nu;
    double *A = world_zeros((int)(ndx * (ndx + nu + np))), *B = A + ndx * ndx, *C = B + ndx * nu;
    bool hit = false;
    ti_frame f;
    const double *p;
    ck_assert_int_ge(tribo_step_jac(w->ws, w->tape, k, A, B, C), 0);
    for (size_t i = 0; i < ndx; i++) {
        memset(unit, 0, sizeof *unit * (2 * ndx + nu + np));
        unit[i] = 1;
        ck_assert_int_ge(tribo_step_vjp(w->ws, w->tape, k, unit, x, u, q), 0);
        for (size_t j = 0; j < ndx; j++) ck_assert_msg(A[i * ndx + j] == x[j], "%s, step %d: A %zu %zu", name, k, i, j);
        for (size_t j = 0; j < nu; j++) ck_assert_msg(B[i * nu + j] == u[j], "%s, step %d: B %zu %zu", name, k, i, j);
        for (size_t j = 0; j < np; j++) ck_assert_msg(C[i * np + j] == q[j], "%s, step %d: C %zu %zu", name, k, i, j);
    }
    ck_assert_int_eq(ti_restore(w->ws, w->tape, k, &f, &p), TRIBO_OK);
    for (int i = 0; i < f.nisland; i++) hit = hit || ti_island_is_hit(&f.island[i]);
    free(unit), free(A);
    return hit;
}

/* A robot that has come to rest on its dry friction: derivatives of three compliances, whose columns and rows come
 * together as those of two do. */
START_TEST(at_rest_on_dry_friction) {
    enum { SETTLED = 700, STEPS = 3 };
    const char *folder = getenv("TRIBO_SCENES");
    char path[1024];
    tribo_model *m = NULL;
    ti_frame f;
    const double *p;
    if (!folder) return;
    snprintf(path, sizeof path, "%s/quadruped.xml", folder);
    ck_assert_int_eq(tribo_model_load(path, NULL, &m, NULL), TRIBO_OK);
    tribo_options options = tribo_default_options();
    options.warm_start = true;
    world w = world_of(m, &options);
    world_steps(&w, STEPS);
    tribo_model_key(m, 0, w.x0, w.U);
    for (int k = 1; k < STEPS; k++) memcpy(w.U + k * w.n.nu, w.U, sizeof *w.U * (size_t)w.n.nu);
    for (int k = 0; k < SETTLED; k++) ck_assert_int_eq(tribo_step(w.ws, w.p, w.x0, w.U, w.x0, NULL), TRIBO_OK);
    world_run(&w);
    ck_assert_int_eq(ti_restore(w.ws, w.tape, STEPS - 1, &f, &p), TRIBO_OK);
    ck_assert_int_eq(f.island[0].phase[TI_HOLD].npoint, 3);
    ck_assert(ti_tree_columns_apply(w.ws, &f, p));
    double off = rows_off(&w, STEPS - 1);
    ck_assert_msg(off <= 1e-10, "off by %g", off);
    check_rows("quadruped", &w, STEPS - 1);
    world_free(&w);
}
END_TEST

/* Hoppers that land together: more phases in a step than factors are kept of. */
#define HOPPER(name, x)                                                                                                \
    "<body name='" name "' pos='" x " 0 0.5'><freejoint/><geom type='sphere' size='0.1' mass='1'/>"                    \
    "<body pos='0.1 0 0'><joint axis='0.1 1 0'/><geom type='capsule' fromto='0 0 0 0 0 -0.3' size='0.03' mass='0.3'/>" \
    "</body></body>"
static const char HOPPERS[] =
    "<mujoco><option timestep='0.004'/><worldbody><geom type='plane' size='0 0 1'/>" HOPPER("a", "0") HOPPER("b", "1")
        HOPPER("c", "2") "</worldbody></mujoco>";

static int check_all_rows(const char *name, tribo_model *m) {
    tribo_options options = tribo_default_options();
    world w = world_of(m, &options);
    int hits = 0;
    for (int i = 0; i < w.n.np; i++) {
        tribo_param_info info;
        ck_assert_int_eq(tribo_param_describe(m, i, &info), TRIBO_OK);
        if (info.kind == TRIBO_PARAM_RESTITUTION) w.p[i] = 0.4;
    }
    world_steps(&w, 200);
    world_run(&w);
    for (int k = 0; k < w.T; k++) hits += check_rows(name, &w, k);
    printf("%-18s %d impacts\n", name, hits);
    world_free(&w);
    return hits;
}

START_TEST(rows_are_each_reverse) {
    static const char *const NAMES[] = {"legs", "four-bar", "hand"};
    const char *folder = getenv("TRIBO_SCENES");
    tribo_model *m = NULL;
    ck_assert_int_eq(tribo_model_load_memory(HOPPERS, strlen(HOPPERS), "hoppers", NULL, &m, NULL), TRIBO_OK);
    ck_assert_int_gt(check_all_rows("hoppers", m), 2);
    for (size_t i = 0; folder && i < sizeof NAMES / sizeof *NAMES; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.xml", folder, NAMES[i]);
        ck_assert_int_eq(tribo_model_load(path, NULL, &m, NULL), TRIBO_OK);
        check_all_rows(NAMES[i], m);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("jacobian");
    TCase *t = tcase_create("jacobian");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, one_body);
    tcase_add_test(t, several_bodies);
    tcase_add_test(t, rows_are_exchanged);
    tcase_add_test(t, bounce);
    tcase_add_test(t, each_island_its_own_way);
    tcase_add_test(t, overlap_taken_back);
    tcase_add_test(t, at_rest_on_dry_friction);
    tcase_add_test(t, rows_are_each_reverse);
    suite_add_tcase(s, t);
    return s;
}
