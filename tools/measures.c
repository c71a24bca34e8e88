/* measures.c -- gathers the measures of steps. */
#include "measures.h"
#include "common.h"
#include "formats/table.h"
#include <math.h>

typedef enum gather { LAST, SUM, WORST } gather;

const char *const measure_columns[NMEASURES] = {
#define MEASURE_X(name, how, from) TI_MEASURE #name,
    MEASURE_LIST(MEASURE_X)
#undef MEASURE_X
};

static const gather gathers[NMEASURES] = {
#define MEASURE_X(name, how, from) how,
    MEASURE_LIST(MEASURE_X)
#undef MEASURE_X
};

static void add_rows(double *row, const double *one) {
    for (int k = 0; k < NMEASURES; k++) {
        if (gathers[k] == SUM) row[k] += one[k];
        if (gathers[k] == WORST && row[k] == row[k] && !(one[k] <= row[k])) row[k] = one[k]; /* NaN stays */
    }
}

void measures_add(double *row, const tribo_step_info *info) {
    const tribo_measures *m = &info->measures;
    const double one[NMEASURES] = {
#define MEASURE_X(name, how, from) from,
        MEASURE_LIST(MEASURE_X)
#undef MEASURE_X
    };
    add_rows(row, one);
}

json_t *measures_json(const double *rows, int n) {
    double all[NMEASURES] = {0};
    json_t *object = json_object();
    for (int i = 0; i < n; i++) add_rows(all, rows + (size_t)i * NMEASURES);
    for (int k = 0; k < NMEASURES; k++)
        if (gathers[k] != LAST)
            json_object_set_new(object, measure_columns[k] + sizeof TI_MEASURE - 1, json_number(all[k]));
    return object;
}
