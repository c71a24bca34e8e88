/* warm.c -- what contacts did in the last step, and which of them go on. */
#include "forward/frame.h"

/* Which of the last step's contacts each one was: the same feature of the same pair. Both lists are in pair order. */
void ti_warm_match(tribo_ws *ws) {
    for (int i = 0, j = 0; i < ws->nfound; i++) {
        const ti_con *c = &ws->found[i];
        ws->started[i] = -1;
        while (j < ws->nwarm && ws->warm[j].rank < c->rank) j++;
        for (int k = j; k < ws->nwarm && ws->warm[k].rank == c->rank; k++)
            if (ws->warm[k].feature == c->touch.feature) ws->started[i] = k;
    }
}

void ti_island_start(tribo_ws *ws, ti_frame *f, ti_island *is) {
    ti_phase_data *to = &f->phase[TI_HOLD];
    is->near = 0, is->off_path = false;
    if (!ws->options.warm_start) return;
    for (int i = is->con0; i < is->con0 + is->nhold; i++) {
        int k = ws->started[f->con[i].id];
        double *l = to->lambda[TI_SOLVED] + 3 * i;
        if (k < 0) { /* new: it will push if its bodies' free motion closes it */
            l[0] = l[1] = l[2] = 0;
            bool acts = !ti_con_opens(&f->con[i]) || f->con[i].uf + ws->ref[3 * i + 2] < 0;
            to->mode[i] = acts ? TRIBO_STICK : TRIBO_BREAK;
            if (ti_con_spins(&f->con[i])) to->mode[i] = to->mode[i - 1] == TRIBO_BREAK ? TRIBO_BREAK : TRIBO_STICK;
            continue;
        }
        memcpy(l, ws->warm[k].lambda, sizeof ws->warm[k].lambda);
        to->mode[i] = ws->warm[k].mode;
        is->off_path |= ws->warm[k].off_path;
        if (ws->warm[k].near > 0 && !(is->near > 0 && is->near < ws->warm[k].near)) is->near = ws->warm[k].near;
    }
}

/* A contact that bounces has gone when the next step begins. */
void ti_warm_keep(tribo_ws *ws, const ti_frame *f) {
    const ti_phase_data *from = &f->phase[TI_HOLD];
    ws->nwarm = f->ncon;
    for (int k = 0; k < f->nisland; k++) {
        const ti_island *is = &f->island[k];
        for (int i = is->con0; i < is->con0 + is->ncon; i++) {
            struct ti_warm *w = &ws->warm[f->con[i].id];
            *w = (struct ti_warm){f->con[i].rank, f->con[i].touch.feature, TRIBO_BREAK, {0}, 0, false};
            if (f->con[i].bounce) continue;
            w->mode = from->mode[i], w->near = is->near, w->off_path = is->off_path;
            memcpy(w->lambda, from->lambda[TI_SOLVED] + 3 * i, sizeof w->lambda);
        }
    }
}
