/* test_misuse_model.c -- models that cannot be, each refused with what is wrong; and what is asked of none.
 *
 * To add a flaw: a row FLAW(words of the message, what makes it of a sound scene).
 */
#include "test_main.h"
#include "worlds.h"
#include <tribo/tribo.h>

enum { FLOOR, BOX_GEOM, ARM_GEOM, BALL_GEOM };
enum { BOX, ARM, BALL };
enum { HINGE, SOCKET };
enum { MARK, STILL };

static const double height[4] = {0, 0.1, 0.1, 0};
static const double corner[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};

/* A box that is free, an arm on a hinge, a bob on a ball; a site that moves and one of the world. */
static tribo_builder *scene(void) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_joint_def j = tribo_default_joint();
    tribo_site_def site = tribo_default_site();
    world_floor(b, 0.5, 0);
    world_box(b, "box", 1, 0.1, 0, 0, 0.1, world_material(0.5, 0));
    world_box(b, "arm", 1, 0.1, 1, 0, 1, world_material(0.5, 0));
    j.name = "hinge", tribo_add_joint(b, ARM, &j);
    world_ball(b, "bob", 1, 0.1, 2, 0, 1, world_material(0.5, 0));
    j.name = "socket", j.kind = TRIBO_JOINT_BALL, tribo_add_joint(b, BALL, &j);
    site.name = "mark", tribo_add_site(b, ARM, &site);
    site.name = "still", tribo_add_site(b, TRIBO_WORLD, &site);
    return b;
}

/* A tetrahedron and a field of two triangles. */
static void meshes(tribo_builder *b) {
    tribo_mesh_def m = tribo_default_mesh();
    tribo_hfield_def f = tribo_default_hfield();
    m.vertex = corner, m.nvertex = 4;
    f.height = height, f.nrow = f.ncol = 2;
    ck_assert_int_eq(tribo_add_mesh(b, &m), 0);
    ck_assert_int_eq(tribo_add_hfield(b, &f), 1);
}

static void refused(tribo_builder *b, const char *words, const char *by) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_build(b, &m, &diag);
    ck_assert_msg(s == (strstr(words, "not made by") ? TRIBO_E_DEF : TRIBO_E_ARG) && !m, "%s: %s", by, diag.text);
    ck_assert_msg(strstr(diag.text, words), "%s: `%s` says nothing of `%s`", by, diag.text, words);
}

#define FLAW(words, ...)                                                                                               \
    do {                                                                                                               \
        tribo_builder *b = scene();                                                                                    \
        __VA_ARGS__;                                                                                                   \
        refused(b, words, #__VA_ARGS__);                                                                               \
    } while (0)
#define WITH(kind, add, ...)                                                                                           \
    do {                                                                                                               \
        tribo_##kind##_def d = tribo_default_##kind();                                                                 \
        __VA_ARGS__;                                                                                                   \
        add;                                                                                                           \
    } while (0)
#define BODY(...)                                                                                                      \
    WITH(body, tribo_add_body(b, &d), d.inertia_given = true; d.mass = 1; d.inertia[0] = d.inertia[1] = 1;             \
         d.inertia[2] = 1; __VA_ARGS__)
#define ON(body, ...) WITH(joint, tribo_add_joint(b, body, &d), __VA_ARGS__)
#define GEOM(...) WITH(geom, tribo_add_geom(b, BOX, &d), d.size[0] = 1; __VA_ARGS__)
#define SITE(body, ...) WITH(site, tribo_add_site(b, body, &d), __VA_ARGS__)
#define PAIR(...) WITH(pair, tribo_add_pair(b, &d), d.geom_a = BOX_GEOM; d.geom_b = ARM_GEOM; __VA_ARGS__)
#define HELD(...) WITH(equality, tribo_add_equality(b, &d), d.a = BOX; d.b = ARM; __VA_ARGS__)
#define DRIVE(...) WITH(actuator, tribo_add_actuator(b, &d), d.njoint = 1; d.joint = (const int[]){HINGE}; __VA_ARGS__)
#define ALONG(...)                                                                                                     \
    WITH(tendon, tribo_add_tendon(b, &d), d.njoint = 1; d.joint = (const int[]){HINGE}; d.range[1] = 1; __VA_ARGS__)
#define MESH(...) WITH(mesh, tribo_add_mesh(b, &d), d.vertex = corner; d.nvertex = 4; __VA_ARGS__)
#define FIELD(...) WITH(hfield, tribo_add_hfield(b, &d), d.height = height; d.nrow = d.ncol = 2; __VA_ARGS__)

START_TEST(bodies_and_joints) {
    FLAW("no such parent", BODY(d.parent = 3));
    FLAW("no such parent", BODY(d.parent = -2));
    FLAW("one after the other", BODY(d.parent = BOX));
    FLAW("gravcomp is not finite", BODY(d.gravcomp = NAN));
    FLAW("pos is beyond 1e10 m", BODY(d.pos[1] = 1e300));
    FLAW("com is not finite, or beyond", BODY(d.com[1] = -1e11));
    FLAW("pos beyond 1e10 m", ON(BALL, d.pos[2] = 1e300));
    FLAW("quat has no direction", BODY(d.quat[0] = 0));
    FLAW("quat has no direction", BODY(d.quat[1] = INFINITY));
    FLAW("mass must be > 0", BODY(d.mass = INFINITY));
    FLAW("com is not finite", BODY(d.com[1] = NAN));
    FLAW("already", BODY(d.name = "arm"));
    FLAW("longer than", BODY(d.name = "a name that goes on and on and on, and on, and on, and on after that, and on"));
    FLAW("control characters", BODY(d.name = "a\tb"));
    FLAW("control characters", BODY(d.name = "a\x7f"));
    FLAW("not allowed", BODY(d.name = "gravity"));
    FLAW("not allowed", BODY(d.name = "gravity/x"));
    FLAW("not allowed", BODY(d.name = " a"));
    FLAW("not allowed", BODY(d.name = "a "));
    FLAW("not made by", tribo_add_body(b, NULL));
    FLAW("added last", ON(ARM, (void)d));
    FLAW("added last", ON(TRIBO_WORLD, (void)d));
    FLAW("six joints", for (int i = 0; i < 6; i++) ON(BALL, (void)d));
    FLAW("no such kind", ON(BALL, d.kind = (tribo_joint_kind)9));
    FLAW("axis has no direction", ON(BALL, d.axis[0] = INFINITY));
    FLAW("pos or ref", ON(BALL, d.ref = NAN));
    FLAW("pos or ref", ON(BALL, d.pos[2] = NAN));
    FLAW("no ref and no springref", ON(BALL, d.kind = TRIBO_JOINT_BALL; d.ref = 1));
    FLAW("no ref and no springref", ON(BALL, d.kind = TRIBO_JOINT_BALL; d.springref = 1));
    FLAW("begins at 0", ON(BALL, d.kind = TRIBO_JOINT_BALL; d.limited = true; d.range[0] = -1; d.range[1] = 1));
    FLAW("already", ON(BALL, d.name = "hinge"));
    FLAW("not made by", tribo_add_joint(b, BALL, NULL));
}
END_TEST

START_TEST(geoms_sites_and_meshes) {
    FLAW("no such body", WITH(geom, tribo_add_geom(b, -2, &d), d.size[0] = 1));
    FLAW("mass is not finite", GEOM(d.mass = NAN));
    FLAW("density must be >= 0", GEOM(d.density = -1));
    FLAW("density must be >= 0", GEOM(d.density = INFINITY));
    FLAW("margin must be >= 0", GEOM(d.margin = -1));
    FLAW("margin must be >= 0", GEOM(d.margin = INFINITY));
    FLAW("margin must be >= 0", GEOM(d.gap = NAN));
    FLAW("pos is not finite", GEOM(d.pos[0] = NAN));
    FLAW("beyond 1e10 m", GEOM(d.pos[0] = 1e300));
    FLAW("size is beyond 1e10 m", GEOM(d.size[0] = 1e300));
    FLAW("no such mesh", GEOM(d.shape = TRIBO_MESH; d.mesh = -1));
    FLAW("no such mesh", GEOM(d.shape = TRIBO_MESH; d.mesh = 0));
    FLAW("is a height field", meshes(b); GEOM(d.shape = TRIBO_MESH; d.mesh = 1));
    FLAW("no height field", meshes(b);
         WITH(geom, tribo_add_geom(b, TRIBO_WORLD, &d), d.shape = TRIBO_HFIELD; d.mesh = 0));
    FLAW("height field cannot move", meshes(b); GEOM(d.shape = TRIBO_HFIELD; d.mesh = 1));
    FLAW("not made by", tribo_add_geom(b, BOX, NULL));
    FLAW("four vertices", MESH(d.nvertex = 3));
    FLAW("four vertices", MESH(d.vertex = NULL));
    FLAW("four vertices", MESH(d.ntriangle = -1));
    FLAW("four vertices", MESH(d.ntriangle = 1));
    static const double SPECK[4][3] = {{0, 0, 0}, {1e-12, 0, 0}, {0, 1e-12, 0}, {0, 0, 1e-12}};
    FLAW("less than 1e-09 m", MESH(d.vertex = SPECK[0]));
    FLAW("no such way to weigh", MESH(d.mass = (tribo_mesh_mass)3));
    FLAW("not made by", tribo_add_mesh(b, NULL));
    FLAW("two rows", FIELD(d.nrow = 1));
    FLAW("two rows", FIELD(d.ncol = 1));
    FLAW("heights are missing", FIELD(d.height = NULL));
    FLAW("base must be > 0", FIELD(d.base = 0));
    FLAW("base must be > 0", FIELD(d.base = INFINITY));
    FLAW("hfield hills:", FIELD(d.name = "hills"; d.base = NAN));
    FLAW("not made by", tribo_add_hfield(b, NULL));
    FLAW("no such body", SITE(3, (void)d));
    FLAW("no such body", SITE(-2, (void)d));
    FLAW("pos is not finite", SITE(ARM, d.pos[0] = NAN));
    FLAW("quat has no direction", SITE(ARM, d.quat[0] = 0));
    FLAW("already", SITE(ARM, d.name = "still"));
    FLAW("not allowed", SITE(ARM, d.name = "gravity"));
    FLAW("not made by", tribo_add_site(b, ARM, NULL));
}
END_TEST

START_TEST(what_acts_between_them) {
    FLAW("no such geom", PAIR(d.geom_b = 4));
    FLAW("no such geom", PAIR(d.geom_a = -1));
    FLAW("on the same body", PAIR(d.geom_b = BOX_GEOM));
    FLAW("neither of its geoms moves", PAIR(d.geom_a = d.geom_b = FLOOR));
    FLAW("margin must be >= 0", PAIR(d.margin = -1));
    FLAW("a pair already", PAIR((void)d); PAIR(d.geom_a = ARM_GEOM; d.geom_b = BOX_GEOM));
    FLAW("of this name already", PAIR(d.name = "p"); PAIR(d.name = "p"; d.geom_b = BALL_GEOM));
    FLAW("a geom has this name", PAIR(d.name = "bob"));
    FLAW("not allowed", PAIR(d.name = "gravity"));
    FLAW("not made by", tribo_add_pair(b, NULL));
    FLAW("no such body", tribo_add_exclude(b, -2, BOX));
    FLAW("no such body", tribo_add_exclude(b, 3, BOX));
    FLAW("no such body", tribo_add_exclude(b, BOX, -2));
    FLAW("held to itself", HELD(d.b = BOX));
    FLAW("no such body", HELD(d.b = 3));
    FLAW("no such body", HELD(d.a = -2));
    FLAW("no such body", HELD(d.kind = TRIBO_EQUALITY_WELD; d.a = 3));
    FLAW("no such kind", HELD(d.kind = (tribo_equality_kind)9));
    FLAW("no such hinge", HELD(d.kind = TRIBO_EQUALITY_JOINT; d.a = SOCKET; d.b = HINGE));
    FLAW("no such hinge", HELD(d.kind = TRIBO_EQUALITY_JOINT; d.a = HINGE; d.b = SOCKET));
    FLAW("no such hinge", HELD(d.kind = TRIBO_EQUALITY_JOINT; d.a = 2; d.b = -1));
    FLAW("not finite", HELD(d.pos_b[1] = NAN));
    FLAW("no direction", HELD(d.quat[0] = 0));
    FLAW("not made by", tribo_add_equality(b, NULL));
    FLAW("on no joint", DRIVE(d.njoint = 0));
    FLAW("on no joint", DRIVE(d.joint = NULL));
    FLAW("no hinge and no slide", DRIVE(d.joint = (const int[]){SOCKET}));
    FLAW("no hinge and no slide", DRIVE(d.joint = (const int[]){-1}));
    FLAW("coefficient is not finite", DRIVE(d.coef = (const double[]){NAN}));
    FLAW("not finite", DRIVE(d.gear = NAN));
    FLAW("not finite", DRIVE(d.dampratio = NAN));
    FLAW("ctrlrange", DRIVE(d.ctrl_limited = true; d.ctrlrange[0] = 1));
    FLAW("forcerange", DRIVE(d.force_limited = true; d.forcerange[0] = 1));
    FLAW("no such site", DRIVE(d.njoint = 0; d.site = 2));
    FLAW("its site does not move", DRIVE(d.njoint = 0; d.site = STILL));
    FLAW("on joints and at a site", DRIVE(d.site = MARK));
    FLAW("wrench is not finite", DRIVE(d.njoint = 0; d.site = MARK; d.wrench[3] = NAN));
    FLAW("dampratio is not 0", DRIVE(d.njoint = 0; d.site = MARK; d.dampratio = 1));
    FLAW("of this name already", DRIVE(d.name = "a"); DRIVE(d.name = "a"));
    FLAW("not made by", tribo_add_actuator(b, NULL));
    FLAW("it has no joint", ALONG(d.njoint = 0));
    FLAW("it has no joint", ALONG(d.joint = NULL));
    FLAW("no hinge and no slide", ALONG(d.joint = (const int[]){SOCKET}));
    FLAW("coefficient is not finite", ALONG(d.coef = (const double[]){NAN}));
    FLAW("no joint counts",
         ALONG(d.njoint = 2; d.joint = (const int[]){HINGE, HINGE}; d.coef = (const double[]){1, -1}));
    FLAW("in rising order", ALONG(d.range[1] = 0));
    FLAW("a number is not finite", ALONG(d.range[0] = -INFINITY));
    FLAW("of this name already", ALONG(d.name = "t"); ALONG(d.name = "t"));
    FLAW("more than two trees", BODY((void)d); ON(3, (void)d); BODY((void)d); ON(4, (void)d);
         ALONG(d.njoint = 3; d.joint = (const int[]){HINGE, 2, 3}));
    FLAW("not made by", tribo_add_tendon(b, NULL));
    FLAW("no range of forces", tribo_cap_joint(b, SOCKET, -1, 1));
    FLAW("no range of forces", tribo_cap_joint(b, HINGE, 1, -1));
    FLAW("no range of forces", tribo_cap_joint(b, HINGE, -INFINITY, 1));
    FLAW("no range of forces", tribo_cap_joint(b, HINGE, 0, INFINITY));
    FLAW("of this name already", tribo_add_key(b, "k", NULL, NULL, NULL); tribo_add_key(b, "k", NULL, NULL, NULL));
    FLAW("after the last key", tribo_add_key(b, "k", NULL, NULL, NULL); DRIVE((void)d);
         tribo_add_key(b, "l", NULL, NULL, NULL));
    FLAW("not allowed", tribo_add_key(b, " k", NULL, NULL, NULL));
    FLAW("timestep must be > 0", tribo_set_timestep(b, INFINITY));
}
END_TEST

/* After a flaw, and without a builder, nothing is added; the first flaw is the one that is told. */
START_TEST(nothing_after_a_flaw) {
    const double zero[64] = {0};
    for (int none = 0; none < 2; none++) {
        tribo_builder *spoilt = none ? NULL : scene(), *b = spoilt;
        if (b) tribo_set_timestep(b, -1);
        tribo_body_def body = tribo_default_body();
        tribo_joint_def joint = tribo_default_joint();
        tribo_geom_def geom = tribo_default_geom();
        tribo_site_def site = tribo_default_site();
        tribo_mesh_def mesh = tribo_default_mesh();
        tribo_hfield_def field = tribo_default_hfield();
        tribo_pair_def pair = tribo_default_pair();
        tribo_equality_def equality = tribo_default_equality();
        tribo_actuator_def actuator = tribo_default_actuator();
        ck_assert(tribo_add_body(b, &body) == -2 && tribo_add_joint(b, BALL, &joint) == -1);
        ck_assert(tribo_add_geom(b, BOX, &geom) == -1 && tribo_add_site(b, BOX, &site) == -1);
        ck_assert(tribo_add_mesh(b, &mesh) == -1 && tribo_add_hfield(b, &field) == -1);
        ck_assert(tribo_add_pair(b, &pair) == -1 && tribo_add_equality(b, &equality) == -1);
        ck_assert(tribo_add_actuator(b, &actuator) == -1 && tribo_add_key(b, NULL, NULL, NULL, NULL) == -1);
        tribo_cap_joint(b, HINGE, -1, 1), tribo_add_exclude(b, BOX, ARM), tribo_set_gravity(b, zero);
        tribo_set_timestep(b, 1), tribo_set_law(b, NULL), tribo_set_start(b, zero, zero);
        if (b) refused(b, "timestep", "a flaw");
    }
}
END_TEST

/* Of what is not there, and of no model, there is no name and no place. */
START_TEST(names_and_places_of_nothing) {
    tribo_model *m = NULL;
    double x[64], dx[64], u[64];
    tribo_builder *b = scene();
    WITH(actuator, tribo_add_actuator(b, &d), d.name = "motor"; d.njoint = 1; d.joint = (const int[]){HINGE});
    ck_assert_int_eq(tribo_add_key(b, "home", NULL, NULL, (const double[]){0.25}), 0);
    ck_assert_int_eq(tribo_build(b, &m, NULL), TRIBO_OK);
    tribo_sizes n = tribo_model_sizes(m);
    const struct {
        const char *(*name)(const tribo_model *, int);
        int (*find)(const tribo_model *, const char *);
        int count;
    } KIND[] = {{tribo_model_body_name, tribo_model_body_find, n.nbody},
                {tribo_model_geom_name, tribo_model_geom_find, n.ngeom},
                {tribo_model_joint_name, tribo_model_joint_find, n.njoint},
                {tribo_model_site_name, tribo_model_site_find, n.nsite},
                {tribo_model_actuator_name, tribo_model_actuator_find, n.nactuator},
                {tribo_model_key_name, tribo_model_key_find, tribo_model_keys(m)}};
    for (size_t k = 0; k < sizeof KIND / sizeof *KIND; k++) {
        ck_assert_int_gt(KIND[k].count, 0);
        for (int i = 0; i < KIND[k].count; i++) ck_assert_int_eq(KIND[k].find(m, KIND[k].name(m, i)), i);
        ck_assert(!KIND[k].name(m, -1) && !KIND[k].name(m, KIND[k].count) && !KIND[k].name(NULL, 0));
        ck_assert(KIND[k].find(m, "nobody") == -1 && KIND[k].find(m, NULL) == -1 && KIND[k].find(NULL, "box") == -1);
    }
    static int (*const PLACE[])(const tribo_model *, int) = {tribo_model_joint_q, tribo_model_joint_v,
                                                             tribo_model_body_q, tribo_model_body_v};
    for (int k = 0; k < 4; k++) ck_assert(PLACE[k](m, -1) == -1 && PLACE[k](m, 9) == -1 && PLACE[k](NULL, 0) == -1);
    ck_assert(tribo_model_body_q(m, BOX) == 0 && tribo_model_body_v(m, ARM) == 6 &&
              tribo_model_joint_q(m, SOCKET) == 8);
    ck_assert(tribo_model_body_free(m, BOX) && !tribo_model_body_free(m, ARM) && !tribo_model_body_free(m, 9));
    ck_assert(!tribo_model_body_free(m, -1) && !tribo_model_body_free(NULL, 0));
    ck_assert(tribo_model_turns(m, 3) && !tribo_model_turns(m, 2) && tribo_model_turns(m, 6));
    ck_assert(!tribo_model_turns(m, -1) && !tribo_model_turns(m, n.nv) && !tribo_model_turns(NULL, 3));
    ck_assert(tribo_model_site_body(m, MARK) == ARM && tribo_model_site_body(m, 9) == TRIBO_WORLD);
    ck_assert(tribo_model_keys(NULL) == 0);
    for (int i = 0; i < 64; i++) x[i] = dx[i] = u[i] = 7;
    tribo_model_key(m, 0, x, u);
    ck_assert(u[n.nv] == 0.25 && x[0] == 0 && x[2] == 0.1);
    tribo_model_key(m, 1, x, u); /* no such key: controls are zero */
    ck_assert(u[n.nv] == 0);
    x[0] = 7, tribo_model_key(NULL, 0, x, u), tribo_model_key(m, 0, NULL, u);
    ck_assert(x[0] == 7 && u[n.nv] == 0.25);
    tribo_state_add(m, NULL, dx, u), tribo_state_add(m, x, NULL, u), tribo_state_add(m, x, dx, NULL);
    tribo_state_difference(NULL, x, x, dx), tribo_state_difference(m, x, NULL, dx);
    ck_assert(u[n.nv] == 0.25 && dx[0] == 7);
    tribo_model_free(m);
}
END_TEST

#define REFUSED(call) ck_assert_msg((call) == TRIBO_E_ARG, "%s", #call)

/* Of a body or site that is not there, or by dynamics without a state. */
static void nowhere(tribo_dynamics *d, int body, int site, double *a) {
    REFUSED(tribo_body_pose(d, body, a, a)), REFUSED(tribo_site_pose(d, site, a, a));
    REFUSED(tribo_body_pose_vjp(d, body, a, a, a, a)), REFUSED(tribo_site_pose_vjp(d, site, a, a, a, a));
    REFUSED(tribo_body_velocity(d, body, a)), REFUSED(tribo_site_velocity(d, site, a));
    REFUSED(tribo_body_velocity_vjp(d, body, a, a, a, a)), REFUSED(tribo_site_velocity_vjp(d, site, a, a, a, a));
    REFUSED(tribo_body_jacobian(d, body, a)), REFUSED(tribo_site_jacobian(d, site, a));
    REFUSED(tribo_body_jacobian_vjp(d, body, a, a, a)), REFUSED(tribo_site_jacobian_vjp(d, site, a, a, a));
}

/* Without a place for numbers (NULL), or by dynamics without a state. */
static void nothing(tribo_dynamics *d, double *a) {
    REFUSED(tribo_com(d, a)), REFUSED(tribo_com_vjp(d, a, a, a));
    REFUSED(tribo_com_jacobian(d, a)), REFUSED(tribo_com_jacobian_vjp(d, a, a, a));
    REFUSED(tribo_inertia(d, a)), REFUSED(tribo_inertia_vjp(d, a, a, a));
    REFUSED(tribo_inertia_times(d, a, a)), REFUSED(tribo_inertia_times_vjp(d, a, a, a, a, a));
    REFUSED(tribo_inertia_solve(d, a, a)), REFUSED(tribo_inertia_solve_vjp(d, a, a, a, a, a));
    REFUSED(tribo_bias_forces(d, a)), REFUSED(tribo_bias_forces_vjp(d, a, a, a, a));
    REFUSED(tribo_inverse_dynamics(d, a, a)), REFUSED(tribo_inverse_dynamics_vjp(d, a, a, a, a, a, a));
    REFUSED(tribo_inverse_dynamics_jac(d, a, a, a)), REFUSED(tribo_forward_dynamics_jac(d, a, a, a, a));
    REFUSED(tribo_forward_dynamics(d, a, a)), REFUSED(tribo_forward_dynamics_vjp(d, a, a, a, a, a, a));
    REFUSED(tribo_joint_forces(d, a, a)), REFUSED(tribo_joint_forces_vjp(d, a, a, a, a, a, a));
    REFUSED(tribo_momentum(d, a)), REFUSED(tribo_momentum_vjp(d, a, a, a, a)), REFUSED(tribo_momentum_jacobian(d, a));
    REFUSED(tribo_kinetic_energy(d, a)), REFUSED(tribo_potential_energy(d, a));
}

START_TEST(dynamics) {
    tribo_model *m = NULL;
    tribo_dynamics *d = NULL;
    double x[64], a[512], as_was[512];
    for (int i = 0; i < 512; i++) a[i] = as_was[i] = 0.5;
    ck_assert_int_eq(tribo_build(scene(), &m, NULL), TRIBO_OK);
    REFUSED(tribo_dynamics_new(NULL, NULL, &d));
    REFUSED(tribo_dynamics_new(m, NULL, NULL));
    ck_assert_int_eq(tribo_dynamics_new(m, NULL, &d), TRIBO_OK);
    for (int none = 0; none < 2; none++) {
        tribo_dynamics *unready = none ? NULL : d;
        nowhere(unready, BOX, MARK, a), nothing(unready, a);
        REFUSED(tribo_kinetic_energy_vjp(unready, 1, a, a, a));
        REFUSED(tribo_potential_energy_vjp(unready, 1, a, a));
    }
    REFUSED(tribo_dynamics_set_state(d, NULL));
    tribo_model_state0(m, x);
    ck_assert_int_eq(tribo_dynamics_set_state(d, x), TRIBO_OK);
    nowhere(d, 3, 2, a), nowhere(d, -2, -1, a), nothing(d, NULL);
    REFUSED(tribo_body_velocity(d, BOX, NULL)), REFUSED(tribo_body_velocity_vjp(d, BOX, NULL, a, a, a));
    REFUSED(tribo_body_jacobian(d, BOX, NULL)), REFUSED(tribo_body_jacobian_vjp(d, BOX, NULL, a, a));
    ck_assert(memcmp(a, as_was, sizeof a) == 0);
    /* the world does not move, and nothing pulls on it */
    ck_assert_int_eq(tribo_body_velocity(d, TRIBO_WORLD, a), TRIBO_OK);
    for (int i = 0; i < 6; i++) ck_assert(a[i] == 0);
    memcpy(a, as_was, sizeof a);
    ck_assert_int_eq(tribo_body_velocity_vjp(d, TRIBO_WORLD, x, a, a, a), TRIBO_OK);
    ck_assert(memcmp(a, as_was, sizeof a) == 0);
    tribo_dynamics_free(d), tribo_dynamics_free(NULL), tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("misuse_model");
    TCase *t = tcase_create("misuse_model");
    tcase_add_test(t, bodies_and_joints);
    tcase_add_test(t, geoms_sites_and_meshes);
    tcase_add_test(t, what_acts_between_them);
    tcase_add_test(t, nothing_after_a_flaw);
    tcase_add_test(t, names_and_places_of_nothing);
    tcase_add_test(t, dynamics);
    suite_add_tcase(s, t);
    return s;
}
