/* swings.c -- angles that no column contradicts: degrees and names of hinges and slides, by what the scene predicts
 * from each row for the next ones. That one lags behind shows too little over so few rows. */
#include "recording/predict.h"
#include "recording/questions.h"

static const double degrees = 57.29577951308232;

/* Numbers of a scene are what is to be found: beside one with other masses or friction every reading misses. A reading
 * is another one's where it misses much less. */
static bool convinces(double now, double least) {
    return ti_predict_convinces(now, least) && least < 0.6 * now;
}

static void fresh(tribo_checked *c) {
    memcpy(c->y, c->x, (size_t)c->n * (size_t)c->z.nx * sizeof *c->y);
}

static double *number(const tribo_checked *c, double *x, int k, int joint, bool rate) {
    const ti_joint *j = &c->m->joint[joint];
    return x + (size_t)k * (size_t)c->z.nx + (rate ? c->z.nq + j->v : j->q);
}

static bool turns(const tribo_checked *c, int joint) {
    return c->m->joint[joint].kind == TI_JOINT_HINGE;
}

static double try_degrees(tribo_checked *c, double now) {
    for (int pass = 0; pass < 2; pass++) {
        if (!pass) fresh(c);
        for (int i = 0; i < c->z.njoint; i++)
            for (int k = 0; k < c->n && turns(c, i); k++) {
                *number(c, pass ? c->x : c->y, k, i, false) /= degrees;
                *number(c, pass ? c->x : c->y, k, i, true) /= degrees;
            }
        double least = pass ? now : ti_predict_total(c, c->y, now);
        if (!pass && !convinces(now, least)) return now;
        now = least;
    }
    ti_found(c, TRIBO_CONVENTION_ANGULAR, TRIBO_OUTCOME_MENDED, -1, -1, 1 / degrees,
             "angles are in degrees: only so do the joints move as the scene does; taken as degrees");
    return now;
}

static void exchange(tribo_checked *c, double *x, int a, int b) {
    for (int k = 0; k < c->n; k++)
        for (int rate = 0; rate < 2; rate++) {
            double *one = number(c, x, k, a, rate), *two = number(c, x, k, b, rate), keep = *one;
            *one = *two, *two = keep;
        }
}

static double try_names(tribo_checked *c, int a, int b, double now) {
    if (turns(c, a) != turns(c, b)) return now;
    fresh(c);
    exchange(c, c->y, a, b);
    double least = ti_predict_total(c, c->y, now);
    if (!convinces(now, least)) return now;
    exchange(c, c->x, a, b);
    ti_found(c, TRIBO_CONVENTION_NAMES, TRIBO_OUTCOME_MENDED, c->m->joint[a].body, -1, 1,
             "%s and %s have each other's name: only so do they move as the scene does; exchanged", c->m->joint[a].name,
             c->m->joint[b].name);
    return least;
}

void ti_check_swings(tribo_checked *c) {
    double now = ti_predict_total(c, c->x, HUGE_VAL);
    if (isnan(now)) return;
    now = try_degrees(c, now);
    for (int a = 0; a < c->z.njoint; a++)
        for (int b = a + 1; b < c->z.njoint; b++) now = try_names(c, a, b, now);
}
