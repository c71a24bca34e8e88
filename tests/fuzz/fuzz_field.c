/* fuzz_field.c -- height fields in files of numbers: no crash, no leak; what is refused is told, what is accepted can
 * be touched and is as far away as its highest point says at least. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/sim.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char FILE_NAME[] = "fuzz_field.bin", SCENE_NAME[] = "fuzz_field.xml";
static const char SCENE[] =
    "<mujoco><asset><hfield name='f' file='fuzz_field.bin' size='1 2 0.5 1'/></asset><worldbody>"
    "<geom name='ground' type='hfield' hfield='f'/>"
    "<body name='ball' pos='0.1 0.3 1'><freejoint/><geom name='ball' size='0.2'/></body>"
    "</worldbody></mujoco>";

/* The ball is lowered, from where nothing can touch it. */
static void touch(const tribo_model *m) {
    tribo_sizes n = tribo_model_sizes(m);
    tribo_ws *ws = NULL;
    double *p = malloc(sizeof *p * (size_t)(n.np + 2 * n.nx)), *x = p + n.np, *next = x + n.nx;
    if (!p || tribo_ws_new(m, NULL, NULL, &ws, NULL)) abort();
    tribo_model_params(m, p);
    for (int k = 0; k < 20; k++) {
        tribo_distance d;
        tribo_model_state0(m, x);
        x[0] = 0.09 * k - 0.9, x[2] = 1 - 0.05 * k;
        tribo_status found =
            tribo_geom_distance(ws, p, x, 1, 0, &d); /* deep in the ground nothing need face the ball */
        if (found == TRIBO_OK ? !isfinite(d.distance) : found != TRIBO_E_ARG || x[2] > 0.7) abort();
        if (x[2] > 0.7 && d.distance < x[2] - 0.7 - 1e-9) abort();
        if (tribo_step(ws, p, x, NULL, next, NULL) < 0) abort();
    }
    tribo_ws_free(ws);
    free(p);
}

static void write_file(const char *name, const void *data, size_t n) {
    FILE *f = fopen(name, "wb");
    if (!f || (n && fwrite(data, 1, n, f) != n) || fclose(f) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    write_file(SCENE_NAME, SCENE, strlen(SCENE)), write_file(FILE_NAME, data, size);
    tribo_status s = tribo_model_load(SCENE_NAME, NULL, &m, &diag);
    if (s == TRIBO_OK)
        touch(m);
    else if (m || !diag.text[0] || diag.line < 1)
        abort();
    tribo_model_free(m);
    remove(FILE_NAME), remove(SCENE_NAME);
    return 0;
}
