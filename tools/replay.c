/* replay.c -- keeps motions frame by frame. */
#define _POSIX_C_SOURCE 200809L
#include "replay.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a frame's body and a contact take on a page: replay_page.c. */
enum { BODY_BYTES = 14, CONTACT_BYTES = 13 };

bool replay_start(replay *r, const tribo_model *m, const double *p) {
    *r = (replay){.m = m, .nbody = tribo_model_sizes(m).nbody};
    return shapes_of(m, p, &r->shapes) && tribo_dynamics_new(m, NULL, &r->motion) == TRIBO_OK &&
           tribo_dynamics_set_params(r->motion, p, NULL) == TRIBO_OK;
}

static void track_free(replay_track *t) {
    free(t->name);
    free(t->time);
    free(t->pose);
    free(t->energy);
    free(t->normal);
    free(t->slip);
    free(t->contact_at);
    free(t->contact);
}

void replay_free(replay *r) {
    for (int i = 0; i < r->ntrack; i++) track_free(r->track + i);
    for (int i = 0; i < r->ntake; i++) free(r->take[i]);
    free(r->track);
    free(r->take);
    shapes_free(&r->shapes);
    tribo_dynamics_free(r->motion);
    *r = (replay){0};
}

bool replay_take(replay *r, const char *name) {
    char **take = realloc(r->take, (size_t)(r->ntake + 1) * sizeof *take);
    if (!take) return false;
    r->take = take;
    take[r->ntake] = strdup(name);
    return take[r->ntake++] != NULL;
}

replay_track *replay_track_new(replay *r, const char *name, bool measured, int frames) {
    size_t n = (size_t)frames + 1;
    if (r->ntake == 0 && !replay_take(r, "")) return NULL;
    replay_track *all = realloc(r->track, (size_t)(r->ntrack + 1) * sizeof *all);
    if (!all) return NULL;
    r->track = all;
    replay_track *t = all + r->ntrack++;
    *t = (replay_track){.take = r->ntake - 1, .measured = measured};
    t->name = strdup(name);
    t->time = calloc(n, sizeof *t->time);
    t->pose = calloc(n * (size_t)r->nbody, REPLAY_POSE * sizeof *t->pose);
    t->energy = calloc(n, sizeof *t->energy);
    t->normal = calloc(n, sizeof *t->normal);
    t->slip = calloc(n, sizeof *t->slip);
    t->contact_at = calloc(n + 1, sizeof *t->contact_at);
    bool good = t->name && t->time && t->pose && t->energy && t->normal && t->slip && t->contact_at;
    if (good) return t;
    track_free(t);
    r->ntrack--;
    return NULL;
}

bool replay_frame(replay *r, replay_track *t, double time, const double *x) {
    size_t f = (size_t)t->frames;
    if (tribo_dynamics_set_state(r->motion, x) != TRIBO_OK) return false;
    for (int i = 0; i < r->nbody; i++) {
        double *pose = t->pose + (f * (size_t)r->nbody + (size_t)i) * REPLAY_POSE;
        if (tribo_body_pose(r->motion, i, pose, pose + 3) != TRIBO_OK) return false;
    }
    t->time[f] = time;
    t->energy[f] = t->normal[f] = t->slip[f] = (double)NAN;
    t->contact_at[f + 1] = t->ncontact;
    t->frames++;
    return true;
}

bool replay_contact_add(replay_track *t, const replay_contact *c) {
    if (t->ncontact == t->contact_room) {
        size_t room = 2 * t->contact_room + 256;
        replay_contact *more = realloc(t->contact, room * sizeof *more);
        if (!more) return false;
        t->contact = more, t->contact_room = room;
    }
    t->contact[t->ncontact++] = *c;
    return true;
}

/* ---- how many frames ---- */

double replay_rate(int nbody, double seconds) {
    enum { MOST = 240, LEAST = 30, POSES = 150000 };
    double rate = POSES / (fmax(1, nbody) * fmax(seconds, 1e-3));
    return fmin(MOST, fmax(LEAST, rate));
}

/* The last frame's pose of a free body that was not observed there. */
static void hide_unobserved(const replay *r, replay_track *t, const bool *observed) {
    double *pose = t->pose + (size_t)(t->frames - 1) * (size_t)r->nbody * REPLAY_POSE;
    for (int i = 0; i < r->nbody; i++) {
        int q = tribo_model_body_q(r->m, i);
        if (!tribo_model_body_free(r->m, i) || (observed[q] && observed[q + 1] && observed[q + 2])) continue;
        for (int k = 0; k < REPLAY_POSE; k++) pose[i * REPLAY_POSE + k] = (double)NAN;
    }
}

bool replay_states(replay *r, const char *name, bool measured, int n, const double *time, const double *x,
                   const bool *observed, const double *p) {
    size_t nx = (size_t)tribo_model_sizes(r->m).nx;
    replay_track *t = replay_track_new(r, name, measured, n);
    double between = 1 / replay_rate(r->nbody, time[n - 1] - time[0]), next = time[0];
    for (int i = 0; t && i < n; i++) {
        if (time[i] < next - 1e-9 && i + 1 < n) continue;
        if (!replay_frame(r, t, time[i], x + (size_t)i * nx)) return false;
        if (observed) hide_unobserved(r, t, observed + (size_t)i * nx);
        if (p) t->energy[t->frames - 1] = tribo_energy(r->m, p, x + (size_t)i * nx);
        next = fmax(next + between, time[i] + between / 2);
    }
    return t != NULL;
}

size_t replay_bytes(const replay *r) {
    size_t bytes = 0;
    for (int i = 0; i < r->ntrack; i++) {
        const replay_track *t = r->track + i;
        bytes += (size_t)t->frames * (size_t)r->nbody * BODY_BYTES + t->ncontact * CONTACT_BYTES;
    }
    return bytes;
}

static size_t copy_contacts(replay_track *t, int frame, size_t to, bool kept) {
    for (size_t c = t->contact_at[frame]; c < t->contact_at[frame + 1]; c++) {
        replay_contact one = t->contact[c];
        if (!kept && !one.bounced) continue;
        for (int k = 0; one.bounced && k < 3; k++) one.force[k] /= 2; /* a mean over twice the time */
        t->contact[to++] = one;
    }
    return to;
}

/* Every second frame is left out; impacts in it are kept, and its forces count in the means. */
static void halve(replay *r, replay_track *t) {
    size_t pose = (size_t)r->nbody * REPLAY_POSE, contacts = 0;
    int to = 0;
    for (int f = 0; f < t->frames; f++) {
        bool kept = f % 2 == 0 || f + 1 == t->frames;
        contacts = copy_contacts(t, f, contacts, kept);
        if (!kept) continue;
        bool both = f > 0 && f % 2 == 0;
        memmove(t->pose + (size_t)to * pose, t->pose + (size_t)f * pose, pose * sizeof *t->pose);
        t->time[to] = t->time[f], t->energy[to] = t->energy[f];
        t->normal[to] = both && isfinite(t->normal[f - 1]) ? (t->normal[f] + t->normal[f - 1]) / 2 : t->normal[f];
        t->slip[to] = both && isfinite(t->slip[f - 1]) ? (t->slip[f] + t->slip[f - 1]) / 2 : t->slip[f];
        t->contact_at[++to] = contacts;
    }
    t->frames = to, t->ncontact = contacts;
}

void replay_thin(replay *r, size_t bytes, double rate) {
    for (bool changed = true; changed && replay_bytes(r) > bytes;) {
        changed = false;
        for (int i = 0; i < r->ntrack; i++) {
            replay_track *t = r->track + i;
            double seconds = t->frames > 1 ? t->time[t->frames - 1] - t->time[0] : 0;
            if (!(t->frames - 1 >= 2 * rate * seconds * (1 - 1e-6)) || t->frames < 3) continue;
            halve(r, t);
            changed = true;
        }
    }
}
