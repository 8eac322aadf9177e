/* SPDX-License-Identifier: MIT
 *
 * The storage of chunks: the fallback is used when the first storage has no
 * space, and a chunk goes back to the storage that has it.
 * Runs in: unit tests. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "sig/log/storage.h"
#include "sig/log/storage_area.h"
#include "sig/log/storage_file.h"
#include "sig/log/storage_ring.h"
#include "sig/state/buffer.h"

#define FIRST_AT 4096U
#define SECOND_AT 8192U

static uint8_t common[16384]; /* memory that chunks have in common */
static int first_error, second_error;
static uint64_t given; /* the offset that the second storage got back */

static int take_first(struct jp_buffer *buffer, uint32_t bytes)
{
    atomic_store(&buffer->offset, FIRST_AT);
    buffer->size = bytes;
    buffer->chunk = first_error != 0 ? NULL : common + FIRST_AT;
    return first_error;
}

static int take_second(struct jp_buffer *buffer, uint32_t bytes)
{
    if (second_error != 0)
        return second_error;
    atomic_store(&buffer->offset, SECOND_AT);
    buffer->size = bytes;
    buffer->chunk = common + SECOND_AT;
    return 0;
}

static void give_second(uint64_t offset)
{
    given = offset;
}

static uint8_t *address_second(uint64_t offset, uint32_t size)
{
    (void)size;
    return offset < SECOND_AT ? NULL : common + offset;
}

static const struct jp_storage second = {
    .take_sig = take_second,
    .give_sig = give_second,
    .address_sig = address_second,
};
static const struct jp_storage first = {
    .take_sig = take_first,
    .fallback = &second,
};

static int set_up(void **state)
{
    static struct jp_buffer buffer;
    memset(&buffer, 0, sizeof(buffer));
    memset(&jp_log, 0, sizeof(jp_log));
    jp_log.storage = &first;
    first_error = second_error = 0;
    given = 0;
    *state = &buffer;
    return 0;
}

static void fallback_takes_over(void **state)
{
    struct jp_buffer *buffer = *state;
    assert_int_equal(jp_storage_take_sig(buffer, 4096), 0);
    assert_int_equal(buffer->offset, FIRST_AT);
    first_error = -EACCES;
    assert_int_equal(jp_storage_take_sig(buffer, 4096), 0);
    assert_int_equal(buffer->offset, SECOND_AT);
    /* The first storage's error says why there is no space, and nothing of its
     * attempt stays. */
    second_error = -ENOSPC;
    buffer->chunk = NULL;
    assert_int_equal(jp_storage_take_sig(buffer, 4096), -EACCES);
    assert_null(buffer->chunk);
    assert_int_equal(buffer->offset, 0);
}

/* A buffer's chunk goes back to the fallback if that has it in its memory, even
 * at an offset that the first storage could have; else its mapping ends. */
static void chunk_goes_back_to_its_owner(void **state)
{
    struct jp_buffer *buffer = *state;
    unsigned char resident;
    first_error = -EACCES;
    assert_int_equal(jp_storage_take_sig(buffer, 4096), 0);
    jp_storage_give_sig(buffer);
    assert_int_equal(given, SECOND_AT);
    assert_null(buffer->chunk);
    assert_int_equal(buffer->offset, 0);

    given = 0;
    uint8_t *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(own != MAP_FAILED);
    buffer->chunk = own;
    buffer->size = 4096;
    atomic_store(&buffer->offset, SECOND_AT); /* the same place, mapped twice */
    jp_storage_give_sig(buffer);
    assert_int_equal(given, 0);
    assert_int_equal(mincore(own, 4096, &resident), -1);
    assert_int_equal(errno, ENOMEM);
}

/* A chunk that a sample is being written into stays where it is. */
static void busy_chunk_is_not_evicted(void **state)
{
    struct jp_buffer *buffer = jp_buffer_take_sig(), *taker = *state;
    assert_non_null(buffer);
    first_error = -EACCES;
    assert_int_equal(jp_storage_take_sig(buffer, 4096), 0);
    atomic_store(&buffer->lock, 1);
    assert_int_equal(jp_storage_evict_sig(SECOND_AT, taker), 0);
    assert_non_null(buffer->chunk);
    atomic_store(&buffer->lock, 0);
    assert_int_equal(jp_storage_evict_sig(SECOND_AT, buffer), 1);
    assert_non_null(buffer->chunk);
    assert_int_equal(jp_storage_evict_sig(SECOND_AT, taker), 1);
    assert_null(buffer->chunk);
    assert_int_equal(given, SECOND_AT);
    assert_int_equal(buffer->lock, 0);
    jp_buffer_return_sig(buffer);
}

/* A record larger than any chunk is refused as such, by each kind. */
static void too_large_a_record(void **state)
{
    static const struct jp_storage *const kinds[] = {
        &jp_storage_file, &jp_storage_written, &jp_storage_area,
        &jp_storage_ring, &jp_storage_written_ring};
    struct jp_buffer *buffer = *state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        jp_log.storage = kinds[i];
        assert_int_equal(jp_storage_take_sig(buffer, JP_CHUNK_MAX + 8),
                         -EMSGSIZE);
        assert_null(buffer->chunk);
    }
    assert_int_equal(jp_log.next, 0); /* no bytes of the log are used up */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(fallback_takes_over, set_up),
        cmocka_unit_test_setup(chunk_goes_back_to_its_owner, set_up),
        cmocka_unit_test_setup(busy_chunk_is_not_evicted, set_up),
        cmocka_unit_test_setup(too_large_a_record, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
