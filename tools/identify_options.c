/* identify_options.c -- the command line of the verb `identify`. */
#include "identification.h"
#include "scene.h"
#include <string.h>

static int choice(const char *text, const char *const *words, int n) {
    for (int i = 0; i < n; i++)
        if (!strcmp(text, words[i])) return i;
    return -1;
}

/* KIND=SIGMA,...: the noise of a kind of measurement, or `out` for one that is to be left out. */
static int take_noise(identify_arguments *a, const char *text) {
    static const char *const kinds[TRIBO_BLOCKS] = {"position", "rotation", "velocity", "angular"};
    char copy[256];
    if (strlen(text) >= sizeof copy) return usage_error(&verb_identify, "--noise: %s is too long", text);
    memcpy(copy, text, strlen(text) + 1);
    for (char *at = copy, *end; at; at = end) {
        end = strchr(at, ',');
        if (end) *end++ = 0;
        char *value = strchr(at, '=');
        double sigma = -1;
        if (value) *value++ = 0;
        int kind = choice(at, kinds, TRIBO_BLOCKS);
        bool good = kind >= 0 && value && (!strcmp(value, "out") || parse_number(value, 1e-12, 1e12, &sigma));
        if (!good)
            return usage_error(&verb_identify,
                               "--noise takes position, rotation, velocity, angular, each =SIGMA or =out, not %s",
                               text);
        a->weight[kind] = sigma > 0 ? 1 / sigma : -1;
    }
    return EXIT_SUCCESS;
}

/* One option's value. @return exit status. */
static int take(identify_arguments *a, int code) {
    static const char *const losses[] = {"one-step", "window", "rollout"};
    const verb *v = &verb_identify;
    int k;
    long window = 0;
    switch (code) {
    case 'l':
        k = choice(optarg, losses, 3);
        if (!strcmp(optarg, "shooting")) k = TRIBO_LOSS_SHOOTING;
        if (!strncmp(optarg, "shooting=", 9) && parse_integer(optarg + 9, 1, 1000000, &window)) k = TRIBO_LOSS_SHOOTING;
        if (!strncmp(optarg, "window=", 7) && parse_integer(optarg + 7, 1, 1000000, &window)) k = TRIBO_LOSS_WINDOW;
        if (k < 0 || (k == TRIBO_LOSS_WINDOW && !window))
            return usage_error(v, "--loss takes one-step, window=N, rollout or shooting[=N], not %s", optarg);
        a->loss = (tribo_loss)k, a->window = (int)window;
        return EXIT_SUCCESS;
    case 'p':
        if ((k = choose_word(v, "--optimizer", "lm|lbfgs|adam", optarg)) < 0) return EXIT_USAGE;
        a->optimizer = (tribo_optimizer)k;
        return EXIT_SUCCESS;
    case 'r':
        if ((k = choose_word(v, "--robust", "none|huber|cauchy", optarg)) < 0) return EXIT_USAGE;
        a->robust = (tribo_robust)k;
        return EXIT_SUCCESS;
    case 'v':
        if (!parse_number(optarg, 0, 0.99, &a->validation))
            return usage_error(v, "--validation takes a share from 0 to 0.99, not %s", optarg);
        return EXIT_SUCCESS;
    case 's':
        return parse_whole(v, "--seed takes a number", 0, 1L << 53, &a->seed);
    case 'n':
        return parse_whole(v, "--search takes a number of evaluations", 0, 100000000, &a->search);
    case 'i':
        return parse_whole(v, "--iterations takes a number", 1, 100000000, &a->iterations);
    case 'w':
        return parse_whole(v, "--workers takes a number", 1, 64, &a->workers);
    case 'k':
        return parse_whole(v, "--folds takes a number of parts", 2, 1000, &a->folds);
    case 'N':
        return take_noise(a, optarg);
    case 'o':
        a->out = optarg;
        return EXIT_SUCCESS;
    default:
        if (code == 'e') a->estimate_start = true;
        if (code == 'j') a->json = true;
        if (code > CONTROLS_OPTION && code <= LATE_OPTION) return recording_option(v, code, optarg, &a->in);
        if (code >= SCENE_OPTION && code < LAW_OPTION) return scene_option(v, code, optarg);
        return code >= LAW_OPTION ? law_option(v, code, optarg, &a->law) : EXIT_SUCCESS;
    }
}

/* Where the values of an option that takes several go; NULL = it takes one. */
static string_list *list_of(identify_arguments *a, int kind) {
    if (kind == CONTROLS_OPTION) return &a->in.controls;
    return kind == 'd' ? &a->in.data : kind == 'f' ? &a->free : kind == 'c' ? &a->compare : NULL;
}

/* What is needed is asked for; what was not said follows from the rest. */
static int complete(identify_arguments *a) {
    const verb *v = &verb_identify;
    if (!a->scene) return usage_error(v, "which scene?");
    if (!a->in.data.n) return usage_error(v, "--data: which recordings?");
    if (!a->free.n) return usage_error(v, "--free: which parameters?");
    if (!a->out) return usage_error(v, "--out: into which folder?");
    if (a->compare.n && !a->folds) a->folds = 5;
    if (a->window < 0) /* no loss was asked for; other optimizers have rollouts only */
        a->loss = a->optimizer == TRIBO_OPT_LM ? TRIBO_LOSS_SHOOTING : TRIBO_LOSS_ROLLOUT, a->window = 0;
    return EXIT_SUCCESS;
}

static int run(int argc, char **argv) {
    const verb *v = &verb_identify;
    identify_arguments a = {.loss = TRIBO_LOSS_SHOOTING,
                            .window = -1,
                            .robust = TRIBO_ROBUST_HUBER,
                            .seed = 1,
                            .search = -1,
                            .iterations = 2000,
                            .argc = argc,
                            .argv = argv};
    int status = EXIT_SUCCESS, last = 0; /* positional arguments after --data or --free are more of the same */
    for (int code; status == EXIT_SUCCESS && (code = next_option(v, argc, argv)) != -1;) {
        if (code < 0) {
            recording_options_free(&a.in), list_free(&a.free), list_free(&a.compare);
            return option_exit(code);
        }
        int kind = code == 1 && a.scene ? last : code;
        string_list *list = list_of(&a, kind);
        if (list) {
            if (!list_add(list, optarg)) status = trouble("no memory");
        } else if (code == 1 && !a.scene) {
            a.scene = optarg;
        } else if (code == 1) {
            status = usage_error(v, "one scene, not also %s", optarg);
        } else {
            status = take(&a, code);
        }
        if (code != 1) last = code;
    }
    if (status == EXIT_SUCCESS) status = complete(&a);
    if (status == EXIT_SUCCESS) status = identify(&a);
    recording_options_free(&a.in), list_free(&a.free), list_free(&a.compare);
    return status;
}

static const option_row rows[] = {
    {"data", 'd', "FILE.csv...",
     "recordings: CSV with the columns NAME.px ... NAME.wz of bodies, NAME.q of joints; any "
     "subset of them",
     true},
    {"free", 'f', "NAME[=START[:MIN:MAX]]...",
     "a parameter (floor/friction), a group (cube/size, cube/inertia, gravity), or what an instrument makes of a "
     "column (cube.p/gain, cube.pz/bias, cube.r/bias, elbow.q/bias); START is the scene's if not given, MIN and MAX "
     "are the physical bounds",
     true},
    {"out", 'o', "DIR", "the folder of result.json, identified.xml and report.html", true},
    {"loss", 'l', "one-step|window=N|rollout|shooting[=N]",
     "from every row to the next, over windows of N rows, whole rollouts, or rollouts from estimated starts that may "
     "be corrected every N rows (3, and intervals with what 6 would say) where something touches (shooting, the "
     "default; with L-BFGS and Adam rollouts)",
     false},
    {"optimizer", 'p', "lm|lbfgs|adam", "Levenberg-Marquardt (default), L-BFGS, Adam", false},
    {"estimate-start", 'e', NULL,
     "start a rollout where the poses before the first contact say, or, in contact from the first row, where the fit "
     "does",
     false},
    {"validation", 'v', "SHARE", "leave this share of the recordings out of the fit and measure on it (0)", false},
    {"folds", 'k', "K", "cross-validation: K fits, each without one part of the recordings, judged on that part",
     false},
    {"compare", 'c', "NAME,NAME...",
     "the same with these of the free parameters alone (none: with the scene as it is), as often as wanted; says which "
     "set predicts best, and which needs least (5 parts without --folds)",
     false},
    {"noise", 'N', "KIND=S,...",
     "standard deviation of position (m), rotation (rad), velocity (m/s), angular (rad/s), so that each counts as much "
     "as it is worth; KIND=out leaves it out (velocities count where no pose was measured, and in one-step losses)",
     false},
    {"seed", 's', "N", "of the choice of those left out, and of the search (1)", false},
    {"robust", 'r', "none|huber|cauchy", "what a large residual counts (huber: linearly)", false},
    {"search", 'n', "N",
     "where the descent gets stuck, N evaluations of a search without derivatives (100 + 50 for each of up to three "
     "parameters, of up to twenty for rollouts; for more, none)",
     false},
    {"iterations", 'i', "N", "at most (2000)", false},
    {"workers", 'w', "N", "threads (all processors, shared by the ranks of a machine); no bit depends on them", false},
    {"json", 'j', NULL, "result.json on standard output, instead of the table", false},
    {0}};
const verb verb_identify = {
    .name = "identify",
    .summary = "find a scene's parameters in recorded motion",
    .operands = "SCENE",
    .about = "Fits parameters of a scene to recordings, says how sure each is and what the recordings leave open, and "
             "writes DIR/result.json, DIR/identified.xml (the scene with the estimates in it) and DIR/report.html.",
    .options = rows,
    .groups = {&group_recordings, &group_scene, &group_step, &group_law},
    .notes =
        "Ctrl-C writes the best so far. Under mpirun recordings are dealt out over the ranks; no bit depends on how "
        "many there are: docs/identify.md.",
    .statuses =
        "0; 2 usage; 3 bad input; 4 --iterations ended before the fit; 130 interrupted, the best so far written",
    .example = "  tribo identify corner.xml --data toss-*.csv --free floor/friction=0.5 cube/mass \\\n"
               "      --out out/fit",
    .run = run,
    .shared = true,
};
