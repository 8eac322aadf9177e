/* SPDX-License-Identifier: MIT
 *
 * The file of a tree of processes (jprof-tree): what is known of those that
 * may have no log.  It is made when there is something to say, and opened by
 * its path for each line, so a vfork child may write one as well.
 * Runs in: handler, any thread, vfork children. */
#ifndef JP_TREE_H
#define JP_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "sig/os/text.h"

/* Builds its path, once; in the constructor. */
void jp_tree_init(void);

/* Its file name, "" when there can be none. */
const char *jp_tree_name_sig(void);

/* Whether lines are wanted: the profile has begun. */
int jp_tree_wanted_sig(void);

/* Begins a line in `text`: time, event, root and pid. */
void jp_tree_line_sig(struct jp_text *text, const char *event, uint32_t pid);

/* Ends the line and appends it to the file; what fails, fails in silence. */
void jp_tree_append_sig(struct jp_text *text);

/* A child was waited for that used so much CPU time, its own children's
 * included; under JP_TREE_CPU_MIN_NS nothing is written. */
void jp_tree_child_sig(uint32_t pid, uint64_t cpu_ns);

/* This process's log cannot be made; `buffer` is for the line. */
void jp_tree_nolog_sig(char *buffer, size_t size, int error);

#endif
