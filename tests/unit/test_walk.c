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

/* A thousand deep stacks that differ in their leaves cost a call each, so a
 * small log cannot become large in memory. */
static void shares_deep_stacks(void **state)
{
    static uint64_t frames[4000];
    struct built *built = calloc(1, sizeof *built);
    struct jr_diag diag;
    struct jr_log log;
    uint16_t base = 0;

    (void)state;
    for (size_t i = 0; i < 4000; i++)
        frames[i] = 0x1000 + i;
    put_header(built);
    put_chunk(built, 65536);
    base = put_stack(built, frames, 4000, 0, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t leaf[] = {0x100000 + i, 0x200000 + i};

        put_stack(built, leaf, 2, base, (uint16_t)(3998 - i % 7));
    }
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(log.runs[0].stacks.count, 1 + 1001);
    assert_true(log.runs[0].stacks.calls.count <= 4000 + 1000);
    assert_int_equal(diag.warnings, 0);
    jr_log_free(&log);
    free(built);
}

/* Sums of samples with one stack, event and reason, in the order of their first
 * ones, and the threads they are of. */
static void sums_up_by_stack(void **state)
{
    static const struct jr_sample samples[] = {
        {300, 10, 7, 0, JP_EVENT_CPU, JP_REASON_ROOT},
        {100, 20, 7, 0, JP_EVENT_CPU, JP_REASON_ROOT},
        {200, 30, 8, 0, JP_EVENT_RAISED, JP_REASON_ROOT},
        {50, 40, 7, 0, JP_EVENT_CPU, JP_REASON_NO_RULE},
        {500, 50, 9, 0, JP_EVENT_RAISED, JP_REASON_ROOT},
        {400, 60, 8, 0, JP_EVENT_CPU, JP_REASON_ROOT},
    };
    static const struct jr_sum wanted[] = {
        {90, 100, 400, 3, JP_EVENT_CPU, JP_REASON_ROOT, 1, 0},
        {80, 200, 500, 2, JP_EVENT_RAISED, JP_REASON_ROOT, 1, 0},
        {40, 50, 50, 1, JP_EVENT_CPU, JP_REASON_NO_RULE, 1, 0},
        {1009, 90, 90, 1, JP_EVENT_CPU, 0, 0, 0},
    };
    struct built *built = calloc(1, sizeof *built);
    const uint64_t frame = 0x99;
    struct jr_diag diag;
    struct jr_log log;
    uint16_t stack;

    (void)state;
    put_header(built);
    put_chunk(built, 4096);
    stack = put_stack(built, &frame, 1, 0, 0);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        put_sample_of(built, &samples[i], stack);
    put_sample(built, 90, 9, 0);
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(log.runs[0].sums.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct jr_sum *sum = &log.runs[0].sums.items[i];

        assert_int_equal(sum->samples, wanted[i].samples);
        assert_int_equal(sum->weight_ns, wanted[i].weight_ns);
        assert_int_equal(sum->first_ns, wanted[i].first_ns);
        assert_int_equal(sum->last_ns, wanted[i].last_ns);
        assert_int_equal(sum->stack, wanted[i].stack);
        assert_int_equal(sum->event, wanted[i].event);
        assert_int_equal(sum->reason, wanted[i].reason);
    }
    assert_int_equal(log.runs[0].sums.tids.used, 3);
    jr_log_free(&log);
    free(built);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_the_chunks_of_many_threads),
        cmocka_unit_test(goes_thread_by_thread),
        cmocka_unit_test(counts_what_was_written_anew),
        cmocka_unit_test(shares_what_it_can),
        cmocka_unit_test(shares_deep_stacks),
        cmocka_unit_test(sums_up_by_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
