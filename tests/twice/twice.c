/* SPDX-License-Identifier: MIT
 *
 * Linked around jp_walk_sig (ld --wrap), it makes a library that walks the
 * stack of every sample twice: along the cache of the walk before, as jprof
 * does, and once more in another buffer that remembers nothing.
 * What differs is counted, and so is every cache that leads away from the root.
 *
 *     TWICE_OUT     the file with the figures (struct result); a dot and the
 *                   pid are added
 *     TWICE_STEPS   from each sample on, so many instructions are stepped
 *                   through by the processor's trap flag; most of them are
 *                   walked from, too (x86-64)
 *
 * Runs in: handler; tests (a preloaded library). */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../preload/sig/arch/arch.h"
#include "../../preload/sig/state/config.h"
#include "../../preload/sig/state/buffer.h"
#include "../../preload/sig/code/maps.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/script/step.h"
#include "../../preload/sig/state/thread.h"
#include "../../preload/sig/os/sys.h"
#include "../../preload/sig/unwind/unwind.h"
#if defined(__x86_64__)
#include "../oracle/risky.h"
#endif

#define SHOWN 64U
#define TRAP_FLAG 0x100 /* of EFLAGS (Intel SDM, volume 1, 3.4.3.3) */
#define TURNS 5         /* tries, when the map of memory is read meanwhile */

/* What tests/run/test_twice.py reads. */
struct shown {
    uint64_t pc, sp, with, without; /* frames at the first difference */
    uint32_t at, depth[2], gap[2], reason[2], spare;
};

struct result {
    _Atomic uint64_t walks, differ, moved, bad_trails, on_trail;
    _Atomic uint64_t roots, frames, spare;
    struct shown shown[SHOWN];
};

enum jp_reason __real_jp_walk_sig(struct jp_thread *, struct jp_buffer *,
                                  const ucontext_t *);
enum jp_reason __wrap_jp_walk_sig(struct jp_thread *, struct jp_buffer *,
                                  const ucontext_t *);

static struct result *result;
static struct jp_buffer *seconds[JP_THREADS_MAX];
static uint32_t left[JP_THREADS_MAX]; /* instructions to step through */
static uint32_t steps;
static uint32_t owner; /* whose the buffers are */

/* Whether each step of a cache leads towards the root, and to the place where
 * the next one begins; the last says that it is. */
static int is_sound(const struct jp_walk_cache *cache)
{
    if (!cache->ready)
        return 1;
    for (uint32_t i = cache->first; i < JP_WALK_CACHE; i++) {
        const struct jp_walk_step *step = &cache->steps[i];
        if (step->ra_at == 0)
            return 1;
        if (step[1].sp <= step->sp || step[1].sp == UINT64_MAX)
            return 0;
        if (jp_config.walker != JP_WALKER_FP &&
            (step->ra_at >= step[1].sp || step->ra_at < step->sp - 128))
            return 0;
    }
    return cache->first == JP_WALK_CACHE;
}

static void show(const ucontext_t *context, const struct jp_buffer *buffer,
                 const struct jp_buffer *second,
                 const enum jp_reason reasons[2])
{
    const uint64_t number = atomic_fetch_add(&result->differ, 1);
    uint32_t at = 0;
    if (number >= SHOWN)
        return;
    while (at < buffer->depth && at < second->depth &&
           buffer->frames[at] == second->frames[at])
        at++;
    result->shown[number] =
        (struct shown){.pc = jp_arch_pc_sig(context),
                       .sp = jp_arch_sp_sig(context),
                       .with = at < buffer->depth ? buffer->frames[at] : 0,
                       .without = at < second->depth ? second->frames[at] : 0,
                       .at = at,
                       .depth = {buffer->depth, second->depth},
                       .gap = {buffer->gap, second->gap},
                       .reason = {reasons[0], reasons[1]}};
}

/* A forked child has its parent's table, and not the buffers. */
static struct jp_buffer *second_buffer(const struct jp_thread *thread)
{
    struct jp_buffer **second = &seconds[jp_thread_index_sig(thread)];
    if (owner != jp_owner->pid) {
        memset(seconds, 0, sizeof(seconds));
        owner = jp_owner->pid;
    }
    if (*second == NULL)
        *second = jp_buffer_take_sig();
    return *second;
}

static int is_same(const struct jp_buffer *a, const struct jp_buffer *b)
{
    return a->depth == b->depth && a->gap == b->gap &&
           memcmp(a->frames, b->frames, a->depth * sizeof(*a->frames)) == 0;
}

/* Both walks.  When the map of memory is read between them or in them, or is
 * to be read again, they know different things: then once more. */
static enum jp_reason walk_twice(struct jp_thread *thread,
                                 struct jp_buffer *buffer,
                                 const ucontext_t *context)
{
    struct jp_buffer *second = result != NULL ? second_buffer(thread) : NULL;
    enum jp_reason reasons[2];
    uint32_t epoch = buffer->maps_epoch;
    /* (Frames of scripts are read in the same place.) */
    if (second == NULL || buffer->ask == JP_SCRIPT_READ)
        return __real_jp_walk_sig(thread, buffer, context);
    for (int turn = 0;; turn++) {
        /* A rule that cannot be made while libraries are opened or closed can
         * be made when that is over, even if the map is as before. */
        const int was_dirty = jp_maps_is_dirty_sig();
        reasons[0] = __real_jp_walk_sig(thread, buffer, context);
        jp_maps_check_buffer_sig(second);
        second->cache.ready = 0;
        reasons[1] = __real_jp_walk_sig(thread, second, context);
        const int moved = was_dirty || jp_maps_is_dirty_sig() ||
                          epoch != jp_maps_epoch_sig() ||
                          epoch != second->maps_epoch;
        if (reasons[0] == reasons[1] && is_same(buffer, second))
            break;
        if (!moved || turn == TURNS) {
            show(context, buffer, second, reasons);
            break;
        }
        atomic_fetch_add(&result->moved, 1);
        jp_maps_refresh_sig(jp_sys_clock_sig(CLOCK_MONOTONIC));
        jp_maps_check_buffer_sig(buffer);
        epoch = buffer->maps_epoch;
    }
    atomic_fetch_add(&result->walks, 1);
    atomic_fetch_add(&result->frames, buffer->depth);
    atomic_fetch_add(&result->roots, reasons[0] == JP_REASON_ROOT);
    atomic_fetch_add(&result->on_trail, buffer->cache.first != JP_WALK_CACHE);
    atomic_fetch_add(&result->bad_trails, !is_sound(&buffer->cache));
    return reasons[0];
}

#if defined(__x86_64__)
static void set_trap(const ucontext_t *context, int on)
{
    greg_t *flags = (greg_t *)&context->uc_mcontext.gregs[REG_EFL];
    *flags = on ? *flags | TRAP_FLAG : *flags & ~(greg_t)TRAP_FLAG;
}

static void on_trap(int number, siginfo_t *info, void *data)
{
    const ucontext_t *context = data;
    struct jp_thread *thread =
        jp_thread_by_tid_sig((uint32_t)syscall(SYS_gettid));
    (void)number, (void)info;
    uint32_t *mine = thread != NULL ? &left[jp_thread_index_sig(thread)] : NULL;
    if (mine == NULL || *mine == 0 || thread->buffer == NULL ||
        is_risky(context)) {
        set_trap(context, 0);
        if (mine != NULL)
            *mine = 0;
        return;
    }
    --*mine;
    /* Some go unseen, so that more than one frame may change at a time. */
    if (*mine % 64 < *mine / 64 % 16 || jp_maps_is_dirty_sig() ||
        atomic_exchange(&thread->busy, 1) != 0)
        return;
    jp_maps_check_buffer_sig(thread->buffer);
    walk_twice(thread, thread->buffer, context);
    atomic_store(&thread->busy, 0);
}

static void begin_steps(struct jp_thread *thread, const ucontext_t *context)
{
    /* Where the trap is blocked (in its own handler, too) it would kill. */
    if (steps == 0 || is_risky(context) ||
        sigismember(&context->uc_sigmask, SIGTRAP) != 0)
        return;
    left[jp_thread_index_sig(thread)] = steps;
    set_trap(context, 1);
}

static void catch_traps(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    action.sa_sigaction = on_trap;
    sigaction(SIGTRAP, &action, NULL);
}
#else
static void begin_steps(struct jp_thread *thread, const ucontext_t *context)
{
    (void)thread, (void)context;
}

static void catch_traps(void)
{
}
#endif

enum jp_reason __wrap_jp_walk_sig(struct jp_thread *thread,
                                  struct jp_buffer *buffer,
                                  const ucontext_t *context)
{
    const enum jp_reason reason = walk_twice(thread, buffer, context);
    begin_steps(thread, context);
    return reason;
}

/* After libjprof's constructor, whose object comes first at linking. */
__attribute__((constructor)) static void construct(void)
{
    const char *name = getenv("TWICE_OUT"), *text = getenv("TWICE_STEPS");
    char path[4096];
    if (name == NULL || !jp_config.wanted)
        return;
    snprintf(path, sizeof(path), "%s.%d", name, (int)getpid());
    int out = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    if (out < 0 || ftruncate(out, sizeof(*result)) != 0)
        return;
    void *memory =
        mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE, MAP_SHARED, out, 0);
    close(out);
    if (memory == MAP_FAILED)
        return;
    result = memory;
    steps = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 0;
    if (steps != 0)
        catch_traps();
}
