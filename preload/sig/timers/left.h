/* SPDX-License-Identifier: MIT
 *
 * Which call a thread has just come out of, how often it has left one, and what
 * it costs a waiting thread to come out of its call for a sample.
 * Runs in: handler. */
#ifndef JP_LEFT_H
#define JP_LEFT_H

#include <stdint.h>
#include <ucontext.h>

/* For a number of switches that is not known. */
#define JP_LEFT_UNKNOWN UINT64_MAX

/* How often the calling thread has blocked so far (voluntary switches), or
 * JP_LEFT_UNKNOWN; *held: how often it lost its CPU otherwise. */
uint64_t jp_left_switches_sig(uint64_t *held);

/* Whether the interrupted thread has just returned from a system call that
 * does nothing but wait.  The signal came when the thread was woken up but had
 * no CPU yet, and was handled as it left the call.  0 also when that is not
 * known. */
int jp_left_wait_sig(const ucontext_t *context);

/* Whether threads wait in a call for nothing but a supervisor
 * (seccomp_unotify(2)).  -1: no call. */
int jp_left_rare_sig(long call);

/* Whether a thread that is about to make this call (-1 is none), and seems to
 * have waited in it, waited for a supervisor (seccomp_unotify(2)): the call is
 * none in which threads wait otherwise, and a thread of the process has been
 * seen to wait in it.  proven: this one has been, at two signals with one
 * voluntary switch between them. */
int jp_left_supervised_sig(long call, int proven);

/* The stratum after that, at least, in ns: the supervisor is asked anew each
 * time that a signal has the call made again. */
#define JP_LEFT_SUPERVISED_NS UINT64_C(1000000000)

/* The CPU time, in ns, that a sample costs a waiting thread besides the
 * handler's: it leaves its system call and enters it again.  Learned from
 * threads that used so much between two samples and did nothing else. */
void jp_left_learn_sig(uint64_t used_ns);
uint64_t jp_left_cost_sig(void);

/* The cost to be known from then on if cost_ns is known; 0: nothing yet. */
static inline uint64_t jp_left_learned_sig(uint64_t cost_ns, uint64_t used_ns)
{
    return cost_ns == 0 ? used_ns : cost_ns - cost_ns / 8 + used_ns / 8;
}

#endif
