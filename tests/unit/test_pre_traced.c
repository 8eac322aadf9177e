/* SPDX-License-Identifier: MIT
 *
 * Whether a tracer is at the process, and how often that is asked.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../preload/sig/wall/traced.h"

#define SECOND 1000000000ULL

/* What a child finds that has this process for a tracer or has none, 0 to 2 s
 * after it was first asked; as an exit status. */
static int found_by_child(int traced, uint64_t first, uint64_t then)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const int before = jp_traced_sig(first);
        if (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(100);
        _exit(before << 1 | jp_traced_sig(first + then));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_traced(void **state)
{
    (void)state;
    assert_int_equal(found_by_child(0, 5 * SECOND, SECOND), 0);
    assert_int_equal(found_by_child(1, 5 * SECOND, SECOND), 1);
    /* Not asked again within a second. */
    assert_int_equal(found_by_child(1, 5 * SECOND, SECOND - 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_traced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
