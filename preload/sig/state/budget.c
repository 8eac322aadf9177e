/* SPDX-License-Identifier: MIT
 *
 * The budget of signals' time: allowance, charges, and the cost of interrupts.
 * Runs in: handler. */
#include "budget.h"

#include "process.h"
#include "sig/os/sys.h"

/* All signals of a thread, with the kernel's work for them, may take a fifth of
 * its time, and the handler a tenth: where the handler takes longer than the
 * kernel, its time is charged twice. */
#define ALLOWED 5

/* The period at which signals of this mean charge use a little less than the
 * allowance. */
#define NEEDED(charge_ns) ((charge_ns)*11 / 2)

/* The most allowance that a thread may save up, and the most that it may
 * owe. */
#define CREDIT_NS 1000000
#define OWED_NS 500000000

/* A pool of allowance that all threads share, for work that comes once in a
 * process (making the log, reading the list of mappings).  A sixteenth of what
 * threads save beyond CREDIT_NS fills it up again. */
#define POOL_NS 10000000
#define POOL_PART 16

/* No period gets longer than this. */
#define LONGEST_NS JP_NS

/* A handler that takes LONG_NS may have been off the CPU meanwhile.  The next
 * WARY handlers are then timed by the thread's CPU clock as well, and this one
 * is charged UNSURE_NS at most. */
#define LONG_NS 50000U
#define UNSURE_NS 1000000U
#define WARY 64U

/* How many signals the mean charge is of at most, and how many must have been
 * charged before the period is shortened. */
#define WINDOW 32U
#define WINDOW_LEAST 8U

/* What a signal costs besides its handler and its interrupt: the frame on the
 * stack, the return from it, setting the timer again, and lost cache contents.
 * A signal that comes at the kernel's tick does not cost the last two. */
#define SIGNAL_NS 10000U
#define TICK_SIGNAL_NS 3000U

/* The cost of an interrupt matters, and is measured, in periods up to
 * PROBE_PERIOD_NS: at one signal of PROBE_SIGNALS until PROBES were measured,
 * then once in PROBE_NS. */
#define PROBE_PERIOD_NS 600000U
#define PROBE_NS 100000000U
#define PROBE_SIGNALS 8U
#define PROBES 5U

/* A leap of the clock of GAP_NS and more is an interrupt; one of more than
 * GAP_MOST_NS has other causes, too, and counts as that much. */
#define GAP_NS 2000U
#define GAP_MOST_NS 150000U

static _Atomic int64_t pool = POOL_NS;

static _Atomic uint64_t interrupt_ns; /* the median of the gaps; 0: unknown */
static uint64_t gaps[PROBES];         /* the last leaps measured */
static uint32_t gap_count;
static _Atomic uint64_t next_probe; /* when to measure next; UINT64_MAX: a
                                       thread does, and has the two above */

/* Whether each of the clock's signals is an interrupt of its own. */
static int interrupts_sig(void)
{
    return jp_process.clock->interrupts;
}

static uint64_t signal_cost_sig(int interrupts)
{
    return interrupts ? SIGNAL_NS + atomic_load_explicit(&interrupt_ns,
                                                         memory_order_relaxed)
                      : TICK_SIGNAL_NS;
}

void jp_budget_begin_sig(struct jp_budget *budget)
{
    const int interrupts = interrupts_sig();
    const uint64_t least = NEEDED(signal_cost_sig(interrupts));
    budget->credit_ns = CREDIT_NS;
    budget->charged_ns = 0;
    budget->count = 0;
    budget->wary = 0;
    budget->settling = 0;
    budget->period_ns = interrupts && atomic_load(&interrupt_ns) != 0 &&
                                least > jp_config.period_ns
                            ? least
                            : jp_config.period_ns;
}

void jp_budget_enter_sig(const struct jp_budget *budget, struct jp_visit *visit,
                         uint64_t now_ns)
{
    visit->begin_ns = now_ns;
    visit->cpu_ns =
        budget->wary != 0 ? jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID) : 0;
}

/* How long the handler took, in ns. */
static uint64_t taken_sig(struct jp_budget *budget,
                          const struct jp_visit *visit)
{
    const uint64_t taken = jp_sys_clock_sig(CLOCK_MONOTONIC) - visit->begin_ns;
    if (taken <= LONG_NS) {
        budget->wary -= budget->wary != 0;
        return taken;
    }
    budget->wary = WARY;
    if (visit->cpu_ns == 0)
        return taken < UNSURE_NS ? taken : UNSURE_NS;
    const uint64_t cpu =
        jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID) - visit->cpu_ns;
    return cpu < taken ? cpu : taken;
}

static void save_sig(struct jp_budget *budget)
{
    const int64_t over = budget->credit_ns - CREDIT_NS;
    if (over <= 0)
        return;
    budget->credit_ns = CREDIT_NS;
    if (atomic_load_explicit(&pool, memory_order_relaxed) < POOL_NS)
        atomic_fetch_add(&pool, over < POOL_NS ? over / POOL_PART : POOL_NS);
}

/* Pays what the thread owes from the common pool.  Returns 0 when the pool has
 * too little. */
static int forgiven_sig(struct jp_budget *budget)
{
    int64_t left = atomic_load(&pool);
    do {
        if (left + budget->credit_ns < 0)
            return 0;
    } while (
        !atomic_compare_exchange_weak(&pool, &left, left + budget->credit_ns));
    budget->credit_ns = 0;
    return 1;
}

static int set_sig(struct jp_budget *budget, uint64_t period_ns)
{
    const uint64_t asked = jp_config.period_ns;
    if (period_ns > LONGEST_NS)
        period_ns = LONGEST_NS;
    if (period_ns < asked)
        period_ns = asked;
    if (period_ns == budget->period_ns)
        return 0;
    budget->period_ns = period_ns;
    budget->charged_ns = 0;
    budget->count = 0;
    budget->settling = 1;
    return 1;
}

/* Signals cost too much: lengthens the period at once to what is needed, and by
 * a quarter at least. */
static int lengthen_sig(struct jp_budget *budget)
{
    const uint64_t needed = NEEDED(budget->charged_ns / budget->count);
    const uint64_t longer = budget->period_ns + budget->period_ns / 4;
    if (budget->credit_ns < -(int64_t)OWED_NS)
        budget->credit_ns = -(int64_t)OWED_NS;
    return set_sig(budget, needed > longer ? needed : longer);
}

/* Signals have cost less than allowed for a while: shortens the period, by half
 * at most, since what they will cost then is not known. */
static int shorten_sig(struct jp_budget *budget)
{
    const uint64_t needed = NEEDED(budget->charged_ns / budget->count);
    const uint64_t half = budget->period_ns / 2;
    const uint64_t next = needed > half ? needed : half;
    if (next > budget->period_ns - budget->period_ns / 4 &&
        needed > jp_config.period_ns)
        return 0;
    return set_sig(budget, next);
}

int jp_budget_leave_sig(struct jp_budget *budget, const struct jp_visit *visit,
                        uint64_t elapsed_ns)
{
    const uint64_t taken = taken_sig(budget, visit);
    const uint64_t cost = signal_cost_sig(interrupts_sig());
    const uint64_t charge = taken + (taken > cost ? taken : cost);
    const uint64_t allowed = elapsed_ns / ALLOWED;
    budget->settling = 0;
    if (budget->count >= WINDOW) {
        budget->charged_ns /= 2;
        budget->count /= 2;
    }
    budget->charged_ns += charge;
    budget->count++;
    budget->credit_ns += (int64_t)allowed - (int64_t)charge;
    if (budget->credit_ns < 0) {
        if (forgiven_sig(budget) || allowed >= charge)
            return 0;
        return lengthen_sig(budget);
    }
    if (budget->credit_ns < CREDIT_NS)
        return 0;
    save_sig(budget);
    return jp_budget_lowered_sig(budget) && budget->count >= WINDOW_LEAST &&
           shorten_sig(budget);
}

void jp_budget_changed_sig(struct jp_budget *budget, uint64_t begin_ns)
{
    const uint64_t taken = jp_sys_clock_sig(CLOCK_MONOTONIC) - begin_ns;
    budget->credit_ns -= (int64_t)(taken < UNSURE_NS ? taken : UNSURE_NS);
}

static void take_gap_sig(uint64_t gap)
{
    uint64_t sorted[PROBES] = {0};
    uint32_t count = gap_count < PROBES ? gap_count + 1 : PROBES;
    gaps[gap_count % PROBES] = gap;
    gap_count = gap_count < PROBES * 2 - 1 ? gap_count + 1 : PROBES;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > gaps[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = gaps[i];
    }
    atomic_store(&interrupt_ns, sorted[count / 2]);
}

/* Reads the clock until it leaps.  Returns by how much, 0 when it did not
 * within a period and a quarter. */
static uint64_t next_gap_sig(uint64_t period_ns)
{
    uint64_t last = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const uint64_t end = last + period_ns + period_ns / 4;
    while (last < end) {
        const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
        if (now - last >= GAP_NS)
            return now - last < GAP_MOST_NS ? now - last : GAP_MOST_NS;
        last = now;
    }
    return 0;
}

void jp_budget_probe_sig(const struct jp_budget *budget, struct jp_visit *visit)
{
    uint64_t due = atomic_load_explicit(&next_probe, memory_order_relaxed);
    if (visit->begin_ns < due || budget->period_ns > PROBE_PERIOD_NS ||
        budget->count % PROBE_SIGNALS != PROBE_SIGNALS - 1 ||
        !atomic_compare_exchange_strong(&next_probe, &due, UINT64_MAX))
        return;
    const uint64_t begin = jp_sys_clock_sig(CLOCK_MONOTONIC);
    take_gap_sig(next_gap_sig(budget->period_ns));
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    visit->begin_ns += now - begin;
    visit->cpu_ns += visit->cpu_ns != 0 ? now - begin : 0;
    atomic_store(&next_probe, gap_count < PROBES ? now : now + PROBE_NS);
}

void jp_budget_reset_sig(void)
{
    uint64_t now = UINT64_MAX;
    atomic_store(&pool, POOL_NS);
    /* A thread of the parent's that was measuring is not in this process. */
    atomic_compare_exchange_strong(&next_probe, &now, 0);
}
