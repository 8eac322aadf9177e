/* SPDX-License-Identifier: MIT
 *
 * Starting, pausing, clearing and saving.
 * Runs in: handler, any thread. */
#include "control.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "clock.h"
#include "jit.h"
#include "jp_map.h"
#include "kit.h"
#include "log.h"
#include "logfile.h"
#include "mapfile.h"
#include "maps.h"
#include "names.h"
#include "process.h"
#include "slot.h"
#include "sys.h"
#include "text.h"

#define EXIT_YIELDS 10000U

static _Atomic uint32_t requests; /* bit 1 << command */
static _Atomic uint32_t busy;

/* Of the one who is busy. */
static char entries[2048];

/* struct linux_dirent64, getdents64(2). */
struct entry {
    uint64_t inode, offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

/* A thread that began without our hook. */
static void adopt_sig(uint32_t tid)
{
    if (tid == 0 || jp_slot_by_tid_sig(tid) != NULL)
        return;
    struct jp_slot *slot = jp_slot_new_sig();
    if (slot == NULL) {
        jp_count_sig(JP_COUNT_NO_TIMER, 1);
        return;
    }
    slot->adopted = 1;
    jp_slot_begin_sig(slot, tid);
}

static void adopt_all_sig(void)
{
    int fd = jp_sys_open_sig("/proc/self/task", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return;
    for (;;) {
        long got = jp_sys_sig(SYS_getdents64, fd, (long)entries,
                              sizeof(entries), 0, 0);
        if (got <= 0)
            break;
        for (long at = 0; at < got;) {
            const struct entry *entry = (const struct entry *)(entries + at);
            const char *digits = entry->name;
            adopt_sig((uint32_t)jp_text_number_sig(&digits, entries + got,
                                                   10));
            at += entry->length;
        }
    }
    jp_sys_close_sig(fd);
}

/* Threads that we did not see begin, we do not see end either. */
static void drop_dead_sig(void)
{
    uint32_t count = jp_slots_count_sig();
    for (uint32_t i = 0; i < count; i++) {
        struct jp_slot *slot = jp_slot_at_sig(i);
        if (slot->adopted && atomic_load(&slot->state) == JP_SLOT_IDLE &&
            jp_sys_sig(SYS_tgkill, jp_owner->pid, slot->tid, 0, 0, 0) ==
                -ESRCH) {
            if (slot->kit != NULL)
                jp_kit_return_sig(slot->kit);
            jp_slot_free_sig(slot);
        }
    }
}

static void start_sig(void)
{
    if (atomic_load(&jp_process.running))
        return;
    atomic_store(&jp_process.first_pending, 0);
    uint32_t section = atomic_fetch_add(&jp_process.sections, 1);
    if (section == 0) {
        jp_process.first_section_ns = jp_sys_clock_sig(CLOCK_MONOTONIC);
        jp_process.first_section_cpu_ns =
            jp_sys_clock_sig(CLOCK_PROCESS_CPUTIME_ID);
    } else if (jp_logfile_ready_sig() == 0) {
        jp_mapfile_event_sig(JP_MAP_SECTION, section, 1);
    } else {
        return;
    }
    atomic_store(&jp_process.running, 1);
    drop_dead_sig();
    adopt_all_sig();
    jp_clock_all_sig(1);
}

/* What a reader needs to understand the samples so far. */
static void settle_sig(int at_exit)
{
    jp_log_ring_keep_sig();
    jp_maps_scan_sig();
    jp_names_all_sig();
    jp_jit_save_sig(at_exit);
    jp_log_sync_sig();
}

static void pause_sig(void)
{
    if (!atomic_load(&jp_process.running))
        return;
    atomic_store(&jp_process.running, 0);
    jp_clock_all_sig(0);
    if (jp_logfile_ready_sig() != 0)
        return;
    settle_sig(0);
    jp_mapfile_event_sig(JP_MAP_PAUSE, -1, 1);
}

static void clear_sig(void)
{
    if (jp_config.ring_bytes == 0 ||
        atomic_load(&jp_log.state) != JP_LOG_READY)
        return;
    __atomic_store_n(&jp_log.header->cleared_ns,
                     jp_sys_clock_sig(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
    jp_log_sync_sig();
    jp_mapfile_event_sig(JP_MAP_CLEAR, -1, 0);
}

static void save_sig(void)
{
    if (atomic_load(&jp_process.sections) == 0 || jp_logfile_ready_sig() != 0)
        return;
    settle_sig(0);
    jp_mapfile_event_sig(JP_MAP_SAVE, -1, 0);
}

static void run_sig(void)
{
    static void (*const commands[])(void) = {
        [JP_CONTROL_START] = start_sig,
        [JP_CONTROL_PAUSE] = pause_sig,
        [JP_CONTROL_CLEAR] = clear_sig,
        [JP_CONTROL_SAVE] = save_sig,
    };
    const unsigned count = sizeof(commands) / sizeof(commands[0]);
    while (atomic_load(&requests) != 0) {
        uint32_t idle = 0;
        if (!atomic_compare_exchange_strong(&busy, &idle, 1))
            return;
        uint32_t todo = atomic_exchange(&requests, 0);
        for (unsigned i = 0; i < count; i++) {
            if ((todo & 1U << i) != 0 && commands[i] != NULL)
                commands[i]();
        }
        atomic_store(&busy, 0);
    }
}

void jp_control_sig(enum jp_control command)
{
    atomic_fetch_or(&requests, 1U << command);
    run_sig();
}

void jp_control_off_sig(void)
{
    atomic_store(&jp_process.running, 0);
    jp_clock_all_sig(0);
}

/* Waits a while for a command that another thread carries out. */
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

void jp_control_exit_sig(void)
{
    atomic_store(&jp_process.running, 0);
    jp_clock_all_sig(0);
    if (atomic_load(&jp_log.state) != JP_LOG_READY || !take_over_sig())
        return;
    settle_sig(1);
    jp_mapfile_event_sig(JP_MAP_EXIT, -1, 1);
    atomic_store(&busy, 0);
}

void jp_control_reset_sig(void)
{
    atomic_store(&requests, 0);
    atomic_store(&busy, 0);
}
