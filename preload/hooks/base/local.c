/* SPDX-License-Identifier: MIT
 *
 * What the hooks remember for each thread.
 * Runs in: any thread, the program's handlers. */
#include "local.h"

#include <stddef.h>
#include <string.h>

#include "sig/adopt.h"
#include "sig/clock/clock.h"
#include "sig/critical.h"
#include "sig/os/sys.h"
#include "sig/owned_signals.h"
#include "sig/state/process.h"

__thread struct jp_local jp_local;

static void keep(struct jp_thread *thread)
{
    jp_local.thread = thread;
    jp_local.generation = thread != NULL ? thread->generation : 0;
}

static struct jp_thread *find(void)
{
    const uint32_t tid = jp_sys_gettid_sig();
    /* tid is 0 where a filter of the program's forbids to ask for it. */
    if (tid == 0 || jp_local_is_vfork_child())
        return NULL;
    struct jp_thread *thread = jp_thread_by_tid_sig(tid);
    if (thread != NULL)
        return thread;
    uint64_t mask = jp_critical_begin_sig();
    thread = jp_adopt_self_sig(0);
    if (thread != NULL && atomic_load(&jp_process.running))
        jp_clock_arm_sig(thread);
    jp_critical_end_sig(mask);
    return thread;
}

struct jp_thread *jp_local_known_thread(void)
{
    struct jp_thread *thread = jp_local.thread;
    return thread != NULL && thread->generation == jp_local.generation ? thread
                                                                       : NULL;
}

struct jp_thread *jp_local_thread(void)
{
    struct jp_thread *thread = jp_local_known_thread();
    if (thread == NULL) {
        thread = find();
        keep(thread);
    }
    return thread;
}

void jp_local_begin(struct jp_thread *thread)
{
    const uint64_t clock = atomic_load(&jp_owned.unblocked);
    uint64_t before = 0;
    keep(thread);
    jp_sys_sigmask_sig(SIG_UNBLOCK, clock, &before);
    jp_local.program_blocked = before & clock;
    jp_local.named = jp_local_is_choice(before) ? clock : 0;
    if (thread != NULL)
        jp_local.program_blocked |=
            thread->hooks.program_blocked; /* also of signals given up since */
}

void jp_local_exec(int how)
{
    uint64_t set = jp_local.program_blocked;
    if (how == SIG_UNBLOCK)
        set &= atomic_load(&jp_owned.unblocked);
    if (set != 0)
        jp_sys_sigmask_sig(how, set, NULL);
}

void jp_local_begin_vfork_child(void)
{
    const uint32_t pid = jp_sys_getpid_sig();
    if (pid == 0 || pid == jp_local.vfork_child)
        return;
    jp_local.vfork_child = pid;
    jp_local_exec(SIG_BLOCK);
}

void jp_local_forked(void)
{
    jp_local.thread = NULL;
}

int jp_local_is_vfork_child(void)
{
    return jp_sys_getpid_sig() != jp_owner->pid;
}

uint64_t jp_local_bits(const sigset_t *set)
{
    uint64_t bits;
    memcpy(&bits, set, sizeof(bits));
    return bits;
}

void jp_local_to_sigset(sigset_t *set, uint64_t bits)
{
    memcpy(set, &bits, sizeof(bits));
}

int jp_local_is_choice(uint64_t set)
{
    return __builtin_popcountll(set) <= JP_LOCAL_CHOICE;
}

uint64_t jp_local_program_blocked(uint64_t mask)
{
    const uint64_t clock = atomic_load(&jp_owned.unblocked);
    return jp_local_is_choice(mask) ? mask & clock : clock;
}

sigset_t jp_local_without_clock(const sigset_t *mask)
{
    sigset_t kernel = *mask;
    jp_local_to_sigset(&kernel,
                       jp_local_bits(mask) & ~atomic_load(&jp_owned.unblocked));
    return kernel;
}
