/* test_fault.c -- memory that runs out: whichever allocation fails, there is a status and nothing is lost.
 *
 * To add an operation: a function that does it with the allocator it is given, frees what it made, and returns the
 * status; and a line in OPERATION. */
#include "base/base.h"
#include "test_main.h"
#include <stdio.h>
#include <tribo/tribo.h>

/* Fails the k-th allocation; counts what is alive. */
typedef struct faulty {
    long k, made;
    size_t live;
} faulty;

static void *faulty_alloc(void *ctx, size_t bytes, size_t align) {
    faulty *f = ctx;
    if (++f->made == f->k) return NULL;
    f->live += bytes;
    return aligned_alloc(align, bytes);
}

static void faulty_release(void *ctx, void *p, size_t bytes, size_t align) {
    faulty *f = ctx;
    (void)align;
    f->live -= bytes;
    free(p);
}

static const char SCENE[] =
    "<mujoco><default><geom friction='0.3'/><default class='b'><geom type='box' size='.1 .1 .1'/></default></default>"
    "<worldbody><geom name='floor' type='plane' size='0 0 1'/>"
    "<body name='cube' pos='0 0 1'><freejoint/><geom name='cube' class='b'/></body>"
    "<body name='ball' pos='0 0 2'><freejoint/><geom name='ball' size='.1'/></body></worldbody>"
    "<contact><pair geom1='cube' geom2='ball'/><exclude body1='cube' body2='world'/></contact>"
    "<custom><numeric name='cube/slop' data='0.001'/></custom>"
    "<keyframe><key qpos='0 0 1 1 0 0 0 0 0 2 1 0 0 0'/></keyframe></mujoco>";

static tribo_model *model_of(const tribo_allocator *a, tribo_status *s) {
    tribo_model *m = NULL;
    *s = tribo_model_load_memory(SCENE, strlen(SCENE), "scene", a, &m, NULL);
    return m;
}

static tribo_status load_scene(const tribo_allocator *a) {
    tribo_status s;
    tribo_model_free(model_of(a, &s));
    return s;
}

static void write_scene(const char *path) {
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    fputs(SCENE, f);
    fclose(f);
}

static tribo_status load_scene_file(const tribo_allocator *a) {
    static const char PATH[] = "fault_test.xml";
    write_scene(PATH);
    tribo_model *m = NULL;
    tribo_status s = tribo_model_load(PATH, a, &m, NULL);
    tribo_model_free(m);
    remove(PATH);
    return s;
}

static tribo_status save_scene(const tribo_allocator *a) {
    static const char PATH[] = "fault_test_save.xml";
    write_scene(PATH);
    tribo_model *m = NULL;
    tribo_status s = tribo_model_load(PATH, a, &m, NULL);
    double p[128];
    if (s == TRIBO_OK) {
        tribo_model_params(m, p);
        p[tribo_param_find(m, "cube/mass")] = 2;
        s = tribo_model_save(m, p, PATH, PATH, NULL);
    }
    tribo_model_free(m);
    remove(PATH);
    return s;
}

static tribo_status build_model(const tribo_allocator *a) {
    tribo_builder *b = tribo_builder_new(a);
    tribo_geom_def g = tribo_default_geom();
    double v[6] = {1};
    g.size[0] = 1;
    tribo_body_def body = tribo_default_body();
    int id = tribo_add_body(b, &body);
    for (int i = 0; i < 20; i++) tribo_add_geom(b, id, &g);
    tribo_set_start(b, NULL, v);
    tribo_model *m = NULL;
    tribo_status s = tribo_build(b, &m, NULL);
    tribo_model_free(m);
    return s;
}

static tribo_status load_tables(const tribo_allocator *a) {
    static const char STATES[] = "time,cube.px\n0,1\n1,2\n", FORCES[] = "time,cube.fx\n0,1\n";
    tribo_status s;
    tribo_model *m = model_of(NULL, &s);
    tribo_trajectory *t = NULL;
    tribo_controls *c = NULL;
    s = tribo_trajectory_load_memory(STATES, strlen(STATES), m, a, &t, NULL);
    if (s == TRIBO_OK) s = tribo_controls_load_memory(FORCES, strlen(FORCES), m, a, &c, NULL);
    tribo_trajectory_free(t);
    tribo_controls_free(c);
    tribo_model_free(m);
    return s;
}

/* Workspaces of every law and solver, of a contact problem and of a model. */
static tribo_status workspaces(const tribo_allocator *a) {
    tribo_status s;
    tribo_model *m = model_of(NULL, &s);
    for (tribo_law law = TRIBO_LAW_DEFAULT + 1; law < TRIBO_LAW_END; law++)
        for (int k = 0; s == TRIBO_OK && tribo_law_solver(law, k); k++) {
            tribo_options o = tribo_default_options();
            o.law = (tribo_law_options){.law = law, .solver = tribo_law_solver(law, k)};
            if (law == TRIBO_LAW_STOCHASTIC) o.law.smoothing = TRIBO_SMOOTHING_ERM;
            tribo_contact_ws *c = NULL;
            tribo_ws *ws = NULL;
            tribo_tape *tape = NULL;
            s = tribo_contact_ws_new(4, 12, &o.law, a, &c);
            if (s == TRIBO_OK) s = tribo_ws_new(m, &o, a, &ws, NULL);
            if (s == TRIBO_OK) s = tribo_tape_new(ws, 2, 0, &tape);
            tribo_tape_free(tape);
            tribo_ws_free(ws);
            tribo_contact_ws_free(c);
        }
    tribo_model_free(m);
    return s;
}

/* A recording is looked at by steps of the scene where its poses are whole. */
static tribo_status check_recording(const tribo_allocator *a) {
    enum { ROWS = 20 };
    tribo_status s;
    tribo_model *m = model_of(NULL, &s);
    tribo_checked *c = NULL;
    double time[ROWS], x[ROWS * 26] = {0};
    ck_assert_int_eq(tribo_model_sizes(m).nx, 26);
    for (int k = 0; k < ROWS; k++) {
        time[k] = 0.01 * k;
        tribo_model_state0(m, x + 26 * k);
        for (int b = 0; b < 2; b++) x[26 * k + 7 * b + 2] -= 9.81 / 2 * time[k] * time[k];
    }
    tribo_recording r = {.n = ROWS, .time = time, .x = x};
    s = tribo_checked_new(m, NULL, &r, a, &c, NULL);
    tribo_checked_free(c);
    tribo_model_free(m);
    return s;
}

/* A task of two stages that is searched, begun again, and kept in a library; what fails for want of memory is asked for
 * once more, and is there then. */
static tribo_status plan(const tribo_allocator *a) {
    static const char PATH[] = "fault_test_policies.txt";
    tribo_status s;
    tribo_model *m = model_of(NULL, &s);
    const tribo_law_options law = {.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = 0.1};
    tribo_term_def term = tribo_default_term();
    tribo_trajopt_def def = tribo_default_trajopt();
    tribo_trajopt *t = NULL;
    tribo_policies *l = NULL, *again = NULL;
    tribo_trajopt_progress p = {0};
    double x0[26];
    term.kind = TRIBO_TERM_CONTROL;
    def.knots = 2, def.term = &term, def.nterm = 1, def.stage = &law, def.nstage = 1, def.allocator = a,
    def.workers = 2;
    tribo_model_state0(m, x0);
    s = tribo_trajopt_new(m, &def, &t, NULL);
    while (s == TRIBO_OK && !p.done) {
        s = tribo_trajopt_iterate(t, &p);
        if (s == TRIBO_E_NOMEM) ck_assert(tribo_trajopt_solve(t, 10, &p) == TRIBO_OK);
    }
    if (s == TRIBO_OK) s = tribo_trajopt_shift(t, 1, x0);
    if (s == TRIBO_OK) s = tribo_policies_new(m, tribo_trajopt_ncontrol(t), a, &l);
    if (s == TRIBO_OK) s = tribo_policies_add(l, t, 0, 1);
    if (s == TRIBO_OK) s = tribo_policies_save(l, PATH, NULL);
    if (s == TRIBO_OK) s = tribo_policies_load(PATH, m, a, &again, NULL);
    remove(PATH);
    tribo_policies_free(l), tribo_policies_free(again);
    tribo_trajopt_free(t), tribo_model_free(m);
    return s;
}

/* From the first stage straight to the last: a beginning that fails leaves the search where it was. */
static tribo_status plan_again(const tribo_allocator *a) {
    tribo_status s;
    tribo_model *m = model_of(NULL, &s);
    const tribo_law_options law = {.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = 0.1};
    tribo_term_def term = tribo_default_term();
    tribo_trajopt_def def = tribo_default_trajopt();
    tribo_trajopt *t = NULL;
    tribo_trajopt_progress p = {0};
    double x0[26];
    term.kind = TRIBO_TERM_CONTROL;
    def.knots = 2, def.term = &term, def.nterm = 1, def.stage = &law, def.nstage = 1, def.allocator = a;
    tribo_model_state0(m, x0);
    s = tribo_trajopt_new(m, &def, &t, NULL);
    if (s == TRIBO_OK) s = tribo_trajopt_shift(t, 1, x0);
    if (s == TRIBO_E_NOMEM && t) ck_assert(tribo_trajopt_iterate(t, &p) == TRIBO_OK);
    tribo_trajopt_free(t), tribo_model_free(m);
    return s;
}

/* Scenes with meshes, drives, loops and a ground with hills, from files, and saved. */
static tribo_status scenes(const tribo_allocator *a) {
    static const char *const NAME[] = {"meshes", "driven", "four-bar", "bumpy", "oblique"},
                             OUT[] = "fault_test_out.xml";
    const char *folder = getenv("TRIBO_SCENES");
    tribo_status s = TRIBO_OK;
    for (size_t i = 0; folder && s == TRIBO_OK && i < sizeof NAME / sizeof *NAME; i++) {
        char path[1024];
        double p[2048];
        tribo_model *m = NULL;
        snprintf(path, sizeof path, "%s/%s.xml", folder, NAME[i]);
        s = tribo_model_load(path, a, &m, NULL);
        ck_assert_int_le(tribo_model_sizes(m).np, 2048);
        tribo_model_params(m, p);
        if (s == TRIBO_OK) s = tribo_model_save(m, p, path, OUT, NULL);
        tribo_model_free(m);
        remove(OUT);
    }
    return s;
}

static tribo_status load_robot(const tribo_allocator *a) {
    static const char ROBOT[] =
        "<robot name='r'><link name='base'><collision><geometry><box size='.4 .4 .1'/></geometry></collision></link>"
        "<link name='arm'><inertial><origin xyz='.1 0 0' rpy='.1 .2 .3'/><mass value='2'/><inertia ixx='.03' iyy='.02' "
        "izz='.04' ixy='0' ixz='0' iyz='0'/></inertial><collision><geometry><sphere radius='.05'/></geometry>"
        "</collision></link><joint name='turn' type='revolute'><parent link='base'/><child link='arm'/><axis xyz='0 1 "
        "0'/><limit lower='-1' upper='2' effort='7' velocity='3'/><dynamics damping='.3' "
        "friction='.2'/></joint></robot>";
    tribo_model *m = NULL;
    tribo_status s = tribo_model_load_memory(ROBOT, strlen(ROBOT), "robot", a, &m, NULL);
    tribo_model_free(m);
    return s;
}

/* What else is made of a model: a batch with its draws, dynamics, snapshots; and a program by itself. */
static tribo_status others(const tribo_allocator *a) {
    const char *const every[] = {"cube/mass", "*/friction"};
    tribo_status s;
    tribo_model *m = model_of(NULL, &s);
    tribo_batch_def def = tribo_default_batch();
    tribo_random_def draw = tribo_default_random();
    tribo_batch *b = NULL;
    tribo_random *r = NULL;
    tribo_dynamics *d = NULL;
    tribo_qcqp_ws *q = NULL;
    tribo_ws *ws = NULL;
    tribo_checkpoint *c = NULL;
    def.workers = 2, def.steps = 4, def.sum_controls = true, def.allocator = a;
    draw.name = every, draw.nname = 2, draw.a = 0.5, draw.b = 2, draw.share = TRIBO_SHARE_NONE;
    s = tribo_batch_new(m, &def, &b, NULL);
    if (s == TRIBO_OK) s = tribo_random_new(m, &draw, 1, 1, a, &r, NULL);
    if (s == TRIBO_OK) s = tribo_dynamics_new(m, a, &d);
    if (s == TRIBO_OK) s = tribo_qcqp_ws_new(6, a, &q);
    if (s == TRIBO_OK) s = tribo_ws_new(m, NULL, a, &ws, NULL);
    if (s == TRIBO_OK) s = tribo_checkpoint_new(ws, 3, &c);
    tribo_checkpoint_free(c), tribo_ws_free(ws), tribo_qcqp_ws_free(q), tribo_dynamics_free(d);
    tribo_random_free(r), tribo_batch_free(b), tribo_model_free(m);
    return s;
}

/* A ball that falls, its velocities not measured; a plate that weighs it, and a marker on it, where told. */
static tribo_status fit(const tribo_allocator *a, tribo_loss loss, tribo_optimizer optimizer, bool instruments) {
    enum { ROWS = 8, NX = 26 };
    tribo_status s;
    tribo_model *m = model_of(NULL, &s);
    tribo_free_param f[2] = {tribo_default_free(), tribo_default_free()};
    tribo_sysid_def def = tribo_default_sysid();
    tribo_sysid *id = NULL;
    tribo_progress now;
    tribo_estimate e[2];
    double time[ROWS], x[ROWS * NX], push[ROWS * 3 * 5] = {0};
    for (int k = 0; k < ROWS; k++) {
        time[k] = 0.01 * k;
        tribo_model_state0(m, x + NX * k);
        for (int b = 0; b < 2; b++) x[NX * k + 7 * b + 2] -= 9.7 / 2 * time[k] * time[k];
        for (int i = 14; i < NX; i++) x[NX * k + i] = NAN;
    }
    tribo_recording r[2] = {{.n = ROWS, .time = time, .x = x, .force = instruments ? push : NULL}};
    r[1] = r[0];
    f[0].index = tribo_param_find(m, "gravity/z");
    f[1].index = 2, f[1].column = TRIBO_COLUMN_GAIN, f[1].numbers = 1;
    def.free = f, def.nfree = instruments ? 2 : 1, def.rec = r, def.nrec = 2, def.loss = loss, def.window = 4;
    def.optimizer = optimizer, def.search = 6, def.workers = 2, def.allocator = a;
    s = tribo_sysid_new(m, &def, &id, NULL);
    if (s == TRIBO_OK) s = tribo_sysid_fit(id, 3, &now);
    if (s >= 0) s = tribo_sysid_observe(id, e, NULL, NULL, NULL, NULL);
    tribo_sysid_free(id), tribo_model_free(m);
    return s < 0 ? s : TRIBO_OK;
}

static tribo_status fit_rollouts(const tribo_allocator *a) {
    return fit(a, TRIBO_LOSS_ROLLOUT, TRIBO_OPT_LM, false);
}

static tribo_status fit_windows(const tribo_allocator *a) {
    return fit(a, TRIBO_LOSS_WINDOW, TRIBO_OPT_LBFGS, false);
}

static tribo_status fit_by_shooting(const tribo_allocator *a) {
    return fit(a, TRIBO_LOSS_SHOOTING, TRIBO_OPT_LM, true);
}

static const struct {
    const char *name;
    tribo_status (*run)(const tribo_allocator *a);
} OPERATION[] = {
    {"load a scene", load_scene},
    {"load a scene from a file", load_scene_file},
    {"save a scene", save_scene},
    {"build a model", build_model},
    {"load tables", load_tables},
    {"workspaces of every law", workspaces},
    {"check a recording", check_recording},
    {"plan", plan},
    {"plan again", plan_again},
    {"scenes", scenes},
    {"load a robot", load_robot},
    {"batch, dynamics, snapshots", others},
    {"fit rollouts", fit_rollouts},
    {"fit windows", fit_windows},
    {"fit by shooting", fit_by_shooting},
};

START_TEST(every_allocation_may_fail) {
    const char *name = OPERATION[_i].name;
    for (long k = 1;; k++) {
        faulty f = {.k = k};
        tribo_allocator a = {faulty_alloc, faulty_release, &f};
        tribo_status s = OPERATION[_i].run(&a);
        ck_assert_msg(f.live == 0, "%s: allocation %ld of %ld failed: %zu bytes lost", name, k, f.made, f.live);
        if (f.made < k) {
            ck_assert_msg(s == TRIBO_OK, "%s: status %d without a failure", name, s);
            ck_assert_msg(k > 1, "%s: allocates nothing", name);
            break;
        }
        ck_assert_msg(s == TRIBO_E_NOMEM, "%s: allocation %ld failed: status %d", name, k, s);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("fault");
    TCase *t = tcase_create("fault");
    tcase_add_loop_test(t, every_allocation_may_fail, 0, (int)(sizeof OPERATION / sizeof *OPERATION));
    suite_add_tcase(s, t);
    return s;
}
