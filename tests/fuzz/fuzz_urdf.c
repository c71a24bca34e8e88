/* fuzz_urdf.c -- robots in URDF: no crash, no leak; what is accepted can be asked for everything. */
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
    double *p = malloc(sizeof *p * (size_t)(n.np + n.nx + n.nu));
    if (!p) abort();
    tribo_model_params(m, p);
    if (tribo_params_check(m, p, &diag) != TRIBO_OK) abort();
    tribo_model_key(m, 0, p + n.np, p + n.np + n.nx);
    for (int i = 0; i < n.njoint; i++)
        if (tribo_model_joint_find(m, tribo_model_joint_name(m, i)) != i) abort();
    free(p);
    tribo_model_free(m);
    return 0;
}
