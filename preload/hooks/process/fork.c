/* SPDX-License-Identifier: MIT
 *
 * What is done around a fork.
 * Runs in: any thread, not in a handler. */
#include "fork.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "hooks/base/glibc.h"
#include "hooks/base/local.h"
#include "hooks/signals/altstack.h"
#include "hooks/signals/kernel.h"
#include "hooks/signals/turns.h"
#include "handover.h"
#include "sig/adopt.h"
#include "sig/clock/clock.h"
#include "sig/clock/first.h"
#include "sig/clock/process_timer.h"
#include "sig/control.h"
#include "sig/critical.h"
#include "sig/files/inherit.h"
#include "sig/files/usage.h"
#include "sig/handler.h"
#include "sig/jit/jit.h"
#include "sig/log/ring.h"
#include "sig/logfile.h"
#include "sig/os/sys.h"
#include "sig/owned_signals.h"
#include "sig/state/budget.h"
#include "sig/state/gate.h"
#include "sig/state/buffer.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"
#include "sig/unwind/cfi/cfi_module.h"
#include "sig/unwind/cfi/cfi_ready.h"
#include "sig/unwind/shake.h"

/* What the child must know of the thread that forks, whose record is not in the
 * child's memory. */
static __thread struct {
    uint64_t held;   /* signals that jp_fork_before has blocked */
    uint64_t opened; /* what jp_sys_opened_sig returned */
    uint64_t stack_high, stack_floor;
    uint32_t pid;
    uint8_t bounds_known, is_main;
} forking;

/* Blocks the clock's signals, and no others: a signal that the program ignores
 * (SIGCHLD by default) is discarded if it is not blocked; if it were, the
 * kernel would keep it for the process and end a call in another thread. */
static void hold(void)
{
    const uint64_t clock = atomic_load(&jp_owned.unblocked);
    uint64_t before = clock;
    jp_sys_sigmask_sig(SIG_BLOCK, clock, &before);
    forking.held |= clock & ~before;
}

void jp_fork_before(void)
{
    const struct jp_thread *thread;
    if (!jp_process_ready_sig())
        return;
    hold();
    forking.opened = jp_sys_opened_sig();
    forking.pid = jp_owner->pid;
    jp_jit_forking_sig();
    jp_cfi_forking_sig();
    thread = jp_thread_by_tid_sig(jp_sys_gettid_sig());
    forking.stack_high = thread != NULL ? thread->stack.high : 0;
    forking.stack_floor = thread != NULL ? thread->stack.floor : UINT64_MAX;
    forking.bounds_known = thread != NULL && thread->stack.bounds_known;
    forking.is_main = thread != NULL && thread->stack.is_main;
}

/* Unblocks these signals, but for those that have become the program's
 * meanwhile and that it believes blocked. */
void jp_fork_parent(void)
{
    const uint64_t held = forking.held;
    forking.held = 0;
    if (held != 0)
        jp_sys_sigmask_sig(SIG_UNBLOCK,
                           held & ~(jp_local.program_blocked &
                                    ~atomic_load(&jp_owned.unblocked)),
                           NULL);
}

/* Sets the child up: forgets the parent's profile, and begins one of its
 * own. */
static void restart(void)
{
    const uint32_t ended = atomic_load(&jp_process.ended);
    const int running = atomic_exchange(&jp_process.running, 0) != 0 ||
                        ended == JP_ENDED_HERE_RUNNING;
    if (ended != JP_ENDED_FOR_ALL)
        atomic_store(&jp_process.ended, JP_ENDED_NOT);
    jp_inherit_close_sig(forking.opened);
    jp_threads_reset_sig();
    jp_stack_change_reset_sig();
    jp_adopt_reset_sig();
    jp_process_timer_reset_sig();
    jp_budget_reset_sig();
    jp_buffers_reset_sig();
    jp_ring_reset_sig();
    jp_cfi_modules_reset_sig();
    jp_cfi_forked_sig();
    jp_logfile_reset_sig();
    jp_jit_reset_sig();
    jp_control_reset_sig();
    atomic_store(&jp_process.sections, 0);
    jp_process.is_child = 1;
    jp_process.forked_by = forking.pid;
    jp_owner->pid = jp_sys_getpid_sig();
    if (jp_process.clock->forked != NULL)
        jp_process.clock->forked();
    jp_kernel_forked();
    jp_turns_forked();
    jp_local_forked();
    jp_handover_forked();
    struct jp_thread *thread = jp_adopt_self_sig(forking.stack_high);
    if (thread != NULL) {
        thread->stack.floor = forking.stack_floor;
        thread->stack.bounds_known = forking.bounds_known;
        thread->stack.is_main = forking.is_main;
    }
    jp_altstack_forked();
    jp_usage_begin_sig();
    if (running)
        jp_control_sig(JP_CONTROL_START);
    else if (atomic_load(&jp_process.first_pending))
        jp_clock_first_sig();
}

/* jp_owner's memory is wiped in a child.  If it still has a pid, the child was
 * set up already, or the caller is not a child, or the kernel knows no
 * MADV_WIPEONFORK. */
void jp_fork_child(void)
{
    if (jp_owner == NULL)
        return;
    const uint32_t pid = jp_process_ready_sig() ? jp_sys_getpid_sig() : 0;
    if (pid != 0 && pid != jp_owner->pid)
        memset(jp_owner, 0, sizeof(*jp_owner));
    if (jp_process_ready_sig()) {
        jp_fork_parent();
        return;
    }
    const uint64_t clock = atomic_load(&jp_owned.unblocked);
    /* A child has no profile if its thread pointer leads nowhere, or if a
     * filter forbids to ask for its pid. */
    if (jp_gate_sound_sig()) {
        const int error = errno;
        const uint64_t mask = jp_critical_begin_sig();
        forking.held = 0;
        jp_gate_enter_sig();
        if (jp_sys_getpid_sig() != 0)
            restart();
        jp_critical_end_sig(mask);
        errno = error;
    }
    jp_sys_sigmask_sig(SIG_UNBLOCK, clock, NULL);
}

int jp_fork_init(void)
{
    return __register_atfork(jp_fork_before, jp_fork_parent, jp_fork_child,
                             __dso_handle);
}
