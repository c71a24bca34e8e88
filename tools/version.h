/* version.h -- what the command is made of. */
#ifndef TRIBO_TOOLS_VERSION_H
#define TRIBO_TOOLS_VERSION_H
#include <stdbool.h>
#include <stdio.h>

/* Version, commit, compiler and libraries. @return false after a message. */
bool version_print(FILE *f, bool as_json);

#endif
