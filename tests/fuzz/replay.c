/* replay.c -- the main of a fuzz target without libFuzzer: every file of a folder once, and every prefix length
 * of the short ones, so that each seed also tests truncation. With a number N after the folder, N random inputs
 * besides. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PREFIX_MAX = 1024, FILE_MAX = 1 << 22, RANDOM_MAX = 600 };

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

/* Input number k of the random ones, the same on every machine. */
static void feed_random(uint64_t k) {
    uint8_t data[RANDOM_MAX];
    for (size_t i = 0; i < sizeof data; i++) { /* splitmix64 */
        uint64_t z = (k << 16 | i) * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u, z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        data[i] = (uint8_t)(z >> 32);
    }
    feed(data, sizeof data);
}

int main(int argc, char **argv) {
    DIR *folder = argc == 2 || argc == 3 || argc == 4 ? opendir(argv[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "usage: %s FOLDER [N [FIRST]]\n", argv[0]);
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
    uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    for (uint64_t k = first; k < first + n; k++) {
        if (n > 1000 && k % 1000 == 0) fprintf(stderr, "\r%llu ", (unsigned long long)k);
        feed_random(k);
    }
    printf("%d files\n", count);
    return count && !bad ? EXIT_SUCCESS : EXIT_FAILURE;
}
