/* fit.h -- what the experiments share: recordings, and fits that remember how they went. */
#ifndef TRIBO_EXAMPLE_FIT_H
#define TRIBO_EXAMPLE_FIT_H
#include "example.h"

enum { FREE_MAX = 3, ITERATIONS_MAX = 400 };

/* The loss and the estimates after each iteration; entry 0 is the start. */
typedef struct fitted {
    int n;
    double iteration[ITERATIONS_MAX + 1], loss[ITERATIONS_MAX + 1], value[FREE_MAX][ITERATIONS_MAX + 1];
    tribo_estimate estimate[FREE_MAX];
    double eigenvalue[FREE_MAX]; /* of the Fisher information, rising */
    int undetermined;
} fitted;

/* Simulate the model at p from x0 under a constant control (NULL = none): `rows` rows, `every` steps apart. The
 * velocities are kept too. To be freed by recording_free(). */
tribo_recording record(const tribo_model *m, const double *p, const double *x0, const double *u, int rows, int every);
/* The recording data/recordings/collision-NUMBER.csv, poses alone. Its first row becomes what the rows before the
 * collision say of two cubes that stand on a floor of this friction, one of them sliding: velocities too. */
tribo_recording recorded(const tribo_model *m, int number, double friction);
void recording_free(tribo_recording *r);

/* Identify the named parameters, each from its start, and observe what is known of them in the end. The history is
 * appended to what f holds. */
void fit(const tribo_model *m, const tribo_recording *rec, int nrec, int nfree, const char *const *names,
         const double *starts, tribo_sysid_def def, int iterations, fitted *f);

/* Fits of two parameters of data/scenes/collision.xml to the six recorded collisions, from four starts, one where there
 * is no folder to draw to: prints the estimates and draws FOLDER/NAME.svg. */
enum { COLLISIONS = 6 };
void two_of_a_collision(const char *const names[2], const double truth[2], const double (*starts)[2],
                        const char *folder, const char *figure_name);

#endif
