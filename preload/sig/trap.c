/* SPDX-License-Identifier: MIT
 *
 * Surviving faults of jprof's own.
 * Runs in: handler, any thread. */
#include "trap.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "sig/arch/arch.h"
#include "sig/log/log.h"
#include "sig/os/sys.h"
#include "sig/state/gate.h"
#include "sig/state/buffer.h"
#include "sig/state/own_code.h"
#include "sig/state/process.h"

_Atomic uint64_t jp_trapped;
_Thread_local struct jp_trap *volatile jp_trap_here;

_Static_assert(JP_ARCH_TRAP_REGISTERS * sizeof(uint64_t) <=
                   sizeof(struct jp_trap),
               "a trap has room for them");

/* The code of jp_trap_walk_sig, and the place in it where the thread goes on
 * after a fault. */
__asm__(JP_ARCH_TRAP);
extern const char jp_trap_land[] __attribute__((visibility("hidden")));

/* The trapped signals that the calling thread's mask blocks, but that
 * jp_trap_open_sig has unblocked for now. */
static _Thread_local volatile uint64_t held;

void jp_trap_open_sig(uint64_t blocked)
{
    blocked &= atomic_load_explicit(&jp_trapped, memory_order_relaxed);
    if (blocked == 0)
        return;
    held |= blocked;
    jp_sys_sigmask_sig(SIG_UNBLOCK, blocked, NULL);
}

void jp_trap_close_sig(void)
{
    held = 0;
}

static int set_default_sig(int signal)
{
    static const uint64_t by_default[4]; /* SIG_DFL: rt_sigaction(2) */
    return (int)jp_sys_sig(SYS_rt_sigaction, signal, (long)by_default, 0,
                           sizeof(uint64_t), 0);
}

/* Has the thread return from the handler with the signal blocked.  If the fault
 * comes again, the kernel then ends the program as by default (force_sig in
 * Linux kernel/signal.c).  In valgrind it would not be blocked, and would come
 * for ever: only the default action ends it there. */
static void block_sig(int signal, ucontext_t *context)
{
    const uint64_t bit = JP_SIGSET(signal);
    uint64_t mask;
    if (jp_process.in_valgrind)
        set_default_sig(signal);
    memcpy(&mask, &context->uc_sigmask, sizeof(mask));
    mask |= bit;
    memcpy(&context->uc_sigmask, &mask, sizeof(mask));
}

/* Whether the thread is one of this process, whose memory may be used. */
static int is_known_sig(void)
{
    return jp_process_ready_sig() && jp_gate_ask_sig();
}

/* Handles a signal that somebody sent, rather than a fault: sets its default
 * action and sends it again, or leaves it pending where it was blocked. */
static void sent_sig(int signal, siginfo_t *info, ucontext_t *context)
{
    const uint32_t pid = jp_sys_getpid_sig();
    if ((is_known_sig() && (held & JP_SIGSET(signal)) != 0) ||
        set_default_sig(signal) != 0)
        block_sig(signal, context);
    if (info->si_code == SI_TKILL)
        jp_sys_sig(SYS_rt_tgsigqueueinfo, pid, jp_sys_gettid_sig(), signal,
                   (long)info, 0);
    else
        jp_sys_sig(SYS_rt_sigqueueinfo, pid, signal, (long)info, 0, 0);
}

/* Handles a fault of jprof's code, so that the thread can go on.  Returns 0
 * when the fault is another's. */
static int survived_sig(int signal, const siginfo_t *info, ucontext_t *context)
{
    const uint64_t pc = jp_arch_pc_sig(context);
    if (!jp_own_code_has_sig(pc))
        return 0;
    /* (Also in a forked child that is not set up yet.) */
    if (signal == SIGBUS && jp_log_patch_sig((uint64_t)info->si_addr))
        return 1;
    if (!is_known_sig())
        return 0;
    struct jp_trap *trap = jp_trap_here;
    if (trap == NULL)
        return 0;
    jp_arch_land_sig(context, (uint64_t)jp_trap_land, trap->registers);
    return 1;
}

void jp_trap_sig(int signal, siginfo_t *info, void *context)
{
    /* BUS_MCEERR_AO: the kernel reports a memory error in a page that this
     * thread did not touch. */
    const int is_notice = signal == SIGBUS && info->si_code == BUS_MCEERR_AO;
    if (info->si_code <= 0 || is_notice)
        sent_sig(signal, info, context);
    else if (!survived_sig(signal, info, context))
        block_sig(signal, context);
}
