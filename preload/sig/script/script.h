/* SPDX-License-Identifier: MIT
 *
 * Functions of scripts: what an interpreter in the process runs, read from its
 * own structures in the handler, while the thread that runs it is interrupted.
 * Runs in: handler, any thread. */
#ifndef JP_SCRIPTS_H
#define JP_SCRIPTS_H

#include <stdint.h>

#include "step.h"

struct jp_buffer;
struct jp_script;
struct jp_vma;

/* Tells what pthread_self() returned in the calling thread.  Called once, by
 * the constructor. */
void jp_script_init(uint64_t self);

/* Called by a scan for each new executable mapping of a file, whose offset 0 is
 * mapped at `base` (0: unknown): recognises an interpreter in it. */
void jp_script_mapped_sig(const struct jp_vma *vma, uint64_t base);

/* Whether the stack in the buffer runs code of a known interpreter.  If so,
 * makes buffer->script ready for jp_script_read_sig.  direct: faults are
 * survived, so memory is read directly, else by checked copies. */
int jp_script_begin_sig(struct jp_buffer *buffer, int direct);

/* Reads frames into buffer->script; may fault with `direct`. */
enum jp_script_step jp_script_read_sig(struct jp_buffer *buffer);

/* Writes the line of the function that reading has met to the map. */
void jp_script_name_sig(struct jp_script *script);

/* Puts the frames that were read into the buffer's stack, each group before the
 * native frame that runs it. */
void jp_script_merge_sig(struct jp_buffer *buffer);

#endif
