/* admit.c -- what a step takes: parameters of bodies that can be, numbers that are finite, orientations. */
#include "forward/frame.h"
#include "model/state.h"

/* As a rule p is that of the step before, so that looking for a difference is all there is to do. */
static tribo_status admit_params(tribo_ws *ws, const double *p) {
    size_t bytes = sizeof *p * (size_t)ws->model->size.np;
    if (ws->p_known && memcmp(ws->p, p, bytes) == 0) return TRIBO_OK;
    tribo_status s = tribo_params_check(ws->model, p, NULL);
    if (s != TRIBO_OK) return s;
    memcpy(ws->p, p, bytes);
    ws->p_known = true;
    return TRIBO_OK;
}

void ti_step_trust(tribo_ws *ws, const double *p) {
    memcpy(ws->p, p, sizeof *p * (size_t)ws->model->size.np);
    ws->p_known = true;
}

/* Length 1 is not asked for, but a direction is, and squares that are numbers. */
static bool has_orientations(const tribo_model *m, const double *x) {
    for (int k = 0; k < ti_joints(m); k++) {
        int quat = ti_joint_of(m->joint[k].kind)->quat;
        if (quat < 0) continue;
        const double *q = x + m->joint[k].q + quat, n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        if (!(n > 1e-24 && n < 1e24)) return false;
    }
    return true;
}

tribo_status ti_step_admit(tribo_ws *ws, const double *p, const double *x, const double *u) {
    const tribo_sizes *size = &ws->model->size;
    tribo_status s = admit_params(ws, p);
    if (s != TRIBO_OK) return s;
    if (!ti_finite(x, (size_t)size->nx) || (u && !ti_finite(u, (size_t)size->nu))) return TRIBO_E_NONFINITE;
    return has_orientations(ws->model, x) ? TRIBO_OK : TRIBO_E_ARG;
}
