/* SPDX-License-Identifier: MIT
 *
 * The HTML report: well-formed, every link resolves, names are data, nothing
 * from outside, long lists cut with a word.
 * Runs in: tests. */
#include "profile_fixture.h"

#include "write/report.h"

static char *write_html(struct profile *profile)
{
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);
    struct jr_report report = {.model = &profile->model, .app = "app"};
    struct jr_scope_key *parts = jr_parts_list(&profile->model, &report.nparts);

    report.parts = parts;
    jr_write_html(&report, out);
    fclose(out);
    free(parts);
    return got;
}

/* How often `needle` is in `text`. */
static size_t times(const char *text, const char *needle)
{
    size_t count = 0;

    for (const char *at = text; (at = strstr(at, needle)); at++)
        count++;
    return count;
}

/* Every href="#X" has one id="X"; returns how many links there are. */
static size_t assert_links(const char *text)
{
    size_t count = 0;

    for (const char *at = text; (at = strstr(at, "href=\"")); count++) {
        const char *end;
        char id[64];

        at += strlen("href=\"");
        end = strchr(at, '"');
        assert_true(*at == '#' && end - at < 50);
        snprintf(id, sizeof(id), "id=\"%.*s\"", (int)(end - at - 1), at + 1);
        if (times(text, id) != 1)
            fail_msg("%s is there %zu times", id, times(text, id));
    }
    return count;
}

/* Tags open and close in order; void elements aside. */
static void assert_nested(const char *text)
{
    char stack[64][16];
    size_t depth = 0;

    for (const char *at = text; (at = strchr(at, '<')); at++) {
        int closing = at[1] == '/';
        const char *name = at + 1 + closing;
        char tag[16];

        snprintf(tag, sizeof(tag), "%.*s",
                 (int)strspn(name, "abcdefghijklmnopqrstuvwxyz123456"), name);
        if (tag[0] == '\0' || strcmp(tag, "meta") == 0)
            continue; /* <!DOCTYPE */
        if (!closing) {
            assert_true(depth < 64);
            strcpy(stack[depth++], tag);
            if (strcmp(tag, "script") == 0 || strcmp(tag, "style") == 0)
                at = strstr(at, "</") - 1;
        } else {
            assert_true(depth > 0);
            assert_string_equal(stack[--depth], tag);
        }
    }
    assert_int_equal(depth, 0);
}

static void test_page(void **state)
{
    static const char *const names[] = {"</script><i>", "a&b", "c\"'\xff"};
    struct jr_filter filter = everything();
    struct profile profile;
    char *got;

    (void)state;
    profile_init(&profile);
    profile_sample(&profile, "abc", 10, 3000, 1);
    profile_sample(&profile, "abb", 11, 1000, 2);
    profile_sample(&profile, "z.", 12, 1000, 2);
    profile_model(&profile, "", &filter, names);
    got = write_html(&profile);
    assert_nested(got);
    assert_true(assert_links(got) > 12);
    assert_int_equal(times(got, "<title>Jprof Profile Report</title>"), 1);
    assert_int_equal(times(got, "Total hit count: 5"), 1);
    assert_int_equal(times(got, ">hierarchical</a>"), 1);
    assert_true(times(got, "&lt;/script&gt;&lt;i&gt;") > 0);
    assert_int_equal(times(got, "</script>"), 1);
    assert_int_equal(times(got, "a&b"), 0);
    assert_true(times(got, "c&quot;&#39;\xef\xbf\xbd") > 0);
    assert_int_equal(times(got, " (self)"), 2);
    assert_true(times(got, "class=\"k u\"") > 0);
    assert_true(times(got, "class=\"k j\"") > 0);
    assert_int_equal(times(got, "://"), 0);
    free(got);
    profile_free(&profile);
}

static void test_threads(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    char *got;

    (void)state;
    filter.by_thread = 1;
    profile_init(&profile);
    profile_sample(&profile, "ab", 10, 3000, 1);
    profile_sample(&profile, "ac", 11, 1000, 2);
    profile_model(&profile, "5 thread tid=2 name=<b>\n", &filter, NULL);
    got = write_html(&profile);
    assert_nested(got);
    assert_links(got);
    assert_int_equal(times(got, "<h2>Threads</h2>"), 1);
    assert_int_equal(times(got, "Thread 2 &lt;b&gt;"), 2);
    assert_int_equal(times(got, "Total hit count: 4"), 1);
    assert_int_equal(times(got, "Count 3, 75.0% of all; 1 sample<"), 1);
    assert_int_equal(times(got, "Count 1, 25.0% of all; 1 sample<"), 1);
    assert_int_equal(times(got, "class=\"hier\""), 1);
    free(got);
    profile_free(&profile);
}

static void test_nothing(void **state)
{
    struct jr_filter filter = {.start = 3, .end = 4};
    struct profile profile;
    char *got;

    (void)state;
    profile_init(&profile);
    profile_sample(&profile, "ab", 10, 3000, 1);
    profile_model(&profile, "", &filter, NULL);
    got = write_html(&profile);
    assert_nested(got);
    assert_links(got);
    assert_int_equal(times(got, "No samples to show."), 1);
    free(got);
    profile_free(&profile);
}

/* One function that calls 60 others. */
static void test_long_list(void **state)
{
    struct jr_filter filter = everything();
    struct profile profile;
    struct jr_frame frames[60];
    char names[60][8];
    char *got;

    (void)state;
    profile_init(&profile);
    profile_sample(&profile, "a", 10, 1000, 1);
    profile_model(&profile, "", &filter, NULL);
    profile.model.nleaves = 0;
    for (size_t i = 0; i < 60; i++) {
        uint32_t tier;

        snprintf(names[i], sizeof(names[i]), "n%zu", i);
        frames[i] = (struct jr_frame){.name = names[i], .module = ""};
        tier = jr_tree_tier(&profile.model, &frames[i]);
        *JR_PUSH(profile.model.leaves, profile.model.nleaves,
                 profile.model.leaves_room) = (struct jr_leaf){
            .node = jr_tree_child(&profile.model,
                                  jr_tree_child(&profile.model, 0, 0), tier),
            .weight_ns = 1000 * (100 - i)};
    }
    jr_tree_mark_first(&profile.model);
    profile.model.buckets[0].first_leaf = 0;
    profile.model.buckets[0].nleaves = profile.model.nleaves;
    got = write_html(&profile);
    assert_nested(got);
    assert_links(got);
    assert_int_equal(times(got, "10 more callees, at most 50 each"), 1);
    assert_int_equal(times(got, "<b>455</b>"), 1);
    assert_int_equal(times(got, "<article"), 61);
    free(got);
    profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_long_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
