/* SPDX-License-Identifier: MIT
 *
 * Which calls several threads wait in for the same thing: a table of the last
 * thread that was found in each.
 * Runs in: handler. */
#include "queues.h"

#include <stdatomic.h>

#include "sig/timers/random.h"

#define PLACES 256U

/* The bits of an entry: a part of the hash, the time in units of 2^TICK ns, the
 * thread's id (22 bits: PID_MAX_LIMIT is 2^22).  0: empty. */
#define TICK 24
#define TIME_BITS 21
#define TID_BITS 22
#define TIME_MASK ((UINT64_C(1) << TIME_BITS) - 1)
#define TID_MASK ((UINT64_C(1) << TID_BITS) - 1)

static _Atomic uint64_t places[PLACES];

int jp_queues_found_sig(uint32_t tid, long number, uint64_t what, uint64_t now)
{
    const uint64_t hash =
        jp_random_hash_sig(what ^ (uint64_t)number << (64 - TICK));
    const uint64_t tag = hash >> (TIME_BITS + TID_BITS);
    const uint64_t time = now >> TICK & TIME_MASK;
    const uint64_t entry =
        tag << (TIME_BITS + TID_BITS) | time << TID_BITS | (tid & TID_MASK);
    const uint64_t last = atomic_exchange(&places[hash % PLACES], entry);
    const uint64_t ago = (time - (last >> TID_BITS)) & TIME_MASK;
    return last >> (TIME_BITS + TID_BITS) == tag &&
           (last & TID_MASK) != (tid & TID_MASK) && ago <= JP_QUEUES_NS >> TICK;
}
