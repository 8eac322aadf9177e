/* SPDX-License-Identifier: MIT
 *
 * The second stage of the clock of real time: from the figures that a look has
 * read to what the thread does.  Pure functions: they read their arguments
 * alone, and write `wait` and the finding.
 * Runs in: handler. */
#ifndef JP_CLASSIFY_H
#define JP_CLASSIFY_H

#include <stdint.h>

#include "sig/state/pass.h"
#include "sig/state/wall.h"

/* CPU time of a call in which a thread waited, at most, in ns. */
#define JP_CLASSIFY_CALL_NS 100000U

/* Two samples of one wait have at most so much CPU time between them (on a busy
 * virtual machine the return into the call takes some 200 us now and then). */
#define JP_CLASSIFY_SAME_NS 500000U

/* In its first WATCHED_NS, each wait of a restless thread is sampled period by
 * period. */
#define JP_CLASSIFY_WATCHED_NS JP_NS

/* A wait that is found by a signal later than this may be over. */
#define JP_CLASSIFY_PROMPT_NS 1000000U

/* Whether a thread that a signal finds at a system call waits in it.  left: if
 * it has just left the call without an error, it waited in it, too. */
static inline int jp_classify_in_call_sig(const struct jp_wall_call *call,
                                          int left)
{
    return left ? call->after : call->waited;
}

/* How often the thread has blocked since the last signal, if it has now done so
 * `switches` times and its handlers have run `runs` times; or JP_LEFT_UNKNOWN.
 * Where its timer goes on by itself, so does the process's slow timer, at the
 * same rate: when such other signals of jprof's came meanwhile, the thread got
 * back into its wait after each, and that does not count. */
uint64_t jp_classify_blocks_sig(const struct jp_wall *wall, uint64_t switches,
                                uint32_t runs);

/* Whether the thread computes or waits: fills the finding but for `same`,
 * `other`, `ends` and `held_ns`. */
void jp_classify_state_sig(struct jp_wall *wall, struct jp_look *look);

/* Whether seen.traced is needed: the thread computes, and has blocked since the
 * last signal, which it may have done for its tracer only. */
int jp_classify_needs_traced_sig(const struct jp_look *look);

/* Whether it is in the wait of the last signal, or that wait has ended. */
void jp_classify_wait_sig(const struct jp_wall *wall, struct jp_look *look);

/* Whether seen.delay_ns is needed: the thread has left a long wait, and has
 * lost its CPU since. */
int jp_classify_needs_delay_sig(const struct jp_wall *wall,
                                const struct jp_look *look);

/* How long it has lacked a CPU since its long wait ended. */
void jp_classify_held_sig(const struct jp_wall *wall, struct jp_look *look);

/* At a sample: makes of the time since the last signal the time since the last
 * sample, where signals that took none have come between. */
void jp_classify_since_sample_sig(const struct jp_wall *wall,
                                  struct jp_look *look);

/* At a sample: takes over how the stacks compare of a thread that seems to be
 * in the same wait as at the last signal, or on its way back into it. */
void jp_classify_compared_sig(struct jp_finding *found, enum jp_stack stack);

/* Remembers the finding of a signal that took a sample, for the next one. */
void jp_classify_sampled_sig(struct jp_wall *wall, const struct jp_look *look);

/* Remembers that of a signal that took none: only that it was restless; and,
 * where the timer goes on by itself, all of it: the next signal is compared
 * with this one. */
void jp_classify_unsampled_sig(struct jp_wall *wall,
                               const struct jp_look *look);
void jp_classify_skipped_sig(struct jp_wall *wall, const struct jp_look *look);

#endif
