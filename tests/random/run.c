/* run.c -- a scene stepped and judged. */
#include "judge.h"
#include <stdarg.h>
#include <stdlib.h>

static const char *const words[] = {
#define X(NAME, word, text) word,
    FLAW_LIST(X)
#undef X
};
static const char *const texts[] = {
#define X(NAME, word, text) text,
    FLAW_LIST(X)
#undef X
};

const char *flaw_word(flaw f) {
    return words[f];
}
const char *flaw_text(flaw f) {
    return texts[f];
}

void note(verdict *v, flaw f, int step, double size, const char *format, ...) {
    if (v->found[f]) return;
    v->found[f] = true, v->step[f] = step, v->size[f] = size;
    va_list list;
    va_start(list, format);
    vsnprintf(v->what[f], sizeof v->what[f], format, list);
    va_end(list);
}

void ask(verdict *v, flaw f, int step, double is, double may, const char *what) {
    v->asked[f]++;
    if (!(is <= may)) note(v, f, step, is / may, "%.4g %s, may be %.3g", is, what, may);
}

static void judge_status(const moment *t, verdict *v) {
    v->asked[STATUS]++, v->asked[UNCONVERGED]++;
    if (t->status == TRIBO_NOT_CONVERGED)
        note(v, UNCONVERGED, t->k, t->info.residual, "residual %.3g, %d contacts, %d factorisations", t->info.residual,
             t->nc, t->info.iterations);
    if (t->status < 0) note(v, STATUS, t->k, 1, "%s", tribo_status_text(t->status));
    if (t->status >= 0 && t->status != TRIBO_NOT_CONVERGED && !(t->info.residual <= 1e-9))
        note(v, STATUS, t->k, 1, "residual %g", t->info.residual);
    for (int i = 0; i < t->s->nbody * NX; i++)
        if (!isfinite(t->next[i]))
            note(v, STATUS, t->k, 1, "a state that is not finite under status %d", (int)t->status);
}

static void judge_step(const moment *t, ledger *book, verdict *v) {
    judge_status(t, v);
    judge_energy(t, book, v);
    judge_momentum(t, v);
    judge_motion(t, v);
    judge_overlap(t, v);
    if (t->status == TRIBO_OK || t->status == TRIBO_DEGENERATE) judge_contacts(t, v);
}

/* A state that ran away tells nothing more: everything about it fails. */
static bool ran_away(const moment *t) {
    for (int i = 0; i < t->s->nbody; i++)
        if (!(length(t->after[i].v) < 1e6 && length(t->after[i].x) < 1e6)) return true;
    return false;
}

static bool wants(flaw only, flaw low, flaw high) {
    return only == FLAWS || (only >= low && only <= high);
}

void run(const scene *s, flaw only, verdict *v) {
    *v = (verdict){0};
    if (s->robot) {
        run_robot(s, only, v);
        return;
    }
    world w;
    tribo_diag diag = {0};
    tribo_status status = world_new(&w, s, &diag);
    v->asked[BUILD]++;
    if (status) {
        note(v, BUILD, 0, 1, "%s", diag.text);
        world_free(&w);
        return;
    }
    double x[2][NX * MAX_BODIES], u[NU * MAX_BODIES];
    ledger book = {0};
    scene_state(s, x[0]);
    scene_control(s, u);
    int now = 0;
    for (int k = 0; k < s->steps; k++, now = !now) {
        dice d = {s->seed * 77 + (uint64_t)k};
        if (k == s->graded && wants(only, THREE_WAYS, SILENT_KINK)) judge_gradients(s, &w, x[now], v);
        status = tribo_step(w.ws, w.p, x[now], u, x[!now], NULL);
        if (status < 0) {
            note(v, STATUS, k, 1, "%s", tribo_status_text(status));
            break;
        }
        moment t;
        step_look(&t, s, k, status, w.ws, x[now], x[!now]);
        judge_step(&t, &book, v);
        if (ran_away(&t)) break;
        if (k % 4 == 0 && wants(only, ROTATION, UNITS)) judge_symmetries(&t, &d, v);
    }
    world_free(&w);
}
