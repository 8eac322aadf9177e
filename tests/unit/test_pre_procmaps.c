/* SPDX-License-Identifier: MIT
 *
 * The list of mappings where a tracer opens its own for the thread's, as proot
 * does: it knows /proc/self, and not /proc/thread-self.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../preload/sig/code/procmaps.h"
#include "../../preload/sig/os/sys.h"

static int traced; /* by such a tracer */
static pid_t tracer;
static const char *last = ""; /* opened */

int __real_jp_sys_open_sig(const char *path, int flags, int mode);
int __wrap_jp_sys_open_sig(const char *path, int flags, int mode);

int __wrap_jp_sys_open_sig(const char *path, int flags, int mode)
{
    char other[64];
    last = path;
    snprintf(other, sizeof(other), "/proc/%d/maps", (int)tracer);
    return __real_jp_sys_open_sig(
        traced && strstr(path, "thread-self") != NULL ? other : path, flags,
        mode);
}

/* What a process of its own finds for itself, as what is found is kept: 0: its
 * own code, in the list that it should have opened. */
static int own_code(int by_tracer, const char *expected)
{
    struct jp_vma vma;
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        traced = by_tracer;
        const int error =
            jp_procmaps_query_sig((uint64_t)(uintptr_t)&own_code, &vma);
        if (error != 0)
            _exit(error == -ENOTTY ? 77 : 1);
        _exit((vma.prot & JP_PROT_EXEC) == 0 || strcmp(last, expected) != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip(); /* Linux before 6.11: nothing can be asked */
    return WEXITSTATUS(status);
}

static void test_the_thread_s(void **state)
{
    (void)state;
    assert_int_equal(own_code(0, "/proc/thread-self/maps"), 0);
}

static void test_a_tracer_s(void **state)
{
    (void)state;
    assert_int_equal(own_code(1, "/proc/self/maps"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_thread_s),
        cmocka_unit_test(test_a_tracer_s),
    };
    tracer = getppid(); /* any process that is another program */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
