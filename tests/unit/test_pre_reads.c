/* SPDX-License-Identifier: MIT
 *
 * Which addresses a walk asks the kernel about while it looks for a caller
 * that the frame pointer leads past: each costs a system call a sample.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <sys/mman.h>

#include <cmocka.h>

#include "../../preload/sig/arch/arch.h"
#include "../../preload/sig/state/buffer.h"
#include "../../preload/sig/code/maps.h"
#include "../../preload/sig/os/own.h"
#include "../../preload/sig/unwind/walk_hidden.h"
#include "../../preload/sig/unwind/walk_process.h"

#define PAGE 4096U
#define WORDS 64U
#define ABOVE 5U /* the word that the frame pointer points to */

long __real_jp_self_read_sig(uint64_t address, void *buffer, size_t size);
long __wrap_jp_self_read_sig(uint64_t address, void *buffer, size_t size);

static uint64_t watched; /* the address whose reads are counted */
static unsigned reads;
static uint8_t *page; /* of interrupted code */
static uint64_t stack[WORDS];
static struct jp_buffer buffer;

long __wrap_jp_self_read_sig(uint64_t address, void *to, size_t size)
{
    reads += address == watched - JP_ARCH_CALLER_BEFORE;
    return __real_jp_self_read_sig(address, to, size);
}

/* Looks for the caller where a register has `word`, and the frame pointer leads
 * to the return address `by_fp`.  Returns how often the code at `word` is
 * read. */
static unsigned reads_of(uint64_t word, uint64_t by_fp)
{
    struct jp_walk walk = {.process = &jp_walk_process,
                           .buffer = &buffer,
                           .low = (uint64_t)stack,
                           .high = (uint64_t)(stack + WORDS),
                           .limit = (uint64_t)(stack + WORDS),
                           .total = 1,
                           .sure = 1};
    struct jp_walk_frame frame = {.interrupted = 1,
                                  .pc = (uint64_t)page + PAGE / 2};
    memset(stack, 0, sizeof(stack));
    stack[ABOVE + 1] = by_fp;
    frame.registers[JP_ARCH_SP] = (uint64_t)stack;
    frame.registers[JP_ARCH_FP] = (uint64_t)(stack + ABOVE);
    frame.registers[0] = word;
    watched = word;
    reads = 0;
    jp_maps_check_buffer_sig(&buffer);
    jp_walk_hidden_sig(&walk, &frame);
    return reads;
}

/* A place in this program's code. */
static uint64_t in_file(void)
{
    return (uint64_t)(uintptr_t)&reads_of + 16;
}

static void test_code_of_a_file_is_read_once(void **state)
{
    (void)state;
    assert_true(jp_maps_of_file_sig(in_file()));
    assert_int_equal(reads_of(in_file(), 0), 1);
    assert_int_equal(reads_of(in_file(), 0), 0);
    /* Until the table says otherwise: */
    buffer.maps_epoch++;
    assert_int_equal(reads_of(in_file(), 0), 1);
    /* Another that has the same place in the buffer. */
    const uint64_t same = in_file() + ((uint64_t)JP_BUFFER_CODES << 7);
    assert_int_equal(reads_of(same, 0), jp_maps_of_file_sig(same));
}

static void test_code_of_a_compiler_is_read_each_time(void **state)
{
    const uint64_t compiled = (uint64_t)page + PAGE + PAGE + 16;
    (void)state;
    assert_true(jp_maps_anonymous_sig(compiled));
    assert_int_equal(reads_of(compiled, 0), 1);
    assert_int_equal(reads_of(compiled, 0), 1);
}

/* Near a program's own code, as that of one that begins at 4 MiB, are all the
 * numbers that it counts with: nobody asks about these. */
static void test_numbers_near_a_file(void **state)
{
    const uint64_t nothing = (in_file() & ~(uint64_t)(PAGE - 1)) - (1 << 28);
    const uint64_t near = (uint64_t)page + (1 << 28) + 16;
    (void)state;
    assert_false(jp_maps_of_file_sig(nothing));
    assert_int_equal(reads_of(nothing, in_file()), 0);
    /* About one near compiled code it does. */
    assert_false(jp_maps_of_file_sig(near));
    assert_int_equal(reads_of(near, in_file()), 1);
    assert_int_equal(reads_of(nothing + 16, nothing), 1);
}

static int begin(void **state)
{
    (void)state;
    page = mmap(NULL, 4 * (size_t)PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return -1;
    memset(page, 0x90, 4 * (size_t)PAGE);
    jp_maps_before_log_sig();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_of_a_file_is_read_once),
        cmocka_unit_test(test_code_of_a_compiler_is_read_each_time),
        cmocka_unit_test(test_numbers_near_a_file),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
