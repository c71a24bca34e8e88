/* options.h -- the command line of a verb, read by its table. */
#ifndef TRIBO_TOOLS_OPTIONS_H
#define TRIBO_TOOLS_OPTIONS_H
#include "option_table.h"

/* getopt_long as every verb uses it: -h or --help prints the verb's help; a positional argument is returned as 1 in
 * optarg; an unknown option or a missing value is a usage error, with the nearest name there is.
 * @return the option's code, 1, -1 at the end, or a negative number below -1 after which the verb returns
 *         option_exit(that number). */
int next_option(const verb *v, int argc, char **argv);
int option_exit(int code);

/* Which of the words between | in `words` the text is; -1 after a message that names them and the nearest. */
int choose_word(const verb *v, const char *what, const char *words, const char *text);

#endif
