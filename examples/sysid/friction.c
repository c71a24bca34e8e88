/* friction.c -- the friction of a floor from one slide, from several starts (truth 0.2): Levenberg-Marquardt, and Adam
 * as in the paper. Half a second of a cube that starts at 2 m/s, positions and orientations 100 times a second.
 *
 * usage: friction [FOLDER]      then FOLDER/friction_estimate.svg and FOLDER/friction_loss.svg */
#include "fit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STARTS = 5, ADAM_ITERATIONS = 300 };

int main(int argc, char **argv) {
    static const double starts[STARTS] = {0.02, 0.1, 0.4, 0.7, 1};
    static const char *const name = "floor/friction", *const titles[STARTS] = {"0.02", "0.1", "0.4", "0.7", "1"};
    static fitted f[2][STARTS];
    const char *folder = argc > 1 ? argv[1] : NULL;
    tribo_model *m = scene("slide");
    tribo_sizes z = tribo_model_sizes(m);
    double *p = numbers(z.np), *x0 = numbers(z.nx), worst[2] = {0, 0};
    plot_series value[2 * STARTS], loss[2 * STARTS];
    tribo_model_params(m, p);
    tribo_model_state0(m, x0);
    tribo_recording slide = record(m, p, x0, NULL, 51, 10);
    for (int i = 0; i < STARTS; i++)
        for (int k = 0; k < 2; k++) {
            tribo_sysid_def def = tribo_default_sysid();
            def.optimizer = k ? TRIBO_OPT_ADAM : TRIBO_OPT_LM;
            fit(m, &slide, 1, 1, &name, starts + i, def, k ? ADAM_ITERATIONS : 50, &f[k][i]);
            fitted *now = &f[k][i];
            worst[k] = fmax(worst[k], fabs(now->estimate->estimate - p[parameter(m, name)]));
            printf("%s_from_%s %.9f\n%s_iterations_from_%s %d\n", k ? "adam" : "lm", titles[i], now->estimate->estimate,
                   k ? "adam" : "lm", titles[i], now->n - 1);
            plot_style style = k ? PLOT_DASHED : PLOT_LINE_DOTS;
            const char *title = k ? NULL : titles[i];
            value[2 * i + k] = (plot_series){title, now->iteration, now->value[0], now->n, style, i + 1};
            loss[2 * i + k] = (plot_series){title, now->iteration, now->loss, now->n, style, i + 1};
        }
    printf("lm_worst_error %.2g\nadam_worst_error %.2g\n", worst[0], worst[1]);
    plot drawing = {.title = "Friction from a slide (truth 0.2): Levenberg-Marquardt, dashed Adam",
                    .x_label = "iteration",
                    .y_label = "friction",
                    .series = value,
                    .nseries = 2 * STARTS};
    figure(&drawing, folder, "friction_estimate");
    drawing.series = loss, drawing.y_label = "loss", drawing.log_y = true;
    figure(&drawing, folder, "friction_loss");
    recording_free(&slide);
    free(p), free(x0);
    tribo_model_free(m);
    return 0;
}
