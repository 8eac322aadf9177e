/* SPDX-License-Identifier: MIT
 *
 * Parts of a report: together they are the whole, a short one says what the
 * whole one says, what is left out is counted; groups of processes.
 * Runs in: tests. */
#include "copies_fixture.h"

#include "model/build.h"
#include "model/part_build.h"
#include "model/part_flat.h"
#include "model/scope.h"
#include "write/parts.h"

/* Self weights by function, of a part as `build` has it. */
static uint64_t *selves(const struct jr_model *model,
                        const struct jr_part *part)
{
    uint64_t *sums = jr_alloc(model->nfunctions + 1, sizeof(*sums));

    for (size_t i = 0; i < part->nrows; i++)
        sums[part->rows[i].function] += part->rows[i].self_ns;
    return sums;
}

static void sample_some(struct profile *profile)
{
    profile_init(profile);
    profile_sample(profile, "ab", 10, 3001, 1);
    profile_sample(profile, "ac", 11, 2002, 2);
    profile_sample(profile, "acb", 12, 1003, 3);
    profile_sample(profile, "b", 13, 504, 2);
    profile_sample(profile, "a.", 14, 75, 2);
}

static void assert_sums(struct copies *copies, int by_thread, size_t parts)
{
    struct jr_filter filter = everything();
    struct jr_model *model;
    struct jr_scope_key *keys;
    struct jr_part whole, part;
    uint64_t weight = 0, samples = 0, *all, *sums, *own;
    size_t count;

    filter.by_thread = (uint8_t)by_thread;
    model = copies_model(copies, &filter);
    keys = jr_parts_list(model, &count);
    assert_int_equal(count, parts);
    assert_int_equal(keys[0].scope, JR_SCOPE_ALL);
    jr_part_build(model, &keys[0], &whole);
    all = selves(model, &whole);
    sums = jr_alloc(model->nfunctions + 1, sizeof(*sums));
    for (size_t i = 1; i < count; i++) {
        jr_part_build_flat(model, &keys[i], UINT64_MAX, &part);
        own = selves(model, &part);
        for (size_t j = 0; j < model->nfunctions; j++)
            sums[j] += own[j];
        weight += part.weight_ns;
        samples += part.samples;
        free(own);
        jr_part_free(&part);
    }
    assert_int_equal(weight, model->total.weight_ns);
    assert_int_equal(samples, model->total.samples);
    assert_memory_equal(sums, all, model->nfunctions * sizeof(*sums));
    free(sums);
    free(all);
    free(keys);
    jr_part_free(&whole);
    jr_model_free(model);
}

static void test_sums(void **state)
{
    struct copies copies;

    (void)state;
    sample_some(&copies.one);
    copies_make(&copies, "", 3);
    assert_sums(&copies, 0, 4);
    assert_sums(&copies, 1, 10);
    profile_free(&copies.one);
}

/* The tiers in which the whole part's row has a self weight are those of the
 * short one's. */
static void assert_same_tiers(const struct jr_part *part,
                              const struct jr_row *row,
                              const struct jr_part *whole,
                              const struct jr_row *other)
{
    size_t count = 0;

    for (size_t i = 0; i < other->ntiers; i++) {
        const struct jr_part_tier *tier = &whole->tiers[other->tiers + i];

        if (tier->self_ns == 0)
            continue;
        assert_true(count < row->ntiers);
        assert_int_equal(part->tiers[row->tiers + count].tier, tier->tier);
        assert_int_equal(part->tiers[row->tiers + count].self_ns,
                         tier->self_ns);
        count++;
    }
    assert_int_equal(count, row->ntiers);
}

/* The same functions, weights and tiers, in the same order, as in the flat
 * profile of the whole part.  Returns how many have tiers. */
static size_t assert_same_flat(const struct jr_model *model,
                               const struct jr_scope_key *key)
{
    struct jr_part whole, part;
    size_t tiers = 0;

    jr_part_build(model, key, &whole);
    jr_part_build_flat(model, key, UINT64_MAX, &part);
    assert_int_equal(part.nflat, whole.nflat);
    assert_int_equal(part.nshown, part.nrows);
    for (size_t i = 0; i < part.nflat; i++) {
        const struct jr_row *a = &part.rows[part.flat[i]];
        const struct jr_row *b = &whole.rows[whole.flat[i]];

        assert_int_equal(a->function, b->function);
        assert_int_equal(a->self_ns, b->self_ns);
        assert_same_tiers(&part, a, &whole, b);
        tiers += a->ntiers > 0;
    }
    jr_part_free(&whole);
    jr_part_free(&part);
    return tiers;
}

static void test_same_flat(void **state)
{
    static const char *const names[] = {"JS:*a /f:1", "JS:^a /f:1", "other"};
    struct jr_filter filter = everything();
    struct profile profile;
    struct jr_scope_key *keys;
    size_t count, tiers = 0;

    (void)state;
    filter.by_thread = 1;
    sample_some(&profile);
    profile_sample(&profile, "ca", 15, 40, 2);
    profile_sample(&profile, "cb", 16, 50, 2);
    profile_sample(&profile, "da", 17, 60, 2);
    profile_model(&profile, "", &filter, names);
    keys = jr_parts_list(&profile.model, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        tiers += assert_same_flat(&profile.model, &keys[i]);
    assert_true(tiers > 3);
    free(keys);
    profile_free(&profile);
}

/* What is shown and what is left out are the whole. */
static void test_rest(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    struct jr_scope_key *keys;
    size_t count;

    (void)state;
    sample_some(&profile);
    profile_model(&profile, "", &filter, NULL);
    keys = jr_parts_list(&profile.model, &count);
    assert_int_equal(count, 1);
    for (size_t most = 1; most <= 4; most++) {
        struct jr_part part;
        struct jr_rest rest;
        uint64_t sum = 0;

        jr_part_build_flat(&profile.model, &keys[0], most, &part);
        rest = jr_part_rest(&part, 1);
        for (size_t i = 0; i < part.nshown; i++)
            sum += part.rows[i].self_ns;
        assert_int_equal(part.nshown, most < 3 ? most : 3);
        assert_int_equal(rest.count, 3 - part.nshown);
        assert_int_equal(sum + rest.self_ns, 6585);
        jr_part_free(&part);
    }
    free(keys);
    profile_free(&profile);
}

/* A part of `count` functions, of a weight of 10,000 and less each. */
static void fill_part(struct jr_part *part, size_t count)
{
    *part = (struct jr_part){.nrows = count, .nshown = count};
    part->rows = jr_alloc(count, sizeof(*part->rows));
    for (size_t i = 0; i < count; i++) {
        part->rows[i].total_ns = i < 20 ? 10000 : i < 30 ? 20 : 19;
        part->rows[i].self_ns = i % 2 ? part->rows[i].total_ns : 0;
        part->weight_ns = 200000;
    }
}

static void test_cut(void **state)
{
    struct jr_part part;
    struct jr_rest rest;

    (void)state;
    fill_part(&part, 5000);
    jr_part_cut(&part);
    assert_int_equal(part.nshown, 5000);
    assert_int_equal(jr_part_rest(&part, 0).count, 0);
    jr_part_free(&part);
    fill_part(&part, 5001);
    jr_part_cut(&part);
    assert_int_equal(part.nshown, 30);
    rest = jr_part_rest(&part, 0);
    assert_int_equal(rest.count, 4971);
    assert_int_equal(rest.most_ns, 19);
    assert_int_equal(rest.self_ns, 2485 * 19);
    rest = jr_part_rest(&part, 1);
    assert_int_equal(rest.count, 2485);
    assert_int_equal(rest.self_ns, 2485 * 19);
    jr_part_free(&part);
}

/* Light calls are summed up as light functions are, but not the heaviest one
 * to a function. */
static void test_links(void **state)
{
    struct jr_link links[] = {{29, 19}, {0, 20}, {30, 20}, {1, 19}};
    const struct jr_row row = {.ncallers = 2, .callees = 2, .ncallees = 2};
    struct jr_part part;

    (void)state;
    fill_part(&part, 5001);
    part.links = links;
    for (size_t i = 0; i < 4; i++)
        assert_true(jr_part_lists(&part, &row, &links[i]));
    jr_part_cut(&part);
    assert_true(jr_part_lists(&part, &row, &links[0]));
    assert_true(jr_part_lists(&part, &row, &links[1]));
    assert_false(jr_part_lists(&part, &row, &links[2]));
    assert_false(jr_part_lists(&part, &row, &links[3]));
    links[0].row = 30;
    assert_false(jr_part_lists(&part, &row, &links[0]));
    part.links = NULL;
    jr_part_free(&part);
}

static void test_limit(void **state)
{
    struct jr_filter filter = everything();
    struct copies copies;
    struct jr_report report = {.app = "app"};
    struct jr_contents contents;
    struct jr_part part;
    struct jr_scope_key *keys;

    (void)state;
    sample_some(&copies.one);
    copies_make(&copies, "", 2);
    report.model = copies_model(&copies, &filter);
    report.parts = keys = jr_parts_list(report.model, &report.nparts);
    assert_false(jr_part_is_short(&report, 0));
    assert_true(jr_part_is_short(&report, 1));
    report.limit = 2;
    jr_contents_open(&report, &contents);
    assert_int_equal(contents.most, 2);
    jr_part_open(&report, 1, contents.most, JR_LINKS_ALL, &part);
    assert_int_equal(part.nshown, 2);
    assert_int_equal(part.nrows, 3);
    assert_int_equal(part.nlinks, 0);
    jr_part_free(&part);
    jr_contents_close(&report, &contents);
    report.limit = JR_NO_LIMIT;
    assert_false(jr_part_is_short(&report, 1));
    jr_part_open(&report, 1, 2, JR_LINKS_ALL, &part);
    assert_int_equal(part.nshown, 4);
    assert_true(part.nlinks > 0);
    jr_part_free(&part);
    free(keys);
    profile_free(&copies.one);
}

/* Processes of three programs, one of them in two roles, of which some have
 * less time. */
static void test_groups(void **state)
{
    static const char *const exes[] = {"/bin/cc", "/bin/web", "/bin/make",
                                       "/bin/cc", "/bin/web", "/bin/web"};
    static const char *const commands[] = {"cc a",           "web --type=tab",
                                           "make",           "cc b --slow",
                                           "web --type=gpu", "web --type=tab"};
    struct jr_filter filter = everything();
    struct copies copies;
    struct jr_report report = {.app = "app"};
    struct jr_contents contents;
    struct jr_scope_key *keys;

    (void)state;
    sample_some(&copies.one);
    copies_make(&copies, "", 6);
    for (size_t i = 0; i < 6; i++) {
        strcpy(copies.runs[i].header.exe, exes[i]);
        copies.maps[i].cmdline = (char *)commands[i];
    }
    report.model = copies_model(&copies, &filter);
    report.parts = keys = jr_parts_list(report.model, &report.nparts);
    assert_int_equal(report.nparts, 7);
    keys[4].weight_ns++; /* cc b */
    keys[3].weight_ns += 9000;
    jr_contents_open(&report, &contents);
    assert_int_equal(contents.ngroups, 4);
    assert_string_equal(contents.groups[0].name, "make");
    assert_int_equal(contents.groups[0].count, 1);
    assert_string_equal(contents.groups[1].name, "cc");
    assert_int_equal(contents.groups[1].count, 2);
    assert_int_equal(contents.groups[1].samples, 10);
    assert_int_equal(contents.groups[1].weight_ns, 2 * 6585 + 1);
    assert_int_equal(contents.parts[contents.groups[1].first], 4);
    assert_int_equal(contents.parts[contents.groups[1].first + 1], 1);
    assert_string_equal(contents.groups[2].name, "web tab");
    assert_int_equal(contents.parts[contents.groups[2].first], 2);
    assert_int_equal(contents.parts[contents.groups[2].first + 1], 6);
    assert_string_equal(contents.groups[3].name, "web gpu");
    assert_string_equal(contents.titles[6], "web tab (pid 105)");
    assert_string_equal(contents.titles[0], "All processes");
    jr_contents_close(&report, &contents);
    free(keys);
    profile_free(&copies.one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),   cmocka_unit_test(test_same_flat),
        cmocka_unit_test(test_rest),   cmocka_unit_test(test_cut),
        cmocka_unit_test(test_links),  cmocka_unit_test(test_limit),
        cmocka_unit_test(test_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
