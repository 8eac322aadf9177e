/* SPDX-License-Identifier: MIT
 *
 * Programs of line tables: sequences of code that is there and that is not.
 * Runs in: unit tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/dwarf/line_table.h"

/* Opcodes (DWARF 5, 6.2.5); specials begin at 13, with lines from -3 on. */
#define COPY 1
#define PC(bytes) 2, (((bytes)&0x7f) | 0x80), (((bytes) >> 7) & 0x7f)
#define LINE(number) 3, ((number)&0x7f)
#define AT(address)                                                            \
    0, 9, 2, (uint8_t)((uint64_t)(address) >> 0),                              \
        (uint8_t)((uint64_t)(address) >> 8),                                   \
        (uint8_t)((uint64_t)(address) >> 16),                                  \
        (uint8_t)((uint64_t)(address) >> 24),                                  \
        (uint8_t)((uint64_t)(address) >> 32),                                  \
        (uint8_t)((uint64_t)(address) >> 40),                                  \
        (uint8_t)((uint64_t)(address) >> 48),                                  \
        (uint8_t)((uint64_t)(address) >> 56)
#define END 0, 1, 1

static const uint8_t lengths[12] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
static struct jr_live_part text[] = {{0x1000, 0x2000}, {0x4000, 0x5000}};
static const struct jr_live live = {text, 2, 2};

static int read_rows(struct jr_line_rows *rows, const uint8_t *program,
                     size_t size)
{
    const struct jr_line_program whole = {.at = program,
                                          .end = program + size,
                                          .lengths = lengths,
                                          .step = 1,
                                          .line_range = 12,
                                          .first_special = 13,
                                          .line_base = -3};

    *rows = (struct jr_line_rows){0};
    return jr_line_rows_read(rows, &whole, &live);
}

static uint32_t line_at(const struct jr_line_rows *rows, uint64_t address)
{
    const struct jr_line_row *row = jr_line_rows_find(rows, address);

    return row ? row->line : 0;
}

static void leaves_out_what_is_not_there(void **state)
{
    static const uint64_t marks[] = {
        0, 1, 0x200, UINT64_MAX, UINT64_MAX - 1, 0x2000};

    (void)state;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        /* Before and after it code that is there, within its length. */
        const uint8_t program[] = {
            AT(0x1000), COPY,         PC(16),   LINE(9), COPY,       PC(16),
            END,        AT(marks[i]), LINE(40), COPY,    PC(0x1008), LINE(1),
            COPY,       PC(0x1008),   COPY,     END,     AT(0x1100), LINE(20),
            COPY,       PC(16),       END};
        struct jr_line_rows rows;

        assert_int_equal(read_rows(&rows, program, sizeof program), 0);
        assert_int_equal(rows.nsequences, 2);
        assert_int_equal(rows.count, 3);
        assert_int_equal(line_at(&rows, 0xfff), 0);
        assert_int_equal(line_at(&rows, 0x1000), 1);
        assert_int_equal(line_at(&rows, 0x100f), 1);
        assert_int_equal(line_at(&rows, 0x1010), 10);
        assert_int_equal(line_at(&rows, 0x101f), 10);
        assert_int_equal(line_at(&rows, 0x1020), 0);
        assert_int_equal(line_at(&rows, 0x110f), 21);
        assert_int_equal(line_at(&rows, 0x1110), 0);
        jr_line_rows_free(&rows);
    }
}

static void keeps_what_differs(void **state)
{
    /* Specials: 13 + 3 is no line and no address, each 12 more an address. */
    static const uint8_t program[] = {AT(0x4000), 16, 17,   16,    28, 28,
                                      13 + 12,    8,  COPY, PC(5), END};
    struct jr_line_rows rows;

    (void)state;
    assert_int_equal(read_rows(&rows, program, sizeof program), 0);
    /* Of one address the last counts; lines that go on are one row. */
    assert_int_equal(rows.count, 2);
    assert_int_equal(line_at(&rows, 0x4000), 2);
    assert_int_equal(line_at(&rows, 0x4002), 2);
    assert_int_equal(line_at(&rows, 0x4003), UINT32_MAX);
    assert_int_equal(line_at(&rows, 0x4003 + 20 + 4), UINT32_MAX);
    assert_int_equal(line_at(&rows, 0x4003 + 20 + 5), 0);
    jr_line_rows_free(&rows);
}

static void begins_anew_where_an_address_goes_back(void **state)
{
    static const uint8_t program[] = {
        AT(0x4000), COPY,  PC(16),  COPY, AT(0x1000), LINE(4), COPY, PC(16),
        COPY,       AT(0), LINE(1), COPY, PC(0x1800), COPY,    END};
    struct jr_line_rows rows;

    (void)state;
    assert_int_equal(read_rows(&rows, program, sizeof program), 0);
    assert_int_equal(rows.nsequences, 2);
    assert_int_equal(line_at(&rows, 0x4008), 1);
    assert_int_equal(line_at(&rows, 0x1008), 5);
    assert_int_equal(line_at(&rows, 0x1010), 0);
    jr_line_rows_free(&rows);
}

/* A sequence ends at the highest address; its rows stay. */
static void goes_beyond_the_highest_address(void **state)
{
    static const uint8_t program[] = {
        AT(0x4000), COPY,       PC(16), LINE(4), COPY,       2,    0xe0,   0xff,
        0xff,       0xff,       0xff,   0xff,    0xff,       0xff, 0xff,   1,
        COPY,       PC(0x1800), COPY,   END,     AT(0x1000), COPY, PC(16), END};
    struct jr_line_rows rows;

    (void)state;
    assert_int_equal(read_rows(&rows, program, sizeof program), 0);
    assert_int_equal(rows.nsequences, 2);
    assert_int_equal(rows.count, 3);
    assert_int_equal(line_at(&rows, 0x400f), 1);
    assert_int_equal(line_at(&rows, 0x4010), 0);
    assert_int_equal(line_at(&rows, 0x100f), 1);
    jr_line_rows_free(&rows);
}

/* Cut anywhere, or with each byte changed, a program is read to its end. */
static void survives_damage(void **state)
{
    static const uint8_t program[] = {AT(0x1000), COPY, PC(16), LINE(9), COPY,
                                      9,          4,    0,      5,       3,
                                      0,          2,    4,      1,       END};

    (void)state;
    for (size_t cut = 0; cut <= sizeof program; cut++) {
        uint8_t *copy = malloc(cut + 1);
        struct jr_line_rows rows;

        memcpy(copy, program, cut);
        /* The end is that of memory, where a sanitizer looks. */
        copy = realloc(copy, cut ? cut : 1);
        read_rows(&rows, copy, cut);
        line_at(&rows, 0x1008);
        jr_line_rows_free(&rows);
        for (size_t at = 0; at < cut; at++)
            for (unsigned value = 0; value < 256; value += 17) {
                copy[at] = (uint8_t)value;
                read_rows(&rows, copy, cut);
                line_at(&rows, 0x1008);
                jr_line_rows_free(&rows);
                copy[at] = program[at];
            }
        free(copy);
    }
}

/* A table of version 4, with room behind it. */
static const uint8_t table[] = {
    65,  0,   0,          0,    4,      0,   25,  0,   0,   0,   1,
    1,   1,   0xfd,       12,   13,     0,   1,   1,   1,   1,   0,
    0,   0,   1,          0,    0,      1,   0,   'a', 0,   0,   0,
    0,   0,   AT(0x1000), COPY, PC(16), END, 'x', 'x', 'x', 'x', 'x',
    'x', 'x', 'x',        'x',  'x',    'x', 'x', 'x', 'x', 'x', 'x'};

/* A head may say of each of its parts that it is longer or shorter. */
static void reads_nothing_beyond_a_table(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *copy = memory + page - sizeof table;
    size_t whole = 0;

    (void)state;
    assert_true(memory != MAP_FAILED);
    mprotect(memory + page, page, PROT_NONE);
    for (size_t at = 0; at < sizeof table; at++)
        for (unsigned value = 0; value < 256; value++) {
            struct jr_line_table read = {0};
            struct jr_dwarf_shared shared = {
                .budget.left = 1000,
                .live = live,
                .lines.table = {copy, sizeof table}};

            memcpy(copy, table, sizeof table);
            copy[at] = (uint8_t)value;
            if (jr_line_table_read(&read, &shared, 0, "/folder") == 0 &&
                copy[at] == table[at]) {
                assert_string_equal(read.files[1].name, "a");
                assert_string_equal(read.files[1].folder, "/folder");
                assert_int_equal(line_at(&read.rows, 0x100f), 1);
                whole++;
            }
            jr_line_table_free(&read);
        }
    assert_int_equal(whole, sizeof table);
    munmap(memory, 2 * page);
}

/* libdw, which may crash of a damaged table, is to read other kinds. */
static void tells_other_kinds_from_damage(void **state)
{
    static const struct {
        uint8_t at, value; /* a byte that is another one */
        int found;
    } cases[] = {
        {0, 65, 0},              /* the table as it is */
        {0, 200, 1},             /* its length, */
        {4, 7, -1},              /* version, */
        {6, 200, 1}, {6, 12, 1}, /* where its program begins, */
        {11, 4, -1},             /* operations in an instruction, */
        {17, 2, -1},             /* and arguments of an opcode */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t copy[sizeof table];
        struct jr_line_table read = {0};
        struct jr_dwarf_shared shared = {.budget.left = 1000,
                                         .live = live,
                                         .lines.table = {copy, sizeof copy}};

        memcpy(copy, table, sizeof table);
        copy[cases[i].at] = cases[i].value;
        assert_int_equal(jr_line_table_read(&read, &shared, 0, "/folder"),
                         cases[i].found);
        assert_int_equal(read.nfiles != 0, cases[i].found == 0);
        jr_line_table_free(&read);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_out_what_is_not_there),
        cmocka_unit_test(keeps_what_differs),
        cmocka_unit_test(begins_anew_where_an_address_goes_back),
        cmocka_unit_test(goes_beyond_the_highest_address),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(reads_nothing_beyond_a_table),
        cmocka_unit_test(tells_other_kinds_from_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
