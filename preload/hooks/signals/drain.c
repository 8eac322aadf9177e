/* SPDX-License-Identifier: MIT
 *
 * Waiting for signals that are on their way.
 * Runs in: any thread, the program's handlers. */
#include "drain.h"

#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/state/thread.h"

#define LONGEST_NS JP_NS
#define PAUSE_NS 100000

/* The signals pending in one thread (proc(5), /proc/pid/status); none in a
 * thread that is gone or cannot be read. */
static uint64_t pending(uint32_t tid)
{
    static const char key[] = "\nSigPnd:\t";
    char path[48], status[4096];
    struct jp_text text;
    jp_text_init_sig(&text, path, sizeof(path));
    jp_text_add_sig(&text, "/proc/self/task/");
    jp_text_decimal_sig(&text, tid);
    jp_text_add_sig(&text, "/status");
    const int fd = jp_sys_open_sig(path, O_RDONLY, 0);
    if (fd < 0)
        return 0;
    const long got = jp_sys_read_sig(fd, status, sizeof(status) - 1);
    jp_sys_close_sig(fd);
    if (got <= 0)
        return 0;
    status[got] = '\0';
    const char *digits = strstr(status, key);
    if (digits == NULL)
        return 0;
    digits += sizeof(key) - 1;
    return jp_text_number_sig(&digits, status + got, 16);
}

void jp_drain(int signal)
{
    const struct timespec pause = {0, PAUSE_NS};
    const uint64_t until = jp_sys_clock_sig(CLOCK_MONOTONIC) + LONGEST_NS;
    const uint32_t self = jp_sys_gettid_sig();
    const uint32_t count = jp_threads_used_sig();
    for (uint32_t i = 0; i < count; i++) {
        const struct jp_thread *thread = jp_thread_at_sig(i);
        const uint32_t tid = thread->tid;
        if (tid == 0 || tid == self ||
            atomic_load(&thread->state) < JP_THREAD_IDLE)
            continue;
        while ((pending(tid) & JP_SIGSET(signal)) != 0 &&
               jp_sys_clock_sig(CLOCK_MONOTONIC) < until)
            jp_sys_sig(SYS_nanosleep, (long)&pause, 0, 0, 0, 0);
    }
}
