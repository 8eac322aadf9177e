/* SPDX-License-Identifier: MIT
 *
 * Runtimes write their maps and dumps under names in /tmp that anybody can
 * guess, follow links there, wait for a FIFO's other end, and end themselves
 * where a folder has the name.  So what one is asked for is made before.
 * Runs in: launcher, a child that is about to execute. */
#ifndef JL_CLAIM_H
#define JL_CLAIM_H

#include <stdint.h>

/* Makes the calling process's files of these kinds (JL_PERFMAP...), empty and
 * of mode 0600, where they are not the user's own already.  Returns -1, having
 * said so, when another has one of the names or it cannot be made. */
int jl_claim(unsigned files);

/* Whether another has one of process `pid`'s names still. */
int jl_claim_failed(unsigned files, uint32_t pid);

/* Removes those of process `pid` that are empty still. */
void jl_claim_drop(unsigned files, uint32_t pid);

#endif
