/* mesh_file.h -- meshes from OBJ and STL files. */
#ifndef TI_MESH_FILE_H
#define TI_MESH_FILE_H
#include "base/base.h"

typedef struct ti_mesh_data {
    double *vertex; /* (nvertex,3) */
    int *triangle;  /* (ntriangle,3) */
    int nvertex, ntriangle;
    size_t vertex_bytes, triangle_bytes;
} ti_mesh_data;

/* Read a mesh from the text of a file; what it is called tells the format. Release with ti_mesh_data_free(), also after
 * an error. @return TRIBO_OK; TRIBO_E_IO (a format that is not read); TRIBO_E_PARSE (with the line of a text file);
 * TRIBO_E_NOMEM. */
tribo_status ti_mesh_parse(const char *name, const char *text, size_t n, const tribo_allocator *a, ti_mesh_data *d,
                           tribo_diag *diag);
/* The same of the file at `path`. @return also TRIBO_E_IO. */
tribo_status ti_mesh_read(const char *path, const tribo_allocator *a, ti_mesh_data *d, tribo_diag *diag);
void ti_mesh_data_free(ti_mesh_data *d, const tribo_allocator *a);

#endif
