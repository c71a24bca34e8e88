/* table.c -- reader of CSV tables. Lines end in LF or CRLF; blank lines are skipped; cells may have blanks around. */
#include "formats/table.h"
#include "formats/text.h"
#include <math.h>
#include <stdio.h>

static const double LARGEST = 1e12; /* no recording has such numbers; a step could not use them */

typedef struct span {
    const char *at, *end;
} span;

typedef struct reader {
    const char *at, *end; /* what is left of the text */
    int line;             /* of the line last taken */
    const ti_table_kind *kind;
    const tribo_model *m;
    int width, more[2], ncolumn;
    int *column; /* (ncolumn) place in a row, TIME or SKIP */
    int nskip;
    tribo_diag *diag;
} reader;

enum { TIME = -1, SKIP = -3, CELLS_LIMIT = 1 << 26 };

static bool blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static span trimmed(span s) {
    while (s.at < s.end && blank(*s.at)) s.at++;
    while (s.end > s.at && blank(s.end[-1])) s.end--;
    return s;
}

/* The next line that is not blank; false at the end. */
static bool take_line(reader *r, span *line) {
    while (r->at < r->end) {
        const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
        span s = {r->at, stop ? stop : r->end};
        r->at = stop ? stop + 1 : r->end;
        r->line++;
        s = trimmed(s);
        if (s.at == s.end) continue;
        *line = s;
        return true;
    }
    return false;
}

/* The next cell of a line; false after the last. line->at is NULL then. */
static bool take_cell(span *line, span *cell) {
    if (!line->at) return false;
    const char *comma = memchr(line->at, ',', (size_t)(line->end - line->at));
    *cell = trimmed((span){line->at, comma ? comma : line->end});
    line->at = comma ? comma + 1 : NULL;
    return true;
}

static tribo_status fail(const reader *r, const char *what, span cell, const char *after) {
    int n = (int)ti_cut(cell.at, (size_t)(cell.end - cell.at), 80);
    return ti_fail(r->diag, TRIBO_E_PARSE, r->line, "%s `%.*s`%s", what, n, cell.at, after);
}

/* ---- the header ---- */

static bool is_text(const char *name, const char *at, size_t n) {
    return strlen(name) == n && memcmp(name, at, n) == 0;
}

static int place_of_word(const tribo_model *m, const ti_table_words *words, int owner, const char *at, size_t n) {
    for (int w = 0; w < words->nword; w++)
        if (is_text(words->word[w], at, n)) return words->place(m, owner, w);
    return -2;
}

/* Place of a word of the first of n owners of that name; -2 if there is none. */
#define PLACE(r, owners, n, words)                                                                                     \
    for (int i = 0; place < 0 && i < (n); i++)                                                                         \
        if ((r)->m->owners[i].name && is_text((r)->m->owners[i].name, cell.at, name)) {                                \
            place = place_of_word((r)->m, &(r)->kind->words, i, own_word, word);                                       \
            break;                                                                                                     \
        }

/* Place of a column `BODY.word`, `JOINT.word`, `ACTUATOR.word`, `SITE.word` or `GEOM.word`; -2 if there is none. */
static int place_of(const reader *r, span cell) {
    const char *own_word = cell.end; /* after the last dot */
    while (own_word > cell.at && own_word[-1] != '.') own_word--;
    if (own_word == cell.at) return -2;
    size_t name = (size_t)(own_word - 1 - cell.at), word = (size_t)(cell.end - own_word);
    int place = -2;
    bool free = false; /* forces under the name of a free body are applied to it, and stand in a table of controls */
    for (int b = 0; b < r->m->size.nbody; b++)
        if (r->m->body[b].free >= 0 && is_text(r->m->body[b].name, cell.at, name)) {
            place = place_of_word(r->m, &r->kind->body, b, own_word, word), free = true;
            if (place >= 0) return place;
        }
    PLACE(r, joint, r->m->size.njoint, joint)
    PLACE(r, actuator, r->m->size.nactuator, actuator)
    PLACE(r, site, r->m->size.nsite, site)
    if (free) return place;
    PLACE(r, geom, r->m->size.ngeom, geom)
    PLACE(r, body, r->m->size.nbody, any_body)
    return place;
}

static bool is_measure(span cell) {
    const size_t n = sizeof TI_MEASURE - 1;
    return (size_t)(cell.end - cell.at) > n && memcmp(cell.at, TI_MEASURE, n) == 0;
}

/* What columns there may be is said by an example. */
static tribo_status no_column(const reader *r, span cell) {
    const tribo_model *m = r->m;
    const char *owner = NULL, *word = r->kind->body.word[0];
    char after[256] = " is unknown: no such body, joint, actuator, site or geom, or no such number of one";
    size_t n = strlen(after);
    for (int b = 0; b < m->size.nbody && !owner; b++)
        if (m->body[b].free >= 0) owner = m->body[b].name;
    if (!owner && m->size.njoint > 0) owner = m->joint[0].name, word = r->kind->joint.word[0];
    if (owner)
        snprintf(after + n, sizeof after - n, "; columns are `time`, `%.*s.%s` and so on",
                 (int)ti_cut(owner, strlen(owner), 80), owner, word);
    return fail(r, "column", cell, after);
}

static tribo_status read_column(reader *r, span cell) {
    bool time = cell.end - cell.at == 4 && memcmp(cell.at, "time", 4) == 0;
    int place = time ? TIME : place_of(r, cell);
    if (place < TIME && is_measure(cell) && r->nskip < TI_MEASURES_MAX) {
        r->nskip++, r->column[r->ncolumn++] = SKIP;
        return TRIBO_OK;
    }
    if (place < TIME) return no_column(r, cell);
    for (int i = 0; i < r->ncolumn; i++)
        if (r->column[i] == place) return fail(r, "column", cell, " is there twice");
    r->column[r->ncolumn++] = place; /* room for all: no place comes twice */
    return TRIBO_OK;
}

void ti_table_write_column(FILE *f, const char *owner, const char *word) {
    bool quotes = strchr(owner, '"') != NULL;
    fputs(quotes ? ",\"" : ",", f);
    for (const char *c = owner; *c; c++) {
        if (*c == '"') fputc('"', f);
        fputc(*c, f);
    }
    fprintf(f, "%s%s%s", word ? "." : "", word ? word : "", quotes ? "\"" : "");
}

/* A cell in quotes without them, in room for `size` bytes; others, and those that are too long, as they are. */
static span unquoted(span cell, char *room, size_t size) {
    size_t n = (size_t)(cell.end - cell.at), used = 0;
    if (n < 2 || n > size || *cell.at != '"' || cell.end[-1] != '"') return cell;
    for (const char *c = cell.at + 1; c < cell.end - 1; c++) {
        room[used++] = *c;
        if (*c == '"' && c + 1 < cell.end - 1 && c[1] == '"') c++;
    }
    return (span){room, room + used};
}

static tribo_status read_header(reader *r) {
    span line, cell;
    char room[400];
    if (!take_line(r, &line)) return ti_fail(r->diag, TRIBO_E_PARSE, 0, "the file is empty");
    while (take_cell(&line, &cell)) {
        tribo_status status = read_column(r, unquoted(cell, room, sizeof room));
        if (status != TRIBO_OK) return status;
    }
    for (int i = 0; i < r->ncolumn; i++)
        if (r->column[i] == TIME) return TRIBO_OK;
    return ti_fail(r->diag, TRIBO_E_PARSE, r->line, "there is no column `time`");
}

/* ---- rows ---- */

/* A number, or nothing: NaN. */
static tribo_status read_cell(const reader *r, span cell, double *x) {
    size_t n = (size_t)(cell.end - cell.at);
    *x = (double)NAN;
    if (n == 0 || (n == 3 && (memcmp(cell.at, "nan", 3) == 0 || memcmp(cell.at, "NaN", 3) == 0))) return TRIBO_OK;
    char copy[128]; /* the text may end with the cell, without a NUL */
    if (n >= sizeof copy) return fail(r, "cell", cell, " is not a number");
    memcpy(copy, cell.at, n);
    copy[n] = '\0';
    if (ti_read_number(copy, x) != copy + n) return fail(r, "cell", cell, " is not a number, or too large a one");
    if (!(fabs(*x) <= LARGEST)) return fail(r, "cell", cell, " is too large");
    return TRIBO_OK;
}

/* Number `place` of those beyond a row. */
static double *beyond(const reader *r, ti_table *t, int row, int place) {
    int k = place >= r->more[0], own = k ? place - r->more[0] : place;
    return t->more[k] + (size_t)row * (size_t)t->nmore[k] + (size_t)own;
}

static tribo_status read_row(const reader *r, span line, int row, ti_table *t) {
    double *time = t->time + row, *x = t->x + (size_t)row * (size_t)t->width;
    bool *seen = t->seen + (size_t)row * (size_t)t->width;
    span cell;
    int i = 0;
    while (take_cell(&line, &cell)) {
        double value;
        if (i == r->ncolumn) return ti_fail(r->diag, TRIBO_E_PARSE, r->line, "more than %d cells", r->ncolumn);
        tribo_status status = read_cell(r, cell, &value);
        if (status != TRIBO_OK) return status;
        int place = r->column[i++];
        if (place == TIME)
            *time = value;
        else if (place >= t->width)
            *beyond(r, t, row, place - t->width) = value;
        else if (place != SKIP && value == value)
            x[place] = value, seen[place] = true;
    }
    if (i < r->ncolumn)
        return ti_fail(r->diag, TRIBO_E_PARSE, r->line, "%d cells, but the header has %d", i, r->ncolumn);
    if (*time != *time) return ti_fail(r->diag, TRIBO_E_PARSE, r->line, "there is no time in this row");
    return TRIBO_OK;
}

static ti_table *lay_out(ti_arena *at, int n, int width, const int more[2]) {
    ti_table local, *t;
    TI_CARVE(at, t, 1);
    ti_table *w = t ? t : &local;
    size_t cells = (size_t)n * (size_t)width;
    TI_CARVE(at, w->time, n);
    TI_CARVE(at, w->x, cells);
    TI_CARVE(at, w->seen, cells);
    for (int k = 0; k < 2; k++) {
        w->more[k] = NULL;
        if (more[k]) TI_CARVE(at, w->more[k], (size_t)n * (size_t)more[k]);
    }
    return t;
}

static ti_table *new_table(int n, int width, const int more[2], const tribo_allocator *a) {
    ti_arena at = {0};
    lay_out(&at, n, width, more);
    if (!ti_arena_take(&at, a)) return NULL;
    ti_table *t = lay_out(&at, n, width, more);
    if (a) t->alloc = *a;
    t->bytes = at.used;
    t->n = n;
    t->width = width;
    for (int k = 0; k < 2; k++) {
        t->nmore[k] = more[k];
        for (size_t i = 0; i < (size_t)n * (size_t)more[k]; i++) t->more[k][i] = (double)NAN;
    }
    return t;
}

static tribo_status read_rows(reader *r, const double *fill, ti_table *t) {
    span line;
    for (int i = 0; i < t->n && take_line(r, &line); i++) {
        double *x = t->x + (size_t)i * (size_t)t->width;
        memcpy(x, fill, sizeof *x * (size_t)t->width);
        tribo_status status = read_row(r, line, i, t);
        if (status != TRIBO_OK) return status;
        if (i && !(t->time[i] > t->time[i - 1]))
            return ti_fail(r->diag, TRIBO_E_PARSE, r->line, "time %.17g does not come after %.17g", t->time[i],
                           t->time[i - 1]);
    }
    return TRIBO_OK;
}

static int count_rows(const reader *r) {
    reader copy = *r;
    span line;
    int n = 0;
    while (take_line(&copy, &line)) n++;
    return n;
}

/* With room for the columns: the header, then as many rows as there are. */
static tribo_status read_all(reader *r, const double *fill, const tribo_allocator *a, ti_table **t) {
    tribo_status status = read_header(r);
    if (status != TRIBO_OK) return status;
    int n = count_rows(r);
    if (n == 0) return ti_fail(r->diag, TRIBO_E_PARSE, r->line, "there is a header, but no rows");
    int more[2] = {0};
    for (int i = 0; i < r->ncolumn; i++) {
        int k = r->column[i] >= r->width + r->more[0];
        if (r->column[i] >= r->width) more[k] = r->more[k];
    }
    if (n > CELLS_LIMIT / (r->width + more[0] + more[1]))
        return ti_fail(r->diag, TRIBO_E_PARSE, r->line, "more rows than can be held");
    ti_table *made = new_table(n, r->width, more, a);
    if (!made) return ti_fail(r->diag, TRIBO_E_NOMEM, 0, "out of memory");
    status = read_rows(r, fill, made);
    if (status == TRIBO_OK)
        *t = made;
    else
        ti_table_free(made);
    return status;
}

/* Past the byte order mark that some programs write. */
static const char *past_mark(const char *text, size_t n) {
    return n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
}

tribo_status ti_table_read(const char *text, size_t n, const ti_table_kind *kind, const tribo_model *m, int width,
                           const int more[2], const double *fill, const tribo_allocator *a, ti_table **t,
                           tribo_diag *diag) {
    const char *bad = ti_not_text(text, text + n);
    if (bad) return ti_fail(diag, TRIBO_E_PARSE, ti_count_lines(text, bad), "this is not UTF-8 text");
    reader r = {.at = past_mark(text, n), .end = text + n, .kind = kind, .m = m, .width = width, .diag = diag};
    memcpy(r.more, more, sizeof r.more);
    size_t bytes = sizeof *r.column * (size_t)(width + more[0] + more[1] + 1 + TI_MEASURES_MAX);
    r.column = ti_alloc(a, bytes);
    if (!r.column) return ti_fail(diag, TRIBO_E_NOMEM, 0, "out of memory");
    tribo_status status = read_all(&r, fill, a, t);
    ti_free(a, r.column, bytes);
    return status;
}

void ti_table_free(ti_table *t) {
    if (!t) return;
    tribo_allocator a = t->alloc;
    ti_free(&a, t, t->bytes);
}

int ti_table_line(const char *text, size_t n, int row) {
    reader r = {.at = past_mark(text, n), .end = text + n};
    span line;
    for (int i = 0; i <= row + 1 && take_line(&r, &line); i++) continue;
    return r.line;
}
