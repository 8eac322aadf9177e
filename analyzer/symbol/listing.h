/* SPDX-License-Identifier: MIT
 *
 * Lines of the source files that debug information names: source text, or a
 * listing of opcodes that a compiler wrote.
 * Runs in: analyzer. */
#ifndef JR_LISTING_H
#define JR_LISTING_H

#include <stddef.h>
#include <stdint.h>

struct jr_listings;

/* `folder`, with its slash or "", is that of the log: a file that is not where
 * its name says is looked for there, by the name's last part. */
struct jr_listings *jr_listings_new(const char *folder);
void jr_listings_free(struct jr_listings *listings);

/* Line `line`, from 1 on, of `file`, as debug information names it (a path,
 * a file: URL).  Returns its length without the line break, at most
 * JR_LISTING_LINE_MAX, and sets *text, which no NUL follows; -1: not found.
 * Files are read when they are first asked for: regular ones, some tens of
 * megabytes in all. */
#define JR_LISTING_LINE_MAX 300
int jr_listings_line(struct jr_listings *listings, const char *file,
                     uint32_t line, const char **text);

#endif
