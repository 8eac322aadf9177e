/* SPDX-License-Identifier: MIT
 *
 * Faults of jprof's own.
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

/* The code of jp_trap_walk_sig, and where a fault goes on. */
__asm__(JP_ARCH_TRAP);
extern const char jp_trap_land[] __attribute__((visibility("hidden")));

/* Of the signals trapped, those that the calling thread has blocked but for
 * what jprof is about. */
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

/* The thread has the signal blocked from here on.  A fault that comes again is
 * then its end, as by default (force_sig in Linux kernel/signal.c). */
static void block_sig(ucontext_t *context, uint64_t bit)
{
    uint64_t mask;
    memcpy(&mask, &context->uc_sigmask, sizeof(mask));
    mask |= bit;
    memcpy(&context->uc_sigmask, &mask, sizeof(mask));
}

/* Whether the thread is one of this process's, with memory of its own. */
static int is_known_sig(void)
{
    return jp_process_ready_sig() && jp_gate_ask_sig();
}

/* Somebody has sent it: it does what it does by default, or waits. */
static void sent_sig(int signal, siginfo_t *info, ucontext_t *context)
{
    static const uint64_t by_default[4]; /* SIG_DFL: rt_sigaction(2) */
    const uint64_t bit = JP_SIGSET(signal);
    const uint32_t pid = jp_sys_getpid_sig();
    if ((is_known_sig() && (held & bit) != 0) ||
        jp_sys_sig(SYS_rt_sigaction, signal, (long)by_default, 0, sizeof(bit),
                   0) != 0)
        block_sig(context, bit);
    if (info->si_code == SI_TKILL)
        jp_sys_sig(SYS_rt_tgsigqueueinfo, pid, jp_sys_gettid_sig(), signal,
                   (long)info, 0);
    else
        jp_sys_sig(SYS_rt_sigqueueinfo, pid, signal, (long)info, 0, 0);
}

/* Whether it was a fault of jprof's, and the thread can go on. */
static int survived_sig(int signal, const siginfo_t *info, ucontext_t *context)
{
    const uint64_t pc = jp_arch_pc_sig(context);
    if (!jp_own_code_has_sig(pc) || !is_known_sig())
        return 0;
    if (signal == SIGBUS && jp_log_patch_sig((uint64_t)info->si_addr))
        return 1;
    struct jp_trap *trap = jp_trap_here;
    if (trap == NULL)
        return 0;
    jp_arch_land_sig(context, (uint64_t)jp_trap_land, trap->registers);
    return 1;
}

void jp_trap_sig(int signal, siginfo_t *info, void *context)
{
    /* Memory is broken, though nobody has read it just now. */
    const int is_notice = signal == SIGBUS && info->si_code == BUS_MCEERR_AO;
    if (info->si_code <= 0 || is_notice)
        sent_sig(signal, info, context);
    else if (!survived_sig(signal, info, context))
        block_sig(context, JP_SIGSET(signal));
}
