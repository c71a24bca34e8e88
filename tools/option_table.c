/* option_table.c -- see option_table.h. */
#include "option_table.h"
#include <string.h>

static const option_row common_rows[] = {
    {"quiet", OPTION_QUIET, NULL, "no progress and no remarks; errors are told all the same", false},
    {"help", 'h', NULL, "print this and end; also -h", false},
    {0}};
const option_group group_common = {"Of every verb", NULL, common_rows};

bool verb_hides(const verb *v, const option_row *row) {
    for (const option_row *own = v ? v->options : NULL; own && own->name; own++)
        if (own != row && !strcmp(own->name, row->name)) return true;
    return false;
}

const option_row *verb_option(const verb *v, int k) {
    for (const option_row *row = v->options; row && row->name; row++)
        if (k-- == 0) return row;
    for (int g = 0; g <= GROUPS_MAX; g++) {
        const option_group *group = g < GROUPS_MAX ? v->groups[g] : &group_common;
        for (const option_row *row = group ? group->rows : NULL; row && row->name; row++)
            if (!verb_hides(v, row) && k-- == 0) return row;
    }
    return NULL;
}

const verb *verb_find(const char *name) {
    for (int i = 0; verbs[i]; i++)
        if (!strcmp(verbs[i]->name, name)) return verbs[i];
    return NULL;
}
