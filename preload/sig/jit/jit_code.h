/* SPDX-License-Identifier: MIT
 *
 * The bytes of JIT code that samples hit, kept in pages beside the log so that
 * a reader can disassemble code that no jitdump has.
 * Runs in: handler, any thread. */
#ifndef JP_JIT_CODE_H
#define JP_JIT_CODE_H

#include <stdint.h>

/* Counts a hit of the page that an address is in.  Many threads may call it at
 * once.  A page for which the table has no room is forgotten. */
void jp_code_hit_sig(uint64_t address);

/* Keeps pages that were hit, and their neighbours, up to JP_CODE_MAX bytes in
 * all: a few at a time, or with `all` every one.  A page whose bytes are kept
 * already is not kept again.  One thread at a time calls it (jit.c's lock). */
void jp_code_keep_sig(int all);

/* Forgets all pages.  Called in a forked child. */
void jp_code_reset_sig(void);

#endif
