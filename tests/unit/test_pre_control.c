/* SPDX-License-Identifier: MIT
 *
 * Commands: what each does and in which order, what it does not do, and those
 * that come while another is carried out.  What they call is the test's, and
 * says that it was called.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "../../preload/sig/clock/clock_timer.h"
#include "../../preload/sig/control.h"
#include "../../preload/sig/handler.h"
#include "../../preload/sig/log/chunk.h"
#include "../../preload/sig/os/filter.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/thread.h"

#define START JP_CONTROL_START
#define PAUSE JP_CONTROL_PAUSE
#define CLEAR JP_CONTROL_CLEAR
#define SAVE JP_CONTROL_SAVE

/* What commands are made of; `+`: the profile runs, as others see it. */
#define BEGIN "slow+ adopt+ arm+ "
#define END "slow- disarm "
#define SETTLE "own ring maps names jit usage sync "
#define CLEARED "sync [clear] "
#define CLEARED_4 CLEARED CLEARED CLEARED CLEARED

static struct jp_owner owner;
static struct jp_log_header header;
static uint64_t counts[JP_COUNT_COUNT];
static char done[2048]; /* what was called, word by word */
static int log_error, slow_error, refuses_start;
static unsigned yields, sleeps;
/* Called once, when this word is said. */
static const char *moment;
static void (*meanwhile)(void);

static void say(const char *word)
{
    const size_t length = strlen(done);
    snprintf(done + length, sizeof(done) - length, "%s ", word);
    if (meanwhile != NULL && strcmp(word, moment) == 0) {
        void (*event)(void) = meanwhile;
        meanwhile = NULL;
        event();
    }
}

/* All functions of one kind: a word for each. */
#define SAYS(name, word)                                                       \
    void __wrap_##name(void);                                                  \
    void __wrap_##name(void)                                                   \
    {                                                                          \
        say(word);                                                             \
    }

SAYS(jp_owned_check_sig, "own")
SAYS(jp_log_ring_rotate_sig, "ring")
SAYS(jp_names_all_sig, "names")
SAYS(jp_usage_note_sig, "usage")
SAYS(jp_usage_end_sig, "usage-end")
SAYS(jp_log_sync_sig, "sync")
SAYS(jp_logfile_end_sig, "log-end")
SAYS(jp_reserve_end_sig, "share-end")
SAYS(jp_cfi_copy_all_sig, "cfi")
SAYS(jp_ring_ensure_sig, "writers")
SAYS(jp_reserve_make_sig, "reserve")
SAYS(jp_clock_fall_back_to_itimer_sig, "share")

FAKE(int, jp_maps_scan_sig, (void))
{
    say("maps");
    return 0;
}

FAKE(int, jp_logfile_ensure_sig, (void))
{
    say("log");
    return log_error;
}

FAKE(void, jp_jit_save_sig, (int whole))
{
    say(whole ? "jit-whole" : "jit");
}

static int runs(void)
{
    return atomic_load(&jp_process.running) != 0;
}

FAKE(int, jp_process_timer_run_sig, (int on))
{
    say(on ? "slow+" : runs() ? "slow-too-soon" : "slow-");
    return on ? slow_error : 0;
}

FAKE(void, jp_adopt_all_sig, (void))
{
    say(runs() ? "adopt+" : "adopt");
}

FAKE(void, jp_clock_all_sig, (int arm))
{
    say(!arm ? "disarm" : runs() ? "arm+" : "arm");
}

FAKE(void, jp_mapfile_event_sig,
     (const char *event, int64_t number, int with_cpu))
{
    char word[64];
    snprintf(word, sizeof(word), number >= 0 ? "[%s%s%d]" : "[%s%s]", event,
             with_cpu ? "" : "-bare", (int)number);
    say(word);
}

FAKE(void, jp_sampling_flush_time_sig, (struct jp_thread * thread))
{
    char word[32];
    const int held = atomic_load(&thread->state) == JP_THREAD_ARMING;
    snprintf(word, sizeof(word), "%s%u", held ? "held" : "free", thread->tid);
    say(word);
}

FAKE(struct jp_buffer *, jp_sampling_ensure_buffer_sig,
     (struct jp_thread * thread))
{
    char word[32];
    snprintf(word, sizeof(word), "buffer%u", thread->tid);
    say(word);
    return NULL;
}

FAKE(void, jp_complain_sig, (const char *a, const char *b, int error))
{
    (void)a, (void)b, (void)error;
    say("complain");
}

FAKE(int, jp_filter_verdict_sig, (long number, const long arguments[6]))
{
    (void)arguments;
    return refuses_start && number == SYS_timer_create ? -EPERM : 0;
}

static int answers(long number, const long a[5], long *result)
{
    (void)a;
    *result = 0;
    yields += number == SYS_sched_yield;
    sleeps += number == SYS_clock_nanosleep;
    return number == SYS_sched_yield || number == SYS_clock_nanosleep;
}

static int set_up(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    memset(&header, 0, sizeof(header));
    fake.answers = answers;
    fake.now_ns = 1000 * JP_NS;
    fake.process_ns = 7 * JP_NS;
    done[0] = '\0';
    moment = NULL;
    meanwhile = NULL;
    log_error = slow_error = refuses_start = 0;
    yields = sleeps = 0;
    jp_process.clock = &jp_clock_timer;
    jp_process.signal = SIGPROF;
    jp_config.period_ns = 10000000;
    jp_config.ring_bytes = 0;
    atomic_store(&jp_process.running, 0);
    atomic_store(&jp_process.first_pending, 0);
    atomic_store(&jp_process.sections, 0);
    atomic_store(&jp_process.first_section_ns, 0);
    atomic_store(&jp_log.state, JP_LOG_NONE);
    atomic_store(&jp_log.cut, 0);
    jp_log.header = &header;
    jp_control_reset_sig();
    jp_counters_use_sig(counts);
    if (jp_threads_init_sig() != 0)
        return -1;
    jp_threads_reset_sig();
    return 0;
}

/* What a command did. */
static const char *after(enum jp_control command)
{
    done[0] = '\0';
    jp_control_sig(command);
    return done;
}

static void test_start(void **state)
{
    (void)state;
    atomic_store(&jp_process.first_pending, 1);
    /* The log is made at the first sample. */
    assert_string_equal(after(START), BEGIN);
    assert_true(runs());
    assert_int_equal(jp_process.sections, 1);
    assert_int_equal(jp_process.first_section_ns, fake.now_ns);
    assert_int_equal(jp_process.first_section_cpu_ns, fake.process_ns);
    assert_int_equal(jp_process.first_pending, 0);
}

static void test_start_twice(void **state)
{
    (void)state;
    after(START);
    fake.now_ns++;
    assert_string_equal(after(START), "");
    assert_int_equal(jp_process.sections, 1);
    assert_int_equal(jp_process.first_section_ns, fake.now_ns - 1);
}

static void test_start_again(void **state)
{
    (void)state;
    after(START);
    after(PAUSE);
    fake.now_ns++;
    assert_string_equal(after(START), "log [section1] " BEGIN);
    assert_int_equal(jp_process.first_section_ns, fake.now_ns - 1);
    after(PAUSE);
    assert_string_equal(after(START), "log [section2] " BEGIN);
    /* Nothing can be written any more. */
    after(PAUSE);
    log_error = -EIO;
    assert_string_equal(after(START), "log ");
    assert_false(runs());
}

/* Where the kernel gives out no timers, one stands in for all. */
static void test_start_without_slow(void **state)
{
    (void)state;
    slow_error = -EAGAIN;
    assert_string_equal(after(START), "slow+ share adopt+ arm+ ");
}

static void test_start_behind_filter(void **state)
{
    static uint64_t filter;
    (void)state;
    refuses_start = 1;
    atomic_store(&jp_filters, (struct jp_filter *)(void *)&filter);
    const char *words = after(START);
    atomic_store(&jp_filters, NULL);
    assert_string_equal(words, "");
    assert_int_equal(jp_process.sections, 0);
    assert_string_equal(after(START), BEGIN);
}

/* The map is up to date before the line that says so. */
static void test_pause(void **state)
{
    (void)state;
    after(START);
    assert_string_equal(after(PAUSE), END "log " SETTLE "[pause] ");
    assert_false(runs());
    assert_string_equal(after(PAUSE), "");
}

static void test_pause_without_log(void **state)
{
    (void)state;
    after(START);
    log_error = -EIO;
    assert_string_equal(after(PAUSE), END "log ");
    assert_false(runs());
}

/* Threads whose clock has been stopped, and which may not end meanwhile; those
 * that are at their end write what is left themselves. */
static void test_pause_writes_rests(void **state)
{
    (void)state;
    for (uint32_t tid = 1; tid <= 5; tid++) {
        struct jp_thread *thread = jp_thread_new_sig();
        jp_thread_begin_sig(thread, tid);
        if (tid == 2)
            atomic_store(&thread->state, JP_THREAD_NEW);
        else if (tid == 3)
            atomic_store(&thread->state, JP_THREAD_ENDING);
        else if (tid == 5)
            atomic_store(&thread->state, JP_THREAD_ARMED);
    }
    after(START);
    assert_string_equal(after(PAUSE), END "held1 held4 log " SETTLE "[pause] ");
    assert_int_equal(atomic_load(&jp_thread_at_sig(0)->state), JP_THREAD_IDLE);
    assert_int_equal(atomic_load(&jp_thread_at_sig(2)->state),
                     JP_THREAD_ENDING);
}

/* Calls the handler with a signal that carries START. */
static void send_start(int code)
{
    siginfo_t info = {.si_code = code};
    ucontext_t context = {0};
    info.si_value.sival_ptr = (void *)(uintptr_t)(JP_CONTROL_MAGIC | START);
    owner.pid = (uint32_t)getpid();
    jp_owner = &owner;
    jp_handler_sig(SIGPROF, &info, &context);
    jp_owner = NULL;
}

/* JP_FIRST's timer runs out. */
static void test_first(void **state)
{
    (void)state;
    atomic_store(&jp_process.first_pending, 1);
    send_start(SI_TIMER);
    assert_string_equal(done, BEGIN);
    after(PAUSE);
    done[0] = '\0';
    send_start(SI_TIMER);
    assert_string_equal(done, "");
    /* A command does not depend on it. */
    send_start(SI_QUEUE);
    assert_string_equal(done, "log [section1] " BEGIN);
}

static void test_pause_before_first(void **state)
{
    (void)state;
    atomic_store(&jp_process.first_pending, 1);
    assert_string_equal(after(PAUSE), "");
    send_start(SI_TIMER);
    assert_string_equal(done, "");
    assert_false(runs());
}

static void test_clear(void **state)
{
    (void)state;
    assert_string_equal(after(CLEAR), "");
    jp_config.ring_bytes = 1 << 20;
    assert_string_equal(after(CLEAR), "");
    jp_config.ring_bytes = 0;
    atomic_store(&jp_log.state, JP_LOG_READY);
    assert_string_equal(after(CLEAR), "");
    assert_int_equal(header.cleared_ns, 0);
    jp_config.ring_bytes = 1 << 20;
    assert_string_equal(after(CLEAR), CLEARED);
    assert_int_equal(header.cleared_ns, fake.now_ns);
}

static void test_save(void **state)
{
    (void)state;
    assert_string_equal(after(SAVE), "");
    after(START);
    assert_string_equal(after(SAVE), "log " SETTLE "[save-bare] ");
    assert_true(runs());
    log_error = -EIO;
    assert_string_equal(after(SAVE), "log ");
}

static void test_no_command(void **state)
{
    (void)state;
    assert_string_equal(after((enum jp_control)0), "");
    assert_string_equal(after((enum jp_control)5), "");
    assert_string_equal(after((enum jp_control)16), "");
    assert_string_equal(after(START), BEGIN);
}

static void at(const char *word, void (*event)(void))
{
    moment = word;
    meanwhile = event;
}

static void give_some(void)
{
    jp_control_sig(PAUSE);
    jp_control_sig(START);
    jp_control_sig(SAVE);
    jp_control_sig(PAUSE);
    say("given");
}

/* What comes meanwhile is done afterwards, by who is at it, in order. */
static void test_order(void **state)
{
    (void)state;
    at("adopt+", give_some);
    assert_string_equal(after(START),
                        "slow+ adopt+ given arm+ " END "log " SETTLE "[pause] "
                        "log [section1] " BEGIN "log " SETTLE "[save-bare] " END
                        "log " SETTLE "[pause] ");
    assert_int_equal(yields, 0);
    assert_string_equal(after(START), "log [section2] " BEGIN);
}

static void give_same(void)
{
    for (unsigned i = 0; i < 40; i++)
        jp_control_sig(SAVE);
    jp_control_sig(PAUSE);
    jp_control_sig(SAVE);
}

/* The same twice in a row is once. */
static void test_same(void **state)
{
    (void)state;
    at("adopt+", give_same);
    assert_string_equal(after(START), BEGIN "log " SETTLE "[save-bare] " END
                                            "log " SETTLE "[pause] "
                                            "log " SETTLE "[save-bare] ");
}

static void give_many(void)
{
    for (unsigned i = 0; i < 8; i++) {
        jp_control_sig(CLEAR);
        jp_control_sig(START);
    }
    assert_int_equal(yields, 0);
    jp_control_sig(PAUSE);
}

/* No room for one more: it waits, and in the end takes the last one's. */
static void test_full(void **state)
{
    (void)state;
    jp_config.ring_bytes = 1 << 20;
    atomic_store(&jp_log.state, JP_LOG_READY);
    at("adopt+", give_many);
    assert_string_equal(after(START),
                        BEGIN CLEARED_4 CLEARED_4 END "log " SETTLE "[pause] ");
    assert_int_equal(yields, 1000);
    assert_int_equal(sleeps, 2000);
    assert_int_equal(jp_process.sections, 1);
}

static void forget(void)
{
    jp_control_reset_sig();
    jp_control_sig(SAVE);
}

/* A child that was forked while another thread was at a command. */
static void test_reset(void **state)
{
    (void)state;
    at("adopt+", forget);
    assert_string_equal(after(START),
                        "slow+ adopt+ log " SETTLE "[save-bare] arm+ ");
}

static void test_off_and_on(void **state)
{
    (void)state;
    after(START);
    done[0] = '\0';
    jp_control_off_sig();
    assert_string_equal(done, END);
    assert_false(runs());
    jp_control_on_sig();
    assert_string_equal(done, END BEGIN);
    assert_int_equal(jp_process.sections, 1);
}

/* At the end of each signal. */
static void test_check(void **state)
{
    (void)state;
    after(START);
    done[0] = '\0';
    jp_control_check_sig();
    assert_string_equal(done, "");
    atomic_store(&jp_log.state, JP_LOG_READY);
    atomic_store(&jp_log.cut, 1);
    jp_control_check_sig();
    assert_string_equal(done, "complain " END);
    assert_int_equal(atomic_load(&jp_log.state), JP_LOG_FAILED);
    /* Said, and stopped, once. */
    jp_control_check_sig();
    assert_string_equal(done, "complain " END);
}

static void give_save(void)
{
    jp_control_sig(SAVE);
}

/* Before a filter of the program's. */
static void test_brace(void **state)
{
    (void)state;
    struct jp_thread *thread = jp_thread_new_sig();
    jp_thread_new_sig();
    jp_thread_begin_sig(thread, 1);
    jp_control_before_sandbox_sig();
    assert_string_equal(done, "");
    after(START);
    done[0] = '\0';
    at("cfi", give_save);
    jp_control_before_sandbox_sig();
    assert_string_equal(done, "log maps names jit sync cfi buffer1 writers "
                              "reserve log " SETTLE "[save-bare] ");
    log_error = -EIO;
    atomic_store(&jp_log.state, JP_LOG_FAILED);
    done[0] = '\0';
    jp_control_before_sandbox_sig();
    assert_string_equal(done, "log " END);
}

/* The last test: the process has ended. */
static void test_end(void **state)
{
    (void)state;
    after(START);
    done[0] = '\0';
    jp_control_exit_sig();
    /* There is no log, but a forked child may have its share of one. */
    assert_string_equal(done, END "usage-end share-end ");
    atomic_store(&jp_log.state, JP_LOG_READY);
    done[0] = '\0';
    jp_control_exit_sig();
    assert_string_equal(done, END "usage-end own ring maps names jit-whole "
                                  "usage sync [exit] log-end share-end ");
    assert_string_equal(after(START), "");
    assert_string_equal(after(PAUSE), "");
    atomic_store(&jp_process.first_pending, 1);
    send_start(SI_TIMER);
    assert_string_equal(done, "");
    assert_false(runs());
    assert_int_equal(jp_process.sections, 1);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_start),
        TEST(test_start_twice),
        TEST(test_start_again),
        TEST(test_start_without_slow),
        TEST(test_start_behind_filter),
        TEST(test_pause),
        TEST(test_pause_without_log),
        TEST(test_pause_writes_rests),
        TEST(test_first),
        TEST(test_pause_before_first),
        TEST(test_clear),
        TEST(test_save),
        TEST(test_no_command),
        TEST(test_order),
        TEST(test_same),
        TEST(test_full),
        TEST(test_reset),
        TEST(test_off_and_on),
        TEST(test_check),
        TEST(test_brace),
        TEST(test_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
