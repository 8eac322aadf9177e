/* SPDX-License-Identifier: MIT
 *
 * Built without frame pointers: moves its own text to memory without a file, at
 * the same addresses, and spins there.
 *     movedtext WAY [SECONDS=2.5]
 *     moved     the same bytes, as programs do that want huge pages
 *     altered   with other bytes where nothing runs
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define FILLER 65536

NOINLINE uint64_t inner_work(uint64_t turns);
NOINLINE uint64_t middle_work(uint64_t turns);

NOINLINE uint64_t inner_work(uint64_t turns)
{
    return turn(turns);
}

extern char filler[];

__asm__(".text\n.balign 4096\nfiller: .fill 65536, 1, 0x90\n");

NOINLINE uint64_t middle_work(uint64_t turns)
{
    volatile uint64_t some[8] = {turns};
    some[1] = inner_work(turns);
    return some[0] + some[1];
}

extern char __etext; /* the linker's */

static int move_text(int alter)
{
    char *from = (char *)((uintptr_t)inner_work & ~4095UL);
    char *to = (char *)(((uintptr_t)&__etext + 4095) & ~4095UL);

    if (filler < from)
        from = filler;
    const size_t size = (size_t)(to - from);
    char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (copy == MAP_FAILED)
        return 0;
    memcpy(copy, from, size);
    if (alter)
        memset(copy + (filler - from), 0xcc, FILLER);
    return mprotect(copy, size, PROT_READ | PROT_EXEC) == 0 &&
           mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, from) ==
               from;
}

int main(int argc, char **argv)
{
    const double seconds = argument(argc, argv, 2, 2.5);
    volatile uint64_t sum = 0;

    if (argc < 2 || !move_text(strcmp(argv[1], "altered") == 0))
        return 64;
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds)
        sum = sum + middle_work(20000);
    return sum == 1;
}
