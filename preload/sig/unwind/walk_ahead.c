/* SPDX-License-Identifier: MIT
 *
 * Finding the caller of interrupted code without call-frame information: its
 * instructions are followed to where it returns.  The bytes that they pop until
 * then lie between sp and the return address.  Where calls leave the return
 * address in a register, the link, the way tells whether it is still there, or
 * from where on the stack it is loaded.
 * Runs in: handler, any thread. */
#include "walk_ahead.h"

#include <string.h>

#include "copied.h"
#include "sig/arch/arch.h"
#include "sig/state/buffer.h"

#define STEPS 192U /* instructions that are followed */
#define COPY_BYTES 512U
#define NEAR_BYTES 4096U   /* a function without a frame is shorter */
#define FORKS 16U          /* branches that are remembered */
#define PROLOGUE_BYTES 16U /* of a function, before it calls for its frame */
#define PROLOGUE_STEPS 24U /* instructions until that is made */

/* Where the return address is. */
enum link {
    LINK_ON_TOP, /* at sp when the code returns: calls push it */
    LINK_HELD,   /* in the link register, since the function was called */
    LINK_SAVED,  /* on the stack, at link_up */
    LINK_LOST    /* on the stack, at an unknown place: a call has used the
                    register */
};

/* Where a run is.  Offsets on the stack count from the interrupted sp. */
struct place {
    enum link link;
    int32_t link_up;
    uint64_t pc;       /* the next instruction */
    uint32_t popped;   /* number + 1 of the last register popped; 0: none */
    int32_t popped_up; /* the offset that it was popped from */
    int32_t up;        /* sp's offset */
    int32_t fp_up;     /* the offset that the caller's frame pointer was popped
                          from; -1: it has not been */
};

struct run {
    struct jp_walk *walk;
    struct place at;
    uint64_t begin; /* the pc of the thread */
    struct jp_copied copied;
    uint32_t vague;  /* 1: sp is unknown, as after a call that may have taken
                        arguments off the stack */
    uint32_t pushed; /* number + 1 of the register that the last instruction
                        pushed; 0: none */
    uint32_t sized;  /* 1: the caller's sp is above what the code pops */
    uint32_t calls;  /* calls passed, some of which may never return */
    uint32_t forks, taken; /* branches in scratch, and those gone into */
    struct scratch {
        uint8_t code[COPY_BYTES];
        struct place forks[FORKS];
    } * scratch; /* of the buffer */
};

_Static_assert(sizeof(struct scratch) <=
                   sizeof(((struct jp_buffer *)0)->walker),
               "a buffer has room for what is looked at");

/* The code at the run's pc; NULL when it cannot be read.  The page that the
 * thread runs in is read directly; other code is copied, as a jump may lead to
 * where nothing is mapped. */
static const uint8_t *code_sig(struct run *run)
{
    const uint64_t pc = run->at.pc;
    const uint64_t left = JP_COPIED_PAGE - pc % JP_COPIED_PAGE;
    if (jp_walk_runs_sig(run->walk) &&
        pc / JP_COPIED_PAGE == run->begin / JP_COPIED_PAGE &&
        left >= JP_ARCH_STEP_BYTES)
        return (const uint8_t *)pc;
    return jp_copied_sig(&run->copied, pc);
}

/* Leaves a path that tells nothing, and goes on at the first branch that was
 * passed.  (The last branches mostly lead back to the same path.) */
static enum jp_ahead turn_sig(struct run *run)
{
    if (run->taken >= run->forks || run->scratch == NULL)
        return JP_AHEAD_UNKNOWN;
    run->at = run->scratch->forks[run->taken++];
    run->vague = 0;
    return JP_AHEAD_GOING;
}

/* Remembers where a branch leads, unless sp is not known there. */
static void fork_sig(struct run *run, uint64_t to)
{
    if (run->vague || run->forks == FORKS)
        return;
    run->scratch->forks[run->forks] = run->at;
    run->scratch->forks[run->forks++].pc = to;
}

/* Handles a pop of the frame pointer, which is the function's own if it points
 * to the word popped. */
static enum jp_ahead pop_fp_sig(struct run *run, uint64_t sp, uint64_t fp)
{
    if (sp + (uint64_t)(int64_t)run->at.up == fp && !run->vague)
        return JP_AHEAD_OWN;
    if (run->vague || run->at.fp_up >= 0 || run->at.up < 0)
        return turn_sig(run);
    run->at.fp_up = run->at.up;
    run->at.up += 8;
    return JP_AHEAD_GOING;
}

/* Handles a load of the link register, which is the function's own frame's if
 * the frame pointer points there. */
static enum jp_ahead load_link_sig(struct run *run,
                                   const struct jp_arch_step *step, uint64_t sp,
                                   uint64_t fp)
{
    struct place *at = &run->at;
    const int64_t up = (int64_t)at->up + step->at;
    if (step->reg && !run->vague && sp + (uint64_t)(up - 8) == fp)
        return JP_AHEAD_OWN;
    if (run->vague || up < 8 * step->reg || up > INT32_MAX ||
        at->link == LINK_SAVED || at->fp_up >= 0 ||
        __builtin_add_overflow(at->up, step->value, &at->up))
        return turn_sig(run);
    at->link = LINK_SAVED;
    at->link_up = (int32_t)up;
    if (step->reg)
        at->fp_up = at->link_up - 8;
    return JP_AHEAD_GOING;
}

/* What an instruction tells that ends the path, where calls leave the return
 * address in the link register. */
static enum jp_ahead judge_link_sig(struct run *run,
                                    const struct jp_arch_step *step)
{
    struct place *at = &run->at;
    const int known = !run->vague && at->up >= 0;
    const int held = at->link == LINK_HELD;
    switch (step->kind) {
    case JP_STEP_FROM_FP:
        return at->fp_up < 0 ? JP_AHEAD_OWN : turn_sig(run);
    case JP_STEP_SAVE_LINK:
        /* If the instruction reserves exactly the room for what it stores, and
         * sp had not changed before, the caller's sp is known still. */
        run->vague |= !step->reg || at->up != 0;
        return held ? JP_AHEAD_AT : turn_sig(run);
    case JP_STEP_SET_FP:
        /* The frame has just been made; its size is not known. */
        if (!held || !known || step->value < 0 || step->value > 1 << 24)
            return turn_sig(run);
        at->link = LINK_SAVED;
        at->fp_up = at->up + step->value;
        at->link_up = at->fp_up + 8;
        at->up = at->link_up + 8;
        run->sized = 0;
        return JP_AHEAD_AT;
    case JP_STEP_RETURN:
        return held || (known && at->link == LINK_SAVED) ? JP_AHEAD_AT
                                                         : turn_sig(run);
    case JP_STEP_OUT:
        return held || (known && at->link == LINK_SAVED) ? JP_AHEAD_MAYBE
                                                         : turn_sig(run);
    default:
        return turn_sig(run);
    }
}

/* What an instruction tells that changes the frame pointer or ends the path. */
static enum jp_ahead judge_sig(struct run *run, const struct jp_arch_step *step)
{
    struct place *at = &run->at;
    const uint8_t kind = step->kind;
    const int known = !run->vague && at->up >= 0;
    if (at->link != LINK_ON_TOP)
        return judge_link_sig(run, step);
    if (kind == JP_STEP_FROM_FP && at->fp_up < 0)
        return JP_AHEAD_OWN;
    if (kind == JP_STEP_RETURN && run->pushed != 0)
        return JP_AHEAD_PUSHED;
    if (known && (kind == JP_STEP_PUSH_FP || kind == JP_STEP_RETURN))
        return JP_AHEAD_AT;
    if (known && kind == JP_STEP_OUT)
        return JP_AHEAD_MAYBE;
    if (known && kind == JP_STEP_SET_FP && at->fp_up < 0) {
        at->fp_up = at->up;
        at->up += 8;
        return JP_AHEAD_AT;
    }
    return turn_sig(run);
}

/* Whether the code at `to`, which the instruction at `pc` calls, makes the
 * frame of its caller: it takes its return address off the stack and pushes the
 * frame pointer (V8's BaselineOutOfLinePrologue).  Only the first instructions
 * of a function lead to such a call. */
static int makes_frame_sig(struct run *run, uint64_t pc, uint64_t to)
{
    const struct place kept = run->at;
    uint32_t popped = 0, made = 0, going = 1;
    if (kept.link != LINK_ON_TOP || run->vague || kept.up != 0 ||
        kept.fp_up >= 0 || run->calls != 0 || pc - run->begin > PROLOGUE_BYTES)
        return 0;
    run->at.pc = to;
    for (unsigned i = 0; i < PROLOGUE_STEPS && going; i++) {
        struct jp_arch_step step;
        const uint8_t *code = code_sig(run);
        if (code == NULL)
            break;
        jp_arch_step_sig(code, &step);
        run->at.pc += step.length;
        popped += step.kind == JP_STEP_POP;
        made = step.kind == JP_STEP_PUSH_FP && popped == 1;
        going = step.kind == JP_STEP_POP || step.kind == JP_STEP_BRANCH ||
                (step.kind == JP_STEP_PLAIN && step.value == 0);
    }
    run->at = kept;
    return made != 0;
}

/* Follows one instruction.  Returns GOING, or what is known now. */
static enum jp_ahead run_one_sig(struct run *run, uint64_t sp, uint64_t fp)
{
    struct jp_arch_step step;
    struct place *at = &run->at;
    const uint64_t before = at->pc;
    const uint8_t *code = code_sig(run);
    if (code == NULL)
        return turn_sig(run);
    jp_arch_step_sig(code, &step);
    const uint64_t next = before + step.length;
    const uint64_t to = next + (uint64_t)(int64_t)step.value;
    at->pc = next;
    if (step.kind != JP_STEP_RETURN)
        run->pushed = 0;
    switch (step.kind) {
    case JP_STEP_POP_FP:
        return pop_fp_sig(run, sp, fp);
    case JP_STEP_BRANCH:
        fork_sig(run, to);
        return JP_AHEAD_GOING;
    case JP_STEP_JUMP:
        at->pc = to;
        /* A jump backwards would go round and round. */
        return to >= run->begin && to <= before ? turn_sig(run)
                                                : JP_AHEAD_GOING;
    case JP_STEP_CALL:
        if (step.value != 0 && makes_frame_sig(run, before, to))
            return JP_AHEAD_MAYBE;
        run->calls++;
        if (at->link == LINK_ON_TOP)
            run->vague |= at->up < 0;
        else
            at->link = LINK_LOST;
        return JP_AHEAD_GOING;
    case JP_STEP_LOAD_LINK:
        return load_link_sig(run, &step, sp, fp);
    case JP_STEP_LOST:
        run->vague = 1;
        return JP_AHEAD_GOING;
    case JP_STEP_PUSH:
        run->pushed = step.reg + 1U;
        at->up -= 8;
        return JP_AHEAD_GOING;
    case JP_STEP_POP:
        at->popped = run->vague ? 0 : step.reg + 1U;
        at->popped_up = at->up;
        at->up += 8;
        return JP_AHEAD_GOING;
    case JP_STEP_PLAIN:
        if (__builtin_add_overflow(at->up, step.value, &at->up))
            return turn_sig(run);
        return JP_AHEAD_GOING;
    default:
        return judge_sig(run, &step);
    }
}

int jp_walk_called_sig(const struct jp_walk *walk, uint64_t address)
{
    uint8_t code[JP_ARCH_CALL_BYTES];
    if (!jp_walk_copy_sig(walk, address - sizeof(code), code, sizeof(code)))
        return -1;
    return jp_arch_is_call_sig(code);
}

/* Whether an address is code and, unless it is sure to be a return address,
 * follows a call instruction.  The kernel is asked about one that the table of
 * ranges does not have, as a JIT compiler's memory grows. */
static int is_code_sig(struct jp_walk *walk, uint64_t address, int sure)
{
    return (sure || jp_walk_called_sig(walk, address) == 1) &&
           jp_walk_is_code_sig(walk, address);
}

/* Goes to the caller whose return address is at sp + `up` and whose sp is
 * `above`, if that is plausible: the caller's frame is above what this function
 * has on the stack. */
static enum jp_ahead take_at_sig(struct run *run, struct jp_walk_frame *frame,
                                 int32_t up, uint64_t above, int sure)
{
    struct jp_walk *walk = run->walk;
    const uint64_t sp = frame->registers[JP_ARCH_SP];
    const uint64_t fp = frame->registers[JP_ARCH_FP];
    const int popped = run->at.fp_up >= 0;
    const uint64_t at = sp + (uint64_t)(int64_t)up;
    const uint64_t fp_at = sp + (uint64_t)(int64_t)run->at.fp_up;
    if (!jp_walk_inside_sig(walk, at) ||
        (popped ? !jp_walk_inside_sig(walk, fp_at) : fp >= sp && fp <= at))
        return JP_AHEAD_UNKNOWN;
    const uint64_t caller = jp_arch_strip_sig(jp_walk_load_sig(walk, at));
    if (!is_code_sig(walk, caller, sure))
        return JP_AHEAD_UNKNOWN;
    const uint64_t caller_fp = popped ? jp_walk_load_sig(walk, fp_at) : fp;
    if (!jp_walk_up_sig(walk, frame, above, 8))
        return JP_AHEAD_UNKNOWN;
    frame->registers[JP_ARCH_FP] = caller_fp;
    frame->pc = caller;
    return JP_AHEAD_AT;
}

/* Goes to the caller whose return address is on top of the stack when the code
 * returns, if it is plausible. */
static enum jp_ahead take_sig(struct run *run, struct jp_walk_frame *frame,
                              int sure)
{
    const uint64_t at =
        frame->registers[JP_ARCH_SP] + (uint64_t)(int64_t)run->at.up;
    return take_at_sig(run, frame, run->at.up, at + 8, sure);
}

/* Goes to the caller in the link register, if it is plausible.  Behind a call
 * of this very function's the register has an address of its own: where the
 * code merely jumps on, to a place that may be its own as well, an address
 * nearby is not believed. */
static enum jp_ahead take_held_sig(struct run *run, struct jp_walk_frame *frame,
                                   int sure)
{
    const uint64_t sp = frame->registers[JP_ARCH_SP];
    const uint64_t fp = frame->registers[JP_ARCH_FP];
    const uint64_t caller = jp_arch_strip_sig(frame->registers[JP_ARCH_RA]);
    const int known = !run->vague && run->at.up >= 0;
    const uint64_t up = known ? (uint64_t)run->at.up : 0;
    /* The function has made its frame, and the register has the same address
     * still. */
    if (!sure && jp_walk_inside_sig(run->walk, fp + JP_ARCH_FRAME_RA) &&
        jp_arch_strip_sig(jp_walk_load_sig(run->walk, fp + JP_ARCH_FRAME_RA)) ==
            caller)
        return JP_AHEAD_OWN;
    if ((!sure && caller - (run->begin - NEAR_BYTES) < 2ULL * NEAR_BYTES) ||
        (fp >= sp && fp < sp + up) || !is_code_sig(run->walk, caller, 0) ||
        !jp_walk_up_sig(run->walk, frame, sp + up, 0))
        return JP_AHEAD_UNKNOWN;
    frame->pc = caller;
    if (!known)
        frame->lost = JP_WALK_BY_FP;
    return JP_AHEAD_AT;
}

/* Goes to the caller that the run has found in the link register or where it
 * was saved, if it is plausible. */
static enum jp_ahead take_link_sig(struct run *run, struct jp_walk_frame *frame,
                                   int sure)
{
    const struct place *at = &run->at;
    const uint64_t above =
        frame->registers[JP_ARCH_SP] + (uint64_t)(int64_t)at->up;
    if (at->link == LINK_HELD)
        return take_held_sig(run, frame, sure);
    if (at->up < at->link_up ||
        take_at_sig(run, frame, at->link_up, above, 0) != JP_AHEAD_AT)
        return JP_AHEAD_UNKNOWN;
    if (!run->sized)
        frame->lost = JP_WALK_BY_FP;
    return JP_AHEAD_AT;
}

/* Goes to the caller of a function of V8's that takes its arguments off the
 * stack: it pops its return address into a register, sets sp, and pushes the
 * address again.  Before the pop the address is on the stack, after it in that
 * register. */
static enum jp_ahead take_pushed_sig(struct run *run,
                                     struct jp_walk_frame *frame)
{
    if (run->at.popped == run->pushed) {
        run->at.up = run->at.popped_up;
        return take_sig(run, frame, 0);
    }
    /* Where no instruction of an architecture pushes one, it stays 0. */
    if (run->pushed < 1 || run->pushed > JP_ARCH_REGISTERS)
        return JP_AHEAD_UNKNOWN;
    const uint64_t caller = frame->registers[run->pushed - 1];
    if (run->at.popped != 0 || run->at.fp_up >= 0 || run->calls != 0 ||
        !is_code_sig(run->walk, caller, 0))
        return JP_AHEAD_UNKNOWN;
    frame->pc = caller;
    return JP_AHEAD_AT;
}

enum jp_ahead jp_walk_ahead_sig(struct jp_walk *walk,
                                struct jp_walk_frame *frame)
{
    const uint64_t sp = frame->registers[JP_ARCH_SP];
    const uint64_t fp = frame->registers[JP_ARCH_FP];
    struct run run = {
        .walk = walk,
        .at = {.pc = frame->pc,
               .fp_up = -1,
               .link = JP_ARCH_CALL_PUSHES ? LINK_ON_TOP : LINK_HELD},
        .begin = frame->pc,
        .sized = 1,
        .scratch = (struct scratch *)walk->buffer->walker};
    run.copied = (struct jp_copied){.walk = walk,
                                    .bytes = run.scratch->code,
                                    .room = sizeof(run.scratch->code)};
    enum jp_ahead found = JP_AHEAD_GOING;
    for (unsigned i = 0; i < STEPS && found == JP_AHEAD_GOING; i++)
        found = run_one_sig(&run, sp, fp);
    switch (found) {
    case JP_AHEAD_PUSHED:
        return take_pushed_sig(&run, frame);
    case JP_AHEAD_AT:
    case JP_AHEAD_MAYBE:
        if (!JP_ARCH_CALL_PUSHES)
            return take_link_sig(&run, frame, found == JP_AHEAD_AT);
        return take_sig(&run, frame,
                        found == JP_AHEAD_AT && run.calls == 0 &&
                            frame->interrupted);
    case JP_AHEAD_OWN:
        return found;
    default:
        return JP_AHEAD_UNKNOWN;
    }
}
