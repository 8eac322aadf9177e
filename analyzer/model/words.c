/* SPDX-License-Identifier: MIT
 *
 * Names of the log's numeric codes: a stable word for the summary and a phrase
 * for the text and HTML reports.
 * Runs in: analyzer. */
#include "words.h"

#include "model.h"

struct word {
    const char *word, *text;
};

static const struct word unknown = {"unknown", "unknown"};

#define CLOCK(id, name, word, text) {word, text},
static const struct word clocks[JP_CLOCK_COUNT] = {JP_CLOCKS(CLOCK)};

static const struct word events[JP_EVENT_COUNT] = {
    [JP_EVENT_CPU] = {"cpu", "[cpu]"},
    [JP_EVENT_WALL_RUNNING] = {"running", "[running]"},
    [JP_EVENT_WALL_BLOCKED] = {"blocked", "[blocked]"},
    [JP_EVENT_RAISED] = {"raised", "[raised]"},
    [JP_EVENT_WALL_READY] = {"ready", "[ready]"},
};

static const struct word walkers[JP_WALKER_COUNT] = {
    [JP_WALKER_FP] = {"fp", "frame pointers"},
    [JP_WALKER_LIBUNWIND] = {"libunwind", "libunwind"},
    [JP_WALKER_CFI] = {"cfi", "call-frame information alone"},
    [JP_WALKER_AUTO] = {"auto", "call-frame information and frame pointers"},
};

static const struct word reasons[JP_REASON_COUNT] = {
    [JP_REASON_ROOT] = {"root", "complete to the thread's root"},
    [JP_REASON_DEPTH] = {"depth", "deeper than the depth limit"},
    [JP_REASON_BAD_FP] = {"bad_fp", "invalid frame pointer"},
    [JP_REASON_NO_RULE] = {"no_rule", "no unwind rule for the code"},
    [JP_REASON_BOUNDS] = {"bounds", "frame outside the stack"},
    [JP_REASON_NO_STACK] = {"no_stack", "stack bounds unknown"},
    [JP_REASON_WALKER] = {"walker", "unwinder failed"},
    [JP_REASON_FIBER] = {"fiber", "complete to the fiber's root"},
};

static const struct word losses[JR_LOST_COUNT] = {
    [JP_COUNT_LOST_STALE] = {"stale", "thread already ended"},
    [JP_COUNT_LOST_REENTRANT] = {"reentrant",
                                 "signal while a sample was taken"},
    [JP_COUNT_LOST_RESERVED] = {"reserved", "no longer in use"},
    [JP_COUNT_LOST_NO_LOG] = {"no_log", "log could not be created"},
    [JP_COUNT_LOST_NO_SPACE] = {"no_space", "no space in the file system"},
    [JP_COUNT_LOST_NO_MEMORY] = {"no_memory", "no memory"},
    [JP_COUNT_LOST_NO_SLOT] = {"no_slot", "too many threads"},
};

static const struct word *pick(const struct word *words, size_t count,
                               size_t index)
{
    return index < count ? &words[index] : &unknown;
}

const char *jr_event_word(unsigned event)
{
    return pick(events, JP_EVENT_COUNT, event)->word;
}

const char *jr_event_frame(unsigned event)
{
    return pick(events, JP_EVENT_COUNT, event)->text;
}

const char *jr_clock_word(uint32_t clock)
{
    return pick(clocks, JP_CLOCK_COUNT, clock)->word;
}

const char *jr_clock_text(uint32_t clock)
{
    return pick(clocks, JP_CLOCK_COUNT, clock)->text;
}

const char *jr_walker_word(uint32_t walker)
{
    return pick(walkers, JP_WALKER_COUNT, walker)->word;
}

const char *jr_walker_text(uint32_t walker)
{
    return pick(walkers, JP_WALKER_COUNT, walker)->text;
}

const char *jr_reason_word(unsigned reason)
{
    return pick(reasons, JP_REASON_COUNT, reason)->word;
}

const char *jr_reason_text(unsigned reason)
{
    return pick(reasons, JP_REASON_COUNT, reason)->text;
}

const char *jr_lost_word(unsigned counter)
{
    return pick(losses, JR_LOST_COUNT, counter)->word;
}

const char *jr_lost_text(unsigned counter)
{
    return pick(losses, JR_LOST_COUNT, counter)->text;
}
