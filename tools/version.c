/* version.c -- see version.h. */
#include "version.h"
#include "commit.h" /* made by the build: TRIBO_COMMIT */
#include "common.h"
#include "libraries.h" /* the same: versions of what it was built with */
#include <cblas.h>
#include <tribo/version.h>

bool version_print(FILE *f, bool as_json) {
    const char *const line[][2] = {
        {"commit", TRIBO_COMMIT},   {"compiler", TRIBO_COMPILER}, {"OpenBLAS", openblas_get_config()},
        {"LAPACKE", TRIBO_LAPACKE}, {"libxml2", TRIBO_LIBXML2},   {"jansson", jansson_version_str()},
        {"libLBFGS", TRIBO_LBFGS},  {"qhull", TRIBO_QHULL}};
    enum { N = sizeof line / sizeof *line };
    json_t *all = json_object();
    json_object_set_new(all, "version", json_string(tribo_version()));
    for (int i = 0; i < N; i++) json_object_set_new(all, line[i][0], json_string(line[i][1]));
    bool good = !as_json || json_write(f, all, true);
    json_decref(all);
    if (as_json) return good || (trouble("standard output could not be written"), false);
    fprintf(f, "tribo %s\n", tribo_version());
    for (int i = 0; i < N; i++) fprintf(f, "%-10s %s\n", line[i][0], line[i][1]);
    return true;
}
