/* friction_mass.c -- the friction of the floor and the mass of a cube, together, from collisions with a cube of known
 * mass: a slide alone would tell friction and leave mass open, see information.c. Recordings as for mass_restitution.c.
 *
 * usage: friction_mass [FOLDER]      then FOLDER/friction_mass.svg */
#include "fit.h"

int main(int argc, char **argv) {
    static const char *const names[2] = {"floor/friction", "cube/mass"};
    static const double truth[2] = {0.2, 0.6}, starts[4][2] = {{0.05, 0.2}, {0.5, 2}, {0.05, 2}, {0.5, 0.2}};
    two_of_a_collision(names, truth, starts, argc > 1 ? argv[1] : NULL, "friction_mass");
    return 0;
}
