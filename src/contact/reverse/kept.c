/* kept.c -- see kept.h. A point is kept as a workspace whose arrays are those of ws, but for what ti_contact_factor()
 * leaves for the solutions after it. */
#include "contact/reverse/kept.h"

/* No workspace grows by more than so many bytes for them, nor by more than a few of the largest problems need: most
 * are smaller. */
enum { ROOM = 1 << 18, LARGEST = 4, BLOCKS = 64 };

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* What differs from point to point. */
static void carve_point(ti_arena *m, int nc, int nv, ti_contact_ws *to) {
    TI_CARVE(m, to->D, 9 * (size_t)nc);
    TI_CARVE(m, to->by_mu, 3 * (size_t)nc);
    ti_system_carve_factors(m, nc, nv, &to->sys);
}

/* What the points of a problem share, and the first of them. */
static void carve_problem(ti_arena *m, const ti_contact_size *size, ti_contact_ws *to) {
    TI_CARVE(m, to->scale, size->nc);
    TI_CARVE(m, to->minv, size->nv);
    TI_CARVE(m, to->turn, size->nblk);
    TI_CARVE(m, to->mass, size->nv);
    TI_CARVE(m, to->exempt, size->nc);
    TI_CARVE(m, to->D, 9 * (size_t)size->nc);
    TI_CARVE(m, to->by_mu, 3 * (size_t)size->nc);
    ti_system_carve(m, size, &to->sys);
}

/* A way has room for all velocities: it has twice the width. */
static ti_contact_size size_of(int nc, int nv, int nblk) {
    return (ti_contact_size){nc, nv, nblk, (nv + 1) / 2, true, false};
}

/* Bytes of a problem of so many points. */
static size_t needed(const ti_contact_size *size, int npoint) {
    ti_contact_ws layout = {0};
    ti_arena m = {0};
    ti_carve(&m, (size_t)npoint, sizeof layout);
    carve_problem(&m, size, &layout);
    for (int k = 1; k < npoint; k++) carve_point(&m, size->nc, size->nv, &layout);
    return m.used;
}

void ti_kept_carve(ti_arena *m, const ti_contact_size *most, ti_contact_ws *ws) {
    ti_contact_size size = size_of(most->nc, most->nv, most->nblk);
    bool some = most->chains && most->nblk <= BLOCKS;
    ws->kept.room = some ? smaller(ROOM, LARGEST * needed(&size, TI_CONTACT_POINTS)) : 0;
    ws->kept.memory = ti_carve(m, ws->kept.room, 1);
}

void ti_contact_keep(ti_contact_ws *ws, bool keep) {
    ws->kept.keeps = keep && !ti_contact_uses_delassus(ws) && !ws->asked_coupled && !ws->R && !ws->noise;
    ws->kept.n = 0, ws->kept.used = 0;
}

static ti_kept_problem *find(ti_kept *kept, int name) {
    for (int i = 0; i < kept->n; i++)
        if (kept->problem[i].name == name) return &kept->problem[i];
    return NULL;
}

/* Room for a problem and all its points; NULL = there is none. Whether trees have their ways in it is as in ws: it has
 * room for all that there are, and no more than ws. */
static ti_kept_problem *add(ti_contact_ws *ws, const ti_contact_problem *p, int npoint, int name) {
    ti_kept *kept = &ws->kept;
    if (kept->n == TI_KEPT || p->nblk > BLOCKS || p->spins) return NULL;
    ti_contact_size size = size_of(p->nc, p->nv, p->nblk);
    size_t bytes = needed(&size, npoint);
    if (bytes > kept->room - kept->used) return NULL;
    ti_arena m = {kept->memory, kept->used};
    ti_kept_problem *to = &kept->problem[kept->n++];
    *to = (ti_kept_problem){.name = name, .point = ti_carve(&m, (size_t)npoint, sizeof *to->point)};
    *to->point = *ws;
    carve_problem(&m, &size, to->point);
    ti_paths *own = &to->point->sys.paths;
    own->entries_max = smaller(own->entries_max, ws->sys.paths.entries_max);
    own->list_max = smaller(own->list_max, ws->sys.paths.list_max);
    own->rows_max = smaller(own->rows_max, ws->sys.paths.rows_max);
    to->rest = m.used;
    kept->used += bytes;
    return to;
}

/* The memory of point k, which takes over from the first what does not depend on k. */
static void follow(const ti_kept *kept, const ti_kept_problem *to, const ti_contact_problem *p, int k) {
    ti_arena m = {kept->memory, to->rest};
    to->point[k] = to->point[0];
    for (int i = 1; i <= k; i++) carve_point(&m, p->nc, p->nv, &to->point[k]);
}

tribo_status ti_contact_factor_kept(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s, int k,
                                    int name, ti_contact_ws **at) {
    ti_kept_problem *of = ws->kept.keeps ? find(&ws->kept, name) : NULL;
    if (ws->kept.keeps && !of && k == 0) of = add(ws, p, s->npoint, name);
    *at = ws;
    if (!of) return ti_contact_factor(ws, p, s, k);
    *at = &of->point[k];
    bool known = k < of->n;
    if (!known && k > 0) follow(&ws->kept, of, p, k);
    (*at)->contraction = k == 0 ? -1 : of->point[k - 1].contraction;
    if (known) {
        (*at)->augmented.n = 0, (*at)->linear_residual = 0;
        return TRIBO_OK;
    }
    tribo_status status = ti_contact_factor(*at, p, s, k);
    if (status == TRIBO_OK) of->n = k + 1;
    return status;
}
