/* answer.h -- one line of a problem file to its answer. */
#ifndef TRIBO_TOOLS_ANSWER_H
#define TRIBO_TOOLS_ANSWER_H
#include <jansson.h>
#include <tribo/law.h>

typedef struct answer_options {
    double tol;            /* on the solver's residual; 0 = its default */
    double budget;         /* s, spent on solving again to time the solve; 0 = the first solve's time is told */
    tribo_law_options law; /* of contact problems */
} answer_options;

/* Solve the problem of one line and differentiate it where the line has an upstream vector `w`.
 * @param answer [out] the JSON object to print; the caller's to free
 * @return TRIBO_OK; TRIBO_NOT_CONVERGED (answered all the same); below 0: no answer, diag says why. */
tribo_status answer_line(const char *text, size_t bytes, const answer_options *o, json_t **answer, tribo_diag *diag);

#endif
