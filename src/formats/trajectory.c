/* trajectory.c -- recorded motion and controls: tables whose numbers mean states and forces. */
#include "formats/table.h"
#include "formats/text.h"
#include "model/state.h"
#include <math.h>
#include <stdio.h>
#include <tribo/trajectory.h>

struct tribo_trajectory {
    ti_table table;
};
struct tribo_controls {
    ti_table table;
};

/* Of a free body: its q, then its v; and what is dual to v. */
enum { STATES = TI_FREE_NQ + TI_FREE_NV };
static const char *const STATE[STATES] = {"px", "py", "pz", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"};
static const char *const FORCE[TI_FREE_NV] = {"fx", "fy", "fz", "tx", "ty", "tz"};

/* Of a joint: of a hinge or slide, then of a ball. */
enum { AXIS_STATES = 2, JOINT_STATES = 9, JOINT_FORCES = 4 };
static const char *const JOINT_STATE[JOINT_STATES] = {"q", "v", "qw", "qx", "qy", "qz", "wx", "wy", "wz"};
static const char *const JOINT_FORCE[JOINT_FORCES] = {"tau", "tx", "ty", "tz"};

static bool is_ball(const tribo_model *m, int joint) {
    return m->joint[joint].kind == TI_JOINT_BALL;
}

static int state_place(const tribo_model *m, int body, int word) {
    return word < TI_FREE_NQ ? m->body[body].q + word : m->size.nq + m->body[body].v + word - TI_FREE_NQ;
}

static int joint_state_place(const tribo_model *m, int joint, int word) {
    const ti_joint *j = &m->joint[joint];
    if (is_ball(m, joint) != (word >= AXIS_STATES)) return -2;
    if (!is_ball(m, joint)) return word == 0 ? j->q : m->size.nq + j->v;
    return word < AXIS_STATES + 4 ? j->q + word - AXIS_STATES : m->size.nq + j->v + word - AXIS_STATES - 4;
}

static int joint_force_place(const tribo_model *m, int joint, int word) {
    if (is_ball(m, joint) != (word > 0)) return -2;
    return m->joint[joint].v + (word > 0 ? word - 1 : 0);
}

/* Of an actuator. */
static const char *const CONTROL[1] = {"ctrl"};

static int control_place(const tribo_model *m, int actuator, int word) {
    return m->size.nv + actuator + word;
}

static int force_place(const tribo_model *m, int body, int word) {
    return m->body[body].v + word;
}

/* Of a site: where it was seen. */
enum { MARKER = 3 };

static int marker_place(const tribo_model *m, int site, int word) {
    return m->size.nx + MARKER * site + word;
}

/* What contacts push a geom with, or all geoms of a body, beyond the markers. */
enum { PRESS = 3 };

static int geom_press_place(const tribo_model *m, int geom, int word) {
    return m->size.nx + MARKER * m->size.nsite + PRESS * geom + word;
}

static int body_press_place(const tribo_model *m, int body, int word) {
    return geom_press_place(m, m->size.ngeom + body, word);
}

void ti_control_column(const tribo_model *m, int i, char *name, size_t size) {
    const char *owner = "?", *word = "?";
    if (i >= m->size.nv) owner = m->actuator[i - m->size.nv].name, word = CONTROL[0];
    for (int b = 0; b < m->size.nbody; b++)
        for (int w = 0; w < TI_FREE_NV && m->body[b].free >= 0; w++)
            if (force_place(m, b, w) == i) owner = m->body[b].name, word = FORCE[w];
    for (int j = 0; j < m->size.njoint; j++)
        for (int w = 0; w < JOINT_FORCES; w++)
            if (joint_force_place(m, j, w) == i) owner = m->joint[j].name, word = JOINT_FORCE[w];
    snprintf(name, size, "%s.%s", owner, word);
}

/* Make the observed quaternions unit. @return TRIBO_E_PARSE at the first that is not nearly so. */
static tribo_status settle_quaternions(const tribo_model *m, ti_table *t, const char *text, size_t n,
                                       tribo_diag *diag) {
    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < ti_joints(m); k++) {
            const ti_joint *j = &m->joint[k];
            int quat = ti_joint_of(j->kind)->quat;
            if (quat < 0) continue;
            const char *name = j->name ? j->name : m->body[j->body].name;
            size_t at = (size_t)i * (size_t)t->width + (size_t)(j->q + quat);
            double *q = t->x + at;
            int seen = t->seen[at] + t->seen[at + 1] + t->seen[at + 2] + t->seen[at + 3];
            double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
            if (seen != 0 && seen != 4)
                return ti_fail(diag, TRIBO_E_PARSE, ti_table_line(text, n, i), "%s: %d of a quaternion's four numbers",
                               name, seen);
            if (!(fabs(norm - 1) <= 0.01))
                return ti_fail(diag, TRIBO_E_PARSE, ti_table_line(text, n, i), "%s: a quaternion of length %.6g", name,
                               norm);
            bool unit = fabs(norm - 1) < 1e-15; /* to rounding: what was written is read to the bit */
            for (int r = 0; r < 4 && seen && !unit; r++) q[r] /= norm;
        }
    return TRIBO_OK;
}

tribo_status tribo_trajectory_load_memory(const char *text, size_t bytes, const tribo_model *m,
                                          const tribo_allocator *a, tribo_trajectory **t, tribo_diag *diag) {
    static const ti_table_kind KIND = {.body = {STATE, STATES, state_place},
                                       .joint = {JOINT_STATE, JOINT_STATES, joint_state_place},
                                       .site = {STATE, MARKER, marker_place},
                                       .geom = {FORCE, PRESS, geom_press_place},
                                       .any_body = {FORCE, PRESS, body_press_place}};
    if (!text || !m || !t) return ti_fail(diag, TRIBO_E_ARG, 0, "no text, no model or no place for the result");
    ti_table *table;
    const int more[2] = {MARKER * m->size.nsite, PRESS * (m->size.ngeom + m->size.nbody)};
    tribo_status status = ti_table_read(text, bytes, &KIND, m, m->size.nx, more, m->x0, a, &table, diag);
    if (status != TRIBO_OK) return status;
    status = settle_quaternions(m, table, text, bytes, diag);
    if (status == TRIBO_OK)
        *t = (tribo_trajectory *)table;
    else
        ti_table_free(table);
    return status;
}

tribo_status tribo_controls_load_memory(const char *text, size_t bytes, const tribo_model *m, const tribo_allocator *a,
                                        tribo_controls **c, tribo_diag *diag) {
    static const ti_table_kind KIND = {.body = {FORCE, TI_FREE_NV, force_place},
                                       .joint = {JOINT_FORCE, JOINT_FORCES, joint_force_place},
                                       .actuator = {CONTROL, 1, control_place}};
    if (!text || !m || !c) return ti_fail(diag, TRIBO_E_ARG, 0, "no text, no model or no place for the result");
    size_t zero_bytes = sizeof(double) * (size_t)m->size.nu;
    double *zero = ti_alloc(a, zero_bytes);
    if (!zero) return ti_fail(diag, TRIBO_E_NOMEM, 0, "out of memory");
    ti_table *table;
    tribo_status status = ti_table_read(text, bytes, &KIND, m, m->size.nu, (int[2]){0, 0}, zero, a, &table, diag);
    if (status == TRIBO_OK) *c = (tribo_controls *)table;
    ti_free(a, zero, zero_bytes);
    return status;
}

tribo_status tribo_trajectory_load(const char *path, const tribo_model *m, const tribo_allocator *a,
                                   tribo_trajectory **t, tribo_diag *diag) {
    char *text;
    size_t n, bytes;
    tribo_status status = ti_read_file(path, a, &text, &n, &bytes, diag);
    if (status != TRIBO_OK) return status;
    status = tribo_trajectory_load_memory(text, n, m, a, t, diag);
    ti_free(a, text, bytes);
    return status;
}

tribo_status tribo_controls_load(const char *path, const tribo_model *m, const tribo_allocator *a, tribo_controls **c,
                                 tribo_diag *diag) {
    char *text;
    size_t n, bytes;
    tribo_status status = ti_read_file(path, a, &text, &n, &bytes, diag);
    if (status != TRIBO_OK) return status;
    status = tribo_controls_load_memory(text, n, m, a, c, diag);
    ti_free(a, text, bytes);
    return status;
}

bool ti_controls_have(const tribo_controls *c, int k) {
    for (int i = 0; i < c->table.n; i++)
        if (c->table.seen[(size_t)i * (size_t)c->table.width + (size_t)k]) return true;
    return false;
}

void tribo_trajectory_free(tribo_trajectory *t) {
    if (t) ti_table_free(&t->table);
}

int tribo_trajectory_rows(const tribo_trajectory *t) {
    return t ? t->table.n : 0;
}

const double *tribo_trajectory_times(const tribo_trajectory *t) {
    return t ? t->table.time : NULL;
}

const double *tribo_trajectory_states(const tribo_trajectory *t) {
    return t ? t->table.x : NULL;
}

const bool *tribo_trajectory_observed(const tribo_trajectory *t) {
    return t ? t->table.seen : NULL;
}

const double *tribo_trajectory_markers(const tribo_trajectory *t) {
    return t ? t->table.more[0] : NULL;
}

const double *tribo_trajectory_forces(const tribo_trajectory *t) {
    return t ? t->table.more[1] : NULL;
}

void tribo_controls_free(tribo_controls *c) {
    if (c) ti_table_free(&c->table);
}

int tribo_controls_rows(const tribo_controls *c) {
    return c ? c->table.n : 0;
}

const double *tribo_controls_times(const tribo_controls *c) {
    return c ? c->table.time : NULL;
}

const double *tribo_controls_values(const tribo_controls *c) {
    return c ? c->table.x : NULL;
}

/* Whether a row is in force: times of steps are sums, times of rows are text. At its own time each row is, however near
 * the next one is. */
static bool in_force(const ti_table *t, int row, double time) {
    double rounding = 1e-9; /* s */
    if (row > 0) rounding = ti_min(rounding, 0.25 * (t->time[row] - t->time[row - 1]));
    return t->time[row] <= time + rounding;
}

void tribo_controls_at(const tribo_controls *c, double time, double *u) {
    if (!c || !u) return;
    int low = -1, high = c->table.n; /* row low is in force, row high is not */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (in_force(&c->table, middle, time))
            low = middle;
        else
            high = middle;
    }
    size_t width = (size_t)c->table.width;
    if (low < 0)
        memset(u, 0, sizeof *u * width);
    else
        memcpy(u, c->table.x + (size_t)low * width, sizeof *u * width);
}

static void write_header(FILE *file, const tribo_model *m, int nmore, const char *const *names) {
    fputs("time", file);
    for (int b = 0; b < m->size.nbody; b++)
        for (int w = 0; w < STATES && m->body[b].free >= 0; w++) ti_table_write_column(file, m->body[b].name, STATE[w]);
    for (int j = 0; j < m->size.njoint; j++)
        for (int w = 0; w < JOINT_STATES; w++)
            if (joint_state_place(m, j, w) >= 0) ti_table_write_column(file, m->joint[j].name, JOINT_STATE[w]);
    for (int k = 0; k < nmore; k++) fprintf(file, ",%s", names[k]);
    fputc('\n', file);
}

static void write_cell(FILE *file, double value) {
    char text[TI_NUMBER_TEXT];
    ti_write_number(value, text);
    fprintf(file, ",%s", value == value ? text : "");
}

void ti_trajectory_write(FILE *f, const tribo_model *m, int n, const double *times, const double *x, int nmore,
                         const char *const *names, const double *more) {
    write_header(f, m, nmore, names);
    for (int i = 0; i < n; i++, x += m->size.nx) {
        char text[TI_NUMBER_TEXT];
        ti_write_number(times[i], text);
        fputs(text, f);
        for (int b = 0; b < m->size.nbody; b++)
            for (int w = 0; w < STATES && m->body[b].free >= 0; w++) write_cell(f, x[state_place(m, b, w)]);
        for (int j = 0; j < m->size.njoint; j++)
            for (int w = 0; w < JOINT_STATES; w++)
                if (joint_state_place(m, j, w) >= 0) write_cell(f, x[joint_state_place(m, j, w)]);
        for (int k = 0; k < nmore; k++) write_cell(f, more[(size_t)i * (size_t)nmore + (size_t)k]);
        fputc('\n', f);
    }
}

tribo_status tribo_trajectory_save(const char *path, const tribo_model *m, int n, const double *times, const double *x,
                                   tribo_diag *diag) {
    if (!path || !m || n < 1 || !times || !x) return ti_fail(diag, TRIBO_E_ARG, 0, "nothing to write");
    for (int i = 0; i < n; i++)
        if (!isfinite(times[i])) return ti_fail(diag, TRIBO_E_ARG, 0, "time %d is not finite", i);
    ti_output out;
    tribo_status status = ti_output_open(&out, path, diag);
    if (status != TRIBO_OK) return status;
    ti_trajectory_write(out.file, m, n, times, x, 0, NULL, NULL);
    return ti_output_close(&out, path, diag);
}
