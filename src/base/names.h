/* names.h -- names of records in a growing array, found without looking at all of them. */
#ifndef TI_NAMES_H
#define TI_NAMES_H
#include "base/base.h"

/* Of the first n records, whose names are `stride` bytes apart, from `first` on: the calls say where, as the array
 * moves when it grows. Zeroed to begin with. */
typedef struct ti_names {
    int *slot; /* a record's number + 1, by the hash of its name; 0 = free */
    size_t bytes;
    int n;
} ti_names;

/* The record of this name among the first n, or -1. */
int ti_names_find(const ti_names *t, const void *first, size_t stride, const char *name);
/* Take in record n. @return false without memory. */
bool ti_names_add(ti_names *t, const tribo_allocator *a, const void *first, size_t stride);

#endif
