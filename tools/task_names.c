/* task_names.c -- names of a task: controls, joints, bodies, sites, keys; the nearest where there is none. */
#include "formats/table.h"
#include "model/state.h"
#include "task_reader.h"
#include "trajopt/task.h"
#include <math.h>
#include <string.h>

/* ---- controls ---- */

int task_joint_nq(const tribo_model *m, int joint) {
    return ti_joint_of(m->joint[joint].kind)->nq;
}
int task_joint_nv(const tribo_model *m, int joint) {
    return ti_joint_of(m->joint[joint].kind)->nv;
}

/* Whether a column is that, or of that owner. */
static bool means(const char *name, const char *column, bool whole) {
    size_t n = strlen(name);
    if (whole) return strcmp(name, column) == 0;
    return strncmp(name, column, n) == 0 && column[n] == '.' && !strchr(column + n + 1, '.');
}

static int columns_of(const tribo_model *m, const char *name, bool whole, int from, int to, int *index) {
    int n = 0;
    for (int i = from; i < to; i++) {
        char column[128];
        ti_control_column(m, i, column, sizeof column);
        if (means(name, column, whole)) index[n++] = i;
    }
    return n;
}

int task_controls_named(task_reader *r, const char *name, int *index) {
    tribo_sizes z = r->t->size;
    int n = columns_of(r->m, name, true, 0, z.nu, index);
    if (!n) n = columns_of(r->m, name, false, z.nv, z.nu, index);
    if (!n) n = columns_of(r->m, name, false, 0, z.nv, index);
    if (n) return n;
    near_name near = near_begin(name);
    for (int i = 0; i < z.nu; i++) {
        char column[128];
        ti_control_column(r->m, i, column, sizeof column);
        if (strchr(name, '.')) near_offer(&near, column);
        *strrchr(column, '.') = 0;
        near_offer(&near, column);
    }
    task_no_such(r, "actuator, joint or free body", &near);
    return 0;
}

/* ---- what terms are of ---- */

typedef const char *(*name_function)(const tribo_model *m, int i);

static void offer_all(near_name *near, const tribo_model *m, name_function name, int n) {
    for (int i = 0; i < n; i++) near_offer(near, name(m, i));
}

static const char *text_of(task_reader *r, const json_t *value, const char *what) {
    const char *text = json_string_value(value);
    if (!text || !*text) task_wrong(r, "is not the name of %s, as a string", what);
    return text ? text : "";
}

static bool free_body(const tribo_model *m, const char *name) {
    int body = tribo_model_body_find(m, name);
    return body >= 0 && tribo_model_body_free(m, body);
}

int task_joint_named(task_reader *r, const json_t *value) {
    const char *name = text_of(r, value, "a joint");
    if (strncmp(name, "joint:", 6) == 0) name += 6;
    int joint = tribo_model_joint_find(r->m, name);
    if (joint >= 0 || !task_good(r)) return joint;
    if (free_body(r->m, name)) {
        task_wrong(r, "body `%s` moves freely, without a joint: ask for its position, rotation, velocity or state",
                   name);
        return -1;
    }
    near_name near = near_begin(name);
    offer_all(&near, r->m, tribo_model_joint_name, r->t->size.njoint);
    if (r->t->size.njoint)
        task_no_such(r, "joint", &near);
    else
        task_wrong(r, "there is no joint `%s`, and no other in this scene", name);
    return -1;
}

/* The name behind `prefix`, or NULL. */
static const char *behind(const char *name, const char *prefix) {
    size_t n = strlen(prefix);
    return strncmp(name, prefix, n) == 0 ? name + n : NULL;
}

/* Whether the name is that of a geom or a joint, where a body or site is asked for; which is said then. */
static bool other_thing(task_reader *r, const char *name) {
    int geom = tribo_model_geom_find(r->m, name);
    const char *body = geom >= 0 ? tribo_model_body_name(r->m, tribo_model_geom_body(r->m, geom)) : NULL;
    if (body)
        task_wrong(r, "`%s` is a geom, of body %s: name the body, or a site that the scene has there", name, body);
    else if (geom >= 0)
        task_wrong(r, "`%s` is a geom of the world, and of no body", name);
    else if (tribo_model_joint_find(r->m, name) >= 0)
        task_wrong(r, "`%s` is a joint: joint and joint-velocity are of one", name);
    return !task_good(r);
}

void task_place_named(task_reader *r, const json_t *value, int *body, int *site) {
    const char *name = text_of(r, value, "a body or a site"), *as_body = behind(name, "body:");
    const char *as_site = behind(name, "site:");
    *body = as_site ? -1 : tribo_model_body_find(r->m, as_body ? as_body : name);
    *site = as_body ? -1 : tribo_model_site_find(r->m, as_site ? as_site : name);
    if (*body >= 0 && *site >= 0) task_wrong(r, "`%s` is a body and a site: say body:%s or site:%s", name, name, name);
    if (*body >= 0 || *site >= 0 || !task_good(r)) return;
    if (other_thing(r, name)) return;
    near_name near = near_begin(as_body ? as_body : as_site ? as_site : name);
    if (!as_site) offer_all(&near, r->m, tribo_model_body_name, r->t->size.nbody);
    if (!as_body) offer_all(&near, r->m, tribo_model_site_name, r->t->size.nsite);
    task_no_such(r, "body or site", &near);
}

int task_body_named(task_reader *r, const json_t *value) {
    const char *name = text_of(r, value, "a body"), *as_body = behind(name, "body:");
    int body = tribo_model_body_find(r->m, as_body ? as_body : name);
    if (body >= 0 || !task_good(r)) return body;
    if (other_thing(r, name)) return -1;
    near_name near = near_begin(as_body ? as_body : name);
    offer_all(&near, r->m, tribo_model_body_name, r->t->size.nbody);
    task_no_such(r, "body", &near);
    return -1;
}

int task_key_named(task_reader *r, const json_t *value) {
    const char *name = text_of(r, value, "a key of the scene");
    int key = tribo_model_key_find(r->m, name);
    if (key >= 0 || !task_good(r)) return key;
    near_name near = near_begin(name);
    offer_all(&near, r->m, tribo_model_key_name, tribo_model_keys(r->m));
    if (!*near.nearest && !tribo_model_keys(r->m)) task_wrong(r, "the scene has no keys: not `%s` either", name);
    if (!*near.nearest)
        task_wrong(r, "the scene has no key `%s`; its first is %s", name, tribo_model_key_name(r->m, 0));
    task_no_such(r, "key of the scene", &near);
    return -1;
}

int task_part_named(task_reader *r, const char *name, bool velocity, int *n) {
    int joint = tribo_model_joint_find(r->m, name), body = tribo_model_body_find(r->m, name);
    if (joint >= 0) {
        *n = velocity ? task_joint_nv(r->m, joint) : task_joint_nq(r->m, joint);
        return velocity ? tribo_model_joint_v(r->m, joint) : tribo_model_joint_q(r->m, joint);
    }
    if (body >= 0 && tribo_model_body_free(r->m, body)) {
        *n = velocity ? 6 : 7;
        return velocity ? tribo_model_body_v(r->m, body) : tribo_model_body_q(r->m, body);
    }
    near_name near = near_begin(name);
    offer_all(&near, r->m, tribo_model_joint_name, r->t->size.njoint);
    for (int b = 0; b < r->t->size.nbody; b++)
        if (tribo_model_body_free(r->m, b)) near_offer(&near, tribo_model_body_name(r->m, b));
    task_no_such(r, "joint or free body", &near);
    return -1;
}

/* ---- quaternions ---- */

/* Make a quaternion of length 1; wrong if it is far from it. */
static void settle_quaternion(task_reader *r, double *quat) {
    double norm = sqrt(quat[0] * quat[0] + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3]);
    if (!(fabs(norm - 1) <= 0.01)) task_wrong(r, "a quaternion (w, x, y, z) has length 1, not %.6g", norm);
    for (int i = 0; i < 4 && norm > 0; i++) quat[i] /= norm;
}

void task_settle_quaternions(task_reader *r, const tribo_term_def *d, double *row) {
    for (int k = 0, at; (at = ti_term_turn(r->m, d, &k)) >= 0;) settle_quaternion(r, row + at);
}
