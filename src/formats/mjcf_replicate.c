/* mjcf_replicate.c -- puts copies, each in a frame of its own, where `replicate` asks for them. */
#include "formats/mjcf_reading.h"
#include <math.h>
#include <stdio.h>

/* What is copied is mostly small; what is long, as a remark may be, makes much of a short file. Frames in frames are as
 * deep as files that include each other make them. */
enum { ELEMENTS_LIMIT = 1 << 14, BYTES_LIMIT = 1 << 26, DEPTH_LIMIT = 1000 };

/* How much there is: elements, and bytes of memory that all of it takes, about. */
typedef struct amount {
    double elements, bytes;
} amount;

static double bytes_of(const xmlChar *text) {
    return text ? (double)xmlStrlen(text) : 0;
}

/* That below a node, added. */
static void add_below(const xmlNode *node, amount *a) {
    for (const xmlNode *c = node->children; c; c = c->next) {
        a->bytes += (double)sizeof *c;
        if (c->type != XML_ELEMENT_NODE) {
            a->bytes += bytes_of(c->content);
            continue;
        }
        for (const xmlAttr *x = c->properties; x; x = x->next)
            a->bytes += (double)(sizeof *x + sizeof *c) + (x->children ? bytes_of(x->children->content) : 0);
        a->elements++;
        add_below(c, a);
    }
}

static void set(ti_mjcf *r, xmlNode *node, const char *name, const char *text) {
    if (!xmlSetProp(node, (const xmlChar *)name, (const xmlChar *)text)) r->error.status = TRIBO_E_NOMEM;
}

/* Names of a copy and of what is in it end differently; it comes from where the original does. */
static void mark(ti_mjcf *r, xmlNode *copy, const xmlNode *original, const char *suffix) {
    copy->_private = original->_private;
    const char *name = ti_xml_attr(&r->error, copy, "name");
    char text[256];
    if (name && *name) {
        int n = snprintf(text, sizeof text, "%s%s", name, suffix);
        if (n >= (int)sizeof text)
            ti_xml_fail(&r->error, original, "name", "too long");
        else
            set(r, copy, "name", text);
    }
    const xmlNode *o = original->children;
    for (xmlNode *c = copy->children; c && o && !ti_mjcf_bad(r); c = c->next, o = o->next)
        if (c->type == XML_ELEMENT_NODE) mark(r, c, o, suffix);
}

/* An empty frame before a node, which is elsewhere. */
static xmlNode *new_frame(ti_mjcf *r, xmlNode *at, const ti_frame *f) {
    char text[128];
    const char *class = ti_xml_attr(&r->error, at, "childclass");
    xmlNode *made = xmlNewDocNode(at->doc, NULL, (const xmlChar *)"frame", NULL);
    if (!made || !xmlAddPrevSibling(at, made)) {
        xmlFreeNode(made);
        r->error.status = TRIBO_E_NOMEM;
        return NULL;
    }
    made->_private = at->_private, made->line = at->line;
    snprintf(text, sizeof text, "%.17g %.17g %.17g", f->pos[0], f->pos[1], f->pos[2]);
    set(r, made, "pos", text);
    snprintf(text, sizeof text, "%.17g %.17g %.17g %.17g", f->quat[0], f->quat[1], f->quat[2], f->quat[3]);
    set(r, made, "quat", text);
    if (class) set(r, made, "childclass", class);
    return made;
}

/* One more of what is in `at`. */
static void copy_into(ti_mjcf *r, xmlNode *frame, const xmlNode *at, const char *suffix) {
    for (xmlNode *c = at->children; c && !ti_mjcf_bad(r); c = c->next) {
        if (c->type != XML_ELEMENT_NODE) continue;
        xmlNode *copy = xmlDocCopyNode(c, at->doc, 1);
        if (copy && xmlAddChild(frame, copy)) {
            mark(r, copy, c, suffix);
        } else {
            xmlFreeNode(copy);
            r->error.status = TRIBO_E_NOMEM;
        }
    }
}

/* Where copy i is, after `last`, that of the one before: farther by an offset along the axes of that, turned by i times
 * the angles, as in MuJoCo, which is not i times the turn. */
static ti_frame next_of(const ti_mjcf *r, const ti_frame *last, const double offset[3], const double euler[3], int i) {
    const double angles[3] = {i * euler[0], i * euler[1], i * euler[2]};
    ti_mat R = ti_quat_mat(last->quat);
    ti_frame f;
    ti_store3(f.pos, ti_add(ti_load3(last->pos), ti_mul(&R, ti_load3(offset))));
    ti_mjcf_euler(r, angles, f.quat);
    return f;
}

/* Take what so many copies need from what is left. */
static void take(ti_mjcf *r, const xmlNode *at, double count, amount *left) {
    amount one = {1, 0};
    add_below(at, &one);
    left->elements -= count * one.elements, left->bytes -= count * one.bytes;
    if (left->elements < 0) ti_xml_fail(&r->error, at, "count", "more than %d elements in all", ELEMENTS_LIMIT);
    if (left->bytes < 0) ti_xml_fail(&r->error, at, "count", "more than %d MB in all", BYTES_LIMIT >> 20);
}

/* Copies of what is in `at` before it. */
static void replicate(ti_mjcf *r, xmlNode *at, amount *left) {
    const char *sep = ti_xml_attr(&r->error, at, "sep");
    double count = -1, offset[3] = {0}, euler[3] = {0};
    ti_frame f = {{0, 0, 0}, {1, 0, 0, 0}};
    ti_xml_allow(&r->error, at, "count offset euler sep childclass");
    if (!ti_mjcf_numbers(r, at, -1, "count", &count, 1, 1)) ti_xml_fail(&r->error, at, "count", "missing");
    ti_mjcf_numbers(r, at, -1, "offset", offset, 3, 3);
    ti_mjcf_numbers(r, at, -1, "euler", euler, 3, 3);
    if (!(count >= 0) || count != floor(count)) ti_xml_fail(&r->error, at, "count", "a whole number expected");
    take(r, at, count, left);
    if (ti_mjcf_bad(r)) return;
    char suffix[128];
    int digits = snprintf(suffix, sizeof suffix, "%.0f", count);
    for (int i = 0; i < (int)count && !ti_mjcf_bad(r); i++) {
        if (i > 0) f = next_of(r, &f, offset, euler, i);
        if (!ti_finite(f.pos, 3) || !ti_finite(f.quat, 4)) ti_xml_fail(&r->error, at, NULL, "copy %d is nowhere", i);
        if (snprintf(suffix, sizeof suffix, "%s%0*d", sep ? sep : "", digits, i) >= (int)sizeof suffix)
            ti_xml_fail(&r->error, at, "sep", "too long");
        xmlNode *frame = ti_mjcf_bad(r) ? NULL : new_frame(r, at, &f);
        if (frame) copy_into(r, frame, at, suffix);
    }
}

/* Those within others come first: what they make is copied with the rest. Those in what is no body are told later, as
 * all that does not belong there. */
static void expand(ti_mjcf *r, xmlNode *node, int depth, amount *left) {
    if (depth > DEPTH_LIMIT) ti_xml_fail(&r->error, node, NULL, "nested more than %d deep", DEPTH_LIMIT);
    for (xmlNode *c = node->children, *next; c && !ti_mjcf_bad(r); c = next) {
        next = c->next;
        if (c->type != XML_ELEMENT_NODE || !ti_xml_listed("body frame replicate", (const char *)c->name)) continue;
        expand(r, c, depth + 1, left);
        if (!ti_xml_is(c, "replicate") || ti_mjcf_bad(r)) continue;
        replicate(r, c, left);
        if (ti_mjcf_bad(r)) return; /* the error is of it */
        xmlUnlinkNode(c), xmlFreeNode(c);
    }
}

void ti_mjcf_replicate(ti_mjcf *r, xmlNode *worldbody) {
    amount left = {ELEMENTS_LIMIT, BYTES_LIMIT};
    expand(r, worldbody, 0, &left);
}
