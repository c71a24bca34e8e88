/* identify_free.c -- what `identify` is free to change: parameters, groups of them, gain and bias of columns. */
#include "identification.h"
#include "params.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *free_name(const identification *id, int i, tribo_param_info *info) {
    const char *unit;
    if (id->free[i].column) return column_name(id->m, &id->free[i], info->name, sizeof info->name, &unit);
    return tribo_param_describe(id->m, id->free[i].index, info) ? "?" : info->name;
}

const char *free_unit(const identification *id, int i) {
    tribo_param_info info;
    const char *unit;
    if (id->free[i].column) return column_name(id->m, &id->free[i], info.name, sizeof info.name, &unit), unit;
    return tribo_param_describe(id->m, id->free[i].index, &info) ? "" : param_unit(id->m, &info);
}

/* NAME[=START[:MIN:MAX]] into its name (to be freed) and numbers; NaN = not given. */
static char *split_free(const char *text, double number[3]) {
    const char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : strlen(text);
    char *name = malloc(strlen(text) + 1);
    if (!name) return NULL;
    memcpy(name, text, strlen(text) + 1);
    name[n] = 0;
    for (int i = 0; i < 3; i++) number[i] = (double)NAN;
    char *at = equals ? name + n + 1 : NULL;
    for (int i = 0; at; i++) {
        char *colon = strchr(at, ':');
        if (colon) *colon = 0;
        bool empty = i > 0 && !*at;
        if (i > 2 || (!empty && !parse_number(at, -1e12, 1e12, &number[i]))) {
            free(name);
            return NULL;
        }
        at = colon ? colon + 1 : NULL;
    }
    return name;
}

static int no_parameter(const tribo_model *m, const char *name) {
    char text[900];
    param_refusal(m, name, text, sizeof text);
    return usage_error(&verb_identify, "--free: %s", text);
}

/* Where a site is in its body: no step depends on that, but markers do. @return how many numbers. */
static int site_numbers(const tribo_model *m, const char *name, int *index) {
    int n = 0;
    size_t length = strlen(name);
    for (int i = 0; i < tribo_model_sizes(m).np && length; i++) {
        tribo_param_info info;
        if (tribo_param_describe(m, i, &info) || info.site < 0 || info.kind != TRIBO_PARAM_POS) continue;
        if (!strncmp(info.name, name, length) && (!info.name[length] || info.name[length] == '/')) index[n++] = i;
    }
    return n;
}

/* One --free: a parameter, or all used ones of a group. */
static int add_free(identification *id, const char *text) {
    double number[3];
    char *name = split_free(text, number);
    if (!name) return usage_error(&verb_identify, "--free takes NAME[=START[:MIN:MAX]], not %s", text);
    int status = EXIT_SUCCESS, np = tribo_model_sizes(id->m).np, *index = calloc((size_t)np, sizeof *index);
    tribo_free_param column[3];
    int n = index ? tribo_param_group(id->m, name, index, np) : 0, columns = 0;
    if (index && n < 1) n = site_numbers(id->m, name, index);
    if (index && n < 1) n = columns = columns_find(id->m, name, column);
    id->ncolumn += columns;
    if (!index) status = trouble("no memory");
    if (index && n < 1) status = no_parameter(id->m, name);
    for (int k = 0; k < n && status == EXIT_SUCCESS; k++) {
        tribo_free_param f = columns ? column[k] : tribo_default_free();
        if (!columns) f.index = index[k];
        f.start = number[0], f.lower = number[1], f.upper = number[2];
        for (int i = 0; i < id->nfree; i++)
            if (id->free[i].index == f.index && id->free[i].column == f.column)
                status = usage_error(&verb_identify, "--free: %s is there twice", name);
        id->free[id->nfree++] = f;
    }
    free(index);
    free(name);
    return status;
}

int choose_free(identification *id) {
    int np = tribo_model_sizes(id->m).np, status = EXIT_SUCCESS;
    size_t most = (size_t)np + 3 * (size_t)id->a->free.n + 1;
    id->free = calloc(most, sizeof *id->free), id->value = calloc(most, sizeof *id->value);
    if (!id->free || !id->value) return trouble("no memory");
    for (int i = 0; i < id->a->free.n && status == EXIT_SUCCESS; i++) status = add_free(id, id->a->free.item[i]);
    return status;
}
