/* crossval.c -- see crossval.h. */
#include "crossval.h"
#include "progress.h"
#include "ranks.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FREEDOM = 3 }; /* of Student's t: some rows are far off where motion is chaotic, and shall not decide alone */

/* What one part of the recordings is fitted and judged with. */
typedef struct part {
    const identification *id;
    tribo_sysid_def def;
    tribo_recording *train, *held; /* (recordings) */
    int *which;                    /* (recordings) the held ones' places */
    int ntrain, nheld;
} part;

static void divide(part *p, int number, int parts) {
    p->ntrain = p->nheld = 0;
    for (int i = 0; i < p->id->r.n; i++)
        if (i % parts == number)
            p->which[p->nheld] = i, p->held[p->nheld++] = p->id->r.rec[i];
        else
            p->train[p->ntrain++] = p->id->r.rec[i];
}

/* Mean square of an axis over all recordings of s, by kind. */
static bool spread(tribo_sysid *s, const part *p, const tribo_recording *rec, int n, double scale[QUALITY_KINDS]) {
    quality q = {0};
    for (int i = 0; i < n; i++) {
        residuals r;
        if (!residuals_of(&r, s, p->id->m, &rec[i], i)) return false;
        quality_add(&q, &r, p->id->m, &rec[i]);
        residuals_free(&r);
    }
    quality_settle(&q, tribo_model_extent(p->id->m));
    for (int kind = 0; kind < QUALITY_KINDS; kind++)
        scale[kind] = isnan(q.rms[kind]) ? 1 : q.rms[kind] > q.sigma[kind] ? q.rms[kind] : q.sigma[kind];
    return true;
}

/* Mean logarithm of the density of a recording's residuals under Student's t of that variance. */
static double likelihood(const residuals *r, const double scale[QUALITY_KINDS]) {
    double sum = 0;
    long n = 0;
    for (int k = 0; k < r->n * r->nv; k++) {
        double s = scale[tribo_model_turns(r->m, k % r->nv)] * sqrt((FREEDOM - 2.) / FREEDOM), x = r->r[k] / s;
        if (isnan(x)) continue;
        sum += -log(s) - (FREEDOM + 1) / 2. * log1p(x * x / FREEDOM) + lgamma((FREEDOM + 1) / 2.) -
               lgamma(FREEDOM / 2.) - log(FREEDOM * 3.141592653589793) / 2;
        n++;
    }
    return n ? sum / (double)n : (double)NAN;
}

/* Judge the numbers of p on the recordings held out. */
static tribo_status judge(const part *p, const double *numbers, const double *scale, contender *c) {
    tribo_sysid_def def = p->def;
    tribo_sysid *s = NULL;
    def.ranks = NULL, def.free = NULL, def.nfree = 0, def.rec = p->held, def.nrec = p->nheld;
    tribo_status status = tribo_sysid_new(p->id->m, &def, &s, NULL);
    for (int i = 0; i < p->nheld && status >= 0; i++) {
        tribo_errors e;
        residuals r;
        /* a model that fails on a recording predicts it as badly as can be */
        c->score[p->which[i]] = log(1e-6);
        if (!residuals_at(&r, s, numbers, p->id->m, &p->held[i], i)) continue;
        c->score[p->which[i]] = likelihood(&r, scale);
        residuals_free(&r);
        if (tribo_sysid_errors(s, numbers, i, &e) >= 0) mean_add(&c->held, &e);
    }
    tribo_sysid_free(s);
    return status;
}

static tribo_status fit_part(const part *p, const tribo_free_param *chosen, int nfree, contender *c) {
    tribo_sysid_def def = p->def;
    tribo_sysid *s = NULL;
    tribo_progress at;
    tribo_sizes z = tribo_model_sizes(p->id->m);
    double *theta = calloc((size_t)nfree + (size_t)z.np, sizeof *theta), *numbers = theta + nfree;
    double scale[QUALITY_KINDS];
    if (!theta) return TRIBO_E_NOMEM;
    def.free = chosen, def.nfree = nfree, def.rec = p->train, def.nrec = p->ntrain;
    tribo_status status = tribo_sysid_new(p->id->m, &def, &s, NULL);
    if (status >= 0) status = tribo_sysid_fit(s, (int)p->id->a->iterations, &at);
    if (status == TRIBO_NOT_CONVERGED) status = TRIBO_OK;
    if (status >= 0 && status != TRIBO_INTERRUPTED) {
        tribo_sysid_theta(s, theta);
        tribo_sysid_params(s, theta, numbers);
        if (!spread(s, p, p->train, p->ntrain, scale)) status = TRIBO_E_NONFINITE;
        if (status >= 0) status = judge(p, numbers, scale, c);
    }
    tribo_sysid_free(s);
    free(theta);
    return status;
}

/* Those of --free that a list of names, with commas between, has. @return how many; -1 after a message. */
static int choose(const identification *id, const char *names, tribo_free_param *chosen) {
    int np = tribo_model_sizes(id->m).np, n = 0;
    char *list = calloc(strlen(names) + 1, 1);
    int *index = calloc((size_t)np, sizeof *index);
    if (!list || !index) {
        free(list), free(index);
        trouble("no memory");
        return -1;
    }
    memcpy(list, names, strlen(names));
    for (char *at = list, *end; at && n >= 0; at = end) {
        end = strchr(at, ',');
        if (end) *end++ = 0;
        if (!strcmp(at, "none")) continue;
        int found = tribo_param_group(id->m, at, index, np), taken = 0;
        for (int k = 0; k < found; k++)
            for (int i = 0; i < id->nfree; i++)
                if (id->free[i].index == index[k]) chosen[n++] = id->free[i], taken++;
        if (taken) continue;
        usage_error(&verb_identify, "--compare: %s is not among those of --free", at);
        n = -1;
    }
    free(list), free(index);
    return n;
}

/* The best, how far the others are behind, and the simplest that is not. */
static void rank(comparison *c, int n) {
    for (int k = 0; k < c->n; k++) {
        c->of[k].likelihood = 0;
        for (int i = 0; i < n; i++) c->of[k].likelihood += c->of[k].score[i] / n;
        if (c->of[k].likelihood > c->of[c->best].likelihood) c->best = k;
    }
    c->advised = c->best;
    for (int k = 0; k < c->n; k++) {
        contender *of = c->of + k;
        double square = 0;
        of->behind = c->of[c->best].likelihood - of->likelihood;
        for (int i = 0; i < n; i++) {
            double d = c->of[c->best].score[i] - of->score[i] - of->behind;
            square += d * d;
        }
        of->behind_error = n > 1 ? sqrt(square / (n - 1) / n) : HUGE_VAL;
        if (of->behind <= of->behind_error && of->nfree < c->of[c->advised].nfree) c->advised = k;
    }
}

static int run_parts(comparison *c, part *p) {
    tribo_free_param *chosen = calloc((size_t)p->id->nfree + 1, sizeof *chosen);
    int status = chosen ? EXIT_SUCCESS : trouble("no memory");
    for (int k = 0; k < c->n && status == EXIT_SUCCESS; k++) {
        contender *of = c->of + k;
        of->nfree = p->id->nfree;
        if (of->names) of->nfree = choose(p->id, of->names, chosen);
        if (of->nfree < 0) status = EXIT_USAGE;
        for (int f = 0; f < c->parts && status == EXIT_SUCCESS; f++) {
            progress_state(true, "%s free: without part %d of %d", of->names ? of->names : "all", f + 1, c->parts);
            divide(p, f, c->parts);
            tribo_status s = fit_part(p, of->names ? chosen : p->id->free, of->nfree, of);
            if (s == TRIBO_INTERRUPTED || ranks_interrupted()) {
                c->interrupted = true;
                free(chosen);
                return EXIT_SUCCESS;
            }
            if (s < 0) status = input_message(p->id->a->scene, 0, "part %d: %s", f + 1, step_text(s, 0));
        }
    }
    free(chosen);
    return status;
}

int compare_check(const identification *id) {
    int status = EXIT_SUCCESS;
    if (!id->a->folds) return status;
    if (id->r.n < 2) return usage_error(&verb_identify, "--folds: one recording cannot be held out of itself");
    tribo_free_param *chosen = calloc((size_t)id->nfree + 1, sizeof *chosen);
    if (!chosen) return trouble("no memory");
    for (int i = 0; i < id->a->compare.n && status == EXIT_SUCCESS; i++)
        if (choose(id, id->a->compare.item[i], chosen) < 0) status = EXIT_USAGE;
    free(chosen);
    return status;
}

int compare_sets(comparison *c, const identification *id, const tribo_sysid_def *template) {
    const string_list *sets = &id->a->compare;
    size_t n = (size_t)id->r.n;
    part p = {.id = id, .def = *template};
    *c = (comparison){.n = sets->n + 1, .parts = (int)id->a->folds < id->r.n ? (int)id->a->folds : id->r.n};
    p.def.validation = 0;
    /* parts are judged by their answers: nobody asks for the intervals of these, for which a second fit is made */
    if (p.def.loss == TRIBO_LOSS_SHOOTING && !p.def.window) p.def.window = TRIBO_SHOOTING_ROWS;
    p.train = calloc(n, sizeof *p.train), p.held = calloc(n, sizeof *p.held), p.which = calloc(n, sizeof *p.which);
    c->of = calloc((size_t)c->n, sizeof *c->of);
    bool good = p.train && p.held && p.which && c->of;
    for (int k = 0; good && k < c->n; k++) {
        c->of[k].names = k ? sets->item[k - 1] : NULL;
        good = (c->of[k].score = calloc(n, sizeof(double))) != NULL;
    }
    int status = good ? run_parts(c, &p) : trouble("no memory");
    if (status == EXIT_SUCCESS) rank(c, id->r.n);
    free(p.train), free(p.held), free(p.which);
    return status;
}

static const char *name_of(const contender *of) {
    return of->names ? of->names : "all of --free";
}

void comparison_print(const comparison *c) {
    if (!c->n || c->interrupted) return;
    printf("\n%-28s %5s %14s %10s %8s   held out, %d parts\n", "free", "free", "log-likelihood", "position, m", "deg",
           c->parts);
    for (int k = 0; k < c->n; k++) {
        tribo_errors e = mean_of(&c->of[k].held);
        printf("%-28s %5d %14.4f %10.5f %8.2f", name_of(c->of + k), c->of[k].nfree, c->of[k].likelihood,
               e.position_mean, e.rotation_mean_deg);
        if (k == c->best)
            fputs("   the best", stdout);
        else
            printf("   behind by %.4f +- %.4f", c->of[k].behind, c->of[k].behind_error);
        puts(k == c->advised ? "; advised" : "");
    }
    if (c->advised != c->best)
        puts("the freedom of the best does not pay: fewer free parameters predict what was held out as well, to its "
             "error");
    else if (c->best && c->of[c->best].nfree < c->of[0].nfree)
        puts("freeing them all predicts worse what was held out");
}

json_t *comparison_json(const comparison *c) {
    json_t *list = json_array();
    for (int k = 0; k < c->n && !c->interrupted; k++) {
        tribo_errors e = mean_of(&c->of[k].held);
        json_t *o = errors_json(&e);
        json_object_set_new(o, "free", json_string(name_of(c->of + k)));
        json_object_set_new(o, "nfree", json_integer(c->of[k].nfree));
        json_object_set_new(o, "log_likelihood", json_number(c->of[k].likelihood));
        json_object_set_new(o, "behind", json_number(c->of[k].behind));
        json_object_set_new(o, "behind_error", json_number(c->of[k].behind_error));
        json_object_set_new(o, "best", json_boolean(k == c->best));
        json_object_set_new(o, "advised", json_boolean(k == c->advised));
        json_array_append_new(list, o);
    }
    return list;
}

void comparison_free(comparison *c) {
    for (int k = 0; c->of && k < c->n; k++) free(c->of[k].score);
    free(c->of);
    *c = (comparison){0};
}
