/* convex_meet.c -- where two parts of surfaces meet, by Newton, and its derivative by the implicit function theorem.
 *
 * docs/math.md eq. (304)-(306). Unknown are the ways along both parts, the normal and the gap; an equation each says
 * that the points are a gap apart along the normal, that it is of length 1, and what is at right angles to it.
 */
#include "collide/surface.h"
#include "math/lanes.h"

enum { MOST = 8, ITERATIONS = 30 };

/* ---- the code of a meeting ---- */

int64_t ti_meet_code(const ti_meet *m) {
    return (int64_t)m->part[0].kind | (int64_t)m->part[1].kind << 3 | (int64_t)m->rule << 6 |
           (int64_t)m->part[0].id << 8 | (int64_t)m->part[1].id << 26 | (int64_t)m->face << 44;
}

ti_meet ti_meet_of(int64_t code) {
    int bits = (1 << 18) - 1;
    ti_part a = {(int)(code & 7), (int)(code >> 8 & bits)}, b = {(int)(code >> 3 & 7), (int)(code >> 26 & bits)};
    return (ti_meet){{a, b}, (int)(code >> 6 & 3), (int)(code >> 44 & bits)};
}

/* ---- the equations ---- */

/* What is at right angles to the normal: a direction of a shape, world, and which way along it bends it. */
typedef struct right_angle {
    int of;         /* which shape */
    int column;     /* of the way, -1 = straight */
    ti_part part;   /* that it belongs to */
    ti_vec v, bend; /* world */
    ti_vec local;
} right_angle;

typedef struct equations {
    int n, ways; /* unknowns; of them ways along parts, then the normal, then the gap */
    ti_spot spot[2];
    ti_vec p[2], to[2][2]; /* world, from the centre of a */
    right_angle right[MOST - 4];
    int angles;
    double F[MOST][MOST];
} equations;

static void add_angles(equations *q, const ti_form f[2], int of, ti_part part, const ti_spot *s, int column,
                       bool round_only) {
    for (int i = 0; i < s->k && q->angles < MOST - 4; i++) {
        if (round_only && !s->round[i]) continue;
        const ti_mat *R = &f[of].s->R;
        right_angle *r = &q->right[q->angles++];
        *r = (right_angle){of, s->round[i] ? column + i : -1, part, ti_mul(R, s->square[i]), {0, 0, 0}, s->square[i]};
        if (s->round[i]) r->bend = ti_mul(R, s->bend[i]);
    }
}

/* Everything at the spots; false if there are not as many equations as unknowns. */
static bool set_up(equations *q, const ti_form f[2], const ti_meet *m) {
    q->angles = 0, q->ways = q->spot[0].k + q->spot[1].k, q->n = q->ways + 4;
    for (int i = 0; i < 2; i++) {
        const ti_shape *s = f[i].s;
        q->p[i] = ti_add(ti_sub(s->x, f[0].s->x), ti_mul(&s->R, q->spot[i].p));
        for (int k = 0; k < q->spot[i].k; k++) q->to[i][k] = ti_mul(&s->R, q->spot[i].to[k]);
    }
    for (int i = 0, column = 0; i < 2; column += q->spot[i++].k) {
        bool faced = m->rule == (i ? TI_OF_FACE_B : TI_OF_FACE_A);
        if (faced) {
            ti_part part = {TI_FACE, m->face};
            ti_spot s = ti_spot_at(&f[i], part, q->spot[i].p);
            add_angles(q, f, i, part, &s, column, false);
        } else {
            add_angles(q, f, i, m->part[i], &q->spot[i], column, m->rule != TI_OF_PARTS);
        }
    }
    return q->angles == q->ways;
}

static void fill(equations *q, ti_vec n, double gap) {
    double normal[3] = {n.x, n.y, n.z};
    for (int i = 0; i < q->n; i++)
        for (int j = 0; j < q->n; j++) q->F[i][j] = 0;
    for (int i = 0; i < 3; i++) {
        int column = 0;
        for (int side = 0; side < 2; side++)
            for (int k = 0; k < q->spot[side].k; k++) q->F[i][column++] = (side ? 1 : -1) * ti_get(q->to[side][k], i);
        q->F[i][q->ways + i] = -gap, q->F[i][q->ways + 3] = -normal[i];
        q->F[3][q->ways + i] = normal[i];
    }
    for (int j = 0; j < q->angles; j++) {
        double *row = q->F[4 + j];
        const right_angle *r = &q->right[j];
        ti_put_row(row + q->ways, r->v);
        if (r->column >= 0) row[r->column] = ti_dot(n, r->bend);
    }
}

/* Rows of right-hand sides, of one number or of whole lanes: to -= l from; to /= d; exchanged. */
TI_INLINE void subtract(double *to, int columns, double l, const double *from) {
    if (columns % LANE == 0)
        ti_lanes_add(columns, -l, from, to);
    else
        for (int j = 0; j < columns; j++) to[j] -= l * from[j];
}

TI_INLINE void divide(double *to, int columns, double d) {
    for (int j = 0; columns % LANE == 0 && j < columns; j += LANE) *(vec4 *)(to + j) /= d;
    for (int j = 0; columns % LANE != 0 && j < columns; j++) to[j] /= d;
}

TI_INLINE void exchange(double *a, double *b, int n) {
    int j = 0;
    for (; j + LANE <= n; j += LANE) {
        vec4 swap = *(vec4 *)(a + j);
        *(vec4 *)(a + j) = *(vec4 *)(b + j), *(vec4 *)(b + j) = swap;
    }
    for (; j < n; j++) {
        double swap = a[j];
        a[j] = b[j], b[j] = swap;
    }
}

/* Elimination with pivots from F and several right-hand sides; false where it is singular. */
TI_INLINE bool eliminate(int n, double F[MOST][MOST], double *rhs, int columns) {
    for (int k = 0; k < n; k++) {
        int pivot = k;
        double size = 0;
        for (int i = k; i < n; i++)
            if (fabs(F[i][k]) > fabs(F[pivot][k])) pivot = i;
        for (int j = k; j < n; j++) size += fabs(F[pivot][j]);
        if (!(fabs(F[pivot][k]) > 1e-9 * size)) return false;
        if (pivot != k) {
            exchange(F[k], F[pivot], n);
            exchange(rhs + k * columns, rhs + pivot * columns, columns);
        }
        for (int i = k + 1; i < n; i++) {
            double l = F[i][k] / F[k][k];
            if (l == 0) continue;
            for (int j = k + 1; j < n; j++) F[i][j] -= l * F[k][j];
            subtract(rhs + i * columns, columns, l, rhs + k * columns);
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int i = k + 1; i < n; i++) subtract(rhs + k * columns, columns, F[k][i], rhs + i * columns);
        divide(rhs + k * columns, columns, F[k][k]);
    }
    return true;
}

static bool solve_one(int n, double F[MOST][MOST], double *rhs) {
    return eliminate(n, F, rhs, 1);
}
static TI_CLONES bool solve_all(int n, double F[MOST][MOST], double *rhs) {
    return eliminate(n, F, rhs, TI_COLLIDE_COLS);
}

/* ---- Newton ---- */

static void residual(const equations *q, ti_vec n, double gap, double *out) {
    ti_store3(out, ti_sub(ti_axpy(q->p[0], gap, n), q->p[1]));
    out[3] = 0.5 * (1 - ti_dot(n, n));
    for (int j = 0; j < q->angles; j++) out[4 + j] = -ti_dot(n, q->right[j].v);
}

/* How much of a step to take: no more than half a radian of a ball, or of the normal. */
static double share(const equations *q, const double *step, double length) {
    double most = 0;
    for (int side = 0, column = 0; side < 2; side++)
        for (int k = 0; k < q->spot[side].k; k++, column++)
            most = fmax(most, q->spot[side].round[k] ? fabs(step[column]) * (ti_norm(q->to[side][k]) / length) : 0);
    for (int i = 0; i < 3; i++) most = fmax(most, fabs(step[q->ways + i]));
    return most > 0.5 ? 0.5 / most : 1;
}

/* The change of the two points, the normal and the gap as one length. */
static double advance(equations *q, const ti_form f[2], const ti_meet *m, ti_near *at, const double *step,
                      double length) {
    double part = share(q, step, length), moved = fabs(step[q->ways + 3]), du[MOST];
    for (int i = 0; i < q->n; i++) du[i] = part * step[i];
    for (int side = 0, column = 0; side < 2; column += q->spot[side++].k) {
        for (int k = 0; k < q->spot[side].k; k++) moved += fabs(step[column + k]) * ti_norm(q->to[side][k]);
        q->spot[side] = ti_spot_move(&f[side], m->part[side], &q->spot[side], du + column);
    }
    ti_vec dn = ti_load3(du + q->ways);
    at->n = ti_add(at->n, dn), at->gap += du[q->ways + 3];
    at->n = ti_scale(1 / ti_norm(at->n), at->n);
    return moved + length * ti_norm(dn);
}

/* Whether the normal leads out of both shapes where they are round, and not through them to the far side. */
static bool outward(const equations *q, const ti_form f[2], ti_vec n) {
    for (int side = 0; side < 2; side++) {
        ti_vec local = ti_scale(side ? -1 : 1, ti_tmul(&f[side].s->R, n));
        for (int k = 0; k < q->spot[side].k; k++)
            if (q->spot[side].round[k] && ti_dot(local, q->spot[side].bend[k]) > 0) return false;
    }
    return true;
}

bool ti_meet_solve(const ti_form f[2], const ti_meet *m, ti_near *at) {
    equations q;
    ti_near now = *at;
    double length = fmin(f[0].small, f[1].small), moved = (double)INFINITY;
    for (int i = 0; i < 2; i++) q.spot[i] = ti_spot_at(&f[i], m->part[i], now.p[i]);
    for (int k = 0; k < ITERATIONS; k++) {
        double step[MOST];
        if (!set_up(&q, f, m)) return false;
        fill(&q, now.n, now.gap);
        residual(&q, now.n, now.gap, step);
        if (!solve_one(q.n, q.F, step)) return false;
        moved = advance(&q, f, m, &now, step, length);
        if (!(moved < 1e6 * length + 1e6 * fabs(at->gap))) return false;
        if (moved < 1e-9 * length) break;
    }
    if (!(moved < 1e-9 * length) || !outward(&q, f, now.n)) return false;
    now.p[0] = q.spot[0].p, now.p[1] = q.spot[1].p;
    ti_vec d = ti_sub(f[1].s->x, f[0].s->x);
    d = ti_add(d, ti_sub(ti_mul(&f[1].s->R, now.p[1]), ti_mul(&f[0].s->R, now.p[0])));
    now.gap = ti_dot(now.n, d);
    *at = now;
    return ti_norm(ti_axpy(d, -now.gap, now.n)) < 1e-10 * (length + ti_norm(d));
}

ti_touch ti_meet_touch(const ti_form f[2], const ti_meet *m, const ti_near *at) {
    ti_vec on_a = ti_add(f[0].s->x, ti_mul(&f[0].s->R, at->p[0]));
    return (ti_touch){ti_axpy(on_a, 0.5 * at->gap, at->n), at->n, at->gap, ti_meet_code(m), 0};
}

/* ---- the derivative ---- */

enum { COLS = TI_COLLIDE_COLS };

/* How the point of a shape moves with the numbers of the shape, its way along held. */
static void carried(const ti_form *f, ti_part part, ti_vec p, ti_vec out[COL_SHAPE]) {
    ti_vec arm = ti_mul(&f->s->R, p);
    out[COL_E] = ti_vec3(0, 0, 0); /* rounded.c has that */
    for (int k = 0; k < COL_E; k++) {
        double e[3] = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
        if (k < COL_W)
            out[k] = ti_load3(e);
        else if (k < COL_H)
            out[k] = ti_cross(ti_load3(e), arm);
        else
            out[k] = ti_mul(&f->s->R, ti_spot_size(f, part, p, true, k - COL_H));
    }
}

/* -dF/d(numbers of both shapes) */
static void right_hand_sides(const equations *q, const ti_form f[2], ti_vec n, ti_vec moves[2][COL_SHAPE],
                             double *rhs) {
    for (int i = 0; i < q->n * COLS; i++) rhs[i] = 0;
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < COL_E; k++)
            for (int i = 0; i < 3; i++)
                rhs[i * COLS + side * COL_SHAPE + k] = (side ? -1 : 1) * ti_get(moves[side][k], i);
    for (int j = 0; j < q->angles; j++) {
        const right_angle *r = &q->right[j];
        double *row = rhs + (4 + j) * COLS + r->of * COL_SHAPE;
        ti_put_row(row + COL_W, ti_scale(-1, ti_cross(r->v, n)));
        ti_vec local = ti_tmul(&f[r->of].s->R, n);
        for (int k = 0; k < 3; k++)
            row[COL_H + k] = -ti_dot(local, ti_spot_size(&f[r->of], r->part, r->local, false, k));
    }
}

void ti_meet_jac(const ti_form f[2], const ti_meet *m, const ti_touch *t, ti_touch_jac J) {
    equations q;
    ti_vec n = t->normal, moves[2][COL_SHAPE];
    double rhs[MOST * COLS];
    for (int i = 0; i < 2; i++) {
        ti_vec on = ti_axpy(t->point, (i ? 0.5 : -0.5) * t->gap, n);
        q.spot[i] = ti_spot_at(&f[i], m->part[i], ti_tmul(&f[i].s->R, ti_sub(on, f[i].s->x)));
        carried(&f[i], m->part[i], q.spot[i].p, moves[i]);
    }
    if (!set_up(&q, f, m)) return;
    fill(&q, n, t->gap);
    right_hand_sides(&q, f, n, moves, rhs);
    if (!solve_all(q.n, q.F, rhs)) return;
    for (int c = 0; c < COLS; c++) {
        ti_vec p = c < COL_SHAPE ? moves[0][c] : ti_vec3(0, 0, 0);
        for (int k = 0; k < q.spot[0].k; k++) p = ti_axpy(p, rhs[k * COLS + c], q.to[0][k]);
        ti_vec dn = {rhs[q.ways * COLS + c], rhs[(q.ways + 1) * COLS + c], rhs[(q.ways + 2) * COLS + c]};
        double dg = rhs[(q.ways + 3) * COLS + c];
        ti_put_col(&J[ROW_POINT], c, ti_axpy(ti_axpy(p, 0.5 * t->gap, dn), 0.5 * dg, n));
        ti_put_col(&J[ROW_NORMAL], c, dn);
        J[ROW_GAP][c] = dg;
    }
}
