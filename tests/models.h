/* models.h -- models from text, for tests. */
#ifndef TEST_MODELS_H
#define TEST_MODELS_H
#include <check.h>
#include <string.h>
#include <tribo/tribo.h>

static inline tribo_model *model_of(const char *xml) {
    tribo_model *m = NULL;
    tribo_diag d = {0};
    ck_assert_msg(tribo_model_load_memory(xml, strlen(xml), "test", NULL, &m, &d) == TRIBO_OK, "%s", d.text);
    return m;
}

#endif
