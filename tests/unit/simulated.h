/* SPDX-License-Identifier: MIT
 *
 * A thread in simulated time under the pure stages of the clock of real time:
 * what the kernel would tell is in the test's hands.
 * Runs in: tests; included once in an executable, after cmocka.h. */
#ifndef JP_TEST_SIMULATED_H
#define JP_TEST_SIMULATED_H

#include <string.h>
#include <sys/syscall.h>

#include "../../preload/sig/timers/left.h"
#include "../../preload/sig/timers/random.h"
#include "../../preload/sig/wall/classify.h"
#include "../../preload/sig/wall/estimate.h"

#define MS 1000000ULL
#define SECOND (1000 * MS)
#define PERIOD (10 * MS)

/* What a signal finds the thread in: the program's code, a call that its signal
 * ended, a queue, a call that a supervisor answers, or the end of a call that
 * does nothing but wait. */
enum found { COMPUTES, IN_CALL, IN_QUEUE, SUPERVISED, WOKEN };

struct simulated {
    struct jp_wall wall;
    struct jp_given given;
    uint64_t now_ns, cpu_ns; /* the clocks, */
    uint64_t delay_ns;       /* the time that it has waited for a CPU, */
    uint64_t switches, held; /* and its switches */
    uint64_t print;          /* of its stack */
    uint64_t before_ns;      /* its CPU clock at the last signal's end */
    uint64_t wakeup_ns; /* the CPU time that its other timer expires at, or 0 */
    uint64_t draws;     /* random numbers drawn so far */
    uint32_t index;     /* its record among two */
    uint8_t same;       /* its stack is that of its last sample */
    uint8_t traced, supervised;
    struct jp_look look;    /* the last signal's, */
    struct jp_due due, sum; /* what it stands for, and all samples do; */
    unsigned samples;
};

static uint64_t random_bits(struct simulated *thread)
{
    return jp_random_hash_sig(++thread->draws * 0x9e3779b97f4a7c15ULL +
                              thread->index);
}

static struct jp_draw draw_of(struct simulated *thread)
{
    return (struct jp_draw){.now_ns = thread->now_ns,
                            .random = random_bits(thread),
                            .pid = 1,
                            .index = thread->index,
                            .used = 2};
}

/* A thread whose clock is armed; another seed: with other random numbers. */
static struct simulated begun_by(uint32_t seed)
{
    struct simulated thread = {
        .given = {.period_ns = PERIOD, .threads = 1, .is_main = 1},
        .now_ns = 1000 * SECOND,
        .cpu_ns = SECOND,
        .before_ns = SECOND,
        .draws = seed * 1000,
        .same = 1,
    };
    const uint64_t now = thread.now_ns;
    thread.wall.seen.switches = JP_LEFT_UNKNOWN;
    thread.wall.wait.found_ns = thread.wall.balance.given_ns = now;
    thread.wall.stratum.armed_ns = thread.wall.stratum.begin_ns = now;
    thread.wall.stratum.end_ns = now + PERIOD;
    thread.wall.stratum.moment_ns =
        now + jp_schedule_moment_sig(random_bits(&thread), PERIOD);
    return thread;
}

static struct simulated begun(void)
{
    return begun_by(0);
}

static struct jp_wall_call call_of(const struct simulated *thread,
                                   enum found found)
{
    return (struct jp_wall_call){
        .number = found == IN_QUEUE     ? SYS_futex
                  : found == SUPERVISED ? SYS_mount
                                        : -1,
        .waited = found != COMPUTES && found != WOKEN,
        .after = found != COMPUTES,
        .only_waits = found == WOKEN,
        .queues = found == IN_QUEUE,
        .rare = found == SUPERVISED,
        .supervised = found == SUPERVISED && thread->supervised,
    };
}

/* The stages look and classify. */
static void look_at(struct simulated *thread, enum found found)
{
    struct jp_look *look = &thread->look;
    memset(look, 0, sizeof(*look));
    look->seen = (struct jp_observation){
        .now_ns = thread->now_ns,
        .before_ns = thread->before_ns,
        .used_ns = thread->cpu_ns - thread->before_ns,
        .switches = thread->switches,
        .held = thread->held,
        .print = thread->print,
        .delay_ns = thread->delay_ns,
        .call = call_of(thread, found),
        .cpu_known = 1,
    };
    thread->wall.seen.at_ns = thread->now_ns;
    jp_classify_state_sig(&thread->wall, look);
    look->seen.traced = thread->traced && jp_classify_needs_traced_sig(look);
    jp_classify_wait_sig(&thread->wall, look);
    jp_classify_held_sig(&thread->wall, look);
}

/* The next signal is compared with this one. */
static void remember(struct simulated *thread)
{
    thread->wall.seen.switches = thread->switches;
    thread->wall.seen.held = thread->held;
    thread->wall.seen.ours_ns = 0;
    thread->before_ns += thread->look.found.used_ns;
}

static void sample(struct simulated *thread)
{
    struct jp_look *look = &thread->look;
    struct jp_wall *wall = &thread->wall;
    const struct jp_draw draw = draw_of(thread);
    struct jp_accounted result = {.due = &thread->due};
    jp_classify_since_sample_sig(wall, look);
    jp_classify_compared_sig(&look->found,
                             !look->found.same && !look->found.returns
                                 ? JP_STACK_UNKNOWN
                             : thread->same ? JP_STACK_SAME
                                            : JP_STACK_OTHER);
    thread->supervised |= jp_schedule_shows_supervised_sig(look);
    jp_estimate_sample_sig(wall, &thread->given, &draw, look, &result);
    wall->seen.delay_ns += result.late_ns;
    if (result.learns)
        thread->given.cost_ns =
            jp_left_learned_sig(thread->given.cost_ns, result.learned_ns);
    if (wall->stratum.parked && !wall->stratum.was_parked)
        wall->seen.delay_ns = thread->delay_ns;
    thread->wakeup_ns =
        wall->stratum.parked ? thread->cpu_ns + JP_SCHEDULE_RUNS_NS : 0;
    remember(thread);
    thread->sum.before += thread->due.before;
    thread->sum.running += thread->due.running;
    thread->sum.blocked += thread->due.blocked;
    thread->sum.ready += thread->due.ready;
    thread->sum.after += thread->due.after;
    thread->samples++;
}

/* A signal of the thread's timer, or (woken) of the one on its CPU clock.
 * Returns whether it takes a sample. */
static int signal_to(struct simulated *thread, int woken, enum found found)
{
    struct jp_wall *wall = &thread->wall;
    struct jp_accounted result = {0};
    const int skipped =
        !woken && jp_schedule_follow_sig(&wall->stratum, thread->given.lowered,
                                         0, thread->now_ns);
    memset(&thread->due, 0, sizeof(thread->due));
    if (wall->balance.given_ns == 0 ||
        (woken ? !wall->stratum.parked
               : !skipped && thread->now_ns < wall->stratum.moment_ns))
        return 0;
    look_at(thread, found);
    if ((!woken && !skipped) || thread->look.found.ends ||
        (woken && jp_schedule_runs_long_sig(&wall->stratum, &thread->look.found,
                                            PERIOD))) {
        sample(thread);
        return 1;
    }
    if (jp_estimate_skip_sig(wall, &thread->given, &thread->look, skipped,
                             &result))
        remember(thread);
    return 0;
}

/* Time goes on to the next moment, or to when a timer that goes on by itself
 * expires. */
static void to_moment(struct simulated *thread)
{
    const struct jp_wall_stratum *stratum = &thread->wall.stratum;
    const uint64_t now = thread->now_ns;
    if (stratum->fence_ns == 0)
        thread->now_ns =
            stratum->moment_ns > now ? stratum->moment_ns : now + 1;
    else if (now < stratum->fence_ns)
        thread->now_ns = stratum->fence_ns;
    else
        thread->now_ns += stratum->fence_period_ns -
                          (now - stratum->fence_ns) % stratum->fence_period_ns;
}

/* The thread's timer can no longer be set. */
__attribute__((unused)) static void fence(struct simulated *thread)
{
    const struct jp_draw period = draw_of(thread), first = draw_of(thread);
    jp_schedule_fence_sig(&thread->wall.stratum, &thread->given, &period,
                          &first);
}

/* A thread that is in one wait from its beginning on, after `count` samples
 * there. */
__attribute__((unused)) static struct simulated waiting(unsigned count)
{
    struct simulated thread = begun();
    for (unsigned i = 0; i < count; i++) {
        to_moment(&thread);
        thread.switches++;
        signal_to(&thread, 0, IN_CALL);
    }
    return thread;
}

/* The thread ends, and blocked so often since its last sample; thread->due:
 * what it is given then. */
__attribute__((unused)) static void finish(struct simulated *thread,
                                           unsigned blocks)
{
    struct jp_accounted result = {.due = &thread->due};
    const struct jp_end end = {.now_ns = thread->now_ns,
                               .ran_ns = thread->cpu_ns - thread->before_ns,
                               .switches = thread->switches + blocks,
                               .own = 1,
                               .goes_on = 1};
    memset(&thread->due, 0, sizeof(thread->due));
    jp_account_rest_sig(
        &thread->wall, &end, thread->given.cost_ns,
        jp_schedule_reach_sig(&thread->wall.stratum, &thread->given, &end),
        &result);
    thread->sum.before += thread->due.before;
    thread->sum.running += thread->due.running;
    thread->sum.ready += thread->due.ready;
}

static inline uint64_t all_of(const struct jp_due *due)
{
    return due->before + due->running + due->blocked + due->ready + due->after;
}

#endif
