/* SPDX-License-Identifier: MIT
 *
 * Keeps one copy of each string and of each frame, in blocks that never move.
 * Runs in: analyzer. */
#include "strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "demangle.h"

#define BLOCK_SIZE 65536U
#define UNIT 8U /* bytes; every item begins at a multiple of it */
#define UNITS (BLOCK_SIZE / UNIT)
#define BLOCKS_MAX (UINT32_MAX / UNITS)

struct jr_strings {
    char **blocks; /* of BLOCK_SIZE, or of one item that is larger */
    size_t nblocks, blocks_room;
    size_t used;                   /* units of the last block */
    struct jr_index texts, frames; /* items: block * UNITS + unit */
};

struct jr_strings *jr_strings_new(void)
{
    struct jr_strings *strings = jr_alloc(1, sizeof *strings);

    strings->used = UNITS;
    return strings;
}

void jr_strings_free(struct jr_strings *strings)
{
    for (size_t i = 0; i < strings->nblocks; i++)
        free(strings->blocks[i]);
    free(strings->blocks);
    jr_index_free(&strings->texts);
    jr_index_free(&strings->frames);
    free(strings);
}

static void *item_of(const struct jr_strings *strings, uint32_t item)
{
    return strings->blocks[item / UNITS] + item % UNITS * UNIT;
}

/* Takes `size` bytes, aligned for any type, out of the blocks. */
static uint32_t take(struct jr_strings *strings, size_t size)
{
    size_t units = (size + UNIT - 1) / UNIT, at = strings->used;

    if (units > UNITS - at) {
        at = 0;
        if (strings->nblocks == BLOCKS_MAX)
            jr_no_memory();
        *JR_PUSH(strings->blocks, strings->nblocks, strings->blocks_room) =
            jr_realloc(NULL, units < UNITS ? UNITS : units, UNIT);
    }
    strings->used = units < UNITS - at ? at + units : UNITS;
    return (uint32_t)((strings->nblocks - 1) * UNITS + at);
}

static uint32_t hash_bytes(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t hash = 0x9e3779b97f4a7c15ULL ^ size;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
    return (uint32_t)(hash ^ hash >> 32);
}

/* Copies text[0..length) into the blocks and adds the final NUL. */
static uint32_t copy_text(struct jr_strings *strings, const char *text,
                          size_t length)
{
    uint32_t item = take(strings, length + 1);
    char *copy = item_of(strings, item);

    memcpy(copy, text, length);
    copy[length] = '\0';
    return item;
}

static const char *add_clean(struct jr_strings *strings, const char *text,
                             size_t length)
{
    uint32_t hash = hash_bytes(text, length), item;
    size_t at = hash;

    while ((item = jr_index_next(&strings->texts, hash, &at)) != JR_NO_ITEM) {
        const char *kept = item_of(strings, item);

        if (strlen(kept) == length && !memcmp(kept, text, length))
            return kept;
    }
    item = copy_text(strings, text, length);
    jr_index_add(&strings->texts, hash, item);
    return item_of(strings, item);
}

const char *jr_strings_add(struct jr_strings *strings, const char *text,
                           size_t length)
{
    const char *kept;
    char *clean;

    if (!memchr(text, '\0', length))
        return add_clean(strings, text, length);
    clean = jr_alloc(length, 1);
    for (size_t i = 0; i < length; i++)
        clean[i] = (char)(text[i] ? text[i] : '?');
    kept = add_clean(strings, clean, length);
    free(clean);
    return kept;
}

static int same_frame(const struct jr_frame *one, const struct jr_frame *other)
{
    return one->name == other->name && one->raw == other->raw &&
           one->module == other->module && one->tier == other->tier &&
           one->file == other->file && one->line == other->line &&
           one->column == other->column &&
           one->first_line == other->first_line &&
           one->inlined == other->inlined && one->kind == other->kind &&
           one->is_kind == other->is_kind && one->late == other->late;
}

static uint32_t hash_frame(const struct jr_frame *frame)
{
    uint64_t hash = (uintptr_t)frame->name * 31 + (uintptr_t)frame->module;

    hash = hash * 31 + (uintptr_t)frame->raw;
    hash = hash * 31 + (uintptr_t)frame->file;
    hash = hash * 31 + frame->column;
    hash += frame->line * 64ULL + frame->late * 32U + frame->inlined * 16U +
            frame->kind;
    hash *= 0x9e3779b97f4a7c15ULL;
    return (uint32_t)(hash >> 32);
}

const struct jr_frame *jr_strings_frame_of(struct jr_strings *strings,
                                           const struct jr_frame *frame)
{
    struct jr_index *index = &strings->frames;
    uint32_t hash = hash_frame(frame), item;
    struct jr_frame *kept;
    size_t at = hash;

    while ((item = jr_index_next(index, hash, &at)) != JR_NO_ITEM) {
        kept = item_of(strings, item);
        if (same_frame(kept, frame))
            return kept;
    }
    item = take(strings, sizeof(*kept));
    jr_index_add(index, hash, item);
    kept = item_of(strings, item);
    *kept = *frame;
    kept->number = (uint32_t)index->used;
    return kept;
}

const struct jr_frame *jr_strings_frame(struct jr_strings *strings,
                                        uint8_t kind, const char *name,
                                        const char *module)
{
    struct jr_frame frame = {.name = name, .module = module, .kind = kind};

    return jr_strings_frame_of(strings, &frame);
}

const char *jr_strings_part(struct jr_strings *strings, const char *symbol,
                            size_t length)
{
    const size_t at = jr_symbol_part(symbol, length);

    return at == length
               ? NULL
               : jr_strings_add(strings, symbol + at + 1, length - at - 1);
}
