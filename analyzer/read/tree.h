/* SPDX-License-Identifier: MIT
 *
 * The reader of a tree's file (jprof-tree): what is known of processes that
 * may have no log.  The format is that of doc/FORMAT.md and include/jp_map.h.
 * Runs in: analyzer. */
#ifndef JR_TREE_H
#define JR_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

enum jr_tree_kind {
    JR_TREE_CHILD, /* a process was waited for */
    JR_TREE_EXEC,  /* it executes what cannot be profiled */
    JR_TREE_NOLOG, /* its log could not be made */
    JR_TREE_BRIEF, /* it made no log, as no sample found it */
    JR_TREE_RUN    /* the launcher's: the whole run */
};

/* The first process of a tree, by its pid, its pid namespace's inode and its
 * start time (as in /proc/PID/stat); the last two are 0 where unknown. */
struct jr_tree_root {
    uint32_t pid, space;
    uint64_t ticks;
};

struct jp_log_header;

struct jr_tree_root jr_tree_root_of(const struct jp_log_header *header);

/* Whether both may be the same process. */
int jr_tree_root_same(const struct jr_tree_root *one,
                      const struct jr_tree_root *other);

struct jr_tree_line {
    uint64_t time_ns; /* CLOCK_MONOTONIC of the process that wrote it */
    uint64_t cpu_ns;  /* CPU time, with that of the children that were waited
                         for; 0: not known */
    uint64_t wall_ns;
    /* JR_TREE_BRIEF, whose cpu_ns is without children: CPU time when the
     * profile began, and of the children that it has waited for. */
    uint64_t before_ns, children_ns;
    struct jr_tree_root root;
    uint32_t pid, ppid;
    uint8_t kind;      /* enum jr_tree_kind */
    uint8_t moved;     /* time_ns is of another clock (model/cover/cover.h) */
    uint8_t ended;     /* JR_TREE_BRIEF: by its end, not by an exec */
    char *why;         /* a word, "" when there is none */
    char *path, *args; /* "" likewise; arguments joined by blanks */
    char *text;        /* more of it; of a run, why its runtime was not
                               asked for names of its JIT code */
    char *asked;       /* of a run, that it was asked; NULL */
};

struct jr_tree {
    char *path;
    struct jr_tree_line *lines; /* in order of the file */
    size_t nlines, lines_room;
};

/* Reads the tree's file at `path` into *tree.  Damage is reported and passed
 * over.  Returns 0, or -1 when it cannot be read; *tree is then empty.  The
 * caller frees *tree with jr_tree_file_free. */
int jr_tree_file_read(const char *path, struct jr_tree *tree,
                      struct jr_diag *diag);
void jr_tree_file_free(struct jr_tree *tree);

/* The same for one that is in memory.  The caller has zeroed *tree and set its
 * path (allocated; for messages). */
void jr_tree_file_parse(const uint8_t *data, size_t size, struct jr_tree *tree,
                        struct jr_diag *diag);

#endif
