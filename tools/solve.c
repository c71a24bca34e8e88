/* solve.c -- the verb `solve`: a file of problems in, one line of JSON an answer out. */
#define _POSIX_C_SOURCE 200809L
#include "answer.h"
#include "common.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool blank(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!isspace((unsigned char)text[i])) return false;
    return true;
}

/* Answer one line; a line that cannot be answered says so and does not stop the others. */
static int solve_line(const char *path, int number, const char *text, size_t length, const answer_options *o) {
    json_t *answer;
    tribo_diag diag;
    tribo_status s = answer_line(text, length, o, &answer, &diag);
    if (s < 0) {
        diag.line = number;
        return input_error(path, s, &diag);
    }
    bool written = json_write(stdout, answer, false);
    json_decref(answer);
    if (!written) return trouble("an answer could not be written");
    return s == TRIBO_OK ? EXIT_SUCCESS : EXIT_NOT_CONVERGED;
}

static int solve_file(const char *path, FILE *f, const answer_options *o) {
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    int number = 0, problems = 0, bad = 0, unsolved = 0, status = EXIT_SUCCESS;
    while (status != EXIT_TROUBLE && (errno = 0, length = getline(&text, &room, f)) >= 0) {
        number++;
        if (blank(text, (size_t)length)) continue;
        problems++;
        status = solve_line(path, number, text, (size_t)length, o);
        bad += status == EXIT_INPUT;
        unsolved += status == EXIT_NOT_CONVERGED;
    }
    bool unread = ferror(f) || (status != EXIT_TROUBLE && errno == ENOMEM);
    free(text);
    if (status == EXIT_TROUBLE || fflush(stdout) != 0 || ferror(stdout)) return EXIT_TROUBLE;
    if (unread) return input_message(path, number + 1, "cannot be read");
    if (problems == 0) return input_message(path, number, "there is no problem in this file");
    if (bad + unsolved) remark(&verb_solve, "of %d problems, %d not converged, %d bad", problems, unsolved, bad);
    return bad ? EXIT_INPUT : unsolved ? EXIT_NOT_CONVERGED : EXIT_SUCCESS;
}

static int run(int argc, char **argv) {
    const char *path = NULL;
    answer_options o = {.budget = 5e-3, .law = {.raw = true}};
    for (int code; (code = next_option(&verb_solve, argc, argv)) != -1;) {
        if (code < 0) return option_exit(code);
        if (code == 1 && path) return usage_error(&verb_solve, "one file of problems, not also %s", optarg);
        if (code == 1) path = optarg;
        if (code == 'f') o.law.raw = false;
        if (code >= LAW_OPTION && law_option(&verb_solve, code, optarg, &o.law)) return EXIT_USAGE;
        if (code == 't' && parse_positive(&verb_solve, TOL_RANGE, 1, &o.tol)) return EXIT_USAGE;
    }
    if (optind < argc && !path) path = argv[optind++]; /* after "--" */
    if (optind < argc) return usage_error(&verb_solve, "one file of problems, not also %s", argv[optind]);
    if (!path) return usage_error(&verb_solve, "which file of problems?");
    if (law_check(&verb_solve, NULL, &o.law, NULL)) return EXIT_USAGE;

    bool standard = !strcmp(path, "-");
    FILE *f = standard ? stdin : fopen(path, "r");
    if (!f) return input_message(path, 0, "%s", strerror(errno));
    int status = solve_file(standard ? "standard input" : path, f, &o);
    if (!standard) fclose(f);
    return status;
}

static const option_row rows[] = {
    {"tol", 't', "T",
     "relative residual to reach (1e-12 for QP and QCQP, 1e-9 for contact; of first-order contact solvers 1e-6)",
     false},
    {"json", 'j', NULL, "as JSON, a line each: answers are nothing else", false},
    {"finish", 'f', NULL,
     "take a contact solver's answer to the canonical solution by Newton steps; otherwise it is told as it is, and so "
     "is its time",
     false},
    {0}};
const verb verb_solve = {
    .name = "solve",
    .summary = "solve QP, QCQP and contact problems, with gradients",
    .operands = "PROBLEMS.jsonl",
    .about = "Reads one JSON object a line and prints one a problem.\n"
             "  kind QP    min 1/2 x'Px + q'x, x >= 0               keys P, q\n"
             "  kind QCQP  the same, |x_i| <= r_i, pair by pair     keys P, q, r\n"
             "  kind NCP   frictional contact                       keys nc, mu, and\n"
             "             nv, M, J, vfree or G, g\n"
             "P, M and G are lower triangles by rows. `id` is an integer or a string. Answers have id, status (ok, "
             "not_converged), x (NCP: lambda, N s, and velocity), residual, iterations and seconds (one cold solve by "
             "itself); contact problems also ncp_residual, dissipation (J) and internal_share; where the line has `w`, "
             "also grad_q, grad_r and grad_P of w'x. A line that is wrong is named on standard error and does not stop "
             "the others.",
    .options = rows,
    .groups = {&group_law},
    .statuses = "0; 2 usage; 3 a line was wrong; 4 one did not converge",
    .example = "  tribo solve problems.jsonl --solver admm >answers.jsonl",
    .run = run,
};
