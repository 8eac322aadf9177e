/* SPDX-License-Identifier: MIT
 *
 * A copy of a module's call-frame information, which is made block by block.
 * Runs in: handler, any thread. */
#ifndef JP_CFI_IMAGE_H
#define JP_CFI_IMAGE_H

#include <stdatomic.h>
#include <stdint.h>

/* A copy of the segment of a module that contains its call-frame
 * information. */
struct jp_cfi_image {
    uint64_t address;        /* of the segment in memory */
    uint64_t size;           /* bytes */
    uint64_t header;         /* offset of the .eh_frame_hdr in it */
    uint8_t *data;           /* the copy */
    _Atomic uint8_t *filled; /* per JP_CFI_BLOCK bytes, whether they have
                                  been copied; NULL: all of them */
};

#define JP_CFI_BLOCK 16384U

/* The bytes [offset, offset + size) of an image, copied if they have not been
 * copied yet.  They stay as long as the module is held.  NULL when they are
 * outside of the image, or cannot be read just now. */
const uint8_t *jp_cfi_bytes_sig(const struct jp_cfi_image *image,
                                uint64_t offset, uint64_t size);

/* Whether memory still has the first bytes that were copied of a module's
 * .eh_frame_hdr, if any were: the table begins there, and is different in each
 * file. */
int jp_cfi_same_bytes_sig(const struct jp_cfi_image *image);

#endif
