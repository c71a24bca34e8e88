/* gradcheck.c -- the verb `gradcheck`: is the gradient of this scene right? */
#include "gradcheck.h"
#include "common.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <tribo/tribo.h>

typedef struct arguments {
    const char *scene, *start;
    long steps, seed;
    double tol; /* 0 = by the number of steps */
    bool json;
    tribo_law_options law;
} arguments;

static json_t *result_json(const arguments *a, const grad_task *task, const grad_result *r) {
    json_t *all = json_object(), *blocks = json_array();
    json_object_set_new(all, "scene", json_string(a->scene));
    json_object_set_new(all, "steps", json_integer(a->steps));
    json_object_set_new(all, "seed", json_integer(a->seed));
    json_object_set_new(all, "tolerance", json_number(task->tol));
    json_object_set_new(all, "worst_relative_error", json_number(r->worst));
    json_object_set_new(all, "worst_forward_reverse", json_number(r->worst_dot));
    json_object_set_new(all, "worst_step_forward_reverse", json_number(r->steps.reverse));
    json_object_set_new(all, "worst_step_jacobian", json_number(r->steps.jacobian));
    json_object_set_new(all, "left_out", json_number(r->left_out));
    const char *flaw = grad_flaw(task, r);
    json_object_set_new(all, "ok", json_boolean(!flaw));
    if (flaw) json_object_set_new(all, "flaw", json_string(flaw));
    json_object_set_new(all, "residual", json_number(r->info.residual));
    json_object_set_new(all, "margin", json_number(r->info.margin));
    json_object_set_new(all, "degenerate", json_integer(r->info.ndegenerate));
    json_object_set_new(all, "shared", json_integer(r->info.nshared));
    for (int i = 0; i < GRAD_BLOCKS; i++) {
        const grad_block *b = &r->block[i];
        if (!b->entries) continue;
        json_t *block = json_object();
        json_object_set_new(block, "block", json_string(grad_block_names[i]));
        json_object_set_new(block, "entries", json_integer(b->entries));
        json_object_set_new(block, "checked", json_integer(b->checked));
        json_object_set_new(block, "kinks", json_integer(b->kinks));
        json_object_set_new(block, "jumps", json_integer(b->jumps));
        json_object_set_new(block, "open", json_integer(b->open));
        json_object_set_new(block, "bounds", json_integer(b->bounds));
        json_object_set_new(block, "largest", json_number(b->largest));
        json_object_set_new(block, "relative_error", json_number(b->worst));
        json_object_set_new(block, "noise", json_number(b->noise));
        json_object_set_new(block, "forward_reverse", json_number(b->worst_dot));
        json_array_append_new(blocks, block);
    }
    json_object_set_new(all, "blocks", blocks);
    return all;
}

static void print_table(const grad_task *task, const grad_result *r) {
    printf("%-12s %8s %8s %6s %6s %6s %7s %10s %11s %9s %11s\n", "block", "entries", "checked", "kinks", "jumps",
           "open", "bounds", "largest", "rel. error", "noise", "fwd vs rev");
    for (int i = 0; i < GRAD_BLOCKS; i++) {
        const grad_block *b = &r->block[i];
        if (b->entries)
            printf("%-12s %8d %8d %6d %6d %6d %7d %10.3g %11.2g %9.1g %11.2g\n", grad_block_names[i], b->entries,
                   b->checked, b->kinks, b->jumps, b->open, b->bounds, b->largest, b->worst, b->noise, b->worst_dot);
    }
    printf("worst %.2g (%s %.0e); contact residual %.1e, margin %.1e, degenerate contacts %d (%d by single geoms)\n",
           r->worst, r->worst <= task->tol ? "within" : "NOT within", task->tol, r->info.residual, r->info.margin,
           r->info.ndegenerate, r->info.nshared);
    printf("of a step, reverse and forward differ by %.1e, Jacobian and forward by %.1e, at most; left out %.0f %%\n",
           r->steps.reverse, r->steps.jacobian, 100 * r->left_out);
    const char *flaw = grad_flaw(task, r);
    if (flaw) printf("NOT right: %s\n", flaw);
}

static int check_scene(const arguments *a, const tribo_model *m) {
    enum { PER_BLOCK = 12 };
    grad_task task = {.model = m, .steps = (int)a->steps, .seed = (uint64_t)a->seed, .per_block = PER_BLOCK};
    grad_result result;
    double *x0 = calloc((size_t)tribo_model_sizes(m).nx + 1, sizeof *x0);
    if (!x0) return trouble("no memory");
    tribo_model_state0(m, x0);
    int status = a->start ? scene_start(a->start, m, x0) : EXIT_SUCCESS;
    if (status == EXIT_SUCCESS) {
        task.x0 = x0;
        task.tol = a->tol > 0 ? a->tol : a->steps == 1 ? 1e-6 : 1e-5;
        task.options = step_options();
        task.options.law = a->law;
        /* Most solves of the ladder end at rounding; asking more of those that cannot costs all of it. What another
         * solver answers is polished to rounding from where it stops by itself. */
        tribo_law_options scene = tribo_model_law(m);
        tribo_law law = a->law.law ? a->law.law : scene.law ? scene.law : TRIBO_LAW_NCP;
        tribo_solver solver = a->law.solver ? a->law.solver : tribo_law_solver(law, 0);
        bool ladder = law == TRIBO_LAW_NCP && solver == TRIBO_SOLVER_LADDER;
        if (ladder || a->law.raw) task.options.tol = 1e-11;
        tribo_status s = grad_check(&task, &result);
        if (s < 0)
            status = input_message(a->scene, 0, "%s", step_text(s, 0));
        else
            status = grad_flaw(&task, &result) ? EXIT_NOT_CONVERGED : EXIT_SUCCESS;
    }
    if (status == EXIT_SUCCESS || status == EXIT_NOT_CONVERGED) {
        json_t *all = a->json ? result_json(a, &task, &result) : NULL;
        if (a->json)
            json_write(stdout, all, true);
        else
            print_table(&task, &result);
        json_decref(all);
        if (fflush(stdout) != 0 || ferror(stdout)) status = trouble("the result could not be written");
    }
    free(x0);
    return status;
}

static int run(int argc, char **argv) {
    arguments a = {.steps = 1, .seed = 1};
    const verb *v = &verb_gradcheck;
    for (int code; (code = next_option(v, argc, argv)) != -1;) {
        if (code < 0) return option_exit(code);
        if (scene_option(v, code, optarg)) return EXIT_USAGE;
        if (code >= LAW_OPTION && law_option(v, code, optarg, &a.law)) return EXIT_USAGE;
        if (code == 1 && a.scene) return usage_error(v, "one scene, not also %s", optarg);
        if (code == 1) a.scene = optarg;
        if (code == 'n' && parse_whole(v, "--steps takes a whole number", 1, 100000, &a.steps)) return EXIT_USAGE;
        if (code == 's' && parse_whole(v, "--seed takes a whole number", 0, 1000000000, &a.seed)) return EXIT_USAGE;
        if (code == 't' && parse_positive(v, TOL_RANGE, 1, &a.tol)) return EXIT_USAGE;
        if (code == 'x') a.start = optarg;
        if (code == 'j') a.json = true;
    }
    if (!a.scene) return usage_error(v, "which scene?");
    tribo_model *m = NULL;
    int status = scene_load(a.scene, &m);
    tribo_law_options scene = {0};
    if (status == EXIT_SUCCESS) {
        scene = tribo_model_law(m);
        status = law_check(v, a.scene, &a.law, &scene);
    }
    if (status == EXIT_SUCCESS) status = check_scene(&a, m);
    tribo_model_free(m);
    return status;
}

static const option_row rows[] = {
    {"steps", 'n', "N", "steps (1)", false},
    {"seed", 's', "N", "of the loss, of small forces, and of which arguments are compared (1)", false},
    {"start", 'x', "FILE.csv", "start from its first row instead of the scene's start", false},
    {"tol", 't', "T", "relative error allowed in a block (1e-6 for one step, 1e-5 for more)", false},
    {"json", 'j', NULL, "JSON instead of a table", false},
    {0}};
const verb verb_gradcheck = {
    .name = "gradcheck",
    .summary = "compare the gradient of a scene's motion with differences",
    .operands = "SCENE",
    .about = "Simulates steps, differentiates a random loss of the motion by the reverse pass, and compares with "
             "extrapolated differences, block by block: start state, forces, and every kind of parameter. Controls are "
             "those of the scene's first key.",
    .options = rows,
    .groups = {&group_scene, &group_step, &group_law},
    .notes =
        "An error is relative to the largest derivative of its block, less what differences cannot resolve (noise). "
        "Where the motion has a slope on each side (a kink), the reverse has to lie between the two, or where an "
        "argument "
        "alone has kinks too, in the sum of theirs; where it jumps there is none. At most a fifth of the directions "
        "may be kinks, jumps or too noisy to tell.",
    .statuses = "0 all blocks within the tolerance, reverse, tangents and Jacobians alike; 2 usage; 3 bad input; 4 it "
                "is not so, or a step did not converge",
    .example = "  tribo gradcheck stack.xml --steps 50",
    .run = run,
};
