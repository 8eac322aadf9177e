/* SPDX-License-Identifier: MIT
 *
 * Reading the frames of scripts under the trap.
 * Runs in: handler. */
#include "script_frames.h"

#include <signal.h>

#include "sig/os/sys.h"
#include "sig/script/script.h"
#include "sig/state/buffer.h"
#include "trap.h"

/* How many parts of names are written for one stack at most: more than a stack
 * has frames, as a long function's table of lines has several. */
#define NAMES_AT_ONCE 16384U

/* Reads the frames, and gives names to functions that have none.  Returns enum
 * jp_script_step, or JP_TRAP_FAULT. */
static int read_sig(struct jp_thread *thread, struct jp_buffer *buffer,
                    const ucontext_t *context)
{
    int step = JP_SCRIPT_NAME;
    for (uint32_t i = 0; step == JP_SCRIPT_NAME && i < NAMES_AT_ONCE; i++) {
        if (i != 0)
            jp_script_name_sig(buffer->script);
        buffer->ask = JP_SCRIPT_READ;
        jp_trap_here = &buffer->trap;
        step = jp_trap_walk_sig(thread, buffer, context, &buffer->trap);
        jp_trap_here = NULL;
        buffer->ask = JP_SCRIPT_NATIVE;
    }
    return step;
}

void jp_script_frames_sig(struct jp_thread *thread, struct jp_buffer *buffer,
                          const ucontext_t *context)
{
    const uint64_t faults = JP_SIGSET(SIGSEGV) | JP_SIGSET(SIGBUS);
    const int direct =
        (atomic_load_explicit(&jp_trapped, memory_order_relaxed) & faults) ==
        faults;
    if (!jp_script_begin_sig(buffer, direct))
        return;
    int step = read_sig(thread, buffer, context);
    /* Another thread may have unmapped memory that it has just freed. */
    if (step == JP_TRAP_FAULT && direct && jp_script_begin_sig(buffer, 0))
        step = read_sig(thread, buffer, context);
    if (step == JP_SCRIPT_DONE)
        jp_script_merge_sig(buffer);
}
