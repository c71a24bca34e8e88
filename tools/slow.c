/* slow.c -- see slow.h. */
#include "slow.h"
#include "base/base.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Degrees of each band, and its share of the false alarms that are allowed: what a wrong model leaves of a motion whose
 * start is fitted is a bow more often than anything else. */
static const int from[SLOW_BANDS + 1] = {0, 2, 4, 8, 16, 32};
static const double share[SLOW_BANDS] = {0.05, 0.7, 0.15, 0.05, 0.05};
enum { DEGREES = 32, PER_DEGREE = 4 }; /* rows that a degree takes at least */

/* How many degrees n rows are looked at by: whole bands. */
static int degrees(int n) {
    int band = SLOW_BANDS;
    while (band > 0 && from[band] * PER_DEGREE > n) band--;
    return from[band];
}

/* Take from v what the first n polynomials have of it. @return its length then */
static double clear(double *v, const double *basis, int n, int rows) {
    double square = 0;
    for (int j = 0; j < n; j++) {
        const double *b = basis + (size_t)j * (size_t)rows;
        double both = 0;
        for (int k = 0; k < rows; k++) both += b[k] * v[k];
        for (int k = 0; k < rows; k++) v[k] -= both * b[k];
    }
    for (int k = 0; k < rows; k++) square += v[k] * v[k];
    return sqrt(square);
}

/* Orthonormal polynomials at the times of some rows. (n,rows) */
static void polynomials(const double *time, int rows, int n, double *basis) {
    if (n == 0) return;
    double middle = (time[0] + time[rows - 1]) / 2, half = (time[rows - 1] - time[0]) / 2;
    for (int j = 0; j < n; j++) {
        double *b = basis + (size_t)j * (size_t)rows;
        for (int k = 0; k < rows; k++) b[k] = j ? b[k - rows] * (time[k] - middle) / half : 1;
        for (int twice = 0; twice < 2; twice++) {
            double size = clear(b, basis, j, rows);
            for (int k = 0; k < rows && size > 0; k++) b[k] /= size;
        }
    }
}

typedef struct scratch {
    double *time, *x, *size, *basis; /* of one number in the rows that have it; the polynomials there */
    int rows;
} scratch;

/* The rows that have number i. Its neighbours mostly have the same, and so the same polynomials. */
static void collect(const residuals *r, const tribo_recording *rec, int i, scratch *w) {
    int n = 0;
    bool same = true;
    for (int k = 0; k < r->n; k++) {
        double x = r->r[(size_t)k * (size_t)r->nv + (size_t)i];
        if (isnan(x)) continue;
        same &= n < w->rows && w->time[n] == rec->time[k];
        w->time[n] = rec->time[k], w->x[n++] = x;
    }
    if (same && n == w->rows) return;
    w->rows = n;
    polynomials(w->time, n, degrees(n), w->basis);
}

/* Rows that are far off by themselves, at an end as like as not, are no slow motion. */
static void clip(scratch *w) {
    const double normal = 1.4826, most = 3; /* a deviation over the median of sizes; deviations */
    for (int k = 0; k < w->rows; k++) w->size[k] = fabs(w->x[k]);
    qsort(w->size, (size_t)w->rows, sizeof(double), ti_ascending);
    double limit = most * normal * w->size[w->rows / 2];
    for (int k = 0; k < w->rows; k++) w->x[k] = fmax(-limit, fmin(w->x[k], limit));
}

static slow_number split(scratch *w) {
    slow_number out = {0};
    int n = w->rows, most = degrees(n);
    clip(w);
    for (int band = 0; from[band] < most; band++)
        for (int j = from[band]; j < from[band + 1]; j++) {
            const double *b = w->basis + (size_t)j * (size_t)n;
            double c = 0;
            for (int k = 0; k < n; k++) c += b[k] * w->x[k];
            for (int k = 0; k < n; k++) w->x[k] -= c * b[k];
            out.band[band] += c * c, out.nband[band]++;
        }
    for (int k = 0; k < n && most; k++) out.rest += w->x[k] * w->x[k];
    out.nrest = most ? n - most : 0;
    return out;
}

/* What a channel's numbers have in a recording, in units of the variance that they have together. */
static void add(slow_number *to, const slow_number *own, int n, double least) {
    double rest = 0;
    long count = 0;
    for (int i = 0; i < n; i++) rest += own[i].rest, count += own[i].nrest;
    double unit = rest / (double)count;
    if (!count || !(unit > least * least)) return;
    for (int i = 0; i < n; i++) {
        if (!own[i].nrest) continue;
        for (int b = 0; b < SLOW_BANDS; b++) to[i].band[b] += own[i].band[b] / unit, to[i].nband[b] += own[i].nband[b];
        to[i].rest += own[i].rest / unit, to[i].nrest += own[i].nrest;
        to[i].recordings++, to[i].nbody += count;
    }
}

bool slow_add(slow_parts *s, const residuals *r, const tribo_recording *rec) {
    const double rounding = 1e-6; /* of motions that were computed */
    size_t n = (size_t)r->n, nv = (size_t)r->nv;
    int count = 0;
    scratch w = {.time = calloc(n + 1, sizeof(double)),
                 .x = calloc(n + 1, sizeof(double)),
                 .size = calloc(n + 1, sizeof(double))};
    w.basis = calloc(n * DEGREES + 1, sizeof(double));
    slow_number *own = calloc(nv + 1, sizeof *own);
    channel *list = channels_of(r->m, &count);
    if (!s->of) s->of = calloc(nv + 1, sizeof *s->of), s->nv = r->nv;
    bool good = s->of && w.time && w.x && w.size && w.basis && own && list;
    for (int i = 0; good && i < r->nv; i++) {
        collect(r, rec, i, &w);
        own[i] = split(&w);
    }
    for (int c = 0; good && c < count; c++)
        add(s->of + list[c].v, own + list[c].v, list[c].n, rounding * (list[c].turns ? 1 : tribo_model_extent(r->m)));
    free(w.time), free(w.x), free(w.size), free(w.basis), free(own), free(list);
    return good;
}

void slow_free(slow_parts *s) {
    free(s->of);
    *s = (slow_parts){0};
}

double slow_chance(double f, long n1, double n2) {
    double x = n2 / (n2 + (double)n1 * f), term = n2 / 2 * log(x), sum = 0;
    for (long j = 0; j < n1 / 2; j++) {
        sum += exp(term);
        term += log((n2 / 2 + (double)j) / (double)(j + 1) * (1 - x));
    }
    return sum < 1 ? sum : 1;
}

double slow_chance_square(double x, int n) {
    double term = n % 2 ? log(2 * x / 3.141592653589793) / 2 - x / 2 : -x / 2; /* of the next two degrees */
    double sum = n % 2 ? erfc(sqrt(x / 2)) : 0;
    if (!(x > 0)) return 1;
    for (int k = n % 2; k < n; k += 2) {
        sum += exp(term);
        term += log(x / (k + 2));
    }
    return sum < 1 ? sum : 1;
}

bool slow_agree(const tribo_sysid *s, char text[400]) {
    const double allowed = 0.01; /* false alarms */
    double square;
    int freedom;
    tribo_sysid_agreement(s, &square, &freedom);
    double chance = slow_chance_square(square, freedom);
    if (freedom == 0 || !(chance < allowed)) return true;
    int wrote =
        snprintf(text, 400,
                 "the simulation does not explain the recordings to their noise: each by itself asks for other "
                 "parameters, which differ by %.2g times what noise makes of them (by chance in one of %.0f fits): "
                 "intervals hold for a model that is right, with the same parameters in all recordings",
                 sqrt(square / freedom), fmin(1e6, floor(1 / chance)));
    return wrote < 0;
}

/* How many numbers the variance of one is known from, by itself and by its body's in each recording. */
static double worth(const slow_number *a) {
    double own = (double)a->nrest, body = (double)a->nbody;
    return 1 / (1 / own + ((double)a->recordings - 1) / body);
}

/* The least probable band of all numbers. @return whether there is one that chance does not make, and that matters */
static bool worst(const slow_parts *s, int *number, double *times, double *chance) {
    const double allowed = 0.01, little = 2; /* false alarms; a variance that makes intervals wrong by its root */
    int seen = 0;
    *chance = 1;
    for (int i = 0; i < s->nv; i++) seen += s->of[i].nrest > 0;
    for (int i = 0; i < s->nv; i++)
        for (int b = 0; b < SLOW_BANDS; b++) {
            const slow_number *a = s->of + i;
            if (!a->nband[b]) continue;
            double f = a->band[b] / (double)a->nband[b] / (a->rest / (double)a->nrest);
            double p = seen / share[b] * slow_chance(f, a->nband[b], worth(a));
            if (f > little && p < *chance) *chance = p, *times = f, *number = i;
        }
    return *chance < allowed;
}

bool slow_good(const slow_parts *s, const tribo_model *m, char text[400]) {
    int i = 0, count = 0;
    double times = 1, chance = 1;
    if (!s->of || !worst(s, &i, &times, &chance)) return true;
    channel *list = channels_of(m, &count), none = {.n = 1}, *of = &none;
    for (int c = 0; list && c < count; c++)
        if (list[c].v <= i && i < list[c].v + list[c].n) of = list + c;
    const char *axis = of->n == 3 ? (const char *[]){", x", ", y", ", z"}[i - of->v] : "";
    int wrote = snprintf(text, 400,
                         "the simulation does not explain the recordings to their noise: what it leaves of how %s %s "
                         "(%s%s) is within that, but goes slowly, with %.2g times the variance that noise has at such "
                         "a pace (by chance in one of %.0f fits at most): intervals hold for a model that is right",
                         of->name ? of->name : "a body", of->turns ? "turns" : "moves",
                         of->turns ? "rotation" : "position", axis, times, fmin(1e6, floor(1 / chance)));
    free(list);
    return wrote < 0;
}
