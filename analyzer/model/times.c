/* SPDX-License-Identifier: MIT
 *
 * Real time by function and state, and its errors.
 * Runs in: analyzer.
 *
 * A sample stands for a stratum of its thread's time, a random moment of which
 * was looked at.  Where two samples of a thread, one after the other, are both
 * inside a function or both outside, nothing is unsure; where one is inside and
 * the other is not, the function's time is off by a stratum at most; and by no
 * more than the time between the two moments, which is less where a stratum
 * was long because the thread had no CPU to be looked at on.  Two thirds of
 * the lesser one's square is what it adds to the variance: right for a visit
 * that is shorter than the stratum (the square of the lesser of L and the time
 * between two random moments in strata of L is 3/4 of L's on average, and a
 * visit has two ends), up to four times too much for the end of a long one.
 *
 * Threads that wait for long share their moments, eight and eight, and those
 * that change what they wait for together are off together: what the samples of
 * one moment leave unsure is added up before it is squared.  The moments of all
 * that are sampled in such a change do not lie at random, but each in a part of
 * the time of its own (preload/sig/clock/strata.c): so the change is as unsure
 * as one of them alone, or as all threads are if each had a moment of its own.
 *
 * A thread's last sample has no next one.  Its stratum was not over when the
 * thread ended, and so stands for too much, or a next one, which stands for
 * nothing, had begun: with x of w ns of a stratum lived, a sample of w ns is
 * taken with a chance of x/w, and its variance, x(w - x), is a sixth of the
 * square of w on average.  What a thread that ended in a long wait is given for
 * the rest of it, unseen, is off by as much, but for the thread's outermost
 * function, in which it was to the end.  Where the thread is known to have
 * waited for something else in that time, it may have left the wait at any
 * moment of it: a third of the square, the wait having too much.  What it
 * waited for then is in the samples of those threads alone whose moment came
 * before their end.  Such a sample would stand for the whole stratum, had the
 * thread lived on, and what it lacks of that is missing at its function on the
 * average. */
#include "times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/weight.h"

static const uint8_t states[JP_EVENT_COUNT] = {
    [JP_EVENT_CPU] = JR_STATES,           [JP_EVENT_WALL_RUNNING] = JR_RUNNING,
    [JP_EVENT_WALL_BLOCKED] = JR_BLOCKED, [JP_EVENT_RAISED] = JR_STATES,
    [JP_EVENT_WALL_READY] = JR_READY,
};

int jr_is_real(uint8_t event)
{
    return event < JP_EVENT_COUNT && states[event] < JR_STATES;
}

/* A waiting thread is looked at after this time at the latest
 * (preload/sig/clock/clock_real.c has 2^32 ns), or later where the machine is
 * busy. */
#define STRATUM_MAX_NS (2 * (UINT64_C(1) << 32))
/* A wait's beginning, in which strata may get much longer from one to the next:
 * a second there, and some more where the machine is busy. */
#define BEGINNING_NS (3 * (UINT64_C(1) << 29))

/* Threads that share a moment are sampled within this time, or one so long
 * after the other. */
#define MOMENT_NS UINT64_C(10000000)

static void widen(struct jr_times *times, size_t wanted)
{
    size_t room = times->nnodes ? times->nnodes : 64;
    struct jr_node_time *wide;

    while (room <= wanted)
        room *= 2;
    wide = jr_alloc(room, sizeof(*wide));
    if (times->nnodes > 0)
        memcpy(wide, times->nodes, times->nnodes * sizeof(*wide));
    free(times->nodes);
    times->nodes = wide;
    times->nnodes = room;
}

static struct jr_timed *thread_of(struct jr_times *times, uint32_t process,
                                  uint32_t tid, uint32_t *index)
{
    uint32_t fresh = (uint32_t)times->nthreads;

    *index = jr_table_put(&times->by_thread, process, tid, fresh);
    if (*index == fresh)
        *JR_PUSH(times->threads, times->nthreads, times->threads_room) =
            (struct jr_timed){.node = UINT32_MAX};
    return &times->threads[*index];
}

static void add_blocked(struct jr_times *times, uint32_t thread, uint32_t node,
                        uint64_t weight_ns)
{
    uint32_t fresh = (uint32_t)times->ncells;
    uint32_t cell = jr_table_put(&times->by_cell, thread, node, fresh);

    if (cell == fresh)
        *JR_PUSH(times->cells, times->ncells, times->cells_room) =
            (struct jr_cell){.thread = thread, .node = node};
    times->cells[cell].blocked_ns =
        jr_add(times->cells[cell].blocked_ns, weight_ns);
}

static struct jr_step *step_of(struct jr_times *times, uint32_t from,
                               uint32_t to)
{
    uint32_t fresh = (uint32_t)times->nsteps;
    uint32_t step = jr_table_put(&times->by_step, from, to, fresh);

    if (step == fresh)
        *JR_PUSH(times->steps, times->nsteps, times->steps_room) =
            (struct jr_step){.from = from, .to = to};
    return &times->steps[step];
}

/* `part` of the square of `unsure` is the variance. */
static void add_step(struct jr_times *times, struct jr_step between,
                     double unsure, double part)
{
    step_of(times, between.from, between.to)->variance +=
        unsure * unsure * part;
}

/* Adds a change that samples of a long stratum leave unsure, beside those of
 * other threads of the process that went the same way at about that time. */
static void add_together(struct jr_step *step, uint32_t process,
                         const struct jr_sample *sample, uint64_t stratum,
                         double unsure)
{
    struct jr_together *together = &step->together;
    double before;

    if (together->squares == 0 || together->process != process ||
        sample->time_ns - together->begin_ns > stratum)
        *together = (struct jr_together){.process = process,
                                         .begin_ns = sample->time_ns};
    before = fmax(together->squares, together->most);
    if (sample->time_ns - together->moment_ns > MOMENT_NS)
        together->at_moment = 0;
    together->moment_ns = sample->time_ns;
    together->at_moment += unsure;
    together->squares += unsure * unsure;
    together->most =
        fmax(together->most, together->at_moment * together->at_moment);
    step->variance +=
        (fmax(together->squares, together->most) - before) * 2 / 3;
}

double jr_step_variance(const struct jr_step *step)
{
    return step->variance + step->short_ns * step->short_ns;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Adds what is unsure about when the thread went to another node, where this is
 * the first sample that found it. */
static void add_change(struct jr_times *times, uint32_t process,
                       const struct jr_timed *thread, uint32_t node,
                       const struct jr_sample *sample)
{
    const uint64_t stratum = larger(sample->weight_ns, thread->last_ns);
    const uint64_t between = sample->time_ns - thread->time_ns;
    const double unsure = (double)less(between, stratum);
    struct jr_step *step = step_of(times, thread->node, node);

    if (stratum > 2 * times->period_ns)
        add_together(step, process, sample, stratum, unsure);
    else
        step->variance += unsure * unsure * 2 / 3;
}

/* Whether the sample is what a thread was given for the rest of a stratum, of
 * the stack that its last moment found. */
static int is_rest(const struct jr_timed *thread,
                   const struct jr_sample *sample)
{
    const uint64_t between = sample->time_ns - thread->time_ns;

    return between == 0 || between == JP_REST_GUESSED_NS;
}

/* A gap of so many weights between two samples is no stratum: the thread was
 * not sampled, or its time is in other samples. */
#define GAP 24

/* Where moments are drawn in strata, the weights of a wait at one node are the
 * time between its samples, but for one weight.  Where they are memoryless
 * (preload/sig/clock/strata.c) they are more or less than that: the square of
 * the difference is what that adds to the variance of the stay.  What was given
 * for the time behind the last sample (rest_ns) is no part of that. */
static void end_stay(struct jr_times *times, struct jr_timed *thread)
{
    const double off = fabs(thread->drift_ns - thread->rest_ns);

    if (thread->node != UINT32_MAX && thread->node != 0 &&
        off > (double)thread->most_ns)
        add_step(times, (struct jr_step){.from = thread->node}, off, 1);
    thread->drift_ns = 0;
    thread->rest_ns = 0;
    thread->most_ns = 0;
}

static void stay(struct jr_times *times, struct jr_timed *thread, uint32_t node,
                 const struct jr_sample *sample)
{
    const uint64_t weight = sample->weight_ns;
    const uint64_t between = sample->time_ns - thread->time_ns;

    if (thread->node != node || sample->event != JP_EVENT_WALL_BLOCKED)
        end_stay(times, thread);
    else if (between / GAP <= weight) {
        thread->drift_ns += (double)weight - (double)between;
        thread->rest_ns =
            is_rest(thread, sample) ? thread->rest_ns + (double)weight : 0;
    }
    if (weight > thread->most_ns)
        thread->most_ns = weight;
}

/* Notes until when the thread's samples stand for its time.  The strata lie one
 * behind the other; where samples are missing (a pause, a ring) a sample's own
 * time is the latest that is sure. */
static void follow(struct jr_timed *thread, const struct jr_sample *sample)
{
    const uint64_t weight = sample->weight_ns;
    const int waits = sample->event == JP_EVENT_WALL_BLOCKED;
    const int first = thread->node == UINT32_MAX;
    const uint64_t until = first ? 0 : jr_add(thread->until_ns, weight);

    if (first || !is_rest(thread, sample)) {
        thread->again_ns = thread->guessed_ns = 0;
    } else {
        thread->again_ns = jr_add(thread->again_ns, weight);
        if (sample->time_ns != thread->time_ns)
            thread->guessed_ns = jr_add(thread->guessed_ns, weight);
    }
    thread->until_ns = until > sample->time_ns ? until : sample->time_ns;
    thread->waited_ns = waits ? jr_add(thread->waited_ns, weight) : 0;
    thread->event = sample->event;
}

/* Notes whether this is the only sample that found the thread at its node. */
static void come(struct jr_timed *thread, uint32_t node,
                 const struct jr_sample *sample)
{
    if (thread->node != UINT32_MAX && thread->node != node) {
        thread->from = thread->node;
        thread->elsewhere_ns = thread->waited_ns;
        thread->came_ns = sample->weight_ns;
    } else if (!is_rest(thread, sample)) {
        thread->came_ns = 0;
    }
}

void jr_times_add(struct jr_times *times, uint32_t process, uint32_t node,
                  const struct jr_sample *sample)
{
    const uint8_t state = states[sample->event];
    const uint64_t weight = sample->weight_ns;
    uint32_t index;
    struct jr_timed *thread = thread_of(times, process, sample->tid, &index);

    if (node >= times->nnodes)
        widen(times, node);
    times->nodes[node].ns[state] = jr_add(times->nodes[node].ns[state], weight);
    thread->weight_ns = jr_add(thread->weight_ns, weight);
    if (state == JR_BLOCKED)
        add_blocked(times, index, node, weight);
    if (thread->node != UINT32_MAX && thread->node != node)
        add_change(times, process, thread, node, sample);
    stay(times, thread, node, sample);
    come(thread, node, sample);
    follow(thread, sample);
    thread->node = node;
    thread->last_ns = weight;
    thread->time_ns = sample->time_ns;
}

/* The time of a thread after its last sample, if it was waiting then and may
 * have waited on.  One that ended in a long wait has a last sample of the same
 * moment as the one before, for what was left; one that ended otherwise had a
 * stratum no longer than half as long again as its wait.  After one of a period
 * comes none of more than a sixteenth of the wait, but in the wait's beginning
 * (preload/sig/clock/clock_real.c: PART_OF_RESTLESS, WATCHED_NS): the thread
 * has ended when its wait had, before another signal came. */
static uint64_t open_of(const struct jr_timed *thread,
                        const struct jr_ending *ending)
{
    uint64_t most = jr_add(thread->waited_ns, thread->waited_ns / 2), left;

    if (thread->node == 0 || thread->event != JP_EVENT_WALL_BLOCKED ||
        thread->again_ns > 0 || thread->until_ns >= ending->end_ns)
        return 0;
    if (thread->last_ns <= 2 * ending->period_ns &&
        thread->waited_ns > BEGINNING_NS)
        most = thread->waited_ns / 8;
    most = most < STRATUM_MAX_NS ? most : STRATUM_MAX_NS;
    left = ending->end_ns - thread->until_ns;
    return left > 2 * ending->period_ns && left <= most ? left : 0;
}

/* Whether the last sample stands for time before its moment alone, in which the
 * thread was seen to be in one wait.  A stratum that was drawn goes on behind
 * the moment. */
static int is_proven(const struct jr_timed *thread,
                     const struct jr_ending *ending)
{
    return thread->event == JP_EVENT_WALL_BLOCKED &&
           thread->last_ns > 2 * ending->period_ns &&
           thread->until_ns - thread->time_ns <= 2 * ending->period_ns;
}

/* A thread whose time is known to this long before its process's end, or to two
 * periods, has lived as long as the process: threads end one after the other,
 * 50 of them in 1 ms, or 170 ms where other programs have the CPUs. */
#define END_NS UINT64_C(250000000)

static int is_to_the_end(const struct jr_timed *thread,
                         const struct jr_ending *ending)
{
    const uint64_t periods = 2 * ending->period_ns;

    return jr_add(thread->until_ns, periods > END_NS ? periods : END_NS) >=
           ending->end_ns;
}

/* What a thread that has ended in the long stratum whose sample found it at its
 * node lived less than that. */
static double cut_off(const struct jr_timed *thread,
                      const struct jr_ending *ending)
{
    const uint64_t lived = jr_add(thread->came_ns, thread->again_ns);
    const uint64_t stratum = less(thread->elsewhere_ns, STRATUM_MAX_NS / 2);

    return thread->came_ns > 0 && thread->event == JP_EVENT_WALL_BLOCKED &&
                   lived > 2 * ending->period_ns && lived < stratum
               ? (double)(stratum - lived)
               : 0;
}

/* What a thread was given for the rest of its time, unseen. */
static void end_rest(struct jr_times *times, const struct jr_path *nodes,
                     const struct jr_timed *thread,
                     const struct jr_ending *ending)
{
    struct jr_step out = {.from = thread->node};
    const double cut = cut_off(thread, ending);

    if (cut > 0)
        step_of(times, thread->from, thread->node)->short_ns += cut;
    for (out.to = out.from; nodes[out.to].parent != 0;)
        out.to = nodes[out.to].parent;
    if (thread->guessed_ns > 0)
        add_step(times, out, (double)thread->guessed_ns, 1.0 / 3);
    /* One that lived as long as its process may well have waited on. */
    else if (!is_to_the_end(thread, ending))
        add_step(times, out, (double)thread->again_ns, 1.0 / 6);
}

static void end_thread(struct jr_times *times, const struct jr_path *nodes,
                       const struct jr_timed *thread,
                       const struct jr_ending *ending)
{
    if (thread->again_ns > 0)
        end_rest(times, nodes, thread, ending);
    else if (!is_proven(thread, ending))
        add_step(times, (struct jr_step){.from = thread->node},
                 (double)thread->last_ns, 1.0 / 6);
}

void jr_times_end(struct jr_times *times, const struct jr_path *nodes,
                  const struct jr_ending *ending)
{
    for (size_t i = ending->first; i < times->nthreads; i++)
        if (times->threads[i].node != 0) {
            end_thread(times, nodes, &times->threads[i], ending);
            end_stay(times, &times->threads[i]);
        }
}

uint64_t jr_times_open(const struct jr_times *times,
                       const struct jr_ending *ending, uint64_t *threads)
{
    uint64_t sum = 0;

    *threads = 0;
    for (size_t i = ending->first; i < times->nthreads; i++) {
        const uint64_t left = open_of(&times->threads[i], ending);

        sum = jr_add(sum, left);
        *threads += left > 0;
    }
    return sum;
}

void jr_times_free(struct jr_times *times)
{
    free(times->nodes);
    free(times->threads);
    free(times->cells);
    free(times->steps);
    jr_table_free(&times->by_thread);
    jr_table_free(&times->by_cell);
    jr_table_free(&times->by_step);
    *times = (struct jr_times){0};
}
