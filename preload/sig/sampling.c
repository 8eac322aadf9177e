/* SPDX-License-Identifier: MIT
 *
 * One sample, from signal to record.
 * Runs in: handler, any thread. */
#include "sampling.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "logfile.h"
#include "script_frames.h"
#include "sig/clock/clock.h"
#include "sig/clock/process_timer.h"
#include "sig/clock/unseen.h"
#include "sig/code/maps.h"
#include "sig/files/command.h"
#include "sig/files/names.h"
#include "sig/files/usage.h"
#include "sig/jit/jit.h"
#include "sig/log/log.h"
#include "sig/os/sys.h"
#include "sig/state/budget.h"
#include "sig/state/buffer.h"
#include "sig/state/own_code.h"
#include "sig/state/process.h"
#include "sig/state/sample.h"
#include "sig/state/thread.h"
#include "walk_safe.h"

#define HITS_UNTOLD 10000U /* rule hits that a buffer may keep uncounted */

#define FLUSH_WAIT_NS 20000000L

/* A hook's frames are at most this many frames from the leaf. */
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

/* Keeps a sample in the buffer until there is a log.  If one is kept already,
 * adds this one's weight to it. */
static void keep_sig(struct jp_buffer *buffer, const struct jp_sample *sample)
{
    if (buffer->waiting) {
        buffer->waiting_sample.weight_ns += sample->weight_ns;
        return;
    }
    memcpy(buffer->last, buffer->frames,
           buffer->depth * sizeof(*buffer->frames));
    buffer->last_ref = 0;
    buffer->waiting_sample = *sample;
    buffer->waiting_depth = buffer->depth;
    buffer->waiting_gap = buffer->gap;
    buffer->waiting = 1;
}

void jp_sampling_flush_sig(struct jp_buffer *buffer)
{
    if (!buffer->waiting || jp_logfile_ensure_sig() != 0)
        return;
    buffer->waiting = 0;
    memcpy(buffer->frames, buffer->last,
           buffer->waiting_depth * sizeof(*buffer->frames));
    buffer->depth = buffer->waiting_depth;
    buffer->gap = buffer->waiting_gap;
    jp_log_write_sig(buffer, &buffer->waiting_sample);
}

struct jp_buffer *jp_sampling_ensure_buffer_sig(struct jp_thread *thread)
{
    if (thread->buffer == NULL) {
        struct jp_buffer *none = NULL, *buffer = jp_buffer_take_sig();
        /* Another thread may do the same (jp_control_before_sandbox_sig). */
        if (buffer != NULL &&
            !atomic_compare_exchange_strong(&thread->buffer, &none, buffer))
            jp_buffer_return_sig(buffer);
    }
    return thread->buffer;
}

/* Walks the stack into the buffer; error: not 0 while there is no log.  Reads
 * the list of mappings again if it has changed.  (Inlined, since the handler
 * uses the most stack below it.) */
__attribute__((always_inline)) static inline void
walk_sig(struct jp_pass *pass, struct jp_buffer *buffer, uint64_t now_ns,
         int error)
{
    if (error != 0)
        jp_maps_before_log_sig();
    else
        jp_maps_refresh_sig(now_ns);
    jp_maps_check_buffer_sig(buffer);
    pass->walk.pending = 1;
    buffer->reason =
        jp_walk_safe_sig(pass->thread, buffer, pass->signal.interrupted);
    jp_script_frames_sig(pass->thread, buffer, pass->signal.interrupted);
    if (buffer->rule_misses != 0 || buffer->rule_hits > HITS_UNTOLD)
        jp_buffer_flush_counts_sig(buffer);
}

/* Counts a sample as lost for want of a log (error is not 0) or of memory. */
static void lose_sig(uint64_t weight_ns, int error)
{
    jp_sampling_lose_sig(
        error != 0 ? JP_COUNT_LOST_NO_LOG : JP_COUNT_LOST_NO_MEMORY, weight_ns);
}

/* Makes the log if there is none, and walks the stack unless that was done
 * already (jp_sampling_compare_sig).  Returns the buffer with the stack; NULL
 * where there is no log or no memory.  Sets *sample to one without weight and
 * event, and *error to what the log lacks: while another thread makes it,
 * -EAGAIN, and samples wait in the buffer; else 0.  (Inlined, since the handler
 * uses the most stack below it.) */
__attribute__((always_inline)) static inline struct jp_buffer *
begin_sig(struct jp_pass *pass, struct jp_sample *sample, int *error)
{
    struct jp_thread *thread = pass->thread;
    *sample = (struct jp_sample){.time_ns = jp_sys_clock_sig(CLOCK_MONOTONIC),
                                 .tid = thread->tid};
    const int log = jp_logfile_ensure_sig();
    struct jp_buffer *buffer = log == 0 || log == -EAGAIN
                                   ? jp_sampling_ensure_buffer_sig(thread)
                                   : NULL;
    *error = log;
    if (buffer == NULL)
        return NULL;
    if (!pass->walk.pending) {
        jp_sampling_flush_sig(buffer);
        walk_sig(pass, buffer, sample->time_ns, log);
    }
    pass->walk.pending = 0;
    sample->reason = buffer->reason;
    thread->last.reason = sample->reason;
    thread->last.sampled_ns = sample->time_ns;
    return buffer;
}

/* Takes a sample of the stack in the buffer: writes the record, and brings the
 * map up to date.  While another thread makes the log, it waits in the
 * buffer. */
static void record_sig(struct jp_thread *thread, struct jp_buffer *buffer,
                       const struct jp_sample *sample, int error)
{
    if (buffer == NULL) {
        lose_sig(sample->weight_ns, error == -EAGAIN ? 0 : error);
        return;
    }
    if (error != 0) {
        keep_sig(buffer, sample);
        return;
    }
    if (jp_log_write_sig(buffer, sample) != 0)
        return;
    jp_names_follow_sig(thread, sample->time_ns);
    jp_command_follow_sig(sample->time_ns);
    jp_jit_check_sig(buffer, sample->time_ns);
    jp_usage_follow_sig(sample->time_ns);
}

/* Swaps the stack in `frames` and the one in `last`.  For buffers that do not
 * write to a chunk of their own, whose `last` would have to match it. */
static void turn_sig(struct jp_buffer *buffer)
{
    uint64_t *frames = buffer->frames;
    const uint32_t depth = buffer->depth, gap = buffer->gap;
    buffer->frames = buffer->last;
    buffer->depth = buffer->last_depth;
    buffer->gap = buffer->last_gap;
    buffer->last = frames;
    buffer->last_depth = depth;
    buffer->last_gap = gap;
}

/* The index of the frame that called a hook of jprof's; 0 when the leaf-most
 * frames are not those of a hook. */
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

void jp_sampling_compare_sig(struct jp_pass *pass)
{
    struct jp_buffer *buffer = pass->thread->buffer;
    pass->walk.stack = JP_STACK_UNKNOWN;
    if (buffer == NULL || jp_logfile_ensure_sig() != 0)
        return;
    jp_sampling_flush_sig(buffer);
    turn_sig(buffer);
    walk_sig(pass, buffer, pass->signal.now_ns, 0);
    const uint32_t here = beyond_hooks_sig(buffer->frames, buffer->depth);
    const uint32_t there = beyond_hooks_sig(buffer->last, buffer->last_depth);
    const uint32_t left = buffer->depth - here;
    const int same = buffer->gap == buffer->last_gap &&
                     left == buffer->last_depth - there &&
                     memcmp(buffer->frames + here, buffer->last + there,
                            left * sizeof(*buffer->frames)) == 0;
    pass->walk.stack = same ? JP_STACK_SAME : JP_STACK_OTHER;
}

/* Waits, for 20 ms at most, for another thread that writes what this one left
 * (jp_sampling_flush_time_sig), so that the sample at hand gets into the log.
 * That thread does not wait for this one.  Returns 0 while it still writes, or
 * if this thread's own handler was interrupted. */
__attribute__((noinline)) static int await_sig(struct jp_thread *thread)
{
    const struct timespec most = {0, FLUSH_WAIT_NS};
    jp_sys_sig(SYS_futex, (long)&thread->busy, FUTEX_WAIT_PRIVATE,
               JP_THREAD_FLUSHED, (long)&most, 0);
    return jp_thread_enter_sig(thread, JP_THREAD_SAMPLES);
}

void jp_sampling_take_sig(struct jp_thread *thread, enum jp_event event,
                          uint64_t weight_ns, const ucontext_t *context)
{
    if (!jp_thread_enter_sig(thread, JP_THREAD_SAMPLES)) {
        if (event == JP_EVENT_CPU && jp_clock_is_thread_cpu_sig()) {
            atomic_fetch_add(&thread->clock.carried_ns, weight_ns);
            return;
        }
        if (!await_sig(thread)) {
            jp_sampling_lose_sig(JP_COUNT_LOST_REENTRANT, weight_ns);
            return;
        }
    }
    struct jp_pass pass = {.thread = thread, .signal.interrupted = context};
    struct jp_sample sample;
    int error;
    struct jp_buffer *buffer = begin_sig(&pass, &sample, &error);
    sample.event = (uint8_t)event;
    sample.weight_ns = weight_ns;
    record_sig(thread, buffer, &sample, error);
    atomic_store(&thread->busy, 0);
}

/* Writes the only sample of a thread, which ends or whose profile does.  All
 * that is known of its stack is the function that the thread began with. */
static void write_only_sig(struct jp_thread *thread, uint64_t weight_ns)
{
    const struct jp_sample sample = {
        jp_sys_clock_sig(CLOCK_MONOTONIC), weight_ns, thread->tid,
        (uint8_t)jp_clock_event_sig(), JP_REASON_ROOT};
    const int error = jp_logfile_ensure_sig();
    struct jp_buffer *buffer =
        error == 0 ? jp_sampling_ensure_buffer_sig(thread) : NULL;
    if (buffer == NULL) {
        lose_sig(weight_ns, error);
        return;
    }
    buffer->frames[0] = thread->stack.first;
    buffer->depth = 1;
    buffer->gap = 0;
    thread->last.reason = sample.reason;
    thread->last.sampled_ns = sample.time_ns;
    jp_count_sig(JP_COUNT_UNSEEN, 1);
    jp_log_write_sig(buffer, &sample);
}

/* Writes another sample of the last stack, which the buffer still has.  The
 * sample has that stack's time, since the libraries at its addresses may have
 * gone since, but not one from before a ring was cleared.  walked: the buffer's
 * `frames` are a stack that was walked since, and the last one is in `last`.
 * Returns 0 when there is no such stack, or no log. */
static int rewrite_sig(struct jp_thread *thread, enum jp_event event,
                       uint64_t weight_ns, int walked)
{
    struct jp_buffer *buffer = thread->buffer;
    /* (The buffer may have been made before the first sample.) */
    if (buffer == NULL || thread->last.sampled_ns == 0 || buffer->waiting ||
        jp_logfile_ensure_sig() != 0)
        return 0;
    const uint64_t cleared =
        __atomic_load_n(&jp_log.header->cleared_ns, __ATOMIC_RELAXED);
    struct jp_sample sample = {thread->last.sampled_ns, weight_ns, thread->tid,
                               (uint8_t)event, thread->last.reason};
    if (sample.time_ns < cleared) {
        const uint64_t since = jp_sys_clock_sig(CLOCK_MONOTONIC) - cleared;
        sample.time_ns = cleared;
        if (sample.weight_ns > since)
            sample.weight_ns = since;
    }
    if (walked)
        turn_sig(buffer);
    jp_log_write_sig(buffer, &sample);
    if (walked)
        turn_sig(buffer);
    return 1;
}

/* The same outside of a pass. */
static int write_again_sig(struct jp_thread *thread, enum jp_event event,
                           uint64_t weight_ns)
{
    return rewrite_sig(thread, event, weight_ns, 0);
}

/* The samples of one pass: the buffer with its stack (see begin_sig). */
struct samples {
    struct jp_thread *thread;
    struct jp_buffer *buffer;
    struct jp_sample sample;
    int error;
};

/* Takes the sample of a part of the pass's time.  again: the sample before it
 * has the same stack. */
static void take_part_sig(struct samples *samples, enum jp_event event,
                          uint64_t weight_ns, int again)
{
    if (weight_ns == 0 ||
        (again && rewrite_sig(samples->thread, event, weight_ns, 0)))
        return;
    samples->sample.event = (uint8_t)event;
    samples->sample.weight_ns = weight_ns;
    record_sig(samples->thread, samples->buffer, &samples->sample,
               samples->error);
}

uint64_t jp_sampling_take_due_sig(struct jp_pass *pass)
{
    const struct jp_due *due = &pass->due;
    const uint64_t here =
        due->cpu + due->running + due->blocked + due->ready + due->after;
    uint64_t blocked = due->blocked;
    if (due->before != 0 && !rewrite_sig(pass->thread, JP_EVENT_WALL_BLOCKED,
                                         due->before, pass->walk.pending))
        blocked += due->before;
    if (here + blocked == 0)
        return due->before;
    struct samples samples = {.thread = pass->thread};
    samples.buffer = begin_sig(pass, &samples.sample, &samples.error);
    take_part_sig(&samples, JP_EVENT_CPU, due->cpu, 0);
    take_part_sig(&samples, JP_EVENT_WALL_BLOCKED, blocked, 0);
    take_part_sig(&samples, JP_EVENT_WALL_RUNNING, due->running, 0);
    take_part_sig(&samples, JP_EVENT_WALL_READY, due->ready, due->running != 0);
    /* While another thread makes the log, it joins the sample that waits. */
    take_part_sig(&samples,
                  due->after_ready ? JP_EVENT_WALL_READY
                                   : JP_EVENT_WALL_BLOCKED,
                  due->after, 1);
    return here + due->before;
}

/* Writes a sample of the CPU time that a thread without a clock of its own used
 * since the last signal that came to it. */
static void write_unseen_sig(struct jp_thread *thread, uint64_t unseen_ns)
{
    if (unseen_ns == 0)
        return;
    /* A sample that waited for the log comes first. */
    if (thread->buffer != NULL)
        jp_sampling_flush_sig(thread->buffer);
    /* (Where the process may have no timer either, there is no profile.) */
    if (!write_again_sig(thread, jp_clock_event_sig(), unseen_ns) &&
        thread->last.sampled_ns == 0 && thread->stack.first != 0 &&
        (jp_process_timer_is_allowed_sig() ||
         jp_process_timer_is_hastened_sig()))
        write_only_sig(thread, unseen_ns);
}

/* Writes a sample of the CPU time for which signals of the thread's own clock
 * were missing.  (Where there is no log yet, none is made for it.) */
static void write_carried_sig(struct jp_thread *thread)
{
    const uint64_t carried =
        jp_clock_is_thread_cpu_sig() ? jp_clock_take_carried_sig(thread) : 0;
    if (carried != 0 && !write_again_sig(thread, JP_EVENT_CPU, carried) &&
        thread->last.sampled_ns == 0 && thread->stack.first != 0 &&
        atomic_load(&jp_log.state) == JP_LOG_READY)
        write_only_sig(thread, carried);
}

/* Writes what the thread's own clock has not reported yet. */
static void write_left_sig(struct jp_thread *thread)
{
    const struct jp_clock_kind *kind = jp_process.clock;
    struct jp_due due = {0};
    if (kind->flush != NULL)
        kind->flush(thread, &due);
    if (due.cpu != 0)
        write_again_sig(thread, JP_EVENT_CPU, due.cpu);
    /* (No other sample of a thread can lie so close to the one before.) */
    if (due.guessed)
        thread->last.sampled_ns += JP_REST_GUESSED_NS;
    if (due.before != 0)
        write_again_sig(thread, JP_EVENT_WALL_BLOCKED, due.before);
    if (due.guessed)
        thread->last.sampled_ns -= JP_REST_GUESSED_NS;
    if (due.running != 0)
        write_again_sig(thread, JP_EVENT_WALL_RUNNING, due.running);
    if (due.ready != 0)
        write_again_sig(thread, JP_EVENT_WALL_READY, due.ready);
}

/* Writes what no sample of the thread covers yet. */
static void write_all_left_sig(struct jp_thread *thread)
{
    write_unseen_sig(thread, jp_unseen_left_sig(thread));
    if (thread->buffer != NULL) {
        jp_sampling_flush_sig(thread->buffer);
        write_left_sig(thread);
    }
    write_carried_sig(thread);
}

/* (What is left of a retired record's time, the thread's own one counts.) */
void jp_sampling_flush_time_sig(struct jp_thread *thread)
{
    if (!jp_thread_enter_sig(thread, JP_THREAD_FLUSHED))
        return;
    if (jp_thread_is_retired_sig(thread)) {
        if (thread->buffer != NULL)
            jp_sampling_flush_sig(thread->buffer);
    } else {
        write_all_left_sig(thread);
    }
    atomic_store(&thread->busy, 0);
    jp_sys_sig(SYS_futex, (long)&thread->busy, FUTEX_WAKE_PRIVATE, 1, 0, 0);
}

void jp_sampling_unseen_sig(struct jp_thread *thread)
{
    if (atomic_load(&jp_process.running))
        write_unseen_sig(thread, jp_unseen_signal_sig(thread));
}
