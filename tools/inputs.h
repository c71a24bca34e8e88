/* inputs.h -- the files that a command has read, so that none is written over. */
#ifndef TRIBO_TOOLS_INPUTS_H
#define TRIBO_TOOLS_INPUTS_H
#include "common.h"

/* Remember a file that is read. */
void input_note(const char *path);
/* Whether path (NULL or "-": standard output) is another file than all that were read, under whatever name: by link,
 * through another folder. @return false after a message. */
bool output_allowed(const char *path);
/* The same of folder/name, for verbs to ask before they work. @return EXIT_SUCCESS; EXIT_USAGE after a message. */
int output_check(const char *folder, const char *name);

#endif
