/* SPDX-License-Identifier: MIT
 *
 * Copies of modules' call-frame information.  A block is copied from memory
 * when it is first needed, by jp_self_read_sig, so that memory which
 * another thread unmaps meanwhile, or a file that is cut short, is an error
 * and not a fault.  It works for files, deleted files, the vdso and memfds
 * alike.
 * Runs in: handler, any thread. */
#include "cfi_image.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "sig/code/maps.h"
#include "sig/os/own.h"

#define COMPARED 256U /* bytes that tell one file's table from another's */

/* Whether there are copied bytes of a module's .eh_frame_hdr. */
static int has_bytes_sig(const struct jp_cfi_image *image)
{
    return image->size != 0 && image->filled != NULL &&
           atomic_load(&image->filled[image->header / JP_CFI_BLOCK]) != 0;
}

int jp_cfi_same_bytes_sig(const struct jp_cfi_image *image)
{
    uint64_t now[8]; /* a piece: the handler's stack is small */
    const uint64_t block = image->header / JP_CFI_BLOCK;
    uint64_t end = (block + 1) * JP_CFI_BLOCK;
    if (!has_bytes_sig(image))
        return 1;
    if (end > image->header + COMPARED)
        end = image->header + COMPARED;
    if (end > image->size)
        end = image->size;
    for (uint64_t at = image->header; at < end; at += sizeof(now)) {
        const uint64_t size = end - at < sizeof(now) ? end - at : sizeof(now);
        const long got = jp_self_read_sig(image->address + at, now, size);
        /* Where a filter forbids to read memory, the mappings cannot be read
         * again either: the table of ranges is as it was. */
        if (got < 0 && got != -EFAULT && got != -EIO)
            return 1;
        if (got != (long)size || memcmp(now, image->data + at, size) != 0)
            return 0;
    }
    return 1;
}

const uint8_t *jp_cfi_bytes_sig(const struct jp_cfi_image *image,
                                uint64_t offset, uint64_t size)
{
    if (offset > image->size || size > image->size - offset)
        return NULL;
    const uint8_t *bytes = image->data + offset;
    if (image->filled == NULL || size == 0)
        return bytes;
    for (uint64_t block = offset / JP_CFI_BLOCK;
         block <= (offset + size - 1) / JP_CFI_BLOCK; block++) {
        uint64_t at = block * JP_CFI_BLOCK, left = image->size - at;
        if (atomic_load_explicit(&image->filled[block], memory_order_acquire) !=
            0)
            continue;
        if (left > JP_CFI_BLOCK)
            left = JP_CFI_BLOCK;
        /* While libraries are opened or closed, memory may be another's. */
        if ((jp_maps_is_dirty_sig() &&
             !(has_bytes_sig(image) && jp_cfi_same_bytes_sig(image))) ||
            jp_self_read_sig(image->address + at, image->data + at, left) !=
                (long)left)
            return NULL;
        atomic_store_explicit(&image->filled[block], 1, memory_order_release);
    }
    return bytes;
}
