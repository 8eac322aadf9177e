/* SPDX-License-Identifier: MIT
 *
 * Descriptors that handlers in other threads had open when a process forked,
 * and that the child therefore has open, too.
 * Runs in: any thread. */
#ifndef JP_INHERIT_H
#define JP_INHERIT_H

#include <stdint.h>

/* Closes them.  Called in the child, before it forgets the parent's log and
 * map.  before: what jp_sys_opened_sig returned before the fork. */
void jp_inherit_close_sig(uint64_t before);

#endif
