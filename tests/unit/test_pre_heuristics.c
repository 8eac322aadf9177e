/* SPDX-License-Identifier: MIT
 *
 * The heuristics of the clock of real time (wall/heuristics.h), in simulated
 * time: the pure stages are linked alone, with a switch for each row.  A row's
 * scenario is within its bound with the heuristic, and beyond it without.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../preload/sig/wall/heuristics.h"
#include "simulated.h"

uint64_t jp_heuristics_off;

static int is_in(uint64_t value, uint64_t low, uint64_t high)
{
    return value >= low && value <= high;
}

/* A wait of 200 s costs few samples. */
static int parked(void)
{
    struct simulated thread = waiting(0);
    const uint64_t begin = thread.now_ns;
    while (thread.now_ns < begin + 200 * SECOND) {
        to_moment(&thread);
        thread.switches++;
        signal_to(&thread, 0, IN_CALL);
    }
    return thread.samples < 120;
}

/* In how many of so many rounds a short wait behind a wait of four seconds was
 * sampled. */
static unsigned found_short_waits(struct simulated *thread, unsigned rounds)
{
    const uint64_t length = 4 * SECOND + SECOND / 2;
    const uint64_t begin = thread->now_ns;
    uint64_t last = 0;
    unsigned found = 0, seen = rounds;
    while (thread->now_ns < begin + rounds * length) {
        const uint64_t was = thread->now_ns;
        to_moment(thread);
        const uint64_t at = thread->now_ns - begin, place = at % length;
        const unsigned round = (unsigned)(at / length);
        const int in_short = place >= 4 * SECOND;
        const int crossed = (was - begin) / length != at / length ||
                            ((was - begin) % length < 4 * SECOND) == in_short;
        thread->switches += crossed ? 2 : 1;
        thread->same = !crossed && last == (uint64_t)in_short;
        last = (uint64_t)in_short;
        signal_to(thread, 0, IN_CALL);
        found += in_short && round != seen;
        seen = in_short ? round : seen;
    }
    return found;
}

/* A thread that computed lately: its short waits behind long ones are found. */
static int restless(void)
{
    struct simulated thread = begun();
    to_moment(&thread);
    thread.switches++;
    signal_to(&thread, 0, IN_CALL);
    to_moment(&thread);
    thread.cpu_ns += PERIOD / 2;
    signal_to(&thread, 0, COMPUTES);
    return found_short_waits(&thread, 100) >= 90;
}

/* So are those of threads that may end in them, as others have done. */
static int passing(void)
{
    unsigned found = 0;
    for (uint32_t i = 0; i < 100; i++) {
        struct simulated thread = begun_by(i);
        thread.given.is_main = 0;
        thread.given.ended_ns = thread.now_ns;
        found += found_short_waits(&thread, 1);
    }
    return found >= 90;
}

/* A thread's life on a busy machine: a wait, then computing, in which it has no
 * CPU for a period between two halves of one, and its end. */
#define BRIEF_WAIT (12 * PERIOD)
#define BRIEF_LIFE (BRIEF_WAIT + 2 * PERIOD)

static uint64_t brief_cpu(uint64_t age)
{
    if (age <= BRIEF_WAIT)
        return 0;
    const uint64_t in = age - BRIEF_WAIT, half = PERIOD / 2;
    return in < half ? in : in < half + PERIOD ? half : in - PERIOD;
}

/* The time of such a thread's samples, and of what it is given at its end, that
 * is where it computed. */
static uint64_t brief_computing(struct simulated *thread)
{
    const uint64_t begin = thread->now_ns, cpu = thread->cpu_ns;
    const uint64_t back = begin + BRIEF_WAIT + PERIOD / 2 + PERIOD;
    uint64_t computing = 0;
    int waits = 1, woken = 0;
    for (;;) {
        to_moment(thread);
        const int wakes =
            thread->wall.stratum.parked && !woken && thread->now_ns > back;
        uint64_t at = wakes ? back : thread->now_ns;
        if (at >= begin + BRIEF_LIFE)
            break;
        if (at > back - PERIOD && at < back)
            at = back;
        thread->now_ns = at;
        thread->cpu_ns = cpu + brief_cpu(at - begin);
        thread->switches += (uint64_t)waits;
        woken |= wakes;
        const int in_wait = at < begin + BRIEF_WAIT;
        if (!signal_to(thread, wakes, in_wait ? IN_CALL : COMPUTES)) {
            thread->switches -= (uint64_t)waits;
            continue;
        }
        waits = in_wait;
        computing += waits ? 0 : all_of(&thread->due) - thread->due.before;
    }
    thread->now_ns = begin + BRIEF_LIFE;
    thread->cpu_ns = cpu + brief_cpu(BRIEF_LIFE);
    finish(thread, 0);
    return computing + (waits ? 0 : all_of(&thread->due));
}

/* The time after a brief thread's wait is said to have passed outside of it. */
static int young(void)
{
    const unsigned count = 4000;
    uint64_t computing = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct simulated thread = begun_by(i);
        thread.given.life_ns = BRIEF_LIFE;
        thread.given.ended_ns = thread.now_ns;
        computing += brief_computing(&thread);
    }
    return is_in(computing, 94 * count * 2 * PERIOD / 100,
                 106 * count * 2 * PERIOD / 100);
}

/* Two threads that wait mostly have one moment. */
static int together(void)
{
    struct simulated both[2] = {begun(), begun()};
    unsigned equal = 0;
    both[1].index = 1;
    for (unsigned i = 0; i < 4000; i++) {
        const uint64_t first = both[0].wall.stratum.moment_ns;
        const uint64_t second = both[1].wall.stratum.moment_ns;
        struct simulated *next = &both[second < first];
        equal += first == second;
        to_moment(next);
        next->switches++;
        signal_to(next, 0, IN_CALL);
    }
    return equal > 1500;
}

/* A thread that is let through a queue when it was not sampled for long: its
 * work behind the queue is seen for as long as it lasts. */
static int memoryless(void)
{
    const uint64_t patience = 3 * PERIOD / 2, work = PERIOD / 2;
    struct simulated thread = begun();
    uint64_t seen = 0, truth = 0, until = 0, waits_since = thread.now_ns;
    for (unsigned i = 0; i < 40000; i++) {
        to_moment(&thread);
        const uint64_t moment = thread.now_ns;
        while (moment >= until && moment > waits_since + patience) {
            until = waits_since + patience + work;
            waits_since = until;
            truth += work;
        }
        const int works = moment < until;
        /* A wait of several samples is known to be one. */
        thread.same = !works && moment > until && waits_since > until;
        if (!works)
            waits_since = moment;
        thread.switches += thread.same ? 1 : 2;
        signal_to(&thread, 0, works ? IN_CALL : IN_QUEUE);
        seen += works ? thread.due.blocked : 0;
    }
    return is_in(seen, 93 * truth / 100, 107 * truth / 100);
}

/* Memoryless samples' time stays near the clock's. */
static int pull(void)
{
    const unsigned count = 20000;
    struct simulated thread = begun();
    double squares = 0;
    thread.same = 0;
    to_moment(&thread);
    signal_to(&thread, 0, IN_QUEUE);
    const uint64_t begin = thread.now_ns;
    for (unsigned i = 0; i < count; i++) {
        thread.switches += 2;
        to_moment(&thread);
        signal_to(&thread, 0, IN_QUEUE);
        const double behind = ((double)(thread.now_ns - begin) -
                               (double)(thread.sum.blocked - PERIOD)) /
                              (double)PERIOD;
        squares += behind * behind;
    }
    return squares / count < 5;
}

/* CPU time between short waits at one place is the program's. */
static int one_wait(void)
{
    const uint64_t used = 3 * MS / 10;
    struct simulated thread = begun();
    for (unsigned i = 0; i < 1000; i++) {
        to_moment(&thread);
        thread.cpu_ns += used;
        thread.switches += 3;
        signal_to(&thread, 0, IN_CALL);
    }
    const int64_t counted =
        (int64_t)thread.sum.running + thread.wall.balance.remainder_ns;
    return counted > (int64_t)(800 * used);
}

/* A thread that lost its CPU on its way back into a long wait: the wait goes
 * on, and so do long strata. */
static int way_back(void)
{
    struct simulated thread = waiting(30);
    to_moment(&thread);
    thread.cpu_ns += MS / 50;
    signal_to(&thread, 0, COMPUTES);
    return thread.wall.stratum.moment_ns > thread.now_ns + 2 * PERIOD;
}

/* A long wait behind a filter: one look in fifty takes 2 ms. */
static int slow_return(void)
{
    struct simulated thread = begun();
    const uint64_t begin = thread.now_ns;
    fence(&thread);
    for (unsigned i = 0; thread.now_ns < begin + 100 * SECOND; i++) {
        to_moment(&thread);
        signal_to(&thread, 0, IN_CALL);
        thread.switches++;
        thread.cpu_ns += i % 50 == 0 ? 2 * MS : MS / 50;
    }
    return thread.samples < 200;
}

/* The same where nobody tells how often it has blocked. */
static int still(void)
{
    struct simulated thread = begun();
    const uint64_t begin = thread.now_ns;
    fence(&thread);
    thread.switches = JP_LEFT_UNKNOWN;
    thread.print = 1;
    while (thread.now_ns < begin + 50 * SECOND) {
        to_moment(&thread);
        thread.cpu_ns += MS / 50;
        signal_to(&thread, 0, IN_CALL);
    }
    return thread.samples < 400;
}

/* There waits that end twice a second: some looks cost more than others, and
 * none of it is the program's. */
static int doubt(void)
{
    struct simulated thread = begun();
    const uint64_t begin = thread.now_ns;
    uint64_t changed = begin + 20 * SECOND;
    int64_t before = 0;
    fence(&thread);
    thread.switches = JP_LEFT_UNKNOWN;
    thread.print = 1;
    for (unsigned i = 0; thread.now_ns < begin + 60 * SECOND; i++) {
        to_moment(&thread);
        thread.cpu_ns += i % 2 == 0 ? MS / 25 : 0;
        if (thread.now_ns >= changed) {
            if (thread.print++ == 1)
                before = thread.wall.balance.remainder_ns;
            changed += SECOND / 2;
        }
        signal_to(&thread, 0, IN_CALL);
    }
    return thread.sum.running + thread.sum.ready < 25 * MS &&
           thread.wall.balance.remainder_ns - before < (int64_t)(25 * MS);
}

/* It computes, and each signal comes late after a stop for its tracer. */
static int traced(void)
{
    struct simulated thread = begun();
    thread.traced = 1;
    to_moment(&thread);
    signal_to(&thread, 0, COMPUTES);
    for (unsigned i = 0; i < 100; i++) {
        const uint64_t last = thread.now_ns;
        to_moment(&thread);
        thread.cpu_ns += thread.now_ns - last;
        thread.now_ns += MS / 5;
        thread.switches++;
        signal_to(&thread, 0, COMPUTES);
    }
    return thread.sum.ready < 5 * PERIOD;
}

/* Twenty calls of 50 ms: each signal has the thread ask its supervisor anew. */
static int supervised(void)
{
    const uint64_t turn = 55 * MS;
    struct simulated thread = begun();
    const uint64_t begin = thread.now_ns;
    uint64_t last = 20;
    unsigned asked = 0;
    while (thread.now_ns < begin + 20 * turn) {
        to_moment(&thread);
        const uint64_t call = (thread.now_ns - begin) / turn;
        const int computes = (thread.now_ns - begin) % turn < 5 * MS;
        thread.switches += call == last ? 1 : 2;
        thread.cpu_ns += call == last ? 0 : MS;
        thread.same = call == last;
        last = call;
        asked += signal_to(&thread, 0, computes ? COMPUTES : SUPERVISED) &&
                 !computes;
    }
    return asked < 30;
}

/* It computed, waited, and is found where it leaves the call. */
static int woken(void)
{
    struct simulated thread = begun();
    uint64_t running = 0;
    for (unsigned i = 0; i < 40; i++) {
        to_moment(&thread);
        thread.cpu_ns += MS;
        thread.switches++;
        signal_to(&thread, 0, WOKEN);
        running += i > 0 && i < 5 ? thread.due.running : 0;
    }
    return running == 0;
}

/* A loop of naps, whose CPU time is in their calls. */
static int in_call(void)
{
    struct simulated thread = begun();
    const uint64_t cpu = thread.cpu_ns;
    for (unsigned i = 0; i < 1000; i++) {
        to_moment(&thread);
        thread.cpu_ns += 3 * MS;
        thread.switches += 20;
        signal_to(&thread, 0, IN_CALL);
    }
    return thread.sum.running > 80 * (thread.cpu_ns - cpu) / 100;
}

/* It runs for a tenth of each period and is found running in all of them. */
static int lean(void)
{
    struct simulated thread = begun();
    for (unsigned i = 0; i < 400; i++) {
        to_moment(&thread);
        thread.cpu_ns += PERIOD / 10;
        thread.switches += 2;
        thread.now_ns += i % 2 == 0 ? 80001 : 0;
        signal_to(&thread, 0, COMPUTES);
    }
    return is_in(thread.sum.running, 35 * PERIOD, 45 * PERIOD);
}

/* Many threads that compute for the first half of each 1.5 ms and live for
 * twelve periods: their running samples' sum is their CPU time. */
static int tail(void)
{
    const unsigned count = 4000, life = 12;
    uint64_t running = 0, used = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct simulated thread = begun_by(i);
        const uint64_t cpu = thread.cpu_ns, begin = thread.now_ns;
        for (to_moment(&thread); thread.now_ns < begin + life * PERIOD;
             to_moment(&thread)) {
            const uint64_t at = thread.now_ns - begin, turn = 3 * MS / 2;
            const uint64_t in = at % turn, half = turn / 2;
            thread.cpu_ns = cpu + at / turn * half + (in < half ? in : half);
            thread.switches += 2;
            signal_to(&thread, 0, in < half ? COMPUTES : IN_CALL);
        }
        running += thread.sum.running;
        used += life * PERIOD / 2;
    }
    return is_in(running, 98 * used / 100, 102 * used / 100);
}

/* Each look costs 0.03 ms, and the program uses 0.07 ms beside. */
static int cost(void)
{
    const uint64_t around = 30000, used = 70000;
    struct simulated thread = begun();
    for (unsigned i = 0; i < 100; i++) {
        to_moment(&thread);
        thread.cpu_ns += i == 0 ? 0 : around;
        thread.switches++;
        signal_to(&thread, 0, IN_CALL);
    }
    const int64_t known = thread.wall.balance.remainder_ns;
    for (unsigned i = 0; i < 100; i++) {
        to_moment(&thread);
        thread.cpu_ns += around + used;
        thread.switches += 3;
        signal_to(&thread, 0, IN_CALL);
    }
    const int64_t counted =
        (int64_t)thread.sum.running + thread.wall.balance.remainder_ns - known;
    return is_in((uint64_t)counted, 99 * used, 101 * used);
}

/* It waited for 5 ms more, lacked a CPU, if so, and ran for 1.5 ms: its other
 * timer tells at once, and what it did is known. */
static int end(void)
{
    struct simulated thread = waiting(30);
    thread.now_ns += 5 * MS + 3 * MS / 2;
    thread.cpu_ns += 3 * MS / 2;
    thread.switches++;
    return signal_to(&thread, 1, COMPUTES) &&
           thread.due.running == 3 * MS / 2 && thread.due.before == 5 * MS;
}

static int held(void)
{
    struct simulated thread = waiting(30);
    thread.now_ns += 5 * MS + 3 * MS / 2 + 40 * MS;
    thread.cpu_ns += 3 * MS / 2;
    thread.delay_ns += 40 * MS;
    thread.switches++;
    thread.held += 3;
    signal_to(&thread, 1, COMPUTES);
    return thread.due.ready == 30 * MS && thread.due.before == 15 * MS;
}

/* It waits for half of the time, and lacks a CPU for the other half. */
static int late(void)
{
    struct simulated thread = begun();
    for (unsigned i = 0; i < 400; i++) {
        to_moment(&thread);
        thread.switches += 2;
        thread.now_ns += i % 2 == 0 ? MS : 0;
        signal_to(&thread, 0, i % 2 == 0 ? COMPUTES : IN_CALL);
    }
    const uint64_t all = all_of(&thread.sum);
    return is_in(thread.sum.ready, 40 * all / 100, 60 * all / 100);
}

/* A signal that comes three periods after its stratum. */
static int split(void)
{
    struct simulated thread = waiting(1);
    thread.same = 0;
    thread.now_ns = thread.wall.stratum.end_ns + 3 * PERIOD;
    signal_to(&thread, 0, IN_CALL);
    return thread.due.blocked == PERIOD && thread.due.after == 3 * PERIOD;
}

/* It left a long wait, napped, and computes. */
static int run_long(void)
{
    struct simulated thread = waiting(30);
    thread.now_ns += 6 * MS;
    thread.cpu_ns += MS;
    thread.switches += 2;
    signal_to(&thread, 1, COMPUTES);
    thread.now_ns += JP_SCHEDULE_RUN_PERIODS * PERIOD;
    thread.cpu_ns += JP_SCHEDULE_RUN_PERIODS * PERIOD;
    return signal_to(&thread, 1, COMPUTES) &&
           thread.due.running == JP_SCHEDULE_RUN_PERIODS * PERIOD + MS &&
           !thread.wall.stratum.parked;
}

/* A thread that ends in a long stratum: the rest is surely its wait's if it
 * blocked once. */
static int guessed(void)
{
    struct simulated sure = waiting(30), unsure = waiting(30);
    sure.now_ns += PERIOD;
    unsure.now_ns += PERIOD;
    finish(&sure, 1);
    finish(&unsure, 2);
    return !sure.due.guessed && unsure.due.guessed;
}

static const struct row {
    const char *name;
    int (*holds)(void);
} rows[] = {
#define ROW(id, scenario, name, condition, evidence) {name, scenario},
    JP_HEURISTICS(ROW)
#undef ROW
};

/* Each row's scenario holds, and does not with the row switched off. */
static void test_rows(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (unsigned i = 0; i < JP_HEURISTIC_COUNT; i++) {
        jp_heuristics_off = 0;
        const int with = rows[i].holds();
        jp_heuristics_off = UINT64_C(1) << i;
        const int without = rows[i].holds();
        jp_heuristics_off = 0;
        if (with && !without)
            continue;
        wrong++;
        print_error("%s: its scenario %s\n", rows[i].name,
                    with ? "holds without it" : "fails");
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
