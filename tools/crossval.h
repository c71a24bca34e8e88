/* crossval.h -- does freedom pay? Sets of free parameters compared by recordings that were not fitted. */
#ifndef TRIBO_TOOLS_CROSSVAL_H
#define TRIBO_TOOLS_CROSSVAL_H
#include "identification.h"

/* One set of free parameters, fitted once a part and judged on that part. */
typedef struct contender {
    const char *names; /* as on the command line; NULL = all of --free */
    int nfree;
    double likelihood;           /* held-out, logarithm a row and number: mean over recordings */
    double behind, behind_error; /* of the best: mean of the differences over recordings, and its standard error */
    mean_errors held;
    double *score; /* (recordings) */
} contender;

typedef struct comparison {
    contender *of;
    int n, best, advised; /* advised: the fewest free of those that are no worse than the best by its error */
    int parts;
    bool interrupted; /* then nothing else is known */
} comparison;

/* Whether what --folds and --compare ask for can be done. @return EXIT_SUCCESS; EXIT_USAGE after a message. */
int compare_check(const identification *id);
/* Fit and judge all sets; `template` is the fit's definition. @return exit status after a message; also
 * EXIT_SUCCESS where somebody interrupted it. */
int compare_sets(comparison *c, const identification *id, const tribo_sysid_def *template);
void comparison_print(const comparison *c);
json_t *comparison_json(const comparison *c);
void comparison_free(comparison *c);

#endif
