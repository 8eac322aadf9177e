/* SPDX-License-Identifier: MIT
 *
 * Sends the profile of a running program, an interval at a time: jprof-report
 * makes one profile of the samples that the rings have of the interval, and
 * what the server does not take waits in the spool.  The rings are read as
 * they are: each that `jprof save` keeps would take its room on disk for ever.
 * Runs in: launcher. */
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/base/say.h"
#include "launcher/os/spawn.h"
#include "launcher/push/ended.h"
#include "launcher/push/flush.h"
#include "launcher/push/parts.h"
#include "report.h"

#define NS UINT64_C(1000000000)
/* A sample may be written this long after its time: a stratum of a waiting
 * thread ends after 4.3 s (preload/sig/clock/strata.h). */
#define LATE_NS (5 * NS)
#define LAST_TRIES 3
/* while the server is away, so many intervals pass without a try at most */
#define SKIP_MOST 7U

struct sending {
    const struct jl_options *options;
    const struct jl_folder *folder;
    const char *reporter;
    char *curl;
    struct jl_spool spool;
    struct jl_ended ended;
    uint64_t from_ns; /* CLOCK_MONOTONIC: samples before this time are sent
                         or spooled */
    unsigned failures, skips; /* failures of the server without a success
                                 between, and intervals to skip */
    size_t sent;
    int told_cut;
};

static char *moment(const char *option, uint64_t ns)
{
    return jr_printf("%s=@%" PRIu64 ".%09" PRIu64, option, ns / NS, ns % NS);
}

/* Puts the samples from from_ns to `until_ns` (UINT64_MAX: all) into the
 * spool.  If the logs cannot be read now, they are with the next interval. */
static void collect(struct sending *sending, uint64_t until_ns)
{
    char *const folder[] = {(char *)".", NULL};
    char *options[] = {moment("--from", sending->from_ns), NULL, NULL};
    struct jl_parts parts = {0};
    int status;

    if (until_ns != UINT64_MAX)
        options[1] = moment("--to", until_ns);
    status =
        jl_parts_make(&parts, sending->reporter, sending->folder->fd, options,
                      folder, 1, &sending->options->to, &sending->spool);
    free(options[0]);
    free(options[1]);
    if (parts.cut_ns > 0 && !sending->told_cut) {
        sending->told_cut = 1;
        jr_say("the ring is too small for an interval: %.3f s are missing in "
               "what is pushed; use a larger --ring or a shorter --every",
               (double)parts.cut_ns / 1e9);
    }
    if (parts.messages == 0 && parts.lost > 0)
        return; /* said; the next interval has it too, if the ring does */
    if (status == JR_COMPLETE || status == JR_PARTIAL || parts.messages > 0)
        sending->from_ns = until_ns;
    else
        jr_say("the profile of an interval could not be made (status %d of "
               "jprof-report); the next one has it too, if the ring does",
               status);
}

/* Sends the spool, unless the server was away lately. */
static void send_all(struct sending *sending, unsigned tries)
{
    const int is_last = tries > 1;
    struct jl_flush flush;

    if (sending->skips > 0 && !is_last) {
        sending->skips--;
        return;
    }
    jl_flush_spool(&flush, sending->curl, &sending->options->to,
                   &sending->spool, tries);
    sending->sent += flush.sent;
    if (flush.left == 0 && sending->failures > 0)
        jr_say("%s takes profiles again", sending->options->to.url);
    if (flush.left > 0 && (sending->failures == 0 || is_last))
        jr_say("%s: %s; profiles wait in %s (%zu)", sending->options->to.url,
               flush.last.text, sending->spool.folder.shown, flush.left);
    sending->failures = flush.left > 0 ? sending->failures + 1 : 0;
    sending->skips = sending->failures > 3 ? SKIP_MOST
                     : sending->failures   ? (1U << sending->failures) - 1
                                           : 0;
}

static void interval(struct sending *sending)
{
    uint64_t until_ns = jr_now_ns(CLOCK_MONOTONIC);

    jl_ended_note(&sending->ended, sending->folder);
    until_ns = until_ns > LATE_NS ? until_ns - LATE_NS : 0;
    if (until_ns > sending->from_ns && jl_report_logs(sending->folder) > 0) {
        collect(sending, until_ns);
        if (sending->from_ns == until_ns)
            jl_ended_remove(&sending->ended, sending->folder, until_ns);
    }
    send_all(sending, 1);
}

/* Collects and sends each interval until the other end of `alive` is closed. */
static void go_on(struct sending *sending, int alive)
{
    const uint64_t every_ns = sending->options->every_ns;
    struct pollfd end = {.fd = alive};
    uint64_t next_ns = jr_now_ns(CLOCK_MONOTONIC) + every_ns;

    for (;;) {
        const uint64_t at_ns = jr_now_ns(CLOCK_MONOTONIC);
        const int ms =
            at_ns < next_ns ? (int)((next_ns - at_ns) / 1000000U) + 1 : 0;

        if (poll(&end, 1, ms) > 0)
            return;
        if (jr_now_ns(CLOCK_MONOTONIC) < next_ns)
            continue;
        interval(sending);
        while (next_ns <= jr_now_ns(CLOCK_MONOTONIC))
            next_ns += every_ns;
    }
}

/* Ignores the signals by which a user ends the program: this process has to
 * send the rest then. */
static void ignore_signals(void)
{
    static const int ended_by[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                   SIGUSR1, SIGUSR2, SIGALRM};

    for (size_t i = 0; i < sizeof ended_by / sizeof *ended_by; i++)
        (void)signal(ended_by[i], SIG_IGN);
}

/* This process must not keep the program's stdin and stdout open. */
static _Noreturn void run_sender(struct sending *sending, int alive)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), niceness;

    ignore_signals();
    if (null >= 0 && (dup2(null, 0) < 0 || dup2(null, 1) < 0))
        _exit(JR_FAILED);
    niceness = nice(10);
    (void)niceness; /* it works on as it is where that is refused */
    go_on(sending, alive);
    if (jl_report_logs(sending->folder) > 0)
        collect(sending, UINT64_MAX);
    send_all(sending, LAST_TRIES);
    if (sending->spool.dropped > 0)
        jr_say("messages, the oldest, that had to make room (--spool-size) and "
               "are lost: %zu",
               sending->spool.dropped);
    jr_say("pushed %zu messages to %s", sending->sent,
           sending->options->to.url);
    _exit(JR_COMPLETE);
}

void jl_live_start(struct jl_live *live, const struct jl_options *options,
                   const struct jl_folder *folder, const char *reporter)
{
    struct sending sending = {.options = options,
                              .folder = folder,
                              .reporter = reporter,
                              .curl = jl_curl_find(),
                              .from_ns = jr_now_ns(CLOCK_MONOTONIC)};
    int ends[2];

    jl_spool_open(&sending.spool, &options->to);
    if (pipe2(ends, O_CLOEXEC) != 0)
        jl_fail(JR_FAILED, "pipe: %s", strerror(errno));
    live->pid = fork();
    if (live->pid < 0)
        jl_fail(JR_FAILED, "fork: %s", strerror(errno));
    if (live->pid == 0) {
        close(ends[1]);
        run_sender(&sending, ends[0]);
    }
    close(ends[0]);
    live->alive = ends[1];
    jl_spool_close(&sending.spool);
    free(sending.curl);
}

void jl_live_finish(const struct jl_live *live)
{
    int status;

    close(live->alive);
    while (waitpid(live->pid, &status, 0) < 0 && errno == EINTR)
        ;
}
