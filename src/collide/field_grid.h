/* field_grid.h -- a height field in the world, triangle by triangle. docs/math.md, "Height fields".
 *
 * Under each triangle stands a prism: corners 3, 4, 5 are its top, seen from above against the clock, and 0, 1, 2 are
 * below them. Edges 0, 1, 2 and face 0 are the top's.
 */
#ifndef TI_FIELD_GRID_H
#define TI_FIELD_GRID_H
#include "collide/surface.h"
#include "model/mesh.h"

enum { TI_TOP_FACE = 0, TI_TOP_EDGES = 3, TI_TOP_CORNER = 3 };

typedef struct ti_prism_hull {
    ti_hull hull;
    double v[6][3], face[5][3];
} ti_prism_hull;

/* A corner of the grid, its frame: m, or in units of the size. False where the grid ends. */
bool ti_field_corner(const ti_shape *s, int row, int col, ti_vec *p);
ti_vec ti_field_unit(const ti_mesh *m, int row, int col);
/* Row and column of corner k of a triangle. */
void ti_field_at(const ti_mesh *m, int triangle, int k, int *row, int *col);
/* The prism of a triangle: in units of the size; or in m from its own middle, which is given back. */
void ti_field_prism(const ti_shape *s, int triangle, ti_prism_hull *p);
ti_vec ti_field_prism_near(const ti_shape *s, int triangle, ti_prism_hull *p);
/* Height of the ground under p, its frame; -INFINITY beside the field. */
double ti_field_height(const ti_shape *s, ti_vec p);
/* Whether the surface about an edge or a corner of the top lies below what has the normal n there, its frame. */
bool ti_field_is_ridge(const ti_shape *s, int triangle, ti_part part, ti_vec n);

#endif
