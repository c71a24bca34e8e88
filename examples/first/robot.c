/* robot.c -- a quadruped stands on its servos: how high, and what a heavier trunk and dry friction do to that? */
#include <stdio.h>
#include <stdlib.h>
#include <tribo/tribo.h>

enum { STEPS = 500 };

int main(int argc, char **argv) {
    const char *scene = argc > 1 ? argv[1] : "data/scenes/quadruped.xml";
    tribo_model *m = NULL;
    tribo_ws *ws = NULL;
    tribo_tape *tape = NULL;
    tribo_diag diag = {0};
    if (tribo_model_load(scene, NULL, &m, &diag) || tribo_ws_new(m, NULL, NULL, &ws, &diag) ||
        tribo_tape_new(ws, STEPS, 0, &tape))
        return fprintf(stderr, "%s: %s\n", scene, diag.text), 1;
    tribo_sizes n = tribo_model_sizes(m);
    double *p = calloc(n.np, sizeof *p), *p_bar = calloc(n.np, sizeof *p_bar), *U = calloc(STEPS * n.nu, sizeof *U);
    double *X = calloc((STEPS + 1) * n.nx, sizeof *X), *lx = calloc((STEPS + 1) * n.ndx, sizeof *lx);

    tribo_model_params(m, p);
    tribo_model_state0(m, X);
    for (int k = 0; k < STEPS; k++) /* forces of every velocity come first, then controls: roll, thigh, knee of a leg */
        for (int leg = 0; leg < 4; leg++) {
            double *control = U + k * n.nu + n.nv + 3 * leg;
            control[1] = 0.8, control[2] = -1.6;
        }
    lx[STEPS * n.ndx + 2] = 1; /* L = the height of the trunk in the end */
    if (tribo_rollout(ws, p, X, STEPS, U, X, tape) < 0 || tribo_backward(ws, tape, lx, NULL, NULL, p_bar) < 0) return 1;
    printf("height %.6f\n", X[STEPS * n.nx + 2]);
    printf("d(height)/d(mass) %.6f\n", p_bar[tribo_param_find(m, "base/mass")]);
    printf("d(height)/d(damping) %.6f\n", p_bar[tribo_param_find(m, "fl knee/damping")]);

    free(p), free(p_bar), free(U), free(X), free(lx);
    tribo_tape_free(tape), tribo_ws_free(ws), tribo_model_free(m);
    return 0;
}
