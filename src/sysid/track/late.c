/* late.c -- a step in which bodies are hit that others hold: docs/math.md eq. (473).
 *
 * A velocity is that of the middle of a step, and what holds a body in the one before has it until the impact, what
 * holds it then from there on. A step gives all of its forces to the motion after the impact: friction brakes what
 * rested until then for too long, by as much as a step and by half of one in the mean. So impulses of contacts before
 * and after are given their own time. Derivatives are those of that time, of the rest to first order in the step.
 */
#include "forward/frame.h"
#include "sysid/track/fit.h"

/* Do contacts hold a body of an island where others are hit, at times of their own? What lands has had its time. */
static bool is_late(const ti_frame *f, const ti_island *is) {
    bool held = false;
    if (is->phase[TI_IMPACT].npoint == 0 || is->prompt) return false;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        if (f->con[i].kind != TI_CON_CONTACT || f->con[i].lands) return false;
        held |= i < is->con0 + is->nhold && f->phase[TI_HOLD].mode[i] != TRIBO_BREAK;
    }
    return held;
}

/* row (nv): of velocities or displacements before, how much earlier it is hit. @return false where nothing comes. */
static bool time_row(const tribo_ws *ws, const ti_island *is, int nv, double *row) {
    const ti_frame *f = &ws->frame;
    double weight = 0;
    for (int i = is->con0 + is->nhold; i < is->con0 + is->ncon; i++) {
        double l = ti_impact_push(ws, f, is, i), speed = -ti_row_velocity(ws, f, i, 2, ws->vnow);
        if (!(l > 0 && speed > 0)) continue;
        weight += l;
        for (int side = 0; side < 2; side++) {
            const double *J = ti_frame_rows(ws, f, i, side);
            int body = side ? f->con[i].b : f->con[i].a;
            for (int j = 0; J && j < TI_TWIST; j++)
                row[ws->model->tree[ws->model->body[body].tree].v + j] += l / speed * J[2 * TI_TWIST + j];
        }
    }
    for (int j = 0; j < nv && weight > 0; j++) row[j] /= weight;
    return weight > 0;
}

bool ti_late_make(ti_worker *w, const tribo_ws *made) {
    const ti_frame *f = &made->frame;
    ti_late *late = &w->late;
    const double *before = f->phase[TI_HOLD].v[TI_SOLVED];
    double h = made->options.dt, *v = w->x + w->s->z.nq;
    int nv = w->s->z.nv;
    late->n = 0;
    for (int k = 0; k < f->nisland && late->n < TI_LATE_MAX; k++) {
        const ti_island *is = &f->island[k];
        double *row = late->row + (size_t)late->n * (size_t)nv, *rate = late->rate + (size_t)late->n * (size_t)nv;
        if (!is_late(f, is)) continue;
        memset(row, 0, (size_t)nv * sizeof *row), memset(rate, 0, (size_t)nv * sizeof *rate);
        if (!time_row(made, is, nv, row)) continue;
        late->time[late->n++] = made->time[is->blk0];
        for (int b = is->blk0; b < is->blk0 + is->nblk; b++)
            for (int j = 0, at = made->at_v[b]; j < made->width[b]; j++, at++) {
                int to = w->s->m->tree[f->blk_tree[b]].v + j;
                rate[to] = (before[at] - made->vfree[at] - (f->v[at] - made->v_after[at])) / h;
                v[to] += (made->time[b] + h / 2) * rate[to];
            }
    }
    return late->n > 0;
}

void ti_late_jac(const ti_worker *w, double *A) {
    const ti_late *late = &w->late;
    size_t nv = (size_t)w->s->z.nv, ndx = (size_t)w->s->z.ndx;
    for (int k = 0; k < late->n; k++)
        for (size_t i = 0; i < nv; i++) {
            double rate = late->rate[(size_t)k * nv + i], *to = A + (nv + i) * ndx;
            for (size_t j = 0; j < nv && rate != 0; j++) {
                double by = rate * late->row[(size_t)k * nv + j];
                to[j] += by, to[nv + j] += late->time[k] * by;
            }
        }
}
