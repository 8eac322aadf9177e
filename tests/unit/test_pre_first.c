/* SPDX-License-Identifier: MIT
 *
 * Whether a walk that has come to a thread's start is complete: only where the
 * last frame is of the function that the thread begins in.
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
#include "../../preload/sig/code/maps.h"
#include "../../preload/sig/state/buffer.h"
#include "../../preload/sig/state/thread.h"
#include "../../preload/sig/unwind/walk_first.h"
#include "../../preload/sig/unwind/walk_process.h"

#ifdef __x86_64__

#define PAGE 4096U

static uint8_t *page; /* of code, and one that is not there behind it */
static uint64_t frames[16];
static struct jp_buffer buffer = {.frames = frames};
static struct jp_thread thread;

/* Whether a stack is complete whose last frame is at `last`, of two frames, or
 * of one that is interrupted there. */
static int is_whole(uint64_t last, unsigned total)
{
    struct jp_walk walk = {.process = &jp_walk_process,
                           .thread = &thread,
                           .buffer = &buffer,
                           .next = frames};
    walk.turn = walk.end = frames + 16;
    for (unsigned i = 0; i < total; i++)
        jp_walk_push_sig(&walk, last, 0);
    return jp_walk_started_sig(&walk) == JP_REASON_ROOT;
}

/* Puts the code `into` bytes into the page, where the thread begins. */
static void lay(const char *code, size_t size, size_t into)
{
    memset(page, 0xcc, PAGE);
    memcpy(page + into, code, size);
    thread.stack.first = (uint64_t)(page + into);
    thread.stack.first_end = 0;
}

#define LAY(code) lay(code, sizeof(code) - 1, 64)
#define BEHIND(bytes) is_whole((uint64_t)(page + 64 + (bytes)), 2)

/* push %rbp; mov %rsp,%rbp; call *%rcx; pop %rbp; ret; and another function. */
static void test_own_code(void **state)
{
    (void)state;
    LAY("\x55\x48\x89\xe5\xff\xd1\x5d\xc3\xff\xd1\xc3");
    assert_true(BEHIND(6));
    assert_false(BEHIND(10));
    assert_false(BEHIND(-8));
    assert_true(is_whole((uint64_t)(page + 64 + 6), 1));
    /* The call is the function's last instruction. */
    LAY("\x55\x48\x89\xe5\xeb\x01\xc3\xff\xd1\x55\x48\x89\xe5\xff\xd1\xc3");
    assert_true(BEHIND(9));
    assert_false(BEHIND(15));
}

/* test %ecx,%ecx; je over what returns early. */
static void test_branch_leads_on(void **state)
{
    (void)state;
    LAY("\x55\x48\x89\xe5\x85\xc9\x74\x02\x5d\xc3\xff\xd1\x5d\xc3\xff\xd1");
    assert_true(BEHIND(12));
    assert_false(BEHIND(16));
    /* jmp *%rax ends it as well. */
    LAY("\x55\x48\x89\xe5\xff\xd1\xff\xe0\xff\xd1");
    assert_true(BEHIND(6));
    assert_false(BEHIND(10));
}

/* call *%rcx does not return; behind it is a function without a frame, a loop
 * and ret. */
static void test_call_for_good(void **state)
{
    (void)state;
    LAY("\x55\x48\x89\xe5\xff\xd1\xff\xc9\x75\xfc\xc3");
    assert_false(BEHIND(10));
    LAY("\x55\x48\x89\xe5\x74\x02\x5d\xc3\xff\xd1\xff\xc9\x75\xfc\xc3");
    assert_false(BEHIND(14));
    /* leave */
    LAY("\x55\x48\x89\xe5\xff\xd1\xc9\xc3");
    assert_true(BEHIND(6));
}

/* The last of the function's calls does not return, and what bytes lie behind
 * it is chance: here a byte of ret. */
static void test_data_behind(void **state)
{
    (void)state;
    /* mov $0,%ecx; call *%rcx; loop; js to the last call; pop %rbp; ret; call
     * *%rax; data. */
    LAY("\x55\x48\x89\xe5\xb9\x00\x00\x00\x00\xff\xd1\x75\xfc\x78\x02"
        "\x5d\xc3\xff\xd0\x01\x00\xff\xd0\xc3");
    assert_true(BEHIND(11));
    assert_true(BEHIND(19));
    assert_false(BEHIND(20));
    assert_false(BEHIND(23));
    /* Without a loop nothing shows that its code goes on behind a call. */
    LAY("\x55\x48\x89\xe5\xff\xd1\xff\xd0\xc3");
    assert_true(BEHIND(6));
    assert_false(BEHIND(8));
}

/* sub $8,%rsp; call *%rcx; ...: nothing says whose frame was found. */
static void test_no_frame(void **state)
{
    (void)state;
    LAY("\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3");
    assert_false(BEHIND(6));
}

/* Code that goes on where no memory is, that cannot be decoded, and that is a
 * file's. */
static void test_bounds(void **state)
{
    static const char code[] = "\x55\x48\x89\xe5\xff\xd1\x90\x90";
    (void)state;
    lay(code, sizeof(code) - 1, PAGE - 8);
    assert_false(is_whole((uint64_t)(page + PAGE), 2));
    lay(code, sizeof(code) - 1, PAGE - 32);
    assert_true(is_whole((uint64_t)(page + PAGE - 26), 2));
    LAY("\x0f\x0b\x55\x48\x89\xe5\xff\xd1");
    assert_false(BEHIND(8));
    thread.stack.first = 1;
    thread.stack.first_end = 0;
    assert_false(BEHIND(8));
    assert_true(is_whole((uint64_t)(uintptr_t)strlen, 2));
}

static int begin(void **state)
{
    (void)state;
    page = mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || munmap(page + PAGE, PAGE) != 0)
        return -1;
    jp_maps_before_log_sig();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_code),
        cmocka_unit_test(test_branch_leads_on),
        cmocka_unit_test(test_call_for_good),
        cmocka_unit_test(test_data_behind),
        cmocka_unit_test(test_no_frame),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}

#else

/* Elsewhere it is shown by tests/run/test_runtime_others.py alone. */
int main(void)
{
    return 0;
}

#endif
