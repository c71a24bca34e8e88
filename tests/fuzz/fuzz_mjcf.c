/* fuzz_mjcf.c -- scenes: no crash, no leak; what is accepted is physical, and can be described. */
#include <stdint.h>
#include <stdlib.h>
#include <tribo/model.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    if (tribo_model_load_memory((const char *)data, size, "fuzz", NULL, &m, &diag) != TRIBO_OK) {
        if (m || !diag.text[0]) abort();
        return 0;
    }
    tribo_sizes n = tribo_model_sizes(m);
    double *p = malloc(sizeof *p * (size_t)n.np);
    if (!p) abort();
    tribo_model_params(m, p);
    if (tribo_params_check(m, p, &diag) != TRIBO_OK) abort();
    for (int i = 0; i < n.np && i < 200; i++) {
        tribo_param_info info;
        if (tribo_param_describe(m, i, &info) != TRIBO_OK || tribo_param_find(m, info.name) != i) abort();
    }
    free(p);
    tribo_model_free(m);
    return 0;
}
