/* SPDX-License-Identifier: MIT
 *
 * The frame-pointer walker: follows the chain of saved frame pointers as long
 * as it is plausible.
 * Runs in: handler, any thread. */
#include "arch/arch.h"
#include "maps.h"
#include "slot.h"
#include "walk.h"

/* The C library's start-up code keeps no frame pointers.  A chain that ends
 * this close to the program's entry has reached main (glibc 2.36: 400 bytes
 * for __libc_start_main and what it calls). */
#define ENTRY_BYTES 1024U

/* Why a chain that led to `fp` from the frame at `last` is over. */
static enum jp_reason end_sig(const struct jp_walk *walk, uint64_t fp,
                              uint64_t last)
{
    const struct jp_slot *slot = walk->slot;
    if (slot->is_main && walk->rooted && walk->high - last <= ENTRY_BYTES)
        return JP_REASON_ROOT;
    if (slot->adopted && fp == 0)
        return JP_REASON_ROOT;
    return JP_REASON_BAD_FP;
}

/* A function that has no frame of its own at this instruction would hide its
 * caller: takes the return address from where it must be. */
static void push_frameless_sig(struct jp_walk *walk)
{
    int offset = jp_arch_frameless_sig(walk->context);
    uint64_t at = walk->low + (uint64_t)offset;
    if (offset < 0 || at + 8 > walk->high)
        return;
    uint64_t caller;
    if (jp_walk_read_sig(walk, at, &caller, 1) &&
        jp_maps_executable_sig(walk->kit, caller) &&
        !jp_thread_is_start_sig(caller))
        jp_walk_push_sig(walk, caller);
}

enum jp_reason jp_walk_fp_sig(struct jp_walk *walk)
{
    uint64_t fp = jp_arch_fp_sig(walk->context);
    uint64_t last = walk->low;
    jp_walk_push_sig(walk, jp_arch_pc_sig(walk->context));
    /* A misaligned stack would be misread; it ends here. */
    if ((walk->low & 7) == 0)
        push_frameless_sig(walk);
    for (;;) {
        if (fp < last || (fp & 7) != 0 || fp + 16 > walk->high)
            break;
        uint64_t frame[2]; /* the caller's frame pointer, the return address */
        if (!jp_walk_read_sig(walk, fp, frame, 2))
            break;
        if (jp_thread_is_start_sig(frame[1]))
            return JP_REASON_ROOT;
        if (!jp_maps_executable_sig(walk->kit, frame[1]))
            break;
        if (!jp_walk_push_sig(walk, frame[1]))
            return JP_REASON_DEPTH;
        last = fp + 16;
        fp = frame[0];
    }
    if (walk->slot->rooted && walk->rooted && fp == walk->high)
        return JP_REASON_ROOT;
    return end_sig(walk, fp, last);
}
