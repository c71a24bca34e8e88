/* messages.h -- what the command says on standard error, and its exit codes. */
#ifndef TRIBO_TOOLS_MESSAGES_H
#define TRIBO_TOOLS_MESSAGES_H
#include "option_table.h"
#include <tribo/base.h>

/* Exit status of the command besides EXIT_SUCCESS. */
enum {
    EXIT_TROUBLE = 1,      /* an output could not be written, no memory, interrupted */
    EXIT_USAGE = 2,        /* the command line is wrong */
    EXIT_INPUT = 3,        /* a file is wrong: file:line: what */
    EXIT_NOT_CONVERGED = 4 /* answered, but not to the tolerance asked for */
};

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

/* On a terminal: a line in the place of the one shown before, without its end; the next message takes it away. */
void line_show(const char *text);
/* Away with it, so that something else may be written there. */
void line_clear(void);

#endif
