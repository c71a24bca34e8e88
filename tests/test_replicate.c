/* test_replicate.c -- copies in a scene: where they are, what they are called, how many there may be, and that they are
 * written as what they became. */
#include "test_main.h"
#include "worlds.h"
#include <stdio.h>
#include <tribo/dynamics.h>

static const char SCENE[] =
    "<mujoco><compiler eulerseq='zXy'/><default><default class='c'><joint damping='0.5'/></default></default>"
    "<worldbody><replicate count='10' sep='-' offset='1 0 0.1' euler='10 20 30' childclass='c'>"
    "<body name='b' pos='0 0.1 0'><joint name='j'/><geom name='g' size='.1'/>"
    "<replicate count='2' offset='0 0 1'><site name='s' pos='0 0 0.5'/></replicate></body></replicate></worldbody>"
    "<actuator><motor joint='j-09'/></actuator></mujoco>";

/* What MuJoCo 3.10 has of the last copy. */
static void is_mujocos(const tribo_model *m) {
    static const double POS[3] = {0.6835640909808861, 4.579358136915887, -4.655795049934731},
                        QUAT[4] = {0.5, -0.5, 0.5, 0.5},
                        SITE[3] = {0.6835640909808858, 6.079358136915887, -4.655795049934731};
    double pos[3], quat[4], *x = world_zeros(tribo_model_sizes(m).nx);
    tribo_dynamics *d;
    ck_assert_int_eq(tribo_model_sizes(m).nbody, 10);
    ck_assert_int_eq(tribo_model_sizes(m).nsite, 20);
    ck_assert_str_eq(tribo_model_body_name(m, 9), "b-09");
    ck_assert_str_eq(tribo_model_geom_name(m, 0), "g-00");
    ck_assert_int_eq(tribo_model_site_find(m, "s1-09"), 19);
    ck_assert_int_eq(tribo_dynamics_new(m, NULL, &d), TRIBO_OK);
    ck_assert_int_eq(tribo_dynamics_set_state(d, x), TRIBO_OK);
    ck_assert_int_eq(tribo_body_pose(d, 9, pos, quat), TRIBO_OK);
    for (int i = 0; i < 3; i++) NEAR(pos[i], POS[i], 1e-14);
    for (int i = 0; i < 4; i++) NEAR(quat[i], QUAT[i], 1e-15);
    ck_assert_int_eq(tribo_site_pose(d, 19, pos, quat), TRIBO_OK);
    for (int i = 0; i < 3; i++) NEAR(pos[i], SITE[i], 1e-14);
    tribo_dynamics_free(d), free(x);
}

START_TEST(copies_are_mujocos) {
    static const char IN[] = "replicate_test.xml", OUT[] = "replicate_test_saved.xml";
    FILE *file = fopen(IN, "w");
    ck_assert(file && fputs(SCENE, file) >= 0 && fclose(file) == 0);
    tribo_model *m, *again;
    ck_assert_int_eq(tribo_model_load(IN, NULL, &m, NULL), TRIBO_OK);
    is_mujocos(m);
    double *p = world_zeros(tribo_model_sizes(m).np), *read = world_zeros(tribo_model_sizes(m).np);
    tribo_model_params(m, p);
    int at = tribo_param_find(m, "j-07/damping");
    NEAR(p[at], 0.5, 0);
    p[at] = 0.7; /* of one of them alone */
    ck_assert_int_eq(tribo_model_save(m, p, IN, OUT, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_model_load(OUT, NULL, &again, NULL), TRIBO_OK);
    is_mujocos(again);
    tribo_model_params(again, read);
    for (int i = 0; i < tribo_model_sizes(m).np; i++) NEAR(read[i], p[i], 1e-12 * fabs(p[i]));
    free(p), free(read), tribo_model_free(m), tribo_model_free(again);
    ck_assert(remove(IN) == 0 && remove(OUT) == 0);
}
END_TEST

#define WORLD(what) "<mujoco><worldbody>" what "<body><joint/><geom size='1'/></body></worldbody></mujoco>"
#define TWICE(what) "<replicate count='1e3'>" what "</replicate>"

/* None at all is no fault; more than there is room for are told before they are made. */
START_TEST(what_makes_no_copies) {
    static const struct {
        const char *text, *what;
    } CASE[] = {
        {WORLD("<replicate count='0'><body><joint/><geom size='1'/></body></replicate>"), NULL},
        {WORLD("<replicate><geom size='1'/></replicate>"), "<replicate count>: missing"},
        {WORLD("<replicate count='1.5'><geom size='1'/></replicate>"), "<replicate count>: a whole number expected"},
        {WORLD("<replicate count='-1'/>"), "<replicate count>: a whole number expected"},
        {WORLD("<replicate count='2' offset='1e9 0 0'><site/></replicate>"), NULL},
        {WORLD("<replicate count='2' offset='1e308 0 0'><site/></replicate>"), "beyond 1e10 m"},
        {WORLD("<replicate count='3' offset='1e308 0 0'><site/></replicate>"), "<replicate>: copy 2 is nowhere"},
        {WORLD("<replicate count='9' euler='1e308 0 0'><site/></replicate>"), "<replicate>: copy 1 is nowhere"},
        {WORLD("<geom size='1'><replicate count='2'/></geom>"), "<replicate>: this element is not supported"},
        {"<mujoco><default><replicate count='2'/></default><worldbody/></mujoco>",
         "<replicate>: this element is not supported here"},
        {WORLD("<replicate count='2' often='1'/>"), "<replicate often>: this attribute is not supported"},
        {WORLD("<replicate count='2' euler='0 0'/>"), "2 numbers, expected 3"},
        {WORLD("<replicate count='2' childclass='c'/>"), "there is no class `c`"},
        {WORLD("<replicate count='1e300'><geom size='1'/></replicate>"), "more than 16384 elements in all"},
        {WORLD(TWICE(TWICE(TWICE(TWICE("<site/>"))))), "more than 16384 elements in all"},
        {WORLD("<replicate count='2'><body name='b'><joint/></body><body name='b0'/></replicate>"), "b0"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        tribo_status s = tribo_model_load_memory(CASE[i].text, strlen(CASE[i].text), "scene", NULL, &m, &diag);
        if (CASE[i].what)
            ck_assert_msg(s != TRIBO_OK && strstr(diag.text, CASE[i].what), "%zu: %s", i, diag.text);
        else
            ck_assert_int_eq(tribo_model_sizes(m).nbody, 1);
        tribo_model_free(m);
    }
}
END_TEST

/* `before` `n` times, `after` as often. */
static char *nest(const char *before, const char *after, int n) {
    size_t b = strlen(before), a = strlen(after), whole = (a + b) * (size_t)n;
    char *text = malloc(whole + 1);
    ck_assert_ptr_nonnull(text);
    for (int i = 0; i < n; i++) {
        memcpy(text + b * (size_t)i, before, b);
        memcpy(text + b * (size_t)n + a * (size_t)i, after, a);
    }
    text[whole] = '\0';
    return text;
}

static tribo_status load(const char *text, int nbody, tribo_diag *diag) {
    tribo_model *m = NULL;
    tribo_status s = tribo_model_load_memory(text, strlen(text), "scene", NULL, &m, diag);
    if (s == TRIBO_OK) ck_assert_int_eq(tribo_model_sizes(m).nbody, nbody);
    tribo_model_free(m);
    return s;
}

/* Where nothing is copied, what is nested counts as bodies alone. */
START_TEST(chains_are_as_long_as_without_copies) {
    enum { BODIES = 100, FRAMED = 60, ROOM = 1 << 14 };
    char *chain = nest("<body><joint/><geom size='1'/>", "</body>", BODIES), text[ROOM];
    char *framed = nest("<frame><body><joint/><geom size='1'/>", "</body></frame>", FRAMED);
    tribo_diag diag = {0};
    ck_assert(snprintf(text, ROOM, "<mujoco><worldbody>%s</worldbody></mujoco>", chain) < ROOM);
    ck_assert_msg(load(text, BODIES, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert(snprintf(text, ROOM, "<mujoco><worldbody>%s</worldbody></mujoco>", framed) < ROOM);
    ck_assert_msg(load(text, FRAMED, &diag) == TRIBO_OK, "%s", diag.text);
    free(chain), free(framed);
}
END_TEST

/* Remarks, spaces and attributes are copied too: what they take is bounded. */
START_TEST(copies_of_what_is_long) {
    enum { LENGTH = 20000, ROOM = 1 << 18 };
    static const char *const LONG[][3] = {
        {"<site pos='0 0 0", " ", "'/>"}, {"<body><!--", "x", "--></body>"}, {"<body>", "<!---->", "</body>"}};
    char *text = malloc(ROOM);
    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < sizeof LONG / sizeof *LONG; i++)
        for (int few = 0; few < 2; few++) {
            tribo_diag diag = {0};
            char *middle = nest(LONG[i][1], "", LENGTH);
            snprintf(text, ROOM, WORLD("<replicate count='%d'>%s%s%s</replicate>"), few ? 2 : 8000, LONG[i][0], middle,
                     LONG[i][2]);
            tribo_status s = load(text, 1, &diag);
            if (few)
                ck_assert_msg(s == TRIBO_OK, "%zu: %s", i, diag.text);
            else
                ck_assert_msg(s != TRIBO_OK && strstr(diag.text, "<replicate count>: more than 64 MB in all"),
                              "%zu: %s", i, diag.text);
            free(middle);
        }
    free(text);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("replicate");
    TCase *c = tcase_create("copies");
    tcase_add_test(c, copies_are_mujocos);
    tcase_add_test(c, what_makes_no_copies);
    tcase_add_test(c, chains_are_as_long_as_without_copies);
    tcase_add_test(c, copies_of_what_is_long);
    suite_add_tcase(s, c);
    return s;
}
