/* SPDX-License-Identifier: MIT
 *
 * Waiting for a descriptor that a handler in another thread has.
 * Runs in: tests. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../preload/sig/os/sys.h"

/* How often one tries again. */
static unsigned tries(int error)
{
    struct jp_sys_wait wait = {0};
    unsigned count = 0;
    while (jp_sys_awaits_descriptor_sig(error, &wait))
        count++;
    return count;
}

/* jprof has none open: the program has reached its limit by itself, and would
 * only be held up. */
static void test_nobody_has_one(void **state)
{
    (void)state;
    assert_in_range(tries(-EMFILE), 1, 5);
    assert_int_equal(tries(-ENOENT), 0);
    assert_int_equal(tries(3), 0);
}

static void test_another_has_one(void **state)
{
    (void)state;
    jp_sys_before_open_sig();
    assert_int_equal(tries(-ENOENT), 0);
    assert_in_range(tries(-EMFILE), 200, 1000);
    jp_sys_after_open_sig(-1);
    assert_in_range(tries(-EMFILE), 1, 5);
}

/* One more try at least when it is closed, wherever in between. */
static void test_it_is_closed(void **state)
{
    struct jp_sys_wait wait = {0};
    (void)state;
    jp_sys_before_open_sig();
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(jp_sys_awaits_descriptor_sig(-EMFILE, &wait), 1);
    jp_sys_after_open_sig(-1);
    assert_int_equal(jp_sys_awaits_descriptor_sig(-EMFILE, &wait), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_has_one),
        cmocka_unit_test(test_another_has_one),
        cmocka_unit_test(test_it_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
