/* instrument.c -- gain and bias of measured columns: rows as they would be without them, and how residuals move with
 * them. docs/math.md eq. (440), (441). */
#include "math/vec.h"
#include "sysid/track/fit.h"

/* The block of the first of a column's numbers; NULL = its numbers are not all in one. */
static const ti_block *block_of(const tribo_sysid *s, int entry, int numbers) {
    if (entry < 0 || numbers < 1 || entry + numbers > s->z.ndx) return NULL;
    const ti_block *b = &s->block[s->entry[entry]];
    return entry + numbers <= b->at + b->n ? b : NULL;
}

/* What counts as one of a bias. */
static double unit_of(const tribo_sysid *s, int kind) {
    double L = tribo_model_extent(s->m), g = sqrt(s->p0[0] * s->p0[0] + s->p0[1] * s->p0[1] + s->p0[2] * s->p0[2]);
    if (!(L > 0)) L = 1;
    if (!(g > 0)) g = 9.81;
    const double unit[TRIBO_BLOCKS] = {L, 1, sqrt(g * L), sqrt(g / L)};
    return unit[kind];
}

tribo_status ti_column_init(const tribo_sysid *s, ti_unknown *k, const tribo_free_param *f, tribo_diag *diag) {
    bool gain = f->column == TRIBO_COLUMN_GAIN;
    int numbers = f->numbers > 0 ? f->numbers : 1;
    const ti_block *b = block_of(s, f->index, numbers);
    if (!b) return ti_fail(diag, TRIBO_E_ARG, 0, "no measured numbers are at %d", f->index);
    if (gain && b->quat >= 0) return ti_fail(diag, TRIBO_E_ARG, 0, "an orientation has no gain");
    if (s->loss != TRIBO_LOSS_SHOOTING || s->optimizer != TRIBO_OPT_LM)
        return ti_fail(diag, TRIBO_E_ARG, 0, "gain and bias of columns are found by the loss shooting alone");
    double one = gain ? 1 : unit_of(s, b->kind);
    *k = (ti_unknown){.map = gain ? TI_MAP_GAIN : TI_MAP_BIAS, .index = -1, .leader = -1, .scale = one};
    k->entry = f->index, k->numbers = numbers;
    k->start = isnan(f->start) ? gain : f->start;
    k->lower = isnan(f->lower) ? (gain ? 1e-3 : -1e3 * one) : f->lower;
    k->upper = isnan(f->upper) ? 1e3 * one : f->upper;
    if (b->quat >= 0 && isnan(f->lower)) k->lower = -3;
    if (b->quat >= 0 && isnan(f->upper)) k->upper = 3;
    if (!(k->start >= k->lower && k->start <= k->upper) || (gain && !(k->lower > 0)))
        return ti_fail(diag, TRIBO_E_ARG, 0, "the start %g of a column is outside of [%g, %g]", k->start, k->lower,
                       k->upper);
    k->tlower = (k->lower - k->start) / k->scale, k->tupper = (k->upper - k->start) / k->scale;
    return TRIBO_OK;
}

bool ti_columns_clash(const ti_unknown *a, const ti_unknown *b) {
    return a->index < 0 && a->map == b->map && a->entry < b->entry + b->numbers && b->entry < a->entry + a->numbers;
}

static double value_of(const ti_unknown *k, double theta) {
    return theta <= k->tlower ? k->lower : theta >= k->tupper ? k->upper : k->start + k->scale * theta;
}

double ti_value(const tribo_sysid *s, const double *theta, const double *p, int i) {
    const ti_unknown *k = s->unknown + i;
    return k->index < 0 ? value_of(k, theta[i]) : p[k->index];
}

/* A row of a track without gain and bias. */
static void read_row(const tribo_sysid *s, const double *raw, double *x) {
    memcpy(x, raw, (size_t)s->z.nx * sizeof *x);
    for (int i = 0; i < s->nblock; i++) {
        const ti_block *b = &s->block[i];
        const double *gain = s->gain + b->at, *bias = s->bias + b->at;
        if (b->quat >= 0) {
            double turn[4];
            ti_quat_exp((ti_vec){-bias[0], -bias[1], -bias[2]}, turn);
            ti_quat_mul(raw + b->quat, turn, x + b->quat);
            continue;
        }
        double *to = x + ti_block_source(s, b);
        for (int j = 0; j < b->n; j++) to[j] = (to[j] - bias[j]) / gain[j];
    }
}

void ti_columns_read(tribo_sysid *s, const double *theta) {
    size_t nx = (size_t)s->z.nx;
    if (!s->ncolumn) return;
    for (int i = 0; i < s->z.ndx; i++) s->gain[i] = 1, s->bias[i] = 0;
    for (int i = 0; i < s->nfree; i++) {
        const ti_unknown *k = s->unknown + i;
        double *to = k->map == TI_MAP_GAIN ? s->gain : s->bias;
        for (int j = 0; k->index < 0 && j < k->numbers; j++) to[k->entry + j] = value_of(k, theta[i]);
    }
    for (int i = 0; i < s->nrec; i++)
        for (size_t k = 0; k < (size_t)s->track[i].n; k++)
            read_row(s, s->track[i].raw + k * nx, s->track[i].x + k * nx);
}

bool ti_turned_with(const tribo_sysid *s, int i, int j) {
    const ti_unknown *a = s->unknown + i, *b = s->unknown + j;
    if (i == j || a->index >= 0 || b->index >= 0) return false;
    const ti_block *block = &s->block[s->entry[a->entry]];
    return block->quat >= 0 && block == &s->block[s->entry[b->entry]];
}

/* How the residual r of a rotation moves with bias number j: log(exp(b) y^-1 x). But for the turn of r itself, which
 * gradients do not see: what turns the frame and the body turns r as well, and with that in the curvature noise alone
 * would tell how a frame is turned about an axis that nothing tells. */
static ti_vec turn_slope(const tribo_sysid *s, const ti_block *b, const ti_measured *m, int j) {
    ti_vec bias = ti_load3(s->bias + b->at), e = {j == 0, j == 1, j == 2};
    ti_vec d = ti_exp_right(ti_scale(-1, bias), e); /* exp(b + db) = exp(Jl(b) db) exp(b), Jl(b) = Jr(-b) */
    double out[3];
    for (int i = 0; i < 3; i++) out[i] = m->D[i][0] * d.x + m->D[i][1] * d.y + m->D[i][2] * d.z; /* Jr(r)^-1 */
    return ti_load3(out);
}

bool ti_columns_jac(const tribo_sysid *s, const ti_track *t, int row, const ti_block *b, const ti_measured *m,
                    double *J) {
    size_t n = (size_t)s->nfree;
    bool any = false;
    for (int a = 0; a < s->nfree && s->ncolumn; a++) {
        const ti_unknown *k = s->unknown + a;
        if (k->index >= 0 || k->entry < b->at || k->entry >= b->at + b->n) continue;
        if (!any) memset(J, 0, 3 * n * sizeof *J);
        any = true;
        for (int e = k->entry; e < k->entry + k->numbers; e++) {
            int i = e - b->at;
            if (b->quat >= 0) {
                ti_vec d = turn_slope(s, b, m, i);
                J[a] += k->scale * d.x, J[n + (size_t)a] += k->scale * d.y, J[2 * n + (size_t)a] += k->scale * d.z;
                continue;
            }
            double y = t->x[(size_t)row * (size_t)s->z.nx + (size_t)(ti_block_source(s, b) + i)];
            double x = m->wt[i] > 0 ? y + m->r[i] / (m->wt[i] * s->gain[e]) : 0;
            J[(size_t)i * n + (size_t)a] += k->scale * (k->map == TI_MAP_GAIN ? x : 1);
        }
    }
    return any;
}
