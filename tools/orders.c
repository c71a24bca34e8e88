/* orders.c -- one program writes the quaternions of all recordings: where most of them say that these are in another
 * order, they are in those too that are too short, or too calm, to say so. */
#include "recording.h"
#include "recording/order.h"
#include "residuals.h"
#include <stdlib.h>
#include <string.h>

enum { UNCLEAR = -1 };

/* In which order a recording says that a body's quaternions are; 0 = that of a state, or it does not say. */
static int way_of(const tribo_checked *c, int body) {
    int n, way = 0;
    const tribo_finding *found = tribo_checked_findings(c, &n);
    for (int i = 0; i < n; i++) {
        if (found[i].about != TRIBO_CONVENTION_ORDER || (found[i].body >= 0 && found[i].body != body)) continue;
        way = way ? UNCLEAR : (int)found[i].number;
    }
    return way;
}

/* The order of which most recordings are, where no other is found; 0 = none. */
static int majority(const recordings *r, int body) {
    int votes[TI_ORDERS] = {0}, kinds = 0, best = 0;
    for (int i = 0; i < r->n; i++) {
        int way = r->checked[i] ? way_of(r->checked[i], body) : UNCLEAR;
        if (way < 0 || way >= TI_ORDERS) return 0;
        votes[way]++;
    }
    for (int way = 1; way < TI_ORDERS; way++)
        if (votes[way]) kinds++, best = way;
    return kinds == 1 && votes[best] > votes[0] ? best : 0;
}

/* A copy with the quaternions of a body in the order of a state. */
static bool recording_reorder(const tribo_recording *rec, const tribo_model *m, int body, int way,
                              tribo_recording *out) {
    tribo_sizes z = tribo_model_sizes(m);
    const char *name = tribo_model_body_name(m, body);
    int channels;
    channel *list = channels_of(m, &channels);
    bool good = recording_piece(rec, &z, 0, rec->n, out) && list;
    for (int i = 0; i < channels && good; i++) {
        if (list[i].quat < 0 || strcmp(list[i].name, name)) continue;
        for (int k = 0; k < rec->n; k++)
            ti_reorder((double *)(size_t)out->x + (size_t)k * (size_t)z.nx + list[i].quat, way);
    }
    free(list);
    if (!good) recording_free(out), *out = (tribo_recording){0};
    return good;
}

/* Recording i as the others are, unless it speaks against that. @return false without memory */
static bool follow(recordings *r, const tribo_model *m, int i, int body, int way) {
    tribo_recording as;
    tribo_checked *c = NULL;
    tribo_diag diag;
    if (!recording_reorder(&r->rec[i], m, body, way, &as)) return false;
    if (tribo_checked_new(m, NULL, &as, NULL, &c, &diag) || way_of(c, body) || tribo_checked_refused(c)) {
        tribo_checked_free(c), recording_free(&as);
        return true;
    }
    tribo_checked_free(r->checked[i]), recording_free(&r->rec[i]);
    r->checked[i] = c, r->rec[i] = as;
    followed *told = &r->followed[body];
    if (!told->count++) told->first = i, told->way = way;
    return true;
}

bool recordings_agree(recordings *r, const tribo_model *m) {
    int bodies = tribo_model_sizes(m).nbody;
    r->followed = calloc((size_t)bodies + 1, sizeof *r->followed), r->bodies = bodies;
    if (!r->followed) return false;
    for (int b = 0; b < bodies; b++) {
        int way = majority(r, b);
        for (int i = 0; way && i < r->n; i++)
            if (!way_of(r->checked[i], b) && !tribo_checked_refused(r->checked[i]) && !follow(r, m, i, b, way))
                return false;
    }
    return true;
}

void recordings_tell_agreed(const recordings *r, const tribo_model *m) {
    for (int b = 0; b < r->bodies && r->followed; b++) {
        const followed *told = &r->followed[b];
        char more[40] = "";
        if (told->count > 1) snprintf(more, sizeof more, " (and %d other recordings)", told->count - 1);
        if (told->count)
            input_message(r->path[told->first], 0,
                          "%s: quaternions are %s, as in most of the other recordings; read as such%s",
                          tribo_model_body_name(m, b), ti_order_words(told->way), more);
    }
}
