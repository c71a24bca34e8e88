/* test_robots.c -- scenes as robots come: in several files, with classes, frames and much that is only seen; what a
 * scene needs that is not there; and where it is installed, MuJoCo's masses and forces of the same files. */
#include "dynamics/actuator.h"
#include "dynamics/motion.h"
#include "formats/mjcf_reading.h"
#include "test_main.h"
#include <math.h>
#include <stdio.h>
#include <tribo/dynamics.h>
#include <tribo/sim.h>
#ifdef HAVE_MUJOCO
#include "mujoco_oracle.h"
#endif
#include "gradcheck.h"
#include "worlds.h"

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

/* What was told of a file, a line a need. */
typedef struct told {
    char text[4096];
    int n, left_out;
} told;

static void hear(void *ctx, const tribo_need *need) {
    told *t = ctx;
    size_t used = strlen(t->text);
    snprintf(t->text + used, sizeof t->text - used, "%s:%d %s\n", need->file ? need->file : "", need->line, need->word);
    t->n++, t->left_out += need->left_out;
}

static tribo_status load(const char *path, const char *lenient, told *t, tribo_model **m, tribo_diag *diag) {
    tribo_load_options o = tribo_default_load_options();
    *t = (told){0};
    *m = NULL;
    o.lenient = lenient, o.need = hear, o.ctx = t;
    return tribo_model_load_with(path, &o, NULL, m, diag);
}

/* ---- include ---- */

static const char ARM[] =
    "<mujoco model='arm'>\n"
    "  <compiler angle='radian'/>\n"
    "  <default><geom density='500'/></default>\n"
    "  <default><default class='long'><geom type='capsule' size='0.02 0.2'/></default></default>\n"
    "  <worldbody>\n"
    "    <body name='base'><geom name='foot' size='0.1'/>\n"
    "      <include file='test_robots_link.xml'/>\n"
    "    </body>\n"
    "  </worldbody>\n"
    "  <sensor><gyro site='nowhere'/></sensor>\n"
    "</mujoco>\n";
static const char LINK[] = "<mujocoinclude>\n"
                           "<body name='link' pos='0 0 0.3'>\n"
                           "  <joint name='hinge' axis='0 1 0' springref='0.5' stiffness='2'/>\n"
                           "  <geom name='rod' class='long'/>\n"
                           "  <site name='tip' pos='0 0 0.2'/></body>\n"
                           "</mujocoinclude>\n";

START_TEST(scenes_come_in_several_files) {
    write_file("test_robots_arm.xml", ARM);
    write_file("test_robots_link.xml", LINK);
    write_file("test_robots_scene.xml",
               "<mujoco><include file='./test_robots_arm.xml'/>"
               "<worldbody><geom name='floor' type='plane' size='1 1 1'/></worldbody></mujoco>");
    told t;
    tribo_model *m;
    tribo_diag diag = {0};
    ck_assert_msg(load("test_robots_scene.xml", NULL, &t, &m, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert_int_eq(m->size.nbody, 1);
    ck_assert_int_eq(m->size.ngeom, 3);
    ck_assert_double_eq(m->p0[tribo_param_find(m, "hinge/springref")], 0.5);
    const double r = 0.02, l = 0.2, volume = 3.14159265358979323846 * r * r * (2 * l + 4. / 3 * r);
    ck_assert_double_eq_tol(m->p0[tribo_param_find(m, "link/mass")], 500 * volume, 1e-15);
    double *p = malloc(sizeof *p * (size_t)m->size.np);
    tribo_model_params(m, p);
    p[tribo_param_find(m, "hinge/stiffness")] = 3;
    ck_assert_msg(tribo_model_save(m, p, "test_robots_scene.xml", "test_robots_saved.xml", &diag) == TRIBO_OK, "%s",
                  diag.text);
    tribo_model *back;
    ck_assert_msg(load("test_robots_saved.xml", NULL, &t, &back, &diag) == TRIBO_OK, "%s", diag.text);
    for (int i = 0; i < m->size.np; i++) ck_assert_double_eq(back->p0[i], p[i]);
    free(p);
    tribo_model_free(m), tribo_model_free(back);
    write_file("test_robots_link.xml", "<mujoco>\n<body name='link'>\n<joint/><geom size='-1'/></body></mujoco>");
    ck_assert_int_lt(load("test_robots_scene.xml", NULL, &t, &m, &diag), 0);
    ck_assert_int_eq(diag.line, 1);
    ck_assert_msg(strstr(diag.text, "in ./test_robots_arm.xml:7, ") && strstr(diag.text, "link.xml:3: <geom>"), "%s",
                  diag.text);
    remove("test_robots_arm.xml"), remove("test_robots_link.xml");
    remove("test_robots_scene.xml"), remove("test_robots_saved.xml");
}
END_TEST

START_TEST(includes_end) {
    static const struct {
        const char *a, *b, *message;
    } CASE[] = {
        {"<mujoco>\n<include file='test_robots_b.xml'/></mujoco>",
         "<mujoco>\n\n<include file='test_robots_a.xml'/></mujoco>", "`test_robots_a.xml` is included already"},
        {"<mujoco>\n<include file='test_robots_a.xml'/></mujoco>", "", "included already"},
        {"<mujoco>\n<include file='test_robots_none.xml'/></mujoco>", "", "<include file>: `test_robots_none.xml`: "},
        {"<mujoco>\n<include/></mujoco>", "", "<include file>: missing"},
        {"<mujoco>\n<include file='test_robots_b.xml'><x/></include></mujoco>", "<mujoco/>", "elements of its own"},
        {"<mujoco>\n<include file='test_robots_b.xml'/></mujoco>", "<mujoco>\n<<</mujoco>", "test_robots_b.xml:2: XML"},
        {"<mujoco>\n<include file='test_robots_b.xml'/></mujoco>", "", "the file is empty"},
        {"<mujoco>\n<include file='test_robots_b.xml'/></mujoco>", "<mujoco>\n<option timestep='-1'/></mujoco>",
         "in test_robots_b.xml:2: <option>: timestep must be > 0"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        write_file("test_robots_a.xml", CASE[i].a);
        write_file("test_robots_b.xml", CASE[i].b);
        told t;
        tribo_model *m;
        tribo_diag diag = {0};
        ck_assert_int_lt(load("test_robots_a.xml", NULL, &t, &m, &diag), 0);
        ck_assert_msg(strstr(diag.text, CASE[i].message) != NULL, "%zu: %s", i, diag.text);
        ck_assert_msg(diag.line == 2, "%zu: line %d: %s", i, diag.line, diag.text);
    }
    remove("test_robots_a.xml"), remove("test_robots_b.xml");
}
END_TEST

/* ---- what is missing ---- */

START_TEST(everything_missing_is_told) {
    write_file("test_robots_a.xml", "<mujoco>\n<include file='test_robots_b.xml'/>\n<worldbody><body>\n"
                                    "<freejoint/><geom size='1' condim='6'/>\n<geom size='1' margin='0.1'/>"
                                    "<flexcomp/></body></worldbody>\n<tendon><spatial/><spatial/></tendon>\n"
                                    "<extension><plugin plugin='some.thing'/></extension>\n</mujoco>");
    write_file("test_robots_b.xml", "<mujoco><option o_margin='1'\n/></mujoco>");
    told t;
    tribo_model *m;
    tribo_diag diag = {0};
    static const char ALL[] = "test_robots_b.xml:2 o_margin\n:5 flexcomp\n:6 spatial\n"
                              ":6 spatial\n:7 plugin\n";
    ck_assert_int_eq(load("test_robots_a.xml", NULL, &t, &m, &diag), TRIBO_E_PARSE);
    ck_assert_str_eq(t.text, ALL);
    ck_assert_int_eq(diag.line, 2);
    ck_assert_str_eq(diag.text, "in test_robots_b.xml:2: <option o_margin>: only 0 is supported "
                                "(and 4 more: `tribo check` lists them)");
    ck_assert_int_eq(load("test_robots_a.xml", "o_margin plugin spatial", &t, &m, &diag), TRIBO_E_PARSE);
    ck_assert_str_eq(t.text, ALL);
    ck_assert_int_eq(t.left_out, 4);
    ck_assert_str_eq(diag.text, "<flexcomp>: this element is not supported");
    ck_assert_int_eq(load("test_robots_a.xml", "o_margin plugin flexcomp spatial", &t, &m, &diag), 0);
    ck_assert_int_eq(t.left_out, 5);
    ck_assert_int_eq(m->size.ngeom, 2);
    double *p = malloc(sizeof *p * (size_t)m->size.np);
    tribo_model_params(m, p);
    p[3] += 1; /* what was left out stays so where it is saved */
    ck_assert_msg(tribo_model_save(m, p, "test_robots_a.xml", "test_robots_c.xml", &diag) == TRIBO_OK, "%s", diag.text);
    free(p), remove("test_robots_c.xml");
    tribo_model_free(m);
    tribo_load_options wrong = {0};
    ck_assert_int_eq(tribo_model_load_with("test_robots_a.xml", &wrong, NULL, &m, &diag), TRIBO_E_DEF);
    remove("test_robots_a.xml"), remove("test_robots_b.xml");
}
END_TEST

/* Older words, and a mesh that a plugin makes. */
START_TEST(what_other_versions_have_is_told) {
    static const struct {
        const char *text, *told;
    } CASE[] = {{"<option collision='all'/>", ""},
                {"<option collision='predefined'/>", ":2 collision\n"},
                {"<equality><distance geom1='a' geom2='b'/></equality>", ":2 distance\n"},
                {"<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1'><plugin plugin='sdf'/></mesh></asset>"
                 "<worldbody><geom type='mesh' mesh='m'/></worldbody>",
                 ":2 plugin\n"}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "<mujoco>\n%s<worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>", CASE[i].text);
        write_file("test_robots_a.xml", text);
        told t;
        tribo_model *m = NULL;
        ck_assert_int_eq(load("test_robots_a.xml", NULL, &t, &m, NULL), CASE[i].told[0] ? TRIBO_E_PARSE : TRIBO_OK);
        ck_assert_str_eq(t.text, CASE[i].told);
        tribo_model_free(m);
    }
    remove("test_robots_a.xml");
}
END_TEST

/* How a file wants to be stepped is no need: it loads, is told of, and is as strict about the rest. */
START_TEST(another_way_to_step_is_told) {
#define STEPPED(way, ctrl)                                                                                             \
    "<mujoco>\n<option integrator='" way "' timestep='0.01'/>\n<worldbody><body><freejoint/><geom size='1'/></body>"   \
    "</worldbody>\n<keyframe><key qpos='0 0 2 1 0 0 0" ctrl "'/></keyframe></mujoco>"
    told t;
    tribo_model *m;
    tribo_diag diag = {0};
    write_file("test_robots_a.xml", STEPPED("RK4", ""));
    ck_assert_msg(load("test_robots_a.xml", NULL, &t, &m, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert_str_eq(t.text, ":2 integrator\n");
    ck_assert_int_eq(t.left_out, 1);
    ck_assert(tribo_model_timestep(m) == 0.01 && tribo_model_keys(m) == 1);
    tribo_model_free(m);
    write_file("test_robots_a.xml", STEPPED("RK4", " 1"));
    ck_assert_int_eq(load("test_robots_a.xml", NULL, &t, &m, &diag), TRIBO_E_PARSE);
    ck_assert_msg(strstr(diag.text, "<key qpos>: ") != NULL, "%s", diag.text);
    write_file("test_robots_a.xml", STEPPED("implicitfast", ""));
    ck_assert_int_eq(load("test_robots_a.xml", NULL, &t, &m, &diag), TRIBO_OK);
    ck_assert_str_eq(t.text, "");
    tribo_model_free(m);
    remove("test_robots_a.xml");
}
END_TEST

/* A row of docs/mjcf.md. */
static void row_of(const ti_mjcf_rule *rule, char *row, size_t n) {
    if (rule->fate == TI_READ)
        snprintf(row, n, "| `%s` | %s | %s | %s |", rule->where, rule->read, rule->skipped, rule->refused);
    else if (rule->fate == TI_SKIPPED)
        snprintf(row, n, "| `%s` | skipped | | |", rule->where);
    else
        snprintf(row, n, "| `%s` | refused: %s | | |", rule->where, ti_mjcf_word(rule));
    for (char *c; (c = strstr(row, "|  |")) != NULL;) memmove(c + 1, c + 2, strlen(c + 1));
}

/* docs/mjcf.md has what the table has, element by element and attribute by attribute. */
START_TEST(the_documentation_says_what_is_read) {
    const char *scenes = getenv("TRIBO_SCENES");
    char path[4096], row[4096], line[4096];
    static bool found[256];
    ck_assert_ptr_nonnull(scenes);
    snprintf(path, sizeof path, "%s/../../docs/mjcf.md", scenes);
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "| `mujoco", 9) != 0 &&
            !(strncmp(line, "| `", 3) == 0 && strchr(line, '/') && strchr(line, '/') < strchr(line + 3, '`')))
            continue;
        int k = 0;
        for (; k < TI_MJCF_NRULES; k++) {
            row_of(&TI_MJCF_RULES[k], row, sizeof row);
            if (strcmp(row, line) == 0) break;
        }
        if (k < TI_MJCF_NRULES)
            found[k] = true;
        else
            ck_assert_msg(strstr(line, "numeric") || strstr(line, "contact/"), "docs/mjcf.md says: %s", line);
    }
    fclose(f);
    for (int k = 0; k < TI_MJCF_NRULES; k++) {
        row_of(&TI_MJCF_RULES[k], row, sizeof row);
        ck_assert_msg(found[k], "docs/mjcf.md has no row: %s", row);
    }
}
END_TEST

/* ---- actuators ---- */

#define ONE(ACTUATOR)                                                                                                  \
    "<mujoco><compiler angle='radian'/><option gravity='0 0 0'/><worldbody><body><joint name='j' axis='0 1 0' "        \
    "range='-1 3' actuatorfrcrange='-5 5'/><geom size='0.1'/><body pos='1 0 0'><joint name='k' type='slide'/>"         \
    "<geom size='0.1'/></body></body><body><freejoint name='f'/><geom size='1'/></body></worldbody>"                   \
    "<tendon><fixed name='t'><joint joint='j' coef='2'/><joint joint='k' "                                             \
    "coef='-1'/></fixed></tendon>\n<actuator>" ACTUATOR "</actuator></mujoco>"

static tribo_model *from_text(const char *text) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_msg(tribo_model_load_memory(text, strlen(text), "text", NULL, &m, &diag) == TRIBO_OK, "%s: %s", text,
                  diag.text);
    return m;
}

/* Of the sphere that k moves. */
#define ROOT_OF_MASS 2.0466534158929770

/* What an actuator does to the joints j and k at a state, and how many ranges hold. */
START_TEST(actuators_by_hand) {
    static const struct {
        const char *actuator;
        double control, j, k;
        int held;
    } CASE[] = {
        {"<motor joint='j' gear='3'/>", 0.5, 1.5, 0, 0},
        {"<motor joint='j' gear='3' ctrlrange='-1 1'/>", -2, -3, 0, 1},
        {"<motor joint='j' gear='3' ctrlrange='-1 1' ctrllimited='false'/>", -1.5, -4.5, 0, 0},
        {"<motor joint='j' gear='30'/>", 0.5, 5, 0, 1}, /* the joint's own range */
        {"<motor joint='k' gear='30' forcerange='-0.1 0.1'/>", 0.5, 0, 3, 1},
        {"<position joint='k' kp='4' kv='0.5'/>", 1, 0, 4 * (1 - 0.3) - 0.5 * 0.2, 0},
        {"<position joint='k' kp='4' dampratio='0.5'/>", 1, 0, 4 * (1 - 0.3) - 2 * 0.5 * 2 * ROOT_OF_MASS * 0.2, 0},
        {"<general joint='k' gainprm='4' biastype='affine' biasprm='0 -4 0.5'/>", 1, 0,
         4 * (1 - 0.3) - 2 * 0.5 * 2 * ROOT_OF_MASS * 0.2, 0},
        {"<general joint='k' gainprm='3' biastype='affine' biasprm='0 -4 0.5'/>", 1, 0, 3 - 4 * 0.3 + 0.5 * 0.2, 0},
        {"<position joint='j' gear='2' kp='4' dampratio='0.5'/>", 0, -5, 0, 1},
        {"<position joint='j' kp='1' inheritrange='0.5'/>", 9, 2 - 0.7, 0, 1},
        {"<position joint='j' kp='1' ctrllimited='true' inheritrange='0.5'/>", 9, 2 - 0.7, 0, 1},
        {"<velocity joint='k' kv='2'/>", 1, 0, 2 * (1 - 0.2), 0},
        {"<damper joint='k' kv='2' ctrlrange='0 1'/>", 0.5, 0, -2 * 0.2 * 0.5, 0},
        {"<motor tendon='t' gear='0.5'/>", 2, 2, -1, 0},
        {"<position tendon='t' kp='10'/>", 1, -2 * 10 * (2 * 0.7 - 0.3 - 1), 10 * (2 * 0.7 - 0.3 - 1), 0},
        {"<general joint='k' gainprm='2 9 9' biasprm='9 9 9'/>", 0.5, 0, 1, 0},
        {"<general joint='k' gaintype='affine' gainprm='1 2 3' biastype='affine' biasprm='0.5 -1 -2'/>", 2, 0,
         2 * (1 + 2 * 0.3 + 3 * 0.2) + 0.5 - 0.3 - 2 * 0.2, 0},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char text[2048];
        snprintf(text, sizeof text, ONE("%s"), CASE[i].actuator);
        tribo_model *m = from_text(text);
        double x[32], u[16] = {0}, *p = malloc(sizeof *p * (size_t)m->size.np);
        tribo_ws *ws;
        ck_assert_int_eq(m->size.nu, m->size.nv + 1);
        ck_assert_int_eq(tribo_ws_new(m, NULL, NULL, &ws, NULL), TRIBO_OK);
        tribo_model_params(m, p), tribo_model_state0(m, x);
        x[0] = 0.7, x[1] = 0.3, x[m->size.nq] = -0.4, x[m->size.nq + 1] = 0.2, u[m->size.nv] = CASE[i].control;
        ti_arena a = {0};
        ti_motion motion;
        ti_motion_carve(&a, m, &motion);
        void *block = ti_arena_take(&a, NULL);
        ti_motion_carve(&a, m, &motion);
        const double *force = ti_actuators_load(&motion, p, x, x + m->size.nq, u);
        ck_assert_double_eq_tol(force[0], CASE[i].j, 1e-14);
        ck_assert_double_eq_tol(force[1], CASE[i].k, 1e-14);
        double next[32];
        ck_assert_int_eq(tribo_step(ws, p, x, u, next, NULL), TRIBO_OK);
        ck_assert_int_eq(tribo_last_info(ws)->nheld, CASE[i].held);
        ti_free(NULL, block, a.used);
        tribo_ws_free(ws), tribo_model_free(m), free(p);
    }
}
END_TEST

START_TEST(actuators_are_refused) {
    static const char *const CASE[][2] = {
        {ONE("<motor/>"), "<motor>: it pulls on nothing"},
        {ONE("<motor joint='x'/>"), "<motor joint>: there is no joint `x`"},
        {ONE("<motor tendon='x'/>"), "<motor tendon>: there is no tendon `x`"},
        {ONE("<motor joint='f'/>"), "a free joint is not supported"},
        {ONE("<motor site='s'/>"), "<motor site>: there is no site `s`"},
        {ONE("<motor site='s' refsite='s'/>"), "<motor refsite>: not supported"},
        {ONE("<motor joint='j' ctrlrange='1 -1'/>"), "the first number is larger"},
        {ONE("<motor joint='j' gear='nan'/>"), "`nan` is not a number"},
        {ONE("<position joint='k' inheritrange='1'/>"), "its joint has no range"},
        {ONE("<position joint='j' kv='1' dampratio='1'/>"), "<position dampratio>: given together with kv"},
        {ONE("<position joint='j' timeconst='1'/>"), "<position timeconst>: only 0"},
        {ONE("<general joint='j' dyntype='filter'/>"), "<general dyntype>: `filter`"},
        {ONE("<general joint='j' gaintype='muscle'/>"), "<general gaintype>: `muscle`"},
        {ONE("<general joint='j' biastype='muscle'/>"), "<general biastype>: `muscle`"},
        {ONE("<motor name='a' joint='j'/><motor name='a' joint='j'/>"), "actuator a: there is one of this name"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        ck_assert_int_lt(tribo_model_load_memory(CASE[i][0], strlen(CASE[i][0]), "text", NULL, &m, &diag), 0);
        ck_assert_msg(strstr(diag.text, CASE[i][1]) && diag.line == 2, "%d: %s", diag.line, diag.text);
    }
}
END_TEST

static void driven_path(char *path, size_t n) {
    const char *scenes = getenv("TRIBO_SCENES");
    ck_assert_ptr_nonnull(scenes);
    snprintf(path, n, "%s/driven.xml", scenes);
}

/* From both keys, with their controls: ranges of controls and of forces hold in some steps. */
START_TEST(actuators_reverse_is_the_derivative) {
    char path[4096];
    driven_path(path, sizeof path);
    told t;
    tribo_model *m;
    tribo_diag diag = {0};
    ck_assert_msg(load(path, NULL, &t, &m, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert_int_eq(tribo_model_keys(m), 2);
    ck_assert_int_eq(tribo_model_key_find(m, "reach"), 1);
    ck_assert_int_eq(tribo_model_key_find(m, "none"), -1);
    double x[8], u[11];
    tribo_model_key(m, 1, x, u);
    ck_assert(x[1] == -1.2 && x[4] == 0.1 && u[3] == 0 && u[4] == -0.5 && u[9] == 0.1);
    for (uint64_t seed = 1; seed <= 2; seed++) {
        tribo_model_key(m, (int)seed - 1, x, u);
        grad_task task = {.model = m, .x0 = x, .steps = 40, .seed = seed, .per_block = 6, .tol = 1e-6};
        grad_result r;
        task.options = tribo_default_options();
        ck_assert_int_ge(grad_check(&task, &r), 0);
        const char *flaw = grad_flaw(&task, &r);
        ck_assert_msg(flaw == NULL, "%s", flaw);
        ck_assert_double_le(r.worst, 1e-6);
    }
    tribo_model_free(m);
}
END_TEST

/* Thrust and torque at sites: of a drone, which is one free body, and of an arm on another one, whose thruster also
 * brakes. Reverse, and A and B, which go by its rows. */
START_TEST(sites_reverse_is_the_derivative) {
    tribo_model *m =
        from_text("<mujoco><worldbody><body pos='0 0 2'><freejoint/><geom type='box' size='.2 .1 .05' pos='.03 0 .01'/>"
                  "<site name='left' pos='.2 .1 0' euler='10 20 0'/></body>"
                  "<body pos='3 0 2'><freejoint/><geom type='box' size='.2 .1 .05' pos='.03 0 .01'/>"
                  "<body pos='.2 0 0'><joint axis='0 1 1' pos='.01 .02 0'/><geom size='.08' pos='.1 0 0'/>"
                  "<body pos='.2 0 0'><joint type='ball'/><geom type='box' size='.1 .08 .05' pos='.1 0 .05'/>"
                  "<site name='tip' pos='.2 .1 0' euler='0 40 30'/></body></body></body></worldbody>"
                  "<actuator><motor site='left' gear='0 0 1 0 0 .1'/>"
                  "<general site='tip' gear='1 .3 -.4 .1 .2 .3' gaintype='affine' gainprm='2 0 .2' biastype='affine' "
                  "biasprm='.3 0 -.4'/></actuator><keyframe><key ctrl='6 2'/></keyframe></mujoco>");
    double *x = malloc(sizeof *x * (size_t)m->size.nx);
    tribo_model_key(m, 0, x, NULL);
    for (int i = m->size.nq; i < m->size.nx; i++) x[i] = 0.3 * sin(i);
    grad_task task = {.model = m, .x0 = x, .steps = 30, .seed = 2, .per_block = 12, .tol = 1e-6};
    grad_result r;
    task.options = tribo_default_options();
    ck_assert_int_ge(grad_check(&task, &r), 0);
    ck_assert_msg(grad_flaw(&task, &r) == NULL, "%s: worst %g", grad_flaw(&task, &r), r.worst);
    tribo_model_free(m), free(x);
}
END_TEST

/* Weight that is carried: nothing falls, or less; the reverse knows, of trees and of free bodies. */
START_TEST(carried_weight) {
    tribo_model *m =
        from_text("<mujoco><worldbody><body gravcomp='1'><joint axis='0 1 0'/><geom size='0.1' pos='1 0 0'/>"
                  "<body pos='1 0 0' gravcomp='0.4'><joint axis='1 1 0'/><geom size='0.1' pos='0 1 0'/>"
                  "</body></body><body gravcomp='0.7' pos='0 0 3'><freejoint/><geom size='0.2'/></body>"
                  "</worldbody></mujoco>");
    double x[32], next[32], *p = malloc(sizeof *p * (size_t)m->size.np);
    tribo_ws *ws;
    ck_assert_int_eq(tribo_ws_new(m, NULL, NULL, &ws, NULL), TRIBO_OK);
    tribo_model_params(m, p), tribo_model_state0(m, x);
    ck_assert_int_eq(tribo_step(ws, p, x, NULL, next, NULL), TRIBO_OK);
    ck_assert_double_eq_tol(next[m->size.nq + 4], -0.3 * 9.81 * m->dt, 1e-15);
    double before = tribo_energy(m, p, x), after;
    memcpy(next, x, sizeof next);
    for (int k = 0; k < 500; k++) ck_assert_int_eq(tribo_step(ws, p, next, NULL, next, NULL), TRIBO_OK);
    after = tribo_energy(m, p, next);
    ck_assert_double_eq_tol(after, before, 0.02 * fabs(before));
    grad_task task = {.model = m, .x0 = x, .steps = 20, .seed = 1, .per_block = 6, .tol = 1e-6};
    grad_result r;
    task.options = tribo_default_options();
    ck_assert_int_ge(grad_check(&task, &r), 0);
    ck_assert_msg(grad_flaw(&task, &r) == NULL, "%s", grad_flaw(&task, &r));
    size_t n = 2 * (size_t)m->size.nv, all = n * n + n * (size_t)m->size.nu + n * (size_t)m->size.np;
    double *A = malloc(2 * sizeof *A * all), *B = A + n * n, *C = B + n * (size_t)m->size.nu, *rows = A + all;
    tribo_tape *tape;
    ck_assert_int_eq(tribo_tape_new(ws, 1, 0, &tape), TRIBO_OK);
    for (int i = m->size.nq; i < m->size.nx; i++) x[i] = 0.4 * sin(i);
    ck_assert_int_eq(tribo_step(ws, p, x, NULL, next, tape), TRIBO_OK);
    ck_assert_int_ge(tribo_step_jac(ws, tape, 0, A, B, NULL), 0);
    ck_assert_int_ge(tribo_step_jac(ws, tape, 0, rows, rows + n * n, C), 0); /* by rows */
    for (size_t i = 0; i < n * n + n * (size_t)m->size.nu; i++) ck_assert_double_eq_tol(A[i], rows[i], 1e-12);
    tribo_tape_free(tape), free(A);
    tribo_ws_free(ws), tribo_model_free(m), free(p);
    m = from_text("<mujoco><worldbody><body gravcomp='.7' pos='0 0 3'><freejoint/><geom size='.2' mass='2'/></body>"
                  "</worldbody></mujoco>");
    double sphere[64];
    ck_assert_int_le(m->size.np, 64);
    tribo_model_params(m, sphere), tribo_model_state0(m, x);
    ck_assert_double_eq_tol(tribo_energy(m, sphere, x), .3 * 2 * 9.81 * 3, 1e-13); /* of free bodies alone */
    tribo_model_free(m);
}
END_TEST

/* Weight that actuators carry counts within what they may do to a joint: accelerations are those of MuJoCo 3.14. The
 * reverse knows, where that holds and where it does not, of forces at a state too. */
START_TEST(weight_that_actuators_carry) {
    static const double CONTROL[] = {0, 13}, WANT[][2] = {{12.380367370124814, -27.095657468795707},
                                                          {14.824594577769474, -34.35135555763065}};
    tribo_model *m =
        from_text("<mujoco><worldbody><body gravcomp='.8'><joint name='a' axis='0 1 0' actuatorgravcomp='true' "
                  "actuatorfrcrange='-1 2'/><geom size='.1' pos='1 0 0' mass='1'/><body pos='1 0 0' gravcomp='.5'>"
                  "<joint name='b' axis='0 1 0'/><geom size='.1' mass='.5' pos='.5 0 0'/></body></body></worldbody>"
                  "<actuator><motor joint='a'/></actuator></mujoco>");
    tribo_dynamics *d;
    double x[32] = {0}, u[8] = {0}, tau[8], a[8];
    ck_assert_int_eq(tribo_dynamics_new(m, NULL, &d), TRIBO_OK);
    ck_assert_int_eq(tribo_dynamics_set_state(d, x), TRIBO_OK);
    for (int k = 0; k < 2; k++) {
        u[2] = CONTROL[k];
        ck_assert_int_eq(tribo_joint_forces(d, u, tau), TRIBO_OK);
        ck_assert_int_eq(tribo_forward_dynamics(d, tau, a), TRIBO_OK);
        for (int i = 0; i < 2; i++) ck_assert_double_eq_tol(a[i], WANT[k][i], 1e-12 * fabs(WANT[k][i]));
    }
    tribo_dynamics_free(d), tribo_model_free(m);
    m = from_text("<mujoco><default><joint actuatorgravcomp='true'/></default><worldbody><body gravcomp='.3'>"
                  "<freejoint/><geom type='box' size='.2 .1 .3' pos='.03 0 .01'/><body pos='.3 0 0' gravcomp='.8'>"
                  "<joint name='a' axis='0 1 .2' actuatorfrcrange='-1 2'/><geom size='.1' pos='.3 0 .1'/>"
                  "<body pos='.3 0 0' gravcomp='.5'><joint name='b' axis='.2 1 0' actuatorfrcrange='-1e3 1e3'/>"
                  "<geom size='.1' pos='.2 .1 0'/></body></body></body></worldbody>"
                  "<actuator><motor joint='a'/><position joint='b' kp='3' kv='.2'/></actuator></mujoco>");
    tribo_model_state0(m, x);
    for (int i = m->size.nq; i < m->size.nx; i++) x[i] = 0.3 * sin(i);
    grad_task task = {.model = m, .x0 = x, .steps = 12, .seed = 2, .per_block = 12, .tol = 1e-6};
    grad_result r;
    task.options = tribo_default_options();
    ck_assert_int_ge(grad_check(&task, &r), 0);
    ck_assert_msg(grad_flaw(&task, &r) == NULL, "%s: worst %g", grad_flaw(&task, &r), r.worst);
    tribo_model_free(m);
}
END_TEST

/* A and B alone, by columns, against those by rows: of the scene, whose damper they leave to the rows, and of it
 * without one, where a tendon, a range of controls and one of forces count. */
START_TEST(actuators_jacobians_are_the_reverse) {
    char path[4096];
    driven_path(path, sizeof path);
    told t;
    tribo_model *m;
    tribo_diag diag = {0};
    ck_assert_msg(load(path, NULL, &t, &m, &diag) == TRIBO_OK, "%s", diag.text);
    enum { NDX = 8, NU = 11 };
    double x[8], u[NU], next[8], A[2][NDX * NDX], B[2][NDX * NU], *p = malloc(2 * sizeof *p * (size_t)m->size.np * NDX);
    tribo_model_params(m, p);
    tribo_ws *ws;
    tribo_tape *tape;
    ck_assert_int_eq(tribo_ws_new(m, NULL, NULL, &ws, NULL), TRIBO_OK);
    for (int k = 0; k < 4; k++) {
        if (k == 2)
            for (int i = 0; i < m->size.nactuator; i++) p[m->actuator[i].p + TI_P_GAIN + 2] = 0;
        tribo_model_key(m, k % 2, x, u);
        u[4] = k % 2 ? 7 : 0.3; /* beyond its range, or within */
        ck_assert_int_eq(tribo_tape_new(ws, 1, 0, &tape), TRIBO_OK);
        ck_assert_int_eq(tribo_step(ws, p, x, u, next, tape), TRIBO_OK);
        double *C = p + m->size.np;
        ck_assert_int_ge(tribo_step_jac(ws, tape, 0, A[0], B[0], NULL), 0);
        ck_assert_int_ge(tribo_step_jac(ws, tape, 0, A[1], B[1], C), 0);
        for (int i = 0; i < NDX * NDX; i++) ck_assert_double_eq_tol(A[0][i], A[1][i], 1e-11);
        for (int i = 0; i < NDX * NU; i++) ck_assert_double_eq_tol(B[0][i], B[1][i], 1e-11);
        tribo_tape_free(tape);
    }
    tribo_ws_free(ws), tribo_model_free(m), free(p);
}
END_TEST

/* Every number of every actuator, written and read again. */
START_TEST(actuators_are_saved) {
    char path[4096];
    driven_path(path, sizeof path);
    told t;
    tribo_model *m, *back;
    tribo_diag diag = {0};
    ck_assert_msg(load(path, NULL, &t, &m, &diag) == TRIBO_OK, "%s", diag.text);
    double *p = malloc(sizeof *p * (size_t)m->size.np);
    tribo_model_params(m, p);
    for (int i = 0; i < m->size.nactuator; i++)
        for (int k = 0; k < TI_P_ACTUATOR; k++)
            if (m->used[m->actuator[i].p + k]) p[m->actuator[i].p + k] += 0.01 * (1 + k);
    ck_assert_msg(tribo_model_save(m, p, path, "test_robots_driven.xml", &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert_msg(load("test_robots_driven.xml", NULL, &t, &back, &diag) == TRIBO_OK, "%s", diag.text);
    for (int i = 0; i < m->size.np; i++) ck_assert_double_eq(back->p0[i], p[i]);
    remove("test_robots_driven.xml");
    tribo_model_free(m), tribo_model_free(back), free(p);
}
END_TEST

/* ---- robots that stand ---- */

/* Where its first key has it, on its servos, for a second: solved, without a growing overlap, and in its place. */
static void stand_a_second(tribo_ws *ws, const tribo_model *m, double *x, double *u, double *p) {
    const int steps = (int)(1 / tribo_model_timestep(m) + 0.5);
    double first = 0;
    tribo_model_params(m, p), tribo_model_key(m, 0, x, u);
    for (int k = 0; k < steps; k++) {
        ck_assert_int_eq(tribo_step(ws, p, x, u, x, NULL), TRIBO_OK);
        const tribo_step_info *info = tribo_last_info(ws);
        ck_assert_double_le(info->residual, 1e-8);
        if (k < steps / 10)
            first = fmax(first, info->penetration); /* keys are written to five digits */
        else
            ck_assert_double_le(info->penetration, first + 1e-12);
    }
    for (int i = 0; i < tribo_model_sizes(m).nx; i++) ck_assert(isfinite(x[i]));
}

static const char *const STANDS[] = {"hopper", "half-cheetah", "arm-7", "hand", "humanoid"};
enum { NSTANDS = sizeof STANDS / sizeof *STANDS };

static tribo_model *standing(int i, char *path, size_t size) {
    const char *scenes = getenv("TRIBO_SCENES");
    tribo_model *m;
    tribo_diag diag = {0};
    told t;
    ck_assert_ptr_nonnull(scenes);
    snprintf(path, size, "%s/%s.xml", scenes, STANDS[i]);
    ck_assert_msg(load(path, NULL, &t, &m, &diag) == TRIBO_OK, "%s", diag.text);
    return m;
}

START_TEST(robots_stand) {
    char path[4096];
    tribo_ws *ws;
    tribo_model *m = standing(_i, path, sizeof path);
    tribo_sizes n = tribo_model_sizes(m);
    double *x0 = calloc((size_t)(2 * n.nx + n.nu + n.np), sizeof *x0), *x = x0 + n.nx, *u = x + n.nx, *p = u + n.nu;
    ck_assert_int_eq(tribo_ws_new(m, NULL, NULL, &ws, NULL), TRIBO_OK);
    tribo_model_state0(m, x0);
    stand_a_second(ws, m, x, u, p);
    for (int i = 0; i < n.nx; i++) ck_assert_double_eq_tol(x[i], x0[i], 0.005);
    tribo_ws_free(ws), tribo_model_free(m), free(x0);
}
END_TEST

START_TEST(robots_are_saved) {
    static const char OUT[] = "test_robots_stand.xml";
    char path[4096];
    told t;
    tribo_diag diag = {0};
    tribo_model *m = standing(_i, path, sizeof path), *back;
    double *p = malloc(sizeof *p * (size_t)m->size.np);
    tribo_model_params(m, p);
    for (int i = 0; i < m->size.np; i++) {
        tribo_param_info info;
        ck_assert_int_eq(tribo_param_describe(m, i, &info), TRIBO_OK);
        if (info.used && info.kind != TRIBO_PARAM_QUAT && info.geom < 0) p[i] *= 1.25;
    }
    ck_assert_msg(tribo_model_save(m, p, path, OUT, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert_msg(load(OUT, NULL, &t, &back, &diag) == TRIBO_OK, "%s", diag.text);
    for (int i = 0; i < m->size.np; i++) ck_assert_double_eq_tol(back->p0[i], p[i], 1e-14 * (1 + fabs(p[i])));
    remove(OUT), free(p);
    tribo_model_free(m), tribo_model_free(back);
}
END_TEST

/* By the bounds of a pyramid along x, of a base 0.25 x 0.5 and height 1, in their middle. */
START_TEST(shapes_are_fitted_to_bounds) {
    static const char *const TYPE[] = {"box", "sphere", "capsule", "cylinder", "ellipsoid"};
    static const double SIZE[][3] = {{0.125, 0.25, 0.5}, {0.5}, {0.25, 0.25}, {0.25, 0.5}, {0.125, 0.25, 0.5}};
    for (size_t i = 0; i < sizeof TYPE / sizeof *TYPE; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "<mujoco><compiler fitaabb='true'/><asset><mesh name='m' vertex='1 0 0 1 .25 0 1 0 .5 1 .25 .5 2 .125 "
                 ".25'/>"
                 "</asset><worldbody><body><freejoint/><geom type='%s' mesh='m' pos='0 0 2' euler='0 0 90'/></body>"
                 "</worldbody></mujoco>",
                 TYPE[i]);
        tribo_model *m = from_text(text);
        const double *g = m->p0 + m->geom[0].p, at[3] = {-0.125, 1.5, 2.25};
        for (int k = 0; k < 3; k++) ck_assert_double_eq_tol(g[TI_P_SIZE + k], SIZE[i][k], 1e-12);
        for (int k = 0; k < 3; k++) ck_assert_double_eq_tol(g[TI_P_POS + k], at[k], 1e-12);
        tribo_model_free(m);
    }
}
END_TEST

/* A mesh that is a box of 0.75 x 0.25 x 0.5 beside its frame: shapes that are fitted to it, and one that is changed
 * then.
 */
START_TEST(shapes_are_fitted_to_meshes) {
    static const char *const TYPE[] = {"box", "sphere", "capsule", "cylinder", "ellipsoid"};
    static const double SIZE[][3] = {
        {0.125, 0.25, 0.375}, {0.25}, {0.1875, 0.375 - 0.09375}, {0.1875, 0.375}, {0.125, 0.25, 0.375}};
    static const char PATH[] = "test_robots_fitted.xml", OUT[] = "test_robots_fitted_saved.xml";
    for (size_t i = 0; i < sizeof TYPE / sizeof *TYPE; i++) {
        char text[1024];
        told t;
        tribo_model *m, *back;
        tribo_diag diag = {0};
        snprintf(text, sizeof text,
                 "<mujoco><asset><mesh name='m' vertex='1 0 0 1.75 0 0 1 .25 0 1.75 .25 0 1 0 .5 1.75 0 .5 1 .25 .5 "
                 "1.75 .25 .5'/>"
                 "</asset><worldbody><body><freejoint/><geom name='g' type='%s' mesh='m' fitscale='%d' pos='0 0 2' "
                 "euler='0 0 90'/></body></worldbody></mujoco>",
                 TYPE[i], i == 3 ? 2 : 1);
        write_file(PATH, text);
        ck_assert_msg(load(PATH, NULL, &t, &m, &diag) == TRIBO_OK, "%s", diag.text);
        double *p = malloc(sizeof *p * (size_t)m->size.np), *g = p + m->geom[0].p;
        tribo_model_params(m, p);
        for (int k = 0; k < 3; k++) ck_assert_double_eq_tol(g[TI_P_SIZE + k], (i == 3 ? 2 : 1) * SIZE[i][k], 1e-12);
        double at[3] = {-0.125, 1.375, 2.25}; /* its middle, turned */
        for (int k = 0; k < 3; k++) ck_assert_double_eq_tol(g[TI_P_POS + k], at[k], 1e-12);
        ti_mat R = ti_quat_mat(g + TI_P_QUAT);
        if (i != 1) ck_assert_double_eq_tol(fabs(R.m[1][2]), 1, 1e-12); /* the longest, of x turned to y */
        g[TI_P_SIZE] *= 1.25;
        ck_assert_msg(tribo_model_save(m, p, PATH, OUT, &diag) == TRIBO_OK, "%s", diag.text);
        ck_assert_msg(load(OUT, NULL, &t, &back, &diag) == TRIBO_OK, "%s", diag.text);
        for (int k = 0; k < m->size.np; k++) ck_assert_double_eq_tol(back->p0[k], p[k], 1e-12);
        remove(PATH), remove(OUT);
        tribo_model_free(m), tribo_model_free(back), free(p);
    }
}
END_TEST

#ifdef HAVE_MUJOCO
START_TEST(actuators_are_mujocos) {
    char path[4096], error[500] = "";
    driven_path(path, sizeof path);
    told t;
    tribo_model *m;
    tribo_diag diag = {0};
    unsigned seed = 3;
    ck_assert_msg(load(path, NULL, &t, &m, &diag) == TRIBO_OK, "%s", diag.text);
    mjModel *mm = mj_loadXML(path, NULL, error, sizeof error);
    ck_assert_msg(mm != NULL, "%s", error);
    ck_assert_int_eq(mm->nkey, 2);
    oracle o;
    oracle_worst w;
    oracle_open(&o, m, mm);
    for (int k = 0; k < 100; k++) {
        double x[8], u[11] = {0};
        for (int i = 0; i < 8; i++) x[i] = 2 * test_random(&seed);
        for (int i = 4; i < 11; i++) u[i] = 3 * test_random(&seed);
        ck_assert(oracle_compare(&o, x, u, 1e-4, &w));
        ck_assert_double_le(w.mass, 1e-12);
        ck_assert_double_le(w.drive, 1e-12);
        ck_assert_double_le(w.acceleration, 1e-10);
    }
    oracle_close(&o);
    mj_deleteModel(mm);
    tribo_model_free(m);
}
END_TEST
#endif

static Suite *suite(void) {
    Suite *s = suite_create("robots");
    TCase *t = tcase_create("robots");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, scenes_come_in_several_files);
    tcase_add_test(t, includes_end);
    tcase_add_test(t, everything_missing_is_told);
    tcase_add_test(t, what_other_versions_have_is_told);
    tcase_add_test(t, another_way_to_step_is_told);
    tcase_add_test(t, the_documentation_says_what_is_read);
    tcase_add_test(t, actuators_by_hand);
    tcase_add_test(t, actuators_are_refused);
    tcase_add_test(t, actuators_reverse_is_the_derivative);
    tcase_add_test(t, actuators_jacobians_are_the_reverse);
    tcase_add_test(t, sites_reverse_is_the_derivative);
    tcase_add_test(t, carried_weight);
    tcase_add_test(t, weight_that_actuators_carry);
    tcase_add_test(t, actuators_are_saved);
    tcase_add_loop_test(t, robots_stand, 0, NSTANDS);
    tcase_add_loop_test(t, robots_are_saved, 0, NSTANDS);
    tcase_add_test(t, shapes_are_fitted_to_meshes);
    tcase_add_test(t, shapes_are_fitted_to_bounds);
#ifdef HAVE_MUJOCO
    tcase_add_test(t, actuators_are_mujocos);
#endif
    suite_add_tcase(s, t);
    return s;
}
