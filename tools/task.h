/* task.h -- a task of trajectory optimisation from a JSON file: docs/control.md says what it may hold. */
#ifndef TRIBO_TOOLS_TASK_H
#define TRIBO_TOOLS_TASK_H
#include <tribo/trajopt.h>

/* A target over time. */
typedef struct task_series {
    int n, width;  /* rows; n = 0: there is none */
    double *time;  /* (n) s, rising */
    double *value; /* (n,width) */
    double period; /* s, from the first time on; 0 = held behind the last */
} task_series;

/* What a term says of itself in tables, and its target where that moves. */
typedef struct task_term {
    char label[96];   /* its name, or kind and what it is of */
    char at[32];      /* as the file has it: all, running, final, knots */
    bool stands;      /* at knots that do not move along with a horizon */
    int rows;         /* of its target in the definition */
    task_series over; /* in seconds */
} task_term;

/* A task as its file has it: a definition that points into it, and what a definition has no place for. */
typedef struct task_file {
    const char *path;
    const tribo_model *m;
    tribo_sizes size;
    tribo_trajopt_def def; /* of its options, stages, controls, terms, ...; workers and stop are the caller's */
    tribo_options options;
    tribo_law_options *stage;
    tribo_term_def *term;
    task_term *info;
    double dt;          /* s, of a step */
    int iterations;     /* 0 = not said */
    bool other_numbers; /* "parameters" are not the scene's */
    double *p, *x0, *u; /* (np), (nx), (nu) the numbers that are held */
    int *control;       /* (def.ncontrol) */
    double *lower, *upper;
    double *guess;  /* (knots,ncontrol), NULL = zero */
    int line_begun; /* of the guess, else of the start; 0 = the file has neither */
    struct block *blocks;
} task_file;

/* What takes the place of the file's word. */
typedef struct task_changes {
    int knots;           /* 0 = the file's */
    const char *guess;   /* a CSV file; NULL = the file's */
    const double *noise; /* (nnoise) stages of the stochastic law by their noise; nnoise < 0 = the file's */
    int nnoise;
    int nlaw; /* words of a law, which come over "law" */
    const char *const *law_word, *const *law_value;
} task_changes;

/* Read and check all of it: whatever is wrong is told by file and line.
 * @return exit status of the verb, after a message where it is not EXIT_SUCCESS; *t is to be freed in any case. */
int task_file_read(const char *path, const tribo_model *m, const task_changes *changes, task_file **t);
void task_file_free(task_file *t);
/* What else a law must say for a word of it to count, on the scene; NULL = it does, or is no word. */
const char *task_law_lacks(const tribo_model *m, const tribo_law_options *law, const char *word);

/* Rows of a term's target over time, from `from` seconds on. @param target [out] (rows,width) */
void task_target(const task_file *t, int term, double from, double *target);
/* By the file's word; -1 if there is none. */
int task_method_find(const char *word);

#endif
