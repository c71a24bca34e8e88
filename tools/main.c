/* main.c -- the command `tribo VERB ...`: finds the verb and hands over. */
#include "common.h"
#include "describe.h"
#include "names.h"
#include "progress.h"
#include "ranks.h"
#include "version.h"
#include <stdlib.h>
#include <string.h>

#include <cblas.h> /* OpenBLAS: openblas_set_num_threads */

static bool is(const char *word, const char *name, const char *other) {
    return !strcmp(word, name) || (other && !strcmp(word, other));
}

static int written(void) {
    return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_SUCCESS : trouble("standard output could not be written");
}

static int no_verb(const char *word) {
    near_name near = near_begin(word);
    for (int i = 0; verbs[i]; i++) near_offer(&near, verbs[i]->name);
    if (near.nearest[0])
        trouble("there is no verb %s; the nearest is %s", word, near.nearest);
    else
        trouble("there is no verb %s", word);
    fputs("`tribo --help` lists the verbs\n", stderr);
    return EXIT_USAGE;
}

/* `tribo help` and `tribo help VERB`. */
static int help(const char *word) {
    const verb *v = word ? verb_find(word) : NULL;
    if (word && !v) return no_verb(word);
    describe_help(stdout, v);
    return written();
}

/* Several processes would all write the same files. */
static bool may_run(const verb *v) {
#ifdef HAVE_MPI
    if (v->shared) return ranks_begin(), true;
    if (ranks_alone()) return true;
    trouble("mpirun started %d processes, and %s does not share its work over them", ranks_count(), v->name);
    return false;
#else
    if (ranks_alone()) return true;
    trouble("mpirun started several processes of %s, and this command was built without MPI (-Dmpi=enabled)", v->name);
    return false;
#endif
}

int main(int argc, char **argv) {
    openblas_set_num_threads(1); /* problems are small, and results must not depend on the number of cores */
    const char *word = argc >= 2 ? argv[1] : NULL;
    if (!word) {
        trouble("which verb?");
        describe_help(stderr, NULL);
        return EXIT_USAGE;
    }
    if (is(word, "--help", "-h")) return help(NULL);
    if (is(word, "help", NULL)) return help(argc >= 3 ? argv[2] : NULL);
    if (is(word, "--version", "-V")) {
        bool as_json = argc >= 3 && !strcmp(argv[2], "--json");
        return version_print(stdout, as_json) ? written() : EXIT_TROUBLE;
    }
    if (is(word, "--describe", NULL)) return describe(stdout, argc >= 3 ? argv[2] : "", argc >= 4 ? argv[3] : NULL);
    const verb *v = verb_find(word);
    if (!v) return no_verb(word);
    if (!may_run(v)) return ranks_end(EXIT_USAGE);
    outputs_guard();
    int status = ranks_end(v->run(argc - 1, argv + 1));
    interrupts_conclude();
    return status;
}
