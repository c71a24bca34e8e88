/* found.c -- see found.h. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include "found.h"
#include "common.h"
#include "names.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef TRIBO_DATADIR
#define TRIBO_DATADIR "" /* nothing is installed */
#endif

/* ---- standard input, read once into a file without a name ---- */

static int spool(void) {
    char name[] = "/tmp/tribo-XXXXXX", block[1 << 16];
    int fd = mkstemp(name);
    if (fd < 0) return trouble("standard input: no temporary file: %s", strerror(errno)), -1;
    unlink(name);
    for (ssize_t n; (n = read(STDIN_FILENO, block, sizeof block)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n > 0 && write(fd, block, (size_t)n) == n) continue;
        trouble("standard input: %s", strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}

static const char *from_input(const char *role) {
    static const char *taken; /* a command has one standard input */
    static char path[32];
    if (taken && strcmp(taken, role) != 0) {
        trouble("standard input is the %s already; it cannot be the %s too", taken, role);
        return NULL;
    }
    if (!taken) {
        int fd = spool();
        if (fd < 0) return NULL;
        snprintf(path, sizeof path, "/dev/fd/%d", fd);
        taken = role;
    }
    return path;
}

/* ---- folders ---- */

enum { FOLDERS_MAX = 16 };

/* Folders of a role: those of TRIBO_SCENES, and what is installed. @return how many. */
static int folders(const char *role, char folder[FOLDERS_MAX][1024]) {
    int n = 0;
    const char *asked = strcmp(role, "scene") == 0 ? getenv("TRIBO_SCENES") : NULL;
    while (asked && *asked && n < FOLDERS_MAX - 1) {
        size_t length = strcspn(asked, ":");
        if (length) snprintf(folder[n++], sizeof folder[0], "%.*s", (int)length, asked);
        asked += length + (asked[length] == ':');
    }
    if (*TRIBO_DATADIR) snprintf(folder[n++], sizeof folder[0], "%s/%ss", TRIBO_DATADIR, role);
    return n;
}

/* Files with the ending, by their names with and without it. */
static void offer_folder(near_name *near, const char *folder, const char *ending) {
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!ends_with(e->d_name, ending)) continue;
        near_offer(near, e->d_name);
        e->d_name[strlen(e->d_name) - strlen(ending)] = 0;
        near_offer(near, e->d_name);
    }
    if (d) closedir(d);
}

/* What was looked for, where, and what is nearest there. */
static void not_found(const char *path, const char *role, const char *ending, char folder[][1024], int n) {
    char places[1200] = "", here[1024];
    const char *slash = strrchr(path, '/');
    size_t used = 0;
    near_name near = near_begin(slash ? slash + 1 : path);
    snprintf(here, sizeof here, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    offer_folder(&near, here, ending);
    for (int i = 0; i < n && !slash; i++) {
        offer_folder(&near, folder[i], ending);
        if (used < sizeof places)
            used += (size_t)snprintf(places + used, sizeof places - used, ", nor in %s", folder[i]);
    }
    if (!slash && !getcwd(here, sizeof here)) snprintf(here, sizeof here, "this folder");
    input_message(path, 0, "No such file: there is no such %s in %s%s%s%s", role, here, places,
                  near.nearest[0] ? "; the nearest is " : "", near.nearest);
}

/* Whether folder/name+ending is there; its place then. */
static const char *in_folder(const char *folder, const char *name, const char *ending) {
    static char place[2200];
    int n = snprintf(place, sizeof place, "%s/%s%s", folder, name, ending);
    return n > 0 && (size_t)n < sizeof place && !access(place, F_OK) ? place : NULL;
}

const char *found(const char *path, const char *role, const char *ending) {
    char folder[FOLDERS_MAX][1024];
    if (!strcmp(path, "-")) return from_input(role);
    if (!access(path, F_OK) || errno != ENOENT) return path;
    int n = folders(role, folder);
    for (int i = 0; i < n && !strchr(path, '/'); i++) {
        const char *place = in_folder(folder[i], path, "");
        if (!place) place = in_folder(folder[i], path, ending);
        if (place) return place;
    }
    not_found(path, role, ending, folder, n);
    return NULL;
}

const char *found_input(const char *path, const char *role) {
    return strcmp(path, "-") == 0 ? from_input(role) : path;
}
