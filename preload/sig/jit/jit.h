/* SPDX-License-Identifier: MIT
 *
 * JIT code: the perf map and the jitdumps in which a runtime describes it are
 * found, their growth is logged with times, and they are kept beside the log;
 * so are the bytes of code that samples hit.
 * Runs in: handler, any thread. */
#ifndef JP_JIT_H
#define JP_JIT_H

#include <stdint.h>

struct jp_buffer;
struct jp_vma;

/* Called after a sample, whose stack is in the buffer: remembers the code
 * without a file that it hit, and logs the perf map's size as of the sample's
 * time.  (A runtime writes a function's line before the function runs, so the
 * lines of the sample's code are in the file.)  Ten times a second it also
 * records new jitdumps and keeps a few code pages. */
void jp_jit_check_sig(const struct jp_buffer *buffer, uint64_t now_ns);

/* Called by a scan for each new executable mapping of a file: remembers it for
 * jp_jit_look_sig if the file may be a jitdump. */
void jp_jit_mapped_sig(const struct jp_vma *vma);

/* Called after a scan: records the jitdumps that it found. */
void jp_jit_look_sig(void);

/* Keeps the perf map, jitdumps and code pages beside the log.  A file is kept
 * by a hard link; where none can be made, by a copy of at most JP_SAVE_MAX
 * bytes, or of all if `whole`. */
void jp_jit_save_sig(int whole);

/* Called before a fork: notes the size of the perf map, which describes the
 * code that the child will have. */
void jp_jit_forking_sig(void);

/* Called in a forked child: forgets everything but the parent's files that
 * describe the child's code. */
void jp_jit_reset_sig(void);

#endif
