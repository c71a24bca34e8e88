/* randomise.c -- parameters of worlds drawn at random, and how they move with what they are drawn from. docs/math.md
 * eq. (430), (431).
 */
#include "base/base.h"
#include "model/model.h"
#include <math.h>
#include <stdio.h>
#include <tribo/batch.h>

/* A randomiser acting on one number of p. */
typedef struct deed {
    int row, draw, index; /* of its randomiser, of its number s, in p */
    double power, lower, upper;
    bool add;
} deed;

typedef struct row {
    tribo_draw draw;
    double a, b;
} row;

struct tribo_random {
    tribo_allocator alloc;
    size_t bytes;
    const tribo_model *model;
    int np, nrow, ndeed, ndraw;
    uint64_t seed;
    row *row;      /* (nrow) */
    deed *deed;    /* (ndeed) in the order they act */
    int *first;    /* (ndraw) the first deed of a draw */
    double *p;     /* (np) the model's */
    double *s;     /* (ndraw) of the world at hand */
    double *noise; /* (ndraw) what s is made of */
    double *bar;   /* (ndraw) */
    double *at;    /* (ndeed) p before each deed */
    double *now;   /* (np) */
};

tribo_random_def tribo_default_random(void) {
    return (tribo_random_def){
        .struct_size = sizeof(tribo_random_def), .a = 1, .b = 1, .lower = -(double)INFINITY, .upper = (double)INFINITY};
}

/* ---- names ---- */

/* Whether all n letters of name are what the pattern says: `*` anything, `?` a letter. */
static bool matches(const char *pattern, const char *name, size_t n) {
    const char *star = NULL, *again = name, *end = name + n;
    while (name < end) {
        if (*pattern == '*')
            star = ++pattern, again = name;
        else if (*pattern && (*pattern == '?' || *pattern == *name))
            pattern++, name++;
        else if (star) /* the last star takes one letter more */
            pattern = star, name = ++again;
        else
            return false;
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

/* Whether it is the parameter's name, or a group's that it is in: what stands before a slash. */
static bool names(const char *pattern, const char *name) {
    for (size_t k = 0;; k++) {
        if ((name[k] == '/' || !name[k]) && matches(pattern, name, k)) return true;
        if (!name[k]) return false;
    }
}

static bool is_pattern(const char *name) {
    return strpbrk(name, "*?") != NULL;
}

/* Numbers of p that a name means, in their order. @param index [out] (np) */
static int named(const tribo_model *m, const char *name, int *index) {
    int n = 0;
    if (!is_pattern(name)) return tribo_param_group(m, name, index, m->size.np);
    for (int i = 0; i < m->size.np; i++) {
        tribo_param_info info;
        if (tribo_param_describe(m, i, &info) == TRIBO_OK && info.used && names(name, info.name)) index[n++] = i;
    }
    return n;
}

/* A number for what a parameter shares its draw with. */
static int64_t sharer(const tribo_model *m, tribo_share share, int index) {
    ti_number own = ti_number_of(m, index);
    int body = -1;
    if (share == TRIBO_SHARE_ALL) return 0;
    if (share == TRIBO_SHARE_NONE) return index;
    if (own.part == TI_PART_BODY) body = own.owner;
    if (own.part == TI_PART_JOINT || own.part == TI_PART_FREE) body = m->joint[own.owner].body;
    if (own.part == TI_PART_GEOM) body = m->geom[own.owner].body;
    if (own.part == TI_PART_SITE) body = m->site[own.owner].body;
    if (own.part == TI_PART_GEARS) own.part = TI_PART_ACTUATOR;
    return body >= 0 ? body : ((int64_t)own.part + 1) << 32 | own.owner;
}

/* ---- creation ---- */

typedef struct making {
    tribo_random *r; /* counts alone while its arrays are NULL */
    int *index;      /* (np) */
    int64_t *sharer; /* (np) of the draws of the randomiser at hand */
    tribo_diag *diag;
} making;

static tribo_status wrong(tribo_diag *diag, int k, const char *what) {
    return ti_fail(diag, TRIBO_E_ARG, 0, "randomiser %d: %s", k, what);
}

static tribo_status check_numbers(const row *d, int k, tribo_diag *diag) {
    double both[2] = {d->a, d->b};
    if (!ti_finite(both, 2)) return wrong(diag, k, "is of numbers that are not finite");
    if (d->draw == TRIBO_DRAW_NORMAL) return d->b >= 0 ? TRIBO_OK : wrong(diag, k, "has a standard deviation below 0");
    if (d->draw == TRIBO_DRAW_LOGUNIFORM && !(d->a > 0))
        return wrong(diag, k, "has a logarithm of what is not above 0");
    return d->a <= d->b ? TRIBO_OK : wrong(diag, k, "ends before it begins");
}

static tribo_status check_def(const tribo_random_def *d, int k, tribo_diag *diag) {
    if (d->struct_size != sizeof *d)
        return ti_fail(diag, TRIBO_E_DEF, 0, "randomiser %d was not made by tribo_default_random()", k);
    if (d->nname < 1 || !d->name) return wrong(diag, k, "names nothing");
    if ((unsigned)d->draw >= TRIBO_DRAW_END) return wrong(diag, k, "there is no such distribution");
    if ((unsigned)d->share > TRIBO_SHARE_NONE) return wrong(diag, k, "there is no such way to share");
    if (!(d->lower <= d->upper)) return wrong(diag, k, "its bounds hold nothing");
    if (d->power && !ti_finite(d->power, (size_t)d->nname)) return wrong(diag, k, "has a power that is not finite");
    return check_numbers(&(row){d->draw, d->a, d->b}, k, diag);
}

/* The draw of what number `index` shares it with, among those from `base` on. */
static int draw_of(making *g, const tribo_random_def *d, int base, int index) {
    int64_t who = sharer(g->r->model, d->share, index);
    int k = 0;
    while (base + k < g->r->ndraw && g->sharer[k] != who) k++;
    if (base + k == g->r->ndraw) {
        g->sharer[k] = who;
        if (g->r->first) g->r->first[g->r->ndraw] = g->r->ndeed;
        g->r->ndraw++;
    }
    return base + k;
}

/* Does a randomiser act on a number already, among the deeds before `end`? */
static bool has_deed(const tribo_random *r, int end, int k, int index) {
    for (int i = end; i-- > 0 && r->deed[i].row == k;)
        if (r->deed[i].index == index) return true;
    return false;
}

static tribo_status add_name(making *g, const tribo_random_def *d, int k, int j, int base) {
    tribo_random *r = g->r;
    int n = d->name[j] ? named(r->model, d->name[j], g->index) : 0, others = r->ndeed;
    if (n == 0)
        return ti_fail(g->diag, TRIBO_E_ARG, 0, "randomiser %d: there is no parameter `%s`", k,
                       d->name[j] ? d->name[j] : "");
    for (int i = 0; i < n; i++, r->ndeed++) {
        int index = g->index[i], draw = draw_of(g, d, base, index);
        tribo_param_info info;
        if (!r->deed || tribo_param_describe(r->model, index, &info) != TRIBO_OK) continue;
        if (has_deed(r, others, k, index))
            return ti_fail(g->diag, TRIBO_E_ARG, 0, "randomiser %d: it names `%s` twice", k, info.name);
        r->deed[r->ndeed] = (deed){.row = k,
                                   .draw = draw,
                                   .index = index,
                                   .power = d->power ? d->power[j] : 1,
                                   .lower = ti_max(d->lower, info.lower),
                                   .upper = ti_min(d->upper, info.upper),
                                   .add = d->add};
    }
    return TRIBO_OK;
}

static tribo_status add_rows(making *g, const tribo_random_def *def, int n) {
    tribo_status s = TRIBO_OK;
    g->r->ndeed = g->r->ndraw = 0;
    for (int k = 0; k < n && s == TRIBO_OK; k++) {
        int base = g->r->ndraw;
        if (g->r->row) g->r->row[k] = (row){def[k].draw, def[k].a, def[k].b};
        for (int j = 0; j < def[k].nname && s == TRIBO_OK; j++) s = add_name(g, &def[k], k, j, base);
    }
    return s;
}

static void lay_out(tribo_random *r, ti_arena *a) {
    TI_CARVE(a, r->row, r->nrow);
    TI_CARVE(a, r->deed, r->ndeed);
    TI_CARVE(a, r->first, r->ndraw);
    TI_CARVE(a, r->p, r->np);
    TI_CARVE(a, r->s, r->ndraw);
    TI_CARVE(a, r->noise, r->ndraw);
    TI_CARVE(a, r->bar, r->ndraw);
    TI_CARVE(a, r->at, r->ndeed);
    TI_CARVE(a, r->now, r->np);
}

/* Counted, taken, filled. */
static tribo_status make(making *g, tribo_random *size, const tribo_random_def *def, int n, const tribo_allocator *a,
                         tribo_random **out) {
    g->r = size;
    tribo_status s = add_rows(g, def, n);
    if (s != TRIBO_OK) return s;
    ti_arena arena = {0};
    tribo_random *r;
    TI_CARVE(&arena, r, 1);
    lay_out(size, &arena);
    size->bytes = arena.used;
    if (!ti_arena_take(&arena, a)) return ti_fail(g->diag, TRIBO_E_NOMEM, 0, "no memory for randomisers");
    TI_CARVE(&arena, r, 1);
    *r = *size;
    lay_out(r, &arena);
    g->r = r;
    s = add_rows(g, def, n);
    tribo_model_params(r->model, r->p);
    if (s == TRIBO_OK)
        *out = r;
    else
        tribo_random_free(r);
    return s;
}

tribo_status tribo_random_new(const tribo_model *m, const tribo_random_def *def, int n, uint64_t seed,
                              const tribo_allocator *a, tribo_random **out, tribo_diag *diag) {
    if (!m || !out || n < 0 || (n > 0 && !def)) return ti_fail(diag, TRIBO_E_ARG, 0, "no model, or no randomisers");
    for (int k = 0; k < n; k++) {
        tribo_status s = check_def(&def[k], k, diag);
        if (s != TRIBO_OK) return s;
    }
    making g = {.diag = diag};
    tribo_random size = {.model = m, .np = m->size.np, .nrow = n, .seed = seed};
    ti_arena scratch = {0};
    if (a) size.alloc = *a;
    TI_CARVE(&scratch, g.index, size.np);
    TI_CARVE(&scratch, g.sharer, size.np);
    size_t bytes = scratch.used;
    void *block = ti_arena_take(&scratch, a);
    if (!block) return ti_fail(diag, TRIBO_E_NOMEM, 0, "no memory for randomisers");
    TI_CARVE(&scratch, g.index, size.np);
    TI_CARVE(&scratch, g.sharer, size.np);
    tribo_status s = make(&g, &size, def, n, a, out);
    ti_free(a, block, bytes);
    return s;
}

void tribo_random_free(tribo_random *r) {
    if (!r) return;
    tribo_allocator a = r->alloc;
    ti_free(&a, r, r->bytes);
}

/* ---- what is asked of it ---- */

int tribo_random_draws(const tribo_random *r) {
    return r ? r->ndraw : 0;
}

int tribo_random_describe(const tribo_random *r, int k, char *name) {
    tribo_param_info info;
    if (!r || k < 0 || k >= r->ndraw) return -1;
    const deed *d = &r->deed[r->first[k]];
    if (name && tribo_param_describe(r->model, d->index, &info) == TRIBO_OK) memcpy(name, info.name, sizeof info.name);
    return d->row;
}

void tribo_random_get(const tribo_random *r, double *phi) {
    for (int k = 0; r && phi && k < r->nrow; k++) phi[2 * k] = r->row[k].a, phi[2 * k + 1] = r->row[k].b;
}

tribo_status tribo_random_set(tribo_random *r, const double *phi) {
    if (!r || !phi) return TRIBO_E_ARG;
    if (!ti_finite(phi, 2 * (size_t)r->nrow)) return TRIBO_E_NONFINITE;
    for (int k = 0; k < r->nrow; k++)
        if (check_numbers(&(row){r->row[k].draw, phi[2 * k], phi[2 * k + 1]}, k, NULL) != TRIBO_OK) return TRIBO_E_ARG;
    for (int k = 0; k < r->nrow; k++) r->row[k].a = phi[2 * k], r->row[k].b = phi[2 * k + 1];
    return TRIBO_OK;
}

/* ---- draws ---- */

/* In (0, 1), by nothing but its arguments. */
static double uniform(uint64_t seed, uint64_t world, uint64_t number) {
    const uint64_t step = 0x9e3779b97f4a7c15u;
    uint64_t z = ti_mix(ti_mix(ti_mix(seed + step) + (world + 1) * step) + (number + 1) * step);
    return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

/* Of draw k what does not depend on a and b, and s. */
static void draw(tribo_random *r, int64_t world, int k) {
    const row *d = &r->row[r->deed[r->first[k]].row];
    double xi = uniform(r->seed, (uint64_t)world, 2 * (uint64_t)k);
    if (d->draw == TRIBO_DRAW_NORMAL) {
        double turn = uniform(r->seed, (uint64_t)world, 2 * (uint64_t)k + 1);
        xi = sqrt(-2 * log(xi)) * cos(6.283185307179586 * turn);
        r->s[k] = d->a + d->b * xi;
    } else if (d->draw == TRIBO_DRAW_LOGUNIFORM) {
        r->s[k] = d->a == d->b ? d->a : exp((1 - xi) * log(d->a) + xi * log(d->b));
    } else {
        r->s[k] = (1 - xi) * d->a + xi * d->b;
    }
    r->noise[k] = xi;
}

static double acted(const deed *d, double p, double s) {
    return d->add ? p + d->power * s : p * (d->power == 1 ? s : pow(s, d->power));
}

/* r->now becomes the parameters of a world. */
static void draw_world(tribo_random *r, const double *p, int64_t world) {
    memcpy(r->now, p ? p : r->p, sizeof *r->now * (size_t)r->np);
    for (int k = 0; k < r->ndraw; k++) draw(r, world, k);
    for (int i = 0; i < r->ndeed; i++) {
        const deed *d = &r->deed[i];
        double to = acted(d, r->now[d->index], r->s[d->draw]);
        r->at[i] = r->now[d->index];
        r->now[d->index] = to < d->lower ? d->lower : to > d->upper ? d->upper : to;
    }
}

tribo_status tribo_random_rows(tribo_random *r, const double *p, int64_t first, int n, double *P, double *s) {
    if (!r || !P || n < 0 || first < 0) return TRIBO_E_ARG;
    for (int i = 0; i < n; i++) {
        draw_world(r, p, first + i);
        memcpy(P + (size_t)i * (size_t)r->np, r->now, sizeof *P * (size_t)r->np);
        if (s) memcpy(s + (size_t)i * (size_t)r->ndraw, r->s, sizeof *s * (size_t)r->ndraw);
    }
    return TRIBO_OK;
}

/* ---- reverse ---- */

/* Back through deed i, from the cotangent of what it made; @return that of s. */
static double undo(const tribo_random *r, int i, double *bar) {
    const deed *d = &r->deed[i];
    double s = r->s[d->draw], to = acted(d, r->at[i], s), out = *bar;
    if (to < d->lower || to > d->upper) return *bar = 0;
    if (d->add) return d->power * out;
    double scale = d->power == 1 ? s : pow(s, d->power);
    *bar = out * scale;
    return out * r->at[i] * (d->power == 1 ? 1 : d->power * pow(s, d->power - 1));
}

/* From the cotangent of draw k to those of a and b. */
static void undraw(const tribo_random *r, int k, double bar, double *phi_bar) {
    const int at = r->deed[r->first[k]].row;
    const row *d = &r->row[at];
    double xi = r->noise[k], by_a = 1 - xi, by_b = xi;
    if (d->draw == TRIBO_DRAW_NORMAL) by_a = 1;
    if (d->draw == TRIBO_DRAW_LOGUNIFORM) by_a *= r->s[k] / d->a, by_b *= r->s[k] / d->b;
    phi_bar[2 * at] += by_a * bar, phi_bar[2 * at + 1] += by_b * bar;
}

tribo_status tribo_random_rows_vjp(tribo_random *r, const double *p, int64_t first, int n, const double *P_bar,
                                   double *phi_bar, double *p_bar) {
    if (!r || !P_bar || n < 0 || first < 0) return TRIBO_E_ARG;
    for (int w = 0; w < n; w++) {
        draw_world(r, p, first + w);
        double *bar = r->now, *s_bar = r->bar;
        memcpy(bar, P_bar + (size_t)w * (size_t)r->np, sizeof *bar * (size_t)r->np);
        memset(s_bar, 0, sizeof *s_bar * (size_t)r->ndraw);
        for (int i = r->ndeed; i-- > 0;) s_bar[r->deed[i].draw] += undo(r, i, &bar[r->deed[i].index]);
        for (int k = 0; phi_bar && k < r->ndraw; k++) undraw(r, k, s_bar[k], phi_bar);
        for (int i = 0; p_bar && i < r->np; i++) p_bar[i] += bar[i];
    }
    return TRIBO_OK;
}
