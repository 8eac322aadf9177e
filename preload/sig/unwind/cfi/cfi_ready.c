/* SPDX-License-Identifier: MIT
 *
 * Copying call-frame information in advance.  It is not mapped from the file:
 * if somebody cut the file short, the pages would fault, privately mapped ones
 * included, and behind a sandbox no call is left that reads without faulting.
 * Runs in: any thread. */
#include "cfi_ready.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cfi.h"
#include "cfi_module.h"
#include "sig/code/maps.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"

#define READY_MAX (64ULL << 20)
#define MUCH                                                                   \
    (64U << 10) /* bytes; a child that copies so many tells its parent */

/* Memory that a process shares with the children that it forks. */
struct family {
    _Atomic uint32_t asked; /* 1: a child copied much */
};

/* own: shared with this process's children; parents: with its parent.  NULL:
 * there is none. */
static struct family *_Atomic own, *parents;

/* The offset of the .eh_frame's end: behind the last FDE in the table. */
static uint64_t end_sig(const struct jp_cfi_image *image,
                        const struct jp_cfi_table *table)
{
    uint64_t last = table->frames, end = image->size;
    uint32_t length;
    if (!table->is_there)
        return end;
    for (uint64_t i = 0; i < table->count; i++) {
        const uint8_t *pair = jp_cfi_bytes_sig(image, table->pairs + i * 8, 8);
        int32_t distance;
        if (pair == NULL)
            return table->frames;
        memcpy(&distance, pair + 4, sizeof(distance));
        const uint64_t at = image->header + (uint64_t)(int64_t)distance;
        if (at > last && at < end)
            last = at;
    }
    const uint8_t *bytes = jp_cfi_bytes_sig(image, last, sizeof(length));
    if (bytes == NULL)
        return last;
    memcpy(&length, bytes, sizeof(length));
    return length < end - last - sizeof(length) ? last + sizeof(length) + length
                                                : end;
}

/* Copies the information of one module, about `most` bytes at most.  Returns
 * about how many bytes it copied. */
static uint64_t fill_sig(const struct jp_cfi_image *image, uint64_t most)
{
    struct jp_cfi_table table;
    if (jp_cfi_table_sig(image, &table) != 0 || table.frames >= image->size)
        return 0;
    const uint64_t end = end_sig(image, &table);
    uint64_t at = table.frames;
    while (at < end && at - table.frames < most) {
        const uint64_t piece =
            end - at < JP_CFI_BLOCK ? end - at : JP_CFI_BLOCK;
        if (jp_cfi_bytes_sig(image, at, piece) == NULL)
            break;
        at += piece;
    }
    return at - table.frames + table.count * 8;
}

static uint64_t make_ready_sig(void)
{
    struct jp_maps_range range;
    uint64_t done = 0;
    for (uint32_t i = 0; jp_maps_at_sig(i, &range) && done < READY_MAX; i++) {
        struct jp_cfi_module *module;
        const struct jp_cfi_image *image;
        uint64_t pc = range.start;
        if (range.base == 0 || jp_cfi_module_take_sig(&pc, jp_maps_epoch_sig(),
                                                      &module, &image) != 0)
            continue;
        if (jp_cfi_module_keep_sig(module))
            done += fill_sig(image, READY_MAX - done);
        jp_cfi_module_give_sig(module);
    }
    return done;
}

void jp_cfi_copy_all_sig(void)
{
    if (make_ready_sig() >= MUCH && parents != NULL)
        atomic_store(&parents->asked, 1);
}

void jp_cfi_forking_sig(void)
{
    struct family *none = NULL, *family = atomic_load(&own);
    if (family == NULL && atomic_load(&jp_process.running)) {
        family = jp_sys_common_sig(sizeof(*family));
        if (family != NULL &&
            !atomic_compare_exchange_strong(&own, &none, family)) {
            jp_sys_unmap_sig(family, sizeof(*family));
            family = none;
        }
    }
    if (family == NULL || atomic_exchange(&family->asked, 0) == 0)
        return;
    jp_maps_refresh_sig(jp_sys_clock_sig(CLOCK_MONOTONIC));
    make_ready_sig();
}

void jp_cfi_forked_sig(void)
{
    if (parents != NULL)
        jp_sys_unmap_sig(parents, sizeof(*parents));
    parents = atomic_exchange(&own, NULL);
}
