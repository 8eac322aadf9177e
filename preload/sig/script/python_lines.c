/* SPDX-License-Identifier: MIT
 *
 * Reading CPython's tables of lines: of 3.8 and 3.9 (Objects/lnotab_notes.txt),
 * 3.10 (the same file there) and 3.11 on (Objects/locations.md).
 * Runs in: handler. */
#include "python_lines.h"

#include <stddef.h>
#include <stdint.h>

#include "scratch.h"
#include "sig/os/text.h"

#define ENTRY_MOST 32U /* bytes of one entry that are looked at */
#define ITEM_MOST 24U  /* bytes of text that a range may take */

/* Bytecode of one line. */
struct range {
    uint32_t bytes;
    int32_t delta; /* lines after those of the last range with a line */
    int none;      /* it has no line */
};

/* Reads an entry of 3.8 and 3.9, in which the line changes behind the bytes. */
static uint32_t old_sig(const uint8_t *at, int32_t *delta, struct range *range)
{
    if (at[0] != 0) {
        *range = (struct range){at[0], *delta, 0};
        *delta = 0;
    }
    *delta += (int8_t)at[1];
    return 2;
}

/* Reads an entry of 3.10. */
static uint32_t pair_sig(const uint8_t *at, int32_t *delta, struct range *range)
{
    const int none = at[1] == 0x80;
    if (!none)
        *delta += (int8_t)at[1];
    if (at[0] == 0)
        return 2;
    *range = (struct range){at[0], none ? 0 : *delta, none};
    if (!none)
        *delta = 0;
    return 2;
}

/* Reads an entry of 3.11 and later, of `size` bytes at most. */
static uint32_t location_sig(const uint8_t *at, uint32_t size,
                             struct range *range)
{
    const unsigned kind = at[0] >> 3 & 15;
    uint32_t used = 1, value = 0;
    *range = (struct range){((at[0] & 7U) + 1) * 2, 0, kind == 15};
    if (kind == 13 || kind == 14) {
        for (unsigned shift = 0; used < size && shift < 30; shift += 6) {
            const uint8_t byte = at[used++];
            value |= (byte & 63U) << shift;
            if ((byte & 64) == 0)
                break;
        }
        range->delta =
            (value & 1) != 0 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
    } else if (kind >= 10 && kind <= 12) {
        range->delta = (int32_t)kind - 10;
    }
    /* An entry's first byte alone has its upper bit. */
    while (used < size && (at[used] & 0x80) == 0)
        used++;
    return used;
}

static void put_sig(struct jp_text *text, const struct range *range)
{
    if (range->bytes == 0)
        return;
    if (text->length != 0)
        jp_text_char_sig(text, ',');
    jp_text_decimal_sig(text, range->bytes);
    if (range->none) {
        jp_text_char_sig(text, '?');
        return;
    }
    jp_text_char_sig(text, range->delta < 0 ? '-' : '+');
    jp_text_decimal_sig(
        text,
        (uint64_t)(range->delta < 0 ? -(int64_t)range->delta : range->delta));
}

/* Adds a range to the one before it if that has the same line. */
static void add_sig(struct jp_text *text, struct range *last,
                    const struct range *range)
{
    if (range->bytes == 0)
        return;
    if (last->bytes != 0 && last->none == range->none && range->delta == 0) {
        last->bytes += range->bytes;
        return;
    }
    put_sig(text, last);
    *last = *range;
}

static uint32_t entry_sig(const uint8_t *at, uint32_t size, unsigned minor,
                          int32_t *delta, struct range *range)
{
    *range = (struct range){0};
    if (minor >= 11)
        return location_sig(at, size, range);
    if (size < 2)
        return size;
    return minor == 10 ? pair_sig(at, delta, range) : old_sig(at, delta, range);
}

void jp_python_lines_sig(struct jp_script *script, unsigned minor)
{
    struct jp_script_fresh *fresh = &script->fresh;
    struct range last = {0}, range;
    struct jp_text text;
    jp_text_init_sig(&text, fresh->lines, sizeof(fresh->lines));
    while (fresh->unread != 0 && text.length + 2 * ITEM_MOST < text.size) {
        const uint32_t size =
            fresh->unread < JP_SCRIPT_COPY ? fresh->unread : JP_SCRIPT_COPY;
        const uint8_t *bytes = jp_script_bytes_sig(script, fresh->table, size);
        uint32_t at = 0;
        if (bytes == NULL) {
            fresh->unread = 0;
            break;
        }
        while (at < size && (size == fresh->unread || size - at > ENTRY_MOST) &&
               text.length + 2 * ITEM_MOST < text.size) {
            at +=
                entry_sig(bytes + at, size - at, minor, &fresh->delta, &range);
            add_sig(&text, &last, &range);
        }
        fresh->table += at;
        fresh->unread -= at;
    }
    if (fresh->unread == 0 && minor < 10) {
        range = (struct range){1, fresh->delta, 0};
        add_sig(&text, &last, &range);
    }
    put_sig(&text, &last);
}
