/* apart.c -- how far bodies are from one another in a row, or how deep in one another: nothing lies inside of anything.
 */
#include "forward/touching.h"
#include "model/possible.h"
#include "recording/rows.h"

/* All bodies where a reading has them in row k; what was not measured as in the model's start. */
static void place(tribo_checked *c, double *x, int k, double length) {
    const tribo_model *m = c->m;
    for (int b = 0; b < c->z.nbody; b++) {
        double q[7], still[6] = {0};
        memcpy(q, ti_pose(c, x, k, b), sizeof q);
        for (int i = 0; i < 3; i++) q[i] = isnan(q[i]) ? m->x0[m->body[b].q + i] : q[i] * length;
        if (isnan(q[3])) memcpy(q + 3, m->x0 + m->body[b].q + 3, 4 * sizeof *q);
        ti_link_load(&c->link[b], c->p + m->body[b].p, q, still, NULL);
    }
    ti_shapes(m, c->p, c->link, c->shape);
}

/* Smallest gap of a body that is placed, up to `least`; of all, or of what stands still alone. */
static double gap_of(tribo_checked *c, int body, double least, bool all) {
    const tribo_model *m = c->m;
    double margin = least;
    for (int e = m->body[body].geom0; e < m->body[body].geom0 + m->body[body].ngeom; e++)
        for (int other = 0; other < m->size.ngeom; other++) {
            ti_touch touch[TI_CONTACTS_MAX];
            ti_pair pair;
            if (!all && m->geom[other].body != TRIBO_WORLD) continue;
            if (!ti_pair_of(m, m->body_geom[e], other, &pair)) continue;
            int n = ti_collide(&c->shape[pair.a], &c->shape[pair.b], margin, touch);
            for (int j = 0; j < n; j++) least = touch[j].gap < least ? touch[j].gap : least;
        }
    return least;
}

double ti_gap(tribo_checked *c, double *x, int k, int body, double least, double length) {
    place(c, x, k, length);
    return gap_of(c, body, least, true);
}

double ti_overlaps(tribo_checked *c, double *x, double most) {
    double sum = 0, scale = 3 * c->noise + 5e-3 * c->extent;
    for (int k = 0; k < c->n && sum <= most; k++) {
        bool whole = true;
        for (int b = 0; b < c->z.nbody; b++) whole &= c->posed[k * c->z.nbody + b];
        if (!whole) continue;
        place(c, x, k, 1);
        for (int b = 0; b < c->z.nbody; b++) {
            double depth = -gap_of(c, b, 0, false) / scale;
            sum += log1p(depth * depth);
        }
    }
    return sum;
}
