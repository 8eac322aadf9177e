/* SPDX-License-Identifier: MIT
 *
 * Instructions as text, and lines of source files.
 * Runs in: tests. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "symbol/disasm.h"
#include "symbol/listing.h"

static void assert_reads(struct jr_disasm *disasm, const char *bytes,
                         size_t size, const char *text, size_t length)
{
    struct jr_instruction instruction;

    assert_int_equal(jr_disasm_read(disasm, (const uint8_t *)bytes, size,
                                    0x1000, &instruction),
                     0);
    assert_string_equal(instruction.text, text);
    assert_int_equal(instruction.size, length);
}

static void test_instructions(void **state)
{
    struct jr_disasm *x86 = jr_disasm_new(EM_X86_64);
    struct jr_disasm *arm = jr_disasm_new(EM_AARCH64);
    struct jr_instruction instruction;

    (void)state;
    assert_reads(x86, "\x48\x89\xe5\xc3", 4, "mov rbp, rsp", 3);
    assert_reads(x86, "\xeb\x0e", 2, "jmp 0x1010", 2);
    assert_reads(x86, "\x06\x90", 2, ".byte 0x06", 1);
    assert_reads(x86, "\x48\x89", 2, ".byte 0x48", 1);
    assert_reads(arm, "\xc0\x03\x5f\xd6", 4, "ret", 4);
    assert_reads(arm, "\x04\0\0\x14", 4, "b #0x1010", 4);
    assert_reads(arm, "\xff\xff\xff\xff\0", 5, ".byte 0xff, 0xff, 0xff, 0xff",
                 4);
    assert_reads(arm, "\xc0\x03", 2, ".byte 0xc0, 0x03", 2);
    assert_int_equal(
        jr_disasm_read(x86, (const uint8_t *)"", 0, 0, &instruction), -1);
    assert_null(jr_disasm_new(EM_S390));
    jr_disasm_free(x86);
    jr_disasm_free(arm);
    jr_disasm_free(NULL);
}

/* Line `line` of `file` is `wanted`; NULL: it is not there. */
static void assert_line(struct jr_listings *listings, const char *file,
                        uint32_t line, const char *wanted)
{
    const char *text;
    int length = jr_listings_line(listings, file, line, &text);

    assert_int_equal(length, wanted ? (int)strlen(wanted) : -1);
    if (wanted)
        assert_memory_equal(text, wanted, strlen(wanted));
}

static void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    fputs(text, file);
    fclose(file);
}

static void test_lines(void **state)
{
    char folder[32] = "/tmp/jprof-unit-XXXXXX", path[64], url[80], fifo[64];
    char wide[JR_LISTING_LINE_MAX * 2];
    struct jr_listings *listings;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.js", folder);
    snprintf(url, sizeof url, "file://%s", path);
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    memset(wide, 'w', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    put_file(path, "one\n\n  three \t\r\nlast");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    strcat(folder, "/");
    listings = jr_listings_new(folder);
    assert_line(listings, path, 1, "one");
    assert_line(listings, path, 2, "");
    assert_line(listings, url, 3, "  three");
    assert_line(listings, path, 4, "last");
    assert_line(listings, path, 5, NULL);
    assert_line(listings, path, 0, NULL);
    assert_line(listings, path, UINT32_MAX, NULL);
    /* Beside the log, by the last part of the name; nowhere else. */
    assert_line(listings, "/gone/a.js", 1, "one");
    assert_line(listings, "a.js", 1, "one");
    assert_line(listings, "../x/a.js", 1, "one");
    assert_line(listings, "b.js", 1, NULL);
    assert_line(listings, "..", 1, NULL);
    assert_line(listings, "", 1, NULL);
    assert_line(listings, folder, 1, NULL);
    assert_line(listings, fifo, 1, NULL);
    assert_line(listings, "/dev/zero", 1, NULL);
    jr_listings_free(listings);
    put_file(path, wide);
    wide[JR_LISTING_LINE_MAX] = '\0';
    listings = jr_listings_new(folder);
    assert_line(listings, path, 1, wide);
    jr_listings_free(listings);
    jr_listings_free(NULL);
    unlink(path);
    unlink(fifo);
    folder[strlen(folder) - 1] = '\0';
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instructions),
        cmocka_unit_test(test_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
