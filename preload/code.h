/* SPDX-License-Identifier: MIT
 *
 * Memory that becomes code.
 * Runs in: any thread, not in a handler. */
#ifndef JP_CODE_H
#define JP_CODE_H

#include <stdint.h>

/* After a change of rights to [start, start + size), with what the call
 * returned, which is returned: where nobody can look later, code is noted. */
long jp_code_protected(uint64_t start, uint64_t size, int rights, long result);

#endif
