/* scene.c -- loads scenes and recordings for the verbs. */
#include "scene.h"
#include "inputs.h"
#include <stdlib.h>
#include <string.h>

static int outcome(const char *path, tribo_status s, const tribo_diag *diag) {
    input_note(path);
    return s < 0 ? input_error(path, s, diag) : EXIT_SUCCESS;
}

int scene_load(const char *path, tribo_model **m) {
    tribo_diag diag = {0};
    int status = outcome(path, tribo_model_load(path, NULL, m, &diag), &diag);
    if (status == EXIT_SUCCESS && tribo_model_sizes(*m).nbody == 0)
        status = input_message(path, 0, "there is no body in this scene that could move");
    return status;
}

int recording_load(const char *path, const tribo_model *m, tribo_trajectory **t) {
    tribo_diag diag = {0};
    return outcome(path, tribo_trajectory_load(path, m, NULL, t, &diag), &diag);
}

int controls_load(const char *path, const tribo_model *m, tribo_controls **c) {
    tribo_diag diag = {0};
    return outcome(path, tribo_controls_load(path, m, NULL, c, &diag), &diag);
}

int scene_start(const char *path, const tribo_model *m, double *x) {
    tribo_trajectory *t = NULL;
    int status = recording_load(path, m, &t);
    if (status == EXIT_SUCCESS) memcpy(x, tribo_trajectory_states(t), (size_t)tribo_model_sizes(m).nx * sizeof *x);
    tribo_trajectory_free(t);
    return status;
}
