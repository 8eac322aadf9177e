/* SPDX-License-Identifier: MIT
 *
 * How long the calling thread has waited for a CPU.
 * Runs in: handler. */
#ifndef JP_DELAY_H
#define JP_DELAY_H

#include <stdint.h>

/* For a time that is not known. */
#define JP_DELAY_UNKNOWN UINT64_MAX

/* The time in ns that the calling thread could have run so far and had no CPU,
 * as the kernel counts it; or JP_DELAY_UNKNOWN. */
uint64_t jp_delay_sig(void);

#endif
