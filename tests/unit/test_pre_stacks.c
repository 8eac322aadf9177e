/* SPDX-License-Identifier: MIT
 *
 * The stack table of a chunk: random stacks are written the way log.c writes
 * them, found again, and rebuilt from the records alone as doc/FORMAT.md says.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../preload/sig/state/buffer.h"
#include "../../preload/sig/log/log.h"
#include "../../preload/sig/log/stacks.h"

#define DEPTH_MAX 300U
#define SIZE 65536U

static struct jp_buffer *buffer;

static int set_up(void **state)
{
    (void)state;
    buffer = calloc(1, sizeof(*buffer));
    buffer->frames = calloc(DEPTH_MAX, sizeof(uint64_t));
    buffer->last = calloc(DEPTH_MAX, sizeof(uint64_t));
    buffer->chunk = calloc(1, SIZE);
    buffer->size = SIZE;
    buffer->used = JP_CHUNK_HEADER_SIZE;
    jp_stacks_reset_sig(buffer);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(buffer->chunk);
    free(buffer->last);
    free(buffer->frames);
    free(buffer);
    return 0;
}

/* Writes the buffer's stack as a record; returns its reference. */
static uint16_t put(void)
{
    struct jp_stack_record *record =
        (struct jp_stack_record *)(buffer->chunk + buffer->used);
    uint32_t shared = jp_stacks_shared_sig(buffer);
    uint16_t ref = (uint16_t)(buffer->used / 8);
    assert_true(shared <= buffer->depth);
    record->count = (uint16_t)(buffer->depth - shared);
    record->shared = (uint16_t)shared;
    record->base = shared != 0 ? buffer->last_ref : 0;
    record->gap = (uint16_t)buffer->gap;
    memcpy(record->frames, buffer->frames, record->count * sizeof(uint64_t));
    buffer->used += (uint32_t)sizeof(*record) + record->count * 8U;
    jp_stacks_add_sig(buffer, ref, shared);
    return ref;
}

/* The whole stack of a record, by the words of doc/FORMAT.md. */
static uint32_t rebuild(uint16_t ref, uint64_t *frames)
{
    const struct jp_stack_record *record =
        (const struct jp_stack_record *)(buffer->chunk + ref * 8U);
    uint64_t base[DEPTH_MAX];
    uint32_t count = record->count, shared = record->shared;
    memcpy(frames, record->frames, count * sizeof(uint64_t));
    if (shared != 0) {
        uint32_t depth = rebuild(record->base, base);
        assert_true(shared <= depth);
        memcpy(frames + count, base + depth - shared,
               shared * sizeof(uint64_t));
    }
    return count + shared;
}

/* A stack that shares a random part of its root side with the one before. */
static void vary(uint32_t *seed)
{
    uint32_t keep = (uint32_t)rand_r(seed) % (buffer->depth + 1);
    uint32_t fresh = (uint32_t)rand_r(seed) % 12 + 1;
    if (keep + fresh > DEPTH_MAX)
        keep = DEPTH_MAX - fresh;
    memmove(buffer->frames + fresh, buffer->frames + buffer->depth - keep,
            keep * sizeof(uint64_t));
    for (uint32_t i = 0; i < fresh; i++)
        buffer->frames[i] = 0x1000 + (uint32_t)rand_r(seed) % 5;
    buffer->depth = keep + fresh;
}

static void test_rebuilds(void **state)
{
    uint32_t seed = 1, found = 0;
    (void)state;
    buffer->depth = 0;
    for (int i = 0; i < 2000 && buffer->used < SIZE - 4096; i++) {
        uint64_t frames[DEPTH_MAX];
        uint16_t ref;
        vary(&seed);
        if (jp_stacks_find_sig(buffer, &ref))
            found++;
        else
            ref = put();
        assert_int_equal(rebuild(ref, frames), buffer->depth);
        assert_memory_equal(frames, buffer->frames,
                            buffer->depth * sizeof(uint64_t));
        uint16_t again;
        assert_true(jp_stacks_find_sig(buffer, &again));
        assert_int_equal(again, ref);
    }
    assert_true(found > 0);
}

static void test_repeated_stack_is_found(void **state)
{
    uint16_t ref, first;
    (void)state;
    buffer->depth = 25;
    for (uint32_t i = 0; i < 25; i++)
        buffer->frames[i] = 0x400000 + i;
    assert_false(jp_stacks_find_sig(buffer, &ref));
    first = put();
    assert_true(jp_stacks_find_sig(buffer, &ref));
    assert_int_equal(ref, first);
    buffer->frames[24]++;
    assert_false(jp_stacks_find_sig(buffer, &ref));
    buffer->frames[24]--;
    buffer->gap = 12;
    assert_false(jp_stacks_find_sig(buffer, &ref));
}

static void test_shares_the_root_side(void **state)
{
    (void)state;
    buffer->depth = 50;
    for (uint32_t i = 0; i < 50; i++)
        buffer->frames[i] = 0x400000 + i;
    put();
    buffer->frames[0] = 1;
    assert_int_equal(jp_stacks_shared_sig(buffer), 49);
    buffer->frames[49] = 1;
    assert_int_equal(jp_stacks_shared_sig(buffer), 0);
}

static void test_new_chunk_forgets(void **state)
{
    uint16_t ref;
    (void)state;
    buffer->depth = 10;
    put();
    assert_true(jp_stacks_find_sig(buffer, &ref));
    jp_stacks_reset_sig(buffer);
    assert_false(jp_stacks_find_sig(buffer, &ref));
    assert_int_equal(jp_stacks_shared_sig(buffer), 0);
    /* The epoch is 16 bits wide and must not come round to an old one. */
    for (int i = 0; i < 65536; i++)
        jp_stacks_reset_sig(buffer);
    assert_false(jp_stacks_find_sig(buffer, &ref));
}

/* The chunk is a file that others can write to: no reference in it may lead
 * out of it. */
static void test_damaged_chunk(void **state)
{
    uint32_t seed = 7;
    uint16_t ref;
    (void)state;
    buffer->depth = 0;
    for (int i = 0; i < 200; i++) {
        vary(&seed);
        put();
    }
    for (int i = 0; i < 20000; i++) {
        uint32_t at =
            JP_CHUNK_HEADER_SIZE +
            (uint32_t)rand_r(&seed) % (buffer->used - JP_CHUNK_HEADER_SIZE);
        buffer->chunk[at] = (uint8_t)rand_r(&seed);
        jp_stacks_find_sig(buffer, &ref);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rebuilds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_repeated_stack_is_found, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_shares_the_root_side, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_new_chunk_forgets, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_chunk, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
