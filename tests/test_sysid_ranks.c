/* test_sysid_ranks.c -- one fit in several ranks, here threads that exchange by memory: the bits of one process; a rank
 * that is stopped, that cannot reach the others, or that has read something else. */
#include "base/base.h"
#include "sysid/kicked/kicked.h"
#include "test_main.h"
#include <pthread.h>
#include <tribo/tribo.h>

enum { RANKS = 8, RECORDINGS = 5, ROWS = 41, FREE = 4, NX = 13, NDX = 12, ITERATIONS = 30 };

static const char *slide_xml =
    "<mujoco><option timestep='0.005' gravity='0 0 -9.81' cone='elliptic'/><custom><numeric name='floor/restitution' "
    "data='0.4'/></custom><worldbody><geom name='floor' type='plane' size='0 0 1' priority='1' friction='0.25'/>"
    "<body name='cube' pos='0 0 0.1'><freejoint/><geom name='cube' type='box' size='0.1 0.1 0.1' mass='1'/></body>"
    "</worldbody></mujoco>";

/* ---- exchange between threads ---- */

typedef struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t all;
    int count, waiting;
    unsigned long round;
    void *data[RANKS];
    bool wrong;
    int rounds, fail_at; /* round from which exchanging fails; 0 = never */
} meeting;

static void wait_for_all(meeting *m) {
    unsigned long round = m->round;
    if (++m->waiting == m->count) {
        m->waiting = 0, m->round++;
        pthread_cond_broadcast(&m->all);
    }
    while (m->round == round) pthread_cond_wait(&m->all, &m->lock);
}

typedef struct place {
    meeting *m;
    int own;
} place;

static tribo_status exchange(void *context, void *data, const size_t *at) {
    place *p = context;
    meeting *m = p->m;
    pthread_mutex_lock(&m->lock);
    m->data[p->own] = data;
    wait_for_all(m);
    if (p->own == 0) m->rounds++;
    pthread_mutex_unlock(&m->lock);
    for (int r = 0; r < m->count; r++) {
        if (at[r] % 8 || at[r] > at[r + 1]) m->wrong = true;
        if (r != p->own) memcpy((char *)data + at[r], (char *)m->data[r] + at[r], at[r + 1] - at[r]);
    }
    pthread_mutex_lock(&m->lock);
    wait_for_all(m);
    bool fails = m->fail_at && m->rounds >= m->fail_at;
    pthread_mutex_unlock(&m->lock);
    return fails ? TRIBO_E_IO : TRIBO_OK;
}

/* ---- what a rank does ---- */

typedef struct data {
    tribo_model *m;
    double time[ROWS], x[RECORDINGS][ROWS * NX];
} data;

typedef struct kind {
    tribo_loss loss;
    tribo_start start;
    tribo_optimizer optimizer;
    tribo_robust robust;
    double validation;
    int search;
    bool columns; /* how long a metre is and where the height begins are free too */
} kind;

typedef struct outcome {
    tribo_status fitted, observed, smoothed, judged;
    tribo_progress at;
    double theta[FREE], held, grad[FREE], H[FREE * FREE], information[FREE * FREE], X[ROWS * NX], cov[ROWS * NDX * NDX];
    double predicted[ROWS * NX];
    tribo_estimate est[FREE];
    int open;
} outcome;

typedef struct task {
    const data *d;
    const kind *k;
    int own, count, workers;
    place at;
    bool other; /* its recordings are not those of the others */
    int stops_after;
    volatile int stop;
    outcome out;
} task;

static tribo_sysid_def define(const data *d, const kind *k, tribo_free_param free[FREE],
                              tribo_recording rec[RECORDINGS]) {
    tribo_sysid_def def = tribo_default_sysid();
    const char *const names[] = {"floor/friction", "floor/restitution"};
    for (int i = 0; i < FREE; i++) free[i] = tribo_default_free();
    for (int i = 0; i < 2; i++) free[i].index = tribo_param_find(d->m, names[i]), free[i].start = i ? 0.3 : 0.4;
    free[2].column = TRIBO_COLUMN_GAIN, free[2].index = 0, free[2].numbers = 3;
    free[3].column = TRIBO_COLUMN_BIAS, free[3].index = 2;
    /* of different lengths, so that ranks have different shares */
    for (int i = 0; i < RECORDINGS; i++) rec[i] = (tribo_recording){.n = ROWS - 4 * i, .time = d->time, .x = d->x[i]};
    def.free = free, def.nfree = k->columns ? 4 : 2, def.rec = rec, def.nrec = RECORDINGS;
    def.loss = k->loss, def.window = k->loss == TRIBO_LOSS_SHOOTING ? 1 : 5, def.start = k->start;
    def.optimizer = k->optimizer, def.robust = k->robust, def.validation = k->validation, def.search = k->search;
    return def;
}

static void conclude(tribo_sysid *s, const kind *k, outcome *o) {
    double loss;
    int shown = 0;
    while (tribo_sysid_held_out(s, shown)) shown++;
    tribo_sysid_theta(s, o->theta);
    o->observed = tribo_sysid_observe(s, o->est, o->information, NULL, NULL, &o->open);
    o->judged = k->validation > 0 ? tribo_sysid_validation(s, o->theta, &o->held) : TRIBO_OK;
    if (k->loss == TRIBO_LOSS_SHOOTING) o->smoothed = tribo_sysid_smooth(s, shown, o->X, o->cov);
    for (int i = 0; i < ROWS * NDX * NDX; i++)
        if (isnan(o->cov[i])) o->cov[i] = -1;
    if (tribo_sysid_normal(s, o->theta, &loss, o->grad, o->H) < 0) o->judged = TRIBO_E_SINGULAR;
    if (tribo_sysid_predict(s, NULL, RECORDINGS - 1, o->predicted) < 0) o->judged = TRIBO_E_SINGULAR;
}

static void *run(void *argument) {
    task *t = argument;
    tribo_free_param free[FREE];
    tribo_recording rec[RECORDINGS];
    tribo_sysid_def def = define(t->d, t->k, free, rec);
    tribo_ranks ranks = {.count = t->count, .own = t->own, .exchange = exchange, .context = &t->at};
    tribo_sysid *s = NULL;
    def.workers = t->workers, def.stop = &t->stop;
    if (t->count) def.ranks = &ranks;
    if (t->other) rec[0].n--;
    t->out.fitted = tribo_sysid_new(t->d->m, &def, &s, NULL);
    for (int i = 0; i < ITERATIONS && t->out.fitted == TRIBO_OK && t->out.at.stage != TRIBO_STAGE_DONE; i++) {
        if (t->stops_after && i == t->stops_after) t->stop = 1;
        t->out.fitted = tribo_sysid_iterate(s, &t->out.at);
    }
    if (t->out.fitted == TRIBO_OK) conclude(s, t->k, &t->out);
    tribo_sysid_free(s);
    return NULL;
}

/* All ranks of a fit, as threads. */
static void run_ranks(task *t, int count, int fail_at) {
    meeting m = {.count = count, .fail_at = fail_at};
    pthread_t thread[RANKS];
    pthread_mutex_init(&m.lock, NULL), pthread_cond_init(&m.all, NULL);
    for (int r = 0; r < count; r++) {
        t[r].own = r, t[r].count = count, t[r].at = (place){&m, r};
        ck_assert_int_eq(pthread_create(&thread[r], NULL, run, &t[r]), 0);
    }
    for (int r = 0; r < count; r++) pthread_join(thread[r], NULL);
    ck_assert(!m.wrong);
    pthread_cond_destroy(&m.all), pthread_mutex_destroy(&m.lock);
}

/* Cubes that are thrown and slide, with noise. */
static void record(data *d) {
    tribo_diag diag = {0};
    tribo_ws *ws = NULL;
    ti_random dice = {7};
    ck_assert_msg(!tribo_model_load_memory(slide_xml, strlen(slide_xml), "test", NULL, &d->m, &diag), "%s", diag.text);
    ck_assert_int_eq(tribo_ws_new(d->m, NULL, NULL, &ws, NULL), TRIBO_OK);
    double *p = calloc((size_t)tribo_model_sizes(d->m).np, sizeof *p), x[NX];
    tribo_model_params(d->m, p);
    for (int i = 0; i < RECORDINGS; i++) {
        tribo_model_state0(d->m, x);
        x[2] = 0.1 + 0.05 * i, x[7] = 1.5 - 0.2 * i, x[8] = 0.3 * i;
        for (int k = 0; k < ROWS; k++) {
            d->time[k] = 0.02 * k;
            for (int j = 0; j < NX; j++) d->x[i][k * NX + j] = j < 7 ? x[j] : (double)NAN;
            for (int j = 0; j < 3; j++) d->x[i][k * NX + j] += 1e-3 * ti_random_normal(&dice);
            for (int j = 0; j < 4; j++) ck_assert_int_ge(tribo_step(ws, p, x, NULL, x, NULL), 0);
        }
    }
    free(p);
    tribo_ws_free(ws);
}

static void same(const outcome *a, const outcome *b, const char *what, int ranks) {
    ck_assert_msg(a->fitted == b->fitted && a->observed == b->observed && a->smoothed == b->smoothed, "%s, %d ranks",
                  what, ranks);
    ck_assert_msg(a->judged == b->judged && a->open == b->open, "%s, %d ranks", what, ranks);
    ck_assert_msg(!memcmp(&a->at, &b->at, sizeof a->at), "%s, %d ranks: progress", what, ranks);
    ck_assert_msg(!memcmp(a->theta, b->theta, sizeof a->theta), "%s, %d ranks: theta", what, ranks);
    for (int i = 0; i < FREE; i++) {
        ck_assert_msg(a->est[i].std_error == b->est[i].std_error, "%s, %d ranks: errors", what, ranks);
        ck_assert_msg(a->est[i].low95 == b->est[i].low95 && a->est[i].high95 == b->est[i].high95, "intervals");
    }
    ck_assert_msg(a->held == b->held && !memcmp(a->grad, b->grad, sizeof a->grad), "%s, %d ranks", what, ranks);
    ck_assert_msg(!memcmp(a->H, b->H, sizeof a->H), "%s, %d ranks: curvature", what, ranks);
    ck_assert_msg(!memcmp(a->information, b->information, sizeof a->information), "%s, %d ranks", what, ranks);
    ck_assert_msg(!memcmp(a->X, b->X, sizeof a->X), "%s, %d ranks: motion", what, ranks);
    ck_assert_msg(!memcmp(a->cov, b->cov, sizeof a->cov), "%s, %d ranks: covariance", what, ranks);
    ck_assert_msg(!memcmp(a->predicted, b->predicted, sizeof a->predicted), "%s, %d ranks: prediction", what, ranks);
}

START_TEST(the_bits_of_one_process) {
    static const struct {
        const char *what;
        kind k;
    } kinds[] = {
        {"shooting", {.loss = TRIBO_LOSS_SHOOTING, .robust = TRIBO_ROBUST_HUBER, .validation = 0.2, .search = 6}},
        {"columns", {.loss = TRIBO_LOSS_SHOOTING, .validation = 0.2, .search = 6, .columns = true}},
        {"rollouts", {.loss = TRIBO_LOSS_ROLLOUT, .start = TRIBO_START_AUTO, .robust = TRIBO_ROBUST_HUBER}},
        {"search", {.loss = TRIBO_LOSS_ROLLOUT, .start = TRIBO_START_ALONG, .search = 30}},
        {"windows", {.loss = TRIBO_LOSS_WINDOW, .optimizer = TRIBO_OPT_LBFGS, .validation = 0.4}},
        {"adam", {.loss = TRIBO_LOSS_ROLLOUT, .start = TRIBO_START_ALONG, .optimizer = TRIBO_OPT_ADAM}},
    };
    static const int counts[] = {2, 3, 8};
    static task alone, of[RANKS];
    data d;
    record(&d);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        alone = (task){.d = &d, .k = &kinds[k].k, .workers = 1};
        run(&alone);
        ck_assert_msg(alone.out.fitted == TRIBO_OK && alone.out.at.iteration > 0, "%s: %d after %d", kinds[k].what,
                      (int)alone.out.fitted, alone.out.at.iteration);
        for (int c = 0; c < 3; c++) {
            for (int r = 0; r < RANKS; r++) of[r] = (task){.d = &d, .k = &kinds[k].k, .workers = 1 + (r == 1)};
            run_ranks(of, counts[c], 0);
            for (int r = 0; r < counts[c]; r++) same(&alone.out, &of[r].out, kinds[k].what, counts[c]);
        }
    }
    tribo_model_free(d.m);
}
END_TEST

/* One rank is told to stop: all do, at the same place. */
START_TEST(all_stop_with_one) {
    static const kind shooting = {.loss = TRIBO_LOSS_SHOOTING, .robust = TRIBO_ROBUST_HUBER},
                      rollouts = {.loss = TRIBO_LOSS_ROLLOUT, .start = TRIBO_START_ALONG};
    static task of[RANKS];
    data d;
    record(&d);
    for (int k = 0; k < 2; k++) {
        for (int r = 0; r < RANKS; r++) of[r] = (task){.d = &d, .k = k ? &rollouts : &shooting, .workers = 1};
        of[2].stops_after = 3;
        run_ranks(of, 4, 0);
        for (int r = 0; r < 4; r++) {
            ck_assert_int_eq(of[r].out.fitted, TRIBO_INTERRUPTED);
            ck_assert_int_eq(of[r].out.at.iteration, of[0].out.at.iteration);
            ck_assert(!memcmp(&of[r].out.at, &of[0].out.at, sizeof of[0].out.at));
        }
    }
    tribo_model_free(d.m);
}
END_TEST

START_TEST(ranks_that_cannot_agree) {
    static const kind k = {.loss = TRIBO_LOSS_SHOOTING, .robust = TRIBO_ROBUST_HUBER};
    static task of[RANKS];
    data d;
    record(&d);
    for (int fail_at = 1; fail_at < 40; fail_at += 6) {
        for (int r = 0; r < RANKS; r++) of[r] = (task){.d = &d, .k = &k, .workers = 1};
        run_ranks(of, 3, fail_at);
        for (int r = 0; r < 3; r++) ck_assert_int_eq(of[r].out.fitted, TRIBO_E_IO);
    }
    for (int r = 0; r < RANKS; r++) of[r] = (task){.d = &d, .k = &k, .workers = 1, .other = r == 1};
    run_ranks(of, 3, 0);
    for (int r = 0; r < 3; r++) ck_assert_int_eq(of[r].out.fitted, TRIBO_E_ARG);
    tribo_model_free(d.m);
}
END_TEST

START_TEST(what_is_no_rank) {
    static const kind k = {.loss = TRIBO_LOSS_ROLLOUT};
    static const tribo_ranks wrong[] = {
        {.count = 0, .exchange = exchange}, {.count = 2, .own = 2, .exchange = exchange}, {.count = 2}};
    tribo_free_param free[FREE];
    tribo_recording rec[RECORDINGS];
    data d;
    record(&d);
    for (int i = 0; i < 3; i++) {
        tribo_sysid *s = NULL;
        tribo_diag diag = {0};
        tribo_sysid_def def = define(&d, &k, free, rec);
        def.ranks = &wrong[i];
        ck_assert_int_eq(tribo_sysid_new(d.m, &def, &s, &diag), TRIBO_E_ARG);
        ck_assert_msg(strstr(diag.text, "rank") != NULL, "%s", diag.text);
    }
    tribo_model_free(d.m);
}
END_TEST

static Suite *suite(void) {
    TCase *t = tcase_create("long"), *few = tcase_create("short");
    Suite *s = suite_create("sysid_ranks");
    tcase_set_timeout(t, 250);
    tcase_add_test(few, all_stop_with_one);
    tcase_add_test(few, ranks_that_cannot_agree);
    tcase_add_test(few, what_is_no_rank);
    tcase_add_test(t, the_bits_of_one_process);
    suite_add_tcase(s, few), suite_add_tcase(s, t);
    return s;
}
