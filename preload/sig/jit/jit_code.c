/* SPDX-License-Identifier: MIT
 *
 * A table of code pages that samples hit, by page number, and the file that
 * keeps their bytes.
 * Runs in: handler, any thread. */
#include "jit_code.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "jit_keep.h"
#include "jp_limits.h"
#include "jp_map.h"
#include "sig/code/maps.h"
#include "sig/code/procmaps.h"
#include "sig/files/mapfile.h"
#include "sig/os/hash.h"
#include "sig/os/own.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/state/process.h"

#define PAGE 4096U /* whatever the machine's pages are */
#define SHIFT 12
#define PAGES 4096U /* of the table; a power of two */
#define PROBES 16U
#define HOT_HITS 2U
#define FREELY (JP_CODE_MAX / 2) /* bytes; beyond, only hot pages are kept */
#define AT_ONCE 16U /* pages kept at a time while the program runs */

struct page {
    _Atomic uint64_t number; /* address >> SHIFT; 0: free */
    _Atomic uint32_t hits;
    _Atomic uint32_t kept_hits; /* its hits when it was last looked at */
    uint64_t hash;              /* of the bytes kept; 0: none are */
    uint64_t offset;            /* of these in the file */
};

static struct page pages[PAGES];

/* 1: some page is to be kept; else the table need not be searched. */
static _Atomic uint32_t some_wanted;
/* 1: there is an entry.  Without one, nobody goes through the table: in each
 * forked child its memory, 30 pages, would be made for it. */
static _Atomic uint32_t some_known;
static _Atomic int is_scarce; /* 1: more than FREELY is kept */

/* Used by the thread that keeps pages. */
static uint64_t wanted[3 * PAGES];
static uint8_t bytes[PAGE];
static struct jp_keep keep;
static uint64_t used; /* bytes of the file */
static uint32_t turn; /* where in the table to look first */

/* A run of pages that follow each other in memory and in the file. */
struct run {
    uint64_t start, end, offset;
};

/* The entry of a page, made if need be; NULL when there is no room. */
static struct page *find_sig(uint64_t number)
{
    uint32_t at = (uint32_t)(number * 0x9e3779b97f4a7c15ULL >> 40);
    for (uint32_t i = 0; i < PROBES; i++) {
        struct page *page = &pages[(at + i) % PAGES];
        uint64_t there = atomic_load(&page->number);
        if (there == 0 &&
            atomic_compare_exchange_strong(&page->number, &there, number)) {
            atomic_store(&some_known, 1);
            return page;
        }
        if (there == number)
            return page;
    }
    return NULL;
}

/* Whether a page with so many hits is to be read, which had `before` hits when
 * it was last read: other code may be there by now.  Once more than FREELY is
 * kept, only if they are HOT_HITS or more and have doubled since. */
static int is_due_sig(uint32_t hits, uint32_t before)
{
    if (atomic_load_explicit(&is_scarce, memory_order_relaxed))
        return hits >= HOT_HITS && hits / 2 >= before;
    return hits != before;
}

void jp_code_hit_sig(uint64_t address)
{
    struct page *page = find_sig(address >> SHIFT);
    if (page == NULL)
        return;
    const uint32_t hits =
        atomic_fetch_add_explicit(&page->hits, 1, memory_order_relaxed) + 1;
    if (is_due_sig(hits, atomic_load_explicit(&page->kept_hits,
                                              memory_order_relaxed)) &&
        atomic_load_explicit(&some_wanted, memory_order_relaxed) == 0)
        atomic_store(&some_wanted, 1);
}

/* Whether a page is to be read that has at least `least` hits. */
static int is_wanted_sig(const struct page *page, uint32_t least, int all)
{
    uint32_t hits = atomic_load_explicit(&page->hits, memory_order_relaxed);
    return hits >= least && (all || is_due_sig(hits, page->kept_hits));
}

static uint32_t count_sig(uint32_t least, int all)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < PAGES; i++)
        count += (uint32_t)is_wanted_sig(&pages[i], least, all);
    return count;
}

static void sift_sig(uint64_t *heap, uint32_t at, uint32_t count)
{
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1] > heap[child])
            child++;
        if (heap[child] <= heap[at])
            return;
        uint64_t swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

/* Heap sort, which uses no stack and has no bad case. */
static void sort_sig(uint64_t *numbers, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;)
        sift_sig(numbers, i, count);
    for (uint32_t left = count; left > 1;) {
        uint64_t last = numbers[--left];
        numbers[left] = numbers[0];
        numbers[0] = last;
        sift_sig(numbers, 0, left);
    }
}

/* Puts the pages to be read into `wanted`, in order, with their neighbours, as
 * a function may go on in the next page.  When they are too many, takes those
 * that were hit most.  Returns how many it took. */
static uint32_t choose_sig(int all)
{
    const uint64_t room = (JP_CODE_MAX - used) / PAGE;
    uint32_t least = 1, count = 0, taken = 0;
    while (all && least < 1U << 30 && count_sig(least, all) > room)
        least *= 2;
    for (uint32_t i = 0; i < PAGES && (all || taken < AT_ONCE); i++) {
        struct page *page = &pages[turn++ % PAGES];
        if (!is_wanted_sig(page, least, all))
            continue;
        uint64_t number = atomic_load(&page->number);
        page->kept_hits = atomic_load(&page->hits);
        taken++;
        for (uint64_t near = number - 1; near <= number + 1; near++) {
            if (jp_maps_anonymous_sig(near << SHIFT))
                wanted[count++] = near;
        }
    }
    sort_sig(wanted, count);
    return count;
}

/* A hash of the page in `bytes`; never 0. */
static uint64_t hash_sig(void)
{
    uint64_t hash = JP_HASH_BEGIN;
    for (uint32_t i = 0; i < PAGE; i += 8) {
        uint64_t word;
        __builtin_memcpy(&word, bytes + i, sizeof(word));
        hash = jp_hash_word_sig(hash, word);
    }
    return hash | 1;
}

static void end_run_sig(struct run *run)
{
    char buffer[JP_MAPFILE_SHORT];
    struct jp_text text;
    if (run->end == run->start)
        return;
    jp_text_init_sig(&text, buffer, sizeof(buffer));
    jp_mapfile_line_sig(&text, jp_sys_clock_sig(CLOCK_MONOTONIC), JP_MAP_CODE);
    jp_mapfile_hex_sig(&text, "start", run->start);
    jp_mapfile_hex_sig(&text, "end", run->end);
    jp_mapfile_hex_sig(&text, "offset", run->offset);
    jp_mapfile_string_sig(&text, "saved", jp_keep_name_sig(&keep));
    jp_mapfile_append_sig(&text);
    run->start = run->end = 0;
}

/* Adds a page whose bytes are in the file at `offset`. */
static void add_sig(struct run *run, uint64_t number, uint64_t offset)
{
    const uint64_t start = number << SHIFT;
    if (run->end != start || offset - run->offset != start - run->start)
        end_run_sig(run);
    if (run->start == run->end) {
        run->start = start;
        run->offset = offset;
    }
    run->end = start + PAGE;
}

/* What became of a page: it is no code (any more), or cannot be read; it is as
 * it was kept before; it was kept; there is no room for it. */
enum kept { GONE, SAME, KEPT, FULL };

/* Whether a page that has been read was code then: the program may have given
 * the memory back since the table was made, and have other data there.  A
 * kernel that cannot say leaves it at the table's word. */
static int is_code_sig(uint64_t number)
{
    static struct jp_vma vma;
    const int result = jp_procmaps_query_sig(number << SHIFT, &vma);
    return result == 0 ? (vma.prot & JP_PROT_EXEC) != 0 : result != -ENOENT;
}

/* Keeps one page. */
static enum kept keep_sig(int fd, uint64_t number)
{
    struct page *page = find_sig(number);
    if (page == NULL || jp_self_read_sig(number << SHIFT, bytes, PAGE) != PAGE)
        return GONE;
    const uint64_t hash = hash_sig();
    if (hash == page->hash)
        return SAME;
    if (!is_code_sig(number))
        return GONE;
    if (used + PAGE > JP_CODE_MAX || used + PAGE > jp_sys_file_limit_sig() ||
        jp_sys_pwrite_sig(fd, bytes, PAGE, used) != PAGE)
        return FULL;
    page->hash = hash;
    page->offset = used;
    used += PAGE;
    if (used > FREELY)
        atomic_store(&is_scarce, 1);
    return KEPT;
}

/* Keeps the first `count` pages of `wanted`.  Neighbours of a page that has
 * changed are told again where they have not: new code may reach into bytes
 * that are as they were. */
static void keep_all_sig(int fd, uint32_t count)
{
    struct run run = {0};
    uint64_t last = 0; /* the page before, and what became of it */
    enum kept before = GONE;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t number = wanted[i];
        if (i != 0 && number == last)
            continue;
        const enum kept now = keep_sig(fd, number);
        if (now == FULL)
            break;
        const int follows = number == last + 1;
        if (follows && before == SAME && now == KEPT &&
            run.end != number << SHIFT)
            add_sig(&run, last, find_sig(last)->offset);
        if (now == KEPT || (follows && before == KEPT && now == SAME))
            add_sig(&run, number, find_sig(number)->offset);
        last = number;
        before = now;
    }
    end_run_sig(&run);
}

static int open_sig(void)
{
    if (keep.inode != 0)
        return jp_keep_open_sig(&keep);
    keep = (struct jp_keep){
        .stem = "code", .suffix = ".bin", .pid = jp_owner->pid};
    int fd = jp_keep_create_sig(&keep);
    if (fd >= 0)
        keep.inode = keep.made_inode;
    return fd;
}

void jp_code_keep_sig(int all)
{
    if (atomic_load(&some_known) == 0 || JP_CODE_MAX - used < PAGE ||
        (!all && atomic_exchange(&some_wanted, 0) == 0))
        return;
    const uint32_t waiting = count_sig(1, all);
    if (waiting == 0)
        return;
    if (waiting > AT_ONCE)
        atomic_store(&some_wanted, 1); /* the rest, next time */
    const int fd = open_sig();
    if (fd < 0)
        return;
    keep_all_sig(fd, choose_sig(all));
    jp_sys_close_sig(fd);
}

void jp_code_reset_sig(void)
{
    if (atomic_exchange(&some_known, 0) == 0)
        return;
    for (uint32_t i = 0; i < PAGES; i++) {
        atomic_store(&pages[i].number, 0);
        atomic_store(&pages[i].hits, 0);
        pages[i].kept_hits = 0;
        pages[i].hash = 0;
    }
    atomic_store(&some_wanted, 0);
    atomic_store(&is_scarce, 0);
    keep.inode = 0;
    used = 0;
}
