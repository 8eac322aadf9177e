/* SPDX-License-Identifier: MIT
 *
 * Call-frame information made ready for the time when it cannot be copied any
 * more.
 * Runs in: any thread. */
#ifndef JP_CFI_READY_H
#define JP_CFI_READY_H

/* Copies the call-frame information of all modules that the map has, 64 MiB at
 * most; children made by fork have the copies too. */
void jp_cfi_copy_all_sig(void);

/* Before a fork: where a child of this process had to copy much for itself,
 * this one does it once, and the next children have it from here. */
void jp_cfi_forking_sig(void);

/* In the child. */
void jp_cfi_forked_sig(void);

#endif
