/* SPDX-License-Identifier: MIT
 *
 * The command line of jprof-report, the names of maps and of outputs.
 * Runs in: tests. */
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

#include "base/mem.h"
#include "load.h"
#include "mapname.h"
#include "match.h"
#include "options_parse.h"
#include "output.h"

/* Parses a command line given as words between blanks. */
static int parse(const char *line, struct jr_options *options)
{
    static char text[512];
    static char *argv[32];
    int argc = 0;

    snprintf(text, sizeof(text), "jprof-report %s", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return jr_options_parse(argc, argv, options);
}

static void test_defaults(void **state)
{
    struct jr_options options;

    (void)state;
    assert_int_equal(parse("./app jprof-log", &options), 0);
    assert_string_equal(options.app, "./app");
    assert_int_equal(options.nlogs, 1);
    assert_string_equal(options.logs[0], "jprof-log");
    assert_string_equal(options.format, "html");
    assert_int_equal(options.filter.start, 0);
    assert_int_equal(options.filter.end, UINT64_MAX);
    assert_int_equal(options.filter.depth, 0);
    assert_false(options.filter.last || options.filter.by_thread ||
                 options.merge || options.verbose);
    assert_int_equal(options.filter.tiers, JR_TIERS_MERGE);
    jr_options_free(&options);
}

static void test_tiers(void **state)
{
    static const char *const words[] = {"merge", "split", "raw"};
    struct jr_options options;
    char line[64];

    (void)state;
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof(line), "--jit-tiers=%s app log", words[i]);
        assert_int_equal(parse(line, &options), 0);
        assert_int_equal(options.filter.tiers, i);
        jr_options_free(&options);
        snprintf(line, sizeof(line), "--jit-tiers=%sx app log", words[i]);
        assert_int_equal(parse(line, &options), -1);
        jr_options_free(&options);
    }
}

static void test_annotate(void **state)
{
    struct jr_options options;

    (void)state;
    assert_int_equal(parse("--annotate=f --annotate g app log", &options), 0);
    assert_int_equal(options.nannotate, 2);
    assert_string_equal(options.annotate[1], "g");
    assert_string_equal(options.format, "annotate");
    jr_options_free(&options);
    assert_int_equal(parse("--format=html --annotate=f app log", &options), 0);
    assert_string_equal(options.format, "html");
    jr_options_free(&options);
    assert_int_equal(parse("--format=text --annotate=f app log", &options), -1);
    jr_options_free(&options);
    assert_int_equal(parse("--format=annotate app log", &options), -1);
    jr_options_free(&options);
}

static void test_every_option(void **state)
{
    struct jr_options options;

    (void)state;
    assert_int_equal(parse("-vt -e one -etwo app -i x -s7 --start 2 --end=5 "
                           "--format=text --output-dir out a b",
                           &options),
                     0);
    assert_true(options.verbose && options.filter.by_thread);
    assert_int_equal(options.filter.nexclude, 2);
    assert_string_equal(options.filter.exclude[1], "two");
    assert_string_equal(options.filter.include[0], "x");
    assert_int_equal(options.filter.depth, 7);
    assert_int_equal(options.filter.start, 2);
    assert_int_equal(options.filter.end, 5);
    assert_string_equal(options.format, "text");
    assert_string_equal(options.output_dir, "out");
    assert_int_equal(options.nlogs, 2);
    jr_options_free(&options);
    assert_int_equal(
        parse("--only-thread 12 --last --merge -o f app a b", &options), 0);
    assert_true(options.filter.by_thread && options.filter.last);
    assert_int_equal(options.filter.tid, 12);
    assert_string_equal(options.output, "f");
    jr_options_free(&options);
    assert_int_equal(parse("--cleo -s 1 -- -app -log", &options), 0);
    assert_string_equal(options.format, "cleo");
    assert_string_equal(options.app, "-app");
    assert_int_equal(options.filter.depth, 2);
    jr_options_free(&options);
    assert_int_equal(parse("--start 3 --last --all app log", &options), 0);
    assert_int_equal(options.filter.end, UINT64_MAX);
    assert_int_equal(options.filter.start, 0);
    assert_false(options.filter.last);
    jr_options_free(&options);
}

static void assert_time(const char *value, uint64_t ns)
{
    struct jr_options options;
    char *line = jr_printf("app log --from=%s --to=18446744073", value);

    assert_int_equal(parse(line, &options), 0);
    assert_int_equal(options.filter.from_ns, ns);
    assert_int_equal(options.filter.to_ns, 18446744073000000000U);
    assert_true(options.filter.has_to);
    jr_options_free(&options);
    free(line);
}

static void test_selection(void **state)
{
    struct jr_options options;

    (void)state;
    assert_time("0", 0);
    assert_time("12", 12000000000);
    assert_time("12.", 12000000000);
    assert_time(".5", 500000000);
    assert_time("1.000000001", 1000000001);
    assert_time("0.1234567899", 123456789);
    assert_int_equal(parse("app log", &options), 0);
    assert_int_equal(options.limit, 0);
    assert_false(options.filter.has_to);
    assert_int_equal(options.filter.nprocess, 0);
    jr_options_free(&options);
    assert_int_equal(
        parse("--limit 7 --process 12 --process=x app log", &options), 0);
    assert_int_equal(options.limit, 7);
    assert_int_equal(options.filter.nprocess, 2);
    assert_string_equal(options.filter.process[1], "x");
    jr_options_free(&options);
    assert_int_equal(parse("--limit=none app log", &options), 0);
    assert_true(options.limit == JR_NO_LIMIT);
    jr_options_free(&options);
}

static void test_usage(void **state)
{
    static const char *const wrong[] = {
        "",
        "app",
        "--nothing app log",
        "-z app log",
        "-vz app log",
        "app log -s",
        "app log --start",
        "app log --start x",
        "app log --start 1x",
        "app log --start -1",
        "app log --start= 1",
        "app log --end 0",
        "app log --start 3 --end 3",
        "app log --start 99999999999999999999",
        "app log --only-thread 0",
        "app log --only-thread 4294967296",
        "app log --last --start 1",
        "app log --merge=1",
        "app a b -o f",
        "app a -o f --output-dir d",
        "app a --merge --output-dir d",
        "app log --threads=2",
        "app log --limit=0",
        "app log --limit=all",
        "app log --from=",
        "app log --from=.",
        "app log --from=-1",
        "app log --from=1.5s",
        "app log --from=1e3",
        "app log --from=1,5",
        "app log --from=18446744073.8",
        "app log --to=0",
        "app log --from=2 --to=1.999999999",
    };
    struct jr_options options;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (parse(wrong[i], &options) != -1)
            fail_msg("accepted: %s", wrong[i]);
        jr_options_free(&options);
    }
    assert_int_equal(parse("--help", &options), 0);
    assert_true(options.help);
    jr_options_free(&options);
    assert_int_equal(parse("--version -s 3", &options), 0);
    assert_true(options.version);
    jr_options_free(&options);
}

static void touch(const char *folder, const char *name)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static void assert_map(const char *folder, const char *log,
                       const char *map_name, const char *expected)
{
    char path[256], wanted[256];
    char *found;

    snprintf(path, sizeof(path), "%s/%s", folder, log);
    snprintf(wanted, sizeof(wanted), "%s/%s", folder, expected ? expected : "");
    found = jr_map_path(path, map_name);
    if (expected == NULL)
        assert_null(found);
    else
        assert_string_equal(found ? found : "(none)", wanted);
    free(found);
}

static void test_map_names(void **state)
{
    static const char *const names[] = {"jprof-map",      "jprof-map-12",
                                        "jprof-map-12-2", "x-map",
                                        "other",          "x-map-9"};
    char folder[] = "/tmp/jprof-unit-XXXXXX";
    char path[256];

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        touch(folder, names[i]);
    assert_map(folder, "jprof-log", "other", "other");
    assert_map(folder, "jprof-log", "gone", "jprof-map");
    assert_map(folder, "jprof-log", "", "jprof-map");
    assert_map(folder, "jprof-log", "..", "jprof-map");
    assert_map(folder, "jprof-log", "./jprof-map-12", "jprof-map");
    assert_map(folder, "jprof-log-12", "gone", "jprof-map-12");
    assert_map(folder, "jprof-log-12-2", "gone", "jprof-map-12-2");
    assert_map(folder, "x", "gone", "x-map");
    assert_map(folder, "x-9", "gone", "x-map-9");
    assert_map(folder, "y.log", "/etc/passwd", NULL);
    assert_map(folder, "-3", "", NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void assert_output(const char *log, const char *dir,
                          const char *expected)
{
    char *name = jr_output_name(log, dir, ".html");

    assert_string_equal(name, expected);
    free(name);
}

static void test_output_names(void **state)
{
    (void)state;
    assert_output("d/jprof-log", NULL, "d/jprof-log.html");
    assert_output("d/jprof-log", "out", "out/jprof-log.html");
    assert_output("jprof-log", "out/", "out/jprof-log.html");
}

static void test_same_program(void **state)
{
    (void)state;
    assert_true(jr_same_program("app", "/elsewhere/app"));
    assert_true(jr_same_program("./app", "/x/app"));
    assert_false(jr_same_program("app", "/x/apps"));
    assert_true(jr_same_program("/proc/self/cwd", "."));
    assert_false(jr_same_program("/bin/sh", "/proc/self/maps"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_every_option),
        cmocka_unit_test(test_tiers),
        cmocka_unit_test(test_annotate),
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_map_names),
        cmocka_unit_test(test_output_names),
        cmocka_unit_test(test_same_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
