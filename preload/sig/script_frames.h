/* SPDX-License-Identifier: MIT
 *
 * The frames of scripts in a stack that was walked.
 * Runs in: handler. */
#ifndef JP_SCRIPT_FRAMES_H
#define JP_SCRIPT_FRAMES_H

#include <ucontext.h>

struct jp_buffer;
struct jp_thread;

/* Adds the frames of scripts to the calling thread's stack in the buffer, if
 * code of an interpreter is on it.  Where reading them faults, the stack stays
 * as it is. */
void jp_script_frames_sig(struct jp_thread *thread, struct jp_buffer *buffer,
                          const ucontext_t *context);

#endif
