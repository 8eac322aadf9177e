/* SPDX-License-Identifier: MIT
 *
 * When the map of memory is read again: after which events, how often at most,
 * and which times its lines have.  The list of mappings is the test's, which
 * counts who reads it and how.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dlfcn.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "fake_maps.h"
#include "../../preload/sig/code/maps.h"
#include "../../preload/sig/state/buffer.h"
#include "../../preload/sig/state/process.h"

static struct jp_owner owner;
static uint64_t counts[JP_COUNT_COUNT];
static unsigned told, scanned; /* who listens */
static unsigned dirtied;

void __real_jp_maps_dirty_sig(void);
FAKE(void, jp_maps_dirty_sig, (void))
{
    dirtied++;
    __real_jp_maps_dirty_sig();
}

static void tell(const struct jp_vma *vma, uint64_t base)
{
    (void)base;
    (void)vma;
    told++;
}

static void tell_end(void)
{
    scanned++;
}

static void forget(void)
{
    scans = marks = queries = yields = told = scanned = 0;
    lines[0] = '\0';
}

/* No code is known, the map is there, and the last scan is long ago. */
static int set_up(void **state)
{
    const struct jp_maps_listener listener = {tell, tell_end};
    (void)state;
    memset(&fake, 0, sizeof(fake));
    memset(counts, 0, sizeof(counts));
    fake.answers = answers;
    fake.now_ns = 1000 * JP_NS;
    jp_process.page_size = PAGE;
    jp_counters_use_sig(counts);
    jp_maps_listen_sig(&listener);
    jp_maps_reset_sig();
    mappings = 0;
    scan_ns = mark_ns = 0;
    mark_error = 0;
    meanwhile = NULL;
    has_map = 1;
    if (jp_maps_scan_sig() != 0 || jp_maps_scan_sig() != 0)
        return -1;
    fake.now_ns += 100 * JP_NS;
    forget();
    return 0;
}

static void later(uint64_t ms)
{
    fake.now_ns += ms * MS;
}

static void refresh(void)
{
    jp_maps_refresh_sig(fake.now_ns);
}

/* Only what came or went has a line, of the time of the scan. */
static void test_lines(void **state)
{
    (void)state;
    map(0x10, 0x14, RX, 7);
    map(0x14, 0x16, RW, 7);
    map(0x20, 0x21, RX, 0);
    assert_int_equal(jp_maps_scan_sig(), 0);
    assert_string_equal(lines, "+10-14@1100000 +20-21@1100000 ");
    assert_int_equal(told, 1); /* of files */
    assert_int_equal(scanned, 1);
    assert_int_equal(counts[JP_COUNT_MAPS_SCANS], 3);
    forget();
    later(5);
    assert_int_equal(jp_maps_scan_sig(), 0);
    assert_string_equal(lines, "");
    assert_int_equal(scans, 1);
    const uint32_t epoch = jp_maps_epoch_sig();
    map(0x30, 0x31, RX, 8);
    jp_maps_scan_sig();
    assert_int_equal(jp_maps_epoch_sig(), epoch);
    unmap(2);
    unmap(1);
    forget();
    later(5);
    jp_maps_scan_sig();
    assert_string_equal(lines, "-20-21@1100010 ");
    assert_int_equal(jp_maps_epoch_sig(), epoch + 1);
    /* Another file in its place says so by itself. */
    memory[0].inode = 9;
    forget();
    jp_maps_scan_sig();
    assert_string_equal(lines, "+10-14@1100010 ");
    assert_int_equal(jp_maps_epoch_sig(), epoch + 2);
}

static void scan_too(void)
{
    assert_int_equal(jp_maps_scan_sig(), -EBUSY);
}

static void test_when_not(void **state)
{
    (void)state;
    meanwhile = scan_too;
    assert_int_equal(jp_maps_scan_sig(), 0);
    assert_null(meanwhile);
    assert_int_equal(scans, 1);
    has_map = 0;
    assert_int_equal(jp_maps_scan_sig(), -EAGAIN);
    assert_int_equal(scans, 1);
}

/* Without a cause: one look a second, which compares; a scan where that found
 * something, and each ten seconds in any case. */
static void test_refresh(void **state)
{
    (void)state;
    jp_maps_scan_sig();
    forget();
    map(0x10, 0x14, RX, 7);
    later(999);
    refresh();
    assert_int_equal(marks + scans, 0);
    later(1);
    refresh();
    assert_int_equal(scans, 1);
    assert_string_equal(lines, "+10-14@1101000 ");
    forget();
    for (unsigned i = 0; i < 99; i++) {
        later(100);
        refresh();
    }
    assert_int_equal(marks, 9);
    assert_int_equal(scans, 0);
    assert_int_equal(scanned, 0);
    later(100);
    refresh();
    assert_int_equal(scans, 1);
}

/* A kernel that cannot compare. */
static void test_refresh_without_mark(void **state)
{
    (void)state;
    mark_error = NO_QUERY;
    jp_maps_scan_sig();
    forget();
    for (unsigned i = 0; i < 35; i++) {
        later(100);
        refresh();
    }
    assert_int_equal(scans, 3);
    /* It could, and does not any more. */
    mark_error = 0;
    jp_maps_scan_sig();
    forget();
    mark_error = -EACCES;
    later(1000);
    refresh();
    assert_int_equal(scans, 1);
}

static void test_look(void **state)
{
    (void)state;
    jp_maps_scan_sig();
    forget();
    later(99);
    assert_int_equal(jp_maps_look_sig(fake.now_ns), 0);
    assert_int_equal(marks, 0);
    later(1);
    assert_int_equal(jp_maps_look_sig(fake.now_ns), 1);
    assert_int_equal(marks, 1);
    assert_int_equal(scans, 0);
    later(99);
    assert_int_equal(jp_maps_look_sig(fake.now_ns), 0);
    map(0x10, 0x14, RX, 7);
    later(1);
    assert_int_equal(jp_maps_look_sig(fake.now_ns), 1);
    assert_int_equal(scans, 1);
    has_map = 0;
    later(100);
    assert_int_equal(jp_maps_look_sig(fake.now_ns), 0);
}

/* At most a hundredth of the time goes into it. */
static void test_cost(void **state)
{
    (void)state;
    scan_ns = 50 * MS;
    jp_maps_scan_sig();
    forget();
    map(0x10, 0x14, RX, 7);
    later(4999);
    refresh();
    assert_int_equal(jp_maps_look_sig(fake.now_ns), 0);
    assert_int_equal(marks + scans, 0);
    later(1);
    refresh();
    assert_int_equal(scans, 1);
    /* What a look took counts likewise. */
    mark_ns = 3 * MS;
    later(5000);
    refresh();
    assert_int_equal(scans, 1);
    later(299);
    assert_int_equal(jp_maps_look_sig(fake.now_ns), 0);
    later(1);
    assert_int_equal(jp_maps_look_sig(fake.now_ns), 1);
}

static uint32_t epoch_before;
static int is_known;

static void look_for_dirt(void)
{
    struct jp_maps_range range;
    assert_true(jp_maps_is_dirty_sig());
    assert_int_equal(jp_maps_epoch_sig(), epoch_before);
    is_known = jp_maps_find_sig(0x20000, &range) == 0;
}

/* Until the scan is over, memory may be another's than the table says. */
static void test_dirty_until_scanned(void **state)
{
    (void)state;
    map(0x20, 0x24, RX, 8);
    jp_maps_scan_sig();
    epoch_before = jp_maps_epoch_sig();
    jp_maps_dirty_sig();
    unmap(0);
    meanwhile = look_for_dirt;
    refresh();
    assert_null(meanwhile);
    assert_true(is_known);
    assert_false(jp_maps_is_dirty_sig());
    assert_int_equal(jp_maps_epoch_sig(), epoch_before + 1);
}

/* A library was closed: at the next sample, whatever was when, and events are
 * of the time when the last of it was. */
static void test_dirty(void **state)
{
    (void)state;
    map(0x10, 0x14, RX, 7);
    map(0x20, 0x24, RX, 8);
    scan_ns = 50 * MS;
    jp_maps_scan_sig();
    forget();
    const uint32_t epoch = jp_maps_epoch_sig();
    jp_maps_dirty_sig();
    later(2);
    jp_maps_dirty_sig();
    assert_true(jp_maps_is_dirty_sig());
    unmap(1);
    later(3);
    map(0x30, 0x34, RX, 9);
    later(3);
    refresh();
    assert_string_equal(lines, "-20-24@1100052 +30-34@1100052 ");
    assert_false(jp_maps_is_dirty_sig());
    assert_int_equal(jp_maps_epoch_sig(), epoch + 1);
    /* Once; and later events have their own time again. */
    forget();
    later(1);
    refresh();
    assert_int_equal(scans, 0);
    map(0x40, 0x44, RX, 9);
    jp_maps_scan_sig();
    assert_string_equal(lines, "+40-44@1100109 ");
    assert_int_equal(jp_maps_epoch_sig(), epoch + 1);
}

/* Another library may have come that looks the same. */
static void test_dirty_and_same(void **state)
{
    struct jp_buffer *buffer = calloc(1, sizeof(*buffer));
    (void)state;
    map(0x10, 0x14, RX, 7);
    jp_maps_scan_sig();
    jp_maps_check_buffer_sig(buffer);
    assert_true(jp_maps_executable_sig(buffer, 0x10123));
    forget();
    const uint32_t epoch = jp_maps_epoch_sig();
    jp_maps_check_buffer_sig(buffer);
    assert_true(jp_buffer_has_page_sig(buffer, 0x10123));
    jp_maps_dirty_sig();
    refresh();
    assert_int_equal(scans, 1);
    assert_string_equal(lines, "");
    assert_int_equal(jp_maps_epoch_sig(), epoch + 1);
    jp_maps_check_buffer_sig(buffer);
    assert_false(jp_buffer_has_page_sig(buffer, 0x10123));
    free(buffer);
}

/* Closed while a scan is under way: that may have seen it, or not. */
static void test_dirty_meanwhile(void **state)
{
    (void)state;
    meanwhile = jp_maps_dirty_sig;
    jp_maps_scan_sig();
    assert_true(jp_maps_is_dirty_sig());
    refresh();
    assert_int_equal(scans, 2);
    assert_false(jp_maps_is_dirty_sig());
}

/* The hooks; dlclose's says it before the library's last code runs, too. */
static void test_closing(void **state)
{
    void *library = dlopen(NULL, RTLD_NOW);
    const iconv_t converter = iconv_open("UTF-8", "UTF-16");
    FILE *narrow = fopen("/dev/null", "r"), *wide = fopen("/dev/null", "r");
    int dirty[4];
    (void)state;
    assert_true(library != NULL && converter != (iconv_t)-1);
    assert_true(narrow != NULL && wide != NULL && fwide(wide, 1) > 0);
    owner.pid = (uint32_t)getpid();
    jp_owner = &owner;
    fclose(narrow);
    dirty[0] = jp_maps_is_dirty_sig();
    fclose(wide);
    dirty[1] = jp_maps_is_dirty_sig();
    jp_maps_scan_sig();
    dirtied = 0;
    dlclose(library);
    dirty[2] = jp_maps_is_dirty_sig() ? (int)dirtied : 0;
    jp_maps_scan_sig();
    iconv_close(converter);
    dirty[3] = jp_maps_is_dirty_sig();
    jp_owner = NULL;
    assert_int_equal(dirty[0], 0);
    assert_int_equal(dirty[1], 1);
    assert_int_equal(dirty[2], 2);
    assert_int_equal(dirty[3], 1);
}

static void look_before_log(void)
{
    jp_maps_before_log_sig();
}

/* A sample while another thread makes the log: a table without lines, which
 * the first scan with a map writes. */
static void test_before_log(void **state)
{
    struct jp_maps_range range;
    (void)state;
    jp_maps_reset_sig();
    has_map = 0;
    map(0x10, 0x14, RX, 7);
    assert_int_equal(jp_maps_find_sig(0x10000, &range), -EAGAIN);
    jp_maps_before_log_sig();
    assert_int_equal(scans, 1);
    assert_int_equal(told, 0);
    assert_string_equal(lines, "");
    assert_int_equal(jp_maps_find_sig(0x10000, &range), 0);
    jp_maps_before_log_sig();
    assert_int_equal(scans, 1);
    has_map = 1;
    refresh(); /* at once */
    assert_int_equal(scans, 2);
    assert_string_equal(lines, "+10-14@1100000 ");
    assert_int_equal(told, 1);
    refresh();
    assert_int_equal(scans, 2);
}

/* It waits for a scan that is under way, but not for ever. */
static void test_before_log_meanwhile(void **state)
{
    (void)state;
    meanwhile = look_before_log;
    jp_maps_scan_sig();
    assert_null(meanwhile);
    assert_int_equal(scans, 1);
    assert_int_equal(yields, 1000);
    /* What is known will do. */
    forget();
    map(0x10, 0x14, RX, 7);
    jp_maps_scan_sig();
    meanwhile = look_before_log;
    jp_maps_scan_sig();
    assert_null(meanwhile);
    assert_int_equal(yields, 0);
}

/* A forked child writes all lines into a map of its own, none where it goes on
 * in its parent's. */
static void test_forked(void **state)
{
    (void)state;
    map(0x10, 0x14, RX, 7);
    jp_maps_scan_sig();
    const uint32_t epoch = jp_maps_epoch_sig();
    forget();
    jp_maps_reset_sig();
    assert_int_equal(jp_maps_epoch_sig(), epoch + 1);
    refresh();
    assert_string_equal(lines, "+10-14@1100000 ");
    forget();
    jp_maps_reset_sig();
    jp_maps_inherit_sig();
    refresh();
    assert_int_equal(scans, 0);
    jp_maps_scan_sig();
    assert_string_equal(lines, "");
}

/* An address that the table does not have. */
static void test_unknown(void **state)
{
    struct jp_buffer *buffer = calloc(1, sizeof(*buffer));
    (void)state;
    jp_maps_scan_sig();
    forget();
    map(0x10, 0x14, RX, 7);
    map(0x20, 0x21, RX, 0);
    map(0x30, 0x31, RW, 0);
    assert_false(jp_maps_executable_sig(buffer, 0x50000));
    assert_false(jp_maps_executable_sig(buffer, 0x30000));
    assert_int_equal(scans, 0);
    /* A JIT's memory: one line, without a scan. */
    assert_true(jp_maps_executable_sig(buffer, 0x20010));
    assert_int_equal(scans, 0);
    assert_string_equal(lines, "+20-21@1100000 ");
    assert_true(jp_maps_anonymous_sig(0x20010));
    /* A file's may have come with others. */
    assert_true(jp_maps_executable_sig(buffer, 0x11000));
    assert_int_equal(scans, 1);
    assert_string_equal(lines, "+20-21@1100000 +10-14@1100000 ");
    assert_int_equal(queries, 4);
    assert_true(jp_maps_executable_sig(buffer, 0x12000));
    assert_true(jp_maps_executable_sig(buffer, 0x20020));
    assert_int_equal(queries, 4);
    free(buffer);
}

/* The same where the kernel cannot be asked about one. */
static void test_unknown_without_query(void **state)
{
    struct jp_buffer *buffer = calloc(1, sizeof(*buffer));
    (void)state;
    mark_error = NO_QUERY;
    jp_maps_scan_sig();
    forget();
    map(0x20, 0x21, RX, 0);
    later(99);
    assert_false(jp_maps_executable_sig(buffer, 0x20010));
    assert_int_equal(scans, 0);
    later(1);
    assert_true(jp_maps_executable_sig(buffer, 0x20010));
    assert_int_equal(scans, 1);
    free(buffer);
}

/* A JIT takes the right away while it writes; a file's code has gone then. */
static void test_not_executable_now(void **state)
{
    (void)state;
    map(0x10, 0x14, RX, 7);
    map(0x20, 0x21, RX, 0);
    jp_maps_scan_sig();
    forget();
    memory[0].prot = memory[1].prot = RW;
    jp_maps_scan_sig();
    assert_string_equal(lines, "-10-14@1100000 ");
    assert_true(jp_maps_anonymous_sig(0x20010));
}

/* New code across the end of a file's, and of a JIT's, which just then writes a
 * page of what it had: the rest of both stays what it was. */
static void test_overlapped(void **state)
{
    struct jp_buffer *buffer = calloc(1, sizeof(*buffer));
    struct jp_maps_range range;
    (void)state;
    map(0x10, 0x14, RX, 7);
    map(0x20, 0x24, RX, 0);
    jp_maps_scan_sig();
    forget();
    mappings = 0;
    map(0x0f, 0x11, RX, 0);
    map(0x11, 0x13, RX, 7);
    map(0x13, 0x15, RX, 0);
    map(0x20, 0x21, RX, 0);
    map(0x21, 0x22, RW, 0);
    map(0x22, 0x26, RX, 0);
    assert_true(jp_maps_executable_sig(buffer, 0xf000));
    assert_true(jp_maps_executable_sig(buffer, 0x14000));
    assert_true(jp_maps_executable_sig(buffer, 0x25000));
    assert_string_equal(lines, "+f-11@1100000 +13-15@1100000 +22-26@1100000 ");
    assert_true(jp_maps_executable_sig(buffer, 0x21010));
    assert_true(jp_maps_executable_sig(buffer, 0x20010));
    assert_int_equal(jp_maps_find_sig(0x12010, &range), 0);
    assert_int_equal(range.inode, 7);
    assert_int_equal(range.start, 0x11000);
    assert_int_equal(range.end, 0x13000);
    assert_int_equal(range.offset, 0x1000);
    assert_true(jp_maps_anonymous_sig(0x10010));
    assert_true(jp_maps_anonymous_sig(0x13010));
    assert_int_equal(queries, 3);
    free(buffer);
}

static void note_it(void)
{
    jp_maps_note_sig(0x20000, 0x21000);
}

/* Code that the program says it made. */
static void test_note(void **state)
{
    (void)state;
    note_it();
    note_it();
    assert_string_equal(lines, "+20-21@1100000 ");
    jp_maps_note_sig(0x21000, 0x22000); /* grown */
    assert_string_equal(lines, "+20-21@1100000 +20-22@1100000 ");
    jp_maps_note_sig(0x20000, 0x21000);
    assert_string_equal(lines, "+20-21@1100000 +20-22@1100000 ");
    assert_int_equal(scans, 0);
    has_map = 0;
    jp_maps_note_sig(0x40000, 0x41000);
    assert_false(jp_maps_anonymous_sig(0x40000));
}

static void test_note_meanwhile(void **state)
{
    (void)state;
    meanwhile = note_it;
    jp_maps_scan_sig();
    assert_int_equal(yields, 1000);
    assert_int_equal(counts[JP_COUNT_MAP_LOST], 1);
    assert_string_equal(lines, "");
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lines),
        TEST(test_when_not),
        TEST(test_refresh),
        TEST(test_refresh_without_mark),
        TEST(test_look),
        TEST(test_cost),
        TEST(test_dirty),
        TEST(test_dirty_and_same),
        TEST(test_dirty_meanwhile),
        TEST(test_dirty_until_scanned),
        TEST(test_closing),
        TEST(test_before_log),
        TEST(test_before_log_meanwhile),
        TEST(test_forked),
        TEST(test_unknown),
        TEST(test_unknown_without_query),
        TEST(test_not_executable_now),
        TEST(test_overlapped),
        TEST(test_note),
        TEST(test_note_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
