/* SPDX-License-Identifier: MIT
 *
 * Reading a folder of /proc whose entries are numbers.
 * Runs in: handler, any thread. */
#ifndef JP_DIRENT_H
#define JP_DIRENT_H

#include <stdint.h>

/* Called for each entry whose name is a number. */
typedef void jp_dirent_each_sig(uint32_t number, void *data);

/* Reads some entries from the current offset of fd, an open folder.  Returns
 * the offset of the next ones, for lseek(2); 0 when there were none, or on an
 * error. */
long jp_dirent_part_sig(int fd, jp_dirent_each_sig *each, void *data);

/* Reads all entries from the current offset to the end. */
void jp_dirent_numbers_sig(int fd, jp_dirent_each_sig *each, void *data);

#endif
