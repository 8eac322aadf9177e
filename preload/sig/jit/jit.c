/* SPDX-License-Identifier: MIT
 *
 * When JIT files and code pages are looked at, and by which thread.
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

#define GROWTH_NS 500000ULL      /* between looks at the perf map */
#define ABSENT_NS 10000000ULL    /* the same while there is none */
#define INTERVAL_NS 100000000ULL /* between looks at everything */
#define CALLERS 16U     /* of a stack, whose code is looked at as well */
#define FIRST_LOOKS 20U /* one each interval, when JIT code is first seen */
#define YIELDS 1000U

static _Atomic uint64_t next_growth_ns, next_check_ns;
static _Atomic uint32_t first_looks;

/* 1: a thread looks at the files. */
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

/* Whether the stack has a frame in code without a file.  The innermost such
 * caller is remembered as hit. */
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

/* Looks for mappings of jitdumps when code without a file first runs, since the
 * runtime of a short run may unmap its dump before the next scan; and when the
 * program has mapped a file as code, as the writer of a dump does. */
static void first_look_sig(uint64_t now_ns)
{
    if ((jp_maps_is_expecting_sig() ||
         atomic_load(&first_looks) < FIRST_LOOKS) &&
        jp_maps_look_sig(now_ns))
        atomic_fetch_add(&first_looks, 1);
}

/* Whether the time *at has come; the first caller for whom it has moves it on
 * by the interval. */
static int due_sig(_Atomic uint64_t *at, uint64_t now_ns, uint64_t interval)
{
    uint64_t next = atomic_load(at);
    return now_ns >= next &&
           atomic_compare_exchange_strong(at, &next, now_ns + interval);
}

/* The pc of each sample counts as hit.  Callers do only at looks, but where
 * there is a dump: it may lack what runs at an address by now, which shows in
 * the code alone. */
static void hit_sig(const struct jp_buffer *buffer)
{
    uint32_t count = jp_jitdump_seen_sig() ? CALLERS + 1 : 1;
    if (count > buffer->depth)
        count = buffer->depth;
    for (uint32_t i = 0; i < count; i++) {
        if (jp_maps_anonymous_sig(buffer->frames[i]))
            jp_code_hit_sig(buffer->frames[i]);
    }
}

void jp_jit_check_sig(const struct jp_buffer *buffer, uint64_t now_ns)
{
    if (!jp_maps_any_anonymous_sig())
        return;
    hit_sig(buffer);
    if (jp_maps_is_expecting_sig() && has_jit_sig(buffer))
        atomic_store(&next_check_ns, 0);
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
    /* The thread that holds the lock runs on, with all signals blocked. */
    while (!lock_sig()) {
        if (++turns > YIELDS)
            return;
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
    }
    jp_jitmap_save_sig(whole);
    jp_jitdump_save_sig(whole);
    /* Also where there is a jitdump: it may leave out code that ran. */
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
