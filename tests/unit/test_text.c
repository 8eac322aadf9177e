/* SPDX-License-Identifier: MIT
 *
 * Escaping, and the line formats: text, collapsed, summary, cleo.
 * Runs in: tests. */
#include "profile_fixture.h"

#include "formats.h"
#include "model/scope.h"
#include "write/escape.h"
#include "write/facts.h"
#include "write/report.h"

typedef void put_fn(FILE *out, const char *text);

static void assert_put(put_fn *put, const char *text, const char *expected)
{
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);

    put(out, text);
    fclose(out);
    assert_string_equal(got, expected);
    free(got);
}

static void test_escapes(void **state)
{
    (void)state;
    assert_put(jr_put_html, "a<b> & \"c\" 'd'",
               "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
    assert_put(jr_put_html, "</script>", "&lt;/script&gt;");
    assert_put(jr_put_text, "a;b <c>\td", "a;b <c> d");
    assert_put(jr_put_text, "a\nb\x1b[2J",
               "a\xef\xbf\xbd"
               "b\xef\xbf\xbd[2J");
    assert_put(jr_put_collapsed, "a;b\nc d", "a:b c d");
}

#define BAD "\xef\xbf\xbd"

static void test_utf8(void **state)
{
    (void)state;
    assert_put(jr_put_text, "\xe6\x97\xa5\xf0\x9f\x98\x80\xc3\xb6",
               "\xe6\x97\xa5\xf0\x9f\x98\x80\xc3\xb6");
    assert_put(jr_put_text, "\xc3", BAD); /* cut */
    assert_put(jr_put_text, "\xe6\x97", BAD BAD);
    assert_put(jr_put_text, "\x80x\xff", BAD "x" BAD);
    assert_put(jr_put_text, "\xc0\xaf", BAD BAD); /* overlong */
    assert_put(jr_put_text, "\xe0\x80\xaf", BAD BAD BAD);
    assert_put(jr_put_text, "\xed\xa0\x80", BAD);     /* surrogate */
    assert_put(jr_put_text, "\xf4\x90\x80\x80", BAD); /* past the last */
    assert_put(jr_put_text, "\xe2\x80\xae", BAD);     /* turns direction */
    assert_put(jr_put_html, "\xc2\x85<", BAD "&lt;"); /* C1 control */
}

/* The report of the profile in a format; the caller frees it. */
static char *write_report(struct profile *profile, const char *format)
{
    char *note = jr_strdup("one note\nin two lines");
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);
    struct jr_report report = {
        .model = &profile->model, .app = "app", .notes = &note, .nnotes = 1};
    struct jr_scope_key *parts = jr_parts_list(&profile->model, &report.nparts);

    report.parts = parts;
    jr_format_find(format)->write(&report, out);
    fclose(out);
    free(parts);
    free(note);
    return got;
}

/* Stacks that each weigh less than a period add up. */
/* `reason`: why the first stack ends. */
static void fill(struct profile *profile, uint8_t reason)
{
    profile_init(profile);
    profile->reason = reason;
    profile_sample(profile, "ab", 10, 400, 1);
    profile->reason = JP_REASON_ROOT;
    profile_sample(profile, "ac", 11, 400, 1);
    profile_sample(profile, "ad", 12, 400, 2);
    profile_sample(profile, "abe", 13, 1800, 2);
}

static void assert_format(const char *format, int by_thread,
                          const char *expected)
{
    struct jr_filter filter = everything();
    struct profile profile;
    char *got;

    filter.by_thread = (uint8_t)by_thread;
    fill(&profile, JP_REASON_ROOT);
    profile_model(&profile, "5 thread tid=2 name=w;x\n", &filter, NULL);
    got = write_report(&profile, format);
    assert_string_equal(got, expected);
    free(got);
    profile_free(&profile);
}

static void test_collapsed(void **state)
{
    (void)state;
    assert_format("collapsed", 0, "fa;fc 1\nfa;fb;fe 2\n");
    assert_format("collapsed", 1,
                  "Thread 2 w:x;fa;fb;fe 2\nThread 1;fa;fc 1\n");
}

static void test_cleo(void **state)
{
    (void)state;
    assert_format("cleo", 0,
                  "m-Start\ns-fa\nc-fc\n"
                  "s-fa\nc-fb\nc-fe\ns-fa\nc-fb\nc-fe\n");
}

static void assert_line(const char *text, const char *line)
{
    size_t length = strlen(line);

    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, line, length) == 0 &&
            (at[length] == '\n' || at[length] == '\0'))
            return;
        if (*at == '\0')
            break;
    }
    fail_msg("no line \"%s\" in:\n%s", line, text);
}

static void test_summary(void **state)
{
    static const char *const lines[] = {
        "program: app",
        "samples: 4",
        "weight: 3",
        "cpu_s: 0.000003",
        "lost: 0",
        "truncated: 0",
        "incomplete: 1",
        "incomplete_bad_fp: 1",
        "frames: 9",
        "unnamed_frames: 0",
        "jit_frames: 9",
        "jit_named: 9",
        "clock: thread-cpu",
        "stack: fp",
        "rate_asked_hz: 1000000.000",
        "rate_got_hz: 1000000.000",
        "processes: 1",
        "threads: 2",
        "sections: 2",
        "notes: 1",
        "note: one note" BAD "in two lines",
        "process: pid=7 samples=4 weight=3 exe=/x/app",
    };
    struct jr_filter filter = everything();
    struct profile profile;
    char *got;

    (void)state;
    fill(&profile, JP_REASON_BAD_FP);
    profile_model(&profile, "2 section n=0 cpu=0\n12 section n=1 cpu=1\n",
                  &filter, NULL);
    got = write_report(&profile, "summary");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_line(got, lines[i]);
    free(got);
    profile_free(&profile);
}

static void test_text(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    char *got;

    (void)state;
    fill(&profile, JP_REASON_ROOT);
    profile_model(&profile, "", &filter, NULL);
    got = write_report(&profile, "text");
    assert_line(got, "Jprof Profile Report");
    assert_line(got, "Total hit count: 3");
    assert_line(got, "Count (self)  %Total  Function Name");
    assert_line(got, "           2   60.0%  fe  ([jit])");
    assert_line(got, "   [0]       0 (  0.0%)       3 (100.0%)  fa  ([jit])");
    assert_line(got, "                               2 ( 73.3%)    fb  "
                     "([jit])");
    free(got);
    profile_free(&profile);
}

static void assert_module(const char *name, const char *module, uint8_t kind,
                          const char *shown)
{
    struct jr_function function = {
        .name = name, .module = module, .kind = kind};

    assert_string_equal(jr_shown_module(&function), shown);
}

/* Only where the name says it all is the module left out. */
static void test_modules(void **state)
{
    (void)state;
    assert_module("app_main", "app", JR_FRAME_NATIVE, "app");
    assert_module("main", "app", JR_FRAME_NATIVE, "app");
    assert_module("app", "app", JR_FRAME_NATIVE, "");
    assert_module("app+0x1000", "app", JR_FRAME_UNNAMED, "");
    assert_module("[jit]", "[jit]", JR_FRAME_JIT_UNNAMED, "");
    assert_module("[jit]x", "[jit]", JR_FRAME_JIT, "[jit]");
    assert_module("[unknown]", "", JR_FRAME_UNKNOWN, "");
}

static void test_formats(void **state)
{
    (void)state;
    assert_null(jr_format_find("pdf"));
    assert_string_equal(jr_format_find("html")->extension, ".html");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escapes),   cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_collapsed), cmocka_unit_test(test_cleo),
        cmocka_unit_test(test_summary),   cmocka_unit_test(test_text),
        cmocka_unit_test(test_modules),   cmocka_unit_test(test_formats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
