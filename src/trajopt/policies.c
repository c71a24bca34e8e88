/* policies.c -- a library of linear feedbacks, looked up by the nearest state: [TassaTodorov10] IV-C.
 * docs/math.md eq. (408). */
#include "formats/text.h"
#include "trajopt/task.h"
#include <stdio.h>

struct tribo_policies {
    const tribo_model *m;
    tribo_sizes z;
    tribo_allocator allocator;
    int nc, n;
    int *control;              /* (nc) of u, as the first that was added has them */
    double *row;               /* (n, width): x, controls, gain */
    double *mean, *scale, *dx; /* (ndx): of all rows, 1 / standard deviation; scratch */
    size_t row_bytes, bytes;
};

static size_t width(const tribo_policies *l) {
    return (size_t)l->z.nx + (size_t)l->nc * (1 + (size_t)l->z.ndx);
}

static void lay_out(tribo_policies *l, ti_arena *a) {
    TI_CARVE(a, l->control, l->nc);
    TI_CARVE(a, l->mean, l->z.ndx);
    TI_CARVE(a, l->scale, l->z.ndx);
    TI_CARVE(a, l->dx, l->z.ndx);
}

tribo_status tribo_policies_new(const tribo_model *m, int ncontrol, const tribo_allocator *a, tribo_policies **out) {
    if (!m || !out || ncontrol < 1 || ncontrol > TI_CONTROLS_MAX) return TRIBO_E_ARG;
    tribo_policies measure = {.m = m, .z = tribo_model_sizes(m), .nc = ncontrol}, *l;
    if (a) measure.allocator = *a;
    ti_arena arena = {0};
    TI_CARVE(&arena, l, 1);
    lay_out(&measure, &arena);
    measure.bytes = arena.used;
    if (!ti_arena_take(&arena, a)) return TRIBO_E_NOMEM;
    TI_CARVE(&arena, l, 1);
    *l = measure;
    lay_out(l, &arena);
    for (int i = 0; i < ncontrol; i++) l->control[i] = -1;
    *out = l;
    return TRIBO_OK;
}

void tribo_policies_free(tribo_policies *l) {
    if (!l) return;
    tribo_allocator a = l->allocator;
    ti_free(&a, l->row, l->row_bytes);
    ti_free(&a, l, l->bytes);
}

int tribo_policies_size(const tribo_policies *l) {
    return l ? l->n : 0;
}

static const double *row_at(const tribo_policies *l, int k) {
    return l->row + (size_t)k * width(l);
}

/* 1 / standard deviation of all rows, over the tangent at the first. eq. (408) */
static void measure_spread(tribo_policies *l) {
    size_t n = (size_t)l->z.ndx;
    memset(l->mean, 0, n * sizeof(double)), memset(l->scale, 0, n * sizeof(double));
    for (int k = 0; k < l->n; k++) {
        tribo_state_difference(l->m, l->row, row_at(l, k), l->dx);
        for (size_t i = 0; i < n; i++) l->mean[i] += l->dx[i] / l->n;
    }
    for (int k = 0; k < l->n; k++) {
        tribo_state_difference(l->m, l->row, row_at(l, k), l->dx);
        for (size_t i = 0; i < n; i++) l->scale[i] += (l->dx[i] - l->mean[i]) * (l->dx[i] - l->mean[i]) / l->n;
    }
    for (size_t i = 0; i < n; i++) l->scale[i] = l->scale[i] > 0 ? 1 / sqrt(l->scale[i]) : 0;
}

static tribo_status make_room(tribo_policies *l, int more) {
    size_t need = ((size_t)l->n + (size_t)more) * width(l) * sizeof(double);
    void *row = ti_grow(&l->allocator, l->row, &l->row_bytes, need);
    if (!row) return TRIBO_E_NOMEM;
    l->row = row;
    return TRIBO_OK;
}

tribo_status tribo_policies_add(tribo_policies *l, const tribo_trajopt *t, int first, int last) {
    if (!l || !t || t->m != l->m || t->nc != l->nc || first < 0 || last < first || last >= t->knots) return TRIBO_E_ARG;
    for (int i = 0; l->n && i < l->nc; i++)
        if (l->control[i] != t->control[i]) return TRIBO_E_ARG;
    tribo_status s = make_room(l, last - first + 1);
    if (s) return s;
    size_t nx = (size_t)l->z.nx, nc = (size_t)l->nc, d = sizeof(double);
    memcpy(l->control, t->control, nc * sizeof *l->control);
    for (int k = first; k <= last; k++) {
        double *row = l->row + (size_t)l->n++ * width(l);
        memcpy(row, ti_state_at(t, &t->best, k), nx * d);
        memcpy(row + nx, ti_controls_at(t, &t->best, k), nc * d);
        memcpy(row + nx + nc, t->knot[k].gain, nc * (size_t)l->z.ndx * d);
    }
    measure_spread(l);
    return TRIBO_OK;
}

/* x (-) a row's state; what does not count is 0. */
static void from_row(const tribo_policies *l, int k, const bool *ignore, const double *x) {
    tribo_state_difference(l->m, row_at(l, k), x, l->dx);
    for (int i = 0; ignore && i < l->z.ndx; i++)
        if (ignore[i]) l->dx[i] = 0;
}

tribo_status tribo_policies_control(const tribo_policies *l, const bool *ignore, const double *x, double *u,
                                    int *nearest) {
    double least = HUGE_VAL, controls[TI_CONTROLS_MAX];
    int best = 0;
    if (!l || !x || !u || !l->n) return TRIBO_E_ARG;
    if (!ti_finite(x, (size_t)l->z.nx)) return TRIBO_E_NONFINITE;
    for (int k = 0; k < l->n; k++) {
        double sum = 0;
        from_row(l, k, ignore, x);
        for (int i = 0; i < l->z.ndx; i++) sum += l->dx[i] * l->dx[i] * l->scale[i] * l->scale[i];
        if (sum < least) least = sum, best = k;
    }
    const double *row = row_at(l, best) + l->z.nx;
    from_row(l, best, ignore, x);
    memcpy(controls, row, sizeof *row * (size_t)l->nc);
    ti_add_feedback(l->nc, l->z.ndx, row + l->nc, l->dx, controls);
    for (int i = 0; i < l->nc; i++) u[l->control[i]] = controls[i];
    if (nearest) *nearest = best;
    return TRIBO_OK;
}

/* ---- files: a line of sizes, a line of controls, a line a knot ---- */

static const char MAGIC[] = "tribo-policies 1";

tribo_status tribo_policies_save(const tribo_policies *l, const char *path, tribo_diag *diag) {
    ti_output o;
    char text[TI_NUMBER_TEXT];
    if (!l || !path) return ti_fail(diag, TRIBO_E_ARG, 0, "an argument is NULL");
    tribo_status s = ti_output_open(&o, path, diag);
    if (s) return s;
    fprintf(o.file, "%s nx %d ndx %d nu %d controls %d knots %d\n", MAGIC, l->z.nx, l->z.ndx, l->z.nu, l->nc, l->n);
    for (int i = 0; i < l->nc; i++) fprintf(o.file, "%d%c", l->control[i], i + 1 < l->nc ? ' ' : '\n');
    for (int k = 0; k < l->n; k++)
        for (size_t i = 0, w = width(l); i < w; i++) {
            ti_write_number(row_at(l, k)[i], text);
            fprintf(o.file, "%s%c", text, i + 1 < w ? ' ' : '\n');
        }
    return ti_output_close(&o, path, diag);
}

/* A file on its way. */
typedef struct reading {
    const char *at, *end;
    int line;
    tribo_diag *diag;
} reading;

static tribo_status malformed(const reading *r, const char *what) {
    return ti_fail(r->diag, TRIBO_E_PARSE, r->line, "%s", what);
}

/* Exactly n finite numbers to the end of the line. */
static tribo_status read_line(reading *r, size_t n, double *x) {
    r->line++;
    for (size_t i = 0; i < n; i++) {
        while (*r->at == ' ') r->at++;
        const char *end = ti_read_number(r->at, x + i);
        if (!end) return malformed(r, "a number is missing, or is none");
        r->at = end;
    }
    while (*r->at == ' ' || *r->at == '\r') r->at++;
    if (*r->at != '\n')
        return malformed(r, *r->at ? "there is more on the line than belongs there" : "it ends in the line");
    r->at++;
    return TRIBO_OK;
}

/* Which numbers of u: what the first plan added said, of an empty library none. */
static tribo_status read_controls(reading *r, tribo_policies *l, int n) {
    double control[TI_CONTROLS_MAX];
    tribo_status s = read_line(r, (size_t)l->nc, control);
    for (int i = 0; n > 0 && i < l->nc && !s; i++) {
        l->control[i] = control[i] >= 0 && control[i] < l->z.nu ? (int)control[i] : -1;
        if (l->control[i] < 0 || l->control[i] != control[i]) s = malformed(r, "a control is not one of the model's");
        for (int j = 0; j < i && !s; j++)
            if (l->control[j] == l->control[i]) s = malformed(r, "a control is there twice");
    }
    return s;
}

static tribo_status read_rows(reading *r, tribo_policies *l, int n) {
    tribo_status s = read_controls(r, l, n);
    for (int k = 0; k < n && !s; k++) {
        s = make_room(l, 1);
        if (!s) s = read_line(r, width(l), l->row + (size_t)l->n * width(l));
        if (!s) l->n++;
    }
    if (!s && r->at != r->end) return r->line++, malformed(r, "there are more lines than knots");
    return s;
}

static tribo_status read_policies(const char *text, size_t bytes, const tribo_model *m, const tribo_allocator *a,
                                  tribo_policies **l, tribo_diag *diag) {
    reading r = {strchr(text, '\n'), text + bytes, 1, diag};
    tribo_sizes z = tribo_model_sizes(m);
    int nx, ndx, nu, nc, n, length = 0;
    if (!r.at || strncmp(text, MAGIC, sizeof MAGIC - 1) != 0 ||
        sscanf(text + sizeof MAGIC - 1, " nx %9d ndx %9d nu %9d controls %9d knots %9d%n", &nx, &ndx, &nu, &nc, &n,
               &length) != 5 ||
        text + sizeof MAGIC - 1 + length + strspn(text + sizeof MAGIC - 1 + length, " \r") != r.at)
        return malformed(&r, "this is no library of policies");
    if (nx != z.nx || ndx != z.ndx || nu != z.nu) return malformed(&r, "it is of another model");
    if (nc < 1 || nc > TI_CONTROLS_MAX || n < 0) return malformed(&r, "its sizes are out of range");
    tribo_policies *made;
    tribo_status s = tribo_policies_new(m, nc, a, &made);
    if (s) return s;
    r.at++;
    s = read_rows(&r, made, n);
    if (s) {
        tribo_policies_free(made);
        return s;
    }
    measure_spread(made);
    *l = made;
    return TRIBO_OK;
}

tribo_status tribo_policies_load(const char *path, const tribo_model *m, const tribo_allocator *a, tribo_policies **l,
                                 tribo_diag *diag) {
    char *text;
    size_t n, bytes;
    if (!path || !m || !l) return ti_fail(diag, TRIBO_E_ARG, 0, "an argument is NULL");
    tribo_status s = ti_read_file(path, a, &text, &n, &bytes, diag);
    if (s) return s;
    s = read_policies(text, n, m, a, l, diag);
    ti_free(a, text, bytes);
    return s;
}
