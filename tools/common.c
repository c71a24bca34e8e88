/* common.c -- messages, options, files and JSON of the command. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"
#include "messages.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool parse_number(const char *text, double lower, double upper, double *x) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || !(value >= lower && value <= upper)) return false;
    *x = value;
    return true;
}

bool parse_integer(const char *text, long lower, long upper, long *x) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < lower || value > upper) return false;
    *x = value;
    return true;
}

int parse_whole(const verb *v, const char *what, long lower, long upper, long *x) {
    if (parse_integer(optarg, lower, upper, x)) return EXIT_SUCCESS;
    return usage_error(v, "%s from %ld to %ld, not %s", what, lower, upper, optarg);
}

int parse_positive(const verb *v, const char *what, double upper, double *x) {
    if (parse_number(optarg, 0, upper, x) && *x != 0) return EXIT_SUCCESS;
    return usage_error(v, "%s, at most %.10g, not %s", what, upper, optarg);
}

int law_option(const verb *v, int code, const char *value, tribo_law_options *o) {
    tribo_diag diag;
    tribo_status s = tribo_law_set(o, tribo_law_word(code - LAW_OPTION), value ? value : "1", &diag);
    return s ? usage_error(v, "%s", diag.text) : EXIT_SUCCESS;
}

int law_check(const verb *v, const char *path, const tribo_law_options *o, const tribo_law_options *scene) {
    tribo_law law = o->law ? o->law : scene && scene->law ? scene->law : TRIBO_LAW_NCP;
    tribo_solver solver = o->solver;
    if (!solver && scene && (!o->law || o->law == scene->law)) solver = scene->solver;
    tribo_softness softness = o->softness || !scene ? o->softness : scene->softness;
    double compliance = o->compliance != 0 || !scene ? o->compliance : scene->compliance;
    char text[400] = "";
    bool ours = true; /* what is wrong is on the command line */
    if (softness == TRIBO_SOFTNESS_PHYSICAL && !(compliance > 0)) {
        snprintf(text, sizeof text, "softness physical needs a compliance above 0, 1/kg");
        ours = o->softness != TRIBO_SOFTNESS_DEFAULT;
    } else if (solver && !tribo_law_has(law, solver)) {
        char list[200] = "";
        size_t n = 0;
        for (int k = 0; tribo_law_solver(law, k) && n < sizeof list; k++)
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", k ? ", " : "",
                                  tribo_solver_name(tribo_law_solver(law, k)));
        snprintf(text, sizeof text, "the law %s has no solver %s; it has %s", tribo_law_name(law),
                 tribo_solver_name(solver), list);
        ours = o->law || o->solver;
    }
    if (!*text) return EXIT_SUCCESS;
    return ours || !path ? usage_error(v, "%s", text) : input_message(path, 0, "<custom>: %s", text);
}

bool list_add(string_list *l, const char *s) {
    const char **grown = realloc(l->item, (size_t)(l->n + 1) * sizeof *grown);
    if (!grown) return false;
    l->item = grown;
    l->item[l->n++] = s;
    return true;
}

void list_free(string_list *l) {
    free(l->item);
    *l = (string_list){0};
}

void print_number(const char *format, int width, double x) {
    char text[32] = "-";
    if (x == x) snprintf(text, sizeof text, format, x);
    printf(" %*s", width, text);
}

json_t *json_number(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *json_numbers(const double *x, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(array, json_number(x[i]));
    return array;
}

bool json_write(FILE *f, const json_t *value, bool pretty) {
    size_t flags = JSON_REAL_PRECISION(17) | (pretty ? JSON_INDENT(2) : JSON_COMPACT);
    return value && json_dumpf(value, f, flags) == 0 && fputc('\n', f) != EOF;
}

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int processors(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 64 ? 64 : (int)n;
}
