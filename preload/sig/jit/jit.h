/* SPDX-License-Identifier: MIT
 *
 * What tells of a process's JIT code: the perf map and the jitdumps in which a
 * runtime describes it, noticed, their growth logged with times, and kept
 * beside the log; and the bytes of code that samples hit.
 * Runs in: handler, any thread. */
#ifndef JP_JIT_H
#define JP_JIT_H

#include <stdint.h>

struct jp_buffer;
struct jp_vma;

/* After a sample: remembers which code without a file it hit, and logs how far
 * the perf map has grown, as of the sample's time: a line is written before its
 * code runs, so the sample's code is in the file.  Ten times a second it
 * notices jitdumps and keeps a few of the pages. */
void jp_jit_check_sig(const struct jp_buffer *buffer, uint64_t now_ns);

/* An executable mapping of a file that is new in the table of ranges: if the
 * file may be a jitdump, it is remembered for jp_jit_look_sig. */
void jp_jit_mapped_sig(const struct jp_vma *vma);

/* After a scan: records the jitdumps that it found. */
void jp_jit_look_sig(void);

/* Keeps perf map, jitdumps and code pages beside the log: a file by a hard
 * link, or where that cannot be by a copy, of at most JP_SAVE_MAX bytes unless
 * `whole`. */
void jp_jit_save_sig(int whole);

/* Before a fork: notes what the code that a child will have is described by. */
void jp_jit_forking_sig(void);

/* In a forked child: forgets what was seen, but for that. */
void jp_jit_reset_sig(void);

#endif
