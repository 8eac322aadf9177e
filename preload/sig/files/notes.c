/* SPDX-License-Identifier: MIT
 *
 * The texts of notes, and writing them.
 * Runs in: handler, any thread. */
#include "notes.h"

#include <stdatomic.h>

#include "jp_map.h"
#include "mapfile.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/state/process.h"

static const char *const note_texts[JP_NOTE_COUNT] = {
    "JP_RTC_HZ: no usable /dev/rtc here; real-time timers at that rate were "
    "used instead",
    "JP_STACK=libunwind: libunwind.so.8 could not be loaded; "
    "JP_STACK=auto was used instead",
    "the program set an action for the pause signal (SIGUSR1) or waited for "
    "it: then it does not pause the profile (use jprof pause PID)",
    "the program set an action for the clear signal (SIGUSR2) or waited for "
    "it: then it does not clear the ring (use jprof clear PID)",
    "the program set an action or a timer for the profiling clock's signal, or "
    "waited for it, and no other is free: the clock shares it",
    "the program set an action or a timer for the profiling clock's signal, or "
    "waited for it: the clock took another",
    "the program replaced the handler of the profiling clock's signal by a "
    "system call: from then on it was not sampled",
    "the perf clock is not to be had here (kernel.perf_event_paranoid above 1 "
    "without CAP_PERFMON, or the clock's signal is a real-time one): samples "
    "come with the kernel's tick and stand for several periods each",
    "JP_CLOCK=itimer: one timer for the whole process; what a sample stands "
    "for is given to the thread that ran at the tick",
    "the kernel refused timers (pending signals, ulimit -i): one timer for the "
    "whole process; what a sample stands for is given to the thread that ran "
    "at the tick",
    "the log was cut short while it was written: the profile ended there",
    "the kernel does not say how much CPU time the process used: its coverage "
    "is not known",
    "the program then took the signal that the clock had moved to as well, and "
    "no other is free: from then on the clock shares that one",
    "the kernel does not say how much CPU time the process's children used: "
    "the time of one without a log is missing unnoticed",
    "the program replaced the handler of the profiling clock's signal by a "
    "system call: the clock took another",
    "the kernel refused timers (pending signals, ulimit -i): one timer for the "
    "whole process; real time is sampled in the thread that gets its signal, "
    "which as a rule is the first",
};

static void write_sig(uint32_t notes)
{
    char buffer[JP_MAPFILE_SHORT];
    struct jp_text text;
    if (!jp_mapfile_ready_sig())
        return;
    for (unsigned i = 0; i < JP_NOTE_COUNT; i++) {
        if ((notes & (1U << i)) == 0)
            continue;
        jp_text_init_sig(&text, buffer, sizeof(buffer));
        jp_mapfile_line_sig(&text, jp_sys_clock_sig(CLOCK_MONOTONIC),
                            JP_MAP_NOTE);
        jp_mapfile_string_sig(&text, "text", note_texts[i]);
        jp_mapfile_append_sig(&text);
    }
}

void jp_note_sig(uint32_t note)
{
    const uint32_t old = atomic_fetch_or(&jp_process.notes, note);
    if ((old & note) == 0)
        write_sig(note);
}

void jp_notes_write_sig(void)
{
    write_sig(atomic_load(&jp_process.notes));
}
