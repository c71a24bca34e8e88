/* identify_left.c -- the part of the page about what a fit leaves: every recording's residuals over time and how they
 * follow one another, the worst first. */
#include "identification.h"
#include "lines.h"
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 64, OPEN = 2, LAGS = 30 };
static const double degree = 57.29577951308232;

/* A recording with what is said of it. */
typedef struct entry {
    int recording;
    double position, rotation; /* mean distance and angle, m, degrees */
    bool held;
} entry;

static int worse(const void *a, const void *b) {
    double x = ((const entry *)a)->position, y = ((const entry *)b)->position;
    return (x < y) - (x > y);
}

static const char *file_of(const identification *id, int recording) {
    const char *path = id->r.path[recording], *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* What belongs together over time: three axes, or one. */
static void residual_lines(FILE *f, const identification *id, const residuals *r, int recording, const channel *c) {
    static const char *const axes[] = {"x", "y", "z"};
    const tribo_recording *rec = &id->r.rec[recording];
    size_t n = (size_t)r->n;
    double *y = calloc(3 * n + 1, sizeof *y), sigma = noise_of_rows(id->m, rec, c->turns, c);
    char label[CELL];
    if (!y) return;
    lines l = {.x = rec->time, .n = n, .scale = c->turns ? degree : 1e3, .x_label = "time, s", .y_label = label};
    snprintf(label, CELL, "%.30s: %s", c->name, c->turns ? "rotation, degrees" : "position, mm");
    for (size_t i = 0; i < (size_t)c->n; i++) {
        for (size_t k = 0; k < n; k++) y[i * n + k] = r->r[k * (size_t)r->nv + (size_t)c->v + i];
        l.y[i] = y + i * n, l.name[i] = c->n > 1 ? axes[i] : c->name;
    }
    l.band = isnan(sigma) ? 0 : 2 * sigma;
    lines_draw(f, &l);
    free(y);
}

/* How residuals follow one another, both kinds; the band is what independent ones would stay in. */
static void correlation_lines(FILE *f, const residuals *r) {
    double lag[LAGS + 1], c[2][LAGS + 1];
    int n = r->n / 3 < LAGS ? r->n / 3 : LAGS;
    for (int k = 0; k <= n; k++) {
        lag[k] = k;
        for (int kind = 0; kind < 2; kind++) c[kind][k] = residuals_correlation(r, kind, k);
    }
    lines l = {.x = lag,
               .y = {c[0], c[1]},
               .name = {"position", "rotation"},
               .n = (size_t)n + 1,
               .scale = 1,
               .x_label = "rows apart",
               .y_label = "autocorrelation",
               .band = 2 / sqrt(r->n)};
    lines_draw(f, &l);
}

static void one(FILE *f, identification *id, const entry *e, bool open) {
    residuals r;
    fprintf(f, "<details id=\"r%d\"%s><summary>", e->recording, open ? " open" : "");
    report_escape(f, file_of(id, e->recording));
    fprintf(f, ": %.2f mm, %.2f degrees%s</summary>\n", 1e3 * e->position, e->rotation,
            e->held ? ", held out of the fit" : "");
    int n;
    channel *list = channels_of(id->m, &n);
    if (list && residuals_of(&r, id->s, id->m, &id->r.rec[e->recording], e->recording)) {
        for (int c = 0; c < n; c++) residual_lines(f, id, &r, e->recording, &list[c]);
        correlation_lines(f, &r);
        residuals_free(&r);
    }
    free(list);
    fputs("</details>\n", f);
}

static void table(FILE *f, const identification *id, const entry *list, int n) {
    static const char *const head[] = {"recording", "position, mm", "rotation, deg", ""};
    report_table_begin(f, 4, head);
    for (int i = 0; i < n; i++) {
        fprintf(f, "<tr><td><a href=\"#r%d\">", list[i].recording);
        report_escape(f, file_of(id, list[i].recording));
        fprintf(f, "</a></td><td class=\"number\">%.2f</td><td class=\"number\">%.2f</td><td>%s%s</td></tr>\n",
                1e3 * list[i].position, list[i].rotation, i ? "" : "the worst", list[i].held ? " held out" : "");
    }
    report_table_end(f);
}

/* Correlations of the estimates by the directions that are determined and the spread along each. */
void report_correlations(FILE *f, const identification *id) {
    enum { MOST = 24 };
    int n = id->nfree;
    if (!id->observed || n < 2 || n > MOST) return;
    double C[MOST][MOST] = {{0}};
    for (int k = id->nopen; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const double *d = id->direction + k * n;
                C[i][j] += id->spread[k] * id->spread[k] * d[i] * d[j];
            }
    fputs("<div class=\"wide\"><table class=\"correlations\">\n<thead><tr><th></th>", f);
    for (int i = 0; i < n; i++) fprintf(f, "<th>%d</th>", i + 1);
    fputs("</tr></thead>\n<tbody>\n", f);
    for (int i = 0; i < n; i++) {
        tribo_param_info info;
        fprintf(f, "<tr><td>%d ", i + 1);
        report_escape(f, free_name(id, i, &info));
        fputs("</td>", f);
        for (int j = 0; j <= i; j++) {
            double c = C[i][j] / sqrt(C[i][i] * C[j][j]);
            if (isfinite(c))
                fprintf(f, "<td class=\"number%s\">%.2f</td>", i != j && fabs(c) > 0.9 ? " strong" : "", c);
            else
                fputs("<td></td>", f);
        }
        fputs("</tr>\n", f);
    }
    fputs("</tbody></table></div>\n", f);
    report_text(
        f, "Correlations of the estimates where the recordings determine them. Near 1 or -1: the recordings tell a "
           "combination of the two, and hardly each of them.");
}

void report_left(FILE *f, identification *id) {
    entry *list = calloc((size_t)id->r.n, sizeof *list);
    int n = 0;
    for (int i = 0; list && i < id->r.n; i++) {
        const tribo_errors *e = id->errors + i;
        if (!e->rows) continue;
        list[n++] = (entry){i, e->position_mean, e->rotation_mean_deg, tribo_sysid_held_out(id->s, i)};
    }
    if (!n) {
        free(list);
        return;
    }
    qsort(list, (size_t)n, sizeof *list, worse);
    report_text(
        f, "Measured less simulated, from the start of each recording to its end. The shaded band is twice the noise "
           "that neighbouring rows show by themselves: a model that explains the recording stays in it, and its "
           "autocorrelation falls to nothing at once.");
    table(f, id, list, n);
    for (int i = 0; i < n; i++) one(f, id, &list[i], i < OPEN);
    free(list);
}
