/* SPDX-License-Identifier: MIT
 *
 * Which samples of real time are written as those of an earlier one's thread
 * and stack.
 * Runs in: unit tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../preload/sig/wall/clock_real.h"
#include "../../preload/sig/log/again.h"
#include "../../preload/sig/state/buffer.h"
#include "../../preload/sig/state/config.h"
#include "../../preload/sig/state/process.h"

#define OPENED 1000U
#define TID 70U
#define REF 9U
#define AT 20U

static struct jp_buffer *buffer;
static struct jp_again_record record;

static int set_up(void **state)
{
    static struct jp_chunk_header chunk = {.opened_ns = OPENED};
    (void)state;
    jp_process.clock = &jp_clock_real;
    jp_config.ring_bytes = 0;
    buffer = calloc(1, sizeof(*buffer));
    if (buffer == NULL)
        return -1;
    buffer->chunk = (uint8_t *)&chunk;
    jp_again_add_sig(buffer, TID, REF, AT);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(buffer);
    return 0;
}

static int fill(uint32_t tid, uint16_t ref, uint64_t time_ns,
                uint64_t weight_ns)
{
    const struct jp_sample sample = {time_ns, weight_ns, tid, 0, 0};
    memset(&record, 0, sizeof(record));
    return jp_again_fill_sig(buffer, &sample, ref, &record);
}

static void test_fits(void **state)
{
    (void)state;
    assert_true(fill(TID, REF, OPENED + JP_AGAIN_MAX, 6ULL << 32 | 5));
    assert_int_equal(record.sample, AT);
    assert_int_equal(record.time_high, 0xff);
    assert_int_equal(record.time, UINT32_MAX);
    assert_int_equal(record.weight_high, 6);
    assert_int_equal(record.weight, 5);
    assert_true(fill(TID, REF, OPENED, 0));
}

static void test_does_not_fit(void **state)
{
    (void)state;
    assert_false(fill(TID + 1, REF, OPENED, 1));
    assert_false(fill(TID, REF + 1, OPENED, 1));
    assert_false(fill(TID, REF, OPENED - 1, 1));
    assert_false(fill(TID, REF, OPENED + JP_AGAIN_MAX + 1, 1));
    assert_false(fill(TID, REF, OPENED, JP_AGAIN_MAX + 1));
    /* Another thread's sample has taken its place. */
    jp_again_add_sig(buffer, TID + JP_BUFFER_SAMPLES, REF, AT + 3);
    assert_false(fill(TID, REF, OPENED, 1));
    assert_true(fill(TID + JP_BUFFER_SAMPLES, REF, OPENED, 1));
    jp_again_reset_sig(buffer);
    assert_false(fill(TID + JP_BUFFER_SAMPLES, REF, OPENED, 1));
}

static void test_no_ring(void **state)
{
    (void)state;
    jp_config.ring_bytes = 1 << 20;
    assert_false(fill(TID, REF, OPENED, 1));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_fits),
        TEST(test_does_not_fit),
        TEST(test_no_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
