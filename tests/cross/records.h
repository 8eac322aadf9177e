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

/* Calls a function from a frame that is its record alone. */
uint64_t from_record(uint64_t (*function)(uint64_t), uint64_t a);

/* Functions without call-frame information, each in a section of its own as
 * walk.c's cases. */
uint64_t plain_leaf(uint64_t a);
uint64_t plain_frame(uint64_t a);
uint64_t plain_room(uint64_t a);
extern uint8_t __stop_cases_plain_leaf[], __stop_cases_plain_frame[];
extern uint8_t __stop_cases_plain_room[];

#endif
