/* record.c -- derivatives of one recorded step as callers get them: checked before, and looked at after. */
#include "backward/backward.h"
#include "base/clones.h"
#include <float.h>
#include <math.h>

/* ---- what is absurd ---- */

/* The sum of |a_i b_i|; NaN where one of a is NaN or Inf and b finite. Eight at a time, which do not wait for another.
 */
TI_CLONES static double weigh(const double *a, const double *b, int n) {
    double sum[8] = {0};
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) sum[k] += fabs(a[i + k] * b[i + k]);
    for (; i < n; i++) sum[0] += fabs(a[i] * b[i]);
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

/* A cotangent of a state in units of what can be told apart: positions of an extent, rotations of a radian, and both a
 * step for velocities. */
static double size_of(const tribo_ws *ws, const double *bar) {
    return weigh(bar, ws->scratch->unit, ws->model->size.ndx);
}

/* A derivative so steep that a change of the state by a millionth of its units moves the next one by all of them is no
 * use: what a step is solved to, a thousandth of that millionth, moves it by a thousandth. docs/gradients.md, Where a
 * gradient misleads. */
static const double ABSURD = 1e6;

static bool is_absurd(const tribo_ws *ws, const ti_record_bar *bar, const double *p, double before) {
    const double most = before * ABSURD;
    return !(most < HUGE_VAL) || !(size_of(ws, bar->x) <= most) || !ti_finite(bar->u, (size_t)ws->model->size.nu) ||
           (bar->p && !(weigh(bar->p, p, ws->model->size.np) <= most));
}

/* Linear systems of a record that are solved no better than this leave a derivative that is not to be relied on. */
static const double UNRELIABLE = 1e-9;

static tribo_status judged(const tribo_ws *ws, tribo_status verdict) {
    return verdict == TRIBO_OK && !(ws->scratch->linear <= UNRELIABLE) ? TRIBO_DEGENERATE : verdict;
}

/* ---- reverse ---- */

/* The same of what a reverse begins with: impulses change the velocity of all that there is by its unit. */
static double size_of_seed(const tribo_ws *ws, const ti_frame *f, const ti_seed_bar *in) {
    double sum = 0, mass = 0, before = in->xnext ? size_of(ws, in->xnext) : 0;
    for (int i = 0; in->impulse && i < f->ncon; i++)
        for (int r = 0; f->con[i].kind == TI_CON_CONTACT && r < 3; r++) sum += fabs(in->impulse[3 * f->con[i].id + r]);
    for (int b = 0; sum > 0 && b < ws->model->size.nbody; b++) mass += ws->link[b].mass;
    return before + sum * mass * ws->scratch->unit_speed;
}

/* Whether some impulse has a cotangent. */
static bool asks(const ti_frame *f, const ti_seed_bar *in) {
    bool any = false;
    for (int i = 0; in->impulse && i < f->ncon; i++)
        for (int r = 0; f->con[i].kind == TI_CON_CONTACT && r < 3; r++)
            any = any || in->impulse[3 * f->con[i].id + r] != 0;
    return any;
}

static tribo_status reverse_into(tribo_ws *ws, const ti_frame *f, const double *p, const ti_seed_bar *in,
                                 const ti_record_bar *out) {
    const tribo_sizes *n = &ws->model->size;
    ti_scratch *s = ws->scratch;
    memset(s->x_row, 0, sizeof(double) * (size_t)n->ndx);
    memset(s->u_row, 0, sizeof(double) * (size_t)n->nu);
    s->linear = 0;
    if (out->p) memset(s->p_row, 0, sizeof(double) * (size_t)n->np);
    return ti_reverse(ws, f, p, in, s->x_row, s->u_row, out->p ? s->p_row : NULL);
}

tribo_status ti_record_reverse(tribo_ws *ws, const tribo_tape *tape, int k, const ti_seed_bar *in, bool params,
                               ti_record_bar *out) {
    ti_scratch *s = ws->scratch;
    ti_frame f;
    const double *p;
    tribo_status status = ti_restore(ws, tape, k, &f, &p), verdict = ti_tape_verdict(tape, k);
    f.by_answer = f.by_answer && (status != TRIBO_OK || !asks(&f, in));
    double before = status == TRIBO_OK ? size_of_seed(ws, &f, in) : 0;
    *out = (ti_record_bar){s->x_row, s->u_row, params ? s->p_row : NULL};
    if (status == TRIBO_OK) status = reverse_into(ws, &f, p, in, out);
    if (status == TRIBO_OK && !is_absurd(ws, out, p, before)) return judged(ws, verdict);
    if (status != TRIBO_OK || !(size_of(ws, out->x) < HUGE_VAL) || !ti_finite(s->u_row, (size_t)ws->model->size.nu) ||
        (params && !ti_finite(s->p_row, (size_t)ws->model->size.np))) {
        ti_break(ws, &f, p);
        (void)reverse_into(ws, &f, p, in, out);
    }
    return TRIBO_DEGENERATE;
}

static void add(double *to, const double *from, int n) {
    for (int i = 0; i < n; i++) to[i] += from[i];
}

tribo_status tribo_step_vjp(tribo_ws *ws, const tribo_tape *tape, int k, const double *xnext_bar, double *x_bar,
                            double *u_bar, double *p_bar) {
    return tribo_step_impulses_vjp(ws, tape, k, xnext_bar, NULL, x_bar, u_bar, p_bar);
}

tribo_status tribo_step_impulses_vjp(tribo_ws *ws, const tribo_tape *tape, int k, const double *xnext_bar,
                                     const double *impulse_bar, double *x_bar, double *u_bar, double *p_bar) {
    if (!ws || !tape || !xnext_bar || !x_bar || k < 0 || k >= tribo_tape_steps(tape)) return TRIBO_E_ARG;
    tribo_status status = ti_tape_fits(tape, ws);
    if (status != TRIBO_OK) return status;
    const tribo_sizes *n = &ws->model->size;
    size_t impulses = impulse_bar ? 3 * (size_t)tribo_tape_contacts(tape, k, NULL) : 0;
    if (!ti_finite(xnext_bar, (size_t)n->ndx) || !ti_finite(impulse_bar, impulses)) return TRIBO_E_NONFINITE;
    ti_record_bar bar;
    status = ti_record_reverse(ws, tape, k, &(ti_seed_bar){xnext_bar, impulse_bar}, p_bar != NULL, &bar);
    add(x_bar, bar.x, n->ndx);
    if (u_bar) add(u_bar, bar.u, n->nu);
    if (p_bar) add(p_bar, bar.p, n->np);
    return status;
}

/* ---- forward ---- */

/* The checks that both directions of a record begin with, and the record laid open. */
static tribo_status open_record(tribo_ws *ws, const tribo_tape *tape, int k, ti_frame *f, const double **p) {
    if (!ws || !tape || k < 0 || k >= tribo_tape_steps(tape)) return TRIBO_E_ARG;
    tribo_status status = ti_tape_fits(tape, ws);
    if (status != TRIBO_OK) return status;
    ti_tape_expect(tape, k);
    return ti_restore(ws, tape, k, f, p);
}

static bool finite_or_null(const double *a, int n, int width) {
    return !a || ti_finite(a, (size_t)n * (size_t)width);
}

static const double *rows_from(const double *a, int j, int width) {
    return a ? a + (size_t)j * (size_t)width : NULL;
}

tribo_status tribo_step_jvp(tribo_ws *ws, const tribo_tape *tape, int k, int ndir, const double *x_dot,
                            const double *u_dot, const double *p_dot, double *xnext_dot) {
    ti_frame f;
    const double *p;
    if (!xnext_dot || ndir < 0) return TRIBO_E_ARG;
    tribo_status status = open_record(ws, tape, k, &f, &p);
    if (status != TRIBO_OK) return status;
    const tribo_sizes *n = &ws->model->size;
    if (!finite_or_null(x_dot, ndir, n->ndx) || !finite_or_null(u_dot, ndir, n->nu) ||
        !finite_or_null(p_dot, ndir, n->np))
        return TRIBO_E_NONFINITE;
    tribo_status verdict = ti_tape_verdict(tape, k);
    ws->scratch->linear = 0;
    double *result = ws->scratch->seed + 2 * n->ndx + n->nu + n->np; /* x_dot may be xnext_dot */
    for (int j = 0; j < ndir; j += ws->directions) {
        int rows = ndir - j < ws->directions ? ndir - j : ws->directions;
        size_t size = (size_t)rows * (size_t)n->ndx;
        for (int try = 0; try < 2; try++) {
            status = ti_forward(ws, &f, p, rows, rows_from(x_dot, j, n->ndx), rows_from(u_dot, j, n->nu),
                                rows_from(p_dot, j, n->np), result);
            if (status == TRIBO_OK && ti_finite(result, size)) break;
            ti_break(ws, &f, p);
            verdict = TRIBO_DEGENERATE;
        }
        memcpy(xnext_dot + (size_t)j * (size_t)n->ndx, result, size * sizeof *result);
    }
    return judged(ws, verdict);
}

tribo_status tribo_step_jac(tribo_ws *ws, const tribo_tape *tape, int k, double *A, double *B, double *C) {
    ti_frame f;
    const double *p;
    tribo_status status = open_record(ws, tape, k, &f, &p);
    if (status != TRIBO_OK) return status;
    const tribo_sizes *n = &ws->model->size;
    ws->scratch->linear = 0;
    for (int try = 0; try < 2; try++) {
        status = ti_jacobians(ws, &f, p, A, B, C);
        if (status == TRIBO_OK && finite_or_null(A, n->ndx, n->ndx) && finite_or_null(B, n->ndx, n->nu) &&
            finite_or_null(C, n->ndx, n->np))
            return try ? TRIBO_DEGENERATE : judged(ws, ti_tape_verdict(tape, k));
        ti_break(ws, &f, p);
    }
    return TRIBO_DEGENERATE;
}

tribo_status ti_record_along(tribo_ws *ws, const tribo_tape *tape, int k, double *A, int n, const double *p_dot,
                             double *C) {
    ti_frame f;
    const double *p;
    tribo_status status = open_record(ws, tape, k, &f, &p);
    if (status != TRIBO_OK) return status;
    int ndx = ws->model->size.ndx;
    ws->scratch->linear = 0;
    status = ti_jacobian_along(ws, &f, p, A, n, p_dot, C);
    if (status == TRIBO_OK && finite_or_null(A, ndx, ndx) && finite_or_null(C, n, ndx))
        return judged(ws, ti_tape_verdict(tape, k));
    status = tribo_step_jac(ws, tape, k, A, NULL, NULL);
    return status < 0 ? status : tribo_step_jvp(ws, tape, k, n, NULL, NULL, p_dot, C);
}
