/* impact.c -- what happens where bodies hit inside a step: compression and rebound, or Newton's law; the times that
 * displacements take. docs/math.md, Impacts. */
#include "forward/gyro.h"

/* The speed along the normal of contact i that the forces of the step give its bodies, one as though it went against
 * the other: bodies that fall together are brought together by whatever holds one of them. */
static double forced_speed(const tribo_ws *ws, const ti_frame *f, int i) {
    double sum = 0;
    for (int side = 0; side < 2; side++)
        sum += fabs(ti_side_velocity(ws, f, i, side, 2, ws->vfree) - ti_side_velocity(ws, f, i, side, 2, ws->vnow));
    return sum;
}

/* What a contact that holds asks of the velocity in an impact. */
static double held_reference(const tribo_ws *ws, const ti_frame *f, int k, int i) {
    return f->con[i].yields ? ti_impact_reference(ws, f, k, i).ref : ws->ref[3 * i + 2];
}

/* Whether a contact that stays is hit in this step, faster than acceleration brings it there: then the velocity without
 * the impacts has a jump, which is no acceleration to reckon times with. */
static bool is_struck(const tribo_ws *ws, const ti_frame *f, int k, int i) {
    if (!ti_con_opens(&f->con[i])) return false;
    double now = ti_row_velocity(ws, f, i, 2, ws->vnow);
    return f->phase[TI_HOLD].mode[i] != TRIBO_BREAK && now + held_reference(ws, f, k, i) < -forced_speed(ws, f, i);
}

bool ti_island_is_struck(const tribo_ws *ws, const ti_frame *f, const ti_island *is) {
    for (int i = is->con0; i < is->con0 + is->nhold; i++)
        if (is_struck(ws, f, (int)(is - f->island), i)) return true;
    return false;
}

void ti_impact_motions(const tribo_ws *ws, ti_frame *f, int k) {
    ti_island *is = &f->island[k];
    const double *v = f->phase[TI_HOLD].v[TI_SOLVED];
    is->prompt = is->prompt || ti_island_is_struck(ws, f, is);
    for (int i = is->con0 + is->nhold; i < is->con0 + is->ncon; i++) {
        ti_con *c = &f->con[i];
        c->uf = ti_row_velocity(ws, f, i, 2, v);
        c->an = is->prompt ? 0 : (c->uf - ti_row_velocity(ws, f, i, 2, ws->vnow)) / ws->options.dt;
        c->tau = ti_frame_impact(ws, c).tau;
    }
}

static bool is_newton(const ti_island *is) {
    return is->impact == TRIBO_IMPACT_NEWTON;
}

bool ti_impact_parted(const tribo_ws *ws, const ti_frame *f, int k, int i) {
    const ti_island *is = &f->island[k];
    return ti_con_opens(&f->con[i]) && !is->prompt && i < is->con0 + is->nhold &&
           f->phase[TI_HOLD].mode[i] == TRIBO_BREAK &&
           ti_row_velocity(ws, f, i, 2, f->phase[TI_HOLD].v[TI_SOLVED]) > ti_row_velocity(ws, f, i, 2, ws->vnow);
}

double ti_impact_acceleration(const tribo_ws *ws, const ti_frame *f, int k, int i, int r) {
    if (f->island[k].prompt) return 0;
    double without = ti_hit_velocity(ws, f, i, r, f->phase[TI_HOLD].v[TI_SOLVED]);
    return (without - ti_hit_velocity(ws, f, i, r, ws->vnow)) / ws->options.dt;
}

double ti_impact_late(const tribo_ws *ws, const ti_frame *f, int k, int i, int r) {
    int host = ti_con_host(f, i); /* friction against turning comes when its contact does */
    if (host >= f->island[k].con0 + f->island[k].nhold)
        return ti_impact_acceleration(ws, f, k, i, r) * ti_frame_impact(ws, &f->con[host]).span;
    if (host < i || r < 2 || !ti_impact_parted(ws, f, k, i)) return 0;
    return ti_row_velocity(ws, f, i, 2, f->phase[TI_HOLD].v[TI_SOLVED]) - ti_row_velocity(ws, f, i, 2, ws->vnow);
}

double ti_impact_approach(const tribo_ws *ws, const ti_frame *f, int k, int i) {
    if (ti_con_spins(&f->con[i])) return 0;
    return ti_min(ti_hit_velocity(ws, f, i, 2, ws->vnow) + ti_impact_late(ws, f, k, i, 2), 0);
}

/* References of the impact: at its own time each contact that hits is to have no velocity, or by Newton's law -e times
 * what it had along its normal; the others keep theirs. */
static void pose_references(tribo_ws *ws, const ti_frame *f, int k, const double *p) {
    const ti_island *is = &f->island[k];
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        const ti_con *c = &f->con[i];
        double *ref = ws->ref_hit + 3 * i;
        for (int r = 0; r < 3; r++) ref[r] = ti_impact_late(ws, f, k, i, r);
        if (!ti_con_opens(c)) continue;
        if (i < is->con0 + is->nhold)
            ref[2] += held_reference(ws, f, k, i);
        else if (is_newton(is))
            ref[2] += ti_con_number(ws->model, c, p, TI_M_RESTITUTION) * ti_impact_approach(ws, f, k, i);
    }
}

/* What the rebound is given, and the velocity that gives. @return whether there is any. */
static bool pose_rebound(tribo_ws *ws, const ti_frame *f, const ti_island *is, const double *p) {
    bool any = false;
    memcpy(ws->v_given + is->v0, f->phase[TI_IMPACT].v[TI_SOLVED] + is->v0, sizeof(double) * (size_t)is->nv);
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        double l = f->phase[TI_IMPACT].lambda[TI_SOLVED][3 * i + 2];
        ws->give[i] =
            l > 0 && ti_con_opens(&f->con[i]) ? ti_con_number(ws->model, &f->con[i], p, TI_M_RESTITUTION) * l : 0;
        if (ws->give[i] == 0) continue;
        any = true;
        ti_hit_kick(ws, f, i, 2, ws->give[i], ws->v_given);
    }
    return any;
}

/* Impacts change the velocity that bodies come with; the forces of the step act on what that leaves, gyroscopic ones as
 * that spins. What has landed is there: the gap is zero when the step ends. */
static void pose_after(tribo_ws *ws, const ti_frame *f, const ti_island *is) {
    ti_gyro g;
    for (int i = is->con0 + is->nhold; i < is->con0 + is->ncon; i++)
        if (f->con[i].lands && !ti_con_spins(&f->con[i])) ws->ref[3 * i + 2] = f->con[i].an * f->con[i].tau / 2;
    for (int j = is->v0; j < is->v0 + is->nv; j++)
        ws->v_after[j] = ti_impact_velocity(f, is, is->share, j) + (ws->vfree[j] - ws->vnow[j]);
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++)
        if (ti_gyro_of(ws, f, is, b, &g)) ti_add3(ws->v_after + ws->at_v[b] + 3, ti_axpy(g.gain, -g.late, g.rate));
}

void ti_impact_pose(tribo_ws *ws, const ti_frame *f, int k, const double *p) {
    const ti_island *is = &f->island[k];
    if (is->phase[TI_IMPACT].npoint == 0) return;
    ti_hit_pose(ws, f, k);
    pose_references(ws, f, k, p);
    if (is->phase[TI_REBOUND].npoint > 0) pose_rebound(ws, f, is, p);
    pose_after(ws, f, is);
}

/* The kinetic energy that impacts bring, each contact's velocity taken at its own time: impulses times the mean of the
 * velocities before and after. With share s of the rebound it is quadratic in s. docs/math.md eq. (113). */
double ti_impact_work(const tribo_ws *ws, const ti_frame *f, int k, double share, double *slope) {
    const ti_island *is = &f->island[k];
    const ti_phase_data *hit = &f->phase[TI_IMPACT], *back = &f->phase[TI_REBOUND];
    bool rebounds = is->phase[TI_REBOUND].npoint > 0;
    double work = 0;
    *slope = 0;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        for (int r = 0; r < 3; r++) {
            double l = hit->lambda[TI_SOLVED][3 * i + r], more = 0, shift = ti_impact_late(ws, f, k, i, r);
            double before = ti_hit_velocity(ws, f, i, r, ws->vnow) + shift;
            double after = ti_hit_velocity(ws, f, i, r, hit->v[TI_SOLVED]) + shift;
            if (rebounds) {
                double whole = ti_hit_velocity(ws, f, i, r, back->v[TI_SOLVED]) + shift;
                more = back->lambda[TI_SOLVED][3 * i + r] + (r == 2 ? ws->give[i] : 0);
                after += share * (whole - after);
            }
            work += 0.5 * (l + share * more) * (before + after);
            *slope += more * after;
        }
    }
    return work;
}

/* The larger root of begin + from s + half s^2, of what rises from below zero; 0 if there is none, at most 1. */
static double root_of_gain(double begin, double from, double half) {
    double disc = from * from - 4 * half * begin;
    if (!(begin < 0) || !(half > 0) || !(disc > 0)) return 0;
    double s = from > 0 ? -2 * begin / (from + sqrt(disc)) : (sqrt(disc) - from) / (2 * half);
    return s < 1 ? s : 1;
}

/* No more of the rebound than energy allows. Rounding is not held against it. */
static double share_of(const tribo_ws *ws, const ti_frame *f, int k) {
    double from, at_most, begin = ti_impact_work(ws, f, k, 0, &from), all = ti_impact_work(ws, f, k, 1, &at_most);
    return all <= 1e-10 * fabs(begin) ? 1 : root_of_gain(begin, from, 0.5 * (at_most - from));
}

/* v' M v */
static double square(int w, const double *M, const double *v) {
    double sum = 0;
    for (int r = 0; r < w; r++)
        for (int c = 0; c < w; c++) sum += v[r] * M[w * r + c] * v[c];
    return sum;
}

/* Above this residual a rebound is no answer at all. */
static const double ROUGH = 1e-6;

/* Where the impacts are, and their rows. */
static void meet(tribo_ws *ws, ti_frame *f, int k) {
    ti_hit_find(ws, f, k);
    ti_hit_pose(ws, f, k);
}

/* To no velocity at each contact's own time; velocities at different times may have no solution together (a ball that
 * is stopped by two walls, one after the other). Those at one time have one. */
static tribo_status compress(tribo_ws *ws, ti_frame *f, int k, const double *p, tribo_contact_info *info) {
    ti_island *is = &f->island[k];
    tribo_contact_info before = *info;
    pose_references(ws, f, k, p);
    tribo_status status = ti_phase_solve(ws, f, k, TI_IMPACT, false, info);
    if (status < 0 || ws->options.rounds > 0 || is->prompt) return status;
    if (status != TRIBO_NOT_CONVERGED) return status;
    is->prompt = true;
    ti_impact_motions(ws, f, k);
    meet(ws, f, k);
    before.iterations = info->iterations, before.ndegenerate++, *info = before;
    pose_references(ws, f, k, p);
    return ti_phase_solve(ws, f, k, TI_IMPACT, false, info);
}

/* Compression, then what it gives back. */
static tribo_status by_poisson(tribo_ws *ws, ti_frame *f, int k, const double *p, tribo_contact_info *info) {
    ti_island *is = &f->island[k];
    is->impact = TRIBO_IMPACT_POISSON, is->share = 1;
    is->phase[TI_REBOUND].npoint = 0;
    tribo_status status = compress(ws, f, k, p, info);
    if (status < 0 || !pose_rebound(ws, f, is, p)) return status;
    tribo_contact_info rebound = *info;
    tribo_status back = ti_phase_solve(ws, f, k, TI_REBOUND, false, &rebound);
    if (back < 0) return back;
    if (!(rebound.residual < ROUGH)) { /* nothing comes back, then */
        is->phase[TI_REBOUND].npoint = 0;
        info->iterations = rebound.iterations;
        return ti_graver(status, TRIBO_SUBSTITUTED);
    }
    *info = rebound;
    is->share = is->jammed ? 0 : share_of(ws, f, k);
    return ti_graver(back, status);
}

static tribo_status by_law(tribo_ws *ws, ti_frame *f, int k, const double *p, tribo_contact_info *info) {
    ti_island *is = &f->island[k];
    if (ws->options.law.impact != TRIBO_IMPACT_NEWTON) return by_poisson(ws, f, k, p, info);
    tribo_contact_info one = *info;
    double slope;
    is->impact = TRIBO_IMPACT_NEWTON, is->share = 1;
    is->phase[TI_REBOUND].npoint = 0;
    pose_references(ws, f, k, p);
    tribo_status status = ti_phase_solve(ws, f, k, TI_IMPACT, false, &one);
    if (status < 0) return status;
    double work = ti_impact_work(ws, f, k, 1, &slope), unit = 0;
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        const double *M = ws->M + ws->at_M[b], *hit = f->phase[TI_IMPACT].v[TI_SOLVED];
        unit += square(ws->width[b], M, ws->vnow + ws->at_v[b]) + square(ws->width[b], M, hit + ws->at_v[b]);
    }
    bool fine = status == TRIBO_OK || ws->options.rounds > 0;
    if (fine && work <= 1e-11 * unit && !is->jammed) {
        *info = one;
        return status;
    }
    info->iterations = one.iterations;
    return ti_graver(by_poisson(ws, f, k, p, info), TRIBO_SUBSTITUTED);
}

/* Where the velocity after the impacts and the forces of the step part every contact, there is nothing to solve. */
static bool all_part(const tribo_ws *ws, const ti_frame *f, const ti_island *is) {
    for (int i = is->con0; i < is->con0 + is->ncon; i++)
        if (ti_con_spins(&f->con[i]))
            continue;
        else if (!ti_con_opens(&f->con[i]) || !(ti_hit_velocity(ws, f, i, 2, ws->v_after) + ws->ref[3 * i + 2] > 0))
            return false;
    return true;
}

/* Held contacts begin as they were without the impacts, those that bounced parting. */
static void start_after(ti_frame *f, const ti_island *is) {
    ti_phase_data *to = &f->phase[TI_AFTER], *from = &f->phase[TI_HOLD];
    int held = is->con0 + is->nhold;
    memcpy(to->mode + is->con0, from->mode + is->con0, (size_t)is->nhold);
    memcpy(to->lambda[TI_SOLVED] + 3 * is->con0, from->lambda[TI_SOLVED] + 3 * is->con0,
           3 * sizeof(double) * (size_t)is->nhold);
    memset(to->mode + held, TRIBO_BREAK, (size_t)(is->ncon - is->nhold));
    memset(to->lambda[TI_SOLVED] + 3 * held, 0, 3 * sizeof(double) * (size_t)(is->ncon - is->nhold));
}

tribo_status ti_island_impact(tribo_ws *ws, ti_frame *f, int k, const double *p, tribo_contact_info *info) {
    ti_island *is = &f->island[k];
    is->phase[TI_AFTER].npoint = 0; /* of another try */
    meet(ws, f, k);
    tribo_status hit = by_law(ws, f, k, p, info);
    if (hit < 0) return hit;
    pose_after(ws, f, is);
    if (all_part(ws, f, is)) return hit;
    start_after(f, is);
    tribo_status status = ti_phase_solve(ws, f, k, TI_AFTER, ws->options.warm_start, info);
    return ti_graver(status, hit);
}
