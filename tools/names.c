/* names.c -- see names.h. */
#include "names.h"
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 127 };

static int least(int a, int b) {
    return a < b ? a : b;
}

int name_distance(const char *a, const char *b) {
    int row[3][NAME_MAX_LENGTH + 1];
    int n = least((int)strlen(a), NAME_MAX_LENGTH), k = least((int)strlen(b), NAME_MAX_LENGTH);
    for (int j = 0; j <= k; j++) row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= k; j++) {
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return row[n % 3][k];
}

near_name near_begin(const char *name) {
    return (near_name){.name = name, .least = (int)strlen(name) / 2 + 1};
}

/* Once, where it is offered several times in a row, as a free body for each of its six forces. */
static void list(near_name *n, const char *candidate) {
    size_t at = strlen(n->all), room = sizeof n->all - at, length = strlen(candidate);
    bool again = at >= length && strcmp(n->all + at - length, candidate) == 0;
    if (again && (at == length || n->all[at - length - 1] == ' ')) return;
    if (room > strlen(candidate) + sizeof ", ...")
        snprintf(n->all + at, room, "%s%s", at ? ", " : "", candidate);
    else if (at >= 3 && strcmp(n->all + at - 3, "...") != 0)
        snprintf(n->all + at, room, ", ...");
}

void near_offer(near_name *n, const char *candidate) {
    int d = candidate && *candidate ? name_distance(n->name, candidate) : n->least;
    if (candidate && *candidate) list(n, candidate);
    if (d >= n->least) return;
    n->least = d;
    snprintf(n->nearest, sizeof n->nearest, "%s", candidate);
}
