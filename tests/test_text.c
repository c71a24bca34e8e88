/* test_text.c -- numbers and text as files have them, and files that cannot be written. */
#define _POSIX_C_SOURCE 200809L
#include "formats/text.h"
#include "test_main.h"
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(numbers_are_read_as_they_are_written) {
    static const struct {
        const char *text;
        double value;
        int rest; /* bytes that are not part of it; -1 = no number */
    } cases[] = {{"1", 1, 0},
                 {"-0.5e1x", -5, 1},
                 {"+.25", 0.25, 0},
                 {"3.", 3, 0},
                 {"1e", 1, 1},
                 {"1e+", 1, 2},
                 {"1e-400", 0, 0},
                 {"0.00000000000000000000000000001", 1e-29, 0},
                 {"123456789012345678901234567890", 123456789012345678901234567890., 0},
                 {"9007199254740993", 9007199254740992., 0},
                 {"1e400", 0, -1},
                 {"1e999999999", 0, -1},
                 {"", 0, -1},
                 {".", 0, -1},
                 {"-", 0, -1},
                 {"nan", 0, -1},
                 {"e5", 0, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double x = 77;
        const char *end = ti_read_number(cases[i].text, &x);
        if (cases[i].rest < 0) {
            ck_assert_msg(!end && x == 77, "`%s` is a number", cases[i].text);
            continue;
        }
        ck_assert_msg(end && x == cases[i].value, "`%s` is %.17g", cases[i].text, x);
        ck_assert_int_eq((int)strlen(end), cases[i].rest);
    }
    static const double values[] = {0.1, 1. / 3, 1e308, 5e-324, -2.5, 0, 123456789.123456789, 0x1.fffffffffffffp1023};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[TI_NUMBER_TEXT];
        double back;
        ti_write_number(values[i], text);
        ck_assert(ti_read_number(text, &back) && back == values[i]);
    }
    char text[TI_NUMBER_TEXT];
    ti_write_number(NAN, text);
    ck_assert_str_eq(text, "nan");
}
END_TEST

START_TEST(text_is_utf8) {
    static const struct {
        const char *text;
        int n, bad; /* first byte that is not text; -1 = all is */
    } cases[] = {
        {"plain", 5, -1},       {"\xc3\xa9", 2, -1},        {"\xe2\x82\xac", 3, -1}, {"\xf0\x9f\x8e\xb2", 4, -1},
        {"a\x80", 2, 1},        {"\xc0\xaf", 2, 0},         {"\xc3", 1, 0},          {"a\xe2\x82", 3, 1},
        {"\xe2\x28\xa1", 3, 0}, {"\xf5\x80\x80\x80", 4, 0}, {"a\0b", 3, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *bad = ti_not_text(cases[i].text, cases[i].text + cases[i].n);
        ck_assert_msg(cases[i].bad < 0 ? !bad : bad == cases[i].text + cases[i].bad, "case %zu", i);
    }
    ck_assert_int_eq((int)ti_cut("abc", 3, 5), 3);
    ck_assert_int_eq((int)ti_cut("ab\xe2\x82\xac", 5, 4), 2); /* not a part of a character */
    ck_assert_int_eq((int)ti_cut("\x80\x80\x80", 3, 2), 0);
    const char *lines = "a\nb\nc";
    ck_assert_int_eq(ti_count_lines(lines, lines + 5), 3);
}
END_TEST

static void *no_memory(void *ctx, size_t bytes, size_t align) {
    (void)ctx, (void)bytes, (void)align;
    return NULL;
}

START_TEST(files_that_cannot_be_read) {
    tribo_allocator none = {.alloc = no_memory};
    tribo_diag diag = {0};
    char *data = NULL;
    size_t n, bytes;
    ck_assert_int_eq(ti_read_file(NULL, NULL, &data, &n, &bytes, &diag), TRIBO_E_IO);
    ck_assert_int_eq(ti_read_file("/no/such/file", NULL, &data, &n, &bytes, &diag), TRIBO_E_IO);
    ck_assert_int_eq(ti_read_file("/", NULL, &data, &n, &bytes, &diag), TRIBO_E_IO); /* opens, but does not read */
    ck_assert_int_eq(ti_read_file("/dev/null", &none, &data, &n, &bytes, &diag), TRIBO_E_NOMEM);
    ck_assert(!data && diag.text[0]);
    ck_assert_int_eq(ti_read_file("/dev/null", NULL, &data, &n, &bytes, NULL), TRIBO_OK);
    ck_assert(n == 0 && data[0] == 0);
    ti_free(NULL, data, bytes);
}
END_TEST

static void put(const char *path, const char *text) {
    ti_output o;
    ck_assert_int_eq(ti_output_open(&o, path, NULL), TRIBO_OK);
    fputs(text, o.file);
    ck_assert_int_eq(ti_output_close(&o, path, NULL), TRIBO_OK);
}

static void expect(const char *path, const char *text) {
    char *data;
    size_t n, bytes;
    ck_assert_int_eq(ti_read_file(path, NULL, &data, &n, &bytes, NULL), TRIBO_OK);
    ck_assert_str_eq(data, text);
    ti_free(NULL, data, bytes);
}

START_TEST(files_appear_whole_or_not_at_all) {
    char folder[] = "/tmp/tribo-text-XXXXXX", path[64], link[64], name[1200];
    tribo_diag diag = {0};
    ti_output o;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a", folder), snprintf(link, sizeof link, "%s/b", folder);
    put(path, "old");
    ck_assert_int_eq(ti_output_open(&o, path, NULL), TRIBO_OK);
    fputs("new", o.file);
    expect(path, "old"); /* until it is closed */
    ti_output_discard(&o);
    expect(path, "old");
    ck_assert_int_eq(symlink(path, link), 0);
    put(link, "through a link");
    expect(path, "through a link");
    struct stat s;
    ck_assert(lstat(link, &s) == 0 && S_ISLNK(s.st_mode));
    memset(name, 'x', sizeof name), name[sizeof name - 1] = 0;
    ck_assert_int_eq(ti_output_open(&o, name, &diag), TRIBO_E_IO);
    ck_assert_int_eq(ti_output_open(&o, folder, &diag), TRIBO_E_IO); /* a folder */
    ck_assert_int_eq(ti_output_open(&o, "/no/such/folder/x", &diag), TRIBO_E_IO);
    if (access("/dev/full", W_OK) == 0) { /* a disk without room */
        ck_assert_int_eq(ti_output_open(&o, "/dev/full", NULL), TRIBO_OK);
        fputs("much", o.file);
        ck_assert_int_eq(ti_output_close(&o, "/dev/full", &diag), TRIBO_E_IO);
    }
    ck_assert_int_eq(ti_output_open(&o, path, NULL), TRIBO_OK);
    ck_assert_int_eq(remove(o.temporary), 0); /* taken away by somebody: it cannot get its name */
    ck_assert_int_eq(ti_output_close(&o, path, &diag), TRIBO_E_IO);
    expect(path, "through a link");
    ck_assert(remove(link) == 0 && remove(path) == 0 && rmdir(folder) == 0);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("text");
    TCase *t = tcase_create("text");
    tcase_add_test(t, numbers_are_read_as_they_are_written);
    tcase_add_test(t, text_is_utf8);
    tcase_add_test(t, files_that_cannot_be_read);
    tcase_add_test(t, files_appear_whole_or_not_at_all);
    suite_add_tcase(s, t);
    return s;
}
