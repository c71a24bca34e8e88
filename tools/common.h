/* common.h -- what every verb of the command shares: exit codes, messages, options, JSON and files. */
#ifndef TRIBO_TOOLS_COMMON_H
#define TRIBO_TOOLS_COMMON_H
#include "files.h"
#include "messages.h"
#include "options.h"
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <tribo/law.h>

extern const verb verb_simulate, verb_identify, verb_validate, verb_gradcheck, verb_solve, verb_compare, verb_params,
    verb_check, verb_design, verb_optimize, verb_view, verb_batch; /* one a file, listed in verbs.c */

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
/* Processors online, at least 1. */
int processors(void);

#endif
