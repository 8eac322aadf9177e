/* SPDX-License-Identifier: MIT
 *
 * CPU time that threads use outside of their clocks, at a process's end.
 * Runs in: unit tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "../../preload/sig/state/thread.h"

#define MS 1000000ULL

static uint32_t unreadable;

static uint64_t cpu_of(uint32_t tid)
{
    return tid == unreadable ? 0 : tid * MS;
}

/* What the process used and no thread's clock shows, and what the threads used
 * before their clocks began. */
static void is_what_no_clock_shows(void **state)
{
    (void)state;
    assert_int_equal(jp_threads_init_sig(), 0);
    jp_thread_begin_sig(jp_thread_new_sig(), 30);
    jp_thread_begin_sig(jp_thread_new_sig(), 50);
    jp_thread_armed_sig(5 * MS);
    assert_int_equal(jp_threads_edges_sig(90 * MS), 15 * MS);
    assert_int_equal(jp_threads_edges_sig(70 * MS), 5 * MS);
}

/* A filter forbids to read the clocks: nothing is known of the rest, which is
 * not all the process's time, as a renderer of Chromium's was said to have. */
static void is_not_what_cannot_be_read(void **state)
{
    (void)state;
    unreadable = 50;
    assert_int_equal(jp_threads_edges_sig(90 * MS), 5 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_no_clock_shows),
        cmocka_unit_test(is_not_what_cannot_be_read),
    };

    fake.cpu_of = cpu_of;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
