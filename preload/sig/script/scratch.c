/* SPDX-License-Identifier: MIT
 *
 * Reading the program's memory, and collecting frames.
 * Runs in: handler. */
#include "scratch.h"

#include <string.h>

#include "sig/code/module.h"
#include "sig/os/sys.h"

#define FRAME_COPIES 16U /* copies that reading one frame makes at most */

/* No address below this one, and none in the upper half, is the program's. */
#define LOWEST 4096U

static int is_possible_sig(uint64_t address)
{
    return address >= LOWEST && JP_SCRIPT_ADDRESS(address) == address;
}

/* The slot of a copy of so many bytes in the table, or the free one where it
 * belongs: there are more slots than copies. */
static uint16_t *slot_sig(struct jp_script *script, uint64_t address,
                          uint32_t size)
{
    uint32_t at = (uint32_t)(address >> 3 ^ address >> 12);
    for (;; at++) {
        uint16_t *slot = &script->slots[at % JP_SCRIPT_SLOTS];
        if (*slot == 0)
            return slot;
        const struct jp_script_copy *copy = &script->copies[*slot - 1];
        if (copy->address == address && copy->size >= size)
            return slot;
    }
}

const uint64_t *jp_script_block_sig(struct jp_script *script, uint64_t address,
                                    uint32_t size)
{
    if (!is_possible_sig(address) || address % 8 != 0)
        return NULL;
    if (script->direct)
        return (const uint64_t *)address;
    uint16_t *slot = slot_sig(script, address, size);
    if (*slot != 0)
        return script->copies[*slot - 1].words;
    struct jp_script_copy *copy = &script->copies[script->copied];
    if (script->copied == JP_SCRIPT_COPIES || size > sizeof(copy->words) ||
        jp_module_read_sig(address, copy->words, size) != (long)size)
        return NULL;
    copy->address = address;
    copy->size = size;
    *slot = (uint16_t)++script->copied;
    return copy->words;
}

void jp_script_make_room_sig(struct jp_script *script)
{
    if (script->direct || script->copied + FRAME_COPIES <= JP_SCRIPT_COPIES)
        return;
    script->copied = 0;
    memset(script->slots, 0, sizeof(script->slots));
}

void jp_script_refresh_sig(struct jp_script *script)
{
    const uint32_t most = JP_SCRIPT_COPIES / 2;
    const uint32_t count = script->copied < most ? script->copied : most;
    for (uint32_t i = 0; i < count; i++) {
        struct jp_script_copy *copy = &script->copies[i];
        script->to[i] = (struct iovec){copy->words, copy->size};
        script->from[i] = (struct iovec){(void *)copy->address, copy->size};
    }
    script->copied = 0;
    memset(script->slots, 0, sizeof(script->slots));
    /* Reading ends where nothing is mapped. */
    long got = jp_sys_gather_sig(script->to, script->from, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct jp_script_copy *copy = &script->copies[i];
        got -= (long)copy->size;
        if (got < 0)
            break;
        *slot_sig(script, copy->address, copy->size) = (uint16_t)(i + 1);
        script->copied++;
    }
}

uint64_t jp_script_load_sig(struct jp_script *script, uint64_t address)
{
    const uint64_t *load = jp_script_block_sig(script, address, sizeof(*load));
    return load != NULL ? *load : 0;
}

const uint8_t *jp_script_bytes_sig(struct jp_script *script, uint64_t address,
                                   uint32_t size)
{
    if (!is_possible_sig(address) || size > sizeof(script->bytes))
        return NULL;
    if (script->direct)
        memcpy(script->bytes, (const void *)address, size);
    else if (jp_module_read_sig(address, script->bytes, size) != (long)size)
        return NULL;
    return script->bytes;
}

int jp_script_add_sig(struct jp_script *script, uint32_t id, uint64_t at,
                      uint64_t mark)
{
    if (script->count == JP_SCRIPT_ITEMS)
        return 0;
    script->items[script->count++] = (struct jp_script_item){
        JP_SCRIPT_FRAME(id, at < JP_SCRIPT_AT_MAX ? at : JP_SCRIPT_AT_MAX),
        mark};
    return 1;
}
