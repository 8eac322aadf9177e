/* SPDX-License-Identifier: MIT
 *
 * Samples in order of time from many chunks, and stacks that share calls.
 * Runs in: unit tests. */
#include "log_fixture.h"
#include "read/stacks.h"

static void sorts_the_chunks_of_many_threads(void **state)
{
    struct built *built = calloc(1, sizeof *built);
    struct jr_diag diag;
    struct jr_log log;
    struct jr_sample *samples;
    uint64_t sum = 0;

    (void)state;
    put_header(built);
    for (uint32_t chunk = 0; chunk < 12; chunk++) {
        put_chunk(built, 4096);
        for (uint32_t i = 0; i < 150; i++)
            put_sample(built, chunk / 4 * 1000 + i * 7 + chunk % 4 * 3,
                       chunk % 4 + 1, 0);
    }
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(log.runs[0].nsamples, 12 * 150);
    samples = samples_of(&log, &log.runs[0]);
    for (size_t i = 0; i < log.runs[0].nsamples; i++) {
        const struct jr_sample *sample = &samples[i];

        if (i)
            assert_true(sample[-1].time_ns <= sample->time_ns);
        sum += sample->time_ns * sample->tid;
    }
    for (uint32_t chunk = 0; chunk < 12; chunk++) {
        for (uint32_t i = 0; i < 150; i++)
            sum -= (uint64_t)(chunk / 4 * 1000 + i * 7 + chunk % 4 * 3) *
                   (chunk % 4 + 1);
    }
    assert_int_equal(sum, 0);
    free(samples);
    jr_log_free(&log);
    free(built);
}

/* Without a merge all samples come once, those of a thread together and in
 * order; a chunk that threads share counts as the first one's. */
static void goes_thread_by_thread(void **state)
{
    static const uint32_t tids[] = {7, 5, 7, 6, 5};
    struct built *built = calloc(1, sizeof *built);
    struct jr_diag diag;
    struct jr_log log;
    struct jr_walk *walk;
    const struct jr_sample *samples;
    uint32_t order[8], chunks = 0;
    size_t count;

    (void)state;
    put_header(built);
    for (uint32_t chunk = 0; chunk < 5; chunk++) {
        put_chunk(built, 4096);
        for (uint32_t i = 0; i < 20; i++)
            put_sample(built, 5000 - 1000 * chunk + 19 - i,
                       chunk == 3 && i == 4 ? 5 : tids[chunk], 0);
    }
    assert_int_equal(parse(built, &log, &diag), 0);
    walk = jr_walk_begin(&log, &log.runs[0], JR_WALK_BY_THREAD);
    while ((count = jr_walk_next(walk, &samples)) > 0) {
        assert_int_equal(count, 20);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(samples[i].time_ns, samples[0].time_ns + i);
        order[chunks++] = (uint32_t)(5000 - samples[0].time_ns) / 1000;
    }
    assert_int_equal(chunks, 5);
    assert_memory_equal(order, ((uint32_t[]){4, 1, 3, 2, 0}),
                        5 * sizeof *order);
    assert_int_equal(jr_walk_gone(walk), 0);
    jr_walk_end(walk);
    jr_log_free(&log);
    free(built);
}

/* Its process goes on and writes a chunk of a ring anew between reading and
 * walking: its samples are counted as gone, and no others come instead. */
static void counts_what_was_written_anew(void **state)
{
    struct built *built = two_chunks();
    struct jr_diag diag;
    struct jr_log log;
    struct jr_walk *walk;
    const struct jr_sample *samples;

    (void)state;
    assert_int_equal(parse(built, &log, &diag), 0);
    ((struct jp_chunk_header *)(built->data + built->chunk))->seq = 9;
    walk = jr_walk_begin(&log, &log.runs[0], JR_WALK_BY_TIME);
    assert_int_equal(jr_walk_next(walk, &samples), 1);
    assert_int_equal(samples[0].time_ns, 100);
    assert_int_equal(jr_walk_next(walk, &samples), 1);
    assert_int_equal(samples[0].time_ns, 300);
    assert_int_equal(jr_walk_next(walk, &samples), 0);
    assert_int_equal(jr_walk_gone(walk), 2);
    jr_walk_end(walk);
    jr_log_free(&log);
    free(built);
}

/* Stacks that share calls in ways in which nodes cannot be shared: the whole of
 * another, none of their own, one with a gap, a gap in what is shared. */
static void shares_what_it_can(void **state)
{
    static const uint64_t root[] = {0x10, 0x20, 0x30, 0x40}, leaf[] = {0x99};
    static const struct {
        struct jr_stack_parts parts;
        uint32_t gap;
        uint64_t frames[6];
    } cases[] = {
        {{root, 4, 0, 0, 0}, 0, {0x10, 0x20, 0x30, 0x40}},
        {{leaf, 1, 4, 1, 0}, 0, {0x99, 0x10, 0x20, 0x30, 0x40}},
        {{leaf, 0, 2, 1, 0}, 0, {0x30, 0x40}},
        {{leaf, 1, 3, 1, 1}, 1, {0x99, 0x20, 0x30, 0x40}},
        {{leaf, 1, 2, 1, 2}, 2, {0x99, 0x30, 0x40}},
        {{leaf, 1, 2, 4, 0}, 0, {0x99, 0x30, 0x40}},
        {{root, 2, 3, 5, 0}, 0, {0x10, 0x20, 0x99, 0x30, 0x40}},
        {{root, 4, 0, 0, 2}, 2, {0x10, 0x20, 0x30, 0x40}},
        {{leaf, 1, 1, 8, 0}, 0, {0x99, 0x40}},
        {{leaf, 1, 3, 8, 0}, 0, {0x99, 0x20, 0x30, 0x40}},
    };
    struct jr_stacks stacks;
    uint64_t frames[8];

    (void)state;
    jr_stacks_init(&stacks);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct jr_stack_parts parts = cases[i].parts;
        const uint32_t depth = parts.count + parts.shared;
        const uint32_t index = jr_stacks_add(&stacks, &parts);

        assert_int_equal(jr_stacks_depth(&stacks, index), depth);
        assert_int_equal(jr_stacks_frames(&stacks, index, frames),
                         cases[i].gap);
        assert_memory_equal(frames, cases[i].frames, depth * sizeof *frames);
        assert_int_equal(jr_stacks_add(&stacks, &parts), index);
    }
    jr_stacks_free(&stacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_the_chunks_of_many_threads),
        cmocka_unit_test(goes_thread_by_thread),
        cmocka_unit_test(counts_what_was_written_anew),
        cmocka_unit_test(shares_what_it_can),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
