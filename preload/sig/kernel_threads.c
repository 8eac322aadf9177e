/* SPDX-License-Identifier: MIT
 *
 * CPU time and names of threads that run kernel code alone.
 * Runs in: handler, any thread. */
#include "kernel_threads.h"

#include <string.h>

#include "jp_log.h"
#include "jp_map.h"
#include "sig/files/mapfile.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"

/* Flags of /proc/PID/stat (include/linux/sched.h): PF_IO_WORKER, and
 * PF_USER_WORKER, since Linux 6.4.  Both bits had other meanings before. */
#define IO_WORKER 0x10U
#define USER_WORKER 0x4000U

/* Such a thread blocks all signals but SIGKILL and SIGSTOP (copy_process in
 * kernel/fork.c); stat shows signals 1 to 31. */
#define BLOCKED                                                                \
    (0x7fffffffU & ~(uint32_t)(JP_SIGSET(SIGKILL) | JP_SIGSET(SIGSTOP)))

/* Fields of /proc/PID/stat, counted as proc(5) does. */
enum { FIELD_STATE = 3, FIELD_FLAGS = 9, FIELD_BLOCKED = 32 };

#define MOST 256U
#define LINE_NS 50000000U /* CPU time for which a thread gets a first line */

static struct kernel_thread {
    uint32_t tid;
    uint64_t seen_ns;    /* its CPU clock at the last look */
    uint64_t counted_ns; /* in JP_COUNT_KERNEL_NS */
    uint64_t told_ns;    /* in lines of the map */
    char name[16];
} threads[MOST];
static uint32_t used;

static char stat_text[1024];

/* Sets *value to a field of the process's stat behind the name; returns where
 * the next one begins, or NULL at the text's end. */
static const char *field_sig(const char *at, const char *end, uint64_t *value)
{
    *value = jp_text_number_sig(&at, end, 10);
    while (at < end && *at != ' ')
        at++;
    return at < end ? at + 1 : NULL;
}

static int is_kernel_code_sig(const char *at, const char *end)
{
    uint64_t value, flags = 0;
    for (int field = FIELD_STATE; at != NULL; field++) {
        at = field_sig(at, end, &value);
        if (field == FIELD_FLAGS)
            flags = value;
        if (field == FIELD_FLAGS && !(flags & (IO_WORKER | USER_WORKER)))
            return 0;
        if (field == FIELD_BLOCKED)
            return (uint32_t)value == BLOCKED;
    }
    return 0;
}

/* Reads a thread's stat; returns whether it runs kernel code alone, and copies
 * its name to a text of 16 bytes then. */
static int look_sig(uint32_t tid, char *name)
{
    char path[48];
    struct jp_text text;
    jp_text_init_sig(&text, path, sizeof(path));
    jp_text_add_sig(&text, "/proc/self/task/");
    jp_text_decimal_sig(&text, tid);
    jp_text_add_sig(&text, "/stat");
    const int fd = jp_sys_open_sig(path, O_RDONLY, 0);
    if (fd < 0)
        return 0;
    const long got = jp_sys_read_sig(fd, stat_text, sizeof(stat_text));
    jp_sys_close_sig(fd);
    const char *begin = stat_text, *end = stat_text + (got > 0 ? got : 0);
    while (begin < end && *begin != '(')
        begin++;
    /* The name may have parentheses; no later field has. */
    const char *close = end;
    while (close > begin && close[-1] != ')')
        close--;
    if (close - begin < 2 || close == end ||
        !is_kernel_code_sig(close + 1, end))
        return 0;
    const size_t length = (size_t)(close - begin) - 2;
    const size_t kept = length < 15 ? length : 15;
    memcpy(name, begin + 1, kept);
    name[kept] = '\0';
    return 1;
}

int jp_kernel_threads_has_sig(uint32_t tid, int late)
{
    struct kernel_thread found = {.tid = tid};
    for (uint32_t i = 0; i < used; i++)
        if (threads[i].tid == tid)
            return 1;
    if (!look_sig(tid, found.name))
        return 0;
    if (!late)
        found.seen_ns = jp_sys_clock_sig(jp_thread_clock_of_sig(tid));
    if (used < MOST)
        threads[used++] = found;
    return 1;
}

static void tell_sig(struct kernel_thread *thread)
{
    char buffer[JP_MAPFILE_SHORT];
    struct jp_text text;
    jp_text_init_sig(&text, buffer, sizeof(buffer));
    jp_mapfile_line_sig(&text, jp_sys_clock_sig(CLOCK_MONOTONIC),
                        JP_MAP_KERNEL);
    jp_mapfile_decimal_sig(&text, "tid", thread->tid);
    jp_mapfile_decimal_sig(&text, "cpu", thread->counted_ns - thread->told_ns);
    jp_mapfile_string_sig(&text, "name", thread->name);
    jp_mapfile_append_sig(&text);
    thread->told_ns = thread->counted_ns;
}

/* Counts what a thread used since the last look.  Returns 0 if it is gone, or
 * if the id is another thread's by now. */
static int count_sig(struct kernel_thread *thread)
{
    const uint64_t cpu = jp_sys_clock_sig(jp_thread_clock_of_sig(thread->tid));
    if (cpu < thread->seen_ns || cpu == 0 ||
        jp_thread_by_tid_sig(thread->tid) != NULL)
        return 0;
    jp_count_sig(JP_COUNT_KERNEL_NS, cpu - thread->seen_ns);
    jp_threads_add_gone_sig(cpu - thread->seen_ns);
    thread->counted_ns += cpu - thread->seen_ns;
    thread->seen_ns = cpu;
    return 1;
}

void jp_kernel_threads_follow_sig(int all)
{
    const int ready = jp_mapfile_ready_sig();
    uint32_t kept = 0;
    for (uint32_t i = 0; i < used; i++) {
        struct kernel_thread *thread = &threads[i];
        const int lives = count_sig(thread);
        const uint64_t untold = thread->counted_ns - thread->told_ns;
        if (ready && untold != 0 &&
            (all || !lives || (untold >= LINE_NS && untold >= thread->told_ns)))
            tell_sig(thread);
        if (lives)
            threads[kept++] = *thread;
    }
    used = kept;
}

void jp_kernel_threads_restart_sig(void)
{
    for (uint32_t i = 0; i < used; i++)
        threads[i].seen_ns =
            jp_sys_clock_sig(jp_thread_clock_of_sig(threads[i].tid));
}

void jp_kernel_threads_reset_sig(void)
{
    used = 0;
}
