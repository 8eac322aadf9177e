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

/* The signals of jprof's own in this process, as a kernel set: the clock's,
 * SIGPROF, and the control signals. */
uint64_t jp_handler_signals_sig(void);

/* What the program itself asked to be done with one of these signals.  Set by
 * signals.c, which answers the program's sigaction calls; a signal that is
 * none of jprof's goes there. */
struct jp_program_action {
    struct sigaction action;
    uint32_t given;    /* the signal is the program's alone now */
};
extern struct jp_program_action jp_program_actions[65];

struct jp_kit;

/* Writes the sample that a kit keeps from the time before there was a log. */
void jp_handler_flush_sig(struct jp_kit *kit);

/* Opens a slot for the calling thread, whose stack ends at stack_high (0:
 * not known). */
struct jp_slot *jp_handler_adopt_sig(uint64_t stack_high);

#endif
