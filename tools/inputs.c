/* inputs.c -- see inputs.h. */
#define _POSIX_C_SOURCE 200809L
#include "inputs.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct identity {
    dev_t device;
    ino_t inode;
} identity;

static identity *inputs; /* of this process: a command reads its inputs once, in one thread */
static int ninputs;

void input_note(const char *path) {
    struct stat s;
    if (!path || stat(path, &s) != 0 || !S_ISREG(s.st_mode)) return;
    identity *grown = realloc(inputs, (size_t)(ninputs + 1) * sizeof *grown);
    if (!grown) return;
    inputs = grown;
    inputs[ninputs++] = (identity){s.st_dev, s.st_ino};
}

bool output_allowed(const char *path) {
    struct stat s;
    if (!path || !strcmp(path, "-") || stat(path, &s) != 0) return true;
    for (int i = 0; i < ninputs; i++)
        if (inputs[i].device == s.st_dev && inputs[i].inode == s.st_ino)
            return trouble("%s: is what was read; nothing is written over an input", path), false;
    return true;
}

int output_check(const char *folder, const char *name) {
    if (folder && !strcmp(folder, "-"))
        return trouble("-: is standard output, and no folder for %s and others", name), EXIT_USAGE;
    char *path = folder ? join_path(folder, name) : strdup(name);
    if (!path) return trouble("no memory");
    int status = output_allowed(path) ? EXIT_SUCCESS : EXIT_USAGE;
    free(path);
    return status;
}
