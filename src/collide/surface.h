/* surface.h -- contacts between any two convex shapes: what surfaces consist of, and where two such parts meet.
 *
 * docs/math.md, "Convex shapes".
 */
#ifndef TI_SURFACE_H
#define TI_SURFACE_H
#include "collide/pairs.h"
#include "model/hull.h"
#include <stdbool.h>

/* A cube of edge 2 and an upright prism of eight sides in the unit cylinder, faces 0 and 1 its bottom and top. */
extern const ti_hull ti_cube, ti_prism;

/* ---- parts of a surface ---- */

typedef enum ti_part_kind {
    TI_VERTEX, /* of the hull, as edges and faces are */
    TI_EDGE,
    TI_FACE,
    TI_BALL, /* a stretched ball; 0 or 1, which end of a capsule */
    TI_SIDE, /* of a tube */
    TI_RIM,  /* of a cylinder: bit 0 at the top; then how far round from the point that is lowest, in thirds */
    TI_FIXED /* a point of the body: where nothing better is known */
} ti_part_kind;

typedef struct ti_part {
    int kind, id;
} ti_part;

/* Two parts that meet along a normal: at right angles to both, or that of a face of one of the two. */
typedef enum ti_rule { TI_OF_PARTS, TI_OF_FACE_A, TI_OF_FACE_B } ti_rule;
typedef struct ti_meet {
    ti_part part[2];
    int rule, face;
} ti_meet;

int64_t ti_meet_code(const ti_meet *m);
ti_meet ti_meet_of(int64_t code);

/* ---- a shape as this room sees it ---- */

typedef struct ti_form {
    const ti_shape *s;
    const ti_hull *hull; /* of what is flat; NULL if nothing is, and of a plane */
    double scale[3];     /* of the hull, or of the ball */
    int by[3];           /* which number of its size each scale is */
    double round;        /* the shape is all within this distance of what supports are found of */
    double half;         /* how far the balls of a capsule are from its middle */
    double small;        /* its least extent */
    int last;            /* the vertex found last: where the next search begins */
} ti_form;

ti_form ti_form_of(const ti_shape *s);
/* The furthest point in a direction, without `round`; both in the shape's frame. */
ti_vec ti_form_support(ti_form *f, ti_vec d);
/* How far the shape reaches from its centre in a direction of length 1. */
double ti_form_reach(ti_form *f, ti_vec d);
/* Parts that may be what is furthest in about direction d, near p: best first, at most TI_PARTS. `within`: sine of
 * the angle that d is known to. */
enum { TI_PARTS = 8 };
int ti_form_parts(ti_form *f, ti_vec d, ti_vec p, double within, ti_part *part);
/* The face that looks most in direction d of those at the furthest point; -1 if there is none. */
int ti_form_face(ti_form *f, ti_vec d);
ti_vec ti_form_face_normal(const ti_form *f, int face);
double ti_form_face_area(const ti_form *f, int face);
/* Corner k of a face, and of the whole hull. */
ti_vec ti_form_corner(const ti_form *f, int vertex);
/* Whether p, on the endless surface that the part belongs to, is on the part; a length of slack. */
bool ti_form_holds(const ti_form *f, ti_part part, ti_vec p, double slack);

/* A point of a part, how it may go along it, and what is at right angles to the normal there; the shape's frame. */
typedef struct ti_spot {
    ti_vec p;
    int k;            /* ways to go */
    ti_vec to[2];     /* dp/du */
    ti_vec square[2]; /* at right angles to the normal: `to`, but on a rim elsewhere than at the lowest point */
    ti_vec bend[2];   /* d square / du */
    bool round[2];    /* whether it bends */
} ti_spot;
/* The spot nearest, in some sense, to p. */
ti_spot ti_spot_at(const ti_form *f, ti_part part, ti_vec p);
/* The spot a way du along. */
ti_spot ti_spot_move(const ti_form *f, ti_part part, const ti_spot *from, const double *du);
/* What a vector that belongs to the part changes by with a number of the size. */
ti_vec ti_spot_size(const ti_form *f, ti_part part, ti_vec v, bool point, int size);

/* ---- meetings ---- */

typedef struct ti_near {
    ti_vec n;    /* from a to b, world */
    ti_vec p[2]; /* on each, in its frame */
    double gap;
} ti_near;

/* From somewhere near, to where the two parts meet. @return false if there is no such place. */
bool ti_meet_solve(const ti_form f[2], const ti_meet *m, ti_near *at);
ti_touch ti_meet_touch(const ti_form f[2], const ti_meet *m, const ti_near *at);
void ti_meet_jac(const ti_form f[2], const ti_meet *m, const ti_touch *t, ti_touch_jac J);

/* How far apart two supporting planes with that normal are. */
double ti_separation(ti_form f[2], ti_vec n);
/* Closest points, or the shallowest way out: to rounding of polyhedra, else until the distance is known to a share
 * `enough` of itself. @return false beyond the margin. */
bool ti_near_find(ti_form f[2], double margin, double enough, ti_near *at);
/* The shallowest way out of shapes that overlap or nearly touch. */
bool ti_near_expand(ti_form f[2], ti_near *at);

/* Contacts collected of one pair, thinned out to four. */
enum { TI_PILE = 48, TI_KEPT = 4 };
typedef struct ti_pile {
    double margin, merge;
    double least; /* the gap of the closest points */
    int count;
    ti_touch t[TI_PILE];
} ti_pile;
void ti_pile_put(ti_pile *pile, const ti_touch *t);
/* Where two parts meet near point p (its frame) of shape i and normal n, if they do: no deeper than the shapes are. */
void ti_pile_meet(const ti_form f[2], const ti_meet *m, ti_vec n, int i, ti_vec p, ti_pile *pile);
int ti_pile_thin(ti_pile *pile, ti_touch *out);

/* What of the other shape is over a face of shape P, 0 or 1. */
void ti_over_face(ti_form f[2], int P, int face, ti_pile *pile);
/* What of two shapes that lie along one another meets. */
void ti_along(ti_form f[2], const ti_near *at, ti_pile *pile);

/* ---- convex.c ---- */
/* Where two shapes are closest, and what lies beside it, into an empty pile with its margin set. @return false beyond
 * it. */
bool ti_convex_gather(ti_form f[2], ti_pile *pile, ti_touch *first);
double ti_convex_small(const ti_form f[2]);
/* Whether anything is: one contact that says so. */
int ti_not_a_number(const ti_shape *a, const ti_shape *b, ti_touch *out);

#endif
