/* SPDX-License-Identifier: MIT
 *
 * The shared area of the log.  Its first page says which of the others are in
 * use.  All processes have it mapped shared, and take and give back pieces by
 * atomic operations only.
 * Runs in: handler, any thread. */
#include "share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "chunk.h"
#include "jp_log.h"
#include "sig/arch/arch.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"

#define SMALLEST (64U << 10)
#define PAGE JP_LOG_ALIGN
#define PAGES_MAX 1024U
#define CLOSED 0x80000000U /* bit of `users`: nobody takes fresh pages */
#define SPINS 10000U

/* The state of a piece, kept for its first page: one of two bits, and the order
 * of its size (PAGE << order) in the lower bits. */
#define OPEN 0x80U
#define GIVEN 0x40U
#define ORDER 0x0fU
#define ORDER_MAX 4U /* JP_CHUNK_MAX */

/* The first page.  Any of the processes may write anything into the area, and
 * one may be in a sandbox because it is not trusted: what is read here is
 * checked against values in this process's own memory. */
struct area {
    _Atomic uint32_t users;  /* processes that use the area */
    _Atomic uint32_t fresh;  /* pages from this one on were never taken */
    _Atomic uint32_t cursor; /* where to look next for pieces given back */
    uint32_t pages;          /* of the area, for jp_share_left_sig alone */
    _Atomic uint8_t states[PAGES_MAX];
};
_Static_assert(sizeof(struct area) <= PAGE, "the first page");
_Static_assert(JP_CHUNK_MIN == PAGE, "a page is a chunk");

static struct area *_Atomic area;
static struct area *_Atomic peeked; /* the first page of another, or NULL */
static uint64_t start;              /* offset of the area in the file */
static uint32_t pages;              /* of the area */
static uint64_t area_size;          /* bytes */
static _Atomic int inherited;
static uint64_t base_run, base_ns; /* see jp_share_base_sig */
static int ended;                  /* jp_share_end_sig was called */

/* The chunk that takes lines of the map. */
static struct {
    _Atomic uint32_t busy;
    uint8_t *chunk;
    uint64_t offset;
    uint32_t size, used;
} text;

static void begin_sig(struct area *memory, uint64_t offset, uint32_t bytes)
{
    atomic_store(&peeked, memory);
    memory->pages = pages = bytes / PAGE;
    atomic_store(&memory->users, 1);
    atomic_store(&memory->fresh, 1);
    atomic_store(&memory->cursor, 1);
    start = offset;
    area_size = bytes;
    atomic_store(&inherited, 0);
    atomic_store(&area, memory);
    atomic_store(&peeked, NULL);
}

int jp_share_make_sig(int fd, uint32_t most)
{
    for (uint32_t size = most; size >= SMALLEST; size /= 2) {
        const uint64_t offset = atomic_fetch_add(&jp_log.next, size);
        void *memory = NULL;
        if (jp_sys_allocate_sig(fd, offset, size) == 0)
            memory = jp_sys_map_shared_sig(fd, offset, size);
        if (memory != NULL) {
            begin_sig(memory, offset, size);
            return 1;
        }
        /* Gives the space back, unless somebody has taken what is behind it. */
        uint64_t end = offset + size;
        atomic_compare_exchange_strong(&jp_log.next, &end, offset);
    }
    return 0;
}

/* Bytes in use of an area whose pages from `fresh` on never were; without them,
 * its first page is of no use, either. */
static uint64_t used_sig(uint32_t fresh)
{
    return fresh > 1 ? (uint64_t)fresh * PAGE : 0;
}

uint64_t jp_share_left_sig(int fd, uint64_t offset, uint64_t length)
{
    struct area *old = jp_sys_map_file_sig(fd, offset, PAGE);
    uint32_t users = 0, used = 0, all = 0;
    if (old == NULL)
        return 0;
    atomic_store(&peeked, old);
    if (atomic_compare_exchange_strong(&old->users, &users, CLOSED)) {
        used = atomic_load(&old->fresh);
        all = old->pages;
    }
    atomic_store(&peeked, NULL);
    jp_sys_unmap_sig(old, PAGE);
    if (used == 0 || used > all || all > (length - offset) / PAGE)
        return 0;
    if (all == (length - offset) / PAGE)
        return offset + used_sig(used);
    jp_sys_sig(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
               (long)(offset + (uint64_t)used * PAGE),
               (long)(all - used) * PAGE, 0);
    return 0;
}

uint64_t jp_share_start_sig(void)
{
    return start;
}

int jp_share_is_there_sig(void)
{
    return atomic_load(&area) != NULL;
}

int jp_share_is_inherited_sig(void)
{
    return atomic_load(&area) != NULL && atomic_load(&inherited);
}

uint8_t *jp_share_at_sig(uint64_t offset, uint32_t size)
{
    struct area *now = atomic_load(&area);
    if (now == NULL || offset < start || size > area_size ||
        offset - start > area_size - size)
        return NULL;
    return (uint8_t *)now + (offset - start);
}

int jp_share_has_sig(uint64_t address)
{
    const struct area *now = atomic_load(&area);
    /* The first page may be the one that is gone, so nothing of it is read. */
    const struct area *other = atomic_load(&peeked);
    return (now != NULL && address - (uint64_t)now < area_size) ||
           (other != NULL && address - (uint64_t)other < PAGE);
}

static unsigned order_sig(uint32_t bytes)
{
    unsigned order = 0;
    while ((uint32_t)PAGE << order < bytes)
        order++;
    return order;
}

/* Takes pages that were never in use.  Returns the first one; 0 when there are
 * not so many left. */
static uint32_t fresh_sig(struct area *now, unsigned order)
{
    uint32_t page = atomic_load(&now->fresh);
    do {
        if (page == 0 || page > pages || pages - page < 1U << order ||
            (atomic_load(&now->users) & CLOSED) != 0)
            return 0;
    } while (!atomic_compare_exchange_weak(&now->fresh, &page,
                                           page + (1U << order)));
    atomic_store(&now->states[page], (uint8_t)(OPEN | order));
    return page;
}

/* Takes a piece of at least this order that was given back, and sets *order to
 * its own.  Returns its first page, 0 when there is none. */
static uint32_t again_sig(struct area *now, unsigned *order)
{
    for (uint32_t i = 0; i < pages; i++) {
        const uint32_t page = atomic_fetch_add(&now->cursor, 1) % pages;
        const uint8_t state = atomic_load(&now->states[page]);
        if ((state & GIVEN) != 0 && (state & ORDER) >= *order && page != 0 &&
            (state & ORDER) <= ORDER_MAX &&
            pages - page >= 1U << (state & ORDER) &&
            jp_arch_swap_byte_sig(&now->states[page], state,
                                  (uint8_t)(state ^ GIVEN ^ OPEN))) {
            *order = state & ORDER;
            return page;
        }
    }
    return 0;
}

/* Wipes a piece that holds an older chunk, and counts that in the header of
 * the chunk's run; if that header is not in the area (that of the process
 * which made it), in this process's. */
static void wipe_sig(uint8_t *piece, uint32_t size)
{
    const struct jp_chunk_header *chunk = (struct jp_chunk_header *)piece;
    struct jp_log_header *header = (struct jp_log_header *)jp_share_at_sig(
        (chunk->run - 1) & ~(uint64_t)(PAGE - 1), PAGE);
    if (header != NULL)
        __atomic_fetch_add(&header->counters[JP_COUNT_RING_REUSED], 1,
                           __ATOMIC_RELAXED);
    else
        jp_count_sig(JP_COUNT_RING_REUSED, 1);
    jp_log_clean_sig(piece, size);
}

uint32_t jp_share_take_sig(uint32_t bytes, uint32_t wanted, uint64_t *offset)
{
    struct area *now = atomic_load(&area);
    const unsigned least = order_sig(bytes);
    unsigned order = order_sig(wanted > bytes ? wanted : bytes);
    if (now == NULL || bytes > JP_CHUNK_MAX)
        return 0;
    uint32_t page = fresh_sig(now, order);
    while (page == 0 && order > least)
        page = fresh_sig(now, --order);
    if (page == 0) {
        page = again_sig(now, &order);
        if (page == 0)
            return 0;
        wipe_sig((uint8_t *)now + (uint64_t)page * PAGE, PAGE << order);
    }
    *offset = start + (uint64_t)page * PAGE;
    return PAGE << order;
}

void jp_share_give_sig(uint64_t offset)
{
    struct area *now = atomic_load(&area);
    const uint64_t page = (offset - start) / PAGE;
    if (now == NULL || offset < start || page >= pages)
        return;
    const uint8_t state = atomic_load(&now->states[page]);
    if ((state & OPEN) != 0)
        jp_arch_swap_byte_sig(&now->states[page], state,
                              (uint8_t)(state ^ OPEN ^ GIVEN));
}

/* Makes room in `text` for a record of so many bytes.  Returns 0 when there is
 * none. */
static int text_room_sig(uint32_t bytes)
{
    uint64_t offset;
    if (text.chunk != NULL && text.size - text.used >= bytes)
        return 1;
    if (text.chunk != NULL)
        jp_share_give_sig(text.offset);
    text.chunk = NULL;
    const uint32_t size =
        jp_share_take_sig(bytes + JP_CHUNK_HEADER_SIZE, text.size, &offset);
    if (size == 0)
        return 0;
    text.chunk = jp_share_at_sig(offset, size);
    text.offset = offset;
    text.size = size;
    text.used = JP_CHUNK_HEADER_SIZE;
    jp_log_begin_chunk_sig(text.chunk, offset, size, 0);
    return 1;
}

static int write_sig(const char *line, size_t length)
{
    const uint32_t size =
        (uint32_t)(sizeof(struct jp_text_record) + length + 7) & ~7U;
    if (size + JP_CHUNK_HEADER_SIZE > JP_CHUNK_MAX || !text_room_sig(size))
        return -ENOSPC;
    struct jp_text_record *record =
        (struct jp_text_record *)(text.chunk + text.used);
    const struct jp_record head = {JP_RECORD_TEXT, 0, (uint16_t)(size / 8)};
    uint32_t word;
    record->length = (uint32_t)length;
    memcpy(record->text, line, length);
    memcpy(&word, &head, sizeof(word));
    __atomic_store_n((uint32_t *)(void *)record, word, __ATOMIC_RELEASE);
    text.used += size;
    return 0;
}

/* Waits while another thread copies its line. */
int jp_share_text_sig(const char *line, size_t length)
{
    if (atomic_load(&area) == NULL || jp_log.header == NULL)
        return -ENOENT;
    for (unsigned i = 0; i < SPINS; i++) {
        if (atomic_exchange(&text.busy, 1) == 0) {
            const int error = write_sig(line, length);
            atomic_store(&text.busy, 0);
            return error;
        }
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
    }
    return -EBUSY;
}

void jp_share_count_sig(int more)
{
    struct area *now = atomic_load(&area);
    if (now != NULL)
        atomic_fetch_add(&now->users, (uint32_t)more);
}

void jp_share_forked_sig(int had_run, uint64_t run)
{
    memset(&text, 0, sizeof(text));
    if (atomic_load(&area) == NULL)
        return;
    if (had_run) {
        base_run = run + 1;
        base_ns = jp_sys_clock_sig(CLOCK_MONOTONIC);
    }
    atomic_store(&inherited, 1);
    ended = 0;
    /* The parent may have ended since, and closed the area as its last user. */
    if ((atomic_fetch_add(&atomic_load(&area)->users, 1) & CLOSED) != 0)
        jp_share_drop_sig();
}

uint64_t jp_share_base_sig(uint64_t *forked_ns)
{
    *forked_ns = base_ns;
    return base_run;
}

void jp_share_drop_sig(void)
{
    struct area *now = atomic_load(&area);
    if (!jp_share_is_inherited_sig())
        return;
    atomic_store(&area, NULL);
    atomic_fetch_sub(&now->users, 1);
    jp_sys_unmap_sig(now, area_size);
}

int jp_share_has_ended_sig(void)
{
    return ended;
}

int jp_share_end_sig(uint64_t *used, uint64_t *end)
{
    struct area *now = atomic_load(&area);
    uint32_t last = 1;
    if (now == NULL || ended)
        return 0;
    ended = 1;
    if (!atomic_compare_exchange_strong(&now->users, &last, CLOSED)) {
        atomic_fetch_sub(&now->users, 1);
        return 0;
    }
    *used = start + used_sig(atomic_exchange(&now->fresh, pages));
    *end = start + area_size;
    return *used < *end;
}

void jp_share_return_sig(uint64_t used)
{
    struct area *now = atomic_load(&area);
    jp_sys_sig(SYS_madvise, (long)((uint8_t *)now + (used - start)),
               (long)(area_size - (used - start)), MADV_REMOVE, 0, 0);
}
