/* SPDX-License-Identifier: MIT
 *
 * The table of numbers: known by an object's address and content, without a
 * lock.  Two threads that meet a function at once may both give it a number.
 * Runs in: handler, any thread. */
#include "names.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "jp_map.h"
#include "scratch.h"
#include "sig/files/mapfile.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"

#define ENTRIES 65536U /* a power of two */
#define MOST (ENTRIES / 4 * 3)
#define PROBES 64U
#define FILLING 1U /* an object's address while its entry is written */

struct entry {
    _Atomic uint64_t object;
    uint64_t key;
    uint32_t id;
};

static struct names {
    _Atomic uint32_t count;
    struct entry entries[ENTRIES];
} * names;

int jp_script_names_init_sig(void)
{
    if (names == NULL)
        names = jp_sys_memory_sig(sizeof(*names), JP_FORK_WIPE);
    return names != NULL ? 0 : -ENOMEM;
}

static uint32_t slot_sig(uint64_t object, uint64_t key)
{
    return (uint32_t)(((object >> 4 ^ key) * 0x9e3779b97f4a7c15ULL) >> 32);
}

uint32_t jp_script_number_sig(uint64_t object, uint64_t key, int *full)
{
    const uint32_t slot = slot_sig(object, key);
    *full = 0;
    for (uint32_t i = 0; i < PROBES; i++) {
        const struct entry *entry = &names->entries[(slot + i) % ENTRIES];
        const uint64_t known =
            atomic_load_explicit(&entry->object, memory_order_acquire);
        if (known == object && entry->key == key)
            return entry->id;
        if (known == 0) {
            *full = atomic_load(&names->count) >= MOST;
            return 0;
        }
    }
    *full = 1;
    return 0;
}

static void enter_sig(const struct jp_script_fresh *fresh)
{
    const uint32_t slot = slot_sig(fresh->object, fresh->key);
    for (uint32_t i = 0; i < PROBES; i++) {
        struct entry *entry = &names->entries[(slot + i) % ENTRIES];
        uint64_t none = 0;
        if (!atomic_compare_exchange_strong(&entry->object, &none, FILLING))
            continue;
        entry->key = fresh->key;
        entry->id = fresh->id;
        atomic_store_explicit(&entry->object, fresh->object,
                              memory_order_release);
        return;
    }
}

void jp_script_put_name_sig(struct jp_script *script)
{
    struct jp_script_fresh *fresh = &script->fresh;
    const int first = fresh->id == 0;
    struct jp_text text;
    if (first)
        fresh->id = atomic_fetch_add(&names->count, 1) + 1;
    jp_text_init_sig(&text, script->line, sizeof(script->line));
    jp_mapfile_line_sig(&text, jp_sys_clock_sig(CLOCK_MONOTONIC),
                        JP_MAP_SCRIPT);
    jp_mapfile_decimal_sig(&text, "id", fresh->id);
    if (first) {
        jp_mapfile_decimal_sig(&text, "line", fresh->first_line);
        jp_mapfile_string_sig(&text, "name", fresh->name);
        jp_mapfile_string_sig(&text, "file", fresh->file);
    }
    if (fresh->lines[0] != '\0')
        jp_mapfile_string_sig(&text, "lines", fresh->lines);
    jp_mapfile_append_sig(&text);
    if (fresh->unread == 0)
        enter_sig(fresh);
}
