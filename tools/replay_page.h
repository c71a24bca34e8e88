/* replay_page.h -- a replay as a part of a page. */
#ifndef TRIBO_TOOLS_REPLAY_PAGE_H
#define TRIBO_TOOLS_REPLAY_PAGE_H
#include "replay.h"
#include <stdbool.h>
#include <stdio.h>

/* The figure with its data and what plays it, once in a page; thinned to what a page can bear. @return false without
 * memory. */
bool replay_write(FILE *f, replay *r, const char *caption);

#endif
