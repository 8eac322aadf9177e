/* SPDX-License-Identifier: MIT
 *
 * The area of the log that forked children share: pieces are whole, no two
 * processes have the same, and what is given back is had again.
 * Runs in: unit tests. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "in_range.h"
#include "sig/log/log.h"
#include "sig/state/process.h"
#include "sig/log/reserve.h"
#include "sig/log/share.h"
#include "sig/log/storage_area.h"

#define AREA (1U << 20)
#define PAGES (AREA / 4096U - 1) /* the first one is the area's own */
#define CHILDREN 4

static int fd;
static struct jp_log_header header;
static uint64_t counters[64];

/* A log's file with an area from its second page on. */
static void make_area(void)
{
    char path[] = "/tmp/jprof-share-XXXXXX";
    fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    memset(&jp_log, 0, sizeof(jp_log));
    jp_log.header = &header;
    jp_log.pid = 7;
    jp_log.storage = &jp_storage_area;
    atomic_store(&jp_log.next, 4096);
    memset(counters, 0, sizeof(counters));
    jp_counters_use_sig(counters);
    assert_true(jp_share_make_sig(fd, AREA));
}

static void drop_area(void)
{
    jp_share_forked_sig(0, 0);
    jp_share_drop_sig();
    assert_false(jp_share_is_there_sig());
    close(fd);
}

static void begin_chunk(uint64_t offset, uint32_t size)
{
    jp_log_begin_chunk_sig(jp_share_at_sig(offset, size), offset, size, 1);
}

static void gives_each_page_once(void **state)
{
    uint8_t seen[PAGES + 1] = {0};
    uint64_t offset;
    uint32_t size, pages = 0;
    (void)state;
    make_area();
    while ((size = jp_share_take_sig(100, 16384, &offset)) != 0) {
        assert_non_null(jp_share_at_sig(offset, size));
        for (uint32_t i = 0; i < size / 4096; i++, pages++) {
            uint8_t *page = &seen[(offset - 4096) / 4096 + i];
            assert_int_equal((*page)++, 0);
        }
    }
    assert_int_equal(pages, PAGES);
    assert_int_equal(seen[0], 0);
    assert_null(jp_share_at_sig(4096 + AREA - 4095, 4096));
    assert_null(jp_share_at_sig(0, 4096));
    drop_area();
}

static void gives_again_what_was_given_back(void **state)
{
    uint64_t offset, first = 0, again;
    (void)state;
    make_area();
    while (jp_share_take_sig(100, 4096, &offset) != 0) {
        begin_chunk(offset, 4096);
        if (first == 0)
            first = offset;
    }
    assert_int_equal(jp_share_take_sig(100, 4096, &again), 0);
    jp_share_give_sig(first);
    jp_share_give_sig(first);
    assert_int_equal(jp_share_take_sig(8192, 8192, &again), 0);
    assert_int_equal(jp_share_take_sig(100, 16384, &again), 4096);
    assert_int_equal(again, first);
    assert_int_equal(counters[JP_COUNT_RING_REUSED], 1);
    for (unsigned i = 0; i < 4096; i++)
        assert_int_equal(jp_share_at_sig(again, 4096)[i], 0);
    assert_int_equal(jp_share_take_sig(100, 4096, &again), 0);
    drop_area();
}

/* A process that is locked up may write anything into the area: nobody leaves
 * it for that. */
static void believes_nobody(void **state)
{
    uint64_t offset;
    (void)state;
    srand(1);
    make_area();
    for (unsigned turn = 0; turn < 2000; turn++) {
        uint8_t *first = jp_share_at_sig(4096, 4096);
        for (unsigned i = 0; i < 4096; i++)
            first[i] = (uint8_t)(turn % 3 == 0 ? 0xff : rand());
        if (turn % 3 == 2)
            memset(first, 0, 8); /* some pages are left to be taken */
        for (unsigned i = 0; i < 20; i++) {
            const uint32_t size =
                jp_share_take_sig(100U << turn % 10, 16384, &offset);
            if (size == 0)
                continue;
            assert_uint_in_range(size, 4096, 65536);
            assert_uint_in_range(offset, 8192, 4096 + AREA - size);
            begin_chunk(offset, size);
            ((struct jp_chunk_header *)jp_share_at_sig(offset, size))->run =
                turn % 2 != 0 ? (uint64_t) - (int64_t)(turn % 5000)
                              : (uint64_t)rand();
            jp_share_give_sig(offset);
        }
    }
    assert_null(jp_share_at_sig(UINT64_MAX - 4095, 4096));
    assert_null(jp_share_at_sig(UINT64_MAX - 100, 4096));
    memset(jp_share_at_sig(4096, 4096), 0, 4096);
    drop_area();
}

/* Takes all it can get and writes its number there. */
static void fill(uint8_t number)
{
    uint64_t offset;
    uint32_t size;
    while ((size = jp_share_take_sig(100, 4096, &offset)) != 0) {
        uint8_t *piece = jp_share_at_sig(offset, size);
        for (uint32_t i = 0; i < size; i++)
            piece[i] = (uint8_t)(piece[i] + number);
    }
}

static void keeps_processes_apart(void **state)
{
    unsigned sums[CHILDREN + 1] = {0}, others = 0;
    (void)state;
    make_area();
    for (uint8_t i = 1; i <= CHILDREN; i++) {
        if (fork() == 0) {
            jp_share_forked_sig(1, 0);
            fill(i);
            jp_reserve_end_sig();
            _exit(0);
        }
    }
    for (unsigned i = 0; i < CHILDREN; i++)
        wait(NULL);
    for (uint32_t at = 4096; at < AREA; at++) {
        const uint8_t value = *jp_share_at_sig(4096 + at, 1);
        if (value >= 1 && value <= CHILDREN)
            sums[value]++;
        else
            others++;
    }
    assert_int_equal(others, 0);
    for (unsigned i = 1; i <= CHILDREN; i++)
        assert_int_equal(sums[i] % 4096, 0);
    drop_area();
}

static void writes_lines(void **state)
{
    char line[8000];
    const struct jp_text_record *record;
    (void)state;
    make_area();
    memset(line, 'x', sizeof(line));
    assert_int_equal(jp_share_text_sig("1 note", 6), 0);
    assert_int_equal(jp_share_text_sig(line, sizeof(line)), 0);
    assert_true(jp_share_text_sig(line, 70000) < 0);
    record = (const struct jp_text_record *)jp_share_at_sig(2 * 4096 + 64, 16);
    assert_int_equal(record->head.type, JP_RECORD_TEXT);
    assert_int_equal(record->head.words, 2);
    assert_memory_equal(record->text, "1 note\0", 8);
    record = (const struct jp_text_record *)jp_share_at_sig(3 * 4096 + 64, 16);
    assert_int_equal(record->length, sizeof(line));
    drop_area();
}

static void the_last_one_gives_the_rest_back(void **state)
{
    struct stat before, after;
    uint64_t offset;
    (void)state;
    make_area();
    assert_int_equal(jp_share_take_sig(100, 4096, &offset), 4096);
    assert_int_equal(fstat(fd, &before), 0);
    jp_share_count_sig(1);
    jp_reserve_end_sig();
    assert_int_equal(fstat(fd, &after), 0);
    assert_int_equal(after.st_blocks, before.st_blocks);
    jp_share_forked_sig(0, 0); /* the other one, and a child */
    jp_share_count_sig(-1);
    jp_reserve_end_sig();
    assert_int_equal(fstat(fd, &after), 0);
    assert_true(after.st_blocks < before.st_blocks / 4);
    assert_int_equal(jp_share_take_sig(100, 4096, &offset), 0);
    jp_share_forked_sig(0, 0); /* too late */
    assert_false(jp_share_is_there_sig());
    close(fd);
}

/* What stands in the first page of an area whose process has gone. */
struct first {
    uint32_t users, fresh, cursor, pages;
};

static uint64_t left(int log, struct first first, uint64_t offset)
{
    struct stat info;
    assert_int_equal(fstat(log, &info), 0);
    assert_int_equal(pwrite(log, &first, sizeof(first), (off_t)offset),
                     sizeof(first));
    return jp_share_left_sig(log, offset, (uint64_t)info.st_size);
}

/* An area that was left is found out by what others may have written there. */
static void left_by_exec(void **state)
{
    (void)state;
    const int log = memfd_create("log", 0);
    struct stat full, after;
    uint32_t users = 0;
    assert_int_equal(ftruncate(log, 16 * 4096), 0);
    assert_int_equal(fallocate(log, 0, 0, 16 * 4096), 0);
    assert_int_equal(fstat(log, &full), 0);
    assert_int_equal(left(log, (struct first){0, 3, 1, 12}, 4 * 4096),
                     7 * 4096);
    assert_int_equal(pread(log, &users, 4, 4 * 4096), 4);
    assert_int_equal(users, 0x80000000U); /* closed */
    assert_int_equal(left(log, (struct first){0, 1, 1, 12}, 4 * 4096),
                     4 * 4096);
    assert_int_equal(left(log, (struct first){0, 12, 1, 12}, 4 * 4096),
                     16 * 4096);
    assert_int_equal(left(log, (struct first){1, 3, 1, 12}, 4 * 4096), 0);
    assert_int_equal(left(log, (struct first){0x80000000U, 3, 1, 12}, 4 * 4096),
                     0);
    assert_int_equal(left(log, (struct first){0, 0, 1, 12}, 4 * 4096), 0);
    assert_int_equal(left(log, (struct first){0, 13, 1, 12}, 4 * 4096), 0);
    assert_int_equal(left(log, (struct first){0, 3, 1, 13}, 4 * 4096), 0);
    assert_int_equal(left(log, (struct first){0, 3, 1, UINT32_MAX}, 4 * 4096),
                     0);
    assert_int_equal(fstat(log, &after), 0);
    assert_int_equal(after.st_blocks, full.st_blocks);
    /* Something is behind it: its pages 4 to 7 are given back. */
    assert_int_equal(left(log, (struct first){0, 4, 1, 8}, 4 * 4096), 0);
    assert_int_equal(fstat(log, &after), 0);
    assert_int_equal(after.st_blocks, full.st_blocks - 4 * 8);
    assert_int_equal(after.st_size, full.st_size);
    close(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(left_by_exec),
        cmocka_unit_test(gives_each_page_once),
        cmocka_unit_test(gives_again_what_was_given_back),
        cmocka_unit_test(believes_nobody),
        cmocka_unit_test(keeps_processes_apart),
        cmocka_unit_test(writes_lines),
        cmocka_unit_test(the_last_one_gives_the_rest_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
