/* mjcf_save.c -- writes a scene file again with other numbers in it: the file's own tree, edited where they differ. */
#include "formats/mjcf_edit.h"
#include "formats/text.h"
#include "model/possible.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool same_scene(const tribo_model *a, const tribo_model *b) {
    if (a->size.nbody != b->size.nbody || a->size.njoint != b->size.njoint || a->size.nactuator != b->size.nactuator ||
        a->size.nsite != b->size.nsite || a->size.ntendon != b->size.ntendon || a->size.ngeom != b->size.ngeom ||
        a->size.npair != b->size.npair || a->size.np != b->size.np)
        return false;
    for (int i = 0; i < a->size.nbody; i++)
        if (strcmp(a->body[i].name, b->body[i].name) != 0) return false;
    for (int i = 0; i < a->size.npair; i++)
        if (strcmp(a->pair_name[i], b->pair_name[i]) != 0) return false;
    for (int i = 0; i < a->size.ngeom; i++) {
        const ti_geom *x = &a->geom[i], *y = &b->geom[i];
        if (strcmp(x->name, y->name) != 0 || x->shape != y->shape || x->body != y->body) return false;
    }
    return true;
}

static void forget_reading(ti_edit *e) {
    ti_mjcf_close(&e->scene);
    tribo_model_free(e->now);
    e->scene = (ti_mjcf){0};
    e->now = NULL;
}

/* As it was read the first time. */
static tribo_load_options options_of(const tribo_model *m) {
    tribo_load_options o = tribo_default_load_options();
    o.lenient = *m->lenient ? m->lenient : NULL, o.packages = *m->packages ? m->packages : NULL;
    o.free_base = m->free_base;
    return o;
}

/* Read the tree as it is now; e->have are its numbers. */
static tribo_status read_again(ti_edit *e, const tribo_model *m, tribo_diag *diag) {
    forget_reading(e);
    e->options = options_of(m);
    ti_mjcf_read(&e->scene, e->doc, &e->options, &m->alloc);
    tribo_status status = e->scene.error.status;
    if (status != TRIBO_OK && diag) *diag = e->scene.error.diag;
    if (status != TRIBO_OK) return status;
    tribo_builder *builder = e->scene.builder;
    e->scene.builder = NULL;
    status = tribo_build(builder, &e->now, diag);
    if (status != TRIBO_OK) return status;
    if (!same_scene(m, e->now)) return ti_fail(diag, TRIBO_E_ARG, 0, "this file is not the scene of the model");
    memcpy(e->have, e->now->p0, sizeof(double) * (size_t)m->size.np);
    return TRIBO_OK;
}

static void make_unit(double *q) {
    double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4; k++) q[k] /= n;
}

/* Quaternions are unit in a file that was read; so are those to compare with. */
static void unit_quaternions(const tribo_model *m, double *p) {
    for (int i = 0; i < m->size.nsite; i++) make_unit(p + m->site[i].p + TI_P_SITE_QUAT);
    for (int i = 0; i < m->size.ngeom; i++) make_unit(p + m->geom[i].p + TI_P_QUAT);
}

/* See keep_choices(), of one pair. */
static bool keep_choice(const tribo_model *m, const ti_pair *pair, double *p) {
    int pairs_at = m->size.np - m->size.npair * TI_P_PAIR;
    const ti_geom *a = &m->geom[pair->a], *b = &m->geom[pair->b];
    if (a->priority != b->priority || pair->material[0] >= pairs_at) return true;
    for (int k = 0; k < TI_P_PAIR; k++) {
        int won = pair->material[k], lost = (won == a->p + TI_P_MATERIAL + k ? b->p : a->p) + TI_P_MATERIAL + k;
        bool ties = won < lost; /* of equal numbers, that of the lower id counts */
        if (ties ? p[won] >= p[lost] : p[won] > p[lost]) continue;
        if (m->used[lost] || (!ties && !(p[won] > 0))) return false;
        p[lost] = ties ? p[won] : 0;
    }
    return true;
}

/* Whether the material of a geom is another than in the scene: choices between others are as they were. */
static bool changed(const tribo_model *m, const double *p, int geom) {
    int at = m->geom[geom].p + TI_P_MATERIAL;
    return memcmp(p + at, m->p0 + at, sizeof *p * TI_P_PAIR) != 0;
}

/* Of two geoms of equal priority the larger number counts. Where that would now be the other one's, and it counts
 * nowhere else, lower it. @return false where that is not possible: see rank_geoms(). */
static bool keep_choices(const tribo_model *m, double *p) {
    for (int i = 0; i < m->size.ngeom; i++) {
        if (!changed(m, p, i)) continue;
        for (int j = 0; j < m->size.ngeom; j++) {
            ti_pair pair;
            if (ti_pair_of(m, i, j, &pair) && !keep_choice(m, &pair, p)) return false;
        }
    }
    return true;
}

/* Whose material counts in a pair: its a, its b, or neither in all numbers. */
static int winner(const tribo_model *m, const ti_pair *pair) {
    int a = m->geom[pair->a].p + TI_P_MATERIAL, b = m->geom[pair->b].p + TI_P_MATERIAL, na = 0, nb = 0;
    for (int k = 0; k < TI_P_PAIR; k++) na += pair->material[k] == a + k, nb += pair->material[k] == b + k;
    return na == TI_P_PAIR ? pair->a : nb == TI_P_PAIR ? pair->b : -1;
}

/* One round of raising the winners of pairs above the losers. @return how many were raised; -1 if a pair is mixed. */
static int raise_winners(const tribo_model *m, int *rank) {
    int raised = 0, pairs_at = m->size.np - m->size.npair * TI_P_PAIR;
    for (ti_pair_walk w = {0}; ti_pair_next(m, &w);) {
        const ti_pair *pair = &w.pair;
        if (pair->material[0] >= pairs_at) continue;
        int won = winner(m, pair), lost = won == pair->a ? pair->b : pair->a;
        if (won < 0) return -1;
        if (rank[won] > rank[lost]) continue;
        rank[won] = rank[lost] + 1;
        raised++;
    }
    return raised;
}

/* Say by priorities whose material counts, where the numbers no longer do: each geom above those it wins over. */
static tribo_status rank_geoms(ti_edit *e, const tribo_model *m, tribo_diag *diag) {
    size_t bytes = sizeof(int) * (size_t)m->size.ngeom;
    int *rank = ti_alloc(&m->alloc, bytes), raised = 1;
    if (!rank) return ti_fail(diag, TRIBO_E_NOMEM, 0, "out of memory");
    for (int round = 0; round <= m->size.ngeom && raised > 0; round++) raised = raise_winners(m, rank);
    for (int i = 0; i < m->size.ngeom && raised == 0; i++) {
        double x = rank[i];
        if (rank[i] != m->geom[i].priority) ti_edit_set_numbers(e, e->scene.geom[i].node, "priority", &x, 1);
    }
    ti_free(&m->alloc, rank, bytes);
    if (raised == 0) return TRIBO_OK;
    return ti_fail(diag, TRIBO_E_ARG, 0,
                   "another geom's material would count where two touch: give one of them a priority in the scene");
}

/* A fluid acts along the axes of inertias, whichever way round. */
static tribo_status judge_axes(const ti_edit *e, const tribo_model *m, tribo_diag *diag) {
    for (int i = 0; i < m->size.nbody && m->fluid; i++) {
        ti_mat back = ti_transpose(&m->box[i]), turn = ti_matmul(&back, &e->now->box[i]);
        double off = 0;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) off = fmax(off, fmin(fabs(turn.m[r][c]), fabs(1 - fabs(turn.m[r][c]))));
        if (off > 1e-6)
            return ti_fail(diag, TRIBO_E_ARG, 0, "%s/inertia: its axes, along which the fluid acts, would be others",
                           m->body[i].name);
    }
    return TRIBO_OK;
}

/* What a file cannot say is not lost without a word, where it means anything. */
static tribo_status judge_outcome(const ti_edit *e, const tribo_model *m, tribo_diag *diag) {
    for (int i = 0; i < m->size.np; i++) {
        tribo_param_info info;
        bool lost = m->used[i] && !(fabs(e->have[i] - e->want[i]) <= 1e-9 * (1 + fabs(e->want[i])));
        if (lost && tribo_param_describe(m, i, &info) == TRIBO_OK)
            return ti_fail(diag, TRIBO_E_ARG, 0, "%s: %.9g would be read as %.9g from the scene", info.name, e->want[i],
                           e->have[i]);
    }
    return judge_axes(e, m, diag);
}

/* A free joint all of whose numbers are 0 would be read as one without numbers. */
static tribo_status judge_free(const tribo_model *m, const double *p, tribo_diag *diag) {
    for (int i = 0; i < m->size.nbody; i++) {
        int free = m->body[i].free, at = free >= 0 ? m->joint[free].p : -1;
        if (at >= 0 && !(p[at + TI_P_DAMPING] > 0 || p[at + TI_P_ARMATURE] > 0 || p[at + TI_P_FREE_LOSS] > 0))
            return ti_fail(diag, TRIBO_E_ARG, 0,
                           "%s/free_damping: one of damping, armature and frictionloss of a free joint that has them "
                           "must be > 0",
                           m->body[i].name);
    }
    return TRIBO_OK;
}

/* Edit and read until the tree reads as the numbers wanted. */
static tribo_status edit_until_right(ti_edit *e, const tribo_model *m, tribo_diag *diag) {
    enum { PASSES = 4 };
    memcpy(e->have, e->want, sizeof(double) * (size_t)m->size.np);
    bool kept = keep_choices(m, e->want);
    if (!kept) memcpy(e->want, e->have, sizeof(double) * (size_t)m->size.np);
    tribo_status status = read_again(e, m, diag);
    if (status == TRIBO_OK && !kept) status = rank_geoms(e, m, diag);
    for (int pass = 0; pass < PASSES && status == TRIBO_OK; pass++) {
        ti_edit_scene(e, m);
        if (e->nomem) return ti_fail(diag, TRIBO_E_NOMEM, 0, "out of memory");
        if (e->scene.error.status != TRIBO_OK)
            return ti_fail(diag, TRIBO_E_ARG, e->scene.error.diag.line, "%s", e->scene.error.diag.text);
        status = read_again(e, m, diag);
    }
    return status == TRIBO_OK ? judge_outcome(e, m, diag) : status;
}

static tribo_status write_tree(ti_edit *e, const char *out, tribo_diag *diag) {
    xmlChar *text = NULL;
    int n = 0;
    xmlDocDumpMemory(e->doc, &text, &n);
    if (!text) return ti_fail(diag, TRIBO_E_NOMEM, 0, "out of memory");
    ti_output file;
    tribo_status status = ti_output_open(&file, out, diag);
    if (status == TRIBO_OK) {
        fwrite(text, 1, (size_t)n, file.file);
        status = ti_output_close(&file, out, diag);
    }
    xmlFree(text);
    return status;
}

tribo_status tribo_model_save(const tribo_model *m, const double *p, const char *path, const char *out,
                              tribo_diag *diag) {
    tribo_status status = tribo_params_check(m, p, diag);
    if (status == TRIBO_OK) status = judge_free(m, p, diag);
    if (status != TRIBO_OK) return status;
    if (!out) return ti_fail(diag, TRIBO_E_ARG, 0, "no name for the new file");
    char *text;
    size_t n, bytes;
    status = ti_read_file(path, &m->alloc, &text, &n, &bytes, diag);
    if (status != TRIBO_OK) return status;
    ti_edit e = {.bytes = 2 * sizeof(double) * (size_t)m->size.np};
    status = ti_xml_parse(text, n, &e.doc, diag);
    ti_free(&m->alloc, text, bytes);
    if (status != TRIBO_OK) return status;
    if (!e.doc->URL) e.doc->URL = xmlStrdup((const xmlChar *)path); /* where its meshes are */
    tribo_load_options o = options_of(m);
    status = ti_scene_complete(&e.doc, path, &o, &m->alloc, &e.sources, diag);
    e.want = status == TRIBO_OK ? ti_alloc(&m->alloc, e.bytes) : NULL;
    if (e.want) {
        e.have = e.want + m->size.np;
        memcpy(e.want, p, sizeof *p * (size_t)m->size.np);
        unit_quaternions(m, e.want);
        status = edit_until_right(&e, m, diag);
        if (status == TRIBO_OK) ti_mjcf_mesh_paths(&e.scene, out);
        if (status == TRIBO_OK) status = write_tree(&e, out, diag);
    } else if (status == TRIBO_OK) {
        status = ti_fail(diag, TRIBO_E_NOMEM, 0, "out of memory");
    }
    forget_reading(&e);
    ti_free(&m->alloc, e.want, e.want ? e.bytes : 0);
    xmlFreeDoc(e.doc);
    ti_mjcf_sources_free(e.sources, &m->alloc);
    return status;
}
