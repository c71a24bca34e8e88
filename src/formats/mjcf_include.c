/* mjcf_include.c -- puts the elements of other files where `include` asks for them. */
#include "formats/mjcf_reading.h"
#include "formats/text.h"
#include <libxml/parser.h>
#include <stdio.h>

enum { DEPTH_LIMIT = 32, FILES_LIMIT = 1024, PATH_ROOM = 1024 };

typedef struct includes {
    xmlDoc *doc;
    const char *path; /* of the file asked for; NULL: from memory */
    const tribo_allocator *alloc;
    ti_xml_source **all;
    ti_xml_error error;
    int files;
    size_t bytes; /* of all of them */
} includes;

/* The folder of a file, with its slash; "" if it has none. */
static int folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path + 1) : 0;
}

static void mark(xmlNode *node, ti_xml_source *source) {
    node->_private = source;
    for (xmlNode *c = node->children; c; c = c->next)
        if (c->type == XML_ELEMENT_NODE) mark(c, source);
}

static ti_xml_source *new_source(includes *in, const char *path, const xmlNode *at) {
    size_t bytes = sizeof(ti_xml_source) + strlen(path) + 1;
    ti_xml_source *s = ti_alloc(in->alloc, bytes);
    if (!s) {
        in->error.status = TRIBO_E_NOMEM;
        return NULL;
    }
    s->from = ti_xml_source_of(at), s->line = ti_xml_line(at), s->bytes = bytes, s->next = *in->all;
    s->depth = s->from ? s->from->depth + 1 : 1;
    memcpy(s->path, path, strlen(path) + 1);
    *in->all = s;
    return s;
}

static bool included(const includes *in, const char *path) {
    if (strcmp(in->path, path) == 0) return true;
    for (const ti_xml_source *s = *in->all; s; s = s->next)
        if (strcmp(s->path, path) == 0) return true;
    return false;
}

/* The text of a file, looked for beside the one asked for, then beside the one that includes it. */
static char *text_of(includes *in, const xmlNode *at, const char *file, char *path, size_t *n, size_t *bytes) {
    const ti_xml_source *from = ti_xml_source_of(at);
    const char *beside[2] = {in->path, from ? from->path : in->path};
    char *text = NULL;
    tribo_diag diag = {0};
    tribo_status status = TRIBO_E_IO;
    for (int k = 0; k < 2 && status == TRIBO_E_IO; k++) {
        int folder = *file == '/' ? 0 : folder_of(beside[k]);
        if (snprintf(path, PATH_ROOM, "%.*s%s", folder, beside[k], file) >= PATH_ROOM) {
            ti_xml_fail(&in->error, at, "file", "the name is too long");
            return NULL;
        }
        if (included(in, path)) {
            ti_xml_fail(&in->error, at, "file", "`%.200s` is included already", path);
            return NULL;
        }
        status = ti_read_file(path, in->alloc, &text, n, bytes, &diag);
    }
    if (status == TRIBO_OK) return text;
    if (status == TRIBO_E_NOMEM)
        in->error.status = status;
    else
        ti_xml_fail(&in->error, at, "file", "`%.100s`: %.200s", file, diag.text);
    return NULL;
}

/* The elements of a document before `at`. */
static void insert_all(includes *in, xmlNode *at, xmlDoc *from, ti_xml_source *source) {
    xmlNode *root = xmlDocGetRootElement(from);
    for (xmlNode *c = root ? root->children : NULL; c; c = c->next) {
        xmlNode *copy = xmlDocCopyNode(c, in->doc, 1);
        if (!copy) {
            in->error.status = TRIBO_E_NOMEM;
            return;
        }
        bool element = copy->type == XML_ELEMENT_NODE;
        if (element) mark(copy, source);
        copy = xmlAddPrevSibling(at, copy); /* text may melt into what is there */
        if (!copy) in->error.status = TRIBO_E_NOMEM;
    }
}

static void include(includes *in, xmlNode *at) {
    const char *file = ti_xml_attr(&in->error, at, "file");
    const ti_xml_source *from = ti_xml_source_of(at);
    char path[PATH_ROOM];
    size_t n, bytes;
    if (!in->path)
        ti_xml_fail(&in->error, at, NULL, "a scene from memory has no files beside it");
    else if (!file || !*file)
        ti_xml_fail(&in->error, at, "file", "missing");
    else if (ti_xml_child(&in->error, at))
        ti_xml_fail(&in->error, at, NULL, "has elements of its own");
    else if ((from && from->depth >= DEPTH_LIMIT) || in->files++ >= FILES_LIMIT)
        ti_xml_fail(&in->error, at, "file", "more than %d files deep, or %d in all", DEPTH_LIMIT, FILES_LIMIT);
    if (in->error.status != TRIBO_OK) return;
    char *text = text_of(in, at, file, path, &n, &bytes);
    ti_xml_source *source = text ? new_source(in, path, at) : NULL;
    xmlDoc *doc = NULL;
    tribo_diag diag = {0};
    if (source && (in->bytes += n) > TI_FILE_LIMIT) ti_xml_fail(&in->error, at, "file", "too much in all");
    if (source && in->error.status == TRIBO_OK) {
        tribo_status status = ti_xml_parse(text, n, &doc, &diag);
        if (status == TRIBO_E_NOMEM)
            in->error.status = status;
        else if (status != TRIBO_OK)
            ti_xml_fail(&in->error, at, "file", "%.200s:%d: %.200s", path, diag.line, diag.text);
    }
    ti_free(in->alloc, text, text ? bytes : 0);
    if (doc) insert_all(in, at, doc, source);
    if (doc) xmlFreeDoc(doc);
}

/* Include what the children of a node ask for, and what comes with it. */
static void expand(includes *in, xmlNode *node) {
    for (xmlNode *c = node->children, *next; c && in->error.status == TRIBO_OK; c = next) {
        next = c->next;
        if (c->type != XML_ELEMENT_NODE) continue;
        if (!ti_xml_is(c, "include")) {
            expand(in, c);
            continue;
        }
        xmlNode *before = c->prev;
        include(in, c);
        next = before ? before->next : node->children;
        if (next == c) next = c->next;
        if (in->error.status != TRIBO_OK) return;
        xmlUnlinkNode(c);
        xmlFreeNode(c);
    }
}

tribo_status ti_mjcf_include(xmlDoc *doc, const char *path, const tribo_allocator *a, ti_xml_source **all,
                             tribo_diag *diag) {
    includes in = {.doc = doc, .path = path, .alloc = a, .all = all};
    xmlNode *root = xmlDocGetRootElement(doc);
    if (root) expand(&in, root);
    if (in.error.status == TRIBO_E_NOMEM) return ti_fail(diag, TRIBO_E_NOMEM, 0, "out of memory");
    if (in.error.status != TRIBO_OK && diag) *diag = in.error.diag;
    return in.error.status;
}

void ti_mjcf_sources_free(ti_xml_source *all, const tribo_allocator *a) {
    while (all) {
        ti_xml_source *next = all->next;
        ti_free(a, all, all->bytes);
        all = next;
    }
}
