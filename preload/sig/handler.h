/* SPDX-License-Identifier: MIT
 *
 * The signal handler: one for all of jprof's signals.
 * Runs in: handler. */
#ifndef JP_HANDLER_H
#define JP_HANDLER_H

#include <signal.h>
#include <stdint.h>

/* The handler for sigaction (SA_SIGINFO). */
void jp_handler_sig(int signal, siginfo_t *info, void *context);

/* Whether an address is in it: where it has begun, but is not yet counted in
 * jp_sys_inside. */
int jp_handler_is_at_sig(uint64_t pc);

struct jp_kit;
struct jp_slot;

/* When a thread or the profile ends, and the timer is gone: writes what no
 * sample stands for yet.  In real time, what a blocked thread has been left
 * alone for; by the process's one timer, the time of ticks that did not come. */
void jp_handler_rest_sig(struct jp_slot *slot);

/* For the calling thread at its end: the same for what the kernel's tick did
 * not notice of its CPU timer or, where it was refused one, the process's slow
 * timer of it.  source: what it was armed with, enum
 * jp_clock. */
void jp_handler_overdue_sig(struct jp_slot *slot, uint32_t source);

/* Writes the sample that a kit keeps from the time before there was a log. */
void jp_handler_flush_sig(struct jp_kit *kit);

#endif
