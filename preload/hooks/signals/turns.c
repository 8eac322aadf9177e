/* SPDX-License-Identifier: MIT
 *
 * The order of real-time signals that are put off.  A signal is blocked while
 * the functions here work for it, so that each slot has one user at a time.
 * Runs in: the program's handlers. */
#include "turns.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "hooks/base/local.h"
#include "sig/os/sys.h"

#define FIRST_REAL_TIME                                                        \
    32 /* signal(7): the kernel queues signals from here on */

/* What the kernel keeps of a siginfo_t (include/linux/signal_types.h, struct
 * kernel_siginfo). */
#define INFO_BYTES 48U

/* In si_errno, which is 0 in all queued signals (sigaction(2)): the signal was
 * sent again. */
#define AGAIN 0x6a700e0e

/* So many signals of one number wait in a thread, for so many numbers and
 * threads at a time.  (Of 8,000 that wait while the clock runs at 10 kHz, some
 * 100 are put off before the first of them comes again.) */
#define MOST 512U
#define SLOTS 32U

/* What signals of one number carry, oldest first, from `first` on round and
 * round: as many as were sent again to the thread `tid` and have not come.  Not
 * thread-local: that would be taken from each thread's stack. */
static struct slot {
    uint32_t first, count, tid;
    unsigned char infos[MOST][INFO_BYTES];
} slots[SLOTS];

/* Whose a slot is: see key; 0: free. */
static _Atomic uint64_t owners[SLOTS];

/* Names a number of the calling thread's. */
static uint64_t key(int signal)
{
    return (uint64_t)&jp_local << 7 | (uint64_t)signal;
}

static void forget(struct slot *slot)
{
    slot->first = slot->count = 0;
    atomic_store(&owners[slot - slots], 0);
}

/* (What waited in a thread ends with it; its thread-local memory may then be
 * another thread's.) */
static struct slot *find(int signal)
{
    const uint64_t wanted = key(signal);
    for (unsigned i = 0; i < SLOTS; i++) {
        if (atomic_load_explicit(&owners[i], memory_order_relaxed) != wanted)
            continue;
        if (slots[i].tid == jp_sys_gettid_sig())
            return &slots[i];
        forget(&slots[i]);
        return NULL;
    }
    return NULL;
}

static struct slot *find_or_take(int signal)
{
    struct slot *slot = find(signal);
    for (unsigned i = 0; slot == NULL && i < SLOTS; i++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(&owners[i], &none, key(signal))) {
            slot = &slots[i];
            slot->tid = jp_sys_gettid_sig();
        }
    }
    return slot;
}

static void append(struct slot *slot, const unsigned char *info)
{
    memcpy(slot->infos[(slot->first + slot->count++) % MOST], info, INFO_BYTES);
}

static int is_pending(int signal)
{
    uint64_t set = 0;
    jp_sys_sig(SYS_rt_sigpending, (long)&set, sizeof(set), 0, 0, 0);
    return (set & JP_SIGSET(signal)) != 0;
}

void jp_turns_put_off(int signal, siginfo_t *info)
{
    if (signal < FIRST_REAL_TIME || info->si_errno != 0)
        return;
    struct slot *slot = find_or_take(signal);
    if (slot == NULL || slot->count == MOST)
        return;
    append(slot, (const unsigned char *)info);
    info->si_errno = AGAIN;
}

void jp_turns_next(int signal, siginfo_t *info)
{
    unsigned char next[INFO_BYTES];
    if (signal < FIRST_REAL_TIME)
        return;
    const int was_again = info->si_errno == AGAIN;
    if (was_again)
        info->si_errno = 0;
    struct slot *slot = find(signal);
    if (slot == NULL)
        return;
    /* The program may have thrown away what waited, by ignoring it. */
    if (!was_again && !is_pending(signal)) {
        forget(slot);
        return;
    }
    memcpy(next, slot->infos[slot->first], INFO_BYTES);
    slot->first = (slot->first + 1) % MOST;
    slot->count--;
    if (!was_again)
        append(slot, (const unsigned char *)info);
    memcpy(info, next, INFO_BYTES);
    if (slot->count == 0)
        forget(slot);
}

void jp_turns_forked(void)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        if (atomic_load(&owners[i]) != 0)
            forget(&slots[i]);
    }
}
