/* test_problem.c -- the reader of problem files: what it takes, and what it says of what it does not. */
#include "problem.h"
#include "test_main.h"
#include <stdio.h>

static ti_problem *load(const char *text) {
    ti_problem *p = NULL;
    tribo_diag diag;
    ck_assert_msg(ti_problem_load(text, strlen(text), NULL, &p, &diag) == TRIBO_OK, "%s: %s", text, diag.text);
    return p;
}

START_TEST(qp_is_read) {
    ti_problem *p = load("{\"id\":7,\"kind\":\"QP\",\"nc\":2,\"n\":2,\"P\":[1,-0.9,1e0],\"q\":[-1e-1,1],\"r\":[],"
                         "\"w\":[1,2],\"fam\":\"a\"}\r\n");
    ck_assert(p->kind == TI_PROBLEM_QP && p->n == 2 && p->nc == 2 && p->nv == 0 && p->id == 7 && !p->id_text[0]);
    ck_assert(p->P[0] == 1 && p->P[1] == -0.9 && p->P[2] == -0.9 && p->P[3] == 1);
    ck_assert(p->q[0] == -0.1 && p->q[1] == 1 && p->w[0] == 1 && p->w[1] == 2);
    ck_assert(!p->r && !p->M && !p->G);
    ti_problem_free(NULL, p);
}
END_TEST

START_TEST(qcqp_is_read) {
    ti_problem *p = load("{\"id\":\"a\",\"kind\":\"QCQP\",\"P\":[1,0,2,0,0,3,0,0,0,4],\"q\":[1,2,3,4],\"r\":[0.5,0]}");
    ck_assert(p->kind == TI_PROBLEM_QCQP && p->n == 4 && p->nc == 2 && !p->w);
    ck_assert(p->P[5] == 2 && p->P[15] == 4 && p->r[0] == 0.5 && p->r[1] == 0);
    ck_assert_str_eq(p->id_text, "a");
    ti_problem_free(NULL, p);
}
END_TEST

START_TEST(ncp_is_read_in_both_forms) {
    ti_problem *p = load("{\"id\":0,\"kind\":\"NCP\",\"nc\":1,\"nv\":2,\"mu\":[0.4],\"M\":[1,0.5,2],"
                         "\"J\":[1,2,3,4,5,6],\"vfree\":[-1,-2]}");
    ck_assert(p->nc == 1 && p->nv == 2 && p->M[1] == 0.5 && p->M[2] == 0.5 && p->J[5] == 6 && p->vfree[1] == -2);
    ck_assert(p->mu[0] == 0.4 && !p->G && !p->g);
    ti_problem_free(NULL, p);
    p = load("{\"id\":0,\"kind\":\"NCP\",\"nc\":1,\"mu\":[0],\"G\":[1,2,3,4,5,6],\"g\":[1,2,3]}");
    ck_assert(p->nv == 0 && p->G[1] == 2 && p->G[3] == 2 && p->G[5] == 5 && p->G[8] == 6 && p->g[2] == 3);
    ck_assert(!p->M && !p->J && !p->vfree);
    ti_problem_free(NULL, p);
}
END_TEST

START_TEST(long_integers_are_numbers) {
    ti_problem *p = load("{\"id\":0,\"kind\":\"QP\",\"P\":[100000000000000000000000],\"q\":[-0]}");
    ck_assert(p->P[0] == 1e23);
    ti_problem_free(NULL, p);
}
END_TEST

static const struct {
    const char *line, *says;
} bad_lines[] = {
    {"", "column"},
    {"{", "column"},
    {"[1,2]", "not a JSON object"},
    {"3", "column"},
    {"{\"kind\":\"QP\",\"P\":[1],\"q\":[1]}", "there is no \"id\""},
    {"{\"id\":1.5,\"kind\":\"QP\",\"P\":[1],\"q\":[1]}", "\"id\""},
    {"{\"id\":1e300,\"kind\":\"QP\",\"P\":[1],\"q\":[1]}", "\"id\""},
    {"{\"id\":0,\"P\":[1],\"q\":[1]}", "\"kind\""},
    {"{\"id\":0,\"kind\":\"LCP\",\"P\":[1],\"q\":[1]}", "\"kind\""},
    {"{\"id\":0,\"kind\":7,\"P\":[1],\"q\":[1]}", "\"kind\""},
    {"{\"id\":0,\"kind\":\"QP\",\"P\":[1]}", "there is no \"q\""},
    {"{\"id\":0,\"kind\":\"QP\",\"q\":[1]}", "there is no \"P\""},
    {"{\"id\":0,\"kind\":\"QP\",\"P\":[1],\"q\":[]}", "\"q\" is not an array of"},
    {"{\"id\":0,\"kind\":\"QP\",\"P\":[1],\"q\":1}", "\"q\" is not an array of"},
    {"{\"id\":0,\"kind\":\"QP\",\"P\":{},\"q\":[1]}", "\"P\" is not an array"},
    {"{\"id\":0,\"kind\":\"QP\",\"P\":[1,2],\"q\":[1]}", "\"P\" has 2 numbers, not 1"},
    {"{\"id\":0,\"kind\":\"QP\",\"P\":[\"1\"],\"q\":[1]}", "\"P\"[0] is not a number"},
    {"{\"id\":0,\"kind\":\"QP\",\"P\":[null],\"q\":[1]}", "\"P\"[0] is not a number"},
    {"{\"id\":0,\"kind\":\"QP\",\"P\":[NaN],\"q\":[1]}", "column"},
    {"{\"id\":0,\"kind\":\"QP\",\"P\":[1e999],\"q\":[1]}", "column"},
    {"{\"id\":0,\"kind\":\"QP\",\"P\":[1],\"q\":[1],\"q\":[2]}", "duplicate"},
    {"{\"id\":0,\"kind\":\"QP\",\"n\":2,\"P\":[1],\"q\":[1]}", "\"n\" is not the length"},
    {"{\"id\":0,\"kind\":\"QP\",\"n\":1e99,\"P\":[1],\"q\":[1]}", "\"n\" is not an integer"},
    {"{\"id\":0,\"kind\":\"QP\",\"n\":-1,\"P\":[1],\"q\":[1]}", "\"n\" is not an integer"},
    {"{\"id\":0,\"kind\":\"QP\",\"nc\":3,\"P\":[1],\"q\":[1]}", "\"nc\" does not agree"},
    {"{\"id\":0,\"kind\":\"QP\",\"P\":[1],\"q\":[1],\"r\":[1]}", "\"r\" has 1 numbers, not 0"},
    {"{\"id\":0,\"kind\":\"QP\",\"P\":[1],\"q\":[1],\"w\":[1,2]}", "\"w\" has 2"},
    {"{\"id\":0,\"kind\":\"QCQP\",\"P\":[1],\"q\":[1],\"r\":[1]}", "even number"},
    {"{\"id\":0,\"kind\":\"QCQP\",\"P\":[1,0,1],\"q\":[1,1]}", "there is no \"r\""},
    {"{\"id\":0,\"kind\":\"QCQP\",\"P\":[1,0,1],\"q\":[1,1],\"r\":[-1]}", "\"r\"[0] is -1, below 0"},
    {"{\"id\":0,\"kind\":\"NCP\",\"mu\":[1],\"G\":[1],\"g\":[1]}", "there is no \"nc\""},
    {"{\"id\":0,\"kind\":\"NCP\",\"nc\":1,\"mu\":[1]}", "neither \"M\" nor \"G\""},
    {"{\"id\":0,\"kind\":\"NCP\",\"nc\":1,\"mu\":[-0.5],\"G\":[1,0,1,0,0,1],\"g\":[0,0,0]}", "\"mu\"[0] is -0.5"},
    {"{\"id\":0,\"kind\":\"NCP\",\"nc\":1,\"mu\":[1],\"G\":[1],\"g\":[0,0,0]}", "\"G\" has 1 numbers, not 6"},
    {"{\"id\":0,\"kind\":\"NCP\",\"nc\":999999999,\"mu\":[1],\"G\":[1],\"g\":[0]}", "\"nc\" is not an integer"},
    {"{\"id\":0,\"kind\":\"NCP\",\"nc\":1,\"nv\":99999,\"mu\":[1],\"M\":[1],\"J\":[1],\"vfree\":[1]}", "\"nv\""},
    {"{\"id\":0,\"kind\":\"NCP\",\"nc\":1,\"nv\":1,\"mu\":[1],\"M\":[1],\"J\":[1],\"vfree\":[1]}", "\"J\" has 1"},
    {"{\"id\":0,\"kind\":\"NCP\",\"nc\":1,\"nv\":1,\"mu\":[1],\"M\":[1],\"G\":[1],\"g\":[1]}", "not both"},
};

START_TEST(bad_lines_are_named) {
    tribo_diag diag = {0};
    ti_problem *p = NULL;
    const char *line = bad_lines[_i].line;
    ck_assert_int_eq(ti_problem_load(line, strlen(line), NULL, &p, &diag), TRIBO_E_PARSE);
    ck_assert_msg(strstr(diag.text, bad_lines[_i].says), "%s\n  said: %s\n  not: %s", line, diag.text,
                  bad_lines[_i].says);
    ck_assert_ptr_null(p);
}
END_TEST

START_TEST(zero_bytes_are_refused) {
    const char line[] = "{\"id\":0,\"kind\":\"QP\",\"P\":[1],\"q\":[1]}\0{}";
    ti_problem *p = NULL;
    tribo_diag diag;
    ck_assert_int_eq(ti_problem_load(line, sizeof line - 1, NULL, &p, &diag), TRIBO_E_PARSE);
    ck_assert_int_eq(ti_problem_load("\xff\xfe", 2, NULL, &p, NULL), TRIBO_E_PARSE);
}
END_TEST

static void *no_memory(void *ctx, size_t bytes, size_t align) {
    (void)ctx, (void)bytes, (void)align;
    return NULL;
}

START_TEST(no_memory_is_a_status) {
    tribo_allocator none = {.alloc = no_memory};
    const char *line = "{\"id\":0,\"kind\":\"QP\",\"P\":[1],\"q\":[1]}";
    ti_problem *p = NULL;
    ck_assert_int_eq(ti_problem_load(line, strlen(line), &none, &p, NULL), TRIBO_E_NOMEM);
    ck_assert_ptr_null(p);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("problem");
    TCase *t = tcase_create("problem");
    tcase_add_test(t, qp_is_read);
    tcase_add_test(t, qcqp_is_read);
    tcase_add_test(t, ncp_is_read_in_both_forms);
    tcase_add_test(t, long_integers_are_numbers);
    tcase_add_loop_test(t, bad_lines_are_named, 0, sizeof bad_lines / sizeof *bad_lines);
    tcase_add_test(t, zero_bytes_are_refused);
    tcase_add_test(t, no_memory_is_a_status);
    suite_add_tcase(s, t);
    return s;
}
