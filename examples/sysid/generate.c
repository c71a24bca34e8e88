/* generate.c -- makes the recordings in data/recordings by cubes.c, without a line of the library: two cubes that
 * collide, 1/4000 s a step, noise of 1 mm on positions and the same at a corner in rotations. Poses alone are written.
 *
 * usage: generate FOLDER      then FOLDER/collision-1.csv ... -6.csv */
#include "cubes.h"
#include <stdio.h>

enum { RECORDINGS = 6, SAMPLES = 81, SUBSTEPS = 40 };

static int record(const char *folder, int number) {
    const double noise = 1e-3;
    char path[1024];
    snprintf(path, sizeof path, "%s/collision-%d.csv", folder, number);
    FILE *f = fopen(path, "w");
    if (!f) return 1;
    uint64_t seed = 1000u + (uint64_t)number;
    double v = 1.4 + 0.25 * number, y = 0.01 * (number - 3), yaw = (number % 2 ? 0.1 : -0.1) * (1 + 0.3 * number);
    cube_world world = cubes_colliding(1. / 4000, y, yaw, v);
    fprintf(f, "time,cube.px,cube.py,cube.pz,cube.qw,cube.qx,cube.qy,cube.qz,"
               "known.px,known.py,known.pz,known.qw,known.qx,known.qy,known.qz\n");
    for (int k = 0; k < SAMPLES; k++) {
        fprintf(f, "%.9g", k * SUBSTEPS * world.dt);
        for (int i = 0; i < CUBES; i++) {
            double pose[7];
            cube_measure(&world.cube[i], noise, noise / world.half, &seed, pose);
            for (int j = 0; j < 7; j++) fprintf(f, ",%.9g", pose[j]);
        }
        fputc('\n', f);
        for (int s = 0; s < SUBSTEPS; s++) cubes_step(&world);
    }
    return fclose(f) != 0;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    for (int i = 1; i <= RECORDINGS; i++)
        if (record(argv[1], i) != 0) {
            fprintf(stderr, "%s: cannot write there\n", argv[1]);
            return 1;
        }
    return 0;
}
