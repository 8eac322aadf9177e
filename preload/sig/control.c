/* SPDX-License-Identifier: MIT
 *
 * The course of a profile: its commands and its end.
 * Runs in: handler, any thread. */
#include "control.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "adopt.h"
#include "jp_map.h"
#include "logfile.h"
#include "owned_signals.h"
#include "sampling.h"
#include "sig/clock/clock.h"
#include "sig/clock/process_timer.h"
#include "sig/clock/unseen.h"
#include "sig/code/maps.h"
#include "sig/files/mapfile.h"
#include "sig/files/names.h"
#include "sig/files/notes.h"
#include "sig/files/usage.h"
#include "sig/jit/jit.h"
#include "sig/log/log.h"
#include "sig/log/reserve.h"
#include "sig/log/ring.h"
#include "sig/log/storage_ring.h"
#include "sig/os/filter.h"
#include "sig/os/sys.h"
#include "sig/state/buffer.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"
#include "sig/unwind/cfi/cfi_ready.h"

#define EXIT_YIELDS 10000U
/* How long a thread waits for room in the queue: so many times it yields, then
 * it sleeps for a millisecond so many times. */
#define FULL_YIELDS 1000U
#define FULL_SLEEPS 2000U

/* Commands that wait, four bits each; the next one is in the lowest bits. */
static _Atomic uint64_t requests;
static _Atomic uint32_t busy; /* 1: a thread carries commands out */

#define REQUEST_BITS 4U
#define REQUEST_MASK 15U
_Static_assert(JP_CONTROL_SAVE <= REQUEST_MASK, "commands fit");

static _Atomic uint32_t ended; /* 1: the process ends, nothing starts again */

void jp_control_on_sig(void)
{
    /* Before the threads' timers: where the kernel allows few, the slow timer
     * takes their place. */
    if (jp_process_timer_run_sig(1) != 0)
        jp_clock_fall_back_to_itimer_sig();
    atomic_store(&jp_process.running, 1);
    jp_adopt_all_sig();
    jp_clock_all_sig(1);
}

int jp_control_may_start_sig(void)
{
    return !atomic_load(&ended) &&
           atomic_load(&jp_process.ended) == JP_ENDED_NOT &&
           jp_filter_number_sig(SYS_timer_create) == 0 &&
           atomic_load(&jp_log.state) != JP_LOG_FAILED;
}

static void start_sig(void)
{
    if (atomic_load(&jp_process.running) || !jp_control_may_start_sig())
        return;
    atomic_store(&jp_process.first_pending, 0);
    uint32_t section = atomic_fetch_add(&jp_process.sections, 1);
    if (section == 0) {
        jp_process.first_section_ns = jp_sys_clock_sig(CLOCK_MONOTONIC);
        jp_process.first_section_cpu_ns =
            jp_sys_clock_sig(CLOCK_PROCESS_CPUTIME_ID);
    } else if (jp_logfile_ensure_sig() == 0) {
        jp_mapfile_event_sig(JP_MAP_SECTION, section, 1);
    } else {
        return;
    }
    jp_control_on_sig();
    if (section == 0)
        jp_threads_since_sig(jp_sys_clock_sig(CLOCK_PROCESS_CPUTIME_ID));
}

static void flush_counts_sig(void)
{
    const uint32_t count = jp_buffers_made_sig();
    for (uint32_t i = 0; i < count; i++) {
        struct jp_buffer *buffer = jp_buffer_at_sig(i);
        if (buffer != NULL)
            jp_buffer_flush_counts_sig(buffer);
    }
}

/* Writes what a reader needs to understand the samples so far. */
static void settle_sig(int at_exit)
{
    jp_owned_check_sig();
    jp_log_ring_rotate_sig();
    jp_maps_scan_sig();
    jp_names_all_sig();
    jp_jit_save_sig(at_exit);
    flush_counts_sig();
    jp_usage_note_sig();
    jp_log_sync_sig();
}

void jp_control_flush_time_sig(void)
{
    const uint32_t count = jp_threads_used_sig();
    jp_clock_all_sig(0);
    jp_unseen_share_sig();
    for (uint32_t i = 0; i < count; i++) {
        struct jp_thread *thread = jp_thread_at_sig(i);
        /* A thread at its end waits until its record is released. */
        if (atomic_load(&thread->state) != JP_THREAD_IDLE ||
            !jp_clock_hold_sig(thread))
            continue;
        jp_sampling_flush_time_sig(thread);
        jp_clock_release_sig(thread);
    }
}

static void stop_sig(void)
{
    jp_process_timer_run_sig(0);
    jp_control_flush_time_sig();
}

static void pause_sig(void)
{
    /* A start that JP_FIRST has ordered does not come any more. */
    atomic_store(&jp_process.first_pending, 0);
    if (!atomic_load(&jp_process.running))
        return;
    jp_adopt_settle_sig();
    atomic_store(&jp_process.running, 0);
    stop_sig();
    if (jp_logfile_ensure_sig() != 0)
        return;
    settle_sig(0);
    jp_mapfile_event_sig(JP_MAP_PAUSE, -1, 1);
}

static void clear_sig(void)
{
    if (jp_config.ring_bytes == 0 || atomic_load(&jp_log.state) != JP_LOG_READY)
        return;
    jp_adopt_settle_sig();
    __atomic_store_n(&jp_log.header->cleared_ns,
                     jp_sys_clock_sig(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
    jp_log_sync_sig();
    jp_mapfile_event_sig(JP_MAP_CLEAR, -1, 1);
}

static void save_sig(void)
{
    if (atomic_load(&jp_process.sections) == 0 || jp_logfile_ensure_sig() != 0)
        return;
    settle_sig(0);
    jp_mapfile_event_sig(JP_MAP_SAVE, -1, 0);
}

/* Queues a command; the same command twice in a row is queued once.  Returns 0
 * when the queue is full, or, with `force`, replaces the last command. */
static int request_sig(unsigned command, int force)
{
    uint64_t old = atomic_load(&requests), new;
    do {
        unsigned used = 0;
        while (used < 64 && (old >> used & REQUEST_MASK) != 0)
            used += REQUEST_BITS;
        if (used > 0 &&
            (old >> (used - REQUEST_BITS) & REQUEST_MASK) == command)
            return 1;
        if (used == 64 && !force)
            return 0;
        if (used == 64)
            used -= REQUEST_BITS;
        new = (old & ~((uint64_t)REQUEST_MASK << used)) | (uint64_t)command
                                                              << used;
    } while (!atomic_compare_exchange_weak(&requests, &old, new));
    return 1;
}

/* Takes the next command off the queue; 0: there is none. */
static unsigned next_sig(void)
{
    uint64_t old = atomic_load(&requests);
    while (old != 0 &&
           !atomic_compare_exchange_weak(&requests, &old, old >> REQUEST_BITS))
        ;
    return old & REQUEST_MASK;
}

/* Carries out the queued commands, unless another thread does. */
static void run_sig(void)
{
    static void (*const commands[])(void) = {
        [JP_CONTROL_START] = start_sig,
        [JP_CONTROL_PAUSE] = pause_sig,
        [JP_CONTROL_CLEAR] = clear_sig,
        [JP_CONTROL_SAVE] = save_sig,
    };
    while (atomic_load(&requests) != 0) {
        uint32_t idle = 0;
        if (!atomic_compare_exchange_strong(&busy, &idle, 1))
            return;
        for (unsigned next = next_sig(); next != 0; next = next_sig())
            commands[next]();
        atomic_store(&busy, 0);
    }
}

static void wait_for_room_sig(unsigned turn)
{
    static const struct timespec millisecond = {.tv_nsec = 1000000};
    if (turn < FULL_YIELDS)
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
    else
        jp_sys_sig(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&millisecond,
                   0, 0);
}

void jp_control_sig(enum jp_control command)
{
    if (command < JP_CONTROL_START || command > JP_CONTROL_SAVE)
        return;
    /* A full queue empties while this thread waits; only if the thread that
     * carries commands out was stopped for good is one lost. */
    for (unsigned i = 0; !request_sig(command, i == FULL_YIELDS + FULL_SLEEPS);
         i++) {
        run_sig();
        wait_for_room_sig(i);
    }
    run_sig();
}

void jp_control_off_sig(void)
{
    atomic_store(&jp_process.running, 0);
    jp_process_timer_run_sig(0);
    jp_clock_all_sig(0);
}

/* Ends the profile, and says so once, if the log was cut short. */
static void cut_sig(void)
{
    uint32_t untold = 1;
    if (!atomic_compare_exchange_strong(&jp_log.cut, &untold, 2))
        return;
    atomic_store(&jp_log.state, JP_LOG_FAILED);
    jp_counters_use_sig(NULL);
    jp_note_sig(JP_NOTE_LOG_CUT);
    jp_complain_sig("profiling is off, the log was cut short: ", jp_log.path,
                    0);
}

void jp_control_check_sig(void)
{
    if (atomic_load_explicit(&jp_log.cut, memory_order_relaxed) != 0)
        cut_sig();
    if (atomic_load_explicit(&jp_log.state, memory_order_relaxed) ==
            JP_LOG_FAILED &&
        atomic_load(&jp_process.running))
        jp_control_off_sig();
}

/* Becomes the one that carries commands out, after waiting a while for another
 * thread.  Returns whether it has. */
static int take_over_sig(void)
{
    for (unsigned i = 0; i < EXIT_YIELDS; i++) {
        uint32_t idle = 0;
        if (atomic_compare_exchange_strong(&busy, &idle, 1))
            return 1;
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
    }
    return 0;
}

void jp_control_end_time_sig(void)
{
    atomic_store(&ended, 1);
    if (!atomic_load(&jp_process.running))
        return;
    jp_adopt_settle_sig();
    atomic_store(&jp_process.running, 0);
    stop_sig();
}

int jp_control_has_ended_sig(void)
{
    return atomic_load(&ended) != 0;
}

void jp_control_exit_sig(void)
{
    atomic_store(&ended, 1);
    jp_adopt_settle_sig();
    atomic_store(&jp_process.running, 0);
    stop_sig();
    if (atomic_load(&jp_log.state) == JP_LOG_NONE)
        jp_usage_end_sig();
    if (atomic_load(&jp_log.state) == JP_LOG_NONE)
        jp_reserve_end_sig();
    if (atomic_load(&jp_log.state) != JP_LOG_READY || !take_over_sig())
        return;
    jp_usage_end_sig();
    settle_sig(1);
    jp_mapfile_event_sig(JP_MAP_EXIT, -1, 1);
    jp_logfile_end_sig();
    jp_reserve_end_sig();
    atomic_store(&busy, 0);
}

/* Gives each live thread a buffer, as there may be no memory later. */
static void give_buffers_sig(void)
{
    const uint32_t count = jp_threads_used_sig();
    for (uint32_t i = 0; i < count; i++) {
        struct jp_thread *thread = jp_thread_at_sig(i);
        if (atomic_load(&thread->state) >= JP_THREAD_IDLE)
            jp_sampling_ensure_buffer_sig(thread);
    }
    jp_ring_ensure_sig();
}

void jp_control_before_sandbox_sig(void)
{
    if (!atomic_load(&jp_process.running) &&
        atomic_load(&jp_log.state) != JP_LOG_READY)
        return;
    if (jp_logfile_ensure_sig() != 0) {
        jp_control_check_sig();
        return;
    }
    if (!take_over_sig())
        return;
    jp_maps_scan_sig();
    jp_names_all_sig();
    jp_jit_save_sig(0);
    jp_log_sync_sig();
    jp_cfi_copy_all_sig();
    give_buffers_sig();
    jp_reserve_make_sig();
    atomic_store(&busy, 0);
    run_sig();
}

void jp_control_reset_sig(void)
{
    atomic_store(&requests, 0);
    atomic_store(&busy, 0);
}
