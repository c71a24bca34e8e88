/* replay.c -- the main of a fuzz target without libFuzzer: every file of a folder once, and every prefix length
 * of the short ones, so that each seed also tests truncation. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PREFIX_MAX = 1024, FILE_MAX = 1 << 22 };

/* A copy of exactly `size` bytes, so that a reader going past the end is seen by the sanitizers. */
static void feed(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int replay(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return 1;
    uint8_t *data = malloc(FILE_MAX);
    if (!data) abort();
    size_t size = fread(data, 1, FILE_MAX, f);
    fclose(f);
    feed(data, size);
    for (size_t n = 0; n < size && size <= PREFIX_MAX; n++) feed(data, n);
    free(data);
    return 0;
}

int main(int argc, char **argv) {
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return EXIT_FAILURE;
    }
    int count = 0, bad = 0;
    for (struct dirent *e; (e = readdir(folder));) {
        char path[4096];
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
        bad += replay(path);
        count++;
    }
    closedir(folder);
    printf("%d files\n", count);
    return count && !bad ? EXIT_SUCCESS : EXIT_FAILURE;
}
