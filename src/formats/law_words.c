/* law_words.c -- the names of laws and solvers, and their options by words, as scenes and the command have them. */
#include "base/base.h"
#include "formats/text.h"
#include <math.h>
#include <stdio.h>
#include <tribo/law.h>

typedef struct entry {
    const char *name, *text;
} entry;
static const entry laws[] = {
#define TRIBO_X(NAME, name, text) {name, text},
    TRIBO_LAW_LIST(TRIBO_X)
#undef TRIBO_X
};
static const entry solvers[] = {
#define TRIBO_X(NAME, name, text) {name, text},
    TRIBO_SOLVER_LIST(TRIBO_X)
#undef TRIBO_X
};
static const entry impacts[] = {{"poisson", ""}, {"newton", ""}};
static const entry softnesses[] = {{"none", ""}, {"physical", ""}, {"mujoco", ""}};
static const entry smoothings[] = {{"logistic", ""}, {"gaussian", ""}, {"erm", ""}};
static const entry answers[] = {{"0", ""}, {"1", ""}};
static const entry nothing = {NULL, NULL};

static const entry *law_entry(tribo_law law) {
    return law > TRIBO_LAW_DEFAULT && law < TRIBO_LAW_END ? laws + (law - 1) : &nothing;
}
static const entry *solver_entry(tribo_solver s) {
    return s > TRIBO_SOLVER_DEFAULT && s < TRIBO_SOLVER_END ? solvers + (s - 1) : &nothing;
}
/* 1 + the index; 0 if there is none */
static int find_entry(const entry *e, int n, const char *name) {
    for (int k = 0; name && k < n; k++)
        if (strcmp(e[k].name, name) == 0) return k + 1;
    return 0;
}

const char *tribo_law_name(tribo_law law) {
    return law_entry(law)->name;
}
const char *tribo_law_text(tribo_law law) {
    return law_entry(law)->text;
}
const char *tribo_solver_name(tribo_solver solver) {
    return solver_entry(solver)->name;
}
const char *tribo_solver_text(tribo_solver solver) {
    return solver_entry(solver)->text;
}
tribo_law tribo_law_find(const char *name) {
    return (tribo_law)find_entry(laws, TRIBO_LAW_END - 1, name);
}
tribo_solver tribo_solver_find(const char *name) {
    return (tribo_solver)find_entry(solvers, TRIBO_SOLVER_END - 1, name);
}

double tribo_softness_of_spring(double k, double tau, double dt) {
    return 1 / (dt * k * (dt + tau));
}

/* ---- options by words ---- */

/* One of a list of names, its number (from 1, or from 0 for answers) stored as an int; or a number in a range. */
typedef struct word {
    const char *name;
    const entry *list;
    int nlist;
    size_t at;           /* in tribo_law_options */
    double lower, upper; /* of a number; without its ends where it begins at 0, as a NUMBER */
    bool integer;
    unsigned given; /* TRIBO_GIVEN_..., if 0 may be said */
} word;
#define WORD(member, list, n, lower, upper, integer, given)                                                            \
    { #member, list, n, offsetof(tribo_law_options, member), lower, upper, integer, given }
#define NAMES(member, list) WORD(member, list, sizeof list / sizeof *list, 0, 0, false, 0)
#define ANSWER(member, given) WORD(member, answers, 2, 0, 0, false, given)
#define NUMBER(member, lower, upper) WORD(member, NULL, 0, lower, upper, false, 0)
#define NUMBER_OR_0(member, lower, upper, given) WORD(member, NULL, 0, lower, upper, false, given)
#define INTEGER(member, lower, upper, given) WORD(member, NULL, 0, lower, upper, true, given)
static const word words[] = {
    NAMES(law, laws),
    NAMES(solver, solvers),
    ANSWER(raw, TRIBO_GIVEN_RAW),
    INTEGER(max_iter, 0, 1e9, TRIBO_GIVEN_MAX_ITER),
    NUMBER(relaxation, 0, 2),
    NUMBER_OR_0(penalty, 0, 1e300, TRIBO_GIVEN_PENALTY),
    INTEGER(facets, 4, 64, 0),
    NUMBER_OR_0(facet_angle, -7, 7, TRIBO_GIVEN_FACET_ANGLE),
    ANSWER(circumscribed, TRIBO_GIVEN_CIRCUMSCRIBED),
    NAMES(softness, softnesses),
    NUMBER(compliance, 0, 1e300),
    NUMBER(impedance, 0, 1),
    NUMBER(impratio, 0, 1e300),
    NUMBER_OR_0(kappa, 0, 1e300, TRIBO_GIVEN_KAPPA),
    NAMES(smoothing, smoothings),
    NUMBER(noise, 0, 1e300),
    NAMES(impact, impacts),
    NUMBER(dry_compliance, 0, 1e300),
};
#undef WORD
#undef NAMES
#undef ANSWER
#undef NUMBER
#undef NUMBER_OR_0
#undef INTEGER
enum { NWORD = sizeof words / sizeof *words };

/* The same but for - and _. */
static bool same_word(const char *a, const char *b) {
    for (; *a && *b; a++, b++)
        if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_'))) return false;
    return *a == *b;
}

const char *tribo_law_word(int k) {
    return k >= 0 && k < NWORD ? words[k].name : NULL;
}

bool tribo_law_word_is_name(int k) {
    return k >= 0 && k < NWORD && words[k].list;
}

static tribo_status set_name(tribo_law_options *o, const word *w, const char *value, tribo_diag *diag) {
    int found = find_entry(w->list, w->nlist, value);
    char list[200] = "";
    size_t n = 0;
    for (int k = 0; k < w->nlist && n < sizeof list; k++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", k ? ", " : "", w->list[k].name);
    if (!found) return ti_fail(diag, TRIBO_E_ARG, 0, "%s: `%.40s` is none of %s", w->name, value, list);
    char *at = (char *)o + w->at;
    if (w->list == answers)
        *(bool *)(void *)at = found == 2;
    else
        memcpy(at, &found, sizeof found); /* every enum of the options is an int in size; the tests check */
    return TRIBO_OK;
}

tribo_status tribo_law_set(tribo_law_options *o, const char *name, const char *value, tribo_diag *diag) {
    const word *w = NULL;
    for (int k = 0; name && k < NWORD; k++)
        if (same_word(words[k].name, name)) w = words + k;
    if (!o || !w || !value)
        return ti_fail(diag, TRIBO_E_ARG, 0, "there is no option `%.40s` of a contact law", name ? name : "");
    if (w->list) {
        tribo_status status = set_name(o, w, value, diag);
        if (status == TRIBO_OK) o->given |= w->given;
        return status;
    }
    double x;
    const char *end = ti_read_number(value, &x);
    bool open = !w->integer && !(w->lower < 0) && !w->given;
    bool inside = end && *end == 0 && (open ? x > w->lower && x < w->upper : x >= w->lower && x <= w->upper);
    if (!inside || (w->integer && x != floor(x)))
        return ti_fail(diag, TRIBO_E_ARG, 0, "%s: `%.40s` is no %s %s %g and %s %g", w->name, value,
                       w->integer ? "integer" : "number", open ? "above" : "of at least", w->lower,
                       open ? "below" : "at most", w->upper);
    char *at = (char *)o + w->at;
    o->given |= w->given;
    if (w->integer)
        *(int *)(void *)at = (int)x;
    else
        *(double *)(void *)at = x;
    return TRIBO_OK;
}
