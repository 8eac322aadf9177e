/* SPDX-License-Identifier: MIT
 *
 * Finding and reading the entries of .eh_frame (FDE and CIE) that describe the
 * code at a pc.
 * Runs in: handler, any thread. */
#include "cfi.h"

#include <errno.h>

#include "cursor.h"
#include "sig/arch/arch.h"

#define ENTRY_MAX (256U * 1024U) /* bytes of a CIE or FDE */
#define SCAN_MAX 100000U         /* entries looked at without a table */
#define STRING_MAX 8U            /* bytes of an augmentation */

/* Pointer encodings (cursor.h). */
#define PE_OMIT 0xffU
#define PE_INDIRECT 0x80U
#define PE_TABLE 0x3bU /* datarel, signed, 4 bytes */

/* One entry of .eh_frame, whose length and id have been read. */
struct entry {
    struct jp_cursor cursor; /* behind the id */
    const uint8_t *start;    /* the id's first byte */
    uint64_t offset;         /* of the id, in the image */
    uint64_t next;           /* of the entry that follows */
    uint32_t id;             /* 0: a CIE */
};

/* The offset in the image of an entry's cursor. */
static uint64_t place_sig(const struct entry *entry)
{
    return entry->offset + (uint64_t)(entry->cursor.at - entry->start);
}

/* Reads the entry at an offset.  Returns 0, -ENOENT at the section's end,
 * -EAGAIN or -EINVAL. */
static int read_entry_sig(const struct jp_cfi_image *image, uint64_t offset,
                          struct entry *entry)
{
    uint32_t length;
    const uint8_t *bytes = jp_cfi_bytes_sig(image, offset, 4);
    if (bytes == NULL)
        return offset + 4 > image->size ? -EINVAL : -EAGAIN;
    memcpy(&length, bytes, 4);
    if (length == 0)
        return -ENOENT;
    /* 64-bit entries (length ffffffff) are made for no section under 4 GiB. */
    if (length < 4 || length > ENTRY_MAX || length > image->size - (offset + 4))
        return -EINVAL;
    bytes = jp_cfi_bytes_sig(image, offset + 4, length);
    if (bytes == NULL)
        return -EAGAIN;
    entry->cursor = (struct jp_cursor){bytes, bytes + length, 0};
    entry->start = bytes;
    entry->offset = offset + 4;
    entry->next = offset + 4 + length;
    entry->id = (uint32_t)jp_cursor_fixed_sig(&entry->cursor, 4);
    return 0;
}

/* Reads a CIE's augmentation data; the letters behind 'z' say what it holds.
 * Returns 0 or -EINVAL. */
static int read_augmentation_sig(const char *letters, struct entry *cie,
                                 struct jp_cfi_fde *fde)
{
    struct jp_cursor *c = &cie->cursor;
    uint64_t size = jp_cursor_uleb_sig(c);
    if (c->bad || size > (uint64_t)(c->end - c->at))
        return -EINVAL;
    const uint8_t *end = c->at + size;
    for (unsigned i = 1; i < STRING_MAX && letters[i] != '\0'; i++) {
        uint8_t encoding;
        if (letters[i] == 'S') {
            fde->is_signal = 1;
        } else if (letters[i] == 'R') {
            fde->encoding = (uint8_t)jp_cursor_fixed_sig(c, 1);
        } else if (letters[i] == 'L') {
            jp_cursor_skip_sig(c, 1);
        } else if (letters[i] == 'P') {
            /* The personality routine, which is skipped. */
            encoding = (uint8_t)jp_cursor_fixed_sig(c, 1) & 0x0f;
            jp_cursor_encoded_sig(c, encoding, 0, 0);
        } else if (letters[i] != 'B' && letters[i] != 'G') {
            break;
        }
    }
    if (c->bad || c->at > end)
        return -EINVAL;
    c->at = end;
    return 0;
}

/* Reads the CIE at an offset into *fde; *augmented: its FDEs have augmentation
 * data.  Returns 0, -EAGAIN or -EINVAL. */
static int read_cie_sig(const struct jp_cfi_image *image, uint64_t offset,
                        struct jp_cfi_fde *fde, int *augmented)
{
    struct entry cie;
    char letters[STRING_MAX] = "";
    int error = read_entry_sig(image, offset, &cie);
    if (error != 0)
        return error == -EAGAIN ? error : -EINVAL;
    struct jp_cursor *c = &cie.cursor;
    uint64_t version = jp_cursor_fixed_sig(c, 1);
    if (cie.id != 0 || (version != 1 && version != 3 && version != 4))
        return -EINVAL;
    for (unsigned i = 0;; i++) {
        char letter = (char)jp_cursor_fixed_sig(c, 1);
        if (c->bad || i >= STRING_MAX)
            return -EINVAL;
        letters[i] = letter;
        if (letter == '\0')
            break;
    }
    if (version == 4 && jp_cursor_fixed_sig(c, 2) != 8)
        return -EINVAL; /* address size 8, no segments */
    fde->code_factor = jp_cursor_uleb_sig(c);
    fde->data_factor = jp_cursor_sleb_sig(c);
    uint64_t column =
        version == 1 ? jp_cursor_fixed_sig(c, 1) : jp_cursor_uleb_sig(c);
    if (c->bad || column != JP_ARCH_RA || fde->code_factor > 65536 ||
        fde->data_factor < -65536 || fde->data_factor > 65536)
        return -EINVAL;
    fde->encoding = 0;
    fde->is_signal = 0;
    *augmented = letters[0] == 'z';
    if (*augmented)
        error = read_augmentation_sig(letters, &cie, fde);
    else if (letters[0] != '\0')
        error = -EINVAL;
    fde->initial = place_sig(&cie);
    fde->initial_size = (uint64_t)(c->end - c->at);
    return error;
}

/* Reads the FDE at an offset.  *next is where the following entry begins.
 * Returns 0, -ENOENT at the end of the section, 1 when it is a CIE, -EAGAIN or
 * -EINVAL. */
static int read_fde_sig(const struct jp_cfi_image *image, uint64_t offset,
                        struct jp_cfi_fde *fde, uint64_t *next)
{
    struct entry entry;
    int augmented;
    int error = read_entry_sig(image, offset, &entry);
    if (error != 0)
        return error;
    *next = entry.next;
    if (entry.id == 0)
        return 1;
    if (entry.id > entry.offset)
        return -EINVAL;
    error = read_cie_sig(image, entry.offset - entry.id, fde, &augmented);
    if (error != 0)
        return error;
    struct jp_cursor *c = &entry.cursor;
    if ((fde->encoding & PE_INDIRECT) != 0)
        return -EINVAL;
    fde->begin = jp_cursor_encoded_sig(c, fde->encoding,
                                       image->address + place_sig(&entry),
                                       image->address + image->header);
    /* The size has the same format and counts from nothing. */
    fde->end =
        fde->begin + jp_cursor_encoded_sig(c, fde->encoding & 0x0f, 0, 0);
    if (augmented)
        jp_cursor_skip_sig(c, jp_cursor_uleb_sig(c));
    if (c->bad || fde->end < fde->begin)
        return -EINVAL;
    fde->program = place_sig(&entry);
    fde->program_size = (uint64_t)(c->end - c->at);
    return 0;
}

/* Looks for the FDE around pc entry by entry, where there is no table. */
static int scan_sig(const struct jp_cfi_image *image, uint64_t offset,
                    uint64_t pc, struct jp_cfi_fde *fde)
{
    for (unsigned i = 0; i < SCAN_MAX; i++) {
        uint64_t next = 0;
        int result = read_fde_sig(image, offset, fde, &next);
        if (result < 0 && (result != -EINVAL || next == 0))
            return result;
        if (result == 0 && pc >= fde->begin && pc < fde->end)
            return 0;
        offset = next;
    }
    return -ENOENT;
}

/* Looks pc up in the table of .eh_frame_hdr, which has pairs of 4-byte
 * distances from the header: of a function's code, and of its FDE.  Sets
 * *offset to the FDE's offset in the image.  Returns 0, -ENOENT or -EAGAIN. */
static int search_sig(const struct jp_cfi_image *image, uint64_t table,
                      uint64_t count, uint64_t pc, uint64_t *offset)
{
    const uint64_t header = image->address + image->header;
    uint64_t low = 0, high = count;
    int32_t pair[2];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const uint8_t *bytes =
            jp_cfi_bytes_sig(image, table + middle * 8, sizeof(pair));
        if (bytes == NULL)
            return -EAGAIN;
        memcpy(pair, bytes, sizeof(pair));
        if (header + (uint64_t)(int64_t)pair[0] > pc) {
            high = middle;
        } else {
            low = middle + 1;
            *offset = image->header + (uint64_t)(int64_t)pair[1];
        }
    }
    return low == 0 ? -ENOENT : 0;
}

/* .eh_frame_hdr: version, three encodings, the section's address, the number
 * of pairs, the pairs. */
int jp_cfi_table_sig(const struct jp_cfi_image *image,
                     struct jp_cfi_table *table)
{
    const uint64_t header = image->address + image->header;
    if (image->header >= image->size)
        return -ENOENT;
    uint64_t size = image->size - image->header;
    const uint8_t *bytes =
        jp_cfi_bytes_sig(image, image->header, size < 24 ? size : 24);
    if (bytes == NULL)
        return -EAGAIN;
    struct jp_cursor c = {bytes, bytes + (size < 24 ? size : 24), 0};
    uint64_t version = jp_cursor_fixed_sig(&c, 1);
    uint8_t section = (uint8_t)jp_cursor_fixed_sig(&c, 1);
    uint8_t number = (uint8_t)jp_cursor_fixed_sig(&c, 1);
    uint8_t pairs = (uint8_t)jp_cursor_fixed_sig(&c, 1);
    uint64_t frames = jp_cursor_encoded_sig(&c, section, header + 4, header);
    if (c.bad || version != 1 || (section & PE_INDIRECT) != 0)
        return -EINVAL;
    table->frames = frames - image->address;
    table->count = 0;
    table->is_there = number != PE_OMIT && pairs == PE_TABLE;
    if (!table->is_there)
        return 0;
    table->count = jp_cursor_encoded_sig(
        &c, number, header + (uint64_t)(c.at - bytes), header);
    table->pairs = image->header + (uint64_t)(c.at - bytes);
    return c.bad || table->count > (image->size - table->pairs) / 8 ? -EINVAL
                                                                    : 0;
}

/* Finds where the FDE around pc is (*offset; *listed is 1), or, where there is
 * no table, where the section of all of them begins.  (Not inlined: the
 * handler's stack is deepest in read_fde_sig.)  Returns 0 or as
 * jp_cfi_find_sig. */
__attribute__((noinline)) static int
locate_sig(const struct jp_cfi_image *image, uint64_t pc, uint64_t *offset,
           int *listed)
{
    struct jp_cfi_table table;
    int error = jp_cfi_table_sig(image, &table);
    if (error != 0)
        return error;
    *listed = table.is_there;
    *offset = table.frames;
    return table.is_there
               ? search_sig(image, table.pairs, table.count, pc, offset)
               : 0;
}

int jp_cfi_find_sig(const struct jp_cfi_image *image, uint64_t pc,
                    struct jp_cfi_fde *fde)
{
    uint64_t offset = 0, next;
    int listed = 0;
    int error = locate_sig(image, pc, &offset, &listed);
    if (error == 0 && !listed)
        return scan_sig(image, offset, pc, fde);
    if (error == 0)
        error = read_fde_sig(image, offset, fde, &next);
    if (error != 0)
        return error == 1 ? -EINVAL : error;
    return pc >= fde->begin && pc < fde->end ? 0 : -ENOENT;
}
