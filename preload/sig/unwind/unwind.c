/* SPDX-License-Identifier: MIT
 *
 * One whole walk: choosing the walker, applying the depth limit, counting.
 * Runs in: handler, any thread. */
#include "unwind.h"

#include "sig/arch/arch.h"
#include "sig/code/maps.h"
#include "sig/script/script.h"
#include "sig/state/buffer.h"
#include "sig/state/config.h"
#include "walk.h"
#include "walk_cfi.h"
#include "walk_fp.h"
#include "walk_libunwind.h"
#include "walk_process.h"

static void reverse_sig(uint64_t *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        uint64_t frame = frames[i];
        frames[i] = frames[count - 1 - i];
        frames[count - 1 - i] = frame;
    }
}

/* Sets the buffer's depth and gap.  Of a stack deeper than the limit, the
 * leaf-most half is in its place, and the other half of `frames` is a ring of
 * the root-most frames: puts these in order. */
static void settle_sig(struct jp_walk *walk)
{
    const uint32_t limit = jp_config.depth, head = limit / 2;
    const uint32_t tail = limit - head;
    struct jp_buffer *buffer = walk->buffer;
    buffer->gap = 0;
    buffer->depth = walk->total;
    if (walk->total <= limit)
        return;
    const uint32_t turn = (uint32_t)(walk->next - walk->turn);
    uint64_t *const parts[] = {buffer->frames + head, buffer->sps + head};
    for (uint32_t i = 0; i < 2; i++) {
        reverse_sig(parts[i], turn);
        reverse_sig(parts[i] + turn, tail - turn);
        reverse_sig(parts[i], tail);
    }
    buffer->depth = limit;
    buffer->gap = head;
}

enum jp_reason jp_walk_sig(struct jp_thread *thread, struct jp_buffer *buffer,
                           const ucontext_t *context)
{
    if (buffer->ask == JP_SCRIPT_READ)
        return (enum jp_reason)jp_script_read_sig(buffer);
    struct jp_walk walk = {.process = &jp_walk_process,
                           .context = context,
                           .thread = thread,
                           .buffer = buffer};
    enum jp_reason reason = JP_REASON_NO_STACK;
    jp_walk_begin_sig(&walk);
    /* The pc may be in a new library, which return addresses do not show
     * yet. */
    jp_maps_executable_sig(buffer, jp_arch_pc_sig(context));
    if (!jp_walk_bounds_sig(&walk, jp_arch_sp_sig(context)))
        jp_walk_push_sig(&walk, jp_arch_pc_sig(context),
                         jp_arch_sp_sig(context));
    else if (jp_config.walker == JP_WALKER_LIBUNWIND)
        reason = jp_walk_libunwind_sig(&walk);
    else if (jp_config.walker == JP_WALKER_FP)
        reason = jp_walk_fp_sig(&walk);
    else
        reason = jp_walk_cfi_sig(&walk);
    settle_sig(&walk);
    if (walk.misses <= walk.total)
        atomic_fetch_add_explicit(&buffer->rule_hits, walk.total - walk.misses,
                                  memory_order_relaxed);
    if (walk.misses != 0)
        atomic_fetch_add_explicit(&buffer->rule_misses, walk.misses,
                                  memory_order_relaxed);
    return buffer->gap != 0 || walk.total >= JP_WALK_MAX ? JP_REASON_DEPTH
                                                         : reason;
}
