/* names.c -- a hash table of names with linear probing, at most half full. */
#include "base/names.h"

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const char *name) {
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return h ^ h >> 32;
}

static const char *name_of(const void *first, size_t stride, int id) {
    return (const char *)first + stride * (size_t)id;
}

static size_t slots(const ti_names *t) {
    return t->bytes / sizeof *t->slot; /* a power of two */
}

int ti_names_find(const ti_names *t, const void *first, size_t stride, const char *name) {
    if (t->n == 0) return -1;
    size_t last = slots(t) - 1;
    for (size_t k = hash_of(name) & last; t->slot[k]; k = (k + 1) & last)
        if (strcmp(name_of(first, stride, t->slot[k] - 1), name) == 0) return t->slot[k] - 1;
    return -1;
}

static void put(ti_names *t, const char *name, int id) {
    size_t last = slots(t) - 1, k = hash_of(name) & last;
    while (t->slot[k]) k = (k + 1) & last;
    t->slot[k] = id + 1;
}

bool ti_names_add(ti_names *t, const tribo_allocator *a, const void *first, size_t stride) {
    if (2 * (size_t)(t->n + 1) > slots(t)) {
        ti_names grown = {.bytes = t->bytes ? 2 * t->bytes : 64 * sizeof *t->slot, .n = t->n};
        grown.slot = ti_alloc(a, grown.bytes);
        if (!grown.slot) return false;
        for (int i = 0; i < t->n; i++) put(&grown, name_of(first, stride, i), i);
        ti_free(a, t->slot, t->bytes);
        *t = grown;
    }
    put(t, name_of(first, stride, t->n), t->n);
    t->n++;
    return true;
}
