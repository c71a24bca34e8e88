/* test_report.c -- plots and pages of the command: escaped, self-contained, and standing without gnuplot. */
#define _POSIX_C_SOURCE 200809L
#include "report.h"
#include "test_main.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

static const double xs[] = {0, 1, 2, 3}, ys[] = {1, (double)NAN, 4, 9};
static const plot_series curves[] = {{"it's <b> `date` \"q\"", xs, ys, 4, PLOT_LINE, 0},
                                     {NULL, xs, xs, 4, PLOT_DOTS, 1}};
static const plot picture = {.title = "a & b\nc", .x_label = "t, s", .y_label = "'", .series = curves, .nseries = 2};

static bool gnuplot_is_there(void) {
    return system("command -v gnuplot >/dev/null") == 0;
}

/* The page as a string, to be freed. */
static char *make_page(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(f);
    const char *head[] = {"name", "value"}, *row[] = {"<script>alert(1)</script>", "-3.5e-2"};
    report_begin(f, "A & B <x>");
    report_heading(f, "head");
    report_text(f, "%d < %s", 3, "\"four\"");
    report_table_begin(f, 2, head);
    report_table_row(f, 2, row);
    report_table_end(f);
    report_plot(f, &picture, "one", "caption");
    report_plot(f, &picture, "two", "caption");
    report_verbatim(f, "more", "a\n<b>");
    report_end(f);
    fclose(f);
    return text;
}

START_TEST(text_is_escaped) {
    char *page = make_page();
    ck_assert_ptr_nonnull(strstr(page, "<title>A &amp; B &lt;x&gt;</title>"));
    ck_assert_ptr_nonnull(strstr(page, "3 &lt; &quot;four&quot;"));
    ck_assert_ptr_nonnull(strstr(page, "<td>&lt;script&gt;alert(1)&lt;/script&gt;</td>"));
    ck_assert_ptr_nonnull(strstr(page, "<td class=\"number\">-3.5e-2</td>"));
    ck_assert_ptr_null(strstr(page, "<script"));
    free(page);
}
END_TEST

START_TEST(page_needs_nothing_else) {
    char *page = make_page();
    ck_assert_ptr_null(strstr(page, "src="));
    ck_assert_ptr_null(strstr(page, "<link"));
    ck_assert_ptr_nonnull(strstr(page, "</html>"));
    free(page);
}
END_TEST

START_TEST(plot_is_drawn) {
    if (!gnuplot_is_there()) {
        puts("skipped: gnuplot is not there");
        return;
    }
    char *svg = plot_svg(&picture, "name");
    ck_assert_ptr_nonnull(svg);
    ck_assert(!strncmp(svg, "<svg", 4));
    ck_assert_ptr_nonnull(strstr(svg, "a &amp; b c"));
    ck_assert_ptr_nonnull(strstr(svg, "`date`")); /* nothing was run */
    ck_assert_ptr_null(strstr(svg, " id=\"gnuplot"));
    ck_assert_ptr_nonnull(strstr(svg, " id=\"name-gnuplot"));
    free(svg);
}
END_TEST

/* How many colours a picture has. */
static int colours_in(const char *svg) {
    char seen[64][24];
    int n = 0;
    for (const char *at = svg; n < 64 && (at = strstr(at, "rgb(")); at++) {
        char one[24] = "";
        int i = 0;
        sscanf(at, "%23[^)]", one);
        while (i < n && strcmp(seen[i], one)) i++;
        if (i == n) snprintf(seen[n++], sizeof *seen, "%s", one);
    }
    return n;
}

/* All solvers of all laws are nineteen curves: no two of them look alike. */
START_TEST(many_curves_are_told_apart) {
    enum { CURVES = 24 };
    if (!gnuplot_is_there()) {
        puts("skipped: gnuplot is not there");
        return;
    }
    plot_series many[CURVES];
    plot p = {.series = many, .nseries = CURVES};
    for (int i = 0; i < CURVES; i++) many[i] = (plot_series){"curve", xs, ys, 4, PLOT_LINE_DOTS, 0};
    char *apart = plot_svg(&p, "name");
    for (int i = 0; i < CURVES; i++) many[i].colour = 1;
    char *alike = plot_svg(&p, "name");
    ck_assert(apart && alike);
    ck_assert_int_eq(colours_in(apart) - colours_in(alike), CURVES - 1);
    free(apart), free(alike);
}
END_TEST

START_TEST(nothing_to_draw_is_no_picture) {
    const double nan[] = {(double)NAN};
    const plot_series none = {NULL, nan, nan, 1, PLOT_LINE, 0};
    const plot empty = {.series = &none, .nseries = 1};
    ck_assert_ptr_null(plot_svg(&empty, "name"));
}
END_TEST

START_TEST(page_stands_without_gnuplot) {
    char *path = getenv("PATH");
    ck_assert_ptr_nonnull(path);
    path = strdup(path);
    setenv("PATH", "/nowhere", 1);
    char *page = make_page();
    setenv("PATH", path, 1);
    ck_assert_ptr_nonnull(strstr(page, "was not drawn"));
    ck_assert_ptr_null(strstr(page, "<svg"));
    ck_assert_ptr_nonnull(strstr(page, "</html>"));
    free(page);
    free(path);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("report");
    TCase *t = tcase_create("report");
    tcase_add_test(t, text_is_escaped);
    tcase_add_test(t, page_needs_nothing_else);
    tcase_add_test(t, plot_is_drawn);
    tcase_add_test(t, many_curves_are_told_apart);
    tcase_add_test(t, nothing_to_draw_is_no_picture);
    tcase_add_test(t, page_stands_without_gnuplot);
    suite_add_tcase(s, t);
    return s;
}
