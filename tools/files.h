/* files.h -- files that the command reads and writes, so that none is written over or left half done. */
#ifndef TRIBO_TOOLS_FILES_H
#define TRIBO_TOOLS_FILES_H
#include "formats/text.h"
#include <stdbool.h>
#include <stdio.h>

/* Remember a file that is read. */
void input_note(const char *path);
/* Whether path (NULL or "-": standard output) is another file than all that were read, under whatever name: by link,
 * through another folder. @return false after a message. */
bool output_allowed(const char *path);
/* The same of folder/name, for verbs to ask before they work. @return EXIT_SUCCESS; EXIT_USAGE after a message. */
int output_check(const char *folder, const char *name);

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

#endif
