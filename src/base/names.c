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

static int id_in(int slot) {
    return slot < 0 ? -slot - 1 : slot - 1;
}

/* The slot of that name, or the free one where it would be. */
static size_t place_of(const ti_names *t, const void *first, size_t stride, const char *name) {
    size_t last = slots(t) - 1, k = hash_of(name) & last;
    while (t->slot[k] && strcmp(name_of(first, stride, id_in(t->slot[k])), name) != 0) k = (k + 1) & last;
    return k;
}

int ti_names_find(const ti_names *t, const void *first, size_t stride, const char *name) {
    return t->n == 0 ? -1 : id_in(t->slot[place_of(t, first, stride, name)]);
}

bool ti_names_made(const ti_names *t, const void *first, size_t stride, int id) {
    return t->slot[place_of(t, first, stride, name_of(first, stride, id))] < 0;
}

static void put(ti_names *t, const char *name, int slot) {
    size_t last = slots(t) - 1, k = hash_of(name) & last;
    while (t->slot[k]) k = (k + 1) & last;
    t->slot[k] = slot;
}

bool ti_names_add(ti_names *t, const tribo_allocator *a, const void *first, size_t stride, bool made) {
    if (2 * (size_t)(t->n + 1) > slots(t)) {
        ti_names grown = {.bytes = t->bytes ? 2 * t->bytes : 64 * sizeof *t->slot, .n = t->n};
        grown.slot = ti_alloc(a, grown.bytes);
        if (!grown.slot) return false;
        for (size_t k = 0; k < slots(t); k++)
            if (t->slot[k]) put(&grown, name_of(first, stride, id_in(t->slot[k])), t->slot[k]);
        ti_free(a, t->slot, t->bytes);
        *t = grown;
    }
    put(t, name_of(first, stride, t->n), made ? -t->n - 1 : t->n + 1);
    t->n++;
    return true;
}

/* What was put behind for want of that slot moves up. */
static void vacate(ti_names *t, const void *first, size_t stride, size_t k) {
    size_t last = slots(t) - 1;
    for (size_t j = (k + 1) & last; t->slot[j]; j = (j + 1) & last) {
        size_t home = hash_of(name_of(first, stride, id_in(t->slot[j]))) & last;
        if (((j - home) & last) < ((j - k) & last)) continue;
        t->slot[k] = t->slot[j], k = j;
    }
    t->slot[k] = 0;
}

void ti_names_change(ti_names *t, void *first, size_t stride, int id, const char *name) {
    char *own = (char *)first + stride * (size_t)id;
    size_t k = place_of(t, first, stride, own);
    int slot = t->slot[k];
    vacate(t, first, stride, k);
    memmove(own, name, strlen(name) + 1);
    put(t, own, slot);
}
