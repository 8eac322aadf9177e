/* SPDX-License-Identifier: MIT
 *
 * Whose thread is it?  A child that shares this memory may run with a thread
 * pointer that leads nowhere (clone with CLONE_VM and CLONE_SETTLS, as
 * Chromium's sandbox makes one); nothing thread-local, errno included, may be
 * touched in it.  So each hook and handler asks here first.  The answer is
 * found by the value of the thread pointer, without reading the thread's
 * memory.  No function here fails or sets errno.
 * Runs in: handler, any thread, whatever its thread pointer is. */
#ifndef JP_GATE_H
#define JP_GATE_H

#include <stdint.h>

#include "sig/arch/arch.h"

/* The thread pointers that are known to belong to this process's threads, with
 * memory as the C library makes it.  A pointer's value says in which few of the
 * places it may be.  The assembler reads these two (JP_ARCH_GATE). */
#define JP_GATE_PLACES 4096U
extern uint64_t jp_gate_known[JP_GATE_PLACES];
extern uint8_t jp_gate_direct; /* an instruction reads the thread pointer; else
                                  a system call does */

/* The section of the code that runs in jp_handler_sig before thread-local
 * memory may say that it does. */
#define JP_GATE_SECTION __attribute__((section("jp_handler")))

/* Sets jp_gate_direct, always to the same.  hwcap2: getauxval(AT_HWCAP2).
 * Called by the constructor, and by who asks before that. */
void jp_gate_init_sig(uint64_t hwcap2);

/* Whether the calling thread is one of this process's, so that its thread-local
 * memory may be used.  A vfork child, which has its parent's thread pointer,
 * counts as its parent.  Makes no system call where the thread is known and
 * jp_gate_direct is set; a thread found sound is remembered. */
int jp_gate_ask_sig(void);

/* Remembers the calling thread, which the C library has started. */
void jp_gate_enter_sig(void);

/* Forgets the calling thread, which is about to end. */
void jp_gate_leave_sig(void);

/* Whether the calling thread's thread-local memory is as the C library makes
 * it, without asking which process this is: for a forked child, which has
 * memory of its own. */
int jp_gate_sound_sig(void);

#endif
