/* mjcf_contact.c -- reader of MJCF scenes: pairs, exclusions, the numbers that MJCF has no word for, the start. */
#include "formats/mjcf_reading.h"
#include "formats/text.h"
#include "model/inertia.h"
#include "model/shape.h"
#include "model/state.h"
#include <math.h>

int ti_mjcf_geom_named(const ti_mjcf *r, const char *name, size_t n) {
    const tribo_builder *b = r->builder;
    char whole[TI_NAME_MAX + 1];
    if (n > TI_NAME_MAX) return -1;
    memcpy(whole, name, n), whole[n] = 0;
    int geom = ti_builder_geom(b, whole), body = geom < 0 ? ti_builder_body(b, whole) : -1;
    if (body < 0 || b->body[body].geom_first != b->body[body].geom_last) return geom;
    return b->body[body].geom_first;
}

static int geom_of_pair(ti_mjcf *r, const xmlNode *node, const char *attribute) {
    const char *name = ti_xml_attr(&r->error, node, attribute);
    int geom = name ? ti_builder_geom(r->builder, name) : -1;
    if (geom >= 0) return geom;
    ti_xml_fail(&r->error, node, attribute, "there is no geom `%.60s`", name ? name : "");
    return -1;
}

/* The material two geoms have together, by the rule of tribo_pair_def. */
static tribo_material together(const ti_geom_rec *a, const ti_geom_rec *b) {
    const tribo_material *x = &a->def.material, *y = &b->def.material;
    if (a->def.priority != b->def.priority) return a->def.priority > b->def.priority ? *x : *y;
    return (tribo_material){fmax(x->friction, y->friction),
                            fmax(x->stiction, y->stiction),
                            fmax(x->restitution, y->restitution),
                            fmax(x->baumgarte, y->baumgarte),
                            fmax(x->slop, y->slop),
                            fmax(x->torsion, y->torsion),
                            fmax(x->rolling, y->rolling),
                            fmax(x->compliance, y->compliance)};
}

void ti_mjcf_margin(ti_mjcf *r, const xmlNode *node, int class, double *margin, double *gap) {
    ti_mjcf_numbers(r, node, class, "margin", margin, 1, 1);
    ti_mjcf_numbers(r, node, class, "gap", gap, 1, 1);
}

void ti_mjcf_condim(ti_mjcf *r, const xmlNode *node, int class, double torsion, double rolling, tribo_material *to) {
    double condim = to->rolling > 0 ? 6 : to->torsion > 0 ? 4 : 3;
    ti_mjcf_numbers(r, node, class, "condim", &condim, 1, 1);
    if (condim == 1) to->friction = 0;
    if (condim != 1 && condim != 3 && condim != 4 && condim != 6)
        ti_xml_fail(&r->error, node, "condim", "1, 3, 4 or 6 expected");
    to->torsion = condim > 3 ? torsion : 0, to->rolling = condim > 4 ? rolling : 0;
}

/* The pair that `d` says again, -1 if it is new. Two that are alike hold no more than one. */
static int pair_again(const ti_mjcf *r, const tribo_pair_def *d) {
    for (int i = 0; i < r->npair; i++) {
        const tribo_pair_def *o = &r->builder->pair[i].def;
        const tribo_material *a = &o->material, *b = &d->material;
        bool same = o->geom_a == d->geom_a && o->geom_b == d->geom_b;
        bool swapped = o->geom_a == d->geom_b && o->geom_b == d->geom_a;
        bool alike = a->friction == b->friction && a->torsion == b->torsion && a->rolling == b->rolling;
        if ((same || swapped) && alike && o->margin == d->margin && o->gap == d->gap) return i;
    }
    return -1;
}

/* Adds to a list of pairs. @return false without memory. */
static bool list_pair(ti_mjcf *r, ti_mjcf_pair **list, size_t *bytes, int n, const ti_mjcf_pair *pair) {
    ti_mjcf_pair *grown = ti_grow(&r->alloc, *list, bytes, (size_t)(n + 1) * sizeof **list);
    if (!grown) return r->error.status = TRIBO_E_NOMEM, false;
    *list = grown;
    grown[n] = *pair;
    return true;
}

static void keep_pair(ti_mjcf *r, xmlNode *node, int class, const tribo_pair_def *d) {
    ti_mjcf_pair pair = {node, class, pair_again(r, d)};
    if (pair.again >= 0) {
        r->ntwin += list_pair(r, &r->twin, &r->twin_bytes, r->ntwin, &pair);
        return;
    }
    if (!list_pair(r, &r->pair, &r->pair_bytes, r->npair, &pair)) return;
    ti_mjcf_at(r, node);
    if (tribo_add_pair(r->builder, d) == r->npair) r->npair++;
    ti_mjcf_settle(r);
}

bool ti_mjcf_paired(ti_mjcf *r, const xmlNode *geom) {
    const char *name = ti_xml_attr(&r->error, geom, "name");
    for (const xmlNode *c = name ? xmlDocGetRootElement(geom->doc)->children : NULL; c; c = c->next)
        for (const xmlNode *p = ti_xml_is(c, "contact") ? c->children : NULL; p; p = p->next) {
            if (!ti_xml_is(p, "pair")) continue;
            const char *a = ti_xml_attr(&r->error, p, "geom1"), *b = ti_xml_attr(&r->error, p, "geom2");
            if ((a && strcmp(a, name) == 0) || (b && strcmp(b, name) == 0)) return true;
        }
    return false;
}

static void read_pair(ti_mjcf *r, xmlNode *node) {
    int class = ti_mjcf_class_of(r, node, r->main);
    if (ti_mjcf_bad(r)) return;
    ti_mjcf_judge(r, node, class, "contact");
    tribo_pair_def d = tribo_default_pair();
    d.name = ti_xml_attr(&r->error, node, "name");
    d.geom_a = geom_of_pair(r, node, "geom1");
    d.geom_b = geom_of_pair(r, node, "geom2");
    if (ti_mjcf_bad(r)) return;
    d.material = together(&r->builder->geom[d.geom_a], &r->builder->geom[d.geom_b]);
    double friction[5] = {1, 1, 0.005, 0.0001, 0.0001};
    if (d.material.torsion > 0) friction[2] = d.material.torsion;
    if (d.material.rolling > 0) friction[3] = friction[4] = d.material.rolling;
    if (ti_mjcf_numbers(r, node, class, "friction", friction, 2, 5)) {
        if (friction[0] != friction[1])
            ti_xml_fail(&r->error, node, "friction", "the first two must be equal: friction has no directions here");
        d.material.friction = friction[0];
    }
    ti_mjcf_margin(r, node, class, &d.margin, &d.gap);
    ti_mjcf_condim(r, node, class, friction[2], friction[3], &d.material);
    if (d.material.rolling > 0 && friction[3] != friction[4])
        ti_xml_fail(&r->error, node, "friction", "the last two must be equal: friction has no directions here");
    if (!ti_mjcf_bad(r)) keep_pair(r, node, class, &d);
}

/* The element of a body by its name, below a node. */
static const xmlNode *body_element(const xmlNode *below, const char *name) {
    ti_xml_error quiet = {0};
    const xmlNode *found = NULL;
    for (const xmlNode *c = below->children; c && !found; c = c->next) {
        if (c->type != XML_ELEMENT_NODE || !ti_xml_listed("worldbody body frame", (const char *)c->name)) continue;
        const char *own = ti_xml_is(c, "body") ? ti_xml_attr(&quiet, c, "name") : NULL;
        found = own && strcmp(own, name) == 0 ? c : body_element(c, name);
    }
    return found;
}

/* The body that a geom's element is in. */
static const xmlNode *body_around(const xmlNode *node) {
    while (node && !ti_xml_listed("body worldbody", (const char *)node->name)) node = node->parent;
    return node;
}

/* One side of an exclusion: a body that moves, or one that does not, which is part of the world here. */
typedef struct side {
    int body;             /* TRIBO_WORLD = one that does not */
    const xmlNode *still; /* which; NULL = the world itself */
} side;

/* Whether a geom's element is of a side that stands still. */
static bool stands_in(const side *s, const xmlNode *geom) {
    const xmlNode *around = body_around(geom);
    return s->still ? around == s->still : around && ti_xml_is(around, "worldbody");
}

static bool side_of(ti_mjcf *r, const xmlNode *node, const char *attribute, side *s) {
    const char *name = ti_xml_attr(&r->error, node, attribute);
    *s = (side){TRIBO_WORLD, NULL};
    if (name && strcmp(name, "world") == 0) return true;
    int body = name ? ti_builder_body(r->builder, name) : -1;
    if (body >= 0) return s->body = body, true;
    s->still = name ? body_element(r->root, name) : NULL;
    if (!s->still) ti_xml_fail(&r->error, node, attribute, "there is no body `%.60s`", name ? name : "");
    return s->still != NULL;
}

static void read_exclude(ti_mjcf *r, const xmlNode *node) {
    side a, b;
    ti_mjcf_judge(r, node, -1, "contact");
    if (!side_of(r, node, "body1", &a) || !side_of(r, node, "body2", &b) || ti_mjcf_bad(r)) return;
    ti_mjcf_at(r, node);
    if (b.body == TRIBO_WORLD) {
        side swap = a;
        a = b, b = swap;
    }
    for (int i = 0; i < r->ngeom && a.body == TRIBO_WORLD && b.body >= 0; i++)
        if (stands_in(&a, r->geom[i].node)) ti_builder_exclude_geom(r->builder, i, b.body);
    if (a.body != TRIBO_WORLD) tribo_add_exclude(r->builder, a.body, b.body);
    ti_mjcf_settle(r);
}

void ti_mjcf_contact(ti_mjcf *r, const xmlNode *node) {
    for (xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c)) {
        if (!ti_mjcf_child(r, c, "contact")) continue;
        if (ti_xml_is(c, "pair"))
            read_pair(r, c);
        else
            read_exclude(r, c);
    }
}

/* Set one number of a material. @return false if there is no such word. */
static bool set_number(ti_mjcf *r, const xmlNode *node, tribo_material *m, const char *word, double x) {
    if (strcmp(word, "restitution") == 0)
        m->restitution = x;
    else if (strcmp(word, "baumgarte") == 0)
        m->baumgarte = x;
    else if (strcmp(word, "slop") == 0)
        m->slop = x;
    else if (strcmp(word, "compliance") == 0)
        m->compliance = x;
    else if (strcmp(word, "stiction") == 0)
        m->stiction = x;
    else if (strcmp(word, "friction_static") == 0) {
        m->stiction = x - m->friction;
        if (!(m->stiction >= 0))
            ti_xml_fail(&r->error, node, "data", "static friction %g is less than the kinetic one, %g", x, m->friction);
    } else {
        return false;
    }
    return true;
}

/* `contact/WORD` is an option of the contact law, by a text or a number. @return false if it is no such word. */
static bool read_law(ti_mjcf *r, const xmlNode *node) {
    const char *name = ti_xml_attr(&r->error, node, "name"), *value = ti_xml_attr(&r->error, node, "data");
    if (!name || strncmp(name, "contact/", 8) != 0) return false;
    bool text = ti_xml_is(node, "text"), found = false;
    const char *word;
    for (int k = 0; (word = tribo_law_word(k)); k++)
        found = found || (strcmp(word, name + 8) == 0 && tribo_law_word_is_name(k) == text);
    if (!found && text)
        ti_xml_fail(&r->error, node, "name", "`%.40s` is no text of the contact law: see docs/mjcf.md", name);
    if (!found) return false;
    ti_mjcf_judge(r, node, -1, "custom");
    tribo_diag diag;
    if (tribo_law_set(&r->builder->law, name + 8, value ? value : "", &diag))
        ti_xml_fail(&r->error, node, "data", "%s", diag.text);
    return true;
}

/* The restitution at the limits of a joint. @return false if there is no joint of that name, or this is no word of it
 * where a geom has the name too. */
static bool set_joint_number(ti_mjcf *r, const xmlNode *node, const char *name, size_t n, bool geom, double x) {
    tribo_builder *b = r->builder;
    bool own = strcmp(name + n, "/limit_restitution") == 0;
    int j = 0;
    while (j < b->njoint && !(strlen(b->joint[j].name) == n && strncmp(b->joint[j].name, name, n) == 0)) j++;
    if (j == b->njoint || (geom && !own)) return false;
    if (!own) ti_xml_fail(&r->error, node, "name", "`%.40s` is no word of a joint: see docs/mjcf.md", name + n + 1);
    if (!(x >= 0 && x <= 1)) ti_xml_fail(&r->error, node, "data", "limit_restitution must be in 0..1");
    b->joint[j].def.restitution = x;
    return true;
}

static void read_numeric(ti_mjcf *r, const xmlNode *node, ti_numeric_pass pass) {
    double x;
    const char *name = ti_xml_attr(&r->error, node, "name"), *slash = name ? strrchr(name, '/') : NULL;
    if (!slash) return; /* another program's */
    ti_mjcf_judge(r, node, -1, "custom");
    if (slash == name)
        ti_xml_fail(&r->error, node, "name", "a geom, pair or joint, then / and a word of docs/mjcf.md expected");
    if (!ti_mjcf_numbers(r, node, -1, "data", &x, 1, 1)) ti_xml_fail(&r->error, node, "data", "one number expected");
    if (ti_mjcf_bad(r)) return;
    size_t n = (size_t)(slash - name);
    tribo_material *m = NULL;
    int geom = ti_mjcf_geom_named(r, name, n), pair = -1;
    for (int i = 0; i < r->npair; i++) {
        const char *own = r->builder->pair[i].name;
        if (strlen(own) == n && strncmp(own, name, n) == 0) pair = i;
    }
    if (set_joint_number(r, node, name, n, geom >= 0 || pair >= 0, x))
        return;
    else if (geom >= 0 && pass == TI_NUMERIC_GEOMS)
        m = &r->builder->geom[geom].def.material;
    else if (pair >= 0)
        m = &r->builder->pair[pair].def.material;
    else if (geom < 0 && n == 7 && strncmp(name, "contact", n) == 0)
        ti_xml_fail(&r->error, node, "name", "`%.40s` is no number of the contact law: see docs/mjcf.md", name);
    else if (geom < 0 && pass == TI_NUMERIC_PAIRS)
        ti_xml_fail(&r->error, node, "name", "there is no geom, pair or joint `%.*s`", (int)ti_cut(name, n, 80), name);
    if (!m) return;
    if (geom >= 0 && strcmp(slash + 1, "edge_radius") == 0) {
        tribo_geom_def *d = &r->builder->geom[geom].def;
        const char *round = ti_edge_flaw(d->shape, d->size, x);
        if (round) ti_xml_fail(&r->error, node, "data", "%.*s: %s", (int)ti_cut(name, n, 80), name, round);
        d->edge_radius = x;
        return;
    }
    if (!set_number(r, node, m, slash + 1, x))
        ti_xml_fail(&r->error, node, "name", "`%.40s` is none of the words of docs/mjcf.md", slash + 1);
    const char *flaw = ti_material_flaw(m);
    if (flaw) ti_xml_fail(&r->error, node, "data", "%.*s: %s", (int)ti_cut(name, n, 80), name, flaw);
}

/* A word given twice, also stiction and friction_static, would depend on the order. Texts of others are not judged. */
static void refuse_repetition(ti_mjcf *r, const xmlNode *node, const xmlNode *word) {
    const char *name = ti_xml_attr(&r->error, word, "name"), *slash = name ? strrchr(name, '/') : NULL;
    const char *kind = ti_xml_is(word, "text") ? "text" : "numeric";
    if (!slash || (*kind == 't' && strncmp(name, "contact/", 8) != 0)) return;
    bool sticks = strcmp(slash, "/stiction") == 0 || strcmp(slash, "/friction_static") == 0;
    size_t n = (size_t)(slash - name) + 1;
    for (const xmlNode *c = ti_xml_child(&r->error, node); c && c != word; c = ti_xml_next(&r->error, c)) {
        const char *other = ti_xml_is(c, kind) ? ti_xml_attr(&r->error, c, "name") : NULL;
        if (!other || strncmp(other, name, n) != 0) continue;
        bool too = strcmp(other + n, "stiction") == 0 || strcmp(other + n, "friction_static") == 0;
        if (strcmp(other, name) == 0 || (sticks && too))
            ti_xml_fail(&r->error, word, "name", "`%.80s` is given already", other);
    }
}

void ti_mjcf_custom(ti_mjcf *r, const xmlNode *node, ti_numeric_pass pass) {
    for (xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c)) {
        bool text = ti_xml_is(c, "text");
        if (!ti_mjcf_child(r, c, "custom")) continue;
        refuse_repetition(r, node, c);
        if (!ti_mjcf_bad(r) && !read_law(r, c) && !text) read_numeric(r, c, pass); /* another text is a remark */
    }
}

/* Numbers of a key, as many as there are to be. Where something is left out they are those of another model. */
static bool key_numbers(ti_mjcf *r, const xmlNode *key, const char *name, double *out, int n) {
    const char *text = ti_xml_attr(&r->error, key, name);
    if (!text) return false;
    ti_xml_error other = {0};
    int needs = r->nneed - r->nremark, found = ti_xml_numbers(needs ? &other : &r->error, key, name, text, out, n);
    if (found == n || ti_mjcf_bad(r)) return found == n && n > 0;
    if (needs == 0)
        ti_xml_fail(&r->error, key, name, "%d numbers, expected %d", found, n);
    else if (needs > r->nmissing)
        ti_mjcf_need_of(r, key, name, "keyframe", "%d numbers are wanted where something is left out", n);
    return false;
}

/* As in MuJoCo, four zeros are no turn. */
static void turn_or_none(double *quat) {
    if (quat[0] * quat[0] + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3] < 1e-30) quat[0] = 1;
}

static void turn_none(const tribo_builder *b, double *q) {
    for (const ti_body_rec *r = b->body; r < b->body + b->nbody; r++) {
        if (ti_rec_is_free(r)) {
            turn_or_none(q + ti_joint_of(TI_JOINT_FREE)->quat);
            q += TI_FREE_NQ;
            continue;
        }
        for (int k = r->joint0; k < r->joint0 + r->njoint; k++) {
            const ti_joint_row *row = ti_joint_of((ti_joint_kind)b->joint[k].def.kind);
            if (row->quat >= 0) turn_or_none(q + row->quat);
            q += row->nq;
        }
    }
}

/* Whether `given` (n) is what it stands for, up to the rounding of a file's decimals. */
static bool is_placed(const double *given, const double *placed, int n, double sign) {
    double most = 0, off = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(placed[i])), off = fmax(off, fabs(sign * given[i] - placed[i]));
    return off <= 1e-9 * most;
}

/* A key may say where bodies of motion capture are, all of them (n), if that is where they are. */
static void judge_mocap(ti_mjcf *r, const xmlNode *key, const char *name, double *x, int n) {
    bool turns = strcmp(name, "mquat") == 0;
    int width = turns ? 4 : 3;
    if (!key_numbers(r, key, name, x, width * n)) return;
    for (int i = 0; i < r->nrider; i++) {
        const ti_frame *f = &r->rider[i].frame;
        if (!r->rider[i].mocap) continue;
        if (turns) turn_or_none(x), (void)ti_builder_unit(x);
        const double *placed = turns ? f->quat : f->pos;
        if (!is_placed(x, placed, width, 1) && !(turns && is_placed(x, placed, width, -1)))
            ti_mjcf_need_of(r, key, name, "mocap", "a key that places `mocap` bodies elsewhere is not supported");
        x += width;
    }
}

static void read_mocap(ti_mjcf *r, const xmlNode *key) {
    int n = 0;
    for (int i = 0; i < r->nrider; i++) n += r->rider[i].mocap;
    size_t bytes = sizeof(double) * 4 * (size_t)(n + 1);
    double *x = ti_alloc(&r->alloc, bytes);
    if (!x) {
        r->error.status = TRIBO_E_NOMEM;
        return;
    }
    judge_mocap(r, key, "mpos", x, n), judge_mocap(r, key, "mquat", x, n);
    ti_free(&r->alloc, x, bytes);
}

/* The first key is the start state, all are there by name. */
static void read_key(ti_mjcf *r, const xmlNode *key, double *q, double *v, double *u, const int size[3]) {
    ti_mjcf_judge(r, key, -1, "keyframe");
    bool has_q = key_numbers(r, key, "qpos", q, size[0]), has_v = key_numbers(r, key, "qvel", v, size[1]);
    bool has_u = key_numbers(r, key, "ctrl", u, size[2]);
    double time; /* says nothing here, but is a number */
    ti_mjcf_numbers(r, key, -1, "time", &time, 1, 1);
    read_mocap(r, key);
    ti_mjcf_at(r, key);
    if (ti_mjcf_bad(r)) return;
    if (has_q) turn_none(r->builder, q);
    if (!r->keyed) tribo_set_start(r->builder, has_q ? q : NULL, has_v ? v : NULL);
    r->keyed = true;
    tribo_add_key(r->builder, ti_xml_attr(&r->error, key, "name"), has_q ? q : NULL, has_v ? v : NULL,
                  has_u ? u : NULL);
    ti_mjcf_settle(r);
}

void ti_mjcf_keyframe(ti_mjcf *r, const xmlNode *node) {
    int size[3] = {0, 0, r->builder->nactuator};
    if (r->builder->nbody == 0) return;
    ti_builder_widths(r->builder, &size[0], &size[1]);
    size_t bytes = sizeof(double) * (size_t)(size[0] + size[1] + size[2]);
    double *q = ti_alloc(&r->alloc, bytes), *v = q ? q + size[0] : NULL, *u = q ? v + size[1] : NULL;
    if (!q) {
        r->error.status = TRIBO_E_NOMEM;
        return;
    }
    for (const xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c))
        if (ti_mjcf_child(r, c, "keyframe")) read_key(r, c, q, v, u, size);
    ti_free(&r->alloc, q, bytes);
}
