/* table.h -- CSV tables whose columns are `time`, `BODY.word` and `JOINT.word`: the part that trajectories and controls
 * share. */
#ifndef TI_TABLE_H
#define TI_TABLE_H
#include "base/base.h"
#include "model/model.h"
#include <stdio.h>

/* What columns there can be: words of a free body, a joint, an actuator, a site, a geom, and of any body, and where in
 * a row of `width` numbers the number of a word goes; beyond them into those of more[0], then of more[1]. */
typedef struct ti_table_words {
    const char *const *word;
    int nword;
    int (*place)(const tribo_model *m, int owner, int word);
} ti_table_words;
typedef struct ti_table_kind {
    ti_table_words body, joint, actuator, site, geom, any_body;
} ti_table_kind;

typedef struct ti_table {
    tribo_allocator alloc;
    size_t bytes;
    int n, width;
    double *time;    /* (n) */
    double *x;       /* (n,width) where nothing was read, as it was given */
    bool *seen;      /* (n,width) */
    double *more[2]; /* (n,nmore) NaN where nothing was read; NULL where no column is one of them */
    int nmore[2];
} ti_table;

/* Read a table into one block. `blank` (width) fills what was not read. */
tribo_status ti_table_read(const char *text, size_t n, const ti_table_kind *kind, const tribo_model *m, int width,
                           const int more[2], const double *blank, const tribo_allocator *a, ti_table **t,
                           tribo_diag *diag);
void ti_table_free(ti_table *t);
/* Line of the file that row i was on, for messages: counted again in the text. */
int ti_table_line(const char *text, size_t n, int row);

/* `,OWNER.word` of a header; in quotes, doubled inside, where the name has some. Word NULL: `,OWNER`. */
void ti_table_write_column(FILE *f, const char *owner, const char *word);

/* `OWNER.word` of number i of u: "hip.ctrl", "cube.fx", "rail.tau". */
void ti_control_column(const tribo_model *m, int i, char *name, size_t size);

struct tribo_controls;
/* Has the file a number for number k of u? */
bool ti_controls_have(const struct tribo_controls *c, int k);

/* Columns of this beginning are nobody's state: they are read over. */
#define TI_MEASURE "measure."
enum { TI_MEASURES_MAX = 32 };

/* Write n states with a full header, and after them the columns of more (n,nmore), named TI_MEASURE...; what goes wrong
 * is left in the stream. */
void ti_trajectory_write(FILE *f, const tribo_model *m, int n, const double *times, const double *x, int nmore,
                         const char *const *names, const double *more);

#endif
