/* cone_joint.c -- the pairs of what is no contact: dry friction, what holds, friction against turning. */
#include "contact/ladder/cone.h"

/* What holds needs some compliance, in units of the heaviest body's; a bound below this is none. */
static const double LEAST = 1e-8, NOTHING = 1e-12;

bool ti_cone_is_boxed(const ti_cone *k) {
    return (k->kind == TI_CONSTRAINT_DRY || k->kind == TI_CONSTRAINT_TWIST) && k->bound > NOTHING;
}

bool ti_cone_is_disk(const ti_cone *k) {
    return k->kind == TI_CONSTRAINT_ROLL && k->bound > NOTHING;
}

void ti_cone_begin_joint(ti_cone *k, ti_constraint_kind kind, double bound) {
    k->kind = kind, k->bound = kind == TI_CONSTRAINT_HELD ? 0 : bound;
    for (int r = 0; r < 3; r++) {
        k->x[r] = k->w[r] = 0;
        if (kind == TI_CONSTRAINT_HELD && k->R[r] < LEAST) k->R[r] = LEAST;
    }
    if (ti_cone_is_boxed(k)) k->side[0] = k->side[1] = 1 / bound;
    if (ti_cone_is_disk(k)) k->side[0] = 2 / (bound * bound);
    k->normal = 0;
}

void ti_cone_begin_spin(ti_cone *k, const ti_cone *host, ti_constraint_kind kind, double mu) {
    k->host = host, k->ratio = mu * host->unit[0] / k->unit[0];
    ti_cone_begin_joint(k, kind, k->ratio * (host->normal + host->rebound));
}

/* What is left at side 0 (+bound) or 1 (-bound). */
static double left(const ti_cone *k, int side) {
    return side ? k->bound + k->normal : k->bound - k->normal;
}

/* A disk leaves (bound^2 - |x|^2) / 2 >= 0; its multiplier times x opposes the turn. */
static double left_of_disk(const ti_cone *k) {
    return 0.5 * (k->bound - hypot(k->x[1], k->x[2])) * (k->bound + hypot(k->x[1], k->x[2]));
}

void ti_cone_linearise_joint(ti_cone *k, const double *c, double *out) {
    memset(k->A, 0, sizeof k->A);
    for (int r = 0; r < 3; r++) {
        k->rp[r] = c[r], out[r] = 0;
        if (k->kind == TI_CONSTRAINT_HELD) k->A[4 * r] = 1 / k->R[r];
    }
    if (ti_cone_is_boxed(k)) {
        k->A[0] = 1 / (k->R[0] + k->side[0] / left(k, 0) + k->side[1] / left(k, 1));
        out[0] = k->A[0] * k->ratio * (k->side[0] / left(k, 0) - k->side[1] / left(k, 1));
    } else if (ti_cone_is_disk(k)) {
        double pull = k->side[0] / left_of_disk(k), x = k->x[1], y = k->x[2], d = k->R[1] + k->side[0];
        double beyond = pull / (d + pull * (x * x + y * y)); /* (d + pull x x')^-1 */
        k->A[4] = (1 - beyond * x * x) / d, k->A[8] = (1 - beyond * y * y) / d, k->A[5] = k->A[7] = -beyond * x * y / d;
        for (int r = 1; r < 3; r++) out[r] = (k->A[3 * r + 1] * x + k->A[3 * r + 2] * y) * pull * k->bound * k->ratio;
    }
}

void ti_cone_aim_joint(ti_cone *k, double centre, bool corrected, double *f) {
    double push[3] = {0, 0, 0};
    for (int s = 0; s < 2 && ti_cone_is_boxed(k); s++) {
        double change = k->a.bound + (s ? k->a.x[0] : -k->a.x[0]); /* of what is left, by the predictor */
        double to = corrected ? centre - change * k->a.side[s] : 0;
        k->d.side[s] = to / left(k, s) - k->side[s];
        push[0] += (s ? -1 : 1) * to / left(k, s);
    }
    if (ti_cone_is_disk(k)) {
        double change = k->bound * k->a.bound - k->x[1] * k->a.x[1] - k->x[2] * k->a.x[2];
        double to = corrected ? centre - change * k->a.side[0] : 0, all = to / left_of_disk(k);
        k->d.side[0] = all - k->side[0];
        for (int r = 1; r < 3; r++) push[r] = all * k->x[r] + (corrected ? k->a.x[r] * k->a.side[0] : 0);
    }
    for (int r = 0; r < 3; r++) {
        const double *A = k->A + 3 * r;
        f[r] = A[0] * k->rp[0] + A[1] * k->rp[1] + A[2] * k->rp[2];
        f[r] += A[0] * push[0] + A[1] * push[1] + A[2] * push[2];
    }
}

void ti_cone_turn_joint(ti_cone *k, const double *dx) {
    memcpy(k->d.x, dx, 3 * sizeof *dx);
    memset(k->d.w, 0, sizeof k->d.w);
    k->d.bound = k->host ? k->ratio * k->host->d.x[0] : 0;
    for (int s = 0; s < 2 && ti_cone_is_boxed(k); s++)
        k->d.side[s] += k->side[s] / left(k, s) * ((s ? -1 : 1) * dx[0] - k->d.bound);
    if (ti_cone_is_disk(k))
        k->d.side[0] += k->side[0] / left_of_disk(k) * (k->x[1] * dx[1] + k->x[2] * dx[2] - k->bound * k->d.bound);
}

static double longest_of_disk(const ti_cone *k, double a) {
    const double x[3] = {k->bound, k->x[1], k->x[2]}, dx[3] = {k->d.bound, k->d.x[1], k->d.x[2]};
    double most = ti_cone_longest(x, dx);
    if (most < a) a = most;
    return k->d.side[0] < 0 && -k->side[0] / k->d.side[0] < a ? -k->side[0] / k->d.side[0] : a;
}

double ti_cone_longest_joint(const ti_cone *k, double a) {
    if (ti_cone_is_disk(k)) return longest_of_disk(k, a);
    for (int s = 0; s < 2 && ti_cone_is_boxed(k); s++) {
        double change = k->d.bound + (s ? k->d.x[0] : -k->d.x[0]);
        if (change < 0 && -left(k, s) / change < a) a = -left(k, s) / change;
        if (k->d.side[s] < 0 && -k->side[s] / k->d.side[s] < a) a = -k->side[s] / k->d.side[s];
    }
    return a;
}

int ti_cone_gap_of_joint(const ti_cone *k, double a, double *sum) {
    if (ti_cone_is_disk(k)) {
        ti_cone at = *k;
        at.bound += a * k->d.bound, at.x[1] += a * k->d.x[1], at.x[2] += a * k->d.x[2];
        *sum += left_of_disk(&at) * (k->side[0] + a * k->d.side[0]);
        return 1;
    }
    if (!ti_cone_is_boxed(k)) return 0;
    for (int s = 0; s < 2; s++) {
        double change = k->d.bound + (s ? k->d.x[0] : -k->d.x[0]);
        *sum += (left(k, s) + a * change) * (k->side[s] + a * k->d.side[s]);
    }
    return 2;
}
