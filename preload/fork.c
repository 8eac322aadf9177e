/* SPDX-License-Identifier: MIT
 *
 * fork.
 * Runs in: any thread, not in a handler. */
#include "fork.h"

#include <pthread.h>
#include <stddef.h>

#include "local.h"
#include "sig/adopt.h"
#include "sig/cfi_module.h"
#include "sig/clock.h"
#include "sig/control.h"
#include "sig/handler.h"
#include "sig/inherit.h"
#include "sig/jit.h"
#include "sig/kit.h"
#include "sig/logfile.h"
#include "sig/process.h"
#include "sig/rtc.h"
#include "sig/slot.h"
#include "sig/sys.h"
#include "signals.h"

/* Of the thread that forks; its slot is not in the child's memory. */
static __thread struct {
    uint64_t mask;
    uint64_t opened;      /* jp_sys_opened_sig */
    uint64_t stack_high;
    uint8_t rooted, is_main;
} forking;

void jp_fork_before(void)
{
    const struct jp_slot *slot;
    if (!jp_owned_sig())
        return;
    forking.mask = jp_sys_block_sig();
    forking.opened = jp_sys_opened_sig();
    jp_jit_forking_sig();
    slot = jp_slot_by_tid_sig(jp_sys_gettid_sig());
    forking.stack_high = slot != NULL ? slot->stack_high : 0;
    forking.rooted = slot != NULL && slot->rooted;
    forking.is_main = slot != NULL && slot->is_main;
}

void jp_fork_parent(void)
{
    if (jp_owned_sig())
        jp_sys_unblock_sig(forking.mask);
}

static void restart(void)
{
    const int running = atomic_exchange(&jp_process.running, 0) != 0;
    jp_inherit_close_sig(forking.opened);
    jp_slots_reset_sig();
    jp_adopt_reset_sig();
    jp_kits_reset_sig();
    jp_cfi_modules_reset_sig();
    jp_logfile_reset_sig();
    jp_jit_reset_sig();
    jp_control_reset_sig();
    atomic_store(&jp_process.sections, 0);
    jp_process.is_child = 1;
    jp_owner->pid = jp_sys_getpid_sig();
    if (jp_process.clock == JP_CLOCK_RTC) {
        jp_rtc_close_sig();
        jp_rtc_open_sig();
    }
    jp_signals_forked();
    jp_local_forked();
    struct jp_slot *slot = jp_adopt_self_sig(forking.stack_high);
    if (slot != NULL) {
        slot->rooted = forking.rooted;
        slot->is_main = forking.is_main;
    }
    if (running)
        jp_control_sig(JP_CONTROL_START);
    else if (atomic_load(&jp_process.first_pending))
        jp_clock_first_sig();
}

void jp_fork_child(void)
{
    if (jp_owner == NULL)
        return;
    /* Where a filter keeps us from knowing who we are, there is no profile. */
    if (jp_sys_getpid_sig() != 0)
        restart();
    jp_sys_unblock_sig(forking.mask);
}

int jp_fork_init(void)
{
    return pthread_atfork(jp_fork_before, jp_fork_parent, jp_fork_child);
}
