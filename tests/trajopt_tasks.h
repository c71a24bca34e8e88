/* trajopt_tasks.h -- models from text and tasks on them, for tests of trajectory optimisation. */
#ifndef TEST_TRAJOPT_TASKS_H
#define TEST_TRAJOPT_TASKS_H
#include <check.h>
#include <string.h>
#include <tribo/tribo.h>

static inline tribo_model *model_of(const char *xml) {
    tribo_model *m = NULL;
    tribo_diag d = {0};
    ck_assert_msg(tribo_model_load_memory(xml, strlen(xml), "test", NULL, &m, &d) == TRIBO_OK, "%s", d.text);
    return m;
}

static inline tribo_trajopt *task_of(const tribo_model *m, const tribo_trajopt_def *def) {
    tribo_trajopt *t = NULL;
    tribo_diag d = {0};
    tribo_status s = tribo_trajopt_new(m, def, &t, &d);
    ck_assert_msg(s >= 0, "%s", d.text);
    return t;
}

#endif
