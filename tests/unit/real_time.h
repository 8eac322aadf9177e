/* SPDX-License-Identifier: MIT
 *
 * A thread in real time, whose clocks a test moves: its signals, and what they
 * are worth.
 * Runs in: tests. */
#ifndef REAL_TIME_H
#define REAL_TIME_H

#include <sys/syscall.h>

#include "pass.h"

/* A system call, in the middle of what is none. */
static const uint32_t code[16] __attribute__((aligned(64))) = {
#ifdef __x86_64__
    [6] = 0xcab80000U, /* mov $SYS_futex, %eax */
    [8] = 0x050fU,
#else
    [8] = 0xd4000001U,
#endif
};

static uint64_t counts[JP_COUNT_COUNT];
static int same;                 /* the answer to whether a stack is, */
static unsigned asked;           /* and how often that was asked, */
static uint64_t asking;          /* and the time that it takes */
static uint64_t found_sp;        /* the stack pointer that signals find, */
static struct jp_due sum;        /* all that the samples stand for, */
static unsigned looks;           /* and how many signals those were */
static struct jp_look last_look; /* the last signal's */

static int set_up(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    memset(&sum, 0, sizeof(sum));
    memset(counts, 0, sizeof(counts));
    looks = asked = 0;
    asking = found_sp = 0;
    same = 1;
    fake.now_ns = 1000 * JP_NS;
    fake.cpu_ns = JP_NS;
    static struct jp_owner owner = {TID};
    jp_owner = &owner;
    jp_process.tick_ns = 4 * MS;
    jp_process.clock = &jp_clock_real;
    jp_process.signal = SIGALRM;
    jp_config.period_ns = PERIOD;
    jp_counters_use_sig(counts);
    if (jp_threads_init_sig() != 0)
        return -1;
    jp_threads_reset_sig();
    return 0;
}

static struct jp_thread *begin(void)
{
    struct jp_thread *thread = jp_thread_new_sig();
    assert_non_null(thread);
    jp_thread_begin_sig(thread, TID);
    jp_clock_arm_sig(thread);
    assert_ptr_equal(thread->clock.kind, &jp_clock_real);
    return thread;
}

/* Compares the stacks in the handler's place. */
static void compare(struct jp_pass *pass)
{
    asked++;
    fake.now_ns += asking;
    pass->walk.stack = same ? JP_STACK_SAME : JP_STACK_OTHER;
}

#define CALL SYS_futex
static long found_call = CALL; /* what IN_QUEUE makes again */

/* What a signal finds its thread in: a call that has failed with EINTR, one
 * that is about to be made again, or one that has ended, in which it waited or
 * woke others. */
enum found { COMPUTES, IN_CALL, IN_QUEUE, WOKEN, WAKES };

static void set_pc(ucontext_t *context, enum found found)
{
    const uint8_t *call = (const uint8_t *)&code[8];
#ifdef __x86_64__
    greg_t *registers = context->uc_mcontext.gregs;
    registers[REG_RIP] = (greg_t)(uintptr_t)(found == COMPUTES   ? call + 16
                                             : found == IN_QUEUE ? call
                                                                 : call + 2);
    registers[REG_RAX] = found == IN_CALL ? -EINTR
                         : found >= WOKEN ? 0
                                          : found_call;
    registers[REG_RSI] = found == WAKES ? 1 : 0;
    registers[REG_RSP] = (greg_t)found_sp;
#else
    context->uc_mcontext.pc = (uintptr_t)(found == COMPUTES   ? call + 16
                                          : found == IN_QUEUE ? call
                                                              : call + 4);
    context->uc_mcontext.regs[0] = found == IN_CALL ? (uint64_t)-EINTR : 0;
    context->uc_mcontext.regs[1] = found == WAKES ? 1 : 0;
    context->uc_mcontext.regs[8] = (uint64_t)found_call;
    context->uc_mcontext.sp = found_sp;
#endif
}

/* A signal of one of the record's timers, to a thread that waits or does not.
 * Returns whether it is a sample. */
static int signal_of(int timer, struct jp_thread *thread, enum found found,
                     struct jp_due *due)
{
    siginfo_t info = {.si_code = SI_TIMER};
    ucontext_t context = {0};
    const struct jp_signal signal = {SIGALRM, &info, &context, fake.now_ns,
                                     &context};
    struct jp_pass pass = pass_of(thread, &signal);
    memset(&last_look, 0, sizeof(last_look));
    pass.look = &last_look;
    info.si_timerid = timer;
    set_pc(&context, found);
    const enum jp_observed observed = jp_clock_real.observe(&pass);
    if (observed == JP_OBSERVED_COMPARE)
        compare(&pass);
    if (observed != JP_OBSERVED_NONE)
        jp_clock_account_sig(&jp_clock_real, &pass);
    *due = pass.due;
    if (observed == JP_OBSERVED_NONE)
        return 0;
    assert_int_equal(due->cpu, 0);
    jp_clock_real.schedule(thread);
    sum.before += due->before;
    sum.running += due->running;
    sum.blocked += due->blocked;
    sum.ready += due->ready;
    sum.after += due->after;
    looks++;
    return 1;
}

enum doing { RUNS, WAITS };

/* Time goes on to the record's next moment. */
static void to_moment(const struct jp_thread *thread, enum doing doing)
{
    const uint64_t due = fake_timer(thread->clock.timer)->due_ns;
    assert_true(due > fake.now_ns);
    if (doing == RUNS)
        fake.cpu_ns += due - fake.now_ns;
    fake.now_ns = due;
}

static void look(struct jp_thread *thread, enum found found, struct jp_due *due)
{
    assert_true(signal_of(thread->clock.timer, thread, found, due));
}

static inline uint64_t all_of(const struct jp_due *due)
{
    return due->before + due->running + due->blocked + due->ready + due->after;
}

/* A thread after its first sample, which found it running: how often it had
 * blocked was not known. */
static inline struct jp_thread *looked_at(void)
{
    struct jp_due due;
    struct jp_thread *thread = begin();
    to_moment(thread, RUNS);
    look(thread, 0, &due);
    memset(&sum, 0, sizeof(sum));
    return thread;
}

/* A thread that is in one wait from here on: its strata are long. */
static inline struct jp_thread *waiting(unsigned count)
{
    struct jp_due due;
    struct jp_thread *thread = begin();
    to_moment(thread, WAITS);
    fake.switches++;
    look(thread, IN_CALL, &due);
    assert_int_equal(due.blocked, PERIOD);
    for (unsigned i = 0; i < count; i++) {
        to_moment(thread, WAITS);
        look(thread, IN_CALL, &due);
    }
    return thread;
}

#endif
