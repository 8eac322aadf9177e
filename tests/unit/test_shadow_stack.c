/* SPDX-License-Identifier: MIT
 *
 * The way back from a fault in a walk (JP_ARCH_TRAP) with a shadow stack, whose
 * two instructions stand in for themselves here: its pointer is a variable.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sig/arch/arch.h"

#ifdef JP_ARCH_RDSSPQ_RAX

#undef JP_ARCH_RDSSPQ_RAX
#undef JP_ARCH_INCSSPQ_RAX
/* As the processor's (Intel SDM, volume 2): incsspq takes the low byte. */
#define JP_ARCH_RDSSPQ_RAX "xorl %eax, %eax\nmovq shadow_pointer(%rip), %rax\n"
#define JP_ARCH_INCSSPQ_RAX                                                    \
    "incq shadow_pops(%rip)\n"                                                 \
    "pushq %rdx\nmovzbl %al, %edx\nleaq (,%rdx,8), %rdx\n"                     \
    "addq %rdx, shadow_pointer(%rip)\npopq %rdx\n"

#define TOP 0x7000a000ULL

/* The shadow stack's pointer; 0: there is none.  How often the trap took words
 * off it.  How many frames the walk made before its fault. */
uint64_t shadow_pointer, shadow_pops;
static uint64_t frames;

__asm__(JP_ARCH_TRAP);
int jp_trap_walk_sig(void *thread, void *buffer, const void *context,
                     uint64_t *trap);
int jp_walk_sig(void *thread, void *buffer, const void *context,
                uint64_t *trap);

/* Fails below so many frames, as a walk after which jp_trap_sig has the thread
 * go on at jp_trap_land (jp_arch_land_sig). */
int jp_walk_sig(void *thread, void *buffer, const void *context, uint64_t *trap)
{
    (void)thread, (void)buffer, (void)context;
    if (shadow_pointer != 0)
        shadow_pointer -= 8 * frames;
    __asm__ volatile("xorl %%ebx, %%ebx\n"
                     "xorl %%r12d, %%r12d\n"
                     "movq %0, %%rdi\n"
                     "movq 48(%%rdi), %%rsp\n"
                     "jmp jp_trap_land\n"
                     :
                     : "r"(trap)
                     : "rbx", "r12", "rdi", "memory");
    __builtin_unreachable();
}

static void faults(uint64_t pointer, uint64_t below, uint64_t pops)
{
    uint64_t trap[JP_ARCH_TRAP_REGISTERS];
    memset(trap, 0xff, sizeof(trap));
    shadow_pointer = pointer;
    shadow_pops = 0;
    frames = below;
    assert_int_equal(jp_trap_walk_sig(NULL, NULL, NULL, trap), -1);
    assert_int_equal(shadow_pointer, pointer);
    assert_int_equal(shadow_pops, pops);
}

static void test_frames_are_taken_off(void **state)
{
    (void)state;
    faults(TOP, 1, 1);
    faults(TOP, 7, 1);
    faults(TOP, 254, 1);
    faults(TOP, 255, 1);
    /* More than one instruction takes off. */
    faults(TOP, 256, 2);
    faults(TOP, 1000, 4);
}

static void test_no_frame(void **state)
{
    (void)state;
    faults(TOP, 0, 1);
}

static void test_no_shadow_stack(void **state)
{
    (void)state;
    faults(0, 3, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_are_taken_off),
        cmocka_unit_test(test_no_frame),
        cmocka_unit_test(test_no_shadow_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 77;
}

#endif
