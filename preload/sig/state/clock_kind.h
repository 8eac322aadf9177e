/* SPDX-License-Identifier: MIT
 *
 * One kind of clock, as a row of a table: its properties, and the functions
 * that all other code calls instead of asking which kind it is.  Each kind's
 * row is at the end of its own file in sig/clock/; clock.c lists the rows.  To
 * add a clock: its id and name in jp_log.h, its file, its line in that list.
 * All functions of a row may be called in the handler.
 * Runs in: handler, any thread. */
#ifndef JP_CLOCK_KIND_H
#define JP_CLOCK_KIND_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "pass.h"

struct jp_budget;

/* While the period is longer than asked for, time that no sample covers yet is
 * written when the clock stops, if it is this much at least. */
#define JP_CLOCK_FLUSH_MIN_NS 1000000U

/* How a clock's row answers a signal. */
enum jp_observed {
    JP_OBSERVED_NONE,   /* no sample is to be taken */
    JP_OBSERVED_DUE,    /* samples are due */
    JP_OBSERVED_COMPARE /* samples are due; their weights depend on whether the
                           thread's stack is that of its last sample */
};

struct jp_clock_kind {
    uint32_t id;           /* enum jp_clock */
    uint8_t per_thread;    /* each thread has a clock; else the process has one
                               for all */
    uint8_t cpu;           /* it counts CPU time */
    uint8_t interrupts;    /* each of its signals costs an interrupt besides
                               the kernel's tick */
    uint8_t exact;         /* the time since the last sample can be read when
                               it stops */
    uint8_t outlives_exec; /* exec does not end it: it must be stopped first */
    uint8_t sees_waits;    /* it samples waiting threads as well */
    uint8_t itimer_signal; /* of the interval timer that it is, setitimer(2):
                               SIGPROF or SIGALRM; 0: it is none */

    /* Tries out whether this process may have the clock; NULL: it may. */
    int (*allowed)(void);
    uint32_t note_used, note_refused; /* JP_NOTE_*, or 0 */

    /* Only for clocks with per_thread: the system call by which a thread is
     * armed; the counters of threads that were refused it, by the kernel and by
     * a filter of the program's (JP_COUNT_*). */
    int call;
    unsigned count_refused, count_filtered;

    /* Whether the clock can send this signal; NULL: it can send any.  When the
     * program takes the clock's signal and the clock cannot send the next one,
     * give_up (may be NULL) closes what the clock has open, and the clock
     * `then` takes its place. */
    int (*sends)(int signal);
    void (*give_up)(void);
    const struct jp_clock_kind *then;
    /* The clock to try, above the kernel tick's rate, where no POSIX timer is
     * to be had; NULL: none. */
    const struct jp_clock_kind *without_timers;

    /* owns: whether a signal was sent by this clock. */
    int (*owns)(const struct jp_signal *signal);
    /* observe: finds out what the pass's signal stands for.  A clock without
     * account fills pass->due, all zeros before.
     * account (may be NULL): fills pass->due, after the thread's stack was
     * compared (pass->walk.stack) if observe returned JP_OBSERVED_COMPARE.
     * schedule (may be NULL): sets the clock to the thread's next sample, after
     * the samples were taken. */
    enum jp_observed (*observe)(struct jp_pass *pass);
    void (*account)(struct jp_pass *pass);
    void (*schedule)(struct jp_thread *thread);

    /* Fills *due with time that no sample covers yet, when a thread or the
     * profile ends and the thread gets no more signals.  Returns whether there
     * is any.  Another thread may call it.  NULL: there never is any. */
    int (*flush)(struct jp_thread *thread, struct jp_due *due);

    /* Only for clocks with per_thread, to its end.  A thread is armed with
     * begins_with first, where that is not NULL; when that clock first runs
     * out, this one takes its place.  arm and pace return 0 or -errno; pace
     * sets the calling thread's clock to the period of its budget. */
    const struct jp_clock_kind *begins_with;
    /* Only for clocks that another begins with: sets the calling thread's so
     * that its first period begins now, as the other was refused. */
    void (*restart)(struct jp_thread *thread);
    int (*arm)(struct jp_thread *thread);
    void (*disarm)(struct jp_thread *thread);
    int (*pace)(struct jp_thread *thread);
    /* The record of the calling thread, to which a signal was sent; NULL: the
     * thread that it was for has ended. */
    struct jp_thread *(*find)(const struct jp_signal *signal);
    /* The weight, in ns, of a signal for which no sample can be taken: its
     * thread is in the handler already, and the weight is added to the next
     * sample; or its thread has ended (thread: NULL) or goes by a thread
     * pointer of its own, and it is counted as lost.  NULL: 0. */
    uint64_t (*untaken)(struct jp_thread *thread,
                        const struct jp_signal *signal);
    /* Called before a filter of the program's is installed that will forbid to
     * set timers: sets the thread's timer to go on by itself.  NULL: the clock
     * does that anyway. */
    void (*fence)(struct jp_thread *thread);
    /* The clock that takes this one's place behind such a filter; NULL: this
     * one stays. */
    const struct jp_clock_kind *fenced;
    /* Called when another signal of jprof's has come to the calling thread.
     * NULL: nothing is to be done. */
    void (*recover)(struct jp_thread *thread, const ucontext_t *context);
    /* The thread's CPU time since its last sample, in ns, once: called when the
     * clock stops while its period is longer than asked for.  NULL: 0. */
    uint64_t (*unsampled)(struct jp_thread *thread);
    /* The CPU time, in ns, that a signal should have covered by now, once:
     * called when the clock stops.  NULL: 0. */
    uint64_t (*missed_ticks)(struct jp_thread *thread);

    /* Only for clocks of the process: run starts (1) or stops (0) the clock and
     * returns 0 or -errno.  take hands its budget to one thread at a time, NULL
     * while another has it; give takes it back and is told whether the period
     * has changed. */
    int (*run)(int on);
    struct jp_budget *(*take)(void);
    void (*give)(int changed);

    /* Both may be NULL.  forked: called in a forked child.  is_descriptor:
     * whether a descriptor of a forked child is one that the parent's clock had
     * open. */
    void (*forked)(void);
    int (*is_descriptor)(int fd);
};

/* No clock: samples are taken of raised signals only. */
extern const struct jp_clock_kind jp_clock_none;

#endif
