/* SPDX-License-Identifier: MIT
 *
 * Reading a folder of /proc whose entries are numbers.
 * Runs in: handler, any thread. */
#ifndef JP_DIRENT_H
#define JP_DIRENT_H

#include <stdint.h>

/* Called once for each entry that is a number. */
typedef void jp_dirent_each_sig(uint32_t number, void *data);

/* Reads some entries from where fd is.  Returns the offset of those that
 * follow, for lseek(2); 0: there were none. */
long jp_dirent_part_sig(int fd, jp_dirent_each_sig *each, void *data);

/* Reads the folder open at fd to its end. */
void jp_dirent_numbers_sig(int fd, jp_dirent_each_sig *each, void *data);

#endif
