/* SPDX-License-Identifier: MIT
 *
 * When JIT files and code are looked at, and by whom.
 * Runs in: handler, any thread. */
#include "jit.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "jit_code.h"
#include "jit_dump.h"
#include "jit_map.h"
#include "sig/code/maps.h"
#include "sig/files/mapfile.h"
#include "sig/os/sys.h"
#include "sig/state/buffer.h"

#define GROWTH_NS 500000ULL      /* between looks at the perf map, */
#define ABSENT_NS 10000000ULL    /* and while there is none */
#define INTERVAL_NS 100000000ULL /* between looks at everything */
#define FIRST_LOOKS 20U /* one each interval, when JIT code is first seen */
#define YIELDS 1000U

static _Atomic uint64_t next_growth_ns, next_check_ns;
static _Atomic uint32_t first_looks;

/* One at a time has the files in hand. */
static _Atomic uint32_t busy;

static int lock_sig(void)
{
    uint32_t idle = 0;
    return atomic_compare_exchange_strong(&busy, &idle, 1);
}

static void unlock_sig(void)
{
    atomic_store(&busy, 0);
}

/* Whether the stack has code without a file in it.  The innermost such frame
 * is where the time goes. */
static int has_jit_sig(const struct jp_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->depth; i++) {
        if (jp_maps_anonymous_sig(buffer->frames[i])) {
            if (i > 0)
                jp_code_hit_sig(buffer->frames[i]);
            return 1;
        }
    }
    return 0;
}

/* A short run's dump must be found before its writer unmaps it: when code
 * without a file first runs, its description is not far. */
static void first_look_sig(uint64_t now_ns)
{
    if (atomic_load(&first_looks) < FIRST_LOOKS && jp_maps_look_sig(now_ns))
        atomic_fetch_add(&first_looks, 1);
}

/* Whether the time has come; the first to ask has the turn. */
static int due_sig(_Atomic uint64_t *at, uint64_t now_ns, uint64_t interval)
{
    uint64_t next = atomic_load(at);
    return now_ns >= next &&
           atomic_compare_exchange_strong(at, &next, now_ns + interval);
}

void jp_jit_check_sig(const struct jp_buffer *buffer, uint64_t now_ns)
{
    if (!jp_maps_any_anonymous_sig())
        return;
    /* Each sample's pc; of callers, those that the looks happen upon. */
    if (buffer->depth > 0 && jp_maps_anonymous_sig(buffer->frames[0]))
        jp_code_hit_sig(buffer->frames[0]);
    if (now_ns < atomic_load(&next_growth_ns) || !has_jit_sig(buffer) ||
        !due_sig(&next_growth_ns, now_ns,
                 jp_jitmap_seen_sig() ? GROWTH_NS : ABSENT_NS))
        return;
    const int all = due_sig(&next_check_ns, now_ns, INTERVAL_NS);
    if (all)
        first_look_sig(now_ns);
    if (!lock_sig())
        return;
    jp_jitmap_look_sig(now_ns);
    if (all) {
        jp_jitdump_look_sig();
        jp_code_keep_sig(0);
    }
    unlock_sig();
}

void jp_jit_mapped_sig(const struct jp_vma *vma)
{
    jp_jitdump_mapped_sig(vma);
}

void jp_jit_look_sig(void)
{
    if (!jp_jitdump_pending_sig() || !lock_sig())
        return;
    jp_jitdump_look_sig();
    unlock_sig();
}

void jp_jit_save_sig(int whole)
{
    unsigned turns = 0;
    if (!jp_mapfile_ready_sig())
        return;
    /* Whoever has it runs, with every signal blocked. */
    while (!lock_sig()) {
        if (++turns > YIELDS)
            return;
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
    }
    jp_jitmap_save_sig(whole);
    jp_jitdump_save_sig(whole);
    /* With a jitdump as well: it may leave out code that ran. */
    jp_code_keep_sig(1);
    unlock_sig();
}

void jp_jit_forking_sig(void)
{
    jp_jitmap_forking_sig();
}

void jp_jit_reset_sig(void)
{
    atomic_store(&next_growth_ns, 0);
    atomic_store(&next_check_ns, 0);
    atomic_store(&first_looks, 0);
    jp_jitmap_reset_sig();
    jp_jitdump_reset_sig();
    jp_code_reset_sig();
    unlock_sig();
}
