/* SPDX-License-Identifier: MIT
 *
 * CPU times, into the log's header.
 * Runs in: handler, any thread. */
#include "usage.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "log.h"
#include "process.h"
#include "sys.h"

#define STEP_NS JP_NS

/* NULL when there is none. */
static struct jp_log_header *header_sig(void)
{
    return atomic_load(&jp_log.state) == JP_LOG_READY ? jp_log.header : NULL;
}

uint64_t jp_usage_of_sig(const struct rusage *usage)
{
    return ((uint64_t)usage->ru_utime.tv_sec +
            (uint64_t)usage->ru_stime.tv_sec) * JP_NS +
           ((uint64_t)usage->ru_utime.tv_usec +
            (uint64_t)usage->ru_stime.tv_usec) * 1000U;
}

uint64_t jp_usage_children_sig(void)
{
    struct rusage usage;
    return jp_sys_sig(SYS_getrusage, RUSAGE_CHILDREN, (long)&usage, 0, 0, 0) ==
                   0
               ? jp_usage_of_sig(&usage)
               : 0;
}

void jp_usage_begin_sig(void)
{
    jp_process.cpu_before_ns = jp_sys_clock_sig(CLOCK_PROCESS_CPUTIME_ID);
}

/* Behind a filter that forbids to ask, the last answers stay. */
static void write_sig(struct jp_log_header *header, uint64_t now_ns)
{
    const uint64_t cpu = jp_sys_clock_sig(CLOCK_PROCESS_CPUTIME_ID);
    const uint64_t children = jp_usage_children_sig();
    if (cpu != 0) {
        __atomic_store_n(&header->cpu_read_ns, now_ns, __ATOMIC_RELAXED);
        __atomic_store_n(&header->cpu_ns, cpu, __ATOMIC_RELAXED);
    }
    if (children != 0)
        __atomic_store_n(&header->children_ns, children, __ATOMIC_RELAXED);
    jp_log_sync_sig();
}

void jp_usage_note_sig(void)
{
    struct jp_log_header *header = header_sig();
    if (header != NULL)
        write_sig(header, jp_sys_clock_sig(CLOCK_MONOTONIC));
}

void jp_usage_follow_sig(uint64_t now_ns)
{
    struct jp_log_header *header = header_sig();
    if (header == NULL)
        return;
    uint64_t last = __atomic_load_n(&header->cpu_read_ns, __ATOMIC_RELAXED);
    if (now_ns < last || now_ns - last < STEP_NS ||
        !__atomic_compare_exchange_n(&header->cpu_read_ns, &last, now_ns, 0,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    write_sig(header, now_ns);
}

void jp_usage_off_sig(enum jp_off why)
{
    struct jp_log_header *header = header_sig();
    if (header == NULL)
        return;
    header->off = why;
    jp_usage_note_sig();
}
