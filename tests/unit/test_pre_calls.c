/* SPDX-License-Identifier: MIT
 *
 * What samples of real time stand for where a thread uses its CPU time in the
 * calls that it waits in, on clocks that a test moves.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <signal.h>

#include <cmocka.h>

#include "in_range.h"
#include "fake_kernel.h"
#include "../../preload/sig/clock/clock.h"
#include "../../preload/sig/wall/clock_real.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/thread.h"

#define MS 1000000ULL
#define PERIOD (10 * MS)
#define TID 100U

#include "real_time.h"

enum { LOOKS = 1000 };

/* Looks that find the thread in a wait, but for one in `outside`, 3 ms of CPU
 * time and three waits after each other. */
static void naps(struct jp_thread *thread, unsigned outside)
{
    struct jp_due due;
    for (unsigned i = 1; i <= LOOKS; i++) {
        to_moment(thread, WAITS);
        fake.cpu_ns += 3 * MS;
        fake.switches += 3;
        look(thread, i % outside == 0 ? COMPUTES : IN_CALL, &due);
        assert_int_equal(due.ready + due.before + due.after, 0);
    }
}

/* (27 to 52% of the CPU time of a loop of nanosleep were in samples, on a busy
 * virtual machine, and 69 to 88% of BIND's.) */
static void check_naps(unsigned outside)
{
    struct jp_thread *thread = begin();
    const uint64_t begun = fake.now_ns;
    naps(thread, outside);
    assert_uint_in_range(sum.running, LOOKS * 3 * MS - 8 * PERIOD,
                         LOOKS * 3 * MS + 8 * PERIOD);
    /* What is running is not blocked. */
    assert_uint_in_range(sum.running + sum.blocked + 6 * PERIOD -
                             (fake.now_ns - begun),
                         0, 12 * PERIOD);
    jp_clock_end_sig(thread);
}

static void test_all_in_calls(void **state)
{
    (void)state;
    check_naps(LOOKS + 1);
}

static void test_most_in_calls(void **state)
{
    (void)state;
    check_naps(20);
}

/* A thread that stays in its wait has used nothing there, whatever is due. */
static void test_one_wait(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = begin();
    naps(thread, LOOKS + 1);
    memset(&sum, 0, sizeof(sum));
    thread->clock.wall.balance.remainder_ns = 20 * (int64_t)PERIOD;
    for (unsigned i = 0; i < 20; i++) {
        to_moment(thread, WAITS);
        fake.switches++;
        look(thread, IN_CALL, &due);
        assert_int_equal(due.running, 0);
    }
    jp_clock_end_sig(thread);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_all_in_calls),
        TEST(test_most_in_calls),
        TEST(test_one_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
