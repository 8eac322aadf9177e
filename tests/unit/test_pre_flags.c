/* SPDX-License-Identifier: MIT
 *
 * JPROF_FLAGS: every flag, its limits, and what is said about wrong ones.
 * Runs in: tests. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../preload/flags.h"

static struct jp_config config;
static char said[4096];

static void complain(void *data, const char *flag, size_t length,
                     const char *text)
{
    size_t used = strlen(said);
    (void)data;
    snprintf(said + used, sizeof(said) - used, "%.*s %s\n", (int)length, flag,
             text);
}

static void parse(const char *text)
{
    said[0] = '\0';
    jp_flags_parse(text, &config, complain, NULL);
}

static void test_nothing(void **state)
{
    (void)state;
    parse(NULL);
    assert_false(config.wanted);
    parse("");
    assert_false(config.wanted);
    parse("JP_PERIOD=0.001");
    assert_false(config.wanted);
    assert_string_equal(said, "");
    assert_int_equal(config.depth, 1024);
}

static void test_start_and_defer(void **state)
{
    (void)state;
    parse("JP_START");
    assert_true(config.wanted);
    assert_false(config.deferred);
    assert_int_equal(config.period_ns, 50000000);
    parse("JP_DEFER");
    assert_true(config.wanted);
    assert_true(config.deferred);
    parse("JP_DEFER JP_START");
    assert_true(config.deferred);
}

static void test_separators(void **state)
{
    (void)state;
    parse(" JP_START,JP_APPEND;JP_REALTIME\tJP_FIRST=1.5 ,; ");
    assert_string_equal(said, "");
    assert_true(config.wanted && config.append && config.realtime);
    assert_int_equal(config.first_ns, 1500000000);
}

static void test_period(void **state)
{
    (void)state;
    parse("JP_PERIOD=0.0001");
    assert_int_equal(config.period_ns, 100000);
    assert_string_equal(said, "");
    parse("JP_PERIOD=.004");
    assert_int_equal(config.period_ns, 4000000);
    parse("JP_PERIOD=0.00009");
    assert_int_equal(config.period_ns, 100000);
    assert_string_equal(said, "JP_PERIOD=0.00009 is under 0.0001 s; raised to "
                              "0.0001\n");
    parse("JP_PERIOD=4000");
    assert_int_equal(config.period_ns, 3600000000000);
}

static void test_walkers(void **state)
{
    (void)state;
    parse("JP_START");
    assert_int_equal(config.walker, JP_WALKER_AUTO);
    parse("JP_STACK=fp");
    assert_int_equal(config.walker, JP_WALKER_FP);
    parse("JP_STACK=cfi");
    assert_int_equal(config.walker, JP_WALKER_CFI);
    parse("JP_STACK=libunwind");
    assert_int_equal(config.walker, JP_WALKER_LIBUNWIND);
    parse("JP_STACK=fp JP_STACK=auto");
    assert_int_equal(config.walker, JP_WALKER_AUTO);
    assert_string_equal(said, "");
    parse("JP_STACK=fps");
    assert_int_equal(config.walker, JP_WALKER_AUTO);
}

static void test_malformed_values(void **state)
{
    static const char *const wrong[] = {
        "JP_PERIOD",
        "JP_PERIOD=",
        "JP_PERIOD=fast",
        "JP_PERIOD=1e-3",
        "JP_PERIOD=-1",
        "JP_PERIOD=0",
        "JP_PERIOD=.",
        "JP_PERIOD=99999999999999999999",
        "JP_FIRST=x",
        "JP_CIRCULAR=10q",
        "JP_CIRCULAR=1kk",
        "JP_START=1",
        "JP_DEPTH=1",
        "JP_DEPTH=5000",
        "JP_CLOCK=sun",
        "JP_CLOCK",
        "JP_CLOCK=",
        "JP_STACK=magic",
        "JP_FILENAME=",
        "JP_BOGUS",
        "JP_RTC_HZ=1000",
        "JP_STARTX",
        "=",
        "JP_FOLDER_ID",
        "JP_FOLDER_ID=7",
        "JP_FOLDER_ID=7:",
        "JP_FOLDER_ID=:7",
        "JP_FOLDER_ID=7:8:9",
        "JP_FOLDER_ID=-7:8",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text), "%s JP_APPEND", wrong[i]);
        parse(text);
        /* One line that names it, and the rest holds. */
        assert_int_equal(strncmp(said, wrong[i], strlen(wrong[i])), 0);
        assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
        assert_true(config.append);
        assert_int_equal(config.depth, 1024);
        assert_false(config.wanted);
        assert_int_equal(config.folder_inode, 0);
    }
}

static void test_folder(void **state)
{
    (void)state;
    parse("JP_FILENAME=/a/b JP_FOLDER_ID=2049:18446744073709551");
    assert_string_equal(said, "");
    assert_int_equal(config.folder_device, 2049);
    assert_int_equal(config.folder_inode, 18446744073709551ULL);
    /* It is of the name before it, and of no other one. */
    parse("JP_FILENAME=/a/b JP_FOLDER_ID=1:2 JP_FILENAME=/c/d");
    assert_int_equal(config.folder_inode, 0);
    parse("JP_FILENAME=/a/b JP_FOLDER_ID=1:2 JP_FILENAME=/c/d "
          "JP_FOLDER_ID=3:4");
    assert_int_equal(config.folder_device, 3);
    assert_int_equal(config.folder_inode, 4);
    assert_string_equal(config.folder, "");
    parse("JP_FILENAME=/a/b JP_FOLDER_ID=1:2:/e%20:f");
    assert_string_equal(said, "");
    assert_int_equal(config.folder_inode, 2);
    assert_string_equal(config.folder, "/e%20:f");
}

static void test_rtc(void **state)
{
    (void)state;
    parse("JP_START JP_RTC_HZ=1024");
    assert_int_equal(config.rtc_hz, 1024);
    assert_int_equal(config.period_ns, 976562);
    parse("JP_START JP_RTC_HZ=1000 JP_PERIOD=1");
    assert_int_equal(config.rtc_hz, 2048);
    assert_int_equal(config.period_ns, 488281);
}

static void test_clock(void **state)
{
#define CLOCK(id, name, word, text) name,
    static const char *const names[] = {JP_CLOCKS(CLOCK)};
    (void)state;
    parse("JP_START");
    assert_int_equal(config.clock, JP_CLOCK_NONE);
    for (unsigned i = 0; i < JP_CLOCK_COUNT; i++) {
        char text[64];
        if (names[i][0] == '\0')
            continue;
        snprintf(text, sizeof(text), "JP_START JP_CLOCK=%s", names[i]);
        parse(text);
        assert_int_equal(config.clock, i);
        assert_string_equal(said, "");
        parse("JP_START JP_CLOCK=sun");
        assert_non_null(strstr(said, names[i]));
    }
    assert_string_equal(said, "JP_CLOCK=sun is none of auto, timer, perf, "
                              "itimer, hrtimer; auto is used\n");
    parse("JP_START JP_CLOCK=");
    assert_int_equal(config.clock, JP_CLOCK_NONE);
    assert_string_not_equal(said, "");
    parse("JP_START JP_CLOCK=perf JP_REALTIME");
    assert_string_equal(said, "JP_CLOCK is for CPU time; flag ignored\n");
    parse("JP_START JP_CLOCK=timer JP_RTC_HZ=2");
    assert_string_equal(said, "JP_CLOCK is for CPU time; flag ignored\n");
}

static void test_circular(void **state)
{
    (void)state;
    parse("JP_CIRCULAR=64k");
    assert_int_equal(config.ring_bytes, 65536);
    parse("JP_CIRCULAR=2M");
    assert_int_equal(config.ring_bytes, 2 << 20);
    parse("JP_CIRCULAR=999");
    assert_int_equal(config.ring_bytes, 10000);
    parse("JP_CIRCULAR=18446744073709551615G");
    assert_int_equal(config.ring_bytes, 0);
    assert_string_not_equal(said, "");
}

static void test_filename(void **state)
{
    char text[2048];
    (void)state;
    parse("JP_FILENAME=/tmp/a=b%p.log");
    assert_string_equal(config.filename, "/tmp/a=b%p.log");
    memset(text, 'x', sizeof(text));
    memcpy(text, "JP_FILENAME=", 12);
    text[12 + 1023] = '\0';
    parse(text);
    assert_int_equal(strlen(config.filename), 1023);
    memset(text + 12, 'x', 1024);
    text[12 + 1024] = '\0';
    parse(text);
    assert_string_equal(config.filename, "");
}

static void test_signals(void **state)
{
    int lines = 0;
    (void)state;
    parse("");
    assert_int_equal(config.pause_signal, SIGUSR1);
    assert_int_equal(config.clear_signal, SIGUSR2);
    assert_int_equal(config.save_signal, 0);
    assert_int_equal(config.start_signal, 0);
    parse("JP_PAUSE_SIGNAL=SIGUSR2 JP_CLEAR_SIGNAL=NONE JP_SAVE_SIGNAL=40 "
          "JP_START_SIGNAL=WINCH");
    assert_string_equal(said, "");
    assert_int_equal(config.pause_signal, SIGUSR2);
    assert_int_equal(config.clear_signal, 0);
    assert_int_equal(config.save_signal, 40);
    assert_int_equal(config.start_signal, SIGWINCH);
    parse("JP_PAUSE_SIGNAL=9 JP_CLEAR_SIGNAL=SEGV JP_SAVE_SIGNAL=64 "
          "JP_START_SIGNAL=");
    for (const char *at = strchr(said, '\n'); at != NULL;
         at = strchr(at + 1, '\n'))
        lines++;
    assert_int_equal(lines, 4);
    assert_int_equal(config.pause_signal, SIGUSR1);
    assert_int_equal(config.start_signal, 0);
}

static void test_long_flags_are_cut(void **state)
{
    char text[3000];
    (void)state;
    memset(text, ' ', sizeof(text));
    memcpy(text + sizeof(text) - 10, " JP_START", 10);
    parse(text);
    assert_true(config.wanted);
    assert_int_equal(strlen(config.flags), JP_NAME_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_start_and_defer),
        cmocka_unit_test(test_separators),
        cmocka_unit_test(test_period),
        cmocka_unit_test(test_walkers),
        cmocka_unit_test(test_malformed_values),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_rtc),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_circular),
        cmocka_unit_test(test_filename),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_long_flags_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
