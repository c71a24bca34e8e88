/* verbs.c -- the verbs of the command, in the order in which they are told. */
#include "common.h"

const verb *const verbs[] = {&verb_simulate,
                             &verb_view,
                             &verb_identify,
                             &verb_validate,
                             &verb_compare,
                             &verb_optimize,
                             &verb_batch,
                             &verb_design,
                             &verb_params,
                             &verb_check,
                             &verb_gradcheck,
                             &verb_solve,
                             NULL};
