/* SPDX-License-Identifier: MIT
 *
 * The steps of a walk reach the process only through struct jp_walk_process: a
 * made-up process, whose addresses are mapped nowhere, is walked without a
 * system call and without a look at this process's mappings.
 * Runs in: unit tests. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sig/state/buffer.h"
#include "sig/state/thread.h"
#include "sig/unwind/walk_process.h"
#include "sig/unwind/walk_step.h"

#define STACK 0x610000000000ULL /* where the made-up process has its stack, */
#define OTHER 0x620000000000ULL /* another stack, */
#define CODE 0x630000000000ULL  /* and code */
#define WORDS 512U
#define CALLER (CODE + 0x100)

static uint64_t stack[WORDS], other[WORDS];
static uint8_t code[4096];
static unsigned reads, regions, computed;
static struct jp_buffer buffer;
static struct jp_thread thread;

static int in_main;

/* The functions that ask this process (WRAP in tests.mk): no step calls one.
 * A sanitizer's constructor calls hooks, which do, before main().  None takes
 * more than six words. */
#define FORBIDDEN(name)                                                        \
    long __real_##name(long a, long b, long c, long d, long e, long f);        \
    long __wrap_##name(long a, long b, long c, long d, long e, long f);        \
    long __wrap_##name(long a, long b, long c, long d, long e, long f)         \
    {                                                                          \
        if (!in_main)                                                          \
            return __real_##name(a, b, c, d, e, f);                            \
        fail_msg("a step calls " #name);                                       \
        return 0;                                                              \
    }
FORBIDDEN(jp_self_read_sig)
FORBIDDEN(jp_maps_executable_sig)
FORBIDDEN(jp_maps_anonymous_sig)
FORBIDDEN(jp_maps_of_file_sig)
FORBIDDEN(jp_maps_find_sig)
FORBIDDEN(jp_maps_region_sig)
FORBIDDEN(jp_sys_sig)

static long read_memory(uint64_t address, void *to, size_t size)
{
    const struct {
        uint64_t at;
        const void *bytes;
        size_t size;
    } parts[] = {{STACK, stack, sizeof(stack)},
                 {OTHER, other, sizeof(other)},
                 {CODE, code, sizeof(code)}};
    reads++;
    for (unsigned i = 0; i < 3; i++) {
        if (address - parts[i].at < parts[i].size &&
            size <= parts[i].size - (address - parts[i].at)) {
            memcpy(to, (const char *)parts[i].bytes + (address - parts[i].at),
                   size);
            return (long)size;
        }
    }
    return -EFAULT;
}

static int is_code(struct jp_buffer *of, uint64_t address)
{
    assert_ptr_equal(of, &buffer);
    return address - CODE < sizeof(code);
}

static int is_anonymous(uint64_t address)
{
    return address - CODE < sizeof(code);
}

static int find_code(uint64_t address, struct jp_maps_range *range)
{
    memset(range, 0, sizeof(*range));
    return address - CODE < sizeof(code) ? 0 : -ENOENT;
}

static int find_region(uint64_t address, uint64_t *start, uint64_t *end)
{
    regions++;
    *start = address & ~4095ULL;
    *end = *start + 4096;
    return *start == STACK || *start == OTHER ? 0 : -ENOENT;
}

static int work_out(uint64_t pc, uint32_t epoch, uint64_t *rows,
                    struct jp_cfi_values *values)
{
    uint64_t word;
    (void)epoch, (void)rows;
    computed++;
    assert_int_equal(pc, CODE + 0x20);
    assert_int_equal(values->read_sig(values->data, OTHER + 8, &word), 1);
    assert_int_equal(values->read_sig(values->data, CODE - 8, &word), 0);
    values->ra = word;
    values->sp = STACK + 0x80;
    values->fp = STACK + 0x90;
    return 0;
}

static const struct jp_walk_process made_up = {
    .read_sig = read_memory,
    .is_code_sig = is_code,
    .is_anonymous_sig = is_anonymous,
    .find_code_sig = find_code,
    .find_region_sig = find_region,
    .work_out_sig = work_out,
};

static struct jp_walk walk;
static struct jp_walk_frame frame;

/* A frame in the middle of a walk, at the stack's lower end. */
static int set_up(void **state)
{
    (void)state;
    memset(stack, 0, sizeof(stack));
    memset(other, 0, sizeof(other));
    memset(code, 0xcc, sizeof(code));
    memset(&buffer, 0, sizeof(buffer));
    memset(&thread, 0, sizeof(thread));
    reads = regions = computed = 0;
    walk = (struct jp_walk){.process = &made_up,
                            .thread = &thread,
                            .buffer = &buffer,
                            .low = STACK,
                            .high = STACK + sizeof(stack),
                            .begin = STACK,
                            .limit = STACK + sizeof(stack),
                            .total = 2};
    frame = (struct jp_walk_frame){.pc = CODE + 0x20};
    frame.registers[JP_ARCH_SP] = STACK + 0x40;
    frame.registers[JP_ARCH_FP] = STACK + 0x60;
    return 0;
}

static void put_record(uint64_t fp, uint64_t caller_fp, uint64_t caller)
{
    stack[(fp + JP_ARCH_FRAME_FP - STACK) / 8] = caller_fp;
    stack[(fp + JP_ARCH_FRAME_RA - STACK) / 8] = caller;
}

static void by_rule(void **state)
{
    const struct jp_cfi_rule rule = {.kind = JP_CFI_REGISTER,
                                     .base = JP_ARCH_SP,
                                     .offset = 0x20,
                                     .ra = -1,
                                     .fp = -2,
                                     .flags = JP_CFI_FP_SAVED};
    (void)state;
    stack[0x58 / 8] = CALLER;
    stack[0x50 / 8] = STACK + 0xa0;
    assert_int_equal(jp_walk_step_sig(&walk, &frame, &rule), JP_WALK_GOING);
    assert_int_equal(frame.pc, CALLER);
    assert_int_equal(frame.registers[JP_ARCH_SP], STACK + 0x60);
    assert_int_equal(frame.registers[JP_ARCH_FP], STACK + 0xa0);
    assert_true(reads > 0);
}

static void by_frame_pointer(void **state)
{
    const struct jp_cfi_rule rule = {.kind = JP_CFI_NONE};
    (void)state;
    put_record(STACK + 0x60, STACK + 0xb0, CALLER);
    put_record(STACK + 0xb0, STACK + 0xd0, STACK); /* no code */
    assert_int_equal(jp_walk_step_sig(&walk, &frame, &rule), JP_WALK_GOING);
    assert_int_equal(frame.pc, CALLER);
    assert_int_equal(frame.registers[JP_ARCH_FP], STACK + 0xb0);
    assert_int_equal(jp_walk_step_sig(&walk, &frame, &rule), JP_REASON_BAD_FP);
}

/* Interrupted code without a frame is followed to its return. */
static void by_code(void **state)
{
    static const uint8_t instructions[] = {0x5b, 0xc3}; /* pop %rbx; ret */
    static const uint8_t call[] = {0xe8, 0, 0, 0, 0};
    const struct jp_cfi_rule rule = {.kind = JP_CFI_NONE};
    (void)state;
    if (JP_ARCH_MACHINE != EM_X86_64)
        skip();
    memcpy(code + 0x20, instructions, sizeof(instructions));
    memcpy(code + 0x100 - sizeof(call), call, sizeof(call));
    stack[0x48 / 8] = CALLER;
    frame.interrupted = 1;
    assert_int_equal(jp_walk_step_sig(&walk, &frame, &rule), JP_WALK_GOING);
    assert_int_equal(frame.pc, CALLER);
    assert_int_equal(frame.registers[JP_ARCH_SP], STACK + 0x50);
    assert_true(reads >= 2);
}

static void out_of_a_signal(void **state)
{
    const struct jp_cfi_rule rule = {.kind = JP_CFI_SIGNAL};
    ucontext_t *context =
        (ucontext_t *)&stack[(0x40 + JP_ARCH_SIGNAL_CONTEXT) / 8];
    (void)state;
    JP_ARCH_REG_PC(context) = CALLER;
    JP_ARCH_REG_SP(context) = STACK + 0xe00;
    JP_ARCH_REG_FP(context) = STACK + 0xf00;
    assert_int_equal(jp_walk_step_sig(&walk, &frame, &rule), JP_WALK_GOING);
    assert_int_equal(frame.pc, CALLER);
    assert_int_equal(frame.registers[JP_ARCH_SP], STACK + 0xe00);
    assert_int_equal(frame.interrupted, 1);
}

/* A rule that leads to another stack: the process says where that ends. */
static void to_another_stack(void **state)
{
    const struct jp_cfi_rule rule = {.kind = JP_CFI_MEMORY,
                                     .base = JP_ARCH_SP,
                                     .offset = JP_CFI_PACK(8, 0),
                                     .ra = -1};
    (void)state;
    stack[0x48 / 8] = OTHER + 0x30;
    other[0x28 / 8] = CALLER;
    assert_int_equal(jp_walk_step_sig(&walk, &frame, &rule), JP_WALK_GOING);
    assert_int_equal(regions, 1);
    assert_int_equal(walk.high, OTHER + 4096);
    assert_int_equal(frame.pc, CALLER);
    assert_int_equal(frame.registers[JP_ARCH_SP], OTHER + 0x30);
}

static void by_expressions(void **state)
{
    const struct jp_cfi_rule rule = {.kind = JP_CFI_COMPUTED};
    (void)state;
    frame.interrupted = 1;
    other[1] = CALLER;
    assert_int_equal(jp_walk_step_sig(&walk, &frame, &rule), JP_WALK_GOING);
    assert_int_equal(computed, 1);
    assert_int_equal(frame.pc, CALLER);
    assert_int_equal(frame.registers[JP_ARCH_SP], STACK + 0x80);
}

/* Memory that cannot be read ends the walk; nothing is taken from elsewhere. */
static void unreadable(void **state)
{
    const struct jp_cfi_rule none = {.kind = JP_CFI_NONE};
    const struct jp_cfi_rule signal = {.kind = JP_CFI_SIGNAL};
    (void)state;
    walk.low = STACK + 0x10000;
    walk.high = walk.limit = STACK + 0x20000;
    frame.registers[JP_ARCH_SP] = STACK + 0x10040;
    frame.registers[JP_ARCH_FP] = STACK + 0x10060;
    assert_int_equal(jp_walk_step_sig(&walk, &frame, &none), JP_REASON_BAD_FP);
    assert_int_equal(jp_walk_step_sig(&walk, &frame, &signal),
                     JP_REASON_BOUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(by_rule, set_up),
        cmocka_unit_test_setup(by_frame_pointer, set_up),
        cmocka_unit_test_setup(by_code, set_up),
        cmocka_unit_test_setup(out_of_a_signal, set_up),
        cmocka_unit_test_setup(to_another_stack, set_up),
        cmocka_unit_test_setup(by_expressions, set_up),
        cmocka_unit_test_setup(unreadable, set_up),
    };
    in_main = 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
