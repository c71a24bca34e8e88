/* page_text.h -- the files of tools/page, as the build puts them into the command. */
#ifndef TRIBO_TOOLS_PAGE_TEXT_H
#define TRIBO_TOOLS_PAGE_TEXT_H

extern const char page_css[], replay_css[], replay_js[];

#endif
