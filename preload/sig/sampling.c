/* SPDX-License-Identifier: MIT
 *
 * One sample, from signal to record.
 * Runs in: handler, any thread. */
#include "sampling.h"

#include <errno.h>
#include <string.h>

#include "logfile.h"
#include "sig/clock/clock.h"
#include "sig/code/maps.h"
#include "sig/files/command.h"
#include "sig/files/names.h"
#include "sig/files/usage.h"
#include "sig/jit/jit.h"
#include "sig/log/log.h"
#include "sig/os/sys.h"
#include "sig/state/budget.h"
#include "sig/state/kit.h"
#include "sig/state/own_code.h"
#include "sig/state/process.h"
#include "sig/state/sample.h"
#include "sig/state/slot.h"
#include "walk_safe.h"

#define HITS_UNTOLD 10000U /* that a kit may keep for itself */

/* A call that a hook makes is no further from the leaf than this. */
#define UNDER_HOOK 8U

void jp_sampling_lose_sig(unsigned counter, uint64_t weight_ns)
{
    jp_count_sig(counter, 1);
    jp_count_sig(JP_COUNT_LOST_NS, weight_ns);
}

void jp_sampling_lowered_sig(const struct jp_budget *budget, uint64_t weight_ns)
{
    if (!jp_budget_lowered_sig(budget))
        return;
    jp_count_sig(JP_COUNT_LOWERED, 1);
    jp_count_sig(JP_COUNT_LOWERED_NS, weight_ns);
}

/* Keeps a sample in the kit until there is a log.  Where one is kept already,
 * it stands for this one's time as well, as with what a tick merges. */
static void keep_sig(struct jp_kit *kit, const struct jp_sample *sample)
{
    if (kit->waiting) {
        kit->waiting_sample.weight_ns += sample->weight_ns;
        return;
    }
    memcpy(kit->last, kit->frames, kit->depth * sizeof(*kit->frames));
    kit->last_ref = 0;
    kit->waiting_sample = *sample;
    kit->waiting_depth = kit->depth;
    kit->waiting_gap = kit->gap;
    kit->waiting = 1;
}

void jp_sampling_flush_sig(struct jp_kit *kit)
{
    if (!kit->waiting || jp_logfile_ensure_sig() != 0)
        return;
    kit->waiting = 0;
    memcpy(kit->frames, kit->last, kit->waiting_depth * sizeof(*kit->frames));
    kit->depth = kit->waiting_depth;
    kit->gap = kit->waiting_gap;
    jp_log_write_sig(kit, &kit->waiting_sample);
}

struct jp_kit *jp_sampling_equip_sig(struct jp_slot *slot)
{
    if (slot->kit == NULL) {
        struct jp_kit *none = NULL, *kit = jp_kit_take_sig();
        /* Another thread may give it one (jp_control_before_sandbox_sig). */
        if (kit != NULL &&
            !atomic_compare_exchange_strong(&slot->kit, &none, kit))
            jp_kit_return_sig(kit);
    }
    return slot->kit;
}

/* Walks the stack into the kit; error: there is no log yet.  The mappings are
 * read again where they have changed.  (Inlined, for the deepest place of the
 * handler's stack is below it.) */
__attribute__((always_inline)) static inline void
walk_sig(struct jp_slot *slot, struct jp_kit *kit, const ucontext_t *context,
         uint64_t now_ns, int error)
{
    if (error != 0)
        jp_maps_early_sig();
    else
        jp_maps_refresh_sig(now_ns);
    jp_maps_check_kit_sig(kit);
    kit->walked_ns = now_ns;
    kit->reason = jp_walk_safe_sig(slot, kit, context);
    if (kit->rule_misses != 0 || kit->rule_hits > HITS_UNTOLD)
        jp_kit_tell_sig(kit);
}

/* Takes a sample: the log is made if it is not there, the stack is walked if
 * it was not yet (jp_sampling_same_sig), the record written.  While another
 * thread makes the log (-EAGAIN), the sample waits in the kit. */
static void record_sig(struct jp_slot *slot, enum jp_event event,
                       uint64_t weight_ns, const ucontext_t *context)
{
    struct jp_sample sample = {jp_sys_clock_sig(CLOCK_MONOTONIC), weight_ns,
                               slot->tid, (uint8_t)event, 0};
    const int error = jp_logfile_ensure_sig();
    if (error != 0 && error != -EAGAIN) {
        jp_sampling_lose_sig(JP_COUNT_LOST_NO_LOG, weight_ns);
        return;
    }
    struct jp_kit *kit = jp_sampling_equip_sig(slot);
    if (kit == NULL) {
        jp_sampling_lose_sig(JP_COUNT_LOST_NO_MEMORY, weight_ns);
        return;
    }
    if (kit->walked_ns == 0) {
        jp_sampling_flush_sig(kit);
        walk_sig(slot, kit, context, sample.time_ns, error);
    }
    kit->walked_ns = 0;
    sample.reason = kit->reason;
    slot->last.reason = sample.reason;
    slot->last.sampled_ns = sample.time_ns;
    if (error != 0) {
        keep_sig(kit, &sample);
        return;
    }
    if (jp_log_write_sig(kit, &sample) != 0)
        return;
    jp_names_follow_sig(slot, sample.time_ns);
    jp_command_follow_sig(sample.time_ns);
    jp_jit_check_sig(kit, sample.time_ns);
    jp_usage_follow_sig(sample.time_ns);
}

/* Puts the stack of the walk before in the place of the last one's, which is
 * kept; for kits that write to no chunk of their own. */
static void turn_sig(struct jp_kit *kit)
{
    uint64_t *frames = kit->frames;
    const uint32_t depth = kit->depth, gap = kit->gap;
    kit->frames = kit->last;
    kit->depth = kit->last_depth;
    kit->gap = kit->last_gap;
    kit->last = frames;
    kit->last_depth = depth;
    kit->last_gap = gap;
}

/* Where the frames begin of what called a hook of jprof's; 0: the leaf-most
 * ones are not those of a hook. */
static uint32_t beyond_hooks_sig(const uint64_t *frames, uint32_t depth)
{
    uint32_t i = 0;
    while (i < depth && !jp_own_code_has_sig(frames[i])) {
        if (++i > UNDER_HOOK)
            return 0;
    }
    while (i < depth && jp_own_code_has_sig(frames[i]))
        i++;
    return i < depth ? i : 0;
}

int jp_sampling_same_sig(struct jp_slot *slot, const ucontext_t *context,
                         uint64_t now_ns)
{
    struct jp_kit *kit = slot->kit;
    if (kit == NULL || jp_logfile_ensure_sig() != 0)
        return -1;
    jp_sampling_flush_sig(kit);
    turn_sig(kit);
    walk_sig(slot, kit, context, now_ns, 0);
    const uint32_t here = beyond_hooks_sig(kit->frames, kit->depth);
    const uint32_t there = beyond_hooks_sig(kit->last, kit->last_depth);
    const uint32_t left = kit->depth - here;
    return kit->gap == kit->last_gap && left == kit->last_depth - there &&
           memcmp(kit->frames + here, kit->last + there,
                  left * sizeof(*kit->frames)) == 0;
}

void jp_sampling_take_sig(struct jp_slot *slot, enum jp_event event,
                          uint64_t weight_ns, const ucontext_t *context)
{
    /* A thread that pauses the profile may be writing the slot's rest. */
    if (atomic_exchange(&slot->busy, 1) != 0) {
        if (event == JP_EVENT_CPU && jp_clock_is_thread_cpu_sig())
            atomic_fetch_add(&slot->clock.carried_ns, weight_ns);
        else
            jp_sampling_lose_sig(JP_COUNT_LOST_REENTRANT, weight_ns);
        return;
    }
    record_sig(slot, event, weight_ns, context);
    atomic_store(&slot->busy, 0);
}

/* Writes a sample where the thread was last seen: the kit still has that
 * stack.  Its time is that stack's, since the libraries at its addresses may
 * have gone, but not before a ring was cleared.  Returns whether it could. */
static int write_again_sig(struct jp_slot *slot, enum jp_event event,
                           uint64_t weight_ns)
{
    struct jp_kit *kit = slot->kit;
    if (kit == NULL || kit->waiting || jp_logfile_ensure_sig() != 0)
        return 0;
    const uint64_t cleared =
        __atomic_load_n(&jp_log.header->cleared_ns, __ATOMIC_RELAXED);
    struct jp_sample sample = {slot->last.sampled_ns, weight_ns, slot->tid,
                               (uint8_t)event, slot->last.reason};
    if (sample.time_ns < cleared) {
        const uint64_t since = jp_sys_clock_sig(CLOCK_MONOTONIC) - cleared;
        sample.time_ns = cleared;
        if (sample.weight_ns > since)
            sample.weight_ns = since;
    }
    /* The stack that has just been walked is not that one yet. */
    if (kit->walked_ns != 0)
        turn_sig(kit);
    jp_log_write_sig(kit, &sample);
    if (kit->walked_ns != 0)
        turn_sig(kit);
    return 1;
}

void jp_sampling_take_due_sig(struct jp_slot *slot, const struct jp_due *due,
                              const ucontext_t *context)
{
    uint64_t blocked = due->blocked;
    if (due->cpu != 0)
        record_sig(slot, JP_EVENT_CPU, due->cpu, context);
    if (due->before != 0 &&
        !write_again_sig(slot, JP_EVENT_WALL_BLOCKED, due->before))
        blocked += due->before;
    if (blocked != 0)
        record_sig(slot, JP_EVENT_WALL_BLOCKED, blocked, context);
    if (due->running != 0)
        record_sig(slot, JP_EVENT_WALL_RUNNING, due->running, context);
    if (due->ready != 0 &&
        (due->running == 0 ||
         !write_again_sig(slot, JP_EVENT_WALL_READY, due->ready)))
        record_sig(slot, JP_EVENT_WALL_READY, due->ready, context);
    if (due->after != 0)
        write_again_sig(slot,
                        due->after_ready ? JP_EVENT_WALL_READY
                                         : JP_EVENT_WALL_BLOCKED,
                        due->after);
    /* A walk that nobody wanted to have written. */
    if (slot->kit != NULL)
        slot->kit->walked_ns = 0;
}

void jp_sampling_flush_time_sig(struct jp_slot *slot)
{
    const struct jp_clock_kind *kind = jp_process.clock;
    struct jp_due due = {0};
    if (slot->kit == NULL || atomic_exchange(&slot->busy, 1) != 0)
        return;
    if (kind->flush != NULL)
        kind->flush(slot, &due);
    if (jp_clock_is_thread_cpu_sig())
        due.cpu += jp_clock_take_carried_sig(slot);
    if (due.cpu != 0)
        write_again_sig(slot, JP_EVENT_CPU, due.cpu);
    if (due.before != 0)
        write_again_sig(slot, JP_EVENT_WALL_BLOCKED, due.before);
    if (due.running != 0)
        write_again_sig(slot, JP_EVENT_WALL_RUNNING, due.running);
    if (due.ready != 0)
        write_again_sig(slot, JP_EVENT_WALL_READY, due.ready);
    atomic_store(&slot->busy, 0);
}

void jp_sampling_missed_ticks_sig(struct jp_slot *slot,
                                  const struct jp_clock_kind *source)
{
    uint64_t overdue = 0;
    if (source == NULL && atomic_load(&jp_process.running))
        overdue = jp_clock_take_unseen_sig(slot);
    else if (source != NULL && source->overdue != NULL)
        overdue = source->overdue(slot);
    if (overdue != 0)
        write_again_sig(slot, JP_EVENT_CPU, overdue);
}
