/* maps.c -- theta to p: dimensionless numbers to physical parameters.
 *
 * Masses and sizes: p = start exp(theta). The six numbers of one inertia together: docs/math.md eq. (67). Everything
 * else: p = start + scale theta inside bounds that it may reach (friction 0, restitution 1). Of robots theta is what
 * forces in joints are linear in, as far as bounds let it: masses, and first moments in place of centres.
 */
#include "sysid/track/fit.h"

enum { NINERTIA = 6 };
/* Row and column of xx yy zz xy xz yz. */
static const int at[NINERTIA][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

/* A twentieth of what weight and its swing would ask of a joint: a torque, or that over their rates. */
static double usual_of(const tribo_sysid *s, const tribo_param_info *info) {
    double L = tribo_model_extent(s->m), g = sqrt(s->p0[0] * s->p0[0] + s->p0[1] * s->p0[1] + s->p0[2] * s->p0[2]),
           mass = 0;
    for (int b = 0; b < s->z.nbody; b++) mass += s->p0[s->m->body[b].p + TI_P_MASS];
    if (!(L > 0)) L = 1;
    if (!(g > 0)) g = 9.81;
    double torque = 0.05 * mass / s->z.nbody * g * L, rate = sqrt(g / L);
    return info->kind == TRIBO_PARAM_DAMPING    ? torque / rate
           : info->kind == TRIBO_PARAM_ARMATURE ? torque / (rate * rate)
                                                : torque;
}

static double scale_of(const tribo_sysid *s, const tribo_param_info *info, double start) {
    double L = tribo_model_extent(s->m), a = fabs(start);
    switch (info->kind) {
    case TRIBO_PARAM_GRAVITY:
        a = sqrt(s->p0[0] * s->p0[0] + s->p0[1] * s->p0[1] + s->p0[2] * s->p0[2]);
        return a > 0 ? a : 9.81;
    case TRIBO_PARAM_COM:
    case TRIBO_PARAM_POS:
        return L;
    case TRIBO_PARAM_FRICTION:
    case TRIBO_PARAM_STICTION:
        return a > 0.2 ? a : 0.2;
    case TRIBO_PARAM_SLOP:
    case TRIBO_PARAM_EDGE_RADIUS:
    case TRIBO_PARAM_TORSION:
    case TRIBO_PARAM_ROLLING:
        return a > 0.01 * L ? a : 0.01 * L;
    case TRIBO_PARAM_INERTIA: { /* the size of the whole tensor, also for its products */
        for (int i = 0; i < s->z.np; i++) {
            tribo_param_info other;
            if (tribo_param_describe(s->m, i, &other) || other.body != info->body) continue;
            if (other.kind == TRIBO_PARAM_INERTIA && fabs(s->p0[i]) > a) a = fabs(s->p0[i]);
        }
        return a;
    }
    case TRIBO_PARAM_MASS:
    case TRIBO_PARAM_COMPLIANCE:
    case TRIBO_PARAM_DENSITY:
    case TRIBO_PARAM_VISCOSITY:
        return a > 0 ? a : 1;
    case TRIBO_PARAM_DAMPING:
    case TRIBO_PARAM_FRICTIONLOSS:
    case TRIBO_PARAM_ARMATURE:
    case TRIBO_PARAM_STIFFNESS: {
        double usual = usual_of(s, info);
        return a > usual ? a : usual;
    }
    default:
        return 1;
    }
}

/* theta where the map reaches p. */
static double inverse(const ti_unknown *k, double p) {
    if (k->map == TI_MAP_LOG) return p > 0 ? log(p / k->start) : -HUGE_VAL;
    return (p - k->start) / k->scale;
}

/* Where physics sets no bound, one a thousand times as far as the start is: whatever ends there has nothing to hold it.
 */
static void finite_bounds(ti_unknown *k, const tribo_param_info *info) {
    bool ratio = info->kind == TRIBO_PARAM_FRICTION || info->kind == TRIBO_PARAM_STICTION;
    double far = ratio ? 10 + 10 * k->start : k->map == TI_MAP_LOG ? 999 * k->start : 1e3 * k->scale;
    bool least = k->map == TI_MAP_LOG || (info->kind == TRIBO_PARAM_MASS && k->start > 0);
    if (least && k->lower < 1e-3 * k->start) k->lower = 1e-3 * k->start;
    if (!isfinite(k->upper)) k->upper = k->start + far;
    if (!isfinite(k->lower)) k->lower = k->start - far;
}

static tribo_status init_one(tribo_sysid *s, ti_unknown *k, const tribo_free_param *f, tribo_diag *diag) {
    tribo_param_info info;
    if (f->struct_size != sizeof *f) return TRIBO_E_DEF;
    if (f->column) return ti_column_init(s, k, f, diag);
    if (tribo_param_describe(s->m, f->index, &info))
        return ti_fail(diag, TRIBO_E_ARG, 0, "there is no parameter %d", f->index);
    *k = (ti_unknown){.index = f->index, .leader = -1};
    k->start = isnan(f->start) ? s->p0[f->index] : f->start;
    k->lower = isnan(f->lower) || f->lower < info.lower ? info.lower : f->lower;
    k->upper = isnan(f->upper) || f->upper > info.upper ? info.upper : f->upper;
    bool seen = s->mark_group >= 0 && info.site >= 0 && info.kind == TRIBO_PARAM_POS;
    if (!info.used && !seen)
        return ti_fail(diag, TRIBO_E_ARG, 0, "%s: nothing depends on it%s", info.name,
                       info.kind == TRIBO_PARAM_FRICTION ? "; of two geoms that touch, one's friction counts" : "");
    if (!isfinite(k->start) || !(k->start >= k->lower && k->start <= k->upper))
        return ti_fail(diag, TRIBO_E_ARG, 0, "%s: the start %g is outside of [%g, %g]", info.name, k->start, k->lower,
                       k->upper);
    bool positive = info.kind == TRIBO_PARAM_MASS || info.kind == TRIBO_PARAM_SIZE;
    bool linear = info.kind == TRIBO_PARAM_MASS && !ti_all_free(s->m);
    k->map = positive && k->start > 0 && !linear ? TI_MAP_LOG : TI_MAP_LINEAR;
    k->scale = scale_of(s, &info, k->start);
    finite_bounds(k, &info);
    k->tlower = inverse(k, k->lower), k->tupper = inverse(k, k->upper);
    return TRIBO_OK;
}

/* Lower Cholesky factor of S = tr(I)/2 1 - I. False where the inertia is on the edge of being physical. */
static bool inertia_factor(const double I[NINERTIA], double L[3][3]) {
    double S[3][3], half = (I[0] + I[1] + I[2]) / 2;
    for (int k = 0; k < NINERTIA; k++) S[at[k][0]][at[k][1]] = S[at[k][1]][at[k][0]] = (k < 3 ? half : 0) - I[k];
    memset(L, 0, 9 * sizeof(double));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            double sum = S[i][j];
            for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
            if (i == j && !(sum > 1e-12 * half)) return false;
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
    return true;
}

/* Six consecutive free inertias of one body, without bounds of their own, become one map. */
static void join_inertia(tribo_sysid *s, const tribo_sysid_def *def, int first) {
    double I[NINERTIA];
    ti_unknown *k = s->unknown + first;
    if (first + NINERTIA > s->nfree) return;
    for (int i = 0; i < NINERTIA; i++) {
        tribo_param_info info;
        if (tribo_param_describe(s->m, k[i].index, &info) || info.kind != TRIBO_PARAM_INERTIA) return;
        if (k[i].index != k[0].index + i || !isnan(def->free[first + i].lower) || !isnan(def->free[first + i].upper))
            return;
        I[i] = k[i].start;
    }
    if (!inertia_factor(I, k[0].L0)) return;
    for (int i = 0; i < NINERTIA; i++) {
        k[i].map = i ? TI_MAP_MEMBER : TI_MAP_INERTIA;
        k[i].leader = first;
        k[i].tlower = -3.5, k[i].tupper = 3.5; /* moments of mass a thousand times as large or small */
    }
}

/* A link's centre of mass whose mass is free as well: what joints feel is their product. */
static void join_moment(tribo_sysid *s, const tribo_sysid_def *def, int i) {
    tribo_param_info info, other;
    ti_unknown *k = s->unknown + i;
    if (tribo_param_describe(s->m, k->index, &info) || info.kind != TRIBO_PARAM_COM || ti_all_free(s->m)) return;
    if (!isnan(def->free[i].lower) || !isnan(def->free[i].upper)) return;
    for (int j = 0; j < s->nfree; j++) {
        if (tribo_param_describe(s->m, s->unknown[j].index, &other) || other.kind != TRIBO_PARAM_MASS) continue;
        if (other.body == info.body) k->map = TI_MAP_MOMENT, k->leader = j;
    }
}

tribo_status ti_maps_init(tribo_sysid *s, const tribo_sysid_def *def, tribo_diag *diag) {
    for (int i = 0; i < s->nfree; i++) {
        tribo_status status = init_one(s, s->unknown + i, def->free + i, diag);
        if (status) return status;
        for (int j = 0; j < i; j++) {
            const ti_unknown *a = s->unknown + j, *b = s->unknown + i;
            if (a->index < 0 ? ti_columns_clash(a, b) : a->index == b->index)
                return ti_fail(diag, TRIBO_E_ARG, 0, "parameter %d is free twice", def->free[i].index);
        }
    }
    for (int i = 0; i < s->nfree; i++) {
        tribo_param_info info;
        if (tribo_param_describe(s->m, s->unknown[i].index, &info)) continue;
        size_t n = strlen(info.name);
        bool xx = info.kind == TRIBO_PARAM_INERTIA && n > 2 && !strcmp(info.name + n - 2, "xx");
        if (xx) join_inertia(s, def, i);
        join_moment(s, def, i);
    }
    return TRIBO_OK;
}

void ti_maps_clamp(const tribo_sysid *s, double *theta) {
    for (int i = 0; i < s->nfree; i++) {
        const ti_unknown *k = s->unknown + i;
        theta[i] = theta[i] < k->tlower ? k->tlower : theta[i] > k->tupper ? k->tupper : theta[i];
    }
}

/* K(theta): exp on the diagonal, the rest below it. */
static void factor_of(const double *theta, double K[3][3]) {
    memset(K, 0, 9 * sizeof(double));
    for (int k = 0; k < NINERTIA; k++) K[at[k][1]][at[k][0]] = k < 3 ? exp(theta[k]) : theta[k];
}

/* C = A B */
static void mul3(double A[3][3], double B[3][3], double C[3][3]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[i][j] = A[i][0] * B[0][j] + A[i][1] * B[1][j] + A[i][2] * B[2][j];
}

/* I = tr(S) 1 - S with S = A B' symmetrised */
static void inertia_of(double A[3][3], double B[3][3], double I[NINERTIA]) {
    double S[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            S[i][j] = 0;
            for (int k = 0; k < 3; k++) S[i][j] += (A[i][k] * B[j][k] + B[i][k] * A[j][k]) / 2;
        }
    double trace = S[0][0] + S[1][1] + S[2][2];
    for (int k = 0; k < NINERTIA; k++) I[k] = (k < 3 ? trace : 0) - S[at[k][0]][at[k][1]];
}

/* The mass that goes with a moment. */
static double mass_of(const tribo_sysid *s, const ti_unknown *k, const double *theta) {
    const ti_unknown *m = s->unknown + k->leader;
    double mass = m->start + m->scale * theta[k->leader];
    return mass < m->lower ? m->lower : mass > m->upper ? m->upper : mass;
}

void tribo_sysid_params(const tribo_sysid *s, const double *theta, double *p) {
    if (!s || !theta || !p) return;
    memcpy(p, s->p0, (size_t)s->z.np * sizeof *p);
    for (int i = 0; i < s->nfree; i++) {
        const ti_unknown *k = s->unknown + i;
        double t = theta[i];
        if (k->map == TI_MAP_INERTIA) {
            double K[3][3], L[3][3], L0[3][3];
            factor_of(theta + i, K);
            memcpy(L0, k->L0, sizeof L0);
            mul3(L0, K, L);
            inertia_of(L, L, p + k->index);
        } else if (k->map == TI_MAP_MOMENT) {
            p[k->index] = (k->start + k->scale * t) * s->unknown[k->leader].start / mass_of(s, k, theta);
        } else if (k->map != TI_MAP_MEMBER && k->index >= 0) {
            /* a bound is reached exactly, not to rounding */
            double v = k->map == TI_MAP_LOG ? k->start * exp(t) : k->start + k->scale * t;
            p[k->index] = t <= k->tlower ? k->lower : t >= k->tupper ? k->upper : v;
        }
    }
}

void ti_at(tribo_sysid *s, const double *theta) {
    tribo_sysid_params(s, theta, s->p);
    ti_columns_read(s, theta);
}

void tribo_sysid_map_jac(const tribo_sysid *s, const double *theta, double *P) {
    if (!s || !theta || !P) return;
    int np = s->z.np;
    memset(P, 0, (size_t)s->nfree * (size_t)np * sizeof *P);
    for (int i = 0; i < s->nfree; i++) {
        const ti_unknown *k = s->unknown + i;
        double *row = P + (size_t)i * (size_t)np;
        if (k->index < 0) continue;
        if (k->map == TI_MAP_LOG) {
            row[k->index] = k->start * exp(theta[i]);
        } else if (k->map == TI_MAP_LINEAR) {
            row[k->index] = k->scale;
        } else if (k->map == TI_MAP_MOMENT) {
            const ti_unknown *m = s->unknown + k->leader;
            double mass = mass_of(s, k, theta), by = m->start / mass;
            row[k->index] = k->scale * by;
            P[(size_t)k->leader * (size_t)np + (size_t)k->index] =
                -(k->start + k->scale * theta[i]) * by / mass * m->scale;
        } else {
            const ti_unknown *lead = s->unknown + k->leader;
            double K[3][3], dK[3][3] = {{0}}, L[3][3], dL[3][3], L0[3][3];
            int which = i - k->leader;
            factor_of(theta + k->leader, K);
            dK[at[which][1]][at[which][0]] = which < 3 ? K[which][which] : 1;
            memcpy(L0, lead->L0, sizeof L0);
            mul3(L0, K, L);
            mul3(L0, dK, dL);
            inertia_of(L, dL, row + lead->index);
            for (int j = 0; j < NINERTIA; j++) row[lead->index + j] *= 2; /* L dL' + dL L' */
        }
    }
}
