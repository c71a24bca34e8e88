/* warm.c -- what contacts did in the last step, and which of them go on. */
#include "forward/frame.h"

/* Which of the last step's contacts each one was: the same feature of the same pair. Both lists are in pair order. */
void ti_warm_match(tribo_ws *ws) {
    for (int i = 0, j = 0; i < ws->nfound; i++) {
        const ti_con *c = &ws->found[i];
        ws->started[i] = -1;
        if (c->touch.core) continue;
        while (j < ws->nwarm && ws->warm[j].rank < c->rank) j++;
        for (int k = j; k < ws->nwarm && ws->warm[k].rank == c->rank; k++)
            if (ws->warm[k].feature == c->touch.feature) ws->started[i] = k;
    }
}

/* What contact c did: in this step, where its island was another; or in the last one. NULL = it is new. */
static const struct ti_warm *before(const tribo_ws *ws, const ti_island *is, const ti_con *c) {
    if (is->resumed) return ws->again[c->at].rank >= 0 ? &ws->again[c->at] : NULL;
    return ws->started[c->at] >= 0 ? &ws->warm[ws->started[c->at]] : NULL;
}

void ti_island_start(tribo_ws *ws, ti_frame *f, ti_island *is) {
    ti_phase_data *to = &f->phase[TI_HOLD];
    is->near = 0, is->off_path = 0;
    if (!ws->options.warm_start && !is->resumed) return;
    for (int i = is->con0; i < is->con0 + is->nhold; i++) {
        const ti_con *c = &f->con[i];
        const struct ti_warm *w = before(ws, is, c);
        double *l = to->lambda[TI_SOLVED] + 3 * i;
        if (!w) { /* new: it will push if its bodies' free motion closes it, or an answer did */
            l[0] = l[1] = l[2] = 0;
            bool acts = !ti_con_opens(c) || c->aside == TI_CALLED || c->uf + ws->ref[3 * i + 2] < 0;
            to->mode[i] = acts ? TRIBO_STICK : TRIBO_BREAK;
            if (ti_con_spins(&f->con[i])) to->mode[i] = to->mode[i - 1] == TRIBO_BREAK ? TRIBO_BREAK : TRIBO_STICK;
            continue;
        }
        memcpy(l, w->lambda, sizeof w->lambda);
        to->mode[i] = w->mode;
        if (w->off_path > is->off_path) is->off_path = w->off_path;
        if (w->near > 0 && !(is->near > 0 && is->near < w->near)) is->near = w->near;
    }
}

/* A contact that bounces has gone when the next step begins. */
void ti_warm_keep_island(const ti_frame *f, const ti_island *is, struct ti_warm *to) {
    const ti_phase_data *from = &f->phase[TI_HOLD];
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        struct ti_warm *w = &to[f->con[i].at];
        *w = (struct ti_warm){f->con[i].rank, f->con[i].touch.feature, TRIBO_BREAK, {0}, 0, 0};
        if (f->con[i].bounce) continue;
        w->mode = from->mode[i], w->near = is->near, w->off_path = is->off_path;
        memcpy(w->lambda, from->lambda[TI_SOLVED] + 3 * i, sizeof w->lambda);
    }
}

void ti_warm_keep(tribo_ws *ws, const ti_frame *f) {
    for (int k = 0; k < f->nisland; k++) ti_warm_keep_island(f, &f->island[k], ws->warm);
    ws->nwarm = 0;
    for (int i = 0; i < ws->nfound; i++) /* those that were in islands */
        if (ws->found[i].aside != TI_ASIDE && !ws->found[i].touch.core) ws->warm[ws->nwarm++] = ws->warm[i];
}
