/* SPDX-License-Identifier: MIT
 *
 * The file of a process tree (jprof-tree), which tells of processes that may
 * have no log.  It is made with its first line, and opened by its path for each
 * line, so that a vfork child can write one as well.
 * Runs in: handler, any thread, vfork children. */
#ifndef JP_TREE_H
#define JP_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "sig/os/text.h"

/* Builds the file's path.  Called once, by the constructor. */
void jp_tree_init(void);

/* The file's name without its folder; "" when there can be no file. */
const char *jp_tree_name_sig(void);

/* Whether files can be made in the log's folder: 0 or -errno; 0 as well when it
 * cannot be asked. */
int jp_tree_reach_sig(void);

/* Whether lines are to be written: there can be a file, and the profile was
 * started. */
int jp_tree_wanted_sig(void);

/* Begins a line in `text`: time, event, the tree's first process and pid. */
void jp_tree_line_sig(struct jp_text *text, const char *event, uint32_t pid);

/* Ends the line and appends it to the file.  A failure has no effect. */
void jp_tree_append_sig(struct jp_text *text);

/* Writes the line of a child that was waited for.  cpu_ns: its CPU time, with
 * that of the children it waited for; writes nothing below
 * JP_TREE_CPU_MIN_NS. */
void jp_tree_child_sig(uint32_t pid, uint64_t cpu_ns);

/* Writes the line of this process, which no sample has found, so that it has no
 * log, and which ends or, with ended 0, executes another program: its CPU time
 * when the profile began and now, and that of the children that it has waited
 * for.  The tree's first process makes no file for it. */
void jp_tree_brief_sig(uint64_t before_ns, uint64_t cpu_ns,
                       uint64_t children_ns, int ended);

/* Writes the line of a child that is not profiled as it shares this process's
 * memory.  Keeps errno. */
void jp_tree_shares_sig(uint32_t pid);

/* Writes the line of this process, whose log could not be made for `error` (a
 * positive errno).  `buffer`: room for the line. */
void jp_tree_nolog_sig(char *buffer, size_t size, int error);

#endif
