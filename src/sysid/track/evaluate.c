/* evaluate.c -- the loss over all recordings: a job each, sums in the order of the recordings. */
#include "sysid/track/fit.h"
#include <stdlib.h>

/* Tapes for the reverse, when it is first wanted: a long recording's are large. */
tribo_status ti_reverse_ready(tribo_sysid *s) {
    for (int i = 0; i < s->nworker; i++) {
        ti_worker *w = s->worker + i;
        for (int j = 0; j < s->ndt; j++) {
            if (w->whole[j] || !s->dt_steps[j]) continue;
            tribo_status status = tribo_tape_new(w->ws[j * TI_LENGTHS], s->dt_steps[j], 0, &w->whole[j]);
            if (status) return status;
        }
    }
    return TRIBO_OK;
}

typedef struct request {
    bool held_out;
    ti_want want;
} request;

static tribo_status shoot_job(ti_worker *w, int i, void *context) {
    const request *q = context;
    tribo_sysid *s = w->s;
    if (s->track[i].held_out != q->held_out) return TRIBO_OK;
    bool derivatives = q->want == TI_WANT_FORWARD || q->want == TI_WANT_REVERSE;
    ti_shoot(w, i, s->p, derivatives ? s->P : NULL, q->want, s->sum + i);
    return s->sum[i].status;
}

tribo_status ti_evaluate(tribo_sysid *s, const double *theta, bool held_out, ti_want want, double *loss, double *g,
                         double *H) {
    size_t n = (size_t)s->nfree;
    long blocks = 0;
    request q = {held_out, want};
    *loss = HUGE_VAL;
    ti_at(s, theta);
    tribo_status status = tribo_params_check(s->m, s->p, NULL);
    if (status) return status;
    tribo_sysid_map_jac(s, theta, s->P);
    s->progress.evaluations++;
    if (want == TI_WANT_REVERSE) status = ti_reverse_ready(s);
    if (status) return status;
    ti_tell tell = want == TI_WANT_NORMS ? TI_TELL_ROWS : want == TI_WANT_VALUE ? TI_TELL_LOSS : TI_TELL_SLOPES;
    status = ti_parallel(s, tell, shoot_job, &q);
    if (status) return status;
    for (int i = 0; i < s->nrec; i++)
        if (s->track[i].held_out == held_out) blocks += s->sum[i].nblock;
    if (!blocks) return TRIBO_E_ARG;
    double total = 0;
    if (g) memset(g, 0, n * sizeof *g);
    if (H) memset(H, 0, n * n * sizeof *H);
    for (int i = 0; i < s->nrec; i++) {
        const ti_track *t = s->track + i;
        if (t->held_out != held_out) continue;
        size_t nd = (size_t)ti_dirs(s, t);
        total += s->sum[i].loss;
        for (size_t a = 0; g && a < n; a++) g[a] += s->sum[i].g[a];
        for (size_t a = 0; H && a < n; a++)
            for (size_t b = 0; b < n; b++) H[a * n + b] += s->sum[i].H[a * nd + b];
    }
    double scale = 1 / (double)blocks;
    *loss = total * scale;
    for (size_t a = 0; g && a < n; a++) g[a] *= scale;
    for (size_t a = 0; H && a < n * n; a++) H[a] *= scale;
    return TRIBO_OK;
}

/* Median over the training recordings of the norms of one group, in flight before the first contact or after it. */
static double median(tribo_sysid *s, int group, bool flight) {
    size_t n = 0, nb = (size_t)s->nblock;
    for (int i = 0; i < s->nrec; i++) {
        const ti_track *t = s->track + i;
        if (t->held_out) continue;
        for (int k = 0; k < t->n; k++) {
            if (flight != (t->start != TRIBO_START_ALONG && k < t->first + t->nflight)) continue;
            for (size_t b = 0; b < nb; b++) {
                double norm = t->norm[(size_t)k * nb + b];
                if (norm >= 0 && s->block[b].group == group) s->norms[n++] = norm;
            }
        }
    }
    qsort(s->norms, n, sizeof *s->norms, ti_ascending);
    return n ? s->norms[n / 2] : 0;
}

/* Weigh the rows of flights by the spread they have themselves: what a flight says of gravity and of the centre of mass
 * is exact to the noise, and would be lost beside what is left of a motion after some impacts. */
static void boost_flights(tribo_sysid *s, int group, double factor) {
    for (int i = 0; i < s->nrec; i++) {
        const ti_track *t = s->track + i;
        if (t->start == TRIBO_START_ALONG) continue;
        for (int k = t->first; k < t->first + t->nflight; k++)
            for (int b = 0; b < s->nblock; b++) {
                double *w = t->w + (size_t)k * (size_t)s->z.ndx + s->block[b].at;
                for (int j = 0; s->block[b].group == group && j < s->block[b].n; j++) w[j] *= factor;
            }
    }
}

tribo_status ti_thresholds(tribo_sysid *s, const double *theta) {
    const double boost_max = 100;
    double loss;
    if (s->robust == TRIBO_ROBUST_NONE) return TRIBO_OK;
    tribo_status status = ti_evaluate(s, theta, false, TI_WANT_NORMS, &loss, NULL, NULL);
    if (status) return status;
    for (int group = 0; group < s->ngroup; group++) {
        int kind = ti_group_kind(s, group);
        double rest = median(s, group, false), flight = median(s, group, true);
        if (kind <= TRIBO_BLOCK_ROTATION && s->loss == TRIBO_LOSS_ROLLOUT && flight > 0 && rest > 0) {
            double wanted = rest / flight * s->boost[group], most = boost_max;
            wanted = wanted < 1 ? 1 : wanted > most ? most : wanted;
            boost_flights(s, group, wanted / s->boost[group]);
            s->boost[group] = wanted;
        }
        if (s->threshold_auto[kind]) s->threshold[group] = 1.5 * (rest > 0 ? rest : flight);
    }
    return TRIBO_OK;
}
