/* SPDX-License-Identifier: MIT
 *
 * CPU times in the log's header.
 * Runs in: handler, any thread. */
#include "usage.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "notes.h"
#include "tree.h"
#include "sig/log/log.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"

#define STEP_NS JP_NS

/* The log's header; NULL while there is no log. */
static struct jp_log_header *header_sig(void)
{
    return atomic_load(&jp_log.state) == JP_LOG_READY ? jp_log.header : NULL;
}

uint64_t jp_usage_of_sig(const struct rusage *usage)
{
    return ((uint64_t)usage->ru_utime.tv_sec +
            (uint64_t)usage->ru_stime.tv_sec) *
               JP_NS +
           ((uint64_t)usage->ru_utime.tv_usec +
            (uint64_t)usage->ru_stime.tv_usec) *
               1000U;
}

/* Stores the CPU time in *cpu_ns, 0 where a filter forbids to ask: -1 then.  In
 * a function of its own, for the handler's stack. */
__attribute__((noinline)) static int ask_sig(long who, uint64_t *cpu_ns)
{
    struct rusage usage;
    const long done = jp_sys_sig(SYS_getrusage, who, (long)&usage, 0, 0, 0);
    *cpu_ns = done == 0 ? jp_usage_of_sig(&usage) : 0;
    return done == 0 ? 0 : -1;
}

static uint64_t usage_sig(long who)
{
    uint64_t cpu_ns;
    ask_sig(who, &cpu_ns);
    return cpu_ns;
}

uint64_t jp_usage_children_sig(void)
{
    return usage_sig(RUSAGE_CHILDREN);
}

/* The process's CPU time, by one of two calls, as a filter may forbid either; 0
 * when it forbids both.  While a timer runs on the process's clock, as jprof's
 * slow one does, that clock is as old as the kernel's last look at the thread,
 * up to a tick; reading the thread's clock first has the kernel look
 * (proc_sample_cputime_atomic and task_sched_runtime in Linux). */
static uint64_t process_sig(void)
{
    jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t cpu = jp_sys_clock_sig(CLOCK_PROCESS_CPUTIME_ID);
    return cpu != 0 ? cpu : usage_sig(RUSAGE_SELF);
}

void jp_usage_begin_sig(void)
{
    uint64_t children;
    jp_process.cpu_before_ns = process_sig();
    if (jp_process.cpu_before_ns == 0)
        jp_note_sig(JP_NOTE_NO_USAGE);
    else if (ask_sig(RUSAGE_CHILDREN, &children) != 0)
        jp_note_sig(JP_NOTE_NO_CHILDREN);
}

/* Writes the CPU times into the header; where a filter forbids to ask, the last
 * values stay. */
static void write_sig(struct jp_log_header *header, uint64_t now_ns)
{
    const uint64_t cpu = process_sig();
    const uint64_t children = jp_usage_children_sig();
    if (cpu != 0 && header->cpu_ended == 0) {
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

/* Where no sample has made a log, the CPU times go into the tree's file. */
static void brief_sig(int ended)
{
    const uint64_t cpu = process_sig();
    if (atomic_load(&jp_log.state) == JP_LOG_NONE && cpu != 0)
        jp_tree_brief_sig(atomic_load(&jp_process.first_section_cpu_ns), cpu,
                          jp_usage_children_sig(), ended);
}

void jp_usage_exec_sig(void)
{
    if (header_sig() != NULL)
        jp_usage_note_sig();
    else
        brief_sig(0);
}

void jp_usage_end_sig(void)
{
    struct jp_log_header *header = header_sig();
    if (header == NULL) {
        brief_sig(1);
        return;
    }
    jp_usage_note_sig();
    if (header->cpu_ended == 0)
        jp_count_sig(JP_COUNT_EDGES_NS, jp_threads_edges_sig(header->cpu_ns));
    header->cpu_ended = 1;
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
