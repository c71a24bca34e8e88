/* task_reader.h -- what the parts of the reader of tasks share. */
#ifndef TRIBO_TOOLS_TASK_READER_H
#define TRIBO_TOOLS_TASK_READER_H
#include "common.h"
#include "json_place.h"
#include "names.h"
#include "task.h"

enum { TASK_DEPTH = 12, TASK_TERMS_MAX = 1000 };
#define TASK_LARGEST 1e12 /* no number of a task is larger */

/* A file on its way. The first thing wrong is told, and everything after it does nothing. */
typedef struct task_reader {
    const char *path, *text;
    const tribo_model *m;
    const task_changes *changes;
    task_file *t;
    json_step at[TASK_DEPTH]; /* where the reading is */
    int depth, status;
} task_reader;

/* "path:line: place: what"; the place is where the reading is. */
void task_wrong(task_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "there is no X NAME", with the nearest of the names offered. */
void task_no_such(task_reader *r, const char *what, const near_name *near);
/* Go to a member or an element, and back. */
void task_enter(task_reader *r, const char *key, size_t index);
void task_leave(task_reader *r);
/* Zeroed room that lives as long as the task; NULL after a message. */
void *task_room(task_reader *r, size_t n, size_t size);
static inline bool task_good(const task_reader *r) {
    return r->status == EXIT_SUCCESS;
}

/* A key of an object, and who reads its value; `at` is what reads into. */
typedef struct task_key {
    const char *key;
    void (*read)(task_reader *r, const json_t *value, void *at);
} task_key;
/* The members of an object in the order of the table; a key that is not in it is wrong.
 * In two halves: whether all keys are in the table, and then what they hold. */
void task_check_keys(task_reader *r, const json_t *object, const task_key *keys, int n);
void task_members(task_reader *r, const json_t *object, const task_key *keys, int n, void *at);
void task_object(task_reader *r, const json_t *object, const task_key *keys, int n, void *at);

/* A number within bounds, an integer, an array of exactly n numbers. `what` ends "is not ...". */
double task_number(task_reader *r, const json_t *value, double lower, double upper, const char *what);
int task_integer(task_reader *r, const json_t *value, int lower, int upper, const char *what);
void task_numbers(task_reader *r, const json_t *value, size_t n, double *x);

/* ---- names ---- */

/* The numbers of u that a name means: a column ("hip.ctrl"), an actuator, a joint's or free body's forces.
 * @param index [out] (nu). @return how many; 0 after a message. */
int task_controls_named(task_reader *r, const char *name, int *index);
int task_joint_named(task_reader *r, const json_t *name);
/* A body or a site; the other is -1. */
void task_place_named(task_reader *r, const json_t *name, int *body, int *site);
int task_body_named(task_reader *r, const json_t *name);
int task_key_named(task_reader *r, const json_t *name);
/* How many numbers of q and of v a joint has. */
int task_joint_nq(const tribo_model *m, int joint);
int task_joint_nv(const tribo_model *m, int joint);
/* Numbers of q, or of v, of a joint or a free body. @return where in q or v; -1 after a message. @param n [out] */
int task_part_named(task_reader *r, const char *name, bool velocity, int *n);
/* Make the quaternions in a row of a term's target, or in a state, of length 1; wrong if they are far from it. */
void task_settle_quaternions(task_reader *r, const tribo_term_def *d, double *row);

/* ---- parts ---- */

/* Whether a step takes it: a stage comes long after the reading. */
void task_try_law(task_reader *r, const tribo_law_options *law);
/* An object of the words of a law, checked by a workspace of it. */
void task_read_law(task_reader *r, const json_t *value, tribo_law_options *law);
void task_read_terms(task_reader *r, const json_t *value);
/* A key of the scene, or {"key":, "q":, "v":}. @param u [out] (nu) the key's controls; NULL = skip */
void task_read_state(task_reader *r, const json_t *value, double *x, double *u);

#endif
