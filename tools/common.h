/* common.h -- what every verb of the command shares: exit codes, messages, options, JSON and files. */
#ifndef TRIBO_TOOLS_COMMON_H
#define TRIBO_TOOLS_COMMON_H
#include "formats/text.h"
#include "options.h"
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <tribo/law.h>

/* Exit status of the command besides EXIT_SUCCESS. */
enum {
    EXIT_TROUBLE = 1,      /* an output could not be written, no memory, interrupted */
    EXIT_USAGE = 2,        /* the command line is wrong */
    EXIT_INPUT = 3,        /* a file is wrong: file:line: what */
    EXIT_NOT_CONVERGED = 4 /* answered, but not to the tolerance asked for */
};

extern const verb verb_simulate, verb_identify, verb_validate, verb_gradcheck, verb_solve, verb_compare, verb_params,
    verb_check, verb_design, verb_optimize, verb_view, verb_batch; /* one a file, listed in verbs.c */

/* ---- messages, all on standard error ---- */

extern bool messages_quiet; /* --quiet: remarks are not made */
/* "tribo VERB: what": a remark, which --quiet silences. */
void remark(const verb *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "tribo VERB: what", and where to find help. Returns EXIT_USAGE. */
int usage_error(const verb *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "path:line: what" from what a reader left in diag. Returns EXIT_INPUT, or EXIT_TROUBLE where it is no fault of the
 * input. */
int input_error(const char *path, tribo_status s, const tribo_diag *diag);
/* The same for a line number and words of one's own. Returns EXIT_INPUT. */
int input_message(const char *path, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "tribo: what". Returns EXIT_TROUBLE. */
int trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- options ---- */

/* Whole text to a finite number; false if it is not one, or not within [lower, upper]. */
bool parse_number(const char *text, double lower, double upper, double *x);
bool parse_integer(const char *text, long lower, long upper, long *x);
/* The option's value, a whole number; `what` begins the message, which tells the range: "--workers takes a number". */
int parse_whole(const verb *v, const char *what, long lower, long upper, long *x);
/* The option's value above 0 and at most `upper`; the same: "--dt takes a time above 0 s".
 * @return EXIT_SUCCESS; EXIT_USAGE after a message. */
int parse_positive(const verb *v, const char *what, double upper, double *x);
#define TOL_RANGE "--tol takes a number above 0"

/* The options of a contact law, the same for every verb, and what a code of theirs sets. Codes are LAW_OPTION + the
 * number of the word, see tribo_law_word(). law_group.c. */
enum { LAW_OPTION = 1000 };
extern const option_group group_law;
/* Set what `code` stands for. @return EXIT_SUCCESS; EXIT_USAGE after a message. */
int law_option(const verb *v, int code, const char *value, tribo_law_options *o);
/* Whether there is that solver of that law, and a compliance where it takes one, with the scene's (NULL = none; of the
 * file path) where o leaves them open.
 * @return EXIT_SUCCESS; after a message EXIT_USAGE, or EXIT_INPUT where it is all the scene's. */
int law_check(const verb *v, const char *path, const tribo_law_options *o, const tribo_law_options *scene);

/* A growing list of strings that belong to argv. */
typedef struct string_list {
    const char **item;
    int n;
} string_list;
bool list_add(string_list *l, const char *s);
void list_free(string_list *l);

/* ---- output ---- */

/* A file that appears under its name only when it is complete, or standard output. */
typedef struct out_file {
    FILE *f;
    char *path; /* a copy; NULL: standard output */
    ti_output file;
} out_file;
/* path NULL or "-": standard output. @return false after a message. */
bool out_open(out_file *o, const char *path);
/* Finish: flush, close, rename. @return false after a message; the old file is then still there. */
bool out_close(out_file *o);
/* Give up: close, remove the temporary. */
void out_discard(out_file *o);
/* From here on a signal that ends the process takes unfinished files away first. */
void outputs_guard(void);
/* In a handler: take them away and end by that signal. */
void outputs_drop(int signal);
/* Make the folder if it is not there. @return false after a message. */
bool make_folder(const char *path);
/* Whether that is the end of a name, in small letters or capitals, and not all of it. */
bool ends_with(const char *name, const char *ending);
/* "folder/name", to be freed; NULL without memory. */
char *join_path(const char *folder, const char *name);

/* A cell of a table on standard output, after a blank: a number in this format, right in this width; "-" for NaN. */
void print_number(const char *format, int width, double x);
/* A number as JSON; null where JSON has no word for it. Never NULL but without memory. */
json_t *json_number(double x);
/* n numbers. */
json_t *json_numbers(const double *x, size_t n);
/* Write value with %.17g numbers and a newline; lines = 0 on one line, else indented. False if it cannot be written. */
bool json_write(FILE *f, const json_t *value, bool pretty);

/* Seconds of the monotonic clock. */
double seconds_now(void);

#endif
