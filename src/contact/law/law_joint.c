/* law_joint.c -- what is in a contact problem beside contacts: dry friction in a joint, and rows that hold.
 *
 * Dry friction has one row, the third: |lambda_n| <= bound, and c_n opposes lambda_n where that is the bound. Its bound
 * stands where a contact has mu, in N s. What holds has up to three rows, c = 0 whatever that takes; rows of zeros are
 * idle. docs/math.md eq. (160), (161).
 */
#include "contact/law/law.h"
#include <math.h>
#include <string.h>

/* ---- dry friction ---- */

enum { AGAINST = TRIBO_SLIDE + 1 }; /* it slides with lambda_n = -bound; TRIBO_SLIDE: with +bound */

static double trial_of(const ti_law_scale *s, const double *l, const double *c) {
    return l[2] - s->rho_n * c[2];
}

static unsigned char mode_of(double z, double bound) {
    if (fabs(z) <= bound && bound > 0) return TRIBO_STICK;
    return z > 0 ? TRIBO_SLIDE : AGAINST;
}

static unsigned char dry_mode(const ti_law_contact *s, const double *l, const double *c) {
    return mode_of(trial_of(s->scale, l, c), s->mu);
}

static void dry_slope(const ti_law_contact *s, unsigned char mode, const double *l, const double *c,
                      ti_law_slope *out) {
    memset(out, 0, sizeof *out);
    out->F[0] = l[0], out->F[1] = l[1], out->l[0] = out->l[4] = 1;
    if (mode == TRIBO_STICK) {
        out->F[2] = s->scale->rho_n * c[2], out->c[8] = s->scale->rho_n;
        return;
    }
    double sign = mode == AGAINST ? -1 : 1;
    out->F[2] = l[2] - sign * s->mu, out->l[8] = 1, out->mu[2] = -sign;
}

unsigned char ti_dry_linearise(const double *l, const double *c, double bound, const ti_law_scale *s,
                               ti_law_compliance R, unsigned char mode, double *F, double *D, double *Ainv) {
    if (mode == TI_MODE_FREE) mode = mode_of(trial_of(s, l, c), bound);
    bool sticks = mode == TRIBO_STICK;
    F[0] = l[0], F[1] = l[1], F[2] = sticks ? s->rho_n * c[2] : l[2] - (mode == AGAINST ? -bound : bound);
    if (!D) return mode;
    memset(D, 0, 9 * sizeof *D), memset(Ainv, 0, 9 * sizeof *Ainv);
    Ainv[0] = Ainv[4] = 1, Ainv[8] = sticks ? s->g_n * R.inverse_n : 1, D[8] = sticks ? R.inverse_n : 0;
    return mode;
}

static bool dry_agrees(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double slack) {
    double z = trial_of(s->scale, l, c);
    if (mode == TRIBO_STICK) return fabs(z) <= s->mu + slack;
    return (mode == AGAINST ? -z : z) >= s->mu - slack;
}

static void dry_residual(const ti_law_contact *s, const double *l, const double *c, double *out) {
    double over = fabs(l[2]) - s->mu;
    out[0] = (over > 0 ? over : 0) + hypot(l[0], l[1]);
    out[1] = 0;
    out[2] = fabs(l[2] * c[2] + s->mu * fabs(c[2]));
}

static void dry_local(const ti_law_contact *s, const double *free, double *l) {
    double n = -free[2] / s->Gii[8];
    l[0] = l[1] = 0, l[2] = n > s->mu ? s->mu : n < -s->mu ? -s->mu : n;
}

static void dry_margin(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double *out) {
    out[0] = out[1] = HUGE_VAL;
    if (mode == TRIBO_STICK)
        out[0] = (s->mu - fabs(l[2])) / s->mu;
    else
        out[1] = fabs(c[2]);
}

const ti_law ti_law_dry = {.mode = dry_mode,
                           .slope = dry_slope,
                           .agrees = dry_agrees,
                           .residual = dry_residual,
                           .local = dry_local,
                           .margin = dry_margin,
                           .is = TI_LAW_DRY};

/* ---- what holds ---- */

static unsigned char held_mode(const ti_law_contact *s, const double *l, const double *c) {
    (void)s, (void)l, (void)c;
    return TRIBO_STICK;
}

static void held_slope(const ti_law_contact *s, unsigned char mode, const double *l, const double *c,
                       ti_law_slope *out) {
    (void)mode, (void)l;
    memset(out, 0, sizeof *out);
    for (int r = 0; r < 3; r++) {
        double rho = r < 2 ? s->scale->rho_t : s->scale->rho_n;
        out->F[r] = rho * c[r], out->c[4 * r] = rho;
    }
}

static bool held_agrees(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double slack) {
    (void)s, (void)mode, (void)l, (void)c, (void)slack;
    return true;
}

static void held_residual(const ti_law_contact *s, const double *l, const double *c, double *out) {
    (void)s, (void)l;
    out[0] = out[2] = 0, out[1] = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
}

static void held_local(const ti_law_contact *s, const double *free, double *l) {
    const double *B = s->inverse;
    for (int r = 0; r < 3; r++) l[r] = -(B[3 * r] * free[0] + B[3 * r + 1] * free[1] + B[3 * r + 2] * free[2]);
}

static void held_margin(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double *out) {
    (void)s, (void)mode, (void)l, (void)c;
    out[0] = out[1] = HUGE_VAL;
}

const ti_law ti_law_held = {.mode = held_mode,
                            .slope = held_slope,
                            .agrees = held_agrees,
                            .residual = held_residual,
                            .local = held_local,
                            .margin = held_margin};
