/* progress.h -- a line on standard error at least every second of what takes long. */
#ifndef TRIBO_TOOLS_PROGRESS_H
#define TRIBO_TOOLS_PROGRESS_H
#include <stdbool.h>

/* From here on a second does not pass without a line, until the end. Without a thread there are fewer lines. */
void progress_begin(void);
void progress_end(void);
/* What is under way, said now, or when the second is over. Nothing before progress_begin(). */
void progress_state(bool now, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Seconds since the beginning. */
double progress_seconds(void);

/* The first SIGINT or SIGTERM sets the flag, the second ends the process. */
void interrupts_catch(void);
/* Polled by the library while it works. */
extern const volatile int *const interrupts_flag;

#endif
