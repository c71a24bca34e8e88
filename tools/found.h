/* found.h -- where a file that the command line names is: standard input as -, installed scenes and tasks. */
#ifndef TRIBO_TOOLS_FOUND_H
#define TRIBO_TOOLS_FOUND_H

/* The path under which `path` can be read: itself, what standard input was put into (-), or, where there is no such
 * file and it names no folder, that of an installed one, with or without its ending.
 * @param role "scene", "task": standard input can be one thing only, whose name messages have
 * @param ending ".xml"
 * @return valid until the next call; NULL after a message. */
const char *found(const char *path, const char *role, const char *ending);
/* The same of files that are never installed. */
const char *found_input(const char *path, const char *role);

#endif
