/* SPDX-License-Identifier: MIT
 *
 * The code that is kept: whole pages with their neighbours, again only when
 * they or a neighbour have changed, and never more than JP_CODE_MAX.
 * Runs in: tests. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "in_range.h"
#include "../../preload/sig/jit/jit_code.h"
#include "../../preload/sig/log/log.h"
#include "../../preload/sig/files/mapfile.h"
#include "../../preload/sig/code/maps.h"
#include "../../preload/sig/code/procmaps.h"
#include "../../preload/sig/os/sys.h"
#include "../../preload/sig/state/process.h"
#include "jp_limits.h"

#define PAGE 4096U
#define PAGES 1500U /* more than JP_CODE_MAX holds */

/* 1: as a kernel before Linux 6.11, which answers no PROCMAP_QUERY. */
static int is_old_kernel;
int __real_jp_procmaps_query_sig(uint64_t address, struct jp_vma *vma);
int __wrap_jp_procmaps_query_sig(uint64_t address, struct jp_vma *vma);
int __wrap_jp_procmaps_query_sig(uint64_t address, struct jp_vma *vma)
{
    return is_old_kernel ? -ENOTTY : __real_jp_procmaps_query_sig(address, vma);
}

static char folder[64], log_path[96], map_path[96], kept_path[128];
static uint8_t *memory;
static struct jp_owner owner;

/* A byte of page `i`'s content. */
static uint8_t content(unsigned i)
{
    return (uint8_t)(i * 7 + i / 256 + 1);
}

static int set_up(void **state)
{
    char line[256];
    struct jp_text text;
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(folder, sizeof(folder), "%.40s/jprof-code-XXXXXX",
             base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(log_path, sizeof(log_path), "%s/log", folder);
    snprintf(map_path, sizeof(map_path), "%s/map", folder);
    owner.pid = (uint32_t)getpid();
    jp_owner = &owner;
    jp_log.path = log_path;
    snprintf(kept_path, sizeof(kept_path), "%s.code-%u.bin", log_path,
             owner.pid);
    memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    for (unsigned i = 0; i < PAGES; i++)
        memset(memory + i * PAGE, content(i), PAGE);
    jp_text_init_sig(&text, line, sizeof(line));
    jp_mapfile_line_sig(&text, 1, "jprof-map");
    return jp_mapfile_create_sig(map_path, 0, &text) != 0 ||
           jp_maps_scan_sig() != 0;
}

static int tear_down(void **state)
{
    (void)state;
    munmap(memory, PAGES * PAGE);
    jp_code_reset_sig();
    jp_mapfile_reset_sig();
    unlink(kept_path);
    unlink(map_path);
    rmdir(folder);
    jp_owner = NULL;
    return 0;
}

static void hit(unsigned page)
{
    jp_code_hit_sig((uint64_t)(memory + page * PAGE) + 17);
}

static uint64_t kept_size(void)
{
    struct stat info;
    return stat(kept_path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

enum check { NONE, TOLD_AGAIN, ALL };
static unsigned told_again;

/* Checks the `code` lines against the bytes that are in memory now.  Counts the
 * pages, and in told_again those whose bytes were in the file before. */
static unsigned check_lines(enum check which)
{
    unsigned long known = 0; /* bytes of the file */
    static char line[8192];
    uint8_t bytes[PAGE];
    unsigned count = 0;
    told_again = 0;
    FILE *map = fopen(map_path, "r"), *kept = fopen(kept_path, "r");
    assert_non_null(map);
    while (fgets(line, sizeof(line), map) != NULL) {
        unsigned long start, end, offset;
        char *keys = strstr(line, " code ");
        if (keys == NULL)
            continue;
        assert_int_equal(sscanf(keys, " code start=%lx end=%lx offset=%lx",
                                &start, &end, &offset),
                         3);
        assert_uint_in_range(start, (uint64_t)memory,
                             (uint64_t)memory + PAGES * PAGE - 1);
        for (unsigned long at = start; at < end; at += PAGE) {
            const unsigned long place = offset + at - start;
            const int again = place < known;
            told_again += (unsigned)again;
            count += (unsigned)!again;
            known = again ? known : place + PAGE;
            assert_int_equal(fseek(kept, (long)place, SEEK_SET), 0);
            assert_int_equal(fread(bytes, 1, PAGE, kept), PAGE);
            if (which == ALL || (which == TOLD_AGAIN && again))
                assert_memory_equal(bytes, (void *)at, PAGE);
        }
    }
    fclose(map);
    if (kept != NULL)
        fclose(kept);
    return count;
}

static void test_neighbours_and_change(void **state)
{
    (void)state;
    jp_code_keep_sig(0);
    assert_int_equal(kept_size(), 0);
    hit(10);
    hit(20);
    hit(21);
    jp_code_keep_sig(0);
    assert_int_equal(kept_size(), 7 * PAGE); /* 9-11, 19-22 */
    assert_int_equal(check_lines(ALL), 7);
    jp_code_keep_sig(1);
    assert_int_equal(kept_size(), 7 * PAGE);
    memset(memory + 20 * PAGE, 1, 8);
    jp_code_keep_sig(1);
    assert_int_equal(kept_size(), 8 * PAGE);
    assert_int_equal(check_lines(TOLD_AGAIN), 8);
    /* Code at 19 to 21 may be new where its bytes are not. */
    assert_int_equal(told_again, 2);
    /* Other code, of which there was one sample. */
    memset(memory + 10 * PAGE, 1, 8);
    jp_code_keep_sig(0);
    assert_int_equal(kept_size(), 8 * PAGE);
    hit(10);
    jp_code_keep_sig(0);
    assert_int_equal(kept_size(), 9 * PAGE);
    assert_int_equal(check_lines(TOLD_AGAIN), 9);
    assert_int_equal(told_again, 4);
}

static void test_during_the_run(void **state)
{
    (void)state;
    for (unsigned i = 100; i < 200; i += 2) {
        hit(i);
        hit(i);
    }
    jp_code_keep_sig(0);
    const uint64_t once = kept_size();
    assert_uint_in_range(once, 16 * PAGE, 3 * 16 * PAGE);
    for (unsigned i = 0; i < 20; i++)
        jp_code_keep_sig(0);
    assert_int_equal(kept_size(), 101 * PAGE); /* 99-199 */
    assert_int_equal(check_lines(ALL), 101);
}

/* Once half of the file is full, only what is hot is kept. */
static void test_scarce(void **state)
{
    (void)state;
    for (unsigned i = 0; i < JP_CODE_MAX / PAGE; i++) {
        hit(i);
        if (i % 8 == 7)
            jp_code_keep_sig(0);
    }
    const uint64_t half = kept_size();
    assert_uint_in_range(half, JP_CODE_MAX / 2, JP_CODE_MAX / 2 + 48 * PAGE);
    hit(PAGES - 9);
    jp_code_keep_sig(0);
    assert_int_equal(kept_size(), half);
    hit(PAGES - 9);
    jp_code_keep_sig(0);
    assert_int_equal(kept_size(), half + 3 * PAGE);
    assert_int_equal(check_lines(ALL), kept_size() / PAGE);
}

static void test_bounded(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PAGES; i++) {
        hit(i);
        if (i >= 700 && i < 720) { /* the hottest */
            for (unsigned more = 0; more < 100; more++)
                hit(i);
        }
    }
    jp_code_keep_sig(1);
    assert_uint_in_range(kept_size(), 20 * PAGE, JP_CODE_MAX);
    for (unsigned turn = 0; turn < 3; turn++) {
        for (unsigned i = 0; i < PAGES; i++) {
            memory[i * PAGE] ^= (uint8_t)(turn + 1);
            hit(i);
        }
        jp_code_keep_sig(1);
        jp_code_keep_sig(0);
    }
    assert_uint_in_range(kept_size(), 20 * PAGE, JP_CODE_MAX);
    assert_int_equal(check_lines(NONE), kept_size() / PAGE);
}

/* What has come to the file's name meanwhile is somebody else's. */
static void test_replaced(void **state)
{
    static const char text[] = "somebody's";
    char bytes[64] = "";
    (void)state;
    hit(10);
    jp_code_keep_sig(1);
    assert_int_equal(kept_size(), 3 * PAGE);
    assert_int_equal(rename(kept_path, map_path), 0);
    FILE *other = fopen(kept_path, "w");
    fputs(text, other);
    fclose(other);
    memset(memory + 10 * PAGE, 1, 8);
    hit(30);
    jp_code_keep_sig(1);
    assert_int_equal(kept_size(), sizeof(text) - 1);
    other = fopen(kept_path, "r");
    assert_int_equal(fread(bytes, 1, sizeof(bytes), other), sizeof(text) - 1);
    fclose(other);
    assert_string_equal(bytes, text);
}

static void test_gone(void **state)
{
    (void)state;
    hit(5);
    munmap(memory, 100 * PAGE);
    jp_code_keep_sig(1);
    assert_int_equal(kept_size(), 0);
}

/* Makes memory of one page anew. */
static void replace_page(unsigned i, int prot)
{
    assert_ptr_equal(mmap(memory + i * PAGE, PAGE, prot,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     memory + i * PAGE);
    memory[i * PAGE] = 77;
}

/* Data that came to a code page's place, since the table was made or when it
 * was made anew, is not its code. */
static void test_given_back(void **state)
{
    struct jp_vma vma;
    (void)state;
    hit(5);
    jp_code_keep_sig(1);
    assert_int_equal(kept_size(), 3 * PAGE);
    if (jp_procmaps_query_sig((uint64_t)memory, &vma) == 0) {
        replace_page(5, PROT_READ | PROT_WRITE);
        hit(5);
        jp_code_keep_sig(1);
        assert_int_equal(kept_size(), 3 * PAGE);
    }
    replace_page(5, PROT_READ | PROT_WRITE | PROT_EXEC);
    jp_code_keep_sig(1);
    assert_int_equal(kept_size(), 4 * PAGE);
    munmap(memory, 1000 * PAGE);
    assert_int_equal(jp_maps_scan_sig(), 0);
    assert_ptr_equal(mmap(memory, 1000 * PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     memory);
    hit(5);
    is_old_kernel = 1;
    jp_code_keep_sig(1);
    is_old_kernel = 0;
    assert_int_equal(kept_size(), 4 * PAGE);
}

/* A JIT compiler may take the right to execute from its memory while it
 * writes; a larger mapping without that right is other memory. */
static void test_larger(void **state)
{
    const size_t half = PAGES / 2 * PAGE;
    (void)state;
    munmap(memory + half, PAGES * PAGE - half);
    assert_int_equal(jp_maps_scan_sig(), 0);
    assert_int_equal(mprotect(memory, half, PROT_READ | PROT_WRITE), 0);
    assert_int_equal(jp_maps_scan_sig(), 0);
    assert_true(jp_maps_anonymous_sig((uint64_t)memory));
    assert_int_equal(jp_maps_scan_sig(), 0);
    assert_true(jp_maps_anonymous_sig((uint64_t)memory));
    assert_ptr_equal(mmap(memory, half + PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     memory);
    assert_int_equal(jp_maps_scan_sig(), 0);
    assert_false(jp_maps_anonymous_sig((uint64_t)memory));
}

/* A file that the program maps as code is looked at without waiting. */
static void test_expecting(void **state)
{
    (void)state;
    assert_false(jp_maps_is_expecting_sig());
    jp_maps_expect_sig();
    assert_int_equal(jp_maps_scan_sig(), 0);
    assert_int_equal(jp_maps_look_sig(jp_sys_clock_sig(CLOCK_MONOTONIC)), 1);
    assert_false(jp_maps_is_expecting_sig());
    /* Without a map it goes on waiting. */
    jp_maps_expect_sig();
    jp_mapfile_reset_sig();
    assert_int_equal(jp_maps_look_sig(jp_sys_clock_sig(CLOCK_MONOTONIC)), 0);
    assert_true(jp_maps_is_expecting_sig());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_neighbours_and_change, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_during_the_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scarce, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_given_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_larger, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_expecting, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
