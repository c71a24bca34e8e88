/* columns.c -- see columns.h. */
#include "columns.h"
#include "residuals.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One letter: what of a channel a column is; in v, of velocities. */
static bool fits(const channel *c, char letter, bool *rate) {
    bool orientation = c->q < 0, free = c->n == 3;
    *rate = letter == 'w' || letter == 'v';
    if (free && c->turns) return orientation && (letter == 'r' || letter == 'w');
    return free ? letter == 'p' || letter == 'v' : letter == 'q' || letter == 'v';
}

/* @param what a letter, and an axis or 0 */
static int take(const tribo_model *m, const channel *c, const char what[2], tribo_column kind,
                tribo_free_param found[3]) {
    bool rate;
    const char *axes = "xyz", *axis = what[1] ? strchr(axes, what[1]) : NULL;
    if (!fits(c, what[0], &rate) || (what[1] && (c->n == 1 || !axis))) return 0;
    bool shared = !what[1] && kind == TRIBO_COLUMN_GAIN; /* one camera, one length of a metre */
    if (kind == TRIBO_COLUMN_GAIN && c->turns && c->n == 3 && !rate) return 0;
    int n = what[1] || shared ? 1 : c->n;
    for (int i = 0; i < n; i++) {
        found[i] = tribo_default_free();
        found[i].index = c->v + (rate ? tribo_model_sizes(m).nv : 0) + (axis ? (int)(axis - axes) : i);
        found[i].column = kind, found[i].numbers = shared ? c->n : 1;
    }
    return n;
}

int columns_find(const tribo_model *m, const char *name, tribo_free_param found[3]) {
    const char *slash = strrchr(name, '/'), *dot = slash;
    int n = 0, channels;
    while (dot && dot > name && *dot != '.') dot--;
    if (!dot || dot == name || (strcmp(slash, "/gain") && strcmp(slash, "/bias"))) return 0;
    if (slash - dot < 2 || slash - dot > 3) return 0;
    const char what[] = {dot[1], dot + 2 < slash ? dot[2] : 0};
    size_t length = (size_t)(dot - name);
    channel *list = channels_of(m, &channels);
    for (int i = 0; i < channels && !n; i++)
        if (list[i].name && strlen(list[i].name) == length && !strncmp(list[i].name, name, length))
            n = take(m, &list[i], what, slash[1] == 'g' ? TRIBO_COLUMN_GAIN : TRIBO_COLUMN_BIAS, found);
    free(list);
    return n;
}

const char *column_name(const tribo_model *m, const tribo_free_param *f, char *name, size_t size, const char **unit) {
    int nv = tribo_model_sizes(m).nv, at = f->index % nv, channels;
    bool rate = f->index >= nv, gain = f->column == TRIBO_COLUMN_GAIN;
    channel *list = channels_of(m, &channels);
    name[0] = 0, *unit = "1";
    for (int i = 0; i < channels; i++) {
        const channel *c = list + i;
        if (at < c->v || at >= c->v + c->n) continue;
        char letter = c->n == 1 ? (rate ? 'v' : 'q') : c->turns ? (rate ? 'w' : 'r') : (rate ? 'v' : 'p');
        char axis[2] = {c->n == 1 || f->numbers > 1 ? 0 : "xyz"[at - c->v], 0};
        snprintf(name, size, "%s.%c%s/%s", c->name, letter, axis, gain ? "gain" : "bias");
        if (!gain) *unit = c->turns ? (rate ? "rad/s" : "rad") : rate ? "m/s" : "m";
    }
    free(list);
    return name;
}

bool columns_apply(columns_read *c, tribo_sysid *s, const tribo_model *m, recordings *r) {
    size_t nx = (size_t)tribo_model_sizes(m).nx;
    c->x = calloc((size_t)r->n, sizeof *c->x), c->was = calloc((size_t)r->n, sizeof *c->was);
    if (!c->x || !c->was) return false;
    for (c->n = 0; c->n < r->n;) {
        size_t n = (size_t)r->rec[c->n].n * nx;
        double *x = c->x[c->n] = malloc(n * sizeof *x);
        if (!x || tribo_sysid_rows(s, c->n++, x)) return false;
        const double *was = r->rec[c->n - 1].x;
        for (size_t i = 0; i < n; i++)
            if (isnan(was[i])) x[i] = was[i];
    }
    c->of = r;
    for (int i = 0; i < r->n; i++) c->was[i] = r->rec[i].x, r->rec[i].x = c->x[i];
    return true;
}

void columns_read_free(columns_read *c) {
    for (int i = 0; i < c->n; i++) {
        if (c->of) c->of->rec[i].x = c->was[i];
        free(c->x[i]);
    }
    free(c->x), free(c->was);
    *c = (columns_read){0};
}
