/* SPDX-License-Identifier: MIT
 *
 * The table of executable ranges.  There are two; a scan fills the one not in
 * use and then switches.  A reader that is overtaken by two scans may get a
 * wrong answer for one address, never a fault.
 * Runs in: handler, any thread. */
#include "maps.h"

#include <errno.h>
#include <string.h>

#include "jp_map.h"
#include "kit.h"
#include "mapfile.h"
#include "module.h"
#include "process.h"
#include "procmaps.h"
#include "sys.h"

#define RANGES_MAX 8192U
#define PERIOD_NS 1000000000ULL   /* between scans without a cause */
#define INTERVAL_NS 100000000ULL  /* between scans for an unknown address */
#define COST_FACTOR 100U          /* scans take at most 1% of the time */

struct table {
    uint32_t count;
    struct jp_maps_range ranges[RANGES_MAX];
};

static struct table tables[2];
static struct table *_Atomic table = &tables[0];
static _Atomic uint32_t epoch;
static _Atomic uint64_t last_scan_ns, scan_cost_ns;
static _Atomic uint32_t dirty;

/* One scan at a time; the rest of this block belongs to it. */
static _Atomic uint32_t scanning;
static struct jp_procmaps reader;
static char line[JP_MAP_LINE_MAX];

static int lock_sig(void)
{
    uint32_t idle = 0;
    return atomic_compare_exchange_strong(&scanning, &idle, 1);
}

static void unlock_sig(void)
{
    atomic_store(&scanning, 0);
}

static const struct jp_maps_range *find_sig(const struct table *in,
                                            uint64_t address)
{
    uint32_t low = 0, high = in->count < RANGES_MAX ? in->count : RANGES_MAX;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct jp_maps_range *range = &in->ranges[middle];
        if (address < range->start)
            high = middle;
        else if (address >= range->end)
            low = middle + 1;
        else
            return range;
    }
    return NULL;
}

/* What one scan carries along. */
struct scan {
    const struct table *old;
    struct table *fresh;
    uint32_t next_old;    /* ranges of old before this one are dealt with */
    int fd;               /* of the map */
    int changed;          /* something went or changed */
    uint64_t base;        /* of the file seen last with offset 0 */
    uint64_t base_inode, base_device;
};

int jp_maps_same_sig(const struct jp_maps_range *a,
                     const struct jp_maps_range *b)
{
    return a->start == b->start && a->end == b->end &&
           a->offset == b->offset && a->inode == b->inode &&
           a->device == b->device;
}

/* Writes off old ranges that begin before `end`; returns whether the one that
 * equals `range` was among them. */
static int pass_old_sig(struct scan *scan, const struct jp_maps_range *range,
                        uint64_t end)
{
    int found = 0;
    while (scan->next_old < scan->old->count &&
           scan->old->ranges[scan->next_old].start < end) {
        const struct jp_maps_range *old = &scan->old->ranges[scan->next_old++];
        if (range != NULL && jp_maps_same_sig(old, range)) {
            found = 1;
            continue;
        }
        scan->changed = 1;
        if (range == NULL || old->start != range->start)
            jp_module_gone_sig(scan->fd, old->start, old->end);
    }
    return found;
}

/* A JIT takes away the right to execute while it writes: anonymous memory
 * that was executable at the last scan stays in the table. */
static int still_code_sig(const struct scan *scan,
                          const struct jp_maps_range *range)
{
    const struct jp_maps_range *old = find_sig(scan->old, range->start);
    return range->inode == 0 && old != NULL && old->inode == 0 &&
           old->start == range->start;
}

static void add_sig(struct scan *scan, const struct jp_vma *vma)
{
    struct jp_maps_range range = {
        .start = vma->start, .end = vma->end,
        .offset = vma->offset, .inode = vma->inode,
        .device = (uint64_t)vma->major << 32 | vma->minor};
    struct jp_text text;
    if (vma->inode != 0 && vma->offset == 0) {
        scan->base = vma->start;
        scan->base_inode = vma->inode;
        scan->base_device = range.device;
    }
    if ((vma->prot & JP_PROT_EXEC) == 0 && !still_code_sig(scan, &range))
        return;
    if (scan->fresh->count >= RANGES_MAX) {
        jp_count_sig(JP_COUNT_MAP_LOST, 1);
        return;
    }
    if (jp_module_is_vdso_sig(vma))
        range.base = vma->start;
    else if (scan->base_inode == vma->inode &&
             scan->base_device == range.device)
        range.base = scan->base;
    int known = pass_old_sig(scan, &range, range.end);
    scan->fresh->ranges[scan->fresh->count++] = range;
    if (known)
        return;
    jp_text_init_sig(&text, line, sizeof(line));
    jp_module_put_sig(scan->fd, vma, range.base, &text);
}

/* The scan itself; the lock is held. */
static int scan_locked_sig(void)
{
    const uint64_t begun = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const struct table *old = atomic_load(&table);
    struct scan scan = {.old = old, .fd = -1};
    struct jp_vma vma;
    scan.fresh = old == &tables[0] ? &tables[1] : &tables[0];
    scan.fresh->count = 0;
    int result = jp_procmaps_open_sig(&reader);
    if (result != 0)
        return result;
    atomic_store(&dirty, 0);
    scan.fd = jp_mapfile_open_sig();
    while (jp_procmaps_next_sig(&reader, &vma))
        add_sig(&scan, &vma);
    pass_old_sig(&scan, NULL, UINT64_MAX);
    jp_procmaps_close_sig(&reader);
    if (scan.fd >= 0)
        jp_sys_close_sig(scan.fd);
    atomic_store(&table, scan.fresh);
    if (scan.changed)
        atomic_fetch_add(&epoch, 1);
    const uint64_t done = jp_sys_clock_sig(CLOCK_MONOTONIC);
    atomic_store(&last_scan_ns, done);
    atomic_store(&scan_cost_ns, done - begun);
    jp_count_sig(JP_COUNT_MAPS_SCANS, 1);
    return 0;
}

int jp_maps_scan_sig(void)
{
    if (!jp_mapfile_ready_sig())
        return -EAGAIN;
    if (!lock_sig())
        return -EBUSY;
    int result = scan_locked_sig();
    unlock_sig();
    return result;
}

static int due_sig(uint64_t now_ns, uint64_t interval)
{
    uint64_t cost = atomic_load(&scan_cost_ns) * COST_FACTOR;
    uint64_t wait = interval > cost ? interval : cost;
    return now_ns - atomic_load(&last_scan_ns) >= wait;
}

void jp_maps_refresh_sig(uint64_t now_ns)
{
    if (atomic_load(&dirty) != 0 || due_sig(now_ns, PERIOD_NS))
        jp_maps_scan_sig();
}

void jp_maps_dirty_sig(void)
{
    atomic_store(&dirty, 1);
}

void jp_maps_check_kit_sig(struct jp_kit *kit)
{
    uint32_t now = atomic_load(&epoch);
    if (kit->maps_epoch == now)
        return;
    kit->maps_epoch = now;
    memset(kit->pages, 0, sizeof(kit->pages));
}

/* Puts one more anonymous range into the table, in place of what it overlaps,
 * and writes its line: a JIT's memory grows often, a scan each time would be
 * dear. */
static void insert_sig(const struct jp_vma *vma)
{
    const struct jp_maps_range range = {
        .start = vma->start, .end = vma->end, .offset = vma->offset};
    struct jp_text text;
    if (!jp_mapfile_ready_sig() || !lock_sig())
        return;
    const struct table *old = atomic_load(&table);
    struct table *fresh = old == &tables[0] ? &tables[1] : &tables[0];
    uint32_t count = 0, i = 0;
    for (; i < old->count && old->ranges[i].end <= range.start; i++)
        fresh->ranges[count++] = old->ranges[i];
    while (i < old->count && old->ranges[i].start < range.end)
        i++;
    if (count + 1 + (old->count - i) <= RANGES_MAX) {
        fresh->ranges[count++] = range;
        for (; i < old->count; i++)
            fresh->ranges[count++] = old->ranges[i];
        fresh->count = count;
        atomic_store(&table, fresh);
        int fd = jp_mapfile_open_sig();
        jp_text_init_sig(&text, line, sizeof(line));
        jp_module_put_sig(fd, vma, 0, &text);
        if (fd >= 0)
            jp_sys_close_sig(fd);
    } else {
        jp_count_sig(JP_COUNT_MAP_LOST, 1);
    }
    unlock_sig();
}

/* Asks the kernel about an address that the table does not have. */
static int look_up_sig(uint64_t address)
{
    struct jp_vma vma;
    int result = jp_procmaps_query_sig(address, &vma);
    if (result == -ENOENT)
        return 0;
    if (result == 0) {
        if ((vma.prot & JP_PROT_EXEC) == 0)
            return 0;
        if (vma.inode != 0)
            jp_maps_scan_sig();
        else
            insert_sig(&vma);
        return 1;
    }
    if (!due_sig(jp_sys_clock_sig(CLOCK_MONOTONIC), INTERVAL_NS) ||
        jp_maps_scan_sig() != 0)
        return 0;
    return find_sig(atomic_load(&table), address) != NULL;
}

int jp_maps_executable_sig(struct jp_kit *kit, uint64_t address)
{
    const uint64_t page = address >> 12;
    uint64_t *cached = &kit->pages[page % JP_KIT_PAGES];
    if (*cached == page && page != 0)
        return 1;
    if (find_sig(atomic_load(&table), address) == NULL &&
        !look_up_sig(address))
        return 0;
    *cached = page;
    return 1;
}

int jp_maps_find_sig(uint64_t address, struct jp_maps_range *range)
{
    const struct table *now = atomic_load(&table);
    const struct jp_maps_range *found = find_sig(now, address);
    if (found == NULL)
        return now->count == 0 ? -EAGAIN : -ENOENT;
    *range = *found;
    return 0;
}

uint32_t jp_maps_epoch_sig(void)
{
    return atomic_load(&epoch);
}

int jp_maps_is_dirty_sig(void)
{
    return atomic_load(&dirty) != 0;
}

int jp_maps_anonymous_sig(uint64_t address)
{
    const struct jp_maps_range *range = find_sig(atomic_load(&table), address);
    return range != NULL && range->inode == 0;
}

int jp_maps_region_sig(uint64_t address, uint64_t *start, uint64_t *end)
{
    struct jp_vma vma;
    int result = jp_procmaps_query_sig(address, &vma);
    if (result != 0 && result != -ENOENT) {
        if (!lock_sig())
            return -EBUSY;
        result = jp_procmaps_open_sig(&reader);
        while (result == 0 && jp_procmaps_next_sig(&reader, &vma)) {
            if (address >= vma.start && address < vma.end)
                break;
        }
        if (result == 0) {
            jp_procmaps_close_sig(&reader);
            if (address < vma.start || address >= vma.end)
                result = -ENOENT;
        }
        unlock_sig();
    }
    if (result != 0)
        return result;
    if ((vma.prot & JP_PROT_READ) == 0)
        return -EACCES;
    *start = vma.start;
    *end = vma.end;
    return 0;
}

void jp_maps_reset_sig(void)
{
    atomic_store(&scanning, 0);
    tables[0].count = tables[1].count = 0;
    atomic_store(&table, &tables[0]);
    atomic_store(&epoch, atomic_load(&epoch) + 1);
}
