/* report.h -- one self-contained HTML page: headings, text, tables, plots. Every text is escaped. */
#ifndef TRIBO_TOOLS_REPORT_H
#define TRIBO_TOOLS_REPORT_H
#include "plot.h"
#include <stdio.h>

void report_begin(FILE *f, const char *title);
/* The same for a page that is mostly a replay: as wide as the window. */
void report_begin_view(FILE *f, const char *title);
void report_heading(FILE *f, const char *text);
void report_text(FILE *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A paragraph that is not to be passed over. */
void report_warning(FILE *f, const char *text);
/* A table: its head, rows of as many cells, its end. Cells that begin like numbers are aligned as such. */
void report_table_begin(FILE *f, int n, const char *const *head);
void report_table_row(FILE *f, int n, const char *const *cell);
void report_table_end(FILE *f);
/* A picture with a line below it; where it cannot be drawn, a line says so. */
void report_plot(FILE *f, const plot *p, const char *name, const char *caption);
/* The same of a picture that was drawn before; NULL = it could not be. */
void report_picture(FILE *f, const char *svg, const char *caption);
/* A folded block of text as it is: a configuration, a command line. */
void report_verbatim(FILE *f, const char *summary, const char *text);
/* The command line that made the page, folded. */
void report_command(FILE *f, int argc, char *const *argv);
void report_end(FILE *f);
/* text with < > & " ' written so that HTML and XML take them literally. */
void report_escape(FILE *f, const char *text);

#endif
