/* SPDX-License-Identifier: MIT
 *
 * What the threads of the model did with real time, by function: all of it, and
 * where they were blocked.
 * Runs in: analyzer. */
#ifndef JR_MODEL_WAITS_H
#define JR_MODEL_WAITS_H

#include "model.h"

/* A function's real time, wherever it is on the stack. */
struct jr_time_row {
    uint32_t function;
    uint64_t ns[JR_STATES];
    uint64_t all_ns;
    double error_ns; /* standard error of all_ns */
};

/* The functions by descending time, without what the C library does for a hook
 * of libjprof.so, which is the hook's: an array of *count that the caller
 * frees. */
struct jr_time_row *jr_times_rows(const struct jr_model *model, size_t *count);

/* Where threads were blocked: a function of the program, and what it called
 * for that. */
struct jr_wait_row {
    uint32_t function, call; /* equal: it called nothing */
    uint64_t blocked_ns;     /* of threads that did other things as well */
    double error_ns;
    uint64_t threads; /* those */
    uint64_t idle_ns; /* of threads that were here all the time */
    uint64_t idle;    /* those */
};

/* By function, whether it waits for several callers and does so by one call:
 * then the callers are named, and that they called it.  The caller frees it. */
uint8_t *jr_waits_wrappers(const struct jr_model *model);

/* So many such functions, one above the other, give way to their callers. */
#define JR_WRAPPERS 2

/* Whose wait a node is, and what that function called; both UINT32_MAX for
 * node 0. */
void jr_waits_place(const struct jr_model *model, const uint8_t *wrappers,
                    uint32_t node, uint32_t *function, uint32_t *call);

/* A thread with at least this share of its time in one wait counts as idle
 * throughout: it needed some time to come there.  (In the same way, a caller or
 * a call with so large a share of a function's waits is the only one.) */
#define JR_IDLE_SHARE 0.99

/* The waits by descending blocked time: an array of *count that the caller
 * frees. */
struct jr_wait_row *jr_waits_rows(const struct jr_model *model, size_t *count);

#endif
