/* main.c -- the command `tribo VERB ...`: finds the verb and hands over. */
#include "common.h"
#include <stdlib.h>
#include <string.h>
#include <tribo/version.h>

#include <cblas.h> /* OpenBLAS: openblas_set_num_threads */

static const verb *const verbs[] = {&verb_simulate, &verb_identify, &verb_validate, &verb_gradcheck,
                                    &verb_solve,    &verb_compare,  &verb_params,   &verb_check,
                                    &verb_design,   &verb_optimize, &verb_view};
enum { NVERBS = sizeof verbs / sizeof *verbs };

static void print_help(FILE *f) {
    fputs("usage: tribo VERB ...\n"
          "Rigid bodies in hard frictional contact: simulation, exact gradients, identification, control.\n\n",
          f);
    for (int i = 0; i < NVERBS; i++) fprintf(f, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    fputs("\n`tribo VERB --help` tells more; `tribo --version` prints the version.\n"
          "Results go to standard output, progress and messages to standard error.\n"
          "Exit status: 0 all went well; 1 no memory, or an output could not be written; 2 wrong usage;\n"
          "3 bad input (file:line: what); 4 did not converge.\n",
          f);
}

int main(int argc, char **argv) {
    openblas_set_num_threads(1); /* problems are small, and results must not depend on the number of cores */
    if (argc >= 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))) {
        print_help(stdout);
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_TROUBLE;
    }
    if (argc >= 2 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
        printf("tribo %s\n", tribo_version());
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_TROUBLE;
    }
    for (int i = 0; argc >= 2 && i < NVERBS; i++)
        if (!strcmp(argv[1], verbs[i]->name)) return verbs[i]->run(argc - 1, argv + 1);
    if (argc >= 2)
        fprintf(stderr, "tribo: there is no verb %s\n", argv[1]);
    else
        fputs("tribo: which verb?\n", stderr);
    print_help(stderr);
    return EXIT_USAGE;
}
