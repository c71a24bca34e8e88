/* options.c -- see options.h. */
#define _POSIX_C_SOURCE 200809L
#include "options.h"
#include "common.h"
#include "describe.h"
#include "names.h"
#include <stdlib.h>
#include <string.h>

enum { OPTION_HELP = -2, OPTION_WRONG = -3, OPTIONS_MAX = 80 };

/* The table as getopt_long wants it. */
static void for_getopt(const verb *v, struct option out[OPTIONS_MAX + 1]) {
    const option_row *row;
    int n = 0;
    for (; n < OPTIONS_MAX && (row = verb_option(v, n)); n++) {
        int takes = !row->value ? no_argument : row->value[0] == '[' ? optional_argument : required_argument;
        out[n] = (struct option){row->name, takes, NULL, row->code};
    }
    out[n] = (struct option){0};
}

/* What is said of an option that there is not, or of which there are several. */
static int no_option(const verb *v, const char *word) {
    char name[128];
    snprintf(name, sizeof name, "%s", word + strspn(word, "-"));
    name[strcspn(name, "=")] = 0;
    near_name near = near_begin(name);
    const option_row *row, *first = NULL, *second = NULL;
    for (int k = 0; (row = verb_option(v, k)); k++) {
        near_offer(&near, row->name);
        if (strncmp(row->name, name, strlen(name)) != 0) continue;
        if (first) second = second ? second : row;
        first = first ? first : row;
    }
    if (second) return usage_error(v, "--%s can be --%s and --%s: more letters", name, first->name, second->name);
    return near.nearest[0] ? usage_error(v, "there is no option %s; the nearest is --%s", word, near.nearest)
                           : usage_error(v, "there is no option %s", word);
}

/* What follows an option that lacks it. */
static int no_value(const verb *v, const char *word) {
    const option_row *row, *found = NULL;
    size_t n = strlen(word) > 2 ? strlen(word + 2) : 0;
    for (int k = 0; n && (row = verb_option(v, k)); k++)
        if (!strncmp(row->name, word + 2, n) && (!found || !row->name[n])) found = row;
    return found && found->value ? usage_error(v, "%s needs a value: --%s %s", word, found->name, found->value)
                                 : usage_error(v, "%s needs a value", word);
}

int next_option(const verb *v, int argc, char **argv) {
    struct option options[OPTIONS_MAX + 1];
    for_getopt(v, options);
    opterr = 0;
    /* "-": positional arguments in their order; ":": tell a missing value from an unknown option. */
    int code = getopt_long(argc, argv, "-:h", options, NULL);
    /* The word at fault: a short option is known by its letter only. */
    const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";
    if (code == OPTION_QUIET) {
        messages_quiet = true;
        return next_option(v, argc, argv);
    }
    if (code == 'h') {
        describe_help(stdout, v);
        return OPTION_HELP;
    }
    if (code == ':') {
        no_value(v, word);
        return OPTION_WRONG;
    }
    if (code == '?') {
        if (optopt && optopt < 256)
            usage_error(v, "there is no option -%c", optopt);
        else if (optopt)
            usage_error(v, "%s takes no value", word);
        else
            no_option(v, word);
        return OPTION_WRONG;
    }
    return code;
}

int option_exit(int code) {
    if (code != OPTION_HELP) return EXIT_USAGE;
    return fflush(stdout) == 0 ? EXIT_SUCCESS : trouble("the help could not be written");
}

int choose_word(const verb *v, const char *what, const char *words, const char *text) {
    near_name near = near_begin(text);
    char list[256], *rest = NULL;
    snprintf(list, sizeof list, "%s", words);
    int i = 0;
    for (char *word = strtok_r(list, "|", &rest); word; word = strtok_r(NULL, "|", &rest), i++) {
        if (!strcmp(word, text)) return i;
        near_offer(&near, word);
    }
    if (near.nearest[0])
        usage_error(v, "%s takes %s, not %s; the nearest is %s", what, words, text, near.nearest);
    else
        usage_error(v, "%s takes %s, not %s", what, words, text);
    return -1;
}
