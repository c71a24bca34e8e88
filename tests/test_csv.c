/* test_csv.c -- trajectories and controls: what is read, what is refused and how it is said, what is written. */
#include "base/base.h"
#include "formats/table.h"
#include "formats/text.h"
#include "math/vec.h"
#include "test_main.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <tribo/trajectory.h>

static const char SCENE[] = "<mujoco><worldbody><geom name='floor' type='plane' size='0 0 1'/>"
                            "<body name='cube' pos='0 0 1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
                            "<body name='a.b' pos='0 0 2'><freejoint/><geom size='.1'/></body>"
                            "</worldbody></mujoco>";

static tribo_model *model_new(void) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_model_load_memory(SCENE, strlen(SCENE), "scene", NULL, &m, &diag);
    ck_assert_msg(s == TRIBO_OK, "%d: %s", diag.line, diag.text);
    return m;
}

static tribo_trajectory *read_text(const tribo_model *m, const char *text) {
    tribo_trajectory *t = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_trajectory_load_memory(text, strlen(text), m, NULL, &t, &diag);
    ck_assert_msg(s == TRIBO_OK, "%d: %s", diag.line, diag.text);
    return t;
}

START_TEST(numbers_are_rounded_right) {
    static const char *const GOOD[] = {"0",
                                       "-0",
                                       "1",
                                       "-1.5",
                                       ".5",
                                       "5.",
                                       "1e3",
                                       "1E-3",
                                       "+2",
                                       "0.1",
                                       "1e22",
                                       "1e23",
                                       "1e-22",
                                       "1e308",
                                       "5e-324",
                                       "1e-400",
                                       "123456789012345678901234567890",
                                       "0.00067567567567567571",
                                       "9007199254740993",
                                       "9007199254740992.5",
                                       "2.2250738585072011e-308"};
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        double x;
        const char *end = ti_read_number(GOOD[i], &x);
        ck_assert_msg(end && *end == '\0', "%s", GOOD[i]);
        ck_assert_msg(x == strtod(GOOD[i], NULL), "%s read as %.17g", GOOD[i], x);
    }
    static const char *const BAD[] = {"", "-", ".", "e5", "nan", "inf", "1e999", "abc", "+-1"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        double x = 7;
        ck_assert_msg(!ti_read_number(BAD[i], &x), "%s", BAD[i]);
        ck_assert_double_eq(x, 7);
    }
    double x;
    ck_assert_str_eq(ti_read_number("0x10", &x), "x10");
    ck_assert_str_eq(ti_read_number("1e", &x), "e");
}
END_TEST

START_TEST(numbers_survive_writing) {
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        double x, back;
        memcpy(&x, &seed, sizeof x);
        if (i % 2) x = (double)(int64_t)seed / 1e18;
        if (!isfinite(x)) continue;
        char text[TI_NUMBER_TEXT];
        ti_write_number(x, text);
        const char *end = ti_read_number(text, &back);
        ck_assert_msg(end && *end == '\0' && back == x, "%.17g written as %s", x, text);
    }
}
END_TEST

START_TEST(any_subset_in_any_order) {
    tribo_model *m = model_new();
    tribo_trajectory *t = read_text(m, "cube.vz , time,a.b.px,cube.qw,cube.qx,cube.qy,cube.qz\r\n"
                                       "1,0.5,2,0,0.999,0,0\r\n\r\n"
                                       ",0.75,nan,,,,\n");
    ck_assert_int_eq(tribo_trajectory_rows(t), 2);
    const double *x = tribo_trajectory_states(t), *time = tribo_trajectory_times(t);
    const bool *seen = tribo_trajectory_observed(t);
    ck_assert_double_eq(time[1], 0.75);
    ck_assert_double_eq(x[14 + 2], 1);
    ck_assert_double_eq(x[7], 2);
    ck_assert_double_eq(x[4], 1); /* made unit */
    ck_assert_double_eq(x[2], 1); /* not observed: from the scene */
    ck_assert(seen[14 + 2] && seen[7] && seen[3] && !seen[2] && !seen[8]);
    for (int i = 26; i < 52; i++) ck_assert(!seen[i]);
    ck_assert_double_eq(x[26 + 3], 1);
    ck_assert_double_eq(x[26 + 9], 2);
    tribo_trajectory_free(t);
    tribo_model_free(m);
}
END_TEST

/* Text, the line of the message and a part of it. */
static const struct {
    const char *text;
    int line;
    const char *message;
} REFUSED[] = {
    {"", 0, "empty"},
    {"\n \n", 0, "empty"},
    {"cube.px\n1\n", 1, "`time`"},
    {"time,cube.px\n", 1, "no rows"},
    {"time,cube.pq\n0,1\n", 1, "`cube.pq` is unknown"},
    {"time,sphere.px\n0,1\n", 1, "`sphere.px` is unknown"},
    {"time,px\n0,1\n", 1, "`px` is unknown"},
    {"time,\n0,1\n", 1, "unknown"},
    {"time,cube.\n0,1\n", 1, "unknown"},
    {"time,cube.fx\n0,1\n", 1, "unknown"},
    {"time,cube.px,cube.px\n0,1,1\n", 1, "twice"},
    {"time,time\n0,1\n", 1, "twice"},
    {"time,cube.px\n0,1\n1,two\n", 3, "`two` is not a number"},
    {"time,cube.px\n0,1 2\n", 2, "not a number"},
    {"time,cube.px\n0,inf\n", 2, "not a number"},
    {"time,cube.px\n0,1e13\n", 2, "too large"},
    {"time,cube.px\n0,1e999\n", 2, "too large"},
    {"time,cube.px\n0,1\n\n0,2\n", 4, "time 0 does not come after 0"},
    {"time,cube.px\n1,1\n0.5,2\n", 3, "does not come after"},
    {"time,cube.px\n,1\n", 2, "no time"},
    {"time,cube.px\nnan,1\n", 2, "no time"},
    {"time,cube.px\n0\n", 2, "1 cells, but the header has 2"},
    {"time,cube.px\n0,1,2\n", 2, "more than 2"},
    {"time,cube.qw\n0,1\n", 2, "quaternion"},
    {"time,cube.qw,cube.qx,cube.qy,cube.qz\n0,1,0,0,\n", 2, "3 of a quaternion"},
    {"time,cube.qw,cube.qx,cube.qy,cube.qz\n0,1,0,0,0\n\n1,1,0,0,0.5\n", 4, "length 1.118"},
    {"time,cube.qw,cube.qx,cube.qy,cube.qz\n0,0,0,0,0\n", 2, "length 0"},
    {"time,cube.px\n0,1\n1,\xff\n", 3, "UTF-8"},
    {"time,cube.p\xc3\n0,1\n", 1, "UTF-8"},
    {"time,cube.px\n0,1\n1,0.0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "000000000000000000000000000000000000000001\n",
     3, "is not a number"},
    {"time,\"cube.pq\"\n0,1\n", 1, "`cube.pq` is unknown"},
    {"time,\"cube.px\n0,1\n", 1, "`\"cube.px` is unknown"},
    {"time,\"\n0,1\n", 1, "`\"` is unknown"},
    {"time,measures.x\n0,1\n", 1, "`measures.x` is unknown"},
    {"time,measure.\n0,1\n", 1, "`measure.` is unknown"},
    {"time,cube.px,measure.a\n0,1,two\n", 2, "`two` is not a number"},
};

START_TEST(bad_tables_are_refused) {
    tribo_model *m = model_new();
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        tribo_trajectory *t = NULL;
        tribo_diag diag = {0};
        tribo_status s = tribo_trajectory_load_memory(REFUSED[i].text, strlen(REFUSED[i].text), m, NULL, &t, &diag);
        ck_assert_msg(s == TRIBO_E_PARSE && !t, "case %zu: status %d", i, s);
        ck_assert_msg(strstr(diag.text, REFUSED[i].message) != NULL, "case %zu: `%s`", i, diag.text);
        ck_assert_msg(diag.line == REFUSED[i].line, "case %zu: line %d: %s", i, diag.line, diag.text);
    }
    tribo_trajectory *t = NULL;
    ck_assert_int_eq(tribo_trajectory_load_memory("time\n0\0", 7, m, NULL, &t, NULL), TRIBO_E_PARSE);
    ck_assert_int_eq(tribo_trajectory_load("/nonexistent/x.csv", m, NULL, &t, NULL), TRIBO_E_IO);
    ck_assert_int_eq(tribo_trajectory_load("/", m, NULL, &t, NULL), TRIBO_E_IO);
    tribo_model_free(m);
}
END_TEST

START_TEST(a_text_may_end_with_its_last_number) {
    tribo_model *m = model_new();
    char text[] = {'t', 'i', 'm', 'e', '\n', '1', '2', '3'};
    tribo_trajectory *t = NULL;
    ck_assert_int_eq(tribo_trajectory_load_memory(text, 7, m, NULL, &t, NULL), TRIBO_OK);
    ck_assert_double_eq(tribo_trajectory_times(t)[0], 12);
    tribo_trajectory_free(t);
    tribo_model_free(m);
}
END_TEST

START_TEST(what_is_saved_is_read) {
    tribo_model *m = model_new();
    enum { N = 3 };
    double x[N * 26], time[N] = {0, 0.1, 1.0 / 3};
    for (int i = 0; i < N; i++) {
        tribo_model_state0(m, x + 26 * i);
        for (int k = 0; k < 3; k++) x[26 * i + k] = 1.0 / (i + k + 3);
        x[26 * i + 20] = -1e-17 * i;
        ti_quat_exp(ti_vec3(0.3 + i, 0.7, -0.2), x + 26 * i + 3); /* unit to rounding alone */
    }
    x[26 + 15] = NAN;
    char path[] = "csv_test_out.csv";
    ck_assert_int_eq(tribo_trajectory_save(path, m, N, time, x, NULL), TRIBO_OK);
    tribo_trajectory *t = NULL;
    ck_assert_int_eq(tribo_trajectory_load(path, m, NULL, &t, NULL), TRIBO_OK);
    ck_assert_int_eq(remove(path), 0);
    ck_assert_int_eq(tribo_trajectory_rows(t), N);
    for (int i = 0; i < N * 26; i++) {
        bool seen = tribo_trajectory_observed(t)[i];
        ck_assert_msg(seen == (i != 26 + 15), "%d", i);
        if (seen) ck_assert_double_eq(tribo_trajectory_states(t)[i], x[i]);
    }
    for (int i = 0; i < N; i++) ck_assert_double_eq(tribo_trajectory_times(t)[i], time[i]);
    tribo_trajectory_free(t);
    ck_assert_int_eq(tribo_trajectory_save("/nonexistent/x.csv", m, N, time, x, NULL), TRIBO_E_IO);
    ck_assert_int_eq(tribo_trajectory_save(path, m, 0, time, x, NULL), TRIBO_E_ARG);
    tribo_model_free(m);
}
END_TEST

/* Hinges, slides and balls, and the forces on them, have columns as bodies do. */
START_TEST(joints_have_columns) {
    static const char JOINTS[] =
        "<mujoco><worldbody><body name='cart'><joint name='rail' type='slide'/><geom size='.1'/><body name='arm'>"
        "<joint name='elbow'/><geom size='.1'/><body name='bob'><joint name='socket' type='ball'/><geom size='.1'/>"
        "</body></body></body></worldbody></mujoco>";
    static const char FORCES[] = "time,elbow.tau,socket.ty,rail.tau\n0,1,2,3\n";
    enum { N = 2, NX = 11 };
    const double time[N] = {0, 0.5},
                 x[N * NX] = {0.1, -0.2, 1, 0, 0, 0, 1, 2, 3, 4, 5, 7, 8, 0.6, 0, 0.8, 0, 6, 5, 4, 3, 2};
    static const char path[] = "csv_test_joints.csv";
    tribo_model *m = NULL;
    tribo_trajectory *t = NULL;
    tribo_controls *c = NULL;
    tribo_diag diag = {0};
    ck_assert_int_eq(tribo_model_load_memory(JOINTS, strlen(JOINTS), "scene", NULL, &m, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_model_sizes(m).nx, NX);
    ck_assert_int_eq(tribo_trajectory_save(path, m, N, time, x, NULL), TRIBO_OK);
    ck_assert_msg(tribo_trajectory_load(path, m, NULL, &t, &diag) == TRIBO_OK, "%s", diag.text);
    remove(path);
    for (int i = 0; i < N * NX; i++) {
        ck_assert(tribo_trajectory_observed(t)[i]);
        ck_assert_msg(tribo_trajectory_states(t)[i] == x[i], "%d: %g", i, tribo_trajectory_states(t)[i]);
    }
    ck_assert_msg(tribo_controls_load_memory(FORCES, strlen(FORCES), m, NULL, &c, &diag) == TRIBO_OK, "%s", diag.text);
    const double wanted[5] = {3, 1, 0, 2, 0};
    for (int i = 0; i < 5; i++) {
        char name[200];
        ck_assert_double_eq(tribo_controls_values(c)[i], wanted[i]);
        ti_control_column(m, i, name, sizeof name);
        ck_assert_msg((i == 0) == !strcmp(name, "rail.tau") && (i == 3) == !strcmp(name, "socket.ty"), "%s", name);
    }
    tribo_trajectory_free(t), tribo_controls_free(c);
    static const char *const NONE[] = {"rail.px", "elbow.qw", "socket.q", "nobody.v", "rail.tx"};
    for (int i = 0; i < 5; i++) {
        char text[100];
        snprintf(text, sizeof text, "time,%s\n0,1\n", NONE[i]);
        ck_assert_int_eq(tribo_trajectory_load_memory(text, strlen(text), m, NULL, &t, NULL), TRIBO_E_PARSE);
        ck_assert_int_eq(tribo_controls_load_memory(text, strlen(text), m, NULL, &c, NULL), TRIBO_E_PARSE);
    }
    tribo_model_free(m);
}
END_TEST

/* Names of any kind lead back: those with quotes are written in quotes. What was measured of a motion stands beside it
 * and is passed over. */
START_TEST(quoted_names_and_measures) {
    static const char QUOTED[] =
        "<mujoco><worldbody><body name='the &quot;big&quot; one' pos='0 0 1'><freejoint/><geom "
        "size='.1'/></body><body name='&quot;'><joint name='&quot;j&quot;'/><geom size='.1'/>"
        "</body></worldbody></mujoco>";
    static const char *const MEASURE[] = {TI_MEASURE "energy", TI_MEASURE "of"};
    static const char path[] = "csv_test_quoted.csv";
    enum { N = 2, NX = 15 };
    tribo_model *m = NULL;
    tribo_trajectory *t = NULL;
    tribo_diag diag = {0};
    ck_assert_int_eq(tribo_model_load_memory(QUOTED, strlen(QUOTED), "scene", NULL, &m, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_model_sizes(m).nx, NX);
    double x[N * NX], time[N] = {0, 1}, measured[2 * N] = {7, 8, 9, NAN};
    for (int i = 0; i < N; i++) {
        tribo_model_state0(m, x + NX * i);
        for (int k = 0; k < 3; k++) x[NX * i + k] = i + 0.25 * k;
        x[NX * i + 7] = 0.5 + i, x[NX * i + NX - 1] = -i;
    }
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ti_trajectory_write(f, m, N, time, x, 2, MEASURE, measured);
    fclose(f);
    ck_assert_msg(tribo_trajectory_load(path, m, NULL, &t, &diag) == TRIBO_OK, "%d: %s", diag.line, diag.text);
    remove(path);
    ck_assert_int_eq(tribo_trajectory_rows(t), N);
    for (int i = 0; i < N * NX; i++) {
        ck_assert(tribo_trajectory_observed(t)[i]);
        ck_assert_double_eq(tribo_trajectory_states(t)[i], x[i]);
    }
    tribo_trajectory_free(t), tribo_model_free(m);
}
END_TEST

/* Actuators have columns of controls; where nothing flies, messages name a joint. */
START_TEST(actuators_have_columns) {
    static const char DRIVEN[] =
        "<mujoco><worldbody><body name='arm'><joint name='elbow'/><geom name='stick' size='.1'/></body></worldbody>"
        "<actuator><motor name='push' joint='elbow'/><motor name='pull' joint='elbow'/></actuator></mujoco>";
    static const char TEXT[] = "time,pull.ctrl,elbow.tau,push.ctrl\n0,1,2,3\n", path[] = "csv_test_driven.csv";
    tribo_model *m = NULL;
    tribo_trajectory *t = NULL;
    tribo_controls *c = NULL;
    tribo_diag diag = {0};
    ck_assert_int_eq(tribo_model_load_memory(DRIVEN, strlen(DRIVEN), "scene", NULL, &m, NULL), TRIBO_OK);
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    fputs(TEXT, f);
    fclose(f);
    ck_assert_msg(tribo_controls_load(path, m, NULL, &c, &diag) == TRIBO_OK, "%s", diag.text);
    static const double wanted[3] = {2, 3, 1};
    static const char *const name[3] = {"elbow.tau", "push.ctrl", "pull.ctrl"};
    for (int i = 0; i < 3; i++) {
        char column[200];
        ck_assert_double_eq(tribo_controls_values(c)[i], wanted[i]);
        ti_control_column(m, i, column, sizeof column);
        ck_assert_str_eq(column, name[i]);
    }
    remove(path);
    tribo_controls_free(c), c = NULL;
    ck_assert_int_eq(tribo_controls_load("/nonexistent/x.csv", m, NULL, &c, NULL), TRIBO_E_IO);
    static const char *const NONE[] = {"push.tau", "stick.q", "arm.px", "ctrl"};
    for (int i = 0; i < 4; i++) {
        char text[100];
        snprintf(text, sizeof text, "time,%s\n0,1\n", NONE[i]);
        ck_assert_int_eq(tribo_controls_load_memory(text, strlen(text), m, NULL, &c, NULL), TRIBO_E_PARSE);
        ck_assert_int_eq(tribo_trajectory_load_memory(text, strlen(text), m, NULL, &t, &diag), TRIBO_E_PARSE);
        ck_assert_msg(strstr(diag.text, "columns are `time`, `elbow.q` and so on"), "%s", diag.text);
    }
    ck_assert(!c && !t);
    tribo_model_free(m);
}
END_TEST

START_TEST(nothing_to_read_or_write) {
    tribo_model *m = model_new();
    tribo_trajectory *t = NULL;
    tribo_controls *c = NULL;
    double x[26], u = 7, time = 0, endless = HUGE_VAL;
    tribo_model_state0(m, x);
    ck_assert_int_eq(tribo_trajectory_load_memory(NULL, 1, m, NULL, &t, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_trajectory_load_memory("x", 1, NULL, NULL, &t, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_trajectory_load_memory("x", 1, m, NULL, NULL, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_controls_load_memory(NULL, 1, m, NULL, &c, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_controls_load_memory("x", 1, NULL, NULL, &c, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_controls_load_memory("x", 1, m, NULL, NULL, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_trajectory_save(NULL, m, 1, &time, x, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_trajectory_save("x.csv", NULL, 1, &time, x, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_trajectory_save("x.csv", m, 1, NULL, x, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_trajectory_save("x.csv", m, 1, &time, NULL, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_trajectory_save("x.csv", m, 1, &endless, x, NULL), TRIBO_E_ARG);
    ck_assert(!tribo_trajectory_times(NULL) && !tribo_trajectory_observed(NULL) && !tribo_controls_times(NULL));
    ck_assert(tribo_trajectory_rows(NULL) == 0 && tribo_controls_rows(NULL) == 0);
    tribo_controls_at(NULL, 0, &u);
    ck_assert_double_eq(u, 7);
    tribo_model_free(m);
}
END_TEST

START_TEST(controls_hold_until_the_next) {
    tribo_model *m = model_new();
    static const char TEXT[] = "\xef\xbb\xbftime,cube.fx,a.b.tz\n0.1,1,2\n0.2,,3\n";
    tribo_controls *c = NULL;
    ck_assert_int_eq(tribo_controls_load_memory(TEXT, strlen(TEXT), m, NULL, &c, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_controls_rows(c), 2);
    double u[12];
    tribo_controls_at(c, 0.05, u);
    for (int i = 0; i < 12; i++) ck_assert_double_eq(u[i], 0);
    tribo_controls_at(c, 0.1 - 1e-12, u);
    ck_assert_double_eq(u[0], 1);
    ck_assert_double_eq(u[11], 2);
    tribo_controls_at(c, 0.19, u);
    ck_assert_double_eq(u[11], 2);
    tribo_controls_at(c, 9, u);
    ck_assert_double_eq(u[0], 0);
    ck_assert_double_eq(u[11], 3);
    ck_assert_double_eq(tribo_controls_values(c)[12 + 11], 3);
    ck_assert_double_eq(tribo_controls_times(c)[1], 0.2);
    tribo_controls_free(c);
    tribo_diag diag;
    ck_assert_int_eq(tribo_controls_load_memory("time,cube.px\n0,1\n", 17, m, NULL, &c, &diag), TRIBO_E_PARSE);
    tribo_model_free(m);
}
END_TEST

/* The tables of a folder: in every row that many numbers observed. @return how many
 * files; 0 if there is no such folder. */
static int read_recordings(const char *folder, const tribo_model *m, int observed) {
    DIR *dir = opendir(folder);
    int files = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[2048];
        if (!strstr(entry->d_name, ".csv")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        tribo_trajectory *t = NULL;
        tribo_diag diag = {0};
        ck_assert_msg(tribo_trajectory_load(path, m, NULL, &t, &diag) == TRIBO_OK, "%s:%d: %s", path, diag.line,
                      diag.text);
        int n = tribo_trajectory_rows(t), seen = 0;
        for (int i = 0; i < n * tribo_model_sizes(m).nx; i++) seen += tribo_trajectory_observed(t)[i];
        ck_assert_int_gt(n, 10);
        ck_assert_int_eq(seen, n * observed);
        tribo_trajectory_free(t);
        files++;
    }
    if (dir) closedir(dir);
    return files;
}

/* The project's recordings have poses of two bodies in every row; the tosses, where they are, the whole state of one.
 */
/* Rows nearer to one another than times are compared to: each is in force at its own. */
START_TEST(controls_of_rows_at_once) {
    static const char TEXT[] = "time,cube.fx\n0,1\n1e-10,2\n1000000,3\n1000000.0000000001,4\n";
    tribo_model *m = model_new();
    tribo_controls *c = NULL;
    double u[12];
    ck_assert_int_eq(tribo_controls_load_memory(TEXT, strlen(TEXT), m, NULL, &c, NULL), TRIBO_OK);
    for (int row = 0; row < 4; row++) {
        tribo_controls_at(c, tribo_controls_times(c)[row], u);
        ck_assert_double_eq(u[0], row + 1);
    }
    tribo_controls_free(c);
    tribo_model_free(m);
}
END_TEST

START_TEST(recordings_are_read) {
    const char *scenes = getenv("TRIBO_SCENES"), *data = getenv("TRIBO_DATA");
    char path[1024];
    tribo_model *m = NULL;
    snprintf(path, sizeof path, "%s/collision.xml", scenes ? scenes : "data/scenes");
    ck_assert_int_eq(tribo_model_load(path, NULL, &m, NULL), TRIBO_OK);
    snprintf(path, sizeof path, "%s/../recordings", scenes ? scenes : "data/scenes");
    ck_assert_int_ge(read_recordings(path, m, 14), 6);
    tribo_model_free(m);
    if (!data) return;
    m = model_new();
    snprintf(path, sizeof path, "%s/tosses", data);
    ck_assert_int_gt(read_recordings(path, m, 13), 0);
    tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("csv");
    TCase *t = tcase_create("csv");
    tcase_add_test(t, numbers_are_rounded_right);
    tcase_add_test(t, numbers_survive_writing);
    tcase_add_test(t, any_subset_in_any_order);
    tcase_add_test(t, bad_tables_are_refused);
    tcase_add_test(t, a_text_may_end_with_its_last_number);
    tcase_add_test(t, what_is_saved_is_read);
    tcase_add_test(t, joints_have_columns);
    tcase_add_test(t, quoted_names_and_measures);
    tcase_add_test(t, actuators_have_columns);
    tcase_add_test(t, nothing_to_read_or_write);
    tcase_add_test(t, controls_hold_until_the_next);
    tcase_add_test(t, controls_of_rows_at_once);
    tcase_add_test(t, recordings_are_read);
    suite_add_tcase(s, t);
    return s;
}
