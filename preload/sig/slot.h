/* SPDX-License-Identifier: MIT
 *
 * Thread slots: one small record a profiled thread, found by the value that
 * a timer's signal carries or, for signals from outside, by thread id.
 * Runs in: handler, any thread. */
#ifndef JP_SLOT_H
#define JP_SLOT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "budget.h"

#define JP_SLOTS_MAX 16384 /* JP_FREELIST_MAX */

struct jp_kit;

enum jp_slot_state {
    JP_SLOT_FREE = 0,
    JP_SLOT_NEW,      /* taken, the thread has not begun yet */
    JP_SLOT_IDLE,     /* live, no timer */
    JP_SLOT_ARMING,   /* somebody makes or deletes its timer */
    JP_SLOT_ARMED,    /* live, its timer runs */
    JP_SLOT_ENDING    /* the thread is about to exit */
};

struct jp_slot {
    _Atomic uint32_t state;       /* enum jp_slot_state */
    _Atomic uint32_t generation;  /* counts the slot's uses */
    _Atomic uint32_t tid;
    _Atomic int32_t timer;        /* the kernel's id, while armed by one */
    int32_t signal;               /* that its clock sends */
    uint32_t source;              /* enum jp_clock: what it is armed with */
    int32_t number;               /* the perf clock's descriptor was this */
    void *event;                  /* the page that keeps the perf clock */
    uint32_t adoptions;           /* when it was taken: see adopt.c */
    _Atomic uint64_t debt_ns;     /* CPU time before the slot was armed, for
                                     its first sample to stand for */
    _Atomic uint64_t seen_ns;     /* where it goes without a clock: thread CPU
                                     time that samples stand for */
    uint64_t named_ns;            /* when its name was last looked at */
    uint8_t refused;              /* JP_REFUSED_*, each counted once */
    /* Real time: see clock_real.c. */
    _Atomic int32_t waker;        /* the timer on its CPU clock, or -1 */
    uint8_t no_waker;             /* it was refused */
    struct jp_watch {
        uint64_t begin_ns, end_ns; /* the stratum under way, */
        uint64_t moment_ns;        /* and its moment */
        uint64_t given_ns;         /* until here the thread's time is in
                                      samples; 0: none is to come */
        uint64_t since_ns;         /* when it was first found in the wait that
                                      it is in */
        uint64_t restless_ns;      /* until when its waits count as short */
        uint64_t switches;         /* how often it had blocked, last time */
        uint64_t ours_ns;          /* CPU time of our own handler, last time */
        int64_t due_ns;            /* CPU time that no sample stands for yet */
        int64_t lent_ns;           /* what running samples have beyond their
                                      strata */
        uint8_t waits;             /* it was found waiting */
        uint8_t calm, was_calm;    /* its strata are long; the waker is set */
    } watch;
    uint64_t sampled_ns;          /* when the last stack was walked */
    _Atomic uint8_t opening;      /* its CPU timer gives way to the perf
                                     clock when it runs out */
    uint8_t reason;               /* the last stack's, enum jp_reason */
    uint8_t unread;               /* samples since the CPU clock was read */
    struct jp_budget budget;      /* of its own clock */
    uint64_t stack_low;           /* the thread's stack; UINT64_MAX: unknown */
    uint64_t stack_high;          /* where its root is; 0: unknown */
    uint64_t stack_floor;         /* what lies between it and stack_high is
                                     this stack, where the kernel cannot be
                                     asked; UINT64_MAX: unknown */
    _Atomic uint8_t shaken;       /* a part of the stack has changed: what is
                                     known of it is to be looked up again */
    _Atomic uint8_t loose;        /* it is always read by asking the kernel */
    uint8_t rooted;               /* stack_high is the frame of jprof's own
                                     thread start: a stack ends there */
    uint8_t is_main;              /* stack_high is the program's entry */
    _Atomic uint8_t adopted;      /* found, not started through our hook */
    _Atomic uint8_t unnamed;      /* its name is not in the map yet */
    _Atomic uint32_t busy;        /* its thread is in the handler */
    struct jp_kit *_Atomic kit;   /* from the first sample on */
    uint64_t cpu_ns;              /* thread CPU time at the last sample, or
                                     when the timer was armed */
    uint64_t time_ns;             /* when the last sample was (perf clock) */
    _Atomic int64_t origin_ns;    /* a CPU timer's first period ends so long
                                     after it was made, in thread CPU time */
    _Atomic uint64_t ended;       /* how many of its periods were noticed */
    _Atomic uint64_t early_ns;    /* see clock.c; 0: no early signal is due */
    _Atomic uint32_t runs;        /* of jprof's handler in this thread: hooks
                                     look whether one ended a call early */
    struct jp_resumed {
        uint64_t pc, sp;
    } resumed[2];                 /* where the last of them returned to, and
                                     where the one before did that returned to
                                     another place */
    uint64_t view;                /* what the creator believed blocked of
                                     jprof's signals (local.h) */
    _Atomic uint32_t naming;      /* somebody compares and writes its name */
    char name[16];                /* as last written to the map */
    uint64_t stack_room;          /* threads.c: see there */
    void *(*function)(void *);    /* what pthread_create was asked to run */
    void *argument;
};

/* Maps the table.  Returns 0 or -errno. */
int jp_slots_init_sig(void);

/* Takes a free slot (state NEW), or NULL when all are taken. */
struct jp_slot *jp_slot_new_sig(void);

/* Makes a NEW slot live for thread `tid` (state IDLE). */
void jp_slot_begin_sig(struct jp_slot *slot, uint32_t tid);

/* Gives a slot back; its signals no longer find it. */
void jp_slot_free_sig(struct jp_slot *slot);

/* The same for the slot of the calling thread, which is about to exit and has
 * used so much CPU time. */
void jp_slot_end_sig(struct jp_slot *slot, uint64_t cpu_ns);

/* The value for a timer's sigval, and the live slot that a value names, or
 * NULL: not ours, or of a thread that is gone. */
uint64_t jp_slot_value_sig(const struct jp_slot *slot);
struct jp_slot *jp_slot_by_value_sig(uint64_t value);

/* Whether a value has the form of jp_slot_value_sig's at all. */
int jp_slot_is_value_sig(uint64_t value);

/* The live slot of a thread, or NULL. */
struct jp_slot *jp_slot_by_tid_sig(uint32_t tid);

/* The same, looked for in one place only, where it nearly always is. */
struct jp_slot *jp_slot_hinted_sig(uint32_t tid);

/* The live slot of the calling thread, whose stack pointer is sp, without
 * asking the kernel who it is; NULL: ask.  Thread-local memory says which slot
 * it was last, and its stack that it still is: a thread made by the system
 * call may share the memory with its maker, but has another stack.  A vfork
 * child has its parent's. */
struct jp_slot *jp_slot_here_sig(uint64_t sp);

/* Has the calling thread remember its slot. */
void jp_slot_remember_sig(struct jp_slot *slot);

/* How many threads were adopted so far, `more` of them just now. */
uint32_t jp_slot_adoptions_sig(uint32_t more);

/* Of a thread that gave its slot back by jp_slot_end_sig: the CPU time that it
 * had used then; of any other 0. */
uint64_t jp_slot_ended_sig(uint32_t tid);

/* Another live slot of the same thread, or NULL. */
struct jp_slot *jp_slot_other_sig(const struct jp_slot *slot);

/* Takes a live slot from its thread, which has another; what looks for dead
 * threads' slots frees it. */
void jp_slot_doom_sig(struct jp_slot *slot);

/* Its place in the table. */
uint32_t jp_slot_index_sig(const struct jp_slot *slot);

/* How many are taken now. */
uint32_t jp_slots_taken_sig(void);

/* For loops over all: slots 0 to count - 1 have ever been used. */
uint32_t jp_slots_count_sig(void);
struct jp_slot *jp_slot_at_sig(uint32_t index);

/* The code of jprof's own thread start: a stack's root is what it calls. */
extern uint64_t jp_thread_start_low, jp_thread_start_high;
static inline int jp_thread_is_start_sig(uint64_t address)
{
    return address >= jp_thread_start_low && address < jp_thread_start_high;
}

/* Forgets every slot, as a forked child does.  (The table is wiped by fork.) */
void jp_slots_reset_sig(void);

#endif
