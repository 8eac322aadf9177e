/* SPDX-License-Identifier: MIT
 *
 * The decoder of aarch64's instructions, on any machine: encodings and what
 * they do as GNU as and objdump have them.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../preload/sig/arch/aarch64_step.h"

/* What an instruction is expected to do.  at, reg: where its kind uses them. */
static const struct {
    uint32_t word;
    uint8_t kind;
    int32_t value, at;
    uint8_t reg;
    const char *text;
} rows[] = {
    {0x910003fd, JP_STEP_SET_FP, 0, 0, 0, "mov x29, sp"},
    {0x910043fd, JP_STEP_SET_FP, 16, 0, 0, "add x29, sp, #0x10"},
    {0x910003bf, JP_STEP_FROM_FP, 0, 0, 0, "mov sp, x29"},
    {0xd10083bf, JP_STEP_FROM_FP, 0, 0, 0, "sub sp, x29, #0x20"},
    {0xd100c3ff, JP_STEP_PLAIN, -48, 0, 0, "sub sp, sp, #0x30"},
    {0x914007ff, JP_STEP_PLAIN, 4096, 0, 0, "add sp, sp, #0x1, lsl #12"},
    {0x8b206fff, JP_STEP_LOST, 0, 0, 0, "add sp, sp, x0, lsl #3"},
    {0xcb2363ff, JP_STEP_LOST, 0, 0, 0, "sub sp, sp, x3"},
    {0xb100107f, JP_STEP_PLAIN, 0, 0, 0, "cmn x3, #0x4"},
    {0xf100107f, JP_STEP_PLAIN, 0, 0, 0, "cmp x3, #0x4"},
    {0x927cec7f, JP_STEP_LOST, 0, 0, 0, "and sp, x3, #0xfffffffffffffff0"},
    {0xf27c0c7f, JP_STEP_PLAIN, 0, 0, 0, "tst x3, #0xf0"},
    {0x910023e0, JP_STEP_PLAIN, 0, 0, 0, "add x0, sp, #0x8"},
    {0x9100007f, JP_STEP_LOST, 0, 0, 0, "mov sp, x3"},
    {0xa9be7bfd, JP_STEP_SAVE_LINK, -32, 0, 1, "stp x29, x30, [sp, #-32]!"},
    {0xa9017bfd, JP_STEP_SAVE_LINK, 0, 0, 0, "stp x29, x30, [sp, #16]"},
    {0xa9bf57f4, JP_STEP_PLAIN, -16, 0, 0, "stp x20, x21, [sp, #-16]!"},
    {0xadbf27e8, JP_STEP_PLAIN, -32, 0, 0, "stp q8, q9, [sp, #-32]!"},
    {0x29bf0be1, JP_STEP_PLAIN, -8, 0, 0, "stp w1, w2, [sp, #-8]!"},
    {0xa8c27bfd, JP_STEP_LOAD_LINK, 32, 8, 1, "ldp x29, x30, [sp], #32"},
    {0xa9417bfd, JP_STEP_LOAD_LINK, 0, 24, 1, "ldp x29, x30, [sp, #16]"},
    {0xa8c17bf3, JP_STEP_LOAD_LINK, 16, 8, 0, "ldp x19, x30, [sp], #16"},
    {0xa8c14ffd, JP_STEP_END, 0, 0, 0, "ldp x29, x19, [sp], #16"},
    {0xa9414ffe, JP_STEP_LOAD_LINK, 0, 16, 0, "ldp x30, x19, [sp, #16]"},
    {0xa8c257f4, JP_STEP_PLAIN, 32, 0, 0, "ldp x20, x21, [sp], #32"},
    {0x6cc127e8, JP_STEP_PLAIN, 16, 0, 0, "ldp d8, d9, [sp], #16"},
    {0xa940781d, JP_STEP_END, 0, 0, 0, "ldp x29, x30, [x0]"},
    {0xa94007a0, JP_STEP_PLAIN, 0, 0, 0, "ldp x0, x1, [x29]"},
    {0xf81f0ffe, JP_STEP_SAVE_LINK, -16, 0, 1, "str x30, [sp, #-16]!"},
    {0xf9000ffe, JP_STEP_SAVE_LINK, 0, 0, 0, "str x30, [sp, #24]"},
    {0xf84107fe, JP_STEP_LOAD_LINK, 16, 0, 0, "ldr x30, [sp], #16"},
    {0xf9400ffe, JP_STEP_LOAD_LINK, 0, 24, 0, "ldr x30, [sp, #24]"},
    {0xf9400c1e, JP_STEP_END, 0, 0, 0, "ldr x30, [x0, #24]"},
    {0xf9400ffd, JP_STEP_END, 0, 0, 0, "ldr x29, [sp, #24]"},
    {0xf9400c1d, JP_STEP_PLAIN, 0, 0, 0, "ldr x29, [x0, #24]"},
    {0xf81f0fe0, JP_STEP_PLAIN, -16, 0, 0, "str x0, [sp, #-16]!"},
    {0xf84107e0, JP_STEP_PLAIN, 16, 0, 0, "ldr x0, [sp], #16"},
    {0xb84107e0, JP_STEP_PLAIN, 16, 0, 0, "ldr w0, [sp], #16"},
    {0x38401420, JP_STEP_PLAIN, 0, 0, 0, "ldrb w0, [x1], #1"},
    {0x3cc107e0, JP_STEP_PLAIN, 16, 0, 0, "ldr q0, [sp], #16"},
    {0xf84083fe, JP_STEP_LOAD_LINK, 0, 8, 0, "ldur x30, [sp, #8]"},
    {0x5800001e, JP_STEP_END, 0, 0, 0, "ldr x30, there"},
    {0x1000001e, JP_STEP_END, 0, 0, 0, "adr x30, there"},
    {0xaa0303fe, JP_STEP_END, 0, 0, 0, "mov x30, x3"},
    {0xaa1e03e3, JP_STEP_PLAIN, 0, 0, 0, "mov x3, x30"},
    {0x14000002, JP_STEP_JUMP, 4, 0, 0, "b .+8"},
    {0x17ffffff, JP_STEP_JUMP, -8, 0, 0, "b .-4"},
    {0x94000002, JP_STEP_CALL, 0, 0, 0, "bl there"},
    {0x54000080, JP_STEP_BRANCH, 12, 0, 0, "b.eq there"},
    {0xb4000080, JP_STEP_BRANCH, 12, 0, 0, "cbz x0, there"},
    {0x35ffffc0, JP_STEP_BRANCH, -12, 0, 0, "cbnz w0, there"},
    {0xb6400080, JP_STEP_BRANCH, 12, 0, 0, "tbz x0, #40, there"},
    {0xd61f0200, JP_STEP_OUT, 0, 0, 0, "br x16"},
    {0xd63f0200, JP_STEP_CALL, 0, 0, 0, "blr x16"},
    {0xd65f03c0, JP_STEP_RETURN, 0, 0, 0, "ret"},
    {0xd65f0060, JP_STEP_OUT, 0, 0, 0, "ret x3"},
    {0xd65f0bff, JP_STEP_RETURN, 0, 0, 0, "retaa"},
    {0xd65f0fff, JP_STEP_RETURN, 0, 0, 0, "retab"},
    {0xd71f0a11, JP_STEP_OUT, 0, 0, 0, "braa x16, x17"},
    {0xd63f0a1f, JP_STEP_CALL, 0, 0, 0, "blraaz x16"},
    {0xd4200000, JP_STEP_END, 0, 0, 0, "brk #0x0"},
    {0xd4000001, JP_STEP_PLAIN, 0, 0, 0, "svc #0x0"},
    {0xd4000002, JP_STEP_END, 0, 0, 0, "hvc #0x0"},
    {0xd69f03e0, JP_STEP_END, 0, 0, 0, "eret"},
    {0x00000000, JP_STEP_END, 0, 0, 0, "udf #0"},
    {0xd503233f, JP_STEP_PLAIN, 0, 0, 0, "paciasp"},
    {0xd50323bf, JP_STEP_PLAIN, 0, 0, 0, "autiasp"},
    {0xd503245f, JP_STEP_PLAIN, 0, 0, 0, "bti c"},
    {0xd503201f, JP_STEP_PLAIN, 0, 0, 0, "nop"},
    {0x4cdf73e0, JP_STEP_LOST, 0, 0, 0, "ld1 {v0.16b}, [sp], #16"},
    {0x0d9f03e0, JP_STEP_LOST, 0, 0, 0, "st1 {v0.b}[0], [sp], #1"},
    {0xf8647be3, JP_STEP_PLAIN, 0, 0, 0, "ldr x3, [sp, x4, lsl #3]"},
    {0x1e622820, JP_STEP_PLAIN, 0, 0, 0, "fadd d0, d1, d2"},
    {0xc85f7fe0, JP_STEP_PLAIN, 0, 0, 0, "ldxr x0, [sp]"},
    {0xf98007e0, JP_STEP_PLAIN, 0, 0, 0, "prfm pldl1keep, [sp, #8]"},
    {0xf8201420, JP_STEP_PLAIN, 0, 0, 0, "ldraa x0, [x1, #8]"},
};

static struct jp_arch_step decode(uint32_t word)
{
    const uint8_t code[JP_ARCH_STEP_BYTES] = {
        (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
        (uint8_t)(word >> 24)};
    struct jp_arch_step step;
    jp_arch_step_sig(code, &step);
    return step;
}

static void test_each(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct jp_arch_step step = decode(rows[i].word);
        const int loads = step.kind == JP_STEP_LOAD_LINK;
        const int uses =
            step.kind < JP_STEP_FROM_FP && step.kind != JP_STEP_CALL;
        if (step.length != 4 || step.kind != rows[i].kind ||
            (uses && step.value != rows[i].value) ||
            (loads && step.at != rows[i].at) ||
            ((loads || step.kind == JP_STEP_SAVE_LINK) &&
             step.reg != rows[i].reg))
            fail_msg("%s: kind %d, value %d, at %d, reg %d", rows[i].text,
                     step.kind, step.value, step.at, step.reg);
    }
}

/* Any word is decoded, and no other moves the stack pointer far. */
static void test_any(void **state)
{
    (void)state;
    srand(7);
    for (unsigned i = 0; i < 1000000; i++) {
        const uint32_t word = (uint32_t)rand() << 16 ^ (uint32_t)rand();
        const struct jp_arch_step step = decode(word);
        assert_int_equal(step.length, 4);
        assert_true(step.kind <= JP_STEP_END);
        assert_true(step.kind == JP_STEP_JUMP || step.kind == JP_STEP_CALL ||
                    abs(step.value) <= 0xfff << 12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
