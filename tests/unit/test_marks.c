/* SPDX-License-Identifier: MIT
 *
 * Marks: their records, damaged and hostile ones, and the spans made of them.
 * Runs in: unit tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "log_fixture.h"
#include "model/marks/inside.h"
#include "model/marks/marks.h"
#include "read/markers.h"
#include "read/walk.h"

#define POINT JP_MARK_POINT
#define BEGIN JP_MARK_SPAN_BEGIN
#define END JP_MARK_SPAN_END

static void put(struct built *built, uint64_t time_ns, uint32_t tid,
                uint8_t kind, const char *name)
{
    put_mark(built, time_ns, tid, kind, name, strlen(name));
}

static struct built *begun(void)
{
    struct built *built = calloc(1, sizeof *built);

    put_header(built);
    put_chunk(built, 4096);
    return built;
}

static void reads_marks(void **state)
{
    struct built *built = begun();
    struct jr_diag diag;
    struct jr_log log;
    const struct jr_run *run;

    (void)state;
    put(built, 500, 7, BEGIN, "a span");
    put_sample(built, 100, 1, 0);
    put(built, 400, 8, POINT, "x");
    assert_int_equal(parse(built, &log, &diag), 0);
    run = &log.runs[0];
    assert_int_equal(diag.warnings, 0);
    assert_int_equal(run->nsamples, 1);
    assert_int_equal(run->nmarks, 2);
    assert_int_equal(run->marks[0].time_ns, 500);
    assert_int_equal(run->marks[0].tid, 7);
    assert_int_equal(run->marks[0].kind, BEGIN);
    assert_int_equal(run->marks[0].length, 6);
    assert_memory_equal(run->mark_names + run->marks[0].name, "a span", 6);
    assert_memory_equal(run->mark_names + run->marks[1].name, "x", 1);
    jr_log_free(&log);
    free(built);
}

/* Each damaged mark is left out, and reading goes on behind it. */
static void passes_over_damaged_marks(void **state)
{
    struct built *built = begun();
    struct jp_mark_record *record;
    struct jr_diag diag;
    struct jr_log log;

    (void)state;
    put(built, 1, 1, POINT, "");
    put(built, 2, 1, JP_MARK_KIND_COUNT, "kind");
    put_mark(built, 3, 1, POINT, "n\0l", 3);
    record = (struct jp_mark_record *)(built->data + built->at);
    put(built, 4, 1, POINT, "longer than its record");
    record->length = 200;
    record = (struct jp_mark_record *)(built->data + built->at);
    put(built, 5, 1, POINT, "shorter than its record");
    record->length = 2;
    record = (struct jp_mark_record *)(built->data + built->at);
    memset(record, 0, 16);
    record->head.type = JP_RECORD_MARK;
    record->head.words = 2;
    built->at += 16;
    put(built, 6, 1, POINT, "sound");
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(log.runs[0].nmarks, 1);
    assert_int_equal(log.runs[0].marks[0].time_ns, 6);
    assert_int_equal(log.runs[0].bad_records, 6);
    jr_log_free(&log);
    free(built);
}

static void leaves_out_cleared_marks(void **state)
{
    struct built *built = begun();
    struct jr_diag diag;
    struct jr_log log;

    (void)state;
    ((struct jp_log_header *)built->data)->cleared_ns = 200;
    put(built, 199, 1, POINT, "before");
    put(built, 200, 1, POINT, "after");
    assert_int_equal(parse(built, &log, &diag), 0);
    assert_int_equal(log.runs[0].nmarks, 1);
    assert_int_equal(log.runs[0].marks[0].time_ns, 200);
    jr_log_free(&log);
    free(built);
}

/* The items of the marks that were put, of all time. */
static struct jr_marks made(struct built *built, uint64_t from_ns,
                            uint64_t until_ns, struct jr_inside *inside)
{
    const char *const wanted[] = {"s"};
    struct jr_marks marks = {0};
    struct jr_diag diag;
    struct jr_log log;

    assert_int_equal(parse(built, &log, &diag), 0);
    jr_marks_add(&marks, &log.runs[0],
                 &(struct jr_marks_of){.from_ns = from_ns,
                                       .until_ns = until_ns,
                                       .last_ns = 1000});
    if (inside)
        jr_inside_find(inside, &log.runs[0], wanted, 1, 1000);
    jr_log_free(&log);
    free(built);
    return marks;
}

static void is(const struct jr_marked *item, uint8_t kind, uint64_t from,
               uint64_t until)
{
    assert_int_equal(item->kind, kind);
    assert_int_equal(item->time_ns, from);
    assert_int_equal(item->until_ns, until);
}

/* An end belongs to the last begin of its name and thread, else to the last of
 * its name; they stand in the file in another order than that of time. */
static void matches_begins_and_ends(void **state)
{
    struct built *built = begun();
    struct jr_marks marks;

    (void)state;
    put(built, 40, 1, END, "s"); /* of 30 */
    put(built, 10, 1, BEGIN, "s");
    put(built, 30, 1, BEGIN, "s");
    put(built, 35, 2, BEGIN, "s");
    put(built, 50, 1, END, "s"); /* of 10 */
    put(built, 60, 3, END, "s"); /* of 35: another thread's */
    put(built, 70, 3, END, "s"); /* of none */
    put(built, 80, 1, BEGIN, "open");
    marks = made(built, 0, UINT64_MAX, NULL);
    assert_int_equal(marks.count, 5);
    assert_int_equal(marks.nnames, 2);
    is(&marks.items[0], JR_MARKED_SPAN, 10, 50);
    is(&marks.items[1], JR_MARKED_SPAN, 30, 40);
    is(&marks.items[2], JR_MARKED_SPAN, 35, 60);
    is(&marks.items[3], JR_MARKED_END, 70, 70);
    is(&marks.items[4], JR_MARKED_OPEN, 80, 1000);
    jr_marks_free(&marks);
}

/* A range keeps what is in it in part, and does not open spans. */
static void selects_a_range(void **state)
{
    struct built *built = begun();
    struct jr_marks marks;

    (void)state;
    put(built, 10, 1, BEGIN, "s");
    put(built, 20, 1, END, "s");
    put(built, 20, 1, POINT, "p");
    put(built, 15, 1, BEGIN, "long");
    put(built, 90, 1, END, "long");
    put(built, 50, 1, POINT, "p");
    marks = made(built, 20, 50, NULL);
    assert_int_equal(marks.count, 2);
    is(&marks.items[0], JR_MARKED_SPAN, 15, 90);
    is(&marks.items[1], JR_MARKED_POINT, 20, 20);
    jr_marks_free(&marks);
}

static void knows_what_is_inside(void **state)
{
    struct built *built = begun();
    struct jr_inside inside;
    struct jr_marks marks;

    (void)state;
    put(built, 10, 1, BEGIN, "s");
    put(built, 20, 1, END, "s");
    put(built, 15, 1, BEGIN, "s");
    put(built, 30, 1, END, "s");
    put(built, 40, 1, BEGIN, "s"); /* open */
    put(built, 10, 2, BEGIN, "other");
    marks = made(built, 0, UINT64_MAX, &inside);
    assert_int_equal(inside.count, 2);
    assert_int_equal(jr_inside_has(&inside, 1, 9), 0);
    assert_int_equal(jr_inside_has(&inside, 1, 10), 1);
    assert_int_equal(jr_inside_has(&inside, 1, 29), 1);
    assert_int_equal(jr_inside_has(&inside, 1, 30), 0);
    assert_int_equal(jr_inside_has(&inside, 1, 40), 1);
    assert_int_equal(jr_inside_has(&inside, 1, 5000), 1);
    assert_int_equal(jr_inside_has(&inside, 2, 15), 0);
    jr_inside_free(&inside);
    jr_marks_free(&marks);
}

static void sums_up_by_name(void **state)
{
    struct built *built = begun();
    struct jr_mark_sum *sums;
    struct jr_marks marks;
    size_t count;

    (void)state;
    put(built, 10, 1, POINT, "s");
    put(built, 10, 1, BEGIN, "s");
    put(built, 20, 1, END, "s");
    put(built, 40, 1, BEGIN, "s");
    put(built, 70, 1, END, "s");
    put(built, 0, 1, BEGIN, "t");
    put(built, 100, 1, END, "t");
    marks = made(built, 0, UINT64_MAX, NULL);
    sums = jr_marks_sums(&marks, &count);
    assert_int_equal(count, 3);
    assert_string_equal(marks.names[sums[0].name], "t");
    assert_string_equal(marks.names[sums[1].name], "s");
    assert_int_equal(sums[1].is_span, 1);
    assert_int_equal(sums[1].count, 2);
    assert_int_equal(sums[1].total_ns, 40);
    assert_int_equal(sums[1].longest_ns, 30);
    assert_int_equal(sums[1].first_ns, 40);
    assert_int_equal(sums[2].is_span, 0);
    assert_int_equal(sums[2].count, 1);
    free(sums);
    jr_marks_free(&marks);
}

/* What Firefox 153 wrote for these measures, in nanoseconds: two that overlap,
 * a name with a line break, an end in the future, no name. */
#define MEASURES                                                               \
    "3321618913438 3321917899629 first part\n"                                 \
    "3321918739051 3321978739051 second\n"                                     \
    "3321918739051 3322020739051 two\nlines, \"quoted\" </script> \303\251\n"  \
    "3321938739051 3322008739051 second\n"                                     \
    "3321923739051 3421918739051 later\n"                                      \
    "3321446739051 3322020388623 \n"

#define BEGAN 3321472256420U
#define LAST 3322020739051U

/* The marks of a run that has only a file of markers; returns the warnings. */
static unsigned long measures(struct jr_run *run, struct jr_marks *marks,
                              const char *text, size_t size)
{
    struct jr_diag diag = {.warnings = 1000}; /* printed are the first 20 */
    const struct jr_marks_of of = {.until_ns = UINT64_MAX, .last_ns = LAST};

    *run = (struct jr_run){.header = {.mono_ns = BEGAN, .pid = 7}};
    *marks = (struct jr_marks){0};
    jr_markers_parse((const uint8_t *)text, size, "file", run, &diag);
    jr_marks_add(marks, run, &of);
    return diag.warnings - 1000;
}

static void free_measures(struct jr_run *run, struct jr_marks *marks)
{
    jr_marks_free(marks);
    free(run->marks);
    free(run->mark_names);
}

static void reads_measures(void **state)
{
    struct jr_run run;
    struct jr_marks marks;

    (void)state;
    assert_int_equal(measures(&run, &marks, MEASURES, sizeof MEASURES - 1), 0);
    assert_int_equal(marks.count, 6);
    for (size_t i = 0; i < marks.count; i++) {
        const struct jr_marked *item = &marks.items[i];
        const char *name = marks.names[item->name];

        assert_int_equal(item->tid, 7);
        if (strcmp(name, "later") == 0) {
            is(item, JR_MARKED_OPEN, 3321923739051, LAST);
        } else if (strcmp(name, "(no name)") == 0) {
            is(item, JR_MARKED_SPAN, 3321446739051, 3322020388623);
        } else if (strcmp(name, "second") == 0) {
            assert_int_equal(item->until_ns - item->time_ns,
                             item->time_ns == 3321918739051 ? 60000000
                                                            : 70000000);
        } else if (strcmp(name, "first part") != 0) {
            assert_string_equal(name,
                                "two lines, \"quoted\" </script> \303\251");
        }
    }
    free_measures(&run, &marks);
}

static void passes_over_damaged_measures(void **state)
{
    static const struct {
        const char *text;
        size_t count;
        unsigned long warnings;
    } cases[] = {
        {"", 0, 0},
        {"3321618913438", 0, 1},
        {"no number at all\n3321618913438 3321917899629 a\n", 1, 1},
        {"3321618913438  3321917899629 a\n", 0, 1},
        {"-1 3321917899629 a\n", 0, 1},
        {"3321618913438 18446744073709551616 a\n", 0, 1},
        {"3321618913438 3321917899629\n", 0, 1},
        /* Ends before it begins, or before the run; then what goes on. */
        {"3321917899629 3321618913438 a\nb\n", 0, 0},
        {"1 2 a\n", 0, 0},
        {"3321618913438 18446744073709551615 a\n", 1, 0},
        /* Of the next program of the process. */
        {"3322020739052 3322020739053 a\n", 0, 0},
    };
    const char nul[] = "3321618913438 3321917899629 a\0b\nc\n";
    char whole[] = MEASURES;
    struct jr_run run;
    struct jr_marks marks;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(
            measures(&run, &marks, cases[i].text, strlen(cases[i].text)),
            cases[i].warnings);
        assert_int_equal(marks.count, cases[i].count);
        free_measures(&run, &marks);
    }
    assert_int_equal(measures(&run, &marks, nul, sizeof nul - 1), 1);
    assert_int_equal(marks.count, 0);
    free_measures(&run, &marks);
    for (size_t size = 0; size < sizeof whole; size++) {
        const size_t warnings = measures(&run, &marks, whole, size);

        assert_int_equal(warnings, size > 0 && whole[size - 1] != '\n');
        free_measures(&run, &marks);
    }
}

/* A name has at most 255 bytes, and no half of a character. */
static void cuts_long_names(void **state)
{
    char text[1024] = "3321618913438 3321917899629 x";
    struct jr_run run;
    struct jr_marks marks;

    (void)state;
    for (int i = 0; i < 300; i++)
        strcat(text, i % 2 ? "\303\251" : "\n");
    strcat(text, "\n");
    assert_int_equal(measures(&run, &marks, text, strlen(text)), 0);
    assert_int_equal(marks.count, 1);
    assert_int_equal(strlen(marks.names[0]), 255);
    assert_int_equal(marks.names[0][254], ' ');
    free_measures(&run, &marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_marks),
        cmocka_unit_test(passes_over_damaged_marks),
        cmocka_unit_test(leaves_out_cleared_marks),
        cmocka_unit_test(matches_begins_and_ends),
        cmocka_unit_test(selects_a_range),
        cmocka_unit_test(knows_what_is_inside),
        cmocka_unit_test(sums_up_by_name),
        cmocka_unit_test(reads_measures),
        cmocka_unit_test(passes_over_damaged_measures),
        cmocka_unit_test(cuts_long_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
