/* builder_mesh.c -- meshes of a builder. */
#include "model/builder.h"
#include <stdio.h>

tribo_mesh_def tribo_default_mesh(void) {
    return (tribo_mesh_def){.struct_size = sizeof(tribo_mesh_def)};
}

int tribo_add_mesh(tribo_builder *b, const tribo_mesh_def *def) {
    if (!b || b->status != TRIBO_OK) return -1;
    if (!def || def->struct_size != sizeof *def) {
        ti_builder_fail(b, TRIBO_E_DEF, b->line, "mesh %d: not made by tribo_default_mesh()", b->nmesh);
        return -1;
    }
    ti_mesh **grown = ti_grow(&b->alloc, b->mesh, &b->mesh_bytes, (size_t)(b->nmesh + 1) * sizeof(ti_mesh *));
    if (!grown) {
        ti_builder_fail(b, TRIBO_E_NOMEM, b->line, "out of memory");
        return -1;
    }
    b->mesh = grown;
    char flaw[120], number[24];
    snprintf(number, sizeof number, "mesh%d", b->nmesh);
    const char *name = def->name && *def->name ? def->name : number;
    tribo_status s = ti_mesh_new(def, &b->alloc, &b->mesh[b->nmesh], flaw, sizeof flaw);
    if (s == TRIBO_OK) return b->nmesh++;
    if (s == TRIBO_E_NOMEM)
        ti_builder_fail(b, s, b->line, "out of memory");
    else
        ti_builder_fail(b, s, b->line, "mesh %.100s: %s", name, flaw);
    return -1;
}
