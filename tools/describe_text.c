/* describe_text.c -- see describe_text.h. */
#include "describe_text.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static paragraph at_text(const char *text) {
    if (!text || !*text) return (paragraph){0};
    return (paragraph){text, (int)strcspn(text, "\n"), *text == ' '};
}
paragraph text_first(const char *text) {
    return at_text(text);
}
paragraph text_next(paragraph p) {
    return at_text(p.at[p.n] ? p.at + p.n + 1 : NULL);
}

int text_width(const char *text, int n) {
    int wide = 0;
    for (int i = 0; i < n; i++) wide += ((unsigned char)text[i] & 0xc0) != 0x80;
    return wide;
}

void text_option(char *out, size_t size, const option_row *row) {
    bool open = row->value && row->value[0] == '[';
    snprintf(out, size, "--%s%s%s", row->name, row->value && !open ? " " : "", row->value ? row->value : "");
}

/* The title of a group stands for its options. */
static void title_word(char *out, size_t size, const char *title) {
    size_t n = (size_t)snprintf(out, size, "[%s]", title);
    for (size_t i = 0; i < n && i < size; i++) out[i] = (char)toupper((unsigned char)out[i]);
}

bool text_usage(char *out, size_t size, const verb *v, int k) {
    if (k < 0) {
        snprintf(out, size, "%s", v->operands);
        return true;
    }
    const option_row *row = v->options;
    for (; row && row->name; row++) {
        if (k-- != 0) continue;
        char plain[200];
        text_option(plain, sizeof plain, row);
        snprintf(out, size, row->needed ? "%s" : "[%s]", plain);
        return true;
    }
    if (k >= GROUPS_MAX || !v->groups[k]) return false;
    title_word(out, size, v->groups[k]->title);
    return true;
}

/* ---- what completes a value ---- */

static void add(char *list, size_t size, const char *word, size_t n) {
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%.*s", used ? " " : "", (int)n, word);
}

/* Words between |, but for those that stand for something, in capitals. */
static void add_words(char *list, size_t size, const char *value) {
    while (*value) {
        size_t n = strcspn(value, "|]"), show = strcspn(value, "|[],.ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (show > n) show = n;
        if (show) add(list, size, value, show);
        value += n;
        value += strspn(value, "|]");
    }
}

static void add_endings(char *list, size_t size, const char *value) {
    static const char *const endings[] = {"xml", "csv", "json", "jsonl", "html", "glb", "svg", "png"};
    char all[200] = "";
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        for (const char *dot = strchr(value, '.'); dot; dot = strchr(dot + 1, '.'))
            if (!strncmp(dot + 1, endings[i], n) && !isalpha((unsigned char)dot[1 + n])) {
                add(all, sizeof all, endings[i], n);
                break;
            }
    }
    if (strstr(value, "SCENE"))
        add(all, sizeof all, strstr(all, "xml") ? "urdf" : "xml urdf", strstr(all, "xml") ? 4 : 8);
    snprintf(list, size, "%s", all);
}

value_kind text_value(const char *value, char *list, size_t size) {
    *list = 0;
    if (!value || !*value) return VALUE_NONE;
    add_endings(list, size, value);
    if (*list) return VALUE_FILES;
    if (!strncmp(value, "DIR", 3)) return VALUE_FOLDER;
    if (!strncmp(value, "NAME", 4)) return VALUE_PARAMETER;
    if (value[0] == '[' && value[1] == '=') value += 2;
    if (strchr(value, '|')) add_words(list, size, value);
    return *list ? VALUE_WORDS : VALUE_OTHER;
}

/* ---- of the command itself ---- */

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
