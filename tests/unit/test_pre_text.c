/* SPDX-License-Identifier: MIT
 *
 * Text without stdio, and reading the mappings.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../preload/sig/code/procmaps.h"
#include "../../preload/sig/os/text.h"

static void test_numbers(void **state)
{
    char buffer[64];
    struct jp_text text;
    (void)state;
    jp_text_init_sig(&text, buffer, sizeof(buffer));
    jp_text_decimal_sig(&text, 0);
    jp_text_char_sig(&text, ' ');
    jp_text_decimal_sig(&text, UINT64_MAX);
    jp_text_char_sig(&text, ' ');
    jp_text_hex_sig(&text, 0xdeadbeef01ULL);
    assert_string_equal(buffer, "0 18446744073709551615 deadbeef01");
    assert_false(text.cut);
}

static void test_values_are_escaped(void **state)
{
    char buffer[64];
    struct jp_text text;
    (void)state;
    jp_text_init_sig(&text, buffer, sizeof(buffer));
    jp_text_value_sig(&text, "a b%\n\xc3\xa4~", 8);
    assert_string_equal(buffer, "a%20b%25%0A%C3%A4~");
}

static void test_cut_but_never_over(void **state)
{
    char buffer[16];
    struct jp_text text;
    (void)state;
    for (size_t size = 1; size < sizeof(buffer); size++) {
        memset(buffer, '#', sizeof(buffer));
        jp_text_init_sig(&text, buffer, size);
        jp_text_add_sig(&text, "0123456789abcdef");
        assert_true(text.cut);
        assert_int_equal(strlen(buffer), size - 1);
        assert_int_equal(buffer[size], '#');
        jp_text_init_sig(&text, buffer, size);
        jp_text_value_sig(&text, "\n\n\n\n\n\n\n", 7);
        assert_int_equal(strlen(buffer) % 3, 0);
        assert_int_equal(buffer[size], '#');
    }
}

static void test_reads_numbers(void **state)
{
    const char *text = "7f00a-12z", *at = text, *end = text + 9;
    (void)state;
    assert_int_equal(jp_text_number_sig(&at, end, 16), 0x7f00a);
    assert_int_equal(*at, '-');
    at++;
    assert_int_equal(jp_text_number_sig(&at, end, 10), 12);
    assert_int_equal(*at, 'z');
    assert_int_equal(jp_text_number_sig(&at, end, 16), 0);
}

/* Every mapping that libc's own reading of the file finds, we find. */
static void test_procmaps(void **state)
{
    static struct jp_procmaps reader;
    struct jp_vma vma, asked;
    int code = 0, count = 0;
    uint64_t here = (uint64_t)(uintptr_t)&test_procmaps, last = 0;
    (void)state;
    assert_int_equal(jp_procmaps_open_sig(&reader), 0);
    while (jp_procmaps_next_sig(&reader, &vma)) {
        assert_true(vma.start >= last && vma.end > vma.start);
        last = vma.end;
        count++;
        if (here >= vma.start && here < vma.end) {
            assert_true(vma.prot & JP_PROT_EXEC);
            assert_true(vma.path_length > 0 && vma.path[0] == '/');
            assert_true(vma.inode != 0);
            code++;
        }
    }
    jp_procmaps_close_sig(&reader);
    assert_int_equal(code, 1);
    assert_true(count > 10);
    int result = jp_procmaps_query_sig(here, &asked);
    if (result == 0)
        assert_true(asked.prot & JP_PROT_EXEC);
    assert_int_not_equal(jp_procmaps_query_sig(16, &asked), 0);
}

static uint64_t mark(void)
{
    uint64_t mark = 0;
    assert_int_equal(jp_procmaps_mark_sig(1000, &mark), 0);
    return mark;
}

/* Of executable mappings of files, and of nothing else. */
static void test_mark(void **state)
{
    uint64_t first;
    const int how = PROT_READ | PROT_EXEC,
              fd = open("/proc/self/exe", O_RDONLY);
    const int old = jp_procmaps_mark_sig(1000, &first);
    (void)state;
    if (old == -ENOTTY)
        return; /* before Linux 6.11 */
    assert_int_equal(old, 0);
    void *data = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
    void *jit = mmap(NULL, 8192, how, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(fd >= 0 && data != MAP_FAILED && jit != MAP_FAILED);
    assert_true(mark() == first);
    void *code = mmap(data, 8192, how, MAP_PRIVATE | MAP_FIXED, fd, 0);
    assert_ptr_equal(code, data);
    const uint64_t with = mark();
    assert_true(with != first);
    /* Another piece of it in the same place. */
    code = mmap(data, 8192, how, MAP_PRIVATE | MAP_FIXED, fd, 4096);
    assert_ptr_equal(code, data);
    assert_true(mark() != first && mark() != with);
    munmap(data, 8192);
    assert_true(mark() == first);
    munmap(jit, 8192);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_values_are_escaped),
        cmocka_unit_test(test_cut_but_never_over),
        cmocka_unit_test(test_reads_numbers),
        cmocka_unit_test(test_procmaps),
        cmocka_unit_test(test_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
