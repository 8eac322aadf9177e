/* SPDX-License-Identifier: MIT
 *
 * Code made at run time, without call-frame information, that uses the frame
 * pointer's register for a zero, for so many CPU seconds (x86-64):
 *     zerofp [SECONDS=0.5]
 * Runs in: tests. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "common.h"

int main(int argc, char **argv)
{
    /* push %rbp; mov %rsp,%rdx; xor %ebp,%ebp; mov $5000000,%ecx;
     * 1: dec %ecx; jnz 1b; mov %rdx,%rsp; pop %rbp; ret */
    static const unsigned char code[] = {
        0x55, 0x48, 0x89, 0xe2, 0x31, 0xed, 0xb9, 0x40, 0x4b, 0x4c,
        0x00, 0xff, 0xc9, 0x75, 0xfc, 0x48, 0x89, 0xd4, 0x5d, 0xc3};
    const double until =
        cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + argument(argc, argv, 1, 0.5);
    void (*loop)(void);
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return 1;
    memcpy(memory, code, sizeof(code));
    memcpy(&loop, &memory, sizeof(loop));
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        loop();
    return 0;
}
