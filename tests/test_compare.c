/* test_compare.c -- the runs and the page of `tribo compare`: what is measured is so, what fails is a row, and the page
 * needs nothing else. */
#define _POSIX_C_SOURCE 200809L
#include "compare.h"
#include "test_main.h"
#include "worlds.h"
#include <unistd.h>

enum { N = 4, ROWS = 51 };

typedef struct fixture {
    world w;
    contender k[N];
    comparison c;
} fixture;

/* A cube sliding along x under the default, one that is given no time, one that is cut off, one that cannot be. */
static fixture make(void) {
    fixture f = {0};
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.5, 0);
    world_box(b, "cube", 1, 0.1, 0, 0, 0.1, world_material(0.5, 0));
    f.w = world_new(b, 1e-3);
    world_v0(&f.w, 0)[0] = 2;
    f.k[0] = (contender){.law = {.law = TRIBO_LAW_NCP, .raw = true}, .name = "ncp/ladder", .model = 0};
    f.k[1] = (contender){.law = {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_PGS, .raw = true}, .name = "ncp/pgs"};
    f.k[2] = f.k[1], f.k[2].law.max_iter = 1, f.k[2].model = 1;
    f.k[3] = f.k[1], f.k[3].law.relaxation = 5, f.k[3].model = 2;
    return f;
}

static void begin(fixture *f, double limit) {
    f->c = (comparison){.scene = "<scene> & \"more\"",
                        .m = f->w.m,
                        .n = f->w.n,
                        .p = f->w.p,
                        .x0 = f->w.x0,
                        .dt = 1e-3,
                        .limit = limit,
                        .rows = ROWS,
                        .finer = 16,
                        .contender = f->k,
                        .ncontender = N};
    ck_assert(compare_prepare(&f->c));
}

static void end(fixture *f) {
    compare_free(&f->c);
    world_free(&f->w);
}

static void run_all(fixture *f) {
    tribo_diag diag;
    ck_assert(compare_reference(&f->c, &diag));
    for (int i = 0; i < N; i++) compare_run(&f->c, f->k + i);
}

static char *page_of(const comparison *c) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(f);
    compare_page(f, c);
    fclose(f);
    return text;
}

START_TEST(measures_are_so) {
    const double mu = 0.5, v = 2, t = (ROWS - 1) * 1e-3;
    fixture f = make();
    begin(&f, 10);
    run_all(&f);
    const contender *k = f.k;
    NEAR(f.c.kinetic, 0.5 * v * v, 1e-12);
    /* the kinetic energy falls alike for any step; the way is that of the velocity at the end of each */
    NEAR(k->error, 0, 1e-9);
    double off = 0.5 * mu * G * t * (1e-3 - 1e-3 / 16);
    ck_assert_msg(k->distance_worst < 2 * off, "%g of %g", k->distance_worst, off);
    NEAR(k->gain, 0, 1e-12);
    NEAR(k->drift_worst, 0, 1e-12);
    NEAR(k->rise, 0, 1e-9);
    NEAR(k->value[CURVE_energy][ROWS - 1], 0.5 * (v - mu * G * t) * (v - mu * G * t) + G * 0.1, 1e-9);
    ck_assert(k->rows == ROWS && k->unsolved == 0 && k->status == TRIBO_OK && !k->note[0]);
    ck_assert(k->us > 0 && k->us_warm > 0 && k->iterations >= k->iterations_warm && k->residual_worst < 1e-9);
    ck_assert(f.k[1].us > 0 && f.k[1].residual_worst <= 1e-6 && f.k[1].residual_worst > k->residual_worst);
    end(&f);
}
END_TEST

/* A bar on a sprung hinge with a servo, which drives it: energy is what the servo brings. */
START_TEST(robots_are_measured) {
    fixture f = {0};
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_body_def d = tribo_default_body();
    tribo_joint_def j = tribo_default_joint();
    tribo_actuator_def a = tribo_default_actuator();
    int joint = 0;
    d.name = "bar", d.parent = TRIBO_WORLD, d.inertia_given = true, d.mass = 2, d.com[0] = 0.5;
    d.inertia[0] = d.inertia[1] = d.inertia[2] = 0.1;
    tribo_add_body(b, &d);
    j.axis[0] = 0, j.axis[1] = 1, j.axis[2] = 0, j.stiffness = 30, j.damping = 0.5;
    tribo_add_joint(b, 0, &j);
    a.njoint = 1, a.joint = &joint, a.gain[0] = 8, a.bias[1] = -8;
    tribo_add_actuator(b, &a);
    f.w = world_new(b, 1e-3);
    f.k[0] = (contender){.law = {.law = TRIBO_LAW_NCP, .raw = true}, .name = "ncp/ladder"};
    for (int i = 1; i < N; i++) f.k[i] = f.k[0];
    begin(&f, 10);
    f.c.held[1] = 1; /* the servo's control */
    run_all(&f);
    const contender *k = f.k;
    double most = 0;
    for (int row = 0; row < ROWS; row++)
        most = fmax(most, fabs(k->value[CURVE_energy][row] - k->value[CURVE_energy][0]));
    ck_assert(k->rows == ROWS && k->status == TRIBO_OK);
    ck_assert_msg(most > 0.1 && k->gain < 2e-2 * most, "gains %g of %g", k->gain, most);
    ck_assert(k->distance_worst < 5e-4 && k->turn_worst > 1e-6 && k->turn_worst < 1e-3);
    NEAR(k->value[CURVE_height][0], 0, 0);
    end(&f);
}
END_TEST

START_TEST(failures_are_rows) {
    fixture f = make();
    begin(&f, 10);
    run_all(&f);
    ck_assert_int_eq(f.k[2].unsolved, ROWS - 1); /* cut off: not converged, but there */
    ck_assert(f.k[2].rows == ROWS && f.k[2].residual_worst > 1e-6 && f.k[2].status == TRIBO_NOT_CONVERGED);
    ck_assert(f.k[3].status < 0 && f.k[3].rows == 0 && f.k[3].note[0] && f.k[3].us != f.k[3].us);
    char *page = page_of(&f.c);
    ck_assert_ptr_nonnull(strstr(page, "50 of 50"));
    ck_assert_ptr_nonnull(strstr(page, tribo_status_text(TRIBO_E_ARG)));
    free(page);
    end(&f);
}
END_TEST

START_TEST(time_is_limited) {
    fixture f = make();
    begin(&f, 1e-9);
    compare_run(&f.c, f.k);
    ck_assert(f.k[0].rows > 1 && f.k[0].rows < ROWS);
    ck_assert_ptr_nonnull(strstr(f.k[0].note, "given up"));
    end(&f);
}
END_TEST

START_TEST(page_needs_nothing_else) {
    fixture f = make();
    begin(&f, 10);
    run_all(&f);
    char *page = page_of(&f.c);
    ck_assert_ptr_nonnull(strstr(page, "&lt;scene&gt; &amp; &quot;more&quot;"));
    ck_assert_ptr_null(strstr(page, "<scene>"));
    ck_assert_ptr_null(strstr(page, "src="));
    ck_assert_ptr_null(strstr(page, "<link"));
    int scripts = 0; /* the replay's scene, its numbers, and what plays them */
    for (const char *at = page; (at = strstr(at, "<script")); at++) scripts++;
    ck_assert_int_eq(scripts, 3);
    ck_assert_ptr_nonnull(strstr(page, "<script type=\"application/json\">"));
    ck_assert_ptr_null(strstr(page, "nan"));
    ck_assert_ptr_nonnull(strstr(page, "drift, mm"));
    ck_assert_ptr_nonnull(strstr(page, "rise, mm"));
    ck_assert_ptr_nonnull(strstr(page, "</html>"));
    const char *const figures[] = {"Motion",     "Energy",         "Distance from the reference",
                                   "Height",     "Sideways drift", "Internal forces",
                                   "Iterations", "Residuals"};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        char heading[64];
        snprintf(heading, sizeof heading, "<h2>%s</h2>", figures[i]);
        ck_assert_msg(strstr(page, heading) != NULL, "no %s", figures[i]);
    }
    free(page);
    end(&f);
}
END_TEST

/* Every picture is one, with a sentence below it; so is the replay, which a browser draws. */
START_TEST(pictures_are_drawn) {
    if (system("command -v gnuplot >/dev/null") != 0) {
        puts("skipped: gnuplot is not there");
        return;
    }
    fixture f = make();
    begin(&f, 10);
    run_all(&f);
    char *page = page_of(&f.c);
    int pictures = 0, captions = 0;
    for (const char *at = page; (at = strstr(at, "<svg")); at++) pictures++;
    for (const char *at = page; (at = strstr(at, "<figcaption>")); at++) captions++;
    ck_assert_int_eq(pictures, 7);
    ck_assert_int_eq(captions, 7 + 1);
    ck_assert_ptr_null(strstr(page, "was not drawn"));
    free(page);
    end(&f);
}
END_TEST

START_TEST(page_stands_without_gnuplot_and_reference) {
    fixture f = make();
    begin(&f, 10);
    f.c.reference = NULL;
    compare_run(&f.c, f.k);
    f.c.ncontender = 1;
    char *path = getenv("PATH");
    ck_assert_ptr_nonnull(path);
    path = strdup(path);
    setenv("PATH", "/nowhere", 1);
    char *page = page_of(&f.c);
    setenv("PATH", path, 1);
    ck_assert_ptr_nonnull(strstr(page, "was not drawn"));
    ck_assert_ptr_nonnull(strstr(page, "There is no reference"));
    ck_assert_ptr_nonnull(strstr(page, "</html>"));
    free(page), free(path);
    end(&f);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("compare");
    TCase *t = tcase_create("compare");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, measures_are_so);
    tcase_add_test(t, robots_are_measured);
    tcase_add_test(t, failures_are_rows);
    tcase_add_test(t, time_is_limited);
    tcase_add_test(t, page_needs_nothing_else);
    tcase_add_test(t, pictures_are_drawn);
    tcase_add_test(t, page_stands_without_gnuplot_and_reference);
    suite_add_tcase(s, t);
    return s;
}
