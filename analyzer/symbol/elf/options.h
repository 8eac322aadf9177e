/* SPDX-License-Identifier: MIT
 *
 * How symbols are read.
 * Runs in: analyzer. */
#ifndef JR_SYMBOLS_OPTIONS_H
#define JR_SYMBOLS_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

struct jr_fetch;
struct jr_table;

/* Folders in which separate debug files are looked for before /usr/lib/debug:
 * such folders, or the roots of other systems. */
struct jr_debug_folders {
    const char **items;
    size_t count, room;
    struct jr_fetch *fetch; /* what is found nowhere is asked for; NULL: not */
    struct jr_table *told; /* files, by device and inode, of which was said that
                              they are another's; NULL: that is not said */
};

/* How symbols are read; all zero is the default. */
struct jr_symbols_options {
    struct jr_debug_folders folders; /* must outlive the symbols */
    uint8_t no_inline; /* functions that were inlined are not told apart */
    const char *const *archived; /* paths of the names of archives, which what
                                    is of one has in place of files */
    size_t narchived;
    uint8_t record_code; /* keep what code is asked for, for an archive */
};

#endif
