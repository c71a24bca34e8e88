/* trajopt_tasks.h -- tasks on models from text, for tests of trajectory optimisation. */
#ifndef TEST_TRAJOPT_TASKS_H
#define TEST_TRAJOPT_TASKS_H
#include "models.h"

static inline tribo_trajopt *task_of(const tribo_model *m, const tribo_trajopt_def *def) {
    tribo_trajopt *t = NULL;
    tribo_diag d = {0};
    tribo_status s = tribo_trajopt_new(m, def, &t, &d);
    ck_assert_msg(s >= 0, "%s", d.text);
    return t;
}

#endif
