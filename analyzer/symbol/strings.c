/* SPDX-License-Identifier: MIT
 *
 * Two hash tables, of strings and of frames, over blocks that never move.
 * Runs in: analyzer. */
#include "strings.h"

#include <stdlib.h>
#include <string.h>

#include "../base/mem.h"

#define BLOCK_SIZE 65536
#define FIRST_SLOTS 1024

struct block {
    struct block *next;
    char bytes[];
};

struct slot {
    uint64_t hash;
    void *item;          /* NULL: free */
};

struct table {
    struct slot *slots;
    size_t count, nslots;
};

struct jr_strings {
    struct block *blocks;
    char *free_at;
    size_t free_size;
    struct table texts, frames;
};

struct jr_strings *jr_strings_new(void)
{
    return jr_alloc(1, sizeof(struct jr_strings));
}

void jr_strings_free(struct jr_strings *strings)
{
    struct block *block, *next;

    for (block = strings->blocks; block; block = next) {
        next = block->next;
        free(block);
    }
    free(strings->texts.slots);
    free(strings->frames.slots);
    free(strings);
}

/* Takes `size` bytes, aligned for any type, out of the blocks. */
static void *take(struct jr_strings *strings, size_t size)
{
    char *at;

    size = (size + 15) & ~(size_t)15;
    if (size > strings->free_size) {
        size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        struct block *block = jr_alloc(1, sizeof *block + room + 16);

        block->next = strings->blocks;
        strings->blocks = block;
        strings->free_at =
            (char *)(((uintptr_t)block->bytes + 15) & ~(uintptr_t)15);
        strings->free_size = room;
    }
    at = strings->free_at;
    strings->free_at += size;
    strings->free_size -= size;
    return at;
}

/* Makes sure that one more item fits. */
static void make_room(struct table *table)
{
    struct slot *old = table->slots;
    size_t nold = table->nslots;

    if (table->count + table->count / 3 < nold)
        return;
    table->nslots = nold ? nold * 2 : FIRST_SLOTS;
    table->slots = jr_alloc(table->nslots, sizeof *table->slots);
    for (size_t i = 0; i < nold; i++) {
        size_t at = old[i].hash & (table->nslots - 1);

        if (!old[i].item)
            continue;
        while (table->slots[at].item)
            at = (at + 1) & (table->nslots - 1);
        table->slots[at] = old[i];
    }
    free(old);
}

static uint64_t hash_bytes(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t hash = 0x9e3779b97f4a7c15ULL ^ size;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
    return hash ^ hash >> 32;
}

static char *copy_text(struct jr_strings *strings, const char *text,
                       size_t length)
{
    char *copy = take(strings, length + 1);

    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static const char *add_clean(struct jr_strings *strings, const char *text,
                             size_t length)
{
    struct table *table = &strings->texts;
    uint64_t hash = hash_bytes(text, length);
    size_t at;

    make_room(table);
    at = hash & (table->nslots - 1);
    while (table->slots[at].item) {
        const char *kept = table->slots[at].item;

        if (table->slots[at].hash == hash && strlen(kept) == length &&
            !memcmp(kept, text, length))
            return kept;
        at = (at + 1) & (table->nslots - 1);
    }
    table->slots[at].hash = hash;
    table->slots[at].item = copy_text(strings, text, length);
    table->count++;
    return table->slots[at].item;
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
           one->kind == other->kind && one->is_kind == other->is_kind &&
           one->late == other->late;
}

static uint64_t hash_frame(const struct jr_frame *frame)
{
    uint64_t hash = (uintptr_t)frame->name * 31 + (uintptr_t)frame->module;

    hash = hash * 31 + (uintptr_t)frame->raw;
    hash = hash * 31 + (uintptr_t)frame->file;
    hash += frame->line * 64ULL + frame->late * 32U + frame->kind;
    hash *= 0x9e3779b97f4a7c15ULL;
    return hash ^ hash >> 32;
}

const struct jr_frame *jr_strings_frame_of(struct jr_strings *strings,
                                           const struct jr_frame *frame)
{
    struct table *table = &strings->frames;
    uint64_t hash = hash_frame(frame);
    struct jr_frame *kept;
    size_t at;

    make_room(table);
    at = hash & (table->nslots - 1);
    while ((kept = table->slots[at].item)) {
        if (same_frame(kept, frame))
            return kept;
        at = (at + 1) & (table->nslots - 1);
    }
    kept = take(strings, sizeof *kept);
    *kept = *frame;
    table->slots[at].hash = hash;
    table->slots[at].item = kept;
    table->count++;
    return kept;
}

const struct jr_frame *jr_strings_frame(struct jr_strings *strings,
                                        uint8_t kind, const char *name,
                                        const char *module)
{
    struct jr_frame frame = {.name = name, .module = module, .kind = kind};

    return jr_strings_frame_of(strings, &frame);
}
