/* SPDX-License-Identifier: MIT
 *
 * Thread names: a thread asks for its own, another's is in
 * /proc/self/task/TID/comm.
 * Runs in: handler, any thread. */
#include "names.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "jp_map.h"
#include "mapfile.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/state/slot.h"

#define EVERY_NS 100000000U

/* Writes the name that the thread has now, if it is new. */
static void put_sig(struct jp_slot *slot, const char *name)
{
    char buffer[JP_MAPFILE_SHORT];
    struct jp_text text;
    if (!slot->name.unwritten &&
        strncmp(name, slot->name.text, sizeof(slot->name.text)) == 0)
        return;
    memcpy(slot->name.text, name, sizeof(slot->name.text));
    slot->name.text[sizeof(slot->name.text) - 1] = '\0';
    slot->name.unwritten = 0;
    jp_text_init_sig(&text, buffer, sizeof(buffer));
    jp_mapfile_line_sig(&text, jp_sys_clock_sig(CLOCK_MONOTONIC),
                        JP_MAP_THREAD);
    jp_mapfile_decimal_sig(&text, "tid", slot->tid);
    jp_mapfile_string_sig(&text, "name", slot->name.text);
    jp_mapfile_append_sig(&text);
}

/* The thread itself and one who names all may come at once: one is enough. */
static void write_sig(struct jp_slot *slot, const char *name)
{
    if (atomic_exchange(&slot->name.busy, 1) != 0)
        return;
    put_sig(slot, name);
    atomic_store(&slot->name.busy, 0);
}

void jp_names_follow_sig(struct jp_slot *slot, uint64_t now_ns)
{
    char name[sizeof(slot->name.text) + 1] = "";
    if ((!slot->name.unwritten && now_ns - slot->name.looked_ns < EVERY_NS) ||
        !jp_mapfile_ready_sig())
        return;
    slot->name.looked_ns = now_ns;
    if (jp_sys_sig(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0) == 0)
        write_sig(slot, name);
}

void jp_names_update_sig(struct jp_slot *slot)
{
    char path[48], name[sizeof(slot->name.text) + 1];
    struct jp_text text;
    jp_text_init_sig(&text, path, sizeof(path));
    jp_text_add_sig(&text, "/proc/self/task/");
    jp_text_decimal_sig(&text, slot->tid);
    jp_text_add_sig(&text, "/comm");
    int fd = jp_sys_open_sig(path, O_RDONLY, 0);
    if (fd < 0)
        return;
    long got = jp_sys_read_sig(fd, name, sizeof(slot->name.text));
    jp_sys_close_sig(fd);
    if (got <= 0)
        return;
    name[name[got - 1] == '\n' ? got - 1 : got] = '\0';
    write_sig(slot, name);
}

void jp_names_all_sig(void)
{
    uint32_t count = jp_slots_count_sig();
    for (uint32_t i = 0; i < count; i++) {
        struct jp_slot *slot = jp_slot_at_sig(i);
        if (atomic_load(&slot->state) >= JP_SLOT_IDLE && slot->kit != NULL)
            jp_names_update_sig(slot);
    }
}
