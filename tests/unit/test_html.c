/* SPDX-License-Identifier: MIT
 *
 * The HTML report: well-formed, every link resolves, names are data, nothing
 * from outside, long lists cut with a word.
 * Runs in: tests. */
#include "copies_fixture.h"

#include "model/scope.h"
#include "model/tree.h"
#include "write/html/html.h"

static char *write_limited(struct profile *profile, uint64_t limit)
{
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);
    struct jr_report report = {
        .model = &profile->model, .app = "app", .limit = limit};
    struct jr_scope_key *parts = jr_parts_list(&profile->model, &report.nparts);

    report.parts = parts;
    jr_write_html(&report, out);
    fclose(out);
    free(parts);
    return got;
}

static char *write_html(struct profile *profile)
{
    return write_limited(profile, 0);
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
    assert_int_equal(times(got, " (self)</span></p>"), 2);
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

/* Several processes, of two programs: all the links of each lead to the total,
 * and what a part leaves out stands in a line; without a limit each part is
 * whole. */
static void test_processes(void **state)
{
    struct jr_filter filter = everything();
    struct copies copies;
    char *got;

    (void)state;
    profile_init(&copies.one);
    profile_sample(&copies.one, "abc", 10, 3000, 1);
    profile_sample(&copies.one, "abd", 11, 2000, 1);
    profile_sample(&copies.one, "ab", 12, 1000, 1);
    copies_make(&copies, "", 3);
    strcpy(copies.runs[1].header.exe, "/x/<sh>");
    copies_model(&copies, &filter);
    got = write_limited(&copies.one, 1);
    assert_nested(got);
    assert_true(assert_links(got) > 12);
    assert_int_equal(times(got, "class=\"hier\""), 1);
    assert_int_equal(times(got, "class=\"short\""), 3);
    assert_int_equal(times(got, "<li class=\"g\">"), 1);
    assert_int_equal(times(got, "<span>app: 2 processes</span>"), 1);
    assert_int_equal(times(got, ">&lt;sh&gt; (pid 101)</a>"), 1);
    assert_int_equal(times(got, "<td>3</td><td style=\"--w:0.5000\">"
                                "<i>50.0%</i></td><td>2 more functions<"),
                     3);
    assert_int_equal(times(got, "#f0-2\">fc</a>"), 6);
    free(got);
    got = write_limited(&copies.one, JR_NO_LIMIT);
    assert_nested(got);
    assert_links(got);
    assert_int_equal(times(got, "class=\"hier\""), 4);
    assert_int_equal(times(got, "more functions"), 0);
    free(got);
    profile_free(&copies.one);
}

static void test_nothing(void **state)
{
    struct jr_filter filter = {
        .start = 3, .end = 4, .needs = everything().needs};
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
    struct jr_paths *nodes = &profile.model.nodes;
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
            .node = jr_paths_child(nodes, jr_paths_child(nodes, 0, 0), tier),
            .weight_ns = 1000 * (100 - i)};
    }
    free(profile.model.first);
    free(profile.model.node_arcs);
    jr_tree_finish(&profile.model);
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

/* One function that calls 6,000 others, of which ten weigh something. */
static void fill_many(struct profile *profile, char names[][8], size_t count)
{
    struct jr_filter filter = everything();
    struct jr_model *model = &profile->model;
    uint32_t root;

    profile_init(profile);
    profile_sample(profile, "a", 10, 1000, 1);
    profile_model(profile, "", &filter, NULL);
    root = jr_paths_child(&model->nodes, 0, 0);
    model->nleaves = 0;
    model->total.weight_ns = 0;
    for (size_t i = 0; i < count; i++) {
        struct jr_frame frame = {.name = names[i], .module = ""};
        uint64_t weight = i % 600 == 7 ? 1000000 : 40;

        snprintf(names[i], sizeof(names[i]), "n%zu", i);
        *JR_PUSH(model->leaves, model->nleaves, model->leaves_room) =
            (struct jr_leaf){.node =
                                 jr_paths_child(&model->nodes, root,
                                                jr_tree_tier(model, &frame)),
                             .weight_ns = weight};
        model->total.weight_ns += weight;
    }
    free(model->first);
    free(model->node_arcs);
    jr_tree_finish(model);
    model->buckets[0].first_leaf = 0;
    model->buckets[0].nleaves = model->nleaves;
}

static void test_many(void **state)
{
    static char names[6000][8];
    struct profile profile;
    char *got;

    (void)state;
    fill_many(&profile, names, 6000);
    got = write_html(&profile);
    assert_nested(got);
    assert_links(got);
    assert_int_equal(times(got, "<article"), 11);
    assert_int_equal(times(got, "<td>240</td><td style=\"--w:0.0234\">"
                                "<i>2.3%</i></td><td>5990 more functions<"),
                     1);
    assert_int_equal(times(got, ">5990 more functions, at most 0 Hits each; "
                                "Count 240, 2.3%<"),
                     1);
    assert_int_equal(times(got, "<span>5990 more callees, at most 0 each<"), 1);
    free(got);
    got = write_limited(&profile, JR_NO_LIMIT);
    assert_int_equal(times(got, "<article"), 6001);
    assert_int_equal(times(got, "more functions"), 0);
    free(got);
    profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page),      cmocka_unit_test(test_threads),
        cmocka_unit_test(test_nothing),   cmocka_unit_test(test_long_list),
        cmocka_unit_test(test_processes), cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
