/* SPDX-License-Identifier: MIT
 *
 * Callers of what code without call-frame information has called on the
 * thread's stack, coming from a stack of its own: Erlang's code, which runs C
 * functions so.  The code behind the call says where its stack is; or the frame
 * pointer still leads there, as from Go's and SBCL's.  And the callers of code
 * that uses the frame pointer for something else: of Erlang's schedulers, and
 * of Haskell's.
 * Runs in: handler, any thread. */
#include "walk_back.h"

#include "sig/arch/arch.h"
#include "sig/state/buffer.h"
#include "walk_ahead.h"
#include "walk_hidden.h"
#include "walk_rare.h"

#define CODE_BYTES 1024U /* of code before the pc, where its function begins */
#define CALLED_BYTES 96U /* of a function that jumps on */
#define CALLER_WORDS 16U /* below a frame record, of its function's frame */

_Static_assert(CODE_BYTES <= sizeof(((struct jp_buffer *)0)->walker),
               "a buffer has room for what is looked at");

/* Reads the word at base + offset, of any memory.  Returns 0 when it cannot be
 * read. */
static int word_sig(const struct jp_walk *walk, uint64_t base, int32_t offset,
                    uint64_t *word)
{
    return jp_walk_copy_sig(walk, base + (uint64_t)(int64_t)offset, word,
                            sizeof(*word));
}

int jp_walk_back_sig(struct jp_walk *walk, struct jp_walk_frame *frame)
{
    uint8_t code[JP_ARCH_BACK_BYTES];
    struct jp_arch_back back = {0};
    uint64_t sp = 0, fp = frame->registers[JP_ARCH_FP];
    if (frame->interrupted || frame->exact || frame->lost ||
        !jp_walk_copy_sig(walk, frame->pc, code, sizeof(code)) ||
        !jp_arch_back_sig(code, &back))
        return JP_REASON_BAD_FP;
    if (!frame->follow)
        return JP_WALK_AGAIN;
    const uint64_t base = frame->registers[back.base];
    if (!word_sig(walk, base, back.sp_at, &sp) ||
        (back.loads_fp && !word_sig(walk, base, back.fp_at, &fp)) || fp < sp ||
        !jp_walk_over_sig(walk, frame, sp, 0, 0))
        return JP_REASON_BAD_FP;
    frame->registers[JP_ARCH_FP] = fp;
    return JP_WALK_GOING;
}

/* Finds the nearest code before the frame's pc that aligns the stack.  Returns
 * 0 when there is none near. */
static int aligned_sig(const struct jp_walk *walk,
                       const struct jp_walk_frame *frame, uint64_t *room,
                       uint64_t *alignment)
{
    uint8_t *copy = (uint8_t *)walk->buffer->walker;
    uint64_t size = CODE_BYTES;
    if (!jp_walk_copy_sig(walk, frame->pc - size, copy, size)) {
        /* What is before the page may not be mapped. */
        size = frame->pc % 4096;
        size = size < CODE_BYTES ? size : CODE_BYTES;
        if (!jp_walk_copy_sig(walk, frame->pc - size, copy, size))
            return 0;
    }
    for (uint64_t i = size; i-- > JP_ARCH_ALIGNS_BYTES;)
        if (jp_arch_aligns_sig(copy + i - JP_ARCH_ALIGNS_BYTES, room,
                               alignment))
            return 1;
    return 0;
}

/* (Of JIT code alone: what alignment leaves free may have older return
 * addresses, and code of files that has no frame pointer aligns as well.) */
int jp_walk_aligned_sig(struct jp_walk *walk, struct jp_walk_frame *frame)
{
    const uint64_t sp = frame->registers[JP_ARCH_SP];
    uint64_t room = 0, alignment = 0;
    if (frame->interrupted || frame->exact || frame->lost ||
        frame->registers[JP_ARCH_FP] != 0 || !walk->on_own_stack ||
        !walk->process->is_anonymous_sig(frame->pc) ||
        !aligned_sig(walk, frame, &room, &alignment) || sp % alignment != 0)
        return 0;
    for (uint64_t at = sp + room; at < sp + room + alignment; at += 8) {
        const uint64_t caller =
            jp_walk_inside_sig(walk, at)
                ? jp_arch_strip_sig(jp_walk_load_sig(walk, at))
                : 1;
        if (jp_walk_called_sig(walk, caller) != 1 ||
            !jp_walk_is_code_sig(walk, caller))
            continue;
        frame->pc = caller;
        frame->lost = JP_WALK_LOST;
        return jp_walk_up_sig(walk, frame, at + 8, 8);
    }
    return 0;
}

/* Whether `caller` is the return address of a function
 * that makes JP_ARCH_JUMP_ROOM bytes of room and jumps on. */
static int jumped_sig(const struct jp_walk *walk,
                      const struct jp_walk_frame *frame, uint64_t caller)
{
    uint8_t code[CALLED_BYTES];
    uint64_t called = 0;
    return jp_walk_copy_sig(walk, caller - JP_ARCH_CALLER_BEFORE, code,
                            JP_ARCH_CALLER_BYTES) &&
           jp_arch_call_before_sig(code, caller, frame->registers, &called) ==
               JP_ARCH_CALL_DIRECT &&
           jp_walk_copy_sig(walk, called, code, sizeof(code)) &&
           jp_arch_jump_room_sig(code, code + sizeof(code)) ==
               JP_ARCH_JUMP_ROOM &&
           jp_walk_is_code_sig(walk, caller);
}

int jp_walk_jumped_sig(struct jp_walk *walk, struct jp_walk_frame *frame)
{
    const uint64_t sp = frame->registers[JP_ARCH_SP];
    if (JP_ARCH_JUMP_ROOM == 0 || !walk->on_own_stack)
        return 0;
    /* (Around calls of C the code makes room for a word.) */
    for (uint64_t at = sp + JP_ARCH_JUMP_ROOM; at <= sp + JP_ARCH_JUMP_ROOM + 8;
         at += 8) {
        if (!jp_walk_inside_sig(walk, at))
            continue;
        const uint64_t caller = jp_walk_load_sig(walk, at);
        if (!jumped_sig(walk, frame, caller) ||
            !jp_walk_up_sig(walk, frame, at + 8, 8))
            continue;
        frame->registers[JP_ARCH_FP] =
            jp_walk_load_sig(walk, at - JP_ARCH_JUMP_FP);
        frame->pc = caller;
        frame->interrupted = frame->exact = 0;
        frame->lost = JP_WALK_LOST;
        walk->beside = 1;
        return 1;
    }
    return 0;
}

/* Goes over to the stack that `at` is on, where the caller's return address
 * is. */
static int over_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                    uint64_t at, uint64_t caller, uint64_t fp)
{
    if (!jp_walk_over_sig(walk, frame, at + 8, 8, 0))
        return 0;
    frame->registers[JP_ARCH_FP] = fp;
    frame->pc = jp_arch_strip_sig(caller);
    frame->interrupted = frame->exact = 0;
    frame->lost = JP_WALK_BY_FP;
    return 1;
}

int jp_walk_left_sig(struct jp_walk *walk, struct jp_walk_frame *frame)
{
    const uint64_t fp = frame->registers[JP_ARCH_FP];
    uint64_t words[CALLER_WORDS + 2]; /* the last two are the record */
    const uint64_t *record = words + CALLER_WORDS;
    const uint64_t low = fp + JP_ARCH_FRAME_FP - CALLER_WORDS * 8ULL;
    uint64_t from = UINT64_MAX, nearest;
    if (frame->interrupted || frame->exact || fp == 0 || (fp & 7) != 0 ||
        jp_walk_inside_sig(walk, fp) ||
        !jp_walk_copy_sig(walk, low, words, sizeof(words)))
        return 0;
    const enum jp_calls calls =
        jp_walk_calls_sig(walk, frame, record[1], &from);
    if (calls == JP_WALK_CALLS_NONE)
        return 0;
    const enum jp_ahead ahead = calls == JP_WALK_CALLS
                                    ? JP_AHEAD_UNKNOWN
                                    : jp_walk_ahead_sig(walk, frame);
    if (ahead == JP_AHEAD_AT)
        return 1;
    /* Code without a frame has its caller's frame pointer, and the caller's
     * frame has an address behind a call that leads nearer to the code. */
    nearest = calls == JP_WALK_CALLS ? from : UINT64_MAX;
    for (unsigned i = CALLER_WORDS; ahead != JP_AHEAD_OWN && i-- > 0;)
        if (jp_walk_calls_sig(walk, frame, words[i], &from) == JP_WALK_CALLS &&
            from < nearest)
            return over_sig(walk, frame, low + i * 8ULL, words[i], fp);
    return (ahead == JP_AHEAD_OWN || calls != JP_WALK_CALLS_OTHER) &&
           over_sig(walk, frame, fp + JP_ARCH_FRAME_RA, record[1], record[0]);
}

int jp_walk_begun_sig(const struct jp_walk *walk,
                      const struct jp_walk_frame *frame)
{
    uint8_t code[JP_ARCH_BEGUN_BYTES];
    return !frame->interrupted && !frame->exact &&
           frame->registers[JP_ARCH_FP] == 0 &&
           jp_walk_copy_sig(walk, frame->pc - sizeof(code), code,
                            sizeof(code)) &&
           jp_arch_begun_sig(code);
}
