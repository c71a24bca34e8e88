/* identification.c -- what is asked of a fit, and how its recordings are read. */
#include "identification.h"
#include "progress.h"
#include "ranks.h"
#include "scene.h"
#include <string.h>

enum { SEARCHED = 20 }; /* parameters that a search without derivatives is begun for by itself, at most */

tribo_sysid_def fit_definition(const identification *id, tribo_options *step) {
    const identify_arguments *a = id->a;
    tribo_sysid_def def = tribo_default_sysid();
    *step = step_options();
    step->law = a->law, def.options = step;
    def.free = id->free, def.nfree = id->nfree;
    def.rec = id->r.rec, def.nrec = id->r.n;
    def.loss = a->loss, def.window = a->window;
    def.robust = a->robust, def.optimizer = a->optimizer;
    memcpy(def.weight, a->weight, sizeof def.weight);
    def.start = a->estimate_start ? TRIBO_START_AUTO : TRIBO_START_MEASURED;
    /* shooting begins near by itself; rollouts through impacts have a loss so rough that no descent gets far */
    bool wide = id->nfree <= 3 || (a->loss == TRIBO_LOSS_ROLLOUT && id->nfree <= SEARCHED);
    def.search = a->search >= 0 ? (int)a->search : wide ? 100 + 50 * id->nfree : 0;
    def.validation = a->validation;
    def.seed = (uint64_t)a->seed;
    def.workers = (int)(a->workers > 0 ? a->workers : ranks_processors());
    def.ranks = ranks_of_fit();
    def.stop = interrupts_flag;
    return def;
}

recording_options reading_options(const identification *id) {
    recording_options in = id->a->in;
    in.behind = id->behind;
    memcpy(in.exchanged, id->exchanged, sizeof in.exchanged);
    return in;
}
