/* SPDX-License-Identifier: MIT
 *
 * The log reader: whole logs, damaged ones, logs cut at every byte.
 * Runs in: unit tests. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "log_fixture.h"
#include "read/log.h"
#include "read/stacks.h"
#include "read/walk.h"

static void reads_samples_in_order_of_time(void **state)
{
    struct built *built = two_chunks();
    struct jr_diag diag;
    struct jr_log log;
    struct jr_run *run;
    struct jr_sample *samples;

    (void)state;
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(diag.warnings, 0);
    assert_int_equal(log.nruns, 1);
    run = &log.runs[0];
    assert_int_equal(run->nsamples, 4);
    samples = samples_of(&log, run);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(samples[i].time_ns, 100 * (i + 1));
    assert_int_equal(samples[1].tid, 2);
    assert_int_equal(samples[1].weight_ns, 1002);
    assert_int_equal(run->first_ns, 100);
    assert_int_equal(run->last_ns, 400);
    assert_int_equal(run->cpu_ns, 2 * 1001 + 2 * 1002);
    assert_int_equal(run->seen_chunks, 2);
    assert_int_equal(run->bad_chunks, 0);
    free(samples);
    jr_log_free(&log);
    free(built);
}

struct told {
    uint64_t calls, done, total;
};

static void count_told(void *data, uint64_t done, uint64_t total)
{
    struct told *told = data;

    assert_true(done > told->done && done <= total);
    *told = (struct told){told->calls + 1, done, total};
}

static void tells_how_far_it_is(void **state)
{
    const size_t size = 10000000 / JP_LOG_ALIGN * JP_LOG_ALIGN;
    struct built *built = two_chunks();
    uint8_t *large = calloc(size, 1);
    struct told told = {0, 0, 0};
    struct jr_diag diag = {.progress = count_told, .progress_data = &told};
    struct jr_log log;

    (void)state;
    assert_non_null(large);
    memcpy(large, built->data, built->size);
    assert_int_equal(jr_log_parse(large, size, "log", &log, &diag), 0);
    assert_int_equal(told.calls, 9);
    assert_int_equal(told.total, size);
    jr_log_free(&log);
    free(large);
    free(built);
}

static void makes_stacks_whole_and_equal_ones_one(void **state)
{
    struct built *built = two_chunks();
    struct jr_diag diag;
    struct jr_log log;
    struct jr_run *run;
    struct jr_sample *samples;
    uint64_t frames[3];

    (void)state;
    assert_int_equal(parse(built, &log, &diag), 0);
    run = &log.runs[0];
    samples = samples_of(&log, run);
    assert_int_equal(run->stacks.count, 3);
    assert_int_equal(jr_stacks_depth(&run->stacks, 0), 0);
    assert_int_equal(samples[0].stack, samples[1].stack);
    assert_int_equal(samples[3].stack, 0);
    assert_int_equal(jr_stacks_depth(&run->stacks, samples[2].stack), 3);
    assert_int_equal(jr_stacks_frames(&run->stacks, samples[2].stack, frames),
                     0);
    free(samples);
    assert_int_equal(frames[0], 0x99);
    assert_int_equal(frames[1], 0x30);
    assert_int_equal(frames[2], 0x40);
    jr_log_free(&log);
    free(built);
}

/* A log cut anywhere gives a prefix of what it held, or says that there is
 * none; and a cut inside a record, a chunk's head or the header is said. */
static void survives_a_cut_at_every_byte(void **state)
{
    struct built *built = two_chunks();
    size_t most = 0;

    (void)state;
    for (size_t size = 0; size <= built->size; size++) {
        /* A block of its own, so that a sanitizer sees every overrun. */
        uint8_t *copy = malloc(size ? size : 1);
        struct jr_diag diag = {.warnings = 100};
        struct jr_log log;
        int result;

        memcpy(copy, built->data, size);
        result = jr_log_parse(copy, size, "log", &log, &diag);
        assert_int_equal(result, size < JP_LOG_HEADER_SIZE ? -1 : 0);
        if (result < 0) {
            assert_true(diag.warnings > 100);
        } else {
            assert_true(log.runs[0].nsamples >= most);
            most = log.runs[0].nsamples;
        }
        if (size == 4096 + 64 + 20 || size == 4096 + 30)
            assert_int_equal(log.runs[0].bad_chunks, 1);
        jr_log_free(&log);
        free(copy);
    }
    assert_int_equal(most, 4);
    free(built);
}

static void refuses_what_it_cannot_read(void **state)
{
    struct built *built = calloc(1, sizeof *built);
    struct jp_log_header *header = put_header(built);
    struct jr_diag diag;
    struct jr_log log;

    (void)state;
    header->byte_order = __builtin_bswap32(JP_LOG_BYTE_ORDER);
    assert_int_equal(parse(built, &log, &diag), -1);
    assert_int_equal(diag.warnings, 1);
    jr_log_free(&log);
    header->byte_order = JP_LOG_BYTE_ORDER;
    header->version = JP_LOG_VERSION + 1;
    assert_int_equal(parse(built, &log, &diag), -1);
    assert_int_equal(diag.warnings, 1);
    jr_log_free(&log);
    memset(built->data, 'x', 4096);
    assert_int_equal(parse(built, &log, &diag), -1);
    assert_int_equal(diag.warnings, 1);
    jr_log_free(&log);
    free(built);
}

/* A run whose chunks lie between another's, one of them before its header. */
static struct built *branched(void)
{
    static const uint64_t frames[] = {0x10, 0x20};
    struct built *built = calloc(1, sizeof *built);
    struct jp_log_header *branch;

    strcpy(put_header(built)->exe, "/bin/parent");
    put_chunk(built, 4096)->run = 1;
    put_sample(built, 5, 70, put_stack(built, frames, 2, 0, 0));
    put_chunk(built, 4096)->run = 4 * 4096 + 1; /* of the branch */
    put_sample(built, 9, 71, put_stack(built, frames, 1, 0, 0));
    put_chunk(built, 4096)->run = 1;
    put_sample(built, 6, 70, put_stack(built, frames, 1, 0, 0));
    branch = put_header(built);
    branch->base_run = 1;
    branch->forked_ns = 8;
    put_chunk(built, 4096)->run = 4 * 4096 + 1;
    put_text(built, "8 note text=one");
    put_sample(built, 8, 71, 0);
    put_text(built, "9 note text=two\n9 exit");
    return built;
}

static void tells_runs_by_their_chunks(void **state)
{
    struct built *built = branched();
    struct jr_diag diag;
    struct jr_log log;

    (void)state;
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(diag.warnings, 0);
    assert_int_equal(log.nruns, 2);
    assert_int_equal(log.runs[0].nsamples, 2);
    assert_int_equal(log.runs[1].first_ns, 8);
    assert_int_equal(log.runs[1].base, 0);
    assert_string_equal(log.runs[1].header.exe, "/bin/parent");
    assert_int_equal(log.runs[1].ntext, 39);
    assert_memory_equal(log.runs[1].text,
                        "8 note text=one\n9 note text=two 9 exit\n", 39);
    jr_log_free(&log);
    free(built);
}

static void leaves_out_what_belongs_to_no_run(void **state)
{
    struct built *built = branched();
    struct jr_diag diag;
    struct jr_log log;

    (void)state;
    ((struct jp_chunk_header *)(built->data + 4096))->run = 4096 + 1;
    ((struct jp_log_header *)(built->data + 4 * 4096))->base_run = 77;
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(diag.warnings, 1);
    assert_int_equal(log.runs[0].nsamples, 1);
    assert_int_equal(log.runs[1].base, 1);
    jr_log_free(&log);
    free(built);
}

static void passes_over_damaged_text(void **state)
{
    static const uint32_t lengths[] = {16, 7, 0, UINT32_MAX};
    struct jr_diag diag;
    struct jr_log log;

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct built *built = branched();

        memcpy(built->data + 5 * 4096 + 68, &lengths[i], 4);
        assert_int_equal(parse(built, &log, &diag), 0);
        assert_int_equal(diag.warnings, lengths[i] != 16);
        jr_log_free(&log);
        free(built);
    }
}

static void reads_the_log_of_another_machine(void **state)
{
    struct built *built = two_chunks();
    struct jr_diag diag;
    struct jr_log log;

    (void)state;
    ((struct jp_log_header *)built->data)->machine = 8;
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(log.runs[0].nsamples, 4);
    assert_int_equal(diag.warnings, 0);
    jr_log_free(&log);
    free(built);
}

static void leaves_out_cleared_samples(void **state)
{
    struct built *built = two_chunks();
    struct jr_diag diag;
    struct jr_log log;

    (void)state;
    ((struct jp_log_header *)built->data)->cleared_ns = 200;
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(log.runs[0].nsamples, 3);
    assert_int_equal(log.runs[0].first_ns, 200);
    jr_log_free(&log);
    free(built);
}

static void sums_what_was_lost(void **state)
{
    struct built *built = two_chunks();
    struct jp_log_header *header = (struct jp_log_header *)built->data;
    struct jr_diag diag;
    struct jr_log log;

    (void)state;
    header->counters[JP_COUNT_LOST_STALE] = 1;
    header->counters[JP_COUNT_LOST_NO_SLOT] = 2;
    header->counters[JP_COUNT_LOST_NS] = 1000;
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(log.runs[0].lost, 3);
    jr_log_free(&log);
    free(built);
}

static void goes_on_after_a_damaged_chunk(void **state)
{
    static const struct {
        size_t offset;
        uint8_t value;
    } harms[] = {{4, 1}, {16, 8}, {32, 9}};

    (void)state;
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        struct built *built = two_chunks();
        struct jr_diag diag;
        struct jr_log log;

        built->data[4096 + harms[i].offset] ^= harms[i].value;
        assert_int_equal(parse(built, &log, &diag), 0);
        assert_int_equal(log.runs[0].nsamples, 2);
        assert_int_equal(log.runs[0].first_ns, 200);
        assert_int_equal(log.runs[0].bad_chunks, 1);
        assert_int_equal(diag.warnings, 1);
        jr_log_free(&log);
        free(built);
    }
}

/* Each harms the first chunk's record at `offset`; `left` samples remain. */
static void passes_over_damaged_records(void **state)
{
    static const struct {
        size_t offset; /* in the chunk */
        uint8_t value;
        size_t left;
    } harms[] = {
        {64 + 2, 0, 2},     /* a record without length */
        {64 + 3, 0xff, 2},  /* one that runs past the chunk */
        {64 + 4, 3, 2},     /* stack: count against words; both samples
                                  name it or its heir */
        {112 + 6, 5, 3},    /* heir shares more than there is */
        {112 + 8, 14, 3},   /* heir built on itself */
        {112 + 8, 100, 3},  /* heir built on a later place */
        {112 + 10, 4, 3},   /* gap beyond the end */
        {136 + 1, 0x05, 3}, /* unknown event */
        {136 + 1, 0xf0, 3}, /* unknown reason */
        {136 + 2, 2, 2},    /* sample of a wrong size; the next word is no
                                  record */
        {136 + 22, 3, 3},   /* sample whose stack is not there */
    };

    (void)state;
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        struct built *built = two_chunks();
        struct jr_diag diag;
        struct jr_log log;

        built->data[4096 + harms[i].offset] = harms[i].value;
        assert_int_equal(parse(built, &log, &diag), 0);
        if (log.runs[0].nsamples != harms[i].left)
            fail_msg("harm %zu: %zu samples", i, (size_t)log.runs[0].nsamples);
        assert_int_equal(log.runs[0].bad_chunks, 1);
        assert_true(diag.warnings >= 1);
        jr_log_free(&log);
        free(built);
    }
}

static void bounds_chains_of_stacks(void **state)
{
    struct built *built = calloc(1, sizeof *built);
    uint64_t frames[2000];
    struct jr_diag diag;
    struct jr_log log;
    uint16_t place = 0, depth = 0;

    (void)state;
    for (size_t i = 0; i < 2000; i++)
        frames[i] = i + 1;
    put_header(built);
    put_chunk(built, 65536);
    for (int i = 0; i < 3; i++) {
        place = put_stack(built, frames, 2000, place, depth);
        depth = (uint16_t)(depth + 2000);
        put_sample(built, 1, 1, place);
    }
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(log.runs[0].nsamples, 2);
    assert_int_equal(log.runs[0].stacks.count, 3);
    /* The third stack and the sample of it. */
    assert_int_equal(log.runs[0].bad_records, 2);
    assert_int_equal(jr_stacks_depth(&log.runs[0].stacks, 2), 4000);
    assert_int_equal(diag.warnings, 1);
    jr_log_free(&log);
    free(built);
}

static void keeps_runs_apart(void **state)
{
    struct built *built = two_chunks();
    struct jr_diag diag;
    struct jr_log log;

    (void)state;
    put_header(built)->pid = 8;
    put_chunk(built, 4096)->pid = 8;
    put_sample(built, 50, 8, 0);
    put_header(built)->version = 9;
    put_chunk(built, 4096);
    put_sample(built, 60, 7, 0);
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(log.nruns, 2);
    assert_int_equal(log.runs[0].nsamples, 4);
    assert_int_equal(log.runs[1].nsamples, 1);
    assert_int_equal(diag.warnings, 1);
    jr_log_free(&log);
    free(built);
}

/* CPU time is what samples of running threads stand for; apart from it, what
 * came after the process last looked at its clock. */
static void sums_cpu_time(void **state)
{
    static const struct jr_sample samples[] = {
        {.time_ns = 5, .weight_ns = 7},
        {.time_ns = 60, .weight_ns = 9, .event = JP_EVENT_WALL_RUNNING},
        {.time_ns = 60, .weight_ns = 99, .event = JP_EVENT_WALL_BLOCKED},
        {.time_ns = 61, .weight_ns = 99, .event = JP_EVENT_WALL_READY},
        {.time_ns = 61, .weight_ns = 99, .event = JP_EVENT_RAISED}};
    struct built *built = calloc(1, sizeof *built);
    struct jr_diag diag;
    struct jr_log log;

    (void)state;
    put_header(built)->cpu_read_ns = 50;
    put_chunk(built, 4096);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        put_sample_of(built, &samples[i], 0);
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(log.runs[0].cpu_ns, 16);
    assert_int_equal(log.runs[0].late_ns, 9);
    jr_log_free(&log);
    free(built);
}

static void refuses_what_is_no_regular_file(void **state)
{
    char folder[] = "/tmp/jprof-test-XXXXXX", path[64];
    struct jr_diag diag = {0};
    struct jr_log log;
    struct stat info;
    const char *why;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(jr_log_read(folder, &log, &diag), -1);
    assert_int_equal(diag.warnings, 1);
    jr_log_free(&log);
    snprintf(path, sizeof path, "%s/fifo", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(jr_file_open(path, &info, &why), -1);
    assert_string_equal(why, "is not a regular file");
    assert_int_equal(jr_log_read(path, &log, &diag), -1);
    assert_int_equal(diag.warnings, 2);
    jr_log_free(&log);
    unlink(path);
    assert_int_equal(jr_log_read(path, &log, &diag), -1);
    assert_int_equal(diag.warnings, 3);
    jr_log_free(&log);
    rmdir(folder);
}

/* More than one window of the file, and the same result as from memory. */
static void reads_files_through_a_window(void **state)
{
    char path[] = "/tmp/jprof-test-XXXXXX";
    struct built *built = calloc(1, sizeof *built);
    struct jr_diag diag = {0};
    struct jr_sample *samples;
    struct jr_log log;
    int fd = mkstemp(path);

    (void)state;
    put_header(built);
    built->size += 4096 * 3;
    for (int chunk = 0; chunk < 3; chunk++) {
        put_chunk(built, 65536);
        for (uint32_t i = 0; i < 2700; i++)
            put_sample(built, (uint64_t)chunk * 10000 + i, 1, 0);
    }
    assert_true(fd >= 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(write(fd, built->data, built->size), built->size);
    assert_int_equal(jr_log_read(path, &log, &diag), 0);
    assert_int_equal(log.nruns, 2);
    assert_int_equal(log.runs[0].nsamples, 3 * 2700);
    samples = samples_of(&log, &log.runs[0]);
    for (size_t i = 0; i < 3 * 2700; i++)
        assert_int_equal(samples[i].time_ns, i / 2700 * 10000 + i % 2700);
    free(samples);
    /* The copy's chunks do not lie where they say. */
    assert_int_equal(log.runs[1].nsamples, 0);
    assert_int_equal(log.runs[1].bad_chunks, 3);
    jr_log_free(&log);
    close(fd);
    unlink(path);
    free(built);
}

/* What an AGAIN record says of itself, and what it says by another: also where
 * the samples are read again. */
static void repeats_samples(void **state)
{
    static const uint64_t frames[] = {0x10, 0x20};
    struct jr_sample again = {.time_ns = 5, .weight_ns = 6};
    struct built *built = calloc(1, sizeof *built);
    struct jr_sample *samples;
    struct jr_diag diag;
    struct jr_log log;
    uint16_t stack, first, second;

    (void)state;
    put_header(built)->cleared_ns = 2;
    put_chunk(built, 4096)->opened_ns = 3;
    stack = put_stack(built, frames, 2, 0, 0);
    first = (uint16_t)((built->at - built->chunk) / 8);
    put_sample(built, 1, 70, stack); /* cleared, and repeated all the same */
    second = (uint16_t)((built->at - built->chunk) / 8);
    put_sample(built, 4, 71, 0);
    put_again(built, &again, first);
    again = (struct jr_sample){.time_ns = 9ULL << 32 | 8,
                               .weight_ns = 7ULL << 32 | 6,
                               .event = JP_EVENT_WALL_BLOCKED,
                               .reason = JP_REASON_DEPTH};
    put_again(built, &again, second);
    /* Of a stack, of itself, of one that is no sample's first word. */
    put_again(built, &again, stack);
    put_again(built, &again, (uint16_t)((built->at - built->chunk) / 8));
    put_again(built, &again, (uint16_t)(first + 1));
    put_sample(built, 4, 72, first); /* of a stack that is a sample */
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(log.runs[0].bad_records, 4);
    assert_int_equal(log.runs[0].nsamples, 3);
    samples = samples_of(&log, &log.runs[0]);
    assert_int_equal(samples[1].tid, 70);
    assert_int_equal(samples[1].time_ns, 5);
    assert_int_equal(samples[1].weight_ns, 6);
    assert_int_equal(jr_stacks_depth(&log.runs[0].stacks, samples[1].stack), 2);
    assert_int_equal(samples[2].tid, 71);
    assert_int_equal(samples[2].time_ns, again.time_ns);
    assert_int_equal(samples[2].weight_ns, again.weight_ns);
    assert_int_equal(samples[2].event, again.event);
    assert_int_equal(samples[2].reason, again.reason);
    assert_int_equal(samples[2].stack, samples[0].stack);
    free(samples);
    jr_log_free(&log);
    free(built);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_samples_in_order_of_time),
        cmocka_unit_test(tells_how_far_it_is),
        cmocka_unit_test(makes_stacks_whole_and_equal_ones_one),
        cmocka_unit_test(survives_a_cut_at_every_byte),
        cmocka_unit_test(refuses_what_it_cannot_read),
        cmocka_unit_test(tells_runs_by_their_chunks),
        cmocka_unit_test(leaves_out_what_belongs_to_no_run),
        cmocka_unit_test(passes_over_damaged_text),
        cmocka_unit_test(reads_the_log_of_another_machine),
        cmocka_unit_test(leaves_out_cleared_samples),
        cmocka_unit_test(sums_what_was_lost),
        cmocka_unit_test(goes_on_after_a_damaged_chunk),
        cmocka_unit_test(passes_over_damaged_records),
        cmocka_unit_test(bounds_chains_of_stacks),
        cmocka_unit_test(keeps_runs_apart),
        cmocka_unit_test(sums_cpu_time),
        cmocka_unit_test(repeats_samples),
        cmocka_unit_test(refuses_what_is_no_regular_file),
        cmocka_unit_test(reads_files_through_a_window),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
