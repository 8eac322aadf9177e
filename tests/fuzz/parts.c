/* SPDX-License-Identifier: MIT
 *
 * Finds the files of an input, and changes one of them.
 * Runs in: fuzz tests. */
#include "parts.h"

#include <string.h>

#define INPUT_MAX 1000000U
#define WHOLE_EVERY 16 /* one change of so many is of the whole input */

int parts_find(const uint8_t *data, size_t size, size_t count,
               struct part *parts)
{
    size_t at = 0, found = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t wanted = 0;

        if (size - at >= sizeof wanted) {
            memcpy(&wanted, data + at, sizeof wanted);
            at += sizeof wanted;
            found++;
        }
        if (wanted > size - at)
            wanted = (uint32_t)(size - at);
        parts[i] = (struct part){at, wanted};
        at += wanted;
    }
    return found == count;
}

size_t parts_mutate(uint8_t *data, size_t size, size_t most, unsigned seed,
                    size_t count, parts_change *change)
{
    static uint8_t rest[INPUT_MAX];
    struct part parts[PARTS_MAX];
    const struct part *part = &parts[seed % count];
    size_t end, behind, now;
    uint32_t head;

    seed /= (unsigned)count;
    if (seed % WHOLE_EVERY == 0 || size > INPUT_MAX || most < size ||
        !parts_find(data, size, count, parts))
        return LLVMFuzzerMutate(data, size, most);
    end = part->at + part->size;
    behind = size - end;
    if (most == part->at + behind)
        return LLVMFuzzerMutate(data, size, most);
    memcpy(rest, data + end, behind);
    now = change(data + part->at, part->size, most - part->at - behind,
                 seed / WHOLE_EVERY);
    head = (uint32_t)now;
    memcpy(data + part->at - sizeof head, &head, sizeof head);
    memcpy(data + part->at + now, rest, behind);
    return part->at + now + behind;
}
