/* SPDX-License-Identifier: MIT
 *
 * Built without frame pointers: moves its own text to memory without a file, at
 * the same addresses, and spins there.
 *     movedtext WAY [SECONDS=2.5]
 *     moved     the same bytes, as programs do that want huge pages
 *     altered   with other bytes where nothing runs
 *     copied    the same bytes at other addresses, and the text stays, as V8
 *               does with its builtins
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

/* A section with pages of its own, and enough in them to be told by. */
extern char work_begin[], work_end[];

__asm__(".pushsection work_text,\"ax\",@progbits\n.balign 4096\n"
        "work_begin: .set i, 0\n"
        ".rept 2048\n .byte (i * 167 + i / 256 + 13) & 255\n .set i, i + 1\n"
        ".endr\n.popsection\n");

#ifdef __clang__
#define AS_WRITTEN noinline
#else
#define AS_WRITTEN noinline, noclone, optimize("no-omit-frame-pointer")
#endif
#define COPIED __attribute__((AS_WRITTEN, section("work_text")))
COPIED uint64_t inner_copied(uint64_t turns);
COPIED uint64_t outer_copied(uint64_t turns);

COPIED uint64_t inner_copied(uint64_t turns)
{
    volatile uint64_t sum = 0;
    for (uint64_t i = 0; i < turns; i++)
        sum = sum * 7919 + i;
    return sum;
}

COPIED uint64_t outer_copied(uint64_t turns)
{
    volatile uint64_t some[8] = {turns};
    some[1] = inner_copied(turns);
    return some[0] + some[1];
}

__asm__(".pushsection work_text,\"ax\",@progbits\n"
        ".rept 4096\n .byte (i * 89 + i / 256) & 255\n .set i, i + 1\n"
        ".endr\nwork_end:\n.popsection\n");

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

/* Puts a copy of the text behind a page boundary elsewhere; returns how far
 * away, 0 for an error.  Code in it calls other code of it alone. */
static intptr_t copy_text(void)
{
    const uintptr_t from = (uintptr_t)work_begin & ~4095UL;
    const size_t size = (((uintptr_t)work_end + 4095) & ~4095UL) - from;
    char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (copy == MAP_FAILED)
        return 0;
    memcpy(copy, (const void *)from, size);
    if (mprotect(copy, size, PROT_READ | PROT_EXEC) != 0)
        return 0;
    __builtin___clear_cache(copy, copy + size);
    return copy - (char *)from;
}

static int run_copy(double seconds)
{
    const intptr_t shift = copy_text();
    uint64_t (*copied)(uint64_t);
    volatile uint64_t sum = 0;

    if (shift == 0)
        return 64;
    *(void **)&copied = (char *)(uintptr_t)outer_copied + shift;
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds)
        sum = sum + copied(20000);
    return sum == 1;
}

int main(int argc, char **argv)
{
    const double seconds = argument(argc, argv, 2, 2.5);
    volatile uint64_t sum = 0;

    if (argc >= 2 && strcmp(argv[1], "copied") == 0)
        return run_copy(seconds);
    if (argc < 2 || !move_text(strcmp(argv[1], "altered") == 0))
        return 64;
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds)
        sum = sum + middle_work(20000);
    return sum == 1;
}
