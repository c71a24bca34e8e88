/* optimize.c -- the verb `optimize`: controls and feedback of a task, through contact, by gradient. */
#include "files.h"
#include "optimization.h"
#include "progress.h"
#include "recordings.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the search ---- */

static void say(const optimization *o, bool now) {
    const tribo_trajopt_progress *p = &o->progress;
    char stage[40] = "";
    if (o->task->def.nstage) snprintf(stage, sizeof stage, " stage %d of %d", p->stage + 1, o->task->def.nstage + 1);
    progress_state(now, "pass %4d%s  cost %.8g  hard %.8g  expected %.2g  step %.3g", p->iteration, stage, p->cost,
                   p->cost_hard, p->expected, p->step);
}

int optimize_search(optimization *o, long passes) {
    double started = seconds_now();
    for (long k = 0; k < passes && !o->progress.done; k++) {
        tribo_status s = tribo_trajopt_iterate(o->t, &o->progress);
        if (s == TRIBO_INTERRUPTED) break;
        if (s < 0) return input_message(o->a->scene, 0, "the search failed: %s", step_text(s, 0));
        say(o, k == 0 || o->progress.done);
        o->late = o->a->seconds > 0 && progress_seconds() > o->a->seconds && !o->progress.done;
        if (o->late) break;
    }
    o->interrupted = *interrupts_flag;
    o->seconds += seconds_now() - started;
    return EXIT_SUCCESS;
}

/* Why a search of second order may end at once. */
static void advise(const optimization *o) {
    if (o->progress.converged || !o->progress.done || o->acted) return;
    for (int i = 0; i < o->task->def.nterm; i++)
        if (o->task->term[i].kind == TRIBO_TERM_CONTROL) return;
    remark(&verb_optimize, "no term is of the controls: a small one ({\"what\": \"control\", \"weight\": 1e-6}) tells "
                           "those that nothing else weighs");
}

/* Where nothing depends on controls, to do nothing is a minimum. */
static void advise_motion(const optimization *o) {
    double most = 0;
    if (!o->progress.converged || o->progress.cost == 0) return;
    for (int k = 0; k < o->done.knots; k++)
        for (int i = 0; i < o->task->def.ncontrol; i++)
            most = fmax(most, fabs(o->done.U[k * o->task->size.nu + o->task->control[i]]));
    if (most < 1e-6)
        remark(
            &verb_optimize,
            "no control changes the cost from here, in a motion of %g s, as where nothing is touched yet or friction "
            "holds: begin with another \"guess\", or with \"stages\" (docs/control.md)",
            o->task->def.knots * knot_seconds(o->task));
}

/* A number of p by its owner and its own name; NaN where there is none. */
static double number_of(const optimization *o, const char *owner, const char *name) {
    char whole[300];
    snprintf(whole, sizeof whole, "%s/%s", owner, name);
    int i = tribo_param_find(o->m, whole);
    return i >= 0 ? o->task->p[i] : (double)NAN;
}

/* The largest speed of a joint of one number along the motion found. */
static double fastest(const optimization *o, int joint) {
    const tribo_sizes *z = &o->task->size;
    double most = 0;
    for (int i = 0; i < o->done.rows; i++)
        most = fmax(most, fabs(o->done.x[i * z->nx + z->nq + tribo_model_joint_v(o->m, joint)]));
    return most;
}

/* What is light winds up, and no model of second order follows it. */
static void advise_joint(const optimization *o) {
    const char *which = NULL;
    double most = 20; /* rad/s */
    if (o->progress.converged || o->acted) return;
    for (int j = 0; j < o->task->size.njoint; j++) {
        const char *name = tribo_model_joint_name(o->m, j);
        bool light = number_of(o, name, "armature") == 0 && number_of(o, name, "damping") == 0;
        double speed = light ? fastest(o, j) : 0;
        if (speed > most) which = name, most = speed;
    }
    if (which)
        remark(&verb_optimize,
               "joint %s comes to a speed of %.0f and has neither armature nor damping, which every motor brings: a "
               "search is slow where a joint is light (docs/control.md, An arm reaches)",
               which, most);
}

/* ---- the verb ---- */

static int set_up(optimization *o) {
    const optimize_arguments *a = o->a;
    task_changes changes = {.guess = a->guess,
                            .noise = a->stage_noise,
                            .nnoise = a->nstage,
                            .nlaw = a->nlaw,
                            .law_word = a->law_word,
                            .law_value = a->law_value};
    tribo_diag diag = {0};
    int status = task_file_read(a->task, o->m, &changes, &o->task);
    if (status != EXIT_SUCCESS) return status;
    tribo_trajopt_def *def = &o->task->def;
    def->workers = (int)(a->workers > 0 ? a->workers : processors());
    def->stop = interrupts_flag;
    if (a->method >= 0) def->method = (tribo_method)a->method;
    tribo_status s = tribo_trajopt_new(o->m, def, &o->t, &diag);
    if (!diag.line) diag.line = o->task->line_begun; /* what else a file may hold was looked at when it was read */
    return s < 0 ? input_error(a->task, s, &diag) : EXIT_SUCCESS;
}

static int conclude(optimization *o) {
    int status = EXIT_SUCCESS;
    if (o->a->receding && !o->acted) remark(&verb_optimize, "nothing was acted; what follows is the first plan");
    if (o->interrupted) remark(&verb_optimize, "interrupted; what follows is the best so far");
    if (o->late) remark(&verb_optimize, "out of time; what follows is the best so far");
    advise(o);
    if (!o->acted && !o->progress.done && !o->interrupted && tribo_trajopt_settle(o->t) != TRIBO_OK)
        remark(&verb_optimize, "the feedback is that of the last pass");
    if (!o->acted) status = optimize_replay(o);
    if (!o->acted && status == EXIT_SUCCESS) advise_motion(o), advise_joint(o);
    progress_state(false, "writing");
    if (status == EXIT_SUCCESS) status = optimize_write(o);
    line_clear();
    if (status == EXIT_SUCCESS && o->a->json) {
        json_t *all = optimize_json(o);
        if (!json_write(stdout, all, true)) status = trouble("the result could not be written");
        json_decref(all);
    } else if (status == EXIT_SUCCESS) {
        optimize_print(o);
    }
    if (status == EXIT_SUCCESS && fflush(stdout)) status = trouble("the result could not be written");
    if (status == EXIT_SUCCESS && o->interrupted) status = EXIT_TROUBLE;
    if (status == EXIT_SUCCESS && !o->acted && !o->progress.converged) status = EXIT_NOT_CONVERGED;
    if (status == EXIT_SUCCESS && o->acted < o->a->receding) status = EXIT_NOT_CONVERGED;
    return status;
}

static int optimize(const optimize_arguments *a) {
    optimization o = {.a = a};
    progress_begin();
    int status = scene_load(a->scene, &o.m);
    interrupts_catch();
    if (status == EXIT_SUCCESS) status = set_up(&o);
    if (status == EXIT_SUCCESS && a->receding) status = optimize_recede_begin(&o);
    if (status == EXIT_SUCCESS) status = optimize_check_outputs(a);
    if (status == EXIT_SUCCESS) {
        long passes = a->iterations ? a->iterations : o.task->iterations ? o.task->iterations : 1000;
        o.progress.iteration = 0;
        tribo_trajopt_progress first = {0};
        if (tribo_trajopt_solve(o.t, 0, &first) >= 0) o.first_cost = first.cost, o.progress = first;
        status = optimize_search(&o, passes);
        o.passes = o.progress.iteration;
    }
    if (status == EXIT_SUCCESS && a->receding) status = optimize_recede(&o);
    if (status == EXIT_SUCCESS) status = conclude(&o);
    progress_end();
    optimize_recede_end(&o);
    tribo_trajopt_free(o.t);
    task_file_free(o.task), task_file_free(o.acted_task);
    motion_free(&o.done);
    free(o.cost);
    tribo_model_free(o.m), tribo_model_free(o.other);
    return status;
}

/* ---- the command line ---- */

static int take_law(optimize_arguments *a, int code) {
    static tribo_law_options tried;
    if (law_option(&verb_optimize, code, optarg, &tried)) return EXIT_USAGE;
    if (a->nlaw == (int)(sizeof a->law_word / sizeof *a->law_word))
        return usage_error(&verb_optimize, "too many options of a law");
    a->law_word[a->nlaw] = tribo_law_word(code - LAW_OPTION);
    a->law_value[a->nlaw++] = optarg ? optarg : "1";
    return EXIT_SUCCESS;
}

/* none, or NOISE,NOISE,... */
static int take_stages(optimize_arguments *a) {
    char copy[512];
    a->nstage = 0;
    if (strcmp(optarg, "none") == 0) return EXIT_SUCCESS;
    bool good = strlen(optarg) < sizeof copy;
    if (good) memcpy(copy, optarg, strlen(optarg) + 1);
    for (char *at = good ? copy : NULL, *end; at && good; at = end) {
        end = strchr(at, ',');
        if (end) *end++ = 0;
        good = a->nstage < 32 && parse_number(at, 1e-9, 1e3, &a->stage_noise[a->nstage++]);
    }
    return good ? EXIT_SUCCESS
                : usage_error(&verb_optimize, "--stages takes none or deviations in m/s, as 0.3,0.1, not %s", optarg);
}

/* One option's value. @return exit status. */
static int take(optimize_arguments *a, int code) {
    const verb *v = &verb_optimize;
    switch (code) {
    case 'i':
        return parse_whole(v, "--iterations takes a number", 1, 100000000, &a->iterations);
    case 'w':
        return parse_whole(v, "--workers takes a number", 1, 64, &a->workers);
    case 'R':
        return parse_whole(v, "--receding takes a number of knots", 1, 1000000, &a->receding);
    case 'e':
        return parse_whole(v, "--every takes a number of knots", 1, 1000000, &a->every);
    case 'p':
        return parse_whole(v, "--passes takes a number", 1, 1000000, &a->passes);
    case 'm':
        a->method = choose_word(v, "--method", "ddp|ilqr|newton|first|lbfgs", optarg);
        return a->method >= 0 ? EXIT_SUCCESS : EXIT_USAGE;
    case 's':
        return take_stages(a);
    case 't':
        return parse_positive(v, "--time takes seconds above 0", 1e9, &a->seconds);
    case 'Y':
        return parse_whole(v, "--act-delay takes a number of knots", 1, 1000000, &a->act_delay);
    case 'D':
        return parse_positive(v, "--act-dt takes a time above 0 s", 1e3, &a->act_dt);
    default:
        if (code == 'o') a->out = optarg;
        if (code == 'g') a->guess = optarg;
        if (code == 'S') a->act_scene = optarg;
        if (code == 'L') a->act_law = optarg;
        if (code == 'j') a->json = true;
        return code >= LAW_OPTION ? take_law(a, code) : scene_option(v, code, optarg);
    }
}

static int complete(optimize_arguments *a) {
    const verb *v = &verb_optimize;
    if (!a->scene) return usage_error(v, "which scene?");
    if (!a->task) return usage_error(v, "which task? A file like {\"knots\": 100, \"terms\": [...]}: docs/control.md");
    if (!a->receding && (a->every || a->passes || a->act_scene || a->act_law || a->act_dt > 0 || a->act_delay))
        return usage_error(v, "--every, --passes and those that begin with --act go with --receding");
    if (!a->every) a->every = 1;
    if (!a->passes) a->passes = 1;
    return EXIT_SUCCESS;
}

static int run(int argc, char **argv) {
    const verb *v = &verb_optimize;
    optimize_arguments a = {.method = -1, .nstage = -1, .argc = argc, .argv = argv};
    int status = EXIT_SUCCESS;
    for (int code; status == EXIT_SUCCESS && (code = next_option(v, argc, argv)) != -1;) {
        if (code < 0) return option_exit(code);
        if (code != 1)
            status = take(&a, code);
        else if (a.scene && a.task)
            status = usage_error(v, "one scene and one task, not also %s", optarg);
        else
            *(a.scene ? &a.task : &a.scene) = optarg;
    }
    if (status == EXIT_SUCCESS) status = complete(&a);
    return status == EXIT_SUCCESS ? optimize(&a) : status;
}

static const option_row rows[] = {
    {"out", 'o', "DIR|FILE.csv",
     "trajectory.csv, controls.csv (for `tribo simulate --controls`), feedback.txt, result.json, states.svg, "
     "controls.svg; FILE.csv: the trajectory alone",
     false},
    {"guess", 'g', "FILE.csv", "controls to begin with (the task's)", false},
    {"iterations", 'i', "N", "passes at most (the task's, or 1000)", false},
    {"method", 'm', "ddp|ilqr|newton|first|lbfgs", "ddp, ilqr, Newton, first order, or L-BFGS (the task's, or ddp)",
     false},
    {"stages", 's', "none|NOISE,...",
     "smooth contact on the way by the stochastic law under this noise, m/s, and then no more; none: not (the task's)",
     false},
    {"workers", 'w', "N", "threads (all processors); no bit depends on them", false},
    {"time", 't', "S", "no pass begins later than that many seconds", false},
    {"receding", 'R', "N", "act N knots: plan, act, shift the plan, and plan again", false},
    {"every", 'e', "M", "knots acted, by feedback, from plan to plan (1)", false},
    {"passes", 'p', "P", "of every plan but the first (1)", false},
    {"act-law", 'L', "L[,WORD=VALUE...]", "the contact law that is acted on (what is planned on)", false},
    {"act-scene", 'S', "SCENE", "the scene that is acted on (what is planned on)", false},
    {"act-dt", 'D', "S", "the step that is acted on, s (what is planned on)", false},
    {"act-delay", 'Y', "N", "knots that a control acts later than it is asked for; the plan knows nothing of it",
     false},
    {"json", 'j', NULL, "the result as JSON on standard output", false},
    {0}};
const verb verb_optimize = {
    .name = "optimize",
    .summary = "find the controls of a task, and feedback",
    .operands = "SCENE TASK.json",
    .about =
        "Finds controls that lower the cost of a task, through contact, and linear feedback around them. What a task "
        "may hold is in docs/control.md; what is wrong in one is answered by file and line.",
    .options = rows,
    .groups = {&group_scene, &group_step, &group_law},
    .notes = "Progress goes to standard error. Ctrl-C stops the search and writes the best so far.",
    .statuses = "0; 2 usage; 3 bad input; 4 it did not converge, or the motion ended early; 130 interrupted, the best "
                "so far written",
    .example = "  tribo optimize cart-pole.xml cart-pole.json --out out/swing",
    .run = run,
};
