/* scales.c -- how large noise and kicks are: first by what recordings and first motions show, then by what is left.
 *
 * docs/math.md eq. (322): each variance is the sum of squares over the number of them that are free, or, for kicks,
 * over the number that the recordings determine, so that kicks that nothing asks for die out.
 */
#include "model/model.h"
#include "sysid/kicked/kicked.h"

static double within(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

void ti_scales_weigh(tribo_sysid *s) {
    if (s->mark_group >= 0) s->mark_weight = 1 / s->shooting->noise[s->mark_group];
    if (s->plate_group >= 0) s->plate_weight = 1 / s->shooting->noise[s->plate_group];
    for (int i = 0; i < s->nrec; i++) {
        const ti_track *t = s->track + i;
        for (int k = 0; k < t->n; k++)
            for (int j = 0; j < s->z.ndx; j++) {
                double *w = t->w + (size_t)k * (size_t)s->z.ndx + j;
                int group = ti_noise_of(s, t, k, s->block[s->entry[j]].group);
                *w = *w > 0 ? 1 / s->shooting->noise[group] : 0;
            }
    }
}

void ti_scales_init(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    double L = tribo_model_extent(s->m), g = sqrt(s->p0[0] * s->p0[0] + s->p0[1] * s->p0[1] + s->p0[2] * s->p0[2]);
    if (!(L > 0)) L = 1;
    double fast = sqrt((g > 0 ? g : 9.81) * L), *shown = h->noise_shown;
    const double unit[TRIBO_BLOCKS] = {L, 2, fast, 2 * fast / L};
    for (int k = 0; k < TRIBO_BLOCKS; k++) h->unit[k] = unit[k], h->prior[k] = 10 * unit[k];
    for (int i = 0; i < 2 * s->nfree; i++) h->range[i] = i % 2 ? -HUGE_VAL : HUGE_VAL;
    s->plate_unit = ti_plates_unit(s);
    ti_noise_guess(s, shown);
    for (int i = 0; i < s->ngroup; i++) {
        int k = ti_group_kind(s, i), flight = s->ngroup + i;
        double one = i == s->plate_group ? s->plate_unit : unit[k];
        h->noise_least[i] = ti_max(1e-6 * one, 0.8 * shown[i]);
        h->noise_shown[i] = !ti_group_natural(s, i) && s->weight[k] > 0 ? 1 / s->weight[k]
                            : shown[i] > 0                              ? ti_max(shown[i], 1e-5 * one)
                                                                        : 0.01 * one;
        h->noise[i] = h->noise[flight] = h->noise_shown[flight] = h->noise_shown[i];
        h->noise_least[flight] = h->noise_least[i];
        if (s->threshold_auto[k]) s->threshold[i] = 4; /* of three normal numbers one in a thousand is beyond */
    }
    h->kick_least[TI_KICK_LINEAR] = 1e-6 * fast, h->kick_least[TI_KICK_ANGULAR] = 1e-6 * fast / L;
}

/* Weighted squares of kicks, in units of their scale, and how many. */
static void kick_sums(const tribo_sysid *s, int kind, double *sum, double *n) {
    double weight, size = s->kick[kind];
    for (int i = 0; i < s->nrec; i++) {
        const ti_track *t = s->track + i;
        const ti_path *path = s->shooting->path + i;
        for (int k = t->first; k < t->n && !t->held_out; k++) {
            if (!ti_path_node(s, t, path->touch, k)) continue;
            const double *w = path->w + (size_t)k * (size_t)s->z.nv;
            for (int a = 0; a < s->nblock; a++) {
                const ti_block *b = &s->block[a];
                double square = 0;
                if (b->kind != TRIBO_BLOCK_VELOCITY + kind) continue;
                for (int j = b->at - s->z.nv; j < b->at - s->z.nv + b->n; j++) square += w[j] * w[j];
                ti_kick_rho(s, w, b, size, &weight);
                *sum += weight * square / (size * size), *n += b->n / 3.;
            }
        }
    }
}

/* Nothing but noise is in a flight: it is no larger than it shows, whatever what comes after asks of it. A wider one,
 * if only at first, has gravity and sizes go where impacts want them, and there is no way back as it narrows. */
static double flight_within(const tribo_sysid *s, int group, double noise) {
    const double most = 2;
    double shown = s->shooting->noise_shown[group];
    return group >= s->ngroup && shown > 0 && ti_all_free(s->m) ? ti_min(noise, most * shown) : noise;
}

void ti_scales_guess(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    double *miss = h->total.square, *n = h->total.freedom, *r = s->worker[0].r;
    memset(miss, 0, 2 * (size_t)s->ngroup * sizeof *miss), memset(n, 0, 2 * (size_t)s->ngroup * sizeof *n);
    for (int i = 0; i < s->nrec; i++) {
        const ti_track *t = s->track + i;
        for (int k = t->first; k < ti_path_end(t, h->path + i) && !t->held_out; k++) {
            const double *x = h->path[i].x + (size_t)k * (size_t)s->z.nx;
            if (t->mark) ti_marked_square(s->worker, t, k, x, &miss[s->mark_group], &n[s->mark_group]);
            if (t->force)
                ti_pressed_square(s->worker, t, k, ti_path_forces(s, t, h->path[i].x), &miss[s->plate_group],
                                  &n[s->plate_group]);
            ti_residual(s, t, k, x, r);
            for (int j = 0; j < s->z.nv; j++) {
                int group = ti_noise_of(s, t, k, s->block[s->entry[j]].group);
                miss[group] += r[j] * r[j], n[group]++;
            }
        }
    }
    /* wide at first, so that the motions can close in on the measurements */
    for (int i = 0; i < 2 * s->ngroup; i++)
        if (ti_group_kind(s, i % s->ngroup) <= TRIBO_BLOCK_ROTATION && ti_group_natural(s, i % s->ngroup))
            h->noise[i] = flight_within(s, i, h->noise[i] * ti_max(1, sqrt(miss[i] / ti_max(n[i], 1))));
    for (int k = 0; k < TI_KICK_KINDS; k++) {
        double least = 1e-3 * h->unit[TRIBO_BLOCK_VELOCITY + k];
        if (!(s->kick[k] > 0)) continue;
        s->kick[k] = 1e3 * least, h->kick_last[k] = 1;
        for (int pass = 0; pass < 20; pass++) {
            double sum = 0, count = 0;
            kick_sums(s, k, &sum, &count);
            s->kick[k] = ti_max(s->kick[k] * (count > 0 ? sqrt(sum / (3 * count)) : 0), least);
        }
    }
    ti_scales_weigh(s);
}

static ti_noise_sums add_up(const tribo_sysid *s) {
    ti_noise_sums sum = s->shooting->total;
    memset(sum.square, 0, 2 * (size_t)s->ngroup * sizeof *sum.square);
    memset(sum.freedom, 0, 2 * (size_t)s->ngroup * sizeof *sum.freedom);
    for (int i = 0; i < s->nrec; i++) {
        const ti_noise_sums *one = s->shooting->sums + i;
        if (s->track[i].held_out) continue;
        for (int k = 0; k < 2 * s->ngroup; k++) sum.square[k] += one->square[k], sum.freedom[k] += one->freedom[k];
        for (int k = 0; k < TI_KICK_KINDS; k++) sum.kick[k] += one->kick[k], sum.known[k] += one->known[k];
        sum.nkick += one->nkick;
    }
    return sum;
}

double ti_scales_update(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    ti_noise_sums sum = add_up(s);
    double change = 0;
    for (int k = 0; k < 2 * s->ngroup; k++) {
        if (!(sum.freedom[k] > 1) || !ti_group_natural(s, k % s->ngroup)) continue;
        double factor = within(sqrt(sum.square[k] / sum.freedom[k]), 0.1, 2), old = h->noise[k];
        h->noise[k] = flight_within(s, k, ti_max(factor * old, h->noise_least[k]));
        change = ti_max(change, fabs(h->noise[k] / old - 1));
    }
    for (int k = 0; k < TI_KICK_KINDS; k++) {
        if (!(s->kick[k] > 0)) continue;
        double factor = within(sqrt(sum.kick[k] / ti_max(sum.known[k], 1e-9)), 0.3, 2);
        if (sum.known[k] < 0.02 || s->kick[k] * factor < h->kick_least[k]) factor = 0;
        /* slow where it goes one way; two kinds in exchange for one another go to and fro */
        bool turned = (factor > 1) != (h->kick_last[k] > 1);
        factor = factor > 0 ? within(pow(factor, turned ? 0.5 : 1.7), 0.2, 3) : 0;
        s->kick[k] *= factor, h->kick_last[k] = factor;
        change = ti_max(change, fabs(factor - 1));
    }
    h->freedom = 0, h->known = sum.known[0] + sum.known[1], h->kicks = sum.nkick;
    for (int k = 0; k < 2 * s->ngroup; k++) h->freedom += sum.freedom[k];
    ti_scales_weigh(s);
    return change;
}

bool ti_scales_explain_one(const tribo_sysid *s, int recording, double slack) {
    const double most = 4; /* standard deviations of a sum of squares */
    const struct ti_shooting *h = s->shooting;
    const ti_noise_sums *sum = h->sums + recording;
    for (int k = 0; k < 2 * s->ngroup; k++) {
        double ratio = h->noise[k] / h->noise_shown[k], n = sum->freedom[k];
        if (n > 1 && sum->square[k] * ratio * ratio > n * (1 + slack + most * sqrt(2 / n))) return false;
    }
    return true;
}

double ti_scales_misfit(const tribo_sysid *s) {
    const struct ti_shooting *h = s->shooting;
    ti_noise_sums sum = add_up(s);
    double worst = 0;
    for (int k = 0; k < 2 * s->ngroup; k++) {
        double ratio = h->noise[k] / h->noise_shown[k];
        if (sum.freedom[k] > 1) worst = ti_max(worst, sum.square[k] / sum.freedom[k] * ratio * ratio);
    }
    return worst;
}

bool ti_scales_explain(const tribo_sysid *s, double slack) {
    for (int i = 0; i < s->nrec; i++)
        if (!s->track[i].held_out && !ti_scales_explain_one(s, i, slack)) return false;
    return true;
}

double ti_scales_evidence(const tribo_sysid *s) {
    double sum = 0;
    for (int i = 0; i < s->nrec; i++) {
        const ti_track *t = s->track + i;
        const ti_path *path = s->shooting->path + i;
        if (t->held_out) continue;
        sum += path->cost + path->logdet;
        for (int k = t->first; k < t->n; k++) {
            for (int site = 0; site < s->z.nsite; site++)
                if (ti_marker_seen(s, t, k, site)) sum += 3 * 2 * log(s->shooting->noise[s->mark_group]);
            for (int plate = 0; plate < s->nplate; plate++)
                if (ti_plate_seen(s, t, k, plate)) sum += 3 * 2 * log(s->shooting->noise[s->plate_group]);
            for (int j = 0; j < s->z.ndx; j++) {
                const double *w = t->w + (size_t)k * (size_t)s->z.ndx + j;
                bool counts = *w > 0 && !ti_derived(s, t, k, s->entry[j]);
                int group = ti_noise_of(s, t, k, s->block[s->entry[j]].group);
                sum += counts ? 2 * log(s->shooting->noise[group]) : 0;
            }
        }
    }
    return sum;
}
