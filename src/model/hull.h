/* hull.h -- a convex polyhedron: corners, edges, faces, and which of them meet.
 *
 * Shapes share one and scale it along its axes: a box is the cube of edge 2 by its half extents.
 */
#ifndef TI_HULL_H
#define TI_HULL_H

typedef struct ti_hull {
    int nv, ne, nf;
    const double (*v)[3];    /* (nv) corners */
    const int (*edge)[2];    /* (ne) the corners at its ends */
    const double (*face)[3]; /* (nf) outward unit normals */
    const int *face_at;      /* (nf+1) where the corners of a face begin in the next two */
    const int *face_vertex;  /* in turn, against the clock seen from outside */
    const int *face_edge;    /* from that corner to the next */
    const int *vertex_at;    /* (nv+1) where what is at a corner begins in the next two */
    const int *vertex_edge;
    const int *vertex_face;
} ti_hull;

/* The corner furthest in direction d, from a corner on; and how far it is. */
int ti_hull_climb(const ti_hull *h, const double d[3], int from);
double ti_hull_reach(const ti_hull *h, const double d[3]);

enum { TI_HULL_MOST = 40000 }; /* corners: a feature has 17 bits for each of three of its parts */

#endif
