/* range.c -- which numbers are searched widely, and where: those that move over tens or over their bounds. */
#include "sysid/kicked/kicked.h"

/* Others are known well enough to start with. */
bool ti_shooting_searches(const tribo_sysid *s, int i, double *low, double *high) {
    const ti_unknown *k = s->unknown + i;
    tribo_param_info info;
    if (tribo_param_describe(s->m, k->index, &info)) return false;
    *low = k->tlower, *high = k->tupper;
    switch (info.kind) {
    case TRIBO_PARAM_MASS: /* in the logarithm */
        *low = -2.5, *high = 2.5;
        break;
    case TRIBO_PARAM_FRICTION:
    case TRIBO_PARAM_STICTION:
        *high = (1.5 - k->start) / k->scale;
        break;
    case TRIBO_PARAM_RESTITUTION:
        break;
    default:
        return false;
    }
    if (*low < k->tlower) *low = k->tlower;
    if (*high > k->tupper) *high = k->tupper;
    return *high > *low;
}

double ti_shooting_place(const tribo_sysid *s, int i, int place, double low, double high) {
    double share = (place + 0.5) / TI_PLACES; /* closer where numbers are small */
    if (s->unknown[i].map != TI_MAP_LOG) share *= share;
    return low + (high - low) * share;
}
