/* SPDX-License-Identifier: MIT
 *
 * The map's lines about executable ranges: which file, which build, where.
 * Runs in: handler, any thread. */
#ifndef JP_MODULE_H
#define JP_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include "procmaps.h"
#include "sig/os/text.h"

/* Copies this process's memory, as jp_self_read_sig (sig/os/own.h) does. */
long jp_module_read_sig(uint64_t address, void *to, size_t size);

/* Bytes of the largest build-id that is kept (a field of the log's header). */
#define JP_BUILD_ID_MAX 32

/* Reads the build-id from the ELF notes of an image in memory, which has
 * `count` program headers at `headers` and is loaded at `bias`.  Fills
 * build_id and returns its size in bytes, 0 when there is none. */
unsigned jp_module_build_id_sig(uint64_t headers, unsigned count, uint64_t bias,
                                uint8_t *build_id);

/* The word for an executable mapping's line: `module` or `anon`. */
const char *jp_module_event_sig(const struct jp_vma *vma);

/* Adds the mapping to the line in `text`, which has its time and event and
 * room for JP_MAP_LINE_MAX bytes, and writes it to fd, the open map.  base:
 * where the same file's offset 0 is mapped; 0: unknown. */
void jp_module_put_sig(int fd, const struct jp_vma *vma, uint64_t base,
                       struct jp_text *text);

/* Writes an `unmap` line to fd. */
void jp_module_gone_sig(int fd, uint64_t time_ns, uint64_t start, uint64_t end);

/* Whether a mapped file has no name and is no library: /dev/zero, a memfd, SysV
 * shared memory, or a removed file that does not begin as ELF files do.  base:
 * where the file's offset 0 is mapped; 0: unknown. */
int jp_module_is_nameless_sig(const struct jp_vma *vma, uint64_t base);

/* Whether a mapping is the vdso, the kernel's shared object. */
int jp_module_is_vdso_sig(const struct jp_vma *vma);

#endif
