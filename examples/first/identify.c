/* identify.c -- one parameter of a scene from one recording, with its standard error.
 *
 * usage: identify [SCENE.xml RECORDING.csv PARAMETER] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tribo/tribo.h>

/* The states of a recording; what was not measured is NaN. */
static double *measured(const tribo_trajectory *t, int nx) {
    size_t n = (size_t)tribo_trajectory_rows(t) * (size_t)nx;
    double *x = calloc(n, sizeof *x);
    for (size_t i = 0; x && i < n; i++)
        x[i] = tribo_trajectory_observed(t)[i] ? tribo_trajectory_states(t)[i] : (double)NAN;
    return x;
}

static int report(const tribo_model *m, tribo_sysid *s) {
    tribo_estimate e;
    tribo_param_info info;
    if (tribo_sysid_observe(s, &e, NULL, NULL, NULL, NULL) < 0 || tribo_param_describe(m, e.index, &info)) return 1;
    if (e.identifiable)
        printf("%s %.6f\nstd_error %.6f\n", info.name, e.estimate, e.std_error);
    else
        printf("%s is not determined by this recording\n", info.name);
    return 0;
}

int main(int argc, char **argv) {
    tribo_model *m = NULL;
    tribo_trajectory *t = NULL;
    tribo_checked *checked = NULL;
    tribo_sysid *s = NULL;
    tribo_diag diag = {0};
    const char *scene = "data/scenes/collision.xml", *file = "data/recordings/collision-1.csv",
               *name = "floor/friction";
    if (argc == 4) scene = argv[1], file = argv[2], name = argv[3];
    if (tribo_model_load(scene, NULL, &m, &diag)) return fprintf(stderr, "%s: %s\n", scene, diag.text), 1;
    if (tribo_trajectory_load(file, m, NULL, &t, &diag)) return fprintf(stderr, "%s: %s\n", file, diag.text), 1;
    double *x = measured(t, tribo_model_sizes(m).nx);
    tribo_recording recording = {.n = tribo_trajectory_rows(t), .time = tribo_trajectory_times(t), .x = x};

    /* units, orders and clocks: what contradicts is mended, or refused */
    if (tribo_checked_new(m, NULL, &recording, NULL, &checked, &diag) < 0 || tribo_checked_refused(checked))
        return fprintf(stderr, "%s: %s\n", file, checked ? tribo_checked_refused(checked)->text : diag.text), 1;
    recording = tribo_checked_recording(checked);

    tribo_free_param parameter = tribo_default_free();
    parameter.index = tribo_param_find(m, name);
    if (parameter.index < 0) return fprintf(stderr, "%s: there is no parameter %s\n", scene, name), 1;
    tribo_sysid_def def = tribo_default_sysid();
    def.free = &parameter, def.nfree = 1, def.rec = &recording, def.nrec = 1;
    def.loss = TRIBO_LOSS_SHOOTING, def.window = 1;
    if (tribo_sysid_new(m, &def, &s, &diag) < 0) return fprintf(stderr, "%s: %s\n", scene, diag.text), 1;
    int bad = tribo_sysid_fit(s, 200, NULL) < 0 || report(m, s);

    tribo_sysid_free(s), tribo_checked_free(checked), free(x);
    tribo_trajectory_free(t), tribo_model_free(m);
    return bad;
}
