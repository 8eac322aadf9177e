/* SPDX-License-Identifier: MIT
 *
 * Text that the program has moved to memory without a file, at the same
 * addresses, as programs do that want huge pages for it (node
 * --use-largepages, PHP's opcache.huge_code_pages, BOLT's --hugify, iodlr).
 * One scan at a time calls these functions.
 * Runs in: handler, any thread. */
#ifndef JP_MOVED_H
#define JP_MOVED_H

#include "procmaps.h"

/* Called for each mapping of a file's beginning, in the order of addresses:
 * text that follows may be this file's. */
void jp_moved_begins_sig(const struct jp_vma *vma);

/* If an executable mapping without a file lies where the last file has its
 * text, and has the same bytes: makes it a mapping of that file, with a path
 * that is valid until the next call of jp_moved_begins_sig. */
void jp_moved_adopt_sig(struct jp_vma *vma);

#endif
