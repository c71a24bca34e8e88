/* identification.h -- what the parts of the verb `identify` share: the arguments, the fit and its history. */
#ifndef TRIBO_TOOLS_IDENTIFICATION_H
#define TRIBO_TOOLS_IDENTIFICATION_H
#include "columns.h"
#include "recordings.h"
#include "residuals.h"

typedef struct identify_arguments {
    const char *scene, *out;
    recording_options in;
    string_list free, compare;
    long folds;                  /* 0 = no cross-validation */
    double weight[TRIBO_BLOCKS]; /* as in tribo_sysid_def */
    tribo_loss loss;
    int window; /* 0 = left to the fit */
    tribo_optimizer optimizer;
    tribo_robust robust;
    bool estimate_start, json;
    double validation;
    tribo_law_options law;
    long seed, search, iterations, workers; /* search < 0: chosen by the number of parameters */
    int argc;
    char **argv;
} identify_arguments;

/* One line of progress. */
typedef struct history_row {
    double evaluations, loss, gradient;
} history_row;

typedef struct identification {
    const identify_arguments *a;
    tribo_model *m;
    recordings r;
    tribo_free_param *free;
    int nfree;
    tribo_sysid *s;
    tribo_progress progress;
    history_row *history;
    size_t nhistory, history_max;
    double seconds;
    bool interrupted, stalled;
    /* results */
    double *p;     /* (np) */
    double *value; /* (nfree) of what is free, gain and bias of columns too */
    int ncolumn;   /* how many of those there are */
    columns_read read;
    tribo_estimate *est;
    double *direction, *spread, *information;
    int nopen;
    bool observed; /* est and the rest are known */
    mean_errors train, held;
    tribo_errors *errors;          /* (r.n) of each recording; no rows = it could not be simulated */
    quality left;                  /* of the recordings fitted: what the simulation leaves */
    struct comparison *comparison; /* NULL = not asked for */
    char warning[560];             /* where that is not noise; else empty */
    double validation_loss;
    double late, late_error; /* s: the recordings behind their controls, where that was found */
    int *behind;             /* (nv) rows that numbers of the recordings are behind the rest, NULL = none is */
    int exchanged[2];        /* channels of joints that were found to have each other's name; the same twice = none */
} identification;

/* What is asked of the fit; `step` is what it points to. */
tribo_sysid_def fit_definition(const identification *id, tribo_options *step);
/* How recordings are read with what was found of their names and columns. */
recording_options reading_options(const identification *id);
/* Where recordings and controls have clocks of their own, id->r is read again with that mended: id->s is to be made
 * anew. @return exit status after a message. */
int late_find(identification *id, bool *found);
/* The same of columns with a clock of their own. */
int clocks_find(identification *id, bool *found);
/* The same of joints with each other's name. */
int exchanges_find(identification *id, bool *found);
/* A fit of some recordings, beside that of all. */
typedef struct late_fit {
    const tribo_recording *rec;
    int n, iterations;
    const double *start; /* (nfree) values; NULL = the definition's */
    double *end;         /* (nfree) [out] values where it ended; NULL = skip */
} late_fit;
/* (nfree) values of the fit as it stands, the caller's to free; NULL = no memory. */
double *late_answer(const identification *id);
/* (nfree) values by a fit of some recordings that may be kicked at every row; as they were where there is none. */
void late_every_row(const identification *id, const tribo_recording *rec, int n, double *value);
/* Twice the negative logarithm of their likelihood, all free parameters fitted; infinite = no fit. */
double late_loss(const identification *id, const late_fit *fit);

/* The verb itself, once its options are known. */
int identify(const identify_arguments *a);
/* id->free by --free. @return exit status after a message. */
int choose_free(identification *id);
void print_table(const identification *id);
/* What is to be said of an estimate beside its interval: where a bound holds it, or it has gone far; "" = nothing. */
const char *estimate_remark(const identification *id, int i);
/* Name of parameter i of the free ones; a static buffer is not used: the caller's is filled. */
const char *free_name(const identification *id, int i, tribo_param_info *info);
const char *free_unit(const identification *id, int i);
/* DIR/identified.xml, DIR/result.json and DIR/report.html. @return exit status after a message. */
int write_scene(const identification *id);
/* With --json also on standard output, where it is `last`. */
int write_result(const identification *id, bool last);
int write_report(identification *id);
/* Some recordings to be played, measured and simulated. */
void report_motion(FILE *f, identification *id, const int *list, int n);
/* Parts of the page: what the fit leaves of each recording; correlations of the estimates. */
void report_left(FILE *f, identification *id);
void report_correlations(FILE *f, const identification *id);
#endif
