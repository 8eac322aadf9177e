/* SPDX-License-Identifier: MIT
 *
 * Memory without a file that has a copy of a file's text, at any place: which
 * pages count as the copy.
 * Runs in: unit tests, in the top folder of the sources. */
#include "jit_world.h"
#include "symbol/copied.h"

#define PAGE 4096UL
#define TEXT 0x10100UL /* of the text in the file: no page begins there */

static uint8_t file[0x20000];

/* Writes the file of the module, and the copies of five pages of memory at
 * 0x500000: all but the third were kept; the fifth has other code. */
static void put_files(void)
{
    static uint8_t kept[5][PAGE];
    uint32_t word = 1;

    for (size_t i = 0; i < sizeof file; i++) {
        word = word * 1103515245 + 12345;
        file[i] = (uint8_t)(word >> 16);
    }
    memset(file + TEXT + PAGE, 0xcc, PAGE); /* a fill */
    for (size_t i = 0; i < 5; i++)
        memcpy(kept[i], file + TEXT + i * PAGE, PAGE);
    kept[4][100] ^= 1;
    put_file("text", file, sizeof file);
    put_file("code", kept, sizeof kept);
}

static const char lines[] =
    "100 jprof-map version=1 pid=7 start=99 log=jprof-log\n"
    "1 module start=400000 end=41e000 offset=2000 bias=3fe000 dev=8:1 inode=5 "
    "path=%s/text\n"
    "2 anon start=500000 end=509000\n"
    "30 code start=500000 end=502000 offset=0 saved=code\n"
    "30 code start=503000 end=505000 offset=3000 saved=code\n";

static struct world *build_copied(void)
{
    char text[1024];

    put_files();
    snprintf(text, sizeof text, lines, folder);
    return build(text);
}

/* The address in the module's mapping that an address is a copy of; 0: none. */
static uint64_t source_of(struct jr_copied *copied, struct world *world,
                          uint64_t address)
{
    uint64_t at = 0;
    const struct jr_mapping *source =
        jr_copied_find(copied, &world->map, folder,
                       &world->map.mappings.items[1], address, &at);

    assert_true(!source || source == &world->map.mappings.items[0]);
    return source ? at : 0;
}

static void finds_what_was_copied(void **state)
{
    const uint64_t shift = 0x400000 + TEXT - 0x2000 - 0x500000;
    struct world *world = build_copied();
    struct jr_copied copied = {0};

    (void)state;
    /* A fill says nothing, and what was not kept is not known yet. */
    assert_int_equal(source_of(&copied, world, 0x501010), 0);
    assert_int_equal(source_of(&copied, world, 0x502010), 0);
    world->map.packed = 1;
    assert_int_equal(source_of(&copied, world, 0x500123), 0);
    world->map.packed = 0;
    assert_int_equal(copied.searched, 0);
    assert_int_equal(source_of(&copied, world, 0x500123), 0x500123 + shift);
    assert_int_equal(source_of(&copied, world, 0x502010), 0);
    assert_int_equal(source_of(&copied, world, 0x503fff), 0x503fff + shift);
    /* It stands between pages that are the same; behind them is none. */
    assert_int_equal(source_of(&copied, world, 0x502010), 0x502010 + shift);
    assert_int_equal(source_of(&copied, world, 0x501010), 0x501010 + shift);
    assert_int_equal(source_of(&copied, world, 0x504010), 0);
    assert_int_equal(source_of(&copied, world, 0x505010), 0);
    jr_copied_free(&copied);
    drop(world);
}

/* Code of a JIT compiler is in no file: four pages at most are looked for. */
static void gives_up(void **state)
{
    struct world *world = build_copied();
    struct jr_copied copied = {0};
    uint64_t before;

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        before = copied.searched;
        assert_int_equal(source_of(&copied, world, 0x504010), 0);
        assert_true(copied.searched > before);
    }
    before = copied.searched;
    assert_int_equal(source_of(&copied, world, 0x504010), 0);
    assert_int_equal(source_of(&copied, world, 0x500010), 0);
    assert_int_equal(copied.searched, before);
    jr_copied_free(&copied);
    drop(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_copied),
        cmocka_unit_test(gives_up),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
