/* SPDX-License-Identifier: MIT
 *
 * The map's lines about executable ranges: whose file, which build, where.
 * Runs in: handler, any thread. */
#ifndef JP_MODULE_H
#define JP_MODULE_H

#include <stdint.h>

#include "procmaps.h"
#include "sig/os/text.h"

/* The largest build-id that is kept, bytes (a log header's field). */
#define JP_BUILD_ID_MAX 32

/* Reads the ELF notes described by program headers in memory: count headers
 * at `headers`, addresses in them `bias` from their place.  Fills build_id and
 * returns its size, 0 when there is none. */
unsigned jp_module_build_id_sig(uint64_t headers, unsigned count, uint64_t bias,
                                uint8_t *build_id);

/* The event of an executable mapping: `module` or `anon`. */
const char *jp_module_event_sig(const struct jp_vma *vma);

/* Ends the line in `text`, which has its time and event and room for
 * JP_MAP_LINE_MAX, with the mapping and writes it.  `base` is where the same
 * file's offset 0 is mapped, 0 when it is not. */
void jp_module_put_sig(int fd, const struct jp_vma *vma, uint64_t base,
                       struct jp_text *text);

/* Writes an `unmap` line. */
void jp_module_gone_sig(int fd, uint64_t time_ns, uint64_t start, uint64_t end);

/* Whether a range of a file is memory that has no name and holds no library: of
 * /dev/zero, of a memfd, of shared memory, of a temporary file that was
 * removed.  `base` is where the file's beginning is mapped; 0: not known. */
int jp_module_is_nameless_sig(const struct jp_vma *vma, uint64_t base);

/* Whether a mapping is the kernel's shared object. */
int jp_module_is_vdso_sig(const struct jp_vma *vma);

#endif
