/* SPDX-License-Identifier: MIT
 *
 * The launcher's pure parts: numbers, versions, words of settings, the table
 * of runtimes, names, files of /proc, maps, and arguments as reports show them.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "jp_limits.h"
#include "launcher/base/options.h"
#include "launcher/folder/jit_map.h"
#include "launcher/runtimes/runtimes.h"
#include "launcher/folder/keep.h"
#include "launcher/os/environ.h"
#include "launcher/os/proc.h"
#include "launcher/program/ask.h"
#include "launcher/program/exclude.h"
#include "launcher/program/version.h"
#include "read/names.h"
#include "read/secret.h"

static void test_decimal(void **state)
{
    (void)state;
    assert_int_equal(jl_decimal("250", 3), 250000);
    assert_int_equal(jl_decimal("0.5", 3), 500);
    assert_int_equal(jl_decimal("08.5", 9), 8500000000);
    assert_int_equal(jl_decimal(".004", 9), 4000000);
    assert_int_equal(jl_decimal("1.23456789019", 9), 1234567890);
    assert_int_equal(jl_decimal("", 9), 0);
    assert_int_equal(jl_decimal(".", 9), 0);
    assert_int_equal(jl_decimal("1.2.3", 9), 0);
    assert_int_equal(jl_decimal("-1", 9), 0);
    assert_int_equal(jl_decimal("1e3", 9), 0);
    assert_int_equal(jl_decimal("99999999999999999999999", 9), 0);
    assert_int_equal(jl_decimal("9999999999", 9), 0);
}

static void test_version(void **state)
{
    struct jl_version version;

    (void)state;
    assert_int_equal(jl_version_read("Python 3.13.1\n", "Python ", &version),
                     0);
    assert_int_equal(version.major, 3);
    assert_int_equal(version.minor, 13);
    assert_int_equal(jl_version_read("python3.9", "python", &version), 0);
    assert_int_equal(version.minor, 9);
    assert_int_equal(jl_version_read("python3", "python", &version), -1);
    assert_int_equal(jl_version_read("Python", "Python ", &version), -1);
    assert_int_equal(jl_version_read("", "Python ", &version), -1);
    assert_int_equal(jl_version_read("Python 3.x", "Python ", &version), -1);
}

static void assert_words(const char *old, const char *want)
{
    static const struct jl_setting setting = {
        "X", ' ', {"-XX:+One", "--two words", "--three"}};
    char *words = jl_append_words(old, &setting, 0, JL_WORDS);

    assert_string_equal(words, want);
    free(words);
}

static void test_words(void **state)
{
    (void)state;
    assert_words("", "-XX:+One --two words --three");
    assert_words("--three", "--three -XX:+One --two words");
    /* Switched off, and a relation of it. */
    assert_words("-XX:-One --three-only", "-XX:-One --three-only --two words");
}

/* What the rows promise to the code that reads them. */
/* What is left of Node's request in this version, with this argument and this
 * NODE_OPTIONS. */
static const char *left_of_node(unsigned major, const char *argument,
                                const char *options)
{
    static char left[128];
    const struct jl_runtime *node = jl_runtime_named("node");
    struct jl_setup request = node->dump;
    char *const args[] = {(char *)"a.js", (char *)argument, NULL};
    char *const none[] = {NULL};
    struct jl_env env;

    jl_env_copy(&env, none);
    if (options)
        jl_env_set(&env, "NODE_OPTIONS", options);
    left[0] = '\0';
    if (!jl_exclude(&request, node, (struct jl_version){major, 0}, args, &env))
        for (size_t i = 0; i < JL_WORDS && request.settings[0].words[i]; i++) {
            strcat(left, i ? " " : "");
            strcat(left, request.settings[0].words[i]);
        }
    jl_env_free(&env);
    return left;
}

static void test_exclusions(void **state)
{
    static const char all[] = "--perf-prof --perf-basic-prof "
                              "--interpreted-frames-native-stack",
                      safe[] = "--perf-prof --perf-basic-prof";

    (void)state;
    /* By version alone; one that is not known counts as safe. */
    assert_string_equal(left_of_node(17, NULL, NULL), all);
    assert_string_equal(left_of_node(18, NULL, NULL), safe);
    assert_string_equal(left_of_node(20, NULL, NULL), safe);
    assert_string_equal(left_of_node(21, NULL, NULL), all);
    assert_string_equal(left_of_node(0, NULL, NULL), all);
    /* What the user has set himself is his. */
    assert_string_equal(
        left_of_node(20, NULL, "--interpreted-frames-native-stack"), all);
    /* By a use that options tell of, also in the variable. */
    assert_string_equal(left_of_node(23, "--snapshot-blob=x", NULL), "");
    assert_string_equal(left_of_node(23, "--build_snapshot", NULL), "");
    assert_string_equal(left_of_node(23, NULL, "-r x --snapshot-blob y"), "");
    assert_string_equal(left_of_node(0, "--snapshot-blob", NULL), "");
    assert_string_equal(left_of_node(24, "--snapshot-blob", NULL), all);
    assert_string_equal(left_of_node(23, "x--snapshot-blob", NULL), all);
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < jl_runtimes_count; i++) {
        const struct jl_runtime *row = &jl_runtimes[i];
        const struct jl_setup *asks[] = {&row->map, &row->dump};

        char first[64] = "";

        strncat(first, row->programs, strcspn(row->programs, " "));
        assert_ptr_equal(jl_runtime_named(first), row);
        for (size_t j = 0; j < 2; j++) {
            assert_true(asks[j]->files != 0);
            assert_non_null(asks[j]->settings[0].variable);
            assert_non_null(asks[j]->settings[0].words[0]);
        }
        /* Each has what its refusal is known by, and nothing else. */
        assert_int_equal(row->version.name != NULL,
                         row->refusal == JL_TELLS_VERSION ||
                             jl_excludes_by_version(row));
        assert_int_equal(row->trial[0] != NULL, row->refusal == JL_ENDS);
        assert_int_equal(row->mark != NULL, row->refusal == JL_LACKS_WORD);
        if (row->refusal == JL_TELLS_VERSION || row->refusal == JL_ENDS)
            assert_true(row->map.from.major && row->dump.from.major);
        assert_true(!row->litter || strstr(row->litter, "%P"));
    }
    assert_string_equal(jl_runtime_named("python3.12")->name, "python");
    assert_string_equal(jl_runtime_named("js140")->name, "spidermonkey");
    assert_string_equal(jl_runtime_named("beam.smp")->name, "erlang");
    assert_null(jl_runtime_named("nodelike"));
    assert_null(jl_runtime_named("mypython"));
    assert_null(jl_runtime_named(""));
}

static void test_names(void **state)
{
    (void)state;
    assert_true(jr_is_numbered("jprof-log", JP_LOG_NAME));
    assert_true(jr_is_numbered("jprof-log-12", JP_LOG_NAME));
    assert_true(jr_is_numbered("jprof-log-12-2", JP_LOG_NAME));
    assert_false(jr_is_numbered("jprof-log-", JP_LOG_NAME));
    assert_false(jr_is_numbered("jprof-log-1/2", JP_LOG_NAME));
    assert_false(jr_is_numbered("jprof-log-1.html", JP_LOG_NAME));
    assert_false(jr_is_numbered("jprof-logs", JP_LOG_NAME));
    assert_true(jr_is_kept_name("jprof-log.perf-1.map"));
    assert_true(jr_is_kept_name("jprof-log-2.jit-2.dump"));
    assert_false(jr_is_kept_name("jprof-log"));
    assert_false(jr_is_kept_name("jprof-map.perf-1.map"));
    assert_false(jr_is_kept_name("jprof-log.perf-1/../../x"));
    assert_false(jr_is_kept_name("../jprof-log.perf-1.map"));
}

static void test_status(void **state)
{
    static const char text[] = "Name:\tUid: 5\nUid:\t1\t2\t3\t4\n"
                               "Gid:\t5\t6\t7\t8\nSigCgt:\t8000000004000000\n";
    static const char bad[] = "Uid:\t1\t2\t3\nGid:\t1\t2\t3\t99999999999\n"
                              "SigCgt:\tx\n";
    struct jl_status status;

    (void)state;
    jl_status_read(&status, text, sizeof text - 1);
    assert_true(status.has_uids && status.has_gids && status.has_caught);
    assert_int_equal(status.uids[0], 1);
    assert_int_equal(status.uids[3], 4);
    assert_int_equal(status.gids[1], 6);
    assert_true(status.caught == 0x8000000004000000U);
    jl_status_read(&status, bad, sizeof bad - 1);
    assert_false(status.has_uids || status.has_gids || status.has_caught);
    jl_status_read(&status, text, 0);
    assert_false(status.has_uids);
}

static void test_maps(void **state)
{
    static const char map[] =
        "1 process pid=12 ppid=1 exe=/x\n"
        "2 perfmap path=/tmp/perf-12.map inode=7 size=1\n"
        "3 jitdump path=/a%20b inode=8 saved=../x\n"
        "nonsense\n"
        "4 process pid=13 ppid=1 exe=/x\n"
        "5 perfmap path=/tmp/perf-12.map inode=7 saved=jprof-log.perf-12.map\n"
        "6 perfmap path=/no/inode\n"
        "7 jitdump path=/cut inode=9";
    static const char forged[] = "1 process pid=/../../root/evil\n"
                                 "2 process pid=99999999999\n";
    struct jl_jit_map read;

    (void)state;
    jl_jit_map_read(&read, map, sizeof map - 1);
    assert_int_equal(read.pid, 12);
    assert_int_equal(read.nlines, 3);
    assert_string_equal(read.lines[0].saved, "jprof-log.perf-12.map");
    assert_int_equal(read.lines[0].kind, JL_PERFMAP);
    assert_string_equal(read.lines[1].path, "/a b");
    assert_int_equal(read.lines[2].inode, 9);
    jl_jit_map_free(&read);
    jl_jit_map_read(&read, forged, sizeof forged - 1);
    assert_int_equal(read.pid, 0);
    jl_jit_map_free(&read);
}

static void test_environment(void **state)
{
    char *words[] = {"A=1", "B=", "no sign", "A=2", NULL};
    struct jl_env env;

    (void)state;
    jl_env_copy(&env, words);
    assert_string_equal(jl_env_get(&env, "A"), "1");
    assert_string_equal(jl_env_get(&env, "B"), "");
    assert_null(jl_env_get(&env, "no"));
    jl_env_set(&env, "A", "3");
    assert_int_equal(env.count, 3);
    assert_string_equal(jl_env_get(&env, "A"), "3");
    jl_env_set(&env, "B", NULL);
    assert_null(jl_env_get(&env, "B"));
    assert_string_equal(env.words[0], "no sign");
    assert_null(env.words[env.count]);
    jl_env_free(&env);
}

#define ARGS(text) text, sizeof text

static void assert_args(const char *args, size_t size, const char *want)
{
    char *shown = jr_join_args(args, size);

    assert_string_equal(shown, want);
    free(shown);
}

static void test_secrets(void **state)
{
    (void)state;
    assert_args(ARGS("a\0b c\0\0d\0"), "a b c  d");
    assert_args(ARGS("x\0--password=p\0--Token\0t\0-v\0"),
                "x --password=*** --Token *** -v");
    assert_args(ARGS("x\0--password\0--next\0"), "x --password --next");
    assert_args(ARGS("MYSQL_PASSWD=a=b\0run\0"), "MYSQL_PASSWD=*** run");
    assert_args(ARGS("http://u:p@h/x?y\0http://u@h\0http://h:8/a@b\0"),
                "http://u:***@h/x?y http://u@h http://h:8/a@b");
    assert_args(ARGS("http://u:p@q@h/\0a://h,b://u:p@h,c://u:p@h\0"),
                "http://u:***@h/ a://h,b://u:***@h,c://u:***@h");
    assert_args(ARGS("https://u:p@h/?token=t\0--dsn=host=h;password=p\0"),
                "https://u:***@h/?token=*** --dsn=host=h;password=***");
    assert_args(ARGS("A=1 PGPASSWORD=p psql\0{\"a\":1,\"password\":\"p\"}\0"),
                "A=1 PGPASSWORD=*** {\"a\":1,\"password\":***");
    assert_args(ARGS("a://u:p?token=t@h\0a://u:token=t@h,b://u:p@h;key=k\0"),
                "a://u:***@h a://u:***@h,b://u:***@h;key=k");
    assert_args(ARGS("--password=\0http://u:@h\0"), "--password= http://u:@h");
    assert_args(ARGS("Authorization: Bearer z\0/token/x:y\0"),
                "Authorization:*** /token/x:y");
    assert_args(ARGS("sh\0-c\0cd x; login --password hunter2 -v\0"),
                "sh -c cd x; login --password ***");
    assert_args(ARGS("x\0--token\0-hunter2\0--token\0-v\0"),
                "x --token *** --token -v");
    assert_args(ARGS("--pass=p\0--db-pwd=p\0--auth\0p\0MYSQL_PWD=p\0"),
                "--pass=*** --db-pwd=*** --auth *** MYSQL_PWD=***");
    assert_args(ARGS("--bypass=1\0--compass\0x\0--passes=2\0--author=a\0"),
                "--bypass=1 --compass x --passes=2 --author=a");
    assert_args(ARGS("p://u:hun/ter2@host/0\0p://u@h/a:b@c x@y\0"),
                "p://u:***@host/0 p://u@h/a:b@c x@y");
    assert_args("", 0, "");
    jr_secrets_show();
    assert_args(ARGS("--password=p\0"), "--password=p");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decimal),     cmocka_unit_test(test_version),
        cmocka_unit_test(test_words),       cmocka_unit_test(test_exclusions),
        cmocka_unit_test(test_table),       cmocka_unit_test(test_names),
        cmocka_unit_test(test_status),      cmocka_unit_test(test_maps),
        cmocka_unit_test(test_environment), cmocka_unit_test(test_secrets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
