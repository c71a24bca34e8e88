/* fuzz_mesh.c -- OBJ and STL: no crash, no leak; what is accepted is a mesh whose hull is closed, or has a message. */
#include "formats/mesh_file.h"
#include "model/mesh.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make(const ti_mesh_data *d) {
    tribo_mesh_def def = tribo_default_mesh();
    ti_mesh *m = NULL;
    char flaw[120] = "";
    def.vertex = d->vertex, def.nvertex = d->nvertex, def.triangle = d->triangle, def.ntriangle = d->ntriangle;
    if (ti_mesh_new(&def, NULL, &m, flaw, sizeof flaw) == TRIBO_OK) {
        if (m->hull.nv - m->hull.ne + m->hull.nf != 2 || !(m->volume > 0)) abort();
    } else if (m || !flaw[0]) {
        abort();
    }
    ti_mesh_free(NULL, m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const NAME[] = {"a.obj", "a.stl"};
    char *text = malloc(size + 1);
    if (!text) abort();
    memcpy(text, data, size), text[size] = '\0';
    for (int k = 0; k < 2; k++) {
        ti_mesh_data d;
        tribo_diag diag = {0};
        tribo_status s = ti_mesh_parse(NAME[k], text, size, NULL, &d, &diag);
        if (s == TRIBO_OK && d.nvertex < 200) make(&d);
        if (s != TRIBO_OK && !diag.text[0]) abort();
        ti_mesh_data_free(&d, NULL);
    }
    free(text);
    return 0;
}
