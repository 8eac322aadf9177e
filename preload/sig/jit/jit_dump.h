/* SPDX-License-Identifier: MIT
 *
 * The jitdumps of this process: files that it has mapped executable and that
 * begin with the magic number, whatever their names are (a writer maps its file
 * as a marker; Linux tools/perf/Documentation, jitdump-specification.txt).
 * Runs in: handler, any thread. */
#ifndef JP_JIT_DUMP_H
#define JP_JIT_DUMP_H

struct jp_vma;

/* Remembers a mapping that may be a jitdump's.  One scan at a time calls it;
 * the other functions are called under jit.c's lock. */
void jp_jitdump_mapped_sig(const struct jp_vma *vma);

/* Whether jp_jitdump_look_sig has something to do. */
int jp_jitdump_pending_sig(void);

/* Whether a dump has been found. */
int jp_jitdump_seen_sig(void);

/* Whether a file that the program has open for reading is a jitdump. */
int jp_jitdump_is_open_sig(int fd);

/* Writes the map's lines of new dumps, and links or maps each dump, as it may
 * be removed before it is kept. */
void jp_jitdump_look_sig(void);

/* Keeps the dumps beside the log, as jp_jit_save_sig says. */
void jp_jitdump_save_sig(int whole);

/* Called in a forked child: keeps only the parent's dumps, which describe the
 * child's code as well. */
void jp_jitdump_reset_sig(void);

#endif
