/* xml.c -- a thin layer over libxml2. */
#include "formats/xml.h"
#include "formats/text.h"
#include <libxml/parser.h>
#include <stdarg.h>
#include <stdio.h>

static const char TOO_MUCH[] = "a document type declaration (DTD, entities) is not accepted";

/* Called at `<!DOCTYPE`: nothing of it is to be read, let alone expanded. */
static void refuse_dtd(void *context, const xmlChar *name, const xmlChar *external, const xmlChar *system) {
    (void)name, (void)external, (void)system;
    xmlParserCtxt *parser = context;
    *(bool *)parser->_private = true;
    xmlStopParser(parser);
}

/* How much of a text is a declaration of version 0, which no parser knows and many robots begin with. */
static size_t odd_declaration(const char *text, size_t n) {
    static const char BEGIN[] = "<?xml ", END[] = "?>";
    enum { MOST = 100 };
    char head[MOST + 1] = {0};
    memcpy(head, text, n < MOST ? n : MOST);
    const char *end = strncmp(head, BEGIN, sizeof BEGIN - 1) == 0 ? strstr(head, END) : NULL;
    const char *version = end ? strstr(head, "version=") : NULL;
    bool odd = version && version < end && version[sizeof "version="] == '0';
    return odd ? (size_t)(end - head) + sizeof END - 1 : 0;
}

tribo_status ti_xml_parse(const char *text, size_t n, xmlDoc **doc, tribo_diag *diag) {
    if (n == 0) return ti_fail(diag, TRIBO_E_PARSE, 0, "the file is empty");
    const char *bad = ti_not_text(text, text + n); /* before libxml2 converts it, and says so on standard error */
    if (bad) return ti_fail(diag, TRIBO_E_PARSE, ti_count_lines(text, bad), "this is not UTF-8 text");
    if (n > INT32_MAX) return ti_fail(diag, TRIBO_E_PARSE, 0, "the file is too large");
    size_t skipped = odd_declaration(text, n);
    text += skipped, n -= skipped;
    xmlParserCtxt *parser = xmlNewParserCtxt();
    if (!parser) return ti_fail(diag, TRIBO_E_NOMEM, 0, "out of memory");
    bool dtd = false;
    parser->_private = &dtd;
    parser->sax->internalSubset = refuse_dtd;
    int options = XML_PARSE_NONET | XML_PARSE_BIG_LINES | XML_PARSE_NOERROR | XML_PARSE_NOWARNING;
    xmlDoc *made = xmlCtxtReadMemory(parser, text, (int)n, NULL, "UTF-8", options);
    tribo_status status = TRIBO_OK;
    const xmlError *why = xmlCtxtGetLastError(parser);
    if (dtd) {
        status = ti_fail(diag, TRIBO_E_PARSE, parser->input ? parser->input->line : 0, "%s", TOO_MUCH);
    } else if (!made && why && why->code == XML_ERR_NO_MEMORY) {
        status = ti_fail(diag, TRIBO_E_NOMEM, 0, "out of memory");
    } else if (!made) {
        const char *message = why && why->message ? why->message : "not XML";
        status = ti_fail(diag, TRIBO_E_PARSE, why ? why->line : 0, "XML: %.*s", (int)strcspn(message, "\n"), message);
    }
    if (status != TRIBO_OK && made) xmlFreeDoc(made);
    if (status == TRIBO_OK) *doc = made;
    xmlFreeParserCtxt(parser);
    return status;
}

int ti_xml_line(const xmlNode *node) {
    return node ? (int)xmlGetLineNo(node) : 0;
}

const ti_xml_source *ti_xml_source_of(const xmlNode *node) {
    return node ? node->_private : NULL;
}

int ti_xml_top_line(const xmlNode *node) {
    const ti_xml_source *s = ti_xml_source_of(node);
    int line = ti_xml_line(node);
    for (; s; s = s->from) line = s->line;
    return line;
}

/* "in a.xml:3, b.xml:7: ", the files on the way to an element; nothing if it is in the one asked for. */
static int write_chain(char *text, size_t room, const ti_xml_source *s, int line, bool last) {
    if (!s) return snprintf(text, room, "in ");
    int n = write_chain(text, room, s->from, s->line, false);
    if (n < 0 || (size_t)n >= room) return n;
    return n + snprintf(text + n, room - (size_t)n, "%.80s:%d%s", s->path, line, last ? ": " : ", ");
}

void ti_xml_fail(ti_xml_error *e, const xmlNode *at, const char *attribute, const char *format, ...) {
    if (e->status != TRIBO_OK) return;
    e->status = TRIBO_E_PARSE;
    e->diag.line = ti_xml_top_line(at);
    size_t room = sizeof e->diag.text, most = room / 2;
    const ti_xml_source *source = ti_xml_source_of(at);
    int n = source ? write_chain(e->diag.text, most, source, ti_xml_line(at), true) : 0;
    if (n >= (int)most) n = (int)most - 1;
    if (at)
        n += snprintf(e->diag.text + n, room - (size_t)n, "<%.40s%s%.40s>: ", (const char *)at->name,
                      attribute ? " " : "", attribute ? attribute : "");
    va_list args;
    va_start(args, format);
    vsnprintf(e->diag.text + n, room - (size_t)n, format, args);
    va_end(args);
}

bool ti_xml_is(const xmlNode *node, const char *name) {
    return strcmp((const char *)node->name, name) == 0;
}

bool ti_xml_listed(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += n)
        if (n && (at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0')) return true;
    return false;
}

/* The first element from `node` on. Text between elements says nothing, in MuJoCo too. */
static xmlNode *element(ti_xml_error *e, xmlNode *node) {
    for (; node; node = node->next) {
        if (node->type == XML_ELEMENT_NODE) return node;
        if (node->type == XML_COMMENT_NODE || node->type == XML_PI_NODE) continue;
        if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE) continue;
        ti_xml_fail(e, node->parent, NULL, "only elements belong here");
        return NULL;
    }
    return NULL;
}

xmlNode *ti_xml_child(ti_xml_error *e, const xmlNode *node) {
    return element(e, node->children);
}

xmlNode *ti_xml_next(ti_xml_error *e, const xmlNode *node) {
    return element(e, node->next);
}

const char *ti_xml_attr(ti_xml_error *e, const xmlNode *node, const char *name) {
    for (const xmlAttr *a = node->properties; a; a = a->next) {
        if (strcmp((const char *)a->name, name) != 0) continue;
        const xmlNode *value = a->children;
        if (!value) return "";
        if (value->next || value->type != XML_TEXT_NODE || !value->content) {
            ti_xml_fail(e, node, name, "its value is not plain text");
            return NULL;
        }
        return (const char *)value->content;
    }
    return NULL;
}

void ti_xml_allow(ti_xml_error *e, const xmlNode *node, const char *list) {
    for (const xmlAttr *a = node->properties; a; a = a->next)
        if (!ti_xml_listed(list, (const char *)a->name))
            ti_xml_fail(e, node, (const char *)a->name, "this attribute is not supported");
}

int ti_xml_numbers(ti_xml_error *e, const xmlNode *node, const char *name, const char *text, double *out, int max) {
    static const char BLANK[] = " \t\r\n";
    int n = 0;
    for (const char *at = text + strspn(text, BLANK); *at; at += strspn(at, BLANK)) {
        double x;
        const char *end = ti_read_number(at, &x);
        if (!end || (*end && !strchr(BLANK, *end))) {
            ti_xml_fail(e, node, name, "`%.*s` is not a number", (int)ti_cut(at, strcspn(at, BLANK), 60), at);
            return -1;
        }
        if (n == max) {
            ti_xml_fail(e, node, name, "more than %d numbers", max);
            return -1;
        }
        out[n++] = x;
        at = end;
    }
    return n;
}
