/* solids.h -- shapes as triangles with normals, for files that know nothing of spheres and capsules. */
#ifndef TRIBO_TOOLS_SOLIDS_H
#define TRIBO_TOOLS_SOLIDS_H
#include "shapes.h"
#include <stddef.h>
#include <stdint.h>

/* Triangles against the clock seen from outside. */
typedef struct solid {
    size_t npoint, nindex, room_point, room_index;
    float (*point)[3], (*normal)[3]; /* (npoint) */
    uint32_t *index;                 /* (nindex) three a triangle */
    bool failed;                     /* there was no memory */
} solid;

/* All begin with a solid that is zero; the result is there if it has not failed, and is freed in any case. */
void solid_sphere(solid *s);                              /* of radius 1 */
void solid_box(solid *s);                                 /* of half extents 1 */
void solid_cylinder(solid *s);                            /* of radius and half length 1, along z */
void solid_capsule(solid *s, double radius, double half); /* along z */
void solid_square(solid *s, double half);                 /* in the plane z = 0, seen from above */
void solid_mesh(solid *s, const scene_mesh *m);           /* each triangle with its own normal */
void solid_free(solid *s);

#endif
