/* SPDX-License-Identifier: MIT
 *
 * Callers of C functions that code without call-frame information runs on the
 * thread's stack, with a stack of its own: hand-made code, as Erlang's is.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../preload/sig/arch/arch.h"
#include "../../preload/sig/code/maps.h"
#include "../../preload/sig/state/buffer.h"
#include "../../preload/sig/state/thread.h"
#include "../../preload/sig/unwind/walk_back.h"
#include "../../preload/sig/unwind/walk_process.h"

#ifdef __x86_64__

#define PAGE 4096U
#define CODE 64U /* where the code under test begins */
#define WORDS 256U

static uint8_t *page; /* of code, and one that is not there behind it */
static uint64_t *own; /* the stack that the code goes back to */
static _Alignas(128) uint64_t stack[WORDS];
static uint64_t process[32]; /* what r13 points to */
static struct jp_buffer buffer;
static struct jp_thread thread = {.stack = {.high = 1}};

/* A frame behind a call, at the code's begin, that has a frame pointer. */
static struct jp_walk_frame frame_at(const char *code, size_t size, size_t into,
                                     uint64_t fp)
{
    struct jp_walk_frame frame = {.pc = (uint64_t)(page + CODE + into),
                                  .follow = 1};
    memset(page, 0xcc, PAGE);
    memcpy(page + CODE, code, size);
    frame.registers[JP_ARCH_SP] = (uint64_t)stack;
    frame.registers[JP_ARCH_FP] = fp;
    frame.registers[13] = (uint64_t)process;
    return frame;
}

static struct jp_walk walk_of_stack(void)
{
    return (struct jp_walk){.process = &jp_walk_process,
                            .buffer = &buffer,
                            .thread = &thread,
                            .low = (uint64_t)stack,
                            .begin = (uint64_t)stack,
                            .high = (uint64_t)(stack + WORDS),
                            .limit = (uint64_t)(stack + WORDS),
                            .on_own_stack = 1,
                            .total = 2,
                            .sure = 1};
}

/* Goes back from the code; *to gets the frame. */
static int back(const char *code, size_t size, struct jp_walk_frame *to)
{
    struct jp_walk walk = walk_of_stack();
    process[11] = (uint64_t)(own + 8);
    process[12] = (uint64_t)(own + 16);
    *to = frame_at(code, size, 0, (uint64_t)(own + 12));
    return jp_walk_back_sig(&walk, to);
}

#define BACK(code, to) back(code, sizeof(code) - 1, to)
#define LOAD_SP "\x49\x8b\x65\x58" /* mov 88(%r13),%rsp */
#define LOAD_FP "\x49\x8b\x6d\x60" /* mov 96(%r13),%rbp */

static void goes(const char *code, size_t size, unsigned fp)
{
    struct jp_walk_frame to;
    assert_int_equal(back(code, size, &to), JP_WALK_GOING);
    assert_int_equal(to.registers[JP_ARCH_SP], (uint64_t)(own + 8));
    assert_int_equal(to.registers[JP_ARCH_FP], (uint64_t)(own + fp));
    assert_int_equal(to.pc, (uint64_t)(page + CODE));
}

#define GOES(code, fp) goes(code, sizeof(code) - 1, fp)

/* The frame pointer is loaded as well, or is what it was at the call: at once,
 * behind mov %rax,%r14, behind mov $2104,%ecx; test; je, and with a long
 * displacement. */
static void test_forms(void **state)
{
    (void)state;
    GOES(LOAD_SP LOAD_FP "\xc9\xc3", 16);
    GOES(LOAD_SP "\xc9\xc3", 12);
    GOES("\x49\x89\xc6" LOAD_SP LOAD_FP, 16);
    GOES("\xb9\x38\x08\x00\x00\x85\xc0\x74\x10" LOAD_SP, 12);
    GOES("\x49\x8b\xa5\x58\x00\x00\x00\x49\x8b\xad\x60\x00\x00\x00", 16);
}

/* Code that pushes, calls, jumps or returns before, another use of the
 * register, too many instructions, or a load without a register. */
static void test_others(void **state)
{
    struct jp_walk_frame to;
    (void)state;
    assert_int_equal(BACK("\x50" LOAD_SP, &to), JP_REASON_BAD_FP);
    assert_int_equal(BACK("\x5d" LOAD_SP, &to), JP_REASON_BAD_FP);
    assert_int_equal(BACK("\xff\xd0" LOAD_SP, &to), JP_REASON_BAD_FP);
    assert_int_equal(BACK("\xeb\x04" LOAD_SP, &to), JP_REASON_BAD_FP);
    assert_int_equal(BACK("\xc3" LOAD_SP, &to), JP_REASON_BAD_FP);
    assert_int_equal(BACK("\x49\x89\x65\x58", &to), JP_REASON_BAD_FP);
    assert_int_equal(BACK("\x90\x90\x90\x90\x90" LOAD_SP, &to),
                     JP_REASON_BAD_FP);
    assert_int_equal(BACK("\x48\x8b\x24\x25\0\0\0\0", &to), JP_REASON_BAD_FP);
    assert_int_equal(to.registers[JP_ARCH_SP], (uint64_t)stack);
}

/* The register must be known; the stack must be there, and its frame pointer
 * above its end. */
static void test_what_is_needed(void **state)
{
    struct jp_walk walk = walk_of_stack();
    struct jp_walk_frame frame;
    (void)state;
    frame = frame_at(LOAD_SP, 4, 0, (uint64_t)(own + 12));
    frame.follow = 0;
    assert_int_equal(jp_walk_back_sig(&walk, &frame), JP_WALK_AGAIN);
    frame.lost = JP_WALK_LOST;
    assert_int_equal(jp_walk_back_sig(&walk, &frame), JP_REASON_BAD_FP);
    frame = frame_at(LOAD_SP, 4, 0, (uint64_t)(own + 12));
    frame.interrupted = 1;
    assert_int_equal(jp_walk_back_sig(&walk, &frame), JP_REASON_BAD_FP);
    frame.interrupted = 0;
    frame.registers[13] = 8;
    assert_int_equal(jp_walk_back_sig(&walk, &frame), JP_REASON_BAD_FP);
    frame.registers[13] = (uint64_t)process;
    frame.registers[JP_ARCH_FP] = (uint64_t)(own + 7);
    assert_int_equal(jp_walk_back_sig(&walk, &frame), JP_REASON_BAD_FP);
    process[11] = 4096; /* no memory */
    frame.registers[JP_ARCH_FP] = 8192;
    assert_int_equal(jp_walk_back_sig(&walk, &frame), JP_REASON_BAD_FP);
    frame = frame_at(LOAD_SP, 4, 0, (uint64_t)(own + 12));
    frame.pc = (uint64_t)(page + PAGE);
    assert_int_equal(jp_walk_back_sig(&walk, &frame), JP_REASON_BAD_FP);
}

/* sub $128,%rsp; and $-64,%rsp; call *%rcx. */
#define ALIGNS "\x48\x81\xec\x80\0\0\0\x48\x83\xe4\xc0\xff\xd1"

/* Whether the caller is found behind code that has aligned the stack, with its
 * return address in this word of the stack. */
static int aligned(const char *code, unsigned word, struct jp_walk_frame *to)
{
    struct jp_walk walk = walk_of_stack();
    memset(stack, 0, sizeof(stack));
    *to = frame_at(code, sizeof(ALIGNS) - 1, sizeof(ALIGNS) - 1, 0);
    memcpy(page + 2048, "\xff\xd0", 2);
    stack[word] = (uint64_t)(page + 2050);
    return jp_walk_aligned_sig(&walk, to);
}

static void test_aligned(void **state)
{
    struct jp_walk_frame to;
    (void)state;
    for (unsigned word = 15; word <= 24; word++) {
        assert_int_equal(aligned(ALIGNS, word, &to), word > 15 && word < 24);
        if (word == 15 || word == 24)
            continue;
        assert_int_equal(to.pc, (uint64_t)(page + 2050));
        assert_int_equal(to.registers[JP_ARCH_SP],
                         (uint64_t)(stack + word + 1));
        assert_int_not_equal(to.lost, 0);
    }
    assert_int_equal(
        aligned("\x48\x81\xec\x80\0\0\0\x48\x83\xe4\xc8\xff\xd1", 16, &to), 0);
    assert_int_equal(
        aligned("\x48\x81\xec\x80\0\0\0\x48\x83\xc4\xc0\xff\xd1", 16, &to), 0);
}

/* Not in code of a file. */
static void test_aligned_of_file(void **state)
{
    struct jp_walk walk = walk_of_stack();
    struct jp_walk_frame to;
    FILE *file = tmpfile();
    (void)state;
    assert_non_null(file);
    assert_int_equal(fwrite(page, 1, PAGE, file), PAGE);
    assert_int_equal(fflush(file), 0);
    uint8_t *code =
        mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0);
    assert_ptr_not_equal(code, MAP_FAILED);
    aligned(ALIGNS, 16, &to);
    to = frame_at(ALIGNS, sizeof(ALIGNS) - 1, sizeof(ALIGNS) - 1, 0);
    memcpy(page + 2048, "\xff\xd0", 2);
    assert_int_equal(pwrite(fileno(file), page, PAGE, 0), PAGE);
    to.pc = (uint64_t)code + (to.pc - (uint64_t)page);
    assert_int_equal(jp_walk_aligned_sig(&walk, &to), 0);
    munmap(code, PAGE);
    fclose(file);
}

/* Not where the frame has a frame pointer, was reached by one, is not aligned
 * or is interrupted; nor on another stack. */
static void test_aligned_needs(void **state)
{
    struct jp_walk walk = walk_of_stack();
    struct jp_walk_frame to, as;
    (void)state;
    aligned(ALIGNS, 16, &as);
    as = frame_at(ALIGNS, sizeof(ALIGNS) - 1, sizeof(ALIGNS) - 1, 0);
    memcpy(page + 2048, "\xff\xd0", 2);
    to = as;
    to.registers[JP_ARCH_FP] = (uint64_t)(stack + 2);
    assert_int_equal(jp_walk_aligned_sig(&walk, &to), 0);
    to = as;
    to.lost = JP_WALK_LOST;
    assert_int_equal(jp_walk_aligned_sig(&walk, &to), 0);
    to = as;
    to.interrupted = 1;
    assert_int_equal(jp_walk_aligned_sig(&walk, &to), 0);
    to = as;
    to.registers[JP_ARCH_SP] += 8;
    assert_int_equal(jp_walk_aligned_sig(&walk, &to), 0);
    walk.on_own_stack = 0;
    to = as;
    assert_int_equal(jp_walk_aligned_sig(&walk, &to), 0);
    walk.on_own_stack = 1;
    assert_int_equal(jp_walk_aligned_sig(&walk, &to), 1);
}

/* sub $48,%rsp; mov %rsp,%rax; sub $16384,%rsp; mov %rdi,%rax; jmp *%rax. */
#define RUNS                                                                   \
    "\x48\x83\xec\x30\x48\x89\xe0\x48\x81\xec\0\x40\0\0\x48\x89\xf8"           \
    "\xff\xe0"

/* Whether the caller of code at this place is found, which `run` has jumped to
 * and which has taken `less` bytes since; *to gets the frame. */
static int jumped(const char *run, uint64_t less, struct jp_walk_frame *to)
{
    static uint64_t large[JP_ARCH_JUMP_ROOM / 8 + 8];
    struct jp_walk walk = walk_of_stack();
    walk.low = (uint64_t)large;
    walk.high = walk.limit = (uint64_t)(large + JP_ARCH_JUMP_ROOM / 8 + 8);
    *to = frame_at(run, sizeof(RUNS) - 1, 0, 8);
    to->interrupted = 1;
    to->registers[JP_ARCH_SP] = (uint64_t)(large + 2) - less;
    memcpy(page + 2048, "\xe8\x3b\xf8\xff\xff", 5); /* call to CODE */
    large[JP_ARCH_JUMP_ROOM / 8 + 2] = (uint64_t)(page + 2053);
    large[(JP_ARCH_JUMP_ROOM - JP_ARCH_JUMP_FP) / 8 + 2] = 77;
    return jp_walk_jumped_sig(&walk, to) &&
           to->registers[JP_ARCH_SP] ==
               (uint64_t)(large + JP_ARCH_JUMP_ROOM / 8 + 3);
}

static void test_jumped(void **state)
{
    struct jp_walk_frame to;
    (void)state;
    assert_int_equal(jumped(RUNS, 0, &to), 1);
    assert_int_equal(to.pc, (uint64_t)(page + 2053));
    assert_int_equal(to.registers[JP_ARCH_FP], 77);
    assert_int_equal(to.interrupted, 0);
    assert_int_equal(jumped(RUNS, 8, &to), 1);
    assert_int_equal(jumped(RUNS, 16, &to), 0);
    /* Another room. */
    assert_int_equal(jumped("\x48\x83\xec\x38\x48\x89\xe0\x48\x81\xec\0\x40\0"
                            "\0\x48\x89\xf8\xff\xe0",
                            0, &to),
                     0);
}

/* Whether the code before a call begins a stack of its own. */
static int begun(const char *code, size_t size, uint64_t fp, uint32_t runs)
{
    struct jp_walk_frame frame = frame_at(code, size, size, fp);
    frame.interrupted = runs;
    const struct jp_walk walk = {.process = &jp_walk_process};
    return jp_walk_begun_sig(&walk, &frame);
}

#define BEGUN(code) begun(code, sizeof(code) - 1, 0, 0)
#define NO_FP "\x48\xc7\xc5\0\0\0\0" /* movq $0,%rbp */
#define MCALL                                                                  \
    "\x49\x8b\x66\x38" NO_FP "\x50\x4c\x8b\x22" /* mov 56(%r14),%rsp */        \
    "\x41\xff\xd4"                              /* call *%r12 */

static void test_begun(void **state)
{
    (void)state;
    assert_int_equal(BEGUN(MCALL), 1);
    assert_int_equal(BEGUN("\x48\x8b\x63\x38" NO_FP "\xe8\0\1\0\0"), 1);
    assert_int_equal(begun(MCALL, sizeof(MCALL) - 1, 8, 0), 0);
    assert_int_equal(begun(MCALL, sizeof(MCALL) - 1, 0, 1), 0);
    /* Another register; another number; the stack stays. */
    assert_int_equal(BEGUN("\x48\x8b\x5b\x38" NO_FP "\xe8\0\1\0\0"), 0);
    assert_int_equal(BEGUN("\x48\x8b\x63\x38\x48\xc7\xc5\1\0\0\0\xe8\0\1\0\0"),
                     0);
    assert_int_equal(BEGUN("\x48\x89\xe7\x90" NO_FP "\xe8\0\1\0\0"), 0);
}

static int begin(void **state)
{
    (void)state;
    page = mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
               -1, 0);
    if (page == MAP_FAILED || own == MAP_FAILED ||
        munmap(page + PAGE, PAGE) != 0)
        return -1;
    jp_maps_before_log_sig();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),           cmocka_unit_test(test_others),
        cmocka_unit_test(test_what_is_needed),  cmocka_unit_test(test_aligned),
        cmocka_unit_test(test_aligned_needs),   cmocka_unit_test(test_jumped),
        cmocka_unit_test(test_aligned_of_file), cmocka_unit_test(test_begun),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}

#else

/* Elsewhere no code is known to do so. */
static void test_never(void **state)
{
    static struct jp_buffer buffer;
    struct jp_walk walk = {
        .process = &jp_walk_process, .buffer = &buffer, .on_own_stack = 1};
    struct jp_walk_frame frame = {.pc = (uint64_t)&buffer + 4096};
    (void)state;
    assert_int_equal(jp_walk_back_sig(&walk, &frame), JP_REASON_BAD_FP);
    assert_int_equal(jp_walk_aligned_sig(&walk, &frame), 0);
    assert_int_equal(jp_walk_begun_sig(&walk, &frame), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
