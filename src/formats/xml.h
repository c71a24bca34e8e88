/* xml.h -- XML as a reader of scenes wants it: no network, no DTD, every error with its line and element. */
#ifndef TI_XML_H
#define TI_XML_H
#include "base/base.h"
#include <libxml/tree.h>

/* Parse from memory. Refuses document type declarations, and with them every kind of entity.
 * @return TRIBO_OK; TRIBO_E_PARSE; TRIBO_E_NOMEM. Release with xmlFreeDoc(). */
tribo_status ti_xml_parse(const char *text, size_t n, xmlDoc **doc, tribo_diag *diag);

/* The file that an element came from, where that is not the one that was asked for: its _private points here. */
typedef struct ti_xml_source {
    struct ti_xml_source *next;       /* the one read before, for whoever frees them */
    const struct ti_xml_source *from; /* the file that includes it, NULL = the one asked for */
    int line, depth;                  /* where it does so, and through how many others */
    size_t bytes;                     /* of this record */
    char path[];
} ti_xml_source;

/* The first error, with the line and element it was found at. */
typedef struct ti_xml_error {
    tribo_status status;
    tribo_diag diag;
} ti_xml_error;

/* Remember "<element attribute>: what", unless there is an error already. attribute may be NULL. */
void ti_xml_fail(ti_xml_error *e, const xmlNode *at, const char *attribute, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Its line in its own file. */
int ti_xml_line(const xmlNode *node);
/* The file it came from; NULL = the one that was asked for. */
const ti_xml_source *ti_xml_source_of(const xmlNode *node);
/* The line of the file asked for that an element stands in, or that the file is included at which it came from. */
int ti_xml_top_line(const xmlNode *node);
bool ti_xml_is(const xmlNode *node, const char *name);
/* Is `name` one of the words of `list`, which are separated by single blanks? */
bool ti_xml_listed(const char *list, const char *name);

/* First child element, next sibling element; NULL at the end. Text between elements is an error. */
xmlNode *ti_xml_child(ti_xml_error *e, const xmlNode *node);
xmlNode *ti_xml_next(ti_xml_error *e, const xmlNode *node);

/* Value of an attribute, in the document's memory; NULL if there is none. */
const char *ti_xml_attr(ti_xml_error *e, const xmlNode *node, const char *name);
/* Every attribute must be one of those listed. */
void ti_xml_allow(ti_xml_error *e, const xmlNode *node, const char *list);

/* Numbers of a list, at most max. @return how many; -1 after an error. `name` is for the message. */
int ti_xml_numbers(ti_xml_error *e, const xmlNode *node, const char *name, const char *text, double *out, int max);

#endif
