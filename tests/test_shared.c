/* test_shared.c -- bodies that stand on more geoms than hold them: what is counted, and that it is what is so. */
#include "models.h"
#include "test_main.h"
#include "worlds.h"

#define SCENE(bodies) "<mujoco><option timestep='.002'/><worldbody>" bodies "</worldbody></mujoco>"
#define FLOOR "<geom type='plane' size='9 9 1' friction='.7'/>"
#define ICE "<geom type='plane' size='9 9 1' friction='0' priority='1'/>"
#define MATTER "<inertial pos='.01 .02 0' mass='2' diaginertia='.01 .012 .02'/>"
#define TABLE(feet) FLOOR "<body pos='0 0 .1'><freejoint/>" MATTER feet "</body>"
#define FOOT(x, y, z) "<geom type='sphere' size='.02' pos='" #x " " #y " " #z "'/>"
#define THREE FOOT(.1, .1, -.08) FOOT(-.1, .1, -.08) FOOT(.02, -.1, -.08)
#define FOUR FOOT(.1, .1, -.08) FOOT(-.1, .1, -.08) FOOT(-.1, -.1, -.08)
#define BLOCK(x) "<geom type='box' size='.1 .1 .05' pos='" #x " 0 -.05'/>"
#define CUBE(joints) "<body pos='0 0 .1'>" joints "<geom type='box' size='.1 .1 .1' mass='1'/></body>"
#define BALL "<geom name='ball' size='.05' mass='.5' condim='4' friction='.9 .1 .01'/>"
#define TILTED(x) "<geom type='plane' size='9 9 1' pos='" #x " 0 0' zaxis='" #x " 0 .1'/>"

static const struct standing {
    const char *name, *xml;
    double v[6]; /* as it begins */
    int shared;
} STANDING[] = {
    {"three feet", SCENE(TABLE(THREE)), {0}, 0},
    {"four feet", SCENE(TABLE(FOUR FOOT(.1, -.1, -.08))), {0}, 4},
    {"four feet that slide and turn", SCENE(TABLE(FOUR FOOT(.1, -.1, -.08))), {-.3, -.1, 0, 0, 0, .2}, 4},
    {"one of four lifted", SCENE(TABLE(FOUR FOOT(.1, -.1, -.07))), {0}, 0},
    {"a box", SCENE(FLOOR CUBE("<freejoint/>")), {0}, 0},
    {"a box across two blocks", SCENE(BLOCK(-.15) BLOCK(.15) CUBE("<freejoint/>")), {0}, 8},
    {"a box in a corner of walls that it leans on", SCENE(FLOOR TILTED(-1) TILTED(1) CUBE("<freejoint/>")), {0}, 0},
    {"a box in a plane",
     SCENE(FLOOR CUBE("<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
                      "<joint axis='0 1 0'/>")),
     {0},
     4},
    {"a capsule in a plane",
     SCENE(
         FLOOR
         "<body pos='0 0 .1'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/><joint axis='0 1 0'/>"
         "<geom type='capsule' size='.1 .2' euler='0 90 0' mass='1'/></body>"),
     {0},
     0},
    {"a hinge at its limit, on the floor",
     SCENE(ICE "<body pos='-.5 0 .1'><joint axis='0 1 0' range='-20 0'/>"
               "<geom size='.1' pos='.5 0 0' mass='1'/></body>"),
     {0},
     2},
    {"a hinge on the floor",
     SCENE(ICE "<body pos='-.5 0 .1'><joint axis='0 1 0' range='-20 20'/>"
               "<geom size='.1' pos='.5 0 0' mass='1'/></body>"),
     {0},
     0},
    {"four feet, and a ball that strikes what stands on them and does not spin",
     "<mujoco><option timestep='.002'/><custom><numeric name='ball/restitution' data='.5'/></custom><worldbody>"
     "<body pos='.02 .01 .161'><freejoint/>" BALL "</body>" TABLE(
         FOUR FOOT(.1, -.1, -.08) "<geom type='box' size='.15 .15 .01' friction='.9'/>") "</worldbody></mujoco>",
     {.1, 0, -1, 0, 0, .3},
     4},
};

/* Slopes (nv) of the next velocities by parameter i on one side. */
static void side(world *w, int i, double h, double *slope) {
    double *x = world_zeros(w->n.nx), *dx = world_zeros(w->n.ndx), keep = w->p[i];
    w->p[i] = keep + h;
    ck_assert_int_ge(tribo_step(w->ws, w->p, w->x0, NULL, x, NULL), 0);
    w->p[i] = keep;
    tribo_state_difference(w->m, w->X + w->n.nx, x, dx);
    for (int k = 0; k < w->n.nv; k++) slope[k] = dx[w->n.nv + k] / h;
    free(x), free(dx);
}

/* Whether parameter i has two slopes; where it has one, that is the derivative's. */
static bool is_kinked(world *w, int i, const char *name, const double *C) {
    double *above = world_zeros(w->n.nv), *below = world_zeros(w->n.nv), unit = 1;
    bool kinked = false;
    side(w, i, 1e-7, above), side(w, i, -1e-7, below);
    for (int k = 0; k < w->n.nv; k++) unit = fmax(unit, fmax(fabs(above[k]), fabs(below[k])));
    for (int k = 0; k < w->n.nv; k++) kinked = kinked || fabs(above[k] - below[k]) > 1e-2 * unit;
    for (int k = 0; k < w->n.nv && !kinked; k++) {
        double c = C[(w->n.nv + k) * w->n.np + i];
        ck_assert_msg(fabs(c - above[k]) <= 1e-4 * unit, "%s: %g of v[%d], not %g", name, c, k, above[k]);
    }
    free(above), free(below);
    return kinked;
}

static bool is_of_parts(tribo_param_kind kind) {
    return kind == TRIBO_PARAM_SIZE || kind == TRIBO_PARAM_POS || kind == TRIBO_PARAM_QUAT || kind == TRIBO_PARAM_RANGE;
}

/* What is counted has two slopes by the place, turn or size of some geom, or a range, and one by all else; what is not
 * has one by everything. */
START_TEST(more_geoms_than_hold_are_counted) {
    const struct standing *s = &STANDING[_i];
    world w = world_of(model_of(s->xml), NULL);
    for (int k = 0; k < w.n.nv && k < 6; k++) w.x0[w.n.nq + k] = s->v[k];
    world_steps(&w, 1);
    world_run(&w);
    const tribo_step_info *info = tribo_last_info(w.ws);
    int kinked = 0;
    double *A = world_zeros(w.n.ndx * w.n.ndx), *C = world_zeros(w.n.ndx * w.n.np);
    ck_assert_msg(info->nshared == s->shared && info->ndegenerate == s->shared, "%s: %d, %d", s->name, info->nshared,
                  info->ndegenerate);
    ck_assert(info->margin > 1e-3);
    ck_assert_int_eq(tribo_step_jac(w.ws, w.tape, 0, A, NULL, C), TRIBO_OK);
    for (int i = 0; i < w.n.np; i++) {
        tribo_param_info q;
        ck_assert_int_eq(tribo_param_describe(w.m, i, &q), TRIBO_OK);
        if (!q.used || w.p[i] - q.lower < 1e-6 || q.upper - w.p[i] < 1e-6 || q.kind == TRIBO_PARAM_INERTIA) continue;
        bool two = is_kinked(&w, i, q.name, C);
        ck_assert_msg(!two || is_of_parts(q.kind), "%s: %s has two slopes", s->name, q.name);
        kinked += two;
    }
    ck_assert_msg((kinked > 0) == (s->shared > 0), "%s: %d parameters have two slopes", s->name, kinked);
    free(A), free(C);
    world_free(&w);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("shared loads");
    TCase *t = tcase_create("counted");
    tcase_add_loop_test(t, more_geoms_than_hold_are_counted, 0, (int)(sizeof STANDING / sizeof *STANDING));
    suite_add_tcase(s, t);
    return s;
}
