/* describe_shell.c -- completion for bash and zsh. Parameters of scenes are completed by `tribo params SCENE --names`;
 * whatever they are called, nothing of a name is evaluated. */
#include "describe.h"
#include "describe_text.h"
#include <string.h>

enum { LIST = 512 };

/* ---- bash ---- */

static void bash_value(FILE *f, const verb *v, const char *name, const char *value) {
    char list[LIST];
    value_kind kind = text_value(value, list, sizeof list);
    if (kind == VALUE_NONE || (value && value[0] == '[')) return;
    fprintf(f, "    %s,%s) ", v->name, name);
    switch (kind) {
    case VALUE_WORDS:
        fprintf(f, "_tribo_words %s", list);
        break;
    case VALUE_FILES:
        fprintf(f, "_tribo_files %s", list);
        break;
    case VALUE_FOLDER:
        fputs("_tribo_files /", f);
        break;
    case VALUE_PARAMETER:
        fputs("_tribo_parameters", f);
        break;
    default:
        fputs(":", f);
    }
    fputs(" ;;\n", f);
}

/* After an option that takes several values, and its first, come more of the same. */
static bool takes_several(const option_row *row) {
    size_t n = row->value ? strlen(row->value) : 0;
    return n > 3 && !strcmp(row->value + n - 3, "...");
}

static const char bash_head[] =
    "# Completion of tribo for bash. Written by `tribo --describe bash`.\n"
    "_tribo_words() { mapfile -t COMPREPLY < <(compgen -W \"$*\" -- \"$cur\"); }\n"
    "# Files with these endings, and folders.\n"
    "_tribo_files() {\n"
    "    local file ending\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    while IFS= read -r file; do\n"
    "        if [[ -d $file ]]; then\n"
    "            COMPREPLY+=(\"$file\")\n"
    "            continue\n"
    "        fi\n"
    "        for ending; do [[ $file == *.\"$ending\" ]] && COMPREPLY+=(\"$file\") && break; done\n"
    "    done < <(compgen -f -- \"$cur\")\n"
    "}\n"
    "# Names of parameters of the scene on the line.\n"
    "_tribo_parameters() {\n"
    "    local scene name\n"
    "    for scene in \"${COMP_WORDS[@]:2}\"; do [[ $scene == *.xml || $scene == *.urdf ]] && break; done\n"
    "    scene=${scene//\\\\/} scene=${scene#[\\\"\\']} scene=${scene%[\\\"\\']}\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    while IFS= read -r name; do\n"
    "        [[ $name == \"$cur\"* ]] && COMPREPLY+=(\"$name\")\n"
    "    done < <(\"${COMP_WORDS[0]}\" params \"$scene\" --names 2>/dev/null)\n"
    "}\n"
    "_tribo() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]-} at option=\n"
    "    COMPREPLY=()\n";

static void bash_options(FILE *f) {
    fputs("    if [[ $cur == -* ]]; then\n        case $verb in\n", f);
    for (int i = 0; verbs[i]; i++) {
        const option_row *row;
        fprintf(f, "        %s) _tribo_words", verbs[i]->name);
        for (int k = 0; (row = verb_option(verbs[i], k)); k++) fprintf(f, " --%s", row->name);
        fputs(" ;;\n", f);
    }
    fputs("        esac\n        return\n    fi\n", f);
}

/* The option whose values come here: the last before, if it takes one, or several. */
static void bash_last(FILE *f) {
    fputs("    for ((at = COMP_CWORD - 1; at > 1; at--)); do\n"
          "        [[ ${COMP_WORDS[at]} == --* ]] && option=${COMP_WORDS[at]#--} && break\n"
          "    done\n"
          "    if [[ -n $option ]] && ((at < COMP_CWORD - 1)); then\n"
          "        case $verb,$option in\n",
          f);
    for (int i = 0; verbs[i]; i++) {
        const option_row *row;
        for (int k = 0; (row = verb_option(verbs[i], k)); k++)
            if (takes_several(row)) fprintf(f, "        %s,%s) ;;\n", verbs[i]->name, row->name);
    }
    fputs("        *) option= ;;\n        esac\n    fi\n", f);
}

void describe_bash(FILE *f) {
    fputs(bash_head, f);
    fputs("    if ((COMP_CWORD == 1)); then\n        _tribo_words", f);
    for (int i = 0; verbs[i]; i++) fprintf(f, " %s", verbs[i]->name);
    fputs(" --help --version\n        return\n    fi\n", f);
    bash_options(f);
    bash_last(f);
    fputs("    case $verb,$option in\n", f);
    for (int i = 0; verbs[i]; i++) {
        const option_row *row;
        char list[LIST];
        for (int k = 0; (row = verb_option(verbs[i], k)); k++) bash_value(f, verbs[i], row->name, row->value);
        text_value(verbs[i]->operands, list, sizeof list);
        fprintf(f, "    %s,*) _tribo_files %s ;;\n", verbs[i]->name, list);
    }
    fputs("    esac\n}\ncomplete -F _tribo tribo\n", f);
}

/* ---- zsh ---- */

/* Inside of '...', and of the brackets and colons of _arguments. */
static void zsh_text(FILE *f, const char *text) {
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", f);
            continue;
        }
        if (strchr("[]:\\", *text)) fputc('\\', f);
        fputc(*text == '\n' ? ' ' : *text, f);
    }
}

static void zsh_files(FILE *f, const char *endings) {
    fputs("_files -g \"*.(", f);
    for (; *endings; endings++) fputc(*endings == ' ' ? '|' : *endings, f);
    fputs(")(-.)\"", f);
}

static void zsh_action(FILE *f, const char *value) {
    char list[LIST];
    switch (text_value(value, list, sizeof list)) {
    case VALUE_WORDS:
        fprintf(f, "(%s)", list);
        break;
    case VALUE_FILES:
        zsh_files(f, list);
        break;
    case VALUE_FOLDER:
        fputs("_files -/", f);
        break;
    case VALUE_PARAMETER:
        fputs("_tribo_parameters", f);
        break;
    default:
        fputc(' ', f);
    }
}

static void zsh_row(FILE *f, const option_row *row) {
    bool open = row->value && row->value[0] == '[';
    fprintf(f, "      '*--%s%s[", row->name, open ? "=-" : "");
    zsh_text(f, row->text);
    fputc(']', f);
    if (row->value) {
        fputs(open ? "::" : takes_several(row) ? ":*-*:" : ":", f); /* its values end where the next option begins */
        zsh_text(f, row->value);
        fputc(':', f);
        zsh_action(f, row->value);
    }
    fputs("' \\\n", f);
}

void describe_zsh(FILE *f) {
    fputs("#compdef tribo\n# Completion of tribo for zsh. Written by `tribo --describe zsh`.\n"
          "_tribo_parameters() {\n"
          "  local scene\n"
          "  local -a names\n"
          "  for scene in ${(Q)words}; do [[ $scene == *.(xml|urdf) ]] && break; done\n"
          "  names=(${(f)\"$(_call_program parameters ${(q)service} params ${(q)scene} --names 2>/dev/null)\"})\n"
          "  compadd -a names\n"
          "}\n"
          "_tribo() {\n"
          "  local -a verbs\n"
          "  verbs=(\n",
          f);
    for (int i = 0; verbs[i]; i++) {
        fprintf(f, "    '%s:", verbs[i]->name);
        zsh_text(f, verbs[i]->summary);
        fputs("'\n", f);
    }
    fputs("  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n"
          "  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $verb in\n",
          f);
    for (int i = 0; verbs[i]; i++) {
        const option_row *row;
        fprintf(f, "    %s) _arguments \\\n", verbs[i]->name);
        for (int k = 0; (row = verb_option(verbs[i], k)); k++) zsh_row(f, row);
        fputs("      '*:", f);
        zsh_text(f, verbs[i]->operands);
        fputc(':', f);
        zsh_action(f, verbs[i]->operands);
        fputs("' ;;\n", f);
    }
    fputs("  esac\n}\n_tribo \"$@\"\n", f);
}
