/* SPDX-License-Identifier: MIT
 *
 * The clock of real time's state of a thread, in parts by the stage that writes
 * them, and what one signal's pass hands from stage to stage:
 * preload/sig/wall/README.md.  Times are CLOCK_MONOTONIC in ns unless said
 * otherwise.
 * Runs in: everywhere (types only). */
#ifndef JP_WALL_H
#define JP_WALL_H

#include <stdatomic.h>
#include <stdint.h>

/* The kernel's figures at the last signal, with which the next ones are
 * compared.  Written by wall/observe. */
struct jp_wall_seen {
    uint64_t switches, held; /* its voluntary switches, and the others */
    uint32_t runs, shared;   /* hooks.runs and jp_process.shared */
    uint64_t ours_ns;        /* CPU time of the handler */
    uint64_t at_ns;          /* when the thread was observed */
    uint64_t delay_ns;       /* the time for which it had waited for a CPU in
                                all (delay.h) when its long wait began, and for
                                the looks since */
};

/* The wait that the last signal found.  Written by wall/classify. */
struct jp_wall_wait {
    uint64_t since_ns;    /* when the thread was first found in it */
    uint64_t restless_ns; /* until then the thread's waits count as short */
    uint64_t queued_ns;   /* until then its moments are memoryless */
    uint64_t found_ns;    /* when the last signal was handled */
    uint64_t print;       /* of its stack in that wait (still.h), or 0 */
    uint64_t skipped;     /* how often it blocked from the last sample until the
                             last signal, if that signal took no sample */
    uint8_t moved;        /* its wait has changed in that time */
    uint8_t waits;        /* the last signal found it waiting */
    uint8_t late;         /* the last signal came long after its moment */
};

/* The time that samples cover, and the time that they have yet to cover.
 * Written by wall/account. */
struct jp_wall_balance {
    uint64_t given_ns;      /* samples cover the thread's time until here; 0: no
                               more are to come */
    int64_t ready_ns;       /* time waiting for a CPU, not in samples yet */
    int64_t remainder_ns;   /* CPU time, not in samples yet */
    int64_t tail_ns;        /* the part of the last signal's CPU time that will,
                               on the average, be used again before the end of
                               its stratum */
    int64_t balance_ns;     /* remainder_ns at the last stratum's end, on the
                               average */
    int64_t lent_ns;        /* by how much the weights of running samples exceed
                               their strata */
    uint64_t doubt_ns;      /* CPU time since it seems to have been in its wait,
                               the program's or not */
    uint64_t doubt_cost_ns; /* the average cost of the looks in that time */
};

/* The current stratum and the timer.  Written by wall/schedule. */
struct jp_wall_stratum {
    uint64_t armed_ns; /* when the clock was armed */
    uint64_t begin_ns, end_ns;
    uint64_t moment_ns;        /* when the stratum is sampled */
    int64_t behind_ns;         /* by how much samples were behind the clock when
                                  the current memoryless stratum began */
    uint64_t fence_period_ns;  /* of a timer that can no longer be set, */
    _Atomic uint64_t fence_ns; /* which first expires then; 0: it can be set */
    uint8_t memoryless;        /* the moment is exponentially distributed */
    uint8_t parked;            /* its strata are long, and cpu_wakeup is set */
    uint8_t was_parked;        /* parked, before the current signal */
};

struct jp_wall {
    struct jp_wall_seen seen;
    struct jp_wall_wait wait;
    struct jp_wall_balance balance;
    struct jp_wall_stratum stratum;
};

/* The strata of a thread's CPU time: the current one ends at end_ns, is sampled
 * at moment_ns, and is length_ns long.  CPU times since the clock was armed.
 * Written by wall/schedule, for the hrtimer clock. */
struct jp_cpu_strata {
    uint64_t end_ns, moment_ns, length_ns;
};

/* The system call at which a signal finds a thread. */
struct jp_wall_call {
    long number;        /* of the one that it waits in and is about to make
                           again; -1: none */
    uint8_t waited;     /* the signal ended a wait in the call, or the thread is
                           about to make the call */
    uint8_t after;      /* that, or the thread has just left a call */
    uint8_t only_waits; /* that call does nothing but wait */
    uint8_t queues;     /* other threads wait in it for the same thing */
    uint8_t rare;       /* threads wait in it for nothing but a supervisor */
    uint8_t supervised; /* a thread has been seen to do so */
};

/* The figures that one signal's look at the thread has read.  Written by
 * wall/observe. */
struct jp_observation {
    uint64_t now_ns;
    uint64_t before_ns; /* the thread's CPU clock at the last signal's end, */
    uint64_t used_ns;   /* and how much of it was used since then; 0: unknown */
    uint64_t switches, held;
    uint32_t runs, shared;
    uint64_t print;    /* of the thread's stack, where switches are unknown */
    uint64_t delay_ns; /* the time for which it has waited for a CPU in all */
    struct jp_wall_call call;
    uint8_t cpu_known;
    uint8_t traced; /* the process has a tracer */
};

/* The state of the thread at the signal, as concluded from the figures.
 * Written by wall/classify. */
struct jp_finding {
    uint64_t used_ns; /* CPU time since the last handler's end */
    uint64_t blocks;  /* voluntary switches since then (left.h: may be
                         unknown) */
    uint64_t held_ns; /* how long it has lacked a CPU since its long wait
                         ended */
    uint64_t gap_ns;  /* time since the last signal was handled */
    uint8_t waited;   /* the last signal found it waiting */
    uint8_t idle;     /* it has used next to no CPU time since */
    uint8_t waits;    /* the thread waits in a call */
    uint8_t returns;  /* it is on its way back into its wait, which the last
                         signal made it leave */
    uint8_t still;    /* by its stack alone, it seems not to have left its
                         wait */
    uint8_t same;     /* it is in the same wait as at the last signal; until the
                         stacks are compared: it may be */
    uint8_t other;    /* the stacks were compared and differ */
    uint8_t ends;     /* the wait of the last signal has just ended */
};

/* One signal's look at the thread. */
struct jp_look {
    struct jp_observation seen;
    struct jp_finding found;
};

#endif
