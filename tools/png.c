/* png.c -- an image as a PNG file: rows as differences to their left (RFC 2083), packed by repeats of what is just
 * before and of the row above, in the code that deflate has fixed (RFC 1951, 3.2.6). */
#include "still.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct bits {
    unsigned char *data;
    size_t n, room;
    uint32_t held;
    int nheld;
    bool failed;
} bits;

static void put_byte(bits *b, unsigned char x) {
    if (b->n == b->room) {
        size_t room = 2 * b->room + 4096;
        unsigned char *more = realloc(b->data, room);
        b->failed |= !more;
        if (!more) return;
        b->data = more, b->room = room;
    }
    b->data[b->n++] = x;
}

/* n bits of x, the lowest first. */
static void put_bits(bits *b, uint32_t x, int n) {
    b->held |= x << b->nheld, b->nheld += n;
    for (; b->nheld >= 8; b->nheld -= 8, b->held >>= 8) put_byte(b, b->held & 255);
}

/* A word of the code: n bits of x, the highest first. */
static void put_code(bits *b, uint32_t x, int n) {
    uint32_t turned = 0;
    for (int k = 0; k < n; k++) turned |= (x >> k & 1) << (n - 1 - k);
    put_bits(b, turned, n);
}

/* A literal byte, or a length's symbol. */
static void put_symbol(bits *b, unsigned symbol) {
    if (symbol < 144)
        put_code(b, 0x30 + symbol, 8);
    else if (symbol < 256)
        put_code(b, 0x190 + symbol - 144, 9);
    else if (symbol < 280)
        put_code(b, symbol - 256, 7);
    else
        put_code(b, 0xc0 + symbol - 280, 8);
}

/* The last of the numbers that is not above x, which `first` and growing steps make; each step's bits double. */
static unsigned class_of(unsigned x, unsigned first, int each, unsigned *base, int *extra) {
    unsigned k = 0;
    *base = first, *extra = 0;
    for (int made = 0;; k++) {
        *extra = made < 2 * each ? 0 : made / each - 1;
        if (x < *base + (1u << *extra)) return k;
        *base += 1u << *extra, made++;
    }
}

/* So many bytes again, from so far back. Lengths are 3 to 258, distances 1 to 32768. */
static void put_repeat(bits *b, unsigned length, unsigned distance) {
    unsigned base, k;
    int extra;
    if (length == 258) {
        put_symbol(b, 285);
    } else {
        k = class_of(length, 3, 4, &base, &extra);
        put_symbol(b, 257 + k);
        put_bits(b, length - base, extra);
    }
    k = class_of(distance, 1, 2, &base, &extra);
    put_code(b, k, 5);
    put_bits(b, distance - base, extra);
}

static unsigned repeats(const unsigned char *x, size_t at, size_t n, size_t distance) {
    unsigned length = 0;
    if (distance > at || distance > 32768) return 0;
    while (length < 258 && at + length < n && x[at + length] == x[at + length - distance]) length++;
    return length;
}

static void deflate_rows(bits *b, const unsigned char *x, size_t n, size_t row) {
    const size_t distances[] = {1, 3, row};
    put_bits(b, 3, 3); /* the last block, in the fixed code */
    for (size_t at = 0; at < n;) {
        unsigned best = 0;
        size_t far = 0;
        for (int k = 0; k < 3; k++) {
            unsigned length = repeats(x, at, n, distances[k]);
            if (length > best) best = length, far = distances[k];
        }
        if (best >= 3)
            put_repeat(b, best, (unsigned)far), at += best;
        else
            put_symbol(b, x[at++]);
    }
    put_symbol(b, 256);
    put_bits(b, 0, 7);
}

/* ---- the file ---- */

enum { HEADER = 13 }; /* bytes of its first chunk: width, height, kinds */

static uint32_t crc(uint32_t c, const unsigned char *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        c ^= x[i];
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    }
    return c;
}

static uint32_t adler(const unsigned char *x, size_t n) {
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < n; i++) a = (a + x[i]) % 65521, b = (b + a) % 65521;
    return b << 16 | a;
}

static void number(unsigned char *to, uint32_t x) {
    for (int k = 0; k < 4; k++) to[k] = (unsigned char)(x >> (24 - 8 * k));
}

static void chunk(FILE *f, const char *kind, const unsigned char *x, size_t n) {
    unsigned char head[8], tail[4];
    number(head, (uint32_t)n), memcpy(head + 4, kind, 4);
    number(tail, ~crc(crc(~0u, head + 4, 4), x, n));
    fwrite(head, 1, 8, f);
    if (n > 0) fwrite(x, 1, n, f);
    fwrite(tail, 1, 4, f);
}

/* Every row begins with its filter, 1: what is left of each byte without the one three before. */
static unsigned char *filtered(const unsigned char *rgb, int width, int height) {
    size_t row = 3 * (size_t)width;
    unsigned char *out = malloc((row + 1) * (size_t)height);
    for (int j = 0; out && j < height; j++) {
        const unsigned char *from = rgb + (size_t)j * row;
        unsigned char *to = out + (size_t)j * (row + 1);
        *to++ = 1;
        for (size_t i = 0; i < row; i++) to[i] = (unsigned char)(from[i] - (i < 3 ? 0 : from[i - 3]));
    }
    return out;
}

bool png_write(FILE *f, const unsigned char *rgb, int width, int height) {
    size_t row = 3 * (size_t)width + 1, n = row * (size_t)height;
    unsigned char *rows = filtered(rgb, width, height), head[HEADER] = {0}, sum[4];
    bits b = {0};
    put_byte(&b, 0x78), put_byte(&b, 0x01);
    if (rows) deflate_rows(&b, rows, n, row), number(sum, adler(rows, n));
    for (int k = 0; rows && k < 4; k++) put_byte(&b, sum[k]);
    bool good = rows && !b.failed;
    if (good) {
        number(head, (uint32_t)width), number(head + 4, (uint32_t)height);
        head[8] = 8, head[9] = 2; /* bits a channel; red, green, blue */
        fwrite("\x89PNG\r\n\x1a\n", 1, 8, f);
        chunk(f, "IHDR", head, HEADER), chunk(f, "IDAT", b.data, b.n), chunk(f, "IEND", NULL, 0);
    }
    free(rows), free(b.data);
    return good;
}
