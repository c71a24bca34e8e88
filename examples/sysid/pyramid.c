/* pyramid.c -- friction identified with the exact cone and with pyramids, from slides in every direction.
 *
 * The recording: a cube that slides under Coulomb's cone, in closed form, x_k = v0 k h - mu g h^2 k (k + 1) / 2 along
 * the slide. The engine has the same cone and finds mu in each direction. Two linearized laws, here a point mass with
 * the friction of each facet in closed form, find something else:
 *
 *   box      |f_x|, |f_y| <= mu N      its corner, at 45 degrees, is sqrt(2) mu N away: what it needs to slow the slide
 *                                      as recorded is mu / sqrt(2)
 *   diamond  |f_x| + |f_y| <= mu N     the middle of its side is mu N / sqrt(2) away: it needs sqrt(2) mu
 *
 * usage: pyramid [FOLDER]      then FOLDER/pyramid.svg */
#include "example.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 600, ANGLES = 37, NX = 13, NDX = 12 };
static const double speed = 2, truth = 0.2, g = 9.81, h = 1e-3;

typedef struct engine {
    tribo_model *m;
    tribo_ws *ws;
    tribo_tape *tape;
    double *p, *p_bar, *X, *lx;
    int friction;
} engine;

/* Friction on a point mass that moves with velocity v, as a change of velocity of at most r = mu g h along an axis.
 * @param dv [out] the change. @param slope [out] its derivatives with respect to r and v: (2,3) */
typedef void law(const double *v, double r, double *dv, double *slope);

static void box(const double *v, double r, double *dv, double *slope) {
    memset(slope, 0, 6 * sizeof *slope);
    for (int i = 0; i < 2; i++) {
        bool slides = fabs(v[i]) > r;
        dv[i] = slides ? -copysign(r, v[i]) : -v[i];
        slope[3 * i] = slides ? -copysign(1, v[i]) : 0;
        slope[3 * i + 1 + i] = slides ? 0 : -1;
    }
}

/* The point of the diamond that is nearest to -v. */
static void diamond(const double *v, double r, double *dv, double *slope) {
    double a = fabs(v[0]), b = fabs(v[1]), s[2] = {copysign(1, v[0]), copysign(1, v[1])};
    int large = a < b;
    memset(slope, 0, 6 * sizeof *slope);
    if (a + b <= r) {
        dv[0] = -v[0], dv[1] = -v[1], slope[1] = slope[5] = -1;
    } else if (fabs(a - b) >= r) {
        dv[large] = -s[large] * r, dv[!large] = 0, slope[3 * large] = -s[large];
    } else {
        dv[0] = -s[0] * (a - b + r) / 2, dv[1] = -s[1] * (b - a + r) / 2;
        slope[0] = -s[0] / 2, slope[3] = -s[1] / 2, slope[1] = slope[5] = -0.5, slope[2] = slope[4] = s[0] * s[1] / 2;
    }
}

static double recorded(int k) {
    return speed * k * h - truth * g * h * h * k * (k + 1) / 2;
}

/* Half the squared distance of a slide under `f` to the recorded one, differentiated with respect to mu. */
static double slope_of_law(law *f, const double *direction, double mu) {
    double x[2] = {0}, v[2] = {speed * direction[0], speed * direction[1]}, dx[2] = {0}, dvel[2] = {0}, slope = 0;
    for (int k = 1; k <= STEPS; k++) {
        double change[2], s[6], before[2] = {dvel[0], dvel[1]};
        f(v, mu * g * h, change, s);
        for (int i = 0; i < 2; i++) {
            dvel[i] += s[3 * i] * g * h + s[3 * i + 1] * before[0] + s[3 * i + 2] * before[1];
            v[i] += change[i], x[i] += h * v[i], dx[i] += h * dvel[i];
            slope += (x[i] - recorded(k) * direction[i]) * dx[i];
        }
    }
    return slope;
}

/* The same for the engine, by its reverse pass. */
static double slope_of_engine(engine *e, const double *direction, double mu) {
    tribo_model_state0(e->m, e->X);
    for (int i = 0; i < 2; i++) e->X[7 + i] = speed * direction[i];
    e->p[e->friction] = mu, e->p_bar[e->friction] = 0;
    tribo_tape_rewind(e->tape);
    need(tribo_rollout(e->ws, e->p, e->X, STEPS, NULL, e->X, e->tape), "rollout");
    for (int k = 1; k <= STEPS; k++)
        for (int i = 0; i < 2; i++) e->lx[k * NDX + i] = e->X[k * NX + i] - recorded(k) * direction[i];
    need(tribo_backward(e->ws, e->tape, e->lx, NULL, NULL, e->p_bar), "reverse");
    return e->p_bar[e->friction];
}

/* Where the slope vanishes, by secants from two starts. */
static double identify(engine *e, law *f, double angle) {
    double d[2] = {cos(angle), sin(angle)}, a = 0.1, b = 0.15;
    double fa = f ? slope_of_law(f, d, a) : slope_of_engine(e, d, a);
    for (int i = 0; i < 50 && fabs(b - a) > 1e-14; i++) {
        double fb = f ? slope_of_law(f, d, b) : slope_of_engine(e, d, b), next = b - fb * (b - a) / (fb - fa);
        a = b, fa = fb, b = isfinite(next) ? next : b;
    }
    return b;
}

int main(int argc, char **argv) {
    engine e = {.m = scene("slide")};
    double angle[ANGLES], found[3][ANGLES], worst = 0;
    need(tribo_ws_new(e.m, NULL, NULL, &e.ws, NULL), "workspace");
    need(tribo_tape_new(e.ws, STEPS, 0, &e.tape), "tape");
    e.friction = parameter(e.m, "floor/friction");
    e.p = numbers(tribo_model_sizes(e.m).np), e.p_bar = numbers(tribo_model_sizes(e.m).np);
    e.X = numbers((STEPS + 1) * NX), e.lx = numbers((STEPS + 1) * NDX);
    tribo_model_params(e.m, e.p);

    law *const laws[3] = {NULL, box, diamond};
    for (int i = 0; i < ANGLES; i++) {
        angle[i] = 90. * i / (ANGLES - 1);
        for (int k = 0; k < 3; k++) found[k][i] = identify(&e, laws[k], angle[i] * M_PI / 180);
        worst = fmax(worst, fabs(found[0][i] - truth));
    }
    int middle = ANGLES / 2;
    printf("cone_worst_error %.2g\nbox_at_0 %.9f\nbox_at_45 %.9f\ndiamond_at_0 %.9f\ndiamond_at_45 %.9f\n", worst,
           found[1][0], found[1][middle], found[2][0], found[2][middle]);
    plot_series s[3] = {{"exact cone", angle, found[0], ANGLES, PLOT_LINE_DOTS, 0},
                        {"|fx|, |fy| <= mu N", angle, found[1], ANGLES, PLOT_LINE_DOTS, 0},
                        {"|fx| + |fy| <= mu N", angle, found[2], ANGLES, PLOT_LINE_DOTS, 0}};
    plot p = {.title = "Friction identified from a slide (truth 0.2)",
              .x_label = "direction of the slide (degrees)",
              .y_label = "mu",
              .series = s,
              .nseries = 3};
    figure(&p, argc > 1 ? argv[1] : NULL, "pyramid");
    free(e.p), free(e.p_bar), free(e.X), free(e.lx);
    tribo_tape_free(e.tape), tribo_ws_free(e.ws), tribo_model_free(e.m);
    return 0;
}
