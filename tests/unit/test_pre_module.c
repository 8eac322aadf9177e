/* SPDX-License-Identifier: MIT
 *
 * Build-ids in images in memory: among other notes, and in notes that are not
 * well formed.
 * Runs in: unit tests. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sig/code/module.h"

static struct {
    Elf64_Phdr headers[2];
    uint8_t notes[1024];
} image;

/* Appends a note; returns where the next one begins. */
static size_t put(size_t at, uint32_t type, const char *name,
                  uint32_t name_size, uint32_t size)
{
    Elf64_Nhdr header = {
        .n_namesz = name_size, .n_descsz = size, .n_type = type};

    memcpy(image.notes + at, &header, sizeof(header));
    at += sizeof(header);
    memcpy(image.notes + at, name, name_size);
    at += (name_size + 3) & ~3U;
    for (uint32_t i = 0; i < size; i++)
        image.notes[at + i] = (uint8_t)(i + 1);
    return at + ((size + 3) & ~3U);
}

/* The size of the build-id that is found in so many bytes of notes. */
static unsigned found(size_t size, uint8_t *build_id)
{
    memset(image.headers, 0, sizeof(image.headers));
    image.headers[0].p_type = PT_LOAD;
    image.headers[1].p_type = PT_NOTE;
    image.headers[1].p_vaddr = offsetof(__typeof__(image), notes);
    image.headers[1].p_filesz = size;
    return jp_module_build_id_sig((uintptr_t)image.headers, 2,
                                  (uintptr_t)&image, build_id);
}

static void finds_it_behind_others(void **state)
{
    uint8_t build_id[JP_BUILD_ID_MAX] = {0};
    size_t end = put(0, 5, "GNU", 4, 32);

    (void)state;
    end = put(end, 1, "stapsdt", 8, 301);
    end = put(end, NT_GNU_BUILD_ID, "Go\0", 4, 20);
    end = put(end, NT_GNU_BUILD_ID, "GNU", 4, 20);
    assert_int_equal(found(end, build_id), 20);
    assert_int_equal(build_id[0], 1);
    assert_int_equal(build_id[19], 20);
    /* One byte less than it has. */
    assert_int_equal(found(end - 1, build_id), 0);
}

static void takes_no_size_on_trust(void **state)
{
    static const uint32_t sizes[] = {UINT32_MAX, UINT32_MAX - 3, 1 << 20, 900};
    uint8_t build_id[JP_BUILD_ID_MAX];
    size_t end;

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        Elf64_Nhdr header = {.n_type = 1};

        memset(image.notes, 0, sizeof(image.notes));
        put(400, NT_GNU_BUILD_ID, "GNU", 4, 20);
        header.n_namesz = sizes[i];
        memcpy(image.notes, &header, sizeof(header));
        assert_int_equal(found(500, build_id), 0);
        header = (Elf64_Nhdr){.n_descsz = sizes[i], .n_namesz = 4};
        memcpy(image.notes, &header, sizeof(header));
        assert_int_equal(found(500, build_id), 0);
    }
    /* Longer than what is kept; and more notes than are looked at. */
    end = put(0, NT_GNU_BUILD_ID, "GNU", 4, JP_BUILD_ID_MAX + 1);
    assert_int_equal(found(end, build_id), 0);
    end = 0;
    for (int i = 0; i < 20; i++)
        end = put(end, 1, "GNU", 4, 4);
    end = put(end, NT_GNU_BUILD_ID, "GNU", 4, 20);
    assert_int_equal(found(end, build_id), 0);
    /* Notes that end where nothing is mapped: the segment says so many. */
    end = put(0, 1, "GNU", 4, 4);
    assert_int_equal(found(UINT64_MAX, build_id), 0);
    assert_int_equal(found(0, build_id), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_it_behind_others),
        cmocka_unit_test(takes_no_size_on_trust),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
