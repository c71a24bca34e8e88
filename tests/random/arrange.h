/* arrange.h -- how the bodies of a random scene stand to one another. */
#ifndef RANDOM_ARRANGE_H
#define RANDOM_ARRANGE_H
#include "maths.h"
#include "scene.h"

typedef enum layout { SCATTERED, TOUCHING, STACKED, ROW, WEDGED, CORNERED, LAYOUTS } layout;

/* What kind of scene it is to be. */
typedef struct arrangement {
    layout layout;
    int bodies, walls;
    bool floor, weightless, fast_spin;
    bool plain; /* frames at the centres, one geom a body, level floor: so that things touch exactly */
    bool boxes, capsules;
    double speed, rest, forced; /* in units of sqrt(g size); share of bodies at rest; with a force */
    double room;                /* from the middle to the walls, in sizes */
    double step;                /* m that bodies go in a step, about */
} arrangement;

void arrangement_choose(dice *d, arrangement *a, scene *s);
/* Place the bodies; those that find no place are left out. */
void arrange(dice *d, const arrangement *a, scene *s, double size);

#endif
