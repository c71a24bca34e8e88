/* unknown.c -- what a robot's recordings tell of what it stands on and of what it holds, with intervals, and what they
 * do not tell.
 *
 * The friction of each foot of a quadruped from a slip; mass and centre of a payload from angles and torques of an arm.
 *
 * usage: unknown [SETS [FIRST [each]]]
 *
 * SETS of each experiment, 1 by default, with noise from seed FIRST on, 1 by default; `each`: every set is printed */
#include "cubes.h"
#include "example.h"
#include "recorded.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FREE = 4 };

typedef struct experiment {
    const char *title;
    tribo_model *m;
    const char *const *name;
    const double *truth;
    double step, least, most; /* of the fit, s; factors of the truth that starts are drawn between */
    const double *bound;      /* to either side of 0; NULL = none */
} experiment;

/* Nobody holds what is a metre away. Without, one fit of five runs off to where a mass is far and next to nothing. */
static const double payload_bound[PAYLOAD_FREE] = {INFINITY, 1, 1, 1};

typedef struct counts {
    int sets, held[FREE], told[FREE], open;
    double off[FREE], error[FREE];
} counts;

static void fit(const experiment *e, recorded *r, uint64_t seed, tribo_estimate *est, int *open) {
    tribo_free_param free_[FREE];
    tribo_sysid_def def = tribo_default_sysid();
    tribo_options o = tribo_default_options();
    tribo_sysid *s = NULL;
    tribo_progress now = {0};
    for (int i = 0; i < 10; i++) cubes_uniform(&seed);
    for (int i = 0; i < FREE; i++) {
        free_[i] = tribo_default_free();
        free_[i].index = parameter(e->m, e->name[i]);
        free_[i].start = e->truth[i] * (e->least + (e->most - e->least) * cubes_uniform(&seed));
        if (e->bound) free_[i].lower = -e->bound[i], free_[i].upper = e->bound[i];
    }
    o.dt = e->step;
    def.free = free_, def.nfree = FREE, def.rec = &r->rec, def.nrec = 1, def.options = &o, def.workers = 2;
    def.loss = TRIBO_LOSS_SHOOTING, def.start = TRIBO_START_AUTO, def.robust = TRIBO_ROBUST_HUBER;
    need(tribo_sysid_new(e->m, &def, &s, NULL), e->title);
    if (tribo_sysid_fit(s, 200, &now) < 0) need(TRIBO_E_ARG, e->title);
    need(tribo_sysid_observe(s, est, NULL, NULL, NULL, open), e->title);
    tribo_sysid_free(s);
}

static void count(const experiment *e, const tribo_estimate *est, int open, bool each, counts *c) {
    c->sets++, c->open += open;
    for (int i = 0; i < FREE; i++) {
        c->held[i] += est[i].low95 <= e->truth[i] && e->truth[i] <= est[i].high95;
        c->told[i] += est[i].identifiable;
        c->off[i] += pow(est[i].estimate - e->truth[i], 2), c->error[i] += est[i].std_error;
        if (each) printf("  %s: %.5g +- %.2g from %.3g\n", e->name[i], est[i].estimate, est[i].std_error, est[i].start);
    }
}

static void print(const experiment *e, const char *word, const counts *c) {
    int held = 0;
    printf("%s, %d sets:\n", e->title, c->sets);
    for (int i = 0; i < FREE; i++) {
        held += c->held[i];
        printf("  %-16s truth %6.3f, rms error %.2g, standard error %.2g; told in %d, inside the interval in %d\n",
               e->name[i], e->truth[i], sqrt(c->off[i] / c->sets), c->error[i] / c->sets, c->told[i], c->held[i]);
    }
    printf("%s_held %.4g\n%s_open %d\n", word, (double)held / (FREE * c->sets), word, c->open);
}

/* What a recording leaves open in which nothing slips. */
static void unexcited(const experiment *e, recorded r) {
    tribo_estimate est[FREE];
    int open;
    fit(e, &r, 1, est, &open);
    printf("pulled by 1 N they stand; of their friction is not told:");
    for (int i = 0; i < FREE; i++)
        if (!est[i].identifiable) printf(" %s", e->name[i]);
    printf("\nfeet_standing_open %d\n", open);
    recorded_free(&r);
}

int main(int argc, char **argv) {
    int sets = argc > 1 ? atoi(argv[1]) : 1, first = argc > 2 ? atoi(argv[2]) : 1;
    bool each = argc > 3;
    counts slip = {0}, payload = {0};
    tribo_estimate est[FREE];
    experiment feet = {
        "feet of a quadruped that slips", slip_scene("data/scenes"), slip_name, slip_truth, 5e-4, 0.5, 1.5, NULL};
    experiment arm = {"payload of an arm", payload_scene("data/scenes"), payload_name, payload_truth, 5e-4, 0.3, 1.7,
                      payload_bound};
    if (sets < 1 || first < 1 || !feet.m || !arm.m)
        need(TRIBO_E_IO, "usage: unknown [SETS [FIRST [each]]], in the root of the project");
    for (int i = first; i < first + sets; i++) {
        int open;
        recorded r = slip_record(feet.m, 16, (uint64_t)i);
        double begun = seconds();
        fit(&feet, &r, (uint64_t)(100 + i), est, &open);
        if (each) printf("%.1f s\n", seconds() - begun);
        count(&feet, est, open, each, &slip), recorded_free(&r);
        r = payload_record(arm.m, 3e-3, (uint64_t)i);
        begun = seconds();
        fit(&arm, &r, (uint64_t)(100 + i), est, &open);
        if (each) printf("%.1f s\n", seconds() - begun);
        count(&arm, est, open, each, &payload), recorded_free(&r);
        fflush(stdout);
    }
    print(&feet, "feet", &slip), print(&arm, "payload", &payload);
    unexcited(&feet, slip_record(feet.m, 1, 1));
    tribo_model_free(feet.m), tribo_model_free(arm.m);
    return 0;
}
