/* option_table.h -- verbs and their options as tables, from which the command line is read (options.c) and --help, the
 * man pages, the completion and the lists of docs/command.md are written (describe.c). */
#ifndef TRIBO_TOOLS_OPTION_TABLE_H
#define TRIBO_TOOLS_OPTION_TABLE_H
#include <stdbool.h>

/* An option. The word of its value says what completes it: a|b|c these words; ...FILE.csv, DIR, SCENE files; NAME
 * parameters of the scene; others nothing. `...` at its end: one or several; [=...] around it: it may be left out. */
typedef struct option_row {
    const char *name;  /* without its dashes; NULL ends a list */
    int code;          /* what next_option() returns */
    const char *value; /* NULL: takes none */
    const char *text;  /* what it does, with units and its default */
    bool needed;       /* the verb does nothing without */
} option_row;

/* Options that several verbs share. */
typedef struct option_group {
    const char *title;
    const char *note; /* a sentence below the title; NULL: none */
    const option_row *rows;
} option_group;

enum { GROUPS_MAX = 4 };

/* A verb of the command: one a file, listed in verbs.c. Texts are paragraphs between newlines, broken where they are
 * shown; lines that begin with a blank stand as they are. */
typedef struct verb {
    const char *name;
    const char *summary;  /* one line */
    const char *operands; /* what comes without dashes, as SCENE TASK.json */
    const char *about;    /* what it does */
    const option_row *options;
    const option_group *groups[GROUPS_MAX]; /* as many as are not NULL */
    const char *notes;                      /* below the options; NULL: none */
    const char *statuses;                   /* its own exit statuses, "4 ...; 1 ..."; NULL: those of all verbs */
    const char *example;                    /* command lines */
    int (*run)(int argc, char **argv);
    bool shared; /* over the ranks of mpirun; others refuse to run as several processes */
} verb;
extern const verb *const verbs[]; /* ends with NULL */
extern const option_group group_common;
enum { OPTION_QUIET = 700 }; /* the code of its --quiet */

/* The k-th option of a verb, its own first, then those of its groups and of all; NULL beyond the last. */
const option_row *verb_option(const verb *v, int k);
/* Whether an option of a group is another of the verb's own, which then counts. */
bool verb_hides(const verb *v, const option_row *row);
const verb *verb_find(const char *name);

#endif
