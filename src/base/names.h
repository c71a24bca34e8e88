/* names.h -- names of records in a growing array, found without looking at all of them. */
#ifndef TI_NAMES_H
#define TI_NAMES_H
#include "base/base.h"

/* Of the first n records, whose names are `stride` bytes apart, from `first` on: the calls say where, as the array
 * moves when it grows. Zeroed to begin with. */
typedef struct ti_names {
    int *slot; /* a record's number + 1, by the hash of its name, negative where that was made; 0 = free */
    size_t bytes;
    int n;
} ti_names;

/* The record of this name among the first n, or -1. */
int ti_names_find(const ti_names *t, const void *first, size_t stride, const char *name);
/* Whether the name of that record was made for it, and given by nobody. */
bool ti_names_made(const ti_names *t, const void *first, size_t stride, int id);
/* Take in record n. @return false without memory. */
bool ti_names_add(ti_names *t, const tribo_allocator *a, const void *first, size_t stride, bool made);
/* Another name, for which there is room, for a record. */
void ti_names_change(ti_names *t, void *first, size_t stride, int id, const char *name);

#endif
