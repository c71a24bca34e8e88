/* describe_help.c -- what --help prints, from the tables of verbs and options. */
#include "common.h"
#include "describe.h"
#include "describe_text.h"
#include <string.h>

enum { WIDTH = 80, COLUMN = 24 };

/* ---- text in lines ---- */

/* Words of text from column `at` on, in lines of WIDTH that begin at `indent`. */
static void wrap(FILE *f, const char *text, int indent, int at) {
    const char *begin = text;
    while (*text) {
        if (*text == '\n') {
            fprintf(f, "\n%*s", indent, "");
            at = indent, text++;
            for (; *text == ' '; text++, at++) fputc(' ', f); /* what begins with a blank stands as it is */
            continue;
        }
        int bytes = (int)strcspn(text, " \n"), wide = text_width(text, bytes);
        if (at > indent && at + 1 + wide > WIDTH) {
            fprintf(f, "\n%*s", indent, "");
            at = indent;
        } else if (at > indent && text > begin && text[-1] == ' ') {
            fputc(' ', f), at++;
        }
        fwrite(text, 1, (size_t)bytes, f);
        text += bytes, at += wide;
        while (*text == ' ') text++;
    }
    fputc('\n', f);
}

static void write_paragraphs(FILE *f, const char *text) {
    for (paragraph p = text_first(text); p.at; p = text_next(p)) {
        if (p.as_it_is) {
            fprintf(f, "%.*s\n", p.n, p.at);
            continue;
        }
        char copy[4096];
        snprintf(copy, sizeof copy, "%.*s", p.n, p.at);
        wrap(f, copy, 0, 0);
    }
}

/* ---- help ---- */

static void write_row(FILE *f, const char *left, const char *text) {
    int n = fprintf(f, "  %s", left);
    if (n + 2 > COLUMN) fputc('\n', f), n = 0;
    fprintf(f, "%*s", COLUMN - n, "");
    wrap(f, text, COLUMN, COLUMN);
}

static void write_rows(FILE *f, const verb *v, const option_row *rows) {
    for (; rows && rows->name; rows++) {
        if (verb_hides(v, rows)) continue;
        char left[256];
        text_option(left, sizeof left, rows);
        write_row(f, left, rows->text);
    }
}

void describe_usage(FILE *f, const verb *v, int width) {
    int at = fprintf(f, "tribo %s", v->name), indent = at + 1;
    char piece[256];
    for (int k = -1; text_usage(piece, sizeof piece, v, k); k++) {
        int n = (int)strlen(piece);
        if (at + 1 + n > width) at = fprintf(f, "\n%*s", indent - 1, "") - 1;
        at += fprintf(f, " %s", piece);
    }
    fputc('\n', f);
}

static void verb_help(FILE *f, const verb *v) {
    fputs("usage: ", f);
    describe_usage(f, v, WIDTH - 7);
    fputc('\n', f);
    write_paragraphs(f, v->about);
    if (v->options && v->options->name) fputs("\nOptions:\n", f);
    write_rows(f, v, v->options);
    for (int g = 0; g <= GROUPS_MAX; g++) {
        const option_group *group = g < GROUPS_MAX ? v->groups[g] : &group_common;
        if (!group) continue;
        fprintf(f, "\n%s", group->title);
        if (group->note) fprintf(f, " (%s)", group->note);
        fputs(":\n", f);
        write_rows(f, v, group->rows);
    }
    if (v->notes) fputc('\n', f), write_paragraphs(f, v->notes);
    if (v->example) fprintf(f, "\nExample:\n%s\n", v->example);
    fputs("\nExit status: ", f);
    wrap(f, v->statuses ? v->statuses : "0; 2 usage; 3 bad input", 0, 13);
}

static void command_help(FILE *f) {
    fputs("usage: tribo VERB ...\n", f);
    write_paragraphs(f, describe_command_about());
    fputc('\n', f);
    for (int i = 0; verbs[i]; i++) fprintf(f, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    fputs("\n`tribo VERB --help` tells more, `man tribo-VERB` the same; `tribo --version` what\nit is made of.\n", f);
    write_paragraphs(f, describe_command_notes());
    fputs("\nExit status:\n", f);
    for (int i = 0; describe_statuses[i][0]; i++)
        fprintf(f, "  %-8s %s\n", describe_statuses[i][0], describe_statuses[i][1]);
    fputs("\nEnvironment:\n", f);
    for (int i = 0; describe_variables[i][0]; i++) write_row(f, describe_variables[i][0], describe_variables[i][1]);
}

void describe_help(FILE *f, const verb *v) {
    v ? verb_help(f, v) : command_help(f);
}
