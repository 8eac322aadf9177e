/* SPDX-License-Identifier: MIT
 *
 * The process's code: which addresses are executable, and the map events that
 * tell of modules coming and going.  A table of executable ranges is made from
 * /proc/self/maps; an address that is not in it makes us look again.
 * Runs in: handler, any thread. */
#ifndef JP_MAPS_H
#define JP_MAPS_H

#include <stdint.h>

struct jp_buffer;
struct jp_vma;

/* Who is told of what a scan finds: of each executable mapping of a file that
 * is new, while the scan is under way, and of its end.  To be set before the
 * first scan; NULL: nobody. */
struct jp_maps_listener {
    void (*mapped_sig)(const struct jp_vma *vma);
    void (*scanned_sig)(void);
};
void jp_maps_listen_sig(const struct jp_maps_listener *to);

/* Reads /proc/self/maps and writes an event to the map for each executable
 * range that came or went since the last scan; the first time, for every one
 * there is.  Costs time linear in the number of mappings.  Returns 0, or
 * -errno: -EAGAIN when there is no map yet, -EBUSY when another thread is at
 * it. */
int jp_maps_scan_sig(void);

/* Scans again if a library was closed, or if a second has passed and mappings
 * of files came or went since. */
void jp_maps_refresh_sig(uint64_t now_ns);

/* The same after a tenth of a second.  Returns whether it did. */
int jp_maps_look_sig(uint64_t now_ns);

/* For a sample that is taken while another thread makes the log and the map:
 * fills the table without writing events; the first scan with a map writes
 * them all.  Waits, a while, for a scan that is under way. */
void jp_maps_before_log_sig(void);

/* Makes the next refresh scan in any case. */
void jp_maps_dirty_sig(void);

/* Forgets what the buffer remembers of code pages, if a known range has gone or
 * changed since: for the beginning of each sample. */
void jp_maps_check_buffer_sig(struct jp_buffer *buffer);

/* Whether `address` is executable.  New ranges are noticed and recorded; the
 * buffer remembers pages. */
int jp_maps_executable_sig(struct jp_buffer *buffer, uint64_t address);

/* Memory without a file has become code; what is known to be is passed over.
 * For a process that cannot look by itself.  Waits, a while, for a scan. */
void jp_maps_note_sig(uint64_t start, uint64_t end);

/* Whether the address is in executable memory without a file, as far as the
 * table knows. */
int jp_maps_anonymous_sig(uint64_t address);

/* Whether there is any such memory. */
int jp_maps_any_anonymous_sig(void);

/* The readable mapping around `address`.  Returns 0 or -errno. */
int jp_maps_region_sig(uint64_t address, uint64_t *start, uint64_t *end);

/* An executable range and the file that it is of. */
struct jp_maps_range {
    uint64_t start, end, offset, inode;
    uint64_t device;
    uint64_t base; /* where the file's own start is mapped; 0: unknown */
};

/* The range around `address`, as far as the table knows.  Returns 0,
 * -ENOENT, or -EAGAIN when there is no table yet. */
int jp_maps_find_sig(uint64_t address, struct jp_maps_range *range);

/* The ranges in order, from 0; 0 behind the last. */
int jp_maps_at_sig(uint32_t index, struct jp_maps_range *range);

/* Whether two ranges are the same piece of the same file. */
int jp_maps_same_sig(const struct jp_maps_range *a,
                     const struct jp_maps_range *b);

/* Counts the scans that found a known range gone or changed, or that came
 * after a library was closed: what was learnt of code under another count is
 * worth nothing. */
uint32_t jp_maps_epoch_sig(void);

/* Whether a library was closed since the last scan. */
int jp_maps_is_dirty_sig(void);

/* A forked child whose map goes on from its parent's: what was written there
 * need not be again. */
void jp_maps_inherit_sig(void);

/* Before a forked child's map is made: nothing of the table is in it. */
void jp_maps_reset_sig(void);

#endif
