/* leaves.c -- how much less than the heaviest body of an island hangs by a contact. docs/math.md eq. (570). */
#include "forward/frame.h"
#include <math.h>

/* What is not lighter by more than this keeps the compliance of all, and what is has that of one that were so many
 * times heavier. */
static const double CLEARLY = 4;

/* Of a block: how many contacts it has, the sum of the blocks on their other sides and of their squares. All of those
 * are one block if count * squares = sum * sum. */
static void touch(ti_leaf *leaf, uint64_t other, uint64_t times) {
    leaf->count += times, leaf->sum += times * other, leaf->squares += times * other * other;
}

/* The world is a block as well, the last. */
static void count_contacts(tribo_ws *ws, const ti_island *is) {
    for (int b = 0; b <= is->nblk; b++) ws->leaf[b] = (ti_leaf){.on = -1};
    for (int b = 0; b < is->nblk; b++) ws->leaf[b].heaviest = ws->heft[is->blk0 + b];
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        int a = ws->blk_a[i], b = ws->blk_b[i] >= 0 ? ws->blk_b[i] : is->nblk;
        touch(&ws->leaf[a], (uint64_t)b, 1), touch(&ws->leaf[b], (uint64_t)a, 1);
    }
}

/* The block that b and what hangs on it hang on, where that is one alone; otherwise -1. */
static int hangs_on(const ti_leaf *leaf) {
    bool one = leaf->count > 0 && leaf->count * leaf->squares == leaf->sum * leaf->sum;
    return one ? (int)(leaf->sum / leaf->count) : -1;
}

/* Take leaves that are lighter than `most` off, one after the other, from block b on. */
static void prune(tribo_ws *ws, const ti_island *is, int b, double most) {
    while (b < is->nblk && ws->leaf[b].heaviest < most) {
        ti_leaf *leaf = &ws->leaf[b];
        leaf->on = hangs_on(leaf);
        if (leaf->on < 0) return;
        ti_leaf *rest = &ws->leaf[leaf->on];
        touch(rest, (uint64_t)b, -leaf->count);
        rest->heaviest = ti_max(rest->heaviest, leaf->heaviest);
        leaf->count = 0, b = leaf->on;
    }
}

void ti_step_lighten(tribo_ws *ws, const ti_island *is) {
    double least = HUGE_VAL, most = 0;
    double *light = ws->light + is->con0;
    if (is->ncon == 0) return;
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++)
        least = ti_min(least, ws->heft[b]), most = ti_max(most, ws->heft[b] / CLEARLY);
    light[0] = 0;
    if (!(least < most)) return;
    count_contacts(ws, is);
    bool some = false;
    for (int b = 0; b < is->nblk; b++)
        if (ws->leaf[b].count > 0) prune(ws, is, b, most);
    for (int i = 0; i < is->ncon; i++) {
        int a = ws->blk_a[is->con0 + i], b = ws->blk_b[is->con0 + i];
        const ti_leaf *leaf = &ws->leaf[a], *other = b >= 0 ? &ws->leaf[b] : NULL;
        light[i] = 1;
        if (leaf->on == (b >= 0 ? b : is->nblk)) light[i] = most / leaf->heaviest;
        if (other && other->on == a) light[i] = most / other->heaviest;
        some = some || light[i] > 1;
    }
    if (!some) light[0] = 0;
}
