/* SPDX-License-Identifier: MIT
 *
 * Functions with frame pointers and without call-frame information, as JIT
 * compilers make them, for tests/cross/walk.c.  Compiled with
 * -fno-omit-frame-pointer -fno-asynchronous-unwind-tables.
 * Runs in: tests (aarch64, riscv64). */
#include <alloca.h>

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

uint64_t from_record(uint64_t (*function)(uint64_t), uint64_t a)
{
    return function(a) + 1;
}

#define CASE(name) __attribute__((section("cases_" #name))) KEEP uint64_t name

/* No frame. */
CASE(plain_leaf)(uint64_t a)
{
    uint64_t sum = a;
    for (uint64_t i = 0; i < a; i++)
        sum = (sum & 1) != 0 ? sum * 31 + i : sum / (i + 1);
    return sum;
}

/* A frame on one of two ways. */
CASE(plain_frame)(uint64_t a)
{
    if (a > 1000)
        return a + 1;
    const uint64_t b = bottom(a), c = bottom(b);
    return b * c + a;
}

CASE(plain_room)(uint64_t a)
{
    volatile char *room = alloca(a * 16 + 16);
    room[a] = (char)a;
    return bottom((uint64_t)room[a]) + (uint64_t)room[a];
}
