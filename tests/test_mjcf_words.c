/* test_mjcf_words.c -- words of a scene that act on numbers of others: masses that are mended, ranges that are taken
 * over, pairs that are left out; and how it is said where one makes no sense. */
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
#define ARM "<body name='arm'><joint name='j' range='-30 60'/><site name='s'/><geom size='.1'/></body>"
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
    {SCENE("", GROUPS, ""), "b/mass", 7},
    {SCENE(COMPILER("inertiagrouprange='1 2'"), GROUPS, ""), "b/mass", 4},
    {SCENE(COMPILER("inertiagrouprange='0 0'"), GROUPS, ""), "b/mass", 3},
    {SCENE(COMPILER("inertiagrouprange='-1e9 1e9'"), GROUPS, ""), "b/mass", 7},
    {SCENE("<option><flag gravity='disable'/></option>", BODY("b", SMALL), ""), "gravity/z", 0},
    {SCENE("<option><flag gravity='enable' energy='enable'/></option>", BODY("b", SMALL), ""), "gravity/z", -9.81},
    {SCENE("<option><flag contact='enable' override='disable'/></option>", BODY("b", SMALL), ""), "b/mass", 2},
    {SCENE("", ARM, ACTUATOR("position name='m' joint='j' inheritrange='1'")), "m/ctrlrange/lower", -PI / 6},
    {SCENE("", ARM, ACTUATOR("position name='m' joint='j' inheritrange='.5'")), "m/ctrlrange/upper", 5 * PI / 24},
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
    {SCENE("<option><flag contact='disable'/></option>", BODY("b", SMALL), ""), "not supported"},
    {SCENE("<option><flag override='enable'/></option>", BODY("b", SMALL), ""), "not supported"},
    {SCENE("<option><flag gravity='maybe'/></option>", BODY("b", SMALL), ""), "flag gravity"},
    {SCENE("<option integrator='RK4'/>", BODY("b", SMALL), ""), "`RK4` is not supported"},
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
    {SCENE("", ARM, "<equality><connect body1='nobody' anchor='0 0 0'/></equality>"), "nobody"},
    {SCENE("", ARM, "<equality><connect body1='arm'/></equality>"), "connect anchor"},
    {SCENE("", ARM, "<equality><weld body1='arm' body2='arm'/></equality>"), "held to itself"},
    {SCENE("", ARM, "<equality><joint/></equality>"), "a joint is wanted"},
    {SCENE("", ARM, "<equality><joint joint1='k'/></equality>"), "`k`"},
    {SCENE("", ARM, ACTUATOR("position inheritrange='1' site='s'")), "a site has no range"},
    {SCENE("", "<body><joint name='j'/><geom size='.1'/></body>", ACTUATOR("position inheritrange='1' joint='j'")),
     "its joint has no range"},
    {SCENE("", ARM, ACTUATOR("motor name='m'")), "it pulls on nothing"},
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

static Suite *suite(void) {
    Suite *s = suite_create("mjcf_words");
    TCase *t = tcase_create("mjcf_words");
    tcase_add_test(t, numbers_are_made);
    tcase_add_test(t, what_makes_no_sense_is_refused);
    tcase_add_test(t, what_stands_still_can_be_excluded);
    suite_add_tcase(s, t);
    return s;
}
