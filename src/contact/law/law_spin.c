/* law_spin.c -- friction whose bound does not depend on its own impulse: dry friction of a joint, and what a contact
 * does against the relative turn of its bodies about the normal (twist) and about the tangents (roll), whatever the law
 * of contacts is.
 *
 * Maximum dissipation in cones of their own: the twist's impulse is at most mu times the normal impulse of its contact,
 * s->push, and so is the length of the roll's; at the bound each opposes the turn. Rows are in units of a length, so
 * that impulses are in N s. Twist has one row, the third, roll the other two. Dry friction is a twist of push 1: its
 * bound, N s, stands where a contact has mu. docs/math.md eq. (160), (340), (341).
 */
#include "contact/law/law.h"
#include <math.h>
#include <string.h>

static double bound_of(const ti_law_contact *s) {
    return s->mu * s->push;
}

/* ---- twist, dry friction ---- */

enum { AGAINST = TRIBO_SLIDE + 1 }; /* it slides with lambda_n = -bound; TRIBO_SLIDE: with +bound */

static double twist_trial(const ti_law_contact *s, const double *l, const double *c) {
    return l[2] - s->scale->rho_n * c[2];
}

static unsigned char twist_mode_of(double z, double bound) {
    if (fabs(z) <= bound && bound > 0) return TRIBO_STICK;
    return z > 0 ? TRIBO_SLIDE : AGAINST;
}

static unsigned char twist_mode(const ti_law_contact *s, const double *l, const double *c) {
    return s->push > 0 ? twist_mode_of(twist_trial(s, l, c), bound_of(s)) : TRIBO_BREAK;
}

static void idle(ti_law_slope *out, const double *l, int r) {
    out->F[r] = l[r], out->l[4 * r] = 1;
}

static void twist_slope(const ti_law_contact *s, unsigned char mode, const double *l, const double *c,
                        ti_law_slope *out) {
    memset(out, 0, sizeof *out);
    for (int r = 0; r < 3; r++) idle(out, l, r);
    if (mode == TRIBO_STICK) {
        out->F[2] = s->scale->rho_n * c[2], out->c[8] = s->scale->rho_n, out->l[8] = 0;
    } else if (mode != TRIBO_BREAK) {
        double sign = mode == AGAINST ? -1 : 1;
        out->F[2] -= sign * bound_of(s), out->mu[2] = -sign * s->push, out->push[2] = -sign * s->mu;
    }
}

static bool agrees(double z, double push, double bound, unsigned char mode, double slack) {
    if (mode == TRIBO_BREAK) return push <= slack;
    if (mode == TRIBO_STICK) return bound > 0 && fabs(z) <= bound + slack;
    return (mode == AGAINST ? -z : z) >= bound - slack;
}

static bool twist_agrees(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double slack) {
    return agrees(twist_trial(s, l, c), s->push, bound_of(s), mode, slack);
}

bool ti_dry_agrees(const double *l, const double *c, double bound, const ti_law_scale *s, unsigned char mode,
                   double slack) {
    return agrees(l[2] - s->rho_n * c[2], 1, bound, mode, slack);
}

void ti_dry_residual(const double *l, const double *c, double bound, double *out) {
    double over = fabs(l[2]) - bound;
    out[0] = over > 0 ? over : 0;
    if (l[0] != 0 || l[1] != 0) out[0] += hypot(l[0], l[1]); /* of what pushes another way */
    out[1] = 0;
    out[2] = fabs(l[2] * c[2] + bound * fabs(c[2]));
}

static void twist_residual(const ti_law_contact *s, const double *l, const double *c, double *out) {
    ti_dry_residual(l, c, bound_of(s), out);
}

static void twist_local(const ti_law_contact *s, const double *free, double *l) {
    double n = -free[2] / s->Gii[8], bound = bound_of(s);
    l[0] = l[1] = 0, l[2] = n > bound ? bound : n < -bound ? -bound : n;
}

/* How far it is from another mode; that its contact opens is the contact's to say. */
static void margin_by(double bound, unsigned char mode, double impulse, double speed, double *out) {
    out[0] = out[1] = HUGE_VAL;
    if (mode == TRIBO_STICK)
        out[0] = bound > 0 ? (bound - impulse) / bound : 0;
    else if (mode != TRIBO_BREAK)
        out[1] = speed;
}

static void twist_margin(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double *out) {
    margin_by(bound_of(s), mode, fabs(l[2]), fabs(c[2]), out);
}

void ti_dry_margin(const double *l, const double *c, double bound, unsigned char mode, double *out) {
    margin_by(bound, mode, fabs(l[2]), fabs(c[2]), out);
}

const ti_law ti_law_twist = {.mode = twist_mode,
                             .slope = twist_slope,
                             .agrees = twist_agrees,
                             .residual = twist_residual,
                             .local = twist_local,
                             .margin = twist_margin,
                             .is = TI_LAW_SPIN};
const ti_law ti_law_dry = {.mode = twist_mode,
                           .slope = twist_slope,
                           .agrees = twist_agrees,
                           .residual = twist_residual,
                           .local = twist_local,
                           .margin = twist_margin,
                           .is = TI_LAW_DRY | TI_LAW_LINEAR};

unsigned char ti_dry_linearise(const double *l, const double *c, double bound, const ti_law_scale *s,
                               ti_law_compliance R, unsigned char mode, double *F, double *D, double *Ainv) {
    if (mode == TI_MODE_FREE) mode = twist_mode_of(l[2] - s->rho_n * c[2], bound);
    bool sticks = mode == TRIBO_STICK;
    F[0] = l[0], F[1] = l[1], F[2] = sticks ? s->rho_n * c[2] : l[2] - (mode == AGAINST ? -bound : bound);
    if (!D) return mode;
    memset(D, 0, 9 * sizeof *D), memset(Ainv, 0, 9 * sizeof *Ainv);
    Ainv[0] = Ainv[4] = 1, Ainv[8] = sticks ? s->g_n * R.inverse_n : 1, D[8] = sticks ? R.inverse_n : 0;
    return mode;
}

double ti_dry_by_bound(unsigned char mode) {
    return mode == TRIBO_STICK || mode == TRIBO_BREAK ? 0 : mode == AGAINST ? -1 : 1;
}

/* ---- roll ---- */

typedef struct trial {
    double t0, t1, length;
} trial;

static trial roll_trial(const ti_law_contact *s, const double *l, const double *c) {
    double rho = s->scale->rho_t;
    trial z = {l[0] - rho * c[0], l[1] - rho * c[1], 0};
    z.length = sqrt(z.t0 * z.t0 + z.t1 * z.t1);
    return z;
}

static unsigned char roll_mode(const ti_law_contact *s, const double *l, const double *c) {
    double bound = bound_of(s);
    if (!(s->push > 0)) return TRIBO_BREAK;
    return roll_trial(s, l, c).length <= bound && bound > 0 ? TRIBO_STICK : TRIBO_SLIDE;
}

static void roll_slope(const ti_law_contact *s, unsigned char mode, const double *l, const double *c,
                       ti_law_slope *out) {
    trial z = roll_trial(s, l, c);
    double rho = s->scale->rho_t, d[2] = {1, 0}, share = 0;
    memset(out, 0, sizeof *out);
    for (int r = 0; r < 3; r++) idle(out, l, r);
    if (mode == TRIBO_BREAK) return;
    if (mode == TRIBO_STICK) {
        for (int r = 0; r < 2; r++) out->F[r] = rho * c[r], out->c[4 * r] = rho, out->l[4 * r] = 0;
        return;
    }
    if (z.length > 0) d[0] = z.t0 / z.length, d[1] = z.t1 / z.length, share = bound_of(s) / z.length;
    if (share > 1) share = 1;
    for (int r = 0; r < 2; r++) {
        out->F[r] = l[r] - bound_of(s) * d[r];
        out->push[r] = -s->mu * d[r];
        out->mu[r] = -s->push * d[r];
        for (int q = 0; q < 2; q++) {
            double across = share * ((r == q) - d[r] * d[q]);
            out->l[3 * r + q] = (r == q) - across, out->c[3 * r + q] = rho * across;
        }
    }
}

static bool roll_agrees(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double slack) {
    trial z = roll_trial(s, l, c);
    double bound = bound_of(s);
    if (mode == TRIBO_BREAK) return s->push <= slack;
    if (mode == TRIBO_STICK) return bound > 0 && z.length <= bound + slack;
    return z.length >= bound - slack && z.t0 * l[0] + z.t1 * l[1] >= -slack * z.length;
}

static void roll_residual(const ti_law_contact *s, const double *l, const double *c, double *out) {
    double bound = bound_of(s), t = hypot(l[0], l[1]);
    out[0] = (t > bound ? t - bound : 0) + fabs(l[2]);
    out[1] = 0;
    out[2] = fabs(l[0] * c[0] + l[1] * c[1] + bound * hypot(c[0], c[1]));
}

/* A gradient step, projected on the disk; exact where it sticks. */
static void roll_local(const ti_law_contact *s, const double *free, double *l) {
    const double *G = s->Gii;
    double bound = bound_of(s), det = G[0] * G[4] - G[1] * G[3];
    double t0 = (G[1] * free[1] - G[4] * free[0]) / det, t1 = (G[3] * free[0] - G[0] * free[1]) / det;
    if (!(t0 * t0 + t1 * t1 <= bound * bound)) {
        t0 = l[0] - (free[0] + G[0] * l[0] + G[1] * l[1]) * s->steps->t;
        t1 = l[1] - (free[1] + G[3] * l[0] + G[4] * l[1]) * s->steps->t;
        double length = sqrt(t0 * t0 + t1 * t1), share = length > bound ? bound / length : 1;
        t0 *= share, t1 *= share;
    }
    l[0] = t0, l[1] = t1, l[2] = 0;
}

static void roll_margin(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double *out) {
    margin_by(bound_of(s), mode, hypot(l[0], l[1]), hypot(c[0], c[1]), out);
}

static double roll_circle(const ti_law_contact *s, unsigned char mode, const double *l) {
    (void)l;
    return mode == TRIBO_SLIDE ? bound_of(s) : HUGE_VAL;
}

const ti_law ti_law_roll = {.mode = roll_mode,
                            .slope = roll_slope,
                            .agrees = roll_agrees,
                            .residual = roll_residual,
                            .local = roll_local,
                            .circle = roll_circle,
                            .margin = roll_margin,
                            .is = TI_LAW_SPIN};
