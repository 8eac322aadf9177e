/* SPDX-License-Identifier: MIT
 *
 * The heuristics of the clock of real time, one row each: where the kernel does
 * not tell what a thread did, or a plain estimate was measured to be wrong, one
 * of these decides.  tests/unit/test_pre_heuristics.c has a scenario of each
 * row's name, switches each row off, and sees that scenario fail.
 * Runs in: everywhere (types only). */
#ifndef JP_HEURISTICS_H
#define JP_HEURISTICS_H

#include <stdint.h>

/* ROW(id, scenario, name, condition, evidence) */
#define JP_HEURISTICS(ROW)                                                     \
    ROW(PARKED, parked, "parked strata",                                       \
        "the thread stays in one wait: strata as long as the wait has lasted", \
        "idle threads cost one wake-up a period before: 1,596 ms of CPU time " \
        "a minute for 501 threads, then 1,039")                                \
    ROW(RESTLESS, restless, "restless sixteenth",                              \
        "a wait of the thread ended, or it computed, in the last minute: "     \
        "strata of a 16th of the wait, of a period in its first second",       \
        "a ring was full of the samples after a hang with a 64th")             \
    ROW(YOUNG, young, "young threads",                                         \
        "the thread is not twice as old as those that ended lately: strata "   \
        "of a period",                                                         \
        "brief threads' computing before their end went to the wait before "   \
        "it, on a busy machine")                                               \
    ROW(PASSING, passing, "threads that end",                                  \
        "threads have ended in the last minute: others' strata are a 16th "    \
        "of the wait",                                                         \
        "a thread's last wait is found too seldom in strata as long as the "   \
        "wait (tests/run/test_partings.py)")                                   \
    ROW(TOGETHER, together, "shared moments",                                  \
        "the strata are long: up to eight threads share their moments",        \
        "a wake-up for each thread cost 70 to 90 us on a virtual machine")     \
    ROW(MEMORYLESS, memoryless, "memoryless queues",                           \
        "others wait for the same thing: moments are exponentially "           \
        "distributed",                                                         \
        "12 threads with one mutex: the time in which it was held was 74% "    \
        "too long at 100 Hz")                                                  \
    ROW(PULL, pull, "pull of a quarter",                                       \
        "a memoryless stratum makes up a quarter of the time by which "        \
        "samples were behind",                                                 \
        "a 64th left a thread's total wrong by 5.7 periods (standard "         \
        "deviation)")                                                          \
    ROW(ONE_WAIT, one_wait, "one wait by switches",                            \
        "one voluntary switch, hardly any CPU time and the same stack: it is " \
        "the same wait",                                                       \
        "with pc and sp as proof, each wait in between went to the wrong "     \
        "stack")                                                               \
    ROW(WAY_BACK, way_back, "way back into a wait",                            \
        "found outside of its wait, without a switch, after 200 us of CPU "    \
        "time: it is on its way back",                                         \
        "on a busy machine a thread loses its CPU there, and each such look "  \
        "ended a long wait")                                                   \
    ROW(SLOW_RETURN, slow_return, "slow return behind a filter",               \
        "its timer cannot be set, one switch, none of its waits ended for a "  \
        "second: more CPU time was a slow return",                             \
        "one in 25 to 60 looks on a busy virtual machine")                     \
    ROW(STILL, still, "seems still by its stack",                              \
        "the kernel does not tell the switches: the last KiB of the stack is " \
        "as it was",                                                           \
        "a process that did nothing for 26 s had 60 of 74 ms of jprof's own "  \
        "CPU time as its own")                                                 \
    ROW(DOUBT, doubt, "cost of looks off their sum",                           \
        "a thread seems still, but ended a wait lately: the cost comes off "   \
        "the sum of its looks",                                                \
        "off each look, 50 of 80 ms became the program's")                     \
    ROW(TRACED, traced, "traced threads",                                      \
        "a tracer is there, and the thread has used its CPU: it did not "      \
        "block",                                                               \
        "three threads under strace -f had 78 to 93% of their CPU time in "    \
        "running samples, and have 95 to 96%")                                 \
    ROW(SUPERVISED, supervised, "supervised calls",                            \
        "the thread waits in a call in which threads wait for a supervisor "   \
        "only: strata of a second",                                            \
        "20 calls of 50 ms were looked at 486 times at 100 Hz, and are 25 "    \
        "times")                                                               \
    ROW(WOKEN, woken, "just left a call that only waits",                      \
        "found behind a call that does nothing but wait: it was woken, and "   \
        "had no CPU yet",                                                      \
        "the time until it got a CPU was running time before")                 \
    ROW(IN_CALL, in_call, "CPU time in calls",                                 \
        "more than six strata of CPU time are due: a sample in another wait "  \
        "than the last stands for running",                                    \
        "27 to 52% of a nanosleep loop's CPU time was in samples, and is 86 "  \
        "to 99%; BIND's 69 to 88%, now 93 to 95%")                             \
    ROW(LEAN, lean, "running samples lean",                                    \
        "running samples were given too much or too little: each makes up a "  \
        "quarter",                                                             \
        "the sum of a thread's running samples is its CPU time, but for four " \
        "strata")                                                              \
    ROW(TAIL, tail, "half of the last computing",                              \
        "half of the CPU time before a signal counts as if used again before " \
        "the stratum's end",                                                   \
        "threads of twelve periods that compute for half of them: 96.7% of "   \
        "it was in running samples, and is 99.9%")                             \
    ROW(COST, cost, "cost of looking",                                         \
        "the last look found it waiting: the cost of a look is taken off its " \
        "CPU time",                                                            \
        "programs with many short waits had a fifth too much (QEMU)")          \
    ROW(END, end, "end of a long wait",                                        \
        "it blocked once since the last look, which was in time, and "         \
        "computes: the wait's end is known",                                   \
        "computing after a long wait went to the stratum's draw before")       \
    ROW(HELD, held, "held without a CPU",                                      \
        "it lost its CPU after a long wait: a share of its scheduling delay "  \
        "is ready time",                                                       \
        "at nice 19 beside busy processes, a second of it went to the wait")   \
    ROW(LATE, late, "late signals are ready",                                  \
        "found computing, having blocked, over 80 us late, and no four "       \
        "strata are due: it had no CPU",                                       \
        "time without a CPU was running time, made up for by the waits")       \
    ROW(SPLIT, split, "split after the draw",                                  \
        "a signal came a period after the stratum's end: the rest is known, "  \
        "and a sample of its own",                                             \
        "a known time counted as drawn made the report's error too large")     \
    ROW(RUN_LONG, run_long, "long runs end strata",                            \
        "a parked thread has computed for eight periods: its stratum ends",    \
        "all CPU time after a nap went to the wait before it in five of "      \
        "eight runs, a third to all of it")                                    \
    ROW(GUESSED, guessed, "guessed rest",                                      \
        "a parked thread ends, and blocked more than once: the rest may be "   \
        "of other waits",                                                      \
        "the report's error lacked the wait that is found too seldom")

enum jp_heuristic {
#define JP_HEURISTIC_ID(id, scenario, name, condition, evidence)               \
    JP_HEURISTIC_##id,
    JP_HEURISTICS(JP_HEURISTIC_ID)
#undef JP_HEURISTIC_ID
        JP_HEURISTIC_COUNT
};

/* 1 where a heuristic is in force: a constant but in unit tests, which switch
 * one off by its bit. */
#ifdef JP_TEST_HEURISTICS
extern uint64_t jp_heuristics_off;
#define JP_HEURISTIC(id) ((jp_heuristics_off >> JP_HEURISTIC_##id & 1) == 0)
#else
#define JP_HEURISTIC(id) 1
#endif

#endif
