/* SPDX-License-Identifier: MIT
 *
 * The clock that interrupts the threads: choosing it, and arming each thread
 * with it.  What a kind of clock does is in that kind's own file.
 * Runs in: handler, any thread. */
#ifndef JP_CLOCK_H
#define JP_CLOCK_H

#include <stdint.h>

#include "jp_log.h"
#include "sig/state/clock_kind.h"

struct jp_thread;

/* What the kernel refused a thread: bits of jp_thread_clock.refused.  LATER:
 * the clock that was to take the place of the one that it began with.  FIRST:
 * that one, so that it may have no clock. */
#define JP_REFUSED_LATER 0x1U
#define JP_REFUSED_FIRST 0x2U

/* Sets the process's clock and its signal (jp_process.clock, .signal) by the
 * flags and by what the kernel allows.  Called once, by the constructor. */
void jp_clock_choose_sig(void);

/* Whether each thread has a clock of its own that counts its CPU time. */
int jp_clock_is_thread_cpu_sig(void);

/* What samples of CPU time are called beside those of the process's clock. */
enum jp_event jp_clock_event_sig(void);

/* Arms a live thread with the process's clock, if that is one of each thread;
 * where the kernel refuses it, with the clock that it begins with, or with
 * none, which is counted.  Does nothing when the thread is
 * armed, or another thread is arming it. */
void jp_clock_arm_sig(struct jp_thread *thread);

/* Stops the thread's clock, if it is armed and no other thread is at it. */
void jp_clock_disarm_sig(struct jp_thread *thread);

/* Keeps others from arming, disarming and ending a live thread until
 * jp_clock_release_sig.  Returns 0 when another thread holds it.  The holder
 * may stop the thread's clock by jp_clock_stop_held_sig, and may then free the
 * record instead of releasing it. */
int jp_clock_hold_sig(struct jp_thread *thread);
void jp_clock_release_sig(struct jp_thread *thread);
void jp_clock_stop_held_sig(struct jp_thread *thread);

/* The kind of clock that sent a signal; NULL: none of jprof's. */
const struct jp_clock_kind *jp_clock_of_sig(const struct jp_signal *signal);

/* Whether a signal's siginfo alone says that a clock of some thread sent it.
 * Such a signal may come after its clock was stopped. */
int jp_clock_is_value_sig(const siginfo_t *info);

/* Called when samples are due (the row's observe), and the stacks have been
 * compared if that was wanted: completes pass->due, and lets the thread's clock
 * go on: where the clock begins with another, it takes that one's place. */
void jp_clock_account_sig(const struct jp_clock_kind *kind,
                          struct jp_pass *pass);

/* Sets the calling thread's clock to the period of its budget. */
void jp_clock_pace_sig(struct jp_thread *thread);

/* Leaves ns of CPU time, which the calling thread has just used for jprof, out
 * of what the samples of its own clock stand for. */
void jp_clock_skip_sig(struct jp_thread *thread, uint64_t ns);

/* Takes the CPU time, in ns, that the thread's next sample stands for besides
 * its own: from before it had a record, or since the last sample before its
 * clock was stopped.  0 the next time. */
uint64_t jp_clock_take_carried_sig(struct jp_thread *thread);

/* Called before a profile starts, when the kernel has refused the process's
 * slow timer and so would refuse the threads' CPU timers as well.  Makes
 * ITIMER_PROF the clock, which takes no place among the user's pending signals;
 * in perf mode only if the calling thread cannot have an event either; in
 * real-time mode ITIMER_REAL.  Does nothing where the clock's signal is not
 * that timer's. */
void jp_clock_fall_back_to_itimer_sig(void);

/* Ends a thread's clock for good (state ENDING): nobody arms it any more, and
 * no signal of it comes after this returns.  Called in the thread itself, which
 * is about to exit; waits for another thread that arms or disarms it. */
void jp_clock_end_sig(struct jp_thread *thread);

/* Called before a filter of the program's is installed, the first that will
 * forbid to set timers: sets those of all threads to go on by themselves. */
void jp_clock_fence_sig(void);

/* Called when another signal of jprof's has come to the calling thread, whose
 * clock may have to be set again. */
void jp_clock_recover_sig(struct jp_thread *thread, const ucontext_t *context);

/* Starts (arm: 1) or stops (0) the process's clock and arms or disarms all live
 * threads. */
void jp_clock_all_sig(int arm);

/* Has the clock send `signal` from now on, since the program needs the one in
 * use.  A clock that cannot send it gives way to another. */
void jp_clock_move_sig(int signal);

#endif
