/* still.h -- one moment of a replay as a picture, without a browser: triangles as a camera sees them, written as PNG
 * or SVG. */
#ifndef TRIBO_TOOLS_STILL_H
#define TRIBO_TOOLS_STILL_H
#include "replay.h"
#include <stdbool.h>
#include <stdio.h>

/* From where, and when. */
typedef struct still_look {
    double time;               /* s; not finite = the last frame */
    double azimuth, elevation; /* of the camera as seen from the middle of what moves, rad */
    int width, height;         /* pixels */
} still_look;

/* A corner on the picture: pixels from the left and the top, and 1 / distance along the view, 1/m. */
typedef struct still_corner {
    float x, y, near;
    float light; /* how much of its colour is seen */
} still_corner;

/* What is painted before what. */
typedef enum still_layer { STILL_GROUND, STILL_SHADOW, STILL_BODY } still_layer;

typedef struct still_triangle {
    still_corner corner[3];
    unsigned char colour[3];
    still_layer layer;
} still_triangle;

typedef struct still {
    int width, height;
    size_t n, room;
    still_triangle *triangle;
    bool failed; /* there was no memory */
} still;

/* The bodies of the first take as they are at the time, what was measured paler, planes as a chequered ground with
 * shadows, contact forces on what moves as arrows. Free it in any case. @return false without memory */
bool still_make(still *s, const replay *r, const still_look *look);
void still_free(still *s);
/* Triangles from the back to the front. @return false without memory */
bool still_svg(FILE *f, const still *s, const char *title);
/* By a depth buffer, four samples a pixel. @return false without memory */
bool still_png(FILE *f, const still *s);

#endif
