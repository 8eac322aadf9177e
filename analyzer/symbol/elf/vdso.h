/* SPDX-License-Identifier: MIT
 *
 * The vdso, which has no file: that of this process, if it is the same.
 * Runs in: analyzer. */
#ifndef JR_VDSO_H
#define JR_VDSO_H

/* A descriptor, which the caller closes, of a memory file that holds the
 * vdso image of this process; -1 when there is none. */
int jr_vdso_open(void);

#endif
