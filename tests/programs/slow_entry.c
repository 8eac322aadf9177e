/* SPDX-License-Identifier: MIT
 *
 * Spends its time in its entry, before main, where the stack is at its very
 * root: first with sp at argc, then, as the C library's entry does on x86-64,
 * a word higher.
 * Runs in: tests. */
#include <stdio.h>

#if defined __x86_64__
__asm__(".text\n.globl slow_entry\n.type slow_entry,@function\n"
        "slow_entry: .cfi_startproc\n.cfi_undefined rip\n"
        "xor %ebp,%ebp\n"
        "mov $300000000,%ecx\n1: dec %ecx\njnz 1b\n"
        "pop %rsi\n"
        "mov $300000000,%ecx\n2: dec %ecx\njnz 2b\n"
        "push %rsi\njmp _start\n"
        ".cfi_endproc\n.size slow_entry,.-slow_entry\n");
#elif defined __aarch64__
__asm__(".text\n.globl slow_entry\n.type slow_entry,@function\n"
        "slow_entry: .cfi_startproc\n.cfi_undefined x30\n"
        "mov x29,#0\nmov x30,#0\n"
        "mov w9,#6000,lsl #16\n1: subs w9,w9,#1\nb.ne 1b\n"
        "b _start\n"
        ".cfi_endproc\n.size slow_entry,.-slow_entry\n");
#elif defined __riscv
__asm__(".text\n.globl slow_entry\n.type slow_entry,@function\n"
        "slow_entry: .cfi_startproc\n.cfi_undefined ra\n"
        "li t0,400000000\n1: addi t0,t0,-1\nbnez t0,1b\n"
        "tail _start\n"
        ".cfi_endproc\n.size slow_entry,.-slow_entry\n");
#endif

int main(void)
{
    puts("main");
    return 0;
}
