/* gain.c -- what a step with impacts makes of energy. docs/math.md eq. (465). */
#include "forward/gyro.h"

/* Kinetic energy of a block by v + share of shift, and turn, of a free body's spin. */
static double energy_of(const tribo_ws *ws, int b, const double *v, double share, const double *shift, ti_vec turn) {
    const double *M = ws->M + ws->at_M[b];
    double sum = 0, *u = ws->V;
    int w = ws->width[b];
    for (int r = 0; r < w; r++) u[r] = v[r] + share * shift[r];
    if (w == TI_FREE_NV) ti_add3(u + 3, turn);
    for (int r = 0; r < w; r++)
        for (int c = 0; c < w; c++) sum += 0.5 * u[r] * M[w * r + c] * u[c];
    return sum;
}

/* What a step makes of the energy of bodies that push one another. */
typedef struct ledger {
    double gain[2]; /* with velocities as those of the displacement, and as those in the middle of the step */
    double size;    /* of what it is the sum of */
    double lift;    /* of it by displacements that are not the velocities' */
    double weight;  /* of the forces of the step, N */
    double depth;   /* of its contacts before the step, together, m */
    double asked;   /* what overlaps ask for, and get */
    bool stays;     /* whether a contact of it stays */
} ledger;

static void add_block(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int b, ledger *e) {
    const double dt = ws->options.dt;
    int at = ws->at_v[b];
    double *forced = ws->kick, *push = ws->V;
    ti_vec turn[2] = {{0, 0, 0}, {0, 0, 0}};
    ti_gyro g;
    for (int j = 0; j < ws->width[b]; j++) forced[j] = ws->vfree[at + j] - ws->vnow[at + j];
    if (ti_gyro_of(ws, f, is, b, &g)) { /* which do no work, each by its own spin: until the impact, and from there */
        ti_add3(forced + 3, ti_scale(-dt, g.rate));
        turn[0] = ti_scale(dt - g.late, g.rate), turn[1] = ti_scale(-1, g.gain);
    }
    ti_motion_times(&ws->motion, f->blk_tree[b], forced, push);
    for (int j = 0; j < ws->width[b]; j++) {
        double more = ti_displaced(f, is, at + j), work = push[j] / dt * (ti_carried(ws, f, b, j) + more);
        e->gain[0] -= work, e->gain[1] -= work, e->size += fabs(work), e->lift -= push[j] / dt * more;
    }
    e->weight += ws->heft[b] * ti_motion_moved(&ws->motion, f->blk_tree[b], forced) / dt;
    for (int half = 0; half < 2; half++) {
        double come = energy_of(ws, b, ws->vnow + at, 0.5 * half, forced, turn[0]);
        double go = energy_of(ws, b, f->v + at, 0.5 * half, forced, turn[1]);
        e->gain[half] += go - come, e->size += go + come;
    }
}

/* One that pushes without an impact holds its bodies, and so does what cannot open. */
static void add_contact(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, ledger *e) {
    const ti_con *c = &f->con[i];
    double push = ti_max(f->lambda[3 * i + 2], 0);
    e->asked += ti_max(-ws->ref[3 * i + 2] - (f->con[i].yields ? ws->R[3 * i + 2] * push : 0), 0) * push;
    e->stays = e->stays || !ti_con_opens(c) || (push > 0 && !ti_frame_is_hit(f, is, i));
}

/* Of a group of ti_impact_times(). */
static ledger sum_up(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int group) {
    ledger e = {{0}, 0, 0, 0, 0, 0, false};
    for (int b = 0; b < is->nblk; b++)
        if (ti_root(ws->root, b) == group) add_block(ws, f, is, is->blk0 + b, &e);
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        bool one = ti_root(ws->root, ws->blk_a[i]) == group;
        bool other = ws->blk_b[i] >= 0 && ti_root(ws->root, ws->blk_b[i]) == group;
        if (one) add_contact(ws, f, is, i, &e);
        if (one || other) e.depth += ti_con_depth(&f->con[i]);
    }
    return e;
}

/* Beyond what solutions leave, and of displacements that take overlap back. */
static const double GAIN = 1e-7, RECOVERED = 1e-10;

bool ti_impact_gains(tribo_ws *ws, const ti_frame *f, int k) {
    const ti_island *is = &f->island[k];
    bool recovers = is->phase[TI_RECOVER].npoint > 0, velocities = !recovers && is->phase[TI_TIMING].npoint == 0;
    ti_impact_times(ws, f, k);
    for (int group = 0; group < is->nblk; group++) {
        if (ti_root(ws->root, group) != group) continue;
        ledger e = sum_up(ws, f, is, group);
        double gain = e.stays ? ti_min(e.gain[0], e.gain[1]) : e.gain[1];
        double may = recovers ? e.asked + e.weight * e.depth + RECOVERED * e.size : e.asked + GAIN * e.size;
        if ((velocities || e.lift > 0) && gain > may) return true;
    }
    return false;
}
