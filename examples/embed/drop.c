/* drop.c -- a program of its own that has Tribo in it: a ball falls on the floor, and how it lies there in the end. Its
 * scene is text in the program; with an argument, that of a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/tribo.h>

static const char scene[] = "<mujoco><option timestep='0.002'/><worldbody>"
                            "<geom name='floor' type='plane' size='0 0 1'/>"
                            "<body name='ball' pos='0 0 1'><freejoint/><geom type='sphere' size='0.1'/></body>"
                            "</worldbody></mujoco>";

int main(int argc, char **argv) {
    tribo_model *m = NULL;
    tribo_ws *ws = NULL;
    tribo_diag diag = {0};
    tribo_status s = argc > 1 ? tribo_model_load(argv[1], NULL, &m, &diag)
                              : tribo_model_load_memory(scene, strlen(scene), "scene", NULL, &m, &diag);
    if (s == TRIBO_OK) s = tribo_ws_new(m, NULL, NULL, &ws, &diag);
    if (s != TRIBO_OK) {
        fprintf(stderr, "%s: %s\n", argc > 1 ? argv[1] : "scene", diag.text);
        return 1;
    }
    tribo_sizes n = tribo_model_sizes(m);
    double *p = calloc((size_t)n.np, sizeof *p), *x = calloc((size_t)n.nx, sizeof *x);
    if (!p || !x) return 1;
    tribo_model_params(m, p);
    tribo_model_state0(m, x);
    for (int k = 0; k < 1000 && s >= 0; k++) s = tribo_step(ws, p, x, NULL, x, NULL); /* 2 s */
    printf("tribo %s: height %.6f m\n", tribo_version(), x[2]);
    free(p), free(x);
    tribo_ws_free(ws), tribo_model_free(m);
    return s < 0;
}
