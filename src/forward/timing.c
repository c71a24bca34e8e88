/* timing.c -- when the impacts of a step are, and what their times make of the displacements. docs/math.md, Impacts. */
#include "forward/frame.h"

double ti_impact_velocity(const ti_frame *f, const ti_island *is, double share, int j) {
    double hit = f->phase[TI_IMPACT].v[TI_SOLVED][j];
    if (is->phase[TI_REBOUND].npoint == 0) return hit;
    return hit + share * (f->phase[TI_REBOUND].v[TI_SOLVED][j] - hit);
}

double ti_impact_impulse(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, int r) {
    double l = f->phase[TI_IMPACT].lambda[TI_SOLVED][3 * i + r];
    if (ti_con_spins(&f->con[i])) return 0;
    if (is->phase[TI_REBOUND].npoint > 0)
        l += is->share * (f->phase[TI_REBOUND].lambda[TI_SOLVED][3 * i + r] + (r == 2 ? ws->give[i] : 0));
    return l;
}

/* Whether a contact pushes in the impact or after it. */
static bool transmits(const ti_frame *f, const ti_island *is, int i) {
    for (ti_phase phase = TI_IMPACT; phase <= TI_AFTER; phase++)
        if (is->phase[phase].npoint > 0 && f->phase[phase].mode[i] != TRIBO_BREAK) return true;
    return false;
}

/* Bodies that push each other in the impact move as before until the mean time of the impacts among them: so none moves
 * by more than its velocities before and after, and what is held stays held. */
void ti_impact_times(tribo_ws *ws, const ti_frame *f, int k) {
    const ti_island *is = &f->island[k];
    int *root = ws->root;
    double *sum = ws->time + is->blk0, *weight = ws->weight;
    for (int b = 0; b < is->nblk; b++) root[b] = b, sum[b] = weight[b] = 0;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        if (transmits(f, is, i) && ws->blk_b[i] >= 0) ti_unite(root, ws->blk_a[i], ws->blk_b[i]);
    }
    for (int i = is->con0 + is->nhold; i < is->con0 + is->ncon; i++) {
        int r = ti_root(root, ws->blk_a[i]);
        double l = ti_impact_impulse(ws, f, is, i, 2);
        if (l > 0) sum[r] += l * f->con[i].tau, weight[r] += l;
    }
    for (int b = 0; b < is->nblk; b++) {
        int r = ti_root(root, b); /* the lowest of its group: seen first */
        if (r == b)
            sum[b] = weight[b] > 0 ? sum[b] / weight[b] : 0;
        else
            sum[b] = sum[r], weight[b] = weight[r];
    }
}

double ti_impact_jump(const tribo_ws *ws, const ti_frame *f, int i) {
    return ti_row_velocity(ws, f, i, 2, f->v) - ti_row_velocity(ws, f, i, 2, f->phase[TI_HOLD].v[TI_SOLVED]);
}

/* A displacement that moves each contact by what its own time makes of its jump beyond what the mean does, and those
 * that transmit by nothing: ref = (tau - time) jump. @return whether any body is hit more than once. */
static bool pose_timing(tribo_ws *ws, const ti_frame *f, int k, unsigned char *mode) {
    const ti_island *is = &f->island[k];
    bool several = false;
    ti_impact_times(ws, f, k);
    for (int b = 0; b < is->nblk; b++) ws->weight[b] = 0; /* whether a group was met */
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        double *ref = ws->ref_time + 3 * i;
        bool acts = transmits(f, is, i);
        ref[0] = ref[1] = ref[2] = 0;
        if (mode) mode[i] = acts ? TRIBO_SLIDE : TRIBO_BREAK;
        if (!acts || i < is->con0 + is->nhold || ti_con_spins(&f->con[i])) continue;
        int r = ws->root[ws->blk_a[i]];
        several = several || ws->weight[r] > 0;
        ws->weight[r] = 1;
        ref[2] = (f->con[i].tau - ws->time[is->blk0 + r]) * ti_impact_jump(ws, f, i);
    }
    return several;
}

void ti_timing_pose(tribo_ws *ws, const ti_frame *f, int k) {
    if (f->island[k].phase[TI_TIMING].npoint > 0) pose_timing(ws, f, k, NULL);
}

/* Whether times of their own move a body of the island by more than its speeds and the forces of the step allow: bodies
 * that push one another by several contacts may have no displacement that gives each its time. */
static bool goes_too_far(tribo_ws *ws, const ti_frame *f, int k) {
    const ti_island *is = &f->island[k];
    double dt = ws->options.dt;
    const double *own = f->phase[TI_TIMING].v[TI_SOLVED], *before = f->phase[TI_HOLD].v[TI_SOLVED];
    ti_impact_times(ws, f, k);
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        int at = ws->at_v[b], t = f->blk_tree[b];
        double *moved = ws->V, *forced = ws->kick;
        for (int j = 0; j < ws->width[b]; j++) {
            double late = ws->time[b] * (f->v[at + j] - before[at + j]);
            moved[j] = dt * f->v[at + j] - late + is->pace[TI_TIMING] * own[at + j];
            forced[j] = ws->vfree[at + j] - ws->vnow[at + j];
        }
        double speeds = ti_motion_moved(&ws->motion, t, ws->vnow + at) + ti_motion_moved(&ws->motion, t, f->v + at) +
                        ti_motion_moved(&ws->motion, t, forced);
        if (ti_motion_moved(&ws->motion, t, moved) > dt * speeds) return true;
    }
    return false;
}

/* Kinetic energy of a block by v + share of shift. */
static double energy_of(const tribo_ws *ws, int b, const double *v, double share, const double *shift) {
    const double *M = ws->M + ws->at_M[b];
    double sum = 0;
    for (int r = 0, w = ws->width[b]; r < w; r++)
        for (int c = 0; c < w; c++) sum += 0.5 * (v[r] + share * shift[r]) * M[w * r + c] * (v[c] + share * shift[c]);
    return sum;
}

/* What a step makes of the energy of bodies that push one another. */
typedef struct ledger {
    double gain[2]; /* with velocities as those of the displacement, and as those in the middle of the step */
    double size;    /* of what it is the sum of */
    double lift;    /* of it by times of their own */
    double asked;   /* what overlaps ask for, and get */
} ledger;

static void add_block(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int b, ledger *e) {
    const double *before = f->phase[TI_HOLD].v[TI_SOLVED], dt = ws->options.dt;
    const double *own = is->phase[TI_TIMING].npoint > 0 ? f->phase[TI_TIMING].v[TI_SOLVED] : NULL;
    int at = ws->at_v[b];
    double *forced = ws->kick, *push = ws->V;
    for (int j = 0; j < ws->width[b]; j++) forced[j] = ws->vfree[at + j] - ws->vnow[at + j];
    ti_motion_times(&ws->motion, f->blk_tree[b], forced, push);
    for (int j = 0; j < ws->width[b]; j++) {
        double late = ws->time[b] * (f->v[at + j] - before[at + j]), more = own ? is->pace[TI_TIMING] * own[at + j] : 0;
        double work = push[j] / dt * (dt * f->v[at + j] - late + more);
        e->gain[0] -= work, e->gain[1] -= work, e->size += fabs(work), e->lift -= push[j] / dt * more;
    }
    for (int half = 0; half < 2; half++) {
        double come = energy_of(ws, b, ws->vnow + at, 0.5 * half, forced);
        double go = energy_of(ws, b, f->v + at, 0.5 * half, forced);
        e->gain[half] += go - come, e->size += go + come;
    }
}

/* Beyond what solutions leave. */
static const double GAIN = 1e-7;

bool ti_impact_gains(tribo_ws *ws, const ti_frame *f, int k) {
    const ti_island *is = &f->island[k];
    ti_impact_times(ws, f, k);
    for (int b = 0; b < is->nblk; b++) ws->root[b] = ti_root(ws->root, b);
    for (int group = 0; group < is->nblk; group++) {
        ledger e = {{0, 0}, 0, 0, 0};
        for (int b = 0; b < is->nblk; b++)
            if (ws->root[b] == group) add_block(ws, f, is, is->blk0 + b, &e);
        for (int i = is->con0; i < is->con0 + is->ncon; i++)
            if (ws->root[ws->blk_a[i]] == group)
                e.asked += ti_max(-ws->ref[3 * i + 2], 0) * ti_max(f->lambda[3 * i + 2], 0);
        bool by_times = is->phase[TI_TIMING].npoint == 0 || e.lift > 0;
        if (by_times && ti_min(e.gain[0], e.gain[1]) > e.asked + GAIN * e.size) return true;
    }
    return false;
}

tribo_status ti_island_timing(tribo_ws *ws, ti_frame *f, int k) {
    ti_island *is = &f->island[k];
    if (is->phase[TI_IMPACT].npoint == 0) return TRIBO_OK;
    if (!pose_timing(ws, f, k, f->phase[TI_TIMING].mode)) return TRIBO_OK;
    ti_contact_problem problem = ti_step_problem(ws, f, k, TI_TIMING);
    ti_contact_solution s = ti_frame_solution(f, k, TI_TIMING);
    tribo_status status = ti_contact_solve_soft(ws->contact, &problem, 1e-6, true, &s);
    if (status != TRIBO_OK) return status < 0 ? status : TRIBO_OK; /* without it the mean serves */
    ti_phase_keep(is, TI_TIMING, &s);
    is->pace[TI_TIMING] = ti_pace_share(ws, f, k, TI_TIMING);
    if (goes_too_far(ws, f, k) || ti_impact_gains(ws, f, k))
        is->phase[TI_TIMING].npoint = 0, ws->info.ndegenerate++, ws->info.margin = 0;
    return TRIBO_OK;
}
