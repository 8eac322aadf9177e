/* SPDX-License-Identifier: MIT
 *
 * Running the program's own signal handlers.
 * Runs in: the program's handlers. */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "altstack.h"
#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "hooks/base/retry.h"
#include "sig/arch/arch.h"
#include "sig/critical.h"
#include "sig/handler.h"
#include "sig/os/sys.h"
#include "sig/owned_signals.h"
#include "sig/state/gate.h"
#include "sig/state/process.h"
#include "turns.h"

struct jp_program jp_programs[65];

/* The kernel enters jp_program_enter where memory may have protection keys.  A
 * handler of the program's may run on a stack with a key, too, and begin with
 * instructions that open it; so jprof's part is to need no rights there either,
 * and the handler is to begin with those that the kernel gave (`rights`). */
__asm__(JP_ARCH_KEYS_ENTER(".text", "jp_program_enter", "jp_program_keyed")
            JP_ARCH_KEYS_LEAVE("jp_program_leave"));
JP_HIDDEN jp_entry_function jp_program_enter;
JP_HIDDEN void jp_program_leave(int signal, siginfo_t *info, void *context,
                                uint32_t rights, jp_entry_function *function);
JP_HIDDEN void jp_program_keyed(int signal, siginfo_t *info, void *context,
                                uint32_t rights);

static long send(int signal, const siginfo_t *info, int to_thread)
{
    const uint32_t pid = jp_sys_getpid_sig();
    if (to_thread)
        return jp_sys_sig(SYS_rt_tgsigqueueinfo, pid, jp_sys_gettid_sig(),
                          signal, (long)info, 0);
    return jp_sys_sig(SYS_rt_sigqueueinfo, pid, signal, (long)info, 0, 0);
}

/* Sends a signal again as it came: to the thread if it was sent to the thread,
 * else to the process.  Where the kernel does not take the siginfo, sends it as
 * kill does: it may have no room (RLIMIT_SIGPENDING), and lets only the first
 * thread queue one to the process whose code is the kernel's or kill's (EPERM:
 * do_rt_sigqueueinfo in Linux kernel/signal.c compares thread ids). */
static void again(int signal, const siginfo_t *info)
{
    const uint32_t pid = jp_sys_getpid_sig();
    const int to_thread = info->si_code == SI_TKILL;
    if (send(signal, info, to_thread) == 0)
        return;
    if (to_thread)
        jp_sys_sig(SYS_tgkill, pid, jp_sys_gettid_sig(), signal, 0, 0);
    else
        jp_sys_sig(SYS_kill, pid, signal, 0, 0, 0);
}

/* (Not in valgrind: see put_off.) */
void jp_program_defer(int signal, siginfo_t *info, ucontext_t *context)
{
    const uint64_t bit = JP_SIGSET(signal);
    jp_sys_sigmask_sig(SIG_BLOCK, bit, NULL);
    jp_local_to_sigset(&context->uc_sigmask,
                       jp_local_bits(&context->uc_sigmask) | bit);
    struct jp_thread *thread = jp_local.thread;
    if (thread != NULL)
        thread->hooks.runs++;
    again(signal, info);
}

/* Whether the signal interrupted jprof's handler or a critical section. */
static int is_inside(const ucontext_t *context)
{
    uint64_t mask;
    return (jp_critical_depth != 0 ||
            jp_handler_is_at_sig(jp_arch_pc_sig(context))) &&
           jp_critical_masked_sig(&mask);
}

/* Puts a signal off: blocks it and sends it again to this thread, where it
 * comes once jprof's work is done.  Returns 0 when the kernel has no room to
 * keep it, and in valgrind, where the thread would go on without that mask: the
 * signal would come again before its next instruction, for ever.  (There a
 * signal comes here only just after its handler was set: see may_come in
 * signals.c.) */
static int put_off(int signal, siginfo_t *info, ucontext_t *context)
{
    const uint64_t bit = JP_SIGSET(signal);
    if (jp_process.in_valgrind)
        return 0;
    jp_sys_sigmask_sig(SIG_BLOCK, bit, NULL);
    if ((jp_programs[signal].asked.sa_flags & SA_NODEFER) == 0)
        jp_turns_put_off(signal, info);
    if (jp_sys_sig(SYS_rt_tgsigqueueinfo, jp_sys_getpid_sig(),
                   jp_sys_gettid_sig(), signal, (long)info, 0) != 0)
        return 0;
    jp_local_to_sigset(&context->uc_sigmask,
                       jp_local_bits(&context->uc_sigmask) | bit);
    return 1;
}

/* Carries out SIG_DFL for a signal for which jp_program_handler stayed
 * installed, for late signals of jprof's: has the kernel do it. */
static void by_default(int signal, siginfo_t *info)
{
    static const uint64_t action[4]; /* SIG_DFL: rt_sigaction(2) */
    jp_sys_sigmask_sig(SIG_BLOCK, JP_SIGSET(signal), NULL);
    jp_sys_sig(SYS_rt_sigaction, signal, (long)action, 0, sizeof(uint64_t), 0);
    again(signal, info);
}

/* Runs a handler of the program's, with or without siginfo, and with the rights
 * for keys that it would begin with.  (The kernel passes on all three arguments
 * in any case.) */
static void run(uint64_t handler, int signal, siginfo_t *info, void *context,
                uint32_t rights)
{
    jp_entry_function *function;
    const uint64_t address = handler & JP_PROGRAM_ADDRESS;
    memcpy(&function, &address, sizeof(function));
    if (jp_process.has_keys)
        jp_program_leave(signal, info, context, rights, function);
    else if ((handler & JP_PROGRAM_SIGINFO) != 0)
        function(signal, info, context);
    else
        ((void (*)(int))(void *)function)(signal);
}

/* Whether a signal that the kernel sent for a reason (si_code) is of a
 * descriptor that one thread owns (F_SETSIG, fcntl(2)). */
static int is_of_threads_file(int signal, const siginfo_t *info)
{
    struct f_owner_ex owner = {F_OWNER_PID, 0};
    return signal != SIGCHLD &&
           jp_sys_sig(SYS_fcntl, info->si_fd, F_GETOWN_EX, (long)&owner, 0,
                      0) == 0 &&
           owner.type == F_OWNER_TID;
}

/* Whether a signal was sent to the process, and so may have woken another
 * thread first.  Taken for one to this thread: a timer's, and so an interval
 * timer's of CPU time, which the kernel gives to the thread that it finds
 * running; that of a closed pipe and of a file's limit; what the process queued
 * to itself, as pthread_sigqueue does, too. */
static int is_to_process(int signal, const siginfo_t *info)
{
    if (signal == SIGPIPE || signal == SIGXFSZ)
        return 0;
    if (info->si_code == SI_QUEUE)
        return (uint32_t)info->si_pid != jp_owner->pid;
    if (info->si_code == SI_KERNEL)
        return signal != SIGVTALRM && signal != SIGPROF;
    return info->si_code == SI_USER ||
           (info->si_code > 0 && !is_of_threads_file(signal, info));
}

/* Called after a handler of the program's has run for a signal to the process:
 * the kernel may have woken the first thread for it, which it prefers, and
 * then goes on with that thread's call by itself.  Has that call end, if it is
 * one that any handler ends, or that this handler does, without SA_RESTART. */
static void tell_first(int signal)
{
    const uint32_t pid = jp_owner->pid, tid = jp_sys_gettid_sig();
    siginfo_t info = {.si_code = SI_QUEUE};
    atomic_fetch_add(&jp_process.handled, 1);
    if (tid == 0 || tid == pid || atomic_load(&jp_process.running) == 0 ||
        jp_local_is_vfork_child())
        return;
    struct jp_thread *first = jp_thread_by_tid_sig(pid);
    if (first == NULL)
        return;
    if ((jp_programs[signal].asked.sa_flags & SA_RESTART) == 0)
        atomic_fetch_or(&first->hooks.cut, JP_SIGSET(signal));
    atomic_fetch_or(&first->hooks.taken, JP_SIGSET(signal));
    info.si_signo = jp_process.signal;
    info.si_value.sival_int = JP_HANDLER_NOTED;
    jp_sys_sig(SYS_rt_tgsigqueueinfo, pid, pid, jp_process.signal, (long)&info,
               0);
}

/* Runs a handler and counts it.  The kernel adds the handler's mask to the
 * thread's mask and removes it afterwards, past the hooks; the signals that the
 * program believes blocked are changed here in the same way. */
static void call(uint64_t handler, int signal, siginfo_t *info, void *context,
                 uint32_t rights)
{
    const uint64_t before = jp_local.program_blocked;
    const struct sigaction *asked = &jp_programs[signal].asked;
    jp_local.program_blocked |= jp_local_program_blocked(
        jp_local_bits(&asked->sa_mask) |
        ((asked->sa_flags & SA_NODEFER) != 0 ? 0 : JP_SIGSET(signal)));
    jp_local.theirs++;
    const int to_process = is_to_process(signal, info);
    const uint64_t entered = jp_retry_out();
    run(handler, signal, info, context, rights);
    jp_retry_back(entered);
    jp_local.program_blocked = before;
    if (to_process)
        tell_first(signal);
}

void jp_program_keyed(int signal, siginfo_t *info, void *context,
                      uint32_t rights)
{
    const uint64_t bit = JP_SIGSET(signal);
    /* A thread of another process (a vfork child's) just gets the handler. */
    const int known = jp_process_ready_sig() && jp_gate_ask_sig();
    if (known && is_inside(context) && put_off(signal, info, context))
        return;
    if (known)
        jp_turns_next(signal, info);
    if (known && (atomic_load(&jp_owned.ever) & bit) != 0) {
        if (jp_owned_has_value_sig(info)) {
            uint64_t mask = jp_critical_begin_sig();
            jp_handler_sig(signal, info, context);
            jp_critical_end_sig(mask);
            return;
        }
        if ((jp_local.program_blocked & ~atomic_load(&jp_owned.unblocked) &
             bit) != 0 &&
            !jp_process.in_valgrind) {
            jp_program_defer(signal, info, context);
            return;
        }
    }
    uint64_t handler = atomic_load(&jp_programs[signal].handler);
    if ((handler & JP_PROGRAM_ONCE) != 0)
        atomic_store(&jp_programs[signal].handler, (uint64_t)SIG_DFL);
    if (handler == (uint64_t)SIG_DFL)
        by_default(signal, info);
    if (handler == (uint64_t)SIG_DFL || handler == (uint64_t)SIG_IGN)
        return;
    if (!known) {
        run(handler, signal, info, context, rights);
        return;
    }
    if ((jp_programs[signal].asked.sa_flags & SA_RESTART) == 0)
        jp_retry_force_eintr(context);
    jp_altstack_show(context);
    call(handler, signal, info, context, rights);
}

void jp_program_handler(int signal, siginfo_t *info, void *context)
{
    jp_program_keyed(signal, info, context, 0);
}

jp_entry_function *jp_program_entry(void)
{
    return jp_process.has_keys ? jp_program_enter : jp_program_handler;
}
