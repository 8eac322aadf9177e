/* SPDX-License-Identifier: MIT
 *
 * Whose thread is it?  A child that shares this memory may run with a thread
 * pointer that leads nowhere (clone with CLONE_VM and CLONE_SETTLS, as
 * Chromium's sandbox makes one): nothing thread-local, errno included, may be
 * touched there.  So before anything else a hook or handler asks here, which
 * needs no memory of the thread's.
 * Runs in: handler, any thread, whatever its thread pointer is. */
#ifndef JP_GATE_H
#define JP_GATE_H

#include <stdint.h>

#include "sig/arch/arch.h"

/* Thread pointers that are known to be threads' of this process, with memory
 * as the C library makes it; where one may be is known from its value.  The
 * assembler reads these two (JP_ARCH_GATE). */
#define JP_GATE_PLACES 4096U
extern uint64_t jp_gate_known[JP_GATE_PLACES];
extern uint8_t jp_gate_direct; /* the processor tells the thread pointer */

/* hwcap2: getauxval(AT_HWCAP2). */
void jp_gate_init_sig(uint64_t hwcap2);

/* Whether the calling thread is one of this process's, whose thread-local
 * memory may be used; a vfork child, which has its parent's, counts as that
 * parent.  Without a system call where the thread is known. */
int jp_gate_ask_sig(void);

/* The calling thread is one: it begins by the C library's hand. */
void jp_gate_enter_sig(void);

/* It is about to end. */
void jp_gate_leave_sig(void);

/* Whether the thread-local memory of the calling thread is sound, whatever
 * process it is: for a child that has memory of its own. */
int jp_gate_sound_sig(void);

#endif
