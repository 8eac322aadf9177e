/* SPDX-License-Identifier: MIT
 *
 * Memory, arrays and diagnostics.
 * Runs in: unit tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/diag.h"
#include "base/mem.h"
#include "progress.h"

static void grows_arrays_and_keeps_what_they_hold(void **state)
{
    uint32_t *items = NULL;
    size_t count = 0, room = 0;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        *JR_PUSH(items, count, room) = i * 3;
    assert_int_equal(count, 1000);
    assert_true(room >= 1000);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], i * 3);
    items = jr_grow(items, 5000, &room, sizeof *items);
    assert_true(room > 5000);
    free(items);
}

static void copies_and_formats_text(void **state)
{
    char *text = jr_strndup("profile", 3);
    int *zeroed = jr_alloc(100, sizeof *zeroed);

    (void)state;
    assert_string_equal(text, "pro");
    free(text);
    text = jr_strndup("ab", 100);
    assert_string_equal(text, "ab");
    free(text);
    text = jr_printf("%s-%d", "log", 7);
    assert_string_equal(text, "log-7");
    free(text);
    for (int i = 0; i < 100; i++)
        assert_int_equal(zeroed[i], 0);
    free(zeroed);
}

/* What `act` writes to stderr in a child; *status is how the child ended. */
static void run_child(void (*act)(void), char *text, size_t size, int *status)
{
    int ends[2];
    size_t used = 0;
    ssize_t got;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        act();
        _exit(0);
    }
    close(ends[1]);
    while (used + 1 < size &&
           (got = read(ends[0], text + used, size - used - 1)) > 0)
        used += (size_t)got;
    text[used] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, status, 0), child);
}

static void ask_for_too_much(void)
{
    /* The product is 4 in the bits that there are. */
    free(jr_realloc(NULL, SIZE_MAX / 4 + 2, 4));
}

static void ends_when_memory_is_out(void **state)
{
    char text[1000];
    int status;

    (void)state;
    run_child(ask_for_too_much, text, sizeof text, &status);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), JR_FAILED);
    assert_non_null(strstr(text, "out of memory"));
}

/* ESC, newline, CSI as a character and as a byte, a change of direction, and
 * what is not UTF-8. */
#define HOSTILE "a\x1b[31m\n\xc2\x9b\x9b\xe2\x80\xae\xc3\xff+\xc3\xa4"

/* The same, as a terminal may be shown it. */
#define TAME                                                                   \
    "a?[31m????"                                                               \
    "??+\xc3\xa4"

static void warn_often(void)
{
    struct jr_diag diag = {0};

    jr_warn(&diag, HOSTILE, 0x1f40, "bad %s\x1b[31m", "record");
    jr_warn(&diag, "log", JR_NO_OFFSET, "gone");
    for (int i = 0; i < 28; i++)
        jr_warn(&diag, "log", JR_NO_OFFSET, "again");
    jr_diag_finish(&diag);
    jr_say("%u and %u", diag.warnings, diag.muted);
}

static void says_where_what_and_not_too_often(void **state)
{
    char text[8000];
    int status, lines = 0;

    (void)state;
    run_child(warn_often, text, sizeof text, &status);
    assert_int_equal(status, 0);
    assert_int_equal(strncmp(text,
                             "jprof-report: " TAME
                             ": at 0x1f40: bad record?[31m\n"
                             "jprof-report: log: gone\n",
                             67 + strlen(TAME)),
                     0);
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 20 + 2);
    assert_non_null(strstr(text, "10 more warnings were not shown\n"));
    assert_non_null(strstr(text, "jprof-report: 30 and 10\n"));
}

static void show_progress(void)
{
    struct jr_progress progress = {.what = HOSTILE "log", .wanted = 1};

    jr_progress_show(&progress, 1, 2);
}

/* Nor does a log's name steer the terminal by the line of progress. */
static void shows_progress_without_controls(void **state)
{
    char text[256];
    int status;

    (void)state;
    run_child(show_progress, text, sizeof text, &status);
    assert_string_equal(text, "\r\033[Kjprof-report: " TAME "log: 50%");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_arrays_and_keeps_what_they_hold),
        cmocka_unit_test(copies_and_formats_text),
        cmocka_unit_test(ends_when_memory_is_out),
        cmocka_unit_test(says_where_what_and_not_too_often),
        cmocka_unit_test(shows_progress_without_controls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
