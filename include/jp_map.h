/* SPDX-License-Identifier: MIT
 *
 * Words of the map (jprof-map): the events that libjprof.so appends and
 * jprof-report reads.  doc/FORMAT.md explains each.
 * Runs in: everywhere (constants only).
 *
 * A line is `TIME EVENT KEY=VALUE...`, TIME in ns of CLOCK_MONOTONIC.  In a
 * value every byte outside '!'..'~' and the byte '%' is written %XX. */
#ifndef JP_MAP_H
#define JP_MAP_H

#define JP_MAP_VERSION 1
#define JP_MAP_LINE_MAX 8192 /* bytes with the newline */

#define JP_MAP_BEGIN "jprof-map" /* version pid start log real */
#define JP_MAP_PROCESS "process" /* pid ppid exe cwd host comm cmdline */
#define JP_MAP_MODULE                                                          \
    "module"                   /* start end offset dev inode mtime bias
                                     build_id deleted path */
#define JP_MAP_ANON "anon"     /* start end name: executable, no file */
#define JP_MAP_UNMAP "unmap"   /* start end */
#define JP_MAP_THREAD "thread" /* tid name */
#define JP_MAP_KERNEL "kernel" /* tid cpu name */
#define JP_MAP_PERFMAP                                                         \
    "perfmap" /* path dev inode size tail saved
                                    since */
#define JP_MAP_JITDUMP                                                         \
    "jitdump"                    /* path dev inode size tail saved
                                    deleted */
#define JP_MAP_CODE "code"       /* start end offset saved: bytes kept */
#define JP_MAP_SECTION "section" /* n cpu */
#define JP_MAP_PAUSE "pause"     /* cpu */
#define JP_MAP_CLEAR "clear"     /* cpu */
#define JP_MAP_SAVE "save"
#define JP_MAP_EXIT "exit"       /* cpu */
#define JP_MAP_NOTE "note"       /* text */
#define JP_MAP_SCRIPT "script"   /* id line name file lines: a function */
#define JP_MAP_RUNTIME "runtime" /* name version known */

/* Words of the process tree's file (jprof-tree), which has lines of the same
 * form.  The first key is root, the pid of the tree's first process; space is
 * its pid namespace's inode, and since its start time, field 22 of its
 * /proc/PID/stat; 0: unknown.  The library looks for these where a line begins,
 * with pid and ppid behind them (preload/sig/files/tree.c). */
#define JP_TREE_CHILD "jprof-child" /* root space since pid ppid cpu */
#define JP_TREE_EXEC "jprof-exec"   /* root space since pid why path args */
#define JP_TREE_NOLOG "jprof-nolog" /* root space since pid why text */
/* root space since pid ppid before cpu children ended */
#define JP_TREE_BRIEF "jprof-brief"
#define JP_TREE_RUN                                                            \
    "jprof-run" /* root pid cpu wall status why path args
                                       jit asked */

/* A child has a line if it, with the children that it waited for, used at least
 * this much CPU time. */
#define JP_TREE_CPU_MIN_NS 50000000ULL

#endif
