/* SPDX-License-Identifier: MIT
 *
 * Callers that the frame pointer leads past.  Interrupted code without
 * call-frame information that has no frame has its caller's frame pointer,
 * which leads to the caller's caller; its own return address then lies between
 * the stack pointer and where the frame pointer points.
 * Runs in: handler, any thread. */
#include "walk_hidden.h"

#include <string.h>

#include "sig/arch/arch.h"
#include "sig/state/buffer.h"
#include "walk_ahead.h"

#define WORDS 32U          /* of the stack that are looked at */
#define CODE_BYTES 64U     /* of code before the interrupted instruction, too */
#define CALLED_BYTES 4096U /* of code: a function without a frame is shorter */
#define PAGE 4096U
#define NEAR (1ULL << 31)  /* a call's distance at most (Intel SDM, CALL) */
#define LEAST 65536U       /* numbers below this are no addresses */
#define BEGIN_BYTES 16384U /* of code before pc, where its function begins */
#define PIECE_BYTES 2048U  /* that are copied at once */
#define FRAME_BYTES 128U   /* of a function's first instructions */

_Static_assert(JP_ARCH_CALLER_BEFORE >= JP_ARCH_CALL_BYTES,
               "what is read has the whole call");
_Static_assert(JP_ARCH_CALLER_BYTES <= JP_BUFFER_CODE_BYTES,
               "what is read has room in the buffer");

/* The call behind which an address on the stack lies, as the interrupted code
 * sees it. */
enum call_target {
    TARGET_NONE,      /* no return address */
    TARGET_ELSEWHERE, /* one behind a call to other code */
    TARGET_UNKNOWN,   /* one behind a call that may have been to any code */
    TARGET_HANDLER,   /* one by which V8's interpreter calls all its handlers */
    TARGET_FUNCTION   /* one behind a call to this very function */
};

/* The stack and registers of interrupted code, searched for its return
 * address. */
struct return_address_probe {
    struct jp_walk *walk;
    struct jp_walk_frame *frame;
    uint64_t by_fp; /* the return address that the frame pointer leads to; 0:
                       it leads nowhere */
    int by_file;    /* it is in a file's code */
    uint64_t *from; /* gets what target_of_call_sig's does; NULL: nobody asks */
};

/* Whether an address that the table of ranges does not have may be code all the
 * same, as that of a JIT compiler which nobody has asked about yet: it is not
 * on the stack, but near the interrupted code or `by_fp`.  (Near a program's
 * own code, which may begin at 4 MiB, are all the numbers that it counts with.)
 * To ask about each word would cost too much. */
static int is_near_sig(const struct return_address_probe *probe,
                       uint64_t address)
{
    const struct jp_walk *walk = probe->walk;
    if (address < LEAST || address - walk->low < walk->high - walk->low)
        return 0;
    return address - (probe->frame->pc - NEAR) < 2 * NEAR ||
           (probe->by_fp != 0 && !probe->by_file &&
            address - (probe->by_fp - NEAR) < 2 * NEAR);
}

/* Classifies an address, if it is code whose call is `code`.  *from gets
 * how far behind the place that is called the frame's pc is, where that is
 * known. */
static enum call_target
target_of_call_sig(const struct return_address_probe *probe, uint64_t address,
                   const uint8_t code[JP_ARCH_CALLER_BYTES], uint64_t *from)
{
    const struct jp_walk_frame *frame = probe->frame;
    uint64_t target = 0;
    switch (jp_arch_call_before_sig(code, address, frame->registers, &target)) {
    case JP_ARCH_CALL_HANDLER:
        return TARGET_HANDLER;
    case JP_ARCH_CALL_MEMORY:
        if (!jp_walk_copy_sig(probe->walk, target, &target, sizeof(target)))
            return TARGET_UNKNOWN;
        /* fall through */
    case JP_ARCH_CALL_DIRECT:
        *from = frame->pc - target;
        return *from < CALLED_BYTES ? TARGET_FUNCTION : TARGET_ELSEWHERE;
    default:
        return jp_arch_is_call_sig(code + JP_ARCH_CALLER_BEFORE -
                                   JP_ARCH_CALL_BYTES)
                   ? TARGET_UNKNOWN
                   : TARGET_NONE;
    }
}

/* Copies the code around a return address.  To read it is a system call, and
 * the same words stay on a stack for many samples: what files have there is
 * remembered, as long as the table says the same of them.  Returns whether it
 * could be read. */
static int read_sig(const struct jp_walk *walk, uint64_t address, int of_file,
                    uint8_t code[JP_ARCH_CALLER_BYTES])
{
    struct jp_buffer_code *known =
        &walk->buffer->codes[(address ^ address >> 7) % JP_BUFFER_CODES];
    if (of_file && known->address == address) {
        memcpy(code, known->bytes, JP_ARCH_CALLER_BYTES);
        return 1;
    }
    if (!jp_walk_copy_sig(walk, address - JP_ARCH_CALLER_BEFORE, code,
                          JP_ARCH_CALLER_BYTES))
        return 0;
    if (of_file) {
        known->address = address;
        memcpy(known->bytes, code, JP_ARCH_CALLER_BYTES);
    }
    return 1;
}

/* Classifies an address.  The kernel is asked last about one that the
 * table does not have: so the result is the same as when a later step of this
 * walk, which asks, has entered it.  (Not inlined, since its frame would add to
 * the deepest place of the handler's stack.) */
__attribute__((noinline)) static enum call_target
target_before_sig(const struct return_address_probe *probe, uint64_t address)
{
    struct jp_maps_range range;
    uint8_t code[JP_ARCH_CALLER_BYTES];
    /* V8's small integers have 32 zeros, and code hardly ever begins there. */
    if ((uint32_t)address == 0)
        return TARGET_NONE;
    const int known = probe->walk->process->find_code_sig(address, &range) == 0;
    if ((!known && !is_near_sig(probe, address)) ||
        !read_sig(probe->walk, address, known && range.inode != 0, code))
        return TARGET_NONE;
    uint64_t unasked = 0;
    const enum call_target target = target_of_call_sig(
        probe, address, code, probe->from != NULL ? probe->from : &unasked);
    return target == TARGET_NONE || known ||
                   jp_walk_is_code_sig(probe->walk, address)
               ? target
               : TARGET_NONE;
}

enum jp_calls jp_walk_calls_sig(struct jp_walk *walk,
                                struct jp_walk_frame *frame, uint64_t address,
                                uint64_t *from)
{
    const struct return_address_probe probe = {walk, frame, 0, 0, from};
    switch (target_before_sig(&probe, jp_arch_strip_sig(address))) {
    case TARGET_FUNCTION:
        return JP_WALK_CALLS;
    case TARGET_UNKNOWN:
        return JP_WALK_MAY_CALL;
    case TARGET_ELSEWHERE:
        return JP_WALK_CALLS_OTHER;
    default:
        return JP_WALK_CALLS_NONE;
    }
}

/* Classifies the word of the stack at `at`. */
static enum call_target
target_at_word_sig(const struct return_address_probe *probe, uint64_t at)
{
    return jp_walk_inside_sig(probe->walk, at)
               ? target_before_sig(probe, jp_arch_strip_sig(jp_walk_load_sig(
                                              probe->walk, at)))
               : TARGET_NONE;
}

/* Goes to the caller whose return address is in the word at `at`. */
static int go_to_caller_sig(const struct return_address_probe *probe,
                            uint64_t at)
{
    struct jp_walk *walk = probe->walk;
    struct jp_walk_frame *frame = probe->frame;
    const uint64_t caller = jp_arch_strip_sig(jp_walk_load_sig(walk, at));
    if (!jp_walk_up_sig(walk, frame, at + 8, 8))
        return 0;
    frame->pc = caller;
    return 1;
}

/* If the code from `code` on, up to the instruction at `pc`, pushes the frame
 * pointer: how far sp is below the word pushed; else -1.  *set: it then sets
 * the frame pointer to that place. */
static int64_t since_push_sig(const uint8_t *code, const uint8_t *pc, int *set)
{
    struct jp_arch_step step;
    int64_t below = 0;
    *set = 0;
    jp_arch_step_sig(code, &step);
    if (step.kind != JP_STEP_PUSH_FP)
        return -1;
    for (code += step.length; code < pc; code += step.length) {
        jp_arch_step_sig(code, &step);
        if (step.kind == JP_STEP_SET_FP && below == 0 && !*set)
            *set = 1;
        else if (step.kind == JP_STEP_PUSH || step.kind == JP_STEP_PLAIN ||
                 step.kind == JP_STEP_POP)
            below -= step.value;
        else if (step.kind != JP_STEP_BRANCH &&
                 !(step.kind == JP_STEP_CALL && *set))
            return -1;
    }
    return code == pc && below >= 0 ? below : -1;
}

/* The code at the frame's pc and up to CODE_BYTES before it, within its page;
 * *back gets how many.  NULL when it cannot be read. */
static const uint8_t *code_sig(const struct jp_walk *walk,
                               const struct jp_walk_frame *frame,
                               uint64_t *back)
{
    const uint64_t into = frame->pc % PAGE;
    *back = into < CODE_BYTES ? into : CODE_BYTES;
    if (into > PAGE - JP_ARCH_STEP_BYTES)
        return NULL;
    if (jp_walk_runs_sig(walk))
        return (const uint8_t *)frame->pc;
    uint8_t *copy = (uint8_t *)walk->buffer->walker;
    const uint64_t size = *back + JP_ARCH_STEP_BYTES;
    return jp_walk_copy_sig(walk, frame->pc - *back, copy, size) ? copy + *back
                                                                 : NULL;
}

/* Looks for a push of the frame pointer in the code before the pc, within its
 * page.  Goes to the caller, and returns AT, if the frame pointer has not been
 * set since: the word pushed still equals it, and the return address is above.
 * Returns OWN if it has, and still points to that word. */
static enum jp_ahead pushed_sig(const struct return_address_probe *probe)
{
    struct jp_walk *walk = probe->walk;
    const struct jp_walk_frame *frame = probe->frame;
    const uint64_t sp = frame->registers[JP_ARCH_SP];
    const uint64_t fp = frame->registers[JP_ARCH_FP];
    uint64_t before;
    const uint8_t *pc = code_sig(walk, frame, &before);
    for (uint64_t back = 1; pc != NULL && back <= before; back++) {
        int set;
        const int64_t below = jp_arch_pushes_fp_sig(pc - back)
                                  ? since_push_sig(pc - back, pc, &set)
                                  : -1;
        const uint64_t at = sp + (uint64_t)below;
        if (below < 0)
            continue;
        if (set && at == fp)
            return JP_AHEAD_OWN;
        if (!set && jp_walk_inside_sig(walk, at) &&
            jp_walk_load_sig(walk, at) == fp &&
            target_at_word_sig(probe, at + 8) > TARGET_ELSEWHERE &&
            go_to_caller_sig(probe, at + 8))
            return JP_AHEAD_AT;
    }
    return JP_AHEAD_UNKNOWN;
}

/* What the most telling register has: an address that may be the code's own
 * return address, in the link register or popped for a while.  It is not in the
 * frame that the frame pointer leads to, nor nearby, as behind a call of this
 * very function.  *address is set where it is the caller's. */
static enum call_target held_sig(const struct return_address_probe *probe,
                                 uint64_t *address)
{
    const struct jp_walk_frame *frame = probe->frame;
    enum call_target most = TARGET_NONE;
    for (unsigned i = 0; i < JP_ARCH_REGISTERS; i++) {
        const uint64_t held = jp_arch_strip_sig(frame->registers[i]);
        if (held == probe->by_fp ||
            held - (frame->pc - CALLED_BYTES) < 2ULL * CALLED_BYTES)
            continue;
        const enum call_target target = target_before_sig(probe, held);
        if (target > most) {
            most = target;
            *address = held;
        }
    }
    return most;
}

/* The last place before `pc` where a function makes a frame; 0: none near. */
static uint64_t begin_sig(const struct jp_walk *walk, uint64_t pc)
{
    uint8_t *copy = (uint8_t *)walk->buffer->walker;
    uint64_t end = pc;
    while (pc - end < BEGIN_BYTES && end > PAGE) {
        /* (Not over the begin of a page, which may not be mapped.) */
        uint64_t size = (end - 1) % PAGE + 1;
        size = size < PIECE_BYTES ? size : PIECE_BYTES;
        const uint64_t from = end - size;
        /* What lies across two pieces was read with the one behind it. */
        const uint64_t more =
            pc - end < JP_ARCH_FRAMES_BYTES ? pc - end : JP_ARCH_FRAMES_BYTES;
        if (!jp_walk_copy_sig(walk, from, copy, size + more))
            return 0;
        for (uint64_t i = size; i-- > 0;) {
            if (i + JP_ARCH_FRAMES_BYTES <= size + more &&
                jp_arch_frames_sig(copy + i))
                return from + i;
        }
        end = from;
    }
    return 0;
}

/* Whether the function has made its frame, by how its code begins: the nearest
 * code before the pc that makes one leaves the stack pointer as far below the
 * frame pointer as it is.  (A function without a frame is at 8 modulo 16 bytes
 * below its caller's frame pointer.  Not inlined, for the handler's stack.) */
__attribute__((noinline)) static int made_sig(const struct jp_walk *walk,
                                              const struct jp_walk_frame *frame)
{
    uint8_t *copy = (uint8_t *)walk->buffer->walker;
    const uint64_t begin = begin_sig(walk, frame->pc);
    const uint64_t behind = begin + JP_ARCH_FRAMES_BYTES;
    if (begin == 0 || behind > frame->pc)
        return 0;
    const uint64_t room = (frame->pc | (PAGE - 1)) + 1 - behind;
    const uint64_t size = room < FRAME_BYTES ? room : FRAME_BYTES;
    if (!jp_walk_copy_sig(walk, behind, copy, size))
        return 0;
    const int64_t bytes = jp_arch_framed_sig(copy, copy + size);
    return bytes >= 0 &&
           frame->registers[JP_ARCH_FP] - frame->registers[JP_ARCH_SP] ==
               (uint64_t)bytes;
}

/* Whether an address is known to be executable memory of a file. */
static int is_of_file_sig(const struct jp_walk *walk, uint64_t address)
{
    struct jp_maps_range range;
    return walk->process->find_code_sig(address, &range) == 0 &&
           range.inode != 0;
}

int jp_walk_hidden_sig(struct jp_walk *walk, struct jp_walk_frame *frame)
{
    const uint64_t sp = frame->registers[JP_ARCH_SP];
    const uint64_t fp = frame->registers[JP_ARCH_FP];
    const uint64_t ra_at = fp + JP_ARCH_FRAME_RA;
    const uint64_t by_fp =
        jp_walk_inside_sig(walk, ra_at)
            ? jp_arch_strip_sig(jp_walk_load_sig(walk, ra_at))
            : 0;
    const struct return_address_probe probe = {
        walk, frame, by_fp, is_of_file_sig(walk, by_fp), NULL};
    uint64_t end = fp + JP_ARCH_FRAME_FP, caller = 0;
    /* First, as a function's own frame may begin at a return address that an
     * earlier function has left there. */
    const enum jp_ahead pushed = pushed_sig(&probe);
    if (pushed != JP_AHEAD_UNKNOWN)
        return pushed == JP_AHEAD_AT;
    if (target_at_word_sig(&probe, sp) >= TARGET_HANDLER)
        return go_to_caller_sig(&probe, sp);
    /* A frame that this very function was called with is its own.  V8's
     * builtins, in a file, go on in others that they jump to. */
    const int own = target_at_word_sig(&probe, ra_at) >= TARGET_HANDLER;
    const enum call_target least = own ? TARGET_FUNCTION
                                   : walk->process->is_anonymous_sig(frame->pc)
                                       ? TARGET_UNKNOWN
                                       : TARGET_ELSEWHERE;
    const enum call_target held = held_sig(&probe, &caller);
    if (held == TARGET_FUNCTION && !own) {
        frame->pc = caller;
        return 1;
    }
    if (end > sp + WORDS * 8ULL)
        end = sp + WORDS * 8ULL;
    uint64_t at = sp;
    while (at < end && target_at_word_sig(&probe, at) < least)
        at += 8;
    if ((at < end || held >= least) && !made_sig(walk, frame))
        walk->doubtful = 1;
    return 0;
}
