/* common.c -- messages, options, files and JSON of the command. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"
#include "inputs.h"
#include "progress.h"
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

bool messages_quiet;

/* What a file says may go to a terminal: no control characters. */
static void print_clean(FILE *f, const char *text) {
    for (; *text; text++) fputc((unsigned char)*text < 32 || *text == 127 ? '?' : *text, f);
}

/* Colours are for a terminal, and for who has not asked for none: https://no-color.org */
static bool colours(void) {
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && !(no && *no) && terminal && strcmp(terminal, "dumb") != 0;
}

static void print_message(const char *where, const char *format, va_list args) {
    char text[1024];
    bool bold = colours();
    vsnprintf(text, sizeof text, format, args);
    fflush(stdout);
    progress_clear();
    if (bold) fputs("\033[1m", stderr);
    print_clean(stderr, where);
    fputs(bold ? ":\033[0m " : ": ", stderr);
    print_clean(stderr, text);
    fputc('\n', stderr);
}

void remark(const verb *v, const char *format, ...) {
    char where[64];
    va_list args;
    if (messages_quiet) return;
    snprintf(where, sizeof where, "tribo %s", v->name);
    va_start(args, format);
    print_message(where, format, args);
    va_end(args);
}

int usage_error(const verb *v, const char *format, ...) {
    char where[64];
    va_list args;
    snprintf(where, sizeof where, "tribo %s", v->name);
    va_start(args, format);
    print_message(where, format, args);
    va_end(args);
    fprintf(stderr, "`tribo %s --help` says how it is used\n", v->name);
    return EXIT_USAGE;
}

int input_message(const char *path, int line, const char *format, ...) {
    char where[4200];
    va_list args;
    if (!strcmp(path, "-")) path = "standard input";
    if (line > 0)
        snprintf(where, sizeof where, "%s:%d", path, line);
    else
        snprintf(where, sizeof where, "%s", path);
    va_start(args, format);
    print_message(where, format, args);
    va_end(args);
    return EXIT_INPUT;
}

int input_error(const char *path, tribo_status s, const tribo_diag *diag) {
    input_message(path, diag->line, "%s", diag->text[0] ? diag->text : tribo_status_text(s));
    return s == TRIBO_E_NOMEM ? EXIT_TROUBLE : EXIT_INPUT;
}

int trouble(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_message("tribo", format, args);
    va_end(args);
    return EXIT_TROUBLE;
}

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

/* Names of files that are being written, for a handler of signals: a file is named before its place is counted. */
enum { PENDING = 8 };
static char pending[PENDING][sizeof((ti_output *)0)->temporary];

static void pend(const out_file *o) {
    for (int i = 0; i < PENDING && o->file.temporary[0]; i++)
        if (!pending[i][0]) {
            memcpy(pending[i] + 1, o->file.temporary + 1, sizeof pending[i] - 1);
            pending[i][0] = o->file.temporary[0];
            return;
        }
}

static void unpend(const char *temporary) {
    for (int i = 0; i < PENDING && *temporary; i++)
        if (!strcmp(pending[i], temporary)) pending[i][0] = 0;
}

void outputs_drop(int number) {
    for (int i = 0; i < PENDING; i++)
        if (pending[i][0]) unlink(pending[i]);
    signal(number, SIG_DFL);
    raise(number);
}

void outputs_guard(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct sigaction before, act = {.sa_handler = outputs_drop};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &act, NULL); /* who ignores one, as nohup does, goes on ignoring it */
}

bool out_open(out_file *o, const char *path) {
    *o = (out_file){.f = stdout};
    if (!path || !strcmp(path, "-")) return true;
    if (!output_allowed(path)) return false;
    tribo_diag diag = {0};
    o->path = strdup(path);
    if (!o->path) return trouble("%s: no memory", path), false;
    if (ti_output_open(&o->file, path, &diag) != TRIBO_OK) {
        trouble("%s: %s", path, diag.text);
        free(o->path);
        return false;
    }
    o->f = o->file.file;
    pend(o);
    return true;
}

bool out_close(out_file *o) {
    tribo_diag diag = {0};
    char temporary[sizeof o->file.temporary];
    memcpy(temporary, o->file.temporary, sizeof temporary);
    bool good = o->path ? ti_output_close(&o->file, o->path, &diag) == TRIBO_OK : fflush(o->f) == 0 && !ferror(o->f);
    unpend(temporary);
    if (!good) trouble("%s: %s", o->path ? o->path : "standard output", o->path ? diag.text : strerror(errno));
    free(o->path);
    return good;
}

void out_discard(out_file *o) {
    unpend(o->file.temporary);
    if (o->path) ti_output_discard(&o->file);
    free(o->path);
}

static bool is_folder(const char *path) {
    struct stat there;
    return stat(path, &there) == 0 && S_ISDIR(there.st_mode);
}

bool make_folder(const char *path) {
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && is_folder(path))) return true;
    int why = errno;
    char *parent = strdup(path), *slash = parent ? strrchr(parent, '/') : NULL;
    bool above = true, made = false;
    if (why == ENOENT && slash && slash != parent) {
        *slash = 0;
        above = make_folder(parent);
        made = above && (mkdir(path, 0777) == 0 || is_folder(path)); /* it is there already: `path` ends in a slash */
        why = errno;
    }
    if (above && !made) trouble("%s: %s", path, strerror(why));
    free(parent);
    return made;
}

bool ends_with(const char *name, const char *ending) {
    size_t n = strlen(name), k = strlen(ending);
    return n > k && !strcasecmp(name + n - k, ending);
}

char *join_path(const char *folder, const char *name) {
    size_t length = strlen(folder) + strlen(name) + 2;
    char *path = malloc(length);
    if (path) snprintf(path, length, "%s/%s", folder, name);
    return path;
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
