/* SPDX-License-Identifier: MIT
 *
 * The storage in the shared area (share.h), for processes that cannot open the
 * log.
 * Runs in: handler, any thread. */
#ifndef JP_STORAGE_AREA_H
#define JP_STORAGE_AREA_H

#include <stdint.h>

struct jp_buffer;
struct jp_storage;

extern const struct jp_storage jp_storage_area;

/* struct jp_storage.take_sig for a process that has an area. */
int jp_storage_area_take_sig(struct jp_buffer *buffer, uint32_t bytes);

/* Ends this process's use of the area, if it has one: the last user gives the
 * area's unused space back to the file system. */
void jp_storage_area_end_sig(void);

#endif
