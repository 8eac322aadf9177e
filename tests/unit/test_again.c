/* SPDX-License-Identifier: MIT
 *
 * A second pass over the samples finds what the first one did.
 * Runs in: unit tests. */
#include "model/again/again.h"
#include "profile_fixture.h"

#define SAMPLES 3000

/* Samples of five threads in chunks that they share and in others, some twice
 * at one time, a thread's chunks in any order.  From 2000 on fa is "later". */
static void take(struct profile *profile)
{
    static const char *const words[] = {"a", "ab", "abc", "ad", "", "ce"};
    uint32_t state = 7;

    profile_init(profile);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        state = state * 1103515245 + 12345;
        if (i % 97 == 96)
            put_chunk(&profile->built, 8192);
        profile->event =
            state >> 28 == 3 ? JP_EVENT_WALL_BLOCKED : JP_EVENT_WALL_RUNNING;
        profile_sample(profile, words[(state >> 16) % 6],
                       100 + (i / 97 * 7919 % 31) * 97 + i % 97 / 2,
                       1000 + (state >> 20), i / 97 % 4 ? 7 : 8 + i % 4);
    }
}

static void same(const struct jr_seen *one, const struct jr_seen *other)
{
    assert_non_null(one);
    assert_int_equal(one->time_ns, other->time_ns);
    assert_int_equal(one->weight_ns, other->weight_ns);
    assert_int_equal(one->node, other->node);
    assert_int_equal(one->thread, other->thread);
    assert_int_equal(one->event, other->event);
}

/* Goes through a thread and compares it with the samples that were kept. */
static void check_thread(struct jr_again *again, const struct jr_model *model,
                         uint32_t thread)
{
    jr_again_thread(again, thread);
    for (size_t i = 0; i < model->nseen; i++)
        if (model->seen[i].thread == thread)
            same(jr_again_next(again), &model->seen[i]);
    assert_null(jr_again_next(again));
}

static void check_all(const struct jr_model *model, size_t most)
{
    static const uint32_t backwards[] = {4, 3, 2, 1, 0};
    struct jr_again *again = jr_again_begin(model, NULL, most);

    jr_again_process(again, 0);
    for (size_t i = 0; i < model->nseen; i++)
        same(jr_again_next(again), &model->seen[i]);
    assert_null(jr_again_next(again));
    for (uint32_t i = 0; i < 2 * model->nthreads; i++)
        check_thread(again, model, i / 2);
    assert_int_equal(jr_again_end(again), 0);
    if (model->nthreads < 5)
        return;
    again = jr_again_begin(model, backwards, most);
    for (size_t i = 0; i < 5; i++)
        check_thread(again, model, backwards[i]);
    check_thread(again, model, 3);
    assert_int_equal(jr_again_end(again), 0);
}

/* Holding none, some and all of the threads at a time. */
static void check_filter(struct jr_filter filter, size_t threads)
{
    struct profile profile;
    uint64_t weight = 0;

    filter.needs |= everything().needs | JR_NEEDS_SAMPLE_LIST | JR_NEEDS_REPLAY;
    filter.end = UINT64_MAX;
    take(&profile);
    profile_model(&profile, "9000 exit cpu=1\n", &filter, NULL);
    assert_int_equal(profile.model.nthreads, threads);
    assert_true(profile.model.nseen > 20);
    assert_int_equal(profile.model.nseen, profile.model.total.samples);
    for (size_t i = 0; i < profile.model.nseen; i++)
        weight += profile.model.seen[i].weight_ns;
    assert_int_equal(weight, profile.model.total.weight_ns);
    check_all(&profile.model, 0);
    check_all(&profile.model, 400);
    check_all(&profile.model, SAMPLES);
    profile_free(&profile);
}

static void test_agrees(void **state)
{
    const char *names[] = {"fb"};

    (void)state;
    check_filter((struct jr_filter){.needs = JR_NEEDS_PLACES}, 5);
    check_filter((struct jr_filter){.split = 1}, 5);
    check_filter((struct jr_filter){.tid = 8}, 1);
    check_filter((struct jr_filter){.events = 1U << JP_EVENT_WALL_BLOCKED}, 5);
    check_filter((struct jr_filter){.include = names, .ninclude = 1}, 5);
    check_filter((struct jr_filter){.exclude = names, .nexclude = 1}, 5);
    check_filter((struct jr_filter){.depth = 2}, 5);
    check_filter(
        (struct jr_filter){
            .by_clock = 1, .from_ns = 500, .to_ns = 2500, .has_to = 1},
        5);
}

/* A frame is of JIT code for a time, and of nothing later. */
static void test_stacks_that_change(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    const struct jr_seen *seen;

    (void)state;
    filter.needs |= JR_NEEDS_SAMPLE_LIST | JR_NEEDS_REPLAY;
    profile_init(&profile);
    for (uint64_t i = 0; i < 40; i++)
        profile_sample(&profile, i % 2 ? "b." : "ab", 100 + (i * 7) % 40 * 100,
                       1000, 7);
    profile_model(&profile,
                  "2 anon start=900000 end=910000\n"
                  "2000 unmap start=900000 end=910000\n",
                  &filter, NULL);
    seen = profile.model.seen;
    assert_int_equal(profile.model.nseen, 40);
    assert_int_equal(seen[1].node, seen[17].node);
    assert_int_not_equal(seen[1].node, seen[21].node);
    assert_int_equal(profile.model.processes[0].found->nchanges, 2);
    check_all(&profile.model, 0);
    check_all(&profile.model, SAMPLES);
    profile_free(&profile);
}

/* The chunk is written anew between both passes. */
static uint64_t missed_of(uint32_t ring_bytes, const char *events)
{
    struct jr_filter filter = everything();
    struct profile profile;
    struct jr_again *again;
    uint64_t missed;

    filter.needs |= JR_NEEDS_REPLAY;
    profile_init(&profile);
    profile.header->ring_bytes = ring_bytes;
    for (uint64_t i = 0; i < 20; i++)
        profile_sample(&profile, "ab", 100 + i, 1000, 7);
    profile_model(&profile, events, &filter, NULL);
    ((struct jp_chunk_header *)(profile.built.data + profile.built.chunk))
        ->seq = 9;
    again = jr_again_begin(&profile.model, NULL, SAMPLES);
    jr_again_thread(again, 0);
    while (jr_again_next(again))
        ;
    missed = jr_again_end(again);
    profile_free(&profile);
    return missed;
}

/* That is counted; samples of a ring whose process may go on are held. */
static void test_changed_logs(void **state)
{
    (void)state;
    assert_int_equal(missed_of(0, ""), 20);
    assert_int_equal(missed_of(65536, ""), 0);
    assert_int_equal(missed_of(65536, "9000 exit cpu=1\n"), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees),
        cmocka_unit_test(test_stacks_that_change),
        cmocka_unit_test(test_changed_logs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
