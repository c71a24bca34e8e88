/* looks.c -- recordings looked at before anything is made of them, and what is told of it. */
#include "progress.h"
#include "recording.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Recordings that are looked at by several threads, each the next. */
typedef struct looks {
    const recordings *r;
    const tribo_model *m;
    tribo_status *status; /* (n) */
    tribo_diag *diag;     /* (n) */
    pthread_mutex_t lock;
    int next;
} looks;

static int next_of(looks *l) {
    pthread_mutex_lock(&l->lock);
    int i = l->next++;
    pthread_mutex_unlock(&l->lock);
    return i;
}

static void *look_at_some(void *context) {
    looks *l = context;
    const recordings *r = l->r;
    for (int i; (i = next_of(l)) < r->n;) {
        progress_state(false, "recording %d of %d", i + 1, r->n);
        /* of markers their distances are looked at, when poses are made of them */
        if (!r->rec[i].marker)
            l->status[i] = tribo_checked_new(l->m, NULL, &r->rec[i], NULL, &r->checked[i], &l->diag[i]);
    }
    return NULL;
}

/* Take what is mended for a recording. */
static int settle(recordings *r, int i, tribo_status s, const tribo_diag *diag) {
    if (s < 0) return input_error(r->path[i], s, diag);
    if (!r->checked[i]) return EXIT_SUCCESS;
    const tribo_finding *flaw = tribo_checked_refused(r->checked[i]);
    if (flaw) return input_message(r->path[i], 0, "%s (--as-is takes it all the same)", flaw->text);
    recording_free(&r->rec[i]);
    r->rec[i] = tribo_checked_recording(r->checked[i]);
    return EXIT_SUCCESS;
}

int recordings_look(recordings *r, const tribo_model *m) {
    enum { THREADS = 64 };
    pthread_t thread[THREADS];
    int threads = 0, status = EXIT_SUCCESS;
    looks l = {r, m, calloc((size_t)r->n, sizeof *l.status), calloc((size_t)r->n, sizeof *l.diag), .next = 0};
    if (!l.status || !l.diag || pthread_mutex_init(&l.lock, NULL)) {
        free(l.status), free(l.diag);
        return trouble("no memory");
    }
    while (threads < processors() - 1 && threads < r->n - 1 &&
           !pthread_create(&thread[threads], NULL, look_at_some, &l))
        threads++;
    look_at_some(&l);
    while (threads) pthread_join(thread[--threads], NULL);
    bool fine = true;
    for (int i = 0; i < r->n; i++) fine &= l.status[i] >= 0;
    if (fine && !recordings_agree(r, m)) status = trouble("no memory");
    for (int i = 0; i < r->n && status == EXIT_SUCCESS; i++) status = settle(r, i, l.status[i], &l.diag[i]);
    pthread_mutex_destroy(&l.lock);
    free(l.status), free(l.diag);
    return status;
}

/* How many recordings after i say the same as finding f of it; -1 where one before it has said so. */
static int echoes(const recordings *r, int i, const tribo_finding *f) {
    int count = 0;
    for (int j = 0; j < r->n; j++) {
        int n;
        const tribo_finding *found = tribo_checked_findings(r->checked[j], &n);
        for (int k = 0; k < n && j != i; k++) {
            if (strcmp(found[k].text, f->text) != 0) continue;
            if (j < i) return -1;
            count++;
            break;
        }
    }
    return count;
}

void recordings_tell(const recordings *r, const tribo_model *m) {
    recordings_tell_agreed(r, m);
    for (int i = 0; i < r->n; i++) {
        int n;
        const tribo_finding *f = tribo_checked_findings(r->checked[i], &n);
        for (int k = 0; k < n; k++) {
            bool told = f[k].outcome == TRIBO_OUTCOME_MENDED || f[k].outcome == TRIBO_OUTCOME_DOUBTED;
            int more = told ? echoes(r, i, &f[k]) : -1;
            if (more == 0) input_message(r->path[i], 0, "%s", f[k].text);
            if (more > 0) input_message(r->path[i], 0, "%s (and %d other recordings)", f[k].text, more);
        }
    }
}
