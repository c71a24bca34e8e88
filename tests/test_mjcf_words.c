/* test_mjcf_words.c -- words of a scene that act on numbers of others: masses that are mended, ranges that are taken
 * over, pairs that are left out; and how it is said where one makes no sense. */
#include "math/vec.h"
#include "test_main.h"
#include "worlds.h"
#include <tribo/tribo.h>

#define SCENE(before, bodies, after) "<mujoco>" before "<worldbody>" bodies "</worldbody>" after "</mujoco>"
#define BODY(name, inertial)                                                                                           \
    "<body name='" name "'><freejoint/><inertial pos='0 0 0' mass='2' " inertial "/><geom size='.1'/></body>"
#define SMALL "diaginertia='.1 .15 .22'"
#define LONG "diaginertia='1 1 7'"
/* 1, 3 and 3.5 along axes turned about z by 45 degrees */
#define TURNED "diaginertia='1 3 3.5' quat='0.9238795325112867 0 0 0.3826834323650898'"
#define POINT(mass, moments)                                                                                           \
    "<body name='b'><freejoint/><inertial pos='0 0 0' mass='" mass "' diaginertia='" moments                           \
    "'/><geom size='.1'/></body>"
#define GROUPS "<body name='b'><freejoint/><geom size='.1' mass='3'/><geom size='.2' mass='4' group='1'/></body>"
#define HOLDS(geoms)                                                                                                   \
    "<body name='b'><freejoint/><inertial pos='0 0 0' mass='2' diaginertia='.1 .15 .22'/>" geoms "</body>"
#define ARM "<body name='arm'><joint name='j' range='-30 60'/><site name='s'/><geom size='.1'/></body>"
#define CLASS(words) "<default><default class='c'>" words "</default></default>"
#define UNSEEN "<asset><mesh name='m' file='nowhere.obj'/></asset>"
#define TETRAHEDRON(words)                                                                                             \
    "<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 2 1 0 1 3 0 3 2 1 2 3' " words "/></asset>"
#define SHAPED "<body name='b'><freejoint/><geom type='mesh' mesh='m'/></body>"
#define SOCKET "<body name='bob'><joint name='b' type='ball'/><geom size='.1'/></body>"
#define TENDON(words, joint) "<tendon><fixed name='t' " words "><joint " joint "/></fixed></tendon>"
#define COMPILER(words) "<compiler " words "/>"
#define ACTUATOR(words) "<actuator><" words "/></actuator>"

/* A scene and a number of it. */
static const struct {
    const char *text, *name;
    double value;
} READ[] = {
    {SCENE(COMPILER("boundmass='5'"), BODY("b", SMALL), ""), "b/mass", 5},
    {SCENE(COMPILER("boundmass='-1'"), BODY("b", SMALL), ""), "b/mass", 2},
    {SCENE(COMPILER("boundmass='1'"), BODY("b", SMALL), ""), "b/inertia/xx", 0.1},
    {SCENE(COMPILER("boundinertia='.2'"), BODY("b", SMALL), ""), "b/inertia/xx", 0.2},
    {SCENE(COMPILER("boundinertia='.2'"), BODY("b", SMALL), ""), "b/inertia/zz", 0.22},
    {SCENE(COMPILER("boundinertia='2'"), BODY("b", TURNED), ""), "b/inertia/xx", 2.5},
    {SCENE(COMPILER("boundinertia='2'"), BODY("b", TURNED), ""), "b/inertia/xy", -0.5},
    {SCENE(COMPILER("balanceinertia='true'"), BODY("b", LONG), ""), "b/inertia/zz", 3},
    {SCENE(COMPILER("balanceinertia='true'"), BODY("b", SMALL), ""), "b/inertia/zz", 0.22},
    {SCENE(COMPILER("boundmass='1' boundinertia='.1'"), POINT("0", "0 0 0"), ""), "b/mass", 1},
    {SCENE(COMPILER("boundmass='1' boundinertia='.1'"), POINT("0", "0 0 0"), ""), "b/inertia/yy", 0.1},
    {SCENE(COMPILER("settotalmass='6'"), BODY("b", SMALL) BODY("c", SMALL), ""), "c/mass", 3},
    {SCENE(COMPILER("settotalmass='6'"), BODY("b", SMALL) BODY("c", SMALL), ""), "b/inertia/yy", 0.225},
    {SCENE(COMPILER("settotalmass='-1'"), BODY("b", SMALL), ""), "b/mass", 2},
    {SCENE(COMPILER("inertiafromgeom='true'"), BODY("b", SMALL), ""), "b/mass", 4000 * PI / 3 * 1e-3},
    {SCENE(COMPILER("inertiafromgeom='true'"), HOLDS(""), ""), "b/mass", 2},
    {SCENE(COMPILER("inertiafromgeom='true'"), HOLDS("<geom size='.1' mass='0'/>"), ""), "b/inertia/xx", 0.1},
    {SCENE(COMPILER("inertiafromgeom='true'"), HOLDS("<geom size='.1' density='0'/>"), ""), "b/mass", 2},
    {SCENE(COMPILER("inertiafromgeom='true'"), HOLDS("<geom size='.1' density='0'/><geom size='.1' mass='3'/>"), ""),
     "b/mass", 3},
    {SCENE(COMPILER("inertiafromgeom='true' inertiagrouprange='0 3'") CLASS("<geom group='4'/>"),
           HOLDS("<frame childclass='c'><geom size='.1'/></frame>"), ""),
     "b/mass", 2},
    {SCENE("left", BODY("b", SMALL) "over<![CDATA[text]]>", "1"), "b/mass", 2},
    {SCENE("", GROUPS, ""), "b/mass", 7},
    {SCENE("", ARM, TENDON("range='-1 2'", "joint='j' coef='1'")), "t/tendon_range/upper", 2},
    {SCENE(COMPILER("inertiagrouprange='1 2'"), GROUPS, ""), "b/mass", 4},
    {SCENE(COMPILER("inertiagrouprange='0 0'"), GROUPS, ""), "b/mass", 3},
    {SCENE(COMPILER("inertiagrouprange='-1e9 1e9'"), GROUPS, ""), "b/mass", 7},
    {SCENE("<option><flag gravity='disable'/></option>", BODY("b", SMALL), ""), "gravity/z", 0},
    {SCENE("<option><flag gravity='enable' energy='enable'/></option>", BODY("b", SMALL), ""), "gravity/z", -9.81},
    {SCENE("<option><flag contact='enable' override='disable'/></option>", BODY("b", SMALL), ""), "b/mass", 2},
    {SCENE("", ARM, ACTUATOR("position name='m' joint='j' inheritrange='1'")), "m/ctrlrange/lower", -PI / 6},
    {SCENE("", ARM, ACTUATOR("position name='m' joint='j' inheritrange='.5'")), "m/ctrlrange/upper", 5 * PI / 24},
    {SCENE(COMPILER("angle='radian'"), ARM, ACTUATOR("damper name='m' joint='j' kv='3' ctrlrange='0 2'")),
     "m/gain/velocity", -3},
    {SCENE("", ARM, ACTUATOR("general name='m' joint='j' gaintype='fixed' biastype='none' gainprm='4 5'")),
     "m/gain/constant", 4},
    {SCENE("", ARM, ACTUATOR("general name='m' joint='j' gaintype='affine' gainprm='4 5 6'")), "m/gain/length", 5},
    {SCENE("", ARM, ACTUATOR("general name='m' joint='j' biastype='affine' biasprm='4 5 6' dyntype='none'")),
     "m/bias/velocity", 6},
    {SCENE(CLASS("<geom mass='5'/>"), "<body name='b' childclass='c'><freejoint/><geom size='.1'/></body>", ""),
     "b/mass", 5},
    {SCENE(CLASS("<geom mass='5'/>"),
           "<body name='b'><freejoint/><frame childclass='c'><geom size='.1'/></frame></body>", ""),
     "b/mass", 5},
    {SCENE(CLASS("<joint damping='3'/>"),
           "<body name='b'><frame childclass='c'><joint name='j'/></frame><geom size='.1'/></body>", ""),
     "j/damping", 3},
    {SCENE("", "<body name='b'><freejoint/><geom name='g' type='box' size='.1' fromto='0 0 0 0 0 1'/></body>", ""),
     "g/size/y", 0.1},
    {SCENE("", "<body name='b'><freejoint/><geom name='g' type='box' size='.1' fromto='0 0 0 0 0 1'/></body>", ""),
     "g/size/z", 0.5},
    /* a tetrahedron with a corner at the origin, mirrored, so that its faces turn over, and twice as long */
    {SCENE(TETRAHEDRON("scale='-2 1 1'"), SHAPED, ""), "b/mass", 1000 / 3.},
    {SCENE(TETRAHEDRON("scale='-2 1 1'"), SHAPED, ""), "b/com/x", -0.5},
    {SCENE(TETRAHEDRON("scale='2 -1 -1'"), SHAPED, ""), "b/mass", 1000 / 3.},
    {SCENE(TETRAHEDRON("scale='2 -1 -1'"), SHAPED, ""), "b/com/z", -0.25},
    /* what is seen only needs no file */
    {SCENE(UNSEEN,
           "<body name='b'><freejoint/><geom size='.1' mass='3'/><geom type='mesh' mesh='m' contype='0' "
           "conaffinity='0' mass='0'/></body>",
           ""),
     "b/mass", 3},
    {SCENE(UNSEEN,
           "<body name='b'><freejoint/><geom size='.1' mass='3'/><geom type='mesh' mesh='m' contype='0' "
           "conaffinity='0' density='0'/></body>",
           ""),
     "b/mass", 3},
    {SCENE(UNSEEN, "<geom type='mesh' mesh='m' contype='0' conaffinity='0'/>" BODY("b", SMALL), ""), "b/mass", 2},
    /* but for a pair that names it */
    {SCENE(TETRAHEDRON(""),
           "<geom name='floor' type='plane' size='1 1 1' contype='0' conaffinity='0'/>" HOLDS(
               "<geom name='g' type='mesh' mesh='m' contype='0' conaffinity='0'/>"),
           "<contact><pair name='p' geom1='floor' geom2='g' friction='.7 .7'/></contact>"),
     "p/friction", 0.7},
    /* another program's */
    {SCENE("", BODY("b", SMALL), "<custom><numeric name='other' data='1 2'/><text name='b/word' data='x'/></custom>"),
     "b/mass", 2},
};

START_TEST(numbers_are_made) {
    for (size_t i = 0; i < sizeof READ / sizeof *READ; i++) {
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        double p[256];
        tribo_status s = tribo_model_load_memory(READ[i].text, strlen(READ[i].text), "scene", NULL, &m, &diag);
        ck_assert_msg(s == TRIBO_OK, "%s: %s", READ[i].text, diag.text);
        ck_assert_int_le(tribo_model_sizes(m).np, 256);
        tribo_model_params(m, p);
        int at = tribo_param_find(m, READ[i].name);
        ck_assert_msg(at >= 0 && fabs(p[at] - READ[i].value) <= 1e-13 * fmax(1, fabs(READ[i].value)), "%s: %s is %g",
                      READ[i].text, READ[i].name, p[at < 0 ? 0 : at]);
        tribo_model_free(m);
    }
}
END_TEST

static const char *const REFUSED[][2] = {
    {SCENE("<option><flag actuation='disable'/></option>", BODY("b", SMALL), ""), "not supported"},
    {SCENE("<option><flag override='enable'/></option>", BODY("b", SMALL), ""), "not supported"},
    {SCENE("<option><flag gravity='maybe'/></option>", BODY("b", SMALL), ""), "flag gravity"},
    {SCENE("<option integrator='RK5'/>", BODY("b", SMALL), ""), "`RK5` is not supported"},
    {SCENE(COMPILER("coordinate='global'"), BODY("b", SMALL), ""), "only local coordinates"},
    {SCENE(COMPILER("eulerseq='xyw'"), BODY("b", SMALL), ""), "three of xyzXYZ"},
    {SCENE(COMPILER("eulerseq='xy'"), BODY("b", SMALL), ""), "three of xyzXYZ"},
    {SCENE(COMPILER("inertiafromgeom='yes'"), BODY("b", SMALL), ""), "inertiafromgeom"},
    {SCENE(COMPILER("settotalmass='1'"), BODY("b", SMALL) "<body><geom size='.1'/></body>", ""), "does not move too"},
    {SCENE("", BODY("b", LONG), ""), "body b: "},
    {SCENE("", POINT("0", "1 1 1"), ""), "mass must be > 0"},
    {SCENE(COMPILER("boundmass='1'"), POINT("-1", "1 1 1"), ""), "mass must be > 0"},
    {SCENE(COMPILER("boundinertia='1'"), POINT("1", "-1 1 1"), ""), "positive definite"},
    {SCENE("", "<body><inertial pos='0 0 0' mass='2' " SMALL "/><inertial pos='0 0 0' mass='2' " SMALL "/></body>", ""),
     "a second inertial"},
    {SCENE("", "<body><freejoint/><geom size='.1' contype='1.5'/></body>", ""), "contype"},
    {SCENE("", "<body><freejoint/><geom size='.1' conaffinity='1e10'/></body>", ""), "conaffinity"},
    {SCENE("", ARM, "<contact><exclude body1='arm' body2='nobody'/></contact>"), "there is no body `nobody`"},
    {SCENE("", ARM, "<contact><exclude body1='arm'/></contact>"), "there is no body ``"},
    {SCENE("", ARM, "<equality><connect anchor='0 0 0'/></equality>"), "a body is wanted"},
    {SCENE("", ARM, "<equality><connect body1='nobody' anchor='0 0 0'/></equality>"), "there is no body `nobody`"},
    {SCENE("", ARM, "<equality><connect body1='arm'/></equality>"), "connect anchor"},
    {SCENE("", ARM, "<equality><weld body1='arm' body2='arm'/></equality>"), "held to itself"},
    {SCENE("", ARM, "<equality><joint/></equality>"), "a joint is wanted"},
    {SCENE("", ARM, "<equality><joint joint1='k'/></equality>"), "`k`"},
    {SCENE("", ARM, ACTUATOR("position inheritrange='1' site='s'")), "a site has no range"},
    {SCENE("", "<body><joint name='j'/><geom size='.1'/></body>", ACTUATOR("position inheritrange='1' joint='j'")),
     "its joint has no range"},
    {SCENE("", ARM, ACTUATOR("motor name='m'")), "it pulls on nothing"},
    {SCENE("", ARM, TENDON("", "joint='j' coef='1'") ACTUATOR("motor joint='j' tendon='t'")), "on more than one of"},
    {SCENE("", ARM, ACTUATOR("motor joint='j' site='s'")), "on more than one of a joint, a tendon and a site"},
    {SCENE("", ARM, "<tendon><fixed name='t'/></tendon>"), "<fixed>: it has no joint"},
    {SCENE("", ARM, "<keyframe><key time='nan'/></keyframe>"), "<key time>: `nan` is not a number"},
    {SCENE("", BODY("world", SMALL), ""), "<body name>: `world` is the world's own"},
    {SCENE("", ARM, ACTUATOR("motor joint='k'")), "`k`"},
    {SCENE("", ARM, "<tendon><fixed name='t'><joint joint='j'/></fixed></tendon>" ACTUATOR("motor tendon='t'")),
     "joint coef>: missing"},
    {SCENE("", ARM, "<custom><numeric name='j/limit_restitution' data='2'/></custom>"), "must be in 0..1"},
    {SCENE("", "<body><freejoint/><geom name='g' type='box' size='1 2 3'/></body>",
           "<custom><numeric name='g/edge_radius' data='1'/></custom>"),
     "edge_radius must be less than each number of size"},
    {SCENE("", "<body><freejoint/><geom name='g' size='1'/></body>",
           "<custom><numeric name='g/edge_radius' data='0.1'/></custom>"),
     "edge_radius is of boxes and cylinders"},
    {SCENE("", "<body><freejoint/><geom name='g' type='box' size='1 2 3'/></body>",
           "<custom><numeric name='g/edge_radius' data='-0.1'/></custom>"),
     "edge_radius must be >= 0"},
    {SCENE("", ARM, "<custom><numeric name='j/colour' data='2'/></custom>"), "is no word of a joint"},
    {SCENE("", ARM, "<custom><text name='contact/colour' data='red'/></custom>"), "no text of the contact law"},
    {SCENE("", ARM, "<custom><numeric name='contact/colour' data='1'/></custom>"), "no number of the contact law"},
    {SCENE("", ARM, "<custom><numeric name='/slop' data='1'/></custom>"), "a geom, pair or joint, then /"},
    {SCENE("", ARM, "<custom><numeric name='nobody/slop' data='1'/></custom>"), "no geom, pair or joint `nobody`"},
    {SCENE("", ARM, "<custom><numeric name='arm/slop' data='1 2'/></custom>"), "more than 1 numbers"},
    {SCENE("", ARM, "<custom><numeric name='arm/slop' data='-1'/></custom>"), "arm: slop must be >= 0"},
    {SCENE("", ARM, "<equality><joint joint1='j' joint2='k'/></equality>"), "there is no joint `k`"},
    {SCENE("", ARM, ACTUATOR("motor site='t'")), "there is no site `t`"},
    {SCENE("", "<body name='a'><freejoint/><geom size='.1'/><body name='b'><geom size='.1'/></body></body>",
           "<equality><weld body1='a' body2='b' relpose='1 0 0 1 0 0 0'/></equality>"),
     "its bodies are welded to one another in another pose"},
    {SCENE("", ARM, ACTUATOR("motor tendon='t'")), "there is no tendon `t`"},
    {SCENE("", ARM, TENDON("limited='true'", "joint='j' coef='1'")), "missing: it is said to be limited"},
    {SCENE("", ARM, TENDON("range='1 0'", "joint='j' coef='1'")), "tendon t: its range must be two numbers in rising"},
    {SCENE("", ARM, TENDON("range='0 1'", "joint='j' coef='0'")), "tendon t: no joint counts"},
    {SCENE("", ARM, TENDON("", "coef='1'") ACTUATOR("motor tendon='t'")), "<joint joint>: missing"},
    {SCENE("", ARM, TENDON("", "joint='k' coef='1'") ACTUATOR("motor tendon='t'")), "there is no joint `k`"},
    {SCENE("", ARM, TENDON("", "joint='k' coef='1'")), "there is no joint `k`"},
    {SCENE("", ARM, TENDON("", "joint='j'")), "<joint coef>: missing"},
    {SCENE("", SOCKET, ACTUATOR("motor joint='b'")), "what pulls on a ball is not supported"},
    {SCENE("", ARM, ACTUATOR("general joint='j' gaintype='muscle'")), "`muscle` is not supported"},
    {SCENE("", ARM, ACTUATOR("general joint='j' biastype='muscle'")), "`muscle` is not supported"},
    {SCENE("", ARM, ACTUATOR("position joint='j' kv='1' dampratio='1'")), "given together with kv"},
    {SCENE("", ARM, ACTUATOR("position joint='j' kv='-1'")), "<position kv>: must be >= 0"},
    {SCENE("", ARM, ACTUATOR("position joint='j' dampratio='-1'")), "<position dampratio>: must be >= 0"},
    {SCENE("", ARM, ACTUATOR("position site='s' dampratio='1'")), "its dampratio is not 0"},
    {SCENE("", "<body><joint limited='true'/><geom size='.1'/></body>", ""), "missing: it is said to be limited"},
    {SCENE(UNSEEN, "<geom type='plane' mesh='m' size='1 1 1'/>" ARM, ""), "a plane fits no mesh"},
    {SCENE("", "<body childclass='c'><geom size='.1'/></body>", ""), "there is no class `c`"},
    {SCENE("<compiler><colour/></compiler>", ARM, ""), "colour"},
    {"<mujoco colour='red'><worldbody>" ARM "</worldbody></mujoco>", "this attribute is not supported"},
    {"<scene/>", "the root of a scene is <mujoco>"},
};

START_TEST(what_makes_no_sense_is_refused) {
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        const char *text = REFUSED[i][0];
        tribo_status s = tribo_model_load_memory(text, strlen(text), "scene", NULL, &m, &diag);
        ck_assert_msg(s < 0 && !m && strstr(diag.text, REFUSED[i][1]), "%s: %d: %s", text, (int)s, diag.text);
    }
}
END_TEST

#define SERVOS(words)                                                                                                  \
    SCENE("<default><position kp='10' dampratio='1'/></default>", ARM, ACTUATOR(words)) /* by default */

/* What elements say over what classes do, and frames over what is in them. */
START_TEST(classes_and_frames_are_added_up) {
#define ONE_BALL(more) "<body name='b'><joint name='j'/><geom name='g' type='sphere' " more "/></body>"
    static const struct {
        const char *text, *name;
        double value;
    } CASE[] = {
        {SCENE("<default><geom friction='.5 .1 .2'/></default>", ONE_BALL("size='.1' condim='6' friction='.3'"), ""),
         "g/torsion", 0.1},
        {SCENE("<default><geom size='.05 .1 .2'/></default>",
               "<body name='b'><joint/><geom name='g' type='box' size='.3'/></body>", ""),
         "g/size/z", 0.2},
        {SCENE("<default><position kp='3' kv='.5'/></default>", ONE_BALL("size='.1'"),
               "<actuator><general name='a' joint='j'/></actuator>"),
         "a/bias/velocity", -0.5},
        {SERVOS("general name='a' joint='j' gainprm='5'"), "a/bias/length", -10},
        {SERVOS("general name='a' joint='j' gainprm='5'"), "a/bias/velocity", 1},
        {SERVOS("general name='a' site='s' gainprm='5'"), "a/bias/velocity", 1},
        {SERVOS("velocity name='a' joint='j'"), "a/bias/velocity", -10},
        {SCENE("<default><general gainprm='1 0 -.5'/></default>", ONE_BALL("size='.1'"),
               ACTUATOR("damper name='a' joint='j' ctrlrange='0 1'")),
         "a/gain/velocity", 0},
        {SCENE("<default><general gaintype='affine' gainprm='1 0 -.5'/></default>", ONE_BALL("size='.1'"),
               ACTUATOR("damper name='a' joint='j' ctrlrange='0 1'")),
         "a/gain/velocity", -0.5},
        {SCENE("<default><general gainprm='2' biasprm='.1 .2 -.3'/></default>", ONE_BALL("size='.1'"),
               "<actuator><position name='a' joint='j'/></actuator>"),
         "a/bias/length", -2},
        {SCENE("<default><position kp='3'/><default class='c'><motor gear='2'/></default></default>",
               ONE_BALL("size='.1'"), "<actuator><position class='c' name='a' joint='j'/></actuator>"),
         "a/gain/constant", 1},
        {SCENE("<default><general gainprm='2 -3 4'/><motor gear='1'/><position kp='7'/></default>",
               ONE_BALL("size='.1'"), "<actuator><general name='a' joint='j' gaintype='affine'/></actuator>"),
         "a/gain/velocity", 4},
        {SCENE("<default><general gaintype='affine' gainprm='1 3 4'/></default>", ONE_BALL("size='.1'"),
               "<actuator><general name='a' joint='j' gainprm='9'/></actuator>"),
         "a/gain/velocity", 4},
        {SCENE("",
               "<body name='b'><joint/><frame pos='1 0 0' euler='0 0 90'><inertial pos='1 0 0' mass='2' diaginertia='1 "
               "1.5 2'/></frame></body>",
               ""),
         "b/com/y", 1},
        {SCENE("",
               "<body name='b'><joint/><frame pos='1 0 0' euler='0 0 90'><inertial pos='1 0 0' mass='2' diaginertia='1 "
               "1.5 2'/></frame></body>",
               ""),
         "b/inertia/xx", 1.5},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        double p[400];
        tribo_status s = tribo_model_load_memory(CASE[i].text, strlen(CASE[i].text), "scene", NULL, &m, &diag);
        ck_assert_msg(s == TRIBO_OK, "%s", diag.text);
        tribo_model_params(m, p);
        int at = tribo_param_find(m, CASE[i].name);
        ck_assert_msg(at >= 0 && fabs(p[at] - CASE[i].value) < 1e-12, "%zu: %s is %g", i, CASE[i].name,
                      at < 0 ? -1 : p[at]);
        tribo_model_free(m);
    }
}
END_TEST

/* Bodies that a weld holds in one another, or in the world, stay: they touch nothing that they are held to. */
START_TEST(welded_bodies_may_overlap) {
#define TOUCHING(name, at) "<body name='" name "' pos='" at "'><freejoint/><geom size='.1' mass='1' condim='1'/></body>"
    static const char *const CASE[] = {
        SCENE("<option gravity='0 0 0'/>", TOUCHING("a", "0 0 1") TOUCHING("b", ".15 .02 1.03"),
              "<equality><weld body1='a' body2='b'/></equality>"),
        SCENE("<option gravity='0 0 0'/>",
              TOUCHING("a", "0 0 1") TOUCHING("b", ".15 .02 1.03") TOUCHING("c", ".2 .1 1"),
              "<equality><weld body1='a' body2='b'/><weld body1='c' body2='b'/></equality>"),
        SCENE("", "<geom type='plane' size='1 1 1'/>" TOUCHING("a", "0 0 .05"),
              "<equality><weld body1='a'/></equality>")};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        tribo_status s = tribo_model_load_memory(CASE[i], strlen(CASE[i]), "scene", NULL, &m, &diag);
        ck_assert_msg(s == TRIBO_OK, "%s", diag.text);
        world w = world_of(m, NULL);
        world_steps(&w, 5), world_run(&w);
        for (int k = 0; k < w.n.nx; k++)
            ck_assert_msg(fabs(w.X[5 * w.n.nx + k] - w.X[k]) < 1e-12, "%zu: %g", i, w.X[5 * w.n.nx + k]);
        world_free(&w);
    }
}
END_TEST

/* Two bodies without weight that are welded with a pose between them, the place of the anchor in the first body: as
 * they are in it they stay, and one that is off by a little is there after a step. Turned off, the weld holds nothing.
 */
START_TEST(welds_have_a_pose) {
#define LOOSE(name, pose)                                                                                              \
    "<body name='" name "' " pose "><freejoint/><geom size='.1' mass='1' contype='0' conaffinity='0'/></body>"
#define HALF_TURN "0.7071067811865476 0 0 0.7071067811865476"
#define WELDED(off, more)                                                                                              \
    SCENE("<option gravity='0 0 0'/>", LOOSE("a", "pos='1 2 3' quat='" HALF_TURN "'") LOOSE("b", off),                 \
          "<equality><weld body1='a' body2='b' anchor='0.1 0.2 0' relpose='0.3 0.1 0.25 1 0 0 1' " more                \
          "/></equality>")
    static const struct {
        const char *text;
        bool moves, ends;
    } CASE[] = {{WELDED("pos='1 2.5 3.25' quat='0 0 0 1'", ""), false, true},
                {WELDED("pos='1.001 2.502 3.249' quat='0.001 0.002 0 1'", ""), true, true},
                {WELDED("pos='1.001 2.502 3.249' quat='0.001 0.002 0 1'", "active='false'"), false, false}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        tribo_status s = tribo_model_load_memory(CASE[i].text, strlen(CASE[i].text), "scene", NULL, &m, &diag);
        ck_assert_msg(s == TRIBO_OK, "%s", diag.text);
        world w = world_of(m, NULL);
        world_steps(&w, 1), world_run(&w);
        const double *a = w.X + w.n.nx, *b = a + 7;
        ti_mat A = ti_quat_mat(a + 3), B = ti_quat_mat(b + 3);
        ti_vec at = ti_tmul(&A, ti_sub(ti_load3(b), ti_load3(a)));
        double off = fmax(fmax(fabs(at.x - 0.5), fabs(at.y)), fabs(at.z - 0.25)), moved = 0;
        for (int k = 0; k < 9; k++) {
            static const double turn[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1};
            ti_vec r = ti_tmul(&A, ti_col(&B, k % 3));
            off = fmax(off, fabs((k < 3 ? r.x : k < 6 ? r.y : r.z) - turn[k]));
        }
        for (int k = 0; k < w.n.nx; k++) moved = fmax(moved, fabs(w.X[w.n.nx + k] - w.X[k]));
        ck_assert_msg((moved > 1e-4) == CASE[i].moves, "%zu: moved by %g", i, moved);
        ck_assert_msg(CASE[i].ends ? off < 1e-5 : off > 1e-3, "%zu: off by %g", i, off);
        world_free(&w);
    }
}
END_TEST

/* A ball in a table that stands still: a contact, unless the two are excluded, in either order. */
START_TEST(what_stands_still_can_be_excluded) {
#define TABLE "<body name='table'><body name='top'><geom type='box' size='1 1 1'/></body></body>"
#define SLAB "<frame><geom type='box' size='1 1 1'/></frame>"
#define EXCLUDE(a, b) "<contact><exclude body1='" a "' body2='" b "'/></contact>"
#define BALL "<body name='b' pos='0 0 1.09'><freejoint/><geom size='.1'/></body>"
    static const struct {
        const char *text;
        int contacts;
    } CASE[] = {{SCENE("", TABLE BALL, ""), 1},
                {SCENE("", TABLE BALL, EXCLUDE("top", "b")), 0},
                {SCENE("", TABLE BALL, EXCLUDE("b", "top")), 0},
                {SCENE("", TABLE BALL, EXCLUDE("table", "b")), 1}, /* which has no geoms of its own */
                {SCENE("", TABLE BALL, EXCLUDE("world", "b")), 1}, /* nor has the world */
                {SCENE("", SLAB BALL, ""), 1},
                {SCENE("", SLAB BALL, EXCLUDE("b", "world")), 0},
                {SCENE("", TABLE BALL, EXCLUDE("table", "top")), 1}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        tribo_model *m = NULL;
        tribo_ws *ws = NULL;
        tribo_diag diag = {0};
        double p[256], x[13];
        int n = -1;
        tribo_status s = tribo_model_load_memory(CASE[i].text, strlen(CASE[i].text), "scene", NULL, &m, &diag);
        ck_assert_msg(s == TRIBO_OK, "%s: %s", CASE[i].text, diag.text);
        ck_assert_int_eq(tribo_ws_new(m, NULL, NULL, &ws, NULL), TRIBO_OK);
        tribo_model_params(m, p), tribo_model_state0(m, x);
        ck_assert_int_ge(tribo_step(ws, p, x, NULL, x, NULL), 0);
        (void)tribo_last_contacts(ws, &n);
        ck_assert_msg(n == CASE[i].contacts, "%s: %d", CASE[i].text, n);
        tribo_ws_free(ws), tribo_model_free(m);
    }
}
END_TEST

/* What a flag turns off is as if it were not in the scene: arms on a floor, with all that there is to turn off. */
START_TEST(what_is_turned_off) {
#define TIP(name, at, touch, joint)                                                                                    \
    "<body name='" name "' pos='0 " at " .3'><joint name='" name "' axis='0 1 0' " joint "/><geom name='" name         \
    "' type='capsule' size='.05' fromto='0 0 0 .4 0 0' " touch "/></body>"
#define ARMS(flag, touch, joint, pair, held, tendon)                                                                   \
    SCENE("<option><flag " flag "/></option>",                                                                         \
          "<geom name='floor' type='plane' size='1 1 1' " touch "/>" TIP("a", "0", touch, joint)                       \
              TIP("b", ".08", touch, joint) TIP("c", ".5", touch, joint),                                              \
          pair held tendon "<actuator><position joint='b' kp='2' inheritrange='1'/></actuator>")
#define RANGE "range='-50 20' limited='true' "
#define FREE "range='-50 20' limited='false' "
#define DRY "frictionloss='.2'"
#define NO_TOUCH "contype='0' conaffinity='0'"
#define PAIR "<contact><pair geom1='floor' geom2='c' friction='.2 .2 0 0 0'/></contact>"
#define HELD "<equality><joint joint1='a' joint2='b'/></equality>"
#define SUM                                                                                                            \
    "<tendon><fixed name='t' range='-.2 .4'><joint joint='b' coef='1'/><joint joint='c' coef='1'/></fixed></tendon>"
    static const char *const CASE[][2] = {
        {ARMS("contact='disable'", "", RANGE DRY, PAIR, HELD, SUM),
         ARMS("contact='enable'", NO_TOUCH, RANGE DRY, "", HELD, SUM)},
        {ARMS("equality='disable'", "", RANGE DRY, PAIR, HELD, SUM),
         ARMS("equality='enable'", "", RANGE DRY, PAIR, "", SUM)},
        {ARMS("limit='disable'", "", RANGE DRY, PAIR, HELD, SUM), ARMS("", "", FREE DRY, PAIR, HELD, "")},
        {ARMS("frictionloss='disable'", "", RANGE DRY, PAIR, HELD, SUM), ARMS("", "", RANGE, PAIR, HELD, SUM)},
        {ARMS("constraint='disable'", "", RANGE DRY, PAIR, HELD, SUM), ARMS("", NO_TOUCH, FREE, "", "", "")}};
    enum { STEPS = 300 };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        world w[3];
        for (int k = 0; k < 3; k++) {
            tribo_model *m = NULL;
            tribo_diag diag = {0};
            const char *text = k < 2 ? CASE[i][k] : ARMS("", "", RANGE DRY, PAIR, HELD, SUM);
            tribo_status s = tribo_model_load_memory(text, strlen(text), "scene", NULL, &m, &diag);
            ck_assert_msg(s == TRIBO_OK, "%zu: %s", i, diag.text);
            w[k] = world_of(m, NULL);
            world_steps(&w[k], STEPS), world_run(&w[k]);
        }
        const size_t bytes = sizeof(double) * (STEPS + 1) * (size_t)w[0].n.nx;
        ck_assert_msg(memcmp(w[0].X, w[1].X, bytes) == 0, "%zu", i);
        ck_assert_msg(memcmp(w[0].X, w[2].X, bytes) != 0, "%zu", i);
        for (int k = 0; k < 3; k++) world_free(&w[k]);
    }
}
END_TEST

/* Names that are given are those of the file; without one, a number that another has gets one more number. */
START_TEST(names_that_are_made_give_way) {
#define NAMED(word) " name='" word "' "
#define LINK(body, joint, geom, site) "<body" body "><joint" joint "/><geom" geom "size='.1'/><site" site "/></body>"
    static const char text[] =
        SCENE("",
              LINK(" ", " ", " ", " ") LINK(NAMED("body0"), NAMED("joint0"), NAMED("geom0"), NAMED("site0"))
                  LINK(" ", " ", " ", " ") LINK(NAMED("body2_1"), NAMED("joint2_1"), NAMED("geom2_1"), NAMED("site2_1"))
                      LINK(NAMED("body2"), NAMED("joint2"), NAMED("geom2"), NAMED("site2")),
              "<actuator><motor joint='joint0'/><motor joint='joint0' name='actuator0'/><motor joint='joint0'/>"
              "<motor joint='joint0' name='actuator2_1'/><motor joint='joint0' name='actuator2'/></actuator>"
              "<keyframe><key/><key name='key0'/><key/><key name='key2_1'/><key name='key2'/></keyframe>");
    static const struct {
        const char *kind, *(*name)(const tribo_model *, int);
    } KIND[] = {{"body", tribo_model_body_name},         {"joint", tribo_model_joint_name},
                {"geom", tribo_model_geom_name},         {"site", tribo_model_site_name},
                {"actuator", tribo_model_actuator_name}, {"key", tribo_model_key_name}};
    static const char *const END[] = {"0_1", "0", "2_2", "2_1", "2"};
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_model_load_memory(text, strlen(text), "scene", NULL, &m, &diag);
    ck_assert_msg(s == TRIBO_OK, "%s", diag.text);
    for (size_t k = 0; k < sizeof KIND / sizeof *KIND; k++)
        for (int i = 0; i < 5; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s%s", KIND[k].kind, END[i]);
            ck_assert_str_eq(KIND[k].name(m, i), name);
        }
    tribo_model_free(m);
}
END_TEST

/* As many names that give way as fill tables and move what is behind. */
START_TEST(many_names_give_way) {
    enum { N = 500 };
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_body_def body = tribo_default_body();
    tribo_site_def site = tribo_default_site();
    tribo_model *m = NULL;
    char name[32];
    body.mass = 1, body.inertia_given = true;
    for (int i = 0; i < 3; i++) body.inertia[i] = 1;
    int at = tribo_add_body(b, &body);
    for (int i = 0; i < N; i++) tribo_add_site(b, at, &site);
    for (int i = 0; i < N; i += 2) {
        snprintf(name, sizeof name, "site%d", i);
        site.name = name;
        ck_assert_int_eq(tribo_add_site(b, at, &site), N + i / 2);
    }
    ck_assert_int_eq(tribo_build(b, &m, NULL), TRIBO_OK);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, i % 2 ? "site%d" : "site%d_1", i);
        ck_assert_int_eq(tribo_model_site_find(m, name), i);
    }
    tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("mjcf_words");
    TCase *t = tcase_create("mjcf_words");
    tcase_add_test(t, numbers_are_made);
    tcase_add_test(t, what_makes_no_sense_is_refused);
    tcase_add_test(t, classes_and_frames_are_added_up);
    tcase_add_test(t, names_that_are_made_give_way);
    tcase_add_test(t, many_names_give_way);
    tcase_add_test(t, welded_bodies_may_overlap);
    tcase_add_test(t, welds_have_a_pose);
    tcase_add_test(t, what_is_turned_off);
    tcase_add_test(t, what_stands_still_can_be_excluded);
    suite_add_tcase(s, t);
    return s;
}
