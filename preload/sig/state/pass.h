/* SPDX-License-Identifier: MIT
 *
 * One sample pass: everything that one signal's samples are about.  The handler
 * makes it and hands it down to the clock and to sampling; it is dead when the
 * handler returns.
 * Runs in: everywhere (types only). */
#ifndef JP_PASS_H
#define JP_PASS_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

struct jp_look;
struct jp_thread;

/* A signal, as its handler got it. */
struct jp_signal {
    int number;
    const siginfo_t *info;
    ucontext_t *context;
    uint64_t now_ns; /* CLOCK_MONOTONIC, when its handler began */
    /* The context of the code that the signal interrupted: that of `context`,
     * or, where the signal came at the first instruction of a handler of the
     * program's, the one that this handler was called for. */
    const ucontext_t *interrupted;
};

/* The time that a signal stands for, in ns by what the thread did in it; any
 * part may be 0. */
struct jp_due {
    uint64_t cpu;        /* CPU time, from a clock that counts CPU time */
    uint64_t before;     /* real time, blocked where the last sample found it */
    uint64_t running;    /* real time, running where it is now */
    uint64_t blocked;    /* real time, blocked where it is now */
    uint64_t ready;      /* real time, waiting for a CPU where it is now */
    uint64_t after;      /* real time behind the stratum, in which the thread is
                         known to have been where it is now: blocked, or ready
                         where after_ready is set */
    uint64_t counted_ns; /* time by which the handler's budget grows */
    uint8_t probes;      /* the handler may wait for the clock's next interrupt,
                            to measure what one costs */
    uint8_t after_ready;
    uint8_t guessed; /* flush: `before` may have been in other waits, too */
};

/* How the thread's stack compares with that of its last sample. */
enum jp_stack {
    JP_STACK_UNKNOWN, /* not compared, or there is none to compare with */
    JP_STACK_OTHER,
    JP_STACK_SAME
};

/* The walk of the thread's stack. */
struct jp_pass_walk {
    uint8_t pending; /* the thread's buffer has the stack that was walked, and
                        no sample has been written of it yet */
    uint8_t stack;   /* enum jp_stack */
};

struct jp_pass {
    struct jp_signal signal;  /* of samples that no clock's signal asks for:
                                 `interrupted` alone */
    struct jp_thread *thread; /* the calling thread */
    struct jp_look *look;     /* zeros before the row's observe, which may fill
                                 it for account; it is dead after that */
    struct jp_due due;
    struct jp_pass_walk walk;
};

#endif
