/* SPDX-License-Identifier: MIT
 *
 * Places of code in the model: what differs in an address alone has a node of
 * its own, and no figure of a report changes; objects of several processes.
 * Runs in: tests. */
#include "profile_fixture.h"

#include "model/part_build.h"
#include "model/places/places.h"
#include "model/scope.h"

static void build(struct profile *profile, struct jr_part *part)
{
    size_t count;
    struct jr_scope_key *keys = jr_parts_list(&profile->model, &count);

    jr_part_build(&profile->model, &keys[0], part);
    free(keys);
}

/* As a leaf, a small letter and its capital are one function at two
 * addresses. */
static void take(struct profile *profile, const struct jr_filter *filter)
{
    profile_init(profile);
    profile_sample(profile, "abc", 10, 1000, 1);
    profile_sample(profile, "aBc", 11, 3000, 1);
    profile_sample(profile, "abC", 12, 500, 2);
    profile->event = JP_EVENT_RAISED;
    profile_sample(profile, "abb.", 13, 70, 2);
    profile_sample(profile, "", 14, 7, 2);
    profile_model(profile, "", filter, NULL);
}

static void same_parts(const struct profile *one, const struct jr_part *a,
                       const struct profile *two, const struct jr_part *b)
{
    assert_int_equal(a->nrows, b->nrows);
    assert_int_equal(a->nlinks, b->nlinks);
    assert_int_equal(a->weight_ns, b->weight_ns);
    for (size_t i = 0; i < a->nrows; i++) {
        assert_string_equal(one->model.functions[a->rows[i].function].name,
                            two->model.functions[b->rows[i].function].name);
        assert_int_equal(a->rows[i].self_ns, b->rows[i].self_ns);
        assert_int_equal(a->rows[i].total_ns, b->rows[i].total_ns);
    }
    for (size_t i = 0; i < a->nlinks; i++)
        assert_int_equal(a->links[i].weight_ns, b->links[i].weight_ns);
}

static void test_figures_stay(void **state)
{
    struct jr_filter filter = everything();
    struct profile plain, placed;
    struct jr_part a, b;

    (void)state;
    take(&plain, &filter);
    filter.needs |= JR_NEEDS_PLACES | JR_NEEDS_EVENT_SUMS;
    take(&placed, &filter);
    build(&plain, &a);
    build(&placed, &b);
    same_parts(&plain, &a, &placed, &b);
    assert_int_equal(plain.model.total.threads, 2);
    assert_int_equal(placed.model.total.threads, 2);
    assert_int_equal(plain.model.places.count, 0);
    assert_true(placed.model.nodes.count > plain.model.nodes.count);
    jr_part_free(&a);
    jr_part_free(&b);
    profile_free(&plain);
    profile_free(&placed);
}

static void test_places_have_addresses(void **state)
{
    struct jr_filter filter = everything();
    const struct jr_place *place;
    const struct jr_model *model;
    struct profile profile;
    int small = 0, capital = 0;

    (void)state;
    filter.needs |= JR_NEEDS_PLACES;
    take(&profile, &filter);
    model = &profile.model;
    for (size_t i = 1; i < model->nodes.count; i++) {
        place = &model->places.items[model->nodes.items[i].key];
        if (strcmp(model->functions[jr_node_function(model, i)].name, "fc"))
            continue;
        assert_string_equal(model->places.objects[place->object].path, "[jit]");
        small += place->address == profile_address('c');
        capital += place->address == profile_address('C');
    }
    /* Below two callers at one address, and once at another. */
    assert_int_equal(small, 2);
    assert_int_equal(capital, 1);
    profile_free(&profile);
}

static void test_threads_and_events_apart(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    uint64_t raised = 0, other = 0;

    (void)state;
    filter.needs |= JR_NEEDS_EVENT_SUMS;
    take(&profile, &filter);
    assert_int_equal(profile.model.nbuckets, 3);
    for (size_t i = 0; i < profile.model.nbuckets; i++) {
        const struct jr_bucket *bucket = &profile.model.buckets[i];

        assert_int_not_equal(bucket->tid, 0);
        if (bucket->event == JP_EVENT_RAISED)
            raised += bucket->weight_ns;
        else
            other += bucket->weight_ns;
    }
    assert_int_equal(raised, 77);
    assert_int_equal(other, 4500);
    profile_free(&profile);
}

/* The same library at two addresses is one object, and so are its places. */
static void test_objects_of_processes(void **state)
{
    struct jr_mapping one = {.start = 0x7000,
                             .end = 0x8000,
                             .offset = 0x1000,
                             .bias = 0x6000,
                             .has_bias = 1,
                             .build_id = {1, 2},
                             .build_id_size = 2,
                             .path = (char *)"/lib/x.so"};
    struct jr_mapping two = one, other = one, next = one;
    struct jr_places places = {0};
    struct jr_place place = {.line = 3};

    (void)state;
    two.start += 0x50000;
    two.end += 0x50000;
    two.bias += 0x50000;
    other.build_id[1] = 9;
    next.start = 0x8000;
    next.end = 0x9800;
    assert_int_equal(jr_places_object(&places, &one, "x.so"), 0);
    assert_int_equal(jr_places_object(&places, &two, "x.so"), 0);
    assert_int_equal(jr_places_object(&places, &next, "x.so"), 0);
    assert_int_equal(jr_places_object(&places, &other, "x.so"), 1);
    assert_int_equal(jr_places_object(&places, NULL, "x.so"), 2);
    assert_int_equal(places.objects[0].start, 0x7000);
    assert_int_equal(places.objects[0].end, 0x9800);
    assert_int_equal(jr_places_relative(&one, 0x7010), 0x1010);
    assert_int_equal(jr_places_relative(&two, 0x57010), 0x1010);
    one.has_bias = 0;
    assert_int_equal(jr_places_relative(&one, 0x7010), 0x1010);
    assert_int_equal(jr_places_relative(NULL, 0x7010), 0x7010);
    assert_int_equal(jr_places_put(&places, &place), 0);
    place.inlined = 1;
    assert_int_equal(jr_places_put(&places, &place), 1);
    place.line = 4;
    assert_int_equal(jr_places_put(&places, &place), 2);
    place = (struct jr_place){.line = 3};
    assert_int_equal(jr_places_put(&places, &place), 0);
    jr_places_free(&places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures_stay),
        cmocka_unit_test(test_places_have_addresses),
        cmocka_unit_test(test_threads_and_events_apart),
        cmocka_unit_test(test_objects_of_processes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
