/* describe.h -- what is written of the tables of verbs and options: help, man pages, completion, Markdown, JSON. */
#ifndef TRIBO_TOOLS_DESCRIBE_H
#define TRIBO_TOOLS_DESCRIBE_H
#include "option_table.h"
#include <stdio.h>

/* What `tribo VERB --help` prints; v NULL: what `tribo --help` prints. */
void describe_help(FILE *f, const verb *v);
/* Its first lines, broken at `width`. */
void describe_usage(FILE *f, const verb *v, int width);
/* `tribo --describe KIND [VERB]`, by which the build makes the rest: man, markdown (of a verb, or of the command),
 * bash, zsh, json. @return exit status. */
int describe(FILE *f, const char *kind, const char *verb_name);
void describe_man(FILE *f, const verb *v);
void describe_bash(FILE *f);
void describe_zsh(FILE *f);

#endif
