/* SPDX-License-Identifier: MIT
 *
 * The modules whose call-frame information is in use: which one a pc is in,
 * and a copy of the part of it that says how to find callers.
 * Runs in: handler, any thread. */
#ifndef JP_CFI_MODULE_H
#define JP_CFI_MODULE_H

#include <stdint.h>

struct jp_cfi_image;
struct jp_cfi_module;

/* The module around *pc, as the map knows it in `epoch`, held until it is
 * given back.  *image is its information, and *pc becomes what pc is in it.
 * Returns 0, -ENOENT when code at pc has none, -ESRCH when the map has nothing
 * there, -EAGAIN when the module cannot be told just now. */
int jp_cfi_module_take_sig(uint64_t *pc, uint32_t epoch,
                           struct jp_cfi_module **module,
                           const struct jp_cfi_image **image);
void jp_cfi_module_give_sig(struct jp_cfi_module *module);

/* From now on the module's copy is in a forked child's memory, too.  Returns 0
 * when that was so before.  The caller holds the module. */
int jp_cfi_module_keep_sig(struct jp_cfi_module *module);

/* Forgets the modules whose copies are not in the memory of a forked child. */
void jp_cfi_modules_reset_sig(void);

#endif
