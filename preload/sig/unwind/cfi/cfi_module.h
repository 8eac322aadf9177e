/* SPDX-License-Identifier: MIT
 *
 * The modules whose call-frame information is in use, by address, each with a
 * copy of that information.
 * Runs in: handler, any thread. */
#ifndef JP_CFI_MODULE_H
#define JP_CFI_MODULE_H

#include <stdint.h>

struct jp_cfi_image;
struct jp_cfi_module;

/* Holds the module around *pc until jp_cfi_module_give_sig.  epoch:
 * jp_maps_epoch_sig when the walk began.  Sets *image to the module's
 * information and *pc to the pc in the image's addresses.  Returns 0, -ENOENT
 * when the module has no information, -ESRCH when the table of ranges has
 * nothing at *pc, -EAGAIN when it is not known just now. */
int jp_cfi_module_take_sig(uint64_t *pc, uint32_t epoch,
                           struct jp_cfi_module **module,
                           const struct jp_cfi_image **image);
void jp_cfi_module_give_sig(struct jp_cfi_module *module);

/* Has forked children get the module's copy in their memory, too.  Returns 0
 * when they do already.  The caller holds the module. */
int jp_cfi_module_keep_sig(struct jp_cfi_module *module);

/* Called in a forked child: forgets the modules whose copies it does not
 * have. */
void jp_cfi_modules_reset_sig(void);

#endif
