/* SPDX-License-Identifier: MIT
 *
 * What a report is of: processes by pid, program and command; stretches of
 * time, which together are the whole.
 * Runs in: tests. */
#include "copies_fixture.h"

#include "load.h"
#include "model/build.h"
#include "model/cover/cover_sum.h"
#include "model/span.h"
#include "select.h"

#define EVENTS                                                                 \
    "5 section n=0 cpu=0\n40 pause cpu=1\n60 section n=1 cpu=1\n"              \
    "100 exit cpu=2\n"

struct sums {
    uint64_t weight_ns, samples, wall_ns;
};

/* Adds what [from, to) has; to 0: to the end. */
static void add_slice(struct copies *copies, struct jr_filter filter,
                      uint64_t from, uint64_t to, struct sums *sums)
{
    struct jr_model *model;

    filter.from_ns = from;
    filter.to_ns = to;
    filter.has_to = to != 0;
    model = copies_model(copies, &filter);
    sums->weight_ns += model->total.weight_ns;
    sums->samples += model->total.samples;
    sums->wall_ns += model->total.wall_ns;
    jr_model_free(model);
}

/* Samples at 10, 11... 69; the profile starts at 8. */
static void sample_time(struct copies *copies)
{
    profile_init(&copies->one);
    copies->one.header->mono_ns = 8;
    profile_sample(&copies->one, "ab", 10, 3000000019, 1);
    for (uint64_t i = 11; i < 70; i++)
        profile_repeat(&copies->one, i, i * 1000003 + 7, i % 3 + 1);
    copies_make(copies, EVENTS, 2);
}

static void assert_slices(struct copies *copies, const struct jr_filter *filter)
{
    struct sums whole = {0}, parts;

    add_slice(copies, *filter, 0, 0, &whole);
    assert_true(whole.samples > 0);
    for (uint64_t step = 1; step < 200; step = step * 2 + 1) {
        uint64_t at = 0;

        parts = (struct sums){0};
        for (; at < 80; at += step)
            add_slice(copies, *filter, at, at + step, &parts);
        add_slice(copies, *filter, at, 0, &parts);
        assert_int_equal(parts.weight_ns, whole.weight_ns);
        assert_int_equal(parts.samples, whole.samples);
        assert_int_equal(parts.wall_ns, whole.wall_ns);
    }
}

static void test_slices(void **state)
{
    struct jr_filter filter = everything();
    struct copies copies;

    (void)state;
    sample_time(&copies);
    assert_slices(&copies, &filter);
    filter.start = 1;
    assert_slices(&copies, &filter);
    filter = everything();
    filter.last = 1;
    assert_slices(&copies, &filter);
    profile_free(&copies.one);
}

static struct sums slice(struct copies *copies, struct jr_filter filter,
                         uint64_t from, uint64_t to)
{
    struct sums sums = {0};

    add_slice(copies, filter, from, to, &sums);
    return sums;
}

/* Sections and times together; the pause from 40 to 60 is no profiled time. */
static void test_sections(void **state)
{
    struct jr_filter filter = everything();
    struct copies copies;

    (void)state;
    sample_time(&copies);
    copies.count = 1;
    assert_int_equal(slice(&copies, filter, 0, 0).samples, 60);
    assert_int_equal(slice(&copies, filter, 0, 0).wall_ns, 35 + 40);
    assert_int_equal(slice(&copies, filter, 2, 12).samples, 10);
    assert_int_equal(slice(&copies, filter, 2, 12).wall_ns, 10);
    assert_int_equal(slice(&copies, filter, 30, 55).samples, 25);
    assert_int_equal(slice(&copies, filter, 30, 55).wall_ns, 2 + 3);
    filter.start = 1;
    assert_int_equal(slice(&copies, filter, 30, 55).samples, 3);
    assert_int_equal(slice(&copies, filter, 30, 55).wall_ns, 3);
    assert_int_equal(slice(&copies, filter, 0, 40).samples, 0);
    assert_int_equal(slice(&copies, filter, 0, 40).wall_ns, 0);
    filter = everything();
    filter.end = 1;
    assert_int_equal(slice(&copies, filter, 30, 55).samples, 22);
    assert_int_equal(slice(&copies, filter, 30, 55).wall_ns, 2);
    assert_int_equal(slice(&copies, filter, 1000, 0).samples, 0);
    assert_int_equal(slice(&copies, filter, UINT64_MAX, 0).samples, 0);
    profile_free(&copies.one);
}

/* Times count from the earliest process; boots, and time namespaces of one, are
 * compared by the time of day, where it is known. */
static void check_starts(int of_boots)
{
    struct jr_filter filter = everything();
    struct jr_starts starts = {0};
    struct copies copies;

    sample_time(&copies);
    copies.runs[1].header.mono_ns = 3;
    assert_int_equal(slice(&copies, filter, 0, 12).samples, 10 + 5);
    filter.starts = &starts;
    for (size_t i = 0; i < 2; i++)
        jr_starts_add(&starts, &copies.runs[i].header, NULL);
    assert_int_equal(starts.count, 1);
    assert_int_equal(slice(&copies, filter, 0, 12).samples, 5 + 5);
    if (of_boots) {
        copies.runs[1].header.boot_id[15] = 1;
    } else {
        starts.items[0].time_space = 5;
        copies.runs[1].header.owner_time_space = 6;
    }
    jr_starts_add(&starts, &copies.runs[1].header, NULL);
    starts.items[0].mono_ns = 8;
    assert_int_equal(starts.count, 2);
    assert_int_equal(slice(&copies, filter, 0, 12).samples, 10 + 5);
    starts.items[0].real_ns = 1000;
    starts.items[1].real_ns = 1006;
    /* 8 of the first boot's clock is 3 - 6 of the second's. */
    assert_int_equal(slice(&copies, filter, 0, 12).samples, 10 + 0);
    assert_int_equal(slice(&copies, filter, 13, 15).samples, 2 + 2);
    assert_int_equal(slice(&copies, filter, 2, 14).samples, 12 + 1);
    free(starts.items);
    profile_free(&copies.one);
}

static void test_starts(void **state)
{
    (void)state;
    check_starts(1);
    check_starts(0);
}

/* A profile begins with its first section, its log with the first sample. */
static void test_start_of_section(void **state)
{
    struct jr_filter filter = everything();
    struct jr_starts starts = {0};
    struct copies copies;

    (void)state;
    sample_time(&copies);
    copies.count = 1;
    filter.starts = &starts;
    jr_starts_add(&starts, &copies.runs[0].header, &copies.maps[0]);
    assert_int_equal(starts.items[0].mono_ns, 5);
    assert_int_equal(slice(&copies, filter, 0, 12).wall_ns, 12);
    assert_int_equal(slice(&copies, filter, 0, 12).samples, 7);
    /* One of later says nothing of the time before it. */
    copies.runs[0].header.mono_ns = 4;
    jr_starts_add(&starts, &copies.runs[0].header, &copies.maps[0]);
    assert_int_equal(starts.items[0].mono_ns, 4);
    free(starts.items);
    profile_free(&copies.one);
}

static void put_file(const char *folder, const char *name, const void *data,
                     size_t size)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* The starts are known before the first log is read. */
static void test_starts_of_files(void **state)
{
    static const char map[] = "1 jprof-map version=1 pid=7 start=0 log=log\n"
                              "no line\n" EVENTS;
    char folder[] = "/tmp/jprof-unit-XXXXXX", path[64];
    const char *log = path;
    struct jr_load load = {0};
    struct copies copies;

    (void)state;
    sample_time(&copies);
    strcpy(copies.one.header->map_name, "map");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/log", folder);
    put_file(folder, "log", copies.one.built.data, copies.one.built.size);
    jr_select_starts(&load.starts, &log, 1, 1);
    assert_int_equal(load.starts.count, 1);
    assert_int_equal(load.starts.items[0].mono_ns, 8);
    put_file(folder, "map", map, strlen(map));
    jr_select_starts(&load.starts, &log, 1, 1);
    assert_int_equal(load.starts.items[0].mono_ns, 5);
    unlink(path);
    snprintf(path, sizeof(path), "%s/map", folder);
    unlink(path);
    rmdir(folder);
    free(load.starts.items);
    profile_free(&copies.one);
}

static int selects(struct jr_load *load, const struct copies *copies,
                   size_t process, const char *which)
{
    int selected;

    load->model.filter.process = &which;
    load->model.filter.nprocess = 1;
    load->selected[0] = 0;
    selected =
        jr_select_process(&load->model.filter, load->selected,
                          &copies->runs[process], &copies->maps[process]);
    assert_int_equal(load->selected[0], selected);
    return selected;
}

static void test_processes(void **state)
{
    struct jr_load load = {.selected = jr_alloc(1, 1)};
    struct copies copies;

    (void)state;
    sample_time(&copies);
    assert_true(jr_select_process(&load.model.filter, load.selected,
                                  &copies.runs[0], &copies.maps[0]));
    strcpy(copies.runs[1].header.exe, "/usr/bin/cc1");
    copies.maps[1].cmdline = (char *)"cc1 -O2 /src/main.c";
    assert_true(selects(&load, &copies, 0, "100"));
    assert_false(selects(&load, &copies, 0, "101"));
    assert_false(selects(&load, &copies, 0, "10"));
    assert_true(selects(&load, &copies, 0, "app"));
    assert_true(selects(&load, &copies, 1, "cc1"));
    assert_false(selects(&load, &copies, 0, "cc1"));
    assert_false(selects(&load, &copies, 1, "cc"));
    assert_true(selects(&load, &copies, 1, "*/main.c"));
    assert_true(selects(&load, &copies, 1, "cc1 * /src/[a-m]*.c"));
    assert_false(selects(&load, &copies, 1, "*/main"));
    copies.maps[1].cmdline = NULL;
    assert_false(selects(&load, &copies, 1, "*/main.c"));
    free(load.selected);
    profile_free(&copies.one);
}

/* A program that was started by a link's path, and a script. */
static void test_names_of_programs(void **state)
{
    static const char *const of_python[] = {
        "python3",           "python3.11",          "x.py",
        "/usr/bin/python3",  "/usr/bin/python3.11", "python3 -u *",
        "/usr/bin/python3 *"};
    static const char *const of_others[] = {
        "python",    "bin", "python3 -u", "usr/bin/python3",
        "/src/x.py", "-u",  "",           "/"};
    struct jr_load load = {.selected = jr_alloc(1, 1)};
    struct copies copies;

    (void)state;
    sample_time(&copies);
    strcpy(copies.runs[0].header.exe, "/usr/bin/python3.11");
    copies.maps[0].comm = (char *)"x.py";
    copies.maps[0].cmdline = (char *)"/usr/bin/python3 -u /src/x.py";
    for (size_t i = 0; i < sizeof of_python / sizeof *of_python; i++)
        assert_true(selects(&load, &copies, 0, of_python[i]));
    for (size_t i = 0; i < sizeof of_others / sizeof *of_others; i++)
        assert_false(selects(&load, &copies, 0, of_others[i]));
    copies.maps[0].cmdline = copies.maps[0].comm = (char *)"";
    copies.runs[0].header.exe[0] = '\0';
    assert_false(selects(&load, &copies, 0, ""));
    copies.maps[0].cmdline = copies.maps[0].comm = NULL;
    free(load.selected);
    profile_free(&copies.one);
}

/* The pids of another machine's processes are those of others. */
static void keeps_machines_apart(void **state)
{
    static const struct jr_cover_image parent = {.pid = 9,
                                                 .cpu_ns = 100000000,
                                                 .sampled_ns = 100000000,
                                                 .on_ns = 100000000,
                                                 .period_ns = 4000000};
    struct jr_cover cover = {0};
    struct jr_cover_image image = parent;
    const struct jr_tree_root nine = {.pid = 9};
    const uint32_t one = jr_cover_tree(&cover, NULL, &nine, 1);

    (void)state;
    image.tree = one;
    jr_cover_add(&cover, &image);
    image.tree = jr_cover_tree(&cover, NULL, &nine, 2);
    assert_int_not_equal(image.tree, one);
    assert_int_equal(jr_cover_tree(&cover, NULL, &nine, 1), one);
    jr_cover_add(&cover, &image);
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.nprocesses, 2);
    assert_int_equal(cover.cpu_ns, 200000000);
    assert_int_equal(cover.sampled_ns, 200000000);
    jr_cover_free(&cover);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_machines_apart),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_start_of_section),
        cmocka_unit_test(test_starts_of_files),
        cmocka_unit_test(test_processes),
        cmocka_unit_test(test_names_of_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
