/* messages.c -- see messages.h. */
#define _POSIX_C_SOURCE 200809L
#include "messages.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool messages_quiet;

/* Whether a line of the terminal is to be cleared: a thread may show it while another speaks. */
static struct {
    pthread_mutex_t lock;
    bool shown;
} screen = {.lock = PTHREAD_MUTEX_INITIALIZER};

void line_show(const char *text) {
    pthread_mutex_lock(&screen.lock);
    fprintf(stderr, "\r\033[K%s", text);
    screen.shown = true;
    pthread_mutex_unlock(&screen.lock);
}

void line_clear(void) {
    pthread_mutex_lock(&screen.lock);
    if (screen.shown) fputs("\r\033[K", stderr);
    screen.shown = false;
    pthread_mutex_unlock(&screen.lock);
}

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
    line_clear();
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
