/* SPDX-License-Identifier: MIT
 *
 * The entries of an .eh_frame section (Linux Standard Base Core 5.0, 10.6 and
 * 10.7).  Functions that return -EAGAIN could not read some bytes just now, and
 * may be called again later.
 * Runs in: handler, any thread. */
#ifndef JP_CFI_H
#define JP_CFI_H

#include <stdint.h>

#include "cfi_image.h"

/* An FDE with what its CIE says: a function's code and its description. */
struct jp_cfi_fde {
    uint64_t begin, end;            /* code addresses */
    uint64_t initial, initial_size; /* the CIE's instructions: image offset */
    uint64_t program, program_size; /* the FDE's */
    uint64_t code_factor;
    int64_t data_factor;
    uint8_t encoding;  /* of code addresses */
    uint8_t is_signal; /* 'S': the frame of a signal */
};

/* What an .eh_frame_hdr says, as offsets in the image. */
struct jp_cfi_table {
    uint64_t frames;       /* the .eh_frame */
    uint64_t pairs, count; /* the table, if it is there: two distances of
                                  4 bytes from the header, of code and FDE */
    int is_there;
};

/* Reads the .eh_frame_hdr.  Returns 0, -ENOENT when there is none, -EAGAIN, or
 * -EINVAL when it is damaged. */
int jp_cfi_table_sig(const struct jp_cfi_image *image,
                     struct jp_cfi_table *table);

/* Finds the FDE around pc.  Returns 0, -ENOENT when there is none, -EAGAIN, or
 * -EINVAL when the information is damaged. */
int jp_cfi_find_sig(const struct jp_cfi_image *image, uint64_t pc,
                    struct jp_cfi_fde *fde);

#endif
