/* identify_table.c -- what `identify` prints: estimates, what is not told, errors, warnings. */
#include "identification.h"
#include <math.h>

/* Of robots that have no free body there are no positions. */
static void print_errors(const char *name, const mean_errors *sum) {
    tribo_errors e = mean_of(sum);
    if (isnan(e.position_mean) && isnan(e.rotation_mean_deg)) return; /* velocities alone */
    printf("%s:", name);
    if (!isnan(e.position_mean)) printf(" position %.5f m (%.2f %%)", e.position_mean, 100 * e.position_relative);
    printf("%s", isnan(e.position_mean) || isnan(e.rotation_mean_deg) ? "" : ",");
    if (!isnan(e.rotation_mean_deg)) printf(" rotation %.2f deg", e.rotation_mean_deg);
    printf(" over %d recording%s\n", sum->n, sum->n == 1 ? "" : "s");
}

/* Directions that nothing in the recordings tells, in the fit's own numbers. */
static void print_open(const identification *id) {
    for (int k = 0; k < id->nopen && id->observed; k++) {
        printf("not told:");
        for (int i = 0; i < id->nfree; i++) {
            tribo_param_info info;
            double x = id->direction[k * id->nfree + i];
            if (fabs(x) > 0.05) printf(" %+.2f %s", x, free_name(id, i, &info));
        }
        puts("");
    }
}

const char *estimate_remark(const identification *id, int i) {
    const double far = 1e3;
    double start = fabs(id->est[i].start), now = fabs(id->value[i]);
    if (id->observed && id->est[i].at_bound) return "at its bound";
    return start > 0 && (now > far * start || now < start / far)
               ? "a thousand times its start, or less than a thousandth"
               : "";
}

void print_table(const identification *id) {
    printf("%-28s %-9s %12s %12s %12s   %s\n", "parameter", "unit", "start", "estimate", "std error", "95 % interval");
    for (int i = 0; i < id->nfree; i++) {
        tribo_param_info info;
        const tribo_estimate *e = id->est + i;
        const char *name = free_name(id, i, &info);
        const char *more = estimate_remark(id, i);
        printf("%-28s %-9s %12.6g %12.6g ", name, free_unit(id, i), e->start, id->value[i]);
        if (!id->observed)
            fputs("           ?", stdout);
        else if (e->identifiable)
            printf("%12.3g   %.6g to %.6g", e->std_error, e->low95, e->high95);
        else
            fputs("           -   not determined by these recordings", stdout);
        printf("%s%s\n", more[0] ? "; " : "", more);
    }
    if (id->late != 0)
        printf("%-28s %-9s %12g %12.6g %12.3g   the recordings behind the controls\n", "late", "s", 0., id->late,
               id->late_error);
    print_open(id);
    if (id->progress.others)
        printf("%d other answer%s the recordings as well, beside this one; intervals hold %s\n", id->progress.others,
               id->progress.others > 1 ? "s explain" : " explains", id->progress.others > 1 ? "them" : "it");
    printf("loss %.6g, ", id->progress.loss);
    if (isfinite(id->progress.loss_start)) printf("was %.6g, ", id->progress.loss_start);
    printf("%ld evaluations, %.1f s; ", id->progress.evaluations, id->seconds);
    puts(id->interrupted          ? "interrupted"
         : id->progress.converged ? "converged"
         : id->progress.settled   ? "no step improves a loss that is not smooth here"
                                  : "not converged");
    if (!id->train.n) return;
    print_errors("rollouts", &id->train);
    if (id->warning[0]) printf("warning: %s\n", id->warning);
    if (id->held.n) print_errors("held out", &id->held);
}
