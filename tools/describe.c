/* describe.c -- help, Markdown and JSON of the tables of verbs and options; man pages are in describe_man.c, completion
 * in describe_shell.c. */
#include "describe.h"
#include "common.h"
#include "describe_text.h"
#include <string.h>

enum { WIDTH = 80, COLUMN = 24 };

static const char command_about[] =
    "Rigid bodies in hard frictional contact: simulation, exact gradients, identification, control.";
static const char command_notes[] =
    "Results go to standard output or to the file that is named, progress and messages to standard error. A file "
    "called "
    "- is standard input, or standard output. A scene that is not there is looked for among those that are installed.";

const char *describe_command_about(void) {
    return command_about;
}
const char *describe_command_notes(void) {
    return command_notes;
}

const char *const describe_statuses[][2] = {{"0", "all went well"},
                                            {"1", "no memory, or an output could not be written"},
                                            {"2", "the command line is wrong"},
                                            {"3", "an input is wrong: file:line: what"},
                                            {"4", "answered, but something did not converge"},
                                            {"128 + N", "ended by signal N: 130 by Ctrl-C"},
                                            {NULL, NULL}};
const char *const describe_variables[][2] = {
    {"NO_COLOR", "if set and not empty, messages on a terminal have no colours"},
    {"TRIBO_SCENES", "folders of scenes, : between them, looked through before those that are installed"},
    {NULL, NULL}};

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

static void write_usage(FILE *f, const verb *v, int width) {
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
    write_usage(f, v, WIDTH - 7);
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
    write_paragraphs(f, command_about);
    fputc('\n', f);
    for (int i = 0; verbs[i]; i++) fprintf(f, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    fputs("\n`tribo VERB --help` tells more, `man tribo-VERB` the same; `tribo --version` what\nit is made of.\n", f);
    write_paragraphs(f, command_notes);
    fputs("\nExit status:\n", f);
    for (int i = 0; describe_statuses[i][0]; i++)
        fprintf(f, "  %-8s %s\n", describe_statuses[i][0], describe_statuses[i][1]);
    fputs("\nEnvironment:\n", f);
    for (int i = 0; describe_variables[i][0]; i++) write_row(f, describe_variables[i][0], describe_variables[i][1]);
}

void describe_help(FILE *f, const verb *v) {
    v ? verb_help(f, v) : command_help(f);
}

/* ---- Markdown ---- */

/* A cell of a table: | would end it. */
static void write_cell(FILE *f, const char *text) {
    for (; *text; text++) {
        if (*text == '|') fputc('\\', f);
        fputc(*text == '\n' ? ' ' : *text, f);
    }
}

static void markdown_rows(FILE *f, const option_row *rows, const char *title) {
    if (!rows || !rows->name) return;
    fprintf(f, "| %s | |\n|---|---|\n", title);
    for (; rows->name; rows++) {
        char left[256];
        text_option(left, sizeof left, rows);
        fputs("| `", f);
        write_cell(f, left);
        fputs("` | ", f);
        write_cell(f, rows->text);
        fputs(" |\n", f);
    }
}

/* Without a verb: how each is used, and the options that several share. */
static void command_markdown(FILE *f) {
    const option_group *told[16] = {&group_common};
    int n = 1;
    fputs("```\n", f);
    for (int i = 0; verbs[i]; i++) write_usage(f, verbs[i], 110);
    fputs("```\n", f);
    for (int i = 0; verbs[i]; i++)
        for (int g = 0, k; g < GROUPS_MAX && verbs[i]->groups[g]; g++) {
            for (k = 0; k < n && told[k] != verbs[i]->groups[g]; k++) {
            }
            if (k == n && n < 16) told[n++] = verbs[i]->groups[g];
        }
    for (int k = n - 1; k >= 0; k--) {
        fputc('\n', f);
        markdown_rows(f, told[k]->rows, told[k]->title);
    }
}

/* ---- JSON ---- */

static json_t *rows_json(const verb *v, const option_row *rows) {
    json_t *list = json_array();
    for (; rows && rows->name; rows++) {
        if (verb_hides(v, rows)) continue;
        json_t *o = json_object();
        json_object_set_new(o, "name", json_string(rows->name));
        json_object_set_new(o, "value", rows->value ? json_string(rows->value) : json_null());
        json_object_set_new(o, "text", json_string(rows->text));
        json_object_set_new(o, "needed", json_boolean(rows->needed));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *verb_json(const verb *v) {
    json_t *o = json_object(), *all = json_array();
    json_object_set_new(o, "name", json_string(v->name));
    json_object_set_new(o, "summary", json_string(v->summary));
    json_object_set_new(o, "operands", json_string(v->operands));
    json_object_set_new(o, "about", json_string(v->about));
    for (int g = -1; g <= GROUPS_MAX; g++) {
        const option_group *group = g < 0 ? NULL : g < GROUPS_MAX ? v->groups[g] : &group_common;
        if (g >= 0 && !group) continue;
        json_t *one = rows_json(v, group ? group->rows : v->options);
        json_array_extend(all, one);
        json_decref(one);
    }
    json_object_set_new(o, "options", all);
    return o;
}

static int write_json(FILE *f) {
    json_t *all = json_object(), *list = json_array();
    json_object_set_new(all, "version", json_string(tribo_version()));
    for (int i = 0; verbs[i]; i++) json_array_append_new(list, verb_json(verbs[i]));
    json_object_set_new(all, "verbs", list);
    bool good = json_write(f, all, true);
    json_decref(all);
    return good ? EXIT_SUCCESS : EXIT_TROUBLE;
}

int describe(FILE *f, const char *kind, const char *verb_name) {
    const verb *v = verb_name ? verb_find(verb_name) : NULL;
    if (verb_name && !v) return trouble("there is no verb %s", verb_name), EXIT_USAGE;
    if (!strcmp(kind, "man"))
        describe_man(f, v);
    else if (!strcmp(kind, "bash"))
        describe_bash(f);
    else if (!strcmp(kind, "zsh"))
        describe_zsh(f);
    else if (!strcmp(kind, "markdown"))
        v ? markdown_rows(f, v->options, "option") : command_markdown(f);
    else if (!strcmp(kind, "json"))
        return write_json(f);
    else
        return trouble("--describe takes man, markdown, bash, zsh or json, not %s", kind), EXIT_USAGE;
    return fflush(f) == 0 && !ferror(f) ? EXIT_SUCCESS : EXIT_TROUBLE;
}
