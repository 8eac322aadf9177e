/* SPDX-License-Identifier: MIT
 *
 * The profile model: self and total, recursion, callers and callees, filters,
 * sections, threads, and what is counted.
 * Runs in: tests. */
#include "model/build.h"
#include "model/part_build.h"
#include "model/scope.h"
#include "profile_fixture.h"

#define SECTIONS                                                               \
    "100 section n=0 cpu=0\n160 pause cpu=5\n"                                 \
    "200 section n=1 cpu=5\n300 exit cpu=9\n"

static void build(struct profile *profile, struct jr_part *part)
{
    size_t count;
    struct jr_scope_key *keys = jr_parts_list(&profile->model, &count);

    assert_true(count > 0);
    jr_part_build(&profile->model, &keys[0], part);
    free(keys);
}

static const struct jr_row *row_of(const struct profile *profile,
                                   const struct jr_part *part, const char *name)
{
    for (size_t i = 0; i < part->nrows; i++)
        if (strcmp(profile->model.functions[part->rows[i].function].name,
                   name) == 0)
            return &part->rows[i];
    return NULL;
}

static void assert_row(const struct profile *profile,
                       const struct jr_part *part, const char *name,
                       uint64_t self, uint64_t total)
{
    const struct jr_row *row = row_of(profile, part, name);

    assert_non_null(row);
    assert_int_equal(row->self_ns, self);
    assert_int_equal(row->total_ns, total);
}

/* The weight of the call of `callee` by `caller`, seen from both sides. */
static uint64_t call(const struct profile *profile, const struct jr_part *part,
                     const char *caller, const char *callee)
{
    const struct jr_row *up = row_of(profile, part, caller);
    const struct jr_row *down = row_of(profile, part, callee);
    uint64_t from_up = 0, from_down = 0;

    for (size_t i = 0; i < up->ncallees; i++)
        if (&part->rows[part->links[up->callees + i].row] == down)
            from_up += part->links[up->callees + i].weight_ns;
    for (size_t i = 0; i < down->ncallers; i++)
        if (&part->rows[part->links[down->callers + i].row] == up)
            from_down += part->links[down->callers + i].weight_ns;
    assert_int_equal(from_up, from_down);
    return from_up;
}

static void test_self_and_total(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    struct jr_part part;

    (void)state;
    profile_init(&profile);
    profile_sample(&profile, "abc", 10, 1000, 1);
    profile_sample(&profile, "abd", 11, 3000, 1);
    profile_sample(&profile, "ab", 12, 500, 1);
    profile_model(&profile, "", &filter, NULL);
    build(&profile, &part);
    assert_int_equal(part.weight_ns, 4500);
    assert_int_equal(part.nrows, 4);
    assert_int_equal(part.nflat, 3);
    assert_row(&profile, &part, "fa", 0, 4500);
    assert_row(&profile, &part, "fb", 500, 4500);
    assert_row(&profile, &part, "fc", 1000, 1000);
    assert_row(&profile, &part, "fd", 3000, 3000);
    assert_int_equal(call(&profile, &part, "fa", "fb"), 4500);
    assert_int_equal(call(&profile, &part, "fb", "fd"), 3000);
    /* Descending: total, then self; flat by self. */
    assert_ptr_equal(&part.rows[0], row_of(&profile, &part, "fb"));
    assert_ptr_equal(&part.rows[part.flat[0]], row_of(&profile, &part, "fd"));
    jr_part_free(&part);
    profile_free(&profile);
}

static void test_recursion_counts_once(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    struct jr_part part;

    (void)state;
    profile_init(&profile);
    profile_sample(&profile, "abbb", 10, 1000, 1);
    profile_sample(&profile, "abcbc", 11, 2000, 1);
    profile_model(&profile, "", &filter, NULL);
    build(&profile, &part);
    assert_row(&profile, &part, "fb", 1000, 3000);
    assert_row(&profile, &part, "fc", 2000, 2000);
    assert_int_equal(call(&profile, &part, "fb", "fb"), 1000);
    assert_int_equal(call(&profile, &part, "fb", "fc"), 2000);
    assert_int_equal(call(&profile, &part, "fc", "fb"), 2000);
    jr_part_free(&part);
    profile_free(&profile);
}

/* A stack that holds a call twice gives its weight to the call once, also
 * when another stack made the inner nodes of the tree before. */
static void test_stack_order_is_no_matter(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    struct jr_part part;

    (void)state;
    profile_init(&profile);
    profile_sample(&profile, "cb", 9, 10, 1);
    profile_sample(&profile, "abc", 10, 100, 1);
    profile_sample(&profile, "abcbcb", 11, 1000, 1);
    profile_model(&profile, "", &filter, NULL);
    build(&profile, &part);
    assert_row(&profile, &part, "fb", 1010, 1110);
    assert_row(&profile, &part, "fc", 100, 1110);
    assert_int_equal(call(&profile, &part, "fb", "fc"), 1100);
    assert_int_equal(call(&profile, &part, "fc", "fb"), 1010);
    jr_part_free(&part);
    profile_free(&profile);
}

static void test_exclude_beats_include(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    struct jr_part part;
    const char *keep[] = {"fb"}, *drop[] = {"fd"};

    (void)state;
    filter.include = keep;
    filter.exclude = drop;
    filter.ninclude = filter.nexclude = 1;
    filter.depth = 2; /* the filters see what it cuts */
    profile_init(&profile);
    profile_sample(&profile, "abcef", 10, 1, 1);
    profile_sample(&profile, "abdef", 11, 2, 1);
    profile_sample(&profile, "acef", 12, 4, 1);
    profile_sample(&profile, "fa", 13, 8, 1);
    profile_model(&profile, "", &filter, NULL);
    build(&profile, &part);
    assert_int_equal(part.weight_ns, 1);
    assert_int_equal(part.nrows, 2);
    assert_row(&profile, &part, "fe", 0, 1);
    assert_row(&profile, &part, "ff", 1, 1);
    assert_int_equal(profile.model.total.filtered, 3);
    assert_int_equal(profile.model.total.frames, 5);
    jr_part_free(&part);
    profile_free(&profile);
}

/* Samples at 50 (before the first section), 150 and 250. */
static uint64_t weight_of_sections(uint64_t start, uint64_t end, int last,
                                   uint64_t *wall_ns)
{
    struct jr_filter filter = {.start = start,
                               .end = end,
                               .last = (uint8_t)last,
                               .needs = everything().needs};
    struct profile profile;
    uint64_t weight;

    profile_init(&profile);
    profile_sample(&profile, "a", 50, 1, 1);
    profile_sample(&profile, "a", 150, 2, 1);
    profile_sample(&profile, "a", 250, 4, 1);
    profile_model(&profile, SECTIONS, &filter, NULL);
    weight = profile.model.total.weight_ns;
    *wall_ns = profile.model.total.wall_ns;
    profile_free(&profile);
    return weight;
}

static void test_sections(void **state)
{
    uint64_t wall;

    (void)state;
    assert_int_equal(weight_of_sections(0, UINT64_MAX, 0, &wall), 7);
    assert_int_equal(wall, 160);
    assert_int_equal(weight_of_sections(0, 1, 0, &wall), 3);
    assert_int_equal(wall, 60);
    assert_int_equal(weight_of_sections(1, 2, 0, &wall), 4);
    assert_int_equal(wall, 100);
    assert_int_equal(weight_of_sections(0, UINT64_MAX, 1, &wall), 4);
    assert_int_equal(wall, 100);
    assert_int_equal(weight_of_sections(2, 3, 0, &wall), 0);
    assert_int_equal(wall, 0);
    assert_int_equal(weight_of_sections(UINT64_MAX - 1, UINT64_MAX, 0, &wall),
                     0);
}

/* Samples are kept as the filter selects them, each with its thread. */
static void test_kept_samples(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    const struct jr_model *model = &profile.model;

    (void)state;
    filter.needs |= JR_NEEDS_SAMPLE_LIST;
    filter.from_ns = 5;
    filter.include = jr_alloc(1, sizeof(*filter.include));
    filter.include[0] = "fb";
    filter.ninclude = 1;
    profile_init(&profile);
    profile.header->mono_ns = 8;
    profile_sample(&profile, "ab", 10, 1000, 1);
    profile_sample(&profile, "abc", 20, 2000, 7);
    profile_sample(&profile, "ac", 25, 7000, 7);
    profile.event = JP_EVENT_WALL_BLOCKED;
    profile_sample(&profile, "ab", 30, 4000, 1);
    profile_sample(&profile, "abc", 40, 500, 7);
    profile_model(&profile, "", &filter, NULL);
    assert_int_equal(model->nseen, 3);
    assert_int_equal(model->nthreads, 2);
    assert_int_equal(model->seen[0].time_ns, 20);
    assert_int_equal(model->seen[1].time_ns, 30);
    assert_int_equal(model->seen[1].weight_ns, 4000);
    assert_int_equal(model->seen[1].event, JP_EVENT_WALL_BLOCKED);
    assert_int_equal(model->threads[model->seen[1].thread].tid, 1);
    assert_int_equal(model->seen[0].thread, model->seen[2].thread);
    assert_int_equal(model->seen[0].node, model->seen[2].node);
    assert_string_equal(
        model->functions[jr_node_function(model, model->seen[1].node)].name,
        "fb");
    assert_int_equal(model->threads[0].tid, 7);
    assert_int_equal(model->threads[0].samples, 2);
    assert_int_equal(model->threads[0].weight_ns, 2500);
    assert_int_equal(model->threads[0].first_ns, 20);
    assert_int_equal(model->threads[0].last_ns, 40);
    profile_free(&profile);
    free((void *)filter.include);
}

/* Of very many samples, most of one slice of time with the same thread, node
 * and event become one; nothing of their weight is lost. */
static void test_merged_samples(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    const struct jr_model *model = &profile.model;
    uint64_t weight = 0, last = 0;

    (void)state;
    filter.needs |= JR_NEEDS_SAMPLE_LIST;
    filter.most_samples = 40;
    profile_init(&profile);
    for (uint64_t i = 0; i < 200; i++) {
        profile.event = i % 5 ? JP_EVENT_CPU : JP_EVENT_WALL_BLOCKED;
        profile_sample(&profile, i % 2 ? "ab" : "ac", 1000000 + i * 100000,
                       1000 + i, i % 3 ? 1 : 7);
    }
    profile_model(&profile, "", &filter, NULL);
    assert_true(model->slice_ns > 0);
    assert_true(model->nseen > 4 && model->nseen < 40);
    for (size_t i = 0; i < model->nseen; i++) {
        assert_true(model->seen[i].time_ns >= last);
        last = model->seen[i].time_ns;
        weight += model->seen[i].weight_ns;
    }
    assert_int_equal(weight, model->total.weight_ns);
    assert_int_equal(model->threads[0].samples + model->threads[1].samples,
                     200);
    profile_free(&profile);
}

/* Samples before and after the start of a section are never one. */
static void test_merged_by_section(void **state)
{
    const uint64_t start = 3700000, step = 10000;
    struct jr_filter filter = everything();
    struct profile profile;
    const struct jr_model *model = &profile.model;
    uint64_t before = 0;

    (void)state;
    filter.needs |= JR_NEEDS_SAMPLE_LIST;
    filter.most_samples = 8;
    profile_init(&profile);
    for (uint64_t i = 0; i < 1000; i++)
        profile_sample(&profile, "ab", i * step, 1000, 1);
    profile_model(&profile, "0 section n=0 cpu=0\n3700000 section n=1 cpu=0\n",
                  &filter, NULL);
    assert_true(model->slice_ns > 0 && start % model->slice_ns != 0);
    for (size_t i = 0; i < model->nseen; i++)
        if (model->seen[i].time_ns < start)
            before += model->seen[i].weight_ns;
    assert_int_equal(before, 1000 * (start / step));
    profile_free(&profile);
}

static void test_threads(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    struct jr_scope_key *keys;
    size_t count;

    (void)state;
    filter.by_thread = 1;
    profile_init(&profile);
    profile_sample(&profile, "a", 10, 1, 11);
    profile_sample(&profile, "b", 11, 5, 12);
    profile_sample(&profile, "a", 12, 2, 11);
    profile_model(&profile,
                  "5 thread tid=12 name=old\n6 thread tid=12 "
                  "name=new\n",
                  &filter, NULL);
    keys = jr_parts_list(&profile.model, &count);
    assert_int_equal(count, 3);
    assert_int_equal(keys[0].scope, JR_SCOPE_ALL);
    assert_int_equal(keys[0].weight_ns, 8);
    assert_int_equal(keys[1].tid, 12);
    assert_int_equal(keys[1].weight_ns, 5);
    assert_string_equal(keys[1].name, "new");
    assert_int_equal(keys[2].tid, 11);
    assert_int_equal(keys[2].weight_ns, 3);
    assert_int_equal(keys[2].samples, 2);
    assert_null(keys[2].name);
    assert_string_equal(jr_thread_name(&profile.model.processes[0], 12), "new");
    assert_null(jr_thread_name(&profile.model.processes[0], 11));
    free(keys);
    profile_free(&profile);
}

static void test_only_thread(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;

    (void)state;
    filter.tid = 12;
    profile_init(&profile);
    profile_sample(&profile, "a", 10, 1, 11);
    profile_sample(&profile, "b", 11, 5, 12);
    profile_model(&profile, "", &filter, NULL);
    assert_int_equal(profile.model.total.weight_ns, 5);
    assert_int_equal(profile.model.total.threads, 1);
    profile_free(&profile);
}

static void test_counts(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    const struct jr_stats *total = &profile.model.total;

    (void)state;
    profile_init(&profile);
    profile_sample(&profile, "a.b", 10, 1000, 1);
    profile.reason = JP_REASON_NO_STACK;
    profile_sample(&profile, "", 11, 2000, 2);
    profile.reason = JP_REASON_ROOT;
    profile.event = JP_EVENT_RAISED;
    profile_sample(&profile, "ab", 12, 1000, 1);
    profile.header->counters[JP_COUNT_LOST_NO_SPACE] = 9;
    profile.header->counters[JP_COUNT_LOST_NS] = 900;
    profile.header->counters[JP_COUNT_MAPS_SCANS] = 77;
    profile_model(&profile, "", &filter, NULL);
    assert_int_equal(total->samples, 3);
    assert_int_equal(total->weight_ns, 4000);
    assert_int_equal(total->cpu_ns, 3000);
    assert_int_equal(total->timer_samples, 2);
    assert_int_equal(total->timer_ns, 3000);
    assert_int_equal(total->frames, 5);
    assert_int_equal(total->unnamed_frames, 1);
    assert_int_equal(total->jit_frames, 4);
    assert_int_equal(total->reasons[JP_REASON_ROOT], 2);
    assert_int_equal(total->reasons[JP_REASON_NO_STACK], 1);
    assert_int_equal(total->lost[JP_COUNT_LOST_NO_SPACE], 9);
    assert_int_equal(total->lost_ns, 900);
    assert_int_equal(total->threads, 2);
    profile_free(&profile);
}

static void test_pseudo_frames(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    struct jr_part part;

    (void)state;
    profile_init(&profile);
    profile.gap = 1;
    profile_sample(&profile, "abc", 10, 1000, 1);
    profile_sample(&profile, "", 11, 300, 1);
    profile_model(&profile, "", &filter, NULL);
    build(&profile, &part);
    assert_int_equal(call(&profile, &part, "fb", "[... frames left out ...]"),
                     1000);
    assert_int_equal(call(&profile, &part, "[... frames left out ...]", "fc"),
                     1000);
    assert_row(&profile, &part, "[no stack]", 300, 300);
    assert_int_equal(profile.model.total.frames, 3);
    jr_part_free(&part);
    profile_free(&profile);
}

/* A call that is the last of its function returns to the function's end; what
 * is interrupted at its start has not run yet, but it is in that function. */
static void test_ends_of_functions(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    struct jr_part part;

    (void)state;
    profile_init(&profile);
    profile_sample(&profile, "aBD", 10, 1000, 1);
    profile_sample(&profile, "aCc", 11, 200, 1);
    profile_model(&profile, "", &filter, NULL);
    build(&profile, &part);
    assert_row(&profile, &part, "fa", 0, 1200);
    assert_row(&profile, &part, "fd", 1000, 1000);
    assert_row(&profile, &part, "fb", 0, 200);
    assert_row(&profile, &part, "fc", 200, 200);
    assert_int_equal(call(&profile, &part, "fa", "fa"), 1000);
    assert_int_equal(call(&profile, &part, "fa", "fd"), 1000);
    assert_int_equal(call(&profile, &part, "fb", "fc"), 200);
    jr_part_free(&part);
    profile_free(&profile);
}

/* The same stack means something else once its code is gone. */
static void test_times_of_names(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    struct jr_part part;

    (void)state;
    profile_init(&profile);
    profile_sample(&profile, ".b", 10, 1000, 1);
    for (uint64_t time = 20; time <= 90; time += 70)
        profile_repeat(&profile, time, 200, 1);
    profile_model(&profile,
                  "2 anon start=900000 end=910000\n"
                  "50 unmap start=900000 end=910000\n",
                  &filter, NULL);
    build(&profile, &part);
    assert_row(&profile, &part, "[jit]", 0, 1200);
    assert_row(&profile, &part, "fb", 1400, 1400);
    assert_row(&profile, &part, "[unknown]", 0, 200);
    jr_part_free(&part);
    profile_free(&profile);
}

static void test_periods(void **state)
{
    struct jr_model model = {.period_ns = 1000};

    (void)state;
    assert_int_equal(jr_periods(&model, 0), 0);
    assert_int_equal(jr_periods(&model, 499), 0);
    assert_int_equal(jr_periods(&model, 500), 1);
    assert_int_equal(jr_periods(&model, 1499), 1);
    assert_int_equal(jr_periods(&model, UINT64_MAX), UINT64_MAX / 1000 + 1);
    model.period_ns = 1;
    assert_int_equal(jr_periods(&model, 7), 7);
    assert_int_equal(jr_add(UINT64_MAX, 2), UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self_and_total),
        cmocka_unit_test(test_recursion_counts_once),
        cmocka_unit_test(test_stack_order_is_no_matter),
        cmocka_unit_test(test_exclude_beats_include),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_kept_samples),
        cmocka_unit_test(test_merged_samples),
        cmocka_unit_test(test_merged_by_section),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_only_thread),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_pseudo_frames),
        cmocka_unit_test(test_ends_of_functions),
        cmocka_unit_test(test_times_of_names),
        cmocka_unit_test(test_periods),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
