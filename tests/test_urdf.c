/* test_urdf.c -- robots in URDF: what they mean, what is refused, and where it is installed, MuJoCo's masses of the
 * same files. */
#include "base/base.h"
#include "model/model.h"
#include "test_main.h"
#include "worlds.h"
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <tribo/sim.h>
#include <unistd.h>
#ifdef HAVE_MUJOCO
#include "mujoco_oracle.h"
#endif

static const char ROBOT[] =
    "<robot name='r'>\n"
    "  <material name='grey'><color rgba='1 1 1 1'/></material>\n"
    "  <link name='world'/>\n"
    "  <link name='base'><collision><geometry><box size='0.4 0.4 0.1'/></geometry></collision></link>\n"
    "  <joint name='stand' type='fixed'><parent link='world'/><child link='base'/><origin xyz='0 0 0.05'/></joint>\n"
    "  <link name='arm'>\n"
    "    <inertial><origin xyz='0.1 0.2 0.3' rpy='0.1 0.2 0.3'/><mass value='2'/>\n"
    "      <inertia ixx='0.03' iyy='0.02' izz='0.04' ixy='0.001' ixz='-0.002' iyz='0.003'/></inertial>\n"
    "    <visual><geometry><mesh filename='package://a/b.dae'/></geometry></visual>\n"
    "    <collision name='tube'><origin xyz='0 0 0.1' rpy='0 1.5 0.2'/><geometry><cylinder radius='0.03' "
    "length='0.4'/></geometry></collision>\n"
    "    <collision name='ball'><geometry><sphere radius='0.05'/></geometry></collision>\n"
    "  </link>\n"
    "  <joint name='turn' type='revolute'><parent link='base'/><child link='arm'/><origin xyz='0 0.1 0.2' rpy='0.3 "
    "-0.4 "
    "0.5'/>\n"
    "    <axis xyz='0 2 0'/><limit lower='-1' upper='2' effort='7' velocity='3'/><dynamics damping='0.3' "
    "friction='0.2'/></joint>\n"
    "  <link name='mount'/>\n"
    "  <joint name='push' type='prismatic'><parent link='arm'/><child link='mount'/><origin xyz='0 0 0.4'/></joint>\n"
    "  <link name='tool'><inertial><origin xyz='0.1 0 0'/><mass value='0.5'/><inertia ixx='0.01' iyy='0.02' "
    "izz='0.015' "
    "ixy='0' ixz='0.001' iyz='0'/></inertial></link>\n"
    "  <joint name='bolt' type='fixed'><parent link='mount'/><child link='tool'/><origin xyz='0 0 0.1' rpy='0.5 0 "
    "1'/></joint>\n"
    "  <link name='finger'><inertial><mass value='0.1'/><inertia ixx='0.001' iyy='0.001' izz='0.001' ixy='0' ixz='0' "
    "iyz='0'/></inertial></link>\n"
    "  <joint name='grip' type='continuous'><parent link='tool'/><child link='finger'/><origin xyz='0.2 0 0'/>\n"
    "    <mimic joint='turn' multiplier='0.5' offset='0.1'/></joint>\n"
    "  <transmission name='t'/><gazebo reference='arm'/>\n"
    "</robot>\n";

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static tribo_status load(const char *path, const char *lenient, bool free_base, tribo_model **m, tribo_diag *diag) {
    tribo_load_options o = tribo_default_load_options();
    o.lenient = lenient, o.free_base = free_base;
    *m = NULL;
    return tribo_model_load_with(path, &o, NULL, m, diag);
}

START_TEST(links_are_bodies) {
    tribo_model *m;
    tribo_diag diag = {0};
    write_file("test_urdf_robot.urdf", ROBOT);
    ck_assert_msg(load("test_urdf_robot.urdf", NULL, false, &m, &diag) == TRIBO_OK, "%d: %s", diag.line, diag.text);
    tribo_sizes n = tribo_model_sizes(m);
    ck_assert(n.nbody == 3 && n.njoint == 3 && n.ngeom == 3 && n.nequality == 1 && n.nu == 3);
    static const struct {
        const char *name;
        double value;
    } IS[] = {{"turn/damping", 0.3}, {"turn/frictionloss", 0.2}, {"turn/range/lower", -1}, {"turn/range/upper", 2},
              {"arm/mass", 2},       {"arm/com/y", 0.2},         {"mount/mass", 0.5},      {"mount/com/z", 0.1},
              {"tube/size/x", 0.03}, {"tube/size/y", 0.2},       {"ball/size/x", 0.05},    {"finger/mass", 0.1}};
    for (size_t i = 0; i < sizeof IS / sizeof *IS; i++) {
        int at = tribo_param_find(m, IS[i].name);
        ck_assert_msg(at >= 0 && m->p0[at] == IS[i].value, "%s", IS[i].name);
    }
    ck_assert_double_eq_tol(m->p0[tribo_param_find(m, "mount/com/x")], 0.1 * cos(1), 1e-15);
    ck_assert_double_eq_tol(m->p0[tribo_param_find(m, "mount/com/y")], 0.1 * sin(1), 1e-15);
    double *p = malloc(sizeof *p * (size_t)n.np);
    tribo_model_params(m, p);
    p[tribo_param_find(m, "arm/mass")] = 2.5;
    ck_assert_msg(tribo_model_save(m, p, "test_urdf_robot.urdf", "test_urdf_saved.xml", &diag) == TRIBO_OK, "%s",
                  diag.text);
    tribo_model *back;
    ck_assert_msg(load("test_urdf_saved.xml", NULL, false, &back, &diag) == TRIBO_OK, "%s", diag.text);
    for (int i = 0; i < n.np; i++) ck_assert_double_eq_tol(back->p0[i], p[i], 1e-14);
    remove("test_urdf_robot.urdf"), remove("test_urdf_saved.xml");
    tribo_model_free(m), tribo_model_free(back), free(p);
}
END_TEST

#define LINK(name)                                                                                                     \
    "<link name='" name "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "               \
    "iyz='0'/></inertial></link>"
#define HINGE(name, parent, child)                                                                                     \
    "<joint name='" name "' type='revolute'><parent link='" parent "'/><child link='" child "'/></joint>"

/* As MuJoCo has them: numbers of q in the order of joints, and mass 0 is none, also where shapes could tell. */
START_TEST(joints_come_in_their_order) {
    static const char TEXT[] = "<?xml version='0.0'?><robot name='r'>" LINK("base") LINK("a") LINK(
        "b") "<link name='tip'><inertial><mass value='0'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
             "</inertial><collision><geometry><sphere radius='1'/></geometry></collision></link>" HINGE("jb", "base",
                                                                                                        "b")
                 HINGE("ja", "base",
                       "a") "<joint name='f' type='fixed'><parent link='a'/><child link='tip'/></joint></robot>";
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_msg(tribo_model_load_memory(TEXT, strlen(TEXT), "r", NULL, &m, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert_int_eq(m->joint[tribo_model_joint_find(m, "jb")].q, 0);
    ck_assert_int_eq(m->joint[tribo_model_joint_find(m, "ja")].q, 1);
    ck_assert(m->p0[tribo_param_find(m, "tip/mass")] == 0 && m->p0[tribo_param_find(m, "tip/inertia/xx")] == 0);
    tribo_model_free(m);
}
END_TEST

START_TEST(bases_are_fixed_or_free) {
    tribo_model *m;
    tribo_diag diag = {0};
    write_file("test_urdf_a.urdf", "<robot>" LINK("a") LINK("b") HINGE("j", "a", "b") "</robot>");
    ck_assert_int_eq(load("test_urdf_a.urdf", NULL, false, &m, &diag), TRIBO_OK);
    ck_assert(tribo_model_sizes(m).nv == 1);
    tribo_model_free(m);
    ck_assert_int_eq(load("test_urdf_a.urdf", NULL, true, &m, &diag), TRIBO_OK);
    ck_assert(tribo_model_sizes(m).nv == 7);
    double p[128];
    ck_assert_int_le(tribo_model_sizes(m).np, 128);
    tribo_model_params(m, p);
    ck_assert_msg(tribo_model_save(m, p, "test_urdf_a.urdf", "test_urdf_b.xml", &diag) == TRIBO_OK, "%s", diag.text);
    remove("test_urdf_b.xml");
    tribo_model_free(m);
    write_file("test_urdf_a.urdf", "<robot><link name='world'/>" LINK(
                                       "a") "<joint name='f' type='floating'><parent link='world'/><child "
                                            "link='a'/><dynamics damping='0.5' friction='0.25'/></joint>" LINK(
                                                "b") "<joint name='p' type='planar'><parent link='a'/><child "
                                                     "link='b'/><axis xyz='0 1 0'/></joint></robot>");
    ck_assert_msg(load("test_urdf_a.urdf", NULL, false, &m, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert(tribo_model_sizes(m).nv == 9 && tribo_model_joint_find(m, "p_RZ") == 2);
    ck_assert_double_eq(m->p0[tribo_param_find(m, "a/free_damping")], 0.5);
    ck_assert_double_eq(m->p0[tribo_param_find(m, "a/free_frictionloss")], 0.25);
    tribo_model_free(m);
    write_file("test_urdf_a.urdf",
               "<robot>" LINK("a") LINK("b") "<joint name='p' type='planaraxis'><parent link='a'/><child link='b'/>"
                                             "<axis xyz='0 1 0'/><dynamics damping='50'/></joint></robot>");
    ck_assert_msg(load("test_urdf_a.urdf", NULL, false, &m, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert(tribo_model_sizes(m).nv == 3 && tribo_model_joint_find(m, "p_RZ") == 2);
    ck_assert_double_eq(m->p0[tribo_param_find(m, "p_TX/damping")], 50);
    ck_assert_double_eq(m->p0[tribo_param_find(m, "p_RZ/damping")], 50);
    tribo_model_free(m);
    /* a limit that leaves no room is none; what has no axis turns about x */
    write_file("test_urdf_a.urdf",
               "<robot>" LINK("a") LINK("b") LINK("c")
                   LINK("d") "<joint name='s' type='spherical'><parent link='a'/><child link='b'/></joint>"
                             "<joint name='l' type='revolute'><parent link='b'/><child link='c'/><limit lower='1' "
                             "upper='1'/></joint>"
                             "<joint name='u' type='prismatic'><parent link='c'/><child link='d'/><limit upper='1'/>"
                             "<dynamics friction='2'/></joint></robot>");
    ck_assert_msg(load("test_urdf_a.urdf", NULL, false, &m, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert(tribo_model_sizes(m).nv == 5 && tribo_model_sizes(m).nq == 6);
    ck_assert(m->joint[0].kind == TI_JOINT_BALL && m->joint[1].kind == TI_JOINT_HINGE && !m->joint[1].limited);
    ck_assert_double_eq(m->p0[tribo_param_find(m, "u/frictionloss")], 2);
    ck_assert(m->joint[2].limited && m->p0[tribo_param_find(m, "u/range/lower")] == 0);
    ck_assert_double_eq(m->p0[tribo_param_find(m, "u/range/upper")], 1);
    ck_assert_double_eq(m->joint[1].axis[0], 1);
    tribo_model_free(m);
    write_file("test_urdf_a.urdf",
               "<robot>" LINK("a") LINK("b") "<joint name='j' type='continuous'><parent link='a'/><child link='b'/>"
                                             "<limit lower='1' upper='-1'/></joint></robot>");
    ck_assert_msg(load("test_urdf_a.urdf", NULL, false, &m, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert(!m->joint[0].limited);
    tribo_model_free(m);
    remove("test_urdf_a.urdf");
}
END_TEST

START_TEST(bad_robots_are_refused) {
    static const char *const CASE[][2] = {
        {"<robot></robot>", "there is no link"},
        {"<robot>\n<link/></robot>", "<link name>: missing"},
        {"<robot>" LINK("a") "\n" LINK("a") "</robot>", "there is a link `a` already"},
        {"<robot>" LINK("a") "\n" HINGE("j", "a", "b") "</robot>", "<child link>: there is no link `b`"},
        {"<robot>" LINK("a") "\n<joint name='j' type='revolute'/></robot>", "<joint parent>: there is no link"},
        {"<robot>" LINK("a") LINK("b") HINGE("j", "a", "b") "\n" HINGE("k", "a", "b") "</robot>", "has two parents"},
        {"<robot>" LINK("r") LINK("c") HINGE("l", "r", "c") "\n" LINK("a") LINK("b") HINGE("j", "a", "b")
             HINGE("k", "b", "a") "</robot>",
         "<link>: it is in a ring of joints"},
        {"<robot>" LINK("a")
             LINK("b") "\n<joint name='j' type='screw'><parent link='a'/><child link='b'/></joint></robot>",
         "<joint type>: `screw` is none of revolute"},
        {"<robot>" LINK("a") LINK("b") "\n<joint name='j' type='revolute'><parent link='a'/><child link='b'/><axis "
                                       "xyz='0 0 0'/></joint></robot>",
         "joint j: axis has no direction"},
        {"<robot>" LINK("a") LINK("b") "\n<joint name='j' type='revolute'><parent link='a'/><child link='b'/><limit "
                                       "lower='x'/></joint></robot>",
         "<limit lower>: `x` is not a number"},
        {"<robot>" LINK("a") LINK("b") "\n<joint name='j' type='revolute'><parent link='a'/><child link='b'/><limit "
                                       "lower='1' upper='-1'/></joint></robot>",
         "<limit upper>: it is below `lower`"},
        {"<robot>" LINK("a")
             LINK("b") "\n<joint name='j' type='planar'><parent link='a'/><child link='b'/><axis/></joint></robot>",
         "<axis xyz>: missing"},
        {"<robot>" LINK("a") "\n" LINK("world") HINGE("j", "a", "world") "</robot>", "is the world's own"},
        {"<robot>\n<link name='a'><inertial><mass value='1'/></inertial></link></robot>",
         "<inertial inertia>: missing"},
        {"<robot>\n<link name='a'><collision/></link></robot>", "neither box, sphere, cylinder"},
        {"<robot>\n<link name='a'><collision><geometry><sphere/></geometry></collision></link></robot>",
         "<sphere radius>: missing"},
        {"<robot>\n<link name=''/></robot>", "<link name>: missing"},
        {"<robot>\n<link name='a'><inertial><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
         "iyz='0'/></inertial></link>"
         "</robot>",
         "<inertial mass>: missing"},
        {"<robot>" LINK("a") LINK("b") "\n<joint name='j'><parent link='a'/><child link='b'/></joint></robot>",
         "<joint type>: missing"},
        {"<robot>" LINK("a") LINK("b") "\n<joint type='revolute'><parent link='a'/><child link='b'/></joint></robot>",
         "<joint name>: missing"},
        {"<robot>" LINK("a") LINK("b") "\n<joint name='j' type='revolute'><parent link='a'/><child link='b'/><mimic/>"
                                       "</joint></robot>",
         "<mimic joint>: missing"},
        {"<robot>\n<link name='a'><collision><geometry><mesh/></geometry></collision></link></robot>",
         "<mesh filename>: missing"},
        {"<robot>\n<link name='a'><collision><geometry><mesh filename=''/></geometry></collision></link></robot>",
         "<mesh filename>: missing"},
        {"<robot>\n<link name='a'><collision><geometry><box size='1 2'/></geometry></collision></link></robot>",
         "<box size>: 2 numbers, expected 3"},
        {"<robot>" LINK("a") LINK("b") HINGE("i", "a", "b")
             LINK("c") "\n<joint name='j' type='revolute'><parent "
                       "link='a'/><child link='c'/><mimic joint='nobody'/></joint></robot>",
         "no joint `nobody`"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        const char *text = CASE[i][0];
        ck_assert_int_lt(tribo_model_load_memory(text, strlen(text), "text", NULL, &m, &diag), 0);
        ck_assert_msg(strstr(diag.text, CASE[i][1]) != NULL, "%s: %s", text, diag.text);
        ck_assert_msg(diag.line == (i ? 2 : 1), "%s: line %d: %s", text, diag.line, diag.text);
    }
}
END_TEST

/* A tetrahedron of a metre, twice as large: what it weighs says that it was found. By the folders given, by those above
 * the file, by its own place, beside the file. */
START_TEST(meshes_are_found) {
    static const char CORNERS[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    static const struct {
        const char *file, *packages;
        bool found;
    } CASE[] = {{"package://test_urdf_box/meshes/t.obj", "/nowhere:test_urdf_ros", true},
                {"package://test_urdf_box/meshes/t.obj", "/nowhere:test_urdf_ros/test_urdf_box", true},
                {"package://test_urdf_box/meshes/t.obj", NULL, true}, /* in the folder of this name above the file */
                {"package://test_urdf_box/meshes/s.obj", NULL, false},
                {"package://other/meshes/t.obj", NULL, false},
                {"package://other/meshes/beside.obj", NULL, true},
                {"package://beside.obj", "", true},
                {"file://beside.obj", NULL, true},
                {"../meshes/t.obj", NULL, true}};
    static const char *const FOLDER[] = {"test_urdf_ros", "test_urdf_ros/test_urdf_box",
                                         "test_urdf_ros/test_urdf_box/meshes", "test_urdf_ros/test_urdf_box/urdf"};
    static const char ROBOT_FILE[] = "test_urdf_ros/test_urdf_box/urdf/r.urdf",
                      MESH[] = "test_urdf_ros/test_urdf_box/meshes/t.obj",
                      BESIDE[] = "test_urdf_ros/test_urdf_box/urdf/beside.obj";
    for (int i = 0; i < 4; i++) (void)mkdir(FOLDER[i], 0777);
    write_file(MESH, CORNERS), write_file(BESIDE, CORNERS);
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char text[500];
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        tribo_load_options o = tribo_default_load_options();
        o.packages = CASE[i].packages, o.free_base = true;
        snprintf(text, sizeof text,
                 "<robot><link name='a'><collision><geometry><mesh filename='%s' scale='2 2 2'/></geometry></collision>"
                 "</link></robot>",
                 CASE[i].file);
        write_file(ROBOT_FILE, text);
        tribo_status s = tribo_model_load_with(ROBOT_FILE, &o, NULL, &m, &diag);
        ck_assert_msg((s == TRIBO_OK) == CASE[i].found, "%s: %d: %s", CASE[i].file, (int)s, diag.text);
        if (m) ck_assert_double_eq_tol(m->p0[tribo_param_find(m, "a/mass")], 8 * 1000. / 6, 1e-9);
        tribo_model_free(m);
    }
    remove(ROBOT_FILE), remove(MESH), remove(BESIDE);
    for (int i = 3; i >= 0; i--) rmdir(FOLDER[i]);
}
END_TEST

#ifdef HAVE_MUJOCO
/* A file without its shapes, whose meshes are not at hand; what other programs call planar is planar. */
static char *without_shapes(const char *path) {
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    char *text = calloc(1 << 20, 1), *out = calloc(1 << 20, 1), *to = out;
    ck_assert(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    for (const char *at = text; *at;) {
        static const char *const WORD[] = {"visual", "collision"}, *const END[] = {"</visual>", "</collision>"};
        bool cut = false;
        for (int k = 0; k < 2 && *at == '<'; k++) {
            size_t n = strlen(WORD[k]);
            const char *stop = strncmp(at + 1, WORD[k], n) == 0 ? strstr(at, END[k]) : NULL;
            if (stop) at = stop + strlen(END[k]), cut = true;
        }
        if (!cut && strncmp(at, "planaraxis", 10) == 0) memcpy(to, "planar", 6), to += 6, at += 10, cut = true;
        if (!cut) *to++ = *at++;
    }
    free(text);
    return out;
}

static void compare(const char *name, const char *path) {
    char error[1000] = "";
    unsigned seed = 1;
    tribo_model *m;
    tribo_diag diag = {0};
    bool ours = load(path, NULL, false, &m, &diag) == TRIBO_OK;
    mjModel *mm = mj_loadXML(path, NULL, error, sizeof error);
    ck_assert_msg(ours || !mm, "%s:%d: %s", name, diag.line, diag.text);
    if (!mm) { /* whose fault it is then */
        printf("%s: MuJoCo does not read it: %.60s; here: %s\n", name, error, ours ? "read" : diag.text);
        tribo_model_free(m);
        return;
    }
    ck_assert_int_eq(mm->nq, m->size.nq);
    for (int j = 0; j < m->size.njoint; j++) {
        int id = mj_name2id(mm, mjOBJ_JOINT, m->joint[j].name);
        ck_assert_msg(id >= 0, "%s", m->joint[j].name);
        const double *own = m->p0 + m->joint[j].p;
        ck_assert_int_eq(mm->jnt_qposadr[id], m->joint[j].q);
        ck_assert_int_eq(mm->jnt_limited[id], m->joint[j].limited);
        ck_assert_double_eq(mm->dof_damping[mm->jnt_dofadr[id]], own[TI_P_DAMPING]);
        ck_assert_double_eq(mm->dof_frictionloss[mm->jnt_dofadr[id]], own[TI_P_FRICTIONLOSS]);
        for (int k = 0; k < 2 && m->joint[j].limited; k++)
            ck_assert_double_eq(mm->jnt_range[2 * id + k], own[TI_P_LOWER + k]);
    }
    oracle o;
    oracle_worst w;
    double *x = calloc((size_t)m->size.nx, sizeof *x);
    oracle_open(&o, m, mm);
    for (int k = 0; k < 100; k++) {
        for (int i = 0; i < m->size.nx; i++) x[i] = test_random(&seed);
        ck_assert(oracle_compare(&o, x, NULL, 1e-4, &w));
        ck_assert_msg(w.mass <= 1e-9 && w.acceleration <= 1e-8, "%s: %g %g", path, w.mass, w.acceleration);
    }
    oracle_close(&o);
    mj_deleteModel(mm), tribo_model_free(m), free(x);
}

START_TEST(robots_are_mujocos) {
    static const char *const NAME[] = {"double_pendulum", "ur5_robot", "solo12", "hopper", "halfcheetah"};
    const char *data = getenv("TRIBO_DATA");
    char path[4096];
    write_file("test_urdf_robot.urdf", ROBOT);
    char *text = without_shapes("test_urdf_robot.urdf");
    write_file("test_urdf_robot.urdf", text);
    free(text);
    write_file("test_urdf_robot.urdf",
               "<robot name='r'>" LINK("a") LINK("b") LINK(
                   "c") "<joint name='up' type='revolute'><parent link='a'/><child link='b'/><limit upper='1'/></joint>"
                        "<joint name='down' type='revolute'><parent link='b'/><child link='c'/><axis xyz='0 1 0'/>"
                        "<limit lower='-1'/></joint></robot>");
    compare("limits", "test_urdf_robot.urdf");
    /* MuJoCo knows no mimic, takes masses of what is fixed into one, and has no link called world */
    for (size_t i = 0; data && i < sizeof NAME / sizeof *NAME; i++) {
        snprintf(path, sizeof path, "%s/robots/%s.urdf", data, NAME[i]);
        FILE *f = fopen(path, "rb");
        if (!f) continue;
        fclose(f);
        text = without_shapes(path);
        write_file("test_urdf_robot.urdf", text);
        compare(NAME[i], "test_urdf_robot.urdf");
        free(text);
    }
    remove("test_urdf_robot.urdf");
}
END_TEST
#endif

static Suite *suite(void) {
    Suite *s = suite_create("urdf");
    TCase *t = tcase_create("urdf");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, links_are_bodies);
    tcase_add_test(t, joints_come_in_their_order);
    tcase_add_test(t, bases_are_fixed_or_free);
    tcase_add_test(t, bad_robots_are_refused);
    tcase_add_test(t, meshes_are_found);
#ifdef HAVE_MUJOCO
    tcase_add_test(t, robots_are_mujocos);
#endif
    suite_add_tcase(s, t);
    return s;
}
