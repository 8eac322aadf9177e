/* SPDX-License-Identifier: MIT
 *
 * Copying call-frame information in advance, for when it can no longer be read,
 * behind a sandbox.
 * Runs in: any thread. */
#ifndef JP_CFI_READY_H
#define JP_CFI_READY_H

/* Copies the call-frame information of all modules in the table of ranges, 64
 * MiB at most.  Forked children have the copies too. */
void jp_cfi_copy_all_sig(void);

/* Called before a fork: if an earlier child had to copy much for itself, copies
 * all here once, so that the next children have it. */
void jp_cfi_forking_sig(void);

/* Called in the forked child: tells its parent apart from itself. */
void jp_cfi_forked_sig(void);

#endif
