/* test_big_worlds.c -- what grows with the bodies and what must not; which geoms can touch, without a table of them. */
#include "model/possible.h"
#include "test_main.h"
#include "worlds.h"
#include <malloc.h>
#include <unistd.h>

/* ---- memory ---- */

static void *count_alloc(void *ctx, size_t bytes, size_t align) {
    *(size_t *)ctx += bytes;
    return aligned_alloc(align, bytes);
}
static void count_release(void *ctx, void *p, size_t bytes, size_t align) {
    (void)align;
    *(size_t *)ctx -= bytes;
    free(p);
}

/* Spheres and boxes a metre apart, the first three resting side by side on the floor, the others in the air. */
static tribo_model *apart(int n, const tribo_allocator *a) {
    size_t room = 200 * (size_t)n + 400;
    char *text = malloc(room), *at = text;
    ck_assert_ptr_nonnull(text);
    at += sprintf(at, "<mujoco><worldbody><geom type='plane' size='0 0 1'/>");
    for (int i = 0, side = (int)ceil(sqrt(n)); i < n; i++) {
        double x = i < 3 ? 0.2 * i : 1. * (i % side), y = i < 3 ? 0 : 1. * (i / side) + 1, z = i < 3 ? 0.1 : 100;
        at += sprintf(at, "<body pos='%g %g %g'><freejoint/><geom type='%s' size='0.1 0.1 0.1' mass='1'/></body>\n", x,
                      y, z, i % 2 ? "sphere" : "box");
    }
    sprintf(at, "</worldbody></mujoco>");
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_msg(tribo_model_load_memory(text, strlen(text), "apart", a, &m, &diag) == TRIBO_OK, "%s", diag.text);
    free(text);
    return m;
}

static size_t model_bytes(int n) {
    size_t bytes = 0;
    const tribo_allocator a = {.alloc = count_alloc, .release = count_release, .ctx = &bytes};
    tribo_model *m = apart(n, &a);
    size_t used = bytes; /* the builder's are released */
    tribo_model_free(m);
    ck_assert_uint_eq(bytes, 0);
    return used;
}

static size_t workspace_bytes(int n) {
    size_t bytes = 0;
    const tribo_allocator a = {.alloc = count_alloc, .release = count_release, .ctx = &bytes};
    tribo_model *m = apart(n, NULL);
    tribo_options o = tribo_default_options();
    o.ncon_max = 2 * n;
    tribo_ws *ws;
    ck_assert_int_eq(tribo_ws_new(m, &o, &a, &ws, NULL), TRIBO_OK);
    size_t used = bytes;
    tribo_ws_free(ws);
    tribo_model_free(m);
    return used;
}

START_TEST(memory_is_linear_in_bodies) {
    ck_assert_uint_lt(model_bytes(8000), (size_t)(4.05 * (double)model_bytes(2000)));
    ck_assert_uint_lt(model_bytes(2000), 2000 * 1000);
    ck_assert_uint_lt(workspace_bytes(1600), (size_t)(4.05 * (double)workspace_bytes(400)));
}
END_TEST

/* Of this process, bytes that are really there. */
static double resident(void) {
    long all = 0, here = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    ck_assert(f && fscanf(f, "%ld %ld", &all, &here) == 2);
    fclose(f);
    return (double)here * (double)sysconf(_SC_PAGESIZE);
}

/* Where nothing touches, contacts cost nothing; a table of pairs would be 1.6 GB, bits of it 50 MB. */
START_TEST(twenty_thousand_bodies_step) {
    enum { N = 20000, FEW = 3 };
    tribo_model *many = apart(N, NULL), *few = apart(FEW, NULL);
    tribo_options o = tribo_default_options();
    tribo_ws *ws, *one;
#ifdef __GLIBC__
    mallopt(M_PERTURB, 0); /* which writes to all that is allocated */
#endif
    double before = resident();
    ck_assert_int_eq(tribo_ws_new(many, &o, NULL, &ws, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_ws_new(few, &o, NULL, &one, NULL), TRIBO_OK);
    tribo_sizes n = tribo_model_sizes(many), k = tribo_model_sizes(few);
    double *p = world_zeros(n.np), *x = world_zeros(n.nx), *p_few = world_zeros(k.np), *x_few = world_zeros(k.nx);
    tribo_model_params(many, p), tribo_model_params(few, p_few);
    tribo_model_state0(many, x), tribo_model_state0(few, x_few);
    x[n.nq] = x_few[k.nq] = 0.5; /* the first body slides into the next */
    for (int step = 0; step < 5; step++) {
        ck_assert_int_eq(tribo_step(ws, p, x, NULL, x, NULL), TRIBO_OK);
        ck_assert_int_eq(tribo_step(one, p_few, x_few, NULL, x_few, NULL), TRIBO_OK);
        ck_assert_int_eq(tribo_last_info(ws)->ncon, tribo_last_info(one)->ncon);
        ck_assert_int_gt(tribo_last_info(ws)->nactive, 0);
        ck_assert_mem_eq(x, x_few, sizeof *x * (size_t)k.nq); /* the others make no difference, to the bit */
        ck_assert_mem_eq(x + n.nq, x_few + k.nq, sizeof *x * (size_t)k.nv);
    }
    ck_assert_double_lt(resident() - before, 4e3 * N);
    ck_assert_double_eq_tol(x[n.nq + 6 * (N - 1) + 2], -9.81 * 5 * 0.002, 1e-12);
    free(p), free(x), free(p_few), free(x_few);
    tribo_ws_free(ws), tribo_ws_free(one);
    tribo_model_free(many), tribo_model_free(few);
}
END_TEST

/* A step that finds more contacts than there is room for says how many. */
START_TEST(too_many_contacts_are_counted) {
    tribo_model *m = apart(3, NULL);
    tribo_sizes n = tribo_model_sizes(m);
    double *p = world_zeros(n.np), *x = world_zeros(n.nx);
    tribo_model_params(m, p), tribo_model_state0(m, x);
    tribo_options o = tribo_default_options();
    o.ncon_max = 2;
    tribo_ws *ws;
    ck_assert_int_eq(tribo_ws_new(m, &o, NULL, &ws, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_step(ws, p, x, NULL, x, NULL), TRIBO_E_CAPACITY);
    int wanted = tribo_last_info(ws)->ncon;
    ck_assert_int_gt(wanted, 2);
    tribo_ws_free(ws);
    o.ncon_max = wanted;
    ck_assert_int_eq(tribo_ws_new(m, &o, NULL, &ws, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_step(ws, p, x, NULL, x, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_last_info(ws)->ncon, wanted);
    ck_assert_ptr_nonnull(strstr(tribo_status_text(TRIBO_E_CAPACITY), "ncon_max"));
    free(p), free(x);
    tribo_ws_free(ws), tribo_model_free(m);
}
END_TEST

/* ---- which geoms can touch ---- */

static int draw(unsigned *state, int n) {
    return (int)(0.5 * (test_random(state) + 1) * n);
}

/* What a test goes by: the rules once more, in the plainest words. */
typedef struct rules {
    int nbody, ngeom, npair, nexclude;
    int parent[40], joints[40], body[80], pair[20][2], exclude[20][2];
    tribo_geom_def geom[80];
} rules;

static void draw_rules(rules *r, unsigned *state) {
    *r = (rules){.nbody = 1 + draw(state, 12), .ngeom = 2 + draw(state, draw(state, 2) ? 60 : 12)};
    for (int i = 0; i < r->nbody; i++) {
        r->parent[i] = i > 0 && draw(state, 2) ? i - 1 : TRIBO_WORLD;
        r->joints[i] = r->parent[i] >= 0 && draw(state, 3) > 0;
    }
    for (int g = 0; g < r->ngeom; g++) {
        tribo_geom_def *d = &r->geom[g];
        *d = tribo_default_geom();
        d->shape = draw(state, 2) ? TRIBO_SPHERE : TRIBO_BOX;
        d->size[0] = d->size[1] = d->size[2] = 0.1 + 0.1 * draw(state, 3);
        d->contype = 1u + (uint32_t)draw(state, 2), d->conaffinity = (uint32_t)draw(state, 4);
        d->priority = draw(state, 8) == 0, d->material.friction = draw(state, 3), d->material.slop = draw(state, 2);
        d->margin = 0.1 * draw(state, 3), d->gap = 0.05 * draw(state, 3);
        r->body[g] = g < r->nbody ? g : draw(state, r->nbody + 1) - 1;
    }
    for (int tries = draw(state, 8); tries > 0; tries--) {
        int a = draw(state, r->ngeom), b = draw(state, r->ngeom), same = r->body[a] == r->body[b];
        for (int k = 0; k < r->npair; k++)
            same = same || (r->pair[k][0] == a && r->pair[k][1] == b) || (r->pair[k][0] == b && r->pair[k][1] == a);
        if (!same) r->pair[r->npair][0] = a, r->pair[r->npair++][1] = b;
    }
    for (int k = draw(state, 6); k > 0; k--, r->nexclude++)
        for (int side = 0; side < 2; side++) r->exclude[r->nexclude][side] = draw(state, r->nbody + 1) - 1;
}

static tribo_model *build_rules(const rules *r) {
    tribo_builder *b = tribo_builder_new(NULL);
    for (int i = 0; i < r->nbody; i++) {
        tribo_body_def d = tribo_default_body();
        d.parent = r->parent[i], d.inertia_given = true, d.mass = 1;
        for (int k = 0; k < 3; k++) d.inertia[k] = 1;
        ck_assert_int_eq(tribo_add_body(b, &d), i);
        tribo_joint_def j = tribo_default_joint();
        if (r->joints[i]) ck_assert_int_ge(tribo_add_joint(b, i, &j), 0);
    }
    for (int g = 0; g < r->ngeom; g++) ck_assert_int_eq(tribo_add_geom(b, r->body[g], &r->geom[g]), g);
    for (int k = 0; k < r->npair; k++) {
        tribo_pair_def d = tribo_default_pair();
        d.geom_a = r->pair[k][0], d.geom_b = r->pair[k][1], d.margin = 0.3;
        ck_assert_int_eq(tribo_add_pair(b, &d), k);
    }
    for (int k = 0; k < r->nexclude; k++) tribo_add_exclude(b, r->exclude[k][0], r->exclude[k][1]);
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_msg(tribo_build(b, &m, &diag) == TRIBO_OK, "%s", diag.text);
    return m;
}

static int own_of(const rules *r, int i, int j) {
    for (int k = 0; k < r->npair; k++)
        if ((r->pair[k][0] == i && r->pair[k][1] == j) || (r->pair[k][0] == j && r->pair[k][1] == i)) return k;
    return -1;
}

static int root_of(const rules *r, int body) { /* what it is welded to */
    while (body >= 0 && r->parent[body] >= 0 && !r->joints[body]) body = r->parent[body];
    return body;
}

static bool may(const rules *r, int i, int j) {
    int a = r->body[i], b = r->body[j];
    const tribo_geom_def *x = &r->geom[i], *y = &r->geom[j];
    if (a == b) return false;
    if (own_of(r, i, j) >= 0) return true;
    for (int k = 0; k < r->nexclude; k++)
        if ((r->exclude[k][0] == a && r->exclude[k][1] == b) || (r->exclude[k][0] == b && r->exclude[k][1] == a))
            return false;
    if (a >= 0 && b >= 0) {
        int p = root_of(r, a), q = root_of(r, b);
        if (p == q || (r->parent[p] >= 0 && root_of(r, r->parent[p]) == q)) return false;
        if (r->parent[q] >= 0 && root_of(r, r->parent[q]) == p) return false;
    }
    return (x->contype & y->conaffinity) || (y->contype & x->conaffinity);
}

/* Whether friction (0) or slop (1) of geom i counts against j. */
static bool wins(const rules *r, int i, int j, int which) {
    const tribo_geom_def *x = &r->geom[i], *y = &r->geom[j];
    double a = which ? x->material.slop : x->material.friction, b = which ? y->material.slop : y->material.friction;
    if (x->priority != y->priority) return x->priority > y->priority;
    return a > b || (a == b && i < j);
}

static bool count_visit(void *ctx, int i, int j) {
    int(*seen)[80] = ctx;
    seen[i][j]++, seen[j][i]++;
    return true;
}

static void check_pair(const tribo_model *m, const rules *r, int i, int j, bool *counts) {
    ti_pair pair;
    int own = own_of(r, i, j), friction = TI_P_MATERIAL + TI_M_FRICTION, slop = TI_P_MATERIAL + TI_M_SLOP;
    ck_assert(ti_pair_of(m, i, j, &pair));
    ck_assert_int_eq(pair.a + pair.b, i + j);
    ck_assert(m->geom[pair.a].shape <= m->geom[pair.b].shape);
    ck_assert_double_le(pair.margin, fmax(m->geom[i].margin, m->geom[j].margin) + 1e-15);
    if (own >= 0) {
        ck_assert_int_eq(pair.material[0], m->size.np - (m->size.npair - own) * TI_P_PAIR);
        ck_assert_double_eq(pair.margin, 0.3);
        return;
    }
    double margin = fmax(r->geom[i].margin, r->geom[j].margin) - fmax(r->geom[i].gap, r->geom[j].gap);
    ck_assert_double_eq(pair.margin, margin);
    int who = wins(r, i, j, 0) ? i : j, lax = wins(r, i, j, 1) ? i : j;
    ck_assert_int_eq(pair.material[TI_M_FRICTION], m->geom[who].p + friction);
    ck_assert_int_eq(pair.material[TI_M_SLOP], m->geom[lax].p + slop);
    counts[m->geom[who].p + friction] = counts[m->geom[lax].p + slop] = true;
}

START_TEST(pairs_are_those_of_the_rules) {
    unsigned state = 5;
    static rules r;
    static int seen[80][80];
    int listed = 0, touching = 0;
    for (int trial = 0; trial < 400; trial++) {
        draw_rules(&r, &state);
        tribo_model *m = build_rules(&r);
        bool *counts = calloc((size_t)m->size.np, sizeof *counts), touches[80] = {false};
        ti_pair_walk walk = {0};
        int n = 0;
        memset(seen, 0, sizeof seen);
        ti_pairs_visit(m, count_visit, seen);
        for (int i = 0; i < r.ngeom; i++)
            for (int j = i + 1; j < r.ngeom; j++) {
                ck_assert_int_eq(ti_can_touch(m, i, j), may(&r, i, j));
                ck_assert_int_eq(ti_can_touch(m, j, i), may(&r, i, j));
                ck_assert_int_eq(seen[i][j], may(&r, i, j));
                if (!may(&r, i, j)) continue;
                touches[i] = touches[j] = true;
                check_pair(m, &r, i, j, counts);
                ck_assert(ti_pair_next(m, &walk) && walk.pair.a + walk.pair.b == i + j && (walk.i == i));
                if (m->nlisted >= 0)
                    ck_assert_mem_eq(m->listed[n].material, walk.pair.material, sizeof walk.pair.material);
                n++;
            }
        ck_assert(!ti_pair_next(m, &walk));
        ck_assert_int_eq(m->nlisted, n < TI_PAIRS_LISTED ? n : -1);
        for (int g = 0; g < r.ngeom; g++) {
            int at = m->geom[g].p, friction = at + TI_P_MATERIAL + TI_M_FRICTION, slop = at + TI_P_MATERIAL + TI_M_SLOP;
            ck_assert_int_eq(m->used[at + TI_P_SIZE], touches[g]);
            ck_assert_int_eq(m->used[at + TI_P_POS], touches[g]);
            ck_assert_int_eq(m->used[friction], counts[friction]);
            ck_assert_int_eq(m->used[slop], counts[slop]);
        }
        listed += m->nlisted >= 0, touching += n;
        free(counts);
        tribo_model_free(m);
    }
    ck_assert_int_gt(listed, 100);
    ck_assert_int_lt(listed, 390);
    ck_assert_int_gt(touching, 10000);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("big_worlds");
    TCase *t = tcase_create("big_worlds");
    tcase_add_test(t, memory_is_linear_in_bodies);
    tcase_add_test(t, twenty_thousand_bodies_step);
    tcase_add_test(t, too_many_contacts_are_counted);
    tcase_add_test(t, pairs_are_those_of_the_rules);
    suite_add_tcase(s, t);
    return s;
}
