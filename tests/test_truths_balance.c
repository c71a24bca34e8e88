/* test_truths_balance.c -- what leans, stacks, arches and falls, against its closed forms: the friction at which it
 * begins to move, forces and motion from there, and their derivatives.
 *
 * At rest only rounding is allowed. A limit is tried a part in ten thousand to either side of it, where not said
 * otherwise; where motion in continuous time is compared, Euler's error is O(dt), and the constant is beside it.
 */
#include "models.h"
#include "test_main.h"
#include "worlds.h"

static const double REST = 1e-11; /* m/s, rad/s: what rounding leaves of rest */

static double fastest(const world *w, int k) {
    double worst = 0;
    for (int i = 0; i < w->n.nv; i++) worst = fmax(worst, fabs(w->X[k * w->n.nx + w->n.nq + i]));
    return worst;
}

/* Runs N steps from rest, frees the world. @return the fastest that anything then moves */
static double speed_after(world w, int N) {
    world_steps(&w, N);
    world_run(&w);
    double v = fastest(&w, N);
    world_free(&w);
    return v;
}

/* A capsule of 1 kg from the centre of its lower cap at (x, z), th from the vertical towards x. */
static int rod(tribo_builder *b, const char *name, double r, double L, double x, double z, double th) {
    tribo_body_def d = tribo_default_body();
    d.name = name;
    d.pos[0] = x + 0.5 * L * sin(th), d.pos[2] = z + 0.5 * L * cos(th);
    d.quat[0] = cos(th / 2), d.quat[2] = sin(th / 2);
    tribo_geom_def g = tribo_default_geom();
    g.name = name, g.shape = TRIBO_CAPSULE, g.size[0] = r, g.size[1] = L / 2, g.mass = 1;
    g.material = world_material(1, 0);
    int body = tribo_add_body(b, &d);
    tribo_add_geom(b, body, &g);
    return body;
}

/* ---- A.11: a rod falls, its foot held by friction until it slips ---- */

enum { FALL = 6000 };
static const double FALL_DT = 1e-4, LENGTH = 0.8, START = 0.1;

/* A rod of 0.8 m and 2 kg on a foot that is nearly a point, turning as if it had fallen from upright. */
static world falling(double mu) {
    const double foot = 1e-6, m = 2, w0 = sqrt(3 * G / LENGTH * (1 - cos(START)));
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, mu, 0);
    tribo_body_def d = tribo_default_body();
    d.name = "rod", d.inertia_given = true, d.mass = m;
    for (int i = 0; i < 3; i++) d.inertia[i] = i == 2 ? 1e-3 : m * LENGTH * LENGTH / 12;
    d.pos[0] = 0.5 * LENGTH * sin(START), d.pos[2] = 0.5 * LENGTH * cos(START) + foot;
    d.quat[0] = cos(START / 2), d.quat[2] = sin(START / 2);
    tribo_geom_def g = tribo_default_geom();
    g.name = "foot", g.size[0] = foot, g.pos[2] = -0.5 * LENGTH, g.material = world_material(mu, 0);
    tribo_add_geom(b, tribo_add_body(b, &d), &g);
    world w = world_new(b, FALL_DT);
    double *v = world_v0(&w, 0);
    v[0] = 0.5 * LENGTH * w0 * cos(START), v[2] = -0.5 * LENGTH * w0 * sin(START), v[4] = w0;
    return w;
}

static double lean(const world *w, int k) {
    return 2 * atan2(world_q(w, k, 0, 5), world_q(w, k, 0, 3));
}

START_TEST(rod_falls_about_its_foot) {
    const double mu = 0.3, m = 2;
    world w = falling(mu);
    world_steps(&w, FALL);
    world_run(&w);
    int slip = 0;
    for (int k = 1; k < FALL && !slip; k++) {
        double th = lean(&w, k), rate = world_v(&w, k, 0, 4), c = cos(th), s = sin(th);
        double foot = world_v(&w, k, 0, 0) - 0.5 * LENGTH * cos(lean(&w, k - 1)) * rate;
        if (fabs(foot) > 1e-5) slip = k;
        if (slip || k % 100) continue;
        double f = m * (world_v(&w, k + 1, 0, 0) - world_v(&w, k, 0, 0)) / FALL_DT;
        double n = m * (G + (world_v(&w, k + 1, 0, 2) - world_v(&w, k, 0, 2)) / FALL_DT);
        NEAR(rate * rate, 3 * G / LENGTH * (1 - c), 20 * FALL_DT); /* h w dw/dt */
        NEAR(n, m * G * pow(3 * c - 1, 2) / 4, 300 * FALL_DT);     /* h dN/dt */
        NEAR(f, 0.75 * m * G * s * (3 * c - 2), 300 * FALL_DT);
    }
    ck_assert_int_gt(slip, 1000);
    double low = 0.1, high = 0.6; /* where friction no longer holds */
    for (int i = 0; i < 60; i++) {
        double th = 0.5 * (low + high), c = cos(th);
        *(3 * sin(th) * (3 * c - 2) < mu * pow(3 * c - 1, 2) ? &low : &high) = th;
    }
    NEAR(lean(&w, slip), low, 30 * FALL_DT * world_v(&w, slip, 0, 4));
    world_free(&w);
}
END_TEST

/* Before it slips: neither mass nor friction count, and gravity as time does: th = F(T sqrt g, w0 / sqrt g). */
START_TEST(rod_falls_by_gravity_alone) {
    enum { N = 3000 };
    world w = falling(0.3);
    world_steps(&w, N);
    world_run(&w);
    world_gradient(&w, N, 4); /* the tangent of a rotation is in the body's axes: about y, the lean */
    double rate = world_v(&w, N, 0, 4), w0 = world_v(&w, 0, 0, 4), *v = world_v0(&w, 0), by_start = 0;
    for (int i = 0; i < 6; i++) by_start += w.x_bar[world_dv(&w, 0, i)] * v[i];
    NEAR(-world_p_bar(&w, "gravity/z"), (N * FALL_DT * rate - by_start) / (2 * G), 1e-4);
    NEAR(world_p_bar(&w, "floor/friction"), 0, 1e-9);
    double mass = world_p_bar(&w, "rod/mass") * 2,
           inertia = world_p_bar(&w, "rod/inertia/yy") * 2 * LENGTH * LENGTH / 12;
    NEAR(mass + inertia, 0, 1e-9);
    ck_assert_double_gt(rate, w0);
    world_free(&w);
}
END_TEST

/* ---- A.12: ladder, house of cards, overhang ---- */

/* Against a smooth wall at x = 0; al from the floor. Its caps have a radius: the floor's friction has the lever
 * L sin al + r of the wall's push. */
static world ladder(double al, double share) {
    const double L = 2, r = 0.02, mu = share * 0.5 * L * cos(al) / (L * sin(al) + r);
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, mu, 0);
    world_wall(b, "wall", NULL, (double[4]){sqrt(0.5), 0, sqrt(0.5), 0}, world_material(0, 0));
    rod(b, "ladder", r, L, r + L * cos(al), r, al - PI / 2);
    return world_new(b, 1e-3);
}

START_TEST(ladder_stands) {
    for (int i = 0; i < 4; i++) {
        double al = 0.5 + 0.25 * i;
        ck_assert_double_le(speed_after(ladder(al, 1 + 1e-4), 50), REST);
        ck_assert_double_ge(speed_after(ladder(al, 1 - 1e-4), 50), 1e-6);
        world w = ladder(al, 1.1); /* what holds does not depend on anything but where it was put */
        world_steps(&w, 20);
        world_run(&w);
        world_gradient(&w, 20, world_dv(&w, 0, 0));
        NEAR(world_p_bar(&w, "floor/friction"), 0, 1e-10);
        NEAR(world_p_bar(&w, "ladder/mass"), 0, 1e-10);
        NEAR(world_p_bar(&w, "gravity/z"), 0, 1e-10);
        world_free(&w);
    }
}
END_TEST

static world house(double th, double share) {
    const double L = 1, r = 0.01, mu = share * 0.5 * L * sin(th) / (L * cos(th) + r);
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, mu, 0);
    rod(b, "left", r, L, -r - L * sin(th), r, th);
    rod(b, "right", r, L, r + L * sin(th), r, -th);
    return world_new(b, 1e-3);
}

START_TEST(house_of_two_cards_stands) {
    for (int i = 0; i < 4; i++) {
        double th = 0.2 + 0.2 * i;
        ck_assert_double_le(speed_after(house(th, 1 + 1e-4), 30), REST);
        ck_assert_double_ge(speed_after(house(th, 1 - 1e-4), 30), 1e-6);
    }
}
END_TEST

/* Two pairs of cards that lean against one another, and one across them. @param pull m/s, of the second card out of
 * the house */
static world house_of_five(double pull) {
    const double half = 0.15, thick = 0.002, lean = PI / 9, c = cos(lean), n = sin(lean);
    const tribo_material paper = world_material(0.6, 0);
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.6, 0);
    for (int i = 0; i < 4; i++) {
        double side = i % 2 ? 1 : -1;
        tribo_body_def d = tribo_default_body();
        d.pos[0] = 0.28 * (i / 2) + side * (half * n + thick * c), d.pos[2] = half * c + thick * n;
        d.quat[0] = cos(lean / 2), d.quat[2] = -side * sin(lean / 2);
        tribo_geom_def g = tribo_default_geom();
        g.shape = TRIBO_BOX, g.mass = 0.01, g.material = paper;
        g.size[0] = thick, g.size[1] = 0.1, g.size[2] = half;
        tribo_add_geom(b, tribo_add_body(b, &d), &g);
    }
    world_solid(b, "across", TRIBO_BOX, 0.01, (double[3]){0.2, 0.1, thick},
                (double[3]){0.14, 0, 2 * half * c + 2 * thick * n + thick}, paper);
    world w = world_new(b, 1e-3);
    world_v0(&w, 1)[1] = pull;
    return w;
}

/* Without that card the one across lies far below; nothing gains energy on the way. */
START_TEST(house_of_five_cards_falls_when_one_is_pulled) {
    enum { N = 800 };
    ck_assert_double_le(speed_after(house_of_five(0), N), REST);
    world w = house_of_five(3);
    world_steps(&w, N);
    world_run(&w);
    double start = tribo_energy(w.m, w.p, w.X), before = start;
    for (int k = 1; k <= N; k++) {
        double now = tribo_energy(w.m, w.p, w.X + k * w.n.nx);
        ck_assert_double_le(now - before, 1e-12 * start);
        before = now;
    }
    ck_assert_double_gt(world_q(&w, N, 1, 1), 0.2); /* out of the house, which is as wide */
    ck_assert_double_lt(world_q(&w, N, 4, 2), 0.5 * world_q(&w, 0, 4, 2));
    world_free(&w);
}
END_TEST

/* Boxes of length 1 on a table, each as far out over that below as it can be: n reach sum 1/(2k). */
static world overhang(int n, double share) {
    tribo_builder *b = tribo_builder_new(NULL);
    char name[16];
    tribo_geom_def table = tribo_default_geom();
    table.name = "table", table.shape = TRIBO_BOX, table.pos[0] = -1, table.pos[2] = -0.1;
    table.size[0] = 1, table.size[1] = 1, table.size[2] = 0.1, table.material = world_material(0.5, 0);
    tribo_add_geom(b, TRIBO_WORLD, &table);
    double edge = 0;
    for (int k = n; k >= 1; k--) {
        edge += share / (2 * k);
        snprintf(name, sizeof name, "box%d", k);
        world_solid(b, name, TRIBO_BOX, 1, (double[3]){0.5, 0.2, 0.05},
                    (double[3]){edge - 0.5, 0, 0.05 + 0.1 * (n - k)}, world_material(0.5, 0));
    }
    return world_new(b, 1e-3);
}

START_TEST(harmonic_stack_stands) {
    for (int n = 1; n <= 6; n++) {
        ck_assert_double_le(speed_after(overhang(n, 1 - 1e-4), 20), 1e-10);
        ck_assert_double_ge(speed_after(overhang(n, 1 + 1e-4), 20), 1e-6);
    }
}
END_TEST

/* ---- A.14: Painleve's rod ---- */

/* A rod of half length 0.5 and 1 kg, th from the floor, its lower end sliding at V. @param at [out] the contact from
 * the centre of mass, along x and z */
static world chalk(double mu, double th, double V, double at[2]) {
    const double l = 0.5, tip = 1e-3;
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, mu, 0);
    tribo_body_def d = tribo_default_body();
    d.name = "rod", d.inertia_given = true, d.mass = 1;
    for (int i = 0; i < 3; i++) d.inertia[i] = l * l / 3;
    tribo_geom_def g = tribo_default_geom();
    g.name = "tip", g.size[0] = tip, g.pos[0] = -l * cos(th), g.pos[2] = -l * sin(th);
    at[0] = g.pos[0], at[1] = g.pos[2] - tip, d.pos[2] = -at[1];
    tribo_add_geom(b, tribo_add_body(b, &d), &g);
    world w = world_new(b, 1e-3);
    world_v0(&w, 0)[0] = V;
    return w;
}

START_TEST(rod_slides_as_long_as_it_can) {
    const double mu = 1.3, I = 1. / 12, h = 1e-3; /* below 4/3 there is always one answer */
    for (int i = 0; i < 40; i++) {
        double at[2], th = 0.02 + 0.038 * i, V = i % 2 ? 3 : -3, side = V > 0 ? 1 : -1;
        world w = chalk(mu, th, V, at);
        world_steps(&w, 1);
        world_run(&w);
        double p = 1 + at[0] * at[0] / I + mu * side * at[0] * at[1] / I, by_mu = side * at[0] * at[1] / I;
        ck_assert_double_gt(p, 0);
        double push = G * h / p, turn = -push * (at[0] + mu * side * at[1]) / I;
        NEAR(world_v(&w, 1, 0, 2), push - G * h, 1e-12);
        NEAR(world_v(&w, 1, 0, 0), V - mu * side * push, 1e-12);
        NEAR(world_v(&w, 1, 0, 4), turn, 1e-12);
        world_gradient(&w, 1, world_dv(&w, 0, 2));
        /* Where it nearly jams the reverse leans on what keeps it solvable. */
        NEAR(world_p_bar(&w, "floor/friction") / (-push * by_mu / p), 1, 2e-10 / (p * p));
        NEAR(-world_p_bar(&w, "gravity/z"), h / p - h, 2e-10 * h / (p * p * p));
        world_free(&w);
    }
}
END_TEST

/* Beyond 4/3 there are angles at which no force lets it slide on: it jams at once, and gains nothing. */
START_TEST(rod_jams_where_it_cannot_slide) {
    int jammed = 0;
    for (int i = 0; i < 40; i++) {
        const double mu = 2, I = 1. / 12;
        double at[2], th = 0.02 + 0.038 * i;
        world w = chalk(mu, th, -3, at);
        if (1 + at[0] * at[0] / I - mu * at[0] * at[1] / I < 0) {
            double before = tribo_energy(w.m, w.p, w.x0);
            world_steps(&w, 1);
            world_run(&w);
            double turn = world_v(&w, 1, 0, 4);
            NEAR(world_v(&w, 1, 0, 0) + turn * at[1], 0, 1e-12);
            ck_assert_double_ge(world_v(&w, 1, 0, 2) - turn * at[0], -1e-12);
            ck_assert_double_le(tribo_energy(w.m, w.p, w.X + w.n.nx), before);
            jammed++;
        }
        world_free(&w);
    }
    ck_assert_int_ge(jammed, 10);
}
END_TEST

/* ---- A.18: a masonry arch ---- */

enum { STONES = 10 }; /* a joint at the crown, and at 54 degrees from it, next to where a thin arch hinges: 54.5 */

/* A stone between two radial joints, of the mass and the centre of a sector of the ring. */
static void stone(tribo_builder *b, int k, double inner, double outer, double mu) {
    const double half = PI / STONES / 2, y = 0.1, area = half * (outer * outer - inner * inner);
    double mid = (2 * k + 1) * half, far = 2. / 3 * (pow(outer, 3) - pow(inner, 3)) / (outer * outer - inner * inner);
    double vertex[8][3];
    char name[24];
    tribo_body_def d = tribo_default_body();
    tribo_mesh_def shape = tribo_default_mesh();
    tribo_geom_def g = tribo_default_geom();
    snprintf(name, sizeof name, "stone%d", k);
    far *= sin(half) / half;
    d.name = name, d.pos[0] = far * cos(mid), d.pos[2] = far * sin(mid);
    d.inertia_given = true, d.mass = 1000 * area * 2 * y;
    for (int i = 0; i < 3; i++) d.inertia[i] = d.mass * 0.02;
    for (int i = 0; i < 8; i++) {
        double r = i & 1 ? outer : inner, angle = mid + (i & 2 ? half : -half);
        vertex[i][0] = r * cos(angle) - d.pos[0], vertex[i][1] = i & 4 ? y : -y,
        vertex[i][2] = r * sin(angle) - d.pos[2];
    }
    shape.name = name, shape.vertex = vertex[0], shape.nvertex = 8;
    g.name = name, g.shape = TRIBO_MESH, g.mesh = tribo_add_mesh(b, &shape), g.material = world_material(mu, 0);
    tribo_add_geom(b, tribo_add_body(b, &d), &g);
}

/* Of mean radius 1, on the floor. */
static double arch(double thickness, double mu) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, mu, 0);
    for (int k = 0; k < STONES; k++) stone(b, k, 1 - thickness / 2, 1 + thickness / 2, mu);
    return speed_after(world_new(b, 1e-3), 5);
}

/* Stands from a thickness of 0.1075 on (Milankovitch 1907), if friction is above 0.3958 (Cocchetti and Rizzi 2020); a
 * thicker one down to about 0.31, below which none does. Ten stones hinge a little beside the weakest joint. */
START_TEST(arch_stands) {
    ck_assert_double_le(arch(0.109, 0.6), 1e-9);
    ck_assert_double_ge(arch(0.1065, 0.6), 1e-6);
    ck_assert_double_le(arch(0.2, 0.36), 1e-9);
    ck_assert_double_ge(arch(0.2, 0.28), 1e-5);
    ck_assert_double_ge(arch(0.109, 0.28), 1e-5);
}
END_TEST

/* ---- A.19: a box drawn from under balls ---- */

/* 150 N along the diagonal on 10 kg with 25 balls of 1 kg on it: they roll, it slides. */
START_TEST(balls_roll_on_a_box_that_slides) {
    const double M = 10, m = 1, mu = 0.4, F = 150;
    enum { N = 50, BALLS = 25 };
    const double h = 1e-3, heavy = M + 2 * BALLS * m / 7, a = (F - mu * (M + BALLS * m) * G) / heavy, c = sqrt(0.5);
    tribo_builder *b = tribo_builder_new(NULL);
    char name[16];
    world_floor(b, mu, 0);
    world_solid(b, "box", TRIBO_BOX, M, (double[3]){1, 1, 0.1}, (double[3]){0, 0, 0.1}, world_material(0.8, 0));
    for (int k = 0; k < BALLS; k++) {
        snprintf(name, sizeof name, "ball%d", k);
        world_ball(b, name, m, 0.1, 0.35 * (k % 5 - 2), 0.35 * (k / 5 - 2), 0.3, world_material(0.8, 0));
    }
    world w = world_new(b, h);
    world_steps(&w, N);
    for (int k = 0; k < N; k++) w.U[k * w.n.nu] = w.U[k * w.n.nu + 1] = F * c;
    world_run(&w);
    NEAR(a, 0.7385, 1e-4);
    NEAR(world_v(&w, N, 0, 0) * c + world_v(&w, N, 0, 1) * c, a * N * h, 1e-11);
    NEAR(world_v(&w, N, 0, 0) - world_v(&w, N, 0, 1), 0, 1e-11);
    for (int k = 1; k <= BALLS; k++)
        for (int i = 0; i < 2; i++) NEAR(world_v(&w, N, k, i), 2. / 7 * a * c * N * h, 1e-11);
    w.lx[N * w.n.ndx + world_dv(&w, 0, 0)] = w.lx[N * w.n.ndx + world_dv(&w, 0, 1)] = c;
    world_reverse(&w);
    NEAR(world_p_bar(&w, "floor/friction"), -(M + BALLS * m) * G * N * h / heavy, 1e-9);
    NEAR(c * (w.u_bar[0] + w.u_bar[1]), h / heavy, 1e-11);
    NEAR(world_p_bar(&w, "gravity/z"), mu * (M + BALLS * m) * N * h / heavy, 1e-9);
    world_free(&w);
}
END_TEST

/* ---- a box that slides and turns on the floor, flush or tilted by as much as rounding ---- */

enum { FEET = 4 };

static void loads_of_a_box(const tribo_model *m, double across, double along, double load[FEET]) {
    const double half = 0.1;
    tribo_options o = tribo_default_options();
    o.dt = 1e-3;
    tribo_ws *ws = NULL;
    ck_assert_int_eq(tribo_ws_new(m, &o, NULL, &ws, NULL), TRIBO_OK);
    double p[200],
        x[13] = {[2] = half + (across != 0 ? 1e-13 : 0), [3] = 1, [4] = across / 2, [5] = along / 2, [7] = 1, [12] = 2},
        next[13];
    ck_assert_int_le(tribo_model_sizes(m).np, 200);
    tribo_model_params(m, p);
    ck_assert_int_eq(tribo_step(ws, p, x, NULL, next, NULL), TRIBO_OK);
    int n = 0;
    const tribo_contact *c = tribo_last_contacts(ws, &n);
    ck_assert_int_eq(n, FEET);
    for (int k = 0; k < FEET; k++) load[k] = c[k].impulse[2];
    tribo_ws_free(ws);
}

/* Two of its corners are apart by more than gaps are rounded, two by less: taken as zero, these would ask for what no
 * rigid body does, and have the load shared by a thousandth otherwise. */
START_TEST(a_tilt_moves_no_load) {
    tribo_model *m = model_of("<mujoco><worldbody><geom type='plane' size='5 5 .1' friction='.5 0 0'/><body>"
                              "<freejoint/><geom type='box' size='.1 .1 .1' friction='.5 0 0'/></body></worldbody>"
                              "</mujoco>");
    double flush[FEET], tilted[FEET];
    loads_of_a_box(m, 0, 0, flush);
    loads_of_a_box(m, 3e-12, 5e-12, tilted);
    for (int k = 0; k < FEET; k++) NEAR(tilted[k] / flush[k], 1, 1e-5);
    tribo_model_free(m);
}
END_TEST

/* ---- a light box on a heavy one that begins to turn over, in frames of its own or others ---- */

/* r turned by the unit quaternion q; back = -1: by its inverse. */
static void turn(const double q[4], double back, const double r[3], double out[3]) {
    double u[3] = {back * q[1], back * q[2], back * q[3]}, a[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        a[i] = u[j] * r[k] - u[k] * r[j] + q[0] * r[i];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = r[i] + 2 * (u[j] * a[k] - u[k] * a[j]);
    }
}

/* Velocity of the heavy box and both spins, in the world, after a step of which the bodies' frames
 * are turned by the quaternion q against their shapes. */
static void turn_over(const double q[4], double v[9]) {
    char text[2000];
    int n = snprintf(
        text, sizeof text,
        "<mujoco><option timestep='2e-4'/><worldbody>"
        "<geom type='plane' size='5 5 .1' friction='.39'/>"
        "<body pos='0 0 .123' quat='%.17g %.17g %.17g %.17g'><freejoint/>"
        "<geom type='box' mass='7' size='.21 .32 .123' quat='%.17g %.17g %.17g %.17g' friction='.3'/></body>"
        "<body pos='0 0 .329' quat='%.17g %.17g %.17g %.17g'><freejoint/>"
        "<geom type='box' mass='.05' size='.22 .14 .083' quat='%.17g %.17g %.17g %.17g' friction='1.4'/></body>"
        "</worldbody></mujoco>",
        q[0], q[1], q[2], q[3], q[0], -q[1], -q[2], -q[3], q[0], q[1], q[2], q[3], q[0], -q[1], -q[2], -q[3]);
    ck_assert_int_lt(n, (int)sizeof text);
    world w = world_of(model_of(text), NULL);
    const double spin[3] = {2.2, -0.06, -2.4}, at[3] = {0.4, 1.3, 0.5};
    double *v0 = world_v0(&w, 0);
    memcpy(v0, at, sizeof at);
    turn(q, -1, spin, v0 + 3);
    world_steps(&w, 1);
    world_run(&w);
    for (int i = 0; i < 3; i++) v[i] = world_v(&w, 1, 0, i);
    for (int body = 0; body < 2; body++) {
        double now[4], turned[3];
        for (int i = 0; i < 4; i++) now[i] = world_q(&w, 1, body, 3 + i);
        for (int i = 0; i < 3; i++) turned[i] = world_v(&w, 1, body, 3 + i);
        turn(now, 1, turned, v + 3 + 3 * body);
    }
    world_free(&w);
}

START_TEST(frames_say_nothing_of_how_load_is_shared) {
    const double level[4] = {1}, turned[3][4] = {{0.5, -0.7, 0.1, 0.5}, {0.1, 0.1, 0.7, -0.7}, {0.7, 0.5, -0.5, 0.1}};
    double v[9], u[9];
    turn_over(level, v);
    for (int k = 0; k < 3; k++) {
        turn_over(turned[k], u);
        for (int i = 0; i < 9; i++) NEAR(u[i], v[i], 1e-11);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("truths of balance");
    TCase *t = tcase_create("balance");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, rod_falls_about_its_foot);
    tcase_add_test(t, rod_falls_by_gravity_alone);
    tcase_add_test(t, ladder_stands);
    tcase_add_test(t, house_of_two_cards_stands);
    tcase_add_test(t, house_of_five_cards_falls_when_one_is_pulled);
    tcase_add_test(t, harmonic_stack_stands);
    tcase_add_test(t, rod_slides_as_long_as_it_can);
    tcase_add_test(t, rod_jams_where_it_cannot_slide);
    tcase_add_test(t, arch_stands);
    tcase_add_test(t, balls_roll_on_a_box_that_slides);
    tcase_add_test(t, a_tilt_moves_no_load);
    tcase_add_test(t, frames_say_nothing_of_how_load_is_shared);
    suite_add_tcase(s, t);
    return s;
}
