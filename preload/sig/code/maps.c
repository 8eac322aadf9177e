/* SPDX-License-Identifier: MIT
 *
 * The table of executable ranges, and when it is read again.  There are two
 * tables; a scan fills the one that is not in use and then switches.  A reader
 * that a scan has overtaken, so that the next one may be filling the reader's
 * table, looks again.
 * Runs in: handler, any thread. */
#include "maps.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "jp_map.h"
#include "module.h"
#include "moved.h"
#include "procmaps.h"
#include "ranges.h"
#include "sig/files/mapfile.h"
#include "sig/os/sys.h"
#include "sig/state/buffer.h"
#include "sig/state/process.h"

#define PERIOD_NS 1000000000ULL  /* between looks without a cause */
#define ANYWAY_NS 10000000000ULL /* between scans, if looks find no change */
#define INTERVAL_NS 100000000ULL /* between scans for unknown addresses */
#define YIELDS 1000U             /* waiting for another thread's scan */
#define LOOKS 8U                 /* at tables that are filled meanwhile */
#define COST_FACTOR 100U         /* scans take at most 1% of the time */

static struct jp_ranges tables[2];
static struct jp_ranges *_Atomic table = &tables[0];
static _Atomic uint32_t fillings; /* counted as each begins */
static _Atomic uint32_t epoch;
static _Atomic uint64_t last_scan_ns, scan_cost_ns;
static _Atomic uint32_t dirty; /* 1: a library was closed since the scan; 2: a
                                  scan that was made for it goes on */
static _Atomic uint64_t dirty_ns; /* when that was */

/* 1: a thread scans, and has these, and what its functions keep here as the
 * handler's stack is deepest below them: */
static _Atomic uint32_t scanning;
static struct jp_procmaps reader;
static uint64_t seen_mark;  /* jp_procmaps_mark_sig at the last scan */
static uint64_t scanned_ns; /* when that scan began; 0: there is no mark */
static char line[JP_MAP_LINE_MAX];
/* 1: the program has mapped a file as code since the last look. */
static _Atomic uint32_t expecting;
/* 1: the table's ranges have their lines in the map. */
static _Atomic uint32_t told;
/* 1: they have them in the map of the process that forked this one. */
static _Atomic uint32_t inherited;

static struct jp_maps_listener listener;

void jp_maps_listen_sig(const struct jp_maps_listener *to)
{
    listener = *to;
}

static int lock_sig(void)
{
    uint32_t idle = 0;
    return atomic_compare_exchange_strong(&scanning, &idle, 1);
}

static void unlock_sig(void)
{
    atomic_store(&scanning, 0);
}

typedef const struct jp_maps_range *finder(const struct jp_ranges *in,
                                           uint64_t);

/* Copies the range that `find` finds in the table in use, unless `range` is
 * NULL.  Returns 0, -ENOENT, or -EAGAIN where the table is empty.  When tables
 * have been filled in the meantime, looks once more; the last answer then
 * stands, which may be wrong for this address, but no fault. */
static int look_sig(finder *find, uint64_t value, struct jp_maps_range *range)
{
    int result = -ENOENT;
    for (unsigned i = 0; i < LOOKS; i++) {
        const uint32_t before = atomic_load(&fillings);
        const struct jp_ranges *now = atomic_load(&table);
        const struct jp_maps_range *found = find(now, value);
        if (found != NULL && range != NULL)
            jp_ranges_copy_sig(range, found);
        result = found != NULL ? 0 : now->count == 0 ? -EAGAIN : -ENOENT;
        atomic_thread_fence(memory_order_acquire); /* read before it is asked */
        if (atomic_load(&fillings) == before)
            break;
    }
    return result;
}

/* The state of one scan. */
struct scan {
    const struct jp_ranges *old;
    struct jp_ranges *fresh;
    uint32_t next_old; /* ranges of `old` before this one are dealt with */
    int fd;            /* of the map, open for appending */
    int changed;       /* a range of `old` has gone or changed */
    uint64_t time_ns;  /* of the lines that the scan writes */
    int told;          /* the ranges of `old` have their lines in the map */
    int telling;       /* there is a map */
    uint64_t base;     /* where the last file with offset 0 is mapped, */
    uint64_t base_inode, base_device; /* and which file that is */
};

/* Passes over the old ranges that begin before `end`; those that are not the
 * same as `range` have gone, and get an unmap line.  Returns whether one was
 * the same. */
static int pass_old_sig(struct scan *scan, const struct jp_maps_range *range,
                        uint64_t end)
{
    int found = 0;
    while (scan->next_old < scan->old->count &&
           scan->old->ranges[scan->next_old].start < end) {
        const struct jp_maps_range *old = &scan->old->ranges[scan->next_old++];
        if (range != NULL && jp_ranges_same_sig(old, range)) {
            found = 1;
            continue;
        }
        scan->changed = 1;
        if (scan->told && scan->telling &&
            (range == NULL || old->start != range->start))
            jp_module_gone_sig(scan->fd, scan->time_ns, old->start, old->end);
    }
    return found;
}

/* Whether a range that is not executable stays in the table: memory without a
 * file that was executable at the last scan, since a JIT compiler takes the
 * right away while it writes code.  A larger one is other memory that came to
 * its place. */
static int still_code_sig(const struct scan *scan,
                          const struct jp_maps_range *range)
{
    const struct jp_maps_range *old =
        jp_ranges_find_sig(scan->old, range->start);
    return range->inode == 0 && old != NULL && old->inode == 0 &&
           old->start == range->start && old->end >= range->end;
}

/* Makes a range of a file without a name one without a file: JIT compilers use
 * such files for code that processes share, or that they map twice.  Returns
 * whether it did. */
static int as_code_sig(struct scan *scan, const struct jp_vma *vma,
                       struct jp_maps_range *range)
{
    if (vma->inode != 0 && vma->offset == 0) {
        jp_moved_begins_sig(vma);
        scan->base = vma->start;
        scan->base_inode = vma->inode;
        scan->base_device = range->device;
    }
    const int whole =
        scan->base_inode == vma->inode && scan->base_device == range->device;
    if (vma->inode == 0 ||
        !jp_module_is_nameless_sig(vma, whole ? scan->base : 0))
        return 0;
    range->inode = range->device = 0;
    return 1;
}

/* Enters a mapping into the new table if it is code, and writes its line if it
 * is new.  Changes the vma, as the handler's stack has no room for a copy. */
static void add_sig(struct scan *scan, struct jp_vma *vma)
{
    static struct jp_maps_range range;
    jp_moved_adopt_sig(vma);
    range = (struct jp_maps_range){.start = vma->start,
                                   .end = vma->end,
                                   .offset = vma->offset,
                                   .inode = vma->inode,
                                   .device =
                                       (uint64_t)vma->major << 32 | vma->minor};
    const int nameless = as_code_sig(scan, vma, &range);
    struct jp_text text;
    if ((vma->prot & JP_PROT_EXEC) == 0 && !still_code_sig(scan, &range))
        return;
    if (scan->fresh->count >= JP_RANGES_MAX) {
        jp_count_sig(JP_COUNT_MAP_LOST, 1);
        return;
    }
    if (jp_module_is_vdso_sig(vma))
        range.base = vma->start;
    else if (scan->base_inode == range.inode &&
             scan->base_device == range.device)
        range.base = scan->base;
    int known = pass_old_sig(scan, &range, range.end);
    jp_ranges_add_sig(scan->fresh, &range);
    if (!scan->telling || (known && scan->told))
        return;
    if (vma->inode != 0 && listener.mapped_sig != NULL)
        listener.mapped_sig(vma, range.base);
    if (nameless)
        vma->inode = vma->major = vma->minor = 0;
    jp_text_init_sig(&text, line, sizeof(line));
    jp_mapfile_line_sig(&text, scan->time_ns, jp_module_event_sig(vma));
    jp_module_put_sig(scan->fd, vma, range.base, &text);
}

/* Scans; the caller holds the lock.  Lines are dated at the scan's beginning
 * or, after a dlclose, at its return: the earliest moment at which other code
 * can have come to the library's place, so that samples taken since go to
 * it. */
static int scan_locked_sig(void)
{
    static struct scan scan;
    static struct jp_vma vma;
    const uint64_t begun = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const struct jp_ranges *old = atomic_load(&table);
    scan = (struct scan){.old = old,
                         .fd = -1,
                         .told = atomic_load(&told) != 0,
                         .telling = jp_mapfile_ready_sig()};
    scan.fresh = old == &tables[0] ? &tables[1] : &tables[0];
    atomic_fetch_add(&fillings, 1);
    scan.fresh->count = scan.fresh->anonymous = 0;
    /* Before the reading: what comes while it lasts changes the next mark. */
    scanned_ns =
        jp_procmaps_mark_sig(JP_RANGES_MAX, &seen_mark) == 0 ? begun : 0;
    int result = jp_procmaps_open_sig(&reader);
    if (result != 0)
        return result;
    scan.time_ns = begun;
    /* A library was closed.  The range in its place may look the same and be of
     * another library, even with the same inode if the file was overwritten. */
    if (atomic_load(&dirty) != 0) {
        atomic_store(&dirty, 2);
        scan.time_ns = atomic_load(&dirty_ns);
        scan.changed = 1;
    }
    scan.fd = scan.telling ? jp_mapfile_open_sig() : -1;
    while (jp_procmaps_next_sig(&reader, &vma))
        add_sig(&scan, &vma);
    pass_old_sig(&scan, NULL, UINT64_MAX);
    jp_procmaps_close_sig(&reader);
    if (scan.fd >= 0)
        jp_sys_close_sig(scan.fd);
    atomic_store(&table, scan.fresh);
    atomic_store(&told, (uint32_t)scan.telling);
    if (scan.changed)
        atomic_fetch_add(&epoch, 1);
    uint32_t scanned = 2;
    atomic_compare_exchange_strong(&dirty, &scanned, 0);
    const uint64_t done = jp_sys_clock_sig(CLOCK_MONOTONIC);
    atomic_store(&last_scan_ns, done);
    atomic_store(&scan_cost_ns, done - begun);
    jp_count_sig(JP_COUNT_MAPS_SCANS, 1);
    return 0;
}

/* Whether all executable mappings of files are as the last scan found them.
 * (New memory without a file is found when its addresses are asked about.) */
static int same_files_sig(void)
{
    uint64_t mark;
    const uint64_t begun = jp_sys_clock_sig(CLOCK_MONOTONIC);
    if (atomic_load(&dirty) != 0 || scanned_ns == 0 ||
        begun - scanned_ns >= ANYWAY_NS ||
        jp_procmaps_mark_sig(JP_RANGES_MAX, &mark) != 0 || mark != seen_mark)
        return 0;
    const uint64_t done = jp_sys_clock_sig(CLOCK_MONOTONIC);
    atomic_store(&last_scan_ns, done);
    atomic_store(&scan_cost_ns, done - begun);
    return 1;
}

/* Scans; with if_other only if mappings of files came or went.  Returns as
 * jp_maps_scan_sig, or -EALREADY when it need not scan. */
static int scan_sig(int if_other)
{
    if (!jp_mapfile_ready_sig())
        return -EAGAIN;
    if (!lock_sig())
        return -EBUSY;
    const int result =
        if_other && same_files_sig() ? -EALREADY : scan_locked_sig();
    unlock_sig();
    if (result != -EALREADY && listener.scanned_sig != NULL)
        listener.scanned_sig();
    return result;
}

int jp_maps_scan_sig(void)
{
    return scan_sig(0);
}

/* Another thread that holds the lock is at most a scan away from releasing
 * it. */
void jp_maps_before_log_sig(void)
{
    for (unsigned i = 0; i < YIELDS; i++) {
        if (atomic_load(&table)->count != 0)
            return;
        if (lock_sig()) {
            if (atomic_load(&table)->count == 0)
                scan_locked_sig();
            unlock_sig();
            return;
        }
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
    }
}

/* Whether the interval has passed since the last scan; a longer one if scans
 * would take more than their part of the time. */
static int due_sig(uint64_t now_ns, uint64_t interval)
{
    uint64_t cost = atomic_load(&scan_cost_ns) * COST_FACTOR;
    uint64_t wait = interval > cost ? interval : cost;
    return now_ns - atomic_load(&last_scan_ns) >= wait;
}

void jp_maps_refresh_sig(uint64_t now_ns)
{
    if (atomic_load(&dirty) != 0 || atomic_load(&told) == 0)
        scan_sig(0);
    else if (due_sig(now_ns, PERIOD_NS))
        scan_sig(1);
}

int jp_maps_look_sig(uint64_t now_ns)
{
    const uint32_t at_once = atomic_exchange(&expecting, 0);
    if (at_once == 0 && !due_sig(now_ns, INTERVAL_NS))
        return 0;
    const int result = scan_sig(1);
    const int looked = result == 0 || result == -EALREADY;
    if (!looked && at_once != 0)
        atomic_store(&expecting, 1);
    return looked;
}

void jp_maps_expect_sig(void)
{
    atomic_store(&expecting, 1);
}

int jp_maps_is_expecting_sig(void)
{
    return atomic_load_explicit(&expecting, memory_order_relaxed) != 0;
}

void jp_maps_dirty_sig(void)
{
    atomic_store(&dirty_ns, jp_sys_clock_sig(CLOCK_MONOTONIC));
    atomic_store(&dirty, 1);
}

void jp_maps_check_buffer_sig(struct jp_buffer *buffer)
{
    uint32_t now = atomic_load(&epoch);
    if (buffer->maps_epoch == now)
        return;
    buffer->maps_epoch = now;
    memset(buffer->pages, 0, sizeof(buffer->pages));
    memset(buffer->codes, 0, sizeof(buffer->codes));
}

/* Enters one range without a file into the table, and writes its line.  (A JIT
 * compiler's memory grows often, and a scan each time would cost too much.)
 * The caller holds the lock. */
static void insert_locked_sig(const struct jp_vma *vma)
{
    const struct jp_maps_range range = {
        .start = vma->start, .end = vma->end, .offset = vma->offset};
    struct jp_text text;
    const struct jp_ranges *old = atomic_load(&table);
    struct jp_ranges *fresh = old == &tables[0] ? &tables[1] : &tables[0];
    atomic_fetch_add(&fillings, 1);
    if (!jp_ranges_insert_sig(fresh, old, &range)) {
        jp_count_sig(JP_COUNT_MAP_LOST, 1);
        return;
    }
    atomic_store(&table, fresh);
    int fd = jp_mapfile_open_sig();
    jp_text_init_sig(&text, line, sizeof(line));
    jp_mapfile_line_sig(&text, jp_sys_clock_sig(CLOCK_MONOTONIC),
                        jp_module_event_sig(vma));
    jp_module_put_sig(fd, vma, 0, &text);
    if (fd >= 0)
        jp_sys_close_sig(fd);
}

static void insert_sig(const struct jp_vma *vma)
{
    if (!jp_mapfile_ready_sig() || !lock_sig())
        return;
    insert_locked_sig(vma);
    unlock_sig();
}

/* Extends a range over the ranges without a file beside it, as a JIT compiler's
 * memory grows piece by piece. */
static void join_sig(const struct jp_ranges *in, struct jp_vma *vma)
{
    const struct jp_maps_range *before =
        vma->start != 0 ? jp_ranges_find_sig(in, vma->start - 1) : NULL;
    const struct jp_maps_range *behind = jp_ranges_find_sig(in, vma->end);
    if (before != NULL && jp_ranges_is_anonymous_sig(before))
        vma->start = before->start;
    if (behind != NULL && jp_ranges_is_anonymous_sig(behind))
        vma->end = behind->end;
}

void jp_maps_note_sig(uint64_t start, uint64_t end)
{
    struct jp_vma vma = {.start = start, .end = end, .prot = JP_PROT_EXEC};
    struct jp_maps_range known;
    if ((look_sig(jp_ranges_find_sig, start, &known) == 0 &&
         known.end >= end) ||
        !jp_mapfile_ready_sig())
        return;
    for (unsigned i = 0; i < YIELDS; i++) {
        if (lock_sig()) {
            join_sig(atomic_load(&table), &vma);
            insert_locked_sig(&vma);
            unlock_sig();
            return;
        }
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
    }
    jp_count_sig(JP_COUNT_MAP_LOST, 1);
}

/* Asks the kernel about an address that the table does not have.  Returns
 * whether it is executable. */
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
    return look_sig(jp_ranges_find_sig, address, NULL) == 0;
}

int jp_maps_executable_sig(struct jp_buffer *buffer, uint64_t address)
{
    const uint64_t page = address >> 12;
    uint64_t *cached = &buffer->pages[page % JP_BUFFER_PAGES];
    if (*cached == page && page != 0)
        return 1;
    if (look_sig(jp_ranges_find_sig, address, NULL) != 0 &&
        !look_up_sig(address))
        return 0;
    *cached = page;
    return 1;
}

int jp_maps_find_sig(uint64_t address, struct jp_maps_range *range)
{
    return look_sig(jp_ranges_find_sig, address, range);
}

int jp_maps_at_sig(uint32_t index, struct jp_maps_range *range)
{
    return look_sig(jp_ranges_at_sig, index, range) == 0;
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
    const struct jp_ranges *now = atomic_load(&table);
    struct jp_maps_range range;
    return now->anonymous != 0 && address >= now->low && address < now->high &&
           look_sig(jp_ranges_find_sig, address, &range) == 0 &&
           jp_ranges_is_anonymous_sig(&range);
}

int jp_maps_of_file_sig(uint64_t address)
{
    struct jp_maps_range range;
    return jp_maps_find_sig(address, &range) == 0 && range.inode != 0;
}

int jp_maps_any_anonymous_sig(void)
{
    return atomic_load(&table)->anonymous != 0;
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

/* The table of the parent's memory holds in the child as well; if the child
 * cannot read its mappings, it is all that is ever known. */
void jp_maps_reset_sig(void)
{
    struct jp_ranges *now = atomic_load(&table);
    /* If another thread was scanning during the fork, the table in use is still
     * complete. */
    atomic_store(&scanning, 0);
    atomic_store(&inherited, atomic_exchange(&told, 0));
    atomic_store(&table, now);
    atomic_store(&epoch, atomic_load(&epoch) + 1);
}

void jp_maps_inherit_sig(void)
{
    atomic_store(&told, atomic_load(&inherited));
}
