/* exempt.c -- constraints whose derivative is not that of their mode alone: what rests without friction, and what
 * yields at a joint that something else holds as well. docs/math.md eq. (471). */
#include "contact/reverse/exempt.h"
#include <string.h>

/* Whether contact i, which has no friction, rests: the tangential part of its trial impulse, of friction against
 * turning all of it, is nothing but rounding of what pushes, which points anywhere, and as a friction of 1e-6 would
 * hold it nothing depends on mu. From the solution itself: at a compliance it yields, and what yields slips. */
static bool rests(const ti_contact_ws *ws, const ti_contact_problem *p, int i, const double *lambda) {
    const ti_law *law = ti_law_at(ws, p, i);
    const ti_law_scale *scale = ws->scale + i;
    const double *l = lambda + 3 * i, *c = ws->c + 3 * i;
    bool spin = law->is & TI_LAW_SPIN;
    double push = spin ? ti_law_contact_of(ws, p, i, lambda).push : l[2] + (p->rebound ? p->rebound[i] : 0);
    double z0 = l[0] - scale->rho_t * c[0], z1 = l[1] - scale->rho_t * c[1];
    double z2 = spin ? l[2] - scale->rho_n * c[2] : 0, bound = 1e-6 * push;
    return !(law->is & (TI_LAW_SMOOTH | TI_LAW_DRY)) && z0 * z0 + z1 * z1 + z2 * z2 <= bound * bound;
}

static void find_resting(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s) {
    bool any = false;
    for (int i = 0; i < p->nc; i++) ws->exempt[i] = p->mu[i] <= 1e-6, any = any || ws->exempt[i];
    if (!any) return;
    ti_system_jv(&ws->sys, p, s->v, true, ws->c);
    for (int i = 0; i < p->nc; i++) ws->exempt[i] = ws->exempt[i] && rests(ws, p, i, s->lambda) ? TI_RESTS : 0;
}

/* The one velocity that constraint i is about, if it is of one joint and gives way to nothing; else -1. */
static int column_of(const ti_contact_problem *p, int i) {
    const ti_support *s = ti_support_of(p, i, 0);
    if (!s || !s->joint || s->n != 1 || p->b[i] >= 0 || (p->R && p->R[3 * i + 2] > 0)) return -1;
    return p->voff[p->a[i]] + s->column[0];
}

static bool is_limit(const ti_contact_ws *ws, const ti_contact_problem *p, int i, unsigned char mode) {
    return p->what[i] == TI_CONSTRAINT_CONTACT && mode != TRIBO_BREAK && !(ti_law_at(ws, p, i)->is & TI_LAW_SMOOTH);
}

/* How many constraints hold velocity k where it is, in ws->taken, an equality as two. @return whether any does */
static bool count_holding(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s) {
    bool any = false;
    memset(ws->taken, 0, p->nv);
    for (int i = 0; i < p->nc; i++) {
        int count = p->what[i] == TI_CONSTRAINT_HELD ? 2 : is_limit(ws, p, i, s->mode[i]) ? 1 : 0;
        int k = count > 0 ? column_of(p, i) : -1;
        if (k >= 0) ws->taken[k] += count, any = true;
    }
    return any;
}

/* The limit beside dry friction i, of velocity k, which one limit holds. */
static int limit_beside(const ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s, int i,
                        int k) {
    int j = 0;
    while (j == i || !is_limit(ws, p, j, s->mode[j]) || column_of(p, j) != k) j++;
    return j;
}

/* The entry of constraint i, of one joint. */
static double entry(const ti_contact_problem *p, int i) {
    int blk = p->a[i];
    return p->J[p->joff[i] + 2 * p->width[blk] + ti_support_of(p, i, 0)->column[0]];
}

/* Which of dry friction i and the limit j beside it yields: where the friction could bear the load of both, it holds as
 * the limit recedes. */
static int weaker(const ti_contact_problem *p, const ti_contact_solution *s, int i, int j) {
    double load = entry(p, i) * s->lambda[3 * i + 2] + entry(p, j) * s->lambda[3 * j + 2];
    return fabs(load) <= p->mu[i] * fabs(entry(p, i)) ? j : i;
}

static void find_yielding(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s) {
    if (!count_holding(ws, p, s)) return;
    for (int i = 0; i < p->nc; i++) {
        bool sticks = p->what[i] == TI_CONSTRAINT_DRY && s->mode[i] == TRIBO_STICK;
        int k = sticks ? column_of(p, i) : -1;
        if (k < 0 || ws->taken[k] == 0) continue;
        int yields = ws->taken[k] == 1 ? weaker(p, s, i, limit_beside(ws, p, s, i, k)) : i;
        ws->exempt[yields] = TI_YIELDS;
    }
}

void ti_contact_exempt(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s) {
    find_resting(ws, p, s);
    if (p->chains && p->what) find_yielding(ws, p, s);
}
