/* describe.c -- Markdown and JSON of the tables of verbs and options; help, man pages and completion are in
 * describe_help.c, describe_man.c, describe_shell.c. */
#include "describe.h"
#include "common.h"
#include "describe_text.h"
#include <string.h>

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
    for (int i = 0; verbs[i]; i++) describe_usage(f, verbs[i], 110);
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
