/* SPDX-License-Identifier: MIT
 *
 * The jitdump reader: real files of runtimes, cut, in the other byte order,
 * and made-up oddities.
 * Runs in: unit tests, in the top folder of the sources. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/diag.h"
#include "jitdump_fixture.h"
#include "read/jitdump.h"
#include "read/jitdump_body.h"

struct reading {
    struct jr_source source;
    struct jr_jitdump dump;
    int result;
    const char *why;
};

static void begin(struct reading *reading, const struct bytes *bytes)
{
    jr_source_memory(&reading->source, bytes->data, bytes->size);
    reading->result =
        jr_jitdump_begin(&reading->dump, &reading->source, &reading->why);
}

static uint64_t count_records(struct reading *reading)
{
    struct jr_jitdump_record record;
    uint64_t count = 0;

    while (jr_jitdump_next(&reading->dump, &record))
        count++;
    return count;
}

/* How many records of each type the tools that wrote it down found. */
static const struct {
    const char *name;
    uint64_t loads, tables, closes, unwinding;
    uint64_t tail; /* bytes of a half record at the end */
} files[] = {
    {"node/perf-prof.jit.dump.xz", 2226, 44, 0, 2226, 0},
    {"node/killed-truncated.jit.dump.xz", 2226, 45, 0, 2227, 1221},
    {"node/churn-gc.jit.dump.xz", 420, 420, 0, 420, 0},
    {"node/wasm.jit.dump.xz", 25, 20, 0, 20, 0},
    {"node/workers.jit.dump.xz", 150, 150, 0, 150, 0},
    {"java/jvmti-jit-19047.dump.xz", 709, 154, 1, 0, 0},
    {"java/churn-jvmti-jit-19730.dump.gz", 1652, 1105, 1, 0, 0},
    {"jsc/jit-18557.dump.xz", 214, 0, 0, 0, 0},
    {"python/3.13.0-jit-16562.dump.xz", 281, 0, 0, 281, 0},
    {"spidermonkey/prog-ir.jit.dump.xz", 1004, 206, 0, 0, 0},
    {"spidermonkey/killed-truncated.jit.dump.xz", 701, 32, 0, 0, 1701},
    {"wasmtime/jit-18000.dump", 4, 0, 0, 0, 0},
    {"lli/jit-15290.dump", 4, 4, 0, 0, 0},
};

static void reads_the_files_of_runtimes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct bytes bytes = real_dump(files[i].name);
        struct reading reading;
        uint64_t *counts = reading.dump.counts;

        begin(&reading, &bytes);
        assert_int_equal(reading.result, 0);
        count_records(&reading);
        assert_int_equal(counts[JR_JITDUMP_LOAD], files[i].loads);
        assert_int_equal(counts[JR_JITDUMP_DEBUG], files[i].tables);
        assert_int_equal(counts[JR_JITDUMP_CLOSE], files[i].closes);
        assert_int_equal(counts[JR_JITDUMP_UNWINDING], files[i].unwinding);
        assert_int_equal(reading.dump.malformed, 0);
        assert_int_equal(reading.dump.unknown, 0);
        assert_true(reading.dump.lost_at == JR_NO_OFFSET);
        assert_true(
            reading.dump.cut_at ==
            (files[i].tail ? bytes.size - files[i].tail : JR_NO_OFFSET));
        free(bytes.data);
    }
}

/* Cut at, just before and just behind the start of every record, the file has
 * the records before. */
static void reads_what_is_before_a_cut(void **state)
{
    struct bytes bytes = real_dump("node/churn-gc.jit.dump.xz"), cut;
    struct reading whole, part;
    struct jr_jitdump_record record;
    uint64_t before = 0;

    (void)state;
    begin(&whole, &bytes);
    while (jr_jitdump_next(&whole.dump, &record)) {
        for (int less = -1; less <= 17; less += 9) {
            /* A copy of its own, so that a checker sees each read beyond. */
            cut.size = (size_t)(record.offset + (uint64_t)less);
            cut.data = malloc(cut.size);
            memcpy(cut.data, bytes.data, cut.size);
            begin(&part, &cut);
            assert_int_equal(part.result, 0);
            assert_int_equal(count_records(&part),
                             before - (less < 0 && before > 0));
            assert_int_equal(part.dump.malformed, 0);
            assert_true(part.dump.lost_at == JR_NO_OFFSET);
            free(cut.data);
        }
        before++;
    }
    assert_int_equal(before, 1260);
    free(bytes.data);
}

/* Turns every field of a dump around.  The types' bodies differ. */
static void swap_dump(struct bytes *bytes)
{
    static const char *const fields[] = {"448888", "4488888", "88", "", "888"};
    uint32_t header, size, type;
    size_t at;

#define SWAP(place, type_, swap)                                               \
    do {                                                                       \
        type_ value_;                                                          \
        memcpy(&value_, bytes->data + (place), sizeof value_);                 \
        value_ = swap(value_);                                                 \
        memcpy(bytes->data + (place), &value_, sizeof value_);                 \
    } while (0)
    memcpy(&header, bytes->data + 8, 4);
    for (at = 0; at < 24; at += 4)
        SWAP(at, uint32_t, __builtin_bswap32);
    SWAP(24, uint64_t, __builtin_bswap64);
    SWAP(32, uint64_t, __builtin_bswap64);
    for (at = header; at + 16 <= bytes->size; at += size) {
        size_t field = at + 16, entries;
        uint64_t count = 0;

        memcpy(&type, bytes->data + at, 4);
        memcpy(&size, bytes->data + at + 4, 4);
        SWAP(at, uint32_t, __builtin_bswap32);
        SWAP(at + 4, uint32_t, __builtin_bswap32);
        SWAP(at + 8, uint64_t, __builtin_bswap64);
        if (type == 2)
            memcpy(&count, bytes->data + at + 24, 8);
        for (const char *width = fields[type]; *width; width++) {
            if (*width == '4')
                SWAP(field, uint32_t, __builtin_bswap32);
            else
                SWAP(field, uint64_t, __builtin_bswap64);
            field += *width == '4' ? 4 : 8;
        }
        for (entries = field; count > 0; count--) {
            SWAP(entries, uint64_t, __builtin_bswap64);
            SWAP(entries + 8, uint32_t, __builtin_bswap32);
            SWAP(entries + 12, uint32_t, __builtin_bswap32);
            entries += 16 + strlen((char *)bytes->data + entries + 16) + 1;
        }
    }
#undef SWAP
}

static void reads_the_other_byte_order(void **state)
{
    struct bytes bytes = real_dump("spidermonkey/prog-ir.jit.dump.xz"), other;
    struct reading one, two;
    struct jr_jitdump_record a, b;

    (void)state;
    other.size = bytes.size;
    other.data = malloc(bytes.size);
    memcpy(other.data, bytes.data, bytes.size);
    swap_dump(&other);
    begin(&one, &bytes);
    begin(&two, &other);
    assert_int_equal(one.dump.swapped, 0);
    assert_int_equal(two.dump.swapped, 1);
    assert_int_equal(two.dump.machine, 62);
    assert_int_equal(two.dump.pid, one.dump.pid);
    while (jr_jitdump_next(&one.dump, &a)) {
        assert_int_equal(jr_jitdump_next(&two.dump, &b), 1);
        assert_memory_equal(&a, &b, sizeof a);
        if (a.type == JR_JITDUMP_LOAD) {
            struct jr_jitdump_load here, there;

            assert_int_equal(jr_jitdump_load(&one.dump, a.offset, &here), 0);
            assert_int_equal(jr_jitdump_load(&two.dump, a.offset, &there), 0);
            assert_string_equal(here.name, there.name);
            assert_int_equal(here.code_offset, there.code_offset);
        }
    }
    assert_int_equal(jr_jitdump_next(&two.dump, &b), 0);
    free(bytes.data);
    free(other.data);
}

/* The same through a file, whose window moves, as from memory. */
static void reads_a_file_through_its_window(void **state)
{
    struct bytes bytes = real_dump("java/churn-jvmti-jit-19730.dump.gz");
    char path[] = "/tmp/jprof-test-XXXXXX";
    struct jr_jitdump_record a, b;
    struct reading one, two;
    int fd = mkstemp(path);

    (void)state;
    assert_true(write(fd, bytes.data, bytes.size) == (ssize_t)bytes.size);
    close(fd);
    begin(&one, &bytes);
    assert_int_equal(jr_source_open(&two.source, path, NULL, &two.why), 0);
    assert_int_equal(jr_jitdump_begin(&two.dump, &two.source, &two.why), 0);
    while (jr_jitdump_next(&one.dump, &a)) {
        assert_int_equal(jr_jitdump_next(&two.dump, &b), 1);
        assert_memory_equal(&a, &b, sizeof a);
    }
    assert_int_equal(jr_jitdump_next(&two.dump, &b), 0);
    jr_jitdump_free(&two.dump);
    /* Another file under its name is not read in its place. */
    unlink(path);
    jr_source_free(&two.source);
    free(bytes.data);
}

static void takes_every_record(void **state)
{
    for (int swapped = 0; swapped < 2; swapped++) {
        struct bytes bytes = {.swapped = swapped};
        struct entry entry = {0x1040, 3, 5, "a.js"};
        struct jr_jitdump_record record;
        struct reading reading;

        (void)state;
        put_header(&bytes, 1, 40, 0);
        put_debug(&bytes, 1, 0x1000, &entry, 1);
        put_unwinding(&bytes, 2);
        put_load(&bytes, 3, 0x1000, 0x100, "f");
        put_move(&bytes, 4, 0x1000, 0x2000, 0x100);
        put_close(&bytes, 5);
        begin(&reading, &bytes);
        for (uint32_t i = 0; i < 5; i++) {
            static const uint32_t types[] = {2, 4, 0, 1, 3};

            assert_int_equal(jr_jitdump_next(&reading.dump, &record), 1);
            assert_int_equal(record.type, types[i]);
            assert_int_equal(record.time_ns, i + 1);
            if (i == 0)
                assert_int_equal(record.first_line, 0x1040);
            if (i == 2)
                assert_int_equal(record.code_size, 0x100);
            if (i == 3)
                assert_int_equal(record.old_start, 0x1000);
            if (i == 0 || i == 2)
                assert_int_equal(record.start, 0x1000);
        }
        assert_int_equal(jr_jitdump_next(&reading.dump, &record), 0);
        assert_true(reading.dump.cut_at == JR_NO_OFFSET);
        free(bytes.data);
    }
}

static void takes_headers_of_any_size(void **state)
{
    static const uint32_t sizes[] = {32, 40, 56};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bytes bytes = {0};
        struct reading reading;

        put_header(&bytes, i ? 2 : 1, sizes[i], 1);
        put_load(&bytes, 3, 0x1000, 0x10, "f");
        begin(&reading, &bytes);
        assert_int_equal(reading.result, 0);
        assert_int_equal(reading.dump.has_arch_time, sizes[i] >= 40);
        assert_int_equal(count_records(&reading), 1);
        free(bytes.data);
    }
}

static void refuses_what_is_no_jitdump(void **state)
{
    struct bytes bytes = {0};
    struct reading reading;

    (void)state;
    /* Mapped, and nothing written yet. */
    bytes.data = calloc(1, 1);
    begin(&reading, &bytes);
    assert_int_equal(reading.result, 0);
    assert_int_equal(count_records(&reading), 0);
    put_header(&bytes, 1, 40, 0);
    poke32(&bytes, 0, 0x7f454c46);
    begin(&reading, &bytes);
    assert_int_equal(reading.result, -1);
    poke32(&bytes, 0, 0x4A695444);
    poke32(&bytes, 8, 8);
    begin(&reading, &bytes);
    assert_int_equal(reading.result, -1);
    free(bytes.data);
}

static void passes_over_what_it_cannot_use(void **state)
{
    struct bytes bytes = {0};
    struct reading reading;
    size_t bad;

    (void)state;
    put_header(&bytes, 1, 40, 0);
    put_prefix(&bytes, 77, 8, 1); /* of a later version */
    put64(&bytes, 0);
    put_load(&bytes, 1, 0x1000, 0, "none"); /* no code */
    bad = bytes.size;
    put_load(&bytes, 1, 0x1000, 0x10, "f");
    poke32(&bytes, bad + 40, 0x1000); /* more code than record */
    put_prefix(&bytes, 1, 8, 1);      /* too short for a move */
    put64(&bytes, 0);
    put_load(&bytes, 1, UINT64_MAX - 4, 0x10, "g"); /* past the last address */
    put_load(&bytes, 1, 0x1000, 0x10, "h");
    begin(&reading, &bytes);
    assert_int_equal(count_records(&reading), 1);
    assert_int_equal(reading.dump.unknown, 1);
    assert_int_equal(reading.dump.malformed, 3);
    assert_int_equal(reading.dump.first_malformed, bad);
    assert_true(reading.dump.lost_at == JR_NO_OFFSET);
    free(bytes.data);
}

static void passes_over_zeros(void **state)
{
    for (size_t zeros = 1; zeros < 40; zeros++) {
        for (int swapped = 0; swapped < 2; swapped++) {
            struct bytes bytes = {.swapped = swapped};
            struct jr_jitdump_record record;
            struct reading reading;

            (void)state;
            put_header(&bytes, 1, 40, 0);
            for (size_t i = 0; i < zeros; i++)
                put(&bytes, "", 1);
            put_load(&bytes, 5, 0x1000, 0x123, "f");
            for (size_t i = 0; i < zeros; i++)
                put(&bytes, "", 1);
            begin(&reading, &bytes);
            if (zeros >= 4) {
                assert_int_equal(jr_jitdump_next(&reading.dump, &record), 1);
                assert_int_equal(record.offset, 40 + zeros);
                assert_int_equal(jr_jitdump_next(&reading.dump, &record), 0);
                assert_true(reading.dump.lost_at == JR_NO_OFFSET);
            } else {
                count_records(&reading);
            }
            free(bytes.data);
        }
    }
}

/* Records read from a byte or two before their start are larger, and fit where
 * much follows. */
static void finds_the_start_behind_zeros(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < 8; shape++) {
        struct bytes bytes = {.swapped = shape & 1};
        struct jr_jitdump_record record;
        struct reading reading;

        put_header(&bytes, 1, 40, 0);
        for (size_t i = 0; i < 4093; i++)
            put(&bytes, "", 1);
        put_load(&bytes, 5, 0x1000, shape & 2 ? 0x41 : 0x4100, "f");
        if (shape & 4)
            put_load(&bytes, 6, 0x2000, 0x10, "g");
        for (size_t i = 0; i < 300000; i++)
            put(&bytes, "", 1);
        begin(&reading, &bytes);
        assert_int_equal(jr_jitdump_next(&reading.dump, &record), 1);
        assert_int_equal(record.offset, 40 + 4093);
        assert_int_equal(record.code_size, shape & 2 ? 0x41 : 0x4100);
        assert_int_equal(jr_jitdump_next(&reading.dump, &record),
                         (shape & 4) != 0);
        assert_true(reading.dump.lost_at == JR_NO_OFFSET);
        free(bytes.data);
    }
}

static void stops_where_no_record_can_be(void **state)
{
    struct bytes bytes = {0};
    struct reading reading;
    size_t at;

    (void)state;
    put_header(&bytes, 1, 40, 0);
    put_load(&bytes, 1, 0x1000, 0x10, "f");
    at = bytes.size;
    put_load(&bytes, 1, 0x2000, 0x10, "g");
    poke32(&bytes, at + 4, 12); /* shorter than its prefix */
    begin(&reading, &bytes);
    assert_int_equal(count_records(&reading), 1);
    assert_int_equal(reading.dump.lost_at, at);
    poke32(&bytes, at + 4, 0xffffffff); /* longer than the file */
    begin(&reading, &bytes);
    assert_int_equal(count_records(&reading), 1);
    assert_int_equal(reading.dump.cut_at, at);
    free(bytes.data);
}

static void cuts_long_names(void **state)
{
    struct bytes bytes = {0};
    struct jr_jitdump_load load;
    struct reading reading;
    char name[5000];

    (void)state;
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    put_header(&bytes, 1, 40, 0);
    put_load(&bytes, 1, 0x1000, 0x10, name);
    begin(&reading, &bytes);
    assert_int_equal(jr_jitdump_load(&reading.dump, 40, &load), 0);
    assert_int_equal(load.length, JR_JITDUMP_NAME_MAX);
    assert_int_equal(bytes.data[load.code_offset], 0xc3);
    assert_int_equal(load.code_offset + 0x10, bytes.size);
    assert_int_equal(jr_jitdump_load(&reading.dump, bytes.size - 20, &load),
                     -1);
    free(bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_files_of_runtimes),
        cmocka_unit_test(reads_what_is_before_a_cut),
        cmocka_unit_test(reads_the_other_byte_order),
        cmocka_unit_test(reads_a_file_through_its_window),
        cmocka_unit_test(takes_every_record),
        cmocka_unit_test(takes_headers_of_any_size),
        cmocka_unit_test(refuses_what_is_no_jitdump),
        cmocka_unit_test(passes_over_what_it_cannot_use),
        cmocka_unit_test(passes_over_zeros),
        cmocka_unit_test(finds_the_start_behind_zeros),
        cmocka_unit_test(stops_where_no_record_can_be),
        cmocka_unit_test(cuts_long_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
