/* SPDX-License-Identifier: MIT
 *
 * The thread's files in /proc where a tracer opens its own for them, as proot
 * does: it knows /proc/self, and not /proc/thread-self.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../preload/sig/wall/delay.h"
#include "../../preload/sig/code/procmaps.h"
#include "../../preload/sig/os/own.h"
#include "../../preload/sig/os/sys.h"

static int traced; /* by such a tracer */
static pid_t tracer;
static const char *last = ""; /* opened */

int __real_jp_sys_open_sig(const char *path, int flags, int mode);
int __wrap_jp_sys_open_sig(const char *path, int flags, int mode);

int __wrap_jp_sys_open_sig(const char *path, int flags, int mode)
{
    char other[64];
    const char *name = strrchr(path, '/');
    last = path;
    snprintf(other, sizeof(other), "/proc/%d%s", (int)tracer, name);
    return __real_jp_sys_open_sig(
        traced && strstr(path, "thread-self") != NULL ? other : path, flags,
        mode);
}

/* Whether the list has this program's code. */
static int lists_own_code(void)
{
    static struct jp_procmaps reader;
    const uint64_t code = (uint64_t)(uintptr_t)&lists_own_code;
    struct jp_vma vma;
    int found = 0;
    if (jp_procmaps_open_sig(&reader) != 0)
        return 0;
    while (jp_procmaps_next_sig(&reader, &vma))
        found |= code - vma.start < vma.end - vma.start;
    jp_procmaps_close_sig(&reader);
    return found;
}

static int opens(const char *folder, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%s/%s", folder, name);
    return strcmp(last, path) == 0;
}

/* What a process of its own finds, as what is found is kept.  Returns 0, or
 * which file is not in the folder that it should be in. */
static int own_files(int by_tracer, const char *folder)
{
    static const uint64_t number = 2026;
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        uint64_t read = 0;
        traced = by_tracer;
        if (!lists_own_code() || !opens(folder, "maps"))
            _exit(1);
        jp_delay_sig();
        if (!opens(folder, "schedstat"))
            _exit(2);
        const int fd = jp_self_open_sig(JP_SELF_MEM);
        if (jp_sys_pread_sig(fd, &read, sizeof(read),
                             (uint64_t)(uintptr_t)&number) != sizeof(read) ||
            read != number || !opens(folder, "mem"))
            _exit(3);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_the_thread_s(void **state)
{
    (void)state;
    assert_int_equal(own_files(0, "thread-self"), 0);
}

static void test_a_tracer_s(void **state)
{
    (void)state;
    assert_int_equal(own_files(1, "self"), 0);
    tracer = 1; /* whose memory may be out of reach */
    assert_int_equal(own_files(1, "self"), 0);
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
