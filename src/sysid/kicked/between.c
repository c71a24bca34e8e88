/* between.c -- how far an answer with kicks goes with how far apart they are. docs/math.md eq. (548).
 *
 * A kick takes over of an impact what nothing has shown of it before the kick comes. How much that is nobody knows, and
 * no scatter of what is left says it: from the answer the recordings are fitted with twice as many rows from kick to
 * kick, and what numbers differ by belongs to their doubt.
 */
#include "sysid/kicked/kicked.h"

enum { ROUNDS = 6 }; /* numbers go there in the first few; motions and scales take more */

static size_t start_size(const tribo_sysid *s) {
    return (size_t)s->z.nx * sizeof(double);
}

/* The motions of the answer and those that are tried change places. */
static void exchange(tribo_sysid *s) {
    for (int i = 0; i < s->nrec; i++) {
        ti_path *path = s->shooting->path + i;
        ti_path_exchange(path, &path->aside_x, &path->aside_w, &path->aside_touch);
    }
}

/* From the answer with its noise: s->theta. */
static tribo_status fit(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    bool done = false;
    s->lambda = 1e-3, h->still = h->waited = 0;
    tribo_status status = ti_shooting_guess(s, s->theta);
    for (int i = 0; i < ROUNDS && status >= 0 && !done; i++) status = ti_shooting_step(s, &done);
    return status;
}

/* The fit as it stands, but for motions, scales of kicks and slopes: theta, noise, first guesses of starts. */
static void keep(tribo_sysid *s, bool back) {
    struct ti_shooting *h = s->shooting;
    size_t n = (size_t)s->nfree, noises = 2 * (size_t)s->ngroup;
    memcpy(back ? s->theta : h->kept, back ? h->kept : s->theta, n * sizeof(double));
    memcpy(back ? h->noise : h->kept + n, back ? h->kept + n : h->noise, noises * sizeof(double));
    for (int i = 0; i < s->nrec; i++) {
        ti_path *path = h->path + i;
        memcpy(back ? path->prior : path->aside_prior, back ? path->aside_prior : path->prior, start_size(s));
    }
}

tribo_status ti_shooting_other_rows(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    const struct ti_shooting before = *h;
    const double linear = s->kick[TI_KICK_LINEAR], angular = s->kick[TI_KICK_ANGULAR];
    size_t n = (size_t)s->nfree;
    if (!s->rows_chosen || !ti_kicked(s) || !n) return TRIBO_OK;
    keep(s, false), exchange(s);
    s->window = 2 * TRIBO_SHOOTING_ROWS;
    tribo_status status = fit(s);
    s->window = TRIBO_SHOOTING_ROWS;
    for (size_t a = 0; a < n; a++) h->by_rows[a] = status < 0 ? 0 : s->theta[a] - h->kept[a];
    *h = before;
    s->kick[TI_KICK_LINEAR] = linear, s->kick[TI_KICK_ANGULAR] = angular;
    exchange(s), keep(s, true);
    ti_scales_weigh(s);
    if (status == TRIBO_INTERRUPTED || status == TRIBO_E_NOMEM) return status;
    status = ti_shooting_curvature(s);
    return status < 0 ? status : ti_shooting_spread(s);
}

void ti_shooting_scatter_of_rows(const tribo_sysid *s, double *cov) {
    const double *off = s->shooting->by_rows;
    int n = s->nfree;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) cov[a * n + b] += off[a] * off[b];
}
