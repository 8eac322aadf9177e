/* SPDX-License-Identifier: MIT
 *
 * Thread records: one small record a profiled thread, found by the value that
 * a timer's signal carries or, for signals from outside, by thread id.
 * Runs in: handler, any thread. */
#ifndef JP_THREAD_H
#define JP_THREAD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "budget.h"
#include "clock_kind.h"

#define JP_THREADS_MAX 16384 /* JP_FREELIST_MAX */

struct jp_buffer;

enum jp_thread_state {
    JP_THREAD_FREE = 0,
    JP_THREAD_NEW,    /* taken, the thread has not begun yet */
    JP_THREAD_IDLE,   /* live, no timer */
    JP_THREAD_ARMING, /* somebody makes or deletes its timer */
    JP_THREAD_ARMED,  /* live, its timer runs */
    JP_THREAD_ENDING  /* the thread is about to exit */
};

/* Real time: see clock_real.c. */
struct jp_watch {
    uint64_t begin_ns, end_ns;  /* the stratum under way, */
    uint64_t moment_ns;         /* and its moment */
    uint64_t given_ns;          /* until here the thread's time is in samples;
                                   0: none is to come */
    uint64_t since_ns;          /* when it was first found in the wait that it
                                   is in */
    uint64_t restless_ns;       /* until when its waits count as short */
    uint64_t switches;          /* how often it had blocked, last time */
    uint64_t ours_ns;           /* CPU time of our own handler, last time */
    uint64_t found_ns;          /* when that was */
    int64_t ready_ns;           /* time that it waited for a CPU and that no
                                   sample stands for yet */
    int64_t remainder_ns;       /* CPU time that no sample stands for yet */
    int64_t lent_ns;            /* what running samples have beyond their
                                   strata */
    uint8_t waits;              /* it was found waiting */
    uint8_t late;               /* long after the moment */
    uint8_t parked, was_parked; /* its strata are long; a timer on its CPU
                                   clock is set */
    struct jp_found {           /* what the signal at work found */
        uint64_t now, cpu;
        uint64_t used;   /* CPU time since our handler ran last */
        uint64_t blocks; /* how often the thread blocked since; or
                            UINT64_MAX */
        int waits;       /* it waits in a call */
        int same;        /* in that in which it was found last, if the
                            stack is the same: */
        int other;       /* it was not */
        int ends;        /* that in which it was found last has just
                            ended */
    } found;
};

/* Written by sig/clock, for the thread or in it. */
struct jp_thread_clock {
    const struct jp_clock_kind *kind; /* what it is armed with, or NULL */
    int32_t signal;                   /* that it sends */
    _Atomic int32_t timer;            /* the kernel's id, or -1 */
    _Atomic int32_t cpu_wakeup;       /* real time: the timer on its CPU clock,
                                         or -1 */
    uint8_t no_cpu_wakeup;            /* it was refused */
    uint8_t refused;                  /* JP_REFUSED_*, each counted once */
    uint8_t unread;                   /* samples since the CPU clock was read */
    _Atomic uint8_t gives_way;        /* when it runs out, the process's clock
                                     takes its place (begins_with) */
    int32_t descriptor;               /* the perf clock's was this, or -1 */
    void *event;                      /* the page that keeps the perf clock */
    struct jp_budget budget;          /* of its own clock */
    _Atomic uint64_t carried_ns;      /* CPU time for its next sample to stand
                                     for as well */
    _Atomic uint64_t seen_ns;       /* where it goes without a clock: thread CPU
                                     time that samples stand for */
    uint64_t cpu_ns;                /* thread CPU time at the last sample, or
                                     when the timer was armed */
    uint64_t time_ns;               /* when the last sample was (perf clock) */
    _Atomic int64_t origin_ns;      /* a CPU timer's first period ends so long
                                     after it was made, in thread CPU time */
    _Atomic uint64_t periods;       /* how many that ended were noticed */
    _Atomic uint64_t first_tick_ns; /* the first signal comes at the thread's
                                     first tick, for the periods before it;
                                     0: it has come, or does not */
    struct jp_watch watch;
};

/* Written by who makes the thread, and by hooks that change its stack. */
struct jp_thread_stack {
    uint64_t low;             /* UINT64_MAX: unknown */
    uint64_t high;            /* where its root is; 0: unknown */
    uint64_t floor;           /* what lies between it and high is this
                                stack, where the kernel cannot be asked;
                                UINT64_MAX: unknown */
    uint64_t room;            /* threads.c: see there */
    _Atomic uint32_t changed; /* a part of it was mapped anew: what is
                                     known of it is to be looked up again (a
                                     word: not every machine swaps bytes) */
    _Atomic uint8_t unsafe;   /* it is always read by asking the kernel */
    uint8_t bounds_known;     /* high is the frame of jprof's own thread
                                start: a stack ends there */
    uint8_t is_main;          /* high is the program's entry */
};

/* Written by the handler for the hooks, and by these. */
struct jp_thread_hooks {
    _Atomic uint32_t runs; /* of jprof's handler in this thread: hooks
                                     look whether one ended a call early */
    struct jp_resumed {
        uint64_t pc, sp;
    } resumed[2];              /* where the last of them returned to, and
                                     where the one before did that returned to
                                     another place */
    uint64_t program_blocked;  /* what the creator believed blocked of
                                     jprof's signals (local.h) */
    void *(*function)(void *); /* what pthread_create was asked to run */
    void *argument;
};

/* Written by sig/files/names. */
struct jp_thread_name {
    _Atomic uint8_t unwritten; /* it is not in the map yet */
    _Atomic uint32_t busy;     /* somebody compares and writes it */
    uint64_t looked_ns;        /* when the thread was last asked */
    char text[16];             /* as last written to the map */
};

/* Written by sampling: the last sample, or the one at work. */
struct jp_thread_last {
    struct jp_due due;   /* what the signal at work stands for */
    uint64_t sampled_ns; /* when the stack was walked */
    uint8_t reason;      /* why it ends, enum jp_reason */
};

struct jp_thread {
    _Atomic uint32_t state;      /* enum jp_thread_state */
    _Atomic uint32_t generation; /* counts the record's uses */
    _Atomic uint32_t tid;
    _Atomic uint32_t busy;            /* its thread is in the handler */
    uint32_t adoptions;               /* when it was taken: see adopt.c */
    _Atomic uint8_t adopted;          /* found, not started through our hook */
    struct jp_buffer *_Atomic buffer; /* from the first sample on */
    struct jp_thread_clock clock;
    struct jp_thread_stack stack;
    struct jp_thread_hooks hooks;
    struct jp_thread_name name;
    struct jp_thread_last last;
};

/* Maps the table.  Returns 0 or -errno. */
int jp_threads_init_sig(void);

/* Takes a free record (state NEW), or NULL when all are taken. */
struct jp_thread *jp_thread_new_sig(void);

/* Makes a NEW record live for thread `tid` (state IDLE). */
void jp_thread_begin_sig(struct jp_thread *thread, uint32_t tid);

/* Gives a record back; its signals no longer find it. */
void jp_thread_free_sig(struct jp_thread *thread);

/* The same for the record of the calling thread, which is about to exit and has
 * used so much CPU time. */
void jp_thread_end_sig(struct jp_thread *thread, uint64_t cpu_ns);

/* The value for a timer's sigval, and the live record that a value names, or
 * NULL: not ours, or of a thread that is gone. */
uint64_t jp_thread_value_sig(const struct jp_thread *thread);
struct jp_thread *jp_thread_by_value_sig(uint64_t value);

/* Whether a value has the form of jp_thread_value_sig's at all. */
int jp_thread_is_value_sig(uint64_t value);

/* The live record of a thread, or NULL. */
struct jp_thread *jp_thread_by_tid_sig(uint32_t tid);

/* The same, looked for in one place only, where it nearly always is. */
struct jp_thread *jp_thread_hinted_sig(uint32_t tid);

/* The live record of the calling thread, whose stack pointer is sp, without
 * asking the kernel who it is; NULL: ask.  Thread-local memory says which
 * record it was last, and its stack that it still is: a thread made by the
 * system call may share the memory with its maker, but has another stack.  A
 * vfork child has its parent's. */
struct jp_thread *jp_thread_here_sig(uint64_t sp);

/* Has the calling thread remember its record. */
void jp_thread_remember_sig(struct jp_thread *thread);

/* How many threads were adopted so far, `more` of them just now. */
uint32_t jp_thread_count_adoptions_sig(uint32_t more);

/* Of a thread that gave its record back by jp_thread_end_sig: the CPU time
 * that it had used then; of any other 0. */
uint64_t jp_thread_ended_cpu_sig(uint32_t tid);

/* Another live record of the same thread, or NULL. */
struct jp_thread *jp_thread_other_sig(const struct jp_thread *thread);

/* Takes a live record from its thread, which has another; what looks for dead
 * threads' records frees it. */
void jp_thread_retire_sig(struct jp_thread *thread);

/* Its place in the table. */
uint32_t jp_thread_index_sig(const struct jp_thread *thread);

/* How many are taken now. */
uint32_t jp_threads_taken_sig(void);

/* For loops over all: records 0 to count - 1 have ever been used. */
uint32_t jp_threads_used_sig(void);
struct jp_thread *jp_thread_at_sig(uint32_t index);

/* The code of jprof's own thread start: a stack's root is what it calls. */
extern uint64_t jp_thread_start_low, jp_thread_start_high;
static inline int jp_thread_is_start_sig(uint64_t address)
{
    return address >= jp_thread_start_low && address < jp_thread_start_high;
}

/* Forgets every record, as a forked child does.  (The table is wiped by
 * fork.) */
void jp_threads_reset_sig(void);

#endif
