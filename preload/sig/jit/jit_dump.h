/* SPDX-License-Identifier: MIT
 *
 * The jitdumps of this process: files mapped executable that begin with the
 * magic number, whatever they are called (Linux tools/perf/Documentation,
 * jitdump-specification.txt: the writer maps its file as a marker).
 * Runs in: handler, any thread. */
#ifndef JP_JIT_DUMP_H
#define JP_JIT_DUMP_H

struct jp_vma;

/* Remembers a mapping that may be a dump's.  Called by one scanner at a time;
 * the rest by one thread at a time, which jit.c's lock sees to. */
void jp_jitdump_mapped_sig(const struct jp_vma *vma);

/* Whether jp_jitdump_look_sig has something to do. */
int jp_jitdump_pending_sig(void);

/* Records the dumps that are new, and takes hold of them: they may be removed
 * before they are kept. */
void jp_jitdump_look_sig(void);

/* Keeps them beside the log, see jp_jit_save_sig. */
void jp_jitdump_save_sig(int whole);

void jp_jitdump_reset_sig(void);

#endif
