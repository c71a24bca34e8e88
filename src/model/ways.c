/* ways.c -- from each number of v to the root of its tree, by all that its inertia has entries with. */
#include "model/model.h"

/* Make one way of those of i and of j, which is eliminated later. */
static void tie(ti_dof *dof, int i, int j) {
    while (i != j && dof[i].on != j) {
        int next = dof[i].on;
        if (next > j) { /* the last numbers are eliminated first */
            i = next;
            continue;
        }
        dof[i].on = j;
        if (next < 0) return;
        i = j, j = next;
    }
}

/* What an actuator pulls on is on one way. */
static void tie_pulls(tribo_model *m, const ti_actuator *a) {
    const ti_pull *pull = m->pull + a->pull0;
    for (int r = 0; r < a->npull; r++)
        for (int c = 0; c < a->npull; c++) {
            int tree = m->body[m->joint[m->dof[pull[r].v].joint].body].tree;
            bool same = tree == m->body[m->joint[m->dof[pull[c].v].joint].body].tree;
            if (same && pull[r].v > pull[c].v) tie(m->dof, pull[r].v, pull[c].v);
        }
}

/* Runs and depths of a tree's numbers. */
static void measure_ways(ti_dof *dof, ti_tree *tree) {
    tree->ways = 0;
    for (int k = 0, v = tree->v; k < tree->nv; k++) {
        ti_dof *d = &dof[v + k];
        d->run = k && d->on == v + k - 1 ? d[-1].run : k;
        d->depth = d->on < 0 ? 1 : dof[d->on].depth + 1;
        tree->ways += d->depth;
    }
}

void ti_model_ways(tribo_model *m) {
    for (int d = 0; d < m->size.nv; d++) m->dof[d].on = m->dof[d].before;
    for (int i = 0; i < m->size.nactuator; i++) tie_pulls(m, &m->actuator[i]);
    for (int t = 0; t < m->ntree; t++) measure_ways(m->dof, &m->tree[t]);
}
