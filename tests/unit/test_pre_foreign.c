/* SPDX-License-Identifier: MIT
 *
 * Words of the program's stack: read as they are, poisoned or not.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../preload/sig/os/foreign.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define __asan_poison_memory_region(at, size) ((void)0)
#define __asan_unpoison_memory_region(at, size) ((void)0)
#endif

static void test_between_variables(void **state)
{
    uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    (void)state;
    __asan_poison_memory_region(words, sizeof(words));
    const uint64_t word = jp_foreign_word_sig((uint64_t)&words[5]);
    __asan_unpoison_memory_region(words, sizeof(words));
    assert_int_equal(word, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_between_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
