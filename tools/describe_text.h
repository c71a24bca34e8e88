/* describe_text.h -- pieces that every description of the command is made of. */
#ifndef TRIBO_TOOLS_DESCRIBE_TEXT_H
#define TRIBO_TOOLS_DESCRIBE_TEXT_H
#include "option_table.h"
#include <stddef.h>

/* A paragraph of a text: up to a newline; those that begin with a blank stand as they are. */
typedef struct paragraph {
    const char *at; /* NULL: none is left */
    int n;
    bool as_it_is;
} paragraph;
paragraph text_first(const char *text);
paragraph text_next(paragraph p);

/* Characters in n bytes of UTF-8. */
int text_width(const char *text, int n);
/* --name VALUE */
void text_option(char *out, size_t size, const option_row *row);
/* The k-th word of how a verb is used: its operands (-1), its options, its groups. @return false beyond the last. */
bool text_usage(char *out, size_t size, const verb *v, int k);

/* What a value is completed by. */
typedef enum value_kind { VALUE_NONE, VALUE_OTHER, VALUE_WORDS, VALUE_FILES, VALUE_FOLDER, VALUE_PARAMETER } value_kind;
/* @param list [out] words, or endings of files, blanks between them */
value_kind text_value(const char *value, char *list, size_t size);

const char *describe_command_about(void);
const char *describe_command_notes(void);
extern const char *const describe_statuses[][2], *const describe_variables[][2];

#endif
