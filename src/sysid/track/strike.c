/* strike.c -- a step in which something is hit and leaves: docs/math.md eq. (468).
 *
 * Rows of an impact are those of the step's beginning, so levers are off by what surfaces move until it happens:
 * little, but by the course of time, which is another one in every step, so that a motion jumps wherever the impact
 * passes from one step into the next, and between jumps has a slope that is none of the motion's. Such a step is made
 * of a flight to where the gap is closed, a step from there, and the flight back by as long. Its derivative has that of
 * this time.
 */
#include "backward/backward.h"
#include "sysid/track/fit.h"

enum { BEFORE, HIT, AFTER };

/* The first contact that bounces, if all that do do so at once and nothing else is hit. */
static const ti_con *bouncing(const tribo_ws *ws, double least) {
    const ti_frame *f = &ws->frame;
    const ti_con *first = NULL;
    for (int i = 0; i < f->ncon; i++) {
        const ti_con *c = &f->con[i];
        if (c->kind != TI_CON_CONTACT || (f->mode[i] == TRIBO_BREAK && !c->bounce)) continue;
        if (!c->bounce && c->touch.gap > least) return NULL;
        if (c->bounce && first && !(fabs(c->tau - first->tau) < 1e-3 * ws->options.dt)) return NULL;
        if (c->bounce && !first) first = c;
    }
    return first;
}

static bool bounces(const tribo_ws *ws) {
    for (int i = 0; i < ws->frame.ncon; i++)
        if (ws->frame.con[i].bounce) return true;
    return false;
}

/* Before it: from so far behind that nothing is reached. */
static bool before(ti_worker *w, ti_strike *k, const double *p, const double *u, bool record) {
    const tribo_sizes *z = &w->s->z;
    const double *v = w->before + z->nq;
    ti_probe *probe = &w->probe[BEFORE];
    k->back = 2 * probe->at.ws->options.dt;
    memset(k->dx, 0, (size_t)z->ndx * sizeof *k->dx);
    for (int i = 0; i < z->nv; i++) k->dx[i] = -k->back * v[i];
    tribo_state_add(w->s->m, w->before, k->dx, k->x);
    return ti_probe_make(w, probe, p, u, record, k->x) >= 0 && !bounces(probe->at.ws);
}

/* k->speed (nv): that of the time of the hit. k->y: there. */
static void fly(ti_worker *w, ti_strike *k, double dt) {
    const tribo_sizes *z = &w->s->z;
    const double *v = w->before + z->nq, *a = w->probe[BEFORE].rate;
    for (int i = 0; i < z->nv; i++) {
        k->speed[i] = v[i] + a[i] * (dt / 2 + k->tau);
        k->dx[i] = k->tau * (v[i] + a[i] * (dt + k->tau) / 2), k->dx[z->nv + i] = k->tau * a[i];
    }
    tribo_state_add(w->s->m, w->before, k->dx, k->y);
}

/* How a gap moves with a tangent of the place, and with p; either may be NULL. */
static double gap_moves(const ti_worker *w, const ti_strike *k, const double *p, const double *dq, const double *dp) {
    const tribo_ws *ws = w->probe[HIT].at.ws;
    const tribo_model *m = w->s->m;
    double move[TI_COLLIDE_COLS], moves = 0;
    for (int side = 0; side < 2; side++) {
        int geom = side ? k->con->pair.b : k->con->pair.a, body = m->geom[geom].body;
        if (body >= 0)
            ti_link_load_jvp(&ws->link[body], dq ? dq + m->body[body].v : NULL, NULL, dp ? dp + m->body[body].p : NULL,
                             &w->diff[body]);
        ti_shape_jvp(m, p, ws->link, geom, w->diff, dp, move + TI_SHAPE_COLS * side);
    }
    for (int e = 0; e < TI_COLLIDE_COLS; e++) moves += k->gap[e] * move[e];
    return moves;
}

/* The step from where the gap is closed. @return false if it cannot be found. */
static bool hit(ti_worker *w, ti_strike *k, const double *p, const double *u, bool record, double least) {
    enum { TRIES = 5 };
    const tribo_ws *ws = w->probe[HIT].at.ws;
    const tribo_sizes *z = &w->s->z;
    double dt = ws->options.dt;
    for (int i = 0; i < TRIES; i++) {
        fly(w, k, dt);
        memcpy(w->x, k->y, (size_t)z->nx * sizeof *k->y);
        if (ti_probe_make(w, &w->probe[HIT], p, u, record, w->x) < 0) return false;
        const ti_con *c = bouncing(ws, least);
        if (!c) return false;
        double jac[TI_COLLIDE_ROWS][TI_COLLIDE_COLS];
        *k->con = *c;
        ti_con_jac(ws, c, jac);
        memcpy(k->gap, jac[TI_COLLIDE_ROWS - 1], sizeof jac[0]);
        k->closing = gap_moves(w, k, p, k->speed, NULL);
        if (!(k->closing < 0)) return false;
        if (fabs(c->touch.gap) < -1e-9 * dt * k->closing) return true;
        k->tau -= c->touch.gap / k->closing;
    }
    return false;
}

static bool after(ti_worker *w, ti_strike *k, const double *p, const double *u, bool record) {
    ti_probe *probe = &w->probe[AFTER];
    memcpy(k->x, w->x, (size_t)w->s->z.nx * sizeof *k->x);
    return ti_probe_make(w, probe, p, u, record, k->x) >= 0 && !bounces(probe->at.ws);
}

/* Back by the time of the hit; forces after it have acted for half a step too long. */
static void fly_back(ti_worker *w, ti_strike *k, double dt) {
    const tribo_sizes *z = &w->s->z;
    for (int i = 0; i < z->nv; i++) {
        double a = w->probe[AFTER].rate[i], late = (a - w->probe[BEFORE].rate[i]) * dt / 2;
        k->left[i] = w->x[z->nq + i] - late;
        k->dx[i] = -dt * late - k->tau * (k->left[i] + a * (dt - k->tau) / 2);
        k->dx[z->nv + i] = -late - k->tau * a;
    }
    memcpy(k->turned, k->dx, (size_t)z->nv * sizeof *k->turned);
    tribo_state_add(w->s->m, w->x, k->dx, w->x);
}

bool ti_strike_make(ti_worker *w, const double *p, const double *u, int length, bool record, const ti_stride *at) {
    ti_strike *k = &w->strike;
    double dt = at->ws->options.dt, least = ti_weight(p) * dt * dt;
    const ti_con *c = at->level < 2 ? NULL : bouncing(at->ws, least);
    if (!c || !(fabs(c->tau) <= dt)) return false;
    k->tau = c->tau, w->probe[HIT].at = *at;
    memcpy(k->begun, w->before + w->s->z.nq, (size_t)w->s->z.nv * sizeof *k->begun);
    if (ti_stride_ready(w, length, at->level - 1, &w->probe[BEFORE].at)) return false;
    if (ti_stride_ready(w, length, at->level - 2, &w->probe[AFTER].at)) return false;
    if (!before(w, k, p, u, record)) return false;
    if (hit(w, k, p, u, record, least) && after(w, k, p, u, record)) {
        fly_back(w, k, dt);
        return true;
    }
    memcpy(w->x, w->before, (size_t)w->s->z.nx * sizeof *w->x); /* as it was made first */
    (void)!ti_probe_make(w, &w->probe[HIT], p, u, record, w->x);
    return false;
}

/* ---- derivatives ---- */

/* dq (nv) of places, then d (nv) more by dd: dq := what that is at the end. */
static void turn(const ti_worker *w, const double *d, const double *dd, double *dq) {
    for (int j = 0; j < ti_joints(w->s->m); j++) {
        int at = w->s->m->joint[j].v;
        ti_vec r = ti_load3(d + at + 3), back = ti_scale(-1, r);
        double q[4];
        ti_quat_exp(back, q);
        ti_mat R = ti_quat_mat(q);
        ti_store3(dq + at, ti_add(ti_load3(dq + at), ti_load3(dd + at)));
        ti_store3(dq + at + 3, ti_add(ti_mul(&R, ti_load3(dq + at + 3)), ti_exp_right(r, ti_load3(dd + at + 3))));
    }
}

/* One column: dx (ndx) of the state, unknown a and how p moves with it, -1 and NULL = none; to (ndx) [out]. */
static void follow(ti_worker *w, double dt, const double *dx, int a, const double *p, const double *dp, double *to) {
    ti_strike *k = &w->strike;
    int nv = w->s->z.nv, ndx = w->s->z.ndx;
    const double *in = w->probe[BEFORE].rate, *out = w->probe[AFTER].rate;
    const ti_probe *there = &w->probe[HIT];
    double *dy = k->dy, *din = k->din, *dout = k->dout, *d = k->dx, *dd = k->dd, tau = k->tau;
    memcpy(dy, dx, (size_t)ndx * sizeof *dy);
    for (int i = 0; i < nv; i++) d[i] = -k->back * k->begun[i], dd[i] = -k->back * dx[nv + i];
    turn(w, d, dd, dy);
    ti_probe_jvp(w, &w->probe[BEFORE], dy, a, din);
    memcpy(dy, dx, (size_t)ndx * sizeof *dy);
    for (int i = 0; i < nv; i++) {
        d[i] = tau * (k->begun[i] + in[i] * (dt + tau) / 2), dd[i] = tau * (dx[nv + i] + din[i] * (dt + tau) / 2);
        dy[nv + i] += tau * din[i];
    }
    turn(w, d, dd, dy);
    double dtau = -gap_moves(w, k, p, dy, dp) / k->closing;
    for (int i = 0; i < nv; i++) dy[i] += dtau * k->speed[i], dy[nv + i] += dtau * in[i];
    for (int i = 0; i < ndx; i++) {
        to[i] = a < 0 ? 0 : there->C[a * ndx + i];
        for (int j = 0; j < ndx; j++) to[i] += there->A[i * ndx + j] * dy[j];
    }
    ti_probe_jvp(w, &w->probe[AFTER], to, a, dout);
    for (int i = 0; i < nv; i++) {
        double late = (dout[i] - din[i]) * dt / 2;
        dd[i] = -dt * late - tau * (to[nv + i] - late + dout[i] * (dt - tau) / 2);
        dd[i] -= dtau * (k->left[i] + out[i] * (dt - tau) / 2 - tau * out[i] / 2);
        to[nv + i] -= late + dtau * out[i] + tau * dout[i];
    }
    turn(w, k->turned, dd, to);
}

tribo_status ti_strike_jac(ti_worker *w, double dt, const double *p, const double *pd, double *A, double *C) {
    ti_strike *k = &w->strike;
    size_t ndx = (size_t)w->s->z.ndx, np = (size_t)w->s->z.np;
    double *dx = k->column, *column = dx + ndx;
    static const int order[] = {BEFORE, AFTER, HIT}; /* whose links are wanted last */
    for (int i = 0; i < 3; i++) {
        tribo_status status = ti_probe_jac(w, &w->probe[order[i]], pd);
        if (status < 0) return status;
    }
    memset(dx, 0, ndx * sizeof *dx);
    for (int a = 0; a < w->s->nfree; a++) follow(w, dt, dx, a, p, pd + (size_t)a * np, C + (size_t)a * ndx);
    for (size_t j = 0; j < ndx; j++) {
        dx[j] = 1, follow(w, dt, dx, -1, p, NULL, column), dx[j] = 0;
        for (size_t i = 0; i < ndx; i++) A[i * ndx + j] = column[i];
    }
    return TRIBO_OK;
}
