/* SPDX-License-Identifier: MIT
 *
 * Descriptors that a forked child has from its parent's handlers.
 * Runs in: any thread. */
#ifndef JP_INHERIT_H
#define JP_INHERIT_H

#include <stdint.h>

/* In a forked child, before anything of the parent's profile is forgotten:
 * closes what handlers of other threads had open.  `before` is what
 * jp_sys_opened_sig said before the fork. */
void jp_inherit_close_sig(uint64_t before);

#endif
