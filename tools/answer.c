/* answer.c -- solve the problem of a line, time it, differentiate it, and put the answer into JSON. */
#include "answer.h"
#include "common.h"
#include "problem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/contact.h>
#include <tribo/qcqp.h>

/* One solve to be timed: from nothing, whatever was solved before. */
typedef tribo_status (*solve_function)(void *problem);

/* Seconds of a solve, and its status. The first may find cold caches and code; where it was short, the median of as
 * many more as fit into the budget is told instead. */
static double time_solve(solve_function solve, void *problem, double budget, tribo_status *status) {
    enum { REPEATS = 31 };
    double took[REPEATS], spent = 0;
    double start = seconds_now();
    *status = solve(problem);
    double first = seconds_now() - start;
    int n = 0;
    for (; n < REPEATS && spent + first < budget && *status >= 0; n++) {
        start = seconds_now();
        *status = solve(problem);
        double now = seconds_now() - start;
        int at = n;
        for (; at > 0 && took[at - 1] > now; at--) took[at] = took[at - 1];
        took[at] = now;
        spent += now;
    }
    return n ? took[n / 2] : first;
}

static json_t *begin_answer(const ti_problem *p, tribo_status status) {
    json_t *answer = json_object();
    json_object_set_new(answer, "id", p->id_text[0] ? json_string(p->id_text) : json_integer((json_int_t)p->id));
    json_object_set_new(answer, "status", json_string(status == TRIBO_OK ? "ok" : "not_converged"));
    return answer;
}

static void end_answer(json_t *answer, double residual, int iterations, double seconds) {
    json_object_set_new(answer, "residual", json_number(residual));
    json_object_set_new(answer, "iterations", json_integer(iterations));
    json_object_set_new(answer, "seconds", json_number(seconds));
}

/* ---- QP and QCQP ---- */

typedef struct qcqp_task {
    tribo_qcqp_ws *ws;
    tribo_qcqp qp;
    double tol;
    double *x;
    tribo_qcqp_info info;
} qcqp_task;

static tribo_status solve_qcqp(void *problem) {
    qcqp_task *t = problem;
    memset(t->x, 0, (size_t)t->qp.n * sizeof *t->x);
    return tribo_qcqp_solve(t->ws, &t->qp, t->tol, 0, t->x, NULL, &t->info);
}

/* dL/dP of the symmetric P, its lower triangle by rows, from the vectors it is made of: -(v x' + x v')/2. */
static json_t *lower_gradient(const double *v, const double *x, int n) {
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) json_array_append_new(array, json_number(-0.5 * (v[i] * x[j] + x[i] * v[j])));
    return array;
}

/* work holds 3 n + nc numbers, zeroed. */
static tribo_status add_gradients(json_t *answer, qcqp_task *t, const ti_problem *p, double *work) {
    size_t n = (size_t)p->n, nr = p->r ? (size_t)p->nc : 0;
    double *q_bar = work, *v = work + n, *r_bar = work + 2 * n;
    tribo_status s = tribo_qcqp_vjp(t->ws, &t->qp, t->x, p->w, q_bar, p->r ? r_bar : NULL, v, NULL);
    if (s < 0) return s;
    json_object_set_new(answer, "grad_q", json_numbers(q_bar, n));
    json_object_set_new(answer, "grad_r", json_numbers(r_bar, nr));
    json_object_set_new(answer, "grad_P", lower_gradient(v, t->x, p->n));
    return s;
}

static tribo_status answer_qcqp(const ti_problem *p, double tol, double budget, json_t **answer) {
    size_t n = (size_t)p->n;
    qcqp_task t = {.qp = {.n = p->n, .P = p->P, .q = p->q, .r = p->r}, .tol = tol};
    double *work = calloc(3 * n + (size_t)p->nc, sizeof *work);
    tribo_status s = work ? tribo_qcqp_ws_new(p->n, NULL, &t.ws) : TRIBO_E_NOMEM;
    if (s == TRIBO_OK) {
        t.x = work + 2 * n + (size_t)p->nc;
        double seconds = time_solve(solve_qcqp, &t, budget, &s);
        if (s >= 0) {
            *answer = begin_answer(p, s);
            json_object_set_new(*answer, "x", json_numbers(t.x, n));
            end_answer(*answer, t.info.residual, t.info.iterations + t.info.newton, seconds);
        }
    }
    if (s >= 0 && p->w) {
        tribo_status gradient = add_gradients(*answer, &t, p, work);
        if (gradient < 0) s = gradient;
    }
    tribo_qcqp_ws_free(t.ws);
    free(work);
    return s;
}

/* ---- NCP ---- */

typedef struct contact_task {
    tribo_contact_ws *ws;
    tribo_contact_problem problem;
    double tol;
    double *lambda, *v;
    tribo_contact_info info;
} contact_task;

static tribo_status solve_contact(void *problem) {
    contact_task *t = problem;
    return tribo_contact_solve(t->ws, &t->problem, t->tol, false, t->lambda, t->v, &t->info);
}

/* What it is worth as a solution of the NCP, whatever the law. */
static void add_measures(json_t *answer, const contact_task *t) {
    tribo_measures m;
    if (tribo_contact_measure(t->ws, &t->problem, &m)) return;
    double ncp = fmax(m.ncp.primal, fmax(m.ncp.dual, m.ncp.complementarity));
    json_object_set_new(answer, "ncp_residual", json_number(ncp));
    json_object_set_new(answer, "dissipation", json_number(m.dissipation));
    json_object_set_new(answer, "internal_share", json_number(m.internal_share));
}

static tribo_status answer_contact(const ti_problem *p, const answer_options *o, json_t **answer) {
    size_t rows = 3 * (size_t)p->nc;
    contact_task t = {.tol = o->tol};
    t.problem = (tribo_contact_problem){
        .nc = p->nc, .nv = p->nv, .M = p->M, .J = p->J, .vfree = p->vfree, .G = p->G, .g = p->g, .mu = p->mu};
    double *work = calloc(rows + (size_t)p->nv, sizeof *work);
    tribo_status s =
        work ? tribo_contact_ws_new(p->nc, p->nv ? p->nv : 3 * p->nc, &o->law, NULL, &t.ws) : TRIBO_E_NOMEM;
    if (s == TRIBO_OK) {
        t.lambda = work;
        t.v = p->nv ? work + rows : NULL;
        double seconds = time_solve(solve_contact, &t, o->budget, &s);
        if (s >= 0) {
            *answer = begin_answer(p, s);
            json_object_set_new(*answer, "lambda", json_numbers(t.lambda, rows));
            if (t.v) json_object_set_new(*answer, "velocity", json_numbers(t.v, (size_t)p->nv));
            end_answer(*answer, t.info.residual, t.info.iterations, seconds);
            add_measures(*answer, &t);
        }
    }
    tribo_contact_ws_free(t.ws);
    free(work);
    return s;
}

tribo_status answer_line(const char *text, size_t bytes, const answer_options *o, json_t **answer, tribo_diag *diag) {
    ti_problem *p = NULL;
    *answer = NULL;
    *diag = (tribo_diag){0};
    tribo_status s = ti_problem_load(text, bytes, NULL, &p, diag);
    if (s != TRIBO_OK) return s;
    s = p->kind == TI_PROBLEM_NCP ? answer_contact(p, o, answer) : answer_qcqp(p, o->tol, o->budget, answer);
    if (s < 0) {
        snprintf(diag->text, sizeof diag->text, "%s", tribo_status_text(s));
        json_decref(*answer);
        *answer = NULL;
    }
    ti_problem_free(NULL, p);
    return s;
}
