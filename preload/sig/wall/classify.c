/* SPDX-License-Identifier: MIT
 *
 * The second stage of the clock of real time: from the figures that a look has
 * read to what the thread does.
 * Runs in: handler. */
#include "classify.h"

#include "delay.h"
#include "heuristics.h"
#include "less.h"
#include "queues.h"
#include "sig/os/sys.h"
#include "sig/timers/left.h"

/* A thread is restless for RESTLESS_NS after it was seen to end a wait or to
 * compute. */
#define RESTLESS_NS (60 * JP_NS)

/* Whether there is a tracer is asked where a thread has used more than this
 * part of the time. */
#define TRACED_PART 8U

uint64_t jp_classify_blocks_sig(const struct jp_wall *wall, uint64_t switches,
                                uint32_t runs)
{
    const struct jp_wall_seen *last = &wall->seen;
    if (switches == JP_LEFT_UNKNOWN || last->switches == JP_LEFT_UNKNOWN)
        return JP_LEFT_UNKNOWN;
    const uint64_t blocks = switches - last->switches;
    const uint32_t ran = runs - last->runs;
    const uint64_t others =
        ran > 1 && wall->stratum.fence_ns != 0 ? ran - 1 : 0;
    if (blocks <= 1)
        return blocks;
    return others < blocks ? blocks - others : 1;
}

/* Whether a second time that it blocked may be the doing of such a signal,
 * though another thread handled it: the kernel may wake a thread for a signal
 * of the process, and have it make its call again. */
static int is_shared_sig(const struct jp_wall *wall,
                         const struct jp_observation *seen)
{
    return wall->stratum.fence_ns != 0 && seen->shared != wall->seen.shared;
}

/* Whether a thread that was found waiting, and has blocked once since, has most
 * likely been slow to get back into that wait.  Behind a filter each signal has
 * it leave its wait, and it takes long now and then: a virtual machine's host
 * runs something else meanwhile, which the guest takes for CPU time of the
 * thread's.  That the wait ended while the handler ran, and the thread then
 * computed, looks the same.  But of a thread whose waits end, that is hardly
 * ever all that is seen: it is far less likely where none was seen to end for
 * JP_CLASSIFY_WATCHED_NS. */
static int slow_return_sig(const struct jp_wall *wall,
                           const struct jp_look *look)
{
    return JP_HEURISTIC(SLOW_RETURN) && wall->stratum.fence_ns != 0 &&
           wall->wait.waits && look->found.blocks == 1 &&
           look->seen.now_ns + RESTLESS_NS >=
               wall->wait.restless_ns + JP_CLASSIFY_WATCHED_NS;
}

/* Where the kernel does not tell how often it has blocked: whether the thread
 * seems not to have left its wait since the last signal. */
static int seems_still_sig(struct jp_wall_wait *wait,
                           const struct jp_look *look)
{
    const uint64_t before = wait->print;
    wait->print = look->found.waits && look->found.blocks == JP_LEFT_UNKNOWN
                      ? look->seen.print
                      : 0;
    return JP_HEURISTIC(STILL) && wait->waits && wait->print != 0 &&
           wait->print == before;
}

/* (Where the kernel does not tell the CPU time, a thread outside of a wait is
 * taken to have had the CPU since its last sample, but for a long stratum.) */
void jp_classify_state_sig(struct jp_wall *wall, struct jp_look *look)
{
    const struct jp_observation *seen = &look->seen;
    struct jp_finding *found = &look->found;
    struct jp_wall_wait *wait = &wall->wait;
    found->gap_ns = seen->now_ns - wait->found_ns;
    found->waited = wait->waits;
    found->used_ns = seen->used_ns;
    found->blocks = jp_classify_blocks_sig(wall, seen->switches, seen->runs);
    found->idle =
        found->used_ns <= JP_CLASSIFY_SAME_NS || slow_return_sig(wall, look);
    const int left =
        found->blocks != 0 && (found->used_ns <= JP_CLASSIFY_CALL_NS ||
                               (JP_HEURISTIC(WOKEN) && seen->call.only_waits));
    found->waits = (found->blocks != 0 || found->idle) &&
                   jp_classify_in_call_sig(&seen->call, left);
    found->still = (uint8_t)seems_still_sig(wait, look);
    if (found->still)
        found->blocks = 1;
    if (!seen->cpu_known && !found->waits)
        found->used_ns = jp_less_sig(found->gap_ns, wall->stratum.parked
                                                        ? JP_CLASSIFY_SAME_NS
                                                        : UINT64_MAX);
    /* (Where others want the CPU it may lose it on its way back.) */
    const uint64_t back = seen->cpu_known ? found->used_ns : found->gap_ns;
    found->returns = JP_HEURISTIC(WAY_BACK) && wait->waits && !found->waits &&
                     found->blocks == 0 && back <= 2 * JP_CLASSIFY_CALL_NS;
}

/* A signal stops a traced thread for its tracer and comes late then, so that
 * the thread seems to have lacked a CPU. */
int jp_classify_needs_traced_sig(const struct jp_look *look)
{
    const struct jp_finding *found = &look->found;
    return !found->waits && found->blocks != 0 &&
           found->blocks != JP_LEFT_UNKNOWN &&
           found->used_ns > found->gap_ns / TRACED_PART;
}

/* blocks 0, computing: the wait was over when the last handler returned. */
static int is_over_sig(const struct jp_wall *wall,
                       const struct jp_finding *found)
{
    return found->blocks == 0 && !found->returns && wall->stratum.fence_ns == 0;
}

/* blocks 0: the thread was not yet back in its wait when this signal came.
 * blocks 1: it may also have blocked in another wait, if the one before ended
 * while the handler ran; comparing the stacks tells (jp_classify_compared_sig).
 * That the wait has ended is concluded only after a signal in time, which
 * surely let the thread back into it.  blocks 2: it may have been woken for
 * nothing. */
void jp_classify_wait_sig(const struct jp_wall *wall, struct jp_look *look)
{
    const struct jp_wall_wait *wait = &wall->wait;
    struct jp_finding *found = &look->found;
    if (JP_HEURISTIC(TRACED) && look->seen.traced)
        found->blocks = 0;
    const int slow = slow_return_sig(wall, look);
    found->same =
        wait->waits && found->waits &&
        (slow || (found->idle && !found->still)) &&
        (found->blocks <= 1 || !JP_HEURISTIC(ONE_WAIT) ||
         (found->blocks == 2 && found->used_ns <= JP_CLASSIFY_CALL_NS &&
          is_shared_sig(wall, &look->seen)));
    found->other = 0;
    found->ends =
        JP_HEURISTIC(END) && wall->stratum.parked && wait->waits &&
        !wait->moved && !found->waits &&
        (is_over_sig(wall, found) || (found->blocks == 1 && !wait->late));
}

int jp_classify_needs_delay_sig(const struct jp_wall *wall,
                                const struct jp_look *look)
{
    const struct jp_finding *found = &look->found;
    return wall->stratum.parked && !found->waits &&
           wall->stratum.fence_ns == 0 &&
           !(found->ends && is_over_sig(wall, found)) &&
           look->seen.held != wall->seen.held &&
           found->blocks != JP_LEFT_UNKNOWN;
}

/* The thread was woken `blocks` times and then lost its CPU some times, and the
 * time before it got one is taken to have been as long each time. */
static uint64_t held_sig(const struct jp_wall *wall, const struct jp_look *look)
{
    const uint64_t held = look->seen.held - wall->seen.held;
    const uint64_t delay = look->seen.delay_ns;
    const uint64_t before = wall->seen.delay_ns;
    return delay != JP_DELAY_UNKNOWN && before != JP_DELAY_UNKNOWN &&
                   delay > before
               ? (delay - before) / (held + look->found.blocks) * held
               : 0;
}

void jp_classify_held_sig(const struct jp_wall *wall, struct jp_look *look)
{
    struct jp_finding *found = &look->found;
    found->held_ns = 0;
    if (!JP_HEURISTIC(HELD))
        return;
    if (found->ends && is_over_sig(wall, found))
        found->held_ns =
            found->gap_ns -
            jp_less_sig(found->gap_ns, found->used_ns + wall->seen.ours_ns);
    else if (jp_classify_needs_delay_sig(wall, look))
        found->held_ns = held_sig(wall, look);
}

void jp_classify_since_sample_sig(const struct jp_wall *wall,
                                  struct jp_look *look)
{
    struct jp_finding *found = &look->found;
    found->same = found->same && !wall->wait.moved;
    if (found->blocks != JP_LEFT_UNKNOWN)
        found->blocks += wall->wait.skipped;
}

void jp_classify_compared_sig(struct jp_finding *found, enum jp_stack stack)
{
    if (found->returns) {
        found->returns = stack == JP_STACK_SAME;
        return;
    }
    found->same = found->same && stack == JP_STACK_SAME;
    found->other = stack == JP_STACK_OTHER;
}

/* Whether a wait of the thread has ended since the last signal. */
static int has_changed_sig(const struct jp_finding *found)
{
    return found->waited &&
           ((!found->waits && !found->returns) ||
            (found->blocks > 1 && !found->same) || found->other);
}

/* A thread is restless if a wait of it has ended, or it computed. */
void jp_classify_unsampled_sig(struct jp_wall *wall, const struct jp_look *look)
{
    const struct jp_finding *found = &look->found;
    if (has_changed_sig(found) || (!found->waits && found->blocks == 0 &&
                                   found->used_ns > JP_CLASSIFY_SAME_NS))
        wall->wait.restless_ns = look->seen.now_ns + RESTLESS_NS;
}

void jp_classify_skipped_sig(struct jp_wall *wall, const struct jp_look *look)
{
    const struct jp_wall_stratum *stratum = &wall->stratum;
    const uint64_t now = look->seen.now_ns;
    struct jp_wall_wait *wait = &wall->wait;
    wait->skipped += look->found.blocks;
    wait->moved |= !look->found.same;
    wait->waits = look->found.waits;
    wait->found_ns = now;
    wait->late = stratum->fence_ns != 0 &&
                 (now - stratum->fence_ns) % stratum->fence_period_ns >
                     JP_CLASSIFY_PROMPT_NS;
}

void jp_classify_sampled_sig(struct jp_wall *wall, const struct jp_look *look)
{
    const struct jp_finding *found = &look->found;
    const uint64_t now = look->seen.now_ns;
    struct jp_wall_wait *wait = &wall->wait;
    jp_classify_unsampled_sig(wall, look);
    /* The signal puts the thread at the queue's end: if its next moments
     * followed from earlier ones, they would decide who is woken next. */
    if (look->seen.call.queues)
        wait->queued_ns = now + JP_QUEUES_NS;
    if (!found->same && !found->returns)
        wait->since_ns = now;
    wait->late = now > wall->stratum.moment_ns + JP_CLASSIFY_PROMPT_NS;
    wait->waits = found->waits || found->returns;
    wait->found_ns = now;
    wait->skipped = 0;
    wait->moved = 0;
}
