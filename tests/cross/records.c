/* SPDX-License-Identifier: MIT
 *
 * Functions with frame pointers and without call-frame information, as JIT
 * compilers make them, for tests/cross/walk.c.  Compiled with
 * -fno-omit-frame-pointer -fno-asynchronous-unwind-tables.
 * Runs in: tests (aarch64, riscv64). */
#include "records.h"

#define KEEP __attribute__((noinline, noclone))

uint64_t record_callers[RECORDS];

/* Only the frame record is in these frames: no value is kept over the call. */
KEEP static uint64_t inner(void)
{
    record_callers[0] =
        (uint64_t)__builtin_extract_return_addr(__builtin_return_address(0));
    return bottom(3) + 1;
}

KEEP static uint64_t middle(void)
{
    record_callers[1] =
        (uint64_t)__builtin_extract_return_addr(__builtin_return_address(0));
    return inner() + 1;
}

uint64_t by_records(void)
{
    record_callers[2] =
        (uint64_t)__builtin_extract_return_addr(__builtin_return_address(0));
    return middle() + 1;
}
