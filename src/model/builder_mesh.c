/* builder_mesh.c -- meshes and height fields of a builder. */
#include "model/builder.h"

tribo_mesh_def tribo_default_mesh(void) {
    return (tribo_mesh_def){.struct_size = sizeof(tribo_mesh_def)};
}

tribo_hfield_def tribo_default_hfield(void) {
    return (tribo_hfield_def){.struct_size = sizeof(tribo_hfield_def), .base = 1};
}

/* Room for one more. @return false after an error. */
static bool make_room(tribo_builder *b, bool is_def, const char *what) {
    if (b->status != TRIBO_OK) return false;
    if (!is_def) {
        ti_builder_fail(b, TRIBO_E_DEF, b->line, "%s %d: not made by tribo_default_%s()", what, b->nmesh, what);
        return false;
    }
    ti_mesh **grown = ti_grow(&b->alloc, b->mesh, &b->mesh_bytes, (size_t)(b->nmesh + 1) * sizeof(ti_mesh *));
    if (!grown) ti_builder_fail(b, TRIBO_E_NOMEM, b->line, "out of memory");
    if (grown) b->mesh = grown;
    return grown != NULL;
}

/* What became of making it. @return its id, -1 after an error */
static int keep(tribo_builder *b, tribo_status s, const char *what, const char *name, const char *flaw) {
    if (s == TRIBO_OK) return b->nmesh++;
    if (s == TRIBO_E_NOMEM)
        ti_builder_fail(b, s, b->line, "out of memory");
    else if (name && *name)
        ti_builder_fail(b, s, b->line, "%s %.100s: %s", what, name, flaw);
    else
        ti_builder_fail(b, s, b->line, "%s %s%d: %s", what, what, b->nmesh, flaw);
    return -1;
}

int tribo_add_mesh(tribo_builder *b, const tribo_mesh_def *def) {
    char flaw[120];
    if (!b || !make_room(b, def && def->struct_size == sizeof *def, "mesh")) return -1;
    return keep(b, ti_mesh_new(def, &b->alloc, &b->mesh[b->nmesh], flaw, sizeof flaw), "mesh", def->name, flaw);
}

int tribo_add_hfield(tribo_builder *b, const tribo_hfield_def *def) {
    char flaw[120];
    if (!b || !make_room(b, def && def->struct_size == sizeof *def, "hfield")) return -1;
    return keep(b, ti_field_new(def, &b->alloc, &b->mesh[b->nmesh], flaw, sizeof flaw), "hfield", def->name, flaw);
}
