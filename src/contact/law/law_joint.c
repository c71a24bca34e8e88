/* law_joint.c -- what holds in a contact problem, whatever the law of contacts is: up to three rows, c = 0 whatever
 * that takes; rows of zeros are idle. docs/math.md eq. (161). */
#include "contact/law/law.h"
#include <math.h>
#include <string.h>

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
                            .margin = held_margin,
                            .is = TI_LAW_LINEAR};
