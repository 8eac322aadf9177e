/* SPDX-License-Identifier: MIT
 *
 * A chain of frames that their frame records alone lead through.
 * Runs in: tests (aarch64, riscv64). */
#ifndef TEST_RECORDS_H
#define TEST_RECORDS_H

#include <stdint.h>

#define RECORDS 3U

/* Where each of the chain's functions returns to, the innermost first. */
extern uint64_t record_callers[RECORDS];

/* Calls bottom (walk.c) through three frames. */
uint64_t by_records(void);
uint64_t bottom(uint64_t a);

#endif
