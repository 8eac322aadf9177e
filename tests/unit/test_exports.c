/* SPDX-License-Identifier: MIT
 *
 * What the writers of exports are made of: JSON, protobuf and gzip; and
 * inlined functions in what they write.
 * Runs in: tests. */
#include <zlib.h>

#include "profile_fixture.h"

#include "model/scope.h"
#include "write/export/callgrind_costs.h"
#include "write/export/json_writer.h"
#include "write/export/pprof/proto.h"
#include "write/export/zip.h"

static void test_json(void **state)
{
    char *text = NULL;
    size_t size;
    struct jr_json json = {.out = open_memstream(&text, &size)};

    (void)state;
    jr_json_open(&json, '{');
    jr_json_key_string(&json, "a", "q\"\\\t\x01\xff\xe2\x80\xae\xc3\xa9");
    jr_json_key(&json, "b");
    jr_json_open(&json, '[');
    jr_json_uint(&json, UINT64_MAX);
    jr_json_int(&json, INT64_MIN);
    jr_json_int(&json, 0);
    jr_json_ms(&json, 1234567);
    jr_json_ms(&json, 5000499);
    jr_json_ms(&json, 999999500);
    jr_json_ms(&json, 1000100000);
    jr_json_string(&json, NULL);
    jr_json_open(&json, '{');
    jr_json_close(&json, '}');
    jr_json_close(&json, ']');
    jr_json_key(&json, "c");
    jr_json_lines(&json, "x\ny\t\r\x02");
    jr_json_key_word(&json, "d", "true");
    jr_json_key_uint(&json, "e", 7);
    jr_json_close(&json, '}');
    fclose(json.out);
    assert_string_equal(
        text, "{\"a\":\"q\\\"\\\\ \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
              "\xc3\xa9\",\"b\":[18446744073709551615,"
              "-9223372036854775808,0,1.235,5,1000,1000.1,null,{}],"
              "\"c\":\"x\\ny\\t\\r\xef\xbf\xbd\",\"d\":true,\"e\":7}");
    free(text);
}

static void test_proto(void **state)
{
    static const uint8_t expected[] = {0x0a, 0x12, 0x08, 0xac, 0x02, 0x12, 0x02,
                                       0x05, 0x00, 0x58, 0xff, 0xff, 0xff, 0xff,
                                       0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    struct jr_proto proto = {0}, inner = {0}, outer = {0};

    (void)state;
    jr_proto_uint(&proto, 1, 300);
    jr_proto_uint(&proto, 9, 0);
    jr_proto_varint(&inner, 5);
    jr_proto_varint(&inner, 0);
    jr_proto_message(&proto, 2, &inner);
    assert_int_equal(inner.size, 0);
    jr_proto_uint(&inner, 11, UINT64_MAX);
    jr_proto_append(&proto, &inner);
    jr_proto_message(&outer, 1, &proto);
    assert_int_equal(outer.size, sizeof(expected));
    assert_memory_equal(outer.data, expected, sizeof(expected));
    free(outer.data);
    free(proto.data);
    free(inner.data);
}

static void test_zip(void **state)
{
    static char plain[300000], back[300001];
    char *data = NULL;
    size_t size;
    FILE *out = open_memstream(&data, &size),
         *zip = jr_zip_open(out, JR_ZIPPED_TEXT);
    z_stream stream = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(plain); i++)
        plain[i] = (char)(i * i >> 7 & 0x7f);
    assert_int_equal(fwrite(plain, 1, sizeof(plain), zip), sizeof(plain));
    assert_int_equal(fclose(zip), 0);
    fclose(out);
    assert_memory_equal(data, "\x1f\x8b\x08\0\0\0\0\0", 8);
    stream.next_in = (Bytef *)data;
    stream.avail_in = (uInt)size;
    stream.next_out = (Bytef *)back;
    stream.avail_out = sizeof(back);
    assert_int_equal(inflateInit2(&stream, 31), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.total_out, sizeof(plain));
    assert_int_equal(stream.avail_in, 0);
    assert_memory_equal(back, plain, sizeof(plain));
    inflateEnd(&stream);
    free(data);
}

/* An error of the file behind is its own, and nothing hangs. */
static void test_zip_full(void **state)
{
    FILE *full = fopen("/dev/full", "w"),
         *zip = jr_zip_open(full, JR_ZIPPED_TEXT);

    (void)state;
    setvbuf(full, NULL, _IONBF, 0);
    for (int i = 0; i < 1000000; i++)
        fprintf(zip, "%d", i % 9973 * 7919);
    fclose(zip);
    assert_true(ferror(full));
    fclose(full);
}

/* A field of a message: its number, and where its bytes are. */
struct field {
    unsigned number;
    const uint8_t *data;
    uint64_t value; /* or the size of its bytes */
};

static uint64_t varint(const uint8_t **at)
{
    uint64_t number = 0;

    for (unsigned shift = 0;; shift += 7) {
        number |= (uint64_t)(**at & 127) << shift;
        if (*(*at)++ < 128)
            return number;
    }
}

static int next_field(const uint8_t **at, const uint8_t *end,
                      struct field *field)
{
    uint64_t tag;

    if (*at == end)
        return 0;
    tag = varint(at);
    field->number = (unsigned)(tag >> 3);
    field->value = varint(at);
    field->data = *at;
    if ((tag & 7) == 2)
        *at += field->value;
    return 1;
}

/* How many fields of that number a message has. */
static size_t count_fields(const uint8_t *at, size_t size, unsigned number)
{
    const uint8_t *end = at + size;
    struct field field;
    size_t count = 0;

    while (next_field(&at, end, &field))
        count += field.number == number;
    return count;
}

/* "fc" of the stack abc is made one that was inlined into "fb". */
static void inline_one(struct jr_model *model)
{
    for (size_t i = 1; i < model->nodes.count; i++) {
        struct jr_place *place =
            &model->places.items[model->nodes.items[i].key];

        if (strcmp(model->functions[jr_node_function(model, i)].name, "fc"))
            continue;
        place->inlined = 1;
        place->address =
            model->places
                .items[model->nodes.items[model->nodes.items[i].parent].key]
                .address;
    }
}

static char *write_with(jr_write_fn *write, struct profile *profile,
                        size_t *size)
{
    struct jr_report report = {.model = &profile->model, .app = "app"};
    struct jr_scope_key *parts = jr_parts_list(&profile->model, &report.nparts);
    char *text = NULL;
    FILE *out = open_memstream(&text, size);

    report.parts = parts;
    write(&report, out);
    assert_int_equal(fclose(out), 0);
    free(parts);
    return text;
}

static void take(struct profile *profile)
{
    struct jr_filter filter = everything();

    filter.needs |= JR_NEEDS_PLACES | JR_NEEDS_EVENT_SUMS | JR_NEEDS_REPLAY;
    profile_init(profile);
    profile_sample(profile, "abc", 10, 1000, 1);
    profile_sample(profile, "abd", 12, 500, 2);
    profile_model(profile, "", &filter, NULL);
    inline_one(&profile->model);
}

/* A location has a line for each function at its address. */
static void test_inlined_in_pprof(void **state)
{
    static uint8_t plain[65536];
    const uint8_t *at = plain, *end;
    z_stream stream = {.next_out = plain, .avail_out = sizeof(plain)};
    struct profile profile;
    struct field field;
    size_t size, lines = 0, locations = 0, steps = 0;
    char *data;

    (void)state;
    take(&profile);
    data = write_with(jr_write_pprof, &profile, &size);
    stream.next_in = (Bytef *)data;
    stream.avail_in = (uInt)size;
    assert_int_equal(inflateInit2(&stream, 31), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    end = plain + stream.total_out;
    inflateEnd(&stream);
    while (next_field(&at, end, &field)) {
        const uint8_t *inner = field.data;
        struct field first;

        if (field.number == 4) {
            locations++;
            lines += count_fields(field.data, field.value, 4);
        } else if (field.number == 2) {
            assert_true(next_field(&inner, inner + field.value, &first));
            assert_int_equal(first.number, 1);
            steps += first.value;
        }
    }
    /* fa, fb alone, fc in fb, fd. */
    assert_int_equal(locations, 4);
    assert_int_equal(lines, 5);
    /* abc has two locations, abd three, a byte each. */
    assert_int_equal(steps, 5);
    free(data);
    profile_free(&profile);
}

static void test_inlined_in_text(void **state)
{
    struct profile profile;
    size_t size;
    char *data;

    (void)state;
    take(&profile);
    data = write_with(jr_write_firefox, &profile, &size);
    assert_non_null(strstr(data, "\"inlineDepth\":[1,0,0,0]"));
    free(data);
    data = write_with(jr_write_perf_script, &profile, &size);
    assert_non_null(strstr(data, "fc+0x0 (inlined)\n"));
    free(data);
    profile_free(&profile);
}

static char *firefox_of(struct profile *profile)
{
    struct jr_filter filter = everything();
    size_t size;

    filter.needs |= JR_NEEDS_PLACES | JR_NEEDS_REPLAY;
    profile_model(profile, "", &filter, NULL);
    return write_with(jr_write_firefox, profile, &size);
}

/* Two addresses of one function of JIT code are one frame, which the format
 * cannot tell apart; paths through them are one stack. */
static void test_equal_rows(void **state)
{
    struct profile profile;
    char *data;

    (void)state;
    profile_init(&profile);
    profile_sample(&profile, "ba", 10, 1000, 1);
    profile_sample(&profile, "bA", 12, 1000, 1);
    profile_sample(&profile, "bac", 14, 1000, 1);
    profile_sample(&profile, "ca", 16, 1000, 1);
    data = firefox_of(&profile);
    assert_int_equal(profile.model.places.count, 6);
    assert_non_null(strstr(data, "\"frameTable\":{\"length\":3,"));
    assert_non_null(strstr(data, "\"stackTable\":{\"length\":5,"
                                 "\"frame\":[1,0,2,2,0],"
                                 "\"prefixOffset\":[0,1,1,0,1]}"));
    assert_non_null(strstr(data, "\"stack\":[1,1,2,4]"));
    free(data);
    profile_free(&profile);
}

/* Weights are in hundredths of a period; what that cuts off a sample, the next
 * one of its stack gets. */
static void test_rounded_weights(void **state)
{
    struct profile profile;
    char *data;

    (void)state;
    profile_init(&profile);
    profile.header->period_ns = 1000000;
    for (unsigned i = 0; i < 3; i++) {
        profile_sample(&profile, "a", 1000000 * (2 * i + 1), 1004000, 1);
        profile_sample(&profile, "b", 1000000 * (2 * i + 2), 1000000, 1);
    }
    data = firefox_of(&profile);
    assert_non_null(strstr(data, "\"weight\":[1,1,1.01,1,1,1]"));
    assert_non_null(
        strstr(data, "\"threadCPUDelta\":[1e3,1e3,1010,1e3,1e3,1e3]"));
    free(data);
    profile_free(&profile);
}

/* Collects all costs with so many held at once, in one array; returns how often
 * it went through the stacks. */
static unsigned collect_costs(const struct jr_model *model, size_t most,
                              struct jr_cost *all, size_t *count)
{
    struct jr_costs costs;
    uint64_t rooted = 0;
    unsigned turns = 0;

    jr_costs_open(&costs, model);
    costs.most = most;
    for (*count = 0; jr_costs_next(&costs); turns++) {
        /* It looks after each stack, of four at most; a context alone can have
         * more than a few. */
        assert_true(costs.count < most + 4 || most < 40);
        memcpy(all + *count, costs.items, costs.count * sizeof(*all));
        *count += costs.count;
    }
    for (uint32_t i = 0; i < costs.contexts; i++)
        rooted += costs.roots[i].samples;
    assert_int_equal(rooted, 200);
    jr_costs_close(&costs);
    return turns;
}

/* Whatever is held at once, the same costs come in the same order. */
static void test_costs_in_ranges(void **state)
{
    static struct jr_cost whole[1000], parts[1000];
    struct jr_filter filter = everything();
    struct profile profile;
    size_t count, found;

    (void)state;
    filter.needs |= JR_NEEDS_PLACES | JR_NEEDS_EVENT_SUMS;
    profile_init(&profile);
    for (unsigned i = 0; i < 200; i++) {
        const char word[] = {(char)('a' + i % 2), (char)('c' + i % 11),
                             (char)('n' + i % 7), (char)('c' + i % 13), 0};

        profile_sample(&profile, word, 10 * i + 10, 1000 + i, 1);
    }
    profile_model(&profile, "", &filter, NULL);
    assert_int_equal(collect_costs(&profile.model, 1000, whole, &count), 1);
    assert_true(count > 100);
    for (size_t i = 1; i < count; i++)
        assert_true(whole[i - 1].context <= whole[i].context);
    for (size_t most = 1; most < 100; most = most * 3 / 2 + 1) {
        assert_true(collect_costs(&profile.model, most, parts, &found) > 1);
        assert_int_equal(found, count);
        assert_memory_equal(parts, whole, count * sizeof(*whole));
    }
    profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs_in_ranges),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_proto),
        cmocka_unit_test(test_zip),
        cmocka_unit_test(test_zip_full),
        cmocka_unit_test(test_inlined_in_pprof),
        cmocka_unit_test(test_inlined_in_text),
        cmocka_unit_test(test_equal_rows),
        cmocka_unit_test(test_rounded_weights),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
