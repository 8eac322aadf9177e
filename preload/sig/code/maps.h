/* SPDX-License-Identifier: MIT
 *
 * The process's code: which addresses are executable, and the map's lines about
 * modules that come and go.  A scan makes a table of executable ranges from
 * /proc/self/maps; an address that the table does not have is looked up again.
 * Runs in: handler, any thread. */
#ifndef JP_MAPS_H
#define JP_MAPS_H

#include <stdint.h>

#include "ranges.h"

struct jp_buffer;
struct jp_vma;

/* Functions that scans call: mapped_sig, during the scan, for each executable
 * mapping of a file that is new, whose offset 0 is mapped at `base` (0:
 * unknown); scanned_sig after the scan.  Each may be NULL.
 * Set by the constructor, before the first scan. */
struct jp_maps_listener {
    void (*mapped_sig)(const struct jp_vma *vma, uint64_t base);
    void (*scanned_sig)(void);
};
void jp_maps_listen_sig(const struct jp_maps_listener *to);

/* Scans: reads /proc/self/maps and writes a line to the map for each executable
 * range that came or went since the last scan; the first time, for every range.
 * Costs time linear in the number of mappings.  Returns 0 or -errno: -EAGAIN
 * when there is no map yet, -EBUSY while another thread scans. */
int jp_maps_scan_sig(void);

/* Called at each sample.  Scans if a library was closed, or if a second has
 * passed since the last look and mappings of files came or went. */
void jp_maps_refresh_sig(uint64_t now_ns);

/* Scans if a tenth of a second has passed since the last look, or if the
 * program has mapped a file as code, and mappings of files came or went.
 * Returns whether it looked. */
int jp_maps_look_sig(uint64_t now_ns);

/* Called when the program has mapped a file as code: the next look need not
 * wait.  The second function tells whether it still waits for a look. */
void jp_maps_expect_sig(void);
int jp_maps_is_expecting_sig(void);

/* Called at a sample that is taken while another thread makes the log and the
 * map: fills the table, if it is empty, without writing lines; the first scan
 * with a map writes them all.  Waits a while for another thread's scan. */
void jp_maps_before_log_sig(void);

/* Called when a library was closed: the next sample scans in any case. */
void jp_maps_dirty_sig(void);

/* Called before each walk: forgets the code pages that the buffer remembers, if
 * a known range has gone or changed since. */
void jp_maps_check_buffer_sig(struct jp_buffer *buffer);

/* Whether `address` is executable.  A new range is entered into the table and
 * gets its line in the map; the buffer remembers the page. */
int jp_maps_executable_sig(struct jp_buffer *buffer, uint64_t address);

/* Enters [start, end), memory without a file that has become executable, into
 * the table and the map, unless it is known.  For processes that may not be
 * able to read /proc/self/maps.  Waits a while for another thread's scan. */
void jp_maps_note_sig(uint64_t start, uint64_t end);

/* Whether the table has the address as executable memory without a file, such
 * as JIT code. */
int jp_maps_anonymous_sig(uint64_t address);

/* Whether the table has the address as executable memory of a file. */
int jp_maps_of_file_sig(uint64_t address);

/* Whether the table has any executable memory without a file. */
int jp_maps_any_anonymous_sig(void);

/* Asks the kernel for the readable mapping around `address` and sets *start and
 * *end.  Returns 0 or -errno: -ENOENT for no mapping, -EACCES for an unreadable
 * one, -EBUSY while another thread scans. */
int jp_maps_region_sig(uint64_t address, uint64_t *start, uint64_t *end);

/* Copies the table's range around `address`.  Returns 0, -ENOENT, or -EAGAIN
 * while the table is empty. */
int jp_maps_find_sig(uint64_t address, struct jp_maps_range *range);

/* Copies the table's range with this index, from 0 in the order of addresses.
 * Returns 0 behind the last one, else 1. */
int jp_maps_at_sig(uint32_t index, struct jp_maps_range *range);

/* The number of changes: of scans that found a known range gone or changed, or
 * that followed the closing of a library.  What was learnt of code while the
 * number was another must not be used. */
uint32_t jp_maps_epoch_sig(void);

/* Whether a library was closed since the last scan: memory may not be what the
 * table says. */
int jp_maps_is_dirty_sig(void);

/* Called in a forked child whose map continues its parent's: ranges that have
 * their lines there get no new ones. */
void jp_maps_inherit_sig(void);

/* Called in a forked child: keeps the table, but its ranges get lines in the
 * child's own map. */
void jp_maps_reset_sig(void);

#endif
