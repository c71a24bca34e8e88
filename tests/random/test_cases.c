/* test_cases.c -- scenes on which something was once wrong, cases/: what of them has to be right is in the rows below.
 */
#include "judge.h"
#include "test_main.h"

#define BIT(f) (1ul << (f))

static const unsigned long motion_flaws = BIT(STATUS) | BIT(UNCONVERGED) | BIT(ENERGY) | BIT(ENERGY_RUN) |
                                          BIT(MOMENTUM) | BIT(BALANCE) | BIT(MOTION) | BIT(OVERLAP) | BIT(CONE) |
                                          BIT(APPROACH) | BIT(FRICTION);
static const unsigned long gradient_flaws =
    BIT(STATUS) | BIT(THREE_WAYS) | BIT(WRONG) | BIT(EXPLODED) | BIT(SILENT_KINK);
static const unsigned long symmetry_flaws = BIT(ROTATION) | BIT(MIRROR) | BIT(ORDER) | BIT(FRAME) | BIT(UNITS);

typedef struct row {
    const char *file;
    double dt; /* 0: the file's */
    int steps;
    bool gradient;
    bool symmetry;
    double stays;   /* m that the first body may move by; 0: not asked */
    double speed;   /* m/s that nothing may exceed; 0: not asked */
    double push[6]; /* N, N m: the first body's control */
    bool owed;      /* not right yet: to be set to false, and never to true again */
} row;

static const row rows[] = {
    {.file = "ball_on_plate_1000", .steps = 5, .stays = 1e-9},
    {.file = "ball_on_plate_1", .steps = 5, .stays = 1e-9},
    {.file = "two_boxes", .dt = 5e-3, .steps = 80},
    {.file = "two_boxes", .dt = 2e-4, .steps = 2000},
    {.file = "two_boxes", .dt = 1e-3, .steps = 400},
    {.file = "ball_in_corner", .steps = 100, .speed = 0.2},
    {.file = "ball_in_corner_mu1", .steps = 100, .speed = 0.2},
    {.file = "wedged_box", .steps = 1000, .stays = 1e-5, .speed = 1e-2},
    {.file = "ball_touching_0g", .steps = 83},
    {.file = "ball_touching_0g_full", .steps = 83},
    {.file = "wedge_off_the_path", .steps = 5},
    {.file = "bounces_in_one_step", .steps = 8},
    {.file = "fwdrev_593_onestep", .steps = 1, .gradient = true},
    {.file = "fwdrev_seed75", .steps = 1, .gradient = true},
    {.file = "fwdrev_seed174", .steps = 2, .gradient = true},
    {.file = "fwdrev_seed593", .steps = 4, .gradient = true},
    {.file = "fwdrev_seed62463", .steps = 1, .gradient = true},
    {.file = "kink_seed579", .steps = 1, .gradient = true},
    {.file = "kink_seed378", .steps = 1, .gradient = true},
    {.file = "kink_seed512", .steps = 1, .gradient = true},
    {.file = "grad_seed236", .steps = 2, .gradient = true},
    {.file = "silent_700649", .steps = 9, .gradient = true},
    {.file = "silent_700622", .steps = 4, .gradient = true},
    {.file = "stack_at_rest", .steps = 10, .gradient = true},
    {.file = "stack_of_six", .steps = 8, .gradient = true},
    {.file = "overlap_at_rest", .steps = 9, .gradient = true},
    {.file = "overlap_weightless", .steps = 2, .gradient = true},
    {.file = "taken_out_by_a_blow", .steps = 2, .gradient = true},
    {.file = "falling_together", .steps = 5, .gradient = true},
    {.file = "jammed", .steps = 2, .gradient = true},
    {.file = "only_just_held",
     .steps = 1,
     .speed = 1e-12,
     .push = {2.6567595835940963, -20.170304303246986, -4.5937658840167295, -0.15670686593788696, 0.046879292811061513,
              -0.18628056722639411}},
    {.file = "bounce_without_friction", .steps = 1, .gradient = true},
    {.file = "bounce_into_another", .steps = 1, .gradient = true},
    {.file = "corners_in_turn", .steps = 30},
    {.file = "hit_before_the_step", .steps = 1},
    {.file = "rocks_on_edges", .steps = 20},
    {.file = "rocks_on_edges", .steps = 20, .gradient = true},
    {.file = "rocks_on_round_edges", .steps = 20},
    {.file = "rocks_on_round_edges", .steps = 20, .gradient = true},
    {.file = "tie_of_soft_corners", .steps = 1},
    {.file = "corner_from_any_side", .steps = 1, .symmetry = true},
    {.file = "corner_from_any_side", .steps = 4, .gradient = true},
    {.file = "pushed_by_a_spin", .steps = 1},
    {.file = "uneven_squeeze", .steps = 30},
    {.file = "uneven_squeeze", .steps = 30, .gradient = true},
    {.file = "mirror_62058", .steps = 1, .symmetry = true},
    {.file = "mirror_62120", .steps = 1, .symmetry = true},
    {.file = "mirror_71120", .steps = 1, .symmetry = true},
    {.file = "light_between_heavy",
     .steps = 1,
     .symmetry = true,
     .push = {4.2543992744290664, 6.3912521563321043, 17.417027956750086, 0, 0, 0}},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* How far the first body goes, and how fast any, in a run. */
static void travel(const scene *s, double *far, double *fast) {
    world w;
    *far = *fast = 0;
    ck_assert(!world_new(&w, s, NULL));
    double x[NX * MAX_BODIES], u[NU * MAX_BODIES], d[3];
    scene_state(s, x), scene_control(s, u);
    for (int k = 0; k < s->steps; k++) {
        if (tribo_step(w.ws, w.p, x, u, x, NULL) < 0) *far = *fast = HUGE_VAL;
        sub(d, x, s->b[0].pos);
        *far = larger(*far, length(d));
        for (int i = 0; i < s->nbody; i++) *fast = larger(*fast, length(x + 7 * s->nbody + 6 * i));
    }
    world_free(&w);
}

/* What is wrong with a row, or an empty text. */
static void judge_row(const row *r, const scene *s, char *text, size_t room) {
    unsigned long flaws = r->gradient ? gradient_flaws : r->symmetry ? motion_flaws | symmetry_flaws : motion_flaws;
    verdict v;
    size_t used = 0;
    text[0] = 0;
    run(s, r->gradient ? WRONG : r->symmetry ? MIRROR : ENERGY, &v);
    for (int f = 0; f < FLAWS; f++)
        if (v.found[f] && (flaws & BIT(f)) && used < room)
            used += (size_t)snprintf(text + used, room - used, "; %s: %s", flaw_word((flaw)f), v.what[f]);
    if (r->gradient && v.claims && 2 * v.unresolved > v.asked[WRONG] && used < room)
        used += (size_t)snprintf(text + used, room - used, "; of %ld differences %ld do not settle", v.asked[WRONG],
                                 v.unresolved);
    double far, fast;
    travel(s, &far, &fast);
    if (r->stays > 0 && !(far <= r->stays) && used < room)
        used += (size_t)snprintf(text + used, room - used, "; moved by %.3g m", far);
    if (r->speed > 0 && !(fast <= r->speed) && used < room)
        snprintf(text + used, room - used, "; as fast as %.3g m/s", fast);
}

static void judge_and_tell(const row *r, const scene *s) {
    char text[2000];
    judge_row(r, s, text, sizeof text);
    if (r->owed) {
        printf("%s, %d steps: %s%s\n", r->file, r->steps, *text ? "owed" : "right now: strike `owed`", text);
        return;
    }
    ck_assert_msg(!*text, "%s%s", r->file, text);
}

START_TEST(case_is_right) {
    const row *r = &rows[_i];
    const char *folder = getenv("TRIBO_CASES");
    char path[512];
    snprintf(path, sizeof path, "%s/%s.xml", folder ? folder : "tests/random/cases", r->file);
    scene s;
    tribo_diag diag = {0};
    ck_assert_msg(scene_load(&s, path, &diag), "%s: %s", path, diag.text);
    s.steps = s.horizon = r->steps;
    if (r->dt > 0) s.dt = r->dt;
    memcpy(s.b[0].force, r->push, sizeof s.b[0].force);
    memcpy(s.b[0].torque, r->push + 3, sizeof s.b[0].torque);
    judge_and_tell(r, &s);
}
END_TEST

/* A row of boxes that overlap one another and the walls by 0.1 mm is pushed apart no faster than the recovery speed. */
START_TEST(row_of_four_is_not_thrown) {
    scene s = {.nbody = 4, .dt = 1e-3, .gravity = {0, 0, -9.81}, .recovery = 1, .steps = 200, .horizon = 1};
    geom box = {.shape = TRIBO_BOX, .size = {0.1, 0.1, 0.1}, .quat = {1}, .friction = 0.5, .baumgarte = 1};
    s.g[s.ngeom] = box, s.g[s.ngeom].body = TRIBO_WORLD, s.g[s.ngeom++].shape = TRIBO_PLANE;
    for (int i = 0; i < 4; i++) {
        box.body = i, s.g[s.ngeom++] = box;
        s.b[i] = (solid){.pos = {i * 0.1999, 0, 0.1}, .quat = {1}, .mass = 8};
        for (int k = 0; k < 3; k++) s.b[i].inertia[k] = 8 * 0.02 / 3;
    }
    for (int side = 0; side < 2; side++) {
        box.body = TRIBO_WORLD, box.size[1] = box.size[2] = 1;
        box.pos[0] = side ? 3 * 0.1999 + 0.1999 : -0.1999;
        s.g[s.ngeom++] = box;
    }
    static const row r = {.file = "row of four", .steps = 200, .speed = 1};
    judge_and_tell(&r, &s);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("cases");
    TCase *t = tcase_create("cases");
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(t, case_is_right, 0, ROWS);
    tcase_add_test(t, row_of_four_is_not_thrown);
    suite_add_tcase(s, t);
    return s;
}
