/* SPDX-License-Identifier: MIT
 *
 * Where the kernel enters jprof's signal handlers.
 *
 * Memory may have a protection key, and each thread has rights for each key.  A
 * signal handler begins with the kernel's default rights, whatever the
 * interrupted code had (pkeys(7)): key 0 alone.  So code that V8 has under a
 * key of its own, and that the thread was just running, may not be read there,
 * nor may code that can only be executed, for which the kernel takes a key.
 * The stack may have a key, too, as in a program of compartments: the kernel
 * writes the signal's frame there all the same (Linux 6.12), and the handler is
 * to open the key before it touches the stack.  So where memory may have keys,
 * the kernel enters a few instructions that open them all, and go on as the
 * handler proper.
 * Runs in: any thread. */
#ifndef JP_ENTRY_H
#define JP_ENTRY_H

#include <signal.h>

typedef void jp_entry_function(int signal, siginfo_t *info, void *context);

/* What the kernel is given as jp_handler_sig, and as jp_trap_sig.  The answer
 * is always the same once jp_process.has_keys is known. */
jp_entry_function *jp_entry_handler(void);
jp_entry_function *jp_entry_trap(void);

#endif
