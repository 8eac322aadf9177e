/* SPDX-License-Identifier: MIT
 *
 * Threads: one small record for each profiled thread, in a table.  A record is
 * found by the value that a timer's signal carries or, for other signals, by
 * thread id.
 * Runs in: handler, any thread. */
#ifndef JP_THREAD_H
#define JP_THREAD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "budget.h"
#include "clock_kind.h"
#include "wall.h"

#define JP_THREADS_MAX 16384 /* JP_FREELIST_MAX */

struct jp_buffer;

enum jp_thread_state {
    JP_THREAD_FREE = 0,
    JP_THREAD_NEW,    /* the record is taken, its thread has not begun */
    JP_THREAD_IDLE,   /* live: the thread runs, without a timer */
    JP_THREAD_ARMING, /* live: its timer is being made or deleted */
    JP_THREAD_ARMED,  /* live: the timer runs */
    JP_THREAD_ENDING  /* live: the thread is about to exit */
};

/* The state of the hrtimer clock (clock_hrtimer.c).  CPU times are since
 * jp_thread_clock.cpu_ns.  Written by the thread itself, and by another one
 * that arms it. */
#define JP_HRTIMER_CALLS 16U
struct jp_hrtimer {
    struct jp_cpu_strata strata;
    uint64_t expires_ns; /* CLOCK_MONOTONIC at which the timer expires, or would
                            if it were not stopped */
    uint64_t frame;      /* an address in the frame of the hook whose call the
                            thread is in; 0: it is in none */
    uint64_t fired_ns;   /* CLOCK_MONOTONIC of the last signal */
    uint32_t delay_ns;   /* from a timer's expiry to its signal, about */
    uint8_t early;       /* signals in waits since the last sample */
    uint8_t call;        /* the hook, as an index of `stopping` */
    uint8_t stopped;     /* the timer is stopped, until the wait is over */
    uint8_t stopping[JP_HRTIMER_CALLS]; /* how many of the next calls of the
                                           hook stop the timer */
};

/* The thread's clock.  Written by sig/clock, in the thread itself or by the one
 * who holds the record (jp_clock_hold_sig). */
struct jp_thread_clock {
    const struct jp_clock_kind *kind; /* what it is armed with, or NULL */
    int32_t signal;                   /* that the clock sends */
    _Atomic int32_t timer;            /* the kernel's timer id, or -1 */
    _Atomic int32_t cpu_wakeup; /* real time: the timer that tells that a parked
                                   thread runs again, or -1 */
    uint8_t no_cpu_wakeup;      /* the kernel refused that timer */
    uint8_t refused;            /* JP_REFUSED_*, each counted once */
    uint8_t unread;             /* samples since the CPU clock was read */
    uint8_t skipped;            /* jp_clock_skip_sig was called since the last
                                   signal (CPU timers) */
    _Atomic uint8_t gives_way;  /* it is armed with begins_with, and the
                                   process's clock follows */
    int32_t descriptor;         /* number that the perf event's signals carry,
                                   or -1 */
    void *event;                /* mapped page that keeps the perf event open */
    struct jp_budget budget;    /* of this thread's own clock */
    _Atomic uint64_t carried_ns; /* CPU time that the next sample stands for
                                    besides its own */
    _Atomic uint64_t seen_ns; /* for a thread that was refused a clock: CPU time
                                 that samples cover */
    uint64_t cpu_ns;          /* the thread's CPU clock at the last sample, or
                                 when the clock was armed */
    uint64_t time_ns;         /* CLOCK_MONOTONIC of the last sample (perf) */
    _Atomic int64_t origin_ns; /* end of a CPU timer's first period, in CPU time
                                  since it was armed; may be negative */
    _Atomic uint64_t periods;  /* periods that ended, as far as was noticed */
    _Atomic uint64_t first_tick_ns; /* not 0: the first signal comes at the
                                       thread's first tick and stands for the
                                       periods before it */
    struct jp_wall wall;            /* of the clock of real time */
    struct jp_hrtimer hrtimer;
};

/* The thread's stack.  Written when the thread's record is made live, and by
 * hooks on calls that change the stack's memory. */
struct jp_thread_stack {
    uint64_t low;   /* all of [low, high) is known to be mapped; UINT64_MAX:
                       unknown */
    uint64_t high;  /* address of its root; 0: unknown */
    uint64_t floor; /* [floor, high) belongs to this stack, for when the kernel
                       cannot be asked; UINT64_MAX: unknown */
    uint64_t room;  /* bytes that pthread_create's attributes give it, without
                       the guard; 0: unknown */
    uint64_t first; /* the function that jprof's own thread start calls, and */
    uint64_t first_end;       /* where its code ends; 0: not looked for yet */
    _Atomic uint32_t changed; /* some of its memory was mapped anew: `low` is to
                                 be found again (a word, since not every machine
                                 swaps bytes) */
    _Atomic uint8_t unsafe;   /* it is read through the kernel only */
    /* high is the frame of jprof's own thread start, where every stack of this
     * thread ends. */
    uint8_t bounds_known;
    uint8_t is_main; /* high is the program's entry */
};

#define JP_ENTERED (1ULL << 32)

/* What the handler tells the hooks, and what pthread_create's hook tells the
 * thread that it starts. */
struct jp_thread_hooks {
    /* How often jprof's handler ran in the thread: a hook sees by it whether
     * a run ended its call. */
    _Atomic uint32_t runs;
    struct jp_resumed {
        uint64_t pc, sp;
    } resumed[2]; /* where the handler last returned to, and the
                                  last place before that was another */
    /* Signals to the process, one of which may have woken this thread, and
     * whose handlers, the program's, another thread then ran; and how often
     * jprof's handler found some that this thread does not block. */
    _Atomic uint64_t taken;
    _Atomic uint32_t told;
    /* Those of `taken` whose handlers are without SA_RESTART; and
     * JP_ENTERED | jp_process.handled as it was before the call that the thread
     * is in, if a handler without SA_RESTART ends that; else 0. */
    _Atomic uint64_t cut, entered;
    /* 1: it waits with more signals blocked than the program asked for, which
     * are `blocked` (hooks/base/retry.c). */
    _Atomic uint32_t masked;
    _Atomic uint64_t blocked;
    /* The alternate stack that the kernel has for it, [low, high); 0, 0: none,
     * or, unless known is 1, none that was seen (hooks/signals/altstack.c). */
    _Atomic uint64_t alternate_low, alternate_high;
    _Atomic uint32_t alternate_known;
    uint64_t program_blocked;  /* of the clock's signals, those that the creator
                                  believes blocked (hooks/base/local.h) */
    void *(*function)(void *); /* what pthread_create was asked to run */
    void *argument;
};

/* The thread's name.  Written by sig/files/names. */
struct jp_thread_name {
    _Atomic uint8_t unwritten; /* the map has no name of the thread yet */
    _Atomic uint32_t busy;     /* 1: a thread compares and writes it */
    uint64_t looked_ns;        /* when the thread was last asked for it */
    char text[16];             /* as last written to the map */
};

/* The last sample.  Written by sampling. */
struct jp_thread_last {
    uint64_t sampled_ns; /* when the stack was walked */
    uint8_t reason;      /* why that walk ended, enum jp_reason */
};

enum jp_thread_busy {
    JP_THREAD_SAMPLES = 1, /* it takes a sample */
    JP_THREAD_FLUSHED      /* another thread writes what it left */
};

struct jp_thread {
    _Atomic uint32_t state;      /* enum jp_thread_state */
    _Atomic uint32_t generation; /* counts the uses of this record */
    _Atomic uint32_t tid;
    _Atomic uint32_t busy;   /* enum jp_thread_busy, or 0 */
    uint32_t adoptions;      /* jp_thread_count_adoptions_sig(0) when the record
                                was taken: see adopt.c */
    _Atomic uint8_t adopted; /* the thread was found, not started through the
                                hook */
    struct jp_buffer *_Atomic buffer; /* NULL until the first sample */
    struct jp_thread_clock clock;
    struct jp_thread_stack stack;
    struct jp_thread_hooks hooks;
    struct jp_thread_name name;
    struct jp_thread_last last;
};

/* Maps the table.  Returns 0 or -ENOMEM.  Called once, by the constructor. */
int jp_threads_init_sig(void);

/* Takes a free record, cleared, in state NEW; NULL when all are taken.  The
 * caller gives it back by jp_thread_free_sig or jp_thread_end_sig. */
struct jp_thread *jp_thread_new_sig(void);

/* Makes a NEW record live for thread `tid` (state IDLE). */
void jp_thread_begin_sig(struct jp_thread *thread, uint32_t tid);

/* Gives a record back.  Signals that carry it no longer find it. */
void jp_thread_free_sig(struct jp_thread *thread);

/* The kernel's CPU clock of any thread of this process. */
clockid_t jp_thread_clock_of_sig(uint32_t tid);

/* Adds what the calling thread had used when its clock began. */
void jp_thread_armed_sig(uint64_t cpu_ns);

/* The CPU time, in ns, of all threads that have ended. */
uint64_t jp_threads_ended_sig(void);

/* Called as the profile begins, at the process's CPU time cpu_ns: what of it no
 * thread's clock shows was used by threads that are gone, as those of a program
 * that became this one by exec.  The second function returns it, in ns. */
void jp_threads_since_sig(uint64_t cpu_ns);
uint64_t jp_threads_gone_sig(void);

/* Adds to it CPU time of threads that have no record. */
void jp_threads_add_gone_sig(uint64_t cpu_ns);

/* CPU time that threads used before their clocks began and after these ended,
 * of the process's cpu_ns, in ns. */
uint64_t jp_threads_edges_sig(uint64_t cpu_ns);

/* Gives back the record of the calling thread, which is about to exit, and
 * remembers its CPU time cpu_ns for jp_thread_ended_cpu_sig. */
void jp_thread_end_sig(struct jp_thread *thread, uint64_t cpu_ns);

/* Makes the thread busy with `what`.  Returns 0 when it is already. */
static inline int jp_thread_enter_sig(struct jp_thread *thread,
                                      enum jp_thread_busy what)
{
    uint32_t idle = 0;
    return atomic_compare_exchange_strong(&thread->busy, &idle, what);
}

/* The value that names this use of a record in a timer's sigval. */
uint64_t jp_thread_value_sig(const struct jp_thread *thread);

/* The live record that a value names; NULL when the value is none of jprof's,
 * or names a use of the record that is over. */
struct jp_thread *jp_thread_by_value_sig(uint64_t value);

/* Whether a value has the form of jp_thread_value_sig's.  Commands and the
 * process's slow timer do not have it: no record in use has generation 0. */
int jp_thread_is_value_sig(uint64_t value);

/* The live record of thread `tid`, or NULL.  Looks through the whole table if
 * need be. */
struct jp_thread *jp_thread_by_tid_sig(uint32_t tid);

/* The live record of thread `tid` if it is in the one place where it nearly
 * always is, else NULL. */
struct jp_thread *jp_thread_hinted_sig(uint32_t tid);

/* The live record of the calling thread, whose stack pointer is sp, without a
 * system call; NULL when it is not certain, and the kernel must be asked.
 * Thread-local memory tells which record it was last; that sp is on that
 * record's stack confirms it, as a thread made by clone may share its maker's
 * thread-local memory but not its stack.  A vfork child gets its parent's. */
struct jp_thread *jp_thread_here_sig(uint64_t sp);

/* Remembers the calling thread's record for jp_thread_here_sig. */
void jp_thread_remember_sig(struct jp_thread *thread);

/* Adds `more` to the number of threads adopted so far, and returns the sum. */
uint32_t jp_thread_count_adoptions_sig(uint32_t more);

/* The CPU time, in ns, that thread `tid` had used when it gave its record back
 * by jp_thread_end_sig; 0 for any other thread. */
uint64_t jp_thread_ended_cpu_sig(uint32_t tid);

/* Another live record of the same thread, or NULL. */
struct jp_thread *jp_thread_other_sig(const struct jp_thread *thread);

/* Whether no thread of this process has that id: it is a retired record's, or
 * its thread has ended. */
int jp_thread_is_gone_sig(uint32_t tid);

/* Takes a live record away from its thread, which has another one.  The search
 * for the records of dead threads (adopt.c) frees it later. */
void jp_thread_retire_sig(struct jp_thread *thread);

/* Whether that was done to a live record. */
static inline int jp_thread_is_retired_sig(const struct jp_thread *thread)
{
    return thread->tid == 0;
}

/* The record's index in the table. */
uint32_t jp_thread_index_sig(const struct jp_thread *thread);

/* How many records are taken now. */
uint32_t jp_threads_taken_sig(void);

/* For loops over all records: how many were ever used, and one by its index. */
uint32_t jp_threads_used_sig(void);
struct jp_thread *jp_thread_at_sig(uint32_t index);

/* The bounds of the code of jprof's own thread start.  A walk that comes to a
 * return address in it has reached the stack's root. */
extern uint64_t jp_thread_start_low, jp_thread_start_high;
static inline int jp_thread_is_start_sig(uint64_t address)
{
    return address >= jp_thread_start_low && address < jp_thread_start_high;
}

/* Forgets all records.  Called in a forked child, where the kernel has wiped
 * the table. */
void jp_threads_reset_sig(void);

#endif
