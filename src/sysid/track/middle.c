/* middle.c -- what moves joints acts at the middle of a step.
 *
 * A step's velocities are those half way from one place to the next, and so are its forces: docs/math.md eq.
 * (464). A step has its damping and its springs at its end, which is damping and inertia more than there are, and takes
 * a row's controls from the row on, half a step early. Both are linear: other numbers of joints, a mean of controls.
 */
#include "forward/frame.h"
#include "sysid/track/fit.h"

bool ti_middle_applies(const tribo_model *m, tribo_loss loss) {
    return loss == TRIBO_LOSS_SHOOTING && !ti_all_free(m);
}

const double *ti_middle_params(ti_worker *w, const double *p, tribo_ws *ws) {
    const tribo_sysid *s = w->s;
    if (!s->middle) return p;
    double dt = ws->options.dt;
    memcpy(w->p, p, (size_t)s->z.np * sizeof *p);
    for (int k = 0; k < ti_joints(s->m); k++) {
        const ti_joint *j = &s->m->joint[k];
        if (j->p < 0) continue;
        const double *own = p + j->p, stiffness = ti_stiffness(j, own);
        double *to = w->p + j->p;
        to[TI_P_DAMPING] -= dt * stiffness;
        to[TI_P_ARMATURE] += dt / 2 * (dt / 2 * stiffness - own[TI_P_DAMPING]);
    }
    ti_step_trust(ws, w->p);
    return w->p;
}

void ti_middle_params_vjp(const tribo_sysid *s, double dt, double *p_bar) {
    for (int k = 0; k < ti_joints(s->m) && s->middle; k++) {
        const ti_joint *j = &s->m->joint[k];
        if (j->p < 0) continue;
        double *to = p_bar + j->p;
        if (j->kind != TI_JOINT_FREE) to[TI_P_STIFFNESS] += dt * (dt / 4 * to[TI_P_ARMATURE] - to[TI_P_DAMPING]);
        to[TI_P_DAMPING] -= dt / 2 * to[TI_P_ARMATURE];
    }
}

const double *ti_middle_controls(ti_worker *w, const ti_track *t, const ti_stride *at) {
    const tribo_sysid *s = w->s;
    size_t nu = (size_t)s->z.nu;
    const double *u = t->u ? t->u + (size_t)at->row * nu : NULL;
    if (!u || !s->middle || at->row == 0 || at->step) return u;
    for (size_t i = 0; i < nu; i++) w->u[i] = (u[i] + (u - nu)[i]) / 2;
    return w->u;
}
