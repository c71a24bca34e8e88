/* mass_restitution.c -- mass and restitution from collisions with a cube of known mass. Poses alone, 1 mm of noise,
 * made by a simulator that shares nothing with the library (generate.c).
 *
 * usage: mass_restitution [FOLDER]      then FOLDER/mass_restitution.svg */
#include "fit.h"

int main(int argc, char **argv) {
    static const char *const names[2] = {"cube/mass", "impact/restitution"};
    static const double truth[2] = {0.6, 0.5}, starts[4][2] = {{0.2, 0.1}, {2, 0.9}, {0.2, 0.9}, {2, 0.1}};
    two_of_a_collision(names, truth, starts, argc > 1 ? argv[1] : NULL, "mass_restitution");
    return 0;
}
