/* mjcf_edit.h -- the tree of a scene file, edited where the numbers that it reads as are not those wanted. */
#ifndef TI_FORMATS_MJCF_EDIT_H
#define TI_FORMATS_MJCF_EDIT_H
#include "formats/mjcf_reading.h"

/* One saving: the file's tree, how it reads now, and the numbers it is to read as. */
typedef struct ti_edit {
    xmlDoc *doc;
    ti_mjcf scene;
    tribo_model *now;
    double *want, *have;
    size_t bytes; /* of want and have together */
    bool nomem;
    tribo_load_options options;
    ti_xml_source *sources;
} ti_edit;

/* An attribute of n numbers. */
void ti_edit_set_numbers(ti_edit *e, xmlNode *node, const char *name, const double *x, int n);
/* One pass over all of a scene, as e->scene has read it; e->nomem and e->scene.error say what went wrong. Some numbers
 * depend on others (summed inertia, pairs): the tree is read again, and another pass made. */
void ti_edit_scene(ti_edit *e, const tribo_model *m);
#endif
