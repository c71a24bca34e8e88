/* shapes.h -- what there is to see of a model: shapes on bodies, triangles of meshes, the tree that joints make. */
#ifndef TRIBO_TOOLS_SHAPES_H
#define TRIBO_TOOLS_SHAPES_H
#include <tribo/model.h>

/* A geom where it is in its body, with the numbers of p. */
typedef struct scene_shape {
    const char *name;
    tribo_shape shape;
    int body; /* or TRIBO_WORLD */
    int mesh; /* in scene_shapes.mesh, scaled by size; -1 of other shapes */
    double size[3], pos[3], quat[4];
} scene_shape;

/* Triangles against the clock seen from outside; a height field goes from -1 to 1 along x and y. */
typedef struct scene_mesh {
    int nvertex, ntriangle;
    float (*vertex)[3];
    int (*triangle)[3];
} scene_mesh;

/* A rod from a point of a body to a point of a body, in their frames: where a tree has no shapes, that it can be seen.
 */
typedef struct scene_link {
    int body[2];
    double point[2][3];
} scene_link;

typedef struct scene_shapes {
    int nshape, nmesh, nlink;
    scene_shape *shape;
    scene_mesh *mesh;
    scene_link *link;
    int *parent;        /* (nbody) or TRIBO_WORLD */
    bool bare;          /* some body has no shape */
    double extent, rod; /* m: the largest size of what moves; how thick a rod is */
} scene_shapes;

/* @param p (np). @return false without memory; free it in any case. */
bool shapes_of(const tribo_model *m, const double *p, scene_shapes *s);
void shapes_free(scene_shapes *s);

#endif
