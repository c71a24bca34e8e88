/* loops.c -- what holds bodies together several times over: rows that others before them give ask for nothing.
 * docs/math.md eq. (490). */
#include "forward/frame.h"

int ti_loops_most(const tribo_model *m) {
    int rows = 2 * 3 * m->size.nequality; /* a weld is of a point and of axes */
    return m->size.nequality < 2 ? 0 : rows < TI_LOOP_ROWS ? rows : TI_LOOP_ROWS;
}

/* A row that holds: r of contact i. */
typedef struct held {
    int i, r;
    double size;  /* sum of squares of its entries */
    double left;  /* what it is apart by, beyond what those that stay give */
    bool settled; /* it stays */
} held;

/* Rows of contact i on its first block or its second, whose width that is; 0 = there is none. */
static int block_of(const tribo_ws *ws, const ti_island *is, int i, int second, const double **J, int *width) {
    int first = ws->width[is->blk0 + ws->blk_a[i]], blk = second ? ws->blk_b[i] : ws->blk_a[i];
    *J = ti_frame_jacobian(ws, i) + (second ? 3 * first : 0);
    *width = blk < 0 ? 0 : ws->width[is->blk0 + blk];
    return blk;
}

/* Two rows times one another. */
static double product(const tribo_ws *ws, const ti_island *is, const held *x, const held *y) {
    double sum = 0;
    for (int side = 0; side < 2; side++)
        for (int other = 0; other < 2; other++) {
            const double *Jx, *Jy;
            int w, also, blk = block_of(ws, is, x->i, side, &Jx, &w);
            if (blk < 0 || blk != block_of(ws, is, y->i, other, &Jy, &also)) continue;
            Jx += w * x->r, Jy += w * y->r;
            for (int e = 0; e < w; e++) sum += Jx[e] * Jy[e];
        }
    return sum;
}

/* Those of an island that hold. @return how many; 0 also where there is one loop alone, or more than are compared */
static int collect(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int most, held *row) {
    int n = 0, loops = 0;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        if (!ti_con_holds(&f->con[i])) continue;
        double apart[3];
        ti_closure_apart(ws, &f->con[i], true, apart);
        loops++;
        for (int r = 0; r < 3; r++) {
            held h = {.i = i, .r = r, .left = apart[r]};
            h.size = product(ws, is, &h, &h);
            if (!(h.size > 0)) continue;
            if (n == most) return 0;
            row[n++] = h;
        }
    }
    return loops > 1 ? n : 0;
}

/* Row a stays: its part leaves the others that are not settled, with what it is apart by. G (n,n): their products,
 * most apart. */
static void take(held *row, int n, int a, int most, double *G) {
    const double *Ga = G + (size_t)a * (size_t)most;
    row[a].settled = true;
    for (int b = 0; b < n; b++) {
        double *Gb = G + (size_t)b * (size_t)most;
        if (row[b].settled || Ga[b] == 0) continue;
        double share = Ga[b] / Ga[a];
        for (int k = 0; k < n; k++)
            if (Ga[k] != 0 && k != a) Gb[k] -= share * Ga[k];
        row[b].left -= share * row[a].left;
        Gb[a] = 0;
    }
}

static void clear(tribo_ws *ws, const ti_island *is, const held *h) {
    for (int side = 0; side < 2; side++) {
        const double *J;
        int w;
        block_of(ws, is, h->i, side, &J, &w);
        memset((double *)J + w * h->r, 0, sizeof(double) * (size_t)w);
    }
    ws->ref[3 * h->i + h->r] = 0;
}

void ti_loops_settle(tribo_ws *ws, const ti_frame *f, int k) {
    const double share = 1e-4; /* as lengths are given in files */
    const ti_island *is = &f->island[k];
    int most = ti_loops_most(ws->model);
    held row[TI_LOOP_ROWS];
    int n = most > 0 ? collect(ws, f, is, most, row) : 0;
    double *G = ws->loops;
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++) G[a * most + b] = G[b * most + a] = product(ws, is, &row[a], &row[b]);
    for (int done = 0; done < n; done++) {
        int a = -1;
        for (int b = 0; b < n; b++)
            if (!row[b].settled && (a < 0 || G[b * most + b] * row[a].size > G[a * most + a] * row[b].size)) a = b;
        if (G[a * most + a] <= share * share * row[a].size) break;
        take(row, n, a, most, G);
    }
    for (int a = 0; a < n; a++) {
        double little = share * sqrt(row[a].size) + ti_closure_rounding(ws, &f->con[row[a].i]);
        if (!row[a].settled && fabs(row[a].left) <= little) clear(ws, is, &row[a]);
    }
}
