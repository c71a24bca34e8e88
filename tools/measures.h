/* measures.h -- what the steps between two rows were worth, as columns of a table and as JSON. */
#ifndef TRIBO_TOOLS_MEASURES_H
#define TRIBO_TOOLS_MEASURES_H
#include <jansson.h>
#include <tribo/sim.h>

/* Columns: X(NAME, how the steps of a row are gathered, where it comes from in (info, measures m)). */
#define MEASURE_LIST(X)                                                                                                \
    X(energy, LAST, 0)                                                                                                 \
    X(dissipation, SUM, m->dissipation)                                                                                \
    X(friction_loss, SUM, m->friction_loss)                                                                            \
    X(law_primal, WORST, m->law.primal)                                                                                \
    X(law_dual, WORST, m->law.dual)                                                                                    \
    X(law_complementarity, WORST, m->law.complementarity)                                                              \
    X(ncp_primal, WORST, m->ncp.primal)                                                                                \
    X(ncp_dual, WORST, m->ncp.dual)                                                                                    \
    X(ncp_complementarity, WORST, m->ncp.complementarity)                                                              \
    X(internal, WORST, m->internal)                                                                                    \
    X(internal_share, WORST, m->internal_share)                                                                        \
    X(lift, WORST, m->lift)                                                                                            \
    X(penetration, WORST, info->penetration)                                                                           \
    X(iterations, SUM, info->iterations)

enum {
#define MEASURE_X(name, how, from) MEASURE_##name,
    MEASURE_LIST(MEASURE_X)
#undef MEASURE_X
        NMEASURES
};

/* Their names as columns: measure.energy, ... */
extern const char *const measure_columns[NMEASURES];
/* Add a step to a row of NMEASURES numbers; energy is not touched. */
void measures_add(double *row, const tribo_step_info *info);
/* n rows as one, as an object; energy is left out. */
json_t *measures_json(const double *rows, int n);

#endif
