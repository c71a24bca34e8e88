/* test_mjcf.c -- scenes: the numbers MuJoCo gives them, what is refused and how it is said, and saving. */
#include "base/base.h"
#include "math/vec.h"
#include "model/possible.h"
#include "test_main.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <tribo/sim.h>

/* Every kind of orientation, nested classes, static bodies in static bodies, given and summed inertia. */
static const char RICH[] =
    "<mujoco model='rich'>\n"
    "  <!-- a remark that is kept -->\n"
    "  <compiler angle='degree' eulerseq='zYx' autolimits='true'/>\n"
    "  <option timestep='0.004' gravity='0.1 0.2 -9.7' solver='Newton' cone='elliptic' iterations='50'/>\n"
    "  <visual><headlight ambient='1 1 1'/></visual>\n"
    "  <asset><material name='m' rgba='1 0 0 1'/></asset>\n"
    "  <default>\n"
    "    <geom friction='0.3 0.01 0.001' density='500' rgba='1 0 0 1'/>\n"
    "    <default class='b'><geom type='box' size='0.1 0.2 0.3' euler='10 20 30'/>\n"
    "      <default class='bb'><geom size='.2 .2 .1'/></default></default>\n"
    "  </default>\n"
    "  <worldbody>\n"
    "    <light pos='0 0 3'/>\n"
    "    <geom name='floor' type='plane' size='0 0 1' zaxis='0.1 0.2 1' material='m'/>\n"
    "    <body name='table' pos='1 2 0.5' axisangle='0 0 1 30'>\n"
    "      <geom name='top' class='b' euler='0 0 0' pos='0.1 0 0'/>\n"
    "      <body pos='0 0 1' euler='0 90 0'><geom name='leg' type='sphere' size='0.3' pos='0.1 0.2 "
    "0.3'/></body></body>\n"
    "    <body name='one' pos='0 0 3' xyaxes='1 1 0 0 1 0.5' childclass='b'><joint type='free'/>\n"
    "      <geom name='o1' pos='0.1 0.2 0.3'/><geom name='o2' class='bb' pos='-0.3 0 0' mass='2.5'/>\n"
    "      <geom name='o3' type='sphere'/></body>\n"
    "    <body name='two' pos='0 0 5'>\n"
    "      <freejoint/>\n"
    "      <inertial pos='0.01 0.02 0.03' mass='2' diaginertia='0.03 0.02 0.04' euler='40 50 60'/>\n"
    "      <geom name='t1' type='box' size='1 1 1' axisangle='1 2 3 45' friction='0.4'/></body>\n"
    "    <body name='three' pos='4 0 5'><freejoint/><inertial pos='0.01 0.02 0.03' mass='2'\n"
    "      fullinertia='0.03 0.02 0.04 0.001 -0.002 0.003'/><geom name='h1' type='box' size='1 1 1' zaxis='0 0 -1' "
    "friction='0.35'/>\n"
    "    </body>\n"
    "  </worldbody>\n"
    "  <contact><pair geom1='o1' geom2='t1'/><exclude body1='one' body2='three'/></contact>\n"
    "  <custom><numeric name='h1/friction_static' data='0.4'/><numeric name='o1:t1/slop' data='0.001'/></custom>\n"
    "</mujoco>\n";

static tribo_model *read_text(const char *text) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_model_load_memory(text, strlen(text), "scene", NULL, &m, &diag);
    ck_assert_msg(s == TRIBO_OK, "%d: %s", diag.line, diag.text);
    return m;
}

static tribo_model *read_file(const char *path) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_model_load(path, NULL, &m, &diag);
    ck_assert_msg(s == TRIBO_OK, "%s:%d: %s", path, diag.line, diag.text);
    return m;
}

static void close_to(const double *a, const double *b, int n, double tol) {
    for (int i = 0; i < n; i++) ck_assert_msg(fabs(a[i] - b[i]) <= tol, "%d: %.17g, expected %.17g", i, a[i], b[i]);
}

/* The expected numbers are those MuJoCo 2.2.2 compiles the same text to; its inertias went through principal axes,
 * which it finds to about ten digits. */
START_TEST(numbers_are_mujocos) {
    tribo_model *m = read_text(RICH);
    ck_assert_int_eq(m->size.nbody, 3);
    ck_assert_int_eq(m->size.ngeom, 8);
    ck_assert_double_eq(m->dt, 0.004);
    static const double Q[7] = {
        0, 0, 3, 0.88047623921714946, 0.27984814233312139, 0.11591689595929515, 0.3647051996310009};
    close_to(m->x0, Q, 7, 1e-15);
    static const double ONE[10] = {
        28.5943951023932,   0.057703616183924944, 0.16786506526232708,   0.25179759789349065,  1.5033633580984671,
        1.4832043694509567, 1.1707530440877423,   -0.094696635379328875, -0.49042616012319368, -0.10062327198423092};
    static const double TWO[10] = {2,
                                   0.01,
                                   0.02,
                                   0.03,
                                   0.033401584473979964,
                                   0.032934120444167339,
                                   0.023664295081852742,
                                   -0.0066646012387230943,
                                   -0.004445914488085137,
                                   -0.0023783263929234946};
    close_to(m->p0 + m->body[0].p, ONE, 4, 1e-14);
    close_to(m->p0 + m->body[0].p, ONE, 10, 1e-9);
    close_to(m->p0 + m->body[1].p, TWO, 10, 1e-15);
    static const struct {
        const char *name;
        double pose[7];
    } GEOM[] = {
        {"floor", {0, 0, 0, 0.99395675784928728, -0.098183353072640214, 0.049091676536320107, 0}},
        {"top", {1.0866025403784438, 2.05, 0.5, 0.96592582628906831, 0, 0, 0.25881904510252074}},
        {"leg",
         {1.1598076211353316, 2.3232050807568876, 1.4, 0.68301270189221941, -0.1830127018922193, 0.6830127018922193,
          0.18301270189221935}},
        {"o1", {0.1, 0.2, 0.3, 0.9437143641474891, 0.26853582275156918, 0.18930785741200001, 0.038134576474850156}},
        {"t1", {0, 0, 0, 0.92387953251128674, 0.10227644939320316, 0.20455289878640631, 0.3068293481796095}},
        {"h1", {0, 0, 0, 0, 1, 0, 0}},
    };
    for (size_t i = 0; i < sizeof GEOM / sizeof *GEOM; i++)
        close_to(m->p0 + m->geom[tribo_model_geom_find(m, GEOM[i].name)].p + TI_P_POS, GEOM[i].pose, 7, 1e-15);
    tribo_model_free(m);
}
END_TEST

/* Capsules, by their sizes and by their ends: MuJoCo's numbers again. */
START_TEST(capsules_are_mujocos) {
    tribo_model *m =
        read_text("<mujoco><default><default class='q'><geom euler='0 10 0'/></default></default><worldbody>"
                  "<body><freejoint/><geom type='capsule' size='0.1 0.7' fromto='0 0 0 0.3 0.4 0.1'/>"
                  "<geom class='q' type='capsule' size='0.1' fromto='0 0 0 0 0 -1'/>"
                  "<geom type='capsule' size='0.1 0.3 0.4'/></body></worldbody></mujoco>");
    static const double WANT[3][9] = {
        {0.1, 0.25495097567963926, 0.15, 0.2, 0.05, 0.6339889056055381, 0.6186737130703217, -0.46400528480274134, 0},
        {0.1, 0.5, 0, 0, -0.5, 1, 0, 0, 0},
        {0.1, 0.3, 0, 0, 0, 1, 0, 0, 0}};
    for (int i = 0; i < 3; i++) {
        const double *p = m->p0 + m->geom[i].p;
        ck_assert_int_eq(m->geom[i].shape, TRIBO_CAPSULE);
        close_to(p + TI_P_SIZE, WANT[i], 2, 1e-15);
        ck_assert_double_eq(p[TI_P_SIZE + 2], 0);
        close_to(p + TI_P_POS, WANT[i] + 2, 7, 1e-15);
    }
    ck_assert_double_eq_tol(m->p0[m->body[0].p + TI_P_MASS], 78.8509, 5e-5);
    double I[3][3], trace = 0, det;
    const double *e = m->p0 + m->body[0].p + TI_P_INERTIA, moments[3] = {12.0894, 10.7567, 1.71442};
    static const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) I[i][j] = e[at[i][j]], trace += i == j ? I[i][j] : 0;
    det = I[0][0] * (I[1][1] * I[2][2] - I[1][2] * I[2][1]) - I[0][1] * (I[1][0] * I[2][2] - I[1][2] * I[2][0]) +
          I[0][2] * (I[1][0] * I[2][1] - I[1][1] * I[2][0]);
    ck_assert_double_eq_tol(trace / (moments[0] + moments[1] + moments[2]), 1, 1e-5);
    ck_assert_double_eq_tol(det / (moments[0] * moments[1] * moments[2]), 1, 1e-5);
    tribo_model_free(m);
}
END_TEST

START_TEST(materials_from_custom_numbers) {
    tribo_model *m = read_text(RICH);
    const double *p = m->p0;
    ck_assert_double_eq(p[tribo_param_find(m, "h1/friction")], 0.35);
    ck_assert_double_eq_tol(p[tribo_param_find(m, "h1/stiction")], 0.05, 1e-16);
    ck_assert_double_eq(p[tribo_param_find(m, "three/stiction")], p[tribo_param_find(m, "h1/stiction")]);
    ck_assert_double_eq(p[tribo_param_find(m, "o1:t1/friction")], 0.4); /* of its geoms */
    ck_assert_double_eq(p[tribo_param_find(m, "o1:t1/slop")], 0.001);
    int h1 = tribo_model_geom_find(m, "h1"), o1 = tribo_model_geom_find(m, "o1");
    ck_assert(!ti_can_touch(m, h1, o1));
    tribo_model_free(m);
}
END_TEST

/* A scene with one free body, in which one piece is as it should not be. */
#define HEAD "<mujoco>\n"
#define BODY "<worldbody>\n<body name='cube'><freejoint/><geom name='g' size='1'/></body></worldbody>\n"
#define TAIL "</mujoco>"
#define GEOM(attributes)                                                                                               \
    HEAD "<worldbody>\n<body name='cube'>\n<freejoint/>\n<geom name='g' " attributes "/></body></worldbody>" TAIL
#define INERTIAL(attributes)                                                                                           \
    HEAD "<worldbody>\n<body name='cube'>\n<freejoint/>\n<inertial " attributes "/></body></worldbody>" TAIL
#define WITH(piece) HEAD BODY piece TAIL

#define TWO(contact)                                                                                                   \
    HEAD BODY "<worldbody><geom name='f' type='plane'/><body><freejoint/><geom name='h' size='1'/></body>"             \
              "</worldbody>\n<contact>" contact "</contact>" TAIL

static const struct {
    const char *text;
    int line;
    const char *message;
} REFUSED[] = {
    {"", 0, "empty"},
    {"nonsense", 1, "XML"},
    {"<mujoco>\n<worldbody>\n<body", 3, "XML"},
    {"<mujoco><worldbody></mujoco>", 1, "XML"},
    {"<mujoco>\n\xff\xfe</mujoco>", 2, "UTF-8"},
    {"<?xml version='1.0' encoding='UTF-16'?>\n<rabbit/>", 2, "<rabbit>: the root"},
    {"<rabbit/>", 1, "<rabbit>: the root"},
    {"<mujoco/>", 1, "no body"},
    {"<mujoco><worldbody>\n<body>\n<geom size='1'/></body></worldbody></mujoco>", 2, "none has a joint"},
    {HEAD "<worldbody>\n<body gravcomp='1'>\n<joint actuatorgravcomp='true'/><geom size='1'/></body></worldbody>" TAIL,
     4, "<joint actuatorgravcomp>: there is no actuator"},
    {"<!DOCTYPE m [<!ENTITY a 'b'>]>\n<mujoco model='&a;'/>", 1, "document type"},
    {"<!DOCTYPE m SYSTEM 'http://example.org/m.dtd'>\n<mujoco/>", 1, "document type"},
    {"<mujoco>&undefined;</mujoco>", 1, "XML"},
    {WITH("<actuator><muscle/></actuator>"), 4, "<muscle>: this element is not supported"},
    {WITH("<include file='x.xml'/>"), 4, "<include>"},
    {WITH("<option timestep='0'/>"), 4, "timestep"},
    {WITH("<option timestep='-1'/>"), 4, "timestep"},
    {WITH("<option timestep='fast'/>"), 4, "<option timestep>: `fast` is not a number"},
    {WITH("<option gravity='0 0'/>"), 4, "<option gravity>: 2 numbers, expected 3"},
    {WITH("<option gravity='0 0 1 1'/>"), 4, "<option gravity>: more than 3"},
    {WITH("<option density='1' viscosity='-0.1'/>"), 4, "density and viscosity must be >= 0"},
    {WITH("<option density='1'/><compiler fusestatic='true'/>"), 4, "<compiler fusestatic>"},
    {WITH("<option integrator='RK5'/>"), 4, "<option integrator>"},
    {WITH("<option sparkle='1'/>"), 4, "<option sparkle>"},
    {WITH("<option><flag passive='disable'/></option>"), 4, "<flag passive>: not supported"},
    {WITH("<compiler angle='turns'/>"), 4, "<compiler angle>"},
    {WITH("<compiler eulerseq='xy'/>"), 4, "<compiler eulerseq>"},
    {WITH("<compiler coordinate='global'/>"), 4, "<compiler coordinate>"},
    {WITH("<compiler alignfree='true'/>"), 4, "<compiler alignfree>"},
    {WITH("<compiler autolimits='perhaps'/>"), 4, "<compiler autolimits>: `perhaps` is none"},
    {WITH("<compiler inertiafromgeom='false'/>"), 3, "<body>: inertial is missing"},
    {WITH("<default><inertial mass='1'/></default>"), 4, "<inertial>: this element is not supported here"},
    {WITH("<default><freejoint/></default>"), 4, "<freejoint>: this element is not supported here"},
    {WITH("<default><geom colour='red'/></default>"), 4, "<geom colour>"},
    {WITH("<default><default><geom/></default></default>"), 4, "<default class>"},
    {WITH("<default><default class='main'/></default>"), 4, "twice"},
    {WITH("<asset><model name='m'/></asset>"), 4, "<model>"},
    {GEOM(""), 5, "<geom size>: missing"},
    {GEOM("size='-1'"), 5, "geom g: size must be > 0"},
    {GEOM("size='0'"), 5, "geom g: size must be > 0"},
    {GEOM("size='1e999'"), 5, "<geom size>"},
    {GEOM("size='nan'"), 5, "<geom size>"},
    {GEOM("size='1' type='mesh'"), 5, "<geom mesh>: missing"},
    {GEOM("size='1' type='sdf'"), 5, "<geom type>: `sdf`"},
    {GEOM("size='1' type='capsule'"), 5, "<geom size>: 1 numbers, expected 2"},
    {GEOM("size='1' type='capsule' fromto='0 0 0 0 0 0'"), 5, "<geom fromto>: two different points"},
    {GEOM("size='1' type='capsule' fromto='0 0 0 1 0 0' pos='0 0 0'"), 5, "<geom fromto>: given together with pos"},
    {GEOM("type='capsule' fromto='0 0 0 1 0 0'"), 5, "<geom size>: missing"},
    {GEOM("size='1' type='plane'"), 5, "plane cannot move"},
    {GEOM("size='1 1' type='box'"), 5, "<geom size>: 2 numbers, expected 3"},
    {GEOM("size='1' mass='-1'"), 5, "<geom mass>"},
    {GEOM("size='1' mass='0'"), 3, "body cube: mass must be > 0"},
    {GEOM("size='1' density='-2'"), 5, "density"},
    {GEOM("size='1' friction='-0.1'"), 5, "friction must be >= 0"},
    {GEOM("size='1' condim='5'"), 5, "<geom condim>: 1, 3, 4 or 6"},
    {GEOM("size='1' margin='-1'"), 5, "geom g: margin must be >= 0"},
    {GEOM("size='1' quat='0 0 0 0'"), 5, "<geom quat>"},
    {GEOM("size='1' quat='1 0 0 0' euler='0 0 0'"), 5, "together"},
    {GEOM("size='1' xyaxes='1 0 0 2 0 0'"), 5, "<geom xyaxes>"},
    {GEOM("size='1' axisangle='0 0 0 1'"), 5, "<geom axisangle>"},
    {GEOM("size='1' priority='0.5'"), 5, "<geom priority>"},
    {GEOM("size='1' contype='1e12'"), 5, "<geom contype>"},
    {GEOM("size='1' class='none'"), 5, "<geom class>"},
    {GEOM("size='1' fromto='0 0 0 1 1 1'"), 5, "<geom fromto>"},
    {INERTIAL("mass='1' diaginertia='1 1 1'"), 5, "<inertial pos>: missing"},
    {INERTIAL("pos='0 0 0' diaginertia='1 1 1'"), 5, "<inertial mass>: missing"},
    {INERTIAL("pos='0 0 0' mass='1'"), 5, "<inertial diaginertia>: missing"},
    {INERTIAL("pos='0 0 0' mass='-1' diaginertia='1 1 1'"), 5, "body cube: mass must be > 0"},
    {INERTIAL("pos='0 0 0' mass='1' diaginertia='1 1 -1'"), 5, "positive definite"},
    {INERTIAL("pos='0 0 0' mass='1' diaginertia='1 1 3'"), 5, "triangle inequality"},
    {INERTIAL("pos='0 0 0' mass='1' fullinertia='1 1 1 0 0 0' quat='0 1 0 0'"), 5, "<inertial fullinertia>"},
    {HEAD "<worldbody>\n<body name='a'>\n<joint type='rope'/></body></worldbody>" TAIL, 4, "<joint type>: `rope`"},
    {HEAD "<worldbody>\n<body name='a'>\n<joint type='free' stiffness='1'/></body></worldbody>" TAIL, 4,
     "<joint stiffness>"},
    {HEAD "<worldbody>\n<body><body>\n<freejoint/></body></body></worldbody>" TAIL, 4, "<freejoint>"},
    {HEAD "<worldbody>\n<freejoint/></worldbody>" TAIL, 3, "<freejoint>: the world"},
    {HEAD "<worldbody>\n<body><freejoint/>\n<freejoint/></body></worldbody>" TAIL, 4, "<freejoint>: a second"},
    {HEAD "<worldbody>\n<body name='a'><freejoint/><geom size='1'/>\n<body><joint/></body></body></worldbody>" TAIL, 4,
     "mass must be > 0"},
    {HEAD "<worldbody>\n<body><freejoint/>\n<wheel/></body></worldbody>" TAIL, 4, "<wheel>"},
    {HEAD BODY "<worldbody>\n<body name='cube'><freejoint/></body></worldbody>" TAIL, 5, "body cube: there is one"},
    {HEAD BODY "<worldbody>\n<geom name='g' size='1'/></worldbody>" TAIL, 5, "geom g: there is one"},
    {HEAD BODY "<worldbody>\n<geom name='a=b' size='1'/></worldbody>" TAIL, 5, "a name cannot hold"},
    {HEAD BODY "<worldbody>\n<geom name='gravity/x' size='1'/></worldbody>" TAIL, 5, "this name is not allowed"},
    {WITH("<contact><pair geom1='g' geom2='x'/></contact>"), 4, "<pair geom2>: there is no geom `x`"},
    {WITH("<contact><pair geom1='g'/></contact>"), 4, "<pair geom2>"},
    {WITH("<contact><pair geom1='g' geom2='g'/></contact>"), 4, "same body"},
    {WITH("<contact><exclude body1='cube' body2='x'/></contact>"), 4, "<exclude body2>"},
    {TWO("<pair geom1='g' geom2='h' friction='1 2'/>"), 5, "<pair friction>: the first two must be equal"},
    {TWO("<pair geom1='g' geom2='h' friction='1'/>"), 5, "<pair friction>: 1 numbers, expected 2"},
    {TWO("<pair geom1='g' geom2='h' condim='7'/>"), 5, "<pair condim>"},
    {TWO("<pair geom1='g' geom2='h'/><pair geom1='h' geom2='g' condim='1'/>"), 5, "have a pair already"},
    {TWO("<pair name='p' geom1='g' geom2='h'/><pair name='p' geom1='g' geom2='f'/>"), 5, "pair p: there is one"},
    {TWO("<pair name='g' geom1='g' geom2='h'/>"), 5, "a geom has this name"},
    {TWO("<pair name='a,b' geom1='g' geom2='h'/>"), 5, "a name cannot hold"},
    {TWO("<pair geom1='f' geom2='f'/>"), 5, "neither of its geoms moves"},
    {TWO("<touch/>"), 5, "<touch>"},
    {WITH("<default><wheel/></default>"), 4, "<wheel>"},
    {WITH("<default><geom/><geom/></default>"), 4, "twice"},
    {WITH("<option timestep='abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghi\xc3\xa4'/>"), 4,
     "`abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghi` is not"},
    {WITH("<custom><numeric name='/slop' data='1'/></custom>"), 4, "<numeric name>"},
    {WITH("<custom><numeric name='x/slop' data='1'/></custom>"), 4, "there is no geom, pair or joint `x`"},
    {WITH("<custom><numeric name='g/bounce' data='1'/></custom>"), 4, "`bounce` is none"},
    {WITH("<custom><numeric name='g/slop' data='1 2'/></custom>"), 4, "<numeric data>"},
    {WITH("<custom><text name='contact/law' data='coulomb'/></custom>"), 4, "`coulomb` is none of ncp, ccp"},
    {WITH("<custom><numeric name='contact/facets' data='3'/></custom>"), 4, "facets: `3` is no integer"},
    {WITH("<custom><numeric name='contact/law' data='1'/></custom>"), 4, "`contact/law` is no number of the"},
    {WITH("<custom><text name='contact/lawe' data='lcp'/></custom>"), 4, "`contact/lawe` is no text of the"},
    {WITH("<custom><text name='contact/facets' data='8'/></custom>"), 4, "`contact/facets` is no text of the"},
    {WITH("<custom><numeric name='contact/relaxation' data='2'/></custom>"), 4, "no number above 0 and below 2"},
    {WITH("<custom><numeric name='contact/impedance' data='1'/></custom>"), 4, "no number above 0 and below 1"},
    {WITH("<custom><text name='contact/law' data='lcp'/><text name='contact/law' data='ncp'/></custom>"), 4,
     "`contact/law` is given already"},
    {WITH("<custom><numeric name='g/slop'/></custom>"), 4, "<numeric data>"},
    {WITH("<custom><numeric name='g/restitution' data='2'/></custom>"), 4, "g: restitution must be in 0..1"},
    {WITH("<custom><numeric name='g/friction_static' data='0.5'/></custom>"), 4, "less than the kinetic"},
    {WITH("<custom><numeric name='g/slop' data='0'/><numeric name='g/slop' data='0'/></custom>"), 4, "already"},
    {WITH("<custom><numeric name='g/stiction' data='0'/><numeric name='g/friction_static' data='2'/></custom>"), 4,
     "already"},
    {WITH("<keyframe><key qpos='0 0 1'/></keyframe>"), 4, "<key qpos>: 3 numbers, expected 7"},
    {WITH("<keyframe><key qvel='0 0 0 0 0 0 0'/></keyframe>"), 4, "<key qvel>"},
};

START_TEST(contact_law_from_custom_words) {
    tribo_model *m =
        read_text(WITH("<custom><text name='contact/law' data='lcp'/><text name='contact/solver' data='lemke'/>"
                       "<numeric name='contact/facets' data='8'/><numeric name='contact/noise' data='0.25'/>"
                       "<text name='contact/circumscribed' data='1'/><text name='author' data='a remark'/></custom>"));
    tribo_law_options law = tribo_model_law(m);
    ck_assert(law.law == TRIBO_LAW_LCP && law.solver == TRIBO_SOLVER_LEMKE);
    ck_assert(law.facets == 8 && law.noise == 0.25 && law.circumscribed && !law.raw && law.kappa == 0);
    tribo_model_free(m);
    tribo_law_options none = {0}, before = none;
    for (int k = 0; tribo_law_word(k); k++) /* every word takes its own values, and no other */
        ck_assert_int_eq(tribo_law_set(&none, tribo_law_word(k), "nonsense", NULL), TRIBO_E_ARG);
    ck_assert(memcmp(&none, &before, sizeof none) == 0);
    ck_assert_int_eq(tribo_law_set(&none, "softness", "mujoco", NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_law_set(&none, "smoothing", "erm", NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_law_set(&none, "facet-angle", "-0.5", NULL), TRIBO_OK);
    ck_assert(none.softness == TRIBO_SOFTNESS_MUJOCO && none.smoothing == TRIBO_SMOOTHING_ERM);
    ck_assert(none.facet_angle == -0.5);
}
END_TEST

/* What a scene turned on, an option can turn off: what was said counts, though it be 0. */
START_TEST(options_turn_off_what_a_scene_turned_on) {
    static const char *const words[] = {"raw", "circumscribed", "facet_angle", "kappa", "penalty", "max_iter"};
    tribo_model *m =
        read_text(WITH("<custom><text name='contact/raw' data='1'/><text name='contact/circumscribed' data='1'/>"
                       "<numeric name='contact/facet_angle' data='0.25'/><numeric name='contact/kappa' data='1'/>"
                       "<numeric name='contact/penalty' data='3'/><numeric name='contact/max_iter' data='7'/>"
                       "</custom>"));
    tribo_options o = tribo_default_options();
    tribo_ws *ws;
    ck_assert_int_eq(tribo_ws_new(m, &o, NULL, &ws, NULL), TRIBO_OK);
    tribo_law_options law = tribo_ws_options(ws).law;
    ck_assert(law.raw && law.circumscribed && law.facet_angle == 0.25 && law.kappa == 1 && law.penalty == 3);
    ck_assert_int_eq(law.max_iter, 7);
    tribo_ws_free(ws);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        ck_assert_int_eq(tribo_law_set(&o.law, words[k], "0", NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_ws_new(m, &o, NULL, &ws, NULL), TRIBO_OK);
    law = tribo_ws_options(ws).law;
    ck_assert(!law.raw && !law.circumscribed && law.facet_angle == 0 && law.kappa == 0 && law.penalty == 0);
    ck_assert_int_eq(law.max_iter, 0);
    tribo_ws_free(ws);
    tribo_model_free(m);
}
END_TEST

START_TEST(bad_scenes_are_refused) {
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        const char *text = REFUSED[i].text;
        tribo_status s = tribo_model_load_memory(text, strlen(text), "scene", NULL, &m, &diag);
        ck_assert_msg((s == TRIBO_E_PARSE || s == TRIBO_E_ARG) && !m, "%s: status %d", text, s);
        ck_assert_msg(strstr(diag.text, REFUSED[i].message) != NULL, "%s: `%s`", text, diag.text);
        ck_assert_msg(diag.line == REFUSED[i].line, "%s: line %d: %s", text, diag.line, diag.text);
    }
    tribo_model *m = NULL;
    ck_assert_int_eq(tribo_model_load("/nonexistent/x.xml", NULL, &m, NULL), TRIBO_E_IO);
    ck_assert_int_eq(tribo_model_load("/", NULL, &m, NULL), TRIBO_E_IO);
    ck_assert_int_eq(tribo_model_load(NULL, NULL, &m, NULL), TRIBO_E_IO);
    ck_assert_int_eq(tribo_model_load_memory(NULL, 0, NULL, NULL, &m, NULL), TRIBO_E_ARG);
}
END_TEST

/* Axes in every octant of rotations, half turns among them: the quaternion's matrix has them as columns. */
START_TEST(axes_become_quaternions) {
    for (int i = 0; i < 6 * 6 * 6; i++) {
        double angle[3] = {i % 6 * 1.0471975511965976, i / 6 % 6 * 1.0471975511965976, i / 36 * 1.0471975511965976};
        double q[4] = {1, 0, 0, 0}, turn[4];
        for (int k = 0; k < 3; k++) {
            ti_quat_exp(ti_vec3(k == 0 ? angle[0] : 0, k == 1 ? angle[1] : 0, k == 2 ? angle[2] : 0), turn);
            ti_quat_mul(q, turn, q);
        }
        ti_mat R = ti_quat_mat(q);
        char text[512];
        snprintf(text, sizeof text,
                 WITH("<worldbody><geom name='t' size='1' xyaxes='%.17g %.17g %.17g %.17g %.17g %.17g'/></worldbody>"),
                 R.m[0][0], R.m[1][0], R.m[2][0], R.m[0][1], R.m[1][1], R.m[2][1]);
        tribo_model *m = read_text(text);
        ti_mat S = ti_quat_mat(m->p0 + m->geom[tribo_model_geom_find(m, "t")].p + TI_P_QUAT);
        close_to(&S.m[0][0], &R.m[0][0], 9, 1e-14);
        tribo_model_free(m);
    }
}
END_TEST

/* A body lends its name to its only geom; a class may say what pairs have in common. */
START_TEST(borrowed_names_and_pair_classes) {
    tribo_model *m = read_text("<mujoco><default><pair friction='0.2 0.2' condim='3'/></default><worldbody>"
                               "<body name='a'><freejoint/><geom name='x' size='1'/></body><body "
                               "name='b'><freejoint/><geom name='y' size='1'/></body>"
                               "</worldbody><contact><pair geom1='x' geom2='y'/></contact>"
                               "<custom><numeric name='a/slop' data='0.25'/></custom></mujoco>");
    ck_assert_double_eq(m->p0[tribo_param_find(m, "x/slop")], 0.25);
    ck_assert_double_eq(m->p0[tribo_param_find(m, "x:y/friction")], 0.2);
    ck_assert_str_eq(tribo_model_body_name(m, 1), "b");
    ck_assert_int_eq(tribo_model_geom_shape(m, 1), TRIBO_SPHERE);
    tribo_model_free(m);
}
END_TEST

START_TEST(a_bomb_of_entities_is_not_expanded) {
    char text[2048] = "<?xml version='1.0'?><!DOCTYPE m [<!ENTITY a0 'aaaaaaaaaaaaaaaa'>";
    for (int i = 1; i < 12; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "<!ENTITY a%d '&a%d;&a%d;&a%d;&a%d;&a%d;&a%d;&a%d;&a%d;'>", i, i - 1, i - 1, i - 1, i - 1, i - 1,
                 i - 1, i - 1, i - 1);
    strcat(text, "]><mujoco model='&a11;'>&a11;</mujoco>");
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_int_eq(tribo_model_load_memory(text, strlen(text), "bomb", NULL, &m, &diag), TRIBO_E_PARSE);
    ck_assert_msg(strstr(diag.text, "document type"), "%s", diag.text);
}
END_TEST

START_TEST(deep_and_wide_scenes_end) {
    static char text[1 << 20];
    char *at = text + sprintf(text, "<mujoco><worldbody>");
    for (int i = 0; i < 5000; i++) at += sprintf(at, "<body>");
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_int_eq(tribo_model_load_memory(text, strlen(text), "deep", NULL, &m, &diag), TRIBO_E_PARSE);
    at = text + sprintf(text, "<mujoco><worldbody>");
    for (int i = 0; i < 150; i++) at += sprintf(at, "<body>");
    for (int i = 0; i < 150; i++) at += sprintf(at, "</body>");
    sprintf(at, "</worldbody></mujoco>");
    ck_assert_int_eq(tribo_model_load_memory(text, strlen(text), "deep", NULL, &m, &diag), TRIBO_E_PARSE);
    ck_assert_msg(strstr(diag.text, "deep"), "%s", diag.text);
    at = text + sprintf(text, "<mujoco><worldbody>");
    for (int i = 0; i < 3000; i++) at += sprintf(at, "<geom size='1'/>");
    sprintf(at, "</worldbody></mujoco>");
    ck_assert_int_eq(tribo_model_load_memory(text, strlen(text), "wide", NULL, &m, &diag), TRIBO_E_ARG);
    ck_assert_msg(strstr(diag.text, "no body that moves") && diag.line == 1, "%d: %s", diag.line, diag.text);
}
END_TEST

START_TEST(lines_beyond_16_bits) {
    enum { LINES = 70000 };
    char *text = malloc(LINES + 200);
    ck_assert_ptr_nonnull(text);
    int n = sprintf(text, "<mujoco>");
    memset(text + n, '\n', LINES);
    strcpy(text + n + LINES, "<wheel/></mujoco>");
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_int_eq(tribo_model_load_memory(text, strlen(text), "long", NULL, &m, &diag), TRIBO_E_PARSE);
    ck_assert_int_eq(diag.line, LINES + 1);
    free(text);
}
END_TEST

/* ---- saving ---- */

static double uniform(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* Those geoms of RICH whose class has Euler angles: what it has, MuJoCo lets overrule a geom's own quat. */
static bool turned_by_class(const char *geom) {
    return geom && (geom[0] == 'o' || strcmp(geom, "top") == 0);
}

/* Change about a share of p to other numbers that are physical. */
static void perturb(const tribo_model *m, double *p, double share, uint64_t *seed) {
    for (int i = 0; i < m->size.np; i++) {
        tribo_param_info info;
        ck_assert_int_eq(tribo_param_describe(m, i, &info), TRIBO_OK);
        double r = uniform(seed);
        if (!info.used || uniform(seed) >= share) continue;
        if (info.kind == TRIBO_PARAM_QUAT && turned_by_class(tribo_model_geom_name(m, info.geom))) continue;
        if (info.kind == TRIBO_PARAM_SIZE && m->geom[info.geom].mesh) continue; /* cannot be written */
        switch (info.kind) {
        case TRIBO_PARAM_INERTIA:
            p[i] *= 1 + 0.02 * r; /* small enough to stay physical */
            break;
        case TRIBO_PARAM_MASS:
        case TRIBO_PARAM_SIZE:
        case TRIBO_PARAM_EDGE_RADIUS:
            p[i] *= 0.5 + r;
            break;
        case TRIBO_PARAM_SLOP:
            p[i] = 0.01 * r;
            break;
        default:
            p[i] = r;
        }
    }
}

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static bool holds(const char *path, const char *text) {
    static char all[1 << 20];
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    all[fread(all, 1, sizeof all - 1, f)] = '\0';
    fclose(f);
    return strstr(all, text) != NULL;
}

/* Parameters that no model can have, and what is said of them. */
static void refuses(const tribo_model *m, const double *p, const char *what) {
    tribo_diag diag = {0};
    ck_assert_int_eq(tribo_params_check(m, p, &diag), TRIBO_E_ARG);
    ck_assert_ptr_nonnull(strstr(diag.text, what));
}

/* load(save(p)) is p: every used number to 1e-12, and the pairs have their materials from the same places.
 * @return false if the choice of materials cannot be expressed, which saving then says. */
static bool survives(const char *path, const tribo_model *m, const double *p) {
    static const char OUT[] = "mjcf_test_saved.xml";
    tribo_diag diag = {0};
    tribo_status s = tribo_model_save(m, p, path, OUT, &diag);
    if (s == TRIBO_E_ARG && strstr(diag.text, "priority")) return false;
    ck_assert_msg(s == TRIBO_OK, "%s: %d: %s", path, diag.line, diag.text);
    tribo_model *back = read_file(OUT);
    for (int i = 0; i < m->size.np; i++) {
        tribo_param_info info;
        ck_assert_int_eq(tribo_param_describe(m, i, &info), TRIBO_OK);
        double norm = 1;
        if (info.kind == TRIBO_PARAM_QUAT) {
            const double *q = p + m->geom[info.geom].p + TI_P_QUAT;
            norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        }
        if (info.used)
            ck_assert_msg(fabs(back->p0[i] - p[i] / norm) <= 1e-12, "%s: %s: %.17g, expected %.17g", path, info.name,
                          back->p0[i], p[i] / norm);
    }
    ti_pair_walk at = {0}, from = {0};
    while (ti_pair_next(m, &from)) { /* their length is that of the sizes in the file */
        ck_assert(ti_pair_next(back, &at));
        ck_assert_int_eq(at.pair.a, from.pair.a);
        ck_assert_int_eq(at.pair.b, from.pair.b);
        ck_assert_mem_eq(at.pair.material, from.pair.material, sizeof at.pair.material);
    }
    ck_assert(!ti_pair_next(back, &at));
    ck_assert_mem_eq(back->x0, m->x0, sizeof *m->x0 * (size_t)m->size.nx);
    tribo_model_free(back);
    ck_assert_int_eq(remove(OUT), 0);
    return true;
}

START_TEST(saved_scenes_read_as_the_numbers_given) {
    static const char PATH[] = "mjcf_test_rich.xml";
    write_text(PATH, RICH);
    tribo_model *m = read_file(PATH);
    double p[256];
    uint64_t seed = 2463534242u;
    int kept = 0;
    for (int trial = 0; trial < 200; trial++) {
        tribo_model_params(m, p);
        perturb(m, p, trial % 4 == 0 ? 1 : trial % 4 == 1 ? 0.3 : 0.01, &seed);
        ck_assert_int_eq(tribo_params_check(m, p, NULL), TRIBO_OK);
        kept += survives(PATH, m, p);
    }
    printf("%d of 200 could be expressed\n", kept);
    ck_assert_int_ge(kept, 80); /* the others mix up whose friction is larger */
    for (int i = 0; i < m->size.np; i++) {
        tribo_param_info info;
        tribo_model_params(m, p);
        ck_assert_int_eq(tribo_param_describe(m, i, &info), TRIBO_OK);
        if (info.kind == TRIBO_PARAM_FRICTION)
            p[i] += 0.05;
        else if (info.kind == TRIBO_PARAM_RESTITUTION || info.kind == TRIBO_PARAM_STICTION)
            p[i] += 0.25;
        else if (info.kind == TRIBO_PARAM_BAUMGARTE)
            p[i] -= 0.25;
        else
            p[i] += 1e-3;
        bool turned = info.kind == TRIBO_PARAM_QUAT && turned_by_class(tribo_model_geom_name(m, info.geom));
        if (info.used && !turned) survives(PATH, m, p);
    }
    tribo_model_free(m);
    ck_assert_int_eq(remove(PATH), 0);
}
END_TEST

START_TEST(saving_changes_only_what_it_must) {
    static const char PATH[] = "mjcf_test_rich.xml", OUT[] = "mjcf_test_saved.xml";
    write_text(PATH, RICH);
    tribo_model *m = read_file(PATH);
    double p[256];
    tribo_model_params(m, p);
    ck_assert_int_eq(tribo_model_save(m, p, PATH, OUT, NULL), TRIBO_OK);
    ck_assert(holds(OUT, "a remark that is kept"));
    ck_assert(holds(OUT, "diaginertia=\"0.03 0.02 0.04\" euler=\"40 50 60\""));
    ck_assert(!holds(OUT, "o1/"));
    p[tribo_param_find(m, "h1/friction")] = 0.36;
    p[tribo_param_find(m, "two/mass")] = 3;
    ck_assert_int_eq(tribo_model_save(m, p, PATH, OUT, NULL), TRIBO_OK);
    ck_assert(holds(OUT, "friction=\"0.36\""));
    ck_assert(holds(OUT, "mass=\"3\" fullinertia="));
    ck_assert(holds(OUT, "name=\"h1/friction_static\" data=\"0.41"));
    /* In place. */
    ck_assert_int_eq(tribo_model_save(m, p, OUT, OUT, NULL), TRIBO_OK);
    ck_assert(survives(OUT, m, p));
    ck_assert_int_eq(tribo_model_save(m, p, "/nonexistent", OUT, NULL), TRIBO_E_IO);
    ck_assert_int_eq(tribo_model_save(m, p, PATH, "/nonexistent/x", NULL), TRIBO_E_IO);
    p[tribo_param_find(m, "top/quat/w")] = 0.5;
    ck_assert_int_eq(tribo_model_save(m, p, PATH, OUT, NULL), TRIBO_E_ARG);
    p[tribo_param_find(m, "two/mass")] = -3;
    ck_assert_int_eq(tribo_model_save(m, p, PATH, OUT, NULL), TRIBO_E_ARG);
    tribo_model_free(m);
    remove(OUT);
    m = read_text(WITH(""));
    tribo_model_params(m, p);
    ck_assert_int_eq(tribo_model_save(m, p, PATH, OUT, NULL), TRIBO_E_ARG); /* another scene */
    tribo_model_free(m);
    ck_assert_int_eq(remove(PATH), 0);
}
END_TEST

/* Inertia that the file says to take from the geoms, until it is given. */
START_TEST(saving_overrules_inertiafromgeom) {
    static const char PATH[] = "mjcf_test_rich.xml";
    write_text(PATH, "<mujoco><compiler inertiafromgeom='true'/><worldbody><body name='a'><freejoint/>"
                     "<inertial pos='0 0 0' mass='9' diaginertia='9 9 9'/><geom size='1'/></body>"
                     "<body name='b'><freejoint/><geom size='1' condim='1'/></body></worldbody></mujoco>");
    tribo_model *m = read_file(PATH);
    double p[128];
    tribo_model_params(m, p);
    ck_assert_double_eq_tol(p[tribo_param_find(m, "a/mass")], 4000 * acos(-1) / 3, 1e-9);
    ck_assert_double_eq(p[tribo_param_find(m, "b/friction")], 0);
    p[tribo_param_find(m, "b/mass")] = 2;
    p[tribo_param_find(m, "gravity/x")] = 0.5;
    p[tribo_param_find(m, "a/friction")] = 1.25;
    ck_assert(survives(PATH, m, p));
    tribo_model_free(m);
    ck_assert_int_eq(remove(PATH), 0);
}
END_TEST

/* An inertia that no solid has, where the file says to mend it or to take the geoms', in a scene with another mass. */
START_TEST(saving_keeps_inertials_that_were_overruled) {
    static const char PATH[] = "mjcf_test_rich.xml", *const COMPILER[] = {"balanceinertia='true'",
                                                                          "inertiafromgeom='true'"};
    for (int i = 0; i < 2; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "<mujoco><compiler %s/><worldbody><body name='a'><freejoint/><frame pos='1 0 0'><inertial pos='0 0 0' "
                 "mass='9' diaginertia='1 1 7'/></frame><geom size='.1'/></body>"
                 "<body name='b'><freejoint/><geom size='1'/></body></worldbody></mujoco>",
                 COMPILER[i]);
        write_text(PATH, text);
        tribo_model *m = read_file(PATH);
        double p[128];
        tribo_model_params(m, p);
        p[tribo_param_find(m, "b/mass")] = 2;
        ck_assert(survives(PATH, m, p));
        tribo_model_free(m);
    }
    ck_assert_int_eq(remove(PATH), 0);
}
END_TEST

/* A mesh that touches nothing and makes its body's mass: with that written beside it, it is only seen, which takes no
 * other number from the scene. */
START_TEST(saving_what_only_weighs) {
    static const char PATH[] = "mjcf_test_weighs.xml", OUT[] = "mjcf_test_saved.xml";
    static const char *const WORD[] = {"b/mass", "b/com/y", "ball/size/x"};
    write_text(PATH,
               "<mujoco><compiler inertiafromgeom='true'/><asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' "
               "face='0 2 1 0 1 3 0 3 2 1 2 3'/></asset><worldbody><body name='b'><freejoint/>"
               "<inertial pos='0 0 0' mass='9' diaginertia='1 1 1'/>"
               "<geom name='weight' type='mesh' mesh='m' contype='0' conaffinity='0'/><geom name='ball' size='.1' "
               "pos='0 0 1'/></body><body name='c' pos='3 0 0'><freejoint/><geom type='mesh' mesh='m' contype='0' "
               "conaffinity='0'/><geom name='other' size='.1'/></body></worldbody></mujoco>");
    tribo_model *m = read_file(PATH);
    ck_assert_int_eq(m->size.ngeom, 4);
    for (size_t i = 0; i < sizeof WORD / sizeof *WORD; i++) {
        double p[256];
        tribo_diag diag = {0};
        tribo_model_params(m, p);
        p[tribo_param_find(m, WORD[i])] += 0.01;
        ck_assert_msg(tribo_model_save(m, p, PATH, OUT, &diag) == TRIBO_OK, "%s: %s", WORD[i], diag.text);
        tribo_model *again = read_file(OUT);
        for (int k = 0; k < again->size.np; k++) {
            tribo_param_info info;
            ck_assert_int_eq(tribo_param_describe(again, k, &info), TRIBO_OK);
            int at = tribo_param_find(m, info.name);
            if (at >= 0) close_to(again->p0 + k, p + at, 1, 1e-12);
        }
        close_to(again->p0 + tribo_param_find(again, WORD[i]), p + tribo_param_find(m, WORD[i]), 1, 1e-12);
        tribo_model_free(again);
    }
    tribo_model_free(m);
    ck_assert(remove(PATH) == 0 && remove(OUT) == 0);
}
END_TEST

/* A body without matter, which geoms overruled in the scene, is written as MuJoCo takes it: by its diagonal. */
START_TEST(saving_bodies_without_matter) {
    static const char PATH[] = "mjcf_test_eye.xml", OUT[] = "mjcf_test_saved.xml";
    write_text(PATH, "<mujoco><compiler inertiafromgeom='true'/><worldbody><body name='b'><freejoint/><geom name='g' "
                     "size='.1'/><body name='eye' pos='0 0 .2'><inertial pos='0 0 .1' mass='0' diaginertia='0 0 0'/>"
                     "</body></body></worldbody></mujoco>");
    tribo_model *m = read_file(PATH);
    double p[256];
    tribo_model_params(m, p);
    p[tribo_param_find(m, "b/mass")] *= 1.1;
    ck_assert_int_eq(tribo_model_save(m, p, PATH, OUT, NULL), TRIBO_OK);
    ck_assert(holds(OUT, "mass=\"0\" diaginertia=\"0 0 0\"") && !holds(OUT, "fullinertia"));
    tribo_model_free(m);
    ck_assert(remove(PATH) == 0 && remove(OUT) == 0);
}
END_TEST

/* What a servo has by a damping ratio is a number of its own from then on, whatever moves it: its gear, gain, bias or
 * the mass on its joint. */
START_TEST(saving_writes_out_a_damping_ratio) {
    static const char PATH[] = "mjcf_test_rich.xml", *const NUMBER[] = {"a/gear", "a/gain/constant", "a/bias/length",
                                                                        "a/bias/velocity", "b/mass"};
    write_text(PATH, "<mujoco><default><position kp='3' dampratio='.5'/></default><worldbody><body name='b'>"
                     "<joint name='j'/><geom size='.1' pos='.3 0 0'/></body></worldbody><actuator>"
                     "<position name='a' joint='j' kp='10' dampratio='1'/><position joint='j'/></actuator></mujoco>");
    tribo_model *m = read_file(PATH);
    double p[128];
    for (size_t i = 0; i < sizeof NUMBER / sizeof *NUMBER; i++) {
        tribo_model_params(m, p);
        p[tribo_param_find(m, NUMBER[i])] *= 1.5;
        ck_assert(survives(PATH, m, p));
    }
    tribo_model_free(m);
    ck_assert_int_eq(remove(PATH), 0);
}
END_TEST

/* Such a number of a servo is read as a damping ratio; a spring of a ball has no place of its own. */
START_TEST(saving_says_what_is_lost) {
    static const char PATH[] = "mjcf_test_rich.xml", OUT[] = "mjcf_test_saved.xml";
    write_text(PATH, "<mujoco><worldbody><body name='b'><joint name='j'/><geom size='.1' pos='.3 0 0'/>"
                     "<body><joint name='k' type='ball'/><geom size='.1'/></body></body></worldbody>"
                     "<actuator><position name='a' joint='j' kp='10'/></actuator></mujoco>");
    tribo_model *m = read_file(PATH);
    tribo_diag diag = {0};
    double p[128];
    tribo_model_params(m, p);
    p[tribo_param_find(m, "k/springref")] = 0.5;
    ck_assert(survives(PATH, m, p));
    p[tribo_param_find(m, "a/bias/velocity")] = 0.5;
    ck_assert_int_eq(tribo_model_save(m, p, PATH, OUT, &diag), TRIBO_E_ARG);
    ck_assert_msg(strstr(diag.text, "a/bias/velocity: 0.5 would be read as"), "%s", diag.text);
    tribo_model_free(m);
    ck_assert_int_eq(remove(PATH), 0);
}
END_TEST

/* Equal numbers everywhere, and one of them lowered: whose counts is then said by priorities. Where a geom gives the
 * friction and the other the restitution, nothing in the format says it. */
START_TEST(saving_settles_whose_material_counts) {
    static const char PATH[] = "mjcf_test_equal.xml";
    write_text(PATH, "<mujoco><worldbody><geom name='floor' type='plane' size='0 0 1'/>"
                     "<body name='a'><freejoint/><geom name='a' size='1'/></body>"
                     "<body name='b'><freejoint/><geom name='b' size='1'/></body></worldbody></mujoco>");
    tribo_model *m = read_file(PATH);
    double p[128];
    tribo_model_params(m, p);
    p[tribo_param_find(m, "floor/friction")] = 0.2;
    ck_assert(survives(PATH, m, p));
    p[tribo_param_find(m, "a/friction")] = 0.1;
    p[tribo_param_find(m, "a/restitution")] = 0.5;
    ck_assert(survives(PATH, m, p));
    tribo_model_free(m);
    write_text(PATH, "<mujoco><worldbody><geom name='floor' type='plane' size='0 0 1'/>"
                     "<body name='a'><freejoint/><geom name='a' size='1'/></body>"
                     "<body name='b'><freejoint/><geom name='b' size='1'/></body></worldbody>"
                     "<custom><numeric name='a/restitution' data='0.5'/></custom></mujoco>");
    m = read_file(PATH);
    tribo_model_params(m, p);
    p[tribo_param_find(m, "floor/friction")] = 0.2;
    ck_assert(!survives(PATH, m, p));
    tribo_model_free(m);
    ck_assert_int_eq(remove(PATH), 0);
}
END_TEST

/* What a class of the file would overrule is not written: said are number, element and line. A spring's reference is
 * written in the file's angle, and condim is what the friction asks for. */
START_TEST(saving_says_what_a_class_overrules) {
    static const char PATH[] = "mjcf_test_class.xml", OUT[] = "mjcf_test_out.xml";
#define CLASSED(words) "<mujoco><default><default class='c'>" words "</default></default>\n<worldbody>"
#define ONE_GEOM(words) "<body name='b'>\n<freejoint/><geom name='g' class='c' " words "/></body></worldbody></mujoco>"
    static const struct {
        const char *text, *param, *message;
        int line;
    } CASE[] = {
        {CLASSED("<geom type='capsule' fromto='0 0 0 0 0 1' size='.1'/>") ONE_GEOM(""), "g/size/x",
         "<geom size>: its class has fromto, which overrules it", 3},
        {CLASSED("<geom zaxis='1 0 0'/>") ONE_GEOM("size='.1'"), "g/quat/w",
         "<geom quat>: its class has zaxis, which overrules it", 3},
        {CLASSED("<site zaxis='1 0 0'/>") "<body name='b'>\n<freejoint/><geom size='.1'/><site name='g' class='c'/>"
                                          "</body></worldbody></mujoco>",
         "g/site_quat/w", "<site quat>: its class has zaxis, which overrules it", 3},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        write_text(PATH, CASE[i].text);
        tribo_model *m = read_file(PATH);
        double p[256];
        tribo_diag diag = {0};
        ck_assert_int_le(m->size.np, 256);
        tribo_model_params(m, p);
        int at = tribo_param_find(m, CASE[i].param);
        ck_assert_msg(at >= 0, "%s", CASE[i].param);
        p[at] += 0.125;
        ck_assert_int_lt(tribo_model_save(m, p, PATH, OUT, &diag), 0);
        ck_assert_msg(strstr(diag.text, CASE[i].message) && diag.line == CASE[i].line, "%zu: line %d: %s", i, diag.line,
                      diag.text);
        tribo_model_free(m);
    }
    write_text(PATH,
               "<mujoco><worldbody><body><joint name='j' springref='30' stiffness='1' range='-90 90' limited='true'/>"
               "<geom name='g' size='.1'/></body><geom name='f' type='plane' size='0 0 1' condim='1'/></worldbody>"
               "<contact><pair name='gf' geom1='g' geom2='f'/></contact></mujoco>");
    tribo_model *m = read_file(PATH);
    double p[256];
    tribo_model_params(m, p);
    p[tribo_param_find(m, "j/springref")] = acos(-1) / 4;
    p[tribo_param_find(m, "j/range/upper")] = acos(-1) / 3;
    p[tribo_param_find(m, "gf/torsion")] = 0.01;
    p[tribo_param_find(m, "g/rolling")] = 0.002;
    ck_assert(survives(PATH, m, p));
    ck_assert_int_eq(tribo_model_save(m, p, PATH, OUT, NULL), TRIBO_OK);
    ck_assert(holds(OUT, "springref=\"45\"") && holds(OUT, "condim=\"4\"") && holds(OUT, "condim=\"6\""));
    tribo_model_free(m);
    remove(OUT), remove(PATH);
}
END_TEST

/* The scenes of the project: each is read, and survives being saved. */
START_TEST(own_scenes) {
    static const char *const NAME[] = {"bounce",    "capsules", "collision", "corner", "cube-toss",
                                       "cylinders", "meshes",   "oblique",   "pile",   "push",
                                       "roll",      "slide",    "spin",      "stack",  "takeoff"};
    const char *folder = getenv("TRIBO_SCENES");
    if (!folder) {
        printf("skipped: TRIBO_SCENES does not say where the scenes are\n");
        return;
    }
    uint64_t seed = 1;
    int kept = 0;
    for (size_t i = 0; i < sizeof NAME / sizeof *NAME; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.xml", folder, NAME[i]);
        tribo_model *m = read_file(path);
        double p[512];
        for (int trial = 0; trial < 5; trial++) {
            tribo_model_params(m, p);
            perturb(m, p, 0.5, &seed);
            kept += survives(path, m, p);
        }
        tribo_model_params(m, p);
        p[tribo_param_find(m, "floor/friction")] = 0.01; /* it has priority: this is its to say */
        ck_assert(survives(path, m, p));
        tribo_model_free(m);
    }
    ck_assert_int_ge(kept, 50); /* of 60; boxes and balls in a pile may mix */
}
END_TEST

/* @return how many numbers the scene has. */
static int names_lead_back(const char *path) {
    tribo_model *m = read_file(path);
    tribo_param_info info;
    int n = m->size.np;
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(tribo_param_describe(m, i, &info), TRIBO_OK);
        ck_assert_msg(tribo_param_find(m, info.name) == i, "%s: %s is not found", path, info.name);
    }
    tribo_model_free(m);
    return n;
}

START_TEST(every_name_leads_back) {
    const char *scenes = getenv("TRIBO_SCENES");
    DIR *folder = scenes ? opendir(scenes) : NULL;
    if (!folder) {
        printf("skipped: TRIBO_SCENES does not say where the scenes are\n");
        return;
    }
    int n = 0;
    for (struct dirent *f; (f = readdir(folder));) {
        char path[1024];
        if (!strstr(f->d_name, ".xml")) continue;
        snprintf(path, sizeof path, "%s/%s", scenes, f->d_name);
        n += names_lead_back(path);
    }
    closedir(folder);
    ck_assert_int_gt(n, 6000);
}
END_TEST

/* A joint and a geom of one name have a restitution each. */
START_TEST(numbers_of_one_name_are_told_apart) {
    static const char PATH[] = "mjcf_test_shared.xml";
    write_text(PATH, "<mujoco><worldbody><body name='a'><joint name='a' range='-1 1'/><geom name='a' size='1'/></body>"
                     "</worldbody><custom><numeric name='a/limit_restitution' data='0.5'/>"
                     "<numeric name='a/restitution' data='0.25'/></custom></mujoco>");
    tribo_model *m = read_file(PATH);
    double p[128];
    tribo_model_params(m, p);
    int limit = tribo_param_find(m, "a/limit_restitution"), geom = tribo_param_find(m, "a/restitution");
    ck_assert_double_eq(p[limit], 0.5);
    ck_assert_double_eq(p[geom], 0.25);
    p[limit] = 0.125, p[geom] = 0.75;
    ck_assert(survives(PATH, m, p));
    tribo_model_free(m);
    ck_assert_int_eq(remove(PATH), 0);
}
END_TEST

/* Limits of a tendon are written; one without is not in the model. */
START_TEST(tendons_are_read_and_written) {
    static const char PATH[] = "mjcf_test_tendons.xml";
    write_text(PATH,
               "<mujoco><default><tendon range='-1 2'/></default><worldbody><body><joint name='a'/><geom size='1'/>"
               "</body></worldbody><tendon><fixed name='t'><joint joint='a' coef='2'/></fixed>"
               "<fixed limited='false'><joint joint='a' coef='2'/></fixed></tendon></mujoco>");
    tribo_model *m = read_file(PATH);
    double p[128];
    tribo_model_params(m, p);
    ck_assert_int_eq(tribo_model_sizes(m).ntendon, 1);
    ck_assert_str_eq(tribo_model_tendon_name(m, 0), "t");
    ck_assert_ptr_null(tribo_model_tendon_name(m, 1));
    ck_assert_int_eq(tribo_model_tendon_find(m, "t"), 0);
    ck_assert_int_eq(tribo_model_tendon_find(m, "a"), -1);
    int lower = tribo_param_find(m, "t/tendon_range/lower");
    ck_assert_double_eq(p[lower], -1);
    p[lower] = -0.5, p[lower + 1] = 1.25;
    ck_assert(survives(PATH, m, p));
    p[lower] = 2;
    refuses(m, p, "tendon t: its range must be two numbers in rising order");
    tribo_model_free(m);
    ck_assert_int_eq(remove(PATH), 0);
}
END_TEST

/* What holds a body with nothing in it holds the one that it moves with, there; the same of what does not move. */
START_TEST(empty_bodies_are_held) {
    static const char TEXT[] =
        "<mujoco><worldbody><body name='a' pos='1 2 3'><joint/><geom size='1'/><body name='e' pos='0 0 .5' quat='1 1 0 "
        "0'>"
        "<frame pos='.25 0 0'><body name='f' pos='0 1 0'/></frame></body></body><body name='b' pos='0 0 4'><joint/>"
        "<geom size='1'/></body><body name='s' pos='0 2 0'><geom size='.1'/></body></worldbody><equality>%s</equality>"
        "</mujoco>";
    static const char *const SAME[][2] = {
        {"<connect body1='f' body2='b' anchor='0 0 1'/>", "<connect body1='a' body2='b' anchor='.25 -1 1.5'/>"},
        {"<connect body1='b' body2='f' anchor='0 0 1'/>", "<connect body1='b' body2='a' anchor='0 0 1'/>"},
        {"<connect body1='s' body2='b' anchor='0 0 1'/>", "<connect body1='world' body2='b' anchor='0 2 1'/>"},
        {"<weld body1='b' body2='f' anchor='1 0 0'/>", "<weld body1='b' body2='a' anchor='1.25 0 1.5'/>"},
        {"<weld body1='e' body2='b' relpose='1 2 3 1 0 1 0'/>",
         "<weld body1='a' body2='b' relpose='1 -3 2.5 1 1 1 1'/>"},
        {"<weld body1='b' body2='e' relpose='1 2 3 1 0 0 0' anchor='0 0 1'/>",
         "<weld body1='b' body2='a' relpose='1 2 3 1 -1 0 0' anchor='0 -1 .5'/>"},
        {"<weld body1='s' body2='b'/>", "<weld body1='world' body2='b'/>"},
        {"<weld body1='e' body2='a'/><connect body1='s' anchor='0 0 0'/>", ""},
    };
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++) {
        tribo_model *m[2];
        for (int k = 0; k < 2; k++) {
            char text[1024];
            tribo_diag diag = {0};
            snprintf(text, sizeof text, TEXT, SAME[i][k]);
            tribo_status s = tribo_model_load_memory(text, strlen(text), "held", NULL, &m[k], &diag);
            ck_assert_msg(s == TRIBO_OK, "%s: %s", SAME[i][k], diag.text);
        }
        ck_assert_int_eq(m[0]->size.nequality, m[1]->size.nequality);
        for (int e = 0; e < m[0]->size.nequality; e++) {
            const ti_equality *x = &m[0]->equality[e], *y = &m[1]->equality[e];
            ck_assert(x->kind == y->kind && x->a == y->a && x->b == y->b);
            for (int k = 0; k < 3; k++) ck_assert_double_eq_tol(x->pos_a[k], y->pos_a[k], 1e-14);
            for (int k = 0; k < 3; k++) ck_assert_double_eq_tol(x->pos_b[k], y->pos_b[k], 1e-14);
            for (int k = 0; k < 4; k++) ck_assert_double_eq_tol(x->quat[k], y->quat[k], 1e-14);
        }
        tribo_model_free(m[0]), tribo_model_free(m[1]);
    }
}
END_TEST

START_TEST(round_edges_are_read_and_written) {
    static const char PATH[] = "mjcf_test_edges.xml";
    write_text(PATH, "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/>"
                     "<body name='a'><freejoint/><geom name='a' type='box' size='.3 .2 .1'/></body>"
                     "<body name='b'><freejoint/><geom name='b' type='cylinder' size='.3 .2'/></body></worldbody>"
                     "<custom><numeric name='a/edge_radius' data='0.05'/></custom></mujoco>");
    tribo_model *m = read_file(PATH);
    double p[128];
    tribo_model_params(m, p);
    int box = tribo_param_find(m, "a/edge_radius"), drum = tribo_param_find(m, "b/edge_radius");
    ck_assert_double_eq(p[box], 0.05);
    ck_assert_double_eq(p[drum], 0);
    p[box] = 0.0625, p[drum] = 0.125;
    ck_assert(survives(PATH, m, p));
    p[box] = 0.1;
    refuses(m, p, "edge_radius must be less than each number of size");
    p[box] = 0, p[tribo_param_find(m, "floor/edge_radius")] = 0.01;
    refuses(m, p, "edge_radius is of boxes and cylinders");
    tribo_model_free(m);
    ck_assert_int_eq(remove(PATH), 0);
}
END_TEST

/* Pairs that say the same again are one; what is written says it as often. Others of the same geoms are refused. */
START_TEST(pairs_may_be_said_twice) {
#define TWICE(second)                                                                                                  \
    "<mujoco><worldbody><geom name='f' type='plane' size='1 1 1'/><body name='a'><freejoint/><geom name='g' "          \
    "size='.1'/></body></worldbody><contact><pair name='p' geom1='f' geom2='g' condim='4' friction='.5 .5 .1'/>"       \
    "<pair geom1='g' geom2='f' " second "/></contact><custom><numeric name='p/slop' data='0.001'/></custom></mujoco>"
    static const char PATH[] = "mjcf_test_twice.xml";
    write_text(PATH, TWICE("condim='4' friction='.5 .5 .1'"));
    tribo_model *m = read_file(PATH);
    double p[128];
    ck_assert_int_eq(tribo_model_sizes(m).npair, 1);
    tribo_model_params(m, p);
    ck_assert_double_eq(p[tribo_param_find(m, "p/friction")], 0.5);
    p[tribo_param_find(m, "p/friction")] = 0.25, p[tribo_param_find(m, "p/slop")] = 0.002;
    ck_assert(survives(PATH, m, p));
    p[tribo_param_find(m, "p/torsion")] = 0.3;
    ck_assert(survives(PATH, m, p));
    tribo_model_free(m);
    ck_assert_int_eq(remove(PATH), 0);
    static const char *const OTHERS[] = {TWICE("condim='3' friction='.5 .5 .1'"),
                                         TWICE("condim='4' friction='.6 .6 .1'"),
                                         TWICE("condim='4' friction='.5 .5 .1' margin='1'")};
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        tribo_diag diag = {0};
        m = NULL;
        tribo_status s = tribo_model_load_memory(OTHERS[i], strlen(OTHERS[i]), "scene", NULL, &m, &diag);
        ck_assert_msg(s < 0 && strstr(diag.text, "these geoms have a pair already"), "%zu: %s", i, diag.text);
    }
}
END_TEST

/* Sites say by themselves where they hold: of bodies that move, of what is welded to those, of the world. */
START_TEST(sites_are_held_together) {
    tribo_model *m = read_text(
        "<mujoco><worldbody><site name='nail' pos='0.5 0 1'/><body name='a' pos='1 0 0'><freejoint/><geom size='0.1'/>"
        "<site name='tip' pos='0.1 0.2 0.3'/><body pos='0 0 0.5'><site name='top' pos='0 0.1 0' quat='1 0 0 1'/></body>"
        "</body><body name='b' pos='3 1 0'><freejoint/><geom size='0.1'/><site name='end' pos='0 0 0.4'/></body>"
        "<body name='post' pos='0 2 0'><geom size='0.1'/><site name='peg' pos='0 0 0.1'/></body></worldbody><equality>"
        "<connect site1='tip' site2='nail'/><weld site1='top' site2='end'/><connect site1='nail' site2='peg'/>"
        "</equality></mujoco>");
    ck_assert_int_eq(tribo_model_sizes(m).nequality, 2);
    const ti_equality *e = m->equality;
    ck_assert(e[0].kind == TRIBO_EQUALITY_CONNECT && e[0].a == 0 && e[0].b == TRIBO_WORLD);
    close_to(e[0].pos_a, (double[3]){0.1, 0.2, 0.3}, 3, 1e-15);
    close_to(e[0].pos_b, (double[3]){0.5, 0, 1}, 3, 1e-15);
    ck_assert(e[1].kind == TRIBO_EQUALITY_WELD && e[1].a == 0 && e[1].b == 1);
    close_to(e[1].pos_a, (double[3]){0, 0.1, 0.5}, 3, 1e-15);
    close_to(e[1].pos_b, (double[3]){0, 0, 0.4}, 3, 1e-15);
    close_to(e[1].quat, (double[4]){sqrt(0.5), 0, 0, sqrt(0.5)}, 4, 1e-15);
    tribo_model_free(m);
}
END_TEST

/* What does not move needs nothing to hold it. */
START_TEST(what_stands_is_not_held) {
    tribo_model *m =
        read_text("<mujoco><worldbody><body name='s'><geom size='0.1'/><body name='t' pos='0 0 1'><geom "
                  "size='0.1'/></body></body><body name='a' pos='1 0 0'><freejoint/><geom size='0.1'/>"
                  "</body></worldbody><equality><weld body1='s' body2='t'/><weld body1='t'/>"
                  "<connect body1='s' body2='world' anchor='0 0 0'/><weld body1='a'/></equality></mujoco>");
    ck_assert_int_eq(tribo_model_sizes(m).nequality, 1);
    ck_assert_int_eq(m->equality[0].a, 0);
    tribo_model_free(m);
}
END_TEST

/* Bodies of motion capture are places in the world: a weld may hold another to one, geoms may lie on it. */
START_TEST(mocap_bodies_stand_where_they_are_placed) {
#define HAND_HELD(more, key)                                                                                           \
    "<mujoco><worldbody><body name='a' pos='1 0 0'><freejoint/><geom size='0.1'/></body><frame pos='0 0 1'>"           \
    "<body name='hand' mocap='true' pos='0 2 0' quat='0 0 0 -1'><geom name='palm' size='0.1'/>" more                   \
    "</body></frame></worldbody><equality><weld body1='hand' body2='a' relpose='0 1 0 1 0 0 0'/></equality>"           \
    "<keyframe><key " key "/></keyframe></mujoco>"
    static const char *const FINE[] = {"qvel='1 2 3 0 0 0'", "mpos='0 2 1'", "mpos='0 2 1' mquat='0 0 0 2'"};
    static const struct {
        const char *text, *what;
    } WRONG[] = {
        {HAND_HELD("", "mpos='0 2 0'"), "<key mpos>: a key that places `mocap` bodies elsewhere"},
        {HAND_HELD("", "mquat='1 0 0 0'"), "<key mquat>: a key that places `mocap` bodies elsewhere"},
        {HAND_HELD("", "mpos='0 2'"), "2 numbers, expected 3"},
        {HAND_HELD("<joint/>", ""), "<body mocap>: it belongs to a body without joints"},
        {HAND_HELD("<body mocap='true'><geom size='1'/></body>", ""), "it belongs to a body right in the world"},
    };
    for (size_t i = 0; i < sizeof FINE / sizeof *FINE; i++) {
        char text[800];
        snprintf(text, sizeof text, HAND_HELD("", "%s"), FINE[i]);
        tribo_model *m = read_text(text);
        const ti_equality *e = m->equality;
        ck_assert_int_eq(tribo_model_sizes(m).nbody, 1);
        ck_assert_int_eq(tribo_model_geom_body(m, tribo_model_geom_find(m, "palm")), TRIBO_WORLD);
        ck_assert(e->a == TRIBO_WORLD && e->b == 0);
        close_to(e->pos_a, (double[3]){0, 1, 1}, 3, 1e-15); /* the weld's anchor, where the other's origin is to be */
        tribo_model_free(m);
    }
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        tribo_status s = tribo_model_load_memory(WRONG[i].text, strlen(WRONG[i].text), "scene", NULL, &m, &diag);
        ck_assert_msg(s == TRIBO_E_PARSE && strstr(diag.text, WRONG[i].what), "%zu: %s", i, diag.text);
    }
}
END_TEST

START_TEST(four_zeros_are_no_turn) {
    tribo_model *m =
        read_text("<mujoco><worldbody><body name='a'><freejoint/><geom size='0.1'/></body><body name='b' pos='1 0 0'>"
                  "<joint type='slide'/><joint type='ball'/><geom size='0.1'/></body></worldbody>"
                  "<keyframe><key name='k' qpos='1 2 3 0 0 0 0 4 0 0 0 0'/></keyframe></mujoco>");
    static const double wanted[12] = {1, 2, 3, 1, 0, 0, 0, 4, 1, 0, 0, 0};
    double x[12 + 10];
    ck_assert_int_eq(tribo_model_sizes(m).nx, 22);
    tribo_model_state0(m, x);
    close_to(x, wanted, 12, 0);
    tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("mjcf");
    TCase *t = tcase_create("mjcf");
    tcase_add_test(t, numbers_are_mujocos);
    tcase_add_test(t, capsules_are_mujocos);
    tcase_add_test(t, materials_from_custom_numbers);
    tcase_add_test(t, contact_law_from_custom_words);
    tcase_add_test(t, options_turn_off_what_a_scene_turned_on);
    tcase_add_test(t, bad_scenes_are_refused);
    tcase_add_test(t, axes_become_quaternions);
    tcase_add_test(t, borrowed_names_and_pair_classes);
    tcase_add_test(t, a_bomb_of_entities_is_not_expanded);
    tcase_add_test(t, deep_and_wide_scenes_end);
    tcase_add_test(t, lines_beyond_16_bits);
    tcase_add_test(t, saved_scenes_read_as_the_numbers_given);
    tcase_add_test(t, saving_changes_only_what_it_must);
    tcase_add_test(t, saving_overrules_inertiafromgeom);
    tcase_add_test(t, saving_keeps_inertials_that_were_overruled);
    tcase_add_test(t, saving_writes_out_a_damping_ratio);
    tcase_add_test(t, saving_what_only_weighs);
    tcase_add_test(t, saving_bodies_without_matter);
    tcase_add_test(t, saving_says_what_is_lost);
    tcase_add_test(t, saving_says_what_a_class_overrules);
    tcase_add_test(t, saving_settles_whose_material_counts);
    tcase_add_test(t, own_scenes);
    tcase_add_test(t, every_name_leads_back);
    tcase_add_test(t, numbers_of_one_name_are_told_apart);
    tcase_add_test(t, tendons_are_read_and_written);
    tcase_add_test(t, empty_bodies_are_held);
    tcase_add_test(t, round_edges_are_read_and_written);
    tcase_add_test(t, pairs_may_be_said_twice);
    tcase_add_test(t, sites_are_held_together);
    tcase_add_test(t, what_stands_is_not_held);
    tcase_add_test(t, mocap_bodies_stand_where_they_are_placed);
    tcase_add_test(t, four_zeros_are_no_turn);
    suite_add_tcase(s, t);
    return s;
}
