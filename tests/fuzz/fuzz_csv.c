/* fuzz_csv.c -- trajectories and controls: no crash, no leak; what is accepted is sound. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/trajectory.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tribo_model *model_new(void) {
    static const char SCENE[] = "<mujoco><worldbody><body name='cube'><freejoint/><geom size='1'/></body>"
                                "<body name='b'><freejoint/><geom size='1'/></body></worldbody></mujoco>";
    tribo_model *m = NULL;
    if (tribo_model_load_memory(SCENE, strlen(SCENE), "scene", NULL, &m, NULL) != TRIBO_OK) abort();
    return m;
}

static void check_times(int n, const double *time) {
    if (n < 1) abort();
    for (int i = 0; i < n; i++)
        if (!isfinite(time[i]) || (i && time[i] <= time[i - 1])) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tribo_model *m = model_new();
    tribo_trajectory *t = NULL;
    tribo_controls *c = NULL;
    tribo_diag diag = {0};
    if (tribo_trajectory_load_memory((const char *)data, size, m, NULL, &t, &diag) == TRIBO_OK) {
        int n = tribo_trajectory_rows(t);
        check_times(n, tribo_trajectory_times(t));
        for (int i = 0; i < n * 26; i++)
            if (!(fabs(tribo_trajectory_states(t)[i]) <= 1e12)) abort();
    } else if (t || !diag.text[0]) {
        abort();
    }
    if (tribo_controls_load_memory((const char *)data, size, m, NULL, &c, &diag) == TRIBO_OK) {
        double u[12];
        check_times(tribo_controls_rows(c), tribo_controls_times(c));
        tribo_controls_at(c, tribo_controls_times(c)[0], u);
        for (int i = 0; i < 12; i++)
            if (u[i] != tribo_controls_values(c)[i]) abort();
    }
    tribo_trajectory_free(t);
    tribo_controls_free(c);
    tribo_model_free(m);
    return 0;
}
