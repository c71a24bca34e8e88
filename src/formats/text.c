/* text.c -- numbers in text, whole files. */
#define _POSIX_C_SOURCE 200809L
#include "formats/text.h"
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool digit(char c) {
    return c >= '0' && c <= '9';
}

/* strtod() with the point that the current locale wants; s to end is a well-formed number. */
static double slow_number(const char *s, const char *end) {
    enum { MAX = 1100 }; /* beyond about 770 digits none changes the rounding */
    char copy[MAX + 8];
    const char *point = localeconv()->decimal_point;
    size_t n = 0;
    for (; s < end && n < MAX; s++) {
        if (*s != '.') {
            copy[n++] = *s;
            continue;
        }
        for (const char *c = point; *c && n < MAX; c++) copy[n++] = *c;
    }
    copy[n] = '\0';
    return s < end ? (double)NAN : strtod(copy, NULL);
}

const char *ti_read_number(const char *s, double *x) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *c = s;
    bool negative = *c == '-';
    if (*c == '-' || *c == '+') c++;
    uint64_t mantissa = 0;
    int digits = 0, significant = 0;
    long scale = 0, exponent = 0;
    for (; digit(*c); c++, digits++) {
        if (significant < 19) mantissa = mantissa * 10 + (uint64_t)(*c - '0');
        significant += mantissa > 0;
    }
    if (*c == '.')
        for (c++; digit(*c); c++, digits++, scale--) {
            if (significant < 19) mantissa = mantissa * 10 + (uint64_t)(*c - '0');
            significant += mantissa > 0;
        }
    if (digits == 0) return NULL;
    if ((*c == 'e' || *c == 'E') && (digit(c[1]) || ((c[1] == '-' || c[1] == '+') && digit(c[2])))) {
        bool down = c[1] == '-';
        for (c += digit(c[1]) ? 1 : 2; digit(*c); c++)
            if (exponent < 100000) exponent = exponent * 10 + (*c - '0');
        scale += down ? -exponent : exponent;
    }
    /* Both factors exact: one rounding, the right one. */
    if (significant < 19 && mantissa <= (uint64_t)1 << 53 && scale >= -22 && scale <= 22) {
        double m = (double)mantissa;
        double value = scale < 0 ? m / power[-scale] : m * power[scale];
        *x = negative ? -value : value;
        return c;
    }
    double value = slow_number(s, c);
    if (!isfinite(value)) return NULL;
    *x = value;
    return c;
}

void ti_write_number(double x, char text[TI_NUMBER_TEXT]) {
    if (x != x) {
        memcpy(text, "nan", 4);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, TI_NUMBER_TEXT, "%.*g", digits, x);
        const char *point = localeconv()->decimal_point;
        char *at = strcmp(point, ".") == 0 ? NULL : strstr(text, point);
        if (at) {
            *at = '.';
            memmove(at + 1, at + strlen(point), strlen(at + strlen(point)) + 1);
        }
        double back;
        if (ti_read_number(text, &back) && back == x) return;
    }
}

const char *ti_not_text(const char *text, const char *end) {
    for (const unsigned char *c = (const unsigned char *)text, *e = (const unsigned char *)end; c < e;) {
        int more = *c < 0x80                 ? 0
                   : *c >= 0xc2 && *c < 0xe0 ? 1
                   : *c >= 0xe0 && *c < 0xf0 ? 2
                   : *c >= 0xf0 && *c < 0xf5 ? 3
                                             : -1;
        if (more < 0 || *c == 0 || e - c <= more) return (const char *)c;
        for (int i = 1; i <= more; i++)
            if ((c[i] & 0xc0) != 0x80) return (const char *)c;
        c += more + 1;
    }
    return NULL;
}

size_t ti_cut(const char *text, size_t n, size_t max) {
    if (n <= max) return n;
    n = max;
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) n--;
    return n;
}

int ti_count_lines(const char *at, const char *end) {
    int n = 1;
    for (; at < end; at++) n += *at == '\n';
    return n;
}

tribo_status ti_read_file(const char *path, const tribo_allocator *a, char **data, size_t *n, size_t *bytes,
                          tribo_diag *diag) {
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file) return ti_fail(diag, TRIBO_E_IO, 0, "cannot be opened: %s", path ? strerror(errno) : "no name");
    char *block = NULL;
    size_t used = 0, size = 0;
    tribo_status status = TRIBO_OK;
    while (status == TRIBO_OK) {
        char *grown = ti_grow(a, block, &size, used + 4096);
        if (!grown) {
            status = ti_fail(diag, TRIBO_E_NOMEM, 0, "out of memory");
            break;
        }
        block = grown;
        size_t got = fread(block + used, 1, size - used - 1, file);
        used += got;
        if (got == 0) break;
        if (used > TI_FILE_LIMIT) status = ti_fail(diag, TRIBO_E_PARSE, 0, "larger than %d bytes", TI_FILE_LIMIT);
    }
    if (status == TRIBO_OK && ferror(file))
        status = ti_fail(diag, TRIBO_E_IO, 0, "cannot be read: %s", strerror(errno));
    fclose(file);
    if (status != TRIBO_OK) {
        ti_free(a, block, size);
        return status;
    }
    block[used] = '\0';
    *data = block;
    *n = used;
    *bytes = size;
    return TRIBO_OK;
}

tribo_status ti_output_open(ti_output *o, const char *path, tribo_diag *diag) {
    struct stat there;
    o->temporary[0] = 0;
    if (lstat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        o->file = fopen(path, "wb");
        return o->file ? TRIBO_OK : ti_fail(diag, TRIBO_E_IO, 0, "cannot be written: %s", strerror(errno));
    }
    int length = snprintf(o->temporary, sizeof o->temporary, "%s.tmp%ld", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof o->temporary)
        return ti_fail(diag, TRIBO_E_IO, 0, "cannot be written: its name is too long");
    o->file = fopen(o->temporary, "wb");
    return o->file ? TRIBO_OK : ti_fail(diag, TRIBO_E_IO, 0, "cannot be written: %s", strerror(errno));
}

tribo_status ti_output_close(ti_output *o, const char *path, tribo_diag *diag) {
    bool good = fflush(o->file) == 0 && !ferror(o->file);
    int why = errno;
    if (fclose(o->file) != 0 && good) good = false, why = errno;
    if (good && (!o->temporary[0] || rename(o->temporary, path) == 0)) return TRIBO_OK;
    if (good) why = errno;
    if (o->temporary[0]) remove(o->temporary);
    return ti_fail(diag, TRIBO_E_IO, 0, "cannot be written: %s", strerror(why));
}

void ti_output_discard(ti_output *o) {
    fclose(o->file);
    if (o->temporary[0]) remove(o->temporary);
}
