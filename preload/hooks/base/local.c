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
#include "sig/own.h"
#include "sig/state/process.h"

__thread struct jp_local jp_local;

static void keep(struct jp_slot *slot)
{
    jp_local.slot = slot;
    jp_local.generation = slot != NULL ? slot->generation : 0;
}

static struct jp_slot *find(void)
{
    const uint32_t tid = jp_sys_gettid_sig();
    if (tid == 0 || jp_local_is_vfork_child())
        return NULL; /* a filter keeps us from knowing; a vfork child */
    struct jp_slot *slot = jp_slot_by_tid_sig(tid);
    if (slot != NULL)
        return slot;
    uint64_t mask = jp_critical_begin_sig();
    slot = jp_adopt_self_sig(0);
    if (slot != NULL && atomic_load(&jp_process.running))
        jp_clock_arm_sig(slot);
    jp_critical_end_sig(mask);
    return slot;
}

struct jp_slot *jp_local_slot(void)
{
    struct jp_slot *slot = jp_local.slot;
    if (slot == NULL || slot->generation != jp_local.generation) {
        slot = find();
        keep(slot);
    }
    return slot;
}

void jp_local_begin(struct jp_slot *slot)
{
    const uint64_t clock = atomic_load(&jp_own.unblocked);
    uint64_t before = 0;
    keep(slot);
    jp_sys_sigmask_sig(SIG_UNBLOCK, clock, &before);
    jp_local.view = before & clock;
    if (slot != NULL)
        jp_local.view |=
            slot->hooks.program_blocked; /* also what is the program's by now */
}

void jp_local_exec(int how)
{
    uint64_t set = jp_local.view;
    if (how == SIG_UNBLOCK)
        set &= atomic_load(&jp_own.unblocked);
    if (set != 0)
        jp_sys_sigmask_sig(how, set, NULL);
}

void jp_local_begin_vfork_child(void)
{
    const uint32_t pid = jp_sys_getpid_sig();
    if (pid == 0 || pid == jp_local.lent)
        return;
    jp_local.lent = pid;
    jp_local_exec(SIG_BLOCK);
}

void jp_local_forked(void)
{
    jp_local.slot = NULL;
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

uint64_t jp_local_program_blocked(uint64_t mask)
{
    const uint64_t clock = atomic_load(&jp_own.unblocked);
    return __builtin_popcountll(mask) > JP_LOCAL_CHOICE ? clock : mask & clock;
}

sigset_t jp_local_without_clock(const sigset_t *mask)
{
    sigset_t kernel = *mask;
    jp_local_to_sigset(&kernel,
                       jp_local_bits(mask) & ~atomic_load(&jp_own.unblocked));
    return kernel;
}
