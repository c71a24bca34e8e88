/* describe_man.c -- man pages of the command and of its verbs. */
#include "describe.h"
#include "describe_text.h"
#include <ctype.h>
#include <string.h>
#include <tribo/base.h>

/* What roff would take for something else. */
static void roff(FILE *f, const char *text, int n) {
    for (int i = 0; i < n && text[i]; i++) {
        const char *word = NULL;
        switch (text[i]) {
        case '\\':
            word = "\\e";
            break;
        case '-':
            word = "\\-";
            break;
        case '\'':
            word = "\\(aq";
            break;
        case '`':
            word = "\\(ga";
            break;
        case '^':
            word = "\\(ha";
            break;
        case '~':
            word = "\\(ti";
            break;
        default:
            break;
        }
        if (i == 0 && text[i] == '.') fputs("\\&", f);
        word ? fputs(word, f) : fputc(text[i], f);
    }
}

static void roff_line(FILE *f, const char *text) {
    roff(f, text, (int)strlen(text));
    fputc('\n', f);
}

static void section(FILE *f, const char *title) {
    fputs(".SH ", f);
    for (; *title; title++) fputc(toupper((unsigned char)*title), f);
    fputc('\n', f);
}

static void paragraphs(FILE *f, const char *text) {
    bool as_it_is = false, first = true;
    for (paragraph p = text_first(text); p.at; p = text_next(p), first = false) {
        if (p.as_it_is && !as_it_is) fputs(first ? ".nf\n" : ".PP\n.nf\n", f);
        if (!p.as_it_is && as_it_is) fputs(".fi\n", f);
        if (!p.as_it_is && !first) fputs(".PP\n", f);
        as_it_is = p.as_it_is;
        roff(f, p.at, p.n);
        fputc('\n', f);
    }
    if (as_it_is) fputs(".fi\n", f);
}

static void rows(FILE *f, const verb *v, const option_row *row) {
    for (; row && row->name; row++) {
        if (verb_hides(v, row)) continue;
        bool open = row->value && row->value[0] == '[';
        fputs(".TP\n\\fB\\-\\-", f);
        roff(f, row->name, (int)strlen(row->name));
        fputs("\\fR", f);
        if (row->value) {
            fputs(open ? "\\fI" : " \\fI", f);
            roff(f, row->value, (int)strlen(row->value));
            fputs("\\fR", f);
        }
        fputc('\n', f);
        paragraphs(f, row->text);
    }
}

static void pairs(FILE *f, const char *const (*pair)[2]) {
    for (; (*pair)[0]; pair++) {
        fputs(".TP\n.B ", f);
        roff_line(f, (*pair)[0]);
        roff_line(f, (*pair)[1]);
    }
}

static void head(FILE *f, const char *name, const char *summary) {
    fputs(".\\\" Written by tribo --describe man\n.TH ", f);
    for (const char *c = name; *c; c++) *c == '-' ? fputs("\\-", f) : fputc(toupper((unsigned char)*c), f);
    fprintf(f, " 1 \"\" \"Tribo %s\" \"Tribo\"\n.SH NAME\n", tribo_version());
    roff(f, name, (int)strlen(name));
    fputs(" \\- ", f);
    roff_line(f, summary);
}

static void statuses(FILE *f, const verb *v) {
    section(f, "exit status");
    if (v && v->statuses)
        roff_line(f, v->statuses);
    else
        pairs(f, describe_statuses);
    if (v) fputs(".PP\nMore of it in\n.BR tribo (1).\n", f);
}

static void command_page(FILE *f) {
    head(f, "tribo", "rigid bodies in hard frictional contact");
    section(f, "synopsis");
    fputs(".B tribo\n.I VERB\n.RI [ OPTION ...]\n.br\n.B tribo \\-\\-version\n", f);
    section(f, "description");
    roff_line(f, describe_command_about());
    fputs(".PP\n", f);
    roff_line(f, describe_command_notes());
    section(f, "verbs");
    for (int i = 0; verbs[i]; i++) {
        fprintf(f, ".TP\n.BR tribo\\-%s (1)\n", verbs[i]->name);
        roff_line(f, verbs[i]->summary);
    }
    section(f, "options");
    rows(f, NULL, group_common.rows);
    fputs(".TP\n.B \\-\\-version\nprint version, commit and libraries; also \\-V\n", f);
    statuses(f, NULL);
    section(f, "environment");
    pairs(f, describe_variables);
}

static void verb_page(FILE *f, const verb *v) {
    char name[80], piece[256];
    snprintf(name, sizeof name, "tribo-%s", v->name);
    head(f, name, v->summary);
    section(f, "synopsis");
    fprintf(f, ".ad l\n.nh\n.B tribo %s\n", v->name);
    for (int k = -1; text_usage(piece, sizeof piece, v, k); k++) roff_line(f, piece);
    fputs(".hy\n.ad b\n", f);
    section(f, "description");
    paragraphs(f, v->about);
    section(f, "options");
    rows(f, v, v->options);
    for (int g = 0; g <= GROUPS_MAX; g++) {
        const option_group *group = g < GROUPS_MAX ? v->groups[g] : &group_common;
        if (!group) continue;
        fputs(".SS ", f);
        roff_line(f, group->title);
        if (group->note) roff_line(f, group->note);
        rows(f, v, group->rows);
    }
    if (v->notes) section(f, "notes"), paragraphs(f, v->notes);
    if (v->example) section(f, "example"), paragraphs(f, v->example);
    statuses(f, v);
}

void describe_man(FILE *f, const verb *v) {
    v ? verb_page(f, v) : command_page(f);
    section(f, "see also");
    if (v) fputs(".BR tribo (1)", f);
    for (int i = 0, any = v != NULL; verbs[i]; i++)
        if (verbs[i] != v) fprintf(f, "%s.BR tribo\\-%s (1)", any++ ? ",\n" : "", verbs[i]->name);
    fputc('\n', f);
}
