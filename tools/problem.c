/* problem.c -- JSON line to problem: every key, type, length and sign is checked before anything is allocated. */
#include "problem.h"
#include <jansson.h>
#include <math.h>

/* The line being read. The first thing wrong is kept; everything after it does nothing. */
typedef struct reader {
    const json_t *line;
    tribo_diag *diag;
    tribo_status status;
} reader;

#define FAIL(in, ...)                                                                                                  \
    do {                                                                                                               \
        if ((in)->status == TRIBO_OK) (in)->status = ti_fail((in)->diag, TRIBO_E_PARSE, 0, __VA_ARGS__);               \
    } while (0)

/* An integer of 1 to max under key, or `missing` where there is no such key; missing = 0: it has to be there. */
static int read_count(reader *in, const char *key, int missing, int max) {
    const json_t *value = json_object_get(in->line, key);
    double x = json_number_value(value);
    if (!value && missing) return missing;
    if (!value)
        FAIL(in, "there is no \"%s\"", key);
    else if (!json_is_number(value) || x != floor(x) || !(x >= 1 && x <= max))
        FAIL(in, "\"%s\" is not an integer from 1 to %d", key, max);
    return in->status == TRIBO_OK ? (int)x : 1;
}

/* The array under key, after a check that it holds `count` finite numbers, none below `lower`. */
static const json_t *read_array(reader *in, const char *key, size_t count, double lower) {
    const json_t *array = json_object_get(in->line, key);
    if (!json_is_array(array)) {
        FAIL(in, array ? "\"%s\" is not an array" : "there is no \"%s\"", key);
        return NULL;
    }
    if (json_array_size(array) != count)
        FAIL(in, "\"%s\" has %zu numbers, not %zu", key, json_array_size(array), count);
    for (size_t i = 0; i < count && in->status == TRIBO_OK; i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_number(value) || !isfinite(json_number_value(value)))
            FAIL(in, "\"%s\"[%zu] is not a number", key, i);
        else if (!(json_number_value(value) >= lower))
            FAIL(in, "\"%s\"[%zu] is %g, below %g", key, i, json_number_value(value), lower);
    }
    return array;
}

static void copy(double *to, const json_t *array) {
    for (size_t i = 0; i < json_array_size(array); i++) to[i] = json_number_value(json_array_get(array, i));
}

/* Fill the symmetric (n,n) matrix from its lower triangle by rows. */
static void copy_symmetric(double *to, const json_t *array, int n) {
    size_t at = 0;
    for (size_t i = 0; i < (size_t)n; i++)
        for (size_t j = 0; j <= i; j++) {
            double x = json_number_value(json_array_get(array, at++));
            to[i * (size_t)n + j] = to[j * (size_t)n + i] = x;
        }
}

static size_t triangle(int n) {
    return (size_t)n * ((size_t)n + 1) / 2;
}

static void read_id(reader *in, ti_problem *p) {
    const json_t *id = json_object_get(in->line, "id");
    if (json_is_string(id) && json_string_length(id) < sizeof p->id_text && json_string_length(id) > 0)
        memcpy(p->id_text, json_string_value(id), json_string_length(id) + 1);
    else if (json_is_number(id) && fabs(json_number_value(id)) <= 9007199254740992.0 &&
             json_number_value(id) == floor(json_number_value(id)))
        p->id = json_number_value(id);
    else
        FAIL(in, id ? "\"id\" is neither an integer nor a short string" : "there is no \"id\"");
}

/* The arrays of a line, found and checked but not yet copied; a member is NULL where the line has no such key. */
typedef struct arrays {
    const json_t *P, *q, *r, *w, *M, *J, *vfree, *G, *g, *mu;
} arrays;

static void read_qcqp(reader *in, ti_problem *p, arrays *a) {
    const json_t *q = json_object_get(in->line, "q");
    size_t length = json_array_size(q); /* 0 where it is no array */
    int per_contact = p->kind == TI_PROBLEM_QCQP ? 2 : 1;
    if (!q) FAIL(in, "there is no \"q\"");
    if (length < 1 || length > TI_PROBLEM_N_MAX)
        FAIL(in, "\"q\" is not an array of 1 to %d numbers", (int)TI_PROBLEM_N_MAX);
    if (in->status != TRIBO_OK) return;
    p->n = (int)length;
    p->nc = p->n / per_contact;
    if (p->n % per_contact) FAIL(in, "a QCQP has an even number of variables, not %d", p->n);
    if (read_count(in, "n", p->n, TI_PROBLEM_N_MAX) != p->n) FAIL(in, "\"n\" is not the length of \"q\", %d", p->n);
    if (read_count(in, "nc", p->nc, TI_PROBLEM_N_MAX) != p->nc)
        FAIL(in, "\"nc\" does not agree with the length of \"q\", %d", p->n);
    a->q = read_array(in, "q", length, -INFINITY);
    a->P = read_array(in, "P", triangle(p->n), -INFINITY);
    if (p->kind == TI_PROBLEM_QCQP)
        a->r = read_array(in, "r", (size_t)p->nc, 0);
    else if (json_object_get(in->line, "r"))
        read_array(in, "r", 0, 0);
    if (json_object_get(in->line, "w")) a->w = read_array(in, "w", length, -INFINITY);
}

static void read_ncp(reader *in, ti_problem *p, arrays *a) {
    p->nc = read_count(in, "nc", 0, TI_PROBLEM_NC_MAX);
    size_t rows = 3 * (size_t)p->nc;
    a->mu = read_array(in, "mu", (size_t)p->nc, 0);
    if (json_object_get(in->line, "G")) {
        if (json_object_get(in->line, "M")) FAIL(in, "give either \"M\", \"J\", \"vfree\" or \"G\", \"g\", not both");
        a->G = read_array(in, "G", triangle(3 * p->nc), -INFINITY);
        a->g = read_array(in, "g", rows, -INFINITY);
        return;
    }
    if (!json_object_get(in->line, "M")) FAIL(in, "there is neither \"M\" nor \"G\"");
    p->nv = read_count(in, "nv", 0, 3 * TI_PROBLEM_NC_MAX);
    a->M = read_array(in, "M", triangle(p->nv), -INFINITY);
    a->J = read_array(in, "J", rows * (size_t)p->nv, -INFINITY);
    a->vfree = read_array(in, "vfree", (size_t)p->nv, -INFINITY);
}

/* Cut the arrays out of the block; with arena->base NULL this only counts. */
static void lay_out(ti_arena *arena, ti_problem *p, const arrays *a) {
    size_t n = (size_t)p->n, nv = (size_t)p->nv, rows = 3 * (size_t)p->nc;
    ti_carve(arena, 1, sizeof *p);
    if (a->P) TI_CARVE(arena, p->P, n * n);
    if (a->q) TI_CARVE(arena, p->q, n);
    if (a->r) TI_CARVE(arena, p->r, p->nc);
    if (a->w) TI_CARVE(arena, p->w, n);
    if (a->M) TI_CARVE(arena, p->M, nv * nv);
    if (a->J) TI_CARVE(arena, p->J, rows * nv);
    if (a->vfree) TI_CARVE(arena, p->vfree, nv);
    if (a->G) TI_CARVE(arena, p->G, rows * rows);
    if (a->g) TI_CARVE(arena, p->g, rows);
    if (a->mu) TI_CARVE(arena, p->mu, p->nc);
}

static void fill(ti_problem *p, const arrays *a) {
    if (a->P) copy_symmetric(p->P, a->P, p->n);
    if (a->M) copy_symmetric(p->M, a->M, p->nv);
    if (a->G) copy_symmetric(p->G, a->G, 3 * p->nc);
    if (a->q) copy(p->q, a->q);
    if (a->r) copy(p->r, a->r);
    if (a->w) copy(p->w, a->w);
    if (a->J) copy(p->J, a->J);
    if (a->vfree) copy(p->vfree, a->vfree);
    if (a->g) copy(p->g, a->g);
    if (a->mu) copy(p->mu, a->mu);
}

static void read_line(reader *in, ti_problem *head, arrays *found) {
    const char *kind = json_string_value(json_object_get(in->line, "kind"));
    if (!json_is_object(in->line)) FAIL(in, "the line is not a JSON object");
    read_id(in, head);
    if (!kind || (strcmp(kind, "QP") && strcmp(kind, "QCQP") && strcmp(kind, "NCP")))
        FAIL(in, "\"kind\" is none of \"QP\", \"QCQP\", \"NCP\"");
    if (in->status != TRIBO_OK) return;
    head->kind = kind[0] == 'N' ? TI_PROBLEM_NCP : kind[1] == 'C' ? TI_PROBLEM_QCQP : TI_PROBLEM_QP;
    if (head->kind == TI_PROBLEM_NCP)
        read_ncp(in, head, found);
    else
        read_qcqp(in, head, found);
}

tribo_status ti_problem_load(const char *text, size_t bytes, const tribo_allocator *alloc, ti_problem **out,
                             tribo_diag *diag) {
    json_error_t error;
    /* Integers as reals: a double written without a point may be too long for any integer type. */
    json_t *line = json_loadb(text, bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (!line) return ti_fail(diag, TRIBO_E_PARSE, 0, "column %d: %s", error.column, error.text);

    reader in = {.line = line, .diag = diag, .status = TRIBO_OK};
    ti_problem head = {0}, *p = NULL;
    arrays found = {0};
    ti_arena arena = {0};
    read_line(&in, &head, &found);
    if (in.status == TRIBO_OK) {
        lay_out(&arena, &head, &found);
        head.bytes = arena.used;
        p = ti_arena_take(&arena, alloc);
        if (!p) in.status = ti_fail(diag, TRIBO_E_NOMEM, 0, "%s", tribo_status_text(TRIBO_E_NOMEM));
    }
    if (p) {
        lay_out(&arena, &head, &found);
        fill(&head, &found);
        *p = head;
        *out = p;
    }
    json_decref(line);
    return in.status;
}

void ti_problem_free(const tribo_allocator *alloc, ti_problem *p) {
    if (p) ti_free(alloc, p, p->bytes);
}
