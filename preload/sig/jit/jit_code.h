/* SPDX-License-Identifier: MIT
 *
 * The bytes of JIT code that samples hit: kept for a reader to disassemble,
 * where no jitdump has them.
 * Runs in: handler, any thread. */
#ifndef JP_JIT_CODE_H
#define JP_JIT_CODE_H

#include <stdint.h>

/* Remembers the page of an address in executable memory without a file.
 * Lock-free, for any thread; a page beyond the table's room is forgotten. */
void jp_code_hit_sig(uint64_t address);

/* Keeps pages that were hit and their neighbours, as many as JP_CODE_MAX lets:
 * a few that are hit again and again, or `all` of them.  A page that is kept
 * as it is now is not kept again.  Called by one thread at a time. */
void jp_code_keep_sig(int all);

void jp_code_reset_sig(void);

#endif
