/* SPDX-License-Identifier: MIT
 *
 * Shared state, counters and the one line on stderr.
 * Runs in: handler, any thread. */
#include "process.h"

#include <errno.h>
#include <stddef.h>

#include "mapfile.h"
#include "sys.h"
#include "text.h"

struct jp_config jp_config;
struct jp_owner *jp_owner;
struct jp_process jp_process;

static uint64_t early_counters[JP_COUNT_COUNT];
static uint64_t *_Atomic counters = early_counters;

static const char *const note_texts[JP_NOTE_COUNT] = {
    "JP_RTC_HZ: no usable /dev/rtc here; real-time timers at that rate were "
    "used instead",
    "JP_PERIOD was under 0.0001 s and was raised to it",
    "JP_STACK=libunwind: libunwind.so.8 could not be loaded; "
    "JP_STACK=auto was used instead",
    "the program uses the pause signal (SIGUSR1) itself: it does not pause "
    "the profile (use jprof pause PID)",
    "the program uses the clear signal (SIGUSR2) itself: it does not clear "
    "the ring (use jprof clear PID)",
    "the program uses the profiling clock's signal itself, and no other is "
    "free: the clock shares it",
    "the program uses the profiling clock's signal itself: the clock took "
    "another",
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
};

const char *jp_note_text_sig(unsigned index)
{
    return note_texts[index];
}

void jp_note_sig(uint32_t note)
{
    uint32_t old = atomic_fetch_or(&jp_process.notes, note);
    if ((old & note) == 0)
        jp_mapfile_notes_sig(note);
}

void jp_count_sig(unsigned counter, uint64_t amount)
{
    uint64_t *array = atomic_load(&counters);
    __atomic_fetch_add(&array[counter], amount, __ATOMIC_RELAXED);
}

void jp_counters_use_sig(uint64_t *array)
{
    if (array == NULL) {
        atomic_store(&counters, early_counters);
        for (unsigned i = 0; i < JP_COUNT_COUNT; i++)
            early_counters[i] = 0;
        return;
    }
    atomic_store(&counters, array);
    for (unsigned i = 0; i < JP_COUNT_COUNT; i++) {
        uint64_t early =
            __atomic_exchange_n(&early_counters[i], 0, __ATOMIC_RELAXED);
        __atomic_fetch_add(&array[i], early, __ATOMIC_RELAXED);
    }
}

const char *jp_error_text_sig(int error)
{
    static const struct {
        int error;
        const char *text;
    } texts[] = {
        {EACCES, "permission denied"},
        {EAGAIN, "out of resources (see ulimit -i)"},
        {EDQUOT, "disk quota exceeded"},
        {EEXIST, "the file exists"},
        {EFBIG, "file size limit reached"},
        {EINVAL, "invalid argument"},
        {EIO, "input/output error"},
        {ELOOP, "it is a symbolic link"},
        {EMFILE, "too many open files"},
        {ENAMETOOLONG, "file name too long"},
        {ENOENT, "no such file or directory"},
        {ENOMEM, "out of memory"},
        {ENOSPC, "no space left"},
        {ENOTDIR, "not a directory"},
        {EPERM, "operation not permitted"},
        {ESTALE, "it was removed or replaced"},
        {EROFS, "read-only file system"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].error == error)
            return texts[i].text;
    }
    return NULL;
}

void jp_complain_sig(const char *a, const char *b, int error)
{
    char buffer[512];
    struct jp_text text;
    jp_text_init_sig(&text, buffer, sizeof(buffer) - 1);
    jp_text_add_sig(&text, "jprof: ");
    jp_text_add_sig(&text, a);
    if (b != NULL)
        jp_text_add_sig(&text, b);
    if (error != 0) {
        const char *known = jp_error_text_sig(error);
        jp_text_add_sig(&text, ": ");
        jp_text_add_sig(&text, known != NULL ? known : "error ");
        if (known == NULL)
            jp_text_decimal_sig(&text, (uint64_t)error);
    }
    buffer[text.length] = '\n';
    jp_sys_write_sig(2, buffer, text.length + 1);
}
