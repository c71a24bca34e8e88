/* fuzz_include.c -- scenes in up to three files, a.xml, b.xml and c.xml, which begin at bytes 0: no crash, no leak, an
 * end; what is refused is told. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/model.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const NAME[] = {"fuzz_include_a.xml", "fuzz_include_b.xml", "fuzz_include_c.xml"};

static void hear(void *ctx, const tribo_need *need) {
    *(int *)ctx += !need->left_out;
    if (!need->word[0] || !need->text[0] || need->line < 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int k = 0; k < 3; k++) {
        const uint8_t *stop = k < 2 ? memchr(data, 0, size) : NULL;
        size_t n = stop ? (size_t)(stop - data) : size;
        FILE *f = fopen(NAME[k], "wb");
        if (!f || (n && fwrite(data, 1, n, f) != n) || fclose(f) != 0) abort();
        data += n + (stop != NULL), size -= n + (stop != NULL);
    }
    tribo_load_options o = tribo_default_load_options();
    int missing = 0;
    o.need = hear, o.ctx = &missing, o.lenient = "flexcomp condim margin";
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_model_load_with(NAME[0], &o, NULL, &m, &diag);
    if (s == TRIBO_OK ? missing > 0 : !diag.text[0]) abort();
    tribo_model_free(m);
    for (int k = 0; k < 3; k++) remove(NAME[k]);
    return 0;
}
