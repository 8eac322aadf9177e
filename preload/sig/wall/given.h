/* SPDX-License-Identifier: MIT
 *
 * The figures about the thread's clock, its process and the present that the
 * pure stages of the clock of real time are handed in, since they may not read
 * them.  Written by observe.
 * Runs in: handler (types only). */
#ifndef JP_GIVEN_H
#define JP_GIVEN_H

#include <stdint.h>

struct jp_given {
    uint64_t period_ns; /* of the thread's budget */
    uint64_t threads;   /* of the process that have records */
    uint64_t cost_ns;   /* CPU time that a look costs a waiting thread */
    uint64_t life_ns;   /* how old the threads got that ended lately, */
    uint64_t ended_ns;  /* and when the last one ended; 0: none did */
    uint8_t lowered;    /* the period is longer than asked for */
    uint8_t is_main;    /* the thread is the process's first */
};

/* A random number, and the threads among which a parked thread's moments are
 * spread. */
struct jp_draw {
    uint64_t now_ns;           /* CLOCK_MONOTONIC */
    uint64_t random;           /* of 64 bits */
    uint32_t pid, index, used; /* the thread's record in the process's table,
                                  and how many of them were ever used */
};

/* What is read when a thread or its profile ends. */
struct jp_end {
    uint64_t now_ns;   /* CLOCK_MONOTONIC */
    uint64_t ran_ns;   /* CPU time since the last signal */
    uint64_t switches; /* its voluntary switches so far, or JP_LEFT_UNKNOWN */
    uint32_t runs;     /* hooks.runs */
    uint8_t own;       /* the thread itself asks */
    uint8_t gone;      /* the thread ended some time ago, nobody knows when */
    uint8_t goes_on;   /* the process's profile has not ended */
};

#endif
