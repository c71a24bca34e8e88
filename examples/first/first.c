/* first.c -- how far does a cube slide, and how does that change with friction? */
#include <stdio.h>
#include <stdlib.h>
#include <tribo/tribo.h>

enum { STEPS = 500 };

int main(int argc, char **argv) {
    const char *scene = argc > 1 ? argv[1] : "data/scenes/slide.xml";
    tribo_model *m = NULL;
    tribo_ws *ws = NULL;
    tribo_tape *tape = NULL;
    tribo_diag diag = {0};
    if (tribo_model_load(scene, NULL, &m, &diag) || tribo_ws_new(m, NULL, NULL, &ws, &diag) ||
        tribo_tape_new(ws, STEPS, 0, &tape))
        return fprintf(stderr, "%s: %s\n", scene, diag.text), 1;
    tribo_sizes n = tribo_model_sizes(m);
    double *p = calloc(n.np, sizeof *p), *p_bar = calloc(n.np, sizeof *p_bar);
    double *X = calloc((STEPS + 1) * n.nx, sizeof *X), *lx = calloc((STEPS + 1) * n.ndx, sizeof *lx);

    tribo_model_params(m, p); /* every physical number, as an argument of the step */
    tribo_model_state0(m, X);
    lx[STEPS * n.ndx] = 1; /* L = where the cube is in the end, along x */
    if (tribo_rollout(ws, p, X, STEPS, NULL, X, tape) || tribo_backward(ws, tape, lx, NULL, NULL, p_bar)) return 1;
    printf("position %.9f\n", X[STEPS * n.nx]);
    printf("d(position)/d(friction) %.9f\n", p_bar[tribo_param_find(m, "floor/friction")]);

    free(p), free(p_bar), free(X), free(lx);
    tribo_tape_free(tape), tribo_ws_free(ws), tribo_model_free(m);
    return 0;
}
