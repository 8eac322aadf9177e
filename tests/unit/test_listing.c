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
    listings = jr_listings_new(&(struct jr_listing_places){.folder = folder});
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
    listings = jr_listings_new(&(struct jr_listing_places){.folder = folder});
    assert_line(listings, path, 1, wide);
    jr_listings_free(listings);
    jr_listings_free(NULL);
    unlink(path);
    unlink(fifo);
    folder[strlen(folder) - 1] = '\0';
    assert_int_equal(rmdir(folder), 0);
}

/* A private file that a profile names, or a link that leads there. */
/* Recorded folders are read without what is hidden, and not the root; where
 * maps lead the user said. */
static void recorded_and_maps(const char *top, const char *folder,
                              const char *secret, const char *hidden)
{
    const char *recorded[] = {top, "/"};
    struct jr_source_map maps[] = {{"/build/dir", top}, {"/b/", top}};
    struct jr_listing_places places = {.folder = folder};
    struct jr_listings *listings;

    for (size_t i = 0; i < 3; i++) {
        places.recorded = i < 2 ? recorded + i : NULL;
        places.nrecorded = i < 2;
        listings = jr_listings_new(&places);
        assert_line(listings, secret, 1, i == 0 ? "secret" : NULL);
        assert_line(listings, hidden, 1, NULL);
        jr_listings_free(listings);
    }
    for (size_t nmaps = 0; nmaps < 3; nmaps++) {
        places.maps = maps;
        places.nmaps = nmaps;
        listings = jr_listings_new(&places);
        assert_line(listings, "/build/dir/id_rsa", 1,
                    nmaps > 0 ? "secret" : NULL);
        assert_line(listings, "/build/directory/id_rsa", 1, NULL);
        assert_line(listings, "/build/dir/../../../../../../etc/passwd", 1,
                    NULL);
        assert_line(listings, "/b/id_rsa", 1, nmaps > 1 ? "secret" : NULL);
        jr_listings_free(listings);
    }
}

static void test_places(void **state)
{
    char *top = jr_strdup("/tmp/jprof-unit-XXXXXX"), *folder, *secret, *hidden;
    char *link, *inside, *here = getcwd(NULL, 0);
    const char *sources[1], *text;
    struct jr_listings *listings;
    size_t size;

    (void)state;
    assert_non_null(mkdtemp(top));
    folder = jr_printf("%s/log/", top);
    assert_int_equal(mkdir(folder, 0700), 0);
    inside = jr_printf("%ssub", folder);
    assert_int_equal(mkdir(inside, 0700), 0);
    secret = jr_printf("%s/id_rsa", top);
    hidden = jr_printf("%s.netrc", folder);
    link = jr_printf("%s/link.js", inside);
    put_file(secret, "secret");
    put_file(hidden, "hidden");
    assert_int_equal(symlink(secret, link), 0);
    sources[0] = top;
    for (size_t nsources = 0; nsources < 2; nsources++) {
        const char *there = nsources ? "secret" : NULL;
        char *around = jr_printf("%ssub/../../id_rsa", folder);

        listings = jr_listings_new(&(struct jr_listing_places){
            .folder = folder, .sources = sources, .nsources = nsources});
        assert_line(listings, secret, 1, there);
        assert_int_equal(jr_listings_text(listings, secret, &text, &size),
                         there ? 0 : -1);
        if (there)
            assert_string_equal(text, "secret");
        assert_line(listings, around, 1, there);
        assert_line(listings, link, 1, there);
        assert_line(listings, "/gone/link.js", 1, NULL);
        assert_line(listings, "/gone/id_rsa", 1, there);
        assert_line(listings, hidden, 1, nsources ? "hidden" : NULL);
        jr_listings_free(listings);
        free(around);
    }
    recorded_and_maps(top, folder, secret, hidden);
    /* The working directory is the user's choice, too, but not the root. */
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(chdir(i ? "/" : top), 0);
        listings = jr_listings_new(
            &(struct jr_listing_places){.folder = i ? "/" : folder});
        assert_line(listings, secret, 1, i ? NULL : "secret");
        jr_listings_free(listings);
    }
    assert_int_equal(chdir(here), 0);
    unlink(link);
    unlink(hidden);
    unlink(secret);
    rmdir(inside);
    rmdir(folder);
    assert_int_equal(rmdir(top), 0);
    free(link);
    free(hidden);
    free(secret);
    free(inside);
    free(folder);
    free(top);
    free(here);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instructions),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
