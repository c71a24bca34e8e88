/* files.c -- see files.h. */
#define _POSIX_C_SOURCE 200809L
#include "files.h"
#include "messages.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what was read ---- */

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

/* ---- what is written ---- */

/* Names of files that are being written, for a handler of signals: a file is named before its place is counted. */
enum { PENDING = 8 };
static char pending[PENDING][sizeof((ti_output *)0)->temporary];

static void pend(const out_file *o) {
    for (int i = 0; i < PENDING && o->file.temporary[0]; i++)
        if (!pending[i][0]) {
            memcpy(pending[i] + 1, o->file.temporary + 1, sizeof pending[i] - 1);
            pending[i][0] = o->file.temporary[0];
            return;
        }
}

static void unpend(const char *temporary) {
    for (int i = 0; i < PENDING && *temporary; i++)
        if (!strcmp(pending[i], temporary)) pending[i][0] = 0;
}

void outputs_drop(int number) {
    for (int i = 0; i < PENDING; i++)
        if (pending[i][0]) unlink(pending[i]);
    signal(number, SIG_DFL);
    raise(number);
}

void outputs_guard(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct sigaction before, act = {.sa_handler = outputs_drop};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &act, NULL); /* who ignores one, as nohup does, goes on ignoring it */
}

bool out_open(out_file *o, const char *path) {
    *o = (out_file){.f = stdout};
    if (!path || !strcmp(path, "-")) return true;
    if (!output_allowed(path)) return false;
    tribo_diag diag = {0};
    o->path = strdup(path);
    if (!o->path) return trouble("%s: no memory", path), false;
    if (ti_output_open(&o->file, path, &diag) != TRIBO_OK) {
        trouble("%s: %s", path, diag.text);
        free(o->path);
        return false;
    }
    o->f = o->file.file;
    pend(o);
    return true;
}

bool out_close(out_file *o) {
    tribo_diag diag = {0};
    char temporary[sizeof o->file.temporary];
    memcpy(temporary, o->file.temporary, sizeof temporary);
    bool good = o->path ? ti_output_close(&o->file, o->path, &diag) == TRIBO_OK : fflush(o->f) == 0 && !ferror(o->f);
    unpend(temporary);
    if (!good) trouble("%s: %s", o->path ? o->path : "standard output", o->path ? diag.text : strerror(errno));
    free(o->path);
    return good;
}

void out_discard(out_file *o) {
    unpend(o->file.temporary);
    if (o->path) ti_output_discard(&o->file);
    free(o->path);
}

static bool is_folder(const char *path) {
    struct stat there;
    return stat(path, &there) == 0 && S_ISDIR(there.st_mode);
}

bool make_folder(const char *path) {
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && is_folder(path))) return true;
    int why = errno;
    char *parent = strdup(path), *slash = parent ? strrchr(parent, '/') : NULL;
    bool above = true, made = false;
    if (why == ENOENT && slash && slash != parent) {
        *slash = 0;
        above = make_folder(parent);
        made = above && (mkdir(path, 0777) == 0 || is_folder(path)); /* it is there already: `path` ends in a slash */
        why = errno;
    }
    if (above && !made) trouble("%s: %s", path, strerror(why));
    free(parent);
    return made;
}

bool ends_with(const char *name, const char *ending) {
    size_t n = strlen(name), k = strlen(ending);
    return n > k && !strcasecmp(name + n - k, ending);
}

char *join_path(const char *folder, const char *name) {
    size_t length = strlen(folder) + strlen(name) + 2;
    char *path = malloc(length);
    if (path) snprintf(path, length, "%s/%s", folder, name);
    return path;
}
