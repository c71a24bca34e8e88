/* progress.h -- a line on standard error at least every second of what takes long. */
#ifndef TRIBO_TOOLS_PROGRESS_H
#define TRIBO_TOOLS_PROGRESS_H
#include <stdbool.h>

/* From here on a second does not pass without a line, until the end. Without a thread there are fewer lines. */
void progress_begin(void);
void progress_end(void);
/* What is under way, said now, or when the second is over. Nothing before progress_begin(). */
void progress_state(bool now, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* How much of a whole is done, for the bar of a terminal. */
void progress_part(int part, int parts);
/* Seconds since the beginning. */
double progress_seconds(void);

/* The first SIGINT or SIGTERM sets the flag, the second ends the process. */
void interrupts_catch(void);
/* Once all is written: end by the signal that came, if one did, so that a shell knows and stops its loop. */
void interrupts_conclude(void);
/* Polled by the library while it works. */
extern const volatile int *const interrupts_flag;

#endif
